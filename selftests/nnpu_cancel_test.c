// SPDX-License-Identifier: GPL-2.0-only
/*
 * CANCEL: of jobs that wait for fences, wait for their turn, wait in the device, or run; what it
 * must leave alone: other jobs, the context, the counters of hangs.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000
#define MS		UINT64_C(1000000)
/* More than the device takes of one context and priority: the last ones wait in the driver. */
#define QUEUED		40
/* As many as a file may have that have not ended. */
#define JOBS		256
#define RACES		400

FIXTURE(cancel)
{
	int fd;
	int other;
	struct nnpu_job job;
	/* In the way of all jobs, until it is cancelled: of another file. */
	struct nnpu_job stall;
	long hangs;
};

static int cancel(int fd, uint32_t syncobj, uint64_t point)
{
	struct drm_nnpu_cancel arg = { .syncobj = syncobj, .point = point };

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_CANCEL, &arg);
}

/* The status of a fence that signals: 1, or its error. */
static int end_of(int fd, uint32_t syncobj)
{
	int ret = nnpu_syncobj_wait(fd, syncobj, WAIT_MS);

	return ret ? ret : nnpu_syncobj_status(fd, syncobj);
}

static int share(int from, uint32_t handle, int to, uint32_t *shared)
{
	struct drm_syncobj_handle arg = { .handle = handle, .fd = -1 };
	int ret = nnpu_ioctl(from, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg);

	if (ret)
		return ret;
	ret = nnpu_ioctl(to, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arg);
	close(arg.fd);
	*shared = arg.handle;
	return ret;
}

static long jobs_alive(int fd)
{
	return nnpu_debugfs_value(fd, "objects", "jobs");
}

FIXTURE_SETUP(cancel)
{
	self->other = -1;
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0))
		NNPU_SKIP(return, "no fault injection");
	self->other = nnpu_open();
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 64));
	ASSERT_EQ(0, nnpu_job_init(self->other, &self->stall, 64));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
	/* No watchdog takes a part in what is looked at here. */
	nnpu_set_timeouts(300000, 10000);
	self->hangs = nnpu_debugfs_value(self->fd, "stats", "hangs");
}

FIXTURE_TEARDOWN(cancel)
{
	if (self->fd < 0)
		return;
	nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	nnpu_set_parameter("abort_timeout_ms", 1000);
	if (self->other >= 0)
		close(self->other);
	close(self->fd);
}

static int submit_faulty(int fd, struct nnpu_job *job, unsigned int kind)
{
	int ret = nnpu_inject(fd, kind, 1);

	if (ret)
		return ret;
	nnpu_job_fill(job, 9);
	return nnpu_job_submit(fd, job);
}

/* Wait until the engine runs a job, or none any more. */
static int await_engine(int fd, bool runs)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS; i++) {
		/* Less than 0: the device sleeps. */
		if ((nnpu_debugfs_value(fd, "registers", "E0_CURRENT") > 0) == runs)
			return 0;
		usleep(1000);
	}
	return -ETIME;
}

/* One that is cancelled before it begins would leave its fault to the next one: wait for that. */
static int begin_faulty(int fd, struct nnpu_job *job, unsigned int kind)
{
	int ret = await_engine(fd, false);

	if (!ret)
		ret = submit_faulty(fd, job, kind);
	return ret ? ret : await_engine(fd, true);
}

/* The job makes no progress until it is aborted. */
static int stall(int fd, struct nnpu_job *job)
{
	return begin_faulty(fd, job, NNPU_INJECT_JOB_STALL);
}

/* No hang was counted, no context lost, and jobs run. */
static int all_is_well(int fd, struct nnpu_job *job, long hangs)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);

	if (nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size) || info.jobs_timedout ||
	    info.flags & DRM_NNPU_CONTEXT_LOST)
		return -ESTALE;
	if (nnpu_debugfs_value(fd, "stats", "hangs") != hangs)
		return -ETIME;
	return nnpu_job_run(fd, job, 5);
}

TEST_F(cancel, running)
{
	ASSERT_EQ(0, stall(self->fd, &self->job));
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 0));
	EXPECT_EQ(-ECANCELED, end_of(self->fd, self->job.syncobj));
	EXPECT_FALSE(nnpu_job_correct(&self->job, 9));
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* In the middle of a long one that makes progress: sooner each time, as it may be over by then. */
TEST_F(cancel, busy)
{
	unsigned int tries, delay = 9000, cancelled = 0;
	struct nnpu_job slow;
	int ret, end;

	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 384));
	for (tries = 0; tries < 40 && cancelled < 4; tries++, delay -= delay / 3) {
		nnpu_job_fill(&slow, 1);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
		usleep(delay);
		ret = cancel(self->fd, slow.syncobj, 0);
		end = end_of(self->fd, slow.syncobj);
		EXPECT_TRUE(end == -ECANCELED ? !ret : end == 1 && (!ret || ret == -EALREADY)) {
			TH_LOG("cancel %d, fence %d", ret, end);
		}
		cancelled += end == -ECANCELED;
	}
	EXPECT_EQ(4, cancelled);
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/*
 * Behind a job that stalls: one goes to the device past the scheduler, more wait in the device, the
 * last in the driver. Every second one is cancelled, the last first.
 */
TEST_F(cancel, every_second)
{
	uint32_t syncobjs[QUEUED];
	struct nnpu_job jobs[QUEUED];
	unsigned int i;

	ASSERT_EQ(0, stall(self->other, &self->stall));
	for (i = 0; i < QUEUED; i++) {
		ASSERT_EQ(0, nnpu_job_init(self->fd, &jobs[i], 16));
		nnpu_job_fill(&jobs[i], i);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &jobs[i]));
		syncobjs[i] = jobs[i].syncobj;
	}
	for (i = QUEUED; i--; ) {
		if (i % 2)
			continue;
		EXPECT_EQ(0, cancel(self->fd, syncobjs[i], 0));
		/* While the job that stalls is in the way. */
		EXPECT_EQ(-ECANCELED, end_of(self->fd, syncobjs[i])) {
			TH_LOG("job %u", i);
		}
		EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&jobs[i])->status);
	}
	EXPECT_EQ(0, nnpu_syncobj_status(self->other, self->stall.syncobj));
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, syncobjs[1]));
	EXPECT_EQ(0, cancel(self->other, self->stall.syncobj, 0));
	for (i = 1; i < QUEUED; i += 2) {
		EXPECT_EQ(1, end_of(self->fd, syncobjs[i]));
		EXPECT_TRUE(nnpu_job_correct(&jobs[i], i));
	}
	EXPECT_EQ(-ECANCELED, end_of(self->other, self->stall.syncobj));
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* A job that waits for a fence leaves. Its fence does not signal before that one. */
TEST_F(cancel, behind_a_fence)
{
	struct drm_nnpu_sync in = { 0 };
	struct nnpu_job next;
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, 16));
	ASSERT_EQ(0, stall(self->other, &self->stall));
	ASSERT_EQ(0, share(self->other, self->stall.syncobj, self->fd, &in.handle));
	self->job.submit.in_syncs = (uintptr_t)&in;
	self->job.submit.num_in_syncs = 1;
	nnpu_job_fill(&self->job, 3);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	/* The same priority, behind it. */
	nnpu_job_fill(&next, 4);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &next));
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 0));
	for (i = 0; i < 5000 && jobs_alive(self->fd) > 2; i++)
		usleep(1000);
	EXPECT_EQ(2, jobs_alive(self->fd));
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	/* It has ended; only its fence waits. */
	EXPECT_EQ(-EALREADY, cancel(self->fd, self->job.syncobj, 0));
	EXPECT_EQ(0, nnpu_syncobj_status(self->other, self->stall.syncobj));
	EXPECT_EQ(0, cancel(self->other, self->stall.syncobj, 0));
	EXPECT_EQ(-ECANCELED, end_of(self->fd, self->job.syncobj));
	EXPECT_NE(0, nnpu_syncobj_status(self->other, self->stall.syncobj));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&self->job)->status);
	EXPECT_EQ(1, end_of(self->fd, next.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&next, 4));
	self->job.submit.num_in_syncs = 0;
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* Who cancels in a loop what waits for a fence leaves a limited number behind. */
TEST_F(cancel, fences_are_limited)
{
	struct drm_nnpu_sync in = { 0 };
	unsigned int i, n, tries;
	int ret = 0;

	ASSERT_EQ(0, stall(self->other, &self->stall));
	ASSERT_EQ(0, share(self->other, self->stall.syncobj, self->fd, &in.handle));
	self->job.submit.in_syncs = (uintptr_t)&in;
	self->job.submit.num_in_syncs = 1;
	self->job.submit.flags = DRM_NNPU_SUBMIT_NONBLOCK;
	for (n = 0; n < 8 * JOBS; n++) {
		ret = nnpu_job_submit(self->fd, &self->job);
		/* Those that leave take a moment. */
		for (tries = 0; ret == -EBUSY && tries < 1000; tries++) {
			usleep(1000);
			ret = nnpu_job_submit(self->fd, &self->job);
		}
		if (ret)
			break;
		ASSERT_EQ(0, cancel(self->fd, self->job.syncobj, 0));
		EXPECT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	}
	EXPECT_EQ(-EBUSY, ret);
	/* As many as leave, and as many as wait. */
	EXPECT_LT(JOBS, n);
	TH_LOG("%u jobs", n);
	EXPECT_EQ(0, cancel(self->other, self->stall.syncobj, 0));
	/* Of the last one that was submitted. */
	EXPECT_EQ(-ECANCELED, end_of(self->fd, self->job.syncobj));
	for (i = 0; i < 5000 && jobs_alive(self->fd); i++)
		usleep(1000);
	EXPECT_EQ(0, jobs_alive(self->fd));
	self->job.submit.num_in_syncs = 0;
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* A link of a chain: those that ask for the error have it, others run. */
TEST_F(cancel, chain)
{
	struct nnpu_job heir, runs;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &heir, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &runs, 16));
	ASSERT_EQ(0, stall(self->fd, &self->job));
	nnpu_job_fill(&heir, 1);
	heir.submit.in_syncs = (uintptr_t)&self->job.out_sync;
	heir.submit.num_in_syncs = 1;
	heir.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &heir));
	nnpu_job_fill(&runs, 2);
	runs.submit.in_syncs = (uintptr_t)&heir.out_sync;
	runs.submit.num_in_syncs = 1;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &runs));
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 0));
	EXPECT_EQ(-ECANCELED, end_of(self->fd, heir.syncobj));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&heir)->status);
	EXPECT_EQ(1, end_of(self->fd, runs.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&runs, 2));
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

TEST_F(cancel, twice)
{
	ASSERT_EQ(0, stall(self->fd, &self->job));
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 0));
	/* 0: it is being aborted; or it has ended. */
	if (cancel(self->fd, self->job.syncobj, 0))
		EXPECT_EQ(-EALREADY, cancel(self->fd, self->job.syncobj, 0));
	EXPECT_EQ(-ECANCELED, end_of(self->fd, self->job.syncobj));
	EXPECT_EQ(-EALREADY, cancel(self->fd, self->job.syncobj, 0));
	EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, self->job.syncobj));
	/* One that has ended well stays so. */
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 2));
	EXPECT_EQ(-EALREADY, cancel(self->fd, self->job.syncobj, 0));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, self->job.syncobj));
}

TEST_F(cancel, wrong)
{
	struct drm_nnpu_cancel arg = { .syncobj = self->job.syncobj };
	struct drm_syncobj_array signal = { .count_handles = 1 };
	uint32_t empty, shared;
	unsigned int bit;

	ASSERT_EQ(0, stall(self->fd, &self->job));
	for (bit = 0; bit < 32; bit++) {
		arg.flags = 1u << bit;
		EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_CANCEL, &arg));
	}
	EXPECT_EQ(-ENOENT, cancel(self->fd, 0, 0));
	EXPECT_EQ(-ENOENT, cancel(self->fd, 0xffffffff, 0));
	EXPECT_EQ(-ENOENT, cancel(self->fd, self->job.syncobj, 7));
	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &empty));
	EXPECT_EQ(-ENOENT, cancel(self->fd, empty, 0));
	EXPECT_EQ(-ENOENT, cancel(self->fd, empty, 1));
	signal.handles = (uintptr_t)&empty;
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &signal));
	EXPECT_EQ(-EALREADY, cancel(self->fd, empty, 0));
	/* A job of another file, by its own fence. */
	ASSERT_EQ(0, share(self->fd, self->job.syncobj, self->other, &shared));
	EXPECT_EQ(-ENOENT, cancel(self->other, shared, 0));
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	/* By a fence that has gone out and come back it is one's own. */
	ASSERT_EQ(0, share(self->other, shared, self->fd, &shared));
	EXPECT_EQ(0, cancel(self->fd, shared, 0));
	EXPECT_EQ(-ECANCELED, end_of(self->fd, self->job.syncobj));
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

TEST_F(cancel, point_of_a_timeline)
{
	struct nnpu_job next;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, 16));
	nnpu_job_fill(&next, 1);
	self->job.out_sync.point = 5;
	ASSERT_EQ(0, stall(self->fd, &self->job));
	next.out_sync = self->job.out_sync;
	next.out_sync.point = 6;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &next));
	EXPECT_EQ(-ENOENT, cancel(self->fd, self->job.syncobj, 7));
	/* The second, then the first. */
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 6));
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 5));
	EXPECT_EQ(0, nnpu_syncobj_wait(self->fd, self->job.syncobj, WAIT_MS));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&next)->status);
	EXPECT_NE(NNPU_STATUS_SUCCESS, nnpu_job_result(&self->job)->status);
	EXPECT_EQ(-EALREADY, cancel(self->fd, self->job.syncobj, 5));
	self->job.out_sync.point = 0;
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* A deadline that passes at the same time: one of both is the end. */
TEST_F(cancel, deadline)
{
	struct nnpu_job slow;
	unsigned int i;
	int end;

	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 384));
	slow.submit.flags = DRM_NNPU_SUBMIT_DEADLINE_RELATIVE | DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	for (i = 0; i < 10; i++) {
		nnpu_job_fill(&slow, 1);
		slow.submit.deadline_ns = (1 + i) * MS;
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
		usleep(4000);
		end = cancel(self->fd, slow.syncobj, 0);
		EXPECT_TRUE(!end || end == -EALREADY);
		end = end_of(self->fd, slow.syncobj);
		EXPECT_TRUE(end == -ETIME || end == -ECANCELED);
	}
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

struct racer {
	int fd;
	struct nnpu_job job;
	pthread_t thread;
	volatile bool stop;
	unsigned int wrong;
};

/* Jobs of somebody else, whom nothing of this concerns. */
static void *run_jobs(void *data)
{
	struct racer *r = data;
	uint32_t i;

	for (i = 0; !r->stop; i++)
		r->wrong += nnpu_job_run(r->fd, &r->job, i) != 0;
	return NULL;
}

/* At each moment of the life of a job. */
TEST_F(cancel, race_with_the_end)
{
	struct racer other = { .fd = self->other };
	unsigned int i, n, done = 0, cancelled = 0, bad = 0;
	int ret, end;

	ASSERT_EQ(0, nnpu_job_init(self->other, &other.job, 16));
	ASSERT_EQ(0, pthread_create(&other.thread, NULL, run_jobs, &other));
	for (i = 0; i < RACES; i++) {
		nnpu_job_fill(&self->job, i);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
		for (n = 0; n < (i % 40) * 200; n++)
			__asm__ volatile("" : : : "memory");
		ret = cancel(self->fd, self->job.syncobj, 0);
		end = end_of(self->fd, self->job.syncobj);
		if (end == 1 && (!ret || ret == -EALREADY)) {
			done++;
			bad += !nnpu_job_correct(&self->job, i);
		} else if (end == -ECANCELED && !ret) {
			cancelled++;
		} else {
			bad++;
			TH_LOG("run %u: cancel %d, fence %d", i, ret, end);
		}
	}
	other.stop = true;
	pthread_join(other.thread, NULL);
	TH_LOG("%u ended by themselves, %u cancelled", done, cancelled);
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, other.wrong);
	EXPECT_LT(0, cancelled);
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

static void *cancel_all(void *data)
{
	struct racer *r = data;

	while (!r->stop)
		cancel(r->fd, r->job.syncobj, 0);
	return NULL;
}

/* Two who cancel the job that a third one submits anew all the time. */
TEST_F(cancel, race_of_many)
{
	struct racer racers[2], other = { .fd = self->other };
	unsigned int i, bad = 0;
	int end;

	ASSERT_EQ(0, nnpu_job_init(self->other, &other.job, 16));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
	ASSERT_EQ(0, pthread_create(&other.thread, NULL, run_jobs, &other));
	for (i = 0; i < 2; i++) {
		racers[i] = (struct racer){ .fd = self->fd, .job = self->job };
		ASSERT_EQ(0, pthread_create(&racers[i].thread, NULL, cancel_all, &racers[i]));
	}
	for (i = 0; i < RACES; i++) {
		nnpu_job_fill(&self->job, i);
		/* Past the scheduler, and through it behind the one before. */
		self->job.submit.in_syncs = (uintptr_t)&self->job.out_sync;
		self->job.submit.num_in_syncs = i % 3 == 1;
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
		end = i % 3 ? end_of(self->fd, self->job.syncobj) : -ECANCELED;
		bad += end != -ECANCELED && !(end == 1 && nnpu_job_correct(&self->job, i));
	}
	for (i = 0; i < 2; i++) {
		racers[i].stop = true;
		pthread_join(racers[i].thread, NULL);
	}
	other.stop = true;
	pthread_join(other.thread, NULL);
	EXPECT_EQ(0, bad);
	EXPECT_EQ(0, other.wrong);
	self->job.submit.num_in_syncs = 0;
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* A client that submits and cancels is killed at some moment; nothing of it is left. */
TEST_F(cancel, killed)
{
	unsigned int i, n;
	pid_t pid;

	for (i = 0; i < 10; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct nnpu_job job;
			int fd = nnpu_open();

			if (fd < 0 || nnpu_job_init(fd, &job, 16))
				_exit(1);
			for (n = 0;; n++) {
				nnpu_job_submit(fd, &job);
				if (n % 3)
					cancel(fd, job.syncobj, 0);
			}
		}
		usleep(5000 * (i + 1));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	for (i = 0; i < 10000 && jobs_alive(self->fd); i++)
		usleep(1000);
	EXPECT_EQ(0, jobs_alive(self->fd));
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* The context is destroyed while its job is cancelled. */
TEST_F(cancel, context_goes)
{
	struct drm_nnpu_context_create attrs = { 0 };
	struct racer racer = { .fd = self->fd };
	unsigned int i;
	int end;

	for (i = 0; i < 20; i++) {
		ASSERT_EQ(0, nnpu_context_create(self->fd, &attrs, &nnpu_test_ctx));
		ASSERT_EQ(0, nnpu_job_init(self->fd, &racer.job, 16));
		racer.stop = false;
		ASSERT_EQ(0, pthread_create(&racer.thread, NULL, cancel_all, &racer));
		ASSERT_EQ(0, submit_faulty(self->fd, &racer.job, NNPU_INJECT_JOB_STALL));
		EXPECT_EQ(0, nnpu_context_destroy(self->fd, nnpu_test_ctx));
		end = end_of(self->fd, racer.job.syncobj);
		EXPECT_EQ(-ECANCELED, end);
		racer.stop = true;
		pthread_join(racer.thread, NULL);
		munmap(racer.job.buf.map, racer.job.buf.size);
		nnpu_bo_close(self->fd, racer.job.buf.handle);
		nnpu_test_ctx = 0;
	}
	nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0);
	EXPECT_EQ(0, all_is_well(self->fd, &self->job, self->hangs));
}

/* A job that does not heed ABORT is a hang all the same: it is charged, and others go on. */
TEST_F(cancel, deaf)
{
	ASSERT_EQ(0, nnpu_job_run(self->other, &self->stall, 1));
	ASSERT_EQ(0, begin_faulty(self->fd, &self->job, NNPU_INJECT_JOB_DEAF));
	nnpu_job_fill(&self->stall, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->other, &self->stall));
	EXPECT_EQ(0, cancel(self->fd, self->job.syncobj, 0));
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	EXPECT_EQ(-ETIME, end_of(self->fd, self->job.syncobj));
	EXPECT_EQ(1, end_of(self->other, self->stall.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&self->stall, 2));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 3));
}

/* Is there a line in "state" that has both words? It gets the line. */
static bool state_has(int fd, const char *word, const char *other, char line[512])
{
	char path[NNPU_DEBUGFS_PATH_MAX + 32], dir[NNPU_DEBUGFS_PATH_MAX];
	bool found = false;
	FILE *f;

	if (nnpu_debugfs_dir(fd, dir))
		return false;
	snprintf(path, sizeof(path), "%s/state", dir);
	f = fopen(path, "r");
	while (f && !found && fgets(line, 512, f))
		found = strstr(line, word) && strstr(line, other);
	if (f)
		fclose(f);
	return found;
}

/* The admin queue has taken another command than @before says, and has none in flight. */
static bool admin_moved_on(int fd, const char *before, char line[512])
{
	return state_has(fd, "(admin)", ", 0 of", line) && strcmp(line, before);
}

/* Engine time of the client of a file, as fdinfo says. */
static long long engine_ns(int fd)
{
	long long ns = -1;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "drm-engine-npu:", 15))
			ns = strtoll(line + 15, NULL, 10);
	if (f)
		fclose(f);
	return ns;
}

/*
 * A job that recovery holds, because it is about to reset the queue, and that is taken back: the
 * device never had it. A job that does not heed ABORT brings recovery there, and a command that is
 * not answered keeps it there.
 */
TEST_F(cancel, held)
{
	char before[512] = "", line[512];
	struct nnpu_job next;
	long long engine;
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, 16));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &next, 1));
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_DEAF, 1));
	nnpu_job_fill(&self->job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	nnpu_set_parameter("abort_timeout_ms", 10000);
	nnpu_set_timeouts(1000, 15000);
	/* Until it is found to hang the watchdog and others send commands, too. */
	for (i = 0; i < 1000000; i++) {
		bool idle = state_has(self->fd, "(admin)", ", 0 of", line);

		if (nnpu_debugfs_value(self->fd, "stats", "hangs") != self->hangs)
			break;
		if (idle)
			memcpy(before, line, sizeof(before));
	}
	/* ABORT has been answered: the next command is the reset of the queue. */
	for (i = 0; i < 20000 && !admin_moved_on(self->fd, before, line); i++)
		usleep(1000);
	ASSERT_TRUE(admin_moved_on(self->fd, before, line));
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_ADMIN_STALL, 1));
	for (i = 0; i < 60000 && !state_has(self->fd, "(admin)", ", 1 of", line); i++)
		usleep(1000);
	ASSERT_TRUE(state_has(self->fd, "(admin)", ", 1 of", line));
	engine = engine_ns(self->fd);
	ASSERT_LT(0, engine);
	nnpu_job_fill(&next, 2);
	/* Where memory is bounced, one of the same priority would wait for the other one's end. */
	next.submit.priority = DRM_NNPU_PRIORITY_LOW;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &next));
	/* The scheduler's worker runs it. */
	for (i = 0; i < 10000 && !state_has(self->fd, "job ", ", held", line); i++)
		usleep(1000);
	ASSERT_TRUE(state_has(self->fd, "job ", ", held", line));
	/* Time that it must not be charged for. */
	usleep(20000);
	EXPECT_EQ(0, cancel(self->fd, next.syncobj, 0));
	EXPECT_EQ(-ECANCELED, end_of(self->fd, next.syncobj));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&next)->status);
	EXPECT_EQ(engine, engine_ns(self->fd));
	/* The command is given up, and the device is reset. */
	EXPECT_EQ(-ETIME, end_of(self->fd, self->job.syncobj));
	ASSERT_EQ(0, nnpu_context_destroy(self->fd, 0));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, 16));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &next, 3));
}

/* A device reset meanwhile: the job ends, and so does everything else, with a status. */
TEST_F(cancel, device_reset)
{
	struct racer racer = { .fd = self->fd, .job = self->job };
	struct nnpu_job job;
	int end;

	ASSERT_EQ(0, begin_faulty(self->fd, &self->job, NNPU_INJECT_JOB_STUCK));
	ASSERT_EQ(0, pthread_create(&racer.thread, NULL, cancel_all, &racer));
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	end = end_of(self->fd, self->job.syncobj);
	EXPECT_TRUE(end == -ETIME || end == -ECANCELED || end == -EIO) {
		TH_LOG("fence %d", end);
	}
	racer.stop = true;
	pthread_join(racer.thread, NULL);
	EXPECT_EQ(-EALREADY, cancel(self->fd, self->job.syncobj, 0));
	ASSERT_EQ(0, nnpu_context_destroy(self->fd, 0));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 3));
}

TEST_HARNESS_MAIN
