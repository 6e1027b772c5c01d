// SPDX-License-Identifier: MIT
/*
 * The order of jobs of different queues, and performance levels. The bus has a clock of its
 * own: when an entry is about to complete, the clock advances by what the test says an entry of
 * that queue costs. So no result depends on the speed of the machine.
 */
#include <endian.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/device_model.h"
#include "nnpu_hw.h"
#include "tap.h"

#define QUEUES		9u
#define ENTRIES		2048u
#define MS		1000000ull
#define MAX_SERVED	(QUEUES * ENTRIES)

static struct nnpu_device *dev;
static struct nnpu_sqe admin_sq[8] __attribute__((aligned(4096)));
static struct nnpu_cqe admin_cq[8] __attribute__((aligned(4096)));
static uint32_t admin_tail;
static struct nnpu_sqe sq[QUEUES + 1][ENTRIES] __attribute__((aligned(4096)));
static struct nnpu_cqe cq[QUEUES + 1][ENTRIES] __attribute__((aligned(4096)));
static struct nnpu_slot_entry slots[4] __attribute__((aligned(4096)));
static uint32_t tails[QUEUES + 1];

static _Atomic uint64_t device_clock;
static _Atomic uint64_t clock_reads;
static _Atomic uint64_t cost[QUEUES + 1];
/* Queues in the order their entries were served. */
static unsigned int order[MAX_SERVED];
static atomic_uint served;
/* The queue whose engine waits for @gate behind its next completion, 0: none. */
static atomic_uint gated;
static atomic_bool at_gate;
static sem_t gate;
static _Thread_local bool stands;	/* at the interrupt, which is raised without locks */

/* Accesses to submission rings, and where in them memory is bad from; NULL: nowhere. */
static atomic_uint ring_reads;
static _Atomic(const void *) bad_from;

/* Bus: addresses are pointers. */

/* May @len bytes be read? */
static bool is_readable(uint64_t addr, size_t len)
{
	const uint64_t bad = (uintptr_t)atomic_load(&bad_from);

	if (addr < (uintptr_t)sq || addr - (uintptr_t)sq >= sizeof(sq))
		return true;
	atomic_fetch_add(&ring_reads, 1);
	return !bad || addr + len <= bad;
}

static void entry_served(uint64_t addr)
{
	uint64_t offset = addr - (uintptr_t)cq;
	unsigned int qid;

	if (addr < (uintptr_t)cq || offset >= sizeof(cq))
		return;
	qid = (unsigned int)(offset / sizeof(cq[0]));
	order[atomic_load(&served)] = qid;
	atomic_fetch_add(&served, 1);
	atomic_fetch_add(&device_clock, atomic_load(&cost[qid]));
	if (atomic_load(&gated) != qid)
		return;
	atomic_store(&gated, 0);
	stands = true;
}

static int bus_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	(void)bus;
	if (!is_readable(addr, len))
		return -1;
	memcpy(buf, (const void *)(uintptr_t)addr, len);
	return 0;
}

static int bus_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	(void)bus;
	memcpy((void *)(uintptr_t)addr, buf, len);
	return 0;
}

static int bus_publish(void *bus, uint64_t addr, const void *buf, size_t len)
{
	const struct nnpu_cqe *from = buf;
	struct nnpu_cqe *to = (void *)(uintptr_t)addr;

	(void)bus;
	(void)len;
	entry_served(addr);
	memcpy(to, from, offsetof(struct nnpu_cqe, status));
	__atomic_store_n(&to->status, from->status, __ATOMIC_RELEASE);
	return 0;
}

static void bus_raise_irq(void *bus, unsigned int vector)
{
	(void)bus;
	(void)vector;
	if (!stands)
		return;
	stands = false;
	atomic_store(&at_gate, true);
	sem_wait(&gate);
}

static uint64_t bus_now_ns(void *bus)
{
	(void)bus;
	atomic_fetch_add(&clock_reads, 1);
	return atomic_load(&device_clock);
}

static const struct nnpu_bus_ops bus_ops = {
	.dma_read = bus_read,
	.dma_write = bus_write,
	.dma_publish = bus_publish,
	.raise_irq = bus_raise_irq,
	.now_ns = bus_now_ns,
};

/* A small driver. */

static void pause_ms(unsigned int ms)
{
	nanosleep(&(struct timespec) { .tv_nsec = ms * 1000000l }, NULL);
}

static uint16_t completion_status(const struct nnpu_cqe *cqe)
{
	return le16toh(__atomic_load_n(&cqe->status, __ATOMIC_ACQUIRE));
}

static void hang_check(unsigned int *waited)
{
	pause_ms(1);
	if (++*waited < 60000)
		return;
	printf("Bail out! the device hangs\n");
	exit(1);
}

static int admin(void *entry)
{
	struct nnpu_cqe *cqe = &admin_cq[admin_tail % 8];
	uint16_t phase = admin_tail / 8 % 2 ? 0 : NNPU_CQE_PHASE;
	unsigned int waited = 0;

	memcpy(&admin_sq[admin_tail % 8], entry, NNPU_SQE_SIZE);
	admin_tail++;
	nnpu_device_doorbell_write(dev, NNPU_DB_SQ_TAIL, admin_tail % 8, 4);
	while ((completion_status(cqe) & NNPU_CQE_PHASE) != phase)
		hang_check(&waited);
	nnpu_device_doorbell_write(dev, NNPU_DB_CQ_HEAD, admin_tail % 8, 4);
	return completion_status(cqe) >> NNPU_CQE_STATUS_SHIFT;
}

static int set_perf(unsigned int level)
{
	struct nnpu_sqe_set_perf c = { .opcode = NNPU_ADMIN_SET_PERF, .level = htole32(level) };

	return admin(&c);
}

static uint32_t reg(uint32_t offset)
{
	return nnpu_device_reg_read(dev, offset, 4);
}

static void write_reg(uint32_t offset, uint64_t value)
{
	nnpu_device_reg_write(dev, offset, (uint32_t)value, 4);
}

static void write_pair(uint32_t offset, const void *p)
{
	write_reg(offset, (uintptr_t)p);
	write_reg(offset + 4, (uint64_t)(uintptr_t)p >> 32);
}

/* For contexts of the next device; 0: defaults. */
static uint16_t weights[QUEUES + 1], classes[QUEUES + 1];
static uint32_t groups[QUEUES + 1];

static void create_ctx(uint32_t id)
{
	struct nnpu_sqe_create_ctx c = {
		.opcode = NNPU_ADMIN_CREATE_CTX,
		.ctx = htole32(id),
		.num_slots = htole32(4),
		.slot_table = htole64((uintptr_t)slots),
		.weight = htole16(weights[id]),
		.sched_class = htole16(classes[id]),
		.group = htole32(groups[id]),
	};

	if (admin(&c)) {
		printf("Bail out! CREATE_CTX failed\n");
		exit(1);
	}
}

/* @ctx 0: a kernel queue. */
static void create_queue(unsigned int qid, unsigned int ctx, unsigned int priority)
{
	struct nnpu_sqe_create_queue c = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE,
		.flags = ctx ? 0 : NNPU_QUEUE_KERNEL,
		.ctx = htole32(ctx),
		.qid = htole16((uint16_t)qid),
		.sq_entries = htole32(ENTRIES),
		.cq_entries = htole32(ENTRIES),
		.priority = htole32(priority),
		.sq_addr = htole64((uintptr_t)sq[qid]),
		.cq_addr = htole64((uintptr_t)cq[qid]),
	};

	if (admin(&c)) {
		printf("Bail out! CREATE_QUEUE failed\n");
		exit(1);
	}
	atomic_store(&cost[qid], MS);
}

/* A device with queues of these priorities and contexts, one digit each, from queue 1 on. */
static void start_in(const char *priorities, const char *contexts)
{
	struct nnpu_device_props props;
	char error[128];
	unsigned int i;

	memset(admin_cq, 0, sizeof(admin_cq));
	memset(sq, 0, sizeof(sq));
	memset(cq, 0, sizeof(cq));
	memset(tails, 0, sizeof(tails));
	admin_tail = 0;
	atomic_store(&served, 0);
	atomic_store(&gated, 0);
	atomic_store(&at_gate, false);
	atomic_store(&ring_reads, 0);
	atomic_store(&bad_from, NULL);
	sem_init(&gate, 0, 0);
	nnpu_device_default_props(&props);
	props.num_queues = QUEUES;
	dev = nnpu_device_create(&props, &bus_ops, NULL, error, sizeof(error));
	if (!dev) {
		printf("Bail out! %s\n", error);
		exit(1);
	}
	write_reg(NNPU_REG_ADMIN_SIZE, 7 | 7 << 16);
	write_pair(NNPU_REG_ADMIN_SQ_LO, admin_sq);
	write_pair(NNPU_REG_ADMIN_CQ_LO, admin_cq);
	write_reg(NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	for (i = 1; i <= QUEUES; i++)
		if (i <= 2 || memchr(contexts, (int)('0' + i), strlen(priorities)))
			create_ctx(i);
	for (i = 1; *priorities; i++, priorities++)
		create_queue(i, (unsigned int)(contexts[i - 1] - '0'),
			     (unsigned int)(*priorities - '0'));
}

/* The same in one context. */
static void start(const char *priorities)
{
	start_in(priorities, "111111");
}

static void stop(void)
{
	nnpu_device_destroy(dev);
	sem_destroy(&gate);
}

/* @count more entries (NOP) for queue @qid. */
static void ring(unsigned int qid, unsigned int count)
{
	tails[qid] += count;
	nnpu_device_doorbell_write(dev, ((uint64_t)qid << NNPU_PAGE_SHIFT) + NNPU_DB_SQ_TAIL,
				   tails[qid] % ENTRIES, 4);
}

/* Make the engine wait inside an entry of queue @qid. */
static void hold_at(unsigned int qid)
{
	unsigned int waited = 0;

	atomic_store(&gated, qid);
	ring(qid, 1);
	while (!atomic_load(&at_gate))
		hang_check(&waited);
	atomic_store(&at_gate, false);
}

static void let_go(void)
{
	sem_post(&gate);
}

static void wait_served(unsigned int count)
{
	unsigned int i, waited = 0;

	while (atomic_load(&served) < count)
		hang_check(&waited);
	/* And completed. */
	for (i = 1; i <= QUEUES; i++)
		while (tails[i] && !(completion_status(&cq[i][tails[i] - 1]) & NNPU_CQE_PHASE))
			hang_check(&waited);
}

/* Do the entries from @first on have the order of @expected, one digit per entry? */
static bool order_is(unsigned int first, const char *expected)
{
	for (; *expected; expected++, first++)
		if (order[first] != (unsigned int)(*expected - '0'))
			return false;
	return true;
}

/* Tests. */

static void test_levels(void)
{
	/* Queue 1 low, 2 low, 3 medium, 4 high. */
	start("0012");
	hold_at(1);
	ring(2, 3);
	ring(3, 3);
	ring(1, 2);
	ring(4, 3);
	let_go();
	wait_served(12);
	ok(order_is(0, "1444333"), "high before medium, whatever came first");
	/* Queue 1 has used the device already. */
	ok(order_is(7, "21212"), "then the low ones");
	hold_at(2);
	ring(2, 10);
	ring(4, 1);
	let_go();
	wait_served(24);
	ok(order_is(12, "242"), "a high queue waits for the job that runs, no more");
	stop();
}

static void test_starvation(void)
{
	static const char period[] = "333333333333333321";
	unsigned int i, good = 0;

	/* Queue 1 low, 2 medium, 3 high. */
	start("012");
	hold_at(3);
	ring(1, 20);
	ring(2, 20);
	ring(3, 200);
	let_go();
	wait_served(241);
	for (i = 0; i < 10; i++)
		good += order_is(1 + i * 18, period);
	ok(good == 10, "after 16 high jobs one medium and one low: %u of 10", good);
	stop();

	start("11");
	hold_at(1);
	ring(1, 40);
	ring(2, 40);
	let_go();
	wait_served(81);
	for (i = 1, good = 0; i < 80; i++)
		good += order[i] != order[i + 1];
	ok(good >= 78, "equal queues with equal jobs take turns: %u of 79", good);
	stop();
}

static void test_share(void)
{
	uint64_t used[4] = { 0 }, least, most;
	unsigned int i, q;

	start("111");
	atomic_store(&cost[1], 7 * MS);
	atomic_store(&cost[2], 3 * MS);
	atomic_store(&cost[3], 1 * MS);
	hold_at(1);
	ring(1, 200);
	ring(2, 500);
	ring(3, 1500);
	let_go();
	wait_served(2201);
	/* Up to the point where the first of them had no entry left. */
	for (i = 0; used[1] < 1000 * MS && i < 2201; i++)
		used[order[i]] += atomic_load(&cost[order[i]]);
	least = used[1];
	most = used[1];
	for (q = 2; q <= 3; q++) {
		least = used[q] < least ? used[q] : least;
		most = used[q] > most ? used[q] : most;
	}
	tap_note("device time of jobs of 7, 3 and 1 ms: %u, %u, %u ms",
		 (unsigned int)(used[1] / MS), (unsigned int)(used[2] / MS),
		 (unsigned int)(used[3] / MS));
	ok((most - least) * 20 <= most, "equal queues with unequal jobs share within 5 %%");
	stop();
}

/* How many of @count entries from @first on are of queue @qid. */
static unsigned int entries_of(unsigned int qid, unsigned int first, unsigned int count)
{
	unsigned int i, n = 0;

	for (i = first; i < first + count; i++)
		n += order[i] == qid;
	return n;
}

/* The longest run of one queue among @count entries from @first on. */
static unsigned int longest_run(unsigned int first, unsigned int count)
{
	unsigned int i, run = 1, longest = 1;

	for (i = first + 1; i < first + count; i++) {
		run = order[i] == order[i - 1] ? run + 1 : 1;
		longest = run > longest ? run : longest;
	}
	return longest;
}

/* Contexts share the engine, however many queues they have and of whatever priority. */
static void test_contexts(void)
{
	unsigned int mine;

	/* Queue 1, low, has a context of its own; 2 to 4 are high, 5 is low, in another one. */
	start_in("02220", "12222");
	hold_at(1);
	ring(1, 200);
	ring(5, 100);
	ring(2, 100);
	ring(3, 100);
	ring(4, 100);
	let_go();
	wait_served(601);
	mine = entries_of(1, 1, 200);
	ok(mine >= 98 && mine <= 102, "one low queue against three high ones: %u of 200", mine);
	ok(entries_of(5, 1, 200) >= 4 && entries_of(5, 1, 200) <= 7,
	   "a low queue has one turn after 16 of its own context: %u of 200",
	   entries_of(5, 1, 200));
	stop();

	/* One entry of queue 1 takes as long as ten of queue 2. */
	start_in("11", "12");
	atomic_store(&cost[1], 10 * MS);
	hold_at(2);
	ring(1, 100);
	ring(2, 500);
	let_go();
	wait_served(601);
	mine = entries_of(1, 1, 110);
	ok(mine >= 9 && mine <= 11, "long entries against short ones: %u of 110", mine);
	stop();
}

/* Whatever path jobs come by: a kernel queue, a queue of the context, seven of them. */
static void test_paths(void)
{
	unsigned int i, n[3] = { 0 };

	start_in("011111111", "023333333");
	/* Jobs of context 1. There is no such program, so they end as soon as they have begun. */
	for (i = 0; i < ENTRIES; i++) {
		struct nnpu_sqe_execute e = {
			.opcode = NNPU_IO_EXECUTE, .ctx = htole32(1), .program = htole32(1),
		};

		memcpy(&sq[1][i], &e, sizeof(e));
	}
	hold_at(2);
	ring(1, 400);
	ring(2, 400);
	for (i = 3; i <= 9; i++)
		ring(i, 60);
	let_go();
	wait_served(1221);
	for (i = 1; i < 301; i++)
		n[order[i] < 3 ? order[i] - 1 : 2]++;
	for (i = 0; i < 3; i++)
		ok(n[i] >= 90 && n[i] <= 110, "%s: %u of 300",
		   i == 0 ? "jobs in a kernel queue" : i == 1 ? "in a queue of the context" :
		   "in seven of them", n[i]);
	stop();
}

static void test_weights(void)
{
	unsigned int mine;

	weights[2] = 3 * NNPU_CTX_WEIGHT_DEFAULT;
	start_in("11", "12");
	hold_at(2);
	ring(1, 200);
	ring(2, 300);
	let_go();
	wait_served(501);
	mine = entries_of(1, 1, 200);
	ok(mine >= 49 && mine <= 51, "weights 1 and 3: %u of 200", mine);
	stop();

	weights[1] = 1;
	weights[2] = NNPU_CTX_WEIGHT_MAX;
	start_in("11", "12");
	hold_at(2);
	ring(1, 10);
	ring(2, 1500);
	let_go();
	wait_served(1511);
	mine = entries_of(1, 1, 1285);
	ok(mine >= 4 && mine <= 6, "weights 1 and 256: %u of 1285", mine);
	/* What the weight is worth while nobody waits earns nothing. */
	hold_at(2);
	ring(1, 10);
	ring(2, 10);
	let_go();
	wait_served(1532);
	mine = entries_of(1, 1512, 10);
	ok(mine <= 2, "and afterwards: %u of 10", mine);
	stop();
	memset(weights, 0, sizeof(weights));
}

static void test_classes(void)
{
	unsigned int urgent;

	/* The context of queue 1 has the higher class, those of 2 and 3 a normal one. */
	classes[1] = NNPU_CTX_CLASS_URGENT;
	weights[2] = NNPU_CTX_WEIGHT_MAX;
	start_in("021", "122");
	hold_at(3);
	ring(3, 50);
	ring(2, 50);
	ring(1, 170);
	let_go();
	wait_served(271);
	urgent = entries_of(1, 1, 170);
	ok(urgent == 160 && longest_run(1, 170) == 16,
	   "a higher class comes first, but for one turn in 17: %u of 170", urgent);
	ring(2, 100);
	wait_served(371);
	hold_at(2);
	ring(2, 20);
	ring(1, 10);
	let_go();
	wait_served(402);
	ok(entries_of(1, 372, 10) == 10, "at the end of the entry that runs");
	stop();
	memset(classes, 0, sizeof(classes));
	memset(weights, 0, sizeof(weights));
}

static void clear_attrs(void)
{
	memset(weights, 0, sizeof(weights));
	memset(classes, 0, sizeof(classes));
	memset(groups, 0, sizeof(groups));
}

/* Groups share the engine, however many contexts they have. */
static void test_groups(void)
{
	unsigned int i, n, good = 0;

	for (i = 1; i <= 9; i++)
		groups[i] = i <= 8 ? 1 : UINT32_MAX;
	start_in("111111111", "123456789");
	hold_at(1);
	for (i = 1; i <= 8; i++)
		ring(i, 50);
	ring(9, 300);
	let_go();
	wait_served(701);
	n = entries_of(9, 1, 400);
	ok(n >= 199 && n <= 201, "eight contexts of a group against one: %u of 400", n);
	for (i = 1; i <= 8; i++) {
		n = entries_of(i, 1, 400);
		good += n >= 24 && n <= 26;
	}
	ok(good == 8, "the eight have equal shares of the other half: %u", good);
	stop();

	groups[4] = 0;
	groups[5] = 0;
	start_in("11111", "12345");
	hold_at(1);
	for (i = 1; i <= 5; i++)
		ring(i, 200);
	let_go();
	wait_served(1001);
	for (i = 1, good = 0; i <= 5; i++) {
		n = entries_of(i, 1, 450);
		good += i <= 3 ? n >= 49 && n <= 51 : n >= 149 && n <= 151;
	}
	ok(good == 5, "a context of no group is a group: %u of 5", good);
	stop();
	clear_attrs();
}

static void test_group_weights(void)
{
	unsigned int one, two, three;

	groups[1] = 1;
	groups[2] = 1;
	groups[3] = 2;
	weights[2] = 3 * NNPU_CTX_WEIGHT_DEFAULT;
	start_in("111", "123");
	hold_at(3);
	ring(1, 400);
	ring(2, 180);
	ring(3, 400);
	let_go();
	wait_served(981);
	/* 3 of 4 for the group, of which 3 of 4 are for queue 2. */
	one = entries_of(1, 1, 320);
	two = entries_of(2, 1, 320);
	three = entries_of(3, 1, 320);
	ok(one >= 58 && one <= 62 && two >= 178 && three >= 78 && three <= 82,
	   "a group has the weight of its heaviest context: %u, %u and %u of 320", one, two,
	   three);
	one = entries_of(1, 331, 200);
	ok(one >= 99 && one <= 101 && !entries_of(2, 331, 200),
	   "which counts only while it has work: %u of 200", one);
	hold_at(3);
	ring(1, 100);
	ring(2, 100);
	ring(3, 100);
	let_go();
	wait_served(1282);
	two = entries_of(2, 982, 160);
	three = entries_of(3, 982, 160);
	ok(two >= 88 && two <= 92 && three >= 38 && three <= 42,
	   "and again when it comes back: %u and %u of 160", two, three);
	stop();
	clear_attrs();
}

/* A group whose contexts were all idle starts level. */
static void test_idle_group(void)
{
	unsigned int n;

	groups[1] = 1;
	groups[2] = 1;
	groups[3] = 2;
	start_in("111", "123");
	/* Group 1 is idle while the other one uses a second. */
	ring(1, 5);
	ring(2, 5);
	wait_served(10);
	ring(3, 1000);
	wait_served(1010);
	hold_at(3);
	ring(1, 100);
	ring(2, 100);
	ring(3, 200);
	let_go();
	wait_served(1411);
	n = entries_of(3, 1011, 100);
	ok(n >= 49 && n <= 51, "a group that was idle gets no more: %u of 100", n);
	/* A context of a group that had work saves nothing up, either. */
	ring(1, 1000);
	wait_served(2411);
	hold_at(1);
	ring(1, 100);
	ring(2, 100);
	ring(3, 200);
	let_go();
	wait_served(2812);
	n = entries_of(3, 2412, 200);
	ok(n >= 99 && n <= 101, "nor less: %u of 200", n);
	n = entries_of(1, 2412, 200);
	ok(n >= 49 && n <= 51, "nor does a context of it: %u of 200", n);
	stop();

	/* Time in one class does not count in another. */
	classes[1] = NNPU_CTX_CLASS_URGENT;
	start_in("111", "123");
	ring(2, 1);
	ring(3, 1);
	wait_served(2);
	hold_at(3);
	ring(2, 100);
	ring(3, 100);
	ring(1, 100);
	let_go();
	wait_served(303);
	n = entries_of(2, 120, 100);
	ok(entries_of(1, 3, 100) >= 93 && n >= 49 && n <= 51,
	   "a group has a share of its own in each class: %u of 100", n);
	stop();
	clear_attrs();
}

static int destroy_ctx(uint32_t id)
{
	struct nnpu_sqe c = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(id) };

	return admin(&c);
}

static void test_group_ends(void)
{
	unsigned int n;

	groups[1] = 1;
	groups[2] = 1;
	groups[3] = 1;
	groups[4] = 2;
	weights[2] = NNPU_CTX_WEIGHT_MAX;
	start_in("1111", "1234");
	/* The heaviest one goes while its work waits. */
	hold_at(4);
	ring(1, 100);
	ring(2, 100);
	ring(3, 100);
	ring(4, 300);
	ok(!destroy_ctx(2), "DESTROY_CTX of a context with work in a group");
	tails[2] = 0;
	let_go();
	wait_served(501);
	n = entries_of(4, 1, 200);
	ok(n >= 99 && n <= 101 && !entries_of(2, 1, 500), "the others share: %u of 200", n);
	/* All of the group go, after a job of ten seconds. */
	atomic_store(&cost[1], 10000 * MS);
	ring(1, 1);
	wait_served(502);
	hold_at(4);
	ring(3, 10);
	ring(4, 300);
	ok(!destroy_ctx(1) && !destroy_ctx(3), "the last contexts of a group go");
	tails[1] = 0;
	tails[3] = 0;
	/* Their place goes to another group. */
	groups[1] = 3;
	create_ctx(1);
	memset(cq[1], 0, sizeof(cq[1]));
	create_queue(1, 1, 1);
	ring(1, 100);
	let_go();
	wait_served(903);
	n = entries_of(1, 503, 200);
	ok(n >= 99 && n <= 101, "a new group starts level: %u of 200", n);
	stop();
	clear_attrs();
}

static void test_no_credit(void)
{
	/* Queue 1 has the device to itself for a second. Queues 2 and 3 exist all the time. */
	start("111");
	ring(1, 1000);
	wait_served(1000);
	hold_at(3);
	ring(2, 100);
	ring(1, 100);
	let_go();
	wait_served(1201);
	ok(longest_run(1001, 200) <= 2, "who was idle gets no more than who was not: run of %u",
	   longest_run(1001, 200));
	/* The same while queue 1 has work all the time. */
	hold_at(1);
	ring(1, 100);
	ring(2, 100);
	let_go();
	wait_served(1402);
	ok(longest_run(1202, 200) <= 2, "nor against a queue that never had none: run of %u",
	   longest_run(1202, 200));
	stop();
}

/* Bad entries cost their queue device time like others. */
static void test_bad_entries(void)
{
	unsigned int i, bad = 0;

	start("11");
	hold_at(2);
	for (i = 0; i < ENTRIES; i++)
		sq[1][i].opcode = 0xee;
	ring(1, 100);
	ring(2, 100);
	let_go();
	wait_served(201);
	for (i = 1; i < 101; i++)
		bad += order[i] == 1;
	ok(bad >= 48 && bad <= 52, "a queue full of bad entries has its share: %u of 100", bad);
	stop();
}

/* Does the device read the clock @count more times? */
static bool clock_is_read(unsigned int count)
{
	uint64_t reads = atomic_load(&clock_reads);
	unsigned int waited;

	for (waited = 0; waited < 60000; waited++) {
		if (atomic_load(&clock_reads) >= reads + count)
			return true;
		pause_ms(1);
	}
	return false;
}

/* Does the device stop reading the clock? */
static bool clock_is_left(void)
{
	uint64_t reads;
	unsigned int i;

	for (i = 0; i < 600; i++) {
		reads = atomic_load(&clock_reads);
		pause_ms(100);
		if (atomic_load(&clock_reads) == reads)
			return true;
	}
	return false;
}

static void test_perf_levels(void)
{
	struct nnpu_sqe_set_perf c = { .opcode = NNPU_ADMIN_SET_PERF, .flags = 1 };
	unsigned int waited = 0;
	uint64_t reads;

	start("1");
	ok(reg(NNPU_REG_PERF_CAPS) == 7, "PERF_CAPS: three levels");
	ok(reg(NNPU_REG_PERF_LEVEL) == NNPU_PERF_MEDIUM, "medium after power-on");
	ok(!set_perf(NNPU_PERF_LOW) && reg(NNPU_REG_PERF_LEVEL) == NNPU_PERF_LOW, "low");
	ok(!set_perf(NNPU_PERF_HIGH) && reg(NNPU_REG_PERF_LEVEL) == NNPU_PERF_HIGH, "high");
	ok(set_perf(NNPU_PERF_NUM) == NNPU_STATUS_INVALID_FIELD &&
	   set_perf(~0u) == NNPU_STATUS_INVALID_FIELD, "no such level");
	ok(admin(&c) == NNPU_STATUS_INVALID_FIELD, "flag");
	c.flags = 0;
	c.ctx = htole32(1);
	ok(admin(&c) == NNPU_STATUS_INVALID_FIELD, "ctx");
	c.ctx = 0;
	c.reserved0 = htole32(1);
	ok(admin(&c) == NNPU_STATUS_INVALID_FIELD, "reserved word");
	c.reserved0 = 0;
	c.reserved[5] = htole64(1);
	ok(admin(&c) == NNPU_STATUS_INVALID_FIELD && reg(NNPU_REG_PERF_LEVEL) == NNPU_PERF_HIGH,
	   "reserved field; refused commands change nothing");

	/* An engine that polls for work reads the clock, which stands still here. */
	ring(1, 1);
	wait_served(1);
	ok(clock_is_read(1000), "high: the engine looks for work");
	atomic_fetch_add(&device_clock, 1000 * MS);
	ok(clock_is_left(), "not for ever");
	ring(1, 1);
	wait_served(2);
	set_perf(NNPU_PERF_LOW);
	ring(1, 1);
	wait_served(3);
	/* It has finished when it has given its queue back. */
	while (nnpu_device_reg_read(dev, NNPU_QREG_BASE + NNPU_QREG_STRIDE + NNPU_QREG_STATE, 4) !=
	       NNPU_QSTATE_IDLE)
		hang_check(&waited);
	reads = atomic_load(&clock_reads);
	pause_ms(100);
	ok(atomic_load(&clock_reads) == reads, "low: it sleeps");
	write_reg(NNPU_REG_CTRL, NNPU_CTRL_RESET);
	while (reg(NNPU_REG_STATUS) & NNPU_STATUS_REG_RESETTING)
		hang_check(&waited);
	ok(reg(NNPU_REG_PERF_LEVEL) == NNPU_PERF_MEDIUM, "medium after a reset");
	stop();
}

static uint32_t busy_us(unsigned int qid)
{
	return reg(NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_BUSY);
}

/* An engine gives its queue back a little after the completion. */
static void wait_busy(unsigned int qid, uint32_t us)
{
	unsigned int waited = 0;

	while (busy_us(qid) < us)
		hang_check(&waited);
}

static void test_busy(void)
{
	struct nnpu_sqe_queue c = { .opcode = NNPU_ADMIN_DESTROY_QUEUE, .qid = htole16(2) };

	start("102");
	ok(!busy_us(1) && !busy_us(2) && !busy_us(3), "QREG_BUSY: 0 after power-on");
	atomic_store(&cost[1], 7 * MS);
	atomic_store(&cost[2], 1500);
	ring(1, 5);
	ring(2, 100);
	wait_served(105);
	wait_busy(1, 35000);
	wait_busy(2, 150);
	ok(busy_us(1) == 35000 && busy_us(2) == 150 && !busy_us(3),
	   "each queue its own time, fractions of a microsecond included");
	ok(!busy_us(0), "none of the admin queue");
	ok(!admin(&c) && busy_us(2) == 150, "it outlives the queue");
	write_reg(NNPU_REG_CTRL, NNPU_CTRL_RESET);
	while (reg(NNPU_REG_STATUS) & NNPU_STATUS_REG_RESETTING)
		pause_ms(1);
	ok(busy_us(1) == 35000 && busy_us(2) == 150, "and a reset");
	stop();
}

static uint32_t queue_state(unsigned int qid)
{
	return reg(NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + NNPU_QREG_STATE);
}

/* An engine reads an entry when it begins with it, and none ahead. */
static void test_turns(void)
{
	unsigned int waited = 0;

	start("11");
	hold_at(1);
	ring(1, 16);
	let_go();
	wait_served(17);
	ok(atomic_load(&ring_reads) == 17, "17 entries in %u reads", atomic_load(&ring_reads));
	hold_at(1);
	ring(1, 8);
	ring(2, 8);
	let_go();
	wait_served(34);
	ok(order_is(17, "12"), "a queue that gets work meanwhile has the next entry");
	stop();

	/* A bad entry does not affect the good one in front of it. */
	start("1");
	atomic_store(&bad_from, &sq[1][3]);
	hold_at(1);
	ring(1, 5);
	let_go();
	while (queue_state(1) != NNPU_QSTATE_STOPPED)
		hang_check(&waited);
	ok((completion_status(&cq[1][2]) & NNPU_CQE_PHASE) && !completion_status(&cq[1][3]),
	   "three entries before memory that is bad");
	stop();
}

int main(void)
{
	test_turns();
	test_levels();
	test_starvation();
	test_share();
	test_contexts();
	test_paths();
	test_weights();
	test_classes();
	test_groups();
	test_group_weights();
	test_idle_group();
	test_group_ends();
	test_no_credit();
	test_bad_entries();
	test_perf_levels();
	test_busy();
	return tap_done();
}
