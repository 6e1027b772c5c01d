/* SPDX-License-Identifier: MIT */
/*
 * Program images of any size, for tests that need more than struct image has room for: the
 * caller fills in records, index pool and data of an image that has the right header.
 */
#ifndef TESTS_EMULATOR_LARGE_IMAGE_H
#define TESTS_EMULATOR_LARGE_IMAGE_H

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rig.h"

struct large_image {
	/* Set before large_image_init(). A stride of 0: that of the structure. */
	uint32_t tensors, tensor_stride;
	uint32_t commands, command_stride;
	uint32_t indexes;		/* of commands */
	uint32_t data_size;
	uint16_t inputs, outputs;
	/* Set by it. */
	uint8_t *bytes;
	size_t size;
	uint32_t next_index;
	uint32_t next_command;
	uint32_t next_data;
};

static inline struct nnpu_program_header *large_header(struct large_image *im)
{
	return (struct nnpu_program_header *)im->bytes;
}

static inline void large_image_init(struct large_image *im, struct rig *rig)
{
	uint32_t off = sizeof(struct nnpu_program_header);
	struct nnpu_program_header h = {
		.magic = htole32(NNPU_PROGRAM_MAGIC),
		.version = htole16(NNPU_PROGRAM_VERSION),
		.header_size = htole16(sizeof(h)),
		.num_tensors = htole32(im->tensors),
		.num_commands = htole32(im->commands),
		.num_indexes = htole32(im->indexes + im->inputs + im->outputs),
		.inputs_first = htole32(im->indexes),
		.outputs_first = htole32(im->indexes + im->inputs),
		.num_inputs = htole16(im->inputs),
		.num_outputs = htole16(im->outputs),
		.data_size = htole32(im->data_size),
	};

	im->tensor_stride = im->tensor_stride ? im->tensor_stride : sizeof(struct nnpu_tensor_desc);
	im->command_stride = im->command_stride ? im->command_stride : sizeof(struct nnpu_command);
	h.tensor_stride = htole16((uint16_t)im->tensor_stride);
	h.command_stride = htole16((uint16_t)im->command_stride);
	h.tensors_off = htole32(off);
	off += im->tensors * im->tensor_stride;
	h.commands_off = htole32(off);
	off += im->commands * im->command_stride;
	h.indexes_off = htole32(off);
	off += (le32toh(h.num_indexes) * 4 + 7) & ~7u;
	h.data_off = htole32(off);
	off += (im->data_size + 7) & ~7u;
	h.size = htole32(off);
	im->size = off;
	im->bytes = mmap(NULL, off, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (im->bytes == MAP_FAILED ||
	    nnpu_inproc_register(rig->ip, im->bytes, off, NNPU_INPROC_READ)) {
		printf("Bail out! no memory for an image\n");
		exit(1);
	}
	memcpy(im->bytes, &h, sizeof(h));
}

static inline void large_image_free(struct large_image *im, struct rig *rig)
{
	nnpu_inproc_unregister(rig->ip, im->bytes, im->size, NNPU_INPROC_READ);
	munmap(im->bytes, im->size);
}

/* Tensor @i. Rank 1; @dim 0: not known. */
static inline struct nnpu_tensor_desc *large_tensor(struct large_image *im, uint32_t i,
						    unsigned int type, unsigned int kind,
						    uint32_t dim)
{
	struct nnpu_tensor_desc *d = (struct nnpu_tensor_desc *)
		(im->bytes + le32toh(large_header(im)->tensors_off) +
		 (size_t)i * im->tensor_stride);

	*d = (struct nnpu_tensor_desc) {
		.type = htole16((uint16_t)type), .kind = (uint8_t)kind, .rank = 1,
		.dims = { htole32(dim) },
	};
	return d;
}

/* A constant INT32. */
static inline void large_scalar(struct large_image *im, uint32_t i, int32_t value)
{
	struct nnpu_tensor_desc *d = large_tensor(im, i, NNPU_TYPE_INT32, NNPU_TENSOR_INLINE, 0);
	__le32 le = htole32((uint32_t)value);

	d->rank = 0;
	d->data_off = htole64(im->next_data);
	d->data_len = htole64(sizeof(le));
	memcpy(im->bytes + le32toh(large_header(im)->data_off) + im->next_data, &le, sizeof(le));
	im->next_data += 8;
}

static inline void large_index(struct large_image *im, uint32_t position, uint32_t tensor)
{
	__le32 le = htole32(tensor);

	memcpy(im->bytes + le32toh(large_header(im)->indexes_off) + position * 4ull, &le, 4);
}

/* Inputs and outputs of the program. */
static inline void large_input(struct large_image *im, uint32_t n, uint32_t tensor)
{
	large_index(im, im->indexes + n, tensor);
}

static inline void large_output(struct large_image *im, uint32_t n, uint32_t tensor)
{
	large_index(im, im->indexes + im->inputs + n, tensor);
}

/* An operand of the command that large_command() adds next. */
static inline void large_operand(struct large_image *im, uint32_t tensor)
{
	large_index(im, im->next_index++, tensor);
}

/* The command whose operands have been added. */
static inline struct nnpu_command *large_command(struct large_image *im, uint32_t opcode,
						 uint32_t num_inputs, uint32_t num_outputs)
{
	struct nnpu_command *c = (struct nnpu_command *)
		(im->bytes + le32toh(large_header(im)->commands_off) +
		 (size_t)im->next_command++ * im->command_stride);

	*c = (struct nnpu_command) {
		.opcode = htole32(opcode),
		.num_inputs = htole16((uint16_t)num_inputs),
		.num_outputs = htole16((uint16_t)num_outputs),
		.operands_first = htole32(im->next_index - num_inputs - num_outputs),
	};
	return c;
}

static inline int large_image_load(struct large_image *im, struct rig *rig, uint32_t ctx,
				   uint32_t program, struct nnpu_cqe *cqe)
{
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(ctx),
		.program = htole32(program),
		.image = { .addr = rig_addr(im->bytes), .size = htole64(im->size) },
	};

	return rig_admin(rig, &c, cqe);
}

#endif /* TESTS_EMULATOR_LARGE_IMAGE_H */
