// SPDX-License-Identifier: MIT
/*
 * Operations on pseudo-random operands against a second, plain implementation of
 * the formulas in Documentation/operations/: shapes that exercise every edge of
 * the blocked kernels, with and without a prepared object, both layouts.
 */
#include <float16.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "ops_fixture.h"

#define ROUNDS	150

static float pick_scale(void)
{
	return ldexpf((float)pick(64, 127), pick(-16, -9));
}

/* The plain implementation: 64-bit integers, divisions, no shifts. */
static int64_t divide_rounded(int64_t a, int64_t b, bool half_up)
{
	int64_t q = a / b, r = a % b;

	if (r < 0) {
		r += b;
		q--;
	}
	/* a = q * b + r with 0 <= r < b; halves up, or away from zero. */
	if (2 * r > b || (2 * r == b && (half_up || q >= 0)))
		q++;
	return q;
}

static int32_t plain_scale(int64_t x, double real)
{
	int exponent = 0;
	int64_t q;

	if (real == 0)
		return 0;
	while (real >= 1) {
		real /= 2;
		exponent++;
	}
	while (real < 0.5) {
		real *= 2;
		exponent--;
	}
	q = (int64_t)floor(real * 2147483648.0 + 0.5);
	if (q == 1ll << 31) {
		q /= 2;
		exponent++;
	}
	for (; exponent > 0; exponent--) {
		x *= 2;
		if (x > INT32_MAX)
			x = INT32_MAX;
		if (x < INT32_MIN)
			x = INT32_MIN;
	}
	x = divide_rounded(x * q, 1ll << 31, true);
	return (int32_t)divide_rounded(x, 1ll << -exponent, false);
}

struct view {			/* a 4-D tensor of bytes in either layout */
	const uint8_t *data;
	int n, y, x, c;
	bool nchw, is_signed;
	int zero_point;
};

static size_t view_at(const struct view *v, int n, int y, int x, int c)
{
	if (v->nchw)
		return (((size_t)n * v->c + c) * v->y + y) * v->x + x;
	return (((size_t)n * v->y + y) * v->x + x) * v->c + c;
}

static int view_get(const struct view *v, int n, int y, int x, int c)
{
	uint8_t raw = v->data[view_at(v, n, y, x, c)];

	return (v->is_signed ? (int8_t)raw : raw) - v->zero_point;
}

struct geometry {
	bool depthwise, nchw, is_signed, per_channel, unfixed, explicit_padding, same;
	int n, y, x, c, out_c, taps_y, taps_x, multiplier;
	int stride_y, stride_x, dilation_y, dilation_x;
	int top, bottom, left, right;
	int activation;
	int out_y, out_x;
	float in_scale, out_scale, filter_scale, bias_scale;
	int in_zero, filter_zero, out_zero;
};

static void implicit_padding(const struct geometry *g, int in, int taps, int stride,
			     int dilation, int *before, int *after)
{
	int size = (taps - 1) * dilation + 1, total;

	*before = 0;
	*after = 0;
	if (!g->same)
		return;
	total = ((in + stride - 1) / stride - 1) * stride + size - in;
	if (total > 0) {
		*before = total / 2;
		*after = total - *before;
	}
}

/* A convolution whose window fits its input. */
static void pick_geometry(struct geometry *g, bool depthwise)
{
	int size_y, size_x;

	memset(g, 0, sizeof(*g));
	g->depthwise = depthwise;
	g->nchw = pick(0, 3) == 0;
	g->is_signed = pick(0, 1);
	g->per_channel = pick(0, 1);
	g->unfixed = pick(0, 2) == 0;
	g->n = pick(1, 3);
	g->c = pick(0, 3) ? pick(1, 40) : pick(1, 300);
	g->multiplier = depthwise ? pick(0, 1) ? 1 : pick(1, 5) : 0;
	g->out_c = depthwise ? g->c * g->multiplier : pick(0, 3) ? pick(1, 20) : pick(1, 150);
	do {
		g->y = pick(1, 12);
		g->x = pick(1, 12);
		g->taps_y = pick(1, 5);
		g->taps_x = pick(1, 5);
		g->stride_y = pick(1, 3);
		g->stride_x = pick(1, 3);
		g->dilation_y = pick(0, 2) ? 1 : pick(1, 3);
		g->dilation_x = pick(0, 2) ? 1 : pick(1, 3);
		size_y = (g->taps_y - 1) * g->dilation_y + 1;
		size_x = (g->taps_x - 1) * g->dilation_x + 1;
		g->explicit_padding = pick(0, 1);
		g->same = pick(0, 1);
		if (g->explicit_padding) {
			g->top = pick(0, size_y - 1);
			g->bottom = pick(0, size_y - 1);
			g->left = pick(0, size_x - 1);
			g->right = pick(0, size_x - 1);
		} else {
			implicit_padding(g, g->y, g->taps_y, g->stride_y, g->dilation_y, &g->top,
					 &g->bottom);
			implicit_padding(g, g->x, g->taps_x, g->stride_x, g->dilation_x, &g->left,
					 &g->right);
		}
	} while (g->y + g->top + g->bottom < size_y || g->x + g->left + g->right < size_x);
	g->out_y = (g->y + g->top + g->bottom - size_y) / g->stride_y + 1;
	g->out_x = (g->x + g->left + g->right - size_x) / g->stride_x + 1;
	g->activation = pick(0, 3);
	g->in_scale = pick_scale();
	g->filter_scale = pick_scale();
	g->bias_scale = g->in_scale * g->filter_scale;
	/* Now and then an output scale that is smaller than the accumulator's. */
	g->out_scale = pick(0, 9) ? g->bias_scale * (float)pick(20, 4000) : g->bias_scale / 3;
	g->in_zero = g->is_signed ? pick(-128, 127) : pick(0, 255);
	g->out_zero = g->is_signed ? pick(-128, 127) : pick(0, 255);
	g->filter_zero = g->per_channel ? 0 : g->is_signed ? pick(-128, 127) : pick(0, 255);
}

static int round_away(float v)
{
	return (int)(v < 0 ? -floorf(-v + 0.5f) : floorf(v + 0.5f));
}

static int clamp_output(int v, bool is_signed, float scale, int zero, int activation)
{
	int min = is_signed ? -128 : 0, max = is_signed ? 127 : 255, low = min, high = max;

	if (activation == 1 || activation == 3)
		low = zero;
	if (activation == 2) {
		low = zero + round_away(-1.0f / scale);
		high = zero + round_away(1.0f / scale);
	}
	if (activation == 3)
		high = zero + round_away(6.0f / scale);
	min = low > min ? low : min;
	max = high < max ? high : max;
	v = v < min ? min : v;
	return v > max ? max : v;
}

/* The position number @i of a tensor, channels innermost whatever its layout. */
struct position {
	int n, y, x, c;
};

static struct position position_of(const struct view *v, size_t i)
{
	struct position p;

	p.c = (int)(i % (size_t)v->c);
	i /= (size_t)v->c;
	p.x = (int)(i % (size_t)v->x);
	i /= (size_t)v->x;
	p.y = (int)(i % (size_t)v->y);
	p.n = (int)(i / (size_t)v->y);
	return p;
}

static size_t view_size(const struct view *v)
{
	return (size_t)v->n * v->y * v->x * v->c;
}

/* The products of input channel @c and what is under tap (@ty, @tx) of output @p. */
static int64_t plain_product(const struct geometry *g, const struct view *in,
			     const uint8_t *filter, struct position p, int ty, int tx, int c)
{
	bool filter_signed = g->per_channel || g->is_signed;
	int y = p.y * g->stride_y - g->top + ty * g->dilation_y;
	int x = p.x * g->stride_x - g->left + tx * g->dilation_x;
	size_t at;
	int w;

	if (y < 0 || y >= g->y || x < 0 || x >= g->x)
		return 0;
	if (g->depthwise)
		at = ((size_t)ty * g->taps_x + tx) * g->out_c + p.c;
	else
		at = (((size_t)p.c * g->taps_y + ty) * g->taps_x + tx) * g->c + c;
	w = filter_signed ? (int8_t)filter[at] : filter[at];
	return (int64_t)view_get(in, p.n, y, x, c) * (w - g->filter_zero);
}

static void plain_convolution(const struct geometry *g, const struct view *in,
			      const uint8_t *filter, const int32_t *bias, const float *scales,
			      uint8_t *out)
{
	struct view ov = { out, g->n, g->out_y, g->out_x, g->out_c, g->nchw, g->is_signed, 0 };
	int depth = g->depthwise ? 1 : g->c;
	float product = g->in_scale * g->filter_scale;

	for (size_t i = 0; i < view_size(&ov); i++) {
		struct position p = position_of(&ov, i);
		int first = g->depthwise ? p.c / g->multiplier : 0;
		int64_t acc = bias[p.c];
		double real = (double)product / g->out_scale;
		int v;

		if (g->per_channel)
			real = (double)g->in_scale * scales[p.c] / g->out_scale;
		for (int k = 0; k < g->taps_y * g->taps_x * depth; k++)
			acc += plain_product(g, in, filter, p, k / depth / g->taps_x,
					     k / depth % g->taps_x, first + k % depth);
		acc = (int32_t)(uint32_t)acc;
		v = (int)((uint32_t)plain_scale(acc, real) + (uint32_t)g->out_zero);
		out[view_at(&ov, p.n, p.y, p.x, p.c)] =
			(uint8_t)clamp_output(v, g->is_signed, g->out_scale, g->out_zero,
					      g->activation);
	}
}

static uint8_t *random_bytes(size_t n)
{
	uint8_t *p = malloc(n + 1);

	for (size_t i = 0; p && i < n; i++)
		p[i] = (uint8_t)next_random();
	return p;
}

static enum nnpu_type quant_type(bool is_signed)
{
	return is_signed ? NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED : NNPU_TYPE_TENSOR_QUANT8_ASYMM;
}

static void add_window(struct fixture *f, const struct geometry *g)
{
	if (g->explicit_padding) {
		fixture_i32(f, g->left);
		fixture_i32(f, g->right);
		fixture_i32(f, g->top);
		fixture_i32(f, g->bottom);
	} else {
		fixture_i32(f, g->same ? 1 : 2);
	}
	fixture_i32(f, g->stride_x);
	fixture_i32(f, g->stride_y);
	if (g->depthwise)
		fixture_i32(f, g->multiplier);
	fixture_i32(f, g->activation);
	fixture_bool(f, g->nchw);
	fixture_i32(f, g->dilation_x);
	fixture_i32(f, g->dilation_y);
}

/* Run the geometry and compare. */
static bool convolution_agrees(const struct geometry *g)
{
	size_t in_size = (size_t)g->n * g->y * g->x * g->c;
	size_t out_size = (size_t)g->n * g->out_y * g->out_x * g->out_c;
	size_t filter_size = (size_t)g->taps_y * g->taps_x * g->out_c *
			     (g->depthwise ? 1 : g->c);
	uint8_t *in = random_bytes(in_size), *filter = random_bytes(filter_size);
	uint8_t *expected = random_bytes(out_size);
	int32_t *bias = calloc((size_t)g->out_c, sizeof(*bias));
	float *scales = calloc((size_t)g->out_c, sizeof(*scales));
	struct view view = { in, g->n, g->y, g->x, g->c, g->nchw, g->is_signed, g->in_zero };
	uint32_t u = (uint32_t)g->n;
	struct fixture f;
	bool good;

	for (int i = 0; i < g->out_c; i++) {
		bias[i] = pick(-50000, 50000);
		scales[i] = g->filter_scale * (float)pick(10, 100) / 64;
	}
	if (pick(0, 7) == 0)
		bias[0] = pick(0, 1) ? INT32_MAX : INT32_MIN;
	plain_convolution(g, &view, filter, bias, scales, expected);

	fixture_init(&f, g->depthwise ? NNPU_OP_DEPTHWISE_CONV_2D : NNPU_OP_CONV_2D);
	if (g->nchw)
		fixture_input(&f, quant_type(g->is_signed), g->in_scale, g->in_zero,
			      DIMS(u, (uint32_t)g->c, (uint32_t)g->y, (uint32_t)g->x), in);
	else
		fixture_input(&f, quant_type(g->is_signed), g->in_scale, g->in_zero,
			      DIMS(u, (uint32_t)g->y, (uint32_t)g->x, (uint32_t)g->c), in);
	fixture_const(&f, g->per_channel ? NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL :
		      quant_type(g->is_signed), g->per_channel ? 0 : g->filter_scale,
		      g->filter_zero,
		      DIMS(g->depthwise ? 1 : (uint32_t)g->out_c, (uint32_t)g->taps_y,
			   (uint32_t)g->taps_x, (uint32_t)(g->depthwise ? g->out_c : g->c)),
		      filter);
	if (g->per_channel)
		fixture_channel_scales(&f, g->depthwise ? 3 : 0, scales);
	fixture_const(&f, NNPU_TYPE_TENSOR_INT32, g->per_channel ? 0 : g->bias_scale, 0,
		      DIMS((uint32_t)g->out_c), bias);
	add_window(&f, g);
	fixture_output(&f, quant_type(g->is_signed), g->out_scale, g->out_zero);
	if (g->unfixed)
		fixture_unfix(&f);

	good = fixture_run(&f) == 0;
	if (!good)
		tap_note("%s, operand %u", reason_text(fixture_reason(&f)),
			 fixture_bad_operand(&f));
	else if (g->nchw)
		good = fixture_is(&f, DIMS(u, (uint32_t)g->out_c, (uint32_t)g->out_y,
					   (uint32_t)g->out_x), expected);
	else
		good = fixture_is(&f, DIMS(u, (uint32_t)g->out_y, (uint32_t)g->out_x,
					   (uint32_t)g->out_c), expected);
	if (!good)
		tap_note("in %d,%d,%d,%d out %d,%d,%d taps %d,%d stride %d,%d dilation %d,%d (%d %d)",
			 g->n, g->y, g->x, g->c, g->out_y, g->out_x, g->out_c, g->taps_y,
			 g->taps_x, g->stride_y, g->stride_x, g->dilation_y, g->dilation_x,
			 g->nchw, g->unfixed);
	fixture_end(&f);
	free(in);
	free(filter);
	free(expected);
	free(bias);
	free(scales);
	return good;
}

static void test_convolution(bool depthwise)
{
	unsigned int bad = 0;
	struct geometry g;

	for (int i = 0; i < ROUNDS; i++) {
		pick_geometry(&g, depthwise);
		bad += !convolution_agrees(&g);
	}
	ok(!bad, "%s: %d random quantized convolutions", depthwise ? "DEPTHWISE_CONV_2D" :
	   "CONV_2D", ROUNDS);
}

/* Rows longer than what the kernels multiply at once. */
static void test_deep_convolution(void)
{
	unsigned int bad = 0;
	struct geometry g;

	for (int i = 0; i < 8; i++) {
		pick_geometry(&g, false);
		g.nchw = i & 1;
		g.unfixed = i & 2;
		g.is_signed = i & 4;
		g.in_zero = g.filter_zero = g.out_zero = g.is_signed ? 0 : 128;
		g.per_channel = false;
		g.n = 2;
		g.c = pick(1000, 3000);
		g.out_c = pick(1, 70);
		bad += !convolution_agrees(&g);
	}
	ok(!bad, "CONV_2D: rows of many thousand values");
}

/* Accumulators wrap around at 32 bits. */
static void test_wrap_around(void)
{
	enum { SIZE = 40000 };
	int32_t bias[1] = { INT32_MAX - 5 };
	uint8_t *in = malloc(SIZE), *weights = malloc(SIZE), expected[1];
	int64_t sum = bias[0] + 255ll * 255 * SIZE;
	int32_t wrapped = (int32_t)(uint32_t)sum;
	struct fixture f;

	memset(in, 255, SIZE);
	memset(weights, 255, SIZE);
	expected[0] = (uint8_t)clamp_output(plain_scale(wrapped, 1.0 / (1 << 24)) + 128, false,
					    65536.0f * 256, 128, 0);
	for (int unfixed = 0; unfixed < 2; unfixed++) {
		fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
		fixture_input(&f, NNPU_TYPE_TENSOR_QUANT8_ASYMM, 1, 0, DIMS(1, SIZE), in);
		fixture_const(&f, NNPU_TYPE_TENSOR_QUANT8_ASYMM, 1, 0, DIMS(1, SIZE), weights);
		fixture_const(&f, NNPU_TYPE_TENSOR_INT32, 1, 0, DIMS(1), bias);
		fixture_i32(&f, 0);
		fixture_output(&f, NNPU_TYPE_TENSOR_QUANT8_ASYMM, 65536.0f * 256, 128);
		if (unfixed)
			fixture_unfix(&f);
		ok(fixture_run(&f) == 0 && fixture_is(&f, DIMS(1, 1), expected),
		   "FULLY_CONNECTED: accumulator wraps around (%s)",
		   unfixed ? "weights as input" : "prepared");
		fixture_end(&f);
	}
	free(in);
	free(weights);
}

/* Float convolutions are sums in order: exactly those of a plain loop. */
static void test_float_convolution(void)
{
	unsigned int bad = 0;

	for (int i = 0; i < 40; i++) {
		int c = pick(1, 700), oc = pick(1, 40), size = pick(1, 6), taps = pick(1, size);
		int out = size - taps + 1;
		size_t depth = (size_t)taps * taps * c;
		float *in = malloc(sizeof(float) * (size_t)size * size * c);
		float *filter = malloc(sizeof(float) * depth * oc), bias[40];
		float *expected = malloc(sizeof(float) * (size_t)out * out * oc);
		uint32_t t = (uint32_t)taps, s = (uint32_t)size;
		struct fixture f;

		for (int j = 0; j < size * size * c; j++)
			in[j] = (float)pick(-1000, 1000) / 77;
		for (size_t j = 0; j < depth * oc; j++)
			filter[j] = (float)pick(-1000, 1000) / 33;
		for (int j = 0; j < 40; j++)
			bias[j] = (float)j;
		for (int o = 0; o < out * out * oc; o++) {
			int p = o / oc, j = o % oc;
			float sum = 0;

			for (size_t k = 0; k < depth; k++) {
				size_t tap = k / (size_t)c;
				size_t y = p / out + tap / taps, x = p % out + tap % taps;

				sum = fixture_add_term(sum, in[(y * size + x) * c + k % c],
						       filter[j * depth + k]);
			}
			expected[o] = sum + bias[j];
		}
		fixture_init(&f, NNPU_OP_CONV_2D);
		fixture_input(&f, NNPU_TYPE_TENSOR_FLOAT32, 0, 0, DIMS(1, s, s, (uint32_t)c), in);
		fixture_const(&f, NNPU_TYPE_TENSOR_FLOAT32, 0, 0,
			      DIMS((uint32_t)oc, t, t, (uint32_t)c), filter);
		fixture_const(&f, NNPU_TYPE_TENSOR_FLOAT32, 0, 0, DIMS((uint32_t)oc), bias);
		fixture_i32(&f, 2);
		fixture_i32(&f, 1);
		fixture_i32(&f, 1);
		fixture_i32(&f, 0);
		fixture_output(&f, NNPU_TYPE_TENSOR_FLOAT32, 0, 0);
		if (i & 1)
			fixture_unfix(&f);
		if (fixture_run(&f) || !fixture_is(&f, DIMS(1, (uint32_t)out, (uint32_t)out,
							    (uint32_t)oc), expected))
			bad++;
		fixture_end(&f);
		free(in);
		free(filter);
		free(expected);
	}
	ok(!bad, "CONV_2D: float sums in the order of the row");
}

/* Largest or average value under the window of output @p. */
static int plain_pool(const struct geometry *g, const struct view *in, struct position p, bool max)
{
	int sum = 0, count = 0, best = -1000;

	for (int k = 0; k < g->taps_y * g->taps_x; k++) {
		int y = p.y * g->stride_y - g->top + k / g->taps_x;
		int x = p.x * g->stride_x - g->left + k % g->taps_x;
		int v;

		if (y < 0 || y >= g->y || x < 0 || x >= g->x)
			continue;
		v = view_get(in, p.n, y, x, p.c);
		sum += v;
		count++;
		best = v > best ? v : best;
	}
	return max ? best : (int)divide_rounded(sum, count, false);
}

static void test_pooling(void)
{
	unsigned int bad = 0;

	for (int i = 0; i < ROUNDS; i++) {
		struct geometry g;
		bool max = pick(0, 1);
		uint8_t *in, *expected;
		struct view view, ov;
		struct fixture f;

		do
			pick_geometry(&g, false);
		while (g.dilation_y > 1 || g.dilation_x > 1 || g.c > 150);
		g.out_scale = ldexpf(1, -pick(1, 8));
		in = random_bytes((size_t)g.n * g.y * g.x * g.c);
		expected = malloc((size_t)g.n * g.out_y * g.out_x * g.c);
		view = (struct view){ in, g.n, g.y, g.x, g.c, g.nchw, g.is_signed, 0 };
		ov = (struct view){ expected, g.n, g.out_y, g.out_x, g.c, g.nchw, g.is_signed, 0 };
		for (size_t e = 0; e < view_size(&ov); e++) {
			struct position p = position_of(&ov, e);
			int v = plain_pool(&g, &view, p, max);

			expected[view_at(&ov, p.n, p.y, p.x, p.c)] =
				(uint8_t)clamp_output(v, g.is_signed, g.out_scale, g.out_zero,
						      g.activation);
		}
		fixture_init(&f, max ? NNPU_OP_MAX_POOL_2D : NNPU_OP_AVERAGE_POOL_2D);
		fixture_input(&f, quant_type(g.is_signed), g.out_scale, g.out_zero,
			      DIMS((uint32_t)g.n, (uint32_t)(g.nchw ? g.c : g.y),
				   (uint32_t)(g.nchw ? g.y : g.x), (uint32_t)(g.nchw ? g.x : g.c)),
			      in);
		if (g.explicit_padding) {
			fixture_i32(&f, g.left);
			fixture_i32(&f, g.right);
			fixture_i32(&f, g.top);
			fixture_i32(&f, g.bottom);
		} else {
			fixture_i32(&f, g.same ? 1 : 2);
		}
		fixture_i32(&f, g.stride_x);
		fixture_i32(&f, g.stride_y);
		fixture_i32(&f, g.taps_x);
		fixture_i32(&f, g.taps_y);
		fixture_i32(&f, g.activation);
		fixture_bool(&f, g.nchw);
		fixture_output(&f, quant_type(g.is_signed), g.out_scale, g.out_zero);
		if (g.unfixed)
			fixture_unfix(&f);
		if (fixture_run(&f) ||
		    !fixture_is(&f, DIMS((uint32_t)g.n, (uint32_t)(g.nchw ? g.c : g.out_y),
					 (uint32_t)(g.nchw ? g.out_y : g.out_x),
					 (uint32_t)(g.nchw ? g.out_x : g.c)), expected))
			bad++;
		fixture_end(&f);
		free(in);
		free(expected);
	}
	ok(!bad, "AVERAGE_POOL_2D, MAX_POOL_2D: %d random quantized poolings", ROUNDS);
}

/* ADD and MUL of every pair of ranks with broadcasting of random dimensions. */
static void test_broadcasting(void)
{
	unsigned int bad = 0;

	for (int i = 0; i < 2 * ROUNDS; i++) {
		uint32_t full[4], dims[2][4];
		unsigned int rank[2] = { (unsigned int)pick(1, 4), (unsigned int)pick(1, 4) };
		unsigned int out_rank = rank[0] > rank[1] ? rank[0] : rank[1];
		size_t sizes[2] = { 1, 1 }, total = 1;
		uint8_t *data[2], *expected;
		float scale[2] = { pick_scale(), pick_scale() };
		float out_scale = pick_scale() + scale[0] * scale[1];
		bool mul = pick(0, 1), is_signed = pick(0, 1);
		int zero[3], activation = pick(0, 3);
		struct fixture f;

		for (unsigned int d = 0; d < 4; d++)
			full[d] = pick(0, 4) ? (uint32_t)pick(1, 6) : 1;
		for (int k = 0; k < 3; k++)
			zero[k] = is_signed ? pick(-128, 127) : pick(0, 255);
		for (int k = 0; k < 2; k++) {
			for (unsigned int d = 0; d < rank[k]; d++) {
				dims[k][d] = pick(0, 2) ? full[4 - rank[k] + d] : 1;
				sizes[k] *= dims[k][d];
			}
			data[k] = random_bytes(sizes[k]);
		}
		/* The larger of the two along each dimension. */
		for (unsigned int d = 4 - out_rank; d < 4; d++) {
			uint32_t a = d + rank[0] >= 4 ? dims[0][d + rank[0] - 4] : 1;
			uint32_t b = d + rank[1] >= 4 ? dims[1][d + rank[1] - 4] : 1;

			full[d] = a > b ? a : b;
			total *= full[d];
		}
		expected = malloc(total);
		for (size_t e = 0; e < total; e++) {
			int32_t v[2], r;

			for (int k = 0; k < 2; k++) {
				size_t at = 0, rest = e, stride = 1;

				for (unsigned int d = 4; d-- > 4 - out_rank;) {
					size_t index = rest % full[d];
					unsigned int own = d + rank[k] - 4;

					rest /= full[d];
					if (d + rank[k] < 4)
						continue;
					at += (dims[k][own] == 1 ? 0 : index) * stride;
					stride *= dims[k][own];
				}
				v[k] = (is_signed ? (int8_t)data[k][at] : data[k][at]) - zero[k];
			}
			if (mul) {
				float product = scale[0] * scale[1];

				r = plain_scale((int64_t)v[0] * v[1], (double)product / out_scale);
			} else {
				double unit = 2.0 * (scale[0] > scale[1] ? scale[0] : scale[1]);

				r = plain_scale(v[0] * (1ll << 20), scale[0] / unit) +
				    plain_scale(v[1] * (1ll << 20), scale[1] / unit);
				r = plain_scale(r, unit / ((double)(1 << 20) * out_scale));
			}
			expected[e] = (uint8_t)clamp_output(r + zero[2], is_signed, out_scale,
							    zero[2], activation);
		}
		fixture_init(&f, mul ? NNPU_OP_MUL : NNPU_OP_ADD);
		for (int k = 0; k < 2; k++)
			fixture_input(&f, quant_type(is_signed), scale[k], zero[k], rank[k],
				      dims[k], data[k]);
		fixture_i32(&f, activation);
		fixture_output(&f, quant_type(is_signed), out_scale, zero[2]);
		if (fixture_run(&f) || !fixture_is(&f, out_rank, full + 4 - out_rank, expected))
			bad++;
		fixture_end(&f);
		free(data[0]);
		free(data[1]);
		free(expected);
	}
	ok(!bad, "ADD, MUL: %d random quantized pairs of shapes", 2 * ROUNDS);
}

/* Weights of hybrid calls, which are float once they are dequantized: each type, each channel dimension. */
static bool dequantize_agrees(enum nnpu_type type)
{
	bool per_channel = type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, half = pick(0, 2) == 0;
	bool is_signed = type != NNPU_TYPE_TENSOR_QUANT8_ASYMM;
	unsigned int rank = (unsigned int)pick(1, 4), dim = (unsigned int)pick(0, (int)rank - 1);
	float scale = per_channel ? 0 : pick_scale(), scales[40];
	int zero = type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? pick(0, 255) :
		   type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED ? pick(-128, 127) : 0;
	size_t total = 1, inner = 1, size = half ? sizeof(uint16_t) : sizeof(float);
	uint32_t dims[4];
	uint8_t *in, *expected;
	struct fixture f;
	bool good;

	for (unsigned int d = 0; d < rank; d++) {
		/* Of the last dimension, longer runs than are dequantized between two points. */
		dims[d] = (uint32_t)(d + 1 == rank && d != dim && pick(0, 3) == 0 ? pick(1000, 2000) :
				     pick(1, d == dim ? 40 : 9));
		total *= dims[d];
		inner *= d > dim ? dims[d] : 1;
	}
	for (unsigned int i = 0; i < 40; i++)
		scales[i] = pick_scale();
	in = random_bytes(total);
	expected = malloc(total * size);
	for (size_t i = 0; i < total; i++) {
		int v = (is_signed ? (int8_t)in[i] : in[i]) - zero;
		float real = (per_channel ? scales[i / inner % dims[dim]] : scale) * (float)v;
		uint16_t narrow = float_to_half(real);

		memcpy(expected + i * size, half ? (void *)&narrow : &real, size);
	}
	fixture_init(&f, NNPU_OP_DEQUANTIZE);
	(pick(0, 1) ? fixture_const : fixture_input)(&f, type, scale, zero, rank, dims, in);
	if (per_channel)
		fixture_channel_scales(&f, dim, scales);
	fixture_output(&f, half ? NNPU_TYPE_TENSOR_FLOAT16 : NNPU_TYPE_TENSOR_FLOAT32, 0, 0);
	good = fixture_run(&f) == 0 && fixture_is(&f, rank, dims, expected);
	if (!good)
		tap_note("%s, rank %u, channels in dimension %u", reason_text(fixture_reason(&f)),
			 rank, dim);
	fixture_end(&f);
	free(in);
	free(expected);
	return good;
}

static void test_dequantize(void)
{
	static const struct {
		enum nnpu_type type;
		const char *name;
	} kinds[] = {
		{ NNPU_TYPE_TENSOR_QUANT8_ASYMM, "U8" },
		{ NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, "S8" },
		{ NNPU_TYPE_TENSOR_QUANT8_SYMM, "symmetric" },
		{ NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, "per channel" },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		unsigned int bad = 0;

		for (int i = 0; i < ROUNDS; i++)
			bad += !dequantize_agrees(kinds[k].type);
		ok(!bad, "DEQUANTIZE, %s: %d random tensors", kinds[k].name, ROUNDS);
	}
}

int main(void)
{
	test_convolution(false);
	test_convolution(true);
	test_deep_convolution();
	test_wrap_around();
	test_float_convolution();
	test_pooling();
	test_broadcasting();
	test_dequantize();
	return tap_done();
}
