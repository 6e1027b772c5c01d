// SPDX-License-Identifier: MIT
/*
 * The memory of a program, and of a load while it lasts.
 */

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "loader.h"
#include "memory_accounting.h"

/* Sizes of the tables of a program and of a load. */
static uint64_t tensors_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_tensors * sizeof(*p->tensors));
}

static uint64_t cmds_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_cmds * sizeof(*p->cmds));
}

static uint64_t blocks_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_blocks * sizeof(*p->blocks));
}

static uint64_t roles_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_tensors * sizeof(*p->roles));
}

static uint64_t operands_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_operands * sizeof(*p->operands));
}

static uint64_t inputs_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_inputs * sizeof(*p->inputs));
}

static uint64_t outputs_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_outputs * sizeof(*p->outputs));
}

static uint64_t last_use_bytes(const struct program *p)
{
	return mem_size((uint64_t)p->num_tensors * sizeof(*p->last_use));
}

static uint64_t offsets_bytes(const struct program *p)
{
	return mem_size(((uint64_t)p->num_tensors + p->num_cmds) * sizeof(*p->offsets));
}

static uint64_t descs_bytes(const struct loader *l)
{
	return mem_size((uint64_t)l->p->num_tensors * sizeof(*l->descs));
}

static uint64_t owner_bytes(const struct loader *l)
{
	return mem_size((uint64_t)l->p->num_tensors * sizeof(*l->owner));
}

static uint64_t uses_bytes(const struct loader *l)
{
	return mem_size((uint64_t)l->p->num_tensors * sizeof(*l->uses));
}

static uint64_t seen_bytes(const struct loader *l)
{
	return mem_size((uint64_t)l->p->num_tensors * sizeof(*l->seen));
}

static void program_free(struct nnpu_device *dev, struct leaving *l)
{
	struct program *p = (struct program *)l;
	uint32_t i;

	for (i = 0; p->cmds && i < p->num_cmds; i++)
		mem_free(dev, p->cmds[i].prepared, p->cmds[i].prepared_bytes);
	for (i = 0; p->tensors && i < p->num_tensors; i++)
		if (constant_is_single(&p->tensors[i]))
			mem_free(dev, p->tensors[i].data, constant_size(&p->tensors[i]));
	mem_free(dev, p->constants, p->constants_bytes);
	mem_free(dev, p->channel_scales, p->scales_bytes);
	mem_free(dev, p->params, p->params_bytes);
	mem_free(dev, p->tensors, tensors_bytes(p));
	mem_free(dev, p->cmds, cmds_bytes(p));
	mem_free(dev, p->blocks, blocks_bytes(p));
	mem_free(dev, p->roles, roles_bytes(p));
	mem_free(dev, p->operands, operands_bytes(p));
	mem_free(dev, p->inputs, inputs_bytes(p));
	mem_free(dev, p->outputs, outputs_bytes(p));
	mem_free(dev, p->last_use, last_use_bytes(p));
	mem_free(dev, p->offsets, offsets_bytes(p));
	mem_free(dev, p, mem_size(sizeof(*p)));
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

/* Charge the load itself, until it ends. */
static int charge_work(struct loader *l, uint64_t bytes)
{
	if (!dev_mem_reserve(l->dev, l->request->ctx, bytes, l->pace.progress))
		return load_no_memory(l);
	l->work += bytes;
	return 0;
}

struct program *load_alloc_program(struct loader *l)
{
	const uint64_t bytes = mem_size(sizeof(struct program));
	struct nnpu_ctx *ctx = l->request->ctx;
	struct program *p;

	if (!dev_mem_reserve(l->dev, ctx, bytes, l->pace.progress)) {
		load_no_memory(l);
		return NULL;
	}
	p = mem_zalloc(l->dev, bytes);
	if (!p) {
		dev_mem_release(l->dev, ctx, bytes);
		verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
		return NULL;
	}
	p->refs = 1;
	p->ctx = ctx;
	p->memory = bytes;
	pthread_mutex_lock(&l->dev->lock);
	p->serial = l->dev->next_serial++;
	pthread_mutex_unlock(&l->dev->lock);
	l->p = p;
	return p;
}

int load_alloc_tables(struct loader *l)
{
	const struct nnpu_device *dev = l->dev;
	struct program *p = l->p;

	if (charge_work(l, descs_bytes(l) + owner_bytes(l) + uses_bytes(l) + seen_bytes(l)) ||
	    load_charge(l, tensors_bytes(p) + cmds_bytes(p) + blocks_bytes(p) +
			   roles_bytes(p) + operands_bytes(p) + inputs_bytes(p) +
			   outputs_bytes(p) + last_use_bytes(p) + offsets_bytes(p)))
		return -1;
	p->tensors = mem_zalloc(dev, tensors_bytes(p));
	p->cmds = mem_zalloc(dev, cmds_bytes(p));
	p->blocks = mem_zalloc(dev, blocks_bytes(p));
	p->roles = mem_zalloc(dev, roles_bytes(p));
	p->operands = mem_zalloc(dev, operands_bytes(p));
	p->inputs = mem_zalloc(dev, inputs_bytes(p));
	p->outputs = mem_zalloc(dev, outputs_bytes(p));
	p->last_use = mem_zalloc(dev, last_use_bytes(p));
	p->offsets = mem_zalloc(dev, offsets_bytes(p));
	l->descs = mem_zalloc(dev, descs_bytes(l));
	l->owner = mem_zalloc(dev, owner_bytes(l));
	l->uses = mem_zalloc(dev, uses_bytes(l));
	l->seen = mem_zalloc(dev, seen_bytes(l));
	if (!p->tensors || !p->cmds || !p->blocks || !p->roles || !p->operands || !p->inputs ||
	    !p->outputs || !p->last_use || !p->offsets || !l->descs || !l->owner || !l->uses ||
	    !l->seen)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	return 0;
}

int load_room(struct loader *l, void **p, uint32_t *max, uint32_t count, size_t size)
{
	uint64_t before = *p ? mem_size((uint64_t)*max * size) : 0, n = count;
	void *larger;

	if (count <= *max && *p)
		return 0;
	if (n < 2ull * *max)
		n = 2ull * *max;
	if (n < 4)
		n = 4;
	/* Both are there while it grows. */
	if (charge_work(l, mem_size(n * size)))
		return -1;
	larger = mem_enlarge(l->dev, *p, before, mem_size(n * size));
	if (!larger)
		return verdict_status(l->v, NNPU_STATUS_NO_MEMORY);
	dev_mem_release(l->dev, l->request->ctx, before);
	l->work -= before;
	*p = larger;
	*max = (uint32_t)n;
	return 0;
}

/* Returns what leaves. dev->lock held. */
static uint64_t table_leaves(struct loader *l, void *table, uint64_t bytes)
{
	if (!table)
		return 0;
	dev_leave_memory(l->dev, table, bytes);
	return bytes;
}

void load_free_tables(struct loader *l)
{
	uint64_t bytes;

	pthread_mutex_lock(&l->dev->lock);
	bytes = table_leaves(l, l->descs, descs_bytes(l)) +
		table_leaves(l, l->owner, owner_bytes(l)) +
		table_leaves(l, l->uses, uses_bytes(l)) +
		table_leaves(l, l->seen, seen_bytes(l)) +
		table_leaves(l, l->operands,
			     mem_size((uint64_t)l->max_operands * sizeof(*l->operands))) +
		table_leaves(l, l->saved, mem_size((uint64_t)l->max_saved * sizeof(*l->saved)));
	ctx_mem_uncharge(l->request->ctx, l->work);
	/* What was charged and could not be allocated. */
	l->dev->mem_used -= l->work - bytes;
	pthread_mutex_unlock(&l->dev->lock);
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
