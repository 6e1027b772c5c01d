// SPDX-License-Identifier: MIT
/*
 * Half precision by way of single precision. If an operation has op_desc.widen set, its
 * FLOAT16 operands are converted to FLOAT32 in scratch memory, it runs on those, and its
 * outputs are rounded to FLOAT16.
 */
#include <float16.h>

#include "kernels.h"
#include "shape.h"

/* Most operands of an operation with op_desc.widen. */
#define WIDEN_MAX	80

/* Elements that are converted between two looks at op_pace(). */
#define WIDEN_RUN	4096

static bool is_half(const struct tensor *t)
{
	return t->type == NNPU_TYPE_TENSOR_FLOAT16 && tensor_has_value(t);
}

bool op_wants_widening(const struct op_call *c)
{
	if (!c->desc->widen || c->num_inputs + c->num_outputs > WIDEN_MAX)
		return false;
	for (unsigned int i = 0; i < c->num_inputs + c->num_outputs; i++) {
		if (is_half(op_operand(c, i)))
			return true;
	}
	return false;
}

/* The call with its operands in single precision; they have no data yet. */
struct widened {
	struct op_call call;
	struct tensor *operands[WIDEN_MAX];
	struct tensor tensors[WIDEN_MAX];
};

static void widen_call(const struct op_call *c, struct widened *w)
{
	unsigned int n = c->num_inputs + c->num_outputs;
	uint64_t own = c->own;

	for (unsigned int i = 0; i < n; i++) {
		struct tensor *t = op_operand(c, i);

		w->operands[i] = t;
		if (!is_half(t))
			continue;
		w->tensors[i] = *t;
		w->tensors[i].type = NNPU_TYPE_TENSOR_FLOAT32;
		w->tensors[i].bytes = t->bytes * 2;
		w->operands[i] = &w->tensors[i];
		/* The copy has no more room than it needs. */
		if (i < c->num_inputs && i < 64)
			own &= ~(1ull << i);
	}
	w->call = *c;
	w->call.widened = false;
	w->call.own = own;
	w->call.in = w->operands;
	w->call.out = w->operands + c->num_inputs;
}

static bool has_output(const struct op_call *c)
{
	unsigned int i = 0;

	while (i < c->num_outputs && !c->out[i]->bytes)
		i++;
	return i < c->num_outputs;
}

size_t op_scratch(const struct op_call *c)
{
	struct widened w;
	size_t own = 0;

	if (!has_output(c))
		return 0;
	if (!c->widened)
		return c->desc->scratch ? c->desc->scratch(c) : 0;
	widen_call(c, &w);
	if (c->desc->scratch)
		own = c->desc->scratch(&w.call);
	for (unsigned int i = 0; i < c->num_inputs + c->num_outputs; i++) {
		if (is_half(op_operand(c, i)))
			own = scratch_add(own, op_operand(c, i)->bytes, 2);
	}
	return own;
}

static bool widen(struct op_pace *pace, const uint16_t *in, float *out, size_t n)
{
	for (size_t at = 0; at < n; at += WIDEN_RUN) {
		kernels_rows()->widen_halves(in + at, n - at < WIDEN_RUN ? n - at : WIDEN_RUN, out + at);
		if (op_pace(pace, WIDEN_RUN))
			return false;
	}
	return true;
}

static bool narrow(struct op_pace *pace, const float *in, uint16_t *out, size_t n)
{
	for (size_t at = 0; at < n; at += WIDEN_RUN) {
		size_t end = n - at < WIDEN_RUN ? n : at + WIDEN_RUN;

		for (size_t i = at; i < end; i++)
			out[i] = float_to_half(in[i]);
		if (op_pace(pace, WIDEN_RUN))
			return false;
	}
	return true;
}

/* Apart: most calls need no room for copies of operands. */
static __attribute__((noinline)) int execute_widened(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	unsigned int n = c->num_inputs + c->num_outputs;
	struct widened w;
	int ret;

	widen_call(c, &w);
	for (unsigned int i = 0; i < n; i++) {
		struct tensor *t = &w.tensors[i];

		if (!is_half(op_operand(c, i)))
			continue;
		t->data = scratch_take(&w.call, t->bytes);
		if (i < c->num_inputs &&
		    !widen(&pace, op_operand(c, i)->data, t->data, tensor_elements(t)))
			return OP_ABORTED;
	}
	ret = c->desc->execute(&w.call);
	for (unsigned int i = c->num_inputs; !ret && i < n; i++) {
		if (is_half(op_operand(c, i)) &&
		    !narrow(&pace, w.tensors[i].data, op_operand(c, i)->data,
			    tensor_elements(&w.tensors[i])))
			return OP_ABORTED;
	}
	return ret;
}

int op_execute(const struct op_call *c)
{
	/*
	 * The dimensions of a tensor without elements may be any. So the steps of a loop over them may be
	 * more than anybody can count.
	 */
	if (!has_output(c))
		return c->desc->check(c);
	return c->widened ? execute_widened(c) : c->desc->execute(c);
}
