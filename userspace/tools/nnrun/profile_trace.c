// SPDX-License-Identifier: MIT
/*
 * A profile as events of Chrome's trace format, for ui.perfetto.dev.
 *
 * The host and the device have clocks of their own. What the device did is drawn in the middle of
 * the time that the host waited: the parts before and after it are not known.
 */
#include <inttypes.h>

#include "../common/json.h"
#include "profile_report.h"

#define PROCESS		1
#define HOST_THREAD	1	/* and one more for each inference in flight */
#define DEVICE_THREAD	101

static void name_thread(struct json *json, uint32_t thread, const char *name)
{
	json_object(json, NULL);
	json_string(json, "ph", "M");
	json_string(json, "name", "thread_name");
	json_u64(json, "pid", PROCESS);
	json_u64(json, "tid", thread);
	json_object(json, "args");
	json_string(json, "name", name);
	json_end(json);
	json_end(json);
}

/* Start an event; its arguments follow, and two ends. */
static void slice(struct json *json, const char *category, const char *name, uint32_t thread,
		  uint64_t start_ns, uint64_t duration_ns)
{
	json_object(json, NULL);
	json_string(json, "ph", "X");
	json_string(json, "cat", category);
	json_string(json, "name", name);
	json_u64(json, "pid", PROCESS);
	json_u64(json, "tid", thread);
	json_real(json, "ts", (double)start_ns / 1e3, 3);
	json_real(json, "dur", (double)duration_ns / 1e3, 3);
	json_object(json, "args");
}

static void add_operation(struct json *json, const struct profile_report *report,
			  const struct profile_event *event)
{
	const struct operation_work *work = &report->work[event->operation];
	struct nntflite_origin origin;
	double ns = (double)event->duration_ns;

	slice(json, "operation", REPORT_NAME(report, event->operation),
	      DEVICE_THREAD + event->lane, event->start_ns, event->duration_ns);
	json_u64(json, "operation", event->operation);
	if (!nntflite_model_origin(report->model, event->operation, &origin)) {
		json_string(json, "operator", origin.name);
		json_string(json, "output", origin.tensor);
	}
	if (work->macs && ns > 0)
		json_real(json, "GMAC/s", (double)work->macs / ns, 3);
	json_u64(json, "live bytes", work->live);
	json_end(json);
	json_end(json);
}

static void add_event(struct json *json, const struct profile_report *report,
		      const struct profile_event *event)
{
	switch (event->kind) {
	case EVENT_INFERENCE:
		slice(json, "inference", "inference", HOST_THREAD + event->lane, event->start_ns,
		      event->duration_ns);
		break;
	case EVENT_DEVICE:
		slice(json, "device", "execution", DEVICE_THREAD + event->lane, event->start_ns,
		      event->duration_ns);
		break;
	default:
		add_operation(json, report, event);
		return;
	}
	json_u64(json, "inference", event->inference);
	json_end(json);
	json_end(json);
}

void report_trace(FILE *stream, const struct profile_report *report)
{
	const struct profile *profile = report->profile;
	struct json json;
	uint32_t lane;
	size_t i;

	json_begin(&json, stream);
	json_string(&json, "displayTimeUnit", "ns");
	json_object(&json, "otherData");
	json_string(&json, "model", report->path);
	json_u64(&json, "inferences", profile->latency.count);
	json_u64(&json, "events left out", profile->events_lost);
	json_end(&json);
	json_array(&json, "traceEvents");
	for (lane = 0; lane < profile->num_lanes; lane++) {
		name_thread(&json, HOST_THREAD + lane, "nnrun");
		name_thread(&json, DEVICE_THREAD + lane, "device");
	}
	for (i = 0; i < profile->num_events; i++)
		add_event(&json, report, &profile->events[i]);
	json_end(&json);
	json_end(&json);
}
