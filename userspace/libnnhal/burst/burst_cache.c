// SPDX-License-Identifier: MIT
/*
 * Memory objects a burst keeps bound.
 *
 * The first request that names a memory object binds it to a slot of the device. The
 * binding belongs to the burst. It ends when the object is forgotten, when it makes room
 * for another one, or with the burst. An entry that a request in flight uses is never
 * unbound; if it is forgotten meanwhile, it waits in the list of dropped entries. If all
 * entries are in use, a new object is bound beyond the limit.
 *
 * If the context has no slot left, entries that no request uses make room, those of this burst
 * or of others.
 *
 * None of this is on the hot path: a request that is the same as the last one in its place
 * does not look up its memory.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "burst/burst_cache.h"
#include "burst/burst_owner.h"
#include "burst/burst_private.h"
#include "device/device_private.h"
#include "memory/binding.h"
#include "memory/memory_private.h"
#include "transport/transport.h"

/* More than a context has slots. */
#define MOST_MEMORIES	65536

static int give_slot(struct slot_holder *holder);

int burst_cache_init(struct nnhal_burst *b, uint32_t max_memories)
{
	uint32_t buckets = 16;

	b->max_memories = max_memories < MOST_MEMORIES ? max_memories : MOST_MEMORIES;
	while (buckets < b->max_memories)
		buckets *= 2;
	b->buckets = calloc(buckets, sizeof(*b->buckets));
	b->bucket_mask = buckets - 1;
	if (!b->buckets)
		return -ENOMEM;
	b->holder.give = give_slot;
	bind_table_add_holder(b->model->device->table, &b->holder);
	return 0;
}

static struct cached_memory **bucket_of(struct nnhal_burst *b, const struct nnhal_memory *memory)
{
	uintptr_t key = (uintptr_t)memory / 16;

	return &b->buckets[(key ^ key >> 8 ^ key >> 16) & b->bucket_mask];
}

static struct cached_memory *find(struct nnhal_burst *b, const struct nnhal_memory *memory)
{
	struct cached_memory *e;

	for (e = *bucket_of(b, memory); e; e = e->next_in_bucket)
		if (e->memory == memory)
			break;
	return e;
}

static bool names(const struct burst_request *r, const struct cached_memory *e)
{
	uint32_t i;

	for (i = 0; i < r->num_pools; i++)
		if (r->cached[i] == e)
			return true;
	return false;
}

/* Does a place that is not FREE name the entry? */
static bool in_use(struct nnhal_burst *b, const struct cached_memory *e)
{
	uint32_t i;

	for (i = 0; i < b->num_requests; i++)
		if (atomic_load_explicit(&b->requests[i].state, memory_order_relaxed) !=
		    REQUEST_FREE && names(&b->requests[i], e))
			return true;
	return false;
}

static void entry_free(struct nnhal_burst *b, struct cached_memory *e)
{
	memory_unbind_own(b->transport, e->binding);
	nnhal_memory_unref(e->memory);
	free(e);
}

/* Remove an entry from the table. */
static void unlink_entry(struct nnhal_burst *b, struct cached_memory *e)
{
	struct cached_memory **link = bucket_of(b, e->memory);
	uint32_t i;

	while (*link != e)
		link = &(*link)->next_in_bucket;
	*link = e->next_in_bucket;
	for (link = &b->memories; *link != e; link = &(*link)->next)
		;
	*link = e->next;
	b->num_memories--;
	atomic_store_explicit(&b->holder.num_slots, b->num_memories, memory_order_relaxed);
	/* Argument blocks with its slot must be written again. */
	for (i = 0; i < b->num_requests; i++)
		if (names(&b->requests[i], e))
			b->requests[i].flags |= REQUEST_STALE;
}

void burst_cache_leave(struct burst_request *r)
{
	uint32_t i;

	for (i = 0; i < r->num_pools; i++)
		if (r->cached[i] && r->cached[i]->last_used < r->last_used)
			r->cached[i]->last_used = r->last_used;
	r->num_pools = 0;
	r->flags |= REQUEST_STALE;
}

/* Requests record when they ran; copy that time to the entries they use. */
static void update_last_used(struct nnhal_burst *b)
{
	uint32_t i, p;

	for (i = 0; i < b->num_requests; i++) {
		const struct burst_request *r = &b->requests[i];

		for (p = 0; p < r->num_pools; p++)
			if (r->cached[p] && r->cached[p]->last_used < r->last_used)
				r->cached[p]->last_used = r->last_used;
	}
}

/* Unbind the least recently used entry. False if all are in use. */
static bool evict(struct nnhal_burst *b)
{
	struct cached_memory *e, *oldest = NULL;
	uint32_t i;

	update_last_used(b);
	for (e = b->memories; e; e = e->next)
		if ((!oldest || e->last_used < oldest->last_used) && !in_use(b, e))
			oldest = e;
	if (!oldest)
		return false;
	unlink_entry(b, oldest);
	for (i = 0; i < b->num_requests; i++)
		if (names(&b->requests[i], oldest))
			burst_cache_leave(&b->requests[i]);
	entry_free(b, oldest);
	return true;
}

/* Another part of the process needs a slot. */
static int give_slot(struct slot_holder *holder)
{
	struct nnhal_burst *b = (struct nnhal_burst *)((uint8_t *)holder -
						       offsetof(struct nnhal_burst, holder));
	unsigned char none = OWNER_NONE;
	unsigned char given_before = WANTED_GIVEN;
	bool owned = false, given = false;

	if (atomic_compare_exchange_strong_explicit(&b->wanted, &given_before, WANTED_NOT,
						    memory_order_acquire, memory_order_relaxed))
		return 0;
	/* Who asks may hold the lock of another burst, or of this one. */
	if (pthread_mutex_trylock(&b->lock))
		return -EBUSY;
	if (b->is_single)
		owned = atomic_compare_exchange_strong_explicit(&b->owner, &none, OWNER_GIVER,
								memory_order_acquire,
								memory_order_relaxed);
	if (none != OWNER_QUICK)
		given = evict(b);
	if (owned)
		atomic_store_explicit(&b->owner, OWNER_NONE, memory_order_release);
	pthread_mutex_unlock(&b->lock);
	if (none != OWNER_QUICK)
		return given ? 0 : -ENOSPC;
	/* A lost update does no harm: who got EBUSY asks again. */
	atomic_store_explicit(&b->wanted, WANTED_ASKED, memory_order_relaxed);
	atomic_store_explicit(&b->is_untidy, true, memory_order_relaxed);
	return -EBUSY;
}

bool burst_cache_make_room(struct nnhal_burst *b)
{
	return evict(b) || bind_table_ask_others(b->model->device->table, &b->holder);
}

int burst_cache_get(struct nnhal_burst *b, struct nnhal_memory *memory,
		    struct cached_memory **entry)
{
	struct cached_memory **bucket = bucket_of(b, memory);
	struct cached_memory *e = find(b, memory);
	int err;

	if (e) {
		*entry = e;
		return 0;
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	while (b->num_memories >= b->max_memories && evict(b))
		;
	do {
		err = memory_bind_own(memory, b->model->device->table, &e->binding);
	} while (err == -ENOSPC && burst_cache_make_room(b));
	if (err) {
		free(e);
		return err;
	}
	e->memory = nnhal_memory_ref(memory);
	e->last_used = b->clock;
	e->next_in_bucket = *bucket;
	*bucket = e;
	e->next = b->memories;
	b->memories = e;
	if (++b->num_memories > b->max_memories)
		atomic_store_explicit(&b->is_untidy, true, memory_order_relaxed);
	atomic_store_explicit(&b->holder.num_slots, b->num_memories, memory_order_relaxed);
	*entry = e;
	return 0;
}

static void sweep(struct nnhal_burst *b)
{
	struct cached_memory **link = &b->dropped;
	struct cached_memory *e;
	uint32_t i;

	while ((e = *link)) {
		if (in_use(b, e)) {
			link = &e->next;
			continue;
		}
		*link = e->next;
		for (i = 0; i < b->num_requests; i++)
			if (names(&b->requests[i], e))
				burst_cache_leave(&b->requests[i]);
		entry_free(b, e);
	}
}

/* Somebody asked while a call was at work. */
static void answer(struct nnhal_burst *b)
{
	if (atomic_load_explicit(&b->wanted, memory_order_relaxed) == WANTED_ASKED)
		atomic_store_explicit(&b->wanted, evict(b) ? WANTED_GIVEN : WANTED_NOT,
				      memory_order_release);
}

void burst_cache_tidy(struct nnhal_burst *b)
{
	burst_need_lock(b);
	sweep(b);
	answer(b);
	while (b->num_memories > b->max_memories && evict(b))
		;
	atomic_store_explicit(&b->is_untidy, b->dropped || b->num_memories > b->max_memories,
			      memory_order_relaxed);
}

void burst_cache_forget(struct nnhal_burst *b, const struct nnhal_memory *memory)
{
	struct cached_memory *e = find(b, memory);

	if (!e)
		return;
	unlink_entry(b, e);
	e->next = b->dropped;
	b->dropped = e;
	burst_cache_tidy(b);
}

void burst_cache_fini(struct nnhal_burst *b)
{
	struct cached_memory *e;

	if (b->holder.is_listed)
		bind_table_remove_holder(b->model->device->table, &b->holder);
	while ((e = b->dropped)) {
		b->dropped = e->next;
		entry_free(b, e);
	}
	while ((e = b->memories)) {
		b->memories = e->next;
		entry_free(b, e);
	}
	free(b->buckets);
}
