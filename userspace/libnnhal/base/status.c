// SPDX-License-Identifier: MIT
/*
 * Statuses: names, and the statuses of errors of the system and of the device.
 *
 * Documentation/hal-mapping.rst documents the tables; tests check each entry.
 */
#include <errno.h>

#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/hal_version.h"
#include "base/status.h"

static const struct {
	int err;
	enum nnhal_status status;
} errno_table[] = {
	{ EINVAL, NNHAL_STATUS_INVALID_ARGUMENT },
	{ EFAULT, NNHAL_STATUS_INVALID_ARGUMENT },
	{ EBADF, NNHAL_STATUS_INVALID_ARGUMENT },
	{ ENODEV, NNHAL_STATUS_DEVICE_UNAVAILABLE },
	/* No hardware queue is free at the moment. */
	{ EBUSY, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
	{ ENOMEM, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
	/* Until the caller closes some. */
	{ EMFILE, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
	{ ENFILE, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
	/* No context is free, or this user has as many as are free. */
	{ EUSERS, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
	{ EDQUOT, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
	/* All slots or programs are in use until the caller releases some. */
	{ ENOSPC, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
	{ ETIME, NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT },
	/* Context lost in a reset; only transport_ops.health() returns it. */
	{ ESTALE, NNHAL_STATUS_DEAD_OBJECT },
};

enum nnhal_status status_from_errno(int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(errno_table); i++)
		if (errno_table[i].err == err)
			return errno_table[i].status;
	return NNHAL_STATUS_GENERAL_FAILURE;
}

/*
 * A job fails if the device hangs, is reset or is removed while it runs. Whether the device
 * still works is the result of the next call. A missed deadline is reported only to a caller
 * that has set one.
 */
enum nnhal_status status_from_fence_error(int err, bool has_deadline)
{
	if (err == ETIME && has_deadline)
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	if (err == ENOMEM)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	return NNHAL_STATUS_GENERAL_FAILURE;
}

enum nnhal_status status_from_device(uint32_t device_status)
{
	switch (device_status) {
	case NNPU_STATUS_SUCCESS:
		return NNHAL_STATUS_NONE;
	case NNPU_STATUS_OUTPUT_INSUFFICIENT:
		return NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE;
	case NNPU_STATUS_ARG_COUNT:
	case NNPU_STATUS_ARG_SHAPE:
	case NNPU_STATUS_ARG_SIZE:
		return NNHAL_STATUS_INVALID_ARGUMENT;
	case NNPU_STATUS_NO_MEMORY:
	case NNPU_STATUS_BUSY:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	case NNPU_STATUS_NO_RESOURCES:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	case NNPU_STATUS_DEADLINE:
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	case NNPU_STATUS_LOOP_TIMEOUT:
		return NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
	default:
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
}

const char *device_status_text(uint32_t device_status)
{
	switch (device_status) {
#define X(name, num, text) case num: return text;
	NNPU_STATUS_LIST(X)
#undef X
	default:
		return "unknown status";
	}
}

const char *device_reason_text(uint32_t reason)
{
	switch (reason) {
#define X(name, num, text) case num: return text;
	NNPU_REASON_LIST(X)
#undef X
	default:
		return "unknown reason";
	}
}

const char *nnhal_status_name(int status)
{
	switch (status) {
#define X(name) case NNHAL_STATUS_##name: return #name;
	X(NONE)
	X(DEVICE_UNAVAILABLE)
	X(GENERAL_FAILURE)
	X(OUTPUT_INSUFFICIENT_SIZE)
	X(INVALID_ARGUMENT)
	X(MISSED_DEADLINE_TRANSIENT)
	X(MISSED_DEADLINE_PERSISTENT)
	X(RESOURCE_EXHAUSTED_TRANSIENT)
	X(RESOURCE_EXHAUSTED_PERSISTENT)
	X(DEAD_OBJECT)
	X(NO_DEVICE)
	X(NO_PERMISSION)
	X(NO_DRIVER)
#undef X
	default:
		return "unknown status";
	}
}

enum nnhal_status nnhal_status_for_version(enum nnhal_status status, uint32_t hal_version)
{
	uint32_t version = hal_version_of(hal_version);

	if (version == NNHAL_HAL_1_3)
		return status;
	switch (status) {
	case NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT:
	case NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT:
	case NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT:
	case NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT:
		return NNHAL_STATUS_GENERAL_FAILURE;
	default:
		return status;
	}
}
