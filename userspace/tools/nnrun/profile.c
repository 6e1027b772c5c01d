// SPDX-License-Identifier: MIT
/*
 * Times of inferences: collecting and reporting them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../common/samples.h"
#include "profile.h"

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

static void print_series(FILE *stream, const char *name, struct series *series)
{
	double sum = 0;
	size_t i;

	if (series->count == 0)
		return;
	samples_sort(series->values, series->count);
	for (i = 0; i < series->count; i++)
		sum += (double)series->values[i];
	fprintf(stream, "%-16s %10.1f %10.1f %10.1f %10.1f %10.1f %10.1f\n", name,
		sum / (double)series->count / 1e3, (double)series->values[0] / 1e3,
		(double)samples_percentile(series->values, series->count, 50) / 1e3,
		(double)samples_percentile(series->values, series->count, 90) / 1e3,
		(double)samples_percentile(series->values, series->count, 99) / 1e3,
		(double)series->values[series->count - 1] / 1e3);
}

static void print_operations(FILE *stream, const struct profile *profile,
			     const struct nntflite_model *model)
{
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; i < profile->num_operations; i++)
		total += profile->operations[i].total_ns;
	fprintf(stream, "\n%5s %-20s %12s %7s %12s  %s\n", "", "operation", "mean us", "share",
		"bytes", "output");
	for (i = 0; i < profile->num_operations; i++) {
		const struct operation_time *op = &profile->operations[i];
		struct nntflite_origin origin;

		if (op->count == 0 || nntflite_model_origin(model, i, &origin))
			continue;
		fprintf(stream, "%5" PRIu32 " %-20s %12.2f %6.1f%% %12" PRIu64 "  %s\n", i,
			nnhal_operation_type_name(nntflite_model_get_hal(model)->main.operations[i].type),
			(double)op->total_ns / (double)op->count / 1e3,
			total ? 100.0 * (double)op->total_ns / (double)total : 0.0, op->bytes,
			origin.tensor);
	}
}

static void print_work(FILE *stream, const struct work *w)
{
	double count = (double)w->count;

	if (!w->count)
		return;
	fprintf(stream, "\n%-17s %10s %10s %10s\n", "beside operations", "shapes", "allocs",
		"copies");
	fprintf(stream, "%-17s %10.2f %10.2f %10.2f\n", "mean", (double)w->inferences / count,
		(double)w->allocations / count, (double)w->copies / count);
	fprintf(stream, "%-17s %10" PRIu32 " %10" PRIu32 " %10" PRIu32 "\n", "last inference",
		w->last.inferences, w->last.allocations, w->last.copies);
}

void profile_print(FILE *stream, struct profile *profile, const struct nntflite_model *model,
		   uint64_t elapsed_ns)
{
	double seconds = (double)elapsed_ns / 1e9;

	if (profile->latency.count == 0)
		return;
	fprintf(stream, "%zu inferences in %.3f s, %.1f per second\n\n", profile->latency.count,
		seconds, seconds > 0 ? (double)profile->latency.count / seconds : 0.0);
	fprintf(stream, "%-16s %10s %10s %10s %10s %10s %10s\n", "us per inference", "mean",
		"min", "p50", "p90", "p99", "max");
	print_series(stream, "latency", &profile->latency);
	print_series(stream, "in driver", &profile->driver);
	print_series(stream, "in device queue", &profile->queue);
	print_series(stream, "on device", &profile->device);
	print_work(stream, &profile->work);
	print_operations(stream, profile, model);
}
