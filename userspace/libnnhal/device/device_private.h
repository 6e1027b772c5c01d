/* SPDX-License-Identifier: MIT */
/*
 * Devices.
 */
#ifndef NNHAL_DEVICE_PRIVATE_H
#define NNHAL_DEVICE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <nnhal/nnhal.h>

#include "base/crypto.h"
#include "base/vlog.h"
#include "device/async.h"
#include "device/extensions.h"
#include "device/own_queue.h"
#include "device/tokens.h"
#include "device/workers.h"
#include "memory/arena.h"
#include "memory/binding.h"
#include "transport/transport.h"

struct nnhal_device {
	atomic_uint refs;
	struct transport *transport;
	struct vlog log;
	struct bind_table *table;
	struct arena arena;
	struct async *async;
	struct workers *workers;
	struct own_queues own_queues;
	/*
	 * Siblings: further contexts of the device that a caller opened, for models that this
	 * one has no room for. Models and calls have references of a sibling, it has one of
	 * @root. The list is that of the root, and has none: a sibling ends with its last model.
	 */
	struct nnhal_device *root;	/* NULL: this is no sibling */
	pthread_mutex_t sibling_lock;	/* of the root: list, and last references of siblings */
	struct nnhal_device *siblings;
	struct nnhal_device *next_sibling;
	/* Of the root: who wants to know of a loss. The lock is a leaf. */
	pthread_mutex_t watch_lock;
	struct nnhal_death_watch *watches;
	char name[NNHAL_NAME_SIZE];
	char version[192];
	enum nnhal_device_type type;
	struct nnhal_capabilities capabilities;
	struct extensions extensions;
	/* Of the root; loaded with the first cache. Under sibling_lock. */
	struct crypto crypto;
	atomic_uint_least64_t num_stamps;	/* of arguments of bound requests, see bound_request.h */
	/* Of the root: buffers, and how many models were prepared, which numbers them. */
	struct token_table tokens;
	atomic_uint_least64_t num_models;
};

/* The device that the caller opened, of which this is a context. */
static inline struct nnhal_device *device_root(struct nnhal_device *device)
{
	return device->root ? device->root : device;
}

/* The sibling in the list after @device, or the first one, with a reference; NULL: none. */
struct nnhal_device *device_next_sibling(struct nnhal_device *device);
/* Open a sibling, with a reference; in no list yet. NULL: it cannot be had. */
struct nnhal_device *device_open_sibling(struct nnhal_device *root);
/* Have others find a sibling. */
void device_add_sibling(struct nnhal_device *sibling);
/* False in a child of fork(): nothing may be asked of the device. */
static inline bool device_is_own(const struct nnhal_device *device)
{
	return bind_table_is_own(device->table);
}

/* Hashes for caches. NULL: the device saves no programs, or there is no library for them. */
const struct crypto *device_crypto(struct nnhal_device *device);
/* Somebody has found out that the device is lost. */
void device_tell_watches(struct nnhal_device *device);
/* device_is_own(), with a message. */
bool device_is_usable(const struct nnhal_device *device, struct nnhal_diag *diag);
/* Status of a failed transport call: status_from_errno(), or DEAD_OBJECT for a lost context. */
enum nnhal_status device_status_from_error(struct nnhal_device *device, int error);

#endif /* NNHAL_DEVICE_PRIVATE_H */
