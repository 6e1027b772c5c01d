// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runtime power management: the device is suspended when nothing uses it and awake when
 * something does. No user of the device notices.
 *
 *   NNPU_STORMS   how often each of several processes opens and closes (default 20)
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000
#define STATUS		"power/runtime_status"
#define DELAY		"power/autosuspend_delay_ms"
#define PROCESSES	4

FIXTURE(power)
{
	int fd;
	struct nnpu_uq uq;
	struct nnpu_job job;
};

FIXTURE_SETUP(power)
{
	int ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);

	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	if (nnpu_sysfs_is(self->fd, STATUS, "unsupported") ||
	    !nnpu_sysfs_is(self->fd, "power/control", "auto"))
		NNPU_SKIP(return, "runtime power management is off");
	ret = nnpu_sysfs_write(self->fd, DELAY, "50");
	if (ret == -EACCES)
		NNPU_SKIP(return, "no right to change " DELAY);
	ASSERT_EQ(0, ret);
	nnpu_set_parameter("queue_idle_ms", 50);
}

FIXTURE_TEARDOWN(power)
{
	nnpu_set_parameter("queue_idle_ms", 1000);
	nnpu_sysfs_write(self->fd, DELAY, "2000");
	close(self->fd);
}

/* Until an attribute has a value; false if it never does. */
static bool wait_for(int fd, const char *name, const char *value)
{
	unsigned int ms;

	for (ms = 0; ms < WAIT_MS; ms += 10) {
		if (nnpu_sysfs_is(fd, name, value))
			return true;
		usleep(10000);
	}
	return false;
}

/* Low when idle, high in a burst, and the queue and its position survive. */
TEST_F_TIMEOUT(power, level_follows_use, 300)
{
	uint32_t seed;

	for (seed = 1; seed < 20; seed++) {
		ASSERT_TRUE(wait_for(self->fd, STATUS, "suspended"));
		EXPECT_TRUE(nnpu_sysfs_is(self->fd, "perf_level", "low"));
		/*
		 * One request of a process that knows nothing of this, or of the driver, wakes
		 * it up.
		 */
		ASSERT_EQ(0, seed % 4 ? nnpu_uq_run(self->fd, &self->uq, &self->job, seed)
				      : nnpu_job_run(self->fd, &self->job, seed));
	}
	nnpu_set_parameter("queue_idle_ms", 600000);
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, seed));
	/* The doorbell is mapped: the device stays ready, however long nobody rings. */
	usleep(500000);
	EXPECT_TRUE(nnpu_sysfs_is(self->fd, STATUS, "active"));
	EXPECT_TRUE(nnpu_sysfs_is(self->fd, "perf_level", "high"));
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, seed + 1));
	nnpu_uq_destroy(self->fd, &self->uq);
	ASSERT_TRUE(wait_for(self->fd, STATUS, "suspended"));
	EXPECT_TRUE(nnpu_sysfs_is(self->fd, "perf_level", "low"));
	/* As debugfs says it. */
	if (nnpu_debugfs_value(self->fd, "registers", "PERF_LEVEL") >= 0) {
		EXPECT_EQ(NNPU_PERF_LOW,
			  nnpu_debugfs_value(self->fd, "registers", "PERF_LEVEL"));
	}
}

/* A device that is in use is not suspended. */
TEST_F_TIMEOUT(power, awake_while_jobs_run, 300)
{
	struct nnpu_job slow;
	bool awake, done;
	unsigned int i;

	ASSERT_EQ(0, nnpu_sysfs_write(self->fd, DELAY, "0"));
	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 256));
	for (i = 0; i < 20; i++) {
		nnpu_job_fill(&slow, i);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
		do {
			awake = nnpu_sysfs_is(self->fd, STATUS, "active");
			done = nnpu_syncobj_status(self->fd, slow.syncobj) == 1;
			/* Not ended now, so it had not when the status was read. */
			ASSERT_TRUE(awake || done);
		} while (!done);
	}
	nnpu_job_fini(self->fd, &slow);
	EXPECT_TRUE(wait_for(self->fd, STATUS, "suspended"));
}

/* Suspended, the device gives back what its engines keep between jobs. */
TEST_F_TIMEOUT(power, memory_is_given_back, 300)
{
	long busy, idle;
	struct nnpu_job slow;

	if (nnpu_debugfs_value(self->fd, "registers", "MEM_USED_LO") < 0)
		NNPU_SKIP(return, "debugfs is not readable");
	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 64));
	nnpu_set_parameter("queue_idle_ms", 600000);
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	nnpu_job_fill(&slow, 0);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &slow, WAIT_MS));
	busy = nnpu_debugfs_value(self->fd, "registers", "MEM_USED_LO");
	nnpu_uq_destroy(self->fd, &self->uq);
	ASSERT_TRUE(wait_for(self->fd, STATUS, "suspended"));
	idle = nnpu_debugfs_value(self->fd, "registers", "MEM_USED_LO");
	TH_LOG("device memory in use: %ld bytes at the high level, %ld when suspended", busy, idle);
	EXPECT_GT(busy, idle);
	nnpu_job_fini(self->fd, &slow);
}

/* Several threads open, use and close the device while it suspends and resumes. */
static int storm(unsigned int process, unsigned int rounds)
{
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		struct nnpu_job job;
		struct nnpu_uq uq;
		int fd, ret = nnpu_uq_setup(&fd, &uq, &job);

		if (ret)
			return 1;
		if (nnpu_uq_run(fd, &uq, &job, i) || nnpu_job_run(fd, &job, i))
			return 2;
		usleep(1000 * ((i * 7 + process * 3) % 12));
		if (nnpu_uq_run(fd, &uq, &job, i + 1))
			return 3;
		/* Every other one leaves it to the kernel: unmaps and closes, no more. */
		if (i % 2) {
			nnpu_job_fini(fd, &job);
			nnpu_uq_destroy(fd, &uq);
		} else {
			munmap((void *)uq.db, uq.db_size);
			munmap(uq.ring, 2 * NNPU_PAGE_SIZE);
			munmap(job.buf.map, job.buf.size);
			close(uq.fd);
		}
		close(fd);
	}
	return 0;
}

TEST_F_TIMEOUT(power, open_close_storm, 900)
{
	const char *text = getenv("NNPU_STORMS");
	unsigned int rounds = text ? (unsigned int)strtoul(text, NULL, 0) : 20, i;
	pid_t pids[PROCESSES];
	int status;

	ASSERT_EQ(0, nnpu_sysfs_write(self->fd, DELAY, "1"));
	nnpu_set_parameter("queue_idle_ms", 10);
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		ASSERT_LE(0, pids[i]);
		if (!pids[i])
			_exit(storm(i, rounds));
	}
	for (i = 0; i < PROCESSES; i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	/* No reference was lost and none is left. */
	ASSERT_TRUE(wait_for(self->fd, STATUS, "suspended"));
	/* However late this process looks. */
	nnpu_set_parameter("queue_idle_ms", 600000);
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	EXPECT_TRUE(nnpu_sysfs_is(self->fd, STATUS, "active"));
	nnpu_set_parameter("queue_idle_ms", 10);
	EXPECT_TRUE(wait_for(self->fd, STATUS, "suspended"));
}

/* A device reset takes queues and jobs, and their references with them. */
TEST_F_TIMEOUT(power, reset_in_use, 300)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	uint32_t state;
	int ret;

	nnpu_set_parameter("queue_idle_ms", 600000);
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	ret = nnpu_inject(self->fd, NNPU_INJECT_FATAL, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_uq_job_sqe(&self->job, 2, &sqe);
	nnpu_uq_push(&self->uq, &sqe);
	nnpu_uq_ring(&self->uq);
	EXPECT_EQ(-ECANCELED, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, &state));
	EXPECT_EQ(DRM_NNPU_QUEUE_STATE_LOST, state);
	ASSERT_TRUE(wait_for(self->fd, STATUS, "suspended"));
	/* A reset leaves the device at its medium level. */
	EXPECT_TRUE(wait_for(self->fd, "perf_level", "low"));
}

/* A reset while it is suspended: the low level is there again afterwards. */
TEST_F_TIMEOUT(power, reset_while_suspended, 300)
{
	struct nnpu_buf buf;
	struct nnpu_job job;
	int fd, ret;

	ASSERT_TRUE(wait_for(self->fd, STATUS, "suspended"));
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	/* Its context first: the driver repeats a CREATE_CTX that failed. */
	ASSERT_EQ(0, nnpu_buf_create(fd, &buf, 4096, DRM_NNPU_SLOT_READ));
	ret = nnpu_inject(self->fd, NNPU_INJECT_ADMIN_STATUS, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	/* PROGRAM_LOAD: no job, so it stays suspended meanwhile. */
	EXPECT_EQ(-ENODEV, nnpu_job_init(fd, &job, 16));
	close(fd);
	EXPECT_TRUE(nnpu_sysfs_is(self->fd, STATUS, "suspended"));
	EXPECT_TRUE(wait_for(self->fd, "perf_level", "low"));
}

TEST_HARNESS_MAIN
