// SPDX-License-Identifier: MIT
/*
 * Engines keep memory of their last jobs. It never keeps another client from running its jobs,
 * whatever the engines do meanwhile.
 */
#include <endian.h>
#include <string.h>

#include "sample_images.h"
#include "tap.h"

/* ROI_ALIGN with so many sampling points never ends. */
#define ENDLESS	(1 << 20)
/* A large job: three operands of 4 MiB. Two of them do not fit into MEMORY. */
#define N	(1u << 20)
#define LARGE	(3u * N * 4)
#define MEMORY	(LARGE + LARGE / 4)
/* A value of a loop, and how many. Each has three chunks, together as much as a large job. */
#define VALUES	8u
#define VALUE	(LARGE / (3 * VALUES) / 4)

/* The tables of an engine for so many take more than what a large job leaves. */
#define TENSORS	50000u

enum { ADD = 1, ROI = 2, LOOP = 3, TABLES = 4 };

enum { A_FIRST = 1, A_SECOND = 2, B_QUEUE = 3 };

static struct rig rig;
static struct job_rig a, a2, b;

static bool load(uint32_t ctx, uint32_t number, struct image *im)
{
	int status = rig_load(&rig, ctx, number, im->bytes, im->size, NULL);

	image_free(im);
	return !status;
}

static bool client(struct job_rig *j, uint32_t ctx, unsigned int queue)
{
	struct image add, roi, loop;

	if (!job_rig_init(j, &rig, ctx, (uint16_t)(RIG_QUEUES - ctx)))
		return false;
	j->operands_size = 2ull * N * 4;
	j->operands = rig_alloc(&rig, j->operands_size);
	rig_slot(&j->slots[1], j->operands, j->operands_size,
		 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	image_add(&add, N);
	image_roi(&roi, ENDLESS);
	image_loop(&loop, VALUES);
	return !rig_invalidate(&rig, ctx, 1, 1) && load(ctx, ADD, &add) && load(ctx, ROI, &roi) &&
	       load(ctx, LOOP, &loop) && !rig_create_queue(&rig, queue, ctx, 0, 16);
}

static void open_device(unsigned int engines, uint64_t memory)
{
	/* Idle engines keep what they have. */
	struct nnpu_sqe_set_perf high = {
		.opcode = NNPU_ADMIN_SET_PERF, .level = htole32(NNPU_PERF_HIGH),
	};
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = engines;
	config.props.memory_size = memory;
	config.props.max_operand_size = memory / 2;
	rig_open(&rig, &config);
	rig_enable(&rig);
	if (rig_admin(&rig, &high, NULL) || !client(&a, 1, A_FIRST) || !client(&b, 2, B_QUEUE) ||
	    rig_create_queue(&rig, A_SECOND, 1, 0, 16)) {
		printf("Bail out! the device does not start\n");
		exit(1);
	}
	/* The same context, with argument blocks of its own. */
	a2 = a;
	a2.block = rig_alloc(&rig, 16384);
	rig_slot(&a.slots[2], a2.block, 16384, NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	rig_invalidate(&rig, 1, 2, 1);
}

static uint16_t submit(struct job_rig *j, unsigned int queue, uint32_t program)
{
	struct nnpu_sqe_execute sqe;
	uint16_t cid;

	job_sqe(j, program, &sqe);
	sqe.ctx = 0;
	if (j == &a2) {
		sqe.args_slot = htole32(2);
		sqe.result_slot = htole32(2);
	}
	cid = rig_push(&rig, &rig.queues[queue], (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, &rig.queues[queue]);
	return cid;
}

static bool succeeds(unsigned int queue, uint16_t cid)
{
	struct nnpu_cqe cqe;

	if (!rig_wait(&rig, &rig.queues[queue], &cqe))
		return false;
	if (le16toh(cqe.cid) == cid && !rig_status(&cqe))
		return true;
	tap_note("completion of %u, status %u", le16toh(cqe.cid), rig_status(&cqe));
	return false;
}

/* out = 2 * in, the same input twice. */
static uint16_t submit_large(struct job_rig *j, unsigned int queue)
{
	struct nnpu_arg *args = job_args(j, 2, 1);
	float *x = (float *)j->operands;
	unsigned int i;

	for (i = 0; i < N; i++)
		x[i] = (float)(i % 1000);
	memset(x + N, 0, N * 4);
	job_arg(&args[0], 1, 0, N * 4);
	job_arg(&args[1], 1, 0, N * 4);
	job_arg(&args[2], 1, N * 4, N * 4);
	return submit(j, queue, ADD);
}

static bool large_runs(struct job_rig *j, unsigned int queue)
{
	const float *x = (const float *)j->operands;
	unsigned int i;

	if (!succeeds(queue, submit_large(j, queue)))
		return false;
	for (i = 0; i < N; i++)
		if (x[N + i] != 2 * (float)(i % 1000))
			return false;
	return true;
}

/* Many chunks of the same size together, if @value is VALUE. */
static bool loop_runs(struct job_rig *j, unsigned int queue, uint32_t value)
{
	struct nnpu_arg *args = job_args(j, 1, 1);
	float *x = (float *)j->operands;
	unsigned int i;

	for (i = 0; i < value; i++)
		x[i] = (float)(i % 1000);
	job_arg(&args[0], 1, 0, value * 4);
	args[0].flags = htole16(NNPU_ARG_SHAPE);
	args[0].rank = 1;
	args[0].dims[0] = htole32(value);
	job_arg(&args[1], 1, N * 4, value * 4);
	if (!succeeds(queue, submit(j, queue, LOOP)))
		return false;
	for (i = 0; i < value; i++)
		if (x[N + i] != 8 * (float)(i % 1000))
			return false;
	return true;
}

static uint16_t submit_endless(struct job_rig *j, unsigned int queue)
{
	struct nnpu_arg *args = job_args(j, 1, 1);

	job_arg(&args[0], 1, 0, 16);
	job_arg(&args[1], 1, 64, 4);
	return submit(j, queue, ROI);
}

static bool runs(unsigned int queue, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + queue * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT,
			UINT32_MAX, NNPU_QREG_CURRENT_RUNNING | cid);
}

static bool aborted(unsigned int queue, uint16_t cid)
{
	struct nnpu_cqe cqe;

	return !rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, (uint16_t)queue, cid) &&
	       rig_wait(&rig, &rig.queues[queue], &cqe) &&
	       rig_status(&cqe) == NNPU_STATUS_ABORTED;
}

/* One engine: it has the memory of a large job, or of a loop, when an endless one begins there. */
static void test_one(bool loop)
{
	const char *what = loop ? "a loop with many chunks" : "a large job";
	uint16_t endless;

	open_device(1, MEMORY);
	ok(loop ? loop_runs(&a, A_FIRST, VALUE) : large_runs(&a, A_FIRST), "%s", what);
	ok(rig_read64(&rig, NNPU_REG_MEM_PEAK_LO) >= LARGE, "takes most of the memory");
	endless = submit_endless(&a, A_FIRST);
	ok(runs(A_FIRST, endless), "a small one of its client does not end");
	ok(large_runs(&b, B_QUEUE), "a large one of another client runs");
	ok(loop_runs(&b, B_QUEUE, VALUE) && large_runs(&b, B_QUEUE), "and others behind it");
	ok(aborted(A_FIRST, endless), "the endless job still ran");
	ok(large_runs(&a, A_FIRST) && loop_runs(&a, A_FIRST, VALUE), "its client goes on");
	rig_close(&rig);
}

/* Two engines have the memory of large jobs when endless ones begin; one of those runs on. */
static void test_two(void)
{
	uint16_t cids[2];

	open_device(2, 2 * MEMORY);
	/* Both have begun before either takes memory. */
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 2);
	cids[0] = submit_large(&a, A_FIRST);
	cids[1] = submit_large(&a2, A_SECOND);
	ok(succeeds(A_FIRST, cids[0]) && succeeds(A_SECOND, cids[1]), "two large jobs at once");
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) >= 2 * LARGE, "both engines keep memory");
	cids[0] = submit_endless(&a, A_FIRST);
	cids[1] = submit_endless(&a2, A_SECOND);
	ok(runs(A_FIRST, cids[0]) && runs(A_SECOND, cids[1]), "two small ones that do not end");
	ok(large_runs(&b, B_QUEUE) && large_runs(&b, B_QUEUE), "large ones of another client");
	ok(aborted(A_FIRST, cids[0]) && aborted(A_SECOND, cids[1]), "the endless jobs still ran");
	rig_close(&rig);
}

/* What a job does not use of its own worker's memory is there for it. */
static void test_own(void)
{
	open_device(1, MEMORY);
	ok(loop_runs(&a, A_FIRST, VALUE) && large_runs(&a, A_FIRST) && loop_runs(&a, A_FIRST, VALUE) &&
	   large_runs(&a, A_FIRST), "one client: many chunks, a large one, in turn");
	rig_close(&rig);
}

/* Tables of a program that is gone. */
static void test_tables(void)
{
	uint64_t before, after;
	struct nnpu_arg *args;
	uint16_t endless;
	uint8_t *image;
	unsigned int i;
	size_t size;

	open_device(1, MEMORY + LARGE);
	before = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	image = image_tensors(&rig, TENSORS, &size);
	ok(!rig_load(&rig, 1, TABLES, image, size, NULL), "a program with many tensors");
	args = job_args(&a, 2, 1);
	for (i = 0; i < 3; i++)
		job_arg(&args[i], 1, i * 64, 64);
	ok(succeeds(A_FIRST, submit(&a, A_FIRST, TABLES)) && !rig_unload(&rig, 1, TABLES),
	   "runs and is unloaded");
	endless = submit_endless(&a, A_FIRST);
	ok(runs(A_FIRST, endless), "a job that does not end");
	after = rig_read64(&rig, NNPU_REG_MEM_USED_LO);
	ok(after - before > LARGE / 4, "the engine keeps the tables: %llu bytes",
	   (unsigned long long)(after - before));
	ok(loop_runs(&b, B_QUEUE, 2 * VALUE), "a job of another client that needs all but a little");
	ok(aborted(A_FIRST, endless), "the endless job still ran");
	ok(large_runs(&a, A_FIRST), "its client goes on");
	rig_close(&rig);
}

/* A job that stalls before it has any memory. */
static void test_stalled(void)
{
	uint16_t cid;

	open_device(2, MEMORY);
	ok(large_runs(&a, A_FIRST), "a large job");
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 2);
	cid = submit_endless(&a, A_FIRST);
	submit_endless(&a2, A_SECOND);
	ok(runs(A_FIRST, cid) && runs(A_SECOND, (uint16_t)(cid + 1)), "jobs stall on both engines");
	ok(aborted(A_SECOND, (uint16_t)(cid + 1)), "one is ended");
	ok(large_runs(&b, B_QUEUE), "a large one of another client runs");
	ok(aborted(A_FIRST, cid), "the other stalled until now");
	rig_close(&rig);
}

int main(void)
{
	test_one(false);
	test_one(true);
	test_two();
	test_own();
	test_tables();
	test_stalled();
	return tap_done();
}
