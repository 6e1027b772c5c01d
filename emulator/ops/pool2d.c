// SPDX-License-Identifier: MIT
/*
 * AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.
 *
 * Inputs: 0 image, then the window scalars with the filter's width and height.
 * Elements outside of the image do not count: an average divides by the number of
 * elements inside.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "ops.h"
#include "parallel.h"
#include "quant.h"
#include "window.h"

static const struct window_form form = { .first = 1, .extra = 2 };

/* Channels of a pixel that are computed together. */
#define COLS	64

struct pool {
	struct image in, out;
	struct window_span y, x;
	struct qrange qrange;
	struct frange frange;
	uint8_t flip;			/* sign bit of the type's bytes */
	bool max;
	bool squares;			/* L2_POOL_2D */
	const struct row_kernels *k;	/* channels are adjacent; NULL: plain loops */
	struct op_pace *pace;
};

/* Part of the window of one pixel that is inside of the image. */
struct taps {
	uint32_t y_first, y_last, x_first, x_last;
};

int pool2d_check(const struct op_call *c)
{
	struct window w;

	if (op_check_operands(c) ||
	    op_check_type(c, 0, c->desc->op == NNPU_OP_L2_POOL_2D ? TYPES_FLOAT :
			  TYPES_FLOAT | TYPES_QUANT8) ||
	    op_check_same_type(c, op_output(c, 0), 0) ||
	    op_check_same_quant(c, op_output(c, 0), 0) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, op_output(c, 0), 4, 4) ||
	    window_check(c, form))
		return -1;
	return window_read(c, form, &w) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct pool *p, struct window *w)
{
	int ret = window_read(c, form, w);

	if (ret)
		return ret;
	p->in = image_of(c->in[0], w->nchw);
	p->max = c->desc->op == NNPU_OP_MAX_POOL_2D;
	p->squares = c->desc->op == NNPU_OP_L2_POOL_2D;
	if (p->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (window_place(c, w, WINDOW_X, p->in.x, (uint32_t)w->extra[0], &p->x) ||
	    window_place(c, w, WINDOW_Y, p->in.y, (uint32_t)w->extra[1], &p->y))
		return -1;
	return 0;
}

int pool2d_infer(const struct op_call *c)
{
	struct pool p;
	struct window w;
	int ret = geometry(c, &p, &w);

	if (ret)
		return ret;
	image_set_shape(c, w.nchw, p.in.n, p.y.out, p.x.out, p.in.c);
	return 0;
}

/* Element offset of channel @col of the input under a tap. */
static size_t tap_offset(const struct pool *p, uint32_t oy, uint32_t ox, uint32_t ty,
			 uint32_t tx, uint32_t col)
{
	return window_index(&p->y, oy, ty) * p->in.y_stride +
	       window_index(&p->x, ox, tx) * p->in.x_stride + col * p->in.c_stride;
}

/* Inlined, so that a @stride of 1 is a constant. */
#define INLINE	static inline __attribute__((always_inline))

INLINE void add_bytes(const uint8_t *restrict src, const size_t stride, uint8_t flip,
		      unsigned int n, bool max, int32_t *restrict acc)
{
	for (unsigned int i = 0; i < n; i++) {
		int32_t v = (src[i * stride] ^ flip) - flip;

		if (max)
			acc[i] = v > acc[i] ? v : acc[i];
		else
			acc[i] = q_add(acc[i], v);
	}
}

/* Sums divided by @count, halves away from zero. */
static void divide(int32_t *acc, unsigned int n, int64_t count)
{
	/* If a sum of @count bytes fits 32 bits, 32-bit divisions are enough. */
	if (count <= INT32_MAX / 512) {
		int32_t by = (int32_t)count, half = by / 2;

		for (unsigned int i = 0; i < n; i++)
			acc[i] = (acc[i] > 0 ? acc[i] + half : acc[i] - half) / by;
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		int64_t half = acc[i] > 0 ? count / 2 : -(count / 2);

		acc[i] = (int32_t)((acc[i] + half) / count);
	}
}

/* The accumulated values of a pixel's channels; 0 or OP_ABORTED. */
static int quant_pixel(const struct pool *p, const struct taps *t, const uint8_t *in,
		       uint32_t oy, uint32_t ox, uint32_t col, unsigned int n, int32_t *acc)
{
	int64_t count = (int64_t)(t->y_last - t->y_first) * (t->x_last - t->x_first);
	size_t stride = p->in.c_stride;

	for (unsigned int i = 0; i < n; i++)
		acc[i] = p->max ? INT32_MIN : 0;
	for (uint32_t ty = t->y_first; ty < t->y_last; ty++) {
		for (uint32_t tx = t->x_first; tx < t->x_last; tx++) {
			const uint8_t *src = in + tap_offset(p, oy, ox, ty, tx, col);

			if (stride != 1)
				add_bytes(src, stride, p->flip, n, p->max, acc);
			else if (p->max)
				add_bytes(src, 1, p->flip, n, true, acc);
			else
				add_bytes(src, 1, p->flip, n, false, acc);
			if (op_pace_channels(p->pace, tx, n, stride * sizeof(*src), n + 8))
				return OP_ABORTED;
		}
		if (op_pace(p->pace, (t->x_last - t->x_first) % OP_PACE_TAPS * (n + 8) +
			    OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	if (!p->max)
		divide(acc, n, count);
	return 0;
}

static int float_pixel(const struct pool *p, const struct taps *t, const float *in,
		       uint32_t oy, uint32_t ox, uint32_t col, unsigned int n, float *acc)
{
	float count = (float)((uint64_t)(t->y_last - t->y_first) * (t->x_last - t->x_first));
	size_t stride = p->in.c_stride;
	bool first = true;

	for (unsigned int i = 0; i < n; i++)
		acc[i] = 0.0f;
	for (uint32_t ty = t->y_first; ty < t->y_last; ty++) {
		for (uint32_t tx = t->x_first; tx < t->x_last; tx++) {
			const float *src = in + tap_offset(p, oy, ox, ty, tx, col);

			for (unsigned int i = 0; i < n; i++) {
				float v = src[i * stride];

				if (!p->max)
					acc[i] += p->squares ? v * v : v;
				else if (first || v > acc[i])
					acc[i] = v;
			}
			first = false;
			if (op_pace_channels(p->pace, tx, n, stride * sizeof(*src), n + 8))
				return OP_ABORTED;
		}
		if (op_pace(p->pace, (t->x_last - t->x_first) % OP_PACE_TAPS * (n + 8) +
			    OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	for (unsigned int i = 0; !p->max && i < n; i++)
		acc[i] = p->squares ? sqrtf(acc[i] / count) : acc[i] / count;
	return 0;
}

/*
 * Add the channels of a tap, which are adjacent, to what has been accumulated. Sums of floats are
 * for add_row().
 */
static void add_tap(const struct pool *p, bool quant, const void *in, size_t at, unsigned int n,
		    void *acc)
{
	if (quant && p->max)
		p->k->max_bytes((const uint8_t *)in + at, n, p->flip, acc);
	else if (quant)
		p->k->add_bytes((const uint8_t *)in + at, n, p->flip, acc);
	else if (p->max)
		p->k->fmax((const float *)in + at, n, acc);
	else
		p->k->fadd_squares((const float *)in + at, n, acc);
}

/* The taps of a pixel in a row of floats from @at on, which are summed. */
static int add_row(const struct pool *p, const float *in, size_t at, uint32_t taps, unsigned int n,
		   float *acc)
{
	for (uint32_t tx = 0, some; tx < taps; tx += some) {
		some = taps - tx < OP_PACE_TAPS ? taps - tx : OP_PACE_TAPS;
		p->k->add_rows(in + at + tx * p->in.x_stride, p->in.x_stride, some, n, acc);
		if (some == OP_PACE_TAPS && op_pace(p->pace, OP_PACE_TAPS * (n / 4 + 8)))
			return OP_ABORTED;
	}
	return 0;
}

/* All taps of a pixel; @acc has the values to begin with. */
static int add_taps(const struct pool *p, const struct taps *t, bool quant, const void *in,
		    uint32_t oy, uint32_t ox, uint32_t col, unsigned int n, void *acc)
{
	bool is_sum = !quant && !p->max && !p->squares;

	for (uint32_t ty = t->y_first; ty < t->y_last; ty++) {
		size_t at = tap_offset(p, oy, ox, ty, t->x_first, col);

		if (is_sum && add_row(p, in, at, t->x_last - t->x_first, n, acc))
			return OP_ABORTED;
		for (uint32_t tx = t->x_first; !is_sum && tx < t->x_last; tx++, at += p->in.x_stride) {
			add_tap(p, quant, in, at, n, acc);
			if (op_pace_tap(p->pace, tx, n / 4 + 8))
				return OP_ABORTED;
		}
		if (op_pace(p->pace, (t->x_last - t->x_first) % OP_PACE_TAPS * (n / 4 + 8) +
			    OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	return 0;
}

/* The same results as those of quant_pixel(). */
static int quant_row(const struct pool *p, const struct taps *t, const uint8_t *in, uint32_t oy,
		     uint32_t ox, uint32_t col, unsigned int n, int32_t *acc)
{
	int64_t count = (int64_t)(t->y_last - t->y_first) * (t->x_last - t->x_first);
	uint8_t largest[COLS] = { 0 };

	if (!p->max) {
		memset(acc, 0, n * sizeof(*acc));
		if (add_taps(p, t, true, in, oy, ox, col, n, acc))
			return OP_ABORTED;
		if (count && count <= ROW_COUNT)
			p->k->divide(acc, n, (int32_t)count);
		else
			divide(acc, n, count);
		return 0;
	}
	if (add_taps(p, t, true, in, oy, ox, col, n, largest))
		return OP_ABORTED;
	for (unsigned int i = 0; i < n; i++)
		acc[i] = largest[i] - p->flip;
	return 0;
}

/*
 * The same results as those of float_pixel(). The largest value begins with that of the first
 * tap, which may be a NaN, as there.
 */
static int float_row(const struct pool *p, const struct taps *t, const float *in, uint32_t oy,
		     uint32_t ox, uint32_t col, unsigned int n, float *acc)
{
	float count = (float)((uint64_t)(t->y_last - t->y_first) * (t->x_last - t->x_first));

	if (p->max && count > 0)
		memcpy(acc, in + tap_offset(p, oy, ox, t->y_first, t->x_first, col),
		       n * sizeof(*acc));
	else
		memset(acc, 0, n * sizeof(*acc));
	if (add_taps(p, t, false, in, oy, ox, col, n, acc))
		return OP_ABORTED;
	if (!p->max)
		p->k->fdivide(acc, n, count);
	for (unsigned int i = 0; p->squares && i < n; i++)
		acc[i] = sqrtf(acc[i]);
	return 0;
}

/* Channels [col, col + n) of one output pixel; 0 or OP_ABORTED. */
static int pool_pixel(const struct op_call *c, const struct pool *p, uint32_t batch,
		      uint32_t oy, uint32_t ox, uint32_t col, unsigned int n)
{
	size_t in = batch * p->in.n_stride;
	size_t out = batch * p->out.n_stride + oy * p->out.y_stride + ox * p->out.x_stride +
		     col * p->out.c_stride;
	struct taps t;

	window_taps(&p->y, oy, &t.y_first, &t.y_last);
	window_taps(&p->x, ox, &t.x_first, &t.x_last);
	if (type_is_quant8(c->in[0]->type)) {
		uint8_t *dst = (uint8_t *)c->out[0]->data + out;
		int32_t acc[COLS];

		if ((p->k ? quant_row : quant_pixel)(p, &t, (const uint8_t *)c->in[0]->data + in,
						     oy, ox, col, n, acc))
			return OP_ABORTED;
		for (unsigned int i = 0; i < n; i++)
			dst[i * p->out.c_stride] =
				(uint8_t)q_clamp(acc[i], p->qrange.min, p->qrange.max);
	} else {
		float *dst = (float *)c->out[0]->data + out;
		float acc[COLS];

		if ((p->k ? float_row : float_pixel)(p, &t, (const float *)c->in[0]->data + in,
						     oy, ox, col, n, acc))
			return OP_ABORTED;
		for (unsigned int i = 0; i < n; i++)
			dst[i * p->out.c_stride] = f_clamp(acc[i], p->frange.min, p->frange.max);
	}
	return 0;
}

/* A call. Its parts share it: up to COLS channels of a pixel each. */
struct pool_call {
	const struct op_call *c;
	struct pool pool;
	uint32_t blocks;		/* of channels */
};

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct pool_call *call = work;
	struct pool p = call->pool;

	p.pace = pace;
	for (size_t i = first; i < end; i++) {
		uint32_t col = (uint32_t)(i % call->blocks) * COLS, left = p.out.c - col;
		size_t pixel = i / call->blocks;
		uint32_t ox = (uint32_t)(pixel % p.out.x), oy;

		pixel /= p.out.x;
		oy = (uint32_t)(pixel % p.out.y);
		if (pool_pixel(call->c, &p, (uint32_t)(pixel / p.out.y), oy, ox, col,
			       left < COLS ? left : COLS))
			return OP_ABORTED;
	}
	return 0;
}

int pool2d_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct pool_call call = { .c = c };
	struct op_parts parts = { .compute = execute_part, .work = &call };
	struct window w;
	struct pool p;

	if (geometry(c, &p, &w))
		return -1;
	p.out = image_of(c->out[0], w.nchw);
	p.flip = c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : 0x80;
	p.frange = frange_of(w.activation);
	p.pace = NULL;
	p.k = p.in.c_stride == 1 && !kernels_plain() ? kernels_rows() : NULL;
	if (type_is_quant8(c->out[0]->type))
		p.qrange = qrange_of(w.activation, c->out[0]);

	call.pool = p;
	call.blocks = (p.out.c - 1) / COLS + 1;
	parts.items = (size_t)p.out.n * p.out.y * p.out.x * call.blocks;
	if (__builtin_mul_overflow((size_t)p.y.taps * p.x.taps,
				   (p.out.c < COLS ? p.out.c : COLS) + 8, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}
