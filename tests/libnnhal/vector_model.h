/* SPDX-License-Identifier: MIT */
/*
 * Operator test cases as models of libnnhal, to be changed and put back.
 */
#ifndef NNHAL_TEST_VECTOR_MODEL_H
#define NNHAL_TEST_VECTOR_MODEL_H

#include <nnhal/nnhal.h>

#include "../../userspace/tools/nnvec/case_model.h"

/* Room for what a test adds. */
#define VECTOR_MORE_OPERANDS	8
#define VECTOR_MORE_OPERATIONS	1
#define VECTOR_MORE_OF_EACH	1

/* A model whose main subgraph may be changed through these pointers. */
struct vector_model {
	struct nnhal_model model;
	struct nnhal_operand *operands;
	struct nnhal_operation *operations;
	uint32_t *inputs;		/* inputIndexes */
	uint32_t *outputs;
	uint32_t (*dims)[NNHAL_MAX_RANK];	/* of each operand */
	/* Everything above except the model, and its original state. */
	void *block;
	void *saved;
	size_t size;
	struct nnhal_model saved_model;
	/* What it was made of. */
	struct vec_model made;
	struct pools pools;
	uint8_t *values;
};

/* Values of zero that any operand may point to: offset in the model's values. */
#define VECTOR_ZEROS		(1u << 16)

/* Make the model of a case; ends the program if there is no memory. */
void vector_model_init(struct vector_model *m, const struct nntc_case *c, uint32_t hal_version);
void vector_model_fini(struct vector_model *m);
/* Undo all changes. */
void vector_model_restore(struct vector_model *m);

/* Operand lists of an operation of the main subgraph, with room for one more. */
uint32_t *vector_op_inputs(struct vector_model *m, uint32_t operation);
uint32_t *vector_op_outputs(struct vector_model *m, uint32_t operation);

#endif /* NNHAL_TEST_VECTOR_MODEL_H */
