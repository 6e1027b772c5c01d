// SPDX-License-Identifier: MIT
/*
 * Options and results of calls, structures that may grow.
 */
#include <nnhal/nnhal.h>

#include "base/base.h"

/* These have no size and cannot grow: programs have arrays of them. */
_Static_assert(sizeof(struct nnhal_output_shape) == 40, "layout 0");
_Static_assert(sizeof(struct nnhal_timing) == 16, "layout 0");
_Static_assert(sizeof(struct nnhal_performance_info) == 8, "part of the capabilities");
_Static_assert(sizeof(struct nnhal_operand_performance) == 12, "part of the capabilities");
_Static_assert(sizeof(struct nnhal_extension) == 2 * sizeof(void *) + 8, "Extension");
_Static_assert(sizeof(struct nnhal_extension_operand_type) == 8, "OperandTypeInformation");
_Static_assert(sizeof(struct nnhal_buffer_role) == 12, "BufferRole");
_Static_assert(sizeof(struct nnhal_diag) == NNHAL_DIAG_SIZE, "nothing but the text");

/* Those that begin with their size have no padding at the end: it would be no room for a field. */
#define HAS_NO_PADDING(type, last) \
	_Static_assert(SIZE_UP_TO(struct type, last) == sizeof(struct type), "padding at the end")
HAS_NO_PADDING(nnhal_bound_options, diag);
HAS_NO_PADDING(nnhal_buffer_state, content_size);
HAS_NO_PADDING(nnhal_burst_controller_options, reserved);
HAS_NO_PADDING(nnhal_burst_options, reserved);
HAS_NO_PADDING(nnhal_burst_result, timing);
HAS_NO_PADDING(nnhal_capabilities, reserved);
HAS_NO_PADDING(nnhal_capabilities_1_1, relaxed_float32_to_float16_performance);
HAS_NO_PADDING(nnhal_execute_options, completions);
HAS_NO_PADDING(nnhal_ext_operation_support, reason);
HAS_NO_PADDING(nnhal_fenced_options, diag);
HAS_NO_PADDING(nnhal_ext_profile, exec_ns);
HAS_NO_PADDING(nnhal_ext_profile_entry, output_bytes);
HAS_NO_PADDING(nnhal_ext_work, reserved);
HAS_NO_PADDING(nnhal_ext_prepared_model_info, reserved);
HAS_NO_PADDING(nnhal_device_info, reserved);
HAS_NO_PADDING(nnhal_open_options, reserved);

bool options_read_other(void *to, const void *from, const void *defaults, size_t size,
			size_t first)
{
	const uint8_t *bytes = from;
	size_t given, i;

	memcpy(to, defaults, size);
	if (!from)
		return true;
	memcpy(&given, from, sizeof(given));
	if (given < first || given > OPTIONS_MOST)
		return false;
	for (i = size; i < given; i++)
		if (bytes[i])
			return false;
	memcpy(to, from, given < size ? given : size);
	memcpy(to, &size, sizeof(size));
	return true;
}

void result_copy(void *to, size_t given, const void *from, size_t size)
{
	memcpy(to, from, given < size ? given : size);
	result_clear_surplus(to, given, size);
}

void result_give(void *to, size_t given, const void *from, size_t size)
{
	result_copy((uint8_t *)to + sizeof(size_t), given - sizeof(size_t),
		    (const uint8_t *)from + sizeof(size_t), size - sizeof(size_t));
}
