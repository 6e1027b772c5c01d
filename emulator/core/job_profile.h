/* SPDX-License-Identifier: MIT */
/*
 * The profile of a job: a record per command.
 */
#ifndef NNPU_EMU_JOB_PROFILE_H
#define NNPU_EMU_JOB_PROFILE_H

#include <stdint.h>

struct exec_run;

/* 0, or -1 with the verdict. */
int exec_profile_init(struct exec_run *run);

/*
 * A control command begins, whose record comes before those of the commands that it runs; and any
 * command ends. @start: the time when it began.
 */
void exec_profile_begin(struct exec_run *run, uint32_t index, uint64_t start);
void exec_profile_end(struct exec_run *run, uint32_t index, uint64_t start);

#endif /* NNPU_EMU_JOB_PROFILE_H */
