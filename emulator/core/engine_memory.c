// SPDX-License-Identifier: MIT
/*
 * The memory of an engine: arena and tables.
 */
#include <string.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "memory_accounting.h"
#include "memory_region.h"
#include "program_load.h"
#include "ops/op.h"

/* Bytes that are cleared between two looks at op_progress(). */
#define CLEAR_PIECE	(256u << 10)

/* Tables grow to so many bytes at least: there is room for struct leaving. */
#define TABLE_MIN	512u

/* Bytes of the pool. */
#define POOL_BYTES	(2 * POOL_PIECE)

/* Chunks that leave while dev->lock is held once. */
#define LEAVE_MAX	64u

_Static_assert(sizeof(struct leaving) <= TABLE_MIN, "has room");

bool exec_charge_now(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint64_t *charged, uint64_t bytes)
{
	struct exec_state *x = &e->exec;
	uint64_t owed = x->owed + bytes - *charged;

	if (!ctx_mem_reserve(ctx, owed))
		return false;
	x->charged += owed;
	x->owed = 0;
	*charged = bytes;
	return true;
}

static uint64_t table_size(uint32_t max, size_t size)
{
	return mem_size((uint64_t)max * size);
}

/* Objects that a table has at least. */
static uint64_t table_least(uint32_t count, size_t size)
{
	uint64_t least = (TABLE_MIN + size - 1) / size;

	return count < least ? least : count;
}

/* Does a table share the page? Its part is free when the page is cleared. */
static bool table_is_small(const struct nnpu_engine *e, const void *table)
{
	return e->exec.page && (uintptr_t)table - (uintptr_t)e->exec.page < NNPU_PAGE_SIZE;
}

/* dev->lock held. */
static void table_leave(struct nnpu_engine *e, void *table, uint32_t *max, size_t size)
{
	if (table && !table_is_small(e, table)) {
		ASAN_UNPOISON_MEMORY_REGION(table, sizeof(struct leaving));
		dev_leave_memory(e->dev, table, table_size(*max, size));
	}
	*max = 0;
}

/* After the tables in it. Whoever has it next finds it as it was at first. */
static void page_clear(struct nnpu_engine *e)
{
	struct exec_state *x = &e->exec;

	if (!x->page)
		return;
	ASAN_UNPOISON_MEMORY_REGION(x->page, NNPU_PAGE_SIZE);
	memset(x->page, 0, x->page_used);
	ASAN_POISON_MEMORY_REGION(x->page, NNPU_PAGE_SIZE);
	x->page_used = 0;
}

void exec_set_page(struct nnpu_engine *e, uint8_t *page)
{
	exec_trim(e);
	if (e->exec.page)
		ASAN_UNPOISON_MEMORY_REGION(e->exec.page, NNPU_PAGE_SIZE);
	if (page)
		ASAN_POISON_MEMORY_REGION(page, NNPU_PAGE_SIZE);
	e->exec.page = page;
}

/* Has the page room for a table of @bytes? */
static bool page_has_room(const struct nnpu_engine *e, uint64_t bytes)
{
	return e->exec.page && bytes <= NNPU_PAGE_SIZE &&
	       region_step(bytes) <= NNPU_PAGE_SIZE - e->exec.page_used;
}

/* A table of @bytes in it, clear. */
static void *page_take(struct nnpu_engine *e, uint64_t bytes)
{
	struct exec_state *x = &e->exec;
	uint8_t *table = x->page + x->page_used;

	ASAN_UNPOISON_MEMORY_REGION(table, bytes);
	x->page_used += (uint32_t)region_step(bytes);
	return table;
}

uint32_t bind_words(const struct program *p)
{
	_Static_assert(sizeof(struct tensor) % sizeof(uint64_t) == 0 &&
		       sizeof(void *) <= sizeof(uint64_t), "whole words");

	/* An image has 64 MiB at most: it fits. */
	return (uint32_t)((uint64_t)p->num_places * (sizeof(struct tensor) / sizeof(uint64_t)) +
			  p->num_operands + p->num_cmds);
}

bool exec_grow(struct nnpu_engine *e, void **p, uint32_t *max, uint32_t count, size_t size)
{
	uint64_t n = table_least(count, size), after = table_size((uint32_t)n, size);
	uint64_t before = table_is_small(e, *p) ? *max * size : table_size(*max, size);
	void *bigger;

	/* It may take long. */
	slots_release(&e->slots);
	/* What grows is not small for long: its part of the page would be lost each time. */
	if (!*p && page_has_room(e, n * size)) {
		*p = page_take(e, n * size);
		*max = (uint32_t)n;
		e->exec.work.allocations++;
		return true;
	}
	/* Both are there while it grows. */
	if (!dev_mem_reserve(e->dev, NULL, after, &e->progress))
		return false;
	/* Its end may have been given back meanwhile. */
	bigger = mem_copy(e->dev, *p, *p ? before : 0, n * size, &e->progress);
	if (!bigger) {
		dev_mem_release(e->dev, NULL, after);
		return false;
	}
	/* ... and be with the cleaner still: what was before it has to come after it. */
	pthread_mutex_lock(&e->dev->lock);
	table_leave(e, *p, max, size);
	pthread_mutex_unlock(&e->dev->lock);
	*p = bigger;
	*max = (uint32_t)n;
	e->exec.work.allocations++;
	e->exec.has_memory = true;
	return true;
}

bool exec_charged_grow(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint64_t *charged, void **p,
		       uint32_t *max, uint32_t count, size_t size)
{
	uint64_t twice = table_least(count, size);

	if (twice < 2ull * *max && 2ull * *max <= UINT32_MAX)
		twice = 2ull * *max;
	if (exec_charge(e, ctx, charged, twice * size) &&
	    exec_grow(e, p, max, (uint32_t)twice, size))
		return true;
	/* Close to the limit there may be room for what is needed. */
	return exec_charge(e, ctx, charged, table_least(count, size) * size) &&
	       exec_grow(e, p, max, count, size);
}

/* dev->lock held. */
static void chunk_leave(struct nnpu_engine *e, struct arena_chunk *c)
{
	if (c->base) {
		e->exec.arena.bytes -= c->size;
		dev_leave_memory(e->dev, c->base, c->size);
	}
	c->base = NULL;
	c->size = 0;
}

/* The first entry of a table of chunks, when all of them leave at once. */
struct arena_leaving {
	struct leaving leaving;
	uint32_t count;
	uint32_t max;
};

_Static_assert(sizeof(struct arena_leaving) == sizeof(struct arena_chunk), "one entry");

static void arena_free(struct nnpu_device *dev, struct leaving *l)
{
	struct arena_leaving *first = (struct arena_leaving *)l;
	struct arena_chunk *chunks = (struct arena_chunk *)first + 1;
	uint32_t i;

	for (i = 0; i < first->count; i++)
		mem_free(dev, chunks[i].base, chunks[i].size);
	mem_free(dev, first, table_size(first->max, sizeof(*chunks)));
}

/* As one piece: there may be very many chunks. dev->lock held. */
static void arena_leave(struct nnpu_engine *e)
{
	struct arena *a = &e->exec.arena;
	struct arena_leaving *first = (struct arena_leaving *)a->chunks;

	if (!first)
		return;
	/* The page has few of them. */
	if (table_is_small(e, first)) {
		for (; a->count; a->count--)
			chunk_leave(e, &a->chunks[a->count]);
		*a = (struct arena) { 0 };
		return;
	}
	first->leaving.free = arena_free;
	first->leaving.bytes = a->bytes + table_size(a->max, sizeof(*a->chunks));
	first->count = a->count;
	first->max = a->max;
	dev_leave(e->dev, &first->leaving);
	*a = (struct arena) { 0 };
}

#define TABLE_LEAVE(e, table, max)						\
	do {									\
		table_leave(e, (e)->exec.table, &(e)->exec.max,			\
			    sizeof(*(e)->exec.table));				\
		(e)->exec.table = NULL;						\
	} while (0)

static void tables_leave(struct nnpu_engine *e)
{
	TABLE_LEAVE(e, bind, max_bind);
	TABLE_LEAVE(e, saved, max_saved);
	TABLE_LEAVE(e, homes, max_homes);
	TABLE_LEAVE(e, values, max_values);
	TABLE_LEAVE(e, args, max_args_len);
	TABLE_LEAVE(e, pool, max_pool);
	TABLE_LEAVE(e, profile, max_profile);
	TABLE_LEAVE(e, profile_of, max_profile_of);
}

void exec_trim(struct nnpu_engine *e)
{
	arena_leave(e);
	tables_leave(e);
	page_clear(e);
	e->exec.bound = 0;
	e->exec.has_memory = false;
}

/* dev->lock held. */
static void chunk_give(struct nnpu_engine *e, struct arena_chunk *c)
{
	size_t left;

	if (!c->charged) {
		chunk_leave(e, c);
		return;
	}
	left = mem_size(c->charged);
	if (left >= c->size)
		return;
	dev_leave_end(e->dev, c->base + left, c->size - left);
	e->exec.arena.bytes -= c->size - left;
	c->size = left;
}

/* A table of which the job uses @need bytes. dev->lock held. */
static void table_give(struct nnpu_engine *e, void **table, uint32_t *max, size_t size,
		       uint64_t need)
{
	uint64_t bytes = table_size(*max, size);
	size_t left;

	if (!*table || table_is_small(e, *table))
		return;
	if (!need) {
		table_leave(e, *table, max, size);
		*table = NULL;
		return;
	}
	/* A page has an object: what remains, in whole objects, has this size. */
	left = mem_size(need) + NNPU_PAGE_SIZE;
	if (left >= bytes)
		return;
	*max = (uint32_t)(left / size);
	dev_leave_end(e->dev, (uint8_t *)*table + left, bytes - left);
}

#define TABLE_GIVE(e, table, max, need)						\
	table_give(e, (void **)&(e)->exec.table, &(e)->exec.max,		\
		   sizeof(*(e)->exec.table), need)

_Static_assert(sizeof(struct tensor) <= NNPU_PAGE_SIZE &&
	       sizeof(struct nnpu_profile) <= NNPU_PAGE_SIZE, "a page has an object");

static void tables_give(struct nnpu_engine *e)
{
	struct exec_state *x = &e->exec;
	const struct program *p = x->tables.runs;
	bool blocks = p && p->num_blocks > 1;

	/* What they are bound for is not what runs: they may become too small for it. */
	if (!p || x->bound != p->serial)
		x->bound = 0;
	TABLE_GIVE(e, bind, max_bind, p ? bind_words(p) * sizeof(*x->bind) : 0);
	TABLE_GIVE(e, homes, max_homes, blocks && x->tables.dynamic ?
		   p->num_tensors * sizeof(*x->homes) : 0);
	TABLE_GIVE(e, profile, max_profile, x->tables.records * sizeof(*x->profile));
	TABLE_GIVE(e, profile_of, max_profile_of, blocks && x->tables.records ?
		   p->num_cmds * sizeof(*x->profile_of) : 0);
	TABLE_GIVE(e, saved, max_saved, x->tables.saved);
	TABLE_GIVE(e, values, max_values, x->tables.values);
	TABLE_GIVE(e, args, max_args_len, x->tables.args);
	TABLE_GIVE(e, pool, max_pool, x->tables.pool);
}

/* After so many chunks. dev->lock held, dropped inside. */
static void give_pause(struct nnpu_device *dev, uint32_t *n)
{
	if (++*n % LEAVE_MAX)
		return;
	pthread_mutex_unlock(&dev->lock);
	pthread_mutex_lock(&dev->lock);
}

void exec_give(struct nnpu_engine *e)
{
	struct arena *a = &e->exec.arena;
	uint32_t i, n = 0;

	for (; a->count > a->used; a->count--) {
		chunk_leave(e, &a->chunks[a->count]);
		give_pause(e->dev, &n);
	}
	for (i = 1; i <= a->used; i++) {
		chunk_give(e, &a->chunks[i]);
		give_pause(e->dev, &n);
	}
	if (a->chunks)
		table_give(e, (void **)&a->chunks, &a->max, sizeof(*a->chunks),
			   (a->used + 1) * sizeof(*a->chunks));
	tables_give(e);
}

void exec_fini(struct nnpu_engine *e)
{
	pthread_mutex_lock(&e->dev->lock);
	exec_trim(e);
	pthread_mutex_unlock(&e->dev->lock);
}

void *exec_pool_take(struct nnpu_engine *e, struct nnpu_ctx *ctx, size_t bytes)
{
	struct exec_state *x = &e->exec;
	size_t step = region_step(bytes);
	uint8_t *p;

	if (step > POOL_BYTES - x->pool_used ||
	    !exec_charged_room(e, ctx, &x->tables.pool, (void **)&x->pool, &x->max_pool,
			       POOL_BYTES, 1))
		return NULL;
	/* What is behind the last piece is for nobody yet. */
	ASAN_POISON_MEMORY_REGION(x->pool + x->pool_used, POOL_BYTES - x->pool_used);
	p = x->pool + x->pool_used;
	ASAN_UNPOISON_MEMORY_REGION(p, bytes);
	x->pool_used += (uint32_t)step;
	return p;
}

bool exec_pool_give(struct nnpu_engine *e, void *piece, size_t bytes)
{
	struct exec_state *x = &e->exec;
	size_t at = (uintptr_t)piece - (uintptr_t)x->pool, step = region_step(bytes);

	if (!x->pool || at >= POOL_BYTES)
		return false;
	if (at + step == x->pool_used)
		x->pool_used = (uint32_t)at;
	ASAN_POISON_MEMORY_REGION(piece, step);
	return true;
}

void exec_end(struct nnpu_engine *e, struct nnpu_ctx *ctx)
{
	struct arena *a = &e->exec.arena;

	for (; a->used; a->used--)
		a->chunks[a->used].charged = 0;
	e->exec.tables = (struct table_charges) { 0 };
	e->exec.owed = 0;
	e->exec.pool_used = 0;
	if (!e->exec.charged)
		return;
	ctx_mem_release(ctx, e->exec.charged);
	e->exec.charged = 0;
}

/* Size of a chunk: for @size bytes or, unless @exact, some more for a slightly larger next job. */
static uint64_t chunk_size(uint64_t size, bool exact)
{
	uint64_t granule = TENSOR_ALIGN;

	if (exact)
		return mem_size(size);
	while (granule < size / 16)
		granule *= 2;
	return mem_size((size & ~(granule - 1)) + granule);
}

/*
 * Charge for a chunk that the engine has already as for a new one. Close to the limit the
 * charge may be the part that this job needs.
 */
static bool chunk_charge(struct nnpu_engine *e, struct nnpu_ctx *ctx, struct arena_chunk *c,
			 uint64_t size, bool exact)
{
	uint64_t bytes = chunk_size(size, exact);

	return exec_charge(e, ctx, &c->charged, bytes < c->size ? bytes : c->size) ||
	       exec_charge(e, ctx, &c->charged, mem_size(size));
}

/*
 * May the job have chunk @index as it is? There may be very many but for the first: none of them
 * may cost more than what the job is charged with. See mem_least().
 */
static bool chunk_is_kept(struct nnpu_engine *e, struct nnpu_ctx *ctx, struct arena_chunk *c,
			  uint32_t index, uint64_t size, bool exact)
{
	uint64_t bytes = chunk_size(size, exact);

	if (!c->base || c->size < size)
		return false;
	if (bytes > c->size)
		bytes = c->size;
	return !index || (mem_least(e->dev, c->base, c->size) <= bytes &&
			  exec_charge(e, ctx, &c->charged, bytes));
}

/*
 * Clear a chunk piece by piece. Its end may be given back at a point. False: the job is to end,
 * and not all of it is clear.
 */
static bool clear(struct nnpu_engine *e, const struct arena_chunk *c)
{
	uint64_t at, n;

	for (at = 0; at < c->size; at += n) {
		n = c->size - at;
		if (n > CLEAR_PIECE)
			n = CLEAR_PIECE;
		memset(c->base + at, 0, n);
		if (n == CLEAR_PIECE && op_progress(&e->progress))
			return false;
	}
	return true;
}

static bool chunk_reserve(struct nnpu_engine *e, struct nnpu_ctx *ctx, struct arena_chunk *c,
			  uint64_t bytes)
{
	return exec_charge(e, ctx, &c->charged, bytes) &&
	       dev_mem_reserve(e->dev, NULL, bytes, &e->progress);
}

static bool chunk_alloc(struct nnpu_engine *e, struct nnpu_ctx *ctx, struct arena_chunk *c,
			uint64_t size, bool exact)
{
	uint64_t bytes = chunk_size(size, exact);

	pthread_mutex_lock(&e->dev->lock);
	chunk_leave(e, c);
	pthread_mutex_unlock(&e->dev->lock);
	if (!chunk_reserve(e, ctx, c, bytes)) {
		/* Close to the limit the granule may be what is missing. */
		bytes = mem_size(size);
		if (!chunk_reserve(e, ctx, c, bytes))
			return false;
	}
	c->base = mem_alloc(e->dev, bytes);
	if (!c->base) {
		dev_mem_release(e->dev, NULL, bytes);
		return false;
	}
	e->exec.work.allocations++;
	c->size = bytes;
	e->exec.arena.bytes += bytes;
	e->exec.has_memory = true;
	if (clear(e, c))
		return true;
	pthread_mutex_lock(&e->dev->lock);
	chunk_leave(e, c);
	pthread_mutex_unlock(&e->dev->lock);
	return false;
}

uint8_t *exec_chunk(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint32_t index,
		    uint64_t size, bool exact)
{
	struct arena *a = &e->exec.arena;
	struct arena_chunk *c;

	if (!exec_charged_room(e, ctx, &e->exec.tables.chunks, (void **)&a->chunks, &a->max,
			       index + 2, sizeof(*a->chunks)))
		return NULL;
	while (a->count <= index)
		a->chunks[++a->count] = (struct arena_chunk) { 0 };
	if (a->used <= index)
		a->used = index + 1;
	c = &a->chunks[index + 1];
	if (!chunk_is_kept(e, ctx, c, index, size, exact)) {
		slots_release(&e->slots);
		if (!chunk_alloc(e, ctx, c, size, exact))
			return NULL;
	} else if (!index && !chunk_charge(e, ctx, c, size, exact)) {
		return NULL;
	} else if (c->owner != ctx->serial) {
		slots_release(&e->slots);
		/* After an abort it still counts as the other context's. */
		if (!clear(e, c))
			return NULL;
	}
	c->owner = ctx->serial;
	return c->base;
}
