/* SPDX-License-Identifier: MIT */
/*
 * Helpers that every folder of the library may use.
 */
#ifndef NNHAL_BASE_H
#define NNHAL_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
/* The path of the usual request is inlined into one function; rare code is kept out of it. */
#define hot_inline	static inline __attribute__((always_inline))
#define cold_path	__attribute__((noinline, cold))

static inline uint64_t round_up_u64(uint64_t value, uint64_t align)
{
	return (value + align - 1) / align * align;
}

/*
 * Read the options of a call, a structure that begins with its size. Fields that the caller's
 * structure does not have, or all if @from is NULL, are those of @defaults. False: the
 * structure is smaller than @first bytes, its first version.
 */
static inline bool options_read(void *to, const void *from, const void *defaults, size_t size,
				size_t first)
{
	size_t given;

	memcpy(to, defaults, size);
	if (!from)
		return true;
	memcpy(&given, from, sizeof(given));
	if (given < first)
		return false;
	memcpy(to, from, given < size ? given : size);
	return true;
}

#endif /* NNHAL_BASE_H */
