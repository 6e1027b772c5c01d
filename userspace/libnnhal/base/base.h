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

/* Bytes of a structure up to a member and with it. */
#define SIZE_UP_TO(type, member) \
	(offsetof(type, member) + sizeof(((const type *)NULL)->member))

/* No structure of options is larger: a larger size is a mistake, not a newer program. */
#define OPTIONS_MOST	4096

/* The rare cases of options_read(): no options, or those of an older or a newer program. */
bool options_read_other(void *to, const void *from, const void *defaults, size_t size,
			size_t first);

/*
 * Read the options of a call, a structure that begins with its size. Fields that the caller's
 * structure does not have, or all if @from is NULL, are those of @defaults. False: the
 * structure is smaller than @first bytes, its first version, or it is larger than @size and
 * the surplus, which this library does not know, is not zero. The size in @to is @size.
 */
static inline bool options_read(void *to, const void *from, const void *defaults, size_t size,
				size_t first)
{
	size_t given;

	if (likely(from)) {
		memcpy(&given, from, sizeof(given));
		if (likely(given == size)) {
			memcpy(to, from, size);
			return true;
		}
	}
	return options_read_other(to, from, defaults, size, first);
}

#endif /* NNHAL_BASE_H */
