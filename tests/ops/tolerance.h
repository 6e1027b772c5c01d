/* SPDX-License-Identifier: MIT */
/*
 * Exact results and what a device may differ from them by
 * (Documentation/operations/arithmetic.rst).
 */
#ifndef NNPU_TESTS_OPS_TOLERANCE_H
#define NNPU_TESTS_OPS_TOLERANCE_H

#include "../tap.h"
#include "ops_fixture.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define F32	NNPU_TYPE_TENSOR_FLOAT32
/* u of the document. */
#define U	0x1p-24L

/* Exact result, and what it may differ by. */
struct exact {
	long double v, bound;
};

static uint32_t tolerance_seed = 12345;

static inline uint32_t any(void)
{
	tolerance_seed ^= tolerance_seed << 13;
	tolerance_seed ^= tolerance_seed >> 17;
	tolerance_seed ^= tolerance_seed << 5;
	return tolerance_seed;
}

/* In [low, high). */
static inline float between(float low, float high)
{
	return low + (high - low) * ((float)(any() >> 8) * 0x1p-24f);
}

static inline float *numbers(size_t n, float low, float high)
{
	float *p = malloc(n * sizeof(*p));
	size_t i;

	if (!p)
		abort();
	for (i = 0; i < n; i++)
		p[i] = between(low, high);
	return p;
}

static inline struct exact *exacts(size_t n)
{
	struct exact *e = calloc(n, sizeof(*e));

	if (!e)
		abort();
	return e;
}

/* G(n) of the document. */
static inline long double growth(long double n)
{
	return (n + 2) * U / (1 - (n + 2) * U);
}

/* All of @got within the bounds. Says how near the worst one comes, in percent of the bound. */
static inline void within(const char *what, const float *got, const struct exact *e, size_t n)
{
	long double worst = 0;
	size_t i, bad = 0, first = 0;

	for (i = 0; i < n; i++) {
		/* Small numbers may become 0. */
		long double small = fabsl(e[i].v) < FLT_MIN ? FLT_MIN : 0;
		long double d = fabsl((long double)got[i] - e[i].v), bound = e[i].bound + small;

		if (!(d <= bound)) {
			first = bad++ ? first : i;
			continue;
		}
		if (bound > 0 && d / bound > worst)
			worst = d / bound;
	}
	if (bad)
		tap_note("element %zu is %.9g, exactly %.20Lg +- %.3Lg", first, (double)got[first],
			 e[first].v, e[first].bound);
	ok(!bad && worst <= 1, "%s: %zu of %zu beyond the bound, the others at most at %.0f %% of it", what,
	   bad, n, (double)(worst * 100));
}

/* Runs; output 0, or NULL: it has failed. */
static inline const float *result(struct fixture *f)
{
	if (fixture_run(f)) {
		ok(false, "operation %d does not run: reason %d", f->op, fixture_reason(f));
		return NULL;
	}
	return fixture_result(f)->data;
}

/* Runs, compares with the exact results, ends. */
static inline void model(const char *what, struct fixture *f, const struct exact *e, size_t n)
{
	const float *got = result(f);

	if (got)
		within(what, got, e, n);
	fixture_end(f);
}

#endif /* NNPU_TESTS_OPS_TOLERANCE_H */
