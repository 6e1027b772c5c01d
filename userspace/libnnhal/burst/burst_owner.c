// SPDX-License-Identifier: MIT
/*
 * Bursts with NNHAL_BURST_SINGLE_THREAD: the rare changes of their owner.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "base/diag.h"
#include "burst/burst_owner.h"
#include "burst/burst_private.h"
#include "execution/arguments.h"

enum nnhal_status burst_busy_status(const struct nnhal_request *request, struct nnhal_diag *diag)
{
	diag_set(diag, "another thread uses the burst, which is for one at a time");
	return request_status(NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, request);
}

bool burst_own_slowly(struct nnhal_burst *b)
{
	unsigned char none;

	for (;;) {
		none = OWNER_NONE;
		if (atomic_compare_exchange_strong_explicit(&b->owner, &none, OWNER_QUICK,
							    memory_order_acquire,
							    memory_order_relaxed))
			return true;
		if (none != OWNER_GIVER)
			return false;
		/* Who takes a slot has the lock until that is done. */
		pthread_mutex_lock(&b->lock);
		pthread_mutex_unlock(&b->lock);
	}
}

void burst_lock_owned(struct nnhal_burst *b)
{
	pthread_mutex_lock(&b->lock);
	atomic_store_explicit(&b->owner, OWNER_LOCKED, memory_order_relaxed);
}
