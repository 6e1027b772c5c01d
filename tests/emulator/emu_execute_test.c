// SPDX-License-Identifier: MIT
/* Jobs: argument checks, shapes, outputs, result blocks, profile, null mode. */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define N	16u

enum { FIXED = 1, DYNAMIC = 2, RESHAPE = 3, BYVALUE = 4, CHAIN = 5, OUTER = 6, COMPUTED = 7 };

static struct rig rig;
static struct job_rig j;

static struct nnpu_arg *record(unsigned int n)
{
	return (struct nnpu_arg *)(j.block + 64) + n;
}

static void shape(struct nnpu_arg *a, unsigned int rank, uint32_t d0, uint32_t d1)
{
	a->flags |= htole16(NNPU_ARG_SHAPE);
	a->rank = (uint8_t)rank;
	a->dims[0] = htole32(d0);
	a->dims[1] = htole32(d1);
}

static void expect(const char *what, uint32_t program, unsigned int status, unsigned int reason,
		   uint32_t error)
{
	struct nnpu_args_header *h = job_result(&j);
	struct nnpu_cqe cqe;
	int got = job_execute(&j, program, &cqe);

	ok(got == (int)status && le16toh(cqe.reason) == reason && le32toh(cqe.error) == error &&
	   le16toh(h->status) == status && le16toh(h->reason) == reason &&
	   le32toh(h->command) == error,
	   "%s (status 0x%x reason %u error %u)", what, (unsigned int)got, le16toh(cqe.reason),
	   le32toh(cqe.error));
}

static void load(uint32_t program, struct image *im)
{
	struct nnpu_cqe cqe;
	int status;

	image_finish(im);
	status = rig_load(&rig, 1, program, im->bytes, im->size, &cqe);
	ok(status == 0, "program %u loads (status 0x%x reason %u error %u operand %u)", program,
	   (unsigned int)status, le16toh(cqe.reason), le32toh(cqe.error), le16toh(cqe.operand));
	image_free(im);
}

static void load_programs(void)
{
	const int32_t two_by_two[2] = { 2, -1 };
	uint32_t a, b, c, act, out, dims;
	struct image im;
	unsigned int i;

	image_add(&im, N);
	image_free(&im);
	im.num_indexes -= 3;
	load(FIXED, &im);

	image_add(&im, 0);
	image_free(&im);
	im.num_indexes -= 3;
	load(DYNAMIC, &im);

	/* Constant target shape, unknown input. */
	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, -1);
	dims = image_const(&im, NNPU_TYPE_TENSOR_INT32, 2, two_by_two, sizeof(two_by_two));
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	image_command(&im, NNPU_OP_RESHAPE, 2, 1, a, dims, out);
	load(RESHAPE, &im);

	/* Target shape is an input: the output shape depends on a value. */
	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)N, -1);
	dims = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_INPUT, 2, -1);
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 0, 0, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	act = image_scalar(&im, 0);
	image_command(&im, NNPU_OP_RESHAPE, 2, 1, a, dims, b);
	image_command(&im, NNPU_OP_ADD, 3, 1, b, b, act, out);
	load(BYVALUE, &im);

	/* As above with a target shape that is computed, and used twice. */
	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)N, -1);
	c = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_INPUT, 2, -1);
	dims = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_TEMPORARY, 0, -1);
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 0, 0, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	act = image_scalar(&im, 0);
	image_command(&im, NNPU_OP_ADD, 3, 1, c, c, act, dims);
	image_command(&im, NNPU_OP_RESHAPE, 2, 1, a, dims, b);
	image_command(&im, NNPU_OP_ADD, 3, 1, b, b, act, out);
	load(COMPUTED, &im);

	/* out = ((a + b) + b) + b ...: temporaries share memory. */
	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)N, -1);
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)N, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, (int)N, -1);
	act = image_scalar(&im, 0);
	for (i = 0, c = a; i < 20; i++) {
		uint32_t next = i == 19 ? out :
			image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, (int)N, -1);

		image_command(&im, NNPU_OP_ADD, 3, 1, c, b, act, next);
		c = next;
	}
	load(CHAIN, &im);

	/* [n, 1] + [1, m]: small inputs, a large output. */
	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, 1, -1);
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, 0, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	act = image_scalar(&im, 0);
	image_command(&im, NNPU_OP_ADD, 3, 1, a, b, act, out);
	load(OUTER, &im);
}

static void test_success(void)
{
	struct nnpu_arg *out = job_result_arg(&j, 2);
	struct nnpu_args_header *h = job_result(&j);
	struct nnpu_cqe cqe;
	unsigned int i;
	bool same = true;

	job_add_args(&j, N);
	ok(job_execute(&j, FIXED, &cqe) == 0 && job_add_ok(&j, N), "fixed shapes: sum, no stray byte");
	ok(le16toh(h->status) == 0 && le16toh(h->num_inputs) == 2 && le16toh(h->num_outputs) == 1,
	   "result block: status and counts");
	ok(le64toh(h->exec_ns) == le64toh(cqe.result) && cqe.result, "exec_ns in both places");
	ok(out->rank == 1 && le32toh(out->dims[0]) == N && !out->dims[1] && !out->flags,
	   "actual shape of the output");
	ok(le32toh(out->slot) == 1 && le64toh(out->length) == N * 4, "the rest is as given");
	ok(rig_read64(&rig, NNPU_REG_JOBS_LO) == 1 && rig_read64(&rig, NNPU_REG_BUSY_LO) > 0,
	   "JOBS and BUSY count");
	for (i = 0; i < 100; i++) {
		job_add_args(&j, N);
		same &= job_execute(&j, FIXED, NULL) == 0 && job_add_ok(&j, N);
	}
	ok(same, "a hundred times the same");
	job_add_args(&j, N);
	ok(job_execute(&j, CHAIN, NULL) == 0, "chain of 20 commands");
	for (i = 0; i < N; i++)
		same &= ((float *)j.operands)[2 * N + i] == (float)i + 20 * 0.5f * (float)i;
	ok(same, "its result");
	/* Room beyond the size is fine and not touched. */
	job_add_args(&j, N);
	record(2)->length = htole64(N * 4 + 100);
	ok(job_execute(&j, FIXED, NULL) == 0 && job_add_ok(&j, N), "larger room");
	/* Overlap: defined by order of access here, in any case within the output. */
	job_add_args(&j, N);
	record(2)->offset = 0;
	ok(job_execute(&j, FIXED, NULL) == 0 && ((float *)j.operands)[4] == 6.0f, "in place");
	job_add_args(&j, N);
	*record(2) = (struct nnpu_arg) { .flags = htole16(NNPU_ARG_NO_VALUE) };
	ok(job_execute(&j, FIXED, NULL) == 0 && j.operands[8 * N] == 0xa5,
	   "omitted output is not stored");
	ok(job_result_arg(&j, 2)->rank == 1, "but its shape is known");
}

static void test_dynamic(void)
{
	struct nnpu_arg *out = job_result_arg(&j, 2);
	unsigned int n, good = 0;
	float *f = (float *)j.operands;

	for (n = 1; n <= 300; n += 7) {
		job_add_args(&j, n);
		shape(record(0), 1, n, 0);
		shape(record(1), 1, n, 0);
		good += job_execute(&j, DYNAMIC, NULL) == 0 && job_add_ok(&j, n) &&
			out->rank == 1 && le32toh(out->dims[0]) == n;
	}
	ok(good == 43, "43 different sizes of one program");
	job_add_args(&j, 6);
	shape(record(0), 1, 6, 0);
	shape(record(1), 1, 6, 0);
	shape(record(2), 1, 6, 0);
	ok(job_execute(&j, DYNAMIC, NULL) == 0 && job_add_ok(&j, 6), "output shape given and right");
	job_add_args(&j, 6);
	shape(record(0), 1, 6, 0);
	shape(record(1), 1, 6, 0);
	shape(record(2), 1, 7, 0);
	record(2)->length = htole64(28);
	expect("output shape given and wrong", DYNAMIC, NNPU_STATUS_ARG_SHAPE,
	       NNPU_REASON_SHAPE_MISMATCH, 2);
	job_add_args(&j, 6);
	shape(record(0), 1, 6, 0);
	shape(record(1), 1, 5, 0);
	record(1)->length = htole64(20);
	ok(job_execute(&j, DYNAMIC, NULL) == NNPU_STATUS_OP_FAILED, "6 + 5: OP_FAILED");

	job_args(&j, 1, 1);
	job_arg(record(0), 1, 0, 48);
	job_arg(record(1), 1, 4096, 4096);
	shape(record(0), 1, 12, 0);
	for (n = 0; n < 12; n++)
		f[n] = (float)n;
	ok(job_execute(&j, RESHAPE, NULL) == 0 && !memcmp(f, j.operands + 4096, 48),
	   "reshape of an unknown size");
	out = job_result_arg(&j, 1);
	ok(out->rank == 2 && le32toh(out->dims[0]) == 2 && le32toh(out->dims[1]) == 6,
	   "shape 2 x 6");
	shape(record(0), 1, 11, 0);
	record(0)->length = htole64(44);
	ok(job_execute(&j, RESHAPE, NULL) == NNPU_STATUS_OP_FAILED, "11 elements do not fit: OP_FAILED");

	job_args(&j, 2, 1);
	job_arg(record(0), 1, 0, N * 4);
	job_arg(record(1), 1, 2048, 8);
	job_arg(record(2), 1, 4096, N * 4);
	((int32_t *)(j.operands + 2048))[0] = 8;
	((int32_t *)(j.operands + 2048))[1] = -1;
	ok(job_execute(&j, BYVALUE, NULL) == 0, "shape from the value of an input");
	out = job_result_arg(&j, 2);
	ok(out->rank == 2 && le32toh(out->dims[0]) == 8 && le32toh(out->dims[1]) == 2 &&
	   ((float *)(j.operands + 4096))[5] == 2 * f[5], "8 x 2, and right values");
	((int32_t *)(j.operands + 2048))[0] = 5;
	ok(job_execute(&j, BYVALUE, NULL) == NNPU_STATUS_OP_FAILED, "5 does not divide 16: OP_FAILED");
}

static void test_computed_shape(void)
{
	struct nnpu_arg *out = job_result_arg(&j, 2);
	float *f = (float *)j.operands;
	unsigned int i, good = 0;

	for (i = 0; i < N; i++)
		f[i] = (float)i;
	((int32_t *)(j.operands + 2048))[0] = 2;
	((int32_t *)(j.operands + 2048))[1] = 2;
	job_args(&j, 2, 1);
	job_arg(record(0), 1, 0, N * 4);
	job_arg(record(1), 1, 2048, 8);
	job_arg(record(2), 1, 4096, N * 4);
	expect("shape from a computed value", COMPUTED, 0, 0, 0);
	for (i = 0; i < N; i++)
		good += ((float *)(j.operands + 4096))[i] == 2 * f[i];
	ok(good == N && out->rank == 2 && le32toh(out->dims[0]) == 4 && le32toh(out->dims[1]) == 4,
	   "4 x 4, and right values");
	((int32_t *)(j.operands + 2048))[0] = 3;
	ok(job_execute(&j, COMPUTED, NULL) == NNPU_STATUS_OP_FAILED, "6 x 4 does not: OP_FAILED");
}

static void test_arguments(void)
{
	struct nnpu_args_header *h = (struct nnpu_args_header *)j.block;
	unsigned int i;

	job_add_args(&j, N);
	h->num_inputs = htole16(1);
	h->num_outputs = htole16(2);
	expect("1 input and 2 outputs", FIXED, NNPU_STATUS_ARG_COUNT, 0, 0);
	job_add_args(&j, N);
	h->num_outputs = htole16(2);
	expect("one output too many", FIXED, NNPU_STATUS_ARG_COUNT, 0, 0);
	job_add_args(&j, N);
	h->flags = htole32(1);
	expect("header flag", FIXED, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_FLAGS, 0);
	job_add_args(&j, N);
	h->deadline_ns = htole64(1);
	expect("deadline", FIXED, NNPU_STATUS_DEADLINE, 0, 0);
	job_add_args(&j, N);
	h->loop_timeout_ns = htole64(NNPU_LOOP_TIMEOUT_MAX_NS + 1);
	expect("loop timeout", FIXED, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_VALUE, 0);
	job_add_args(&j, N);
	h->loop_timeout_ns = htole64(NNPU_LOOP_TIMEOUT_MAX_NS);
	expect("longest loop timeout", FIXED, 0, 0, 0);
	job_add_args(&j, N);
	h->reserved[2] = htole16(1);
	expect("header reserved", FIXED, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, 0);
	for (i = 0; i < 3; i++) {
		job_add_args(&j, N);
		record(i)->flags = htole16(NNPU_ARG_INSUFFICIENT);
		expect("INSUFFICIENT as input", FIXED, NNPU_STATUS_INVALID_FIELD,
		       NNPU_REASON_FLAGS, i);
		job_add_args(&j, N);
		record(i)->pad = 1;
		expect("pad", FIXED, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, i);
		job_add_args(&j, N);
		record(i)->reserved = htole64(1);
		expect("reserved", FIXED, NNPU_STATUS_INVALID_FIELD, NNPU_REASON_RESERVED, i);
		job_add_args(&j, N);
		record(i)->rank = 1;
		expect("rank without ARG_SHAPE", FIXED, NNPU_STATUS_INVALID_FIELD,
		       NNPU_REASON_RESERVED, i);
		job_add_args(&j, N);
		record(i)->flags = htole16(NNPU_ARG_NO_VALUE);
		expect("NO_VALUE with a slot", FIXED, NNPU_STATUS_INVALID_FIELD,
		       NNPU_REASON_RESERVED, i);
		job_add_args(&j, N);
		shape(record(i), 1, N, 1);
		expect("dimension behind the rank", FIXED, NNPU_STATUS_INVALID_FIELD,
		       NNPU_REASON_RESERVED, i);
		job_add_args(&j, N);
		shape(record(i), 2, N, 1);
		expect("other rank", FIXED, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_RANK, i);
		job_add_args(&j, N);
		shape(record(i), 255, N, 1);
		expect("rank 255", FIXED, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_RANK, i);
		job_add_args(&j, N);
		shape(record(i), 1, N + 1, 0);
		expect("other dimension", FIXED, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_DIMENSION, i);
	}
	job_add_args(&j, N);
	record(1)->length = htole64(N * 4 - 1);
	expect("short input", FIXED, NNPU_STATUS_ARG_SIZE, NNPU_REASON_DATA_LENGTH, 1);
	job_add_args(&j, N);
	record(1)->length = htole64(N * 4 + 1);
	expect("long input", FIXED, NNPU_STATUS_ARG_SIZE, NNPU_REASON_DATA_LENGTH, 1);
	job_add_args(&j, N);
	expect("no dimensions", DYNAMIC, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_UNKNOWN_SHAPE, 0);
	job_add_args(&j, N);
	shape(record(0), 1, 0, 0);
	expect("dimension 0", DYNAMIC, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_UNKNOWN_SHAPE, 0);
	job_add_args(&j, N);
	shape(record(0), 1, 0xffffffff, 0);
	expect("huge dimension", DYNAMIC, NNPU_STATUS_ARG_SHAPE, NNPU_REASON_OVERFLOW, 0);
	job_add_args(&j, N);
	*record(1) = (struct nnpu_arg) { .flags = htole16(NNPU_ARG_NO_VALUE) };
	expect("omitted operand that is needed", FIXED, NNPU_STATUS_OP_FAILED, NNPU_REASON_OMITTED, 0);
}

static void test_entry(void)
{
	struct nnpu_sqe_execute good, sqe;
	struct nnpu_cqe cqe;
	struct {
		const char *what;
		unsigned int offset;
		uint8_t value;
	} bad[] = {
		{ "flags", offsetof(struct nnpu_sqe_execute, flags), 4 },
		{ "reserved", offsetof(struct nnpu_sqe_execute, reserved), 1 },
		{ "args misaligned", offsetof(struct nnpu_sqe_execute, args), 4 },
		{ "result misaligned", offsetof(struct nnpu_sqe_execute, result_off), 4 },
		{ "profile slot", offsetof(struct nnpu_sqe_execute, profile_slot), 1 },
		{ "profile length", offsetof(struct nnpu_sqe_execute, profile_len), 1 },
		{ "profile offset", offsetof(struct nnpu_sqe_execute, profile_off), 8 },
	};
	unsigned int i;

	job_add_args(&j, N);
	job_sqe(&j, FIXED, &good);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		sqe = good;
		((uint8_t *)&sqe)[bad[i].offset] |= bad[i].value;
		ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_FIELD, "entry: %s",
		   bad[i].what);
	}
	ok(le16toh(job_result(&j)->status) == NNPU_STATUS_PENDING, "no result block is written then");
	sqe = good;
	sqe.flags = NNPU_EXEC_ARGS_DMA;
	sqe.args_slot = htole32(1);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_FIELD, "entry: slot and address");
	sqe = good;
	sqe.ctx = 0;
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_CTX, "entry: no context");
	sqe.ctx = htole32(0xffffffff);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_CTX, "entry: absurd context");
	sqe = good;
	sqe.program = htole32(100);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_PROGRAM, "entry: absent program");
	sqe.program = htole32(0xffffffff);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_PROGRAM, "entry: absurd program");
	sqe = good;
	sqe.args_len = htole32(63);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_ARG_COUNT, "args_len 63");
	sqe.args_len = htole32(64 * 4098);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_ARG_COUNT, "args_len above MAX_ARGS");
	sqe.args_len = htole32(128);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_ARG_COUNT &&
	   le16toh(job_result(&j)->status) == NNPU_STATUS_ARG_COUNT, "args_len too short for the counts");
	sqe = good;
	sqe.args = htole64(16384);
	job_result(&j)->num_inputs = htole16(77);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_SLOT_BOUNDS &&
	   le16toh(job_result(&j)->status) == NNPU_STATUS_SLOT_BOUNDS &&
	   !job_result(&j)->num_inputs, "arguments beyond the slot: result block of zeros and status");
	sqe = good;
	sqe.result_off = htole64(16384 - 64);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_SLOT_BOUNDS, "result beyond the slot");
	sqe.result_off = htole64(~7ull);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_SLOT_BOUNDS, "result offset wraps");
	sqe = good;
	sqe.result_slot = htole32(NNPU_SLOT_NONE);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_FIELD, "offset without result slot");
	sqe.result_off = 0;
	ok(rig_run(&rig, j.q, &sqe, &cqe) == 0, "no result slot");
}

static void test_insufficient(void)
{
	struct nnpu_arg *out = job_result_arg(&j, 2);

	job_add_args(&j, N);
	record(2)->length = htole64(N * 4 - 1);
	expect("output one byte short", FIXED, NNPU_STATUS_OUTPUT_INSUFFICIENT, 0, 2);
	ok(le16toh(out->flags) == NNPU_ARG_INSUFFICIENT && out->rank == 1 &&
	   le32toh(out->dims[0]) == N, "flag and actual shape");
	ok(j.operands[8 * N] == 0xa5 && j.operands[12 * N] == 0xa5, "nothing was written");
	job_add_args(&j, N);
	shape(record(0), 1, N, 0);
	shape(record(1), 1, N, 0);
	record(2)->length = 0;
	expect("no room at all, unknown shape", DYNAMIC, NNPU_STATUS_OUTPUT_INSUFFICIENT, 0, 2);
	ok(out->rank == 1 && le32toh(out->dims[0]) == N, "actual shape");
}

static void test_profile(void)
{
	struct nnpu_profile *p = (struct nnpu_profile *)(j.operands + 65536);
	struct nnpu_args_header *h = job_result(&j);
	struct nnpu_sqe_execute sqe;
	unsigned int i, good = 0;

	job_add_args(&j, N);
	job_sqe(&j, CHAIN, &sqe);
	sqe.flags = NNPU_EXEC_PROFILE;
	sqe.profile_slot = htole32(1);
	sqe.profile_off = htole64(65536);
	sqe.profile_len = htole32(20 * 32);
	ok(rig_run(&rig, j.q, &sqe, NULL) == 0 && le32toh(h->num_profile) == 20, "20 records");
	for (i = 0; i < 20; i++)
		good += le32toh(p[i].command) == i && le32toh(p[i].opcode) == NNPU_OP_ADD &&
			le64toh(p[i].bytes) == N * 4 &&
			le64toh(p[i].start_ns) + le64toh(p[i].exec_ns) <= le64toh(h->exec_ns) &&
			(!i || le64toh(p[i].start_ns) >= le64toh(p[i - 1].start_ns));
	ok(good == 20, "of the right commands, in order, within the job");
	memset(p, 0xee, 1024);
	sqe.profile_len = htole32(3 * 32 + 31);
	ok(rig_run(&rig, j.q, &sqe, NULL) == 0 && le32toh(h->num_profile) == 3 &&
	   ((uint8_t *)p)[96] == 0xee, "room for 3");
	sqe.profile_len = 0;
	ok(rig_run(&rig, j.q, &sqe, NULL) == 0 && !h->num_profile, "no room");
	sqe.profile_slot = htole32(9);
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_INVALID_SLOT, "profile slot not bound");
}

static void test_memory(void)
{
	unsigned int i;

	/* 128 MiB from two kilobytes: allowed. Twice 256 MiB and more: not. */
	job_args(&j, 2, 1);
	job_arg(record(0), 1, 0, 8192 * 4);
	shape(record(0), 2, 8192, 1);
	job_arg(record(1), 1, 0, 8192 * 4);
	shape(record(1), 2, 1, 8192);
	job_arg(record(2), 1, 0, 64);
	record(2)->flags = 0;
	expect("256 MiB output into no room", OUTER, NNPU_STATUS_OUTPUT_INSUFFICIENT, 0, 2);
	ok(le32toh(job_result_arg(&j, 2)->dims[1]) == 8192, "its shape is reported");
	shape(record(1), 2, 1, 8193);
	record(1)->length = htole64(8193 * 4);
	expect("above the largest operand", OUTER, NNPU_STATUS_OP_FAILED, NNPU_REASON_OVERFLOW, 0);
	for (i = FIXED; i <= COMPUTED; i++)
		rig_unload(&rig, 1, i);
	/* An idle engine gives its memory back by itself. */
	ok(rig_poll(&rig, NNPU_REG_MEM_USED_LO, ~0u, 0), "device memory is back at 0");
}

static void test_small_device(void)
{
	struct nnpu_inproc_config config;
	struct image im;
	struct rig small;
	struct job_rig s;
	struct nnpu_arg *a;

	rig_config(&config);
	config.props.memory_size = 2u << 20;
	config.props.max_operand_size = 2u << 20;
	rig_open(&small, &config);
	rig_enable(&small);
	ok(job_rig_init(&s, &small, 1, 1), "device with 2 MiB of memory");
	image_add(&im, 0);
	ok(rig_load(&small, 1, 1, im.bytes, im.size, NULL) == 0, "program");
	a = job_args(&s, 2, 1);
	job_arg(&a[0], 1, 0, 1 << 20);
	shape(&a[0], 1, 1 << 18, 0);
	job_arg(&a[1], 1, 0, 1 << 20);
	shape(&a[1], 1, 1 << 18, 0);
	job_arg(&a[2], 1, 0, 1 << 20);
	ok(job_execute(&s, 1, NULL) == NNPU_STATUS_NO_MEMORY, "3 MiB of tensors: NO_MEMORY");
	a[0].dims[0] = a[1].dims[0] = htole32(1 << 17);
	a[0].length = a[1].length = htole64(1 << 19);
	ok(job_execute(&s, 1, NULL) == 0, "1.5 MiB fit");
	image_free(&im);
	image_add(&im, 1 << 18);
	ok(rig_load(&small, 1, 2, im.bytes, im.size, NULL) == NNPU_STATUS_NO_MEMORY,
	   "a program that can never run is refused");
	image_free(&im);
	rig_close(&small);
}

static void test_null_mode(void)
{
	struct nnpu_inproc_config config;
	struct image im;
	struct job_rig s;
	struct rig null;

	rig_config(&config);
	config.props.null_mode = true;
	rig_open(&null, &config);
	rig_enable(&null);
	job_rig_init(&s, &null, 1, 1);
	image_add(&im, N);
	rig_load(&null, 1, 1, im.bytes, im.size, NULL);
	image_free(&im);
	job_add_args(&s, N);
	ok(job_execute(&s, 1, NULL) == 0 && s.operands[8 * N] == 0xa5, "null mode computes nothing");
	ok(job_result_arg(&s, 2)->rank == 1 && !job_result(&s)->status, "and reports as usual");
	s.block[64 + 16] = 1;
	ok(job_execute(&s, 1, NULL) == NNPU_STATUS_ARG_SIZE, "arguments are checked");
	rig_close(&null);
}

/* Bytes between two points of a transfer. */
#define PIECE		(256u << 10)

/* A program of context 2 that adds tensors of some pieces, after so many small commands. */
static void load_large(unsigned int pieces, unsigned int commands)
{
	const float one = 1;
	struct image im;
	uint32_t t[4], i;

	image_init(&im);
	t[3] = image_scalar(&im, 0);
	for (i = 0; i < 3; i++)
		t[i] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32,
				    i < 2 ? NNPU_TENSOR_INPUT : NNPU_TENSOR_OUTPUT,
				    (int)(pieces * PIECE / 4), -1);
	i = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 1, &one, sizeof(one));
	while (commands--)
		image_command(&im, NNPU_OP_ADD, 3, 1, i, i, t[3],
			      image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY,
					   1, -1));
	image_command(&im, NNPU_OP_ADD, 3, 1, t[0], t[1], t[3], t[2]);
	image_finish(&im);
	ok(!rig_load(&rig, 2, 1, im.bytes, im.size, NULL), "a program with large operands");
	image_free(&im);
}

/* Its time is used up at the first look at the clock. Returns whether it ended for that. */
static bool end_in_transfer(unsigned int pieces, unsigned int commands)
{
	struct job_rig limited = j;
	struct nnpu_cqe cqe;
	unsigned int i;
	int status;

	limited.ctx = 2;
	load_large(pieces, commands);
	job_args(&limited, 2, 1);
	for (i = 0; i < 3; i++)
		job_arg(record(i), 3, 0, (uint64_t)pieces * PIECE);
	status = job_execute(&limited, 1, &cqe);
	ok(!cqe.error && !job_result(&limited)->command,
	   "%u pieces, %u commands: status %d is no fault of argument %u", pieces, commands, status,
	   le32toh(cqe.error));
	rig_unload(&rig, 2, 1);
	return status == NNPU_STATUS_TIME_LIMIT;
}

/* Size and number of commands decide in which transfer the look is, or between which. */
static void test_end_in_transfer(void)
{
	unsigned int n, ends = 0;

	rig.ctx_attrs.time_limit_ns = htole64(1);
	rig_slot(&j.slots[3], rig_alloc(&rig, 4 * PIECE), 4 * PIECE,
		 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	ok(!rig_create_ctx(&rig, 2, j.slots, 16), "a context with 1 ns for a job");
	rig.ctx_attrs.time_limit_ns = 0;
	for (n = 3; n <= 4; n++)
		ends += end_in_transfer(n, 0);
	for (n = 4; n < 12; n++)
		ends += end_in_transfer(2, n);
	ok(ends >= 4, "%u of them ended for want of time", ends);
	ok(!rig_destroy_ctx(&rig, 2), "the context goes");
}

int main(void)
{
	rig_open(&rig, NULL);
	rig_enable(&rig);
	ok(job_rig_init(&j, &rig, 1, 1), "context and queue");
	load_programs();
	test_success();
	test_dynamic();
	test_computed_shape();
	test_arguments();
	test_entry();
	test_insufficient();
	test_profile();
	test_memory();
	test_end_in_transfer();
	rig_close(&rig);
	test_small_device();
	test_null_mode();
	return tap_done();
}
