// SPDX-License-Identifier: MIT
/*
 * Options of calls, structures that may grow.
 */
#include "base/base.h"

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
