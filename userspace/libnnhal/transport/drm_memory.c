// SPDX-License-Identifier: MIT
/*
 * Buffers, slots and imported memory through the kernel driver; its system calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include "transport/drm_private.h"
#include "transport/transport.h"

int drm_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret < 0 && (errno == EINTR || errno == EAGAIN));
	return ret < 0 ? -errno : 0;
}

bool drm_wait_again(int err)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	/* Interrupted waits are those of drm_ioctl(). Nothing else passes by itself. */
	if (err != -ENOMEM)
		return false;
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	return true;
}

void drm_gem_close(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	drm_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

static int slot_bind(int fd, uint32_t handle, uint64_t size, uint32_t access, uint32_t *slot)
{
	struct drm_nnpu_slot_bind arg = { .handle = handle, .size = size };
	int err;

	if (access & TRANSPORT_READ)
		arg.flags |= DRM_NNPU_SLOT_READ;
	if (access & TRANSPORT_WRITE)
		arg.flags |= DRM_NNPU_SLOT_WRITE;
	err = drm_ioctl(fd, DRM_IOCTL_NNPU_SLOT_BIND, &arg);
	if (!err)
		*slot = arg.slot;
	return err;
}

void drm_unbind(struct transport *t, uint32_t slot)
{
	struct drm_nnpu_slot_unbind arg = { .slot = slot };

	drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_SLOT_UNBIND, &arg);
}

int drm_map_handle(int fd, uint32_t handle, uint64_t size, void **map)
{
	struct drm_nnpu_bo_mmap arg = { .handle = handle };
	int err = drm_ioctl(fd, DRM_IOCTL_NNPU_BO_MMAP, &arg);
	void *mapped;

	if (err)
		return err;
	mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)arg.offset);
	if (mapped == MAP_FAILED)
		return -errno;
	*map = mapped;
	return 0;
}

/* Only SLOT_BIND knows whether slots are left: to others ENOSPC is a shortage of memory. */
static int without_enospc(int err)
{
	return err == -ENOSPC ? -ENOMEM : err;
}

int drm_bo_create(struct transport *t, uint64_t size, struct transport_bo *bo)
{
	struct drm_nnpu_bo_create arg = { .size = size };
	int fd = to_drm(t)->fd;
	uint32_t slot;
	void *map;
	int err;

	err = without_enospc(drm_ioctl(fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));
	if (err)
		return err;
	err = without_enospc(drm_map_handle(fd, arg.handle, arg.size, &map));
	if (!err) {
		err = slot_bind(fd, arg.handle, arg.size, TRANSPORT_READ | TRANSPORT_WRITE, &slot);
		if (err)
			munmap(map, arg.size);
	}
	/* Mapping and slot hold the buffer; bo_give() and bo_take() name it by its handle. */
	if (err || !t->limits.needs_sync)
		drm_gem_close(fd, arg.handle);
	if (!err)
		*bo = (struct transport_bo){ .slot = slot, .handle = arg.handle, .map = map,
					     .size = arg.size };
	return err;
}

void drm_bo_destroy(struct transport *t, struct transport_bo *bo)
{
	if (!bo->map)
		return;
	drm_unbind(t, bo->slot);
	munmap(bo->map, bo->size);
	if (t->limits.needs_sync)
		drm_gem_close(to_drm(t)->fd, bo->handle);
	*bo = (struct transport_bo)TRANSPORT_BO_NONE;
}

int drm_bo_give(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size)
{
	struct drm_nnpu_bo_fini arg = {
		.handle = bo->handle, .flags = DRM_NNPU_BO_WRITE, .offset = offset, .size = size,
	};

	return size ? drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_BO_FINI, &arg) : 0;
}

/* Other jobs may use other parts of the buffer: the caller knows which ones have ended. */
int drm_bo_take(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size)
{
	struct drm_nnpu_bo_prep arg = {
		.handle = bo->handle, .flags = DRM_NNPU_BO_READ | DRM_NNPU_BO_NO_WAIT,
		.offset = offset, .size = size,
	};

	return size ? drm_ioctl(to_drm(t)->fd, DRM_IOCTL_NNPU_BO_PREP, &arg) : 0;
}

int drm_storage_create(struct transport *t, uint64_t size, enum transport_memory_type *type,
		       int *fd)
{
	struct drm_nnpu_bo_create arg = { .size = size };
	struct drm_prime_handle prime = { .flags = DRM_CLOEXEC | DRM_RDWR };
	struct drm_transport *d = to_drm(t);
	int err = without_enospc(drm_ioctl(d->fd, DRM_IOCTL_NNPU_BO_CREATE, &arg));

	if (err)
		return err;
	/* Nobody else has the descriptor yet, so nobody imports the handle that is closed here. */
	prime.handle = arg.handle;
	err = without_enospc(drm_ioctl(d->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &prime));
	drm_gem_close(d->fd, arg.handle);
	if (err)
		return err;
	*type = TRANSPORT_DMABUF;
	*fd = prime.fd;
	return 0;
}

static int import_dmabuf(struct drm_transport *d, int dmabuf, uint64_t size, uint32_t access,
			 uint32_t *slot)
{
	struct drm_prime_handle prime = { .fd = dmabuf };
	int err;

	pthread_mutex_lock(&d->import_lock);
	err = without_enospc(drm_ioctl(d->fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime));
	if (!err) {
		err = slot_bind(d->fd, prime.handle, size, access, slot);
		drm_gem_close(d->fd, prime.handle);
	}
	pthread_mutex_unlock(&d->import_lock);
	return err;
}

int drm_bind_fd(struct transport *t, enum transport_memory_type type, int fd, uint64_t size,
		uint32_t access, uint32_t *slot)
{
	struct udmabuf_create create = {
		.memfd = (uint32_t)fd, .flags = UDMABUF_FLAGS_CLOEXEC, .size = size,
	};
	struct drm_transport *d = to_drm(t);
	int dmabuf, err;

	if (type == TRANSPORT_DMABUF)
		return import_dmabuf(d, fd, size, access, slot);
	/* udmabuf is missing, the memory is too large or sealed: it cannot be used in place. */
	if (d->udmabuf_fd < 0)
		return -ENOTSUP;
	do {
		dmabuf = ioctl(d->udmabuf_fd, UDMABUF_CREATE, &create);
	} while (dmabuf < 0 && errno == EINTR);
	/* A shortage says nothing about the memory. */
	if (dmabuf < 0)
		return errno == ENOMEM || errno == EMFILE || errno == ENFILE ? -errno : -ENOTSUP;
	err = import_dmabuf(d, dmabuf, size, access, slot);
	close(dmabuf);
	return err;
}

int drm_bind_pointer(struct transport *t, void *map, uint64_t size, uint32_t access, uint32_t *slot)
{
	struct drm_nnpu_bo_userptr arg = {
		.addr = (uintptr_t)map, .size = size,
		.flags = access & TRANSPORT_WRITE ? DRM_NNPU_USERPTR_WRITE : 0,
	};
	int fd = to_drm(t)->fd;
	int err = without_enospc(drm_ioctl(fd, DRM_IOCTL_NNPU_BO_USERPTR, &arg));

	if (err)
		return err;
	err = slot_bind(fd, arg.handle, size, access, slot);
	/* The slot holds the pages. */
	drm_gem_close(fd, arg.handle);
	return err;
}
