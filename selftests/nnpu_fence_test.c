// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that wait for the fence of another driver, vgem, which signals when the test likes: what
 * they hold up, and what is left of them when they end before it.
 *
 * vgem signals a fence by itself after 10 s. What is looked at while the fence is pending is looked
 * at first, then the fence; if that has signalled on a slow machine, the test begins again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm.h>
#include <drm_mode.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

#define WAIT_MS		60000
#define TRIES		5
/* Of one context and priority: more than the device takes at a time. */
#define LATER		20

/* vgem_drm.h is not among the headers of libdrm. */
struct vgem_fence_attach {
	__u32 handle;
	__u32 flags;
	__u32 out_fence;
	__u32 pad;
};

struct vgem_fence_signal {
	__u32 fence;
	__u32 flags;
};

#define VGEM_FENCE_WRITE	1
#define VGEM_FENCE_ATTACH	DRM_IOWR(DRM_COMMAND_BASE + 0x1, struct vgem_fence_attach)
#define VGEM_FENCE_SIGNAL	DRM_IOW(DRM_COMMAND_BASE + 0x2, struct vgem_fence_signal)

FIXTURE(fence)
{
	int fd;
	int vgem;
	char device[64];
	struct nnpu_job job;
	uint32_t number;		/* of the fence in vgem */
	uint32_t gate;			/* syncobj of self->fd with the fence */
};

static int vgem_open(void)
{
	char path[32], name[8];
	int i;

	/* It may be there already. */
	if (system("modprobe -q vgem 2>/dev/null") < 0)
		return -1;
	for (i = 0; i < 16; i++) {
		struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", i);
		fd = open(path, O_RDWR | O_CLOEXEC);
		memset(name, 0, sizeof(name));
		if (fd >= 0 && !ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "vgem"))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

/* A fence as a sync file: the descriptor, or -1. */
static int vgem_fence(int vgem, uint32_t *number)
{
	struct drm_mode_create_dumb dumb = { .width = 64, .height = 16, .bpp = 32 };
	struct dma_buf_export_sync_file export = { .flags = DMA_BUF_SYNC_READ, .fd = -1 };
	struct vgem_fence_attach attach = { .flags = VGEM_FENCE_WRITE };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };

	if (ioctl(vgem, DRM_IOCTL_MODE_CREATE_DUMB, &dumb))
		return -1;
	attach.handle = dumb.handle;
	prime.handle = dumb.handle;
	if (ioctl(vgem, VGEM_FENCE_ATTACH, &attach) ||
	    ioctl(vgem, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime))
		return -1;
	if (ioctl(prime.fd, DMA_BUF_IOCTL_EXPORT_SYNC_FILE, &export))
		export.fd = -1;
	close(prime.fd);
	*number = attach.out_fence;
	return export.fd;
}

/* A new fence in syncobj @gate of @fd. */
static int gate_close(int fd, int vgem, uint32_t gate, uint32_t *number)
{
	struct drm_syncobj_handle arg = {
		.handle = gate,
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};
	int ret;

	arg.fd = vgem_fence(vgem, number);
	if (arg.fd < 0)
		return -ENODEV;
	ret = nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &arg);
	close(arg.fd);
	return ret;
}

static int gate_open(int vgem, uint32_t number)
{
	struct vgem_fence_signal arg = { .fence = number };

	/* ETIMEDOUT: it has signalled by itself. */
	return ioctl(vgem, VGEM_FENCE_SIGNAL, &arg) && errno != ETIMEDOUT ? -errno : 0;
}

static void wait_for(struct nnpu_job *job, struct drm_nnpu_sync *in, uint32_t syncobj)
{
	*in = (struct drm_nnpu_sync){ .handle = syncobj };
	job->submit.in_syncs = (uintptr_t)in;
	job->submit.num_in_syncs = !!syncobj;
}

FIXTURE_SETUP(fence)
{
	char path[NNPU_DEBUGFS_PATH_MAX];

	self->vgem = -1;
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	self->vgem = vgem_open();
	if (self->vgem < 0 && getenv("NNPU_DEBUG_KERNEL"))
		SKIP(return, "no vgem, for fences of another driver: the debug kernel has none");
	if (self->vgem < 0)
		NNPU_SKIP(return, "no vgem, for fences of another driver");
	ASSERT_EQ(0, nnpu_debugfs_dir(self->fd, path));
	snprintf(self->device, sizeof(self->device), "%s", strrchr(path, '/') + 1);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 64));
	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &self->gate));
}

FIXTURE_TEARDOWN(fence)
{
	if (self->vgem >= 0)
		close(self->vgem);
	if (self->fd >= 0)
		close(self->fd);
}

/* The fence of vgem is pending still, after all that was looked at. */
static bool is_shut(int fd, uint32_t gate)
{
	return !nnpu_syncobj_status(fd, gate);
}

/* A job that waits for a fence is in nobody's way, not even in that of its own context. */
TEST_F(fence, later_jobs_go_on)
{
	struct nnpu_job later;
	struct drm_nnpu_sync in;
	unsigned int i, tries;
	bool shut = false;
	int first;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &later, 64));
	for (tries = 0; !shut && tries < TRIES; tries++) {
		ASSERT_EQ(0, gate_close(self->fd, self->vgem, self->gate, &self->number));
		nnpu_job_fill(&self->job, 1);
		wait_for(&self->job, &in, self->gate);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
		nnpu_job_fill(&later, 2);
		for (i = 0; i < LATER; i++)
			ASSERT_EQ(0, nnpu_job_submit(self->fd, &later));
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &later, WAIT_MS));
		EXPECT_TRUE(nnpu_job_correct(&later, 2));
		first = nnpu_syncobj_status(self->fd, self->job.syncobj);
		shut = is_shut(self->fd, self->gate);
		if (shut)
			EXPECT_EQ(0, first);
		ASSERT_EQ(0, gate_open(self->vgem, self->number));
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
		EXPECT_TRUE(nnpu_job_correct(&self->job, 1));
	}
	EXPECT_TRUE(shut);
	nnpu_job_fini(self->fd, &later);
}

/* All that waited run when the fence signals. */
TEST_F(fence, many_wait)
{
	uint32_t syncobjs[LATER], own = self->job.syncobj;
	struct drm_nnpu_sync in;
	unsigned int i;

	ASSERT_EQ(0, gate_close(self->fd, self->vgem, self->gate, &self->number));
	wait_for(&self->job, &in, self->gate);
	nnpu_job_fill(&self->job, 1);
	for (i = 0; i < LATER; i++) {
		ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &syncobjs[i]));
		self->job.out_sync.handle = syncobjs[i];
		self->job.submit.priority = i % 3;
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	}
	ASSERT_EQ(0, gate_open(self->vgem, self->number));
	for (i = 0; i < LATER; i++) {
		EXPECT_EQ(0, nnpu_syncobj_wait(self->fd, syncobjs[i], WAIT_MS));
		EXPECT_EQ(1, nnpu_syncobj_status(self->fd, syncobjs[i]));
		nnpu_syncobj_destroy(self->fd, syncobjs[i]);
	}
	EXPECT_TRUE(nnpu_job_correct(&self->job, 1));
	self->job.out_sync.handle = own;
}

static long objects(int fd, const char *name)
{
	return nnpu_debugfs_value(fd, "objects", name);
}

/* What was in use is free again. Releases run behind. */
static bool are_gone(int fd, const long before[4])
{
	static const char *const names[] = { "contexts", "slots", "buffers", "jobs" };
	unsigned int i, ms;

	for (i = 0; i < 4; i++)
		for (ms = 0; objects(fd, names[i]) > before[i]; ms++) {
			if (ms == WAIT_MS)
				return false;
			usleep(1000);
		}
	return true;
}

/*
 * The file of a job that waits is closed: all of it is free at once, but for the fence, which comes
 * after that of vgem, with an error. Jobs of others take the error if they ask for it.
 */
TEST_F(fence, closed)
{
	const long before[] = { objects(self->fd, "contexts"), objects(self->fd, "slots"),
				objects(self->fd, "buffers"), objects(self->fd, "jobs") };
	struct drm_nnpu_sync in, behind;
	uint32_t gate, out;
	unsigned int tries;
	bool shut = false;
	int status;

	for (tries = 0; !shut && tries < TRIES; tries++) {
		struct nnpu_job job;
		int fd = nnpu_open();

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, gate_close(self->fd, self->vgem, self->gate, &self->number));
		ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
		ASSERT_EQ(0, nnpu_syncobj_share(self->fd, self->gate, fd, &gate));
		ASSERT_EQ(0, nnpu_syncobj_share(fd, job.syncobj, self->fd, &out));
		wait_for(&job, &in, gate);
		ASSERT_EQ(0, nnpu_job_submit(fd, &job));
		munmap(job.buf.map, job.buf.size);
		close(fd);
		ASSERT_TRUE(are_gone(self->fd, before));
		nnpu_job_fill(&self->job, 3);
		wait_for(&self->job, &behind, out);
		self->job.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
		status = nnpu_syncobj_status(self->fd, out);
		shut = is_shut(self->fd, self->gate);
		if (shut)
			EXPECT_EQ(0, status);
		ASSERT_EQ(0, gate_open(self->vgem, self->number));
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
		EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, out));
		EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, self->job.syncobj));
		EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&self->job)->status);
		self->job.submit.flags = 0;
		nnpu_syncobj_destroy(self->fd, out);
	}
	EXPECT_TRUE(shut);
	wait_for(&self->job, &behind, 0);
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 4));
}

/* A device reset takes the context away: the job ends as if its file were closed. */
TEST_F(fence, lost)
{
	struct nnpu_job job, fatal;
	struct drm_nnpu_sync in;
	uint32_t gate, out;
	unsigned int tries, ms;
	int status, fd, other;
	bool shut = false;

	if (nnpu_inject(self->fd, NNPU_INJECT_FATAL, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	for (tries = 0; !shut && tries < TRIES; tries++) {
		fd = nnpu_open();
		ASSERT_LE(0, fd);
		other = nnpu_open();
		ASSERT_LE(0, other);
		ASSERT_EQ(0, nnpu_job_init(other, &fatal, 64));
		ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
		ASSERT_EQ(0, nnpu_job_run(fd, &job, 1));
		ASSERT_EQ(0, gate_close(self->fd, self->vgem, self->gate, &self->number));
		ASSERT_EQ(0, nnpu_syncobj_share(self->fd, self->gate, fd, &gate));
		ASSERT_EQ(0, nnpu_syncobj_share(fd, job.syncobj, self->fd, &out));
		wait_for(&job, &in, gate);
		ASSERT_EQ(0, nnpu_job_submit(fd, &job));
		/* The next job that begins. */
		ASSERT_EQ(0, nnpu_inject(fd, NNPU_INJECT_FATAL, 1));
		ASSERT_EQ(0, nnpu_job_submit(other, &fatal));
		for (ms = 0; objects(fd, "jobs") && ms < WAIT_MS; ms++)
			usleep(1000);
		EXPECT_EQ(0, objects(fd, "jobs"));
		status = nnpu_syncobj_status(self->fd, out);
		shut = is_shut(self->fd, self->gate);
		if (shut)
			EXPECT_EQ(0, status);
		ASSERT_EQ(0, gate_open(self->vgem, self->number));
		ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, out, WAIT_MS));
		EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, out));
		nnpu_syncobj_destroy(self->fd, out);
		munmap(job.buf.map, job.buf.size);
		munmap(fatal.buf.map, fatal.buf.size);
		close(other);
		close(fd);
	}
	EXPECT_TRUE(shut);
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
	EXPECT_EQ(0, nnpu_job_run(fd, &job, 2));
	nnpu_job_fini(fd, &job);
	close(fd);
}

/* The fence of a syncobj, as a descriptor that needs no device: 0 or more, or -errno. */
static int sync_file(int fd, uint32_t handle)
{
	struct drm_syncobj_handle arg = {
		.handle = handle,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	int ret = nnpu_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg);

	return ret ? ret : arg.fd;
}

/* 1: signalled, 0: pending, -errno: its error. */
static int sync_file_status(int sync)
{
	struct sync_file_info info = { };

	return ioctl(sync, SYNC_IOC_FILE_INFO, &info) ? -errno : info.status;
}

/* Unplug does not wait for fences of others, nor does it signal before them. */
TEST_F(fence, unbound)
{
	struct drm_nnpu_sync in;
	int status, gate, out;
	unsigned int tries;
	bool shut = false;

	for (tries = 0; !shut && tries < TRIES; tries++) {
		struct pollfd end = { .events = POLLIN };

		if (tries) {
			/* A file of the device that is there now. */
			close(self->fd);
			self->fd = nnpu_open();
			ASSERT_LE(0, self->fd);
			ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 64));
			ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &self->gate));
		}
		ASSERT_EQ(0, gate_close(self->fd, self->vgem, self->gate, &self->number));
		wait_for(&self->job, &in, self->gate);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
		/* Syncobjs do not work without the device. */
		gate = sync_file(self->fd, self->gate);
		out = sync_file(self->fd, self->job.syncobj);
		ASSERT_LE(0, gate);
		ASSERT_LE(0, out);
		ASSERT_EQ(0, nnpu_driver_write("unbind", self->device));
		status = sync_file_status(out);
		shut = !sync_file_status(gate);
		if (shut)
			EXPECT_EQ(0, status);
		ASSERT_EQ(0, nnpu_driver_write("bind", self->device));
		ASSERT_EQ(0, gate_open(self->vgem, self->number));
		end.fd = out;
		EXPECT_EQ(1, poll(&end, 1, WAIT_MS));
		EXPECT_EQ(-ENODEV, sync_file_status(out));
		close(gate);
		close(out);
		munmap(self->job.buf.map, self->job.buf.size);
	}
	EXPECT_TRUE(shut);
}

TEST_HARNESS_MAIN
