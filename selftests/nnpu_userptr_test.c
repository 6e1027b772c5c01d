// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the process, pinned for the device: jobs read and write it in place, whatever the
 * process does to its address space; what may not be pinned is refused; who is killed leaves
 * nothing pinned. VmPin of the process and pinned_bytes of the device are the counters.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test_queue.h"

#define PAGE		((size_t)sysconf(_SC_PAGESIZE))
#define R		DRM_NNPU_SLOT_READ
#define W		DRM_NNPU_SLOT_WRITE
#define WRITABLE	DRM_NNPU_USERPTR_WRITE
#define COUNT		1024u			/* of each argument */
#define PART		(COUNT * sizeof(float))
#define BYTES		(3 * PAGE)		/* has room for two inputs and an output */
#define BIG		(4ul << 20)
#define NOBODY		65534
/* What jobs that are not told apart begin with. */
#define SEED		7u

static int userptr(int fd, void *addr, uint64_t size, uint32_t flags, uint32_t *handle)
{
	struct drm_nnpu_bo_userptr arg = {
		.addr = (uintptr_t)addr, .size = size, .flags = flags, .handle = NNPU_POISON,
	};
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_USERPTR, &arg);

	*handle = arg.handle;
	return ret;
}

static void *anonymous(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Pinned pages of this process. */
static long vm_pin(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	long kib = -1;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmPin: %ld kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib < 0 ? -1 : kib * 1024 / (long)sysconf(_SC_PAGESIZE);
}

static long pinned_bytes(int fd)
{
	return nnpu_debugfs_value(fd, "objects", "pinned_bytes");
}

/* A dying process lets its memory go at its end, not at that of its parent's wait. */
static bool all_unpinned(int fd)
{
	unsigned int i;

	for (i = 0; i < 30000 && pinned_bytes(fd); i++)
		usleep(1000);
	return !pinned_bytes(fd);
}

FIXTURE(userptr)
{
	int fd;
	struct nnpu_job job;
};

FIXTURE_SETUP(userptr)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	if (pinned_bytes(self->fd) < 0)
		NNPU_SKIP(return, "no debugfs");
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, COUNT));
	ASSERT_TRUE(all_unpinned(self->fd));
}

FIXTURE_TEARDOWN(userptr)
{
	if (self->fd < 0)
		return;
	nnpu_job_fini(self->fd, &self->job);
	EXPECT_TRUE(all_unpinned(self->fd));
	EXPECT_EQ(0, vm_pin());
	close(self->fd);
}

/* Arguments of the job: two inputs and an output from @offset of a slot on. */
static void job_use(struct nnpu_job *job, uint32_t slot, uint64_t offset)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		job->args[i].slot = slot;
		job->args[i].offset = offset + i * PART;
	}
}

static void data_fill(float *data, unsigned int seed)
{
	unsigned int i;

	for (i = 0; i < COUNT; i++) {
		data[i] = (float)(i + seed);
		data[COUNT + i] = (float)(2 * i);
		data[2 * COUNT + i] = -1;
	}
}

static bool data_is_sum(const float *data, unsigned int seed)
{
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		if (data[2 * COUNT + i] != (float)(3 * i + seed))
			return false;
	return true;
}

static int job_do(int fd, struct nnpu_job *job)
{
	int ret = nnpu_job_submit(fd, job);

	if (!ret)
		ret = nnpu_job_wait(fd, job, 60000);
	return ret ? ret : nnpu_job_result(job)->status;
}

/* Bind a handle, run a job in the slot, unbind. */
static int run_in(int fd, struct nnpu_job *job, uint32_t handle, uint64_t size, uint64_t offset)
{
	uint32_t slot;
	int ret = nnpu_slot_bind(fd, handle, 0, size, R | W, &slot);

	if (ret)
		return ret;
	job_use(job, slot, offset);
	ret = job_do(fd, job);
	nnpu_slot_unbind(fd, slot);
	return ret;
}

/* Pin memory, run a job in it, see that it has the result, release it. */
static bool works_in(int fd, struct nnpu_job *job, void *map, size_t size, size_t offset)
{
	float *data = (float *)((char *)map + offset);
	uint32_t handle;
	int ret = userptr(fd, map, size, WRITABLE, &handle);

	if (!ret) {
		data_fill(data, SEED);
		ret = run_in(fd, job, handle, size, offset);
		nnpu_bo_close(fd, handle);
	}
	if (ret)
		fprintf(stderr, "# pinned memory: %d\n", ret);
	return !ret && data_is_sum(data, SEED);
}

TEST_F(userptr, job_in_place)
{
	float *data = anonymous(BIG);
	size_t last = BIG - BYTES;
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, data);
	ASSERT_EQ(0, userptr(self->fd, data, BIG, WRITABLE, &handle));
	EXPECT_EQ((long)BIG, pinned_bytes(self->fd));
	EXPECT_EQ((long)(BIG / PAGE), vm_pin());
	/* The pages are those of the process: what it writes now the device reads. */
	data_fill(data, 1);
	data_fill((float *)((char *)data + last), 2);
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BIG, 0));
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BIG, last));
	EXPECT_TRUE(data_is_sum(data, 1));
	EXPECT_TRUE(data_is_sum((float *)((char *)data + last), 2));
	EXPECT_EQ(0, nnpu_bo_close(self->fd, handle));
	EXPECT_EQ(0, pinned_bytes(self->fd));
	EXPECT_EQ(0, vm_pin());
	munmap(data, BIG);
}

TEST_F(userptr, refused)
{
	struct drm_nnpu_bo_userptr arg;
	void *map = anonymous(4 * PAGE);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-EINVAL, userptr(self->fd, (char *)map + 1, PAGE, 0, &handle));
	EXPECT_EQ(-EINVAL, userptr(self->fd, map, PAGE - 1, 0, &handle));
	EXPECT_EQ(-EINVAL, userptr(self->fd, map, 0, 0, &handle));
	EXPECT_EQ(-EINVAL, userptr(self->fd, map, (4ull << 30) + PAGE, 0, &handle));
	EXPECT_EQ(-EINVAL, userptr(self->fd, (void *)-(intptr_t)PAGE, 2 * PAGE, 0, &handle));
	EXPECT_EQ(-EINVAL, userptr(self->fd, map, PAGE, 2, &handle));
	EXPECT_EQ(-EFAULT, userptr(self->fd, NULL, PAGE, 0, &handle));
	/* Addresses of the kernel. */
	EXPECT_EQ(-EFAULT, userptr(self->fd, (void *)(1ul << 63), PAGE, 0, &handle));
	/* A hole at the end, in the second step of pinning, and in the middle. */
	munmap((char *)map + 3 * PAGE, PAGE);
	EXPECT_EQ(-EFAULT, userptr(self->fd, map, 4 * PAGE, 0, &handle));
	memset(&arg, 0x5a, sizeof(arg));
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_USERPTR, &arg));
	munmap(map, 3 * PAGE);
	map = anonymous(BIG);
	ASSERT_NE(MAP_FAILED, map);
	memset(map, 1, BIG);
	munmap((char *)map + BIG - PAGE, PAGE);
	EXPECT_EQ(-EFAULT, userptr(self->fd, map, BIG, WRITABLE, &handle));
	EXPECT_EQ(0, vm_pin());
	EXPECT_EQ(0, pinned_bytes(self->fd));
	munmap(map, BIG - PAGE);
	/* Pages of a driver have no struct page for others. */
	EXPECT_EQ(-EFAULT, userptr(self->fd, self->job.buf.map, PAGE, 0, &handle));
}

/* A file that is no shmem: its pages can be pinned for reading only. */
static int ordinary_file(size_t size)
{
	char path[] = "/var/tmp/nnpu-userptr-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return -errno;
	unlink(path);
	return ftruncate(fd, (off_t)size) ? -errno : fd;
}

TEST_F(userptr, rights)
{
	int memfd = memfd_create("nnpu", MFD_CLOEXEC);
	uint32_t handle, slot;
	char *map;

	ASSERT_EQ(0, ftruncate(memfd, (off_t)BYTES));
	map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, map);
	/* The process may not write there, so the device may not. */
	EXPECT_EQ(-EFAULT, userptr(self->fd, map, BYTES, WRITABLE, &handle));
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, 0, &handle));
	/* Nor what was pinned for reading. */
	EXPECT_EQ(-EACCES, nnpu_slot_bind(self->fd, handle, 0, BYTES, R | W, &slot));
	EXPECT_EQ(-EACCES, nnpu_slot_bind(self->fd, handle, 0, BYTES, W, &slot));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, BYTES, R, &slot));
	job_use(&self->job, slot, 0);
	EXPECT_EQ(-EINVAL, nnpu_job_submit(self->fd, &self->job));
	EXPECT_EQ(0, nnpu_slot_unbind(self->fd, slot));
	nnpu_bo_close(self->fd, handle);
	munmap(map, BYTES);
	/* A private mapping may be written; its file is not. */
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, memfd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_TRUE(works_in(self->fd, &self->job, map, BYTES, 0));
	munmap(map, BYTES);
	map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(0, map[2 * PAGE]);
	munmap(map, BYTES);
	map = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_EQ(-EFAULT, userptr(self->fd, map, BYTES, 0, &handle));
	munmap(map, BYTES);
	close(memfd);
}

/* Pages of the page cache, read in place. */
TEST_F(userptr, file_pages)
{
	int file = ordinary_file(BYTES);
	uint32_t handle, slot, i;
	float *map;

	ASSERT_LE(0, file);
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	ASSERT_NE(MAP_FAILED, map);
	data_fill(map, 3);
	/* tmpfs is shmem; on any other the kernel does not pin for writing. */
	if (userptr(self->fd, map, BYTES, WRITABLE, &handle) == 0)
		nnpu_bo_close(self->fd, handle);
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, 0, &handle));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, BYTES, R, &slot));
	self->job.args[0].slot = slot;
	self->job.args[0].offset = 0;
	self->job.args[1].slot = slot;
	self->job.args[1].offset = PART;
	/* Written after it was pinned, by write(): the same pages. */
	ASSERT_EQ((ssize_t)sizeof(float), pwrite(file, &(float){ 1000 }, sizeof(float), 0));
	ASSERT_EQ(0, job_do(self->fd, &self->job));
	EXPECT_EQ(1000.0f, *(float *)((char *)self->job.buf.map + self->job.args[2].offset));
	for (i = 1; i < COUNT; i++)
		ASSERT_EQ((float)(3 * i + 3),
			  ((float *)((char *)self->job.buf.map + self->job.args[2].offset))[i]);
	/* Cut off: the device reads what was there, and the file goes on without. */
	ASSERT_EQ(0, ftruncate(file, 0));
	ASSERT_EQ(0, ftruncate(file, (off_t)BYTES));
	EXPECT_EQ(0, job_do(self->fd, &self->job));
	EXPECT_EQ(1000.0f, *(float *)((char *)self->job.buf.map + self->job.args[2].offset));
	EXPECT_EQ(0.0f, map[0]);
	nnpu_slot_unbind(self->fd, slot);
	nnpu_bo_close(self->fd, handle);
	munmap(map, BYTES);
	close(file);
}

/* Shared memory that shrinks while the device has it: no fault, and no page of somebody else. */
TEST_F(userptr, truncated)
{
	int memfd = memfd_create("nnpu", MFD_CLOEXEC);
	float *map, zero = -1;
	uint32_t handle;

	ASSERT_EQ(0, ftruncate(memfd, (off_t)BYTES));
	map = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	ASSERT_NE(MAP_FAILED, map);
	data_fill(map, 5);
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, WRITABLE, &handle));
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	EXPECT_TRUE(data_is_sum(map, 5));
	ASSERT_EQ(0, ftruncate(memfd, 0));
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	ASSERT_EQ(0, ftruncate(memfd, (off_t)BYTES));
	/* New pages: the job wrote to the old ones. */
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	ASSERT_EQ((ssize_t)sizeof(zero), pread(memfd, &zero, sizeof(zero), 2 * PAGE));
	EXPECT_EQ(0.0f, zero);
	nnpu_bo_close(self->fd, handle);
	munmap(map, BYTES);
	close(memfd);
}

/* Neither mapped nor exported, and no ring. */
TEST_F(userptr, stays_with_the_file)
{
	struct drm_nnpu_queue_create queue = {
		.sq_entries = 4, .cq_entries = 4, .cq_offset = NNPU_PAGE_SIZE,
	};
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	void *map = anonymous(BYTES), *other;
	struct drm_nnpu_device_info info;
	uint32_t handle, size = sizeof(info);

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, WRITABLE, &handle));
	prime.handle = handle;
	EXPECT_EQ(-EPERM, nnpu_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	EXPECT_EQ(-EINVAL, nnpu_bo_mmap(self->fd, handle, BYTES, &other));
	queue.ring_handle = handle;
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size));
	EXPECT_EQ(info.doorbell_size ? -EINVAL : -EOPNOTSUPP,
		  nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_CREATE, &queue));
	/* It is still good for jobs. */
	data_fill(map, SEED);
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	EXPECT_TRUE(data_is_sum(map, SEED));
	nnpu_bo_close(self->fd, handle);
	munmap(map, BYTES);
}

/* Charged, and to be seen in fdinfo. */
static bool fdinfo_has(int fd, const char *key, unsigned long kib)
{
	char path[64], line[256], name[64];
	unsigned long value;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63[^:]: %lu KiB", name, &value) == 2 && !strcmp(name, key))
			found |= value >= kib;
	if (f)
		fclose(f);
	return found;
}

TEST_F(userptr, fdinfo)
{
	void *map = anonymous(BIG);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, map);
	EXPECT_FALSE(fdinfo_has(self->fd, "drm-resident-memory", BIG / 1024));
	ASSERT_EQ(0, userptr(self->fd, map, BIG, 0, &handle));
	EXPECT_TRUE(fdinfo_has(self->fd, "drm-resident-memory", BIG / 1024));
	EXPECT_TRUE(fdinfo_has(self->fd, "drm-total-memory", BIG / 1024));
	nnpu_bo_close(self->fd, handle);
	munmap(map, BIG);
}

/* The memory goes away under the device; its pages do not. */
TEST_F(userptr, unmapped)
{
	void *map = anonymous(BYTES);
	uint32_t handle;

	ASSERT_NE(MAP_FAILED, map);
	data_fill(map, SEED);
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, WRITABLE, &handle));
	munmap(map, BYTES);
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	/* Something else at the same place is not reached. */
	ASSERT_EQ(map, mmap(map, BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	EXPECT_EQ(0, *((char *)map + 2 * PAGE));
	EXPECT_EQ((long)BYTES, pinned_bytes(self->fd));
	nnpu_bo_close(self->fd, handle);
	munmap(map, BYTES);
}

/* The child gets copies; the parent keeps the pages that the device has. */
TEST_F(userptr, forked)
{
	float *map = anonymous(BYTES);
	uint32_t handle;
	int status = -1;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, map);
	data_fill(map, 1);
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, WRITABLE, &handle));
	pid = fork();
	if (!pid) {
		bool same = map[0] == 1 && vm_pin() == 0;

		memset(map, 0x5a, BYTES);
		_exit(same ? 0 : 1);
	}
	/* A write while a child has the page, too: not to a copy. */
	data_fill(map, 9);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, run_in(self->fd, &self->job, handle, BYTES, 0));
	EXPECT_TRUE(data_is_sum(map, 9));
	nnpu_bo_close(self->fd, handle);
	munmap(map, BYTES);
}

/* The charge is the user's who pinned: a child that closes the last descriptor gives it back. */
TEST_F(userptr, released_by_another)
{
	void *map = anonymous(BYTES);
	int fd, go[2], status = -1;
	uint32_t handle;
	pid_t pid;
	char c;

	ASSERT_NE(MAP_FAILED, map);
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, userptr(fd, map, BYTES, WRITABLE, &handle));
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) != 1 || pinned_bytes(fd) != (long)BYTES)
			_exit(1);
		close(fd);
		_exit(0);
	}
	close(fd);
	EXPECT_EQ((long)(BYTES / PAGE), vm_pin());
	ASSERT_EQ(1, write(go[1], "", 1));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(all_unpinned(self->fd));
	EXPECT_EQ(0, vm_pin());
	close(go[0]);
	close(go[1]);
	munmap(map, BYTES);
}

/* As a user without rights and with room for two pages. 0, or the number of what went wrong. */
static int limited(int fd, void *map)
{
	const struct rlimit limit = { 2 * PAGE, 2 * PAGE };
	uint32_t first, second, handle;

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setresuid(NOBODY, NOBODY, NOBODY))
		return 1;
	if (userptr(fd, map, 3 * PAGE, 0, &handle) != -EDQUOT)
		return 2;
	if (userptr(fd, map, PAGE, WRITABLE, &first))
		return 3;
	/* The same page twice is two pages. */
	if (userptr(fd, map, PAGE, 0, &second))
		return 4;
	if (userptr(fd, map, PAGE, 0, &handle) != -EDQUOT)
		return 5;
	/* What fails is given back: a bad address, then a good one. */
	nnpu_bo_close(fd, second);
	if (userptr(fd, NULL, PAGE, 0, &handle) != -EFAULT)
		return 6;
	if (userptr(fd, map, PAGE, 0, &second) || vm_pin() != 2)
		return 7;
	nnpu_bo_close(fd, second);
	nnpu_bo_close(fd, first);
	if (userptr(fd, map, 2 * PAGE, 0, &handle))
		return 8;
	/* Exits with two pages pinned: the next one has room for two again. */
	return 0;
}

TEST_F(userptr, limit)
{
	void *map = anonymous(BYTES);
	int status, fd, i;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, map);
	for (i = 0; i < 3; i++) {
		fd = nnpu_open();
		ASSERT_LE(0, fd);
		pid = fork();
		if (!pid)
			_exit(limited(fd, map));
		close(fd);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		EXPECT_EQ(0, WEXITSTATUS(status));
		ASSERT_TRUE(all_unpinned(self->fd));
	}
	munmap(map, BYTES);
}

/* Huge pages: transparent ones and those of hugetlb; a part of one, too. */
TEST_F(userptr, huge_pages)
{
	const size_t huge = 2ul << 20;
	char *map = anonymous(3 * huge), *aligned;
	unsigned int i;

	ASSERT_NE(MAP_FAILED, map);
	aligned = (char *)(((uintptr_t)map + huge - 1) & ~(huge - 1));
	madvise(aligned, 2 * huge, MADV_HUGEPAGE);
	memset(aligned, 0, 2 * huge);
	EXPECT_TRUE(works_in(self->fd, &self->job, aligned, 2 * huge, huge - PART));
	EXPECT_TRUE(works_in(self->fd, &self->job, aligned + PAGE, 2 * huge - 2 * PAGE, huge));
	munmap(map, 3 * huge);

	if (access("/proc/sys/vm/nr_hugepages", F_OK)) {
		TH_LOG("this kernel has no pages of hugetlb");
		return;
	}
	/* Memory may be in pieces. */
	for (i = 0, map = MAP_FAILED; i < 100 && map == MAP_FAILED; i++) {
		if (i)
			nnpu_write_file("/proc/sys/vm", "compact_memory", "1");
		ASSERT_EQ(0, nnpu_write_file("/proc/sys/vm", "nr_hugepages", "2"));
		map = mmap(NULL, huge, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	}
	ASSERT_NE(MAP_FAILED, map);
	EXPECT_TRUE(works_in(self->fd, &self->job, map, huge, 0));
	EXPECT_TRUE(works_in(self->fd, &self->job, map + 3 * PAGE, 16 * PAGE, PAGE));
	munmap(map, huge);
	nnpu_write_file("/proc/sys/vm", "nr_hugepages", "0");
}

/* A client is killed while the device writes to its memory. */
TEST_F(userptr, killed_while_the_device_writes)
{
	int ready[2], ret = -1, i;
	struct nnpu_job job;
	uint32_t handle;
	char *map;
	pid_t pid;

	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1));
		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		if (!pid) {
			int fd = nnpu_open();
			uint32_t slot = 0;

			map = anonymous(BIG);
			ret = nnpu_job_init(fd, &job, COUNT);
			if (!ret)
				ret = userptr(fd, map, BIG, WRITABLE, &handle);
			if (!ret)
				ret = nnpu_slot_bind(fd, handle, 0, BIG, R | W, &slot);
			job_use(&job, slot, 0);
			if (!ret)
				ret = nnpu_job_submit(fd, &job);
			if (write(ready[1], &ret, sizeof(ret)) != sizeof(ret))
				_exit(1);
			for (;;)
				pause();
		}
		ASSERT_EQ((ssize_t)sizeof(ret), read(ready[0], &ret, sizeof(ret)));
		EXPECT_EQ(0, ret);
		EXPECT_EQ((long)BIG, pinned_bytes(self->fd));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		EXPECT_TRUE(all_unpinned(self->fd));
		close(ready[0]);
		close(ready[1]);
		nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0);
		EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, (uint32_t)i));
	}
}

/* Memory without pages: who wants it waits until somebody brings it. */
static void *memory_missing(size_t size, int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *map = anonymous(size);

	*uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uintptr_t)map;
	reg.range.len = size;
	if (map == MAP_FAILED || *uffd < 0 || ioctl(*uffd, UFFDIO_API, &api) ||
	    ioctl(*uffd, UFFDIO_REGISTER, &reg))
		return NULL;
	return map;
}

struct pinning {
	int fd;
	void *map;
	size_t size;
	uint32_t handle;
	int ret;
};

static void *pinning_run(void *arg)
{
	struct pinning *p = arg;

	p->ret = userptr(p->fd, p->map, p->size, WRITABLE, &p->handle);
	return NULL;
}

/* A process waits for memory that does not come: nobody waits for it, and it can be killed. */
TEST_F(userptr, killed_while_it_pins)
{
	struct uffd_msg msg;
	struct pinning p;
	int ready[2], uffd;
	pthread_t thread;
	char c = 0;
	pid_t pid;

	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	if (!pid) {
		p.fd = nnpu_open();
		p.size = BIG;
		p.map = memory_missing(BIG, &uffd);
		if (!p.map || pthread_create(&thread, NULL, pinning_run, &p) ||
		    read(uffd, &msg, sizeof(msg)) != sizeof(msg) || write(ready[1], "w", 1) != 1)
			_exit(1);
		pthread_join(thread, NULL);
		_exit(2);
	}
	ASSERT_EQ(1, read(ready[0], &c, 1));
	EXPECT_EQ('w', c);
	/* The device serves others meanwhile, and others can pin. */
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
	p.map = anonymous(BYTES);
	EXPECT_TRUE(works_in(self->fd, &self->job, p.map, BYTES, 0));
	munmap(p.map, BYTES);
	kill(pid, SIGKILL);
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_TRUE(all_unpinned(self->fd));
	close(ready[0]);
	close(ready[1]);
}

/* The driver goes while a call waits for memory, and while memory is pinned. */
TEST_F(userptr, unbound)
{
	char path[NNPU_DEBUGFS_PATH_MAX], device[64];
	struct pinning p = { .fd = self->fd, .size = PAGE };
	struct uffdio_zeropage zero = { 0 };
	void *map = anonymous(BYTES);
	struct uffd_msg msg;
	pthread_t thread;
	uint32_t handle, slot;
	int uffd, other;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, nnpu_debugfs_dir(self->fd, path));
	snprintf(device, sizeof(device), "%s", strrchr(path, '/') + 1);
	ASSERT_EQ(0, userptr(self->fd, map, BYTES, WRITABLE, &handle));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, handle, 0, BYTES, R | W, &slot));
	p.map = memory_missing(PAGE, &uffd);
	ASSERT_NE(NULL, p.map);
	ASSERT_EQ(0, pthread_create(&thread, NULL, pinning_run, &p));
	ASSERT_EQ((ssize_t)sizeof(msg), read(uffd, &msg, sizeof(msg)));
	EXPECT_EQ(0, nnpu_driver_write("unbind", device));
	/* Its pages are the process's again; the charge of the one that waits is left. */
	EXPECT_EQ(1, vm_pin());
	zero.range = (struct uffdio_range){ .start = (uintptr_t)p.map, .len = PAGE };
	EXPECT_EQ(0, ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ENODEV, p.ret);
	EXPECT_EQ(0, vm_pin());
	EXPECT_EQ(0, nnpu_driver_write("bind", device));
	/* The old handle is closed after its driver has gone. */
	munmap(self->job.buf.map, self->job.buf.size);
	close(self->fd);
	other = nnpu_open();
	ASSERT_LE(0, other);
	self->fd = other;
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, COUNT));
	EXPECT_TRUE(works_in(self->fd, &self->job, map, BYTES, 0));
	munmap(map, BYTES);
	munmap(p.map, PAGE);
	close(uffd);
}

#define STORM_THREADS	4
#define STORM_ROUNDS	150

struct storm {
	int fd;
	unsigned int number;
	char *shared;
	int ret;
};

/* Pins what others pin and let go, parts and all, for reading and writing; unmaps its own. */
static void *storm_run(void *arg)
{
	struct storm *s = arg;
	uint32_t handle, slot;
	char *own;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < STORM_ROUNDS && !ret; i++) {
		size_t first = (i * 7 + s->number) % 64 * PAGE;

		own = anonymous(BYTES);
		ret = userptr(s->fd, i % 2 ? own : s->shared + first, BYTES, i % 3 ? WRITABLE : 0,
			      &handle);
		if (!ret) {
			ret = nnpu_slot_bind(s->fd, handle, 0, BYTES, i % 3 ? R | W : R, &slot);
			munmap(own, BYTES);
			nnpu_bo_close(s->fd, handle);
			if (!ret)
				ret = nnpu_slot_unbind(s->fd, slot);
		}
		if (i % 16 == 0)
			madvise(s->shared, 8 * PAGE, MADV_DONTNEED);
	}
	s->ret = ret;
	return NULL;
}

TEST_F(userptr, storm)
{
	struct storm storms[STORM_THREADS];
	pthread_t threads[STORM_THREADS];
	char *shared = anonymous(128 * PAGE);
	unsigned int i;

	ASSERT_NE(MAP_FAILED, shared);
	for (i = 0; i < STORM_THREADS; i++) {
		storms[i] = (struct storm){ .fd = self->fd, .number = i, .shared = shared };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, storm_run, &storms[i]));
	}
	for (i = 0; i < STORM_THREADS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, storms[i].ret);
	}
	EXPECT_TRUE(works_in(self->fd, &self->job, shared, BYTES, 0));
	munmap(shared, 128 * PAGE);
}

TEST_HARNESS_MAIN
