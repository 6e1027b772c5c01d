// SPDX-License-Identifier: MIT
/* IF and WHILE: support, execution in every way there is, loop timeout, profile. */
#include <string.h>
#include <unistd.h>

#include "nnhal_fixture.h"

static struct fixture f;
static struct run r;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_ext_operation_support support[MAX_OPERATIONS];
static struct nnhal_diag diag;

static void prepare(void)
{
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
		printf("Bail out! model cannot be prepared\n");
		exit(1);
	}
}

static void set(uint32_t input, float value)
{
	memcpy(r.map + RUN_INPUT(input), &value, sizeof(value));
}

static float output(void)
{
	float value;

	memcpy(&value, r.map + RUN_OUTPUT(0), sizeof(value));
	return value;
}

static enum nnhal_status execute(const struct nnhal_execute_options *o)
{
	return nnhal_prepared_model_execute_synchronously(model, &r.request, o, r.shapes,
							  &r.num_shapes, &r.timing);
}

/* What a callback is given. */
struct done {
	volatile int calls;
	enum nnhal_status status;
};

static void on_executed(void *context, enum nnhal_status status,
			const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			const struct nnhal_timing *timing)
{
	struct done *d = context;

	(void)shapes;
	(void)num_shapes;
	(void)timing;
	d->status = status;
	__atomic_store_n(&d->calls, 1, __ATOMIC_RELEASE);
}

static enum nnhal_status execute_async(const struct nnhal_execute_options *o)
{
	struct done d = { 0, NNHAL_STATUS_NONE };

	if (nnhal_prepared_model_execute(model, &r.request, o, on_executed, &d))
		return NNHAL_STATUS_GENERAL_FAILURE;
	while (!__atomic_load_n(&d.calls, __ATOMIC_ACQUIRE))
		usleep(100);
	return d.status;
}

static enum nnhal_status ask(void)
{
	memset(support, 0xff, sizeof(support));
	support[0].size = sizeof(support[0]);
	return nnhal_ext_get_operation_support(device, &f.model, support,
					       f.model.main.num_operations, &diag);
}

static void test_support(void)
{
	static const struct nnhal_extension_prefix ext[] = { { "com.example.ext", 1 } };

	make_if(&f);
	ok(!ask() && support[0].supported, "A19 IF");
	make_while(&f);
	ok(!ask() && support[0].supported, "A19 WHILE");

	make_if(&f);
	f.model.extensions = ext;
	f.model.num_extensions = 1;
	f.sub[1].operations[0].type = 0x10001;
	ok(!ask() && !support[0].supported &&
	   !strncmp(support[0].reason, "subgraph 1 operation 0", 22),
	   "A19 not with an operation of an extension in a branch: %s", support[0].reason);

	/* A variant of an operation that the device lacks, although it has the operation. */
	make_if(&f);
	f.sub[0].operations[0].type = NNHAL_OPERATION_OEM_OPERATION;
	ok(!ask() && !support[0].supported && strstr(support[0].reason, "subgraph 0"),
	   "A19 nor with OEM_OPERATION: %s", support[0].reason);

	make_if(&f);
	f.sub[1].operands[2].type = NNHAL_OPERAND_FLOAT32;
	ok(ask() == NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "subgraph 1 operation 0"),
	   "a malformed operation in a branch is named: %s", diag.message);
	ok(nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "and refused when it is prepared");
}

static void test_if(void)
{
	unsigned int i;

	make_if(&f);
	prepare();
	run_init(&r, 1);
	r.request.num_inputs = 3;
	r.inputs[2] = r.inputs[1];
	r.inputs[2].location.offset = RUN_INPUT(2);
	r.inputs[0].location.length = 1;
	set(1, 5);
	set(2, 3);
	for (i = 0; i < 2; i++) {
		r.map[RUN_INPUT(0)] = (uint8_t)i;
		ok(!execute(NULL) && output() == (i ? 8 : 15) && r.num_shapes == 1 &&
		   r.shapes[0].num_dimensions == 1 && r.shapes[0].dimensions[0] == 1,
		   "IF, condition %u", i);
		ok(!execute_async(NULL) && output() == (i ? 8 : 15), "IF, asynchronous");
	}
	r.outputs[0].location.length = 3;
	ok(execute(NULL) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && !r.shapes[0].is_sufficient,
	   "IF, output too small");
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

/* IF whose branches give outputs of different shapes. */
static void test_different_shapes(void)
{
	static const uint32_t any[] = { 0 };
	struct graph *g = &f.graph;
	unsigned int i, k;

	fixture_init(&f);
	for (i = 0; i < 2; i++) {
		add_operand(&f.sub[i], NNHAL_OPERAND_TENSOR_FLOAT32,
			    NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(2));
		add_operand(&f.sub[i], NNHAL_OPERAND_TENSOR_FLOAT32,
			    NNHAL_LIFETIME_SUBGRAPH_OUTPUT, 1, any);
		add_int32(&f, &f.sub[i], 0);
	}
	add_operation(&f.sub[0], NNHAL_OPERATION_CONCATENATION, OPERANDS(0, 0, 2), OPERANDS(1));
	f.sub[0].operands[1].number_of_consumers = 0;
	add_operation(&f.sub[1], NNHAL_OPERATION_RELU, OPERANDS(0), OPERANDS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_BOOL8, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_subgraph(g, 0);
	add_subgraph(g, 1);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(2));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, 1, any);
	add_operation(g, NNHAL_OPERATION_IF, OPERANDS(0, 1, 2, 3), OPERANDS(4));
	fixture_finish(&f, 2);
	ok(nnhal_validate_model(&f.model, &diag), "branches of different shapes: %s", diag.message);
	prepare();
	run_init(&r, 2);
	r.inputs[0].location.length = 1;
	r.outputs[0].location.length = 64;
	for (i = 0; i < 2; i++) {
		float in[2] = { 3, 4 }, out[4];

		memcpy(r.map + RUN_INPUT(1), in, sizeof(in));
		r.map[RUN_INPUT(0)] = (uint8_t)i;
		ok(!execute(NULL) && r.shapes[0].dimensions[0] == (i ? 4 : 2),
		   "IF, output of %u elements", r.shapes[0].dimensions[0]);
		memcpy(out, r.map + RUN_OUTPUT(0), sizeof(out));
		for (k = 0; k < r.shapes[0].dimensions[0]; k++)
			if (out[k] != in[k % 2])
				break;
		ok(k == (i ? 4 : 2), "the right ones");
	}
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

static bool missed(enum nnhal_status status)
{
	return status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT ||
	       status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
}

static void test_burst(const struct nnhal_execute_options *o)
{
	struct nnhal_burst *burst;
	unsigned int i;

	if (nnhal_burst_create(model, NULL, &burst)) {
		ok(false, "burst");
		return;
	}
	for (i = 0; i < 2; i++) {
		set(0, -1);
		set(1, 0);
		ok(missed(nnhal_burst_execute(burst, &r.request, o, NULL, NULL, NULL)),
		   "D31 in a burst");
		set(0, 1);
		set(1, 20);
		ok(!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
		   output() == 21, "and the next one is not touched by it");
	}
	nnhal_burst_unref(burst);
}

static void test_while(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	static const float cases[][3] = {
		{ 1, -2, 1 }, { 1, 1, 1 }, { 0, 4, 4 }, { -9, 2, 3 }, { -100, 3, 5 },
	};
	unsigned int i;

	make_while(&f);
	prepare();
	run_init(&r, 1);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(0, cases[i][0]);
		set(1, cases[i][1]);
		/* While a < b: a = a + b. */
		ok(!execute(NULL) && output() == (i == 3 ? 3 : i == 4 ? 5 : cases[i][2]),
		   "WHILE from %g by %g", cases[i][0], cases[i][1]);
	}
	o.diag = &r.diag;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = 1000000;
	set(0, -1);
	set(1, 0);
	for (i = 0; i < 2; i++) {
		o.measure = i ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
		ok(missed(execute(&o)) && strstr(r.diag.message, "operation 0"),
		   "D31 endless, synchronous, measure %u: %s", i, r.diag.message);
		ok(missed(execute_async(&o)), "D31 endless, asynchronous, measure %u", i);
	}
	test_burst(&o);
	set(0, -1);
	set(1, 0);
	o.loop_timeout_ns = 0;
	ok(missed(execute(&o)), "no time at all");
	ok(missed(execute(NULL)), "D30 the default ends it, too");
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
	set(1, 3);
	ok(!execute(&o) && output() == 5, "D30 the longest there is");
	o.loop_timeout_ns++;
	ok(execute(&o) == NNHAL_STATUS_INVALID_ARGUMENT, "D30 more than that: %s", r.diag.message);
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

/*
 * An IF whose branches are a WHILE and an addition; condition and addition are shared by
 * the graphs. Referenced graphs: 0 the branch with the WHILE, 1 LESS, 2 ADD.
 */
static void make_nested(void)
{
	struct graph *g = &f.graph, *w = &f.sub[3];
	uint32_t i;

	make_while(&f);
	/* The main graph becomes a branch, what was 0 and 1 stays. */
	f.sub[2] = f.graph;
	f.sub[2].operands[2].lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	memset(g, 0, sizeof(*g));
	memset(w, 0, sizeof(*w));
	for (i = 0; i < f.sub[2].sg.num_operands; i++)
		f.sub[2].operands[i].dimensions = f.sub[2].dims[i];
	for (i = 0; i < f.sub[2].sg.num_operations; i++) {
		f.sub[2].operations[i].inputs = f.sub[2].op_inputs[i];
		f.sub[2].operations[i].outputs = f.sub[2].op_outputs[i];
	}
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_subgraph(g, 2);
	add_subgraph(g, 1);
	add_operand(g, NNHAL_OPERAND_TENSOR_BOOL8, NNHAL_LIFETIME_TEMPORARY_VARIABLE, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(1));
	add_operation(g, NNHAL_OPERATION_LESS, OPERANDS(0, 1), OPERANDS(4));
	add_operation(g, NNHAL_OPERATION_IF, OPERANDS(4, 2, 3, 0, 1), OPERANDS(5));
	add_operation(g, NNHAL_OPERATION_IF, OPERANDS(4, 3, 2, 5, 1), OPERANDS(6));
	fixture_finish(&f, 3);
}

/* Operations of all subgraphs. */
static uint32_t count_operations(const struct nnhal_model *m)
{
	uint32_t i, n = m->main.num_operations;

	for (i = 0; i < m->num_referenced; i++)
		n += m->referenced[i].num_operations;
	return n;
}

static void test_nested(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_ext_profile_entry entries[16];
	struct nnhal_ext_profile profile = NNHAL_EXT_PROFILE_INIT;
	unsigned int i, inner = 0, control = 0;

	make_nested();
	profile.entries = entries;
	profile.max_entries = count_operations(&f.model);
	ok(nnhal_validate_model(&f.model, &diag), "nested and shared subgraphs: %s", diag.message);
	ok(!ask() && support[0].supported && support[1].supported && support[2].supported,
	   "A19 all supported");
	prepare();
	run_init(&r, 1);
	set(0, 1);
	set(1, 10);
	/* a < b: a = 11 in the loop, then 11 + 10. */
	ok(!execute(NULL) && output() == 21, "the loop, then the addition");
	set(0, 20);
	/* Not: a = 30, which is not below 10 in the loop. */
	ok(!execute(NULL) && output() == 30, "the addition, then no loop");

	set(0, -50);
	o.profile = &profile;
	o.diag = &r.diag;
	ok(!execute(&o) && output() == 20 && profile.num_entries == 6 &&
	   profile.num_entries == profile.max_entries,
	   "profile of %u entries: all operations, of all subgraphs", profile.num_entries);
	for (i = 0; i < profile.num_entries; i++) {
		control += entries[i].operation_type == NNHAL_OPERATION_IF;
		inner += entries[i].operation == 1 &&
			 (entries[i].operation_type == NNHAL_OPERATION_WHILE ||
			  entries[i].operation_type == NNHAL_OPERATION_LESS ||
			  entries[i].operation_type == NNHAL_OPERATION_ADD);
	}
	ok(control == 2 && inner == 3, "2 times IF, and 3 operations inside of the first");

	o.has_loop_timeout = true;
	o.loop_timeout_ns = 1;
	ok(missed(execute(&o)) && strstr(r.diag.message, "subgraph 2 operation 0"),
	   "the loop that took too long is named: %s", r.diag.message);
	run_fini(&r);
	nnhal_prepared_model_unref(model);

	/*
	 * An operation that is not supported in a nested subgraph makes the outer operation
	 * unsupported.
	 */
	make_nested();
	f.sub[0].operations[0].type = NNHAL_OPERATION_OEM_OPERATION;
	ok(!ask() && support[0].supported && !support[1].supported && !support[2].supported,
	   "A19 through a subgraph: %s", support[2].reason);
}

/*
 * @depth graphs, each of which has an IF with the next one as both branches, the last one
 * an ABS. Operands: 0 condition, 1 input, 2 output, 3 the next graph.
 */
static struct nnhal_subgraph *make_deep(struct nnhal_model *m, uint32_t depth)
{
	static const uint32_t if_inputs[] = { 0, 3, 3, 0, 1 }, abs_inputs[] = { 1 }, out[] = { 2 };
	static const uint32_t in[] = { 0, 1 }, one[] = { 1 };
	static const struct nnhal_operation if_op = {
		.type = NNHAL_OPERATION_IF, .inputs = if_inputs, .num_inputs = 5,
		.outputs = out, .num_outputs = 1,
	};
	static const struct nnhal_operation abs_op = {
		.type = NNHAL_OPERATION_ABS, .inputs = abs_inputs, .num_inputs = 1,
		.outputs = out, .num_outputs = 1,
	};
	struct nnhal_subgraph *graphs = calloc(depth + 1, sizeof(*graphs));
	struct nnhal_operand *operands = calloc(4 * ((size_t)depth + 1), sizeof(*operands));
	uint32_t i, k;

	if (!graphs || !operands)
		exit(1);
	for (i = 0; i <= depth; i++) {
		struct nnhal_operand *o = &operands[4 * i];
		bool last = i == depth;

		for (k = 0; k < 3; k++) {
			o[k].type = k ? NNHAL_OPERAND_TENSOR_FLOAT32 : NNHAL_OPERAND_TENSOR_BOOL8;
			o[k].lifetime = k == 2 ? NNHAL_LIFETIME_SUBGRAPH_OUTPUT :
						 NNHAL_LIFETIME_SUBGRAPH_INPUT;
			o[k].dimensions = one;
			o[k].num_dimensions = 1;
		}
		o[0].number_of_consumers = last ? 0 : 2;
		o[1].number_of_consumers = 1;
		o[3].type = NNHAL_OPERAND_SUBGRAPH;
		o[3].lifetime = NNHAL_LIFETIME_SUBGRAPH;
		o[3].location.offset = i;
		o[3].number_of_consumers = 2;
		graphs[i] = (struct nnhal_subgraph){
			.operands = o, .num_operands = last ? 3 : 4,
			.operations = last ? &abs_op : &if_op, .num_operations = 1,
			.input_indexes = in, .num_inputs = 2, .output_indexes = out,
			.num_outputs = 1,
		};
	}
	memset(m, 0, sizeof(*m));
	m->main = graphs[0];
	m->referenced = graphs + 1;
	m->num_referenced = depth;
	return graphs;
}

static void test_depth(uint32_t depth, bool supported)
{
	struct nnhal_ext_operation_support s = NNHAL_EXT_OPERATION_SUPPORT_INIT;
	struct nnhal_subgraph *graphs;
	struct nnhal_model m;

	graphs = make_deep(&m, depth);
	ok(!nnhal_ext_get_operation_support(device, &m, &s, 1, &diag) && s.supported == supported,
	   "%u graphs inside of each other: %s", depth,
	   supported ? "supported" : s.reason);
	if (nnhal_device_prepare_model_sync(device, &m, NULL, &model)) {
		ok(!supported, "cannot be prepared");
	} else {
		ok(supported, "can be prepared");
		run_init(&r, 1);
		r.inputs[0].location.length = 1;
		set(1, -4);
		ok(!execute(NULL), "and run");
		ok(output() == 4, "to the very last");
		run_fini(&r);
		nnhal_prepared_model_unref(model);
	}
	free((void *)graphs[0].operands);
	free(graphs);
}

int main(void)
{
	device = test_device_open();
	test_support();
	test_if();
	test_different_shapes();
	test_while();
	test_nested();
	test_depth(1, true);
	test_depth(32, true);
	test_depth(33, false);
	test_depth(50000, false);
	nnhal_device_unref(device);
	return tap_done();
}
