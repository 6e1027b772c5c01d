// SPDX-License-Identifier: MIT
/*
 * Control flow and resource variables of .tflite files: files made here run on a device, and
 * those that must not are refused.
 */
#include <stdlib.h>
#include <string.h>

#include <nntflite/session.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

static uint8_t bytes_of_file[MW_MAX_SIZE];
static struct nnhal_device *device;

/* Building blocks; tensors have one dimension, or none with a size of 0. */

static int32_t add_tensor(struct mw_model *g, int type, int32_t size)
{
	static const char *const names[MW_MAX] = {
		"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12",
		"t13", "t14", "t15",
	};
	struct mw_tensor *t = &g->tensors[g->num_tensors];

	*t = (struct mw_tensor){ .name = names[g->num_tensors], .type = type, .rank = size != 0,
				 .dims = { size } };
	return (int32_t)g->num_tensors++;
}

static int32_t add_input(struct mw_model *g, int type, int32_t size)
{
	return g->inputs[g->num_inputs++] = add_tensor(g, type, size);
}

static int32_t add_constant(struct mw_model *g, int type, int32_t size, const void *data)
{
	int32_t t = add_tensor(g, type, size);

	g->tensors[t].data = data;
	g->tensors[t].data_size = 4 * (size ? (uint32_t)size : 1);
	return t;
}

static void add_output(struct mw_model *g, int32_t tensor)
{
	g->outputs[g->num_outputs++] = tensor;
}

static struct mw_operator *add_operator(struct mw_model *g, int32_t code, uint8_t options_type)
{
	struct mw_operator *op = &g->operators[g->num_operators++];

	*op = (struct mw_operator){ .code = code, .options_type = options_type,
				    .no_options = options_type == 0 };
	return op;
}

static void reads(struct mw_operator *op, int32_t tensor)
{
	op->inputs[op->num_inputs++] = tensor;
}

static void writes(struct mw_operator *op, int32_t tensor)
{
	op->outputs[op->num_outputs++] = tensor;
}

/* The result of an operator on two tensors, of the size of @a. */
static int32_t binary(struct mw_model *g, int32_t code, int32_t a, int32_t b)
{
	int type = code == TFLITE_LESS ? TFLITE_BOOL : g->tensors[a].type;
	int32_t out = add_tensor(g, type, g->tensors[a].rank ? g->tensors[a].dims[0] : 0);
	struct mw_operator *op = add_operator(g, code, 0);

	reads(op, a);
	reads(op, b);
	writes(op, out);
	return out;
}

/* An operator that refers to subgraphs. */
static struct mw_operator *refers(struct mw_model *g, int32_t code, int32_t first, int32_t second)
{
	uint8_t type = code == TFLITE_IF ? TFLITE_IF_OPTIONS :
		       code == TFLITE_WHILE ? TFLITE_WHILE_OPTIONS :
		       code == TFLITE_CALL ? TFLITE_CALL_OPTIONS : TFLITE_CALL_ONCE_OPTIONS;
	struct mw_operator *op = add_operator(g, code, type);

	op->options[0] = (struct mw_option){ MW_I32, 0, first, 0, NULL };
	if (code == TFLITE_IF || code == TFLITE_WHILE)
		op->options[1] = (struct mw_option){ MW_I32, 1, second, 0, NULL };
	return op;
}

/* A reference to the variable of a name. */
static int32_t add_handle(struct mw_model *g, const char *name)
{
	int32_t t = add_tensor(g, TFLITE_RESOURCE, 0);
	struct mw_operator *op = add_operator(g, TFLITE_VAR_HANDLE, TFLITE_VAR_HANDLE_OPTIONS);

	op->options[0] = (struct mw_option){ MW_TEXT, 1, (int32_t)strlen(name), 0, name };
	writes(op, t);
	return t;
}

static int32_t add_read(struct mw_model *g, int32_t variable, int32_t size)
{
	int32_t t = add_tensor(g, TFLITE_FLOAT32, size);
	struct mw_operator *op = add_operator(g, TFLITE_READ_VARIABLE, 0);

	reads(op, variable);
	writes(op, t);
	return t;
}

static void add_assign(struct mw_model *g, int32_t variable, int32_t value)
{
	struct mw_operator *op = add_operator(g, TFLITE_ASSIGN_VARIABLE, 0);

	reads(op, variable);
	reads(op, value);
}

static void add_subgraph(struct mw_model *g, const struct mw_model *other)
{
	g->num_subgraphs = g->num_subgraphs ? g->num_subgraphs : 1;
	g->subgraphs[g->num_subgraphs++ - 1] = other;
}

/* Running what was built. */

/*
 * Write the file. With NNTFLITE_SEEDS in the environment it is kept in that folder, for the
 * fuzzer to begin with.
 */
static size_t write_file(const struct mw_model *model)
{
	const char *folder = getenv("NNTFLITE_SEEDS");
	size_t size = mw_write(model, bytes_of_file);
	static uint32_t number;
	char path[256];
	FILE *f;

	if (!folder)
		return size;
	snprintf(path, sizeof(path), "%s/control%u.tflite", folder, number++);
	f = fopen(path, "wb");
	if (!f || fwrite(bytes_of_file, 1, size, f) != size || fclose(f))
		ok(false, "cannot write %s", path);
	return size;
}

struct opened {
	struct nntflite_file *file;
	struct nntflite_model *model;
	struct nntflite_session *session;
};

static bool open_session(const struct mw_model *model, struct opened *o, const char *what)
{
	struct nntflite_diag diag;
	size_t size = write_file(model);

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

/* Output 0 for inputs that are given as floats or int32 of one element. */
static void gives(struct opened *o, const void *in0, const void *in1, uint32_t count,
		  const float *expected, const char *what)
{
	struct nntflite_value value = NNTFLITE_VALUE_INIT;
	const void *in[] = { in0, in1 };
	struct nntflite_diag diag = { .message = "" };
	uint32_t i;

	if (!o->session)
		return;
	for (i = 0; i < nntflite_model_num_inputs(o->model) && i < 2; i++)
		memcpy(nntflite_session_input(o->session, i), in[i],
		       nntflite_model_input(o->model, i)->bytes);
	if (!ok(nntflite_session_run(o->session, NULL, NULL, &diag) == NNHAL_STATUS_NONE &&
		nntflite_session_output(o->session, 0, &value) == NNHAL_STATUS_NONE &&
		value.bytes == 4 * (size_t)count && !memcmp(value.data, expected, value.bytes),
		"%s", what))
		tap_note("%s; %zu bytes, first %g", diag.message, value.bytes,
			 value.bytes ? (double)*(const float *)value.data : 0);
}

static void refused(const struct mw_model *model, const char *words, const char *what)
{
	struct nntflite_file *file = NULL;
	struct nntflite_model *made = NULL;
	struct nntflite_diag diag;
	size_t size = write_file(model);

	if (!ok(nntflite_file_open_memory(bytes_of_file, size, &file, &diag) == NNHAL_STATUS_NONE &&
		nntflite_model_create(file, NULL, &made, &diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
		!made && strstr(diag.message, words) &&
		(strstr(diag.message, "operator ") || strstr(diag.message, "tensor ")),
		"%s is refused: %s", what, words))
		tap_note("got '%s'", diag.message);
	nntflite_model_destroy(made);
	nntflite_file_close(file);
}

static const float one[] = { 1 }, two[] = { 2 }, three[] = { 3 }, zero[] = { 0 };
static const int32_t one_int[] = { 1 };
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

static void test_if(void)
{
	struct mw_model then = arithmetic(TFLITE_ADD, 0, one);
	struct mw_model otherwise = arithmetic(TFLITE_MUL, 0, two);
	struct mw_model m = if_model(&then, &otherwise, 0);
	struct mw_model same = { .num_inputs = 0 }, constant = { .num_inputs = 0 };
	struct opened o;

	if (open_session(&m, &o, "IF")) {
		gives(&o, yes, three, 1, (float[]){ 4 }, "the first branch");
		gives(&o, no, three, 1, (float[]){ 6 }, "the second branch");
	}
	close_session(&o);

	/* A branch that gives its input, one that reads nothing and gives a constant. */
	add_output(&same, add_input(&same, TFLITE_FLOAT32, 0));
	add_input(&constant, TFLITE_FLOAT32, 0);
	add_output(&constant, add_constant(&constant, TFLITE_FLOAT32, 0, two));
	m = if_model(&same, &constant, 0);
	if (open_session(&m, &o, "IF without operators")) {
		gives(&o, yes, three, 1, three, "a branch that gives its input");
		gives(&o, no, three, 1, two, "a branch that gives a constant and reads nothing");
	}
	close_session(&o);
	constant.num_inputs = 0;
	m = if_model(&constant, &constant, 0);
	m.operators[0].num_inputs = 1;
	if (open_session(&m, &o, "IF without inputs"))
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
	if (open_session(&m, &o, "branches of different shapes")) {
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
	if (open_session(&m, &o, "branches of different ranks")) {
		gives(&o, yes, both, 1, three, "rank 2");
		gives(&o, no, both, 2, both, "rank 1");
	}
	close_session(&o);
}

/* while (i < limit) { i++; acc = f(acc); }, where f is subgraph 3. Inputs: limit, acc. */
struct loop {
	struct mw_model main;
	struct mw_model condition;
	struct mw_model body;
};

static void build_loop(struct loop *l, const struct mw_model *f, int32_t size)
{
	int32_t limit, acc, i, out[3], called;
	struct mw_operator *op;
	uint32_t k;

	*l = (struct loop){ .main.num_inputs = 0 };
	i = add_input(&l->condition, TFLITE_INT32, 0);
	limit = add_input(&l->condition, TFLITE_INT32, 0);
	add_input(&l->condition, TFLITE_FLOAT32, size);
	add_output(&l->condition, binary(&l->condition, TFLITE_LESS, i, limit));

	i = add_input(&l->body, TFLITE_INT32, 0);
	limit = add_input(&l->body, TFLITE_INT32, 0);
	acc = add_input(&l->body, TFLITE_FLOAT32, size);
	add_output(&l->body, binary(&l->body, TFLITE_ADD, i,
				    add_constant(&l->body, TFLITE_INT32, 0, one_int)));
	add_output(&l->body, limit);
	called = add_tensor(&l->body, TFLITE_FLOAT32, size);
	op = refers(&l->body, TFLITE_CALL, 3, 0);
	reads(op, acc);
	writes(op, called);
	add_output(&l->body, called);

	limit = add_input(&l->main, TFLITE_INT32, 0);
	acc = add_input(&l->main, TFLITE_FLOAT32, size);
	i = add_constant(&l->main, TFLITE_INT32, 0, zero);
	out[0] = add_tensor(&l->main, TFLITE_INT32, 0);
	out[1] = add_tensor(&l->main, TFLITE_INT32, 0);
	out[2] = add_tensor(&l->main, TFLITE_FLOAT32, size);
	op = refers(&l->main, TFLITE_WHILE, 1, 2);
	reads(op, i);
	reads(op, limit);
	reads(op, acc);
	for (k = 0; k < 3; k++)
		writes(op, out[k]);
	add_output(&l->main, out[2]);
	add_subgraph(&l->main, &l->condition);
	add_subgraph(&l->main, &l->body);
	add_subgraph(&l->main, f);
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
	if (open_session(&l.main, &o, "WHILE")) {
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
	if (open_session(&l.main, &o, "IF in CALL in WHILE"))
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
	if (open_session(&graphs[0], &o, "CALL"))
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

/* Sets variable v to 3 before the first run. */
static struct mw_model initial_model(const float *value)
{
	struct mw_model g = { .num_inputs = 0 };

	add_assign(&g, add_handle(&g, "v"), add_constant(&g, TFLITE_FLOAT32, 0, value));
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
	if (open_session(&m, &o, "a variable that one branch assigns")) {
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
	if (open_session(&m, &o, "a variable of a subgraph that is called")) {
		gives(&o, two, NULL, 1, (float[]){ 5 }, "3 + 2");
		gives(&o, two, NULL, 1, (float[]){ 7 }, "5 + 2");
	}
	close_session(&o);
	/* Nothing to run: the callee has neither outputs nor variables. */
	m.operators[1].options[0].value = 3;
	if (open_session(&m, &o, "a CALL of nothing"))
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
	if (open_session(&m, &o, "an initializer that computes")) {
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
	if (open_session(&l.main, &o, "a variable in a loop")) {
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
	test_if();
	test_shapes();
	test_while();
	test_nested();
	test_calls();
	test_many();
	test_variables();
	test_initializer();
	test_variable_in_loop();
	nnhal_device_unref(device);
	return tap_done();
}
