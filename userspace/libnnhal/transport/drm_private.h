/* SPDX-License-Identifier: MIT */
/*
 * What the files of the transport through the kernel driver share.
 */
#ifndef NNHAL_DRM_PRIVATE_H
#define NNHAL_DRM_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <drm/nnpu_accel.h>

#include "transport/transport.h"

struct drm_transport {
	struct transport base;
	char path[256];			/* of the device node */
	int fd;
	int udmabuf_fd;			/* -1: not available */
	struct drm_nnpu_device_info info;
	/*
	 * All imports of a dma-buf return the same handle, so the first close would end
	 * it for all. Import, bind and close are therefore one step under this lock.
	 */
	pthread_mutex_t import_lock;
	/* When the driver was asked for the device clock, and what that is behind: ns; 0: never. */
	atomic_uint_least64_t clock_asked_ns;
	atomic_uint_least64_t clock_behind_ns;
};

static inline struct drm_transport *to_drm(struct transport *t)
{
	return (struct drm_transport *)t;
}

/* ioctl(), repeated if a signal interrupts it. 0 or -errno. */
int drm_ioctl(int fd, unsigned long request, void *arg);
/*
 * A wait of the driver has failed. True: for want of memory, after a pause: what it waits for
 * goes on. False: the device is gone, there is nothing to wait for, or this process may not
 * (a filter of system calls), which can last for ever.
 */
bool drm_wait_again(int err);
/* Close a handle of a buffer. */
void drm_gem_close(int fd, uint32_t handle);
/* Map a buffer of the driver. 0; -errno: @map is unchanged. */
int drm_map_handle(int fd, uint32_t handle, uint64_t size, void **map);

/* Operations of struct transport_ops: drm_memory.c */
void drm_unbind(struct transport *t, uint32_t slot);
int drm_bo_create(struct transport *t, uint64_t size, struct transport_bo *bo);
void drm_bo_destroy(struct transport *t, struct transport_bo *bo);
int drm_bo_give(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size);
int drm_bo_take(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size);
int drm_storage_create(struct transport *t, uint64_t size, enum transport_memory_type *type,
		       int *fd);
int drm_bind_pointer(struct transport *t, void *map, uint64_t size, uint32_t access,
		     uint32_t *slot);
int drm_bind_fd(struct transport *t, enum transport_memory_type type, int fd, uint64_t size,
		uint32_t access, uint32_t *slot);

/* drm_queues.c */
void drm_queue_stop(struct transport *t, struct transport_queue *queue);
void drm_queue_destroy(struct transport *t, struct transport_queue *queue);
void drm_queue_free_copy(struct transport_queue *queue);
int drm_queue_fd(struct transport_queue *queue);
int drm_queue_create(struct transport *t, uint32_t priority, struct transport_queue **queue);
int drm_queue_wait(struct transport *t, struct transport_queue *queue, uint32_t cq_head,
		   uint64_t until_ns, enum transport_queue_state *state);
int drm_device_time(struct transport *t, uint64_t monotonic_ns, uint64_t *device_ns);

#endif /* NNHAL_DRM_PRIVATE_H */
