// SPDX-License-Identifier: GPL-2.0-only
/* A bounded queue of events: to add one never waits and allocates nothing. */
#include "nnpu_event_ring.h"

/**
 * nnpu_event_ring_add - keep an event
 * @ring: ring
 * @event: event
 * @modest: a client can cause any number of such events: leave half of the room to the others
 *
 * Return: false if there is no room. It is counted as lost.
 */
bool nnpu_event_ring_add(struct nnpu_event_ring *ring, const struct nnpu_event *event,
			 bool modest)
{
	u32 room = modest ? ring->size / 2 : ring->size;

	ring->all++;
	if (ring->count >= room) {
		ring->lost++;
		return false;
	}
	ring->slots[(ring->first + ring->count++) % ring->size] = *event;
	return true;
}

/**
 * nnpu_event_ring_take - take the oldest event
 * @ring: ring
 * @event: gets it
 *
 * Return: false if there is none.
 */
bool nnpu_event_ring_take(struct nnpu_event_ring *ring, struct nnpu_event *event)
{
	if (!ring->count)
		return false;
	*event = ring->slots[ring->first];
	ring->first = (ring->first + 1) % ring->size;
	ring->count--;
	return true;
}
