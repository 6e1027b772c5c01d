// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs: results, result blocks, fences, lifetimes of the objects that a job uses, and the
 * isolation between open files.
 */
#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

#define PAGE		((uint64_t)NNPU_PAGE_SIZE)
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)

FIXTURE(nnpu)
{
	int fd;
};

FIXTURE_SETUP(nnpu)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
}

FIXTURE_TEARDOWN(nnpu)
{
	if (self->fd >= 0)
		close(self->fd);
}

/* Lock classes in use, or -1 if the kernel does not count them. */
static long lock_classes(void)
{
	FILE *file = fopen("/proc/lockdep_stats", "r");
	char line[128];
	long classes = -1;

	while (file && classes < 0 && fgets(line, sizeof(line), file))
		sscanf(line, " lock-classes: %ld", &classes);
	if (file)
		fclose(file);
	return classes;
}

TEST_F(nnpu, add)
{
	/* One element, around a page, around the 2 MiB that one table node spans. */
	static const uint32_t counts[] = { 1, 7, 1023, 1024, 1025, 174762, 524287, 600001 };
	struct nnpu_job job;
	size_t i;

	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		ASSERT_EQ(0, nnpu_job_init(self->fd, &job, counts[i]));
		EXPECT_EQ(0, nnpu_job_run(self->fd, &job, counts[i])) {
			TH_LOG("%u elements: status %#x", counts[i],
			       nnpu_job_result(&job)->status);
		}
		nnpu_job_fini(self->fd, &job);
	}
}

/* What lockdep has room for is not used up by contexts. */
TEST_F(nnpu, contexts_share_lock_classes)
{
	enum { FILES = 24 };
	struct nnpu_job slow[FILES], next[FILES];
	long before = 0, after = 0;
	int fds[FILES], i;

	if (!getenv("NNPU_DEBUG_KERNEL"))
		SKIP(return, "lockdep is in the debug kernel");
	for (i = 0; i < FILES; i++) {
		fds[i] = nnpu_open();
		ASSERT_LE(0, fds[i]);
		ASSERT_EQ(0, nnpu_job_init_slow(fds[i], &slow[i], 64));
		ASSERT_EQ(0, nnpu_job_init(fds[i], &next[i], 16));
		/* One of them has to wait for the other. */
		next[i].submit.in_syncs = (uintptr_t)&slow[i].out_sync;
		next[i].submit.num_in_syncs = 1;
		nnpu_job_fill(&next[i], i);
		ASSERT_EQ(0, nnpu_job_submit(fds[i], &slow[i]));
		ASSERT_EQ(0, nnpu_job_submit(fds[i], &next[i]));
		ASSERT_EQ(0, nnpu_job_wait(fds[i], &next[i], 60000));
		EXPECT_TRUE(nnpu_job_correct(&next[i], i));
		/* The classes of the first run are those of all. */
		if (!i)
			before = lock_classes();
	}
	after = lock_classes();
	while (i--) {
		nnpu_job_fini(fds[i], &slow[i]);
		nnpu_job_fini(fds[i], &next[i]);
		close(fds[i]);
	}
	EXPECT_LT(0, before);
	EXPECT_GT(before + FILES / 2, after)
		TH_LOG("%ld lock classes more", after - before);
}

TEST_F(nnpu, many_in_flight)
{
	struct nnpu_job jobs[32];
	unsigned int i, round;

	for (i = 0; i < 32; i++)
		ASSERT_EQ(0, nnpu_job_init(self->fd, &jobs[i], 100 + i));
	for (round = 0; round < 20; round++) {
		for (i = 0; i < 32; i++) {
			nnpu_job_fill(&jobs[i], round * 32 + i);
			ASSERT_EQ(0, nnpu_job_submit(self->fd, &jobs[i]));
		}
		for (i = 0; i < 32; i++) {
			ASSERT_EQ(0, nnpu_job_wait(self->fd, &jobs[i], 60000));
			EXPECT_TRUE(nnpu_job_correct(&jobs[i], round * 32 + i));
		}
	}
	for (i = 0; i < 32; i++)
		nnpu_job_fini(self->fd, &jobs[i]);
}

TEST_F(nnpu, result_block)
{
	const struct nnpu_args_header *r;
	const struct nnpu_arg *out;
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &job, 5));
	r = nnpu_job_result(&job);
	out = (const struct nnpu_arg *)(r + 1) + 2;
	EXPECT_EQ(2, r->num_inputs);
	EXPECT_EQ(1, r->num_outputs);
	EXPECT_EQ(1, out->rank);
	EXPECT_EQ(64, out->dims[0]);
	EXPECT_EQ(0, out->flags & NNPU_ARG_INSUFFICIENT);
	EXPECT_NE(0, r->exec_ns);
	nnpu_job_fini(self->fd, &job);
}

TEST_F(nnpu, output_insufficient_writes_nothing)
{
	const struct nnpu_args_header *r;
	const struct nnpu_arg *out;
	struct nnpu_job job;
	const unsigned char *data;
	size_t i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	nnpu_job_fill(&job, 1);
	job.args[2].length -= 1;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	r = nnpu_job_result(&job);
	out = (const struct nnpu_arg *)(r + 1) + 2;
	EXPECT_EQ(NNPU_STATUS_OUTPUT_INSUFFICIENT, r->status);
	EXPECT_EQ(NNPU_ARG_INSUFFICIENT, out->flags & NNPU_ARG_INSUFFICIENT);
	EXPECT_EQ(64, out->dims[0]);
	EXPECT_GT(0, nnpu_syncobj_status(self->fd, job.syncobj));
	data = (const unsigned char *)job.buf.map + job.args[2].offset;
	for (i = 0; i < 64 * sizeof(float); i++)
		ASSERT_EQ(0xa5, data[i]);
	nnpu_job_fini(self->fd, &job);
}

TEST_F(nnpu, only_the_output_is_written)
{
	struct nnpu_job job;
	const unsigned char *end;
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 13));
	memset(job.buf.map, 0x3c, job.buf.size);
	job.args[2].length = 400;	/* more room than the result takes */
	nnpu_job_fill(&job, 9);
	memset((char *)job.buf.map + job.args[2].offset, 0x3c, 400);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	EXPECT_TRUE(nnpu_job_correct(&job, 9));
	end = (const unsigned char *)job.buf.map + job.args[2].offset + 13 * sizeof(float);
	for (i = 0; i < 400 - 13 * sizeof(float); i++)
		ASSERT_EQ(0x3c, end[i]);
	nnpu_job_fini(self->fd, &job);
}

TEST_F(nnpu, argument_shape_contradiction)
{
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	nnpu_job_fill(&job, 1);
	job.args[0].flags = NNPU_ARG_SHAPE;
	job.args[0].rank = 1;
	job.args[0].dims[0] = 8;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	EXPECT_EQ(NNPU_STATUS_ARG_SHAPE, nnpu_job_result(&job)->status);
	EXPECT_EQ(-EINVAL, nnpu_syncobj_status(self->fd, job.syncobj));
	job.args[0].flags = 0;
	job.args[0].rank = 0;
	job.args[0].dims[0] = 0;
	job.args[0].length = 60;
	nnpu_job_fill(&job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	EXPECT_EQ(NNPU_STATUS_ARG_SIZE, nnpu_job_result(&job)->status);
	job.args[0].length = 64;
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 3));
	nnpu_job_fini(self->fd, &job);
}

TEST_F(nnpu, profile)
{
	const struct nnpu_profile *p;
	struct nnpu_job job;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	nnpu_job_fill(&job, 1);
	job.submit.flags = DRM_NNPU_SUBMIT_PROFILE;
	job.submit.profile_slot = job.buf.slot;
	job.submit.profile_offset = 2048;
	job.submit.profile_size = 2 * sizeof(*p);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, 60000));
	p = (const void *)((const char *)job.buf.map + 2048);
	EXPECT_EQ(1, nnpu_job_result(&job)->num_profile);
	EXPECT_EQ(NNPU_OP_ADD, p->opcode);
	EXPECT_EQ(64 * sizeof(float), p->bytes);
	nnpu_job_fini(self->fd, &job);
}

/* A job waits for its in-fence: nothing happens before, everything after. */
TEST_F(nnpu, in_fence)
{
	struct drm_nnpu_sync in = { 0 };
	struct drm_syncobj_array signal = { .count_handles = 1 };
	struct nnpu_job first, second;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &first, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &second, 16));
	/* A syncobj without a fence is an error, not an endless wait. */
	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &in.handle));
	first.submit.in_syncs = (uintptr_t)&in;
	first.submit.num_in_syncs = 1;
	nnpu_job_fill(&first, 1);
	EXPECT_EQ(-EINVAL, nnpu_job_submit(self->fd, &first));

	signal.handles = (uintptr_t)&in.handle;
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_SIGNAL, &signal));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &first));
	second.submit.in_syncs = (uintptr_t)&first.out_sync;
	second.submit.num_in_syncs = 1;
	nnpu_job_fill(&second, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &second));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &second, 60000));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &first, 60000));
	EXPECT_TRUE(nnpu_job_correct(&first, 1));
	EXPECT_TRUE(nnpu_job_correct(&second, 2));
	nnpu_job_fini(self->fd, &first);
	nnpu_job_fini(self->fd, &second);
}

/* Of one context and priority: those that wait for nothing keep their order. */
TEST_F(nnpu, no_job_overtakes)
{
	struct nnpu_job first, second;
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &first, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &second, 16));
	nnpu_job_fill(&first, 1);
	nnpu_job_fill(&second, 2);
	/* More than the device takes at a time. The fence is that of the last one. */
	for (i = 0; i < 40; i++)
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &first));
	/* Engines run jobs side by side: so many may end before the one before them. */
	for (i = 0; i < 64; i++)
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &second));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &second, 60000));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, first.syncobj));
	/* It has ended: this gives its memory to the CPU. */
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &first, 60000));
	EXPECT_TRUE(nnpu_job_correct(&first, 1));
	EXPECT_TRUE(nnpu_job_correct(&second, 2));
	nnpu_job_fini(self->fd, &second);
	nnpu_job_fini(self->fd, &first);
}

/* One that waits for a fence does, and runs after it. */
TEST_F(nnpu, waiting_job_runs_last)
{
	struct nnpu_job slow, first, second;
	int waits, before;

	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 192));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &first, 16));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &second, 16));
	slow.submit.priority = DRM_NNPU_PRIORITY_LOW;
	nnpu_job_fill(&slow, 1);
	nnpu_job_fill(&first, 1);
	nnpu_job_fill(&second, 2);
	first.submit.priority = DRM_NNPU_PRIORITY_HIGH;
	first.submit.in_syncs = (uintptr_t)&slow.out_sync;
	first.submit.num_in_syncs = 1;
	second.submit.priority = DRM_NNPU_PRIORITY_HIGH;
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &first));
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &second));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &second, 60000));
	/* In this order: what it waits for has ended if it has. */
	waits = nnpu_syncobj_status(self->fd, first.syncobj);
	before = nnpu_syncobj_status(self->fd, slow.syncobj);
	EXPECT_LE(waits, before);
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &first, 60000));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, slow.syncobj));
	EXPECT_TRUE(nnpu_job_correct(&first, 1));
	EXPECT_TRUE(nnpu_job_correct(&second, 2));
	nnpu_job_fini(self->fd, &second);
	nnpu_job_fini(self->fd, &first);
	nnpu_job_fini(self->fd, &slow);
}

TEST_F(nnpu, timeline_fences)
{
	struct drm_nnpu_sync in, out;
	struct nnpu_job job;
	uint32_t timeline;
	unsigned int i;

	ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &timeline));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	nnpu_job_fill(&job, 1);
	for (i = 1; i <= 5; i++) {
		in = (struct drm_nnpu_sync) { .handle = timeline, .point = i - 1 };
		out = (struct drm_nnpu_sync) { .handle = timeline, .point = i };
		job.submit.in_syncs = i > 1 ? (uintptr_t)&in : 0;
		job.submit.num_in_syncs = i > 1;
		job.submit.out_syncs = (uintptr_t)&out;
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	}
	{
		uint64_t point = 5;
		struct drm_syncobj_timeline_wait wait = {
			.handles = (uintptr_t)&timeline,
			.points = (uintptr_t)&point,
			.count_handles = 1,
			.timeout_nsec = INT64_MAX,
		};

		ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, &wait));
	}
	ASSERT_EQ(0, nnpu_bo_take(self->fd, job.buf.handle, 0, job.buf.size));
	EXPECT_TRUE(nnpu_job_correct(&job, 1));
}

/* The objects that a job uses live until the job ends, whatever their owner does meanwhile. */
TEST_F(nnpu, release_everything_in_flight)
{
	struct nnpu_job slow, job;
	unsigned int i;

	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 96));
	for (i = 0; i < 4; i++) {
		nnpu_job_fill(&slow, i);
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &slow));
	}
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	nnpu_job_fill(&job, 7);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	EXPECT_EQ(0, nnpu_program_unload(self->fd, job.program));
	EXPECT_EQ(0, nnpu_slot_unbind(self->fd, job.buf.slot));
	EXPECT_EQ(0, nnpu_bo_close(self->fd, job.buf.handle));
	ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, job.syncobj, 60000));
	EXPECT_EQ(1, nnpu_syncobj_status(self->fd, job.syncobj));
	/* Without a handle nobody can ask for what the job wrote where that is needed. */
	if (!nnpu_needs_sync(self->fd))
		EXPECT_TRUE(nnpu_job_correct(&job, 7));
	EXPECT_EQ(-ENOENT, nnpu_job_submit(self->fd, &job));
	munmap(job.buf.map, job.buf.size);
	nnpu_job_fini(self->fd, &slow);
}

TEST_F(nnpu, close_with_jobs_in_flight)
{
	struct nnpu_job slow, check;
	unsigned int i;
	int fd;

	for (i = 0; i < 8; i++) {
		unsigned int n;

		fd = nnpu_open();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, nnpu_job_init_slow(fd, &slow, 64));
		nnpu_job_fill(&slow, i);
		for (n = 0; n < 1 + i; n++)
			ASSERT_EQ(0, nnpu_job_submit(fd, &slow));
		close(fd);
		munmap(slow.buf.map, slow.buf.size);
	}
	ASSERT_EQ(0, nnpu_job_init(self->fd, &check, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &check, 1));
	nnpu_job_fini(self->fd, &check);
}

struct closer {
	unsigned int rounds;
	unsigned int seed;
	int error;
};

static void *close_while_scheduled(void *data)
{
	struct closer *c = data;
	unsigned int i;

	for (i = 0; i < c->rounds && !c->error; i++)
		c->error = nnpu_close_busy_file(rand_r(&c->seed) % 5000);
	return NULL;
}

/*
 * When a file is closed, the driver must not keep anything of it. A kernel with KASAN
 * reports a stale reference; any other kernel crashes on a corrupted list sooner or later.
 */
TEST_F_TIMEOUT(nnpu, close_while_scheduled, 3600)
{
	const char *text = getenv("NNPU_CLOSES");
	struct closer c[2] = { };
	pthread_t threads[2];
	struct nnpu_job check;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		c[i].rounds = text ? strtoul(text, NULL, 0) : 200;
		c[i].seed = i;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, close_while_scheduled, &c[i]));
	}
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
		EXPECT_EQ(0, c[i].error);
	}
	ASSERT_EQ(0, nnpu_job_init(self->fd, &check, 64));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &check, 1));
	nnpu_job_fini(self->fd, &check);
}

/* Numbers of one file mean nothing in another. */
TEST_F(nnpu, files_are_isolated)
{
	struct drm_nnpu_context_info info;
	uint32_t size = sizeof(info);
	struct nnpu_job job;
	int other = nnpu_open();

	ASSERT_LE(0, other);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	nnpu_job_fill(&job, 1);
	EXPECT_EQ(-ENOENT, nnpu_job_submit(other, &job));
	EXPECT_EQ(-ENOENT, nnpu_program_unload(other, job.program));
	EXPECT_EQ(-ENOENT, nnpu_slot_unbind(other, job.buf.slot));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	ASSERT_EQ(0, nnpu_query(other, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size));
	EXPECT_EQ(0, info.slots);
	EXPECT_EQ(0, info.programs);
	EXPECT_EQ(0, info.jobs_submitted);
	size = sizeof(info);
	ASSERT_EQ(0, nnpu_query(self->fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size));
	EXPECT_EQ(1, info.slots);
	EXPECT_EQ(1, info.programs);
	EXPECT_EQ(1, info.jobs_submitted);
	EXPECT_EQ(1, info.jobs_completed);
	EXPECT_EQ(0, info.jobs_failed);
	close(other);
	nnpu_job_fini(self->fd, &job);
}

/* A child's exit does not take the parent's objects with it. */
TEST_F(nnpu, fork_and_exit)
{
	struct nnpu_job job;
	int status;
	pid_t pid;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 16));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(nnpu_job_run(self->fd, &job, 1) ? 1 : 0);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 2));
	nnpu_job_fini(self->fd, &job);
}

struct thread_arg {
	int fd;
	int error;
	uint32_t seed;
};

static void *thread_run(void *data)
{
	struct thread_arg *t = data;
	struct nnpu_job job;
	unsigned int i;

	t->error = nnpu_job_init(t->fd, &job, 200 + t->seed);
	for (i = 0; !t->error && i < 100; i++)
		t->error = nnpu_job_run(t->fd, &job, t->seed * 1000 + i);
	nnpu_job_fini(t->fd, &job);
	return NULL;
}

TEST_F(nnpu, threads_share_a_file)
{
	struct thread_arg arg[8];
	pthread_t thread[8];
	unsigned int i;

	for (i = 0; i < 8; i++) {
		arg[i] = (struct thread_arg) { .fd = self->fd, .seed = i };
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, thread_run, &arg[i]));
	}
	for (i = 0; i < 8; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, arg[i].error);
	}
}

static int prime_import(int fd, int dmabuf, uint32_t *handle)
{
	struct drm_prime_handle arg = { .fd = dmabuf };
	int ret = nnpu_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);

	*handle = arg.handle;
	return ret;
}

/* Run a job whose output is in the buffer behind @handle; @map is its memory. */
static int run_into(int fd, uint32_t handle, float *map)
{
	struct nnpu_job job;
	uint32_t slot, i;
	int ret;

	ret = nnpu_job_init(fd, &job, 64);
	if (ret)
		return ret;
	ret = nnpu_slot_bind(fd, handle, 0, PAGE, RW, &slot);
	if (ret)
		goto out;
	nnpu_job_fill(&job, 3);
	job.args[2].slot = slot;
	job.args[2].offset = 512;
	ret = nnpu_job_submit(fd, &job);
	if (!ret)
		ret = nnpu_job_wait(fd, &job, 60000);
	if (!ret)
		ret = nnpu_bo_take(fd, handle, 0, PAGE);
	if (!ret && nnpu_job_result(&job)->status != NNPU_STATUS_SUCCESS)
		ret = -EIO;
	for (i = 0; !ret && i < 64; i++) {
		const float *in = (const float *)((char *)job.buf.map + NNPU_JOB_DATA_OFFSET);

		if (map[128 + i] != in[i] + in[64 + i])
			ret = -EBADMSG;
	}
	nnpu_slot_unbind(fd, slot);
out:
	nnpu_job_fini(fd, &job);
	return ret;
}

TEST_F(nnpu, prime_between_files)
{
	struct drm_prime_handle arg = { .flags = DRM_CLOEXEC | DRM_RDWR };
	int other = nnpu_open();
	uint32_t handle;
	void *map;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, nnpu_bo_create(self->fd, PAGE, &arg.handle));
	ASSERT_EQ(0, nnpu_bo_mmap(self->fd, arg.handle, PAGE, &map));
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg));
	ASSERT_EQ(0, prime_import(other, arg.fd, &handle));
	EXPECT_EQ(0, run_into(other, handle, map));
	/* The importer keeps the memory alive. */
	EXPECT_EQ(0, nnpu_bo_close(self->fd, arg.handle));
	close(arg.fd);
	EXPECT_EQ(0, run_into(other, handle, map));
	close(other);
	munmap(map, PAGE);
}

TEST_F(nnpu, prime_memfd_through_udmabuf)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = page };
	struct drm_nnpu_bo_mmap bo_mmap;
	int udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int dmabuf;
	uint32_t handle;
	void *map;

	if (nnpu_dma_bounced())
		SKIP(return, "imported memory is refused where DMA is bounced");
	if (udmabuf < 0)
		NNPU_SKIP(return, "/dev/udmabuf: %s", strerror(errno));
	create.memfd = memfd_create("nnpu", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	ASSERT_EQ(0, ftruncate(create.memfd, (off_t)page));
	ASSERT_EQ(0, fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK));
	dmabuf = ioctl(udmabuf, UDMABUF_CREATE, &create);
	ASSERT_LE(0, dmabuf);
	map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, create.memfd, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, prime_import(self->fd, dmabuf, &handle));
	EXPECT_EQ(0, run_into(self->fd, handle, map));
	bo_mmap = (struct drm_nnpu_bo_mmap) { .handle = handle };
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_BO_MMAP, &bo_mmap));
	close(dmabuf);
	close(create.memfd);
	close(udmabuf);
	munmap(map, page);
}

TEST_F(nnpu, prime_system_heap)
{
	struct dma_heap_allocation_data alloc = { .len = PAGE, .fd_flags = O_RDWR | O_CLOEXEC };
	int heap = open("/dev/dma_heap/system", O_RDWR | O_CLOEXEC);
	uint32_t handle;
	void *map;

	if (nnpu_dma_bounced())
		SKIP(return, "imported memory is refused where DMA is bounced");
#ifdef __aarch64__
	if (heap < 0)
		SKIP(return, "Debian's arm64 kernel has no DMA heaps");
#endif
	if (heap < 0)
		NNPU_SKIP(return, "/dev/dma_heap/system: %s", strerror(errno));
	ASSERT_EQ(0, ioctl(heap, DMA_HEAP_IOCTL_ALLOC, &alloc));
	map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)alloc.fd, 0);
	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, prime_import(self->fd, (int)alloc.fd, &handle));
	EXPECT_EQ(0, run_into(self->fd, handle, map));
	munmap(map, PAGE);
	close((int)alloc.fd);
	close(heap);
}

TEST_F(nnpu, prime_negative)
{
	uint32_t handle;
	int pipefd[2];

	ASSERT_EQ(0, pipe(pipefd));
	EXPECT_EQ(-EINVAL, prime_import(self->fd, pipefd[0], &handle));
	EXPECT_EQ(-EBADF, prime_import(self->fd, -1, &handle));
	close(pipefd[0]);
	close(pipefd[1]);
}

TEST_HARNESS_MAIN
