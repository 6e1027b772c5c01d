// SPDX-License-Identifier: MIT
/*
 * What the loops of row_kernels.h cost: nanoseconds for an element of a row of 1024, and for a row of 21,
 * by variant; the least of several turns.
 *
 *   bench_rows [--json FILE]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

#define N	1024u
#define SHORT	21u
#define CALLS	50u
#define TURNS	30u

static float x[ROW_PRODUCTS * N], y[N], sums[ROW_SUMS];
static uint8_t bytes[4 * N], out[N];
static int32_t acc[N];

/* What loops return, so that they are not left out. */
static volatile float real_result;
static volatile int32_t whole_result;

/* Pixels of 256 channels, or of 21, between two others. */
#define WIDE	256u

static const struct between_columns wide_columns[N / WIDE] = {
	{ 0, WIDE, 0.6f }, { 0, WIDE, 0.6f }, { 0, WIDE, 0.6f }, { 0, WIDE, 0.6f },
};
static const struct between_columns short_columns = { 0, SHORT, 0.6f };

static struct between_pixels pixels_of(size_t n)
{
	size_t channels = n == N ? WIDE : SHORT;

	return (struct between_pixels){
		.weight = 0.3f, .columns = n == N ? wide_columns : &short_columns,
		.pixels = n / channels, .channels = channels, .next = channels,
	};
}

static void largest(const struct row_kernels *k, size_t n)
{
	real_result = k->largest(x, n, -1000.0f);
}

static void exps(const struct row_kernels *k, size_t n)
{
	k->exps(x, n, 4.0f, 1.0f, y, sums);
}

static void function(const struct row_kernels *k, size_t n)
{
	k->function(ROW_LEAKY, x, n, 0.1f, 0, y);
}

static void widen_halves(const struct row_kernels *k, size_t n)
{
	k->widen_halves((const uint16_t *)bytes, n, y);
}

static void fdivide(const struct row_kernels *k, size_t n)
{
	k->fdivide(y, n, 1.0f);
}

static void logistic(const struct row_kernels *k, size_t n)
{
	k->logistic(x, n, y);
}

static void hyperbolic(const struct row_kernels *k, size_t n)
{
	k->tanh(x, n, y);
}

static void products(const struct row_kernels *k, size_t n)
{
	k->products(x, n, y, n, sums);
}

static void dot_bytes(const struct row_kernels *k, size_t n)
{
	whole_result = k->dot_bytes((const int8_t *)bytes, (const int8_t *)bytes + N, n, 3);
}

static void fmax_row(const struct row_kernels *k, size_t n)
{
	k->fmax(x, n, y);
}

static void arithmetic(const struct row_kernels *k, size_t n)
{
	const struct broadcast_run run = {
		.a = x, .b = x + N, .sa = 1, .sb = 1, .out = y, .n = n, .rows = 1,
	};

	k->arithmetic(ROW_ADD, &run, -INFINITY, INFINITY);
}

/* Rows of 64, or of 7, minus a column. */
static void columns(const struct row_kernels *k, size_t n)
{
	size_t row = n == N ? 64 : 7;
	const struct broadcast_run run = {
		.a = x, .b = x + N, .sa = 1, .out = y, .n = row,
		.rows = n / row, .next_a = row, .next_b = 1,
	};

	k->arithmetic(ROW_SUB, &run, -INFINITY, INFINITY);
}

/* 97 rows of 64, so that it is nanoseconds for six elements; or rows of 7. */
static void sum_rows(const struct row_kernels *k, size_t n)
{
	size_t row = n == N ? 64 : 7;

	k->sum_rows(x, row, n == N ? 97 : 3, row, 0, y);
}

static void sum_columns(const struct row_kernels *k, size_t n)
{
	size_t row = n == N ? 64 : 7;

	k->sum_columns(x, row, n / row, row, 0, y, row);
}

static void add_rows(const struct row_kernels *k, size_t n)
{
	size_t row = n == N ? 64 : 7;

	k->add_rows(x, row, n / row, row, y);
}

static void max_bytes(const struct row_kernels *k, size_t n)
{
	k->max_bytes(bytes, n, 0x80, out);
}

static void add_bytes(const struct row_kernels *k, size_t n)
{
	k->add_bytes(bytes, n, 0x80, acc);
}

static void sum_bytes(const struct row_kernels *k, size_t n)
{
	whole_result = k->sum_bytes(bytes, n, 0x80);
}

static void divide(const struct row_kernels *k, size_t n)
{
	k->divide(acc, n, 9);
}

static void fbetween(const struct row_kernels *k, size_t n)
{
	struct between_pixels p = pixels_of(n);

	p.top = x;
	p.bottom = x + N;
	k->fbetween(&p, y);
}

static void between(const struct row_kernels *k, size_t n)
{
	struct between_pixels p = pixels_of(n);

	p.top = bytes;
	p.bottom = bytes + N;
	k->between(&p, 0x80, out);
}

static const struct {
	const char *name;
	void (*run)(const struct row_kernels *k, size_t n);
} loops[] = {
	{ "largest", largest }, { "exps", exps }, { "function", function },
	{ "widen_halves", widen_halves },
	{ "fdivide", fdivide }, { "logistic", logistic },
	{ "tanh", hyperbolic }, { "products", products }, { "dot_bytes", dot_bytes },
	{ "arithmetic", arithmetic }, { "columns", columns }, { "fmax", fmax_row },
	{ "sum_rows", sum_rows }, { "sum_columns", sum_columns }, { "add_rows", add_rows },
	{ "max_bytes", max_bytes },
	{ "add_bytes", add_bytes }, { "sum_bytes", sum_bytes }, { "divide", divide },
	{ "fbetween", fbetween }, { "between", between },
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Values as activations have them, without numbers of little precision, which CPUs are slow with. */
static void fill(void)
{
	for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++)
		x[i] = (float)(i * 7919 % 4001) / 500.0f - 4.0f;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7919 >> 3);
	for (size_t i = 0; i < N; i++) {
		y[i] = 0.5f;
		acc[i] = (int32_t)i;
	}
}

/* Nanoseconds of a call. */
static double measure(void (*run)(const struct row_kernels *k, size_t n),
		      const struct row_kernels *k, size_t n)
{
	double least = 1e18, start;

	fill();
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		start = now_ns();
		for (unsigned int i = 0; i < CALLS; i++)
			run(k, n);
		start = (now_ns() - start) / CALLS;
		least = start < least ? start : least;
		memset(acc, 0, sizeof(acc));
		for (size_t i = 0; i < N; i++)
			y[i] = 0.5f;
	}
	return least;
}

int main(int argc, char **argv)
{
	FILE *json = NULL;
	bool first = true;

	if (argc == 3 && !strcmp(argv[1], "--json")) {
		json = fopen(argv[2], "w");
		if (!json) {
			perror(argv[2]);
			return 1;
		}
	} else if (argc != 1) {
		fprintf(stderr, "usage: bench_rows [--json FILE]\n");
		return 2;
	}
	if (json)
		fprintf(json, "[");
	printf("%-12s %-12s %14s %14s\n", "loop", "variant", "ns per element", "ns, 21 elements");
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		for (unsigned int v = 0; kernels_name(v); v++) {
			const struct kernels *k = kernels_variant(v);
			double whole, small;

			if (!k) {
				printf("%-12s %-12s %14s\n", loops[i].name, kernels_name(v),
				       "not measured");
				continue;
			}
			/* The same loops as those of the variant before. */
			if (v && kernels_variant(v - 1) && kernels_variant(v - 1)->rows == k->rows)
				continue;
			whole = measure(loops[i].run, k->rows, N) / N;
			small = measure(loops[i].run, k->rows, SHORT);
			printf("%-12s %-12s %14.3f %14.1f\n", loops[i].name, kernels_name(v), whole,
			       small);
			if (json)
				fprintf(json, "%s\n{\"loop\": \"%s\", \"variant\": \"%s\", "
					"\"ns_per_element\": %.4f, \"ns_of_21\": %.2f}",
					first ? "" : ",", loops[i].name, kernels_name(v), whole,
					small);
			first = false;
		}
	}
	if (json) {
		fprintf(json, "\n]\n");
		if (fclose(json)) {
			perror(argv[2]);
			return 1;
		}
	}
	return 0;
}
