// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of the device: who gets one, and when; their attributes; how they end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"
#include "nnpu_test_queue.h"

#define PAGE		((uint64_t)NNPU_PAGE_SIZE)
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)

FIXTURE(contexts)
{
	int fd;
	mode_t mode;			/* of the node, if a test changed it */
};

FIXTURE_SETUP(contexts)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
}

FIXTURE_TEARDOWN(contexts)
{
	nnpu_test_ctx = 0;
	if (self->mode)
		fchmod(self->fd, self->mode);
	if (self->fd >= 0)
		close(self->fd);
}

static long live(int fd)
{
	return nnpu_debugfs_value(fd, "objects", "contexts");
}

/* More files than the device has contexts; none takes one before it uses the device. */
TEST_F(contexts, open_takes_no_context)
{
	enum { FILES = 300 };
	struct drm_nnpu_context_info info;
	uint32_t size = sizeof(info), slot;
	int fds[FILES], n;
	long before;
	struct nnpu_job job;

	/* Those of tests before are still being released. */
	for (n = 0; n < 3000 && live(self->fd) > 0; n++)
		usleep(10000);
	before = live(self->fd);
	ASSERT_EQ(0, before);
	for (n = 0; n < FILES; n++) {
		fds[n] = nnpu_open();
		ASSERT_LE(0, fds[n]);
	}
	EXPECT_EQ(before, live(self->fd));
	memset(&info, 0xff, sizeof(info));
	ASSERT_EQ(0, nnpu_query(fds[0], DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size));
	EXPECT_EQ(0, info.flags | info.slots | info.programs | info.jobs_submitted);
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(fds[0], 0));
	EXPECT_EQ(-ENOENT, nnpu_program_unload(fds[0], 1));
	EXPECT_EQ(-ENOENT, nnpu_slot_bind(fds[0], 1000, 0, PAGE, RW, &slot));
	EXPECT_EQ(before, live(self->fd));
	ASSERT_EQ(0, nnpu_job_init(fds[FILES - 1], &job, 64));
	/* A file without context has no program. */
	EXPECT_EQ(-ENOENT, nnpu_job_submit(fds[0], &job));
	EXPECT_EQ(before + 1, live(self->fd));
	EXPECT_EQ(0, nnpu_job_run(fds[FILES - 1], &job, 1));
	nnpu_job_fini(fds[FILES - 1], &job);
	while (n--)
		close(fds[n]);
}

/*
 * In a process of another user: take contexts until it fails and say how many and why; keep
 * them until the pipe closes.
 */
static void take_contexts(uid_t uid, int report, int wait)
{
	int result[2] = { 0, 0 }, fd = -1;
	struct nnpu_buf buf;
	uint32_t ctx;
	char byte;

	if (setgid(uid) || setuid(uid))
		_exit(1);
	while (!result[1] && result[0] < 1000) {
		/* Every other one in the same file. */
		if (result[0] % 2) {
			result[1] = nnpu_context_create(fd, &(struct drm_nnpu_context_create) { 0 },
							&ctx);
		} else {
			fd = nnpu_open();
			result[1] = fd < 0 ? fd : nnpu_buf_create(fd, &buf, PAGE, RW);
		}
		result[0] += !result[1];
	}
	if (write(report, result, sizeof(result)) != sizeof(result))
		_exit(1);
	_exit(read(wait, &byte, 1) != 0);
}

/* One user takes all he gets, then another; the next ones still get a context. */
TEST_F(contexts, users_share_contexts)
{
	int report[2], wait[2], got[3][2], status;
	struct nnpu_job job;
	struct stat st;
	pid_t pid[3];
	unsigned int i;

	if (geteuid() != 0)
		NNPU_SKIP(return, "not root");
	ASSERT_EQ(0, fstat(self->fd, &st));
	self->mode = st.st_mode & 07777;
	ASSERT_EQ(0, fchmod(self->fd, 0666));
	ASSERT_EQ(0, pipe(report));
	ASSERT_EQ(0, pipe(wait));
	for (i = 0; i < 3; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i]) {
			close(wait[1]);
			take_contexts(12345 + i, report[1], wait[0]);
		}
		ASSERT_EQ(sizeof(got[i]), read(report[0], got[i], sizeof(got[i])));
		TH_LOG("user %u: %d contexts, then %s", i, got[i][0], strerror(-got[i][1]));
		EXPECT_EQ(-EDQUOT, got[i][1]);
		EXPECT_LE(1, got[i][0]);
	}
	EXPECT_LT(got[1][0], got[0][0]);
	EXPECT_LT(got[2][0], got[1][0]);
	/* Root, too. */
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	nnpu_job_fini(self->fd, &job);
	close(wait[1]);
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
	}
}

#define MS		1000000ull

static uint32_t create(int fd, const struct drm_nnpu_context_create *attrs)
{
	uint32_t ctx;

	return nnpu_context_create(fd, attrs, &ctx) ? 0 : ctx;
}

static int context_info(int fd, uint32_t ctx, struct drm_nnpu_context_info *info)
{
	uint32_t size = sizeof(*info), before = nnpu_test_ctx;
	int ret;

	memset(info, 0, size);
	nnpu_test_ctx = ctx;
	ret = nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, info, &size);
	nnpu_test_ctx = before;
	return ret;
}

TEST_F(contexts, attributes)
{
	struct drm_nnpu_device_info device = { 0 };
	uint32_t size = sizeof(device), ctx, slot;
	struct drm_nnpu_context_info info;
	struct drm_nnpu_context_create arg;
	size_t i;

	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, &device, &size));
	EXPECT_LT(0, device.time_limit_ns);
	EXPECT_LE(device.time_limit_ns, device.max_time_limit_ns);
	const struct drm_nnpu_context_create bad[] = {
		{ .flags = 2 },
		{ .flags = 1u << 31 },
		{ .weight = DRM_NNPU_WEIGHT_MAX + 1 },
		{ .time_limit_ns = device.max_time_limit_ns + 1 },
		{ .num_priorities = 4 },
	};
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_EQ(-EINVAL, nnpu_context_create(self->fd, &bad[i], &ctx)) {
			TH_LOG("case %zu", i);
		}
	arg = (struct drm_nnpu_context_create) {
		.weight = 4, .mem_limit = 1 << 20, .time_limit_ns = device.max_time_limit_ns,
	};
	ctx = create(self->fd, &arg);
	ASSERT_EQ(1, ctx);
	ASSERT_EQ(0, context_info(self->fd, ctx, &info));
	EXPECT_EQ(4, info.weight);
	EXPECT_EQ(1 << 20, info.mem_limit);
	EXPECT_EQ(device.max_time_limit_ns, info.time_limit_ns);
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(DRM_NNPU_PRIORITY_HIGH + 1, info.num_priorities);
	EXPECT_EQ(-ENOENT, context_info(self->fd, ctx + 1, &info));
	EXPECT_EQ(-ENOENT, nnpu_context_destroy(self->fd, ctx + 1));
	/* Context 0 is none before its first use, and has the defaults then. */
	EXPECT_EQ(-ENOENT, nnpu_context_destroy(self->fd, 0));
	ASSERT_EQ(0, context_info(self->fd, 0, &info));
	EXPECT_EQ(0, info.weight);
	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &size));
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, size, 0, PAGE, RW, &slot));
	ASSERT_EQ(0, context_info(self->fd, 0, &info));
	EXPECT_EQ(DRM_NNPU_WEIGHT_DEFAULT, info.weight);
	EXPECT_EQ(device.time_limit_ns, info.time_limit_ns);
	EXPECT_EQ(1, info.slots);
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, ctx));
	EXPECT_EQ(-ENOENT, nnpu_context_destroy(self->fd, ctx));
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(self->fd, slot));
}

/* What the device needs for a program counts, and no byte more than the limit is given. */
TEST_F(contexts, mem_limit)
{
	uint8_t image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t size = nnpu_add_image(image, 64);
	struct drm_nnpu_program_load load;
	uint32_t program;
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_program_load(self->fd, image, size, &program, &load));
	ASSERT_LT(1, load.memory);
	nnpu_test_ctx = create(self->fd, &(struct drm_nnpu_context_create) {
		.mem_limit = load.memory - 1,
	});
	ASSERT_NE(0, nnpu_test_ctx);
	EXPECT_EQ(-ENOMEM, nnpu_program_load(self->fd, image, size, &program, &load));
	EXPECT_EQ(NNPU_STATUS_NO_MEMORY, load.status);
	EXPECT_EQ(0, program);
	/* It costs nobody else anything. */
	nnpu_test_ctx = create(self->fd, &(struct drm_nnpu_context_create) {
		.mem_limit = 1 << 20,
	});
	ASSERT_NE(0, nnpu_test_ctx);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	nnpu_job_fini(self->fd, &job);
}

static long read_number(const char *dir, const char *name)
{
	char path[128];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

/* Contexts of one file, beside context 0. */
#define FILE_CONTEXTS	15
#define CHARGED_FILES	3

/* Argument blocks come with the first job of a context. */
static bool fill_file(void)
{
	const struct drm_nnpu_context_create attrs = { 0 };
	int fd = nnpu_open(), ret = 0;
	struct nnpu_job job;
	unsigned int i;

	for (i = 0; i < FILE_CONTEXTS && !ret; i++) {
		ret = nnpu_context_create(fd, &attrs, &nnpu_test_ctx);
		if (ret || nnpu_job_init(fd, &job, 64))
			return false;
		ret = nnpu_job_run(fd, &job, 1);
		nnpu_job_fini(fd, &job);
	}
	return !ret;
}

/* In a group of its own: how much it is charged for contexts, -1 if that went wrong. */
static long charge_of_contexts(const char *group)
{
	long before, after;
	unsigned int i;

	if (nnpu_write_file(group, "cgroup.procs", "0"))
		return -1;
	before = read_number(group, "memory.current");
	for (i = 0; i < CHARGED_FILES; i++)
		if (!fill_file())
			return -1;
	after = read_number(group, "memory.current");
	return before < 0 || after < 0 ? -1 : after - before;
}

/* Of the size of an allocation of pages. */
static long page_order(unsigned long size)
{
	unsigned long bytes = PAGE;

	while (bytes < size)
		bytes *= 2;
	return (long)bytes;
}

/* Coherent memory may come from there, and is charged to nobody then. */
static bool has_cma(void)
{
	unsigned long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CmaTotal: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* Slot table and argument blocks are charged to the memory cgroup of who uses the context. */
TEST_F(contexts, charged_to_the_cgroup)
{
	char root[] = "/tmp/nnpu-cgroup-XXXXXX", group[64];
	struct drm_nnpu_device_info info = { 0 };
	long charge = -1, blocks, tables, places;
	uint32_t size = sizeof(info);
	int result[2], status, ret;
	pid_t pid;

	if (geteuid() != 0)
		NNPU_SKIP(return, "not root");
	places = 3 * (read_number("/sys/module/nnpu/parameters", "max_inflight") + 1);
	ASSERT_LT(0, places);
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size));
	ASSERT_NE(NULL, mkdtemp(root));
	ret = mount("none", root, "cgroup2", 0, NULL) ? -errno : 0;
	if (ret == -ENODEV && getenv("NNPU_DEBUG_KERNEL")) {
		rmdir(root);
		SKIP(return, "the debug kernel has no control groups");
	}
	ASSERT_EQ(0, ret);
	snprintf(group, sizeof(group), "%s/nnpu", root);
	ASSERT_EQ(0, nnpu_write_file(root, "cgroup.subtree_control", "+memory"));
	ASSERT_EQ(0, mkdir(group, 0700));
	ASSERT_EQ(0, pipe(result));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		charge = charge_of_contexts(group);
		_exit(write(result[1], &charge, sizeof(charge)) != sizeof(charge));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(sizeof(charge), read(result[0], &charge, sizeof(charge)));
	blocks = places * page_order(sizeof(struct nnpu_args_header) +
				     info.max_args * sizeof(struct nnpu_arg));
	tables = page_order(info.max_slots * sizeof(struct nnpu_slot_entry));
	TH_LOG("%d contexts of %ld + %ld bytes: %ld are charged", CHARGED_FILES * FILE_CONTEXTS,
	       blocks, tables, charge);
	EXPECT_EQ(0, umount2(root, MNT_DETACH));
	rmdir(root);
	if (has_cma())
		SKIP(return, "this kernel takes coherent memory from CMA");
	/* The kernel charges for some pages in advance: half of the tables is not seen. */
	EXPECT_LE(CHARGED_FILES * FILE_CONTEXTS * (blocks + tables / 2), charge);
}

/* What gives a context more than others needs CAP_SYS_NICE. */
TEST_F(contexts, nice)
{
	const struct drm_nnpu_context_create urgent = { .flags = DRM_NNPU_CONTEXT_URGENT };
	const struct drm_nnpu_context_create heavy = { .weight = DRM_NNPU_WEIGHT_DEFAULT + 1 };
	const struct drm_nnpu_context_create light = { .weight = DRM_NNPU_WEIGHT_DEFAULT };
	struct drm_nnpu_context_info info;
	struct nnpu_job job;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		NNPU_SKIP(return, "not root");
	nnpu_test_ctx = create(self->fd, &urgent);
	ASSERT_NE(0, nnpu_test_ctx);
	/* It can be told from a lost one. */
	ASSERT_EQ(0, context_info(self->fd, nnpu_test_ctx, &info));
	EXPECT_EQ(DRM_NNPU_CONTEXT_URGENT, info.flags);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	EXPECT_NE(0, create(self->fd, &heavy));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		uint32_t ctx;

		if (setgid(12345) || setuid(12345))
			_exit(1);
		if (nnpu_context_create(self->fd, &urgent, &ctx) != -EPERM)
			_exit(2);
		if (nnpu_context_create(self->fd, &heavy, &ctx) != -EPERM)
			_exit(3);
		_exit(nnpu_context_create(self->fd, &light, &ctx) ? 4 : 0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
}

TEST_F(contexts, priority_ceiling)
{
	const struct drm_nnpu_context_create low = { .num_priorities = 1 };
	struct drm_nnpu_context_info info;
	struct nnpu_job job;
	struct nnpu_uq uq;
	int ret;

	nnpu_test_ctx = create(self->fd, &low);
	ASSERT_NE(0, nnpu_test_ctx);
	ASSERT_EQ(0, context_info(self->fd, nnpu_test_ctx, &info));
	EXPECT_EQ(1, info.num_priorities);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	EXPECT_EQ(-EACCES, nnpu_job_run(self->fd, &job, 1));
	job.submit.priority = DRM_NNPU_PRIORITY_LOW;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	ret = nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, 16, 16);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without user queues");
	EXPECT_EQ(-EACCES, ret);
	ASSERT_EQ(0, nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_LOW, 16, 16));
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &uq, &job, 2));
	nnpu_uq_destroy(self->fd, &uq);
}

/* Two contexts of a file do not see each other's slots and programs. */
TEST_F(contexts, isolation)
{
	uint32_t first = create(self->fd, &(struct drm_nnpu_context_create) { 0 });
	uint32_t second = create(self->fd, &(struct drm_nnpu_context_create) { 0 }), slot;
	struct nnpu_job a, b;

	ASSERT_NE(0, first);
	ASSERT_NE(0, second);
	nnpu_test_ctx = first;
	ASSERT_EQ(0, nnpu_job_init(self->fd, &a, 64));
	EXPECT_EQ(0, a.buf.slot);
	nnpu_test_ctx = second;
	a.submit.ctx = second;
	EXPECT_EQ(-ENOENT, nnpu_job_submit(self->fd, &a));
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(self->fd, a.buf.slot));
	EXPECT_EQ(-ENOENT, nnpu_program_unload(self->fd, a.program));
	/* The same numbers, but buffers of the file. */
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, a.buf.handle, 0, PAGE, RW, &slot));
	EXPECT_EQ(0, slot);
	EXPECT_EQ(0, nnpu_slot_unbind(self->fd, slot));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &b, 128));
	EXPECT_EQ(a.program, b.program);
	a.submit.ctx = first;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &a, 1));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &b, 2));
	/* The end of one is not the end of the other. */
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, first));
	EXPECT_EQ(-ENOENT, nnpu_job_submit(self->fd, &a));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &b, 3));
	nnpu_job_fini(self->fd, &b);
}

/* A job that takes longer than its context allows. */
TEST_F(contexts, time_limit)
{
	const struct drm_nnpu_context_create attrs = { .time_limit_ns = 100 * MS };
	struct drm_nnpu_context_info info;
	struct nnpu_sqe_execute sqe;
	struct nnpu_job job, heir, other;
	struct nnpu_cqe cqe;
	struct nnpu_uq uq;
	int ret;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &other, 64));
	nnpu_test_ctx = create(self->fd, &attrs);
	ASSERT_NE(0, nnpu_test_ctx);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &heir, 64));
	heir.submit.in_syncs = (uintptr_t)&job.out_sync;
	heir.submit.num_in_syncs = 1;
	heir.submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	/* It takes a second, and makes progress. */
	ret = nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_job_fill(&job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	nnpu_job_fill(&heir, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &heir));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &heir, 60000));
	EXPECT_EQ(-ETIME, nnpu_syncobj_status(self->fd, job.syncobj));
	/* It inherits the error, but used up no time. */
	EXPECT_EQ(-ETIME, nnpu_syncobj_status(self->fd, heir.syncobj));
	EXPECT_EQ(NNPU_STATUS_TIME_LIMIT, nnpu_job_result(&job)->status);
	ASSERT_EQ(0, context_info(self->fd, nnpu_test_ctx, &info));
	EXPECT_EQ(1, info.jobs_timedout);
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 2));

	ret = nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, 16, 16);
	if (!ret) {
		ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1));
		nnpu_job_fill(&job, 3);
		nnpu_uq_job_sqe(&job, 7, &sqe);
		nnpu_uq_push(&uq, &sqe);
		nnpu_uq_ring(&uq);
		ASSERT_EQ(0, nnpu_uq_take(self->fd, &uq, &cqe, 60000, NULL));
		EXPECT_EQ(NNPU_STATUS_TIME_LIMIT, nnpu_cqe_status(&cqe));
		EXPECT_EQ(0, nnpu_uq_run(self->fd, &uq, &job, 4));
		nnpu_uq_destroy(self->fd, &uq);
	}

	/* The other context has 30 s. */
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &other, 5));
	ASSERT_EQ(0, context_info(self->fd, 0, &info));
	EXPECT_EQ(0, info.jobs_timedout);
}

/* A counter of the file; -1: there is none. */
static long long fdinfo(int fd, const char *key)
{
	char path[64], line[256];
	long long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoll(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return value;
}

/* What ends after its context was destroyed counts for the file. */
TEST_F(contexts, counts_outlive_their_context)
{
	struct nnpu_job job;
	int ret;

	nnpu_test_ctx = create(self->fd, &(struct drm_nnpu_context_create) { 0 });
	ASSERT_NE(0, nnpu_test_ctx);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ret = nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_job_fill(&job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, nnpu_test_ctx));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	EXPECT_EQ(1, fdinfo(self->fd, "nnpu-jobs-submitted"));
	EXPECT_EQ(1, fdinfo(self->fd, "nnpu-jobs-completed"));
}

/* After a device reset the file has what does not belong to a context. */
TEST_F_TIMEOUT(contexts, lost_context_keeps_buffers, 240)
{
	struct drm_nnpu_context_info info;
	uint32_t ctx, handle, syncobj;
	struct nnpu_job job, after;
	struct nnpu_buf buf;
	void *map;
	int ret;

	ctx = create(self->fd, &(struct drm_nnpu_context_create) { 0 });
	ASSERT_NE(0, ctx);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, PAGE, RW));
	strcpy(buf.map, "still there");
	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &syncobj));
	ret = nnpu_inject(self->fd, NNPU_INJECT_FATAL, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	nnpu_job_fill(&job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	ASSERT_EQ(0, context_info(self->fd, 0, &info));
	ASSERT_EQ(DRM_NNPU_CONTEXT_LOST, info.flags);
	ASSERT_EQ(0, context_info(self->fd, ctx, &info));
	EXPECT_EQ(DRM_NNPU_CONTEXT_LOST, info.flags);
	EXPECT_EQ(-ENODEV, nnpu_job_submit(self->fd, &job));

	EXPECT_EQ(0, nnpu_syncobj_destroy(self->fd, syncobj));
	EXPECT_EQ(0, nnpu_bo_create(self->fd, PAGE, &handle));
	EXPECT_EQ(0, nnpu_bo_mmap(self->fd, handle, PAGE, &map));
	EXPECT_EQ(0, nnpu_bo_close(self->fd, handle));
	/* New contexts in the same file, lost ones or not. */
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, ctx));
	EXPECT_EQ(ctx, create(self->fd, &(struct drm_nnpu_context_create) { 0 }));
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &after, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &after, 2));
	EXPECT_STREQ("still there", buf.map);
	strcpy(buf.map, "and writable");
	ASSERT_EQ(0, nnpu_slot_bind(self->fd, buf.handle, 0, PAGE, RW, &buf.slot));
	ASSERT_EQ(0, context_info(self->fd, 0, &info));
	EXPECT_EQ(0, info.flags);
	EXPECT_EQ(2, info.slots);
	nnpu_job_fini(self->fd, &after);
}

/* An open descriptor of a queue keeps nothing of a file that is closed. */
TEST_F(contexts, queue_keeps_nothing)
{
	static const char * const names[] = { "contexts", "slots", "programs", "buffers" };
	struct nnpu_job job;
	struct nnpu_uq uq;
	int fd, ret, n;
	size_t i;

	ret = nnpu_uq_setup(&fd, &uq, &job);
	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, nnpu_uq_run(fd, &uq, &job, 1));
	/* Mappings of buffers hold the file. */
	munmap(uq.ring, 2 * PAGE);
	munmap(job.buf.map, job.buf.size);
	close(fd);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (n = 0; n < 3000 && nnpu_debugfs_value(self->fd, "objects", names[i]) > 0; n++)
			usleep(10000);
		EXPECT_EQ(0, nnpu_debugfs_value(self->fd, "objects", names[i])) {
			TH_LOG("%s", names[i]);
		}
	}
	/* Late doorbells go nowhere. */
	nnpu_uq_ring(&uq);
	munmap((void *)uq.db, uq.db_size);
	close(uq.fd);
}

struct waiter {
	int fd;
	struct nnpu_uq *uq;
	int ret;
	uint32_t state;
};

static void *wait_for_queue(void *arg)
{
	struct waiter *w = arg;

	w->ret = nnpu_uq_sleep(w->fd, w->uq, 600000, &w->state, NULL);
	return NULL;
}

/* CONTEXT_DESTROY beside a call that uses the context. */
TEST_F(contexts, destroy_wakes_waiters)
{
	struct waiter w = { .fd = self->fd };
	struct nnpu_job job;
	struct nnpu_uq uq;
	pthread_t thread;
	uint32_t ctx;
	int ret;

	ctx = create(self->fd, &(struct drm_nnpu_context_create) { 0 });
	ASSERT_NE(0, ctx);
	nnpu_test_ctx = ctx;
	ret = nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, 16, 16);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without user queues");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &uq, &job, 1));
	w.uq = &uq;
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_queue, &w));
	usleep(200000);
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, ctx));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	/* It saw the end of the queue, or came too late to find it. */
	EXPECT_TRUE(w.ret == -ENOENT ||
		    (w.ret == 0 && w.state == DRM_NNPU_QUEUE_STATE_DESTROYED));
	EXPECT_EQ(-ENOENT, nnpu_uq_sleep(self->fd, &uq, 0, NULL, NULL));
	EXPECT_TRUE(nnpu_uq_is_silent(&uq));
}

struct user {
	int fd;
	volatile bool stop;
};

static void *use_context(void *arg)
{
	struct user *u = arg;
	struct nnpu_job job;
	struct nnpu_uq uq;

	while (!u->stop) {
		if (!nnpu_uq_create(u->fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, 16, 16))
			nnpu_uq_destroy(u->fd, &uq);
		if (nnpu_job_init(u->fd, &job, 64))
			continue;
		nnpu_job_submit(u->fd, &job);
		nnpu_job_wait(u->fd, &job, 60000);
		nnpu_job_fini(u->fd, &job);
	}
	return NULL;
}

/* Jobs and calls of several threads, while the context goes again and again. */
TEST_F(contexts, destroy_while_in_use)
{
	struct user u = { .fd = self->fd };
	unsigned int i, ended = 0;
	pthread_t threads[3];
	struct nnpu_job job;

	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, use_context, &u));
	/* More often if the threads get no processor for a while, and have no context. */
	for (i = 0; i < 200 || (ended <= 10 && i < 20000); i++) {
		ended += !nnpu_context_destroy(self->fd, 0);
		usleep(1000 * (i % 7));
	}
	u.stop = true;
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
	TH_LOG("%u contexts ended while in use", ended);
	EXPECT_LT(10, ended);
	nnpu_context_destroy(self->fd, 0);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	nnpu_job_fini(self->fd, &job);
}

TEST_HARNESS_MAIN
