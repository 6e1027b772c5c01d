// SPDX-License-Identifier: MIT
/*
 * Running the commands of a program on an engine.
 *
 * When all shapes were known at load time the arena is laid out already, and a run
 * neither infers nor allocates anything. Else the commands go in batches: infer
 * shapes as far as the values at hand allow, lay out what this batch writes,
 * execute it, go on. One batch is enough unless a shape depends on a computed value.
 */
#include <stdlib.h>

#include "nnpu_internal.h"

/* Granule of arena memory, so that a slightly larger job needs no new one. */
#define CHUNK_GRANULE	(64u << 10)

bool op_progress(struct job_progress *p)
{
	if (!p)
		return false;
	atomic_fetch_add_explicit(p->counter, 1, memory_order_relaxed);
	return atomic_load_explicit(p->abort, memory_order_relaxed) ||
	       atomic_load_explicit(p->stop, memory_order_relaxed);
}

bool exec_grow(void **p, uint32_t *max, uint32_t count, size_t size)
{
	void *bigger;

	if (count <= *max && *p)
		return true;
	if (count < *max * 2)
		count = *max * 2;
	if (count < 16)
		count = 16;
	bigger = realloc(*p, count * size);
	if (!bigger)
		return false;
	*p = bigger;
	*max = count;
	return true;
}

/* Shapes. */

bool shape_agrees(const struct tensor *declared, const struct tensor *actual)
{
	unsigned int i;

	if (!declared->rank_known || !actual->rank_known)
		return true;
	if (declared->rank != actual->rank)
		return false;
	for (i = 0; i < actual->rank; i++)
		if (declared->dims[i] && declared->dims[i] != actual->dims[i])
			return false;
	return true;
}

int shapes_infer(const struct op_call *call, struct tensor *saved, uint64_t max_bytes)
{
	unsigned int i, d;
	int ret;

	for (i = 0; i < call->num_outputs; i++)
		saved[i] = *call->out[i];
	ret = call->desc->infer(call);
	if (ret) {
		for (i = 0; i < call->num_outputs; i++)
			*call->out[i] = saved[i];
		return ret;
	}
	for (i = 0; i < call->num_outputs; i++) {
		struct tensor *t = call->out[i];

		t->rank_known = true;
		for (d = t->rank; d < NNPU_MAX_RANK; d++)
			t->dims[d] = 0;
		if (!tensor_settle(t, max_bytes))
			return op_fail(call, NNPU_REASON_OVERFLOW, call->num_inputs + i);
	}
	return 0;
}

int shapes_agree(const struct op_call *call, const struct tensor *declared)
{
	unsigned int i;

	for (i = 0; i < call->num_outputs; i++)
		if (!shape_agrees(&declared[i], call->out[i]))
			return op_fail(call, NNPU_REASON_SHAPE_MISMATCH, call->num_inputs + i);
	return 0;
}

/* Arena. */

static void chunk_free(struct nnpu_device *dev, struct arena_chunk *c)
{
	if (!c->base)
		return;
	free(c->base);
	dev_mem_release(dev, NULL, c->size);
	*c = (struct arena_chunk) { 0 };
}

void exec_trim(struct nnpu_engine *e)
{
	struct arena *a = &e->exec.arena;
	unsigned int i;

	for (i = 0; i < a->count; i++) {
		free(a->chunks[i].base);
		e->dev->mem_used -= a->chunks[i].size;
		a->chunks[i] = (struct arena_chunk) { 0 };
	}
	e->exec.bound = 0;
	e->exec.has_memory = false;
}

void exec_fini(struct nnpu_engine *e)
{
	exec_trim(e);
	free(e->exec.arena.chunks);
	free(e->exec.tensors);
	free(e->exec.operands);
	free(e->exec.saved);
	free(e->exec.scratch);
	free(e->exec.args);
	free(e->exec.profile);
}

static bool ctx_charge(struct nnpu_engine *e, struct nnpu_ctx *ctx, uint64_t bytes)
{
	bool ok = true;

	if (!ctx->mem_limit)
		return true;
	pthread_mutex_lock(&e->dev->lock);
	if (ctx->mem_used > ctx->mem_limit || bytes > ctx->mem_limit - ctx->mem_used)
		ok = false;
	else
		ctx->mem_used += bytes;
	pthread_mutex_unlock(&e->dev->lock);
	if (ok)
		e->exec.charged += bytes;
	return ok;
}

void exec_end(struct nnpu_engine *e, struct nnpu_ctx *ctx)
{
	if (!e->exec.charged)
		return;
	pthread_mutex_lock(&e->dev->lock);
	ctx->mem_used -= e->exec.charged;
	pthread_mutex_unlock(&e->dev->lock);
	e->exec.charged = 0;
}

/* Piece @index of the arena with at least @size bytes, without bytes of others. */
static uint8_t *arena_get(struct exec_run *run, unsigned int index, uint64_t size)
{
	struct nnpu_engine *e = run->engine;
	struct arena *a = &e->exec.arena;
	struct arena_chunk *c;
	uint64_t bytes;

	if (!ctx_charge(e, run->ctx, size))
		return NULL;
	if (!exec_grow((void **)&a->chunks, &a->max, index + 1, sizeof(*a->chunks)))
		return NULL;
	while (a->count <= index)
		a->chunks[a->count++] = (struct arena_chunk) { 0 };
	c = &a->chunks[index];
	if (!c->base || c->size < size) {
		bytes = (size / CHUNK_GRANULE + 1) * CHUNK_GRANULE;
		chunk_free(e->dev, c);
		if (!dev_mem_reserve(e->dev, NULL, bytes)) {
			/* Close to the limit the granule may be what is missing. */
			bytes = size ? (size + TENSOR_ALIGN - 1) & ~(uint64_t)(TENSOR_ALIGN - 1) :
				       TENSOR_ALIGN;
			if (!dev_mem_reserve(e->dev, NULL, bytes))
				return NULL;
		}
		c->base = aligned_alloc(TENSOR_ALIGN, bytes);
		if (!c->base) {
			dev_mem_release(e->dev, NULL, bytes);
			return NULL;
		}
		memset(c->base, 0, bytes);
		c->size = bytes;
		e->exec.has_memory = true;
	} else if (c->owner != run->ctx->serial) {
		memset(c->base, 0, c->size);
	}
	c->owner = run->ctx->serial;
	return c->base;
}

/* Binding. */

static int no_memory(struct exec_run *run)
{
	return verdict_status(run->verdict, NNPU_STATUS_NO_MEMORY);
}

/* The engine's own tensors, and the operand lists of all commands in terms of them. */
static int bind_program(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	uint32_t i;

	x->bound = 0;
	if (!exec_grow((void **)&x->tensors, &x->max_tensors, p->num_tensors,
		       sizeof(*x->tensors)) ||
	    !exec_grow((void **)&x->operands, &x->max_operands, p->num_operands,
		       sizeof(*x->operands)) ||
	    !exec_grow((void **)&x->scratch, &x->max_scratch, p->num_cmds,
		       sizeof(*x->scratch)))
		return no_memory(run);
	memset(x->scratch, 0, p->num_cmds * sizeof(*x->scratch));
	memcpy(x->tensors, p->tensors, p->num_tensors * sizeof(*x->tensors));
	for (i = 0; i < p->num_operands; i++)
		x->operands[i] = &x->tensors[p->operands[i]];
	return 0;
}

static void make_call(struct exec_run *run, uint32_t index, struct op_call *call,
		      struct op_error *error)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	struct tensor **operands = run->engine->exec.operands + cmd->operands;
	unsigned int i;

	*error = (struct op_error) { .operand = NNPU_OPERAND_NONE };
	*call = (struct op_call) {
		.desc = cmd->desc,
		.num_inputs = cmd->num_inputs,
		.num_outputs = cmd->num_outputs,
		.in = operands,
		.out = operands + cmd->num_inputs,
		.relaxed = run->program->relaxed,
		.prepared = cmd->prepared,
		.scratch = run->engine->exec.scratch[index],
		.progress = &run->engine->progress,
		.error = error,
	};
	/* What was prepared for an operand that this job omits does not hold. */
	for (i = 0; run->omitted && i < cmd->num_inputs; i++) {
		uint32_t t = run->program->operands[cmd->operands + i];

		if (operands[i]->kind != run->program->tensors[t].kind)
			call->prepared = NULL;
	}
}

static int op_failed(struct exec_run *run, uint32_t index, const struct op_error *error)
{
	return verdict_set(run->verdict, NNPU_STATUS_OP_FAILED, error->reason, index,
			   error->operand);
}

/* Inputs. */

static void input_shape(const struct nnpu_arg *arg, struct tensor *t)
{
	unsigned int i;

	if (!(le16toh(arg->flags) & NNPU_ARG_SHAPE))
		return;
	t->rank = arg->rank;
	t->rank_known = true;
	for (i = 0; i < arg->rank; i++)
		if (arg->dims[i])
			t->dims[i] = le32toh(arg->dims[i]);
}

static int read_inputs(struct exec_run *run)
{
	const struct program *p = run->program;
	unsigned int i;

	for (i = 0; i < p->num_inputs; i++) {
		struct tensor *t = &run->engine->exec.tensors[p->inputs[i]];
		unsigned int status = NNPU_STATUS_DMA_ERROR;

		if (t->kind == NNPU_TENSOR_NO_VALUE)
			continue;
		if (!run->fail_dma)
			status = slot_access(run->ctx, le32toh(run->args[i].slot),
					     le64toh(run->args[i].offset), t->data, t->bytes,
					     DMA_READ, &run->engine->progress);
		if (status)
			return verdict_set(run->verdict, status, NNPU_REASON_NONE, i,
					   NNPU_OPERAND_NONE);
	}
	return 0;
}

/* Commands. */

static void profile(struct exec_run *run, uint32_t index, uint64_t start,
		    const struct op_call *call)
{
	struct nnpu_profile *r = &run->engine->exec.profile[run->num_profile++];
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < call->num_outputs; i++)
		bytes += call->out[i]->bytes;
	*r = (struct nnpu_profile) {
		.command = htole32(index),
		.opcode = htole32(run->program->cmds[index].opcode),
		.start_ns = htole64(start - run->start_ns),
		.exec_ns = htole64(dev_now(run->engine->dev) - start),
		.bytes = htole64(bytes),
	};
}

static int run_command(struct exec_run *run, uint32_t index)
{
	bool wanted = run->num_profile < run->max_profile;
	uint64_t start = wanted ? dev_now(run->engine->dev) : 0;
	struct op_error error;
	struct op_call call;
	int ret;

	if (op_progress(&run->engine->progress))
		return verdict_status(run->verdict, NNPU_STATUS_ABORTED);
	make_call(run, index, &call, &error);
	ret = op_execute(&call);
	if (ret == OP_ABORTED)
		return verdict_status(run->verdict, NNPU_STATUS_ABORTED);
	if (ret)
		return op_failed(run, index, &error);
	if (wanted)
		profile(run, index, start, &call);
	return 0;
}

static int run_fixed(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	uint8_t *base = arena_get(run, 0, p->arena_size);
	uint32_t i;

	if (!base)
		return no_memory(run);
	if (x->bound != p->serial || x->bound_base != base) {
		if (bind_program(run))
			return -1;
		for (i = 0; i < p->num_tensors; i++)
			if (!tensor_is_const(&x->tensors[i]) &&
			    x->tensors[i].kind != NNPU_TENSOR_NO_VALUE)
				x->tensors[i].data = base + p->offsets[i];
		for (i = 0; i < p->num_cmds; i++)
			if (p->cmds[i].scratch)
				x->scratch[i] = base + p->offsets[p->num_tensors + i];
		x->bound = p->serial;
		x->bound_base = base;
	}
	run->shapes_valid = true;
	if (read_inputs(run))
		return -1;
	for (i = 0; i < p->num_cmds; i++)
		if (run_command(run, i))
			return -1;
	return 0;
}

/* Number of the program's output that is tensor @t. */
static unsigned int output_number(const struct program *p, uint32_t t)
{
	unsigned int i;

	for (i = 0; i < p->num_outputs; i++)
		if (p->outputs[i] == t)
			break;
	return i;
}

/* Shapes found now against those of the program. */
static int check_shapes(struct exec_run *run, uint32_t index, const struct op_call *call,
			struct op_error *error)
{
	const struct program *p = run->program;
	const uint32_t *out = p->operands + p->cmds[index].operands + call->num_inputs;
	unsigned int i;

	for (i = 0; i < call->num_outputs; i++) {
		const struct tensor *declared = &p->tensors[out[i]];

		if (shape_agrees(declared, call->out[i]))
			continue;
		if (declared->kind == NNPU_TENSOR_OUTPUT)
			return verdict_set(run->verdict, NNPU_STATUS_ARG_SHAPE,
					   NNPU_REASON_SHAPE_MISMATCH,
					   p->num_inputs + output_number(p, out[i]),
					   NNPU_OPERAND_NONE);
		op_fail(call, NNPU_REASON_SHAPE_MISMATCH, call->num_inputs + i);
		return op_failed(run, index, error);
	}
	return 0;
}

/* Infer from command @from on; *@end is the first that needs a value not there yet. */
static int infer_batch(struct exec_run *run, uint32_t from, uint32_t *end)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	struct op_error error;
	struct op_call call;
	uint32_t i;
	int ret;

	for (i = from; i < p->num_cmds; i++) {
		if (!p->cmds[i].infer && !run->omitted)
			continue;
		make_call(run, i, &call, &error);
		if (!exec_grow((void **)&x->saved, &x->max_saved, call.num_outputs,
			       sizeof(*x->saved)))
			return no_memory(run);
		ret = shapes_infer(&call, x->saved, run->engine->dev->props.max_operand_size);
		if (ret < 0)
			return op_failed(run, i, &error);
		if (ret)
			break;
		if (check_shapes(run, i, &call, &error))
			return -1;
	}
	*end = i;
	return 0;
}

/* Scratch memory of the commands [from, end), whose shapes are all known. */
static int plan_scratch(struct exec_run *run, uint32_t from, uint32_t end,
			struct plan_item *items, uint32_t *count)
{
	const struct program *p = run->program;
	struct op_error error;
	struct op_call call;
	uint64_t bytes;
	uint32_t i;

	for (i = from; i < end; i++) {
		make_call(run, i, &call, &error);
		bytes = op_scratch(&call);
		if (bytes > run->engine->dev->props.memory_size)
			return no_memory(run);
		if (bytes)
			items[(*count)++] = (struct plan_item) {
				.tensor = p->num_tensors + i, .first = i, .last = i,
				.size = bytes,
			};
	}
	return 0;
}

/* Memory for the inputs (first batch) and what the commands [from, end) write. */
static int place_batch(struct exec_run *run, uint32_t from, uint32_t end, unsigned int chunk,
		       struct plan_item *items)
{
	struct tensor *tensors = run->engine->exec.tensors;
	const struct program *p = run->program;
	uint32_t i, n = 0;
	uint8_t *base;

	for (i = 0; !chunk && i < p->num_inputs; i++)
		items[n++] = (struct plan_item) { .tensor = p->inputs[i], .first = from };
	for (i = from; i < end; i++) {
		const uint32_t *out = p->operands + p->cmds[i].operands + p->cmds[i].num_inputs;
		unsigned int o;

		for (o = 0; o < p->cmds[i].num_outputs; o++)
			items[n++] = (struct plan_item) { .tensor = out[o], .first = i };
	}
	for (i = 0; i < n; i++) {
		uint32_t last = p->last_use[items[i].tensor];

		/* Read by a later batch: stays. */
		items[i].last = last < end ? last : end;
		items[i].size = tensors[items[i].tensor].bytes;
	}
	if (plan_scratch(run, from, end, items, &n))
		return -1;
	base = arena_get(run, chunk, plan_place(items, n));
	if (!base)
		return no_memory(run);
	for (i = 0; i < n; i++)
		if (items[i].tensor >= p->num_tensors)
			run->engine->exec.scratch[items[i].tensor - p->num_tensors] =
				base + items[i].offset;
		else if (tensors[items[i].tensor].kind != NNPU_TENSOR_NO_VALUE)
			tensors[items[i].tensor].data = base + items[i].offset;
	return 0;
}

/* Operations whose operands this job omits look at them again. */
static int check_omitted(struct exec_run *run)
{
	const struct program *p = run->program;
	uint32_t i, j;

	for (i = 0; i < p->num_cmds; i++) {
		struct op_error error;
		struct op_call call;

		make_call(run, i, &call, &error);
		for (j = 0; j < call.num_inputs; j++)
			if (call.in[j]->kind == NNPU_TENSOR_NO_VALUE)
				break;
		if (j < call.num_inputs && call.desc->check(&call))
			return op_failed(run, i, &error);
	}
	return 0;
}

static int run_batches(struct exec_run *run, struct plan_item *items)
{
	const struct program *p = run->program;
	uint32_t pos = 0, end = 0;
	unsigned int chunk = 0;

	do {
		if (infer_batch(run, pos, &end))
			return -1;
		if (chunk && end == pos)
			return verdict_set(run->verdict, NNPU_STATUS_OP_FAILED,
					   NNPU_REASON_UNKNOWN_SHAPE, pos, NNPU_OPERAND_NONE);
		if (place_batch(run, pos, end, chunk, items))
			return -1;
		if (!chunk++ && read_inputs(run))
			return -1;
		for (; pos < end; pos++)
			if (run_command(run, pos))
				return -1;
	} while (pos < p->num_cmds);
	return 0;
}

static int run_dynamic(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	struct plan_item *items;
	unsigned int i;
	int ret;

	if (bind_program(run))
		return -1;
	run->shapes_valid = true;
	for (i = 0; i < p->num_inputs; i++) {
		struct tensor *t = &x->tensors[p->inputs[i]];

		if (le16toh(run->args[i].flags) & NNPU_ARG_NO_VALUE) {
			t->kind = NNPU_TENSOR_NO_VALUE;
			t->bytes = 0;
			run->omitted = true;
			continue;
		}
		input_shape(&run->args[i], t);
		/* Its size was checked with the argument. */
		tensor_settle(t, run->engine->dev->props.max_operand_size);
	}
	if (run->omitted && check_omitted(run))
		return -1;
	items = malloc((p->num_inputs + (size_t)p->num_operands + p->num_cmds + 1) *
		       sizeof(*items));
	if (!items)
		return no_memory(run);
	ret = run_batches(run, items);
	free(items);
	return ret;
}

int exec_program(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	bool fixed = p->fixed;
	uint32_t i;

	if (run->max_profile > p->num_cmds)
		run->max_profile = p->num_cmds;
	if (run->max_profile && !exec_grow((void **)&x->profile, &x->max_profile,
					   run->max_profile, sizeof(*x->profile)))
		return no_memory(run);
	for (i = 0; i < p->num_inputs; i++)
		if (le16toh(run->args[i].flags) & NNPU_ARG_NO_VALUE)
			fixed = false;
	return fixed ? run_fixed(run) : run_dynamic(run);
}
