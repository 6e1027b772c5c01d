// SPDX-License-Identifier: MIT
/*
 * Convolutions and fully connected layers as XNNPACK's operators.
 */
#include "reference_source.h"

/* Window scalars: of a convolution from operand 3 on, of a pooling from 1 on. */
struct window {
	uint32_t flags;
	uint32_t stride_x, stride_y;
	uint32_t dilation_x, dilation_y;
	uint32_t taps_x, taps_y;
	uint32_t groups, group_in, group_out;
	uint32_t y, x, in, out;		/* size of the image, channels */
	uint32_t batch;
	int32_t activation;
};

/* Of CONV_2D and DEPTHWISE_CONV_2D; false for a form that is not known. */
static bool conv_window(const struct source *s, bool depthwise, struct window *w)
{
	const uint32_t *filter = operand(s, 1)->dimensions, *in = operand(s, 0)->dimensions;
	/* Behind the activation may be the layout and the dilations. */
	uint32_t scalars = depthwise ? 8 : 7;
	bool dilated = s->op->num_inputs == scalars + 3;

	if ((s->op->num_inputs != scalars && !dilated) || (dilated && flag(s, scalars)) ||
	    (depthwise && scalar(s, 6) != 1) || !are_fixed(s, 1, 2))
		return false;
	*w = (struct window){
		.flags = scalar(s, 3) == PADDING_SAME ? XNN_FLAG_TENSORFLOW_SAME_PADDING : 0,
		.stride_x = (uint32_t)scalar(s, 4),
		.stride_y = (uint32_t)scalar(s, 5),
		.dilation_x = dilated ? (uint32_t)scalar(s, scalars + 1) : 1,
		.dilation_y = dilated ? (uint32_t)scalar(s, scalars + 2) : 1,
		.taps_y = filter[1],
		.taps_x = filter[2],
		.groups = depthwise ? in[3] : 1,
		.group_in = depthwise ? 1 : in[3],
		.group_out = depthwise ? 1 : filter[0],
		.y = in[1],
		.x = in[2],
		.in = in[3],
		.out = depthwise ? in[3] : filter[0],
		.batch = in[0],
		.activation = scalar(s, depthwise ? 7 : 6),
	};
	if (depthwise)
		w->flags |= XNN_FLAG_DEPTHWISE_CONVOLUTION;
	return true;
}

#define CONV_GEOMETRY(w) \
	0, 0, 0, 0, (w).taps_y, (w).taps_x, (w).stride_y, (w).stride_x, \
	(w).dilation_y, (w).dilation_x, (w).groups, \
	(w).group_in, (w).group_out, (w).in, (w).out

int add_convolution(const struct source *s, bool depthwise)
{
	const struct nnhal_operand *in = operand(s, 0), *filter = operand(s, 1), *out = result(s);
	xnn_operator_t *op = &s->layer->op;
	float low, high;
	struct window w;
	int min, max;

	if (!conv_window(s, depthwise, &w))
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(w.activation, &low, &high);
		return check(s, xnn_create_convolution2d_nhwc_f32(CONV_GEOMETRY(w), value(s, 1),
								  value(s, 2), low, high,
								  w.flags, op)) ||
		       check(s, xnn_setup_convolution2d_nhwc_f32(*op, w.batch, w.y, w.x, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	}
	if (!is_byte(in->type))
		return unsupported(s);
	quant_range(out, w.activation, &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_convolution2d_nhwc_qu8(CONV_GEOMETRY(w),
					(uint8_t)in->zero_point, in->scale,
					(uint8_t)filter->zero_point, filter->scale, value(s, 1),
					value(s, 2), (uint8_t)out->zero_point, out->scale,
					(uint8_t)min, (uint8_t)max, w.flags, op)) ||
		       check(s, xnn_setup_convolution2d_nhwc_qu8(*op, w.batch, w.y, w.x, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	if (filter->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return check(s, xnn_create_convolution2d_nhwc_qc8(CONV_GEOMETRY(w),
					(int8_t)in->zero_point, in->scale,
					filter->extra_params.channel_quant.scales, value(s, 1),
					value(s, 2), (int8_t)out->zero_point, out->scale,
					(int8_t)min, (int8_t)max, w.flags, op)) ||
		       check(s, xnn_setup_convolution2d_nhwc_qc8(*op, w.batch, w.y, w.x, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	if (filter->zero_point)
		return unsupported(s);
	return check(s, xnn_create_convolution2d_nhwc_qs8(CONV_GEOMETRY(w),
				(int8_t)in->zero_point, in->scale, filter->scale, value(s, 1),
				value(s, 2), (int8_t)out->zero_point, out->scale, (int8_t)min,
				(int8_t)max, w.flags, op)) ||
	       check(s, xnn_setup_convolution2d_nhwc_qs8(*op, w.batch, w.y, w.x, value(s, 0),
							 result_value(s), NULL)) ? -1 : 0;
}

int add_fully_connected(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *weights = operand(s, 1), *out = result(s);
	size_t units = weights->dimensions[0], size = weights->dimensions[1];
	size_t rows = operand_elements(in) / size;
	xnn_operator_t *op = &s->layer->op;
	float low, high;
	int min, max;

	if (!are_fixed(s, 1, 2))
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(scalar(s, 3), &low, &high);
		return check(s, xnn_create_fully_connected_nc_f32(size, units, size, units,
								  value(s, 1), value(s, 2), low,
								  high, 0, op)) ||
		       check(s, xnn_setup_fully_connected_nc_f32(*op, rows, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	}
	if (!is_byte(in->type))
		return unsupported(s);
	quant_range(out, scalar(s, 3), &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_fully_connected_nc_qu8(size, units, size, units,
					(uint8_t)in->zero_point, in->scale,
					(uint8_t)weights->zero_point, weights->scale, value(s, 1),
					value(s, 2), (uint8_t)out->zero_point, out->scale,
					(uint8_t)min, (uint8_t)max, 0, op)) ||
		       check(s, xnn_setup_fully_connected_nc_qu8(*op, rows, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	if (weights->zero_point)
		return unsupported(s);
	return check(s, xnn_create_fully_connected_nc_qs8(size, units, size, units,
				(int8_t)in->zero_point, in->scale, weights->scale, value(s, 1),
				value(s, 2), (int8_t)out->zero_point, out->scale, (int8_t)min,
				(int8_t)max, 0, op)) ||
	       check(s, xnn_setup_fully_connected_nc_qs8(*op, rows, value(s, 0), result_value(s),
							 NULL)) ? -1 : 0;
}

