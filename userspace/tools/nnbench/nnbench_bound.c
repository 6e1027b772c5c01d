// SPDX-License-Identifier: MIT
/*
 * A bound request in a burst that one thread uses, and what it is measured against: two threads
 * that hand a word to each other and spin, once there and back.
 */
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>

#include "../common/clock.h"
#include "nnbench.h"

/* Hand-overs in a row that are timed as one, and bursts: reading the clock takes time as well. */
#define ROUND	16

/* Each word has a cache line of its own. */
struct ball {
	alignas(64) atomic_uint there;
	alignas(64) atomic_uint back;
	unsigned int count;
};

static void spin_until(atomic_uint *word, unsigned int value)
{
	while (atomic_load_explicit(word, memory_order_acquire) != value)
		;
}

static void *throw_back(void *data)
{
	struct ball *ball = data;
	unsigned int i;

	for (i = 1; i <= ball->count; i++) {
		spin_until(&ball->there, i);
		atomic_store_explicit(&ball->back, i, memory_order_release);
	}
	return NULL;
}

static int bench_hand_over(struct bench *b)
{
	struct ball ball = { .count = b->count * ROUND };
	unsigned int i, k, n = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, throw_back, &ball))
		return failed("thread", NNHAL_STATUS_GENERAL_FAILURE, NULL);
	for (i = 0; i < b->count; i++) {
		uint64_t start = now_ns();

		for (k = 0; k < ROUND; k++) {
			atomic_store_explicit(&ball.there, ++n, memory_order_release);
			spin_until(&ball.back, n);
		}
		b->samples[i] = (now_ns() - start) / ROUND;
	}
	pthread_join(thread, NULL);
	metric_percentile(b, "hand_over_ns", "spinning hand-over between two threads, and back", 50);
	return 0;
}

/* Round trips of a bound request, which runs until its result is there. */
static enum nnhal_status run_rounds(struct bench *b, struct nnhal_burst *burst,
				    struct nnhal_bound_request *bound)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	unsigned int i, k, warm = b->count / 10;

	for (i = 0; i < b->count + warm && !status; i++) {
		uint64_t start = now_ns();

		for (k = 0; k < ROUND && !status; k++)
			status = nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL);
		if (i >= warm)
			b->samples[i - warm] = (now_ns() - start) / ROUND;
	}
	return status;
}

struct nnhal_bound_request *bind_request(struct bench *b, struct add_request *r)
{
	struct nnhal_bound_options options = NNHAL_BOUND_OPTIONS_INIT;
	struct nnhal_diag diag = { .message = "" };
	struct nnhal_bound_request *bound;
	enum nnhal_status status;

	request_init(b, r, 0);
	options.diag = &diag;
	status = nnhal_bound_request_create(b->model, &r->request, &options, &bound);
	if (status)
		failed("bound request", status, &diag);
	return bound;
}

int bench_bound(struct bench *b)
{
	struct nnhal_burst *burst = open_burst(b, 1, UINT32_MAX, NNHAL_BURST_SINGLE_THREAD);
	enum nnhal_status status = NNHAL_STATUS_GENERAL_FAILURE;
	struct nnhal_bound_request *bound;
	struct add_request r;

	bound = bind_request(b, &r);
	if (burst && bound) {
		status = run_rounds(b, burst, bound);
		if (status)
			failed("burst of a bound request", status, NULL);
	}
	nnhal_bound_request_unref(bound);
	nnhal_burst_unref(burst);
	if (status || check_sums(b, 1, "a bound request"))
		return -1;
	metric_percentile(b, "burst_bound_ns", "burst of a bound request, one thread", 50);
	metric_percentile(b, "burst_bound_p99_ns", "  99 %", 99);
	return bench_hand_over(b);
}
