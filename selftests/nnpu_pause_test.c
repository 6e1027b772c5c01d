// SPDX-License-Identifier: GPL-2.0-only
/*
 * Somebody else takes the device for a while: a reset of the PCI function through sysfs and, on
 * the debug kernel, the callbacks of system sleep with sleep_drain_ms=0. Contexts are lost at once and
 * cleanly.
 *
 *   NNPU_PAUSES   how often, where others are at work meanwhile (default 3)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define WAIT_MS	120000
#define JOBS	8

static bool function_reset(int fd)
{
	return !nnpu_sysfs_write(fd, "reset_method", "flr") && !nnpu_sysfs_write(fd, "reset", "1");
}

/* A platform device has no reset that somebody else asks for. */
static bool resets_functions(int fd)
{
	return nnpu_sysfs_write(fd, "reset_method", "flr") != -ENOENT;
}

/* The whole machine cannot sleep: its root is a virtual device that would not come back. */
static bool system_sleep(int fd)
{
	return !system("insmod \"$NNPU_PLANTED_KO\" plant=sleep && rmmod nnpu_planted");
}

static unsigned int count_pauses(void)
{
	const char *text = getenv("NNPU_PAUSES");

	return text ? (unsigned int)strtoul(text, NULL, 0) : 3;
}

FIXTURE(pause)
{
	int fd;
	bool (*take)(int fd);
	struct nnpu_job job;
	struct nnpu_uq uq;
	uint32_t syncobjs[JOBS];
	long faults;
};

FIXTURE_VARIANT(pause)
{
	bool sleep;
};

FIXTURE_VARIANT_ADD(pause, function_reset)
{
	.sleep = false,
};

FIXTURE_VARIANT_ADD(pause, system_sleep)
{
	.sleep = true,
};

/* What the driver counts as a fault of the device or of a job. */
static long count_faults(int fd)
{
	return nnpu_debugfs_value(fd, "stats", "hangs") +
	       nnpu_debugfs_value(fd, "stats", "queue_resets") +
	       nnpu_debugfs_value(fd, "stats", "device_resets") +
	       nnpu_debugfs_value(fd, "stats", "lost_jobs") +
	       nnpu_debugfs_value(fd, "stats", "admin_timeouts");
}

/*
 * The device falls asleep by itself, but not here: an admin command that hangs may be the one that
 * changes its performance level. Runtime suspend would wait for that, and system sleep for runtime
 * suspend.
 */
static void stay_awake(int fd, bool awake)
{
	nnpu_sysfs_write(fd, "power/control", awake ? "on" : "auto");
}

FIXTURE_SETUP(pause)
{
	unsigned int i;
	int ret;

	self->fd = -1;
	if (variant->sleep && !getenv("NNPU_DEBUG_KERNEL"))
		SKIP(return, "the module that lets one device sleep is for the debug kernel");
	ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);
	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	if (!variant->sleep && !resets_functions(self->fd))
		SKIP(return, "of PCI functions only");
	self->take = function_reset;
	if (variant->sleep) {
		ASSERT_NE(NULL, getenv("NNPU_PLANTED_KO"));
		self->take = system_sleep;
		/* As in a reset. nnpu_sleep_test.c has what survives. */
		nnpu_set_parameter("sleep_drain_ms", 0);
	}
	stay_awake(self->fd, true);
	nnpu_set_parameter("queue_idle_ms", 600000);
	nnpu_set_parameter("hang_timeout_ms", 600000);
	for (i = 0; i < JOBS; i++)
		ASSERT_EQ(0, nnpu_syncobj_create(self->fd, &self->syncobjs[i]));
	self->faults = count_faults(self->fd);
	ASSERT_LE(0, self->faults);
}

FIXTURE_TEARDOWN(pause)
{
	if (self->fd < 0)
		return;
	nnpu_set_parameter("queue_idle_ms", 1000);
	nnpu_set_parameter("sleep_drain_ms", 10000);
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	stay_awake(self->fd, false);
	close(self->fd);
}

static bool context_lost(int fd)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);

	return nnpu_query(fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size) == 0 &&
	       (info.flags & DRM_NNPU_CONTEXT_LOST);
}

/* What needs the device, in the same file. */
static int use_device(int fd)
{
	struct nnpu_job job;
	struct nnpu_uq uq;
	int ret = nnpu_job_init(fd, &job, 64);

	if (ret)
		return ret;
	ret = nnpu_job_run(fd, &job, 7);
	if (!ret)
		ret = nnpu_uq_create(fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
				     NNPU_UQ_ENTRIES);
	if (!ret) {
		ret = nnpu_uq_run(fd, &uq, &job, 8);
		nnpu_uq_destroy(fd, &uq);
	}
	nnpu_job_fini(fd, &job);
	return ret;
}

/* A user queue has a job at an engine. */
static bool queue_has_job(int fd)
{
	return nnpu_debugfs_value(fd, "registers", "Q2_CURRENT") > 0;
}

/*
 * A user queue and SUBMIT have a job at the device that would never end. Others wait behind each of
 * them.
 */
TEST_F_TIMEOUT(pause, jobs_and_queues_are_lost, 600)
{
	struct drm_nnpu_context_create attrs = { 0 };
	uint32_t state = 0, reason, again, other;
	struct nnpu_buf *buf = &self->job.buf;
	struct nnpu_sqe_execute sqe;
	struct nnpu_job queued;
	struct nnpu_cqe cqe;
	unsigned int i;

	ASSERT_EQ(0, nnpu_uq_run(self->fd, &self->uq, &self->job, 1));
	ASSERT_EQ(0, nnpu_job_init(self->fd, &queued, 64));
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&queued, 3);
	for (i = 0; i < 2; i++) {
		nnpu_uq_job_sqe(&queued, 100 + i, &sqe);
		nnpu_uq_push(&self->uq, &sqe);
	}
	nnpu_uq_ring(&self->uq);
	while (!queue_has_job(self->fd))
		usleep(1000);
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&self->job, 2);
	for (i = 0; i < JOBS; i++) {
		self->job.out_sync.handle = self->syncobjs[i];
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	}
	ASSERT_EQ(-ETIME, nnpu_syncobj_wait(self->fd, self->syncobjs[0], 100));

	ASSERT_TRUE(self->take(self->fd));
	for (i = 0; i < JOBS; i++) {
		ASSERT_EQ(0, nnpu_syncobj_wait(self->fd, self->syncobjs[i], WAIT_MS));
		EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, self->syncobjs[i]));
	}
	nnpu_uq_sleep(self->fd, &self->uq, WAIT_MS, &state, &reason);
	EXPECT_EQ(DRM_NNPU_QUEUE_STATE_LOST, state);
	EXPECT_TRUE(nnpu_uq_is_silent(&self->uq));
	EXPECT_FALSE(nnpu_uq_pop(&self->uq, &cqe));
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&queued)->status);
	EXPECT_TRUE(context_lost(self->fd));
	EXPECT_EQ(-ENODEV, nnpu_job_submit(self->fd, &self->job));

	/* The buffer is as it was, and of use in a new context. */
	EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&self->job)->status);
	ASSERT_EQ(0, nnpu_context_create(self->fd, &attrs, &other));
	nnpu_test_ctx = other;
	EXPECT_EQ(0, nnpu_slot_bind(self->fd, buf->handle, 0, buf->size, DRM_NNPU_SLOT_READ,
				    &again));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_FALSE(context_lost(self->fd));
	nnpu_test_ctx = 0;
	nnpu_job_fini(self->fd, &queued);
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

/* A file that loads, or comes and goes, all the time. */
struct client {
	volatile bool stop;
	unsigned int loads;
	unsigned int bad;
	unsigned int bad_errno;
};

static void *client_run(void *arg)
{
	struct client *c = arg;

	while (!c->stop) {
		static const uint32_t count = 16;
		uint8_t image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
		size_t size = nnpu_add_image(image, count);
		uint32_t program;
		int fd = nnpu_open(), ret;

		ret = fd < 0 ? fd : nnpu_program_load(fd, image, size, &program, NULL);
		c->loads += !ret;
		/* The context was lost just then. */
		if (ret && ret != -ENODEV) {
			c->bad++;
			c->bad_errno = -ret;
		}
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

/* Contexts come and go meanwhile, loads run. */
TEST_F_TIMEOUT(pause, loads_and_contexts_meanwhile, 600)
{
	struct client clients[4] = { 0 };
	pthread_t threads[4];
	unsigned int i, round, before;
	struct nnpu_job job;
	int fd;

	for (i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, client_run, &clients[i]));
	for (round = 0; round < count_pauses(); round++) {
		before = clients[0].loads;
		ASSERT_TRUE(self->take(self->fd));
		/* The device works, whatever the round did. */
		fd = nnpu_open();
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
		EXPECT_EQ(0, nnpu_job_run(fd, &job, round));
		nnpu_job_fini(fd, &job);
		close(fd);
		while (*(volatile unsigned int *)&clients[0].loads == before)
			usleep(1000);
	}
	for (i = 0; i < 4; i++)
		clients[i].stop = true;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, clients[i].bad) {
			TH_LOG("a load failed: %s", strerror(clients[i].bad_errno));
		}
	}
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

/* Who looks at the registers all the time. */
struct looker {
	volatile bool stop;
	int fd;
	unsigned int seen;
	unsigned int bad;
};

static void *look_run(void *arg)
{
	struct looker *l = arg;

	while (!l->stop) {
		long id = nnpu_debugfs_value(l->fd, "registers", "ID");

		l->seen += id == NNPU_ID_MAGIC;
		l->bad += id != NNPU_ID_MAGIC && id != -1;
	}
	return NULL;
}

/* A function that is being reset decodes no address: a read gives all ones, or a bus error. */
TEST_F_TIMEOUT(pause, registers_are_left_alone, 600)
{
	struct looker looker = { .fd = self->fd };
	unsigned int i, before;
	pthread_t thread;

	ASSERT_EQ(0, pthread_create(&thread, NULL, look_run, &looker));
	for (i = 0; i < count_pauses(); i++) {
		ASSERT_TRUE(self->take(self->fd));
		before = looker.seen;
		while (*(volatile unsigned int *)&looker.seen == before)
			usleep(1000);
	}
	looker.stop = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, looker.bad);
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

/* A load that would last is ended; it counts as no fault. */
static void *load_run(void *arg)
{
	uint8_t image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t size = nnpu_add_image(image, 16);
	uint32_t program;
	int *fd = arg;

	*fd = nnpu_program_load(*fd, image, size, &program, NULL);
	return NULL;
}

TEST_F_TIMEOUT(pause, load_is_ended, 600)
{
	int result = self->fd;
	pthread_t thread;

	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_LOAD_STALL, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, load_run, &result));
	while (nnpu_debugfs_value(self->fd, "registers", "Q0_CURRENT") == 0)
		usleep(1000);
	ASSERT_TRUE(self->take(self->fd));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ENODEV, result);
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

/* Jobs that wait for another one: behind it, and in another context for its fence. */
TEST_F_TIMEOUT(pause, waiting_jobs_are_lost, 600)
{
	struct drm_nnpu_context_create attrs = { 0 };
	struct drm_nnpu_sync in = { .handle = self->syncobjs[0] };
	struct nnpu_job jobs[2];
	unsigned int i;
	uint32_t other;

	ASSERT_EQ(0, nnpu_context_create(self->fd, &attrs, &other));
	nnpu_test_ctx = other;
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, nnpu_job_init(self->fd, &jobs[i], 64));
		nnpu_job_fill(&jobs[i], i);
		jobs[i].submit.in_syncs = (uintptr_t)&in;
		jobs[i].submit.num_in_syncs = 1;
	}
	jobs[1].submit.flags = DRM_NNPU_SUBMIT_PROPAGATE;
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	self->job.out_sync.handle = self->syncobjs[0];
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, nnpu_job_submit(self->fd, &jobs[i]));
	ASSERT_EQ(-ETIME, nnpu_syncobj_wait(self->fd, self->syncobjs[0], 100));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(0, nnpu_syncobj_status(self->fd, jobs[i].syncobj));

	ASSERT_TRUE(self->take(self->fd));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, nnpu_job_wait(self->fd, &jobs[i], WAIT_MS));
		EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, jobs[i].syncobj));
		EXPECT_EQ(NNPU_STATUS_PENDING, nnpu_job_result(&jobs[i])->status);
		EXPECT_EQ(-ENODEV, nnpu_job_submit(self->fd, &jobs[i]));
	}
	EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, self->syncobjs[0]));
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, other));
	nnpu_test_ctx = 0;
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

/* Of a doorbell page: the device ignores a write, and a read gives 0. */
#define UNUSED_DOORBELL	3

/* Who rings all the time. */
struct ringer {
	volatile bool stop;
	struct nnpu_uq *uq;
	volatile unsigned int rings;
};

static void *ring_run(void *arg)
{
	struct ringer *r = arg;

	while (!r->stop) {
		r->uq->db[NNPU_DB_SQ_TAIL / 4] = r->uq->tail;
		r->rings++;
	}
	return NULL;
}

/*
 * The page that a process rings does not lead to the device any more, but to memory. The process
 * notices only that its queue has ended.
 */
TEST_F_TIMEOUT(pause, doorbells_are_taken_away, 600)
{
	struct ringer ringer;
	unsigned int round;
	struct nnpu_job job;
	struct nnpu_uq uq;
	pthread_t thread;
	uint32_t state;

	for (round = 0; round < 3; round++) {
		EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
		ASSERT_EQ(0, nnpu_job_init(self->fd, &job, 64));
		ASSERT_EQ(0, nnpu_uq_create(self->fd, &uq, DRM_NNPU_PRIORITY_MEDIUM,
					    NNPU_UQ_ENTRIES, NNPU_UQ_ENTRIES));
		ASSERT_EQ(0, nnpu_uq_run(self->fd, &uq, &job, round));
		ringer = (struct ringer) { .uq = &uq };
		ASSERT_EQ(0, pthread_create(&thread, NULL, ring_run, &ringer));
		while (ringer.rings < 100)
			usleep(1000);
		ASSERT_TRUE(self->take(self->fd));
		ringer.stop = true;
		pthread_join(thread, NULL);
		uq.db[UNUSED_DOORBELL] = round + 1;
		EXPECT_EQ(round + 1, uq.db[UNUSED_DOORBELL]);
		nnpu_uq_sleep(self->fd, &uq, WAIT_MS, &state, NULL);
		EXPECT_EQ(DRM_NNPU_QUEUE_STATE_LOST, state);
		nnpu_uq_destroy(self->fd, &uq);
		nnpu_job_fini(self->fd, &job);
	}
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

#define TRACEFS	"/sys/kernel/tracing"

/* The first line of the trace with an event of this name, from 1 on; 0: there is none. */
static unsigned int traced(const char *event)
{
	unsigned int number = 0, found = 0;
	char line[512], name[64];
	FILE *f = fopen(TRACEFS "/trace", "r");

	if (!f)
		return 0;
	snprintf(name, sizeof(name), " %s: ", event);
	while (!found && fgets(line, sizeof(line), f)) {
		number++;
		if (line[0] != '#' && strstr(line, name))
			found = number;
	}
	fclose(f);
	return found;
}

static int trace_calls(bool on)
{
	int ret = 0;

	if (on)
		ret = nnpu_write_file(TRACEFS, "kprobe_events",
				      "p:zapped nnpu_userq_state_zap\np:was_reset pcie_flr\n");
	if (!ret)
		ret = nnpu_write_file(TRACEFS, "events/kprobes/enable", on ? "1" : "0");
	if (!on)
		ret = nnpu_write_file(TRACEFS, "kprobe_events", "-:zapped\n-:was_reset\n");
	return ret;
}

/*
 * A write to the page of a function that is being reset could hang the bus: the processes have to
 * lose the pages first.
 */
TEST(doorbells_are_taken_away_before_the_reset)
{
	unsigned int zap, reset;
	struct nnpu_job job;
	struct nnpu_uq uq;
	int fd = -1, ret;

	ret = nnpu_uq_setup(&fd, &uq, &job);
	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	if (!resets_functions(fd))
		SKIP(return, "of PCI functions only");
	stay_awake(fd, true);
	nnpu_set_parameter("queue_idle_ms", 600000);
	ASSERT_EQ(0, nnpu_uq_run(fd, &uq, &job, 1));
	ASSERT_EQ(0, trace_calls(true));
	EXPECT_TRUE(function_reset(fd));
	zap = traced("zapped");
	reset = traced("was_reset");
	EXPECT_EQ(0, trace_calls(false));
	EXPECT_LT(0, zap);
	EXPECT_LT(0, reset);
	EXPECT_LT(zap, reset);
	nnpu_set_parameter("queue_idle_ms", 1000);
	stay_awake(fd, false);
	nnpu_uq_destroy(fd, &uq);
	nnpu_job_fini(fd, &job);
	close(fd);
}

/* A thread that rings once. */
struct caller {
	struct nnpu_uq *uq;
	volatile pid_t tid;
	volatile bool rang;
};

static void *call_run(void *arg)
{
	struct caller *c = arg;

	c->tid = gettid();
	c->uq->db[NNPU_DB_SQ_TAIL / 4] = c->uq->tail;
	c->rang = true;
	return NULL;
}

/* How often a thread of this process has slept; -1: nobody says. */
static long sleeps_of(pid_t tid)
{
	char path[64], line[128];
	long sleeps = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps) == 1)
			break;
	fclose(f);
	return sleeps;
}

static long my_sleeps(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nvcsw;
}

/* How often the fault sleeps while the test looks; it sleeps for 100 ms at a time. */
#define FAULT_SLEEPS	60
#define LONG_NS		UINT64_C(50000000)

/*
 * Change the address space until the thread has slept FAULT_SLEEPS times. How many calls slept for
 * a lock as long as a fault sleeps? That this thread gets no CPU is not counted.
 */
static unsigned int long_waits(pid_t tid)
{
	long first = sleeps_of(tid), sleeps = first;
	unsigned int found = 0, i;

	/* A thread that has ended is no reason to go on. */
	for (i = 0; sleeps >= 0 && sleeps < first + FAULT_SLEEPS; i++) {
		uint64_t begin = nnpu_now_ns();
		long before = my_sleeps();
		void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		bool is_long = nnpu_now_ns() - begin >= LONG_NS;

		if (is_long && my_sleeps() != before)
			found++;
		if (page != MAP_FAILED)
			munmap(page, 4096);
		if (is_long || i % 16 == 0)
			sleeps = sleeps_of(tid);
	}
	return found;
}

/*
 * A queue gets no hardware queue, since the device does not answer. Its doorbell waits in a page
 * fault, again and again. Another thread of the process changes the address space meanwhile: if the
 * fault slept with the mmap_lock, one call in each round of two tries would wait as long.
 */
TEST_F_TIMEOUT(pause, doorbell_waits_without_the_mmap_lock, 600)
{
	struct caller caller = { .uq = &self->uq };
	unsigned int waits;
	pthread_t thread;
	uint32_t state;

	nnpu_set_timeouts(600000, 600000);
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_ADMIN_STALL, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, call_run, &caller));
	while (!caller.tid || sleeps_of(caller.tid) < 2)
		usleep(1000);
	waits = long_waits(caller.tid);
	/*
	 * A round has two sleeps and two locks that the thread may have to sleep for. On a busy
	 * machine the thread may lose its CPU with the lock.
	 */
	TH_LOG("%u calls waited for the fault", waits);
	EXPECT_GT(FAULT_SLEEPS / 4 / 2, waits);
	EXPECT_FALSE(caller.rang);

	/* The fault ends with the queue. */
	ASSERT_TRUE(self->take(self->fd));
	pthread_join(thread, NULL);
	nnpu_uq_sleep(self->fd, &self->uq, WAIT_MS, &state, NULL);
	EXPECT_EQ(DRM_NNPU_QUEUE_STATE_LOST, state);
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
	EXPECT_EQ(self->faults, count_faults(self->fd));
}

/*
 * Before the devices the processes are made to stand still. Here the kernel goes so far and back
 * (pm_test).
 */
FIXTURE(freeze)
{
	int fd;
	struct nnpu_job job;
	struct nnpu_uq uq;
};

static int pm_write(const char *name, const char *text)
{
	return nnpu_write_file("/sys/power", name, text);
}

FIXTURE_SETUP(freeze)
{
	int ret;

	self->fd = -1;
	if (!getenv("NNPU_DEBUG_KERNEL"))
		SKIP(return, "the test mode of system sleep is in the debug kernel");
	ret = nnpu_uq_setup(&self->fd, &self->uq, &self->job);
	if (nnpu_uq_may_skip(ret))
		SKIP(return, "no device with user queues: %s", strerror(-ret));
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, pm_write("pm_test", "freezer"));
	ASSERT_EQ(0, nnpu_write_file("/sys/module/suspend/parameters", "pm_test_delay", "0"));
	stay_awake(self->fd, true);
	nnpu_set_timeouts(600000, 600000);
}

FIXTURE_TEARDOWN(freeze)
{
	if (self->fd < 0)
		return;
	pm_write("pm_test", "none");
	pm_write("pm_freeze_timeout", "20000");
	nnpu_set_timeouts(NNPU_TIMEOUTS_DEFAULT);
	stay_awake(self->fd, false);
	close(self->fd);
}

/* Processes that wait for a job or for a hardware queue go on with that afterwards. */
TEST_F_TIMEOUT(freeze, waiting_processes_stand_still, 600)
{
	struct caller caller = { .uq = &self->uq };
	pthread_t thread;

	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_JOB_STALL, 1));
	nnpu_job_fill(&self->job, 1);
	ASSERT_EQ(0, nnpu_job_submit(self->fd, &self->job));
	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_ADMIN_STALL, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, call_run, &caller));
	while (!caller.tid || sleeps_of(caller.tid) < 2)
		usleep(1000);
	EXPECT_EQ(0, pm_write("state", "freeze"));
	EXPECT_FALSE(caller.rang);
	EXPECT_EQ(0, nnpu_syncobj_status(self->fd, self->job.syncobj));
	ASSERT_TRUE(function_reset(self->fd));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECANCELED, nnpu_syncobj_status(self->fd, self->job.syncobj));
	EXPECT_EQ(0, nnpu_context_destroy(self->fd, 0));
	EXPECT_EQ(0, use_device(self->fd));
}

/* One that waits for a load, too: the load is aborted, and begins again afterwards. */
TEST_F_TIMEOUT(freeze, load_begins_again, 600)
{
	int result = self->fd;
	pthread_t thread;

	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_LOAD_STALL, 1));
	ASSERT_EQ(0, pthread_create(&thread, NULL, load_run, &result));
	while (nnpu_debugfs_value(self->fd, "registers", "Q0_CURRENT") == 0)
		usleep(1000);
	EXPECT_EQ(0, pm_write("state", "freeze"));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, result);
	EXPECT_EQ(0, use_device(self->fd));
}

#define LOADERS		48
#define LOAD_FILES	8

/*
 * Loads that would last longer than the kernel waits, side by side in several contexts and one after
 * the other in each of them.
 */
TEST_F_TIMEOUT(freeze, many_loads_stand_still, 1200)
{
	int files[LOAD_FILES], results[LOADERS];
	pthread_t threads[LOADERS];
	unsigned int i;

	ASSERT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_LOAD_SLOW, LOADERS));
	for (i = 0; i < LOAD_FILES; i++) {
		files[i] = nnpu_open();
		ASSERT_LE(0, files[i]);
	}
	for (i = 0; i < LOADERS; i++) {
		results[i] = files[i % LOAD_FILES];
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, load_run, &results[i]));
	}
	while (nnpu_debugfs_value(self->fd, "registers", "Q0_CURRENT") == 0)
		usleep(1000);
	EXPECT_EQ(0, pm_write("state", "freeze"));
	EXPECT_EQ(0, nnpu_inject(self->fd, NNPU_INJECT_LOAD_SLOW, 0));
	for (i = 0; i < LOADERS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, results[i]) {
			TH_LOG("load %u", i);
		}
	}
	for (i = 0; i < LOAD_FILES; i++)
		close(files[i]);
	EXPECT_EQ(0, use_device(self->fd));
}

TEST_HARNESS_MAIN
