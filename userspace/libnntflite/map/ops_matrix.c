// SPDX-License-Identifier: MIT
/*
 * Matrix products.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "map_ops.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Slots of the options tables, in the order of the schema. */
enum { FULLY_CONNECTED_ACTIVATION, FULLY_CONNECTED_WEIGHTS_FORMAT };

#define HAL_PADDING_VALID	2

/* Rows, columns and input width of a matrix product; 0 rows if they depend on values. */
struct product {
	uint32_t batch;
	uint32_t units;
	uint32_t width;
};

static int fully_connected_sizes(struct mapper *m, struct product *p)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	const struct tflite_tensor *weights = input_tensor(m, 1);
	const struct tflite_tensor *output = output_tensor(m, 0);
	const struct shape *in, *out, *matrix;
	uint64_t in_elements, out_elements, batch;

	if (!input || !weights || !output)
		return map_fail(m, "input, weights or output are missing");
	matrix = tensor_shape(m, weights);
	if (matrix->rank != 2 || !shape_is_known(matrix))
		return tensor_fail(m, weights, "weights of rank %" PRIu32 ", a matrix of known"
				   " size is needed", matrix->rank);
	p->batch = 0;
	p->units = matrix->dims[0];
	p->width = matrix->dims[1];
	in = tensor_shape(m, input);
	out = tensor_shape(m, output);
	if (!shape_is_known(in) || !shape_is_known(out))
		return 0;
	in_elements = shape_elements(in);
	out_elements = shape_elements(out);
	if (in_elements == 0 || in_elements % p->width != 0)
		return map_fail(m, "the shape of the input does not fit weights of %" PRIu32
				" columns", p->width);
	batch = in_elements / p->width;
	if (out_elements != batch * p->units)
		return map_fail(m, "output of %" PRIu64 " elements, input and weights give %"
				PRIu64, out_elements, batch * p->units);
	p->batch = (uint32_t)batch;
	return 0;
}

/* Where tensors get other dimensions on the way, these have to be known. */
static int check_rows(struct mapper *m, const struct product *p)
{
	if (p->batch == 0)
		return map_fail(m, "the number of rows of the input depends on values");
	return 0;
}

/*
 * Weights with one scale per output have no form in FULLY_CONNECTED of the HAL; a
 * CONV_2D on an image of one pixel is the same sum with the same multipliers.
 */
static int map_per_channel_product(struct mapper *m, const struct product *p)
{
	const struct shape in_shape = { .rank = 4, .dims = { p->batch, 1, 1, p->width } };
	const struct shape out_shape = { .rank = 4, .dims = { p->batch, 1, 1, p->units } };
	struct nnhal_operand operand;
	uint32_t filter_dims[4] = { p->units, 1, 1, p->width };
	struct inputs in = { .count = 0 };
	struct shape shape;
	int input, pixel, filter, result, output;
	uint32_t *dims;
	int32_t act = 0;

	if (check_rows(m, p) || fused_activation(m, FULLY_CONNECTED_ACTIVATION, &act))
		return -1;
	input = input_operand(m, 0);
	if (input < 0)
		return -1;
	pixel = temporary_operand(m, (uint32_t)input, &in_shape);
	if (pixel < 0 || add_reshape(m, input, pixel, &in_shape))
		return -1;
	filter = filter_operand(m, 1, 0);
	if (filter < 0)
		return -1;
	dims = hal_alloc(m->b, ARRAY_SIZE(filter_dims), sizeof(*dims), m->diag);
	if (!dims)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(filter_dims); i++)
		dims[i] = filter_dims[i];
	m->g->operands[filter].num_dimensions = ARRAY_SIZE(filter_dims);
	m->g->operands[filter].dimensions = dims;

	put(&in, pixel);
	put(&in, filter);
	put(&in, bias_operand(m, 2, p->units, pixel, filter));
	put_int32(m, &in, HAL_PADDING_VALID);
	put_int32(m, &in, 1);
	put_int32(m, &in, 1);
	put_int32(m, &in, act);
	if (in.failed || describe_tensor(m, output_tensor(m, 0), &operand, &shape))
		return -1;
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	result = temporary_operand(m, (uint32_t)output, &out_shape);
	if (result < 0 ||
	    add_operation(m, NNHAL_OPERATION_CONV_2D, in.list, in.count, result))
		return -1;
	return add_reshape(m, result, output, &shape);
}

int map_fully_connected(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	const struct tflite_tensor *weights;
	struct nnhal_operand operand;
	struct shape matrix, shape;
	int input, filter, output;
	struct product p = { 0, 0, 0 };
	int32_t act = 0;

	if (fully_connected_sizes(m, &p))
		return -1;
	if (fb_i8(&m->options, FULLY_CONNECTED_WEIGHTS_FORMAT, 0) != 0)
		return map_fail(m, "shuffled weights are not supported");
	weights = input_tensor(m, 1);
	if (weights->type == TFLITE_INT8 && weights->scales.count > 1 &&
	    is_constant(m, weights) && is_quantized(input_tensor(m, 0)))
		return map_per_channel_product(m, &p);

	if (fused_activation(m, FULLY_CONNECTED_ACTIVATION, &act))
		return -1;
	input = input_operand(m, 0);
	if (input < 0)
		return -1;
	if (m->g->operands[input].num_dimensions < 2) {
		int flat = input;

		if (check_rows(m, &p))
			return -1;
		matrix = (struct shape){ .rank = 2, .dims = { p.batch, p.width } };
		input = temporary_operand(m, (uint32_t)flat, &matrix);
		if (input < 0 || add_reshape(m, flat, input, &matrix))
			return -1;
	}
	filter = input_operand(m, 1);
	if (filter < 0)
		return -1;
	put(&in, input);
	put(&in, filter);
	put(&in, bias_operand(m, 2, p.units, input, filter));
	put_int32(m, &in, act);
	if (in.failed || describe_tensor(m, output_tensor(m, 0), &operand, &shape))
		return -1;
	if (shape.rank == 2 && shape.dims[0] == p.batch)
		return finish_operation(m, type, &in);

	/* The HAL's result is a matrix; the file may keep more dimensions. */
	if (check_rows(m, &p))
		return -1;
	matrix = (struct shape){ .rank = 2, .dims = { p.batch, p.units } };
	output = output_operand(m, 0);
	if (output < 0)
		return -1;
	filter = temporary_operand(m, (uint32_t)output, &matrix);
	if (filter < 0 || add_operation(m, type, in.list, in.count, filter))
		return -1;
	return add_reshape(m, filter, output, &shape);
}
