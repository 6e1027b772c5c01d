// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of the device: who gets one, and when.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

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
	int result[2] = { 0, 0 };
	struct nnpu_buf buf;
	char byte;

	if (setgid(uid) || setuid(uid))
		_exit(1);
	while (!result[1] && result[0] < 1000) {
		int fd = nnpu_open();

		result[1] = fd < 0 ? fd : nnpu_buf_create(fd, &buf, PAGE, RW);
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
		SKIP(return, "not root");
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

TEST_HARNESS_MAIN
