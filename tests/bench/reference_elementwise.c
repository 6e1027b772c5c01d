// SPDX-License-Identifier: MIT
/*
 * Operations on single elements, means and softmax as XNNPACK's operators.
 */
#include <math.h>
#include <stdlib.h>

#include "reference_source.h"

/* Sizes as XNNPACK takes them; false if there are too many. */
static bool sizes(const struct nnhal_operand *o, size_t *shape)
{
	if (o->num_dimensions > XNN_MAX_TENSOR_DIMS)
		return false;
	for (uint32_t i = 0; i < o->num_dimensions; i++)
		shape[i] = o->dimensions[i];
	return true;
}

static int add_float_binary(const struct source *s, uint32_t kind)
{
	const struct nnhal_operand *a = operand(s, 0), *b = operand(s, 1);
	size_t left[XNN_MAX_TENSOR_DIMS], right[XNN_MAX_TENSOR_DIMS];
	xnn_operator_t *op = &s->layer->op;
	float low = -INFINITY, high = INFINITY;

	if (!sizes(a, left) || !sizes(b, right))
		return unsupported(s);
	if (kind != EXTENSION_SQUARED_DIFFERENCE)
		float_range(scalar(s, 2), &low, &high);
#define FLOAT_BINARY(name, ...) \
	(check(s, xnn_create_##name##_nd_f32(__VA_ARGS__)) || \
	 check(s, xnn_setup_##name##_nd_f32(*op, a->num_dimensions, left, b->num_dimensions, \
					    right, value(s, 0), value(s, 1), result_value(s), \
					    NULL)) ? -1 : 0)
	switch (kind) {
	case NNHAL_OPERATION_ADD:
		return FLOAT_BINARY(add, low, high, 0, op);
	case NNHAL_OPERATION_SUB:
		return FLOAT_BINARY(subtract, low, high, 0, op);
	case NNHAL_OPERATION_MUL:
		return FLOAT_BINARY(multiply, low, high, 0, op);
	case NNHAL_OPERATION_DIV:
		return FLOAT_BINARY(divide, low, high, 0, op);
	default:
		return FLOAT_BINARY(squared_difference, 0, op);
	}
}

static int add_byte_binary(const struct source *s, uint32_t kind)
{
	const struct nnhal_operand *a = operand(s, 0), *b = operand(s, 1), *out = result(s);
	size_t left[XNN_MAX_TENSOR_DIMS], right[XNN_MAX_TENSOR_DIMS];
	xnn_operator_t *op = &s->layer->op;
	int min, max;

	if (!sizes(a, left) || !sizes(b, right))
		return unsupported(s);
	quant_range(out, scalar(s, 2), &min, &max);
#define BYTE_BINARY(name, suffix, type) \
	(check(s, xnn_create_##name##_nd_##suffix((type)a->zero_point, a->scale, \
						  (type)b->zero_point, b->scale, \
						  (type)out->zero_point, out->scale, (type)min, \
						  (type)max, 0, op)) || \
	 check(s, xnn_setup_##name##_nd_##suffix(*op, a->num_dimensions, left, b->num_dimensions, \
						 right, value(s, 0), value(s, 1), \
						 result_value(s), NULL)) ? -1 : 0)
	if (a->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return kind == NNHAL_OPERATION_ADD ? BYTE_BINARY(add, qu8, uint8_t) :
		       kind == NNHAL_OPERATION_SUB ? BYTE_BINARY(subtract, qu8, uint8_t) :
						     BYTE_BINARY(multiply, qu8, uint8_t);
	return kind == NNHAL_OPERATION_ADD ? BYTE_BINARY(add, qs8, int8_t) :
	       kind == NNHAL_OPERATION_SUB ? BYTE_BINARY(subtract, qs8, int8_t) :
					     BYTE_BINARY(multiply, qs8, int8_t);
}

int add_binary(const struct source *s, uint32_t kind)
{
	uint32_t type = operand(s, 0)->type;

	if (type == NNHAL_OPERAND_TENSOR_FLOAT32)
		return add_float_binary(s, kind);
	if (is_byte(type) && (kind == NNHAL_OPERATION_ADD || kind == NNHAL_OPERATION_SUB ||
			      kind == NNHAL_OPERATION_MUL))
		return add_byte_binary(s, kind);
	return unsupported(s);
}

int add_unary(const struct source *s, uint32_t kind)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	xnn_operator_t *op = &s->layer->op;
	size_t n = operand_elements(in);

#define FLOAT_UNARY(name) \
	(check(s, xnn_create_##name##_nc_f32(n, n, n, 0, op)) || \
	 check(s, xnn_setup_##name##_nc_f32(*op, 1, value(s, 0), result_value(s), NULL)) ? -1 : 0)
	if (in->type == NNHAL_OPERAND_TENSOR_FLOAT32)
		return kind == NNHAL_OPERATION_LOGISTIC ? FLOAT_UNARY(sigmoid) :
		       kind == NNHAL_OPERATION_NEG ? FLOAT_UNARY(negate) :
		       kind == NNHAL_OPERATION_SQRT ? FLOAT_UNARY(square_root) : FLOAT_UNARY(abs);
	if (kind != NNHAL_OPERATION_LOGISTIC || !is_byte(in->type))
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_sigmoid_nc_qu8(n, n, n, (uint8_t)in->zero_point,
							  in->scale, (uint8_t)out->zero_point,
							  out->scale, 0, 255, 0, op)) ||
		       check(s, xnn_setup_sigmoid_nc_qu8(*op, 1, value(s, 0), result_value(s),
							 NULL)) ? -1 : 0;
	return check(s, xnn_create_sigmoid_nc_qs8(n, n, n, (int8_t)in->zero_point, in->scale,
						  (int8_t)out->zero_point, out->scale, -128, 127,
						  0, op)) ||
	       check(s, xnn_setup_sigmoid_nc_qs8(*op, 1, value(s, 0), result_value(s), NULL)) ?
	       -1 : 0;
}

/* Of floats; the slope is behind the tensor. */
int add_leaky_relu(const struct source *s)
{
	xnn_operator_t *op = &s->layer->op;
	size_t n = operand_elements(operand(s, 0));
	float slope;

	if (operand(s, 0)->type != NNHAL_OPERAND_TENSOR_FLOAT32)
		return unsupported(s);
	memcpy(&slope, value(s, 1), sizeof(slope));
	return check(s, xnn_create_leaky_relu_nc_f32(n, n, n, slope, 0, op)) ||
	       check(s, xnn_setup_leaky_relu_nc_f32(*op, 1, value(s, 0), result_value(s), NULL)) ?
	       -1 : 0;
}

/*
 * The dimensions of @in as @outer, @n that are reduced, @channels. False if those that are reduced do
 * not follow one another; a dimension of 1 fits anywhere.
 */
static bool reduced_block(const struct nnhal_operand *in, const int32_t *axes, size_t num_axes,
			  size_t *outer, size_t *n, size_t *channels)
{
	*outer = *n = *channels = 1;
	for (uint32_t i = 0; i < in->num_dimensions; i++) {
		size_t size = in->dimensions[i];
		bool reduced = false;

		for (size_t k = 0; k < num_axes; k++)
			reduced |= axes[k] == (int32_t)i ||
				   axes[k] + (int32_t)in->num_dimensions == (int32_t)i;
		if (size == 1)
			continue;
		if (reduced && *channels != 1)
			return false;
		*(reduced ? n : *n == 1 ? outer : channels) *= size;
	}
	return true;
}

/* Of floats over the last dimensions, or over some with channels behind them. */
int add_mean(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0);
	xnn_operator_t *op = &s->layer->op;
	size_t outer, n, channels;

	if (in->type != NNHAL_OPERAND_TENSOR_FLOAT32 || !are_fixed(s, 1, 1) ||
	    !reduced_block(in, value(s, 1), operand_elements(operand(s, 1)), &outer, &n, &channels))
		return unsupported(s);
	if (channels == 1)
		return check(s, xnn_create_global_average_pooling_ncw_f32(outer, -INFINITY, INFINITY,
									  0, op)) ||
		       check(s, xnn_setup_global_average_pooling_ncw_f32(*op, 1, n, value(s, 0),
									 result_value(s),
									 NULL)) ? -1 : 0;
	return check(s, xnn_create_global_average_pooling_nwc_f32(channels, channels, channels,
								  -INFINITY, INFINITY, 0, op)) ||
	       check(s, xnn_setup_global_average_pooling_nwc_f32(*op, outer, n, value(s, 0),
								 result_value(s), NULL)) ? -1 : 0;
}

/* Of bytes to floats. */
int add_conversion(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0);
	xnn_operator_t *op = &s->layer->op;
	size_t n = operand_elements(in);

	if (result(s)->type != NNHAL_OPERAND_TENSOR_FLOAT32 || !is_byte(in->type))
		return unsupported(s);
	if (in->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return check(s, xnn_create_convert_nc_qu8_f32(n, n, n, in->scale,
							      (uint8_t)in->zero_point, 0, op)) ||
		       check(s, xnn_setup_convert_nc_qu8_f32(*op, 1, value(s, 0), result_value(s),
							     NULL)) ? -1 : 0;
	return check(s, xnn_create_convert_nc_qs8_f32(n, n, n, in->scale, (int8_t)in->zero_point, 0,
						      op)) ||
	       check(s, xnn_setup_convert_nc_qs8_f32(*op, 1, value(s, 0), result_value(s), NULL)) ?
	       -1 : 0;
}

int add_softmax(const struct source *s)
{
	const struct nnhal_operand *in = operand(s, 0), *out = result(s);
	size_t n = in->dimensions[in->num_dimensions - 1], rows = operand_elements(in) / n;
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
	if (in->type != NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED)
		return unsupported(s);
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
