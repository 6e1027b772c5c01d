// SPDX-License-Identifier: MIT
/*
 * The report as JSON. Its layout is described in nnvec(1).
 */
#include <inttypes.h>
#include <string.h>

#include "vector_report.h"

/* Bytes of the UTF-8 sequence at @text, 0 if it is none. */
static unsigned int utf8_length(const unsigned char *text)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int n = *text < 0x80 ? 1 : *text < 0xc0 ? 0 : *text < 0xe0 ? 2 :
			 *text < 0xf0 ? 3 : *text < 0xf8 ? 4 : 0;
	uint32_t code = n > 1 ? *text & (0xffu >> (n + 1)) : *text;

	for (unsigned int i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (n && (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return n;
}

static void write_string(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	putc('"', out);
	while (*at) {
		unsigned int n = utf8_length(at);

		if (!n) {
			/* A file name may be anything. */
			fputs("\\ufffd", out);
			at++;
			continue;
		}
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at < 0x20 || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else
			fwrite(at, 1, n, out);
		at += n;
	}
	putc('"', out);
}

static void write_member(FILE *out, const char *before, const char *name, const char *text)
{
	fprintf(out, "%s\"%s\": ", before, name);
	if (text)
		write_string(out, text);
	else
		fputs("null", out);
}

static void write_counts(FILE *out, const struct counts *c)
{
	fprintf(out, "\"passed\": %" PRIu64 ", \"failed\": %" PRIu64 ", \"skipped\": %" PRIu64,
		c->of[VERDICT_PASSED], c->of[VERDICT_FAILED], c->of[VERDICT_SKIPPED]);
}

static void write_variations(const struct report *r, FILE *out)
{
	const char *before = "\n";

	fputs("  \"variations\": [", out);
	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		const struct variation_counts *vc = &r->variations[v];

		if (!r->selected[v])
			continue;
		fputs(before, out);
		before = ",\n";
		write_member(out, "    { ", "name", variations[v].name);
		fputs(", ", out);
		write_counts(out, &vc->counts);
		fprintf(out, ", \"seconds\": %.3f, \"skip_reasons\": [", (double)vc->ns / 1e9);
		for (uint32_t i = 0; i < vc->num_reasons; i++) {
			write_member(out, i ? ", { " : "{ ", "reason", vc->reasons[i].text);
			fprintf(out, ", \"count\": %" PRIu64 " }", vc->reasons[i].count);
		}
		fputs("] }", out);
	}
	fputs("\n  ],\n", out);
}

static void write_operations(const struct report *r, FILE *out)
{
	fputs("  \"operations\": [", out);
	for (uint32_t i = 0; i < r->num_operations; i++) {
		const struct operation_counts *oc = &r->operations[i];

		fputs(i ? ",\n" : "\n", out);
		write_member(out, "    { ", "name", nnhal_operation_type_name(oc->type));
		fprintf(out, ", \"type\": %" PRIu32 ", ", oc->type);
		write_counts(out, &oc->counts);
		fputs(" }", out);
	}
	fputs("\n  ],\n", out);
}

static void write_failures(const struct report *r, FILE *out)
{
	fputs("  \"failures\": [", out);
	for (uint32_t i = 0; i < r->num_failures; i++) {
		const struct failure *f = &r->failures[i];

		fputs(i ? ",\n" : "\n", out);
		write_member(out, "    { ", "file", f->file);
		write_member(out, ", ", "case", f->name);
		write_member(out, ", ", "variation", f->variation);
		write_member(out, ", ", "message", f->message);
		fputs(" }", out);
	}
	fprintf(out, "\n  ],\n  \"failures_not_listed\": %" PRIu64 "\n", r->unlisted_failures);
}

void report_write(const struct report *r, const struct report_context *context, FILE *out)
{
	const char *version = NULL;

	if (context->device)
		nnhal_device_get_version_string(context->device, &version);
	fputs("{\n", out);
	write_member(out, "  ", "library", nnhal_version_string());
	fputs(",\n  \"device\": { ", out);
	write_member(out, "", "spec", context->spec);
	write_member(out, ", ", "name",
		     context->device ? nnhal_device_name(context->device) : NULL);
	write_member(out, ", ", "version", version);
	fprintf(out, " },\n  \"interrupted\": %s,\n", context->interrupted ? "true" : "false");
	fprintf(out, "  \"files\": %" PRIu64 ", \"cases\": %" PRIu64 ", \"cases_left_out\": %"
		PRIu64 ",\n  ", r->files, r->cases, r->skipped_cases);
	write_counts(out, &r->total);
	fputs(",\n", out);
	write_variations(r, out);
	write_operations(r, out);
	write_failures(r, out);
	fputs("}\n", out);
}
