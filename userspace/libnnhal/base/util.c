// SPDX-License-Identifier: MIT
/*
 * Utilities of the HAL: types, sizes, shapes.
 */
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"

bool nnhal_is_extension_operand_type(uint32_t type)
{
	return type > NNHAL_BASE_TYPE_MAX;
}

bool nnhal_is_extension_operation_type(uint32_t type)
{
	return type > NNHAL_BASE_TYPE_MAX;
}

bool nnhal_operand_type_is_scalar(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_FLOAT32:
	case NNHAL_OPERAND_INT32:
	case NNHAL_OPERAND_UINT32:
	case NNHAL_OPERAND_BOOL:
	case NNHAL_OPERAND_FLOAT16:
	case NNHAL_OPERAND_SUBGRAPH:
	case NNHAL_OPERAND_OEM:
		return true;
	default:
		return false;
	}
}

bool nnhal_operand_type_is_tensor(uint32_t type)
{
	return nnhal_validate_operand_type(type, NNHAL_HAL_LATEST) &&
	       !nnhal_is_extension_operand_type(type) && !nnhal_operand_type_is_scalar(type);
}

bool nnhal_operand_type_is_quantized(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL:
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		return true;
	default:
		return false;
	}
}

uint32_t nnhal_element_size(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_FLOAT32:
	case NNHAL_OPERAND_INT32:
	case NNHAL_OPERAND_UINT32:
	case NNHAL_OPERAND_TENSOR_FLOAT32:
	case NNHAL_OPERAND_TENSOR_INT32:
		return 4;
	case NNHAL_OPERAND_FLOAT16:
	case NNHAL_OPERAND_TENSOR_FLOAT16:
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		return 2;
	case NNHAL_OPERAND_BOOL:
	case NNHAL_OPERAND_TENSOR_BOOL8:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL:
	case NNHAL_OPERAND_TENSOR_OEM_BYTE:
		return 1;
	default:
		return 0;
	}
}

bool nnhal_size_of_data_overflows(uint32_t element_size, const uint32_t *dimensions,
				  uint32_t num_dimensions)
{
	uint64_t size = element_size;
	bool overflow = false;
	uint32_t i;

	if (!num_dimensions)
		return false;
	for (i = 0; i < num_dimensions; i++) {
		/* A dimension of zero makes the product zero: no overflow. */
		if (!dimensions[i])
			return false;
		if (!overflow) {
			size *= dimensions[i];
			overflow = size > UINT32_MAX;
		}
	}
	return overflow;
}

enum nnhal_status nnhal_size_of_data(uint32_t type, const uint32_t *dimensions,
				     uint32_t num_dimensions, uint32_t *size)
{
	uint32_t bytes = nnhal_element_size(type);
	uint32_t i;

	if (!size)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!bytes && type != NNHAL_OPERAND_SUBGRAPH && type != NNHAL_OPERAND_OEM)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (nnhal_operand_type_is_scalar(type)) {
		*size = bytes;
		return NNHAL_STATUS_NONE;
	}
	if (num_dimensions &&
	    (!dimensions || nnhal_size_of_data_overflows(bytes, dimensions, num_dimensions)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!num_dimensions)
		bytes = 0;
	for (i = 0; i < num_dimensions && bytes; i++)
		bytes *= dimensions[i];
	*size = bytes;
	return NNHAL_STATUS_NONE;
}

bool tensor_size(uint32_t element_size, const uint32_t *dims, uint32_t rank, uint32_t *size)
{
	uint32_t d;

	if (nnhal_size_of_data_overflows(element_size, dims, rank))
		return false;
	*size = element_size;
	for (d = 0; d < rank; d++)
		*size *= dims[d];
	return true;
}

bool nnhal_tensor_has_unspecified_dimensions(uint32_t type, const uint32_t *dimensions,
					     uint32_t num_dimensions)
{
	uint32_t i;

	if (!nnhal_is_extension_operand_type(type) && nnhal_operand_type_is_scalar(type))
		return false;
	if (!num_dimensions)
		return true;
	for (i = 0; i < num_dimensions; i++)
		if (!dimensions[i])
			return true;
	return false;
}

bool nnhal_combine_dimensions(const uint32_t *a, uint32_t num_a, const uint32_t *b,
			      uint32_t num_b, uint32_t *out, uint32_t *num_out)
{
	uint32_t i;

	if (num_a && num_b && num_a != num_b)
		return false;
	for (i = 0; i < num_a && i < num_b; i++)
		if (a[i] && b[i] && a[i] != b[i])
			return false;
	if (!num_b) {
		if (num_a)
			memmove(out, a, num_a * sizeof(*out));
		*num_out = num_a;
		return true;
	}
	for (i = 0; i < num_b; i++)
		out[i] = num_a && a[i] ? a[i] : b[i];
	*num_out = num_b;
	return true;
}

uint32_t nnhal_align_bytes_needed(uint32_t index, size_t length)
{
	uint32_t mask = length < 2 ? 0 : length < 4 ? 1 : 3;

	return -index & mask;
}
