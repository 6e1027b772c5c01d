/* SPDX-License-Identifier: MIT */
/*
 * Running the commands of a program on an engine.
 */
#ifndef NNPU_EXECUTOR_H
#define NNPU_EXECUTOR_H

#include <stdatomic.h>

#include "memory_plan.h"
#include "program_load.h"

struct nnpu_ctx;
struct nnpu_engine;

/* What op_progress() looks at; the engine's. */
struct job_progress {
	atomic_uint *counter;		/* QREG_PROGRESS of the queue */
	const atomic_bool *abort;	/* abort of this job asked for */
	const atomic_bool *stop;	/* the device stops */
};

/* Memory of an engine for tensors of jobs; kept between jobs. */
struct arena_chunk {
	uint8_t *base;
	size_t size;
	uint64_t owner;			/* serial of the context whose bytes it holds */
	uint64_t charged;		/* bytes of it that this job was charged for */
};

struct arena {
	struct arena_chunk *chunks;
	uint32_t count;
	uint32_t max;
	uint32_t used;			/* chunks below it may be charged for */
};

/* Where an output of a block is to be, when shapes are found while it runs. */
struct home {
	const struct tensor *outer;	/* what it is for; @data has room for its shape */
	uint8_t *data;			/* NULL: a piece of the arena */
	uint32_t chunk;
};

/* What a job did beside its operations. */
struct exec_work {
	uint32_t inferences;		/* commands whose output shapes it found */
	uint32_t allocations;		/* of memory for itself */
	uint32_t copies;		/* of tensors within device memory */
};

/* Buffers of an engine that grow with the largest job. */
struct exec_state {
	struct exec_work work;
	struct arena arena;
	uint64_t charged;		/* bytes charged to the context for this job */
	struct tensor *tensors;
	uint32_t max_tensors;
	struct tensor **operands;
	uint32_t max_operands;
	struct tensor *saved;
	uint32_t max_saved;
	void **scratch;			/* by command, where it needs some */
	uint32_t max_scratch;
	struct home *homes;		/* by tensor: outputs of blocks */
	uint32_t max_homes;
	uint64_t bound;			/* serial of the fixed program the above belong to */
	const uint8_t *bound_base;	/* and the memory they point to */
	bool has_memory;
	uint8_t *args;
	uint32_t max_args_len;
	struct nnpu_profile *profile;
	uint32_t max_profile;
	uint32_t *profile_of;		/* by command: number of its record + 1 */
	uint32_t max_profile_of;
};

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
	bool batches;			/* shapes are found while the commands run */
	struct plan_item *items;	/* room to lay out one batch */
	uint32_t next_chunk;		/* first piece of the arena that is not in use */
	uint64_t loop_timeout_ns;	/* of each loop */
	uint64_t loop_end_ns;		/* of the outermost loop that runs; 0: none */
	struct verdict *verdict;
};

/* Among executor.c and dynamic_shapes.c; 0 or -1 with the verdict. */
int exec_bind(struct exec_run *run);
int exec_read_inputs(struct exec_run *run);
int exec_command(struct exec_run *run, uint32_t index);
int exec_no_memory(struct exec_run *run);
int exec_op_failed(struct exec_run *run, uint32_t index, unsigned int reason,
		   unsigned int operand);
void exec_make_call(struct exec_run *run, uint32_t index, struct op_call *call,
		    struct op_error *error);
/* Piece @index of the arena with at least @size bytes, without bytes of others, or NULL. */
uint8_t *exec_arena(struct exec_run *run, uint32_t index, uint64_t size);
/* Time for a loop begins; true if it is not inside of another one. */
bool exec_loop_begin(struct exec_run *run);
/* Once around: has its time passed? */
int exec_loop_check(struct exec_run *run, uint32_t index);
int batch_run(struct exec_run *run);
int batch_control(struct exec_run *run, uint32_t index);

/*
 * Read inputs, run all commands; 0 or -1 with the verdict. Tensors of the outputs
 * are in exec.tensors afterwards, as far as it came.
 */
int exec_program(struct exec_run *run);
/* Give back what the job was charged for. */
void exec_end(struct nnpu_engine *e, struct nnpu_ctx *ctx);
/* Give memory of an engine that is not busy back; dev->lock held. */
void exec_trim(struct nnpu_engine *e);
void exec_fini(struct nnpu_engine *e);
/* Room for @count objects of @size in *@p; false: no memory. */
bool exec_grow(void **p, uint32_t *max, uint32_t count, size_t size);
/* The same for what a job needs, counted. */
bool exec_room(struct exec_state *x, void **p, uint32_t *max, uint32_t count, size_t size);
/* Copy a tensor that no operation is about, counted. */
void exec_copy(struct exec_state *x, const struct tensor *to, const void *from);

#endif /* NNPU_EXECUTOR_H */
