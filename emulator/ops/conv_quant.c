// SPDX-License-Identifier: MIT
/*
 * Quantized convolution.
 *
 * Zero points are taken off before the product, so that padding is a zero. The
 * work is cut into blocks of KERNEL_COLS output channels, tiles of pixels and,
 * where rows are long, pieces of rows; all scratch memory is on the stack.
 * Without a prepared object a block's weights are unpacked as they are used.
 */
#include "conv.h"
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

/* Pixels of a tile, at most and for the longest pieces. */
#define TILE_ROWS	32
#define TILE_VALUES	16384

/* Longest piece of weights that are unpacked on the stack. */
#define UNPACKED_MAX	512

struct conv_quant {
	size_t stride;			/* values per row of weights */
	int16_t weights[];		/* rows padded to a multiple of 4, in zeros */
};

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

void *conv_quant_prepare(const struct op_call *c, uint32_t channels, size_t depth,
			 size_t *bytes)
{
	const struct kernels *k = kernels_get();
	struct qbyte b = qbyte_of(c->in[1]);
	const uint8_t *src = c->in[1]->data;
	size_t stride = round_up(depth, KERNEL_DOT_ALIGN);
	size_t rows = round_up(channels, 4);
	struct conv_quant *p;
	size_t size;

	if (__builtin_mul_overflow(rows, stride, &size) ||
	    __builtin_mul_overflow(size, sizeof(p->weights[0]), &size) ||
	    __builtin_add_overflow(size, sizeof(*p), &size))
		return NULL;
	p = calloc(1, size);
	if (!p)
		return NULL;
	p->stride = stride;
	for (uint32_t i = 0; i < channels; i++)
		k->widen(src + i * depth, b, depth, p->weights + i * stride);
	*bytes += size;
	return p;
}

void conv_quant_cols(const struct op_call *c, enum activation a, uint32_t first,
		     unsigned int n, struct qcols *q)
{
	bool per_channel = c->in[1]->type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	struct qfactor f = { 0, 0 };

	q->shifts_left = false;
	for (unsigned int i = 0; i < n; i++) {
		if (i == 0 || per_channel)
			f = qfactor_of_channel(c, first + i);
		q->mult[i] = f.mult;
		q->shift[i] = f.shift;
		q->shifts_left |= f.shift > 0;
	}
	q->zero_point = c->out[0]->zero_point;
	q->range = qrange_of(a, c->out[0]);
}

/* @n values from @src on; across channels only where they are adjacent in memory. */
static void gather_run(const struct kernels *k, const struct conv *cv, struct qbyte b,
		       const uint8_t *src, size_t n, int16_t *dst)
{
	if (cv->in.c_stride == 1) {
		k->widen(src, b, n, dst);
		return;
	}
	for (size_t i = 0; i < n; i++)
		dst[i] = qbyte_value(src[i * cv->in.c_stride], b);
}

/*
 * Piece [from, from + len) of the row of inputs of pixel @p. Adjacent taps of a
 * channels-last image without dilation are copied in one run.
 */
static void gather(const struct kernels *k, const struct conv *cv, struct qbyte b,
		   const uint8_t *in, struct conv_pixel p, size_t from, size_t len, int16_t *dst)
{
	size_t channels = cv->in.c;
	bool adjacent = cv->x.dilation == 1 && cv->in.c_stride == 1;
	uint32_t y_first, y_last, x_first, x_last;
	size_t end = from + len;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	in += p.n * cv->in.n_stride;
	while (from < end) {
		size_t tap = from / channels, channel = from % channels;
		uint32_t ty = (uint32_t)(tap / cv->x.taps), tx = (uint32_t)(tap % cv->x.taps);
		bool inside = ty >= y_first && ty < y_last && tx >= x_first && tx < x_last;
		size_t run = channels - channel;

		if (inside && adjacent)
			run += (x_last - tx - 1) * channels;
		if (run > end - from)
			run = end - from;
		if (inside)
			gather_run(k, cv, b, in + window_index(&cv->y, p.y, ty) * cv->in.y_stride +
				   window_index(&cv->x, p.x, tx) * cv->in.x_stride +
				   channel * cv->in.c_stride, run, dst);
		else
			memset(dst, 0, run * sizeof(*dst));
		dst += run;
		from += run;
	}
}

/* Piece [from, from + len) of the rows of @cols channels, each @padded values long. */
static void unpack(const struct kernels *k, const struct op_call *c, size_t depth,
		   uint32_t col, unsigned int cols, size_t from, size_t len, size_t padded,
		   int16_t *dst)
{
	struct qbyte b = qbyte_of(c->in[1]);
	const uint8_t *src = (const uint8_t *)c->in[1]->data + col * depth + from;

	memset(dst, 0, round_up(cols, 4) * padded * sizeof(*dst));
	for (unsigned int i = 0; i < cols; i++)
		k->widen(src + i * depth, b, len, dst + i * padded);
}

static void store(const struct kernels *k, const struct conv *cv, const struct qcols *q,
		  const int32_t *acc, unsigned int rows, struct conv_pixel p, uint32_t col,
		  unsigned int cols, uint8_t *out)
{
	uint8_t values[KERNEL_COLS];

	for (unsigned int r = 0; r < rows; r++, acc += KERNEL_COLS) {
		uint8_t *dst = out + conv_pixel_offset(cv, p) + col * cv->out.c_stride;

		if (cv->out.c_stride == 1) {
			k->requantize(acc, q, cols, dst);
		} else {
			k->requantize(acc, q, cols, values);
			for (unsigned int i = 0; i < cols; i++)
				dst[i * cv->out.c_stride] = values[i];
		}
		conv_pixel_next(cv, &p);
	}
}

/* What stays the same over the tiles of one block of channels. */
struct block {
	const struct kernels *k;
	const struct op_call *c;
	const struct conv *cv;
	struct op_pace *pace;
	size_t depth;
	size_t piece;			/* longest piece of a row */
	unsigned int tile_rows;
	uint32_t col;
	unsigned int cols;
};

static int execute_block(const struct block *bl, int16_t *inputs, int16_t *unpacked)
{
	const struct conv_quant *packed = bl->c->prepared;
	const struct conv *cv = bl->cv;
	struct qbyte b = qbyte_of(bl->c->in[0]);
	const int32_t *bias = (const int32_t *)bl->c->in[2]->data + bl->col;
	size_t pixels = (size_t)cv->out.n * cv->out.y * cv->out.x;
	int32_t acc[TILE_ROWS * KERNEL_COLS];
	bool have_weights = false;
	struct qcols q;

	conv_quant_cols(bl->c, cv->activation, bl->col, bl->cols, &q);
	for (size_t pixel = 0; pixel < pixels; pixel += bl->tile_rows) {
		struct conv_pixel first = conv_pixel_at(cv, pixel), p;
		unsigned int rows = pixels - pixel < bl->tile_rows ?
				    (unsigned int)(pixels - pixel) : bl->tile_rows;
		unsigned int even_rows = (rows + 1) & ~1u;

		for (unsigned int r = 0; r < even_rows; r++) {
			memcpy(acc + r * KERNEL_COLS, bias, bl->cols * sizeof(*acc));
			memset(acc + r * KERNEL_COLS + bl->cols, 0,
			       (KERNEL_COLS - bl->cols) * sizeof(*acc));
		}
		for (size_t from = 0; from < bl->depth; from += bl->piece) {
			size_t len = bl->depth - from < bl->piece ? bl->depth - from : bl->piece;
			size_t padded = round_up(len, KERNEL_DOT_ALIGN);
			const int16_t *weights = unpacked;
			size_t stride = padded;

			if (packed) {
				weights = packed->weights + bl->col * packed->stride + from;
				stride = packed->stride;
			} else if (!have_weights) {
				unpack(bl->k, bl->c, bl->depth, bl->col, bl->cols, from, len,
				       padded, unpacked);
				have_weights = bl->piece >= bl->depth;
			}
			p = first;
			for (unsigned int r = 0; r < rows; r++) {
				gather(bl->k, cv, b, bl->c->in[0]->data, p, from, len,
				       inputs + r * padded);
				memset(inputs + r * padded + len, 0,
				       (padded - len) * sizeof(*inputs));
				conv_pixel_next(cv, &p);
			}
			if (even_rows > rows)
				memset(inputs + rows * padded, 0, padded * sizeof(*inputs));
			bl->k->dot(inputs, even_rows, weights, stride, (bl->cols + 3) & ~3u,
				   (unsigned int)padded, acc);
			if (op_pace(bl->pace, rows * (bl->cols + 16) * padded / 8))
				return OP_ABORTED;
		}
		store(bl->k, cv, &q, acc, rows, first, bl->col, bl->cols, bl->c->out[0]->data);
	}
	return 0;
}

int conv_quant_execute(const struct op_call *c, const struct conv *cv)
{
	int16_t inputs[TILE_VALUES] __attribute__((aligned(64)));
	int16_t unpacked[KERNEL_COLS * UNPACKED_MAX] __attribute__((aligned(64)));
	struct op_pace pace = { .progress = c->progress };
	struct block bl = {
		.k = kernels_get(),
		.c = c,
		.cv = cv,
		.pace = &pace,
		.depth = conv_depth(cv),
	};
	size_t padded = round_up(bl.depth, KERNEL_DOT_ALIGN);
	int ret;

	bl.piece = c->prepared ? KERNEL_DOT_MAX : UNPACKED_MAX;
	if (bl.piece > padded)
		bl.piece = padded;
	bl.tile_rows = (unsigned int)(TILE_VALUES / bl.piece) & ~1u;
	if (bl.tile_rows > TILE_ROWS)
		bl.tile_rows = TILE_ROWS;

	for (bl.col = 0; bl.col < cv->out.c; bl.col += KERNEL_COLS) {
		bl.cols = cv->out.c - bl.col < KERNEL_COLS ? cv->out.c - bl.col : KERNEL_COLS;
		ret = execute_block(&bl, inputs, unpacked);
		if (ret)
			return ret;
	}
	return 0;
}
