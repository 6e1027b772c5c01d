// SPDX-License-Identifier: MIT
/*
 * What an execution that has ended says.
 */
#include <string.h>

#include "base/ndk_why.h"
#include "execute/ndk_execution.h"

/* The shape of an output; the result is that of the functions for shapes. */
static int find_shape(ANeuralNetworksExecution *e, int32_t index,
		      const struct nnhal_output_shape **shape)
{
	if (ndk_execution_state(e) != STATE_ENDED)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the execution has not ended");
	if (index < 0 || (uint32_t)index >= e->run->num_outputs)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "output %d: the model has %u", index, e->run->num_outputs);
	/* Other failures leave no shapes. */
	if ((e->run->result && e->run->result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) ||
	    (uint32_t)index >= e->run->num_shapes)
		return ndk_run_why(e->run);
	*shape = &e->run->shapes[index];
	if (!(*shape)->is_sufficient)
		return ndk_why(ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE, "output %d was too small", index);
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution,
						  int32_t index, uint32_t *rank)
{
	const struct nnhal_output_shape *shape = NULL;
	int result;

	if (!execution || !rank)
		return REFUSE_NULL(execution, rank);
	result = find_shape(execution, index, &shape);
	if (shape)
		*rank = shape->num_dimensions;
	return TELL(result);
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution,
							int32_t index, uint32_t *dimensions)
{
	const struct nnhal_output_shape *shape = NULL;
	int result;

	if (!execution || !dimensions)
		return REFUSE_NULL(execution, dimensions);
	result = find_shape(execution, index, &shape);
	/* A scalar has none. */
	if (shape && !shape->num_dimensions)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "output %d is a scalar, which has no dimensions", index);
	if (shape)
		memcpy(dimensions, shape->dimensions,
		       shape->num_dimensions * sizeof(*dimensions));
	return TELL(result);
}

/* libnnhal counts microseconds. */
static uint64_t in_ns(uint64_t time)
{
	return time >= UINT64_MAX / 1000 ? UINT64_MAX : 1000 * time;
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution,
					 int32_t durationCode, uint64_t *duration)
{
	/* Looking whether it has ended changes the state, and nothing that the caller has set. */
	ANeuralNetworksExecution *e = (ANeuralNetworksExecution *)execution;
	const struct ndk_run *run;

	if (!execution || !duration)
		return REFUSE_NULL(execution, duration);
	if (ndk_execution_state(e) != STATE_ENDED)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the execution has not ended");
	run = e->run;
	switch (durationCode) {
	case ANEURALNETWORKS_DURATION_ON_HARDWARE:
		*duration = in_ns(run->launched.time_on_device);
		break;
	case ANEURALNETWORKS_DURATION_IN_DRIVER:
		*duration = in_ns(run->launched.time_in_driver);
		break;
	case ANEURALNETWORKS_FENCED_DURATION_ON_HARDWARE:
		*duration = in_ns(run->fenced.time_on_device);
		break;
	case ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER:
		*duration = in_ns(run->fenced.time_in_driver);
		break;
	default:
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "duration code %d, expected 0 to %d", durationCode,
			      ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER);
	}
	return ANEURALNETWORKS_NO_ERROR;
}
