// SPDX-License-Identifier: MIT
/*
 * Asynchronous executions, many at once, from many threads; closing in odd orders.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "nnhal_fixture.h"

#define NUM_RUNS	64
#define NUM_THREADS	4
#define LOOPS		50

static struct nnhal_device *device;
static struct fixture f;
static struct nnhal_prepared_model *model;

/* One asynchronous run. */
struct job {
	struct run run;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	unsigned int calls;
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_output_shape shape;
	struct nnhal_timing timing;
	pthread_t thread;
	/* Released by the callback, if set. */
	struct nnhal_prepared_model *release;
};

static struct job jobs[NUM_RUNS];

static void job_init(struct job *j, uint32_t count)
{
	memset(j, 0, sizeof(*j));
	pthread_mutex_init(&j->lock, NULL);
	pthread_cond_init(&j->cond, NULL);
	run_init(&j->run, count);
}

static void on_executed(void *context, enum nnhal_status status,
			const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			const struct nnhal_timing *timing)
{
	struct job *j = context;

	nnhal_prepared_model_unref(j->release);
	pthread_mutex_lock(&j->lock);
	j->calls++;
	j->status = status;
	j->num_shapes = num_shapes;
	if (num_shapes)
		j->shape = shapes[0];
	j->timing = *timing;
	j->thread = pthread_self();
	pthread_cond_broadcast(&j->cond);
	pthread_mutex_unlock(&j->lock);
}

static void job_wait(struct job *j)
{
	pthread_mutex_lock(&j->lock);
	while (!j->calls)
		pthread_cond_wait(&j->cond, &j->lock);
	pthread_mutex_unlock(&j->lock);
}

static enum nnhal_status launch(struct job *j, const struct nnhal_execute_options *o)
{
	return nnhal_prepared_model_execute(model, &j->run.request, o, on_executed, j);
}

static bool no_timing(const struct job *j)
{
	return j->timing.time_on_device == NNHAL_NO_TIMING &&
	       j->timing.time_in_driver == NNHAL_NO_TIMING;
}

static void prepare(void)
{
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
		printf("Bail out! model cannot be prepared\n");
		exit(1);
	}
}

static void test_one(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct job *j = &jobs[0];
	enum nnhal_status status;

	job_init(j, 4);
	o.measure = NNHAL_MEASURE_YES;
	status = launch(j, &o);
	job_wait(j);
	ok(!status && !j->status && j->calls == 1 && run_output_is_right(&j->run, 4),
	   "D32 one execution, one callback");
	ok(!pthread_equal(j->thread, pthread_self()), "from another thread");
	ok(j->num_shapes == 1 && j->shape.num_dimensions == 2 && j->shape.is_sufficient,
	   "D15 with its shape");
	ok(j->timing.time_in_driver != NNHAL_NO_TIMING &&
	   j->timing.time_on_device <= j->timing.time_in_driver, "D21 and its timing");
	run_fini(&j->run);
}

static void test_refused(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct job *j = &jobs[0];
	enum nnhal_status status;

	job_init(j, 4);
	ok(nnhal_prepared_model_execute(model, &j->run.request, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "D13 no callback");
	j->run.request.num_inputs = 1;
	status = launch(j, NULL);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT && j->calls == 1 && j->status == status &&
	   pthread_equal(j->thread, pthread_self()) && j->num_shapes == 0 && no_timing(j),
	   "D32 invalid request: callback first, then the same launch status");
	run_fini(&j->run);
	job_init(j, 4);
	o.measure = 7;
	ok(launch(j, &o) == NNHAL_STATUS_INVALID_ARGUMENT && j->calls == 1, "D13 measure 7");
	run_fini(&j->run);
	job_init(j, 4);
	j->run.outputs[0].location.length = 15;
	status = launch(j, NULL);
	job_wait(j);
	ok(!status && j->status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && j->num_shapes == 1 &&
	   !j->shape.is_sufficient && no_timing(j), "D18 output one byte short");
	run_fini(&j->run);
	job_init(j, 4);
	o = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	o.has_deadline = true;
	o.deadline_ns = 1;
	status = launch(j, &o);
	job_wait(j);
	ok(!status && j->status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT && j->calls == 1 &&
	   j->num_shapes == 0 && !pthread_equal(j->thread, pthread_self()),
	   "D26 deadline passed: launch NONE, then MISSED_DEADLINE_PERSISTENT");
	run_fini(&j->run);
	job_init(j, 4);
	ok(nnhal_prepared_model_execute(NULL, &j->run.request, NULL, on_executed, j) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && j->calls == 1 &&
	   nnhal_prepared_model_execute(model, NULL, NULL, on_executed, j) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && j->calls == 2, "NULL pointers");
	run_fini(&j->run);
}

static void test_many(void)
{
	unsigned int i, launched = 0, good = 0;

	for (i = 0; i < NUM_RUNS; i++) {
		job_init(&jobs[i], 4);
		launched += !launch(&jobs[i], NULL);
	}
	ok(launched == NUM_RUNS, "%u launches", launched);
	for (i = 0; i < NUM_RUNS; i++) {
		job_wait(&jobs[i]);
		good += !jobs[i].status && jobs[i].calls == 1 &&
			run_output_is_right(&jobs[i].run, 4);
		run_fini(&jobs[i].run);
	}
	ok(good == NUM_RUNS, "D34 %u right results, one callback each", good);
}

/* The caller drops its memory right after the launch; the run still completes. */
static void test_memory_goes(void)
{
	struct job *j = &jobs[0];

	job_init(j, 4);
	ok(!launch(j, NULL), "launch");
	run_fini(&j->run);
	job_wait(j);
	ok(!j->status && j->calls == 1, "D36 memory released right after the launch");
}

/* Request structures may go or change after the launch as well. */
static void test_request_goes(void)
{
	struct job *j = &jobs[0];

	job_init(j, 4);
	ok(!launch(j, NULL), "launch");
	memset(&j->run.request, 0xa5, sizeof(j->run.request));
	memset(j->run.inputs, 0xa5, sizeof(j->run.inputs));
	memset(j->run.outputs, 0xa5, sizeof(j->run.outputs));
	memset(j->run.pools, 0xa5, sizeof(j->run.pools));
	job_wait(j);
	ok(!j->status && run_output_is_right(&j->run, 4), "request overwritten after the launch");
	run_fini(&j->run);
}

static atomic_uint failures;

/* Synchronous and asynchronous runs with memory of its own, in turns. */
static void *worker(void *data)
{
	struct job own;
	unsigned int i;

	(void)data;
	for (i = 0; i < LOOPS; i++) {
		job_init(&own, 4);
		if (i % 2) {
			if (launch(&own, NULL))
				failures++;
			job_wait(&own);
			if (own.status || own.calls != 1)
				failures++;
		} else if (nnhal_prepared_model_execute_synchronously(model, &own.run.request,
								      NULL, NULL, NULL, NULL)) {
			failures++;
		}
		if (!run_output_is_right(&own.run, 4))
			failures++;
		run_fini(&own.run);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[NUM_THREADS];
	unsigned int i;

	failures = 0;
	for (i = 0; i < NUM_THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			failures++;
	for (i = 0; i < NUM_THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(!failures, "D34 %u threads, %u runs each, on one model", NUM_THREADS, LOOPS);
}

static void *preparer(void *data)
{
	struct nnhal_prepared_model *own = NULL;
	unsigned int i;

	for (i = 0; i < LOOPS / 5; i++) {
		if (nnhal_device_prepare_model_sync(data, &f.model, NULL, &own))
			failures++;
		nnhal_prepared_model_unref(own);
	}
	return NULL;
}

static void test_prepare_threads(void)
{
	pthread_t threads[NUM_THREADS];
	unsigned int i;

	failures = 0;
	for (i = 0; i < NUM_THREADS; i++)
		if (pthread_create(&threads[i], NULL, i % 2 ? preparer : worker, device))
			failures++;
	for (i = 0; i < NUM_THREADS; i++)
		pthread_join(threads[i], NULL);
	ok(!failures, "C09 models prepared and run at the same time");
}

/* One memory object on two devices that close before and after it. */
static void test_two_devices(void)
{
	struct nnhal_device *devices[2];
	struct nnhal_prepared_model *models[2];
	struct run r;
	unsigned int i, good = 0;

	run_init(&r, 4);
	for (i = 0; i < 2; i++) {
		devices[i] = test_device_open();
		good += !nnhal_device_prepare_model_sync(devices[i], &f.model, NULL, &models[i]);
		good += !nnhal_prepared_model_execute_synchronously(models[i], &r.request, NULL,
								    NULL, NULL, NULL);
	}
	ok(good == 4, "one memory object on two devices");
	nnhal_device_unref(devices[0]);
	ok(!nnhal_prepared_model_execute_synchronously(models[0], &r.request, NULL, NULL, NULL,
						       NULL), "the model keeps its device open");
	nnhal_prepared_model_unref(models[0]);
	ok(!nnhal_prepared_model_execute_synchronously(models[1], &r.request, NULL, NULL, NULL,
						       NULL), "one device closed, the other runs");
	run_fini(&r);
	run_init(&r, 4);
	ok(!nnhal_prepared_model_execute_synchronously(models[1], &r.request, NULL, NULL, NULL,
						       NULL) && run_output_is_right(&r, 4),
	   "memory gone, other memory");
	nnhal_prepared_model_unref(models[1]);
	nnhal_device_unref(devices[1]);
	run_fini(&r);
}

/* Release everything while executions are pending, also from the callback itself. */
static void test_closing(void)
{
	struct nnhal_prepared_model *kept = model;
	unsigned int round, i, good = 0;

	for (round = 0; round < 3; round++) {
		struct nnhal_device *own = test_device_open();

		if (nnhal_device_prepare_model_sync(own, &f.model, NULL, &model))
			break;
		for (i = 0; i < 8; i++) {
			job_init(&jobs[i], 4);
			/* The last callback releases the last reference to the model. */
			if (round == 2)
				jobs[i].release = nnhal_prepared_model_ref(model);
			launch(&jobs[i], NULL);
		}
		if (round == 1)
			nnhal_device_unref(own);
		nnhal_prepared_model_unref(model);
		if (round != 1)
			nnhal_device_unref(own);
		for (i = 0; i < 8; i++) {
			job_wait(&jobs[i]);
			good += !jobs[i].status && jobs[i].calls == 1 &&
				run_output_is_right(&jobs[i].run, 4);
			run_fini(&jobs[i].run);
		}
	}
	ok(good == 24, "H03 24 pending executions came to their end (%u)", good);
	model = kept;
}

/* A callback that tells of the end and then takes its time. */
#define MOST_OUTPUTS	20

struct slow_callback {
	sem_t told;
	enum nnhal_status status;
	uint32_t num_shapes, num_right;
	atomic_bool has_returned;
};

static void on_end(void *context, enum nnhal_status status, const struct nnhal_output_shape *shapes,
		   uint32_t num_shapes, const struct nnhal_timing *timing)
{
	struct slow_callback *slow = context;
	uint32_t i;

	(void)timing;
	sem_post(&slow->told);
	usleep(100000);
	/* The device may be closed by now, but the shapes are there. */
	slow->status = status;
	slow->num_shapes = num_shapes;
	for (i = 0; i < num_shapes; i++)
		slow->num_right += shapes[i].is_sufficient && shapes[i].num_dimensions == 2 &&
				   shapes[i].dimensions[0] == 2 && shapes[i].dimensions[1] == 2;
	atomic_store(&slow->has_returned, true);
}

/* @count sums of the same inputs. */
static void make_sums(struct fixture *sums, uint32_t count)
{
	uint32_t i;

	fixture_init(sums);
	add_operand(&sums->graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(2, 2));
	add_operand(&sums->graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(2, 2));
	add_int32(sums, &sums->graph, 0);
	for (i = 0; i < count; i++) {
		add_operand(&sums->graph, NNHAL_OPERAND_TENSOR_FLOAT32,
			    NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(2, 2));
		add_operation(&sums->graph, NNHAL_OPERATION_ADD, OPERANDS(0, 1, 2),
			      OPERANDS((int32_t)i + 3));
	}
	fixture_finish(sums, 0);
}

/*
 * Who was told of the end and then releases everything may end the process at once: no thread of the
 * library is left that could still be at work.
 */
static void test_close_waits(uint32_t num_outputs)
{
	struct nnhal_request_argument outputs[MOST_OUTPUTS];
	unsigned int threads = count_entries("/proc/self/task");
	struct slow_callback slow = { .has_returned = false };
	struct nnhal_device *own = test_device_open();
	struct nnhal_prepared_model *sums_model;
	static struct fixture sums;
	struct run r;
	uint32_t i;

	sem_init(&slow.told, 0, 0);
	make_sums(&sums, num_outputs);
	run_init(&r, 4);
	for (i = 0; i < num_outputs; i++) {
		outputs[i] = r.outputs[0];
		outputs[i].location.offset = RUN_OUTPUT(0) + i * 16;
	}
	r.request.outputs = outputs;
	r.request.num_outputs = num_outputs;
	if (!ok(!nnhal_device_prepare_model_sync(own, &sums.model, NULL, &sums_model) &&
		!nnhal_prepared_model_execute(sums_model, &r.request, NULL, on_end, &slow),
		"an execution with %u outputs", num_outputs))
		exit(1);
	while (sem_wait(&slow.told))
		;
	nnhal_prepared_model_unref(sums_model);
	nnhal_device_unref(own);
	ok(atomic_load(&slow.has_returned), "closing the device waits for the callback");
	ok(!slow.status && slow.num_shapes == num_outputs && slow.num_right == num_outputs,
	   "which has all the shapes");
	ok(wait_for_entries("/proc/self/task", threads) <= threads, "and no thread is left");
	run_fini(&r);
	sem_destroy(&slow.told);
}

/* A callback that starts the next execution, and one that runs one synchronously. */
struct chain {
	struct job job;
	unsigned int left;		/* the callback's own */
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	enum nnhal_status status;
};

static void on_chain(void *context, enum nnhal_status status,
		     const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		     const struct nnhal_timing *timing)
{
	struct chain *c = context;

	(void)shapes;
	(void)num_shapes;
	(void)timing;
	if (!status && c->left == 1)
		status = nnhal_prepared_model_execute_synchronously(model, &c->job.run.request,
								    NULL, NULL, NULL, NULL);
	if (!status && --c->left) {
		nnhal_prepared_model_execute(model, &c->job.run.request, NULL, on_chain, c);
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->status = status;
	c->done = true;
	pthread_cond_signal(&c->cond);
	pthread_mutex_unlock(&c->lock);
}

static void test_chain(void)
{
	static struct chain c;

	job_init(&c.job, 4);
	pthread_mutex_init(&c.lock, NULL);
	pthread_cond_init(&c.cond, NULL);
	c.left = 100;
	c.status = NNHAL_STATUS_GENERAL_FAILURE;
	nnhal_prepared_model_execute(model, &c.job.run.request, NULL, on_chain, &c);
	pthread_mutex_lock(&c.lock);
	while (!c.done)
		pthread_cond_wait(&c.cond, &c.lock);
	pthread_mutex_unlock(&c.lock);
	ok(!c.status && run_output_is_right(&c.job.run, 4),
	   "callbacks that start the next execution, the last one a synchronous one");
	run_fini(&c.job.run);
}

/* More executions at once than the queues have entries. */
static void test_flood(void)
{
	enum { FLOOD = 600 };
	static struct job flood[FLOOD];
	unsigned int i, launched = 0, good = 0;

	for (i = 0; i < FLOOD; i++) {
		job_init(&flood[i], 4);
		launched += !launch(&flood[i], NULL);
	}
	for (i = 0; i < FLOOD; i++) {
		job_wait(&flood[i]);
		good += !flood[i].status && flood[i].calls == 1 &&
			run_output_is_right(&flood[i].run, 4);
		run_fini(&flood[i].run);
	}
	ok(launched == FLOOD && good == FLOOD, "%u executions pending at once", FLOOD);
}

int main(void)
{
	device = test_device_open();
	make_add_relu(&f);
	prepare();
	test_one();
	test_refused();
	test_many();
	test_memory_goes();
	test_request_goes();
	test_threads();
	test_prepare_threads();
	test_two_devices();
	test_closing();
	test_close_waits(1);
	test_close_waits(MOST_OUTPUTS);
	test_chain();
	test_flood();
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
