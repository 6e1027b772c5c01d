// SPDX-License-Identifier: MIT
/*
 * Structures that have no size to begin with, and so cannot grow: programs have arrays of them. Those that
 * have one are looked at by nnhal_growth_test.
 */
#include <nnhal/nnhal.h>

#include "base/base.h"

_Static_assert(sizeof(struct nnhal_output_shape) == 40, "layout 0");
_Static_assert(sizeof(struct nnhal_timing) == 16, "layout 0");
_Static_assert(sizeof(struct nnhal_performance_info) == 8, "part of the capabilities");
_Static_assert(sizeof(struct nnhal_operand_performance) == 12, "part of the capabilities");
_Static_assert(sizeof(struct nnhal_extension) == 2 * sizeof(void *) + 8, "Extension");
_Static_assert(sizeof(struct nnhal_extension_operand_type) == 8, "OperandTypeInformation");
_Static_assert(sizeof(struct nnhal_buffer_role) == 12, "BufferRole");
_Static_assert(sizeof(struct nnhal_diag) == NNHAL_DIAG_SIZE, "nothing but the text");

/* Nor has this one; the profile that it is an entry of has its size. */
HAS_NO_PADDING(nnhal_ext_profile_entry, output_bytes);
