// SPDX-License-Identifier: MIT
/*
 * Rules for each operand by itself: type, shape, quantization, lifetime, location.
 */
#include <math.h>

#include <nnhal/nnhal.h>

#include "memory/memory_private.h"
#include "model/subgraph_check.h"

static bool check_type(const struct subgraph_check *c, uint32_t i, const struct nnhal_operand *op)
{
	if (!nnhal_validate_operand_type(op->type, c->version))
		return FAIL(c, "operand %u: type %u does not exist in this HAL version", i,
			    op->type);
	if (nnhal_is_extension_operand_type(op->type) && !validate_known_prefix(c->model, op->type))
		return FAIL(c, "operand %u: no extension has the prefix 0x%x of type 0x%x", i,
			    op->type >> 16, op->type);
	return true;
}

static bool check_shape(const struct subgraph_check *c, uint32_t i, const struct nnhal_operand *op)
{
	uint32_t d;

	if (nnhal_is_extension_operand_type(op->type))
		return true;
	if (nnhal_operand_type_is_scalar(op->type)) {
		if (op->num_dimensions)
			return FAIL(c, "operand %u: scalar %s has rank %u, expected 0", i,
				    nnhal_operand_type_name(op->type), op->num_dimensions);
		return true;
	}
	if (!op->num_dimensions && (c->version < NNHAL_HAL_1_2 || validate_is_constant(op)))
		return FAIL(c, "operand %u: %s %s tensor of rank 0", i,
			    nnhal_lifetime_name(op->lifetime), nnhal_operand_type_name(op->type));
	for (d = 0; validate_is_constant(op) && d < op->num_dimensions; d++)
		if (!op->dimensions[d])
			return FAIL(c, "operand %u: dimension %u of a constant is 0", i, d);
	if (nnhal_size_of_data_overflows(nnhal_element_size(op->type), op->dimensions,
					 op->num_dimensions))
		return FAIL(c, "operand %u: size takes more than 32 bits", i);
	return true;
}

static bool check_scale(const struct subgraph_check *c, uint32_t i, const struct nnhal_operand *op)
{
	if (!isfinite(op->scale))
		return FAIL(c, "operand %u: scale is not finite", i);
	switch (op->type) {
	case NNHAL_OPERAND_OEM:
	case NNHAL_OPERAND_TENSOR_OEM_BYTE:
		return true;
	case NNHAL_OPERAND_TENSOR_INT32:
		if (op->scale < 0.0f)
			return FAIL(c, "operand %u: scale %g of TENSOR_INT32, expected >= 0", i,
				    op->scale);
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		if (op->scale <= 0.0f)
			return FAIL(c, "operand %u: scale %g of %s, expected > 0", i, op->scale,
				    nnhal_operand_type_name(op->type));
		return true;
	default:
		if (op->scale != 0.0f)
			return FAIL(c, "operand %u: scale %g of %s, expected 0", i, op->scale,
				    nnhal_operand_type_name(op->type));
		return true;
	}
}

static bool check_zero_point(const struct subgraph_check *c, uint32_t i,
			     const struct nnhal_operand *op)
{
	int32_t min = 0, max = 0;

	switch (op->type) {
	case NNHAL_OPERAND_OEM:
	case NNHAL_OPERAND_TENSOR_OEM_BYTE:
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		max = UINT8_MAX;
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		min = INT8_MIN;
		max = INT8_MAX;
		break;
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		max = UINT16_MAX;
		break;
	default:
		break;
	}
	if (op->zero_point < min || op->zero_point > max)
		return FAIL(c, "operand %u: zeroPoint %d of %s, expected %d to %d", i,
			    op->zero_point, nnhal_operand_type_name(op->type), min, max);
	return true;
}

static bool check_channel_quant(const struct subgraph_check *c, uint32_t i,
				const struct nnhal_operand *op)
{
	const struct nnhal_channel_quant *cq = &op->extra_params.channel_quant;
	uint32_t s;

	if (op->extra_params.kind != NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		return FAIL(c, "operand %u: per-channel type without channelQuant", i);
	if (cq->channel_dim >= op->num_dimensions)
		return FAIL(c, "operand %u: channelDim %u, but the rank is %u", i,
			    cq->channel_dim, op->num_dimensions);
	if (!op->dimensions[cq->channel_dim])
		return FAIL(c, "operand %u: dimension %u, the channelDim, is 0", i,
			    cq->channel_dim);
	if (cq->num_scales != op->dimensions[cq->channel_dim])
		return FAIL(c, "operand %u: %u channel scales for %u channels", i,
			    cq->num_scales, op->dimensions[cq->channel_dim]);
	for (s = 0; s < cq->num_scales; s++)
		if (!isfinite(cq->scales[s]) || cq->scales[s] <= 0.0f)
			return FAIL(c, "operand %u: channel scale %u is %g, expected > 0", i, s,
				    cq->scales[s]);
	return true;
}

static bool check_extra_params(const struct subgraph_check *c, uint32_t i,
			       const struct nnhal_operand *op)
{
	uint32_t kind = op->extra_params.kind;

	if (op->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return check_channel_quant(c, i, op);
	if (nnhal_is_extension_operand_type(op->type)) {
		if (kind != NNHAL_EXTRA_PARAMS_NONE && kind != NNHAL_EXTRA_PARAMS_EXTENSION)
			return FAIL(c, "operand %u: extraParams kind %u of an extension type",
				    i, kind);
	} else if (kind != NNHAL_EXTRA_PARAMS_NONE) {
		return FAIL(c, "operand %u: extraParams kind %u of %s, expected none", i, kind,
			    nnhal_operand_type_name(op->type));
	}
	return true;
}

/* A constant: it lies inside @size bytes, and its length is that of its shape. */
static bool check_data(const struct subgraph_check *c, uint32_t i, const struct nnhal_operand *op,
		       uint64_t size)
{
	const struct nnhal_data_location *loc = &op->location;
	uint32_t expected = 0;

	if ((uint64_t)loc->offset + loc->length > size)
		return FAIL(c, "operand %u: offset %u + length %u is beyond the %llu bytes there",
			    i, loc->offset, loc->length, (unsigned long long)size);
	if (nnhal_is_extension_operand_type(op->type) || op->type == NNHAL_OPERAND_OEM ||
	    op->type == NNHAL_OPERAND_TENSOR_OEM_BYTE)
		return true;
	if (nnhal_size_of_data(op->type, op->dimensions, op->num_dimensions, &expected) ||
	    loc->length != expected)
		return FAIL(c, "operand %u: length %u of a constant, expected %u", i, loc->length,
			    expected);
	return true;
}

static bool check_location(const struct subgraph_check *c, uint32_t i,
			   const struct nnhal_operand *op)
{
	const struct nnhal_data_location *loc = &op->location;

	if ((op->lifetime == NNHAL_LIFETIME_SUBGRAPH) != (op->type == NNHAL_OPERAND_SUBGRAPH))
		return FAIL(c, "operand %u: type %s with lifetime %s", i,
			    nnhal_operand_type_name(op->type), nnhal_lifetime_name(op->lifetime));
	switch (op->lifetime) {
	case NNHAL_LIFETIME_CONSTANT_COPY:
		if (loc->pool_index)
			return FAIL(c, "operand %u: poolIndex %u of CONSTANT_COPY, expected 0", i,
				    loc->pool_index);
		return check_data(c, i, op, c->model->operand_values_size);
	case NNHAL_LIFETIME_CONSTANT_REFERENCE:
		if (loc->pool_index >= c->model->num_pools)
			return FAIL(c, "operand %u: poolIndex %u, but there are %u pools", i,
				    loc->pool_index, c->model->num_pools);
		return check_data(c, i, op, c->model->pools[loc->pool_index]->size);
	case NNHAL_LIFETIME_SUBGRAPH:
		if (loc->pool_index || loc->length)
			return FAIL(c, "operand %u: poolIndex %u, length %u of a subgraph, expected 0",
				    i, loc->pool_index, loc->length);
		if (loc->offset >= c->model->num_referenced)
			return FAIL(c, "operand %u: subgraph %u, but %u are referenced", i,
				    loc->offset, c->model->num_referenced);
		return true;
	default:
		if (loc->pool_index || loc->offset || loc->length)
			return FAIL(c, "operand %u: location {%u, %u, %u} of %s, expected zeros", i,
				    loc->pool_index, loc->offset, loc->length,
				    nnhal_lifetime_name(op->lifetime));
		return true;
	}
}

bool validate_operand(const struct subgraph_check *c, uint32_t i)
{
	const struct nnhal_operand *op = &c->sg->operands[i];
	uint32_t last = c->version >= NNHAL_HAL_1_3 ? NNHAL_LIFETIME_SUBGRAPH
						    : NNHAL_LIFETIME_NO_VALUE;

	if (op->lifetime > last)
		return FAIL(c, "operand %u: lifetime %u does not exist in this HAL version", i,
			    op->lifetime);
	return check_type(c, i, op) && check_shape(c, i, op) && check_scale(c, i, op) &&
	       check_zero_point(c, i, op) && check_extra_params(c, i, op) &&
	       check_location(c, i, op);
}
