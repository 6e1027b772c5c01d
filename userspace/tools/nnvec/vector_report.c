// SPDX-License-Identifier: MIT
/*
 * Counts results and prints them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../common/clean.h"
#include "../common/plural.h"
#include "vector_report.h"

/* More failures are counted but not kept. */
#define MAX_FAILURES	65536u

void report_init(struct report *r, const bool *selected)
{
	memset(r, 0, sizeof(*r));
	r->selected = selected;
}

void report_free(struct report *r)
{
	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		for (uint32_t i = 0; i < r->variations[v].num_reasons; i++)
			free(r->variations[v].reasons[i].text);
		free(r->variations[v].reasons);
	}
	for (uint32_t i = 0; i < r->num_failures; i++) {
		free(r->failures[i].file);
		free(r->failures[i].name);
		free(r->failures[i].message);
	}
	free(r->failures);
	free(r->operations);
}

/* Room for one more in an array that doubles; NULL if memory is short. */
static void *grow(struct report *r, void *array, uint32_t count, size_t size)
{
	void *larger = array;

	/* Its capacity is the next power of two. */
	if (!(count & (count - 1)))
		larger = realloc(array, (count ? count * 2u : 1u) * size);
	if (!larger)
		r->no_memory = true;
	return larger;
}

static void add_reason(struct report *r, struct variation_counts *vc, const char *text)
{
	struct skip_reason *larger;
	uint32_t i;

	for (i = 0; i < vc->num_reasons; i++) {
		if (strcmp(vc->reasons[i].text, text))
			continue;
		vc->reasons[i].count++;
		return;
	}
	larger = grow(r, vc->reasons, i, sizeof(*larger));
	if (!larger)
		return;
	vc->reasons = larger;
	larger[i] = (struct skip_reason){ .text = strdup(text), .count = 1 };
	if (larger[i].text)
		vc->num_reasons++;
	else
		r->no_memory = true;
}

static struct operation_counts *operation_of(struct report *r, uint32_t type)
{
	struct operation_counts *larger;
	uint32_t i;

	for (i = 0; i < r->num_operations; i++) {
		if (r->operations[i].type == type)
			return &r->operations[i];
	}
	larger = grow(r, r->operations, i, sizeof(*larger));
	if (!larger)
		return NULL;
	r->operations = larger;
	r->num_operations++;
	larger[i] = (struct operation_counts){ .type = type };
	return &larger[i];
}

/* Each operation of the case counts once. */
static void add_operations(struct report *r, const struct nntc_case *nc, enum verdict result)
{
	uint32_t seen[128], num_seen = 0;

	for (uint32_t s = 0; s <= nc->num_referenced; s++) {
		const struct nntc_subgraph *sg = s ? &nc->referenced[s - 1] : &nc->main;

		for (uint32_t i = 0; i < sg->num_operations; i++) {
			uint32_t type = sg->operations[i].type, k;
			struct operation_counts *oc;

			if (nnhal_is_extension_operation_type(type) ||
			    !nnhal_validate_operation_type(type, NNHAL_HAL_1_3))
				continue;
			for (k = 0; k < num_seen && seen[k] != type; k++)
				;
			if (k < num_seen || num_seen == sizeof(seen) / sizeof(seen[0]))
				continue;
			seen[num_seen++] = type;
			oc = operation_of(r, type);
			if (oc)
				oc->counts.of[result]++;
		}
	}
}

static void add_failure(struct report *r, const char *file, const char *name,
			const char *variation, const char *text)
{
	struct failure *larger;
	struct failure f;

	if (r->num_failures == MAX_FAILURES) {
		r->unlisted_failures++;
		return;
	}
	f = (struct failure){
		.file = strdup(file), .name = name ? strdup(name) : NULL,
		.variation = variation, .message = strdup(text),
	};
	larger = grow(r, r->failures, r->num_failures, sizeof(*larger));
	if (larger)
		r->failures = larger;
	if (larger && f.file && f.message && (f.name || !name)) {
		larger[r->num_failures++] = f;
		return;
	}
	r->no_memory = true;
	free(f.file);
	free(f.name);
	free(f.message);
}

void report_add(struct report *r, const char *file, const struct nntc_case *nc,
		const struct variation *v, enum verdict result, const char *text, uint64_t ns)
{
	struct variation_counts *vc = &r->variations[v - variations];

	vc->counts.of[result]++;
	vc->ns += ns;
	r->total.of[result]++;
	add_operations(r, nc, result);
	if (result == VERDICT_SKIPPED)
		add_reason(r, vc, text);
	if (result == VERDICT_FAILED)
		add_failure(r, file, nc->name, v->name, text);
}

void report_add_failure(struct report *r, const char *file, const char *text)
{
	r->total.of[VERDICT_FAILED]++;
	add_failure(r, file, NULL, NULL, text);
}

void print_clean(FILE *out, const char *text)
{
	for (; *text; text++)
		putc(clean_char(*text), out);
}

static void print_counts(FILE *out, const struct counts *c)
{
	fprintf(out, " %8" PRIu64 " %8" PRIu64 " %8" PRIu64, c->of[VERDICT_PASSED],
		c->of[VERDICT_FAILED], c->of[VERDICT_SKIPPED]);
}

static int compare_operations(const void *a, const void *b)
{
	const struct operation_counts *x = a, *y = b;

	return strcmp(nnhal_operation_type_name(x->type), nnhal_operation_type_name(y->type));
}

static void print_operations(const struct report *r, FILE *out)
{
	struct operation_counts *sorted = calloc((size_t)r->num_operations + 1, sizeof(*sorted));

	if (!sorted)
		return;
	if (r->num_operations)
		memcpy(sorted, r->operations, r->num_operations * sizeof(*sorted));
	qsort(sorted, r->num_operations, sizeof(*sorted), compare_operations);
	fprintf(out, "\n%-30s %8s %8s %8s\n", "OPERATION", "PASSED", "FAILED", "SKIPPED");
	for (uint32_t i = 0; i < r->num_operations; i++) {
		fprintf(out, "%-30s", nnhal_operation_type_name(sorted[i].type));
		print_counts(out, &sorted[i].counts);
		putc('\n', out);
	}
	free(sorted);
}

void report_print(const struct report *r, FILE *out)
{
	bool any_skipped = false;

	print_operations(r, out);
	fprintf(out, "\n%-30s %8s %8s %8s %10s\n", "VARIATION", "PASSED", "FAILED", "SKIPPED",
		"TIME");
	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		const struct variation_counts *vc = &r->variations[v];

		if (!r->selected[v])
			continue;
		fprintf(out, "%-30s", variations[v].name);
		print_counts(out, &vc->counts);
		fprintf(out, " %8.2f s\n", (double)vc->ns / 1e9);
		any_skipped |= vc->num_reasons;
	}
	if (any_skipped)
		fprintf(out, "\nSkipped:\n");
	for (unsigned int v = 0; v < NUM_VARIATIONS; v++) {
		const struct variation_counts *vc = &r->variations[v];

		for (uint32_t i = 0; i < vc->num_reasons; i++) {
			fprintf(out, "%8" PRIu64 " %s: ", vc->reasons[i].count,
				variations[v].name);
			print_clean(out, vc->reasons[i].text);
			putc('\n', out);
		}
	}
	fprintf(out, "\n%" PRIu64 " case%s of %" PRIu64 " file%s", r->cases, plural(r->cases),
		r->files, plural(r->files));
	if (r->skipped_cases)
		fprintf(out, ", %" PRIu64 " other case%s left out by --every", r->skipped_cases,
			plural(r->skipped_cases));
	putc('\n', out);
}

void report_print_total(const struct report *r, FILE *out)
{
	fprintf(out, "%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped\n",
		r->total.of[VERDICT_PASSED], r->total.of[VERDICT_FAILED],
		r->total.of[VERDICT_SKIPPED]);
}
