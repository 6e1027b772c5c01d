/* SPDX-License-Identifier: MIT */
/*
 * Allocations of device memory, after it has been reserved (memory_accounting.h).
 *
 * A piece has a size: what it takes of the host, and is charged with. The C library's part, the rest
 * of a page, and what alignment leaves between pieces count. mem_size() finds it from
 * the bytes that somebody needs. All functions of mem_alloc() and so on take sizes.
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

/* What the C library takes of a small piece; of a large one that it maps it takes twice as much. */
#define MEM_HEADER	TENSOR_ALIGN

static inline uint64_t mem_round_page(uint64_t bytes)
{
	return (bytes + NNPU_PAGE_SIZE - 1) & ~(uint64_t)(NNPU_PAGE_SIZE - 1);
}

/* The size of a piece with room for @bytes. */
static inline uint64_t mem_size(uint64_t bytes)
{
	uint64_t small = tensor_round_up(bytes ? bytes : 1) + MEM_HEADER;

	return small < MEM_LARGE ? small : mem_round_page(bytes + 2 * MEM_HEADER);
}

/* What is there to use of a piece of this size. */
static inline uint64_t mem_room(uint64_t size)
{
	return size - (size < MEM_LARGE ? MEM_HEADER : 2 * MEM_HEADER);
}

/* What malloc(@bytes) takes: the C library has a part of its own, and may map large pieces. */
static inline uint64_t heap_size(uint64_t bytes)
{
	if (bytes + 32 >= MEM_LARGE)
		return mem_round_page(bytes + 32);
	return (bytes + 31) & ~15ull;
}

/* Aligned to TENSOR_ALIGN, not cleared; NULL: the host has no memory. */
void *mem_alloc(const struct nnpu_device *dev, size_t size);

/* The same, cleared. */
void *mem_zalloc(const struct nnpu_device *dev, size_t size);

/* A larger one with the contents of @p, which is freed; NULL: @p is as before. */
void *mem_enlarge(const struct nnpu_device *dev, void *p, size_t size, size_t larger);

/* The size that remains of @size if all is given back that can be behind a piece of @need. */
size_t mem_least(const struct nnpu_device *dev, size_t size, size_t need);

/*
 * Give back the end of a piece, which mem_least() has found. True: it is free. False: that may
 * take long, and mem_free_end() is to do it.
 */
bool mem_cut(void *end, size_t bytes);
void mem_free_end(void *end, size_t bytes);

/* @size as with the allocation. NULL is nothing. */
void mem_free(const struct nnpu_device *dev, void *p, size_t size);

#endif /* NNPU_EMU_DEVICE_MEMORY_H */
