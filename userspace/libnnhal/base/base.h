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

#include <sized.h>

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

/* Bytes of a tensor; of a scalar with rank 0. False: more than 32 bits; @size is as it was. */
bool tensor_size(uint32_t element_size, const uint32_t *dims, uint32_t rank, uint32_t *size);

#endif /* NNHAL_BASE_H */
