/* SPDX-License-Identifier: MIT */
/*
 * Differences of outputs: to XNNPACK's, and to those of the plain kernels.
 */
#ifndef TESTS_BENCH_OUTPUT_DIFFERENCE_H
#define TESTS_BENCH_OUTPUT_DIFFERENCE_H

#include <stdbool.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "tests/difference.h"

/* Largest difference that fused sums may make in a float output, of the largest value. */
#define FUSED_DIFFERENCE	1e-5

/* The largest difference of two elements, of floats or of bytes; NaN if one of them is NaN. */
static inline double output_difference(uint32_t type, const void *a, const void *b, size_t bytes)
{
	double largest = 0;

	if (type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		const float *x = a, *y = b;

		for (size_t i = 0; i < bytes / sizeof(float); i++)
			largest = larger_difference(largest, fabs((double)x[i] - (double)y[i]));
	} else if (type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM) {
		const uint8_t *x = a, *y = b;

		for (size_t i = 0; i < bytes; i++)
			largest = larger_difference(largest, fabs((double)(x[i] - y[i])));
	} else {
		const int8_t *x = a, *y = b;

		for (size_t i = 0; i < bytes; i++)
			largest = larger_difference(largest, fabs((double)(x[i] - y[i])));
	}
	return largest;
}

/* The largest value of a float output, at least 1. */
static inline double largest_value(const float *values, size_t bytes)
{
	double most = 1;

	for (size_t i = 0; i < bytes / sizeof(*values); i++)
		most = larger_difference(most, fabs((double)values[i]));
	return most;
}

/* Is an output that of the plain kernels? */
static inline bool is_plain_output(uint32_t type, const void *output, const void *plain,
				   size_t bytes)
{
	if (type != NNHAL_OPERAND_TENSOR_FLOAT32)
		return !memcmp(output, plain, bytes);
	return is_within(output_difference(type, output, plain, bytes),
			 FUSED_DIFFERENCE * largest_value(plain, bytes));
}

#endif /* TESTS_BENCH_OUTPUT_DIFFERENCE_H */
