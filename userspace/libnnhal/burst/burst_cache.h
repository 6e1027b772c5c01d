/* SPDX-License-Identifier: MIT */
/*
 * Memory objects that a burst keeps bound. The caller holds burst.lock.
 */
#ifndef NNHAL_BURST_CACHE_H
#define NNHAL_BURST_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "burst/burst_private.h"

int burst_cache_init(struct nnhal_burst *b, uint32_t max_memories);
void burst_cache_fini(struct nnhal_burst *b);
/* The entry of a memory object, bound if it was not. 0 or -errno. */
int burst_cache_get(struct nnhal_burst *b, struct nnhal_memory *memory,
		    struct cached_memory **entry);
/* ENOSPC of the transport: a context has no slot left. True: one has become free, try again. */
bool burst_cache_make_room(struct nnhal_burst *b);
void burst_cache_forget(struct nnhal_burst *b, const struct nnhal_memory *memory);
/* The place gives up its memory, before another request takes it. */
void burst_cache_leave(struct burst_request *r);
/* Unbind entries that are forgotten or beyond the limit and not in use. */
void burst_cache_tidy(struct nnhal_burst *b);

#endif /* NNHAL_BURST_CACHE_H */
