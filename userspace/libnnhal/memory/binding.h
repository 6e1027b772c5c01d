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

#include "base/fork_guard.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

struct bind_table;

/* A memory object in one device's context. */
struct binding {
	struct bind_table *table;
	struct binding *next_in_memory;
	struct binding *next_in_table;
	struct binding **prev_in_table;	/* NULL: not in the table */
	/* Users of the slot; BINDING_UNBOUND: it has no slot, since others needed one. */
	atomic_uint pins;
	atomic_uint_least64_t last_used;
	uint32_t slot;
	/* Where the first byte of the object is in the slot. */
	uint32_t delta;
	uint32_t reach;			/* enum nnhal_memory_reach */
	/* The CPU has to copy around each job, or to see that the file has not shrunk. */
	bool needs_cpu;
	/* Mapping of the object that the slot needs; NULL: none. */
	void *map;
	size_t map_size;
	/* Bounce buffer, if the device cannot reach the memory; else none. */
	struct transport_bo bounce;
	bool has_bounce;
	atomic_bool is_abandoned;	/* a job may still write to the bounce buffer */
};

#define BINDING_UNBOUND	UINT32_MAX

/* in_place.c: give a binding a slot without a bounce buffer. -ENOTSUP: b->reach says why not. */
int binding_in_place(struct binding *b, const struct nnhal_memory *memory, struct transport *t);
/* The slot has been released, or is the parent's in a child of fork(). */
void binding_free_map(struct binding *b);

/* Somebody who has slots that others may need more. */
struct slot_holder {
	struct slot_holder *next;
	struct slot_holder **prev;
	bool is_listed;			/* of who owns it; @next, @prev: the table's lock */
	atomic_uint num_slots;		/* that it has for memory objects */
	/*
	 * Give up the slot that is used least. Must not wait. 0; -ENOSPC: it has none to spare;
	 * -EBUSY: that cannot be said now.
	 */
	int (*give)(struct slot_holder *holder);
};

/*
 * The bindings of one device; outlives it as long as memory objects have bindings. If a
 * context has no slot left, bindings that nobody uses are ended, the least recently used one
 * first; then the holders are asked.
 */
struct bind_table {
	atomic_uint refs;
	struct fork_guard guard;	/* of the device */
	atomic_uint_least64_t clock;	/* counts uses of bindings */
	pthread_mutex_t lock;
	struct transport *transport;	/* NULL when the device is closed */
	struct binding *bindings;	/* those that have a slot */
	pthread_mutex_t holder_lock;
	struct slot_holder *holders;
};

struct bind_table *bind_table_create(struct transport *transport);
/* A reference: it is good for bind_table_is_own(), also when the device is closed. */
struct bind_table *bind_table_ref(struct bind_table *table);
void bind_table_unref(struct bind_table *table);
/* False in a child of fork(): slots and locks are those of the parent. */
static inline bool bind_table_is_own(const struct bind_table *table)
{
	return !fork_guard_in_child(&table->guard);
}

/*
 * The device closes: end its bindings and drop its reference of the table. In a child of fork()
 * only the latter.
 */
void bind_table_close(struct bind_table *table);
void bind_table_add_holder(struct bind_table *table, struct slot_holder *holder);
/* After that the holder is not asked any more. */
void bind_table_remove_holder(struct bind_table *table, struct slot_holder *holder);
/* Have another holder than @own give up a slot. False: none can. */
bool bind_table_ask_others(struct bind_table *table, const struct slot_holder *own);
/*
 * Has somebody else slots than who asks, with @own of them? They become free with the end of jobs.
 */
bool bind_table_has_others(struct bind_table *table, uint32_t own);
/* As transport_ops.bo_create, but bindings that are not used make room. */
int bind_table_bo_create(struct bind_table *table, uint64_t size, struct transport_bo *bo);
/*
 * Bind a memory object to a slot of a device, unless it is bound already. If the device
 * cannot reach the memory, @bounce: use a bounce buffer; else return -ENOTSUP. The binding
 * keeps its slot until binding_unpin(); until then the caller holds references of device and
 * memory. 0 or -errno.
 */
int memory_bind(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		const struct binding **binding);
/*
 * The same for a holder of slots, who has its lock. -ENOSPC: it should end one of its own bindings,
 * else call bind_table_ask_others(), and try again.
 */
int memory_bind_once(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		     const struct binding **binding);
/* The caller does not use the slot any more, nor does the device for it. */
static inline void binding_unpin(const struct binding *binding)
{
	atomic_fetch_sub_explicit(&((struct binding *)binding)->pins, 1, memory_order_release);
}

/*
 * Nobody knows when the device is done with it. A bounce buffer is not used again: the next use of
 * the memory object gets another one. The driver keeps the memory of a job until the job ends.
 */
static inline void binding_abandon(const struct binding *binding)
{
	if (binding->has_bounce)
		atomic_store_explicit(&((struct binding *)binding)->is_abandoned, true,
				      memory_order_relaxed);
	else
		binding_unpin(binding);
}

/* The last reference of the memory object is gone: end its bindings. */
void memory_unbind_all(struct nnhal_memory *memory);

/*
 * Create a binding that is in no table. The caller holds references of memory and device and
 * ends the binding with memory_unbind_own(). 0 or -errno. -ENOSPC: the caller should end one of
 * its own bindings, else call bind_table_ask_others(), and try again.
 */
int memory_bind_own(struct nnhal_memory *memory, struct bind_table *table,
		    struct binding **binding);
void memory_unbind_own(struct transport *transport, struct binding *binding);
/* In a child of fork(): free the copy of a binding. */
void memory_free_own_copy(struct binding *binding);

#endif /* NNHAL_BINDING_H */
