// SPDX-License-Identifier: MIT
/*
 * Bound requests: the same statuses, shapes and outputs as the request itself, by every way to run
 * it; arguments that change between runs; slots that others need; what is released while bound;
 * buffers; threads; a device that is lost.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnpu_hw.h>

#include "buffer_rig.h"
#include "burst/burst_private.h"
#include "device/device_private.h"
#include "execution/bound_request.h"
#include "nnhal_fixture.h"

/* More than a context has slots. */
#define MANY	1200
#define WAYS	7

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *shared, *single;

static const char *const way_names[WAYS] = {
	"synchronously", "asynchronously", "fenced", "in a burst", "in a burst of one thread",
	"in a burst with options", "submitted to a burst",
};

static struct nnhal_burst *open_burst(uint32_t flags)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst *burst;

	o.flags = flags;
	MUST(!nnhal_burst_create(model, &o, &burst));
	return burst;
}

static enum nnhal_status take_one(struct nnhal_burst *burst)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	enum nnhal_status status = nnhal_burst_wait(burst, &result, UINT64_MAX);

	return status ? status : result.status;
}

static enum nnhal_status await_fenced(enum nnhal_status status, int fence,
				      struct nnhal_fenced_callback *callback)
{
	if (status)
		return status;
	if (fence >= 0) {
		nnhal_fence_wait(fence, -1);
		close(fence);
	}
	status = nnhal_fenced_callback_get_execution_info(callback, NULL, NULL);
	nnhal_fenced_callback_unref(callback);
	return status;
}

/* Run a bound request in way @way. */
static enum nnhal_status run_bound(struct nnhal_bound_request *bound, unsigned int way)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct callback_result result = CALLBACK_RESULT_INIT;
	struct nnhal_fenced_callback *callback;
	struct nnhal_timing timing;
	enum nnhal_status status;
	int fence;

	switch (way) {
	case 0:
		return nnhal_bound_request_execute_synchronously(bound, NULL, NULL, NULL, NULL);
	case 1:
		return callback_wait(&result, nnhal_bound_request_execute(bound, NULL,
									  callback_executed,
									  &result));
	case 2:
		status = nnhal_bound_request_execute_fenced(bound, NULL, 0, NULL, &fence, &callback);
		return await_fenced(status, fence, callback);
	case 3:
		return nnhal_burst_execute_bound(shared, bound, NULL, NULL, NULL, NULL);
	case 4:
		return nnhal_burst_execute_bound(single, bound, NULL, NULL, NULL, NULL);
	case 5:
		o.measure = NNHAL_MEASURE_YES;
		return nnhal_burst_execute_bound(single, bound, &o, NULL, NULL, &timing);
	default:
		status = nnhal_burst_submit_bound(shared, bound, NULL, 7, 0);
		return status ? status : take_one(shared);
	}
}

/* The same of the request itself. */
static enum nnhal_status run_plain(const struct nnhal_request *request, unsigned int way)
{
	struct callback_result result = CALLBACK_RESULT_INIT;
	struct nnhal_fenced_callback *callback;
	enum nnhal_status status;
	int fence;

	switch (way) {
	case 0:
		return nnhal_prepared_model_execute_synchronously(model, request, NULL, NULL, NULL,
								  NULL);
	case 1:
		return callback_wait(&result, nnhal_prepared_model_execute(model, request, NULL,
									   callback_executed,
									   &result));
	case 2:
		status = nnhal_prepared_model_execute_fenced(model, request, NULL, 0, NULL, &fence,
							     &callback);
		return await_fenced(status, fence, callback);
	case 6:
		status = nnhal_burst_submit(shared, request, NULL, 7, 0);
		return status ? status : take_one(shared);
	default:
		return nnhal_burst_execute(way == 3 ? shared : single, request, NULL, NULL, NULL,
					   NULL);
	}
}

static struct nnhal_bound_request *bind_run(struct run *r)
{
	struct nnhal_bound_options o = NNHAL_BOUND_OPTIONS_INIT;
	struct nnhal_bound_request *bound;

	o.diag = &r->diag;
	if (nnhal_bound_request_create(model, &r->request, &o, &bound))
		tap_note("create: %s", r->diag.message);
	return bound;
}

static bool runs_well(struct nnhal_bound_request *bound, struct run *r, unsigned int way,
		      uint32_t count)
{
	enum nnhal_status status;

	memset(r->map + RUN_OUTPUT(0), 0xee, 256);
	status = run_bound(bound, way);
	if (status)
		tap_note("%s: %s", way_names[way], nnhal_status_name((int)status));
	return !status && run_output_is_right(r, count);
}

static void open_model(struct fixture *fixture)
{
	model = prepare_on(device, fixture);
	shared = open_burst(0);
	single = open_burst(NNHAL_BURST_SINGLE_THREAD);
}

static void close_model(void)
{
	nnhal_burst_unref(shared);
	nnhal_burst_unref(single);
	nnhal_prepared_model_unref(model);
}

/* ---- the same as the request ---- */

static void test_ways(void)
{
	struct nnhal_bound_request *bound;
	unsigned int way, round;
	struct run r;
	bool good;

	run_init(&r, 4);
	bound = bind_run(&r);
	/* The copy counts, not what the caller does with the original. */
	memset(&r.request, 0xff, sizeof(r.request));
	memset(r.inputs, 0xff, sizeof(r.inputs));
	memset(r.pools, 0xff, sizeof(r.pools));
	for (way = 0; way < WAYS; way++) {
		for (round = 0, good = bound; good && round < 100; round++)
			good = runs_well(bound, &r, way, 4);
		ok(good, "%s: 100 runs are right", way_names[way]);
	}
	for (round = 0, good = bound; good && round < 50; round++)
		for (way = 0; good && way < WAYS; way++)
			good = runs_well(bound, &r, way, 4);
	ok(good, "all ways in turn");
	nnhal_bound_request_unref(bound);
	r.request = (struct nnhal_request){ .num_pools = 0 };
	run_fini(&r);
}

/* Breaks one rule each. */
static void break_request(struct run *r, unsigned int kind)
{
	static const uint32_t zero[] = { 0, 2 }, five[] = { 5, 1 }, deep[9] = { 1, 1, 1 };

	switch (kind) {
	case 0:
		r->request.num_inputs = 1;
		break;
	case 1:
		r->request.num_outputs = 0;
		break;
	case 2:
		r->inputs[0].location.pool_index = 1;
		break;
	case 3:
		r->inputs[1].location.offset = UINT32_MAX;
		break;
	case 4:
		r->inputs[0].location.length--;
		break;
	case 5:
		r->outputs[0].location.offset = RUN_INPUT(1);
		break;
	case 6:
		r->inputs[0].num_dimensions = 2;
		r->inputs[0].dimensions = zero;
		break;
	case 7:
		r->inputs[0].num_dimensions = 2;
		r->inputs[0].dimensions = five;
		break;
	case 8:
		r->outputs[0].num_dimensions = 9;
		r->outputs[0].dimensions = deep;
		break;
	case 9:
		r->inputs[0].num_dimensions = 2;
		r->inputs[0].dimensions = NULL;
		break;
	case 10:
		r->request.hal_version = 99;
		break;
	case 11:
		r->pools[0].token = 77;
		break;
	case 12:
		r->pools[0].memory = NULL;
		break;
	case 13:
		r->pools[0] = (struct nnhal_request_pool){ .token = 70000 };
		break;
	case 14:
		r->inputs[0].has_no_value = true;
		break;
	case 15:
		r->request.inputs = NULL;
		break;
	default:
		r->request.pools = NULL;
	}
}

#define BREAKS	17

/* A rank that no device takes is told only of a request that breaks no rule. */
static void test_rank(void)
{
	static const uint32_t deep[9] = { 4, 1, 1, 1, 1, 1, 1, 1, 1 };
	struct nnhal_bound_request *bound;
	enum nnhal_status plain, status;
	static struct fixture dynamic;
	unsigned int kind;
	struct run r;

	close_model();
	make_dynamic_add(&dynamic, 0);
	open_model(&dynamic);
	for (kind = 0; kind < 4; kind++) {
		run_init(&r, 4);
		r.inputs[0].num_dimensions = 9;
		r.inputs[0].dimensions = deep;
		r.inputs[1] = r.inputs[0];
		r.inputs[1].location.offset = kind == 1 ? 4096 : RUN_INPUT(1);
		r.outputs[0].location.offset = kind == 2 ? RUN_INPUT(1) : RUN_OUTPUT(0);
		r.inputs[0].has_no_value = kind == 3;
		plain = run_plain(&r.request, 0);
		status = nnhal_bound_request_create(model, &r.request, NULL, &bound);
		ok(plain && status == plain && !bound, "rank 9, broken rule %u: %s, as the execution",
		   kind, nnhal_status_name((int)plain));
		run_fini(&r);
	}
	close_model();
	open_model(&f);
}

static void test_refused(void)
{
	struct nnhal_bound_options small = { .size = 1 };
	struct nnhal_bound_request *bound;
	enum nnhal_status plain, status;
	unsigned int kind;
	struct run r;

	for (kind = 0; kind < BREAKS; kind++) {
		run_init(&r, 4);
		break_request(&r, kind);
		plain = run_plain(&r.request, 0);
		bound = (struct nnhal_bound_request *)&r;
		status = nnhal_bound_request_create(model, &r.request, NULL, &bound);
		ok(plain && status == plain && !bound, "broken rule %u: %s, as the execution", kind,
		   nnhal_status_name((int)status));
		r.request.num_pools = 0;
		run_fini(&r);
	}
	run_init(&r, 4);
	ok(nnhal_bound_request_create(NULL, &r.request, NULL, &bound) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !bound &&
	   nnhal_bound_request_create(model, NULL, NULL, &bound) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_bound_request_create(model, &r.request, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_bound_request_create(model, &r.request, &small, &bound) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !bound, "NULL pointers, a small structure");
	for (kind = 0; kind < WAYS; kind++)
		ok(run_bound(NULL, kind) == NNHAL_STATUS_INVALID_ARGUMENT, "no bound request, %s",
		   way_names[kind]);
	nnhal_bound_request_unref(NULL);
	run_fini(&r);
}

static void test_other_model(void)
{
	struct nnhal_prepared_model *mine = model, *other = prepare_on(device, &f);
	struct nnhal_bound_request *bound;
	unsigned int way;
	struct run r;

	run_init(&r, 4);
	model = other;
	bound = bind_run(&r);
	model = mine;
	for (way = 3; way < WAYS; way++)
		ok(run_bound(bound, way) == NNHAL_STATUS_INVALID_ARGUMENT,
		   "bound to another model than the burst's, %s", way_names[way]);
	ok(!run_bound(bound, 0) && run_output_is_right(&r, 4), "it runs by itself");
	nnhal_bound_request_unref(bound);
	nnhal_prepared_model_unref(other);
	run_fini(&r);
}

/* Stamps are counted per device: one of another device says nothing. */
static void test_other_device(void)
{
	struct nnhal_device *mine = device, *other;
	struct nnhal_prepared_model *my_model = model;
	struct nnhal_bound_request *bound, *foreign;
	struct run r, s;
	unsigned int way;

	run_init(&r, 4);
	run_init(&s, 4);
	bound = bind_run(&r);
	MUST(!nnhal_device_open("sim", &other, NULL));
	device = other;
	model = prepare_on(other, &f);
	atomic_store(&other->num_stamps, bound_stamp(bound) - STAMP_FIRST);
	foreign = bind_run(&s);
	MUST(bound_stamp(foreign) == bound_stamp(bound));
	for (way = 3; way < WAYS; way++) {
		MUST(!run_bound(bound, way));
		ok(run_bound(foreign, way) == NNHAL_STATUS_INVALID_ARGUMENT &&
		   s.map[RUN_OUTPUT(0)] == 0xee, "bound on another device than the burst's, %s",
		   way_names[way]);
	}
	nnhal_bound_request_unref(foreign);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(other);
	device = mine;
	model = my_model;
	nnhal_bound_request_unref(bound);
	run_fini(&s);
	run_fini(&r);
}

/* A burst that always has a call at work gives slots between them. */
static void test_slot_wanted(void)
{
	struct nnhal_burst *mine = single;
	struct nnhal_device *own;
	struct run r;

	run_init(&r, 4);
	MUST(!nnhal_device_open("sim", &own, NULL));
	model = prepare_on(own, &f);
	single = open_burst(NNHAL_BURST_SINGLE_THREAD);
	MUST(!run_plain(&r.request, 4) && single->num_memories == 1);
	atomic_store(&single->owner, OWNER_QUICK);
	ok(!bind_table_ask_others(own->table, NULL) && single->num_memories == 1,
	   "no slot while a call is at work");
	atomic_store(&single->owner, OWNER_NONE);
	ok(!run_plain(&r.request, 4), "a call that ends");
	atomic_store(&single->owner, OWNER_QUICK);
	ok(bind_table_ask_others(own->table, NULL) && !single->num_memories,
	   "it has left a slot for who had asked, though the next call has begun");
	ok(!bind_table_ask_others(own->table, NULL), "one");
	atomic_store(&single->owner, OWNER_NONE);
	memset(r.map + RUN_OUTPUT(0), 0xee, 256);
	ok(!run_plain(&r.request, 4) && run_output_is_right(&r, 4) && !single->num_memories &&
	   !run_plain(&r.request, 4) && single->num_memories == 1, "and works on");
	nnhal_burst_unref(single);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(own);
	single = mine;
	run_fini(&r);
}

/* ---- arguments that change ---- */

static void test_offsets(void)
{
	struct nnhal_request_argument out, in;
	struct nnhal_bound_request *bound;
	unsigned int way, round;
	struct run r;
	bool good;

	run_init(&r, 4);
	bound = bind_run(&r);
	out = r.outputs[0];
	for (way = 0; way < WAYS; way++) {
		for (round = 0, good = bound; good && round < 40; round++) {
			out.location.offset = RUN_OUTPUT(round % 5);
			memset(r.map + 2048, 0xee, 2048);
			good = !nnhal_bound_request_set_output(bound, 0, &out) &&
			       !run_bound(bound, way);
			/* Where it was told to be, and nowhere else. */
			memmove(r.map + RUN_OUTPUT(0), r.map + RUN_OUTPUT(round % 5), 16);
			good = good && run_output_is_right(&r, 4) &&
			       r.map[RUN_OUTPUT(round % 5 + 1)] == 0xee;
		}
		ok(good, "%s: the output moves", way_names[way]);
	}
	in = r.inputs[0];
	out.location.offset = in.location.offset;
	ok(!nnhal_bound_request_set_output(bound, 0, &out), "an output where an input is");
	r.outputs[0] = out;
	for (way = 0; way < WAYS; way++)
		ok(run_plain(&r.request, way) == NNHAL_STATUS_INVALID_ARGUMENT &&
		   run_bound(bound, way) == NNHAL_STATUS_INVALID_ARGUMENT, "refused, %s",
		   way_names[way]);
	memcpy(r.map + RUN_INPUT(3), r.map + RUN_INPUT(0), 16);
	in.location.offset = RUN_INPUT(3);
	ok(!nnhal_bound_request_set_input(bound, 0, &in) && !run_bound(bound, 4) &&
	   !run_bound(bound, 0), "the input moves away, and it runs");
	memcpy(r.map + RUN_OUTPUT(0), r.map + RUN_INPUT(0), 16);
	ok(run_output_is_right(&r, 4), "and is right");
	ok(nnhal_bound_request_set_input(bound, 2, &in) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_bound_request_set_output(bound, 1, &in) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_bound_request_set_input(bound, 0, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_bound_request_set_input(NULL, 0, &in) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "arguments that do not exist");
	ok(!run_bound(bound, 3), "nothing has changed");
	nnhal_bound_request_unref(bound);
	run_fini(&r);
}

/* A location that is wrong, of each argument in turn, when nothing else has changed. */
static void test_locations(void)
{
	struct nnhal_request_argument *arg, was;
	struct nnhal_bound_request *bound;
	unsigned int i, place, way, refused = 0, right = 0;
	enum nnhal_status status;
	struct run r;

	run_init(&r, 4);
	bound = bind_run(&r);
	for (i = 0; i < 3; i++) {
		const uint32_t places[] = {
			4096 - 12, 4096, UINT32_MAX - 15,
			i < 2 ? RUN_OUTPUT(0) + 4 : RUN_INPUT(1) + 4,
		};

		arg = i < 2 ? &r.inputs[i] : &r.outputs[0];
		was = *arg;
		for (place = 0; place < ARRAY_SIZE(places); place++) {
			for (way = 0; way < WAYS; way++) {
				arg->location.offset = places[place];
				status = i < 2 ? nnhal_bound_request_set_input(bound, i, arg) :
						 nnhal_bound_request_set_output(bound, 0, arg);
				refused += !status &&
					   run_plain(&r.request, way) ==
						NNHAL_STATUS_INVALID_ARGUMENT &&
					   run_bound(bound, way) == NNHAL_STATUS_INVALID_ARGUMENT;
				*arg = was;
				status = i < 2 ? nnhal_bound_request_set_input(bound, i, arg) :
						 nnhal_bound_request_set_output(bound, 0, arg);
				right += !status && runs_well(bound, &r, way, 4);
			}
		}
	}
	ok(refused == 3 * 4 * WAYS, "outside the pool or on another argument: %u refused", refused);
	ok(right == 3 * 4 * WAYS, "and where it was it runs: %u", right);
	nnhal_bound_request_unref(bound);
	run_fini(&r);
}

/* A setter and the request itself get the same. */
static void set_all(struct nnhal_bound_request *bound, const struct run *r)
{
	MUST(!nnhal_bound_request_set_input(bound, 0, &r->inputs[0]) &&
	     !nnhal_bound_request_set_input(bound, 1, &r->inputs[1]) &&
	     !nnhal_bound_request_set_output(bound, 0, &r->outputs[0]));
}

static void test_shapes(void)
{
	static const uint32_t shapes[][2] = {
		{ 2, 2 }, { 3, 5 }, { 0, 2 }, { 1, 4 }, { 4, 4 }, { 7, 1 }, { 2, 2 },
	};
	static const uint32_t deep[9] = { 2, 2, 1, 1, 1, 1, 1, 1, 1 };
	struct nnhal_bound_request *bound;
	struct nnhal_output_shape shape;
	unsigned int way, i, same = 0;
	enum nnhal_status plain, mine;
	uint32_t num_shapes;
	struct run r;

	make_dynamic_add(&f, 2);
	open_model(&f);
	run_init(&r, 4);
	for (i = 0; i < 2; i++) {
		r.inputs[i].num_dimensions = 2;
		r.inputs[i].dimensions = r.dims[i];
		memcpy(r.dims[i], shapes[0], sizeof(shapes[0]));
	}
	bound = bind_run(&r);
	for (way = 0; way < WAYS; way++) {
		for (i = 0; i < ARRAY_SIZE(shapes); i++) {
			uint32_t count = shapes[i][0] * shapes[i][1];

			memcpy(r.dims[0], shapes[i], sizeof(shapes[i]));
			memcpy(r.dims[1], shapes[i], sizeof(shapes[i]));
			r.inputs[0].location.length = count * 4;
			r.inputs[1].location.length = count * 4;
			r.outputs[0].location.length = i == 4 ? 8 : count * 4;
			r.outputs[0].num_dimensions = i == 3 || way == 2 ? 2 : 0;
			r.outputs[0].dimensions = r.dims[0];
			set_all(bound, &r);
			plain = run_plain(&r.request, way);
			mine = run_bound(bound, way);
			same += plain == mine && run_bound(bound, way) == mine;
			if (plain != mine)
				tap_note("%s, shape %u: %s, but the request gets %s",
					 way_names[way], i, nnhal_status_name((int)mine),
					 nnhal_status_name((int)plain));
		}
	}
	ok(same == WAYS * ARRAY_SIZE(shapes), "each shape has the status of the request");
	r.outputs[0].num_dimensions = 0;
	/* One input only, of the same length as before: it has to be broadcast now. */
	r.inputs[0].location.length = 16;
	r.inputs[1].location.length = 16;
	r.outputs[0].location.length = 64;
	for (way = 0; way < 2; way++) {
		memcpy(r.dims[0], shapes[3], sizeof(shapes[3]));
		memcpy(r.dims[1], shapes[3], sizeof(shapes[3]));
		set_all(bound, &r);
		MUST(!run_bound(bound, way ? 4 : 0));
		r.dims[0][0] = 4;
		r.dims[0][1] = 1;
		MUST(!nnhal_bound_request_set_input(bound, 0, &r.inputs[0]));
		plain = way ? nnhal_burst_execute_bound(single, bound, NULL, &shape, &num_shapes,
							NULL) :
			      nnhal_bound_request_execute_synchronously(bound, NULL, &shape,
									&num_shapes, NULL);
		ok(!plain && num_shapes == 1 && shape.num_dimensions == 2 &&
		   shape.dimensions[0] == 4 && shape.dimensions[1] == 4,
		   "other dimensions of one input, %s: %u x %u", way_names[way ? 4 : 0],
		   shape.dimensions[0], shape.dimensions[1]);
	}
	memcpy(r.dims[0], shapes[1], sizeof(shapes[1]));
	memcpy(r.dims[1], shapes[1], sizeof(shapes[1]));
	r.inputs[0].location.length = r.inputs[1].location.length = 60;
	r.outputs[0].location.length = 60;
	set_all(bound, &r);
	/* The bound request has copies of the dimensions. */
	memset(r.dims, 0, sizeof(r.dims));
	ok(!nnhal_burst_execute_bound(single, bound, NULL, &shape, &num_shapes, NULL) &&
	   num_shapes == 1 && shape.is_sufficient && shape.num_dimensions == 2 &&
	   shape.dimensions[0] == 3 && shape.dimensions[1] == 5, "shape of the output");
	r.outputs[0].location.length = 8;
	MUST(!nnhal_bound_request_set_output(bound, 0, &r.outputs[0]));
	ok(nnhal_burst_execute_bound(single, bound, NULL, &shape, &num_shapes, NULL) ==
	   NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && num_shapes == 1 && !shape.is_sufficient,
	   "an output that is too short");
	r.inputs[0].num_dimensions = 9;
	r.inputs[0].dimensions = deep;
	ok(nnhal_bound_request_set_input(bound, 0, &r.inputs[0]) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "a rank that the model contradicts");
	r.inputs[0].num_dimensions = 2;
	r.inputs[0].dimensions = NULL;
	ok(nnhal_bound_request_set_input(bound, 0, &r.inputs[0]) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "dimensions that are missing");
	nnhal_bound_request_unref(bound);
	run_fini(&r);
	close_model();
	make_add_relu(&f);
	open_model(&f);
}

/* ---- slots ---- */

struct worker {
	pthread_t thread;
	struct nnhal_bound_request **bound;
	struct run *runs;
	unsigned int from, right;
};

static void *work(void *data)
{
	struct worker *w = data;
	unsigned int i;

	for (i = w->from; i < MANY; i += 4) {
		memset(w->runs[i].map + RUN_OUTPUT(0), 0xee, 64);
		w->right += !nnhal_bound_request_execute_synchronously(w->bound[i], NULL, NULL, NULL,
								       NULL) &&
			    run_output_is_right(&w->runs[i], 4);
	}
	return NULL;
}

static void test_many(void)
{
	struct nnhal_bound_request **bound = calloc(MANY, sizeof(*bound));
	struct run *runs = calloc(MANY, sizeof(*runs)), other;
	struct worker workers[4];
	unsigned int i, way, right;
	struct rlimit files;

	MUST(bound && runs && !getrlimit(RLIMIT_NOFILE, &files));
	files.rlim_cur = files.rlim_max;
	MUST(!setrlimit(RLIMIT_NOFILE, &files));
	if (files.rlim_cur < 2 * MANY) {
		tap_skip("%u memory objects: at most %lu files may be open", MANY,
			 (unsigned long)files.rlim_cur);
		free(runs);
		free(bound);
		return;
	}
	for (i = right = 0; i < MANY; i++) {
		run_init(&runs[i], 4);
		bound[i] = bind_run(&runs[i]);
		right += bound[i] != NULL;
	}
	ok(right == MANY, "%u of %u bound requests, each with memory of its own", right, MANY);
	for (way = 0; way < 5; way += 2) {
		for (i = right = 0; i < MANY; i++)
			right += runs_well(bound[i], &runs[i], way, 4);
		for (i = MANY; i--;)
			right += runs_well(bound[i], &runs[i], 4, 4);
		ok(right == 2 * MANY, "%s, and back in a burst of one thread: %u of %u",
		   way_names[way], right, 2 * MANY);
	}
	run_init(&other, 4);
	ok(!run_plain(&other.request, 0) && run_output_is_right(&other, 4) &&
	   !run_plain(&other.request, 3), "nobody is locked out");
	for (i = 0; i < 4; i++) {
		workers[i] = (struct worker){ .bound = bound, .runs = runs, .from = i };
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = right = 0; i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		right += workers[i].right;
	}
	ok(right == MANY, "four threads: %u of %u", right, MANY);
	for (i = 0; i < MANY; i++) {
		nnhal_bound_request_unref(bound[i]);
		run_fini(&runs[i]);
	}
	run_fini(&other);
	free(runs);
	free(bound);
}

/* ---- lifetimes ---- */

static void test_release(void)
{
	struct callback_result result = CALLBACK_RESULT_INIT;
	struct nnhal_device *own = test_device_open(), *all = device;
	struct nnhal_prepared_model *mine = model;
	struct nnhal_burst *before = single;
	struct nnhal_bound_request *bound;
	enum nnhal_status launch;
	struct run r;

	model = prepare_on(own, &f);
	single = open_burst(NNHAL_BURST_SINGLE_THREAD);
	run_init(&r, 4);
	bound = bind_run(&r);
	/* The mapping is that of the memory object; keep one of the test. */
	nnhal_memory_ref(r.memory);
	nnhal_memory_unref(r.memory);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(own);
	nnhal_memory_unref(r.memory);
	ok(runs_well(bound, &r, 0, 4) && runs_well(bound, &r, 4, 4),
	   "memory, model and device are released while bound");
	launch = nnhal_bound_request_execute(nnhal_bound_request_ref(bound), NULL,
					     callback_executed, &result);
	nnhal_bound_request_unref(bound);
	ok(!callback_wait(&result, launch), "released while it runs");
	/* What a place in the burst has seen must not be taken for a new bound request. */
	ok(!nnhal_burst_submit_bound(single, bound, NULL, 1, 0), "submitted");
	nnhal_bound_request_unref(bound);
	ok(!take_one(single), "and released before the result");
	nnhal_burst_unref(single);
	single = before;
	model = mine;
	device = all;
	r.memory = NULL;
	run_fini(&r);
}

/* Bound requests at one address after the other, with different memory. */
static void test_address(void)
{
	struct nnhal_bound_request *bound;
	unsigned int i, right = 0;
	struct run r[2];

	run_init(&r[0], 4);
	run_init(&r[1], 4);
	for (i = 0; i < 100; i++) {
		bound = bind_run(&r[i % 2]);
		right += runs_well(bound, &r[i % 2], 4, 4) && runs_well(bound, &r[i % 2], 3, 4);
		nnhal_bound_request_unref(bound);
	}
	ok(right == 100, "a stamp is never that of another request: %u of 100", right);
	run_fini(&r[0]);
	run_fini(&r[1]);
}

/* ---- buffers ---- */

static void test_buffers(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_buffer_state state = NNHAL_BUFFER_STATE_INIT;
	struct nnhal_buffer *in, *out;
	struct nnhal_bound_request *bound;
	struct nnhal_memory *memory;
	unsigned int way;
	uint32_t tokens[2];
	struct run r;
	bool good;

	run_init(&r, 4);
	MUST(!nnhal_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0, &in, &tokens[0],
				    NULL) &&
	     !nnhal_device_allocate(device, &desc, &model, 1, NULL, 0, &role, 1, &out, &tokens[1],
				    NULL));
	MUST(!nnhal_memory_create(16, &memory, NULL));
	memcpy(nnhal_memory_map(memory, NULL), r.map + RUN_INPUT(0), 16);
	r.pools[1] = (struct nnhal_request_pool){ .token = tokens[0] };
	r.pools[2] = (struct nnhal_request_pool){ .token = tokens[1] };
	r.request.num_pools = 3;
	r.inputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	r.outputs[0].location = (struct nnhal_data_location){ 2, 0, 0 };
	bound = bind_run(&r);
	ok(bound, "a buffer without content may be bound");
	for (way = 0; way < WAYS; way++)
		ok(run_bound(bound, way) == NNHAL_STATUS_GENERAL_FAILURE,
		   "no content, %s", way_names[way]);
	MUST(!nnhal_buffer_copy_from(in, memory, NULL, 0, NULL));
	for (way = 0, good = true; way < WAYS; way++) {
		good = good && !run_bound(bound, way) && !nnhal_buffer_get_state(out, &state) &&
		       state.is_initialized;
		memset(nnhal_memory_map(memory, NULL), 0, 16);
		good = good && !nnhal_buffer_copy_to(out, memory, NULL);
		memcpy(r.map + RUN_OUTPUT(0), nnhal_memory_map(memory, NULL), 16);
		good = good && run_output_is_right(&r, 4);
	}
	ok(good, "with content it runs in every way");
	nnhal_buffer_unref(in);
	ok(run_plain(&r.request, 0) == NNHAL_STATUS_INVALID_ARGUMENT && !run_bound(bound, 0) &&
	   !run_bound(bound, 4), "the token names nothing any more, the bound request runs");
	nnhal_bound_request_unref(bound);
	nnhal_buffer_unref(out);
	nnhal_memory_unref(memory);
	run_fini(&r);
}

/* What another execution is about to write is content only for those that may wait for it. */
static void test_early(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_fenced_callback *callback;
	struct nnhal_bound_request *bound;
	int gate, signal, fence;
	struct nnhal_buffer *buffer;
	unsigned int way, early = 0, late = 0;
	struct run from, to;
	uint32_t token;

	/* With others the kernel would have to have vgem; nothing of this is the driver's. */
	if (!(device->transport->limits.fence_kinds & FENCE_SOCKET))
		return;
	MUST(!nnhal_device_allocate(device, &desc, &model, 1, &role, 1, &role, 1, &buffer, &token,
				    NULL));
	MUST(!nnhal_fence_create(&gate, &signal));
	run_init(&to, 4);
	to.pools[1] = (struct nnhal_request_pool){ .token = token };
	to.request.num_pools = 2;
	to.outputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	MUST(!nnhal_prepared_model_execute_fenced(model, &to.request, &gate, 1, NULL, &fence,
						  &callback));
	run_init(&from, 4);
	from.pools[1] = (struct nnhal_request_pool){ .token = token };
	from.request.num_pools = 2;
	from.inputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	bound = bind_run(&from);
	for (way = 0; way < WAYS; way++)
		if (way != 2)
			early += run_bound(bound, way) == NNHAL_STATUS_GENERAL_FAILURE;
	ok(early == WAYS - 1, "%u ways have no content before the end of who writes it", early);
	nnhal_fence_signal(signal, 0);
	MUST(!await_fenced(NNHAL_STATUS_NONE, fence, callback));
	for (way = 0; way < WAYS; way++)
		late += !run_bound(bound, way);
	ok(late == WAYS, "%u have it after that", late);
	nnhal_bound_request_unref(bound);
	nnhal_buffer_unref(buffer);
	run_fini(&from);
	run_fini(&to);
	close(gate);
	close(signal);
}

/* ---- threads ---- */

static atomic_bool stop;

struct user {
	pthread_t thread;
	struct nnhal_bound_request *bound;
	unsigned int way, refused, wrong;
	atomic_uint runs;
};

static void *use(void *data)
{
	struct user *u = data;
	enum nnhal_status status;

	while (!atomic_load(&stop)) {
		status = run_bound(u->bound, u->way);
		if (!status)
			atomic_fetch_add(&u->runs, 1);
		u->refused += status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		u->wrong += status && status != NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	return NULL;
}

/* Has each thread of a way that anybody may take come to a run, and one of the others? */
static bool all_ran(struct user *users, const unsigned int *ways, unsigned int count)
{
	unsigned int i, single = 0;

	for (i = 0; i < count; i++) {
		if (ways[i] < 4 && !atomic_load(&users[i].runs))
			return false;
		single += ways[i] >= 4 && atomic_load(&users[i].runs);
	}
	return single;
}

/* Runs from many threads while another one moves the output; one burst is for one thread only. */
static void test_threads(void)
{
	static const unsigned int ways[] = { 0, 1, 2, 3, 3, 4, 4, 5 };
	struct user users[ARRAY_SIZE(ways)];
	struct nnhal_bound_request *bound;
	struct nnhal_request_argument out;
	unsigned int i, runs = 0, wrong = 0, refused = 0, idle = 0;
	struct run r;

	run_init(&r, 4);
	bound = bind_run(&r);
	out = r.outputs[0];
	atomic_store(&stop, false);
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		users[i] = (struct user){ .bound = bound, .way = ways[i] };
		pthread_create(&users[i].thread, NULL, use, &users[i]);
	}
	/* On a busy machine a thread may begin late. */
	for (i = 0; i < 500 || (i < 300000 && !all_ran(users, ways, ARRAY_SIZE(ways))); i++) {
		out.location.offset = RUN_OUTPUT(i % 4);
		nnhal_bound_request_set_output(bound, 0, &out);
		usleep(200);
	}
	atomic_store(&stop, true);
	for (i = 0; i < ARRAY_SIZE(ways); i++) {
		pthread_join(users[i].thread, NULL);
		wrong += users[i].wrong;
		if (ways[i] < 4) {
			idle += !users[i].runs;
			refused += users[i].refused;
		} else {
			runs += users[i].runs;
		}
	}
	/* Of those that share the burst for one thread, each may always come at the wrong time. */
	ok(!wrong && !refused && !idle && runs,
	   "threads share a bound request: %u wrong, %u refused, %u without a run", wrong, refused,
	   idle);
	nnhal_bound_request_unref(bound);
	run_fini(&r);
}

/* ---- the ends ---- */

static void test_child(void)
{
	struct nnhal_bound_request *bound, *other;
	unsigned int way, bad;
	struct run r;
	int status;
	pid_t pid;

	run_init(&r, 4);
	bound = bind_run(&r);
	MUST(!run_bound(bound, 4));
	pid = fork();
	if (!pid) {
		for (way = bad = 0; way < WAYS; way++)
			bad += run_bound(bound, way) != NNHAL_STATUS_DEVICE_UNAVAILABLE;
		bad += nnhal_bound_request_set_input(bound, 0, &r.inputs[0]) !=
		       NNHAL_STATUS_DEVICE_UNAVAILABLE;
		bad += nnhal_bound_request_create(model, &r.request, NULL, &other) !=
		       NNHAL_STATUS_DEVICE_UNAVAILABLE;
		nnhal_bound_request_unref(bound);
		_exit((int)bad);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	   "a child gets DEVICE_UNAVAILABLE and may release it");
	ok(runs_well(bound, &r, 0, 4) && runs_well(bound, &r, 4, 4), "the parent's works");
	nnhal_bound_request_unref(bound);
	run_fini(&r);
}

static void test_loss(void)
{
	struct nnhal_bound_request *bound;
	enum nnhal_status plain, mine;
	struct nnhal_device *all = device;
	unsigned int way;
	struct run r;

	/* Also beside a hardware device, which nnhal_faults_test takes away. */
	MUST(!nnhal_device_open("sim:faults", &device, NULL));
	close_model();
	open_model(&f);
	run_init(&r, 4);
	bound = bind_run(&r);
	MUST(!run_bound(bound, 3) && !run_bound(bound, 4));
	transport_sim_inject(device->transport, NNPU_INJECT_FATAL, 1);
	ok(run_bound(bound, 4) == NNHAL_STATUS_GENERAL_FAILURE, "the device is lost in a run");
	for (way = 0; way < WAYS; way++) {
		/* The first call in a burst may find its requests ended. */
		run_plain(&r.request, way);
		plain = run_plain(&r.request, way);
		mine = run_bound(bound, way);
		ok(mine && mine == plain, "then %s, %s",
		   nnhal_status_name((int)mine), way_names[way]);
	}
	nnhal_bound_request_unref(bound);
	run_fini(&r);
	close_model();
	nnhal_device_unref(device);
	device = all;
	open_model(&f);
}

/* Bursts that submit through the driver: the same. */
static void test_without_queues(void)
{
	struct nnhal_device *all = device;

	MUST(!nnhal_device_open("sim:noqueues", &device, NULL));
	close_model();
	open_model(&f);
	test_ways();
	test_other_model();
	test_offsets();
	test_locations();
	close_model();
	nnhal_device_unref(device);
	device = all;
	open_model(&f);
}

int main(void)
{
	device = test_device_open();
	make_add_relu(&f);
	open_model(&f);
	test_ways();
	test_refused();
	test_rank();
	test_other_model();
	test_other_device();
	close_model();
	test_slot_wanted();
	open_model(&f);
	test_offsets();
	close_model();
	test_shapes();
	test_many();
	test_release();
	test_address();
	test_buffers();
	test_early();
	test_threads();
	test_child();
	test_loss();
	test_without_queues();
	close_model();
	nnhal_device_unref(device);
	return tap_done();
}
