/* SPDX-License-Identifier: MIT */
/*
 * Formulas of several steps: each step has the difference of its class and what its operands bring.
 */
#ifndef NNPU_TESTS_OPS_COMPOSED_H
#define NNPU_TESTS_OPS_COMPOSED_H

#include "tolerance.h"

static inline struct exact given(float v)
{
	return (struct exact){ v, 0 };
}

/* One operation of arithmetic with the result @v, to which the operands bring @error. */
static inline struct exact rounded(long double v, long double error)
{
	return (struct exact){ v, error + U * (fabsl(v) + error) };
}

static inline struct exact plus(struct exact a, struct exact b)
{
	return rounded(a.v + b.v, a.bound + b.bound);
}

static inline struct exact minus(struct exact a, struct exact b)
{
	return rounded(a.v - b.v, a.bound + b.bound);
}

static inline long double product_error(struct exact a, struct exact b)
{
	return fabsl(a.v) * b.bound + fabsl(b.v) * a.bound + a.bound * b.bound;
}

static inline struct exact times(struct exact a, struct exact b)
{
	return rounded(a.v * b.v, product_error(a, b));
}

/* A quotient is a function. */
static inline struct exact over(struct exact a, struct exact b)
{
	long double v = a.v / b.v;
	long double error = (a.bound + fabsl(v) * b.bound) / (fabsl(b.v) - b.bound);

	return (struct exact){ v, error + 8 * U * (fabsl(v) + error) };
}

/* A function that rises or falls everywhere. */
static inline struct exact function(long double (*f)(long double), struct exact x)
{
	long double v = f(x.v);
	long double error = fmaxl(fabsl(f(x.v + x.bound) - v), fabsl(f(x.v - x.bound) - v));

	return (struct exact){ v, error + 8 * U * (fabsl(v) + error) };
}

/* @x > 0 to the power @y, which is given. */
static inline struct exact power(struct exact x, float y)
{
	long double v = powl(x.v, y);
	long double error = fmaxl(fabsl(powl(x.v + x.bound, y) - v),
				  fabsl(powl(x.v - x.bound, y) - v));

	return (struct exact){ v, error + (8 + 8 * fabsl(y * logl(x.v))) * U * (fabsl(v) + error) };
}

/* A step that is exact. */
static inline struct exact limited(struct exact a, long double low, long double high)
{
	return (struct exact){ fminl(fmaxl(a.v, low), high), a.bound };
}

/* Sums. */
struct terms {
	long double v, magnitude, error;
	unsigned int n;
};

static inline void add_term(struct terms *s, struct exact a)
{
	s->v += a.v;
	s->magnitude += fabsl(a.v) + a.bound;
	s->error += a.bound;
	s->n++;
}

static inline void add_product(struct terms *s, struct exact a, struct exact b)
{
	add_term(s, (struct exact){ a.v * b.v, product_error(a, b) });
}

static inline struct exact sum(const struct terms *s)
{
	return (struct exact){ s->v, s->error + growth(s->n) * s->magnitude };
}

/* Divided by their number. */
static inline struct exact mean(const struct terms *s)
{
	struct exact e = sum(s);

	return (struct exact){ e.v / s->n, e.bound / s->n };
}

#endif /* NNPU_TESTS_OPS_COMPOSED_H */
