// SPDX-License-Identifier: MIT
/*
 * Executions that their options let cancel.
 */
#include <errno.h>
#include <stddef.h>

#include <drm/nnpu_program.h>

#include "base/cancel_node.h"
#include "device/device_private.h"
#include "execution/cancelled.h"
#include "transport/transport.h"

/* The run may not have been submitted yet, and it may have ended. */
static bool abort_run(struct cancel_node *node)
{
	struct execution *e = (void *)((char *)node - offsetof(struct execution, cancel));
	struct transport *t = e->model->device->transport;

	return !t->ops->cancel(t, e->fence);
}

bool execution_may_begin(struct execution *e)
{
	return !e->options.cancel || cancel_node_add(e->options.cancel, &e->cancel, abort_run);
}

bool execution_is_cancelled(struct execution *e, uint16_t status)
{
	struct transport *t = e->model->device->transport;

	if (!e->options.cancel || !cancel_node_is_aborted(&e->cancel))
		return false;
	/* The device says so, or the fence of a job that it never had. */
	if (status != NNPU_STATUS_ABORTED &&
	    (status != NNPU_STATUS_PENDING || t->ops->fence_error(t, e->fence) != -ECANCELED))
		return false;
	cancel_node_count(&e->cancel);
	return true;
}
