/* SPDX-License-Identifier: MIT */
/*
 * A profile as a table, as a trace and as a page.
 */
#ifndef NNRUN_PROFILE_REPORT_H
#define NNRUN_PROFILE_REPORT_H

#include <stdio.h>

#include <nntflite/nntflite.h>

#include "../common/file.h"
#include "operation_work.h"
#include "profile.h"

/**
 * struct profile_report - a profile with what is known of the model
 * @profile: times
 * @model: model
 * @path: its file
 * @elapsed_ns: from the first start to the last end
 * @work: of each operation
 * @macs: of all operations
 * @peak: the largest sum of live tensors, bytes
 * @total_ns: of all operations and inferences
 */
struct profile_report {
	struct profile *profile;
	const struct nntflite_model *model;
	const char *path;
	uint64_t elapsed_ns;
	struct operation_work *work;
	uint64_t macs;
	uint64_t peak;
	uint64_t total_ns;
};

/* 0, or -1 with the error filled in. report_free() also after an error. */
int report_init(struct profile_report *report, struct profile *profile,
		const struct nntflite_model *model, const char *path, uint64_t elapsed_ns,
		struct error *err);
void report_free(struct profile_report *report);

/* Name of an operation of the HAL, or of its operator; returns @text. */
const char *report_operation_name(const struct profile_report *report, uint32_t operation,
				  char *text, size_t size);

/* The same, in a buffer that lasts until the end of the enclosing block. */
#define REPORT_NAME(report, i)	report_operation_name((report), (i), (char[64]) { 0 }, 64)

void report_table(FILE *stream, const struct profile_report *report);
void report_trace(FILE *stream, const struct profile_report *report);
void report_html(FILE *stream, const struct profile_report *report);

/* Write a report to an open file and complete that. 0, or -1 with the error filled in. */
int report_write(struct out_file *out, void (*write)(FILE *stream, const struct profile_report *report),
		 const struct profile_report *report, struct error *err);

#endif /* NNRUN_PROFILE_REPORT_H */
