/* SPDX-License-Identifier: MIT */
/*
 * What errors of the system and of the device mean.
 */
#ifndef NNHAL_STATUS_H
#define NNHAL_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/types.h>

/* The documented table: what a failed system call or ioctl means. Takes errno, > 0. */
enum nnhal_status status_from_errno(int err);
/* What a job means whose fence carries an error before the device wrote a result. */
enum nnhal_status status_from_fence_error(int err, bool has_deadline);
/* What a status of the device means for an execution. */
enum nnhal_status status_from_device(uint32_t device_status);
/* Texts of NNPU_STATUS_* and NNPU_REASON_*. */
const char *device_status_text(uint32_t device_status);
const char *device_reason_text(uint32_t reason);

#endif /* NNHAL_STATUS_H */
