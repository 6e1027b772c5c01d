/* SPDX-License-Identifier: MIT */
/*
 * Sizes of operands of HAL models.
 */
#ifndef TESTS_BENCH_OPERAND_BYTES_H
#define TESTS_BENCH_OPERAND_BYTES_H

#include <nnhal/nnhal.h>

static inline size_t operand_elements(const struct nnhal_operand *o)
{
	size_t n = 1;

	for (uint32_t i = 0; i < o->num_dimensions; i++)
		n *= o->dimensions[i];
	return n;
}

/* None if a dimension is not known. */
static inline size_t operand_bytes(const struct nnhal_operand *o)
{
	return operand_elements(o) * nnhal_element_size(o->type);
}

#endif /* TESTS_BENCH_OPERAND_BYTES_H */
