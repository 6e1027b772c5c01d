// SPDX-License-Identifier: MIT
/*
 * Commands whose output has the bytes of the input, at the same place in the arena: nothing is copied,
 * and whoever reads either of them finds it.
 */
#include <endian.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define N	64
/* A large tensor is the sum of a row and a column. */
#define SIDE	512
#define LARGE	(SIDE * SIDE * sizeof(float))

static struct rig rig;
static struct job_rig j;
static struct image im;

static uint32_t vec(unsigned int kind)
{
	return image_tensor(&im, F32, kind, N, -1);
}

static uint32_t temp(void)
{
	return vec(NNPU_TENSOR_TEMPORARY);
}

/* RESHAPE of @from to [@rows, rest] in a tensor of this kind. */
static uint32_t reshaped(uint32_t from, unsigned int kind, int rows, int rest)
{
	const int32_t dims[2] = { rows, -1 };
	uint32_t list = image_const(&im, NNPU_TYPE_TENSOR_INT32, 2, dims, sizeof(dims));
	uint32_t to = image_tensor(&im, F32, kind, rows, rest, -1);

	image_command(&im, NNPU_OP_RESHAPE, 2, 1, from, list, to);
	return to;
}

/* RESHAPE of @from to [N] in tensor @to. */
static void flatten(uint32_t from, uint32_t to)
{
	const int32_t dims = N;
	uint32_t list = image_const(&im, NNPU_TYPE_TENSOR_INT32, 1, &dims, sizeof(dims));

	image_command(&im, NNPU_OP_RESHAPE, 2, 1, from, list, to);
}

static uint32_t computed(unsigned int op, uint32_t a, uint32_t b, uint32_t to)
{
	image_command(&im, op, 3, 1, a, b, image_scalar(&im, 0), to);
	return to;
}

static void load(const char *what)
{
	struct nnpu_cqe cqe;
	int status;

	image_finish(&im);
	/* That of the test before. */
	rig_unload(&rig, 1, 1);
	status = rig_load(&rig, 1, 1, im.bytes, im.size, &cqe);
	ok(status == 0, "%s loads (status 0x%x reason %u error %u operand %u)", what,
	   (unsigned int)status, le16toh(cqe.reason), le32toh(cqe.error), le16toh(cqe.operand));
	image_free(&im);
}

static float *place(unsigned int n)
{
	return (float *)(j.operands + n * 4096);
}

/* Inputs are 1, 2, 3 ... and 100, 101, 102 ...; behind @flags inputs of one byte, all 1. */
static bool run(unsigned int flags, unsigned int outputs)
{
	struct nnpu_arg *a = job_args(&j, 2 + flags, outputs);

	for (unsigned int n = 0; n < 2 + flags + outputs; n++)
		job_arg(&a[n], 1, n * 4096, n >= 2 && n < 2 + flags ? 1 : N * sizeof(float));
	for (unsigned int i = 0; i < N; i++) {
		place(0)[i] = 1 + (float)i;
		place(1)[i] = 100 + (float)i;
	}
	for (unsigned int n = 0; n < flags; n++)
		*(uint8_t *)place(2 + n) = 1;
	memset(place(2 + flags), 0xa5, outputs * 4096u);
	return job_execute(&j, 1, NULL) == 0;
}

/* Has argument @n the values @of(x, y), x and y those of the inputs? */
static bool holds(unsigned int n, float (*of)(float x, float y))
{
	for (unsigned int i = 0; i < N; i++)
		if (place(n)[i] != of(1 + (float)i, 100 + (float)i))
			return false;
	return true;
}

static float first(float x, float y)
{
	(void)y;
	return x;
}

static float twice_the_sum(float x, float y)
{
	return 2 * (x + y);
}

static float sum_and_product(float x, float y)
{
	return x + y + x * y;
}

static float twice_of_the_block(float x, float y)
{
	return 2 * (y + y * x + x);
}

static float sum(float x, float y)
{
	return x + y;
}

static void begin(uint32_t *x, uint32_t *y)
{
	image_init(&im);
	*x = vec(NNPU_TENSOR_INPUT);
	*y = vec(NNPU_TENSOR_INPUT);
}

/* The tensor is read after its reshaped form, and lives as long. */
static void test_both_are_read(void)
{
	uint32_t x, y, t, r;

	begin(&x, &y);
	t = computed(NNPU_OP_ADD, x, y, temp());
	r = temp();
	flatten(reshaped(t, NNPU_TENSOR_TEMPORARY, 2, N / 2), r);
	computed(NNPU_OP_ADD, r, t, vec(NNPU_TENSOR_OUTPUT));
	load("a tensor and its reshaped form");
	ok(run(0, 1) && holds(2, twice_the_sum), "both are read");
}

/* The tensor itself is read no more. What is computed then must not take its place. */
static void test_one_lives_on(void)
{
	uint32_t x, y, r, other;

	begin(&x, &y);
	r = temp();
	flatten(reshaped(computed(NNPU_OP_ADD, x, y, temp()), NNPU_TENSOR_TEMPORARY, 2, N / 2), r);
	other = computed(NNPU_OP_MUL, x, y, temp());
	computed(NNPU_OP_ADD, r, other, vec(NNPU_TENSOR_OUTPUT));
	load("a reshaped tensor that lives on");
	ok(run(0, 1) && holds(2, sum_and_product), "its bytes are there");
}

static void test_outputs(void)
{
	uint32_t x, y, t;

	begin(&x, &y);
	reshaped(x, NNPU_TENSOR_OUTPUT, 2, N / 2);
	reshaped(x, NNPU_TENSOR_OUTPUT, 4, N / 4);
	t = computed(NNPU_OP_ADD, x, y, vec(NNPU_TENSOR_OUTPUT));
	reshaped(t, NNPU_TENSOR_OUTPUT, 2, N / 2);
	load("inputs and outputs that are reshaped");
	ok(run(0, 4) && holds(2, first) && holds(3, first) && holds(4, sum) && holds(5, sum),
	   "each output has its bytes");
}

static void test_constant(void)
{
	float values[N];
	uint32_t x, y, c, r;

	for (unsigned int i = 0; i < N; i++)
		values[i] = 100 + (float)i;
	begin(&x, &y);
	c = image_const(&im, F32, N, values, sizeof(values));
	r = temp();
	flatten(reshaped(c, NNPU_TENSOR_TEMPORARY, 2, N / 2), r);
	computed(NNPU_OP_ADD, r, x, vec(NNPU_TENSOR_OUTPUT));
	load("a constant that is reshaped");
	ok(run(0, 1) && holds(2, sum), "its bytes are there");
}

/* What a block reads and writes has no place of its own in the block. */
static void test_block(void)
{
	uint32_t x, y, flag, out, a, b, inside, product, t;

	begin(&x, &y);
	flag = image_tensor(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	out = vec(NNPU_TENSOR_TEMPORARY);
	image_command(&im, NNPU_CMD_BRANCH, 3, 1, flag, y, x, out);
	image_targets(&im, 2, 2);
	computed(NNPU_OP_ADD, out, out, vec(NNPU_TENSOR_OUTPUT));
	a = temp();
	b = temp();
	inside = temp();
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, a, b, inside);
	/* The input of the block is reshaped, and a sum of the block to its output. */
	product = computed(NNPU_OP_MUL, a, b, temp());
	t = temp();
	flatten(reshaped(a, NNPU_TENSOR_TEMPORARY, 2, N / 2), t);
	t = computed(NNPU_OP_ADD, t, product, temp());
	t = computed(NNPU_OP_ADD, t, b, temp());
	flatten(reshaped(t, NNPU_TENSOR_TEMPORARY, 4, N / 4), inside);
	load("a block that reshapes");
	ok(run(1, 1) && holds(3, twice_of_the_block), "its output has the bytes");
}

/* Eight forms of one tensor take the memory of one. */
static void test_memory(void)
{
	uint32_t column, row, keep_dims, sum_of_rows, t;
	const int32_t axes[2] = { 0, 1 };
	const uint8_t keep = 0;
	struct nnpu_arg *a;
	uint64_t peak;

	image_init(&im);
	column = image_tensor(&im, F32, NNPU_TENSOR_INPUT, SIDE, 1, -1);
	row = image_tensor(&im, F32, NNPU_TENSOR_INPUT, 1, SIDE, -1);
	t = computed(NNPU_OP_ADD, column, row,
		     image_tensor(&im, F32, NNPU_TENSOR_TEMPORARY, SIDE, SIDE, -1));
	for (int i = 0; i < 8; i++)
		t = reshaped(t, NNPU_TENSOR_TEMPORARY, i % 2 ? SIDE : SIDE / 2,
			     i % 2 ? SIDE : 2 * SIDE);
	keep_dims = image_const(&im, NNPU_TYPE_BOOL, 0, &keep, sizeof(keep));
	im.tensors[keep_dims].rank = 0;
	sum_of_rows = image_tensor(&im, F32, NNPU_TENSOR_OUTPUT, 1, -1);
	image_command(&im, NNPU_OP_REDUCE_SUM, 3, 1, t,
		      image_const(&im, NNPU_TYPE_TENSOR_INT32, 2, axes, sizeof(axes)),
		      keep_dims, sum_of_rows);
	load("a large tensor in eight forms");
	a = job_args(&j, 2, 1);
	for (unsigned int n = 0; n < 2; n++) {
		job_arg(&a[n], 1, n * 4096, SIDE * sizeof(float));
		for (unsigned int i = 0; i < SIDE; i++)
			place(n)[i] = 1;
	}
	job_arg(&a[2], 1, 2 * 4096, sizeof(float));
	ok(job_execute(&j, 1, NULL) == 0 && place(2)[0] == 2.0f * SIDE * SIDE, "its sum");
	peak = rig_read64(&rig, NNPU_REG_MEM_PEAK_LO);
	ok(peak >= LARGE && peak < LARGE + LARGE / 4, "it is there once: %llu bytes, the tensor has %zu",
	   (unsigned long long)peak, LARGE);
}

int main(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	test_memory();
	test_both_are_read();
	test_one_lives_on();
	test_outputs();
	test_constant();
	test_block();
	rig_close(&rig);
	return tap_done();
}
