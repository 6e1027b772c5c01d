// SPDX-License-Identifier: MIT
/*
 * A profile as a table, and what all reports need.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../common/file.h"
#include "../common/samples.h"
#include "profile_report.h"

int report_init(struct profile_report *report, struct profile *profile,
		const struct nntflite_model *model, const char *path, uint64_t elapsed_ns,
		struct error *err)
{
	uint32_t i;

	*report = (struct profile_report){
		.profile = profile, .model = model, .path = path, .elapsed_ns = elapsed_ns,
	};
	report->work = calloc(profile->num_operations + 1, sizeof(*report->work));
	if (!report->work || operation_work_of(nntflite_model_get_hal(model), report->work))
		return fail(err, "out of memory");
	for (i = 0; i < profile->num_operations; i++) {
		report->macs += report->work[i].macs;
		report->total_ns += profile->operations[i].total_ns;
		if (report->work[i].live > report->peak)
			report->peak = report->work[i].live;
	}
	return 0;
}

void report_free(struct profile_report *report)
{
	free(report->work);
	report->work = NULL;
}

const char *report_operation_name(const struct profile_report *report, uint32_t operation,
				  char *text, size_t size)
{
	const struct nnhal_model *hal = nntflite_model_get_hal(report->model);
	uint32_t type = hal->main.operations[operation].type;
	struct nntflite_origin origin;

	/* Operations of an extension have no name in the HAL, but one in the file. */
	if (nnhal_is_extension_operation_type(type) &&
	    nntflite_model_origin(report->model, operation, &origin) == NNHAL_STATUS_NONE)
		snprintf(text, size, "%s", origin.name);
	else
		snprintf(text, size, "%s", nnhal_operation_type_name(type));
	return text;
}

int report_write(struct out_file *out, void (*write)(FILE *stream, const struct profile_report *report),
		 const struct profile_report *report, struct error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	int ret;

	if (!stream)
		return fail_errno(err, errno, "%s", out->path);
	write(stream, report);
	if (fclose(stream) != 0) {
		free(text);
		return fail_errno(err, errno, "%s", out->path);
	}
	ret = out_write(out, text, size, err);
	if (!ret)
		ret = out_commit(out, err);
	free(text);
	return ret;
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

static void print_operations(FILE *stream, const struct profile_report *report)
{
	const struct profile *profile = report->profile;
	uint32_t i;

	fprintf(stream, "\n%5s %-20s %12s %7s %9s %12s %7s  %s\n", "", "operation", "mean us",
		"share", "GMAC/s", "bytes", "live", "output");
	for (i = 0; i < profile->num_operations; i++) {
		const struct operation_time *op = &profile->operations[i];
		double mean = op->count ? (double)op->total_ns / (double)op->count : 0;
		struct nntflite_origin origin;
		char speed[24] = "-";

		if (op->count == 0 || nntflite_model_origin(report->model, i, &origin))
			continue;
		if (report->work[i].macs && mean > 0)
			snprintf(speed, sizeof(speed), "%.3f", (double)report->work[i].macs / mean);
		fprintf(stream, "%5" PRIu32 " %-20s %12.2f %6.1f%% %9s %12" PRIu64 " %6.1f%%  %s\n",
			i, REPORT_NAME(report, i), mean / 1e3,
			report->total_ns ? 100.0 * (double)op->total_ns /
					   (double)report->total_ns : 0.0,
			speed, op->bytes,
			report->peak ? 100.0 * (double)report->work[i].live /
				       (double)report->peak : 0.0,
			origin.tensor);
	}
	fprintf(stream, "%" PRIu64 " multiply-accumulates per inference; %" PRIu64
		" bytes of intermediate tensors at the peak\n", report->macs, report->peak);
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

void report_table(FILE *stream, const struct profile_report *report)
{
	struct profile *profile = report->profile;
	double seconds = (double)report->elapsed_ns / 1e9;

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
	print_operations(stream, report);
}
