// SPDX-License-Identifier: MIT
/* Rings, phase, doorbells, faults, interrupts and arming. */
#include <endian.h>
#include <stdatomic.h>
#include <string.h>

#include "rig.h"
#include "tap.h"
#include "watched_bus.h"

static uint32_t state(struct rig *r, unsigned int qid, unsigned int reg)
{
	return rig_read(r, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + reg);
}

static void test_wrap(struct rig *r)
{
	struct rig_queue *q = &r->queues[1];
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	unsigned int i, good = 0;
	struct nnpu_cqe cqe;

	rig_create_queue(r, 1, 0, NNPU_QUEUE_KERNEL, 4);
	for (i = 0; i < 41; i++) {
		uint16_t cid = rig_push(r, q, &nop);

		rig_kick(r, q);
		good += rig_wait(r, q, &cqe) && rig_status(&cqe) == 0 &&
			le16toh(cqe.cid) == cid && le16toh(cqe.qid) == 1 &&
			le16toh(cqe.sq_head) == q->sq_tail;
	}
	ok(good == 41, "ten times round a ring of 4: ids, phase and sq_head right");
	for (i = 0; i < 3; i++)
		rig_push(r, q, &nop);
	rig_kick(r, q);
	for (i = 0, good = 0; i < 3; i++)
		good += rig_wait(r, q, &cqe) && rig_status(&cqe) == 0;
	ok(good == 3, "full ring with one doorbell");
	/* A completion can be seen a moment before its interrupt. */
	ok(!nnpu_inproc_wait_irq(r->ip, 1, 43, 60000000000ll) &&
	   nnpu_inproc_irq_count(r->ip, 1) == 44, "one interrupt per completion");
	ok(rig_read64(r, NNPU_REG_JOBS_LO) == 0, "NOP is no job");
	rig_queue_cmd(r, NNPU_ADMIN_DESTROY_QUEUE, 1, 0);
}

static void test_opcodes(struct rig *r)
{
	struct rig_queue *q = &r->queues[1];
	struct nnpu_sqe c = { .opcode = NNPU_IO_NUM };

	rig_create_queue(r, 1, 0, NNPU_QUEUE_KERNEL, 16);
	ok(rig_run(r, q, &c, NULL) == NNPU_STATUS_INVALID_OPCODE, "the first opcode that does not exist");
	c.opcode = 0xff;
	ok(rig_run(r, q, &c, NULL) == NNPU_STATUS_INVALID_OPCODE, "opcode 0xff");
	c.opcode = NNPU_IO_NOP;
	c.ctx = htole32(1);
	ok(rig_run(r, q, &c, NULL) == NNPU_STATUS_INVALID_FIELD, "NOP with a context");
	c.ctx = 0;
	c.body[55] = 1;
	ok(rig_run(r, q, &c, NULL) == NNPU_STATUS_INVALID_FIELD, "NOP with a body");
	rig_queue_cmd(r, NNPU_ADMIN_DESTROY_QUEUE, 1, 0);
}

/* A bad doorbell stops the queue, RESET_QUEUE brings it back. */
static void bad_doorbell(struct rig *r, uint32_t reg, uint32_t value, const char *what)
{
	struct rig_queue *q = &r->queues[1];
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	uint64_t irqs;

	rig_enable(r);
	rig_create_queue(r, 1, 0, NNPU_QUEUE_KERNEL | NNPU_QUEUE_ARMED_IRQ, 4);
	irqs = nnpu_inproc_irq_count(r->ip, 1);
	nnpu_inproc_doorbell(r->ip, 1, reg, value);
	ok(state(r, 1, NNPU_QREG_STATE) == NNPU_QSTATE_STOPPED &&
	   state(r, 1, NNPU_QREG_ERROR) == NNPU_STATUS_INVALID_FIELD, "%s: STOPPED", what);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_DOORBELL &&
	   rig_read(r, NNPU_REG_FAULT_INFO) == 1, "%s: recorded", what);
	ok(nnpu_inproc_irq_count(r->ip, 1) == irqs + 1, "%s: interrupt", what);
	ok(rig_queue_cmd(r, NNPU_ADMIN_RESET_QUEUE, 1, 0) == 0, "%s: RESET_QUEUE", what);
	rig_queue_rewind(q);
	ok(state(r, 1, NNPU_QREG_STATE) == NNPU_QSTATE_IDLE && rig_run(r, q, &nop, NULL) == 0,
	   "%s: works again", what);
}

static void test_doorbells(struct rig *r)
{
	bad_doorbell(r, NNPU_DB_SQ_TAIL, 4, "tail above the ring");
	bad_doorbell(r, NNPU_DB_SQ_TAIL, 0xffffffff, "tail all ones");
	bad_doorbell(r, NNPU_DB_CQ_HEAD, 1, "head beyond the completions");
	bad_doorbell(r, NNPU_DB_CQ_HEAD, 4, "head above the ring");
	bad_doorbell(r, NNPU_DB_CQ_ARM, 4, "arm above the ring");

	rig_enable(r);
	nnpu_inproc_doorbell(r->ip, 5, NNPU_DB_SQ_TAIL, 0);
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_DOORBELL &&
	   rig_read(r, NNPU_REG_FAULT_INFO) == 5, "doorbell of an absent queue is recorded");
	nnpu_inproc_doorbell(r->ip, 15, NNPU_DB_SQ_TAIL, 0);
	nnpu_inproc_doorbell(r->ip, 0, 0x40, 1);
	ok(rig_read(r, NNPU_REG_STATUS) == NNPU_STATUS_REG_READY, "the device goes on");
	nnpu_inproc_doorbell(r->ip, 0, NNPU_DB_SQ_TAIL, 1000);
	ok(rig_read(r, NNPU_REG_STATUS) ==
	   (NNPU_STATUS_REG_FATAL | NNPU_STATUS_INVALID_FIELD << 8), "on the admin queue: FATAL");
	ok(rig_read(r, NNPU_REG_FAULT_INFO) == 5, "the first fault stays recorded");
}

static void test_unreadable(struct rig *r)
{
	static uint8_t page[4096] __attribute__((aligned(4096)));
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = NNPU_QUEUE_KERNEL,
		.qid = htole16(2),
		.sq_entries = htole32(16),
		.cq_entries = htole32(16),
	};
	void *ring = rig_alloc(r, 4096);

	rig_enable(r);
	c.sq_addr = rig_addr(page);
	c.cq_addr = rig_addr(ring);
	rig_admin(r, &c, NULL);
	nnpu_inproc_doorbell(r->ip, 2, NNPU_DB_SQ_TAIL, 1);
	ok(rig_poll(r, NNPU_QREG_BASE + 2 * NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_STOPPED) &&
	   state(r, 2, NNPU_QREG_ERROR) == NNPU_STATUS_DMA_ERROR, "unreadable entry: STOPPED");
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_SQ_READ, "FAULT_SQ_READ");
	ok(rig_queue_cmd(r, NNPU_ADMIN_DESTROY_QUEUE, 2, 0) == 0, "can be destroyed");

	rig_enable(r);
	c.sq_addr = rig_addr(ring);
	c.cq_addr = rig_addr(page);
	memset(ring, 0, 4096);
	rig_admin(r, &c, NULL);
	nnpu_inproc_doorbell(r->ip, 2, NNPU_DB_SQ_TAIL, 1);
	ok(rig_poll(r, NNPU_QREG_BASE + 2 * NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_STOPPED) &&
	   state(r, 2, NNPU_QREG_ERROR) == NNPU_STATUS_DMA_ERROR, "unwritable completion: STOPPED");
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_CQ_WRITE, "FAULT_CQ_WRITE");
}

static void test_full(struct rig *r)
{
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	struct rig_queue *q = &r->queues[1];
	unsigned int i;

	rig_enable(r);
	rig_create_queue(r, 1, 0, NNPU_QUEUE_KERNEL, 4);
	/* Four commands, and nobody reads completions. */
	for (i = 0; i < 3; i++)
		rig_push(r, q, &nop);
	rig_kick(r, q);
	rig_poll(r, NNPU_QREG_BASE + NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_IDLE);
	while (le16toh(__atomic_load_n(&q->cq[2].status, __ATOMIC_ACQUIRE)) != NNPU_CQE_PHASE)
		;
	rig_push(r, q, &nop);
	rig_kick(r, q);
	ok(rig_poll(r, NNPU_QREG_BASE + NNPU_QREG_STRIDE, ~0u, NNPU_QSTATE_STOPPED) &&
	   state(r, 1, NNPU_QREG_ERROR) == NNPU_STATUS_NO_RESOURCES, "no room: STOPPED");
	ok(rig_read(r, NNPU_REG_FAULT_STATUS) == NNPU_FAULT_CQ_FULL, "FAULT_CQ_FULL");
	ok(!q->cq[3].status, "no completion beyond the room");
}

static void test_arm(struct rig *r)
{
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	struct rig_queue *q = &r->queues[2];
	struct nnpu_cqe cqe;
	uint64_t before;

	rig_enable(r);
	rig_create_queue(r, 2, 0, NNPU_QUEUE_KERNEL | NNPU_QUEUE_ARMED_IRQ, 8);
	before = nnpu_inproc_irq_count(r->ip, 2);
	ok(rig_run(r, q, &nop, NULL) == 0, "command on a queue that is not armed");
	/* The next command starts later than the interrupt of the first one would have come. */
	ok(rig_run(r, q, &nop, NULL) == 0 && nnpu_inproc_irq_count(r->ip, 2) == before,
	   "no interrupt");
	nnpu_inproc_doorbell(r->ip, 2, NNPU_DB_CQ_ARM, q->cq_head);
	rig_push(r, q, &nop);
	rig_kick(r, q);
	ok(nnpu_inproc_wait_irq(r->ip, 2, before, 60000000000ll) == 0, "armed: interrupt");
	ok(rig_wait(r, q, &cqe), "completion");
	before = nnpu_inproc_irq_count(r->ip, 2);
	rig_run(r, q, &nop, NULL);
	rig_run(r, q, &nop, NULL);
	ok(nnpu_inproc_irq_count(r->ip, 2) == before, "one interrupt uses the request up");
	/* The ring already has a completion behind the head that is given. */
	nnpu_inproc_doorbell(r->ip, 2, NNPU_DB_CQ_ARM, (q->cq_head + 7) % 8);
	ok(nnpu_inproc_irq_count(r->ip, 2) == before + 1, "armed too late: interrupt at once");
}

/* Between device and bus: a clock that stands still where a test says so, and alarms. */
static atomic_bool has_alarms;
static _Atomic uint64_t clock_ns;	/* 0: that of the bus */
static _Atomic uint64_t alarm_ns;
static atomic_uint alarms;

static uint64_t now_ns(void *bus)
{
	uint64_t now = atomic_load(&clock_ns);

	return now ? now : bus_ops->now_ns(bus);
}

static void set_alarm(void *bus, uint64_t ns)
{
	(void)bus;
	atomic_store(&alarm_ns, ns);
	atomic_fetch_add(&alarms, 1);
}

void watch_bus(struct nnpu_bus_ops *ops)
{
	ops->now_ns = now_ns;
	ops->set_alarm = atomic_load(&has_alarms) ? set_alarm : NULL;
}

/* CQ_ARM behind the tail: the interrupt is due. */
static void ask(struct rig *r, unsigned int qid, unsigned int times)
{
	while (times--)
		nnpu_inproc_doorbell(r->ip, qid, NNPU_DB_CQ_ARM, (r->queues[qid].cq_head + 7) % 8);
}

static uint64_t irqs_since(struct rig *r, unsigned int vector, uint64_t before)
{
	return nnpu_inproc_irq_count(r->ip, vector) - before;
}

#define US	1000ull

static void test_arm_storm(void)
{
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	struct nnpu_device *dev;
	uint64_t before, other;
	unsigned int i;
	struct rig r;

	atomic_store(&has_alarms, true);
	rig_open(&r, NULL);
	dev = nnpu_inproc_device(r.ip);
	rig_enable(&r);
	for (i = 2; i < 4; i++) {
		rig_create_queue(&r, i, 0, NNPU_QUEUE_KERNEL | NNPU_QUEUE_ARMED_IRQ, 8);
		rig_run(&r, &r.queues[i], &nop, NULL);
	}
	atomic_store(&clock_ns, now_ns(r.ip) + 1000 * US);
	before = nnpu_inproc_irq_count(r.ip, 2);
	other = nnpu_inproc_irq_count(r.ip, 3);
	ask(&r, 2, 1000);
	ok(irqs_since(&r, 2, before) == 1, "1000 requests that are due at the same time: 1 interrupt");
	ok(atomic_load(&alarms) == 1 && atomic_load(&alarm_ns) == atomic_load(&clock_ns) + 50 * US,
	   "and one that is put off for 50 us");
	atomic_fetch_add(&clock_ns, 49 * US);
	ask(&r, 2, 1);
	ok(irqs_since(&r, 2, before) == 1 && atomic_load(&alarms) == 1, "49 us later: not yet");
	ask(&r, 3, 1);
	ok(irqs_since(&r, 3, other) == 1, "another vector: at once");
	nnpu_inproc_doorbell(r.ip, 2, NNPU_DB_CQ_ARM, r.queues[2].cq_head);
	rig_run(&r, &r.queues[2], &nop, NULL);
	ok(nnpu_inproc_wait_irq(r.ip, 2, before + 1, 60000000000ll) == 0,
	   "an interrupt of a completion is not put off");
	atomic_fetch_add(&clock_ns, 1 * US);
	nnpu_device_alarm(dev);
	ok(irqs_since(&r, 2, before) == 3, "what was put off comes with the alarm");
	nnpu_device_alarm(dev);
	ok(irqs_since(&r, 2, before) == 3 && irqs_since(&r, 3, other) == 1, "once");
	/* One vector is late when the alarm of another one comes, and has its own alarm. */
	atomic_fetch_add(&clock_ns, 50 * US);
	before = nnpu_inproc_irq_count(r.ip, 2);
	other = nnpu_inproc_irq_count(r.ip, 3);
	ask(&r, 2, 2);
	atomic_fetch_add(&clock_ns, 30 * US);
	ask(&r, 3, 2);
	atomic_fetch_add(&clock_ns, 20 * US);
	nnpu_device_alarm(dev);
	ok(irqs_since(&r, 2, before) == 2 && irqs_since(&r, 3, other) == 1 &&
	   atomic_load(&alarm_ns) == atomic_load(&clock_ns) + 30 * US, "each vector for itself");
	atomic_fetch_add(&clock_ns, 30 * US);
	nnpu_device_alarm(dev);
	ok(irqs_since(&r, 2, before) == 2 && irqs_since(&r, 3, other) == 2, "and none is forgotten");
	before = nnpu_inproc_irq_count(r.ip, 2) - 3;
	for (i = 0; i < 100; i++) {
		atomic_fetch_add(&clock_ns, 10 * US);
		ask(&r, 2, 10);
		if (atomic_load(&alarm_ns) <= atomic_load(&clock_ns) && i % 5 == 4)
			nnpu_device_alarm(dev);
	}
	ok(irqs_since(&r, 2, before) >= 3 + 19 && irqs_since(&r, 2, before) <= 3 + 21,
	   "1000 requests in a millisecond: %u interrupts, about 20",
	   (unsigned int)irqs_since(&r, 2, before) - 3);
	atomic_fetch_add(&clock_ns, 50 * US);
	ask(&r, 2, 2);
	before = nnpu_inproc_irq_count(r.ip, 2);
	atomic_store(&clock_ns, 0);
	rig_reset(&r);
	nnpu_device_alarm(dev);
	ok(irqs_since(&r, 2, before) == 0, "a reset drops what is put off");
	rig_close(&r);
	atomic_store(&has_alarms, false);
}

static void test_eventfd(struct rig *r)
{
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	int fd = nnpu_inproc_irq_eventfd(r->ip, 3);

	rig_create_queue(r, 3, 0, NNPU_QUEUE_KERNEL, 8);
	ok(fd >= 0 && fd == nnpu_inproc_irq_eventfd(r->ip, 3), "one eventfd per vector");
	rig_run(r, &r->queues[3], &nop, NULL);
	ok(nnpu_inproc_wait_irq(r->ip, 3, 0, -1) == 0, "wait without limit");
	ok(nnpu_inproc_wait_irq(r->ip, 3, 1, 0) == -110, "wait of nothing times out");
	ok(nnpu_inproc_wait_irq(r->ip, 99, 0, 0) == -22 && nnpu_inproc_irq_eventfd(r->ip, 99) == -22,
	   "vector that does not exist");
}

/* Jobs of busy queues take turns: no queue is served twice before all others. */
static void test_round_robin(struct rig *r)
{
	struct nnpu_sqe nop = { .opcode = NNPU_IO_NOP };
	unsigned int i, n, good = 0;
	struct nnpu_cqe cqe;

	rig_enable(r);
	for (n = 1; n <= 4; n++) {
		rig_create_queue(r, (uint16_t)n, 0, NNPU_QUEUE_KERNEL, 64);
		for (i = 0; i < 50; i++)
			rig_push(r, &r->queues[n], &nop);
	}
	for (n = 1; n <= 4; n++)
		rig_kick(r, &r->queues[n]);
	for (n = 1; n <= 4; n++)
		for (i = 0; i < 50; i++)
			good += rig_wait(r, &r->queues[n], &cqe) && rig_status(&cqe) == 0;
	ok(good == 200, "four queues at once: 200 completions in order");
}

int main(void)
{
	struct rig r;

	rig_open(&r, NULL);
	rig_enable(&r);
	test_wrap(&r);
	test_opcodes(&r);
	test_doorbells(&r);
	test_unreadable(&r);
	test_full(&r);
	test_arm(&r);
	test_eventfd(&r);
	test_round_robin(&r);
	rig_close(&r);
	test_arm_storm();
	return tap_done();
}
