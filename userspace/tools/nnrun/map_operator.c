// SPDX-License-Identifier: MIT
/*
 * Mapping TensorFlow Lite operators to HAL operations, operands in the order of
 * types.hal 1.3.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "mapper.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Slots of the options tables, in the order of the schema. */
enum {
	CONV_PADDING, CONV_STRIDE_W, CONV_STRIDE_H, CONV_ACTIVATION, CONV_DILATION_W,
	CONV_DILATION_H,
};
enum {
	DEPTHWISE_PADDING, DEPTHWISE_STRIDE_W, DEPTHWISE_STRIDE_H, DEPTHWISE_MULTIPLIER,
	DEPTHWISE_ACTIVATION, DEPTHWISE_DILATION_W, DEPTHWISE_DILATION_H,
};
enum {
	POOL_PADDING, POOL_STRIDE_W, POOL_STRIDE_H, POOL_FILTER_W, POOL_FILTER_H,
	POOL_ACTIVATION,
};
enum { FULLY_CONNECTED_ACTIVATION, FULLY_CONNECTED_WEIGHTS_FORMAT };
enum { CONCATENATION_AXIS, CONCATENATION_ACTIVATION };
enum { BINARY_ACTIVATION };
enum { SOFTMAX_BETA };
enum { RESHAPE_NEW_SHAPE };

/* Implicit padding schemes of the HAL. */
#define HAL_PADDING_SAME	1
#define HAL_PADDING_VALID	2

/* Collects the inputs of an operation; an operand that failed (-1) makes it fail. */
struct inputs {
	int list[16];
	uint32_t count;
	bool failed;
};

static void put(struct inputs *in, int operand)
{
	if (operand < 0 || in->count == ARRAY_SIZE(in->list))
		in->failed = true;
	else
		in->list[in->count++] = operand;
}

static void put_int32(struct mapper *m, struct inputs *in, int32_t value)
{
	if (!in->failed)
		put(in, hal_add_int32(m->b, value, m->err));
}

/* Add the operation with output 0 of the operator as its output. */
static int finish_operation(struct mapper *m, uint32_t type, const struct inputs *in)
{
	int output;

	if (in->failed)
		return -1;
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	return add_operation(m, type, in->list, in->count, output);
}

/* TensorFlow Lite's fused activation; the HAL has the same numbers up to RELU6. */
static int activation(struct mapper *m, unsigned int slot, int32_t *value)
{
	static const char *const names[] = { "TANH", "SIGN_BIT" };

	*value = fb_i8(&m->op->options, slot, 0);
	if (*value >= NNHAL_FUSED_NONE && *value <= NNHAL_FUSED_RELU6)
		return 0;
	if (*value == 4 || *value == 5)
		return map_fail(m, "fused activation %s has no counterpart in the HAL",
				names[*value - 4]);
	return map_fail(m, "unknown fused activation %" PRId32, *value);
}

static int padding(struct mapper *m, unsigned int slot, int32_t *value)
{
	int8_t scheme = fb_i8(&m->op->options, slot, 0);

	if (scheme != 0 && scheme != 1)
		return map_fail(m, "unknown padding %d", scheme);
	*value = scheme == 0 ? HAL_PADDING_SAME : HAL_PADDING_VALID;
	return 0;
}

/* Check what CONV_2D and DEPTHWISE_CONV_2D have in common and put the first operands. */
static int conv_tensors(struct mapper *m, uint32_t channel_dim, struct inputs *in)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	const struct tflite_tensor *filter = input_tensor(m, 1);
	int first, second;

	if (!input || !filter)
		return map_fail(m, "input or filter is missing");
	if (input->rank != 4 || filter->rank != 4)
		return map_fail(m, "input of rank %" PRIu32 " and filter of rank %" PRIu32
				", both must be 4", input->rank, filter->rank);
	if (filter->dims[channel_dim] <= 0)
		return map_fail(m, "filter dimension %" PRIu32 " is %" PRId32, channel_dim,
				filter->dims[channel_dim]);
	first = input_operand(m, 0);
	if (first < 0)
		return -1;
	/*
	 * The int8 kernels of TensorFlow Lite use one multiplier per channel even if the file
	 * has a single scale.
	 */
	if (filter->type == TFLITE_INT8 && is_quantized(input) && is_constant(m, filter))
		second = filter_operand(m, 1, channel_dim);
	else
		second = input_operand(m, 1);
	if (second < 0)
		return -1;
	put(in, first);
	put(in, second);
	put(in, bias_operand(m, 2, (uint32_t)filter->dims[channel_dim], first, second));
	return in->failed ? -1 : 0;
}

/* CONV_2D with a filter for part of the input channels is GROUPED_CONV_2D in the HAL. */
static int conv_groups(struct mapper *m, int32_t *groups)
{
	int32_t input = input_tensor(m, 0)->dims[3];
	int32_t filter = input_tensor(m, 1)->dims[3];

	*groups = 1;
	if (filter == input)
		return 0;
	if (filter <= 0 || input <= 0 || input % filter != 0)
		return map_fail(m, "filter of %" PRId32 " input channels for an input of %" PRId32,
				filter, input);
	*groups = input / filter;
	return 0;
}

static int map_conv_2d(struct mapper *m, uint32_t type)
{
	const struct fb_table *options = &m->op->options;
	int32_t dilation_w = fb_i32(options, CONV_DILATION_W, 1);
	int32_t dilation_h = fb_i32(options, CONV_DILATION_H, 1);
	struct inputs in = { .count = 0 };
	int32_t pad = 0, act = 0, groups = 1;

	if (conv_tensors(m, 0, &in) || conv_groups(m, &groups) ||
	    padding(m, CONV_PADDING, &pad) || activation(m, CONV_ACTIVATION, &act))
		return -1;
	put_int32(m, &in, pad);
	put_int32(m, &in, fb_i32(options, CONV_STRIDE_W, 0));
	put_int32(m, &in, fb_i32(options, CONV_STRIDE_H, 0));
	if (groups > 1) {
		if (dilation_w != 1 || dilation_h != 1)
			return map_fail(m, "dilation of a grouped convolution has no counterpart"
					" in the HAL");
		put_int32(m, &in, groups);
		put_int32(m, &in, act);
		put(&in, hal_add_bool(m->b, false, m->err));
		return finish_operation(m, NNHAL_OPERATION_GROUPED_CONV_2D, &in);
	}
	put_int32(m, &in, act);
	if (dilation_w != 1 || dilation_h != 1) {
		put(&in, hal_add_bool(m->b, false, m->err));
		put_int32(m, &in, dilation_w);
		put_int32(m, &in, dilation_h);
	}
	return finish_operation(m, type, &in);
}

static int map_depthwise_conv_2d(struct mapper *m, uint32_t type)
{
	const struct fb_table *options = &m->op->options;
	int32_t dilation_w = fb_i32(options, DEPTHWISE_DILATION_W, 1);
	int32_t dilation_h = fb_i32(options, DEPTHWISE_DILATION_H, 1);
	int32_t multiplier = fb_i32(options, DEPTHWISE_MULTIPLIER, 0);
	struct inputs in = { .count = 0 };
	int32_t pad = 0, act = 0;

	if (conv_tensors(m, 3, &in) || padding(m, DEPTHWISE_PADDING, &pad) ||
	    activation(m, DEPTHWISE_ACTIVATION, &act))
		return -1;
	/* Some converters omit it; the shapes tell. */
	if (multiplier == 0 && input_tensor(m, 0)->dims[3] > 0)
		multiplier = input_tensor(m, 1)->dims[3] / input_tensor(m, 0)->dims[3];
	put_int32(m, &in, pad);
	put_int32(m, &in, fb_i32(options, DEPTHWISE_STRIDE_W, 0));
	put_int32(m, &in, fb_i32(options, DEPTHWISE_STRIDE_H, 0));
	put_int32(m, &in, multiplier);
	put_int32(m, &in, act);
	if (dilation_w != 1 || dilation_h != 1) {
		put(&in, hal_add_bool(m->b, false, m->err));
		put_int32(m, &in, dilation_w);
		put_int32(m, &in, dilation_h);
	}
	return finish_operation(m, type, &in);
}

static int map_pool_2d(struct mapper *m, uint32_t type)
{
	const struct fb_table *options = &m->op->options;
	struct inputs in = { .count = 0 };
	int32_t pad = 0, act = 0;

	if (padding(m, POOL_PADDING, &pad) || activation(m, POOL_ACTIVATION, &act))
		return -1;
	put(&in, input_operand(m, 0));
	put_int32(m, &in, pad);
	put_int32(m, &in, fb_i32(options, POOL_STRIDE_W, 0));
	put_int32(m, &in, fb_i32(options, POOL_STRIDE_H, 0));
	put_int32(m, &in, fb_i32(options, POOL_FILTER_W, 0));
	put_int32(m, &in, fb_i32(options, POOL_FILTER_H, 0));
	put_int32(m, &in, act);
	return finish_operation(m, type, &in);
}

/* Rows, columns and input width of a matrix product. */
struct product {
	uint32_t batch;
	uint32_t units;
	uint32_t width;
};

static int fully_connected_sizes(struct mapper *m, struct product *p)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	const struct tflite_tensor *weights = input_tensor(m, 1);
	const struct tflite_tensor *output = output_tensor(m, 0);
	uint64_t in_elements, out_elements, batch;

	if (!input || !weights || !output)
		return map_fail(m, "input, weights or output are missing");
	if (weights->rank != 2 || weights->dims[0] <= 0 || weights->dims[1] <= 0)
		return map_fail(m, "weights of rank %" PRIu32 ", a matrix is needed",
				weights->rank);
	if (!tflite_elements(input, &in_elements) || !tflite_elements(output, &out_elements) ||
	    in_elements % (uint32_t)weights->dims[1] != 0)
		return map_fail(m, "the shape of the input does not fit weights of %" PRId32
				" columns", weights->dims[1]);
	batch = in_elements / (uint32_t)weights->dims[1];
	if (out_elements != batch * (uint32_t)weights->dims[0])
		return map_fail(m, "output of %" PRIu64 " elements, input and weights give %"
				PRIu64, out_elements, batch * (uint32_t)weights->dims[0]);
	p->batch = (uint32_t)batch;
	p->units = (uint32_t)weights->dims[0];
	p->width = (uint32_t)weights->dims[1];
	return 0;
}

/*
 * Weights with one scale per output have no form in FULLY_CONNECTED of the HAL; a
 * CONV_2D on an image of one pixel is the same sum with the same multipliers.
 */
static int map_per_channel_product(struct mapper *m, const struct product *p)
{
	const struct shape in_shape = { 4, { p->batch, 1, 1, p->width } };
	const struct shape out_shape = { 4, { p->batch, 1, 1, p->units } };
	struct nnhal_operand operand;
	uint32_t filter_dims[4] = { p->units, 1, 1, p->width };
	struct inputs in = { .count = 0 };
	struct shape shape;
	int input, pixel, filter, result, output;
	uint32_t *dims;
	int32_t act = 0;

	if (activation(m, FULLY_CONNECTED_ACTIVATION, &act))
		return -1;
	input = input_operand(m, 0);
	if (input < 0)
		return -1;
	pixel = temporary_operand(m, (uint32_t)input, &in_shape);
	if (pixel < 0 || add_reshape(m, input, pixel, &in_shape))
		return -1;
	filter = filter_operand(m, 1, 0);
	if (filter < 0)
		return -1;
	dims = hal_alloc(m->b, ARRAY_SIZE(filter_dims), sizeof(*dims), m->err);
	if (!dims)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(filter_dims); i++)
		dims[i] = filter_dims[i];
	m->b->operands[filter].num_dimensions = ARRAY_SIZE(filter_dims);
	m->b->operands[filter].dimensions = dims;

	put(&in, pixel);
	put(&in, filter);
	put(&in, bias_operand(m, 2, p->units, pixel, filter));
	put_int32(m, &in, HAL_PADDING_VALID);
	put_int32(m, &in, 1);
	put_int32(m, &in, 1);
	put_int32(m, &in, act);
	if (in.failed || describe_tensor(m, output_tensor(m, 0), &operand, &shape))
		return -1;
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	result = temporary_operand(m, (uint32_t)output, &out_shape);
	if (result < 0 ||
	    add_operation(m, NNHAL_OPERATION_CONV_2D, in.list, in.count, result))
		return -1;
	return add_reshape(m, result, output, &shape);
}

static int map_fully_connected(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	const struct tflite_tensor *weights;
	struct nnhal_operand operand;
	struct shape matrix, shape;
	int input, filter, output;
	struct product p = { 0, 0, 0 };
	int32_t act = 0;

	if (fully_connected_sizes(m, &p))
		return -1;
	if (fb_i8(&m->op->options, FULLY_CONNECTED_WEIGHTS_FORMAT, 0) != 0)
		return map_fail(m, "shuffled weights are not supported");
	weights = input_tensor(m, 1);
	if (weights->type == TFLITE_INT8 && weights->scales.count > 1 &&
	    is_constant(m, weights) && is_quantized(input_tensor(m, 0)))
		return map_per_channel_product(m, &p);

	if (activation(m, FULLY_CONNECTED_ACTIVATION, &act))
		return -1;
	input = input_operand(m, 0);
	if (input < 0)
		return -1;
	if (m->b->operands[input].num_dimensions < 2) {
		int flat = input;

		matrix = (struct shape){ 2, { p.batch, p.width } };
		input = temporary_operand(m, (uint32_t)flat, &matrix);
		if (input < 0 || add_reshape(m, flat, input, &matrix))
			return -1;
	}
	filter = input_operand(m, 1);
	if (filter < 0)
		return -1;
	put(&in, input);
	put(&in, filter);
	put(&in, bias_operand(m, 2, p.units, input, filter));
	put_int32(m, &in, act);
	if (in.failed || describe_tensor(m, output_tensor(m, 0), &operand, &shape))
		return -1;
	if (shape.rank == 2 && shape.dims[0] == p.batch)
		return finish_operation(m, type, &in);

	/* The HAL's result is a matrix; the file may keep more dimensions. */
	matrix = (struct shape){ 2, { p.batch, p.units } };
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	filter = temporary_operand(m, (uint32_t)output, &matrix);
	if (filter < 0 || add_operation(m, type, in.list, in.count, filter))
		return -1;
	return add_reshape(m, filter, output, &shape);
}

static int map_reshape(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *target = input_tensor(m, 1);
	struct fb_vector new_shape = fb_vector(&m->op->options, RESHAPE_NEW_SHAPE, 4);
	struct inputs in = { .count = 0 };
	struct nnhal_operand operand;
	int32_t dims[TFLITE_MAX_RANK];
	struct shape shape;
	uint32_t i;

	put(&in, input_operand(m, 0));
	if (in.failed || !output_tensor(m, 0))
		return -1;
	if (target && !is_constant(m, target) && target->rank == 1 && target->dims[0] > 0) {
		put(&in, input_operand(m, 1));
		return finish_operation(m, type, &in);
	}
	if (target && is_constant(m, target) && target->rank == 1 && target->dims[0] > 0) {
		if (target->type != TFLITE_INT32)
			return map_fail(m, "shape of type %s, only int32 is supported",
					tflite_type_name(target->type));
		put(&in, input_operand(m, 1));
		return finish_operation(m, type, &in);
	}
	if (new_shape.count > TFLITE_MAX_RANK)
		return map_fail(m, "new shape of rank %" PRIu32, new_shape.count);
	for (i = 0; i < new_shape.count; i++)
		dims[i] = fb_vector_i32(&new_shape, i);
	/* No shape, or the old form of "scalar": take the shape of the output. */
	if (new_shape.count == 0 || (new_shape.count == 1 && dims[0] == 0)) {
		if (describe_tensor(m, output_tensor(m, 0), &operand, &shape))
			return -1;
		for (i = 0; i < shape.rank; i++)
			dims[i] = (int32_t)shape.dims[i];
		new_shape.count = shape.rank;
	}
	put(&in, int32_vector_operand(m, dims, new_shape.count));
	return finish_operation(m, type, &in);
}

static int map_softmax(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put(&in, input_operand(m, 0));
	if (!in.failed)
		put(&in, hal_add_float32(m->b, fb_f32(&m->op->options, SOFTMAX_BETA, 0), m->err));
	return finish_operation(m, type, &in);
}

static int map_binary(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	int32_t act = 0;

	if (activation(m, BINARY_ACTIVATION, &act))
		return -1;
	put(&in, input_operand(m, 0));
	if (!in.failed)
		put(&in, input_operand(m, 1));
	put_int32(m, &in, act);
	return finish_operation(m, type, &in);
}

static int map_unary(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put(&in, input_operand(m, 0));
	return finish_operation(m, type, &in);
}

static int map_concatenation(struct mapper *m, uint32_t type)
{
	static const uint32_t activations[] = {
		[NNHAL_FUSED_RELU] = NNHAL_OPERATION_RELU,
		[NNHAL_FUSED_RELU1] = NNHAL_OPERATION_RELU1,
		[NNHAL_FUSED_RELU6] = NNHAL_OPERATION_RELU6,
	};
	int32_t axis = fb_i32(&m->op->options, CONCATENATION_AXIS, 0);
	uint32_t count = m->op->inputs.count;
	struct nnhal_operand operand;
	struct shape shape;
	int *inputs;
	int output, joined;
	int32_t act = 0;
	uint32_t i;

	if (activation(m, CONCATENATION_ACTIVATION, &act) || !output_tensor(m, 0) ||
	    describe_tensor(m, output_tensor(m, 0), &operand, &shape))
		return -1;
	if (axis < -(int32_t)shape.rank || axis >= (int32_t)shape.rank)
		return map_fail(m, "axis %" PRId32 " of tensors of rank %" PRIu32, axis,
				shape.rank);
	if (axis < 0)
		axis += (int32_t)shape.rank;
	inputs = hal_alloc(m->b, (size_t)count + 1, sizeof(*inputs), m->err);
	if (!inputs)
		return -1;
	for (i = 0; i < count; i++) {
		inputs[i] = input_operand(m, i);
		if (inputs[i] < 0)
			return -1;
	}
	inputs[count] = hal_add_int32(m->b, axis, m->err);
	output = inputs[count] < 0 ? -1 : output_operand(m, 0);
	if (output < 0)
		return -1;
	if (act == NNHAL_FUSED_NONE)
		return add_operation(m, type, inputs, count + 1, output);
	/* CONCATENATION of the HAL has no fused activation. */
	joined = temporary_operand(m, (uint32_t)output, &shape);
	if (joined < 0 || add_operation(m, type, inputs, count + 1, joined))
		return -1;
	return add_operation(m, activations[act], &joined, 1, output);
}

static int map_quantize(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	struct inputs in = { .count = 0 };
	struct nnhal_operand operand;
	struct shape shape;
	int value;

	put(&in, input_operand(m, 0));
	if (in.failed || !input)
		return -1;
	if (is_float(input))
		return finish_operation(m, type, &in);
	/* Requantization: the HAL has QUANTIZE from float only. */
	if (describe_tensor(m, input, &operand, &shape))
		return -1;
	value = float_operand(m, &shape);
	if (value < 0 ||
	    add_operation(m, NNHAL_OPERATION_DEQUANTIZE, in.list, in.count, value))
		return -1;
	in = (struct inputs){ .count = 0 };
	put(&in, value);
	return finish_operation(m, type, &in);
}

static int map_dequantize(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	struct inputs in = { .count = 0 };

	if (!input)
		return map_fail(m, "input 0 is missing");
	put(&in, input_operand(m, 0));
	/* DEQUANTIZE of float16 weights is a change of type, which is CAST in the HAL. */
	if (input->type == TFLITE_FLOAT16)
		type = NNHAL_OPERATION_CAST;
	return finish_operation(m, type, &in);
}

/* Operators with a mapping. */
static const struct rule {
	int32_t code;
	uint32_t type;
	uint32_t min_inputs;
	uint32_t max_inputs;
	uint8_t options;
	bool needs_options;
	int (*map)(struct mapper *m, uint32_t type);
} rules[] = {
	{ TFLITE_ADD, NNHAL_OPERATION_ADD, 2, 2, TFLITE_ADD_OPTIONS, false, map_binary },
	{ TFLITE_AVERAGE_POOL_2D, NNHAL_OPERATION_AVERAGE_POOL_2D, 1, 1, TFLITE_POOL_2D_OPTIONS,
	  true, map_pool_2d },
	{ TFLITE_CONCATENATION, NNHAL_OPERATION_CONCATENATION, 1, 65535,
	  TFLITE_CONCATENATION_OPTIONS, true, map_concatenation },
	{ TFLITE_CONV_2D, NNHAL_OPERATION_CONV_2D, 2, 3, TFLITE_CONV_2D_OPTIONS, true,
	  map_conv_2d },
	{ TFLITE_DEPTHWISE_CONV_2D, NNHAL_OPERATION_DEPTHWISE_CONV_2D, 2, 3,
	  TFLITE_DEPTHWISE_CONV_2D_OPTIONS, true, map_depthwise_conv_2d },
	{ TFLITE_DEQUANTIZE, NNHAL_OPERATION_DEQUANTIZE, 1, 1, TFLITE_NO_OPTIONS, false,
	  map_dequantize },
	{ TFLITE_FULLY_CONNECTED, NNHAL_OPERATION_FULLY_CONNECTED, 2, 3,
	  TFLITE_FULLY_CONNECTED_OPTIONS, true, map_fully_connected },
	{ TFLITE_LOGISTIC, NNHAL_OPERATION_LOGISTIC, 1, 1, TFLITE_NO_OPTIONS, false, map_unary },
	{ TFLITE_MAX_POOL_2D, NNHAL_OPERATION_MAX_POOL_2D, 1, 1, TFLITE_POOL_2D_OPTIONS, true,
	  map_pool_2d },
	{ TFLITE_MUL, NNHAL_OPERATION_MUL, 2, 2, TFLITE_MUL_OPTIONS, false, map_binary },
	{ TFLITE_RELU, NNHAL_OPERATION_RELU, 1, 1, TFLITE_NO_OPTIONS, false, map_unary },
	{ TFLITE_RELU_N1_TO_1, NNHAL_OPERATION_RELU1, 1, 1, TFLITE_NO_OPTIONS, false, map_unary },
	{ TFLITE_RELU6, NNHAL_OPERATION_RELU6, 1, 1, TFLITE_NO_OPTIONS, false, map_unary },
	{ TFLITE_RESHAPE, NNHAL_OPERATION_RESHAPE, 1, 2, TFLITE_RESHAPE_OPTIONS, false,
	  map_reshape },
	{ TFLITE_SOFTMAX, NNHAL_OPERATION_SOFTMAX, 1, 1, TFLITE_SOFTMAX_OPTIONS, true,
	  map_softmax },
	{ TFLITE_TANH, NNHAL_OPERATION_TANH, 1, 1, TFLITE_NO_OPTIONS, false, map_unary },
	{ TFLITE_QUANTIZE, NNHAL_OPERATION_QUANTIZE, 1, 1, TFLITE_NO_OPTIONS, false,
	  map_quantize },
};

static int unknown_operator(struct mapper *m)
{
	const struct tflite_tensor *output = output_tensor(m, 0);
	const char *name = output ? TEXT(output->name) : "";

	switch (m->op->code) {
	case TFLITE_CUSTOM:
		return map_fail(m, "custom operator '%s' (output tensor '%s') is not supported",
				TEXT(m->op->custom_name), name);
	case TFLITE_IF:
	case TFLITE_WHILE:
	case TFLITE_CALL:
	case TFLITE_CALL_ONCE:
		return map_fail(m, "it runs other subgraphs (the file has %" PRIu32 "), and only "
				"the main one is supported: no control flow",
				m->tflite->num_subgraphs);
	default:
		return map_fail(m, "this operator (output tensor '%s') is not supported by nnrun",
				name);
	}
}

int map_operator(struct mapper *m)
{
	const struct tflite_operator *op = m->op;
	const struct rule *rule = NULL;
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(rules) && !rule; i++)
		if (rules[i].code == op->code)
			rule = &rules[i];
	if (!rule)
		return unknown_operator(m);
	if (op->inputs.count < rule->min_inputs || op->inputs.count > rule->max_inputs)
		return map_fail(m, "%" PRIu32 " inputs, expected %" PRIu32 " to %" PRIu32,
				op->inputs.count, rule->min_inputs, rule->max_inputs);
	if (op->outputs.count != 1)
		return map_fail(m, "%" PRIu32 " outputs, expected 1", op->outputs.count);
	if (rule->needs_options && !op->options.present)
		return map_fail(m, "its options are missing");
	if (rule->options != TFLITE_NO_OPTIONS && op->options.present &&
	    op->options_type != rule->options)
		return map_fail(m, "options of type %u, expected %u", op->options_type,
				rule->options);
	ret = rule->map(m, rule->type);
	if (fb_failed(&m->tflite->reader))
		return -1;
	return ret;
}
