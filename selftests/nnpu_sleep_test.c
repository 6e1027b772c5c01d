// SPDX-License-Identifier: GPL-2.0-only
/*
 * System sleep with work in flight: contexts, programs, slots and queues are there afterwards, and
 * no job that had not begun for long is lost.
 *
 * NNPU_SLEEP_STATE is what is written to /sys/power/state ("mem", "freeze"); somebody has to wake
 * the machine up, as scripts/vm-sleep does. Without it nnpu_planted.ko lets the device alone go to
 * sleep, on the debug kernel. (The machine of scripts/vm cannot sleep: its root would not come
 * back.)
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000
/* More than the device has places for, of each context. */
#define JOBS		24
#define SLOW_SIZE	32

static bool take_device(void)
{
	const char *state = getenv("NNPU_SLEEP_STATE");

	if (state)
		return !nnpu_write_file("/sys/power", "state", state);
	return !system("insmod \"$NNPU_PLANTED_KO\" plant=sleep && rmmod nnpu_planted");
}

static bool context_lost(int fd)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);

	return nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size) ||
	       (info.flags & DRM_NNPU_CONTEXT_LOST);
}

/* Until the device is runtime-suspended: with its state, which system sleep takes. */
static bool doze(int fd)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS / 10; i++) {
		if (nnpu_sysfs_is(fd, "power/runtime_status", "suspended"))
			return true;
		usleep(10000);
	}
	return false;
}

FIXTURE(sleep)
{
	int fd;
	struct nnpu_job job;
	struct nnpu_uq uq;
	long resets;
};

FIXTURE_SETUP(sleep)
{
	int ret;

	self->fd = -1;
	if (!getenv("NNPU_SLEEP_STATE") && !getenv("NNPU_DEBUG_KERNEL"))
		SKIP(return, "the module that lets one device sleep is for the debug kernel");
	ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);
	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	nnpu_set_parameter("sleep_drain_ms", 60000);
	self->resets = nnpu_debugfs_value(self->fd, "stats", "device_resets");
	ASSERT_LE(0, self->resets);
}

FIXTURE_TEARDOWN(sleep)
{
	if (self->fd < 0)
		return;
	nnpu_set_parameter("sleep_drain_ms", 10000);
	nnpu_set_parameter("hang_timeout_ms", 5000);
	EXPECT_EQ(self->resets, nnpu_debugfs_value(self->fd, "stats", "device_resets"));
	close(self->fd);
}

TEST_F_TIMEOUT(sleep, contexts_and_programs_come_back, 600)
{
	struct drm_nnpu_context_create attrs = { 0 };
	struct nnpu_job other, twin;
	unsigned int round;
	uint32_t ctx;

	ASSERT_EQ(0, nnpu_context_create(self->fd, &attrs, &ctx));
	nnpu_test_ctx = ctx;
	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &other, 8));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &twin, 100));
	nnpu_test_ctx = 0;
	for (round = 0; round < 3; round++) {
		if (round == 1)
			ASSERT_TRUE(doze(self->fd));
		ASSERT_TRUE(take_device());
		EXPECT_FALSE(context_lost(self->fd));
		EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 1 + round));
		EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 10 + round));
		nnpu_test_ctx = ctx;
		EXPECT_FALSE(context_lost(self->fd));
		EXPECT_EQ(0, nnpu_job_run(self->fd, &twin, 30 + round));
		EXPECT_EQ(0, nnpu_job_submit(self->fd, &other));
		EXPECT_EQ(0, nnpu_job_wait(self->fd, &other, WAIT_MS));
		EXPECT_EQ(1, nnpu_syncobj_status(self->fd, other.syncobj));
		nnpu_test_ctx = 0;
	}
	/* What was restored can be given back, and the numbers be used again. */
	nnpu_test_ctx = ctx;
	nnpu_job_fini(self->fd, &twin);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &twin, 50));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &twin, 99));
	nnpu_test_ctx = 0;
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, ctx));
}

/* Some at the engines, some at the device, some in the driver. */
TEST_F_TIMEOUT(sleep, jobs_in_flight_end_well, 600)
{
	struct nnpu_job jobs[JOBS];
	unsigned int i;

	for (i = 0; i < JOBS; i++) {
		ASSERT_EQ(0, i % 4 ? nnpu_job_init(self->fd, &jobs[i], 1000) :
				     nnpu_job_init_slow(self->fd, &jobs[i], SLOW_SIZE));
		if (i % 4)
			nnpu_job_fill(&jobs[i], i);
		jobs[i].submit.priority = i % 3;
	}
	for (i = 0; i < JOBS; i++)
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &jobs[i]));
	ASSERT_TRUE(take_device());
	for (i = 0; i < JOBS; i++) {
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &jobs[i], WAIT_MS));
		EXPECT_EQ(1, nnpu_syncobj_status(self->fd, jobs[i].syncobj)) {
			TH_LOG("job %u", i);
		}
		if (i % 4)
			EXPECT_TRUE(nnpu_job_correct(&jobs[i], i));
	}
	EXPECT_FALSE(context_lost(self->fd));
	for (i = 0; i < JOBS; i++)
		nnpu_job_fini(self->fd, &jobs[i]);
}

/* A ring with entries that the device has not looked at. */
TEST_F_TIMEOUT(sleep, queue_goes_on_where_it_was, 600)
{
	struct nnpu_job jobs[NNPU_UQ_ENTRIES - 1];
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	unsigned int i, round;
	uint32_t state = 0;

	for (i = 0; i < NNPU_UQ_ENTRIES - 1; i++)
		ASSERT_EQ(0, i ? nnpu_job_init(self->fd, &jobs[i], 500) :
				 nnpu_job_init_slow(self->fd, &jobs[i], SLOW_SIZE));
	for (round = 0; round < 3; round++) {
		for (i = 0; i < NNPU_UQ_ENTRIES - 1; i++) {
			if (i)
				nnpu_job_fill(&jobs[i], 7 * round + i);
			nnpu_uq_job_sqe(&jobs[i], 100 + i, &sqe);
			nnpu_uq_push(&self->uq, &sqe);
		}
		nnpu_uq_ring(&self->uq);
		ASSERT_TRUE(take_device());
		for (i = 0; i < NNPU_UQ_ENTRIES - 1; i++) {
			ASSERT_EQ(0, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, &state)) {
				TH_LOG("entry %u of round %u: state %u", i, round, state);
			}
			EXPECT_EQ(100 + i, cqe.cid);
			EXPECT_EQ(NNPU_STATUS_SUCCESS, nnpu_cqe_status(&cqe));
			if (i)
				EXPECT_TRUE(nnpu_job_correct(&jobs[i], 7 * round + i));
		}
		EXPECT_FALSE(nnpu_uq_pop(&self->uq, &cqe));
	}
	for (i = 0; i < NNPU_UQ_ENTRIES - 1; i++)
		nnpu_job_fini(self->fd, &jobs[i]);
}

/* A job of SUBMIT runs, or is the next one. */
static bool device_has_job(int fd)
{
	long state = nnpu_debugfs_value(fd, "registers", "Q1_STATE");

	return state == NNPU_QSTATE_RUNNING || state == NNPU_QSTATE_WAITING;
}

/* One that does not end is ended, and those behind it are not. */
TEST_F_TIMEOUT(sleep, long_job_keeps_nobody_awake, 600)
{
	struct nnpu_job queued, behind;
	struct nnpu_sqe_execute sqe;
	uint32_t state = 0, reason;
	struct nnpu_uq other;
	uint64_t begin, took;

	nnpu_set_parameter("hang_timeout_ms", 600000);
	nnpu_set_parameter("sleep_drain_ms", 500);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &queued, 64));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &behind, 64));
	ASSERT_EQ(0, nnpu_uq_create(self->fd, &other, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
				    NNPU_UQ_ENTRIES));
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &other, &self->job, 5));
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&queued, 3);
	nnpu_uq_job_sqe(&queued, 100, &sqe);
	nnpu_uq_push(&self->uq, &sqe);
	nnpu_uq_ring(&self->uq);
	/* The one and only job at an engine. */
	while (nnpu_debugfs_value(self->fd, "registers", "Q2_CURRENT") <= 0 &&
	       nnpu_debugfs_value(self->fd, "registers", "Q3_CURRENT") <= 0)
		usleep(1000);
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&self->job, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	/* What the device has does not survive; what waits in the driver does. */
	while (!device_has_job(self->fd))
		usleep(1000);
	ASSERT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	nnpu_job_fill(&behind, 4);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &behind));

	begin = nnpu_now_ns();
	ASSERT_TRUE(take_device());
	took = nnpu_now_ns() - begin;
	TH_LOG("asleep after and for %llu ms in all", (unsigned long long)(took / 1000000));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
	EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, self->job.syncobj));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &behind, WAIT_MS));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, behind.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&behind, 4));
	nnpu_uq_sleep(self->fd, &self->uq, WAIT_MS, &state, &reason);
	EXPECT_EQ(DRM_NNPU_QUEUE_STATE_LOST, state);
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&queued)->status);
	EXPECT_FALSE(context_lost(self->fd));
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &other, &self->job, 6));
	nnpu_uq_destroy(self->fd, &other);
	nnpu_job_fini(self->fd, &queued);
	nnpu_job_fini(self->fd, &behind);
}

/* A program that was unloaded while jobs of it wait. */
TEST_F_TIMEOUT(sleep, unloaded_program_serves_its_jobs, 600)
{
	struct nnpu_job slow, jobs[8];
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, SLOW_SIZE));
	for (i = 0; i < 8; i++)
		ASSERT_EQ(0, nnpu_job_init(self->fd, &jobs[i], 200));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
	for (i = 0; i < 8; i++) {
		nnpu_job_fill(&jobs[i], i);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &jobs[i]));
		ASSERT_EQ(0, nnpu_program_unload(self->fd, jobs[i].program));
	}
	ASSERT_TRUE(take_device());
	for (i = 0; i < 8; i++) {
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &jobs[i], WAIT_MS));
		EXPECT_EQ(1, nnpu_syncobj_status(self->fd, jobs[i].syncobj));
		EXPECT_TRUE(nnpu_job_correct(&jobs[i], i));
	}
	/* The file has those two only: the others are free in driver and device. */
	for (i = 0; i < 100 && nnpu_debugfs_value(self->fd, "objects", "programs") > 2; i++)
		usleep(100000);
	EXPECT_EQ(2, nnpu_debugfs_value(self->fd, "objects", "programs"));
	nnpu_job_fini(self->fd, &slow);
}

/* Asked to wait for nothing, all contexts are lost, at once. */
TEST_F_TIMEOUT(sleep, without_a_wait_contexts_are_lost, 600)
{
	nnpu_set_parameter("sleep_drain_ms", 0);
	ASSERT_TRUE(doze(self->fd));
	ASSERT_TRUE(take_device());
	EXPECT_TRUE(context_lost(self->fd));
}

static struct pollfd export_fence(int fd, uint32_t syncobj)
{
	struct drm_syncobj_handle arg = {
		.handle = syncobj, .fd = -1,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};

	if (nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg))
		arg.fd = -1;
	return (struct pollfd){ .fd = arg.fd, .events = POLLIN };
}

/* The device is removed in system sleep, and nobody wakes it up: all ends, and nothing stays. */
TEST_F_TIMEOUT(sleep, removed_while_asleep, 600)
{
	struct pollfd fences[2];
	struct nnpu_job behind;
	unsigned int i;
	int fd;

	if (getenv("NNPU_SLEEP_STATE"))
		SKIP(return, "the module that lets one device sleep is for the debug kernel");
	nnpu_set_parameter("hang_timeout_ms", 600000);
	nnpu_set_parameter("sleep_drain_ms", 300);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &behind, 64));
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&self->job, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	ASSERT_EQ(-ETIME, nnpu_syncobj_wait(self->fd, self->job.syncobj, 200));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &behind));
	fences[0] = export_fence(self->fd, self->job.syncobj);
	fences[1] = export_fence(self->fd, behind.syncobj);
	for (i = 0; i < 2; i++) {
		ASSERT_LE(0, fences[i].fd);
		ASSERT_EQ(0, poll(&fences[i], 1, 0));
	}
	ASSERT_EQ(0, system("insmod \"$NNPU_PLANTED_KO\" plant=sleep-remove && rmmod nnpu_planted"));
	/* The device is gone for this file, and others see its fences end. */
	EXPECT_EQ(-ENODEV, nnpu_job_submit(self->fd, &self->job));
	for (i = 0; i < 2; i++) {
		EXPECT_EQ(1, poll(&fences[i], 1, WAIT_MS));
		close(fences[i].fd);
	}
	close(self->fd);
	self->fd = -1;

	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &behind, 64));
	EXPECT_EQ(0, nnpu_job_run(fd, &behind, 3));
	close(fd);
	nnpu_set_parameter("sleep_drain_ms", 10000);
	nnpu_set_parameter("hang_timeout_ms", 5000);
}

TEST_HARNESS_MAIN
