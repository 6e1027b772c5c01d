/* SPDX-License-Identifier: MIT */
/*
 * Times of inferences: collecting and reporting them.
 */
#ifndef NNRUN_PROFILE_H
#define NNRUN_PROFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <nnhal/nnhal.h>
#include <nntflite/nntflite.h>

#include "../common/error.h"

/* A list of times in nanoseconds. */
struct series {
	uint64_t *values;
	size_t count;
	size_t room;
};

/* Sums over all inferences for one operation. */
struct operation_time {
	uint64_t count;
	uint64_t total_ns;
	uint64_t bytes;
};

/* What the device did beside the operations, summed up and at last. */
struct work {
	uint64_t count;
	uint64_t inferences, allocations, copies;
	struct nnhal_ext_work last;
};

struct profile {
	struct series latency;		/* from call to return, this process's clock */
	struct series driver;		/* timeInDriver of the HAL */
	struct series device;		/* on the device */
	struct series queue;		/* in the device's queue */
	struct work work;
	struct operation_time *operations;
	uint32_t num_operations;
};

int profile_init(struct profile *profile, uint32_t num_operations, struct error *err);
void profile_free(struct profile *profile);

/* 0, or -1 if there is no memory. @timing, @times and @work may be NULL: latency only. */
int profile_add(struct profile *profile, uint64_t latency_ns,
		const struct nnhal_timing *timing, const struct nnhal_ext_profile *times,
		const struct nnhal_ext_work *work, struct error *err);

/* Print the tables. @elapsed_ns: from the first start to the last end. */
void profile_print(FILE *stream, struct profile *profile, const struct nntflite_model *model,
		   uint64_t elapsed_ns);

#endif /* NNRUN_PROFILE_H */
