// SPDX-License-Identifier: MIT
/*
 * What the device does while it holds its lock, for which registers and doorbells wait: it makes no
 * thread, allocates and frees nothing and does no DMA but completions. And while the bus takes its
 * time with the memory of one client, registers and doorbells answer. The program is linked with
 * --wrap for the functions that may take long.
 */
#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/device_state.h"
#include "rig.h"
#include "tap.h"
#include "watched_calls.h"

#define N		64u
#define ENTRIES		256u
#define CONTEXTS	3u

/* The device's lock, and whether this thread has it. */
static _Atomic(pthread_mutex_t *) device_lock;
static __thread bool held;
static __thread unsigned int completions;

/* What was done under it. */
static _Atomic(const char *) broken;
static atomic_uint threads_made, most_completions;
static atomic_bool no_threads;

static void allowed_without(const char *what)
{
	if (held)
		atomic_store(&broken, what);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock)
{
	int ret = __real_pthread_mutex_lock(lock);

	if (lock == atomic_load(&device_lock)) {
		held = true;
		completions = 0;
	}
	return ret;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock)
{
	if (lock == atomic_load(&device_lock))
		held = false;
	return __real_pthread_mutex_unlock(lock);
}

void *__wrap_malloc(size_t size)
{
	allowed_without("malloc");
	return __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	allowed_without("calloc");
	return __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	allowed_without("realloc");
	return __real_realloc(p, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
	allowed_without("aligned_alloc");
	return __real_aligned_alloc(alignment, size);
}

void __wrap_free(void *p)
{
	allowed_without("free");
	__real_free(p);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	allowed_without("mmap");
	return __real_mmap(addr, len, prot, flags, fd, off);
}

int __wrap_munmap(void *p, size_t len)
{
	allowed_without("munmap");
	return __real_munmap(p, len);
}

void *__wrap_mremap(void *p, size_t old, size_t new, int flags)
{
	allowed_without("mremap");
	return __real_mremap(p, old, new, flags);
}

int __wrap_madvise(void *p, size_t len, int advice)
{
	allowed_without("madvise");
	return __real_madvise(p, len, advice);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*main)(void *),
			  void *arg)
{
	allowed_without("pthread_create");
	if (atomic_load(&no_threads))
		return -1;
	atomic_fetch_add(&threads_made, 1);
	return __real_pthread_create(thread, attr, main, arg);
}

/* The bus. It waits with accesses to one range until it is told. */
static const struct nnpu_bus_ops *bus_ops;
static _Atomic(uintptr_t) blocked_first, blocked_end;
static atomic_bool waits;

static void block(uint64_t addr, size_t len)
{
	while (addr < atomic_load(&blocked_end) && addr + len > atomic_load(&blocked_first)) {
		atomic_store(&waits, true);
		usleep(200);
	}
}

static int dma_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	allowed_without("dma_read");
	block(addr, len);
	return bus_ops->dma_read(bus, addr, buf, len);
}

static int dma_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	allowed_without("dma_write");
	block(addr, len);
	return bus_ops->dma_write(bus, addr, buf, len);
}

static int dma_publish(void *bus, uint64_t addr, const void *buf, size_t len)
{
	if (len > sizeof(struct nnpu_cqe))
		allowed_without("a large dma_publish");
	if (held && ++completions > atomic_load(&most_completions))
		atomic_store(&most_completions, completions);
	return bus_ops->dma_publish(bus, addr, buf, len);
}

static void raise_irq(void *bus, unsigned int vector)
{
	allowed_without("an interrupt");
	bus_ops->raise_irq(bus, vector);
}

struct nnpu_device *__wrap_nnpu_device_create(const struct nnpu_device_props *props,
					      const struct nnpu_bus_ops *ops, void *bus,
					      char *error, size_t size)
{
	static struct nnpu_bus_ops watched;
	struct nnpu_device *dev;

	bus_ops = ops;
	watched = *ops;
	watched.dma_read = dma_read;
	watched.dma_write = dma_write;
	watched.dma_publish = dma_publish;
	watched.raise_irq = raise_irq;
	dev = __real_nnpu_device_create(props, &watched, bus, error, size);
	if (dev)
		atomic_store(&device_lock, &dev->lock);
	return dev;
}

static struct rig rig;
static struct job_rig jobs[CONTEXTS + 1];
static struct image add;

static void lock_is_clean(const char *what)
{
	const char *bad = atomic_exchange(&broken, NULL);

	ok(!bad, "under the lock of the device: nothing that takes long; %s%s%s", what,
	   bad ? ": " : "", bad ? bad : "");
}

static void setup(void)
{
	struct nnpu_inproc_config config;
	unsigned int i;

	rig_config(&config);
	config.props.num_engines = 1;
	rig_open(&rig, &config);
	rig.admin_entries = ENTRIES;
	rig_enable(&rig);
	for (i = 1; i <= CONTEXTS; i++) {
		jobs[i] = (struct job_rig) { .rig = &rig, .ctx = i, .q = &rig.queues[1] };
		jobs[i].slots = rig_alloc(&rig, 16 * sizeof(*jobs[i].slots));
		jobs[i].block = rig_alloc(&rig, 16384);
		jobs[i].operands = rig_alloc(&rig, 4096);
		rig_slot(&jobs[i].slots[0], jobs[i].block, 16384,
			 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
		rig_slot(&jobs[i].slots[1], jobs[i].operands, 4096,
			 NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
		if (rig_create_ctx(&rig, i, jobs[i].slots, 16)) {
			printf("Bail out! no context\n");
			exit(1);
		}
	}
	if (rig_create_queue(&rig, 1, 0, NNPU_QUEUE_KERNEL, ENTRIES)) {
		printf("Bail out! no queue\n");
		exit(1);
	}
}

static void push_add(unsigned int ctx)
{
	struct nnpu_sqe_execute sqe;

	job_sqe(&jobs[ctx], 1, &sqe);
	rig_push(&rig, jobs[ctx].q, (struct nnpu_sqe *)&sqe);
}

/* Completions of queue 1 with @status among @count. */
static unsigned int wait_all(unsigned int count, unsigned int status)
{
	unsigned int i, n = 0;
	struct nnpu_cqe cqe;

	for (i = 0; i < count && rig_wait(&rig, &rig.queues[1], &cqe); i++)
		n += rig_status(&cqe) == status;
	return n;
}

static void test_loads(void)
{
	unsigned int i, before = atomic_load(&threads_made);

	for (i = 1; i <= CONTEXTS; i++) {
		job_add_args(&jobs[i], N);
		ok(!rig_load(&rig, i, 1, add.bytes, add.size, NULL), "load of context %u", i);
	}
	ok(atomic_load(&threads_made) > before, "a loader was made");
	lock_is_clean("loads");
}

/* One job takes a second: the others' go before, on a worker that is made then. */
static void test_giving_way(void)
{
	unsigned int before = atomic_load(&threads_made);
	struct nnpu_cqe cqe;

	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	push_add(1);
	rig_kick(&rig, &rig.queues[1]);
	push_add(2);
	rig_kick(&rig, &rig.queues[1]);
	ok(rig_wait(&rig, &rig.queues[1], &cqe) && !rig_status(&cqe), "a job");
	ok(wait_all(1, 0) == 1, "another job");
	ok(atomic_load(&threads_made) == before + 1, "a worker was made");
	lock_is_clean("a job that gives way");
}

/* No thread can be made: the job does not give way, and all of them end as they should. */
static void test_no_room(void)
{
	struct timespec begin, end;

	atomic_store(&no_threads, true);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 3);
	push_add(1);
	push_add(2);
	push_add(3);
	rig_kick(&rig, &rig.queues[1]);
	ok(wait_all(3, 0) == 3, "jobs that have no room to give way end");
	clock_gettime(CLOCK_MONOTONIC, &end);
	atomic_store(&no_threads, false);
	printf("# %ld s\n", (long)(end.tv_sec - begin.tv_sec));
	lock_is_clean("no room to give way");
}

static void test_aborts(void)
{
	struct nnpu_sqe_queue c = {
		.opcode = NNPU_ADMIN_ABORT, .flags = NNPU_QUEUE_CMD_CONTEXT, .ctx = htole32(1),
		.qid = htole16(1),
	};
	unsigned int i;

	atomic_store(&most_completions, 0);
	rig_inject(&rig, NNPU_INJECT_JOB_STALL, 1);
	for (i = 0; i < ENTRIES - 1; i++)
		push_add(1);
	rig_kick(&rig, &rig.queues[1]);
	ok(rig_poll(&rig, NNPU_EREG_BASE, NNPU_EREG_CURRENT_RUNNING, NNPU_EREG_CURRENT_RUNNING),
	   "a job stalls");
	ok(!rig_admin(&rig, &c, NULL), "abort of a context");
	ok(wait_all(ENTRIES - 1, NNPU_STATUS_ABORTED) == ENTRIES - 1, "all of its entries end");
	ok(atomic_load(&most_completions) >= 2 && atomic_load(&most_completions) <= 64,
	   "the lock is held for %u completions at most", atomic_load(&most_completions));
	lock_is_clean("an abort");
}

/* A context goes that has many loads. */
static void test_waiting_loads(void)
{
	enum { LOADS = 200 };
	uint8_t *image = rig_alloc(&rig, add.size);
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(1),
		.image = { .addr = rig_addr(image), .size = htole64(add.size) },
	};
	struct nnpu_sqe d = { .opcode = NNPU_ADMIN_DESTROY_CTX, .ctx = htole32(1) };
	unsigned int i, aborted = 0, most;
	struct nnpu_cqe cqe;

	memcpy(image, add.bytes, add.size);
	rig_inject(&rig, NNPU_INJECT_LOAD_STALL, 1);
	for (i = 0; i < LOADS; i++) {
		c.program = htole32(2 + i);
		rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&c);
	}
	rig_push(&rig, &rig.admin, &d);
	atomic_store(&most_completions, 0);
	rig_kick(&rig, &rig.admin);
	for (i = 0; i < LOADS && rig_wait(&rig, &rig.admin, &cqe); i++)
		aborted += rig_status(&cqe) == NNPU_STATUS_ABORTED;
	ok(aborted == LOADS && rig_wait(&rig, &rig.admin, &cqe) && !rig_status(&cqe),
	   "a context with %u loads goes", aborted);
	most = atomic_load(&most_completions);
	ok(most >= 2 && most <= 64, "the lock is held for %u completions at most", most);
	lock_is_clean("loads that end");
	ok(!rig_create_ctx(&rig, 1, jobs[1].slots, 16) &&
	   !rig_load(&rig, 1, 1, add.bytes, add.size, NULL), "its number is free");
}

/* The device is at memory that does not answer. Registers and doorbells do. */
static void test_blocked(const char *what, const void *first, size_t len, unsigned int ctx)
{
	struct nnpu_cqe cqe;
	unsigned int i;

	job_add_args(&jobs[ctx], N);
	atomic_store(&waits, false);
	atomic_store(&blocked_first, (uintptr_t)first);
	atomic_store(&blocked_end, (uintptr_t)first + len);
	push_add(ctx);
	rig_kick(&rig, &rig.queues[1]);
	while (!atomic_load(&waits))
		usleep(200);
	for (i = 0; i < 100; i++) {
		rig_read(&rig, NNPU_REG_STATUS);
		rig_read64(&rig, NNPU_REG_MEM_USED_LO);
		nnpu_inproc_doorbell(rig.ip, 1, NNPU_DB_CQ_HEAD, rig.queues[1].cq_head);
	}
	ok(!rig_peek(&rig.queues[1], &cqe), "%s is blocked, registers and doorbells answer", what);
	atomic_store(&blocked_end, 0);
	ok(wait_all(1, 0) == 1 && job_add_ok(&jobs[ctx], N), "the job ends");
}

/* The same of an image. */
static void test_blocked_load(void)
{
	uint8_t *image = rig_alloc(&rig, add.size);
	struct nnpu_sqe_load_program c = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(1), .program = htole32(2),
		.image = { .addr = rig_addr(image), .size = htole64(add.size) },
	};
	struct nnpu_cqe cqe;

	memcpy(image, add.bytes, add.size);
	atomic_store(&waits, false);
	atomic_store(&blocked_first, (uintptr_t)image);
	atomic_store(&blocked_end, (uintptr_t)image + add.size);
	rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&c);
	rig_kick(&rig, &rig.admin);
	while (!atomic_load(&waits))
		usleep(200);
	job_add_args(&jobs[2], N);
	ok(!job_execute(&jobs[2], 1, NULL), "an image is blocked, another client's job runs");
	ok(!rig_peek(&rig.admin, &cqe), "the load waits");
	atomic_store(&blocked_end, 0);
	ok(rig_wait(&rig, &rig.admin, &cqe) && !rig_status(&cqe), "the load ends");
}

int main(void)
{
	unsigned int i;

	/* Who waits for the lock for ever is in a hang of the device. */
	alarm(120);
	image_add(&add, N);
	setup();
	test_loads();
	test_giving_way();
	test_aborts();
	test_waiting_loads();
	for (i = 1; i <= CONTEXTS; i++)
		job_add_args(&jobs[i], N);
	test_blocked("the ring", rig.queues[1].sq, ENTRIES * sizeof(struct nnpu_sqe), 1);
	test_blocked("the argument block", jobs[1].block, 4096, 1);
	test_blocked("an input", jobs[1].operands, N * 4, 1);
	test_blocked("an output", jobs[1].operands + 2 * N * 4, N * 4, 1);
	test_blocked("the result block", jobs[1].block + JOB_RESULT_OFFSET, 64, 1);
	test_blocked_load();
	lock_is_clean("blocked memory");
	for (i = 1; i <= CONTEXTS; i++)
		rig_destroy_ctx(&rig, i);
	lock_is_clean("contexts that go");
	rig_reset(&rig);
	lock_is_clean("a reset");
	rig_close(&rig);
	setup();
	for (i = 1; i <= CONTEXTS; i++) {
		rig_load(&rig, i, 1, add.bytes, add.size, NULL);
		job_add_args(&jobs[i], N);
	}
	test_no_room();
	atomic_store(&device_lock, NULL);
	rig_close(&rig);
	image_free(&add);
	return tap_done();
}
