// SPDX-License-Identifier: MIT
/*
 * nnbench: what the software around the device costs.
 *
 * All figures come from one run on one machine and mean something as ratios: to
 * the floor (a system call; a round trip between two processes, which is what
 * any service-based transport pays at least) and to each other. Medians of many.
 *
 *   nnbench [--device DEVICE] [--count N] [--json FILE]
 *   nnbench [--device DEVICE] [--count N] [--json FILE] burst	only bursts
 *   nnbench [--count N] fmq	message queues between two processes; no device
 */
#include <errno.h>
#include <getopt.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "../common/clock.h"
#include "nnbench_fmq.h"

#define DEPTH		8
#define MAX_DEPTH	16
/*
 * Executions in pieces that are short beside the time that a machine gives to other work,
 * several in a row, the first of which does not count.
 */
#define PIECE		32
#define PIECES		9
/*
 * So many times as many executions of pipelines as of other things: they are quick, and a
 * machine that shares its CPUs with others has times of seconds in which it is another one.
 */
#define PIPELINE_FACTOR	256
#define MAX_METRICS	48

struct metric {
	const char *name;
	const char *what;
	double value;
};

struct bench {
	const char *device_spec;
	unsigned int count;
	struct nnhal_device *device;
	struct nnhal_prepared_model *model;
	struct nnhal_memory *memory;
	float *data;
	uint64_t *samples;
	struct metric metrics[MAX_METRICS];
	unsigned int num_metrics;
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts the samples. */
static double percentile(uint64_t *samples, unsigned int count, unsigned int percent)
{
	qsort(samples, count, sizeof(*samples), compare_u64);
	return (double)samples[(uint64_t)(count - 1) * percent / 100];
}

static double metric(struct bench *b, const char *name, const char *what, double value)
{
	b->metrics[b->num_metrics++] = (struct metric) { name, what, value };
	return value;
}

static int failed(const char *what, enum nnhal_status status, const struct nnhal_diag *diag)
{
	fprintf(stderr, "nnbench: %s: %s%s%s\n", what, nnhal_status_name(status),
		diag && diag->message[0] ? ": " : "", diag ? diag->message : "");
	return -1;
}

/* ADD of two single floats: as little work as an operation can be. */
static int prepare(struct bench *b)
{
	static const uint32_t dims[] = { 1 }, inputs[] = { 0, 1, 2 }, outputs[] = { 3 };
	static const int32_t activation;
	const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = dims,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = dims,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 1,
		  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,
		  .location = { .length = sizeof(activation) } },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = dims,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT },
	};
	const struct nnhal_operation operation = {
		.type = NNHAL_OPERATION_ADD,
		.num_inputs = 3, .inputs = inputs, .num_outputs = 1, .outputs = outputs,
	};
	const struct nnhal_model model = {
		.main = {
			.num_operands = 4, .operands = operands,
			.num_operations = 1, .operations = &operation,
			.num_inputs = 2, .input_indexes = inputs,
			.num_outputs = 1, .output_indexes = outputs,
		},
		.operand_values = &activation,
		.operand_values_size = sizeof(activation),
	};
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_diag diag = { .message = "" };
	enum nnhal_status status;

	status = nnhal_device_open(b->device_spec, &b->device, &diag);
	if (status)
		return failed(b->device_spec, status, &diag);
	options.diag = &diag;
	status = nnhal_device_prepare_model_sync(b->device, &model, &options, &b->model);
	if (status)
		return failed("prepare", status, &diag);
	status = nnhal_memory_create(4096, &b->memory, &diag);
	if (status)
		return failed("memory", status, &diag);
	b->data = nnhal_memory_map(b->memory, &diag);
	if (!b->data)
		return failed("memory", NNHAL_STATUS_GENERAL_FAILURE, &diag);
	b->data[0] = 1;
	b->data[16] = 2;
	return 0;
}

struct add_request {
	struct nnhal_request request;
	struct nnhal_request_argument inputs[2];
	struct nnhal_request_argument output;
	struct nnhal_request_pool pool;
};

/* Slot @i of the memory takes the output. */
static void request_init(struct bench *b, struct add_request *r, unsigned int i)
{
	memset(r, 0, sizeof(*r));
	r->pool.memory = b->memory;
	r->inputs[0].location.length = sizeof(float);
	r->inputs[1].location.offset = 64;
	r->inputs[1].location.length = sizeof(float);
	r->output.location.offset = 128 + 64 * i;
	r->output.location.length = sizeof(float);
	r->request.num_inputs = 2;
	r->request.inputs = r->inputs;
	r->request.num_outputs = 1;
	r->request.outputs = &r->output;
	r->request.num_pools = 1;
	r->request.pools = &r->pool;
}

static void bench_syscall(struct bench *b)
{
	unsigned int i;

	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		syscall(SYS_getppid);
		b->samples[i] = now_ns() - start;
	}
	metric(b, "syscall_ns", "system call", percentile(b->samples, b->count, 50));
}

/* Two processes wake each other: the floor of any transport with a service process. */
static int bench_round_trip(struct bench *b)
{
	int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
	uint64_t value = 1;
	unsigned int i;
	pid_t pid;

	if (there < 0 || back < 0)
		return failed("eventfd", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	pid = fork();
	if (pid < 0)
		return failed("fork", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	if (!pid) {
		while (read(there, &value, sizeof(value)) == sizeof(value) && value < 1000) {
			value = 1;
			if (write(back, &value, sizeof(value)) != sizeof(value))
				break;
		}
		_exit(0);
	}
	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		value = 1;
		if (write(there, &value, sizeof(value)) != sizeof(value) ||
		    read(back, &value, sizeof(value)) != sizeof(value))
			break;
		b->samples[i] = now_ns() - start;
	}
	value = 1000;
	if (write(there, &value, sizeof(value)) != sizeof(value))
		i = 0;
	waitpid(pid, NULL, 0);
	close(there);
	close(back);
	if (i != b->count)
		return failed("round trip", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	metric(b, "round_trip_ns", "wake-up round trip between two processes (eventfd)",
	       percentile(b->samples, b->count, 50));
	return 0;
}

/* One direction of the queue: a counter to sleep on, and a message beside it. */
struct futex_queue {
	atomic_uint sent;
	uint32_t message[16];
};

static void futex_send(struct futex_queue *q)
{
	q->message[0]++;
	atomic_fetch_add(&q->sent, 1);
	syscall(SYS_futex, &q->sent, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void futex_receive(struct futex_queue *q, unsigned int seen)
{
	while (atomic_load(&q->sent) == seen)
		syscall(SYS_futex, &q->sent, FUTEX_WAIT, seen, NULL, NULL, 0);
}

/*
 * A message queue in shared memory in each direction, with futexes as event flags: what
 * a burst costs at least where it is a service's (both sides sleep at once).
 */
static int bench_message_queue(struct bench *b)
{
	struct futex_queue *q = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int i;
	pid_t pid;

	if (q == MAP_FAILED)
		return failed("mmap", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	pid = fork();
	if (pid < 0)
		return failed("fork", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	if (!pid) {
		for (i = 0; i < b->count; i++) {
			futex_receive(&q[0], i);
			futex_send(&q[1]);
		}
		_exit(0);
	}
	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		futex_send(&q[0]);
		futex_receive(&q[1], i);
		b->samples[i] = now_ns() - start;
	}
	waitpid(pid, NULL, 0);
	munmap(q, 4096);
	metric(b, "message_queue_ns", "round trip over futex message queues",
	       percentile(b->samples, b->count, 50));
	return 0;
}

static int bench_execute(struct bench *b)
{
	struct nnhal_ext_profile profile = { .max_entries = 0 };
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	uint64_t device = 0, queue = 0, total = 0;
	struct add_request r;
	unsigned int i;

	request_init(b, &r, 0);
	for (i = 0; i < b->count + b->count / 10; i++) {
		uint64_t start = now_ns();
		enum nnhal_status status;

		status = nnhal_prepared_model_execute_synchronously(b->model, &r.request, NULL,
								    NULL, NULL, NULL);
		if (status)
			return failed("execute", status, NULL);
		/* The first tenth only warms up. */
		if (i >= b->count / 10)
			b->samples[i - b->count / 10] = now_ns() - start;
	}
	if (b->data[32] != 3)
		return failed("execute gave a wrong sum", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	metric(b, "execute_p50_ns", "execute synchronously, one ADD of one float",
	       percentile(b->samples, b->count, 50));
	metric(b, "execute_p90_ns", "  90 %", percentile(b->samples, b->count, 90));
	metric(b, "execute_p99_ns", "  99 %", percentile(b->samples, b->count, 99));

	options.profile = &profile;
	for (i = 0; i < b->count / 4 + 1; i++) {
		uint64_t start = now_ns();

		if (nnhal_prepared_model_execute_synchronously(b->model, &r.request, &options,
							       NULL, NULL, NULL))
			return failed("execute", NNHAL_STATUS_GENERAL_FAILURE, NULL);
		total += now_ns() - start;
		device += profile.exec_ns;
		queue += profile.queue_ns;
	}
	metric(b, "device_ns", "  of that on the device (mean)", (double)device / i);
	metric(b, "queue_ns", "  of that in the device's queue (mean)", (double)queue / i);
	metric(b, "software_ns", "  library, driver, interrupt, wake-up (mean)",
	       (double)(total - device - queue) / i);
	return 0;
}

struct pipeline {
	pthread_mutex_t lock;
	pthread_cond_t done;
	unsigned int in_flight;
	enum nnhal_status status;
};

static void pipeline_done(void *context, enum nnhal_status status,
			  const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			  const struct nnhal_timing *timing)
{
	struct pipeline *p = context;

	(void)shapes;
	(void)num_shapes;
	(void)timing;
	pthread_mutex_lock(&p->lock);
	p->in_flight--;
	if (status)
		p->status = status;
	pthread_cond_signal(&p->done);
	pthread_mutex_unlock(&p->lock);
}

/* Nanoseconds per execution with up to @depth of them in flight. */
static int run_pipeline(struct bench *b, unsigned int depth, double *ns)
{
	struct pipeline p = { .status = NNHAL_STATUS_NONE };
	struct add_request r[DEPTH];
	uint64_t start;
	unsigned int i;

	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.done, NULL);
	for (i = 0; i < depth; i++)
		request_init(b, &r[i], i);
	start = now_ns();
	for (i = 0; i < b->count && !p.status; i++) {
		pthread_mutex_lock(&p.lock);
		while (p.in_flight >= depth)
			pthread_cond_wait(&p.done, &p.lock);
		p.in_flight++;
		pthread_mutex_unlock(&p.lock);
		nnhal_prepared_model_execute(b->model, &r[i % depth].request, NULL,
					     pipeline_done, &p);
	}
	pthread_mutex_lock(&p.lock);
	while (p.in_flight)
		pthread_cond_wait(&p.done, &p.lock);
	pthread_mutex_unlock(&p.lock);
	*ns = (double)(now_ns() - start) / b->count;
	pthread_cond_destroy(&p.done);
	pthread_mutex_destroy(&p.lock);
	return p.status ? failed("asynchronous execute", p.status, NULL) : 0;
}

static int bench_pipeline(struct bench *b)
{
	double one, deep;

	if (run_pipeline(b, 1, &one) || run_pipeline(b, DEPTH, &deep))
		return -1;
	metric(b, "async_depth1_ns", "asynchronous execution, one in flight", one);
	metric(b, "async_depth8_ns", "asynchronous execution, eight in flight", deep);
	return 0;
}

static struct nnhal_burst *open_burst(struct bench *b, unsigned int depth, uint32_t spin_us)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_diag diag = { .message = "" };
	struct nnhal_burst *burst;
	enum nnhal_status status;

	options.depth = depth;
	options.spin_us = spin_us;
	options.diag = &diag;
	status = nnhal_burst_create(b->model, &options, &burst);
	if (status)
		failed("burst", status, &diag);
	return burst;
}

/* Round trips of a burst that spins as it likes, and of one that sleeps at once. */
static int burst_round_trips(struct bench *b, uint32_t spin_us)
{
	struct nnhal_burst *burst = open_burst(b, 0, spin_us);
	enum nnhal_status status = NNHAL_STATUS_NONE;
	unsigned int i, warm = b->count / 10;
	struct add_request r;

	if (!burst)
		return -1;
	request_init(b, &r, 0);
	b->data[32] = 0;
	for (i = 0; i < b->count + warm && !status; i++) {
		uint64_t start = now_ns();

		status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
		if (i >= warm)
			b->samples[i - warm] = now_ns() - start;
	}
	nnhal_burst_unref(burst);
	if (status)
		return failed("burst", status, NULL);
	if (b->data[32] != 3)
		return failed("a burst gave a wrong sum", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	return 0;
}

/* A burst that is kept busy. */
struct burst_pipeline {
	struct nnhal_burst *burst;
	unsigned int depth;
	/* As many are submitted in one call while the device has the others. */
	unsigned int together;
	struct add_request r[MAX_DEPTH];
	const struct nnhal_request *requests[MAX_DEPTH];
	uint64_t tags[MAX_DEPTH];
	struct nnhal_burst_result results[MAX_DEPTH];
	uint64_t *samples;		/* ns per piece */
	unsigned int num_samples;
};

static int burst_pipeline_open(struct bench *b, struct burst_pipeline *p, unsigned int depth)
{
	unsigned int i;

	p->depth = depth;
	p->together = depth > 1 ? depth / 2 : 1;
	for (i = 0; i < depth; i++) {
		request_init(b, &p->r[i], i);
		p->requests[i] = &p->r[i].request;
		p->tags[i] = i;
	}
	p->samples = calloc(PIPELINE_FACTOR * b->count / PIECE + PIECES, sizeof(*p->samples));
	p->burst = p->samples ? open_burst(b, depth, UINT32_MAX) : NULL;
	return p->burst ? 0 : -1;
}

/* Wait for @min results and count what comes. */
static enum nnhal_status take_results(struct burst_pipeline *p, unsigned int min,
				      unsigned int *in_flight)
{
	enum nnhal_status status;
	uint32_t i, count;

	status = nnhal_burst_wait_many(p->burst, p->results, min, MAX_DEPTH, UINT64_MAX, &count);
	for (i = 0; i < count && !status; i++)
		status = p->results[i].status;
	*in_flight -= count;
	return status;
}

/* Some pieces in a row, at most depth executions in flight. */
static int burst_pipeline_run(struct burst_pipeline *p)
{
	unsigned int i, in_flight = 0, next = 0;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint64_t now, start = 0;
	uint32_t submitted;

	for (i = 0; i <= PIECE * PIECES && !status; i += p->together) {
		if (i % PIECE == 0) {
			now = now_ns();
			if (i > PIECE)
				p->samples[p->num_samples++] = now - start;
			start = now;
		}
		if (in_flight + p->together > p->depth)
			status = take_results(p, in_flight + p->together - p->depth, &in_flight);
		if (status)
			break;
		status = nnhal_burst_submit_many(p->burst, p->requests + next, p->tags + next,
						 p->together, NULL, 0, &submitted);
		in_flight += submitted;
		next = (next + p->together) % p->depth;
	}
	if (!status && in_flight)
		status = take_results(p, in_flight, &in_flight);
	return status ? failed("burst pipeline", status, NULL) : 0;
}

/*
 * Nanoseconds per execution with different numbers in flight. In turns, and the medians of
 * the pieces: a machine that is slow for a while is so for all.
 */
static int measure_pipelines(struct bench *b, struct burst_pipeline *p, unsigned int num,
			     double *ns)
{
	unsigned int i, done;

	for (done = 0; done < PIPELINE_FACTOR * b->count; done += PIECE * (PIECES - 1))
		for (i = 0; i < num; i++)
			if (burst_pipeline_run(&p[i]))
				return -1;
	for (i = 0; i < num; i++)
		ns[i] = (double)percentile(p[i].samples, p[i].num_samples, 50) / PIECE;
	return 0;
}

static int bench_burst_pipelines(struct bench *b)
{
	static const struct {
		unsigned int depth;
		const char *name, *what;
	} depths[] = {
		{ 1, "burst_depth1_ns", "burst, one in flight" },
		{ 2, "burst_depth2_ns", "burst, two in flight" },
		{ 4, "burst_depth4_ns", "burst, four in flight" },
		{ 8, "burst_depth8_ns", "burst, eight in flight" },
		{ 16, "burst_depth16_ns", "burst, sixteen in flight" },
	};
	enum { NUM = sizeof(depths) / sizeof(depths[0]) };
	struct burst_pipeline p[NUM] = { { .burst = NULL } };
	double ns[NUM];
	unsigned int i;
	int ret = 0;

	for (i = 0; i < NUM && !ret; i++)
		ret = burst_pipeline_open(b, &p[i], depths[i].depth);
	if (!ret)
		ret = measure_pipelines(b, p, NUM, ns);
	for (i = 0; i < NUM; i++) {
		nnhal_burst_unref(p[i].burst);
		free(p[i].samples);
		if (!ret)
			metric(b, depths[i].name, depths[i].what, ns[i]);
	}
	return ret;
}

static int bench_burst(struct bench *b)
{
	if (burst_round_trips(b, UINT32_MAX))
		return -1;
	metric(b, "burst_p50_ns", "burst, one ADD of one float",
	       percentile(b->samples, b->count, 50));
	metric(b, "burst_p90_ns", "  90 %", percentile(b->samples, b->count, 90));
	metric(b, "burst_p99_ns", "  99 %", percentile(b->samples, b->count, 99));
	if (burst_round_trips(b, 0))
		return -1;
	metric(b, "burst_sleep_p50_ns", "burst that sleeps at once",
	       percentile(b->samples, b->count, 50));
	metric(b, "burst_sleep_p99_ns", "  99 %", percentile(b->samples, b->count, 99));
	return bench_burst_pipelines(b);
}

/* Nothing but requests in a burst. */
static int run_hot_path(struct bench *b)
{
	struct nnhal_burst *burst = open_burst(b, 1, 100000);
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct add_request r;
	unsigned int i;

	if (!burst)
		return -1;
	request_init(b, &r, 0);
	for (i = 0; i < b->count && !status; i++)
		status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	nnhal_burst_unref(burst);
	return status ? failed("burst", status, NULL) : 0;
}

static double find(const struct bench *b, const char *name)
{
	unsigned int i;

	for (i = 0; i < b->num_metrics; i++)
		if (!strcmp(b->metrics[i].name, name))
			return b->metrics[i].value;
	return 0;
}

static const struct {
	const char *name, *what, *numerator, *denominator;
} ratios[] = {
	{ "execute_to_round_trip", "execute / round trip between two processes",
	  "execute_p50_ns", "round_trip_ns" },
	{ "software_to_round_trip", "software in execute / round trip",
	  "software_ns", "round_trip_ns" },
	{ "execute_to_syscall", "execute / system call", "execute_p50_ns", "syscall_ns" },
	{ "pipeline_gain", "throughput of eight in flight / one in flight",
	  "async_depth1_ns", "async_depth8_ns" },
	{ "burst_to_message_queue", "burst / futex message queue",
	  "burst_p50_ns", "message_queue_ns" },
	{ "burst_to_execute", "burst / execute", "burst_p50_ns", "execute_p50_ns" },
	{ "burst_pipeline_gain", "throughput of a burst, eight in flight / one",
	  "burst_depth1_ns", "burst_depth8_ns" },
};

#define NUM_RATIOS	(sizeof(ratios) / sizeof(ratios[0]))

/* Are both figures there? Of bursts alone some are not. */
static bool has_ratio(const struct bench *b, size_t i)
{
	return find(b, ratios[i].numerator) && find(b, ratios[i].denominator);
}

static void print_text(const struct bench *b)
{
	size_t i;

	printf("device %s, %u executions\n", nnhal_device_name(b->device), b->count);
	for (i = 0; i < b->num_metrics; i++)
		printf("  %-56s %12.1f us\n", b->metrics[i].what, b->metrics[i].value / 1000);
	for (i = 0; i < NUM_RATIOS; i++)
		if (has_ratio(b, i))
			printf("  %-56s %12.3f\n", ratios[i].what,
			       find(b, ratios[i].numerator) / find(b, ratios[i].denominator));
}

static int print_json(const struct bench *b, const char *path)
{
	FILE *f = fopen(path, "w");
	const char *comma = "\n";
	size_t i;

	if (!f) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	fprintf(f, "{\n  \"device\": \"%s\",\n  \"count\": %u,\n  \"ns\": {\n",
		nnhal_device_name(b->device), b->count);
	for (i = 0; i < b->num_metrics; i++)
		fprintf(f, "    \"%s\": %.1f%s\n", b->metrics[i].name, b->metrics[i].value,
			i + 1 < b->num_metrics ? "," : "");
	fprintf(f, "  },\n  \"ratios\": {");
	for (i = 0; i < NUM_RATIOS; i++) {
		if (!has_ratio(b, i))
			continue;
		fprintf(f, "%s    \"%s\": %.4f", comma, ratios[i].name,
			find(b, ratios[i].numerator) / find(b, ratios[i].denominator));
		comma = ",\n";
	}
	fprintf(f, "\n  }\n}\n");
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int run_all(struct bench *b)
{
	if (bench_round_trip(b) || bench_message_queue(b))
		return -1;
	bench_syscall(b);
	return bench_execute(b) || bench_pipeline(b) || bench_burst(b) ? -1 : 0;
}

static int usage(FILE *f, int status)
{
	fprintf(f, "usage: nnbench [--device drm[:N]|sim|sim:null] [--count N] [--json FILE]"
		" [burst]\n"
		"       nnbench [--count N] fmq\n");
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "json", required_argument, NULL, 'j' },
		{ "hot-path", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct bench b = { .device_spec = "drm", .count = 2000 };
	const char *json = NULL;
	bool hot_path = false, only_burst = false;
	char *end;
	int opt, ret = 1;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			b.device_spec = optarg;
			break;
		case 'n':
		case 'p':
			hot_path = opt == 'p';
			errno = 0;
			b.count = (unsigned int)strtoul(optarg, &end, 10);
			if (errno || *end || b.count < 10 || b.count > 10000000) {
				fprintf(stderr, "nnbench: --%s wants 10 to 10000000, not %s\n",
					hot_path ? "hot-path" : "count", optarg);
				return 2;
			}
			break;
		case 'j':
			json = optarg;
			break;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, 2);
		}
	}
	if (argc - optind == 1 && !strcmp(argv[optind], "fmq"))
		return fmq_main(b.count);
	only_burst = argc - optind == 1 && !strcmp(argv[optind], "burst");
	if (optind + only_burst != argc)
		return usage(stderr, 2);

	b.samples = calloc(b.count, sizeof(*b.samples));
	if (!b.samples) {
		fprintf(stderr, "nnbench: out of memory\n");
		return 1;
	}
	if (hot_path) {
		ret = prepare(&b) || run_hot_path(&b);
		goto out;
	}
	if (prepare(&b) == 0 && (only_burst ? bench_burst(&b) : run_all(&b)) == 0) {
		print_text(&b);
		ret = json ? print_json(&b, json) != 0 : 0;
	}
out:
	nnhal_memory_unref(b.memory);
	nnhal_prepared_model_unref(b.model);
	nnhal_device_unref(b.device);
	free(b.samples);
	return ret;
}
