// SPDX-License-Identifier: MIT
/*
 * CAST: converts the stored numbers; scales and zero points are ignored.
 *
 * A float is truncated to an integer. A value outside of the type's range becomes the
 * nearest limit, a NaN becomes 0. Types that hold no plain numbers are cast to themselves
 * only.
 */
#include <float16.h>

#include "kernels.h"
#include "nd_copy.h"
#include "ops.h"
#include "quant.h"

#define NUMBERS		(TYPES_FLOAT | TYPE_BIT(TENSOR_INT32) | TYPES_QUANT8)
#define OTHERS		(TYPE_BIT(TENSOR_BOOL8) | TYPE_BIT(TENSOR_QUANT16_ASYMM) | \
			 TYPE_BIT(TENSOR_QUANT16_SYMM) | TYPE_BIT(TENSOR_QUANT8_SYMM))

int cast_check(const struct op_call *c)
{
	if (op_check_operands(c) || op_check_type(c, 0, NUMBERS | OTHERS) ||
	    op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	    op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK))
		return -1;
	if (OTHERS & type_bit(c->in[0]->type))
		return op_check_same_type(c, op_output(c, 0), 0);
	return op_check_type(c, op_output(c, 0), NUMBERS);
}

int cast_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

/* All values but those of INT32 fit single precision. INT32 is read separately. */
static float load_float(enum nnpu_type type, const void *data, size_t i)
{
	switch (type) {
	case NNPU_TYPE_TENSOR_FLOAT32:
		return ((const float *)data)[i];
	case NNPU_TYPE_TENSOR_FLOAT16:
		return half_to_float(((const uint16_t *)data)[i]);
	case NNPU_TYPE_TENSOR_INT32:
		return (float)((const int32_t *)data)[i];
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
		return ((const uint8_t *)data)[i];
	default:
		return ((const int8_t *)data)[i];
	}
}

static int32_t load_int(enum nnpu_type type, const void *data, size_t i)
{
	float v;

	if (type == NNPU_TYPE_TENSOR_INT32)
		return ((const int32_t *)data)[i];
	v = load_float(type, data, i);
	if (v != v)
		return 0;
	if (v >= 2147483648.0f)
		return INT32_MAX;
	return v <= -2147483648.0f ? INT32_MIN : (int32_t)v;
}

/* Elements between two looks at op_pace(). */
#define RUN	(OP_PACE_UNITS / 16)

void cast_decode(const struct tensor *from, size_t at, size_t n, float *to)
{
	const int32_t *numbers = from->data;

	switch (from->type) {
	case NNPU_TYPE_TENSOR_FLOAT16:
		kernels_rows()->widen_halves((const uint16_t *)from->data + at, n, to);
		break;
	case NNPU_TYPE_TENSOR_INT32:
		for (size_t i = 0; i < n; i++)
			to[i] = (float)numbers[at + i];
		break;
	default:
		for (size_t i = 0; i < n; i++)
			to[i] = load_float(from->type, from->data, at + i);
	}
}

static void cast_element(const struct op_call *c, size_t i)
{
	enum nnpu_type from = c->in[0]->type, to = c->out[0]->type;
	const void *in = c->in[0]->data;
	void *out = c->out[0]->data;

	if (to == NNPU_TYPE_TENSOR_FLOAT16)
		((uint16_t *)out)[i] = float_to_half(load_float(from, in, i));
	else if (to == NNPU_TYPE_TENSOR_INT32)
		((int32_t *)out)[i] = load_int(from, in, i);
	else
		((uint8_t *)out)[i] = (uint8_t)q_clamp(load_int(from, in, i), q_type_min(to),
						       q_type_max(to));
}

int cast_execute(const struct op_call *c)
{
	bool to_float = c->out[0]->type == NNPU_TYPE_TENSOR_FLOAT32;
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->out[0]);

	if (c->in[0]->type == c->out[0]->type)
		return nd_move(&pace, c->in[0]->data, c->out[0]->data, c->out[0]->bytes);
	for (size_t at = 0, n; at < total; at += n) {
		n = total - at < RUN ? total - at : RUN;
		if (to_float)
			cast_decode(c->in[0], at, n, (float *)c->out[0]->data + at);
		for (size_t i = at; !to_float && i < at + n; i++)
			cast_element(c, i);
		if (op_pace(&pace, n * 4))
			return OP_ABORTED;
	}
	return 0;
}
