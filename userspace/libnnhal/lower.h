/* SPDX-License-Identifier: MIT */
/*
 * From HAL models to program images.
 */
#ifndef NNHAL_LOWER_H
#define NNHAL_LOWER_H

#include "internal.h"

/* A tensor whose constant is in the memory of a pool. */
struct image_ref {
	uint32_t tensor;
	uint32_t pool;
};

/* Why the host cannot pass an operation on; reason is NULL if it can. */
struct image_skip {
	const char *reason;
	uint32_t operand;		/* position, inputs first, or UINT32_MAX */
};

/* A program image and how it maps back to the model. */
struct image {
	/*
	 * Complete but for the slots of constants: those in @refs, and all others of
	 * kind NNPU_TENSOR_SLOT, which are in the staged bytes.
	 */
	uint8_t *data;
	uint32_t size;
	uint32_t num_tensors;
	uint32_t num_commands;
	uint32_t num_operations;
	uint32_t *operand_of_tensor;
	uint32_t *operation_of_command;
	struct image_skip *skips;	/* one per operation of the model */
	/* Constants that are too large for the image or cannot be bound in place. */
	uint8_t *staging;
	uint64_t staging_size;
	struct image_ref *refs;
	uint32_t num_refs;
	/* Memory the refs are in, referenced, one entry per pool of the model. */
	struct nnhal_memory **pools;
	uint32_t num_pools;
};

/*
 * Turn a valid model into an image.
 *
 * With @check, operations the host cannot express are left out and what they
 * would have written becomes an input; image->skips says which and why. If none
 * is left, image->num_commands is 0 and there is no image. Without @check such an
 * operation gives INVALID_ARGUMENT.
 */
enum nnhal_status lower_model(const struct nnhal_model *model,
			      const struct transport_limits *limits, bool check,
			      struct image *image, struct nnhal_diag *diag);
void image_fini(struct image *image);

static inline struct nnpu_tensor_desc *image_tensors(const struct image *image)
{
	return (struct nnpu_tensor_desc *)(image->data + sizeof(struct nnpu_program_header));
}

#endif /* NNHAL_LOWER_H */
