// SPDX-License-Identifier: GPL-2.0-only
/*
 * Generic netlink: what dumps and requests say, who may see what, and the events.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"
#include "nnpu_test_nl.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000
#define OTHER		12345
#define NONE		UINT64_MAX

FIXTURE(netlink)
{
	int fd;
	struct nnpu_nl nl;
	uint32_t dev;			/* number of the device */
	char device[64];		/* its name on the bus */
	mode_t mode;			/* of the node, if a test changed it */
};

/* The number of a device by its name on the bus; -1: there is none. */
static int64_t device_number(struct nnpu_nl *nl, const char *device)
{
	struct nnpu_nl_msg msg;
	int64_t number = -1;
	int ret;

	if (nnpu_nl_send(nl, NNPU_CMD_DEV_GET, NLM_F_DUMP, NULL))
		return -1;
	while (!(ret = nnpu_nl_receive(nl, &msg, WAIT_MS)))
		if (!strcmp(nnpu_nl_text(&msg, NNPU_A_DEV_BUS_NAME), device))
			number = nnpu_nl_number(&msg, NNPU_A_DEV_ID, 0);
	return ret == -ENODATA ? number : -1;
}

FIXTURE_SETUP(netlink)
{
	char path[NNPU_DEBUGFS_PATH_MAX];

	self->nl.fd = -1;
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	ASSERT_EQ(0, nnpu_nl_open(&self->nl));
	ASSERT_EQ(0, nnpu_debugfs_dir(self->fd, path));
	snprintf(self->device, sizeof(self->device), "%s", strrchr(path, '/') + 1);
	ASSERT_LE(0, device_number(&self->nl, self->device));
	self->dev = device_number(&self->nl, self->device);
}

FIXTURE_TEARDOWN(netlink)
{
	if (self->mode)
		fchmod(self->fd, self->mode);
	if (self->fd >= 0)
		close(self->fd);
	nnpu_nl_close(&self->nl);
}

static struct nnpu_nl_attrs one(uint16_t type, uint32_t value)
{
	struct nnpu_nl_attrs attrs = { 0 };

	nnpu_nl_put_u32(&attrs, type, value);
	return attrs;
}

/* The number of a file's client, as fdinfo says. */
static uint64_t client_of(int fd)
{
	uint64_t id = NONE;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "drm-client-id:", 14))
			id = strtoull(line + 14, NULL, 10);
	if (f)
		fclose(f);
	return id;
}

/* How many of a dump have a number in an attribute; -1: the dump failed. */
static int dump_count(struct nnpu_nl *nl, uint8_t cmd, unsigned int attr, uint64_t value,
		      struct nnpu_nl_msg *last)
{
	struct nnpu_nl_msg msg;
	int found = 0, ret;

	if (nnpu_nl_send(nl, cmd, NLM_F_DUMP, NULL))
		return -1;
	while (!(ret = nnpu_nl_receive(nl, &msg, WAIT_MS))) {
		if (nnpu_nl_number(&msg, attr, NONE) != value)
			continue;
		found++;
		if (last)
			*last = msg;
	}
	return ret == -ENODATA ? found : -1;
}

static uint64_t stat_of(struct nnpu_nl *nl, uint32_t dev, unsigned int attr)
{
	struct nnpu_nl_attrs attrs = one(NNPU_A_STATS_DEV_ID, dev);
	struct nnpu_nl_msg msg;

	if (nnpu_nl_get(nl, NNPU_CMD_STATS_GET, &attrs, &msg))
		return NONE;
	return nnpu_nl_number(&msg, attr, NONE);
}

static int inject_events(int fd, unsigned int count)
{
	char dir[NNPU_DEBUGFS_PATH_MAX], text[16];
	int ret = nnpu_debugfs_dir(fd, dir);

	snprintf(text, sizeof(text), "%u", count);
	return ret ? ret : nnpu_write_file(dir, "event_inject", text);
}

/* The next event of a kind, or of any if @type is negative. */
static int next_event(struct nnpu_nl *nl, int type, struct nnpu_nl_msg *msg)
{
	int ret;

	do {
		ret = nnpu_nl_receive(nl, msg, WAIT_MS);
	} while (!ret && type >= 0 &&
		 nnpu_nl_number(msg, NNPU_A_EVENT_TYPE, NONE) != (uint64_t)type);
	return ret;
}

TEST_F(netlink, devices)
{
	struct nnpu_nl_attrs attrs = one(NNPU_A_DEV_ID, self->dev), none = { 0 };
	struct nnpu_nl_msg msg;

	ASSERT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_DEV_GET, &attrs, &msg));
	EXPECT_STREQ(self->device, nnpu_nl_text(&msg, NNPU_A_DEV_BUS_NAME));
	EXPECT_EQ(NNPU_DEV_STATE_RUNNING, nnpu_nl_number(&msg, NNPU_A_DEV_STATE, NONE));
	EXPECT_EQ(NNPU_DRIVER_MAJOR, nnpu_nl_number(&msg, NNPU_A_DEV_ABI_MAJOR, NONE));
	EXPECT_LT(0, nnpu_nl_number(&msg, NNPU_A_DEV_ENGINES, 0));
	EXPECT_LT(0, nnpu_nl_number(&msg, NNPU_A_DEV_CLIENTS, 0));
	EXPECT_LT(0, nnpu_nl_number(&msg, NNPU_A_DEV_MEM_TOTAL, 0));
	EXPECT_GE(nnpu_nl_number(&msg, NNPU_A_DEV_MEM_TOTAL, 0),
		  nnpu_nl_number(&msg, NNPU_A_DEV_MEM_USED, NONE));
	EXPECT_NE(0, strlen(nnpu_nl_text(&msg, NNPU_A_DEV_NAME)));
	EXPECT_NE(0, strlen(nnpu_nl_text(&msg, NNPU_A_DEV_NODE)));
	attrs = one(NNPU_A_DEV_ID, self->dev + 1000);
	EXPECT_EQ(-ENODEV, nnpu_nl_get(&self->nl, NNPU_CMD_DEV_GET, &attrs, &msg));
	EXPECT_EQ(-EINVAL, nnpu_nl_get(&self->nl, NNPU_CMD_DEV_GET, &none, &msg));
	/* A number of another length is none. */
	none.len = 0;
	nnpu_nl_put_u64(&none, NNPU_A_DEV_ID, self->dev);
	EXPECT_EQ(-EINVAL, nnpu_nl_get(&self->nl, NNPU_CMD_DEV_GET, &none, &msg));
	attrs = one(NNPU_A_CLIENT_DEV_ID, self->dev + 1000);
	ASSERT_EQ(0, nnpu_nl_send(&self->nl, NNPU_CMD_CLIENT_GET, NLM_F_DUMP, &attrs));
	EXPECT_EQ(-ENODEV, nnpu_nl_receive(&self->nl, &msg, WAIT_MS));
}

/* What a client does can be read, and the device counts it, too. */
TEST_F(netlink, counts)
{
	uint64_t client = client_of(self->fd), before, ctx, queue;
	struct nnpu_nl_attrs attrs;
	struct nnpu_nl_msg msg;
	struct nnpu_job job;
	struct nnpu_uq uq;
	uint32_t i, bo;

	ASSERT_NE(NONE, client);
	before = stat_of(&self->nl, self->dev, NNPU_A_STATS_COMPLETED);
	ASSERT_EQ(1, dump_count(&self->nl, NNPU_CMD_CLIENT_GET, NNPU_A_CLIENT_ID, client, NULL));
	EXPECT_EQ(0, dump_count(&self->nl, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, client, NULL));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	for (i = 0; i < 5; i++)
		ASSERT_EQ(0, nnpu_job_run(self->fd, &job, i));
	attrs = one(NNPU_A_CLIENT_DEV_ID, self->dev);
	nnpu_nl_put_u64(&attrs, NNPU_A_CLIENT_ID, client);
	ASSERT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_CLIENT_GET, &attrs, &msg));
	EXPECT_EQ((uint64_t)getpid(), nnpu_nl_number(&msg, NNPU_A_CLIENT_PID, 0));
	EXPECT_EQ(geteuid(), nnpu_nl_number(&msg, NNPU_A_CLIENT_UID, NONE));
	EXPECT_EQ(5, nnpu_nl_number(&msg, NNPU_A_CLIENT_COMPLETED, NONE));
	EXPECT_EQ(0, nnpu_nl_number(&msg, NNPU_A_CLIENT_FAILED, NONE));
	EXPECT_EQ(1, nnpu_nl_number(&msg, NNPU_A_CLIENT_CONTEXTS, NONE));
	EXPECT_EQ(1, nnpu_nl_number(&msg, NNPU_A_CLIENT_BUFFERS, NONE));
	EXPECT_EQ(job.buf.size, nnpu_nl_number(&msg, NNPU_A_CLIENT_MEMORY, NONE));
	EXPECT_NE(0, nnpu_nl_number(&msg, NNPU_A_CLIENT_DEVICE_MEMORY, 0));
	EXPECT_EQ(5, nnpu_nl_sum(&msg, NNPU_A_CLIENT_LATENCY_WAIT));
	EXPECT_EQ(5, nnpu_nl_sum(&msg, NNPU_A_CLIENT_LATENCY_RUN));
	EXPECT_EQ(5, nnpu_nl_sum(&msg, NNPU_A_CLIENT_LATENCY_TOTAL));
	EXPECT_LE(before + 5, stat_of(&self->nl, self->dev, NNPU_A_STATS_COMPLETED));
	/* A second handle counts, and goes. */
	ASSERT_EQ(0, nnpu_bo_create(self->fd, 4 * NNPU_PAGE_SIZE, &bo));
	ASSERT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_CLIENT_GET, &attrs, &msg));
	EXPECT_EQ(2, nnpu_nl_number(&msg, NNPU_A_CLIENT_BUFFERS, NONE));
	EXPECT_LE(job.buf.size + 4 * NNPU_PAGE_SIZE,
		  nnpu_nl_number(&msg, NNPU_A_CLIENT_MEMORY, NONE));
	ASSERT_EQ(0, nnpu_bo_close(self->fd, bo));
	ASSERT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_CLIENT_GET, &attrs, &msg));
	EXPECT_EQ(1, nnpu_nl_number(&msg, NNPU_A_CLIENT_BUFFERS, NONE));
	EXPECT_EQ(job.buf.size, nnpu_nl_number(&msg, NNPU_A_CLIENT_MEMORY, NONE));

	ASSERT_EQ(1, dump_count(&self->nl, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, client, &msg));
	ctx = nnpu_nl_number(&msg, NNPU_A_CTX_ID, NONE);
	EXPECT_EQ(5, nnpu_nl_number(&msg, NNPU_A_CTX_COMPLETED, NONE));
	EXPECT_EQ(1, nnpu_nl_number(&msg, NNPU_A_CTX_PROGRAMS, NONE));
	attrs = one(NNPU_A_CTX_DEV_ID, self->dev);
	nnpu_nl_put_u32(&attrs, NNPU_A_CTX_ID, ctx);
	EXPECT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_CTX_GET, &attrs, &msg));
	EXPECT_EQ(NULL, msg.attrs[NNPU_A_CTX_LOST]);

	if (!nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_LOW, NNPU_UQ_ENTRIES,
			    NNPU_UQ_ENTRIES)) {
		ASSERT_EQ(0, nnpu_uq_run(self->fd, &uq, &job, 7));
		ASSERT_EQ(1, dump_count(&self->nl, NNPU_CMD_QUEUE_GET, NNPU_A_QUEUE_CLIENT_ID,
					client, &msg));
		queue = nnpu_nl_number(&msg, NNPU_A_QUEUE_ID, NONE);
		EXPECT_EQ(ctx, nnpu_nl_number(&msg, NNPU_A_QUEUE_CTX_ID, NONE));
		EXPECT_EQ(uq.id, nnpu_nl_number(&msg, NNPU_A_QUEUE_HANDLE, NONE));
		EXPECT_EQ(NNPU_UQ_ENTRIES, nnpu_nl_number(&msg, NNPU_A_QUEUE_SQ_ENTRIES, NONE));
		attrs = one(NNPU_A_QUEUE_DEV_ID, self->dev);
		nnpu_nl_put_u64(&attrs, NNPU_A_QUEUE_ID, queue);
		EXPECT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_QUEUE_GET, &attrs, &msg));
		nnpu_uq_destroy(self->fd, &uq);
		EXPECT_EQ(-ENOENT, nnpu_nl_get(&self->nl, NNPU_CMD_QUEUE_GET, &attrs, &msg));
	}
}

/* What a process sees that has not opened the node. A line of the failure is told. */
static int see_as_stranger(struct nnpu_nl *nl, uint32_t dev)
{
	static const unsigned int hidden[] = {
		NNPU_A_DEV_CLIENTS, NNPU_A_DEV_CONTEXTS, NNPU_A_DEV_QUEUES, NNPU_A_DEV_QUEUES_ACTIVE,
		NNPU_A_DEV_JOBS, NNPU_A_DEV_PROGRAMS, NNPU_A_DEV_BUFFERS, NNPU_A_DEV_PINNED,
		NNPU_A_DEV_RESETS, NNPU_A_DEV_MEM_USED, NNPU_A_DEV_MEM_PEAK, NNPU_A_DEV_PERF_LEVEL,
	};
	struct nnpu_nl_attrs attrs = one(NNPU_A_STATS_DEV_ID, dev);
	struct nnpu_nl_msg msg;
	unsigned int i;

	if (nnpu_nl_get(nl, NNPU_CMD_STATS_GET, &attrs, &msg) != -EPERM)
		return __LINE__;
	if (dump_count(nl, NNPU_CMD_STATS_GET, NNPU_A_STATS_DEV_ID, dev, NULL) != 0)
		return __LINE__;
	attrs = one(NNPU_A_DEV_ID, dev);
	if (nnpu_nl_get(nl, NNPU_CMD_DEV_GET, &attrs, &msg) ||
	    !strlen(nnpu_nl_text(&msg, NNPU_A_DEV_NODE)))
		return __LINE__;
	for (i = 0; i < sizeof(hidden) / sizeof(*hidden); i++)
		if (msg.attrs[hidden[i]])
			return __LINE__;
	return 0;
}

/* What a process of another user sees. @root: a context of root's. A line of the failure is told. */
static int see_as_other(const char *uid_map, uint32_t dev, uint64_t root_client, uint32_t ctx,
			int node)
{
	struct nnpu_nl_attrs attrs = one(NNPU_A_CTX_DEV_ID, dev);
	struct nnpu_nl_msg msg;
	struct nnpu_nl nl;
	char path[64];
	uint64_t mine;
	int fd, line;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", node);
	if (nnpu_nl_open(&nl))
		return __LINE__;
	/* The descriptor that it has inherited is another process's. */
	line = see_as_stranger(&nl, dev);
	if (line)
		return line;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return __LINE__;
	mine = client_of(fd);
	if (dump_count(&nl, NNPU_CMD_CLIENT_GET, NNPU_A_CLIENT_ID, root_client, NULL) != 0)
		return __LINE__;
	if (dump_count(&nl, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, root_client, NULL) != 0)
		return __LINE__;
	if (dump_count(&nl, NNPU_CMD_CLIENT_GET, NNPU_A_CLIENT_ID, mine, &msg) != 1)
		return __LINE__;
	if (nnpu_nl_number(&msg, NNPU_A_CLIENT_UID, NONE) != (uid_map ? 0 : OTHER))
		return __LINE__;
	nnpu_nl_put_u32(&attrs, NNPU_A_CTX_ID, ctx);
	if (nnpu_nl_get(&nl, NNPU_CMD_CTX_GET, &attrs, &msg) != -EPERM)
		return __LINE__;
	attrs = one(NNPU_A_CLIENT_DEV_ID, dev);
	nnpu_nl_put_u64(&attrs, NNPU_A_CLIENT_ID, root_client);
	if (nnpu_nl_get(&nl, NNPU_CMD_CLIENT_GET, &attrs, &msg) != -EPERM)
		return __LINE__;
	/* Totals are for all that have opened the node. */
	if (stat_of(&nl, dev, NNPU_A_STATS_COMPLETED) < 1)
		return __LINE__;
	if (dump_count(&nl, NNPU_CMD_STATS_GET, NNPU_A_STATS_DEV_ID, dev, NULL) != 1)
		return __LINE__;
	attrs = one(NNPU_A_DEV_ID, dev);
	if (nnpu_nl_get(&nl, NNPU_CMD_DEV_GET, &attrs, &msg) ||
	    !nnpu_nl_number(&msg, NNPU_A_DEV_CLIENTS, 0))
		return __LINE__;
	if (nnpu_nl_get(&nl, NNPU_CMD_RESET, &attrs, &msg) != -EPERM)
		return __LINE__;
	if (nnpu_nl_join(&nl, 0))
		return __LINE__;
	/* Who is root in the user namespace of a network namespace may join there. */
	if (nnpu_nl_join(&nl, 1) != (uid_map ? 0 : -EPERM))
		return __LINE__;
	return 0;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -1;
	ret = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return ret;
}

/* In a child: a line that failed, 0 or 77: there are no user namespaces. */
static int other_user(bool namespaces, uint32_t dev, uint64_t client, uint32_t ctx, int node)
{
	char map[64];

	if (setgid(OTHER) || setuid(OTHER))
		return __LINE__;
	/* Or /proc/self/uid_map is root's. */
	prctl(PR_SET_DUMPABLE, 1);
	if (namespaces) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
			return 77;
		snprintf(map, sizeof(map), "0 %d 1", OTHER);
		if (write_text("/proc/self/uid_map", map))
			return 77;
	}
	return see_as_other(namespaces ? map : NULL, dev, client, ctx, node);
}

/* Another user sees himself and totals; so does root of a user namespace. */
TEST_F(netlink, permissions)
{
	uint64_t client = client_of(self->fd);
	struct nnpu_nl_msg msg;
	struct nnpu_job job;
	struct stat st;
	int status, i;
	uint32_t ctx;
	pid_t pid;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	ASSERT_EQ(1, dump_count(&self->nl, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, client, &msg));
	ctx = nnpu_nl_number(&msg, NNPU_A_CTX_ID, NONE);
	ASSERT_EQ(0, fstat(self->fd, &st));
	ASSERT_EQ(0, fchmod(self->fd, 0666));
	self->mode = st.st_mode & 07777;
	for (i = 0; i < 2; i++) {
		pid = fork();
		if (!pid)
			exit(other_user(i, self->dev, client, ctx, self->fd) & 0xff);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFEXITED(status));
		if (i && WEXITSTATUS(status) == 77) {
			TH_LOG("no user namespaces: not tested");
			break;
		}
		EXPECT_EQ(0, WEXITSTATUS(status)) {
			TH_LOG("%s: line %d", i ? "namespaces" : "user", WEXITSTATUS(status));
		}
	}
}

/*
 * In a child: a user without rights asks on root's socket, which is full, so that nothing of the
 * answer is made yet.
 */
static int ask_as_other(struct nnpu_nl *nl, uint8_t cmd)
{
	if (setgid(OTHER) || setuid(OTHER))
		return __LINE__;
	nnpu_nl_send(nl, cmd, NLM_F_DUMP, NULL);
	return 0;
}

/* How many objects of root a full socket of root shows to root. @other: somebody else asks. */
static int shown_to_root(uint32_t dev, uint8_t cmd, unsigned int attr, uint64_t client, bool other)
{
	struct nnpu_nl_attrs attrs = one(NNPU_A_DEV_ID, dev);
	int size = 1, found = 0, ret, status, i;
	struct nnpu_nl_msg msg;
	struct nnpu_nl nl;
	bool ended = false;
	pid_t pid;

	if (nnpu_nl_open(&nl))
		return -1;
	/* The least there is. Answers that nobody reads fill it. */
	setsockopt(nl.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (i = 0; i < 16; i++)
		nnpu_nl_send(&nl, NNPU_CMD_DEV_GET, 0, &attrs);
	pid = fork();
	if (!pid) {
		if (other)
			_exit(ask_as_other(&nl, cmd) & 0xff);
		nnpu_nl_send(&nl, cmd, NLM_F_DUMP, NULL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		return -2;
	/* Answers and errors of what filled it, then the dump. */
	for (i = 0; i < 1000 && !ended; i++) {
		ret = nnpu_nl_receive(&nl, &msg, WAIT_MS);
		ended = ret == -ENODATA || ret == -ETIME;
		if (!ret && msg.cmd == cmd && nnpu_nl_number(&msg, attr, NONE) == client)
			found++;
	}
	nnpu_nl_close(&nl);
	return ret == -ENODATA ? found : -3;
}

/* A privileged reader goes on with the dump of somebody who is not: he sees what that one may. */
TEST_F(netlink, who_asked_counts)
{
	uint64_t client = client_of(self->fd);
	struct nnpu_buf buf;

	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, NNPU_PAGE_SIZE, DRM_NNPU_SLOT_READ));
	EXPECT_EQ(1, shown_to_root(self->dev, NNPU_CMD_CLIENT_GET, NNPU_A_CLIENT_ID, client,
				   false));
	EXPECT_EQ(0, shown_to_root(self->dev, NNPU_CMD_CLIENT_GET, NNPU_A_CLIENT_ID, client,
				   true));
	EXPECT_EQ(1, shown_to_root(self->dev, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, client,
				   false));
	EXPECT_EQ(0, shown_to_root(self->dev, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, client,
				   true));
}

/* In a child: how many recv() it took until the client @second came, after @first; or a line. */
static int parts_between(uint64_t first, uint64_t second)
{
	struct nnpu_nl_msg msg;
	struct nnpu_nl nl;
	int parts = -1, ret;

	if (setgid(OTHER) || setuid(OTHER) || nnpu_nl_open(&nl) ||
	    nnpu_nl_send(&nl, NNPU_CMD_CLIENT_GET, NLM_F_DUMP, NULL))
		return __LINE__;
	do {
		bool fresh = !nl.left;

		ret = nnpu_nl_receive(&nl, &msg, WAIT_MS);
		if (parts >= 0)
			parts += fresh;
		if (!ret && nnpu_nl_number(&msg, NNPU_A_CLIENT_ID, NONE) == first)
			parts = 0;
	} while (!ret && nnpu_nl_number(&msg, NNPU_A_CLIENT_ID, NONE) != second);
	return ret || parts < 0 ? 100 : parts;
}

/* Two clients of a user, with many of others between: what was found is not kept back for them. */
TEST_F(netlink, message_is_bounded)
{
	enum { OTHERS = 600 };
	struct rlimit limit = { OTHERS + 100, OTHERS + 100 };
	int fds[OTHERS], mine[2], status, i;
	struct stat st;
	pid_t pid;

	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	ASSERT_EQ(0, fstat(self->fd, &st));
	ASSERT_EQ(0, fchmod(self->fd, 0666));
	self->mode = st.st_mode & 07777;
	for (i = 0; i < 2; i++) {
		int n;

		ASSERT_EQ(0, seteuid(OTHER));
		mine[i] = nnpu_open();
		ASSERT_EQ(0, seteuid(0));
		ASSERT_LE(0, mine[i]);
		for (n = 0; !i && n < OTHERS; n++) {
			fds[n] = nnpu_open();
			ASSERT_LE(0, fds[n]);
		}
	}
	pid = fork();
	if (!pid)
		_exit(parts_between(client_of(mine[0]), client_of(mine[1])));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(1, WEXITSTATUS(status));
	for (i = 0; i < OTHERS; i++)
		close(fds[i]);
	close(mine[0]);
	close(mine[1]);
}

static void *watch_contexts(void *stop)
{
	struct nnpu_nl nl;

	if (nnpu_nl_open(&nl))
		return "open";
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
		if (dump_count(&nl, NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID, NONE, NULL) < 0)
			return "dump";
	nnpu_nl_close(&nl);
	return NULL;
}

/* Who has all contexts and gives one back gets another one, whoever looks at it meanwhile. */
TEST_F(netlink, watching_keeps_no_context)
{
	enum { FILES = 16, CONTEXTS = 255, WATCHERS = 3, ROUNDS = 3000 };
	struct drm_nnpu_context_create attrs = { 0 };
	int fds[FILES], n = 0, ret = 0, refused = 0;
	pthread_t threads[WATCHERS];
	bool stop = false;
	uint32_t ctx, last = 0;
	unsigned int i;
	void *fault;

	while (!ret && n < FILES) {
		fds[n] = nnpu_open();
		ASSERT_LE(0, fds[n]);
		for (i = 0; !ret && i < CONTEXTS; i++) {
			ret = nnpu_context_create(fds[n], &attrs, &ctx);
			if (!ret)
				last = ctx;
		}
		n++;
	}
	ASSERT_EQ(-EUSERS, ret);
	/* The last file that got one. */
	if (i == 1) {
		close(fds[--n]);
		nnpu_context_destroy(fds[n - 1], last);
		ASSERT_EQ(0, nnpu_context_create(fds[n - 1], &attrs, &last));
	}
	for (i = 0; i < WATCHERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, watch_contexts, &stop));
	for (i = 0; i < ROUNDS && !refused; i++) {
		ASSERT_EQ(0, nnpu_context_destroy(fds[n - 1], last));
		refused = nnpu_context_create(fds[n - 1], &attrs, &last);
	}
	EXPECT_EQ(0, refused) {
		TH_LOG("round %u", i);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < WATCHERS; i++) {
		pthread_join(threads[i], &fault);
		EXPECT_EQ(NULL, fault);
	}
	while (n--)
		close(fds[n]);
}

/* A dump that is asked for in parts; what comes meanwhile is told by a flag. */
TEST_F(netlink, dump_says_that_it_was_interrupted)
{
	enum { FILES = 200 };
	bool flagged[2] = { false, false };
	int fds[FILES], n, round, ret, seen;
	struct nnpu_nl_msg msg;

	for (n = 0; n < FILES; n++) {
		fds[n] = nnpu_open();
		ASSERT_LE(0, fds[n]);
	}
	for (round = 0; round < 2; round++) {
		uint64_t last = 0;
		bool ordered = true;

		ASSERT_EQ(0, nnpu_nl_send(&self->nl, NNPU_CMD_CLIENT_GET, NLM_F_DUMP, NULL));
		ASSERT_EQ(0, nnpu_nl_receive(&self->nl, &msg, WAIT_MS));
		seen = 1;
		/* All that was received at first is read. The rest is asked for with the next read. */
		if (round)
			close(fds[--n]);
		last = nnpu_nl_number(&msg, NNPU_A_CLIENT_ID, 0);
		while (!(ret = nnpu_nl_receive(&self->nl, &msg, WAIT_MS))) {
			uint64_t id = nnpu_nl_number(&msg, NNPU_A_CLIENT_ID, 0);

			ordered &= id > last;
			last = id;
			seen++;
			flagged[round] |= !!(msg.flags & NLM_F_DUMP_INTR);
		}
		EXPECT_EQ(-ENODATA, ret);
		flagged[round] |= !!(msg.flags & NLM_F_DUMP_INTR);
		/* Each that was there all the time once. */
		EXPECT_TRUE(ordered);
		EXPECT_LE(FILES - round, seen);
	}
	EXPECT_FALSE(flagged[0]);
	EXPECT_TRUE(flagged[1]);
	while (n--)
		close(fds[n]);
}

static void *churn(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
		int fd = nnpu_open();
		struct nnpu_buf buf;
		uint32_t ctx;

		if (fd < 0)
			return "open";
		nnpu_context_create(fd, &(struct drm_nnpu_context_create) { 0 }, &ctx);
		nnpu_buf_create(fd, &buf, NNPU_PAGE_SIZE, DRM_NNPU_SLOT_READ);
		close(fd);
	}
	return NULL;
}

/* Clients and contexts come and go; what stays is in each dump once. */
TEST_F(netlink, dumps_under_change)
{
	static const struct {
		uint8_t cmd;
		unsigned int client;
	} dumps[] = {
		{ NNPU_CMD_CLIENT_GET, NNPU_A_CLIENT_ID },
		{ NNPU_CMD_CTX_GET, NNPU_A_CTX_CLIENT_ID },
	};
	uint64_t client = client_of(self->fd);
	pthread_t threads[3];
	bool stop = false;
	struct nnpu_buf buf;
	unsigned int i, n;
	void *fault;

	ASSERT_EQ(0, nnpu_buf_create(self->fd, &buf, NNPU_PAGE_SIZE, DRM_NNPU_SLOT_READ));
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, churn, &stop));
	for (n = 0; n < 300; n++)
		for (i = 0; i < 2; i++)
			EXPECT_EQ(1, dump_count(&self->nl, dumps[i].cmd, dumps[i].client, client,
						NULL));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++) {
		pthread_join(threads[i], &fault);
		EXPECT_EQ(NULL, fault);
	}
}

/* 1000 events in a second, or as fast as the machine is: all of them arrive, in order. */
TEST_F(netlink, events_in_order)
{
	uint64_t last = 0, lost = 0, time;
	struct nnpu_nl_msg msg;
	unsigned int i, j;

	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, nnpu_nl_join(&self->nl, 0));
	for (i = 0; i < 100; i++) {
		ASSERT_EQ(0, inject_events(self->fd, 10));
		usleep(10000);
		for (j = 0; j < 10; j++) {
			ASSERT_EQ(0, next_event(&self->nl, NNPU_EVENT_TYPE_TEST, &msg));
			time = nnpu_nl_number(&msg, NNPU_A_EVENT_TIME, 0);
			if (!last)
				lost = nnpu_nl_number(&msg, NNPU_A_EVENT_LOST, NONE);
			ASSERT_LE(last, time);
			last = time;
			EXPECT_EQ(lost, nnpu_nl_number(&msg, NNPU_A_EVENT_LOST, NONE));
			EXPECT_EQ(self->dev, nnpu_nl_number(&msg, NNPU_A_EVENT_DEV_ID, NONE));
			EXPECT_STREQ(self->device, nnpu_nl_text(&msg, NNPU_A_EVENT_BUS_NAME));
		}
	}
	/* Each one once. */
	EXPECT_EQ(-ETIME, nnpu_nl_receive(&self->nl, &msg, 100));
}

/* Nobody reads, and nobody waits for that; who reads later is told that events were lost. */
TEST_F(netlink, slow_listener)
{
	enum { FLOOD = 20000 };
	uint64_t before, last = 0, time;
	struct nnpu_nl_msg msg;
	unsigned int got = 0;
	struct nnpu_job job;
	int ret, small = 4096;
	bool told = false;

	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	before = stat_of(&self->nl, self->dev, NNPU_A_STATS_EVENTS);
	ASSERT_EQ(0, setsockopt(self->nl.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)));
	ASSERT_EQ(0, nnpu_nl_join(&self->nl, 0));
	ASSERT_EQ(0, inject_events(self->fd, FLOOD));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	for (;;) {
		ret = nnpu_nl_receive(&self->nl, &msg, 1000);
		if (ret == -ENOBUFS) {
			told = true;
			continue;
		}
		if (ret)
			break;
		time = nnpu_nl_number(&msg, NNPU_A_EVENT_TIME, 0);
		EXPECT_LE(last, time);
		last = time;
		got++;
	}
	EXPECT_EQ(-ETIME, ret);
	EXPECT_TRUE(told);
	EXPECT_GT(FLOOD, got);
	/* What the listener did not get was there nevertheless. */
	EXPECT_LE(before + FLOOD, stat_of(&self->nl, self->dev, NNPU_A_STATS_EVENTS));
	/* It goes on where it can. */
	ASSERT_EQ(0, inject_events(self->fd, 1));
	ASSERT_EQ(0, next_event(&self->nl, NNPU_EVENT_TYPE_TEST, &msg));
	EXPECT_LE(last, nnpu_nl_number(&msg, NNPU_A_EVENT_TIME, 0));
}

/* Listeners that are stopped, or die with a full buffer. */
TEST_F(netlink, dead_listener)
{
	struct nnpu_job job;
	struct nnpu_nl nl;
	pid_t pid;
	char byte;
	int up[2], status;

	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	ASSERT_EQ(0, pipe(up));
	pid = fork();
	if (!pid) {
		if (nnpu_nl_open(&nl) || nnpu_nl_join(&nl, 0) || write(up[1], "x", 1) != 1)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(1, read(up[0], &byte, 1));
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_EQ(0, inject_events(self->fd, 5000));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 1));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_EQ(0, inject_events(self->fd, 5000));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 2));
	close(up[0]);
	close(up[1]);
}

/*
 * A listener in another network namespace. A privileged one is told all. Another user is told
 * nothing, and the next event is the test that follows.
 */
static int listen_elsewhere(int ready, bool admin, uint64_t client)
{
	struct nnpu_nl_msg msg;
	struct nnpu_nl nl;

	if (unshare(CLONE_NEWNET))
		return 77;
	if (nnpu_nl_open(&nl))
		return __LINE__;
	if (!admin && (setgid(OTHER) || setuid(OTHER)))
		return __LINE__;
	/* The socket is root's; one of the user's own counts. */
	if (!admin) {
		nnpu_nl_close(&nl);
		if (nnpu_nl_open(&nl))
			return __LINE__;
	}
	if (nnpu_nl_join(&nl, admin) || write(ready, "x", 1) != 1)
		return __LINE__;
	if (next_event(&nl, admin ? NNPU_EVENT_TYPE_QUEUE_STOPPED : -1, &msg))
		return __LINE__;
	if (!admin)
		return nnpu_nl_number(&msg, NNPU_A_EVENT_TYPE, NONE) == NNPU_EVENT_TYPE_TEST ?
		       0 : __LINE__;
	if (nnpu_nl_number(&msg, NNPU_A_EVENT_STATE, NONE) != NNPU_QUEUE_STATUS_STOPPED ||
	    nnpu_nl_number(&msg, NNPU_A_EVENT_CLIENT_ID, NONE) != client)
		return __LINE__;
	return msg.attrs[NNPU_A_EVENT_PID] ? 0 : __LINE__;
}

TEST_F(netlink, stopped_queue)
{
	uint64_t client = client_of(self->fd);
	struct nnpu_nl_msg msg;
	uint32_t state, reason;
	struct nnpu_job job;
	pid_t pids[2];
	struct nnpu_uq uq;
	int ready[2], status, i;
	char byte;

	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	if (nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_LOW, NNPU_UQ_ENTRIES, NNPU_UQ_ENTRIES))
		NNPU_SKIP(return, "device without user queues");
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &uq, &job, 1));
	ASSERT_EQ(0, pipe(ready));
	for (i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i])
			_exit(listen_elsewhere(ready[1], i, client) & 0xff);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
	}
	ASSERT_EQ(0, nnpu_nl_join(&self->nl, 0));
	uq.db[NNPU_DB_SQ_TAIL / 4] = 0xffffffff;
	do {
		ASSERT_EQ(0, nnpu_uq_sleep(self->fd, &uq, WAIT_MS, &state, &reason));
	} while (state == DRM_NNPU_QUEUE_STATE_READY);
	ASSERT_EQ(0, next_event(&self->nl, NNPU_EVENT_TYPE_QUEUE_STOPPED, &msg));
	/* The owner is told all. */
	EXPECT_EQ(client, nnpu_nl_number(&msg, NNPU_A_EVENT_CLIENT_ID, NONE));
	EXPECT_EQ((uint64_t)getpid(), nnpu_nl_number(&msg, NNPU_A_EVENT_PID, 0));
	EXPECT_EQ(geteuid(), nnpu_nl_number(&msg, NNPU_A_EVENT_UID, NONE));
	EXPECT_EQ(reason, nnpu_nl_number(&msg, NNPU_A_EVENT_STATUS, NONE));
	ASSERT_EQ(0, inject_events(self->fd, 1));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(pids[i], waitpid(pids[i], &status, 0));
		EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) {
			TH_LOG("listener %d: line %d", i, WEXITSTATUS(status));
		}
	}
	nnpu_uq_destroy(self->fd, &uq);
	close(ready[0]);
	close(ready[1]);
}

TEST_F(netlink, hang_and_reset)
{
	struct nnpu_nl_attrs attrs = one(NNPU_A_DEV_ID, self->dev);
	uint64_t client = client_of(self->fd), wanted;
	struct nnpu_nl_msg msg;
	struct nnpu_nl events;
	struct nnpu_job job;

	if (nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 0) == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, nnpu_nl_open(&events));
	ASSERT_EQ(0, nnpu_nl_join(&events, 1));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &job));
	ASSERT_EQ(0, nnpu_job_wait(self->fd, &job, WAIT_MS));
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	ASSERT_EQ(0, next_event(&events, NNPU_EVENT_TYPE_HANG, &msg));
	EXPECT_EQ(client, nnpu_nl_number(&msg, NNPU_A_EVENT_CLIENT_ID, NONE));
	EXPECT_EQ((uint64_t)getpid(), nnpu_nl_number(&msg, NNPU_A_EVENT_PID, 0));
	EXPECT_NE(NONE, nnpu_nl_number(&msg, NNPU_A_EVENT_CTX_ID, NONE));
	EXPECT_STREQ("hang", nnpu_nl_text(&msg, NNPU_A_EVENT_REASON));
	EXPECT_EQ(0, nnpu_job_run(self->fd, &job, 2));

	ASSERT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_RESET, &attrs, &msg));
	wanted = nnpu_nl_number(&msg, NNPU_A_DEV_RESETS, 0);
	EXPECT_LT(0, wanted);
	ASSERT_EQ(0, next_event(&events, NNPU_EVENT_TYPE_CONTEXT_LOST, &msg));
	EXPECT_EQ(client, nnpu_nl_number(&msg, NNPU_A_EVENT_CLIENT_ID, NONE));
	EXPECT_STREQ("asked for", nnpu_nl_text(&msg, NNPU_A_EVENT_REASON));
	ASSERT_EQ(0, next_event(&events, NNPU_EVENT_TYPE_RESET, &msg));
	EXPECT_EQ(NNPU_RESET_SCOPE_DEVICE, nnpu_nl_number(&msg, NNPU_A_EVENT_SCOPE, NONE));
	EXPECT_EQ(0, nnpu_nl_number(&msg, NNPU_A_EVENT_RESULT, NONE));
	/* It counts a moment after the event. */
	do {
		ASSERT_EQ(0, nnpu_nl_get(&self->nl, NNPU_CMD_DEV_GET, &attrs, &msg));
	} while (nnpu_nl_number(&msg, NNPU_A_DEV_RESETS, 0) < wanted);
	EXPECT_EQ(NNPU_DEV_STATE_RUNNING, nnpu_nl_number(&msg, NNPU_A_DEV_STATE, NONE));
	nnpu_nl_close(&events);
}

/* Who meets a limit again and again causes one event in a while. */
TEST_F(netlink, limit)
{
	enum { FILES = 16, CONTEXTS = 255 };
	int fds[FILES], n = 0, ret = 0;
	struct nnpu_nl_msg msg;
	struct nnpu_nl other;
	uint64_t events;
	uint32_t ctx;
	unsigned int i;

	ASSERT_EQ(0, nnpu_nl_join(&self->nl, 1));
	while (!ret && n < FILES) {
		fds[n] = nnpu_open();
		ASSERT_LE(0, fds[n]);
		for (i = 0; !ret && i < CONTEXTS; i++)
			ret = nnpu_context_create(fds[n],
						  &(struct drm_nnpu_context_create) { 0 }, &ctx);
		n++;
	}
	EXPECT_EQ(-EUSERS, ret);
	ASSERT_EQ(0, next_event(&self->nl, NNPU_EVENT_TYPE_LIMIT, &msg));
	EXPECT_EQ(NNPU_LIMIT_KIND_CONTEXTS, nnpu_nl_number(&msg, NNPU_A_EVENT_LIMIT, NONE));
	EXPECT_EQ(1, nnpu_nl_number(&msg, NNPU_A_EVENT_REPEATED, NONE));
	EXPECT_EQ(client_of(fds[n - 1]), nnpu_nl_number(&msg, NNPU_A_EVENT_CLIENT_ID, NONE));
	ASSERT_EQ(0, nnpu_nl_open(&other));
	events = stat_of(&other, self->dev, NNPU_A_STATS_EVENTS);
	for (i = 0; i < 100; i++)
		EXPECT_EQ(-EUSERS, nnpu_context_create(fds[n - 1],
			  &(struct drm_nnpu_context_create) { 0 }, &ctx));
	EXPECT_GT(events + 100, stat_of(&other, self->dev, NNPU_A_STATS_EVENTS));
	nnpu_nl_close(&other);
	while (n--)
		close(fds[n]);
}

/* A device that comes back is another one. */
TEST_F(netlink, arrival_and_removal)
{
	struct nnpu_nl_attrs attrs = one(NNPU_A_DEV_ID, self->dev);
	struct nnpu_nl_msg msg;
	struct nnpu_nl events;

	ASSERT_EQ(0, nnpu_nl_open(&events));
	ASSERT_EQ(0, nnpu_nl_join(&events, 0));
	ASSERT_EQ(0, nnpu_driver_write("unbind", self->device));
	ASSERT_EQ(0, next_event(&events, NNPU_EVENT_TYPE_REMOVAL, &msg));
	EXPECT_EQ(self->dev, nnpu_nl_number(&msg, NNPU_A_EVENT_DEV_ID, NONE));
	EXPECT_EQ(-ENODEV, nnpu_nl_get(&self->nl, NNPU_CMD_DEV_GET, &attrs, &msg));
	ASSERT_EQ(0, nnpu_driver_write("bind", self->device));
	ASSERT_EQ(0, next_event(&events, NNPU_EVENT_TYPE_ARRIVAL, &msg));
	EXPECT_LT(self->dev, nnpu_nl_number(&msg, NNPU_A_EVENT_DEV_ID, NONE));
	EXPECT_STREQ(self->device, nnpu_nl_text(&msg, NNPU_A_EVENT_BUS_NAME));
	nnpu_nl_close(&events);
}

TEST_HARNESS_MAIN
