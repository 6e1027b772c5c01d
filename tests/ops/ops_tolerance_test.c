// SPDX-License-Identifier: MIT
/*
 * Float operations stay within the difference from the exact result that their class allows
 * (Documentation/operations/arithmetic.rst). The device model does, and so does another way to
 * compute, as hardware has it: fused operations, sums in the form of a tree, reciprocals.
 */
#include "tolerance.h"

#include <string.h>

/* Functions of one operand. */

static long double exact_logistic(long double x)
{
	return 1 / (1 + expl(-x));
}

static long double exact_swish(long double x)
{
	return x * fminl(fmaxl(x + 3, 0), 6) / 6;
}

static long double exact_rsqrt(long double x)
{
	return 1 / sqrtl(x);
}

/* As hardware might: reciprocals, and one exponential for all. */
static float other_logistic(float x)
{
	return 1.0f / (1.0f + exp2f(-x * (float)M_LOG2E));
}

static float other_sqrt(float x)
{
	return x * (1.0f / sqrtf(x));
}

static float other_swish(float x)
{
	return x * fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) * (1.0f / 6.0f);
}

static float other_tanh(float x)
{
	float e = expm1f(2.0f * x);

	return e * (1.0f / (e + 2.0f));
}

typedef long double exact_function(long double x);
typedef float other_function(float x);

static const struct function {
	const char *name;
	enum nnpu_operation op;
	exact_function *exact;
	other_function *other;
	float low, high;
	double floor;			/* of |v| in the bound */
} functions[] = {
	{ "EXP", NNPU_OP_EXP, expl, NULL, -80, 80, 0 },
	{ "LOG", NNPU_OP_LOG, logl, NULL, 0.001f, 10, 1 },
	{ "LOG of large numbers", NNPU_OP_LOG, logl, NULL, 1, 1e30f, 1 },
	{ "SIN", NNPU_OP_SIN, sinl, NULL, -10, 10, 1 },
	{ "SIN far away", NNPU_OP_SIN, sinl, NULL, -1e6f, 1e6f, 1 },
	{ "SQRT", NNPU_OP_SQRT, sqrtl, other_sqrt, 0.001f, 1e4f, 0 },
	{ "RSQRT", NNPU_OP_RSQRT, exact_rsqrt, NULL, 0.001f, 1e4f, 0 },
	{ "TANH", NNPU_OP_TANH, tanhl, other_tanh, -9, 9, 0 },
	{ "TANH near 0", NNPU_OP_TANH, tanhl, other_tanh, -0.01f, 0.01f, 0 },
	{ "LOGISTIC", NNPU_OP_LOGISTIC, exact_logistic, other_logistic, -20, 20, 1 / 16.0 },
	{ "LOGISTIC near -9", NNPU_OP_LOGISTIC, exact_logistic, other_logistic, -9.1f, -8.9f,
	  1 / 16.0 },
	{ "LOGISTIC far away", NNPU_OP_LOGISTIC, exact_logistic, NULL, -100, -80, 1 / 16.0 },
	{ "HARD_SWISH", NNPU_OP_HARD_SWISH, exact_swish, other_swish, -4, 4, 0 },
};

#define N	20000u

static void test_functions(void)
{
	struct exact *e = exacts(N);
	float other[N];
	size_t k, i;

	for (k = 0; k < sizeof(functions) / sizeof(functions[0]); k++) {
		const struct function *d = &functions[k];
		float *x = numbers(N, d->low, d->high);
		struct fixture f;

		for (i = 0; i < N; i++) {
			e[i].v = d->exact(x[i]);
			e[i].bound = 8 * U * fmaxl(fabsl(e[i].v), (long double)d->floor);
			if (d->other)
				other[i] = d->other(x[i]);
		}
		fixture_init(&f, d->op);
		fixture_input(&f, F32, 0, 0, DIMS(N), x);
		fixture_output(&f, F32, 0, 0);
		model(d->name, &f, e, N);
		if (d->other)
			within("... computed in another way", other, e, N);
		free(x);
	}
	free(e);
}

static void test_elu(void)
{
	float *x = numbers(N, -20, 2), alpha = 1.7f;
	struct exact *e = exacts(N);
	struct fixture f;
	size_t i;

	for (i = 0; i < N; i++) {
		e[i].v = x[i] > 0 ? x[i] : alpha * expm1l(x[i]);
		e[i].bound = 8 * U * fabsl(e[i].v);
	}
	fixture_init(&f, NNPU_OP_ELU);
	fixture_input(&f, F32, 0, 0, DIMS(N), x);
	fixture_f32(&f, alpha);
	fixture_output(&f, F32, 0, 0);
	model("ELU", &f, e, N);
	free(x);
	free(e);
}

/* Of two operands. */

static void pair(const char *name, enum nnpu_operation op, const float *x, const float *y,
		 const struct exact *e)
{
	struct fixture f;

	fixture_init(&f, op);
	fixture_input(&f, F32, 0, 0, DIMS(N), x);
	fixture_input(&f, F32, 0, 0, DIMS(N), y);
	if (op != NNPU_OP_POW && op != NNPU_OP_PRELU)
		fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	model(name, &f, e, N);
}

static void test_pairs(void)
{
	float *x = numbers(N, -100, 100), *y = numbers(N, 0.5f, 3), *base = numbers(N, 0.01f, 50);
	struct exact *e = exacts(N);
	float other[N];
	size_t i;

#define PAIR(op, exact_value) do { \
		for (i = 0; i < N; i++) { \
			e[i].v = exact_value; \
			e[i].bound = U * fabsl(e[i].v); \
		} \
		pair(#op, NNPU_OP_##op, x, y, e); \
	} while (0)

	PAIR(ADD, (long double)x[i] + y[i]);
	PAIR(SUB, (long double)x[i] - y[i]);
	PAIR(MUL, (long double)x[i] * y[i]);
	PAIR(PRELU, x[i] < 0 ? (long double)x[i] * y[i] : (long double)x[i]);
	for (i = 0; i < N; i++) {
		e[i].v = (long double)x[i] / y[i];
		e[i].bound = 8 * U * fabsl(e[i].v);
		other[i] = x[i] * (1.0f / y[i]);
	}
	pair("DIV", NNPU_OP_DIV, x, y, e);
	within("... by a reciprocal", other, e, N);
	for (i = 0; i < N; i++) {
		e[i].v = powl(base[i], y[i]);
		e[i].bound = (8 + 8 * fabsl(y[i] * logl(base[i]))) * U * fabsl(e[i].v);
		other[i] = exp2f(y[i] * log2f(base[i]));
	}
	pair("POW", NNPU_OP_POW, base, y, e);
	within("... by a logarithm", other, e, N);
	free(x);
	free(y);
	free(base);
	free(e);
}

/* Sums. */

/* The sum of @n products in the form of a tree. */
static float tree(const float *x, const float *w, size_t n)
{
	return n == 1 ? *x * *w : tree(x, w, n / 2) + tree(x + n / 2, w + n / 2, n - n / 2);
}

static float fused(const float *x, const float *w, size_t n, float sum)
{
	for (size_t i = 0; i < n; i++)
		sum = fmaf(x[i], w[i], sum);
	return sum;
}

/* Of the sum of products and @bias, divided by @by. */
static struct exact exact_sum(const float *x, const float *w, size_t n, float bias, long double by)
{
	long double v = bias, magnitude = fabsl((long double)bias);

	for (size_t i = 0; i < n; i++) {
		v += (long double)x[i] * w[i];
		magnitude += fabsl((long double)x[i] * w[i]);
	}
	return (struct exact){ v / by, growth((long double)n + (bias != 0)) * magnitude / by };
}

/* One pixel whose taps are all inside is the sum of a fully connected layer. */
static void convolution(const char *name, enum nnpu_operation op, const float *x, const float *w,
			const float *bias, uint32_t n, uint32_t units, const struct exact *e)
{
	bool transposed = op == NNPU_OP_TRANSPOSE_CONV_2D, grouped = op == NNPU_OP_GROUPED_CONV_2D;
	struct fixture f;

	fixture_init(&f, op);
	fixture_input(&f, F32, 0, 0, DIMS(1, 1, 1, n), x);
	fixture_const(&f, F32, 0, 0, DIMS(units, 1, 1, n), w);
	fixture_const(&f, F32, 0, 0, DIMS(units), bias);
	if (transposed)
		fixture_const(&f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(4),
			      (int32_t[]){ 1, 1, 1, (int32_t)units });
	fixture_i32(&f, 2);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	if (grouped)
		fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	if (grouped || transposed)
		fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	model(name, &f, e, units);
}

/* A step of RNN without activation: a sum over inputs and state. */
static void test_rnn(uint32_t n)
{
	const uint32_t units = 32;
	float *x = numbers(n + units, -1, 1), *w = numbers((size_t)(n + units) * units, -1, 1);
	float *in = numbers((size_t)n * units, 0, 0), *again = numbers((size_t)units * units, 0, 0);
	float *bias = numbers(units, 0.1f, 1);
	struct exact e[32];
	struct fixture f;
	uint32_t i;

	for (i = 0; i < units; i++) {
		const float *row = w + (size_t)i * (n + units);

		e[i] = exact_sum(x, row, n + units, bias[i], 1);
		memcpy(in + (size_t)i * n, row, n * sizeof(*row));
		memcpy(again + (size_t)i * units, row + n, units * sizeof(*row));
	}
	fixture_init(&f, NNPU_OP_RNN);
	fixture_input(&f, F32, 0, 0, DIMS(1, n), x);
	fixture_const(&f, F32, 0, 0, DIMS(units, n), in);
	fixture_const(&f, F32, 0, 0, DIMS(units, units), again);
	fixture_const(&f, F32, 0, 0, DIMS(units), bias);
	fixture_input(&f, F32, 0, 0, DIMS(1, units), x + n);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	fixture_output(&f, F32, 0, 0);
	model("RNN", &f, e, units);
	free(x);
	free(w);
	free(in);
	free(again);
	free(bias);
}

static void test_products(uint32_t n)
{
	const uint32_t units = 64;
	float *x = numbers(n, -1, 1), *w = numbers((size_t)n * units, -1, 1);
	float *bias = numbers(units, 0.1f, 1), other[2][64];
	struct exact e[64];
	struct fixture f;
	uint32_t i;

	for (i = 0; i < units; i++) {
		const float *row = w + (size_t)i * n;

		e[i] = exact_sum(x, row, n, bias[i], 1);
		other[0][i] = tree(x, row, n) + bias[i];
		other[1][i] = fused(x, row, n, bias[i]);
	}
	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(&f, F32, 0, 0, DIMS(1, n), x);
	fixture_const(&f, F32, 0, 0, DIMS(units, n), w);
	fixture_const(&f, F32, 0, 0, DIMS(units), bias);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	model("FULLY_CONNECTED", &f, e, units);
	within("... as a tree", other[0], e, units);
	within("... fused", other[1], e, units);
	convolution("CONV_2D", NNPU_OP_CONV_2D, x, w, bias, n, units, e);
	convolution("GROUPED_CONV_2D", NNPU_OP_GROUPED_CONV_2D, x, w, bias, n, units, e);
	convolution("TRANSPOSE_CONV_2D", NNPU_OP_TRANSPOSE_CONV_2D, x, w, bias, n, units, e);
	free(x);
	free(w);
	free(bias);
}

/* A filter of 7 x 5 over one channel, everywhere inside. */
static void test_depthwise(void)
{
	float *x = numbers(20 * 20, -1, 1), *w = numbers(35, -1, 1), bias = 0.3f;
	struct exact e[14 * 16];
	struct fixture f;
	float window[35];
	uint32_t y, c, t;

	for (y = 0; y < 14; y++)
		for (c = 0; c < 16; c++) {
			for (t = 0; t < 35; t++)
				window[t] = x[(y + t / 5) * 20 + c + t % 5];
			e[y * 16 + c] = exact_sum(window, w, 35, bias, 1);
		}
	fixture_init(&f, NNPU_OP_DEPTHWISE_CONV_2D);
	fixture_input(&f, F32, 0, 0, DIMS(1, 20, 20, 1), x);
	fixture_const(&f, F32, 0, 0, DIMS(1, 7, 5, 1), w);
	fixture_const(&f, F32, 0, 0, DIMS(1), &bias);
	fixture_i32(&f, 2);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 1);
	fixture_i32(&f, 0);
	fixture_output(&f, F32, 0, 0);
	model("DEPTHWISE_CONV_2D", &f, e, 14 * 16);
	free(x);
	free(w);
}

static void reduce(struct fixture *f, enum nnpu_operation op, const float *x, uint32_t n)
{
	fixture_init(f, op);
	fixture_input(f, F32, 0, 0, DIMS(n), x);
	fixture_const(f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(1), (int32_t[]){ 0 });
	if (op == NNPU_OP_MEAN)
		fixture_i32(f, 0);
	else
		fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
}

static void test_reductions(uint32_t n)
{
	float *x = numbers(n, -1, 3), *one = numbers(n, 1, 1), other;
	struct exact e;
	struct fixture f;
	uint32_t i;

	e = exact_sum(x, one, n, 0, 1);
	reduce(&f, NNPU_OP_REDUCE_SUM, x, n);
	model("REDUCE_SUM", &f, &e, 1);
	e = exact_sum(x, one, n, 0, n);
	reduce(&f, NNPU_OP_MEAN, x, n);
	model("MEAN", &f, &e, 1);
	other = tree(x, one, n) * (1.0f / (float)n);
	within("... as a tree, by a reciprocal", &other, &e, 1);
	for (i = 0; i < n; i++)
		x[i] = between(0.9f, 1.1f);
	e.v = 1;
	for (i = 0; i < n; i++)
		e.v *= x[i];
	e.bound = growth(n + 2.0L) * fabsl(e.v);
	if (e.v > FLT_MIN && e.v < FLT_MAX) {
		reduce(&f, NNPU_OP_REDUCE_PROD, x, n);
		model("REDUCE_PROD", &f, &e, 1);
	}
	free(x);
	free(one);
}

/* A window over the whole image of one channel. */
static void test_pools(uint32_t side)
{
	static const enum nnpu_operation ops[] = { NNPU_OP_AVERAGE_POOL_2D, NNPU_OP_L2_POOL_2D };
	const uint32_t n = side * side;
	float *x = numbers(n, -1, 3), *one = numbers(n, 1, 1), other[2];
	struct exact e[2];
	struct fixture f;
	unsigned int k;

	e[0] = exact_sum(x, one, n, 0, n);
	e[1].v = sqrtl(exact_sum(x, x, n, 0, n).v);
	e[1].bound = growth(n + 2.0L) * e[1].v;
	other[0] = tree(x, one, n) * (1.0f / (float)n);
	other[1] = sqrtf(fused(x, x, n, 0) * (1.0f / (float)n));
	for (k = 0; k < 2; k++) {
		fixture_init(&f, ops[k]);
		fixture_input(&f, F32, 0, 0, DIMS(1, side, side, 1), x);
		fixture_i32(&f, 2);
		fixture_i32(&f, 1);
		fixture_i32(&f, 1);
		fixture_i32(&f, (int32_t)side);
		fixture_i32(&f, (int32_t)side);
		fixture_i32(&f, 0);
		fixture_output(&f, F32, 0, 0);
		model(k ? "L2_POOL_2D" : "AVERAGE_POOL_2D", &f, &e[k], 1);
		within("... computed in another way", &other[k], &e[k], 1);
	}
	free(x);
	free(one);
}

/* Rows. */

static void test_rows(uint32_t n, float range)
{
	long double sum = 0, squares = 0, far = 0, allowed;
	float *x = numbers(n, -range, range), *other = numbers(n, 0, 0), beta = 1.3f, max = -FLT_MAX;
	struct exact *e = exacts(n);
	struct fixture f;
	float approximate = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		max = fmaxf(max, x[i]);
	for (i = 0; i < n; i++) {
		sum += expl(((long double)x[i] - max) * beta);
		squares += (long double)x[i] * x[i];
		far = fmaxl(far, fabsl(((long double)x[i] - max) * beta));
		other[i] = exp2f((x[i] - max) * (beta * (float)M_LOG2E));
		approximate += other[i];
	}
	allowed = growth(n + 28 + 8 * far);
	for (i = 0; i < n; i++) {
		e[i].v = expl(((long double)x[i] - max) * beta) / sum;
		e[i].bound = allowed * e[i].v;
		other[i] *= 1.0f / approximate;
	}
	fixture_init(&f, NNPU_OP_SOFTMAX);
	fixture_input(&f, F32, 0, 0, DIMS(1, n), x);
	fixture_f32(&f, beta);
	fixture_output(&f, F32, 0, 0);
	model("SOFTMAX", &f, e, n);
	within("... by powers of two", other, e, n);
	for (i = 0; i < n; i++) {
		e[i].v = ((long double)x[i] - max) * beta - logl(sum);
		e[i].bound = allowed;
		other[i] = fmaf(x[i] - max, beta, -log2f(approximate) * (float)M_LN2);
	}
	fixture_init(&f, NNPU_OP_LOG_SOFTMAX);
	fixture_input(&f, F32, 0, 0, DIMS(1, n), x);
	fixture_f32(&f, beta);
	fixture_i32(&f, 1);
	fixture_output(&f, F32, 0, 0);
	model("LOG_SOFTMAX", &f, e, n);
	within("... by powers of two", other, e, n);
	for (i = 0; i < n; i++) {
		e[i].v = x[i] / sqrtl(squares);
		e[i].bound = growth(n + 2.0L) * fabsl(e[i].v);
		other[i] = x[i] * (1.0f / sqrtf(tree(x, x, n)));
	}
	fixture_init(&f, NNPU_OP_L2_NORMALIZATION);
	fixture_input(&f, F32, 0, 0, DIMS(1, n), x);
	fixture_output(&f, F32, 0, 0);
	model("L2_NORMALIZATION", &f, e, n);
	within("... by a reciprocal", other, e, n);
	free(x);
	free(other);
	free(e);
}

/* Positions. */

/* An image of one channel. */
struct picture {
	const float *data;
	uint32_t height, width;
};

static long double element(const struct picture *p, long double y, long double x)
{
	uint32_t row = (uint32_t)fminl(fmaxl(y, 0), p->height - 1);
	uint32_t col = (uint32_t)fminl(fmaxl(x, 0), p->width - 1);

	return p->data[row * p->width + col];
}

/* The value at a position, and what it may differ by if that may by @dy and @dx. */
static struct exact interpolate(const struct picture *p, long double y, long double x, long double dy,
				long double dx)
{
	long double top = floorl(y), left = floorl(x), wy = y - top, wx = x - left, a, b, c, d;
	long double steps[2] = { 0, 0 };
	int i, k;

	a = (1 - wy) * (1 - wx) * element(p, top, left);
	b = (1 - wy) * wx * element(p, top, left + 1);
	c = wy * (1 - wx) * element(p, top + 1, left);
	d = wy * wx * element(p, top + 1, left + 1);
	/* The largest steps between neighbours, also of those beyond the next element. */
	for (i = -1; i <= 2; i++)
		for (k = -1; k <= 2; k++) {
			long double here = element(p, top + i, left + k);

			steps[0] = fmaxl(steps[0], fabsl(element(p, top + i + 1, left + k) - here));
			steps[1] = fmaxl(steps[1], fabsl(element(p, top + i, left + k + 1) - here));
		}
	return (struct exact){
		a + b + c + d,
		growth(4) * (fabsl(a) + fabsl(b) + fabsl(c) + fabsl(d)) + dy * steps[0] +
		dx * steps[1],
	};
}

/* Position of output @i, with half pixel centers. */
static long double source(uint32_t i, uint32_t in, uint32_t out)
{
	return fmaxl((i + 0.5L) * in / out - 0.5L, 0);
}

static float other_position(uint32_t i, float in, float out)
{
	return fmaxf(fmaf((float)i + 0.5f, in * (1.0f / out), -0.5f), 0);
}

static void test_resize(uint32_t in, uint32_t out)
{
	float *x = numbers(2 * (size_t)in, -1, 1), *other = numbers(out, 0, 0);
	const struct picture p = { x, 2, in };
	struct exact *e = exacts(out);
	struct fixture f;
	uint32_t i;

	for (i = 0; i < out; i++) {
		long double at = source(i, in, out);
		float near = other_position(i, (float)in, (float)out), left = floorf(near);

		/* One row: the first of two. */
		e[i] = interpolate(&p, source(0, 2, 1), at, 4 * U * 1.5L, 4 * U * (at + 1));
		near -= left;
		other[i] = 0.5f * (fmaf(near, (float)(element(&p, 0, left + 1) - element(&p, 0, left)),
					(float)element(&p, 0, left)) +
				   fmaf(near, (float)(element(&p, 1, left + 1) - element(&p, 1, left)),
					(float)element(&p, 1, left)));
	}
	fixture_init(&f, NNPU_OP_RESIZE_BILINEAR);
	fixture_input(&f, F32, 0, 0, DIMS(1, 2, in, 1), x);
	fixture_i32(&f, (int32_t)out);
	fixture_i32(&f, 1);
	fixture_bool(&f, false);
	fixture_bool(&f, false);
	fixture_bool(&f, true);
	fixture_output(&f, F32, 0, 0);
	model("RESIZE_BILINEAR", &f, e, out);
	within("... with fused positions", other, e, out);
	free(x);
	free(other);
	free(e);
}

/* A region of an image that is @size wide, with @points points for each of @out outputs. */
static void test_roi(uint32_t size, uint32_t out, int32_t points)
{
	float *x = numbers(4 * (size_t)size, -1, 1);
	const float ratio = 1.7f, region[4] = { 0.3f, 0.1f, (float)size * 1.69f, 6.1f };
	const struct picture p = { x, 4, size };
	struct exact *e = exacts(out);
	struct fixture f;
	uint32_t i;
	int32_t r, k;

	for (i = 0; i < out; i++) {
		long double first[2] = { region[1] / (long double)ratio, region[0] / (long double)ratio };
		long double last[2] = { region[3] / (long double)ratio, region[2] / (long double)ratio };
		long double step[2] = { last[0] - first[0], (last[1] - first[1]) / out };
		long double slack = 0;

		for (r = 0; r < points; r++)
			for (k = 0; k < points; k++) {
				long double at[2] = {
					first[0] + step[0] * (r + 0.5L) / points,
					first[1] + step[1] * (i + (k + 0.5L) / points),
				};
				struct exact one;

				one = interpolate(&p, fminl(at[0], 3), fminl(at[1], size - 1),
						  16 * U * (last[0] + 1), 16 * U * (last[1] + 1));
				e[i].v += one.v / points / points;
				e[i].bound += one.bound / points / points;
				/* More terms: at most 1 each, of which four have the weight of one. */
				slack = growth(4.0L * points * points);
			}
		e[i].bound += slack;
	}
	fixture_init(&f, NNPU_OP_ROI_ALIGN);
	fixture_input(&f, F32, 0, 0, DIMS(1, 4, size, 1), x);
	fixture_input(&f, F32, 0, 0, DIMS(1, 4), region);
	fixture_input(&f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(1), (int32_t[]){ 0 });
	fixture_i32(&f, 1);
	fixture_i32(&f, (int32_t)out);
	fixture_f32(&f, ratio);
	fixture_f32(&f, ratio);
	fixture_i32(&f, points);
	fixture_i32(&f, points);
	fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	model("ROI_ALIGN", &f, e, out);
	free(x);
	free(e);
}

/* Decisions. */

/* The step is one of those that a quotient within its difference has. */
static void test_quantize(void)
{
	float *x = numbers(N, -300, 300), scale = 1.1f;
	const uint8_t *got;
	struct fixture f;
	size_t i, bad[2] = { 0, 0 };

	for (i = 0; i < N; i += 2)
		x[i] = ((float)((int)(i / 2 % 240) - 120) + 0.5f) * scale;
	fixture_init(&f, NNPU_OP_QUANTIZE);
	fixture_input(&f, F32, 0, 0, DIMS(N), x);
	fixture_output(&f, NNPU_TYPE_TENSOR_QUANT8_ASYMM, scale, 128);
	got = (const uint8_t *)result(&f);
	for (i = 0; got && i < N; i++) {
		long double v = (long double)x[i] / scale, d = 3 * U * fabsl(v);
		long double low = fminl(fmaxl(roundl(v - d) + 128, 0), 255);
		long double high = fminl(fmaxl(roundl(v + d) + 128, 0), 255);
		float other = fminf(fmaxf(roundf(x[i] * (1.0f / scale)) + 128, 0), 255);

		bad[0] += got[i] < low || got[i] > high;
		bad[1] += other < low || other > high;
	}
	ok(!bad[0] && !bad[1], "QUANTIZE: %zu wrong steps, by a reciprocal %zu", bad[0], bad[1]);
	fixture_end(&f);
	free(x);
}

static void test_nearest(uint32_t in, uint32_t out)
{
	float *x = numbers(in, 0, 0);
	struct fixture f;
	const float *got;
	uint32_t i, bad = 0;

	for (i = 0; i < in; i++)
		x[i] = (float)i;
	fixture_init(&f, NNPU_OP_RESIZE_NEAREST_NEIGHBOR);
	fixture_input(&f, F32, 0, 0, DIMS(1, 1, in, 1), x);
	fixture_i32(&f, (int32_t)out);
	fixture_i32(&f, 1);
	fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	got = result(&f);
	for (i = 0; got && i < out; i++) {
		long double at = (long double)i * in / out, d = 4 * U * (at + 1);

		bad += got[i] < fminl(floorl(at - d), in - 1) || got[i] > fminl(floorl(at + d), in - 1);
	}
	ok(!bad, "RESIZE_NEAREST_NEIGHBOR, %u to %u: %u wrong elements", in, out, bad);
	fixture_end(&f);
	free(x);
}

int main(void)
{
	test_functions();
	test_elu();
	test_pairs();
	test_products(1);
	test_products(100);
	test_products(20000);
	test_rnn(1000);
	test_depthwise();
	test_reductions(10);
	test_reductions(300000);
	test_pools(3);
	test_pools(500);
	test_rows(10, 3);
	test_rows(1000, 40);
	test_rows(30000, 1);
	test_resize(7, 20);
	test_resize(5000, 7919);
	test_resize(100003, 65537);
	test_roi(50, 7, 2);
	test_roi(30011, 997, 3);
	test_quantize();
	test_nearest(7, 20);
	test_nearest(65537, 100003);
	return tap_done();
}
