/* SPDX-License-Identifier: MIT */
/*
 * Resilient objects.
 *
 * Locks, in the order of userspace/README.md: of a burst or a buffer, of a model, of a device. They are
 * held while an object is made again, so that one thread does it and the others wait for it: as long as opening a
 * device and preparing a model take.
 */
#ifndef NNHAL_RESILIENT_PRIVATE_H
#define NNHAL_RESILIENT_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <nnhal/nnhal.h>

#include "base/fork_guard.h"

struct nnhal_resilient_device {
	atomic_uint refs;
	nnhal_device_factory factory;
	void *context;
	char name[NNHAL_NAME_SIZE];
	struct fork_guard guard;
	pthread_mutex_t lock;
	struct nnhal_device *current;
	bool is_invalid;		/* another device came back */
	pthread_mutex_t buffers_lock;	/* a leaf */
	struct nnhal_resilient_buffer *buffers;
};

struct nnhal_resilient_model {
	atomic_uint refs;
	struct nnhal_resilient_device *device;
	struct nnhal_model *copy;
	int32_t preference;
	int32_t priority;
	pthread_mutex_t lock;
	struct nnhal_prepared_model *current;
	struct nnhal_device *current_device;	/* where it was prepared, with a reference */
};

/*
 * What was replaced. It is released without locks: closing a device waits for its callbacks, and these
 * may wait for a lock.
 */
struct resilient_old {
	struct nnhal_burst *burst;
	struct nnhal_buffer *buffer;
	struct nnhal_prepared_model *model;
	struct nnhal_device *device;
};

/*
 * In a child of fork() nothing is made again, and no lock is taken: another thread of the parent may
 * have had it. Pointers are read and objects are released all the same.
 */
static inline bool resilient_is_own(const struct nnhal_resilient_device *device)
{
	return !fork_guard_in_child(&device->guard);
}

/* The same, with a message. */
bool resilient_is_usable(const struct nnhal_resilient_device *device, struct nnhal_diag *diag);
/* A lock of @device, or of an object on it. */
void resilient_lock(const struct nnhal_resilient_device *device, pthread_mutex_t *lock);
void resilient_unlock(const struct nnhal_resilient_device *device, pthread_mutex_t *lock);
void resilient_lock_destroy(const struct nnhal_resilient_device *device, pthread_mutex_t *lock);

void resilient_release(const struct resilient_old *old);
struct nnhal_resilient_device *resilient_device_ref(struct nnhal_resilient_device *device);
struct nnhal_resilient_model *resilient_model_ref(struct nnhal_resilient_model *model);
/* Does @status of a call with @device say that the device is lost? */
bool resilient_is_lost(struct nnhal_device *device, enum nnhal_status status);
/* The model of the moment and its device, both with a reference. */
struct nnhal_prepared_model *resilient_model_get_on(struct nnhal_resilient_model *model,
						    struct nnhal_device **device);
/* Prepare anew, if @failing is still the device of the moment. */
enum nnhal_status resilient_model_recover(struct nnhal_resilient_model *model,
					  const struct nnhal_device *failing);
/*
 * A copy of @request in which tokens of resilient buffers are those of the moment on @device; the
 * buffers are made again if they are not there. @pools: room, which the caller frees.
 */
enum nnhal_status resilient_translate(struct nnhal_resilient_device *resilient,
				      struct nnhal_device *device,
				      const struct nnhal_request *request,
				      struct nnhal_request *translated,
				      struct nnhal_request_pool **pools);

#endif /* NNHAL_RESILIENT_PRIVATE_H */
