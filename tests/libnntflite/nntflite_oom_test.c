// SPDX-License-Identifier: MIT
/*
 * Fail allocation 1, 2, 3, ... of a call. The call then says that memory is short, by status and
 * message, leaves its out-parameter as it was and undoes what it has begun; the sanitizers find
 * what it leaves behind. The device is the in-process one.
 */
#include <stdlib.h>
#include <string.h>

#include "graph_builder.h"
#include "sweep_allocations.h"
#include "userspace/libnntflite/file/schema.h"

static struct nnhal_device *device;
static size_t size_of_file;
/* Of the file, for the calls that need them. */
static struct nntflite_file *file;
static struct nntflite_model *model;
static struct nntflite_session *session;
static struct nntflite_diag diag;

/* What an out-parameter is before a call that shall leave it so. */
#define UNTOUCHED	((void *)&diag)

/* A call that fails and changes its out-parameter is wrong, whatever its status. */
static enum nnhal_status unless_touched(enum nnhal_status status, const void *out)
{
	return status && out != UNTOUCHED ? NNHAL_STATUS_INVALID_ARGUMENT : status;
}

/* ---- the calls under test; each undoes all it did ---- */

static enum nnhal_status try_open(void)
{
	struct nntflite_file *opened = UNTOUCHED;
	enum nnhal_status status = nntflite_file_open_memory(bytes_of_file, size_of_file, &opened,
							     &diag);

	if (!status)
		nntflite_file_close(opened);
	return unless_touched(status, opened);
}

static enum nnhal_status try_create(void)
{
	struct nntflite_model *made = UNTOUCHED;
	enum nnhal_status status = nntflite_model_create(file, NULL, &made, &diag);

	if (!status)
		nntflite_model_destroy(made);
	return unless_touched(status, made);
}

static void hear(void *context, const struct nntflite_verdict *verdict)
{
	uint32_t *refused = context;

	*refused += !verdict->supported;
}

static enum nnhal_status try_judge(void)
{
	uint32_t refused = 0;
	enum nnhal_status status = nntflite_file_judge(file, NULL, device, hear, &refused, &diag);

	/* A lack of memory is no verdict: all operators of these files can run. */
	return refused ? NNHAL_STATUS_INVALID_ARGUMENT : status;
}

static enum nnhal_status try_session(void)
{
	struct nntflite_session *made = UNTOUCHED;
	enum nnhal_status status = nntflite_session_create(model, device, NULL, &made, &diag);

	if (!status)
		nntflite_session_destroy(made);
	return unless_touched(status, made);
}

/* More elements each time, so that the session needs larger memory. */
static enum nnhal_status try_run(void)
{
	static int32_t limit = 2000;

	limit += 4000;
	memcpy(nntflite_session_input(session, 0), &limit, sizeof(limit));
	return nntflite_session_run(session, NULL, NULL, &diag);
}

static enum nnhal_status try_variable(void)
{
	float value = 77;
	enum nnhal_status status = nntflite_session_get_variable(session, 0, &value, sizeof(value),
								 &diag);

	return status && value != 77 ? NNHAL_STATUS_INVALID_ARGUMENT : status;
}

static bool is_shortage(enum nnhal_status status)
{
	if (status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT && diag.message[0])
		return true;
	tap_note("'%s'", diag.message);
	return false;
}

/* For copies and for questions about operations the HAL has no status for a shortage. */
static bool is_shortage_of_device(enum nnhal_status status)
{
	return (status == NNHAL_STATUS_GENERAL_FAILURE && diag.message[0]) || is_shortage(status);
}

static void sweep(const char *model_name, const char *what, enum nnhal_status (*attempt)(void),
		  bool (*is_right)(enum nnhal_status status))
{
	char name[80];

	snprintf(name, sizeof(name), "%s: %s", model_name, what);
	sweep_allocations(name, attempt, is_right);
}

static const float one[] = { 1 }, two[] = { 2 }, three[] = { 3 };

/*
 * CALL_ONCE of a subgraph that computes 3 * 2, and assigns it to v and 1 to w; IF x > 0: v = v + x
 * in a subgraph of a subgraph; out = v + w.
 */
static struct mw_model *variables(void)
{
	static struct mw_model main, initial, first, second, called;
	struct mw_operator *op;
	int32_t v, w, x;

	v = add_handle(&initial, "v");
	add_assign(&initial, v, binary(&initial, TFLITE_MUL,
				       add_constant(&initial, TFLITE_FLOAT32, 0, three),
				       add_constant(&initial, TFLITE_FLOAT32, 0, two)));
	add_assign(&initial, add_handle(&initial, "w"),
		   add_constant(&initial, TFLITE_FLOAT32, 0, one));

	x = add_input(&called, TFLITE_FLOAT32, 0);
	v = add_handle(&called, "v");
	add_assign(&called, v, binary(&called, TFLITE_ADD, add_read(&called, v, 0), x));
	x = add_input(&first, TFLITE_FLOAT32, 0);
	reads(refers(&first, TFLITE_CALL, 4, 0), x);
	add_input(&second, TFLITE_FLOAT32, 0);

	x = add_input(&main, TFLITE_BOOL, 0);
	refers(&main, TFLITE_CALL_ONCE, 1, 0);
	op = refers(&main, TFLITE_IF, 2, 3);
	reads(op, x);
	reads(op, add_input(&main, TFLITE_FLOAT32, 0));
	v = add_read(&main, add_handle(&main, "v"), 0);
	w = add_read(&main, add_handle(&main, "w"), 0);
	add_output(&main, binary(&main, TFLITE_ADD, v, w));
	add_subgraph(&main, &initial);
	add_subgraph(&main, &first);
	add_subgraph(&main, &second);
	add_subgraph(&main, &called);
	return &main;
}

/* RANGE from 0 to the input, whose size only the device knows, and a signature. */
static struct mw_model *range(void)
{
	static const int32_t zero[] = { 0 }, step[] = { 1 };
	static struct mw_model m;
	struct mw_operator *op;
	int32_t start = add_constant(&m, TFLITE_INT32, 0, zero);
	int32_t limit = add_input(&m, TFLITE_INT32, 0);
	int32_t delta = add_constant(&m, TFLITE_INT32, 0, step);
	int32_t out = add_tensor(&m, TFLITE_INT32, -1);

	op = add_operator(&m, TFLITE_RANGE, 0);
	reads(op, start);
	reads(op, limit);
	reads(op, delta);
	writes(op, out);
	add_output(&m, out);
	m.num_signatures = 1;
	m.signature_key = "serving_default";
	return &m;
}

/* A constant of four bits, whose elements are unpacked. */
static struct mw_model *packed(void)
{
	static const uint8_t halves[] = { 0x21, 0x43 };
	static struct mw_model m;
	int32_t x = add_input(&m, TFLITE_FLOAT32, 4);
	int32_t weights = add_constant(&m, TFLITE_INT4, 4, halves);

	m.tensors[weights].data_size = sizeof(halves);
	m.tensors[weights].scales[0] = 1;
	m.tensors[weights].num_scales = 1;
	add_output(&m, binary(&m, TFLITE_ADD, x, weights));
	return &m;
}

static bool made(enum nnhal_status status, const char *model_name, const char *what)
{
	bool good = ok(!status, "%s: %s", model_name, what);

	if (!good)
		tap_note("%s", diag.message);
	return good;
}

/* All that leads to a session. */
static void test_model(const char *name, const struct mw_model *m)
{
	size_of_file = write_file(m);
	sweep(name, "open", try_open, is_shortage);
	if (!made(nntflite_file_open_memory(bytes_of_file, size_of_file, &file, &diag), name,
		  "a file"))
		return;
	sweep(name, "judge", try_judge, is_shortage_of_device);
	sweep(name, "make a model", try_create, is_shortage);
	if (!made(nntflite_model_create(file, NULL, &model, &diag), name, "a model"))
		return;
	sweep(name, "make a session", try_session, is_shortage_of_device);
	made(nntflite_session_create(model, device, NULL, &session, &diag), name, "a session");
}

static void end_model(void)
{
	nntflite_session_destroy(session);
	nntflite_model_destroy(model);
	nntflite_file_close(file);
	session = NULL;
	model = NULL;
	file = NULL;
}

int main(void)
{
	struct nnhal_diag why = { "" };

	if (nnhal_device_open("sim", &device, &why) != NNHAL_STATUS_NONE)
		tap_skip_all("no device: %s", why.message);
	test_model("variables", variables());
	if (session)
		sweep("variables", "read one", try_variable, is_shortage_of_device);
	end_model();
	test_model("an output of unknown size", range());
	if (session)
		sweep("an output of unknown size", "run", try_run, is_shortage_of_device);
	end_model();
	test_model("four bits", packed());
	end_model();
	nnhal_device_unref(device);
	return tap_done();
}
