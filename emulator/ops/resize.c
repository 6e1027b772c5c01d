// SPDX-License-Identifier: MIT
/*
 * RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR.
 *
 * Inputs: 0 image, 1 width and 2 height of the output (INT32) or factors to the input's
 * (a float), then optionally 3 the layout flag, 4 align corners, 5 half pixel centers.
 */
#include <math.h>
#include <string.h>

#include "kernels.h"
#include "ops.h"
#include "parallel.h"
#include "quant.h"
#include "window.h"

struct resize {
	struct image in, out;
	bool bilinear, nchw, align, half;
	float step_y, step_x;		/* from an output to the next, in inputs */
	size_t apart;			/* channels, bytes */
	/* What counts beside the channels: of a row, and of each pixel if they lie apart in the input. */
	size_t row_units, pixel_units;
};

int resize_check(const struct op_call *c)
{
	if (op_check_moved(c, TYPES_FLOAT | TYPES_QUANT8, OP_MAX_RANK) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, op_output(c, 0), 4, 4))
		return -1;
	if (c->in[1]->type == NNPU_TYPE_INT32) {
		if (op_check_type(c, 2, TYPE_BIT(INT32)))
			return -1;
	} else if (op_check_float_scalar(c, 1) || op_check_float_scalar(c, 2)) {
		return -1;
	}
	for (unsigned int i = 3; i < c->num_inputs; i++) {
		if (op_check_type(c, i, TYPE_BIT(BOOL)))
			return -1;
	}
	return 0;
}

/* The output's size along an axis with @in elements, as operand @i says. */
static int output_size(const struct op_call *c, unsigned int i, uint32_t in, uint32_t *out)
{
	int32_t v = 0;
	float factor;

	if (c->in[i]->type == NNPU_TYPE_INT32) {
		if (op_get_i32(c, i, &v))
			return 1;
	} else {
		if (op_get_f32(c, i, &factor))
			return 1;
		factor *= (float)in;
		if (factor >= 1.0f && factor < 2147483648.0f)
			v = (int32_t)factor;
	}
	if (v < 1)
		return op_fail(c, NNPU_REASON_VALUE, i);
	*out = (uint32_t)v;
	return 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct resize *r)
{
	bool *flags[] = { &r->nchw, &r->align, &r->half };
	int ret;

	*r = (struct resize){ 0 };
	if (op_check_rank(c, 0, 4, 4))
		return -1;
	for (unsigned int i = 3; i < c->num_inputs; i++) {
		if (op_get_bool(c, i, flags[i - 3]))
			return 1;
	}
	if (r->align && r->half)
		return op_fail(c, NNPU_REASON_VALUE, 5);
	r->in = image_of(c->in[0], r->nchw);
	if (r->in.y == 0 || r->in.x == 0 || r->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	ret = output_size(c, 1, r->in.x, &r->out.x);
	return ret ? ret : output_size(c, 2, r->in.y, &r->out.y);
}

int resize_infer(const struct op_call *c)
{
	struct resize r;
	int ret = geometry(c, &r);

	if (ret)
		return ret;
	image_set_shape(c, r.nchw, r.in.n, r.out.y, r.out.x, r.in.c);
	return 0;
}

/* Are the channels of a pixel adjacent? Those of one pixel are in either layout. */
static bool adjacent(const struct resize *r)
{
	return r->in.c_stride == 1 && r->out.c_stride == 1;
}

static float step_of(const struct resize *r, uint32_t in, uint32_t out)
{
	return r->align && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
}

/* What position @i of the output is in the input. */
static float source(const struct resize *r, uint32_t i, float step)
{
	return ((float)i + (r->half ? 0.5f : 0.0f)) * step;
}

/* floorf(); a call of that takes longer where the CPU has no instruction for it. */
static inline float round_down(float v)
{
	float whole;

	if (!(v > -0x1p30f && v < 0x1p30f))
		return floorf(v);
	whole = (float)(int32_t)v;
	return whole > v ? whole - 1.0f : whole;
}

static uint32_t nearest(const struct resize *r, uint32_t i, uint32_t in, float step)
{
	float at = source(r, i, step);

	at = r->align ? roundf(at) : round_down(at);
	return at >= (float)(in - 1) ? in - 1 : (uint32_t)at;
}

/* Two neighbours and the weight of the second. */
struct between {
	uint32_t low, high;
	float weight;
};

static struct between neighbours(const struct resize *r, uint32_t i, uint32_t in, float step)
{
	float at = source(r, i, step) - (r->half ? 0.5f : 0.0f);
	float low = round_down(at), high = low < at ? low + 1.0f : low, last = (float)(in - 1);
	struct between b;

	low = low < 0.0f ? 0.0f : low > last ? last : low;
	high = high < 0.0f ? 0.0f : high > last ? last : high;
	b.low = (uint32_t)low < in ? (uint32_t)low : in - 1;
	b.high = (uint32_t)high < in ? (uint32_t)high : in - 1;
	b.weight = at - low;
	return b;
}

static void bilinear_pixel(struct op_pace *pace, const struct op_call *c, const struct resize *r,
			   size_t in, size_t out, const struct between *y,
			   const struct between *x)
{
	const struct tensor *t = c->in[0];
	size_t rows[2] = { in + y->low * r->in.y_stride, in + y->high * r->in.y_stride };
	size_t cols[2] = { x->low * r->in.x_stride, x->high * r->in.x_stride };

	for (uint32_t i = 0; i < r->in.c && !op_pace_strided(pace, i, r->apart, 16); i++) {
		size_t at = i * r->in.c_stride;
		float v = (float)tensor_number(t, rows[0] + cols[0] + at) *
			  (1.0f - y->weight) * (1.0f - x->weight) +
			  (float)tensor_number(t, rows[1] + cols[0] + at) *
			  y->weight * (1.0f - x->weight) +
			  (float)tensor_number(t, rows[0] + cols[1] + at) *
			  (1.0f - y->weight) * x->weight +
			  (float)tensor_number(t, rows[1] + cols[1] + at) *
			  y->weight * x->weight;

		at = out + i * r->out.c_stride;
		if (t->type == NNPU_TYPE_TENSOR_FLOAT32)
			((float *)c->out[0]->data)[at] = v;
		else
			((uint8_t *)c->out[0]->data)[at] =
				(uint8_t)q_clamp((int32_t)floorf(v + 0.5f), q_type_min(t->type),
						 q_type_max(t->type));
	}
}

/* Pixels of a row whose neighbours are found out at once. */
#define COLUMNS		256u

/* Units of one call of a kernel, as op_pace() counts. */
#define CALL_UNITS	(OP_PACE_UNITS / 8)

/* Elements of the first pixel of some in a row, in both images. */
struct pixel_place {
	size_t in, out;
};

/* @n pixels of a row whose channels are adjacent, with these columns. */
static int bilinear_pixels(struct op_pace *pace, const struct op_call *c, const struct resize *r,
			   const struct row_kernels *k, struct pixel_place at,
			   const struct between *y, const struct between_columns *columns, size_t n)
{
	size_t size = type_size(c->in[0]->type), channels, units, most;
	uint8_t flip = c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : 0x80;

	if (op_pace(pace, r->row_units))
		return OP_ABORTED;
	for (size_t first = 0; first < r->in.c; first += channels) {
		const char *from = (const char *)c->in[0]->data + (at.in + first) * size;
		char *to = (char *)c->out[0]->data + (at.out + first) * size;
		struct between_pixels p = {
			.top = from + y->low * r->in.y_stride * size,
			.bottom = from + y->high * r->in.y_stride * size,
			.weight = y->weight,
			.next = r->out.x_stride,
		};

		channels = r->in.c - first < OP_PACE_RUN ? r->in.c - first : OP_PACE_RUN;
		p.channels = channels;
		units = channels + 16 + r->pixel_units;
		most = CALL_UNITS / units;
		for (size_t i = 0; i < n; i += p.pixels, to += p.pixels * p.next * size) {
			p.columns = columns + i;
			p.pixels = n - i < most ? n - i : most;
			if (size == 1)
				k->between(&p, flip, (uint8_t *)to);
			else
				k->fbetween(&p, (float *)to);
			if (op_pace(pace, p.pixels * units))
				return OP_ABORTED;
		}
	}
	return 0;
}

/* A pixel of a few bytes takes less time than a call of memcpy(). */
static void copy_pixel(const char *from, size_t n, char *to)
{
	size_t i = 0;

	if (n > 64) {
		memcpy(to, from, n);
		return;
	}
	for (; i + 8 <= n; i += 8)
		memcpy(to + i, from + i, 8);
	for (; i < n; i++)
		to[i] = from[i];
}

static void nearest_pixel(struct op_pace *pace, const struct op_call *c, const struct resize *r,
			  size_t in, size_t out)
{
	size_t size = type_size(c->in[0]->type);
	const char *from = (const char *)c->in[0]->data + in * size;
	char *to = (char *)c->out[0]->data + out * size;

	/* The caller counts what the loop leaves uncounted: nothing of whole runs. */
	if (adjacent(r) && r->in.c < OP_PACE_RUN) {
		copy_pixel(from, r->in.c * size, to);
		return;
	}
	for (uint32_t i = 0; i < r->in.c && !op_pace_strided(pace, i, r->apart, 4); i++)
		memcpy(to + i * r->out.c_stride * size, from + i * r->in.c_stride * size, size);
}

/* A call. Its parts share it: rows of pixels, of all batches. */
struct resize_call {
	const struct op_call *c;
	struct resize r;
	const struct row_kernels *k;	/* channels are adjacent; NULL: bilinear ones by plain loops */
};

/* Rows [first, end): @n columns from @x on. */
static int bilinear_rows(const struct resize_call *call, uint32_t x, uint32_t n, size_t first,
			 size_t end, struct op_pace *pace)
{
	const struct resize *r = &call->r;
	struct between_columns columns[COLUMNS];

	for (uint32_t i = 0; i < n; i++) {
		struct between b = neighbours(r, x + i, r->in.x, r->step_x);

		columns[i] = (struct between_columns){
			b.low * r->in.x_stride, b.high * r->in.x_stride, b.weight,
		};
	}
	if (op_pace(pace, n * 8))
		return OP_ABORTED;
	for (size_t row = first; row < end; row++) {
		uint32_t y = (uint32_t)(row % r->out.y);
		struct between by = neighbours(r, y, r->in.y, r->step_y);
		size_t image = row / r->out.y;
		struct pixel_place at = {
			image * r->in.n_stride,
			image * r->out.n_stride + y * r->out.y_stride + x * r->out.x_stride,
		};

		if (bilinear_pixels(pace, call->c, r, call->k, at, &by, columns, n))
			return OP_ABORTED;
	}
	return 0;
}

static int bilinear_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct resize_call *call = work;
	int ret = 0;

	for (uint32_t x = 0, n; !ret && x < call->r.out.x; x += n) {
		n = call->r.out.x - x < COLUMNS ? call->r.out.x - x : COLUMNS;
		ret = bilinear_rows(call, x, n, first, end, pace);
	}
	return ret;
}

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct resize_call *call = work;
	const struct op_call *c = call->c;
	const struct resize *r = &call->r;
	size_t units = op_pace_rest(r->in.c, r->apart, call->k ? 2 : 16) + 16 + r->pixel_units;

	for (size_t row = first; row < end; row++) {
		uint32_t n = (uint32_t)(row / r->out.y), y = (uint32_t)(row % r->out.y);
		struct between by = neighbours(r, y, r->in.y, r->step_y);
		uint32_t ny = nearest(r, y, r->in.y, r->step_y);
		size_t in = n * r->in.n_stride;
		size_t out = n * r->out.n_stride + y * r->out.y_stride;

		if (op_pace(pace, r->row_units))
			return OP_ABORTED;
		for (uint32_t x = 0; x < r->out.x; x++, out += r->out.x_stride) {
			if (r->bilinear) {
				struct between bx = neighbours(r, x, r->in.x, r->step_x);

				bilinear_pixel(pace, c, r, in, out, &by, &bx);
			} else {
				nearest_pixel(pace, c, r, in + ny * r->in.y_stride +
					      nearest(r, x, r->in.x, r->step_x) * r->in.x_stride,
					      out);
			}
			if (op_pace(pace, units))
				return OP_ABORTED;
		}
	}
	return 0;
}

/* A pixel has corners in two rows of the input, or is one of its pixels. */
static void set_units(const struct op_call *c, struct resize *r)
{
	size_t size = type_size(c->in[0]->type);

	r->apart = r->in.c_stride > r->out.c_stride ? r->in.c_stride : r->out.c_stride;
	r->apart *= size;
	r->row_units = (r->bilinear ? 2 : 1) * OP_PACE_RUN_APART;
	/* With smaller steps, what is read of a row has no gaps. */
	if (r->step_x > 1.0f && r->step_x * (float)(r->in.x_stride * size) >= (float)OP_PACE_LINE)
		r->pixel_units = r->row_units;
}

/* How is known; sizes are those of both images. */
static int run(const struct op_call *c, const struct resize *how)
{
	struct op_pace pace = { .progress = c->progress };
	struct resize_call call = { .c = c, .r = *how };
	struct op_parts parts = { .compute = execute_part, .work = &call };

	call.r.in = image_of(c->in[0], call.r.nchw);
	call.r.out = image_of(c->out[0], call.r.nchw);
	call.r.step_y = step_of(&call.r, call.r.in.y, call.r.out.y);
	call.r.step_x = step_of(&call.r, call.r.in.x, call.r.out.x);
	set_units(c, &call.r);
	if (adjacent(&call.r) && !kernels_plain())
		call.k = kernels_rows();
	if (call.k && call.r.bilinear)
		parts.compute = bilinear_part;
	parts.items = (size_t)call.r.out.n * call.r.out.y;
	if (__builtin_mul_overflow((size_t)call.r.out.x, (size_t)call.r.in.c * (call.k ? 1 : 8) + 16,
				   &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}

int resize_execute(const struct op_call *c)
{
	struct resize r;

	if (geometry(c, &r))
		return -1;
	r.bilinear = c->desc->op == NNPU_OP_RESIZE_BILINEAR;
	return run(c, &r);
}

int resize_bilinear(const struct op_call *c, bool align, bool half)
{
	struct resize r = { .bilinear = true, .align = align, .half = half };

	return run(c, &r);
}
