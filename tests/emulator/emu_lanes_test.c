// SPDX-License-Identifier: MIT
/*
 * Kernel queues: a lane for each context and priority, commands for the entries of one context,
 * and the engine windows.
 */
#include <endian.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "tap.h"

#define N	16u
#define CTXS	2u

static struct rig rig;
static struct job_rig j[CTXS + 1];	/* by context; all use queue 1 */

static void load_add(struct job_rig *job)
{
	struct image im;

	image_add(&im, N);
	rig_load(&rig, job->ctx, 1, im.bytes, im.size, NULL);
	image_free(&im);
}

/* Two contexts with a program each, a kernel queue. */
static void fresh(unsigned int engines)
{
	const uint32_t rw = NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE;
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = engines;
	rig_open(&rig, &config);
	rig_enable(&rig);
	job_rig_init(&j[1], &rig, 1, 1);
	j[2] = j[1];
	j[2].ctx = 2;
	j[2].slots = rig_alloc(&rig, 16 * sizeof(*j[2].slots));
	j[2].block = rig_alloc(&rig, 16384);
	j[2].operands = rig_alloc(&rig, j[2].operands_size);
	rig_slot(&j[2].slots[0], j[2].block, 16384, rw);
	rig_slot(&j[2].slots[1], j[2].operands, j[2].operands_size, rw);
	rig_create_ctx(&rig, 2, j[2].slots, 16);
	load_add(&j[1]);
	load_add(&j[2]);
	job_add_args(&j[1], N);
	job_add_args(&j[2], N);
}

static struct nnpu_sqe_execute entry(uint32_t ctx, unsigned int priority)
{
	struct nnpu_sqe_execute sqe;

	job_sqe(&j[ctx], 1, &sqe);
	sqe.flags |= (uint8_t)(priority << NNPU_EXEC_PRIORITY_SHIFT);
	return sqe;
}

/* Push and ring; the id. */
static uint16_t start(uint32_t ctx, unsigned int priority)
{
	struct nnpu_sqe_execute sqe = entry(ctx, priority);
	uint16_t cid = rig_push(&rig, j[1].q, (struct nnpu_sqe *)&sqe);

	rig_kick(&rig, j[1].q);
	return cid;
}

static uint32_t ereg(unsigned int engine, uint32_t offset)
{
	return rig_read(&rig, NNPU_EREG_BASE + engine * NNPU_EREG_STRIDE + offset);
}

static uint32_t current_of(uint16_t qid, uint16_t cid)
{
	return NNPU_EREG_CURRENT_RUNNING | (uint32_t)qid << 16 | cid;
}

/* The engine that runs the entry, once one does; -1 after a minute. */
static int engine_of(uint16_t cid)
{
	unsigned int i, tries;

	for (tries = 0; tries < 60000; tries++) {
		for (i = 0; i < rig.config.props.num_engines; i++)
			if (ereg(i, NNPU_EREG_CURRENT) == current_of(1, cid))
				return (int)i;
		nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
	}
	return -1;
}

/* Completions come in the order of @cids, all with @status. */
static bool completions(unsigned int count, const uint16_t *cids, unsigned int status)
{
	struct nnpu_cqe cqe;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!rig_wait(&rig, j[1].q, &cqe) || le16toh(cqe.cid) != cids[i] ||
		    rig_status(&cqe) != status)
			return false;
	return true;
}

static int queue_cmd(unsigned int opcode, unsigned int flags, uint32_t ctx, uint16_t cid,
		     uint64_t *result)
{
	struct nnpu_sqe_queue c = {
		.opcode = (uint8_t)opcode,
		.flags = (uint8_t)flags,
		.ctx = htole32(ctx),
		.qid = htole16(1),
		.target_cid = htole16(cid),
	};
	struct nnpu_cqe cqe;
	int status = rig_admin(&rig, &c, &cqe);

	if (result)
		*result = le64toh(cqe.result);
	return status;
}

static void test_priorities(void)
{
	uint16_t first, low, medium, high, order[3];
	struct nnpu_sqe_execute sqe;

	fresh(1);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	first = start(1, NNPU_QUEUE_PRIORITY_MEDIUM);
	ok(engine_of(first) == 0, "a job of medium priority runs");
	low = start(1, NNPU_QUEUE_PRIORITY_LOW);
	medium = start(1, NNPU_QUEUE_PRIORITY_MEDIUM);
	high = start(1, NNPU_QUEUE_PRIORITY_HIGH);
	queue_cmd(NNPU_ADMIN_ABORT, 0, 0, first, NULL);
	completions(1, &first, NNPU_STATUS_ABORTED);
	order[0] = high;
	order[1] = medium;
	order[2] = low;
	ok(completions(3, order, 0), "the others end by priority, not in ring order");

	sqe = entry(1, NNPU_QUEUE_PRIORITY_NUM);
	ok(rig_run(&rig, j[1].q, &sqe, NULL) == NNPU_STATUS_INVALID_FIELD, "no such priority");
	rig_create_queue(&rig, 2, 1, 0, 4);
	sqe = entry(1, NNPU_QUEUE_PRIORITY_HIGH);
	sqe.ctx = 0;
	ok(rig_run(&rig, &rig.queues[2], &sqe, NULL) == NNPU_STATUS_INVALID_FIELD,
	   "entries of a context's queue have none");
	sqe = entry(1, 0);
	sqe.ctx = 0;
	ok(rig_run(&rig, &rig.queues[2], &sqe, NULL) == 0, "but else they are fine");
	rig_close(&rig);
}

/* ABORT finds what was announced, fetched or not, and spares other contexts. */
static void test_abort_context(void)
{
	uint16_t mine[6], other[2];
	struct nnpu_cqe cqe;
	unsigned int i, aborted = 0, good = 0;
	uint64_t found;

	fresh(1);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	for (i = 0; i < 6; i++) {
		mine[i] = start(1, i % NNPU_QUEUE_PRIORITY_NUM);
		if (!i)
			engine_of(mine[0]);
		if (i < 2)
			other[i] = start(2, i);
	}
	ok(queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_CONTEXT, 1, 0, &found) == 0 && found == 1,
	   "ABORT of the entries of a context");
	for (i = 0; i < 8; i++) {
		if (!rig_wait(&rig, j[1].q, &cqe))
			break;
		aborted += rig_status(&cqe) == NNPU_STATUS_ABORTED &&
			   le16toh(cqe.cid) != other[0] && le16toh(cqe.cid) != other[1];
		good += !rig_status(&cqe);
	}
	ok(aborted == 6 && good == 2, "six entries aborted, two of another context run");
	ok(queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_CONTEXT, 1, 0, &found) == 0 && !found,
	   "again: nothing is left");
	ok(queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_CONTEXT, 3, 0, NULL) ==
	   NNPU_STATUS_INVALID_CTX, "no such context");
	ok(queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_CONTEXT, 1, 1, NULL) ==
	   NNPU_STATUS_INVALID_FIELD, "context and command id");
	ok(queue_cmd(NNPU_ADMIN_ABORT, 0, 1, 1, NULL) == NNPU_STATUS_INVALID_FIELD,
	   "context without flag");
	ok(queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_CONTEXT | NNPU_QUEUE_CMD_PROBE, 1, 0, NULL) ==
	   NNPU_STATUS_INVALID_FIELD, "both flags");
	ok(queue_cmd(NNPU_ADMIN_DESTROY_QUEUE, NNPU_QUEUE_CMD_CONTEXT, 1, 0, NULL) ==
	   NNPU_STATUS_INVALID_FIELD, "DESTROY_QUEUE has no flags");
	rig_close(&rig);
}

static void test_probe(void)
{
	uint16_t running, waiting, cids[2];
	struct nnpu_cqe cqe;
	uint64_t found[4];

	fresh(1);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	running = start(1, 0);
	engine_of(running);
	waiting = start(2, 0);
	queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, running, &found[0]);
	queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, waiting, &found[1]);
	queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, waiting + 1, &found[2]);
	ok(found[0] == 1 && found[1] == 1 && !found[2], "PROBE: one runs, one waits, one is not there");
	ok(!rig_peek(j[1].q, &cqe), "and none is aborted");
	queue_cmd(NNPU_ADMIN_ABORT, 0, 0, running, NULL);
	cids[0] = running;
	cids[1] = waiting;
	ok(completions(1, cids, NNPU_STATUS_ABORTED) && completions(1, cids + 1, 0), "they end");

	rig_inject(&rig, NNPU_INJECT_LOST_CQE, 1);
	running = start(1, 0);
	waiting = start(1, 0);
	ok(completions(1, &waiting, 0), "LOST_CQE: only the next job completes");
	queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, running, &found[0]);
	ok(!found[0], "and the device does not have the first one any more");
	rig_close(&rig);
}

/* Push @ctx's job with the id of another one, and ring. */
static void start_again(uint32_t ctx, uint16_t cid)
{
	uint16_t next = rig.next_cid;

	rig.next_cid = cid;
	start(ctx, 0);
	rig.next_cid = next;
}

/* Of two entries with one id ABORT ends one: two that run, then one that runs and one that waits. */
static void test_same_id(void)
{
	struct nnpu_cqe cqe;
	unsigned int engines;
	uint64_t found[3];
	uint16_t cid;

	for (engines = 2; engines; engines--) {
		fresh(engines);
		rig_inject(&rig, NNPU_INJECT_JOB_STALL, engines);
		cid = start(1, 0);
		engine_of(cid);
		start_again(2, cid);
		if (engines == 2)
			ok(rig_poll(&rig, NNPU_EREG_BASE + NNPU_EREG_CURRENT, ~0u, current_of(1, cid)) &&
			   rig_poll(&rig, NNPU_EREG_BASE + NNPU_EREG_STRIDE + NNPU_EREG_CURRENT, ~0u,
				    current_of(1, cid)), "two jobs of one id run");
		queue_cmd(NNPU_ADMIN_ABORT, 0, 0, cid, &found[0]);
		ok(found[0] == 1 && completions(1, &cid, NNPU_STATUS_ABORTED), "ABORT ends one");
		queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, cid, &found[1]);
		nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
		ok(found[1] == 1 && !rig_peek(j[1].q, &cqe), "the other one is still there");
		queue_cmd(NNPU_ADMIN_ABORT, 0, 0, cid, &found[1]);
		ok(found[1] == 1 && completions(1, &cid, NNPU_STATUS_ABORTED), "until it is aborted, too");
		queue_cmd(NNPU_ADMIN_ABORT, 0, 0, cid, &found[2]);
		ok(!found[2], "then there is none");
		rig_close(&rig);
	}
}

/* RESET_QUEUE of one context: the other one's job, which has begun, goes on. */
static void test_reset_context(void)
{
	uint16_t deaf, behind, other, next;
	struct nnpu_cqe cqe;
	uint64_t found;
	int at;

	fresh(2);
	rig_inject(&rig, NNPU_INJECT_JOB_DEAF, 1);
	deaf = start(1, 0);
	at = engine_of(deaf);
	behind = start(1, 0);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	other = start(2, 0);
	ok(engine_of(other) == !at, "jobs of two contexts run");
	queue_cmd(NNPU_ADMIN_ABORT, 0, 0, deaf, NULL);
	nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
	ok(!rig_peek(j[1].q, &cqe), "JOB_DEAF: the job does not hear the abort");
	ok(queue_cmd(NNPU_ADMIN_RESET_QUEUE, NNPU_QUEUE_CMD_CONTEXT, 1, 0, NULL) == 0,
	   "RESET_QUEUE of its context");
	ok(!rig_peek(j[1].q, &cqe) &&
	   ereg((unsigned int)at, NNPU_EREG_CURRENT) != current_of(1, deaf), "it is gone, without completion");
	next = start(1, 0);
	ok(completions(1, &next, 0), "not so the queue: its rings go on");
	queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, behind, &found);
	ok(!found, "nor is the one behind it there");
	ok(queue_cmd(NNPU_ADMIN_ABORT, 0, 0, other, NULL) == 0 &&
	   completions(1, &other, NNPU_STATUS_ABORTED), "the other context's job was untouched");
	ok(queue_cmd(NNPU_ADMIN_RESET_QUEUE, NNPU_QUEUE_CMD_CONTEXT, 3, 0, NULL) ==
	   NNPU_STATUS_INVALID_CTX, "no such context");
	rig_close(&rig);
}

/* An abort makes a place for an entry that waits in the ring, and an engine fetches it. */
static void test_place(void)
{
	uint16_t stalled, waits, other;
	unsigned int i;

	fresh(2);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	stalled = start(1, 0);
	ok(engine_of(stalled) >= 0, "a job stalls");
	waits = start(1, 0);
	for (i = 2; i < j[1].q->sq_entries; i++)
		start(1, 0);
	/* The command fetches what has a place. */
	queue_cmd(NNPU_ADMIN_ABORT, NNPU_QUEUE_CMD_PROBE, 0, waits, NULL);
	other = start(2, 0);
	nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
	queue_cmd(NNPU_ADMIN_ABORT, 0, 0, waits, NULL);
	ok(completions(1, &waits, NNPU_STATUS_ABORTED) && completions(1, &other, 0),
	   "behind a full queue: it runs when there is a place");
	rig_close(&rig);
}

/* A job whose program does not exist is deaf, too, until its context's entries go. */
static void test_deaf_refused(void)
{
	struct nnpu_sqe_execute sqe;
	unsigned int destroy;
	uint16_t cid;

	for (destroy = 0; destroy < 2; destroy++) {
		fresh(2);
		rig_inject(&rig, NNPU_INJECT_JOB_DEAF, 1);
		sqe = entry(1, 0);
		sqe.program = htole32(9);
		cid = rig_push(&rig, j[1].q, (struct nnpu_sqe *)&sqe);
		rig_kick(&rig, j[1].q);
		ok(engine_of(cid) >= 0, "a job without program is deaf");
		nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
		if (destroy)
			ok(!rig_destroy_ctx(&rig, 1), "DESTROY_CTX ends it");
		else
			ok(!queue_cmd(NNPU_ADMIN_RESET_QUEUE, NNPU_QUEUE_CMD_CONTEXT, 1, 0, NULL),
			   "RESET_QUEUE of its context ends it");
		rig_close(&rig);
	}
}

/* Each engine shows its own job, and counts for that one only. */
static void test_engines(void)
{
	uint16_t stalled, slow;
	uint32_t count[2];
	unsigned int at;

	fresh(2);
	ok(!ereg(0, NNPU_EREG_CURRENT) && !ereg(1, NNPU_EREG_CURRENT) &&
	   !ereg(2, NNPU_EREG_CURRENT) && !ereg(2, NNPU_EREG_PROGRESS),
	   "engine windows: nothing runs, and there are two");
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	stalled = start(1, 0);
	at = (unsigned int)engine_of(stalled);
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	slow = start(2, 0);
	ok(engine_of(slow) == !at, "two jobs, two engines");
	count[0] = ereg(at, NNPU_EREG_PROGRESS);
	count[1] = ereg(!at, NNPU_EREG_PROGRESS);
	while (ereg(!at, NNPU_EREG_PROGRESS) == count[1])
		;
	ok(ereg(at, NNPU_EREG_PROGRESS) == count[0], "the one counts, the other does not");
	queue_cmd(NNPU_ADMIN_ABORT, 0, 0, stalled, NULL);
	ok(completions(1, &stalled, NNPU_STATUS_ABORTED) && completions(1, &slow, 0), "both end");
	ok(ereg(at, NNPU_EREG_PROGRESS) >= count[0], "PROGRESS does not begin anew");
	rig_close(&rig);
}

/* A context goes that has entries in many queues. Each queue has a vector of its own. */
static void test_vectors(void)
{
	unsigned int q, ended = 0, raised = 0;
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	uint16_t first;

	fresh(1);
	for (q = 2; q <= RIG_QUEUES; q++)
		rig_create_queue(&rig, (uint16_t)q, 0, NNPU_QUEUE_KERNEL, 16);
	/* The first one keeps the engine until all are announced; another one until they are fetched. */
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 2);
	first = start(2, NNPU_QUEUE_PRIORITY_MEDIUM);
	ok(rig_poll(&rig, NNPU_EREG_BASE + NNPU_EREG_CURRENT, UINT32_MAX, current_of(1, first)),
	   "a job stalls");
	for (q = 2; q <= RIG_QUEUES; q++) {
		sqe = entry(1, NNPU_QUEUE_PRIORITY_MEDIUM);
		rig_push(&rig, &rig.queues[q], (struct nnpu_sqe *)&sqe);
		rig_kick(&rig, &rig.queues[q]);
	}
	ok(!rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, 1, first) && rig_wait(&rig, &rig.queues[1], &cqe),
	   "and ends");
	ok(rig_poll(&rig, NNPU_EREG_BASE + NNPU_EREG_CURRENT, NNPU_EREG_CURRENT_RUNNING,
		    NNPU_EREG_CURRENT_RUNNING), "the next one stalls");
	ok(!rig_destroy_ctx(&rig, 1), "DESTROY_CTX of another one with entries in %u queues",
	   RIG_QUEUES - 1);
	for (q = 2; q <= RIG_QUEUES; q++) {
		ended += rig_wait(&rig, &rig.queues[q], &cqe);
		raised += !nnpu_inproc_wait_irq(rig.ip, q, 0, 5000000000ll);
	}
	ok(ended == RIG_QUEUES - 1 && raised == ended, "%u entries end, %u interrupts", ended, raised);
	rig_close(&rig);
}

int main(void)
{
	test_priorities();
	test_abort_context();
	test_probe();
	test_same_id();
	test_reset_context();
	test_place();
	test_deaf_refused();
	test_engines();
	test_vectors();
	return tap_done();
}
