// SPDX-License-Identifier: GPL-2.0-only
/*
 * Synchronisation: errors of in-fences, fences in the reservations of shared buffers, waits of
 * BO_PREP for them, and copies between slots.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

#define PAGE		((uint64_t)NNPU_PAGE_SIZE)
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)
#define WAIT_MS		60000
/*
 * Jobs before the one that is looked at, and how often each is submitted: so that it is certain not
 * to have ended, however slow this process is. With injection each of them takes a second more
 * until let_go().
 */
#define BEFORE		3
#define AGAIN		20

FIXTURE(sync)
{
	int fd;
};

FIXTURE_SETUP(sync)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
}

/* Jobs that begin from now on take their time again. */
static void let_go(int fd)
{
	nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, 0);
}

FIXTURE_TEARDOWN(sync)
{
	if (self->fd < 0)
		return;
	let_go(self->fd);
	close(self->fd);
}

/* ---- errors of in-fences ---- */

/* A job that the device refuses: its fence has -EINVAL. */
static int failing_job(int fd, struct nnpu_job *job)
{
	int ret = nnpu_job_init(fd, job, 16);

	if (ret)
		return ret;
	job->args[0].length -= 4;
	nnpu_job_fill(job, 1);
	return 0;
}

/* Was the job not run? Its result is what software wrote before. */
static bool untouched(const struct nnpu_job *job)
{
	const unsigned char *out = (const unsigned char *)job->buf.map + job->args[2].offset;
	unsigned int i;

	for (i = 0; i < job->args[2].length; i++)
		if (out[i] != 0xa5)
			return false;
	return nnpu_job_result(job)->status == NNPU_STATUS_PENDING;
}

TEST_F(sync, in_fence_error_ends_the_job)
{
	struct drm_nnpu_sync in[2];
	struct nnpu_job bad, good, taker, next, other;

	ASSERT_EQ(0, failing_job(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &good, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &taker, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &other, 16));
	nnpu_job_fill(&good, 2);
	nnpu_job_fill(&taker, 3);
	nnpu_job_fill(&next, 4);
	nnpu_job_fill(&other, 5);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &good));

	/* One of two fences has an error, and it is not the last one. */
	in[0] = bad.out_sync;
	in[1] = good.out_sync;
	taker.submit.in_syncs = (uintptr_t)in;
	taker.submit.num_in_syncs = 2;
	taker.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &taker));
	/* It goes on to the next one. */
	next.submit.in_syncs = (uintptr_t)&taker.out_sync;
	next.submit.num_in_syncs = 1;
	next.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &next));
	/* Who does not ask for errors runs. */
	other.submit.in_syncs = (uintptr_t)in;
	other.submit.num_in_syncs = 2;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &other));

	ASSERT_EQ(0, nnpu_job_wait(self->fd, &other, WAIT_MS));
	EXPECT_TRUE(nnpu_job_correct(&other, 5));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &next, WAIT_MS));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, bad.syncobj));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, taker.syncobj));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, next.syncobj));
	EXPECT_TRUE(untouched(&taker));
	EXPECT_TRUE(untouched(&next));

	/* The fence has signalled before SUBMIT. */
	nnpu_job_fill(&taker, 6);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &taker));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &taker, WAIT_MS));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, taker.syncobj));
	EXPECT_TRUE(untouched(&taker));
	/* Without an error it runs. */
	taker.submit.in_syncs = (uintptr_t)&good.out_sync;
	taker.submit.num_in_syncs = 1;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &taker, 7));
}

TEST_F(sync, in_fence_error_of_a_point)
{
	struct drm_nnpu_sync point = { .point = 7 };
	struct nnpu_job bad, taker;
	uint32_t timeline;

	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &timeline));
	ASSERT_EQ(0, failing_job(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &taker, 16));
	nnpu_job_fill(&taker, 1);
	point.handle = timeline;
	bad.submit.out_syncs = (uintptr_t)&point;
	taker.submit.in_syncs = (uintptr_t)&point;
	taker.submit.num_in_syncs = 1;
	taker.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &taker));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &taker, WAIT_MS));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, taker.syncobj));
	EXPECT_TRUE(untouched(&taker));
}

/* A point that has signalled before SUBMIT, with a point after it, has no error any more. */
TEST_F(sync, in_fence_error_of_an_older_point)
{
	struct drm_nnpu_sync first = { .point = 1 }, second = { .point = 2 };
	struct nnpu_job bad, good, taker;
	uint32_t timeline;

	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &timeline));
	ASSERT_EQ(0, failing_job(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &good, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &taker, 16));
	first.handle = timeline;
	second.handle = timeline;
	bad.submit.out_syncs = (uintptr_t)&first;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &bad));
	taker.submit.in_syncs = (uintptr_t)&first;
	taker.submit.num_in_syncs = 1;
	taker.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	nnpu_job_fill(&taker, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &taker));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &taker, WAIT_MS));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, taker.syncobj));

	nnpu_job_fill(&good, 2);
	good.submit.out_syncs = (uintptr_t)&second;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &good));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &taker, 3));
}

/* Jobs behind a fence that never signals take all places of the context, and no others. */
TEST_F(sync, no_room)
{
	struct drm_syncobj_handle export = {
		.fd = -1, .flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
	};
	struct nnpu_job before[BEFORE], job, other;
	int fd = nnpu_open(), ret = 0;
	unsigned int i;

	ASSERT_LE(0, fd);
	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1))
		NNPU_SKIP(return, "no fault injection");
	ASSERT_EQ(0, nnpu_job_init(self->fd, &before[0], 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	ASSERT_EQ(0, nnpu_job_init(fd, &other, 16));
	/* It hangs until all have been submitted, however long that takes. */
	nnpu_set_timeouts(60000, 60000);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &before[0]));
	job.submit.in_syncs = (uintptr_t)&before[0].out_sync;
	job.submit.num_in_syncs = 1;
	job.submit.flags = DRM_NNPU_SUBMIT_NONBLOCK;
	for (i = 0; i < 1000 && !ret; i++)
		ret = nnpu_job_submit(self->fd, &job);
	EXPECT_EQ(-EBUSY, ret);
	EXPECT_LT(100, i);
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, before[0].syncobj));
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	export.handle = job.syncobj;
	EXPECT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &export));
	/* The fence outlives the file, which does not wait. */
	close(self->fd);
	self->fd = -1;
	if (export.fd >= 0) {
		struct pollfd p = { .fd = export.fd, .events = POLLIN };

		EXPECT_EQ(1, poll(&p, 1, WAIT_MS));
		close(export.fd);
	}
	EXPECT_EQ(0, nnpu_job_run(fd, &other, 1));
	close(fd);
}

/* ---- reservations ---- */

static int export(int fd, uint32_t handle)
{
	struct drm_prime_handle arg = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
	int ret = nnpu_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);

	return ret ? ret : arg.fd;
}

/* Must somebody wait who would read (DMA_BUF_SYNC_READ) or write? 1, 0 or -errno. */
static int must_wait(int dmabuf, uint32_t to)
{
	struct dma_buf_export_sync_file arg = { .flags = to, .fd = -1 };
	struct pollfd p = { .events = POLLIN };
	int ret = nnpu_ioctl(dmabuf, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &arg);

	if (ret)
		return ret;
	p.fd = arg.fd;
	ret = poll(&p, 1, 0);
	close(arg.fd);
	return ret < 0 ? -errno : !ret;
}

/* All jobs that begin from now on take a second more, where that can be had. */
static int make_slow(int fd)
{
	int ret = nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, NNPU_INJECT_COUNT_MASK);

	return ret == -EOPNOTSUPP ? 0 : ret;
}

/* Keep the device busy until let_go(), or for a while; the last job is @job. */
static int submit_behind(int fd, struct nnpu_job *before, struct nnpu_job *job)
{
	int ret = make_slow(fd);
	unsigned int i;

	nnpu_job_fill(job, 1);
	for (i = 0; i < BEFORE * AGAIN && !ret; i++)
		ret = nnpu_job_submit(fd, &before[i % BEFORE]);
	job->submit.in_syncs = (uintptr_t)&before[BEFORE - 1].out_sync;
	job->submit.num_in_syncs = 1;
	return ret ? ret : nnpu_job_submit(fd, job);
}

#define SLOW_JOBS(before) do { \
		unsigned int n_; \
		for (n_ = 0; n_ < BEFORE; n_++) \
			ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &(before)[n_], 96)); \
	} while (0)

TEST_F(sync, buffer_exported_after_submit)
{
	struct nnpu_job before[BEFORE], job;
	int dmabuf;

	SLOW_JOBS(before);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	dmabuf = export(self->fd, job.buf.handle);
	ASSERT_LE(0, dmabuf);
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_WRITE));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, WAIT_MS));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_WRITE));
	close(dmabuf);
}

TEST_F(sync, buffer_whose_handle_is_closed)
{
	struct dma_buf_sync start = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ };
	struct nnpu_job before[BEFORE], job;
	int dmabuf;

	SLOW_JOBS(before);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	nnpu_job_fill(&job, 1);
	ASSERT_EQ(0, nnpu_bo_give(self->fd, job.buf.handle, 0, job.buf.size));
	dmabuf = export(self->fd, job.buf.handle);
	ASSERT_LE(0, dmabuf);
	/* The slot and the dma-buf keep the buffer. */
	ASSERT_EQ(0, nnpu_bo_close(self->fd, job.buf.handle));
	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, job.syncobj, WAIT_MS));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	ASSERT_EQ(0, nnpu_ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &start));
	EXPECT_TRUE(nnpu_job_correct(&job, 1));
	close(dmabuf);
}

/* What a job does with a buffer counts, not what it might do through the slot. */
TEST_F(sync, readers_do_not_wait_for_readers)
{
	struct nnpu_job before[BEFORE], job;
	struct nnpu_buf input;
	int dmabuf;

	SLOW_JOBS(before);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &input, PAGE, RW));
	job.args[0].slot = input.slot;
	job.args[0].offset = 0;
	dmabuf = export(self->fd, input.handle);
	ASSERT_LE(0, dmabuf);
	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_WRITE));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, WAIT_MS));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_WRITE));

	/* Read and written by one job: one fence, of a writer. */
	job.args[2].slot = input.slot;
	job.args[2].offset = 1024;
	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, WAIT_MS));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	close(dmabuf);
}

/* A job ends before the one before it, which still writes the buffer of both. */
TEST_F(sync, overtaken_writer)
{
	struct nnpu_job bad, slow, taker;
	unsigned int i;
	int dmabuf;

	ASSERT_EQ(0, failing_job(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 96));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &taker, 16));
	nnpu_job_fill(&slow, 1);
	nnpu_job_fill(&taker, 1);
	taker.args[2].slot = slow.buf.slot;
	taker.submit.in_syncs = (uintptr_t)&bad.out_sync;
	taker.submit.num_in_syncs = 1;
	taker.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	dmabuf = export(self->fd, slow.buf.handle);
	ASSERT_LE(0, dmabuf);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &bad));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &bad, WAIT_MS));

	ASSERT_EQ(0, make_slow(self->fd));
	for (i = 0; i < BEFORE * AGAIN; i++)
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &taker));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &taker, WAIT_MS));
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, taker.syncobj));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_WRITE));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &slow, WAIT_MS));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	close(dmabuf);
}

/*
 * A job waits for its in-fences, not for those that others have put into the reservations of its
 * buffers.
 */
TEST_F(sync, no_implicit_wait)
{
	struct nnpu_job before[BEFORE], writer, taker;
	struct drm_prime_handle arg = { 0 };
	int other = nnpu_open(), dmabuf;
	uint32_t slot;

	ASSERT_LE(0, other);
	SLOW_JOBS(before);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &writer, 16));
	ASSERT_EQ(0, nnpu_job_init(other, &taker, 16));
	dmabuf = export(self->fd, writer.buf.handle);
	ASSERT_LE(0, dmabuf);
	arg.fd = dmabuf;
	ASSERT_EQ(0, nnpu_ioctl(other, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg));
	ASSERT_EQ(0, nnpu_slot_bind(other, arg.handle, 0, writer.buf.size, RW, &slot));
	nnpu_job_fill(&taker, 1);
	/* Its second input is what the job before writes. */
	taker.args[1].slot = slot;
	taker.args[1].offset = writer.args[2].offset;
	ASSERT_EQ(0, submit_behind(self->fd, before, &writer));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	ASSERT_EQ(0, nnpu_job_submit(other, &taker));
	ASSERT_EQ(0, nnpu_job_wait(other, &taker, WAIT_MS));
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, writer.syncobj));
	EXPECT_EQ(1, nnpu_syncobj_status(other, taker.syncobj));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &writer, WAIT_MS));
	close(dmabuf);
	close(other);
}

TEST_F(sync, imported_buffer)
{
	struct drm_prime_handle arg = { 0 };
	struct nnpu_job before[BEFORE], job;
	struct nnpu_buf foreign;
	int other = nnpu_open(), dmabuf;
	uint32_t slot;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, nnpu_buf_create(other, &foreign, PAGE, RW));
	dmabuf = export(other, foreign.handle);
	ASSERT_LE(0, dmabuf);
	arg.fd = dmabuf;
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, arg.handle, 0, PAGE, RW, &slot));
	SLOW_JOBS(before);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	job.args[2].slot = slot;
	job.args[2].offset = 0;
	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	EXPECT_EQ(1, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	let_go(self->fd);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, WAIT_MS));
	EXPECT_EQ(0, must_wait(dmabuf, DMA_BUF_SYNC_READ));
	close(dmabuf);
	close(other);
}

/* ---- waits of the CPU ---- */

static int prep(int fd, uint32_t handle, uint32_t flags, int64_t timeout_ns)
{
	struct drm_nnpu_bo_prep arg = {
		.handle = handle, .flags = flags, .size = 1, .timeout_ns = timeout_ns,
	};

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_PREP, &arg);
}

static int64_t from_now_ns(int64_t ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec + ns;
}

/* A CPU that reads waits for writers, one that writes for all. */
TEST_F(sync, prep_waits)
{
	struct nnpu_job before[BEFORE], job;
	struct dma_buf_sync start = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ };
	struct dma_buf_sync end = { .flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ };
	struct nnpu_buf in;
	int dmabuf;

	SLOW_JOBS(before);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &in, PAGE, RW));
	job.args[0].slot = in.slot;
	job.args[0].offset = 0;
	dmabuf = export(self->fd, job.buf.handle);
	ASSERT_LE(0, dmabuf);
	EXPECT_EQ(0, prep(self->fd, in.handle, DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE, 0));
	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	EXPECT_EQ(0, prep(self->fd, in.handle, DRM_NNPU_BO_READ, 0));
	EXPECT_EQ(-ETIME, prep(self->fd, in.handle, DRM_NNPU_BO_WRITE, 0));
	EXPECT_EQ(-ETIME, prep(self->fd, in.handle, DRM_NNPU_BO_WRITE, -1));
	EXPECT_EQ(-ETIME, prep(self->fd, job.buf.handle, DRM_NNPU_BO_READ, 1));
	EXPECT_EQ(-ETIME, prep(self->fd, job.buf.handle, DRM_NNPU_BO_READ, from_now_ns(10000000)));
	EXPECT_EQ(0, prep(self->fd, job.buf.handle, DRM_NNPU_BO_READ | DRM_NNPU_BO_NO_WAIT, 0));
	ASSERT_EQ(0, nnpu_syncobj_status(self->fd, job.syncobj));
	let_go(self->fd);
	/* The exporter of a dma-buf waits, too. */
	ASSERT_EQ(0, nnpu_ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &start));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, job.syncobj));
	EXPECT_EQ(0, nnpu_ioctl(dmabuf, DMA_BUF_IOCTL_SYNC, &end));
	EXPECT_EQ(0, prep(self->fd, in.handle, DRM_NNPU_BO_WRITE, 0));

	ASSERT_EQ(0, submit_behind(self->fd, before, &job));
	let_go(self->fd);
	ASSERT_EQ(0, prep(self->fd, job.buf.handle, DRM_NNPU_BO_READ, INT64_MAX));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, job.syncobj));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, WAIT_MS));
	close(dmabuf);
}

/* ---- copies ---- */

TEST_F(sync, copy)
{
	struct nnpu_arg args[4] = { 0 };
	struct drm_nnpu_sync out = { 0 };
	struct drm_nnpu_submit good = {
		.kind = DRM_NNPU_JOB_COPY,
		.priority = DRM_NNPU_PRIORITY_MEDIUM,
		.args = (uintptr_t)args, .num_inputs = 2, .num_outputs = 2,
		.arg_stride = sizeof(args[0]),
		.out_syncs = (uintptr_t)&out, .num_out_syncs = 1, .sync_stride = sizeof(out),
	}, arg;
	struct nnpu_buf from, to;
	const struct nnpu_args_header *result;
	unsigned char *p;
	unsigned int i;

	ASSERT_EQ(0, nnpu_buf_create(self->fd, &from, 512 * PAGE, DRM_NNPU_SLOT_READ));
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &to, 512 * PAGE, DRM_NNPU_SLOT_WRITE));
	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &out.handle));
	p = from.map;
	for (i = 0; i < from.size; i++)
		p[i] = (unsigned char)(i * 13 + (i >> 9));
	ASSERT_EQ(0, nnpu_bo_give(self->fd, from.handle, 0, from.size));
	for (i = 0; i < 4; i++)
		args[i].slot = i < 2 ? from.slot : to.slot;
	args[0].offset = 3;
	args[0].length = 1001;
	args[2].offset = PAGE + 5;
	args[2].length = 1001;
	args[1].offset = 8 * PAGE + 1;
	args[1].length = 500 * PAGE;
	args[3].offset = 9 * PAGE + 2;
	args[3].length = 500 * PAGE;
	good.result_slot = to.slot;
	result = to.map;

#define TRY(want) \
	EXPECT_EQ(want, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SUBMIT, &arg)) { \
		TH_LOG("line %d", __LINE__); \
	} \
	arg = good

	arg = good;
	arg.program = 1;
	TRY(-EINVAL);
	arg.num_outputs = 1;
	TRY(-EINVAL);
	arg.flags = DRM_NNPU_SUBMIT_PROFILE;
	TRY(-EINVAL);
	arg.loop_timeout_ns = 1;
	TRY(-EINVAL);
	arg.kind = 2;
	TRY(-EINVAL);
	args[3].length--;
	TRY(-EINVAL);
	args[3].length++;
	args[0].slot = to.slot;
	TRY(-EINVAL);
	args[0].slot = from.slot;
	args[1].offset = 13 * PAGE;
	TRY(-EINVAL);
	args[1].offset = 8 * PAGE + 1;
	args[2].slot = 99;
	TRY(-ENOENT);
	args[2].slot = to.slot;
	arg.flags = DRM_NNPU_SUBMIT_DEADLINE_ABORT;
	TRY(-EINVAL);
	TRY(0);
#undef TRY
	ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, out.handle, WAIT_MS));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, out.handle));
	ASSERT_EQ(0, nnpu_bo_take(self->fd, to.handle, 0, to.size));
	EXPECT_EQ(NNPU_STATUS_SUCCESS, result->status);
	EXPECT_EQ(2, result->num_inputs);
	EXPECT_NE(0, result->exec_ns);
	EXPECT_EQ(0, memcmp((char *)to.map + PAGE + 5, p + 3, 1001));
	EXPECT_EQ(0, memcmp((char *)to.map + 9 * PAGE + 2, p + 8 * PAGE + 1, 500 * PAGE));
	EXPECT_EQ(0, ((char *)to.map)[PAGE + 5 + 1001]);
	EXPECT_EQ(0, ((char *)to.map)[9 * PAGE + 1]);
}

TEST_F(sync, slot_kinds)
{
	struct drm_nnpu_slot_bind bind = { .flags = RW, .size = PAGE };

	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &bind.handle));
	bind.kind = DRM_NNPU_SLOT_KIND_DEVICE;
	EXPECT_EQ(-EOPNOTSUPP, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SLOT_BIND, &bind));
	bind.kind = DRM_NNPU_SLOT_KIND_DEVICE + 1;
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SLOT_BIND, &bind));
	bind.kind = DRM_NNPU_SLOT_KIND_HOST;
	EXPECT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SLOT_BIND, &bind));
}

TEST_HARNESS_MAIN
