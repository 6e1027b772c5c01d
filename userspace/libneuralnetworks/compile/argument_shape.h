/* SPDX-License-Identifier: MIT */
/*
 * Shapes of inputs and outputs: as the model has them, and as executions refine them.
 */
#ifndef NDK_ARGUMENT_SHAPE_H
#define NDK_ARGUMENT_SHAPE_H

#include "ndk.h"

/**
 * struct ndk_shape - the shape of an argument
 * @operand: of the model
 * @dimensions: whoever gave them has them
 * @num_dimensions: entries of @dimensions
 * @is_open: dimensions are not known
 * @has_size: the type has a size; those of extensions and OEM types have none
 * @size: bytes, if @has_size and not @is_open; UINT64_MAX: more than 32 bits can say
 */
struct ndk_shape {
	const struct nnhal_operand *operand;
	const uint32_t *dimensions;
	uint32_t num_dimensions;
	bool is_open;
	bool has_size;
	uint64_t size;
};

/* The shape that the model gives an argument. */
void ndk_shape_of_operand(const struct nnhal_operand *operand, struct ndk_shape *shape);

/* The shape by a type, which may say more than the model; false: it says less or something else. */
bool ndk_shape_refine(const struct nnhal_operand *operand, const ANeuralNetworksOperandType *type,
		      struct ndk_shape *shape);

/* Is this the length of an argument of this shape? An output of open shape may have any. */
static inline bool ndk_shape_has_length(const struct ndk_shape *shape, bool output, size_t length)
{
	if (length > UINT32_MAX || (shape->is_open && !output))
		return false;
	return shape->is_open || !shape->has_size || shape->size == length;
}

#endif /* NDK_ARGUMENT_SHAPE_H */
