// SPDX-License-Identifier: MIT
/*
 * Completion queues: results of asynchronous executions on a thread of the caller, each exactly
 * once, whatever happens, and without a thread of the library.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnpu_hw.h>

#include "buffer_rig.h"
#include "device/device_private.h"
#include "nnhal_fixture.h"

#define MANY	1000
#define LONG_MS	60000

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_completion_queue *queue;

/* The result of one execution. */
struct seen {
	atomic_uint calls;
	enum nnhal_status status;
	uint32_t num_shapes;
	pthread_t thread;
	/* Launch so many more from the callback. */
	unsigned int more;
	struct run *r;
};

static enum nnhal_status launch(struct seen *s, uint64_t deadline_ns);

static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	struct seen *s = context;
	/* Who waits for the last call may end @s then. */
	bool has_more = s->more;

	(void)shapes;
	(void)timing;
	s->status = status;
	s->num_shapes = num_shapes;
	s->thread = pthread_self();
	s->more -= has_more;
	atomic_fetch_add(&s->calls, 1);
	if (has_more)
		launch(s, 0);
}

/* @deadline_ns: 0: none. */
static enum nnhal_status launch(struct seen *s, uint64_t deadline_ns)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.completions = queue;
	o.has_deadline = deadline_ns;
	o.deadline_ns = deadline_ns;
	return nnhal_prepared_model_execute(model, &s->r->request, &o, on_result, s);
}

static bool is_readable(int timeout_ms)
{
	struct pollfd p = { .fd = nnhal_completion_queue_fd(queue), .events = POLLIN };

	return poll(&p, 1, timeout_ms) == 1 && p.revents == POLLIN;
}

/* Wait and dispatch until @count results were delivered. */
static uint32_t deliver(uint32_t count, uint32_t max)
{
	uint32_t done, sum = 0;

	while (sum < count && is_readable(LONG_MS)) {
		if (nnhal_completion_queue_dispatch(queue, max, &done) || done > max)
			break;
		sum += done;
	}
	return sum;
}

static void open_queue(void)
{
	MUST(!nnhal_completion_queue_create(device, &queue, NULL));
}

static unsigned int num_threads(void)
{
	return count_entries("/proc/self/task");
}

static void test_one(void)
{
	struct seen s = { .calls = 0 };
	unsigned int threads = num_threads();
	uint32_t count = 77;
	struct run r;

	run_init(&r, 4);
	s.r = &r;
	ok(!is_readable(0) && !nnhal_completion_queue_dispatch(queue, 1, &count) && !count,
	   "nothing at first");
	ok(!launch(&s, 0) && is_readable(LONG_MS) && !atomic_load(&s.calls),
	   "readable when the result waits, and no callback before it is asked for");
	ok(!nnhal_completion_queue_dispatch(queue, 5, &count) && count == 1 && s.calls == 1 &&
	   !s.status && s.num_shapes == 1 && pthread_equal(s.thread, pthread_self()) &&
	   run_output_is_right(&r, 4), "delivered on this thread");
	ok(!is_readable(0) && !nnhal_completion_queue_dispatch(queue, 5, NULL) && s.calls == 1,
	   "once");
	ok(!launch(&s, 1) && is_readable(0) && deliver(1, 1) == 1 && s.calls == 2 &&
	   s.status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT && !s.num_shapes && !is_readable(0),
	   "a result that is there at once");
	ok(num_threads() == threads, "no thread was started");
	s.more = 99;
	s.calls = 0;
	ok(!launch(&s, 0) && deliver(100, 1) == 100 && s.calls == 100 && !s.status,
	   "each callback launches the next one, 100 in all");
	run_fini(&r);
}

/* Launch MANY, with at most @limit descriptors, and take the results @max at a time. */
static void test_many(rlim_t limit, uint32_t max)
{
	struct seen *seen = calloc(MANY, sizeof(*seen));
	struct rlimit old, few;
	unsigned int i, once = 0, launched = 0;
	uint32_t delivered;
	struct run r;

	MUST(seen && !getrlimit(RLIMIT_NOFILE, &old));
	run_init(&r, 4);
	few = old;
	few.rlim_cur = limit < old.rlim_max ? limit : old.rlim_max;
	MUST(!setrlimit(RLIMIT_NOFILE, &few));
	for (i = 0; i < MANY; i++) {
		seen[i].r = &r;
		launched += !launch(&seen[i], 0);
	}
	delivered = deliver(MANY, max);
	MUST(!setrlimit(RLIMIT_NOFILE, &old));
	for (i = 0; i < MANY; i++)
		once += seen[i].calls == 1 && !seen[i].status && seen[i].num_shapes == 1;
	ok(launched == MANY && delivered == MANY && once == MANY && !is_readable(0),
	   "%u launched with at most %u descriptors, %u delivered %u at a time, %u once", launched,
	   (unsigned int)limit, delivered, max, once);
	run_fini(&r);
	free(seen);
}

/*
 * One at a time, while an execution without descriptor runs and keeps the queue readable: a result
 * that waits is delivered by the next call.
 */
static void test_beside(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepare_options low = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *endless;
	struct rlimit old, none;
	struct seen end = { .calls = 0 }, other = { .calls = 0 };
	static struct fixture loop;
	unsigned int fds, waits;
	uint32_t count = 77;
	struct run r, s;

	/* While -1 < 0: add nothing. The others overtake it. */
	make_while(&loop);
	low.priority = NNHAL_PRIORITY_LOW;
	MUST(!nnhal_device_prepare_model_sync(device, &loop.model, &low, &endless));
	MUST(!getrlimit(RLIMIT_NOFILE, &old));
	run_init(&r, 1);
	run_init(&s, 4);
	*(float *)(r.map + RUN_INPUT(0)) = 1;
	*(float *)(r.map + RUN_INPUT(1)) = 20;
	MUST(!nnhal_prepared_model_execute_synchronously(endless, &r.request, NULL, NULL, NULL,
							 NULL));
	*(float *)(r.map + RUN_INPUT(0)) = -1;
	*(float *)(r.map + RUN_INPUT(1)) = 0;
	o.completions = queue;
	o.has_loop_timeout = true;
	/* Engine time: that of the others does not count. */
	o.loop_timeout_ns = 5000000000;
	none = old;
	none.rlim_cur = 0;
	MUST(!setrlimit(RLIMIT_NOFILE, &none));
	MUST(!nnhal_prepared_model_execute(endless, &r.request, &o, on_result, &end));
	MUST(!setrlimit(RLIMIT_NOFILE, &old));
	other.r = &s;
	fds = count_entries("/proc/self/fd");
	MUST(!launch(&other, 0));
	/*
	 * The driver ends jobs in the order of submission: the one before it has ended, too. The
	 * device in the process does not, but closes its end of a fence that has signalled. With a
	 * deadline the execution goes through the driver.
	 */
	o.completions = NULL;
	o.has_deadline = true;
	o.deadline_ns = UINT64_MAX;
	MUST(!nnhal_prepared_model_execute_synchronously(model, &s.request, &o, NULL, NULL, NULL));
	for (waits = 0; waits < LONG_MS && count_entries("/proc/self/fd") > fds + 1; waits++)
		usleep(1000);
	ok(!nnhal_completion_queue_dispatch(queue, 1, &count) && count == 1 && other.calls == 1 &&
	   !end.calls, "a result at once beside one that has no descriptor");
	ok(!nnhal_completion_queue_dispatch(queue, 1, &count) && !count && is_readable(0),
	   "then none");
	ok(deliver(1, 1) == 1 && end.calls == 1 &&
	   end.status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, "until that one has ended");
	run_fini(&r);
	run_fini(&s);
	nnhal_prepared_model_unref(endless);
}

struct taker {
	pthread_t thread;
	atomic_uint *left;
};

static void *take(void *data)
{
	struct taker *t = data;
	uint32_t count;

	while (atomic_load(t->left)) {
		is_readable(1);
		if (nnhal_completion_queue_dispatch(queue, 3, &count))
			break;
		atomic_fetch_sub(t->left, count);
	}
	return NULL;
}

static void test_threads(void)
{
	struct seen *seen = calloc(MANY, sizeof(*seen));
	struct taker takers[4];
	atomic_uint left = MANY;
	unsigned int i, once = 0;
	struct run r;

	MUST(seen);
	run_init(&r, 4);
	for (i = 0; i < 4; i++) {
		takers[i].left = &left;
		pthread_create(&takers[i].thread, NULL, take, &takers[i]);
	}
	for (i = 0; i < MANY; i++) {
		seen[i].r = &r;
		MUST(!launch(&seen[i], 0));
	}
	for (i = 0; i < 4; i++)
		pthread_join(takers[i].thread, NULL);
	for (i = 0; i < MANY; i++)
		once += seen[i].calls == 1 && !seen[i].status;
	ok(once == MANY, "four threads take the results: %u of %u once", once, MANY);
	run_fini(&r);
	free(seen);
}

/* Those in flight are not lost with the queue. */
static void test_destroy(void)
{
	struct seen seen[20] = { { .calls = 0 } };
	unsigned int i, waits, once = 0;
	struct run r;

	run_init(&r, 4);
	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		seen[i].r = &r;
		MUST(!launch(&seen[i], i % 4 == 3 ? 1 : 0));
	}
	nnhal_completion_queue_destroy(queue);
	for (waits = 0; waits < LONG_MS && once < ARRAY_SIZE(seen); waits++) {
		usleep(1000);
		for (i = once = 0; i < ARRAY_SIZE(seen); i++)
			once += atomic_load(&seen[i].calls) == 1;
	}
	ok(once == ARRAY_SIZE(seen), "after the queue was destroyed %u of %zu call back", once,
	   ARRAY_SIZE(seen));
	nnhal_completion_queue_destroy(NULL);
	run_fini(&r);
	open_queue();
}

static void test_refused(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_completion_queue *mine = queue, *other = queue;
	struct nnhal_device *another = test_device_open();
	struct nnhal_burst *burst;
	struct seen s = { .calls = 0 };
	struct run r;

	run_init(&r, 4);
	s.r = &r;
	o.completions = queue;
	o.diag = &r.diag;
	ok(nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && r.diag.message[0], "not for a synchronous execution");
	MUST(!nnhal_burst_create(model, NULL, &burst));
	ok(nnhal_burst_execute(burst, &r.request, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(burst, &r.request, &o, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "nor for a burst");
	nnhal_burst_unref(burst);
	MUST(!nnhal_completion_queue_create(another, &queue, NULL));
	ok(launch(&s, 0) == NNHAL_STATUS_INVALID_ARGUMENT && s.calls == 1 &&
	   s.status == NNHAL_STATUS_INVALID_ARGUMENT, "a queue of another device");
	nnhal_completion_queue_destroy(queue);
	queue = mine;
	r.inputs[0].location.length = 1;
	ok(launch(&s, 0) == NNHAL_STATUS_INVALID_ARGUMENT && s.calls == 2 && !is_readable(0),
	   "a wrong request calls back at once");
	ok(nnhal_completion_queue_create(NULL, &other, &r.diag) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !other &&
	   nnhal_completion_queue_create(device, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_completion_queue_dispatch(NULL, 1, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_completion_queue_dispatch(queue, 0, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_completion_queue_fd(NULL) == -1, "NULL pointers");
	nnhal_device_unref(another);
	run_fini(&r);
}

static void test_child(void)
{
	struct seen s = { .calls = 0 };
	struct run r;
	uint32_t count;
	int status, bad;
	pid_t pid;

	run_init(&r, 4);
	s.r = &r;
	MUST(!launch(&s, 0));
	pid = fork();
	if (!pid) {
		bad = nnhal_completion_queue_dispatch(queue, 1, &count) !=
		      NNHAL_STATUS_DEVICE_UNAVAILABLE;
		nnhal_completion_queue_destroy(queue);
		_exit(bad || s.calls);
	}
	ok(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status),
	   "a child gets DEVICE_UNAVAILABLE and may destroy its copy");
	ok(deliver(1, 1) == 1 && s.calls == 1 && !s.status && !is_readable(0),
	   "the parent gets its result");
	run_fini(&r);
}

/* Memory of a buffer that has to grow: the execution runs again before it calls back. */
static void test_growth(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	static const uint32_t dims[] = { 2048, 1 };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_buffer_state state = NNHAL_BUFFER_STATE_INIT;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *relu = prepare_relu(device, FLOATS, 0, 0, DIMS(0, 1));
	struct nnhal_request_argument in = { .location = { .pool_index = 0 } };
	struct nnhal_request_argument out = { .location = { .pool_index = 1 } };
	struct nnhal_request_pool pools[2] = { { .token = 0 }, { .token = 0 } };
	struct nnhal_request request = {
		.num_inputs = 1, .num_outputs = 1, .num_pools = 2, .inputs = &in, .outputs = &out,
		.pools = pools,
	};
	struct nnhal_buffer *buffers[2];
	struct seen s = { .calls = 0 };
	struct nnhal_memory *memory;
	unsigned int i;

	MUST(!nnhal_memory_create(8192, &memory, NULL));
	for (i = 0; i < 2; i++)
		MUST(!nnhal_device_allocate(device, &desc, &relu, 1, &role, !i, &role, i,
					    &buffers[i], &pools[i].token, NULL));
	MUST(!nnhal_buffer_copy_from(buffers[0], memory, dims, 2, NULL));
	o.completions = queue;
	ok(!nnhal_prepared_model_execute(relu, &request, &o, on_result, &s) &&
	   deliver(1, 1) == 1 && s.calls == 1 && !s.status &&
	   !nnhal_buffer_get_state(buffers[1], &state) && state.content_size == 8192,
	   "an output that needs more memory than its buffer has");
	for (i = 0; i < 2; i++)
		nnhal_buffer_unref(buffers[i]);
	nnhal_memory_unref(memory);
	nnhal_prepared_model_unref(relu);
}

static void test_loss(void)
{
	struct nnhal_completion_queue *mine = queue;
	struct nnhal_prepared_model *good = model;
	struct nnhal_device *all = device;
	struct seen seen[8] = { { .calls = 0 } };
	unsigned int i, launched = 0, failed = 0;
	struct run r;

	/* Also beside a hardware device, which nnhal_faults_test takes away. */
	MUST(!nnhal_device_open("sim:faults", &device, NULL));
	model = prepare_on(device, &f);
	run_init(&r, 4);
	open_queue();
	transport_sim_inject(device->transport, NNPU_INJECT_FATAL, 1);
	for (i = 0; i < ARRAY_SIZE(seen); i++) {
		seen[i].r = &r;
		launched += !launch(&seen[i], 0);
	}
	deliver(launched, 100);
	for (i = 0; i < ARRAY_SIZE(seen); i++)
		failed += seen[i].calls == 1 && seen[i].status && !seen[i].num_shapes;
	ok(launched && failed == ARRAY_SIZE(seen) && !is_readable(0),
	   "the device is lost: %u launched, %u failed, each once", launched, failed);
	nnhal_completion_queue_destroy(queue);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
	queue = mine;
	model = good;
	device = all;
}

int main(void)
{
	unsigned int fds;

	device = test_device_open();
	make_add_relu(&f);
	model = prepare_on(device, &f);
	open_queue();
	test_one();
	fds = count_entries("/proc/self/fd");
	test_many(4096, 7);
	test_many(count_entries("/proc/self/fd") + 20, 64);
	ok(count_entries("/proc/self/fd") == fds, "no descriptor is left");
	test_beside();
	test_threads();
	test_destroy();
	test_refused();
	test_child();
	test_growth();
	test_loss();
	nnhal_completion_queue_destroy(queue);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
