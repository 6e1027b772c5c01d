// SPDX-License-Identifier: MIT
/*
 * Figures: collecting, relating and printing them; messages.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../common/json.h"
#include "../common/plural.h"
#include "../common/samples.h"
#include "nnbench.h"

int failed(const char *what, enum nnhal_status status, const struct nnhal_diag *diag)
{
	fprintf(stderr, "nnbench: %s: %s%s%s\n", what, nnhal_status_name(status),
		diag && diag->message[0] ? ": " : "", diag ? diag->message : "");
	return -1;
}

void metric(struct bench *b, const char *name, const char *what, double value)
{
	b->metrics[b->num_metrics++] = (struct metric) { name, what, value };
}

void metric_percentile(struct bench *b, const char *name, const char *what,
		       unsigned int percent)
{
	samples_sort(b->samples, b->count);
	metric(b, name, what, (double)samples_percentile(b->samples, b->count, percent));
}

static double find(const struct bench *b, const char *name)
{
	unsigned int i;

	for (i = 0; i < b->num_metrics; i++)
		if (!strcmp(b->metrics[i].name, name))
			return b->metrics[i].value;
	return 0;
}

static const struct {
	const char *name, *what, *numerator, *denominator;
} ratios[] = {
	{ "execute_to_round_trip", "execute / round trip between two processes",
	  "execute_p50_ns", "round_trip_ns" },
	{ "software_to_round_trip", "software in execute / round trip",
	  "software_ns", "round_trip_ns" },
	{ "execute_to_syscall", "execute / system call", "execute_p50_ns", "syscall_ns" },
	{ "pipeline_gain", "throughput of eight in flight / one in flight",
	  "async_depth1_ns", "async_depth8_ns" },
	{ "burst_to_message_queue", "burst / futex message queue",
	  "burst_p50_ns", "message_queue_ns" },
	{ "burst_to_execute", "burst / execute", "burst_p50_ns", "execute_p50_ns" },
	{ "bound_to_hand_over", "burst of a bound request / hand-over and back",
	  "burst_bound_ns", "hand_over_ns" },
	{ "burst_pipeline_gain", "throughput of a burst, eight in flight / one",
	  "burst_depth1_ns", "burst_depth8_ns" },
};

#define NUM_RATIOS	(sizeof(ratios) / sizeof(ratios[0]))

/* Are both figures there? Some are missing if only bursts are measured. */
static bool has_ratio(const struct bench *b, size_t i)
{
	return find(b, ratios[i].numerator) && find(b, ratios[i].denominator);
}

void print_text(const struct bench *b)
{
	size_t i;

	printf("device %s, %u execution%s\n", nnhal_device_name(b->device), b->count,
	       plural(b->count));
	for (i = 0; i < b->num_metrics; i++)
		printf("  %-56s %12.1f us\n", b->metrics[i].what, b->metrics[i].value / 1000);
	for (i = 0; i < NUM_RATIOS; i++)
		if (has_ratio(b, i))
			printf("  %-56s %12.3f\n", ratios[i].what,
			       find(b, ratios[i].numerator) / find(b, ratios[i].denominator));
}

int print_json(const struct bench *b, const char *path)
{
	FILE *f = fopen(path, "w");
	struct json json;

	if (!f) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	json_begin(&json, f);
	json_string(&json, "device", nnhal_device_name(b->device));
	json_u64(&json, "count", b->count);
	json_object(&json, "ns");
	for (unsigned int i = 0; i < b->num_metrics; i++)
		json_real(&json, b->metrics[i].name, b->metrics[i].value, 1);
	json_end(&json);
	json_object(&json, "ratios");
	for (size_t i = 0; i < NUM_RATIOS; i++)
		if (has_ratio(b, i))
			json_real(&json, ratios[i].name, find(b, ratios[i].numerator) /
				  find(b, ratios[i].denominator), 4);
	json_end(&json);
	json_end(&json);
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}
