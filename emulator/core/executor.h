/* SPDX-License-Identifier: MIT */
/*
 * The executor: runs the commands of a program on an engine.
 */
#ifndef NNPU_EMU_EXECUTOR_H
#define NNPU_EMU_EXECUTOR_H

#include "device_state.h"
#include "engine.h"
#include "memory_plan.h"
#include "program_load.h"
#include "ops/pace.h"

/* One run of a program. */
struct exec_run {
	struct nnpu_engine *engine;
	struct nnpu_ctx *ctx;
	const struct program *program;
	struct nnpu_arg *args;		/* checked, inputs first */
	uint32_t max_profile;		/* records wanted */
	uint32_t num_profile;
	uint64_t start_ns;
	bool fail_dma;
	bool omitted;			/* some input has no value */
	bool shapes_valid;		/* exec.tensors are those of this run */
	bool dynamic;			/* shapes are found while the commands run */
	bool inputs_read;
	struct plan_item *items;	/* dynamic: room to plan one batch; see dynamic_begin() */
	struct plan_item *placed;	/* dynamic: tensors of the blocks that run, the inner ones' last */
	uint32_t num_placed;
	uint32_t next_chunk;		/* dynamic: first chunk of the arena that is not in use */
	uint32_t num_values;		/* that the loops carry that run */
	uint64_t loop_timeout_ns;	/* of each loop */
	uint64_t loop_end_ns;		/* of the outermost loop that runs; 0: none */
	struct op_pace pace;		/* of all but the operations */
	struct op_call call;		/* of the operation that runs */
	struct op_error error;		/* of the call */
	struct verdict *verdict;
};

/*
 * Read the inputs and run all commands. 0, or -1 with the verdict. Afterwards
 * exec.tensors has the outputs, as far as the run came.
 */
int exec_program(struct exec_run *run);

/* What executor.c and dynamic_shapes.c share. */

/* Tensor indexes of the operands of a command, inputs first. */
static inline const uint32_t *exec_operand_list(const struct exec_run *run, uint32_t index)
{
	return run->program->operands + run->program->cmds[index].operands;
}

/* These return -1 with the verdict. exec_no_memory() tells a lack of memory from an abort. */
int exec_ended(struct exec_run *run);			/* the job is to end */
int exec_no_memory(struct exec_run *run);
int exec_op_failed(struct exec_run *run, uint32_t index, unsigned int reason,
		   unsigned int operand);

/* After so much work between operations. */
static inline int exec_pace(struct exec_run *run, size_t units)
{
	return op_pace(&run->pace, units) ? exec_ended(run) : 0;
}

/* The engine's own tensors, and the operands of all commands in terms of them. */
int exec_bind(struct exec_run *run);

/* A tensor of this run, or of the program if it is the same in all runs. */
static inline struct tensor *exec_tensor(const struct exec_run *run, uint32_t index)
{
	uint32_t place = run->program->tensors[index].place;

	return place == PLACE_NONE ? &run->program->tensors[index] :
				     &run->engine->exec.tensors[place];
}

/* The call of a command's operation. */
void exec_make_call(struct exec_run *run, uint32_t index, struct op_call *call,
		    struct op_error *error);

/*
 * After argument @i has been transferred: a point behind so many, since a small one has none
 * itself. The slots may be released. True: the job is to end.
 */
#define ARGS_PER_POINT	64u
bool exec_many_args(struct nnpu_engine *e, unsigned int i);

/* Read the inputs from their slots into their tensors. */
int exec_read_inputs(struct exec_run *run);

/* Time that does not pass while the job of @e has given way. Its thread. */
static inline uint64_t job_clock(const struct nnpu_engine *e)
{
	return dev_now(e->dev) - e->away_ns;
}

#endif /* NNPU_EMU_EXECUTOR_H */
