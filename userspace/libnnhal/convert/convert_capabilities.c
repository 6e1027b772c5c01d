// SPDX-License-Identifier: MIT
/*
 * Capabilities in the forms of the HAL's versions.
 */
#include <float.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "convert/converted.h"

static const struct nnhal_performance_info no_figures = { FLT_MAX, FLT_MAX };

static bool is_positive(const char *what, struct nnhal_performance_info info,
			struct nnhal_diag *diag)
{
	/* Not a number is not above 0. */
	if (info.exec_time > 0.0f && info.power_usage > 0.0f)
		return true;
	diag_set(diag, "%s: figures %g and %g, expected more than 0", what, (double)info.exec_time,
		 (double)info.power_usage);
	return false;
}

static bool check_operands(const struct nnhal_operand_performance *entries, uint32_t count,
			   uint32_t version, struct nnhal_diag *diag)
{
	uint32_t i;

	if (count > NNHAL_MAX_OPERAND_PERFORMANCE) {
		diag_set(diag, "%u operand figures, expected at most %u", count,
			 NNHAL_MAX_OPERAND_PERFORMANCE);
		return false;
	}
	for (i = 0; i < count; i++) {
		if (nnhal_is_extension_operand_type(entries[i].type) ||
		    entries[i].type == NNHAL_OPERAND_SUBGRAPH ||
		    !nnhal_validate_operand_type(entries[i].type, version)) {
			diag_set(diag, "operand figures %u: type %u has none", i, entries[i].type);
			return false;
		}
		if (i && entries[i].type <= entries[i - 1].type) {
			diag_set(diag, "operand figures %u: type %u is not above the one before", i,
				 entries[i].type);
			return false;
		}
		if (!is_positive(nnhal_operand_type_name(entries[i].type), entries[i].info, diag))
			return false;
	}
	return true;
}

static bool check_capabilities(const struct nnhal_capabilities *caps, struct nnhal_diag *diag)
{
	return check_operands(caps->operand_performance, caps->num_operand_performance,
			      NNHAL_HAL_1_3, diag) &&
	       is_positive("relaxed scalar", caps->relaxed_float32_to_float16_scalar, diag) &&
	       is_positive("relaxed tensor", caps->relaxed_float32_to_float16_tensor, diag) &&
	       is_positive("IF", caps->if_performance, diag) &&
	       is_positive("WHILE", caps->while_performance, diag);
}

/* Both structures are there and have a size of their own, of at least these bytes. */
static bool sizes_are_valid(const void *from, size_t from_first, const void *to, size_t to_first,
			    struct nnhal_diag *diag)
{
	diag_clear(diag);
	if (from && to && result_size_is_valid(from, from_first) &&
	    result_size_is_valid(to, to_first))
		return true;
	diag_set(diag, "NULL pointer for capabilities, or a size of 0");
	return false;
}

static bool is_1_0_or_1_1(uint32_t hal_version, struct nnhal_diag *diag)
{
	if (hal_version == NNHAL_HAL_1_0 || hal_version == NNHAL_HAL_1_1)
		return true;
	diag_set(diag, "hal_version %u is not 1.0 or 1.1", hal_version);
	return false;
}

#define FIRST		SIZE_UP_TO(struct nnhal_capabilities, reserved)
#define FIRST_1_1	SIZE_UP_TO(struct nnhal_capabilities_1_1, relaxed_float32_to_float16_performance)
#define FIRST_1_2	SIZE_UP_TO(struct nnhal_capabilities_1_2, reserved)

enum nnhal_status nnhal_capabilities_to_1_1(const struct nnhal_capabilities *capabilities,
					    uint32_t hal_version,
					    struct nnhal_capabilities_1_1 *converted,
					    struct nnhal_diag *diag)
{
	struct nnhal_capabilities_1_1 old = { .size = 0 };

	if (!sizes_are_valid(capabilities, FIRST, converted, FIRST_1_1, diag) ||
	    !is_1_0_or_1_1(hal_version, diag) || !check_capabilities(capabilities, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	old.float32_performance =
		nnhal_operand_performance_lookup(capabilities, NNHAL_OPERAND_TENSOR_FLOAT32);
	old.quantized8_performance =
		nnhal_operand_performance_lookup(capabilities, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM);
	if (hal_version == NNHAL_HAL_1_1)
		old.relaxed_float32_to_float16_performance =
			capabilities->relaxed_float32_to_float16_tensor;
	result_give(converted, converted->size, &old, sizeof(old));
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_capabilities_to_1_2(const struct nnhal_capabilities *capabilities,
					    struct nnhal_capabilities_1_2 *converted,
					    struct nnhal_diag *diag)
{
	struct nnhal_capabilities_1_2 old = { .size = 0 };
	uint32_t i;

	if (!sizes_are_valid(capabilities, FIRST, converted, FIRST_1_2, diag) ||
	    !check_capabilities(capabilities, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	old.relaxed_float32_to_float16_scalar = capabilities->relaxed_float32_to_float16_scalar;
	old.relaxed_float32_to_float16_tensor = capabilities->relaxed_float32_to_float16_tensor;
	for (i = 0; i < capabilities->num_operand_performance; i++)
		if (nnhal_validate_operand_type(capabilities->operand_performance[i].type,
						NNHAL_HAL_1_2))
			old.operand_performance[old.num_operand_performance++] =
				capabilities->operand_performance[i];
	result_give(converted, converted->size, &old, sizeof(old));
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_capabilities_from_1_1(const struct nnhal_capabilities_1_1 *from,
					      uint32_t hal_version,
					      struct nnhal_capabilities *capabilities,
					      struct nnhal_diag *diag)
{
	static const struct {
		uint32_t type;
		bool is_float;
	} types[] = {
		{ NNHAL_OPERAND_FLOAT32, true },
		{ NNHAL_OPERAND_INT32, false },
		{ NNHAL_OPERAND_UINT32, false },
		{ NNHAL_OPERAND_TENSOR_FLOAT32, true },
		{ NNHAL_OPERAND_TENSOR_INT32, false },
		{ NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, false },
		{ NNHAL_OPERAND_OEM, false },
		{ NNHAL_OPERAND_TENSOR_OEM_BYTE, false },
	};
	struct nnhal_performance_info relaxed;
	struct nnhal_capabilities caps = { .size = 0 };
	uint32_t i;

	if (!sizes_are_valid(from, FIRST_1_1, capabilities, FIRST, diag) ||
	    !is_1_0_or_1_1(hal_version, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	relaxed = hal_version == NNHAL_HAL_1_0 ? from->float32_performance
					       : from->relaxed_float32_to_float16_performance;
	if (!is_positive("float32", from->float32_performance, diag) ||
	    !is_positive("quantized8", from->quantized8_performance, diag) ||
	    !is_positive("relaxed", relaxed, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		caps.operand_performance[i].type = types[i].type;
		caps.operand_performance[i].info = types[i].is_float ? from->float32_performance
								     : from->quantized8_performance;
	}
	caps.num_operand_performance = ARRAY_SIZE(types);
	caps.relaxed_float32_to_float16_scalar = relaxed;
	caps.relaxed_float32_to_float16_tensor = relaxed;
	caps.if_performance = no_figures;
	caps.while_performance = no_figures;
	result_give(capabilities, capabilities->size, &caps, sizeof(caps));
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_capabilities_from_1_2(const struct nnhal_capabilities_1_2 *from,
					      struct nnhal_capabilities *capabilities,
					      struct nnhal_diag *diag)
{
	struct nnhal_capabilities caps = { .size = 0 };

	if (!sizes_are_valid(from, FIRST_1_2, capabilities, FIRST, diag) ||
	    !check_operands(from->operand_performance, from->num_operand_performance,
			    NNHAL_HAL_1_2, diag) ||
	    !is_positive("relaxed scalar", from->relaxed_float32_to_float16_scalar, diag) ||
	    !is_positive("relaxed tensor", from->relaxed_float32_to_float16_tensor, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	caps.relaxed_float32_to_float16_scalar = from->relaxed_float32_to_float16_scalar;
	caps.relaxed_float32_to_float16_tensor = from->relaxed_float32_to_float16_tensor;
	caps.num_operand_performance = from->num_operand_performance;
	memcpy(caps.operand_performance, from->operand_performance,
	       from->num_operand_performance * sizeof(caps.operand_performance[0]));
	caps.if_performance = no_figures;
	caps.while_performance = no_figures;
	result_give(capabilities, capabilities->size, &caps, sizeof(caps));
	return NNHAL_STATUS_NONE;
}

static bool same(struct nnhal_performance_info a, struct nnhal_performance_info b)
{
	return a.exec_time == b.exec_time && a.power_usage == b.power_usage;
}

/* Do all types that 1.0 and 1.1 call quantized8 have the same figures? */
static bool has_one_quantized8(const struct nnhal_capabilities *caps)
{
	static const uint32_t types[] = {
		NNHAL_OPERAND_INT32, NNHAL_OPERAND_UINT32, NNHAL_OPERAND_TENSOR_INT32,
		NNHAL_OPERAND_OEM, NNHAL_OPERAND_TENSOR_OEM_BYTE,
	};
	struct nnhal_performance_info info =
		nnhal_operand_performance_lookup(caps, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!same(info, nnhal_operand_performance_lookup(caps, types[i])))
			return false;
	return true;
}

bool nnhal_capabilities_comply_with(const struct nnhal_capabilities *capabilities,
				    uint32_t hal_version)
{
	uint32_t version = hal_version_of(hal_version);
	struct nnhal_performance_info scalar, tensor;

	if (!capabilities || !version || !result_size_is_valid(capabilities, FIRST) ||
	    !check_capabilities(capabilities, NULL))
		return false;
	if (version >= NNHAL_HAL_1_2)
		return true;
	scalar = nnhal_operand_performance_lookup(capabilities, NNHAL_OPERAND_FLOAT32);
	tensor = nnhal_operand_performance_lookup(capabilities, NNHAL_OPERAND_TENSOR_FLOAT32);
	if (!same(scalar, tensor) ||
	    !same(capabilities->relaxed_float32_to_float16_scalar,
		  capabilities->relaxed_float32_to_float16_tensor) ||
	    !has_one_quantized8(capabilities))
		return false;
	return version == NNHAL_HAL_1_1 ||
	       same(tensor, capabilities->relaxed_float32_to_float16_tensor);
}
