/* SPDX-License-Identifier: MIT */
/*
 * Building a HAL model operand by operand.
 *
 * A builder owns everything its model points to. Constants that the caller has in
 * memory are noted and copied into one pool (a memfd the device reaches without a
 * copy) by hal_builder_finish().
 *
 * Functions that add something return its index, or -1 with the error filled in.
 */
#ifndef NNRUN_HAL_BUILDER_H
#define NNRUN_HAL_BUILDER_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "../common/error.h"

/* The operand or operation comes from no tensor or operator of the file. */
#define HAL_NO_ORIGIN	UINT32_MAX

/* Where a constant comes from and where in the pool it goes. */
struct hal_constant {
	const void *data;
	size_t bytes;
	uint64_t offset;
};

struct hal_chunk;

/* How many of the latest scalars are searched for the same value. */
#define HAL_RECENT_SCALARS	16

struct hal_builder {
	struct nnhal_operand *operands;
	uint32_t *operand_origins;	/* tensor index, for messages */
	uint32_t num_operands;
	uint32_t max_operands;
	struct nnhal_operation *operations;
	uint32_t *operation_origins;	/* operator index, for messages */
	uint32_t num_operations;
	uint32_t max_operations;
	int scalars[HAL_RECENT_SCALARS];	/* operands, the latest ones */
	uint32_t num_scalars;
	uint8_t *values;		/* CONSTANT_COPY */
	size_t values_size;
	size_t values_room;
	struct hal_constant *constants;	/* CONSTANT_REFERENCE */
	uint32_t num_constants;
	uint32_t max_constants;
	uint64_t pool_size;
	uint64_t max_pool;
	struct hal_chunk *chunks;	/* see hal_alloc() */
	size_t allocated;
	uint32_t *inputs;
	uint32_t *outputs;
	struct nnhal_memory *pool;
	struct nnhal_model model;
};

/* @max_pool: most bytes of constants, padding included. */
void hal_builder_init(struct hal_builder *b, uint64_t max_pool);
void hal_builder_fini(struct hal_builder *b);

/* Zeroed memory that lives as long as the builder; NULL with error if there is none. */
void *hal_alloc(struct hal_builder *b, size_t count, size_t size, struct error *err);

/* A copy of *@operand; its dimensions are copied too. */
int hal_add_operand(struct hal_builder *b, const struct nnhal_operand *operand,
		    uint32_t origin, struct error *err);

/* CONSTANT_COPY scalars; those of the same value may be the same operand. */
int hal_add_int32(struct hal_builder *b, int32_t value, struct error *err);
int hal_add_float32(struct hal_builder *b, float value, struct error *err);
int hal_add_bool(struct hal_builder *b, bool value, struct error *err);

/* A constant operand with @bytes bytes at @data copied into the model at once. */
int hal_add_copied(struct hal_builder *b, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct error *err);

/*
 * A constant operand with data in the pool. @data must stay until
 * hal_builder_finish(); data named several times is stored once.
 */
int hal_add_pooled(struct hal_builder *b, struct nnhal_operand *operand, const void *data,
		   size_t bytes, uint32_t origin, struct error *err);

/* An operation with one output; @inputs is copied. */
int hal_add_operation(struct hal_builder *b, uint32_t type, const int *inputs,
		      uint32_t num_inputs, int output, uint32_t origin, struct error *err);

/* Complete b->model: consumers, input and output lists, pool. 0 or -1. */
int hal_builder_finish(struct hal_builder *b, const uint32_t *inputs, uint32_t num_inputs,
		       const uint32_t *outputs, uint32_t num_outputs, struct error *err);

#endif /* NNRUN_HAL_BUILDER_H */
