/* SPDX-License-Identifier: MIT */
/*
 * The device memory that a model needs at least.
 */
#ifndef TESTS_BENCH_NEEDED_MEMORY_H
#define TESTS_BENCH_NEEDED_MEMORY_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "userspace/tools/common/error.h"

/*
 * Bytes of constants, scales and zero points of quantized operands included, and of the largest set of activations
 * that live at once.
 */
struct needed_memory {
	uint64_t constants;
	uint64_t activations;
};

/* Of the main subgraph; tensors whose shape is not known count as empty. 0, or -1 with the error. */
int needed_memory_of(const struct nnhal_model *model, struct needed_memory *m, struct error *err);

#endif /* TESTS_BENCH_NEEDED_MEMORY_H */
