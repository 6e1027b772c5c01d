// SPDX-License-Identifier: MIT
/*
 * Records: messages as numbers and texts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nnctl_netlink.h"

void records_free(struct records *records)
{
	free(records->items);
	*records = (struct records){ 0 };
}

bool record_has(const struct record *r, unsigned int attr)
{
	return r->values[attr].there;
}

uint64_t record_number(const struct record *r, unsigned int attr)
{
	return r->values[attr].number;
}

const char *record_text(const struct record *r, unsigned int attr)
{
	const struct field *field = &r->fields->fields[attr];
	const struct value *value = &r->values[attr];

	if (!value->there)
		return "-";
	if (field->kind != KIND_NAME)
		return value->text;
	return value->number < field->num_names ? field->names[value->number] : "unknown";
}

/* They are the last attributes of their sets, and follow each other. */
const uint64_t *record_histogram(const struct record *r, unsigned int attr)
{
	return r->histograms[attr - (r->fields->num - 3)];
}

static void histogram_json(const struct record *r, unsigned int attr, struct json *json)
{
	const uint64_t *counts = record_histogram(r, attr);
	unsigned int i;

	json_array(json, r->fields->fields[attr].name);
	for (i = 0; i < NNPU_LATENCY_BUCKETS; i++)
		json_u64(json, NULL, counts[i]);
	json_end(json);
}

void record_json(const struct record *r, struct json *json)
{
	unsigned int i;

	for (i = 0; i < r->fields->num; i++) {
		const struct field *field = &r->fields->fields[i];

		if (field->kind == KIND_FLAG)
			json_bool(json, field->name, r->values[i].there);
		if (!r->values[i].there)
			continue;
		switch (field->kind) {
		case KIND_NUMBER:
			json_u64(json, field->name, r->values[i].number);
			break;
		case KIND_SIGNED:
			json_real(json, field->name, (double)(int64_t)r->values[i].number, 0);
			break;
		case KIND_NAME:
		case KIND_TEXT:
			json_string(json, field->name, record_text(r, i));
			break;
		case KIND_HISTOGRAM:
			histogram_json(r, i, json);
			break;
		case KIND_NONE:
		case KIND_FLAG:
			break;
		}
	}
}
