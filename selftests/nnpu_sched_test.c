// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs of several files and priorities: who waits for whom. No result depends on how fast
 * anything is: what counts is how many jobs of the others had ended when a job had.
 */
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
/* Edge of the convolution of a job of a flood. */
#define SLOW		192

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

/* A file that floods the device does not make another one wait for its turn 256 times. */
TEST_F(nnpu, flood)
{
	uint64_t before, ended;
	unsigned int i;

	ASSERT_EQ(0, submit(self->flood, &self->slow, DRM_NNPU_PRIORITY_HIGH, FLOOD));
	before = ended_jobs(self->flood);
	for (i = 0; i < 4; i++) {
		self->job.submit.priority = DRM_NNPU_PRIORITY_LOW;
		ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, i));
	}
	ended = ended_jobs(self->flood);
	TH_LOG("four jobs ended after %u of %u of the flood", (unsigned int)(ended - before),
	       (unsigned int)(FLOOD - before));
	EXPECT_GT((FLOOD - before) / 2, ended - before);
	ASSERT_EQ(0, nnpu_job_wait(self->flood, &self->slow, WAIT_MS));
	EXPECT_EQ(1, nnpu_syncobj_status(self->flood, self->slow.syncobj));
}

/* Within a file a job of high priority overtakes those of low priority that wait. */
TEST_F(nnpu, priority)
{
	uint64_t before, ended;

	ASSERT_EQ(0, submit(self->flood, &self->slow, DRM_NNPU_PRIORITY_LOW, FLOOD - 1));
	before = ended_jobs(self->flood);
	ASSERT_EQ(0, submit(self->flood, &self->slow, DRM_NNPU_PRIORITY_HIGH, 1));
	/* Its fence has replaced those of the others. */
	ASSERT_EQ(0, nnpu_job_wait(self->flood, &self->slow, WAIT_MS));
	ended = ended_jobs(self->flood);
	TH_LOG("one job of high priority ended after %u of %u others", (unsigned int)(ended - before),
	       (unsigned int)(FLOOD - 1 - before));
	EXPECT_GT((FLOOD - 1 - before) / 2, ended - before);
	ASSERT_EQ(0, submit(self->flood, &self->slow, DRM_NNPU_PRIORITY_LOW, 1));
	ASSERT_EQ(0, nnpu_job_wait(self->flood, &self->slow, WAIT_MS));
	EXPECT_EQ(FLOOD + 1, ended_jobs(self->flood));
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

TEST_HARNESS_MAIN
