/* SPDX-License-Identifier: MIT */
/*
 * Commands and verdicts of the device in terms of the model.
 */
#ifndef NNHAL_EXPLAIN_H
#define NNHAL_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "model/model_image.h"
#include "transport/transport.h"

/*
 * Write the operation that a command comes from to @text: "subgraph 1 operation 2 (ADD) input
 * 0 (operand 4)". @operand: position among the command's operands or NNPU_OPERAND_NONE.
 */
void command_text(const struct nnhal_model *model, const struct command_origin *origin,
		  uint32_t operand, char *text, size_t size);
/*
 * Write a reason of the device with what it found at the operand at position @position of the command,
 * which is NNPU_OPERAND_NONE if it named none: "... do not fit together: scale 0.1, zero point 3, and ...".
 */
void explain_reason(const struct nnhal_subgraph *sg, const struct nnhal_operation *o, uint32_t position,
		 uint32_t reason, char *text, size_t size);
/* Why a program was refused, in terms of the model. */
void image_explain(const struct nnhal_model *model, const struct image *image,
		   const struct transport_load *result, struct nnhal_diag *diag);

#endif /* NNHAL_EXPLAIN_H */
