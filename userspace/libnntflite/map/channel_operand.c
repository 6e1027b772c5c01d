// SPDX-License-Identifier: MIT
/*
 * Tensors of type int8 with a scale for each channel.
 */
#include <inttypes.h>

#include "mapper.h"

/* The type, scales and dimensions of such a tensor, whose data has been checked, if it has any. */
static int describe_channels(struct mapper *m, const struct tflite_tensor *tensor,
			     const struct shape *shape, uint32_t channel_dim,
			     struct nnhal_operand *operand)
{
	uint32_t i, num_scales = tensor->scales.count, count = shape->dims[channel_dim];
	float *scales;

	/* All scales of a model together are limited, and so is the time for the loops below. */
	scales = hal_alloc(m->b, count, sizeof(*scales), m->diag);
	if (!scales)
		return -1;
	for (i = 0; i < tensor->zero_points.count; i++)
		if (fb_vector_i64(&tensor->zero_points, i) != 0)
			return tensor_fail(m, tensor, "zero point %" PRId64 " is not 0, as that of"
					   " int8 weights has to be",
					   fb_vector_i64(&tensor->zero_points, i));
	for (i = 0; i < count; i++) {
		scales[i] = fb_vector_f32(&tensor->scales, num_scales == 1 ? 0 : i);
		if (check_scale(m, tensor, scales[i]))
			return -1;
	}
	*operand = (struct nnhal_operand){
		.type = NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL,
		.num_dimensions = shape->rank,
		.dimensions = shape->dims,
	};
	operand->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
	operand->extra_params.channel_quant = (struct nnhal_channel_quant){
		.scales = scales, .num_scales = count, .channel_dim = channel_dim,
	};
	return 0;
}

static int check_channels(struct mapper *m, const struct tflite_tensor *tensor,
			  const struct shape *shape, uint32_t channel_dim)
{
	uint32_t count, num_scales = tensor->scales.count;

	if (tensor->custom_quantization)
		return tensor_fail(m, tensor, "custom quantization is not supported");
	if (channel_dim >= shape->rank)
		return tensor_fail(m, tensor, "rank %" PRIu32 " is too small for a filter",
				   tensor->rank);
	count = shape->dims[channel_dim];
	if (num_scales != 1 && num_scales != count)
		return tensor_fail(m, tensor, "%" PRIu32 " quantization scales for %" PRIu32
				   " channels", num_scales, count);
	if (num_scales > 1 && tensor->quantized_dim != (int32_t)channel_dim)
		return tensor_fail(m, tensor, "quantized along dimension %" PRId32
				   ", only %" PRIu32 " is supported here", tensor->quantized_dim,
				   channel_dim);
	/* Operators may share the list: no more of it is read than there are channels. */
	if (tensor->zero_points.count > num_scales)
		return tensor_fail(m, tensor, "%" PRIu32 " quantization zero points for %" PRIu32
				   " scales", tensor->zero_points.count, num_scales);
	return 0;
}

int filter_operand(struct mapper *m, uint32_t pos, uint32_t channel_dim)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	const struct shape *shape = tensor_shape(m, tensor);
	struct nnhal_operand operand;
	const uint8_t *data;
	size_t bytes;

	if (check_channels(m, tensor, shape, channel_dim))
		return -1;
	/* The data is checked first so that a wild shape asks for no memory. */
	data = checked_data(m, tensor, &bytes);
	if (!data || describe_channels(m, tensor, shape, channel_dim, &operand))
		return -1;
	return hal_add_pooled(m->g, &operand, data, bytes, tensor_index(m, tensor), m->diag);
}

int describe_input(struct mapper *m, const struct tflite_tensor *tensor,
		   struct nnhal_operand *operand, struct shape *shape)
{
	if (tensor->type != TFLITE_INT8 || tensor->scales.count <= 1)
		return describe_tensor(m, tensor, operand, shape);
	*shape = *tensor_shape(m, tensor);
	if (tensor->quantized_dim < 0)
		return tensor_fail(m, tensor, "quantized along dimension %" PRId32,
				   tensor->quantized_dim);
	/* There are as many channels as the file has scales. */
	if (check_channels(m, tensor, shape, (uint32_t)tensor->quantized_dim) ||
	    check_size(m, tensor, shape))
		return -1;
	return describe_channels(m, tensor, shape, (uint32_t)tensor->quantized_dim, operand);
}

bool takes_channels(const struct mapper *m)
{
	if (!m->op)
		return false;
	switch (m->op->code) {
	case TFLITE_CONV_2D:
	case TFLITE_DEPTHWISE_CONV_2D:
	case TFLITE_TRANSPOSE_CONV:
	case TFLITE_DEQUANTIZE:
		return true;
	default:
		return false;
	}
}
