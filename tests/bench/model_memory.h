/* SPDX-License-Identifier: MIT */
/*
 * The device memory that a model takes: the peak of a device that does nothing else, from preparing
 * the model to the end of a run.
 */
#ifndef TESTS_BENCH_MODEL_MEMORY_H
#define TESTS_BENCH_MODEL_MEMORY_H

#include <stdint.h>

#include "needed_memory.h"
#include "userspace/tools/common/error.h"

struct model_memory {
	uint64_t peak;
	struct needed_memory needed;
};

static inline uint64_t model_needs(const struct model_memory *m)
{
	return m->needed.constants + m->needed.activations;
}

static inline double model_memory_ratio(const struct model_memory *m)
{
	return (double)m->peak / (double)model_needs(m);
}

/*
 * Of the .tflite file at @path. Its inputs are the samples beside it, NAME.SAMPLE.input.bin or
 * NAME.SAMPLE.inputN.bin, or zeros where there are none. 0, or -1 with the error.
 */
int model_memory_of(const char *path, struct model_memory *m, struct error *err);

#endif /* TESTS_BENCH_MODEL_MEMORY_H */
