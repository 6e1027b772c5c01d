// SPDX-License-Identifier: GPL-2.0-only
/*
 * The admin queue: a client whose threads send commands without pause, others beside it, and how
 * it is killed.
 *
 *   NNPU_ADMIN_ROUNDS   what the other client does how often (default 20)
 */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define THREADS		32
#define PAGE		((uint64_t)NNPU_PAGE_SIZE)
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)

/* Nothing here judges how fast it is. */
#define LONG_MS		120000

FIXTURE(admin)
{
	int fd;
};

FIXTURE_SETUP(admin)
{
	self->fd = nnpu_open();
	if (self->fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-self->fd));
	if (nnpu_debugfs_value(self->fd, "objects", "contexts") < 0)
		NNPU_SKIP(return, "no debugfs");
}

FIXTURE_TEARDOWN(admin)
{
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	if (self->fd >= 0)
		close(self->fd);
}

/* What a process with many threads shares with whoever started it. */
struct shared {
	unsigned int calls[THREADS];
	int error;
};

struct thread {
	int fd;
	unsigned int number;
	uint32_t handle;
	uint32_t slot;
	struct shared *shared;
};

static int check_program(int fd)
{
	uint64_t image[NNPU_ADD_IMAGE_SIZE / 8];
	struct { uint64_t words[64]; } report;
	struct drm_nnpu_program_load arg = {
		.image = (uintptr_t)image,
		.image_size = nnpu_add_image(image, 16),
		.flags = DRM_NNPU_PROGRAM_CHECK,
		.report = (uintptr_t)&report,
		.num_reports = 1,
	};

	return nnpu_ioctl(fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg);
}

static int make_queue(int fd)
{
	struct nnpu_uq uq;
	int ret = nnpu_uq_create(fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
				 NNPU_UQ_ENTRIES);

	if (!ret)
		nnpu_uq_destroy(fd, &uq);
	/* Other threads may have taken all that a file gets. */
	return ret == -EOPNOTSUPP || ret == -ENOSPC || ret == -EDQUOT ? 0 : ret;
}

static int load_program(int fd)
{
	uint64_t image[NNPU_ADD_IMAGE_SIZE / 8];
	size_t size = nnpu_add_image(image, 16);
	uint32_t program;
	int ret = nnpu_program_load(fd, image, size, &program, NULL);

	return ret ? ret : nnpu_program_unload(fd, program);
}

static int one_call(const struct thread *t)
{
	uint32_t slot;
	int ret;

	switch (t->number % 8) {
	case 0:
		return check_program(t->fd);
	case 1:
		return load_program(t->fd);
	case 2:
		return make_queue(t->fd);
	default:
		ret = nnpu_slot_bind(t->fd, t->handle, 0, PAGE, RW, &slot);
		return ret ? ret : nnpu_slot_unbind(t->fd, slot);
	}
}

static void *call_for_ever(void *arg)
{
	struct thread *t = arg;
	int ret;

	while (!(ret = one_call(t)))
		__atomic_add_fetch(&t->shared->calls[t->number], 1, __ATOMIC_RELAXED);
	__atomic_store_n(&t->shared->error, ret, __ATOMIC_RELAXED);
	return NULL;
}

/* The device answers nothing from the first of these on. */
static void *unbind_once(void *arg)
{
	struct thread *t = arg;

	nnpu_slot_unbind(t->fd, t->slot);
	for (;;)
		pause();
	return NULL;
}

/*
 * A process of THREADS threads that run @fn, after an injection of @kind unless that is 0. It ends
 * when it is killed.
 */
static pid_t client_fork(struct shared *shared, void *(*fn)(void *), unsigned int kind)
{
	static struct thread threads[THREADS];
	pid_t pid = fork();
	pthread_t id;
	unsigned int i;
	int ret, fd;

	if (pid)
		return pid;
	fd = nnpu_open();
	ret = fd < 0 ? fd : 0;
	for (i = 0; i < THREADS && !ret; i++) {
		struct thread *t = &threads[i];

		*t = (struct thread) { .fd = fd, .number = i, .shared = shared };
		ret = nnpu_bo_create(fd, PAGE, &t->handle);
		if (!ret)
			ret = nnpu_slot_bind(fd, t->handle, 0, PAGE, RW, &t->slot);
	}
	if (!ret && kind)
		ret = nnpu_inject(fd, kind, 1);
	for (i = 0; i < THREADS && !ret; i++)
		ret = -pthread_create(&id, NULL, fn, &threads[i]);
	if (ret)
		__atomic_store_n(&shared->error, ret, __ATOMIC_RELAXED);
	for (;;)
		pause();
}

static struct shared *share(void)
{
	return mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static bool all_called(const struct shared *shared)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		if (!__atomic_load_n(&shared->calls[i], __ATOMIC_RELAXED))
			return false;
	return true;
}

/* Nothing is left of clients that have ended. The file of the fixture has nothing either. */
static bool nothing_left(int fd)
{
	static const char * const objects[] = {
		"contexts", "slots", "programs", "jobs", "buffers", "queues",
	};
	unsigned int i, ms;

	for (ms = 0; ms < LONG_MS; ms += 10) {
		for (i = 0; i < 6 && !nnpu_debugfs_value(fd, "objects", objects[i]); i++)
			;
		if (i == 6)
			return true;
		usleep(10000);
	}
	fprintf(stderr, "# left: %s %ld\n", objects[i],
		nnpu_debugfs_value(fd, "objects", objects[i]));
	return false;
}

static bool end_client(pid_t pid)
{
	int status;

	return !kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	       WTERMSIG(status) == SIGKILL;
}

/* All of it is done again by a file of its own: context, slots, programs, queues. */
static int other_client(void)
{
	struct nnpu_job job;
	int fd = nnpu_open(), ret;

	if (fd < 0)
		return fd;
	ret = nnpu_job_init(fd, &job, 64);
	if (!ret) {
		ret = nnpu_job_run(fd, &job, 1);
		if (!ret)
			ret = check_program(fd);
		if (!ret)
			ret = make_queue(fd);
		nnpu_job_fini(fd, &job);
	}
	close(fd);
	return ret;
}

/* A client floods the admin queue; the commands of another one all succeed, none times out. */
TEST_F_TIMEOUT(admin, flood, 600)
{
	const char *text = getenv("NNPU_ADMIN_ROUNDS");
	int rounds = text ? atoi(text) : 20, i;
	struct shared *shared = share();
	long timeouts, resets;
	unsigned int ms;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, shared);
	timeouts = nnpu_debugfs_value(self->fd, "stats", "admin_timeouts");
	resets = nnpu_debugfs_value(self->fd, "stats", "device_resets");
	pid = client_fork(shared, call_for_ever, 0);
	ASSERT_LE(0, pid);
	for (ms = 0; ms < LONG_MS && !all_called(shared) && !shared->error; ms += 10)
		usleep(10000);
	EXPECT_TRUE(all_called(shared));
	for (i = 0; i < rounds; i++) {
		EXPECT_EQ(0, other_client()) {
			TH_LOG("round %d", i);
			break;
		}
	}
	EXPECT_EQ(0, __atomic_load_n(&shared->error, __ATOMIC_RELAXED));
	EXPECT_TRUE(end_client(pid));
	EXPECT_TRUE(nothing_left(self->fd));
	EXPECT_EQ(timeouts, nnpu_debugfs_value(self->fd, "stats", "admin_timeouts"));
	EXPECT_EQ(resets, nnpu_debugfs_value(self->fd, "stats", "device_resets"));
	munmap(shared, sizeof(*shared));
}

/* Does a file of a thread, such as "syscall", begin with this number? */
static bool waits_in(const char *path, long number)
{
	FILE *f = fopen(path, "r");
	long found = -1;

	if (!f)
		return false;
	/* A thread that does not wait says "running". */
	if (fscanf(f, "%ld", &found) != 1)
		found = -1;
	fclose(f);
	return found == number;
}

/* Threads of a process that have not ended; @waiting: only those that wait in an ioctl. */
static unsigned int count_threads(pid_t pid, bool waiting)
{
	unsigned int count = 0;
	char path[64], state;
	struct dirent *e;
	FILE *f;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (waiting) {
			snprintf(path, sizeof(path), "/proc/%d/task/%.16s/syscall", pid, e->d_name);
			count += waits_in(path, SYS_ioctl);
			continue;
		}
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", pid, e->d_name);
		f = fopen(path, "r");
		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			count += state != 'Z' && state != 'X';
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return count;
}

/* The device forgets a command; who waits for the place of it can be killed, and leaves nothing. */
TEST_F_TIMEOUT(admin, killed_while_waiting, 600)
{
	struct shared *shared = share();
	long timeouts, resets;
	unsigned int ms, waiting = 0;
	int status, ret;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, shared);
	/* Much longer than a kill takes; the test waits for its end. */
	nnpu_set_timeouts(5000, getenv("NNPU_DEBUG_KERNEL") ? 20000 : 10000);
	timeouts = nnpu_debugfs_value(self->fd, "stats", "admin_timeouts");
	resets = nnpu_debugfs_value(self->fd, "stats", "device_resets");
	ret = nnpu_inject(self->fd, NNPU_INJECT_ADMIN_STALL, 0);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	pid = client_fork(shared, unbind_once, NNPU_INJECT_ADMIN_STALL);
	ASSERT_LE(0, pid);
	for (ms = 0; ms < LONG_MS && waiting < THREADS && !shared->error; ms += 10) {
		waiting = count_threads(pid, true);
		usleep(10000);
	}
	EXPECT_EQ(THREADS, waiting);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	/* The thread whose command the device has stays for now. */
	for (ms = 0; ms < LONG_MS && count_threads(pid, false) > 1; ms += 10)
		usleep(10000);
	EXPECT_EQ(1, count_threads(pid, false));
	EXPECT_EQ(resets, nnpu_debugfs_value(self->fd, "stats", "device_resets"));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* One command was not answered, and one only. */
	EXPECT_EQ(timeouts + 1, nnpu_debugfs_value(self->fd, "stats", "admin_timeouts"));
	EXPECT_EQ(resets + 1, nnpu_debugfs_value(self->fd, "stats", "device_resets"));
	EXPECT_TRUE(nothing_left(self->fd));
	EXPECT_EQ(0, other_client());
	munmap(shared, sizeof(*shared));
}

TEST_HARNESS_MAIN
