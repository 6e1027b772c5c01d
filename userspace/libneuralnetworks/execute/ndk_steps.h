/* SPDX-License-Identifier: MIT */
/*
 * Executions of a plan: the steps one after the other.
 */
#ifndef NDK_STEPS_H
#define NDK_STEPS_H

#include "execute/ndk_execution.h"

/**
 * struct ndk_parts - what an execution has for the steps of its plan
 * @pool: memory of values between steps; NULL: none is there
 * @buffers: of each value: memory of a device, or NULL
 * @tokens: of @buffers
 * @requests: of each step
 * @arguments: of all requests
 * @pools: of all requests
 * @shapes: room for the outputs of a step
 * @next: step that runs; of an asynchronous execution
 * @run: a reference while an asynchronous execution runs
 */
struct ndk_parts {
	struct nnhal_memory *pool;
	struct nnhal_buffer **buffers;
	uint32_t *tokens;
	struct nnhal_request *requests;
	struct nnhal_request_argument *arguments;
	struct nnhal_request_pool *pools;
	struct nnhal_output_shape *shapes;
	uint32_t next;
	struct ndk_run *run;
};

/*
 * Make the requests of the steps at the first start; all arguments are set. Called by the thread that has begun
 * the execution.
 */
int ndk_parts_init(ANeuralNetworksExecution *execution);
void ndk_parts_free(struct ndk_parts *parts);

/* Run the steps. @bursts: of each step, or NULL. Returns the result. */
int ndk_parts_compute(ANeuralNetworksExecution *execution, struct nnhal_burst *const *bursts);

/* Start the steps, each when the one before has ended. The run gets the result in any case. */
void ndk_parts_start(ANeuralNetworksExecution *execution);

/*
 * Launch all steps, each behind the fence of the one before, the first behind @fences. The run has the fence of
 * the last one that was launched, after an error, too: that one may still write to memory.
 */
int ndk_parts_launch(ANeuralNetworksExecution *execution, const int *fences, uint32_t num_fences,
		     const struct nnhal_fenced_options *options);

/* A burst for each step; the caller frees the array. NULL: @status says why. */
struct nnhal_burst **ndk_parts_bursts(const struct ndk_plan *plan,
				      const struct nnhal_burst_options *options,
				      enum nnhal_status *status);
void ndk_parts_bursts_free(const struct ndk_plan *plan, struct nnhal_burst **bursts);

/* The bursts forget the memory of an execution. */
void ndk_parts_bursts_forget(struct nnhal_burst *const *bursts,
			     const ANeuralNetworksExecution *execution);

#endif /* NDK_STEPS_H */
