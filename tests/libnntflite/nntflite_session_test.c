// SPDX-License-Identifier: MIT
/*
 * Sessions: inputs and outputs, outputs of unknown size, variables that stay on the device.
 */
#include <string.h>

#include <nntflite/session.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

static uint8_t bytes_of_file[MW_MAX_SIZE];
static struct nnhal_device *device;

struct opened {
	struct nntflite_file *file;
	struct nntflite_model *model;
	struct nntflite_session *session;
};

static bool open_session(const struct mw_model *model, struct opened *o, const char *what)
{
	struct nntflite_diag diag;
	size_t size = mw_write(model, bytes_of_file);

	*o = (struct opened){ NULL, NULL, NULL };
	if (ok(nntflite_file_open_memory(bytes_of_file, size, &o->file, &diag) == NNHAL_STATUS_NONE &&
	       nntflite_model_create(o->file, NULL, &o->model, &diag) == NNHAL_STATUS_NONE &&
	       nntflite_session_create(o->model, device, NULL, &o->session, &diag) ==
	       NNHAL_STATUS_NONE, "%s: a session", what))
		return true;
	tap_note("%s", diag.message);
	return false;
}

static void close_session(struct opened *o)
{
	nntflite_session_destroy(o->session);
	nntflite_model_destroy(o->model);
	nntflite_file_close(o->file);
}

/* SVDF with a memory of two inputs: out = in + 10 * the input before. */
static struct mw_model svdf_model(void)
{
	static const float one[] = { 1 }, weights[] = { 10, 1 };
	struct mw_model m = { .num_tensors = 5, .num_operators = 1, .num_inputs = 1,
			      .inputs = { 0 }, .num_outputs = 1, .outputs = { 4 } };

	m.tensors[0] = (struct mw_tensor){ .name = "in", .rank = 2, .dims = { 1, 1 } };
	m.tensors[1] = (struct mw_tensor){ .name = "features", .rank = 2, .dims = { 1, 1 },
					   .data = one, .data_size = 4 };
	m.tensors[2] = (struct mw_tensor){ .name = "times", .rank = 2, .dims = { 1, 2 },
					   .data = weights, .data_size = 8 };
	m.tensors[3] = (struct mw_tensor){ .name = "state", .rank = 2, .dims = { 1, 2 },
					   .variable = true };
	m.tensors[4] = (struct mw_tensor){ .name = "out", .rank = 2, .dims = { 1, 1 } };
	m.operators[0] = (struct mw_operator){
		.code = TFLITE_SVDF, .num_inputs = 5, .inputs = { 0, 1, 2, -1, 3 },
		.num_outputs = 1, .outputs = { 4 }, .options_type = TFLITE_SVDF_OPTIONS,
		.options = { { MW_I32, 0, 1, 0, NULL } },
	};
	return m;
}

/* RANGE from 0 to the input by 1: as many elements as the input says. */
static struct mw_model range_model(void)
{
	static const int32_t zero[] = { 0 }, one[] = { 1 };
	struct mw_model m = { .num_tensors = 4, .num_operators = 1, .num_inputs = 1,
			      .inputs = { 1 }, .num_outputs = 1, .outputs = { 3 } };

	m.tensors[0] = (struct mw_tensor){ .name = "start", .type = TFLITE_INT32, .data = zero,
					   .data_size = 4 };
	m.tensors[1] = (struct mw_tensor){ .name = "limit", .type = TFLITE_INT32 };
	m.tensors[2] = (struct mw_tensor){ .name = "delta", .type = TFLITE_INT32, .data = one,
					   .data_size = 4 };
	m.tensors[3] = (struct mw_tensor){ .name = "out", .type = TFLITE_INT32, .rank = 1,
					   .dims = { -1 } };
	m.operators[0] = (struct mw_operator){
		.code = TFLITE_RANGE, .num_inputs = 3, .inputs = { 0, 1, 2 },
		.num_outputs = 1, .outputs = { 3 }, .no_options = true,
	};
	return m;
}

/* The output of SVDF for an input; not-a-number after a failure. */
static float next(struct nntflite_session *s, float input)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct nntflite_diag diag;
	float output;

	if (nntflite_session_set_input(s, 0, &input, sizeof(input), &diag) ||
	    nntflite_session_run(s, NULL, NULL, &diag) ||
	    nntflite_session_output(s, 0, &value) || value.bytes != sizeof(output) ||
	    value.rank != 2) {
		tap_note("%s", diag.message);
		return __builtin_nanf("");
	}
	memcpy(&output, value.data, sizeof(output));
	return output;
}

/* The variable is an output, too. */
static void test_shown_variable(void)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct mw_model model = svdf_model();
	struct opened o;

	model.outputs[model.num_outputs++] = 3;
	if (!open_session(&model, &o, "SVDF whose variable is an output"))
		return close_session(&o);
	ok(next(o.session, 1) == 1 && next(o.session, 2) == 12, "its values");
	ok(nntflite_session_output(o.session, 1, &value) == NNHAL_STATUS_NONE && value.bytes == 8 &&
	   ((const float *)value.data)[0] == 2 && ((const float *)value.data)[1] == 0,
	   "the value of the variable after the run");
	ok(next(o.session, 3) == 23, "it is carried on");
	close_session(&o);
}

static void test_variables(void)
{
	struct nntflite_session_options options = NNTFLITE_SESSION_OPTIONS_INIT;
	struct nnhal_execute_options late = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct nntflite_session *second = NULL;
	struct mw_model model = svdf_model();
	enum nnhal_status status;
	struct nntflite_diag diag;
	float state[2] = { 0, 0 };
	struct opened o;

	if (!open_session(&model, &o, "SVDF"))
		return close_session(&o);
	ok(nntflite_session_output(o.session, 0, &value) == NNHAL_STATUS_GENERAL_FAILURE &&
	   !value.data, "no output before the first run");
	ok(next(o.session, 1) == 1, "the first run finds zeros");
	ok(next(o.session, 2) == 12, "the second what the first has left");
	ok(next(o.session, 3) == 23, "the third what the second has left");
	late.has_deadline = true;
	late.deadline_ns = 1;
	ok(nntflite_session_run(o.session, &late, NULL, &diag) != NNHAL_STATUS_NONE &&
	   diag.message[0], "a run after its deadline: %s", diag.message);
	ok(nntflite_session_output(o.session, 0, &value) == NNHAL_STATUS_GENERAL_FAILURE,
	   "it has no output");
	ok(next(o.session, 4) == 34, "and changes no variable");
	status = nntflite_session_get_variable(o.session, 0, state, sizeof(state), &diag);
	ok(status == NNHAL_STATUS_NONE && state[0] == 4 && state[1] == 0, "the variable: %g %g",
	   (double)state[0], (double)state[1]);
	ok(nntflite_session_get_variable(o.session, 0, state, 4, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "'state': 4 bytes, expected 8"),
	   "a variable of another size: %s", diag.message);
	ok(nntflite_session_get_variable(o.session, 1, state, 8, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "the model has 1"),
	   "a variable too many: %s", diag.message);

	options.prepared = nntflite_session_prepared(o.session);
	if (ok(nntflite_session_create(o.model, device, &options, &second, &diag) ==
	       NNHAL_STATUS_NONE, "a second session with the prepared model")) {
		ok(next(second, 5) == 5, "it has variables of its own");
		ok(next(o.session, 6) == 46, "and leaves the others alone");
	}
	nntflite_session_destroy(second);
	nntflite_session_reset(o.session);
	ok(next(o.session, 7) == 7, "zeros again after a reset");
	ok(next(o.session, 8) == 78, "and on from there");
	close_session(&o);
}

static void test_unknown_size(void)
{
	static const int32_t limits[] = { 5, 5000, 0, 3, 300000 };
	struct mw_model model = range_model();
	struct nntflite_diag diag;
	struct opened o;
	uint32_t i, k;

	if (!open_session(&model, &o, "RANGE"))
		return close_session(&o);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct nntflite_value value = NNTFLITE_VALUE_INIT;
		const int32_t *numbers;
		bool right;

		memcpy(nntflite_session_input(o.session, 0), &limits[i], 4);
		right = nntflite_session_run(o.session, NULL, NULL, &diag) == NNHAL_STATUS_NONE &&
			nntflite_session_output(o.session, 0, &value) == NNHAL_STATUS_NONE &&
			value.rank == 1 && value.dims[0] == (uint32_t)limits[i] &&
			value.bytes == 4 * (size_t)limits[i];
		numbers = value.data;
		for (k = 0; right && k < value.dims[0]; k++)
			right = numbers[k] == (int32_t)k;
		if (!ok(right, "an output of %d elements", limits[i]))
			tap_note("%s, %u", diag.message, value.dims[0]);
	}
	close_session(&o);
}

/* What callers do who run the requests themselves: an output that does not fit is theirs to see. */
static void test_own_runs(void)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct nnhal_output_shape shapes[1];
	struct mw_model model = range_model();
	int32_t limit = 2000;
	enum nnhal_status status;
	struct nntflite_diag diag;
	uint32_t num_shapes, runs = 0;
	struct opened o;

	if (!open_session(&model, &o, "own runs"))
		return close_session(&o);
	nntflite_session_set_input(o.session, 0, &limit, 4, &diag);
	do {
		status = nnhal_prepared_model_execute_synchronously(
			nntflite_session_prepared(o.session), nntflite_session_begin(o.session),
			NULL, shapes, &num_shapes, NULL);
		status = nntflite_session_end(o.session, status, shapes, num_shapes, &diag);
	} while (++runs < 5 && status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	ok(status == NNHAL_STATUS_NONE && runs == 2 &&
	   nntflite_session_output(o.session, 0, &value) == NNHAL_STATUS_NONE &&
	   value.dims[0] == 2000, "a run again for an output that did not fit");
	nntflite_session_begin(o.session);
	ok(nntflite_session_end(o.session, NNHAL_STATUS_DEAD_OBJECT, NULL, 0, &diag) ==
	   NNHAL_STATUS_DEAD_OBJECT &&
	   nntflite_session_output(o.session, 0, &value) == NNHAL_STATUS_GENERAL_FAILURE,
	   "a run that failed has no output");
	nntflite_session_begin(o.session);
	ok(nntflite_session_end(o.session, NNHAL_STATUS_NONE, NULL, 0, &diag) ==
	   NNHAL_STATUS_GENERAL_FAILURE && strstr(diag.message, "gave no shape"),
	   "no shape of an output that needs one: %s", diag.message);
	close_session(&o);
}

static void test_misuse(void)
{
	struct nntflite_session_options options = NNTFLITE_SESSION_OPTIONS_INIT;
	struct nntflite_session *none = (struct nntflite_session *)&options;
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct mw_model model = svdf_model();
	struct nntflite_diag diag;
	struct opened o;
	float input = 1;

	if (!open_session(&model, &o, "misuse"))
		return close_session(&o);
	ok(nntflite_session_set_input(o.session, 0, &input, 3, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "'in': 3 bytes, expected 4"),
	   "an input of another size: %s", diag.message);
	ok(nntflite_session_set_input(o.session, 1, &input, 4, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !nntflite_session_input(o.session, 1),
	   "an input too many: %s", diag.message);
	ok(nntflite_session_output(o.session, 1, &value) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "an output too many");
	value.size = 1;
	ok(nntflite_session_output(o.session, 0, &value) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "a value of another version");
	options.size = 1;
	ok(nntflite_session_create(o.model, device, &options, &none, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && none == (struct nntflite_session *)&options,
	   "options of another version leave the session as it was");
	ok(nntflite_session_create(o.model, NULL, NULL, &none, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "no device");
	nntflite_session_destroy(NULL);
	close_session(&o);
}

int main(void)
{
	struct nnhal_diag why = { "" };

	if (nnhal_device_open("sim", &device, &why) != NNHAL_STATUS_NONE)
		tap_skip_all("no device: %s", why.message);
	test_shown_variable();
	test_variables();
	test_unknown_size();
	test_own_runs();
	test_misuse();
	nnhal_device_unref(device);
	return tap_done();
}
