/* SPDX-License-Identifier: MIT */
/*
 * A call of libnnhal or libnntflite whose allocations fail, one at each attempt.
 */
#ifndef TESTS_SWEEP_ALLOCATIONS_H
#define TESTS_SWEEP_ALLOCATIONS_H

#include <nnhal/nnhal.h>

#include "failing_allocations.h"
#include "tap.h"

/* @attempt undoes all it did. @is_shortage: does a status other than NONE say what was missing? */
static inline void sweep_allocations(const char *name, enum nnhal_status (*attempt)(void),
				     bool (*is_shortage)(enum nnhal_status status))
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	unsigned int n, wrong = 0;

	for (n = 1; n < 10000; n++) {
		alloc_failed = false;
		alloc_countdown = n;
		status = attempt();
		alloc_countdown = 0;
		if (!alloc_failed)
			break;
		/* A call may also succeed without the memory. */
		if (status && !is_shortage(status)) {
			tap_note("%s: allocation %u: %s", name, n, nnhal_status_name((int)status));
			wrong++;
		}
	}
	/* A call that allocates nothing would mean that the wrapped functions are not reached. */
	ok(!wrong && !status && n > 1, "%s: each of %u allocations may fail", name, n - 1);
	ok(!attempt(), "%s: then it succeeds", name);
}

#endif /* TESTS_SWEEP_ALLOCATIONS_H */
