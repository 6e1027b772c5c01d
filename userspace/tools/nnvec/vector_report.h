/* SPDX-License-Identifier: MIT */
/*
 * Counts results, prints them and writes them as JSON.
 */
#ifndef NNVEC_VECTOR_REPORT_H
#define NNVEC_VECTOR_REPORT_H

#include <stdio.h>

#include <nnhal/nnhal.h>

#include "../common/nntc.h"
#include "run_case.h"
#include "variation.h"

struct counts {
	uint64_t of[3];			/* by enum verdict */
};

/* A reason for skipping, and how often it was the reason. */
struct skip_reason {
	char *text;
	uint64_t count;
};

struct variation_counts {
	struct counts counts;
	uint64_t ns;
	uint32_t num_reasons;
	struct skip_reason *reasons;
};

/* An operation some case has. */
struct operation_counts {
	uint32_t type;
	struct counts counts;
};

/* The texts are copies; case and variation are NULL if a file as a whole is meant. */
struct failure {
	char *file;
	char *name;
	const char *variation;
	char *message;
};

/**
 * struct report - results so far
 * @selected: variations that are run
 * @variations: by variation
 * @num_operations: entries of @operations
 * @operations: by type
 * @num_failures: entries of @failures
 * @failures: in the order they happened
 * @unlisted_failures: later ones, beyond what is kept
 * @total: of all variations, files that cannot be read included as failed
 * @files: files that were opened
 * @cases: cases that were run
 * @skipped_cases: cases left out by --every
 * @no_memory: something could not be recorded
 */
struct report {
	const bool *selected;
	struct variation_counts variations[NUM_VARIATIONS];
	uint32_t num_operations;
	struct operation_counts *operations;
	uint32_t num_failures;
	struct failure *failures;
	uint64_t unlisted_failures;
	struct counts total;
	uint64_t files;
	uint64_t cases;
	uint64_t skipped_cases;
	bool no_memory;
};

void report_init(struct report *r, const bool *selected);
void report_free(struct report *r);

/* Record a result; @text says why unless it passed. */
void report_add(struct report *r, const char *file, const struct nntc_case *nc,
		const struct variation *v, enum verdict result, const char *text, uint64_t ns);

/* Record that a file, or everything if @file is empty, failed. */
void report_add_failure(struct report *r, const char *file, const char *text);

/* Tables by variation and operation. */
void report_print(const struct report *r, FILE *out);

/* "N passed, N failed, N skipped" */
void report_print_total(const struct report *r, FILE *out);

/**
 * struct report_context - what a written report says beside results
 * @device: device, or NULL if it could not be opened
 * @spec: as the caller named it
 * @interrupted: a signal ended the run early
 */
struct report_context {
	struct nnhal_device *device;
	const char *spec;
	bool interrupted;
};

/* The same as JSON. */
void report_write(const struct report *r, const struct report_context *context, FILE *out);

/* Print text of unknown origin: what a terminal could take for a command becomes '?'. */
void print_clean(FILE *out, const char *text);

#endif /* NNVEC_VECTOR_REPORT_H */
