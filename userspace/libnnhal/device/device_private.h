/* SPDX-License-Identifier: MIT */
/*
 * Devices.
 */
#ifndef NNHAL_DEVICE_PRIVATE_H
#define NNHAL_DEVICE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <nnhal/nnhal.h>

#include "device/async.h"
#include "device/extensions.h"
#include "device/workers.h"
#include "memory/arena.h"
#include "memory/binding.h"
#include "transport/transport.h"

struct nnhal_device {
	atomic_uint refs;
	struct transport *transport;
	struct bind_table *table;
	struct arena arena;
	struct async *async;
	struct workers *workers;
	/* The same device once more, for models that do not fit into this context. */
	pthread_mutex_t sibling_lock;
	struct nnhal_device *sibling;	/* with a reference; NULL: not needed yet */
	char name[NNHAL_NAME_SIZE];
	char version[192];
	enum nnhal_device_type type;
	struct nnhal_capabilities capabilities;
	struct extensions extensions;
};

/* The sibling of a device, which is opened if there is none. NULL: it cannot be had. */
struct nnhal_device *device_sibling(struct nnhal_device *device);
/* False in a child of fork(): nothing may be asked of the device. */
static inline bool device_is_own(const struct nnhal_device *device)
{
	return bind_table_is_own(device->table);
}

/* As above, with a message. */
bool device_is_usable(const struct nnhal_device *device, struct nnhal_diag *diag);
/* Status of a failed transport call: status_from_errno(), or DEAD_OBJECT for a lost context. */
enum nnhal_status device_status_from_error(struct nnhal_device *device, int error);

#endif /* NNHAL_DEVICE_PRIVATE_H */
