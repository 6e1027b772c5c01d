// SPDX-License-Identifier: MIT
/*
 * Operators of StableHLO with parameters that move elements.
 */
#include <inttypes.h>
#include <string.h>

#include "map_table.h"
#include "ops_hlo.h"

/* Slots of the options tables, in the order of the schema. */
enum { CONCATENATE_DIMENSION };
enum { BROADCAST_DIMENSIONS };
enum { SLICE_START, SLICE_LIMIT, SLICE_STRIDES };
enum { DYNAMIC_SLICE_SIZES };
enum { PAD_LOW, PAD_HIGH, PAD_INTERIOR };
enum { IOTA_DIMENSION };
enum { TRANSPOSE_PERMUTATION };

int map_hlo_concatenate(struct mapper *m, uint32_t type)
{
	const struct shape *shape = hlo_output_shape(m, 0);
	uint32_t count = m->op->inputs.count;
	int32_t axis = shape ? hlo_dimension(m, CONCATENATE_DIMENSION, "dimension", shape->rank) : -1;
	int *inputs, output;

	(void)type;
	if (axis < 0)
		return -1;
	inputs = input_operands(m, 2);
	if (!inputs)
		return -1;
	inputs[count] = hal_add_int32(m->g, axis, m->diag);
	inputs[count + 1] = hal_add_int32(m->g, NNHAL_FUSED_NONE, m->diag);
	output = inputs[count] < 0 || inputs[count + 1] < 0 ? -1 : output_operand(m, 0);
	if (output < 0)
		return -1;
	return add_operation(m, HAL_EXTENSION_CODE(TFLITE_CONCATENATION), inputs, count + 2, output);
}

int map_hlo_transpose(struct mapper *m, uint32_t type)
{
	const struct shape *shape = hlo_input_shape(m, 0);
	struct inputs in = { .count = 0 };
	int32_t perm[TFLITE_MAX_RANK];

	(void)type;
	if (!shape || hlo_list(m, TRANSPOSE_PERMUTATION, "permutation", shape->rank, perm))
		return -1;
	put_input(m, &in, 0);
	put(&in, int32_vector_operand(m, perm, shape->rank));
	return hlo_last(m, TFLITE_TRANSPOSE, &in);
}

/* STRIDED_SLICE without masks. */
static void put_range(struct mapper *m, struct inputs *in, uint32_t rank, const int32_t *begin,
		      const int32_t *end, const int32_t *strides)
{
	uint32_t i;

	put(in, int32_vector_operand(m, begin, rank));
	put(in, int32_vector_operand(m, end, rank));
	put(in, int32_vector_operand(m, strides, rank));
	for (i = 0; i < 5; i++)
		put_int32(m, in, 0);
	put_bool(m, in, false);
}

int map_hlo_slice(struct mapper *m, uint32_t type)
{
	int32_t begin[TFLITE_MAX_RANK], end[TFLITE_MAX_RANK], strides[TFLITE_MAX_RANK];
	const struct shape *shape = hlo_input_shape(m, 0);
	struct inputs in = { .count = 0 };
	uint32_t i;

	(void)type;
	if (!shape || hlo_list(m, SLICE_START, "start_indices", shape->rank, begin) ||
	    hlo_list(m, SLICE_LIMIT, "limit_indices", shape->rank, end) ||
	    hlo_list(m, SLICE_STRIDES, "strides", shape->rank, strides))
		return -1;
	/* In STRIDED_SLICE a negative number has another meaning. */
	for (i = 0; i < shape->rank; i++)
		if (begin[i] < 0 || end[i] < begin[i] || end[i] > (int64_t)shape->dims[i] ||
		    strides[i] < 1)
			return map_fail(m, "%" PRId32 " to %" PRId32 " by %" PRId32 " of dimension %"
					PRIu32 ", which has %" PRIu32 " elements", begin[i], end[i],
					strides[i], i, shape->dims[i]);
	put_input(m, &in, 0);
	put_range(m, &in, shape->rank, begin, end, strides);
	return hlo_last(m, TFLITE_STRIDED_SLICE, &in);
}

/* The places of a slice, a scalar each from input @first on, as one tensor. */
static int places(struct mapper *m, uint32_t first, uint32_t rank)
{
	struct shape shape = { .rank = 1, .dims = { rank } };
	struct inputs in = { .count = 0 };
	uint32_t i;

	if (m->op->inputs.count != first + rank)
		return map_fail(m, "%" PRIu32 " places in a tensor of rank %" PRIu32,
				m->op->inputs.count - first, rank);
	for (i = 0; i < rank; i++)
		put_input(m, &in, first + i);
	put_int32(m, &in, 0);
	put_int32(m, &in, NNHAL_FUSED_NONE);
	return in.failed ? -1 : hlo_step(m, TFLITE_CONCATENATION, &in, in.list[0], &shape);
}

/* A constant of the type of @like, which is a TENSOR_INT32 or a TENSOR_INT64. */
static int limits_operand(struct mapper *m, int like, const int32_t *values, uint32_t count)
{
	struct nnhal_operand operand = {
		.type = HAL_EXTENSION_CODE(TFLITE_INT64), .num_dimensions = 1, .dimensions = &count,
	};
	int64_t wide[TFLITE_MAX_RANK];
	uint32_t i;

	if (m->g->operands[like].type != operand.type)
		return int32_vector_operand(m, values, count);
	for (i = 0; i < count; i++)
		wide[i] = values[i];
	return hal_add_copied(m->g, &operand, wide, count * sizeof(*wide), HAL_NO_ORIGIN, m->diag);
}

int map_hlo_dynamic_slice(struct mapper *m, uint32_t type)
{
	const struct shape *shape = hlo_input_shape(m, 0);
	int32_t sizes[TFLITE_MAX_RANK], least[TFLITE_MAX_RANK] = { 0 }, most[TFLITE_MAX_RANK];
	struct inputs low = { .count = 0 }, high = { .count = 0 }, in = { .count = 0 };
	struct shape list = { .rank = 1 };
	uint32_t i;
	int begin;

	(void)type;
	if (!shape || hlo_list(m, DYNAMIC_SLICE_SIZES, "slice_sizes", shape->rank, sizes))
		return -1;
	for (i = 0; i < shape->rank; i++) {
		if (sizes[i] < 1 || sizes[i] > (int64_t)shape->dims[i])
			return map_fail(m, "%" PRId32 " elements of dimension %" PRIu32 ", which has %"
					PRIu32, sizes[i], i, shape->dims[i]);
		most[i] = (int32_t)shape->dims[i] - sizes[i];
	}
	/* A place from which less is left than the slice takes is moved. */
	begin = places(m, 1, shape->rank);
	if (begin < 0)
		return -1;
	list.dims[0] = shape->rank;
	put(&low, begin);
	put(&low, limits_operand(m, begin, least, shape->rank));
	put(&high, hlo_step(m, TFLITE_MAXIMUM, &low, begin, &list));
	put(&high, limits_operand(m, begin, most, shape->rank));
	begin = hlo_step(m, TFLITE_MINIMUM, &high, begin, &list);
	if (begin < 0)
		return -1;
	put_input(m, &in, 0);
	put(&in, begin);
	put(&in, limits_operand(m, begin, sizes, shape->rank));
	return hlo_last(m, TFLITE_SLICE, &in);
}

int map_hlo_dynamic_update_slice(struct mapper *m, uint32_t type)
{
	const struct shape *shape = hlo_input_shape(m, 0);
	struct inputs in = { .count = 0 };
	int begin = shape ? places(m, 2, shape->rank) : -1;

	(void)type;
	if (begin < 0)
		return -1;
	put_input(m, &in, 0);
	put_input(m, &in, 1);
	put(&in, begin);
	return hlo_last(m, TFLITE_DYNAMIC_UPDATE_SLICE, &in);
}

int hlo_repeat(struct mapper *m, int input, const struct shape *shape, const int32_t *where,
	       uint32_t count, int output)
{
	const struct shape *out = tensor_shape(m, output_tensor(m, 0));
	struct inputs in = { .count = 0 }, next = { .count = 0 };
	struct shape wide = { .rank = out->rank };
	uint32_t i;

	for (i = 0; i < out->rank; i++)
		wide.dims[i] = 1;
	for (i = 0; i < count; i++) {
		if (where[i] < 0 || where[i] >= (int32_t)out->rank ||
		    (i && where[i] <= where[i - 1]))
			return map_fail(m, "dimension %" PRIu32 " becomes dimension %" PRId32
					" of %" PRIu32 ", expected an increasing order", i, where[i],
					out->rank);
		wide.dims[where[i]] = shape->dims[i];
	}
	put(&in, input);
	put(&in, hlo_shape_operand(m, &wide));
	put(&next, hlo_step(m, TFLITE_RESHAPE, &in, input, &wide));
	put(&next, hlo_shape_operand(m, out));
	if (next.failed)
		return -1;
	return add_operation(m, HAL_EXTENSION_CODE(TFLITE_BROADCAST_TO), next.list, next.count,
			     output);
}

int map_hlo_broadcast(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *tensor = input_tensor(m, 0);
	const struct shape *out = hlo_output_shape(m, 0), *shape = NULL;
	int32_t where[TFLITE_MAX_RANK];
	uint32_t rank;
	int input, output;

	(void)type;
	if (!out)
		return -1;
	/* A scalar goes everywhere. */
	if (tensor && tensor_shape(m, tensor)->scalar)
		shape = tensor_shape(m, tensor);
	else
		shape = hlo_input_shape(m, 0);
	if (!shape)
		return -1;
	rank = shape->scalar ? 0 : shape->rank;
	if (hlo_list(m, BROADCAST_DIMENSIONS, "broadcast_dimensions", rank, where))
		return -1;
	input = input_operand(m, 0);
	output = input < 0 ? -1 : output_operand(m, 0);
	return output < 0 ? -1 : hlo_repeat(m, input, shape, where, rank, output);
}

/* 0, 1, 2, ... in the type of @like, which is int32, int64 or float32: RANGE from 0 by 1. */
static int count_up(struct mapper *m, int like, uint32_t count)
{
	const struct nnhal_operand *result = &m->g->operands[like];
	struct shape shape = { .rank = 1, .dims = { count } };
	const int64_t values[3] = { 0, count, 1 };
	struct inputs in = { .count = 0 };
	uint32_t one = 1, i;

	for (i = 0; i < 3; i++) {
		struct nnhal_operand operand = {
			.type = result->type, .num_dimensions = 1, .dimensions = &one,
		};
		float real = (float)values[i];
		int32_t whole = (int32_t)values[i];

		if (result->type == NNHAL_OPERAND_TENSOR_FLOAT32)
			put(&in, hal_add_copied(m->g, &operand, &real, sizeof(real), HAL_NO_ORIGIN,
						m->diag));
		else if (result->type == NNHAL_OPERAND_TENSOR_INT32)
			put(&in, hal_add_copied(m->g, &operand, &whole, sizeof(whole), HAL_NO_ORIGIN,
						m->diag));
		else
			put(&in, hal_add_copied(m->g, &operand, &values[i], sizeof(values[i]),
						HAL_NO_ORIGIN, m->diag));
		result = &m->g->operands[like];
	}
	return hlo_step(m, TFLITE_RANGE, &in, like, &shape);
}

int map_hlo_iota(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *tensor = output_tensor(m, 0);
	const struct shape *out = hlo_output_shape(m, 0);
	int32_t d = out ? hlo_dimension(m, IOTA_DIMENSION, "iota_dimension", out->rank) : -1;
	struct shape line = { .rank = 1 };
	int output, numbers;

	(void)type;
	if (d < 0)
		return -1;
	if (tensor->type != TFLITE_FLOAT32 && tensor->type != TFLITE_INT32 &&
	    tensor->type != TFLITE_INT64)
		return tensor_fail(m, tensor, "type %s is not supported here, only float32, int32 and"
				   " int64", tflite_type_name(tensor->type));
	/* Floats count up exactly as far as that. */
	if (tensor->type == TFLITE_FLOAT32 && out->dims[d] > 1u << 24)
		return tensor_fail(m, tensor, "%" PRIu32 " elements, more than float32 counts",
				   out->dims[d]);
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	line.dims[0] = out->dims[d];
	numbers = count_up(m, output, out->dims[d]);
	return numbers < 0 ? -1 : hlo_repeat(m, numbers, &line, &d, 1, output);
}

/* One dimension of a padded tensor; below 1 where nothing is left. */
static int64_t padded_size(uint32_t size, int32_t low, int32_t high, int32_t interior)
{
	int64_t spread = ((int64_t)size - 1) * ((int64_t)interior + 1) + 1;

	return spread + low + high;
}

int map_hlo_pad(struct mapper *m, uint32_t type)
{
	int32_t low[TFLITE_MAX_RANK], high[TFLITE_MAX_RANK], between[TFLITE_MAX_RANK];
	int32_t pads[2 * TFLITE_MAX_RANK], begin[TFLITE_MAX_RANK], end[TFLITE_MAX_RANK];
	int32_t ones[TFLITE_MAX_RANK];
	const struct shape *shape = hlo_input_shape(m, 0);
	uint32_t sizes[2] = { shape ? shape->rank : 0, 2 }, i;
	struct nnhal_operand matrix = {
		.type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 2, .dimensions = sizes,
	};
	struct inputs spread = { .count = 0 }, grow = { .count = 0 }, cut = { .count = 0 };
	bool spreads = false, cuts = false;
	struct shape now;
	int value;

	(void)type;
	if (!shape || hlo_list(m, PAD_LOW, "edge_padding_low", shape->rank, low) ||
	    hlo_list(m, PAD_HIGH, "edge_padding_high", shape->rank, high) ||
	    hlo_list(m, PAD_INTERIOR, "interior_padding", shape->rank, between))
		return -1;
	now = *shape;
	for (i = 0; i < shape->rank; i++) {
		int64_t size = padded_size(shape->dims[i], low[i], high[i], between[i]);
		int64_t whole = padded_size(shape->dims[i], low[i] > 0 ? low[i] : 0,
					    high[i] > 0 ? high[i] : 0, between[i]);

		if (between[i] < 0 || between[i] == INT32_MAX || size < 1 || whole >= INT32_MAX ||
		    low[i] == INT32_MIN)
			return map_fail(m, "padding of %" PRId32 ", %" PRId32 " and %" PRId32
					" between elements, for a dimension of %" PRIu32, low[i], high[i],
					between[i], shape->dims[i]);
		spreads |= between[i] > 0;
		cuts |= low[i] < 0 || high[i] < 0;
		pads[2 * i] = low[i] > 0 ? low[i] : 0;
		pads[2 * i + 1] = high[i] > 0 ? high[i] : 0;
		begin[i] = low[i] < 0 ? -low[i] : 0;
		end[i] = (int32_t)(begin[i] + size);
		ones[i] = 1;
	}
	value = input_operand(m, 1);
	put(&grow, value < 0 ? -1 : input_operand(m, 0));
	if (spreads && !grow.failed) {
		for (i = 0; i < shape->rank; i++) {
			now.dims[i] = (uint32_t)padded_size(shape->dims[i], 0, 0, between[i]);
			between[i]++;
		}
		put(&spread, grow.list[0]);
		put(&spread, int32_vector_operand(m, between, shape->rank));
		put(&spread, value);
		grow.count = 0;
		put(&grow, hlo_step(m, TFLITE_DILATE, &spread, spread.list[0], &now));
	}
	put(&grow, hal_add_copied(m->g, &matrix, pads, shape->rank * 2 * sizeof(*pads),
				  HAL_NO_ORIGIN, m->diag));
	put(&grow, value);
	if (!cuts)
		return hlo_last(m, TFLITE_PADV2, &grow);
	for (i = 0; i < shape->rank; i++)
		now.dims[i] += (uint32_t)(pads[2 * i] + pads[2 * i + 1]);
	put(&cut, grow.failed ? -1 : hlo_step(m, TFLITE_PADV2, &grow, grow.list[0], &now));
	put_range(m, &cut, shape->rank, begin, end, ones);
	return hlo_last(m, TFLITE_STRIDED_SLICE, &cut);
}
