// SPDX-License-Identifier: MIT
/*
 * The operations of a HAL model as XNNPACK's operators.
 *
 * Only the forms are known that libnntflite makes: channels last, implicit padding.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xnnpack.h>

#include "reference_layers.h"
#include "userspace/tools/common/clock.h"

/* Padding scheme SAME of the HAL. */
#define PADDING_SAME	1

struct layer {
	enum { LAYER_OPERATOR, LAYER_COPY, LAYER_FLIPPED, LAYER_NONE } kind;
	xnn_operator_t op;
	xnn_operator_t second;		/* runs after the first, or NULL */
	/*
	 * LAYER_COPY; LAYER_FLIPPED: signed bytes through an operator for unsigned ones.
	 * LAYER_NONE: there is nothing to do, all was known before.
	 */
	const uint8_t *from;
	uint8_t *to;
	uint8_t *flipped;
	size_t bytes;
};

struct layers {
	const struct nntflite_model *model;
	const uint8_t *pool;
	void **values;			/* by operand: constants in place, others owned */
	struct layer *layers;
	uint32_t count;
};

/* An operation being turned into a layer. */
struct source {
	struct layers *l;
	const struct nnhal_operation *op;
	uint32_t index;
	struct layer *layer;
	struct error *err;
};

static const struct nnhal_operand *operand(const struct source *s, uint32_t input)
{
	return &nntflite_model_get_hal(s->l->model)->main.operands[s->op->inputs[input]];
}

static const struct nnhal_operand *result(const struct source *s)
{
	return &nntflite_model_get_hal(s->l->model)->main.operands[s->op->outputs[0]];
}

static void *value(const struct source *s, uint32_t input)
{
	return s->l->values[s->op->inputs[input]];
}

static void *result_value(const struct source *s)
{
	return s->l->values[s->op->outputs[0]];
}

static int32_t scalar(const struct source *s, uint32_t input)
{
	int32_t v;

	memcpy(&v, value(s, input), sizeof(v));
	return v;
}

static bool flag(const struct source *s, uint32_t input)
{
	return *(const uint8_t *)value(s, input);
}

static bool is_const(const struct nnhal_operand *o)
{
	return o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static size_t elements(const struct nnhal_operand *o)
{
	size_t n = 1;

	for (uint32_t i = 0; i < o->num_dimensions; i++)
		n *= o->dimensions[i];
	return n;
}

static size_t bytes_of(const struct nnhal_operand *o)
{
	return elements(o) * (o->type == NNHAL_OPERAND_TENSOR_FLOAT32 ? sizeof(float) : 1);
}

/* Output limits of a fused activation. */

static void float_range(int32_t activation, float *min, float *max)
{
	*min = activation == NNHAL_FUSED_NONE ? -INFINITY :
	       activation == NNHAL_FUSED_RELU1 ? -1.0f : 0.0f;
	*max = activation == NNHAL_FUSED_RELU1 ? 1.0f :
	       activation == NNHAL_FUSED_RELU6 ? 6.0f : INFINITY;
}

static int quantized(const struct nnhal_operand *o, float v, int lowest, int highest)
{
	float q = roundf(v / o->scale) + (float)o->zero_point;

	return q < (float)lowest ? lowest : q > (float)highest ? highest : (int)q;
}

static void quant_range(const struct nnhal_operand *o, int32_t activation, int *min, int *max)
{
	int lowest = o->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ? 0 : -128;
	float low, high;

	float_range(activation, &low, &high);
	*min = quantized(o, low, lowest, lowest + 255);
	*max = quantized(o, high, lowest, lowest + 255);
}

static int unsupported(const struct source *s)
{
	return fail(s->err, "operation %" PRIu32 " (%s): XNNPACK has no operator for this form",
		    s->index, nnhal_operation_type_name(s->op->type));
}

static int check(const struct source *s, enum xnn_status status)
{
	if (status == xnn_status_success)
		return 0;
	return fail(s->err, "operation %" PRIu32 " (%s): XNNPACK refuses it, status %d", s->index,
		    nnhal_operation_type_name(s->op->type), (int)status);
}

/* Window scalars: of a convolution from operand 3 on, of a pooling from 1 on. */
struct window {
	uint32_t flags;
	uint32_t stride_x, stride_y;
	uint32_t dilation_x, dilation_y;
	uint32_t taps_x, taps_y;
	uint32_t groups, group_in, group_out;
	uint32_t y, x, in, out;		/* size of the image, channels */
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
	    (depthwise && scalar(s, 6) != 1) || in[0] != 1)
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

static int add_convolution(const struct source *s, bool depthwise)
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
		       check(s, xnn_setup_convolution2d_nhwc_f32(*op, 1, w.y, w.x, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	}
	quant_range(out, w.activation, &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_convolution2d_nhwc_qu8(CONV_GEOMETRY(w),
					(uint8_t)in->zero_point, in->scale,
					(uint8_t)filter->zero_point, filter->scale, value(s, 1),
					value(s, 2), (uint8_t)out->zero_point, out->scale,
					(uint8_t)min, (uint8_t)max, w.flags, op)) ||
		       check(s, xnn_setup_convolution2d_nhwc_qu8(*op, 1, w.y, w.x, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	if (filter->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return check(s, xnn_create_convolution2d_nhwc_qc8(CONV_GEOMETRY(w),
					(int8_t)in->zero_point, in->scale,
					filter->extra_params.channel_quant.scales, value(s, 1),
					value(s, 2), (int8_t)out->zero_point, out->scale,
					(int8_t)min, (int8_t)max, w.flags, op)) ||
		       check(s, xnn_setup_convolution2d_nhwc_qc8(*op, 1, w.y, w.x, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	if (filter->zero_point)
		return unsupported(s);
	return check(s, xnn_create_convolution2d_nhwc_qs8(CONV_GEOMETRY(w),
				(int8_t)in->zero_point, in->scale, filter->scale, value(s, 1),
				value(s, 2), (int8_t)out->zero_point, out->scale, (int8_t)min,
				(int8_t)max, w.flags, op)) ||
	       check(s, xnn_setup_convolution2d_nhwc_qs8(*op, 1, w.y, w.x, value(s, 0),
							 result_value(s), NULL)) ? -1 : 0;
}

static int add_fully_connected(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *weights = operand(s, 1), *out = result(s);
	size_t units = weights->dimensions[0], size = weights->dimensions[1];
	size_t rows = elements(in) / size;
	xnn_operator_t *op = &s->layer->op;
	float low, high;
	int min, max;

	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(scalar(s, 3), &low, &high);
		return check(s, xnn_create_fully_connected_nc_f32(size, units, size, units,
								  value(s, 1), value(s, 2), low,
								  high, 0, op)) ||
		       check(s, xnn_setup_fully_connected_nc_f32(*op, rows, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
	}
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

/* Only over the whole image, which is how classifiers end. */
static int add_average_pool(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	const uint32_t *dims = in->dimensions;
	size_t channels = dims[3], pixels = (size_t)dims[1] * dims[2];
	xnn_operator_t *op = &s->layer->op;
	float low, high;
	int min, max;

	if (s->op->num_inputs != 7 || dims[0] != 1 || out->dimensions[1] != 1 ||
	    out->dimensions[2] != 1 || (uint32_t)scalar(s, 4) < dims[2] ||
	    (uint32_t)scalar(s, 5) < dims[1])
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(scalar(s, 6), &low, &high);
		return check(s, xnn_create_global_average_pooling_nwc_f32(channels, channels,
									  channels, low, high, 0,
									  op)) ||
		       check(s, xnn_setup_global_average_pooling_nwc_f32(*op, 1, pixels,
									 value(s, 0),
									 result_value(s),
									 NULL)) ? -1 : 0;
	}
	quant_range(out, scalar(s, 6), &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_global_average_pooling_nwc_qu8(channels, channels,
					channels, (uint8_t)in->zero_point, in->scale,
					(uint8_t)out->zero_point, out->scale, (uint8_t)min,
					(uint8_t)max, 0, op)) ||
		       check(s, xnn_setup_global_average_pooling_nwc_qu8(*op, 1, pixels,
									 value(s, 0),
									 result_value(s),
									 NULL)) ? -1 : 0;
	return check(s, xnn_create_global_average_pooling_nwc_qs8(channels, channels, channels,
				(int8_t)in->zero_point, in->scale, (int8_t)out->zero_point,
				out->scale, (int8_t)min, (int8_t)max, 0, op)) ||
	       check(s, xnn_setup_global_average_pooling_nwc_qs8(*op, 1, pixels, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
}

#define POOL_GEOMETRY(s, channels) \
	0, 0, 0, 0, (uint32_t)scalar(s, 5), (uint32_t)scalar(s, 4), (uint32_t)scalar(s, 3), \
	(uint32_t)scalar(s, 2), 1, 1, channels, channels, channels

static int add_max_pool(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	const uint32_t *dims = in->dimensions;
	xnn_operator_t *op = &s->layer->op;
	uint32_t flags;
	float low, high;
	int min, max;

	if (s->op->num_inputs != 7 || dims[0] != 1)
		return unsupported(s);
	flags = scalar(s, 1) == PADDING_SAME ? XNN_FLAG_TENSORFLOW_SAME_PADDING : 0;
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float_range(scalar(s, 6), &low, &high);
		return check(s, xnn_create_max_pooling2d_nhwc_f32(POOL_GEOMETRY(s, dims[3]), low,
								  high, flags, op)) ||
		       check(s, xnn_setup_max_pooling2d_nhwc_f32(*op, 1, dims[1], dims[2],
								 value(s, 0), result_value(s),
								 NULL)) ? -1 : 0;
	}
	quant_range(out, scalar(s, 6), &min, &max);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_max_pooling2d_nhwc_u8(POOL_GEOMETRY(s, dims[3]),
								 (uint8_t)min, (uint8_t)max,
								 flags, op)) ||
		       check(s, xnn_setup_max_pooling2d_nhwc_u8(*op, 1, dims[1], dims[2],
								value(s, 0), result_value(s),
								NULL)) ? -1 : 0;
	return check(s, xnn_create_max_pooling2d_nhwc_s8(POOL_GEOMETRY(s, dims[3]), (int8_t)min,
							 (int8_t)max, flags, op)) ||
	       check(s, xnn_setup_max_pooling2d_nhwc_s8(*op, 1, dims[1], dims[2], value(s, 0),
							result_value(s), NULL)) ? -1 : 0;
}

static int add_sum(const struct source *s)
{
	const struct nnhal_operand *a = operand(s, 0), *b = operand(s, 1), *out = result(s);
	size_t n = elements(out);
	xnn_operator_t *op = &s->layer->op;
	int min, max;

	if (elements(a) != n || elements(b) != n)
		return unsupported(s);
	if (a->type == NNHAL_OPERAND_TENSOR_FLOAT32) {
		float low, high;

		float_range(scalar(s, 2), &low, &high);
		return check(s, xnn_create_add_nd_f32(low, high, 0, op)) ||
		       check(s, xnn_setup_add_nd_f32(*op, 1, &n, 1, &n, value(s, 0), value(s, 1),
						     result_value(s), NULL)) ? -1 : 0;
	}
	if (a->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM) {
		quant_range(out, scalar(s, 2), &min, &max);
		return check(s, xnn_create_add_nd_qu8((uint8_t)a->zero_point, a->scale,
						      (uint8_t)b->zero_point, b->scale,
						      (uint8_t)out->zero_point, out->scale,
						      (uint8_t)min, (uint8_t)max, 0, op)) ||
		       check(s, xnn_setup_add_nd_qu8(*op, 1, &n, 1, &n, value(s, 0), value(s, 1),
						     result_value(s), NULL)) ? -1 : 0;
	}
	if (a->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED) {
		quant_range(out, scalar(s, 2), &min, &max);
		return check(s, xnn_create_add_nd_qs8((int8_t)a->zero_point, a->scale,
						      (int8_t)b->zero_point, b->scale,
						      (int8_t)out->zero_point, out->scale,
						      (int8_t)min, (int8_t)max, 0, op)) ||
		       check(s, xnn_setup_add_nd_qs8(*op, 1, &n, 1, &n, value(s, 0), value(s, 1),
						     result_value(s), NULL)) ? -1 : 0;
	}
	return unsupported(s);
}

static int add_softmax(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	size_t n = in->dimensions[in->num_dimensions - 1], rows = elements(in) / n;
	xnn_operator_t *op = &s->layer->op;
	float beta;

	memcpy(&beta, value(s, 1), sizeof(beta));
	if (s->op->num_inputs != 2 || beta != 1.0f)
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32)
		return check(s, xnn_create_softmax_nc_f32(n, n, n, 0, op)) ||
		       check(s, xnn_setup_softmax_nc_f32(*op, rows, value(s, 0), result_value(s),
							 NULL)) ? -1 : 0;
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_softmax_nc_qu8(n, n, n, in->scale, 0, out->scale, 0,
							  op)) ||
		       check(s, xnn_setup_softmax_nc_qu8(*op, rows, value(s, 0), result_value(s),
							 NULL)) ? -1 : 0;
	s->layer->kind = LAYER_FLIPPED;
	s->layer->from = value(s, 0);
	s->layer->to = result_value(s);
	s->layer->bytes = n * rows;
	s->layer->flipped = calloc(1, n * rows + XNN_EXTRA_BYTES);
	if (!s->layer->flipped)
		return fail(s->err, "out of memory");
	return check(s, xnn_create_softmax_nc_qu8(n, n, n, in->scale, 0, out->scale, 0, op)) ||
	       check(s, xnn_setup_softmax_nc_qu8(*op, rows, s->layer->flipped, result_value(s),
						 NULL)) ? -1 : 0;
}

/* Of floats, channels last, to a size in pixels. */
static int add_resize(const struct source *s)
{
	const uint32_t *in = operand(s, 0)->dimensions, *out = result(s)->dimensions;
	uint32_t inputs = s->op->num_inputs, flags = 0;
	xnn_operator_t *op = &s->layer->op;

	if (result(s)->type != NNHAL_OPERAND_TENSOR_FLOAT32 || inputs < 3 ||
	    operand(s, 1)->type != NNHAL_OPERAND_INT32 || (inputs > 3 && flag(s, 3)))
		return unsupported(s);
	if (inputs > 4 && flag(s, 4))
		flags = XNN_FLAG_ALIGN_CORNERS;
	else if (inputs < 6 || !flag(s, 5))
		flags = XNN_FLAG_TENSORFLOW_LEGACY_MODE;
	return check(s, xnn_create_resize_bilinear2d_nhwc_f32(in[3], in[3], in[3], flags, op)) ||
	       check(s, xnn_setup_resize_bilinear2d_nhwc_f32(*op, in[0], in[1], in[2], out[1], out[2],
							     value(s, 0), result_value(s), NULL)) ?
	       -1 : 0;
}

/* Of two float tensors along the last axis: a copy of each, as in XNNPACK's own graphs. */
static int add_concatenation(const struct source *s)
{
	const struct nnhal_operand *a = operand(s, 0), *b = operand(s, 1), *out = result(s);
	uint32_t last = out->num_dimensions - 1;
	size_t n = a->dimensions[last], m = b->dimensions[last], both = out->dimensions[last];
	size_t rows = elements(out) / both;
	struct layer *l = s->layer;

	if (s->op->num_inputs != 3 || (uint32_t)scalar(s, 2) != last ||
	    out->type != NNHAL_OPERAND_TENSOR_FLOAT32)
		return unsupported(s);
	return check(s, xnn_create_copy_nc_x32(n, n, both, 0, &l->op)) ||
	       check(s, xnn_setup_copy_nc_x32(l->op, rows, value(s, 0), result_value(s), NULL)) ||
	       check(s, xnn_create_copy_nc_x32(m, m, both, 0, &l->second)) ||
	       check(s, xnn_setup_copy_nc_x32(l->second, rows, value(s, 1),
					      (float *)result_value(s) + n, NULL)) ? -1 : 0;
}

/* Of constants, whose values operators want to have when they are made. */
static int add_dequantize(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0);
	const int8_t *from = value(s, 0);
	float *to = result_value(s);

	if (!is_const(in) || result(s)->type != NNHAL_OPERAND_TENSOR_FLOAT32 ||
	    (in->type != NNHAL_OPERAND_TENSOR_QUANT8_SYMM &&
	     in->type != NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED))
		return unsupported(s);
	for (size_t i = 0; i < elements(in); i++)
		to[i] = in->scale * (float)(from[i] - in->zero_point);
	s->layer->kind = LAYER_NONE;
	return 0;
}

static int add_layer(const struct source *s)
{
	switch (s->op->type) {
	case NNHAL_OPERATION_CONV_2D:
		return add_convolution(s, false);
	case NNHAL_OPERATION_DEPTHWISE_CONV_2D:
		return add_convolution(s, true);
	case NNHAL_OPERATION_FULLY_CONNECTED:
		return add_fully_connected(s);
	case NNHAL_OPERATION_AVERAGE_POOL_2D:
		return add_average_pool(s);
	case NNHAL_OPERATION_MAX_POOL_2D:
		return add_max_pool(s);
	case NNHAL_OPERATION_ADD:
		return add_sum(s);
	case NNHAL_OPERATION_SOFTMAX:
		return add_softmax(s);
	case NNHAL_OPERATION_RESIZE_BILINEAR:
		return add_resize(s);
	case NNHAL_OPERATION_CONCATENATION:
		return add_concatenation(s);
	case NNHAL_OPERATION_DEQUANTIZE:
		return add_dequantize(s);
	case NNHAL_OPERATION_RESHAPE:
		s->layer->kind = LAYER_COPY;
		s->layer->from = value(s, 0);
		s->layer->to = result_value(s);
		s->layer->bytes = bytes_of(result(s));
		return 0;
	}
	return unsupported(s);
}

static int make_values(struct layers *l, struct error *err)
{
	const struct nnhal_model *m = nntflite_model_get_hal(l->model);
	struct nnhal_diag diag = { "" };

	if (m->num_pools) {
		l->pool = nnhal_memory_map(m->pools[0], &diag);
		if (!l->pool)
			return fail(err, "constants: %s", diag.message);
	}
	for (uint32_t i = 0; i < nntflite_model_get_hal(l->model)->main.num_operands; i++) {
		const struct nnhal_operand *o = &nntflite_model_get_hal(l->model)->main.operands[i];

		if (o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY)
			l->values[i] = (uint8_t *)m->operand_values + o->location.offset;
		else if (o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE)
			l->values[i] = (uint8_t *)l->pool + o->location.offset;
		else
			l->values[i] = calloc(1, bytes_of(o) + XNN_EXTRA_BYTES);
		if (!l->values[i])
			return fail(err, "out of memory");
	}
	return 0;
}

struct layers *layers_create(const struct nntflite_model *model, struct error *err)
{
	const struct nnhal_subgraph *b = &nntflite_model_get_hal(model)->main;
	struct layers *l = calloc(1, sizeof(*l));

	if (!l || xnn_initialize(NULL) != xnn_status_success) {
		fail(err, "XNNPACK does not start");
		free(l);
		return NULL;
	}
	l->model = model;
	l->values = calloc(b->num_operands, sizeof(*l->values));
	l->layers = calloc(b->num_operations, sizeof(*l->layers));
	if (!l->values || !l->layers) {
		fail(err, "out of memory");
		layers_destroy(l);
		return NULL;
	}
	if (make_values(l, err)) {
		layers_destroy(l);
		return NULL;
	}
	for (; l->count < b->num_operations; l->count++) {
		struct source s = {
			.l = l,
			.op = &b->operations[l->count],
			.index = l->count,
			.layer = &l->layers[l->count],
			.err = err,
		};

		if (add_layer(&s)) {
			layers_destroy(l);
			return NULL;
		}
	}
	return l;
}

void layers_destroy(struct layers *l)
{
	for (uint32_t i = 0; l->layers && i < nntflite_model_get_hal(l->model)->main.num_operations; i++) {
		if (l->layers[i].op)
			xnn_delete_operator(l->layers[i].op);
		if (l->layers[i].second)
			xnn_delete_operator(l->layers[i].second);
		free(l->layers[i].flipped);
	}
	for (uint32_t i = 0; l->values && i < nntflite_model_get_hal(l->model)->main.num_operands; i++) {
		if (!is_const(&nntflite_model_get_hal(l->model)->main.operands[i]))
			free(l->values[i]);
	}
	free(l->values);
	free(l->layers);
	free(l);
}

void *layers_input(struct layers *l, size_t *bytes)
{
	*bytes = nntflite_model_input(l->model, 0)->bytes;
	return l->values[nntflite_model_get_hal(l->model)->main.input_indexes[0]];
}

const void *layers_output(struct layers *l, size_t *bytes)
{
	*bytes = nntflite_model_output(l->model, 0)->bytes;
	return l->values[nntflite_model_get_hal(l->model)->main.output_indexes[0]];
}

static void flip(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i] ^ 0x80;
}

static int run_layer(struct layer *layer)
{
	switch (layer->kind) {
	case LAYER_NONE:
		return 0;
	case LAYER_COPY:
		memcpy(layer->to, layer->from, layer->bytes);
		return 0;
	case LAYER_FLIPPED:
		flip(layer->flipped, layer->from, layer->bytes);
		break;
	case LAYER_OPERATOR:
		break;
	}
	if (xnn_run_operator(layer->op, NULL) != xnn_status_success ||
	    (layer->second && xnn_run_operator(layer->second, NULL) != xnn_status_success))
		return -1;
	if (layer->kind == LAYER_FLIPPED)
		flip(layer->to, layer->to, layer->bytes);
	return 0;
}

int layers_run(struct layers *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		if (run_layer(&l->layers[i]))
			return -1;
	}
	return 0;
}

int layers_time(struct layers *l, uint64_t *ns)
{
	for (uint32_t i = 0; i < l->count; i++) {
		uint64_t start = now_ns();

		if (run_layer(&l->layers[i]))
			return -1;
		ns[i] = now_ns() - start;
	}
	return 0;
}
