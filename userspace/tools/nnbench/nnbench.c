// SPDX-License-Identifier: MIT
/*
 * nnbench: what the software around the device costs.
 *
 * All figures come from one run on one machine and mean something as ratios: to
 * the floor (a system call; a round trip between two processes, which is what
 * any service-based transport pays at least) and to each other. Medians of many.
 *
 *   nnbench [--device DEVICE] [--count N] [--json FILE]
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#define DEPTH		8
#define MAX_METRICS	32

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

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

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
};

#define NUM_RATIOS	(sizeof(ratios) / sizeof(ratios[0]))

static void print_text(const struct bench *b)
{
	size_t i;

	printf("device %s, %u executions\n", nnhal_device_name(b->device), b->count);
	for (i = 0; i < b->num_metrics; i++)
		printf("  %-56s %12.1f us\n", b->metrics[i].what, b->metrics[i].value / 1000);
	for (i = 0; i < NUM_RATIOS; i++)
		printf("  %-56s %12.3f\n", ratios[i].what,
		       find(b, ratios[i].numerator) / find(b, ratios[i].denominator));
}

static int print_json(const struct bench *b, const char *path)
{
	FILE *f = fopen(path, "w");
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
	fprintf(f, "  },\n  \"ratios\": {\n");
	for (i = 0; i < NUM_RATIOS; i++)
		fprintf(f, "    \"%s\": %.4f%s\n", ratios[i].name,
			find(b, ratios[i].numerator) / find(b, ratios[i].denominator),
			i + 1 < NUM_RATIOS ? "," : "");
	fprintf(f, "  }\n}\n");
	if (ferror(f) | fclose(f)) {
		fprintf(stderr, "nnbench: %s: %s\n", path, strerror(errno));
		return -1;
	}
	return 0;
}

static int usage(FILE *f, int status)
{
	fprintf(f, "usage: nnbench [--device drm[:N]|sim|sim:null] [--count N] [--json FILE]\n");
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "device", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct bench b = { .device_spec = "drm", .count = 2000 };
	const char *json = NULL;
	char *end;
	int opt, ret = 1;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'd':
			b.device_spec = optarg;
			break;
		case 'n':
			errno = 0;
			b.count = (unsigned int)strtoul(optarg, &end, 10);
			if (errno || *end || b.count < 10 || b.count > 10000000) {
				fprintf(stderr, "nnbench: --count wants 10 to 10000000, not %s\n",
					optarg);
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
	if (optind != argc)
		return usage(stderr, 2);

	b.samples = calloc(b.count, sizeof(*b.samples));
	if (!b.samples) {
		fprintf(stderr, "nnbench: out of memory\n");
		return 1;
	}
	if (prepare(&b) == 0 && bench_round_trip(&b) == 0 && (bench_syscall(&b), true) &&
	    bench_execute(&b) == 0 && bench_pipeline(&b) == 0) {
		print_text(&b);
		ret = json ? print_json(&b, json) != 0 : 0;
	}
	nnhal_memory_unref(b.memory);
	nnhal_prepared_model_unref(b.model);
	nnhal_device_unref(b.device);
	free(b.samples);
	return ret;
}
