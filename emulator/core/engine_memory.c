// SPDX-License-Identifier: MIT
/*
 * The memory of an engine: arena and tables.
 */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleaner.h"
#include "device_state.h"
#include "engine.h"
#include "memory_accounting.h"
#include "program_load.h"
#include "ops/op.h"

/* Bytes that are cleared between two looks at op_progress(). */
#define CLEAR_PIECE	(256u << 10)

bool exec_room(struct exec_state *x, void **p, uint32_t *max, uint32_t count, size_t size)
{
	uint32_t before = *max;
	bool ok = array_grow(p, max, count, size);

	x->work.allocations += *max != before;
	return ok;
}

static void chunk_free(struct leaving *l)
{
	free(l);
}

/* dev->lock held. */
static void chunk_leave(struct nnpu_device *dev, struct arena_chunk *c)
{
	/* In the chunk itself. */
	struct leaving *l = (struct leaving *)c->base;

	if (l) {
		l->free = chunk_free;
		l->bytes = c->size;
		dev_leave(dev, l);
	}
	c->base = NULL;
	c->size = 0;
}

void exec_trim(struct nnpu_engine *e)
{
	struct arena *a = &e->exec.arena;
	unsigned int i;

	for (i = 0; i < a->count; i++) {
		chunk_leave(e->dev, &a->chunks[i]);
		a->chunks[i] = (struct arena_chunk) { 0 };
	}
	e->exec.bound = 0;
	e->exec.has_memory = false;
}

void exec_fini(struct nnpu_engine *e)
{
	pthread_mutex_lock(&e->dev->lock);
	exec_trim(e);
	pthread_mutex_unlock(&e->dev->lock);
	free(e->exec.arena.chunks);
	free(e->exec.tensors);
	free(e->exec.operands);
	free(e->exec.saved);
	free(e->exec.scratch);
	free(e->exec.homes);
	free(e->exec.values);
	free(e->exec.profile_of);
	free(e->exec.args);
	free(e->exec.profile);
}

void exec_end(struct nnpu_engine *e, struct nnpu_ctx *ctx)
{
	struct arena *a = &e->exec.arena;

	while (a->used)
		a->chunks[--a->used].charged = 0;
	if (!e->exec.charged)
		return;
	ctx_mem_release(ctx, e->exec.charged);
	e->exec.charged = 0;
}

/* Charge the context for a chunk. A block that runs again has the same chunks again. */
static bool chunk_charge(struct nnpu_engine *e, struct nnpu_ctx *ctx, struct arena_chunk *c,
			 uint64_t size)
{
	if (size <= c->charged)
		return true;
	if (ctx_mem_counts(ctx, size)) {
		if (!ctx_mem_reserve(ctx, size - c->charged))
			return false;
		e->exec.charged += size - c->charged;
	}
	c->charged = size;
	return true;
}

/* Bytes of a chunk: @size or, unless @exact, some more for a slightly larger next job. */
static uint64_t chunk_size(uint64_t size, bool exact)
{
	uint64_t granule = TENSOR_ALIGN;

	while (!exact && granule < size / 16)
		granule *= 2;
	return (size / granule + 1) * granule;
}

/* Clear memory piece by piece. False: the job is to end, and not all of it is clear. */
static bool clear(struct nnpu_engine *e, uint8_t *base, uint64_t bytes)
{
	uint64_t at, n;

	for (at = 0; at < bytes; at += n) {
		n = bytes - at < CLEAR_PIECE ? bytes - at : CLEAR_PIECE;
		memset(base + at, 0, n);
		if (n == CLEAR_PIECE && op_progress(&e->progress))
			return false;
	}
	return true;
}

static bool chunk_alloc(struct nnpu_engine *e, struct arena_chunk *c, uint64_t size, bool exact)
{
	uint64_t bytes = chunk_size(size, exact);

	pthread_mutex_lock(&e->dev->lock);
	chunk_leave(e->dev, c);
	pthread_mutex_unlock(&e->dev->lock);
	if (!dev_mem_reserve(e->dev, NULL, bytes, &e->progress)) {
		/* Close to the limit the granule may be what is missing. */
		bytes = size ? tensor_round_up(size) : TENSOR_ALIGN;
		if (!dev_mem_reserve(e->dev, NULL, bytes, &e->progress))
			return false;
	}
	c->base = aligned_alloc(TENSOR_ALIGN, bytes);
	if (!c->base) {
		dev_mem_release(e->dev, NULL, bytes);
		return false;
	}
	e->exec.work.allocations++;
	c->size = bytes;
	e->exec.has_memory = true;
	if (clear(e, c->base, bytes))
		return true;
	pthread_mutex_lock(&e->dev->lock);
	chunk_leave(e->dev, c);
	pthread_mutex_unlock(&e->dev->lock);
	return false;
}

uint8_t *exec_chunk(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint32_t index,
		    uint64_t size, bool exact)
{
	struct arena *a = &e->exec.arena;
	struct arena_chunk *c;

	if (!exec_room(&e->exec, (void **)&a->chunks, &a->max, index + 1, sizeof(*a->chunks)))
		return NULL;
	while (a->count <= index)
		a->chunks[a->count++] = (struct arena_chunk) { 0 };
	if (a->used <= index)
		a->used = index + 1;
	c = &a->chunks[index];
	if (!chunk_charge(e, ctx, c, size))
		return NULL;
	if (!c->base || c->size < size) {
		slots_release(&e->slots);
		if (!chunk_alloc(e, c, size, exact))
			return NULL;
	} else if (c->owner != ctx->serial) {
		slots_release(&e->slots);
		/* After an abort it still counts as the other context's. */
		if (!clear(e, c->base, c->size))
			return NULL;
	}
	c->owner = ctx->serial;
	return c->base;
}
