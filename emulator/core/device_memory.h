/* SPDX-License-Identifier: MIT */
/*
 * Allocations of device memory, after it has been reserved (memory_accounting.h).
 *
 * Large ones are mappings of their own, so that the host has the memory back as soon as they
 * are freed. The C library may keep what it is given back.
 */
#ifndef NNPU_EMU_DEVICE_MEMORY_H
#define NNPU_EMU_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program_load.h"

struct nnpu_device;

/* From so many bytes on an allocation may be a mapping: it takes whole pages. */
#define MEM_LARGE	(128u << 10)

/* What an allocation of @bytes takes, and is charged with. */
static inline uint64_t mem_size(uint64_t bytes)
{
	if (bytes >= MEM_LARGE)
		return (bytes + NNPU_PAGE_SIZE - 1) & ~(uint64_t)(NNPU_PAGE_SIZE - 1);
	return bytes ? tensor_round_up(bytes) : TENSOR_ALIGN;
}

/* What malloc(@bytes) takes: the C library has a part of its own, and may map large pieces. */
static inline uint64_t heap_size(uint64_t bytes)
{
	if (bytes + 32 >= MEM_LARGE)
		return (bytes + 32 + NNPU_PAGE_SIZE - 1) & ~(uint64_t)(NNPU_PAGE_SIZE - 1);
	return (bytes + 31) & ~15ull;
}

/* Aligned to TENSOR_ALIGN, not cleared; NULL: the host has no memory. */
void *mem_alloc(const struct nnpu_device *dev, size_t bytes);

/* The same, cleared. */
void *mem_zalloc(const struct nnpu_device *dev, size_t bytes);

/* A larger one with the contents of @p, which is freed; NULL: @p is as before. */
void *mem_enlarge(const struct nnpu_device *dev, void *p, size_t bytes, size_t larger);

/* What remains of an allocation of @bytes if all is given back that can be behind @need. */
size_t mem_least(const struct nnpu_device *dev, size_t bytes, size_t need);

/*
 * Give back the end of an allocation, which mem_least() has found. True: it is free. False:
 * that may take long, and mem_free_end() is to do it.
 */
bool mem_cut(void *end, size_t bytes);
void mem_free_end(void *end, size_t bytes);

/* @bytes as with the allocation. NULL is nothing. */
void mem_free(const struct nnpu_device *dev, void *p, size_t bytes);

#endif /* NNPU_EMU_DEVICE_MEMORY_H */
