// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs of several files and priorities: who waits for whom. No result depends on how fast
 * anything is: what counts is how many jobs of the others had ended when a job had.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

#define WAIT_MS		300000
/* As many as a file may have that have not ended. */
#define FLOOD		256
/* Of a second each, until the test has seen what it wants to see: long enough on any machine. */
#define SLOW_JOBS	60
/* Edge of the convolution of a job of a flood; the longest one takes sixteen times as long. */
#define SLOW		192
#define SLOWEST		(4 * SLOW)
/* Links of a chain of jobs. */
#define CHAIN		12

FIXTURE(nnpu)
{
	int fd;
	int flood;
	struct nnpu_job job;
	struct nnpu_job slow;
};

FIXTURE_SETUP(nnpu)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	self->flood = nnpu_open();
	ASSERT_LE(0, self->flood);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 64));
	ASSERT_EQ(0, nnpu_job_init_slow(self->flood, &self->slow, SLOW));
	nnpu_job_fill(&self->slow, 1);
}

FIXTURE_TEARDOWN(nnpu)
{
	if (self->fd < 0)
		return;
	nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0);
	nnpu_job_fini(self->fd, &self->job);
	nnpu_job_fini(self->flood, &self->slow);
	close(self->fd);
	close(self->flood);
}

static uint64_t ended_jobs(int fd)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);

	return nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size) ? UINT64_MAX :
	       info.jobs_completed;
}

/* Submit @count jobs of @priority; the fence of the last one is the job's. */
static int submit(int fd, struct nnpu_job *job, unsigned int priority, unsigned int count)
{
	int ret = 0;

	job->submit.priority = priority;
	while (count-- && !ret)
		ret = nnpu_job_submit(fd, job);
	return ret;
}

/*
 * One flood of jobs like @slow, and @count jobs like @job, one after the other, each at its
 * priority. *@overtaken: they ended before half of what the flood had left. 0 or -errno.
 */
static int run_in_flood(int slow_fd, struct nnpu_job *slow, int fd, struct nnpu_job *job,
			unsigned int count, bool *overtaken)
{
	uint64_t all = ended_jobs(slow_fd) + FLOOD - 1, before, ended;
	int ret = submit(slow_fd, slow, slow->submit.priority, FLOOD - 1);
	unsigned int i;

	before = ended_jobs(slow_fd);
	for (i = 0; !ret && i < count; i++)
		ret = nnpu_job_run(fd, job, i);
	ended = ended_jobs(slow_fd);
	fprintf(stderr, "# %u jobs ended after %u of %u of the flood\n", count,
		(unsigned int)(ended - before), (unsigned int)(all - before));
	*overtaken = ended - before < (all - before) / 2;
	return ret ? ret : nnpu_job_wait(slow_fd, slow, WAIT_MS);
}

/*
 * Do @count jobs overtake a flood? This process takes its time, too, and jobs of the flood end
 * meanwhile: the longer they take, the less that counts. So a flood that was too short is repeated
 * with longer jobs. A scheduler that has jobs wait for the flood fails with all of them. 0 or
 * -errno; -ETIME: the flood was always faster.
 */
static int overtake(int slow_fd, unsigned int slow_priority, int fd, unsigned int priority,
		    unsigned int count)
{
	bool overtaken = false;
	struct nnpu_job job;
	uint32_t edge;
	int ret;

	ret = nnpu_job_init(fd, &job, 64);
	if (ret)
		return ret;
	job.submit.priority = priority;
	for (edge = SLOW; !ret && !overtaken && edge <= SLOWEST; edge *= 2) {
		struct nnpu_job slow;

		ret = nnpu_job_init_slow(slow_fd, &slow, edge);
		if (ret)
			break;
		slow.submit.priority = slow_priority;
		nnpu_job_fill(&slow, 1);
		ret = run_in_flood(slow_fd, &slow, fd, &job, count, &overtaken);
		if (!ret && nnpu_syncobj_status(slow_fd, slow.syncobj) != 1)
			ret = -EIO;
		nnpu_job_fini(slow_fd, &slow);
	}
	nnpu_job_fini(fd, &job);
	return ret || overtaken ? ret : -ETIME;
}

/* A file that floods the device does not make another one wait for its turn 256 times. */
TEST_F(nnpu, flood)
{
	EXPECT_EQ(0, overtake(self->flood, DRM_NNPU_PRIORITY_HIGH, self->fd, DRM_NNPU_PRIORITY_LOW,
			      4));
}

/* Within a file a job of high priority overtakes those of low priority that wait. */
TEST_F(nnpu, priority)
{
	EXPECT_EQ(0, overtake(self->flood, DRM_NNPU_PRIORITY_LOW, self->flood,
			      DRM_NNPU_PRIORITY_HIGH, 1));
}

/*
 * While a job hangs, another file's jobs of all priorities are with the device longer than a
 * job that runs may stand still. None of them is blamed or ends otherwise.
 */
TEST_F(nnpu, waiting_is_no_hang)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);
	unsigned int i;
	int ret;

	ret = nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_job_fill(&self->job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	/* The next job to begin takes the injection. */
	while (nnpu_debugfs_value(self->fd, "registers", "Q1_CURRENT") == 0 &&
	       nnpu_syncobj_status(self->fd, self->job.syncobj) == 0)
		usleep(1000);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	for (i = 0; i < 60; i++)
		ASSERT_EQ(0, submit(self->flood, &self->slow, i % 3, 1));
	ASSERT_EQ(0, nnpu_job_wait(self->flood, &self->slow, WAIT_MS));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	EXPECT_EQ(-ETIME, nnpu_syncobj_status(self->fd, self->job.syncobj));
	while (ended_jobs(self->flood) < 60)
		usleep(1000);
	ASSERT_EQ(0, nnpu_query(self->flood, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size));
	EXPECT_EQ(0, info.jobs_failed);
	EXPECT_EQ(0, info.jobs_timedout);
}

/* A job that waits for jobs of another file, seconds long, does not hold up those behind it. */
TEST_F(nnpu, a_fence_holds_up_nobody)
{
	struct drm_nnpu_sync in = { 0 };
	struct nnpu_job waits;
	int first, flood, ret;

	ret = nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, NNPU_INJECT_COUNT_MASK);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &waits, 64));
	ASSERT_EQ(0, submit(self->flood, &self->slow, DRM_NNPU_PRIORITY_HIGH, SLOW_JOBS));
	ASSERT_EQ(0, nnpu_syncobj_share(self->flood, self->slow.syncobj, self->fd, &in.handle));
	waits.submit.in_syncs = (uintptr_t)&in;
	waits.submit.num_in_syncs = 1;
	nnpu_job_fill(&waits, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &waits));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, 2));
	/* In this order: the others were there when the first job was looked at. */
	first = nnpu_syncobj_status(self->fd, waits.syncobj);
	flood = nnpu_syncobj_status(self->flood, self->slow.syncobj);
	EXPECT_EQ(0, first);
	EXPECT_EQ(0, flood);
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &waits, WAIT_MS));
	EXPECT_EQ(1, nnpu_syncobj_status(self->flood, self->slow.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&waits, 1));
	nnpu_syncobj_destroy(self->fd, in.handle);
	nnpu_job_fini(self->fd, &waits);
}

/* A file with jobs that wait for jobs of others, and for each other. */
static int submit_chains(int fd, struct nnpu_job *job, uint32_t of_others)
{
	struct drm_nnpu_sync in[2] = { { .handle = of_others }, { .handle = job->syncobj } };
	unsigned int i;
	int ret = 0;

	job->submit.in_syncs = (uintptr_t)in;
	for (i = 0; !ret && i < CHAIN; i++) {
		/* Nothing has the syncobj of the job before the first link is there. */
		job->submit.num_in_syncs = i ? 2 : 1;
		job->submit.priority = i % 3;
		job->submit.flags = i % 5 ? 0 : DRM_NNPU_SUBMIT_PROPAGATE;
		ret = nnpu_job_submit(fd, job);
	}
	job->submit.num_in_syncs = 0;
	return ret;
}

/*
 * The end of the fences that jobs wait for meets the close of their file, at any moment of both:
 * each fence signals, and nothing is left.
 */
TEST_F_TIMEOUT(nnpu, fences_end_while_files_close, 600)
{
	long jobs = nnpu_debugfs_value(self->fd, "objects", "jobs");
	const char *closes = getenv("NNPU_CLOSES");
	unsigned int rounds = closes ? (unsigned int)atoi(closes) : 200, i, ms;

	for (i = 0; i < rounds; i++) {
		uint32_t others, out;
		struct nnpu_job job;
		unsigned int spin;
		int fd, status;

		fd = nnpu_open();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, nnpu_job_init(fd, &job, 1));
		ASSERT_EQ(0, nnpu_syncobj_share(self->fd, self->job.syncobj, fd, &others));
		ASSERT_EQ(0, nnpu_syncobj_share(fd, job.syncobj, self->fd, &out));
		nnpu_job_fill(&self->job, i);
		ASSERT_EQ(0, submit(self->fd, &self->job, DRM_NNPU_PRIORITY_LOW, 3));
		ASSERT_EQ(0, submit_chains(fd, &job, others));
		munmap(job.buf.map, job.buf.size);
		for (spin = i % 32 * 20000; spin; spin--)
			__asm__ volatile("" : : : "memory");
		close(fd);
		ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, out, WAIT_MS));
		status = nnpu_syncobj_status(self->fd, out);
		EXPECT_TRUE(status == 1 || status == -ECANCELED) {
			TH_LOG("round %u: %d", i, status);
		}
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
		EXPECT_TRUE(nnpu_job_correct(&self->job, i));
		nnpu_syncobj_destroy(self->fd, out);
	}
	for (ms = 0; nnpu_debugfs_value(self->fd, "objects", "jobs") > jobs && ms < WAIT_MS; ms++)
		usleep(1000);
	EXPECT_EQ(jobs, nnpu_debugfs_value(self->fd, "objects", "jobs"));
	for (ms = 0; nnpu_debugfs_value(self->fd, "objects", "contexts") > 2 && ms < WAIT_MS; ms++)
		usleep(1000);
	EXPECT_GE(2, nnpu_debugfs_value(self->fd, "objects", "contexts"));
}

TEST_HARNESS_MAIN
