// SPDX-License-Identifier: MIT
/*
 * SHAPE and RANK of a tensor.
 *
 * SHAPE: 0 tensor, 1 out_type, the TensorType of the output; the output is its dimensions.
 * RANK: 0 tensor; the output is their number.
 */
#include "tflite_ops.h"

/* The option names the type that the output has. */
static int check_out_type(const struct op_call *c)
{
	int32_t type;

	if (op_get_i32(c, 1, &type))
		return 1;
	return type == (int32_t)tflite_type_of(c->out[0]) ? 0 : op_fail(c, NNPU_REASON_VALUE, 1);
}

int tflite_shape_check(const struct op_call *c)
{
	return check_out_type(c) < 0 ? -1 : 0;
}

int tflite_shape_infer(const struct op_call *c)
{
	uint32_t rank = c->in[0]->rank;

	if (check_out_type(c) < 0)
		return -1;
	tensor_set_shape(c->out[0], 1, &rank);
	return 0;
}

int tflite_shape_execute(const struct op_call *c)
{
	int32_t *narrow = c->out[0]->data;
	int64_t *wide = c->out[0]->data;

	if (check_out_type(c))
		return -1;
	for (unsigned int i = 0; i < c->in[0]->rank; i++) {
		if (tflite_type_of(c->out[0]) == TFLITE_INT64)
			wide[i] = c->in[0]->dims[i];
		else
			narrow[i] = (int32_t)c->in[0]->dims[i];
	}
	return 0;
}

int tflite_rank_check(const struct op_call *c)
{
	(void)c;
	return 0;
}

int tflite_rank_infer(const struct op_call *c)
{
	static const uint32_t one = 1;

	tensor_set_shape(c->out[0], 1, &one);
	return 0;
}

int tflite_rank_execute(const struct op_call *c)
{
	*(int32_t *)c->out[0]->data = c->in[0]->rank;
	return 0;
}
