// SPDX-License-Identifier: MIT
/*
 * Bursts: the same results as executions, in every situation; order and tags; memory
 * that comes and goes; threads; fork(); devices that die.
 *
 * Usage: nnhal_burst_test [TEST...]: those of the table at the end, "faults", and
 * "noqueues", which repeats them through the driver's way.
 *
 * NNHAL_BURST_ROUNDS  executions of each of many threads, and as many as that times a
 *                     factor in other loops; a multiple of 20 (default 400)
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nnpu_hw.h>

#include "base/monotonic.h"
#include "burst/burst_private.h"
#include "burst/burst_ring.h"
#include "nnhal_fixture.h"

#define FOREVER	UINT64_MAX

/* What the tests that repeat themselves are made longer or shorter with. */
static unsigned int num_rounds = 400;

static const char *spec;
static struct nnhal_device *device;
static struct fixture f;
static struct run r;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *burst;

static bool is_sim(void)
{
	return !strncmp(spec, "sim", 3);
}

static void bail_out(const char *what, const struct nnhal_diag *diag)
{
	printf("Bail out! %s: %s\n", what, diag ? diag->message : "");
	exit(1);
}

static struct nnhal_burst *create(uint32_t depth, uint32_t spin_us, uint32_t max_memories)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst *b;
	struct nnhal_diag diag = { "" };

	o.depth = depth;
	o.spin_us = spin_us;
	o.max_memories = max_memories;
	o.diag = &diag;
	if (nnhal_burst_create(model, &o, &b))
		bail_out("burst", &diag);
	return b;
}

/* Prepare the fixture's model and open a burst on it. */
static void prepare(void)
{
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model))
		bail_out("model cannot be prepared", NULL);
	burst = create(0, UINT32_MAX, 0);
}

static void fresh_run(uint32_t count)
{
	run_fini(&r);
	run_init(&r, count);
}

static void clear_results(void)
{
	r.num_shapes = 99;
	r.timing = (struct nnhal_timing){ 1, 1 };
	memset(r.shapes, 0, sizeof(r.shapes));
	memset(r.map + RUN_OUTPUT(0), 0xee, 1024);
}

static enum nnhal_status execute_burst(const struct nnhal_execute_options *from)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	if (from)
		o = *from;
	o.diag = &r.diag;
	clear_results();
	return nnhal_burst_execute(burst, &r.request, &o, r.shapes, &r.num_shapes, &r.timing);
}

static bool no_timing(const struct nnhal_timing *timing)
{
	return timing->time_on_device == NNHAL_NO_TIMING &&
	       timing->time_in_driver == NNHAL_NO_TIMING;
}

/* What a call brought. */
struct brought {
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_output_shape shapes[4];
	bool timed;
	uint8_t bytes[4096];
	char message[NNHAL_DIAG_SIZE];
};

static void collect(struct brought *b, enum nnhal_status status)
{
	memset(b, 0, sizeof(*b));
	b->status = status;
	b->num_shapes = r.num_shapes;
	if (r.num_shapes && r.num_shapes <= 4)
		memcpy(b->shapes, r.shapes, r.num_shapes * sizeof(b->shapes[0]));
	b->timed = !no_timing(&r.timing);
	memcpy(b->bytes, r.map, sizeof(b->bytes));
	memcpy(b->message, r.diag.message, sizeof(b->message));
}

static bool same_shapes(const struct brought *a, const struct brought *b)
{
	uint32_t i;

	for (i = 0; i < a->num_shapes && i < 4; i++)
		if (a->shapes[i].num_dimensions != b->shapes[i].num_dimensions ||
		    a->shapes[i].is_sufficient != b->shapes[i].is_sufficient ||
		    memcmp(a->shapes[i].dimensions, b->shapes[i].dimensions,
			   sizeof(a->shapes[i].dimensions)))
			return false;
	return true;
}

/* The run's request by execution, by burst, and by submission: all the same. */
static bool same_everywhere(const struct nnhal_execute_options *from)
{
	struct nnhal_burst_result result = { .size = sizeof(result), .output_shapes = r.shapes };
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	static struct brought plain, quick, later;
	enum nnhal_status status;

	if (from)
		o = *from;
	o.diag = &r.diag;
	clear_results();
	collect(&plain, nnhal_prepared_model_execute_synchronously(model, &r.request, &o, r.shapes,
								   &r.num_shapes, &r.timing));
	collect(&quick, execute_burst(&o));
	clear_results();
	status = nnhal_burst_submit(burst, &r.request, &o, 77, 0);
	r.num_shapes = 0;
	r.timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	if (!status) {
		if (nnhal_burst_wait(burst, &result, FOREVER) || result.tag != 77)
			return false;
		status = result.status;
		r.num_shapes = result.num_output_shapes;
		r.timing = result.timing;
	}
	collect(&later, status);
	if (plain.status == quick.status && plain.status == later.status &&
	    plain.num_shapes == quick.num_shapes && plain.num_shapes == later.num_shapes &&
	    same_shapes(&plain, &quick) && same_shapes(&plain, &later) &&
	    plain.timed == quick.timed && plain.timed == later.timed &&
	    !memcmp(plain.bytes, quick.bytes, sizeof(plain.bytes)) &&
	    !memcmp(plain.bytes, later.bytes, sizeof(plain.bytes)) &&
	    !plain.message[0] == !quick.message[0])
		return true;
	tap_note("execute %s (%u shapes: %s), burst %s (%u shapes: %s), submit %s",
		 nnhal_status_name((int)plain.status), plain.num_shapes, plain.message,
		 nnhal_status_name((int)quick.status), quick.num_shapes, quick.message,
		 nnhal_status_name((int)later.status));
	return false;
}

/* ---- results ---- */

static void test_results(void)
{
	unsigned int i, good = 0;
	uint32_t seed = 1;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	ok(!execute_burst(NULL) && run_output_is_right(&r, 4) && r.num_shapes == 1 &&
	   r.shapes[0].num_dimensions == 2 && r.shapes[0].dimensions[0] == 2 &&
	   r.shapes[0].dimensions[1] == 2 && r.shapes[0].is_sufficient && no_timing(&r.timing),
	   "E18 ADD and RELU: %s", r.diag.message);
	ok(!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL),
	   "results nobody wants");
	for (i = 0; i < 300; i++) {
		float *in = (float *)(void *)r.map;
		unsigned int k;

		for (k = 0; k < 4; k++) {
			seed = seed * 1664525 + 1013904223;
			in[k] = (float)(int32_t)seed / 65536.0f;
		}
		/* Now and then another place in the memory, and back. */
		if (i % 5 == 0)
			r.outputs[0].location.offset = RUN_OUTPUT(i / 5 % 4);
		good += same_everywhere(NULL);
	}
	ok(good == i, "E18 %u of %u requests give the same as execute", good, i);
	r.request.hal_version = NNHAL_HAL_1_0;
	ok(same_everywhere(NULL) && r.num_shapes == 0, "a 1.0 request has no shapes");
	r.request.hal_version = NNHAL_HAL_1_3;
	r.inputs[1].location.offset = RUN_INPUT(0);
	ok(same_everywhere(NULL), "both inputs are one");
}

static void test_insufficient(void)
{
	unsigned int i, good = 0;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	for (i = 0; i < 8; i++) {
		r.outputs[0].location.length = i % 2 ? 16 : 15;
		good += same_everywhere(NULL) &&
			r.shapes[0].is_sufficient == (i % 2 == 1);
	}
	ok(good == 8, "E18 D18 one byte short, and enough, by turns");
	r.outputs[0].location.length = 0;
	ok(same_everywhere(NULL), "D18 no room at all");
	r.outputs[0].location.length = 64;
	ok(same_everywhere(NULL) && r.map[RUN_OUTPUT(0) + 16] == 0xee, "D18 more than needed");
	r.request.hal_version = NNHAL_HAL_1_1;
	r.outputs[0].location.length = 15;
	ok(same_everywhere(NULL), "D18 1.1: the status alone");
}

static void test_dynamic(void)
{
	static const uint32_t shapes[][2] = { { 3, 2 }, { 1, 6 }, { 6, 1 }, { 2, 3 }, { 2, 3 } };
	unsigned int i, good = 0;

	make_dynamic_add(&f, 2);
	prepare();
	fresh_run(6);
	r.inputs[0].num_dimensions = 2;
	r.inputs[1].num_dimensions = 2;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		/* In the same place: the burst must look at what pointers point to. */
		memcpy(r.dims[0], shapes[i], sizeof(shapes[i]));
		memcpy(r.dims[1], shapes[i], sizeof(shapes[i]));
		good += same_everywhere(NULL) && r.shapes[0].dimensions[0] == shapes[i][0];
	}
	ok(good == i, "E18 shapes worked out by the device");
	r.outputs[0].location.length = 23;
	ok(same_everywhere(NULL), "D17 one byte short, dimensions unknown to the model");
	r.outputs[0].location.length = 24;
	r.outputs[0].num_dimensions = 2;
	r.dims[4][0] = 2;
	ok(same_everywhere(NULL), "output with one dimension given");
	r.dims[4][0] = 5;
	ok(same_everywhere(NULL), "output dimension that does not come out: %s", r.diag.message);
	r.outputs[0].num_dimensions = 0;
	r.inputs[1].dimensions = NULL;
	ok(same_everywhere(NULL), "NULL pointer for dimensions");
	r.inputs[1].dimensions = r.dims[1];
	ok(same_everywhere(NULL) && r.num_shapes == 1, "and a good one");
}

static void expect_same(enum nnhal_status expected, const char *what,
			const struct nnhal_execute_options *o)
{
	bool same = same_everywhere(o);
	enum nnhal_status status = execute_burst(o);

	ok(same && status == expected && !r.num_shapes && no_timing(&r.timing) &&
	   r.diag.message[0], "%s: %s: %s", what, nnhal_status_name((int)status),
	   r.diag.message);
	fresh_run(4);
	ok(same_everywhere(NULL) && !execute_burst(NULL) && run_output_is_right(&r, 4),
	   "%s: a good request afterwards", what);
}

static void test_refused(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_ext_profile profile = NNHAL_EXT_PROFILE_INIT;
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	r.request.num_inputs = 1;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D01 input removed", NULL);
	r.request.num_outputs = 0;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D01 output removed", NULL);
	r.request.inputs = NULL;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D01 NULL pointer for inputs", NULL);
	r.request.pools = NULL;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D01 NULL pointer for pools", NULL);
	r.inputs[0].location.length = 12;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D08 input too short", NULL);
	r.outputs[0].location.offset = RUN_INPUT(1);
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D09 overlap", NULL);
	r.inputs[0].location.pool_index = 1;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D03 no such pool", NULL);
	r.outputs[0].location.offset = 4095;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D03 beyond the pool", NULL);
	r.pools[0].token = 100;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D04 memory and a token", NULL);
	r.request.hal_version = 77;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "unknown version", NULL);
	o.measure = 2;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D13 measure 2", &o);
	o.measure = NNHAL_MEASURE_NO;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS + 1;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "D30 loop timeout above the maximum", &o);
	o.has_loop_timeout = false;
	o.has_deadline = true;
	o.deadline_ns = 1;
	expect_same(NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, "D26 deadline passed", &o);
	r.request.hal_version = NNHAL_HAL_1_2;
	expect_same(NNHAL_STATUS_GENERAL_FAILURE, "G11 deadline passed at 1.2", &o);
	r.inputs[0].location.length = 12;
	expect_same(NNHAL_STATUS_INVALID_ARGUMENT, "wrong request and deadline passed", &o);
	o.deadline_ns = UINT64_MAX;
	ok(same_everywhere(&o) && !execute_burst(&o), "K05 the largest time point");
	o = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	o.profile = &profile;
	ok(execute_burst(&o) == NNHAL_STATUS_INVALID_ARGUMENT && r.diag.message[0] &&
	   nnhal_burst_submit(burst, &r.request, &o, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "a profile: %s", r.diag.message);
	o = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	o.size = 4;
	ok(nnhal_burst_execute(burst, &r.request, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "options of a size that never was");
	r.num_shapes = 99;
	ok(nnhal_burst_execute(NULL, &r.request, NULL, NULL, &r.num_shapes, &r.timing) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !r.num_shapes && no_timing(&r.timing) &&
	   nnhal_burst_execute(burst, NULL, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(NULL, &r.request, NULL, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(burst, NULL, NULL, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(burst, &r.request, NULL, 0, 2) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_wait(NULL, &result, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_wait(burst, NULL, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_free_memory(NULL, r.memory) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_free_memory(burst, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointers");
	r.inputs[1] = (struct nnhal_request_argument){ .has_no_value = true };
	ok(same_everywhere(NULL), "D11 operand of ADD omitted: %s", r.diag.message);
}

static void test_timing(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	make_chain(&f, 20);
	prepare();
	fresh_run(4);
	o.measure = NNHAL_MEASURE_YES;
	ok(!execute_burst(&o) && !no_timing(&r.timing) && r.timing.time_in_driver > 0 &&
	   r.timing.time_on_device <= r.timing.time_in_driver,
	   "D21 D23 %llu us on the device, %llu us in the driver",
	   (unsigned long long)r.timing.time_on_device,
	   (unsigned long long)r.timing.time_in_driver);
	ok(same_everywhere(&o), "D21 timing of a submission");
	r.outputs[0].location.length = 15;
	ok(same_everywhere(&o) && no_timing(&r.timing), "D22 no timing of a failed run");
}

static void test_create(void)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst *b = burst;
	struct nnhal_diag diag = { "" };

	fresh_run(4);
	o.diag = &diag;
	ok(nnhal_burst_create(NULL, &o, &b) == NNHAL_STATUS_INVALID_ARGUMENT && !b &&
	   diag.message[0] && nnhal_burst_create(model, &o, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "E01 NULL pointers: %s", diag.message);
	o.depth = 33;
	ok(nnhal_burst_create(model, &o, &b) == NNHAL_STATUS_INVALID_ARGUMENT && !b,
	   "depth 33: %s", diag.message);
	o.depth = 32;
	ok(!nnhal_burst_create(model, &o, &b) && b, "depth 32");
	nnhal_burst_unref(b);
	o.size = 8;
	ok(nnhal_burst_create(model, &o, &b) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "options of a size that never was");
	ok(!nnhal_burst_create(model, NULL, &b), "no options");
	/* It has no array of pools yet. */
	r.request.num_pools = 0;
	ok(nnhal_burst_execute(b, &r.request, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "D03 the first request has no pools");
	r.request.num_pools = 1;
	nnhal_burst_unref(nnhal_burst_ref(b));
	ok(!nnhal_burst_execute(b, &r.request, NULL, NULL, NULL, NULL), "E25 references count");
	nnhal_burst_unref(b);
	nnhal_burst_unref(NULL);
}

/* The burst outlives what it was made of. */
static void test_keeps_model(void)
{
	struct nnhal_prepared_model *own;
	struct nnhal_burst *b;

	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &own))
		bail_out("model", NULL);
	ok(!nnhal_burst_create(own, NULL, &b), "burst");
	nnhal_prepared_model_unref(own);
	fresh_run(4);
	ok(!nnhal_burst_execute(b, &r.request, NULL, NULL, NULL, NULL),
	   "E25 a burst keeps its model");
	nnhal_burst_unref(b);
}

/* ---- submission ---- */

#define MANY	64

/* Requests with inputs and outputs of their own, in one memory object. */
struct many {
	struct run run;
	struct nnhal_request request[MANY];
	struct nnhal_request_argument inputs[MANY][2];
	struct nnhal_request_argument output[MANY];
	float *data;
};

static void many_init(struct many *m)
{
	unsigned int i;

	run_init(&m->run, 4);
	nnhal_memory_unref(m->run.memory);
	if (nnhal_memory_create(MANY * 64, &m->run.memory, NULL))
		bail_out("memory", NULL);
	m->data = nnhal_memory_map(m->run.memory, NULL);
	m->run.pools[0].memory = m->run.memory;
	for (i = 0; i < MANY; i++) {
		m->inputs[i][0] = (struct nnhal_request_argument){
			.location = { 0, i * 64, 16 } };
		m->inputs[i][1] = (struct nnhal_request_argument){
			.location = { 0, i * 64 + 16, 16 } };
		m->output[i] = (struct nnhal_request_argument){
			.location = { 0, i * 64 + 32, 16 } };
		m->request[i] = m->run.request;
		m->request[i].inputs = m->inputs[i];
		m->request[i].outputs = &m->output[i];
		m->request[i].pools = m->run.pools;
	}
}

static void many_fini(struct many *m)
{
	run_fini(&m->run);
}

static void many_fill(struct many *m, unsigned int i, float value)
{
	float *p = m->data + i * 16;
	unsigned int k;

	for (k = 0; k < 4; k++) {
		p[k] = value + (float)k;
		p[4 + k] = 1.0f;
		p[8 + k] = -1.0f;
	}
}

static bool many_is_right(const struct many *m, unsigned int i, float value)
{
	const float *p = m->data + i * 16 + 8;
	unsigned int k;

	for (k = 0; k < 4; k++)
		if (p[k] != value + (float)k + 1.0f)
			return false;
	return true;
}

static void test_submit(void)
{
	struct nnhal_output_shape shape;
	struct nnhal_burst_result result = { .size = sizeof(result), .output_shapes = &shape };
	static struct many m;
	unsigned int i, right = 0, ordered = 0, pass;
	enum nnhal_status status;

	make_add_relu(&f);
	prepare();
	many_init(&m);
	ok(nnhal_burst_wait(burst, &result, FOREVER) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "nothing is in flight");
	for (pass = 0; pass < 50; pass++) {
		for (i = 0; i < 16; i++) {
			many_fill(&m, i, (float)(pass * 100 + i));
			if (nnhal_burst_submit(burst, &m.request[i], NULL, pass * 100 + i, 0))
				break;
		}
		for (i = 0; i < 16; i++) {
			memset(&shape, 0, sizeof(shape));
			status = nnhal_burst_wait(burst, &result, FOREVER);
			ordered += !status && result.tag == pass * 100 + i;
			right += !status && !result.status && result.num_output_shapes == 1 &&
				 shape.num_dimensions == 2 && shape.dimensions[1] == 2 &&
				 no_timing(&result.timing) &&
				 many_is_right(&m, i, (float)(pass * 100 + i));
		}
	}
	ok(right == 50 * 16, "%u of %u submissions are right", right, 50 * 16);
	ok(ordered == 50 * 16, "%u tags came in the order of completion", ordered);
	for (i = 0; i < 16; i++)
		nnhal_burst_submit(burst, &m.request[i], NULL, i, NNHAL_BURST_NONBLOCK);
	status = nnhal_burst_submit(burst, &m.request[i], NULL, i, NNHAL_BURST_NONBLOCK);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	   "E20 as many as the burst takes: %s", nnhal_status_name((int)status));
	m.request[i].hal_version = NNHAL_HAL_1_2;
	ok(nnhal_burst_submit(burst, &m.request[i], NULL, i, NNHAL_BURST_NONBLOCK) ==
	   NNHAL_STATUS_GENERAL_FAILURE, "E19 the same at 1.2");
	many_fill(&m, 20, 9.0f);
	ok(!nnhal_burst_execute(burst, &m.request[20], NULL, NULL, NULL, NULL) &&
	   many_is_right(&m, 20, 9.0f), "an execution gets on meanwhile");
	for (i = 0; i < 16; i++)
		if (nnhal_burst_wait(burst, &result, FOREVER) || result.tag != i)
			break;
	ok(i == 16 && nnhal_burst_wait(burst, &result, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "all results come, then none");
	many_fini(&m);
}

/* Fill in and submit @count requests from @first on in one call; how many were taken. */
static enum nnhal_status submit_many(struct many *m, unsigned int first, unsigned int num,
				     uint32_t flags, uint32_t *count)
{
	const struct nnhal_request *requests[MANY];
	uint64_t tags[MANY];
	unsigned int i;

	for (i = 0; i < num; i++) {
		requests[i] = &m->request[first + i];
		tags[i] = first + i;
		many_fill(m, first + i, (float)(first + i));
	}
	return nnhal_burst_submit_many(burst, requests, tags, num, NULL, flags, count);
}

/* Results @first to @first + @count - 1, in order. */
static bool take(const struct many *m, unsigned int first, unsigned int count)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	unsigned int i;

	for (i = first; i < first + count; i++)
		if (nnhal_burst_wait(burst, &result, FOREVER) || result.status ||
		    result.tag != i || !many_is_right(m, i, (float)i))
			return false;
	return true;
}

/* Several submissions in one call: all of them, or those before the first that fails. */
static void test_submit_many(void)
{
	struct nnhal_execute_options late = NNHAL_EXECUTE_OPTIONS_INIT;
	const struct nnhal_request *requests[3];
	const uint64_t tags[3] = { 0, 1, 2 };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	static struct many m;
	enum nnhal_status status;
	uint32_t count = 9, i;

	nnhal_burst_unref(burst);
	burst = create(0, UINT32_MAX, 0);
	many_init(&m);
	for (i = 0; i < 3; i++)
		requests[i] = &m.request[i];
	ok(!submit_many(&m, 0, 5, 0, &count) && count == 5 && take(&m, 0, 5), "five in one call");
	ok(!submit_many(&m, 0, 1, 0, &count) && count == 1 && take(&m, 0, 1), "one in one call");
	status = submit_many(&m, 0, 20, NNHAL_BURST_NONBLOCK, &count);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT && count == 16 && take(&m, 0, 16),
	   "16 of 20, as many as the burst takes");
	m.request[1].num_inputs = 1;
	status = submit_many(&m, 0, 3, 0, &count);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && count == 1 && take(&m, 0, 1),
	   "one before a request that is wrong");
	m.request[1].num_inputs = m.request[0].num_inputs;
	requests[2] = NULL;
	many_fill(&m, 0, 0.0f);
	many_fill(&m, 1, 1.0f);
	status = nnhal_burst_submit_many(burst, requests, tags, 3, NULL, 0, &count);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && count == 2 && take(&m, 0, 2),
	   "two before one that is NULL");
	late.has_deadline = true;
	late.deadline_ns = 1;
	status = nnhal_burst_submit_many(burst, requests, tags, 2, &late, 0, &count);
	ok(!status && count == 2, "two that are too late are taken");
	for (i = 0; i < 2; i++)
		if (nnhal_burst_wait(burst, &result, FOREVER) || result.tag != i ||
		    result.status != NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT)
			break;
	ok(i == 2, "and their results say so");
	count = 9;
	ok(nnhal_burst_submit_many(burst, requests, tags, 0, NULL, 0, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !count &&
	   nnhal_burst_submit_many(burst, requests, tags, 2, NULL, 2, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit_many(burst, NULL, tags, 2, NULL, 0, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit_many(burst, requests, NULL, 2, NULL, 0, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit_many(burst, requests, tags, 2, NULL, 0, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit_many(NULL, requests, tags, 2, NULL, 0, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "none, unknown flags, NULL pointers");
	many_fini(&m);
}

/* Several results in one call: as many as there are, no more than asked for. */
static void test_wait_many(void)
{
	struct nnhal_output_shape shapes[4];
	struct nnhal_burst_result results[4] = { NNHAL_BURST_RESULT_INIT };
	unsigned int i, calls = 0, taken = 0, wrong = 0;
	static struct many m;
	uint32_t count = 9;

	many_init(&m);
	for (i = 0; i < ARRAY_SIZE(results); i++)
		results[i].output_shapes = i % 2 ? NULL : &shapes[i];
	ok(nnhal_burst_wait_many(burst, results, 1, 4, FOREVER, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !count, "no results of nothing");
	count = 9;
	ok(nnhal_burst_wait_many(burst, results, 0, 4, FOREVER, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !count &&
	   nnhal_burst_wait_many(burst, results, 4, 3, FOREVER, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "no result to wait for, more than there is room for");
	ok(nnhal_burst_wait_many(burst, NULL, 1, 4, FOREVER, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_wait_many(NULL, results, 1, 4, FOREVER, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_wait_many(burst, results, 1, 4, FOREVER, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointers for many results");
	ok(!submit_many(&m, 0, 15, 0, &count) && count == 15, "15 in flight");
	while (taken < 15 && !wrong) {
		if (nnhal_burst_wait_many(burst, results, 1, 4, FOREVER, &count) || !count ||
		    count > 4)
			wrong++;
		for (i = 0; i < count; i++, taken++) {
			wrong += results[i].tag != taken || results[i].status ||
				 results[i].num_output_shapes != 1 ||
				 (results[i].output_shapes && shapes[i].num_dimensions != 2) ||
				 !many_is_right(&m, taken, (float)taken);
		}
		calls++;
	}
	ok(!wrong && taken == 15 && calls >= 4, "15 results, at most 4 at once: %u calls", calls);
	ok(!submit_many(&m, 0, 7, 0, &count) &&
	   !nnhal_burst_wait_many(burst, results, 4, 4, FOREVER, &count) && count == 4 &&
	   results[3].tag == 3 &&
	   !nnhal_burst_wait_many(burst, results, 4, 4, FOREVER, &count) && count == 3 &&
	   results[2].tag == 6, "four of seven, then all there are");
	nnhal_burst_unref(burst);
	burst = create(0, 0, 0);
	ok(!submit_many(&m, 0, 6, 0, &count) &&
	   !nnhal_burst_wait_many(burst, results, 3, 3, FOREVER, &count) && count == 3 &&
	   !nnhal_burst_wait_many(burst, results, 2, 4, FOREVER, &count) && count >= 2 &&
	   (count == 3 || !nnhal_burst_wait_many(burst, results, 1, 4, FOREVER, &count)),
	   "and with sleeping at once");
	many_fini(&m);
}

/* The last result of several is looked for as the first is, though others are there. */
static void test_last_result(void)
{
	struct nnhal_burst_result results[4] = { NNHAL_BURST_RESULT_INIT };
	unsigned int i, right = 0, slept = 0, before = 0;
	static struct many m;
	uint64_t sleeps;
	uint32_t count;

	nnhal_burst_unref(burst);
	burst = create(0, 100000, 0);
	many_init(&m);
	for (i = 0; i < 4; i++)
		results[i].output_shapes = NULL;
	for (i = 0; i < 200; i++) {
		submit_many(&m, 0, 3, 0, &count);
		sleeps = burst->num_sleeps;
		/* With its completion those before it are there, too. */
		nnhal_burst_execute(burst, &m.request[20], NULL, NULL, NULL, NULL);
		before += burst->num_sleeps != sleeps;
		sleeps = burst->num_sleeps;
		submit_many(&m, 3, 1, 0, &count);
		right += !nnhal_burst_wait_many(burst, results, 4, 4, FOREVER, &count) &&
			 count == 4 && results[3].tag == 3 && many_is_right(&m, 3, 3.0f);
		slept += burst->num_sleeps != sleeps;
	}
	ok(right == 200, "four results, three of them there: %u of 200", right);
	/* A slow device has this thread sleep in both. */
	ok(slept < 100 + before,
	   "the fourth is looked for: %u sleeps in 200 waits, %u for one result", slept, before);
	many_fini(&m);
}

/* A result that is fetched late did not take longer: its time ends when it is found. */
static void test_measured(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	const struct timespec long_time = { .tv_sec = 2 };
	const struct nnhal_request *requests[2];
	const uint64_t tags[2] = { 0, 1 };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	static struct many m;
	uint32_t count;

	many_init(&m);
	requests[0] = &m.request[0];
	requests[1] = &m.request[1];
	o.measure = NNHAL_MEASURE_YES;
	nnhal_burst_submit_many(burst, requests, tags, 2, &o, 0, &count);
	/* With its completion those before it are there, too. */
	nnhal_burst_execute(burst, &m.request[2], NULL, NULL, NULL, NULL);
	nnhal_burst_wait(burst, &result, FOREVER);
	nanosleep(&long_time, NULL);
	ok(!nnhal_burst_wait(burst, &result, FOREVER) && !result.status && result.tag == 1 &&
	   result.timing.time_in_driver < 2000000, "measured, fetched seconds later: %llu us",
	   (unsigned long long)result.timing.time_in_driver);
	many_fini(&m);
}

/* A thread that submits while another takes results; room is waited for. */
static void *submitter(void *data)
{
	const struct nnhal_request *requests[10];
	struct many *m = data;
	uintptr_t i, k, failed = 0;
	uint64_t tags[10];
	uint32_t count;

	for (i = 0; i < num_rounds * 5 / 2; i++)
		failed += nnhal_burst_submit(burst, &m->request[i % 4], NULL, i, 0) !=
			  NNHAL_STATUS_NONE;
	/* More than there is room for in one call, too. */
	for (; i < num_rounds * 5; i += 10) {
		for (k = 0; k < 10; k++) {
			requests[k] = &m->request[(i + k) % 4];
			tags[k] = i + k;
		}
		failed += nnhal_burst_submit_many(burst, requests, tags, 10, NULL, 0, &count) ||
			  count != 10;
	}
	return (void *)failed;
}

static void test_room(void)
{
	const struct timespec moment = { .tv_nsec = 10000 };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	static struct many m;
	unsigned int i, ordered = 0;
	enum nnhal_status status;
	pthread_t thread;
	void *failed;

	nnhal_burst_unref(burst);
	burst = create(4, 0, 0);
	many_init(&m);
	pthread_create(&thread, NULL, submitter, &m);
	for (i = 0; i < num_rounds * 5;) {
		status = nnhal_burst_wait(burst, &result, FOREVER);
		/* Faster than the submissions: they may need this very processor. */
		if (status == NNHAL_STATUS_INVALID_ARGUMENT) {
			nanosleep(&moment, NULL);
			continue;
		}
		ordered += !status && !result.status && result.tag == i;
		i++;
	}
	pthread_join(thread, &failed);
	ok(!failed && ordered == num_rounds * 5, "submissions wait for room, depth 4: %u in order", ordered);
	many_fini(&m);
}

/* Takes the only result when nobody needs it to stay any more, or after long. */
static void *late_taker(void *data)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 20;
	sem_timedwait(data, &until);
	return (void *)(uintptr_t)nnhal_burst_wait(burst, &result, FOREVER);
}

/* Whoever waits for room waits no longer than his deadline. */
static void test_room_deadline(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status, many_status;
	const struct nnhal_request *requests[1];
	const uint64_t tag = 7;
	uint32_t count = 9;
	static struct many m;
	pthread_t thread;
	void *failed;
	sem_t done;

	nnhal_burst_unref(burst);
	burst = create(1, UINT32_MAX, 0);
	many_init(&m);
	requests[0] = &m.request[1];
	sem_init(&done, 0, 0);
	ok(!nnhal_burst_submit(burst, &m.request[0], NULL, 0, 0), "all there is room for");
	pthread_create(&thread, NULL, late_taker, &done);
	o.diag = &r.diag;
	o.has_deadline = true;
	o.deadline_ns = monotonic_ns() + 20000000;
	status = nnhal_burst_submit(burst, &m.request[1], &o, 1, 0);
	ok(status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT && r.diag.message[0],
	   "E20 no room before the deadline: %s: %s", nnhal_status_name((int)status),
	   r.diag.message);
	many_status = nnhal_burst_submit_many(burst, requests, &tag, 1, &o, 0, &count);
	ok(many_status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT && !count,
	   "E20 the same for many: %s", nnhal_status_name((int)many_status));
	sem_post(&done);
	pthread_join(thread, &failed);
	ok(!failed && !nnhal_burst_execute(burst, &m.request[2], NULL, NULL, NULL, NULL),
	   "the burst goes on");
	sem_destroy(&done);
	many_fini(&m);
}

/* Nobody else can take a result: a call that waited for room would never end. */
static void test_room_alone(void)
{
	struct nnhal_burst_options bo = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct nnhal_burst *alone;
	struct many m;

	many_init(&m);
	bo.depth = 2;
	bo.flags = NNHAL_BURST_SINGLE_THREAD;
	if (nnhal_burst_create(model, &bo, &alone))
		bail_out("burst", NULL);
	ok(!nnhal_burst_submit(alone, &m.request[0], NULL, 0, 0) &&
	   !nnhal_burst_submit(alone, &m.request[1], NULL, 1, 0), "a burst of one thread is full");
	/* Later than it takes to come to the call. Only a call that waits for room gets there. */
	o.has_deadline = true;
	o.deadline_ns = monotonic_ns() + UINT64_C(20000000000);
	if (ok(nnhal_burst_submit(alone, &m.request[2], &o, 2, 0) ==
	       NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, "it does not wait for room"))
		ok(nnhal_burst_submit(alone, &m.request[2], NULL, 2, 0) ==
		   NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, "without a deadline neither");
	ok(!nnhal_burst_execute(alone, &m.request[3], NULL, NULL, NULL, NULL),
	   "an execution finds room all the same");
	ok(!nnhal_burst_wait(alone, &result, FOREVER) && !nnhal_burst_submit(alone, &m.request[2],
									    NULL, 2, 0),
	   "there is room again when a result was taken");
	nnhal_burst_unref(alone);
	many_fini(&m);
}

/* ---- threads ---- */

struct worker {
	pthread_t thread;
	struct many many;
	unsigned int number;
	unsigned int right;
	bool own_burst;
};

static void *work(void *data)
{
	struct worker *w = data;
	struct nnhal_burst *b = w->own_burst ? create(4, UINT32_MAX, 0) : burst;
	unsigned int i;

	for (i = 0; i < num_rounds; i++) {
		float value = (float)(w->number * 1000 + i);

		many_fill(&w->many, i % 8, value);
		if (!nnhal_burst_execute(b, &w->many.request[i % 8], NULL, NULL, NULL, NULL))
			w->right += many_is_right(&w->many, i % 8, value);
	}
	if (w->own_burst)
		nnhal_burst_unref(b);
	return NULL;
}

static void run_workers(const char *what, unsigned int count, bool own_burst)
{
	static struct worker workers[24];
	unsigned int i, right = 0;

	memset(workers, 0, sizeof(workers));
	for (i = 0; i < count; i++) {
		many_init(&workers[i].many);
		workers[i].number = i;
		workers[i].own_burst = own_burst;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; i < count; i++) {
		pthread_join(workers[i].thread, NULL);
		right += workers[i].right;
		many_fini(&workers[i].many);
	}
	ok(right == count * num_rounds, "%s: %u of %u results are right", what, right,
	   count * num_rounds);
}

static void test_threads(void)
{
	make_add_relu(&f);
	prepare();
	run_workers("8 threads, one burst", 8, false);
	nnhal_burst_unref(burst);
	burst = create(2, 0, 0);
	run_workers("6 threads, one burst of depth 2 that does not spin", 6, false);
	nnhal_burst_unref(burst);
	burst = create(2, 1000000, 2);
	run_workers("4 threads, one burst with room for 2 memory objects", 4, false);
	run_workers("a burst per thread, more than there are queues", 24, true);
}

static void test_many_bursts(void)
{
	enum { BURSTS = 40 };
	struct nnhal_burst *bursts[BURSTS];
	unsigned int i, pass, good = 0, queues = 0;

	fresh_run(4);
	for (i = 0; i < BURSTS; i++) {
		bursts[i] = create(2, UINT32_MAX, 0);
		queues += bursts[i]->queue != NULL;
	}
	for (pass = 0; pass < 3; pass++)
		for (i = 0; i < BURSTS; i++) {
			clear_results();
			good += !nnhal_burst_execute(bursts[i], &r.request, NULL, NULL, NULL,
						     NULL) && run_output_is_right(&r, 4);
		}
	for (i = 0; i < BURSTS; i++)
		nnhal_burst_unref(bursts[i]);
	ok(good == 3 * BURSTS, "%u bursts at once, %u of them with a queue", BURSTS, queues);
}

/* ---- memory ---- */

static void test_cache(void)
{
	enum { MEMORIES = 5 };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct run runs[MEMORIES];
	unsigned int i, pass, good = 0, most = 0;
	struct run other;
	bool has_queue;

	make_add_relu(&f);
	prepare();
	nnhal_burst_unref(burst);
	burst = create(8, UINT32_MAX, 2);
	has_queue = burst->queue;
	for (i = 0; i < MEMORIES; i++)
		run_init(&runs[i], 4);
	for (pass = 0; pass < 20; pass++)
		for (i = 0; i < MEMORIES; i++) {
			memset(runs[i].map + RUN_OUTPUT(0), 0xee, 16);
			good += !nnhal_burst_execute(burst, &runs[i].request, NULL, NULL, NULL,
						     NULL) && run_output_is_right(&runs[i], 4);
			if (burst->num_memories > most)
				most = burst->num_memories;
		}
	ok(good == 20 * MEMORIES && most == (has_queue ? 2 : 0),
	   "5 memory objects in turn, %u bound at most", most);
	/* All in flight at once: none may go. */
	good = 0;
	for (pass = 0; pass < 20; pass++) {
		for (i = 0; i < MEMORIES; i++) {
			memset(runs[i].map + RUN_OUTPUT(0), 0xee, 16);
			good += !nnhal_burst_submit(burst, &runs[i].request, NULL, i, 0);
		}
		for (i = 0; i < MEMORIES; i++)
			good += !nnhal_burst_wait(burst, &result, FOREVER) && !result.status &&
				run_output_is_right(&runs[result.tag], 4);
	}
	ok(good == 40 * MEMORIES, "5 memory objects in flight with room for 2");
	ok(burst->num_memories <= 2, "then no more than 2 are bound");
	nnhal_burst_execute(burst, &runs[0].request, NULL, NULL, NULL, NULL);
	nnhal_burst_execute(burst, &runs[1].request, NULL, NULL, NULL, NULL);

	run_init(&other, 4);
	ok(!nnhal_burst_free_memory(burst, other.memory), "E17 an unknown memory object");
	ok(!nnhal_burst_free_memory(burst, runs[1].memory) &&
	   burst->num_memories == (has_queue ? 1 : 0), "E17 E16 a known one");
	ok(!nnhal_burst_free_memory(burst, runs[1].memory), "E17 the same again");
	memset(runs[1].map + RUN_OUTPUT(0), 0xee, 16);
	ok(!nnhal_burst_execute(burst, &runs[1].request, NULL, NULL, NULL, NULL) &&
	   run_output_is_right(&runs[1], 4), "E16 it is bound again by its next use");
	good = 0;
	for (pass = 0; pass < 50; pass++) {
		for (i = 0; i < 3; i++)
			good += !nnhal_burst_submit(burst, &runs[i].request, NULL, i, 0);
		good += !nnhal_burst_free_memory(burst, runs[pass % 3].memory);
		for (i = 0; i < 3; i++)
			good += !nnhal_burst_wait(burst, &result, FOREVER) && !result.status &&
				run_output_is_right(&runs[result.tag], 4);
	}
	ok(good == 50 * 7 && !burst->dropped, "E17 requests in flight keep what they use");
	/* Another object in the place of one that is gone. */
	good = 0;
	for (pass = 0; pass < 50; pass++) {
		good += !nnhal_burst_execute(burst, &other.request, NULL, NULL, NULL, NULL) &&
			run_output_is_right(&other, 4);
		nnhal_burst_free_memory(burst, other.memory);
		run_fini(&other);
		run_init(&other, 4);
	}
	ok(good == 50, "E16 memory objects that come and go");
	run_fini(&other);
	for (i = 0; i < MEMORIES; i++)
		run_fini(&runs[i]);
	ok(burst->num_memories <= 2, "the burst keeps references of its own");
}

/* More memory objects in one request than the burst keeps. */
static void test_several_pools(void)
{
	struct nnhal_memory *memories[3];
	unsigned int i, good = 0;

	nnhal_burst_unref(burst);
	burst = create(4, UINT32_MAX, 1);
	fresh_run(4);
	for (i = 0; i < 3; i++) {
		if (nnhal_memory_create(4096, &memories[i], NULL))
			bail_out("memory", NULL);
		memcpy(nnhal_memory_map(memories[i], NULL), r.map, 4096);
		r.pools[i + 1].memory = memories[i];
	}
	/* Pool 0 is not used by an argument. */
	r.request.num_pools = 4;
	r.inputs[0].location.pool_index = 1;
	r.inputs[1].location.pool_index = 2;
	r.outputs[0].location.pool_index = 3;
	for (i = 0; i < 5; i++) {
		memset((uint8_t *)nnhal_memory_map(memories[2], NULL) + RUN_OUTPUT(0), 0xee, 16);
		if (!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL)) {
			memcpy(r.map + RUN_OUTPUT(0),
			       (uint8_t *)nnhal_memory_map(memories[2], NULL) + RUN_OUTPUT(0), 16);
			good += run_output_is_right(&r, 4);
		}
	}
	ok(good == 5, "a request with three memory objects, room for one");
	for (i = 0; i < 3; i++)
		nnhal_memory_unref(memories[i]);
}

/* Replace the run's memory with another object of the same content. */
static void use_memory(uint32_t kind, int fd, uint64_t size, uint64_t offset)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .fd = fd, .size = size,
		.offset = offset,
	};
	struct nnhal_memory *memory = NULL;

	if (pwrite(fd, r.map, 4096, (off_t)offset) != 4096 ||
	    nnhal_memory_import(&desc, &memory, &r.diag))
		bail_out("memory", &r.diag);
	nnhal_memory_unref(r.memory);
	r.memory = memory;
	r.pools[0].memory = memory;
	r.map = nnhal_memory_map(memory, &r.diag);
}

/* Outputs that cannot be copied back: the shapes that were known are not given. */
static void test_failed_copy(void)
{
	struct nnhal_burst_result result = { .size = sizeof(result), .output_shapes = r.shapes };
	struct nnhal_output_shape before[ARRAY_SIZE(r.shapes)];
	enum nnhal_status status;
	int fd = memfd_create("read-only later", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, 4096))
		bail_out("memfd", NULL);
	fresh_run(4);
	use_memory(NNHAL_MEMORY_MMAP_FD, fd, 4096, 0);
	ok(!execute_burst(NULL) && r.num_shapes == 1, "F02 a file that can be written");
	/* A device that has its pages writes all the same: they are not the file's any more. */
	ok(!fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) && !ftruncate(fd, RUN_OUTPUT(0)),
	   "and then cannot");
	memset(r.shapes, 0x77, sizeof(r.shapes));
	memcpy(before, r.shapes, sizeof(before));
	status = nnhal_burst_execute(burst, &r.request, NULL, r.shapes, &r.num_shapes, NULL);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !r.num_shapes &&
	   !memcmp(before, r.shapes, sizeof(before)),
	   "F06 outputs that cannot be written: no shapes: %s", nnhal_status_name((int)status));
	ok(!nnhal_burst_submit(burst, &r.request, NULL, 0, 0) &&
	   !nnhal_burst_wait(burst, &result, FOREVER) &&
	   result.status == NNHAL_STATUS_GENERAL_FAILURE && !result.num_output_shapes &&
	   !memcmp(before, r.shapes, sizeof(before)), "F06 the same for a submission");
	close(fd);
	fresh_run(4);
}

static void test_copies(void)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	FILE *file = tmpfile();
	unsigned int i, good = 0;
	int fd;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	fd = memfd_create("unsealable", MFD_CLOEXEC);
	ok(!ftruncate(fd, 4096), "memfd that cannot be sealed");
	use_memory(NNHAL_MEMORY_ASHMEM, fd, 4096, 0);
	for (i = 0; i < 20; i++) {
		((float *)(void *)r.map)[0] = (float)i;
		good += same_everywhere(NULL);
	}
	ok(good == i, "F01 memory that goes through a copy: the same results");
	good = 0;
	for (i = 0; i < 40; i++) {
		good += !nnhal_burst_submit(burst, &r.request, NULL, i, 0);
		if (i >= 8)
			good += !nnhal_burst_wait(burst, &result, FOREVER) && !result.status;
	}
	while (!nnhal_burst_wait(burst, &result, FOREVER))
		good += !result.status;
	ok(good == 80, "F01 several such in flight");
	ok(!ftruncate(fd, RUN_INPUT(1)), "it is truncated");
	expect_same(NNHAL_STATUS_GENERAL_FAILURE, "F06 the next request", NULL);
	close(fd);
	ok(file && !ftruncate(fileno(file), 16384), "file");
	use_memory(NNHAL_MEMORY_MMAP_FD, fileno(file), 4096, 5003);
	r.outputs[0].location.length = 64;
	ok(same_everywhere(NULL) && r.map[RUN_OUTPUT(0) + 16] == 0xee,
	   "F02 file at offset 5003, D10 only what was computed is written");
	fclose(file);
	test_failed_copy();
}

/*
 * A request fails because its memory cannot be bound. The next one at the same address has
 * fewer pools, and their array ends where the page does: reading beyond it ends the test.
 */
static void test_failed_bind(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD,
		.size = UINT64_C(1) << 50,
	};
	struct nnhal_request_pool *last;
	struct nnhal_memory *memory = NULL;
	struct nnhal_request saved;
	enum nnhal_status status;
	uint8_t *pages;

	make_add_relu(&f);
	prepare();
	nnhal_burst_unref(burst);
	burst = create(1, UINT32_MAX, 0);
	fresh_run(4);
	/* Larger than any address space: no bounce buffer either. */
	desc.fd = memfd_create("huge", MFD_CLOEXEC);
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (desc.fd < 0 || ftruncate(desc.fd, (off_t)desc.size) || pages == MAP_FAILED ||
	    mprotect(pages + page, page, PROT_NONE) ||
	    nnhal_memory_import(&desc, &memory, &r.diag))
		bail_out("memory", &r.diag);
	last = (struct nnhal_request_pool *)(void *)(pages + page) - 1;
	*last = r.pools[0];
	r.request.pools = last;
	ok(!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL), "one pool");

	r.pools[1].memory = memory;
	r.pools[2] = r.pools[0];
	r.pools[3] = r.pools[0];
	r.inputs[1].location.pool_index = 1;
	r.request.pools = r.pools;
	r.request.num_pools = 4;
	status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	/* ENOMEM of mmap() with the in-process device, EINVAL of the driver. */
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT ||
	   status == NNHAL_STATUS_GENERAL_FAILURE, "four, one of which cannot be bound: %s",
	   nnhal_status_name((int)status));

	/* As what is remembered of a request that failed, with no pool at all. */
	saved = r.request;
	r.request.hal_version = UINT32_MAX;
	r.request.num_inputs = r.request.num_outputs = 1;
	r.request.num_pools = 0;
	r.request.pools = last + 1;
	status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT, "a version that does not exist, no pools: %s",
	   nnhal_status_name((int)status));
	r.request.num_inputs = r.request.num_outputs = 0;
	status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT, "and no arguments: %s",
	   nnhal_status_name((int)status));
	r.request = saved;

	r.inputs[1].location.pool_index = 0;
	r.request.pools = last;
	r.request.num_pools = 1;
	ok(!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
	   run_output_is_right(&r, 4), "one again");
	r.request.pools = r.pools;
	nnhal_memory_unref(memory);
	munmap(pages, 2 * page);
	close(desc.fd);
}

/* ---- fork ---- */

static int child(void)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	int failures = 0;

	failures += nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) !=
		    NNHAL_STATUS_DEVICE_UNAVAILABLE;
	failures += nnhal_burst_submit(burst, &r.request, NULL, 1, 0) !=
		    NNHAL_STATUS_DEVICE_UNAVAILABLE;
	failures += nnhal_burst_wait(burst, &result, FOREVER) != NNHAL_STATUS_DEVICE_UNAVAILABLE;
	failures += nnhal_burst_free_memory(burst, r.memory) != NNHAL_STATUS_DEVICE_UNAVAILABLE;
	nnhal_burst_unref(burst);
	return failures;
}

static void test_fork(void)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	unsigned int i, good = 0;
	int status = -1;
	pid_t pid;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	ok(!execute_burst(NULL), "a request before");
	for (i = 0; i < 3; i++)
		good += !nnhal_burst_submit(burst, &r.request, NULL, i, 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child());
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	   !WEXITSTATUS(status), "a child gets DEVICE_UNAVAILABLE from each call");
	for (i = 0; i < 3; i++)
		good += !nnhal_burst_wait(burst, &result, FOREVER) && !result.status &&
			result.tag == i;
	ok(good == 6 && !execute_burst(NULL) && run_output_is_right(&r, 4),
	   "its parent's requests come to their ends, and so do later ones");
}

/* ---- waiting ---- */

static void test_wait(void)
{
	static const uint32_t spins[] = { 0, 1, 50, 100000, UINT32_MAX };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	unsigned int i, k, good = 0, looks = 0;
	enum nnhal_status status;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	for (i = 0; i < ARRAY_SIZE(spins); i++) {
		nnhal_burst_unref(burst);
		burst = create(4, spins[i], 0);
		for (k = 0; k < num_rounds * 3 / 4; k++) {
			clear_results();
			good += !nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
				run_output_is_right(&r, 4);
		}
	}
	ok(good == num_rounds * 3 / 4 * i, "sleeping at once, spinning, and between");
	ok(!nnhal_burst_submit(burst, &r.request, NULL, 5, 0), "a request");
	do {
		status = nnhal_burst_wait(burst, &result, 0);
		looks++;
	} while (status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT);
	ok(!status && result.tag == 5 && !result.status, "only looking, %u times", looks);
	ok(!nnhal_burst_submit(burst, &r.request, NULL, 6, 0) &&
	   !nnhal_burst_wait(burst, &result, UINT64_C(600000000000)) && result.tag == 6,
	   "a limit that is long enough");
}

/* ---- devices that die; only on devices that let themselves be told to ---- */

static pthread_barrier_t barrier;

static void *execute_thread(void *data)
{
	struct many *m = data;

	pthread_barrier_wait(&barrier);
	return (void *)(uintptr_t)nnhal_burst_execute(burst, &m->request[9], NULL, NULL, NULL,
						      NULL);
}

static void wait_until_running(void)
{
	unsigned int running = 0;
	struct timespec t = { .tv_nsec = 1000000 };

	while (running < 5) {
		nanosleep(&t, NULL);
		pthread_mutex_lock(&burst->lock);
		running = burst->num_running;
		pthread_mutex_unlock(&burst->lock);
	}
}

/*
 * Wait until the device is at a job of the burst. It takes its time to fetch an entry,
 * more so when it gets no processor: to abort, to stop the queue, or to believe that an
 * injection has been used up, before it has, is another test than was meant.
 */
static void await_job(const struct nnhal_burst *b)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	while (!transport_sim_is_running(device->transport, b->queue))
		nanosleep(&moment, NULL);
}

/* Keep the one engine of the device at a job of another burst: it fetches no entry. */
static struct nnhal_burst *hold_engine(const struct many *m)
{
	struct nnhal_burst *holder = create(1, UINT32_MAX, 0);

	transport_sim_inject(device->transport, NNPU_INJECT_JOB_STALL, 1);
	if (nnhal_burst_submit(holder, &m->request[MANY - 1], NULL, 0, 0))
		bail_out("submission", NULL);
	await_job(holder);
	return holder;
}

static void release_engine(struct nnhal_burst *holder)
{
	ok(transport_sim_abort(device->transport, holder->queue), "the engine is released");
	nnhal_burst_unref(holder);
}

/* @late: the device does not fetch the job until there has been an abort in vain. */
static void test_hang(const char *what, bool late)
{
	struct nnhal_burst *holder = NULL;
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct transport *t = device->transport;
	static struct many m;
	unsigned int i, good = 0;

	prepare();
	many_init(&m);
	if (late)
		holder = hold_engine(&m);
	transport_sim_inject(t, NNPU_INJECT_JOB_STALL, 1);
	for (i = 0; i < 4; i++)
		good += !nnhal_burst_submit(burst, &m.request[i], NULL, i, 0);
	ok(good == 4 && nnhal_burst_wait(burst, &result, 20000000) ==
	   NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "%s, no result within a limit", what);
	if (late) {
		ok(!transport_sim_abort(t, burst->queue), "%s: nothing to abort yet", what);
		release_engine(holder);
	}
	await_job(burst);
	ok(transport_sim_abort(t, burst->queue), "%s: there is a job to abort", what);
	for (i = 0; i < 4; i++) {
		if (nnhal_burst_wait(burst, &result, FOREVER) || result.tag != i)
			break;
		good += result.status == (i ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE) &&
			!result.num_output_shapes == !i && no_timing(&result.timing);
	}
	ok(good == 8, "%s: it is aborted: GENERAL_FAILURE, and the others succeed", what);
	many_fini(&m);
}

static void test_abort(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct transport *t = device->transport;
	static struct many m;
	unsigned int i, good;

	prepare();
	many_init(&m);
	o.has_deadline = true;
	o.deadline_ns = INT64_MAX;
	transport_sim_inject(t, NNPU_INJECT_JOB_STALL, 1);
	good = !nnhal_burst_submit(burst, &m.request[0], &o, 0, 0);
	await_job(burst);
	good += transport_sim_abort(t, burst->queue);
	ok(good == 2 && !nnhal_burst_wait(burst, &result, FOREVER) && result.status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT,
	   "D27 with a deadline: MISSED_DEADLINE_TRANSIENT");
	transport_sim_inject(t, NNPU_INJECT_BAD_CID, 1);
	many_fill(&m, 1, 3.0f);
	ok(!nnhal_burst_execute(burst, &m.request[1], NULL, NULL, NULL, NULL) &&
	   many_is_right(&m, 1, 3.0f), "a completion of nobody's is dropped");
	transport_sim_inject(t, NNPU_INJECT_BAD_STATUS, 1);
	ok(nnhal_burst_execute(burst, &m.request[1], NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_GENERAL_FAILURE, "a status that does not exist");
	transport_sim_inject(t, NNPU_INJECT_DMA_ERROR, 1);
	ok(nnhal_burst_execute(burst, &m.request[1], NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_GENERAL_FAILURE, "an access that fails");
	transport_sim_inject(t, NNPU_INJECT_LOST_IRQ, 1);
	nnhal_burst_unref(burst);
	burst = create(4, 0, 0);
	ok(!nnhal_burst_execute(burst, &m.request[1], NULL, NULL, NULL, NULL),
	   "a lost interrupt");
	transport_sim_inject(t, NNPU_INJECT_JOB_STALL, 1);
	for (i = 0; i < 4; i++)
		nnhal_burst_submit(burst, &m.request[i], NULL, i, 0);
	await_job(burst);
	nnhal_burst_unref(burst);
	burst = NULL;
	many_fini(&m);
	prepare();
	fresh_run(4);
	ok(!execute_burst(NULL), "E22 a burst is released with a job that hangs");
}

struct room {
	struct many many;
	pthread_t thread;
	enum nnhal_status status;
};

static void *submit_thread(void *data)
{
	struct room *room = data;

	room->status = nnhal_burst_submit(burst, &room->many.request[2], NULL, 2, 0);
	return NULL;
}

/* Until there is a result that nobody has taken. */
static void await_result(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	bool found = false;

	while (!found) {
		nanosleep(&moment, NULL);
		pthread_mutex_lock(&burst->lock);
		burst_reap(burst);
		found = burst->results;
		pthread_mutex_unlock(&burst->lock);
	}
}

/* Until a thread waits. True: whoever takes a result wakes it. */
static bool await_waiter(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	bool waits = false, wakes = false;

	while (!waits) {
		nanosleep(&moment, NULL);
		pthread_mutex_lock(&burst->lock);
		wakes = burst->num_waiters;
		waits = wakes || burst->sleeping;
		pthread_mutex_unlock(&burst->lock);
	}
	return wakes;
}

/* One job has ended, one runs for long: whoever takes the result makes room at once. */
static void test_room_beside_job(void)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	static struct room room;
	bool wakes;

	prepare();
	nnhal_burst_unref(burst);
	burst = create(2, UINT32_MAX, 0);
	many_init(&room.many);
	ok(!nnhal_burst_submit(burst, &room.many.request[0], NULL, 0, 0), "a job that ends");
	await_result();
	transport_sim_inject(device->transport, NNPU_INJECT_JOB_STALL, 1);
	ok(!nnhal_burst_submit(burst, &room.many.request[1], NULL, 1, 0), "one that does not");
	await_job(burst);
	pthread_create(&room.thread, NULL, submit_thread, &room);
	wakes = await_waiter();
	ok(!nnhal_burst_wait(burst, &result, FOREVER) && result.tag == 0, "a result is taken");
	pthread_join(room.thread, NULL);
	ok(wakes && !burst->num_sleeps && !room.status,
	   "E20 a submission waits for it, not for the job that runs");
	ok(transport_sim_abort(device->transport, burst->queue) &&
	   !nnhal_burst_wait(burst, &result, FOREVER) && result.tag == 1 &&
	   !nnhal_burst_wait(burst, &result, FOREVER) && result.tag == 2 && !result.status,
	   "and then runs");
	many_fini(&room.many);
}

/*
 * @fatal: the device is lost, else the queue stops. @late: before the device has fetched
 * an entry.
 */
static void test_death(const char *what, bool fatal, bool late, enum nnhal_status after)
{
	struct nnhal_burst *holder = NULL;
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct transport *t = device->transport;
	enum nnhal_status status;
	static struct many m;
	unsigned int i, good = 0;
	pthread_t thread;
	void *value;

	many_init(&m);
	prepare();
	if (late)
		holder = hold_engine(&m);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, execute_thread, &m);
	/* The first hangs, so that all are in flight. */
	transport_sim_inject(t, NNPU_INJECT_JOB_STALL, 1);
	for (i = 0; i < 4; i++)
		good += !nnhal_burst_submit(burst, &m.request[i], NULL, i, 0);
	pthread_barrier_wait(&barrier);
	wait_until_running();
	if (!late)
		await_job(burst);
	if (fatal) {
		transport_sim_inject(t, NNPU_INJECT_FATAL, 1);
		transport_sim_abort(t, burst->queue);
	} else {
		/* What only a broken process does. */
		burst->queue->ring(burst->queue, NNPU_DB_SQ_TAIL, 12345);
	}
	for (i = 0; i < 4; i++)
		good += !nnhal_burst_wait(burst, &result, FOREVER) && result.tag == i &&
			result.status == NNHAL_STATUS_GENERAL_FAILURE &&
			!result.num_output_shapes && no_timing(&result.timing);
	pthread_join(thread, &value);
	ok(good == 8 && (enum nnhal_status)(uintptr_t)value == NNHAL_STATUS_GENERAL_FAILURE,
	   "H09 %s: each of 5 requests in flight fails", what);
	status = execute_burst(NULL);
	ok(status == after && !r.num_shapes && no_timing(&r.timing), "H09 %s: then %s: %s", what,
	   nnhal_status_name((int)status), r.diag.message);
	ok(nnhal_burst_submit(burst, &r.request, NULL, 0, 0) == after &&
	   nnhal_burst_wait(burst, &result, FOREVER) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "H09 %s: submitting and waiting do not block", what);
	r.outputs[0].location.offset = 4095;
	ok(execute_burst(NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "%s: a wrong request is still wrong", what);
	if (late) {
		/* Nobody has used it up. */
		transport_sim_inject(t, NNPU_INJECT_JOB_STALL, 0);
		release_engine(holder);
	}
	pthread_barrier_destroy(&barrier);
	many_fini(&m);
	fresh_run(4);
}

static void test_faults(void)
{
	struct nnhal_prepared_model *old_model;
	struct nnhal_device *old = device;
	struct nnhal_burst *idle;

	old_model = model;
	nnhal_burst_unref(burst);
	burst = NULL;
	model = NULL;
	if (nnhal_device_open("sim:faults", &device, &r.diag))
		bail_out("sim:faults", &r.diag);
	make_add_relu(&f);
	fresh_run(4);
	test_hang("a job hangs", false);
	test_hang("a job hangs, later", true);
	test_room_beside_job();
	test_abort();
	test_death("queue stopped", false, false, NNHAL_STATUS_DEAD_OBJECT);
	prepare();
	ok(!execute_burst(NULL), "another burst of the model works");
	test_death("queue stopped early", false, true, NNHAL_STATUS_DEAD_OBJECT);
	prepare();
	ok(!execute_burst(NULL), "another burst of the model works again");
	idle = create(4, UINT32_MAX, 0);
	ok(!nnhal_burst_execute(idle, &r.request, NULL, NULL, NULL, NULL), "one that then rests");
	test_death("device lost", true, false, NNHAL_STATUS_DEVICE_UNAVAILABLE);
	ok(nnhal_burst_execute(idle, &r.request, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_GENERAL_FAILURE &&
	   nnhal_burst_execute(idle, &r.request, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_DEVICE_UNAVAILABLE, "H09 the one that rested finds out");
	nnhal_burst_unref(idle);
	ok(nnhal_burst_create(model, NULL, &idle) == NNHAL_STATUS_DEVICE_UNAVAILABLE && !idle,
	   "E01 no new burst on it");
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	device = old;
	model = old_model;
	burst = NULL;
}

/* ---- */

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "results", test_results },
	{ "insufficient", test_insufficient },
	{ "dynamic", test_dynamic },
	{ "refused", test_refused },
	{ "timing", test_timing },
	{ "create", test_create },
	{ "keeps_model", test_keeps_model },
	{ "submit", test_submit },
	{ "submit_many", test_submit_many },
	{ "wait_many", test_wait_many },
	{ "last_result", test_last_result },
	{ "measured", test_measured },
	{ "room", test_room },
	{ "room_deadline", test_room_deadline },
	{ "room_alone", test_room_alone },
	{ "threads", test_threads },
	{ "many_bursts", test_many_bursts },
	{ "cache", test_cache },
	{ "several_pools", test_several_pools },
	{ "copies", test_copies },
	{ "failed_bind", test_failed_bind },
	{ "fork", test_fork },
	{ "wait", test_wait },
};

/* Arguments name the tests to run; without, all of them run. */
static int num_wanted;
static char **wanted;

static bool is_wanted(const char *name)
{
	int i;

	for (i = 0; i < num_wanted; i++)
		if (!strcmp(wanted[i], name))
			return true;
	return !num_wanted;
}

static bool is_known(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(name, tests[i].name))
			return true;
	return !strcmp(name, "faults") || !strcmp(name, "noqueues");
}

static void test_all(void)
{
	unsigned int i;

	make_add_relu(&f);
	prepare();
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (is_wanted(tests[i].name))
			tests[i].run();
}

int main(int argc, char **argv)
{
	struct nnhal_diag diag = { "" };
	const char *rounds = getenv("NNHAL_BURST_ROUNDS");
	bool has_queue;
	int i;

	if (rounds && atoi(rounds) >= 20)
		num_rounds = (unsigned int)atoi(rounds) / 20 * 20;
	num_wanted = argc - 1;
	wanted = argv + 1;
	for (i = 0; i < num_wanted; i++)
		if (!is_known(wanted[i])) {
			printf("Bail out! no test is called %s\n", wanted[i]);
			return 1;
		}
	spec = test_device_spec();
	device = test_device_open();
	run_init(&r, 4);
	test_all();
	has_queue = burst->queue;
	if (is_sim())
		ok(has_queue, "the device gives bursts queues");
	else
		tap_note("bursts %s", has_queue ? "have queues" : "go through the driver");
	if (!strcmp(spec, "sim") && is_wanted("faults"))
		test_faults();
	if (!strcmp(spec, "sim") && is_wanted("noqueues")) {
		nnhal_burst_unref(burst);
		burst = NULL;
		nnhal_prepared_model_unref(model);
		model = NULL;
		nnhal_device_unref(device);
		tap_note("the same through the driver's way");
		if (nnhal_device_open("sim:noqueues", &device, &diag))
			bail_out("sim:noqueues", &diag);
		test_all();
		ok(!burst->queue, "no queue");
	}
	run_fini(&r);
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
