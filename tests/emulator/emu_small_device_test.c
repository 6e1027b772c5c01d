// SPDX-License-Identifier: MIT
/*
 * A small device: without NNPU_FEATURE_SLICES and NNPU_FEATURE_LOAD_TURNS, with room for one load
 * and for few operands. The contract holds without them.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "sample_images.h"
#include "tap.h"

#define N	16u
#define JOBS	7u
/* ROI_ALIGN has as many. */
#define OPERANDS 11u
/* Points of a job that takes seconds: it ends by its limit or by ABORT. */
#define ENDLESS	(1 << 20)

enum { ADD = 1, ROI = 2 };
enum { SHARED = 1, OWN_A = 2 };

static struct rig rig;
static struct job_rig a, b;

static int load_add(uint32_t ctx, uint32_t number)
{
	struct image im;
	int status;

	image_add(&im, N);
	status = rig_load(&rig, ctx, number, im.bytes, im.size, NULL);
	image_free(&im);
	return status;
}

static int load_roi(uint32_t ctx)
{
	struct image im;
	int status;

	image_roi(&im, ENDLESS);
	status = rig_load(&rig, ctx, ROI, im.bytes, im.size, NULL);
	image_free(&im);
	return status;
}

/* Contexts 1 with the default weight and 2 with @weight share the kernel queue. */
static void open_device(uint16_t weight, uint64_t limit_ns)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = 1;
	config.props.slices = false;
	config.props.load_turns = false;
	config.props.max_loads = 1;
	config.props.max_operands = OPERANDS;
	rig_open(&rig, &config);
	rig_enable(&rig);
	rig.ctx_attrs.time_limit_ns = htole64(limit_ns);
	if (!job_rig_init(&a, &rig, 1, SHARED))
		a.rig = NULL;
	rig.ctx_attrs.time_limit_ns = 0;
	rig.ctx_attrs.weight = htole16(weight);
	if (!a.rig || !job_rig_init(&b, &rig, 2, RIG_QUEUES) ||
	    rig_create_queue(&rig, OWN_A, 1, 0, 16) || load_add(1, ADD) || load_add(2, ADD) || load_roi(1)) {
		printf("Bail out! the device does not start\n");
		exit(1);
	}
}

static uint16_t push(struct job_rig *j, unsigned int qid, uint32_t program)
{
	struct nnpu_sqe_execute sqe;

	job_sqe(j, program, &sqe);
	if (qid != SHARED)
		sqe.ctx = 0;
	return rig_push(&rig, &rig.queues[qid], (struct nnpu_sqe *)&sqe);
}

static uint16_t submit_roi(unsigned int qid)
{
	struct nnpu_arg *args = job_args(&a, 1, 1);
	uint16_t cid;

	job_arg(&args[0], 1, 0, 16);
	job_arg(&args[1], 1, 64, 4);
	memset(a.operands, 0, 256);
	memcpy(a.operands, (float[]){ 1, 2, 3, 5 }, 16);
	cid = push(&a, qid, ROI);
	rig_kick(&rig, &rig.queues[qid]);
	return cid;
}

static bool current_is(unsigned int qid, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT,
			UINT32_MAX, NNPU_QREG_CURRENT_RUNNING | cid);
}

static void test_identify(void)
{
	struct nnpu_identify *id = rig_alloc(&rig, sizeof(*id));
	struct nnpu_sqe_identify sqe = {
		.opcode = NNPU_ADMIN_IDENTIFY, .addr = htole64(rig_addr(id)),
	};
	uint64_t features = NNPU_FEATURE_SLICES | NNPU_FEATURE_LOAD_TURNS;

	ok(!rig_admin(&rig, &sqe, NULL) && !(le64toh(id->features) & features) &&
	   !(rig_read64(&rig, NNPU_REG_FEATURES_LO) & features) && !id->slice_us &&
	   le32toh(id->max_loads) == 1 && le32toh(id->max_operands) == OPERANDS,
	   "registers and IDENTIFY say what the device lacks");
}

/* The job of another context waits for the end of one that has begun, and ABORT ends that. */
static void test_no_giving_way(void)
{
	struct rig_queue *shared = &rig.queues[SHARED], *own = &rig.queues[OWN_A];
	uint16_t roi = submit_roi(OWN_A), add;
	struct nnpu_cqe cqe;
	uint32_t progress;
	int status;

	ok(current_is(OWN_A, roi), "a long job runs");
	job_add_args(&b, N);
	add = push(&b, SHARED, ADD);
	rig_kick(&rig, shared);
	progress = rig_read(&rig, NNPU_EREG_BASE + NNPU_EREG_PROGRESS);
	/* So much progress takes longer than a slice of a device that has them. */
	while (rig_read(&rig, NNPU_EREG_BASE + NNPU_EREG_PROGRESS) - progress < 500)
		;
	ok(current_is(OWN_A, roi) && !rig_peek(shared, &cqe), "it does not give way");
	status = rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, OWN_A, roi);
	ok(!status && rig_wait(&rig, own, &cqe) && rig_status(&cqe) == NNPU_STATUS_ABORTED,
	   "ABORT ends it");
	ok(rig_wait(&rig, shared, &cqe) && le16toh(cqe.cid) == add && !rig_status(&cqe) &&
	   job_add_ok(&b, N), "then the other job runs");
}

/* Contexts take turns, an entry each, whatever their weights are. */
static void test_turns(void)
{
	struct rig_queue *shared = &rig.queues[SHARED];
	unsigned int done[2] = { 0, 0 }, i, apart = 0;
	uint16_t roi = submit_roi(OWN_A), last = 0, cid;
	bool good = true;
	struct nnpu_cqe cqe;

	ok(current_is(OWN_A, roi), "a long job holds the engine");
	job_add_args(&a, N);
	job_add_args(&b, N);
	for (i = 0; i < JOBS; i++)
		last = push(&a, SHARED, ADD);
	for (i = 0; i < JOBS; i++)
		push(&b, SHARED, ADD);
	rig_kick(&rig, shared);
	rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, OWN_A, roi);
	for (i = 0; i < 2 * JOBS && good; i++) {
		unsigned int diff;

		good = rig_wait(&rig, shared, &cqe) && !rig_status(&cqe);
		cid = le16toh(cqe.cid);
		done[(int16_t)(cid - last) > 0]++;
		diff = done[0] > done[1] ? done[0] - done[1] : done[1] - done[0];
		apart = diff > apart ? diff : apart;
	}
	tap_note("%u jobs apart at most", apart);
	ok(good && apart <= 2, "contexts take turns, whatever their weights are");
	ok(rig_wait(&rig, &rig.queues[OWN_A], &cqe), "the long job has ended");
}

static void test_limit(void)
{
	struct nnpu_cqe cqe;

	submit_roi(OWN_A);
	ok(rig_wait(&rig, &rig.queues[OWN_A], &cqe) &&
	   rig_status(&cqe) == NNPU_STATUS_TIME_LIMIT, "the limit of engine time ends a job");
}

static void test_loads(void)
{
	struct nnpu_sqe_load_program c = { .opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(1) };
	struct nnpu_sqe_queue abort = { .opcode = NNPU_ADMIN_ABORT };
	struct nnpu_cqe cqe;
	struct image im;
	uint16_t first;
	void *mem;

	image_add(&im, N);
	mem = rig_alloc(&rig, im.size);
	memcpy(mem, im.bytes, im.size);
	c.program = htole32(8);
	c.image = (struct nnpu_mem){ .addr = htole64(rig_addr(mem)), .size = htole64(im.size) };
	image_free(&im);
	rig_inject(&rig, NNPU_INJECT_LOAD_STALL, 1);
	first = rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&c);
	c.ctx = htole32(2);
	rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&c);
	rig_kick(&rig, &rig.admin);
	ok(rig_wait(&rig, &rig.admin, &cqe) && le16toh(cqe.cid) != first &&
	   rig_status(&cqe) == NNPU_STATUS_NO_RESOURCES,
	   "one load more than max_loads: NO_RESOURCES");
	abort.target_cid = htole16(first);
	rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&abort);
	rig_kick(&rig, &rig.admin);
	/* The abort and the load complete in any order. */
	ok(rig_wait(&rig, &rig.admin, &cqe) && rig_wait(&rig, &rig.admin, &cqe) && !load_add(2, 8),
	   "the next one loads when the first has ended");
}

static void test_operands(void)
{
	struct nnpu_cqe cqe;
	uint32_t in, act, out;
	struct image im;
	unsigned int i;
	int status;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, (int)N, -1);
	act = image_scalar(&im, 0);
	/* Each has four operands: the third command exceeds the limit. */
	for (i = 0; i < 3; i++) {
		out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, (int)N, -1);
		image_command(&im, NNPU_OP_ADD, 3, 1, in, in, act, out);
	}
	image_finish(&im);
	status = rig_load(&rig, 1, 9, im.bytes, im.size, &cqe);
	image_free(&im);
	ok(status == NNPU_STATUS_PROGRAM_COMMAND && le16toh(cqe.reason) == NNPU_REASON_SIZE &&
	   le32toh(cqe.error) == 2, "more operands than max_operands: the command is named");
}

int main(void)
{
	open_device(NNPU_CTX_WEIGHT_MAX, 0);
	test_identify();
	test_no_giving_way();
	test_turns();
	test_operands();
	rig_close(&rig);
	open_device(NNPU_CTX_WEIGHT_DEFAULT, 20000000);
	test_limit();
	rig_close(&rig);
	open_device(NNPU_CTX_WEIGHT_DEFAULT, 0);
	test_loads();
	rig_close(&rig);
	return tap_done();
}
