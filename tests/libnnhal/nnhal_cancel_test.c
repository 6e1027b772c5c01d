// SPDX-License-Identifier: MIT
/*
 * Cancels: of executions of each kind, that run, wait or have not begun; the status, the callback,
 * buffers and those who wait for the fence; what a cancel must leave alone.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cancel_node.h"
#include "base/monotonic.h"
#include "buffer_rig.h"
#include "device/device_private.h"
#include "transport/transport.h"
#include "vgem_fence.h"

#define WAIT_MS	60000
#define RACES	300

static struct nnhal_device *device;
static struct nnhal_prepared_model *add, *endless;
static bool is_sim;

static struct nnhal_cancel *cancel_new(void)
{
	struct nnhal_cancel *c = NULL;

	MUST(!nnhal_cancel_create(&c) && c);
	return c;
}

/* While -1 < 0: add nothing. If nothing ends it, the loop timeout does: with another status. */
static void init_endless(struct run *r)
{
	run_init(r, 1);
	*(float *)(r->map + RUN_INPUT(0)) = -1;
	*(float *)(r->map + RUN_INPUT(1)) = 0;
}

static struct nnhal_execute_options with(struct nnhal_cancel *c, struct run *r)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.measure = NNHAL_MEASURE_YES;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
	o.diag = &r->diag;
	o.cancel = c;
	return o;
}

static bool add_works(struct nnhal_cancel *c)
{
	struct nnhal_execute_options o;
	struct run r;
	bool works;

	run_init(&r, 4);
	o = with(c, &r);
	works = !nnhal_prepared_model_execute_synchronously(add, &r.request, &o, NULL, NULL,
							    NULL) && run_output_is_right(&r, 4);
	run_fini(&r);
	return works;
}

static bool is_nothing(const struct run *r)
{
	return !r->num_shapes && r->timing.time_on_device == NNHAL_NO_TIMING &&
	       r->timing.time_in_driver == NNHAL_NO_TIMING;
}

/* ---- the calls ---- */

static void test_calls(void)
{
	struct nnhal_cancel *c = cancel_new();
	int status;
	pid_t pid;

	ok(nnhal_cancel_create(NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_cancel_request(NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !nnhal_cancel_is_requested(NULL) && !nnhal_cancel_count(NULL), "NULL");
	nnhal_cancel_unref(NULL);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		bool good = nnhal_cancel_request(c) == NNHAL_STATUS_DEVICE_UNAVAILABLE;

		nnhal_cancel_unref(c);
		_exit(!good);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "not in a child of fork()");
	ok(!nnhal_cancel_is_requested(c) && add_works(c) && add_works(c) && !nnhal_cancel_count(c),
	   "one that is not requested changes nothing");
	ok(nnhal_cancel_ref(c) == c && !nnhal_cancel_request(c) && !nnhal_cancel_request(c) &&
	   nnhal_cancel_is_requested(c) && !nnhal_cancel_count(c),
	   "a request, and one more: what has ended is not changed");
	nnhal_cancel_unref(c);
	nnhal_cancel_unref(c);
}

static unsigned int num_aborts;

static bool count_abort(struct cancel_node *node)
{
	(void)node;
	num_aborts++;
	return true;
}

/* An execution runs again if all it lacked was memory of buffers. */
static void test_again(void)
{
	struct nnhal_cancel *c = cancel_new();
	struct cancel_node node = { .cancel = NULL };

	MUST(cancel_node_add(c, &node, count_abort));
	cancel_node_submitted(&node);
	MUST(!num_aborts && !nnhal_cancel_request(c) && num_aborts == 1);
	cancel_node_submitted(&node);
	ok(num_aborts == 2 && cancel_node_is_aborted(&node),
	   "a run that follows one that was aborted too late is aborted, too");
	cancel_node_remove(&node);
	nnhal_cancel_unref(c);
}

enum kind { SYNC, ASYNC, BOUND_SYNC, BOUND_ASYNC, QUEUE, FENCED, BOUND_FENCED, NUM_KINDS };

static const char *const kinds[] = {
	"synchronous", "asynchronous", "bound, synchronous", "bound, asynchronous",
	"with a completion queue", "fenced", "bound, fenced",
};

/* An execution of the endless model on a thread of its own. */
struct launch {
	enum kind kind;
	struct run run;
	struct nnhal_cancel *cancel;
	struct nnhal_completion_queue *queue;
	struct nnhal_bound_request *bound;
	struct callback_result result;
	pthread_t thread;
	enum nnhal_status status;
	atomic_uint calls;		/* of the callback, where there is one */
};

static void on_end(void *context, enum nnhal_status status,
		   const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		   const struct nnhal_timing *timing)
{
	struct launch *l = context;

	atomic_fetch_add(&l->calls, 1);
	l->run.num_shapes = num_shapes;
	l->run.timing = *timing;
	callback_executed(&l->result, status, shapes, num_shapes, timing);
}

static enum nnhal_status run_fenced(struct launch *l)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_fenced_callback *callback;
	struct nnhal_timing fenced = { 0, 0 };
	enum nnhal_status status;
	int fence;

	o.measure = NNHAL_MEASURE_YES;
	o.cancel = l->cancel;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
	o.diag = &l->run.diag;
	if (l->kind == FENCED)
		status = nnhal_prepared_model_execute_fenced(endless, &l->run.request, NULL, 0, &o,
							     &fence, &callback);
	else
		status = nnhal_bound_request_execute_fenced(l->bound, NULL, 0, &o, &fence,
							    &callback);
	if (status)
		return status;
	status = nnhal_fence_wait(fence, WAIT_MS) == NNHAL_FENCE_ERROR ?
		 nnhal_fenced_callback_get_execution_info(callback, &l->run.timing, &fenced) :
		 NNHAL_STATUS_NONE;
	if (fenced.time_on_device != NNHAL_NO_TIMING)
		status = NNHAL_STATUS_NONE;
	close(fence);
	nnhal_fenced_callback_unref(callback);
	return status;
}

static enum nnhal_status run_queue(struct launch *l, struct nnhal_execute_options *o)
{
	enum nnhal_status status;
	uint32_t count = 0;

	o->completions = l->queue;
	status = nnhal_prepared_model_execute(endless, &l->run.request, o, on_end, l);
	while (!status && !count) {
		nnhal_completion_queue_dispatch(l->queue, 1, &count);
		usleep(500);
	}
	return callback_wait(&l->result, status);
}

static void *run_launch(void *data)
{
	struct launch *l = data;
	struct nnhal_execute_options o = with(l->cancel, &l->run);
	struct run *r = &l->run;

	r->num_shapes = 77;
	switch (l->kind) {
	case SYNC:
		l->status = nnhal_prepared_model_execute_synchronously(endless, &r->request, &o,
								       r->shapes, &r->num_shapes,
								       &r->timing);
		break;
	case BOUND_SYNC:
		l->status = nnhal_bound_request_execute_synchronously(l->bound, &o, r->shapes,
								      &r->num_shapes, &r->timing);
		break;
	case ASYNC:
		l->status = callback_wait(&l->result,
					  nnhal_prepared_model_execute(endless, &r->request, &o,
								       on_end, l));
		break;
	case BOUND_ASYNC:
		l->status = callback_wait(&l->result,
					  nnhal_bound_request_execute(l->bound, &o, on_end, l));
		break;
	case QUEUE:
		l->status = run_queue(l, &o);
		break;
	default:
		l->status = run_fenced(l);
		break;
	}
	return NULL;
}

static void launch_init(struct launch *l, enum kind which, struct nnhal_cancel *c)
{
	*l = (struct launch){ .kind = which, .cancel = c, .result = CALLBACK_RESULT_INIT };
	atomic_init(&l->calls, 0);
	init_endless(&l->run);
	MUST(!nnhal_completion_queue_create(device, &l->queue, NULL));
	MUST(!nnhal_bound_request_create(endless, &l->run.request, NULL, &l->bound));
}

static bool launch_is_right(struct launch *l)
{
	bool calls_back = l->kind == ASYNC || l->kind == BOUND_ASYNC || l->kind == QUEUE;

	if (l->status != NNHAL_STATUS_GENERAL_FAILURE || atomic_load(&l->calls) != calls_back)
		return false;
	return l->kind == FENCED || l->kind == BOUND_FENCED || is_nothing(&l->run);
}

static void launch_fini(struct launch *l)
{
	nnhal_bound_request_unref(l->bound);
	nnhal_completion_queue_destroy(l->queue);
	run_fini(&l->run);
}

/* One that would not end by itself, cancelled soon after and in the middle. */
static void test_running(enum kind kind)
{
	struct nnhal_cancel *c;
	struct launch l;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		c = cancel_new();
		launch_init(&l, kind, c);
		MUST(!pthread_create(&l.thread, NULL, run_launch, &l));
		usleep(i * 20000);
		MUST(!nnhal_cancel_request(c));
		pthread_join(l.thread, NULL);
		ok(launch_is_right(&l) && nnhal_cancel_count(c) == 1,
		   "%s, cancelled after %u ms: %s, %u calls, %s", kinds[kind], i * 20,
		   nnhal_status_name((int)l.status), atomic_load(&l.calls), l.run.diag.message);
		launch_fini(&l);
		nnhal_cancel_unref(c);
	}
	ok(add_works(NULL), "the next one works");
}

/* A cancel that is requested already: the execution does not begin. */
static void test_before(void)
{
	struct nnhal_cancel *c = cancel_new();
	struct launch l;
	enum kind kind;

	MUST(!nnhal_cancel_request(c));
	for (kind = 0; kind < NUM_KINDS; kind++) {
		launch_init(&l, kind, c);
		run_launch(&l);
		ok(launch_is_right(&l) && nnhal_cancel_count(c) == kind + 1 &&
		   !strcmp(l.run.diag.message, "the execution was cancelled"),
		   "before it begins, %s: %s, %s", kinds[kind], nnhal_status_name((int)l.status),
		   l.run.diag.message);
		launch_fini(&l);
	}
	nnhal_cancel_unref(c);
}

/* Many with one cancel: the device has some, others wait; and one with another cancel. */
static void test_many(void)
{
	enum { MANY = 40 };
	struct nnhal_cancel *c = cancel_new(), *other = cancel_new();
	struct launch l[MANY], last;
	unsigned int i, good = 0;

	for (i = 0; i < MANY; i++) {
		launch_init(&l[i], i % 2 ? ASYNC : FENCED, c);
		MUST(!pthread_create(&l[i].thread, NULL, run_launch, &l[i]));
	}
	launch_init(&last, ASYNC, other);
	MUST(!pthread_create(&last.thread, NULL, run_launch, &last));
	usleep(20000);
	MUST(!nnhal_cancel_request(c));
	for (i = 0; i < MANY; i++) {
		pthread_join(l[i].thread, NULL);
		good += launch_is_right(&l[i]);
		launch_fini(&l[i]);
	}
	ok(good == MANY && nnhal_cancel_count(c) == MANY, "%u of %u end, %llu counted", good, MANY,
	   (unsigned long long)nnhal_cancel_count(c));
	ok(!atomic_load(&last.calls), "one with another cancel goes on");
	MUST(!nnhal_cancel_request(other));
	pthread_join(last.thread, NULL);
	ok(launch_is_right(&last) && nnhal_cancel_count(other) == 1, "until that is requested");
	launch_fini(&last);
	ok(add_works(NULL), "the next one works");
	nnhal_cancel_unref(c);
	nnhal_cancel_unref(other);
}

/* More than the device takes: the last one has not come to it. Behind it there is room again. */
static void test_waiting(void)
{
	/* The ring of the device in the process has 256. With as many the driver makes us wait. */
	enum { MANY = 600 };
	unsigned int many = is_sim ? MANY : 100, i, waits, early = 0, good = 0;
	struct nnhal_cancel *others = cancel_new(), *own = cancel_new();
	static struct launch l[MANY], behind;
	struct launch *last = &l[many - 1];
	struct nnhal_execute_options o;
	enum nnhal_status status;
	struct run r, s;

	init_endless(&r);
	run_init(&s, 4);
	for (i = 0; i < many; i++) {
		l[i] = (struct launch){ .result = CALLBACK_RESULT_INIT };
		o = with(&l[i] == last ? own : others, &r);
		/* Each would write it. */
		o.diag = NULL;
		MUST(!nnhal_prepared_model_execute(endless, &r.request, &o, on_end, &l[i]));
	}
	MUST(!nnhal_cancel_request(own));
	for (waits = 0; waits < WAIT_MS && !atomic_load(&last->calls); waits++)
		usleep(1000);
	for (i = 0; i < many - 1; i++)
		early += atomic_load(&l[i].calls);
	ok(atomic_load(&last->calls) == 1 &&
	   callback_wait(&last->result, NNHAL_STATUS_NONE) == NNHAL_STATUS_GENERAL_FAILURE &&
	   is_nothing(&last->run) && nnhal_cancel_count(own) == 1 && !early,
	   "the last of %u ends, and %u others", many, early);
	behind = (struct launch){ .result = CALLBACK_RESULT_INIT };
	status = nnhal_prepared_model_execute(add, &s.request, NULL, on_end, &behind);
	MUST(!nnhal_cancel_request(others));
	for (i = 0; i < many - 1; i++)
		good += callback_wait(&l[i].result, NNHAL_STATUS_NONE) ==
			NNHAL_STATUS_GENERAL_FAILURE && atomic_load(&l[i].calls) == 1;
	ok(good == many - 1 && nnhal_cancel_count(others) == good,
	   "the others with their cancel: %u", good);
	ok(!callback_wait(&behind.result, status) && run_output_is_right(&s, 4),
	   "one that was launched behind it runs");
	run_fini(&r);
	run_fini(&s);
	nnhal_cancel_unref(others);
	nnhal_cancel_unref(own);
}

/* One that has ended by itself keeps its result, though nobody has been told yet. */
static void test_ended(void)
{
	struct nnhal_cancel *c = cancel_new();
	struct launch l = { .result = CALLBACK_RESULT_INIT };
	struct nnhal_execute_options o;
	struct pollfd p = { .events = POLLIN };
	uint32_t count = 0;
	struct run r;

	run_init(&r, 4);
	o = with(c, &r);
	MUST(!nnhal_completion_queue_create(device, &o.completions, NULL));
	p.fd = nnhal_completion_queue_fd(o.completions);
	MUST(!nnhal_prepared_model_execute(add, &r.request, &o, on_end, &l));
	MUST(poll(&p, 1, WAIT_MS) == 1);
	MUST(!nnhal_cancel_request(c));
	MUST(!nnhal_completion_queue_dispatch(o.completions, 1, &count));
	ok(count == 1 && atomic_load(&l.calls) == 1 &&
	   !callback_wait(&l.result, NNHAL_STATUS_NONE) && run_output_is_right(&r, 4) &&
	   !nnhal_cancel_count(c), "one that has ended, before its result is delivered");
	nnhal_completion_queue_destroy(o.completions);
	run_fini(&r);
	nnhal_cancel_unref(c);
}

/* ---- fences ---- */

/* A fence that the test signals. */
struct gate {
	int fence, signal, vgem;
	uint32_t number;
};

static bool gate_open(struct gate *g)
{
	*g = (struct gate){ .vgem = -1 };
	if (is_sim)
		return !nnhal_fence_create(&g->fence, &g->signal);
	g->vgem = vgem_open();
	g->fence = g->vgem < 0 ? -1 : vgem_fence_create(g->vgem, &g->number);
	return g->fence >= 0;
}

static void gate_signal(struct gate *g)
{
	if (is_sim)
		nnhal_fence_signal(g->signal, 0);
	else
		vgem_fence_signal(g->vgem, g->number);
}

static void gate_close(struct gate *g)
{
	close(g->fence);
	close(is_sim ? g->signal : g->vgem);
}

/* A link of a chain, cancelled while all wait: it and those behind it fail, not those before. */
static void test_chain(void)
{
	enum { LINKS = 4, BROKEN = 1 };
	struct nnhal_fenced_callback *callbacks[LINKS];
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_cancel *c = cancel_new();
	struct nnhal_timing launched, fenced;
	struct run runs[LINKS];
	enum nnhal_status status;
	int fences[LINKS];
	struct gate gate;
	unsigned int i;

	MUST(gate_open(&gate));
	for (i = 0; i < LINKS; i++) {
		run_init(&runs[i], 4);
		o.cancel = i == BROKEN ? c : NULL;
		MUST(!nnhal_prepared_model_execute_fenced(add, &runs[i].request,
							  i ? &fences[i - 1] : &gate.fence, 1, &o,
							  &fences[i], &callbacks[i]));
	}
	MUST(!nnhal_cancel_request(c));
	ok(nnhal_fence_wait(fences[BROKEN], 50) == NNHAL_FENCE_ACTIVE,
	   "its fence does not signal before those that it waits for");
	gate_signal(&gate);
	for (i = 0; i < LINKS; i++) {
		nnhal_fence_wait(fences[i], WAIT_MS);
		status = nnhal_fenced_callback_get_execution_info(callbacks[i], &launched, &fenced);
		ok(status == (i < BROKEN ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE) &&
		   run_output_is_right(&runs[i], 4) == (i < BROKEN),
		   "D44 link %u of a chain: %s", i, nnhal_status_name((int)status));
		close(fences[i]);
		nnhal_fenced_callback_unref(callbacks[i]);
		run_fini(&runs[i]);
	}
	ok(nnhal_cancel_count(c) == 1, "one was cancelled, the others inherit");
	ok(add_works(NULL), "the next one works");
	gate_close(&gate);
	nnhal_cancel_unref(c);
}

/* Executions have references of their own: the caller's goes while they wait. */
static void test_given_up(void)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_fenced_callback *callback;
	struct nnhal_timing launched, fenced;
	enum nnhal_status status;
	unsigned int i;
	struct gate gate;
	struct run r;
	int fence;

	for (i = 0; i < 2; i++) {
		o.cancel = cancel_new();
		MUST(gate_open(&gate));
		run_init(&r, 4);
		MUST(!nnhal_prepared_model_execute_fenced(add, &r.request, &gate.fence, 1, &o,
							  &fence, &callback));
		if (i)
			MUST(!nnhal_cancel_request(o.cancel));
		nnhal_cancel_unref(o.cancel);
		gate_signal(&gate);
		nnhal_fence_wait(fence, WAIT_MS);
		status = nnhal_fenced_callback_get_execution_info(callback, &launched, &fenced);
		ok(status == (i ? NNHAL_STATUS_GENERAL_FAILURE : NNHAL_STATUS_NONE) &&
		   run_output_is_right(&r, 4) == !i, "a cancel that is given up meanwhile, %s: %s",
		   i ? "requested" : "not requested", nnhal_status_name((int)status));
		close(fence);
		nnhal_fenced_callback_unref(callback);
		gate_close(&gate);
		run_fini(&r);
	}
}

/* ---- buffers ---- */

static void test_buffer(void)
{
	struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_cancel *c = cancel_new();
	struct nnhal_memory *memory;
	struct nnhal_buffer *buffer;
	struct launch l;
	uint32_t token;

	MUST(!nnhal_memory_create(4, &memory, NULL) && nnhal_memory_map(memory, NULL));
	MUST(!nnhal_device_allocate(device, &desc, &endless, 1, NULL, 0, &role, 1, &buffer, &token,
				    NULL));
	MUST(!nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL));
	ok(!nnhal_buffer_copy_to(buffer, memory, NULL), "a buffer with content");
	launch_init(&l, SYNC, c);
	l.run.pools[1].memory = NULL;
	l.run.pools[1].token = token;
	l.run.request.num_pools = 2;
	l.run.outputs[0].location = (struct nnhal_data_location){ .pool_index = 1 };
	MUST(!pthread_create(&l.thread, NULL, run_launch, &l));
	usleep(20000);
	MUST(!nnhal_cancel_request(c));
	pthread_join(l.thread, NULL);
	ok(launch_is_right(&l) && nnhal_cancel_count(c) == 1, "an execution that writes it: %s",
	   l.run.diag.message);
	ok(nnhal_buffer_copy_to(buffer, memory, NULL) == NNHAL_STATUS_GENERAL_FAILURE,
	   "it is uninitialised then");
	launch_fini(&l);
	nnhal_buffer_unref(buffer);
	nnhal_memory_unref(memory);
	nnhal_cancel_unref(c);
}

/* ---- races ---- */

struct racer {
	struct nnhal_cancel *_Atomic cancel;
	atomic_bool stop;
	pthread_t thread;
};

/* Requests each cancel that it finds, at some moment. */
static void *race(void *data)
{
	struct racer *racer = data;
	struct nnhal_cancel *c;
	unsigned int i, n = 0;

	while (!atomic_load(&racer->stop)) {
		c = atomic_exchange(&racer->cancel, NULL);
		if (!c)
			continue;
		for (i = 0; i < n % 64 * 100; i++)
			__asm__ volatile("" : : : "memory");
		n++;
		nnhal_cancel_request(c);
		nnhal_cancel_unref(c);
	}
	return NULL;
}

/* Each ends with its result, or fails and is counted. */
static void test_races(void)
{
	struct racer racer = { .cancel = NULL };
	unsigned int i, wrong = 0, cancelled = 0;
	struct nnhal_execute_options o;
	enum nnhal_status status;
	struct nnhal_cancel *c;
	struct run r;

	run_init(&r, 4);
	MUST(!pthread_create(&racer.thread, NULL, race, &racer));
	for (i = 0; i < RACES; i++) {
		struct launch l = { .result = CALLBACK_RESULT_INIT };

		c = cancel_new();
		memset(r.map + RUN_OUTPUT(0), 0xee, 16);
		o = with(c, &r);
		atomic_store(&racer.cancel, nnhal_cancel_ref(c));
		while (atomic_load(&racer.cancel))
			sched_yield();
		if (i % 2)
			status = nnhal_prepared_model_execute(add, &r.request, &o,
							      on_end, &l);
		else
			status = nnhal_prepared_model_execute_synchronously(add, &r.request, &o,
									    NULL, NULL, NULL);
		if (i % 2)
			status = callback_wait(&l.result, status);
		wrong += atomic_load(&l.calls) != i % 2 || nnhal_cancel_count(c) != (status != 0) ||
			 (status ? status != NNHAL_STATUS_GENERAL_FAILURE :
				   !run_output_is_right(&r, 4));
		cancelled += status != 0;
		nnhal_cancel_unref(c);
	}
	atomic_store(&racer.stop, true);
	pthread_join(racer.thread, NULL);
	ok(!wrong, "%u executions that race with their cancel, %u of them cancelled, %u wrong",
	   RACES, cancelled, wrong);
	run_fini(&r);
}

/* ---- where there is none ---- */

static void test_burst(void)
{
	struct nnhal_cancel *c = cancel_new();
	struct nnhal_execute_options o;
	struct nnhal_burst *burst;
	struct run r;

	run_init(&r, 4);
	o = with(c, &r);
	MUST(!nnhal_burst_create(add, NULL, &burst));
	ok(nnhal_burst_execute(burst, &r.request, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "a burst takes none: %s", r.diag.message);
	ok(nnhal_burst_submit(burst, &r.request, &o, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "nor does a submission");
	ok(!nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) &&
	   run_output_is_right(&r, 4), "the burst works");
	nnhal_burst_unref(burst);
	run_fini(&r);
	nnhal_cancel_unref(c);
}

/* A resilient model hands it on. */
static void test_resilient(void)
{
	struct nnhal_resilient_device *resilient = NULL;
	struct nnhal_resilient_model *model = NULL;
	struct nnhal_cancel *c = cancel_new();
	struct nnhal_execute_options o;
	static struct fixture f;
	struct run r;

	run_init(&r, 4);
	make_add_relu(&f);
	o = with(c, &r);
	MUST(!nnhal_resilient_device_create(test_device_spec(), NULL, NULL, &resilient, &r.diag));
	MUST(!nnhal_resilient_device_prepare_model(resilient, &f.model, NULL, &model));
	ok(!nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL),
	   "a resilient model");
	MUST(!nnhal_cancel_request(c));
	ok(nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_GENERAL_FAILURE && nnhal_cancel_count(c) == 1,
	   "cancelled: it is not repeated");
	nnhal_resilient_model_unref(model);
	nnhal_resilient_device_unref(resilient);
	run_fini(&r);
	nnhal_cancel_unref(c);
}

int main(void)
{
	static struct fixture f;
	enum kind kind;

	device = test_device_open();
	is_sim = device->transport->limits.fence_kinds & FENCE_SOCKET;
	make_add_relu(&f);
	add = prepare_on(device, &f);
	make_while(&f);
	endless = prepare_on(device, &f);
	test_calls();
	test_again();
	test_before();
	for (kind = 0; kind < NUM_KINDS; kind++)
		test_running(kind);
	test_many();
	test_waiting();
	test_ended();
	test_chain();
	test_given_up();
	test_buffer();
	test_races();
	test_burst();
	test_resilient();
	nnhal_prepared_model_unref(add);
	nnhal_prepared_model_unref(endless);
	nnhal_device_unref(device);
	return tap_done();
}
