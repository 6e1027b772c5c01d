// SPDX-License-Identifier: MIT
/*
 * GROUPED_CONV_2D and TRANSPOSE_CONV_2D, output by output, and the plain form of CONV_2D
 * and FULLY_CONNECTED.
 *
 * Inputs: 0 image, 1 filter [out channels, height, width, channels], 2 bias.
 * GROUPED_CONV_2D: then the window scalars with the number of groups; the layout flag
 * is not optional. Output channels of a group read the input channels of that group.
 * TRANSPOSE_CONV_2D: explicit padding as in the window scalars, or 3 shape of the
 * output and then the window scalars with implicit padding; the layout flag is not
 * optional. Each input is spread by the filter over the output.
 */
#include "conv.h"
#include "kernels.h"
#include "ops.h"
#include "quant.h"

struct direct {
	struct image in, out;
	enum activation activation;
	/* Grouped. */
	struct window_span y, x;
	uint32_t groups;
	/* Transposed, by enum window_axis. */
	int64_t stride[2], pad[2];
	uint32_t taps[2];
	/* Quantized. */
	struct qbyte in_byte, filter_byte;
	struct qrange qrange;
	struct frange frange;
	struct op_pace pace;
};

/* The accumulator of one output. */
union acc {
	float real;
	int32_t whole;
};

static const struct window_form grouped_form = { .first = 3, .extra = 1 };

static int check_common(const struct op_call *c)
{
	return op_check_operands(c) || op_check_weights(c, 0) || op_check_rank(c, 0, 4, 4) ||
	       op_check_rank(c, 1, 4, 4) || op_check_rank(c, 2, 1, 1) ||
	       op_check_rank(c, op_output(c, 0), 4, 4) ? -1 : 0;
}

/* acc += sum over @n channels of input and filter, which start at these offsets. */
static void add_piece(const struct op_call *c, const struct direct *d, union acc *acc,
		      size_t in, size_t filter, size_t n)
{
	size_t stride = d->in.c_stride;

	if (c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32) {
		const float *x = (const float *)c->in[0]->data + in;
		const float *w = (const float *)c->in[1]->data + filter;

		for (size_t i = 0; i < n; i++)
			acc->real += x[i * stride] * w[i];
	} else {
		const uint8_t *x = (const uint8_t *)c->in[0]->data + in;
		const uint8_t *w = (const uint8_t *)c->in[1]->data + filter;

		for (size_t i = 0; i < n; i++)
			acc->whole = q_add(acc->whole, qbyte_value(x[i * stride], d->in_byte) *
					   qbyte_value(w[i], d->filter_byte));
	}
}

/* The same for any @n. 0 or OP_ABORTED. */
static int add_channels(const struct op_call *c, struct direct *d, union acc *acc, size_t in,
			size_t filter, size_t n)
{
	size_t apart = d->in.c_stride * type_size(c->in[0]->type);
	size_t most = apart < OP_PACE_LINE ? OP_PACE_RUN : OP_PACE_FAR - 1;

	for (size_t at = 0, piece; at < n; at += piece) {
		piece = n - at < most ? n - at : most;
		add_piece(c, d, acc, in + at * d->in.c_stride, filter + at, piece);
		if (op_pace(&d->pace, (apart < OP_PACE_LINE ? piece * 2 :
				       op_pace_rest(piece, apart, 2)) + OP_PACE_RUN_APART))
			return OP_ABORTED;
	}
	return 0;
}

static int grouped_sum(const struct op_call *c, struct direct *d, union acc *acc, uint32_t n,
		       uint32_t oy, uint32_t ox, uint32_t channel)
{
	uint32_t depth = d->in.c / d->groups;
	uint32_t group = channel / (d->out.c / d->groups);
	uint32_t y, y_last, x, x_first, x_last;

	window_taps(&d->y, oy, &y, &y_last);
	window_taps(&d->x, ox, &x_first, &x_last);
	for (; y < y_last; y++) {
		for (x = x_first; x < x_last; x++) {
			size_t in = n * d->in.n_stride +
				    window_index(&d->y, oy, y) * d->in.y_stride +
				    window_index(&d->x, ox, x) * d->in.x_stride +
				    group * depth * d->in.c_stride;
			size_t filter = (((size_t)channel * d->y.taps + y) * d->x.taps + x) * depth;

			if (add_channels(c, d, acc, in, filter, depth))
				return OP_ABORTED;
		}
	}
	return 0;
}

/*
 * The taps through which inputs reach an output of a transposed convolution, and those inputs. From
 * a tap to the next in steps of the stride, with one input less each.
 */
struct spread {
	int64_t tap[2], index[2];	/* the next ones, by enum window_axis */
	int64_t first_tap_x, last_index_x;
};

/* The first tap along an axis through which an input reaches @o, and the last such input. */
static void spread_start(const struct direct *d, enum window_axis axis, uint32_t o, uint32_t in,
			 struct spread *s)
{
	int64_t at = (int64_t)o + d->pad[axis], stride = d->stride[axis];

	s->tap[axis] = at % stride;
	s->index[axis] = at / stride;
	if (s->index[axis] >= in) {
		s->tap[axis] += (s->index[axis] - in + 1) * stride;
		s->index[axis] = (int64_t)in - 1;
	}
}

static struct spread spread_to(const struct direct *d, uint32_t oy, uint32_t ox)
{
	struct spread s;

	spread_start(d, WINDOW_Y, oy, d->in.y, &s);
	spread_start(d, WINDOW_X, ox, d->in.x, &s);
	s.first_tap_x = s.tap[WINDOW_X];
	s.last_index_x = s.index[WINDOW_X];
	return s;
}

static bool spread_inside(const struct direct *d, const struct spread *s, enum window_axis axis)
{
	return s->tap[axis] < d->taps[axis] && s->index[axis] >= 0;
}

static void spread_step(const struct direct *d, struct spread *s, enum window_axis axis)
{
	s->tap[axis] += d->stride[axis];
	s->index[axis]--;
}

/* Offsets of the next input in its image, and of its weights in the filter of a channel. */
static bool spread_next(const struct direct *d, struct spread *s, size_t *in, size_t *filter)
{
	if (!spread_inside(d, s, WINDOW_X)) {
		s->tap[WINDOW_X] = s->first_tap_x;
		s->index[WINDOW_X] = s->last_index_x;
		spread_step(d, s, WINDOW_Y);
	}
	/* All rows have the same taps along x: if one has none, there may be millions of such rows. */
	if (!spread_inside(d, s, WINDOW_X) || !spread_inside(d, s, WINDOW_Y))
		return false;
	*in = (size_t)s->index[WINDOW_Y] * d->in.y_stride +
	      (size_t)s->index[WINDOW_X] * d->in.x_stride;
	*filter = ((size_t)s->tap[WINDOW_Y] * d->taps[WINDOW_X] + (size_t)s->tap[WINDOW_X]) * d->in.c;
	spread_step(d, s, WINDOW_X);
	return true;
}

static size_t transposed_filter(const struct direct *d)
{
	return (size_t)d->taps[WINDOW_Y] * d->taps[WINDOW_X] * d->in.c;
}

static int transposed_sum(const struct op_call *c, struct direct *d, union acc *acc, uint32_t n,
			  uint32_t oy, uint32_t ox, uint32_t channel)
{
	struct spread s = spread_to(d, oy, ox);
	size_t in, filter;

	while (spread_next(d, &s, &in, &filter)) {
		if (add_channels(c, d, acc, n * d->in.n_stride + in,
				 channel * transposed_filter(d) + filter, d->in.c))
			return OP_ABORTED;
	}
	return 0;
}

/*
 * The same for ROW_PRODUCTS channels of floats from @channel on, whose input channels are
 * adjacent: the same products in the same order.
 */
static int transposed_products(const struct op_call *c, struct direct *d,
			       const struct row_kernels *k, float *sums, uint32_t n, uint32_t oy,
			       uint32_t ox, uint32_t channel)
{
	size_t row = transposed_filter(d), in, filter;
	const float *x = (const float *)c->in[0]->data + n * d->in.n_stride;
	const float *w = (const float *)c->in[1]->data + channel * row;
	struct spread s = spread_to(d, oy, ox);

	while (spread_next(d, &s, &in, &filter)) {
		for (size_t at = 0, len; at < d->in.c; at += len) {
			len = d->in.c - at < OP_PACE_RUN ? d->in.c - at : OP_PACE_RUN;
			k->products(w + filter + at, row, x + in + at, len, sums);
			if (op_pace(&d->pace, len * 2 + ROW_PRODUCTS * OP_PACE_RUN_APART / 2))
				return OP_ABORTED;
		}
	}
	return 0;
}

typedef int (*sum_fn)(const struct op_call *c, struct direct *d, union acc *acc, uint32_t n,
		      uint32_t oy, uint32_t ox, uint32_t channel);

static void store(const struct op_call *c, const struct direct *d, const union acc *acc,
		  struct qfactor f, uint32_t channel, size_t at)
{
	if (c->out[0]->type == NNPU_TYPE_TENSOR_FLOAT32) {
		float v = acc->real + ((const float *)c->in[2]->data)[channel];

		((float *)c->out[0]->data)[at] = f_clamp(v, d->frange.min, d->frange.max);
	} else {
		int32_t v = q_add(q_scale(acc->whole, f), c->out[0]->zero_point);

		((uint8_t *)c->out[0]->data)[at] =
			(uint8_t)q_clamp(v, d->qrange.min, d->qrange.max);
	}
}

/* A call. Its parts share it: rows of pixels of a channel, of all batches. */
struct direct_call {
	const struct op_call *c;
	struct direct d;
	sum_fn sum;
};

static int execute_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct direct_call *call = work;
	const struct op_call *c = call->c;
	size_t rows = (size_t)call->d.out.n * call->d.out.y;
	bool quant = type_is_quant8(c->in[0]->type);
	struct direct d = call->d;
	struct qfactor f = { 0, 0 };
	int ret = 0;

	d.pace = *pace;
	for (size_t i = first; !ret && i < end; i++) {
		uint32_t channel = (uint32_t)(i / rows), ox;
		uint32_t n = (uint32_t)(i % rows / d.out.y), oy = (uint32_t)(i % d.out.y);

		if (quant && (i == first || i % rows == 0))
			f = qfactor_of_channel(c, channel);
		for (ox = 0; !ret && ox < d.out.x; ox++) {
			union acc acc = { .real = 0.0f };

			if (quant)
				acc.whole = ((const int32_t *)c->in[2]->data)[channel];
			if (call->sum(c, &d, &acc, n, oy, ox, channel) || op_pace(&d.pace, 32))
				ret = OP_ABORTED;
			else
				store(c, &d, &acc, f, channel,
				      n * d.out.n_stride + oy * d.out.y_stride +
				      ox * d.out.x_stride + channel * d.out.c_stride);
		}
	}
	*pace = d.pace;
	return ret;
}

/* @terms: of the sum of an output, about. */
static int execute(const struct op_call *c, const struct direct *d, sum_fn sum, size_t terms)
{
	struct op_pace pace = { .progress = c->progress };
	struct direct_call call = { .c = c, .d = *d, .sum = sum };
	struct op_parts parts = { .compute = execute_part, .work = &call };
	size_t rows = (size_t)d->out.n * d->out.y;

	call.d.frange = frange_of(d->activation);
	if (type_is_quant8(c->in[0]->type)) {
		call.d.in_byte = qbyte_of(c->in[0]);
		call.d.filter_byte = qbyte_of(c->in[1]);
		call.d.qrange = qrange_of(d->activation, c->out[0]);
	}
	parts.items = rows * d->out.c;
	if (__builtin_mul_overflow(terms * 2 + 32, (size_t)d->out.x, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}

/* The parts of a call with transposed_products(): a pixel each, all channels of it. */
static int products_part(const void *work, size_t first, size_t end, struct op_pace *pace)
{
	const struct direct_call *call = work;
	const struct row_kernels *k = kernels_rows();
	struct direct d = call->d;
	int ret = 0;

	d.pace = *pace;
	for (size_t i = first; !ret && i < end; i++) {
		uint32_t ox = (uint32_t)(i % d.out.x), channel = 0;
		uint32_t oy = (uint32_t)(i / d.out.x % d.out.y);
		uint32_t n = (uint32_t)(i / d.out.x / d.out.y);
		size_t at = n * d.out.n_stride + oy * d.out.y_stride + ox * d.out.x_stride;

		while (!ret && channel < d.out.c) {
			/* The last ones may be channels that have been computed before. */
			uint32_t from = d.out.c - channel < ROW_PRODUCTS ? d.out.c - ROW_PRODUCTS :
									   channel;
			float sums[ROW_PRODUCTS] = { 0 };

			if (transposed_products(call->c, &d, k, sums, n, oy, ox, from) ||
			    op_pace(&d.pace, 32))
				ret = OP_ABORTED;
			for (; !ret && channel < from + ROW_PRODUCTS; channel++)
				store(call->c, &d, &(union acc){ .real = sums[channel - from] },
				      (struct qfactor){ 0, 0 }, channel,
				      at + channel * d.out.c_stride);
		}
	}
	*pace = d.pace;
	return ret;
}

/* @terms: as execute() has it. */
static int execute_products(const struct op_call *c, const struct direct *d, size_t terms)
{
	struct op_pace pace = { .progress = c->progress };
	struct direct_call call = { .c = c, .d = *d };
	struct op_parts parts = { .compute = products_part, .work = &call };

	call.d.frange = frange_of(d->activation);
	parts.items = (size_t)d->out.n * d->out.y * d->out.x;
	if (__builtin_mul_overflow(terms / 4 + 8, (size_t)d->out.c, &parts.units))
		parts.units = SIZE_MAX;
	return op_run_parts(c, &parts, &pace);
}

int grouped_conv2d_check(const struct op_call *c)
{
	struct window w;

	if (c->num_inputs != 9 && c->num_inputs != 12)
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	if (check_common(c) || window_check(c, grouped_form))
		return -1;
	return window_read(c, grouped_form, &w) < 0 ? -1 : 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int grouped_geometry(const struct op_call *c, struct direct *d, struct window *w)
{
	const struct tensor *filter = c->in[1];
	int ret = window_read(c, grouped_form, w);

	*d = (struct direct){ .activation = w->activation };
	if (ret)
		return ret;
	d->in = image_of(c->in[0], w->nchw);
	d->groups = (uint32_t)w->extra[0];
	if (d->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (filter->dims[0] % d->groups || d->in.c % d->groups)
		return op_fail(c, NNPU_REASON_VALUE, w->extra_operand);
	if (filter->dims[3] != d->in.c / d->groups)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[2]->dims[0] != filter->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	return window_place(c, w, WINDOW_Y, d->in.y, filter->dims[1], &d->y) ||
	       window_place(c, w, WINDOW_X, d->in.x, filter->dims[2], &d->x) ? -1 : 0;
}

int grouped_conv2d_infer(const struct op_call *c)
{
	struct direct d;
	struct window w;
	int ret = grouped_geometry(c, &d, &w);

	if (ret)
		return ret;
	image_set_shape(c, w.nchw, d.in.n, d.y.out, d.x.out, c->in[1]->dims[0]);
	return 0;
}

int grouped_conv2d_execute(const struct op_call *c)
{
	struct direct d;
	struct window w;

	if (grouped_geometry(c, &d, &w))
		return -1;
	d.out = image_of(c->out[0], w.nchw);
	return execute(c, &d, grouped_sum, tensor_elements_of(c->in[1], 1, 4));
}

int conv_plain_execute(const struct op_call *c, const struct conv *cv)
{
	struct direct d = {
		.in = cv->in,
		.out = cv->out,
		.activation = cv->activation,
		.y = cv->y,
		.x = cv->x,
		.groups = 1,
	};

	return execute(c, &d, grouped_sum, conv_depth(cv));
}

static struct window_form transposed_form(const struct op_call *c)
{
	return (struct window_form){ .first = c->num_inputs == 9 ? 4 : 3 };
}

int transpose_conv2d_check(const struct op_call *c)
{
	struct window w;

	if (c->num_inputs != 9 && c->num_inputs != 11)
		return op_fail(c, NNPU_REASON_OPERAND_COUNT, NNPU_OPERAND_NONE);
	if (check_common(c) || window_check(c, transposed_form(c)) ||
	    (c->num_inputs == 9 && op_check_list(c, 3)))
		return -1;
	return window_read(c, transposed_form(c), &w) < 0 ? -1 : 0;
}

/* Size of the output along an axis, and the padding in front of it. */
static int transposed_size(const struct op_call *c, const struct window *w, struct direct *d,
			   enum window_axis axis, uint32_t in, int64_t given, uint32_t *out)
{
	int64_t spread, size;

	if (in == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	d->stride[axis] = w->stride[axis];
	d->taps[axis] = c->in[1]->dims[axis == WINDOW_Y ? 1 : 2];
	if (d->taps[axis] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	/* Below 2^32 * 2^31 + 2^32: no overflow. */
	spread = ((int64_t)in - 1) * w->stride[axis] + d->taps[axis];
	if (w->explicit_padding) {
		d->pad[axis] = w->pad_before[axis];
		size = spread - w->pad_before[axis] - w->pad_after[axis];
		if (size < 1)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	} else {
		size = given;
		d->pad[axis] = w->same && spread > size ? (spread - size) / 2 : 0;
	}
	if (size > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	*out = (uint32_t)size;
	return 0;
}

/* The shape that operand 3 gives. 0; 1 if not known; -1 with error. */
static int given_shape(const struct op_call *c, const struct direct *d, bool nchw, int32_t *y,
		       int32_t *x)
{
	if (op_check_rank(c, 3, 1, 1))
		return -1;
	if (c->in[3]->dims[0] != 4)
		return op_fail(c, NNPU_REASON_DIMENSION, 3);
	if (!tensor_data_known(c->in[3]))
		return 1;
	*y = op_list_at(c, 3, nchw ? 2 : 1);
	*x = op_list_at(c, 3, nchw ? 3 : 2);
	if (*y < 1 || *x < 1 || (uint32_t)op_list_at(c, 3, 0) != d->in.n ||
	    (uint32_t)op_list_at(c, 3, nchw ? 1 : 3) != c->in[1]->dims[0])
		return op_fail(c, NNPU_REASON_VALUE, 3);
	return 0;
}

static int transposed_geometry(const struct op_call *c, struct direct *d, struct window *w)
{
	const struct tensor *filter = c->in[1];
	int ret = window_read(c, transposed_form(c), w);
	int32_t y = 0, x = 0;

	*d = (struct direct){ .activation = w->activation };
	if (ret)
		return ret;
	d->in = image_of(c->in[0], w->nchw);
	if (d->in.c == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (filter->dims[0] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (filter->dims[3] != d->in.c)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (c->in[2]->dims[0] != filter->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 2);
	if (!w->explicit_padding) {
		ret = given_shape(c, d, w->nchw, &y, &x);
		if (ret)
			return ret;
	}
	return transposed_size(c, w, d, WINDOW_Y, d->in.y, y, &d->out.y) ||
	       transposed_size(c, w, d, WINDOW_X, d->in.x, x, &d->out.x) ? -1 : 0;
}

int transpose_conv2d_infer(const struct op_call *c)
{
	struct direct d;
	struct window w;
	int ret = transposed_geometry(c, &d, &w);

	if (ret)
		return ret;
	image_set_shape(c, w.nchw, d.in.n, d.out.y, d.out.x, c->in[1]->dims[0]);
	return 0;
}

int transpose_conv2d_execute(const struct op_call *c)
{
	struct direct d;
	struct window w;
	size_t terms;

	if (transposed_geometry(c, &d, &w))
		return -1;
	d.out = image_of(c->out[0], w.nchw);
	/* Of all taps of a filter, those that a stride leaves. */
	terms = tensor_elements_of(c->in[1], 1, 4) /
		(size_t)(d.stride[WINDOW_Y] * d.stride[WINDOW_X]) + 1;
	if (c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32 && d.in.c_stride == 1 &&
	    d.out.c >= ROW_PRODUCTS && c->out[0]->bytes && !kernels_plain())
		return execute_products(c, &d, terms);
	return execute(c, &d, transposed_sum, terms);
}
