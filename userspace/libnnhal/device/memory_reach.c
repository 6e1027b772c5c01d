// SPDX-License-Identifier: MIT
/* Does a device reach a memory object without a copy? */
#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "device/device_private.h"
#include "memory/binding.h"

enum nnhal_status nnhal_memory_reach(struct nnhal_memory *memory, struct nnhal_device *device,
				     uint32_t *reach, struct nnhal_diag *diag)
{
	const struct binding *b;
	int err;

	diag_clear(diag);
	if (!memory || !device || !reach) {
		diag_set(diag, "NULL pointer for memory, device or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!device_is_usable(device, diag))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	err = memory_bind(memory, device->table, true, &b);
	if (err) {
		diag_set(diag, "memory cannot be bound: %s", errno_text(-err));
		return device_status_from_error(device, err);
	}
	*reach = b->reach;
	if (b->reach)
		diag_set(diag, "%s", nnhal_memory_reach_text(b->reach));
	binding_unpin(b);
	return NNHAL_STATUS_NONE;
}
