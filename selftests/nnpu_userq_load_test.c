// SPDX-License-Identifier: GPL-2.0-only
/*
 * Several user queues at work at the same time: what a hang of one means for the
 * others, in which order the device serves them, and what those that ring for nothing do to others.
 *
 * No result depends on how fast anything is. The order of jobs is what the device
 * itself saw: each job leaves its result block in a log, and a job that copies the
 * log shows which of the others had ended when it ran. Times are those of the
 * device's clock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

/* Longer than the driver may take for its whole ladder. */
#define WAIT_MS		120000
#define PROCESSES	4
#define BURSTS		2
#define DEPTH		2

/* ---- a hang among bursts ---- */

/* What a burst has come to; in memory that all processes share. */
struct burst {
	atomic_ulong good;
	atomic_uint aborted;
	/* DRM_NNPU_QUEUE_STATE_* of its end, READY: it goes on. */
	atomic_uint ended;
	/*
	 * Errors that no injected fault explains: wrong results, an endless wait, other
	 * statuses.
	 */
	atomic_int error;
	uint64_t longest_ns;
};

struct process {
	struct burst bursts[BURSTS];
	/* How often the driver charged it with a job without progress. */
	uint64_t timedout;
	int next;
};

struct shared {
	atomic_bool stop;
	struct process processes[PROCESSES];
};

struct burst_thread {
	struct shared *shared;
	struct burst *burst;
	int fd;
	struct nnpu_uq uq;
	struct nnpu_job jobs[DEPTH];
};

static void burst_push(struct burst_thread *t, uint32_t n)
{
	struct nnpu_job *job = &t->jobs[n % DEPTH];
	struct nnpu_sqe_execute sqe;

	nnpu_job_fill(job, n);
	nnpu_uq_job_sqe(job, (uint16_t)n, &sqe);
	nnpu_uq_push(&t->uq, &sqe);
	nnpu_uq_ring(&t->uq);
}

/* The next completion, which must be that of job @n: 0, or why the burst is over. */
static int burst_take(struct burst_thread *t, uint32_t n)
{
	uint32_t state = DRM_NNPU_QUEUE_STATE_READY;
	uint64_t waited = nnpu_now_ns();
	struct burst *b = t->burst;
	struct nnpu_cqe cqe;
	int ret;

	ret = nnpu_uq_take(t->fd, &t->uq, &cqe, WAIT_MS, &state);
	waited = nnpu_now_ns() - waited;
	if (waited > b->longest_ns)
		b->longest_ns = waited;
	if (ret == -ECANCELED) {
		atomic_store(&b->ended, state);
		return ret;
	}
	if (!ret && cqe.cid != (uint16_t)n)
		ret = -EBADMSG;
	if (!ret && nnpu_cqe_status(&cqe) == NNPU_STATUS_ABORTED)
		atomic_fetch_add(&b->aborted, 1);
	else if (!ret && !nnpu_cqe_status(&cqe) && nnpu_job_correct(&t->jobs[n % DEPTH], n))
		atomic_fetch_add(&b->good, 1);
	else if (!ret)
		ret = -EPROTO;
	if (ret)
		atomic_store(&b->error, ret);
	return ret;
}

/* Jobs without pause, DEPTH of them in the ring, until told to stop. */
static void *burst_run(void *arg)
{
	struct burst_thread *t = arg;
	uint32_t pushed, taken;

	for (pushed = 0; pushed < DEPTH; pushed++)
		burst_push(t, pushed);
	for (taken = 0; taken < pushed; taken++) {
		if (burst_take(t, taken))
			break;
		if (!atomic_load(&t->shared->stop))
			burst_push(t, pushed++);
	}
	return NULL;
}

static int burst_init(struct burst_thread *t, int fd)
{
	unsigned int i;
	int ret;

	t->fd = fd;
	ret = nnpu_uq_create(fd, &t->uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
			     NNPU_UQ_ENTRIES);
	for (i = 0; !ret && i < DEPTH; i++)
		ret = nnpu_job_init(fd, &t->jobs[i], 64);
	return ret;
}

/* Does a queue work that is made now? 0 or -errno. */
static int next_works(void)
{
	struct nnpu_uq uq;
	struct nnpu_job job;
	int fd, ret = nnpu_uq_setup(&fd, &uq, &job);

	if (ret)
		return ret;
	ret = nnpu_uq_run(fd, &uq, &job, 5);
	nnpu_job_fini(fd, &job);
	nnpu_uq_destroy(fd, &uq);
	close(fd);
	return ret;
}

/* One of the processes. Its exit status only says that it has come to its end. */
static void process_run(struct shared *shared, struct process *p)
{
	struct drm_nnpu_context_info info = { 0 };
	struct burst_thread threads[BURSTS];
	uint32_t size = sizeof(info);
	pthread_t ids[BURSTS];
	int fd = nnpu_open();
	unsigned int i;

	memset(threads, 0, sizeof(threads));
	for (i = 0; i < BURSTS; i++) {
		threads[i].shared = shared;
		threads[i].burst = &p->bursts[i];
		if (fd < 0 || burst_init(&threads[i], fd))
			_exit(1);
	}
	for (i = 0; i < BURSTS; i++)
		if (pthread_create(&ids[i], NULL, burst_run, &threads[i]))
			_exit(1);
	for (i = 0; i < BURSTS; i++)
		pthread_join(ids[i], NULL);
	if (nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size))
		_exit(1);
	p->timedout = info.jobs_timedout;
	p->next = next_works();
	_exit(0);
}

/* Every burst has ended, or executed @more jobs since @since. */
static bool all_beyond(struct shared *s, unsigned long since[PROCESSES][BURSTS],
		       unsigned long more)
{
	unsigned int p, i;

	for (p = 0; p < PROCESSES; p++)
		for (i = 0; i < BURSTS; i++) {
			struct burst *b = &s->processes[p].bursts[i];

			if (!atomic_load(&b->ended) && !atomic_load(&b->error) &&
			    atomic_load(&b->good) < since[p][i] + more)
				return false;
		}
	return true;
}

static bool wait_beyond(struct shared *s, unsigned long since[PROCESSES][BURSTS],
			unsigned long more)
{
	uint64_t end = nnpu_now_ns() + WAIT_MS * 1000000ull;

	while (!all_beyond(s, since, more)) {
		if (nnpu_now_ns() >= end)
			return false;
		usleep(2000);
	}
	return true;
}

/* The fault has reached somebody. */
static bool wait_fault(struct shared *s)
{
	uint64_t end = nnpu_now_ns() + WAIT_MS * 1000000ull;
	unsigned int p, i;

	for (;;) {
		for (p = 0; p < PROCESSES; p++)
			for (i = 0; i < BURSTS; i++)
				if (atomic_load(&s->processes[p].bursts[i].aborted) ||
				    atomic_load(&s->processes[p].bursts[i].ended))
					return true;
		if (nnpu_now_ns() >= end)
			return false;
		usleep(2000);
	}
}

FIXTURE(hang)
{
	int fd;
	struct nnpu_uq uq;
	struct nnpu_job job;
	struct shared *shared;
};

FIXTURE_VARIANT(hang)
{
	unsigned int kind;
	/* The device had to be reset: all queues end, one of them as guilty. */
	bool reset;
};

FIXTURE_VARIANT_ADD(hang, job_stall)
{
	.kind = NNPU_INJECT_JOB_STALL,
};

FIXTURE_VARIANT_ADD(hang, job_stuck)
{
	.kind = NNPU_INJECT_JOB_STUCK,
	.reset = true,
};

FIXTURE_SETUP(hang)
{
	int ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);

	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->shared);
	nnpu_set_timeouts(NNPU_TIMEOUTS_SHORT);
}

FIXTURE_TEARDOWN(hang)
{
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	nnpu_inject(self->fd, variant->kind, 0);
	munmap(self->shared, sizeof(*self->shared));
	close(self->fd);
}

/* Eight bursts of four processes; a job of one of them hangs. */
TEST_F_TIMEOUT(hang, among_bursts, 600)
{
	unsigned long since[PROCESSES][BURSTS] = { 0 };
	unsigned int aborted = 0, hung = 0, lost = 0, guilty = 0, p, i;
	struct shared *s = self->shared;
	long hangs, resets, queue_resets;
	uint64_t longest = 0;
	pid_t pids[PROCESSES];
	int ret, status;

	for (p = 0; p < PROCESSES; p++) {
		pids[p] = fork();
		ASSERT_LE(0, pids[p]);
		if (!pids[p])
			process_run(s, &s->processes[p]);
	}
	ASSERT_TRUE(wait_beyond(s, since, 5));
	hangs = nnpu_debugfs_value(self->fd, "stats", "hangs");
	resets = nnpu_debugfs_value(self->fd, "stats", "device_resets");
	queue_resets = nnpu_debugfs_value(self->fd, "stats", "queue_resets");
	ret = nnpu_inject(self->fd, variant->kind, 1);
	if (!ret) {
		EXPECT_TRUE(wait_fault(s));
		for (p = 0; p < PROCESSES; p++)
			for (i = 0; i < BURSTS; i++)
				since[p][i] = atomic_load(&s->processes[p].bursts[i].good);
		/* After a reset no burst executes anything; all of them must end. */
		EXPECT_TRUE(wait_beyond(s, since, variant->reset ? 1ul << 40 : 50));
	}
	atomic_store(&s->stop, true);
	for (p = 0; p < PROCESSES; p++) {
		ASSERT_EQ(pids[p], waitpid(pids[p], &status, 0));
		EXPECT_EQ(0, status);
	}
	if (ret == -EOPNOTSUPP)
		NNPU_SKIP(return, "device without fault injection");
	ASSERT_EQ(0, ret);

	for (p = 0; p < PROCESSES; p++) {
		struct process *process = &s->processes[p];
		unsigned int faults = 0;

		for (i = 0; i < BURSTS; i++) {
			struct burst *b = &process->bursts[i];

			EXPECT_EQ(0, atomic_load(&b->error))
				TH_LOG("process %u, burst %u", p, i);
			aborted += b->aborted;
			hung += b->ended == DRM_NNPU_QUEUE_STATE_HUNG;
			lost += b->ended == DRM_NNPU_QUEUE_STATE_LOST;
			faults += b->aborted + (b->ended == DRM_NNPU_QUEUE_STATE_HUNG);
			if (b->longest_ns > longest)
				longest = b->longest_ns;
		}
		/* Charged is whose job it was, and nobody else. */
		EXPECT_EQ(faults, process->timedout)
			TH_LOG("process %u", p);
		guilty += process->timedout;
		EXPECT_EQ(0, process->next)
			TH_LOG("process %u: the next queue", p);
	}
	EXPECT_EQ(1, guilty);
	EXPECT_EQ(variant->reset ? 0 : 1, aborted);
	EXPECT_EQ(variant->reset ? 1 : 0, hung);
	EXPECT_EQ(variant->reset ? PROCESSES * BURSTS - 1 : 0, lost);
	if (hangs >= 0) {
		EXPECT_EQ(hangs + 1, nnpu_debugfs_value(self->fd, "stats", "hangs"));
		EXPECT_EQ(resets + variant->reset,
			  nnpu_debugfs_value(self->fd, "stats", "device_resets"));
		EXPECT_EQ(queue_resets + variant->reset,
			  nnpu_debugfs_value(self->fd, "stats", "queue_resets"));
	}
	TH_LOG("longest wait of the %u bursts: %u ms", PROCESSES * BURSTS,
	       (unsigned int)(longest / 1000000));
}

/* ---- arbitration ---- */

#define RING		64
/* A result block in the log: that of a job with three arguments. */
#define BLOCK		(4 * sizeof(struct nnpu_arg))
#define BLOCK_WORDS	(BLOCK / sizeof(uint32_t))
#define EXEC_WORD	(offsetof(struct nnpu_args_header, exec_ns) / sizeof(uint32_t))
/* A job that is still running when others have been rung; else there is a longer one. */
#define GATE_SIZE	256
#define GATE_TRIES	6

/* What both tests work with. */
struct rig {
	int fd;
	struct nnpu_buf log;
	unsigned int logged;
	struct nnpu_uq gate_queue;
	struct nnpu_job gate;
	uint32_t gate_size;
	struct nnpu_job snapshot;
};

FIXTURE(order)
{
	struct rig rig;
};

FIXTURE_SETUP(order)
{
	struct drm_nnpu_device_info info = { 0 };
	struct rig *rig = &self->rig;
	uint32_t size = sizeof(info);
	struct nnpu_job job;
	struct nnpu_uq uq;
	int ret = nnpu_uq_setup(&rig->fd, &uq, &job);

	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	nnpu_uq_destroy(rig->fd, &uq);
	ASSERT_EQ(0, nnpu_query(rig->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size));
	if (info.num_engines != 1 || !(info.features & NNPU_FEATURE_PRIORITY))
		NNPU_SKIP(return, "a device that runs one job at a time is needed, with priorities");
	ASSERT_EQ(0, nnpu_buf_create(rig->fd, &rig->log, 2 * RING * BLOCK,
				     DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE));
	rig->gate_size = GATE_SIZE;
}

FIXTURE_TEARDOWN(order)
{
	close(self->rig.fd);
}

/* A queue and the jobs in it: convolutions with result blocks of their own in the log. */
struct series {
	struct nnpu_uq uq;
	struct nnpu_job job;
	unsigned int first;
	unsigned int count;
};

static int series_init(struct rig *rig, struct series *s, uint32_t priority, uint32_t size)
{
	int ret = nnpu_uq_create(rig->fd, &s->uq, priority, RING, 2 * RING);

	if (!ret)
		ret = nnpu_job_init_slow(rig->fd, &s->job, size);
	return ret;
}

/* Write @count entries; nnpu_uq_ring() announces them. */
static void series_push(struct rig *rig, struct series *s, unsigned int count)
{
	struct nnpu_sqe_execute sqe;
	unsigned int i;

	s->first = rig->logged;
	s->count = count;
	rig->logged += count;
	for (i = 0; i < count; i++) {
		nnpu_uq_job_sqe(&s->job, (uint16_t)i, &sqe);
		sqe.result_slot = rig->log.slot;
		sqe.result_off = (s->first + i) * BLOCK;
		nnpu_uq_push(&s->uq, &sqe);
	}
}

/*
 * Take @count completions, all of them good. Nothing is armed: an interrupt costs the
 * engine time that is its queue's, but no job's.
 */
static int drain(struct nnpu_uq *uq, unsigned int count)
{
	uint64_t end = nnpu_now_ns() + WAIT_MS * 1000000ull;
	struct nnpu_cqe cqe;

	while (count) {
		if (!nnpu_uq_pop(uq, &cqe)) {
			if (nnpu_now_ns() >= end)
				return -ETIME;
			usleep(1000);
			continue;
		}
		if (nnpu_cqe_status(&cqe))
			return -EPROTO;
		count--;
	}
	return 0;
}

static void series_fini(struct rig *rig, struct series *s)
{
	nnpu_job_fini(rig->fd, &s->job);
	nnpu_uq_destroy(rig->fd, &s->uq);
}

/* A job that copies the log: adds zero to each word. What is not zero does not become so. */
static int snapshot_init(struct rig *rig)
{
	int ret = nnpu_job_init(rig->fd, &rig->snapshot, rig->log.size / sizeof(float));

	rig->snapshot.args[0].slot = rig->log.slot;
	rig->snapshot.args[0].offset = 0;
	return ret;
}

static void snapshot_push(struct rig *rig, struct nnpu_uq *uq)
{
	struct nnpu_sqe_execute sqe;

	nnpu_uq_job_sqe(&rig->snapshot, 0xffff, &sqe);
	nnpu_uq_push(uq, &sqe);
}

/* How many jobs of a series had ended when the snapshot ran, and what time they took. */
static unsigned int ended_before(const struct rig *rig, const struct series *s,
				 uint64_t *used_ns)
{
	const uint32_t *words = (const void *)((char *)rig->snapshot.buf.map +
					       rig->snapshot.args[2].offset);
	const char *log = rig->log.map;
	struct nnpu_args_header header;
	unsigned int i, count = 0;

	*used_ns = 0;
	for (i = s->first; i < s->first + s->count; i++) {
		if (!words[i * BLOCK_WORDS + EXEC_WORD])
			continue;
		memcpy(&header, log + i * BLOCK, sizeof(header));
		*used_ns += header.queue_ns + header.exec_ns;
		count++;
	}
	return count;
}

/* Start again with an empty log while the engine runs a long job of @priority. */
static int gate_close(struct rig *rig, uint32_t priority)
{
	struct nnpu_sqe_execute sqe;
	int ret;

	memset(rig->log.map, 0, rig->log.size);
	rig->logged = 0;
	ret = nnpu_uq_create(rig->fd, &rig->gate_queue, priority, RING, RING);
	if (!ret)
		ret = nnpu_job_init_slow(rig->fd, &rig->gate, rig->gate_size);
	if (!ret)
		ret = snapshot_init(rig);
	if (ret)
		return ret;
	nnpu_uq_job_sqe(&rig->gate, 0, &sqe);
	nnpu_uq_push(&rig->gate_queue, &sqe);
	nnpu_uq_ring(&rig->gate_queue);
	return 0;
}

/*
 * Was the job of gate_close() still running when everything had been rung? If not the
 * order proves nothing: again, with a longer one. Its completion is taken.
 */
static int gate_open(struct rig *rig, bool *held)
{
	struct nnpu_cqe cqe;

	*held = !nnpu_uq_pop(&rig->gate_queue, &cqe);
	return *held ? drain(&rig->gate_queue, 1) : 0;
}

static void gate_fini(struct rig *rig, bool held)
{
	nnpu_job_fini(rig->fd, &rig->snapshot);
	nnpu_job_fini(rig->fd, &rig->gate);
	nnpu_uq_destroy(rig->fd, &rig->gate_queue);
	if (!held)
		rig->gate_size += rig->gate_size / 2;
}

#define SHARE_A_JOBS	30
#define SHARE_A_SIZE	128
#define SHARE_B_JOBS	(RING - 1)
#define SHARE_B_SIZE	101

/* Within one twentieth of the larger. */
static bool nearly_equal(uint64_t x, uint64_t y)
{
	uint64_t larger = x > y ? x : y;
	uint64_t smaller = x > y ? y : x;

	return larger - smaller <= larger / 20;
}

/*
 * Two bursts of equal priority with jobs of unequal length, both always with work:
 * when the first has done its jobs the second has had as much of the device, but for
 * one job. The device also charges a queue for the time between its jobs. A busy host
 * may take the processor away just then, so one good try of several is enough: a
 * device that does not share has none.
 */
TEST_F_TIMEOUT(order, equal_priorities_share, 600)
{
	struct series a = { 0 }, b = { 0 };
	struct rig *rig = &self->rig;
	unsigned int try, ended;
	uint64_t used_a = 0, used_b = 0;
	bool held = false, shared = false;

	for (try = 0; try < GATE_TRIES && !(held && shared); try++) {
		ASSERT_EQ(0, series_init(rig, &a, DRM_NNPU_PRIORITY_MEDIUM, SHARE_A_SIZE));
		ASSERT_EQ(0, series_init(rig, &b, DRM_NNPU_PRIORITY_MEDIUM, SHARE_B_SIZE));
		ASSERT_EQ(0, gate_close(rig, DRM_NNPU_PRIORITY_HIGH));
		series_push(rig, &a, SHARE_A_JOBS);
		snapshot_push(rig, &a.uq);
		series_push(rig, &b, SHARE_B_JOBS);
		nnpu_uq_ring(&a.uq);
		nnpu_uq_ring(&b.uq);
		ASSERT_EQ(0, gate_open(rig, &held));
		ASSERT_EQ(0, drain(&a.uq, SHARE_A_JOBS + 1));
		ASSERT_EQ(0, drain(&b.uq, SHARE_B_JOBS));
		EXPECT_EQ(SHARE_A_JOBS, ended_before(rig, &a, &used_a));
		ended = ended_before(rig, &b, &used_b);
		gate_fini(rig, held);
		series_fini(rig, &a);
		series_fini(rig, &b);
		/* The second must have had work all the time. */
		shared = ended < SHARE_B_JOBS && nearly_equal(used_a, used_b);
		TH_LOG("device time of %u jobs and of %u shorter ones: %llu and %llu us",
		       SHARE_A_JOBS, ended, used_a / 1000ull, used_b / 1000ull);
	}
	ASSERT_TRUE(held);
	EXPECT_TRUE(shared);
}

#define LOW_QUEUES	6
#define LOW_JOBS	8
#define LOW_SIZE	64

/*
 * A burst of high priority comes while six of low priority have work, and while another job
 * of high priority keeps these from the engine: none of them begins, other than the one in
 * 17 turns that a low priority has.
 */
TEST_F_TIMEOUT(order, high_waits_one_job, 600)
{
	struct series low[LOW_QUEUES];
	struct rig *rig = &self->rig;
	unsigned int try, i, ended = 0;
	struct nnpu_uq high;
	bool held = false;
	uint64_t used, waited, exec_ns;

	memset(low, 0, sizeof(low));
	for (try = 0; try < GATE_TRIES && !held; try++) {
		for (i = 0; i < LOW_QUEUES; i++)
			ASSERT_EQ(0, series_init(rig, &low[i], DRM_NNPU_PRIORITY_LOW, LOW_SIZE));
		ASSERT_EQ(0, nnpu_uq_create(rig->fd, &high, DRM_NNPU_PRIORITY_HIGH, 4, 4));
		ASSERT_EQ(0, gate_close(rig, DRM_NNPU_PRIORITY_HIGH));
		for (i = 0; i < LOW_QUEUES; i++) {
			series_push(rig, &low[i], LOW_JOBS);
			nnpu_uq_ring(&low[i].uq);
		}
		snapshot_push(rig, &high);
		nnpu_uq_ring(&high);
		waited = nnpu_now_ns();
		ASSERT_EQ(0, gate_open(rig, &held));
		ASSERT_EQ(0, drain(&high, 1));
		waited = nnpu_now_ns() - waited;
		for (i = 0, ended = 0, exec_ns = 0; i < LOW_QUEUES; i++) {
			ASSERT_EQ(0, drain(&low[i].uq, LOW_JOBS));
			ended += ended_before(rig, &low[i], &used);
		}
		exec_ns = nnpu_job_result(&rig->gate)->exec_ns;
		nnpu_uq_destroy(rig->fd, &high);
		gate_fini(rig, held);
		for (i = 0; i < LOW_QUEUES; i++)
			series_fini(rig, &low[i]);
	}
	ASSERT_TRUE(held);
	TH_LOG("%u jobs of low priority waited, %u of them went first; the high one had to wait %llu us beside one of %llu us",
	       LOW_QUEUES * LOW_JOBS, ended, waited / 1000ull, exec_ns / 1000ull);
	EXPECT_GE(2, ended);
}

/* ---- queues that ring for nothing ---- */

#define RINGERS		4
#define RINGER_QUEUES	48

struct ringer {
	pthread_t thread;
	struct nnpu_uq uqs[RINGER_QUEUES];
	atomic_bool *stop;
	atomic_uint rings;
};

/* Rings without a job: each queue gets a hardware queue and is idle at once. */
static void *ring_for_nothing(void *arg)
{
	struct ringer *r = arg;
	unsigned int i;

	while (!atomic_load(r->stop))
		for (i = 0; i < RINGER_QUEUES && !atomic_load(r->stop); i++) {
			nnpu_uq_ring(&r->uqs[i]);
			atomic_fetch_add(&r->rings, 1);
		}
	return NULL;
}

FIXTURE(ringers)
{
	int fd;
	struct nnpu_uq uq;
	struct nnpu_job job;
};

FIXTURE_SETUP(ringers)
{
	int ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);

	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
}

FIXTURE_TEARDOWN(ringers)
{
	if (self->fd < 0)
		return;
	nnpu_job_fini(self->fd, &self->job);
	nnpu_uq_destroy(self->fd, &self->uq);
	close(self->fd);
}

/* Queues that are created, used and destroyed. */
#define TURNS		20
/* How often others ring while that happens once: about six times. */
#define MOST_RINGS	128

static unsigned int all_rings(struct ringer *ringers)
{
	unsigned int sum = 0, i;

	for (i = 0; i < RINGERS; i++)
		sum += atomic_load(&ringers[i].rings);
	return sum;
}

static int compare(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * More queues than the device has, all idle, take the hardware queues from each other as fast as
 * they can. Others create, use and destroy queues meanwhile. Whether they wait or starve is told by
 * how many hardware queues the rings take meanwhile, not by a clock: a slow machine slows both. In
 * some of the turns this thread may have no processor; half of them count.
 */
TEST_F_TIMEOUT(ringers, idle_queues_keep_nobody_waiting, 600)
{
	struct ringer *ringers = calloc(RINGERS, sizeof(*ringers));
	unsigned int rings[RINGERS], turns[TURNS], i, k;
	atomic_bool stop = false;
	struct nnpu_uq uq;
	uint64_t begin, took_ms;
	struct nnpu_job job;
	int fd;

	ASSERT_NE(NULL, ringers);
	fd = nnpu_open();
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
	for (i = 0; i < RINGERS; i++) {
		ringers[i].stop = &stop;
		for (k = 0; k < RINGER_QUEUES; k++)
			ASSERT_EQ(0, nnpu_uq_create(self->fd, &ringers[i].uqs[k], 1, 2, 2));
	}
	for (i = 0; i < RINGERS; i++)
		ASSERT_EQ(0, pthread_create(&ringers[i].thread, NULL, ring_for_nothing, &ringers[i]));
	begin = nnpu_now_ns();
	for (i = 0; i < RINGERS; i++)
		rings[i] = atomic_load(&ringers[i].rings);
	for (i = 0; i < TURNS; i++) {
		turns[i] = all_rings(ringers);
		ASSERT_EQ(0, nnpu_uq_create(fd, &uq, 1, NNPU_UQ_ENTRIES, NNPU_UQ_ENTRIES));
		ASSERT_EQ(0, nnpu_uq_run(fd, &uq, &job, i));
		nnpu_uq_destroy(fd, &uq);
		turns[i] = all_rings(ringers) - turns[i];
	}
	took_ms = (nnpu_now_ns() - begin) / 1000000;
	qsort(turns, TURNS, sizeof(turns[0]), compare);
	TH_LOG("%u queues created, used and destroyed in %u ms; others rang %u times beside one, %u at most",
	       TURNS, (unsigned int)took_ms, turns[TURNS / 2], turns[TURNS - 1]);
	EXPECT_GT(MOST_RINGS, turns[TURNS / 2]);
	/* Each of them took hardware queues meanwhile, or still gets one. */
	for (i = 0; i < RINGERS; i++)
		while (atomic_load(&ringers[i].rings) - rings[i] < RINGER_QUEUES)
			usleep(1000);
	atomic_store(&stop, true);
	for (i = 0; i < RINGERS; i++) {
		pthread_join(ringers[i].thread, NULL);
		for (k = 0; k < RINGER_QUEUES; k++)
			nnpu_uq_destroy(self->fd, &ringers[i].uqs[k]);
	}
	nnpu_job_fini(fd, &job);
	close(fd);
	free(ringers);
}

TEST_HARNESS_MAIN
