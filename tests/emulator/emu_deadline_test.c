// SPDX-License-Identifier: MIT
/*
 * Deadlines of jobs: of those that have not begun, and of those that have.
 */
#include <endian.h>
#include <string.h>
#include <time.h>

#include "sample_images.h"
#include "tap.h"

#define N	64u
#define FAR	(3600ull * 1000000000u)
#define SOON	20000000ull
/* Until then a job has begun, also beside other programs. */
#define LATER	1000000000ull

/* ROI_ALIGN with so many sampling points never ends. */
#define ENDLESS	(1 << 20)

enum { ADD = 1, ROI = 2 };
enum { SHARED = 1, OWN = 2, OTHER = 3 };

static struct rig rig;
static struct job_rig a, b;
static struct nnpu_sqe_execute sqe;

static void die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

static void load(uint32_t ctx)
{
	struct image add, roi;

	image_add(&add, N);
	image_roi(&roi, ENDLESS);
	if (rig_load(&rig, ctx, ADD, add.bytes, add.size, NULL) ||
	    rig_load(&rig, ctx, ROI, roi.bytes, roi.size, NULL))
		die("no program");
	image_free(&add);
	image_free(&roi);
}

static void open_device(bool null_mode, uint64_t limit_ns)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = 1;
	config.props.null_mode = null_mode;
	rig_open(&rig, &config);
	rig_enable(&rig);
	rig.ctx_attrs.time_limit_ns = htole64(limit_ns);
	if (!job_rig_init(&a, &rig, 1, SHARED) || !job_rig_init(&b, &rig, 2, OTHER) ||
	    rig_create_queue(&rig, OWN, 1, 0, 16))
		die("the device does not start");
	load(1);
	load(2);
}

static struct nnpu_args_header *header(struct job_rig *j)
{
	return (struct nnpu_args_header *)j->block;
}

/* The argument block of a program of @j, with a deadline. */
static void prepare(struct job_rig *j, uint32_t program, uint32_t flags, uint64_t deadline_ns)
{
	struct nnpu_arg *args;

	if (program == ROI) {
		args = job_args(j, 1, 1);
		job_arg(&args[0], 1, 0, 16);
		job_arg(&args[1], 1, 64, 4);
		memcpy(j->operands, (float[]){ 1, 2, 3, 5 }, 16);
	} else {
		job_add_args(j, N);
	}
	header(j)->flags = htole32(flags);
	header(j)->deadline_ns = htole64(deadline_ns);
	job_sqe(j, program, &sqe);
}

static uint16_t start(unsigned int qid)
{
	uint16_t cid;

	if (qid == OWN)
		sqe.ctx = 0;
	cid = rig_push(&rig, &rig.queues[qid], (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, &rig.queues[qid]);
	return cid;
}

static bool completes(unsigned int qid, uint16_t cid, unsigned int status)
{
	struct nnpu_cqe cqe;

	if (!rig_wait(&rig, &rig.queues[qid], &cqe))
		return false;
	if (le16toh(cqe.cid) == cid && rig_status(&cqe) == status)
		return true;
	tap_note("completion of %u, status %u", le16toh(cqe.cid), rig_status(&cqe));
	return false;
}

static unsigned int result_status(struct job_rig *j)
{
	return le16toh(job_result(j)->status);
}

static uint64_t clock_ns(void)
{
	return rig_read64(&rig, NNPU_REG_CLOCK_LO);
}

static bool await_begin(unsigned int qid, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT,
			UINT32_MAX, NNPU_QREG_CURRENT_RUNNING | cid);
}

static void abort_job(unsigned int qid, uint16_t cid)
{
	struct nnpu_sqe_queue c = {
		.opcode = NNPU_ADMIN_ABORT, .qid = htole16((uint16_t)qid), .target_cid = htole16(cid),
	};

	rig_admin(&rig, &c, NULL);
}

static void test_before(unsigned int qid)
{
	const uint32_t absolute = NNPU_ARGS_DEADLINE_ABSOLUTE;

	prepare(&a, ADD, 0, FAR);
	ok(completes(qid, start(qid), 0) && job_add_ok(&a, N), "queue %u: a far deadline", qid);
	prepare(&a, ADD, NNPU_ARGS_DEADLINE_ABORT, UINT64_MAX);
	ok(completes(qid, start(qid), 0) && job_add_ok(&a, N), "the largest one");
	prepare(&a, ADD, absolute | NNPU_ARGS_DEADLINE_ABORT, UINT64_MAX);
	ok(completes(qid, start(qid), 0) && job_add_ok(&a, N), "the largest time");
	prepare(&a, ADD, absolute, clock_ns() + FAR);
	ok(completes(qid, start(qid), 0) && job_add_ok(&a, N), "a time to come");

	prepare(&a, ADD, 0, 1);
	ok(completes(qid, start(qid), NNPU_STATUS_DEADLINE) &&
	   result_status(&a) == NNPU_STATUS_DEADLINE && !job_add_ok(&a, N),
	   "a nanosecond after it was fetched it does not begin");
	prepare(&a, ADD, absolute, clock_ns());
	ok(completes(qid, start(qid), NNPU_STATUS_DEADLINE) && !job_add_ok(&a, N),
	   "a time that has passed");
	prepare(&a, ADD, absolute, 1);
	sqe.args_len = htole32(64);
	ok(completes(qid, start(qid), NNPU_STATUS_ARG_COUNT), "errors of arguments come first");
}

static void test_fields(void)
{
	static const struct {
		uint32_t flags;
		uint64_t deadline_ns;
		const char *what;
	} bad[] = {
		{ 4, FAR, "unknown flag" },
		{ NNPU_ARGS_DEADLINE_ABORT, 0, "ABORT of nothing" },
		{ NNPU_ARGS_DEADLINE_ABSOLUTE, 0, "time 0" },
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		prepare(&a, ADD, bad[i].flags, bad[i].deadline_ns);
		ok(completes(SHARED, start(SHARED), NNPU_STATUS_INVALID_FIELD) &&
		   le16toh(job_result(&a)->reason) == NNPU_REASON_FLAGS, "%s", bad[i].what);
	}
}

/* One that has begun. */
static void test_begun(unsigned int qid)
{
	uint64_t begin;
	uint16_t cid;

	begin = clock_ns();
	prepare(&a, ROI, NNPU_ARGS_DEADLINE_ABORT, SOON);
	ok(completes(qid, start(qid), NNPU_STATUS_DEADLINE) &&
	   result_status(&a) == NNPU_STATUS_DEADLINE, "queue %u: an endless job ends", qid);
	begin = clock_ns() - begin;
	ok(begin >= SOON, "and not before: after %llu ns", (unsigned long long)begin);
	begin = clock_ns();
	prepare(&a, ROI, NNPU_ARGS_DEADLINE_ABORT | NNPU_ARGS_DEADLINE_ABSOLUTE, begin + SOON);
	ok(completes(qid, start(qid), NNPU_STATUS_DEADLINE) && clock_ns() >= begin + SOON,
	   "at a time of the clock");
	prepare(&b, ADD, 0, 0);
	ok(completes(OTHER, start(OTHER), 0) && job_add_ok(&b, N), "K08 the next job of another client");

	/* Without the flag it goes on. */
	prepare(&a, ROI, 0, LATER);
	cid = start(qid);
	ok(await_begin(qid, cid), "one without the flag begins");
	begin = clock_ns();
	while (clock_ns() < begin + LATER + SOON)
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	ok(await_begin(qid, cid), "and still runs after its deadline");
	abort_job(qid, cid);
	ok(completes(qid, cid, NNPU_STATUS_ABORTED), "until it is aborted");
}

/* Beside the endless job of another client, which it gives way to. */
static void test_contended(void)
{
	uint16_t endless, cid;

	prepare(&b, ROI, 0, 0);
	endless = start(OTHER);
	await_begin(OTHER, endless);
	prepare(&a, ROI, NNPU_ARGS_DEADLINE_ABORT, SOON);
	ok(completes(SHARED, start(SHARED), NNPU_STATUS_DEADLINE),
	   "an endless job ends beside one of another client");
	prepare(&a, ADD, NNPU_ARGS_DEADLINE_ABORT, 1);
	cid = start(OWN);
	ok(completes(OWN, cid, NNPU_STATUS_DEADLINE), "one ends that waits for its turn");
	abort_job(OTHER, endless);
	ok(completes(OTHER, endless, NNPU_STATUS_ABORTED), "the other one was not concerned");
}

static void test_copy(void)
{
	struct nnpu_arg *args = job_args(&a, 1, 1);

	job_arg(&args[0], 1, 0, 16);
	job_arg(&args[1], 1, 64, 16);
	header(&a)->deadline_ns = htole64(1);
	job_sqe(&a, 0, &sqe);
	sqe.opcode = NNPU_IO_COPY;
	ok(completes(SHARED, start(SHARED), NNPU_STATUS_DEADLINE), "a copy");
	header(&a)->deadline_ns = htole64(FAR);
	ok(completes(SHARED, start(SHARED), 0), "a copy in time");
}

static void test_slow(void)
{
	prepare(&a, ADD, 0, SOON);
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	ok(completes(SHARED, start(SHARED), NNPU_STATUS_DEADLINE), "a job that begins late");
}

int main(void)
{
	open_device(false, 0);
	test_before(SHARED);
	test_before(OWN);
	test_fields();
	test_begun(SHARED);
	test_begun(OWN);
	test_contended();
	test_copy();
	test_slow();
	rig_close(&rig);

	/* The limit of engine time goes before the deadline. */
	open_device(false, 1);
	prepare(&a, ROI, NNPU_ARGS_DEADLINE_ABORT, FAR);
	ok(completes(SHARED, start(SHARED), NNPU_STATUS_TIME_LIMIT), "the limit comes first");
	rig_close(&rig);

	open_device(true, 0);
	prepare(&a, ADD, 0, 1);
	ok(completes(SHARED, start(SHARED), NNPU_STATUS_DEADLINE), "null mode");
	prepare(&a, ADD, 0, FAR);
	ok(completes(SHARED, start(SHARED), 0), "null mode, in time");
	rig_close(&rig);
	return tap_done();
}
