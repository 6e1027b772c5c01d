/* SPDX-License-Identifier: MIT */
/*
 * Bindings: memory objects in the contexts of devices.
 */
#ifndef NNHAL_BINDING_H
#define NNHAL_BINDING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "memory/memory_private.h"
#include "transport/transport.h"

struct bind_table;

/* A memory object in one device's context. */
struct binding {
	struct bind_table *table;
	struct binding *next_in_memory;
	struct binding *next_in_table;
	struct binding **prev_in_table;
	uint32_t slot;
	/* Bounce buffer, if the device cannot reach the memory; else zero. */
	struct transport_bo bounce;
	bool has_bounce;
};

/* The bindings of one device; outlives it as long as memory objects have bindings. */
struct bind_table {
	atomic_uint refs;
	pthread_mutex_t lock;
	struct transport *transport;	/* NULL when the device is closed */
	struct binding *bindings;
};

struct bind_table *bind_table_create(struct transport *transport);
/* The device closes: end its bindings and drop its reference of the table. */
void bind_table_close(struct bind_table *table);
/*
 * Bind a memory object to a slot of a device, unless it is bound already. If the device
 * cannot reach the memory, @bounce: use a bounce buffer; else return -ENOTSUP. @binding is
 * valid as long as the caller holds references of device and memory. 0 or -errno.
 */
int memory_bind(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		const struct binding **binding);
/* The last reference of the memory object is gone: end its bindings. */
void memory_unbind_all(struct nnhal_memory *memory);

/*
 * Create a binding that is in no table. The caller holds references of memory and device and
 * ends the binding with memory_unbind_own(). 0 or -errno.
 */
int memory_bind_own(struct nnhal_memory *memory, struct transport *transport,
		    struct binding **binding);
void memory_unbind_own(struct transport *transport, struct binding *binding);

#endif /* NNHAL_BINDING_H */
