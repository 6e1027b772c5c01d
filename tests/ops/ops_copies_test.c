// SPDX-License-Identifier: MIT
/*
 * Copies at the limits between ways to copy: a block or rows, short rows and long ones, many bytes in
 * pieces. CONCATENATION of random shapes against what each element of the output is by itself; moves
 * of about one piece and of several, and one that is ended in between.
 */
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "nd_copy.h"
#include "ops_fixture.h"

#define CALLS	2000
#define MAX_INPUTS	5

/* Elements of an output: MAX_INPUTS * 4 along the first axis, then 4, 4 and 40. */
#define MOST	12800

/* A type, the sizes of its elements, and inputs with twice the scale of the output. */
struct form {
	const char *name;
	enum nnpu_type type;
	size_t size;
	bool converts;
};

/* @v, of an input with zero point @zero and twice the scale, where the output's zero point is 3. */
static uint8_t converted(uint8_t v, int zero, bool is_signed)
{
	int low = is_signed ? -128 : 0, from = is_signed ? (int8_t)v : v;
	int to = (from - zero) * 2 + 3;

	return (uint8_t)(to < low ? low : to > low + 255 ? low + 255 : to);
}

static void fill_random(uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		data[i] = (uint8_t)pick(0, 255);
}

/* The shape of all inputs but for @axis, of which they may have nothing. */
static unsigned int pick_shape(uint32_t *dims, unsigned int *axis)
{
	unsigned int rank = (unsigned int)pick(1, 4);

	for (unsigned int i = 0; i < rank; i++)
		dims[i] = pick(0, 2) == 0 ? 1 : (uint32_t)pick(pick(0, 15) ? 1 : 0, i + 1 == rank ? 40 : 4);
	*axis = (unsigned int)pick(0, (int)rank - 1);
	return rank;
}

static bool concatenation_agrees(const struct form *form)
{
	static uint8_t in[MAX_INPUTS][MOST * 4], expected[MOST * 4];
	bool quantized = type_is_quant8(form->type), same[MAX_INPUTS], good;
	bool is_signed = form->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
	int zeros[MAX_INPUTS], count = pick(1, MAX_INPUTS);
	uint32_t dims[4], own[MAX_INPUTS], total = 0;
	unsigned int axis, rank = pick_shape(dims, &axis);
	size_t outer = 1, inner = form->size, at = 0;
	struct fixture f;

	for (unsigned int i = 0; i < rank; i++) {
		outer *= i < axis ? dims[i] : 1;
		inner *= i > axis ? dims[i] : 1;
	}
	fixture_init(&f, NNPU_OP_CONCATENATION);
	for (int i = 0; i < count; i++) {
		/* One of several is as the output is. */
		same[i] = !form->converts || pick(0, 3) == 0;
		own[i] = (uint32_t)pick(0, axis + 1 == rank ? 20 : 4);
		total += own[i];
		dims[axis] = own[i];
		zeros[i] = same[i] ? 3 : pick(-2, 2) + (is_signed ? -20 : 130);
		fill_random(in[i], outer * own[i] * inner);
		fixture_input(&f, form->type, !quantized ? 0 : same[i] ? 0.5f : 1.0f, quantized ? zeros[i] : 0,
			      rank, dims, in[i]);
	}
	dims[axis] = total;
	fixture_i32(&f, (int)axis);
	fixture_output(&f, form->type, quantized ? 0.5f : 0, quantized ? 3 : 0);
	for (size_t row = 0; row < outer; row++) {
		for (int i = 0; i < count; i++) {
			size_t bytes = own[i] * inner;

			for (size_t k = 0; k < bytes; k++, at++) {
				uint8_t v = in[i][row * bytes + k];

				expected[at] = same[i] ? v : converted(v, zeros[i], is_signed);
			}
		}
	}
	good = fixture_run(&f) == 0 && fixture_is(&f, rank, dims, expected);
	if (!good)
		tap_note("rank %u, axis %u, %d inputs: %s", rank, axis, count, reason_text(fixture_reason(&f)));
	fixture_end(&f);
	return good;
}

static void test_concatenation(void)
{
	static const struct form forms[] = {
		{ "floats", NNPU_TYPE_TENSOR_FLOAT32, 4, false },
		{ "bytes", NNPU_TYPE_TENSOR_QUANT8_ASYMM, 1, false },
		{ "bytes that change their scale", NNPU_TYPE_TENSOR_QUANT8_ASYMM, 1, true },
		{ "signed bytes that change their scale", NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, 1, true },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		unsigned int bad = 0;

		for (int call = 0; call < CALLS; call++)
			bad += !concatenation_agrees(&forms[i]);
		ok(!bad, "CONCATENATION of %s: %u of %d differ", forms[i].name, bad, CALLS);
	}
}

/* RESHAPE of @bytes bytes to one dimension; it ends at the point @abort_after, or 0: never. */
static int reshape(struct fixture *f, const uint8_t *data, uint32_t bytes, unsigned long abort_after)
{
	int32_t shape = -1;
	int ret;

	fixture_init(f, NNPU_OP_RESHAPE);
	fixture_input(f, NNPU_TYPE_TENSOR_QUANT8_ASYMM, 1, 0, DIMS(1, bytes), data);
	fixture_const(f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(1), &shape);
	fixture_output(f, NNPU_TYPE_TENSOR_QUANT8_ASYMM, 1, 0);
	graph_progress.count = 0;
	graph_progress.abort_after = abort_after;
	ret = fixture_run(f);
	graph_progress.abort_after = 0;
	return ret;
}

static void test_pieces(void)
{
	static const uint32_t sizes[] = {
		ND_MOVE_BYTES - 1, ND_MOVE_BYTES, ND_MOVE_BYTES + 1, 2 * ND_MOVE_BYTES + 1, 16 * ND_MOVE_BYTES,
	};
	enum { BYTES = 16 * ND_MOVE_BYTES };
	uint8_t *data = malloc(BYTES);
	struct fixture f;
	size_t copied = BYTES;

	if (!data)
		abort();
	fill_random(data, BYTES);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		ok(reshape(&f, data, sizes[i], 0) == 0 && fixture_is(&f, DIMS(sizes[i]), data),
		   "a move of %u bytes", sizes[i]);
		fixture_end(&f);
	}
	/* About a byte in 256 is what it was before. */
	ok(reshape(&f, data, BYTES, 1) == OP_ABORTED && graph_progress.count == 1, "a move can be ended");
	while (copied && ((uint8_t *)fixture_result(&f)->data)[copied - 1] == 0xa5)
		copied--;
	ok(copied > ND_MOVE_BYTES && copied <= 4 * ND_MOVE_BYTES &&
	   !memcmp(fixture_result(&f)->data, data, copied), "it has moved %zu of %u bytes", copied, BYTES);
	fixture_end(&f);
	free(data);
}

int main(void)
{
	test_concatenation();
	test_pieces();
	return tap_done();
}
