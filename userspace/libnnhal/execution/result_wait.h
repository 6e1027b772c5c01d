/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a job that the driver runs.
 */
#ifndef NNHAL_RESULT_WAIT_H
#define NNHAL_RESULT_WAIT_H

struct execution;

/*
 * Wait for the end of a job that has been submitted. Looks at the result block for a while before
 * it sleeps, for as long as earlier jobs took: a sleep costs more than a small job does. 0 or -errno.
 */
int result_wait(struct execution *e);

#endif /* NNHAL_RESULT_WAIT_H */
