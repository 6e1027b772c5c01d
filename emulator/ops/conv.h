/* SPDX-License-Identifier: MIT */
/*
 * Convolution as a product of matrices, shared by CONV_2D and FULLY_CONNECTED.
 *
 * Rows are output pixels of all batches, columns are output channels. A row of inputs has
 * the elements under the window, filter row by filter row, channels innermost. Weights
 * are input 1 of the call, with one such row per output channel. The bias is input 2.
 */
#ifndef NNPU_EMU_CONV_H
#define NNPU_EMU_CONV_H

#include "kernels.h"
#include "parallel.h"
#include "window.h"

struct conv {
	struct image in, out;
	struct window_span y, x;
	enum activation activation;
};

/* Rows of @size elements as images of one pixel, times as many weights for each of @units. */
static inline void conv_of_rows(struct conv *cv, uint32_t rows, uint32_t size, uint32_t units)
{
	static const struct window_span one = {
		.in = 1, .out = 1, .taps = 1, .stride = 1, .dilation = 1,
	};

	*cv = (struct conv){
		.in = {
			.n = rows, .y = 1, .x = 1, .c = size,
			.n_stride = size, .y_stride = size, .x_stride = size, .c_stride = 1,
		},
		.out = {
			.n = rows, .y = 1, .x = 1, .c = units,
			.n_stride = units, .y_stride = units, .x_stride = units, .c_stride = 1,
		},
		.y = one, .x = one,
	};
}

/* Length of a row. */
static inline size_t conv_depth(const struct conv *cv)
{
	return (size_t)cv->y.taps * cv->x.taps * cv->in.c;
}

/* An output pixel. */
struct conv_pixel {
	uint32_t n, y, x;
};

/* Pixel number @i of all batches; and the next pixel. */
static inline struct conv_pixel conv_pixel_at(const struct conv *cv, size_t i)
{
	struct conv_pixel p;

	p.x = (uint32_t)(i % cv->out.x);
	i /= cv->out.x;
	p.y = (uint32_t)(i % cv->out.y);
	p.n = (uint32_t)(i / cv->out.y);
	return p;
}

static inline void conv_pixel_next(const struct conv *cv, struct conv_pixel *p)
{
	if (++p->x < cv->out.x)
		return;
	p->x = 0;
	if (++p->y < cv->out.y)
		return;
	p->y = 0;
	p->n++;
}

/*
 * A row of inputs run by run. A run lies inside of the image, where its elements are
 * in.c_stride apart, or outside of it. Adjacent taps of a channels-last image without
 * dilation make one run.
 */
struct conv_runs {
	const struct conv *cv;
	struct conv_pixel p;
	uint32_t y_first, y_last, x_first, x_last;
	bool adjacent;			/* taps */
	size_t from, end;
	/* The current run. */
	bool inside;
	size_t len;
	size_t offset;			/* inside: elements from the start of the image on */
};

/* Piece [from, from + len) of the row of pixel @p. */
static inline struct conv_runs conv_runs_of(const struct conv *cv, struct conv_pixel p,
					    size_t from, size_t len)
{
	struct conv_runs r = {
		.cv = cv,
		.p = p,
		.adjacent = cv->x.dilation == 1 && cv->in.c_stride == 1,
		.from = from,
		.end = from + len,
	};

	window_taps(&cv->y, p.y, &r.y_first, &r.y_last);
	window_taps(&cv->x, p.x, &r.x_first, &r.x_last);
	return r;
}

/* May the rows of inputs be gathered without a point in the midst of them? */
static inline bool conv_rows_short(const struct conv *cv)
{
	return cv->in.c_stride == 1 && cv->x.dilation == 1 && cv->y.taps <= OP_PACE_TAPS;
}

/* Go on to the next run; false if there is none. */
static inline bool conv_runs_next(struct conv_runs *r)
{
	const struct conv *cv = r->cv;
	size_t channels = cv->in.c, tap, channel;
	uint32_t ty, tx;

	if (r->from >= r->end)
		return false;
	tap = r->from / channels;
	channel = r->from % channels;
	ty = (uint32_t)(tap / cv->x.taps);
	tx = (uint32_t)(tap % cv->x.taps);
	r->inside = ty >= r->y_first && ty < r->y_last && tx >= r->x_first && tx < r->x_last;
	r->len = channels - channel;
	if (r->inside) {
		if (r->adjacent)
			r->len += (r->x_last - tx - 1) * channels;
		r->offset = r->p.n * cv->in.n_stride +
			    window_index(&cv->y, r->p.y, ty) * cv->in.y_stride +
			    window_index(&cv->x, r->p.x, tx) * cv->in.x_stride +
			    channel * cv->in.c_stride;
	}
	if (r->len > r->end - r->from)
		r->len = r->end - r->from;
	r->from += r->len;
	return true;
}

/* Element offset of a pixel in the output. */
static inline size_t conv_pixel_offset(const struct conv *cv, struct conv_pixel p)
{
	return p.n * cv->out.n_stride + p.y * cv->out.y_stride + p.x * cv->out.x_stride;
}

/*
 * Outputs in parts, see parallel.h: of KERNEL_ROWS pixels each, with all channels; of KERNEL_COLS
 * channels each, with all pixels, if there are few pixels: then each weight is read once.
 */
struct conv_split {
	size_t pixels;
	uint32_t channels;
	bool by_channels;
};

/* A range of parts: these channels of these pixels. */
struct conv_range {
	size_t pixel, pixel_end;
	uint32_t col, col_end;
};

static inline struct conv_split conv_split_of(const struct conv *cv)
{
	struct conv_split s = {
		.pixels = (size_t)cv->out.n * cv->out.y * cv->out.x,
		.channels = cv->out.c,
	};

	s.by_channels = s.pixels < 16 * KERNEL_ROWS && s.channels >= 8 * KERNEL_COLS;
	return s;
}

static inline size_t conv_split_items(const struct conv_split *s)
{
	return s->by_channels ? ((size_t)s->channels + KERNEL_COLS - 1) / KERNEL_COLS :
				(s->pixels + KERNEL_ROWS - 1) / KERNEL_ROWS;
}

/* Of a part, if a row of inputs times KERNEL_COLS channels counts as @units. */
static inline size_t conv_split_units(const struct conv_split *s, size_t units)
{
	size_t blocks = s->by_channels ? s->pixels :
			KERNEL_ROWS * (((size_t)s->channels + KERNEL_COLS - 1) / KERNEL_COLS);

	return __builtin_mul_overflow(blocks, units, &units) ? SIZE_MAX : units;
}

static inline struct conv_range conv_split_range(const struct conv_split *s, size_t first,
						 size_t end)
{
	struct conv_range r = { .pixel_end = s->pixels, .col_end = s->channels };

	if (s->by_channels) {
		r.col = (uint32_t)first * KERNEL_COLS;
		if (end < conv_split_items(s))
			r.col_end = (uint32_t)end * KERNEL_COLS;
	} else {
		r.pixel = first * KERNEL_ROWS;
		if (end < conv_split_items(s))
			r.pixel_end = end * KERNEL_ROWS;
	}
	return r;
}

/* Is it a 1x1 window with stride 1 over a channels-last image? The image is the rows then. */
static inline bool conv_is_pointwise(const struct conv *cv)
{
	return cv->in.c_stride == 1 && cv->y.taps == 1 && cv->x.taps == 1 &&
	       cv->y.stride == 1 && cv->x.stride == 1 && cv->y.pad == 0 && cv->x.pad == 0 &&
	       cv->y.out == cv->y.in && cv->x.out == cv->x.in;
}

/* First member of packed weights, in a prepared object or in scratch memory. */
struct conv_packed {
	/* Panels, behind this or in place of the constant. */
	void *weights;
};

/* What packed weights of quantized calls begin with. They are signed bytes, two of a channel adjacent. */
struct conv_quant {
	struct conv_packed packed;
	size_t pairs;			/* of values per row */
	int32_t zero_point;		/* of the weights as signed bytes */
	struct requant requant;
};

/* Of quantized weights as signed bytes. */
int32_t conv_weights_zero_point(const struct op_call *c);

/*
 * How weights are packed. The values of @group positions in the row are adjacent. A panel
 * holds the first group of each of its channels, then the second ones, and so on. The last
 * group is padded with zeros.
 */
struct conv_packing {
	unsigned int value_size;	/* bytes, in the constant as in a panel */
	unsigned int group;

	/*
	 * Size and contents of the header, which begins with struct conv_packed. The size is
	 * a multiple of SCRATCH_ALIGN, or SIZE_MAX: it overflows. Both are NULL if the header
	 * is struct conv_packed alone.
	 */
	size_t (*header_size)(const struct op_call *c, uint32_t channels);
	void (*fill_header)(struct op_pace *pace, const struct op_call *c, uint32_t channels,
			    size_t depth, struct conv_packed *packed);

	/*
	 * Pack @len values of each of @cols rows of @filter, which are @depth values apart,
	 * into a part of a panel. Missing channels become zeros.
	 */
	void (*pack_panel)(const struct tensor *filter, const void *rows, unsigned int cols,
			   size_t depth, size_t len, void *panel);
};

extern const struct conv_packing conv_quant_packing;
extern const struct conv_packing conv_float_packing;

/*
 * Packing of @channels rows of @depth values. conv_prepare() packs constant weights in
 * prepare(). If it has no memory, or weights are not constant, execute() packs them, with
 * scratch memory of conv_scratch() bytes: into it, or in place with a part of them in it.
 */
int conv_prepare(struct op_call *c, uint32_t channels, size_t depth, size_t *bytes);
size_t conv_scratch(const struct op_call *c, uint32_t channels, size_t depth);

/* Pack with @memory, of conv_scratch() bytes. Returns @memory, or NULL for an abort. */
struct conv_packed *conv_pack(struct op_pace *pace, const struct conv_packing *packing,
			      const struct op_call *c, uint32_t channels, size_t depth,
			      void *memory);

/*
 * Constant weights of so few channels that panels would be a half larger, or more, for a few rows of
 * inputs: as they are they take less memory. Shapes may be unknown.
 */
#define CONV_FEW_DEPTH	256u
bool conv_is_few(const struct op_call *c, uint32_t channels, size_t depth);

/* FULLY_CONNECTED of such weights, which c->prepared does not have. @pace knows of an abort. */
void conv_few(const struct op_call *c, enum activation a, struct op_pace *pace);

/* Returns as op_desc.execute; c->prepared is from conv_prepare(), or NULL. */
int conv_quant_execute(const struct op_call *c, const struct conv *cv);
int conv_float_execute(const struct op_call *c, const struct conv *cv);

/* One of these two, by the type of input 0. */
int conv_execute(const struct op_call *c, const struct conv *cv);

/*
 * FULLY_CONNECTED of one row by weights that c->prepared has. False: the row is too long, or there is no
 * kernel for it; nothing is done then.
 */
bool conv_row(const struct op_call *c, enum activation a, struct op_pace *pace);

/* conv_execute() in plain loops, output by output and term by term. */
int conv_plain_execute(const struct op_call *c, const struct conv *cv);

/*
 * Most channels whose factors each job computes: it takes a nanosecond or so for one, which would be
 * 8 bytes of the program. Others are in the prepared object.
 */
#define REQUANT_CHANNELS	1024u

struct requant_room {
	int32_t mult[REQUANT_CHANNELS];
	int32_t shift[REQUANT_CHANNELS];
};

/*
 * Requantization of a call with @channels output channels: the number of factors that the prepared
 * object has room for, and the factors. requant_fill() does not set the range, which depends on the
 * activation. After an abort, which @pace knows, the factors are not complete.
 */
size_t requant_channels(const struct op_call *c, uint32_t channels);
void requant_fill(struct op_pace *pace, const struct op_call *c, uint32_t channels,
		  int32_t *mult, int32_t *shift, struct requant *q);

/* The same for a job. @kept is that of the prepared object; what that has no room for is in @room. */
struct requant requant_of_job(const struct op_call *c, uint32_t channels, enum activation activation,
			      const struct requant *kept, struct requant_room *room);

#endif /* NNPU_EMU_CONV_H */
