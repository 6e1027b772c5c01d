// SPDX-License-Identifier: MIT
/*
 * Deadlines: of models and executions that are late before they begin, and of executions that
 * the device has to end.
 */
#include <string.h>
#include <time.h>

#include <drm/nnpu_program.h>

#include "base/monotonic.h"
#include "device/device_private.h"
#include "nnhal_fixture.h"
#include "transport/transport.h"

#define MS	UINT64_C(1000000)
#define FAR	(UINT64_C(600) * 1000 * MS)

static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct fixture f;
static struct run r;

static void prepare(void)
{
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
		printf("Bail out! model cannot be prepared\n");
		exit(1);
	}
}

static bool is_missed(enum nnhal_status status)
{
	return status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT ||
	       status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
}

static struct nnhal_execute_options in_time(uint64_t ns)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.has_deadline = true;
	o.deadline_ns = monotonic_ns() + ns;
	o.diag = &r.diag;
	return o;
}

static enum nnhal_status execute(const struct nnhal_execute_options *o)
{
	return nnhal_prepared_model_execute_synchronously(model, &r.request, o, r.shapes,
							  &r.num_shapes, &r.timing);
}

static enum nnhal_status execute_async(const struct nnhal_execute_options *o)
{
	struct callback_result c = CALLBACK_RESULT_INIT;

	return callback_wait(&c, nnhal_prepared_model_execute(model, &r.request, o,
							      callback_executed, &c));
}

/* With the status NONE there is a result, with a missed deadline there is nothing. */
static bool is_whole(enum nnhal_status status)
{
	bool no_timing = r.timing.time_on_device == NNHAL_NO_TIMING &&
			 r.timing.time_in_driver == NNHAL_NO_TIMING;

	if (!status)
		return no_timing && r.num_shapes == 1 && r.shapes[0].is_sufficient &&
		       r.shapes[0].num_dimensions == 2 && run_output_is_right(&r, 4);
	return is_missed(status) && no_timing && !r.num_shapes;
}

static void test_prepare(void)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *m;
	struct callback_result c = CALLBACK_RESULT_INIT;
	enum nnhal_status status;
	unsigned int i;

	make_add_relu(&f);
	for (i = 0; i < 2; i++) {
		o.has_deadline = true;
		o.deadline_ns = monotonic_ns() + i * 5 * MS;
		status = nnhal_device_prepare_model_sync(device, &f.model, &o, &m);
		ok(!status == !!m && (!status || is_missed(status)) && (i || status),
		   "K02 deadline now + %u ms: %s", i * 5, nnhal_status_name(status));
		nnhal_prepared_model_unref(m);
		o.deadline_ns = monotonic_ns() + i * 5 * MS;
		c.calls = 0;
		status = callback_wait(&c, nnhal_device_prepare_model(device, &f.model, &o,
								      callback_prepared, &c));
		ok(!status == !!c.model && (!status || is_missed(status)) && (i || status),
		   "K02 the same, asynchronous: %s", nnhal_status_name(status));
		nnhal_prepared_model_unref(c.model);
		c.model = NULL;
	}
}

static void test_soon(void)
{
	struct nnhal_execute_options o;
	struct nnhal_burst *burst;
	enum nnhal_status status;
	unsigned int i;

	make_add_relu(&f);
	prepare();
	run_init(&r, 4);
	for (i = 0; i < 2; i++) {
		o = in_time(i * 5 * MS);
		status = execute(&o);
		ok(is_whole(status) && (i || status), "K04 K06 deadline now + %u ms: %s", i * 5,
		   nnhal_status_name(status));
		o = in_time(i * 5 * MS);
		status = execute_async(&o);
		ok((!status || is_missed(status)) && (i || status), "K04 the same, asynchronous: %s",
		   nnhal_status_name(status));
	}
	o = in_time(FAR);
	ok(!execute(&o) && is_whole(NNHAL_STATUS_NONE), "K05 a far one");
	burst = NULL;
	ok(!nnhal_burst_create(model, NULL, &burst), "a burst");
	for (i = 0; i < 2; i++) {
		o = in_time(i * 5 * MS);
		status = nnhal_burst_execute(burst, &r.request, &o, r.shapes, &r.num_shapes,
					     &r.timing);
		ok(is_whole(status) && (i || status), "K04 a burst, now + %u ms: %s", i * 5,
		   nnhal_status_name(status));
	}
	o = in_time(FAR);
	ok(!nnhal_burst_execute(burst, &r.request, &o, NULL, NULL, NULL), "K05 a burst, far");
	nnhal_burst_unref(burst);
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

static float *value(unsigned int offset)
{
	return (float *)(r.map + offset);
}

/* While -1 < 0: ... */
static void never_ends(void)
{
	*value(RUN_INPUT(0)) = -1;
	*value(RUN_INPUT(1)) = 0;
}

static bool ends_well(struct nnhal_burst *burst, const struct nnhal_execute_options *o)
{
	enum nnhal_status status;

	*value(RUN_INPUT(0)) = 1;
	*value(RUN_INPUT(1)) = 20;
	*value(RUN_OUTPUT(0)) = 0;
	status = burst ? nnhal_burst_execute(burst, &r.request, o, NULL, NULL, NULL) : execute(o);
	return !status && *value(RUN_OUTPUT(0)) == 21;
}

enum way { BY_CALL, BY_CALLBACK, BY_BURST };

/*
 * A loop that never ends, with a deadline. Where other programs have the processor it may pass before
 * the call looks at it: then nothing runs, and a later one is tried. Had the loop timeout ended the
 * loop, the status would be MISSED_DEADLINE_PERSISTENT, too, but after that time only.
 */
static enum nnhal_status run_late(struct nnhal_burst *burst, enum way way, bool measure,
				  struct nnhal_execute_options *o)
{
	enum nnhal_status status;
	uint64_t ns = 20 * MS;

	do {
		never_ends();
		*o = in_time(ns);
		o->measure = measure ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
		o->has_loop_timeout = true;
		o->loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
		if (way == BY_CALL)
			status = execute(o);
		else if (way == BY_CALLBACK)
			status = execute_async(o);
		else
			status = nnhal_burst_execute(burst, &r.request, o, r.shapes, &r.num_shapes,
						     &r.timing);
		ns *= 4;
	} while (status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT && ns < 4000 * MS);
	return status;
}

static void test_running(void)
{
	struct nnhal_execute_options o;
	enum nnhal_status status;
	struct nnhal_burst *burst = NULL;
	uint32_t i;

	make_while(&f);
	prepare();
	run_init(&r, 1);
	ok(!nnhal_burst_create(model, NULL, &burst), "a burst");
	for (i = 0; i < 2; i++) {
		status = run_late(burst, BY_CALL, i, &o);
		ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && !r.num_shapes &&
		   r.timing.time_on_device == NNHAL_NO_TIMING && monotonic_ns() >= o.deadline_ns,
		   "D27 the device ends a loop at its deadline: %s", r.diag.message);
		status = run_late(burst, BY_CALLBACK, i, &o);
		ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "D27 asynchronous: %s",
		   nnhal_status_name(status));
		status = run_late(burst, BY_BURST, i, &o);
		ok(status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT && !r.num_shapes,
		   "D27 in a burst: %s", nnhal_status_name(status));
		ok(ends_well(burst, NULL), "the next one of the burst has no deadline");
		o = in_time(FAR);
		ok(ends_well(burst, &o) && ends_well(NULL, &o), "or another one");
		ok(ends_well(NULL, NULL), "K08 the next one is not concerned");
	}
	nnhal_burst_unref(burst);
	run_fini(&r);
	nnhal_prepared_model_unref(model);
}

/* A request of a burst that takes the place of one with a deadline has none itself. */
static void test_places(void)
{
	struct nnhal_execute_options o;
	struct nnhal_burst *burst = NULL;
	struct run other;
	unsigned int i, good = 0;

	make_add_relu(&f);
	prepare();
	run_init(&r, 4);
	run_init(&other, 4);
	ok(!nnhal_burst_create(model, NULL, &burst), "a burst");
	for (i = 0; i < 8; i++) {
		o = in_time(5 * MS);
		nnhal_burst_execute(burst, &r.request, &o, NULL, NULL, NULL);
		while (!deadline_passed(true, o.deadline_ns))
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		good += !nnhal_burst_execute(burst, i % 2 ? &r.request : &other.request, NULL, NULL,
					     NULL, NULL);
	}
	ok(good == 8, "%u of 8 requests without a deadline after one with", good);
	nnhal_burst_unref(burst);
	run_fini(&r);
	run_fini(&other);
	nnhal_prepared_model_unref(model);
}

int main(void)
{
	device = test_device_open();
	if (!device_root(device)->transport->limits.has_deadlines) {
		nnhal_device_unref(device);
		tap_skip_all("a device without deadlines");
	}
	test_prepare();
	test_soon();
	test_running();
	test_places();
	nnhal_device_unref(device);
	return tap_done();
}
