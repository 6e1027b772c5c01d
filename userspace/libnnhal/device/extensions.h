/* SPDX-License-Identifier: MIT */
/*
 * The vendor extensions of a device.
 */
#ifndef NNHAL_EXTENSIONS_H
#define NNHAL_EXTENSIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

struct extensions {
	uint32_t count;
	struct nnpu_extension *device;	/* as the device describes them */
	struct nnhal_extension *list;	/* as callers get them, in the same order */
	struct nnhal_extension_operand_type *types;
};

/* An operand type of an extension on a device. */
struct extension_type {
	uint16_t code;			/* nnpu_tensor_desc.type */
	bool is_tensor;
	uint32_t byte_size;
};

/*
 * Take ownership of @count descriptions in allocated memory, and keep those that are valid.
 * False: no memory; the caller must call extensions_fini() in any case.
 */
bool extensions_init(struct extensions *x, struct nnpu_extension *device, uint32_t count);
void extensions_fini(struct extensions *x);
/*
 * Map an operand type, or an operation, of an extension to the device. The model is valid; @x
 * may be NULL. Return: NULL, or a constant text that names what the device lacks.
 */
const char *extensions_find_type(const struct extensions *x, const struct nnhal_model *model,
				 uint32_t type, struct extension_type *found);
const char *extensions_find_operation(const struct extensions *x,
				      const struct nnhal_model *model, uint32_t type,
				      uint32_t *opcode);
/*
 * Name of an operation of a valid model. For an operation of an extension it is written to
 * @text: "com.example.fibonacci operation 0".
 */
const char *operation_text(const struct nnhal_model *model, uint32_t type, char *text,
			   size_t size);

#endif /* NNHAL_EXTENSIONS_H */
