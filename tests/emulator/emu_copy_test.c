// SPDX-License-Identifier: MIT
/*
 * COPY: ranges from slot to slot, as a job: checks, bytes, results, abort, limit of time.
 */
#include <endian.h>
#include <stddef.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define CTX		1u
#define LIMITED		2u
#define SHORT		4u
#define BIG		(20u << 20)
/* Slots beside those of the rig: read only, write only, large. */
#define RO		2u
#define WO		3u
#define LARGE		4u

static struct rig rig;
static struct job_rig j;
static uint8_t *large;

static struct nnpu_arg *record(unsigned int n)
{
	return (struct nnpu_arg *)(j.block + sizeof(struct nnpu_args_header)) + n;
}

static int copy_with(const struct nnpu_sqe_execute *change, struct nnpu_cqe *cqe)
{
	struct nnpu_sqe_execute sqe;

	job_sqe(&j, 0, &sqe);
	sqe.opcode = NNPU_IO_COPY;
	if (change) {
		sqe.flags |= change->flags;
		sqe.program |= change->program;
		sqe.reserved |= change->reserved;
		sqe.profile_len |= change->profile_len;
	}
	return rig_run(&rig, j.q, &sqe, cqe);
}

/* Two ranges of 100 and 3000 bytes, at odd offsets. */
static void two_ranges(void)
{
	job_args(&j, 2, 2);
	job_arg(record(0), 1, 1, 100);
	job_arg(record(1), RO, 4000, 3000);
	job_arg(record(2), WO, 10001, 100);
	job_arg(record(3), 1, 20003, 3000);
}

static void fill(uint8_t *p, size_t size, unsigned int seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

static void test_bytes(void)
{
	static uint8_t before[1u << 20];
	struct nnpu_cqe cqe;
	uint64_t jobs = rig_read64(&rig, NNPU_REG_JOBS_LO);

	fill(j.operands, j.operands_size, 1);
	memcpy(before, j.operands, j.operands_size);
	two_ranges();
	ok(copy_with(NULL, &cqe) == NNPU_STATUS_SUCCESS, "two ranges");
	memcpy(before + 10001, before + 1, 100);
	memcpy(before + 20003, before + 4000, 3000);
	ok(!memcmp(before, j.operands, j.operands_size), "they are there, and nothing else changed");
	ok(le16toh(job_result(&j)->status) == NNPU_STATUS_SUCCESS &&
	   !memcmp(job_result_arg(&j, 0), record(0), 4 * sizeof(struct nnpu_arg)),
	   "the result block says so and has the records");
	ok(le64toh(cqe.result) == le64toh(job_result(&j)->exec_ns) && cqe.result,
	   "the completion has the time");
	ok(rig_read64(&rig, NNPU_REG_JOBS_LO) == jobs + 1, "it counts as a job");
	ok(rig_read64(&rig, NNPU_REG_BUSY_LO) > 0, "and its time as time of an engine");

	job_args(&j, 1, 1);
	job_arg(record(0), 1, 5, 0);
	job_arg(record(1), WO, 7, 0);
	memcpy(before, j.operands, j.operands_size);
	ok(copy_with(NULL, NULL) == NNPU_STATUS_SUCCESS &&
	   !memcmp(before, j.operands, j.operands_size), "no byte");

	/* More than one piece, the last of them short. */
	fill(large, BIG, 3);
	memset(large + BIG / 2, 0, BIG / 2);
	job_args(&j, 1, 1);
	job_arg(record(0), LARGE, 3, BIG / 2 - 77);
	job_arg(record(1), LARGE, BIG / 2 + 5, BIG / 2 - 77);
	ok(copy_with(NULL, NULL) == NNPU_STATUS_SUCCESS &&
	   !memcmp(large + 3, large + BIG / 2 + 5, BIG / 2 - 77) &&
	   !large[BIG / 2 + 4] && !large[BIG - 72], "10 MiB");
}

static void entry(const char *what, const struct nnpu_sqe_execute *change)
{
	two_ranges();
	ok(copy_with(change, NULL) == NNPU_STATUS_INVALID_FIELD &&
	   le16toh(job_result(&j)->status) == NNPU_STATUS_PENDING, "entry: %s", what);
}

static void refused(const char *what, unsigned int status, unsigned int reason, uint32_t error)
{
	struct nnpu_cqe cqe;
	int got = copy_with(NULL, &cqe);

	ok(got == (int)status && le16toh(cqe.reason) == reason && le32toh(cqe.error) == error &&
	   le16toh(job_result(&j)->status) == status, "%s: %#x, reason %u, error %u", what, got,
	   le16toh(cqe.reason), le32toh(cqe.error));
}

#define REFUSED(what, statement, status, reason, error) do { \
		two_ranges(); \
		statement; \
		refused(what, NNPU_STATUS_##status, NNPU_REASON_##reason, error); \
	} while (0)

static void test_refused(void)
{
	struct nnpu_args_header *h = (struct nnpu_args_header *)j.block;

	entry("a program", &(struct nnpu_sqe_execute){ .program = htole32(1) });
	entry("a profile", &(struct nnpu_sqe_execute){ .flags = NNPU_EXEC_PROFILE });
	entry("room for a profile", &(struct nnpu_sqe_execute){ .profile_len = htole32(32) });
	entry("reserved", &(struct nnpu_sqe_execute){ .reserved = htole64(1) });
	entry("an unknown flag", &(struct nnpu_sqe_execute){ .flags = 4 });

	REFUSED("flags", h->flags = htole32(NNPU_ARGS_DEADLINE_ABORT), INVALID_FIELD, FLAGS, 0);
	REFUSED("a deadline", h->deadline_ns = htole64(1), DEADLINE, NONE, 0);
	REFUSED("a loop timeout", h->loop_timeout_ns = htole64(1), INVALID_FIELD, RESERVED, 0);
	REFUSED("the longest", h->loop_timeout_ns = htole64(UINT64_MAX), INVALID_FIELD, RESERVED, 0);
	REFUSED("fewer outputs", h->num_outputs = htole16(1), ARG_COUNT, NONE, 0);
	REFUSED("more inputs", h->num_inputs = htole16(3), ARG_COUNT, NONE, 0);
	job_args(&j, 0, 0);
	refused("no range", NNPU_STATUS_ARG_COUNT, NNPU_REASON_NONE, 0);
	REFUSED("omitted", record(1)->flags = htole16(NNPU_ARG_NO_VALUE), INVALID_FIELD, FLAGS, 1);
	REFUSED("a shape", record(2)->flags = htole16(NNPU_ARG_SHAPE), INVALID_FIELD, FLAGS, 2);
	REFUSED("a rank", record(2)->rank = 1, INVALID_FIELD, RESERVED, 2);
	REFUSED("dimensions", record(3)->dims[0] = htole32(1), INVALID_FIELD, RESERVED, 3);
	REFUSED("a shorter output", record(3)->length = htole64(2999), ARG_SIZE, DATA_LENGTH, 3);
	REFUSED("a longer output", record(2)->length = htole64(101), ARG_SIZE, DATA_LENGTH, 2);
	REFUSED("no such slot", record(0)->slot = htole32(9), INVALID_SLOT, NONE, 0);
	REFUSED("bounds", record(1)->offset = htole64(j.operands_size - 2999), SLOT_BOUNDS, NONE, 1);
	REFUSED("bounds", record(3)->offset = htole64(UINT64_MAX), SLOT_BOUNDS, NONE, 3);
	REFUSED("to read", record(0)->slot = htole32(WO), SLOT_RIGHTS, NONE, 0);
	REFUSED("to write", record(3)->slot = htole32(RO), SLOT_RIGHTS, NONE, 3);
	rig_write(&rig, NNPU_REG_INJECT, NNPU_INJECT_DMA_ERROR << NNPU_INJECT_KIND_SHIFT | 1);
	two_ranges();
	refused("a bus error", NNPU_STATUS_DMA_ERROR, NNPU_REASON_NONE, 0);
}

/* Ranges that take an engine some 100 ms or longer. */
static void long_copy(struct nnpu_sqe_execute *sqe, uint32_t ctx)
{
	const unsigned int ranges = 60;
	unsigned int n;

	job_args(&j, ranges, ranges);
	for (n = 0; n < 2 * ranges; n++)
		job_arg(record(n), LARGE, n < ranges ? 0 : BIG / 2, BIG / 2);
	job_sqe(&j, 0, sqe);
	sqe->opcode = NNPU_IO_COPY;
	sqe->ctx = htole32(ctx);
}

static void test_ends(void)
{
	const uint32_t current = NNPU_QREG_BASE + NNPU_QREG_STRIDE + NNPU_QREG_CURRENT;
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	uint16_t cid;

	long_copy(&sqe, CTX);
	cid = rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, j.q);
	ok(rig_poll(&rig, current, NNPU_QREG_CURRENT_RUNNING, NNPU_QREG_CURRENT_RUNNING) &&
	   rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, cid) == 0, "ABORT finds it");
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) == NNPU_STATUS_ABORTED, "and ends it");
	ok(le16toh(job_result(&j)->status) == NNPU_STATUS_ABORTED, "the result block says so");

	long_copy(&sqe, LIMITED);
	ok(rig_run(&rig, j.q, &sqe, &cqe) == NNPU_STATUS_TIME_LIMIT,
	   "a context's limit of engine time ends it");
	two_ranges();
	ok(copy_with(NULL, NULL) == NNPU_STATUS_SUCCESS, "the next one works");
}

/*
 * Where the first look at the clock finds that the time is used up: @small ranges without a
 * point of their own shift it through reads, writes and what is between them.
 */
static void test_end_in_access(unsigned int small)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	unsigned int n;

	job_args(&j, small + 1, small + 1);
	for (n = 0; n < 2 * (small + 1); n++)
		job_arg(record(n), LARGE, n > small ? BIG / 2 : 0,
			n % (small + 1) < small ? 1000 : BIG / 2);
	job_sqe(&j, 0, &sqe);
	sqe.opcode = NNPU_IO_COPY;
	sqe.ctx = htole32(SHORT);
	ok(rig_run(&rig, j.q, &sqe, &cqe) == NNPU_STATUS_TIME_LIMIT &&
	   cqe.error == 0 && job_result(&j)->command == 0,
	   "an end in a transfer is no fault of an argument (%u)", small);
}

static void test_memory(void)
{
	rig.ctx_attrs.mem_limit = htole64(4096);
	if (!ok(!rig_create_ctx(&rig, 3, j.slots, 16), "a context with 4 KiB of device memory"))
		return;
	j.ctx = 3;
	two_ranges();
	refused("the buffer is charged", NNPU_STATUS_NO_MEMORY, NNPU_REASON_NONE, 0);
	j.ctx = CTX;
}

/* The argument block is charged, too. There is a result block without it. */
static void test_no_memory_for_block(void)
{
	const uint8_t *result = (const uint8_t *)job_result(&j);
	size_t i, other = 0, len = 5 * sizeof(struct nnpu_arg);
	struct nnpu_sqe_execute sqe;

	rig.ctx_attrs.mem_limit = htole64(64);
	if (!ok(!rig_create_ctx(&rig, 5, j.slots, 16), "a context with 64 bytes"))
		return;
	j.ctx = 5;
	two_ranges();
	memset(job_result(&j), 0xff, len + 1);
	job_sqe(&j, 0, &sqe);
	sqe.opcode = NNPU_IO_COPY;
	ok(rig_run(&rig, j.q, &sqe, NULL) == NNPU_STATUS_NO_MEMORY &&
	   le16toh(job_result(&j)->status) == NNPU_STATUS_NO_MEMORY,
	   "the result block says that the argument block has no room");
	for (i = sizeof(struct nnpu_args_header); i < len; i++)
		other += result[i] != 0;
	ok(!other && result[len] == 0xff, "the rest of it is zero, and nothing behind it");
	j.ctx = CTX;
}

int main(void)
{
	const uint32_t valid = NNPU_SLOT_VALID;
	unsigned int n;

	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, CTX, 1)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	large = rig_alloc(&rig, BIG);
	rig_slot(&j.slots[RO], j.operands, j.operands_size, valid | NNPU_SLOT_READ);
	rig_slot(&j.slots[WO], j.operands, j.operands_size, valid | NNPU_SLOT_WRITE);
	rig_slot(&j.slots[LARGE], large, BIG, valid | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	rig.ctx_attrs.time_limit_ns = htole64(1000000);
	ok(!rig_create_ctx(&rig, LIMITED, j.slots, 16), "a context with 1 ms for a job");
	rig.ctx_attrs.time_limit_ns = htole64(1);
	ok(!rig_create_ctx(&rig, SHORT, j.slots, 16), "a context with 1 ns");
	rig.ctx_attrs.time_limit_ns = 0;
	test_bytes();
	test_refused();
	test_ends();
	for (n = 0; n < 4; n++)
		test_end_in_access(n);
	test_memory();
	test_no_memory_for_block();
	rig_close(&rig);
	return tap_done();
}
