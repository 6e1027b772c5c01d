/* SPDX-License-Identifier: MIT */
/*
 * Which operations of a model the device supports.
 */
#ifndef NNHAL_SUPPORT_H
#define NNHAL_SUPPORT_H

#include <nnhal/nnhal.h>

#include "transport/transport.h"

/*
 * Have the device check the operations of a valid model. @support has one entry per
 * operation, the first one with its size, or is NULL. INVALID_ARGUMENT: an operation is malformed.
 */
enum nnhal_status check_operations(struct nnhal_device *device, const struct nnhal_model *model,
				   struct nnhal_ext_operation_support *support,
				   struct nnhal_diag *diag);
/* Status of an image_load() that failed. */
enum nnhal_status load_status(struct nnhal_device *device, int error,
			      const struct transport_load *result);

#endif /* NNHAL_SUPPORT_H */
