// SPDX-License-Identifier: MIT
/*
 * Operators that keep a state: LSTM, RNN and SVDF.
 */
#include <inttypes.h>

#include "map_ops.h"
#include "map_table.h"

/* Slots of the options tables, in the order of the schema. */
enum {
	LSTM_ACTIVATION, LSTM_CELL_CLIP, LSTM_PROJ_CLIP, LSTM_TIME_MAJOR, LSTM_ASYMMETRIC,
	LSTM_DIAGONAL,
};
enum { LSTM_CELL_KERNEL = 3, LSTM_CELL_ASYMMETRIC };	/* those before are LSTM_* */
enum { RNN_TIME_MAJOR, RNN_ACTIVATION };
enum { RNN_CELL_ACTIVATION };
enum { SVDF_RANK, SVDF_ACTIVATION };

/* Inputs of an LSTM. */
enum {
	LSTM_INPUT_GATE = 1, LSTM_PEEPHOLES = 9, LSTM_BIASES = 12, LSTM_PROJECTION = 16, LSTM_PROJECTION_BIAS = 17,
	LSTM_OUTPUT_STATE = 18, LSTM_CELL_STATE = 19, LSTM_NORMALIZATION = 20, LSTM_INPUTS = 24,
};

#define LSTM_INTERMEDIATES	5

/* LSTMKernelType of the schema. */
#define LSTM_KERNEL_FULL	0
#define LSTM_KERNEL_BASIC	1

/* ActivationFunctionType of the schema. */
#define ACTIVATION_TANH		4

/* The type that an omitted input of an LSTM would have. */
static uint32_t lstm_type(struct mapper *m, uint32_t pos, bool quantized)
{
	if (!quantized)
		return real_type(m);
	if ((pos >= LSTM_PEEPHOLES && pos < LSTM_BIASES) || pos >= LSTM_NORMALIZATION)
		return NNHAL_OPERAND_TENSOR_QUANT16_SYMM;
	if ((pos >= LSTM_BIASES && pos < LSTM_PROJECTION) || pos == LSTM_PROJECTION_BIAS)
		return NNHAL_OPERAND_TENSOR_INT32;
	return NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
}

static void put_lstm_inputs(struct mapper *m, struct inputs *in, uint32_t from, uint32_t to,
			    bool quantized)
{
	uint32_t pos;

	for (pos = from; pos < to && !in->failed; pos++) {
		if (pos == LSTM_OUTPUT_STATE || pos == LSTM_CELL_STATE)
			put(in, variable_operand(m, pos));
		else
			put(in, optional_operand(m, pos, lstm_type(m, pos, quantized)));
	}
}

/* Scale and zero point of the values in between, which hold no value in the file. */
static void put_intermediates(struct mapper *m, struct inputs *in)
{
	uint32_t i;

	for (i = 0; i < LSTM_INTERMEDIATES; i++) {
		const struct tflite_tensor *t = intermediate_tensor(m, i);
		int64_t zero = t && t->zero_points.count ? fb_vector_i64(&t->zero_points, 0) : 0;

		if (zero < INT32_MIN || zero > INT32_MAX) {
			tensor_fail(m, t, "quantization zero point %" PRId64, zero);
			in->failed = true;
			return;
		}
		put_float32(m, in, t && t->scales.count ? fb_vector_f32(&t->scales, 0) : 0);
		put_int32(m, in, (int32_t)zero);
	}
}

static int finish_lstm(struct mapper *m, uint32_t type, const struct inputs *in)
{
	int outputs[3];

	if (in->failed)
		return -1;
	outputs[0] = output_operand(m, 0);
	outputs[1] = outputs[0] < 0 ? -1 : variable_update(m, LSTM_OUTPUT_STATE);
	outputs[2] = outputs[1] < 0 ? -1 : variable_update(m, LSTM_CELL_STATE);
	return outputs[2] < 0 ? -1 : add_operation_outputs(m, type, in->list, in->count, outputs, 3);
}

int map_sequence_lstm(struct mapper *m, uint32_t type)
{
	const struct fb_table *o = &m->options;
	const struct tflite_tensor *input = input_tensor(m, 0);
	struct inputs in = { .count = 0 };

	if (!input)
		return map_fail(m, "input 0 is missing");
	if (fb_u8(o, LSTM_DIAGONAL, 0))
		return map_fail(m, "diagonal recurrent tensors are not supported");
	if (input->type == TFLITE_INT8) {
		put_lstm_inputs(m, &in, 0, LSTM_INPUTS, true);
		put_int32(m, &in, fb_i8(o, LSTM_ACTIVATION, 0));
		put_float32(m, &in, fb_f32(o, LSTM_CELL_CLIP, 0));
		put_float32(m, &in, fb_f32(o, LSTM_PROJ_CLIP, 0));
		put_bool(m, &in, fb_u8(o, LSTM_TIME_MAJOR, 0));
		put_bool(m, &in, fb_u8(o, LSTM_ASYMMETRIC, 0));
		put_bool(m, &in, false);
		put_intermediates(m, &in);
		return finish_lstm(m, HAL_EXTENSION_CODE(m->op->code), &in);
	}
	if (!is_float(input))
		return tensor_fail(m, input, "type %s is not supported here",
				   tflite_type_name(input->type));
	put_lstm_inputs(m, &in, 0, LSTM_NORMALIZATION, false);
	put_int32(m, &in, fb_i8(o, LSTM_ACTIVATION, 0));
	put_real(m, &in, fb_f32(o, LSTM_CELL_CLIP, 0));
	put_real(m, &in, fb_f32(o, LSTM_PROJ_CLIP, 0));
	put_bool(m, &in, fb_u8(o, LSTM_TIME_MAJOR, 0));
	put_lstm_inputs(m, &in, LSTM_NORMALIZATION, LSTM_INPUTS, false);
	return finish_lstm(m, type, &in);
}

/* The HAL gives what it has of the gates, in memory that nobody reads afterwards. */
static int gates_operand(struct mapper *m, uint32_t like)
{
	const struct tflite_tensor *state = input_tensor(m, LSTM_CELL_STATE);
	uint32_t gates = input_tensor(m, LSTM_INPUT_GATE) ? 4 : 3;
	struct shape shape = { .rank = 0 };

	if (state)
		shape = *tensor_shape(m, state);
	if (shape.rank == 2)
		shape.dims[1] *= gates;
	return temporary_operand(m, like, &shape);
}

int map_lstm(struct mapper *m, uint32_t type)
{
	const struct fb_table *o = &m->options;
	const struct tflite_tensor *input = input_tensor(m, 0);
	int32_t kernel = fb_i8(o, LSTM_CELL_KERNEL, 0);
	struct inputs in = { .count = 0 };
	int outputs[4];

	if (kernel == LSTM_KERNEL_BASIC) {
		if (fb_i8(o, LSTM_ACTIVATION, 0) != ACTIVATION_TANH ||
		    fb_f32(o, LSTM_CELL_CLIP, 0) != 0 || fb_f32(o, LSTM_PROJ_CLIP, 0) != 0)
			return map_fail(m, "the BASIC kernel with activation %d, expected TANH (%d),"
					" or with limits", fb_i8(o, LSTM_ACTIVATION, 0),
					ACTIVATION_TANH);
		return map_lstm_basic(m);
	}
	if (kernel != LSTM_KERNEL_FULL)
		return map_fail(m, "unknown kernel type %" PRId32, kernel);
	if (!input)
		return map_fail(m, "input 0 is missing");
	if (m->op->inputs.count < LSTM_NORMALIZATION)
		return map_fail(m, "%" PRIu32 " inputs, expected %d or %d", m->op->inputs.count,
				LSTM_NORMALIZATION, LSTM_INPUTS);
	if (input->type == TFLITE_INT8) {
		put_lstm_inputs(m, &in, 0, LSTM_INPUTS, true);
		put_int32(m, &in, fb_i8(o, LSTM_ACTIVATION, 0));
		put_float32(m, &in, fb_f32(o, LSTM_CELL_CLIP, 0));
		put_float32(m, &in, fb_f32(o, LSTM_PROJ_CLIP, 0));
		put_int32(m, &in, kernel);
		put_bool(m, &in, fb_u8(o, LSTM_CELL_ASYMMETRIC, 0));
		put_intermediates(m, &in);
		m->b->uses_extension = true;
		return finish_lstm(m, HAL_EXTENSION_CODE(m->op->code), &in);
	}
	if (!is_float(input))
		return tensor_fail(m, input, "type %s is not supported here",
				   tflite_type_name(input->type));
	put_lstm_inputs(m, &in, 0, LSTM_NORMALIZATION, false);
	put_int32(m, &in, fb_i8(o, LSTM_ACTIVATION, 0));
	put_real(m, &in, fb_f32(o, LSTM_CELL_CLIP, 0));
	put_real(m, &in, fb_f32(o, LSTM_PROJ_CLIP, 0));
	put_lstm_inputs(m, &in, LSTM_NORMALIZATION, LSTM_INPUTS, false);
	if (in.failed)
		return -1;
	/* The HAL has the states before the output. */
	outputs[3] = output_operand(m, 0);
	outputs[0] = outputs[3] < 0 ? -1 : gates_operand(m, in.list[0]);
	outputs[1] = outputs[0] < 0 ? -1 : variable_update(m, LSTM_OUTPUT_STATE);
	outputs[2] = outputs[1] < 0 ? -1 : variable_update(m, LSTM_CELL_STATE);
	return outputs[2] < 0 ? -1 : add_operation_outputs(m, type, in.list, in.count, outputs, 4);
}

int map_sequence_rnn(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	uint32_t pos;
	int outputs[2];

	for (pos = 0; pos < 4; pos++)
		put_input(m, &in, pos);
	if (!in.failed)
		put(&in, variable_operand(m, 4));
	put_int32(m, &in, fb_i8(&m->options, RNN_ACTIVATION, 0));
	put_int32(m, &in, fb_u8(&m->options, RNN_TIME_MAJOR, 0));
	if (in.failed)
		return -1;
	outputs[0] = output_operand(m, 0);
	outputs[1] = outputs[0] < 0 ? -1 : variable_update(m, 4);
	return outputs[1] < 0 ? -1 : add_operation_outputs(m, type, in.list, in.count, outputs, 2);
}

int map_rnn(struct mapper *m, uint32_t type)
{
	struct inputs in = { .count = 0 };
	uint32_t pos;
	int output, outputs[2];

	for (pos = 0; pos < 4; pos++)
		put_input(m, &in, pos);
	if (!in.failed)
		put(&in, variable_operand(m, 4));
	put_int32(m, &in, fb_i8(&m->options, RNN_CELL_ACTIVATION, 0));
	if (in.failed)
		return -1;
	output = output_operand(m, 0);
	outputs[0] = output < 0 ? -1 : variable_update(m, 4);
	outputs[1] = output;
	return outputs[0] < 0 ? -1 : add_operation_outputs(m, type, in.list, in.count, outputs, 2);
}

int map_svdf(struct mapper *m, uint32_t type)
{
	const struct tflite_tensor *input = input_tensor(m, 0);
	bool quantized = input && input->type == TFLITE_INT8;
	struct inputs in = { .count = 0 };
	int output, state, outputs[2];
	uint32_t pos;

	for (pos = 0; pos < 3; pos++)
		put_input(m, &in, pos);
	if (!in.failed)
		put(&in, optional_operand(m, 3, quantized ? NNHAL_OPERAND_TENSOR_INT32 :
							    real_type(m)));
	if (!in.failed)
		put(&in, variable_operand(m, 4));
	put_int32(m, &in, fb_i32(&m->options, SVDF_RANK, 0));
	put_int32(m, &in, fb_i8(&m->options, SVDF_ACTIVATION, 0));
	if (quantized)
		put_bool(m, &in, false);
	if (in.failed)
		return -1;
	output = output_operand(m, 0);
	state = output < 0 ? -1 : variable_update(m, 4);
	if (state < 0)
		return -1;
	/* The HAL has the state first. */
	outputs[0] = quantized ? output : state;
	outputs[1] = quantized ? state : output;
	return add_operation_outputs(m, quantized ? HAL_EXTENSION_CODE(m->op->code) : type, in.list,
				     in.count, outputs, 2);
}
