// SPDX-License-Identifier: MIT
/*
 * Bindings: memory objects in the contexts of devices.
 *
 * A binding belongs to a memory object and to a device, and ends with the first of the two
 * to be released. Both hold references of the device's table of bindings; the transport
 * pointer of the table says whether the device is still open. Devices and memory objects may
 * be released in any order and on any thread.
 *
 * A context has a limited number of slots. A binding that no execution uses may lose its slot to
 * another one, and gets a new one with its next use.
 *
 * Order of locks: memory.lock, bind_table.lock; bind_table.holder_lock, bind_table.lock. Holders
 * of slots take their own locks inside holder_lock, without waiting.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <nnhal/nnhal.h>

#include "memory/binding.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

/* How often holders that are busy are asked again, a millisecond apart. */
#define MOST_TRIES	50

struct bind_table *bind_table_create(struct transport *transport)
{
	struct bind_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	if (fork_guard_init(&table->guard)) {
		free(table);
		return NULL;
	}
	atomic_init(&table->refs, 1);
	atomic_init(&table->clock, 0);
	pthread_mutex_init(&table->lock, NULL);
	pthread_mutex_init(&table->holder_lock, NULL);
	table->transport = transport;
	return table;
}

struct bind_table *bind_table_ref(struct bind_table *table)
{
	atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
	return table;
}

void bind_table_unref(struct bind_table *table)
{
	if (atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_mutex_destroy(&table->holder_lock);
	pthread_mutex_destroy(&table->lock);
	fork_guard_fini(&table->guard);
	free(table);
}

static void table_add(struct bind_table *table, struct binding *b)
{
	b->next_in_table = table->bindings;
	if (b->next_in_table)
		b->next_in_table->prev_in_table = &b->next_in_table;
	b->prev_in_table = &table->bindings;
	table->bindings = b;
}

/* Release the slot of a binding. */
static void slot_release(struct transport *t, struct binding *b)
{
	if (b->has_bounce)
		t->ops->bo_destroy(t, &b->bounce);
	else
		t->ops->unbind(t, b->slot);
	binding_free_map(b);
	b->has_bounce = false;
	b->slot = NNPU_SLOT_NONE;
}

/* Caller holds table->lock. */
static void table_remove(struct bind_table *table, struct binding *b)
{
	slot_release(table->transport, b);
	*b->prev_in_table = b->next_in_table;
	if (b->next_in_table)
		b->next_in_table->prev_in_table = b->prev_in_table;
	b->prev_in_table = NULL;
}

/* ---- room for other bindings ---- */

void bind_table_add_holder(struct bind_table *table, struct slot_holder *holder)
{
	pthread_mutex_lock(&table->holder_lock);
	holder->next = table->holders;
	if (holder->next)
		holder->next->prev = &holder->next;
	holder->prev = &table->holders;
	table->holders = holder;
	holder->is_listed = true;
	pthread_mutex_unlock(&table->holder_lock);
}

void bind_table_remove_holder(struct bind_table *table, struct slot_holder *holder)
{
	pthread_mutex_lock(&table->holder_lock);
	*holder->prev = holder->next;
	if (holder->next)
		holder->next->prev = holder->prev;
	holder->is_listed = false;
	pthread_mutex_unlock(&table->holder_lock);
}

/* End the binding that nobody has used for the longest time. False: all are in use. */
static bool evict(struct bind_table *table)
{
	struct binding *b, *oldest;
	uint64_t used, least = 0;
	unsigned int idle;

	pthread_mutex_lock(&table->lock);
	do {
		oldest = NULL;
		for (b = table->bindings; b; b = b->next_in_table) {
			used = atomic_load_explicit(&b->last_used, memory_order_relaxed);
			if ((oldest && used >= least) ||
			    atomic_load_explicit(&b->pins, memory_order_relaxed))
				continue;
			oldest = b;
			least = used;
		}
		idle = 0;
		/* Acquire: pairs with binding_unpin(). It fails if somebody uses it again. */
	} while (oldest && !atomic_compare_exchange_strong_explicit(&oldest->pins, &idle,
								    BINDING_UNBOUND,
								    memory_order_acquire,
								    memory_order_relaxed));
	if (oldest)
		table_remove(table, oldest);
	pthread_mutex_unlock(&table->lock);
	return oldest;
}

static int ask_once(struct bind_table *table, const struct slot_holder *own)
{
	struct slot_holder *holder;
	int err = -ENOSPC, answer;

	pthread_mutex_lock(&table->holder_lock);
	for (holder = table->holders; holder && err; holder = holder->next) {
		answer = holder == own ? -ENOSPC : holder->give(holder);
		if (answer != -ENOSPC)
			err = answer;
	}
	pthread_mutex_unlock(&table->holder_lock);
	return err;
}

bool bind_table_ask_others(struct bind_table *table, const struct slot_holder *own)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	unsigned int tries;
	int err;

	for (tries = 0; tries < MOST_TRIES; tries++) {
		err = ask_once(table, own);
		if (err != -EBUSY)
			return !err;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	}
	return false;
}

bool bind_table_has_others(struct bind_table *table, uint32_t own)
{
	const struct slot_holder *holder;
	const struct binding *b;
	uint32_t count = 0;

	pthread_mutex_lock(&table->holder_lock);
	for (holder = table->holders; holder; holder = holder->next)
		count += atomic_load_explicit(&holder->num_slots, memory_order_relaxed);
	pthread_mutex_lock(&table->lock);
	for (b = table->bindings; b && count <= own; b = b->next_in_table)
		count++;
	pthread_mutex_unlock(&table->lock);
	pthread_mutex_unlock(&table->holder_lock);
	return count > own;
}

/* ENOSPC of the transport: a context has no slot left. True: one has become free, try again. */
static bool make_room(struct bind_table *table)
{
	return evict(table) || bind_table_ask_others(table, NULL);
}

int bind_table_bo_create(struct bind_table *table, uint64_t size, struct transport_bo *bo)
{
	struct transport *t = table->transport;
	int err;

	do {
		err = t->ops->bo_create(t, size, bo);
	} while (err == -ENOSPC && make_room(table));
	return err;
}

/* ---- the ends of bindings ---- */

void bind_table_close(struct bind_table *table)
{
	if (!bind_table_is_own(table)) {
		bind_table_unref(table);
		return;
	}
	pthread_mutex_lock(&table->lock);
	while (table->bindings)
		table_remove(table, table->bindings);
	table->transport = NULL;
	pthread_mutex_unlock(&table->lock);
	bind_table_unref(table);
}

void memory_free_own_copy(struct binding *b)
{
	if (b->has_bounce)
		munmap(b->bounce.map, b->bounce.size);
	binding_free_map(b);
	free(b);
}

static void binding_free(struct binding *b)
{
	struct bind_table *table = b->table;

	if (!bind_table_is_own(table)) {
		memory_free_own_copy(b);
		bind_table_unref(table);
		return;
	}
	pthread_mutex_lock(&table->lock);
	if (b->prev_in_table)
		table_remove(table, b);
	pthread_mutex_unlock(&table->lock);
	bind_table_unref(table);
	free(b);
}

void memory_unbind_all(struct nnhal_memory *memory)
{
	struct binding *b;

	while ((b = memory->bindings)) {
		memory->bindings = b->next_in_memory;
		binding_free(b);
	}
}

static bool table_is_closed(struct bind_table *table)
{
	bool closed;

	if (!bind_table_is_own(table))
		return true;
	pthread_mutex_lock(&table->lock);
	closed = !table->transport;
	pthread_mutex_unlock(&table->lock);
	return closed;
}

/* Forget bindings of devices that were closed. Caller holds memory->lock. */
static void drop_closed(struct nnhal_memory *memory)
{
	struct binding **link = &memory->bindings;
	struct binding *b;

	while ((b = *link)) {
		if (table_is_closed(b->table)) {
			*link = b->next_in_memory;
			binding_free(b);
		} else {
			link = &b->next_in_memory;
		}
	}
}

/* Give a binding a slot. 0 or -errno. */
static int binding_fill(struct binding *b, struct nnhal_memory *memory, struct transport *t,
			bool bounce)
{
	int err = binding_in_place(b, memory, t);

	/* A dma-buf cannot be copied: report its error. */
	if (err == -ENOTSUP && bounce && memory->kind != NNHAL_MEMORY_HARDWARE_BUFFER_BLOB) {
		err = t->ops->bo_create(t, memory_bind_size(memory), &b->bounce);
		if (!err) {
			b->slot = b->bounce.slot;
			b->has_bounce = true;
			b->needs_cpu = true;
		}
	}
	return err;
}

static struct binding *binding_alloc(void)
{
	struct binding *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	atomic_init(&b->pins, BINDING_UNBOUND);
	atomic_init(&b->last_used, 0);
	atomic_init(&b->is_abandoned, false);
	b->slot = NNPU_SLOT_NONE;
	b->bounce = (struct transport_bo)TRANSPORT_BO_NONE;
	return b;
}

int memory_bind_own(struct nnhal_memory *memory, struct bind_table *table,
		    struct binding **binding)
{
	struct binding *b = binding_alloc();
	int err;

	if (!b)
		return -ENOMEM;
	/* The caller holds the device, so the transport is valid. */
	do {
		err = binding_fill(b, memory, table->transport, true);
	} while (err == -ENOSPC && evict(table));
	if (err) {
		free(b);
		return err;
	}
	*binding = b;
	return 0;
}

void memory_unbind_own(struct transport *transport, struct binding *binding)
{
	slot_release(transport, binding);
	free(binding);
}

/* Use the slot of a binding. False: it has none. */
static bool binding_pin(struct binding *b)
{
	unsigned int pins = atomic_load_explicit(&b->pins, memory_order_relaxed);

	do {
		if (pins == BINDING_UNBOUND)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&b->pins, &pins, pins + 1,
							memory_order_acquire,
							memory_order_relaxed));
	return true;
}

/* A binding without a slot, new or not, gets one. Caller holds memory->lock. */
static int binding_revive(struct binding *b, struct nnhal_memory *memory, bool bounce)
{
	struct bind_table *table = b->table;
	int err;

	/* Whoever took the slot away has it under this lock. */
	pthread_mutex_lock(&table->lock);
	pthread_mutex_unlock(&table->lock);
	do {
		err = binding_fill(b, memory, table->transport, bounce);
	} while (err == -ENOSPC && evict(table));
	if (err)
		return err;
	pthread_mutex_lock(&table->lock);
	atomic_store_explicit(&b->pins, 1, memory_order_release);
	table_add(table, b);
	pthread_mutex_unlock(&table->lock);
	return 0;
}

/* The binding of a memory object in a table; a new one has no slot. NULL: no memory. */
static struct binding *binding_of(struct nnhal_memory *memory, struct bind_table *table)
{
	struct binding *b;

	for (b = memory->bindings; b; b = b->next_in_memory)
		if (b->table == table &&
		    !atomic_load_explicit(&b->is_abandoned, memory_order_relaxed))
			return b;
	drop_closed(memory);
	b = binding_alloc();
	if (!b)
		return NULL;
	b->table = table;
	atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
	b->next_in_memory = memory->bindings;
	memory->bindings = b;
	return b;
}

int memory_bind_once(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		     const struct binding **binding)
{
	struct binding *b;
	uint64_t now;
	int err = 0;

	pthread_mutex_lock(&memory->lock);
	b = binding_of(memory, table);
	if (!b)
		err = -ENOMEM;
	else if (!binding_pin(b))
		err = binding_revive(b, memory, bounce);
	if (!err && b->has_bounce && !bounce) {
		binding_unpin(b);
		err = -ENOTSUP;
	}
	pthread_mutex_unlock(&memory->lock);
	if (err)
		return err;
	/* An order, not a count: two uses at once may get one number. */
	now = atomic_load_explicit(&table->clock, memory_order_relaxed) + 1;
	atomic_store_explicit(&table->clock, now, memory_order_relaxed);
	atomic_store_explicit(&b->last_used, now, memory_order_relaxed);
	*binding = b;
	return 0;
}

int memory_bind(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		const struct binding **binding)
{
	int err;

	do {
		err = memory_bind_once(memory, table, bounce, binding);
	} while (err == -ENOSPC && bind_table_ask_others(table, NULL));
	return err;
}
