// SPDX-License-Identifier: MIT
/*
 * Results of conversions.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "convert/converted.h"

bool conversion_begin(const void *from, void *to, uint32_t flags, struct nnhal_diag *diag)
{
	diag_clear(diag);
	if (to)
		memset(to, 0, sizeof(void *));
	if (!from || !to) {
		diag_set(diag, "NULL pointer for source or result");
		return false;
	}
	if (flags & ~NNHAL_CONVERT_UNVALIDATED) {
		diag_set(diag, "flags 0x%x are not known", flags & ~NNHAL_CONVERT_UNVALIDATED);
		return false;
	}
	return true;
}

const char *hal_version_text(uint32_t version)
{
	static const char *const texts[] = {
		[NNHAL_HAL_1_0] = "1.0", [NNHAL_HAL_1_1] = "1.1", [NNHAL_HAL_1_2] = "1.2",
		[NNHAL_HAL_1_3] = "1.3",
	};

	return texts[version];
}

void converted_destroy(struct converted *converted)
{
	uint32_t i;

	if (!converted)
		return;
	model_copy_fini(&converted->model);
	for (i = 0; i < converted->num_pools; i++)
		nnhal_memory_unref(converted->pools[i]);
	free(converted->pools);
	for (i = 0; i < ARRAY_SIZE(converted->arrays); i++)
		free(converted->arrays[i]);
	free(converted);
}

void nnhal_converted_free(void *form)
{
	if (form)
		converted_destroy((struct converted *)((char *)form -
						       offsetof(struct converted, form)));
}
