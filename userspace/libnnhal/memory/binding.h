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
	/* Bounce buffer of memory the device cannot reach, else zero. */
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
/* The device closes: its bindings end. Drops the device's reference. */
void bind_table_close(struct bind_table *table);
/*
 * Slot of a memory object in a device; made on first use. Memory the device cannot
 * reach gets a bounce buffer if @bounce, else -ENOTSUP. The result stays valid as
 * long as the caller holds references of device and memory. 0 or -errno.
 */
int memory_bind(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		const struct binding **binding);
/* The memory object goes: its bindings end. */
void memory_unbind_all(struct nnhal_memory *memory);

/*
 * A binding of the caller's own, in no table: the caller keeps memory and device, and
 * ends it with memory_unbind_own(). 0 or -errno.
 */
int memory_bind_own(struct nnhal_memory *memory, struct transport *transport,
		    struct binding **binding);
void memory_unbind_own(struct transport *transport, struct binding *binding);

#endif /* NNHAL_BINDING_H */
