// SPDX-License-Identifier: MIT
/*
 * Utilities of the HAL: performance of operand types in capabilities.
 */
#include <float.h>
#include <stddef.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/hal_version.h"

void nnhal_operand_performance_init(struct nnhal_capabilities *capabilities,
				    uint32_t hal_version, struct nnhal_performance_info info)
{
	static const uint32_t types[] = {
#define X(name, num) num,
		NNHAL_OPERAND_TYPE_LIST(X)
#undef X
	};
	uint32_t version = hal_version_of(hal_version);
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i] == NNHAL_OPERAND_SUBGRAPH ||
		    !nnhal_validate_operand_type(types[i], version))
			continue;
		capabilities->operand_performance[n].type = types[i];
		capabilities->operand_performance[n].info = info;
		n++;
	}
	capabilities->num_operand_performance = n;
}

static uint32_t performance_find(const struct nnhal_capabilities *capabilities, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < capabilities->num_operand_performance &&
		    i < NNHAL_MAX_OPERAND_PERFORMANCE; i++)
		if (capabilities->operand_performance[i].type == type)
			return i;
	return UINT32_MAX;
}

bool nnhal_operand_performance_update(struct nnhal_capabilities *capabilities, uint32_t type,
				      struct nnhal_performance_info info)
{
	uint32_t i = performance_find(capabilities, type);

	if (i == UINT32_MAX)
		return false;
	capabilities->operand_performance[i].info = info;
	return true;
}

struct nnhal_performance_info
nnhal_operand_performance_lookup(const struct nnhal_capabilities *capabilities, uint32_t type)
{
	uint32_t i = performance_find(capabilities, type);

	if (i == UINT32_MAX)
		return (struct nnhal_performance_info){ FLT_MAX, FLT_MAX };
	return capabilities->operand_performance[i].info;
}
