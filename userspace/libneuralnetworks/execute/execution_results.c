// SPDX-License-Identifier: MIT
/*
 * What an execution that has ended says.
 */
#include <string.h>

#include "execute/ndk_execution.h"

/* The shape of an output; the result is that of the functions for shapes. */
static int find_shape(ANeuralNetworksExecution *e, int32_t index,
		      const struct nnhal_output_shape **shape)
{
	if (ndk_execution_state(e) != STATE_ENDED)
		return ANEURALNETWORKS_BAD_STATE;
	if (index < 0 || (uint32_t)index >= e->run->num_outputs)
		return ANEURALNETWORKS_BAD_DATA;
	/* Other failures leave no shapes. */
	if ((e->run->result && e->run->result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) ||
	    (uint32_t)index >= e->run->num_shapes)
		return e->run->result;
	*shape = &e->run->shapes[index];
	return (*shape)->is_sufficient ? ANEURALNETWORKS_NO_ERROR :
					 ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution,
						  int32_t index, uint32_t *rank)
{
	const struct nnhal_output_shape *shape = NULL;
	int result;

	if (!execution || !rank)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_shape(execution, index, &shape);
	if (shape)
		*rank = shape->num_dimensions;
	return result;
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution,
							int32_t index, uint32_t *dimensions)
{
	const struct nnhal_output_shape *shape = NULL;
	int result;

	if (!execution || !dimensions)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	result = find_shape(execution, index, &shape);
	/* A scalar has none. */
	if (shape && !shape->num_dimensions)
		return ANEURALNETWORKS_BAD_DATA;
	if (shape)
		memcpy(dimensions, shape->dimensions,
		       shape->num_dimensions * sizeof(*dimensions));
	return result;
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
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (ndk_execution_state(e) != STATE_ENDED)
		return ANEURALNETWORKS_BAD_STATE;
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
		return ANEURALNETWORKS_BAD_DATA;
	}
	return ANEURALNETWORKS_NO_ERROR;
}
