/* SPDX-License-Identifier: MIT */
/*
 * The memory of an engine: an arena for the tensors of jobs, and tables. An engine keeps
 * both for its next job.
 */
#ifndef NNPU_EMU_ENGINE_MEMORY_H
#define NNPU_EMU_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nnpu_ctx;
struct nnpu_engine;
struct nnpu_profile;
struct program;
struct tensor;

struct arena_chunk {
	uint8_t *base;
	size_t size;			/* see device_memory.h */
	uint64_t owner;			/* serial of the context whose bytes it holds */
	uint64_t charged;		/* bytes that this job has taken of it */
};

struct arena {
	struct arena_chunk *chunks;	/* behind an entry for when the arena leaves */
	uint64_t bytes;			/* of all chunks */
	uint32_t count;			/* without that entry */
	uint32_t max;			/* with it */
	uint32_t used;			/* this job has taken no chunk from here on */
};

/* Where an output of a block goes, while its shape is not known yet. */
struct home {
	const struct tensor *outer;	/* the tensor it stands for, with the room of its shape */
	uint8_t *data;			/* NULL: it goes to a chunk of the arena */
	uint32_t chunk;
};

/* What a job did beside its operations; the counts of the result block. */
struct exec_work {
	uint32_t inferences;		/* commands whose output shapes it found */
	uint32_t allocations;		/* of memory for itself */
	uint32_t copies;		/* of tensors within device memory */
};

/* Tables by tensor, command or operand of the program that runs. */
struct exec_state {
	struct exec_work work;
	struct arena arena;
	uint64_t charged;		/* bytes charged to the context for this job */
	uint64_t owed;			/* bytes it has beside them, less than @credit */
	uint64_t credit;		/* ctx_mem_credit() */
	struct table_charges {		/* of both, for tables */
		uint64_t program;	/* by tensor, command or operand; profile */
		uint64_t args;
		uint64_t saved;
		uint64_t values;
		uint64_t chunks;
		uint64_t pool;
		const struct program *runs;	/* what the job runs, once charged */
		uint32_t records;	/* of its profile */
		bool dynamic;
	} tables;
	uint8_t *page;			/* of the worker, for small tables; or NULL */
	uint32_t page_used;
	uint64_t *bind;			/* one piece for the next three, see bind_words() */
	uint32_t max_bind;
	struct tensor *tensors;
	struct tensor **operands;
	void **scratch;			/* by command, where it needs some */
	struct tensor *saved;
	uint32_t max_saved;
	struct home *homes;		/* by tensor: outputs of blocks */
	uint32_t max_homes;
	struct tensor *values;		/* that loops carry, inner loops behind outer ones */
	uint32_t max_values;
	uint64_t bound;			/* serial of the planned program that the tables are for */
	const uint8_t *bound_base;	/* and the arena they point to */
	bool has_memory;
	uint8_t *args;
	uint32_t max_args_len;
	uint8_t *pool;			/* for small pieces of op_take() */
	uint32_t max_pool;
	uint32_t pool_used;
	struct nnpu_profile *profile;
	uint32_t max_profile;
	uint32_t *profile_of;		/* by command: number of its record + 1 */
	uint32_t max_profile_of;
};

/*
 * Give a worker a clear page of NNPU_PAGE_SIZE for small tables, for as long as it lives. It is no
 * memory of the device: no client takes or keeps any. NULL, before it ends: it has none any more. The
 * worker is not busy; dev->lock held.
 */
void exec_set_page(struct nnpu_engine *e, uint8_t *page);

/* Words of exec_state.bind that a program needs. */
uint32_t bind_words(const struct program *p);

/*
 * Have room for @count objects of @size bytes in *@p, where *@max have room now. What is there
 * stays. It is reserved in device memory before it is allocated; then the slots are released.
 * False: too little memory, or the job is to end. Nothing has changed.
 */
bool exec_grow(struct nnpu_engine *e, void **p, uint32_t *max, uint32_t count, size_t size);

static inline bool exec_room(struct nnpu_engine *e, void **p, uint32_t *max, uint32_t count,
			     size_t size)
{
	return (count <= *max && *p) || exec_grow(e, p, max, count, size);
}

/* The same of a table that grows step by step: it gets twice the room. Both are charged. */
bool exec_charged_grow(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint64_t *charged, void **p,
		       uint32_t *max, uint32_t count, size_t size);

/* Inline, in engine.h: exec_charge(), exec_charged_room(). */

/*
 * Chunk @index of the arena, with at least @size bytes, none of which another context
 * has written. It is charged to @ctx. @exact: no more bytes than needed. NULL: the device
 * or the context has too little memory, or the job is to end.
 */
uint8_t *exec_chunk(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint32_t index,
		    uint64_t size, bool exact);

/*
 * Small pieces of work memory, until the job ends, from what the worker keeps: so a small job asks
 * the host for no memory. NULL: there is no room, or too little memory. False: it is no such piece.
 */
#define POOL_PIECE	(16u << 10)
void *exec_pool_take(struct nnpu_engine *e, struct nnpu_ctx *ctx, size_t bytes);
bool exec_pool_give(struct nnpu_engine *e, void *piece, size_t bytes);

/* The job ends: release what it was charged for. */
void exec_end(struct nnpu_engine *e, struct nnpu_ctx *ctx);

/*
 * Give back what the job that runs does not use: chunks and tables, and what is behind its part of
 * a piece. Its thread, at a point or before the job begins; dev->lock held, dropped inside.
 */
void exec_give(struct nnpu_engine *e);

/* Give back arena and tables of a worker that is not busy. dev->lock held. */
void exec_trim(struct nnpu_engine *e);

/* Free all. */
void exec_fini(struct nnpu_engine *e);

#endif /* NNPU_EMU_ENGINE_MEMORY_H */
