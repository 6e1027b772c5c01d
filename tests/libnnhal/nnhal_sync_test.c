// SPDX-License-Identifier: MIT
/*
 * A device that sees other bytes of a buffer than the process until the library synchronises them:
 * each way to run a request gets the inputs of this run, and gives the outputs of this run. What is
 * forgotten is stale: the same memory has other values in each run.
 *
 * Instead of "sim" the device is "sim:bounce", where memory is never the same by chance.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer_rig.h"
#include "nnhal_fixture.h"

#define COUNT	4u
#define ROUNDS	4u

static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *burst;
static struct fixture f;
static struct run r;
static bool is_sim;

static float value(unsigned int seed, unsigned int input, unsigned int i)
{
	return (float)(seed * 10 + i * 3 + input * 1000);
}

/* New inputs, and outputs that are wrong. */
static void put(unsigned int seed)
{
	unsigned int input, i;
	float v;

	for (input = 0; input < 2; input++)
		for (i = 0; i < COUNT; i++) {
			v = value(seed, input, i);
			memcpy(r.map + RUN_INPUT(input) + i * sizeof(v), &v, sizeof(v));
		}
	memset(r.map + RUN_OUTPUT(0), 0xee, COUNT * sizeof(v));
}

static bool is_right(unsigned int seed)
{
	unsigned int i;
	float v;

	for (i = 0; i < COUNT; i++) {
		memcpy(&v, r.map + RUN_OUTPUT(0) + i * sizeof(v), sizeof(v));
		if (v != value(seed, 0, i) + value(seed, 1, i))
			return false;
	}
	return true;
}

enum way { SYNC, PROFILED, ASYNC, BOUND, FENCED, BURST, BURST_SUBMIT, NUM_WAYS };

static const char *const way_names[] = {
	"synchronous", "synchronous with a profile", "asynchronous", "bound", "fenced", "burst",
	"burst, submitted",
};

static enum nnhal_status run_profiled(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_ext_profile profile = NNHAL_EXT_PROFILE_INIT;
	struct nnhal_ext_profile_entry entries[4];
	enum nnhal_status status;

	profile.entries = entries;
	profile.max_entries = 4;
	o.profile = &profile;
	memset(entries, 0, sizeof(entries));
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, &o, r.shapes,
							    &r.num_shapes, NULL);
	if (!status && profile.num_entries &&
	    (profile.num_entries != 2 || entries[0].operation_type != NNHAL_OPERATION_ADD ||
	     entries[1].operation_type != NNHAL_OPERATION_RELU || !profile.exec_ns))
		status = NNHAL_STATUS_GENERAL_FAILURE;
	return status;
}

static enum nnhal_status run_bound(void)
{
	struct nnhal_bound_request *bound;
	enum nnhal_status status = nnhal_bound_request_create(model, &r.request, NULL, &bound);

	if (status)
		return status;
	status = nnhal_bound_request_execute_synchronously(bound, NULL, r.shapes, &r.num_shapes,
							   NULL);
	nnhal_bound_request_unref(bound);
	return status;
}

/* On such a device the run has ended when the launch returns, since the caller reads without a call. */
static enum nnhal_status run_fenced(void)
{
	struct nnhal_fenced_callback *callback;
	enum nnhal_status status;
	int fence;

	status = nnhal_prepared_model_execute_fenced(model, &r.request, NULL, 0, NULL, &fence,
						     &callback);
	if (status)
		return status;
	if (fence >= 0) {
		nnhal_fence_wait(fence, -1);
		close(fence);
	}
	if (is_sim && fence >= 0)
		status = NNHAL_STATUS_GENERAL_FAILURE;
	if (!status)
		status = nnhal_fenced_callback_get_execution_info(callback, NULL, NULL);
	nnhal_fenced_callback_unref(callback);
	return status;
}

static enum nnhal_status run_submitted(void)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	enum nnhal_status status = nnhal_burst_submit(burst, &r.request, NULL, 1, 0);

	if (!status)
		status = nnhal_burst_wait(burst, &result, UINT64_MAX);
	return status ? status : result.status;
}

static enum nnhal_status run(enum way way)
{
	struct callback_result result = CALLBACK_RESULT_INIT;

	switch (way) {
	case SYNC:
		return nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, r.shapes,
								  &r.num_shapes, NULL);
	case PROFILED:
		return run_profiled();
	case ASYNC:
		return callback_wait(&result, nnhal_prepared_model_execute(model, &r.request, NULL,
									   callback_executed,
									   &result));
	case BOUND:
		return run_bound();
	case FENCED:
		return run_fenced();
	case BURST:
		return nnhal_burst_execute(burst, &r.request, NULL, r.shapes, &r.num_shapes, NULL);
	default:
		return run_submitted();
	}
}

static struct nnhal_prepared_model *prepare(void)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared;

	o.diag = &f.diag;
	if (nnhal_device_prepare_model_sync(device, &f.model, &o, &prepared)) {
		printf("Bail out! model cannot be prepared: %s\n", f.diag.message);
		exit(1);
	}
	return prepared;
}

static void test_ways(void)
{
	unsigned int way, round, good, seed = 1;
	enum nnhal_status status;

	make_add_relu(&f);
	model = prepare();
	MUST(!nnhal_burst_create(model, NULL, &burst));
	run_init(&r, COUNT);
	for (way = 0; way < NUM_WAYS; way++) {
		for (round = good = 0; round < ROUNDS; round++, seed++) {
			put(seed);
			status = run(way);
			good += !status && is_right(seed);
		}
		ok(good == ROUNDS, "%s: %u of %u runs have their own inputs and outputs",
		   way_names[way], good, ROUNDS);
	}
	/* The parts of the memory that no argument names stay as the process has them. */
	memset(r.map + RUN_OUTPUT(1), 0x5a, 256);
	put(seed);
	ok(!run(SYNC) && is_right(seed) && r.map[RUN_OUTPUT(1)] == 0x5a &&
	   r.map[RUN_OUTPUT(1) + 255] == 0x5a, "what no argument names stays");
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
}

/* Results of an execution that has failed are those of this execution. */
static void test_shapes(void)
{
	unsigned int count, good = 0;

	make_dynamic_add(&f, 2);
	model = prepare();
	run_init(&r, COUNT);
	for (count = 1; count <= COUNT; count++) {
		unsigned int i;

		for (i = 0; i < 2; i++) {
			r.inputs[i].location.length = count * (uint32_t)sizeof(float);
			r.inputs[i].num_dimensions = 2;
			r.dims[i][0] = 1;
			r.dims[i][1] = count;
		}
		/* Every second one has too little room. */
		r.outputs[0].location.length = (count % 2 ? 4 : count * 4);
		r.num_shapes = 0;
		memset(r.shapes, 0, sizeof(r.shapes));
		switch (nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, r.shapes,
								   &r.num_shapes, NULL)) {
		case NNHAL_STATUS_NONE:
			good += r.num_shapes == 1 && r.shapes[0].is_sufficient &&
				r.shapes[0].dimensions[1] == count && (count == 1 || count % 2 == 0);
			break;
		case NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE:
			good += r.num_shapes == 1 && !r.shapes[0].is_sufficient &&
				r.shapes[0].dimensions[1] == count && count == 3;
			break;
		default:
			break;
		}
	}
	ok(good == COUNT, "shapes of outputs, with room and without: %u of %u", good, COUNT);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
}

/* Constants that are staged, and those of a pool, which the device reads while it loads. */
static void test_constants(void)
{
	unsigned int round, i, good = 0, pooled;
	const float *out;

	for (round = 0; round < 2 * ROUNDS; round++) {
		struct nnhal_memory *pool = NULL;
		float *constant;

		pooled = round % 2;
		make_add_large(&f);
		constant = (float *)(void *)(f.values + f.graph.operands[1].location.offset);
		if (pooled) {
			MUST(!nnhal_memory_create(LARGE_COUNT * sizeof(float), &pool, NULL));
			constant = nnhal_memory_map(pool, NULL);
			f.pools[0] = pool;
			f.model.pools = f.pools;
			f.model.num_pools = 1;
			f.graph.operands[1].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
			f.graph.operands[1].location.pool_index = 0;
			f.graph.operands[1].location.offset = 0;
		}
		for (i = 0; i < LARGE_COUNT; i++)
			constant[i] = (float)(round * 100 + i);
		model = prepare();
		if (pool)
			nnhal_memory_unref(pool);
		run_init(&r, 1);
		run_fini(&r);
		MUST(!nnhal_memory_create(64 + LARGE_COUNT * sizeof(float), &r.memory, NULL));
		r.map = nnhal_memory_map(r.memory, NULL);
		r.pools[0].memory = r.memory;
		r.request.num_inputs = 1;
		r.outputs[0].location = (struct nnhal_data_location){ 0, 64, LARGE_COUNT * 4 };
		*(float *)(void *)r.map = 0.5f;
		out = (const float *)(const void *)(r.map + 64);
		if (!nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, r.shapes,
								&r.num_shapes, NULL)) {
			for (i = 0; i < LARGE_COUNT; i++)
				if (out[i] != (float)(round * 100 + i) + 0.5f)
					break;
			good += i == LARGE_COUNT;
		}
		nnhal_prepared_model_unref(model);
		run_fini(&r);
	}
	ok(good == 2 * ROUNDS, "constants: %u of %u", good, 2 * ROUNDS);
}

/* Buffers of the device: filled and read by copies, and named by requests beside memory. */
static void test_buffers(void)
{
	const uint32_t dims[] = { 2, 2 }, size = 16;
	struct nnhal_buffer *in, *out;
	uint32_t tokens[2], round, good = 0, through = 0;

	model = prepare_relu(device, FLOATS, 0.0f, 0, 2, dims);
	in = buffer_for(device, model, true, false, 2, dims, &tokens[0]);
	out = buffer_for(device, model, false, true, 2, dims, &tokens[1]);
	for (round = 1; round <= ROUNDS; round++) {
		struct nnhal_request_argument arg = { .location = { 0, 0, 0 } };
		struct nnhal_request_argument to = { .location = { 1, 0, 0 } };
		struct nnhal_request_pool pools[2] = { { .token = tokens[0] }, { .token = tokens[1] } };
		struct nnhal_request request = {
			.inputs = &arg, .num_inputs = 1, .outputs = &to, .num_outputs = 1,
			.pools = pools, .num_pools = 2,
		};
		struct nnhal_memory *memory = memory_of(size, -99.0f);

		MUST(!fill(in, (float)round, size, 2, dims));
		good += holds(in, (float)round, size, false);
		through += !nnhal_prepared_model_execute_synchronously(model, &request, NULL, NULL, NULL,
								       NULL) &&
			   holds(out, (float)round, size, true);
		/* Into memory, from the buffer. */
		pools[1] = (struct nnhal_request_pool){ .memory = memory };
		to.location.length = size;
		through += !nnhal_prepared_model_execute_synchronously(model, &request, NULL, NULL, NULL,
								       NULL) &&
			   memory_has(memory, (float)round, true);
		nnhal_memory_unref(memory);
	}
	ok(good == ROUNDS, "copies to and from buffers: %u of %u", good, ROUNDS);
	ok(through == 2 * ROUNDS, "requests that name them: %u of %u", through, 2 * ROUNDS);
	nnhal_buffer_unref(in);
	nnhal_buffer_unref(out);
	nnhal_prepared_model_unref(model);
}

int main(void)
{
	struct nnhal_diag diag;

	is_sim = !strcmp(test_device_spec(), "sim");
	if (!is_sim)
		device = test_device_open();
	else if (nnhal_device_open("sim:bounce", &device, &diag))
		device = NULL;
	if (!device) {
		printf("Bail out! sim:bounce: %s\n", diag.message);
		return 1;
	}
	test_ways();
	test_shapes();
	test_constants();
	test_buffers();
	nnhal_device_unref(device);
	return tap_done();
}
