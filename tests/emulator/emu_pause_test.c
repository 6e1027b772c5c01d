// SPDX-License-Identifier: MIT
/*
 * The machine around a device stands still: the device accesses no memory, completes nothing and
 * makes no progress until it goes on, and then nothing is lost. Resets and the end of a device do
 * not wait for that.
 */
#include <endian.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "tap.h"
#include "watched_bus.h"

#define N		16u
#define PROGRAM		1u
#define LARGE		(8u << 20)

/* A bus that refuses accesses as a glue does, and a clock that stands still with the machine. */
static struct nnpu_device *device;
static atomic_uint accessing;
static atomic_ullong accesses;
static atomic_ullong clock_ns;
static atomic_bool clock_stands;

static bool access_begin(void)
{
	atomic_fetch_add(&accessing, 1);
	if (nnpu_device_may_access(device)) {
		atomic_fetch_add(&accesses, 1);
		return true;
	}
	atomic_fetch_sub(&accessing, 1);
	return false;
}

static int access_end(int ret)
{
	atomic_fetch_sub(&accessing, 1);
	return ret;
}

static int dma_read(void *bus, uint64_t addr, void *buf, size_t len)
{
	return access_begin() ? access_end(bus_ops->dma_read(bus, addr, buf, len)) : -1;
}

static int dma_write(void *bus, uint64_t addr, const void *buf, size_t len)
{
	return access_begin() ? access_end(bus_ops->dma_write(bus, addr, buf, len)) : -1;
}

static int dma_publish(void *bus, uint64_t addr, const void *buf, size_t len)
{
	return access_begin() ? access_end(bus_ops->dma_publish(bus, addr, buf, len)) : -1;
}

/* Each look takes 50 us. */
static uint64_t now_ns(void *bus)
{
	(void)bus;
	return atomic_load(&clock_stands) ? atomic_load(&clock_ns) :
					    atomic_fetch_add(&clock_ns, 50000);
}

void watch_bus(struct nnpu_bus_ops *ops)
{
	ops->dma_read = dma_read;
	ops->dma_write = dma_write;
	ops->dma_publish = dma_publish;
	ops->now_ns = now_ns;
}

static struct rig rig;
static struct job_rig j;
static struct rig_queue *user;

static void fresh(void)
{
	struct nnpu_inproc_config config;
	struct image im;

	rig_config(&config);
	config.props.num_threads = 2;
	rig_open(&rig, &config);
	device = nnpu_inproc_device(rig.ip);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, 1, 1) || rig_create_queue(&rig, 2, 1, 0, 16)) {
		printf("Bail out! the device does not come up\n");
		exit(1);
	}
	user = &rig.queues[2];
	image_add(&im, N);
	rig_load(&rig, 1, PROGRAM, im.bytes, im.size, NULL);
	image_free(&im);
	job_add_args(&j, N);
}

/* As a glue does it: afterwards no access is in progress. */
static void stop(void)
{
	atomic_store(&clock_stands, true);
	nnpu_device_pause(device);
	while (atomic_load(&accessing))
		sched_yield();
}

static void go_on(void)
{
	atomic_store(&clock_stands, false);
	nnpu_device_resume(device);
}

static void a_while(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = 30000000 }, NULL);
}

static void read_progress(uint32_t progress[3])
{
	uint32_t i;

	for (i = 0; i < 3; i++)
		progress[i] = rig_read(&rig, NNPU_QREG_BASE + i * NNPU_QREG_STRIDE + NNPU_QREG_PROGRESS);
}

/*
 * Does the device do nothing at all? What computes comes to its next point first: late, if its
 * thread has no processor. A device that went on would be at its end before the last look.
 */
static bool stands_still(void)
{
	uint64_t before = atomic_load(&accesses);
	uint32_t then[3], now[3];
	unsigned int looks;

	read_progress(now);
	for (looks = 0; looks < 1000; looks++) {
		memcpy(then, now, sizeof(then));
		a_while();
		read_progress(now);
		/* The first look may have been before the point. */
		if (looks && !memcmp(then, now, sizeof(then)))
			return atomic_load(&accesses) == before;
	}
	return false;
}

static uint16_t start(struct rig_queue *q)
{
	struct nnpu_sqe_execute sqe;
	uint16_t cid;

	job_sqe(&j, PROGRAM, &sqe);
	if (q != j.q)
		sqe.ctx = 0;
	cid = rig_push(&rig, q, (struct nnpu_sqe *)&sqe);
	rig_kick(&rig, q);
	return cid;
}

static bool runs(const struct rig_queue *q, uint16_t cid)
{
	return rig_poll(&rig, NNPU_QREG_BASE + q->qid * NNPU_QREG_STRIDE + NNPU_QREG_CURRENT, ~0u,
			NNPU_QREG_CURRENT_RUNNING | cid);
}

/* Jobs of both kinds of queues, a load and a command, all of them begun or announced. */
static void test_everything(void)
{
	struct nnpu_sqe_load_program load = {
		.opcode = NNPU_ADMIN_LOAD_PROGRAM, .ctx = htole32(1), .program = htole32(2),
	};
	unsigned int i, good = 0, admin = 0;
	uint64_t jobs, clock;
	struct nnpu_cqe cqe;
	struct image im;
	uint16_t cid;
	void *copy;

	fresh();
	image_add(&im, N);
	copy = rig_alloc(&rig, im.size);
	memcpy(copy, im.bytes, im.size);
	load.image = (struct nnpu_mem){ .addr = rig_addr(copy), .size = htole64(im.size) };
	image_free(&im);
	rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
	cid = start(j.q);
	ok(runs(j.q, cid), "a job runs");
	rig_inject(&rig, NNPU_INJECT_LOAD_SLOW, 1);
	rig_push(&rig, &rig.admin, (struct nnpu_sqe *)&load);
	rig_kick(&rig, &rig.admin);
	for (i = 0; i < 3; i++) {
		start(j.q);
		start(user);
	}
	stop();
	jobs = rig_read64(&rig, NNPU_REG_JOBS_LO);
	clock = rig_read64(&rig, NNPU_REG_CLOCK_LO);
	/* Doorbells are no accesses of the device. */
	start(user);
	rig_push(&rig, &rig.admin, &(struct nnpu_sqe) { .opcode = NNPU_ADMIN_NOP });
	rig_kick(&rig, &rig.admin);
	ok(stands_still() && rig_read64(&rig, NNPU_REG_JOBS_LO) == jobs &&
	   rig_read64(&rig, NNPU_REG_CLOCK_LO) == clock, "job, load and commands stand still");
	ok(!rig_peek(&rig.admin, &cqe) && !rig_peek(j.q, &cqe), "and nothing completes");
	go_on();
	for (i = 0; i < 4; i++) {
		good += rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe);
		good += rig_wait(&rig, user, &cqe) && !rig_status(&cqe);
	}
	for (i = 0; i < 2; i++)
		admin += rig_wait(&rig, &rig.admin, &cqe) && !rig_status(&cqe);
	ok(good == 8 && admin == 2, "when the machine goes on all of them end well: %u jobs, %u commands",
	   good, admin);
	ok(job_add_ok(&j, N), "with the right results");
	rig_close(&rig);
}

/* Large copies: what was in progress has ended when the machine stands, and nothing follows. */
static void test_transfers(void)
{
	struct nnpu_sqe_execute sqe;
	uint8_t *in, *out;
	struct nnpu_arg *args;
	struct nnpu_cqe cqe;
	unsigned int i, still = 0, good = 0;

	fresh();
	in = rig_alloc(&rig, LARGE);
	out = rig_alloc(&rig, LARGE);
	memset(in, 0x5a, LARGE);
	rig_slot(&j.slots[2], in, LARGE, NNPU_SLOT_VALID | NNPU_SLOT_READ);
	rig_slot(&j.slots[3], out, LARGE, NNPU_SLOT_VALID | NNPU_SLOT_READ | NNPU_SLOT_WRITE);
	args = job_args(&j, 1, 1);
	job_arg(&args[0], 2, 0, LARGE);
	job_arg(&args[1], 3, 0, LARGE);
	for (i = 0; i < 10; i++) {
		uint64_t before;

		memset(out, 0, LARGE);
		job_sqe(&j, 0, &sqe);
		sqe.opcode = NNPU_IO_COPY;
		rig_push(&rig, j.q, (struct nnpu_sqe *)&sqe);
		before = atomic_load(&accesses);
		rig_kick(&rig, j.q);
		/* Some accesses later each time. */
		while (atomic_load(&accesses) < before + 2 + i * 4 && !rig_peek(j.q, &cqe))
			sched_yield();
		stop();
		before = atomic_load(&accesses);
		nanosleep(&(struct timespec) { .tv_nsec = 2000000 }, NULL);
		still += atomic_load(&accesses) == before;
		go_on();
		good += rig_wait(&rig, j.q, &cqe) && !rig_status(&cqe) && !memcmp(in, out, LARGE);
	}
	ok(still == 10 && good == 10, "%u of 10 copies stood still, %u were complete", still, good);
	rig_close(&rig);
}

/* A device that is paused is reset, and goes. */
static void test_ends(void)
{
	unsigned int i;
	uint64_t before;
	uint16_t cid;

	for (i = 0; i < 3; i++) {
		fresh();
		rig_inject(&rig, NNPU_INJECT_JOB_SLOW, 1);
		cid = start(user);
		start(j.q);
		runs(user, cid);
		stop();
		before = atomic_load(&accesses);
		if (i == 0)
			nnpu_device_power_on_reset(device);
		else if (i == 1)
			rig_write(&rig, NNPU_REG_CTRL, NNPU_CTRL_RESET);
		if (i < 2) {
			ok(rig_poll(&rig, NNPU_REG_STATUS, ~0u, 0),
			   "%s of a device that stands still ends", i ? "CTRL.RESET" : "power-on");
			go_on();
			rig_queue_rewind(&rig.admin);
			ok(atomic_load(&accesses) == before && rig_enable(&rig) &&
			   !rig_admin(&rig, &(struct nnpu_sqe) { .opcode = NNPU_ADMIN_NOP }, NULL),
			   "without an access, and then it works");
		}
		rig_close(&rig);
		ok(true, "and it goes");
	}
}

int main(void)
{
	test_everything();
	test_transfers();
	test_ends();
	return tap_done();
}
