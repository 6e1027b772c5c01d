// SPDX-License-Identifier: MIT
/*
 * Operators that work element by element, and changes of quantization.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_ops.h"
#include "map_table.h"

/* Slots of the options tables, in the order of the schema. */
enum { BINARY_ACTIVATION };
enum { SOFTMAX_BETA };
enum { LRN_RADIUS, LRN_BIAS, LRN_ALPHA, LRN_BETA };

static int by_extension(struct mapper *m)
{
	return map_extension(m, op_table[m->op->code].fields);
}

/* Scale and zero point of a tensor with one of each; of numbers that stand for themselves 1 and 0. */
static float plain_scale(const struct tflite_tensor *tensor)
{
	return tensor->scales.count ? fb_vector_f32(&tensor->scales, 0) : 1;
}

static int64_t plain_zero_point(const struct tflite_tensor *tensor)
{
	return tensor->scales.count && tensor->zero_points.count ?
	       fb_vector_i64(&tensor->zero_points, 0) : 0;
}

/*
 * @operand with its first dimensions as one, or all of them if @width is 0; otherwise the last one, of
 * that size, stays. Of the operations of the HAL some end at rank 4.
 */
static int fold(struct mapper *m, int operand, uint32_t width)
{
	const struct nnhal_operand *o = &m->g->operands[operand];
	struct shape whole = { .rank = o->num_dimensions }, folded = { .rank = width ? 2 : 1 };
	int32_t dims[2] = { -1, (int32_t)width };
	int inputs[2] = { operand, -1 }, output;
	uint64_t elements;

	memcpy(whole.dims, o->dimensions, whole.rank * sizeof(*whole.dims));
	elements = shape_is_known(&whole) ? shape_elements(&whole) : 0;
	folded.dims[0] = (uint32_t)(elements / (width ? width : 1));
	folded.dims[1] = width;
	inputs[1] = int32_vector_operand(m, dims, folded.rank);
	output = inputs[1] < 0 ? -1 : temporary_operand(m, (uint32_t)operand, &folded);
	if (output < 0 || add_operation(m, HAL_EXTENSION_CODE(TFLITE_RESHAPE), inputs, 2, output))
		return -1;
	return output;
}

/* The shape of an operand, as a RESHAPE takes it. */
static int shape_operand(struct mapper *m, int operand)
{
	const struct nnhal_operand *o = &m->g->operands[operand];
	struct shape shape = { .rank = o->num_dimensions };
	int32_t dims[TFLITE_MAX_RANK];
	int inputs[2], output;
	uint32_t i;

	memcpy(shape.dims, o->dimensions, shape.rank * sizeof(*shape.dims));
	for (i = 0; i < shape.rank; i++)
		dims[i] = (int32_t)shape.dims[i];
	if (shape_is_known(&shape))
		return int32_vector_operand(m, dims, shape.rank);
	inputs[0] = operand;
	inputs[1] = hal_add_int32(m->g, TFLITE_INT32, m->diag);
	output = inputs[1] < 0 ? -1 :
		 hal_add_operand(m->g, &(struct nnhal_operand){
			.type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 1,
			.dimensions = (const uint32_t[]){ shape.rank } }, HAL_NO_ORIGIN, m->diag);
	if (output < 0 || add_operation(m, HAL_EXTENSION_CODE(TFLITE_SHAPE), inputs, 2, output))
		return -1;
	return output;
}

/*
 * finish_operation() of an operation of the HAL whose result is like input 0. With more than four
 * dimensions it works on rows, of one element with @width 0: as many elements in the same order.
 */
static int finish_rows(struct mapper *m, uint32_t type, struct inputs *in, uint32_t width)
{
	int whole = in->list[0], inputs[2], output;

	if (in->failed || m->g->operands[whole].num_dimensions <= 4)
		return finish_operation(m, type, in);
	in->list[0] = fold(m, whole, width);
	output = in->list[0] < 0 ? -1 : output_operand(m, 0);
	if (output < 0)
		return -1;
	/* The operand of the result has its quantization, and the shape of the input now. */
	inputs[0] = temporary_operand(m, (uint32_t)output, &(struct shape){
		.rank = m->g->operands[in->list[0]].num_dimensions,
		.dims = { m->g->operands[in->list[0]].dimensions[0], width } });
	if (inputs[0] < 0 || add_operation(m, type, in->list, in->count, inputs[0]))
		return -1;
	inputs[1] = shape_operand(m, whole);
	if (inputs[1] < 0)
		return -1;
	return add_operation(m, HAL_EXTENSION_CODE(TFLITE_RESHAPE), inputs, 2, output);
}

int map_softmax(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	struct inputs in = { .count = 0 };
	uint32_t width = 0;

	if (input && tensor_shape(m, input)->rank > 4) {
		width = tensor_shape(m, input)->dims[tensor_shape(m, input)->rank - 1];
		if (!width)
			return tensor_fail(m, input, "the size of its last dimension is not known, which"
					   " is supported up to rank 4");
	}
	put(&in, input_operand(m, 0));
	put_real(m, &in, fb_f32(&m->options, SOFTMAX_BETA, 0));
	return finish_rows(m, type, &in, width);
}

/* An operation on each element by itself. */
int map_elements(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put(&in, input_operand(m, 0));
	return finish_rows(m, type, &in, 0);
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

/* The HAL's MUL of quantized tensors needs an output scale above the product of the others. */
int map_mul(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *output = output_tensor(m, 0);
	float product, scale;

	if (!input_tensor(m, 0) || !input_tensor(m, 1) || !output || !is_quantized(output))
		return map_binary(m, type);
	scale = plain_scale(output);
	product = plain_scale(input_tensor(m, 0)) * plain_scale(input_tensor(m, 1));
	return scale > product ? map_binary(m, type) : by_extension(m);
}

int map_unary(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put(&in, input_operand(m, 0));
	return finish_operation(m, type, &in);
}

/* The HAL's RELU, RELU1 and RELU6 keep the quantization; those of files may change it. */
int map_relu(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0), *output = output_tensor(m, 0);

	if (input && output && is_quantized(input) &&
	    (plain_scale(input) != plain_scale(output) ||
	     plain_zero_point(input) != plain_zero_point(output)))
		return by_extension(m);
	return map_unary(m, type);
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
