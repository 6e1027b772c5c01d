// SPDX-License-Identifier: MIT
/*
 * Threads that share a burst or an execution.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "ndk_parts.h"

enum { NONE = ANEURALNETWORKS_NO_ERROR, STATE = ANEURALNETWORKS_BAD_STATE };

static const float in[8];

static ANeuralNetworksExecution *execution(ANeuralNetworksCompilation *c, float *out)
{
	ANeuralNetworksExecution *e = NULL;

	if (ANeuralNetworksExecution_create(c, &e) ||
	    ANeuralNetworksExecution_setInput(e, 0, NULL, in, 16) ||
	    ANeuralNetworksExecution_setInput(e, 1, NULL, in + 4, 16) ||
	    ANeuralNetworksExecution_setOutput(e, 0, NULL, out, 16)) {
		printf("Bail out! no execution\n");
		exit(1);
	}
	return e;
}

/* Two threads and a burst: NO_ERROR or BAD_STATE for each, never anything else. */
struct rival {
	ANeuralNetworksCompilation *c;
	ANeuralNetworksBurst *burst;
	unsigned int done, busy, wrong;
};

static void *run_rival(void *argument)
{
	struct rival *r = argument;
	float out[4];

	for (int i = 0; i < 200; i++) {
		ANeuralNetworksExecution *e = execution(r->c, out);
		int result = ANeuralNetworksExecution_burstCompute(e, r->burst);

		r->done += !result;
		r->busy += result == STATE;
		r->wrong += result && result != STATE;
		ANeuralNetworksExecution_free(e);
	}
	return NULL;
}

static void test_rivals(ANeuralNetworksCompilation *c)
{
	struct rival rivals[2] = { { .c = c }, { .c = c } };
	ANeuralNetworksBurst *burst = NULL;
	pthread_t threads[2];

	ANeuralNetworksBurst_create(c, &burst);
	rivals[0].burst = rivals[1].burst = burst;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_rival, &rivals[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ok(!rivals[0].wrong && !rivals[1].wrong && rivals[0].done + rivals[1].done,
	   "two threads on a burst: %u and %u done, the others found it busy", rivals[0].done,
	   rivals[1].done);
	ANeuralNetworksBurst_free(burst);
}

/* One thread computes; another one, which frees executions of the burst, must never make it look busy. */
struct freeing {
	void *_Atomic ended;
	ANeuralNetworksCompilation *c;
	ANeuralNetworksBurst *burst;
	atomic_bool over;
};

static void *run_freeing(void *argument)
{
	struct freeing *f = argument;

	while (!atomic_load(&f->over))
		ANeuralNetworksExecution_free(atomic_exchange(&f->ended, NULL));
	return NULL;
}

static void test_freeing(ANeuralNetworksCompilation *c)
{
	struct freeing f = { .c = c };
	unsigned int wrong = 0;
	pthread_t thread;
	float out[4];

	ANeuralNetworksBurst_create(c, &f.burst);
	if (pthread_create(&thread, NULL, run_freeing, &f))
		exit(1);
	for (int i = 0; i < 2000; i++) {
		ANeuralNetworksExecution *e = execution(c, out);

		wrong += ANeuralNetworksExecution_burstCompute(e, f.burst) != NONE;
		ANeuralNetworksExecution_free(atomic_exchange(&f.ended, e));
	}
	atomic_store(&f.over, true);
	pthread_join(thread, NULL);
	ANeuralNetworksExecution_free(f.ended);
	ok(!wrong, "a burst whose executions another thread frees is not busy: %u times it was",
	   wrong);
	ANeuralNetworksBurst_free(f.burst);
}

/* Two threads that start one execution: one of them does, also where it is the first start. */
struct starting {
	ANeuralNetworksExecution *e;
	pthread_barrier_t *together;
	int result;
};

static void *run_starting(void *argument)
{
	struct starting *s = argument;

	pthread_barrier_wait(s->together);
	s->result = ANeuralNetworksExecution_compute(s->e);
	return NULL;
}

static void test_one_start(ANeuralNetworksCompilation *c)
{
	pthread_barrier_t together;
	unsigned int wrong = 0;
	float out[4];

	pthread_barrier_init(&together, NULL, 2);
	for (int i = 0; i < 200; i++) {
		struct starting s[2] = { { .e = execution(c, out), .together = &together } };
		pthread_t thread;

		s[1] = s[0];
		if (pthread_create(&thread, NULL, run_starting, &s[0]))
			exit(1);
		run_starting(&s[1]);
		pthread_join(thread, NULL);
		wrong += !(s[0].result == NONE && s[1].result == STATE) &&
			 !(s[0].result == STATE && s[1].result == NONE);
		ANeuralNetworksExecution_free(s[0].e);
	}
	pthread_barrier_destroy(&together);
	ok(!wrong, "of two starts of an execution one is done: %u times it was not so", wrong);
}

int main(void)
{
	ANeuralNetworksModel *model = finished_model();
	ANeuralNetworksCompilation *c = compiled(model, true);

	ANeuralNetworksModel_free(model);
	test_rivals(c);
	test_freeing(c);
	test_one_start(c);
	ANeuralNetworksCompilation_free(c);
	return tap_done();
}
