// SPDX-License-Identifier: MIT
/*
 * Synchronous executions on queues that the library has for itself: when they take one, and that
 * nobody can tell but by the time.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnpu_hw.h>

#include "burst/burst_private.h"
#include "device/device_private.h"
#include "execution/prepared_model_private.h"
#include "nnhal_fixture.h"
#include "transport/transport.h"

#define NUM_THREADS	8
#define NUM_RUNS	200

static const char *spec;
static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;

/* The transport, with calls counted, and as many queues as a test says. */
static const struct transport_ops *real;
static struct transport_ops counting;
static atomic_uint submits, creates, destroys;
static unsigned int max_queues;

static int count_submit(struct transport *t, const struct transport_job *job)
{
	atomic_fetch_add(&submits, 1);
	return real->submit(t, job);
}

static int count_create(struct transport *t, uint32_t priority, struct transport_queue **queue)
{
	int err;

	if (atomic_load(&creates) - atomic_load(&destroys) >= max_queues)
		return -ENOSPC;
	err = real->queue_create(t, priority, queue);
	if (!err)
		atomic_fetch_add(&creates, 1);
	return err;
}

static void count_destroy(struct transport *t, struct transport_queue *queue)
{
	atomic_fetch_add(&destroys, 1);
	real->queue_destroy(t, queue);
}

static bool open_model(const char *name, struct nnhal_prepare_options *options)
{
	if (!ok(!nnhal_device_open(name, &device, NULL), "%s: opened", name))
		return false;
	real = device->transport->ops;
	counting = *real;
	counting.submit = count_submit;
	counting.queue_create = count_create;
	counting.queue_destroy = count_destroy;
	device->transport->ops = &counting;
	atomic_store(&submits, 0);
	atomic_store(&creates, 0);
	atomic_store(&destroys, 0);
	max_queues = 100;
	return ok(!nnhal_device_prepare_model_sync(device, &f.model, options, &model),
		  "%s: prepared", name);
}

static void close_model(void)
{
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	ok(atomic_load(&creates) == atomic_load(&destroys), "all queues are destroyed: %u",
	   atomic_load(&creates));
}

static struct own_queue *own_queue(void)
{
	return &device->own_queues.queues[model->priority];
}

static enum nnhal_status execute(struct run *r, const struct nnhal_execute_options *o)
{
	return nnhal_prepared_model_execute_synchronously(model, &r->request, o, r->shapes,
							  &r->num_shapes, &r->timing);
}

static unsigned int execute_many(struct run *r, unsigned int count)
{
	unsigned int i, good = 0;

	for (i = 0; i < count; i++) {
		memset(r->map + RUN_OUTPUT(0), 0xee, 16);
		good += !execute(r, NULL) && run_output_is_right(r, 4);
	}
	return good;
}

/* An idle queue is taken; without one the driver runs the job. */
static void test_taken(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	unsigned int before;
	struct run r;

	if (!open_model(spec, NULL))
		return;
	run_init(&r, 4);
	/* More than the rings have entries. */
	ok(execute_many(&r, NUM_RUNS) == NUM_RUNS && !atomic_load(&submits) &&
	   atomic_load(&creates) == 1, "one queue, no SUBMIT for %u executions", NUM_RUNS);
	pthread_mutex_lock(&own_queue()->lock);
	ok(execute_many(&r, 3) == 3 && atomic_load(&submits) == 3 && atomic_load(&creates) == 1,
	   "it is busy: SUBMIT");
	pthread_mutex_unlock(&own_queue()->lock);
	before = atomic_load(&submits);
	ok(execute_many(&r, 1) == 1 && atomic_load(&submits) == before, "it is idle again");
	/* The driver is to end it. */
	o.has_deadline = true;
	o.deadline_ns = UINT64_MAX;
	ok(!execute(&r, &o) && atomic_load(&submits) == before + 1, "with a deadline: SUBMIT");
	o.deadline_ns = 1;
	ok(execute(&r, &o) == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT &&
	   atomic_load(&submits) == before + 1, "a deadline that has passed: nothing runs");
	run_fini(&r);
	close_model();
}

static void test_no_queues(void)
{
	struct run r;

	if (!open_model("sim:noqueues", NULL))
		return;
	run_init(&r, 4);
	ok(execute_many(&r, 5) == 5 && atomic_load(&submits) == 5 && !atomic_load(&creates),
	   "a device without queues: SUBMIT");
	run_fini(&r);
	close_model();
}

/* Each priority has a queue of its own. */
static void test_priorities(void)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *high = NULL;
	struct run r;

	if (!open_model(spec, NULL))
		return;
	run_init(&r, 4);
	o.priority = NNHAL_PRIORITY_HIGH;
	ok(!nnhal_device_prepare_model_sync(device, &f.model, &o, &high) &&
	   execute_many(&r, 2) == 2 &&
	   !nnhal_prepared_model_execute_synchronously(high, &r.request, NULL, NULL, NULL, NULL) &&
	   atomic_load(&creates) == 2 && !atomic_load(&submits), "a queue for each priority");
	nnhal_prepared_model_unref(high);
	run_fini(&r);
	close_model();
}

/* The application's bursts come first, and find a queue. */
static void test_given_up(void)
{
	struct nnhal_burst *burst = NULL, *second = NULL;
	struct run r;

	if (!open_model(spec, NULL))
		return;
	max_queues = 1;
	run_init(&r, 4);
	ok(execute_many(&r, 1) == 1 && atomic_load(&creates) == 1,
	   "the library has the only queue");
	ok(!nnhal_burst_create(model, NULL, &burst) && burst->queue && !own_queue()->queue,
	   "a burst gets it");
	ok(!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
	   run_output_is_right(&r, 4), "the burst works");
	ok(execute_many(&r, 3) == 3 && atomic_load(&submits) == 3, "executions take SUBMIT");
	ok(!nnhal_burst_create(model, NULL, &second) && !second->queue &&
	   !nnhal_burst_execute(second, &r.request, NULL, NULL, NULL, NULL),
	   "another burst gets none, and works");
	nnhal_burst_unref(second);
	nnhal_burst_unref(burst);
	ok(execute_many(&r, 3000) == 3000 && own_queue()->queue,
	   "later the library has a queue again");
	run_fini(&r);
	close_model();
}

struct thread {
	pthread_t thread;
	unsigned int good;
};

static void *run_thread(void *data)
{
	struct thread *t = data;
	struct run r;

	run_init(&r, 4);
	t->good = execute_many(&r, NUM_RUNS);
	run_fini(&r);
	return NULL;
}

static void test_threads(const char *name)
{
	struct thread threads[NUM_THREADS] = { 0 };
	unsigned int i, good = 0;

	if (!open_model(name, NULL))
		return;
	for (i = 0; i < NUM_THREADS; i++)
		pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]);
	for (i = 0; i < NUM_THREADS; i++) {
		pthread_join(threads[i].thread, NULL);
		good += threads[i].good;
	}
	ok(good == NUM_THREADS * NUM_RUNS, "%s: %u of %u executions of %u threads are right", name,
	   good, NUM_THREADS * NUM_RUNS, NUM_THREADS);
	tap_note("%u of them took SUBMIT", atomic_load(&submits));
	close_model();
}

/* A child of fork() has a copy of the handle, but not the queue. */
static void test_fork(void)
{
	int status = -1;
	struct run r;
	pid_t pid;

	if (!open_model(spec, NULL))
		return;
	run_init(&r, 4);
	ok(execute_many(&r, 2) == 2 && own_queue()->queue, "before fork()");
	pid = fork();
	if (!pid) {
		status = execute(&r, NULL) != NNHAL_STATUS_DEVICE_UNAVAILABLE;
		nnhal_prepared_model_unref(model);
		nnhal_device_unref(device);
		_exit(status);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "the child is refused, and lets go");
	ok(execute_many(&r, 2) == 2 && !atomic_load(&submits), "the parent goes on");
	run_fini(&r);
	close_model();
}

/* What an execution says of itself, by one way. */
struct said {
	enum nnhal_status statuses[4];
	uint32_t num_shapes[4];
	char messages[4][sizeof(((struct nnhal_diag *)NULL)->message)];
	uint32_t num_profile;
	bool has_times;
	unsigned int submits;
};

/* A job that the device aborts, as it does for a driver that sees no progress. */
static void *abort_job(void *data)
{
	(void)data;
	while (!own_queue()->queue)
		usleep(1000);
	while (!transport_sim_abort(device->transport, own_queue()->queue))
		usleep(1000);
	return NULL;
}

static void ask(const char *name, struct said *s)
{
	struct nnhal_ext_profile_entry entries[4];
	struct nnhal_ext_profile profile = NNHAL_EXT_PROFILE_INIT;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	unsigned int i;
	struct run r;

	memset(s, 0, sizeof(*s));
	if (!open_model(name, NULL))
		return;
	run_init(&r, 4);
	profile.entries = entries;
	profile.max_entries = 4;
	for (i = 0; i < 4; i++) {
		memset(&o, 0, sizeof(o));
		o = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
		o.diag = &r.diag;
		o.measure = NNHAL_MEASURE_YES;
		o.profile = i ? NULL : &profile;
		r.outputs[0].location.length = i == 1 ? 8 : 16;
		r.request.hal_version = i == 2 ? NNHAL_HAL_1_1 : NNHAL_HAL_1_3;
		if (i == 3)
			r.inputs[0].location.length = 12;
		r.diag.message[0] = '\0';
		s->statuses[i] = execute(&r, &o);
		s->num_shapes[i] = r.num_shapes;
		memcpy(s->messages[i], r.diag.message, sizeof(s->messages[i]));
		if (!i)
			s->has_times = r.timing.time_on_device != UINT64_MAX &&
				       r.timing.time_in_driver >= r.timing.time_on_device;
	}
	s->num_profile = profile.num_entries;
	s->submits = atomic_load(&submits);
	run_fini(&r);
	close_model();
}

static void test_same(void)
{
	struct said queue, driver;
	unsigned int i;

	ask("sim", &queue);
	ask("sim:noqueues", &driver);
	ok(!queue.submits && driver.submits, "two ways: %u and %u SUBMITs", queue.submits,
	   driver.submits);
	for (i = 0; i < 4; i++)
		ok(queue.statuses[i] == driver.statuses[i] &&
		   queue.num_shapes[i] == driver.num_shapes[i] &&
		   !strcmp(queue.messages[i], driver.messages[i]),
		   "the same answer: %s, %u shapes, %s",
		   nnhal_status_name((int)queue.statuses[i]), queue.num_shapes[i],
		   queue.messages[i]);
	ok(queue.statuses[1] == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE, "one was insufficient");
	ok(queue.num_profile == driver.num_profile && queue.num_profile,
	   "the same profile: %u entries", queue.num_profile);
	ok(queue.has_times && driver.has_times, "both have times");
}

static void test_abort(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;
	pthread_t thread;
	struct run r;

	if (!open_model("sim:faults", NULL))
		return;
	/* Else it is no in-process device. */
	device->transport->ops = real;
	run_init(&r, 4);
	o.diag = &r.diag;
	transport_sim_inject(device->transport, NNPU_INJECT_JOB_STALL, 1);
	pthread_create(&thread, NULL, abort_job, NULL);
	status = execute(&r, &o);
	pthread_join(thread, NULL);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !r.num_shapes,
	   "a job that hangs is aborted: %s, %s", nnhal_status_name((int)status), r.diag.message);
	ok(execute_many(&r, 2) == 2, "the next ones are well");

	/* The completion is of no job that there is: the library waits for the right one. */
	transport_sim_inject(device->transport, NNPU_INJECT_BAD_CID, 1);
	ok(execute_many(&r, 2) == 2, "an invented completion is ignored");

	/* Somebody else ends the queue. */
	real->queue_stop(device->transport, own_queue()->queue);
	status = execute(&r, &o);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !own_queue()->queue,
	   "the queue has ended: %s, %s", nnhal_status_name((int)status), r.diag.message);
	ok(execute_many(&r, 2) == 2 && own_queue()->queue,
	   "the next one makes another");
	run_fini(&r);
	close_model();
}

/* A short wait only, where the model is to use little power. */
static void test_low_power(void)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct run r;

	o.preference = NNHAL_PREFER_LOW_POWER;
	if (!open_model(spec, &o))
		return;
	run_init(&r, 4);
	ok(execute_many(&r, NUM_RUNS) == NUM_RUNS && !atomic_load(&submits),
	   "LOW_POWER: it sleeps");
	run_fini(&r);
	close_model();
}

static void *give_up(void *arg)
{
	own_queues_give_up(arg);
	return NULL;
}

/* Who waits for a queue to be given up gets it next, however many executions follow each other. */
static void test_wanted(void)
{
	struct own_queue *low;
	unsigned int before, i;
	pthread_t thread;
	struct run r;

	run_init(&r, 4);
	if (!open_model("sim", NULL))
		return;
	low = &device->own_queues.queues[NNHAL_PRIORITY_LOW];
	ok(low != own_queue() && execute_many(&r, 2) == 2, "a queue of the library");
	before = atomic_load(&submits);
	/* A long job. */
	pthread_mutex_lock(&low->lock);
	pthread_create(&thread, NULL, give_up, &device->own_queues);
	for (i = 0; i < 5000 && atomic_load(&submits) == before; i++) {
		execute_many(&r, 1);
		usleep(1000);
	}
	pthread_mutex_unlock(&low->lock);
	pthread_join(thread, NULL);
	ok(atomic_load(&submits) > before, "nobody takes a queue that is wanted");
	close_model();
	run_fini(&r);
}

int main(void)
{
	spec = test_device_spec();
	make_add_relu(&f);
	test_taken();
	test_priorities();
	test_given_up();
	test_threads(spec);
	test_fork();
	test_low_power();
	/* Ways that only the in-process device has. */
	if (!strcmp(spec, "sim")) {
		test_no_queues();
		test_threads("sim:noqueues");
		test_same();
		test_abort();
		test_wanted();
	}
	return tap_done();
}
