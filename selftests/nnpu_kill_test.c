// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that are killed or close their file with as many jobs as they can have: some wait in
 * the driver, some at the device, one has given way, one runs, and a queue of their own has
 * work, too. Nothing of them may be left soon after.
 *
 *   NNPU_KILLS   clients (default 20)
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

/* As many as a file may have that have not ended. */
#define JOBS		256
#define QUEUE_JOBS	30
/* Edge of the convolution of a job. */
#define SLOW		128
/*
 * The goal is 20 ms on a machine of its own. A machine that is emulated on a busy one cannot
 * be judged by that. But each job takes a second longer by injection, so that the device
 * cannot run those that it has in this time.
 */
#define MOST_MS		5000

FIXTURE(nnpu)
{
	int fd;
	struct nnpu_job job;
};

FIXTURE_SETUP(nnpu)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	if (nnpu_debugfs_value(self->fd, "objects", "jobs") < 0)
		NNPU_SKIP(return, "no debugfs");
	ASSERT_EQ(0, nnpu_job_init(self->fd, &self->job, 64));
	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
}

FIXTURE_TEARDOWN(nnpu)
{
	if (self->fd < 0)
		return;
	nnpu_inject(self->fd, NNPU_INJECT_JOB_SLOW, 0);
	nnpu_job_fini(self->fd, &self->job);
	close(self->fd);
}

/* All jobs that begin from now on are slow, or none. */
static int make_slow(int fd, bool slow)
{
	return nnpu_inject(fd, NNPU_INJECT_JOB_SLOW, slow ? NNPU_INJECT_COUNT_MASK : 0);
}

/* What a client has submitted when it is killed. */
struct client {
	int fd;
	struct nnpu_job job;
	struct nnpu_uq uq;
	bool has_queue;
};

static int client_start(struct client *c)
{
	struct nnpu_sqe_execute sqe;
	unsigned int i;
	int ret;

	c->fd = nnpu_open();
	if (c->fd < 0)
		return c->fd;
	ret = nnpu_job_init_slow(c->fd, &c->job, SLOW);
	if (ret)
		return ret;
	nnpu_job_fill(&c->job, 1);
	ret = nnpu_uq_create(c->fd, &c->uq, DRM_NNPU_PRIORITY_MEDIUM, 32, 32);
	c->has_queue = !ret;
	if (ret && ret != -EOPNOTSUPP)
		return ret;
	for (i = 0; c->has_queue && i < QUEUE_JOBS; i++) {
		nnpu_uq_job_sqe(&c->job, (uint16_t)i, &sqe);
		nnpu_uq_push(&c->uq, &sqe);
	}
	if (c->has_queue)
		nnpu_uq_ring(&c->uq);
	for (i = 0; !ret && i < JOBS; i++) {
		c->job.submit.priority = i % 3;
		ret = nnpu_job_submit(c->fd, &c->job);
	}
	return ret;
}

/* A process that says when it has submitted all, and then waits to be killed. */
static pid_t client_fork(int *ready)
{
	struct client c;
	int fds[2], ret;
	pid_t pid;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		ret = client_start(&c);
		if (write(fds[1], &ret, sizeof(ret)) != sizeof(ret))
			_exit(1);
		for (;;)
			pause();
	}
	close(fds[1]);
	*ready = fds[0];
	return pid;
}

static bool is_idle(int fd)
{
	return !nnpu_debugfs_value(fd, "objects", "jobs") &&
	       !nnpu_debugfs_value(fd, "objects", "queues");
}

/* Wait until no job and no queue is left; the time, or 0 if that took too long. */
static uint64_t idle_after(int fd, uint64_t since_ns)
{
	uint64_t now;

	do {
		now = nnpu_now_ns();
		if (is_idle(fd))
			return now - since_ns;
	} while (now - since_ns < MOST_MS * 1000000ull);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static unsigned int count_of_kills(void)
{
	const char *text = getenv("NNPU_KILLS");
	long n = text ? strtol(text, NULL, 0) : 20;

	return n > 0 && n <= 100000 ? (unsigned int)n : 1;
}

TEST_F(nnpu, killed_clients_leave)
{
	unsigned int count = count_of_kills(), i;
	uint64_t *took, since;
	int ready, ret;
	long hangs;
	pid_t pid;

	took = calloc(count, sizeof(*took));
	ASSERT_NE(NULL, took);
	hangs = nnpu_debugfs_value(self->fd, "stats", "hangs");
	for (i = 0; i < count; i++) {
		ASSERT_EQ(0, make_slow(self->fd, true));
		pid = client_fork(&ready);
		ASSERT_LT(0, pid);
		ASSERT_EQ((ssize_t)sizeof(ret), read(ready, &ret, sizeof(ret)));
		close(ready);
		EXPECT_EQ(0, ret);
		since = nnpu_now_ns();
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		took[i] = idle_after(self->fd, since);
		ASSERT_NE(0, took[i]) {
			TH_LOG("client %u: jobs %ld, queues %ld after %u ms", i,
			       nnpu_debugfs_value(self->fd, "objects", "jobs"),
			       nnpu_debugfs_value(self->fd, "objects", "queues"), MOST_MS);
		}
		/* The device is free, and runs this at once. */
		ASSERT_EQ(0, make_slow(self->fd, false));
		ASSERT_EQ(0, nnpu_job_run(self->fd, &self->job, i));
	}
	qsort(took, count, sizeof(*took), compare);
	TH_LOG("%u clients killed; all gone after %u us at most, median %u us", count,
	       (unsigned int)(took[count - 1] / 1000), (unsigned int)(took[count / 2] / 1000));
	EXPECT_EQ(hangs, nnpu_debugfs_value(self->fd, "stats", "hangs"));
	free(took);
	for (i = 0; i < 10000 && nnpu_debugfs_value(self->fd, "objects", "contexts") > 1; i++)
		usleep(1000);
	EXPECT_EQ(1, nnpu_debugfs_value(self->fd, "objects", "contexts"));
	EXPECT_EQ(0, nnpu_debugfs_value(self->fd, "registers", "E0_CURRENT"));
	EXPECT_EQ(1, nnpu_debugfs_value(self->fd, "registers", "CONTEXTS"));
}

/* The same when a process closes its file and lives on. */
TEST_F(nnpu, closed_file_leaves)
{
	struct client c;
	uint64_t since;

	ASSERT_EQ(0, make_slow(self->fd, true));
	ASSERT_EQ(0, client_start(&c));
	since = nnpu_now_ns();
	if (c.has_queue)
		nnpu_uq_destroy(c.fd, &c.uq);
	/* The mapping would keep the file. */
	munmap(c.job.buf.map, c.job.buf.size);
	close(c.fd);
	EXPECT_NE(0, idle_after(self->fd, since));
	ASSERT_EQ(0, make_slow(self->fd, false));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
}

TEST_HARNESS_MAIN
