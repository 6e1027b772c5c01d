// SPDX-License-Identifier: MIT
/*
 * The memory of a program, and of a load while it lasts.
 */
#include <string.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "loader.h"
#include "memory_accounting.h"

static void program_free(struct nnpu_device *dev, struct leaving *l)
{
	struct program *p = (struct program *)l;
	uint32_t i;

	for (i = 0; p->cmds && i < p->num_cmds; i++)
		if (p->cmds[i].prepared_pages)
			mem_free(dev, p->cmds[i].prepared,
				 (uint64_t)p->cmds[i].prepared_pages << NNPU_PAGE_SHIFT);
	for (i = 0; p->tensors && i < p->num_tensors; i++)
		if (constant_is_single(&p->tensors[i]))
			mem_free(dev, p->tensors[i].data, constant_size(&p->tensors[i]));
	/* With the program itself. */
	region_free(dev, &p->region);
}

void program_put(struct program *p)
{
	if (--p->refs)
		return;
	ctx_mem_uncharge(p->ctx, p->memory);
	p->leaving.free = program_free;
	p->leaving.bytes = p->memory;
	dev_leave(p->ctx->dev, &p->leaving);
}

int load_no_memory(struct loader *l)
{
	return verdict_status(l->v, job_is_to_end(l->pace.progress) ? NNPU_STATUS_ABORTED :
								      NNPU_STATUS_NO_MEMORY);
}

int load_charge(struct loader *l, uint64_t bytes)
{
	if (!dev_mem_reserve(l->dev, l->request->ctx, bytes, l->pace.progress))
		return load_no_memory(l);
	l->p->memory += bytes;
	return 0;
}

void load_uncharge(struct loader *l, uint64_t bytes)
{
	dev_mem_release(l->dev, l->request->ctx, bytes);
	l->p->memory -= bytes;
}

/* A piece of a region that is charged to @ctx; *@charged grows. NULL: too little memory. */
static void *take(struct nnpu_ctx *ctx, struct mem_region *r, uint64_t *charged,
		  struct job_progress *progress, size_t bytes, size_t align)
{
	void *piece = region_take(r, bytes, align);
	struct region_pages pages;

	if (piece)
		return piece;
	pages = region_pages_for(r, bytes, align);
	if (!dev_mem_reserve(ctx->dev, ctx, pages.bytes, progress))
		return NULL;
	piece = region_extend(ctx->dev, r, pages, bytes, align);
	if (!piece) {
		dev_mem_release(ctx->dev, ctx, pages.bytes);
		return NULL;
	}
	*charged += pages.bytes;
	return piece;
}

void *program_take(struct program *p, struct job_progress *progress, size_t bytes)
{
	return take(p->ctx, &p->region, &p->memory, progress, bytes, TENSOR_ALIGN);
}

void *load_take(struct loader *l, size_t bytes)
{
	struct program *p = l->p;
	void *piece = take(p->ctx, &p->region, &p->memory, l->pace.progress, bytes, REGION_ALIGN);

	if (!piece)
		load_no_memory(l);
	return piece;
}

void *load_take_work(struct loader *l, enum load_memory until, size_t bytes)
{
	struct load_work *w = &l->work[until];
	void *piece = take(l->request->ctx, &w->region, &w->charged, l->pace.progress, bytes,
			   REGION_ALIGN);

	if (!piece)
		load_no_memory(l);
	return piece;
}

void *load_take_constants(struct loader *l, size_t bytes)
{
	struct mem_region *r = &l->p->region;
	void *piece = region_take(&l->work[LOAD_PREPARE].region, bytes, REGION_ALIGN);

	if (piece)
		return piece;
	l->constants = region_take(r, bytes, REGION_ALIGN);
	l->constants_behind = l->constants || region_pages_for(r, bytes, REGION_ALIGN).grows;
	if (!l->constants)
		l->constants = l->constants_behind ? load_take(l, bytes) :
						     load_take_work(l, LOAD_CONSTANTS, bytes);
	return l->constants;
}

void load_begin_prepare(struct loader *l)
{
	if (!l->constants_behind)
		return;
	l->tables = l->p->region;
	l->p->region = (struct mem_region) { 0 };
}

void load_end_prepare(struct loader *l)
{
	region_join(&l->p->region, &l->tables);
}

uint8_t *load_take_image(struct load_request *request)
{
	struct load_work *w = &request->read;
	uint8_t *image = take(request->ctx, &w->region, &w->charged, request->progress,
			      request->size, REGION_ALIGN);

	request->image = image;
	return image;
}

static void free_work(struct nnpu_ctx *ctx, struct load_work *w)
{
	pthread_mutex_lock(&ctx->dev->lock);
	region_leave(ctx->dev, &w->region);
	ctx_mem_uncharge(ctx, w->charged);
	pthread_mutex_unlock(&ctx->dev->lock);
	w->charged = 0;
}

void load_give_image(struct load_request *request)
{
	free_work(request->ctx, &request->read);
}

struct program *load_alloc_program(struct loader *l)
{
	struct nnpu_ctx *ctx = l->request->ctx;
	struct mem_region region = { 0 };
	uint64_t memory = 0;
	struct program *p;

	p = take(ctx, &region, &memory, l->pace.progress, sizeof(*p), REGION_ALIGN);
	if (!p) {
		load_no_memory(l);
		return NULL;
	}
	p->region = region;
	p->refs = 1;
	p->ctx = ctx;
	p->memory = memory;
	pthread_mutex_lock(&l->dev->lock);
	p->serial = l->dev->next_serial++;
	pthread_mutex_unlock(&l->dev->lock);
	l->p = p;
	return p;
}

/* Tables of one block, one behind the other. */
struct table {
	void **at;
	uint64_t bytes;
};

/* What one takes: whole words. */
static uint64_t table_step(const struct table *table)
{
	return region_round_up(table->bytes, 8) + REGION_GAP;
}

static uint64_t tables_bytes(const struct table *tables, unsigned int count)
{
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		bytes += table_step(&tables[i]);
	return bytes;
}

static int place_tables(const struct table *tables, unsigned int count, uint8_t *block)
{
	unsigned int i;

	if (!block)
		return -1;
	for (i = 0; i < count; i++) {
		*tables[i].at = block;
		block += table_step(&tables[i]);
		ASAN_POISON_MEMORY_REGION(block - REGION_GAP, REGION_GAP);
	}
	return 0;
}

int load_alloc_tables(struct loader *l)
{
	struct program *p = l->p;
	const uint64_t n = p->num_tensors;
	const struct table kept[] = {
		{ (void **)&p->tensors, n * sizeof(*p->tensors) },
		{ (void **)&p->cmds, (uint64_t)p->num_cmds * sizeof(*p->cmds) },
		{ (void **)&p->blocks, (uint64_t)p->num_blocks * sizeof(*p->blocks) },
		{ (void **)&p->operands, (uint64_t)p->num_operands * sizeof(*p->operands) },
		{ (void **)&p->inputs, (uint64_t)p->num_inputs * sizeof(*p->inputs) },
		{ (void **)&p->outputs, (uint64_t)p->num_outputs * sizeof(*p->outputs) },
	};
	const struct table read[] = {
		{ (void **)&l->owner, n * sizeof(*l->owner) },
		{ (void **)&l->seen, n * sizeof(*l->seen) },
	};
	const struct table prepare[] = {
		{ (void **)&l->uses, n * sizeof(*l->uses) },
		{ (void **)&l->decoders, n * sizeof(*l->decoders) },
	};
	const unsigned int num_kept = sizeof(kept) / sizeof(*kept);
	const unsigned int num_read = sizeof(read) / sizeof(*read);
	const unsigned int num_prepare = sizeof(prepare) / sizeof(*prepare);

	if (place_tables(read, num_read,
			 load_take_work(l, LOAD_READ, tables_bytes(read, num_read))))
		return -1;
	if (l->work[LOAD_READ].charged == NNPU_PAGE_SIZE) {
		l->work[LOAD_PREPARE] = l->work[LOAD_READ];
		l->work[LOAD_READ] = (struct load_work) { 0 };
	}
	if (place_tables(prepare, num_prepare,
			 load_take_work(l, LOAD_PREPARE, tables_bytes(prepare, num_prepare))))
		return -1;
	return place_tables(kept, num_kept, load_take(l, tables_bytes(kept, num_kept)));
}

int load_alloc_places(struct loader *l)
{
	struct program *p = l->p;
	const uint64_t n = p->num_places;
	const struct table tables[] = {
		{ (void **)&p->offsets, (n + p->num_cmds) * sizeof(*p->offsets) },
		{ (void **)&p->last_use, n * sizeof(*p->last_use) },
	};
	const unsigned int count = sizeof(tables) / sizeof(*tables);

	return place_tables(tables, count, load_take(l, tables_bytes(tables, count)));
}

int load_room(struct loader *l, enum load_memory until, void **p, uint32_t *max, uint32_t count,
	      size_t size)
{
	uint64_t n = count;
	void *larger;

	if (count <= *max && *p)
		return 0;
	if (n < 2ull * *max)
		n = 2ull * *max;
	if (n < 4)
		n = 4;
	/* The smaller one stays as long. */
	larger = load_take_work(l, until, n * size);
	if (!larger)
		return -1;
	if (*p)
		memcpy(larger, *p, *max * size);
	*p = larger;
	*max = (uint32_t)n;
	return 0;
}

/* The region with l->constants. */
static struct mem_region *constants_region(struct loader *l)
{
	return l->constants_behind ? &l->tables : &l->work[LOAD_CONSTANTS].region;
}

bool load_may_keep_constants(struct loader *l, size_t bytes)
{
	return l->constants && region_may_shrink(l->dev, constants_region(l), l->constants, bytes);
}

void load_keep_constants(struct loader *l, size_t bytes)
{
	struct load_work *w = &l->work[LOAD_CONSTANTS];
	uint64_t leaves;

	pthread_mutex_lock(&l->dev->lock);
	leaves = region_shrink(l->dev, constants_region(l), l->constants, bytes);
	ctx_mem_uncharge(l->request->ctx, leaves);
	pthread_mutex_unlock(&l->dev->lock);
	/* They are charged to the program already if they are behind its tables. */
	region_join(&l->p->region, &w->region);
	l->p->memory += w->charged - leaves;
	w->charged = 0;
}

void load_free_work(struct loader *l, enum load_memory until)
{
	free_work(l->request->ctx, &l->work[until]);
}

void load_drop_constant(struct loader *l, struct tensor *t)
{
	uint64_t bytes = constant_size(t);

	_Static_assert(sizeof(struct leaving) <= SINGLE_CONSTANT, "has room");
	l->p->memory -= bytes;
	pthread_mutex_lock(&l->dev->lock);
	ctx_mem_uncharge(l->p->ctx, bytes);
	dev_leave_memory(l->dev, t->data, bytes);
	t->data = NULL;
	pthread_mutex_unlock(&l->dev->lock);
}
