// SPDX-License-Identifier: MIT
/*
 * Operators that move elements.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "map_ops.h"

/* Slots of the options tables, in the order of the schema. */
enum { CONCATENATION_AXIS, CONCATENATION_ACTIVATION };
enum { RESHAPE_NEW_SHAPE };

int map_reshape(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *target = input_tensor(m, 1);
	struct fb_vector new_shape = fb_vector(&m->options, RESHAPE_NEW_SHAPE, 4);
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
		if (target->type != TFLITE_INT32 && type == NNHAL_OPERATION_RESHAPE)
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
		if (!shape_is_known(&shape))
			return tensor_fail(m, output_tensor(m, 0), "neither the file nor the operator"
					   " says its shape");
		for (i = 0; i < shape.rank; i++)
			dims[i] = (int32_t)shape.dims[i];
		new_shape.count = shape.rank;
	}
	put(&in, int32_vector_operand(m, dims, new_shape.count));
	return finish_operation(m, type, &in);
}

int map_concatenation(struct mapper *m, uint32_t type)
{
	static const uint32_t activations[] = {
		[NNHAL_FUSED_RELU] = NNHAL_OPERATION_RELU,
		[NNHAL_FUSED_RELU1] = NNHAL_OPERATION_RELU1,
		[NNHAL_FUSED_RELU6] = NNHAL_OPERATION_RELU6,
	};
	int32_t axis = fb_i32(&m->options, CONCATENATION_AXIS, 0);
	uint32_t count = m->op->inputs.count;
	struct nnhal_operand operand;
	struct shape shape;
	int *inputs;
	int output, joined;
	int32_t act = 0;

	if (fused_activation(m, CONCATENATION_ACTIVATION, &act) || !output_tensor(m, 0) ||
	    describe_tensor(m, output_tensor(m, 0), &operand, &shape))
		return -1;
	if (axis < -(int32_t)shape.rank || axis >= (int32_t)shape.rank)
		return map_fail(m, "axis %" PRId32 " of tensors of rank %" PRIu32, axis,
				shape.rank);
	if (axis < 0)
		axis += (int32_t)shape.rank;
	inputs = input_operands(m, 1);
	if (!inputs)
		return -1;
	inputs[count] = hal_add_int32(m->g, axis, m->diag);
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
