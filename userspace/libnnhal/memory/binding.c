// SPDX-License-Identifier: MIT
/*
 * Bindings: memory objects in the contexts of devices.
 *
 * A binding belongs to a memory object and to a device, and ends with the first of the two
 * to be released. Both hold references of the device's table of bindings; the transport
 * pointer of the table says whether the device is still open. Devices and memory objects may
 * be released in any order and on any thread.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "memory/binding.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

struct bind_table *bind_table_create(struct transport *transport)
{
	struct bind_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	atomic_init(&table->refs, 1);
	pthread_mutex_init(&table->lock, NULL);
	table->transport = transport;
	return table;
}

static void bind_table_unref(struct bind_table *table)
{
	if (atomic_fetch_sub_explicit(&table->refs, 1, memory_order_acq_rel) != 1)
		return;
	pthread_mutex_destroy(&table->lock);
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
}

/* Caller holds table->lock. */
static void table_remove(struct bind_table *table, struct binding *b)
{
	slot_release(table->transport, b);
	*b->prev_in_table = b->next_in_table;
	if (b->next_in_table)
		b->next_in_table->prev_in_table = b->prev_in_table;
}

void bind_table_close(struct bind_table *table)
{
	pthread_mutex_lock(&table->lock);
	while (table->bindings)
		table_remove(table, table->bindings);
	table->transport = NULL;
	pthread_mutex_unlock(&table->lock);
	bind_table_unref(table);
}

static void binding_free(struct binding *b)
{
	struct bind_table *table = b->table;

	pthread_mutex_lock(&table->lock);
	if (table->transport)
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

static int bind_direct(const struct nnhal_memory *memory, struct transport *t, uint32_t *slot)
{
	enum transport_memory_type type = memory->kind == NNHAL_MEMORY_HARDWARE_BUFFER_BLOB
					  ? TRANSPORT_DMABUF : TRANSPORT_MEMFD;
	uint32_t access = 0;

	if (!memory->direct)
		return -ENOTSUP;
	if (memory->access & NNHAL_MEMORY_READ)
		access |= TRANSPORT_READ;
	if (memory->access & NNHAL_MEMORY_WRITE)
		access |= TRANSPORT_WRITE;
	return t->ops->bind_fd(t, type, memory->fd, memory_bind_size(memory), access, slot);
}

static int binding_create(struct nnhal_memory *memory, struct transport *t, bool bounce,
			  struct binding **result)
{
	struct binding *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	err = bind_direct(memory, t, &b->slot);
	/* A dma-buf cannot be copied: report its error. */
	if (err == -ENOTSUP && bounce && memory->kind != NNHAL_MEMORY_HARDWARE_BUFFER_BLOB) {
		err = t->ops->bo_create(t, memory_bind_size(memory), &b->bounce);
		if (!err) {
			b->slot = b->bounce.slot;
			b->has_bounce = true;
		}
	}
	if (err) {
		free(b);
		return err;
	}
	*result = b;
	return 0;
}

int memory_bind_own(struct nnhal_memory *memory, struct transport *transport,
		    struct binding **binding)
{
	return binding_create(memory, transport, true, binding);
}

void memory_unbind_own(struct transport *transport, struct binding *binding)
{
	slot_release(transport, binding);
	free(binding);
}

int memory_bind(struct nnhal_memory *memory, struct bind_table *table, bool bounce,
		const struct binding **binding)
{
	struct binding *b;
	int err = 0;

	pthread_mutex_lock(&memory->lock);
	for (b = memory->bindings; b; b = b->next_in_memory)
		if (b->table == table)
			break;
	if (!b) {
		drop_closed(memory);
		/* The caller holds the device, so the transport is valid. */
		err = binding_create(memory, table->transport, bounce, &b);
		if (!err) {
			b->table = table;
			atomic_fetch_add_explicit(&table->refs, 1, memory_order_relaxed);
			b->next_in_memory = memory->bindings;
			memory->bindings = b;
			pthread_mutex_lock(&table->lock);
			table_add(table, b);
			pthread_mutex_unlock(&table->lock);
		}
	} else if (b->has_bounce && !bounce) {
		err = -ENOTSUP;
	}
	pthread_mutex_unlock(&memory->lock);
	if (!err)
		*binding = b;
	return err;
}
