// SPDX-License-Identifier: MIT
/*
 * Shapes that operators compute: operators element by element, windows, products,
 * reductions; and the integer arithmetic that shapes are made of.
 */
#include <string.h>

#include "../file/flexbuf.h"
#include "infer.h"

const struct extent extent_unknown = { .rank = -1 };

const struct extent *infer_input(const struct inference *inf, uint32_t pos)
{
	int32_t index = pos < inf->op->inputs.count ? fb_vector_i32(&inf->op->inputs, pos) : -1;

	return index < 0 ? &extent_unknown : &inf->extents[index];
}

void infer_set(struct inference *inf, uint32_t pos, const struct extent *extent)
{
	if (pos < inf->op->outputs.count)
		inf->extents[fb_vector_i32(&inf->op->outputs, pos)] = *extent;
}

int64_t extent_elements(const struct extent *e)
{
	int64_t n = 1;
	int32_t i;

	if (e->rank < 0)
		return -1;
	for (i = 0; i < e->rank; i++) {
		if (e->dims[i] < 0)
			return -1;
		if (e->dims[i] && n > INT32_MAX / e->dims[i])
			return -1;
		n *= e->dims[i];
	}
	return n;
}

int32_t infer_axis(int64_t axis, int32_t rank)
{
	if (axis < 0)
		axis += rank;
	return axis >= 0 && axis < rank ? (int32_t)axis : -1;
}

static void same_shape(struct inference *inf, uint32_t input)
{
	struct extent out = *infer_input(inf, input);

	out.num_values = 0;
	infer_set(inf, 0, &out);
}

/* The shape that a and b broadcast to; false if they do not fit. */
static bool broadcast(const struct extent *a, const struct extent *b, struct extent *out)
{
	int32_t i;

	out->rank = a->rank > b->rank ? a->rank : b->rank;
	for (i = 1; i <= out->rank; i++) {
		int64_t x = i <= a->rank ? a->dims[a->rank - i] : 1;
		int64_t y = i <= b->rank ? b->dims[b->rank - i] : 1;

		if (x >= 0 && y >= 0 && x != y && x != 1 && y != 1)
			return false;
		/* An unknown size beside one above 1 is that one, or 1: which then spreads. */
		out->dims[out->rank - i] = x == 1 ? y : y == 1 ? x : x < 0 ? y : x;
	}
	return true;
}

/* Integer arithmetic that shapes are made of; false if the operator is another. */
static bool compute(int32_t code, int64_t x, int64_t y, int64_t *z)
{
	switch (code) {
	case TFLITE_ADD:
		*z = x + y;
		return true;
	case TFLITE_SUB:
		*z = x - y;
		return true;
	case TFLITE_MUL:
		*z = x * y;
		return true;
	case TFLITE_MAXIMUM:
		*z = x > y ? x : y;
		return true;
	case TFLITE_MINIMUM:
		*z = x < y ? x : y;
		return true;
	case TFLITE_FLOOR_DIV:
	case TFLITE_DIV:
		if (x < 0 || y <= 0)
			return false;
		*z = x / y;
		return true;
	case TFLITE_FLOOR_MOD:
		if (x < 0 || y <= 0)
			return false;
		*z = x % y;
		return true;
	default:
		return false;
	}
}

static void binary_values(const struct extent *a, const struct extent *b, int32_t code,
			  struct extent *out)
{
	uint32_t n = a->num_values > b->num_values ? a->num_values : b->num_values;
	uint32_t i;

	if (!a->num_values || !b->num_values || out->rank > 1 ||
	    (a->num_values != n && a->num_values != 1) ||
	    (b->num_values != n && b->num_values != 1))
		return;
	for (i = 0; i < n; i++) {
		int64_t x = a->values[a->num_values == 1 ? 0 : i];
		int64_t y = b->values[b->num_values == 1 ? 0 : i];

		if (!compute(code, x, y, &out->values[i]) ||
		    out->values[i] != (int32_t)out->values[i])
			return;
	}
	out->num_values = n;
}

static void binary(struct inference *inf, int32_t code)
{
	const struct extent *a = infer_input(inf, 0), *b = infer_input(inf, 1);
	struct extent out = extent_unknown;

	if (a->rank < 0 || b->rank < 0 || !broadcast(a, b, &out))
		out = extent_unknown;
	else
		binary_values(a, b, code, &out);
	infer_set(inf, 0, &out);
}

static void select(struct inference *inf)
{
	const struct extent *a = infer_input(inf, 1), *b = infer_input(inf, 2);
	const struct extent *condition = infer_input(inf, 0);
	struct extent both = extent_unknown, out = extent_unknown;

	if (a->rank < 0 || b->rank < 0 || condition->rank < 0 || !broadcast(a, b, &both) ||
	    !broadcast(condition, &both, &out))
		out = extent_unknown;
	infer_set(inf, 0, &out);
}

/* Windows. */

static int64_t windows(int64_t in, int64_t filter, int64_t stride, int64_t dilation, int padding)
{
	int64_t reach = (filter - 1) * dilation + 1;

	if (in < 0 || filter <= 0 || stride <= 0 || dilation <= 0)
		return -1;
	if (padding == 0)
		return (in + stride - 1) / stride;
	return in < reach ? -1 : (in - reach) / stride + 1;
}

static void window(struct inference *inf, int64_t filter_h, int64_t filter_w, int64_t channels,
		   unsigned int dilation_slot)
{
	const struct fb_table *o = &inf->options;
	const struct extent *in = infer_input(inf, 0);
	int64_t dilation_w = dilation_slot ? fb_i32(o, dilation_slot, 1) : 1;
	int64_t dilation_h = dilation_slot ? fb_i32(o, dilation_slot + 1, 1) : 1;
	struct extent out = { .rank = 4 };
	int padding = fb_i8(o, 0, 0);

	if (in->rank != 4)
		return;
	out.dims[0] = in->dims[0];
	out.dims[1] = windows(in->dims[1], filter_h, fb_i32(o, 2, 0), dilation_h, padding);
	out.dims[2] = windows(in->dims[2], filter_w, fb_i32(o, 1, 0), dilation_w, padding);
	out.dims[3] = channels;
	infer_set(inf, 0, &out);
}

static void conv(struct inference *inf, bool depthwise)
{
	const struct extent *filter = infer_input(inf, 1);

	if (filter->rank == 4)
		window(inf, filter->dims[1], filter->dims[2], filter->dims[depthwise ? 3 : 0],
		       depthwise ? 5 : 4);
}

static void transpose_conv(struct inference *inf)
{
	const struct extent *shape = infer_input(inf, 0);
	struct extent out = { .rank = 4 };

	if (shape->num_values != 4)
		return;
	memcpy(out.dims, shape->values, 4 * sizeof(*out.dims));
	infer_set(inf, 0, &out);
}

static void resize(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *size = infer_input(inf, 1);
	struct extent out = { .rank = 4 };

	if (in->rank != 4)
		return;
	out.dims[0] = in->dims[0];
	out.dims[1] = size->num_values == 2 ? size->values[0] : -1;
	out.dims[2] = size->num_values == 2 ? size->values[1] : -1;
	out.dims[3] = in->dims[3];
	infer_set(inf, 0, &out);
}

/* Products. */

static void fully_connected(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *weights = infer_input(inf, 1);
	int64_t n = extent_elements(in);
	struct extent out = { .rank = 2 };

	if (weights->rank != 2 || weights->dims[1] <= 0)
		return;
	if (fb_u8(&inf->options, 2, 0) && in->rank > 0) {
		out.rank = in->rank;
		memcpy(out.dims, in->dims, sizeof(out.dims));
	} else {
		out.dims[0] = n < 0 ? -1 : n / weights->dims[1];
	}
	out.dims[out.rank - 1] = weights->dims[0];
	infer_set(inf, 0, &out);
}

static void batch_matmul(struct inference *inf)
{
	struct extent x = *infer_input(inf, 0), y = *infer_input(inf, 1), out;
	bool adj_x = fb_u8(&inf->options, 0, 0), adj_y = fb_u8(&inf->options, 1, 0);
	int64_t rows, columns;

	if (x.rank < 2 || y.rank < 2)
		return;
	rows = x.dims[x.rank - (adj_x ? 1 : 2)];
	columns = y.dims[y.rank - (adj_y ? 2 : 1)];
	x.rank -= 2;
	y.rank -= 2;
	out = extent_unknown;
	if (!broadcast(&x, &y, &out))
		return;
	out.dims[out.rank++] = rows;
	out.dims[out.rank++] = columns;
	infer_set(inf, 0, &out);
}

/* Reductions. */

static void reduce(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *axes = infer_input(inf, 1);
	bool keep = fb_u8(&inf->options, 0, 0);
	bool gone[TFLITE_MAX_RANK] = { false };
	struct extent out = { .rank = 0 };
	uint32_t i;
	int32_t d;

	if (in->rank < 0 || axes->num_values == 0)
		return;
	for (i = 0; i < axes->num_values; i++) {
		d = infer_axis(axes->values[i], in->rank);
		if (d < 0)
			return;
		gone[d] = true;
	}
	for (d = 0; d < in->rank; d++) {
		if (gone[d] && !keep)
			continue;
		out.dims[out.rank++] = gone[d] ? 1 : in->dims[d];
	}
	if (inf->op->code == TFLITE_REDUCE_PROD && in->rank == 1 && in->num_values && !keep) {
		out.num_values = 1;
		out.values[0] = 1;
		for (i = 0; i < in->num_values; i++) {
			out.values[0] *= in->values[i];
			if (out.values[0] != (int32_t)out.values[0]) {
				out.num_values = 0;
				break;
			}
		}
	}
	infer_set(inf, 0, &out);
}

static void arg(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *axis = infer_input(inf, 1);
	struct extent out = { .rank = 0 };
	int32_t d, at;

	at = axis->num_values == 1 ? infer_axis(axis->values[0], in->rank) : -1;
	if (at < 0)
		return;
	for (d = 0; d < in->rank; d++)
		if (d != at)
			out.dims[out.rank++] = in->dims[d];
	infer_set(inf, 0, &out);
}

static void topk(struct inference *inf)
{
	const struct extent *in = infer_input(inf, 0), *k = infer_input(inf, 1);
	struct extent out = *in;

	if (in->rank < 1)
		return;
	out.num_values = 0;
	out.dims[out.rank - 1] = k->num_values == 1 ? k->values[0] : -1;
	infer_set(inf, 0, &out);
	infer_set(inf, 1, &out);
}

/* A sequence operator: the shape of its input with another last size. */
static void sequence(struct inference *inf, uint32_t weights, bool time)
{
	const struct extent *in = infer_input(inf, 0), *w = infer_input(inf, weights);
	struct extent out = *in;

	if (in->rank != (time ? 3 : 2) || w->rank != 2)
		return;
	out.dims[in->rank - 1] = w->dims[0];
	out.num_values = 0;
	infer_set(inf, 0, &out);
}

static void lstm(struct inference *inf)
{
	/* The projection's rows if there is one, else those of the cell. */
	if (infer_input(inf, 16)->rank == 2)
		sequence(inf, 16, true);
	else
		sequence(inf, 2, true);
}

/* TFLite_Detection_PostProcess: as many detections as its options say. */
static void detection(struct inference *inf)
{
	static const char name[] = "TFLite_Detection_PostProcess";
	struct extent out = { .rank = 3, .dims = { 1, -1, 4 } };
	double most, classes;
	struct flex_map map;

	if (inf->op->custom_name.length != strlen(name) ||
	    memcmp(inf->op->custom_name.data, name, strlen(name)) ||
	    !flex_map(&inf->op->custom_options, &map) ||
	    !flex_number(&map, "max_detections", &most) ||
	    !flex_number(&map, "max_classes_per_detection", &classes) ||
	    !(most >= 1 && most <= 1 << 20) || classes != 1)
		return;
	out.dims[1] = (int64_t)most;
	infer_set(inf, 0, &out);
	out.rank = 2;
	infer_set(inf, 1, &out);
	infer_set(inf, 2, &out);
	out.rank = 1;
	infer_set(inf, 3, &out);
}

static void cast(struct inference *inf)
{
	int type = inf->sub->tensors[fb_vector_i32(&inf->op->outputs, 0)].type;
	struct extent out = *infer_input(inf, 0);

	if (type != TFLITE_INT32 && type != TFLITE_INT64)
		out.num_values = 0;
	infer_set(inf, 0, &out);
}

static bool infer_arithmetic(struct inference *inf, int32_t code)
{
	switch (code) {
	case TFLITE_DEQUANTIZE: case TFLITE_QUANTIZE: case TFLITE_FLOOR: case TFLITE_CEIL:
	case TFLITE_ROUND: case TFLITE_L2_NORMALIZATION: case TFLITE_LOGISTIC: case TFLITE_RELU:
	case TFLITE_LOCAL_RESPONSE_NORMALIZATION: case TFLITE_RELU_N1_TO_1: case TFLITE_RELU6:
	case TFLITE_RELU_0_TO_1: case TFLITE_SOFTMAX: case TFLITE_LOG_SOFTMAX: case TFLITE_TANH:
	case TFLITE_EXP: case TFLITE_NEG: case TFLITE_SIN: case TFLITE_COS: case TFLITE_LOG:
	case TFLITE_SQRT: case TFLITE_RSQRT: case TFLITE_ABS: case TFLITE_SQUARE:
	case TFLITE_ZEROS_LIKE: case TFLITE_LEAKY_RELU: case TFLITE_ELU: case TFLITE_HARD_SWISH:
	case TFLITE_LOGICAL_NOT: case TFLITE_GELU: case TFLITE_SIGN: case TFLITE_CUMSUM:
	case TFLITE_FAKE_QUANT: case TFLITE_REVERSE_V2: case TFLITE_REVERSE_SEQUENCE:
	case TFLITE_BUCKETIZE: case TFLITE_MATRIX_SET_DIAG: case TFLITE_PRELU: case TFLITE_ADD_N:
	case TFLITE_DYNAMIC_UPDATE_SLICE: case TFLITE_DENSIFY:
		same_shape(inf, 0);
		return true;
	case TFLITE_ADD: case TFLITE_SUB: case TFLITE_MUL: case TFLITE_DIV: case TFLITE_MAXIMUM:
	case TFLITE_MINIMUM: case TFLITE_POW: case TFLITE_FLOOR_DIV: case TFLITE_FLOOR_MOD:
	case TFLITE_SQUARED_DIFFERENCE: case TFLITE_LESS: case TFLITE_LESS_EQUAL:
	case TFLITE_GREATER: case TFLITE_GREATER_EQUAL: case TFLITE_EQUAL: case TFLITE_NOT_EQUAL:
	case TFLITE_LOGICAL_AND: case TFLITE_LOGICAL_OR: case TFLITE_ATAN2:
	case TFLITE_BITWISE_XOR: case TFLITE_RIGHT_SHIFT:
		binary(inf, code);
		return true;
	case TFLITE_SELECT:
		same_shape(inf, 1);
		return true;
	case TFLITE_SELECT_V2:
		select(inf);
		return true;
	case TFLITE_CONV_2D: case TFLITE_DEPTHWISE_CONV_2D:
		conv(inf, code == TFLITE_DEPTHWISE_CONV_2D);
		return true;
	case TFLITE_AVERAGE_POOL_2D: case TFLITE_MAX_POOL_2D: case TFLITE_L2_POOL_2D:
		if (infer_input(inf, 0)->rank == 4)
			window(inf, fb_i32(&inf->options, 4, 0), fb_i32(&inf->options, 3, 0),
			       infer_input(inf, 0)->dims[3], 0);
		return true;
	case TFLITE_TRANSPOSE_CONV:
		transpose_conv(inf);
		return true;
	case TFLITE_RESIZE_BILINEAR: case TFLITE_RESIZE_NEAREST_NEIGHBOR:
		resize(inf);
		return true;
	case TFLITE_FULLY_CONNECTED:
		fully_connected(inf);
		return true;
	case TFLITE_BATCH_MATMUL:
		batch_matmul(inf);
		return true;
	case TFLITE_MEAN: case TFLITE_SUM: case TFLITE_REDUCE_PROD: case TFLITE_REDUCE_MAX:
	case TFLITE_REDUCE_MIN: case TFLITE_REDUCE_ANY: case TFLITE_REDUCE_ALL:
		reduce(inf);
		return true;
	case TFLITE_ARG_MAX: case TFLITE_ARG_MIN:
		arg(inf);
		return true;
	case TFLITE_TOPK_V2:
		topk(inf);
		return true;
	case TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM:
		lstm(inf);
		return true;
	case TFLITE_UNIDIRECTIONAL_SEQUENCE_RNN:
		sequence(inf, 1, true);
		return true;
	case TFLITE_CUSTOM:
		detection(inf);
		return true;
	case TFLITE_CAST:
		cast(inf);
		return true;
	default:
		return false;
	}
}

void infer_operator(struct inference *inf)
{
	uint32_t i;

	for (i = 0; i < inf->op->outputs.count; i++)
		infer_set(inf, i, &extent_unknown);
	if (inf->op->outputs.count && !infer_arithmetic(inf, inf->op->code))
		infer_layout(inf, inf->op->code);
}
