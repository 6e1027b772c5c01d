/* SPDX-License-Identifier: MIT */
/*
 * Hints to the host's caches, for lines that another CPU has written or looks at.
 */
#ifndef NNPU_PREFETCH_H
#define NNPU_PREFETCH_H

#include <stddef.h>

#define CACHE_LINE	64u

/* It will be written to: nobody else keeps the line. Any address is allowed. */
static inline void prefetch_for_write(const void *p)
{
#if defined(__x86_64__)
	/* The compiler only fetches for reading unless it is told the very model. */
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

#endif /* NNPU_PREFETCH_H */
