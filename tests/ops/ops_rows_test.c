// SPDX-License-Identifier: MIT
/*
 * Loops along rows: each variant of them against loops as row_kernels.h defines them, functions
 * against those of the C library; and whole operations that use them against plain loops. All but
 * the functions are compared byte for byte.
 */
#include <float.h>
#include <float16.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "kernels.h"
#include "ops_fixture.h"
#include "page_end.h"

#define ROUNDS	2000
#define CALLS	100

/* Elements of a row of a test, at most, and rows of memory. */
enum { MOST = 150, ROWS = 8 };

static float pick_float(void)
{
	static const float special[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX };

	if (pick(0, 200) == 0)
		return special[pick(0, 6)];
	return ldexpf((float)pick(-(1 << 20), 1 << 20), pick(-22, -14));
}

/* The same bits, or both a NaN: its sign and payload are the CPU's. */
static bool same(const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (memcmp(a + i, b + i, sizeof(*a)) && !(isnan(a[i]) && isnan(b[i])))
			return false;
	}
	return true;
}

/* What a round of tests reads. */
struct data {
	float x[ROWS * MOST], y[MOST];
	uint8_t bytes[4 * MOST];
	size_t n;
	uint8_t flip;
};

static void fill(struct data *d)
{
	for (size_t i = 0; i < ROWS * MOST; i++)
		d->x[i] = pick_float();
	for (size_t i = 0; i < MOST; i++)
		d->y[i] = pick_float();
	for (size_t i = 0; i < sizeof(d->bytes); i++)
		d->bytes[i] = (uint8_t)(pick(0, 4) ? next_random() : pick(0, 1) ? 0x80 : 0x7f);
	d->n = (size_t)pick(0, MOST);
	d->flip = pick(0, 1) ? 0x80 : 0;
}

/* @what: 0 the larger one, 1 the sum of squares, 2 a quotient. */
static bool float_loops(const struct row_kernels *k, const struct data *d)
{
	float expected[MOST], acc[MOST], by = d->y[0];
	bool good = true;

	for (int what = 0; what < 3; what++) {
		memcpy(expected, d->y, sizeof(acc));
		memcpy(acc, d->y, sizeof(acc));
		for (size_t i = 0; i < d->n; i++) {
			float v = d->x[i];

			if (what == 0)
				expected[i] = v > expected[i] ? v : expected[i];
			else if (what == 2)
				expected[i] /= by;
			else
				expected[i] += v * v;
		}
		if (what == 0)
			k->fmax(d->x, d->n, acc);
		else if (what == 1)
			k->fadd_squares(d->x, d->n, acc);
		else
			k->fdivide(acc, d->n, by);
		good &= same(expected, acc, MOST);
	}
	return good;
}

/* Both terms are rows, or one of them is a value; rows of a term are apart, or they are the same. */
static bool arithmetic(const struct row_kernels *k, const struct data *d)
{
	enum { OUT = 800 };
	bool short_rows = pick(0, 1);
	size_t n = short_rows ? (size_t)pick(1, 20) : d->n, rows = (size_t)pick(1, short_rows ? 40 : 3);
	bool good = true;

	for (int form = 0; form < 15; form++) {
		enum row_arithmetic what = (enum row_arithmetic)(form / 3);
		float expected[OUT] = { 0 }, y[OUT] = { 0 };
		const float *in[] = { d->x, d->x + MOST };
		struct broadcast_run run = {
			.a = in[0], .b = in[1],
			.sa = form % 3 != 1, .sb = form % 3 != 2,
			.out = y, .n = n, .rows = rows,
			.next_a = pick(0, 2) ? n : (size_t)pick(0, 25),
			.next_b = pick(0, 2) ? (size_t)pick(0, 1) : n,
		};
		float min = pick(0, 1) ? -INFINITY : 0, max = pick(0, 1) ? INFINITY : 6;

		for (size_t i = 0; i < rows * n; i++) {
			float a = in[0][i / n * run.next_a + i % n * run.sa];
			float b = in[1][i / n * run.next_b + i % n * run.sb], v;

			v = what == ROW_ADD ? a + b : what == ROW_SUB ? a - b :
			    what == ROW_MUL ? a * b : what == ROW_DIV ? a / b : (a - b) * (a - b);
			v = v < min ? min : v;
			expected[i] = v > max ? max : v;
		}
		k->arithmetic(what, &run, min, max);
		good &= same(expected, y, OUT);
	}
	return good;
}

static bool largest(const struct row_kernels *k, const struct data *d)
{
	float expected = d->y[0], v;

	for (size_t i = 0; i < d->n; i++)
		expected = d->x[i] > expected ? d->x[i] : expected;
	v = k->largest(d->x, d->n, d->y[0]);
	return v == expected || (isnan(v) && isnan(expected));
}

static bool products(const struct row_kernels *k, const struct data *d)
{
	float expected[ROW_PRODUCTS], sums[ROW_PRODUCTS];
	size_t stride = d->n + (size_t)pick(0, (int)(MOST - d->n));

	for (unsigned int r = 0; r < ROW_PRODUCTS; r++) {
		sums[r] = expected[r] = d->y[r];
		for (size_t j = 0; j < d->n; j++)
			expected[r] += d->x[r * stride + j] * d->y[j];
	}
	k->products(d->x, stride, d->y, d->n, sums);
	return same(expected, sums, ROW_PRODUCTS);
}

/* Functions of single elements, in place as well. */
static bool values(const struct row_kernels *k, const struct data *d)
{
	float low = (float)pick(-3, 0), high = (float)pick(0, 6), expected[MOST], y[MOST], own[MOST];
	bool good = true;

	for (int what = ROW_NEG; what <= ROW_LIMIT; what++) {
		memcpy(expected, d->y, sizeof(y));
		memcpy(y, d->y, sizeof(y));
		for (size_t i = 0; i < d->n; i++) {
			float v = d->x[i];

			expected[i] = what == ROW_NEG ? -v : what == ROW_ABS ? fabsf(v) :
				      what == ROW_SQRT ? sqrtf(v) : what == ROW_RSQRT ? 1 / sqrtf(v) :
				      what == ROW_LEAKY ? (v > 0 ? v : v * low) :
				      v < low ? low : v > high ? high : v;
		}
		memcpy(own, d->x, sizeof(own));
		k->function((enum row_function)what, d->x, d->n, low, high, y);
		k->function((enum row_function)what, own, d->n, low, high, own);
		good &= same(expected, y, MOST) && same(expected, own, d->n);
	}
	return good;
}

/* Any halves: infinities, NaNs and numbers of little precision, too. */
static bool halves(const struct row_kernels *k, const struct data *d)
{
	float expected[MOST] = { 0 }, y[MOST] = { 0 };
	uint16_t x[MOST];

	for (size_t i = 0; i < d->n; i++) {
		x[i] = (uint16_t)(pick(0, 9) ? next_random() : (uint32_t)pick(0, 1) << 15 | 0x7c00);
		expected[i] = half_to_float(x[i]);
	}
	k->widen_halves(x, d->n, y);
	return !memcmp(expected, y, sizeof(y));
}

/* Sums of rows and of columns, of any number of either; nothing behind them is written. */
static bool matrix_sums(const struct row_kernels *k, const struct data *d)
{
	enum { PARTS = ROW_PARTS * MOST };
	size_t limit = ROWS * MOST, n = (size_t)(pick(0, 2) ? pick(0, 25) : pick(0, MOST - 1));
	size_t stride = n + (size_t)pick(0, 9), most = stride ? (limit - n) / stride : MOST - 1;
	size_t rows = (size_t)pick(0, (int)(most < MOST ? most : MOST - 1));
	size_t first = (size_t)pick(0, ROW_PARTS - 1), apart = n + (size_t)pick(0, 1);
	float expected[3][PARTS], sums[3][PARTS];

	for (unsigned int i = 0; i < 3 * PARTS; i++)
		expected[i / PARTS][i % PARTS] = d->y[i % MOST];
	memcpy(sums, expected, sizeof(sums));
	for (size_t r = 0; r < rows; r++) {
		for (size_t j = 0; j < n; j++) {
			float v = d->x[r * stride + j];

			expected[0][j] += v;
			expected[1][ROW_PARTS * r + (first + j) % ROW_PARTS] += v;
			expected[2][(first + r) % ROW_PARTS * apart + j] += v;
		}
	}
	k->add_rows(d->x, stride, rows, n, sums[0]);
	k->sum_rows(d->x, stride, rows, n, first, sums[1]);
	k->sum_columns(d->x, stride, rows, n, first, sums[2], apart);
	return same(expected[0], sums[0], PARTS) && same(expected[1], sums[1], PARTS) &&
	       same(expected[2], sums[2], PARTS);
}

static bool byte_loops(const struct row_kernels *k, const struct data *d)
{
	const int8_t *w = (const int8_t *)d->bytes, *x = w + MOST;
	int32_t acc[MOST], sums[MOST], zero = pick(-128, 127), dot = 0, sum = 0;
	uint8_t max[MOST], largest_bytes[MOST];

	for (size_t i = 0; i < MOST; i++) {
		acc[i] = sums[i] = pick(-(1 << 20), 1 << 20);
		max[i] = largest_bytes[i] = (uint8_t)next_random();
	}
	for (size_t i = 0; i < d->n; i++) {
		uint8_t v = d->bytes[i] ^ d->flip;

		dot += w[i] * (x[i] - zero);
		sum += v - d->flip;
		sums[i] += v - d->flip;
		if (v > max[i])
			max[i] = v;
	}
	k->add_bytes(d->bytes, d->n, d->flip, acc);
	k->max_bytes(d->bytes, d->n, d->flip, largest_bytes);
	return !memcmp(acc, sums, sizeof(acc)) && !memcmp(max, largest_bytes, sizeof(max)) &&
	       k->dot_bytes(w, x, d->n, zero) == dot &&
	       k->sum_bytes(d->bytes, d->n, d->flip) == sum;
}

/* Rows of weights, some of which may be the same. Some are so long that sums in 16 bits would overflow. */
static bool products_of_bytes(const struct row_kernels *k, const struct data *d)
{
	enum { LONGEST = 5000 };
	size_t n = pick(0, 15) ? d->n : pick(0, 1) ? LONGEST : (size_t)pick(0, LONGEST);
	/* ASan finds reads behind them. */
	uint8_t *bytes = malloc(2 * n + 1), *x = malloc(n + 1);
	bool extreme = !pick(0, 3), good;
	int32_t sums[ROW_UNITS] = { 0 }, products[ROW_UNITS] = { 0 };
	unsigned int rows = (unsigned int)pick(1, ROW_UNITS);
	const uint8_t *w[ROW_UNITS];
	uint8_t x_flip = pick(0, 1) ? 0x80 : 0;
	int16_t zero = (int16_t)(extreme ? 255 * pick(0, 1) : pick(0, 255));
	uint8_t furthest = (uint8_t)(zero ? 0 : 255);

	if (!bytes || !x)
		abort();
	for (size_t i = 0; i < 2 * n; i++)
		bytes[1 + i] = extreme ? 0x80 ^ d->flip : (uint8_t)next_random();
	for (unsigned int r = 0; r < ROW_UNITS; r++)
		w[r] = bytes + 1 + (r ? (size_t)pick(0, (int)n) : n);
	for (size_t i = 0; i < n; i++) {
		x[1 + i] = extreme ? furthest ^ x_flip : (uint8_t)next_random();
		for (unsigned int r = 0; r < rows; r++)
			products[r] += ((x[1 + i] ^ x_flip) - zero) * (int8_t)(w[r][i] ^ d->flip);
	}
	k->dot_values(rows, x + 1, x_flip, zero, w, d->flip, n, sums);
	good = !memcmp(sums, products, sizeof(sums));
	free(bytes);
	free(x);
	return good;
}

/* Quotients of sums of bytes, mostly near those that are rounded the other way. */
static bool quotients(const struct row_kernels *k, const struct data *d)
{
	int32_t count = pick(0, 1) ? pick(1, 20) : pick(1, ROW_COUNT), acc[MOST], expected[MOST];

	for (size_t i = 0; i < MOST; i++) {
		int32_t whole = pick(-128, 255), v = whole * count;

		if (pick(0, 2))
			v += (whole > 0 ? -1 : 1) * (count / 2 + pick(0, 1));
		else if (whole > -128 && whole < 255)
			v += pick(0, count) - count / 2;
		acc[i] = expected[i] = v;
		if (i < d->n)
			expected[i] = (int32_t)lround((double)v / count);
	}
	k->divide(acc, d->n, count);
	return !memcmp(acc, expected, sizeof(acc));
}

static float between(float a, float b, float c, float d, float y, float x)
{
	float v = a * (1.0f - y) * (1.0f - x);

	v += b * y * (1.0f - x);
	v += c * (1.0f - y) * x;
	return v + d * y * x;
}

/* Pixels of one channel to many, between any others, and with gaps; what is in the gaps stays. */
static bool betweens(const struct row_kernels *k, const struct data *d)
{
	size_t channels = (size_t)(pick(0, 1) ? pick(1, 8) : pick(1, MOST)), next = channels + (size_t)pick(0, 2);
	struct between_columns columns[3 * MOST];
	struct between_pixels p = {
		.top = d->x, .bottom = d->x + MOST, .weight = (float)pick(-64, 64) / 64,
		.columns = columns, .channels = channels, .next = next,
	};
	uint8_t bytes[2][4 * MOST] = { { 0 } };
	float real[2][4 * MOST] = { { 0 } };
	bool good;

	p.pixels = (size_t)pick(0, (int)(3 * MOST / next));
	for (size_t i = 0; i < p.pixels; i++) {
		columns[i] = (struct between_columns){
			(size_t)pick(0, MOST - (int)channels), (size_t)pick(0, MOST - (int)channels),
			(float)pick(0, 999) / 1000,
		};
		for (size_t j = 0; j < channels; j++) {
			const float *left = d->x + columns[i].left + j, *right = d->x + columns[i].right + j;

			real[0][i * next + j] = between(left[0], left[MOST], right[0], right[MOST],
							p.weight, columns[i].weight);
		}
	}
	k->fbetween(&p, real[1]);
	good = same(real[0], real[1], 4 * MOST);
	p.top = d->bytes;
	p.bottom = d->bytes + MOST;
	for (size_t i = 0; i < p.pixels * channels; i++) {
		const struct between_columns *at = &columns[i / channels];
		size_t offsets[] = { at->left, at->left + MOST, at->right, at->right + MOST };
		float v[4];

		for (int j = 0; j < 4; j++)
			v[j] = (float)((d->bytes[offsets[j] + i % channels] ^ d->flip) - d->flip);
		bytes[0][i / channels * next + i % channels] =
			(uint8_t)q_clamp((int32_t)floorf(between(v[0], v[1], v[2], v[3], p.weight,
								 at->weight) + 0.5f),
					 -(int32_t)d->flip, 255 - d->flip);
	}
	k->between(&p, d->flip, bytes[1]);
	return good && !memcmp(bytes[0], bytes[1], sizeof(bytes[0]));
}

/* Three rows at once, and one at a time in steps. */
static bool softmax_of_rows(const struct row_kernels *k, const struct data *d, float beta)
{
	float a[3 * MOST] = { 0 }, b[3 * MOST] = { 0 };

	for (size_t at = 0; at < 3 * d->n; at += d->n) {
		float sums[ROW_SUMS] = { 0 };

		k->exps(d->x + at, d->n, k->largest(d->x + at, d->n, -FLT_MAX), beta, a + at, sums);
		k->fdivide(a + at, d->n, row_total(sums));
	}
	k->softmax(d->x, 3, d->n, beta, b);
	return same(a, b, 3 * MOST);
}

/* Functions of the baseline's bytes, in place as well; and sums in their order. */
static bool functions(const struct row_kernels *k, const struct data *d)
{
	const struct row_kernels *base = kernels_variant(0)->rows;
	float beta = (float)pick(1, 100) / 20, a[MOST] = { 0 }, b[MOST] = { 0 };
	float sums[2][ROW_SUMS] = { { 0 } }, max = base->largest(d->x, d->n, -FLT_MAX);
	bool good;

	base->exps(d->x, d->n, max, beta, a, sums[0]);
	memcpy(b, d->x, d->n * sizeof(*b));
	k->exps(b, d->n, max, beta, b, sums[1]);
	good = same(a, b, MOST) && same(sums[0], sums[1], ROW_SUMS);
	memset(sums, 0, sizeof(sums));
	for (size_t i = 0; i < d->n; i++)
		sums[0][i % ROW_SUMS] += a[i];
	memset(sums[1], 0, sizeof(sums[1]));
	k->exps(d->x, d->n, max, beta, b, sums[1]);
	good &= same(sums[0], sums[1], ROW_SUMS);
	good &= softmax_of_rows(k, d, beta);
	base->logistic(d->x, d->n, a);
	k->logistic(d->x, d->n, b);
	good &= same(a, b, MOST);
	base->tanh(d->x, d->n, a);
	memcpy(b, d->x, d->n * sizeof(*b));
	k->tanh(b, d->n, b);
	return good && same(a, b, d->n);
}

/* Functions with vectors that a row does not fill: what is behind it may be in no page. */
static bool functions_at_page_end(const struct row_kernels *k, const struct data *d)
{
	size_t n = (size_t)pick(1, 40), bytes = n * sizeof(float);
	float expected[40], *x = page_end(bytes), *y = page_end(bytes);
	bool good = true;

	memcpy(x, d->x, bytes);
	for (unsigned int what = 0; what < 4; what++) {
		for (unsigned int pass = 0; pass < 2; pass++) {
			const float *from = pass ? x : d->x;
			float *to = pass ? y : expected;

			if (what == 0)
				k->softmax(from, 1, n, 0.5f, to);
			else if (what == 1)
				k->logistic(from, n, to);
			else if (what == 2)
				k->tanh(from, n, to);
			else
				k->function(ROW_ABS, from, n, 0, 0, to);
		}
		good &= same(expected, y, n);
	}
	page_end_free(x, bytes);
	page_end_free(y, bytes);
	return good;
}

/* A scale: of any size, near a power of 2, or a limit. */
static float pick_scale(void)
{
	float v = ldexpf((float)pick(1, 1 << 24), pick(-60, 30));

	switch (pick(0, 3)) {
	case 0:
		return nextafterf(ldexpf(1.0f, pick(-40, 40)), pick(0, 1) ? 0.0f : INFINITY);
	case 1:
		return pick(0, 1) ? FLT_MAX : FLT_TRUE_MIN;
	default:
		return v;
	}
}

static bool factors(const struct row_kernels *k, const struct data *d)
{
	int32_t mult[MOST + 1] = { 0 }, shift[MOST + 1] = { 0 };
	double in = (double)pick_scale(), out = (double)pick_scale();
	bool right = true, good;
	float scale[MOST];

	for (size_t i = 0; i < d->n; i++)
		scale[i] = pick_scale();
	good = k->factors(scale, d->n, in, out, mult, shift);
	for (size_t i = 0; i < d->n; i++) {
		struct qfactor f = qfactor_from(in * (double)scale[i] / out);

		right &= !f.mult || f.shift < 0;
		if (mult[i] != f.mult || shift[i] != (f.mult ? f.shift : -1))
			return false;
	}
	return good == right && !mult[d->n] && !shift[d->n];
}

static void test_loops(void)
{
	static const struct {
		const char *name;
		bool (*run)(const struct row_kernels *k, const struct data *d);
	} tests[] = {
		{ "squares and extremes of floats, quotients", float_loops },
		{ "arithmetic of rows and values", arithmetic },
		{ "the largest value of a row", largest },
		{ "products of rows", products },
		{ "functions of single elements", values },
		{ "floats of halves", halves },
		{ "sums of rows and of columns", matrix_sums },
		{ "sums, products and extremes of bytes", byte_loops },
		{ "products of values and bytes", products_of_bytes },
		{ "averages", quotients },
		{ "interpolation", betweens },
		{ "functions", functions },
		{ "functions at the end of a page", functions_at_page_end },
		{ "factors of channels", factors },
	};
	static struct data d;

	for (unsigned int v = 0; kernels_name(v); v++) {
		const struct kernels *k = kernels_variant(v);

		if (!k) {
			tap_skip("kernels: this CPU cannot run %s", kernels_name(v));
			continue;
		}
		for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
			unsigned int bad = 0;

			for (int round = 0; round < ROUNDS; round++) {
				fill(&d);
				bad += !tests[i].run(k->rows, &d);
			}
			ok(!bad, "rows: %s, %s: %u of %d differ", tests[i].name, kernels_name(v),
			   bad, ROUNDS);
		}
	}
}

/* Errors of the functions, in 2^-24 of the value. */
static void test_accuracy(void)
{
	const struct row_kernels *k = kernels_variant(0)->rows;
	double worst[3] = { 0 };
	float edge[] = { -INFINITY, INFINITY, NAN, -200.0f, 200.0f, -0.0f }, y[6], sums[ROW_SUMS];
	/* The last one of 0, and the first one of a normal number, have the smallest difference there is. */
	float lowest[] = { -INFINITY, -FLT_MAX, -200.0f, -0x1.5d58a0p+6f, -0x1.5d589ep+6f,
			   nanf("0x2345"), -0.0f };
	float tiny = 0x1p-140f;

	for (float x = -87.0f; x < 88.0f; x += 0.00317f) {
		float low = fmaxf(-fabsf(x), -87.3f);
		double exact[3] = { exp(low), 1 / (1 + exp(-(double)x)), tanh(x) };
		float near = x / 64, v[3];

		memset(sums, 0, sizeof(sums));
		k->exps(&low, 1, 0.0f, 1.0f, &v[0], sums);
		k->logistic(&x, 1, &v[1]);
		k->tanh(&x, 1, &v[2]);
		for (int i = 0; i < 3; i++)
			worst[i] = fmax(worst[i], fabs(v[i] / exact[i] - 1));
		k->tanh(&near, 1, &v[2]);
		worst[2] = fmax(worst[2], near == 0 ? v[2] != 0 : fabs(v[2] / tanh(near) - 1));
	}
	ok(worst[0] <= 0x2p-24 && worst[1] <= 0x4p-24 && worst[2] <= 0x4p-24,
	   "functions: errors of %.1f, %.1f and %.1f u", worst[0] * 0x1p24, worst[1] * 0x1p24,
	   worst[2] * 0x1p24);
	k->exps(lowest, 7, 0.0f, 1.0f, lowest, sums);
	ok(!lowest[0] && !lowest[1] && !lowest[2] && !lowest[3] && lowest[4] >= FLT_MIN &&
	   isnan(lowest[5]) && lowest[6] == 1, "functions: e^x at the limits");
	k->logistic(edge, 6, y);
	ok(y[0] == 0 && y[1] == 1 && isnan(y[2]) && y[3] == 0 && y[4] == 1 && y[5] == 0.5f,
	   "functions: the logistic function at the limits");
	k->tanh(edge, 6, y);
	ok(y[0] == -1 && y[1] == 1 && isnan(y[2]) && y[3] == -1 && y[4] == 1 && y[5] == 0,
	   "functions: tanh at the limits");
	k->tanh(&tiny, 1, y);
	ok(y[0] == tiny, "functions: tanh of a number without full precision");
}

/* Whole operations. */

static const enum nnpu_type types[] = {
	NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
	NNPU_TYPE_TENSOR_FLOAT32, NNPU_TYPE_TENSOR_FLOAT16,
};

static bool is_float(enum nnpu_type type)
{
	return type == NNPU_TYPE_TENSOR_FLOAT32 || type == NNPU_TYPE_TENSOR_FLOAT16;
}

/* Input 0 with random values; quantized ones have @scale and @zero_point. */
static void add_input(struct fixture *f, enum nnpu_type type, float scale, int zero_point,
		      unsigned int rank, const uint32_t *dims)
{
	size_t n = 1, size = type_size(type);
	uint8_t *data;

	for (unsigned int i = 0; i < rank; i++)
		n *= dims[i];
	data = malloc(n * size + 1);
	if (!data)
		abort();
	for (size_t i = 0; i < n * size; i++)
		data[i] = (uint8_t)next_random();
	for (size_t i = 0; i < n && is_float(type); i++) {
		float v = (float)pick(-2000, 2000) / 177;
		uint16_t half = (uint16_t)(pick(0, 1) << 15 | pick(10, 17) << 10 | pick(0, 1023));

		memcpy(data + i * size, size == sizeof(v) ? (void *)&v : &half, size);
	}
	fixture_input(f, type, is_float(type) ? 0 : scale, is_float(type) ? 0 : zero_point, rank,
		      dims, data);
	free(data);
}

static void add_output(struct fixture *f, enum nnpu_type type, float scale, int zero_point)
{
	fixture_output(f, type, is_float(type) ? 0 : scale, is_float(type) ? 0 : zero_point);
}

static void pick_image(uint32_t *dims, uint32_t *size_y, uint32_t *size_x, bool nchw)
{
	uint32_t c = (uint32_t)(pick(0, 4) ? pick(1, 40) : pick(1, 200));

	*size_y = (uint32_t)pick(1, 9);
	*size_x = (uint32_t)pick(1, 9);
	dims[0] = (uint32_t)pick(1, 2);
	dims[nchw ? 2 : 1] = *size_y;
	dims[nchw ? 3 : 2] = *size_x;
	dims[nchw ? 1 : 3] = c;
}

static bool pooling(enum nnpu_operation op, enum nnpu_type type)
{
	int zero_point = type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? pick(0, 255) : pick(-128, 127);
	bool nchw = pick(0, 4) == 0, good;
	uint32_t dims[4], y, x;
	struct fixture f;

	pick_image(dims, &y, &x, nchw);
	fixture_init(&f, op);
	add_input(&f, type, 0.03125f, zero_point, 4, dims);
	fixture_i32(&f, pick(1, 2));
	if (pick(0, 1)) {
		fixture_i32(&f, pick(1, 3));
		fixture_i32(&f, pick(1, 3));
		fixture_i32(&f, pick(1, (int)x));
		fixture_i32(&f, pick(1, (int)y));
	} else {
		/* All of the image. */
		fixture_i32(&f, 1);
		fixture_i32(&f, 1);
		fixture_i32(&f, (int)x);
		fixture_i32(&f, (int)y);
	}
	fixture_i32(&f, pick(0, 3));
	fixture_bool(&f, nchw);
	add_output(&f, type, 0.03125f, zero_point);
	good = fixture_agrees(&f);
	fixture_end(&f);
	return good;
}

static bool resizing(enum nnpu_operation op, enum nnpu_type type)
{
	bool nchw = pick(0, 4) == 0, align = pick(0, 2) == 0, good;
	uint32_t dims[4], y, x;
	struct fixture f;

	pick_image(dims, &y, &x, nchw);
	fixture_init(&f, op);
	add_input(&f, type, 0.5f, 3, 4, dims);
	fixture_i32(&f, pick(1, 20));
	fixture_i32(&f, pick(1, 20));
	fixture_bool(&f, nchw);
	fixture_bool(&f, align);
	fixture_bool(&f, !align && pick(0, 1));
	add_output(&f, type, 0.5f, 3);
	good = fixture_agrees(&f);
	fixture_end(&f);
	return good;
}

/* With tails of channels, and strides that leave some taps out. */
static bool transposed(enum nnpu_operation op, enum nnpu_type type)
{
	bool nchw = pick(0, 4) == 0, good;
	uint32_t dims[4], y, x, out = (uint32_t)pick(1, 30), taps = (uint32_t)pick(3, 4), c;
	struct fixture f;

	pick_image(dims, &y, &x, nchw);
	c = dims[nchw ? 1 : 3];
	fixture_init(&f, op);
	add_input(&f, type, 0.03125f, 3, 4, dims);
	add_input(&f, type, 0.03125f, 3, DIMS(out, taps, taps, c));
	if (is_float(type))
		add_input(&f, type, 0, 0, 1, &out);
	else
		add_input(&f, NNPU_TYPE_TENSOR_INT32, 0.03125f * 0.03125f, 0, 1, &out);
	for (int i = 0; i < 4; i++)
		fixture_i32(&f, pick(0, 1));
	fixture_i32(&f, pick(1, 3));
	fixture_i32(&f, pick(1, 3));
	fixture_i32(&f, pick(0, 3));
	fixture_bool(&f, nchw);
	add_output(&f, type, 2.0f, 3);
	good = fixture_agrees(&f);
	fixture_end(&f);
	return good;
}

static bool reduction(enum nnpu_operation op, enum nnpu_type type)
{
	uint32_t dims[4], rank = (uint32_t)pick(1, 4);
	int32_t axes[4];
	struct fixture f;
	uint32_t n = 0;
	bool good;

	for (uint32_t i = 0; i < rank; i++) {
		dims[i] = (uint32_t)(pick(0, 5) ? pick(1, 12) : pick(1, 40));
		if (pick(0, 1))
			axes[n++] = pick(0, 1) ? (int32_t)i : (int32_t)i - (int32_t)rank;
	}
	if (!n)
		axes[n++] = pick(0, (int)rank - 1);
	/* A row that is longer than what is computed at once. */
	if (pick(0, 9) == 0)
		dims[pick(0, (int)rank - 1)] = (uint32_t)pick(200, 700);
	fixture_init(&f, op);
	add_input(&f, type, 0.25f, 5, rank, dims);
	fixture_const(&f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(n), axes);
	if (op == NNPU_OP_MEAN)
		fixture_i32(&f, pick(0, 1));
	else
		fixture_bool(&f, pick(0, 1));
	add_output(&f, type, 0.25f, 5);
	good = fixture_agrees(&f);
	fixture_end(&f);
	return good;
}

static bool softmax(enum nnpu_operation op, enum nnpu_type type)
{
	uint32_t dims[3] = { (uint32_t)pick(1, 5), (uint32_t)pick(1, 300), (uint32_t)pick(1, 70) };
	uint16_t half = (uint16_t)(15 << 10 | pick(0, 1023));
	struct fixture f;
	bool good;

	fixture_init(&f, op);
	add_input(&f, type, 0.05f, 0, 3, dims);
	if (type == NNPU_TYPE_TENSOR_FLOAT16)
		fixture_const(&f, NNPU_TYPE_FLOAT16, 0, 0, UNKNOWN_RANK, &half);
	else
		fixture_f32(&f, (float)pick(1, 20) / 8);
	fixture_i32(&f, pick(-3, 2));
	add_output(&f, type, 1.0f / 256, type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0 : -128);
	good = fixture_agrees(&f);
	fixture_end(&f);
	return good;
}

static bool function(enum nnpu_operation op, enum nnpu_type type)
{
	uint32_t n = (uint32_t)pick(1, 3000);
	bool is_signed = type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, good;
	struct fixture f;

	fixture_init(&f, op);
	add_input(&f, type, 0.05f, 0, 1, &n);
	if (op == NNPU_OP_LOGISTIC)
		add_output(&f, type, 1.0f / 256, is_signed ? -128 : 0);
	else
		add_output(&f, type, 1.0f / 128, is_signed ? 0 : 128);
	good = fixture_agrees(&f);
	fixture_end(&f);
	return good;
}

static void test_operations(const char *isa)
{
	static const struct {
		enum nnpu_operation op;
		bool (*run)(enum nnpu_operation op, enum nnpu_type type);
		bool floats;		/* only */
	} tests[] = {
		{ NNPU_OP_MAX_POOL_2D, pooling, false },
		{ NNPU_OP_AVERAGE_POOL_2D, pooling, false },
		{ NNPU_OP_L2_POOL_2D, pooling, true },
		{ NNPU_OP_RESIZE_BILINEAR, resizing, false },
		{ NNPU_OP_RESIZE_NEAREST_NEIGHBOR, resizing, false },
		{ NNPU_OP_TRANSPOSE_CONV_2D, transposed, false },
		{ NNPU_OP_MEAN, reduction, false },
		{ NNPU_OP_REDUCE_SUM, reduction, true },
		{ NNPU_OP_SOFTMAX, softmax, false },
		{ NNPU_OP_LOGISTIC, function, false },
		{ NNPU_OP_TANH, function, false },
	};

	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		for (size_t t = 0; t < sizeof(types) / sizeof(*types); t++) {
			unsigned int bad = 0;

			if (tests[i].floats && !is_float(types[t]))
				continue;
			for (int call = 0; call < CALLS; call++)
				bad += !tests[i].run(tests[i].op, types[t]);
			ok(!bad, "%s %s, %s: %d random calls as by plain loops",
			   op_name(tests[i].op), type_name(types[t]), isa, CALLS);
		}
	}
}

int main(void)
{
	test_loops();
	test_accuracy();
	for (unsigned int i = 0; kernels_name(i); i++) {
		if (!kernels_variant(i))
			continue;
		kernels_use(kernels_name(i));
		test_operations(kernels_name(i));
	}
	return tap_done();
}
