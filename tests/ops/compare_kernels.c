// SPDX-License-Identifier: MIT
/*
 * The inner loops for integers: products, requantization, gathering and sums.
 */
#include <stdlib.h>
#include <string.h>

#include "compare_kernels.h"
#include "page_end.h"

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
 * What the kernels that requantize are compared with: qgemm() and requantize() of channels [col, col + n),
 * whose weights, biases and results begin at @w, @bias and @y.
 */
static void requantized(const struct kernels *base, const int16_t *x, size_t pairs,
			unsigned int rows, const int8_t *w, const int32_t *bias, const int32_t *add,
			const struct requant *q, uint32_t col, uint32_t n, uint8_t *y,
			size_t y_stride)
{
	for (uint32_t c = 0; c < n; c += KERNEL_COLS) {
		uint32_t cols = n - c < KERNEL_COLS ? n - c : KERNEL_COLS;
		int32_t padded[KERNEL_COLS] = { 0 }, acc[MAX_ROWS * KERNEL_COLS];

		memcpy(padded, bias + c, cols * sizeof(*padded));
		base->qgemm(x, 2 * pairs, rows, w + c * pairs * 2, pairs, cols > KERNEL_PANEL ? 2 : 1,
			    padded, add, acc);
		base->requantize(acc, rows, q, col + c, cols, y + c, y_stride);
	}
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
	int32_t mult[CHANNELS], shift[CHANNELS];
	int32_t add = (int32_t)next_random(), *bias;
	uint8_t out[2][CHANNELS];
	int16_t x[2 * MAX_PAIRS];
	struct requant q;
	int8_t *w;

	if (!k->qrow)
		return 0;
	w = malloc(bytes);
	bias = page_end(n * sizeof(*bias));
	if (!w)
		abort();
	for (size_t i = 0; i < 2 * pairs; i++)
		x[i] = (int16_t)(pick(0, 3) ? pick(-255, 255) : pick(0, 1) ? 255 : -255);
	for (size_t i = 0; i < bytes; i++)
		w[i] = (int8_t)(pick(0, 3) ? pick(-128, 127) : -128);
	for (uint32_t i = 0; i < n; i++)
		bias[i] = (int32_t)next_random();
	pick_requant(&q, mult, shift, true);
	memset(out, 0xa5, sizeof(out));
	requantized(base, x, pairs, 1, w, bias, &add, &q, first, n, out[0] + first, 0);
	k->qrow(x, w, pairs, bias, add, &q, first, n, out[1]);
	free(w);
	page_end_free(bias, n * sizeof(*bias));
	return memcmp(out[0], out[1], sizeof(out[0])) != 0;
}

/* qrow_bytes() likewise. Nothing behind the row, its weights or the channels may count. */
static unsigned int compare_byte_row(const struct kernels *base, const struct kernels *k)
{
	static int8_t w[CHANNELS * 2 * MAX_PAIRS];
	size_t depth = (size_t)pick_size(8, 2 * MAX_PAIRS), pairs = (depth + 1) / 2;
	int32_t mult[CHANNELS], shift[CHANNELS], bias[CHANNELS], none = 0;
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
	requantized(base, x, pairs, 1, w, bias, &none, &q, first, n, out[0] + first, 0);
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
	bias = page_end(n * sizeof(*bias));
	bytes = malloc((rows - 1) * stride + depth + 3);
	if (!w || !bytes)
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
	requantized(base, x, pairs, rows, w, bias, add, &q, col, n, out[0], KERNEL_WIDE);
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
	page_end_free(bias, n * sizeof(*bias));
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

unsigned int compare_integers(const struct kernels *base, const struct kernels *k)
{
	return compare_rows(base, k) + compare_row(base, k) + compare_byte_row(base, k) +
	       compare_byte_rows(base, k) + compare_bytes(base, k) + compare_gathered(base, k) +
	       compare_depthwise(base, k) + compare_sums(k);
}
