/* SPDX-License-Identifier: MIT */
/*
 * Parsing and validating a program image. Functions that take a verdict return 0, or -1
 * with the verdict. What takes long goes at a pace: when it says so, the verdict is ABORTED.
 */
#ifndef NNPU_EMU_PROGRAM_IMAGE_H
#define NNPU_EMU_PROGRAM_IMAGE_H

#include "device_model.h"
#include "program_load.h"
#include "ops/pace.h"

/* Versions of programs that the device takes. */
#define PROGRAM_MIN	NNPU_PROGRAM_VERSION
#define PROGRAM_MAX	NNPU_PROGRAM_VERSION

/* A tensor record. Once image_parse_tensor() has taken it, all that it says is right. */
void image_get_tensor(const uint8_t *image, const struct nnpu_program_header *header,
		      uint32_t index, struct nnpu_tensor_desc *desc);

int image_parse_header(const uint8_t *data, uint64_t size, unsigned int max_args,
		       struct nnpu_program_header *header, struct verdict *v);
int image_parse_tensor(const uint8_t *image, const struct nnpu_program_header *header,
		       uint32_t index, const struct nnpu_device_props *props,
		       struct tensor *t, struct nnpu_tensor_desc *desc, struct op_pace *pace,
		       struct verdict *v);
/* @seen, by tensor, is clear: what the interface names. */
int image_parse_interface(const uint8_t *image, const struct nnpu_program_header *header,
			  struct program *p, uint8_t *seen, struct op_pace *pace,
			  struct verdict *v);

/*
 * Command @index, which belongs to block @block. @owner, by tensor, is the number of the
 * block that writes it, plus 1; the outputs of the command are entered there.
 */
int image_parse_command(const uint8_t *image, const struct nnpu_program_header *header,
			uint32_t index, struct program *p, uint32_t block,
			uint32_t *owner, struct nnpu_command *cmd, struct op_pace *pace,
			struct verdict *v);

/*
 * Count the operands of all commands, and the blocks. More than @max_operands are a fault: commands may
 * share parts of the index pool, so a small image could have a huge number of them.
 */
int image_count(const uint8_t *image, const struct nnpu_program_header *header,
		uint32_t max_operands, uint32_t *operands, uint32_t *blocks,
		struct op_pace *pace, struct verdict *v);

void image_get_command(const uint8_t *image, const struct nnpu_program_header *header,
		       uint32_t index, struct nnpu_command *cmd);
uint32_t image_get_index(const uint8_t *image, const struct nnpu_program_header *header,
			 uint32_t position);

/* Number of the block that begins with command @header, or 0. */
uint32_t program_find_block(const struct program *p, uint32_t header);

#endif /* NNPU_EMU_PROGRAM_IMAGE_H */
