// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device that sees copies of all memory (bounce buffers, swiotlb=force on the command line of the
 * kernel), as in a guest whose memory is encrypted. Before BO_FINI a job does not see what the
 * process wrote, and before BO_PREP the process does not see what the job wrote: only these calls
 * copy, and only what they name. Memory that nobody could synchronise is refused.
 */
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test_queue.h"

#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
#define BIG		(4ul << 20)
#define COUNT		1024u
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)
#define WAIT_MS		60000
#define RUNS		20

FIXTURE(bounced)
{
	int fd;
	struct nnpu_job job;
};

FIXTURE_SETUP(bounced)
{
	self->fd = nnpu_open();
	if (!nnpu_dma_bounced())
		SKIP(return, "no DMA is bounced here: needs a kernel with swiotlb=force");
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, COUNT));
}

FIXTURE_TEARDOWN(bounced)
{
	close(self->fd);
}

static const float *data_of(const struct nnpu_job *job, unsigned int arg)
{
	return (const float *)((const char *)job->buf.map + job->args[arg].offset);
}

static int userptr(int fd, void *addr, uint64_t size)
{
	struct drm_nnpu_bo_userptr arg = {
		.addr = (uintptr_t)addr, .size = size, .flags = DRM_NNPU_USERPTR_WRITE,
	};

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_USERPTR, &arg);
}

/* Whatever its size: a huge page is larger than any bounce buffer. */
TEST_F(bounced, pinned_memory_is_refused)
{
	const size_t sizes[] = { PAGE, 64 * PAGE, 8 * BIG };
	char line[128];
	unsigned int i;
	long pinned = -1;
	FILE *f;
	char *map;

	for (i = 0; i < 3; i++) {
		map = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ASSERT_NE(MAP_FAILED, map);
		madvise(map, sizes[i], MADV_HUGEPAGE);
		memset(map, 1, sizes[i]);
		EXPECT_EQ(-EOPNOTSUPP, userptr(self->fd, map, sizes[i]));
		munmap(map, sizes[i]);
	}
	f = fopen("/proc/self/status", "r");
	ASSERT_NE(NULL, f);
	while (pinned < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %ld", &pinned);
	fclose(f);
	EXPECT_EQ(0, pinned);
}

static int prime_import(int fd, int dmabuf)
{
	struct drm_prime_handle arg = { .fd = dmabuf };

	return nnpu_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
}

/* Exporters would have to synchronise for a device that others do not know to be one of copies. */
TEST_F(bounced, imported_memory_is_refused)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = PAGE };
	struct dma_heap_allocation_data alloc = { .len = PAGE, .fd_flags = O_RDWR | O_CLOEXEC };
	int udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	int dmabuf;

	ASSERT_LE(0, udmabuf);
	ASSERT_LE(0, heap);
	create.memfd = memfd_create("nnpu", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(create.memfd, (off_t)PAGE));
	ASSERT_EQ(0, fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	dmabuf = ioctl(udmabuf, UDMABUF_CREATE, &create);
	ASSERT_LE(0, dmabuf);
	EXPECT_EQ(-EOPNOTSUPP, prime_import(self->fd, dmabuf));
	ASSERT_EQ(0, ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &alloc));
	EXPECT_EQ(-EOPNOTSUPP, prime_import(self->fd, (int)alloc.fd));
	close((int)alloc.fd);
	close(heap);
	close(dmabuf);
	close(create.memfd);
	close(udmabuf);
}

TEST_F(bounced, user_queues_are_refused)
{
	struct nnpu_uq uq;

	EXPECT_EQ(-EOPNOTSUPP, nnpu_uq_create(self->fd, &uq, 0, NNPU_UQ_ENTRIES, NNPU_UQ_ENTRIES));
}

/* Without the two calls each side has its own bytes: the driver copies nothing by itself. */
TEST_F(bounced, nobody_copies_by_himself)
{
	const unsigned char *out = (const unsigned char *)data_of(&self->job, 2);
	unsigned int i;

	nnpu_job_fill(&self->job, 3);
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SUBMIT, &self->job.submit));
	ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, self->job.syncobj, WAIT_MS));
	ASSERT_EQ(1, nnpu_syncobj_status(self->fd, self->job.syncobj));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&self->job)->status);
	for (i = 0; i < COUNT * sizeof(float); i++)
		ASSERT_EQ(0xa5, out[i]);
	/* The job has added the zeros of the new buffer. */
	ASSERT_EQ(0, nnpu_bo_take(self->fd, self->job.buf.handle, 0, self->job.buf.size));
	EXPECT_EQ(NNPU_STATUS_SUCCESS, nnpu_job_result(&self->job)->status);
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(0.0f, data_of(&self->job, 2)[i]);
}

/* The device gets what BO_FINI names, the process what BO_PREP names, to the byte. */
TEST_F(bounced, only_what_is_named)
{
	struct nnpu_job *job = &self->job;
	const unsigned int half = COUNT / 2;
	float a[COUNT], b[COUNT];
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_run(self->fd, job, 1));
	memcpy(b, data_of(job, 1), sizeof(b));
	nnpu_job_fill(job, 2);
	memcpy(a, data_of(job, 0), sizeof(a));
	ASSERT_EQ(0, nnpu_bo_give(self->fd, job->buf.handle, job->args[0].offset, sizeof(a)));
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SUBMIT, &job->submit));
	ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, job->syncobj, WAIT_MS));
	/* All but one byte of the second half. */
	ASSERT_EQ(0, nnpu_bo_take(self->fd, job->buf.handle,
				  job->args[2].offset + half * sizeof(float) + 1,
				  half * sizeof(float) - 1));
	for (i = 0; i < half * sizeof(float) + 1; i++)
		ASSERT_EQ(0xa5, ((const unsigned char *)data_of(job, 2))[i]);
	for (i = half + 1; i < COUNT; i++)
		ASSERT_EQ(a[i] + b[i], data_of(job, 2)[i]);
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(job)->status);
}

/* A CPU that only writes does not read, and one that only reads does not write. */
TEST_F(bounced, access_says_which_way)
{
	struct nnpu_job *job = &self->job;
	struct drm_nnpu_bo_prep prep = {
		.handle = job->buf.handle, .flags = DRM_NNPU_BO_WRITE, .size = job->buf.size,
	};
	struct drm_nnpu_bo_fini fini = {
		.handle = job->buf.handle, .flags = DRM_NNPU_BO_READ, .size = job->buf.size,
	};

	ASSERT_EQ(0, nnpu_job_run(self->fd, job, 1));
	nnpu_job_fill(job, 2);
	/* What the process wrote stays with it. */
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_PREP, &prep));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(job)->status);
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_FINI, &fini));
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SUBMIT, &job->submit));
	ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, job->syncobj, WAIT_MS));
	ASSERT_EQ(0, nnpu_bo_take(self->fd, job->buf.handle, 0, job->buf.size));
	EXPECT_TRUE(nnpu_job_correct(job, 1));
}

/* A dma-buf of a buffer is synchronised by the ioctl of dma-bufs, for who has no handle. */
TEST_F(bounced, exported_buffer)
{
	struct drm_prime_handle prime = {
		.handle = self->job.buf.handle, .flags = DRM_CLOEXEC | DRM_RDWR,
	};
	struct dma_buf_sync sync = { .flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_RW };
	struct nnpu_job seen = self->job;
	uint32_t i;

	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	seen.buf.map = mmap(NULL, seen.buf.size, PROT_READ | PROT_WRITE, MAP_SHARED, prime.fd, 0);
	ASSERT_NE(MAP_FAILED, seen.buf.map);
	for (i = 0; i < RUNS; i++) {
		sync.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE;
		ASSERT_EQ(0, nnpu_ioctl(prime.fd, DMA_BUF_IOCTL_SYNC, &sync));
		nnpu_job_fill(&seen, i);
		sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE;
		ASSERT_EQ(0, nnpu_ioctl(prime.fd, DMA_BUF_IOCTL_SYNC, &sync));
		ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_SUBMIT, &seen.submit));
		/* It waits for the job. */
		sync.flags = DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ;
		ASSERT_EQ(0, nnpu_ioctl(prime.fd, DMA_BUF_IOCTL_SYNC, &sync));
		ASSERT_TRUE(nnpu_job_correct(&seen, i));
		sync.flags = DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ;
		ASSERT_EQ(0, nnpu_ioctl(prime.fd, DMA_BUF_IOCTL_SYNC, &sync));
	}
	munmap(seen.buf.map, seen.buf.size);
	close(prime.fd);
}

/* The device's own buffer comes back as the same one. */
TEST_F(bounced, own_export_is_no_import)
{
	struct drm_prime_handle prime = { .handle = self->job.buf.handle, .flags = DRM_CLOEXEC };

	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	prime.handle = 0;
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
	EXPECT_EQ(self->job.buf.handle, prime.handle);
	close(prime.fd);
}

/* Both ways, again and again in the same memory: neither side may see what was there before. */
TEST_F(bounced, each_job_sees_what_was_written_before)
{
	uint32_t i;

	for (i = 0; i < RUNS; i++)
		ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, i));
}

/* The second reads what the first wrote, and the process does not look in between. */
TEST_F(bounced, jobs_see_each_others_results)
{
	struct nnpu_job next;
	uint32_t i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &next, COUNT));
	nnpu_job_fill(&self->job, 5);
	nnpu_job_fill(&next, 6);
	/* out = a + b; then out' = out + out. */
	next.args[0].slot = self->job.buf.slot;
	next.args[0].offset = self->job.args[2].offset;
	next.args[1] = next.args[0];
	next.submit.in_syncs = (uintptr_t)&self->job.out_sync;
	next.submit.num_in_syncs = 1;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &next));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &next, WAIT_MS));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
	EXPECT_TRUE(nnpu_job_correct(&self->job, 5));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(2 * data_of(&self->job, 2)[i], data_of(&next, 2)[i]);
	nnpu_job_fini(self->fd, &next);
}

/* An output may name all of a buffer: no end of a job touches what the process has there. */
TEST_F(bounced, process_keeps_what_it_has)
{
	struct nnpu_buf buf;
	unsigned char *bytes;
	size_t i, used = COUNT * sizeof(float);

	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, BIG, RW));
	bytes = buf.map;
	nnpu_job_fill(&self->job, 9);
	self->job.args[2].slot = buf.slot;
	self->job.args[2].offset = 0;
	self->job.args[2].length = BIG;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	memset(bytes, 2, BIG);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
	EXPECT_EQ(NNPU_STATUS_SUCCESS, nnpu_job_result(&self->job)->status);
	for (i = 0; i < BIG; i++)
		ASSERT_EQ(2, bytes[i]);
	ASSERT_EQ(0, nnpu_bo_take(self->fd, buf.handle, 0, used));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(data_of(&self->job, 0)[i] + data_of(&self->job, 1)[i],
			  ((const float *)bytes)[i]);
	for (i = used; i < BIG; i++)
		ASSERT_EQ(2, bytes[i]);
	nnpu_buf_destroy(self->fd, &buf);
}

/* Gives and takes all of a buffer until that fails, and exits with the errno. */
static pid_t walker(int fd, uint32_t handle)
{
	pid_t pid = fork();
	int ret;

	if (pid)
		return pid;
	do {
		ret = nnpu_bo_give(fd, handle, 0, BIG);
		if (!ret)
			ret = nnpu_bo_take(fd, handle, 0, BIG);
	} while (!ret);
	_exit(-ret);
}

/* One that walks can be killed, and holds nothing that a page fault needs. */
TEST_F(bounced, walks_can_be_killed)
{
	struct nnpu_buf buf;
	unsigned int i;
	int status;
	pid_t pid;
	void *map;

	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, BIG, RW));
	for (i = 0; i < RUNS; i++) {
		pid = walker(self->fd, buf.handle);
		ASSERT_LT(0, pid);
		ASSERT_EQ(0, nnpu_bo_mmap(self->fd, buf.handle, BIG, &map));
		memset(map, (int)i, BIG);
		munmap(map, BIG);
		usleep(i * 500);
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status));
	}
	nnpu_buf_destroy(self->fd, &buf);
}

/* Neither does unbind wait for the end of walks: they end with it. */
TEST_F(bounced, unbind_ends_walks)
{
	char path[NNPU_DEBUGFS_PATH_MAX];
	const char *device;
	struct nnpu_buf buf;
	unsigned int i;
	int status;
	pid_t pid;

	ASSERT_EQ(0, nnpu_debugfs_dir(self->fd, path));
	device = strrchr(path, '/') + 1;
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, BIG, RW));
	pid = walker(self->fd, buf.handle);
	ASSERT_LT(0, pid);
	usleep(20000);
	ASSERT_EQ(0, nnpu_driver_write("unbind", device));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(ENODEV, WEXITSTATUS(status));
	/* Its memory stays. */
	for (i = 0; i < BIG; i += PAGE)
		((unsigned char *)buf.map)[i] = 1;
	EXPECT_EQ(0, nnpu_driver_write("bind", device));
}

TEST_HARNESS_MAIN
