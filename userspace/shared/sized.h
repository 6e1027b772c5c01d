/* SPDX-License-Identifier: MIT */
/*
 * Structures that begin with their size, so that they can grow: those of programs that are older or newer
 * than the library. What grows and how is in Documentation/abi.rst.
 */
#ifndef NNPU_SIZED_H
#define NNPU_SIZED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a structure up to a member and with it. */
#define SIZE_UP_TO(type, member) \
	(offsetof(type, member) + sizeof(((const type *)NULL)->member))

/* It has no padding at the end: a field in its place would not change the size. */
#define HAS_NO_PADDING(type, last) \
	_Static_assert(SIZE_UP_TO(struct type, last) == sizeof(struct type), "padding at the end")

/* No structure of options is larger: a larger size is a mistake, not a newer program. */
#define OPTIONS_MOST	4096

/* The rare cases: no options, or those of an older or a newer program. */
__attribute__((unused, noinline, cold))
static bool options_read_other(void *to, const void *from, const void *defaults, size_t size,
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

static inline bool options_read_sized(void *to, const void *from, const void *defaults,
				      size_t size, size_t first)
{
	size_t given;

	if (__builtin_expect(!!from, 1)) {
		memcpy(&given, from, sizeof(given));
		if (__builtin_expect(given == size, 1)) {
			memcpy(to, from, size);
			return true;
		}
	}
	return options_read_other(to, from, defaults, size, first);
}

/*
 * options_read(to, from, defaults, last): read the options of a call. Fields that the caller's structure
 * does not have, or all if @from is NULL, are those of @defaults. @last: the last member of the first
 * version of the structure. False: the caller's ends before it, or is larger than that of this library,
 * and the surplus is not zero. The size in @to is that of this library, so that it may be passed on.
 */
#define options_read(to, from, defaults, last) \
	options_read_sized(to, from, defaults, sizeof(*(to)), SIZE_UP_TO(__typeof__(*(to)), last))

/*
 * Structures that a call fills in begin with their size as well. @first: bytes of the first
 * version. False: the caller's is smaller, or its size is none that a structure has.
 */
static inline bool result_size_is_valid(const void *result, size_t first)
{
	size_t given;

	memcpy(&given, result, sizeof(given));
	return given >= first && given <= OPTIONS_MOST && !(given % sizeof(given));
}

/* Entry of an array; the first one says how far they are apart. */
static inline void *result_entry(void *array, uint32_t i)
{
	size_t given;

	memcpy(&given, array, sizeof(given));
	return (uint8_t *)array + i * given;
}

/* What the caller's structure has beyond that of this library is zero. */
static inline void result_clear_surplus(void *result, size_t given, size_t size)
{
	if (__builtin_expect(given > size, 0))
		memset((uint8_t *)result + size, 0, given - size);
}

/* Give the caller, who has room for @given bytes, a structure of @size bytes. */
static inline void result_copy(void *to, size_t given, const void *from, size_t size)
{
	memcpy(to, from, given < size ? given : size);
	result_clear_surplus(to, given, size);
}

/* The same but for the size with which the caller's structure begins. */
static inline void result_give(void *to, size_t given, const void *from, size_t size)
{
	result_copy((uint8_t *)to + sizeof(size_t), given - sizeof(size_t),
		    (const uint8_t *)from + sizeof(size_t), size - sizeof(size_t));
}

#endif /* NNPU_SIZED_H */
