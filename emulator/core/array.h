/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow.
 */
#ifndef NNPU_EMU_ARRAY_H
#define NNPU_EMU_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/*
 * Have room for @count objects of @size bytes in *@p, where *@max have room now. False:
 * no memory, and nothing has changed.
 */
static inline bool array_grow(void **p, uint32_t *max, uint32_t count, size_t size)
{
	void *bigger;

	if (count <= *max && *p)
		return true;
	if (count < *max * 2)
		count = *max * 2;
	if (count < 16)
		count = 16;
	bigger = realloc(*p, count * size);
	if (!bigger)
		return false;
	*p = bigger;
	*max = count;
	return true;
}

#endif /* NNPU_EMU_ARRAY_H */
