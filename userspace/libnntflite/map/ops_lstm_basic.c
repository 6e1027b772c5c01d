// SPDX-License-Identifier: MIT
/*
 * LSTM with the BASIC kernel: all gates in one matrix of weights, for the input and the last
 * output side by side.
 *
 * That of floats becomes the operations that it is made of. That of uint8 is the HAL's
 * QUANTIZED_16BIT_LSTM, which has a matrix for each gate: slices of the one.
 */
#include <inttypes.h>

#include "map_ops.h"

enum { BASIC_INPUT, BASIC_LAST_OUTPUT, BASIC_WEIGHTS, BASIC_BIASES, BASIC_LAST_CELLS, BASIC_INPUTS };
enum { BASIC_OUTPUT, BASIC_CELLS, BASIC_CONCATENATED, BASIC_SUMS, BASIC_OUTPUTS };

/* Rows of the weights, in the order of the file. */
enum { GATE_INPUT, GATE_NEW, GATE_FORGET, GATE_OUTPUT, GATES };

struct basic {
	struct shape cells;		/* [batches, cells] */
	uint32_t input_size;
};

static int check_sizes(struct mapper *m, struct basic *b)
{
	const struct shape *shapes[BASIC_INPUTS];
	uint32_t i;

	if (m->op->inputs.count != BASIC_INPUTS || m->op->outputs.count != BASIC_OUTPUTS)
		return map_fail(m, "%" PRIu32 " inputs and %" PRIu32 " outputs, expected %d and %d for"
				" the BASIC kernel", m->op->inputs.count, m->op->outputs.count,
				BASIC_INPUTS, BASIC_OUTPUTS);
	for (i = 0; i < BASIC_INPUTS; i++) {
		const struct tflite_tensor *tensor = input_tensor(m, i);

		if (!tensor)
			return map_fail(m, "input %" PRIu32 " is missing", i);
		shapes[i] = tensor_shape(m, tensor);
		if (!shape_is_known(shapes[i]) || shapes[i]->rank != (i == BASIC_BIASES ? 1 : 2))
			return tensor_fail(m, tensor, "rank %" PRIu32 ", or a size that is not known,"
					   " expected %d known sizes", shapes[i]->rank,
					   i == BASIC_BIASES ? 1 : 2);
	}
	b->cells = *shapes[BASIC_LAST_CELLS];
	b->input_size = shapes[BASIC_INPUT]->dims[1];
	if (shapes[BASIC_WEIGHTS]->dims[0] != (uint64_t)GATES * b->cells.dims[1] ||
	    shapes[BASIC_WEIGHTS]->dims[1] != (uint64_t)b->input_size + b->cells.dims[1])
		return tensor_fail(m, input_tensor(m, BASIC_WEIGHTS), "%" PRIu32 " x %" PRIu32
				   " weights for %" PRIu32 " cells and an input of %" PRIu32,
				   shapes[BASIC_WEIGHTS]->dims[0], shapes[BASIC_WEIGHTS]->dims[1],
				   b->cells.dims[1], b->input_size);
	return 0;
}

static bool is_state(struct mapper *m, uint32_t pos)
{
	return input_tensor(m, pos)->is_variable;
}

/* What was computed last time, whoever keeps it. */
static int last_value(struct mapper *m, uint32_t pos)
{
	return is_state(m, pos) ? variable_operand(m, pos) : input_operand(m, pos);
}

/* Where a result goes: to the variable of input @pos, if it is one, and from there to output. */
static int result_operand(struct mapper *m, uint32_t output, uint32_t pos)
{
	return is_state(m, pos) ? variable_update(m, pos) : output_operand(m, output);
}

static int hand_out(struct mapper *m, uint32_t output, uint32_t pos, int result)
{
	int operand = is_state(m, pos) ? output_operand(m, output) : -1;

	if (!is_state(m, pos))
		return 0;
	return operand < 0 ? -1 :
	       add_reshape(m, result, operand, tensor_shape(m, output_tensor(m, output)));
}

/* One operation of one or two operands; a result below 0 stands for a new temporary. */
static int step(struct mapper *m, uint32_t type, int a, int b, int result, const struct shape *shape)
{
	struct inputs in = { .count = 0 };

	put(&in, a);
	if (type == NNHAL_OPERATION_ADD || type == NNHAL_OPERATION_MUL) {
		put(&in, b);
		put_int32(m, &in, NNHAL_FUSED_NONE);
	}
	if (in.failed)
		return -1;
	if (result < 0)
		result = temporary_operand(m, (uint32_t)a, shape);
	if (result < 0 || add_operation(m, type, in.list, in.count, result))
		return -1;
	return result;
}

/* The sums of all gates, as the file has them among its outputs, cut into one each. */
static int float_gates(struct mapper *m, const struct basic *b, int last, int *gates)
{
	struct inputs join = { .count = 0 }, product = { .count = 0 }, cut = { .count = 0 };
	int joined, sums;
	uint32_t i;

	put_input(m, &join, BASIC_INPUT);
	put(&join, last);
	put_int32(m, &join, 1);
	joined = join.failed ? -1 : output_operand(m, BASIC_CONCATENATED);
	if (joined < 0 || add_operation(m, NNHAL_OPERATION_CONCATENATION, join.list, join.count, joined))
		return -1;
	put(&product, joined);
	put_input(m, &product, BASIC_WEIGHTS);
	put_input(m, &product, BASIC_BIASES);
	put_int32(m, &product, NNHAL_FUSED_NONE);
	sums = product.failed ? -1 : output_operand(m, BASIC_SUMS);
	if (sums < 0 ||
	    add_operation(m, NNHAL_OPERATION_FULLY_CONNECTED, product.list, product.count, sums))
		return -1;
	put(&cut, sums);
	put_int32(m, &cut, 1);
	put_int32(m, &cut, GATES);
	for (i = 0; i < GATES; i++) {
		gates[i] = cut.failed ? -1 : temporary_operand(m, (uint32_t)sums, &b->cells);
		if (gates[i] < 0)
			return -1;
	}
	return add_operation_outputs(m, NNHAL_OPERATION_SPLIT, cut.list, cut.count, gates, GATES);
}

static int map_floats(struct mapper *m, const struct basic *b)
{
	int last = last_value(m, BASIC_LAST_OUTPUT), before = last_value(m, BASIC_LAST_CELLS);
	int gates[GATES], new_cells, kept, output;
	uint32_t i;

	if (last < 0 || before < 0 || float_gates(m, b, last, gates))
		return -1;
	for (i = 0; i < GATES; i++) {
		gates[i] = step(m, i == GATE_NEW ? NNHAL_OPERATION_TANH : NNHAL_OPERATION_LOGISTIC,
				gates[i], -1, -1, &b->cells);
		if (gates[i] < 0)
			return -1;
	}
	new_cells = step(m, NNHAL_OPERATION_MUL, gates[GATE_INPUT], gates[GATE_NEW], -1, &b->cells);
	kept = step(m, NNHAL_OPERATION_MUL, gates[GATE_FORGET], before, -1, &b->cells);
	output = kept < 0 ? -1 : result_operand(m, BASIC_CELLS, BASIC_LAST_CELLS);
	if (new_cells < 0 || output < 0)
		return -1;
	new_cells = step(m, NNHAL_OPERATION_ADD, new_cells, kept, output, &b->cells);
	if (new_cells < 0 || hand_out(m, BASIC_CELLS, BASIC_LAST_CELLS, new_cells))
		return -1;
	new_cells = step(m, NNHAL_OPERATION_TANH, new_cells, -1, -1, &b->cells);
	output = new_cells < 0 ? -1 : result_operand(m, BASIC_OUTPUT, BASIC_LAST_OUTPUT);
	if (output < 0 ||
	    step(m, NNHAL_OPERATION_MUL, gates[GATE_OUTPUT], new_cells, output, &b->cells) < 0)
		return -1;
	return hand_out(m, BASIC_OUTPUT, BASIC_LAST_OUTPUT, output);
}

/* A part of the weights or the biases. */
static int slice_operand(struct mapper *m, int from, uint32_t rank, const int32_t *begin,
			 const int32_t *size)
{
	struct shape shape = { .rank = rank };
	struct inputs in = { .count = 0 };
	uint32_t i;
	int part;

	for (i = 0; i < rank; i++)
		shape.dims[i] = (uint32_t)size[i];
	put(&in, from);
	put(&in, int32_vector_operand(m, begin, rank));
	put(&in, int32_vector_operand(m, size, rank));
	part = in.failed ? -1 : temporary_operand(m, (uint32_t)from, &shape);
	if (part < 0 || add_operation(m, NNHAL_OPERATION_SLICE, in.list, in.count, part))
		return -1;
	return part;
}

/*
 * The HAL has weights of the input, then of the last output, then biases; gates in its order. Its
 * operation multiplies the recurrent weights and then the weights of a row with the input and then
 * the last output, one by one. So the first columns of the file are the recurrent weights, whatever
 * they multiply.
 */
static int put_parts(struct mapper *m, const struct basic *b, struct inputs *in)
{
	static const int32_t order[GATES] = { GATE_INPUT, GATE_FORGET, GATE_NEW, GATE_OUTPUT };
	int32_t cells = (int32_t)b->cells.dims[1], width = (int32_t)b->input_size;
	int weights = input_operand(m, BASIC_WEIGHTS);
	int biases = weights < 0 ? -1 : bias_operand(m, BASIC_BIASES, GATES * b->cells.dims[1],
						     in->list[0], weights);
	uint32_t turn, i;

	if (biases < 0)
		return -1;
	for (turn = 0; turn < 3; turn++) {
		for (i = 0; i < GATES && !in->failed; i++) {
			int32_t begin[] = { order[i] * cells, turn == 0 ? cells : 0 };
			int32_t size[] = { cells, turn == 1 ? cells : width };

			put(in, slice_operand(m, turn == 2 ? biases : weights, turn == 2 ? 1 : 2, begin,
					      size));
		}
	}
	return in->failed ? -1 : 0;
}

static int map_bytes(struct mapper *m, const struct basic *b)
{
	struct inputs in = { .count = 0 };
	int outputs[2];

	put_input(m, &in, BASIC_INPUT);
	if (in.failed || put_parts(m, b, &in))
		return -1;
	put(&in, last_value(m, BASIC_LAST_CELLS));
	if (!in.failed)
		put(&in, last_value(m, BASIC_LAST_OUTPUT));
	if (in.failed)
		return -1;
	outputs[0] = result_operand(m, BASIC_CELLS, BASIC_LAST_CELLS);
	outputs[1] = outputs[0] < 0 ? -1 : result_operand(m, BASIC_OUTPUT, BASIC_LAST_OUTPUT);
	if (outputs[1] < 0 || add_operation_outputs(m, NNHAL_OPERATION_QUANTIZED_16BIT_LSTM, in.list,
						    in.count, outputs, 2) ||
	    hand_out(m, BASIC_CELLS, BASIC_LAST_CELLS, outputs[0]))
		return -1;
	return hand_out(m, BASIC_OUTPUT, BASIC_LAST_OUTPUT, outputs[1]);
}

int map_lstm_basic(struct mapper *m)
{
	const struct tflite_tensor *input = input_tensor(m, BASIC_INPUT);
	struct basic b;

	if (check_sizes(m, &b))
		return -1;
	if (is_float(input))
		return map_floats(m, &b);
	if (input->type == TFLITE_UINT8)
		return map_bytes(m, &b);
	return tensor_fail(m, input, "type %s is not supported here, only floats and uint8",
			   tflite_type_name(input->type));
}
