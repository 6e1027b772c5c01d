// SPDX-License-Identifier: MIT
/*
 * Both sides of a comparison on one CPU.
 */
#include "one_cpu.h"

#include <errno.h>
#include <string.h>

int one_cpu_enter(cpu_set_t *before, struct error *err)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	if (cpu >= 0 && cpu < CPU_SETSIZE)
		CPU_SET(cpu, &one);
	if (sched_getaffinity(0, sizeof(*before), before) || sched_setaffinity(0, sizeof(one), &one))
		return fail(err, "cannot stay on one CPU: %s", strerror(errno));
	return 0;
}

void one_cpu_leave(const cpu_set_t *before)
{
	sched_setaffinity(0, sizeof(*before), before);
}
