// SPDX-License-Identifier: MIT
/*
 * Operations of the extension org.nnpu.tflite: the operators of the schema as they are.
 *
 * The operands are the inputs of the operator in its order, then the fields of its options
 * in the order of the schema (Documentation/operations/tflite.rst).
 */
#include <inttypes.h>

#include "map_ops.h"
#include "map_table.h"

/* More inputs than any operator with a list of them has in practice. */
#define MAX_INPUTS	1024
/* More than any operator has whose inputs are not a list. */
#define MAX_NAMED	32

/*
 * The operation has an operand for each input, also for those at the end that the file
 * leaves out. An operator with a list of inputs has as many as there are.
 */
static uint32_t count_inputs(const struct mapper *m)
{
	uint32_t count = m->op->inputs.count, most = op_table[m->op->code].max_inputs;

	return most <= MAX_NAMED && count < most ? most : count;
}

static int put_inputs(struct mapper *m, int *list, uint32_t count)
{
	const struct tflite_tensor *output = output_tensor(m, 0);
	/* An omitted operand has a type too: a bias that of float sums, or of integer ones. */
	uint32_t omitted = output && output->type == TFLITE_FLOAT32 ?
			   NNHAL_OPERAND_TENSOR_FLOAT32 : NNHAL_OPERAND_TENSOR_INT32;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct tflite_tensor *tensor = input_tensor(m, i);

		/* Weights with a scale per channel. */
		if (tensor && tensor->type == TFLITE_INT8 && tensor->scales.count > 1 &&
		    is_constant(m, tensor) && tensor->quantized_dim >= 0)
			list[i] = filter_operand(m, i, (uint32_t)tensor->quantized_dim);
		else
			list[i] = optional_operand(m, i, omitted);
		if (list[i] < 0)
			return -1;
	}
	return 0;
}

/* The operand of one field. */
static int field_operand(struct mapper *m, char kind, unsigned int slot, int32_t value)
{
	const struct fb_table *options = &m->options;
	const struct tflite_tensor *tensor = kind == 'y' ? output_tensor(m, 0) : input_tensor(m, 0);

	switch (kind) {
	case 'i':
		return hal_add_int32(m->g, fb_i32(options, slot, value), m->diag);
	case 'e':
		return hal_add_int32(m->g, fb_i8(options, slot, (int8_t)value), m->diag);
	case 'x':
	case 'y':
		return hal_add_int32(m->g, tensor ? tensor->type : 0, m->diag);
	case 'b':
		return hal_add_bool(m->g, fb_u8(options, slot, (uint8_t)value), m->diag);
	default:
		return hal_add_float32(m->g, fb_f32(options, slot, (float)value), m->diag);
	}
}

static int put_fields(struct mapper *m, const char *fields, int *list, uint32_t *count)
{
	unsigned int slot = 0;

	for (; *fields; slot++) {
		char kind = *fields++;
		int32_t value = 0;

		if (*fields >= '0' && *fields <= '9')
			value = *fields++ - '0';
		if (kind == '.')
			continue;
		list[*count] = field_operand(m, kind, slot, value);
		if (list[(*count)++] < 0)
			return -1;
	}
	return 0;
}

int map_extension(struct mapper *m, const char *fields)
{
	uint32_t num_inputs = count_inputs(m);
	uint32_t num_outputs = m->op->outputs.count;
	int *inputs, *outputs;
	uint32_t i;

	if (num_inputs > MAX_INPUTS || num_outputs > MAX_INPUTS)
		return map_fail(m, "%" PRIu32 " inputs and %" PRIu32 " outputs, at most %d are"
				" supported", num_inputs, num_outputs, MAX_INPUTS);
	inputs = hal_alloc(m->b, (size_t)num_inputs + 32, sizeof(*inputs), m->diag);
	outputs = hal_alloc(m->b, (size_t)num_outputs + 1, sizeof(*outputs), m->diag);
	if (!inputs || !outputs || put_inputs(m, inputs, num_inputs) ||
	    put_fields(m, fields, inputs, &num_inputs))
		return -1;
	for (i = 0; i < num_outputs; i++) {
		outputs[i] = output_operand(m, i);
		if (outputs[i] < 0)
			return -1;
	}
	return add_operation_outputs(m, HAL_EXTENSION_CODE(m->op->code), inputs, num_inputs,
				     outputs, num_outputs);
}
