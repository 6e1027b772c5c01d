// SPDX-License-Identifier: MIT
/*
 * Events: of runs, and of fences that the program has.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ndk_why.h"
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
		return REFUSE_NULL(event);
	*event = NULL;
	if (sync_fence_fd < 0)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "descriptor %d", sync_fence_fd);
	made = ndk_event_new();
	if (!made)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	made->fence = fcntl(sync_fence_fd, F_DUPFD_CLOEXEC, 3);
	if (made->fence < 0 && errno != EBADF)
		result = ndk_why(ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT, "no descriptor is left");
	else if (made->fence < 0 || nnhal_fence_wait(made->fence, 0) == NNHAL_FENCE_UNKNOWN)
		result = ndk_why(ANEURALNETWORKS_BAD_DATA, "descriptor %d is no fence", sync_fence_fd);
	if (result)
		ANeuralNetworksEvent_free(made);
	else
		*event = made;
	return TELL(result);
}

int ANeuralNetworksEvent_getSyncFenceFd(const ANeuralNetworksEvent *event, int *sync_fence_fd)
{
	int fence;

	if (!sync_fence_fd)
		return REFUSE_NULL(sync_fence_fd);
	*sync_fence_fd = -1;
	if (!event)
		return REFUSE_NULL(event);
	fence = ndk_event_fence(event);
	if (fence < 0)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "the event has no fence");
	*sync_fence_fd = fcntl(fence, F_DUPFD_CLOEXEC, 3);
	if (*sync_fence_fd < 0)
		return REFUSE(ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT, "no descriptor is left");
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksEvent_wait(ANeuralNetworksEvent *event)
{
	if (!event)
		return REFUSE_NULL(event);
	if (!event->run && nnhal_fence_wait(event->fence, -1) != NNHAL_FENCE_SIGNALED)
		return REFUSE(ANEURALNETWORKS_OP_FAILED, "the fence has failed");
	if (!event->run)
		return ANEURALNETWORKS_NO_ERROR;
	ndk_run_ended(event->run, true);
	return TELL(ndk_run_why(event->run));
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
