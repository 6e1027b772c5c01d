// SPDX-License-Identifier: MIT
/*
 * RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR of org.nnpu.tflite.
 *
 * Inputs: 0 image, 1 height and width of the output, 2 align corners, 3 half pixel centers.
 * Bilinear: signed 8- and 16-bit integers, with positions of 10 fraction bits; floats and unsigned
 * 8-bit integers as the HAL's operation. Nearest neighbor: any elements of up to 8 bytes.
 */
#include <math.h>

#include "ops/nd_copy.h"
#include "ops/ops.h"
#include "ops/window.h"
#include "tflite_ops.h"

enum { AT_SIZE = 1, AT_ALIGN, AT_HALF };

#define BITS	10
#define ONE	(1 << BITS)

struct resize {
	struct image in, out;
	bool align, half;
};

static int check(const struct op_call *c)
{
	bool align, half;

	if (tflite_check_moved(c, 0))
		return -1;
	if (!op_get_bool(c, AT_ALIGN, &align) && !op_get_bool(c, AT_HALF, &half) && align && half)
		return op_fail(c, NNPU_REASON_VALUE, AT_HALF);
	return 0;
}

/* 0; 1 if a value is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct resize *r)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank;
	int ret;

	if (op_check_rank(c, 0, 4, 4))
		return -1;
	ret = tflite_get_shape(c, AT_SIZE, &rank, dims);
	if (ret)
		return ret;
	if (op_get_bool(c, AT_ALIGN, &r->align) || op_get_bool(c, AT_HALF, &r->half))
		return 1;
	if (r->align && r->half)
		return op_fail(c, NNPU_REASON_VALUE, AT_HALF);
	if (rank != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, AT_SIZE);
	if (!dims[0] || !dims[1])
		return op_fail(c, NNPU_REASON_VALUE, AT_SIZE);
	r->in = image_of(c->in[0], false);
	/* Positions of 10 fraction bits fit 32 bits. */
	if (!r->in.y || !r->in.x || r->in.y >> 20 || r->in.x >> 20)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (dims[0] >> 20 || dims[1] >> 20)
		return op_fail(c, NNPU_REASON_VALUE, AT_SIZE);
	r->out = r->in;
	r->out.y = dims[0];
	r->out.x = dims[1];
	return 0;
}

static int infer(const struct op_call *c)
{
	struct resize r;
	int ret = geometry(c, &r);

	if (ret)
		return ret;
	image_set_shape(c, false, r.out.n, r.out.y, r.out.x, r.out.c);
	return 0;
}

/* A position between two elements, with fraction bits. */
struct between {
	uint32_t low, high;
	int64_t weight;			/* of the high one */
};

static struct between between(const struct resize *r, uint32_t o, uint32_t out, uint32_t in)
{
	int64_t scale = ((int64_t)ONE * in + out / 2) / out, at;
	struct between b;

	if (r->align && out > 1)
		scale = ((int64_t)ONE * (in - 1) + (out - 1) / 2) / (out - 1);
	at = o * scale;
	if (r->half)
		at += scale / 2 - ONE / 2;
	b.low = at > 0 ? (uint32_t)(at / ONE) : 0;
	b.high = at + ONE > 1 ? (uint32_t)((at + ONE - 1) / ONE) : 0;
	if (b.high > in - 1)
		b.high = in - 1;
	/* A position behind the last element, by rounding, has no element of its own. */
	if (b.low > in - 1)
		b.low = in - 1;
	b.weight = at - (int64_t)ONE * b.low;
	return b;
}

static int64_t integer_at(const struct tensor *t, size_t i)
{
	if (t->type == NNPU_TYPE_TENSOR_QUANT16_SYMM)
		return ((const int16_t *)t->data)[i];
	return ((const int8_t *)t->data)[i];
}

/* 0 or OP_ABORTED. */
static int put_pixel(const struct op_call *c, const struct resize *r, const size_t *rows,
		     int64_t wy, struct between x, size_t at, struct op_pace *pace)
{
	const struct tensor *in = c->in[0], *out = c->out[0];
	size_t low = x.low * r->in.x_stride, high = x.high * r->in.x_stride;

	for (uint32_t i = 0; i < r->in.c; i++, at++, low++, high++) {
		int64_t sum = integer_at(in, rows[0] + low) * (ONE - wy) * (ONE - x.weight) +
			      integer_at(in, rows[1] + low) * wy * (ONE - x.weight) +
			      integer_at(in, rows[0] + high) * (ONE - wy) * x.weight +
			      integer_at(in, rows[1] + high) * wy * x.weight;
		int64_t half = 1 << (2 * BITS - 1), v;

		v = (sum > 0 ? sum + half : sum - half) / (1 << 2 * BITS);
		if (out->type == NNPU_TYPE_TENSOR_QUANT16_SYMM)
			((int16_t *)out->data)[at] = (int16_t)v;
		else
			((int8_t *)out->data)[at] = (int8_t)v;
		if (op_pace_row(pace, i, 8))
			return OP_ABORTED;
	}
	return op_pace(pace, r->in.c % OP_PACE_RUN * 8 + 32) ? OP_ABORTED : 0;
}

int tflite_resize_bilinear_check(const struct op_call *c)
{
	return check(c);
}

int tflite_resize_bilinear_infer(const struct op_call *c)
{
	return infer(c);
}

int tflite_resize_bilinear_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct resize r;
	size_t at = 0;

	if (geometry(c, &r))
		return -1;
	if (tflite_type_of(c->in[0]) == TFLITE_FLOAT32 || tflite_type_of(c->in[0]) == TFLITE_UINT8)
		return resize_bilinear(c, r.align, r.half);
	for (size_t row = 0; row < (size_t)r.out.n * r.out.y; row++) {
		struct between y = between(&r, (uint32_t)(row % r.out.y), r.out.y, r.in.y);
		size_t batch = row / r.out.y * r.in.n_stride;
		size_t rows[2] = { batch + y.low * r.in.y_stride, batch + y.high * r.in.y_stride };

		for (uint32_t ox = 0; ox < r.out.x; ox++, at += r.in.c) {
			if (put_pixel(c, &r, rows, y.weight, between(&r, ox, r.out.x, r.in.x), at,
				      &pace))
				return OP_ABORTED;
		}
	}
	return 0;
}

static uint32_t nearest(const struct resize *r, uint32_t o, uint32_t out, uint32_t in)
{
	float scale = (float)in / (float)out, at;

	if (r->align && out > 1)
		scale = (float)(in - 1) / (float)(out - 1);
	at = ((float)o + (r->half ? 0.5f : 0.0f)) * scale;
	at = r->align ? roundf(at) : floorf(at);
	return at < (float)(in - 1) ? (uint32_t)at : in - 1;
}

int tflite_resize_nearest_check(const struct op_call *c)
{
	return check(c);
}

int tflite_resize_nearest_infer(const struct op_call *c)
{
	return infer(c);
}

int tflite_resize_nearest_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t size = type_size(c->in[0]->type), pixel;
	char *to = c->out[0]->data;
	struct resize r;

	if (geometry(c, &r))
		return -1;
	pixel = r.in.c * size;
	for (size_t row = 0; row < (size_t)r.out.n * r.out.y; row++) {
		uint32_t y = nearest(&r, (uint32_t)(row % r.out.y), r.out.y, r.in.y);
		const char *from = (const char *)c->in[0]->data +
				   (row / r.out.y * r.in.n_stride + y * r.in.y_stride) * size;

		for (uint32_t ox = 0; ox < r.out.x; ox++, to += pixel) {
			if (nd_move(&pace, from + nearest(&r, ox, r.out.x, r.in.x) * pixel, to,
				    pixel) || op_pace(&pace, 16))
				return OP_ABORTED;
		}
	}
	return 0;
}
