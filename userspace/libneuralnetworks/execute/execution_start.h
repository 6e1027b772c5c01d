/* SPDX-License-Identifier: MIT */
/*
 * What all ways to start an execution share.
 */
#ifndef NDK_EXECUTION_START_H
#define NDK_EXECUTION_START_H

#include "execute/ndk_execution.h"

/* The execution runs from now on; BAD_STATE: it does or did already; BAD_DATA: an argument is not set. */
int ndk_begin(struct ANeuralNetworksExecution *execution);

/* Why an execution of a model that no device takes fails. Returns OP_FAILED. */
int ndk_why_nowhere(const ANeuralNetworksCompilation *compilation);

/* It has ended, by the thread that began it. Returns @result. */
int ndk_end(ANeuralNetworksExecution *execution, int result);

/* It goes on after the call; its run tells when it has ended. */
void ndk_launched(ANeuralNetworksExecution *execution);

/*
 * What is known of the shapes of outputs before the execution goes to the run. False: one is open. Fenced
 * executions bring no shapes, so these are the results.
 */
bool ndk_known_shapes(ANeuralNetworksExecution *execution);

/* What a program has said, and where the reason of a failure goes if somebody reads it; else NULL, which is faster. */
const struct nnhal_execute_options *ndk_options(const ANeuralNetworksExecution *execution,
						struct nnhal_execute_options *options);

#endif /* NDK_EXECUTION_START_H */
