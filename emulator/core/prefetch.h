/* SPDX-License-Identifier: MIT */
/*
 * Prefetch hints, for cache lines that another CPU writes or polls.
 */
#ifndef NNPU_EMU_PREFETCH_H
#define NNPU_EMU_PREFETCH_H

#include <stddef.h>

#define CACHE_LINE	64u

/* Fetch the line for writing: no other CPU keeps a copy. Any address is allowed. */
static inline void prefetch_for_write(const void *p)
{
#if defined(__x86_64__)
	/* Without -mprfchw the builtin only fetches for reading. */
	__asm__ __volatile__("prefetchw %0" : : "m" (*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

static inline void prefetch_range(const void *p, size_t len, int is_write)
{
	const char *line = p;
	size_t i;

	for (i = 0; i < len; i += CACHE_LINE) {
		if (is_write)
			prefetch_for_write(line + i);
		else
			__builtin_prefetch(line + i);
	}
}

#endif /* NNPU_EMU_PREFETCH_H */
