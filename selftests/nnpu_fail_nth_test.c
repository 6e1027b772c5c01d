// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation and every copy from or to user memory on the way through every ioctl,
 * open, mmap and the probe of the device fails once: the call reports an error or
 * succeeds all the same, leaves nothing behind, and works the next time. The last test
 * prints how many failures there were, and fails if a call had none.
 *
 * Needs a kernel with failslab, fail_usercopy and fail-nth, and the right to set them
 * up: the debug kernel of `make check-debug`. fail_function cannot be used there: its
 * breakpoint takes a lock that is not for the context of one, and lockdep says so.
 *
 *   NNPU_PROBE_STRIDE   every Nth place of the probe    (default 40)
 */
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define PAGE		4096u
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)
/* More allocations than any call makes. */
#define MAX_NTH		2000
#define PINNED		(600u * PAGE)
#define DEBUGFS		"/sys/kernel/debug"

/* What may fail, with the ioctl it is; 0: none. */
#define TARGETS(X)							\
	X(open, 0)							\
	X(mmap, 0)							\
	X(probe, 0)							\
	X(query, DRM_IOCTL_NNPU_QUERY)					\
	X(bo_create, DRM_IOCTL_NNPU_BO_CREATE)				\
	X(bo_mmap, DRM_IOCTL_NNPU_BO_MMAP)				\
	X(bo_close, DRM_IOCTL_GEM_CLOSE)				\
	X(bo_userptr, DRM_IOCTL_NNPU_BO_USERPTR)			\
	X(context, DRM_IOCTL_NNPU_SLOT_BIND)				\
	X(context_create, DRM_IOCTL_NNPU_CONTEXT_CREATE)		\
	X(context_destroy, DRM_IOCTL_NNPU_CONTEXT_DESTROY)		\
	X(slot_bind, DRM_IOCTL_NNPU_SLOT_BIND)				\
	X(slot_unbind, DRM_IOCTL_NNPU_SLOT_UNBIND)			\
	X(export, DRM_IOCTL_PRIME_HANDLE_TO_FD)				\
	X(import, DRM_IOCTL_PRIME_FD_TO_HANDLE)				\
	X(load, DRM_IOCTL_NNPU_PROGRAM_LOAD)				\
	X(check, DRM_IOCTL_NNPU_PROGRAM_LOAD)				\
	X(unload, DRM_IOCTL_NNPU_PROGRAM_UNLOAD)			\
	X(submit, DRM_IOCTL_NNPU_SUBMIT)				\
	X(first_submit, DRM_IOCTL_NNPU_SUBMIT)				\
	X(queue_create, DRM_IOCTL_NNPU_QUEUE_CREATE)			\
	X(queue_destroy, DRM_IOCTL_NNPU_QUEUE_DESTROY)			\
	X(queue_wait, DRM_IOCTL_NNPU_QUEUE_WAIT)			\
	X(ring, 0)

#define TARGET_NUMBER(name, request)	TARGET_##name,
enum target { TARGETS(TARGET_NUMBER) NUM_TARGETS };

#define TARGET_ENTRY(name, request)	{ #name, request },
static const struct {
	const char *name;
	unsigned long request;
} targets[] = { TARGETS(TARGET_ENTRY) };

/* Each test is a process of its own: what they count is in memory they share. */
static struct {
	unsigned int injected[NUM_TARGETS];
	unsigned int failed[NUM_TARGETS];
} *counts;

__attribute__((constructor))
static void map_counts(void)
{
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (counts == MAP_FAILED)
		abort();
}

/* The kernel is meant to have all this: what is missing is a failure, not a skip. */
static bool debug_kernel(void)
{
	return getenv("NNPU_DEBUG_KERNEL");
}

/* Allocations that may sleep fail as well, and nothing is printed about it. */
static bool set_up(void)
{
	return access("/proc/thread-self/fail-nth", W_OK) == 0 &&
	       !nnpu_write_file(DEBUGFS, "failslab/ignore-gfp-wait", "N") &&
	       !nnpu_write_file(DEBUGFS, "failslab/verbose", "0") &&
	       !nnpu_write_file(DEBUGFS, "fail_page_alloc/ignore-gfp-wait", "N") &&
	       !nnpu_write_file(DEBUGFS, "fail_page_alloc/min-order", "0") &&
	       !nnpu_write_file(DEBUGFS, "fail_page_alloc/verbose", "0") &&
	       !nnpu_write_file(DEBUGFS, "fail_usercopy/verbose", "0");
}

/* The injection of this process. */
static struct {
	int fd;
	unsigned int n;
	/* The next call of this request begins it; 0: nth_begin() is called by hand. */
	unsigned long request;
	/* Was it begun? Its count reads as 0 before, too. */
	bool armed;
	/* Was there a failure, and did the call report it? */
	bool injected;
	bool failed;
} nth = { .fd = -1 };

static void nth_begin(void)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth.n);

	if (!nth.n)
		return;
	if (pwrite(nth.fd, text, (size_t)len, 0) != len)
		abort();
	nth.armed = true;
}

/* Ends the injection. The calls in here copy, too, and may be the ones that fail. */
static void nth_end(void)
{
	char text[16] = "";
	int tries = 4;

	if (!nth.n)
		return;
	nth.injected = nth.armed && pread(nth.fd, text, sizeof(text) - 1, 0) > 0 && atoi(text) == 0;
	while (pwrite(nth.fd, "0", 1, 0) != 1)
		if (errno != EFAULT || !--tries)
			abort();
	nth.armed = false;
}

/* Nothing is left if what takes away fails the first time. */
static bool takes_away(unsigned long request)
{
	return request == DRM_IOCTL_GEM_CLOSE || request == DRM_IOCTL_NNPU_SLOT_UNBIND ||
	       request == DRM_IOCTL_NNPU_PROGRAM_UNLOAD ||
	       request == DRM_IOCTL_NNPU_CONTEXT_DESTROY ||
	       request == DRM_IOCTL_NNPU_QUEUE_DESTROY;
}

/* In place of ioctl(): with the injection around the call under test. */
static int injecting_ioctl(int fd, unsigned long request, void *arg)
{
	int ret, error;

	if (nth.request != request) {
		ret = ioctl(fd, request, arg);
		error = errno;
	} else {
		nth.request = 0;
		nth_begin();
		ret = ioctl(fd, request, arg);
		error = errno;
		nth_end();
		nth.failed = nth.injected && ret == -1;
	}
	if (ret == -1 && error == EFAULT && takes_away(request))
		ioctl(fd, request, arg);
	errno = error;
	return ret;
}

/* What a call under test works with; set up and taken down without injection. */
struct state {
	int fd;
	struct nnpu_job job;
	struct nnpu_uq uq;
	int dmabuf;
	void *pages;
	char path[64];
};

/* A call: 0 or -errno; what it made is undone in here, too. */
typedef int (*call_fn)(struct state *s);

static int call_open(struct state *s)
{
	int fd, ret;

	nth_begin();
	fd = open(s->path, O_RDWR | O_CLOEXEC);
	ret = fd < 0 ? -errno : 0;
	nth_end();
	if (!ret)
		close(fd);
	return ret;
}

static int call_mmap(struct state *s)
{
	struct drm_nnpu_bo_mmap arg = { .handle = s->uq.ring_handle };
	int ret = nnpu_ioctl(s->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg);
	void *map;

	if (ret)
		return ret;
	nth_begin();
	map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, (off_t)arg.offset);
	ret = map == MAP_FAILED ? -errno : 0;
	nth_end();
	if (!ret)
		munmap(map, 2 * PAGE);
	return ret;
}

static int call_bo_create(struct state *s)
{
	uint32_t handle;
	int ret = nnpu_bo_create(s->fd, 2 * PAGE, &handle);

	return ret ? ret : nnpu_bo_close(s->fd, handle);
}

#define call_bo_close	call_bo_create

static int call_bo_mmap(struct state *s)
{
	struct drm_nnpu_bo_mmap arg = { .handle = s->uq.ring_handle };

	return nnpu_ioctl(s->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg);
}

/* Pages that are there, and enough of them for two steps. */
static int call_bo_userptr(struct state *s)
{
	struct drm_nnpu_bo_userptr arg = {
		.addr = (uintptr_t)s->pages, .size = PINNED, .flags = DRM_NNPU_USERPTR_WRITE,
	};
	int ret = nnpu_ioctl(s->fd, DRM_IOCTL_NNPU_BO_USERPTR, &arg);

	return ret ? ret : nnpu_bo_close(s->fd, arg.handle);
}

static int call_slot_bind(struct state *s)
{
	uint32_t slot;
	int ret = nnpu_slot_bind(s->fd, s->uq.ring_handle, 0, PAGE, RW, &slot);

	return ret ? ret : nnpu_slot_unbind(s->fd, slot);
}

#define call_slot_unbind	call_slot_bind

/* The first call of a file that needs a context. After a failure the file is as before. */
static int call_context(struct state *s)
{
	int fd = open(s->path, O_RDWR | O_CLOEXEC), ret;
	uint32_t handle, slot;

	if (fd < 0)
		return -errno;
	ret = nnpu_bo_create(fd, PAGE, &handle);
	if (!ret) {
		ret = nnpu_slot_bind(fd, handle, 0, PAGE, RW, &slot);
		nth.request = 0;
		/* Positive: this must not happen. */
		if (ret && nnpu_slot_bind(fd, handle, 0, PAGE, RW, &slot))
			ret = 1;
	}
	close(fd);
	return ret;
}

static int call_context_create(struct state *s)
{
	const struct drm_nnpu_context_create attrs = { .weight = 1 };
	int fd = open(s->path, O_RDWR | O_CLOEXEC), ret;
	uint32_t ctx;

	if (fd < 0)
		return -errno;
	ret = nnpu_context_create(fd, &attrs, &ctx);
	if (!ret)
		ret = nnpu_context_destroy(fd, ctx);
	close(fd);
	return ret;
}

#define call_context_destroy	call_context_create

static int call_export(struct state *s)
{
	struct drm_prime_handle prime = {
		.handle = s->uq.ring_handle, .flags = DRM_CLOEXEC | DRM_RDWR,
	};
	int ret = nnpu_ioctl(s->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime);

	if (!ret)
		close(prime.fd);
	return ret;
}

static int call_import(struct state *s)
{
	struct drm_prime_handle prime = { .fd = s->dmabuf };
	uint32_t slot;
	int ret = nnpu_ioctl(s->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);

	if (ret)
		return ret;
	ret = nnpu_slot_bind(s->fd, prime.handle, 0, PAGE, DRM_NNPU_SLOT_READ, &slot);
	if (!ret)
		nnpu_slot_unbind(s->fd, slot);
	nnpu_bo_close(s->fd, prime.handle);
	return ret;
}

static int call_load(struct state *s)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	size_t size = nnpu_add_image(image, 32);
	uint32_t program;
	int ret = nnpu_program_load(s->fd, image, size, &program, NULL);

	return ret ? ret : nnpu_program_unload(s->fd, program);
}

#define call_unload	call_load

static int call_check(struct state *s)
{
	char image[NNPU_ADD_IMAGE_SIZE] __attribute__((aligned(8)));
	struct nnpu_command_report report;
	struct drm_nnpu_program_load arg = {
		.image = (uintptr_t)image,
		.image_size = (uint32_t)nnpu_add_image(image, 32),
		.flags = DRM_NNPU_PROGRAM_CHECK,
		.report = (uintptr_t)&report,
		.num_reports = 1,
	};

	return nnpu_ioctl(s->fd, DRM_IOCTL_NNPU_PROGRAM_LOAD, &arg);
}

static int call_submit(struct state *s)
{
	return nnpu_job_run(s->fd, &s->job, 1);
}

/* The first job of a file. After a failure the file is as before. */
static int call_first_submit(struct state *s)
{
	int fd = open(s->path, O_RDWR | O_CLOEXEC), ret;
	struct nnpu_job job;

	if (fd < 0)
		return -errno;
	ret = nnpu_job_init(fd, &job, 64);
	if (!ret) {
		ret = nnpu_job_run(fd, &job, 1);
		nth.request = 0;
		/* Positive: this must not happen. */
		if (ret && nnpu_job_run(fd, &job, 1))
			ret = 1;
		nnpu_job_fini(fd, &job);
	}
	close(fd);
	return ret;
}

static int call_queue_create(struct state *s)
{
	struct nnpu_uq uq;
	int ret = nnpu_uq_create(s->fd, &uq, 1, 4, 4);

	if (!ret)
		nnpu_uq_destroy(s->fd, &uq);
	return ret;
}

#define call_queue_destroy	call_queue_create

/* Nothing comes, so it always sleeps. */
static int call_queue_wait(struct state *s)
{
	int ret = nnpu_uq_sleep(s->fd, &s->uq, 1, NULL, NULL);

	return ret == -ETIME ? 0 : ret;
}

/* All of a queue, with its faults; SIGBUS would end the test. */
static int call_ring(struct state *s)
{
	struct nnpu_uq uq;
	int ret;

	nth_begin();
	ret = nnpu_uq_create(s->fd, &uq, 1, 4, 4);
	if (!ret) {
		ret = nnpu_uq_run(s->fd, &uq, &s->job, 3);
		nnpu_uq_destroy(s->fd, &uq);
	}
	nth_end();
	return ret;
}

static int call_query(struct state *s)
{
	struct drm_nnpu_device_info info;
	uint32_t size = sizeof(info);

	return nnpu_query(s->fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size);
}

FIXTURE(fail_nth)
{
	struct state s;
};

FIXTURE_VARIANT(fail_nth)
{
	enum target target;
	call_fn call;
};

#define CALL(name) \
	FIXTURE_VARIANT_ADD(fail_nth, name) { .target = TARGET_##name, .call = call_##name }

CALL(open);
CALL(mmap);
CALL(query);
CALL(bo_create);
CALL(bo_mmap);
CALL(bo_close);
CALL(bo_userptr);
CALL(context);
CALL(context_create);
CALL(context_destroy);
CALL(slot_bind);
CALL(slot_unbind);
CALL(export);
CALL(import);
CALL(load);
CALL(check);
CALL(unload);
CALL(submit);
CALL(first_submit);
CALL(queue_create);
CALL(queue_destroy);
CALL(queue_wait);
CALL(ring);

static void nth_open(void)
{
	nth.fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	nnpu_raw_ioctl = injecting_ioctl;
}

FIXTURE_SETUP(fail_nth)
{
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	struct state *s = &self->s;
	char link[32];
	uint32_t handle;
	int other;

	s->fd = nnpu_open();
	if (s->fd < 0) {
		ASSERT_FALSE(nnpu_device_required());
		SKIP(return, "no NNPU device: %s", strerror(-s->fd));
	}
	if (!set_up()) {
		ASSERT_FALSE(debug_kernel());
		close(s->fd);
		s->fd = -1;
		SKIP(return, "kernel without fault injection");
	}
	nth_open();
	ASSERT_LE(0, nth.fd);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->fd);
	ASSERT_LT(0, readlink(link, s->path, sizeof(s->path) - 1));
	ASSERT_EQ(0, nnpu_job_init(s->fd, &s->job, 64));
	ASSERT_EQ(0, nnpu_uq_create(s->fd, &s->uq, 1, 4, 4));
	s->pages = mmap(NULL, PINNED, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	ASSERT_NE(MAP_FAILED, s->pages);
	/* A buffer of another file. */
	other = nnpu_open();
	ASSERT_LE(0, other);
	ASSERT_EQ(0, nnpu_bo_create(other, PAGE, &handle));
	prime.handle = handle;
	ASSERT_EQ(0, nnpu_ioctl(other, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	s->dmabuf = prime.fd;
	close(other);
	/* Caches and lazily made things are there before the count begins. */
	ASSERT_EQ(0, variant->call(s));
}

FIXTURE_TEARDOWN(fail_nth)
{
	struct state *s = &self->s;

	if (s->fd < 0)
		return;
	close(nth.fd);
	munmap(s->pages, PINNED);
	nnpu_job_fini(s->fd, &s->job);
	nnpu_uq_destroy(s->fd, &s->uq);
	close(s->dmabuf);
	close(s->fd);
}

/* The call with its nth place failing; the same call without that works. */
static int call_nth(struct state *s, call_fn call, enum target target, unsigned int n)
{
	int ret;

	nth.n = n;
	nth.injected = false;
	nth.failed = false;
	nth.request = targets[target].request;
	ret = call(s);
	nth.n = 0;
	nth.request = 0;
	if (nth.injected) {
		counts->injected[target]++;
		counts->failed[target] += ret < 0 || nth.failed;
	}
	return ret;
}

/* Somebody who looks at all contexts all the time, those that are about to fail among them. */
struct looker {
	pthread_t thread;
	bool runs;
	volatile bool stop;
	char path[NNPU_DEBUGFS_PATH_MAX + 32];
};

static void *looker_run(void *arg)
{
	struct looker *l = arg;
	char text[4096];
	int fd;

	while (!l->stop) {
		fd = open(l->path, O_RDONLY | O_CLOEXEC);
		while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
	return NULL;
}

static bool looker_start(struct looker *l, int fd)
{
	char dir[NNPU_DEBUGFS_PATH_MAX];

	if (nnpu_debugfs_dir(fd, dir))
		return false;
	snprintf(l->path, sizeof(l->path), "%s/state", dir);
	l->runs = !access(l->path, R_OK) && !pthread_create(&l->thread, NULL, looker_run, l);
	return l->runs;
}

static void looker_stop(struct looker *l)
{
	l->stop = true;
	if (l->runs)
		pthread_join(l->thread, NULL);
}

TEST_F_TIMEOUT(fail_nth, unwinds, 1800)
{
	struct state *s = &self->s;
	struct looker looker = { 0 };
	unsigned int n;
	int ret;

	if (variant->target == TARGET_context || variant->target == TARGET_context_create)
		ASSERT_TRUE(looker_start(&looker, s->fd));
	for (n = 1; n < MAX_NTH; n++) {
		ret = call_nth(s, variant->call, variant->target, n);
		if (!nth.injected) {
			EXPECT_EQ(0, ret);
			break;
		}
		EXPECT_LE(ret, 0);
		/* The state is as before: the same call works. */
		ASSERT_EQ(0, variant->call(s))
			TH_LOG("after a failure at place %u (%d)", n, ret);
		/* What is broken stays so. */
		if (n % 8 == 0)
			ASSERT_EQ(0, nnpu_job_run(s->fd, &s->job, n))
				TH_LOG("after a failure at one of the places up to %u", n);
	}
	looker_stop(&looker);
	EXPECT_EQ(0, nnpu_job_run(s->fd, &s->job, n));
	EXPECT_LT(n, MAX_NTH);
}

/*
 * All allocations of 16 pages and more of this process fail, or none any more. This process opens the
 * files: it takes itself out before it lets smaller ones fail.
 */
static bool large_fail(bool fail)
{
	if (!fail)
		return !nnpu_write_file("/proc/self", "make-it-fail", "0") &&
		       !nnpu_write_file(DEBUGFS, "fail_page_alloc/probability", "0") &&
		       !nnpu_write_file(DEBUGFS, "fail_page_alloc/task-filter", "N") &&
		       !nnpu_write_file(DEBUGFS, "fail_page_alloc/times", "1") &&
		       !nnpu_write_file(DEBUGFS, "fail_page_alloc/min-order", "0");
	return !nnpu_write_file(DEBUGFS, "fail_page_alloc/min-order", "4") &&
	       !nnpu_write_file(DEBUGFS, "fail_page_alloc/times", "-1") &&
	       !nnpu_write_file(DEBUGFS, "fail_page_alloc/task-filter", "Y") &&
	       !nnpu_write_file(DEBUGFS, "fail_page_alloc/probability", "100") &&
	       !nnpu_write_file("/proc/self", "make-it-fail", "1");
}

/* Memory that is in pieces has room for a context. */
TEST(small_pieces)
{
	const struct drm_nnpu_context_create attrs = { 0 };
	int fd = nnpu_open(), ret;
	struct nnpu_job job;
	bool works;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	if (!set_up()) {
		ASSERT_FALSE(debug_kernel());
		SKIP(return, "kernel without fault injection");
	}
	ASSERT_TRUE(large_fail(true));
	ret = nnpu_context_create(fd, &attrs, &nnpu_test_ctx);
	works = !ret && !nnpu_job_init(fd, &job, 64) && !nnpu_job_run(fd, &job, 1);
	EXPECT_TRUE(large_fail(false));
	EXPECT_EQ(0, ret);
	EXPECT_TRUE(works);
	nnpu_test_ctx = 0;
	close(fd);
}

FIXTURE(probe)
{
	char address[32];
	char bound[64];
	int bind;
};

FIXTURE_SETUP(probe)
{
	glob_t g;

	self->bind = -1;
	if (!set_up()) {
		ASSERT_FALSE(debug_kernel());
		SKIP(return, "kernel without fault injection");
	}
	nth_open();
	ASSERT_LE(0, nth.fd);
	ASSERT_EQ(0, glob(NNPU_DRIVER_DIR "/*:*:*.*", 0, NULL, &g));
	snprintf(self->address, sizeof(self->address), "%s", strrchr(g.gl_pathv[0], '/') + 1);
	snprintf(self->bound, sizeof(self->bound), NNPU_DRIVER_DIR "/%s", self->address);
	globfree(&g);
	self->bind = open(NNPU_DRIVER_DIR "/bind", O_WRONLY | O_CLOEXEC);
	ASSERT_LE(0, self->bind);
}

FIXTURE_TEARDOWN(probe)
{
	if (self->bind < 0)
		return;
	close(nth.fd);
	close(self->bind);
	if (access(self->bound, F_OK))
		nnpu_driver_write("bind", self->address);
}

/* Bind the device through @bind, an open file. The nth allocation fails; 0: none does. */
static int bind_nth(int bind, const char *address, unsigned int n)
{
	int ret = 0;

	nth.n = n;
	nth.injected = false;
	nth_begin();
	if (pwrite(bind, address, strlen(address), 0) < 0)
		ret = -errno;
	nth_end();
	nth.n = 0;
	if (nth.injected) {
		counts->injected[TARGET_probe]++;
		counts->failed[TARGET_probe] += ret < 0;
	}
	return ret;
}

/*
 * Open the device whose directory in sysfs is @device through a node of our own: device_add()
 * does not say when devtmpfs had no memory for one, so the driver cannot know.
 */
static int open_by_number(const char *device)
{
	char pattern[96], path[] = "/tmp/nnpu-fail-nth-XXXXXX";
	unsigned int major, minor;
	int fd = -ENOENT, n = 0;
	FILE *file;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/{accel/accel,drm/renderD}*/dev", device);
	if (glob(pattern, GLOB_BRACE, NULL, &g))
		return -ENOENT;
	file = fopen(g.gl_pathv[0], "r");
	globfree(&g);
	if (file) {
		n = fscanf(file, "%u:%u", &major, &minor);
		fclose(file);
	}
	if (n != 2 || !mkdtemp(path))
		return -EIO;
	snprintf(pattern, sizeof(pattern), "%s/node", path);
	if (!mknod(pattern, S_IFCHR | 0600, makedev(major, minor))) {
		fd = open(pattern, O_RDWR | O_CLOEXEC);
		unlink(pattern);
	}
	if (fd < 0)
		fd = -errno;
	rmdir(path);
	return fd;
}

/* The device whose directory in sysfs is @device works. */
static int use_device(const char *device)
{
	struct nnpu_job job;
	int fd = nnpu_open(), ret;

	if (fd == -ENOENT)
		fd = open_by_number(device);
	if (fd < 0)
		return fd;
	ret = nnpu_job_init(fd, &job, 64);
	if (!ret) {
		ret = nnpu_job_run(fd, &job, 1);
		nnpu_job_fini(fd, &job);
	}
	close(fd);
	return ret;
}

TEST_F_TIMEOUT(probe, unwinds, 3600)
{
	const char *text = getenv("NNPU_PROBE_STRIDE");
	unsigned int stride = text ? (unsigned int)atoi(text) : 40, n, rounds = 0;
	int ret;

	ASSERT_LT(0, stride);
	ASSERT_EQ(0, nnpu_driver_write("unbind", self->address));
	for (n = 1; n < 10 * MAX_NTH; n += stride) {
		ret = bind_nth(self->bind, self->address, n);
		EXPECT_EQ(ret < 0, access(self->bound, F_OK) < 0)
			TH_LOG("place %u: bind says %d", n, ret);
		if (!nth.injected)
			break;
		/* Now and then that it works all the same; in between, failures in a row. */
		if (ret && ++rounds % 8 == 0)
			ASSERT_EQ(0, bind_nth(self->bind, self->address, 0))
				TH_LOG("after a failure at place %u", n);
		if (access(self->bound, F_OK))
			continue;
		/* A probe that got over it has to be complete. */
		ASSERT_EQ(0, use_device(self->bound))
			TH_LOG("after a failure at place %u, bind said %d", n, ret);
		ASSERT_EQ(0, nnpu_driver_write("unbind", self->address));
	}
	EXPECT_LT(n, 10 * MAX_NTH);
	EXPECT_EQ(0, ret);
	EXPECT_EQ(0, use_device(self->bound));
	TH_LOG("%u places in the probe, every %uth", n, stride);
}

/* Registered last, so it runs last. */
FIXTURE(total)
{
	int unused;
};

FIXTURE_SETUP(total)
{
	if (!set_up() && !debug_kernel())
		SKIP(return, "kernel without fault injection");
}

FIXTURE_TEARDOWN(total)
{
}

TEST_F(total, each_call_failed)
{
	unsigned int i, injected = 0, failed = 0;

	for (i = 0; i < NUM_TARGETS; i++) {
		TH_LOG("%-14s %4u injected, %4u calls failed", targets[i].name,
		       counts->injected[i], counts->failed[i]);
		EXPECT_LE(1, counts->injected[i])
			TH_LOG("no injection hit %s", targets[i].name);
		EXPECT_LE(1, counts->failed[i])
			TH_LOG("%s never failed", targets[i].name);
		injected += counts->injected[i];
		failed += counts->failed[i];
	}
	TH_LOG("sum: %u injected, %u calls failed", injected, failed);
}

TEST_HARNESS_MAIN
