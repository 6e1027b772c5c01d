// SPDX-License-Identifier: MIT
/*
 * Outputs of executions: their shapes on every path, sizes of zero and sizes that are too
 * large, the order of data; and models that another thread changes while the library reads
 * them. Names carry the numbers of the conformance checklist.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "nnhal_fixture.h"

static struct nnhal_device *device;
static struct fixture f;
static struct run r;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *burst;

static void prepare(void)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;

	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	burst = NULL;
	options.diag = &f.diag;
	if (nnhal_device_prepare_model_sync(device, &f.model, &options, &model) ||
	    nnhal_burst_create(model, NULL, &burst)) {
		printf("Bail out! model cannot be prepared: %s\n", f.diag.message);
		exit(1);
	}
	run_fini(&r);
	run_init(&r, 4);
}

/* Result of one path of execution. */
struct result {
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_output_shape shapes[4];
	struct nnhal_timing timing;
	atomic_uint calls;
};

static void executed(void *context, enum nnhal_status status,
		     const struct nnhal_output_shape *output_shapes, uint32_t num_output_shapes,
		     const struct nnhal_timing *timing)
{
	struct result *result = context;

	result->status = status;
	result->num_shapes = num_output_shapes;
	if (num_output_shapes)
		memcpy(result->shapes, output_shapes, num_output_shapes * sizeof(*output_shapes));
	result->timing = *timing;
	atomic_fetch_add(&result->calls, 1);
}

enum path { SYNC, ASYNC, BURST, PATHS };

static const char *const path_names[PATHS] = { "sync", "async", "burst" };

static void execute(enum path path, struct result *result)
{
	memset(result, 0, sizeof(*result));
	result->num_shapes = 99;
	switch (path) {
	case SYNC:
		result->status = nnhal_prepared_model_execute_synchronously(model, &r.request, NULL,
			result->shapes, &result->num_shapes, &result->timing);
		break;
	case BURST:
		result->status = nnhal_burst_execute(burst, &r.request, NULL, result->shapes,
						     &result->num_shapes, &result->timing);
		break;
	default:
		nnhal_prepared_model_execute(model, &r.request, NULL, executed, result);
		while (!atomic_load(&result->calls))
			;
	}
}

static bool no_timing(const struct result *result)
{
	return result->timing.time_on_device == NNHAL_NO_TIMING &&
	       result->timing.time_in_driver == NNHAL_NO_TIMING;
}

static bool shape_is(const struct nnhal_output_shape *shape, bool sufficient, uint32_t rank,
		     const uint32_t *dims)
{
	return shape->is_sufficient == sufficient && shape->num_dimensions == rank &&
	       !memcmp(shape->dimensions, dims, rank * sizeof(*dims));
}

/* ADD whose sum is an output, and RELU of it. */
static void make_two_outputs(void)
{
	make_add_relu(&f);
	f.graph.operands[3].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
}

static void two_output_request(void)
{
	r.request.num_outputs = 2;
	r.outputs[1].location = (struct nnhal_data_location){ 0, RUN_OUTPUT(1), 16 };
}

static void test_one_short(void)
{
	static const uint32_t square[] = { 2, 2 };
	struct result result;
	enum path path;
	uint32_t i;

	make_two_outputs();
	prepare();
	two_output_request();
	for (path = SYNC; path < PATHS; path++) {
		execute(path, &result);
		ok(!result.status && result.num_shapes == 2 &&
		   shape_is(&result.shapes[0], true, 2, square) &&
		   shape_is(&result.shapes[1], true, 2, square),
		   "D15 %s: one entry for each output", path_names[path]);
		for (i = 0; i < 2; i++) {
			r.outputs[i].location.length = 15;
			execute(path, &result);
			r.outputs[i].location.length = 16;
			ok(result.status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE &&
			   result.num_shapes == 2 && no_timing(&result) &&
			   shape_is(&result.shapes[i], false, 2, square) &&
			   shape_is(&result.shapes[1 - i], true, 2, square),
			   "D16 %s: output %u is short, the other is not", path_names[path], i);
		}
		r.outputs[0].location.offset = RUN_OUTPUT(1);
		execute(path, &result);
		r.outputs[0].location.offset = RUN_OUTPUT(0);
		ok(result.status == NNHAL_STATUS_INVALID_ARGUMENT && !result.num_shapes &&
		   no_timing(&result), "D14 %s: refused, no shapes", path_names[path]);
	}
}

/* TILE of one row; the number of copies is known only when it runs. */
static void make_tile(void)
{
	fixture_init(&f);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(4));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operation(&f.graph, NNHAL_OPERATION_TILE, OPERANDS(0, 1), OPERANDS(2));
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
}

static void test_overflow(void)
{
	static const uint32_t eight[] = { 8 };
	struct result result;
	int32_t times;
	enum path path;

	make_tile();
	prepare();
	r.inputs[1].location.length = sizeof(times);
	r.outputs[0].location.length = 32;
	for (path = SYNC; path < PATHS; path++) {
		times = 2;
		memcpy(r.map + RUN_INPUT(1), &times, sizeof(times));
		execute(path, &result);
		ok(!result.status && result.num_shapes == 1 &&
		   shape_is(&result.shapes[0], true, 1, eight), "D15 %s: shape found at run time",
		   path_names[path]);
		times = INT32_MAX;
		memcpy(r.map + RUN_INPUT(1), &times, sizeof(times));
		execute(path, &result);
		ok(result.status && result.status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE &&
		   !result.num_shapes && no_timing(&result),
		   "D12 D14 %s: size overflows at run time: %s", path_names[path],
		   nnhal_status_name(result.status));
		times = -1;
		memcpy(r.map + RUN_INPUT(1), &times, sizeof(times));
		execute(path, &result);
		ok(result.status && !result.num_shapes && no_timing(&result),
		   "D11 %s: bad parameter at run time: %s", path_names[path],
		   nnhal_status_name(result.status));
	}
}

/* BOX_WITH_NMS_LIMIT of one box and two classes. */
static void make_nms(void)
{
	static const float floats[] = { 0.9f, 0.4f, 1.0f, 0.3f };
	int32_t operands[10];
	uint32_t i;

	fixture_init(&f);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(1, 2));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(1, 8));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_constant(&f, &f.graph, NNHAL_OPERAND_FLOAT32, SCALAR, &floats[0], 4);
	add_int32(&f, &f.graph, -1);
	add_int32(&f, &f.graph, 0);
	for (i = 1; i < 4; i++)
		add_constant(&f, &f.graph, NNHAL_OPERAND_FLOAT32, SCALAR, &floats[i], 4);
	for (i = 0; i < 9; i++)
		operands[i] = (int32_t)i;
	operands[9] = -1;
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(0, 4));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operation(&f.graph, NNHAL_OPERATION_BOX_WITH_NMS_LIMIT, operands,
		      OPERANDS(9, 10, 11, 12));
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
}

static void test_zero_size(void)
{
	static const uint32_t none[] = { 0, 4 }, lengths[] = { 8, 32, 4 };
	struct result result;
	enum path path;
	uint32_t i;

	make_nms();
	prepare();
	r.request.num_inputs = 3;
	r.request.num_outputs = 4;
	memset(r.map, 0, 1024);
	for (i = 0; i < 3; i++)
		r.inputs[i].location = (struct nnhal_data_location){ 0, RUN_INPUT(i), lengths[i] };
	for (i = 0; i < 4; i++)
		r.outputs[i].location = (struct nnhal_data_location){ 0, RUN_OUTPUT(i), 1 };
	for (path = SYNC; path < PATHS; path++) {
		execute(path, &result);
		ok(!result.status && result.num_shapes == 4 &&
		   shape_is(&result.shapes[0], true, 1, none) &&
		   shape_is(&result.shapes[1], true, 2, none) &&
		   shape_is(&result.shapes[2], true, 1, none) &&
		   shape_is(&result.shapes[3], true, 1, none) && r.map[RUN_OUTPUT(0)] == 0xee,
		   "D19 %s: no box is left, in a buffer of one byte: %s", path_names[path],
		   nnhal_status_name(result.status));
	}
}

static void test_order_of_data(void)
{
	static const int32_t permutation[] = { 1, 0 };
	static const uint32_t turned[] = { 3, 2 };
	struct result result;
	float value;
	uint32_t i;
	bool right = true;

	fixture_init(&f);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(2, 3));
	add_constant(&f, &f.graph, NNHAL_OPERAND_TENSOR_INT32, DIMS(2), permutation,
		     sizeof(permutation));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(3, 2));
	add_operation(&f.graph, NNHAL_OPERATION_TRANSPOSE, OPERANDS(0, 1), OPERANDS(2));
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
	prepare();
	run_fini(&r);
	run_init(&r, 6);
	r.request.num_inputs = 1;
	execute(SYNC, &result);
	for (i = 0; i < 6; i++) {
		memcpy(&value, r.map + RUN_OUTPUT(0) + i * sizeof(value), sizeof(value));
		/* Element [i / 2][i % 2] of the output is [i % 2][i / 2] of 1 2 3, 4 5 6. */
		right &= value == (float)(i % 2 * 3 + i / 2 + 1);
	}
	ok(!result.status && shape_is(&result.shapes[0], true, 2, turned) && right,
	   "D20 data is row-major, without padding");
}

/* A thread that changes a model all the time, between legal and hostile values. */
struct writer {
	pthread_t thread;
	atomic_bool stop;
};

static void *write_model(void *context)
{
	static const uint32_t hostile[] = { 0xffffffff, 7, 3, 0x10000 };
	struct writer *w = context;
	volatile uint32_t *places[] = {
		&f.graph.operands[1].type, &f.graph.operands[2].location.offset,
		&f.graph.operands[2].location.length, &f.graph.operands[3].lifetime,
		&f.graph.op_inputs[0][1], &f.graph.op_outputs[0][0], &f.graph.outputs[0],
		&f.graph.operations[1].type, &f.graph.dims[0][0],
		(volatile uint32_t *)&f.graph.operands[0].number_of_consumers,
	};
	unsigned int i = 0;

	while (!atomic_load(&w->stop)) {
		volatile uint32_t *place = places[i % (sizeof(places) / sizeof(places[0]))];
		uint32_t legal = *place;

		*place = hostile[i++ % 4];
		*place = legal;
	}
	return NULL;
}

static void test_concurrent_writer(void)
{
	unsigned int i, good = 0, refused = 0, others = 0;
	struct writer w = { .stop = false };
	bool supported[2];

	make_add_relu(&f);
	if (pthread_create(&w.thread, NULL, write_model, &w)) {
		printf("Bail out! no thread\n");
		exit(1);
	}
	for (i = 0; i < 4000; i++) {
		enum nnhal_status status;

		if (i % 4) {
			status = nnhal_device_get_supported_operations(device, &f.model, supported, 2,
								       NULL);
		} else {
			struct nnhal_prepared_model *prepared = NULL;

			status = nnhal_device_prepare_model_sync(device, &f.model, NULL, &prepared);
			others += !status != !!prepared;
			nnhal_prepared_model_unref(prepared);
		}
		good += status == NNHAL_STATUS_NONE;
		refused += status == NNHAL_STATUS_INVALID_ARGUMENT;
	}
	atomic_store(&w.stop, true);
	pthread_join(w.thread, NULL);
	ok(good + refused == i && !others,
	   "B32 model written to meanwhile: %u of %u times valid, %u times refused", good, i,
	   refused);
}

int main(void)
{
	device = test_device_open();
	test_one_short();
	test_overflow();
	test_zero_size();
	test_order_of_data();
	test_concurrent_writer();
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
	nnhal_device_unref(device);
	return tap_done();
}
