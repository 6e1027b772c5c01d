// SPDX-License-Identifier: MIT
/*
 * A list of operations run directly through op.h.
 */
#include "graph.h"

#include "../tap.h"
#include "parts_team.h"
#include "shape.h"

#include <stdlib.h>
#include <string.h>

struct job_progress graph_progress;
bool (*graph_look)(void);

bool op_progress(struct job_progress *p)
{
	p->count++;
	if (graph_look)
		return graph_look();
	return p->abort_after && p->count >= p->abort_after;
}

void *graph_alloc(size_t bytes)
{
	void *p;

	return posix_memalign(&p, 64, bytes ? bytes : 1) ? NULL : p;
}

/* More than this a device does not have. */
#define TAKE_MAX	(1ull << 30)

void *op_take(struct job_progress *p, size_t bytes, size_t *taken)
{
	(void)p;
	if (bytes > TAKE_MAX)
		return NULL;
	if (taken)
		*taken += (bytes + 64) / 64 * 64;
	return graph_alloc(bytes);
}

void op_give(struct job_progress *p, void *memory, size_t bytes)
{
	(void)p;
	(void)bytes;
	free(memory);
}

bool graph_init(struct graph *g, unsigned int num_tensors, unsigned int num_calls)
{
	memset(g, 0, sizeof(*g));
	g->tensors = calloc(num_tensors + 1, sizeof(*g->tensors));
	g->declared = calloc(num_tensors + 1, sizeof(*g->declared));
	g->calls = calloc(num_calls + 1, sizeof(*g->calls));
	if (!g->tensors || !g->declared || !g->calls) {
		free(g->declared);
		free(g->tensors);
		free(g->calls);
		return false;
	}
	g->num_tensors = num_tensors;
	g->num_calls = num_calls;
	return true;
}

bool graph_set_call(struct graph *g, unsigned int i, const struct op_desc *desc,
		    unsigned int num_inputs, unsigned int num_outputs,
		    const uint32_t *tensors, bool relaxed)
{
	struct graph_call *gc = &g->calls[i];

	gc->operands = calloc(num_inputs + num_outputs + 1, sizeof(*gc->operands));
	if (!gc->operands)
		return false;
	for (unsigned int j = 0; j < num_inputs + num_outputs; j++)
		gc->operands[j] = &g->tensors[tensors[j]];
	gc->call = (struct op_call){
		.desc = desc,
		.num_inputs = num_inputs,
		.num_outputs = num_outputs,
		.in = gc->operands,
		.out = gc->operands + num_inputs,
		.relaxed = relaxed,
		.progress = &graph_progress,
		.error = &g->error,
	};
	return true;
}

void graph_set_shape(struct tensor *t, unsigned int rank, const uint32_t *dims)
{
	bool known = true;

	t->rank = (uint8_t)rank;
	t->rank_known = rank || type_is_scalar(t->type);
	t->bytes = type_size(t->type);
	if (rank)
		memmove(t->dims, dims, rank * sizeof(*dims));
	memset(t->dims + rank, 0, (NNPU_MAX_RANK - rank) * sizeof(*t->dims));
	for (unsigned int i = 0; i < rank; i++) {
		known &= t->dims[i] != 0;
		t->bytes *= t->dims[i];
	}
	t->shape_known = t->rank_known && known;
	if (!t->shape_known)
		t->bytes = 0;
}

void graph_set_quant(struct tensor *t, float scale, int32_t zero_point, uint32_t channel_dim,
		     const float *scales)
{
	t->channel_dim = (uint8_t)channel_dim;
	if (tensor_is_per_channel(t)) {
		t->channel_scales = scales;
		return;
	}
	t->scale = scale;
	t->zero_point = zero_point;
}

/* What the device would say about a size that is too large. */
static int check_sizes(const struct graph *g, const struct op_call *c)
{
	for (unsigned int i = 0; g->max_bytes && i < c->num_outputs; i++) {
		const struct tensor *t = c->out[i];
		size_t bytes = type_size(t->type);

		for (unsigned int d = 0; d < t->rank; d++) {
			if (__builtin_mul_overflow(bytes, (size_t)t->dims[d], &bytes))
				return op_fail(c, NNPU_REASON_OVERFLOW, op_output(c, i));
		}
		if (bytes > g->max_bytes)
			return op_fail(c, NNPU_REASON_OVERFLOW, op_output(c, i));
	}
	return 0;
}

/* The outputs as inferred against what the graph says about them. */
static int check_shapes(const struct graph *g, const struct op_call *c)
{
	for (unsigned int i = 0; i < c->num_outputs; i++) {
		const struct tensor *declared = &g->declared[c->out[i] - g->tensors];

		if (!declared->rank_known)
			continue;
		if (declared->rank != c->out[i]->rank)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, op_output(c, i));
		for (unsigned int d = 0; d < declared->rank; d++) {
			if (declared->dims[d] && declared->dims[d] != c->out[i]->dims[d])
				return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, op_output(c, i));
		}
	}
	return 0;
}

static bool inputs_known(const struct op_call *c)
{
	for (unsigned int i = 0; i < c->num_inputs; i++) {
		if (c->in[i]->kind != NNPU_TENSOR_NO_VALUE && !c->in[i]->shape_known)
			return false;
	}
	return true;
}

static int check(const struct graph_call *gc)
{
	return gc->extension ? op_check(gc->extension, &gc->call) : gc->call.desc->check(&gc->call);
}

int graph_load(struct graph *g)
{
	memcpy(g->declared, g->tensors, g->num_tensors * sizeof(*g->tensors));
	for (unsigned int i = 0; i < g->num_calls; i++) {
		struct graph_call *gc = &g->calls[i];
		struct op_call *c = &gc->call;
		int ret;

		g->failed_call = i;
		if (check(gc))
			return -1;
		if (inputs_known(c)) {
			c->loading = true;
			ret = c->desc->infer(c);
			c->loading = false;
			if (ret < 0 || (ret == 0 && (check_sizes(g, c) || check_shapes(g, c))))
				return -1;
			for (unsigned int j = 0; !ret && j < c->num_outputs; j++)
				graph_set_shape(c->out[j], c->out[j]->rank, c->out[j]->dims);
			gc->inferred = ret == 0;
		}
		if (c->desc->prepare && c->desc->prepare(c, &g->prepared_bytes))
			return -1;
	}
	return 0;
}

/* Operations whose operands the job omits look at them again. */
static int check_omitted(const struct graph_call *gc)
{
	const struct op_call *c = &gc->call;

	for (unsigned int i = 0; i < c->num_inputs; i++) {
		if (c->in[i]->kind == NNPU_TENSOR_NO_VALUE)
			return check(gc);
	}
	return 0;
}

/* A copy of the outputs, one behind the other. NULL: no memory. */
static uint8_t *copy_outputs(const struct op_call *c)
{
	uint8_t *copy, *to;
	size_t bytes = 1;

	for (unsigned int i = 0; i < c->num_outputs; i++)
		bytes += c->out[i]->bytes;
	copy = malloc(bytes);
	to = copy;
	for (unsigned int i = 0; copy && i < c->num_outputs; i++) {
		memcpy(to, c->out[i]->data, c->out[i]->bytes);
		to += c->out[i]->bytes;
	}
	return copy;
}

/* Compute with a team. If the operation has parts, compute it as a whole, too: same bytes? */
static int execute(struct op_call *c, size_t scratch)
{
	uint8_t *in_parts, *whole;
	size_t at = 0;
	int ret;

	/* Who counts points or ends the call at one wants no other threads. */
	if (!graph_look && !graph_progress.abort_after)
		c->team = parts_team_next();
	ret = op_execute(c);
	if (ret || !c->team || !parts_team_used())
		return ret;
	c->team = NULL;
	in_parts = copy_outputs(c);
	for (unsigned int i = 0; i < c->num_outputs; i++)
		memset(c->out[i]->data, 0xa5, c->out[i]->bytes);
	memset(c->scratch, 0xa5, scratch);
	ret = op_execute(c);
	whole = copy_outputs(c);
	if (!in_parts || !whole)
		abort();
	for (unsigned int i = 0; i < c->num_outputs; i++)
		at += c->out[i]->bytes;
	if (!ret && memcmp(in_parts, whole, at)) {
		tap_note("%s: other bytes in parts, with %u threads", c->desc->name,
			 parts_team_threads());
		ret = -1;
	}
	free(in_parts);
	free(whole);
	return ret;
}

static int run_call(const struct graph *g, struct graph_call *gc)
{
	struct op_call *c = &gc->call;
	size_t scratch;
	int ret;

	if (check_omitted(gc) || c->desc->infer(c) || check_sizes(g, c) ||
	    check_shapes(g, c))
		return -1;
	for (unsigned int j = 0; j < c->num_outputs; j++) {
		struct tensor *t = c->out[j];

		graph_set_shape(t, t->rank, t->dims);
		t->bytes = type_size(t->type);
		for (unsigned int d = 0; d < t->rank; d++)
			t->bytes *= t->dims[d];
		t->shape_known = true;
		if (!t->data)
			t->data = graph_alloc(t->bytes);
		if (!t->data)
			return -1;
		/* A kernel that leaves elements out is to be seen. */
		memset(t->data, 0xa5, t->bytes);
	}
	c->widened = op_wants_widening(c);
	/* To the byte, so that a kernel that takes more is seen. */
	scratch = op_scratch(c);
	if (g->max_bytes && scratch > g->max_bytes)
		return op_fail(c, NNPU_REASON_OVERFLOW, NNPU_OPERAND_NONE);
	c->scratch = graph_alloc(scratch);
	if (!c->scratch)
		return -1;
	memset(c->scratch, 0xa5, scratch);
	ret = execute(c, scratch);
	free(c->scratch);
	c->scratch = NULL;
	return ret;
}

int graph_run(struct graph *g)
{
	int ret = 0;

	g->error = (struct op_error){ NNPU_REASON_NONE, NNPU_OPERAND_NONE };
	for (unsigned int i = 0; !ret && i < g->num_calls; i++) {
		g->failed_call = i;
		ret = run_call(g, &g->calls[i]);
	}
	return ret;
}

void graph_reset(struct graph *g)
{
	for (unsigned int i = 0; i < g->num_tensors; i++) {
		struct tensor *t = &g->tensors[i];

		if (t->kind == NNPU_TENSOR_TEMPORARY || t->kind == NNPU_TENSOR_OUTPUT) {
			free(t->data);
			t->data = NULL;
		}
	}
}

void graph_destroy(struct graph *g)
{
	graph_reset(g);
	for (unsigned int i = 0; i < g->num_calls; i++) {
		struct op_call *c = &g->calls[i].call;

		free(c->prepared);
		free(g->calls[i].operands);
	}
	free(g->calls);
	free(g->tensors);
	free(g->declared);
	memset(g, 0, sizeof(*g));
}
