// SPDX-License-Identifier: MIT
/*
 * Names of types, and the version of the library.
 */
#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

#include "base/base.h"

#define TEXT_(x)	#x
#define TEXT(x)		TEXT_(x)

/* HAL, device and library use the same numbers. */
#define X(name, num) \
	_Static_assert((uint32_t)NNPU_OP_##name == (uint32_t)NNHAL_OPERATION_##name, #name);
NNPU_OPERATION_LIST(X)
#undef X
#define X(name, num) \
	_Static_assert((uint32_t)NNPU_TYPE_##name == (uint32_t)NNHAL_OPERAND_##name, #name);
NNPU_TYPE_LIST(X)
#undef X

_Static_assert(NNHAL_MAX_RANK == NNPU_MAX_RANK, "rank");
_Static_assert(NNHAL_LIFETIME_TEMPORARY_VARIABLE == NNPU_TENSOR_TEMPORARY, "temporary");
_Static_assert(NNHAL_LIFETIME_SUBGRAPH_INPUT == NNPU_TENSOR_INPUT, "input");
_Static_assert(NNHAL_LIFETIME_SUBGRAPH_OUTPUT == NNPU_TENSOR_OUTPUT, "output");
_Static_assert(NNHAL_LIFETIME_NO_VALUE == NNPU_TENSOR_NO_VALUE, "no value");

uint32_t nnhal_version(void)
{
	return NNHAL_VERSION;
}

const char *nnhal_version_string(void)
{
	return TEXT(NNHAL_VERSION_MAJOR) "." TEXT(NNHAL_VERSION_MINOR) "."
	       TEXT(NNHAL_VERSION_PATCH);
}

const char *nnhal_operand_type_name(uint32_t type)
{
	switch (type) {
#define X(name, num) case num: return #name;
	NNHAL_OPERAND_TYPE_LIST(X)
#undef X
	default:
		return nnhal_is_extension_operand_type(type) ? "extension type" : "unknown type";
	}
}

const char *nnhal_operation_type_name(uint32_t type)
{
	switch (type) {
#define X(name, num) case num: return #name;
	NNHAL_OPERATION_TYPE_LIST(X)
#undef X
	default:
		return nnhal_is_extension_operation_type(type) ? "extension operation"
							       : "unknown operation";
	}
}

const char *nnhal_lifetime_name(uint32_t lifetime)
{
	static const char *const names[] = {
		[NNHAL_LIFETIME_TEMPORARY_VARIABLE] = "TEMPORARY_VARIABLE",
		[NNHAL_LIFETIME_SUBGRAPH_INPUT] = "SUBGRAPH_INPUT",
		[NNHAL_LIFETIME_SUBGRAPH_OUTPUT] = "SUBGRAPH_OUTPUT",
		[NNHAL_LIFETIME_CONSTANT_COPY] = "CONSTANT_COPY",
		[NNHAL_LIFETIME_CONSTANT_REFERENCE] = "CONSTANT_REFERENCE",
		[NNHAL_LIFETIME_NO_VALUE] = "NO_VALUE",
		[NNHAL_LIFETIME_SUBGRAPH] = "SUBGRAPH",
	};

	return lifetime < ARRAY_SIZE(names) ? names[lifetime] : "unknown lifetime";
}
