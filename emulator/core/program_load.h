/* SPDX-License-Identifier: MIT */
/*
 * A loaded program, and how it is made from an image.
 */
#ifndef NNPU_EMU_PROGRAM_LOAD_H
#define NNPU_EMU_PROGRAM_LOAD_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

#include "cleaner.h"
#include "memory_region.h"
#include "ops/op.h"
#include "verdict.h"

struct job_progress;
struct nnpu_ctx;
struct slots_holder;

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensor data is little-endian; big-endian hosts are not supported"
#endif

/* Tensors in memory begin at a multiple of this. */
#define TENSOR_ALIGN		64u
/* Blocks inside each other, at most. */
#define MAX_DEPTH		32u

static inline uint64_t tensor_round_up(uint64_t bytes)
{
	return region_round_up(bytes, TENSOR_ALIGN);
}

/* tensor.role: why it has no place of its own in the memory of its block, or has more room there. */
enum tensor_role {
	ROLE_NONE,
	ROLE_BLOCK_INPUT,		/* shares the bytes of an operand of the entering command */
	ROLE_BLOCK_OUTPUT,		/* is written where the entering command wants it */
	/* It has a place, with room for the one command that reads it to pack it there. */
	ROLE_WEIGHTS,
	ROLE_CODED,			/* nobody writes it: see program_cmd.decoder */
};

/* A block of a program. Block 0 is the main part. */
struct program_block {
	uint32_t header;		/* its BLOCK command */
	uint32_t first;			/* its other commands: [first, end) */
	uint32_t end;
	uint32_t depth;
	bool named;			/* some command enters it */
	uint64_t base;			/* fixed programs: its place in the arena */
};

struct program_cmd {
	uint32_t opcode;
	uint32_t operands;		/* position in program.operands: inputs, then outputs */
	uint16_t num_inputs;
	uint16_t num_outputs;
	bool infer : 1;			/* output shapes are found while the job runs */
	bool owns_weights : 1;		/* input 1 has ROLE_WEIGHTS */
	bool left_out : 1;		/* is not run: its output has ROLE_CODED */
	bool widened : 1;		/* op_wants_widening() */
	/*
	 * Not 0: input 1 has ROLE_CODED. The number, plus 1, of the command that was to write it. An image
	 * has fewer commands.
	 */
	uint32_t decoder : 28;
	const struct op_desc *desc;	/* NULL: control command */
	union {
		uint32_t target[2];	/* BRANCH, LOOP: numbers of blocks */
		void *prepared;
	};
	uint64_t scratch;		/* fixed programs: bytes of scratch memory */
	uint32_t prepared_pages;	/* those of its own */
};

_Static_assert(UINT32_MAX / sizeof(struct nnpu_command) < 1u << 28, "decoder has room");

struct program {
	struct leaving leaving;
	unsigned int refs;		/* dev->lock */
	bool relaxed;
	bool fixed;			/* all shapes known: @arena_size, @offsets are valid */
	uint64_t serial;
	struct nnpu_ctx *ctx;
	uint64_t memory;		/* bytes accounted */
	struct mem_region region;	/* for all of it but single constants and large objects */
	uint32_t num_tensors;
	uint32_t num_places;		/* tensors of a job */
	uint32_t num_cmds;
	uint32_t num_blocks;
	uint32_t num_operands;
	uint16_t num_inputs;
	uint16_t num_outputs;
	struct tensor *tensors;		/* constants have data; others have none */
	struct program_cmd *cmds;
	struct program_block *blocks;
	uint32_t *operands;		/* tensor indexes, command by command */
	uint32_t *inputs;		/* tensor indexes */
	uint32_t *outputs;
	/* By place: the last command that needs the tensor. */
	uint32_t *last_use;
	/* By place, then by command, for its scratch memory: where it is in the arena. */
	uint64_t *offsets;
	uint64_t arena_size;
};

/*
 * tensor.place: which of those of a job a tensor is, or this: it is the same in all jobs, a constant or
 * without a value.
 */
#define PLACE_NONE	((1u << 20) - 1)

_Static_assert(NNPU_PROGRAM_MAX_SIZE / sizeof(struct nnpu_tensor_desc) < PLACE_NONE, "it has room");

/* The last command that needs tensor @t, which has a place. */
static inline uint32_t *program_last_use(const struct program *p, uint32_t t)
{
	return &p->last_use[p->tensors[t].place];
}

/* Bytes that a tensor needs at its place. Its shape is known. */
static inline uint64_t tensor_room(const struct program *p, uint32_t index, const struct tensor *t)
{
	switch (p->tensors[index].role) {
	case ROLE_WEIGHTS:
		return op_room(t);
	case ROLE_CODED:
		return 0;
	default:
		return t->bytes;
	}
}

/* What a call of a command needs to decode its weights, which are a constant. */
static inline void program_set_coded(const struct program *p, const struct program_cmd *cmd,
				     struct op_call *call)
{
	const struct program_cmd *decoder;

	call->coded = NULL;
	if (!cmd->decoder)
		return;
	decoder = &p->cmds[cmd->decoder - 1];
	call->coded = &p->tensors[p->operands[decoder->operands]];
	call->decode = decoder->desc->decode;
}

static inline bool cmd_is_control(const struct program_cmd *cmd)
{
	return cmd->opcode == NNPU_CMD_BRANCH || cmd->opcode == NNPU_CMD_LOOP;
}

/* Memory of a load, which the program does not need: a region, and what is charged for it. */
struct load_work {
	struct mem_region region;
	uint64_t charged;
};

struct load_request {
	struct nnpu_ctx *ctx;
	struct job_progress *progress;
	struct slots_holder *slots;
	const uint8_t *image;
	uint64_t size;
	/* What load_take_image() has taken for it, or nothing. program_load() gives it back. */
	struct load_work read;
	/* Check only: a report per command. program_load() takes them, the caller gives them back. */
	bool check;
	uint64_t reports_size;		/* bytes */
	struct nnpu_command_report *reports;
};

/* Did the load end before it could say what the program is like? */
static inline bool load_cut_short(const struct verdict *v)
{
	return v->status == NNPU_STATUS_NO_MEMORY || v->status == NNPU_STATUS_ABORTED;
}

/*
 * Room for an image of @request->size bytes. NULL: too little memory, or the load is to end. What the
 * load needs until the image has been read comes behind it.
 */
uint8_t *load_take_image(struct load_request *request);
/* Give it back if there is no load. */
void load_give_image(struct load_request *request);

/* The program with one reference, or NULL with the verdict (SUCCESS when checking). */
struct program *program_load(struct load_request *request, struct verdict *v);

/* A piece that is freed with the program. NULL: too little memory, or the load is to end. */
void *program_take(struct program *p, struct job_progress *progress, size_t bytes);

/* Drop a reference. dev->lock held. */
void program_put(struct program *p);

#endif /* NNPU_EMU_PROGRAM_LOAD_H */
