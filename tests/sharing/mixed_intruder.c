// SPDX-License-Identifier: MIT
/*
 * What a process has of the driver by numbers, and what it gets with the numbers of others: nothing.
 *
 * Attempts are made with a file that has no objects, so that a number is good nowhere in it, and with the
 * file of the process's own objects where numbers are good in the whole device (mmap() offsets).
 */
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm.h>

#include "../../selftests/nnpu_test_queue.h"
#include "mixed.h"

#define PAGE	4096u
#define COUNT	64u
/* Objects of each process before those that it publishes, so that numbers differ. */
#define MOST_BEFORE	4u

struct intruder {
	pthread_mutex_t lock;
	int fd;
	struct nnpu_job job;
	struct nnpu_uq uq;
	uint32_t context;
	uint32_t seed;
	uint64_t offset;
};

struct intruder *intruder_create(struct published *own, unsigned int number)
{
	struct intruder *i = calloc(1, sizeof(*i));
	struct drm_nnpu_bo_mmap arg = { 0 };
	uint32_t handle, slot;
	unsigned int n;

	if (!i)
		return NULL;
	pthread_mutex_init(&i->lock, NULL);
	i->fd = nnpu_open();
	if (i->fd < 0)
		goto err_free;
	for (n = 0; n <= number % MOST_BEFORE; n++)
		if (nnpu_bo_create(i->fd, PAGE, &handle) ||
		    nnpu_slot_bind(i->fd, handle, 0, PAGE, DRM_NNPU_SLOT_READ, &slot))
			goto err_close;
	if (nnpu_context_create(i->fd, &(struct drm_nnpu_context_create){ 0 }, &i->context) ||
	    nnpu_job_init(i->fd, &i->job, COUNT) ||
	    nnpu_uq_create(i->fd, &i->uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES,
			   NNPU_UQ_ENTRIES))
		goto err_close;
	arg.handle = i->job.buf.handle;
	if (nnpu_ioctl(i->fd, DRM_IOCTL_NNPU_BO_MMAP, &arg))
		goto err_close;
	i->offset = arg.offset;
	own->handle = i->job.buf.handle;
	own->offset = arg.offset;
	own->context = i->context;
	own->program = i->job.program;
	own->slot = i->job.buf.slot;
	own->queue = i->uq.id;
	return i;

err_close:
	close(i->fd);
err_free:
	free(i);
	return NULL;
}

bool intruder_check(struct intruder *i)
{
	struct drm_nnpu_context_info info = { 0 };
	struct drm_nnpu_query query = {
		.topic = DRM_NNPU_QUERY_CONTEXT_INFO, .size = sizeof(info),
		.data = (uintptr_t)&info, .ctx = i->context,
	};
	bool good;

	pthread_mutex_lock(&i->lock);
	i->seed++;
	good = !nnpu_ioctl(i->fd, DRM_IOCTL_NNPU_QUERY, &query) && !info.flags &&
	       !nnpu_job_run(i->fd, &i->job, i->seed) &&
	       !nnpu_uq_run(i->fd, &i->uq, &i->job, i->seed + 1);
	pthread_mutex_unlock(&i->lock);
	return good;
}

static int map_errno(int fd, uint64_t offset)
{
	void *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	int err = errno;

	if (map == MAP_FAILED)
		return err;
	munmap(map, PAGE);
	return 0;
}

/* @err of one attempt; false, and @what, unless it is a refusal of the right kind. */
static bool count(struct published *own, enum loot loot, int ret, int expected, const char *text,
		  const char **what)
{
	/* Context 0 cannot be made just now, so the number was not looked at. */
	if (ret == -EDQUOT || ret == -EUSERS)
		return true;
	if (ret != expected) {
		*what = text;
		errno = -ret;
		return false;
	}
	atomic_fetch_add(&own->refused[loot], 1);
	return true;
}

static bool try_handle(int fd, struct published *own, uint32_t handle, const char **what)
{
	struct drm_nnpu_slot_bind bind = {
		.handle = handle, .flags = DRM_NNPU_SLOT_READ, .size = PAGE,
	};
	struct drm_prime_handle prime = { .handle = handle, .fd = -1 };
	struct drm_nnpu_bo_mmap map = { .handle = handle };
	struct drm_nnpu_queue_create queue = {
		.ring_handle = handle, .sq_entries = NNPU_UQ_ENTRIES,
		.cq_entries = NNPU_UQ_ENTRIES, .cq_offset = PAGE,
	};
	struct drm_gem_close close_arg = { .handle = handle };

	return count(own, LOOT_HANDLE, nnpu_ioctl(fd, DRM_IOCTL_NNPU_BO_MMAP, &map), -ENOENT,
		     "BO_MMAP of a handle of another process", what) &&
	       count(own, LOOT_HANDLE, nnpu_ioctl(fd, DRM_IOCTL_NNPU_SLOT_BIND, &bind), -ENOENT,
		     "SLOT_BIND of a handle of another process", what) &&
	       count(own, LOOT_HANDLE, nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_CREATE, &queue),
		     -ENOENT, "QUEUE_CREATE on a handle of another process", what) &&
	       count(own, LOOT_HANDLE, nnpu_ioctl(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime),
		     -ENOENT, "export of a handle of another process", what) &&
	       count(own, LOOT_HANDLE, nnpu_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &close_arg), -EINVAL,
		     "GEM_CLOSE of a handle of another process", what);
}

static bool try_context(int fd, struct published *own, uint32_t context, const char **what)
{
	struct drm_nnpu_context_destroy destroy = { .ctx = context };
	struct drm_nnpu_context_info info;
	struct drm_nnpu_query query = {
		.topic = DRM_NNPU_QUERY_CONTEXT_INFO, .size = sizeof(info),
		.data = (uintptr_t)&info, .ctx = context,
	};

	return count(own, LOOT_CONTEXT, nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUERY, &query), -ENOENT,
		     "QUERY of a context of another process", what) &&
	       count(own, LOOT_CONTEXT, nnpu_ioctl(fd, DRM_IOCTL_NNPU_CONTEXT_DESTROY, &destroy),
		     -ENOENT, "CONTEXT_DESTROY of a context of another process", what);
}

/* In context 0 of a file that has none, and in one that was just made. */
static bool try_in_context(int fd, struct published *own, const struct published *other,
			   uint32_t ctx, const char **what)
{
	struct nnpu_arg arg = { .slot = other->slot, .length = 4 };
	struct drm_nnpu_submit submit = {
		.program = other->program, .args = (uintptr_t)&arg, .num_outputs = 1,
		.arg_stride = sizeof(arg), .result_slot = NNPU_SLOT_NONE, .ctx = ctx,
	};
	struct drm_nnpu_program_save save = { .ctx = ctx, .program = other->program };
	struct drm_nnpu_program_unload unload = { .ctx = ctx, .program = other->program };
	struct drm_nnpu_slot_unbind unbind = { .ctx = ctx, .slot = other->slot };

	return count(own, LOOT_PROGRAM, nnpu_ioctl(fd, DRM_IOCTL_NNPU_SUBMIT, &submit), -ENOENT,
		     "SUBMIT of a program of another process", what) &&
	       count(own, LOOT_PROGRAM, nnpu_ioctl(fd, DRM_IOCTL_NNPU_PROGRAM_SAVE, &save),
		     -ENOENT, "PROGRAM_SAVE of a program of another process", what) &&
	       count(own, LOOT_PROGRAM, nnpu_ioctl(fd, DRM_IOCTL_NNPU_PROGRAM_UNLOAD, &unload),
		     -ENOENT, "PROGRAM_UNLOAD of a program of another process", what) &&
	       count(own, LOOT_SLOT, nnpu_ioctl(fd, DRM_IOCTL_NNPU_SLOT_UNBIND, &unbind), -ENOENT,
		     "SLOT_UNBIND of a slot of another process", what);
}

/* A program of one's own that reads and writes a slot of somebody else. */
static bool try_slot(struct intruder *i, struct published *own, uint32_t slot, const char **what)
{
	int ret, n;

	/* In the own file numbers up to that of the last slot are good. */
	if (slot <= i->job.buf.slot)
		return true;
	pthread_mutex_lock(&i->lock);
	for (n = 0; n < 3; n++)
		i->job.args[n].slot = slot;
	ret = nnpu_job_submit(i->fd, &i->job);
	for (n = 0; n < 3; n++)
		i->job.args[n].slot = i->job.buf.slot;
	pthread_mutex_unlock(&i->lock);
	return count(own, LOOT_ARGUMENT, ret, -ENOENT, "SUBMIT with a slot of another process", what);
}

static bool try_queue(int fd, struct published *own, uint32_t queue, const char **what)
{
	struct drm_nnpu_queue_wait wait = { .queue = queue };
	struct drm_nnpu_queue_destroy destroy = { .queue = queue };

	return count(own, LOOT_QUEUE, nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &wait), -ENOENT,
		     "QUEUE_WAIT for a queue of another process", what) &&
	       count(own, LOOT_QUEUE, nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &destroy),
		     -ENOENT, "QUEUE_DESTROY of a queue of another process", what);
}

bool intruder_try(struct intruder *i, struct published *own, const struct published *other,
		  const char **what)
{
	int fd = nnpu_open();
	bool good;

	if (fd < 0) {
		*what = "open";
		return false;
	}
	good = try_handle(fd, own, other->handle, what) &&
	       try_context(fd, own, other->context, what) &&
	       try_in_context(fd, own, other, 0, what) && try_slot(i, own, other->slot, what) &&
	       try_queue(fd, own, other->queue, what) &&
	       count(own, LOOT_OFFSET, -map_errno(fd, other->offset), -EACCES,
		     "mmap() of a buffer of another process", what) &&
	       count(own, LOOT_OFFSET, -map_errno(i->fd, other->offset), -EACCES,
		     "mmap() of a buffer of another process, from a file with buffers", what) &&
	       /* There is none in the device's own file, wherever it is looked for. */
	       count(own, LOOT_QUEUE_PAGE, -map_errno(fd, (uint64_t)other->queue * PAGE), -EINVAL,
		     "mmap() of a queue page in the device file", what);
	close(fd);
	return good;
}

int intruder_queue_fd(struct intruder *i)
{
	return dup(i->uq.fd);
}

bool intruder_try_page(struct published *own, int fd)
{
	const char *what;

	return count(own, LOOT_QUEUE_PAGE, -map_errno(fd, 0), -EPERM, "", &what);
}

void intruder_destroy(struct intruder *i)
{
	if (!i)
		return;
	nnpu_uq_destroy(i->fd, &i->uq);
	nnpu_job_fini(i->fd, &i->job);
	nnpu_context_destroy(i->fd, i->context);
	close(i->fd);
	free(i);
}
