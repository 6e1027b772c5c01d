// SPDX-License-Identifier: MIT
/* Aborts, queue resets, device resets and every injected fault. */
#include <endian.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define N	16u

static struct rig rig;
static struct job_rig j;

static void load_add(void)
{
	struct image im;

	image_add(&im, N);
	rig_load(&rig, j.ctx, 1, im.bytes, im.size, NULL);
	image_free(&im);
}

/* A device with a context, a queue and a program, as after power-on. */
static bool fresh(void)
{
	bool ready;

	/* From now on the device must not access the memory. */
	if (!rig_reset(&rig))
		return false;
	rig.used = 0;
	memset(rig.mem, 0, 4u << 20);
	rig.admin.sq = NULL;
	ready = rig_enable(&rig) && job_rig_init(&j, &rig, 1, 1);
	if (ready) {
		load_add();
		job_add_args(&j, N);
	}
	return ready;
}

static uint32_t reg(unsigned int offset)
{
	return rig_read(&rig, NNPU_QREG_BASE + NNPU_QREG_STRIDE + offset);
}

/* Start a job without waiting for it. Its id. */
static uint16_t start(void)
{
	struct nnpu_sqe_execute sqe;
	uint16_t cid;

	job_sqe(&j, 1, &sqe);
	cid = rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, j.q);
	return cid;
}

static bool running(uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + NNPU_QREG_STRIDE + NNPU_QREG_CURRENT, ~0u,
			NNPU_QREG_CURRENT_RUNNING | cid);
}

static void test_stall_abort(void)
{
	struct nnpu_cqe cqe;
	uint32_t progress;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = start();
	ok(running(cid) && reg(NNPU_QREG_STATE) == NNPU_QSTATE_RUNNING, "stalled job runs");
	progress = reg(NNPU_QREG_PROGRESS);
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, cid + 1) == 1000, "ABORT of another id");
	ok(reg(NNPU_QREG_PROGRESS) == progress && !rig_peek(j.q, &cqe), "no progress");
	ok(rig_admin(&rig, &(struct nnpu_sqe) { 0 }, NULL) == 0, "the admin queue is not held up");
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, cid) == 0, "ABORT finds it");
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) == NNPU_STATUS_ABORTED, "ABORTED");
	ok(le16toh(job_result(&j)->status) == NNPU_STATUS_ABORTED, "so says the result block");
	start();
	ok(rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe) && job_add_ok(&j, N), "next job is fine");
	ok(rig_read64(&rig, NNPU_REG_JOBS_LO) >= 2, "both are counted");
}

/* The doorbell announces entries while the device serves the queue. */
static void test_doorbells_meanwhile(void)
{
	struct nnpu_cqe cqe;
	unsigned int i, good = 0;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = start();
	running(cid);
	for (i = 0; i < 3; i++)
		start();
	rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, cid);
	for (i = 0; i < 4; i++)
		good += rig_wait(&rig, j.q, &cqe) && le16toh(cqe.cid) == cid + i &&
			rig_status(&cqe) == (i ? 0u : NNPU_STATUS_ABORTED);
	ok(good == 4, "a doorbell each for three jobs while one runs: %u of 4", good);

	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = start();
	running(cid);
	start();
	nnpu_inproc_doorbell(rig.ip, 1, NNPU_DB_SQ_TAIL, j.q->sq_entries);
	ok(rig_poll(&rig, NNPU_QREG_BASE + NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_STOPPED) &&
	   rig_read(&rig, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_DOORBELL &&
	   rig_read(&rig, NNPU_REG_FAULT_INFO) == (1u | (uint32_t)cid << 16),
	   "a bad tail meanwhile: STOPPED, and what ran is named");
	start();
	ok(!rig_peek(j.q, &cqe), "nothing of a stopped queue completes");
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, 1, 0) == 0, "RESET_QUEUE");
	rig_queue_rewind(j.q);
	ok(job_execute(&j, 1, NULL) == 0, "the queue begins anew: no doorbell of before counts");
}

static void test_queue_reset(void)
{
	struct nnpu_cqe cqe;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = start();
	start();
	start();
	running(cid);
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, 1, 0) == 0, "RESET_QUEUE with a stalled job");
	ok(!rig_peek(j.q, &cqe), "no completion of the three jobs");
	ok(reg(NNPU_QREG_STATE) == NNPU_QSTATE_IDLE && !reg(NNPU_QREG_CURRENT), "IDLE");
	rig_queue_rewind(j.q);
	ok(job_execute(&j, 1, NULL) == 0, "queue works from index 0, phase 1");
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = start();
	running(cid);
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_DESTROY_QUEUE, 1, 0) == 0, "DESTROY_QUEUE likewise");
	ok(!rig_peek(j.q, &cqe) && reg(NNPU_QREG_STATE) == NNPU_QSTATE_ABSENT, "no completion, ABSENT");
}

static void test_destroy_ctx(void)
{
	struct nnpu_cqe cqe;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = start();
	running(cid);
	ok(rig_destroy_ctx(&rig, 1) == 0, "DESTROY_CTX with a stalled job");
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) == NNPU_STATUS_ABORTED &&
	   le16toh(cqe.cid) == cid, "the job on the kernel queue completes with ABORTED");
	start();
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) == NNPU_STATUS_INVALID_CTX,
	   "later entries: INVALID_CTX");
	ok(rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "device memory is back");

	fresh();
	rig_create_queue(&rig, 2, 1, 0, 16);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	j.q = &rig.queues[2];
	job_add_args(&j, N);
	{
		struct nnpu_sqe_execute sqe;

		job_sqe(&j, 1, &sqe);
		sqe.ctx = 0;
		rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
		rig_kick(&rig, j.q);
	}
	rig_poll(&rig, NNPU_QREG_BASE + 2 * NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_RUNNING);
	ok(rig_destroy_ctx(&rig, 1) == 0 && !rig_peek(j.q, &cqe),
	   "a queue of the context goes without a completion");
}

static void test_unload_while_running(void)
{
	struct nnpu_cqe cqe;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	cid = start();
	running(cid);
	ok(rig_unload(&rig, 1, 1) == 0, "UNLOAD_PROGRAM while a job runs it");
	load_add();
	ok(rig_read(&rig, NNPU_REG_PROGRAMS) == 1, "the number is free at once");
	ok(rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe) && job_add_ok(&j, N), "the job goes on");
	ok(rig_unload(&rig, 1, 1) == 0 && rig_poll(&rig, NNPU_REG_MEM_USED_LO, ~0u, 0),
	   "memory of both copies is back");
}

static void test_slow(void)
{
	struct nnpu_cqe cqe;
	uint32_t progress;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	cid = start();
	running(cid);
	progress = reg(NNPU_QREG_PROGRESS);
	ok(rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe), "slow job succeeds");
	ok(reg(NNPU_QREG_PROGRESS) - progress > 10, "and made progress");
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	cid = start();
	running(cid);
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, cid) == 0 && rig_wait(&rig, j.q, &cqe) &&
	   rig_status(&cqe) == NNPU_STATUS_ABORTED, "slow job can be aborted");
}

static void test_stuck(void)
{
	struct nnpu_sqe_queue reset = { .opcode = NNPU_ADMIN_RESET_QUEUE, .qid = htole16(1) };
	struct nnpu_cqe cqe;
	uint64_t jobs;
	uint16_t cid;

	fresh();
	rig_inject(&rig, NNPU_INJECT_JOB_STUCK, 1);
	cid = start();
	running(cid);
	ok(rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, cid) == 0, "ABORT of a stuck job is taken");
	ok(!rig_peek(j.q, &cqe) && running(cid), "and does not help");
	rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&reset);
	rig_kick(&rig, &rig.admin);
	ok(rig_poll(&rig, NNPU_QREG_BASE + NNPU_QREG_CURRENT, NNPU_QREG_CURRENT_RUNNING,
		    NNPU_QREG_CURRENT_RUNNING) && !rig_peek(&rig.admin, &cqe),
	   "RESET_QUEUE does not complete");
	jobs = rig_read64(&rig, NNPU_REG_JOBS_LO);
	ok(rig_reset(&rig), "CTRL.RESET ends it");
	ok(rig_read64(&rig, NNPU_REG_JOBS_LO) == jobs + 1, "the job counts, JOBS survives");
	ok(!rig_peek(j.q, &cqe) && !rig_peek(&rig.admin, &cqe), "no completion was written");
	ok(rig_read(&rig, NNPU_REG_CONTEXTS) == 0 && rig_read(&rig, NNPU_REG_PROGRAMS) == 0 &&
	   rig_read64(&rig, NNPU_REG_MEM_USED_LO) == 0, "everything is gone");
	ok(fresh() && job_execute(&j, 1, NULL) == 0, "the device works again");

	rig_inject(&rig, NNPU_INJECT_JOB_STUCK, 1);
	cid = start();
	running(cid);
	rig_write(&rig, NNPU_REG_CTRL, 0);
	ok(rig_poll(&rig, NNPU_REG_STATUS, NNPU_STATUS_REG_READY, 0), "disabling ends it, too");
}

static void test_completions(void)
{
	struct nnpu_cqe cqe;
	uint64_t irqs;
	uint16_t cid;

	fresh();
	irqs = nnpu_inproc_irq_count(rig.ip, 1);
	rig_inject(&rig, NNPU_INJECT_LOST_IRQ, 1);
	start();
	ok(rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe), "LOST_IRQ: job completes");
	ok(job_execute(&j, 1, NULL) == 0 &&
	   nnpu_inproc_wait_irq(rig.ip, 1, irqs, 60000000000ll) == 0 &&
	   nnpu_inproc_irq_count(rig.ip, 1) == irqs + 1, "one interrupt for two completions");

	rig_inject(&rig, NNPU_INJECT_BAD_CID, 1);
	cid = start();
	ok(rig_wait(&rig, j.q, &cqe) && le16toh(cqe.cid) != cid, "BAD_CID: unknown id first");
	ok(rig_wait(&rig, j.q, &cqe) && le16toh(cqe.cid) == cid, "then the right one");
	rig_inject(&rig, NNPU_INJECT_BAD_STATUS, 1);
	start();
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) > 0x100, "BAD_STATUS: 0x%x",
	   rig_status(&cqe));
	rig_inject(&rig, NNPU_INJECT_DMA_ERROR, 1);
	start();
	ok(rig_wait(&rig, j.q, &cqe) && rig_status(&cqe) == NNPU_STATUS_DMA_ERROR, "DMA_ERROR");
	rig_inject(&rig, NNPU_INJECT_DMA_ERROR, 5);
	rig_inject(&rig, NNPU_INJECT_DMA_ERROR, 0);
	start();
	ok(rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe), "count 0 takes an injection back");
	rig_inject(&rig, NNPU_INJECT_DMA_SLOW, 1);
	start();
	ok(rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe) &&
	   le64toh(job_result(&j)->exec_ns) >= 20000000, "DMA_SLOW: 20 ms longer at least");
	rig_inject(&rig, 0, 1);
	rig_inject(&rig, NNPU_INJECT_NUM, 1);
	rig_inject(&rig, 0xffff, 1);
	ok(job_execute(&j, 1, NULL) == 0, "unknown kinds are ignored");
}

static void test_fatal(void)
{
	struct nnpu_cqe cqe;
	uint64_t irqs;

	fresh();
	irqs = nnpu_inproc_irq_count(rig.ip, 0);
	rig_inject(&rig, NNPU_INJECT_FATAL, 1);
	start();
	ok(rig_poll(&rig, NNPU_REG_STATUS, ~0u, NNPU_STATUS_REG_FATAL | NNPU_STATUS_INTERNAL << 8),
	   "FATAL at the next job");
	ok(nnpu_inproc_wait_irq(rig.ip, 0, irqs, 60000000000ll) == 0, "vector 0 is raised");
	rig_push(&rig, &rig.admin, &(struct nnpu_sqe) { 0 });
	rig_kick(&rig, &rig.admin);
	ok(rig_read(&rig, NNPU_REG_ID) == NNPU_ID_MAGIC, "registers are readable");
	ok(fresh(), "reset brings it back");
	ok(!rig_peek(j.q, &cqe) && job_execute(&j, 1, NULL) == 0, "jobs run again");
}

static void test_destroy(void)
{
	struct nnpu_inproc_config config;
	struct nnpu_sqe_execute sqe;
	unsigned int kind;

	rig_config(&config);
	for (kind = NNPU_INJECT_JOB_STALL; kind <= NNPU_INJECT_JOB_STUCK; kind++) {
		struct rig r;
		struct job_rig k;
		struct image im;

		rig_open(&r, &config);
		rig_enable(&r);
		job_rig_init(&k, &r, 1, 1);
		image_add(&im, N);
		rig_load(&r, 1, 1, im.bytes, im.size, NULL);
		image_free(&im);
		rig_inject(&r, kind, 1);
		job_add_args(&k, N);
		job_sqe(&k, 1, &sqe);
		rig_push(&r, k.q, (struct nnpu_sqe *)&sqe);
		rig_kick(&r, k.q);
		rig_poll(&r, NNPU_QREG_BASE + NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_RUNNING);
		rig_close(&r);
		ok(true, "device taken away from a job that hangs (kind %u)", kind);
	}
}

/* Resets at any moment of a stream of jobs. */
static void test_reset_storm(void)
{
	unsigned int i, good = 0;

	for (i = 0; i < 40; i++) {
		unsigned int n;

		if (!fresh())
			break;
		for (n = 0; n < 1 + i % 7; n++)
			start();
		if (i % 3 == 0)
			good += rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, 1, 0) == 0;
		else if (i % 3 == 1)
			good += rig_destroy_ctx(&rig, 1) == 0;
		else
			good += rig_reset(&rig);
	}
	ok(good == 40, "40 times jobs cut off by a reset");
}

int main(void)
{
	rig_open(&rig, NULL);
	test_stall_abort();
	test_doorbells_meanwhile();
	test_queue_reset();
	test_destroy_ctx();
	test_unload_while_running();
	test_slow();
	test_stuck();
	test_completions();
	test_fatal();
	test_reset_storm();
	rig_close(&rig);
	test_destroy();
	return tap_done();
}
