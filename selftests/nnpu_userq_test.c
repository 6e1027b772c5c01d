// SPDX-License-Identifier: GPL-2.0-only
/*
 * User queues: what they do, what they refuse, how they end, and that more of
 * them than the hardware has work as well.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define WAIT_MS		120000
#define PAGE		4096u
#define ENTRIES		NNPU_UQ_ENTRIES
/* More than the hardware has queues. */
#define MANY		256
#define BUSY_QUEUES	24

static unsigned int count_of(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 0) : otherwise;
}

FIXTURE(userq)
{
	int fd;
	struct nnpu_uq uq;
	struct nnpu_job job;
};

FIXTURE_SETUP(userq)
{
	int ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);

	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(userq)
{
	/* Also after a test that ended half-way. */
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	nnpu_set_parameter("abort_timeout_ms", 1000);
	if (self->fd < 0)
		return;
	nnpu_job_fini(self->fd, &self->job);
	nnpu_uq_destroy(self->fd, &self->uq);
	close(self->fd);
}

/* Many times around both rings. */
TEST_F(userq, executes)
{
	uint32_t i;

	for (i = 0; i < 10 * ENTRIES; i++)
		ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, i));
}

TEST_F(userq, full_ring_in_order)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	uint16_t cid;

	nnpu_job_fill(&self->job, 7);
	for (cid = 0; cid < ENTRIES - 1; cid++) {
		nnpu_uq_job_sqe(&self->job, cid, &sqe);
		nnpu_uq_push(&self->uq, &sqe);
	}
	nnpu_uq_ring(&self->uq);
	for (cid = 0; cid < ENTRIES - 1; cid++) {
		ASSERT_EQ(0, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, NULL));
		EXPECT_EQ(cid, cqe.cid);
		EXPECT_EQ(NNPU_STATUS_SUCCESS, nnpu_cqe_status(&cqe));
	}
	EXPECT_TRUE(nnpu_job_correct(&self->job, 7));
	EXPECT_FALSE(nnpu_uq_pop(&self->uq, &cqe));
}

TEST_F(userq, create_refuses)
{
	struct drm_nnpu_queue_create good = {
		.ring_handle = self->uq.ring_handle,
		.sq_entries = 16, .cq_entries = 16, .cq_offset = PAGE,
	}, arg;
	/* The buffer of both rings has whole pages of the CPU. */
	uint64_t cpu_page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t end = cpu_page > 2 * PAGE ? cpu_page : 2 * PAGE;

#define REFUSED(error, field, value) do { \
		arg = good; \
		arg.field = (value); \
		EXPECT_EQ(error, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_CREATE, &arg)) \
			TH_LOG(#field " = " #value); \
	} while (0)

	REFUSED(-EINVAL, flags, 1);
	REFUSED(-ENOENT, ctx, 1);
	REFUSED(-EINVAL, priority, 3);
	REFUSED(-EINVAL, sq_entries, 0);
	REFUSED(-EINVAL, sq_entries, 1);
	REFUSED(-EINVAL, sq_entries, 3);
	REFUSED(-EINVAL, sq_entries, 128);
	REFUSED(-EINVAL, cq_entries, 0);
	REFUSED(-EINVAL, cq_entries, 12);
	REFUSED(-EINVAL, cq_entries, 256);
	REFUSED(-EINVAL, sq_offset, 64);
	REFUSED(-EINVAL, cq_offset, 0);
	REFUSED(-EINVAL, cq_offset, PAGE + 32);
	REFUSED(-EINVAL, cq_offset, end);
	REFUSED(-EINVAL, sq_offset, ~0ull << 12);
	REFUSED(-ENOENT, ring_handle, 0);
	REFUSED(-ENOENT, ring_handle, 0x7fffffff);
#undef REFUSED
}

TEST_F(userq, unknown_queue)
{
	struct drm_nnpu_queue_destroy destroy = { .queue = 0x7fffffff };
	struct drm_nnpu_queue_wait wait = { .queue = 0x7fffffff };

	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy));
	EXPECT_EQ(-ENOENT, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &wait));
	destroy = (struct drm_nnpu_queue_destroy) { .queue = self->uq.id, .flags = 1 };
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy));
	wait = (struct drm_nnpu_queue_wait) { .queue = self->uq.id, .cq_head = ENTRIES };
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &wait));
	wait = (struct drm_nnpu_queue_wait) { .queue = self->uq.id, .flags = 1 };
	EXPECT_EQ(-EINVAL, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &wait));
}

/* A queue of one file means nothing in another. */
TEST_F(userq, other_file)
{
	struct drm_nnpu_queue_destroy destroy = { .queue = self->uq.id };
	int fd = nnpu_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENOENT, nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy));
	close(fd);
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
}

TEST_F(userq, wait_times_out)
{
	uint32_t state;

	EXPECT_EQ(-ETIME, nnpu_uq_sleep(self->fd, &self->uq, 0, &state, NULL));
	EXPECT_EQ(-ETIME, nnpu_uq_sleep(self->fd, &self->uq, 20, &state, NULL));
	EXPECT_EQ(DRM_NNPU_QUEUE_STATE_READY, state);
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
}

/* Each time in the past is as good as the other, however long ago. */
TEST_F(userq, wait_until_the_past)
{
	struct drm_nnpu_queue_wait wait = { .queue = self->uq.id };
	const int64_t past[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 1 };
	unsigned int i;

	for (i = 0; i < sizeof(past) / sizeof(past[0]); i++) {
		wait.timeout_ns = past[i];
		EXPECT_EQ(-ETIME, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &wait));
	}
}

/* A queue that has never been rung has no completion, whatever its owner says it has seen. */
TEST_F(userq, wait_before_the_first_doorbell)
{
	struct drm_nnpu_queue_wait wait = { .queue = self->uq.id };

	for (wait.cq_head = 0; wait.cq_head < 3; wait.cq_head++)
		EXPECT_EQ(-ETIME, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &wait));
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
}

static struct nnpu_job *slow_job(int fd, struct nnpu_job *job)
{
	return nnpu_job_init_slow(fd, job, 64) ? NULL : job;
}

static void push_job(struct nnpu_uq *uq, struct nnpu_job *job, uint16_t cid)
{
	struct nnpu_sqe_execute sqe;

	nnpu_uq_job_sqe(job, cid, &sqe);
	nnpu_uq_push(uq, &sqe);
}

/* The interrupt reaches the waiter that armed it, for each of the three ways to wait. */
TEST_F(userq, armed_wait)
{
	struct pollfd p = { .fd = self->uq.fd, .events = POLLIN };
	struct nnpu_job slow;
	struct nnpu_cqe cqe;
	uint64_t count;
	int i;

	ASSERT_NE(NULL, slow_job(self->fd, &slow));
	for (i = 0; i < 3; i++) {
		push_job(&self->uq, &slow, (uint16_t)i);
		nnpu_uq_ring(&self->uq);
		if (i == 0) {
			while (!nnpu_uq_pop(&self->uq, &cqe))
				ASSERT_EQ(0, nnpu_uq_sleep(self->fd, &self->uq, WAIT_MS, NULL,
							   NULL));
			continue;
		}
		/* Not armed: nothing but changes of state. */
		do {
			while (poll(&p, 1, 0) == 1)
				ASSERT_EQ((ssize_t)sizeof(count),
					  read(self->uq.fd, &count, sizeof(count)));
			self->uq.db[NNPU_DB_CQ_ARM / 4] = self->uq.head;
			ASSERT_EQ(1, poll(&p, 1, WAIT_MS));
			ASSERT_EQ(POLLIN, p.revents);
		} while (!nnpu_uq_pop(&self->uq, &cqe));
		EXPECT_EQ(i, cqe.cid);
	}
	while (poll(&p, 1, 0) == 1)
		ASSERT_EQ((ssize_t)sizeof(count), read(self->uq.fd, &count, sizeof(count)));
	EXPECT_EQ(0, poll(&p, 1, 20));
	EXPECT_EQ(-1, read(self->uq.fd, &count, 4));
	nnpu_job_fini(self->fd, &slow);
}

TEST_F(userq, epoll_sees_the_end)
{
	struct drm_nnpu_queue_destroy destroy = { .queue = self->uq.id };
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(EPOLL_CLOEXEC);

	ASSERT_LE(0, ep);
	ASSERT_EQ(0, epoll_ctl(ep, EPOLL_CTL_ADD, self->uq.fd, &event));
	EXPECT_EQ(0, epoll_wait(ep, &event, 1, 0));
	ASSERT_EQ(0, nnpu_ioctl(self->fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy));
	ASSERT_EQ(1, epoll_wait(ep, &event, 1, WAIT_MS));
	EXPECT_EQ(EPOLLIN | EPOLLERR | EPOLLHUP, event.events);
	close(ep);
	/* The page is still there and leads nowhere. */
	self->uq.db[NNPU_DB_SQ_TAIL / 4] = 3;
	self->uq.db[NNPU_DB_CQ_ARM / 4] = 0;
}

TEST_F(userq, one_mapping)
{
	const size_t size = self->uq.db_size;
	const int rw = PROT_READ | PROT_WRITE;
	void *db = (void *)self->uq.db, *other;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, rw, MAP_SHARED, self->uq.fd, 0));
	EXPECT_EQ(EBUSY, errno);
	/* Neither moved nor grown nor duplicated. */
	other = mmap(NULL, 4 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, other);
	EXPECT_EQ(MAP_FAILED, mremap(db, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, other));
	EXPECT_EQ(MAP_FAILED, mremap(db, size, 2 * size, MREMAP_MAYMOVE));
	EXPECT_EQ(MAP_FAILED, mremap(db, 0, size, MREMAP_MAYMOVE));
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));

	ASSERT_EQ(0, munmap(db, size));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, rw, MAP_PRIVATE, self->uq.fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * size, rw, MAP_SHARED, self->uq.fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, rw, MAP_SHARED, self->uq.fd, (off_t)size));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, PROT_READ, MAP_SHARED, self->uq.fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, size, rw | PROT_EXEC, MAP_SHARED, self->uq.fd, 0));
	other = mmap(NULL, size, rw, MAP_SHARED, self->uq.fd, 0);
	ASSERT_NE(MAP_FAILED, other);
	self->uq.db = other;
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 2));
}

/* A child inherits the descriptor, but neither the mapping nor the right to one. */
TEST_F(userq, not_for_children)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (mmap(NULL, self->uq.db_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 self->uq.fd, 0) != MAP_FAILED || errno != EPERM)
			_exit(1);
		signal(SIGSEGV, SIG_DFL);
		self->uq.db[NNPU_DB_SQ_TAIL / 4] = 0;
		_exit(2);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(status));
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 2));
}

/* A command may name only objects of its context; errors arrive as completions. */
TEST_F(userq, errors_complete)
{
	struct nnpu_sqe_execute good, sqe;
	struct nnpu_cqe cqe;

	nnpu_uq_job_sqe(&self->job, 5, &good);
#define COMPLETES(status_, change) do { \
		sqe = good; \
		change; \
		nnpu_uq_push(&self->uq, &sqe); \
		nnpu_uq_ring(&self->uq); \
		ASSERT_EQ(0, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, NULL)); \
		EXPECT_EQ(status_, nnpu_cqe_status(&cqe)) \
			TH_LOG(#change); \
	} while (0)

	COMPLETES(NNPU_STATUS_INVALID_OPCODE, sqe.opcode = 0x7f);
	COMPLETES(NNPU_STATUS_INVALID_FIELD, sqe.flags = 0x80);
	COMPLETES(NNPU_STATUS_INVALID_FIELD, sqe.flags = NNPU_EXEC_ARGS_DMA);
	COMPLETES(NNPU_STATUS_INVALID_FIELD, sqe.ctx = 1);
	COMPLETES(NNPU_STATUS_INVALID_PROGRAM, sqe.program = 0);
	COMPLETES(NNPU_STATUS_INVALID_PROGRAM, sqe.program = 60);
	COMPLETES(NNPU_STATUS_INVALID_SLOT, sqe.args_slot = 200);
	COMPLETES(NNPU_STATUS_SLOT_BOUNDS, sqe.args = 1ull << 40);
	COMPLETES(NNPU_STATUS_SUCCESS, sqe.cid = 9);
	EXPECT_EQ(9, cqe.cid);
#undef COMPLETES
}

/* A doorbell value outside of the ring stops the queue, with a reason, and no other queue. */
TEST_F(userq, bad_doorbell_stops)
{
	struct nnpu_uq other;
	uint32_t state, reason;

	ASSERT_EQ(0, nnpu_uq_create(self->fd, &other, DRM_NNPU_PRIORITY_LOW, ENTRIES, ENTRIES));
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &other, &self->job, 1));
	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	self->uq.db[NNPU_DB_SQ_TAIL / 4] = 0xffffffff;
	do {
		ASSERT_EQ(0, nnpu_uq_sleep(self->fd, &self->uq, WAIT_MS, &state, &reason));
	} while (state == DRM_NNPU_QUEUE_STATE_READY);
	EXPECT_EQ(DRM_NNPU_QUEUE_STATE_STOPPED, state);
	EXPECT_EQ(NNPU_STATUS_INVALID_FIELD, reason);
	self->uq.db[NNPU_DB_SQ_TAIL / 4] = 1;
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &other, &self->job, 2));
	nnpu_uq_destroy(self->fd, &other);
}

/* In use: high. Idle: the hardware queue and the level go, the queue stays. */
TEST_F(userq, idle_gives_way)
{
	unsigned int i;
	uint32_t seed;

	if (nnpu_debugfs_value(self->fd, "registers", "PERF_LEVEL") < 0)
		NNPU_SKIP(return, "debugfs is not readable");
	for (seed = 1; seed < 4; seed++) {
		/* Not idle for long enough, however late this process looks. */
		nnpu_set_parameter("queue_idle_ms", 600000);
		EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, seed));
		EXPECT_EQ(NNPU_PERF_HIGH, nnpu_debugfs_value(self->fd, "registers", "PERF_LEVEL"));
		nnpu_set_parameter("queue_idle_ms", 1000);
		for (i = 0; i < 600; i++) {
			if (nnpu_debugfs_value(self->fd, "registers", "PERF_LEVEL") != NNPU_PERF_HIGH)
				break;
			usleep(100000);
		}
		ASSERT_NE(600, i);
		EXPECT_EQ(NNPU_QSTATE_ABSENT, nnpu_debugfs_value(self->fd, "registers", "Q2_STATE"));
	}
}

/* What fdinfo says of a file's use of the device, ns; -1: nothing. */
static long long engine_ns(int fd)
{
	long long value, found = -1;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "drm-engine-npu: %lld ns", &value) == 1)
			found = value;
	fclose(f);
	return found;
}

/* fdinfo counts what queues use, while they run, when they are parked and afterwards. */
TEST_F_TIMEOUT(userq, fdinfo_counts, 240)
{
	struct nnpu_job slow;
	long long used = 0, before, after, other;
	int fd = nnpu_open(), i;
	struct nnpu_cqe cqe;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init_slow(self->fd, &slow, 128));
	before = engine_ns(self->fd);
	ASSERT_LE(0, before);
	for (i = 0; i < 6; i++) {
		push_job(&self->uq, &slow, (uint16_t)i);
		nnpu_uq_ring(&self->uq);
		ASSERT_EQ(0, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, NULL));
		used += (long long)cqe.result;
		/*
		 * A queue that was parked wakes up on another hardware queue, or on the same
		 * one.
		 */
		if (i != 2)
			continue;
		nnpu_set_parameter("queue_idle_ms", 10);
		while (nnpu_debugfs_value(self->fd, "registers", "Q2_STATE") > NNPU_QSTATE_ABSENT)
			usleep(10000);
		nnpu_set_parameter("queue_idle_ms", 1000);
	}
	/* The engine is through with a job a little after its completion; whole microseconds. */
	do {
		after = engine_ns(self->fd);
	} while (after - before < used - 2000);
	nnpu_uq_destroy(self->fd, &self->uq);
	EXPECT_LE(after, engine_ns(self->fd));
	other = engine_ns(fd);
	EXPECT_EQ(0, other);
	TH_LOG("%lld us of jobs, %lld us of the device", used / 1000, (after - before) / 1000);
	nnpu_job_fini(self->fd, &slow);
	close(fd);
}

/* Sixteen times as many queues as a device has, one after the other and mixed. */
TEST_F_TIMEOUT(userq, many_queues, 240)
{
	struct nnpu_uq *queues = calloc(MANY, sizeof(*queues));
	uint32_t i, round;

	ASSERT_NE(NULL, queues);
	for (i = 0; i < MANY; i++)
		ASSERT_EQ(0, nnpu_uq_create(self->fd, &queues[i], i % 3, 4, 8));
	for (round = 0; round < 3; round++)
		for (i = 0; i < MANY; i++)
			ASSERT_EQ(0, nnpu_uq_run(self->fd, &queues[(i * 7 + round) % MANY],
						 &self->job, round * MANY + i));
	for (i = 0; i < MANY; i++)
		nnpu_uq_destroy(self->fd, &queues[i]);
	free(queues);
}

/* More busy queues than the device has; each is rung once only. */
TEST_F_TIMEOUT(userq, busy_queues_take_turns, 240)
{
	struct nnpu_uq queues[BUSY_QUEUES];
	struct nnpu_job slow;
	struct nnpu_cqe cqe;
	uint16_t cid;
	int i;

	ASSERT_NE(NULL, slow_job(self->fd, &slow));
	for (i = 0; i < BUSY_QUEUES; i++) {
		ASSERT_EQ(0, nnpu_uq_create(self->fd, &queues[i], 1, ENTRIES, ENTRIES));
		for (cid = 0; cid < 5; cid++)
			push_job(&queues[i], &slow, cid);
		nnpu_uq_ring(&queues[i]);
	}
	for (i = BUSY_QUEUES; i--;) {
		for (cid = 0; cid < 5; cid++) {
			ASSERT_EQ(0, nnpu_uq_take(self->fd, &queues[i], &cqe, WAIT_MS, NULL))
				TH_LOG("queue %d, job %u", i, cid);
			EXPECT_EQ(cid, cqe.cid);
			EXPECT_EQ(NNPU_STATUS_SUCCESS, nnpu_cqe_status(&cqe));
		}
		nnpu_uq_destroy(self->fd, &queues[i]);
	}
	nnpu_job_fini(self->fd, &slow);
}

/* A waiter sleeps while its queue is destroyed by another thread. */
static void *destroy_later(void *arg)
{
	struct nnpu_uq *uq = arg;
	struct drm_nnpu_queue_destroy destroy = { .queue = uq->id };

	usleep(50000);
	nnpu_ioctl((int)uq->ring_handle, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy);
	return NULL;
}

TEST_F(userq, destroy_wakes)
{
	/* The thread gets the file where it expects a handle. */
	struct nnpu_uq arg = { .id = self->uq.id, .ring_handle = (uint32_t)self->fd };
	struct nnpu_job slow;
	pthread_t thread;
	uint32_t state;

	ASSERT_NE(NULL, slow_job(self->fd, &slow));
	push_job(&self->uq, &slow, 0);
	push_job(&self->uq, &slow, 1);
	nnpu_uq_ring(&self->uq);
	ASSERT_EQ(0, pthread_create(&thread, NULL, destroy_later, &arg));
	for (;;) {
		struct nnpu_cqe cqe;
		int ret;

		while (nnpu_uq_pop(&self->uq, &cqe))
			;
		ret = nnpu_uq_sleep(self->fd, &self->uq, WAIT_MS, &state, NULL);
		/* It had a reference, or came too late to get one. */
		if (ret == -ENOENT || (!ret && state == DRM_NNPU_QUEUE_STATE_DESTROYED))
			break;
		ASSERT_EQ(0, ret);
	}
	pthread_join(thread, NULL);
	nnpu_job_fini(self->fd, &slow);
}

/*
 * The process may free its memory when it sees the end, so it must not see it before the
 * device has let go. Here DESTROY_QUEUE has no answer: the driver gives the command up, resets
 * the device, and then says that the queue has ended, for the reason it ended.
 */
TEST_F_TIMEOUT(userq, end_follows_destroy, 300)
{
	struct nnpu_uq arg = { .id = self->uq.id, .ring_handle = (uint32_t)self->fd };
	struct pollfd p = { .fd = self->uq.fd };
	pthread_t thread;
	long before;
	int ret;

	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	before = nnpu_debugfs_value(self->fd, "stats", "admin_timeouts");
	ASSERT_LE(0, before);
	ret = nnpu_inject(self->fd, NNPU_INJECT_ADMIN_STALL, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	ASSERT_EQ(0, pthread_create(&thread, NULL, destroy_later, &arg));
	/* The end wakes; a state that is told too early is seen without. */
	while (!poll(&p, 1, 10))
		;
	EXPECT_LT(before, nnpu_debugfs_value(self->fd, "stats", "admin_timeouts"));
	EXPECT_EQ(POLLERR | POLLHUP, p.revents);
	pthread_join(thread, NULL);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
}

/* Memory is unbound while jobs in the ring name it: the jobs fail, nothing else happens. */
TEST_F(userq, slot_unbound_in_flight)
{
	struct nnpu_job slow, victim;
	struct nnpu_cqe cqe;
	uint16_t cid;

	ASSERT_NE(NULL, slow_job(self->fd, &slow));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &victim, 64));
	push_job(&self->uq, &slow, 0);
	push_job(&self->uq, &victim, 1);
	nnpu_uq_ring(&self->uq);
	nnpu_job_fini(self->fd, &victim);
	for (cid = 0; cid < 2; cid++) {
		ASSERT_EQ(0, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, NULL));
		EXPECT_EQ(cid, cqe.cid);
	}
	nnpu_job_fini(self->fd, &slow);
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
}

/* Processes that die with a full ring leave nothing and disturb nobody. */
TEST_F_TIMEOUT(userq, killed_with_full_ring, 3600)
{
	unsigned int kills = count_of("NNPU_KILLS", 8), i;
	long contexts = nnpu_debugfs_value(self->fd, "objects", "contexts");
	long queues = nnpu_debugfs_value(self->fd, "objects", "queues");
	char ready;

	for (i = 0; i < kills; i++) {
		int status, pipefd[2];
		pid_t pid;

		ASSERT_EQ(0, pipe(pipefd));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct nnpu_job slow;
			struct nnpu_uq uq;
			struct nnpu_cqe cqe;
			int fd = nnpu_open();

			if (fd < 0 || !slow_job(fd, &slow) ||
			    nnpu_uq_create(fd, &uq, 1, ENTRIES, ENTRIES))
				_exit(1);
			while (uq.tail != ENTRIES - 1)
				push_job(&uq, &slow, (uint16_t)uq.tail);
			nnpu_uq_ring(&uq);
			if (write(pipefd[1], "r", 1) != 1)
				_exit(1);
			for (;;)
				if (!nnpu_uq_take(fd, &uq, &cqe, WAIT_MS, NULL)) {
					push_job(&uq, &slow, cqe.cid);
					nnpu_uq_ring(&uq);
				}
		}
		close(pipefd[1]);
		ASSERT_EQ(1, read(pipefd[0], &ready, 1));
		close(pipefd[0]);
		usleep(1000 * (i % 10));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, i));
	}
	for (i = 0; i < 300 && nnpu_debugfs_value(self->fd, "objects", "contexts") != contexts; i++)
		usleep(100000);
	EXPECT_EQ(contexts, nnpu_debugfs_value(self->fd, "objects", "contexts"));
	EXPECT_EQ(queues, nnpu_debugfs_value(self->fd, "objects", "queues"));
}

/* A thread that writes random values into its rings and doorbells until told to stop. */
struct scribbler {
	int fd;
	struct nnpu_job job;
	unsigned long mutations;
	unsigned long restarts;
	uint64_t random;
	int error;
};

static uint64_t next_random(struct scribbler *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static void *scribble(void *arg)
{
	struct scribbler *s = arg;
	struct nnpu_uq uq = { 0 };
	unsigned long i;

	for (i = 0; i < s->mutations; i++) {
		uint64_t r = next_random(s);
		uint32_t state;

		if (!uq.ring || (!(i & 0x1ff) &&
				 !nnpu_uq_sleep(s->fd, &uq, 0, &state, NULL) &&
				 state != DRM_NNPU_QUEUE_STATE_READY)) {
			if (uq.ring)
				nnpu_uq_destroy(s->fd, &uq);
			s->error = nnpu_uq_create(s->fd, &uq, r % 3, ENTRIES, ENTRIES);
			if (s->error)
				return NULL;
			s->restarts++;
		}
		switch (r >> 60) {
		case 0 ... 1:
			/* A good entry, so that the device has something to run. */
			push_job(&uq, &s->job, (uint16_t)r);
			break;
		case 2:
			uq.db[NNPU_DB_SQ_TAIL / 4] = r & (ENTRIES - 1);
			break;
		case 3:
			uq.db[NNPU_DB_CQ_HEAD / 4] = r & (ENTRIES - 1);
			break;
		case 4:
			uq.db[NNPU_DB_CQ_ARM / 4] = r & (ENTRIES - 1);
			break;
		case 5:
			if (!(r & 0xff00))
				uq.db[(r >> 16) % (PAGE / 4)] = (uint32_t)next_random(s);
			break;
		default:
			((uint8_t *)uq.ring)[(r >> 8) % (2 * PAGE)] = (uint8_t)r;
			break;
		}
	}
	nnpu_uq_destroy(s->fd, &uq);
	return NULL;
}

TEST_F_TIMEOUT(userq, hostile_rings, 36000)
{
	struct scribbler s = {
		.mutations = count_of("NNPU_MUTATIONS", 30000),
		.random = 88172645463325252ull,
	};
	uint32_t i, runs = 0;
	pthread_t thread;

	s.fd = nnpu_open();
	ASSERT_LE(0, s.fd);
	ASSERT_EQ(0, nnpu_job_init(s.fd, &s.job, 64));
	ASSERT_EQ(0, pthread_create(&thread, NULL, scribble, &s));
	for (i = 0; pthread_tryjoin_np(thread, NULL); i++) {
		ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, i));
		runs++;
	}
	EXPECT_EQ(0, s.error);
	TH_LOG("%lu mutations, %lu queues stopped, %u good runs beside them", s.mutations,
	       s.restarts, runs);
	nnpu_job_fini(s.fd, &s.job);
	close(s.fd);
	EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
}

/* ---- faults ---- */

FIXTURE(userq_fault)
{
	int fd;
	struct nnpu_uq uq;
	struct nnpu_job job;
};

FIXTURE_VARIANT(userq_fault)
{
	unsigned int kind;
	/* What the job's completion says; -1: there is none. */
	int status;
};

FIXTURE_VARIANT_ADD(userq_fault, job_stall)
{
	.kind = NNPU_INJECT_JOB_STALL,
	.status = NNPU_STATUS_ABORTED,
};

FIXTURE_VARIANT_ADD(userq_fault, job_stuck)
{
	.kind = NNPU_INJECT_JOB_STUCK,
	.status = -1,
};

FIXTURE_VARIANT_ADD(userq_fault, fatal)
{
	.kind = NNPU_INJECT_FATAL,
	.status = -1,
};

FIXTURE_VARIANT_ADD(userq_fault, lost_irq)
{
	.kind = NNPU_INJECT_LOST_IRQ,
	.status = NNPU_STATUS_SUCCESS,
};

FIXTURE_VARIANT_ADD(userq_fault, dma_error)
{
	.kind = NNPU_INJECT_DMA_ERROR,
	.status = NNPU_STATUS_DMA_ERROR,
};

FIXTURE_SETUP(userq_fault)
{
	int ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);

	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
}

FIXTURE_TEARDOWN(userq_fault)
{
	if (self->fd < 0)
		return;
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	nnpu_inject(self->fd, variant->kind, 0);
	close(self->fd);
	nnpu_uq_destroy(self->fd, &self->uq);
}

/* The waiter gets a definite status, and the device works for the next job. */
TEST_F_TIMEOUT(userq_fault, definite_end, 300)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_job next;
	struct nnpu_cqe cqe;
	struct nnpu_uq uq;
	uint32_t state;
	int ret, fd;

	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	ret = nnpu_inject(self->fd, variant->kind, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_job_fill(&self->job, 2);
	nnpu_uq_job_sqe(&self->job, 2, &sqe);
	nnpu_uq_push(&self->uq, &sqe);
	nnpu_uq_ring(&self->uq);
	ret = nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, &state);
	if (variant->status >= 0) {
		ASSERT_EQ(0, ret);
		EXPECT_EQ(variant->status, nnpu_cqe_status(&cqe));
		EXPECT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 3));
	} else {
		ASSERT_EQ(-ECANCELED, ret);
		EXPECT_TRUE(state == DRM_NNPU_QUEUE_STATE_LOST ||
			    state == DRM_NNPU_QUEUE_STATE_HUNG);
		/* Nobody waits for a queue that has ended. */
		nnpu_uq_push(&self->uq, &sqe);
		nnpu_uq_ring(&self->uq);
		EXPECT_EQ(-ECANCELED, nnpu_uq_take(self->fd, &self->uq, &cqe, WAIT_MS, &state));
	}
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &next, 64));
	ASSERT_EQ(0, nnpu_uq_create(fd, &uq, 2, ENTRIES, ENTRIES));
	EXPECT_EQ(0, nnpu_uq_run(fd, &uq, &next, 4));
	EXPECT_EQ(0, nnpu_job_run(fd, &next, 5));
	nnpu_uq_destroy(fd, &uq);
	nnpu_job_fini(fd, &next);
	close(fd);
}

/*
 * A job that does not heed its ABORT has abort_timeout_ms for that. Others do not wait for it:
 * their queues get hardware queues and end meanwhile.
 */
TEST_F_TIMEOUT(userq, others_go_on_while_a_job_is_aborted, 600)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_job other;
	long hangs, resets;
	struct nnpu_uq uq;
	int ret, fd, i;

	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &other, 64));
	hangs = nnpu_debugfs_value(fd, "stats", "hangs");
	resets = nnpu_debugfs_value(fd, "stats", "queue_resets");
	ASSERT_LE(0, hangs);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
	nnpu_set_parameter("abort_timeout_ms", 60000);
	ret = nnpu_inject(self->fd, NNPU_INJECT_JOB_STUCK, 1);
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);
	nnpu_uq_job_sqe(&self->job, 1, &sqe);
	nnpu_uq_push(&self->uq, &sqe);
	nnpu_uq_ring(&self->uq);
	while (nnpu_debugfs_value(fd, "stats", "hangs") == hangs)
		usleep(10000);
	/* The engine is taken, so their jobs wait; the doorbell needs a hardware queue. */
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, nnpu_uq_create(fd, &uq, 2, ENTRIES, ENTRIES));
		nnpu_uq_job_sqe(&other, 1, &sqe);
		nnpu_uq_push(&uq, &sqe);
		nnpu_uq_ring(&uq);
		nnpu_uq_destroy(fd, &uq);
	}
	EXPECT_EQ(resets, nnpu_debugfs_value(fd, "stats", "queue_resets"));
	/* Before the file is closed, which would wait for it. */
	nnpu_set_parameter("abort_timeout_ms", 1000);
	nnpu_job_fini(fd, &other);
	close(fd);
	nnpu_inject(self->fd, NNPU_INJECT_JOB_STUCK, 0);
	nnpu_uq_destroy(self->fd, &self->uq);
	close(self->fd);
	self->fd = -1;
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
}

TEST_HARNESS_MAIN
