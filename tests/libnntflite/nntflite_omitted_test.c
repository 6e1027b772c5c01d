// SPDX-License-Identifier: MIT
/*
 * Each operator with each of its inputs omitted: what cannot do without is refused, by the library
 * with the operator or by the device, and nobody reads the tensor that is not there. What is omitted
 * is one operand for all of a type.
 */
#include <string.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/map/hal_builder.h"
#include "userspace/libnntflite/map/map_table.h"

static uint8_t file[MW_MAX_SIZE];

static struct {
	uint32_t models, refused, prepared, unnamed;
} counts;

/* The operator reads "x" at each input but one. A RELU beside it computes the output of the model. */
static struct mw_model model_of(int32_t code, uint32_t count, uint32_t omitted, uint32_t form)
{
	static const int32_t value[2] = { 1, 1 };
	const struct op_row *row = &op_table[code];
	struct mw_model m = { .num_tensors = 4, .num_inputs = 1, .num_outputs = 1, .outputs = { 2 } };
	struct mw_operator *op = &m.operators[1];
	uint32_t i;

	m.tensors[0] = (struct mw_tensor){ .name = "in", .rank = 1, .dims = { 2 } };
	m.tensors[2] = (struct mw_tensor){ .name = "out", .rank = 1, .dims = { 2 } };
	/* Integer or float, vector or scalar, constant or fed; with sizes or none for the result. */
	m.tensors[1] = (struct mw_tensor){ .name = "x", .type = form & 1 ? TFLITE_INT32 : TFLITE_FLOAT32,
					   .rank = form & 2 ? 1 : 0, .dims = { 2 } };
	m.tensors[3] = (struct mw_tensor){ .name = "result", .type = form & 1 ? TFLITE_INT32 :
					   TFLITE_FLOAT32, .rank = 1, .dims = { form & 8 ? -1 : 2 } };
	if (form & 4) {
		m.tensors[1].data = value;
		m.tensors[1].data_size = form & 2 ? 8 : 4;
	} else {
		m.inputs[m.num_inputs++] = 1;
	}
	m.num_operators = 2;
	m.operators[0] = (struct mw_operator){ .code = TFLITE_RELU, .no_options = true, .num_inputs = 1,
					       .num_outputs = 1, .outputs = { 2 } };
	*op = (struct mw_operator){ .code = code, .options_type = row->options,
				    .no_options = !row->options, .num_inputs = count,
				    .num_outputs = row->min_outputs };
	for (i = 0; i < count; i++)
		op->inputs[i] = i == omitted ? -1 : 1;
	for (i = 0; i < row->min_outputs; i++)
		op->outputs[i] = m.num_tensors - 1;
	for (i = 1; i < row->min_outputs; i++) {
		m.tensors[m.num_tensors] = m.tensors[3];
		op->outputs[i] = (int32_t)m.num_tensors++;
	}
	return m;
}

static void try(struct nnhal_device *device, const struct mw_model *m)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared = NULL;
	struct nntflite_model *model = NULL;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;

	if (nntflite_file_open_memory(file, mw_write(m, file), &opened, &diag))
		return;
	counts.models++;
	if (nntflite_model_create(opened, NULL, &model, &diag)) {
		counts.refused++;
		counts.unnamed += diag.op == NNTFLITE_NONE;
	} else if (!nnhal_device_prepare_model_sync(device, nntflite_model_get_hal(model), &options,
						    &prepared)) {
		counts.prepared++;
	}
	nnhal_prepared_model_unref(prepared);
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
}

/* Scalars of the same bytes, which are none, are others. */
static void test_one(void)
{
	struct nntflite_diag diag;
	struct hal_builder b;
	struct hal_graph *g;
	int real, number, zero;
	uint32_t index;

	hal_builder_init(&b, 1 << 20);
	g = hal_add_graph(&b, &index, &diag);
	if (ok(g, "a graph")) {
		zero = hal_add_int32(g, 0, &diag);
		real = hal_add_no_value(g, NNHAL_OPERAND_TENSOR_FLOAT32, &diag);
		number = hal_add_no_value(g, NNHAL_OPERAND_TENSOR_INT32, &diag);
		ok(zero >= 0 && real > zero && number > real, "operands of two types that are omitted");
		ok(hal_add_no_value(g, NNHAL_OPERAND_TENSOR_FLOAT32, &diag) == real &&
		   hal_add_no_value(g, NNHAL_OPERAND_TENSOR_INT32, &diag) == number &&
		   g->num_operands == 3, "each is there once");
		ok(hal_add_int32(g, 0, &diag) == zero && g->operands[number].lifetime ==
		   NNHAL_LIFETIME_NO_VALUE, "a scalar is none of them");
	}
	hal_builder_fini(&b);
}

int main(void)
{
	struct nnhal_device *device = NULL;
	struct nnhal_diag why = { "" };
	uint32_t count, at, form, rows = 0;
	int32_t code;

	if (nnhal_device_open("sim", &device, &why) != NNHAL_STATUS_NONE)
		tap_skip_all("no device: %s", why.message);
	for (code = 0; code < TFLITE_NUM_BUILTINS; code++) {
		const struct op_row *row = &op_table[code];
		uint32_t most = row->max_inputs < MW_MAX ? row->max_inputs : 3;

		rows += row->map || row->fields;
		for (count = row->min_inputs; count <= most && (row->map || row->fields); count++)
			for (at = 0; at < count && count <= MW_MAX; at++)
				for (form = 0; form < 16; form++) {
					struct mw_model m = model_of(code, count, at, form);

					try(device, &m);
				}
	}
	ok(rows > 140 && counts.models > 16 * rows,
	   "%u operators with an input omitted: %u models", rows, counts.models);
	ok(counts.refused && !counts.unnamed, "%u are refused by the library, %u without the operator",
	   counts.refused, counts.unnamed);
	ok(counts.prepared && counts.prepared < counts.models - counts.refused,
	   "%u of the others can be prepared", counts.prepared);
	test_one();
	nnhal_device_unref(device);
	return tap_done();
}
