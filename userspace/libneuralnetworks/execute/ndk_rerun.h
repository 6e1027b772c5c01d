/* SPDX-License-Identifier: MIT */
/*
 * Executions that nnapi-reference runs again, since the devices that the library chose have failed.
 */
#ifndef NDK_RERUN_H
#define NDK_RERUN_H

#include "execute/ndk_execution.h"

/*
 * May an execution with this result run again? Not if the caller chose the devices, if nnapi-reference ran it, or
 * if another device would say the same: arguments that are wrong, an output that is too small, a deadline.
 */
bool ndk_may_rerun(const struct ANeuralNetworksExecution *execution, int result);

/* Run it again. The result is @result if that cannot even begin. */
int ndk_rerun(ANeuralNetworksExecution *execution, int result);

/*
 * Launch it again behind @fences, without waiting for them: the run has the new fence then. False: it cannot be
 * launched so, as memory has to be copied when the fences have signalled; nothing has changed.
 */
bool ndk_rerun_launch(ANeuralNetworksExecution *execution, const int *fences, uint32_t num_fences,
		      const struct nnhal_fenced_options *options, int result);

/*
 * As ndk_rerun() without waiting: the run ends when the execution has, now if it cannot begin. Takes over the references
 * of @execution and @run.
 */
void ndk_rerun_start(ANeuralNetworksExecution *execution, struct ndk_run *run, int result);

#endif /* NDK_RERUN_H */
