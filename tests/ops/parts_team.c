// SPDX-License-Identifier: MIT
/*
 * Teams that compute operations in parts. Ranges have any length. Some are given up at their first
 * point and computed anew, as by a helper that leaves.
 */
#include "parts_team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "parallel.h"

#define MAX_THREADS	8u

/* The parts of one operation. */
struct shared {
	const struct op_parts *parts;
	atomic_size_t next;
	atomic_int ret;
};

struct one_thread {
	struct shared *shared;
	pthread_t thread;
	unsigned int random;
};

static const unsigned int threads[] = { 1, 2, 3, MAX_THREADS };
static unsigned int turn;
static bool used;

static unsigned int random_bits(unsigned int *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

/* Items [first, end), which may be begun before. */
static int compute(const struct shared *s, unsigned int *random, size_t first, size_t end)
{
	struct job_progress whole = { 0 }, given_up = { .abort_after = 1 };
	struct op_pace pace = { .progress = &given_up };
	int ret;

	/* Most operations of tests are too small for a point of their own: one is near. */
	pace.work = OP_PACE_UNITS - 1 - random_bits(random) % 4096;

	if (random_bits(random) % 4 == 0) {
		ret = s->parts->compute(s->parts->work, first, end, &pace);
		if (ret && ret != OP_ABORTED)
			return ret;
	}
	pace = (struct op_pace) { .progress = &whole };
	return s->parts->compute(s->parts->work, first, end, &pace);
}

static size_t pick_length(const struct shared *s, unsigned int *random)
{
	size_t most = s->parts->items / 4 + 1;

	return random_bits(random) % 3 ? 1 + random_bits(random) % most : 1;
}

static void *take_ranges(void *arg)
{
	struct one_thread *t = arg;
	struct shared *s = t->shared;

	for (;;) {
		size_t n = pick_length(s, &t->random), first = atomic_fetch_add(&s->next, n);
		int ret;

		if (first >= s->parts->items)
			return NULL;
		if (n > s->parts->items - first)
			n = s->parts->items - first;
		ret = compute(s, &t->random, first, first + n);
		if (ret)
			atomic_store(&s->ret, ret);
	}
}

/* On one thread, from the last range to the first. */
static int compute_backwards(struct shared *s, unsigned int *random)
{
	size_t end = s->parts->items, n;
	int ret = 0;

	for (; !ret && end; end -= n) {
		n = pick_length(s, random);
		if (n > end)
			n = end;
		ret = compute(s, random, end - n, end);
	}
	return ret;
}

static int run(struct op_team *team, const struct op_parts *parts, struct op_pace *pace)
{
	unsigned int n = parts_team_threads(), i;
	struct shared s = { .parts = parts };
	struct one_thread t[MAX_THREADS];

	(void)team;
	(void)pace;
	used = true;
	for (i = 0; i < n; i++)
		t[i] = (struct one_thread) { .shared = &s, .random = turn * MAX_THREADS + i };
	if (n == 1)
		return compute_backwards(&s, &t[0].random);
	for (i = 1; i < n; i++)
		if (pthread_create(&t[i].thread, NULL, take_ranges, &t[i]))
			abort();
	take_ranges(&t[0]);
	for (i = 1; i < n; i++)
		pthread_join(t[i].thread, NULL);
	return atomic_load(&s.ret);
}

static struct op_team team = { .run = run };

struct op_team *parts_team_next(void)
{
	turn++;
	used = false;
	return &team;
}

unsigned int parts_team_threads(void)
{
	return threads[turn % (sizeof(threads) / sizeof(threads[0]))];
}

bool parts_team_used(void)
{
	return used;
}
