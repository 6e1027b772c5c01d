// SPDX-License-Identifier: MIT
/*
 * The report as JSON. Its layout is described in nnvec(1).
 */
#include "../common/json.h"
#include "vector_report.h"

static void write_counts(struct json *json, const struct counts *c)
{
	json_u64(json, "passed", c->of[VERDICT_PASSED]);
	json_u64(json, "failed", c->of[VERDICT_FAILED]);
	json_u64(json, "skipped", c->of[VERDICT_SKIPPED]);
}

static void write_variations(const struct report *r, struct json *json)
{
	json_array(json, "variations");
	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		const struct variation_counts *vc = &r->variations[v];

		if (!r->selected[v])
			continue;
		json_object(json, NULL);
		json_string(json, "name", variations[v].name);
		write_counts(json, &vc->counts);
		json_real(json, "seconds", (double)vc->ns / 1e9, 3);
		json_array(json, "skip_reasons");
		for (uint32_t i = 0; i < vc->num_reasons; i++) {
			json_object(json, NULL);
			json_string(json, "reason", vc->reasons[i].text);
			json_u64(json, "count", vc->reasons[i].count);
			json_end(json);
		}
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

static void write_operations(const struct report *r, struct json *json)
{
	json_array(json, "operations");
	for (uint32_t i = 0; i < r->num_operations; i++) {
		const struct operation_counts *oc = &r->operations[i];

		json_object(json, NULL);
		json_string(json, "name", nnhal_operation_type_name(oc->type));
		json_u64(json, "type", oc->type);
		write_counts(json, &oc->counts);
		json_end(json);
	}
	json_end(json);
}

static void write_failures(const struct report *r, struct json *json)
{
	json_array(json, "failures");
	for (uint32_t i = 0; i < r->num_failures; i++) {
		const struct failure *f = &r->failures[i];

		json_object(json, NULL);
		json_string(json, "file", f->file);
		json_string(json, "case", f->name);
		json_string(json, "variation", f->variation);
		json_string(json, "message", f->message);
		json_end(json);
	}
	json_end(json);
	json_u64(json, "failures_not_listed", r->unlisted_failures);
}

void report_write(const struct report *r, const struct report_context *context, FILE *out)
{
	const char *version = NULL;
	struct json json;

	if (context->device)
		nnhal_device_get_version_string(context->device, &version);
	json_begin(&json, out);
	json_string(&json, "library", nnhal_version_string());
	json_object(&json, "device");
	json_string(&json, "spec", context->spec);
	json_string(&json, "name", context->device ? nnhal_device_name(context->device) : NULL);
	json_string(&json, "version", version);
	json_end(&json);
	json_bool(&json, "interrupted", context->interrupted);
	json_u64(&json, "files", r->files);
	json_u64(&json, "cases", r->cases);
	json_u64(&json, "cases_left_out", r->skipped_cases);
	write_counts(&json, &r->total);
	write_variations(r, &json);
	write_operations(r, &json);
	write_failures(r, &json);
	json_end(&json);
}
