// SPDX-License-Identifier: MIT
/*
 * A profile as one HTML page, which takes nothing from anywhere else.
 */
#include <inttypes.h>

#include "../common/plural.h"
#include "../common/samples.h"
#include "profile_report.h"

static const char head[] =
"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>nnrun profile</title>\n"
"<style>body{font:14px sans-serif;margin:2em;color:#222}table{border-collapse:collapse}\n"
"th,td{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}\n"
"th{background:#eee}td.t,th.t{text-align:left}\n"
".b{background:#48a;height:10px;display:inline-block}.m{background:#c83}</style></head><body>\n";

static void escaped(FILE *stream, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			fputs("&amp;", stream);
			break;
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		case '"':
			fputs("&quot;", stream);
			break;
		default:
			fputc((unsigned char)*text < ' ' ? '?' : *text, stream);
		}
	}
}

static void print_series(FILE *stream, const char *name, const struct series *series)
{
	static const double percentiles[] = { 50, 90, 99 };
	double sum = 0;
	size_t i;

	if (series->count == 0)
		return;
	samples_sort(series->values, series->count);
	for (i = 0; i < series->count; i++)
		sum += (double)series->values[i];
	fprintf(stream, "<tr><td class=\"t\">%s<td>%.1f<td>%.1f", name,
		sum / (double)series->count / 1e3, (double)series->values[0] / 1e3);
	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		fprintf(stream, "<td>%.1f", (double)samples_percentile(series->values,
				series->count, percentiles[i]) / 1e3);
	fprintf(stream, "<td>%.1f\n", (double)series->values[series->count - 1] / 1e3);
}

/* A bar of a width in percent. */
static void bar(FILE *stream, const char *class, double part)
{
	fprintf(stream, "<td class=\"t\"><span class=\"%s\" style=\"width:%.1fpx\"></span> %.1f%%",
		class, 1.5 * part, part);
}

static void print_operation(FILE *stream, const struct profile_report *report, uint32_t i)
{
	const struct operation_time *op = &report->profile->operations[i];
	const struct operation_work *work = &report->work[i];
	double mean = (double)op->total_ns / (double)op->count;
	struct nntflite_origin origin = { .name = "", .tensor = "" };

	(void)nntflite_model_origin(report->model, i, &origin);
	fprintf(stream, "<tr><td>%" PRIu32 "<td class=\"t\">", i);
	escaped(stream, REPORT_NAME(report, i));
	fprintf(stream, "<td>%.2f", mean / 1e3);
	bar(stream, "b", report->total_ns ? 100.0 * (double)op->total_ns /
			 (double)report->total_ns : 0.0);
	if (work->macs && mean > 0)
		fprintf(stream, "<td>%.3f", (double)work->macs / mean);
	else
		fputs("<td>", stream);
	fprintf(stream, "<td>%" PRIu64, op->bytes);
	bar(stream, "b m", report->peak ? 100.0 * (double)work->live / (double)report->peak : 0.0);
	fputs("<td class=\"t\">", stream);
	escaped(stream, origin.tensor);
	fputc('\n', stream);
}

void report_html(FILE *stream, const struct profile_report *report)
{
	struct profile *profile = report->profile;
	double seconds = (double)report->elapsed_ns / 1e9;
	uint32_t i;

	fputs(head, stream);
	fputs("<h1>", stream);
	escaped(stream, report->path);
	fprintf(stream, "</h1>\n<p>%zu inference%s in %.3f s, %.1f per second; %.3f million "
		"multiply-accumulates each</p>\n", profile->latency.count,
		plural(profile->latency.count), seconds,
		seconds > 0 ? (double)profile->latency.count / seconds : 0.0,
		(double)report->macs / 1e6);
	fputs("<table><tr><th class=\"t\">microseconds<th>mean<th>min<th>p50<th>p90<th>p99<th>max\n",
	      stream);
	print_series(stream, "latency", &profile->latency);
	print_series(stream, "in driver", &profile->driver);
	print_series(stream, "in device queue", &profile->queue);
	print_series(stream, "on device", &profile->device);
	fputs("</table>\n<h2>Operations</h2>\n<table><tr><th><th class=\"t\">operation<th>mean us"
	      "<th class=\"t\">share of the time<th>GMAC/s<th>bytes<th class=\"t\">live tensors, of "
	      "the peak<th class=\"t\">output\n", stream);
	for (i = 0; i < profile->num_operations; i++)
		if (profile->operations[i].count)
			print_operation(stream, report, i);
	fprintf(stream, "</table>\n<p>Peak of the intermediate tensors: %" PRIu64
		" bytes.</p></body></html>\n", report->peak);
}
