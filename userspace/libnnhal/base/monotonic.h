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

#endif /* NNHAL_MONOTONIC_H */
