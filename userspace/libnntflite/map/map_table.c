// SPDX-License-Identifier: MIT
/*
 * The builtin operators of the schema, and how each is mapped.
 *
 * A row says for which types of the deciding tensor an operation of the HAL serves, and
 * which function maps it. For all other types, and for operators that the HAL does not
 * have, the operation of the same number of the extension org.nnpu.tflite serves, if the
 * row has its fields.
 */
#include <inttypes.h>

#include "map_model.h"
#include "map_table.h"
#include "map_ops.h"

#define T(name)		(1u << TFLITE_##name)
#define FLOATS		(T(FLOAT32) | T(FLOAT16))
#define QUANT8		(T(UINT8) | T(INT8))
#define HAL(name)	.hal = NNHAL_OPERATION_##name
#define INPUTS(a, b)	.min_inputs = (a), .max_inputs = (b)
#define OUTPUTS(a, b)	.min_outputs = (a), .max_outputs = (b)
#define OPTIONS(name)	TFLITE_##name##_OPTIONS
#define MANY		65535

const struct op_row op_table[TFLITE_NUM_BUILTINS] = {
	[TFLITE_ADD] = {
		HAL(ADD), .types = FLOATS | QUANT8 | T(INT32), .map = map_binary,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(ADD),
		.fields = "e",
	},
	[TFLITE_AVERAGE_POOL_2D] = {
		HAL(AVERAGE_POOL_2D), .types = FLOATS | QUANT8, .map = map_pool_2d,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(POOL_2D), .needs_options = true,
		.fields = "eiiiie",
	},
	[TFLITE_CONCATENATION] = {
		HAL(CONCATENATION), .types = FLOATS | QUANT8 | T(INT32), .map = map_concatenation,
		INPUTS(1, MANY), OUTPUTS(1, 1), .options = OPTIONS(CONCATENATION), .needs_options = true,
		.fields = "ie",
	},
	[TFLITE_CONV_2D] = {
		HAL(CONV_2D), .types = FLOATS | QUANT8, .map = map_conv_2d,
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(CONV_2D), .needs_options = true,
		.fields = "eiiei1i1",
	},
	[TFLITE_DEPTHWISE_CONV_2D] = {
		HAL(DEPTHWISE_CONV_2D), .types = FLOATS | QUANT8, .map = map_depthwise_conv_2d,
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(DEPTHWISE_CONV_2D), .needs_options = true,
		.fields = "eiiiei1i1",
	},
	[TFLITE_DEQUANTIZE] = {
		HAL(DEQUANTIZE), .types = FLOATS | QUANT8, .map = map_dequantize,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_FULLY_CONNECTED] = {
		HAL(FULLY_CONNECTED), .types = FLOATS | QUANT8, .map = map_fully_connected,
		INPUTS(2, 3), OUTPUTS(1, 1), .options = OPTIONS(FULLY_CONNECTED), .needs_options = true,
		.fields = "eebb",
	},
	[TFLITE_LOGISTIC] = {
		HAL(LOGISTIC), .types = FLOATS | QUANT8, .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_MAX_POOL_2D] = {
		HAL(MAX_POOL_2D), .types = FLOATS | QUANT8, .map = map_pool_2d,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(POOL_2D), .needs_options = true,
		.fields = "eiiiie",
	},
	[TFLITE_MUL] = {
		HAL(MUL), .types = FLOATS | QUANT8 | T(INT32), .map = map_binary,
		INPUTS(2, 2), OUTPUTS(1, 1), .options = OPTIONS(MUL),
		.fields = "e",
	},
	[TFLITE_RELU] = {
		HAL(RELU), .types = FLOATS | QUANT8, .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RELU_N1_TO_1] = {
		HAL(RELU1), .types = FLOATS | QUANT8, .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RELU6] = {
		HAL(RELU6), .types = FLOATS | QUANT8, .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_RESHAPE] = {
		HAL(RESHAPE), .types = FLOATS | QUANT8 | T(INT32), .map = map_reshape,
		INPUTS(1, 2), OUTPUTS(1, 1), .options = OPTIONS(RESHAPE),
	},
	[TFLITE_SOFTMAX] = {
		HAL(SOFTMAX), .types = FLOATS | QUANT8, .map = map_softmax,
		INPUTS(1, 1), OUTPUTS(1, 1), .options = OPTIONS(SOFTMAX), .needs_options = true,
		.fields = "f",
	},
	[TFLITE_TANH] = {
		HAL(TANH), .types = FLOATS | QUANT8, .map = map_unary,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
	[TFLITE_QUANTIZE] = {
		HAL(QUANTIZE), .types = FLOATS | QUANT8, .map = map_quantize,
		INPUTS(1, 1), OUTPUTS(1, 1),
		.fields = "",
	},
};

static int check_row(struct mapper *m, const struct op_row *row)
{
	const struct tflite_operator *op = m->op;

	if (op->inputs.count < row->min_inputs || op->inputs.count > row->max_inputs)
		return map_fail(m, "%" PRIu32 " inputs, expected %u to %u", op->inputs.count,
				row->min_inputs, row->max_inputs);
	if (op->outputs.count < row->min_outputs || op->outputs.count > row->max_outputs)
		return map_fail(m, "%" PRIu32 " outputs, expected %u to %u", op->outputs.count,
				row->min_outputs, row->max_outputs);
	if (row->needs_options && !op->options.present)
		return map_fail(m, "its options are missing");
	if (row->options && op->options.present && op->options_type != row->options)
		return map_fail(m, "options of type %u, expected %u", op->options_type,
				row->options);
	return 0;
}

static bool hal_serves(const struct mapper *m, const struct op_row *row)
{
	const struct tflite_tensor *tensor;

	if (!row->map)
		return false;
	if (!row->types)
		return true;
	tensor = input_tensor(m, row->type_input);
	/* An operator without the input is refused by the function, with a reason. */
	return !tensor || (tensor->type >= 0 && tensor->type < 32 &&
			   row->types >> tensor->type & 1);
}

static int map_row(struct mapper *m, const struct op_row *row)
{
	const struct tflite_tensor *tensor;

	tensor = output_tensor(m, 0);
	if (!row->map && !row->fields)
		return map_fail(m, "this operator (output tensor '%s') is not supported%s%s",
				tensor ? TEXT(tensor->name) : "", row->why_not ? ": " : "",
				row->why_not ? row->why_not : "");
	if (check_row(m, row))
		return -1;
	if (hal_serves(m, row))
		return row->map(m, row->hal);
	if (row->fields)
		return map_extension(m, row->fields);
	tensor = input_tensor(m, row->type_input);
	return tensor_fail(m, tensor, "type %s is not supported here",
			   tflite_type_name(tensor->type));
}

static int map_custom(struct mapper *m)
{
	const struct tflite_tensor *output = output_tensor(m, 0);

	return map_fail(m, "custom operator '%s' (output tensor '%s') is not supported",
			TEXT(m->op->custom_name), output ? TEXT(output->name) : "");
}

int map_operator(struct mapper *m)
{
	static const struct op_row unknown = { .max_inputs = MANY, .max_outputs = MANY };
	int32_t code = m->op->code;
	int ret;

	if (code == TFLITE_CUSTOM)
		ret = map_custom(m);
	else
		ret = map_row(m, code >= 0 && code < TFLITE_NUM_BUILTINS ? &op_table[code] :
									   &unknown);
	return fb_failed(&m->reader) ? -1 : ret;
}
