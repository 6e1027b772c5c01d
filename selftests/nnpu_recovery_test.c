// SPDX-License-Identifier: GPL-2.0-only
/*
 * Injected faults of the device. Every waiter gets a definite status, jobs of others survive
 * where that is possible, and the next job works.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

/* Longer than the driver may take for its whole ladder. */
#define WAIT_MS		120000

FIXTURE(nnpu)
{
	int fd;
	struct nnpu_job job;
};

FIXTURE_VARIANT(nnpu)
{
	unsigned int kind;
	/* What the fence says: 1 = the job succeeds in spite of the fault. */
	int fence;
	/* The device had to be reset: the context is lost. */
	bool lost;
};

FIXTURE_VARIANT_ADD(nnpu, job_stall)
{
	.kind = NNPU_INJECT_JOB_STALL,
	.fence = -ETIME,
};

FIXTURE_VARIANT_ADD(nnpu, job_stuck)
{
	.kind = NNPU_INJECT_JOB_STUCK,
	.fence = -ETIME,
	.lost = true,
};

/* ABORT does not help: the queue is reset, as far as it is this context's. */
FIXTURE_VARIANT_ADD(nnpu, job_deaf)
{
	.kind = NNPU_INJECT_JOB_DEAF,
	.fence = -ETIME,
};

FIXTURE_VARIANT_ADD(nnpu, lost_cqe)
{
	.kind = NNPU_INJECT_LOST_CQE,
	.fence = -EIO,
};

FIXTURE_VARIANT_ADD(nnpu, lost_irq)
{
	.kind = NNPU_INJECT_LOST_IRQ,
	.fence = 1,
};

FIXTURE_VARIANT_ADD(nnpu, bad_cid)
{
	.kind = NNPU_INJECT_BAD_CID,
	.fence = 1,
};

FIXTURE_VARIANT_ADD(nnpu, bad_status)
{
	.kind = NNPU_INJECT_BAD_STATUS,
	.fence = -EIO,
};

FIXTURE_VARIANT_ADD(nnpu, dma_error)
{
	.kind = NNPU_INJECT_DMA_ERROR,
	.fence = -EIO,
};

FIXTURE_VARIANT_ADD(nnpu, fatal)
{
	.kind = NNPU_INJECT_FATAL,
	.fence = -EIO,
	.lost = true,
};

FIXTURE_VARIANT_ADD(nnpu, job_slow)
{
	.kind = NNPU_INJECT_JOB_SLOW,
	.fence = 1,
};

FIXTURE_SETUP(nnpu)
{
	int ret;

	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	ret = nnpu_inject(self->fd, variant->kind, 0);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 64));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
}

FIXTURE_TEARDOWN(nnpu)
{
	if (self->fd < 0)
		return;
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	nnpu_inject(self->fd, variant->kind, 0);
	close(self->fd);
}

static bool context_lost(int fd)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);

	return nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size) == 0 &&
	       (info.flags & DRM_NNPU_CONTEXT_LOST);
}

TEST_F_TIMEOUT(nnpu, definite_end_and_next_job_works, 240)
{
	struct nnpu_job next;
	int fd, fence;

	ASSERT_EQ(0, nnpu_inject(self->fd, variant->kind, 1));
	nnpu_job_fill(&self->job, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
	fence = nnpu_syncobj_status(self->fd, self->job.syncobj);
	/* Which job the device was running when it became FATAL is not defined. */
	if (variant->kind == NNPU_INJECT_FATAL)
		EXPECT_GT(0, fence);
	if (variant->kind != NNPU_INJECT_FATAL)
		EXPECT_EQ(variant->fence, fence);
	if (variant->fence == 1)
		EXPECT_TRUE(nnpu_job_correct(&self->job, 2));

	EXPECT_EQ(variant->lost, context_lost(self->fd));
	EXPECT_EQ(variant->lost ? -ENODEV : 0, nnpu_job_run(self->fd, &self->job, 3));

	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &next, 64));
	EXPECT_EQ(0, nnpu_job_run(fd, &next, 4));
	nnpu_job_fini(fd, &next);
	close(fd);
}

/* Wait until the device executes a job or this one has ended: it has the injected fault then. */
static int wait_begun(int fd, const struct nnpu_job *job)
{
	unsigned int i;

	for (i = 0; i < WAIT_MS; i++) {
		if (nnpu_debugfs_value(fd, "registers", "E0_CURRENT") > 0 ||
		    nnpu_debugfs_value(fd, "registers", "E1_CURRENT") > 0 ||
		    nnpu_syncobj_status(fd, job->syncobj))
			return 0;
		usleep(1000);
	}
	return -ETIME;
}

/*
 * Jobs of other files that wait behind a faulty one end well or with -ECANCELED;
 * one that comes after the device reset is refused with -ENODEV.
 */
TEST_F_TIMEOUT(nnpu, innocent_jobs, 240)
{
	struct nnpu_job other[4];
	int fd[4], submitted[4], ret;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		fd[i] = nnpu_open();
		ASSERT_LE(0, fd[i]);
		ASSERT_EQ(0, nnpu_job_init(fd[i], &other[i], 64));
		nnpu_job_fill(&other[i], i);
	}
	ASSERT_EQ(0, nnpu_inject(self->fd, variant->kind, 1));
	nnpu_job_fill(&self->job, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	ASSERT_EQ(0, wait_begun(self->fd, &self->job));
	for (i = 0; i < 4; i++) {
		submitted[i] = nnpu_job_submit(fd[i], &other[i]);
		/* The reset can be quicker than the four of them. */
		if (submitted[i]) {
			ASSERT_TRUE(variant->lost);
			ASSERT_EQ(-ENODEV, submitted[i]);
		}
	}
	for (i = 0; i < 4; i++) {
		if (submitted[i]) {
			EXPECT_TRUE(context_lost(fd[i]));
			close(fd[i]);
			continue;
		}
		ASSERT_EQ(0, nnpu_job_wait(fd[i], &other[i], WAIT_MS));
		ret = nnpu_syncobj_status(fd[i], other[i].syncobj);
		if (ret == 1) {
			EXPECT_TRUE(nnpu_job_correct(&other[i], i));
		} else {
			/* Only a device reset takes the innocent along. */
			EXPECT_TRUE(variant->lost);
			EXPECT_EQ(-ECANCELED, ret);
		}
		close(fd[i]);
	}
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, WAIT_MS));
}

/*
 * Files come and go while the driver looks after a fault. Around a device reset they may be
 * refused.
 */
TEST_F_TIMEOUT(nnpu, files_close_meanwhile, 240)
{
	struct nnpu_job next;
	unsigned int rounds;
	int ret, fd;

	ASSERT_EQ(0, nnpu_inject(self->fd, variant->kind, 1));
	nnpu_job_fill(&self->job, 2);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	for (rounds = 0; rounds < 100000; rounds++) {
		/* -EUSERS: the jobs of closed files keep their contexts while the device hangs. */
		ret = nnpu_close_busy_file(0);
		if (ret && ret != -EUSERS) {
			ASSERT_TRUE(variant->lost);
			ASSERT_EQ(-ENODEV, ret);
		}
		ret = nnpu_syncobj_wait(self->fd, self->job.syncobj, 1);
		if (ret != -ETIME)
			break;
	}
	ASSERT_EQ(0, ret);

	for (rounds = 0; rounds < 60000; rounds++) {
		fd = nnpu_open();
		ASSERT_LE(0, fd);
		ret = nnpu_job_init(fd, &next, 64);
		if (ret != -EUSERS)
			break;
		close(fd);
		usleep(1000);
	}
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, nnpu_job_run(fd, &next, 4));
	nnpu_job_fini(fd, &next);
	close(fd);
}

/* The core dump of a device: its beginning; true if there is one. It is gone afterwards. */
static bool take_dump(const char *device, char *text, size_t room)
{
	char link[320], target[256];
	bool found = false;
	ssize_t len;
	glob_t dumps;
	size_t i;
	int fd;

	if (glob("/sys/class/devcoredump/devcd*", 0, NULL, &dumps))
		return false;
	for (i = 0; i < dumps.gl_pathc && !found; i++) {
		snprintf(link, sizeof(link), "%s/failing_device", dumps.gl_pathv[i]);
		len = readlink(link, target, sizeof(target) - 1);
		target[len < 0 ? 0 : len] = '\0';
		if (!strstr(target, device))
			continue;
		snprintf(link, sizeof(link), "%s/data", dumps.gl_pathv[i]);
		fd = open(link, O_RDWR | O_CLOEXEC);
		len = fd < 0 ? -1 : read(fd, text, room - 1);
		text[len < 0 ? 0 : len] = '\0';
		found = len > 0 && write(fd, "0", 1) == 1;
		close(fd);
	}
	globfree(&dumps);
	return found;
}

/* A job that hangs ends with -ETIME. */
static int hang(int fd, struct nnpu_job *job)
{
	int ret = nnpu_inject(fd, NNPU_INJECT_JOB_STALL, 1);

	if (!ret)
		ret = nnpu_job_submit(fd, job);
	if (!ret)
		ret = nnpu_job_wait(fd, job, WAIT_MS);
	return ret ? ret : nnpu_syncobj_status(fd, job->syncobj);
}

/* The first hang of a binding is dumped, the next one is not. */
TEST(dump)
{
	char path[NNPU_DEBUGFS_PATH_MAX], text[4096] = "";
	struct nnpu_job job;
	int fd = nnpu_open();
	const char *device;
	unsigned int i;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	if (nnpu_inject(fd, NNPU_INJECT_JOB_STALL, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	if (access("/sys/class/devcoredump", F_OK))
		NNPU_SKIP(return, "kernel without core dumps of devices");
	ASSERT_EQ(0, nnpu_debugfs_dir(fd, path));
	close(fd);
	device = strrchr(path, '/') + 1;
	ASSERT_EQ(0, nnpu_driver_write("unbind", device));
	ASSERT_EQ(0, nnpu_driver_write("bind", device));
	while (take_dump(device, text, sizeof(text)))
		;
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	EXPECT_EQ(-ETIME, hang(fd, &job));
	for (i = 0; i < WAIT_MS && !take_dump(device, text, sizeof(text)); i++)
		usleep(1000);
	EXPECT_EQ(0, strncmp(text, "nnpu core dump 1\n", strlen("nnpu core dump 1\n")));
	EXPECT_NE(NULL, strstr(text, "\nreg 0x000 "));
	EXPECT_NE(NULL, strstr(text, "\nqueue 1: live 1, 1 commands\n"));
	EXPECT_NE(NULL, strstr(text, "\njob 0x"));
	EXPECT_EQ(-ETIME, hang(fd, &job));
	EXPECT_FALSE(take_dump(device, text, sizeof(text)));
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	close(fd);
}

/* The file has a context, so that the next admin command is not CREATE_CTX. */
static int use_context(int fd)
{
	struct nnpu_buf buf;
	int ret = nnpu_buf_create(fd, &buf, 1, DRM_NNPU_SLOT_READ);

	if (!ret)
		nnpu_buf_destroy(fd, &buf);
	return ret;
}

/* An admin command that never completes costs a device reset, not the machine. */
TEST(admin_stall)
{
	struct nnpu_job job;
	int fd = nnpu_open(), ret;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	ASSERT_EQ(0, use_context(fd));
	ret = nnpu_inject(fd, NNPU_INJECT_ADMIN_STALL, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	EXPECT_GT(0, nnpu_job_init(fd, &job, 16));
	close(fd);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 16));
	EXPECT_EQ(0, nnpu_job_run(fd, &job, 1));
	close(fd);
}

/*
 * An admin command ends with an unknown status, so the driver cannot know whether the device
 * has carried it out: device and driver are reset, and no number of an object is lost.
 */
TEST(admin_status)
{
	struct nnpu_job job;
	int fd = nnpu_open(), ret;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	ASSERT_EQ(0, use_context(fd));
	ret = nnpu_inject(fd, NNPU_INJECT_ADMIN_STATUS, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(-ENODEV, nnpu_job_init(fd, &job, 16));
	EXPECT_TRUE(context_lost(fd));
	ASSERT_EQ(0, nnpu_inject(fd, NNPU_INJECT_ADMIN_STATUS, 1));
	close(fd);
	/* This time it is CREATE_CTX; the driver tries again after the reset. */
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, use_context(fd));
	EXPECT_FALSE(context_lost(fd));
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 16));
	EXPECT_EQ(0, nnpu_job_run(fd, &job, 1));
	close(fd);
}

/* Load a program while loads misbehave; its errno. */
static int load_with(int fd, unsigned int kind, unsigned int count)
{
	static uint8_t image[NNPU_ADD_IMAGE_SIZE];
	size_t size = nnpu_add_image(image, 16);
	uint32_t program;
	int ret = nnpu_inject(fd, kind, count);

	if (ret)
		return ret;
	ret = nnpu_program_load(fd, image, size, &program, NULL);
	if (!ret)
		nnpu_program_unload(fd, program);
	return ret;
}

/*
 * What is slow takes a second; the timeouts are half of that. On a busy machine the device may
 * stand still for so long: one good try of a few is enough. A driver that does not wait has none.
 */
#define SLOW_TRIES	4

/* What @slowly does in a file of its own with short timeouts. 0, or an errno of the last try. */
static int one_good_try(int (*slowly)(int fd))
{
	int ret = -EIO, fd;
	unsigned int i;

	for (i = 0; i < SLOW_TRIES && ret && ret != -EOPNOTSUPP; i++) {
		fd = nnpu_open();
		if (fd < 0)
			return fd;
		ret = slowly(fd);
		if (!ret && context_lost(fd))
			ret = -ENODEV;
		close(fd);
	}
	return ret;
}

static int load_slowly(int fd)
{
	int ret = use_context(fd);

	nnpu_set_timeouts(500, 500);
	if (!ret)
		ret = load_with(fd, NNPU_INJECT_LOAD_SLOW, 1);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	return ret;
}

/* A load may take longer than any timeout, as long as it makes progress. */
TEST(load_slow)
{
	int fd = nnpu_open(), ret;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	close(fd);
	ret = one_good_try(load_slowly);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	EXPECT_EQ(0, ret);
}

/* A load that hangs is aborted. It costs neither its context nor others anything. */
TEST(load_stall)
{
	int fd = nnpu_open(), other = nnpu_open(), ret;
	struct nnpu_job job;

	if (fd < 0 || other < 0)
		NNPU_SKIP(return, "no NNPU device");
	ASSERT_EQ(0, use_context(fd));
	ASSERT_EQ(0, use_context(other));
	nnpu_set_timeouts(500, 5000);
	ret = load_with(fd, NNPU_INJECT_LOAD_STALL, 1);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	EXPECT_EQ(-EIO, ret);
	EXPECT_FALSE(context_lost(fd));
	EXPECT_EQ(0, load_with(fd, NNPU_INJECT_LOAD_STALL, 0));
	ASSERT_EQ(0, nnpu_job_init(other, &job, 16));
	EXPECT_EQ(0, nnpu_job_run(other, &job, 1));
	EXPECT_FALSE(context_lost(other));
	close(other);
	close(fd);
}

/* A process that is killed while it loads is gone at once, and so is its load. */
TEST(load_killed)
{
	int fd = nnpu_open(), ret, status;
	pid_t child;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	ASSERT_EQ(0, use_context(fd));
	ret = nnpu_inject(fd, NNPU_INJECT_LOAD_STALL, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	child = fork();
	if (!child) {
		int own = nnpu_open();

		_exit(own < 0 || !load_with(own, NNPU_INJECT_JOB_STALL, 0));
	}
	/* Time for the device to begin; if it does not suffice, less is tested. */
	usleep(500000);
	EXPECT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	EXPECT_EQ(0, load_with(fd, NNPU_INJECT_LOAD_STALL, 0));
	EXPECT_FALSE(context_lost(fd));
	close(fd);
}

/* Save a program while loads misbehave, which saves do in the same way; its errno. */
static int save_with(int fd, uint32_t program, unsigned int kind, unsigned int count)
{
	struct drm_nnpu_program_save save = { .program = program, .size = 0 };
	int ret = nnpu_inject(fd, kind, count);

	return ret ? ret : nnpu_ioctl(fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save);
}

static int save_slowly(int fd)
{
	struct nnpu_job job;
	int ret = nnpu_job_init(fd, &job, 16);

	nnpu_set_timeouts(500, 500);
	if (!ret)
		ret = save_with(fd, job.program, NNPU_INJECT_LOAD_SLOW, 1);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	return ret;
}

/* A save that is slow is waited for; one that hangs is aborted, and costs nobody anything else. */
TEST(save_stall)
{
	int fd = nnpu_open(), other, slow, stall;
	struct nnpu_job job, others;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device");
	close(fd);
	slow = one_good_try(save_slowly);
	if (slow == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	EXPECT_EQ(0, slow);
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	other = nnpu_open();
	ASSERT_LE(0, other);
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 16));
	ASSERT_EQ(0, nnpu_job_init(other, &others, 16));
	nnpu_set_timeouts(500, 5000);
	stall = save_with(fd, job.program, NNPU_INJECT_LOAD_STALL, 1);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	EXPECT_EQ(-EIO, stall);
	EXPECT_FALSE(context_lost(fd));
	EXPECT_EQ(0, save_with(fd, job.program, NNPU_INJECT_LOAD_STALL, 0));
	EXPECT_EQ(0, nnpu_job_run(fd, &job, 1));
	EXPECT_EQ(0, nnpu_job_run(other, &others, 1));
	EXPECT_FALSE(context_lost(other));
	close(other);
	close(fd);
}

/* A process that is killed while it saves is gone at once, and so is its save. */
TEST(save_killed)
{
	int fd = nnpu_open(), ret, status;
	struct nnpu_job job;
	pid_t child;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	child = fork();
	if (!child) {
		int own = nnpu_open();

		if (own < 0 || nnpu_job_init(own, &job, 16))
			_exit(1);
		_exit(save_with(own, job.program, NNPU_INJECT_LOAD_STALL, 1) == -EOPNOTSUPP ? 2 : 3);
	}
	usleep(500000);
	ret = waitpid(child, &status, WNOHANG);
	if (ret == child && WIFEXITED(status) && WEXITSTATUS(status) == 2)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	EXPECT_EQ(0, kill(child, SIGKILL));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	ASSERT_EQ(0, nnpu_inject(fd, NNPU_INJECT_LOAD_STALL, 0));
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 16));
	EXPECT_EQ(0, save_with(fd, job.program, NNPU_INJECT_LOAD_STALL, 0));
	EXPECT_EQ(0, nnpu_job_run(fd, &job, 1));
	EXPECT_FALSE(context_lost(fd));
	close(fd);
}

TEST_HARNESS_MAIN
