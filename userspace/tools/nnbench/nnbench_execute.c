// SPDX-License-Identifier: MIT
/*
 * Executions through the ioctl: synchronous ones, and asynchronous ones with callbacks.
 */
#include <pthread.h>

#include "../common/clock.h"
#include "nnbench.h"

#define DEPTH	8

static int bench_synchronous(struct bench *b)
{
	struct nnhal_ext_profile profile = NNHAL_EXT_PROFILE_INIT;
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
		/* The first tenth is warm-up. */
		if (i >= b->count / 10)
			b->samples[i - b->count / 10] = now_ns() - start;
	}
	if (check_sums(b, 1, "execute"))
		return -1;
	metric_percentile(b, "execute_p50_ns", "execute synchronously, one ADD of one float", 50);
	metric_percentile(b, "execute_p90_ns", "  90 %", 90);
	metric_percentile(b, "execute_p99_ns", "  99 %", 99);

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
	if (p.status)
		return failed("asynchronous execute", p.status, NULL);
	return check_sums(b, depth, "asynchronous execute");
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

int bench_execute(struct bench *b)
{
	return bench_synchronous(b) || bench_pipeline(b) ? -1 : 0;
}
