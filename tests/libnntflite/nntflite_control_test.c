// SPDX-License-Identifier: MIT
/*
 * Control flow of .tflite files: files made here run on a device, and those that must not are
 * refused.
 */
#include <stdlib.h>
#include <string.h>

#include <tap.h>

#include "graph_builder.h"
#include "userspace/libnntflite/file/schema.h"

static struct nnhal_device *device;

static const float one[] = { 1 }, two[] = { 2 }, three[] = { 3 };
static const uint8_t yes[] = { 1 }, no[] = { 0 };

/* Subgraphs that occur again and again: x + constant, x * constant. */
static struct mw_model arithmetic(int32_t code, int32_t size, const float *constant)
{
	struct mw_model g = { .num_inputs = 0 };
	int32_t x = add_input(&g, TFLITE_FLOAT32, size);

	add_output(&g, binary(&g, code, x, add_constant(&g, TFLITE_FLOAT32, 0, constant)));
	return g;
}

/* if (condition) out = x + 1; else out = x * 2; */
static struct mw_model if_model(const struct mw_model *then, const struct mw_model *otherwise,
				int32_t size)
{
	struct mw_model g = { .num_inputs = 0 };
	int32_t condition = add_input(&g, TFLITE_BOOL, 0);
	int32_t x = add_input(&g, TFLITE_FLOAT32, size);
	int32_t out = add_tensor(&g, TFLITE_FLOAT32, size);
	struct mw_operator *op = refers(&g, TFLITE_IF, 1, 2);

	reads(op, condition);
	reads(op, x);
	writes(op, out);
	add_output(&g, out);
	add_subgraph(&g, then);
	add_subgraph(&g, otherwise);
	return g;
}

/* Does a message of HAL or device have these words in front, for people who know the file? */
static void explains(const struct opened *o, const char *message, const char *words, const char *what)
{
	struct nnhal_diag why;
	struct nntflite_diag diag;

	snprintf(why.message, sizeof(why.message), "%s", message);
	if (!ok(!nntflite_model_explain(o->model, &why, &diag) &&
		!strncmp(diag.message, words, strlen(words)), "%s: \"%s\"", what, words))
		tap_note("%s", diag.message);
}

static void test_if(void)
{
	struct mw_model then = arithmetic(TFLITE_ADD, 0, one);
	struct mw_model otherwise = arithmetic(TFLITE_MUL, 0, two);
	struct mw_model m = if_model(&then, &otherwise, 0);
	struct mw_model same = { .num_inputs = 0 }, constant = { .num_inputs = 0 };
	struct opened o;

	if (open_session(device, &m, &o, "IF")) {
		gives(&o, yes, three, 1, (float[]){ 4 }, "the first branch");
		gives(&o, no, three, 1, (float[]){ 6 }, "the second branch");
	}
	close_session(&o);

	/* A branch that gives its input, one that reads nothing and gives a constant. */
	add_output(&same, add_input(&same, TFLITE_FLOAT32, 0));
	add_input(&constant, TFLITE_FLOAT32, 0);
	add_output(&constant, add_constant(&constant, TFLITE_FLOAT32, 0, two));
	m = if_model(&same, &constant, 0);
	if (open_session(device, &m, &o, "IF without operators")) {
		gives(&o, yes, three, 1, three, "a branch that gives its input");
		/* The device has an operation that moves it. */
		explains(&o, "subgraph 0 operation 0: no", "operator 0 (IF): subgraph 1, tensor 0 '",
			 "what moves it is no operator");
		gives(&o, no, three, 1, two, "a branch that gives a constant and reads nothing");
	}
	close_session(&o);
	constant.num_inputs = 0;
	m = if_model(&constant, &constant, 0);
	m.operators[0].num_inputs = 1;
	if (open_session(device, &m, &o, "IF without inputs"))
		gives(&o, yes, three, 1, two, "branches that take nothing");
	close_session(&o);
	m = if_model(&then, &otherwise, 0);
	m.operators[0].options[1].value = -1;
	refused(&m, "else: subgraph 4294967295 of 3 does not exist", "a branch of number -1");
	m = if_model(&then, &otherwise, 0);
	m.tensors[0].type = TFLITE_INT32;
	refused(&m, "a condition of type int32, expected bool", "a condition of int32");
	m.tensors[0] = (struct mw_tensor){ .type = TFLITE_BOOL, .rank = 1, .dims = { 2 } };
	refused(&m, "a condition of 2 elements", "a condition of two elements");
	m = if_model(&then, &otherwise, 0);
	m.tensors[2].type = TFLITE_INT32;
	refused(&m, "output 0 of subgraph 1 has another type", "an output of another type");
	m = if_model(&then, &otherwise, 0);
	m.operators[0].no_options = true;
	refused(&m, "its options are missing", "IF without subgraphs");
}

/* The branches give one and two elements: only the run knows. */
static void test_shapes(void)
{
	struct mw_model then = { .num_inputs = 0 }, otherwise = { .num_inputs = 0 };
	static const float both[] = { 5, 6 };
	struct mw_model m, inner;
	struct mw_operator *op;
	struct opened o;

	add_input(&then, TFLITE_FLOAT32, 2);
	add_output(&then, add_constant(&then, TFLITE_FLOAT32, 1, three));
	add_output(&otherwise, add_input(&otherwise, TFLITE_FLOAT32, 2));
	m = if_model(&then, &otherwise, 2);
	refused(&m, "output 0 of subgraph 1 has another shape",
		"a branch that gives another shape than the file says");
	m.tensors[2].dims[0] = -1;
	if (open_session(device, &m, &o, "branches of different shapes")) {
		gives(&o, yes, both, 1, three, "one element");
		gives(&o, no, both, 2, both, "two elements");
	}
	close_session(&o);

	/* Of different ranks, and in a subgraph that is called. */
	then.tensors[1].rank = 2;
	then.tensors[1].dims[1] = 1;
	inner = m;
	m = (struct mw_model){ .num_inputs = 0 };
	add_input(&m, TFLITE_BOOL, 0);
	add_input(&m, TFLITE_FLOAT32, 2);
	op = refers(&m, TFLITE_CALL, 3, 0);
	reads(op, 0);
	reads(op, 1);
	writes(op, add_tensor(&m, TFLITE_FLOAT32, -1));
	add_output(&m, 2);
	add_subgraph(&m, &then);
	add_subgraph(&m, &otherwise);
	add_subgraph(&m, &inner);
	if (open_session(device, &m, &o, "branches of different ranks")) {
		gives(&o, yes, both, 1, three, "rank 2");
		gives(&o, no, both, 2, both, "rank 1");
	}
	close_session(&o);
}

static void test_while(void)
{
	static const int32_t none[] = { 0 }, five[] = { 5 };
	struct mw_model f = arithmetic(TFLITE_ADD, 0, two), grow = { .num_inputs = 0 };
	struct mw_operator *op;
	struct opened o;
	struct loop l;
	int32_t x, out;

	build_loop(&l, &f, 0);
	if (open_session(device, &l.main, &o, "WHILE")) {
		gives(&o, five, three, 1, (float[]){ 13 }, "five rounds");
		gives(&o, none, three, 1, three, "no round");
	}
	close_session(&o);

	/* One element more in each round. */
	x = add_input(&grow, TFLITE_FLOAT32, 1);
	out = add_tensor(&grow, TFLITE_FLOAT32, 2);
	op = add_operator(&grow, TFLITE_CONCATENATION, TFLITE_CONCATENATION_OPTIONS);
	reads(op, x);
	reads(op, x);
	writes(op, out);
	add_output(&grow, out);
	build_loop(&l, &grow, 1);
	refused(&l.main, "output 0 of subgraph 3 has another shape", "a value that grows");
	l.body.tensors[5].dims[0] = -1;
	l.main.tensors[5].dims[0] = -1;
	refused(&l.main, "output 2 of subgraph 2 has another shape", "a value that grows, open,");
	build_loop(&l, &f, 0);
	l.main.tensors[0].type = TFLITE_FLOAT32;
	refused(&l.main, "input 1 of subgraph 1 (condition) has another type or quantization",
		"a value of another type than the condition takes");
	build_loop(&l, &f, 0);
	l.condition.outputs[0] = l.condition.inputs[0];
	refused(&l.main, "a condition of type int32, expected bool", "a condition of int32");
	build_loop(&l, &f, 0);
	l.body.num_outputs = 2;
	refused(&l.main, "body: subgraph 2 has 2 outputs, expected 3", "an output too few");
	build_loop(&l, &f, 0);
	l.main.operators[0].num_outputs = 2;
	refused(&l.main, "2 outputs for 3 inputs", "an output too few of the operator");
	build_loop(&l, &f, 0);
	l.condition.num_inputs = 2;
	refused(&l.main, "condition: subgraph 1 has 2 inputs, expected 3", "an input too few");
}

/* The caller wishes another shape than the file has: subgraphs are mapped with it. */
static void test_wished_shape(void)
{
	static const int32_t rounds[] = { 2 };
	static const float values[] = { 1, 2, 3 }, expected[] = { 5, 6, 7 };
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	struct nntflite_shape shape = { .input = "t1", .rank = 1, .dims = { 3 } };
	struct mw_model f = arithmetic(TFLITE_ADD, 1, two);
	struct nntflite_diag diag;
	struct opened o = { NULL, NULL, NULL };
	struct loop l;

	build_loop(&l, &f, 1);
	options.num_shapes = 1;
	options.shapes = &shape;
	if (!ok(nntflite_file_open_memory(bytes_of_file, write_file(&l.main), &o.file, &diag) ==
		NNHAL_STATUS_NONE &&
		nntflite_model_create(o.file, &options, &o.model, &diag) == NNHAL_STATUS_NONE &&
		nntflite_model_output(o.model, 0)->bytes == sizeof(values) &&
		nntflite_session_create(o.model, device, NULL, &o.session, &diag) ==
		NNHAL_STATUS_NONE, "a loop over another shape than in the file"))
		tap_note("%s", diag.message);
	gives(&o, rounds, values, 3, expected, "three elements, two rounds");
	close_session(&o);
}

/* In each round: if (acc < 10) acc = acc + 2; else acc = acc * 2; */
static void test_nested(void)
{
	static const int32_t rounds[] = { 4 };
	static const float ten[] = { 10 };
	struct mw_model f = { .num_inputs = 0 };
	struct mw_model then = arithmetic(TFLITE_ADD, 0, two);
	struct mw_model otherwise = arithmetic(TFLITE_MUL, 0, two);
	struct mw_operator *op;
	int32_t x, small, out;
	struct opened o;
	struct loop l;

	x = add_input(&f, TFLITE_FLOAT32, 0);
	small = binary(&f, TFLITE_LESS, x, add_constant(&f, TFLITE_FLOAT32, 0, ten));
	out = add_tensor(&f, TFLITE_FLOAT32, 0);
	op = refers(&f, TFLITE_IF, 4, 5);
	reads(op, small);
	reads(op, x);
	writes(op, out);
	add_output(&f, out);
	build_loop(&l, &f, 0);
	add_subgraph(&l.main, &then);
	add_subgraph(&l.main, &otherwise);
	if (open_session(device, &l.main, &o, "IF in CALL in WHILE"))
		gives(&o, rounds, (float[]){ 7 }, 1, (float[]){ 44 }, "7, 9, 11, 22, 44");
	close_session(&o);
}

/* x -> CALL -> CALL -> ...: subgraph i calls i + 1 @times times; the last computes x + 1. */
static void test_calls(void)
{
	static struct mw_model graphs[MW_MAX_SUBGRAPHS];
	struct mw_model leaf = arithmetic(TFLITE_ADD, 0, one);
	struct opened o;
	uint32_t i, k;

	for (i = 0; i < 4; i++) {
		int32_t x;

		graphs[i] = (struct mw_model){ .num_inputs = 0 };
		x = add_input(&graphs[i], TFLITE_FLOAT32, 0);
		for (k = 0; k < 3; k++) {
			int32_t out = add_tensor(&graphs[i], TFLITE_FLOAT32, 0);
			struct mw_operator *op = refers(&graphs[i], TFLITE_CALL, (int32_t)i + 1, 0);

			reads(op, x);
			writes(op, out);
			x = out;
		}
		add_output(&graphs[i], x);
		if (i > 0)
			add_subgraph(&graphs[0], &graphs[i]);
	}
	add_subgraph(&graphs[0], &leaf);
	if (open_session(device, &graphs[0], &o, "CALL"))
		gives(&o, two, NULL, 1, (float[]){ 83 }, "81 calls of one subgraph");
	close_session(&o);
	graphs[3].operators[1].options[0].value = 2;
	refused(&graphs[0], "subgraph 2 reaches itself", "a cycle");
	graphs[3].operators[1].options[0].value = 0;
	refused(&graphs[0], "subgraph 0 reaches itself", "a call of the main subgraph");
	graphs[3].operators[1].options[0].value = 99;
	refused(&graphs[0], "callee: subgraph 99 of 5 does not exist", "a call of nothing");
}

static void count_verdicts(void *context, const struct nntflite_verdict *v)
{
	uint32_t *counts = context;

	counts[0]++;
	counts[1] += !v->supported;
}

/* Calls without arguments, many of them: nothing may take time in proportion to their product. */
static void test_many(void)
{
	static struct mw_model graphs[15];
	struct nntflite_file *file = NULL;
	struct mw_model leaf = { .num_inputs = 0 };
	struct nntflite_diag diag;
	uint32_t counts[2] = { 0, 0 };
	int32_t x;
	uint32_t i;

	x = add_constant(&leaf, TFLITE_FLOAT32, 0, one);
	/* Works on strings. */
	add_operator(&leaf, TFLITE_SKIP_GRAM, 0);
	reads(&leaf.operators[0], x);
	writes(&leaf.operators[0], add_tensor(&leaf, TFLITE_FLOAT32, 0));
	for (i = 0; i < 15; i++) {
		graphs[i] = (struct mw_model){ .num_inputs = 0 };
		refers(&graphs[i], TFLITE_CALL, (int32_t)i + 1, 0)->times = 200;
		if (i > 0)
			add_subgraph(&graphs[0], &graphs[i]);
	}
	add_subgraph(&graphs[0], &leaf);
	x = add_input(&graphs[0], TFLITE_FLOAT32, 0);
	add_output(&graphs[0], binary(&graphs[0], TFLITE_ADD, x,
				      add_constant(&graphs[0], TFLITE_FLOAT32, 0, one)));
	if (nntflite_file_open_memory(bytes_of_file, write_file(&graphs[0]), &file, &diag) == NNHAL_STATUS_NONE)
		nntflite_file_judge(file, NULL, device, count_verdicts, counts, &diag);
	ok(counts[0] == 3002 && counts[1] == 3001,
	   "verdicts on 200 calls each of 15 subgraphs: %u, %u cannot run", counts[0], counts[1]);
	nntflite_file_close(file);
	leaf.operators[0].code = TFLITE_ADD;
	reads(&leaf.operators[0], 0);
	refused(&graphs[0], "one run would run more than 1048576 operators",
		"a file that runs for ever");
}

int main(void)
{
	struct nnhal_diag why = { "" };

	if (nnhal_device_open("sim", &device, &why) != NNHAL_STATUS_NONE)
		tap_skip_all("no device: %s", why.message);
	test_if();
	test_shapes();
	test_while();
	test_wished_shape();
	test_nested();
	test_calls();
	test_many();
	nnhal_device_unref(device);
	return tap_done();
}
