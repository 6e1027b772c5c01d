// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients that are killed or close their file with as many jobs as they can have: some wait in
 * the driver, some at the device, one has given way, one runs, and queues of their own have
 * work, too. Nothing of them may be left soon after, even if their jobs wait for somebody else.
 *
 *   NNPU_KILLS           clients (default 8)
 *   NNPU_KILL_BOUND_MS   how long something of half of them may be left; of each of them ten
 *                        times as long. The default, 1000, only tells that nobody waits for
 *                        their jobs; 20 is what a quiet machine keeps
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
#define QUEUES		8
#define QUEUE_JOBS	30
/* Edge of the convolution of a job. */
#define SLOW		128
/*
 * The goal is 20 ms on a machine of its own. A machine that is emulated on a busy one cannot
 * be judged by that. But each job takes a second longer by injection, so that the device
 * cannot run those that it has in this time.
 */
#define MOST_MS		15000
/*
 * Jobs of somebody else, one after the other: long enough to see that nobody waits for them,
 * however slow this process is. Those that have not begun when it has seen that are short.
 */
#define OTHERS		120

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
	struct nnpu_uq uqs[QUEUES];
	unsigned int num_queues;
};

static int client_start_queue(struct client *c, struct nnpu_uq *uq)
{
	int ret = nnpu_uq_create(c->fd, uq, DRM_NNPU_PRIORITY_MEDIUM, 32, 32);
	struct nnpu_sqe_execute sqe;
	unsigned int i;

	if (ret)
		return ret;
	for (i = 0; i < QUEUE_JOBS; i++) {
		nnpu_uq_job_sqe(&c->job, (uint16_t)i, &sqe);
		nnpu_uq_push(uq, &sqe);
	}
	nnpu_uq_ring(uq);
	return 0;
}

static int client_start(struct client *c)
{
	unsigned int i;
	int ret;

	c->num_queues = 0;
	c->fd = nnpu_open();
	if (c->fd < 0)
		return c->fd;
	ret = nnpu_job_init_slow(c->fd, &c->job, SLOW);
	if (ret)
		return ret;
	nnpu_job_fill(&c->job, 1);
	while (!ret && c->num_queues < QUEUES) {
		ret = client_start_queue(c, &c->uqs[c->num_queues]);
		c->num_queues += !ret;
	}
	if (ret == -EOPNOTSUPP && !nnpu_device_required())
		ret = 0;
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

static unsigned int setting(const char *name, unsigned int value)
{
	const char *text = getenv(name);
	long n = text ? strtol(text, NULL, 0) : value;

	return n > 0 && n <= 100000 ? (unsigned int)n : 1;
}

TEST_F(nnpu, killed_clients_leave)
{
	unsigned int count = setting("NNPU_KILLS", 8), bound = setting("NNPU_KILL_BOUND_MS", 1000), i;
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
	TH_LOG("%u clients killed; all gone after %u us at most, 99%% after %u us, median %u us", count,
	       (unsigned int)(took[count - 1] / 1000), (unsigned int)(took[count * 99 / 100] / 1000),
	       (unsigned int)(took[count / 2] / 1000));
	EXPECT_GE(bound * 1000000ull, took[count / 2]);
	EXPECT_GE(bound * 10000000ull, took[count - 1]);
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
	while (c.num_queues)
		nnpu_uq_destroy(c.fd, &c.uqs[--c.num_queues]);
	/* The mapping would keep the file. */
	munmap(c.job.buf.map, c.job.buf.size);
	close(c.fd);
	EXPECT_NE(0, idle_after(self->fd, since));
	ASSERT_EQ(0, make_slow(self->fd, false));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &self->job, 1));
}

/*
 * A client whose jobs wait for those of somebody else leaves at once, with its memory. Its fences
 * stay: who waits for them waits for those others, too.
 */
TEST_F(nnpu, nobody_waits_for_in_fences)
{
	uint64_t since = nnpu_now_ns();
	struct drm_nnpu_sync in = { };
	int client, others;
	uint32_t out;
	struct client c = { };
	unsigned int i;

	ASSERT_EQ(0, make_slow(self->fd, true));
	nnpu_job_fill(&self->job, 1);
	for (i = 0; i < OTHERS; i++)
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));

	c.fd = nnpu_open();
	ASSERT_LE(0, c.fd);
	ASSERT_EQ(0, nnpu_job_init(c.fd, &c.job, 64));
	ASSERT_EQ(0, nnpu_syncobj_share(self->fd, self->job.syncobj, c.fd, &in.handle));
	ASSERT_EQ(0, nnpu_syncobj_share(c.fd, c.job.syncobj, self->fd, &out));
	c.job.submit.in_syncs = (uintptr_t)&in;
	c.job.submit.num_in_syncs = 1;
	for (i = 0; i < JOBS; i++) {
		c.job.submit.priority = i % 3;
		ASSERT_EQ(0, nnpu_job_submit(c.fd, &c.job));
	}
	ASSERT_LE(JOBS, nnpu_debugfs_value(self->fd, "objects", "jobs"));
	munmap(c.job.buf.map, c.job.buf.size);
	close(c.fd);
	while (nnpu_debugfs_value(self->fd, "objects", "jobs") > OTHERS &&
	       nnpu_now_ns() - since < MOST_MS * 1000000ull)
		usleep(1000);
	EXPECT_GE(OTHERS, nnpu_debugfs_value(self->fd, "objects", "jobs"));
	for (i = 0; i < 5000 && nnpu_debugfs_value(self->fd, "objects", "contexts") > 1; i++)
		usleep(1000);
	EXPECT_EQ(1, nnpu_debugfs_value(self->fd, "objects", "contexts"));
	/* In this order: that of the others was pending when that of the client was looked at. */
	client = nnpu_syncobj_status(self->fd, out);
	others = nnpu_syncobj_status(self->fd, self->job.syncobj);
	EXPECT_EQ(0, client);
	EXPECT_EQ(0, others);

	ASSERT_EQ(0, make_slow(self->fd, false));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &self->job, 60000));
	EXPECT_TRUE(nnpu_job_correct(&self->job, 1));
	EXPECT_EQ(0, nnpu_syncobj_wait(self->fd, out, 60000));
	EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, out));
	nnpu_syncobj_destroy(self->fd, out);
}

TEST_HARNESS_MAIN
