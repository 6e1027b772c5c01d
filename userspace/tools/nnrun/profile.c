// SPDX-License-Identifier: MIT
/*
 * Times of inferences: collecting them.
 */
#include <stdlib.h>
#include <string.h>

#include "profile.h"

/* Of a trace: enough for a minute of a large model. */
#define MAX_EVENTS	((size_t)1 << 20)

int profile_init(struct profile *profile, uint32_t num_operations, struct error *err)
{
	memset(profile, 0, sizeof(*profile));
	profile->operations = calloc(num_operations, sizeof(*profile->operations));
	if (!profile->operations)
		return fail(err, "out of memory");
	profile->num_operations = num_operations;
	return 0;
}

void profile_free(struct profile *profile)
{
	free(profile->latency.values);
	free(profile->driver.values);
	free(profile->device.values);
	free(profile->queue.values);
	free(profile->operations);
	free(profile->events);
	memset(profile, 0, sizeof(*profile));
}

static int series_add(struct series *series, uint64_t value, struct error *err)
{
	if (series->count == series->room) {
		size_t room = series->room ? 2 * series->room : 256;
		uint64_t *bigger = reallocarray(series->values, room, sizeof(*bigger));

		if (!bigger)
			return fail(err, "out of memory");
		series->values = bigger;
		series->room = room;
	}
	series->values[series->count++] = value;
	return 0;
}

static int event_add(struct profile *profile, const struct profile_event *event,
		     struct error *err)
{
	if (profile->num_events == MAX_EVENTS) {
		profile->events_lost++;
		return 0;
	}
	if (profile->num_events == profile->event_room) {
		size_t room = profile->event_room ? 2 * profile->event_room : 256;
		struct profile_event *bigger = reallocarray(profile->events, room,
							    sizeof(*bigger));

		if (!bigger)
			return fail(err, "out of memory");
		profile->events = bigger;
		profile->event_room = room;
	}
	profile->events[profile->num_events++] = *event;
	return 0;
}

int profile_add_events(struct profile *profile, uint32_t lane, uint64_t start_ns,
		       uint64_t latency_ns, const struct nnhal_ext_profile *times,
		       struct error *err)
{
	struct profile_event event = {
		.kind = EVENT_INFERENCE, .lane = lane, .inference = profile->latency.count,
		.start_ns = start_ns, .duration_ns = latency_ns,
	};
	uint64_t known = times->queue_ns + times->exec_ns;
	uint32_t i;

	if (lane >= profile->num_lanes)
		profile->num_lanes = lane + 1;
	if (event_add(profile, &event, err))
		return -1;
	/* In the middle of what is left; see profile_trace.c. */
	start_ns += times->queue_ns + (latency_ns > known ? (latency_ns - known) / 2 : 0);
	event.kind = EVENT_DEVICE;
	event.start_ns = start_ns;
	event.duration_ns = times->exec_ns;
	if (event_add(profile, &event, err))
		return -1;
	event.kind = EVENT_OPERATION;
	for (i = 0; i < times->num_entries; i++) {
		if (times->entries[i].operation >= profile->num_operations)
			continue;
		event.operation = times->entries[i].operation;
		event.start_ns = start_ns + times->entries[i].start_ns;
		event.duration_ns = times->entries[i].exec_ns;
		if (event_add(profile, &event, err))
			return -1;
	}
	return 0;
}

int profile_add(struct profile *profile, uint64_t latency_ns,
		const struct nnhal_timing *timing, const struct nnhal_ext_profile *times,
		const struct nnhal_ext_work *work, struct error *err)
{
	uint32_t i;

	if (work) {
		profile->work.count++;
		profile->work.inferences += work->inferences;
		profile->work.allocations += work->allocations;
		profile->work.copies += work->copies;
		profile->work.last = *work;
	}

	if (series_add(&profile->latency, latency_ns, err))
		return -1;
	if (timing && timing->time_in_driver != NNHAL_NO_TIMING &&
	    series_add(&profile->driver, timing->time_in_driver * 1000, err))
		return -1;
	if (!times)
		return 0;
	if (series_add(&profile->device, times->exec_ns, err) ||
	    series_add(&profile->queue, times->queue_ns, err))
		return -1;
	for (i = 0; i < times->num_entries; i++) {
		const struct nnhal_ext_profile_entry *entry = &times->entries[i];
		struct operation_time *op;

		if (entry->operation >= profile->num_operations)
			continue;
		op = &profile->operations[entry->operation];
		op->count++;
		op->total_ns += entry->exec_ns;
		op->bytes = entry->output_bytes;
	}
	return 0;
}
