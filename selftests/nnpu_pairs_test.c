// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every two calls that name the same object, against each other from two threads.
 *
 * Each round has a process of its own with one object of each kind. Its two threads make one call
 * each at about the same time, while the device has work or none, and answers at once or late. Then
 * each result is one that some order of the two calls explains, the process ends, and nothing of it
 * is left in the driver. The debug kernel notices uses of freed memory and inverted locks.
 *
 * NNPU_PAIR_ROUNDS: rounds of each pair. Without it pairs are taken in random order until a minute
 * is over. NNPU_PAIR_SEED: their order, and which delays and faults the rounds have.
 */
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

/* A round that takes longer hangs. */
#define HANG_MS		120000
#define ALL_SECONDS	60
/* Turns of a loop in front of a call: from nothing to about the time of a command. */
#define MAX_DELAY	60000

/* What a call names, and what it ends. */
enum {
	BUFFER = 1 << 0,	/* by its handle */
	MAPPING = 1 << 1,	/* of the buffer */
	SLOT = 1 << 2,
	PROGRAM = 1 << 3,
	JOBS = 1 << 4,		/* fences of the job */
	QUEUE = 1 << 5,
	DOORBELL = 1 << 6,	/* the mapping */
	QUEUE_FD = 1 << 7,
	CONTEXT = 1 << 8,
	EXPORT = 1 << 9,	/* dma-buf of the buffer */
	FILE_FD = 1 << 10,
	PROCESS = 1 << 11,
	DEVICE = 1 << 12,
};

/* The objects of a round. */
struct world {
	int fd;
	struct nnpu_job job;
	struct nnpu_job slow;
	struct nnpu_uq uq;
	uint32_t ctx;
	int dmabuf;
	uint8_t image[NNPU_ADD_IMAGE_SIZE];
	size_t image_size;
	char device[64];
};

/* Shared with the process that runs a round. */
struct outcome {
	int setup;			/* 0, or what could not be made */
	int ret[2];
	bool returned[2];
};

struct call {
	const char *name;
	int nr;				/* of the driver's ioctl, or -1 */
	unsigned int names;
	unsigned int ends;		/* of these, what is gone afterwards */
	bool by_number;			/* a second one finds nothing */
	int (*run)(struct world *w);
};

static int run_query(struct world *w)
{
	struct drm_nnpu_context_info info = { 0 };
	uint32_t size = sizeof(info);

	return nnpu_query(w->fd, DRM_NNPU_QUERY_CONTEXT_INFO, &info, &size);
}

static int run_bo_create(struct world *w)
{
	uint32_t handle;

	return nnpu_bo_create(w->fd, 3 * NNPU_PAGE_SIZE, &handle);
}

static int run_bo_mmap(struct world *w)
{
	volatile uint8_t *byte;
	void *map;
	int ret = nnpu_bo_mmap(w->fd, w->job.buf.handle, w->job.buf.size, &map);

	if (ret)
		return ret;
	byte = map;
	*byte = 1;
	return munmap(map, w->job.buf.size) ? -errno : 0;
}

static int run_bo_userptr(struct world *w)
{
	struct drm_nnpu_bo_userptr arg = { .size = NNPU_PAGE_SIZE };
	void *map = mmap(NULL, NNPU_PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	arg.addr = (uintptr_t)map;
	return nnpu_ioctl(w->fd, DRM_IOCTL_NNPU_BO_USERPTR, &arg);
}

static int run_bo_prep(struct world *w)
{
	struct drm_nnpu_bo_prep arg = {
		.handle = w->job.buf.handle, .flags = DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE,
		.size = w->job.buf.size, .timeout_ns = (int64_t)nnpu_now_ns() + 2000000,
	};
	int ret = nnpu_ioctl(w->fd, DRM_IOCTL_NNPU_BO_PREP, &arg);

	return ret == -ETIME || ret == -ETIMEDOUT ? 0 : ret;
}

static int run_bo_fini(struct world *w)
{
	struct drm_nnpu_bo_fini arg = {
		.handle = w->job.buf.handle, .flags = DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE,
		.size = w->job.buf.size,
	};

	return nnpu_ioctl(w->fd, DRM_IOCTL_NNPU_BO_FINI, &arg);
}

static int run_gem_close(struct world *w)
{
	return nnpu_bo_close(w->fd, w->job.buf.handle);
}

static int run_munmap(struct world *w)
{
	return munmap(w->job.buf.map, w->job.buf.size) ? -errno : 0;
}

static int run_export(struct world *w)
{
	struct drm_prime_handle arg = { .handle = w->job.buf.handle, .flags = DRM_CLOEXEC };

	return nnpu_ioctl(w->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg);
}

static int run_import(struct world *w)
{
	struct drm_prime_handle arg = { .fd = w->dmabuf };

	return nnpu_ioctl(w->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg);
}

static int run_close_export(struct world *w)
{
	return close(w->dmabuf) ? -errno : 0;
}

static int run_slot_bind(struct world *w)
{
	uint32_t slot;

	return nnpu_slot_bind(w->fd, w->job.buf.handle, 0, w->job.buf.size, DRM_NNPU_SLOT_READ,
			      &slot);
}

static int run_slot_unbind(struct world *w)
{
	return nnpu_slot_unbind(w->fd, w->job.buf.slot);
}

static int run_load(struct world *w)
{
	uint32_t program;

	return nnpu_program_load(w->fd, w->image, w->image_size, &program, NULL);
}

static int run_unload(struct world *w)
{
	return nnpu_program_unload(w->fd, w->job.program);
}

static int run_save(struct world *w)
{
	struct drm_nnpu_program_save arg = { .ctx = nnpu_test_ctx, .program = w->job.program };

	return nnpu_ioctl(w->fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &arg);
}

static int run_submit(struct world *w)
{
	return nnpu_job_submit(w->fd, &w->job);
}

static int run_syncobj_wait(struct world *w)
{
	int ret = nnpu_syncobj_wait(w->fd, w->job.syncobj, 2);

	return ret == -ETIME ? 0 : ret;
}

static int run_syncobj_destroy(struct world *w)
{
	return nnpu_syncobj_destroy(w->fd, w->job.syncobj);
}

static int run_queue_create(struct world *w)
{
	struct nnpu_uq uq;

	return nnpu_uq_create(w->fd, &uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
			      NNPU_UQ_ENTRIES);
}

static int run_queue_destroy(struct world *w)
{
	struct drm_nnpu_queue_destroy arg = { .queue = w->uq.id };

	return nnpu_ioctl(w->fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &arg);
}

static int run_queue_wait(struct world *w)
{
	int ret = nnpu_uq_sleep(w->fd, &w->uq, 2, NULL, NULL);

	return ret == -ETIME ? 0 : ret;
}

static int run_queue_read(struct world *w)
{
	struct pollfd p = { .fd = w->uq.fd, .events = POLLIN };
	uint64_t count;

	if (poll(&p, 1, 2) < 0)
		return -errno;
	return p.revents & POLLIN && read(w->uq.fd, &count, sizeof(count)) < 0 ? -errno : 0;
}

/* A process whose mapping has gone gets SIGSEGV: that call is one that ends it. */
static int run_ring(struct world *w)
{
	struct nnpu_sqe_execute sqe;

	nnpu_uq_job_sqe(&w->job, 9, &sqe);
	nnpu_uq_push(&w->uq, &sqe);
	nnpu_uq_ring(&w->uq);
	w->uq.db[NNPU_DB_CQ_ARM / 4] = w->uq.head;
	return 0;
}

static int run_doorbell_unmap(struct world *w)
{
	return munmap((void *)w->uq.db, w->uq.db_size) ? -errno : 0;
}

static int run_queue_close(struct world *w)
{
	return close(w->uq.fd) ? -errno : 0;
}

static int run_context_create(struct world *w)
{
	struct drm_nnpu_context_create attrs = { 0 };
	uint32_t ctx;

	return nnpu_context_create(w->fd, &attrs, &ctx);
}

static int run_context_destroy(struct world *w)
{
	return nnpu_context_destroy(w->fd, w->ctx);
}

static int run_file_close(struct world *w)
{
	return close(w->fd) ? -errno : 0;
}

static int run_kill(struct world *w)
{
	kill(getpid(), SIGKILL);
	return 0;
}

static int run_reset(struct world *w)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s", w->device);
	return nnpu_write_file(path, "reset", "1");
}

static int run_suspend(struct world *w)
{
	return system("insmod \"$NNPU_PLANTED_KO\" plant=sleep && rmmod nnpu_planted") ? -EIO : 0;
}

/* The process that made the round binds it again. */
static int run_unbind(struct world *w)
{
	return nnpu_driver_write("unbind", w->device);
}

#define IOCTL(name)	#name, DRM_NNPU_ ## name

static const struct call calls[] = {
	{ IOCTL(QUERY), CONTEXT | FILE_FD, 0, false, run_query },
	{ IOCTL(BO_CREATE), FILE_FD, 0, false, run_bo_create },
	{ IOCTL(BO_MMAP), BUFFER | FILE_FD, 0, false, run_bo_mmap },
	{ IOCTL(BO_PREP), BUFFER | FILE_FD, 0, false, run_bo_prep },
	{ IOCTL(BO_FINI), BUFFER | FILE_FD, 0, false, run_bo_fini },
	{ IOCTL(BO_USERPTR), FILE_FD, 0, false, run_bo_userptr },
	{ "GEM_CLOSE", -1, BUFFER | FILE_FD, BUFFER, true, run_gem_close },
	{ "munmap buffer", -1, BUFFER | MAPPING, 0, false, run_munmap },
	{ "PRIME_HANDLE_TO_FD", -1, BUFFER | FILE_FD, 0, false, run_export },
	{ "PRIME_FD_TO_HANDLE", -1, BUFFER | EXPORT | FILE_FD, 0, false, run_import },
	{ "close dma-buf", -1, BUFFER | EXPORT, EXPORT, true, run_close_export },
	{ IOCTL(SLOT_BIND), BUFFER | CONTEXT | FILE_FD, 0, false, run_slot_bind },
	{ IOCTL(SLOT_UNBIND), SLOT | CONTEXT | FILE_FD, SLOT, true, run_slot_unbind },
	{ IOCTL(PROGRAM_LOAD), CONTEXT | FILE_FD, 0, false, run_load },
	{ IOCTL(PROGRAM_UNLOAD), PROGRAM | CONTEXT | FILE_FD, PROGRAM, true, run_unload },
	{ IOCTL(PROGRAM_SAVE), PROGRAM | CONTEXT | FILE_FD, 0, false, run_save },
	{ IOCTL(SUBMIT), BUFFER | SLOT | PROGRAM | JOBS | CONTEXT | FILE_FD, 0, false, run_submit },
	{ "SYNCOBJ_WAIT", -1, JOBS | FILE_FD, 0, false, run_syncobj_wait },
	{ "SYNCOBJ_DESTROY", -1, JOBS | FILE_FD, JOBS, true, run_syncobj_destroy },
	{ IOCTL(QUEUE_CREATE), CONTEXT | FILE_FD, 0, false, run_queue_create },
	{ IOCTL(QUEUE_DESTROY), QUEUE | FILE_FD, QUEUE, true, run_queue_destroy },
	{ IOCTL(QUEUE_WAIT), QUEUE | FILE_FD, 0, false, run_queue_wait },
	{ "poll and read queue", -1, QUEUE | QUEUE_FD, 0, false, run_queue_read },
	{ "ring doorbell", -1, QUEUE | DOORBELL, 0, false, run_ring },
	{ "munmap doorbell", -1, QUEUE | DOORBELL, DOORBELL, false, run_doorbell_unmap },
	{ "close queue", -1, QUEUE | QUEUE_FD, QUEUE_FD, true, run_queue_close },
	{ IOCTL(CONTEXT_CREATE), FILE_FD, 0, false, run_context_create },
	{ IOCTL(CONTEXT_DESTROY), CONTEXT | FILE_FD, CONTEXT | SLOT | PROGRAM | QUEUE, true,
	  run_context_destroy },
	{ "close file", -1, BUFFER | SLOT | PROGRAM | JOBS | QUEUE | CONTEXT | FILE_FD,
	  FILE_FD | BUFFER | SLOT | PROGRAM | JOBS | QUEUE | CONTEXT, true, run_file_close },
	{ "kill", -1, PROCESS, PROCESS, false, run_kill },
	{ "reset", -1, DEVICE, DEVICE, false, run_reset },
	{ "suspend", -1, DEVICE, 0, false, run_suspend },
	{ "unbind", -1, DEVICE, DEVICE, false, run_unbind },
};

#define NUM_CALLS	(sizeof(calls) / sizeof(calls[0]))

/* The driver's ioctls, from the uapi header. */
static const struct {
	const char *name;
	int nr;
} ioctls[] = {
#include "nnpu_ioctls.h"
};

/* The process and the device are behind all other objects. */
static bool meet(const struct call *a, const struct call *b)
{
	const unsigned int all = PROCESS | DEVICE;

	return a->names & b->names || (a->names | b->names) & all;
}

/* May @a return this, in some order with @b? */
static bool explained(const struct call *a, const struct call *b, int ret)
{
	const struct call *const pair[] = { a, b };
	unsigned int i;

	if (!ret)
		return true;
	/* A descriptor that was closed. */
	if (ret == -EBADF && a->names & (FILE_FD | QUEUE_FD | EXPORT) & b->ends)
		return true;
	if (b->ends & (a->names | (a->names & CONTEXT ? SLOT | PROGRAM : 0)) &&
	    (ret == -ENOENT || ret == -EINVAL || ret == -ECANCELED))
		return true;
	for (i = 0; i < 2; i++) {
		/* What a reset or the end of the device takes away. */
		if (pair[i]->ends & DEVICE && (ret == -ENODEV || ret == -ECANCELED || ret == -EIO))
			return true;
	}
	/* Two unbinds, or a reset of a device that is reset or has no driver. */
	return a->names & DEVICE && b->names & DEVICE;
}

static void delay(unsigned int turns)
{
	volatile unsigned int left = turns;

	while (left)
		left--;
}

struct side {
	const struct call *call;
	struct world *world;
	pthread_barrier_t *barrier;
	unsigned int delay;
	int *ret;
	bool *returned;
};

static void *side_run(void *arg)
{
	struct side *s = arg;

	pthread_barrier_wait(s->barrier);
	delay(s->delay);
	*s->ret = s->call->run(s->world);
	*s->returned = true;
	return NULL;
}

static int world_make(struct world *w, unsigned int kind)
{
	struct drm_prime_handle export = { .flags = DRM_CLOEXEC };
	struct drm_nnpu_context_create attrs = { 0 };
	char path[NNPU_DEBUGFS_PATH_MAX];
	struct nnpu_sqe_execute sqe;
	int ret;

	w->fd = nnpu_open();
	if (w->fd < 0)
		return w->fd;
	ret = nnpu_debugfs_dir(w->fd, path);
	if (!ret)
		snprintf(w->device, sizeof(w->device), "%s", strrchr(path, '/') + 1);
	if (!ret)
		ret = nnpu_context_create(w->fd, &attrs, &w->ctx);
	nnpu_test_ctx = w->ctx;
	if (!ret)
		ret = nnpu_job_init(w->fd, &w->job, 64);
	if (!ret)
		ret = nnpu_uq_create(w->fd, &w->uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
				     NNPU_UQ_ENTRIES);
	export.handle = w->job.buf.handle;
	if (!ret)
		ret = nnpu_ioctl(w->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &export);
	w->dmabuf = export.fd;
	w->image_size = nnpu_add_image(w->image, 64);
	nnpu_job_fill(&w->job, 1);
	if (!ret)
		ret = nnpu_job_submit(w->fd, &w->job);
	/* Half of the rounds: a job of each way is on the device. */
	if (!ret && kind & 1) {
		ret = nnpu_job_init_slow(w->fd, &w->slow, 24);
		if (!ret)
			ret = nnpu_job_submit(w->fd, &w->slow);
		nnpu_uq_job_sqe(&w->job, 1, &sqe);
		nnpu_uq_push(&w->uq, &sqe);
		nnpu_uq_ring(&w->uq);
	}
	if (!ret && kind & 2)
		ret = nnpu_inject(w->fd, NNPU_INJECT_ADMIN_SLOW, 2);
	if (!ret && kind & 4)
		ret = nnpu_inject(w->fd, NNPU_INJECT_DMA_SLOW, 2);
	return ret;
}

/* In a process of its own. */
static void round_run(const struct call *a, const struct call *b, unsigned int seed,
		      struct outcome *out)
{
	static struct world w;
	pthread_barrier_t barrier;
	struct side sides[2];
	pthread_t threads[2];
	unsigned int i;

	srandom(seed);
	out->setup = world_make(&w, (unsigned int)random() % 8);
	if (out->setup)
		return;
	pthread_barrier_init(&barrier, NULL, 2);
	for (i = 0; i < 2; i++) {
		sides[i] = (struct side){
			.call = i ? b : a, .world = &w, .barrier = &barrier,
			.delay = random() % 2 ? (unsigned int)random() % MAX_DELAY : 0,
			.ret = &out->ret[i], .returned = &out->returned[i],
		};
		if (pthread_create(&threads[i], NULL, side_run, &sides[i])) {
			out->setup = -EAGAIN;
			return;
		}
	}
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static uint64_t now_ms(void)
{
	return nnpu_now_ns() / 1000000;
}

/* True: the process has ended; how is in @status. */
static bool wait_for(pid_t pid, int *status)
{
	uint64_t end = now_ms() + HANG_MS;

	while (now_ms() < end) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		usleep(1000);
	}
	return false;
}

FIXTURE(pairs)
{
	char device[64];
	bool has_planted;
	unsigned int seed;
	struct outcome *out;
};

FIXTURE_SETUP(pairs)
{
	const char *seed = getenv("NNPU_PAIR_SEED");
	char path[NNPU_DEBUGFS_PATH_MAX];
	int fd = nnpu_open();

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	ASSERT_EQ(0, nnpu_debugfs_dir(fd, path));
	snprintf(self->device, sizeof(self->device), "%s", strrchr(path, '/') + 1);
	if (nnpu_inject(fd, NNPU_INJECT_ADMIN_SLOW, 0))
		NNPU_SKIP(return, "no fault injection");
	if (nnpu_sysfs_write(fd, "reset_method", "flr"))
		SKIP(return, "of PCI functions only");
	close(fd);
	self->has_planted = getenv("NNPU_PLANTED_KO");
	self->seed = seed ? (unsigned int)atoi(seed) : (unsigned int)time(NULL);
	self->out = mmap(NULL, sizeof(*self->out), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->out);
}

FIXTURE_TEARDOWN(pairs)
{
}

TEST_F(pairs, have_all_ioctls)
{
	unsigned int i, k;

	for (i = 0; i < sizeof(ioctls) / sizeof(ioctls[0]); i++) {
		for (k = 0; k < NUM_CALLS && calls[k].nr != ioctls[i].nr; k++)
			;
		EXPECT_GT(NUM_CALLS, k) {
			TH_LOG("%s has no row in calls[]", ioctls[i].name);
		}
	}
}

static bool can_run(const struct call *c, bool has_planted)
{
	return c->run != run_suspend || has_planted;
}

static void report(struct __test_metadata *_metadata, const struct call *a, const struct call *b,
		   unsigned int seed, const char *what, int ret)
{
	TH_LOG("%s / %s, NNPU_PAIR_SEED=%u: %s %d", a->name, b->name, seed, what, ret);
}

static void one_round(struct __test_metadata *_metadata, const char *device, struct outcome *out,
		      const struct call *a, const struct call *b, unsigned int seed)
{
	const struct call *const pair[] = { a, b };
	unsigned int i;
	int status;
	pid_t pid;

	memset(out, 0, sizeof(*out));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		round_run(a, b, seed, out);
		_exit(0);
	}
	ASSERT_TRUE(wait_for(pid, &status)) {
		report(_metadata, a, b, seed, "hangs; signalled, returned:",
		       out->returned[0] + 2 * out->returned[1]);
		kill(pid, SIGKILL);
	}
	if (a->run == run_unbind || b->run == run_unbind) {
		int ret = nnpu_driver_write("bind", device);

		/* A process that was killed may not have come to unbind it. */
		EXPECT_TRUE(!ret || (ret == -EBUSY && (a->ends | b->ends) & PROCESS)) {
			report(_metadata, a, b, seed, "does not bind again:", ret);
		}
	}
	EXPECT_EQ(0, out->setup) {
		report(_metadata, a, b, seed, "cannot be set up:", out->setup);
	}
	for (i = 0; i < 2 && !out->setup; i++) {
		EXPECT_TRUE(!out->returned[i] || explained(pair[i], pair[!i], out->ret[i])) {
			report(_metadata, pair[i], pair[!i], seed, "no order explains",
			       out->ret[i]);
		}
	}
	/* One of two that end the same object by its number finds it. */
	if (a == b && a->by_number && out->returned[0] && out->returned[1]) {
		EXPECT_EQ(1, !out->ret[0] + !out->ret[1]) {
			report(_metadata, a, b, seed, "ended both times or never:", out->ret[0]);
		}
	}
	/* A write to a doorbell that is not mapped, or the kill, may have ended it. */
	EXPECT_TRUE(WIFEXITED(status) || a->ends & (PROCESS | DOORBELL) ||
		    b->ends & (PROCESS | DOORBELL)) {
		report(_metadata, a, b, seed, "ended by signal", WTERMSIG(status));
	}
}

static bool nothing_left(void)
{
	static const char * const names[] = {
		"contexts", "slots", "programs", "jobs", "buffers", "queues",
	};
	uint64_t end = now_ms() + HANG_MS;
	unsigned int i = 0;
	int fd = nnpu_open();

	if (fd < 0)
		return false;
	while (i < sizeof(names) / sizeof(names[0]) && now_ms() < end) {
		if (nnpu_debugfs_value(fd, "objects", names[i]))
			usleep(10000);
		else
			i++;
	}
	close(fd);
	return i == sizeof(names) / sizeof(names[0]);
}

/* All pairs that meet, in an order that the seed chooses; how many. */
static unsigned int choose_pairs(unsigned int pairs[][2], bool has_planted, unsigned int seed)
{
	unsigned int a, b, i, n = 0;

	for (a = 0; a < NUM_CALLS; a++)
		for (b = a; b < NUM_CALLS; b++)
			if (meet(&calls[a], &calls[b]) && can_run(&calls[a], has_planted) &&
			    can_run(&calls[b], has_planted)) {
				pairs[n][0] = a;
				pairs[n++][1] = b;
			}
	srandom(seed);
	for (i = n - 1; i; i--) {
		unsigned int k = (unsigned int)random() % (i + 1), x = pairs[i][0], y = pairs[i][1];

		pairs[i][0] = pairs[k][0];
		pairs[i][1] = pairs[k][1];
		pairs[k][0] = x;
		pairs[k][1] = y;
	}
	return n;
}

TEST_F_TIMEOUT(pairs, every_order_is_explained, 360000)
{
	static unsigned int pairs[NUM_CALLS * NUM_CALLS][2];
	const char *rounds_text = getenv("NNPU_PAIR_ROUNDS");
	unsigned int rounds = rounds_text ? (unsigned int)atoi(rounds_text) : 0;
	unsigned int n = choose_pairs(pairs, self->has_planted, self->seed), done = 0;
	uint64_t end = now_ms() + ALL_SECONDS * 1000;

	while (rounds ? done < rounds * n : now_ms() < end) {
		one_round(_metadata, self->device, self->out, &calls[pairs[done % n][0]],
			  &calls[pairs[done % n][1]], self->seed + done);
		done++;
		if (_metadata->exit_code)
			return;
	}
	EXPECT_TRUE(nothing_left());
	TH_LOG("%u rounds of %u pairs, NNPU_PAIR_SEED=%u", done, n, self->seed);
}

TEST_HARNESS_MAIN
