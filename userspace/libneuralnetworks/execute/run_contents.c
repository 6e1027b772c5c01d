// SPDX-License-Identifier: MIT
/*
 * The contents of memory of descriptors that no single device has. Of buffers of devices libnnhal knows whether
 * they have one.
 */
#include <stdlib.h>

#include "base/ndk_why.h"
#include "execute/ndk_execution.h"

static ANeuralNetworksMemory *shared_memory(const ANeuralNetworksExecution *e, uint32_t i)
{
	ANeuralNetworksMemory *memory = e->arguments[i].memory;

	return memory && ndk_memory_is_shared(memory) ? memory : NULL;
}

static bool inputs_are_there(const ANeuralNetworksExecution *execution)
{
	for (uint32_t i = 0; i < execution->num_inputs; i++) {
		const ANeuralNetworksMemory *memory = shared_memory(execution, i);

		if (memory && !ndk_memory_has_content(memory))
			return false;
	}
	return true;
}

int ndk_begin_shared(ANeuralNetworksExecution *execution)
{
	struct ndk_run *run = execution->run;
	bool there;

	run->written = calloc(execution->num_shared, sizeof(*run->written));
	if (!run->written)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	/* An input may be an output as well. */
	there = inputs_are_there(execution);
	for (uint32_t i = execution->num_inputs; i < execution->num_arguments; i++) {
		ANeuralNetworksMemory *memory = shared_memory(execution, i);

		if (!memory)
			continue;
		run->written[run->num_written++] = ndk_memory_ref(memory);
		ndk_memory_begin_write(memory, run);
	}
	if (!there)
		return ndk_why(ANEURALNETWORKS_OP_FAILED, "memory of a descriptor without content as an input");
	return ANEURALNETWORKS_NO_ERROR;
}
