// SPDX-License-Identifier: MIT
/* The clients: processes of users of their own, which take what they can get. */
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sharing.h"

/* Sampling points: takes days. */
#define ENDLESS		(1 << 20)
#define IN_FLIGHT	256
#define BURST_DEPTH	4
/* More than the device has queues. */
#define MANY_BURSTS	80
/* A process lives no longer. */
#define LIMIT_S		300

struct shared *shared;
struct fixture f;

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- models and their requests ---- */

void make_roi(int32_t points)
{
	static const float region[4] = { 0, 0, 1, 1 }, one = 1;
	static const uint8_t nhwc;
	static const int32_t batch;
	struct graph *g = &f.graph;

	fixture_init(&f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(1, 2, 2, 1));
	add_constant(&f, g, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(1, 4), region, sizeof(region));
	add_constant(&f, g, NNHAL_OPERAND_TENSOR_INT32, DIMS(1), &batch, sizeof(batch));
	add_int32(&f, g, 1);
	add_int32(&f, g, 1);
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &one, sizeof(one));
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &one, sizeof(one));
	add_int32(&f, g, points);
	add_int32(&f, g, points);
	add_constant(&f, g, NNHAL_OPERAND_BOOL, SCALAR, &nhwc, sizeof(nhwc));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(1, 1, 1, 1));
	add_operation(g, NNHAL_OPERATION_ROI_ALIGN, OPERANDS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
		      OPERANDS(10));
	graph_finish(g);
	f.model.main = g->sg;
}

/*
 * BOX_WITH_NMS_LIMIT over 60,000 boxes that do not overlap. All its operands are constants, so only the
 * values say what shape the outputs have. Another operation has the input of the model.
 */
static bool make_boxes(void)
{
	enum { BOXES = 60000, SCORES = 0, CORNERS = BOXES * 8, BATCHES = BOXES * 40, SIZE = BOXES * 44 };
	static const float threshold = 0.25f;
	struct nnhal_operand *o;
	struct graph *g = &f.graph;
	float *values;
	uint32_t i;

	fixture_init(&f);
	if (nnhal_memory_create(SIZE + 4096 - SIZE % 4096, &f.pools[0], NULL))
		return false;
	values = nnhal_memory_map(f.pools[0], NULL);
	if (!values)
		return false;
	for (i = 0; i < BOXES; i++) {
		float x = 10.0f * (float)(i % 250), y = 10.0f * (float)(i / 250);
		const float corners[] = { x, y, x + 1, y + 1 };

		values[2 * i + 1] = 0.5f;
		memcpy(&values[BOXES * 2 + 8 * i], corners, sizeof(corners));
		memcpy(&values[BOXES * 2 + 8 * i + 4], corners, sizeof(corners));
	}
	f.model.num_pools = 1;
	o = &g->operands[add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32,
				     NNHAL_LIFETIME_CONSTANT_REFERENCE, DIMS(BOXES, 2))];
	o->location = (struct nnhal_data_location){ .offset = SCORES, .length = BOXES * 8 };
	o = &g->operands[add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32,
				     NNHAL_LIFETIME_CONSTANT_REFERENCE, DIMS(BOXES, 8))];
	o->location = (struct nnhal_data_location){ .offset = CORNERS, .length = BOXES * 32 };
	/* The first batch for all: the memory is zero. */
	o = &g->operands[add_operand(g, NNHAL_OPERAND_TENSOR_INT32,
				     NNHAL_LIFETIME_CONSTANT_REFERENCE, DIMS(BOXES))];
	o->location = (struct nnhal_data_location){ .offset = BATCHES, .length = BOXES * 4 };
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &threshold, sizeof(threshold));
	add_int32(&f, g, -1);
	add_int32(&f, g, 0);
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &threshold, sizeof(threshold));
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &threshold, sizeof(threshold));
	add_constant(&f, g, NNHAL_OPERAND_FLOAT32, SCALAR, &threshold, sizeof(threshold));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0, 4));
	add_operand(g, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operand(g, NNHAL_OPERAND_TENSOR_INT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(0));
	add_operation(g, NNHAL_OPERATION_BOX_WITH_NMS_LIMIT, OPERANDS(0, 1, 2, 3, 4, 5, 6, 7, 8),
		      OPERANDS(9, 10, 11, 12));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(1));
	add_operation(g, NNHAL_OPERATION_ABS, OPERANDS(13), OPERANDS(14));
	graph_finish(g);
	f.model.main = g->sg;
	return true;
}

bool call_init(struct call *c)
{
	*c = (struct call){
		.input.location.length = 16,
		.output.location = { .offset = 4096, .length = 4 },
	};
	if (nnhal_memory_create(8192, &c->pool.memory, NULL))
		return false;
	c->request = (struct nnhal_request){
		.num_inputs = 1, .inputs = &c->input, .num_outputs = 1, .outputs = &c->output,
		.num_pools = 1, .pools = &c->pool,
	};
	return true;
}

/* ---- what they do ---- */

void give_up(const char *what, enum nnhal_status status)
{
	snprintf(shared->message, sizeof(shared->message), "%s: %s", what,
		 nnhal_status_name((int)status));
	atomic_store(&shared->error, 1);
	_exit(1);
}

struct nnhal_device *open_or_give_up(void)
{
	struct nnhal_device *device;
	enum nnhal_status status = nnhal_device_open(test_device_spec(), &device, NULL);

	if (status)
		give_up("open", status);
	return device;
}

struct nnhal_prepared_model *prepare_or_give_up(struct nnhal_device *device, int32_t priority)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *model;
	enum nnhal_status status;

	o.priority = priority;
	status = nnhal_device_prepare_model_sync(device, &f.model, &o, &model);
	if (status)
		give_up("prepare", status);
	return model;
}

/*
 * The device, or who owns it, ends such a job after a while. What must not happen is that
 * the context is lost.
 */
static void endless_may_end(enum nnhal_status status)
{
	if (status == NNHAL_STATUS_DEAD_OBJECT || status == NNHAL_STATUS_DEVICE_UNAVAILABLE)
		give_up("endless job", status);
}

static void run_endless(void)
{
	struct nnhal_prepared_model *model;
	struct call c;

	make_roi(ENDLESS);
	model = prepare_or_give_up(open_or_give_up(), NNHAL_PRIORITY_MEDIUM);
	if (!call_init(&c))
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	for (;;) {
		atomic_fetch_add(&shared->work, 1);
		endless_may_end(nnhal_prepared_model_execute_synchronously(model, &c.request, NULL,
									   NULL, NULL, NULL));
	}
}

/* @num bursts, each with one request in flight. */
static void run_endless_in(unsigned int num)
{
	static struct nnhal_burst *bursts[MANY_BURSTS];
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	struct call c;
	unsigned int i;

	make_roi(ENDLESS);
	model = prepare_or_give_up(open_or_give_up(), NNHAL_PRIORITY_MEDIUM);
	if (!call_init(&c))
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	for (i = 0; i < num; i++) {
		status = nnhal_burst_create(model, NULL, &bursts[i]);
		if (!status)
			status = nnhal_burst_submit(bursts[i], &c.request, NULL, 0, 0);
		if (status)
			give_up("burst", status);
		atomic_fetch_add(&shared->work, 1);
	}
	for (i = 0;; i = (i + 1) % num) {
		struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;

		status = nnhal_burst_wait(bursts[i], &result, 10000000);
		if (status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT)
			continue;
		endless_may_end(status ? status : result.status);
		status = nnhal_burst_submit(bursts[i], &c.request, NULL, 0, 0);
		if (status)
			give_up("burst", status);
	}
}

static void run_endless_burst(void)
{
	run_endless_in(1);
}

/* When the user has his share of the queues, the next submission waits for a job to end. */
static void run_endless_bursts(void)
{
	run_endless_in(MANY_BURSTS);
}

static void run_prepare(void)
{
	struct nnhal_device *device = open_or_give_up();

	if (!make_boxes())
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	for (;;) {
		nnhal_prepared_model_unref(prepare_or_give_up(device, NNHAL_PRIORITY_MEDIUM));
		atomic_fetch_add(&shared->work, 1);
	}
}

/* Counts ended executions; who waits for one to end is woken. */
static pthread_mutex_t ended_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended_cond = PTHREAD_COND_INITIALIZER;
static unsigned int ended;

void count_ended(void *context, enum nnhal_status status,
		 const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		 const struct nnhal_timing *timing)
{
	atomic_uint *counter = context;

	(void)shapes;
	(void)num_shapes;
	(void)timing;
	if (status)
		give_up("execution", status);
	atomic_fetch_add(counter, 1);
	pthread_mutex_lock(&ended_lock);
	ended++;
	pthread_cond_signal(&ended_cond);
	pthread_mutex_unlock(&ended_lock);
}

void flood(struct nnhal_prepared_model *model, struct call *c, unsigned int in_flight,
	   atomic_uint *counter)
{
	unsigned int begun;

	for (begun = 0;; begun++) {
		pthread_mutex_lock(&ended_lock);
		while (begun - ended >= in_flight)
			pthread_cond_wait(&ended_cond, &ended_lock);
		pthread_mutex_unlock(&ended_lock);
		nnhal_prepared_model_execute(model, &c->request, NULL, count_ended, counter);
	}
}

static void run_flood(void)
{
	struct nnhal_prepared_model *model;
	struct call c;

	make_roi(shared->long_points);
	model = prepare_or_give_up(open_or_give_up(), NNHAL_PRIORITY_MEDIUM);
	if (!call_init(&c))
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	flood(model, &c, IN_FLIGHT, &shared->work);
}

void run_bursts(int32_t points, unsigned int num, unsigned int depth, int32_t priority,
		atomic_uint *counter)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst *bursts[BURSTS];
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	unsigned int i, n;
	struct call c;

	make_roi(points);
	model = prepare_or_give_up(open_or_give_up(), priority);
	if (!call_init(&c))
		give_up("memory", NNHAL_STATUS_GENERAL_FAILURE);
	o.depth = depth;
	for (i = 0; i < num; i++) {
		status = nnhal_burst_create(model, &o, &bursts[i]);
		for (n = 0; !status && n < depth; n++)
			status = nnhal_burst_submit(bursts[i], &c.request, NULL, n, 0);
		if (status)
			give_up("burst", status);
	}
	for (i = 0;; i = (i + 1) % num) {
		struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;

		status = nnhal_burst_wait(bursts[i], &result, num == 1 ? UINT64_MAX : 200000);
		if (status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT)
			continue;
		if (!status)
			status = result.status;
		if (!status)
			status = nnhal_burst_submit(bursts[i], &c.request, NULL, 0, 0);
		if (status)
			give_up("burst", status);
		atomic_fetch_add(counter, 1);
	}
}

static void run_high_bursts(void)
{
	run_bursts(shared->long_points, BURSTS, BURST_DEPTH, NNHAL_PRIORITY_HIGH, &shared->work);
}

/* Open the device and take a context, until there is none; then go on trying. */
static void run_open(void)
{
	struct nnhal_prepared_model *model;
	struct nnhal_device *device;

	make_add_relu(&f);
	for (;;) {
		if (nnhal_device_open(test_device_spec(), &device, NULL) ||
		    nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
			atomic_fetch_add(&shared->work, 1);
			usleep(10000);
		}
	}
}

const struct large_client large_clients[] = {
	{ "nobody", NULL },
	{ "endless jobs", run_endless },
	{ "endless jobs in a burst", run_endless_burst },
	{ "endless jobs in 80 bursts", run_endless_bursts },
	{ "a loop of prepares", run_prepare },
	{ "256 jobs of 50 ms in flight", run_flood },
	{ "15 bursts of high priority", run_high_bursts },
	{ "a client that opens the device", run_open },
};

const unsigned int num_large_clients = sizeof(large_clients) / sizeof(large_clients[0]);

/* ---- processes ---- */

pid_t start(uid_t uid, void (*function)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	/* Ends what waits for ever. */
	alarm(LIMIT_S);
	if (!geteuid() && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
		_exit(2);
	function();
	_exit(0);
}

bool end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

bool wait_for(atomic_uint *counter, unsigned int value)
{
	uint64_t until = now_ns() + 120000000000u;

	while (atomic_load(counter) < value && !atomic_load(&shared->error)) {
		if (now_ns() >= until)
			return false;
		usleep(1000);
	}
	return !atomic_load(&shared->error);
}
