// SPDX-License-Identifier: MIT
/*
 * MEAN, REDUCE_SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL and REDUCE_ANY.
 *
 * Inputs: 0 tensor, 1 list of dimensions to reduce, 2 whether they stay with size 1
 * (an INT32 for MEAN, else a BOOL).
 */
#include <float.h>
#include <math.h>

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
	float real;
	int64_t whole;
};

static struct sum first_value(enum nnpu_operation op)
{
	switch (op) {
	case NNPU_OP_REDUCE_PROD:
		return (struct sum){ 1.0f, 0 };
	case NNPU_OP_REDUCE_MAX:
		return (struct sum){ -FLT_MAX, INT64_MIN };
	case NNPU_OP_REDUCE_MIN:
		return (struct sum){ FLT_MAX, INT64_MAX };
	case NNPU_OP_REDUCE_ALL:
		return (struct sum){ 0.0f, 1 };
	default:
		return (struct sum){ 0.0f, 0 };
	}
}

static void add_real(enum nnpu_operation op, struct sum *s, float v)
{
	switch (op) {
	case NNPU_OP_REDUCE_PROD:
		s->real *= v;
		break;
	case NNPU_OP_REDUCE_MAX:
		s->real = v > s->real || isnan(v) ? v : s->real;
		break;
	case NNPU_OP_REDUCE_MIN:
		s->real = v < s->real || isnan(v) ? v : s->real;
		break;
	default:
		s->real += v;
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
		((float *)out->data)[i] = is_mean(c) ? s->real / (float)count : s->real;
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
 * A call. Its parts share it. Elements are processed in order for each output; which outputs are
 * computed side by side depends on what lies in the last dimensions:
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

/* Take the last loop out, with those that go on where it ends: @n steps, @step apart. */
static void take_last(struct loops *l, size_t *n, ptrdiff_t *step)
{
	*n = 1;
	*step = 0;
	while (l->rank && (*n == 1 || l->dims[l->rank - 1].n == 1 ||
			   l->dims[l->rank - 1].in == *step * (ptrdiff_t)*n)) {
		const struct nd_dim *d = &l->dims[--l->rank];

		if (d->n != 1 && *n == 1)
			*step = d->in;
		*n *= d->n;
	}
	l->total /= *n;
}

/* Choose the form. Shapes have no dimension of 0. */
static void choose_form(struct reduction *r)
{
	struct loops kept = r->kept;
	enum nnpu_operation op = r->c->desc->op;
	bool is_float = r->c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32;
	ptrdiff_t apart;
	size_t n;

	if (kernels_plain() || (op != NNPU_OP_MEAN && op != NNPU_OP_REDUCE_SUM))
		return;
	take_last(&kept, &n, &apart);
	if (apart == 1 && (is_float || r->count <= INT32_MAX / 256)) {
		r->form = RUN;
		r->kept = kept;
		r->inner = n;
		return;
	}
	/* If an output's elements are not adjacent, those that a RUN takes next would be. */
	if (apart == 1)
		return;
	r->form = ROWS;
	take_last(&r->reduced, &r->inner, &apart);
	r->rows = 1;
	/* Kept dimensions right in front of the row. */
	kept = r->kept;
	take_last(&kept, &n, &apart);
	if (is_float && n >= ROW_PRODUCTS && apart == (ptrdiff_t)r->inner) {
		r->kept = kept;
		r->rows = n;
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
	size_t apart = step_bytes(r);

	for (size_t j = 0; j < r->reduced.total; j++) {
		if (in->type == NNPU_TYPE_TENSOR_FLOAT32)
			add_real(op, &s, ((const float *)in->data)[base]);
		else if (in->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED)
			add_whole(op, &s, ((const int8_t *)in->data)[base]);
		else
			add_whole(op, &s, ((const uint8_t *)in->data)[base]);
		loops_step(&r->reduced, index, &base);
		if (op_pace_strided(pace, j, apart, 4))
			return OP_ABORTED;
	}
	store(r->c, out, &s, r->count);
	return op_pace(pace, op_pace_rest(r->reduced.total, apart, 4) + 16) ? OP_ABORTED : 0;
}

/* Outputs [out, out + n), which are adjacent as their elements are. */
static int run_outputs(const struct reduction *r, ptrdiff_t base, size_t out, size_t n,
		       struct op_pace *pace)
{
	const struct tensor *in = r->c->in[0];
	size_t index[NNPU_MAX_RANK] = { 0 };
	int32_t whole[BLOCK] = { 0 };
	float real[BLOCK] = { 0 };

	for (size_t j = 0; j < r->reduced.total; j++) {
		if (in->type == NNPU_TYPE_TENSOR_FLOAT32)
			r->k->fadd((const float *)in->data + base, n, real);
		else
			r->k->add_bytes((const uint8_t *)in->data + base, n, flip_of(in), whole);
		loops_step(&r->reduced, index, &base);
		if (op_pace(pace, n / 4 + 8))
			return OP_ABORTED;
	}
	for (size_t i = 0; i < n; i++)
		store(r->c, out + i, &(struct sum){ real[i], whole[i] }, r->count);
	return op_pace(pace, n * 4) ? OP_ABORTED : 0;
}

/* Sums of ROW_PRODUCTS rows of floats, from @base on: products with 1. */
static int sum_rows(const struct reduction *r, ptrdiff_t base, float *sums, struct op_pace *pace)
{
	const float *in = r->c->in[0]->data;
	size_t index[NNPU_MAX_RANK] = { 0 };
	float ones[BLOCK];

	for (size_t i = 0; i < BLOCK; i++)
		ones[i] = 1.0f;
	for (size_t j = 0; j < r->reduced.total; j++) {
		for (size_t at = 0, n; at < r->inner; at += n) {
			n = r->inner - at < BLOCK ? r->inner - at : BLOCK;
			r->k->products(in + base + at, r->inner, ones, n, sums);
			if (op_pace(pace, n * 2 + 8))
				return OP_ABORTED;
		}
		loops_step(&r->reduced, index, &base);
	}
	return 0;
}

/* The sum of a row of floats by itself. */
static int sum_row(const struct reduction *r, ptrdiff_t base, float *sum, struct op_pace *pace)
{
	size_t index[NNPU_MAX_RANK] = { 0 };

	for (size_t j = 0; j < r->reduced.total; j++) {
		const float *in = (const float *)r->c->in[0]->data + base;

		for (size_t i = 0; i < r->inner; i++) {
			*sum += in[i];
			if (op_pace_row(pace, i, 1))
				return OP_ABORTED;
		}
		loops_step(&r->reduced, index, &base);
		if (op_pace(pace, r->inner % OP_PACE_RUN + 8))
			return OP_ABORTED;
	}
	return 0;
}

/* Outputs [out, out + n) of rows of floats. */
static int float_rows(const struct reduction *r, ptrdiff_t base, size_t row, size_t out, size_t n,
		      struct op_pace *pace)
{
	float sum = 0.0f;

	if (r->rows == 1) {
		if (sum_row(r, base, &sum, pace))
			return OP_ABORTED;
		store(r->c, out, &(struct sum){ sum, 0 }, r->count);
		return 0;
	}
	for (size_t i = 0; i < n;) {
		/* The last rows may have been summed before. */
		size_t from = r->rows - row - i < ROW_PRODUCTS ? r->rows - ROW_PRODUCTS : row + i;
		float sums[ROW_PRODUCTS] = { 0 };

		if (sum_rows(r, base + (ptrdiff_t)(from * r->inner), sums, pace))
			return OP_ABORTED;
		for (; i < n && row + i < from + ROW_PRODUCTS; i++)
			store(r->c, out + i, &(struct sum){ sums[row + i - from], 0 }, r->count);
	}
	return 0;
}

/* One output of rows of bytes. */
static int byte_rows(const struct reduction *r, ptrdiff_t base, size_t out, struct op_pace *pace)
{
	const struct tensor *in = r->c->in[0];
	size_t index[NNPU_MAX_RANK] = { 0 };
	struct sum s = { 0 };

	for (size_t j = 0; j < r->reduced.total; j++) {
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
	size_t index[NNPU_MAX_RANK];
	int ret = 0;

	for (size_t i = first; !ret && i < end; i++) {
		size_t outer = i / r->blocks, at = i % r->blocks * BLOCK;
		size_t n = width - at < BLOCK ? width - at : BLOCK, out = outer * width + at;
		ptrdiff_t base = loops_at(&r->kept, outer, index);

		if (r->form == RUN)
			ret = run_outputs(r, base + (ptrdiff_t)at, out, n, pace);
		else if (r->form == ANY)
			ret = any_output(r, base, out, pace);
		else if (r->c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32)
			ret = float_rows(r, base, at, out, n, pace);
		else
			ret = byte_rows(r, base, out, pace);
	}
	return ret;
}

int reduce_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct reduction r = { .c = c, .k = kernels_rows() };
	struct op_parts parts = { .compute = execute_part, .work = &r };
	size_t width;
	unsigned int mask;

	if (reduced_dims(c, &mask))
		return -1;
	if (c->out[0]->bytes == 0)
		return 0;
	r.kept = loops_over(c->in[0], ~mask);
	r.reduced = loops_over(c->in[0], mask);
	r.count = r.reduced.total;
	if (r.count)
		choose_form(&r);
	width = r.form == RUN ? r.inner : r.form == ROWS ? r.rows : 1;
	r.blocks = (width - 1) / BLOCK + 1;
	parts.items = r.kept.total * r.blocks;
	if (__builtin_mul_overflow(r.count, (width < BLOCK ? width : BLOCK) / 4 + 1, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}
