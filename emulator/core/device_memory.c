// SPDX-License-Identifier: MIT
/*
 * Allocations of device memory.
 */
/* mremap() */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device_memory.h"
#include "device_state.h"

/* No more of them than so many, as a power of two: a process may have 65530 mappings. */
#define MAX_LARGE_LOG2	15

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED		true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED		true
#endif
#endif
#ifndef WATCHED
#define WATCHED		false
#else
#include <sanitizer/asan_interface.h>
#endif

static size_t least_large(const struct nnpu_device *dev)
{
	uint64_t least = mem_round_page(dev->props.memory_size >> MAX_LARGE_LOG2);

	return least > MEM_LARGE ? least : MEM_LARGE;
}

/* AddressSanitizer finds no access beyond the end of a mapping of ours. */
static bool is_large(const struct nnpu_device *dev, size_t size)
{
	return !WATCHED && size >= least_large(dev);
}

static void *map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *mem_alloc(const struct nnpu_device *dev, size_t size)
{
	if (is_large(dev, size))
		return map(size);
	return aligned_alloc(TENSOR_ALIGN, mem_room(size));
}

void *mem_zalloc(const struct nnpu_device *dev, size_t size)
{
	void *p = mem_alloc(dev, size);

	/* A mapping is clear. */
	if (p && !is_large(dev, size))
		memset(p, 0, mem_room(size));
	return p;
}

void *mem_enlarge(const struct nnpu_device *dev, void *p, size_t size, size_t larger)
{
	void *new;

	if (p && is_large(dev, size)) {
		new = mremap(p, size, larger, MREMAP_MAYMOVE);
		return new == MAP_FAILED ? NULL : new;
	}
	new = mem_alloc(dev, larger);
	if (!new)
		return NULL;
	if (p)
		memcpy(new, p, mem_room(size));
	mem_free(dev, p, size);
	return new;
}

size_t mem_least(const struct nnpu_device *dev, size_t size, size_t need)
{
	size_t least = least_large(dev);

	if (need > least)
		least = need;
	return least < size ? least : size;
}

bool mem_cut(void *end, size_t bytes)
{
#if defined(ASAN_POISON_MEMORY_REGION)
	/* It is free with the rest; until then nobody may touch it. The heap has less of it. */
	ASAN_POISON_MEMORY_REGION(end, bytes - 2 * MEM_HEADER);
#else
	(void)end;
	(void)bytes;
#endif
	return WATCHED;
}

void mem_free_end(void *end, size_t bytes)
{
	munmap(end, bytes);
}

void mem_free(const struct nnpu_device *dev, void *p, size_t size)
{
	if (p && is_large(dev, size))
		munmap(p, size);
	else
		free(p);
}
