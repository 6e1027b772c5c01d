// SPDX-License-Identifier: MIT
/*
 * Resource variables of .tflite files, in the main subgraph and in others.
 */
#include <stdlib.h>
#include <string.h>

#include <tap.h>

#include "graph_builder.h"
#include "userspace/libnntflite/file/schema.h"

static struct nnhal_device *device;

static const float one[] = { 1 }, two[] = { 2 }, three[] = { 3 }, zero[] = { 0 };
static const uint8_t yes[] = { 1 }, no[] = { 0 };

/* Sets variable v to 3 before the first run. */
static struct mw_model initial_model(const float *value)
{
	struct mw_model g = { .num_inputs = 0 };
	int32_t v = add_handle(&g, "v");

	add_assign(&g, v, add_constant(&g, TFLITE_FLOAT32, 0, value));
	return g;
}

/* v = v + x; */
static struct mw_model count_model(void)
{
	struct mw_model g = { .num_inputs = 0 };
	int32_t x = add_input(&g, TFLITE_FLOAT32, 0);
	int32_t v = add_handle(&g, "v");

	add_assign(&g, v, binary(&g, TFLITE_ADD, add_read(&g, v, 0), x));
	return g;
}

/* Main: CALL_ONCE(1); @code(2, 3) of x, which give nothing; out = v. */
static struct mw_model variable_model(const struct mw_model *initial, int32_t code,
				      const struct mw_model *first, const struct mw_model *second)
{
	struct mw_model g = { .num_inputs = 0 };
	int32_t condition = code == TFLITE_IF ? add_input(&g, TFLITE_BOOL, 0) : -1;
	int32_t x = add_input(&g, TFLITE_FLOAT32, 0);
	struct mw_operator *op;

	refers(&g, TFLITE_CALL_ONCE, 1, 0);
	op = refers(&g, code, 2, 3);
	if (code == TFLITE_IF)
		reads(op, condition);
	reads(op, x);
	add_output(&g, binary(&g, TFLITE_ADD, add_read(&g, add_handle(&g, "v"), 0),
			      add_constant(&g, TFLITE_FLOAT32, 0, zero)));
	add_subgraph(&g, initial);
	add_subgraph(&g, first);
	add_subgraph(&g, second);
	return g;
}

static void test_variables(void)
{
	struct mw_model initial = initial_model(three), count = count_model();
	struct mw_model nothing = { .num_inputs = 0 }, m;
	struct opened o;

	add_input(&nothing, TFLITE_FLOAT32, 0);
	m = variable_model(&initial, TFLITE_IF, &count, &nothing);
	if (open_session(device, &m, &o, "a variable that one branch assigns")) {
		gives(&o, yes, two, 1, (float[]){ 5 }, "assigned: 3 + 2");
		gives(&o, no, two, 1, (float[]){ 5 }, "not assigned: as it was");
		gives(&o, yes, one, 1, (float[]){ 6 }, "assigned: 5 + 1");
		nntflite_session_reset(o.session);
		gives(&o, no, one, 1, three, "after a reset");
		ok(nntflite_model_num_variables(o.model) == 1 &&
		   nntflite_model_variable(o.model, 0)->initial &&
		   !memcmp(nntflite_model_variable(o.model, 0)->initial, three, 4) &&
		   !nntflite_model_get_initializer(o.model), "a constant initial value");
	}
	close_session(&o);

	m = variable_model(&initial, TFLITE_CALL, &count, &nothing);
	if (open_session(device, &m, &o, "a variable of a subgraph that is called")) {
		gives(&o, two, NULL, 1, (float[]){ 5 }, "3 + 2");
		gives(&o, two, NULL, 1, (float[]){ 7 }, "5 + 2");
	}
	close_session(&o);
	/* Nothing to run: the callee has neither outputs nor variables. */
	m.operators[1].options[0].value = 3;
	if (open_session(device, &m, &o, "a CALL of nothing"))
		gives(&o, two, NULL, 1, three, "the variable as it was");
	close_session(&o);
	m.operators[0].options[0].value = 3;
	refused(&m, "subgraph 3 has 1 inputs and 0 outputs, expected none",
		"an initializer with an input");
	m.operators[0].options[0].value = 4;
	refused(&m, "subgraph 4 of 4 does not exist", "an initializer that does not exist");
	m.operators[0] = (struct mw_operator){ .code = TFLITE_VAR_HANDLE, .num_outputs = 1,
		.outputs = { 4 }, .options_type = TFLITE_VAR_HANDLE_OPTIONS };
	m.tensors[4].type = TFLITE_RESOURCE;
	refused(&m, "read before it is assigned", "a variable without a first value");
	m = variable_model(&initial, TFLITE_CALL, &nothing, &nothing);
	refers(&nothing, TFLITE_CALL_ONCE, 1, 0);
	refused(&m, "only the main subgraph initializes", "CALL_ONCE in a subgraph");
}

/* CALL_ONCE of one subgraph again, of many subgraphs, and a name that is too long. */
static void test_once(void)
{
	struct mw_model initial = initial_model(three), nothing = { .num_inputs = 0 };
	struct mw_model m = { .num_inputs = 0 };
	struct mw_operator *op;
	int32_t x, sum;
	char name[514];
	struct opened o;
	uint32_t i;

	x = add_input(&m, TFLITE_FLOAT32, 0);
	refers(&m, TFLITE_CALL_ONCE, 1, 0)->times = 3;
	sum = binary(&m, TFLITE_ADD, add_read(&m, add_handle(&m, "v"), 0), x);
	add_output(&m, sum);
	add_subgraph(&m, &initial);
	if (open_session(device, &m, &o, "CALL_ONCE three times"))
		gives(&o, two, NULL, 1, (float[]){ 5 }, "3 + 2");
	close_session(&o);

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	m.operators[1].options[0] = (struct mw_option){ MW_TEXT, 1, 513, 0, name };
	refused(&m, "a variable whose name has 0 and 513 bytes", "a long name");

	m = (struct mw_model){ .num_inputs = 0 };
	x = add_input(&m, TFLITE_FLOAT32, 0);
	add_output(&m, binary(&m, TFLITE_ADD, x, x));
	/* Has an operator, as each subgraph that is called. */
	x = add_constant(&nothing, TFLITE_FLOAT32, 0, one);
	binary(&nothing, TFLITE_ADD, x, x);
	for (i = 1; i <= 8; i++) {
		op = refers(&m, TFLITE_CALL_ONCE, (int32_t)i, 0);
		add_subgraph(&m, &nothing);
	}
	op->times = 2;
	if (open_session(device, &m, &o, "eight subgraphs that initialize"))
		gives(&o, two, NULL, 1, (float[]){ 4 }, "2 + 2");
	close_session(&o);
	refers(&m, TFLITE_CALL_ONCE, 9, 0);
	add_subgraph(&m, &nothing);
	refused(&m, "more than 8 subgraphs that initialize", "a subgraph more");
}

/* A type that the HAL lacks: the device has no buffers for it. */
static void test_wide_variable(void)
{
	static const int64_t first[] = { INT64_C(1) << 40 }, five[] = { 5 };
	static const int64_t sums[] = { (INT64_C(1) << 40) + 5, (INT64_C(1) << 40) + 10 };
	struct mw_model initial = initial_model(three), m = { .num_inputs = 0 };
	struct opened o;
	int32_t x, v, sum;

	initial.tensors[1].type = TFLITE_INT64;
	initial.tensors[1].data = first;
	initial.tensors[1].data_size = 8;
	x = add_input(&m, TFLITE_INT64, 0);
	refers(&m, TFLITE_CALL_ONCE, 1, 0);
	v = add_handle(&m, "v");
	sum = add_read(&m, v, 0);
	m.tensors[sum].type = TFLITE_INT64;
	sum = binary(&m, TFLITE_ADD, sum, x);
	add_assign(&m, v, sum);
	add_output(&m, sum);
	add_subgraph(&m, &initial);
	if (open_session(device, &m, &o, "a variable of int64")) {
		gives(&o, five, NULL, 2, (const float *)(const void *)&sums[0], "2^40 + 5");
		gives(&o, five, NULL, 2, (const float *)(const void *)&sums[1], "2^40 + 10");
		nntflite_session_reset(o.session);
		gives(&o, five, NULL, 2, (const float *)(const void *)&sums[0], "2^40 + 5 again");
	}
	close_session(&o);
}

/* The first value is computed: 3 * 2 + 1. */
static void test_initializer(void)
{
	struct mw_model initial = { .num_inputs = 0 }, count = count_model();
	struct mw_model nothing = { .num_inputs = 0 }, m;
	struct opened o;
	int32_t v, value;

	v = add_handle(&initial, "v");
	value = binary(&initial, TFLITE_MUL, add_constant(&initial, TFLITE_FLOAT32, 0, three),
		       add_constant(&initial, TFLITE_FLOAT32, 0, two));
	add_assign(&initial, v, value);
	value = binary(&initial, TFLITE_ADD, add_read(&initial, v, 0),
		       add_constant(&initial, TFLITE_FLOAT32, 0, one));
	add_assign(&initial, v, value);
	/* A variable that the model does not use. */
	add_assign(&initial, add_handle(&initial, "unused"), value);
	m = variable_model(&initial, TFLITE_CALL, &count, &nothing);
	if (open_session(device, &m, &o, "an initializer that computes")) {
		ok(nntflite_model_get_initializer(o.model) != NULL, "it is a model");
		gives(&o, two, NULL, 1, (float[]){ 9 }, "7 + 2");
		gives(&o, two, NULL, 1, (float[]){ 11 }, "9 + 2: it runs once");
		nntflite_session_reset(o.session);
		gives(&o, one, NULL, 1, (float[]){ 8 }, "7 + 1 after a reset");
	}
	close_session(&o);
}

/* A loop whose body counts in a variable that it gets as an argument. */
static void test_variable_in_loop(void)
{
	static const int32_t rounds[] = { 4 };
	struct mw_model initial = initial_model(three), f = { .num_inputs = 0 };
	int32_t x, v;
	struct opened o;
	struct loop l;

	x = add_input(&f, TFLITE_FLOAT32, 0);
	v = add_handle(&f, "v");
	add_assign(&f, v, binary(&f, TFLITE_ADD, add_read(&f, v, 0), x));
	add_output(&f, x);
	build_loop(&l, &f, 0);
	add_subgraph(&l.main, &initial);
	refers(&l.main, TFLITE_CALL_ONCE, 4, 0);
	l.main.operators[2] = l.main.operators[0];
	l.main.operators[0] = l.main.operators[1];
	l.main.operators[1] = l.main.operators[2];
	add_handle(&l.main, "v");
	l.main.operators[2].outputs[0] = 6;
	l.main.outputs[0] = binary(&l.main, TFLITE_ADD, add_read(&l.main, 6, 0), 5);
	if (open_session(device, &l.main, &o, "a variable in a loop")) {
		gives(&o, rounds, two, 1, (float[]){ 13 }, "3 + 4 * 2, + 2");
		gives(&o, rounds, one, 1, (float[]){ 16 }, "11 + 4 * 1, + 1");
	}
	close_session(&o);

	add_assign(&l.condition, add_handle(&l.condition, "v"), 2);
	refused(&l.main, "its condition assigns a variable", "a condition that assigns");
}

int main(void)
{
	struct nnhal_diag why = { "" };

	if (nnhal_device_open("sim", &device, &why) != NNHAL_STATUS_NONE)
		tap_skip_all("no device: %s", why.message);
	test_variables();
	test_wide_variable();
	test_initializer();
	test_once();
	test_variable_in_loop();
	nnhal_device_unref(device);
	return tap_done();
}
