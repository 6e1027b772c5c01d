// SPDX-License-Identifier: MIT
/*
 * Operators whose operands in the HAL are those of the file in another form: axes, sizes
 * and flags. What the HAL has no form of goes to the extension.
 */
#include <inttypes.h>

#include "map_ops.h"
#include "map_table.h"

/* Slots of the options tables, in the order of the schema. */
enum { REDUCER_KEEP_DIMS };
enum {
	RESIZE_BILINEAR_OLD_HEIGHT, RESIZE_BILINEAR_OLD_WIDTH, RESIZE_BILINEAR_ALIGN,
	RESIZE_BILINEAR_HALF,
};
enum { RESIZE_NEAREST_ALIGN, RESIZE_NEAREST_HALF };
enum { BLOCK_SIZE };
enum { SQUEEZE_DIMS };
enum { GATHER_AXIS, GATHER_BATCH_DIMS };
enum { SLICE_BEGIN, SLICE_END, SLICE_ELLIPSIS, SLICE_NEW_AXIS, SLICE_SHRINK, SLICE_OFFSET };
enum {
	TRANSPOSE_CONV_PADDING, TRANSPOSE_CONV_STRIDE_W, TRANSPOSE_CONV_STRIDE_H,
	TRANSPOSE_CONV_ACTIVATION,
};

static int by_extension(struct mapper *m)
{
	return map_extension(m, op_table[m->op->code].fields);
}

/* The value of a constant of one element at input @pos; false if it is none. */
static bool one_value(struct mapper *m, uint32_t pos, int32_t *value)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);

	return tensor && constant_int32(m, tensor, value, 1) == 1;
}

int map_as_it_is(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	uint32_t i;

	for (i = 0; i < m->op->inputs.count; i++)
		put_input(m, &in, i);
	return finish_operation(m, type, &in);
}

int map_reduce(struct mapper *m, uint32_t type)
{
	bool keep = fb_u8(&m->options, REDUCER_KEEP_DIMS, 0);
	const struct tflite_tensor *axes = input_tensor(m, 1);
	struct inputs in = { .count = 0 };

	/* Without axes nothing is reduced. */
	if (axes && is_empty_constant(m, axes))
		return by_extension(m);
	put_input(m, &in, 0);
	put_input(m, &in, 1);
	/* The older operation has an integer. */
	if (type == NNHAL_OPERATION_MEAN)
		put_int32(m, &in, keep);
	else
		put_bool(m, &in, keep);
	return finish_operation(m, type, &in);
}

int map_resize(struct mapper *m, uint32_t type)
{
	bool bilinear = type == NNHAL_OPERATION_RESIZE_BILINEAR;
	bool align = fb_u8(&m->options, bilinear ? RESIZE_BILINEAR_ALIGN : RESIZE_NEAREST_ALIGN, 0);
	bool half = fb_u8(&m->options, bilinear ? RESIZE_BILINEAR_HALF : RESIZE_NEAREST_HALF, 0);
	const struct tflite_tensor *size = input_tensor(m, 1);
	struct inputs in = { .count = 0 };
	int32_t sizes[2];

	if (!size || constant_int32(m, size, sizes, 2) != 2)
		return by_extension(m);
	put_input(m, &in, 0);
	put_int32(m, &in, sizes[1]);
	put_int32(m, &in, sizes[0]);
	put_bool(m, &in, false);
	if (align || half) {
		put_bool(m, &in, align);
		put_bool(m, &in, half);
	}
	return finish_operation(m, type, &in);
}

int map_blocks(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put_input(m, &in, 0);
	put_int32(m, &in, fb_i32(&m->options, BLOCK_SIZE, 0));
	return finish_operation(m, type, &in);
}

int map_log_softmax(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put_input(m, &in, 0);
	put_real(m, &in, 1.0f);
	put_int32(m, &in, -1);
	return finish_operation(m, type, &in);
}

/* An input and a constant of one element that the HAL has as a scalar. */
int map_with_scalar(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	int32_t value;

	if (!one_value(m, 1, &value))
		return by_extension(m);
	put_input(m, &in, 0);
	put_int32(m, &in, value);
	return finish_operation(m, type, &in);
}

int map_arg(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *output = output_tensor(m, 0);

	if (output && output->type != TFLITE_INT32)
		return by_extension(m);
	return map_with_scalar(m, type);
}

/* Operations with several outputs. */
static int finish_outputs(struct mapper *m, uint32_t type, const struct inputs *in)
{
	int *outputs = hal_alloc(m->b, m->op->outputs.count, sizeof(*outputs), m->diag);
	uint32_t i;

	if (!outputs || in->failed)
		return -1;
	for (i = 0; i < m->op->outputs.count; i++) {
		outputs[i] = output_operand(m, i);
		if (outputs[i] < 0)
			return -1;
	}
	return add_operation_outputs(m, type, in->list, in->count, outputs, m->op->outputs.count);
}

int map_topk(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	int32_t k;

	/* The HAL has no result without elements. */
	if (!one_value(m, 1, &k) || k < 1)
		return by_extension(m);
	put_input(m, &in, 0);
	put_int32(m, &in, k);
	return finish_outputs(m, type, &in);
}

int map_split(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 1);
	struct inputs in = { .count = 0 };
	int32_t axis;

	if (!input || !one_value(m, 0, &axis) ||
	    (!is_quantized(input) && !is_float(input) && input->type != TFLITE_INT32) ||
	    input->type == TFLITE_INT16)
		return by_extension(m);
	put_input(m, &in, 1);
	put_int32(m, &in, axis);
	put_int32(m, &in, (int32_t)m->op->outputs.count);
	return finish_outputs(m, type, &in);
}

/* float or 8 bits: what the HAL's operations take that only move elements */
static bool hal_has_form(const struct tflite_tensor *tensor)
{
	return is_float(tensor) || (is_quantized(tensor) && tensor->type != TFLITE_INT16);
}

/* SQUEEZE of @count dimensions; 0: of all of size 1. */
static int add_squeeze(struct mapper *m, const struct tflite_tensor *tensor, int input,
		       const int32_t *dims, uint32_t count, int output)
{
	struct inputs in = { .count = 0 };
	bool hal;

	put(&in, input);
	/* The HAL's ends at rank 4. */
	hal = hal_has_form(tensor) && input >= 0 && m->g->operands[input].num_dimensions <= 4;
	if (count && !in.failed)
		put(&in, int32_vector_operand(m, dims, count));
	else if (!in.failed)
		put(&in, hal_add_no_value(m->g, NNHAL_OPERAND_TENSOR_INT32, m->diag));
	if (in.failed || output < 0)
		return -1;
	return add_operation(m, hal ? NNHAL_OPERATION_SQUEEZE : HAL_EXTENSION_CODE(TFLITE_SQUEEZE),
			     in.list, in.count, output);
}

/*
 * An index of rank 0 is [1] here: the dimension that it leaves goes. Of a vector it stays, for
 * the result is a scalar, which is [1], too.
 */
static int gather_scalar(struct mapper *m, uint32_t type, const struct inputs *in, int32_t axis)
{
	static const struct shape open = { .rank = 0 };
	int output, wide;

	if (in->failed)
		return -1;
	output = output_operand(m, 0);
	wide = output < 0 ? -1 : temporary_operand(m, (uint32_t)output, &open);
	if (wide < 0 || add_operation(m, type, in->list, in->count, wide))
		return -1;
	return add_squeeze(m, output_tensor(m, 0), wide, &axis, 1, output);
}

int map_gather(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *indices = input_tensor(m, 1);
	int32_t axis = fb_i32(&m->options, GATHER_AXIS, 0);
	struct inputs in = { .count = 0 };

	if (!indices || indices->type != TFLITE_INT32 ||
	    fb_i32(&m->options, GATHER_BATCH_DIMS, 0) != 0)
		return by_extension(m);
	put_input(m, &in, 0);
	put_int32(m, &in, axis);
	put_input(m, &in, 1);
	if (in.failed)
		return -1;
	if (indices->rank == 0 && tensor_shape(m, indices)->rank == 1 &&
	    output_tensor(m, 0) && tensor_shape(m, output_tensor(m, 0))->rank > 0 &&
	    (input_tensor(m, 0)->rank > 1))
		return gather_scalar(m, type, &in, axis);
	return finish_operation(m, type, &in);
}

/* Tensors of rank 0, which are [1] here, make a tensor of rank 1 and not of rank 2. */
int map_pack(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *first = input_tensor(m, 0);
	uint32_t count = m->op->inputs.count;
	int *inputs, output;

	if (!first || tensor_shape(m, first)->rank != 1 || first->rank != 0)
		return by_extension(m);
	inputs = input_operands(m, 2);
	if (!inputs)
		return -1;
	/* Along axis 0; the extension's operation has an activation as well. */
	inputs[count] = inputs[count + 1] = hal_add_int32(m->g, 0, m->diag);
	output = inputs[count] < 0 ? -1 : output_operand(m, 0);
	if (output < 0)
		return -1;
	if (hal_has_form(first))
		return add_operation(m, type, inputs, count + 1, output);
	return add_operation(m, HAL_EXTENSION_CODE(TFLITE_CONCATENATION), inputs, count + 2, output);
}

/*
 * Does what the HAL computes for the dimensions that go agree with the file? TensorFlow Lite ignores
 * the end of such a dimension, and the HAL wants one element before it.
 */
static bool shrinks_by_one(struct mapper *m, int32_t shrink, int32_t begin_mask, int32_t end_mask)
{
	const struct tflite_tensor *begin = input_tensor(m, 1), *end = input_tensor(m, 2);
	int32_t first[TFLITE_MAX_RANK], last[TFLITE_MAX_RANK];
	int i, count;

	if (!shrink)
		return true;
	if (!begin || !end)
		return false;
	count = constant_int32(m, begin, first, TFLITE_MAX_RANK);
	if (count < 0 || constant_int32(m, end, last, TFLITE_MAX_RANK) != count)
		return false;
	for (i = 0; i < count; i++)
		if (shrink >> i & 1 && ((begin_mask | end_mask) >> i & 1 || first[i] == -1 ||
					(int64_t)last[i] - 1 != first[i]))
			return false;
	return true;
}

int map_strided_slice(struct mapper *m, uint32_t type)
{
	const struct fb_table *o = &m->options;
	const struct tflite_tensor *input = input_tensor(m, 0), *begin = input_tensor(m, 1);
	struct inputs in = { .count = 0 };
	const struct shape *shape;
	uint32_t i;

	if (fb_i32(o, SLICE_ELLIPSIS, 0) || fb_i32(o, SLICE_NEW_AXIS, 0) ||
	    fb_u8(o, SLICE_OFFSET, 0) ||
	    !shrinks_by_one(m, fb_i32(o, SLICE_SHRINK, 0), fb_i32(o, SLICE_BEGIN, 0),
			    fb_i32(o, SLICE_END, 0)))
		return by_extension(m);
	/* The HAL wants an entry for each dimension. */
	shape = begin ? tensor_shape(m, begin) : NULL;
	if (input && tensor_shape(m, input)->rank && shape && shape->rank == 1 &&
	    shape->dims[0] && shape->dims[0] != tensor_shape(m, input)->rank)
		return by_extension(m);
	for (i = 0; i < 4; i++)
		put_input(m, &in, i);
	put_int32(m, &in, fb_i32(o, SLICE_BEGIN, 0));
	put_int32(m, &in, fb_i32(o, SLICE_END, 0));
	put_int32(m, &in, fb_i32(o, SLICE_SHRINK, 0));
	return finish_operation(m, type, &in);
}

int map_squeeze(struct mapper *m, uint32_t type)
{
	struct fb_vector list = fb_vector(&m->options, SQUEEZE_DIMS, 4);
	int32_t dims[TFLITE_MAX_RANK];
	int input, output;
	uint32_t i;

	(void)type;
	if (list.count > TFLITE_MAX_RANK)
		return map_fail(m, "%" PRIu32 " dimensions to squeeze", list.count);
	for (i = 0; i < list.count; i++)
		dims[i] = fb_vector_i32(&list, i);
	input = input_operand(m, 0);
	output = input < 0 ? -1 : output_operand(m, 0);
	return output < 0 ? -1 :
	       add_squeeze(m, output_tensor(m, 0), input, dims, list.count, output);
}

/* Images only: the HAL has no blocks along one dimension. */
int map_space_to_batch(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);

	if (input && tensor_shape(m, input)->rank != 4)
		return by_extension(m);
	return map_as_it_is(m, type);
}

/* The HAL crops nothing, either. */
static bool crops_nothing(const struct mapper *m, const struct tflite_tensor *crops)
{
	int32_t values[2 * TFLITE_MAX_RANK];
	int i, count = crops ? constant_int32(m, crops, values, 2 * TFLITE_MAX_RANK) : -1;

	for (i = 0; i < count; i++)
		if (values[i])
			return false;
	return count >= 0;
}

int map_batch_to_space(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	struct inputs in = { .count = 0 };

	if ((input && tensor_shape(m, input)->rank != 4) || !crops_nothing(m, input_tensor(m, 2)))
		return by_extension(m);
	put_input(m, &in, 0);
	put_input(m, &in, 1);
	return finish_operation(m, type, &in);
}

/* x * x */
int map_square(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };

	put_input(m, &in, 0);
	put_input(m, &in, 0);
	put_int32(m, &in, NNHAL_FUSED_NONE);
	return finish_operation(m, type, &in);
}

/* The file has the shape of the output first, then the filter, then the input. */
int map_transpose_conv(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *filter = input_tensor(m, 1);
	const struct tflite_tensor *input = input_tensor(m, 2);
	int8_t padding = fb_i8(&m->options, TRANSPOSE_CONV_PADDING, 0);
	struct inputs in = { .count = 0 };
	const struct shape *shape;
	int first, second;
	int32_t act = 0;

	if (!filter || !input)
		return map_fail(m, "filter or input are missing");
	shape = tensor_shape(m, filter);
	if (shape->rank != 4 || !shape->dims[0])
		return tensor_fail(m, filter, "the filter has not rank 4, or its number of output"
				   " channels is not known");
	if (padding != 0 && padding != 1)
		return map_fail(m, "unknown padding %d", padding);
	if (fused_activation(m, TRANSPOSE_CONV_ACTIVATION, &act))
		return -1;
	first = input_operand(m, 2);
	if (first < 0)
		return -1;
	second = filter->type == TFLITE_INT8 && is_quantized(input) && is_constant(m, filter) ?
		 filter_operand(m, 1, 0) : input_operand(m, 1);
	if (second < 0)
		return -1;
	put(&in, first);
	put(&in, second);
	put(&in, bias_operand(m, 3, shape->dims[0], first, second));
	put_input(m, &in, 0);
	put_int32(m, &in, padding == 0 ? 1 : 2);
	put_int32(m, &in, fb_i32(&m->options, TRANSPOSE_CONV_STRIDE_W, 0));
	put_int32(m, &in, fb_i32(&m->options, TRANSPOSE_CONV_STRIDE_H, 0));
	put_int32(m, &in, act);
	put_bool(m, &in, false);
	return finish_operation(m, type, &in);
}
