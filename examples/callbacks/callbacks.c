// SPDX-License-Identifier: MIT
/*
 * callbacks: asynchronous executions, several in flight.
 *
 * Usage: callbacks [DEVICE]
 *
 * Prepares a model and executes it eight times. Neither call waits: the library reports
 * each end by a callback, on a thread of its own. So the callback takes a lock for what it
 * shares with the main thread, and does no long work.
 *
 * The model squares a vector: MUL(x, x).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nnhal/nnhal.h>

enum { NUM_EXECUTIONS = 8, ELEMENTS = 1000 };

/* What the callbacks and the main thread share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned int num_running;
static struct nnhal_prepared_model *prepared;

/* One execution. It has to live until its callback has returned. */
struct execution {
	unsigned int number;
	struct nnhal_memory *memory;
	float *x, *y;
	enum nnhal_status status;
	uint64_t device_us;
	struct nnhal_diag diag;
};

static void check(enum nnhal_status status, const char *what, const struct nnhal_diag *diag)
{
	if (status == NNHAL_STATUS_NONE)
		return;
	fprintf(stderr, "callbacks: %s: %s %s\n", what, nnhal_status_name(status),
		diag->message);
	exit(1);
}

static void one_less(void)
{
	num_running--;
	pthread_cond_signal(&changed);
}

static void wait_for_all(void)
{
	pthread_mutex_lock(&lock);
	while (num_running)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

/* The reference of @model is ours from now on. */
static void model_ready(void *context, enum nnhal_status status,
			struct nnhal_prepared_model *model)
{
	enum nnhal_status *result = context;

	pthread_mutex_lock(&lock);
	*result = status;
	prepared = model;
	one_less();
	pthread_mutex_unlock(&lock);
}

/* @shapes is valid during the call only. */
static void execution_done(void *context, enum nnhal_status status,
			   const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			   const struct nnhal_timing *timing)
{
	struct execution *e = context;

	(void)shapes;
	(void)num_shapes;
	pthread_mutex_lock(&lock);
	e->status = status;
	e->device_us = timing->time_on_device;
	one_less();
	pthread_mutex_unlock(&lock);
}

static void prepare(struct nnhal_device *device)
{
	const uint32_t shape[] = { ELEMENTS }, inputs[] = { 0, 0, 1 }, outputs[] = { 2 };
	const int32_t activation = NNHAL_FUSED_NONE;
	const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 2, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 1,
		  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,
		  .location = { .length = sizeof(activation) } },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT },
	};
	const struct nnhal_operation mul = { .type = NNHAL_OPERATION_MUL, .num_inputs = 3,
					     .inputs = inputs, .num_outputs = 1,
					     .outputs = outputs };
	const struct nnhal_model model = {
		.hal_version = NNHAL_HAL_1_3,
		.main = { .num_operands = 3, .operands = operands, .num_operations = 1,
			  .operations = &mul, .num_inputs = 1, .input_indexes = inputs,
			  .num_outputs = 1, .output_indexes = outputs },
		.operand_values = &activation, .operand_values_size = sizeof(activation),
	};
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	enum nnhal_status status;
	struct nnhal_diag diag;

	options.diag = &diag;
	num_running = 1;
	/*
	 * When the function returns, the library has copied the model. If it cannot start, it
	 * calls the callback all the same, so the error is handled in one place.
	 */
	nnhal_device_prepare_model(device, &model, &options, model_ready, &status);
	wait_for_all();
	check(status, "prepare", &diag);
}

static void start(struct execution *e)
{
	const struct nnhal_request_argument input = {
		.location = { .length = ELEMENTS * sizeof(float) },
	};
	const struct nnhal_request_argument output = {
		.location = { .offset = 4096, .length = ELEMENTS * sizeof(float) },
	};
	struct nnhal_request_pool pool = { .memory = NULL };
	const struct nnhal_request request = {
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = 1, .inputs = &input,
		.num_outputs = 1, .outputs = &output,
		.num_pools = 1, .pools = &pool,
	};
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct timespec now;

	check(nnhal_memory_create(8192, &e->memory, &e->diag), "create memory", &e->diag);
	e->x = nnhal_memory_map(e->memory, &e->diag);
	check(e->x ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory", &e->diag);
	e->y = e->x + 1024;
	for (int i = 0; i < ELEMENTS; i++)
		e->x[i] = (float)(e->number * ELEMENTS + (unsigned int)i) / 8;
	pool.memory = e->memory;

	/* An execution that takes longer than ten seconds ends with MISSED_DEADLINE_*. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	options.has_deadline = true;
	options.deadline_ns = (uint64_t)(now.tv_sec + 10) * 1000000000 + (uint64_t)now.tv_nsec;
	options.measure = NNHAL_MEASURE_YES;
	options.diag = &e->diag;
	nnhal_prepared_model_execute(prepared, &request, &options, execution_done, e);
}

/* Count wrong elements. Each product is rounded once, so host and device agree exactly. */
static unsigned int count_wrong(const struct execution *e)
{
	unsigned int wrong = 0;

	for (int i = 0; i < ELEMENTS; i++)
		wrong += e->y[i] != e->x[i] * e->x[i];
	return wrong;
}

int main(int argc, char **argv)
{
	struct execution executions[NUM_EXECUTIONS] = { { .number = 0 } };
	struct nnhal_diag diag = { "" };
	struct nnhal_device *device;
	unsigned int wrong = 0;

	check(nnhal_device_open(argc > 1 ? argv[1] : "drm", &device, &diag), "open the device",
	      &diag);
	prepare(device);
	num_running = NUM_EXECUTIONS;
	for (unsigned int i = 0; i < NUM_EXECUTIONS; i++) {
		executions[i].number = i;
		start(&executions[i]);
	}
	/* Here the program could do something else. */
	wait_for_all();
	for (unsigned int i = 0; i < NUM_EXECUTIONS; i++) {
		struct execution *e = &executions[i];
		unsigned int bad;

		check(e->status, "execute", &e->diag);
		bad = count_wrong(e);
		fprintf(stderr, "execution %u: %llu us on the device\n", i,
			(unsigned long long)e->device_us);
		if (bad)
			fprintf(stderr, "callbacks: execution %u: %u of %d results are wrong\n", i,
				bad, ELEMENTS);
		wrong += bad;
		nnhal_memory_unref(e->memory);
	}
	printf("%d executions, %u wrong results\n", NUM_EXECUTIONS, wrong);
	nnhal_prepared_model_unref(prepared);
	nnhal_device_unref(device);
	return wrong ? 1 : 0;
}
