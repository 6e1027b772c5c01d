/* SPDX-License-Identifier: MIT */
/*
 * Loading programs.
 */
#ifndef NNHAL_PROGRAM_H
#define NNHAL_PROGRAM_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "device/device_private.h"
#include "model/model_image.h"

/*
 * Load an image, or only check it if @reports is not NULL (one entry per command). The memory
 * of constants is bound meanwhile. 0 or -errno; -EINVAL and -EOPNOTSUPP: the device refused
 * the program, @result has the details. -ENOSPC: too few slots, or @result->is_full.
 */
int image_load(struct nnhal_device *device, struct image *image,
	       struct nnpu_command_report *reports, struct transport_load *result,
	       struct nnhal_diag *diag);

#endif /* NNHAL_PROGRAM_H */
