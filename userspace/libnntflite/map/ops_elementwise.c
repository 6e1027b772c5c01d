// SPDX-License-Identifier: MIT
/*
 * Operators that work element by element, and changes of quantization.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "map_ops.h"
#include "map_table.h"

/* Slots of the options tables, in the order of the schema. */
enum { BINARY_ACTIVATION };
enum { SOFTMAX_BETA };
enum { LRN_RADIUS, LRN_BIAS, LRN_ALPHA, LRN_BETA };

int map_softmax(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };


	put(&in, input_operand(m, 0));
	put_real(m, &in, fb_f32(&m->options, SOFTMAX_BETA, 0));
	return finish_operation(m, type, &in);
}

int map_binary(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	int32_t act = 0;

	if (fused_activation(m, BINARY_ACTIVATION, &act))
		return -1;
	put(&in, input_operand(m, 0));
	if (!in.failed)
		put(&in, input_operand(m, 1));
	put_int32(m, &in, act);
	return finish_operation(m, type, &in);
}

int map_unary(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put(&in, input_operand(m, 0));
	return finish_operation(m, type, &in);
}

int map_local_response_normalization(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put_input(m, &in, 0);
	put_int32(m, &in, fb_i32(&m->options, LRN_RADIUS, 0));
	put_real(m, &in, fb_f32(&m->options, LRN_BIAS, 0));
	put_real(m, &in, fb_f32(&m->options, LRN_ALPHA, 0));
	put_real(m, &in, fb_f32(&m->options, LRN_BETA, 0));
	return finish_operation(m, type, &in);
}

int map_quantize(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0), *output = output_tensor(m, 0);
	struct inputs in = { .count = 0 };

	if (!input || !output)
		return map_fail(m, "an input or output is missing");
	/* The HAL quantizes to 8 bits only. */
	if (output->type != TFLITE_INT8 && output->type != TFLITE_UINT8)
		return map_extension(m, op_table[TFLITE_QUANTIZE].fields);
	put_input(m, &in, 0);
	return finish_operation(m, type, &in);
}

int map_dequantize(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	struct inputs in = { .count = 0 };

	if (!input)
		return map_fail(m, "input 0 is missing");
	put(&in, input_operand(m, 0));
	/* DEQUANTIZE of float16 weights is a change of type, which is CAST in the HAL. */
	if (input->type == TFLITE_FLOAT16)
		type = NNHAL_OPERATION_CAST;
	return finish_operation(m, type, &in);
}
