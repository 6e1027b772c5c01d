/* SPDX-License-Identifier: MIT */
/*
 * Sliding windows: the scalar operands that convolutions and poolings share, and the
 * geometry of the window.
 */
#ifndef NNPU_EMU_WINDOW_H
#define NNPU_EMU_WINDOW_H

#include "shape.h"

/* Scalars between the strides and the activation code, at most. */
#define WINDOW_MAX_EXTRA	2

/*
 * Operands from @first on. With implicit padding they are
 *	padding scheme, stride x, stride y, @extra INT32 scalars, activation
 * and with explicit padding
 *	left, right, top, bottom, stride x, stride y, @extra scalars, activation
 * and then optionally the layout flag, and if @dilation optionally the layout
 * flag and dilation x, dilation y.
 */
struct window_form {
	uint8_t first;
	uint8_t extra;
	bool dilation;
};

enum window_axis { WINDOW_Y, WINDOW_X };

/* Scalars as read from the operands. */
struct window {
	bool explicit_padding;
	bool same;			/* implicit: SAME, else VALID */
	bool nchw;
	enum activation activation;
	int32_t pad_before[2];		/* explicit; by enum window_axis */
	int32_t pad_after[2];
	int32_t stride[2];
	int32_t dilation[2];
	int32_t extra[WINDOW_MAX_EXTRA];
	uint16_t pad_operand;		/* position of the first padding scalar */
	uint16_t extra_operand;		/* position of the first extra scalar */
};

/* One axis of a window over a tensor: input index = out * stride - pad + tap * dilation. */
struct window_span {
	uint32_t in;
	uint32_t out;
	uint32_t taps;
	int32_t stride;
	int32_t dilation;
	int32_t pad;
};

/* Element strides of a 4-D tensor in either layout, and its sizes. */
struct image {
	uint32_t n, y, x, c;
	size_t n_stride, y_stride, x_stride, c_stride;
};

/* Count and types of the scalar operands. 0, or -1 with error. */
int window_check(const struct op_call *c, struct window_form form);

/*
 * Read the scalars and check each by itself. 0; 1 if one is not known before
 * the job runs; -1 with error. window_check() has passed.
 */
int window_read(const struct op_call *c, struct window_form form, struct window *w);

/*
 * Lay a window of @taps taps over @in elements. 0, or -1 with error if the padding is not
 * smaller than the window or the window does not fit.
 */
int window_place(const struct op_call *c, const struct window *w, enum window_axis axis,
		 uint32_t in, uint32_t taps, struct window_span *span);

struct image image_of(const struct tensor *t, bool nchw);

/* Set the shape of output 0. */
void image_set_shape(const struct op_call *c, bool nchw, uint32_t n, uint32_t y, uint32_t x,
		     uint32_t channels);

/* Range [*first, *last) of taps that lie inside the input for output @out. */
static inline void window_taps(const struct window_span *s, uint32_t out, uint32_t *first,
			       uint32_t *last)
{
	int64_t origin = (int64_t)out * s->stride - s->pad;
	int64_t lo = origin >= 0 ? 0 : -origin;
	int64_t hi = (int64_t)s->in - origin;

	hi = hi <= 0 ? 0 : hi;
	if (s->dilation > 1) {
		lo = (lo + s->dilation - 1) / s->dilation;
		hi = (hi + s->dilation - 1) / s->dilation;
	}
	if (hi > s->taps)
		hi = s->taps;
	if (lo > hi)
		lo = hi;
	*first = (uint32_t)lo;
	*last = (uint32_t)hi;
}

/* The outputs of an axis, [first, end), all taps of which lie inside the input. */
struct window_interior {
	uint32_t first, end;
};

static inline struct window_interior window_interior(const struct window_span *s)
{
	int64_t width = ((int64_t)s->taps - 1) * s->dilation + 1;
	int64_t first = ((int64_t)s->pad + s->stride - 1) / s->stride;
	int64_t room = (int64_t)s->in + s->pad - width;
	int64_t end = room < 0 ? 0 : room / s->stride + 1;

	end = end < s->out ? end : s->out;
	return (struct window_interior){
		.first = (uint32_t)(first < end ? first : end),
		.end = (uint32_t)end,
	};
}

/* Input index of a tap that lies inside. */
static inline size_t window_index(const struct window_span *s, uint32_t out, uint32_t tap)
{
	return (size_t)((int64_t)out * s->stride - s->pad + (int64_t)tap * s->dilation);
}

#endif /* NNPU_EMU_WINDOW_H */
