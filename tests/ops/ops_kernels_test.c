// SPDX-License-Identifier: MIT
/*
 * Fast kernels against plain loops, byte for byte: the variants of the inner loops against each
 * other, and whole operations with random shapes, types and parameters against a computation
 * term by term. Float sums of variants with vectors are fused; their inner loops are compared with
 * fused sums term by term, and whole operations have numbers whose sums no rounding changes.
 */
#include <float16.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "ops_fixture.h"
#include "kernels.h"

#define ROUNDS	300

/* Mostly small, now and then large: sizes around the blocks of the kernels. */
static int pick_size(int small, int large)
{
	return pick(0, 4) ? pick(1, small) : pick(1, large);
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Variants of the inner loops. */

enum { MAX_ROWS = 14, MAX_PAIRS = 70, CHANNELS = 5 * KERNEL_COLS };

/* Factors for CHANNELS channels; @right: only shifts to the right. */
static void pick_requant(struct requant *q, int32_t *mult, int32_t *shift, bool right)
{
	int zero_point = pick(-128, 255), min = pick(-128, 255);

	*q = (struct requant){
		.mult = mult,
		.shift = shift,
		.per_channel = pick(0, 1),
		.shifts_right = right,
		.zero_point = zero_point,
		.range = { min, pick(min, 255) },
	};
	for (int i = 0; i < CHANNELS; i++) {
		bool first = i == 0 || q->per_channel;

		mult[i] = first ? (int32_t)(next_random() >> 1 | 1 << 30) : mult[0];
		shift[i] = first ? pick(-31, right ? -1 : 12) : shift[0];
		/* Close to what rounds differently, and a factor of 0. */
		if (first && pick(0, 3) == 0)
			mult[i] = pick(0, 1) ? INT32_MAX : 1 << 30;
		if (first && pick(0, 20) == 0) {
			mult[i] = 0;
			shift[i] = -1;
		}
	}
}

static unsigned int compare_rows(const struct kernels *base, const struct kernels *k)
{
	static int16_t x[MAX_ROWS * 2 * MAX_PAIRS];
	static int8_t w[2 * KERNEL_PANEL * MAX_PAIRS * 2];
	unsigned int rows = (unsigned int)pick(1, MAX_ROWS), n = (unsigned int)pick(1, KERNEL_COLS);
	unsigned int panels = (unsigned int)pick(1, 2), bad = 0;
	size_t pairs = (size_t)pick_size(8, MAX_PAIRS), stride = 2 * pairs;
	int32_t mult[CHANNELS], shift[CHANNELS], bias[KERNEL_COLS], add[MAX_ROWS];
	int32_t acc[2][MAX_ROWS * KERNEL_COLS];
	uint8_t out[2][MAX_ROWS * KERNEL_COLS];
	uint32_t col = (uint32_t)pick(0, 4) * KERNEL_COLS;
	bool with_bias = pick(0, 1);
	struct requant q;

	for (size_t i = 0; i < rows * stride; i++)
		x[i] = (int16_t)(pick(0, 3) ? pick(-255, 255) : pick(0, 1) ? 255 : -255);
	for (size_t i = 0; i < sizeof(w); i++)
		w[i] = (int8_t)(pick(0, 3) ? pick(-128, 127) : -128);
	for (unsigned int i = 0; i < KERNEL_COLS; i++)
		bias[i] = (int32_t)next_random();
	for (unsigned int i = 0; i < MAX_ROWS; i++)
		add[i] = (int32_t)next_random();
	for (unsigned int i = 0; i < MAX_ROWS * KERNEL_COLS; i++)
		acc[0][i] = acc[1][i] = (int32_t)next_random();
	pick_requant(&q, mult, shift, pick(0, 2));
	memset(out, 0xa5, sizeof(out));
	for (int v = 0; v < 2; v++) {
		const struct kernels *kv = v ? k : base;

		kv->qgemm(x, stride, rows, w, pairs, panels, with_bias ? bias : NULL, add, acc[v]);
		kv->requantize(acc[v], rows, &q, col, n, out[v], KERNEL_COLS);
	}
	bad += memcmp(acc[0], acc[1], sizeof(acc[0])) != 0;
	bad += memcmp(out[0], out[1], sizeof(out[0])) != 0;
	bad += base->sum(x, rows * stride) != k->sum(x, rows * stride);
	return bad;
}

/*
 * qrow() of a variant that has it against the two kernels it stands for. Weights end with the last
 * panel, biases with the last channel.
 */
static unsigned int compare_row(const struct kernels *base, const struct kernels *k)
{
	size_t pairs = (size_t)pick_size(8, MAX_PAIRS), panel = pairs * 2 * KERNEL_PANEL;
	uint32_t first = (uint32_t)pick(0, 4) * KERNEL_COLS;
	uint32_t n = (uint32_t)pick(1, CHANNELS - (int)first);
	size_t bytes = (n + KERNEL_PANEL - 1) / KERNEL_PANEL * panel;
	int32_t mult[CHANNELS], shift[CHANNELS], acc[KERNEL_COLS];
	int32_t add = (int32_t)next_random(), *bias;
	uint8_t out[2][CHANNELS];
	int16_t x[2 * MAX_PAIRS];
	struct requant q;
	int8_t *w;

	if (!k->qrow)
		return 0;
	w = malloc(bytes);
	bias = malloc(n * sizeof(*bias));
	if (!w || !bias)
		exit(1);
	for (size_t i = 0; i < 2 * pairs; i++)
		x[i] = (int16_t)(pick(0, 3) ? pick(-255, 255) : pick(0, 1) ? 255 : -255);
	for (size_t i = 0; i < bytes; i++)
		w[i] = (int8_t)(pick(0, 3) ? pick(-128, 127) : -128);
	for (uint32_t i = 0; i < n; i++)
		bias[i] = (int32_t)next_random();
	pick_requant(&q, mult, shift, true);
	memset(out, 0xa5, sizeof(out));
	for (uint32_t c = 0; c < n; c += KERNEL_COLS) {
		uint32_t cols = n - c < KERNEL_COLS ? n - c : KERNEL_COLS;
		int32_t padded[KERNEL_COLS] = { 0 };

		memcpy(padded, bias + c, cols * sizeof(*padded));
		base->qgemm(x, 2 * pairs, 1, w + c / KERNEL_PANEL * panel, pairs,
			    cols > KERNEL_PANEL ? 2 : 1, padded, &add, acc);
		base->requantize(acc, 1, &q, first + c, cols, out[0] + first + c, 0);
	}
	k->qrow(x, w, pairs, bias, add, &q, first, n, out[1]);
	free(w);
	free(bias);
	return memcmp(out[0], out[1], sizeof(out[0])) != 0;
}

/* qrow_bytes() likewise. Nothing behind the row, its weights or the channels may count. */
static unsigned int compare_byte_row(const struct kernels *base, const struct kernels *k)
{
	static int8_t w[CHANNELS * 2 * MAX_PAIRS];
	size_t depth = (size_t)pick_size(8, 2 * MAX_PAIRS), pairs = (depth + 1) / 2;
	int32_t mult[CHANNELS], shift[CHANNELS], bias[CHANNELS], acc[KERNEL_COLS], none = 0;
	uint32_t first = (uint32_t)pick(0, 4) * KERNEL_COLS;
	uint32_t n = (uint32_t)pick(1, CHANNELS - (int)first);
	struct qbyte b = { pick(0, 1) ? 0x80 : 0, (int16_t)(pick(0, 2) ? pick(0, 255) : 0) };
	uint8_t bytes[2 * MAX_PAIRS + 8], out[2][CHANNELS];
	int16_t x[2 * MAX_PAIRS + KERNEL_SLACK];
	struct requant q;

	if (!k->qrow_bytes)
		return 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(pick(0, 3) ? pick(0, 255) : pick(0, 1) ? 255 : 0);
	base->widen(bytes, b, depth, x);
	if (depth % 2)
		x[depth] = 0;
	for (size_t i = 0; i < sizeof(w); i++)
		w[i] = (int8_t)(pick(0, 3) ? pick(-128, 127) : -128);
	/* A panel ends with zeros for the position that is not there. */
	for (size_t i = pairs; depth % 2 && i <= sizeof(w) / (2 * KERNEL_PANEL); i += pairs) {
		for (unsigned int c = 0; c < KERNEL_PANEL; c++)
			w[2 * ((i - 1) * KERNEL_PANEL + c) + 1] = 0;
	}
	for (int i = 0; i < CHANNELS; i++)
		bias[i] = (int32_t)next_random();
	pick_requant(&q, mult, shift, true);
	memset(out, 0xa5, sizeof(out));
	for (uint32_t c = 0; c < n; c += KERNEL_COLS) {
		uint32_t cols = n - c < KERNEL_COLS ? n - c : KERNEL_COLS;
		int32_t padded[KERNEL_COLS] = { 0 };

		memcpy(padded, bias + c, cols * sizeof(*padded));
		base->qgemm(x, 2 * pairs, 1, w + c * pairs * 2, pairs, cols > KERNEL_PANEL ? 2 : 1,
			    padded, &none, acc);
		base->requantize(acc, 1, &q, first + c, cols, out[0] + first + c, 0);
	}
	k->qrow_bytes(bytes, b, depth, w, bias, &q, first, n, out[1]);
	return memcmp(out[0], out[1], sizeof(out[0])) != 0;
}

/*
 * qconv() likewise, of rows that flip() has copied, and which end 3 bytes behind the last.
 * Weights end with the last panel, biases with the last channel: ASan finds reads behind them.
 */
static unsigned int compare_byte_rows(const struct kernels *base, const struct kernels *k)
{
	size_t depth = (size_t)pick_size(8, 2 * MAX_PAIRS), pairs = (depth + 1) / 2;
	size_t panel = pairs * 2 * KERNEL_PANEL, stride = depth + (size_t)pick(0, 5);
	unsigned int rows = (unsigned int)pick(1, MAX_ROWS), bad;
	uint32_t n = (uint32_t)pick(1, KERNEL_WIDE), col = (uint32_t)pick(0, 3) * KERNEL_COLS;
	unsigned int panels = (n + KERNEL_PANEL - 1) / KERNEL_PANEL;
	struct qbyte b = { pick(0, 1) ? 0x80 : 0, (int16_t)(pick(0, 2) ? pick(0, 255) : 0) };
	int32_t mult[CHANNELS], shift[CHANNELS], add[MAX_ROWS], sums[MAX_ROWS];
	static uint8_t raw[MAX_ROWS * 2 * MAX_PAIRS], out[2][MAX_ROWS * KERNEL_WIDE];
	static int16_t x[MAX_ROWS * 2 * MAX_PAIRS];
	uint8_t *bytes;
	int32_t *bias;
	struct requant q;
	int8_t *w;

	if (!k->qconv)
		return 0;
	w = malloc(panels * panel);
	bias = malloc(n * sizeof(*bias));
	bytes = malloc((rows - 1) * stride + depth + 3);
	if (!w || !bias || !bytes)
		abort();
	memset(bytes, 0xa5, (rows - 1) * stride + depth + 3);
	for (size_t i = 0; i < rows * depth; i++) {
		raw[i] = (uint8_t)(pick(0, 3) ? pick(0, 255) : pick(0, 1) ? 255 : 0);
		x[i / depth * 2 * pairs + i % depth] = qbyte_value(raw[i], b);
	}
	for (unsigned int r = 0; depth % 2 && r < rows; r++)
		x[r * 2 * pairs + depth] = 0;
	for (size_t i = 0; i < panels * panel; i++) {
		w[i] = (int8_t)(pick(0, 3) ? pick(-128, 127) : -128);
		/* A panel ends with zeros for the position that is not there. */
		if (depth % 2 && i % 2 && i % panel / (2 * KERNEL_PANEL) == pairs - 1)
			w[i] = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		bias[i] = (int32_t)next_random();
	for (unsigned int i = 0; i < MAX_ROWS; i++)
		add[i] = (int32_t)next_random();
	pick_requant(&q, mult, shift, true);
	memset(out, 0xa5, sizeof(out));
	for (uint32_t c = 0; c < n; c += KERNEL_COLS) {
		uint32_t cols = n - c < KERNEL_COLS ? n - c : KERNEL_COLS;
		int32_t padded[KERNEL_COLS] = { 0 }, acc[MAX_ROWS * KERNEL_COLS];

		memcpy(padded, bias + c, cols * sizeof(*padded));
		base->qgemm(x, 2 * pairs, rows, w + c / KERNEL_PANEL * panel, pairs,
			    cols > KERNEL_PANEL ? 2 : 1, padded, add, acc);
		base->requantize(acc, rows, &q, col + c, cols, out[0] + c, KERNEL_WIDE);
	}
	for (unsigned int r = 0; r < rows; r++)
		k->flip(raw + r * depth, b.flip, depth, bytes + r * stride);
	k->qconv(bytes, stride, rows, w, depth, b.bias, bias, add, &q, col, n, out[1], KERNEL_WIDE);
	bad = memcmp(out[0], out[1], sizeof(out[0])) != 0;
	k->sum_rows(bytes, stride, rows, depth, sums);
	for (size_t i = 0; i < rows * depth; i++)
		sums[i / depth] -= raw[i] ^ b.flip;
	for (unsigned int r = 0; r < rows; r++)
		bad += sums[r] != 0;
	free(w);
	free(bias);
	free(bytes);
	return bad;
}

static unsigned int compare_bytes(const struct kernels *base, const struct kernels *k)
{
	struct qbyte b = { pick(0, 1) ? 0x80 : 0, (int16_t)pick(0, 255) };
	uint8_t bytes[100];
	int16_t wide[2][100];
	size_t n = (size_t)pick(0, 100);

	for (int i = 0; i < 100; i++)
		bytes[i] = (uint8_t)next_random();
	memset(wide, 0xa5, sizeof(wide));
	base->widen(bytes, b, n, wide[0]);
	k->widen(bytes, b, n, wide[1]);
	return memcmp(wide[0], wide[1], sizeof(wide[0])) != 0;
}

static unsigned int compare_gathered(const struct kernels *base, const struct kernels *k)
{
	enum { RUNS = 3, ROWS = 4, RUN = 140, STRIDE = RUNS * RUN + 2 };
	struct qbyte b = { pick(0, 1) ? 0x80 : 0, (int16_t)pick(0, 255) };
	static uint8_t bytes[500 + RUN + KERNEL_SLACK];
	static int16_t out[2][ROWS * STRIDE + KERNEL_SLACK];
	struct gathered g = {
		.from = bytes,
		.run = (size_t)pick(1, RUN),
		.next = (size_t)pick(0, 100),
		.step = (size_t)pick(0, 100),
		.runs = (unsigned int)pick(1, RUNS),
		.rows = (unsigned int)pick(1, ROWS),
	};
	size_t stride = g.runs * g.run + (size_t)pick(0, 2);
	uint8_t raw[ROWS * STRIDE + KERNEL_SLACK];
	unsigned int bad = 0;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)next_random();
	memset(out, 0xa5, sizeof(out));
	base->gather(&g, b, out[0], stride);
	k->gather(&g, b, out[1], stride);
	for (unsigned int r = 0; r < g.rows; r++)
		bad += memcmp(out[0] + r * stride, out[1] + r * stride,
			      g.runs * g.run * sizeof(**out)) != 0;
	if (k->gather_bytes) {
		memset(raw, 0xa5, sizeof(raw));
		k->gather_bytes(&g, b.flip, raw, stride);
		for (size_t i = 0; i < sizeof(raw); i++) {
			size_t at = i % stride;
			bool inside = i < g.rows * stride && at < g.runs * g.run;
			const uint8_t *from = g.from + i / stride * g.step + at / g.run * g.next;

			if (inside)
				bad += raw[i] != (from[at % g.run] ^ b.flip);
			/* Nothing behind what may be written, nor in front of it. */
			else if (i >= (g.rows - 1) * stride + g.runs * g.run + KERNEL_SLACK)
				bad += raw[i] != 0xa5;
		}
	}
	/* Nothing behind what may be written. */
	for (size_t i = (g.rows - 1) * stride + g.runs * g.run + KERNEL_SLACK;
	     i < sizeof(out[1]) / sizeof(**out); i++)
		bad += out[1][i] != (int16_t)0xa5a5;
	return bad;
}

static unsigned int compare_depthwise(const struct kernels *base, const struct kernels *k)
{
	enum { TAPS = 10, PIXELS = 6 };
	static uint8_t x[TAPS][PIXELS * CHANNELS], out[2][PIXELS * CHANNELS];
	static int16_t wide[TAPS * CHANNELS];
	static int8_t narrow[TAPS * CHANNELS];
	int32_t mult[CHANNELS], shift[CHANNELS], bias[CHANNELS], fold[CHANNELS];
	struct depthwise_weights w = {
		.pairs = (unsigned int)pick(1, TAPS / 2),
		.narrow = pick(0, 1),
		.fold = pick(0, 1) ? fold : NULL,
	};
	uint32_t col = (uint32_t)pick(0, 4) * KERNEL_COLS;
	uint32_t n = (uint32_t)pick(1, CHANNELS - (int)col);
	const uint8_t *taps[TAPS];
	struct depthwise_pixels p = {
		.taps = taps,
		.is_signed = pick(0, 1),
		.rows = (unsigned int)pick(1, 2),
		.cols = (unsigned int)pick(1, PIXELS / 2),
		.in_col = CHANNELS,
		.in_row = PIXELS / 2 * CHANNELS,
		.out_col = CHANNELS,
		.out_row = PIXELS / 2 * CHANNELS,
	};
	struct requant q;

	p.zero_point = p.is_signed ? pick(-128, 127) : pick(0, 255);
	for (int t = 0; t < TAPS; t++) {
		taps[t] = pick(0, 4) ? x[pick(0, TAPS - 1)] : NULL;
		for (int i = 0; i < PIXELS * CHANNELS; i++)
			x[t][i] = (uint8_t)next_random();
	}
	for (int i = 0; i < TAPS * CHANNELS; i++) {
		wide[i] = (int16_t)pick(-255, 255);
		narrow[i] = (int8_t)pick(-128, 127);
	}
	w.data = w.narrow ? (void *)narrow : wide;
	for (int i = 0; i < CHANNELS; i++) {
		bias[i] = (int32_t)next_random();
		fold[i] = pick(-500000, 500000);
	}
	pick_requant(&q, mult, shift, pick(0, 2));
	memset(out, 0xa5, sizeof(out));
	base->depthwise(&p, &w, bias, &q, col, n, out[0]);
	k->depthwise(&p, &w, bias, &q, col, n, out[1]);
	return memcmp(out[0], out[1], sizeof(out[0])) != 0;
}

/* A factor of at most 1, now and then 0, as a term or a sum of qsum() has it. */
static struct qfactor pick_factor(int least, int most)
{
	struct qfactor f = { (int32_t)(next_random() >> 1 | 1 << 30), pick(least, most) };

	if (pick(0, 20) == 0)
		f = (struct qfactor){ 0, most };
	else if (pick(0, 3) == 0)
		f.mult = pick(0, 1) ? 1 << 30 : INT32_MAX;
	return f;
}

/* The term of byte @x, by the functions that define it. */
static int32_t term_of(const struct qsum *s, int i, uint8_t x)
{
	return q_scale(qbyte_value(x, s->byte[i]) * (1 << s->left_shift), s->factor[i]);
}

/* qsum() of a variant that has it against a loop. */
static unsigned int compare_sums(const struct kernels *k)
{
	enum { MOST = 200 };
	uint8_t a[MOST], b[MOST], out[2][MOST];
	size_t n = (size_t)pick(0, MOST);
	int min = pick(-128, 255), bias = pick(0, 255);
	struct qsum s = {
		.byte = { { pick(0, 1) ? 0x80 : 0, (int16_t)bias },
			  { pick(0, 1) ? 0x80 : 0, (int16_t)pick(0, 255) } },
		.left_shift = pick(0, 9) ? 20 : pick(0, 20),
		.factor = { pick_factor(-4, 0), pick_factor(-4, 0) },
		.subtract = pick(0, 1),
		.out = pick_factor(-31, -1),
		.zero_point = pick(-128, 255),
		.range = { min, pick(min, 255) },
	};

	if (!k->qsum)
		return 0;
	/* Small terms, so that a term that is rounded otherwise changes a byte. */
	if (pick(0, 1)) {
		s.factor[0] = pick_factor(-31, -16);
		s.factor[1] = pick_factor(-31, -16);
		s.out = pick_factor(-5, -1);
	}
	memset(out, 0xa5, sizeof(out));
	for (size_t i = 0; i < MOST; i++) {
		a[i] = pick(0, 5) ? (uint8_t)next_random() : pick(0, 1) ? 0xff : 0;
		b[i] = pick(0, 5) ? (uint8_t)next_random() : pick(0, 1) ? 0xff : 0;
	}
	for (size_t i = 0; i < n; i++) {
		int32_t y = term_of(&s, 1, b[i]), v;

		v = q_scale(q_add(term_of(&s, 0, a[i]), s.subtract ? -y : y), s.out);
		out[0][i] = (uint8_t)q_clamp(q_add(v, s.zero_point), s.range.min, s.range.max);
	}
	k->qsum(a, b, n, &s, out[1]);
	return memcmp(out[0], out[1], sizeof(out[0])) != 0;
}

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
		x[pick(0, 50)] = pick(0, 1) ? NAN : INFINITY;
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
	float *out[2], bias[64], *w, *end;
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
	random_floats(bias, 64, 13);
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
	free(out[0]);
	free(w);
	return bad;
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

		for (size_t j = 0; j < depth; j++)
			*sum = fmaf(x[i / n * depth + j], end[i % n * apart + j], *sum);
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

static unsigned int compare_floats(const struct kernels *base, const struct kernels *k)
{
	return compare_float_rows(base, k) + compare_fconv(base, k) + compare_unpacked(k) +
	       compare_float_pixels(base, k) + compare_packed(k) + compare_halves(k);
}

static void test_variants(void)
{
	const struct kernels *base = kernels_variant(0), *k;
	unsigned int differ = 0;
	const char *name;

	for (int round = 0; round < 10 * ROUNDS; round++)
		differ += compare_floats(base, base);
	ok(!differ, "kernels: float sums of %s, term by term with two roundings", kernels_name(0));
	for (unsigned int i = 1; (name = kernels_name(i)); i++) {
		unsigned int bad = 0;

		k = kernels_variant(i);
		if (!k) {
			tap_skip("kernels: this CPU cannot run %s", name);
			continue;
		}
		for (int round = 0; round < 10 * ROUNDS; round++)
			bad += compare_rows(base, k) + compare_row(base, k) +
			       compare_byte_row(base, k) + compare_byte_rows(base, k) +
			       compare_bytes(base, k) +
			       compare_gathered(base, k) + compare_depthwise(base, k) +
			       compare_sums(k) + compare_floats(base, k);
		ok(!bad, "kernels: the inner loops of %s give the same as those of %s, float sums fused",
		   name, kernels_name(0));
	}
}

/* The choice by NNPU_ISA. */
static void test_choice(void)
{
	const struct kernels *best = kernels_variant(0);
	bool good = true;

	for (unsigned int i = 0; kernels_name(i); i++) {
		const struct kernels *k = kernels_variant(i);

		setenv("NNPU_ISA", kernels_name(i), 1);
		good &= kernels_use(NULL) == (k != NULL) && (!k || kernels_get() == k);
		best = k ? k : best;
	}
	ok(good, "NNPU_ISA chooses a variant that this CPU can run");
	setenv("NNPU_ISA", "plain", 1);
	ok(kernels_use(NULL) && kernels_plain(), "NNPU_ISA=plain chooses plain loops");
	setenv("NNPU_ISA", "8087", 1);
	good = !kernels_use(NULL) && kernels_get() == best && !kernels_plain();
	unsetenv("NNPU_ISA");
	good &= !kernels_use(NULL) && kernels_get() == best && !kernels_plain();
	ok(good, "any other name, or none, is the best variant");
}

/* Whole operations. */

enum operand_kind { U8, S8, S8_PER_CHANNEL, F32, F16, NUM_KINDS };

static const char *const kind_names[] = { "U8", "S8", "S8 per channel", "F32", "F16" };

static enum nnpu_type kind_type(enum operand_kind kind)
{
	static const enum nnpu_type types[] = {
		NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
		NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TYPE_TENSOR_FLOAT32,
		NNPU_TYPE_TENSOR_FLOAT16,
	};

	return types[kind];
}

static bool is_float(enum operand_kind kind)
{
	return kind == F32 || kind == F16;
}

static int pick_zero_point(enum operand_kind kind)
{
	return is_float(kind) ? 0 : kind == U8 ? pick(0, 255) : pick(-128, 127);
}

static float pick_scale(enum operand_kind kind)
{
	return is_float(kind) ? 0 : ldexpf((float)pick(64, 127), pick(-16, -9));
}

/*
 * Floats are quarters of whole numbers up to 16: sums of 60000 products are exact, and a fused
 * sum is the same as one with two roundings.
 */
static bool exact_sums;

/* @n elements of a type; half precision numbers of moderate size. */
static void *random_data(enum nnpu_type type, size_t n)
{
	size_t size = type_size(type);
	uint8_t *p = must(malloc(n * size + 1));

	for (size_t i = 0; i < n; i++) {
		float real = (float)pick(-1000, 1000) / 77;
		uint16_t half = (uint16_t)(pick(0, 1) << 15 | pick(10, 17) << 10 | pick(0, 1023));

		if (exact_sums) {
			real = (float)pick(-16, 16) / 4;
			half = float_to_half(real);
		}
		if (type == NNPU_TYPE_TENSOR_FLOAT32)
			memcpy(p + i * size, &real, size);
		else if (type == NNPU_TYPE_TENSOR_FLOAT16)
			memcpy(p + i * size, &half, size);
		else
			p[i] = (uint8_t)next_random();
	}
	return p;
}

static void add_random(struct fixture *f, bool constant, enum nnpu_type type, float scale,
		       int zero_point, unsigned int rank, const uint32_t *dims)
{
	size_t n = 1;
	void *data;

	for (unsigned int i = 0; i < rank; i++)
		n *= dims[i];
	data = random_data(type, n);
	if (constant)
		fixture_const(f, type, scale, zero_point, rank, dims, data);
	else
		fixture_input(f, type, scale, zero_point, rank, dims, data);
	free(data);
}

/*
 * The filter and the bias; returns the scale of the accumulator. @scales is for as many
 * scales as there are channels, which are dimension @dim of the filter.
 */
static float add_weights(struct fixture *f, enum operand_kind kind, float in_scale,
			 unsigned int rank, const uint32_t *dims, uint32_t dim, float *scales)
{
	uint32_t channels = dims[dim];
	float scale = pick_scale(kind);
	int32_t *bias;

	if (is_float(kind)) {
		add_random(f, true, kind_type(kind), 0, 0, rank, dims);
		add_random(f, true, kind_type(kind), 0, 0, 1, &channels);
		return 0;
	}
	bias = must(malloc(channels * sizeof(*bias)));
	for (uint32_t i = 0; i < channels; i++) {
		bias[i] = pick(0, 40) ? pick(-50000, 50000) : (int32_t)next_random();
		scales[i] = scale * (float)pick(10, 100) / 64;
	}
	if (kind == S8_PER_CHANNEL) {
		add_random(f, true, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0, rank, dims);
		fixture_channel_scales(f, dim, scales);
		fixture_const(f, NNPU_TYPE_TENSOR_INT32, 0, 0, 1, &channels, bias);
	} else {
		add_random(f, true, kind_type(kind), scale, pick(0, 2) ? pick_zero_point(kind) : 0,
			   rank, dims);
		fixture_const(f, NNPU_TYPE_TENSOR_INT32, in_scale * scale, 0, 1, &channels, bias);
	}
	free(bias);
	return in_scale * scale;
}

static float pick_out_scale(enum operand_kind kind, float acc_scale)
{
	if (is_float(kind))
		return 0;
	/* Now and then smaller than the accumulator's: shifts to the left. */
	return pick(0, 9) ? acc_scale * (float)pick(20, 4000) : acc_scale / 3;
}

static bool agrees(struct fixture *f)
{
	f->shared_constants = pick(0, 1);
	return fixture_agrees(f);
}

static void add_window(struct fixture *f, bool depthwise, bool nchw, int size_y, int size_x,
		       bool dilated)
{
	if (pick(0, 1)) {
		for (int i = 0; i < 4; i++)
			fixture_i32(f, pick(0, (i < 2 ? size_x : size_y) - 1));
	} else {
		fixture_i32(f, pick(1, 2));
	}
	fixture_i32(f, pick(0, 1) ? 1 : pick(1, 3));
	fixture_i32(f, pick(0, 1) ? 1 : pick(1, 3));
	if (depthwise)
		fixture_i32(f, 1);
	fixture_i32(f, pick(0, 3));
	fixture_bool(f, nchw);
	fixture_i32(f, dilated ? 2 : 1);
	fixture_i32(f, dilated ? 2 : 1);
}

static bool convolution(enum operand_kind kind, bool depthwise)
{
	int taps_y = pick(0, 2) ? pick(1, 4) : 1, taps_x = taps_y == 1 ? 1 : pick(1, 5);
	bool dilated = pick(0, 5) == 0, nchw = pick(0, 5) == 0;
	int size_y = dilated ? 2 * taps_y - 1 : taps_y, size_x = dilated ? 2 * taps_x - 1 : taps_x;
	uint32_t n = (uint32_t)pick(1, 2), c = (uint32_t)pick_size(40, depthwise ? 200 : 600);
	uint32_t y = (uint32_t)pick(size_y, size_y + 9), x = (uint32_t)pick(size_x, size_x + 9);
	uint32_t out = depthwise ? c : (uint32_t)pick_size(20, 70);
	uint32_t filter[4] = { depthwise ? 1 : out, (uint32_t)taps_y, (uint32_t)taps_x, c };
	float scales[600], scale = pick_scale(kind), acc_scale;
	struct fixture f;
	bool good;

	fixture_init(&f, depthwise ? NNPU_OP_DEPTHWISE_CONV_2D : NNPU_OP_CONV_2D);
	if (nchw)
		add_random(&f, false, kind_type(kind), scale, pick_zero_point(kind),
			   DIMS(n, c, y, x));
	else
		add_random(&f, false, kind_type(kind), scale, pick_zero_point(kind),
			   DIMS(n, y, x, c));
	acc_scale = add_weights(&f, kind, scale, 4, filter, depthwise ? 3 : 0, scales);
	add_window(&f, depthwise, nchw, size_y, size_x, dilated);
	fixture_output(&f, kind_type(kind), pick_out_scale(kind, acc_scale),
		       pick_zero_point(kind));
	if (pick(0, 3) == 0)
		fixture_unfix(&f);
	good = agrees(&f);
	if (!good)
		tap_note("%s in %u,%u,%u,%u out %u taps %d,%d%s%s", kind_names[kind], n, y, x, c,
			 out, taps_y, taps_x, nchw ? " nchw" : "", dilated ? " dilated" : "");
	fixture_end(&f);
	return good;
}

/* @steps: scale of the output in scales of the accumulator; 0: any. */
static bool weighted_sums(enum operand_kind kind, uint32_t rows, uint32_t size, uint32_t units,
			  float steps)
{
	float *scales = must(malloc(units * sizeof(*scales)));
	float scale = pick_scale(kind), acc_scale;
	struct fixture f;
	bool good;

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	add_random(&f, false, kind_type(kind), scale, pick_zero_point(kind), DIMS(rows, size));
	acc_scale = add_weights(&f, kind, scale, DIMS(units, size), 0, scales);
	fixture_i32(&f, pick(0, 3));
	fixture_output(&f, kind_type(kind),
		       steps > 0 ? acc_scale * steps : pick_out_scale(kind, acc_scale),
		       pick_zero_point(kind));
	if (pick(0, 3) == 0)
		fixture_unfix(&f);
	good = agrees(&f);
	if (!good)
		tap_note("%s %u by %u to %u", kind_names[kind], rows, size, units);
	fixture_end(&f);
	free(scales);
	return good;
}

static bool fully_connected(enum operand_kind kind)
{
	uint32_t rows = (uint32_t)pick_size(8, 60), size = (uint32_t)pick_size(100, 1500);
	uint32_t units = (uint32_t)pick_size(20, 100);

	return weighted_sums(kind, rows, size, units, 0);
}

/* Rows of inputs that are too long for one tile, or leave room for few. */
static bool long_rows(enum operand_kind kind)
{
	uint32_t size = (uint32_t)pick(3000, 60000), units = (uint32_t)pick(1, 20);
	uint32_t rows = (uint32_t)pick(1, 9);

	return weighted_sums(kind, rows, size, units, 50000);
}

/* So few units that their weights are not packed, and numbers about that. */
static bool few_units(enum operand_kind kind)
{
	static const uint32_t units[] = { 1, 2, 3, 4, 5, 6, 9, 10, 11, 17 };
	uint32_t size = (uint32_t)pick(250, pick(0, 9) ? pick(260, 1100) : 9000);
	uint32_t rows = (uint32_t)pick(1, 8);

	return weighted_sums(kind, rows, size, units[pick(0, 9)], 0);
}

static bool conv2d(enum operand_kind kind)
{
	return convolution(kind, false);
}

static bool depthwise_conv2d(enum operand_kind kind)
{
	return convolution(kind, true);
}

/* ADD or SUB, side by side or one of them broadcast. */
static bool sum(enum operand_kind kind)
{
	uint32_t n = (uint32_t)pick_size(60, 3000);
	float scale[2] = { pick_scale(kind), pick_scale(kind) };
	struct fixture f;
	bool good;

	fixture_init(&f, pick(0, 1) ? NNPU_OP_ADD : NNPU_OP_SUB);
	add_random(&f, false, kind_type(kind), scale[0], pick_zero_point(kind), DIMS(2, n));
	add_random(&f, false, kind_type(kind), scale[1], pick_zero_point(kind),
		   DIMS(pick(0, 3) ? 2 : 1, n));
	fixture_i32(&f, pick(0, 3));
	fixture_output(&f, kind_type(kind), is_float(kind) ? 0 : pick_scale(kind),
		       pick_zero_point(kind));
	good = agrees(&f);
	fixture_end(&f);
	return good;
}

/* The variant that whole operations are run with. */
static const char *isa;

static void test_operation(const char *name, enum operand_kind kind, int rounds,
			   bool (*run)(enum operand_kind kind))
{
	unsigned int bad = 0;

	exact_sums = run != sum;
	for (int i = 0; i < rounds; i++)
		bad += !run(kind);
	ok(!bad, "%s %s, %s: %d random calls as by plain loops", name, kind_names[kind], isa,
	   rounds);
}

static void test_operations(void)
{
	for (enum operand_kind kind = 0; kind < NUM_KINDS; kind++) {
		test_operation("CONV_2D", kind, ROUNDS, conv2d);
		test_operation("DEPTHWISE_CONV_2D", kind, ROUNDS, depthwise_conv2d);
		if (kind == S8_PER_CHANNEL)
			continue;
		test_operation("FULLY_CONNECTED", kind, ROUNDS, fully_connected);
		test_operation("ADD and SUB", kind, ROUNDS, sum);
		test_operation("FULLY_CONNECTED with long rows,", kind, 6, long_rows);
		test_operation("FULLY_CONNECTED with few units,", kind, ROUNDS, few_units);
	}
}

int main(void)
{
	test_choice();
	test_variants();
	for (unsigned int i = 0; kernels_name(i); i++) {
		if (!kernels_variant(i))
			continue;
		isa = kernels_name(i);
		kernels_use(isa);
		test_operations();
	}
	return tap_done();
}
