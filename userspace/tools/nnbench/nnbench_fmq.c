// SPDX-License-Identifier: MIT
/*
 * nnbench fmq: the cost of a burst over message queues whose server executes nothing.
 *
 * The client is this process, the server a child. Three round trips are measured: the bare
 * queues with a futex sleep on each side, which is the minimum if the peer sleeps; a burst
 * request whose sides sleep at once; and one whose sides spin for a while first, as is the
 * default.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "../common/clock.h"
#include "../common/json.h"
#include "../common/samples.h"
#include "nnbench_fmq.h"

/* Round trips before the first that counts. */
#define WARM_UP		50

static void summarise(uint64_t *samples, unsigned int count, double *p50, double *p99)
{
	samples_sort(samples, count);
	*p50 = (double)samples_percentile(samples, count, 50);
	*p99 = (double)samples_percentile(samples, count, 99);
}

static int fmq_failed(const char *what)
{
	fprintf(stderr, "nnbench: fmq: %s\n", what);
	return -1;
}

static int end_child(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status ? 0 : fmq_failed("the server failed");
}

/* ---- bare queues ---- */

struct queues {
	struct nnhal_fmq *out, *back;		/* this process */
	struct nnhal_fmq *peer_out, *peer_back;	/* the child */
};

static int make_queues(struct queues *q)
{
	memset(q, 0, sizeof(*q));
	if (nnhal_fmq_create(8, 8, NNHAL_FMQ_WRITER, &q->out) ||
	    nnhal_fmq_create(8, 8, NNHAL_FMQ_READER, &q->back) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(q->out), 8, NNHAL_FMQ_READER, &q->peer_out) ||
	    nnhal_fmq_attach(nnhal_fmq_fd(q->back), 8, NNHAL_FMQ_WRITER, &q->peer_back))
		return fmq_failed("cannot make queues");
	return 0;
}

/* The child: send back what comes, until a zero. */
static void echo(const struct queues *q)
{
	uint64_t value = 1;

	while (value)
		if (nnhal_fmq_read_blocking(q->peer_out, &value, 1, UINT64_MAX) ||
		    nnhal_fmq_write_blocking(q->peer_back, &value, 1, UINT64_MAX))
			_exit(1);
	_exit(0);
}

static int futex_round_trips(const struct queues *q, uint64_t *samples, unsigned int count)
{
	/* A server that died must not keep the benchmark waiting. */
	const uint64_t limit = UINT64_C(10000000000);
	uint64_t start, value;
	unsigned int i;

	for (i = 0; i < count + WARM_UP; i++) {
		value = i + 1 < count + WARM_UP;
		start = now_ns();
		if (nnhal_fmq_write_blocking(q->out, &value, 1, limit) ||
		    nnhal_fmq_read_blocking(q->back, &value, 1, limit))
			return fmq_failed("no answer");
		if (i >= WARM_UP)
			samples[i - WARM_UP] = now_ns() - start;
	}
	return 0;
}

static int measure_futex(uint64_t *samples, unsigned int count, double *p50, double *p99)
{
	struct queues q;
	int ret = make_queues(&q);
	pid_t pid;

	if (!ret) {
		fflush(NULL);
		pid = fork();
		if (!pid)
			echo(&q);
		ret = pid < 0 ? fmq_failed("fork") : futex_round_trips(&q, samples, count);
		if (pid > 0)
			ret |= end_child(pid);
	}
	nnhal_fmq_destroy(q.out);
	nnhal_fmq_destroy(q.back);
	nnhal_fmq_destroy(q.peer_out);
	nnhal_fmq_destroy(q.peer_back);
	if (!ret)
		summarise(samples, count, p50, p99);
	return ret;
}

/* ---- bursts ---- */

/* The executor knows any memory and does nothing. */
static enum nnhal_status null_add(void *context, int32_t slot, struct nnhal_memory *memory)
{
	(void)context;
	(void)slot;
	(void)memory;
	return NNHAL_STATUS_NONE;
}

static void null_remove(void *context, int32_t slot)
{
	(void)context;
	(void)slot;
}

static bool null_present(void *context, int32_t slot)
{
	(void)context;
	(void)slot;
	return true;
}

static enum nnhal_status null_execute(void *context, const struct nnhal_request *request,
				      const int32_t *slots, int32_t measure,
				      struct nnhal_output_shape *shapes, uint32_t *num_shapes,
				      struct nnhal_timing *timing)
{
	uint32_t i;

	(void)context;
	(void)slots;
	(void)measure;
	(void)timing;
	for (i = 0; i < request->num_outputs; i++)
		shapes[i] = (struct nnhal_output_shape) {
			.num_dimensions = 1, .dimensions = { 1 }, .is_sufficient = true,
		};
	*num_shapes = request->num_outputs;
	return NNHAL_STATUS_NONE;
}

static void serve(int socket, uint32_t spin_us)
{
	static const struct nnhal_burst_executor executor = {
		sizeof(executor), null_add, null_remove, null_present, null_execute,
	};
	struct nnhal_burst_server_options options = NNHAL_BURST_SERVER_OPTIONS_INIT;
	struct nnhal_burst_server *server;

	options.spin_us = spin_us;
	options.executor = &executor;
	if (nnhal_burst_serve(socket, NULL, &options, &server))
		_exit(1);
	close(socket);
	if (nnhal_burst_server_wait(server, UINT64_MAX) != NNHAL_STATUS_DEAD_OBJECT)
		_exit(2);
	nnhal_burst_server_destroy(server);
	_exit(0);
}

/* ADD of two single floats, as the other benchmarks. */
static int burst_round_trips(struct nnhal_burst_controller *c, uint64_t *samples,
			     unsigned int count)
{
	const struct nnhal_request_argument inputs[] = {
		{ .location = { 0, 0, 4 } }, { .location = { 0, 64, 4 } },
	};
	const struct nnhal_request_argument output = { .location = { 0, 128, 4 } };
	struct nnhal_request_pool pool = { 0 };
	const struct nnhal_request request = {
		.num_inputs = 2, .inputs = inputs, .num_outputs = 1, .outputs = &output,
		.num_pools = 1, .pools = &pool,
	};
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_output_shape shape;
	struct nnhal_timing timing;
	uint32_t num_shapes;
	uint64_t start;
	unsigned int i;

	if (nnhal_memory_create(4096, &pool.memory, NULL))
		return fmq_failed("no memory");
	for (i = 0; i < count + WARM_UP && !status; i++) {
		start = now_ns();
		status = nnhal_burst_controller_execute(c, &request, NULL, &shape, &num_shapes,
							&timing, NULL);
		if (i >= WARM_UP)
			samples[i - WARM_UP] = now_ns() - start;
	}
	nnhal_memory_unref(pool.memory);
	return status ? fmq_failed(nnhal_status_name(status)) : 0;
}

static int measure_burst(uint64_t *samples, unsigned int count, uint32_t spin_us, double *p50,
			 double *p99)
{
	struct nnhal_burst_controller_options options = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c = NULL;
	int sv[2], ret;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return fmq_failed("no socket");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(sv[0]);
		serve(sv[1], spin_us);
	}
	close(sv[1]);
	options.spin_us = spin_us;
	ret = pid < 0 || nnhal_burst_connect(sv[0], &options, &c) ? fmq_failed("cannot connect")
								  : burst_round_trips(c, samples, count);
	close(sv[0]);
	nnhal_burst_controller_destroy(c);
	if (pid > 0)
		ret |= end_child(pid);
	if (!ret)
		summarise(samples, count, p50, p99);
	return ret;
}

int fmq_measure(unsigned int count, struct fmq_figures *f)
{
	uint64_t *samples = calloc(count, sizeof(*samples));
	int ret;

	if (!samples || !count) {
		free(samples);
		return fmq_failed("out of memory");
	}
	ret = measure_futex(samples, count, &f->futex_p50, &f->futex_p99);
	if (!ret)
		ret = measure_burst(samples, count, 0, &f->sleep_p50, &f->sleep_p99);
	if (!ret)
		ret = measure_burst(samples, count, NNHAL_BURST_SPIN_US, &f->spin_p50,
				    &f->spin_p99);
	free(samples);
	return ret;
}

static void print_line(const char *what, double p50, double p99)
{
	printf("  %-56s %12.1f us %12.1f us\n", what, p50 / 1000, p99 / 1000);
}

static int write_json(const char *path, unsigned int count, const struct fmq_figures *figures)
{
	FILE *f = fopen(path, "w");
	struct json json;

	if (!f)
		return fmq_failed(path);
	json_begin(&json, f);
	json_u64(&json, "count", count);
	json_object(&json, "ns");
	json_real(&json, "futex_p50", figures->futex_p50, 1);
	json_real(&json, "futex_p99", figures->futex_p99, 1);
	json_real(&json, "sleep_p50", figures->sleep_p50, 1);
	json_real(&json, "sleep_p99", figures->sleep_p99, 1);
	json_real(&json, "spin_p50", figures->spin_p50, 1);
	json_real(&json, "spin_p99", figures->spin_p99, 1);
	json_end(&json);
	json_end(&json);
	return ferror(f) | fclose(f) ? fmq_failed(path) : 0;
}

int fmq_main(unsigned int count, const char *json)
{
	struct fmq_figures f;

	if (fmq_measure(count, &f))
		return 1;
	printf("message queues, %u round trips between two processes %7s %15s\n", count, "p50",
	       "p99");
	print_line("one datum each way, futex", f.futex_p50, f.futex_p99);
	print_line("burst on a null executor, sleeping at once", f.sleep_p50, f.sleep_p99);
	print_line("burst on a null executor, looking for 50 us first", f.spin_p50, f.spin_p99);
	return json && write_json(json, count, &f) ? 1 : 0;
}
