// SPDX-License-Identifier: MIT
/* SUSPEND_QUEUE and CREATE_QUEUE with QUEUE_RESUME. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "tap.h"

#define CTX	1u
#define ENTRIES	8u

static struct nnpu_queue_state *state;	/* where the device writes it */
static struct job_rig job;
static struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };

static uint32_t qreg(struct rig *r, unsigned int qid, unsigned int reg)
{
	return rig_read(r, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + reg);
}

static int suspend_once(struct rig *r, unsigned int qid, unsigned int flags)
{
	struct nnpu_sqe_suspend_queue c = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE,
		.flags = (uint8_t)flags,
		.qid = htole16(qid),
		.state_addr = rig_addr(state),
	};

	memset(state, 0xff, sizeof(*state));
	return rig_admin(r, &c, NULL);
}

/* An engine may need a moment to let go of a queue whose completion is there. */
static int suspend(struct rig *r, unsigned int qid, unsigned int flags)
{
	int status = suspend_once(r, qid, flags);
	unsigned int i;

	for (i = 0; status == NNPU_STATUS_BUSY && i < 60000; i++) {
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
		status = suspend_once(r, qid, flags);
	}
	return status;
}

/* Queue @qid over the rings of @q, going on from @from. */
static int resume_with(struct rig *r, const struct rig_queue *q, uint16_t qid,
		       const struct nnpu_queue_state *from)
{
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_ARMED_IRQ | NNPU_QUEUE_RESUME,
		.ctx = htole32(CTX),
		.qid = htole16(qid),
		.vector = htole16(qid),
		.sq_entries = htole32(q->sq_entries),
		.cq_entries = htole32(q->cq_entries),
		.sq_addr = rig_addr(q->sq),
		.cq_addr = rig_addr(q->cq),
		.state = *from,
	};

	return rig_admin(r, &c, NULL);
}

static int resume(struct rig *r, struct rig_queue *q, uint16_t qid)
{
	struct nnpu_queue_state copy = *state;

	q->qid = qid;
	return resume_with(r, q, qid, &copy);
}

static bool open_queue(struct rig *r)
{
	return rig_enable(r) && job_rig_init(&job, r, CTX, 8) &&
	       !rig_create_queue(r, 1, CTX, NNPU_QUEUE_ARMED_IRQ, ENTRIES);
}

static void refuses(struct rig *r, unsigned int from, unsigned int to)
{
	struct nnpu_sqe_suspend_queue c = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE,
		.qid = htole16(1),
		.state_addr = rig_addr(state),
	};
	unsigned int i, refused = 0;

	for (i = from; i < to; i++) {
		uint8_t bytes[NNPU_SQE_SIZE] __attribute__((aligned(8)));

		memcpy(bytes, &c, sizeof(c));
		bytes[i] = 0x40;
		refused += rig_admin(r, bytes, NULL) == NNPU_STATUS_INVALID_FIELD;
	}
	ok(refused == to - from, "bytes %u to %u are checked", from, to - 1);
}

static void test_fields(struct rig *r)
{
	struct nnpu_sqe_suspend_queue c = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE,
		.qid = htole16(1),
		.state_addr = rig_addr((uint8_t *)state + 4),
	};
	struct rig_queue *q = &r->queues[1];

	open_queue(r);
	refuses(r, 1, 2);
	refuses(r, 4, 8);
	refuses(r, 10, 16);
	refuses(r, 24, 64);
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_INVALID_FIELD, "misaligned address");
	c.state_addr = htole64(4096);
	ok(rig_admin(r, &c, NULL) == NNPU_STATUS_DMA_ERROR, "address out of reach");
	ok(qreg(r, 1, NNPU_QREG_STATE) == NNPU_QSTATE_IDLE && rig_run(r, q, &nop, NULL) == 0,
	   "none of that did anything to the queue");
	ok(suspend_once(r, 0, 0) == NNPU_STATUS_INVALID_QUEUE, "admin queue");
	ok(suspend_once(r, 5, 0) == NNPU_STATUS_INVALID_QUEUE, "absent queue");
	ok(suspend_once(r, RIG_QUEUES + 1, 0) == NNPU_STATUS_INVALID_QUEUE, "impossible queue");
	ok(suspend_once(r, 8, 0) == NNPU_STATUS_INVALID_QUEUE, "queue of the kernel");
}

/* Suspended and resumed after every few entries, each time as another queue. */
static void test_round(struct rig *r)
{
	unsigned int i, n, good = 0, total = 0, states = 0;
	struct rig_queue *q = &r->queues[1];
	struct nnpu_cqe cqe;

	open_queue(r);
	for (i = 0; i < 40; i++) {
		for (n = 0; n <= i % 7; n++, total++) {
			uint16_t cid = rig_push(r, q, &nop);

			rig_kick(r, q);
			good += rig_wait(r, q, &cqe) && !rig_status(&cqe) &&
				le16toh(cqe.cid) == cid && le16toh(cqe.qid) == q->qid &&
				le16toh(cqe.sq_head) == q->sq_tail;
		}
		states += suspend(r, q->qid, i % 2 ? NNPU_SUSPEND_IDLE : 0) == 0 &&
			  qreg(r, q->qid, NNPU_QREG_STATE) == NNPU_QSTATE_ABSENT &&
			  le16toh(state->sq_head) == q->sq_tail &&
			  le16toh(state->sq_tail) == q->sq_tail &&
			  le16toh(state->cq_head) == q->cq_head &&
			  le16toh(state->cq_tail) == q->cq_head &&
			  le16toh(state->flags) == q->phase && !state->arm_head &&
			  !state->reserved;
		if (resume(r, q, (uint16_t)(i % 6 + 2)))
			break;
	}
	ok(good == total && i == 40, "%u of %u entries over 40 queues", good, total);
	ok(states == 40, "%u states of 40 as software sees the rings", states);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_NONE, "no fault");
	suspend(r, q->qid, 0);
	nnpu_inproc_doorbell(r->ip, q->qid, NNPU_DB_SQ_TAIL, 1);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_DOORBELL,
	   "its doorbell is that of an absent queue now");
	ok(suspend_once(r, q->qid, 0) == NNPU_STATUS_INVALID_QUEUE, "suspended twice");
}

/* A job that does not end by itself, and three entries behind it. Its id. */
static uint16_t stall(struct rig *r, struct rig_queue *q)
{
	struct nnpu_sqe_execute sqe;
	unsigned int i;
	uint16_t cid;

	job_add_args(&job, 16);
	job_sqe(&job, 1, &sqe);
	sqe.ctx = 0;
	rig_inject(r, NNPU_INJECT_JOB_STALL, 1);
	cid = rig_push(r, q, (struct nnpu_sqe *)&sqe);
	for (i = 0; i < 3; i++)
		rig_push(r, q, &nop);
	rig_kick(r, q);
	rig_poll(r, NNPU_QREG_BASE + q->qid * NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_RUNNING);
	return cid;
}

static void test_busy(struct rig *r)
{
	struct rig_queue *q = &r->queues[1];
	unsigned int i, good = 0;
	struct nnpu_cqe cqe;
	struct image im;
	uint16_t cid;

	open_queue(r);
	image_add(&im, 16);
	rig_load(r, CTX, 1, im.bytes, im.size, NULL);
	image_free(&im);

	cid = stall(r, q);
	ok(suspend_once(r, 1, NNPU_SUSPEND_IDLE) == NNPU_STATUS_BUSY, "IDLE: queue has work");
	rig_queue_cmd(r, NNPU_ADMIN_ABORT, 1, cid);
	for (i = 0; i < 4; i++)
		good += rig_wait(r, q, &cqe) &&
			rig_status(&cqe) == (i ? 0u : NNPU_STATUS_ABORTED);
	ok(good == 4, "and goes on with it");

	cid = stall(r, q);
	rig_push(r, q, &nop);
	rig_kick(r, q);
	ok(suspend_once(r, 1, 0) == NNPU_STATUS_BUSY, "a job runs: BUSY, at once");
	ok(state->reserved == 0xffffffff, "BUSY writes no state");
	rig_queue_cmd(r, NNPU_ADMIN_ABORT, 1, cid);
	ok(suspend(r, 1, 0) == 0, "suspended when the job has ended");
	ok(rig_wait(r, q, &cqe) && rig_status(&cqe) == NNPU_STATUS_ABORTED &&
	   le16toh(cqe.sq_head) == le16toh(state->sq_head) && !rig_peek(q, &cqe),
	   "nothing was fetched in between");
	ok(le16toh(state->sq_tail) == q->sq_tail &&
	   (le16toh(state->sq_tail) - le16toh(state->sq_head)) % ENTRIES == 4,
	   "four entries left, with the one announced while the job ran");
	ok(resume(r, q, 3) == 0, "resumed");
	for (i = 0, good = 0; i < 4; i++)
		good += rig_wait(r, q, &cqe) && !rig_status(&cqe) && le16toh(cqe.qid) == 3;
	ok(good == 4, "and they run, without a doorbell");

	cid = stall(r, q);
	suspend_once(r, 3, 0);
	ok(suspend_once(r, 3, NNPU_SUSPEND_IDLE) == NNPU_STATUS_BUSY, "change of mind");
	rig_queue_cmd(r, NNPU_ADMIN_ABORT, 3, cid);
	for (i = 0, good = 0; i < 4; i++)
		good += rig_wait(r, q, &cqe) && (!i || !rig_status(&cqe));
	ok(good == 4, "the queue goes on");

	stall(r, q);
	suspend_once(r, 3, 0);
	ok(rig_queue_cmd(r, NNPU_ADMIN_RESET_QUEUE, 3, 0) == 0, "RESET_QUEUE of a held queue");
	rig_queue_rewind(q);
	ok(rig_run(r, q, &nop, NULL) == 0, "serves again");
	stall(r, q);
	suspend_once(r, 3, 0);
	ok(rig_destroy_ctx(r, CTX) == 0 && qreg(r, 3, NNPU_QREG_STATE) == NNPU_QSTATE_ABSENT,
	   "DESTROY_CTX with a held queue");
}

static void test_stopped(struct rig *r)
{
	open_queue(r);
	nnpu_inproc_doorbell(r->ip, 1, NNPU_DB_SQ_TAIL, ENTRIES);
	ok(suspend_once(r, 1, 0) == NNPU_STATUS_NO_RESOURCES, "stopped queue: NO_RESOURCES");
	ok(suspend_once(r, 1, NNPU_SUSPEND_IDLE) == NNPU_STATUS_NO_RESOURCES, "with IDLE, too");
	ok(qreg(r, 1, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED, "stays stopped");
	ok(rig_queue_cmd(r, NNPU_ADMIN_RESET_QUEUE, 1, 0) == 0 && suspend(r, 1, 0) == 0,
	   "after RESET_QUEUE it works");
}

static void test_armed(struct rig *r)
{
	struct rig_queue *q = &r->queues[1];
	struct nnpu_queue_state forged;
	struct nnpu_cqe cqe;
	uint64_t before;

	open_queue(r);
	rig_run(r, q, &nop, NULL);
	nnpu_inproc_doorbell(r->ip, 1, NNPU_DB_CQ_ARM, q->cq_head);
	ok(suspend(r, 1, NNPU_SUSPEND_IDLE) == 0 &&
	   le16toh(state->flags) == (NNPU_QUEUE_STATE_PHASE | NNPU_QUEUE_STATE_ARMED) &&
	   le16toh(state->arm_head) == q->cq_head, "armed state");
	before = nnpu_inproc_irq_count(r->ip, 2);
	ok(resume(r, q, 2) == 0 && nnpu_inproc_irq_count(r->ip, 2) == before, "resumed: quiet");
	rig_push(r, q, &nop);
	rig_kick(r, q);
	ok(nnpu_inproc_wait_irq(r->ip, 2, before, 60000000000ll) == 0 && rig_wait(r, q, &cqe),
	   "the completion raises the vector of the new queue");
	before = nnpu_inproc_irq_count(r->ip, 2);
	rig_run(r, q, &nop, NULL);
	rig_run(r, q, &nop, NULL);
	ok(nnpu_inproc_irq_count(r->ip, 2) == before, "once");

	/* Software that armed while the queue was away, too late. */
	suspend(r, 2, 0);
	forged = *state;
	forged.flags |= htole16(NNPU_QUEUE_STATE_ARMED);
	forged.arm_head = htole16((le16toh(forged.cq_tail) - 1u) % ENTRIES);
	before = nnpu_inproc_irq_count(r->ip, 4);
	q->qid = 4;
	ok(resume_with(r, q, 4, &forged) == 0 && nnpu_inproc_irq_count(r->ip, 4) == before + 1,
	   "a completion beyond arm_head is there: interrupt at once");
	before = nnpu_inproc_irq_count(r->ip, 4);
	rig_run(r, q, &nop, NULL);
	rig_run(r, q, &nop, NULL);
	ok(nnpu_inproc_irq_count(r->ip, 4) == before, "which uses the request up");
}

/* A full ring round its end. */
static void test_full(struct rig *r)
{
	struct rig_queue *q = &r->queues[1];
	unsigned int i, good = 0;
	struct nnpu_cqe cqe;

	open_queue(r);
	for (i = 0; i < 5; i++)
		rig_run(r, q, &nop, NULL);
	suspend(r, 1, 0);
	for (i = 0; i < ENTRIES - 1; i++)
		rig_push(r, q, &nop);
	state->sq_tail = htole16(q->sq_tail);
	ok(resume(r, q, 7) == 0, "resumed with a full ring");
	for (i = 0; i < ENTRIES - 1; i++)
		good += rig_wait(r, q, &cqe) && !rig_status(&cqe);
	ok(good == ENTRIES - 1, "all of it runs");
}

/* States that no device wrote. */
static void test_hostile(struct rig *r)
{
	unsigned int i, field, refused = 0, wrong = 0, accepted = 0;
	struct rig_queue *q = &r->queues[1];
	struct nnpu_queue_state good, bad;
	uint64_t x = 88172645463325252ull;

	open_queue(r);
	suspend(r, 1, 0);
	good = *state;
	for (field = 0; field < 4; field++) {
		bad = good;
		((__le16 *)&bad)[field] = htole16(ENTRIES);
		refused += resume_with(r, q, 1, &bad) == NNPU_STATUS_INVALID_FIELD;
		((__le16 *)&bad)[field] = htole16(0xffff);
		refused += resume_with(r, q, 1, &bad) == NNPU_STATUS_INVALID_FIELD;
	}
	bad = good;
	bad.arm_head = htole16(1);
	refused += resume_with(r, q, 1, &bad) == NNPU_STATUS_INVALID_FIELD;
	bad.flags |= htole16(NNPU_QUEUE_STATE_ARMED);
	bad.arm_head = htole16(ENTRIES);
	refused += resume_with(r, q, 1, &bad) == NNPU_STATUS_INVALID_FIELD;
	bad = good;
	bad.flags |= htole16(4);
	refused += resume_with(r, q, 1, &bad) == NNPU_STATUS_INVALID_FIELD;
	bad = good;
	bad.reserved = htole32(0x80000000);
	refused += resume_with(r, q, 1, &bad) == NNPU_STATUS_INVALID_FIELD;
	ok(refused == 12, "indexes, flags, reserved: %u of 12 refused", refused);
	ok(qreg(r, 1, NNPU_QREG_STATE) == NNPU_QSTATE_ABSENT, "no queue came of that");

	for (i = 0; i < 3000; i++) {
		uint16_t words[8];
		bool valid = true;
		int status;

		for (field = 0; field < 8; field++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			words[field] = field < 6 ? x >> 20 & (x & 1 ? 7 : 15) : 0;
			if (field < 5)
				valid = valid && words[field] < ENTRIES;
		}
		valid = valid && words[5] < 4 && (words[5] & NNPU_QUEUE_STATE_ARMED || !words[4]);
		memcpy(&bad, words, sizeof(bad));
		status = resume_with(r, q, 1, &bad);
		wrong += status != (valid ? 0 : NNPU_STATUS_INVALID_FIELD);
		if (!status) {
			accepted++;
			rig_queue_cmd(r, NNPU_ADMIN_DESTROY_QUEUE, 1, 0);
		}
	}
	ok(!wrong && accepted > 10, "random states: %u accepted, %u verdicts wrong", accepted,
	   wrong);
	rig_queue_rewind(q);
	memset(&good, 0, sizeof(good));
	good.flags = htole16(NNPU_QUEUE_STATE_PHASE);
	ok(resume_with(r, q, 1, &good) == 0 && rig_run(r, q, &nop, NULL) == 0,
	   "the device is as before");
}

/* Entries are rung, and the queue leaves at once: the state has each tail that came before. */
static void test_rung(struct rig *r)
{
	unsigned int i, right = 0, left = 0, good = 0, total = 0;
	struct rig_queue *q = &r->queues[1];
	struct nnpu_cqe cqe;

	open_queue(r);
	for (i = 0; i < 200; i++) {
		rig_run(r, q, &nop, NULL);
		/* Idle engines watch the queue now. */
		rig_push(r, q, &nop);
		rig_kick(r, q);
		rig_push(r, q, &nop);
		rig_kick(r, q);
		right += suspend(r, q->qid, 0) == 0 && le16toh(state->sq_tail) == q->sq_tail;
		left += state->sq_head != state->sq_tail;
		if (resume(r, q, (uint16_t)(i % 6 + 2)))
			break;
		for (; total < 2 * (i + 1); total++)
			good += rig_wait(r, q, &cqe) && !rig_status(&cqe);
	}
	tap_note("%u of 200 queues left with entries", left);
	ok(right == 200 && good == 400, "%u of 200 states with the last tail, %u of 400 entries ran",
	   right, good);
	rig_push(r, q, &nop);
	rig_kick(r, q);
	ok(!rig_queue_cmd(r, NNPU_ADMIN_RESET_QUEUE, q->qid, 0) &&
	   !qreg(r, q->qid, NNPU_QREG_ERROR), "reset when it has been rung");
	rig_queue_rewind(q);
	ok(rig_run(r, q, &nop, NULL) == 0, "and it works");
}

/* @poll_ns: how long idle engines watch the queue that they served last. */
static void test_all(uint64_t poll_ns)
{
	struct nnpu_inproc_config config;
	struct rig r;

	tap_note("engines poll for %llu ns", (unsigned long long)poll_ns);
	rig_config(&config);
	config.props.poll_ns = poll_ns;
	rig_open(&r, &config);
	state = rig_alloc(&r, 4096);
	test_fields(&r);
	test_round(&r);
	test_busy(&r);
	test_stopped(&r);
	test_armed(&r);
	test_full(&r);
	test_hostile(&r);
	test_rung(&r);
	rig_close(&r);
}

int main(void)
{
	test_all(0);
	test_all(1000000000);
	return tap_done();
}
