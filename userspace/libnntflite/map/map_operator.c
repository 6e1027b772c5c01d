// SPDX-License-Identifier: MIT
/*
 * Mapping an operator by its row of the table.
 */
#include <inttypes.h>

#include "map_ops.h"
#include "map_table.h"

static int check_row(struct mapper *m, const struct op_row *row)
{
	const struct tflite_operator *op = m->op;

	if (op->inputs.count < row->min_inputs || op->inputs.count > row->max_inputs)
		return map_fail(m, "%" PRIu32 " inputs, expected %u to %u", op->inputs.count,
				row->min_inputs, row->max_inputs);
	if (op->outputs.count < row->min_outputs || op->outputs.count > row->max_outputs)
		return map_fail(m, "%" PRIu32 " outputs, expected %u to %u", op->outputs.count,
				row->min_outputs, row->max_outputs);
	if (row->options_2) {
		m->options = op->options_2;
		m->options.reader = &m->reader;
	}
	if (row->needs_options && !m->options.present)
		return map_fail(m, "its options are missing");
	if (row->options && op->options.present && op->options_type != row->options)
		return map_fail(m, "options of type %u, expected %u", op->options_type,
				row->options);
	if (row->options_2 && op->options_2_type != row->options_2)
		return map_fail(m, "options of type %u of BuiltinOptions2, expected %u",
				op->options_2_type, row->options_2);
	return 0;
}

static bool hal_serves(const struct mapper *m, const struct op_row *row)
{
	const struct tflite_tensor *tensor;
	uint32_t i;

	if (!row->map)
		return false;
	/* Most operations of the HAL end at rank 4, and none takes places or sizes of int64. */
	for (i = 0; row->fields && i < m->op->inputs.count; i++) {
		tensor = input_tensor(m, i);
		if (tensor && ((!row->any_rank && tensor_shape(m, tensor)->rank > 4) || tensor->type == TFLITE_INT64))
			return false;
	}
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

	if (!row->map && !row->fields)
		return map_fail(m, "this operator is not supported: %s", op_left_out(m->op->code));
	if (check_row(m, row))
		return -1;
	if (hal_serves(m, row))
		return row->map(m, row->hal);
	/* The shape may be among the options. */
	if (m->op->code == TFLITE_RESHAPE)
		return map_reshape(m, HAL_EXTENSION_CODE(TFLITE_RESHAPE));
	if (row->fields)
		return map_extension(m, row->fields);
	tensor = input_tensor(m, row->type_input);
	return tensor_fail(m, tensor, "type %s is not supported here",
			   tflite_type_name(tensor->type));
}

static int map_code(struct mapper *m)
{
	static const struct op_row unknown = { .max_inputs = OP_ROW_MANY };
	int32_t code = m->op->code;

	return map_row(m, code >= 0 && code < TFLITE_NUM_BUILTINS ? &op_table[code] : &unknown);
}

int map_operator(struct mapper *m)
{
	const struct tflite_operator *own = m->op;
	struct tflite_operator other = *own;
	int ret;

	other.code = op_same_as(own->code);
	if (other.code != own->code) {
		/* Options that no such operator has must not become those of the other one. */
		other.options.present = false;
		m->options.present = false;
		m->op = &other;
	}
	ret = map_code(m);
	m->op = own;
	if (!fb_failed(&m->reader) && !ret)
		return 0;
	/* Readers of the file and builders of the model do not know the operator. */
	if (m->diag->op == NNTFLITE_NONE && m->diag->subgraph == NNTFLITE_NONE && !m->diag->errnum)
		return map_name_place(m);
	return -1;
}
