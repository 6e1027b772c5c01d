/* SPDX-License-Identifier: MIT */
/*
 * Who has a burst: its lock, or for bursts with NNHAL_BURST_SINGLE_THREAD its owner word.
 *
 * A burst that one thread at a time uses needs no lock but against others who ask for its slots
 * (give_slot() in burst_cache.c). The word is enough for that:
 *
 *   OWNER_NONE    no call is at work
 *   OWNER_QUICK   a call is at work, without burst.lock
 *   OWNER_LOCKED  a call is at work, and burst.lock protects the burst as in other bursts: the call
 *                 may drop it meanwhile
 *   OWNER_GIVER   somebody else takes a slot, and holds burst.lock
 *
 * A call begins as QUICK and becomes LOCKED before it does anything that takes long or drops the
 * lock. A second call at the same time, which the flag forbids, is refused.
 */
#ifndef NNHAL_BURST_OWNER_H
#define NNHAL_BURST_OWNER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/base.h"
#include "burst/burst_private.h"

/* Status of a call that was refused since another one is at work. */
cold_path enum nnhal_status burst_busy_status(const struct nnhal_request *request,
					      struct nnhal_diag *diag);
/* The word was not NONE. False: a second call is at work. */
cold_path bool burst_own_slowly(struct nnhal_burst *b);
/* From QUICK to LOCKED. */
cold_path void burst_lock_owned(struct nnhal_burst *b);

static inline unsigned char burst_owner(const struct nnhal_burst *b)
{
	return atomic_load_explicit(&((struct nnhal_burst *)b)->owner, memory_order_relaxed);
}

/* Begin a call of a burst with the flag, without the lock. False: another one is at work. */
hot_inline bool burst_enter_quickly(struct nnhal_burst *b)
{
	unsigned char none = OWNER_NONE;

	if (unlikely(!atomic_compare_exchange_strong_explicit(&b->owner, &none, OWNER_QUICK,
							      memory_order_acquire,
							      memory_order_relaxed)))
		return burst_own_slowly(b);
	return true;
}

/* What follows takes long or drops the lock. For any burst, at any time in a call. */
hot_inline void burst_need_lock(struct nnhal_burst *b)
{
	if (burst_owner(b) == OWNER_QUICK)
		burst_lock_owned(b);
}

/* Begin a call that takes the lock in any case. */
hot_inline bool burst_enter(struct nnhal_burst *b)
{
	if (unlikely(b->is_single)) {
		if (!burst_enter_quickly(b))
			return false;
		burst_lock_owned(b);
		return true;
	}
	pthread_mutex_lock(&b->lock);
	return true;
}

/* End a call. @single: the value of b->is_single. */
hot_inline void burst_leave(struct nnhal_burst *b, bool single)
{
	bool locked = !single || unlikely(burst_owner(b) != OWNER_QUICK);

	if (single)
		atomic_store_explicit(&b->owner, OWNER_NONE, memory_order_release);
	if (locked)
		pthread_mutex_unlock(&b->lock);
}

#endif /* NNHAL_BURST_OWNER_H */
