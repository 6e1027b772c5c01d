/* SPDX-License-Identifier: MIT */
/*
 * Both sides of a comparison on one CPU. Two CPUs differ: their clocks change by themselves, and one of
 * them may have less of its core or of its host.
 */
#ifndef NNPU_BENCH_ONE_CPU_H
#define NNPU_BENCH_ONE_CPU_H

#include <sched.h>

#include "userspace/tools/common/error.h"

/*
 * This thread, and those that it starts from now on, on the CPU where it is; @before: where it might be. A device
 * starts its threads when it is opened. 0 or -1.
 */
int one_cpu_enter(cpu_set_t *before, struct error *err);

void one_cpu_leave(const cpu_set_t *before);

#endif /* NNPU_BENCH_ONE_CPU_H */
