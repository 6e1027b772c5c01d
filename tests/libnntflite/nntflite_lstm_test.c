// SPDX-License-Identifier: MIT
/*
 * LSTM with the BASIC kernel: its states from run to run, and what is refused. tests/tflite has
 * more results.
 */
#include <string.h>

#include "graph_builder.h"
#include "userspace/libnntflite/file/schema.h"

static struct nnhal_device *device;

enum { X, LAST_OUTPUT, WEIGHTS, BIASES, LAST_CELLS, OUTPUT, CELLS, JOINED, SUMS, TENSORS };
enum { SIZE = 2, UNITS = 1 };

static void set_shape(struct mw_model *m, int tensor, uint32_t rank, int32_t a, int32_t b)
{
	m->tensors[tensor].rank = rank;
	m->tensors[tensor].dims[0] = a;
	m->tensors[tensor].dims[1] = b;
}

/* One cell; its states are variables or inputs. */
static struct mw_model lstm_model(bool is_kept)
{
	static const float weights[4 * UNITS * (SIZE + UNITS)] = {
		0.5f, -0.25f, 0.75f, 1, 0.5f, -0.5f, 0.25f, 0.5f, 0.125f, -1, 0.75f, 0.5f,
	};
	static const float biases[4 * UNITS] = { 0.1f, -0.2f, 0.3f, 0.4f };
	struct mw_model m = { .num_outputs = 2, .outputs = { OUTPUT, CELLS } };
	struct mw_operator *op;
	int i;

	for (i = 0; i < TENSORS; i++) {
		add_tensor(&m, TFLITE_FLOAT32, 1);
		set_shape(&m, i, 2, 1, UNITS);
	}
	set_shape(&m, X, 2, 1, SIZE);
	set_shape(&m, WEIGHTS, 2, 4 * UNITS, SIZE + UNITS);
	set_shape(&m, BIASES, 1, 4 * UNITS, 0);
	set_shape(&m, JOINED, 2, 1, SIZE + UNITS);
	set_shape(&m, SUMS, 2, 1, 4 * UNITS);
	m.tensors[WEIGHTS].data = weights;
	m.tensors[WEIGHTS].data_size = sizeof(weights);
	m.tensors[BIASES].data = biases;
	m.tensors[BIASES].data_size = sizeof(biases);
	m.tensors[LAST_OUTPUT].variable = is_kept;
	m.tensors[LAST_CELLS].variable = is_kept;
	m.inputs[m.num_inputs++] = X;
	if (!is_kept) {
		m.inputs[m.num_inputs++] = LAST_OUTPUT;
		m.inputs[m.num_inputs++] = LAST_CELLS;
	}
	op = add_operator(&m, TFLITE_LSTM, TFLITE_LSTM_OPTIONS);
	op->options[0] = (struct mw_option){ MW_I8, 0, 4, 0, NULL };
	op->options[1] = (struct mw_option){ MW_I8, 3, 1, 0, NULL };
	for (i = 0; i < OUTPUT; i++)
		reads(op, i);
	for (i = OUTPUT; i < TENSORS; i++)
		writes(op, i);
	return m;
}

/* The output and the cells for an input, and for states if they are inputs. */
static bool run(struct opened *o, const float *x, const float *states, float *results)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct nntflite_diag diag;
	uint32_t i;

	memcpy(nntflite_session_input(o->session, 0), x, SIZE * sizeof(*x));
	for (i = 0; states && i < 2; i++)
		memcpy(nntflite_session_input(o->session, i + 1), &states[i], sizeof(*states));
	if (nntflite_session_run(o->session, NULL, NULL, &diag) != NNHAL_STATUS_NONE) {
		tap_note("%s", diag.message);
		return false;
	}
	for (i = 0; i < 2; i++) {
		if (nntflite_session_output(o->session, i, &value) != NNHAL_STATUS_NONE ||
		    value.bytes != sizeof(*results))
			return false;
		memcpy(&results[i], value.data, sizeof(*results));
	}
	return true;
}

static void test_states(void)
{
	static const float x[2][SIZE] = { { 1, -2 }, { 0.5f, 3 } }, zeros[2];
	struct mw_model kept = lstm_model(true), fed = lstm_model(false);
	float first[2], second[2], expected[2];
	struct opened a, b;

	if (open_session(device, &kept, &a, "states that are variables") &&
	    open_session(device, &fed, &b, "states that are fed")) {
		ok(run(&a, x[0], NULL, first) && run(&b, x[0], zeros, expected) &&
		   !memcmp(first, expected, sizeof(first)) && first[0] != 0, "it begins with zeros");
		ok(run(&a, x[1], NULL, second) && run(&b, x[1], first, expected) &&
		   !memcmp(second, expected, sizeof(second)), "the next run goes on from there");
		ok(run(&b, x[1], zeros, expected) && memcmp(second, expected, sizeof(second)),
		   "which makes a difference");
		close_session(&b);
	}
	close_session(&a);
}

static void refuse(const struct mw_model *m, const char *words)
{
	if (!ok(file_is_refused(m, words), "refused: %s", words))
		tap_note("%s", builder_note);
}

static void test_refused(void)
{
	struct mw_model m = lstm_model(true);

	m.operators[0].options[1].value = 2;
	refuse(&m, "(LSTM): unknown kernel type 2");
	m = lstm_model(true);
	m.operators[0].options[0].value = 1;
	refuse(&m, "(LSTM): the BASIC kernel with activation 1, expected TANH (4)");
	m = lstm_model(true);
	m.operators[0].options[2] = (struct mw_option){ MW_F32, 1, 0, 0.5f, NULL };
	refuse(&m, "or with limits");
	m = lstm_model(true);
	m.operators[0].num_outputs = 3;
	refuse(&m, "5 inputs and 3 outputs, expected 5 and 4 for the BASIC kernel");
	m = lstm_model(true);
	m.operators[0].inputs[BIASES] = -1;
	refuse(&m, "(LSTM): input 3 is missing");
	m = lstm_model(true);
	set_shape(&m, BIASES, 2, 4, 1);
	refuse(&m, "tensor 3 't3': rank 2, or a size that is not known, expected 1 known sizes");
	m = lstm_model(true);
	set_shape(&m, X, 2, 1, SIZE + 1);
	refuse(&m, "tensor 2 't2': 4 x 3 weights for 1 cells and an input of 3");
	m = lstm_model(true);
	m.tensors[X].type = TFLITE_INT8;
	m.tensors[X].num_scales = 1;
	m.tensors[X].scales[0] = 1;
	refuse(&m, "tensor 0 't0': type int8 is not supported here, only floats and uint8");
}

int main(void)
{
	struct nnhal_diag why = { .message = "" };

	if (!ok(nnhal_device_open("sim", &device, &why) == NNHAL_STATUS_NONE, "a device")) {
		tap_note("%s", why.message);
		return tap_done();
	}
	test_states();
	test_refused();
	nnhal_device_unref(device);
	return tap_done();
}
