// SPDX-License-Identifier: MIT
/*
 * A queue that is reset, destroyed, stopped or held runs nothing more: not what waits in the device,
 * and not what an engine is about to fetch.
 */
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "tap.h"
#include "watched_bus.h"

#define N		16u
#define KERNEL_QUEUE	1u
#define USER_QUEUE	2u
#define OTHER_QUEUE	3u
#define WAITING		6u

/* The bus holds up reads of the page of @gate until it is opened. */
static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static uint64_t gate;
static bool gate_reached;

static int gated_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	pthread_mutex_lock(&gate_lock);
	if (gate && addr >> NNPU_PAGE_SHIFT == gate >> NNPU_PAGE_SHIFT) {
		gate_reached = true;
		pthread_cond_broadcast(&gate_changed);
		while (gate)
			pthread_cond_wait(&gate_changed, &gate_lock);
	}
	pthread_mutex_unlock(&gate_lock);
	return bus_ops->dma_read(bus, addr, buf, len);
}

void watch_bus(struct nnpu_bus_ops *ops)
{
	ops->dma_read = gated_read;
}

static void gate_close(const void *page)
{
	pthread_mutex_lock(&gate_lock);
	gate = (uintptr_t)page;
	gate_reached = false;
	pthread_mutex_unlock(&gate_lock);
}

static void gate_wait(void)
{
	pthread_mutex_lock(&gate_lock);
	while (!gate_reached)
		pthread_cond_wait(&gate_changed, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

static void gate_open(void)
{
	pthread_mutex_lock(&gate_lock);
	gate = 0;
	pthread_cond_broadcast(&gate_changed);
	pthread_mutex_unlock(&gate_lock);
}

static struct rig rig;
/* Two contexts, whose jobs come by the kernel queue; the first one has two queues of its own. */
static struct job_rig j, k;

static void load_add(uint32_t ctx)
{
	struct image im;

	image_add(&im, N);
	rig_load(&rig, ctx, 1, im.bytes, im.size, NULL);
	image_free(&im);
}

static void fresh(unsigned int engines, uint64_t poll_ns)
{
	struct nnpu_inproc_config config;

	rig_config(&config);
	config.props.num_engines = engines;
	config.props.poll_ns = poll_ns;
	rig_open(&rig, &config);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, 1, KERNEL_QUEUE) ||
	    !job_rig_init(&k, &rig, 2, 4) || rig_create_queue(&rig, USER_QUEUE, 1, 0, 16) ||
	    rig_create_queue(&rig, OTHER_QUEUE, 1, 0, 16)) {
		printf("Bail out! the device does not come up\n");
		exit(1);
	}
	load_add(1);
	load_add(2);
	job_add_args(&j, N);
	job_add_args(&k, N);
}

static uint64_t jobs(void)
{
	return rig_read64(&rig, NNPU_REG_JOBS_LO);
}

static uint32_t reg(unsigned int qid, unsigned int offset)
{
	return rig_read(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + offset);
}

/* A job of @of's context by queue @qid. Its doorbell comes later. */
static uint16_t push(struct job_rig *of, unsigned int qid, unsigned int priority)
{
	struct nnpu_sqe_execute sqe;

	job_sqe(of, 1, &sqe);
	if (qid == KERNEL_QUEUE)
		sqe.flags |= (uint8_t)(priority << NNPU_EXEC_PRIORITY_SHIFT);
	else
		sqe.ctx = 0;
	return rig_push(&rig, &rig.queues[qid], (struct nnpu_sqe *)&sqe);
}

static bool runs(unsigned int qid, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT, ~0u,
			NNPU_QREG_CURRENT_RUNNING | cid);
}

/* A job that stalls runs, and others of both contexts and all priorities wait behind it. */
static bool run_and_wait(void)
{
	uint16_t cid;
	unsigned int i;

	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	cid = push(&j, KERNEL_QUEUE, 0);
	rig_kick(&rig, &rig.queues[KERNEL_QUEUE]);
	if (!runs(KERNEL_QUEUE, cid))
		return false;
	/* With one engine all of them wait: it is taken. */
	for (i = 0; i < WAITING; i++)
		push(i % 2 ? &k : &j, KERNEL_QUEUE, i / 2 % NNPU_QUEUE_PRIORITY_NUM);
	rig_kick(&rig, &rig.queues[KERNEL_QUEUE]);
	memset(j.operands + 2 * sizeof(float) * N, 0xee, sizeof(float) * N);
	memset(k.operands + 2 * sizeof(float) * N, 0xee, sizeof(float) * N);
	/* When this is through, the device has fetched the entries before it. */
	rig_queue_cmd(&rig, NNPU_ADMIN_ABORT, KERNEL_QUEUE, (uint16_t)(cid - 1));
	return reg(KERNEL_QUEUE, NNPU_QREG_STATE) == NNPU_QSTATE_RUNNING;
}

/* An output that nobody has written since run_and_wait(). */
static bool untouched(const struct job_rig *of)
{
	const uint8_t *out = of->operands + 2 * sizeof(float) * N;
	unsigned int i;

	for (i = 0; i < sizeof(float) * N; i++)
		if (out[i] != 0xee)
			return false;
	return true;
}

static void test_waiting(unsigned int opcode, const char *what)
{
	uint64_t before;
	bool waits;

	fresh(1, 0);
	before = jobs();
	waits = run_and_wait();
	ok(waits && !rig_queue_cmd(&rig, opcode, KERNEL_QUEUE, 0), "%s while %u jobs wait", what,
	   WAITING);
	ok(jobs() == before + 1, "%s: %llu job ended, the one that had begun", what,
	   (unsigned long long)(jobs() - before));
	ok(untouched(&j) && untouched(&k), "%s: no output was written", what);
	if (opcode == NNPU_ADMIN_RESET_QUEUE) {
		rig_queue_rewind(&rig.queues[KERNEL_QUEUE]);
		ok(!job_execute(&j, 1, NULL) && job_add_ok(&j, N), "then the queue works");
	}
	rig_close(&rig);
}

static void test_stopped(uint32_t doorbell, const char *what)
{
	struct nnpu_sqe_execute sqe;
	uint64_t before;
	bool waits;

	fresh(1, 0);
	if (doorbell == NNPU_DB_CQ_ARM) {
		/* Only a queue with armed interrupts has it. */
		rig_queue_cmd(&rig, NNPU_ADMIN_DESTROY_QUEUE, KERNEL_QUEUE, 0);
		rig_create_queue(&rig, KERNEL_QUEUE, 0, NNPU_QUEUE_KERNEL | NNPU_QUEUE_ARMED_IRQ, 16);
	}
	before = jobs();
	waits = run_and_wait();
	nnpu_inproc_doorbell(rig.ip, KERNEL_QUEUE, doorbell, 9999);
	ok(waits && reg(KERNEL_QUEUE, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED,
	   "a bad %s stops a queue with %u jobs that wait", what, WAITING);
	/* The engine is free for others. */
	job_sqe(&k, 1, &sqe);
	ok(!rig_run(&rig, k.q, &sqe, NULL), "%s: a job of another queue runs", what);
	nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
	ok(jobs() == before + 2 && untouched(&j),
	   "%s: of the stopped queue none does: %llu of 2 jobs ended", what,
	   (unsigned long long)(jobs() - before));
	ok(!rig_queue_cmd(&rig, NNPU_ADMIN_RESET_QUEUE, KERNEL_QUEUE, 0) && jobs() == before + 2,
	   "%s: nor when it is reset", what);
	rig_queue_rewind(&rig.queues[KERNEL_QUEUE]);
	ok(!job_execute(&j, 1, NULL) && job_add_ok(&j, N), "%s: then the queue works", what);
	rig_close(&rig);
}

/* The admin command is one that ends a queue while an engine, held up at the gate, fetches. */
static void test_fetching(unsigned int qid, struct nnpu_sqe *command, unsigned int expected,
			  const char *what)
{
	struct nnpu_cqe cqe;
	uint64_t before;

	fresh(1, 0);
	before = jobs();
	/* Whoever began would not end by itself. */
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	gate_close(rig.queues[qid].sq);
	push(&j, qid, 0);
	rig_kick(&rig, &rig.queues[qid]);
	gate_wait();
	if (command) {
		rig_push(&rig, &rig.admin, command);
		rig_kick(&rig, &rig.admin);
		if (expected == NNPU_STATUS_SUCCESS) {
			rig_poll(&rig, NNPU_QREG_BASE + NNPU_QREG_CURRENT,
				 NNPU_QREG_CURRENT_RUNNING, NNPU_QREG_CURRENT_RUNNING);
			/* It has said what it wants; it waits for the engine. */
			nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
		} else {
			ok(rig_wait(&rig, &rig.admin, &cqe) && rig_status(&cqe) == expected,
			   "%s during the fetch: status %u", what, rig_status(&cqe));
		}
	} else {
		nnpu_inproc_doorbell(rig.ip, qid, NNPU_DB_CQ_HEAD, 9999);
	}
	gate_open();
	if (command && expected == NNPU_STATUS_SUCCESS)
		ok(rig_wait(&rig, &rig.admin, &cqe) && !rig_status(&cqe),
		   "%s during the fetch completes", what);
	rig_poll(&rig, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT, ~0u, 0);
	nanosleep(&(struct timespec) { .tv_nsec = 20000000 }, NULL);
	ok(jobs() == before && !reg(qid, NNPU_QREG_CURRENT), "%s: the job does not begin", what);
	rig_close(&rig);
}

static void test_fetches(void)
{
	struct nnpu_sqe_queue reset = { .opcode = NNPU_ADMIN_RESET_QUEUE };
	struct nnpu_sqe_queue destroy = { .opcode = NNPU_ADMIN_DESTROY_QUEUE };
	struct nnpu_sqe destroy_ctx = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(1) };
	struct nnpu_sqe_suspend_queue suspend = {
		.opcode = NNPU_ADMIN_SUSPEND_QUEUE, .qid = htole16(USER_QUEUE),
	};
	unsigned int qid;

	for (qid = KERNEL_QUEUE; qid <= USER_QUEUE; qid++) {
		const char *of = qid == KERNEL_QUEUE ? "kernel queue" : "queue of a context";
		char text[64];

		reset.qid = htole16((uint16_t)qid);
		destroy.qid = htole16((uint16_t)qid);
		snprintf(text, sizeof(text), "%s, RESET_QUEUE", of);
		test_fetching(qid, (struct nnpu_sqe *)&reset, NNPU_STATUS_SUCCESS, text);
		snprintf(text, sizeof(text), "%s, DESTROY_QUEUE", of);
		test_fetching(qid, (struct nnpu_sqe *)&destroy, NNPU_STATUS_SUCCESS, text);
		snprintf(text, sizeof(text), "%s, a bad doorbell", of);
		test_fetching(qid, NULL, 0, text);
	}
	test_fetching(USER_QUEUE, &destroy_ctx, NNPU_STATUS_SUCCESS, "queue of a context, DESTROY_CTX");
	test_fetching(USER_QUEUE, (struct nnpu_sqe *)&suspend, NNPU_STATUS_BUSY,
		      "queue of a context, SUSPEND_QUEUE");
}

/* From the doorbell to the completion a queue is not IDLE, however engines look for work. */
static void test_state(uint64_t poll_ns)
{
	struct rig_queue *q;
	unsigned int i, idle = 0;
	struct nnpu_cqe cqe;

	fresh(1, poll_ns);
	q = &rig.queues[USER_QUEUE];
	for (i = 0; i < 500; i++) {
		struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
		uint32_t state;

		rig_push(&rig, q, &nop);
		rig_kick(&rig, q);
		state = reg(USER_QUEUE, NNPU_QREG_STATE);
		idle += state == NNPU_QSTATE_IDLE && !rig_peek(q, &cqe);
		rig_wait(&rig, q, &cqe);
	}
	ok(!idle, "engines poll for %llu ns: %u of 500 times IDLE between doorbell and completion",
	   (unsigned long long)poll_ns, idle);
	rig_close(&rig);
}

int main(void)
{
	test_waiting(NNPU_ADMIN_RESET_QUEUE, "RESET_QUEUE");
	test_waiting(NNPU_ADMIN_DESTROY_QUEUE, "DESTROY_QUEUE");
	test_stopped(NNPU_DB_SQ_TAIL, "SQ_TAIL");
	test_stopped(NNPU_DB_CQ_HEAD, "CQ_HEAD");
	test_stopped(NNPU_DB_CQ_ARM, "CQ_ARM");
	test_fetches();
	test_state(0);
	test_state(20000000);
	return tap_done();
}
