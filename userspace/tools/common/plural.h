/* SPDX-License-Identifier: MIT */
/*
 * Nouns after numbers.
 */
#ifndef TOOLS_PLURAL_H
#define TOOLS_PLURAL_H

#include <stdint.h>

/* The end of a regular noun after @count: "1 file", "2 files". */
static inline const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

#endif /* TOOLS_PLURAL_H */
