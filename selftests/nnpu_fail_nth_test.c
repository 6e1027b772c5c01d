// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every allocation on the way through every ioctl fails once: the call reports an
 * error or succeeds all the same, leaves nothing behind, and works the next time.
 *
 * Needs a kernel with failslab and fail-nth, and the right to set them up: the
 * debug kernel of `make check-debug`. Functions of the driver fail by fail_function
 * where the kernel has it.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "nnpu_test_queue.h"

#define PAGE		4096u
#define RW		(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE)
/* More allocations than any call makes. */
#define MAX_NTH		2000
#define DEBUGFS		"/sys/kernel/debug"

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
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
	       !write_text(DEBUGFS "/failslab/ignore-gfp-wait", "N") &&
	       !write_text(DEBUGFS "/failslab/verbose", "0") &&
	       !write_text(DEBUGFS "/fail_page_alloc/ignore-gfp-wait", "N") &&
	       !write_text(DEBUGFS "/fail_page_alloc/min-order", "0") &&
	       !write_text(DEBUGFS "/fail_page_alloc/verbose", "0");
}

struct nth {
	int fd;
	unsigned int n;
};

static void nth_begin(struct nth *nth)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth->n);

	if (pwrite(nth->fd, text, (size_t)len, 0) != len)
		exit(1);
}

/* Ends the injection; false if fewer allocations were made. */
static bool nth_end(struct nth *nth)
{
	char text[16] = "";
	bool injected;

	if (pread(nth->fd, text, sizeof(text) - 1, 0) < 0)
		exit(1);
	injected = atoi(text) == 0;
	if (pwrite(nth->fd, "0", 1, 0) != 1)
		exit(1);
	return injected;
}

/* What a call under test works with; set up and taken down without injection. */
struct state {
	int fd;
	struct nnpu_job job;
	struct nnpu_uq uq;
	int dmabuf;
};

/* A call: 0 or -errno; what it made is undone in here, too. */
typedef int (*call_fn)(struct state *s);

static int call_open(struct state *s)
{
	int fd = nnpu_open();

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int call_bo_create(struct state *s)
{
	uint32_t handle;
	int ret = nnpu_bo_create(s->fd, 2 * PAGE, &handle);

	if (!ret)
		nnpu_bo_close(s->fd, handle);
	return ret;
}

static int call_bo_mmap(struct state *s)
{
	void *map;
	int ret = nnpu_bo_mmap(s->fd, s->uq.ring_handle, 2 * PAGE, &map);

	if (!ret)
		munmap(map, 2 * PAGE);
	return ret;
}

static int call_slot(struct state *s)
{
	struct nnpu_buf buf;
	int ret = nnpu_buf_create(s->fd, &buf, 4 * PAGE, RW);

	if (!ret)
		nnpu_buf_destroy(s->fd, &buf);
	return ret;
}

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

	if (!ret)
		nnpu_program_unload(s->fd, program);
	return ret;
}

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

static int call_queue(struct state *s)
{
	struct nnpu_uq uq;
	int ret = nnpu_uq_create(s->fd, &uq, 1, 4, 4);

	if (!ret)
		nnpu_uq_destroy(s->fd, &uq);
	return ret;
}

/* The fault handler and QUEUE_WAIT; SIGBUS would end the test. */
static int call_ring(struct state *s)
{
	struct nnpu_uq uq;
	int ret = nnpu_uq_create(s->fd, &uq, 1, 4, 4);

	if (ret)
		return ret;
	ret = nnpu_uq_run(s->fd, &uq, &s->job, 3);
	nnpu_uq_destroy(s->fd, &uq);
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
	struct nth nth;
};

FIXTURE_VARIANT(fail_nth)
{
	call_fn call;
};

#define CALL(name) \
	FIXTURE_VARIANT_ADD(fail_nth, name) { .call = call_##name }

CALL(open);
CALL(query);
CALL(bo_create);
CALL(bo_mmap);
CALL(slot);
CALL(export);
CALL(import);
CALL(load);
CALL(check);
CALL(submit);
CALL(queue);
CALL(ring);

FIXTURE_SETUP(fail_nth)
{
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	struct state *s = &self->s;
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
	self->nth.fd = open("/proc/thread-self/fail-nth", O_RDWR);
	ASSERT_LE(0, self->nth.fd);
	ASSERT_EQ(0, nnpu_job_init(s->fd, &s->job, 64));
	ASSERT_EQ(0, nnpu_uq_create(s->fd, &s->uq, 1, 4, 4));
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
	close(self->nth.fd);
	nnpu_job_fini(s->fd, &s->job);
	nnpu_uq_destroy(s->fd, &s->uq);
	close(s->dmabuf);
	close(s->fd);
}

TEST_F_TIMEOUT(fail_nth, unwinds, 1800)
{
	struct state *s = &self->s;
	unsigned int failures = 0;
	bool injected;
	int ret;

	for (self->nth.n = 1; self->nth.n < MAX_NTH; self->nth.n++) {
		nth_begin(&self->nth);
		ret = variant->call(s);
		injected = nth_end(&self->nth);
		if (!injected) {
			EXPECT_EQ(0, ret);
			break;
		}
		EXPECT_LE(ret, 0);
		failures += ret < 0;
		/* The state is as before: the same call works. */
		ASSERT_EQ(0, variant->call(s))
			TH_LOG("after a failure of allocation %u (%d)", self->nth.n, ret);
		ASSERT_EQ(0, nnpu_job_run(s->fd, &s->job, self->nth.n));
	}
	EXPECT_LT(self->nth.n, MAX_NTH);
	TH_LOG("%u allocations failed, %u calls with them", self->nth.n - 1, failures);
}

/* Functions of the driver that may be told to fail, and with what. */
static const struct {
	const char *name;
	int error;
} functions[] = {
	{ "nnpu_gem_dma_page", ENOMEM },
	{ "nnpu_pt_init", ENOMEM },
	{ "nnpu_table_reserve", ENOSPC },
};

static int function_arm(const char *name, int error, bool on)
{
	char path[128], text[32];
	int ret = write_text(DEBUGFS "/fail_function/inject", on ? name : "");

	if (ret || !on)
		return ret;
	snprintf(path, sizeof(path), DEBUGFS "/fail_function/%s/retval", name);
	snprintf(text, sizeof(text), "%#llx", (unsigned long long)(long long)-error);
	return write_text(path, text);
}

TEST_F_TIMEOUT(fail_nth, functions_fail, 300)
{
	struct state *s = &self->s;
	unsigned int i;
	int ret;

	if (write_text(DEBUGFS "/fail_function/verbose", "0") ||
	    function_arm(functions[0].name, functions[0].error, true)) {
		ASSERT_FALSE(debug_kernel());
		SKIP(return, "kernel without fail_function for modules");
	}
	function_arm("", 0, false);
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		/* Only this task, once. */
		ASSERT_EQ(0, function_arm(functions[i].name, functions[i].error, true))
			TH_LOG("%s", functions[i].name);
		write_text(DEBUGFS "/fail_function/task-filter", "Y");
		write_text(DEBUGFS "/fail_function/probability", "100");
		write_text(DEBUGFS "/fail_function/times", "1");
		write_text("/proc/self/make-it-fail", "1");
		ret = variant->call(s);
		write_text("/proc/self/make-it-fail", "0");
		function_arm("", 0, false);
		EXPECT_LE(ret, 0);
		ASSERT_EQ(0, variant->call(s))
			TH_LOG("after a failure of %s (%d)", functions[i].name, ret);
	}
}

TEST_HARNESS_MAIN
