// SPDX-License-Identifier: MIT
/*
 * Fast kernels against plain loops, byte for byte: the variants of the inner loops against each
 * other, and whole operations with random shapes, types and parameters against a computation
 * term by term. Float sums of variants with vectors are fused; their inner loops are compared with
 * fused sums term by term, and whole operations have numbers whose sums no rounding changes.
 */
#include <float16.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "compare_kernels.h"
#include "ops_fixture.h"
#include "kernels.h"

#define ROUNDS	300

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Variants of the inner loops. */

static void test_variants(void)
{
	const struct kernels *base = kernels_variant(0), *k;
	unsigned int differ = 0;
	const char *name;

	for (int round = 0; round < 10 * ROUNDS; round++)
		differ += compare_floats(base, base);
	ok(!differ, "kernels: float sums of %s, term by term with two roundings", kernels_name(0));
	for (unsigned int i = 1; (name = kernels_name(i)); i++) {
		unsigned int bad = 0;

		k = kernels_variant(i);
		if (!k) {
			tap_skip("kernels: this CPU cannot run %s", name);
			continue;
		}
		for (int round = 0; round < 10 * ROUNDS; round++)
			bad += compare_integers(base, k) + compare_floats(base, k);
		ok(!bad, "kernels: the inner loops of %s give the same as those of %s, float sums fused",
		   name, kernels_name(0));
	}
}

/* The choice by NNPU_ISA. */
static void test_choice(void)
{
	const struct kernels *best = kernels_variant(0);
	bool good = true;

	for (unsigned int i = 0; kernels_name(i); i++) {
		const struct kernels *k = kernels_variant(i);

		setenv("NNPU_ISA", kernels_name(i), 1);
		good &= kernels_use(NULL) == (k != NULL) && (!k || kernels_get() == k);
		best = k ? k : best;
	}
	ok(good, "NNPU_ISA chooses a variant that this CPU can run");
	setenv("NNPU_ISA", "plain", 1);
	ok(kernels_use(NULL) && kernels_plain(), "NNPU_ISA=plain chooses plain loops");
	setenv("NNPU_ISA", "8087", 1);
	good = !kernels_use(NULL) && kernels_get() == best && !kernels_plain();
	unsetenv("NNPU_ISA");
	good &= !kernels_use(NULL) && kernels_get() == best && !kernels_plain();
	ok(good, "any other name, or none, is the best variant");
}

/* Whole operations. */

enum operand_kind { U8, S8, S8_PER_CHANNEL, F32, F16, NUM_KINDS };

static const char *const kind_names[] = { "U8", "S8", "S8 per channel", "F32", "F16" };

static enum nnpu_type kind_type(enum operand_kind kind)
{
	static const enum nnpu_type types[] = {
		NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
		NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TYPE_TENSOR_FLOAT32,
		NNPU_TYPE_TENSOR_FLOAT16,
	};

	return types[kind];
}

static bool is_float(enum operand_kind kind)
{
	return kind == F32 || kind == F16;
}

static int pick_zero_point(enum operand_kind kind)
{
	return is_float(kind) ? 0 : kind == U8 ? pick(0, 255) : pick(-128, 127);
}

static float pick_scale(enum operand_kind kind)
{
	return is_float(kind) ? 0 : ldexpf((float)pick(64, 127), pick(-16, -9));
}

/*
 * Floats are quarters of whole numbers up to 16: sums of 60000 products are exact, and a fused
 * sum is the same as one with two roundings.
 */
static bool exact_sums;

/* @n elements of a type; half precision numbers of moderate size. */
static void *random_data(enum nnpu_type type, size_t n)
{
	size_t size = type_size(type);
	uint8_t *p = must(malloc(n * size + 1));

	for (size_t i = 0; i < n; i++) {
		float real = (float)pick(-1000, 1000) / 77;
		uint16_t half = (uint16_t)(pick(0, 1) << 15 | pick(10, 17) << 10 | pick(0, 1023));

		if (exact_sums) {
			real = (float)pick(-16, 16) / 4;
			half = float_to_half(real);
		}
		if (type == NNPU_TYPE_TENSOR_FLOAT32)
			memcpy(p + i * size, &real, size);
		else if (type == NNPU_TYPE_TENSOR_FLOAT16)
			memcpy(p + i * size, &half, size);
		else
			p[i] = (uint8_t)next_random();
	}
	return p;
}

static void add_random(struct fixture *f, bool constant, enum nnpu_type type, float scale,
		       int zero_point, unsigned int rank, const uint32_t *dims)
{
	size_t n = 1;
	void *data;

	for (unsigned int i = 0; i < rank; i++)
		n *= dims[i];
	data = random_data(type, n);
	if (constant)
		fixture_const(f, type, scale, zero_point, rank, dims, data);
	else
		fixture_input(f, type, scale, zero_point, rank, dims, data);
	free(data);
}

/*
 * The filter and the bias; returns the scale of the accumulator. @scales is for as many
 * scales as there are channels, which are dimension @dim of the filter.
 */
static float add_weights(struct fixture *f, enum operand_kind kind, float in_scale,
			 unsigned int rank, const uint32_t *dims, uint32_t dim, float *scales)
{
	uint32_t channels = dims[dim];
	float scale = pick_scale(kind);
	int32_t *bias;

	if (is_float(kind)) {
		add_random(f, true, kind_type(kind), 0, 0, rank, dims);
		add_random(f, true, kind_type(kind), 0, 0, 1, &channels);
		return 0;
	}
	bias = must(malloc(channels * sizeof(*bias)));
	for (uint32_t i = 0; i < channels; i++) {
		bias[i] = pick(0, 40) ? pick(-50000, 50000) : (int32_t)next_random();
		scales[i] = scale * (float)pick(10, 100) / 64;
	}
	if (kind == S8_PER_CHANNEL) {
		add_random(f, true, NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, 0, 0, rank, dims);
		fixture_channel_scales(f, dim, scales);
		fixture_const(f, NNPU_TYPE_TENSOR_INT32, 0, 0, 1, &channels, bias);
	} else {
		add_random(f, true, kind_type(kind), scale, pick(0, 2) ? pick_zero_point(kind) : 0,
			   rank, dims);
		fixture_const(f, NNPU_TYPE_TENSOR_INT32, in_scale * scale, 0, 1, &channels, bias);
	}
	free(bias);
	return in_scale * scale;
}

static float pick_out_scale(enum operand_kind kind, float acc_scale)
{
	if (is_float(kind))
		return 0;
	/* Now and then smaller than the accumulator's: shifts to the left. */
	return pick(0, 9) ? acc_scale * (float)pick(20, 4000) : acc_scale / 3;
}

static bool agrees(struct fixture *f)
{
	f->shared_constants = pick(0, 1);
	return fixture_agrees(f);
}

static void add_window(struct fixture *f, bool depthwise, bool nchw, int size_y, int size_x,
		       bool dilated)
{
	if (pick(0, 1)) {
		for (int i = 0; i < 4; i++)
			fixture_i32(f, pick(0, (i < 2 ? size_x : size_y) - 1));
	} else {
		fixture_i32(f, pick(1, 2));
	}
	fixture_i32(f, pick(0, 1) ? 1 : pick(1, 3));
	fixture_i32(f, pick(0, 1) ? 1 : pick(1, 3));
	if (depthwise)
		fixture_i32(f, 1);
	fixture_i32(f, pick(0, 3));
	fixture_bool(f, nchw);
	fixture_i32(f, dilated ? 2 : 1);
	fixture_i32(f, dilated ? 2 : 1);
}

static bool convolution(enum operand_kind kind, bool depthwise)
{
	int taps_y = pick(0, 2) ? pick(1, 4) : 1, taps_x = taps_y == 1 ? 1 : pick(1, 5);
	bool dilated = pick(0, 5) == 0, nchw = pick(0, 5) == 0;
	int size_y = dilated ? 2 * taps_y - 1 : taps_y, size_x = dilated ? 2 * taps_x - 1 : taps_x;
	uint32_t n = (uint32_t)pick(1, 2), c = (uint32_t)pick_size(40, depthwise ? 200 : 600);
	uint32_t y = (uint32_t)pick(size_y, size_y + 9), x = (uint32_t)pick(size_x, size_x + 9);
	uint32_t out = depthwise ? c : (uint32_t)pick_size(20, 70);
	uint32_t filter[4] = { depthwise ? 1 : out, (uint32_t)taps_y, (uint32_t)taps_x, c };
	float scales[600], scale = pick_scale(kind), acc_scale;
	struct fixture f;
	bool good;

	fixture_init(&f, depthwise ? NNPU_OP_DEPTHWISE_CONV_2D : NNPU_OP_CONV_2D);
	if (nchw)
		add_random(&f, false, kind_type(kind), scale, pick_zero_point(kind),
			   DIMS(n, c, y, x));
	else
		add_random(&f, false, kind_type(kind), scale, pick_zero_point(kind),
			   DIMS(n, y, x, c));
	acc_scale = add_weights(&f, kind, scale, 4, filter, depthwise ? 3 : 0, scales);
	add_window(&f, depthwise, nchw, size_y, size_x, dilated);
	fixture_output(&f, kind_type(kind), pick_out_scale(kind, acc_scale),
		       pick_zero_point(kind));
	if (pick(0, 3) == 0)
		fixture_unfix(&f);
	good = agrees(&f);
	if (!good)
		tap_note("%s in %u,%u,%u,%u out %u taps %d,%d%s%s", kind_names[kind], n, y, x, c,
			 out, taps_y, taps_x, nchw ? " nchw" : "", dilated ? " dilated" : "");
	fixture_end(&f);
	return good;
}

/* @steps: scale of the output in scales of the accumulator; 0: any. */
static bool weighted_sums(enum operand_kind kind, uint32_t rows, uint32_t size, uint32_t units,
			  float steps)
{
	float *scales = must(malloc(units * sizeof(*scales)));
	float scale = pick_scale(kind), acc_scale;
	struct fixture f;
	bool good;

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	add_random(&f, false, kind_type(kind), scale, pick_zero_point(kind), DIMS(rows, size));
	acc_scale = add_weights(&f, kind, scale, DIMS(units, size), 0, scales);
	fixture_i32(&f, pick(0, 3));
	fixture_output(&f, kind_type(kind),
		       steps > 0 ? acc_scale * steps : pick_out_scale(kind, acc_scale),
		       pick_zero_point(kind));
	if (pick(0, 3) == 0)
		fixture_unfix(&f);
	good = agrees(&f);
	if (!good)
		tap_note("%s %u by %u to %u", kind_names[kind], rows, size, units);
	fixture_end(&f);
	free(scales);
	return good;
}

static bool fully_connected(enum operand_kind kind)
{
	uint32_t rows = (uint32_t)pick_size(8, 60), size = (uint32_t)pick_size(100, 1500);
	uint32_t units = (uint32_t)pick_size(20, 100);

	return weighted_sums(kind, rows, size, units, 0);
}

/* Rows of inputs that are too long for one tile, or leave room for few. */
static bool long_rows(enum operand_kind kind)
{
	uint32_t size = (uint32_t)pick(3000, 60000), units = (uint32_t)pick(1, 20);
	uint32_t rows = (uint32_t)pick(1, 9);

	return weighted_sums(kind, rows, size, units, 50000);
}

/* So few units that their weights are not packed, and numbers about that. */
static bool few_units(enum operand_kind kind)
{
	static const uint32_t units[] = { 1, 2, 3, 4, 5, 6, 9, 10, 11, 17 };
	uint32_t size = (uint32_t)pick(250, pick(0, 9) ? pick(260, 1100) : 9000);
	uint32_t rows = (uint32_t)pick(1, 8);

	return weighted_sums(kind, rows, size, units[pick(0, 9)], 0);
}

static bool conv2d(enum operand_kind kind)
{
	return convolution(kind, false);
}

static bool depthwise_conv2d(enum operand_kind kind)
{
	return convolution(kind, true);
}

/* ADD or SUB, side by side or one of them broadcast. */
static bool sum(enum operand_kind kind)
{
	uint32_t n = (uint32_t)pick_size(60, 3000);
	float scale[2] = { pick_scale(kind), pick_scale(kind) };
	struct fixture f;
	bool good;

	fixture_init(&f, pick(0, 1) ? NNPU_OP_ADD : NNPU_OP_SUB);
	add_random(&f, false, kind_type(kind), scale[0], pick_zero_point(kind), DIMS(2, n));
	add_random(&f, false, kind_type(kind), scale[1], pick_zero_point(kind),
		   DIMS(pick(0, 3) ? 2 : 1, n));
	fixture_i32(&f, pick(0, 3));
	fixture_output(&f, kind_type(kind), is_float(kind) ? 0 : pick_scale(kind),
		       pick_zero_point(kind));
	good = agrees(&f);
	fixture_end(&f);
	return good;
}

/* The variant that whole operations are run with. */
static const char *isa;

static void test_operation(const char *name, enum operand_kind kind, int rounds,
			   bool (*run)(enum operand_kind kind))
{
	unsigned int bad = 0;

	exact_sums = run != sum;
	for (int i = 0; i < rounds; i++)
		bad += !run(kind);
	ok(!bad, "%s %s, %s: %d random calls as by plain loops", name, kind_names[kind], isa,
	   rounds);
}

static void test_operations(void)
{
	for (enum operand_kind kind = 0; kind < NUM_KINDS; kind++) {
		test_operation("CONV_2D", kind, ROUNDS, conv2d);
		test_operation("DEPTHWISE_CONV_2D", kind, ROUNDS, depthwise_conv2d);
		if (kind == S8_PER_CHANNEL)
			continue;
		test_operation("FULLY_CONNECTED", kind, ROUNDS, fully_connected);
		test_operation("ADD and SUB", kind, ROUNDS, sum);
		test_operation("FULLY_CONNECTED with long rows,", kind, 6, long_rows);
		test_operation("FULLY_CONNECTED with few units,", kind, ROUNDS, few_units);
	}
}

int main(void)
{
	test_choice();
	test_variants();
	for (unsigned int i = 0; kernels_name(i); i++) {
		if (!kernels_variant(i))
			continue;
		isa = kernels_name(i);
		kernels_use(isa);
		test_operations();
	}
	return tap_done();
}
