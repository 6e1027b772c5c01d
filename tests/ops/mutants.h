/* SPDX-License-Identifier: MIT */
/*
 * Operands with other types, shapes, quantization and values, or omitted. They keep what the
 * program loader guarantees: data has the length of its shape, scales and zero points fit the type.
 */
#ifndef NNPU_TESTS_MUTANTS_H
#define NNPU_TESTS_MUTANTS_H

#include "op.h"

/* Data of a mutant's operand is not longer. */
#define MUTANT_MAX_BYTES	(1u << 20)

/* A tensor of a mutant and its bytes. */
struct mutant_operand {
	struct tensor t;
	/* mutant_fit() gives them to the tensor if its type has any. */
	float scale;
	int32_t zero_point;
	uint8_t *data;			/* of inputs and constants: malloc() */
	size_t bytes;
	float *scales;
};

void mutant_seed(uint64_t seed);
/* A random number below @n. */
uint32_t mutant_pick(uint32_t n);

/* One change. */
void mutant_change(struct mutant_operand *o);
/* Make it again what a loader lets pass; false if that cannot be. */
bool mutant_fit(struct mutant_operand *o);
void mutant_free(struct mutant_operand *o);

#endif /* NNPU_TESTS_MUTANTS_H */
