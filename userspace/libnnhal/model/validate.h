/* SPDX-License-Identifier: MIT */
/*
 * Validation of models.
 */
#ifndef NNHAL_VALIDATE_H
#define NNHAL_VALIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

enum nnhal_status validate_model(const struct nnhal_model *model, struct nnhal_diag *diag);
/* An operand as the table of signatures needs it. */
uint32_t signature_known(const struct nnhal_operand *operand);
/*
 * Does operation @i, whose operand indexes are in range, fit its signature in @version?
 * @known: signature_known() of the operands; @where: prefix of messages, "" or "subgraph 3 ".
 */
bool validate_signature(const struct nnhal_subgraph *sg, uint32_t i, const uint32_t *known,
			uint32_t version, const char *where, struct nnhal_diag *diag);
/*
 * The version since which operation @i of a valid subgraph is legal; @known as above.
 */
uint32_t signature_operation_since(const struct nnhal_subgraph *sg, uint32_t i,
				   const uint32_t *known);
/* Rules for IF and WHILE, for an operation whose operand indexes are in range. */
bool validate_control_flow(const struct nnhal_model *model, const struct nnhal_subgraph *sg,
			   const char *where, uint32_t operation, struct nnhal_diag *diag);
/* No cycle of subgraph references, and each subgraph is referred to. */
enum nnhal_status validate_references(const struct nnhal_model *model, struct nnhal_diag *diag);

#endif /* NNHAL_VALIDATE_H */
