// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device that sees copies of all memory (bounce buffers, swiotlb=force on the command line of the
 * kernel), as in a guest whose memory is encrypted. What would need synchronisation that nobody does is
 * refused; a job sees what the process wrote before it, and what a job writes is all that changes.
 */
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test_queue.h"

#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
#define BIG		(4ul << 20)
#define COUNT		1024u
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
	EXPECT_TRUE(nnpu_job_correct(&self->job, 5));
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(2 * data_of(&self->job, 2)[i], data_of(&next, 2)[i]);
	nnpu_job_fini(self->fd, &next);
}

/* Who copies the whole buffer back destroys what the process has written meanwhile. */
TEST_F(bounced, process_keeps_what_no_job_names)
{
	struct nnpu_buf buf;
	unsigned char *bytes;
	size_t i, out = BIG / 2;
	int ret;

	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, BIG, DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE));
	bytes = buf.map;
	memset(bytes, 1, BIG);
	nnpu_job_fill(&self->job, 9);
	self->job.args[2].slot = buf.slot;
	self->job.args[2].offset = out;
	ret = nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "fault injection");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	memset(bytes, 2, out);
	memset(bytes + out + COUNT * sizeof(float), 3, BIG - out - COUNT * sizeof(float));
	/* It still runs: what it writes is copied back later. */
	ASSERT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
	for (i = 0; i < out; i++)
		ASSERT_EQ(2, bytes[i]);
	for (i = out + COUNT * sizeof(float); i < BIG; i++)
		ASSERT_EQ(3, bytes[i]);
	for (i = 0; i < COUNT; i++)
		ASSERT_EQ(data_of(&self->job, 0)[i] + data_of(&self->job, 1)[i],
			  ((const float *)(bytes + out))[i]);
	nnpu_buf_destroy(self->fd, &buf);
}

TEST_HARNESS_MAIN
