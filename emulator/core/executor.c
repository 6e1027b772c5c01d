// SPDX-License-Identifier: MIT
/*
 * Running the commands of a program on an engine.
 *
 * When all shapes were known at load time the arena is laid out already, and a run
 * neither infers nor allocates anything, nor does entering a block: inputs of a block
 * are the bytes of the tensors they stand for, and it writes its outputs where they
 * are wanted. Otherwise dynamic_shapes.c runs the program.
 */
#include <stdlib.h>

#include "device_state.h"
#include "engine.h"
#include "memory_accounting.h"
#include "tensor_shape.h"

/*
 * Bytes of an arena chunk for @size: what a program with shapes of its own takes, or some
 * more, so that a slightly larger job needs no new one.
 */
static uint64_t chunk_size(const struct exec_run *run, uint64_t size)
{
	uint64_t granule = TENSOR_ALIGN;

	while (!run->program->fixed && granule < size / 16)
		granule *= 2;
	return (size / granule + 1) * granule;
}

bool op_progress(struct job_progress *p)
{
	if (!p)
		return false;
	/* Nobody else counts, so that it need not be one operation. */
	atomic_store_explicit(p->counter,
			      atomic_load_explicit(p->counter, memory_order_relaxed) + 1,
			      memory_order_relaxed);
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

bool exec_room(struct exec_state *x, void **p, uint32_t *max, uint32_t count, size_t size)
{
	uint32_t before = *max;
	bool ok = exec_grow(p, max, count, size);

	x->work.allocations += *max != before;
	return ok;
}

void exec_copy(struct exec_state *x, const struct tensor *to, const void *from)
{
	x->work.copies++;
	memcpy(to->data, from, to->bytes);
}

/* Arena. */

static void chunk_free(struct nnpu_device *dev, struct arena_chunk *c)
{
	if (!c->base)
		return;
	free(c->base);
	dev_mem_release(dev, NULL, c->size);
	c->base = NULL;
	c->size = 0;
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
	free(e->exec.homes);
	free(e->exec.profile_of);
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
	struct arena *a = &e->exec.arena;

	while (a->used)
		a->chunks[--a->used].charged = 0;
	if (!e->exec.charged)
		return;
	pthread_mutex_lock(&e->dev->lock);
	ctx->mem_used -= e->exec.charged;
	pthread_mutex_unlock(&e->dev->lock);
	e->exec.charged = 0;
}

uint8_t *exec_arena(struct exec_run *run, uint32_t index, uint64_t size)
{
	struct nnpu_engine *e = run->engine;
	struct arena *a = &e->exec.arena;
	struct arena_chunk *c;
	uint64_t bytes;

	if (!exec_room(&e->exec, (void **)&a->chunks, &a->max, index + 1, sizeof(*a->chunks)))
		return NULL;
	while (a->count <= index)
		a->chunks[a->count++] = (struct arena_chunk) { 0 };
	if (a->used <= index)
		a->used = index + 1;
	c = &a->chunks[index];
	/* A block that runs again has the same pieces again. */
	if (size > c->charged) {
		if (!ctx_charge(e, run->ctx, size - c->charged))
			return NULL;
		c->charged = size;
	}
	if (!c->base || c->size < size) {
		slots_release(&e->slots);
		bytes = chunk_size(run, size);
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
		e->exec.work.allocations++;
		memset(c->base, 0, bytes);
		c->size = bytes;
		e->exec.has_memory = true;
	} else if (c->owner != run->ctx->serial) {
		slots_release(&e->slots);
		memset(c->base, 0, c->size);
	}
	c->owner = run->ctx->serial;
	return c->base;
}

/* Binding. */

int exec_no_memory(struct exec_run *run)
{
	return verdict_status(run->verdict, NNPU_STATUS_NO_MEMORY);
}

/* The engine's own tensors, and the operand lists of all commands in terms of them. */
int exec_bind(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	uint32_t i;

	x->bound = 0;
	if (!exec_room(x, (void **)&x->tensors, &x->max_tensors, p->num_tensors,
		       sizeof(*x->tensors)) ||
	    !exec_room(x, (void **)&x->operands, &x->max_operands, p->num_operands,
		       sizeof(*x->operands)) ||
	    !exec_room(x, (void **)&x->scratch, &x->max_scratch, p->num_cmds,
		       sizeof(*x->scratch)))
		return exec_no_memory(run);
	memset(x->scratch, 0, p->num_cmds * sizeof(*x->scratch));
	memcpy(x->tensors, p->tensors, p->num_tensors * sizeof(*x->tensors));
	for (i = 0; i < p->num_operands; i++)
		x->operands[i] = &x->tensors[p->operands[i]];
	return 0;
}

void exec_make_call(struct exec_run *run, uint32_t index, struct op_call *call,
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

int exec_op_failed(struct exec_run *run, uint32_t index, unsigned int reason,
		   unsigned int operand)
{
	return verdict_set(run->verdict, NNPU_STATUS_OP_FAILED, reason, index, operand);
}

/* Inputs. */

static unsigned int read_input(struct exec_run *run, unsigned int i, struct tensor *t)
{
	if (run->fail_dma)
		return NNPU_STATUS_DMA_ERROR;
	return slot_access(run->ctx, &run->engine->slots, le32toh(run->args[i].slot),
			   le64toh(run->args[i].offset), t->data, t->bytes, DMA_READ,
			   &run->engine->progress);
}

int exec_read_inputs(struct exec_run *run)
{
	const struct program *p = run->program;
	unsigned int status, i;

	for (i = 0; i < p->num_inputs; i++) {
		struct tensor *t = &run->engine->exec.tensors[p->inputs[i]];

		if (t->kind == NNPU_TENSOR_NO_VALUE)
			continue;
		status = read_input(run, i, t);
		if (status)
			return verdict_set(run->verdict, status, NNPU_REASON_NONE, i,
					   NNPU_OPERAND_NONE);
	}
	/* From here on it may take long. */
	slots_release(&run->engine->slots);
	return 0;
}

/* Profile. */

/* The record of a command, made if there is room: NULL without. */
static struct nnpu_profile *profile_record(struct exec_run *run, uint32_t index, uint64_t start)
{
	struct exec_state *x = &run->engine->exec;
	bool once = run->program->num_blocks == 1;
	struct nnpu_profile *r;

	if (!once && x->profile_of[index])
		return &x->profile[x->profile_of[index] - 1];
	if (run->num_profile == run->max_profile)
		return NULL;
	r = &x->profile[run->num_profile++];
	if (!once)
		x->profile_of[index] = run->num_profile;
	*r = (struct nnpu_profile) {
		.command = htole32(index),
		.opcode = htole32(run->program->cmds[index].opcode),
		.start_ns = htole64(start - run->start_ns),
	};
	return r;
}

static void profile(struct exec_run *run, uint32_t index, uint64_t start)
{
	struct nnpu_profile *r = profile_record(run, index, start);
	const struct program_cmd *cmd = &run->program->cmds[index];
	struct tensor **out = run->engine->exec.operands + cmd->operands + cmd->num_inputs;
	uint64_t bytes = 0;
	unsigned int i;

	if (!r)
		return;
	for (i = 0; i < cmd->num_outputs; i++)
		bytes += out[i]->bytes;
	r->exec_ns = htole64(le64toh(r->exec_ns) + dev_now(run->engine->dev) - start);
	r->bytes = htole64(le64toh(r->bytes) + bytes);
}

static int profile_init(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	uint32_t num_cmds = run->program->num_cmds;

	if (run->max_profile > num_cmds)
		run->max_profile = num_cmds;
	if (!run->max_profile)
		return 0;
	if (!exec_room(x, (void **)&x->profile, &x->max_profile, run->max_profile,
		       sizeof(*x->profile)))
		return exec_no_memory(run);
	if (run->program->num_blocks == 1)
		return 0;
	if (!exec_room(x, (void **)&x->profile_of, &x->max_profile_of, num_cmds,
		       sizeof(*x->profile_of)))
		return exec_no_memory(run);
	memset(x->profile_of, 0, num_cmds * sizeof(*x->profile_of));
	return 0;
}

/* Control flow of programs whose shapes are all known. */

static int run_block(struct exec_run *run, uint32_t number)
{
	const struct program_block *b = &run->program->blocks[number];
	uint32_t i;

	for (i = b->first; i < b->end; i++)
		if (exec_command(run, i))
			return -1;
	return 0;
}

/* The inputs of a block, then its outputs. */
static struct tensor **block_operands(struct exec_run *run, uint32_t number,
				      unsigned int *num_inputs, unsigned int *num_outputs)
{
	const struct program *p = run->program;
	const struct program_cmd *header = &p->cmds[p->blocks[number].header];

	*num_inputs = header->num_inputs;
	*num_outputs = header->num_outputs;
	return run->engine->exec.operands + header->operands;
}

static bool is_true(const struct tensor *condition)
{
	return *(const uint8_t *)condition->data != 0;
}

static int run_branch(struct exec_run *run, const struct program_cmd *cmd)
{
	struct tensor **in = run->engine->exec.operands + cmd->operands;
	struct tensor **out = in + cmd->num_inputs;
	uint32_t number = cmd->target[is_true(in[0]) ? 0 : 1];
	unsigned int num_inputs, num_outputs, i;
	struct tensor **inner = block_operands(run, number, &num_inputs, &num_outputs);

	for (i = 0; i < num_inputs; i++)
		inner[i]->data = in[1 + i]->data;
	for (i = 0; i < num_outputs; i++)
		inner[num_inputs + i]->data = out[i]->data;
	return run_block(run, number);
}

bool exec_loop_begin(struct exec_run *run)
{
	if (run->loop_end_ns)
		return false;
	run->loop_end_ns = dev_now(run->engine->dev) + run->loop_timeout_ns;
	return true;
}

int exec_loop_check(struct exec_run *run, uint32_t index)
{
	if (dev_now(run->engine->dev) < run->loop_end_ns)
		return 0;
	return verdict_set(run->verdict, NNPU_STATUS_LOOP_TIMEOUT, NNPU_REASON_NONE, index,
			   NNPU_OPERAND_NONE);
}

/*
 * A loop that runs. Values that are carried change places with each time around: one
 * is where the loop's output is to be, or in its scratch memory, the other there too.
 */
struct loop {
	struct tensor **in, **out;	/* of the command */
	unsigned int num_out;
	struct tensor **condition;	/* its inputs, its output */
	struct tensor **body;		/* its inputs, its outputs */
	unsigned int num_in, num_carried;
	uint8_t *scratch;
	uint64_t rounds;		/* of the body, done */
};

/* Where value @i is after an even or odd number of rounds; @*offset: in the scratch memory. */
static uint8_t *loop_place(const struct loop *l, unsigned int i, bool odd, uint64_t *offset)
{
	uint64_t size = tensor_round_up(l->body[i]->bytes);
	uint8_t *places[2];

	places[1] = l->scratch + *offset;
	*offset += size;
	places[0] = i < l->num_out ? l->out[i]->data : l->scratch + *offset;
	if (i >= l->num_out)
		*offset += size;
	return places[odd ? 0 : 1];
}

/* Point the inputs of a block at the values. */
static void loop_pass(const struct loop *l, struct tensor **inputs)
{
	uint64_t offset = TENSOR_ALIGN;
	unsigned int i;

	for (i = 0; i < l->num_in; i++)
		inputs[i]->data = i < l->num_carried && l->rounds ?
				  loop_place(l, i, l->rounds & 1, &offset) : l->in[i]->data;
}

static int loop_rounds(struct exec_run *run, uint32_t index, struct loop *l)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	uint64_t offset;
	unsigned int i;

	for (;;) {
		loop_pass(l, l->condition);
		l->condition[l->num_in]->data = l->scratch;
		if (run_block(run, cmd->target[0]))
			return -1;
		if (!*l->scratch)
			return 0;
		if (exec_loop_check(run, index))
			return -1;
		loop_pass(l, l->body);
		offset = TENSOR_ALIGN;
		for (i = 0; i < l->num_carried; i++)
			l->body[l->num_in + i]->data = loop_place(l, i, !(l->rounds & 1), &offset);
		if (run_block(run, cmd->target[1]))
			return -1;
		l->rounds++;
	}
}

static int run_loop(struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];
	struct tensor **in = run->engine->exec.operands + cmd->operands;
	struct loop l = {
		.in = in, .out = in + cmd->num_inputs, .num_out = cmd->num_outputs,
		.scratch = run->engine->exec.scratch[index],
	};
	bool outermost = exec_loop_begin(run);
	uint64_t offset = TENSOR_ALIGN;
	unsigned int i, one;

	l.condition = block_operands(run, cmd->target[0], &l.num_in, &one);
	l.body = block_operands(run, cmd->target[1], &l.num_in, &l.num_carried);
	if (loop_rounds(run, index, &l))
		return -1;
	for (i = 0; i < l.num_out; i++) {
		const void *result = l.rounds ? loop_place(&l, i, l.rounds & 1, &offset) :
						l.in[i]->data;

		if (result != l.out[i]->data && l.out[i]->bytes)
			exec_copy(&run->engine->exec, l.out[i], result);
	}
	if (outermost)
		run->loop_end_ns = 0;
	return 0;
}

/* Commands. */

static int run_operation(struct exec_run *run, uint32_t index)
{
	struct op_error error;
	struct op_call call;
	int ret;

	exec_make_call(run, index, &call, &error);
	ret = op_execute(&call);
	if (ret == OP_ABORTED)
		return verdict_status(run->verdict, NNPU_STATUS_ABORTED);
	return ret ? exec_op_failed(run, index, error.reason, error.operand) : 0;
}

static int run_control(struct exec_run *run, uint32_t index)
{
	const struct program_cmd *cmd = &run->program->cmds[index];

	if (run->batches)
		return batch_control(run, index);
	return cmd->opcode == NNPU_CMD_BRANCH ? run_branch(run, cmd) : run_loop(run, index);
}

int exec_command(struct exec_run *run, uint32_t index)
{
	bool control = cmd_is_control(&run->program->cmds[index]);
	uint64_t start = run->max_profile ? dev_now(run->engine->dev) : 0;

	if (op_progress(&run->engine->progress))
		return verdict_status(run->verdict, NNPU_STATUS_ABORTED);
	/* Before those of the commands that it runs. */
	if (control && run->max_profile)
		profile_record(run, index, start);
	if (control ? run_control(run, index) : run_operation(run, index))
		return -1;
	if (run->max_profile)
		profile(run, index, start);
	return 0;
}

static int run_fixed(struct exec_run *run)
{
	struct exec_state *x = &run->engine->exec;
	const struct program *p = run->program;
	uint8_t *base = exec_arena(run, 0, p->arena_size);
	uint32_t i;

	if (!base)
		return exec_no_memory(run);
	if (x->bound != p->serial || x->bound_base != base) {
		slots_release(&run->engine->slots);
		if (exec_bind(run))
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
	if (exec_read_inputs(run))
		return -1;
	return run_block(run, 0);
}

int exec_program(struct exec_run *run)
{
	const struct program *p = run->program;
	bool fixed = p->fixed;
	uint32_t i;

	if (profile_init(run))
		return -1;
	for (i = 0; i < p->num_inputs; i++)
		if (le16toh(run->args[i].flags) & NNPU_ARG_NO_VALUE)
			fixed = false;
	return fixed ? run_fixed(run) : batch_run(run);
}
