// SPDX-License-Identifier: MIT
/*
 * Products of org.nnpu.tflite on pseudo-random operands against plain loops: BATCH_MATMUL,
 * FULLY_CONNECTED, CONV_2D and DEPTHWISE_CONV_2D in sizes that exercise the edges of blocks, with
 * constants and without.
 */
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "ops_fixture.h"
#include "quant.h"
#include "tflite/tflite_ops.h"

#define ROUNDS		60
#define MAX_ELEMENTS	20000

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define I8	NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED
#define I16	NNPU_TYPE_TENSOR_QUANT16_SYMM
#define I32	NNPU_TYPE_TENSOR_INT32
#define PC8	NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL

/* Elements of an operand, in a type and as whole numbers. */
struct values {
	float f32[MAX_ELEMENTS];
	int8_t i8[MAX_ELEMENTS];
	int16_t i16[MAX_ELEMENTS];
	int32_t i32[MAX_ELEMENTS];
	int64_t i64[MAX_ELEMENTS];
};

static const void *fill(struct values *v, enum nnpu_type type)
{
	for (unsigned int i = 0; i < MAX_ELEMENTS; i++) {
		v->i8[i] = (int8_t)pick(-128, 127);
		v->i16[i] = (int16_t)pick(-32768, 32767);
		v->i32[i] = pick(-10000, 10000);
		v->i64[i] = v->i32[i];
		v->f32[i] = (float)v->i16[i] / 1024;
	}
	return type == F32 ? (const void *)v->f32 : type == I16 ? (const void *)v->i16 : v->i8;
}

static int64_t whole_at(const struct values *v, enum nnpu_type type, size_t i)
{
	return type == I16 ? v->i16[i] : v->i8[i];
}

static struct values left, right, bias;
static union {
	float f32[MAX_ELEMENTS];
	int8_t i8[MAX_ELEMENTS];
	int16_t i16[MAX_ELEMENTS];
	int32_t i32[MAX_ELEMENTS];
} expected;
static float scales[150];

/* Store sum @i in the type of the output. */
static void expect(enum nnpu_type type, size_t i, float real, int64_t whole, bool wide,
		   double factor, int32_t zero)
{
	struct qfactor f = qfactor_from(factor);
	int32_t v = wide ? q_scale_wide(whole, f) : q_scale((int32_t)(uint32_t)whole, f);

	if (type == F32)
		expected.f32[i] = real;
	else if (type == I32)
		expected.i32[i] = (int32_t)(uint32_t)whole;
	else if (type == I16)
		expected.i16[i] = (int16_t)q_clamp(v, INT16_MIN, INT16_MAX);
	else
		expected.i8[i] = (int8_t)q_clamp(q_add(v, zero), INT8_MIN, INT8_MAX);
}

static struct tensor *add(struct fixture *f, bool fixed, enum nnpu_type type, float scale,
			  int32_t zero, unsigned int rank, const uint32_t *dims, const void *data)
{
	return (fixed ? fixture_const : fixture_input)(f, type, scale, zero, rank, dims, data);
}

static void begin(struct fixture *f, uint32_t number)
{
	fixture_init(f, (enum nnpu_operation)EXTENSION_CODE(tflite_extension_index, number));
}

/* Run and compare with @expected. */
static bool same(struct fixture *f, unsigned int rank, const uint32_t *dims)
{
	bool good = fixture_run(f) == 0 && fixture_is(f, rank, dims, &expected);

	fixture_end(f);
	return good;
}

static bool matmul(enum nnpu_type type, enum nnpu_type out)
{
	uint32_t rows = (uint32_t)pick(1, 14), cols = (uint32_t)pick(1, 37);
	uint32_t depth = (uint32_t)pick(1, 40);
	uint32_t b[2] = { (uint32_t)pick(1, 3), (uint32_t)pick(1, 2) };
	bool adj[2] = { pick(0, 1), pick(0, 1) }, one[2][2];
	uint32_t x[4], y[4];
	float sx = 0, sy = 0, so = 0;
	int32_t zx = 0, zy = 0, zo = 0;
	struct fixture f;
	size_t at = 0;

	for (unsigned int i = 0; i < 2; i++) {
		one[0][i] = pick(0, 2) == 0;
		one[1][i] = !one[0][i] && pick(0, 1);
		x[i] = one[0][i] ? 1 : b[i];
		y[i] = one[1][i] ? 1 : b[i];
	}
	x[2] = adj[0] ? depth : rows;
	x[3] = adj[0] ? rows : depth;
	y[2] = adj[1] ? cols : depth;
	y[3] = adj[1] ? depth : cols;
	if (type != F32) {
		sx = 0.02f;
		sy = 0.03f;
		so = type == I16 ? 3.0f : 0.2f;
	}
	if (type == I8) {
		zx = pick(-128, 127);
		zy = pick(-128, 127);
		zo = pick(-20, 20);
	}
	begin(&f, 126);
	add(&f, pick(0, 1), type, sx, zx, 4, x, fill(&left, type));
	add(&f, pick(0, 1), type, sy, zy, 4, y, fill(&right, type));
	fixture_bool(&f, adj[0]);
	fixture_bool(&f, adj[1]);
	fixture_bool(&f, false);
	fixture_output(&f, out, out == I32 ? 0 : so, zo);
	if (out == I32)
		zx = zy = 0;
	for (uint32_t n = 0; n < b[0] * b[1] * rows * cols; n++, at++) {
		uint32_t c = n % cols, r = n / cols % rows, i1 = n / cols / rows % b[1];
		uint32_t i0 = n / cols / rows / b[1];
		size_t mx = (size_t)(one[0][0] ? 0 : i0) * x[1] + (one[0][1] ? 0 : i1);
		size_t my = (size_t)(one[1][0] ? 0 : i0) * y[1] + (one[1][1] ? 0 : i1);
		float real = 0;
		int64_t whole = 0;

		for (uint32_t k = 0; k < depth; k++) {
			size_t ax = mx * rows * depth + (adj[0] ? k * rows + r : r * depth + k);
			size_t ay = my * cols * depth + (adj[1] ? c * depth + k : k * cols + c);

			real = fixture_add_term(real, left.f32[ax], right.f32[ay]);
			whole += (whole_at(&left, type, ax) - zx) *
				 (whole_at(&right, type, ay) - zy);
		}
		expect(out, at, real, whole, type == I16, (double)(sx * sy) / so, zo);
	}
	return same(&f, 4, (uint32_t[]){ b[0], b[1], rows, cols });
}

/* Weights of bytes with one scale per channel, or floats; the bias may be missing. */
static void add_weights(struct fixture *f, enum nnpu_type type, unsigned int rank,
			const uint32_t *dims, unsigned int dim)
{
	const void *data = fill(&right, type == F32 ? F32 : I8);

	add(f, type != F32 || pick(0, 1), type == F32 ? F32 : PC8, 0, 0, rank, dims, data);
	for (uint32_t i = 0; type != F32 && i < dims[dim]; i++)
		scales[i] = (float)pick(1, 1000) / 50000;
	if (type != F32)
		fixture_channel_scales(f, dim, scales);
}

/* Returns whether it is there. */
static bool add_bias(struct fixture *f, enum nnpu_type type, bool wide, uint32_t n)
{
	enum nnpu_type t = type == F32 ? F32 : wide ? TFLITE_TENSOR_INT64 : I32;
	bool there = pick(0, 2);
	struct tensor *added;

	fill(&bias, F32);
	added = add(f, there && pick(0, 1), t, 0, 0, 1, &n,
		    t == F32 ? (void *)bias.f32 : wide ? (void *)bias.i64 : bias.i32);
	if (!there)
		added->kind = NNPU_TENSOR_NO_VALUE;
	return there;
}

static bool dense(enum nnpu_type type)
{
	uint32_t rows = (uint32_t)pick(1, 9), size = (uint32_t)pick(1, 300);
	uint32_t units = (uint32_t)pick(1, 40);
	int32_t zx = type == I8 ? pick(-128, 127) : 0, zo = type == I8 ? 3 : 0;
	float sx = type == F32 ? 0 : 0.02f, so = type == F32 ? 0 : type == I16 ? 4.0f : 0.5f;
	bool wide = type == I16 && pick(0, 1), biased, keep = pick(0, 1);
	struct fixture f;

	begin(&f, 9);
	add(&f, false, type, sx, zx, 3, (uint32_t[]){ 1, rows, size }, fill(&left, type));
	add_weights(&f, type, 2, (uint32_t[]){ units, size }, 0);
	biased = add_bias(&f, type, wide, units);
	fixture_i32(&f, 0);
	fixture_i32(&f, 0);
	fixture_bool(&f, keep);
	fixture_bool(&f, false);
	fixture_i32(&f, wide ? TFLITE_INT64 : TFLITE_FLOAT32);
	fixture_output(&f, type, so, zo);
	for (uint32_t i = 0; i < rows * units; i++) {
		uint32_t u = i % units;
		int64_t whole = biased ? bias.i32[u] : 0;
		float real = 0;

		for (uint32_t k = 0; k < size; k++) {
			real = fixture_add_term(real, left.f32[i / units * size + k],
						right.f32[u * size + k]);
			whole += (whole_at(&left, type, i / units * size + k) - zx) *
				 right.i8[u * size + k];
		}
		expect(type, i, biased ? real + bias.f32[u] : real, whole, wide,
		       (double)sx * scales[u] / so, zo);
	}
	if (keep)
		return same(&f, 3, (uint32_t[]){ 1, rows, units });
	return same(&f, 2, (uint32_t[]){ rows, units });
}

/* VALID padding; groups, strides and dilations. */
static bool conv(enum nnpu_type type)
{
	int groups = pick(1, 3), depth = pick(1, 9), channels = groups * pick(1, 8);
	int y = pick(3, 9), x = pick(3, 9), ky = pick(1, 2), kx = pick(1, 3), c = groups * depth;
	int sy = pick(1, 2), sx = pick(1, 3), dy = pick(1, 2), dx = kx == 3 ? 1 : pick(1, 2);
	int oy = (y - (ky - 1) * dy - 1) / sy + 1, ox = (x - (kx - 1) * dx - 1) / sx + 1;
	int32_t zx = type == I8 ? pick(-128, 127) : 0, zo = type == I8 ? -3 : 0;
	float s = type == F32 ? 0 : 0.02f, so = type == F32 ? 0 : type == I16 ? 4.0f : 0.5f;
	bool wide = type == I16 && pick(0, 1), biased;
	struct fixture f;

	begin(&f, 3);
	add(&f, false, type, s, zx, 4, (uint32_t[]){ 1, (uint32_t)y, (uint32_t)x, (uint32_t)c },
	    fill(&left, type));
	add_weights(&f, type, 4, (uint32_t[]){ (uint32_t)channels, (uint32_t)ky, (uint32_t)kx,
					       (uint32_t)depth }, 0);
	biased = add_bias(&f, type, wide, (uint32_t)channels);
	for (unsigned int i = 0; i < 7; i++) {
		const int numbers[] = { 1, sx, sy, 0, dx, dy, wide ? 4 : 2 };

		fixture_i32(&f, numbers[i]);
	}
	fixture_output(&f, type, so, zo);
	for (int i = 0; i < oy * ox * channels; i++) {
		int o = i % channels, px = i / channels % ox * sx, py = i / channels / ox * sy;
		int64_t whole = biased ? bias.i32[o] : 0;
		float real = 0;

		for (int k = 0; k < ky * kx * depth; k++) {
			int ch = k % depth, tx = k / depth % kx, ty = k / depth / kx;
			int at = ((py + ty * dy) * x + px + tx * dx) * c +
				 o / (channels / groups) * depth + ch;
			int w = o * ky * kx * depth + k;

			real += left.f32[at] * right.f32[w];
			whole += (whole_at(&left, type, (size_t)at) - zx) * right.i8[w];
		}
		expect(type, (size_t)i, biased ? real + bias.f32[o] : real, whole, wide,
		       (double)s * scales[o] / so, zo);
	}
	return same(&f, 4, (uint32_t[]){ 1, (uint32_t)oy, (uint32_t)ox, (uint32_t)channels });
}

/* Taps in front of the image and behind it, as SAME padding has them; a multiplier; more channels than a block. */
static bool depthwise(enum nnpu_type type)
{
	int c = pick(1, 50), times = pick(1, 3), channels = c * times, same_padding = pick(0, 1);
	int size[2] = { pick(3, 9), pick(3, 9) }, taps[2] = { pick(1, 3), pick(1, 3) };
	int stride[2] = { pick(1, 3), pick(1, 3) }, dilation[2], out[2], before[2] = { 0, 0 };
	int32_t zx = type == I8 ? pick(-128, 127) : 0, zo = type == I8 ? -3 : 0;
	float s = type == F32 ? 0 : 0.02f, so = type == F32 ? 0 : type == I16 ? 4.0f : 0.5f;
	bool wide = type == I16 && pick(0, 1), biased;
	struct fixture f;

	for (int a = 0; a < 2; a++) {
		int extent, missing;

		dilation[a] = taps[a] == 3 ? 1 : pick(1, 2);
		extent = (taps[a] - 1) * dilation[a] + 1;
		out[a] = same_padding ? (size[a] + stride[a] - 1) / stride[a] :
					(size[a] - extent) / stride[a] + 1;
		missing = (out[a] - 1) * stride[a] + extent - size[a];
		if (same_padding && missing > 0)
			before[a] = missing / 2;
	}
	begin(&f, 4);
	add(&f, false, type, s, zx, 4, (uint32_t[]){ 1, (uint32_t)size[0], (uint32_t)size[1],
						     (uint32_t)c }, fill(&left, type));
	add_weights(&f, type, 4, (uint32_t[]){ 1, (uint32_t)taps[0], (uint32_t)taps[1],
					       (uint32_t)channels }, 3);
	biased = add_bias(&f, type, wide, (uint32_t)channels);
	/* Without a bias that says it, sums of 16-bit integers are wide. */
	wide |= type == I16 && !biased;
	for (unsigned int i = 0; i < 7; i++) {
		const int numbers[] = { !same_padding, stride[1], stride[0], times, 0, dilation[1],
					dilation[0] };

		fixture_i32(&f, numbers[i]);
	}
	fixture_output(&f, type, so, zo);
	for (int i = 0; i < out[0] * out[1] * channels; i++) {
		int o = i % channels, px = i / channels % out[1], py = i / channels / out[1];
		int64_t whole = biased ? bias.i32[o] : 0;
		float real = 0;

		for (int k = 0; k < taps[0] * taps[1]; k++) {
			int y = py * stride[0] - before[0] + k / taps[1] * dilation[0];
			int x = px * stride[1] - before[1] + k % taps[1] * dilation[1];
			int at = (y * size[1] + x) * c + o / times, w = k * channels + o;

			if (y < 0 || y >= size[0] || x < 0 || x >= size[1])
				continue;
			real += left.f32[at] * right.f32[w];
			whole += (whole_at(&left, type, (size_t)at) - zx) * right.i8[w];
		}
		expect(type, (size_t)i, biased ? real + bias.f32[o] : real, whole, wide,
		       (double)s * scales[o] / so, zo);
	}
	return same(&f, 4, (uint32_t[]){ 1, (uint32_t)out[0], (uint32_t)out[1], (uint32_t)channels });
}

/* floor((x * m + half) / 2^n), with 128 bits and a division. */
static bool scale_wide(void)
{
	struct qfactor f = { pick(1 << 30, INT32_MAX), pick(-31, 7) };
	int64_t x = pick(-32768, 32767) * (1ll << 31) + (int64_t)(next_random() >> 1);
	__int128 mult = f.mult >= 0x7fff0000 ? 0x7fff : (f.mult + 32768) / 65536;
	__int128 by = (__int128)1 << (15 - f.shift), v;

	x >>= pick(f.shift > 0 ? f.shift + 16 : 16, 46);
	v = x * mult + by / 2;
	v = v / by - (v % by < 0);
	return q_scale_wide(x, f) == (int32_t)v;
}

static unsigned int count(bool (*test)(enum nnpu_type type), enum nnpu_type type)
{
	unsigned int good = 0;

	for (unsigned int i = 0; i < ROUNDS; i++)
		good += test(type);
	return good;
}

static bool matmul_alike(enum nnpu_type type)
{
	return matmul(type, type);
}

static bool matmul_wide(enum nnpu_type type)
{
	return matmul(type, I32);
}

static bool scale_any(enum nnpu_type type)
{
	(void)type;
	return scale_wide();
}

int main(void)
{
	static const struct {
		const char *name;
		bool (*test)(enum nnpu_type type);
		enum nnpu_type type;
	} tests[] = {
		{ "BATCH_MATMUL of floats", matmul_alike, F32 },
		{ "BATCH_MATMUL of bytes", matmul_alike, I8 },
		{ "BATCH_MATMUL of bytes to TENSOR_INT32", matmul_wide, I8 },
		{ "BATCH_MATMUL of 16-bit integers", matmul_alike, I16 },
		{ "FULLY_CONNECTED of floats", dense, F32 },
		{ "FULLY_CONNECTED of bytes", dense, I8 },
		{ "FULLY_CONNECTED of 16-bit integers", dense, I16 },
		{ "CONV_2D of floats", conv, F32 },
		{ "CONV_2D of bytes", conv, I8 },
		{ "CONV_2D of 16-bit integers", conv, I16 },
		{ "DEPTHWISE_CONV_2D of floats", depthwise, F32 },
		{ "DEPTHWISE_CONV_2D of bytes", depthwise, I8 },
		{ "DEPTHWISE_CONV_2D of 16-bit integers", depthwise, I16 },
		{ "q_scale_wide()", scale_any, F32 },
	};

	for (unsigned int i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		unsigned int good = count(tests[i].test, tests[i].type);

		ok(good == ROUNDS, "%s: %u of %u", tests[i].name, good, ROUNDS);
	}
	return tap_done();
}
