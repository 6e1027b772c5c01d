/* SPDX-License-Identifier: MIT */
/*
 * What the executor does in addition when shapes are not all known at load time: it finds
 * shapes while the commands run, and memory for the tensors that got one.
 */
#ifndef NNPU_EMU_DYNAMIC_SHAPES_H
#define NNPU_EMU_DYNAMIC_SHAPES_H

#include "executor.h"

/* Functions that return int: 0, or -1 with the verdict. */

/* Begin a run: shapes of the inputs. dynamic_end() follows in any case. */
int dynamic_begin(struct exec_run *run);
void dynamic_end(struct exec_run *run);

/*
 * A block that runs. Its batches have chunks of the arena, and one of a few chunks has room for a
 * later batch where tensors of earlier ones are needed no more.
 */
struct dynamic_block {
	uint32_t number;
	uint32_t first_placed;		/* of run->placed */
	unsigned int num_chunks;
	struct batch_chunk {
		uint8_t *base;
		uint64_t start;		/* the chunks are places [start, end) of one plan */
		uint64_t end;
	} chunks[8];
};

static inline void dynamic_enter(struct exec_run *run, struct dynamic_block *d, uint32_t number)
{
	d->number = number;
	d->first_placed = run->num_placed;
	d->num_chunks = 0;
}

static inline void dynamic_leave(struct exec_run *run, const struct dynamic_block *d)
{
	run->num_placed = d->first_placed;
}

/*
 * Find shapes from command @from of a block on, as far as the values at hand allow, and
 * memory for what these commands write. The commands [from, *end) can run then; *end is
 * beyond @from, unless the inputs of the program have just been read.
 */
int dynamic_batch(struct exec_run *run, struct dynamic_block *d, uint32_t from, uint32_t *end);

/* The tensors that a block writes get the shapes that the program declares. */
int dynamic_reset_block(struct exec_run *run, uint32_t number);

/* Input @inner of a block gets the shape of operand @operand of command @index. */
int dynamic_pass_shape(struct exec_run *run, uint32_t index, unsigned int operand,
		       uint32_t inner, const struct tensor *value);

/* Does the program declare the shapes of all outputs of a control command? */
bool dynamic_outputs_known(const struct exec_run *run, uint32_t index);

/*
 * Outputs of control commands whose shape it does not declare. The first function says
 * where one will go; @chunk is the chunk of the arena for it if it needs one.
 */
struct home dynamic_output_home(const struct exec_run *run, uint32_t index,
				unsigned int operand, uint32_t chunk);

/* It gets the shape and the place of @value. */
int dynamic_set_output(struct exec_run *run, uint32_t index, unsigned int operand,
		       const struct tensor *value);

/* It gets the shape of @value and memory at its home; NULL: it has memory already. */
int dynamic_place_output(struct exec_run *run, uint32_t index, unsigned int operand,
			 const struct tensor *value, const struct home *home);

#endif /* NNPU_EMU_DYNAMIC_SHAPES_H */
