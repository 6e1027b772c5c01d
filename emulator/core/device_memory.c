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
	uint64_t least = mem_size(dev->props.memory_size >> MAX_LARGE_LOG2);

	return least > MEM_LARGE ? least : MEM_LARGE;
}

/* AddressSanitizer finds no access beyond the end of a mapping of ours. */
static bool is_large(const struct nnpu_device *dev, size_t bytes)
{
	return !WATCHED && bytes >= least_large(dev);
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *mem_alloc(const struct nnpu_device *dev, size_t bytes)
{
	if (is_large(dev, bytes))
		return map(bytes);
	return aligned_alloc(TENSOR_ALIGN, mem_size(bytes));
}

void *mem_zalloc(const struct nnpu_device *dev, size_t bytes)
{
	void *p = mem_alloc(dev, bytes);

	/* A mapping is clear. */
	if (p && !is_large(dev, bytes))
		memset(p, 0, bytes);
	return p;
}

void *mem_enlarge(const struct nnpu_device *dev, void *p, size_t bytes, size_t larger)
{
	void *new;

	if (p && is_large(dev, bytes)) {
		new = mremap(p, bytes, larger, MREMAP_MAYMOVE);
		return new == MAP_FAILED ? NULL : new;
	}
	new = mem_alloc(dev, larger);
	if (!new)
		return NULL;
	if (p)
		memcpy(new, p, bytes);
	mem_free(dev, p, bytes);
	return new;
}

size_t mem_least(const struct nnpu_device *dev, size_t bytes, size_t need)
{
	size_t least = least_large(dev);

	if (need > least)
		least = mem_size(need);
	return least < bytes ? least : bytes;
}

bool mem_cut(void *end, size_t bytes)
{
#if defined(ASAN_POISON_MEMORY_REGION)
	/* It is free with the rest; until then nobody may touch it. */
	ASAN_POISON_MEMORY_REGION(end, bytes);
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

void mem_free(const struct nnpu_device *dev, void *p, size_t bytes)
{
	if (p && is_large(dev, bytes))
		munmap(p, bytes);
	else
		free(p);
}
