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

/* Sleep on cond until @until_ns or a bit less. Caller holds the lock. */
void burst_sleep(struct nnhal_burst *b, uint64_t until_ns);
/* How the queue has ended, and what a request gets that comes afterwards. */
cold_path const char *burst_state_text(enum transport_queue_state state);
cold_path enum nnhal_status burst_ended_status(const struct nnhal_burst *b,
					       struct nnhal_diag *diag);
/*
 * Look for @number completions, or for @flag to become REQUEST_DONE, without the lock and
 * for a bounded time: true if either was seen. The two loads decide nothing: see
 * burst_queue.c. Of several only the last one is looked at: the device is about to write
 * those before it.
 */
bool burst_look(struct nnhal_burst *b, uint32_t number, const _Atomic unsigned char *flag,
		uint64_t limit);
/*
 * Sleep until there may be a completion. One thread does so in the driver, for all;
 * others follow it, and one of them takes its place when it has got its result. With
 * nothing on the device it is another thread that is waited for. The lock is dropped
 * meanwhile.
 */
cold_path void burst_doze(struct nnhal_burst *b, uint64_t until_ns);

#endif /* NNHAL_BURST_WAIT_H */
