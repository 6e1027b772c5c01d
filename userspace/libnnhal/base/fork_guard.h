/* SPDX-License-Identifier: MIT */
/*
 * Children of fork() share the descriptors of their parent, and with them its context on the
 * device. A guard tells them apart: a page that reads zero in a child.
 */
#ifndef NNHAL_FORK_GUARD_H
#define NNHAL_FORK_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>

struct fork_guard {
	atomic_uint *page;
};

/* 0 or -errno; after an error the guard is none. */
int fork_guard_init(struct fork_guard *guard);
/* Nothing for a guard that is none. */
void fork_guard_fini(struct fork_guard *guard);
static inline bool fork_guard_in_child(const struct fork_guard *guard)
{
	return !atomic_load_explicit(guard->page, memory_order_relaxed);
}

#endif /* NNHAL_FORK_GUARD_H */
