/* SPDX-License-Identifier: MIT */
/*
 * A program that is being loaded, and the part of loading that is about control flow.
 */
#ifndef NNPU_EMU_LOADER_H
#define NNPU_EMU_LOADER_H

#include "device_memory.h"
#include "program_load.h"
#include "program_seal.h"
#include "ops/pace.h"

/* How long a load needs memory that the program does not: until ... */
enum load_memory {
	/*
	 * ... the image, which is in it, has been read, and all of it is checked. If all that takes no
	 * more than a page, LOAD_PREPARE has the rest of the page, and keeps it.
	 */
	LOAD_READ,
	LOAD_PREPARE,			/* ... all commands are prepared */
	LOAD_CONSTANTS,			/* ... the program has the small constants that it keeps */
	NUM_LOAD_MEMORY,
};

struct loader {
	struct load_request *request;
	struct nnpu_device *dev;
	const uint8_t *image;
	struct nnpu_program_header header;
	struct program *p;
	uint32_t block;			/* of the current command */
	uint32_t *owner;		/* LOAD_READ. By tensor: number of the block that writes it, plus 1 */
	uint32_t *uses;			/* by tensor: how often it is an operand */
	/* By tensor: the number, plus 1, of a command that computes it from a constant element by element. */
	uint32_t *decoders;
	uint8_t *seen;			/* LOAD_READ. By tensor: the interface names it */
	uint8_t *constants;		/* small ones: LOAD_CONSTANTS, the one piece that is there; or NULL */
	bool constants_behind;		/* they are behind the tables of the program instead */
	/*
	 * With them, while commands are prepared: the pages of the program so far. What the commands keep is in
	 * others, so that pages of constants can leave.
	 */
	struct mem_region tables;
	struct tensor **operands;	/* of the current command */
	uint32_t max_operands;
	struct tensor *saved;		/* its outputs as the image declares them */
	uint32_t max_saved;
	struct verdict *v;
	struct load_work work[NUM_LOAD_MEMORY];
	struct op_pace pace;
	struct seal seal;		/* without a seal: no sealer */
};

/* Between steps of loading: -1 with the verdict when the load is to end. */
static inline int load_pace(struct loader *l, size_t units)
{
	return op_pace(&l->pace, units) ? verdict_status(l->v, NNPU_STATUS_ABORTED) : 0;
}

/* Functions that return int: 0, or -1 with the verdict. */

/* program_memory.c. */

/* Bytes of its data, in an image and in memory. */
static inline uint64_t constant_bytes(const struct tensor *t)
{
	return t->form == FORM_NATIVE ? op_native_size(t) : t->bytes;
}

/* What a constant needs: in place of the values there may be panels later. */
static inline uint64_t constant_room(const struct tensor *t)
{
	uint64_t bytes = constant_bytes(t), room = op_room(t);

	return bytes > room ? bytes : room;
}

/* A constant may have pages of its own, to be freed alone, if it has so many bytes. */
#define SINGLE_CONSTANT	((uint64_t)NNPU_PAGE_SIZE)

/* It has if it fills them but for a little. */
static inline bool constant_is_single(const struct tensor *t)
{
	uint64_t room = constant_room(t);

	return tensor_is_const(t) && t->bytes >= SINGLE_CONSTANT && mem_size(room) - room <= room / 16;
}

/* Others share an allocation, and so do parameters. */
static inline uint64_t program_params_size(uint64_t bytes)
{
	return region_round_up(bytes, 16);
}

/* Size of a constant that has pages of its own. */
static inline uint64_t constant_size(const struct tensor *t)
{
	return mem_size(constant_room(t));
}

/*
 * Where one begins that shares an allocation, if the others end at @at: vectors at a multiple of 16 bytes,
 * a number or two at one of 8.
 */
static inline uint64_t constant_begin(const struct tensor *t, uint64_t at)
{
	return region_round_up(at, t->bytes > 8 ? 16 : 8);
}

/* Its place there, if they end at *@end, which moves on behind it. */
static inline uint8_t *constant_at(const struct tensor *t, uint8_t **end)
{
	uint8_t *at = *end + (constant_begin(t, (uintptr_t)*end) - (uintptr_t)*end);

	*end = at + t->bytes;
	return at;
}

/* The verdict when memory is missing: it is not if the load is to end. -1. */
int load_no_memory(struct loader *l);

/* Charge the program with @bytes more, and less. */
int load_charge(struct loader *l, uint64_t bytes);
void load_uncharge(struct loader *l, uint64_t bytes);

/* A piece of REGION_ALIGN for the program, as program_take() gives one of TENSOR_ALIGN. */
void *load_take(struct loader *l, size_t bytes);

/* The same for the load itself, until load_free_work(). */
void *load_take_work(struct loader *l, enum load_memory until, size_t bytes);

/*
 * The same for small constants, until the program has those that it keeps. They are behind its tables if
 * the pages of these can grow so much, else in memory of their own, which the program may keep as it is;
 * but nowhere of that if pages that are there anyway have room for them.
 */
void *load_take_constants(struct loader *l, size_t bytes);

/* The program takes nothing more until load_begin_prepare(). Between that and load_end_prepare() ... */
void load_begin_prepare(struct loader *l);
void load_end_prepare(struct loader *l);

/* ... the first @bytes of l->constants become the program's for good, the rest is given back ... */
void load_keep_constants(struct loader *l, size_t bytes);
/* ... if that costs no more than such a piece. */
bool load_may_keep_constants(struct loader *l, size_t bytes);

/* The load does not need any of it any more. */
void load_free_work(struct loader *l, enum load_memory until);

/* The program itself, in l->p. NULL: there is too little memory, or the load is to end. */
struct program *load_alloc_program(struct loader *l);

/* The tables of the program and of the load, once it is known how many records they have. */
int load_alloc_tables(struct loader *l);

/* Those by place, once it is known how many tensors have one. */
int load_alloc_places(struct loader *l);

/* Room for @count objects of @size bytes in *@p, where *@max have room now. What is there stays. */
int load_room(struct loader *l, enum load_memory until, void **p, uint32_t *max, uint32_t count,
	      size_t size);

/* Give back a constant that has an allocation of its own. */
void load_drop_constant(struct loader *l, struct tensor *t);

/* program_load.c. */

/* Copy piece by piece, also to a place that begins before @from and overlaps it. */
int load_copy(struct loader *l, void *to, const void *from, size_t bytes);

/* The call of a command, with l->operands as its operands. */
struct op_call load_make_call(const struct loader *l, const struct program_cmd *cmd,
			      struct op_error *error);

/* Set the verdict on a command that its operation has refused. -1. */
int load_op_refused(struct loader *l, uint32_t index, const struct op_error *error);

/* program_prepare.c. */

/* Prepare all commands, when they have been checked. */
int load_prepare(struct loader *l);

/* control_flow.c. */

int control_find_blocks(struct loader *l);

/* Load a BRANCH, LOOP or BLOCK. Its operands are in l->operands. */
int control_load(struct loader *l, uint32_t index);

/* The current block ends before command @end. */
int control_end_block(struct loader *l, uint32_t end);

/* Check a BRANCH or LOOP again, once all shapes that loading finds are known. */
int control_recheck(struct loader *l, uint32_t index);

/*
 * Does the command pass only tensors of known shapes to its blocks and back? Then
 * *@scratch is what it needs of scratch memory.
 */
bool control_is_fixed(struct loader *l, const struct program_cmd *cmd, uint64_t *scratch);

#endif /* NNPU_EMU_LOADER_H */
