// SPDX-License-Identifier: MIT
/*
 * Which version of the HAL a model, or each of its operations, needs.
 */
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "model/model_copy.h"
#include "model/validate.h"

enum nnhal_status nnhal_model_get_operation_versions(const struct nnhal_model *model,
						     uint32_t *versions, uint32_t num_versions,
						     struct nnhal_diag *diag)
{
	enum nnhal_status status;
	struct model_copy copy;
	uint32_t *known;
	uint32_t i;

	diag_clear(diag);
	if (!model || (num_versions && !versions)) {
		diag_set(diag, "NULL pointer for model or result");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = model_copy_init(&copy, model, diag);
	if (status)
		return status;
	copy.model.hal_version = NNHAL_HAL_LATEST;
	status = validate_model(&copy.model, diag);
	if (!status && num_versions != copy.model.main.num_operations) {
		diag_set(diag, "room for %u operations, but the model has %u", num_versions,
			 copy.model.main.num_operations);
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	}
	known = status ? NULL : calloc(copy.model.main.num_operands, sizeof(*known));
	if (!status && !known) {
		diag_set(diag, "no memory for %u operands", copy.model.main.num_operands);
		status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (i = 0; known && i < copy.model.main.num_operands; i++)
		known[i] = signature_known(&copy.model.main.operands[i]);
	for (i = 0; known && i < num_versions; i++)
		versions[i] = signature_operation_since(&copy.model.main, i, known);
	free(known);
	model_copy_fini(&copy);
	return status;
}

uint32_t nnhal_model_get_min_version(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	enum nnhal_status status = NNHAL_STATUS_INVALID_ARGUMENT;
	struct model_copy copy;
	uint32_t version;

	diag_clear(diag);
	if (!model) {
		diag_set(diag, "no model");
		return 0;
	}
	if (model_copy_init(&copy, model, diag))
		return 0;
	for (version = NNHAL_HAL_1_0; status && version <= NNHAL_HAL_1_3; version++) {
		/* The message of the last version stays. */
		diag_clear(diag);
		copy.model.hal_version = version;
		status = validate_model(&copy.model, diag);
	}
	model_copy_fini(&copy);
	return status ? 0 : version - 1;
}
