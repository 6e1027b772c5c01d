// SPDX-License-Identifier: MIT
/*
 * Arithmetic of floats with broadcasting, of random shapes, by each variant of the kernels: against
 * what each element of the output is by itself. Rows are short and long, many and few. And how much work
 * they count for.
 */
#include <float.h>
#include <stdlib.h>

#include "../tap.h"
#include "../xorshift.h"
#include "kernels.h"
#include "ops_fixture.h"
#include "tflite/tflite_elem.h"

#define CALLS	300

#define F32	NNPU_TYPE_TENSOR_FLOAT32

/* Operations: those of the HAL have up to four dimensions; MINIMUM takes one row at a time. */
enum operation { ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, MINIMUM, NUM_OPERATIONS };

/* Two shapes, and that of the result; dimensions are counted from the last one on. */
struct shapes {
	unsigned int rank[3];
	uint32_t dims[3][NNPU_MAX_RANK];
	size_t sizes[3];
};

/* A dimension of the inner ones may have more steps than fit in a vector, and one many steps. */
static uint32_t pick_dim(unsigned int i)
{
	switch (pick(0, 5)) {
	case 0:
		return 1;
	case 1:
		return i == 0 ? (uint32_t)pick(1, 150) : (uint32_t)pick(1, 3);
	case 2:
		return i == 1 ? (uint32_t)pick(1, 100) : (uint32_t)pick(1, 3);
	default:
		return (uint32_t)pick(1, i < 2 ? 20 : 4);
	}
}

static void pick_shapes(struct shapes *s, unsigned int max_rank)
{
	s->rank[0] = (unsigned int)pick(1, (int)max_rank);
	s->rank[1] = (unsigned int)pick(1, (int)max_rank);
	s->rank[2] = s->rank[0] > s->rank[1] ? s->rank[0] : s->rank[1];
	for (int k = 0; k < 3; k++)
		s->sizes[k] = 1;
	for (unsigned int i = 0; i < s->rank[2]; i++) {
		uint32_t dim = pick_dim(i);
		int one = pick(0, 3);		/* the input that is broadcast, or none */

		for (int k = 0; k < 2; k++)
			s->dims[k][i] = i >= s->rank[k] || one == k ? 1 : dim;
		s->dims[2][i] = s->dims[0][i] > s->dims[1][i] ? s->dims[0][i] : s->dims[1][i];
		for (int k = 0; k < 3; k++)
			s->sizes[k] *= s->dims[k][i];
	}
}

/* The element of input @k that element @at of the output depends on. */
static size_t source(const struct shapes *s, int k, size_t at)
{
	size_t from = 0, stride = 1;

	for (unsigned int i = 0; i < s->rank[2]; i++) {
		if (s->dims[k][i] != 1)
			from += at % s->dims[2][i] * stride;
		at /= s->dims[2][i];
		stride *= s->dims[k][i];
	}
	return from;
}

static float result_of(enum operation what, float a, float b, struct frange range)
{
	float v;

	switch (what) {
	case ADD:
		v = a + b;
		break;
	case SUB:
		v = a - b;
		break;
	case MUL:
		v = a * b;
		break;
	case DIV:
		v = a / b;
		break;
	case SQUARED_DIFFERENCE:
		return (a - b) * (a - b);
	default:
		return a < b ? a : b;
	}
	return f_clamp(v, range.min, range.max);
}

static float *values(size_t n)
{
	float *v = malloc(n * sizeof(*v));

	if (!v)
		abort();
	for (size_t i = 0; i < n; i++)
		v[i] = pick(0, 300) ? (float)pick(-2000, 2000) / 128 : pick(0, 1) ? FLT_MAX : -FLT_MAX;
	return v;
}

static void start(struct fixture *f, enum operation what, bool tflite)
{
	static const enum nnpu_operation hal[] = { NNPU_OP_ADD, NNPU_OP_SUB, NNPU_OP_MUL, NNPU_OP_DIV };
	static const enum tflite_op own[] = {
		TFLITE_OP_ADD, TFLITE_OP_SUB, TFLITE_OP_MUL, TFLITE_OP_DIV,
		TFLITE_OP_SQUARED_DIFFERENCE, TFLITE_OP_MINIMUM,
	};

	fixture_init(f, tflite ? (enum nnpu_operation)EXTENSION_CODE(tflite_extension_index, own[what]) :
			hal[what]);
}

static bool agrees_for(enum operation what, bool tflite, const struct shapes *s)
{
	enum activation activation = what > DIV ? ACTIVATION_NONE : (enum activation)pick(0, 3);
	struct frange range = frange_of(activation);
	uint32_t dims[3][NNPU_MAX_RANK];
	float *in[2], *expected;
	struct fixture f;
	bool good;

	start(&f, what, tflite);
	for (int k = 0; k < 3; k++) {
		for (unsigned int i = 0; i < s->rank[k]; i++)
			dims[k][i] = s->dims[k][s->rank[k] - 1 - i];
	}
	for (int k = 0; k < 2; k++) {
		in[k] = values(s->sizes[k]);
		fixture_input(&f, F32, 0, 0, s->rank[k], dims[k], in[k]);
	}
	expected = values(s->sizes[2]);
	for (size_t i = 0; i < s->sizes[2]; i++)
		expected[i] = result_of(what, in[0][source(s, 0, i)], in[1][source(s, 1, i)], range);
	if (what <= DIV)
		fixture_i32(&f, (int)activation);
	if (tflite && what <= SUB)
		fixture_bool(&f, true);
	fixture_output(&f, F32, 0, 0);
	good = fixture_run(&f) == 0 && fixture_is(&f, s->rank[2], dims[2], expected);
	if (!good)
		tap_note("%s", reason_text(fixture_reason(&f)));
	fixture_end(&f);
	free(in[0]);
	free(in[1]);
	free(expected);
	return good;
}

static bool agrees(enum operation what)
{
	bool tflite = what > DIV || pick(0, 1);
	struct shapes s;

	pick_shapes(&s, tflite ? 6 : 4);
	return agrees_for(what, tflite, &s);
}

/* One row, of about as many elements as are computed without parts; an input may be one value. */
static void test_short_rows(const char *variant)
{
	unsigned int bad = 0;

	for (int what = ADD; what < NUM_OPERATIONS; what++) {
		for (uint32_t n = 1022; n <= 1026; n++) {
			for (int one = 0; one < 3; one++) {
				struct shapes s = { .rank = { 1, 1, 1 }, .dims = { { n }, { n }, { n } } };

				if (one < 2)
					s.dims[one][0] = 1;
				for (int k = 0; k < 3; k++)
					s.sizes[k] = s.dims[k][0];
				bad += !agrees_for((enum operation)what, what > DIV, &s);
			}
		}
	}
	ok(!bad, "%s: rows of 1022 to 1026 elements", variant);
}

/* An element of FLOOR_MOD counts for 512 units: so many of them have no point, or one. */
static void test_points(void)
{
	enum { MOST = OP_PACE_UNITS / 512 };
	float a[MOST], b[MOST], expected[MOST];
	struct fixture f;
	bool good;

	for (uint32_t i = 0; i < MOST; i++) {
		a[i] = (float)i;
		b[i] = 7;
		expected[i] = (float)(i % 7);
	}
	/* Who counts points is given one thread. */
	graph_progress.abort_after = 1000;
	for (uint32_t n = MOST - 1; n <= MOST; n++) {
		fixture_init(&f, (enum nnpu_operation)EXTENSION_CODE(tflite_extension_index,
								     TFLITE_OP_FLOOR_MOD));
		fixture_input(&f, F32, 0, 0, DIMS(n), a);
		fixture_input(&f, F32, 0, 0, DIMS(n), b);
		fixture_output(&f, F32, 0, 0);
		graph_progress.count = 0;
		good = fixture_run(&f) == 0 && fixture_is(&f, DIMS(n), expected);
		ok(good && graph_progress.count == n / MOST, "FLOOR_MOD of %u elements: %lu points", n,
		   graph_progress.count);
		fixture_end(&f);
	}
	graph_progress.abort_after = 0;
}

int main(void)
{
	static const char *const names[] = { "ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE", "MINIMUM" };

	for (unsigned int i = 0; kernels_name(i); i++) {
		if (!kernels_variant(i)) {
			tap_skip("kernels: this CPU cannot run %s", kernels_name(i));
			continue;
		}
		kernels_use(kernels_name(i));
		for (int what = ADD; what < NUM_OPERATIONS; what++) {
			unsigned int bad = 0;

			for (int call = 0; call < CALLS; call++)
				bad += !agrees((enum operation)what);
			ok(!bad, "%s, %s: %d random pairs of shapes", names[what], kernels_name(i), CALLS);
		}
		test_short_rows(kernels_name(i));
	}
	test_points();
	return tap_done();
}
