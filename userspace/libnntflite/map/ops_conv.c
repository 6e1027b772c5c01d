// SPDX-License-Identifier: MIT
/*
 * Convolutions and pools.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "map_ops.h"
#include "map_table.h"

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

/* Implicit padding schemes of the HAL. */
#define HAL_PADDING_SAME	1
#define HAL_PADDING_VALID	2

static int padding(struct mapper *m, unsigned int slot, int32_t *value)
{
	int8_t scheme = fb_i8(&m->options, slot, 0);

	if (scheme != 0 && scheme != 1)
		return map_fail(m, "unknown padding %d", scheme);
	*value = scheme == 0 ? HAL_PADDING_SAME : HAL_PADDING_VALID;
	return 0;
}

/* Check what CONV_2D and DEPTHWISE_CONV_2D have in common. */
static int check_conv(struct mapper *m, uint32_t channel_dim)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	const struct tflite_tensor *filter = input_tensor(m, 1);
	const struct shape *in_shape, *filter_shape;

	if (!input || !filter)
		return map_fail(m, "input or filter is missing");
	in_shape = tensor_shape(m, input);
	filter_shape = tensor_shape(m, filter);
	if (in_shape->rank != 4 || filter_shape->rank != 4)
		return map_fail(m, "input of rank %" PRIu32 " and filter of rank %" PRIu32
				", both must be 4", in_shape->rank, filter_shape->rank);
	if (!filter_shape->dims[channel_dim])
		return tensor_fail(m, filter, "size %" PRIu32 " of the filter, its number of"
				   " output channels, is not known", channel_dim);
	return 0;
}

/* Put the first operands. */
static int conv_tensors(struct mapper *m, uint32_t channel_dim, struct inputs *in)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	const struct tflite_tensor *filter = input_tensor(m, 1);
	uint32_t channels = tensor_shape(m, filter)->dims[channel_dim];
	int first, second;

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
	put(in, bias_operand(m, 2, channels, first, second));
	return in->failed ? -1 : 0;
}

/* CONV_2D with a filter for part of the input channels is GROUPED_CONV_2D in the HAL. */
static int conv_groups(struct mapper *m, int32_t *groups)
{
	uint32_t input = tensor_shape(m, input_tensor(m, 0))->dims[3];
	uint32_t filter = tensor_shape(m, input_tensor(m, 1))->dims[3];

	*groups = 1;
	/* Where one of them is not known, the device finds out whether they are equal. */
	if (filter == input || !filter || !input)
		return 0;
	if (input % filter != 0)
		return map_fail(m, "filter of %" PRIu32 " input channels for an input of %" PRIu32,
				filter, input);
	*groups = (int32_t)(input / filter);
	return 0;
}

int map_conv_2d(struct mapper *m, uint32_t type)
{
	const struct fb_table *options = &m->options;
	int32_t dilation_w = fb_i32(options, CONV_DILATION_W, 1);
	int32_t dilation_h = fb_i32(options, CONV_DILATION_H, 1);
	struct inputs in = { .count = 0 };
	int32_t pad = 0, act = 0, groups = 1;

	if (check_conv(m, 0) || conv_groups(m, &groups))
		return -1;
	/* The HAL's grouped convolution has no dilation. */
	if (groups > 1 && (dilation_w != 1 || dilation_h != 1))
		return map_extension(m, op_table[TFLITE_CONV_2D].fields);
	if (conv_tensors(m, 0, &in) || padding(m, CONV_PADDING, &pad) ||
	    fused_activation(m, CONV_ACTIVATION, &act))
		return -1;
	put_int32(m, &in, pad);
	put_int32(m, &in, fb_i32(options, CONV_STRIDE_W, 0));
	put_int32(m, &in, fb_i32(options, CONV_STRIDE_H, 0));
	if (groups > 1) {
		put_int32(m, &in, groups);
		put_int32(m, &in, act);
		put(&in, hal_add_bool(m->g, false, m->diag));
		return finish_operation(m, NNHAL_OPERATION_GROUPED_CONV_2D, &in);
	}
	put_int32(m, &in, act);
	if (dilation_w != 1 || dilation_h != 1) {
		put(&in, hal_add_bool(m->g, false, m->diag));
		put_int32(m, &in, dilation_w);
		put_int32(m, &in, dilation_h);
	}
	return finish_operation(m, type, &in);
}

int map_depthwise_conv_2d(struct mapper *m, uint32_t type)
{
	const struct fb_table *options = &m->options;
	int32_t dilation_w = fb_i32(options, DEPTHWISE_DILATION_W, 1);
	int32_t dilation_h = fb_i32(options, DEPTHWISE_DILATION_H, 1);
	int32_t multiplier = fb_i32(options, DEPTHWISE_MULTIPLIER, 0);
	struct inputs in = { .count = 0 };
	const struct shape *in_shape;
	int32_t pad = 0, act = 0;

	if (check_conv(m, 3) || conv_tensors(m, 3, &in) || padding(m, DEPTHWISE_PADDING, &pad) ||
	    fused_activation(m, DEPTHWISE_ACTIVATION, &act))
		return -1;
	/* Some converters omit it; the shapes tell. */
	in_shape = tensor_shape(m, input_tensor(m, 0));
	if (multiplier == 0 && in_shape->dims[3])
		multiplier = (int32_t)(tensor_shape(m, input_tensor(m, 1))->dims[3] /
				       in_shape->dims[3]);
	put_int32(m, &in, pad);
	put_int32(m, &in, fb_i32(options, DEPTHWISE_STRIDE_W, 0));
	put_int32(m, &in, fb_i32(options, DEPTHWISE_STRIDE_H, 0));
	put_int32(m, &in, multiplier);
	put_int32(m, &in, act);
	if (dilation_w != 1 || dilation_h != 1) {
		put(&in, hal_add_bool(m->g, false, m->diag));
		put_int32(m, &in, dilation_w);
		put_int32(m, &in, dilation_h);
	}
	return finish_operation(m, type, &in);
}

int map_pool_2d(struct mapper *m, uint32_t type)
{
	const struct fb_table *options = &m->options;
	struct inputs in = { .count = 0 };
	int32_t pad = 0, act = 0;

	if (padding(m, POOL_PADDING, &pad) || fused_activation(m, POOL_ACTIVATION, &act))
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
