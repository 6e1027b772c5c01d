// SPDX-License-Identifier: MIT
/*
 * Float convolution.
 *
 * Each output is the sum of its products in the order of the row, plus the bias. Kernels with fused
 * multiply-add round each step once, the others twice. Vectors hold different outputs, so there is no
 * other difference between variants. The work is divided into tiles as in conv_quant.c.
 */
#include "conv.h"
#include "float_quads.h"
#include "kernels.h"

#include <string.h>

/* Pixels and values of a tile, at most. */
#define TILE_ROWS	(8 * KERNEL_ROWS)
#define TILE_VALUES	16384

/* Four values of each of four rows, @depth values apart; @dst has KERNEL_PANEL of a position. */
static void pack_4(const float *src, size_t depth, float *dst)
{
	float_quad columns[4];

	float_quad_columns(src, depth, columns);
	for (unsigned int i = 0; i < 4; i++)
		memcpy(dst + i * KERNEL_PANEL, &columns[i], sizeof(columns[i]));
}

static void pack_panel(const struct tensor *filter, const void *rows, unsigned int cols,
		       size_t depth, size_t len, void *panel)
{
	const float *src = rows;
	float *dst = panel;
	size_t i = 0;

	(void)filter;
	/* Weights that are computed are packed in each job. */
	for (; cols == KERNEL_PANEL && i + 4 <= len; i += 4, dst += 4 * KERNEL_PANEL) {
		pack_4(src + i, depth, dst);
		pack_4(src + 4 * depth + i, depth, dst + 4);
	}
	for (; i < len; i++, dst += KERNEL_PANEL) {
		for (unsigned int j = 0; j < KERNEL_PANEL; j++)
			dst[j] = j < cols ? src[j * depth + i] : 0.0f;
	}
}

const struct conv_packing conv_float_packing = {
	.value_size = sizeof(float),
	.group = 1,
	.pack_panel = pack_panel,
};

/* Gathering. */

static void copy_run(const struct conv *cv, struct op_pace *pace, const float *src, size_t n,
		     float *dst)
{
	size_t apart = cv->in.c_stride * sizeof(*src);


	if (cv->in.c_stride == 1) {
		memcpy(dst, src, n * sizeof(*dst));
		return;
	}
	for (size_t i = 0; i < n && !op_pace_strided(pace, i, apart, 1); i++)
		dst[i] = src[i * cv->in.c_stride];
	op_pace(pace, op_pace_rest(n, apart, 1));
}

/* Piece [from, from + len) of the row of inputs of pixel @p. */
static void gather(const struct conv *cv, struct op_pace *pace, const float *in, struct conv_pixel p,
		   size_t from, size_t len, float *dst)
{
	struct conv_runs r = conv_runs_of(cv, p, from, len);

	for (; conv_runs_next(&r) && !op_pace(pace, OP_PACE_RUN_APART); dst += r.len) {
		if (r.inside)
			copy_run(cv, pace, in + r.offset, r.len, dst);
		else
			memset(dst, 0, r.len * sizeof(*dst));
	}
}

/*
 * Runs of a row, @step values apart, to where they are @width apart. If they are short, a call of
 * memcpy() takes longer than the copy: @fours is how many times four values, of which the last ones
 * may be some of those before.
 */
static inline __attribute__((always_inline)) void
copy_fours(const unsigned int fours, const float *src, size_t step, size_t run, unsigned int runs,
	   float *dst, size_t width)
{
	for (; runs; runs--, src += step, dst += width) {
		for (unsigned int i = 0; i + 1 < fours; i++)
			memcpy(dst + 4 * i, src + 4 * i, 4 * sizeof(*dst));
		memcpy(dst + run - 4, src + run - 4, 4 * sizeof(*dst));
	}
}

static void copy_runs(const float *src, size_t step, size_t run, unsigned int runs, float *dst,
		      size_t width)
{
	switch (run < 4 ? 0 : (run + 3) / 4) {
	case 0:
		for (; runs; runs--, src += step, dst += width)
			for (size_t i = 0; i < run; i++)
				dst[i] = src[i];
		break;
	case 1:
		copy_fours(1, src, step, run, runs, dst, width);
		break;
	case 2:
		copy_fours(2, src, step, run, runs, dst, width);
		break;
	case 3:
		copy_fours(3, src, step, run, runs, dst, width);
		break;
	default:
		for (; runs; runs--, src += step, dst += width)
			memcpy(dst, src, run * sizeof(*dst));
	}
}

/* The same for a whole row of a channels-last image without dilation along x. */
static void gather_row(const struct conv *cv, const float *in, struct conv_pixel p, float *dst)
{
	size_t channels = cv->in.c, width = cv->x.taps * channels, run;
	uint32_t y_first, y_last, x_first, x_last;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	run = (x_last - x_first) * channels;
	if (run < width || y_last - y_first < cv->y.taps)
		memset(dst, 0, cv->y.taps * width * sizeof(*dst));
	if (!run || y_first == y_last)
		return;
	in += p.n * cv->in.n_stride + window_index(&cv->y, p.y, y_first) * cv->in.y_stride +
	      window_index(&cv->x, p.x, x_first) * cv->in.x_stride;
	copy_runs(in, cv->y.dilation * cv->in.y_stride, run, y_last - y_first,
		  dst + y_first * width + x_first * channels, width);
}

/* Execution. */

struct tile {
	const struct kernels *k;
	const struct op_call *c;
	const struct conv *cv;
	const float *weights;
	struct op_pace *pace;
	size_t depth;
	size_t piece;			/* longest piece of a row */
	bool in_place;			/* the rows are read from the image itself */
	unsigned int rows;
	struct conv_pixel first;	/* pixel of row 0 */
	size_t pixel;			/* its number */
	const float *inputs;
	float *gathered;
	size_t stride;			/* of the rows in @inputs */
};

static int gather_tile(struct tile *t, size_t from, size_t len)
{
	struct conv_pixel p = t->first;

	if (t->in_place) {
		t->inputs = (const float *)t->c->in[0]->data + t->pixel * t->depth;
		return 0;
	}
	t->inputs = t->gathered;
	for (unsigned int r = 0; r < t->rows; r++, conv_pixel_next(t->cv, &p)) {
		float *dst = t->gathered + r * t->stride;

		if (len < t->depth || !conv_rows_short(t->cv)) {
			gather(t->cv, t->pace, t->c->in[0]->data, p, from, len, dst);
			continue;
		}
		gather_row(t->cv, t->c->in[0]->data, p, dst);
		if (op_pace(t->pace, (size_t)t->cv->y.taps * OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	return op_pace(t->pace, t->rows * (len / 2 + 64)) ? OP_ABORTED : 0;
}

static void store(const struct tile *t, const float *acc, const float *bias, uint32_t col,
		  unsigned int cols)
{
	const struct conv *cv = t->cv;
	struct frange range = frange_of(cv->activation);
	float *out = t->c->out[0]->data;
	struct conv_pixel p = t->first;

	if (cv->out.c_stride == 1) {
		t->k->finish(acc, t->rows, bias, range, cols, out + t->pixel * cv->out.c + col,
			     cv->out.c);
		return;
	}
	for (unsigned int r = 0; r < t->rows; r++, acc += KERNEL_COLS) {
		float *dst = out + conv_pixel_offset(cv, p) + col * cv->out.c_stride;
		float values[KERNEL_COLS];

		t->k->finish(acc, 1, bias, range, cols, values, 0);
		for (unsigned int i = 0; i < cols; i++)
			dst[i * cv->out.c_stride] = values[i];
		conv_pixel_next(cv, &p);
	}
}

/* Can fconv() compute a tile? It takes whole rows. */
static bool is_fused(const struct tile *t)
{
	return t->k->fconv && t->piece == t->depth && t->cv->out.c_stride == 1;
}

/*
 * Up to KERNEL_COLS channels of a tile, of one that is fused up to KERNEL_WIDE. Its rows have been
 * gathered unless they go in pieces.
 */
static int execute_cols(struct tile *t, uint32_t col, unsigned int cols)
{
	const float *bias = (const float *)t->c->in[2]->data + col;
	const float *weights = t->weights + col * t->depth;
	float acc[TILE_ROWS * KERNEL_COLS];

	if (is_fused(t)) {
		float *out = (float *)t->c->out[0]->data + t->pixel * t->cv->out.c + col;

		t->k->fconv(t->inputs, t->stride, t->rows, weights, t->depth,
			    t->depth * KERNEL_PANEL, bias, frange_of(t->cv->activation), cols, out,
			    t->cv->out.c);
		return op_pace(t->pace, t->rows * (t->depth * 2 + 32)) ? OP_ABORTED : 0;
	}
	memset(acc, 0, t->rows * KERNEL_COLS * sizeof(*acc));
	for (size_t from = 0; from < t->depth; from += t->piece) {
		size_t len = t->depth - from < t->piece ? t->depth - from : t->piece;

		if (t->piece < t->depth && gather_tile(t, from, len))
			return OP_ABORTED;
		t->k->fgemm(t->inputs, t->stride, t->rows, weights + from * KERNEL_PANEL, len,
			    t->depth * KERNEL_PANEL, cols > KERNEL_PANEL ? 2 : 1, acc);
		if (op_pace(t->pace, t->rows * (len * 2 + 32)))
			return OP_ABORTED;
	}
	store(t, acc, bias, col, cols);
	return 0;
}

/* A call. Its parts share it. */
struct float_call {
	const struct op_call *c;
	const struct conv *cv;
	const struct conv_packed *packed;
	struct conv_split split;
	size_t depth;
	size_t piece;
	unsigned int max_rows;
};

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	float gathered[TILE_VALUES] __attribute__((aligned(64)));
	const struct float_call *f = work;
	struct conv_range range = conv_split_range(&f->split, first, end);
	struct tile t = {
		.k = kernels_get(),
		.c = f->c,
		.cv = f->cv,
		.weights = f->packed->weights,
		.pace = pace,
		.depth = f->depth,
		.piece = f->piece,
		.in_place = conv_is_pointwise(f->cv) && f->piece == f->depth,
		.gathered = gathered,
		.stride = f->piece,
	};
	uint32_t most = is_fused(&t) ? KERNEL_WIDE : KERNEL_COLS;

	for (t.pixel = range.pixel; t.pixel < range.pixel_end; t.pixel += t.rows) {
		size_t left = range.pixel_end - t.pixel;

		t.first = conv_pixel_at(f->cv, t.pixel);
		t.rows = left < f->max_rows ? (unsigned int)left : f->max_rows;
		if (t.piece == t.depth && gather_tile(&t, 0, t.depth))
			return OP_ABORTED;
		for (uint32_t col = range.col, cols; col < range.col_end; col += cols) {
			cols = range.col_end - col < most ? range.col_end - col : most;
			if (execute_cols(&t, col, cols))
				return OP_ABORTED;
		}
	}
	return 0;
}

int conv_float_execute(const struct op_call *c, const struct conv *cv)
{
	struct op_pace pace = { .progress = c->progress };
	struct op_parts parts = { .compute = execute_part };
	struct float_call f = {
		.c = c,
		.cv = cv,
		.packed = c->prepared,
		.split = conv_split_of(cv),
		.depth = conv_depth(cv),
	};

	if (!f.packed)
		f.packed = conv_pack(&pace, &conv_float_packing, c, cv->out.c, f.depth, c->scratch);
	if (!f.packed)
		return OP_ABORTED;
	f.piece = f.depth < TILE_VALUES ? f.depth : TILE_VALUES;
	f.max_rows = (unsigned int)(TILE_VALUES / f.piece);
	if (f.max_rows > TILE_ROWS)
		f.max_rows = TILE_ROWS;
	if (f.max_rows > KERNEL_ROWS)
		f.max_rows -= f.max_rows % KERNEL_ROWS;
	parts.work = &f;
	parts.items = conv_split_items(&f.split);
	parts.units = conv_split_units(&f.split, f.depth * 2 + 32);
	return op_run_parts(c, &parts, &pace);
}
