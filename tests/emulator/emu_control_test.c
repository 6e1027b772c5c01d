// SPDX-License-Identifier: MIT
/*
 * Control flow that runs. Each program runs three times: with all shapes known, with unknown
 * dimensions, and with unknown ranks.
 */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define F32	NNPU_TYPE_TENSOR_FLOAT32
#define I32	NNPU_TYPE_TENSOR_INT32
#define BOOL8	NNPU_TYPE_TENSOR_BOOL8

static struct rig rig;
static struct job_rig j;
static struct image im;

enum knowledge { KNOWN, NO_DIMS, NO_RANK, KNOWLEDGE };

static const char *const names[KNOWLEDGE] = { "", " (no dimensions)", " (no ranks)" };
static enum knowledge knowledge;

/* A tensor of @n elements. */
static uint32_t vec(unsigned int type, unsigned int kind, int n)
{
	uint32_t t = image_tensor(&im, type, kind, knowledge == KNOWN ? n : 0, -1);

	if (knowledge == NO_RANK) {
		im.tensors[t].rank = 0;
		im.tensors[t].flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
	}
	return t;
}

static uint32_t temp(unsigned int type, int n)
{
	return vec(type, NNPU_TENSOR_TEMPORARY, n);
}

static uint32_t number(int32_t value)
{
	return image_const(&im, I32, 1, &value, sizeof(value));
}

static void load(const char *what)
{
	struct nnpu_cqe cqe;
	int status;

	image_finish(&im);
	status = rig_load(&rig, 1, 1, im.bytes, im.size, &cqe);
	ok(status == 0, "%s%s loads (status 0x%x reason %u error %u operand %u)", what,
	   names[knowledge], (unsigned int)status, le16toh(cqe.reason), le32toh(cqe.error),
	   le16toh(cqe.operand));
	image_free(&im);
}

static struct nnpu_arg *record(unsigned int n)
{
	return (struct nnpu_arg *)(j.block + 64) + n;
}

static uint8_t *place(unsigned int n)
{
	return j.operands + n * 4096;
}

/* Argument @n: @count elements of @size bytes at place(n); outputs: room. */
static void arg(unsigned int n, uint32_t count, uint32_t size, bool input)
{
	job_arg(record(n), 1, n * 4096, (uint64_t)count * size);
	if (!input)
		return;
	record(n)->flags = htole16(NNPU_ARG_SHAPE);
	record(n)->rank = 1;
	record(n)->dims[0] = htole32(count);
}

static void ints(unsigned int n, uint32_t count, const int32_t *values)
{
	memcpy(place(n), values, count * 4);
	arg(n, count, 4, true);
}

#define INTS(n, ...) \
	ints(n, sizeof((int32_t[]){ __VA_ARGS__ }) / 4, (int32_t[]){ __VA_ARGS__ })

static int32_t result(unsigned int n, unsigned int i)
{
	int32_t v;

	memcpy(&v, place(n) + 4 * i, sizeof(v));
	return v;
}

static void flag(unsigned int n, bool value)
{
	*place(n) = value;
	arg(n, 1, 1, true);
}

static void set_timeout(uint64_t ns)
{
	((struct nnpu_args_header *)j.block)->loop_timeout_ns = htole64(ns);
}

/* z = c ? x + y : x - y, and w the other way round: both branches twice. */
static void test_branch(void)
{
	uint32_t c, x, y, z, w, act, a, b, s, i;

	image_init(&im);
	c = vec(BOOL8, NNPU_TENSOR_INPUT, 1);
	x = vec(I32, NNPU_TENSOR_INPUT, 4);
	y = vec(I32, NNPU_TENSOR_INPUT, 4);
	z = vec(I32, NNPU_TENSOR_OUTPUT, 4);
	w = vec(I32, NNPU_TENSOR_OUTPUT, 4);
	act = image_scalar(&im, 0);
	image_command(&im, NNPU_CMD_BRANCH, 3, 1, c, x, y, z);
	image_targets(&im, 2, 4);
	image_command(&im, NNPU_CMD_BRANCH, 3, 1, c, x, y, w);
	image_targets(&im, 4, 2);
	for (i = 0; i < 2; i++) {
		a = temp(I32, 4);
		b = temp(I32, 4);
		s = temp(I32, 4);
		image_command(&im, NNPU_CMD_BLOCK, 2, 1, a, b, s);
		image_command(&im, i ? NNPU_OP_SUB : NNPU_OP_ADD, 3, 1, a, b, act, s);
	}
	load("branch");
	for (i = 0; i < 2; i++) {
		job_args(&j, 3, 2);
		flag(0, i);
		INTS(1, 10, 20, 30, 40);
		INTS(2, 1, 2, 3, 4);
		arg(3, 4, 4, false);
		arg(4, 4, 4, false);
		ok(job_execute(&j, 1, NULL) == 0 && result(3, 3) == (i ? 44 : 36) &&
		   result(4, 3) == (i ? 36 : 44) && result(3, 0) == (i ? 11 : 9),
		   "condition %u%s", i, names[knowledge]);
	}
	job_args(&j, 3, 2);
	flag(0, 1);
	INTS(1, 10, 20, 30, 40);
	record(2)->flags = htole16(NNPU_ARG_NO_VALUE);
	arg(3, 4, 4, false);
	arg(4, 4, 4, false);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_OP_FAILED &&
	   le16toh(job_result(&j)->reason) == NNPU_REASON_OMITTED, "omitted input%s",
	   names[knowledge]);
	rig_unload(&rig, 1, 1);
}

/* while (i < n) { i = i + 1; sum = sum + i; } (sum, i) = loop(sum, i, n); outputs sum. */
static void build_sum(unsigned int outputs)
{
	uint32_t sum, i, n, out, out_i, act, one, t[4], r;

	image_init(&im);
	sum = vec(I32, NNPU_TENSOR_INPUT, 1);
	i = vec(I32, NNPU_TENSOR_INPUT, 1);
	n = vec(I32, NNPU_TENSOR_INPUT, 1);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 1);
	out_i = outputs > 1 ? vec(I32, NNPU_TENSOR_OUTPUT, 1) : 0;
	act = image_scalar(&im, 0);
	one = number(1);
	if (outputs > 1)
		image_command(&im, NNPU_CMD_LOOP, 3, 2, sum, i, n, out, out_i);
	else
		image_command(&im, NNPU_CMD_LOOP, 3, 1, sum, i, n, out);
	image_targets(&im, 1, 3);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 1);
	t[3] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[3]);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[1], t[2], t[3]);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 1);
	t[3] = temp(I32, 1);
	r = temp(I32, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], r);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, r);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[0], r, act, t[3]);
}

static int run_sum(int32_t sum, int32_t i, int32_t n, unsigned int outputs)
{
	job_args(&j, 3, outputs);
	INTS(0, sum);
	INTS(1, i);
	INTS(2, n);
	arg(3, 1, 4, false);
	if (outputs > 1)
		arg(4, 1, 4, false);
	return job_execute(&j, 1, NULL);
}

static void test_sum(void)
{
	unsigned int outputs;
	int32_t n;

	for (outputs = 1; outputs <= 2; outputs++) {
		build_sum(outputs);
		load("sum");
		for (n = 0; n < 6; n++)
			ok(run_sum(100, 0, n, outputs) == 0 &&
			   result(3, 0) == 100 + n * (n + 1) / 2 &&
			   (outputs == 1 || result(4, 0) == n),
			   "%d rounds, %u outputs%s", n, outputs, names[knowledge]);
		ok(run_sum(0, 0, 1000, outputs) == 0 && result(3, 0) == 500500,
		   "1000 rounds%s", names[knowledge]);
		rig_unload(&rig, 1, 1);
	}
}

/*
 * while (i < n) { i = i + 1; j = 0; while (j < i) { j = j + 1; s = s + 1; } } in which
 * the inner condition is the block of the outer one.
 */
static void test_nested(void)
{
	uint32_t s, i, n, out, act, one, zero, t[9];
	unsigned int r;
	int32_t k;

	image_init(&im);
	s = vec(I32, NNPU_TENSOR_INPUT, 1);
	i = vec(I32, NNPU_TENSOR_INPUT, 1);
	n = vec(I32, NNPU_TENSOR_INPUT, 1);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 1);
	act = image_scalar(&im, 0);
	one = number(1);
	zero = number(0);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, s, i, n, out);
	image_targets(&im, 4, 1);
	for (r = 0; r < 6; r++)
		t[r] = temp(I32, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, t[4]);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, t[0], zero, t[4], t[3]);
	image_targets(&im, 4, 6);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 1);
	t[3] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[3]);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[1], t[2], t[3]);
	for (r = 0; r < 5; r++)
		t[r] = temp(I32, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[0], one, act, t[3]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, t[4]);
	load("nested loops");
	for (k = 0; k < 5; k++)
		ok(run_sum(7, 0, k, 1) == 0 && result(3, 0) == 7 + k * (k + 1) / 2,
		   "%d rounds around up to as many%s", k, names[knowledge]);
	rig_unload(&rig, 1, 1);
}

#define LOOPS	10

/*
 * Ten loops inside each other, all of them while (i < n): the innermost one counts. More
 * values are carried at the same time than the device has room for at first.
 */
static void test_deep(void)
{
	const uint32_t condition = 1 + 3 * LOOPS;
	uint32_t s, i, n, out, act, one, zero, t[5];
	unsigned int d, r;

	image_init(&im);
	s = vec(I32, NNPU_TENSOR_INPUT, 1);
	i = vec(I32, NNPU_TENSOR_INPUT, 1);
	n = vec(I32, NNPU_TENSOR_INPUT, 1);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 1);
	act = image_scalar(&im, 0);
	one = number(1);
	zero = number(0);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, s, i, n, out);
	image_targets(&im, condition, 1);
	for (d = 0; d < LOOPS; d++) {
		for (r = 0; r < 5; r++)
			t[r] = temp(I32, 1);
		image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
		image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, t[4]);
		if (d + 1 == LOOPS) {
			image_command(&im, NNPU_OP_ADD, 3, 1, t[0], one, act, t[3]);
		} else {
			image_command(&im, NNPU_CMD_LOOP, 3, 1, t[0], zero, t[2], t[3]);
			image_targets(&im, condition, 4 + 3 * d);
		}
	}
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 1);
	t[3] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[3]);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[1], t[2], t[3]);
	load("deep loops");
	ok(run_sum(5, 0, 2, 1) == 0 && result(3, 0) == 5 + (1 << LOOPS), "2 rounds of each%s",
	   names[knowledge]);
	ok(run_sum(5, 2, 2, 1) == 0 && result(3, 0) == 5, "no round%s", names[knowledge]);
	rig_unload(&rig, 1, 1);
}

/*
 * while (count(i) < n) { i = i + 1; s = s + i; } in which count() is a loop of the condition
 * block: the outer loop carries values while it runs.
 */
static void test_loop_in_condition(void)
{
	uint32_t s, i, n, out, act, one, zero, t[6];
	unsigned int r;
	int32_t k;

	image_init(&im);
	s = vec(I32, NNPU_TENSOR_INPUT, 1);
	i = vec(I32, NNPU_TENSOR_INPUT, 1);
	n = vec(I32, NNPU_TENSOR_INPUT, 1);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 1);
	act = image_scalar(&im, 0);
	one = number(1);
	zero = number(0);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, s, i, n, out);
	image_targets(&im, 1, 4);
	for (r = 0; r < 5; r++)
		t[r] = temp(I32, 1);
	t[5] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[5]);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, zero, zero, t[1], t[3]);
	image_targets(&im, 7, 9);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[3], t[2], t[5]);
	for (r = 0; r < 5; r++)
		t[r] = temp(I32, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, t[4]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[0], t[4], act, t[3]);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 1);
	t[3] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[3]);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[1], t[2], t[3]);
	for (r = 0; r < 5; r++)
		t[r] = temp(I32, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[0], one, act, t[3]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, t[4]);
	load("loop in a condition");
	for (k = 0; k < 5; k++)
		ok(run_sum(7, 0, k, 1) == 0 && result(3, 0) == 7 + k * (k + 1) / 2,
		   "%d rounds, counted by a loop%s", k, names[knowledge]);
	rig_unload(&rig, 1, 1);
}

/*
 * A loop over a boolean. Its condition runs the block of its body, which branches. The loop
 * carries a value while the condition runs the commands of the body.
 */
static void test_shared_block(void)
{
	uint32_t c, out, t[5];

	image_init(&im);
	c = vec(BOOL8, NNPU_TENSOR_INPUT, 1);
	out = vec(BOOL8, NNPU_TENSOR_OUTPUT, 1);
	image_command(&im, NNPU_CMD_LOOP, 1, 1, c, out);
	image_targets(&im, 1, 3);
	/*
	 * The condition is NOT of its input, as the body is, so its block runs that of the
	 * body.
	 */
	t[0] = temp(BOOL8, 1);
	t[1] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, t[0], t[1]);
	image_command(&im, NNPU_CMD_BRANCH, 2, 1, t[0], t[0], t[1]);
	image_targets(&im, 3, 3);
	t[2] = temp(BOOL8, 1);
	t[3] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, t[2], t[3]);
	image_command(&im, NNPU_OP_LOGICAL_NOT, 1, 1, t[2], t[3]);
	load("condition that runs the body");
	for (unsigned int i = 0; i < 2; i++) {
		job_args(&j, 1, 1);
		flag(0, i);
		arg(3, 0, 1, false);
		job_arg(record(1), 1, 3 * 4096, 1);
		ok(job_execute(&j, 1, NULL) == 0 && *place(3) == 1, "from %u to true%s", i,
		   names[knowledge]);
	}
	rig_unload(&rig, 1, 1);
}

/* c ? x : x and x joined: the branches differ in shape; then the sum with itself. */
static void test_different_shapes(void)
{
	uint32_t c, x, out, mid, act, t[4], i;
	struct nnpu_arg *r = job_result_arg(&j, 2);

	if (knowledge == KNOWN)
		return;
	image_init(&im);
	c = image_tensor(&im, BOOL8, NNPU_TENSOR_INPUT, 1, -1);
	x = image_tensor(&im, I32, NNPU_TENSOR_INPUT, 3, -1);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 0);
	mid = temp(I32, 0);
	act = image_scalar(&im, 0);
	image_command(&im, NNPU_CMD_BRANCH, 2, 1, c, x, mid);
	image_targets(&im, 2, 4);
	image_command(&im, NNPU_OP_ADD, 3, 1, mid, mid, act, out);
	for (i = 0; i < 4; i++)
		t[i] = image_tensor(&im, I32, NNPU_TENSOR_TEMPORARY, i == 3 ? 6 : 3, -1);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, t[0], t[1]);
	image_command(&im, NNPU_OP_ABS, 1, 1, t[0], t[1]);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, t[2], t[3]);
	image_command(&im, NNPU_OP_TILE, 2, 1, t[2], number(2), t[3]);
	load("branches of different shapes");
	for (i = 0; i < 2; i++) {
		job_args(&j, 2, 1);
		flag(0, i);
		INTS(1, 1, 2, 3);
		job_arg(record(2), 1, 3 * 4096, 64);
		ok(job_execute(&j, 1, NULL) == 0 && r->rank == 1 &&
		   le32toh(r->dims[0]) == (i ? 3 : 6) && result(3, 2) == 6 &&
		   (i || result(3, 5) == 6), "%u elements%s", i ? 3 : 6, names[knowledge]);
	}
	record(2)->length = htole64(8);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_OUTPUT_INSUFFICIENT &&
	   le32toh(r->dims[0]) == 3, "output too small%s", names[knowledge]);
	rig_unload(&rig, 1, 1);
}

/* while (i < n) { x = x joined with itself; i = i + 1 } inside of a branch. */
static void test_growing(void)
{
	uint32_t c, x, n, out, act, one, zero, t[6], r;
	struct nnpu_arg *res = job_result_arg(&j, 3);
	int32_t k;

	if (knowledge == KNOWN)
		return;
	image_init(&im);
	c = vec(BOOL8, NNPU_TENSOR_INPUT, 1);
	x = vec(I32, NNPU_TENSOR_INPUT, 0);
	n = vec(I32, NNPU_TENSOR_INPUT, 1);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 0);
	act = image_scalar(&im, 0);
	one = number(1);
	zero = number(0);
	image_command(&im, NNPU_CMD_BRANCH, 3, 1, c, x, n, out);
	image_targets(&im, 1, 3);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 0);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, t[0], t[1], t[2]);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, t[0], zero, t[1], t[2]);
	image_targets(&im, 5, 7);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 0);
	image_command(&im, NNPU_CMD_BLOCK, 2, 1, t[0], t[1], t[2]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[0], t[0], act, t[2]);
	for (r = 0; r < 3; r++)
		t[r] = temp(I32, 0);
	t[3] = temp(BOOL8, 1);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[3]);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[1], t[2], t[3]);
	for (r = 0; r < 5; r++)
		t[r] = temp(I32, 0);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	image_command(&im, NNPU_OP_TILE, 2, 1, t[0], number(2), t[3]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], one, act, t[4]);
	load("values that grow in a loop");
	for (k = 0; k < 8; k++) {
		job_args(&j, 3, 1);
		flag(0, 1);
		INTS(1, 5, 6, 7);
		INTS(2, k);
		arg(3, 1024, 4, false);
		ok(job_execute(&j, 1, NULL) == 0 && le32toh(res->dims[0]) == 3u << k &&
		   result(3, (3u << k) - 1) == 7, "%u elements after %d rounds%s", 3u << k, k,
		   names[knowledge]);
	}
	flag(0, 0);
	ok(job_execute(&j, 1, NULL) == 0 && le32toh(res->dims[0]) == 3 && result(3, 1) == 12,
	   "the other branch%s", names[knowledge]);
	INTS(2, 30);
	flag(0, 1);
	/* A busy machine may need longer to fill so much memory than a loop may take by default. */
	set_timeout(NNPU_LOOP_TIMEOUT_MAX_NS);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_OP_FAILED &&
	   le16toh(job_result(&j)->reason) == NNPU_REASON_OVERFLOW,
	   "until an operand is too large%s", names[knowledge]);
	set_timeout(0);
	flag(0, 1);
	INTS(2, 2);
	record(3)->flags = htole16(NNPU_ARG_SHAPE);
	record(3)->rank = 1;
	record(3)->dims[0] = htole32(13);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_ARG_SHAPE,
	   "12 elements where 13 were demanded%s", names[knowledge]);
	rig_unload(&rig, 1, 1);
}

/* The condition of a branch has more than one element. */
static void test_bad_condition(void)
{
	uint32_t c, x, out, t[2];

	if (knowledge == KNOWN)
		return;
	image_init(&im);
	c = vec(BOOL8, NNPU_TENSOR_INPUT, 1);
	x = vec(I32, NNPU_TENSOR_INPUT, 4);
	out = vec(I32, NNPU_TENSOR_OUTPUT, 4);
	image_command(&im, NNPU_CMD_BRANCH, 2, 1, c, x, out);
	image_targets(&im, 1, 1);
	t[0] = temp(I32, 4);
	t[1] = image_tensor(&im, I32, NNPU_TENSOR_TEMPORARY, 4, -1);
	image_command(&im, NNPU_CMD_BLOCK, 1, 1, t[0], t[1]);
	image_command(&im, NNPU_OP_ABS, 1, 1, t[0], t[1]);
	load("branch with known output of the block");
	job_args(&j, 2, 1);
	memset(place(0), 1, 2);
	arg(0, 2, 1, true);
	INTS(1, 1, 2, 3, 4);
	job_arg(record(2), 1, 3 * 4096, 16);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_OP_FAILED &&
	   le16toh(job_result(&j)->reason) == NNPU_REASON_DIMENSION &&
	   !job_result(&j)->command, "condition of two elements%s", names[knowledge]);
	flag(0, 1);
	ok(job_execute(&j, 1, NULL) == 0 && result(3, 3) == 4, "and of one%s", names[knowledge]);
	INTS(1, 1, 2, 3);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_OP_FAILED &&
	   le16toh(job_result(&j)->reason) == NNPU_REASON_SHAPE_MISMATCH &&
	   le32toh(job_result(&j)->command) == 2, "output of another shape%s", names[knowledge]);
	rig_unload(&rig, 1, 1);
}

static void test_timeout(void)
{
	struct nnpu_args_header *h = job_result(&j);
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	uint16_t cid;

	build_sum(1);
	load("endless loop");
	job_args(&j, 3, 1);
	INTS(0, 0);
	INTS(1, 0);
	INTS(2, INT32_MAX);
	arg(3, 1, 4, false);
	set_timeout(1000000);
	ok(job_execute(&j, 1, &cqe) == NNPU_STATUS_LOOP_TIMEOUT && !le32toh(cqe.error) &&
	   le16toh(h->status) == NNPU_STATUS_LOOP_TIMEOUT &&
	   le64toh(h->exec_ns) >= 1000000, "ends after 1 ms%s", names[knowledge]);
	set_timeout(1);
	ok(job_execute(&j, 1, NULL) == NNPU_STATUS_LOOP_TIMEOUT, "and after 1 ns%s",
	   names[knowledge]);
	if (knowledge == KNOWN) {
		set_timeout(0);
		ok(job_execute(&j, 1, NULL) == NNPU_STATUS_LOOP_TIMEOUT &&
		   le64toh(h->exec_ns) >= NNPU_LOOP_TIMEOUT_DEFAULT_NS, "by itself after 2 s");
	}
	set_timeout(1);
	INTS(2, 0);
	ok(job_execute(&j, 1, NULL) == 0, "no round takes no time%s", names[knowledge]);

	INTS(2, INT32_MAX);
	set_timeout(NNPU_LOOP_TIMEOUT_MAX_NS);
	job_sqe(&j, 1, &sqe);
	cid = rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, j.q);
	while (rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, j.q->qid, cid))
		;
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) == NNPU_STATUS_ABORTED,
	   "an endless loop can be aborted%s", names[knowledge]);
	ok(run_sum(0, 0, 3, 1) == 0 && result(3, 0) == 6, "and the next job runs%s",
	   names[knowledge]);
	rig_unload(&rig, 1, 1);
}

/* One record per command however often it runs; control commands with what they run. */
static void test_profile(void)
{
	static const uint32_t order[] = { 0, 2, 4, 5 };
	struct nnpu_profile *p = (struct nnpu_profile *)place(5);
	struct nnpu_args_header *h = job_result(&j);
	struct nnpu_sqe_execute sqe;
	unsigned int i, good = 0;

	build_sum(1);
	load("loop to be profiled");
	run_sum(0, 0, 100, 1);
	job_sqe(&j, 1, &sqe);
	sqe.flags = NNPU_EXEC_PROFILE;
	sqe.profile_slot = htole32(1);
	sqe.profile_off = htole64(5 * 4096);
	sqe.profile_len = htole32(64 * 32);
	ok(rig_run(&rig, j.q, &sqe, NULL) == 0 && le32toh(h->num_profile) == 4,
	   "4 records%s", names[knowledge]);
	for (i = 0; i < 4; i++)
		good += le32toh(p[i].command) == order[i];
	ok(good == 4 && le32toh(p[0].opcode) == NNPU_CMD_LOOP &&
	   le32toh(p[1].opcode) == NNPU_OP_LESS, "in the order in which they ran first");
	ok(le64toh(p[0].bytes) == 4 && le64toh(p[1].bytes) == 101 && le64toh(p[2].bytes) == 400 &&
	   le64toh(p[0].exec_ns) >= le64toh(p[1].exec_ns) + le64toh(p[2].exec_ns) +
				    le64toh(p[3].exec_ns),
	   "bytes and times are sums");
	rig_unload(&rig, 1, 1);
}

/* After one job, a job of the same size takes no more memory, whatever its number of rounds. */
static void test_memory(void)
{
	uint64_t used;

	build_sum(2);
	load("memory of a loop");
	run_sum(0, 0, 2, 2);
	used = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	ok(run_sum(0, 0, 5000, 2) == 0 && rig_read64(&rig, NNPU_REG_MEM_USED_LO) <= used,
	   "5000 rounds take no more memory than 2%s", names[knowledge]);
	rig_unload(&rig, 1, 1);
}

int main(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	job_rig_init(&j, &rig, 1, 1);
	for (knowledge = KNOWN; knowledge < KNOWLEDGE; knowledge++) {
		test_branch();
		test_sum();
		test_nested();
		test_deep();
		test_loop_in_condition();
		test_shared_block();
		test_different_shapes();
		test_growing();
		test_bad_condition();
		test_timeout();
		test_profile();
		test_memory();
	}
	ok(rig_poll(&rig, NNPU_REG_MEM_USED_LO, ~0u, 0), "device memory is back at 0");
	rig_close(&rig);
	return tap_done();
}
