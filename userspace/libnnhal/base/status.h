/* SPDX-License-Identifier: MIT */
/*
 * Statuses of errors of the system and of the device.
 */
#ifndef NNHAL_STATUS_H
#define NNHAL_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/types.h>

/* Status of a failed system call or ioctl; @err: errno, > 0. */
enum nnhal_status status_from_errno(int err);
/* Status of a job whose fence carries an error and that has no result. */
enum nnhal_status status_from_fence_error(int err, bool has_deadline);
/* Status of an execution that the device ended. */
enum nnhal_status status_from_device(uint32_t device_status);
/* Texts of NNPU_STATUS_* and NNPU_REASON_*. */
const char *device_status_text(uint32_t device_status);
const char *device_reason_text(uint32_t reason);

#endif /* NNHAL_STATUS_H */
