// SPDX-License-Identifier: MIT
/*
 * What a model of a file computes, for operators that another one serves for and for constants
 * that are read as they are; and a model without memory for its constants.
 */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include <nntflite/session.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

static uint8_t file[MW_MAX_SIZE];
static struct nnhal_device *device;

/* Runs a model on bytes, and gives the first @size bytes of its first output. */
static bool run(const struct mw_model *m, const void *const *inputs, const size_t *sizes,
		void *output, size_t size)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	struct nntflite_session *session = NULL;
	struct nntflite_model *model = NULL;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	bool done = false;
	uint32_t i;

	if (nntflite_file_open_memory(file, mw_write(m, file), &opened, &diag) ||
	    nntflite_model_create(opened, NULL, &model, &diag) ||
	    nntflite_session_create(model, device, NULL, &session, &diag))
		goto out;
	for (i = 0; i < m->num_inputs; i++)
		if (nntflite_session_set_input(session, i, inputs[i], sizes[i], &diag))
			goto out;
	done = !nntflite_session_run(session, NULL, NULL, &diag) &&
	       !nntflite_session_output(session, 0, &value) && value.bytes == size;
	if (done)
		memcpy(output, value.data, size);
out:
	if (!done)
		tap_note("%s", diag.message);
	nntflite_session_destroy(session);
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
	return done;
}

/* An operator of StableHLO, and what it makes of two numbers. */
static const struct stablehlo {
	int32_t code;
	uint32_t num_inputs;
	float in[2];
	float out;
} stablehlo[] = {
	{ TFLITE_STABLEHLO_LOGISTIC, 1, { 0 }, 0.5f },
	{ TFLITE_STABLEHLO_ADD, 2, { 3, 5 }, 8 },
	{ TFLITE_STABLEHLO_DIVIDE, 2, { 3, 4 }, 0.75f },
	{ TFLITE_STABLEHLO_MULTIPLY, 2, { 3, 5 }, 15 },
	{ TFLITE_STABLEHLO_MAXIMUM, 2, { 3, 5 }, 5 },
	{ TFLITE_STABLEHLO_RESHAPE, 1, { 3 }, 3 },
	{ TFLITE_STABLEHLO_ABS, 1, { -3 }, 3 },
	{ TFLITE_STABLEHLO_COSINE, 1, { 0 }, 1 },
	{ TFLITE_STABLEHLO_EXPONENTIAL, 1, { 0 }, 1 },
	{ TFLITE_STABLEHLO_FLOOR, 1, { -1.5f }, -2 },
	{ TFLITE_STABLEHLO_LOG, 1, { 1 }, 0 },
	{ TFLITE_STABLEHLO_MINIMUM, 2, { 3, 5 }, 3 },
	{ TFLITE_STABLEHLO_NEGATE, 1, { 3 }, -3 },
	{ TFLITE_STABLEHLO_POWER, 2, { 3, 2 }, 9 },
	{ TFLITE_STABLEHLO_RSQRT, 1, { 4 }, 0.5f },
	{ TFLITE_STABLEHLO_SUBTRACT, 2, { 3, 5 }, -2 },
	{ TFLITE_STABLEHLO_TANH, 1, { 0 }, 0 },
	{ TFLITE_STABLEHLO_CONVERT, 1, { 3 }, 3 },
};

static struct mw_tensor vector(const char *name, int type)
{
	return (struct mw_tensor){ .name = name, .type = type, .rank = 1, .dims = { 1 } };
}

static struct mw_model operator_of(int32_t code, uint32_t num_inputs)
{
	struct mw_model m = { .num_tensors = num_inputs + 1, .num_operators = 1,
			      .num_inputs = num_inputs, .num_outputs = 1 };
	uint32_t i;

	for (i = 0; i <= num_inputs; i++)
		m.tensors[i] = vector(i < num_inputs ? "in" : "out", TFLITE_FLOAT32);
	m.operators[0] = (struct mw_operator){ .code = code, .num_inputs = num_inputs,
					       .num_outputs = 1, .no_options = true };
	for (i = 0; i < num_inputs; i++)
		m.operators[0].inputs[i] = m.inputs[i] = (int32_t)i;
	m.operators[0].outputs[0] = m.outputs[0] = (int32_t)num_inputs;
	return m;
}

static void test_stablehlo(void)
{
	static const size_t sizes[3] = { 4, 4, 4 }, bytes[2] = { 1, 1 }, mixed[3] = { 1, 4, 4 };
	static const uint8_t no = 0, yes = 1;
	static const float three = 3, five = 5;
	struct mw_model m;
	uint8_t truth = 2;
	float out;
	size_t i;

	for (i = 0; i < sizeof(stablehlo) / sizeof(stablehlo[0]); i++) {
		const struct stablehlo *s = &stablehlo[i];

		m = operator_of(s->code, s->num_inputs);
		out = 77;
		if (!ok(run(&m, (const void *[]){ &s->in[0], &s->in[1] }, sizes, &out, 4) &&
			out == s->out, "%s", nntflite_operator_name(s->code)))
			tap_note("%g, expected %g", (double)out, (double)s->out);
	}
	m = operator_of(TFLITE_STABLEHLO_AND, 2);
	m.tensors[0].type = m.tensors[1].type = m.tensors[2].type = TFLITE_BOOL;
	ok(run(&m, (const void *[]){ &no, &yes }, bytes, &truth, 1) && !truth, "STABLEHLO_AND");
	m.operators[0].code = TFLITE_STABLEHLO_OR;
	ok(run(&m, (const void *[]){ &no, &yes }, bytes, &truth, 1) && truth, "STABLEHLO_OR");
	m = operator_of(TFLITE_STABLEHLO_SELECT, 3);
	m.tensors[0].type = TFLITE_BOOL;
	ok(run(&m, (const void *[]){ &no, &three, &five }, mixed, &out, 4) && out == 5,
	   "STABLEHLO_SELECT");
	/* Options of SUB are none of STABLEHLO_SUBTRACT: an activation here. */
	m = operator_of(TFLITE_STABLEHLO_SUBTRACT, 2);
	m.operators[0].no_options = false;
	m.operators[0].options_type = TFLITE_SUB_OPTIONS;
	m.operators[0].options[0] = (struct mw_option){ MW_I8, 0, 1, 0, NULL };
	ok(run(&m, (const void *[]){ &three, &five }, sizes, &out, 4) && out == -2,
	   "STABLEHLO_SUBTRACT with options of SUB");
}

/* A refusal names the operator of the file, not the one that serves for it. */
static void test_stablehlo_names(void)
{
	struct mw_model m = operator_of(TFLITE_STABLEHLO_AND, 2);
	struct nntflite_model *model = (struct nntflite_model *)&m;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;

	m.tensors[0].type = m.tensors[1].type = m.tensors[2].type = TFLITE_INT32;
	if (nntflite_file_open_memory(file, mw_write(&m, file), &opened, &diag) ||
	    !ok(nntflite_model_create(opened, NULL, &model, &diag) ==
		NNHAL_STATUS_INVALID_ARGUMENT && model == (struct nntflite_model *)&m &&
		!strcmp(diag.message, "operator 0 (STABLEHLO_AND): tensor 0 'in': type int32 is"
			" not supported here"), "STABLEHLO_AND of bits"))
		tap_note("%s", diag.message);
	nntflite_file_close(opened);
}

/* CAST or BITCAST of an int8 constant with a scale, beside a RELU that has the input. */
static bool read_constant(int32_t code, const int8_t *data, int32_t count, float *out,
			  int32_t results)
{
	static const float input = 1;
	struct mw_model m = { .num_tensors = 4, .num_operators = 2, .num_inputs = 1,
			      .inputs = { 2 }, .num_outputs = 2, .outputs = { 1, 3 } };

	m.tensors[0] = (struct mw_tensor){ .name = "constant", .type = TFLITE_INT8, .rank = 1,
		.dims = { count }, .num_scales = 1, .scales = { 0.5f }, .data = data,
		.data_size = (uint32_t)count };
	m.tensors[1] = (struct mw_tensor){ .name = "read", .rank = 1, .dims = { results } };
	m.tensors[2] = vector("in", TFLITE_FLOAT32);
	m.tensors[3] = vector("out", TFLITE_FLOAT32);
	m.operators[0] = (struct mw_operator){ .code = code, .num_inputs = 1, .inputs = { 0 },
		.num_outputs = 1, .outputs = { 1 }, .no_options = true };
	m.operators[1] = (struct mw_operator){ .code = TFLITE_RELU, .num_inputs = 1,
		.inputs = { 2 }, .num_outputs = 1, .outputs = { 3 }, .no_options = true };
	return run(&m, (const void *[]){ &input }, (const size_t[]){ 4 }, out,
		   4 * (size_t)results);
}

static void test_constants(void)
{
	static const int8_t numbers[2] = { 3, -4 };
	/* 1.0f, the least significant byte first */
	static const int8_t one[4] = { 0, 0, (int8_t)0x80, 0x3f };
	float out[2] = { 77, 77 };

	if (!ok(read_constant(TFLITE_CAST, numbers, 2, out, 2) && out[0] == 3 && out[1] == -4,
		"CAST of an int8 constant with a scale"))
		tap_note("%g %g", (double)out[0], (double)out[1]);
	if (!ok(read_constant(TFLITE_BITCAST, one, 4, out, 1) && out[0] == 1,
		"BITCAST of an int8 constant with a scale"))
		tap_note("%g", (double)out[0]);
}

/* The constants go to memory of the model. @limit is lowered to @value while it is made. */
static void without(__rlimit_resource_t limit, rlim_t value, enum nnhal_status expected,
		    const char *what)
{
	static const float five = 5;
	struct mw_model m = operator_of(TFLITE_ADD, 2);
	struct nntflite_model *model = (struct nntflite_model *)&m;
	struct nntflite_file *opened = NULL;
	struct rlimit before, lowered;
	struct nntflite_diag diag;
	enum nnhal_status status;

	m.num_inputs = 1;
	m.tensors[1].data = &five;
	m.tensors[1].data_size = 4;
	if (nntflite_file_open_memory(file, mw_write(&m, file), &opened, &diag) ||
	    getrlimit(limit, &before)) {
		ok(false, "%s: %s", what, diag.message);
		return;
	}
	lowered = before;
	lowered.rlim_cur = value;
	setrlimit(limit, &lowered);
	status = nntflite_model_create(opened, NULL, &model, &diag);
	setrlimit(limit, &before);
	if (!ok(status == expected && model == (struct nntflite_model *)&m &&
		strstr(diag.message, "memory for the constants"), "%s", what))
		tap_note("status %d: %s", (int)status, diag.message);
	nntflite_file_close(opened);
}

static void test_without_memory(void)
{
	/* A file of memory that is larger than a process may write is as good as no memory. */
	signal(SIGXFSZ, SIG_IGN);
	without(RLIMIT_FSIZE, 0, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
		"no memory for the constants");
	without(RLIMIT_NOFILE, 0, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT,
		"no file descriptor for the memory of the constants");
}

/* As the header says: that is no fault of the file. */
static void test_without_descriptor(void)
{
	static const char path[] = "examples/digits/digits_int8.tflite";
	struct nntflite_file *none = (struct nntflite_file *)&device, *opened = none;
	struct rlimit before, lowered;
	struct nntflite_diag diag;
	enum nnhal_status status;

	if (!ok(!getrlimit(RLIMIT_NOFILE, &before), "the limit of descriptors"))
		return;
	lowered = before;
	lowered.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &lowered);
	status = nntflite_file_open(path, &opened, &diag);
	setrlimit(RLIMIT_NOFILE, &before);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT && opened == none &&
	   strstr(diag.message, path), "no descriptor for a file: status %d, %s", (int)status,
	   diag.message);
}

int main(void)
{
	struct nnhal_diag why;

	if (!ok(nnhal_device_open("sim", &device, &why) == NNHAL_STATUS_NONE, "the device"))
		return tap_done();
	test_stablehlo();
	test_stablehlo_names();
	test_constants();
	test_without_memory();
	test_without_descriptor();
	nnhal_device_unref(device);
	return tap_done();
}
