// SPDX-License-Identifier: MIT
/*
 * top: utilisation of devices, and who causes it. The figures are those between two looks.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnctl.h"

/* One look. */
struct look {
	struct records devices;
	struct records stats;
	struct records clients;
	struct records queues;
};

static void look_free(struct look *look)
{
	records_free(&look->devices);
	records_free(&look->stats);
	records_free(&look->clients);
	records_free(&look->queues);
}

static int look_at(struct netlink *nl, const struct options *o, struct look *look,
		   struct error *err)
{
	*look = (struct look){ 0 };
	if (nnctl_get_devices(nl, o, &look->devices, err) ||
	    netlink_dump(nl, NNPU_CMD_STATS_GET, &stats_fields, -1, &look->stats, err) ||
	    netlink_dump(nl, NNPU_CMD_CLIENT_GET, &client_fields, -1, &look->clients, err) ||
	    netlink_dump(nl, NNPU_CMD_QUEUE_GET, &queue_fields, -1, &look->queues, err)) {
		look_free(look);
		return -1;
	}
	return 0;
}

/* The record with these numbers; NULL: there is none. Attribute 1 is the device in both sets. */
static const struct record *find(const struct records *records, uint64_t dev, unsigned int attr,
				 uint64_t id)
{
	size_t i;

	for (i = 0; i < records->count; i++)
		if (record_number(&records->items[i], 1) == dev &&
		    (!attr || record_number(&records->items[i], attr) == id))
			return &records->items[i];
	return NULL;
}

static uint64_t more(const struct record *now, const struct record *before, unsigned int attr)
{
	uint64_t was = before ? record_number(before, attr) : 0, is = record_number(now, attr);

	return is > was ? is - was : 0;
}

/* Of a client or a device, in the time between the looks. A number that was not measured is NAN. */
struct use {
	double percent;		/* of the engines */
	double jobs;		/* in a second */
	double p50;		/* ns */
	double p99;
};

/* Room for a figure. */
#define FIGURE_SIZE	32

static const char *jobs_text(const struct use *use, char *text)
{
	if (isnan(use->jobs))
		return "-";
	snprintf(text, FIGURE_SIZE, "%.1f", use->jobs);
	return text;
}

static const char *time_text(double ns, char *text)
{
	if (isnan(ns))
		return "-";
	snprintf(text, FIGURE_SIZE, "%s", TIME((uint64_t)ns));
	return text;
}

static double percentile(const uint64_t *now, const uint64_t *before, double part)
{
	return nnctl_has_samples(now, before) ? (double)nnctl_percentile(now, before, part) : (double)NAN;
}

static struct use use_of(const struct record *now, const struct record *before, unsigned int engine,
			 unsigned int completed, unsigned int latency, double ns, uint64_t engines)
{
	const uint64_t *old = before ? record_histogram(before, latency) : NULL;
	const uint64_t *new = record_histogram(now, latency);

	return (struct use){
		.percent = 100.0 * (double)more(now, before, engine) / ns /
			   (double)(engines ? engines : 1),
		.jobs = (double)more(now, before, completed) * 1e9 / ns,
		.p50 = percentile(new, old, 0.5),
		.p99 = percentile(new, old, 0.99),
	};
}

static void use_json(struct json *json, const struct use *use)
{
	json_real(json, "utilisation", use->percent, 2);
	json_real(json, "jobs-per-second", use->jobs, 1);
	json_real(json, "latency-p50", use->p50, 0);
	json_real(json, "latency-p99", use->p99, 0);
}

static void show_client(const struct record *c, const struct use *use, struct json *json)
{
	char jobs[FIGURE_SIZE], p50[FIGURE_SIZE], p99[FIGURE_SIZE];

	if (json) {
		json_object(json, NULL);
		use_json(json, use);
		record_json(c, json);
		json_end(json);
		return;
	}
	printf("%8" PRIu64 " %8" PRIu64 " %6.1f %9s %9s %9s %8" PRIu64 " %7" PRIu64 " %10s %10s  %s\n",
	       record_number(c, NNPU_A_CLIENT_PID), record_number(c, NNPU_A_CLIENT_UID),
	       use->percent, jobs_text(use, jobs), time_text(use->p50, p50), time_text(use->p99, p99),
	       record_number(c, NNPU_A_CLIENT_CONTEXTS), record_number(c, NNPU_A_CLIENT_QUEUES),
	       BYTES(record_number(c, NNPU_A_CLIENT_MEMORY)),
	       BYTES(record_number(c, NNPU_A_CLIENT_DEVICE_MEMORY)),
	       record_text(c, NNPU_A_CLIENT_COMM));
}

struct row {
	const struct record *client;
	struct use use;
};

static int compare_rows(const void *a, const void *b)
{
	double first = ((const struct row *)a)->use.percent;
	double second = ((const struct row *)b)->use.percent;

	return (first < second) - (first > second);
}

static int show_clients(const struct look *now, const struct look *before, uint64_t dev, double ns,
			uint64_t engines, struct json *json, struct error *err)
{
	struct row *rows = calloc(now->clients.count + 1, sizeof(*rows));
	size_t i, num = 0;

	if (!rows)
		return fail(err, "out of memory");
	for (i = 0; i < now->clients.count; i++) {
		const struct record *c = &now->clients.items[i];

		if (record_number(c, NNPU_A_CLIENT_DEV_ID) != dev)
			continue;
		rows[num++] = (struct row){
			.client = c,
			.use = use_of(c, find(&before->clients, dev, NNPU_A_CLIENT_ID,
					      record_number(c, NNPU_A_CLIENT_ID)),
				      NNPU_A_CLIENT_ENGINE, NNPU_A_CLIENT_COMPLETED,
				      NNPU_A_CLIENT_LATENCY_TOTAL, ns, engines),
		};
		/* The kernel does not see jobs of user queues. */
		if (record_number(c, NNPU_A_CLIENT_QUEUES))
			rows[num - 1].use.jobs = (double)NAN;
	}
	qsort(rows, num, sizeof(*rows), compare_rows);
	if (json)
		json_array(json, "client-list");
	else
		printf("%8s %8s %6s %9s %9s %9s %8s %7s %10s %10s  %s\n", "PID", "UID", "%ENG", "JOBS/S",
		       "P50", "P99", "CONTEXTS", "QUEUES", "BUFFERS", "ON DEVICE", "COMMAND");
	for (i = 0; i < num; i++)
		show_client(rows[i].client, &rows[i].use, json);
	if (json)
		json_end(json);
	free(rows);
	return 0;
}

static int show_device(const struct look *now, const struct look *before, const struct record *d,
		       struct json *json, struct error *err)
{
	uint64_t dev = record_number(d, NNPU_A_DEV_ID), engines = record_number(d, NNPU_A_DEV_ENGINES);
	const struct record *s = find(&now->stats, dev, 0, 0), *was = find(&before->stats, dev, 0, 0);
	bool counts;
	char p50[FIGURE_SIZE], p99[FIGURE_SIZE];
	struct use use;
	double ns;

	/* It came or went between the looks, or its use is not for this user. */
	if (!s || !was) {
		if (!nnctl_is_use_told(d) && !json)
			printf("%s %s %s: use " NNCTL_USE_HIDDEN "\n\n", record_text(d, NNPU_A_DEV_NODE),
			       record_text(d, NNPU_A_DEV_BUS_NAME), record_text(d, NNPU_A_DEV_STATE));
		return 0;
	}
	ns = (double)more(s, was, NNPU_A_STATS_TIME);
	/* What the device counts says more: jobs of user queues, and those that run. */
	counts = record_has(s, NNPU_A_STATS_BUSY) && record_has(was, NNPU_A_STATS_BUSY);
	use = use_of(s, was, counts ? NNPU_A_STATS_BUSY : NNPU_A_STATS_ENGINE,
		     counts ? NNPU_A_STATS_DEV_JOBS : NNPU_A_STATS_COMPLETED,
		     NNPU_A_STATS_LATENCY_TOTAL, ns, engines);
	if (json) {
		json_object(json, NULL);
		use_json(json, &use);
		record_json(d, json);
	} else {
		printf("%s %s %s, level %s: %.1f%% of %" PRIu64 " engines, %.1f jobs/s, p50 %s, p99 %s\n",
		       record_text(d, NNPU_A_DEV_NODE), record_text(d, NNPU_A_DEV_BUS_NAME),
		       record_text(d, NNPU_A_DEV_STATE), record_text(d, NNPU_A_DEV_PERF_LEVEL),
		       use.percent, engines, use.jobs, time_text(use.p50, p50), time_text(use.p99, p99));
		printf("%" PRIu64 " clients, %" PRIu64 " contexts, %" PRIu64 " queues (%" PRIu64
		       " at work), %" PRIu64 " jobs, device memory %s of %s, %" PRIu64 " hangs, %"
		       PRIu64 " resets\n\n", record_number(d, NNPU_A_DEV_CLIENTS),
		       record_number(d, NNPU_A_DEV_CONTEXTS), record_number(d, NNPU_A_DEV_QUEUES),
		       record_number(d, NNPU_A_DEV_QUEUES_ACTIVE), record_number(d, NNPU_A_DEV_JOBS),
		       BYTES(record_number(d, NNPU_A_DEV_MEM_USED)),
		       BYTES(record_number(d, NNPU_A_DEV_MEM_TOTAL)),
		       record_number(s, NNPU_A_STATS_HANGS), record_number(d, NNPU_A_DEV_RESETS));
	}
	if (show_clients(now, before, dev, ns, engines, json, err))
		return -1;
	if (json)
		json_end(json);
	else
		putchar('\n');
	return 0;
}

static int show(const struct look *now, const struct look *before, bool as_json, struct error *err)
{
	struct json json;
	int ret = 0;
	size_t i;

	if (as_json) {
		json_begin_line(&json, stdout);
		json_array(&json, "devices");
	} else if (isatty(STDOUT_FILENO)) {
		fputs("\033[H\033[2J", stdout);
	}
	for (i = 0; !ret && i < now->devices.count; i++)
		ret = show_device(now, before, &now->devices.items[i], as_json ? &json : NULL, err);
	if (as_json) {
		json_end(&json);
		json_end(&json);
	} else if (!now->devices.count) {
		puts("no device");
	}
	fflush(stdout);
	return ret;
}

int nnctl_top(struct netlink *nl, const struct options *o, struct error *err)
{
	unsigned long looks = 0;
	struct look before, now;
	int ret;

	if (look_at(nl, o, &before, err))
		return NNCTL_PROBLEM;
	do {
		nnctl_wait(-1, stdout, o->interval);
		ret = nnctl_stopped() ? 1 : look_at(nl, o, &now, err);
		if (ret)
			break;
		ret = show(&now, &before, o->json, err);
		look_free(&before);
		before = now;
	} while (!ret && (!o->count || ++looks < o->count));
	look_free(&before);
	return err->text[0] ? NNCTL_PROBLEM : 0;
}
