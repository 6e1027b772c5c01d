// SPDX-License-Identifier: MIT
/*
 * DEPTHWISE_CONV_2D.
 *
 * Inputs: 0 image, 1 filter [1, height, width, out channels], 2 bias, then the
 * window scalars with the depth multiplier. Output channel i reads input channel
 * i / multiplier.
 */
#include "conv.h"
#include "kernels.h"
#include "nd_copy.h"
#include "ops.h"

#include <string.h>

static const struct window_form form = { .first = 3, .extra = 1, .dilation = true };

struct depthwise {
	struct conv cv;
	uint32_t multiplier;
};

/* Channels that are computed together by plain loops, and by kernels. */
#define COLS		64
#define KERNEL_RUN	4096

/* Most taps of a window for the path with pointers to taps. */
#define MAX_TAPS	KERNEL_TAPS

/* Bytes of output that are computed together, so that what they are made from stays in the cache. */
#define BLOCK_BYTES	16384

/* Products of floats between two looks at op_pace(), but for a single pixel. */
#define BLOCK_TERMS	(1u << 17)

/*
 * The prepared object of a channels-last quantized call with depth multiplier 1. Taps go in
 * pairs. Padding is a tap that reads zero points. The input's zero point times
 * the sum of a channel's weights is the same for all pixels: it is subtracted from the bias
 * if only this call uses that constant, else kept in @fold.
 */
struct depthwise_quant {
	struct requant requant;
	struct depthwise_weights weights;
};

int depthwise_conv2d_check(const struct op_call *c)
{
	struct window w;

	if (op_check_operands(c) || op_check_weights(c, 3) ||
	    op_check_rank(c, 0, 4, 4) || op_check_rank(c, 1, 4, 4) ||
	    op_check_rank(c, 2, 1, 1) || op_check_rank(c, op_output(c, 0), 4, 4) ||
	    window_check(c, form))
		return -1;
	return window_read(c, form, &w) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct depthwise *d, struct window *w)
{
	const struct tensor *filter = c->in[1];
	struct conv *cv = &d->cv;
	int ret = window_read(c, form, w);

	if (ret)
		return ret;
	cv->in = image_of(c->in[0], w->nchw);
	cv->activation = w->activation;
	d->multiplier = (uint32_t)w->extra[0];
	if (cv->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if ((uint64_t)cv->in.c * d->multiplier != filter->dims[3])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, w->extra_operand);
	if (c->in[2]->dims[0] != filter->dims[3])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (window_place(c, w, WINDOW_Y, cv->in.y, filter->dims[1], &cv->y) ||
	    window_place(c, w, WINDOW_X, cv->in.x, filter->dims[2], &cv->x))
		return -1;
	return 0;
}

int depthwise_conv2d_infer(const struct op_call *c)
{
	struct depthwise d;
	struct window w;
	int ret = geometry(c, &d, &w);

	if (ret)
		return ret;
	image_set_shape(c, w.nchw, d.cv.in.n, d.cv.y.out, d.cv.x.out, c->in[1]->dims[3]);
	return 0;
}

static size_t round_up(size_t n)
{
	return (n + KERNEL_COLS - 1) / KERNEL_COLS * KERNEL_COLS;
}

/* Do all weights fit a signed byte after the zero point is subtracted? */
static bool is_narrow(struct op_pace *pace, const struct op_call *c)
{
	const uint8_t *src = c->in[1]->data;
	struct qbyte b = qbyte_of(c->in[1]);

	for (size_t i = 0; i < c->in[1]->bytes && !op_pace_row(pace, i, 1); i++) {
		int16_t w = qbyte_value(src[i], b);

		if (w < INT8_MIN || w > INT8_MAX)
			return false;
	}
	return true;
}

/* May prepare() change the bias, a constant of this call alone? */
static bool owns_bias(const struct op_call *c)
{
	return c->own >> 2 & 1;
}

static size_t packed_size(const struct op_call *c, uint32_t channels, size_t pairs, bool narrow)
{
	size_t padded = round_up(channels), size;

	size = scratch_add(0, 1, sizeof(struct depthwise_quant));
	size = scratch_add(size, requant_channels(c, channels), 2 * sizeof(int32_t));
	size = scratch_add(size, padded, 2 * pairs * (narrow ? sizeof(int8_t) : sizeof(int16_t)));
	return owns_bias(c) ? size : scratch_add(size, padded, sizeof(int32_t));
}

static void pack(struct op_pace *pace, const struct op_call *c, uint32_t channels,
		 unsigned int taps, bool narrow, void *memory)
{
	struct op_call pieces = { .scratch = memory };
	struct depthwise_quant *p = scratch_take(&pieces, sizeof(*p));
	struct qbyte b = qbyte_of(c->in[1]);
	const uint8_t *src = c->in[1]->data;
	size_t n = requant_channels(c, channels), padded = round_up(channels);
	unsigned int pairs = (taps + 1) / 2;
	size_t bytes = padded * 2 * pairs * (narrow ? sizeof(int8_t) : sizeof(int16_t));
	int32_t *mult = scratch_take(&pieces, 2 * n * sizeof(*mult));
	void *weights = scratch_take(&pieces, bytes);
	int32_t *fold = owns_bias(c) ? c->in[2]->data : pieces.scratch;

	if (owns_bias(c))
		c->in[2]->form = FORM_CONVERTED;
	*p = (struct depthwise_quant){
		.weights = { .pairs = pairs, .narrow = narrow, .data = weights },
	};
	requant_fill(pace, c, channels, mult, mult + n, &p->requant);
	if (!owns_bias(c)) {
		nd_fill(pace, fold, sizeof(*fold), padded, &(int32_t){ 0 });
		p->weights.fold = fold;
	}
	nd_fill(pace, weights, 1, bytes, &(uint8_t){ 0 });
	for (unsigned int t = 0; t < taps; t++) {
		for (uint32_t i = 0; i < channels && !op_pace_row(pace, i, 4); i++) {
			size_t block = i / KERNEL_COLS * pairs + t / 2;
			size_t at = (block * KERNEL_COLS + i % KERNEL_COLS) * 2 + t % 2;
			int16_t w = qbyte_value(*src++, b);

			if (narrow)
				((int8_t *)weights)[at] = (int8_t)w;
			else
				((int16_t *)weights)[at] = w;
			fold[i] = q_add(fold[i], -c->in[0]->zero_point * w);
		}
	}
}

int depthwise_conv2d_prepare(struct op_call *c, size_t *bytes)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *filter = c->in[1], *bias = c->in[2];
	size_t taps, size;
	struct window w;
	void *memory;
	bool narrow;

	if (kernels_plain() || !type_is_quant8(c->in[0]->type) || !tensor_is_const(filter) ||
	    !filter->shape_known || window_read(c, form, &w) || w.nchw || w.extra[0] != 1)
		return 0;
	/* Shapes are compared when they are inferred, which may be while a job runs. */
	if (filter->dims[0] != 1 || !bias->shape_known || bias->dims[0] != filter->dims[3])
		return 0;
	taps = (size_t)filter->dims[1] * filter->dims[2];
	if (taps > MAX_TAPS)
		return 0;
	narrow = is_narrow(&pace, c);
	size = packed_size(c, filter->dims[3], (taps + 1) / 2, narrow);
	if (size == SIZE_MAX)
		return 0;
	memory = op_take(c->progress, size, bytes);
	if (!memory)
		return 0;	/* execute() works from the tensors then */
	pack(&pace, c, filter->dims[3], (unsigned int)taps, narrow, memory);
	c->prepared = memory;
	c->released = 1u << 1;
	return 0;
}

/* Weight of channel @i at tap @t. */
static int16_t packed_weight(const struct depthwise_weights *w, uint32_t i, unsigned int t)
{
	size_t block = i / KERNEL_COLS * w->pairs + t / 2;
	size_t at = (block * KERNEL_COLS + i % KERNEL_COLS) * 2 + t % 2;

	return w->narrow ? ((const int8_t *)w->data)[at] : ((const int16_t *)w->data)[at];
}

void depthwise_conv2d_unprepare(struct op_pace *pace, const struct op_call *c, unsigned int i,
				void *to)
{
	const struct depthwise_quant *p = c->prepared;
	uint32_t channels = c->in[1]->dims[3], k;
	unsigned int taps = c->in[1]->dims[1] * c->in[1]->dims[2], t;
	int32_t *bias = to;
	uint8_t *weight = to;

	if (i == 2)
		nd_move(pace, c->in[2]->data, bias, c->in[2]->bytes);
	for (t = 0; t < taps; t++) {
		for (k = 0; k < channels && !op_pace_row(pace, k, 4); k++) {
			int16_t w = packed_weight(&p->weights, k, t);

			if (i == 2)
				bias[k] = q_add(bias[k], c->in[0]->zero_point * w);
			else
				*weight++ = (uint8_t)(w + tensor_zero_point(c->in[1]));
		}
	}
}

/* Execution with a prepared object. */

/*
 * What a pixel with @n channels and @taps taps, which may be far apart, counts for. The constants are so
 * large for windows of few channels, whose taps take time, not the products.
 */
static size_t quant_units(size_t taps, size_t n)
{
	return (taps + 1) / 2 * (n / 4 + 64);
}

static size_t float_units(size_t taps, size_t n)
{
	return (taps + 1) * (n / 4 + 32);
}

/* How many pixels of @units each, @max at most, are computed without a point. */
static uint32_t pixels_at_once(size_t units, size_t max)
{
	size_t n = OP_PACE_UNITS / units;

	n = n < max ? n : max;
	return n ? (uint32_t)n : 1;
}

/* Channels of a pixel that are computed at once. */
static uint32_t run_of(const struct conv *cv)
{
	return cv->out.c < KERNEL_RUN ? cv->out.c : KERNEL_RUN;
}

/* How many outputs from @o on, at most @max, have the same taps inside. */
static uint32_t same_taps(struct window_interior in, uint32_t o, uint32_t max)
{
	if (o < in.first || o >= in.end)
		return 1;
	return in.end - o < max ? in.end - o : max;
}

/*
 * How many rows of pixels from row @row of all batches on, @end at most, are computed together: they
 * have the same taps inside, and at most @max_pixels pixels if they are several. @at is the first pixel.
 */
static uint32_t rows_together(const struct conv *cv, struct window_interior in, size_t row,
			      size_t end, uint32_t max_pixels, struct conv_pixel *at)
{
	uint32_t max = cv->out.x < max_pixels ? max_pixels / cv->out.x : 1;

	*at = (struct conv_pixel){
		.n = (uint32_t)(row / cv->out.y), .y = (uint32_t)(row % cv->out.y),
	};
	max = end - row < max ? (uint32_t)(end - row) : max;
	return same_taps(in, at->y, max < cv->out.y - at->y ? max : cv->out.y - at->y);
}

/* What each tap reads for a pixel. @in is its batch. */
static void place_taps(const struct conv *cv, const uint8_t *in, struct conv_pixel p,
		       const uint8_t **taps)
{
	uint32_t y_first, y_last, x_first, x_last;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	for (uint32_t ty = 0; ty < cv->y.taps; ty++) {
		bool inside = ty >= y_first && ty < y_last;
		const uint8_t *row = in;

		if (inside)
			row += window_index(&cv->y, p.y, ty) * cv->in.y_stride;
		for (uint32_t tx = 0; tx < cv->x.taps; tx++) {
			if (inside && tx >= x_first && tx < x_last)
				*taps++ = row + window_index(&cv->x, p.x, tx) * cv->in.x_stride;
			else
				*taps++ = NULL;
		}
	}
}

/* A rectangle of pixels that begins with pixel @at. 0 or OP_ABORTED. */
static int execute_pixels(const struct op_call *c, const struct conv *cv,
			  const struct requant *requant, struct conv_pixel at,
			  struct depthwise_pixels p, struct op_pace *pace)
{
	const struct depthwise_weights *w = &((const struct depthwise_quant *)c->prepared)->weights;
	const uint8_t *in = (const uint8_t *)c->in[0]->data + at.n * cv->in.n_stride;
	uint8_t *out = (uint8_t *)c->out[0]->data + conv_pixel_offset(cv, at);
	const uint8_t *taps[KERNEL_TAPS + 1] = { NULL };

	place_taps(cv, in, at, taps);
	p.taps = taps;
	for (uint32_t col = 0, n; col < cv->out.c; col += n) {
		n = cv->out.c - col < KERNEL_RUN ? cv->out.c - col : KERNEL_RUN;
		kernels_get()->depthwise(&p, w, c->in[2]->data, requant, col, n, out);
		/* Beside the pixels, weights and sums to begin with are read once. */
		if (op_pace(pace, (size_t)p.rows * p.cols * quant_units(2 * w->pairs, n) + n * 2))
			return OP_ABORTED;
	}
	return 0;
}

/* A call whose parts are rows of pixels, of all batches. */
struct row_call {
	const struct op_call *c;
	const struct conv *cv;
	const struct requant *requant;		/* NULL: floats */
};

/* @units: of a pixel. Returns 0 or OP_ABORTED. */
static int execute_rows(const struct op_call *c, const struct conv *cv,
			const struct requant *requant, size_t units,
			int (*compute)(const void *work, size_t first, size_t end,
				       struct op_pace *pace))
{
	struct op_pace pace = { .progress = c->progress };
	struct row_call call = { c, cv, requant };
	struct op_parts parts = {
		.items = (size_t)cv->out.n * cv->out.y,
		.compute = compute,
		.work = &call,
	};

	if (__builtin_mul_overflow(units, cv->out.x, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}

static int execute_prepared_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct row_call *call = work;
	const struct op_call *c = call->c;
	const struct conv *cv = call->cv;
	struct window_interior iy = window_interior(&cv->y), ix = window_interior(&cv->x);
	size_t taps = (size_t)cv->y.taps * cv->x.taps;
	uint32_t max_pixels = pixels_at_once(quant_units(taps, run_of(cv)), BLOCK_BYTES / cv->out.c);
	struct depthwise_pixels p = {
		.zero_point = c->in[0]->zero_point,
		.is_signed = c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
		.in_row = (size_t)cv->y.stride * cv->in.y_stride,
		.in_col = (size_t)cv->x.stride * cv->in.x_stride,
		.out_row = cv->out.y_stride,
		.out_col = cv->out.x_stride,
	};
	struct conv_pixel at;

	for (size_t row = first; row < end; row += p.rows) {
		p.rows = rows_together(cv, iy, row, end, max_pixels, &at);
		for (at.x = 0; at.x < cv->out.x; at.x += p.cols) {
			p.cols = same_taps(ix, at.x, max_pixels);
			if (execute_pixels(c, cv, call->requant, at, p, pace))
				return OP_ABORTED;
		}
	}
	return 0;
}

static int execute_prepared(const struct op_call *c, const struct conv *cv)
{
	const struct depthwise_quant *packed = c->prepared;
	struct requant_room room;
	struct requant requant = requant_of_job(c, cv->out.c, cv->activation, &packed->requant,
						&room);

	return execute_rows(c, cv, &requant, packed->weights.pairs * ((size_t)cv->out.c / 4 + 16),
			    execute_prepared_part);
}

/* Execution without a prepared object. */

/* One output pixel, channels [col, col + n); @in is its batch. 0 or OP_ABORTED. */
static int quant_pixel(const struct op_call *c, const struct depthwise *d, const uint8_t *in,
		       struct conv_pixel p, uint32_t col, unsigned int n, int32_t *acc,
		       struct op_pace *pace)
{
	const struct conv *cv = &d->cv;
	struct qbyte in_byte = qbyte_of(c->in[0]), filter_byte = qbyte_of(c->in[1]);
	uint32_t y_first, y_last, x_first, x_last;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	memcpy(acc, (const int32_t *)c->in[2]->data + col, n * sizeof(*acc));
	for (uint32_t ty = y_first; ty < y_last; ty++) {
		const uint8_t *row = in + window_index(&cv->y, p.y, ty) * cv->in.y_stride;

		for (uint32_t tx = x_first; tx < x_last; tx++) {
			const uint8_t *src = row + window_index(&cv->x, p.x, tx) * cv->in.x_stride;
			const uint8_t *weights = (const uint8_t *)c->in[1]->data + col +
						 ((size_t)ty * cv->x.taps + tx) * cv->out.c;

			for (unsigned int i = 0; i < n; i++) {
				uint8_t x = src[(col + i) / d->multiplier * cv->in.c_stride];

				acc[i] = q_add(acc[i], qbyte_value(x, in_byte) *
					       qbyte_value(weights[i], filter_byte));
			}
			if (op_pace_channels(pace, tx, n, cv->in.c_stride, n * 2 + 8))
				return OP_ABORTED;
		}
		if (op_pace(pace, (x_last - x_first) % OP_PACE_TAPS * (n * 2 + 8) +
			    OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_quant(const struct op_call *c, const struct depthwise *d)
{
	const struct conv *cv = &d->cv;
	bool per_channel = tensor_is_per_channel(c->in[1]);
	size_t pixels = (size_t)cv->out.n * cv->out.y * cv->out.x;
	struct qrange range = qrange_of(cv->activation, c->out[0]);
	struct op_pace pace = { .progress = c->progress };
	struct qfactor factors[COLS];
	int32_t acc[COLS];

	for (uint32_t col = 0; col < cv->out.c; col += COLS) {
		unsigned int n = cv->out.c - col < COLS ? cv->out.c - col : COLS;
		struct conv_pixel p = { 0, 0, 0 };

		for (unsigned int j = 0; j < n; j++)
			factors[j] = j && !per_channel ? factors[0] :
							 qfactor_of_channel(c, col + j);
		for (size_t i = 0; i < pixels; i++, conv_pixel_next(cv, &p)) {
			uint8_t *dst = (uint8_t *)c->out[0]->data + conv_pixel_offset(cv, p) +
				       col * cv->out.c_stride;

			if (quant_pixel(c, d, (const uint8_t *)c->in[0]->data +
					p.n * cv->in.n_stride, p, col, n, acc, &pace))
				return OP_ABORTED;
			for (unsigned int j = 0; j < n; j++) {
				int32_t v = q_add(q_scale(acc[j], factors[j]),
						  c->out[0]->zero_point);

				dst[j * cv->out.c_stride] =
					(uint8_t)q_clamp(v, range.min, range.max);
			}
			/* A window may have no tap inside of the image. */
			if (op_pace(&pace, n * 4 + 16))
				return OP_ABORTED;
		}
	}
	return 0;
}

/* Pointers to channel 0 of the inputs and weights of all taps inside. Returns their number. */
static unsigned int point_float_taps(const struct op_call *c, const struct conv *cv,
				     struct conv_pixel p, const float **x, const float **w)
{
	const float *in = (const float *)c->in[0]->data + p.n * cv->in.n_stride;
	const float *weights = c->in[1]->data;
	uint32_t y_first, y_last, x_first, x_last;
	unsigned int n = 0;

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	for (uint32_t ty = y_first; ty < y_last; ty++) {
		const float *row = in + window_index(&cv->y, p.y, ty) * cv->in.y_stride;

		for (uint32_t tx = x_first; tx < x_last; tx++, n++) {
			x[n] = row + window_index(&cv->x, p.x, tx) * cv->in.x_stride;
			w[n] = weights + ((size_t)ty * cv->x.taps + tx) * cv->out.c;
		}
	}
	return n;
}

/*
 * A rectangle of pixels with the same taps inside that begins with pixel @at. Its longer side goes
 * along the rows of the kernel, for which neither is special. 0 or OP_ABORTED.
 */
static int float_pixels(const struct op_call *c, const struct conv *cv, struct conv_pixel at,
			unsigned int rows, unsigned int cols, struct op_pace *pace)
{
	const float *x[MAX_TAPS], *w[MAX_TAPS];
	struct fdepthwise_pixels p = {
		.x = x,
		.w = w,
		.taps = point_float_taps(c, cv, at, x, w),
		.rows = rows,
		.cols = cols,
		.in_row = (size_t)cv->y.stride * cv->in.y_stride,
		.in_col = (size_t)cv->x.stride * cv->in.x_stride,
		.out_row = cv->out.y_stride,
		.out_col = cv->out.x_stride,
	};
	float *out = (float *)c->out[0]->data + conv_pixel_offset(cv, at);
	struct frange range = frange_of(cv->activation);

	if (rows > cols) {
		struct fdepthwise_pixels q = p;

		p.rows = q.cols;
		p.cols = q.rows;
		p.in_row = q.in_col;
		p.in_col = q.in_row;
		p.out_row = q.out_col;
		p.out_col = q.out_row;
	}
	for (uint32_t col = 0, n; col < cv->out.c; col += n) {
		n = cv->out.c - col < KERNEL_RUN ? cv->out.c - col : KERNEL_RUN;
		kernels_get()->fdepthwise(&p, c->in[2]->data, range, col, n, out);
		if (op_pace(pace, (size_t)rows * cols * float_units(p.taps, n) + n))
			return OP_ABORTED;
	}
	return 0;
}

/* Channels last, no depth multiplier, up to MAX_TAPS taps. */
static int execute_float_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct op_call *c = ((const struct row_call *)work)->c;
	const struct conv *cv = ((const struct row_call *)work)->cv;
	struct window_interior iy = window_interior(&cv->y), ix = window_interior(&cv->x);
	size_t taps = (size_t)cv->y.taps * cv->x.taps;
	uint32_t max_pixels = pixels_at_once(float_units(taps, run_of(cv)),
					     BLOCK_TERMS / (taps * cv->out.c));
	struct conv_pixel at;
	uint32_t rows, cols;

	for (size_t row = first; row < end; row += rows) {
		rows = rows_together(cv, iy, row, end, max_pixels, &at);
		for (at.x = 0; at.x < cv->out.x; at.x += cols) {
			cols = same_taps(ix, at.x, max_pixels);
			if (float_pixels(c, cv, at, rows, cols, pace))
				return OP_ABORTED;
		}
	}
	return 0;
}

static int execute_float_last(const struct op_call *c, const struct conv *cv)
{
	size_t taps = (size_t)cv->y.taps * cv->x.taps;

	return execute_rows(c, cv, NULL, taps * ((size_t)cv->out.c / 4 + 8), execute_float_part);
}

static int float_pixel(const struct op_call *c, const struct depthwise *d, const float *in,
		       struct conv_pixel p, uint32_t col, unsigned int n, float *acc,
		       struct op_pace *pace)
{
	const struct conv *cv = &d->cv;
	uint32_t y_first, y_last, x_first, x_last;
	float inputs[COLS];

	window_taps(&cv->y, p.y, &y_first, &y_last);
	window_taps(&cv->x, p.x, &x_first, &x_last);
	memset(acc, 0, n * sizeof(*acc));
	for (uint32_t ty = y_first; ty < y_last; ty++) {
		const float *row = in + window_index(&cv->y, p.y, ty) * cv->in.y_stride;

		for (uint32_t tx = x_first; tx < x_last; tx++) {
			const float *src = row + window_index(&cv->x, p.x, tx) * cv->in.x_stride;
			const float *weights = (const float *)c->in[1]->data + col +
					       ((size_t)ty * cv->x.taps + tx) * cv->out.c;

			for (unsigned int i = 0; i < n; i++)
				inputs[i] = src[(col + i) / d->multiplier * cv->in.c_stride];
			for (unsigned int i = 0; i < n; i++)
				acc[i] += inputs[i] * weights[i];
			if (op_pace_channels(pace, tx, n, cv->in.c_stride * sizeof(*src), n + 8))
				return OP_ABORTED;
		}
		if (op_pace(pace, (x_last - x_first) % OP_PACE_TAPS * (n + 8) +
			    OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	return 0;
}

static int execute_float(const struct op_call *c, const struct depthwise *d)
{
	const struct conv *cv = &d->cv;
	size_t pixels = (size_t)cv->out.n * cv->out.y * cv->out.x;
	struct frange range = frange_of(cv->activation);
	struct op_pace pace = { .progress = c->progress };
	float acc[COLS];

	for (uint32_t col = 0; col < cv->out.c; col += COLS) {
		unsigned int n = cv->out.c - col < COLS ? cv->out.c - col : COLS;
		const float *bias = (const float *)c->in[2]->data + col;
		struct conv_pixel p = { 0, 0, 0 };

		for (size_t i = 0; i < pixels; i++, conv_pixel_next(cv, &p)) {
			float *dst = (float *)c->out[0]->data + conv_pixel_offset(cv, p) +
				     col * cv->out.c_stride;

			if (float_pixel(c, d, (const float *)c->in[0]->data +
					p.n * cv->in.n_stride, p, col, n, acc, &pace))
				return OP_ABORTED;
			for (unsigned int j = 0; j < n; j++)
				dst[j * cv->out.c_stride] = f_clamp(acc[j] + bias[j], range.min,
								    range.max);
			/* As in execute_quant(). */
			if (op_pace(&pace, n * 2 + 16))
				return OP_ABORTED;
		}
	}
	return 0;
}

int depthwise_conv2d_execute(const struct op_call *c)
{
	struct depthwise d;
	struct window w;

	if (geometry(c, &d, &w))
		return -1;
	d.cv.out = image_of(c->out[0], w.nchw);
	if (c->prepared)
		return execute_prepared(c, &d.cv);
	if (type_is_quant8(c->in[0]->type))
		return execute_quant(c, &d);
	/* Of planes of a pixel channels are adjacent, too, but not those of a larger output. */
	if (!kernels_plain() && d.multiplier == 1 && d.cv.in.c_stride == 1 && d.cv.out.c_stride == 1 &&
	    (size_t)d.cv.y.taps * d.cv.x.taps <= MAX_TAPS)
		return execute_float_last(c, &d.cv);
	return execute_float(c, &d);
}
