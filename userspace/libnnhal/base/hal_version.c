// SPDX-License-Identifier: MIT
/*
 * Versions of the HAL, and which values exist in them.
 */
#include <stdbool.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"

uint32_t hal_version_of(uint32_t hal_version)
{
	if (hal_version == NNHAL_HAL_LATEST)
		return NNHAL_HAL_1_3;
	return hal_version <= NNHAL_HAL_1_3 ? hal_version : 0;
}

bool layout_is_known(uint32_t hal_version, const char *what, struct nnhal_diag *diag)
{
	uint32_t layout = hal_version & NNHAL_LAYOUT_MASK;

	if (!layout)
		return true;
	diag_set(diag, "the %s has layout %u, this library reads layout 0", what, layout >> 16);
	return false;
}

bool nnhal_validate_operand_type(uint32_t type, uint32_t hal_version)
{
	switch (hal_version_of(hal_version)) {
	case NNHAL_HAL_1_0:
	case NNHAL_HAL_1_1:
		if (type <= NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
			return true;
		break;
	case NNHAL_HAL_1_2:
		if (type <= NNHAL_OPERAND_TENSOR_QUANT8_SYMM ||
		    nnhal_is_extension_operand_type(type))
			return true;
		break;
	case NNHAL_HAL_1_3:
		if (type <= NNHAL_OPERAND_SUBGRAPH || nnhal_is_extension_operand_type(type))
			return true;
		break;
	default:
		return false;
	}
	return type == NNHAL_OPERAND_OEM || type == NNHAL_OPERAND_TENSOR_OEM_BYTE;
}

bool nnhal_validate_operation_type(uint32_t type, uint32_t hal_version)
{
	switch (hal_version_of(hal_version)) {
	case NNHAL_HAL_1_0:
		if (type <= NNHAL_OPERATION_TANH)
			return true;
		break;
	case NNHAL_HAL_1_1:
		if (type <= NNHAL_OPERATION_TRANSPOSE)
			return true;
		break;
	case NNHAL_HAL_1_2:
		if (type <= NNHAL_OPERATION_RESIZE_NEAREST_NEIGHBOR ||
		    nnhal_is_extension_operation_type(type))
			return true;
		break;
	case NNHAL_HAL_1_3:
		if (type <= NNHAL_OPERATION_RANK || nnhal_is_extension_operation_type(type))
			return true;
		break;
	default:
		return false;
	}
	return type == NNHAL_OPERATION_OEM_OPERATION;
}

bool nnhal_validate_preference(int32_t preference)
{
	return preference >= NNHAL_PREFER_LOW_POWER &&
	       preference <= NNHAL_PREFER_SUSTAINED_SPEED;
}

bool nnhal_validate_priority(int32_t priority)
{
	return priority >= NNHAL_PRIORITY_LOW && priority <= NNHAL_PRIORITY_HIGH;
}
