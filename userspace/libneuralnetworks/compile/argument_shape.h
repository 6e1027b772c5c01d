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
 * @extension: bytes of an element, of a type of an extension; 0: of another type, or no device says it
 * @is_scalar: the type has no dimensions
 * @is_open: dimensions are not known
 * @has_size: the size of an element is known; OEM types have none
 * @size: bytes, if @has_size and not @is_open; UINT64_MAX: more than 32 bits can say
 */
struct ndk_shape {
	const struct nnhal_operand *operand;
	const uint32_t *dimensions;
	uint32_t num_dimensions;
	uint32_t extension;
	bool is_scalar;
	bool is_open;
	bool has_size;
	uint64_t size;
};

/* The shape that the model gives an argument. @info: of the type, if it is an extension's and a device knows it. */
void ndk_shape_of_operand(const struct nnhal_operand *operand, const struct nnhal_operand_type_info *info,
			  struct ndk_shape *shape);

/*
 * The shape by a type, which may say more than the model; BAD_DATA: it says less or something else, or is none. Scale
 * and zero point need not be those of the operand, which count. @output, @index: which argument it is.
 */
int ndk_shape_refine(const ANeuralNetworksModel *model, const struct ndk_shape *of_model, bool output, uint32_t index,
		     const ANeuralNetworksOperandType *type, struct ndk_shape *shape);

/*
 * Is this the length of an argument of this shape? An output of open shape may have any. @padded: bytes that
 * the argument does not have may follow it.
 */
static inline bool ndk_shape_has_length(const struct ndk_shape *shape, bool output, bool padded,
					size_t length)
{
	if (length > UINT32_MAX || (shape->is_open && !output))
		return false;
	return shape->is_open || !shape->has_size || shape->size == length ||
	       (padded && shape->size < length);
}

/* What would be the length of an argument of this shape, for people: a text of @size bytes. Returns it. */
const char *ndk_shape_text(const struct ndk_shape *shape, char *text, size_t size);

/* The bytes of an argument among @length: those of its shape, without what follows them. */
static inline uint32_t ndk_shape_used(const struct ndk_shape *shape, size_t length)
{
	return (uint32_t)(shape->is_open || !shape->has_size ? length : shape->size);
}

#endif /* NDK_ARGUMENT_SHAPE_H */
