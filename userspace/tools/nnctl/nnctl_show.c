// SPDX-License-Identifier: MIT
/*
 * list, info, reset and monitor.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../common/clock.h"
#include "../common/plural.h"
#include "nnctl.h"

/* How long a reset may take: what the driver waits for a device, and more. */
#define RESET_SECONDS	120
/* A wait without an end has ends in between, s. */
#define LONG		1e6

static void records_json(struct json *json, const char *name, const struct records *records)
{
	size_t i;

	json_array(json, name);
	for (i = 0; i < records->count; i++) {
		json_object(json, NULL);
		record_json(&records->items[i], json);
		json_end(json);
	}
	json_end(json);
}

int nnctl_list(struct netlink *nl, const struct options *o, struct error *err)
{
	struct records devices;
	struct json json;
	size_t i;

	if (nnctl_get_devices(nl, o, &devices, err))
		return NNCTL_PROBLEM;
	if (o->json) {
		json_begin(&json, stdout);
		records_json(&json, "devices", &devices);
		json_end(&json);
	} else {
		printf("%3s  %-16s %-14s %-8s %-7s %7s %8s %7s %6s  %s\n", "ID", "NODE", "BUS",
		       "STATE", "LEVEL", "CLIENTS", "CONTEXTS", "QUEUES", "JOBS", "NAME");
		for (i = 0; i < devices.count; i++) {
			const struct record *d = &devices.items[i];

			printf("%3" PRIu64 "  %-16s %-14s %-8s %-7s %7s %8s %7s %6s  %s\n",
			       record_number(d, NNPU_A_DEV_ID), record_text(d, NNPU_A_DEV_NODE),
			       record_text(d, NNPU_A_DEV_BUS_NAME),
			       record_text(d, NNPU_A_DEV_STATE),
			       record_text(d, NNPU_A_DEV_PERF_LEVEL),
			       record_text(d, NNPU_A_DEV_CLIENTS),
			       record_text(d, NNPU_A_DEV_CONTEXTS),
			       record_text(d, NNPU_A_DEV_QUEUES), record_text(d, NNPU_A_DEV_JOBS),
			       record_text(d, NNPU_A_DEV_NAME));
		}
	}
	records_free(&devices);
	return 0;
}

static void line_number(const char *what, uint64_t number)
{
	printf("  %-20s %" PRIu64 "\n", what, number);
}

static void line_text(const char *what, const char *text)
{
	printf("  %-20s %s\n", what, text);
}

static void print_latency(const char *what, const struct record *r, unsigned int attr)
{
	const uint64_t *h = record_histogram(r, attr);

	printf("  %-20s p50 %s, p90 %s, p99 %s\n", what, TIME(nnctl_percentile(h, NULL, 0.5)),
	       TIME(nnctl_percentile(h, NULL, 0.9)), TIME(nnctl_percentile(h, NULL, 0.99)));
}

/* What the device does for all clients together. */
static void print_use(const struct record *d, const struct record *s)
{
	char text[96];

	line_text("level", record_text(d, NNPU_A_DEV_PERF_LEVEL));
	line_number("clients", record_number(d, NNPU_A_DEV_CLIENTS));
	snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64,
		 record_number(d, NNPU_A_DEV_CONTEXTS), record_number(d, NNPU_A_DEV_MAX_CONTEXTS));
	line_text("contexts", text);
	snprintf(text, sizeof(text), "%" PRIu64 ", %" PRIu64 " on %" PRIu64 " hardware queues",
		 record_number(d, NNPU_A_DEV_QUEUES), record_number(d, NNPU_A_DEV_QUEUES_ACTIVE),
		 record_number(d, NNPU_A_DEV_HW_QUEUES));
	line_text("queues", text);
	line_number("programs", record_number(d, NNPU_A_DEV_PROGRAMS));
	line_number("buffers", record_number(d, NNPU_A_DEV_BUFFERS));
	line_text("pinned", BYTES(record_number(d, NNPU_A_DEV_PINNED)));
	if (record_has(d, NNPU_A_DEV_MEM_TOTAL)) {
		snprintf(text, sizeof(text), "%s of %s, at most %s so far",
			 BYTES(record_number(d, NNPU_A_DEV_MEM_USED)),
			 BYTES(record_number(d, NNPU_A_DEV_MEM_TOTAL)),
			 BYTES(record_number(d, NNPU_A_DEV_MEM_PEAK)));
		line_text("device memory", text);
	}
	line_number("jobs submitted", record_number(s, NNPU_A_STATS_SUBMITTED));
	line_number("jobs completed", record_number(s, NNPU_A_STATS_COMPLETED));
	line_number("jobs failed", record_number(s, NNPU_A_STATS_FAILED));
	line_number("jobs timed out", record_number(s, NNPU_A_STATS_TIMEDOUT));
	line_text("engine time", TIME(record_number(s, NNPU_A_STATS_ENGINE)));
	print_latency("wait for the device", s, NNPU_A_STATS_LATENCY_WAIT);
	print_latency("run", s, NNPU_A_STATS_LATENCY_RUN);
	print_latency("submit to end", s, NNPU_A_STATS_LATENCY_TOTAL);
	line_number("hangs", record_number(s, NNPU_A_STATS_HANGS));
	line_number("queue resets", record_number(s, NNPU_A_STATS_QUEUE_RESETS));
	line_number("device resets", record_number(s, NNPU_A_STATS_DEV_RESETS));
	line_number("lost interrupts", record_number(s, NNPU_A_STATS_LOST_IRQS));
	line_number("bad completions", record_number(s, NNPU_A_STATS_BAD_COMPLETIONS));
	line_number("lost jobs", record_number(s, NNPU_A_STATS_LOST_JOBS));
	line_number("admin timeouts", record_number(s, NNPU_A_STATS_ADMIN_TIMEOUTS));
}

/* @s is NULL if that is not for this user. */
static void print_device(const struct record *d, const struct record *s)
{
	char text[96];

	printf("device %" PRIu64 "\n", record_number(d, NNPU_A_DEV_ID));
	line_text("name", record_text(d, NNPU_A_DEV_NAME));
	line_text("firmware", record_text(d, NNPU_A_DEV_FIRMWARE));
	snprintf(text, sizeof(text), "/dev/%s", record_text(d, NNPU_A_DEV_NODE));
	line_text("node", text);
	line_text("bus", record_text(d, NNPU_A_DEV_BUS_NAME));
	snprintf(text, sizeof(text), "%" PRIu64 ".%" PRIu64, record_number(d, NNPU_A_DEV_ABI_MAJOR),
		 record_number(d, NNPU_A_DEV_ABI_MINOR));
	line_text("ABI", text);
	line_text("state", record_text(d, NNPU_A_DEV_STATE));
	line_number("engines", record_number(d, NNPU_A_DEV_ENGINES));
	if (s)
		print_use(d, s);
	else
		line_text("use", NNCTL_USE_HIDDEN);
}

static void print_contexts(const struct records *contexts)
{
	size_t i;

	for (i = 0; i < contexts->count; i++) {
		const struct record *c = &contexts->items[i];

		if (!i)
			printf("\n%7s %8s %-6s %6s %5s %8s %6s %10s %7s %10s\n", "CONTEXT", "PID",
			       "STATE", "WEIGHT", "SLOTS", "PROGRAMS", "JOBS", "COMPLETED", "FAILED",
			       "ENGINE");
		printf("%7" PRIu64 " %8" PRIu64 " %-6s %6" PRIu64 " %5" PRIu64 " %8" PRIu64 " %6"
		       PRIu64 " %10" PRIu64 " %7" PRIu64 " %10s\n", record_number(c, NNPU_A_CTX_ID),
		       record_number(c, NNPU_A_CTX_PID),
		       record_has(c, NNPU_A_CTX_LOST) ? "lost" :
		       record_has(c, NNPU_A_CTX_URGENT) ? "urgent" : "ok",
		       record_number(c, NNPU_A_CTX_WEIGHT), record_number(c, NNPU_A_CTX_SLOTS),
		       record_number(c, NNPU_A_CTX_PROGRAMS), record_number(c, NNPU_A_CTX_JOBS),
		       record_number(c, NNPU_A_CTX_COMPLETED), record_number(c, NNPU_A_CTX_FAILED),
		       TIME(record_number(c, NNPU_A_CTX_ENGINE)));
	}
}

static void print_queues(const struct records *queues)
{
	size_t i;

	for (i = 0; i < queues->count; i++) {
		const struct record *q = &queues->items[i];

		if (!i)
			printf("\n%7s %7s %8s %-8s %8s %8s %8s %10s\n", "QUEUE", "CONTEXT", "PID",
			       "STATE", "PRIORITY", "HARDWARE", "ENTRIES", "EVENTS");
		printf("%7" PRIu64 " %7" PRIu64 " %8" PRIu64 " %-8s %8" PRIu64 " %8" PRIu64 " %8"
		       PRIu64 " %10" PRIu64 "\n", record_number(q, NNPU_A_QUEUE_ID),
		       record_number(q, NNPU_A_QUEUE_CTX_ID), record_number(q, NNPU_A_QUEUE_PID),
		       record_text(q, NNPU_A_QUEUE_STATE), record_number(q, NNPU_A_QUEUE_PRIORITY),
		       record_number(q, NNPU_A_QUEUE_HW_QUEUE),
		       record_number(q, NNPU_A_QUEUE_SQ_ENTRIES),
		       record_number(q, NNPU_A_QUEUE_EVENTS));
	}
}

static int info_device(struct netlink *nl, const struct record *d, struct json *json,
		       struct error *err)
{
	uint32_t dev = (uint32_t)record_number(d, NNPU_A_DEV_ID);
	struct records clients = { 0 }, contexts = { 0 }, queues = { 0 };
	struct record stats;
	bool told = nnctl_is_use_told(d);
	int ret;

	ret = (told && netlink_get(nl, NNPU_CMD_STATS_GET, &stats_fields, dev, &stats, err)) ||
	      netlink_dump(nl, NNPU_CMD_CLIENT_GET, &client_fields, dev, &clients, err) ||
	      netlink_dump(nl, NNPU_CMD_CTX_GET, &ctx_fields, dev, &contexts, err) ||
	      netlink_dump(nl, NNPU_CMD_QUEUE_GET, &queue_fields, dev, &queues, err);
	if (!ret && json) {
		json_object(json, NULL);
		record_json(d, json);
		if (told) {
			json_object(json, "stats");
			record_json(&stats, json);
			json_end(json);
		}
		records_json(json, "client-list", &clients);
		records_json(json, "context-list", &contexts);
		records_json(json, "queue-list", &queues);
		json_end(json);
	} else if (!ret) {
		print_device(d, told ? &stats : NULL);
		print_contexts(&contexts);
		print_queues(&queues);
	}
	records_free(&clients);
	records_free(&contexts);
	records_free(&queues);
	return ret;
}

int nnctl_info(struct netlink *nl, const struct options *o, struct error *err)
{
	struct records devices;
	struct json json;
	int ret = 0;
	size_t i;

	if (nnctl_get_devices(nl, o, &devices, err))
		return NNCTL_PROBLEM;
	if (o->json) {
		json_begin(&json, stdout);
		json_array(&json, "devices");
	}
	for (i = 0; !ret && i < devices.count; i++) {
		if (i && !o->json)
			putchar('\n');
		ret = info_device(nl, &devices.items[i], o->json ? &json : NULL, err);
	}
	if (o->json) {
		json_end(&json);
		json_end(&json);
	} else if (!devices.count) {
		puts("no device");
	}
	records_free(&devices);
	return ret ? NNCTL_PROBLEM : 0;
}

int nnctl_reset(struct netlink *nl, const struct options *o, struct error *err)
{
	const struct record *found;
	struct records devices;
	struct record reset, now;
	uint32_t dev;
	int left;

	if (netlink_dump(nl, NNPU_CMD_DEV_GET, &dev_fields, -1, &devices, err))
		return NNCTL_PROBLEM;
	if (nnctl_find_device(&devices, o->device, &found, err)) {
		records_free(&devices);
		return NNCTL_PROBLEM;
	}
	dev = (uint32_t)record_number(found, NNPU_A_DEV_ID);
	records_free(&devices);
	if (netlink_get(nl, NNPU_CMD_RESET, &dev_fields, dev, &reset, err)) {
		if (err->errnum == EPERM)
			snprintf(err->text, sizeof(err->text),
				 "a reset needs CAP_SYS_ADMIN: try as root");
		return NNCTL_PROBLEM;
	}
	for (left = RESET_SECONDS * 10; left && !nnctl_stopped(); left--) {
		if (netlink_get(nl, NNPU_CMD_DEV_GET, &dev_fields, dev, &now, err))
			return NNCTL_PROBLEM;
		if (record_number(&now, NNPU_A_DEV_RESETS) >=
		    record_number(&reset, NNPU_A_DEV_RESETS) ||
		    strcmp(record_text(&now, NNPU_A_DEV_STATE), "running"))
			break;
		nnctl_wait(-1, NULL, 0.1);
	}
	if (!left || nnctl_stopped()) {
		fail(err, "the reset is not over yet");
		return NNCTL_PROBLEM;
	}
	if (o->json) {
		struct json json;

		json_begin(&json, stdout);
		record_json(&now, &json);
		json_end(&json);
	} else {
		printf("device %" PRIu32 " (%s) was reset, and is %s\n", dev,
		       record_text(&now, NNPU_A_DEV_BUS_NAME), record_text(&now, NNPU_A_DEV_STATE));
	}
	return strcmp(record_text(&now, NNPU_A_DEV_STATE), "running") ? NNCTL_PROBLEM : 0;
}

/* What an event says beside its type. */
static void print_event(const struct record *e)
{
	static const struct {
		unsigned int attr;
		const char *name;
		bool text;
	} parts[] = {
		{ NNPU_A_EVENT_SCOPE, "scope", true },
		{ NNPU_A_EVENT_REASON, "reason", true },
		{ NNPU_A_EVENT_STATE, "state", true },
		{ NNPU_A_EVENT_STATUS, "status", false },
		{ NNPU_A_EVENT_LIMIT, "limit", true },
		{ NNPU_A_EVENT_REPEATED, "repeated", false },
		{ NNPU_A_EVENT_CTX_ID, "context", false },
		{ NNPU_A_EVENT_QUEUE_ID, "queue", false },
		{ NNPU_A_EVENT_PID, "pid", false },
		{ NNPU_A_EVENT_COMM, "comm", true },
	};
	unsigned int i;

	printf("%14.6f %-14s %-13s", (double)record_number(e, NNPU_A_EVENT_TIME) / 1e9,
	       record_text(e, NNPU_A_EVENT_BUS_NAME), record_text(e, NNPU_A_EVENT_TYPE));
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!record_has(e, parts[i].attr))
			continue;
		if (parts[i].text)
			printf(" %s=%s", parts[i].name, record_text(e, parts[i].attr));
		else
			printf(" %s=%" PRIu64, parts[i].name, record_number(e, parts[i].attr));
	}
	if (record_has(e, NNPU_A_EVENT_RESULT) && record_number(e, NNPU_A_EVENT_RESULT))
		printf(" failed: %s", strerror((int)-(int64_t)record_number(e, NNPU_A_EVENT_RESULT)));
	putchar('\n');
}

/* @lost: that the driver had no room for; 0: this program was too slow, and nothing counts them. */
static void print_lost(uint64_t lost, bool json)
{
	struct json line;

	if (!json) {
		if (lost)
			printf("%14s %" PRIu64 " event%s lost\n", "", lost, plural(lost));
		else
			printf("%14s events lost: they came faster than they were printed\n", "");
		return;
	}
	json_begin_line(&line, stdout);
	if (lost)
		json_u64(&line, "events-missing", lost);
	else
		json_bool(&line, "overflow", true);
	json_end(&line);
}

int nnctl_monitor(struct netlink *nl, const struct options *o, struct error *err)
{
	uint64_t lost = 0, now_lost;
	unsigned long seen = 0;
	uint64_t end = now_ns() + (uint64_t)(o->seconds * 1e9);
	struct record event;
	struct json json;
	bool all;

	if (netlink_listen(nl, &all, err))
		return NNCTL_PROBLEM;
	if (!all)
		fprintf(stderr, "nnctl: events of other users' clients need CAP_SYS_ADMIN\n");
	/* Who reads a pipe sees each event at once. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (!nnctl_stopped() && (!o->count || seen < o->count)) {
		double left = o->seconds > 0 ? (double)(int64_t)(end - now_ns()) / 1e9 : LONG;
		int ret;

		if (left <= 0)
			break;
		if (!nnctl_wait(netlink_fd(nl), stdout, left))
			continue;
		ret = netlink_event(nl, &event, err);
		if (ret < 0)
			return NNCTL_PROBLEM;
		if (ret == NETLINK_OVERFLOW)
			print_lost(0, o->json);
		if (ret != 1)
			continue;
		now_lost = record_number(&event, NNPU_A_EVENT_LOST);
		if (seen && now_lost > lost)
			print_lost(now_lost - lost, o->json);
		lost = now_lost;
		seen++;
		if (o->json) {
			json_begin_line(&json, stdout);
			record_json(&event, &json);
			json_end(&json);
		} else {
			print_event(&event);
		}
	}
	return 0;
}
