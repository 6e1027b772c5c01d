// SPDX-License-Identifier: MIT
/*
 * MEAN, REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL and REDUCE_ANY.
 *
 * Inputs: 0 tensor, 1 list of dimensions to reduce, 2 whether they stay with size 1
 * (an INT32 for MEAN, else a BOOL).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "float_quads.h"
#include "kernels.h"
#include "parallel.h"
#include "quant.h"
#include "reduce_loops.h"

static bool is_mean(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_MEAN;
}

static uint32_t types_of(enum nnpu_operation op)
{
	switch (op) {
	case NNPU_OP_REDUCE_ALL:
	case NNPU_OP_REDUCE_ANY:
		return TYPE_BIT(TENSOR_BOOL8);
	case NNPU_OP_REDUCE_SUM:
	case NNPU_OP_REDUCE_PROD:
		return TYPES_FLOAT;
	default:
		return TYPES_FLOAT | TYPES_QUANT8;
	}
}

int reduce_check(const struct op_call *c)
{
	return op_check_moved(c, types_of(c->desc->op), OP_MAX_RANK) || op_check_list(c, 1) ||
	       op_check_type(c, 2, is_mean(c) ? TYPE_BIT(INT32) : TYPE_BIT(BOOL)) ? -1 : 0;
}

static int keeps_dims(const struct op_call *c, bool *keep)
{
	int32_t v;

	if (!is_mean(c))
		return op_get_bool(c, 2, keep);
	if (op_get_i32(c, 2, &v))
		return 1;
	*keep = v > 0;
	return 0;
}

int reduce_infer(const struct op_call *c)
{
	unsigned int mask;
	bool keep;
	int ret;

	if (op_check_rank(c, 0, 1, OP_MAX_RANK))
		return -1;
	ret = reduced_dims(c, &mask);
	if (!ret)
		ret = keeps_dims(c, &keep);
	if (ret)
		return ret;
	reduce_set_shape(c, mask, keep);
	return 0;
}

struct sum {
	float real[ROW_PARTS];		/* beyond the first one: of MEAN and REDUCE_SUM only */
	int64_t whole;
};

static bool is_sum(const struct op_call *c)
{
	return is_mean(c) || c->desc->op == NNPU_OP_REDUCE_SUM;
}

static struct sum first_value(enum nnpu_operation op)
{
	switch (op) {
	case NNPU_OP_REDUCE_PROD:
		return (struct sum){ { 1.0f }, 0 };
	case NNPU_OP_REDUCE_MAX:
		return (struct sum){ { -FLT_MAX }, INT64_MIN };
	case NNPU_OP_REDUCE_MIN:
		return (struct sum){ { FLT_MAX }, INT64_MAX };
	case NNPU_OP_REDUCE_ALL:
		return (struct sum){ { 0.0f }, 1 };
	default:
		return (struct sum){ { 0.0f }, 0 };
	}
}

/* Element @i of an output. */
static void add_real(enum nnpu_operation op, struct sum *s, size_t i, float v)
{
	float *real = s->real;

	switch (op) {
	case NNPU_OP_REDUCE_PROD:
		*real *= v;
		break;
	case NNPU_OP_REDUCE_MAX:
		*real = v > *real || isnan(v) ? v : *real;
		break;
	case NNPU_OP_REDUCE_MIN:
		*real = v < *real || isnan(v) ? v : *real;
		break;
	default:
		real[i % ROW_PARTS] += v;
		break;
	}
}

static void add_whole(enum nnpu_operation op, struct sum *s, int32_t v)
{
	switch (op) {
	case NNPU_OP_REDUCE_MAX:
		s->whole = v > s->whole ? v : s->whole;
		break;
	case NNPU_OP_REDUCE_MIN:
		s->whole = v < s->whole ? v : s->whole;
		break;
	case NNPU_OP_REDUCE_ALL:
		s->whole &= v != 0;
		break;
	case NNPU_OP_REDUCE_ANY:
		s->whole |= v != 0;
		break;
	default:
		s->whole += v;
		break;
	}
}

static void store(const struct op_call *c, size_t i, const struct sum *s, size_t count)
{
	const struct tensor *out = c->out[0];
	int64_t v = s->whole;

	if (out->type == NNPU_TYPE_TENSOR_FLOAT32) {
		float real = is_sum(c) ? row_total_of_parts(s->real, 1) : *s->real;

		((float *)out->data)[i] = is_mean(c) ? real / (float)count : real;
		return;
	}
	if (type_is_quant8(out->type)) {
		if (is_mean(c))
			v = count ? v / (int64_t)count : out->zero_point;
		/* The maximum and minimum of no elements lie outside of the type. */
		v = v < q_type_min(out->type) ? q_type_min(out->type) : v;
		v = v > q_type_max(out->type) ? q_type_max(out->type) : v;
	}
	((uint8_t *)out->data)[i] = (uint8_t)v;
}

/*
 * A call. Its parts share it. Elements are processed in order for each output, those of sums of floats
 * for each of its parts: see row_kernels.h. Which outputs are computed side by side depends on what
 * lies in the last dimensions:
 *	RUN	outputs: @inner are adjacent, and so are the elements that they take next
 *	ROWS	elements: @inner of an output are adjacent, and the rows of @rows outputs are
 *	ANY	either; plain loops
 */
struct reduction {
	const struct op_call *c;
	const struct row_kernels *k;
	struct loops kept, reduced;	/* beside @inner and @rows */
	enum { ANY, RUN, ROWS } form;
	size_t inner, rows;
	/* Of a RUN of floats: steps of the innermost loop that is reduced, and their distance. */
	size_t steps, step;
	size_t jump;			/* units of a step of @reduced, see loops_jump_units() */
	size_t count;			/* elements of an output */
	size_t blocks;			/* of @inner or @rows, see BLOCK */
};

/* Outputs of a part: at most so many of @inner, or of @rows. */
#define BLOCK	256u

/* Of the sign bit of a byte, as row_kernels.h has it. */
static uint8_t flip_of(const struct tensor *t)
{
	return t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : 0x80;
}

/* Offset and indices of step @i of the loops. */
static ptrdiff_t loops_at(const struct loops *l, size_t i, size_t *index)
{
	ptrdiff_t at = 0;

	for (unsigned int d = l->rank; d-- > 0; i /= l->dims[d].n) {
		index[d] = i % l->dims[d].n;
		at += (ptrdiff_t)index[d] * l->dims[d].in;
	}
	return at;
}

/* The last loop; one step if there is none. */
static struct nd_dim last_of(const struct loops *l)
{
	return l->rank ? l->dims[l->rank - 1] : (struct nd_dim){ .n = 1 };
}

/* Take it out. */
static void take_last(struct loops *l)
{
	if (l->rank)
		l->total /= l->dims[--l->rank].n;
}

/* Choose the form. Shapes have no dimension of 0. */
static void choose_form(struct reduction *r)
{
	struct nd_dim kept = last_of(&r->kept), reduced = last_of(&r->reduced);
	bool is_float = r->c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32;

	if (kernels_plain() || !is_sum(r->c))
		return;
	if (kept.in == 1) {
		/* If an output's elements are not adjacent, those that a RUN takes next would be. */
		if (!is_float && r->count > INT32_MAX / 256)
			return;
		r->form = RUN;
		r->inner = kept.n;
		take_last(&r->kept);
		if (is_float) {
			r->steps = reduced.n;
			r->step = (size_t)reduced.in;
			take_last(&r->reduced);
		}
		return;
	}
	r->form = ROWS;
	r->inner = reduced.n;
	take_last(&r->reduced);
	r->rows = 1;
	/* Kept dimensions right in front of the row. */
	if (is_float && kept.in == (ptrdiff_t)r->inner) {
		r->rows = kept.n;
		take_last(&r->kept);
	}
}

/* How far the elements of an output are apart, most of them. */
static size_t step_bytes(const struct reduction *r)
{
	const struct loops *l = &r->reduced;

	return l->rank ? (size_t)l->dims[l->rank - 1].in * type_size(r->c->in[0]->type) : 0;
}

static int any_output(const struct reduction *r, ptrdiff_t base, size_t out, struct op_pace *pace)
{
	enum nnpu_operation op = r->c->desc->op;
	const struct tensor *in = r->c->in[0];
	size_t index[NNPU_MAX_RANK] = { 0 };
	struct sum s = first_value(op);
	size_t apart = step_bytes(r), jump = r->jump;

	/* op_pace_strided() counts elements that are all that far apart. */
	if (apart >= OP_PACE_LINE)
		jump = 0;
	for (size_t j = 0; j < r->reduced.total; j++) {
		if (in->type == NNPU_TYPE_TENSOR_FLOAT32)
			add_real(op, &s, j, ((const float *)in->data)[base]);
		else if (in->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED)
			add_whole(op, &s, ((const int8_t *)in->data)[base]);
		else
			add_whole(op, &s, ((const uint8_t *)in->data)[base]);
		loops_step(&r->reduced, index, &base);
		if ((jump && op_pace(pace, jump)) || op_pace_strided(pace, j, apart, 4))
			return OP_ABORTED;
	}
	store(r->c, out, &s, r->count);
	return op_pace(pace, op_pace_rest(r->reduced.total, apart, 4) + 16) ? OP_ABORTED : 0;
}

/* Units of one call of a kernel, as op_pace() counts. */
#define CALL_UNITS	(OP_PACE_UNITS / 8)

/* Outputs [out, out + n) of floats: they hold their sums, which MEAN divides. */
static void finish_sums(const struct reduction *r, size_t out, size_t n)
{
	if (is_mean(r->c))
		r->k->fdivide((float *)r->c->out[0]->data + out, n, (float)r->count);
}

/* Sums of which the parts are @n apart. */
static void add_parts(const float *parts, size_t n, float *to)
{
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		const float *p = parts + i;
		float_quad low = *(const float_quad *)p + *(const float_quad *)(p + n);
		float_quad high = *(const float_quad *)(p + 2 * n) + *(const float_quad *)(p + 3 * n);

		*(float_quad *)(to + i) = low + high;
	}
	for (; i < n; i++)
		to[i] = row_total_of_parts(parts + i, n);
}

/* Outputs [out, out + n) of floats, which are adjacent as their elements are. */
static int float_run(const struct reduction *r, ptrdiff_t base, size_t out, size_t n,
		     struct op_pace *pace)
{
	size_t apart = r->step * sizeof(float) < OP_PACE_LINE ? 8 : OP_PACE_RUN_APART;
	size_t units = n / 4 + apart, most = CALL_UNITS / units, done = 0;
	const float *in = r->c->in[0]->data;
	size_t index[NNPU_MAX_RANK] = { 0 };
	float parts[ROW_PARTS * BLOCK];

	memset(parts, 0, ROW_PARTS * n * sizeof(*parts));
	for (size_t j = 0; j < r->reduced.total; j++) {
		if (op_pace(pace, r->jump))
			return OP_ABORTED;
		for (size_t at = 0, steps; at < r->steps; at += steps, done += steps) {
			steps = r->steps - at < most ? r->steps - at : most;
			r->k->sum_columns(in + base + at * r->step, r->step, steps, n,
					  done % ROW_PARTS, parts, n);
			if (op_pace(pace, steps * units))
				return OP_ABORTED;
		}
		loops_step(&r->reduced, index, &base);
	}
	add_parts(parts, n, (float *)r->c->out[0]->data + out);
	finish_sums(r, out, n);
	return op_pace(pace, n) ? OP_ABORTED : 0;
}

/* The same for bytes. */
static int byte_run(const struct reduction *r, ptrdiff_t base, size_t out, size_t n,
		    struct op_pace *pace)
{
	const struct tensor *in = r->c->in[0];
	size_t index[NNPU_MAX_RANK] = { 0 };
	int32_t sums[BLOCK] = { 0 };

	for (size_t j = 0; j < r->reduced.total; j++) {
		r->k->add_bytes((const uint8_t *)in->data + base, n, flip_of(in), sums);
		loops_step(&r->reduced, index, &base);
		if (op_pace(pace, n / 4 + 8 + r->jump))
			return OP_ABORTED;
	}
	for (size_t i = 0; i < n; i++)
		store(r->c, out + i, &(struct sum){ .whole = sums[i] }, r->count);
	return op_pace(pace, n * 4) ? OP_ABORTED : 0;
}

/* Outputs [out, out + n) of rows of floats. */
static int float_rows(const struct reduction *r, ptrdiff_t base, size_t out, size_t n,
		      struct op_pace *pace)
{
	float parts[ROW_PARTS * BLOCK], *to = (float *)r->c->out[0]->data + out;
	size_t units = n / 8 + 1, most = CALL_UNITS / units, done = 0;
	const float *in = r->c->in[0]->data;
	size_t index[NNPU_MAX_RANK] = { 0 };

	memset(parts, 0, ROW_PARTS * n * sizeof(*parts));
	for (size_t j = 0; j < r->reduced.total; j++) {
		if (op_pace(pace, r->jump))
			return OP_ABORTED;
		for (size_t at = 0, length; at < r->inner; at += length, done += length) {
			length = r->inner - at < most ? r->inner - at : most;
			r->k->sum_rows(in + base + at, r->inner, n, length, done % ROW_PARTS, parts);
			if (op_pace(pace, length * units + n))
				return OP_ABORTED;
		}
		loops_step(&r->reduced, index, &base);
	}
	for (size_t i = 0; i < n; i++)
		to[i] = row_total_of_parts(parts + i * ROW_PARTS, 1);
	finish_sums(r, out, n);
	return op_pace(pace, n) ? OP_ABORTED : 0;
}

/* One output of rows of bytes. */
static int byte_rows(const struct reduction *r, ptrdiff_t base, size_t out, struct op_pace *pace)
{
	const struct tensor *in = r->c->in[0];
	size_t index[NNPU_MAX_RANK] = { 0 };
	struct sum s = { 0 };

	for (size_t j = 0; j < r->reduced.total; j++) {
		if (op_pace(pace, r->jump))
			return OP_ABORTED;
		for (size_t at = 0, n; at < r->inner; at += n) {
			n = r->inner - at < OP_PACE_RUN ? r->inner - at : OP_PACE_RUN;
			s.whole += r->k->sum_bytes((const uint8_t *)in->data + base + at, n,
						   flip_of(in));
			if (op_pace(pace, n / 4 + 8))
				return OP_ABORTED;
		}
		loops_step(&r->reduced, index, &base);
	}
	store(r->c, out, &s, r->count);
	return op_pace(pace, 16) ? OP_ABORTED : 0;
}

/* Item @i: a block of outputs at a step of the kept loops. */
static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct reduction *r = work;
	size_t width = r->form == RUN ? r->inner : r->form == ROWS ? r->rows : 1;
	bool is_float = r->c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32;
	size_t index[NNPU_MAX_RANK];
	int ret = 0;

	for (size_t i = first; !ret && i < end; i++) {
		size_t outer = i / r->blocks, at = i % r->blocks * BLOCK;
		size_t n = width - at < BLOCK ? width - at : BLOCK, out = outer * width + at;
		ptrdiff_t base = loops_at(&r->kept, outer, index);

		if (r->form == ANY)
			ret = any_output(r, base, out, pace);
		else if (r->form == RUN)
			ret = (is_float ? float_run : byte_run)(r, base + (ptrdiff_t)at, out, n, pace);
		else if (is_float)
			ret = float_rows(r, base + (ptrdiff_t)(at * r->inner), out, n, pace);
		else
			ret = byte_rows(r, base, out, pace);
	}
	return ret;
}

int reduce_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct reduction r;
	struct op_parts parts = { .compute = execute_part, .work = &r };
	size_t width;
	unsigned int mask;

	if (reduced_dims(c, &mask))
		return -1;
	r.c = c;
	r.k = kernels_rows();
	r.form = ANY;
	loops_over(c->in[0], mask, &r.kept, &r.reduced);
	r.count = r.reduced.total;
	if (r.count)
		choose_form(&r);
	r.jump = loops_jump_units(&r.reduced, type_size(c->in[0]->type));
	width = r.form == RUN ? r.inner : r.form == ROWS ? r.rows : 1;
	r.blocks = (width - 1) / BLOCK + 1;
	parts.items = r.kept.total * r.blocks;
	if (parts.items == 1)
		return execute_part(&r, 0, 1, &pace);
	if (__builtin_mul_overflow(r.count, (width < BLOCK ? width : BLOCK) / 4 + 1, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}
