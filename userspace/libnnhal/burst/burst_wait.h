/* SPDX-License-Identifier: MIT */
/*
 * Spinning and sleeping until a completion is there, and the end of the queue.
 */
#ifndef NNHAL_BURST_WAIT_H
#define NNHAL_BURST_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "burst/burst_private.h"
#include "transport/transport.h"

/* Reads of the ring between two pauses: a pause may take long in a virtual machine. */
#define BURST_LOOKS	16

/* Sleep on cond until @until_ns, but for at most one slice. Caller holds the lock. */
void burst_sleep(struct nnhal_burst *b, uint64_t until_ns);
/* How the queue has ended, and the status of requests that come later. */
cold_path const char *burst_state_text(enum transport_queue_state state);
cold_path enum nnhal_status burst_ended_status(const struct nnhal_burst *b,
					       struct nnhal_diag *diag);
/*
 * Spin until @number completions are in the ring or @flag is REQUEST_DONE, for at most
 * @limit and without the lock. True if either was seen. The caller must take the lock and
 * look again, see burst_ring.h. Only the last of @number completions is read: the device
 * writes the others before it.
 */
bool burst_look(struct nnhal_burst *b, uint32_t number, const _Atomic unsigned char *flag,
		uint64_t limit);
/*
 * Sleep until there may be a completion. One thread at a time sleeps in the driver; the
 * others sleep on cond, and it wakes them. If no request is running, all wait on cond for
 * another thread. Caller holds the lock, which is dropped meanwhile.
 */
cold_path void burst_doze(struct nnhal_burst *b, uint64_t until_ns);

#endif /* NNHAL_BURST_WAIT_H */
