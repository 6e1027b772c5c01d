// SPDX-License-Identifier: MIT
/*
 * Windows, strides, dilations, paddings and numbers of channels at which fast paths begin, end or give way
 * to others, against plain loops: byte for byte, for each variant of the inner loops. The fixture runs
 * what has parts in parts, too, and its memory ends where a tensor ends.
 */
#include <float16.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "../xorshift.h"
#include "kernels.h"
#include "ops_fixture.h"

/* Calls of each kind; fewer of those that are large. */
#define ROUNDS	160
#define LARGE	24

enum operand_kind { U8, S8, S8_PER_CHANNEL, F32, F16, NUM_KINDS };

static const char *const kind_names[] = { "U8", "S8", "S8 per channel", "F32", "F16" };

static bool is_float(enum operand_kind kind)
{
	return kind == F32 || kind == F16;
}

static enum nnpu_type kind_type(enum operand_kind kind)
{
	static const enum nnpu_type types[] = {
		NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
		NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TYPE_TENSOR_FLOAT32,
		NNPU_TYPE_TENSOR_FLOAT16,
	};

	return types[kind];
}

/* Ends of the range now and then: nothing may be taken for zero that is none. */
static int pick_zero_point(enum operand_kind kind)
{
	int low = kind == U8 ? 0 : -128;

	if (is_float(kind))
		return 0;
	return pick(0, 4) ? pick(low, low + 255) : pick(0, 1) ? low : low + 255;
}

static float pick_scale(enum operand_kind kind)
{
	return is_float(kind) ? 0 : ldexpf((float)pick(64, 127), pick(-16, -9));
}

/* Of floats, what sum_of() adds without rounding; with @special, what has no order or no sum. */
static float pick_float(bool special)
{
	static const float odd[] = { NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-45f };

	if (special && pick(0, 3) == 0)
		return odd[pick(0, 5)];
	return (float)pick(-16, 16) / 4;
}

static void *random_data(enum operand_kind kind, size_t n, bool special)
{
	size_t size = type_size(kind_type(kind));
	uint8_t *p = malloc(n * size + 1);

	if (!p)
		abort();
	for (size_t i = 0; i < n; i++) {
		float real = is_float(kind) ? pick_float(special) : 0;
		uint16_t half = float_to_half(real);

		if (kind == F32)
			memcpy(p + i * size, &real, size);
		else if (kind == F16)
			memcpy(p + i * size, &half, size);
		else
			p[i] = (uint8_t)(pick(0, 5) ? next_random() : pick(0, 1) ? 0x7f : 0x80);
	}
	return p;
}

static void add_tensor(struct fixture *f, enum operand_kind kind, float scale, int zero_point,
		       unsigned int rank, const uint32_t *dims, bool special)
{
	size_t n = 1;
	void *data;

	for (unsigned int i = 0; i < rank; i++)
		n *= dims[i];
	data = random_data(kind, n, special);
	fixture_input(f, kind_type(kind), scale, zero_point, rank, dims, data);
	free(data);
}

static bool agrees(struct fixture *f)
{
	f->shared_constants = pick(0, 1);
	return fixture_agrees(f);
}

/* A window over an image, and what goes around it. */
struct shape {
	uint32_t n, y, x, c, out;
	int taps[2], stride[2], dilation[2];	/* y, x */
	int multiplier;				/* 0: no depthwise convolution */
	bool nchw;
};

static int extent(const struct shape *s, int axis)
{
	return (s->taps[axis] - 1) * s->dilation[axis] + 1;
}

/* Each axis has its own numbers. A window has one tap along an axis often, or many. */
static void pick_window(struct shape *s, int most_taps)
{
	for (int axis = 0; axis < 2; axis++) {
		s->taps[axis] = pick(0, 2) ? pick(1, 4) : pick(0, 1) ? 1 : pick(1, most_taps);
		s->stride[axis] = pick(0, 2) ? pick(1, 2) : pick(1, 7);
		s->dilation[axis] = pick(0, 2) ? 1 : pick(1, 4);
	}
	s->n = (uint32_t)pick(1, 3);
	s->y = (uint32_t)pick(1, 9);
	s->x = (uint32_t)(pick(0, 3) ? pick(1, 9) : pick(1, 70));
	s->nchw = pick(0, 4) == 0;
	/* Planes of a pixel: channels are adjacent then in any layout, though those of the output may not be. */
	if (pick(0, 7) == 0)
		s->y = s->x = 1;
}

/*
 * Padding and strides of @s. Explicit padding may be larger than the image: then some windows have taps before
 * it and behind it and, with a dilation, none inside.
 */
static void add_window(struct fixture *f, const struct shape *s, bool dilation)
{
	bool explicit = pick(0, 2);
	int pads[4];

	for (int i = 0; explicit && i < 4; i++) {
		int axis = i < 2, most = extent(s, axis) - 1;

		pads[i] = pick(0, 3) ? pick(0, most) : most;
	}
	/* The window has to fit. */
	if (explicit && (int)s->x + pads[0] + pads[1] < extent(s, 1))
		pads[0] = pads[1] = extent(s, 1) - 1;
	if (explicit && (int)s->y + pads[2] + pads[3] < extent(s, 0))
		pads[2] = pads[3] = extent(s, 0) - 1;
	for (int i = 0; explicit && i < 4; i++)
		fixture_i32(f, pads[i]);
	if (!explicit)
		fixture_i32(f, 1);
	fixture_i32(f, s->stride[1]);
	fixture_i32(f, s->stride[0]);
	if (s->multiplier)
		fixture_i32(f, s->multiplier);
	if (!dilation)
		return;
	fixture_i32(f, pick(0, 3));
	fixture_bool(f, s->nchw);
	fixture_i32(f, s->dilation[1]);
	fixture_i32(f, s->dilation[0]);
}

static void add_image(struct fixture *f, enum operand_kind kind, float scale, int zero_point,
		      const struct shape *s, bool special)
{
	if (s->nchw)
		add_tensor(f, kind, scale, zero_point, DIMS(s->n, s->c, s->y, s->x), special);
	else
		add_tensor(f, kind, scale, zero_point, DIMS(s->n, s->y, s->x, s->c), special);
}

static bool convolution(enum operand_kind kind, const struct shape *s)
{
	const uint32_t filter[4] = {
		s->multiplier ? 1 : s->out, (uint32_t)s->taps[0], (uint32_t)s->taps[1],
		s->multiplier ? s->out : s->c,
	};
	size_t weights = (size_t)filter[0] * filter[1] * filter[2] * filter[3];
	float scale = pick_scale(kind), filter_scale = pick_scale(kind), sums = scale * filter_scale;
	float *scales = malloc(s->out * sizeof(*scales));
	int32_t *bias = malloc(s->out * sizeof(*bias));
	void *data = random_data(kind, weights, false);
	enum nnpu_type type = kind_type(kind);
	struct fixture f;
	bool good;

	for (uint32_t i = 0; i < s->out; i++) {
		bias[i] = pick(0, 40) ? pick(-50000, 50000) : (int32_t)next_random();
		scales[i] = filter_scale * (float)pick(10, 100) / 64;
	}
	fixture_init(&f, s->multiplier ? NNPU_OP_DEPTHWISE_CONV_2D : NNPU_OP_CONV_2D);
	add_image(&f, kind, scale, pick_zero_point(kind), s, false);
	if (kind == S8_PER_CHANNEL)
		type = NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;
	fixture_const(&f, type, kind == S8_PER_CHANNEL ? 0 : filter_scale,
		      kind == S8_PER_CHANNEL || pick(0, 2) == 0 ? 0 : pick_zero_point(kind), 4,
		      filter, data);
	if (kind == S8_PER_CHANNEL)
		fixture_channel_scales(&f, s->multiplier ? 3 : 0, scales);
	free(data);
	data = is_float(kind) ? random_data(kind, s->out, false) : NULL;
	fixture_const(&f, is_float(kind) ? kind_type(kind) : NNPU_TYPE_TENSOR_INT32,
		      is_float(kind) || kind == S8_PER_CHANNEL ? 0 : sums, 0, DIMS(s->out),
		      data ? data : bias);
	free(data);
	add_window(&f, s, true);
	fixture_output(&f, kind_type(kind), is_float(kind) ? 0 : pick(0, 9) ?
		       sums * (float)pick(20, 4000) : sums / 3, pick_zero_point(kind));
	if (pick(0, 2) == 0)
		fixture_unfix(&f);
	good = agrees(&f);
	if (!good)
		tap_note("%s in %u,%u,%u,%u out %u taps %d,%d stride %d,%d dilation %d,%d times %d%s",
			 kind_names[kind], s->n, s->y, s->x, s->c, s->out, s->taps[0], s->taps[1],
			 s->stride[0], s->stride[1], s->dilation[0], s->dilation[1],
			 s->multiplier, s->nchw ? " nchw" : "");
	fixture_end(&f);
	free(scales);
	free(bias);
	return good;
}

static bool windows(enum operand_kind kind)
{
	struct shape s = { .c = (uint32_t)(pick(0, 3) ? pick(1, 20) : pick(1, 70)) };

	pick_window(&s, 12);
	s.out = (uint32_t)(pick(0, 2) ? pick(1, 9) : pick(1, 40));
	return convolution(kind, &s);
}

/* Few pixels and many channels: parts are of channels, and factors are kept if there are very many. */
static bool many_channels(enum operand_kind kind)
{
	struct shape s = { .c = (uint32_t)pick(1, 70) };

	pick_window(&s, 3);
	s.y = (uint32_t)pick(1, 3);
	s.x = (uint32_t)pick(1, 5);
	s.out = (uint32_t)(pick(0, 1) ? pick(120, 300) : pick(1000, 1060));
	return convolution(kind, &s);
}

static bool depthwise_windows(enum operand_kind kind)
{
	struct shape s = { .multiplier = pick(0, 1) ? 1 : pick(1, 9) };

	s.c = (uint32_t)(pick(0, 3) ? pick(1, 20) : pick(1, 150));
	pick_window(&s, 12);
	s.out = s.c * (uint32_t)s.multiplier;
	return convolution(kind, &s);
}

/* More channels than are computed together, or than factors are computed for in each job. */
static bool many_depthwise_channels(enum operand_kind kind)
{
	struct shape s = { .multiplier = pick(0, 2) ? 1 : 2 };

	s.c = (uint32_t)(pick(0, 1) ? pick(1000, 1060) : pick(4080, 4200));
	pick_window(&s, 3);
	s.n = 1;
	s.y = (uint32_t)pick(1, 3);
	s.x = (uint32_t)pick(1, 4);
	s.out = s.c * (uint32_t)s.multiplier;
	return convolution(kind, &s);
}

/* With weights of as many units that each job has its parts of them. */
static bool many_units(enum operand_kind kind)
{
	uint32_t rows = (uint32_t)(pick(0, 1) ? pick(1, 9) : pick(90, 130)), size = (uint32_t)pick(1, 200);
	uint32_t units = (uint32_t)pick(120, 300);
	float scale = pick_scale(kind), filter_scale = pick_scale(kind), sums = scale * filter_scale;
	struct fixture f;
	bool good;

	fixture_init(&f, NNPU_OP_FULLY_CONNECTED);
	add_tensor(&f, kind, scale, pick_zero_point(kind), DIMS(rows, size), false);
	add_tensor(&f, kind, filter_scale, pick(0, 1) ? 0 : pick_zero_point(kind), DIMS(units, size),
		   false);
	if (is_float(kind)) {
		add_tensor(&f, kind, 0, 0, 1, &units, false);
	} else {
		int32_t *bias = malloc(units * sizeof(*bias));

		for (uint32_t i = 0; i < units; i++)
			bias[i] = (int32_t)next_random() >> pick(0, 20);
		fixture_input(&f, NNPU_TYPE_TENSOR_INT32, sums, 0, 1, &units, bias);
		free(bias);
	}
	fixture_i32(&f, pick(0, 3));
	fixture_output(&f, kind_type(kind), is_float(kind) ? 0 : sums * (float)pick(20, 4000),
		       pick_zero_point(kind));
	good = agrees(&f);
	if (!good)
		tap_note("%s %u rows of %u to %u", kind_names[kind], rows, size, units);
	fixture_end(&f);
	return good;
}

/* Poolings with padding of any size. Sums of floats are exact; a maximum may be of anything. */
static bool pooling(enum operand_kind kind)
{
	static const enum nnpu_operation ops[] = {
		NNPU_OP_MAX_POOL_2D, NNPU_OP_AVERAGE_POOL_2D, NNPU_OP_L2_POOL_2D,
	};
	enum nnpu_operation op = ops[pick(0, is_float(kind) ? 2 : 1)];
	struct shape s = { .c = (uint32_t)(pick(0, 3) ? pick(1, 40) : pick(1, 200)) };
	float scale = is_float(kind) ? 0 : 0.03125f;
	int zero_point = pick_zero_point(kind);
	struct fixture f;
	bool good;

	pick_window(&s, 12);
	s.dilation[0] = s.dilation[1] = 1;
	fixture_init(&f, op);
	add_image(&f, kind, scale, zero_point, &s, op == NNPU_OP_MAX_POOL_2D);
	add_window(&f, &s, false);
	fixture_i32(&f, s.taps[1]);
	fixture_i32(&f, s.taps[0]);
	fixture_i32(&f, pick(0, 3));
	fixture_bool(&f, s.nchw);
	fixture_output(&f, kind_type(kind), scale, zero_point);
	good = agrees(&f);
	if (!good)
		tap_note("%s in %u,%u,%u,%u window %d,%d stride %d,%d%s", op_name(op), s.n, s.y, s.x,
			 s.c, s.taps[0], s.taps[1], s.stride[0], s.stride[1],
			 s.nchw ? " nchw" : "");
	fixture_end(&f);
	return good;
}

/* Strides from below the window to beyond it, and padding that cuts off the output. */
static bool transposed(enum operand_kind kind)
{
	struct shape s = { .c = (uint32_t)pick(1, 40) };
	float scale = pick_scale(kind), filter_scale = pick_scale(kind), sums = scale * filter_scale;
	struct fixture f;
	bool good;

	pick_window(&s, 9);
	s.out = (uint32_t)pick(1, 40);
	s.x = s.y == 1 ? s.x : (uint32_t)pick(1, 12);
	fixture_init(&f, NNPU_OP_TRANSPOSE_CONV_2D);
	add_image(&f, kind, scale, pick_zero_point(kind), &s, false);
	add_tensor(&f, kind, filter_scale, pick_zero_point(kind),
		   DIMS(s.out, (uint32_t)s.taps[0], (uint32_t)s.taps[1], s.c), false);
	if (is_float(kind)) {
		add_tensor(&f, kind, 0, 0, 1, &s.out, false);
	} else {
		int32_t bias[40];

		for (int i = 0; i < 40; i++)
			bias[i] = pick(-50000, 50000);
		fixture_input(&f, NNPU_TYPE_TENSOR_INT32, sums, 0, 1, &s.out, bias);
	}
	for (int i = 0; i < 4; i++) {
		int axis = i < 2;
		int size = (int)((axis ? s.x : s.y) - 1) * s.stride[axis] + s.taps[axis];

		/* Of the two of an axis, less than there is. */
		fixture_i32(&f, pick(0, (size - 1) / 2));
	}
	fixture_i32(&f, s.stride[1]);
	fixture_i32(&f, s.stride[0]);
	fixture_i32(&f, pick(0, 3));
	fixture_bool(&f, s.nchw);
	fixture_output(&f, kind_type(kind), is_float(kind) ? 0 : sums * (float)pick(20, 4000),
		       pick_zero_point(kind));
	good = agrees(&f);
	if (!good)
		tap_note("%s in %u,%u,%u,%u out %u taps %d,%d stride %d,%d%s", kind_names[kind], s.n,
			 s.y, s.x, s.c, s.out, s.taps[0], s.taps[1], s.stride[0], s.stride[1],
			 s.nchw ? " nchw" : "");
	fixture_end(&f);
	return good;
}

static const struct {
	const char *name;
	bool (*run)(enum operand_kind kind);
	int rounds;
	bool per_channel;		/* there is such a kind */
} tests[] = {
	{ "CONV_2D with windows of any kind", windows, ROUNDS, true },
	{ "CONV_2D with many channels", many_channels, LARGE, true },
	{ "DEPTHWISE_CONV_2D with windows of any kind", depthwise_windows, ROUNDS, true },
	{ "DEPTHWISE_CONV_2D with many channels", many_depthwise_channels, LARGE, true },
	{ "FULLY_CONNECTED with many units", many_units, LARGE, false },
	{ "poolings with padding", pooling, ROUNDS, false },
	{ "TRANSPOSE_CONV_2D", transposed, ROUNDS, false },
};

static void test_kinds(const char *isa)
{
	for (size_t t = 0; t < sizeof(tests) / sizeof(*tests); t++) {
		for (enum operand_kind kind = 0; kind < NUM_KINDS; kind++) {
			unsigned int bad = 0;

			if (kind == S8_PER_CHANNEL && !tests[t].per_channel)
				continue;
			for (int i = 0; i < tests[t].rounds; i++)
				bad += !tests[t].run(kind);
			ok(!bad, "%s, %s, %s: %d random calls as by plain loops", tests[t].name,
			   kind_names[kind], isa, tests[t].rounds);
		}
	}
}

int main(void)
{
	for (unsigned int i = 0; kernels_name(i); i++) {
		if (!kernels_variant(i)) {
			tap_skip("kernels: this CPU cannot run %s", kernels_name(i));
			continue;
		}
		kernels_use(kernels_name(i));
		test_kinds(kernels_name(i));
	}
	return tap_done();
}
