// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deadlines: of jobs that wait for fences, that wait for the device, and that run.
 */
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000
#define MS		UINT64_C(1000000)
#define FAR		(600 * 1000 * MS)
/* Jobs of a second each, before the one that is looked at. */
#define BEFORE		4
#define TRIES		5

FIXTURE(deadline)
{
	int fd;
	struct nnpu_job job;
};

static bool has_deadlines(int fd)
{
	struct drm_nnpu_device_info info = { 0 };
	uint32_t size = sizeof(info);

	return !nnpu_query(fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size) &&
	       info.features & NNPU_FEATURE_DEADLINE;
}

FIXTURE_SETUP(deadline)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	if (!has_deadlines(self->fd))
		NNPU_SKIP(return, "no deadlines");
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 16));
	nnpu_job_fill(&self->job, 1);
}

FIXTURE_TEARDOWN(deadline)
{
	if (self->fd >= 0)
		close(self->fd);
}

/* The error of the fence, after it has signalled; 1: none. */
static int end_of(int fd, struct nnpu_job *job)
{
	int ret = nnpu_job_submit(fd, job);

	if (!ret)
		ret = nnpu_job_wait(fd, job, WAIT_MS);
	return ret ? ret : nnpu_syncobj_status(fd, job->syncobj);
}

TEST_F(deadline, in_time)
{
	struct drm_nnpu_submit *s = &self->job.submit;

	s->deadline_ns = nnpu_now_ns() + FAR;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
	s->deadline_ns = UINT64_MAX;
	s->flags = DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 2));
	s->deadline_ns = nnpu_now_ns() + FAR;
	s->duration_ns = FAR;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 4));
	s->duration_ns = UINT64_MAX;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 5));
}

TEST_F(deadline, passed)
{
	struct drm_nnpu_context_info info = { 0 };
	struct drm_nnpu_submit *s = &self->job.submit;
	uint32_t size = sizeof(info);

	s->deadline_ns = 1;
	EXPECT_EQ(-ETIME, end_of(self->fd, &self->job));
	s->deadline_ns = nnpu_now_ns();
	EXPECT_EQ(-ETIME, end_of(self->fd, &self->job));
	s->deadline_ns = 0;
	s->duration_ns = 1;
	EXPECT_EQ(-ETIME, end_of(self->fd, &self->job));
	/* The earlier one counts. */
	s->deadline_ns = nnpu_now_ns() + FAR;
	EXPECT_EQ(-ETIME, end_of(self->fd, &self->job));
	s->duration_ns = FAR;
	s->deadline_ns = 1;
	EXPECT_EQ(-ETIME, end_of(self->fd, &self->job));
	EXPECT_FALSE(nnpu_job_correct(&self->job, 1));
	/* Nothing hung. */
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size));
	EXPECT_EQ(0, info.jobs_timedout);
	EXPECT_EQ(5, info.jobs_failed);
}

TEST_F(deadline, refused)
{
	struct drm_nnpu_submit *s = &self->job.submit;

	s->flags = DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	EXPECT_EQ(-EINVAL, nnpu_job_submit(self->fd, &self->job));
}

/*
 * Submit @before, which takes a second, and @job, which has a tenth of that. The error of the fence
 * of @job, as end_of(). *@held: @before cannot have ended when the deadline passed; else this
 * process was too slow, and the end of @job says nothing.
 */
static int end_behind(int fd, struct nnpu_job *before, struct nnpu_job *job, bool *held)
{
	uint64_t begin = nnpu_now_ns();
	int ret = nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, 1);

	if (!ret)
		ret = nnpu_job_submit(fd, before);
	job->submit.deadline_ns = nnpu_now_ns() + 100 * MS;
	*held = job->submit.deadline_ns < begin + 900 * MS;
	return ret ? ret : end_of(fd, job);
}

/* A job of a second before it in the device: the device ends it. */
TEST_F(deadline, behind_another_job)
{
	struct nnpu_job before;
	bool held = false;
	unsigned int i;
	int end = 0;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &before, 16));
	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0))
		NNPU_SKIP(return, "no fault injection");
	for (i = 0; i < TRIES && !held; i++) {
		nnpu_job_fill(&before, 2);
		nnpu_job_fill(&self->job, 1);
		end = end_behind(self->fd, &before, &self->job, &held);
	}
	ASSERT_TRUE(held);
	EXPECT_EQ(-ETIME, end);
	EXPECT_FALSE(nnpu_job_correct(&self->job, 1));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, before.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&before, 2));
}

/* One that runs ends with the flag, and only with it. */
TEST_F(deadline, of_a_running_job)
{
	struct nnpu_job slow;
	uint64_t ms;

	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 384));
	/* The first job of a context takes longer until it begins. */
	ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, 2));
	slow.submit.flags = DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	/* On a busy machine the device has the job later than that: then it has not begun. */
	for (ms = 10; ms <= 640; ms *= 2) {
		nnpu_job_fill(&slow, 1);
		/* Longer than each deadline. Without injection it takes some 20 ms. */
		nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1);
		slow.submit.deadline_ns = nnpu_now_ns() + ms * MS;
		ASSERT_EQ(-ETIME, end_of(self->fd, &slow));
		if (nnpu_job_result(&slow)->status != NNPU_STATUS_PENDING)
			break;
	}
	nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0);
	EXPECT_EQ(NNPU_STATUS_DEADLINE, nnpu_job_result(&slow)->status);
	/* The device is free for others. */
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 3));
}

/* Durations begin when the in-fences have signalled. */
TEST_F(deadline, after_fences)
{
	struct nnpu_job before[BEFORE];
	bool held = false;
	unsigned int i;
	int end = 0;

	for (i = 0; i < BEFORE; i++)
		ASSERT_EQ(0, nnpu_job_init(self->fd, &before[i], 16));
	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, BEFORE))
		NNPU_SKIP(return, "no fault injection");
	for (i = 0; i < BEFORE; i++) {
		nnpu_job_fill(&before[i], i);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &before[i]));
	}
	self->job.submit.in_syncs = (uintptr_t)&before[BEFORE - 1].out_sync;
	self->job.submit.num_in_syncs = 1;
	self->job.submit.duration_ns = (BEFORE - 1) * 1000 * MS;
	EXPECT_EQ(1, end_of(self->fd, &self->job));
	EXPECT_TRUE(nnpu_job_correct(&self->job, 1));

	/* A deadline that passes before the in-fence signals: the job does not run. */
	for (i = 0; i < TRIES && !held; i++) {
		nnpu_job_fill(&self->job, 4);
		end = end_behind(self->fd, &before[BEFORE - 1], &self->job, &held);
	}
	ASSERT_TRUE(held);
	EXPECT_EQ(-ETIME, end);
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&self->job)->status);
	/* Not before the in-fence. */
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, before[BEFORE - 1].syncobj));
}

/* The fence of @job, of another file, as a syncobj of @fd. Returns 0 or -errno. */
static int import_fence(int from, const struct nnpu_job *job, int fd, uint32_t *syncobj)
{
	struct drm_syncobj_handle arg = { .handle = job->syncobj, .fd = -1 };
	int ret = nnpu_ioctl(from, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg);

	if (ret)
		return ret;
	ret = nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arg);
	close(arg.fd);
	*syncobj = arg.handle;
	return ret;
}

/* Jobs of a second each: more than it takes to fill the room, on any machine. */
#define BEFORE_ROOM	60
/* As many seconds there is no room after that. */
#define NO_ROOM_S	4

/*
 * Have @fd no room for a job for some seconds, as jobs of another file run, and submit @job with a
 * deadline @in_ns later. *@waited: how long the call took, 0: there was room. 0 or -errno.
 */
static int submit_without_room(int fd, struct nnpu_job *job, uint64_t in_ns, uint64_t *waited)
{
	struct drm_nnpu_sync in = { 0 };
	struct nnpu_job before, filler;
	int other = nnpu_open();
	int ret = other < 0 ? other : nnpu_job_init(fd, &filler, 16);
	unsigned int i;
	uint64_t begin;

	*waited = 0;
	if (!ret)
		ret = nnpu_job_init(other, &before, 16);
	if (!ret)
		ret = nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, NNPU_INJECT_COUNT_MASK);
	for (i = 0; i < BEFORE_ROOM && !ret; i++)
		ret = nnpu_job_submit(other, &before);
	if (!ret)
		ret = import_fence(other, &before, fd, &in.handle);
	if (ret)
		goto out;
	/* These wait, and end as soon as they need not. */
	filler.submit.in_syncs = (uintptr_t)&in;
	filler.submit.num_in_syncs = 1;
	filler.submit.deadline_ns = 1;
	filler.submit.flags = DRM_NNPU_SUBMIT_NONBLOCK;
	for (i = 0; i < 1000 && !ret; i++)
		ret = nnpu_job_submit(fd, &filler);
	if (ret != -EBUSY)
		goto out;
	ret = nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, NO_ROOM_S);
	begin = nnpu_now_ns();
	job->submit.deadline_ns = begin + in_ns;
	if (!ret)
		ret = nnpu_job_submit(fd, job);
	*waited = nnpu_now_ns() - begin;
	if (!ret)
		ret = nnpu_job_wait(fd, job, WAIT_MS);
out:
	nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, 0);
	if (other >= 0)
		close(other);
	return ret;
}

/* A deadline passes also while the call waits for room. */
TEST_F(deadline, waits_for_room)
{
	const uint64_t in_ns = 1000 * MS;
	uint64_t waited = 0;
	unsigned int i;

	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0))
		NNPU_SKIP(return, "no fault injection");
	/* On a busy machine this process may come too late. */
	for (i = 0; i < TRIES && waited < 2 * in_ns; i++)
		ASSERT_EQ(0, submit_without_room(self->fd, &self->job, in_ns, &waited));
	ASSERT_LE(2 * in_ns, waited);
	EXPECT_EQ(-ETIME, nnpu_syncobj_status(self->fd, self->job.syncobj));
}

/* Who waits for a job that missed its deadline learns so. */
TEST_F(deadline, error_goes_on)
{
	struct nnpu_job next;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, 16));
	nnpu_job_fill(&next, 1);
	self->job.submit.deadline_ns = 1;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	next.submit.in_syncs = (uintptr_t)&self->job.out_sync;
	next.submit.num_in_syncs = 1;
	next.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	EXPECT_EQ(-ETIME, end_of(self->fd, &next));
}

static int read_clock(int fd, struct drm_nnpu_clock *clock)
{
	uint32_t size = sizeof(*clock);

	return nnpu_query(fd, DRM_NNPU_QUERY_CLOCK, clock, &size);
}

TEST_F(deadline, clock)
{
	struct drm_nnpu_clock first, second;
	uint64_t before = nnpu_now_ns();

	ASSERT_EQ(0, read_clock(self->fd, &first));
	ASSERT_EQ(0, read_clock(self->fd, &second));
	EXPECT_LE(before, first.monotonic_ns);
	EXPECT_LE(first.monotonic_ns, second.monotonic_ns);
	EXPECT_GE(nnpu_now_ns(), second.monotonic_ns);
	EXPECT_LT(first.device_ns, second.device_ns);
}

/* Status of the next completion of an entry with a deadline, or -errno. */
static int run_entry(int fd, struct nnpu_uq *uq, struct nnpu_job *job, uint32_t flags,
		     uint64_t deadline_ns)
{
	struct nnpu_args_header *header;
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	int ret;

	nnpu_job_fill(job, 1);
	nnpu_uq_job_sqe(job, 7, &sqe);
	header = (struct nnpu_args_header *)((char *)job->buf.map + sqe.args);
	header->flags = flags;
	header->deadline_ns = deadline_ns;
	nnpu_uq_push(uq, &sqe);
	nnpu_uq_ring(uq);
	ret = nnpu_uq_take(fd, uq, &cqe, WAIT_MS, NULL);
	return ret ? ret : nnpu_cqe_status(&cqe);
}

TEST(user_queue)
{
	struct drm_nnpu_clock clock;
	struct nnpu_job job, slow;
	struct nnpu_uq uq;
	int fd, ret;

	ret = nnpu_uq_setup(&fd, &uq, &job);
	if (ret && nnpu_uq_may_skip(ret))
		NNPU_SKIP(return, "no user queue");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(NNPU_STATUS_SUCCESS, run_entry(fd, &uq, &job, 0, FAR));
	EXPECT_TRUE(nnpu_job_correct(&job, 1));
	EXPECT_EQ(NNPU_STATUS_DEADLINE, run_entry(fd, &uq, &job, 0, 1));
	EXPECT_FALSE(nnpu_job_correct(&job, 1));
	EXPECT_EQ(NNPU_STATUS_INVALID_FIELD,
		  run_entry(fd, &uq, &job, NNPU_ARGS_DEADLINE_ABORT, 0));
	ASSERT_EQ(0, read_clock(fd, &clock));
	EXPECT_EQ(NNPU_STATUS_DEADLINE,
		  run_entry(fd, &uq, &job, NNPU_ARGS_DEADLINE_ABSOLUTE, clock.device_ns));
	EXPECT_EQ(NNPU_STATUS_SUCCESS,
		  run_entry(fd, &uq, &job, NNPU_ARGS_DEADLINE_ABSOLUTE, clock.device_ns + FAR));
	ASSERT_EQ(0, nnpu_job_init_slow(fd, &slow, 384));
	EXPECT_EQ(NNPU_STATUS_DEADLINE,
		  run_entry(fd, &uq, &slow, NNPU_ARGS_DEADLINE_ABORT, 10 * MS));
	EXPECT_EQ(0, nnpu_uq_run(fd, &uq, &job, 2));
	nnpu_uq_destroy(fd, &uq);
	close(fd);
}

TEST_HARNESS_MAIN
