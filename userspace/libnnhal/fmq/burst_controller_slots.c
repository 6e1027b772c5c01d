// SPDX-License-Identifier: MIT
/*
 * Slots of the memory objects of a burst client. All functions take the lock of the
 * controller themselves but slots_assign().
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <nnhal/burst_fmq.h>
#include <nnhal/memory.h>

#include "fmq/burst_controller_private.h"
#include "fmq/burst_link.h"

static struct slot *slots_find(struct nnhal_burst_controller *c,
			       const struct nnhal_memory *memory)
{
	uint32_t i;

	for (i = 0; i < NUM_SLOTS; i++)
		if (c->slots[i].state == SLOT_USED && c->slots[i].memory == memory)
			return &c->slots[i];
	return NULL;
}

/* Free a slot. Return: its object; the caller now owns the reference. */
static struct nnhal_memory *leave(struct nnhal_burst_controller *c, struct slot *slot)
{
	struct nnhal_memory *memory = slot->memory;

	slot->memory = NULL;
	slot->doomed = false;
	slot->state = SLOT_LEAVING;
	c->num_used--;
	c->num_waiting++;
	return memory;
}

static struct slot *slots_least_recent(struct nnhal_burst_controller *c)
{
	struct slot *oldest = NULL;
	uint32_t i;

	for (i = 0; i < NUM_SLOTS; i++) {
		struct slot *slot = &c->slots[i];

		if (slot->state == SLOT_USED && !slot->in_request &&
		    (!oldest || slot->last_used < oldest->last_used))
			oldest = slot;
	}
	return oldest;
}

/* A slot for a new object. PERSISTENT: the request itself has as many objects as fit. */
static enum nnhal_status slots_take(struct nnhal_burst_controller *c, struct nnhal_memory *memory,
				    struct slot **slot)
{
	struct slot *oldest;
	uint32_t i;

	if (c->num_used == MAX_MEMORIES) {
		oldest = slots_least_recent(c);
		if (!oldest)
			return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
		/* Usually not the last reference: the client holds one. */
		nnhal_memory_unref(leave(c, oldest));
	}
	for (i = 0; i < NUM_SLOTS && c->slots[i].state != SLOT_FREE; i++)
		;
	if (i == NUM_SLOTS)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	c->slots[i].state = SLOT_USED;
	c->slots[i].memory = nnhal_memory_ref(memory);
	c->num_used++;
	*slot = &c->slots[i];
	return NNHAL_STATUS_NONE;
}

enum nnhal_status slots_assign(struct nnhal_burst_controller *c,
			       const struct nnhal_request_pool *pools, uint32_t num_pools)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct slot *slot;
	uint32_t i;

	c->clock++;
	for (i = 0; i < num_pools; i++) {
		slot = slots_find(c, pools[i].memory);
		if (!slot)
			status = slots_take(c, pools[i].memory, &slot);
		if (status)
			return status;
		slot->in_request = true;
		slot->last_used = c->clock;
		c->pool_slots[i] = (int32_t)(slot - c->slots);
	}
	return NNHAL_STATUS_NONE;
}

void slots_release(struct nnhal_burst_controller *c)
{
	struct nnhal_memory *gone[NUM_SLOTS];
	uint32_t i, num_gone = 0;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < NUM_SLOTS; i++) {
		if (!c->slots[i].in_request)
			continue;
		c->slots[i].in_request = false;
		if (c->slots[i].doomed)
			gone[num_gone++] = leave(c, &c->slots[i]);
	}
	pthread_mutex_unlock(&c->lock);
	while (num_gone)
		nnhal_memory_unref(gone[--num_gone]);
}

int slots_send_frees(struct nnhal_burst_controller *c)
{
	struct link_message message;
	uint32_t i = 0;
	int err = 0;

	pthread_mutex_lock(&c->lock);
	while (c->num_waiting && i < NUM_SLOTS && !err) {
		memset(&message, 0, sizeof(message));
		message.type = LINK_FREE;
		for (; i < NUM_SLOTS && message.count < LINK_MAX_SLOTS; i++)
			if (c->slots[i].state == SLOT_LEAVING)
				message.slots[message.count++] = (int32_t)i;
		if (message.count)
			err = link_send(&c->link, &message, NULL, 0, 0);
		while (!err && message.count)
			c->slots[message.slots[--message.count]].state = SLOT_RESTING;
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

void slots_free_memory(struct nnhal_burst_controller *c, const struct nnhal_memory *memory)
{
	struct nnhal_memory *gone = NULL;
	struct slot *slot;

	pthread_mutex_lock(&c->lock);
	slot = slots_find(c, memory);
	if (slot && slot->in_request)
		slot->doomed = true;
	else if (slot)
		gone = leave(c, slot);
	pthread_mutex_unlock(&c->lock);
	nnhal_memory_unref(gone);
	/* If the socket is full, the next request sends the message. */
	if (gone)
		slots_send_frees(c);
}

void slots_freed(struct nnhal_burst_controller *c, const struct link_message *message)
{
	uint32_t i, slot;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < message->count; i++) {
		slot = (uint32_t)message->slots[i];
		if (slot < NUM_SLOTS && c->slots[slot].state == SLOT_RESTING) {
			c->slots[slot].state = SLOT_FREE;
			c->num_waiting--;
		}
	}
	pthread_mutex_unlock(&c->lock);
}

bool slots_ref_memories(struct nnhal_burst_controller *c, const struct link_message *message,
			struct nnhal_memory **memories, uint32_t *count)
{
	bool found = true;
	uint32_t slot;

	pthread_mutex_lock(&c->lock);
	for (*count = 0; *count < message->count && found; ) {
		slot = (uint32_t)message->slots[*count];
		found = slot < NUM_SLOTS && c->slots[slot].state == SLOT_USED;
		if (found)
			memories[(*count)++] = nnhal_memory_ref(c->slots[slot].memory);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}
