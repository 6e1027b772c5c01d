/* SPDX-License-Identifier: MIT */
/*
 * The clock of deadlines and timings.
 */
#ifndef NNHAL_MONOTONIC_H
#define NNHAL_MONOTONIC_H

#include <stdbool.h>
#include <stdint.h>

uint64_t monotonic_ns(void);
/* Is there a deadline, and has it passed? */
bool deadline_passed(bool has_deadline, uint64_t deadline_ns);

/* The same for a device: 0: none. */
static inline uint64_t deadline_for_device(bool has_deadline, uint64_t deadline_ns)
{
	return has_deadline && deadline_ns < INT64_MAX ? deadline_ns : 0;
}

#endif /* NNHAL_MONOTONIC_H */
