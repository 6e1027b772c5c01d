/* SPDX-License-Identifier: MIT */
/*
 * From HAL models to program images.
 */
#ifndef NNHAL_LOWER_H
#define NNHAL_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "device/extensions.h"
#include "model/model_image.h"
#include "transport/transport.h"

/*
 * Lower a valid model to an image. @extensions of the device, or NULL.
 *
 * With @check, operations that have no counterpart in the program format are left out, and
 * the operands they write become inputs; image->skips has the reasons. If no operation is
 * left, image->num_commands is 0 and there is no image. Without @check such an operation gives
 * INVALID_ARGUMENT.
 */
enum nnhal_status lower_model(const struct nnhal_model *model,
			      const struct transport_limits *limits,
			      const struct extensions *extensions, bool check,
			      struct image *image, struct nnhal_diag *diag);

#endif /* NNHAL_LOWER_H */
