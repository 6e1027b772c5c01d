// SPDX-License-Identifier: MIT
/*
 * The inner loops for floats: sums of products, and weights that are packed.
 */
#include <float16.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_kernels.h"
#include "page_end.h"

/* A term more: rounded once, or its product first. */
static float add_term(bool fused, float sum, float x, float w)
{
	float product;

	if (fused)
		return fmaf(x, w, sum);
	product = x * w;
	return sum + product;
}

/* What fgemm() gives, term by term. */
static void sum_rows(bool fused, const float *x, size_t stride, unsigned int rows, const float *w,
		     size_t depth, size_t panel, unsigned int panels, float *acc)
{
	for (unsigned int r = 0; r < rows; r++) {
		for (unsigned int c = 0; c < panels * KERNEL_PANEL; c++) {
			const float *v = w + c / KERNEL_PANEL * panel + c % KERNEL_PANEL;
			float *sum = acc + r * KERNEL_COLS + c;

			for (size_t i = 0; i < depth; i++)
				*sum = add_term(fused, *sum, x[r * stride + i],
						v[i * KERNEL_PANEL]);
		}
	}
}

/* What fdepthwise() gives, term by term. */
static void sum_taps(bool fused, const struct fdepthwise_pixels *p, const float *bias,
		     struct frange range, uint32_t col, uint32_t n, float *y)
{
	for (unsigned int i = 0; i < p->rows * p->cols; i++) {
		size_t row = i / p->cols, at = row * p->in_row + i % p->cols * p->in_col;
		float *to = y + row * p->out_row + i % p->cols * p->out_col;

		for (uint32_t c = col; c < col + n; c++) {
			float sum = 0;

			for (unsigned int t = 0; t < p->taps; t++)
				sum = add_term(fused, sum, p->x[t][at + c], p->w[t][c]);
			to[c] = f_clamp(sum + bias[c], range.min, range.max);
		}
	}
}

/* The sign and the payload of a NaN are the CPU's. */
static bool same_floats(float *a, float *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		a[i] = isnan(a[i]) ? NAN : a[i];
		b[i] = isnan(b[i]) ? NAN : b[i];
	}
	return !memcmp(a, b, n * sizeof(*a));
}

static void random_floats(float *x, size_t n, float scale)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (float)pick(-1000, 1000) / scale;
	if (pick(0, 3) == 0)
		x[(size_t)pick(0, 50) % n] = pick(0, 1) ? NAN : INFINITY;
}

static unsigned int compare_float_rows(const struct kernels *base, const struct kernels *k)
{
	bool fused = k != base;
	static float x[MAX_ROWS * 2 * MAX_PAIRS], w[2 * KERNEL_PANEL * 2 * MAX_PAIRS];
	unsigned int rows = (unsigned int)pick(1, MAX_ROWS), n = (unsigned int)pick(1, KERNEL_COLS);
	unsigned int panels = (unsigned int)pick(1, 2);
	size_t depth = (size_t)pick_size(8, MAX_PAIRS), panel = depth * KERNEL_PANEL;
	struct frange range = frange_of((enum activation)pick(0, 3));
	float acc[2][MAX_ROWS * KERNEL_COLS], out[2][MAX_ROWS * KERNEL_COLS];
	const size_t size = MAX_ROWS * KERNEL_COLS;
	unsigned int bad = 0;

	random_floats(x, sizeof(x) / sizeof(*x), 77);
	random_floats(w, sizeof(w) / sizeof(*w), 33);
	for (size_t i = 0; i < size; i++)
		acc[0][i] = acc[1][i] = (float)pick(-1000, 1000) / 13;
	memset(out, 0xa5, sizeof(out));
	sum_rows(fused, x, depth, rows, w, depth, panel, panels, acc[0]);
	base->finish(acc[0], rows, w, range, n, out[0], KERNEL_COLS);
	k->fgemm(x, depth, rows, w, depth, panel, panels, acc[1]);
	k->finish(acc[1], rows, w, range, n, out[1], KERNEL_COLS);
	bad += !same_floats(acc[0], acc[1], size) + !same_floats(out[0], out[1], size);
	return bad;
}

/*
 * fconv() of a variant that has it, for up to four panels. The weights are as large as whole panels:
 * ASan finds reads beside them.
 */
static unsigned int compare_fconv(const struct kernels *base, const struct kernels *k)
{
	static float x[MAX_ROWS * 2 * MAX_PAIRS];
	unsigned int rows = (unsigned int)pick(1, MAX_ROWS), n = (unsigned int)pick(1, KERNEL_WIDE);
	unsigned int panels = (n + KERNEL_PANEL - 1) / KERNEL_PANEL;
	size_t depth = (size_t)pick_size(8, MAX_PAIRS), panel = depth * KERNEL_PANEL;
	size_t size = panels * panel < 64 ? 64 : panels * panel;
	struct frange range = frange_of((enum activation)pick(0, 3));
	float values[64], *out[2], *bias, *w, *end;
	unsigned int bad;

	if (!k->fconv)
		return 0;
	w = malloc(size * sizeof(*w));
	out[0] = malloc(2 * MAX_ROWS * KERNEL_WIDE * sizeof(*out[0]));
	if (!w || !out[0])
		abort();
	out[1] = out[0] + MAX_ROWS * KERNEL_WIDE;
	random_floats(x, sizeof(x) / sizeof(*x), 77);
	random_floats(w, size, 33);
	random_floats(values, 64, 13);
	bias = page_end(n * sizeof(*bias));
	memcpy(bias, values, n * sizeof(*bias));
	memset(out[0], 0xa5, 2 * MAX_ROWS * KERNEL_WIDE * sizeof(*out[0]));
	end = w + size - panels * panel;
	for (unsigned int p = 0; p < panels; p += 2) {
		float acc[MAX_ROWS * KERNEL_COLS] = { 0 };
		unsigned int col = p * KERNEL_PANEL;

		sum_rows(true, x, depth, rows, end + p * panel, depth, panel,
			 panels - p < 2 ? 1 : 2, acc);
		base->finish(acc, rows, bias + col, range,
			     n - col < KERNEL_COLS ? n - col : KERNEL_COLS, out[0] + col,
			     KERNEL_WIDE);
	}
	k->fconv(x, depth, rows, end, depth, panel, bias, range, n, out[1], KERNEL_WIDE);
	bad = !same_floats(out[0], out[1], MAX_ROWS * KERNEL_WIDE);
	page_end_free(bias, n * sizeof(*bias));
	free(out[0]);
	free(w);
	return bad;
}

/* frow() of a variant that has it. Behind the operands nothing is read or written. */
static unsigned int compare_frow(const struct kernels *base, const struct kernels *k)
{
	enum { MOST = 5 * KERNEL_WIDE };
	unsigned int n = (unsigned int)pick(1, pick(0, 1) ? 20 : MOST), bad;
	size_t depth = (size_t)pick_size(8, MAX_PAIRS);
	size_t weights = (n + KERNEL_PANEL - 1) / KERNEL_PANEL * KERNEL_PANEL * depth;
	struct frange range = frange_of((enum activation)pick(0, 3));
	float expected[MOST], *x, *w, *y, *bias;

	if (!k->frow)
		return 0;
	x = page_end(depth * sizeof(*x));
	w = page_end(weights * sizeof(*w));
	bias = page_end(n * sizeof(*bias));
	y = page_end(n * sizeof(*y));
	random_floats(x, depth, 77);
	random_floats(w, weights, 33);
	random_floats(bias, n, 13);
	for (unsigned int col = 0, some; col < n; col += some) {
		float acc[KERNEL_COLS] = { 0 };

		some = n - col < KERNEL_COLS ? n - col : KERNEL_COLS;
		sum_rows(true, x, depth, 1, w + col * depth, depth, depth * KERNEL_PANEL,
			 some > KERNEL_PANEL ? 2 : 1, acc);
		base->finish(acc, 1, bias + col, range, some, expected + col, 0);
	}
	k->frow(x, depth, w, bias, range, n, y);
	bad = !same_floats(expected, y, n);
	page_end_free(x, depth * sizeof(*x));
	page_end_free(w, weights * sizeof(*w));
	page_end_free(bias, n * sizeof(*bias));
	page_end_free(y, n * sizeof(*y));
	return bad;
}

/* @sum and the products, in the order of fgemm_rows(). */
static float sum_of_sixteens(const float *x, const float *w, size_t depth, float sum)
{
	size_t whole = depth / 16 * 16;
	float s[16] = { 0 };

	for (size_t i = 0; i < whole; i++)
		s[i % 16] = fmaf(x[i], w[i], s[i % 16]);
	for (unsigned int i = 0; i < 8; i++)
		s[i] += s[i + 8];
	sum += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
	for (size_t i = whole; i < depth; i++)
		sum = fmaf(x[i], w[i], sum);
	return sum;
}

/*
 * fgemm_rows() of a variant that has it. The weights end where the last row does: ASan finds reads
 * behind it.
 */
static unsigned int compare_unpacked(const struct kernels *k)
{
	static float x[KERNEL_ROWS * MAX_PAIRS];
	unsigned int rows = (unsigned int)pick(1, KERNEL_ROWS), n = (unsigned int)pick(1, KERNEL_COLS);
	size_t depth = (size_t)pick_size(8, MAX_PAIRS), apart = depth + (size_t)pick(0, 9);
	size_t size = (n - 1) * apart + depth, room = size < 64 ? 64 : size;
	float acc[2][KERNEL_ROWS * KERNEL_COLS] = { 0 };
	float *w, *end;

	if (!k->fgemm_rows)
		return 0;
	w = malloc(room * sizeof(*w));
	if (!w)
		abort();
	random_floats(x, sizeof(x) / sizeof(*x), 77);
	random_floats(w, room, 33);
	end = w + room - size;
	for (unsigned int i = 0; i < rows * KERNEL_COLS; i++) {
		if (i % KERNEL_COLS < n)
			acc[0][i] = acc[1][i] = (float)pick(-1000, 1000) / 13;
	}
	for (unsigned int i = 0; i < rows * n; i++) {
		float *sum = acc[0] + i / n * KERNEL_COLS + i % n;

		*sum = sum_of_sixteens(x + i / n * depth, end + i % n * apart, depth, *sum);
	}
	k->fgemm_rows(x, depth, rows, end, apart, depth, n, acc[1]);
	for (unsigned int i = 0; i < rows * KERNEL_COLS; i++) {
		if (i % KERNEL_COLS >= n)
			acc[1][i] = 0;
	}
	free(w);
	return !same_floats(acc[0], acc[1], KERNEL_ROWS * KERNEL_COLS);
}

static unsigned int compare_float_pixels(const struct kernels *base, const struct kernels *k)
{
	enum { TAPS = 9, DEEP = 80, LINE = 20, ROWS = 2 };
	static float x[TAPS * DEEP + ROWS * LINE * DEEP], w[TAPS * DEEP], bias[DEEP];
	static float out[2][ROWS * LINE * DEEP];
	const float *at[TAPS], *weights[TAPS];
	struct fdepthwise_pixels p = {
		.x = at,
		.w = weights,
		.taps = (unsigned int)pick(0, TAPS),
		.rows = (unsigned int)pick(1, ROWS),
		.cols = (unsigned int)pick(1, LINE),
		.in_row = LINE * DEEP - (size_t)pick(0, 20),
		.in_col = (size_t)pick(1, DEEP),
		.out_row = LINE * DEEP,
		.out_col = DEEP,
	};
	uint32_t col = (uint32_t)pick(0, 20), run = (uint32_t)pick(1, 60);
	struct frange range = frange_of((enum activation)pick(0, 3));

	random_floats(x, sizeof(x) / sizeof(*x), 77);
	random_floats(w, sizeof(w) / sizeof(*w), 33);
	random_floats(bias, DEEP, 13);
	for (unsigned int t = 0; t < TAPS; t++) {
		at[t] = x + pick(0, (TAPS - 1) * DEEP);
		weights[t] = w + pick(0, (TAPS - 1) * DEEP);
	}
	memset(out, 0xa5, sizeof(out));
	sum_taps(k != base, &p, bias, range, col, run, out[0]);
	k->fdepthwise(&p, bias, range, col, run, out[1]);
	return !same_floats(out[0], out[1], ROWS * LINE * DEEP);
}

/* pack_bytes() of a variant that has it against a loop. */
static unsigned int compare_packed(const struct kernels *k)
{
	enum { MOST = 50, STRIDE = 60 };
	struct qbyte b = { pick(0, 1) ? 0x80 : 0, (int16_t)pick(0, 255) };
	float scale[KERNEL_PANEL], out[2][MOST * KERNEL_PANEL];
	uint8_t rows[KERNEL_PANEL * STRIDE];
	size_t n = (size_t)pick(1, MOST), stride = n + (size_t)pick(0, STRIDE - MOST);

	if (!k->pack_bytes)
		return 0;
	for (size_t i = 0; i < sizeof(rows); i++)
		rows[i] = (uint8_t)next_random();
	for (unsigned int j = 0; j < KERNEL_PANEL; j++)
		scale[j] = (float)pick(1, 1000) / 777;
	memset(out, 0xa5, sizeof(out));
	for (size_t i = 0; i < n * KERNEL_PANEL; i++) {
		size_t j = i % KERNEL_PANEL;

		out[0][i] = scale[j] * (float)qbyte_value(rows[j * stride + i / KERNEL_PANEL], b);
	}
	k->pack_bytes(rows, stride, n, b, scale, out[1]);
	return memcmp(out[0], out[1], sizeof(out[0])) != 0;
}

/* pack_halves() of a variant that has it against a loop. Numbers are of any kind, NaN among them. */
static unsigned int compare_halves(const struct kernels *k)
{
	enum { MOST = 50, STRIDE = 60 };
	size_t n = (size_t)pick(1, MOST), stride = n + (size_t)pick(0, STRIDE - MOST);
	size_t size = (KERNEL_PANEL - 1) * stride + n;
	float out[2][MOST * KERNEL_PANEL];
	uint16_t *rows;

	if (!k->pack_halves)
		return 0;
	rows = malloc(size * sizeof(*rows));
	if (!rows)
		abort();
	for (size_t i = 0; i < size; i++)
		rows[i] = (uint16_t)next_random();
	memset(out, 0xa5, sizeof(out));
	for (size_t i = 0; i < n * KERNEL_PANEL; i++)
		out[0][i] = half_to_float(rows[i % KERNEL_PANEL * stride + i / KERNEL_PANEL]);
	k->pack_halves(rows, stride, n, out[1]);
	free(rows);
	return !same_floats(out[0], out[1], MOST * KERNEL_PANEL);
}

unsigned int compare_floats(const struct kernels *base, const struct kernels *k)
{
	return compare_float_rows(base, k) + compare_fconv(base, k) + compare_frow(base, k) +
	       compare_unpacked(k) +
	       compare_float_pixels(base, k) + compare_packed(k) + compare_halves(k);
}
