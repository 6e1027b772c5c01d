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

/* Programs and tensors are little-endian, and the library hands on what the application has. */
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libnnhal needs a little-endian machine"
#endif

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
	if (unlikely(given > size))
		memset((uint8_t *)result + size, 0, given - size);
}

/* Bytes of a tensor; of a scalar with rank 0. False: more than 32 bits; @size is as it was. */
bool tensor_size(uint32_t element_size, const uint32_t *dims, uint32_t rank, uint32_t *size);

/* Give the caller, who has room for @given bytes, a structure of @size bytes. */
void result_copy(void *to, size_t given, const void *from, size_t size);
/* The same but for the size with which the caller's structure begins. */
void result_give(void *to, size_t given, const void *from, size_t size);

#endif /* NNHAL_BASE_H */
