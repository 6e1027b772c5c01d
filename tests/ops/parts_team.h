/* SPDX-License-Identifier: MIT */
/*
 * Teams that compute operations in parts, as a device with several threads may.
 */
#ifndef NNPU_TESTS_PARTS_TEAM_H
#define NNPU_TESTS_PARTS_TEAM_H

#include <stdbool.h>

#include "op.h"

/* The next team: ranges in any order on this thread, then 2, 3 and 8 threads. */
struct op_team *parts_team_next(void);

/* How many threads it has. */
unsigned int parts_team_threads(void);

/* Has an operation been computed in parts since parts_team_next()? */
bool parts_team_used(void);

#endif /* NNPU_TESTS_PARTS_TEAM_H */
