// SPDX-License-Identifier: MIT
/*
 * What a model of a file computes, of constants that are read as they are; and a model without memory for its constants.
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

int main(void)
{
	struct nnhal_diag why;

	if (!ok(nnhal_device_open("sim", &device, &why) == NNHAL_STATUS_NONE, "the device"))
		return tap_done();
	test_constants();
	test_without_memory();
	nnhal_device_unref(device);
	return tap_done();
}
