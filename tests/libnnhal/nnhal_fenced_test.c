// SPDX-License-Identifier: MIT
/*
 * Fenced executions: fences in and out, chains over two models, deadlines, buffers, the callback.
 *
 * Fences that the test signals itself are those of nnhal_fence_create() for the device in the process, and
 * those of vgem on hardware.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "buffer_rig.h"
#include "device/device_private.h"
#include "transport/transport.h"
#include "vgem_fence.h"

#define MS	UINT64_C(1000000)
#define FAR	(UINT64_C(600) * 1000 * MS)
#define WAIT_MS	60000
#define LINKS	1000
/* So many jobs may wait in any case. */
#define ROOM	128

static struct nnhal_device *device;
static bool is_sim;

/* One execution of a model whose request is in @run. */
struct link {
	struct run run;
	int fence;
	struct nnhal_fenced_callback *callback;
	struct nnhal_timing launched, fenced;
};

static enum nnhal_status launch(struct nnhal_prepared_model *model, struct link *l,
				const int *wait_for, uint32_t count,
				const struct nnhal_fenced_options *options)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;

	if (options)
		o = *options;
	o.diag = &l->run.diag;
	/* Something that must be overwritten. */
	l->fence = 12345;
	l->callback = (struct nnhal_fenced_callback *)l;
	return nnhal_prepared_model_execute_fenced(model, &l->run.request, wait_for, count, &o,
						   &l->fence, &l->callback);
}

static bool is_launched(const struct link *l, enum nnhal_status status)
{
	return !status && l->callback && l->fence > 0;
}

static bool is_nothing(const struct link *l)
{
	return !l->callback && l->fence == -1;
}

static enum nnhal_status info(struct link *l)
{
	memset(&l->launched, 0, sizeof(l->launched));
	memset(&l->fenced, 0, sizeof(l->fenced));
	return nnhal_fenced_callback_get_execution_info(l->callback, &l->launched, &l->fenced);
}

static bool no_timing(const struct link *l)
{
	return l->launched.time_on_device == NNHAL_NO_TIMING &&
	       l->launched.time_in_driver == NNHAL_NO_TIMING &&
	       l->fenced.time_on_device == NNHAL_NO_TIMING &&
	       l->fenced.time_in_driver == NNHAL_NO_TIMING;
}

static void finish(struct link *l)
{
	if (l->fence >= 0)
		close(l->fence);
	nnhal_fenced_callback_unref(l->callback);
	run_fini(&l->run);
}

static bool is_missed(enum nnhal_status status)
{
	return status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT ||
	       status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
}

static struct nnhal_prepared_model *prepare_add(void)
{
	static struct fixture f;

	make_add_relu(&f);
	return prepare_on(device, &f);
}

static struct nnhal_prepared_model *prepare_while(void)
{
	static struct fixture f;

	make_while(&f);
	return prepare_on(device, &f);
}

/* ---- fences by themselves ---- */

/* What signals in the middle of the next recv(): no message is there yet, then both message and end. */
static int late_signal = -1;

ssize_t __real_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags);
ssize_t __wrap_recv(int fd, void *data, size_t size, int flags)
{
	ssize_t n = __real_recv(fd, data, size, flags);

	if (late_signal < 0 || n >= 0)
		return n;
	nnhal_fence_signal(late_signal, 0);
	close(late_signal);
	late_signal = -1;
	return 0;
}

static void test_late_signal(void)
{
	enum nnhal_fence_state state;
	int fence;

	MUST(!nnhal_fence_create(&fence, &late_signal));
	state = nnhal_fence_wait(fence, 0);
	ok(late_signal < 0 && state == NNHAL_FENCE_SIGNALED,
	   "I16 SIGNALED, also if that happens between the two looks of recv()");
	close(fence);
}

static void test_fence(void)
{
	int fence, signal, copy, fds[2];
	uint64_t start;

	MUST(!nnhal_fence_create(&fence, &signal));
	ok(nnhal_fence_wait(fence, 0) == NNHAL_FENCE_ACTIVE, "I16 ACTIVE");
	start = monotonic_ns();
	ok(nnhal_fence_wait(fence, 20) == NNHAL_FENCE_ACTIVE && monotonic_ns() - start >= 20 * MS,
	   "I16 ACTIVE when the time is over");
	copy = fcntl(fence, F_DUPFD_CLOEXEC, 0);
	ok(!nnhal_fence_signal(signal, 0), "signalled");
	ok(!nnhal_fence_signal(signal, -EIO), "once more, which changes nothing");
	ok(nnhal_fence_wait(fence, 0) == NNHAL_FENCE_SIGNALED &&
	   nnhal_fence_wait(fence, -1) == NNHAL_FENCE_SIGNALED &&
	   nnhal_fence_wait(copy, WAIT_MS) == NNHAL_FENCE_SIGNALED, "I16 SIGNALED, as often as asked");
	close(fence);
	close(copy);
	ok(!nnhal_fence_signal(signal, 0), "nobody has the fence any more");
	close(signal);
	MUST(!nnhal_fence_create(&fence, &signal));
	nnhal_fence_signal(signal, -ETIME);
	ok(nnhal_fence_wait(fence, WAIT_MS) == NNHAL_FENCE_ERROR, "I16 D46 ERROR");
	close(fence);
	close(signal);
	MUST(!nnhal_fence_create(&fence, &signal));
	close(signal);
	ok(nnhal_fence_wait(fence, -1) == NNHAL_FENCE_ERROR, "ERROR, as nobody can signal it");
	close(fence);
	MUST(!pipe(fds));
	ok(nnhal_fence_wait(fds[0], -1) == NNHAL_FENCE_UNKNOWN &&
	   nnhal_fence_wait(-1, -1) == NNHAL_FENCE_UNKNOWN &&
	   nnhal_fence_wait(10000, -1) == NNHAL_FENCE_UNKNOWN, "I16 UNKNOWN");
	ok(nnhal_fence_signal(fds[1], 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_fence_signal(-1, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_fence_create(NULL, &signal) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_fence_create(&fence, NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "wrong arguments");
	close(fds[0]);
	close(fds[1]);
}

static void test_deadlines(void)
{
	uint64_t now = monotonic_ns(), after = nnhal_deadline_after(FAR);

	ok(after >= now + FAR && after <= monotonic_ns() + FAR, "I17 time after a duration");
	ok(nnhal_deadline_after(UINT64_MAX) == INT64_MAX &&
	   nnhal_deadline_after(INT64_MAX) == INT64_MAX, "I17 it ends at the largest time");
	ok(!nnhal_deadline_has_passed(false, 0) && nnhal_deadline_has_passed(true, 0) &&
	   nnhal_deadline_has_passed(true, now) && !nnhal_deadline_has_passed(true, after) &&
	   !nnhal_deadline_has_passed(true, UINT64_MAX), "I17 has it passed?");
}

/* ---- one execution ---- */

static void test_one(struct nnhal_prepared_model *add)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct link l;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		run_init(&l.run, 4);
		o.measure = i ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
		ok(is_launched(&l, launch(add, &l, NULL, 0, &o)), "D42 launched: a fence and a callback");
		ok(nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_SIGNALED && !info(&l) &&
		   run_output_is_right(&l.run, 4), "D49 it ends well");
		MUST(!info(&l));
		ok(i ? l.launched.time_in_driver != NNHAL_NO_TIMING &&
		       l.fenced.time_in_driver <= l.launched.time_in_driver &&
		       l.launched.time_on_device <= l.launched.time_in_driver : no_timing(&l),
		   "D24 measure %u: %llu us launched, %llu us fenced", i,
		   (unsigned long long)l.launched.time_in_driver,
		   (unsigned long long)l.fenced.time_in_driver);
		ok(!info(&l), "D49 as often as asked");
		finish(&l);
	}
}

static void expect_refused(struct nnhal_prepared_model *model, struct link *l, const int *wait_for,
			   uint32_t count, const struct nnhal_fenced_options *o,
			   enum nnhal_status expected, const char *what)
{
	enum nnhal_status status = launch(model, l, wait_for, count, o);

	ok(status == expected && is_nothing(l), "%s: %s, %s", what, nnhal_status_name(status),
	   l->run.diag.message);
}

static void test_refused(struct nnhal_prepared_model *add)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_prepared_model *dynamic;
	static struct fixture f;
	struct link l;
	unsigned int i;
	int fds[2];

	run_init(&l.run, 4);
	fds[0] = -1;
	expect_refused(add, &l, fds, 1, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "D39 no descriptor");
	expect_refused(add, &l, NULL, 1, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "D39 no list");
	MUST(!pipe(fds));
	expect_refused(add, &l, fds, 1, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "D39 a pipe");
	close(fds[0]);
	close(fds[1]);
	o.has_deadline = true;
	o.deadline_ns = 1;
	expect_refused(add, &l, NULL, 0, &o, NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT,
		       "D26 deadline passed");
	o = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS + 1;
	expect_refused(add, &l, NULL, 0, &o, NNHAL_STATUS_INVALID_ARGUMENT, "D30 loop timeout");
	o = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
	o.measure = 2;
	expect_refused(add, &l, NULL, 0, &o, NNHAL_STATUS_INVALID_ARGUMENT, "D13 measure 2");
	l.run.request.num_inputs = 1;
	expect_refused(add, &l, NULL, 0, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "D01 input removed");
	l.run.request.num_inputs = 2;
	l.run.outputs[0].location.length--;
	expect_refused(add, &l, NULL, 0, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "D17 output too short");
	l.run.outputs[0].location.length++;
	l.run.request.hal_version = NNHAL_HAL_1_2;
	expect_refused(add, &l, NULL, 0, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "a request of 1.2");
	l.run.request.hal_version = NNHAL_HAL_1_3;
	expect_refused(NULL, &l, NULL, 0, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "no model");
	l.run.pools[0] = (struct nnhal_request_pool){ .token = 100 };
	expect_refused(add, &l, NULL, 0, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "F34 fenced: token 100");
	ok(nnhal_prepared_model_execute_fenced(add, &l.run.request, NULL, 0, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "no place for the results");
	run_fini(&l.run);

	make_dynamic_add(&f, 2);
	dynamic = prepare_on(device, &f);
	run_init(&l.run, 4);
	for (i = 0; i < 2; i++) {
		l.run.dims[i][0] = 2;
		l.run.dims[i][1] = 2;
		l.run.inputs[i].dimensions = l.run.dims[i];
		l.run.inputs[i].num_dimensions = 2;
	}
	expect_refused(dynamic, &l, NULL, 0, NULL, NNHAL_STATUS_INVALID_ARGUMENT,
		       "D07 output of unknown size");
	run_fini(&l.run);
	nnhal_prepared_model_unref(dynamic);
}

/* A loop that never ends. */
static void never_ends(struct link *l)
{
	run_init(&l->run, 1);
	*(float *)(l->run.map + RUN_INPUT(0)) = -1;
	*(float *)(l->run.map + RUN_INPUT(1)) = 0;
}

static void expect_missed(struct link *l, const char *what)
{
	enum nnhal_fence_state state = nnhal_fence_wait(l->fence, WAIT_MS);
	enum nnhal_status status = info(l);

	ok(state == NNHAL_FENCE_ERROR && is_missed(status) && no_timing(l), "%s: %u, %s", what,
	   state, nnhal_status_name(status));
}

/*
 * Launch with a deadline soon, in @o: a later one where it passed before the call looked at it, since
 * other programs had the processor.
 */
static bool launch_soon(struct nnhal_prepared_model *model, struct link *l, const int *wait_for,
			struct nnhal_fenced_options *o)
{
	enum nnhal_status status;
	uint64_t ns = 20 * MS;

	do {
		o->has_deadline = true;
		o->deadline_ns = nnhal_deadline_after(ns);
		status = launch(model, l, wait_for, wait_for != NULL, o);
		ns *= 4;
	} while (status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT && ns < 4000 * MS);
	return is_launched(l, status);
}

static void wait_until_passed(uint64_t deadline_ns)
{
	while (!nnhal_deadline_has_passed(true, deadline_ns))
		nanosleep(&(struct timespec){ .tv_nsec = MS }, NULL);
}

static void test_time(struct nnhal_prepared_model *add, struct nnhal_prepared_model *loop)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct link l, next;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		never_ends(&l);
		run_init(&next.run, 4);
		o = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
		o.measure = i ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
		o.has_loop_timeout = true;
		o.loop_timeout_ns = MS;
		ok(is_launched(&l, launch(loop, &l, NULL, 0, &o)), "D31 an endless loop is launched");
		/* It may have ended: then its fence is refused. */
		if (!launch(add, &next, &l.fence, 1, NULL))
			expect_missed(&next, "D45 the next one of the chain");
		else
			ok(is_nothing(&next), "D40 a fence in error");
		expect_missed(&l, "D31 fenced, the loop timeout");
		finish(&l);
		finish(&next);
	}
	for (i = 1; i < 4; i++) {
		never_ends(&l);
		o = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
		o.has_loop_timeout = true;
		o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
		o.has_deadline = i & 1;
		o.deadline_ns = nnhal_deadline_after(FAR);
		o.has_duration = i & 2;
		o.duration_ns = 20 * MS;
		MUST(i == 1 ? launch_soon(loop, &l, NULL, &o) :
			      is_launched(&l, launch(loop, &l, NULL, 0, &o)));
		expect_missed(&l, i == 1 ? "K07 a deadline" : i == 2 ? "K07 a duration" : "K07 both");
		finish(&l);
	}
	run_init(&l.run, 4);
	o = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
	o.has_deadline = true;
	o.deadline_ns = nnhal_deadline_after(FAR);
	o.has_duration = true;
	o.duration_ns = FAR;
	ok(is_launched(&l, launch(add, &l, NULL, 0, &o)) &&
	   nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_SIGNALED && !info(&l), "K05 in time");
	finish(&l);
}

/* ---- fences to wait for ---- */

/* A look at the fence of an execution, which takes as long as the test says. */
static const struct transport_ops *real_ops;
static sem_t looks, may_go_on;

static int look_slowly(struct transport *t, struct transport_fence *const *fences, uint32_t count,
		       int64_t timeout_ns, uint32_t *first)
{
	if (!timeout_ns) {
		sem_post(&looks);
		sem_wait(&may_go_on);
	}
	return real_ops->wait(t, fences, count, timeout_ns, first);
}

static void *ask(void *arg)
{
	info(arg);
	return NULL;
}

/* A child of fork() may release the callback whatever the threads of its parent did with it. */
static void test_fork(struct nnhal_prepared_model *add)
{
	struct transport_ops slow = *device->transport->ops;
	int gate, signal, child_status = -1;
	pthread_t thread;
	struct link l;
	pid_t child;

	MUST(!nnhal_fence_create(&gate, &signal));
	run_init(&l.run, 4);
	ok(is_launched(&l, launch(add, &l, &gate, 1, NULL)), "an execution that waits");
	sem_init(&looks, 0, 0);
	sem_init(&may_go_on, 0, 0);
	real_ops = device->transport->ops;
	slow.wait = look_slowly;
	device->transport->ops = &slow;
	pthread_create(&thread, NULL, ask, &l);
	sem_wait(&looks);
	child = fork();
	if (!child) {
		/* Not for ever. */
		alarm(10);
		child_status = info(&l) != NNHAL_STATUS_DEVICE_UNAVAILABLE || !no_timing(&l);
		nnhal_fenced_callback_unref(l.callback);
		_exit(child_status);
	}
	waitpid(child, &child_status, 0);
	ok(!child_status, "D48 in a child of fork(): DEVICE_UNAVAILABLE, and it can be released");
	sem_post(&may_go_on);
	pthread_join(thread, NULL);
	device->transport->ops = real_ops;
	nnhal_fence_signal(signal, 0);
	ok(nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_SIGNALED && !info(&l) &&
	   run_output_is_right(&l.run, 4), "the parent's execution ends well");
	finish(&l);
	close(gate);
	close(signal);
}

/* What is no fence any more when the device gets it. */
static int pipe_end;

static int submit_pipe(struct transport *t, const struct transport_job *job)
{
	MUST(dup2(pipe_end, job->in_fences[0]) == job->in_fences[0]);
	return real_ops->submit(t, job);
}

static void test_no_fence_any_more(struct nnhal_prepared_model *add)
{
	struct transport_ops ops = *device->transport->ops;
	enum nnhal_status status;
	int gate, signal, fds[2];
	struct link l;

	MUST(!nnhal_fence_create(&gate, &signal) && !pipe(fds));
	run_init(&l.run, 4);
	real_ops = device->transport->ops;
	ops.submit = submit_pipe;
	pipe_end = fds[0];
	device->transport->ops = &ops;
	status = launch(add, &l, &gate, 1, NULL);
	device->transport->ops = real_ops;
	ok(status && is_nothing(&l), "a fence that becomes a pipe during the call: %s, %s",
	   nnhal_status_name(status), l.run.diag.message);
	finish(&l);
	close(fds[0]);
	close(fds[1]);
	close(gate);
	close(signal);
}

static void test_gate(struct nnhal_prepared_model *add)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	int gates[2], signals[2];
	struct link l, next;
	uint64_t at;
	unsigned int i, n;

	for (i = 0; i < 2; i++)
		MUST(!nnhal_fence_create(&gates[i], &signals[i]));
	run_init(&l.run, 4);
	run_init(&next.run, 4);
	o.measure = NNHAL_MEASURE_YES;
	ok(is_launched(&l, launch(add, &l, gates, 2, &o)), "D41 behind two fences");
	ok(is_launched(&next, launch(add, &next, &l.fence, 1, NULL)), "D43 behind that one");
	ok(info(&l) == NNHAL_STATUS_GENERAL_FAILURE && no_timing(&l), "D48 before its end");
	nnhal_fence_signal(signals[0], 0);
	ok(nnhal_fence_wait(l.fence, 30) == NNHAL_FENCE_ACTIVE && !run_output_is_right(&l.run, 4),
	   "D41 one fence is not enough");
	/* The fences to wait for need not stay. */
	close(gates[0]);
	close(gates[1]);
	at = monotonic_ns();
	nnhal_fence_signal(signals[1], 0);
	ok(nnhal_fence_wait(next.fence, WAIT_MS) == NNHAL_FENCE_SIGNALED && !info(&next) &&
	   run_output_is_right(&next.run, 4), "D43 both have run");
	MUST(!info(&l));
	ok(run_output_is_right(&l.run, 4) && l.launched.time_in_driver >= 30000 &&
	   l.fenced.time_in_driver <= (monotonic_ns() - at) / 1000 + 1,
	   "D24 %llu us launched, %llu us fenced", (unsigned long long)l.launched.time_in_driver,
	   (unsigned long long)l.fenced.time_in_driver);
	finish(&l);
	finish(&next);
	close(signals[0]);
	close(signals[1]);

	/* In error before the call, and after it. */
	MUST(!nnhal_fence_create(&gates[0], &signals[0]));
	nnhal_fence_signal(signals[0], -EIO);
	run_init(&l.run, 4);
	expect_refused(add, &l, gates, 1, NULL, NNHAL_STATUS_INVALID_ARGUMENT, "D40 a fence in error");
	finish(&l);
	close(gates[0]);
	close(signals[0]);
	for (i = 0; i < 3; i++) {
		MUST(!nnhal_fence_create(&gates[0], &signals[0]));
		run_init(&l.run, 4);
		MUST(is_launched(&l, launch(add, &l, gates, 1, NULL)));
		if (i < 2)
			nnhal_fence_signal(signals[0], i ? -ETIMEDOUT : -EIO);
		close(signals[0]);
		ok(nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_ERROR &&
		   (i == 1 ? is_missed(info(&l)) : info(&l) == NNHAL_STATUS_GENERAL_FAILURE) &&
		   !run_output_is_right(&l.run, 4), "%s",
		   i == 0 ? "D44 a fence that fails" : i == 1 ? "D45 one that fails by timeout" :
							       "D44 one whose owner is gone");
		finish(&l);
		close(gates[0]);
	}
	/* One of several, which signals first or last. */
	for (i = 0; i < 4; i++) {
		MUST(!nnhal_fence_create(&gates[0], &signals[0]) &&
		     !nnhal_fence_create(&gates[1], &signals[1]));
		run_init(&l.run, 4);
		MUST(is_launched(&l, launch(add, &l, gates, 2, NULL)));
		nnhal_fence_signal(signals[i % 2], i < 2 ? -EIO : 0);
		nnhal_fence_signal(signals[!(i % 2)], i < 2 ? 0 : -EIO);
		ok(nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_ERROR &&
		   info(&l) == NNHAL_STATUS_GENERAL_FAILURE && !run_output_is_right(&l.run, 4),
		   "D44 fence %u of two fails, %s", i < 2 ? i % 2 : !(i % 2),
		   i < 2 ? "before the other" : "after the other");
		finish(&l);
		for (n = 0; n < 2; n++) {
			close(gates[n]);
			close(signals[n]);
		}
	}
}

static void test_gate_time(struct nnhal_prepared_model *add)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	int gate, signal;
	struct link l;

	MUST(!nnhal_fence_create(&gate, &signal));
	run_init(&l.run, 4);
	o.has_duration = true;
	o.duration_ns = FAR;
	MUST(launch_soon(add, &l, &gate, &o));
	wait_until_passed(o.deadline_ns);
	nnhal_fence_signal(signal, 0);
	expect_missed(&l, "K07 a fence that signals after the deadline");
	finish(&l);
	close(gate);
	close(signal);

	/* Had it counted from the call, this one would be late. */
	MUST(!nnhal_fence_create(&gate, &signal));
	run_init(&l.run, 4);
	o.has_deadline = false;
	o.duration_ns = 2500 * MS;
	MUST(is_launched(&l, launch(add, &l, &gate, 1, &o)));
	o.duration_ns = 1;
	nanosleep(&(struct timespec){ .tv_sec = 3 }, NULL);
	nnhal_fence_signal(signal, 0);
	ok(nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_SIGNALED && !info(&l),
	   "D47 the duration counts from the fence");
	finish(&l);
	run_init(&l.run, 4);
	MUST(is_launched(&l, launch(add, &l, &gate, 1, &o)));
	expect_missed(&l, "D47 one that is too short");
	finish(&l);
	close(gate);
	close(signal);
}

/* ---- chains ---- */

static struct link links[LINKS];

/* Link @i of a chain: two models in turn. */
static enum nnhal_status launch_link(struct nnhal_prepared_model *add,
				     struct nnhal_prepared_model *loop, unsigned int i, int gate)
{
	struct link *l = &links[i];
	const int *before = i ? &links[i - 1].fence : gate >= 0 ? &gate : NULL;
	enum nnhal_status status;

	run_init(&l->run, i % 2 ? 1 : 4);
	if (i % 2) {
		*(float *)(l->run.map + RUN_INPUT(0)) = 1;
		*(float *)(l->run.map + RUN_INPUT(1)) = 20;
	}
	status = launch(i % 2 ? loop : add, l, before, before != NULL, NULL);
	/* With as many as may wait there is room when one has ended, unless the first one waits. */
	while (status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT && i >= ROOM && gate < 0) {
		nnhal_fence_wait(links[i - ROOM].fence, WAIT_MS);
		status = launch(i % 2 ? loop : add, l, before, before != NULL, NULL);
	}
	if (status)
		run_fini(&l->run);
	return status;
}

/* Links that are launched; @gate: what the first one waits for, or -1. */
static unsigned int launch_chain(struct nnhal_prepared_model *add,
				 struct nnhal_prepared_model *loop, unsigned int count, int gate)
{
	unsigned int i;

	for (i = 0; i < count && !launch_link(add, loop, i, gate); i++)
		;
	return i;
}

static bool link_is_right(const struct link *l, unsigned int i)
{
	return i % 2 ? *(const float *)(l->run.map + RUN_OUTPUT(0)) == 21 :
		       run_output_is_right(&l->run, 4);
}

/* Each link has ended well, or each has failed with @expected. */
static void end_chain(unsigned int count, enum nnhal_status expected, const char *what)
{
	enum nnhal_fence_state state = expected ? NNHAL_FENCE_ERROR : NNHAL_FENCE_SIGNALED;
	unsigned int i, good = 0;

	ok(count && nnhal_fence_wait(links[count - 1].fence, WAIT_MS) == state, "the last one has ended");
	for (i = 0; i < count; i++) {
		good += info(&links[i]) == expected &&
			nnhal_fence_wait(links[i].fence, 0) == state &&
			(expected || link_is_right(&links[i], i));
		finish(&links[i]);
	}
	ok(good == count, "D44 %u links %s", good, what);
}

static void test_chain(struct nnhal_prepared_model *add, struct nnhal_prepared_model *loop)
{
	unsigned int launched = launch_chain(add, loop, LINKS, -1);

	ok(launched == LINKS, "%u of %u links of a chain over two models", launched, LINKS);
	end_chain(launched, NNHAL_STATUS_NONE, "are right");
}

/* All wait before the first one may begin. */
static void test_held_chain(struct nnhal_prepared_model *add, struct nnhal_prepared_model *loop)
{
	unsigned int launched, i;
	int gate, signal;

	for (i = 0; i < 2; i++) {
		MUST(!nnhal_fence_create(&gate, &signal));
		launched = launch_chain(add, loop, LINKS, gate);
		ok(launched == LINKS && nnhal_fence_wait(links[0].fence, 0) == NNHAL_FENCE_ACTIVE,
		   "D41 all are launched before the first runs");
		nnhal_fence_signal(signal, i ? -EIO : 0);
		end_chain(launched, i ? NNHAL_STATUS_GENERAL_FAILURE : NNHAL_STATUS_NONE,
			  i ? "failed, with status" : "are right");
		close(gate);
		close(signal);
	}
}

/* ---- fences of another driver ---- */

static void test_vgem(struct nnhal_prepared_model *add, struct nnhal_prepared_model *loop)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_device *other_device;
	struct nnhal_prepared_model *other;
	int vgem = vgem_open(), gate;
	static struct fixture f;
	unsigned int launched;
	uint32_t number;
	struct link l;
	struct run r;

	if (vgem < 0) {
		tap_skip("no vgem, for fences of another driver");
		return;
	}
	gate = vgem_fence_create(vgem, &number);
	MUST(gate >= 0);
	ok(nnhal_fence_wait(gate, 0) == NNHAL_FENCE_ACTIVE, "I16 ACTIVE, of another driver");
	launched = launch_chain(add, loop, ROOM, gate);
	ok(launched == ROOM && nnhal_fence_wait(links[0].fence, 30) == NNHAL_FENCE_ACTIVE &&
	   info(&links[0]) == NNHAL_STATUS_GENERAL_FAILURE,
	   "D41 D48 %u links behind a fence of vgem", launched);
	MUST(!vgem_fence_signal(vgem, number));
	ok(nnhal_fence_wait(gate, WAIT_MS) == NNHAL_FENCE_SIGNALED, "I16 SIGNALED, of another driver");
	end_chain(launched, NNHAL_STATUS_NONE, "behind it are right");
	close(gate);

	/* A deadline that passes before the fence signals; a duration that counts from the fence. */
	gate = vgem_fence_create(vgem, &number);
	MUST(gate >= 0);
	run_init(&l.run, 4);
	MUST(launch_soon(add, &l, &gate, &o));
	wait_until_passed(o.deadline_ns);
	vgem_fence_signal(vgem, number);
	expect_missed(&l, "K07 a fence of vgem that signals after the deadline");
	finish(&l);
	close(gate);

	/* The first link, which waits for vgem, is going to fail; so many wait for it as can. */
	gate = vgem_fence_create(vgem, &number);
	MUST(gate >= 0);
	never_ends(&l);
	o = (struct nnhal_fenced_options)NNHAL_FENCED_OPTIONS_INIT;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = MS;
	MUST(is_launched(&l, launch(loop, &l, &gate, 1, &o)));
	launched = launch_chain(add, loop, LINKS, l.fence);
	ok(launched >= ROOM && launched < LINKS,
	   "%u links wait, then there is no room, and nobody waits for that", launched);
	other_device = test_device_open();
	make_add_relu(&f);
	other = prepare_on(other_device, &f);
	run_init(&r, 4);
	ok(!nnhal_prepared_model_execute_synchronously(other, &r.request, NULL, NULL, NULL, NULL) &&
	   nnhal_fence_wait(l.fence, 0) == NNHAL_FENCE_ACTIVE, "another client runs meanwhile");
	run_fini(&r);
	nnhal_prepared_model_unref(other);
	nnhal_device_unref(other_device);
	vgem_fence_signal(vgem, number);
	end_chain(launched, NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT, "failed after the first");
	expect_missed(&l, "D31 the first");
	finish(&l);
	close(gate);
	close(vgem);
}

/* ---- buffers ---- */

static void use_tokens(struct link *l, uint32_t in, uint32_t out)
{
	run_init(&l->run, 4);
	if (in) {
		l->run.pools[1] = (struct nnhal_request_pool){ .token = in };
		l->run.inputs[0].location = (struct nnhal_data_location){ .pool_index = 1 };
	}
	if (out) {
		l->run.pools[2] = (struct nnhal_request_pool){ .token = out };
		l->run.outputs[0].location = (struct nnhal_data_location){ .pool_index = 2 };
	}
	if (in || out) {
		if (!in)
			l->run.pools[1] = l->run.pools[0];
		if (!out)
			l->run.pools[2] = l->run.pools[0];
		l->run.request.num_pools = 3;
	}
}

static bool is_initialised(struct rig *g)
{
	struct nnhal_buffer_state state = { .size = sizeof(state) };

	return !nnhal_buffer_get_state(g->buffer, &state) && state.is_initialized;
}

static void test_buffers(struct nnhal_prepared_model *add)
{
	struct nnhal_memory *memory;
	struct link first, second;
	int gate, signal;
	unsigned int i;
	struct rig g;

	MUST(!nnhal_memory_create(16, &memory, NULL));
	for (i = 0; i < 2; i++) {
		rig_init(&g, add, true, true);
		MUST(!rig_allocate(&g, device));
		MUST(!nnhal_fence_create(&gate, &signal));
		use_tokens(&first, g.token, 0);
		ok(launch(add, &first, NULL, 0, NULL) == NNHAL_STATUS_GENERAL_FAILURE &&
		   is_nothing(&first), "F38 an uninitialised buffer as input");
		run_fini(&first.run);
		use_tokens(&first, 0, g.token);
		use_tokens(&second, g.token, 0);
		ok(is_launched(&first, launch(add, &first, &gate, 1, NULL)) && !is_initialised(&g),
		   "uninitialised until the end");
		ok(is_launched(&second, launch(add, &second, &first.fence, 1, NULL)),
		   "a later link may read it");
		ok(nnhal_prepared_model_execute_synchronously(add, &second.run.request, NULL, NULL,
							      NULL, NULL) ==
		   NNHAL_STATUS_GENERAL_FAILURE &&
		   nnhal_buffer_copy_to(g.buffer, memory, NULL) == NNHAL_STATUS_GENERAL_FAILURE,
		   "F38 no others, nor may it be copied");
		nnhal_fence_signal(signal, i ? -EIO : 0);
		nnhal_fence_wait(second.fence, WAIT_MS);
		if (!i)
			ok(is_initialised(&g) && !info(&second) && !info(&first), "F38 initialised by then");
		else
			ok(!is_initialised(&g) && info(&second) == NNHAL_STATUS_GENERAL_FAILURE,
			   "F38 uninitialised, as it has failed");
		finish(&first);
		finish(&second);
		close(gate);
		close(signal);
		nnhal_buffer_unref(g.buffer);
	}
	nnhal_memory_unref(memory);
	/* Whoever writes it meanwhile has the last word. */
	rig_init(&g, add, true, true);
	MUST(!rig_allocate(&g, device));
	MUST(!nnhal_fence_create(&gate, &signal));
	use_tokens(&first, 0, g.token);
	use_tokens(&second, 0, g.token);
	MUST(is_launched(&first, launch(add, &first, &gate, 1, NULL)));
	ok(!nnhal_prepared_model_execute_synchronously(add, &second.run.request, NULL, NULL, NULL,
						       NULL) && is_initialised(&g),
	   "another execution writes it meanwhile");
	nnhal_fence_signal(signal, -EIO);
	nnhal_fence_wait(first.fence, WAIT_MS);
	ok(info(&first) == NNHAL_STATUS_GENERAL_FAILURE && is_initialised(&g),
	   "which stays, though the first one fails");
	finish(&first);
	run_fini(&second.run);
	close(gate);
	close(signal);
	nnhal_buffer_unref(g.buffer);
}

/* ---- lives ---- */

/* Everything is given up while the execution waits. */
static void test_given_up(void)
{
	struct nnhal_prepared_model *add = prepare_add();
	int gate, signal, fence;
	struct link l;
	struct rig g;

	rig_init(&g, add, true, true);
	MUST(!rig_allocate(&g, device));
	MUST(!nnhal_fence_create(&gate, &signal));
	use_tokens(&l, 0, g.token);
	MUST(is_launched(&l, launch(add, &l, &gate, 1, NULL)));
	fence = fcntl(l.fence, F_DUPFD_CLOEXEC, 0);
	close(gate);
	finish(&l);
	nnhal_buffer_unref(g.buffer);
	nnhal_prepared_model_unref(add);
	nnhal_fence_signal(signal, 0);
	close(signal);
	ok(nnhal_fence_wait(fence, WAIT_MS) == NNHAL_FENCE_SIGNALED,
	   "D50 nobody has the callback, the model and the buffer any more");
	close(fence);
}

/* The model goes first; the callback still tells. */
static void test_after_model(void)
{
	struct nnhal_prepared_model *add = prepare_add();
	struct link l;

	run_init(&l.run, 4);
	MUST(is_launched(&l, launch(add, &l, NULL, 0, NULL)));
	nnhal_prepared_model_unref(add);
	ok(nnhal_fence_wait(l.fence, WAIT_MS) == NNHAL_FENCE_SIGNALED && !info(&l) && !info(&l),
	   "D49 after the model was released");
	finish(&l);
}

/* ---- memory out of reach ---- */

static void test_bounce(struct nnhal_prepared_model *add)
{
	struct nnhal_memory_desc desc = { .struct_size = sizeof(desc) };
	char path[] = "/tmp/nnhal-fenced-XXXXXX";
	static uint8_t bytes[4096];
	struct link l;
	int fd = mkstemp(path);
	enum nnhal_status status;

	MUST(fd >= 0 && !unlink(path) && !ftruncate(fd, 4096));
	run_init(&l.run, 4);
	MUST(pwrite(fd, l.run.map, 4096, 0) == 4096);
	desc.fd = fd;
	desc.size = 4096;
	desc.kind = NNHAL_MEMORY_MMAP_FD;
	desc.access = NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE;
	nnhal_memory_unref(l.run.memory);
	MUST(!nnhal_memory_import(&desc, &l.run.memory, NULL));
	l.run.pools[0].memory = l.run.memory;
	status = launch(add, &l, NULL, 0, NULL);
	if (l.fence >= 0)
		nnhal_fence_wait(l.fence, WAIT_MS);
	MUST(pread(fd, bytes, 4096, 0) == 4096);
	/* The mapping has gone with its memory object. */
	l.run.map = bytes;
	ok(!status && l.callback && !info(&l) && run_output_is_right(&l.run, 4),
	   "D42 a file%s", l.fence < 0 ? ": no fence, as it is over" : "");
	finish(&l);
	close(fd);
}

/* ---- a mix ---- */

#define THREADS	4
#define ROUNDS	30

struct mix {
	struct nnhal_prepared_model *model;
	unsigned int number;
	unsigned int good;
	pthread_t thread;
};

static void *mix_thread(void *data)
{
	struct mix *m = data;
	struct nnhal_burst *burst = NULL;
	struct callback_result c;
	enum nnhal_status status = NNHAL_STATUS_GENERAL_FAILURE;
	struct link l;
	unsigned int i;

	if (nnhal_burst_create(m->model, NULL, &burst))
		return NULL;
	for (i = 0; i < ROUNDS; i++) {
		run_init(&l.run, 4);
		c = (struct callback_result)CALLBACK_RESULT_INIT;
		switch ((i + m->number) % 4) {
		case 0:
			status = nnhal_prepared_model_execute_synchronously(m->model, &l.run.request,
									    NULL, NULL, NULL, NULL);
			break;
		case 1:
			status = callback_wait(&c, nnhal_prepared_model_execute
					       (m->model, &l.run.request, NULL,
						callback_executed, &c));
			break;
		case 2:
			status = nnhal_burst_execute(burst, &l.run.request, NULL, NULL, NULL, NULL);
			break;
		default:
			status = launch(m->model, &l, NULL, 0, NULL);
			if (!status) {
				nnhal_fence_wait(l.fence, WAIT_MS);
				status = info(&l);
				close(l.fence);
				nnhal_fenced_callback_unref(l.callback);
			}
		}
		m->good += !status && run_output_is_right(&l.run, 4);
		run_fini(&l.run);
	}
	nnhal_burst_unref(burst);
	return NULL;
}

static void test_mix(struct nnhal_prepared_model *add)
{
	struct mix mixes[THREADS];
	unsigned int i, good = 0;

	for (i = 0; i < THREADS; i++) {
		mixes[i] = (struct mix){ .model = add, .number = i };
		MUST(!pthread_create(&mixes[i].thread, NULL, mix_thread, &mixes[i]));
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(mixes[i].thread, NULL);
		good += mixes[i].good;
	}
	ok(good == THREADS * ROUNDS, "D34 all four kinds at once on one model: %u of %u", good,
	   THREADS * ROUNDS);
}

/* A chain has a few descriptors for each link. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void)
{
	struct nnhal_prepared_model *add, *loop;
	unsigned int before = count_entries("/proc/self/fd"), i;
	/* scripts/soak makes it more. */
	const char *text = getenv("NNPU_CHAINS");
	unsigned int chains = text ? (unsigned int)strtoul(text, NULL, 10) : 1;

	raise_limit();
	device = test_device_open();
	is_sim = device->transport->limits.fence_kinds & FENCE_SOCKET;
	add = prepare_add();
	loop = prepare_while();
	test_fence();
	test_late_signal();
	test_deadlines();
	test_one(add);
	test_refused(add);
	test_time(add, loop);
	if (is_sim) {
		test_fork(add);
		test_no_fence_any_more(add);
		test_gate(add);
		test_gate_time(add);
		test_buffers(add);
		test_given_up();
		test_held_chain(add, loop);
	} else {
		test_vgem(add, loop);
	}
	for (i = 0; i < chains; i++)
		test_chain(add, loop);
	test_after_model();
	test_bounce(add);
	test_mix(add);
	nnhal_prepared_model_unref(loop);
	nnhal_prepared_model_unref(add);
	nnhal_device_unref(device);
	ok(wait_for_entries("/proc/self/fd", before) == before, "D50 no descriptor is left");
	return tap_done();
}
