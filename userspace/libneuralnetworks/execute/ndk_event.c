// SPDX-License-Identifier: MIT
/*
 * Events: of runs, and of fences that the program has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "execute/ndk_event.h"

ANeuralNetworksEvent *ndk_event_new(void)
{
	ANeuralNetworksEvent *event = calloc(1, sizeof(*event));

	if (event)
		event->fence = -1;
	return event;
}

int ndk_event_fence(const ANeuralNetworksEvent *event)
{
	if (!event->run)
		return event->fence;
	/* A fence would signal without an error. */
	return event->run->refused ? -1 : event->run->fence;
}

int ANeuralNetworksEvent_createFromSyncFenceFd(int sync_fence_fd, ANeuralNetworksEvent **event)
{
	int result = ANEURALNETWORKS_NO_ERROR;
	ANeuralNetworksEvent *made;

	if (!event)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	*event = NULL;
	if (sync_fence_fd < 0)
		return ANEURALNETWORKS_BAD_DATA;
	made = ndk_event_new();
	if (!made)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	made->fence = fcntl(sync_fence_fd, F_DUPFD_CLOEXEC, 3);
	if (made->fence < 0 && errno != EBADF)
		result = ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT;
	else if (made->fence < 0 || nnhal_fence_wait(made->fence, 0) == NNHAL_FENCE_UNKNOWN)
		result = ANEURALNETWORKS_BAD_DATA;
	if (result)
		ANeuralNetworksEvent_free(made);
	else
		*event = made;
	return result;
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd)
{
	int fence;

	if (!sync_fence_fd)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	*sync_fence_fd = -1;
	if (!event)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	fence = ndk_event_fence(event);
	if (fence < 0)
		return ANEURALNETWORKS_BAD_DATA;
	*sync_fence_fd = fcntl(fence, F_DUPFD_CLOEXEC, 3);
	return *sync_fence_fd < 0 ? ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT :
				    ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)
{
	if (!event)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (!event->run)
		return nnhal_fence_wait(event->fence, -1) == NNHAL_FENCE_SIGNALED ?
		       ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_OP_FAILED;
	ndk_run_ended(event->run, true);
	return event->run->result;
}

void ANeuralNetworksEvent_free(ANeuralNetworksEvent *event)
{
	if (!event)
		return;
	ndk_run_unref(event->run);
	if (event->fence >= 0)
		close(event->fence);
	free(event);
}
