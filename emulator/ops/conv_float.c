// SPDX-License-Identifier: MIT
/*
 * Float convolution.
 *
 * Each output is the sum of its products in the order of the row, plus the
 * bias, each step rounded to single precision; what runs side by side is
 * different outputs, so speed changes no result.
 */
#include "conv.h"
#include "quant.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_COLS	16		/* output channels computed together */
#define TILE_ROWS	16		/* pixels of a tile */
#define PIECE_MAX	512		/* longest piece of a row */

/* Weights by block of channels, then by position in the row, then by channel. */
struct conv_float {
	size_t depth;
	float weights[];
};

/* Piece [from, from + len) of the rows of @cols channels from @col on; others are zero. */
static void pack(const float *src, size_t depth, uint32_t col, unsigned int cols, size_t from,
		 size_t len, float *dst)
{
	for (size_t i = 0; i < len; i++) {
		for (unsigned int j = 0; j < BLOCK_COLS; j++)
			*dst++ = j < cols ? src[(col + j) * depth + from + i] : 0.0f;
	}
}

static unsigned int block_cols(uint32_t channels, uint32_t col)
{
	return channels - col < BLOCK_COLS ? channels - col : BLOCK_COLS;
}

void *conv_float_prepare(const struct op_call *c, uint32_t channels, size_t depth,
			 size_t *bytes)
{
	size_t blocks = ((size_t)channels + BLOCK_COLS - 1) / BLOCK_COLS;
	struct conv_float *p;
	size_t size;

	if (__builtin_mul_overflow(blocks * BLOCK_COLS, depth, &size) ||
	    __builtin_mul_overflow(size, sizeof(p->weights[0]), &size) ||
	    __builtin_add_overflow(size, sizeof(*p), &size))
		return NULL;
	p = malloc(size);
	if (!p)
		return NULL;
	p->depth = depth;
	for (size_t i = 0; i < blocks; i++) {
		uint32_t col = (uint32_t)(i * BLOCK_COLS);

		pack(c->in[1]->data, depth, col, block_cols(channels, col), 0, depth,
		     p->weights + i * BLOCK_COLS * depth);
	}
	*bytes += size;
	return p;
}

static void gather(const struct conv *cv, const float *in, struct conv_pixel p, size_t from,
		   size_t len, float *dst)
{
	size_t channels = cv->in.c;
	uint32_t y_first, y_last, x_first, x_last;
	size_t end = from + len;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	in += p.n * cv->in.n_stride;
	while (from < end) {
		size_t tap = from / channels, channel = from % channels;
		uint32_t ty = (uint32_t)(tap / cv->x.taps), tx = (uint32_t)(tap % cv->x.taps);
		size_t run = channels - channel;
		const float *src;

		if (run > end - from)
			run = end - from;
		if (ty >= y_first && ty < y_last && tx >= x_first && tx < x_last) {
			src = in + window_index(&cv->y, p.y, ty) * cv->in.y_stride +
			      window_index(&cv->x, p.x, tx) * cv->in.x_stride +
			      channel * cv->in.c_stride;
			for (size_t i = 0; i < run; i++)
				dst[i] = src[i * cv->in.c_stride];
		} else {
			memset(dst, 0, run * sizeof(*dst));
		}
		dst += run;
		from += run;
	}
}

/* acc[r][j] += sum over i < n of x[r][i] * w[i][j], in the order of i. */
static void multiply(const float *restrict x, unsigned int rows, size_t n,
		     const float *restrict w, float *restrict acc)
{
	for (unsigned int r = 0; r < rows; r++, x += n, acc += BLOCK_COLS) {
		float sum[BLOCK_COLS];

		memcpy(sum, acc, sizeof(sum));
		for (size_t i = 0; i < n; i++) {
			for (unsigned int j = 0; j < BLOCK_COLS; j++)
				sum[j] += x[i] * w[i * BLOCK_COLS + j];
		}
		memcpy(acc, sum, sizeof(sum));
	}
}

static void store(const struct op_call *c, const struct conv *cv, const float *acc,
		  unsigned int rows, struct conv_pixel p, uint32_t col, unsigned int cols)
{
	const float *bias = (const float *)c->in[2]->data + col;
	struct frange range = frange_of(cv->activation);

	for (unsigned int r = 0; r < rows; r++, acc += BLOCK_COLS) {
		float *dst = (float *)c->out[0]->data + conv_pixel_offset(cv, p) +
			     col * cv->out.c_stride;

		for (unsigned int i = 0; i < cols; i++)
			dst[i * cv->out.c_stride] = f_clamp(acc[i] + bias[i], range.min,
							    range.max);
		conv_pixel_next(cv, &p);
	}
}

static int execute_block(const struct op_call *c, const struct conv *cv, struct op_pace *pace,
			 uint32_t col)
{
	const struct conv_float *packed = c->prepared;
	unsigned int cols = block_cols(cv->out.c, col);
	size_t depth = conv_depth(cv);
	size_t pixels = (size_t)cv->out.n * cv->out.y * cv->out.x;
	float inputs[TILE_ROWS * PIECE_MAX];
	float unpacked[PIECE_MAX * BLOCK_COLS];
	float acc[TILE_ROWS * BLOCK_COLS];

	for (size_t pixel = 0; pixel < pixels; pixel += TILE_ROWS) {
		struct conv_pixel first = conv_pixel_at(cv, pixel), p;
		unsigned int rows = pixels - pixel < TILE_ROWS ?
				    (unsigned int)(pixels - pixel) : TILE_ROWS;

		memset(acc, 0, sizeof(acc));
		for (size_t from = 0; from < depth; from += PIECE_MAX) {
			size_t len = depth - from < PIECE_MAX ? depth - from : PIECE_MAX;
			const float *weights = unpacked;

			if (packed)
				weights = packed->weights + (col * depth + from * BLOCK_COLS);
			else if (pixel == 0 || depth > PIECE_MAX)
				pack(c->in[1]->data, depth, col, cols, from, len, unpacked);
			p = first;
			for (unsigned int r = 0; r < rows; r++) {
				gather(cv, c->in[0]->data, p, from, len, inputs + r * len);
				conv_pixel_next(cv, &p);
			}
			multiply(inputs, rows, len, weights, acc);
			if (op_pace(pace, rows * (BLOCK_COLS + 8) * len / 4))
				return OP_ABORTED;
		}
		store(c, cv, acc, rows, first, col, cols);
	}
	return 0;
}

int conv_float_execute(const struct op_call *c, const struct conv *cv)
{
	struct op_pace pace = { .progress = c->progress };
	int ret = 0;

	for (uint32_t col = 0; !ret && col < cv->out.c; col += BLOCK_COLS)
		ret = execute_block(c, cv, &pace, col);
	return ret;
}
