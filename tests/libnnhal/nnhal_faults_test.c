// SPDX-License-Identifier: MIT
/*
 * Faults of a hardware device. Each execution ends with a definite status, and the next one
 * tells whether the context or the whole device is lost. Needs a device with fault injection,
 * the debugfs of its driver, and root. At the end the device is unbound from its driver and
 * bound again.
 */
#include <poll.h>
#include <pthread.h>

#include <nnpu_hw.h>

#include "hardware_rig.h"

static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct fixture f;
static struct run r;

static bool open_all(void)
{
	return !nnhal_device_open("drm", &device, &r.diag) &&
	       !nnhal_device_prepare_model_sync(device, &f.model, NULL, &model);
}

static void close_all(void)
{
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	model = NULL;
	device = NULL;
}

static enum nnhal_status execute(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.diag = &r.diag;
	o.measure = NNHAL_MEASURE_YES;
	return nnhal_prepared_model_execute_synchronously(model, &r.request, &o, r.shapes,
							  &r.num_shapes, &r.timing);
}

/* One execution with a fault: @expected. Then the context is well, or lost. */
static void test_fault(const char *name, unsigned int kind, enum nnhal_status expected,
		       bool context_lost)
{
	struct nnhal_prepared_model *other = NULL;
	enum nnhal_status status, next;

	if (!ok(open_all() && !execute(), "%s: a good execution before", name)) {
		close_all();
		return;
	}
	ok(inject(kind, 1), "%s: injected", name);
	status = execute();
	ok(status == expected && !r.num_shapes == !!status, "H09 %s: %s: %s", name,
	   nnhal_status_name((int)status), r.diag.message);
	next = execute();
	if (context_lost) {
		ok(next == NNHAL_STATUS_DEAD_OBJECT, "H09 %s: then %s", name,
		   nnhal_status_name((int)next));
		next = nnhal_device_prepare_model_sync(device, &f.model, NULL, &other);
		ok(next == NNHAL_STATUS_DEAD_OBJECT && !other, "H09 %s: preparing: %s", name,
		   nnhal_status_name((int)next));
		ok(nnhal_device_get_status(device) == NNHAL_DEVICE_OFFLINE,
		   "H09 %s: device reads OFFLINE until it is opened again", name);
	} else {
		ok(!next, "H09 %s: then NONE", name);
		ok(nnhal_device_get_status(device) == NNHAL_DEVICE_AVAILABLE,
		   "H09 %s: device is available", name);
	}
	inject(kind, 0);
	close_all();
	ok(open_all() && !execute() && run_output_is_right(&r, 4), "H09 %s: opened again", name);
	close_all();
}

static enum nnhal_status execute_burst(struct nnhal_burst *burst)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.diag = &r.diag;
	return nnhal_burst_execute(burst, &r.request, &o, r.shapes, &r.num_shapes, &r.timing);
}

/* A fault under a burst with a request behind the one that meets it. */
static void test_burst_fault(const char *name, unsigned int kind, enum nnhal_status expected,
			     bool context_lost)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct nnhal_burst *burst = NULL;
	enum nnhal_status first, second, next;

	if (!ok(open_all() && !nnhal_burst_create(model, NULL, &burst) && !execute_burst(burst),
		"burst, %s: a good request before", name)) {
		nnhal_burst_unref(burst);
		close_all();
		return;
	}
	ok(inject(kind, 1), "burst, %s: injected", name);
	ok(!nnhal_burst_submit(burst, &r.request, NULL, 1, 0) &&
	   !nnhal_burst_submit(burst, &r.request, NULL, 2, 0), "burst, %s: two requests", name);
	first = nnhal_burst_wait(burst, &result, UINT64_MAX);
	first = first || result.tag != 1 ? NNHAL_STATUS_INVALID_ARGUMENT : result.status;
	second = nnhal_burst_wait(burst, &result, UINT64_MAX);
	second = second || result.tag != 2 ? NNHAL_STATUS_INVALID_ARGUMENT : result.status;
	ok(first == expected && second == (context_lost ? expected : NNHAL_STATUS_NONE),
	   "H09 burst, %s: %s, the one behind it %s", name, nnhal_status_name((int)first),
	   nnhal_status_name((int)second));
	next = execute_burst(burst);
	ok(next == (context_lost ? NNHAL_STATUS_DEAD_OBJECT : NNHAL_STATUS_NONE),
	   "H09 burst, %s: then %s: %s", name, nnhal_status_name((int)next), r.diag.message);
	inject(kind, 0);
	nnhal_burst_unref(burst);
	close_all();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static unsigned int calls, failures;

static void on_executed(void *context, enum nnhal_status status,
			const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			const struct nnhal_timing *timing)
{
	(void)context;
	(void)shapes;
	pthread_mutex_lock(&lock);
	calls++;
	failures += status == NNHAL_STATUS_GENERAL_FAILURE && !num_shapes &&
		    timing->time_on_device == NNHAL_NO_TIMING;
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&lock);
}

static void count_death(void *context)
{
	++*(unsigned int *)context;
}

/* Watches notice a loss by themselves, resilient objects connect anew when the device is back. */
static void test_resilience(void)
{
	struct nnhal_resilient_device *resilient = NULL;
	struct nnhal_resilient_model *prepared = NULL;
	struct nnhal_resilient_burst *burst = NULL;
	struct nnhal_death_watch *watch = NULL;
	char path[sizeof(driver_dir) + 8];
	struct nnhal_device *lost = NULL;
	enum nnhal_status status;
	unsigned int deaths = 0;
	struct pollfd p;

	if (!ok(!nnhal_resilient_device_create("drm", NULL, NULL, &resilient, &r.diag) &&
		!nnhal_resilient_device_prepare_model(resilient, &f.model, NULL, &prepared) &&
		!nnhal_resilient_burst_create(prepared, NULL, &burst) &&
		!nnhal_resilient_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
		(lost = nnhal_resilient_device_get(resilient)) &&
		!nnhal_death_watch_create(lost, count_death, &deaths, &watch, &r.diag),
		"resilience: a watch, a model and a burst: %s", r.diag.message))
		return;
	p = (struct pollfd){ .fd = nnhal_death_watch_fd(watch), .events = POLLIN };
	ok(!poll(&p, 1, 0) && !nnhal_death_watch_dispatch(watch), "H04 resilience: nothing to tell");
	snprintf(path, sizeof(path), "%s/unbind", driver_dir);
	ok(write_file(path, bus_name) && poll(&p, 1, -1) == 1 && !deaths,
	   "H04 resilience: the descriptor tells of the removal by itself");
	ok(nnhal_death_watch_dispatch(watch) == NNHAL_STATUS_DEAD_OBJECT &&
	   nnhal_death_watch_dispatch(watch) == NNHAL_STATUS_DEAD_OBJECT && deaths == 1,
	   "H04 resilience: one callback");
	nnhal_death_watch_destroy(watch);
	status = nnhal_resilient_model_execute(prepared, &r.request, NULL, NULL, NULL, NULL);
	ok(status == NNHAL_STATUS_DEVICE_UNAVAILABLE || status == NNHAL_STATUS_DEAD_OBJECT,
	   "H07 resilience: no device: %s", nnhal_status_name((int)status));
	snprintf(path, sizeof(path), "%s/bind", driver_dir);
	memset(r.map + RUN_OUTPUT(0), 0xee, 16);
	ok(write_file(path, bus_name) &&
	   !nnhal_resilient_model_execute(prepared, &r.request, NULL, NULL, NULL, NULL) &&
	   run_output_is_right(&r, 4), "H07 resilience: bound again, the model works again");
	memset(r.map + RUN_OUTPUT(0), 0xee, 16);
	ok(!nnhal_resilient_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
	   run_output_is_right(&r, 4), "H07 resilience: and the burst");
	nnhal_resilient_burst_unref(burst);
	nnhal_resilient_model_unref(prepared);
	nnhal_resilient_device_unref(resilient);
	nnhal_device_unref(lost);
}

/* The driver is unbound while executions are pending behind one that hangs. */
static void test_removal(void)
{
	enum { PENDING = 5 };
	struct nnhal_prepared_model *other = NULL;
	struct nnhal_burst *burst = NULL;
	enum nnhal_status status;
	bool supported[2];
	char path[sizeof(driver_dir) + 8];
	unsigned int i, launched = 0;

	if (!ok(open_all() && !nnhal_burst_create(model, NULL, &burst) && !execute_burst(burst) &&
		inject(NNPU_INJECT_JOB_STALL, 1), "removal: device with a burst and a hang"))
		return;
	for (i = 0; i < PENDING; i++)
		launched += !nnhal_prepared_model_execute(model, &r.request, NULL, on_executed,
							  NULL);
	snprintf(path, sizeof(path), "%s/unbind", driver_dir);
	ok(launched == PENDING && write_file(path, bus_name),
	   "removal: driver unbound with %u executions pending", launched);
	pthread_mutex_lock(&lock);
	while (calls < launched)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	ok(calls == PENDING && failures == PENDING,
	   "H03 H09 removal: %u callbacks, %u of them GENERAL_FAILURE", calls, failures);
	/* It learns of that with its next request, or with one in flight. */
	status = execute_burst(burst);
	ok((status == NNHAL_STATUS_GENERAL_FAILURE ||
	    status == NNHAL_STATUS_DEVICE_UNAVAILABLE) &&
	   execute_burst(burst) == NNHAL_STATUS_DEVICE_UNAVAILABLE,
	   "H09 removal: a burst that was at rest: %s, then %s", nnhal_status_name((int)status),
	   r.diag.message);
	nnhal_burst_unref(burst);
	ok(execute() == NNHAL_STATUS_DEVICE_UNAVAILABLE, "H09 removal: the next execution: %s",
	   r.diag.message);
	ok(nnhal_device_prepare_model_sync(device, &f.model, NULL, &other) ==
	   NNHAL_STATUS_DEVICE_UNAVAILABLE &&
	   nnhal_device_get_supported_operations(device, &f.model, supported, 2, NULL) ==
	   NNHAL_STATUS_DEVICE_UNAVAILABLE, "H09 removal: preparing and asking");
	ok(nnhal_device_get_status(device) == NNHAL_DEVICE_OFFLINE, "H09 removal: OFFLINE");
	close_all();
	ok(nnhal_device_open("drm", &device, &r.diag) == NNHAL_STATUS_NO_DEVICE,
	   "removal: opening: %s", r.diag.message);
	snprintf(path, sizeof(path), "%s/bind", driver_dir);
	ok(write_file(path, bus_name) && open_all() && !execute(),
	   "removal: bound again, it works again");
	close_all();
}

int main(void)
{
	must_find_device();
	make_add_relu(&f);
	run_init(&r, 4);
	test_fault("hang", NNPU_INJECT_JOB_STALL, NNHAL_STATUS_GENERAL_FAILURE, false);
	test_fault("access error", NNPU_INJECT_DMA_ERROR, NNHAL_STATUS_GENERAL_FAILURE, false);
	test_fault("lost interrupt", NNPU_INJECT_LOST_IRQ, NNHAL_STATUS_NONE, false);
	test_fault("slow job", NNPU_INJECT_JOB_SLOW, NNHAL_STATUS_NONE, false);
	test_fault("hang that needs a reset", NNPU_INJECT_JOB_STUCK,
		   NNHAL_STATUS_GENERAL_FAILURE, true);
	test_fault("fatal error", NNPU_INJECT_FATAL, NNHAL_STATUS_GENERAL_FAILURE, true);
	test_burst_fault("hang", NNPU_INJECT_JOB_STALL, NNHAL_STATUS_GENERAL_FAILURE, false);
	test_burst_fault("access error", NNPU_INJECT_DMA_ERROR, NNHAL_STATUS_GENERAL_FAILURE,
			 false);
	test_burst_fault("lost interrupt", NNPU_INJECT_LOST_IRQ, NNHAL_STATUS_NONE, false);
	test_burst_fault("slow job", NNPU_INJECT_JOB_SLOW, NNHAL_STATUS_NONE, false);
	test_burst_fault("fatal error", NNPU_INJECT_FATAL, NNHAL_STATUS_GENERAL_FAILURE, true);
	test_removal();
	test_resilience();
	run_fini(&r);
	return tap_done();
}
