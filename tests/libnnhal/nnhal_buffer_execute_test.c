// SPDX-License-Identifier: MIT
/*
 * Executions with buffers of a device, synchronous, asynchronous and in bursts. Names carry the
 * numbers of the conformance checklist.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "buffer_rig.h"
#include "burst/burst_private.h"
#include "device/device_private.h"
#include "transport/transport.h"

#define SQUARE	2, (const uint32_t[]){ 2, 2 }

static struct nnhal_device *device;
static struct nnhal_prepared_model *model;	/* RELU of float32 [2, 2] */

/* ---- requests ---- */

/* A request of at most four arguments, each in a pool of its own. */
struct question {
	struct nnhal_request request;
	struct nnhal_request_argument inputs[3], outputs[2];
	struct nnhal_request_pool pools[4];
};

static void question_init(struct question *q)
{
	memset(q, 0, sizeof(*q));
	q->request.inputs = q->inputs;
	q->request.outputs = q->outputs;
	q->request.pools = q->pools;
}

static struct nnhal_request_argument *add_argument(struct question *q, bool output)
{
	struct nnhal_request_argument *a = output ? &q->outputs[q->request.num_outputs++]
						  : &q->inputs[q->request.num_inputs++];

	a->location.pool_index = q->request.num_pools++;
	return a;
}

static struct nnhal_request_argument *add_token(struct question *q, bool output, uint32_t token)
{
	q->pools[q->request.num_pools].token = token;
	return add_argument(q, output);
}

static struct nnhal_request_argument *add_memory(struct question *q, bool output,
						 struct nnhal_memory *memory)
{
	struct nnhal_request_argument *a;

	q->pools[q->request.num_pools].memory = memory;
	a = add_argument(q, output);
	a->location.length = (uint32_t)nnhal_memory_size(memory);
	return a;
}

/* ---- the ways to execute ---- */

enum path { SYNC, ASYNC, BURST, SUBMIT, PATHS };

static const char *const path_names[PATHS] = { "sync", "async", "burst", "burst submit" };

struct answer {
	enum nnhal_status launch;
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_output_shape shapes[2];
	struct nnhal_timing timing;
};

static struct answer answer;
static struct callback_result result = CALLBACK_RESULT_INIT;

static void executed(void *context, enum nnhal_status status,
		     const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		     const struct nnhal_timing *timing)
{
	answer.num_shapes = num_shapes;
	if (num_shapes)
		memcpy(answer.shapes, shapes, num_shapes * sizeof(*shapes));
	answer.timing = *timing;
	callback_executed(context, status, NULL, 0, timing);
}

/* With a burst that ends after it. */
static void execute_in_burst(struct nnhal_prepared_model *m, const struct nnhal_request *request,
			     const struct nnhal_execute_options *options, bool submit)
{
	struct nnhal_burst_result taken = NNHAL_BURST_RESULT_INIT;
	struct nnhal_burst *burst;

	taken.output_shapes = answer.shapes;
	MUST(!nnhal_burst_create(m, NULL, &burst));
	if (!submit) {
		answer.status = nnhal_burst_execute(burst, request, options, answer.shapes,
						    &answer.num_shapes, &answer.timing);
	} else {
		answer.num_shapes = 0;
		answer.timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
		answer.status = nnhal_burst_submit(burst, request, options, 1, 0);
		if (!answer.status) {
			MUST(!nnhal_burst_wait(burst, &taken, UINT64_MAX));
			answer.status = taken.status;
			answer.num_shapes = taken.num_output_shapes;
			answer.timing = taken.timing;
		}
	}
	nnhal_burst_unref(burst);
}

static enum nnhal_status execute_with(enum path path, struct nnhal_prepared_model *m,
				      const struct question *q,
				      const struct nnhal_execute_options *options)
{
	memset(&answer, 0, sizeof(answer));
	answer.num_shapes = 99;
	switch (path) {
	case SYNC:
		answer.status = nnhal_prepared_model_execute_synchronously(m, &q->request, options,
			answer.shapes, &answer.num_shapes, &answer.timing);
		break;
	case ASYNC:
		answer.launch = nnhal_prepared_model_execute(m, &q->request, options, executed,
							     &result);
		callback_wait(&result, NNHAL_STATUS_NONE);
		answer.status = result.status;
		break;
	default:
		execute_in_burst(m, &q->request, options, path == SUBMIT);
	}
	return answer.status;
}

static enum nnhal_status execute(enum path path, struct nnhal_prepared_model *m,
				 const struct question *q)
{
	return execute_with(path, m, q, NULL);
}

/* What every execution that fails has to look like. */
static bool failed_well(enum nnhal_status expected)
{
	return answer.status == expected && !answer.num_shapes &&
	       answer.timing.time_on_device == NNHAL_NO_TIMING &&
	       answer.timing.time_in_driver == NNHAL_NO_TIMING &&
	       (!answer.launch || answer.launch == answer.status);
}

static bool fails(enum path path, struct nnhal_prepared_model *m, const struct question *q,
		  enum nnhal_status expected)
{
	execute(path, m, q);
	if (!failed_well(expected))
		tap_note("%s, %u shapes", nnhal_status_name((int)answer.status),
			 answer.num_shapes);
	return failed_well(expected);
}

static bool is_refused(enum path path, struct nnhal_prepared_model *m, const struct question *q)
{
	return fails(path, m, q, NNHAL_STATUS_INVALID_ARGUMENT);
}

/* ---- memory of the caller ---- */

static struct nnhal_memory *in, *out;		/* four floats each */
static struct nnhal_buffer *in_buffer, *out_buffer, *both;	/* of @model */
static uint32_t in_token, out_token, both_token;

static void set_up(void)
{
	in = memory_of(16, -1.0f);
	out = memory_of(16, 0.0f);
	in_buffer = buffer_for(device, model, true, false, 0, NULL, &in_token);
	out_buffer = buffer_for(device, model, false, true, 0, NULL, &out_token);
	both = buffer_for(device, model, true, true, 0, NULL, &both_token);
}

static void tear_down(void)
{
	nnhal_memory_unref(in);
	nnhal_memory_unref(out);
	nnhal_buffer_unref(in_buffer);
	nnhal_buffer_unref(out_buffer);
	nnhal_buffer_unref(both);
}

/* A request for @model: tokens, or 0 for memory. */
static void ask(struct question *q, uint32_t input, uint32_t output)
{
	question_init(q);
	if (input)
		add_token(q, false, input);
	else
		add_memory(q, false, in);
	if (output)
		add_token(q, true, output);
	else
		add_memory(q, true, out);
}

/* ---- tokens and roles ---- */

static void test_tokens(enum path path)
{
	static const uint32_t tokens[] = { 0, 100 };
	struct question q;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		question_init(&q);
		add_token(&q, false, tokens[i]);
		add_memory(&q, true, out);
		ok(is_refused(path, model, &q), "F34 %s: token %u as input", path_names[path],
		   tokens[i]);
		question_init(&q);
		add_memory(&q, false, in);
		add_token(&q, true, tokens[i]);
		ok(is_refused(path, model, &q), "F34 %s: token %u as output", path_names[path],
		   tokens[i]);
	}
	MUST(!fill(in_buffer, 1.0f, 16, 0, NULL));
	ask(&q, in_token, 0);
	q.inputs[0].location.length = 16;
	ok(is_refused(path, model, &q), "D03 %s: length in a token pool", path_names[path]);
	q.inputs[0].location = (struct nnhal_data_location){ 0, 4, 0 };
	ok(is_refused(path, model, &q), "D03 %s: offset in a token pool", path_names[path]);
	ask(&q, in_token, 0);
	q.request.hal_version = NNHAL_HAL_1_2;
	ok(is_refused(path, model, &q), "G07 %s: token in a 1.2 request", path_names[path]);
	/* A pool that no argument uses. */
	ask(&q, 0, 0);
	q.pools[q.request.num_pools++].token = in_token;
	ok(!execute(path, model, &q), "F34 %s: a token that no argument uses", path_names[path]);
	q.pools[q.request.num_pools - 1].token = 100;
	ok(is_refused(path, model, &q), "F34 %s: token 100 that no argument uses",
	   path_names[path]);
}

/* ADD and RELU; the sum is an output, too. */
static struct nnhal_prepared_model *prepare_two(void)
{
	static struct fixture f;

	make_add_relu(&f);
	f.graph.operands[3].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	fixture_finish(&f, 0);
	return prepare_on(device, &f);
}

static void test_roles(enum path path)
{
	struct nnhal_prepared_model *twin = prepare_relu(device, FLOATS, 0, 0, SQUARE);
	struct nnhal_prepared_model *two = prepare_two();
	struct nnhal_buffer *first_in, *first_out;
	uint32_t first_in_token, first_out_token;
	struct question q;

	MUST(!fill(in_buffer, 1.0f, 16, 0, NULL));
	ask(&q, in_token, 0);
	ok(is_refused(path, twin, &q), "F35 %s: buffer of an identical model, as input",
	   path_names[path]);
	ask(&q, 0, out_token);
	ok(is_refused(path, twin, &q), "F35 %s: buffer of an identical model, as output",
	   path_names[path]);
	first_in = buffer_for(device, two, true, false, 0, NULL, &first_in_token);
	first_out = buffer_for(device, two, false, true, 0, NULL, &first_out_token);
	MUST(!fill(first_in, 1.0f, 16, 0, NULL));
	question_init(&q);
	add_memory(&q, false, in);
	add_token(&q, false, first_in_token);
	add_memory(&q, true, out);
	add_token(&q, true, first_out_token);
	q.request.num_outputs = 1;
	ok(is_refused(path, two, &q), "F36 %s: number of outputs", path_names[path]);
	question_init(&q);
	add_memory(&q, false, in);
	add_token(&q, false, first_in_token);
	add_memory(&q, true, out);
	add_argument(&q, true)->has_no_value = true;
	q.outputs[1].location.pool_index = 0;
	q.request.num_pools--;
	ok(is_refused(path, two, &q), "F36 %s: buffer of another input", path_names[path]);
	question_init(&q);
	add_memory(&q, false, in);
	add_memory(&q, false, in);
	add_memory(&q, true, out);
	add_token(&q, true, first_out_token);
	ok(is_refused(path, two, &q), "F36 %s: buffer of another output", path_names[path]);
	ask(&q, 0, in_token);
	ok(is_refused(path, model, &q), "F37 %s: input buffer as output", path_names[path]);
	ask(&q, out_token, 0);
	ok(is_refused(path, model, &q), "F37 %s: output buffer as input", path_names[path]);
	nnhal_buffer_unref(first_in);
	nnhal_buffer_unref(first_out);
	nnhal_prepared_model_unref(two);
	nnhal_prepared_model_unref(twin);
}

/* ---- state ---- */

static void test_state(enum path path)
{
	struct question q;

	ask(&q, both_token, 0);
	ok(fails(path, model, &q, NNHAL_STATUS_GENERAL_FAILURE),
	   "F38 %s: uninitialised buffer as input", path_names[path]);
	ask(&q, 0, both_token);
	ok(!execute(path, model, &q) && state_of(both).is_initialized &&
	   holds(both, -1.0f, 16, true), "F38 %s: as output, which initialises it",
	   path_names[path]);
	ok(answer.num_shapes == 1 && answer.shapes[0].is_sufficient &&
	   answer.shapes[0].num_dimensions == 2, "F38 %s: with its shape", path_names[path]);
	ask(&q, both_token, 0);
	ok(!execute(path, model, &q) && memory_has(out, -1.0f, true), "F38 %s: then as input",
	   path_names[path]);
	ask(&q, both_token, out_token);
	ok(!execute(path, model, &q) && holds(out_buffer, -1.0f, 16, true),
	   "F45 %s: tokens only", path_names[path]);
}

static void test_twice(enum path path)
{
	struct nnhal_prepared_model *two = prepare_two();
	uint32_t pair_token, sum_token, token;
	struct nnhal_buffer *pair, *sum, *sums;
	struct question q;
	struct rig g;

	/* Both rules are broken: what can be said without the state comes first. */
	ask(&q, both_token, both_token);
	nnhal_buffer_copy_from(both, in, NULL, 1, NULL);
	ok(is_refused(path, model, &q), "F39 %s: as input and output, uninitialised",
	   path_names[path]);
	MUST(!fill(both, -1.0f, 16, 0, NULL));
	ask(&q, both_token, both_token);
	ok(is_refused(path, model, &q), "F39 %s: as input and output, in two pools",
	   path_names[path]);
	q.outputs[0].location.pool_index = 0;
	ok(is_refused(path, model, &q) && state_of(both).is_initialized,
	   "F39 %s: as input and output, in one pool", path_names[path]);
	rig_init(&g, two, true, true);
	g.inputs[g.num_inputs++] = (struct nnhal_buffer_role){ 0, 1, 1.0f };
	g.outputs[g.num_outputs++] = (struct nnhal_buffer_role){ 0, 1, 1.0f };
	MUST(!rig_allocate(&g, device));
	pair = g.buffer;
	pair_token = g.token;
	MUST(!fill(pair, -1.0f, 16, 0, NULL));
	sum = buffer_for(device, two, false, true, 0, NULL, &sum_token);
	question_init(&q);
	add_token(&q, false, pair_token);
	add_token(&q, false, pair_token);
	add_token(&q, true, sum_token);
	add_memory(&q, true, out);
	ok(!execute(path, two, &q) && state_of(sum).is_initialized, "F39 %s: as two inputs",
	   path_names[path]);
	q.inputs[1].location.pool_index = 0;
	ok(!execute(path, two, &q), "F39 %s: as two inputs in one pool", path_names[path]);
	rig_init(&g, two, false, true);
	g.outputs[g.num_outputs++] = (struct nnhal_buffer_role){ 0, 1, 1.0f };
	MUST(!rig_allocate(&g, device));
	sums = g.buffer;
	token = g.token;
	question_init(&q);
	add_memory(&q, false, in);
	add_memory(&q, false, in);
	add_token(&q, true, token);
	add_token(&q, true, token);
	ok(is_refused(path, two, &q), "F39 %s: as two outputs, in two pools", path_names[path]);
	q.outputs[1].location.pool_index = 2;
	ok(is_refused(path, two, &q), "F39 %s: as two outputs, in one pool", path_names[path]);
	nnhal_buffer_unref(pair);
	nnhal_buffer_unref(sum);
	nnhal_buffer_unref(sums);
	nnhal_prepared_model_unref(two);
}

static void test_exported(enum path path)
{
	struct nnhal_memory_desc desc = { .struct_size = sizeof(desc), .size = 16 };
	struct nnhal_memory *memory;
	struct question q;

	MUST(!fill(both, -1.0f, 16, 0, NULL));
	MUST(!nnhal_buffer_export(both, &desc.fd, NULL));
	desc.kind = strncmp(test_device_spec(), "sim", 3) ? NNHAL_MEMORY_HARDWARE_BUFFER_BLOB
							  : NNHAL_MEMORY_ASHMEM;
	MUST(!nnhal_memory_import(&desc, &memory, NULL));
	close(desc.fd);
	question_init(&q);
	add_memory(&q, false, memory);
	add_memory(&q, true, out);
	ok(!execute(path, model, &q) && memory_has(out, -1.0f, true),
	   "F45 %s: the exported memory of a buffer as input", path_names[path]);
	question_init(&q);
	add_memory(&q, false, memory);
	add_token(&q, true, both_token);
	ok(is_refused(path, model, &q) && state_of(both).is_initialized,
	   "D09 %s: a buffer as output and its exported memory as input", path_names[path]);
	nnhal_memory_unref(memory);
}

/* ---- shapes ---- */

static void test_dimensions(enum path path)
{
	static const uint32_t good[] = { 2, 2 }, bad[] = { 4, 2 }, zero[] = { 0, 2 };
	struct nnhal_prepared_model *open = prepare_relu(device, FLOATS, 0, 0, DIMS(0, 2));
	struct nnhal_memory *wide = memory_of(32, -1.0f), *wide_out = memory_of(32, 0.0f);
	struct nnhal_buffer *a, *b;
	uint32_t a_token, b_token;
	struct question q;

	a = buffer_for(device, open, true, true, SQUARE, &a_token);
	b = buffer_for(device, open, true, true, SQUARE, &b_token);
	MUST(!fill(a, -1.0f, 16, 0, NULL));
	question_init(&q);
	add_token(&q, false, a_token);
	add_memory(&q, true, wide_out);
	q.inputs[0].num_dimensions = 2;
	q.inputs[0].dimensions = bad;
	ok(is_refused(path, open, &q), "F40 %s: other dimensions than the input's buffer has",
	   path_names[path]);
	q.inputs[0].dimensions = zero;
	ok(is_refused(path, open, &q), "F40 %s: a dimension of 0", path_names[path]);
	q.inputs[0].dimensions = good;
	ok(!execute(path, open, &q), "F40 %s: the dimensions that it has", path_names[path]);
	q.inputs[0].num_dimensions = 0;
	ok(!execute(path, open, &q) && answer.shapes[0].dimensions[0] == 2,
	   "F43 %s: an input has the shape of its buffer", path_names[path]);
	question_init(&q);
	add_memory(&q, false, wide);
	add_token(&q, true, b_token);
	q.inputs[0].num_dimensions = 2;
	q.inputs[0].dimensions = bad;
	MUST(!fill(b, 5.0f, 16, 0, NULL));
	q.outputs[0].num_dimensions = 2;
	q.outputs[0].dimensions = bad;
	ok(is_refused(path, open, &q) && holds(b, 5.0f, 16, false),
	   "F40 F42 %s: dimensions that contradict the output's buffer, which keeps its content",
	   path_names[path]);
	q.outputs[0].num_dimensions = 0;
	ok(fails(path, open, &q, NNHAL_STATUS_GENERAL_FAILURE),
	   "F41 %s: output larger than its buffer", path_names[path]);
	ok(!state_of(b).is_initialized, "F42 %s: which is uninitialised then", path_names[path]);
	MUST(!fill(b, 5.0f, 16, 0, NULL));
	q.inputs[0].dimensions = (const uint32_t[]){ 1, 2 };
	q.inputs[0].location.length = 8;
	ok(fails(path, open, &q, NNHAL_STATUS_GENERAL_FAILURE) && !state_of(b).is_initialized,
	   "F41 %s: output smaller than its buffer", path_names[path]);
	nnhal_buffer_unref(a);
	nnhal_buffer_unref(b);
	nnhal_memory_unref(wide);
	nnhal_memory_unref(wide_out);
	nnhal_prepared_model_unref(open);
}

/* Has @out twice what @in has? */
static bool is_sum(void)
{
	const float *from = nnhal_memory_map(in, NULL), *to = nnhal_memory_map(out, NULL);
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (to[i] != 2 * from[i])
			return false;
	return true;
}

static void test_scalar(enum path path)
{
	static const uint32_t one[] = { 1 }, seven[] = { 7 };
	struct nnhal_prepared_model *scalar = prepare_scalar(device);
	struct nnhal_memory *zero = memory_of(4, 0.0f);
	struct nnhal_request_argument *activation;
	struct question q;
	unsigned int i;
	struct rig g;

	rig_init(&g, scalar, true, false);
	g.inputs[0].io_index = 2;
	MUST(!rig_allocate(&g, device));
	question_init(&q);
	add_memory(&q, false, in);
	add_memory(&q, false, in);
	activation = add_token(&q, false, g.token);
	add_memory(&q, true, out);
	for (i = 0; i < 2; i++) {
		activation->num_dimensions = 1;
		activation->dimensions = one;
		ok(is_refused(path, scalar, &q), "F40 %s: dimensions {1} of a scalar, %s",
		   path_names[path], i ? "initialised" : "uninitialised");
		activation->dimensions = seven;
		ok(is_refused(path, scalar, &q), "F40 %s: dimensions {7} of a scalar, %s",
		   path_names[path], i ? "initialised" : "uninitialised");
		MUST(!nnhal_buffer_copy_from(g.buffer, zero, NULL, 0, NULL));
	}
	activation->num_dimensions = 0;
	memset(nnhal_memory_map(out, NULL), 0xee, 16);
	ok(!execute(path, scalar, &q) && is_sum(), "F40 %s: a scalar without dimensions",
	   path_names[path]);
	nnhal_buffer_unref(g.buffer);
	nnhal_memory_unref(zero);
	nnhal_prepared_model_unref(scalar);
}

/* One run of RELU of [rows, 2] into a flexible buffer, whose content it must have then. */
static bool fits(enum path path, struct nnhal_prepared_model *open, struct nnhal_buffer *buffer,
		 uint32_t token, uint32_t rows)
{
	struct nnhal_memory *memory = memory_of(rows * 8, -3.0f);
	uint32_t dims[] = { rows, 2 };
	struct nnhal_buffer_state state;
	struct question q;
	bool good;

	question_init(&q);
	add_memory(&q, false, memory);
	q.inputs[0].num_dimensions = 2;
	q.inputs[0].dimensions = dims;
	add_token(&q, true, token);
	good = !execute(path, open, &q);
	/* A burst runs nothing again: the next one finds the memory. */
	if (!good && path >= BURST && rows > 512)
		good = failed_well(NNHAL_STATUS_GENERAL_FAILURE) &&
		       !state_of(buffer).is_initialized && !execute(path, open, &q);
	state = state_of(buffer);
	good = good && state.is_initialized && state.num_dimensions == 2 &&
	       state.dimensions[0] == rows && state.dimensions[1] == 2 && state.content_size == rows * 8 &&
	       holds(buffer, -3.0f, rows * 8, true) && answer.num_shapes == 1 &&
	       answer.shapes[0].is_sufficient && answer.shapes[0].dimensions[0] == rows;
	nnhal_memory_unref(memory);
	return good;
}

static void test_flexible(enum path path)
{
	struct nnhal_prepared_model *open = prepare_relu(device, FLOATS, 0, 0, DIMS(0, 2));
	static const uint32_t rows[] = { 2, 1, 512, 513, 40000, 3 };
	struct nnhal_buffer *buffer, *target;
	uint32_t token, target_token, i, good = 0;
	struct question q;

	buffer = buffer_for(device, open, true, true, 0, NULL, &token);
	for (i = 0; i < 6; i++)
		good += fits(path, open, buffer, token, rows[i]);
	ok(good == 6, "F21 F43 %s: a flexible buffer takes a new shape on each output use",
	   path_names[path]);
	/* Its request says how large the output is: the memory is there at once. */
	target = buffer_for(device, open, true, true, 0, NULL, &target_token);
	MUST(!fill(buffer, -9.0f, 80000, DIMS(10000, 2)));
	question_init(&q);
	add_token(&q, false, token);
	add_token(&q, true, target_token);
	q.outputs[0].num_dimensions = 2;
	q.outputs[0].dimensions = (const uint32_t[]){ 10000, 2 };
	ok(!execute(path, open, &q) && holds(target, -9.0f, 80000, true),
	   "F43 %s: from a flexible buffer to another, of a shape that is given",
	   path_names[path]);
	nnhal_buffer_unref(buffer);
	nnhal_buffer_unref(target);
	nnhal_prepared_model_unref(open);
}

/* ---- runs that fail ---- */

static void test_failures(enum path path)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *two = prepare_two();
	struct nnhal_memory *tiny = memory_of(8, 0.0f);
	struct nnhal_buffer *sum;
	struct question q;
	uint32_t token;

	MUST(!fill(out_buffer, 5.0f, 16, 0, NULL));
	ask(&q, 0, out_token);
	q.inputs[0].location.length = 12;
	ok(is_refused(path, model, &q) && holds(out_buffer, 5.0f, 16, false),
	   "F42 %s: a request that is refused changes nothing", path_names[path]);
	ask(&q, 0, out_token);
	o.has_deadline = true;
	o.deadline_ns = 1;
	execute_with(path, model, &q, &o);
	ok(failed_well(NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT) &&
	   !state_of(out_buffer).is_initialized,
	   "F42 F44 %s: after a missed deadline the output is uninitialised", path_names[path]);
	sum = buffer_for(device, two, false, true, 0, NULL, &token);
	MUST(!fill(sum, 5.0f, 16, 0, NULL));
	question_init(&q);
	add_memory(&q, false, in);
	add_memory(&q, false, in);
	add_token(&q, true, token);
	add_memory(&q, true, tiny);
	execute(path, two, &q);
	ok(answer.status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && answer.num_shapes == 2 &&
	   answer.shapes[0].is_sufficient && !answer.shapes[1].is_sufficient &&
	   !state_of(sum).is_initialized,
	   "F41 F42 %s: another output is short, that in the buffer is not", path_names[path]);
	nnhal_buffer_unref(sum);
	nnhal_memory_unref(tiny);
	nnhal_prepared_model_unref(two);
}

/* Memory for an output cannot be had, for this reason. */
static int storage_error;

static int no_storage(struct transport *t, uint64_t size, enum transport_memory_type *type, int *fd)
{
	(void)t;
	(void)size;
	(void)type;
	(void)fd;
	return storage_error;
}

/* A run with the output in a buffer with content fails; then the buffer has none. */
static bool fails_and_resets(enum path path, struct nnhal_prepared_model *m,
			     const struct question *q, struct nnhal_buffer *buffer,
			     enum nnhal_status expected)
{
	return state_of(buffer).is_initialized && fails(path, m, q, expected) &&
	       !state_of(buffer).is_initialized;
}

/* Requests that break no rule, but cannot run. */
static void test_failures_before(enum path path)
{
	static const struct {
		int error;
		enum nnhal_status status;
	} errors[] = {
		{ -ENOMEM, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ -EINVAL, NNHAL_STATUS_GENERAL_FAILURE },
		{ -EFAULT, NNHAL_STATUS_GENERAL_FAILURE },
		{ -EBADF, NNHAL_STATUS_GENERAL_FAILURE },
		{ -ENODEV, NNHAL_STATUS_DEVICE_UNAVAILABLE },
	};
	struct nnhal_prepared_model *open = prepare_relu(device, FLOATS, 0, 0, DIMS(0, 0));
	const struct transport_ops *ops = device->transport->ops;
	struct transport_ops broken = *ops;
	struct nnhal_buffer *flexible;
	unsigned int i, good = 0;
	struct question q;
	uint32_t token;

	nnhal_buffer_copy_from(both, in, NULL, 1, NULL);
	MUST(!state_of(both).is_initialized && !fill(out_buffer, 5.0f, 16, 0, NULL));
	ask(&q, both_token, out_token);
	ok(fails_and_resets(path, model, &q, out_buffer, NNHAL_STATUS_GENERAL_FAILURE),
	   "F42 %s: after a run with an uninitialised input the output is uninitialised",
	   path_names[path]);
	flexible = buffer_for(device, open, true, true, 0, NULL, &token);
	MUST(!fill(flexible, 5.0f, 16, SQUARE));
	question_init(&q);
	add_memory(&q, false, in);
	q.inputs[0].num_dimensions = 2;
	q.inputs[0].dimensions = (const uint32_t[]){ 2, 2 };
	add_token(&q, true, token);
	q.outputs[0].num_dimensions = 2;
	q.outputs[0].dimensions = (const uint32_t[]){ 65536, 65536 };
	ok(fails_and_resets(path, open, &q, flexible, NNHAL_STATUS_GENERAL_FAILURE),
	   "F42 %s: or one with an output above 4 GiB", path_names[path]);
	q.outputs[0].dimensions = (const uint32_t[]){ 1024, 1024 };
	broken.storage_create = no_storage;
	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		MUST(!fill(flexible, 5.0f, 16, SQUARE));
		storage_error = errors[i].error;
		device->transport->ops = &broken;
		good += fails_and_resets(path, open, &q, flexible, errors[i].status);
		device->transport->ops = ops;
	}
	ok(good == i, "F42 %s: or one without memory for its output: %u of %u errors",
	   path_names[path], good, i);
	nnhal_buffer_unref(flexible);
	nnhal_prepared_model_unref(open);
}

/* The buffers are released while the job runs. */
static void test_release(void)
{
	struct nnhal_buffer *a, *b;
	struct question q;
	uint32_t a_token, b_token;
	unsigned int i, good = 0;

	for (i = 0; i < 50; i++) {
		a = buffer_for(device, model, true, false, 0, NULL, &a_token);
		b = buffer_for(device, model, false, true, 0, NULL, &b_token);
		MUST(!fill(a, 1.0f, 16, 0, NULL));
		ask(&q, a_token, b_token);
		answer.launch = nnhal_prepared_model_execute(model, &q.request, NULL, executed,
							     &result);
		nnhal_buffer_unref(a);
		nnhal_buffer_unref(b);
		good += callback_wait(&result, answer.launch) == NNHAL_STATUS_NONE;
		good += is_refused(SYNC, model, &q);
	}
	ok(good == 100, "F22 memory lives until the job has ended, the token does not");
}

/* A burst with a queue ends before its results are taken. True: its output is uninitialised. */
static bool leave_untaken(void)
{
	struct nnhal_buffer *a, *b;
	uint32_t a_token, b_token;
	struct nnhal_burst *burst;
	struct question q;
	unsigned int i;
	bool good;

	a = buffer_for(device, model, true, false, 0, NULL, &a_token);
	b = buffer_for(device, model, false, true, 0, NULL, &b_token);
	MUST(!fill(a, 1.0f, 16, 0, NULL) && !fill(b, 1.0f, 16, 0, NULL));
	MUST(!nnhal_burst_create(model, NULL, &burst));
	ask(&q, a_token, b_token);
	for (i = 0; i < 4; i++)
		MUST(!nnhal_burst_submit(burst, &q.request, NULL, i, 0));
	nnhal_burst_unref(burst);
	good = !state_of(b).is_initialized;
	MUST(!fill(b, 2.0f, 16, 0, NULL) && holds(b, 2.0f, 16, false));
	nnhal_buffer_unref(a);
	nnhal_buffer_unref(b);
	return good;
}

/*
 * Results that nobody takes. Before all tests with threads: those close files at any time. Through
 * the driver runs end without anybody who takes their results, and later.
 */
static void test_untaken(void)
{
	struct nnhal_burst *burst;
	unsigned int files;
	bool has_queue, good;

	MUST(!nnhal_burst_create(model, NULL, &burst));
	has_queue = burst->queue;
	nnhal_burst_unref(burst);
	if (!has_queue)
		return;
	good = leave_untaken();
	files = count_entries("/proc/self/fd");
	ok(leave_untaken() && good,
	   "F42 a burst that ends with results that nobody took: the output is uninitialised");
	ok(count_entries("/proc/self/fd") == files, "F42 and the buffers are released");
}

/* In one burst, requests with buffers and without them, in turn. */
static void test_mixed_burst(void)
{
	struct nnhal_burst *burst;
	struct question plain, q;
	unsigned int i, good = 0;

	MUST(!nnhal_burst_create(model, NULL, &burst));
	MUST(!fill(in_buffer, -1.0f, 16, 0, NULL));
	ask(&plain, 0, 0);
	ask(&q, in_token, out_token);
	for (i = 0; i < 100; i++) {
		good += !nnhal_burst_execute(burst, &plain.request, NULL, NULL, NULL, NULL) &&
			memory_has(out, -1.0f, true);
		MUST(!fill(in_buffer, (float)i, 16, 0, NULL));
		good += !nnhal_burst_execute(burst, &q.request, NULL, NULL, NULL, NULL) &&
			holds(out_buffer, (float)i, 16, true);
	}
	ok(good == 200, "F45 a burst with tokens and memory in turn");
	nnhal_burst_unref(burst);
}

/* ---- threads ---- */

#define THREADS	4
#define ROUNDS	100

struct worker {
	pthread_t thread;
	struct nnhal_buffer *buffer;
	uint32_t token;
	bool writes;
	unsigned int good, failed;	/* NONE, GENERAL_FAILURE */
	unsigned int wrong;		/* NONE, but other content */
};

static struct nnhal_prepared_model *shared;	/* RELU of [n, 2] */

static void *work(void *context)
{
	static const uint32_t dims[] = { 2, 2 };
	struct worker *w = context;
	struct nnhal_memory *memory = memory_of(16, 1.0f);
	struct nnhal_burst *burst;
	enum nnhal_status status;
	struct question q;
	unsigned int i;

	MUST(!nnhal_burst_create(shared, NULL, &burst));
	question_init(&q);
	if (w->writes)
		add_memory(&q, false, memory);
	else
		add_token(&q, false, w->token);
	if (w->writes)
		add_token(&q, true, w->token);
	else
		add_memory(&q, true, memory);
	if (w->writes) {
		q.inputs[0].num_dimensions = 2;
		q.inputs[0].dimensions = dims;
	}
	for (i = 0; i < ROUNDS; i++) {
		if (!w->writes)
			memset(nnhal_memory_map(memory, NULL), 0xee, 16);
		switch (i % 3) {
		case 0:
			status = nnhal_prepared_model_execute_synchronously(shared, &q.request, NULL,
									    NULL, NULL, NULL);
			break;
		case 1:
			status = nnhal_burst_execute(burst, &q.request, NULL, NULL, NULL, NULL);
			break;
		default:
			status = w->writes ? nnhal_buffer_copy_from(w->buffer, memory, dims, 2,
								      NULL)
					   : nnhal_buffer_copy_to(w->buffer, memory, NULL);
		}
		w->good += !status;
		w->failed += status == NNHAL_STATUS_GENERAL_FAILURE;
		w->wrong += !w->writes && !status && !memory_has(memory, 1.0f, false);
	}
	nnhal_burst_unref(burst);
	nnhal_memory_unref(memory);
	return NULL;
}

static void run_workers(struct worker *workers, unsigned int writers)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		workers[i].writes = i < writers;
		MUST(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

static void test_threads(void)
{
	struct worker readers[THREADS] = { { .good = 0 } }, mixed[THREADS] = { { .good = 0 } };
	struct nnhal_buffer *buffer;
	unsigned int i, good = 0, wrong = 0, ended = 0;
	uint32_t token;

	shared = prepare_relu(device, FLOATS, 0, 0, DIMS(0, 2));
	buffer = buffer_for(device, shared, true, true, 0, NULL, &token);
	MUST(!fill(buffer, 1.0f, 16, SQUARE));
	for (i = 0; i < THREADS; i++) {
		readers[i].buffer = buffer;
		readers[i].token = token;
		mixed[i] = readers[i];
	}
	run_workers(readers, 0);
	for (i = 0; i < THREADS; i++) {
		good += readers[i].good;
		wrong += readers[i].wrong;
	}
	ok(good == THREADS * ROUNDS && !wrong,
	   "F46 parallel readers of one buffer all get its content: %u, %u others", good, wrong);
	run_workers(mixed, 2);
	/* What readers find is not defined. */
	for (i = 0; i < THREADS; i++)
		ended += mixed[i].good + mixed[i].failed;
	ok(ended == THREADS * ROUNDS,
	   "F46 readers and writers at once: all succeed or get GENERAL_FAILURE: %u", ended);
	ok(!fill(buffer, 1.0f, 16, SQUARE) && holds(buffer, 1.0f, 16, false),
	   "F46 the buffer is good afterwards");
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(shared);
}

int main(void)
{
	enum path path;

	device = test_device_open();
	model = prepare_relu(device, FLOATS, 0, 0, SQUARE);
	test_untaken();
	for (path = SYNC; path < PATHS; path++) {
		set_up();
		test_tokens(path);
		test_roles(path);
		test_state(path);
		test_twice(path);
		test_exported(path);
		test_dimensions(path);
		test_scalar(path);
		test_flexible(path);
		test_failures(path);
		test_failures_before(path);
		tear_down();
	}
	set_up();
	test_release();
	test_mixed_burst();
	tear_down();
	test_threads();
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
