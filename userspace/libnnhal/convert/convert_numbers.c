// SPDX-License-Identifier: MIT
/*
 * Numbers of the HAL's enumerations, by version.
 *
 * One enumeration serves all versions, since the HAL gave a number only one meaning. What follows
 * are the numbers of types.hal at the ends of each version's range.
 */
#include <nnhal/nnhal.h>

#include "base/hal_version.h"

#define NUMBER(name, number)	_Static_assert((int)NNHAL_##name == (number), #name)

/* 1.0 */
NUMBER(OPERAND_FLOAT32, 0);
NUMBER(OPERAND_INT32, 1);
NUMBER(OPERAND_UINT32, 2);
NUMBER(OPERAND_TENSOR_FLOAT32, 3);
NUMBER(OPERAND_TENSOR_INT32, 4);
NUMBER(OPERAND_TENSOR_QUANT8_ASYMM, 5);
NUMBER(OPERAND_OEM, 10000);
NUMBER(OPERAND_TENSOR_OEM_BYTE, 10001);
NUMBER(OPERATION_ADD, 0);
NUMBER(OPERATION_TANH, 28);
NUMBER(OPERATION_OEM_OPERATION, 10000);
NUMBER(FUSED_NONE, 0);
NUMBER(FUSED_RELU, 1);
NUMBER(FUSED_RELU1, 2);
NUMBER(FUSED_RELU6, 3);
NUMBER(LIFETIME_TEMPORARY_VARIABLE, 0);
NUMBER(LIFETIME_SUBGRAPH_INPUT, 1);	/* MODEL_INPUT */
NUMBER(LIFETIME_SUBGRAPH_OUTPUT, 2);	/* MODEL_OUTPUT */
NUMBER(LIFETIME_CONSTANT_COPY, 3);
NUMBER(LIFETIME_CONSTANT_REFERENCE, 4);
NUMBER(LIFETIME_NO_VALUE, 5);
NUMBER(DEVICE_AVAILABLE, 0);
NUMBER(DEVICE_BUSY, 1);
NUMBER(DEVICE_OFFLINE, 2);
NUMBER(DEVICE_UNKNOWN, 3);
NUMBER(STATUS_NONE, 0);
NUMBER(STATUS_DEVICE_UNAVAILABLE, 1);
NUMBER(STATUS_GENERAL_FAILURE, 2);
NUMBER(STATUS_OUTPUT_INSUFFICIENT_SIZE, 3);
NUMBER(STATUS_INVALID_ARGUMENT, 4);
/* 1.1 */
NUMBER(OPERATION_BATCH_TO_SPACE_ND, 29);
NUMBER(OPERATION_TRANSPOSE, 37);
NUMBER(PREFER_LOW_POWER, 0);
NUMBER(PREFER_FAST_SINGLE_ANSWER, 1);
NUMBER(PREFER_SUSTAINED_SPEED, 2);
/* 1.2 */
NUMBER(OPERAND_BOOL, 6);
NUMBER(OPERAND_TENSOR_QUANT8_SYMM, 13);
NUMBER(OPERATION_ABS, 38);
NUMBER(OPERATION_RESIZE_NEAREST_NEIGHBOR, 94);
NUMBER(DEVICE_TYPE_OTHER, 1);
NUMBER(DEVICE_TYPE_CPU, 2);
NUMBER(DEVICE_TYPE_GPU, 3);
NUMBER(DEVICE_TYPE_ACCELERATOR, 4);
NUMBER(MEASURE_NO, 0);
NUMBER(MEASURE_YES, 1);
/* 1.3 */
NUMBER(OPERAND_TENSOR_QUANT8_ASYMM_SIGNED, 14);
NUMBER(OPERAND_SUBGRAPH, 15);
NUMBER(OPERATION_QUANTIZED_LSTM, 95);
NUMBER(OPERATION_RANK, 101);
NUMBER(LIFETIME_SUBGRAPH, 6);
NUMBER(PRIORITY_LOW, 0);
NUMBER(PRIORITY_MEDIUM, 1);
NUMBER(PRIORITY_HIGH, 2);
NUMBER(STATUS_MISSED_DEADLINE_TRANSIENT, 5);
NUMBER(STATUS_MISSED_DEADLINE_PERSISTENT, 6);
NUMBER(STATUS_RESOURCE_EXHAUSTED_TRANSIENT, 7);
NUMBER(STATUS_RESOURCE_EXHAUSTED_PERSISTENT, 8);

static bool is_between(int64_t number, int64_t first, int64_t last)
{
	return number >= first && number <= last;
}

bool nnhal_hal_number_is_valid(uint32_t which, int64_t number, uint32_t hal_version)
{
	uint32_t version = hal_version_of(hal_version);

	if (!version)
		return false;
	switch (which) {
	case NNHAL_ENUM_ERROR_STATUS:
		return is_between(number, 0, version >= NNHAL_HAL_1_3
						     ? NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT
						     : NNHAL_STATUS_INVALID_ARGUMENT);
	case NNHAL_ENUM_DEVICE_STATUS:
		return is_between(number, NNHAL_DEVICE_AVAILABLE, NNHAL_DEVICE_UNKNOWN);
	case NNHAL_ENUM_DEVICE_TYPE:
		return version >= NNHAL_HAL_1_2 &&
		       is_between(number, NNHAL_DEVICE_TYPE_OTHER, NNHAL_DEVICE_TYPE_ACCELERATOR);
	case NNHAL_ENUM_OPERAND_TYPE:
		return is_between(number, 0, UINT32_MAX) &&
		       nnhal_validate_operand_type((uint32_t)number, version);
	case NNHAL_ENUM_OPERATION_TYPE:
		return is_between(number, 0, UINT32_MAX) &&
		       nnhal_validate_operation_type((uint32_t)number, version);
	case NNHAL_ENUM_OPERAND_LIFETIME:
		return is_between(number, 0, version >= NNHAL_HAL_1_3 ? NNHAL_LIFETIME_SUBGRAPH
								      : NNHAL_LIFETIME_NO_VALUE);
	case NNHAL_ENUM_FUSED_ACTIVATION:
		return is_between(number, NNHAL_FUSED_NONE, NNHAL_FUSED_RELU6);
	case NNHAL_ENUM_EXECUTION_PREFERENCE:
		return version >= NNHAL_HAL_1_1 &&
		       is_between(number, NNHAL_PREFER_LOW_POWER, NNHAL_PREFER_SUSTAINED_SPEED);
	case NNHAL_ENUM_MEASURE_TIMING:
		return version >= NNHAL_HAL_1_2 &&
		       is_between(number, NNHAL_MEASURE_NO, NNHAL_MEASURE_YES);
	case NNHAL_ENUM_PRIORITY:
		return version >= NNHAL_HAL_1_3 &&
		       is_between(number, NNHAL_PRIORITY_LOW, NNHAL_PRIORITY_HIGH);
	default:
		return false;
	}
}

int32_t nnhal_status_to_hal(enum nnhal_status status, uint32_t hal_version)
{
	return nnhal_hal_number_is_valid(NNHAL_ENUM_ERROR_STATUS, status, hal_version)
		       ? (int32_t)status : NNHAL_STATUS_GENERAL_FAILURE;
}

enum nnhal_status nnhal_status_from_hal(int32_t number, uint32_t hal_version,
					enum nnhal_status *status)
{
	if (!status || !nnhal_hal_number_is_valid(NNHAL_ENUM_ERROR_STATUS, number, hal_version))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*status = (enum nnhal_status)number;
	return NNHAL_STATUS_NONE;
}
