// SPDX-License-Identifier: MIT
/*
 * Allocations of device memory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cleaner.h"
#include "device_memory.h"
#include "device_state.h"
#include "engine.h"
#include "fetch.h"
#include "slots.h"

/* Bytes that are copied between two looks at the progress. */
#define COPY_PIECE	(256u << 10)
/* Fewer pages are not worth a system call. */
#define TOUCH_MIN	(4 * NNPU_PAGE_SIZE)

/* What contexts and queues have, which are charged to nobody; with those that leave. */
static uint64_t object_bytes(const struct nnpu_device *dev)
{
	uint64_t ctx = mem_size(ctx_bytes(dev, 1u << dev->props.max_slots_log2));
	uint64_t pool = mem_size(fetch_pool_bytes(1u << dev->props.max_entries_log2));

	return (dev->props.max_contexts + 1) * ctx + (dev->props.num_queues + 1) * pool +
	       OBJECTS_LEAVING_MAX + ctx + pool;
}

bool mem_init(struct nnpu_device *dev, char *error, size_t size)
{
	uint64_t bytes = mem_round_page(dev->props.memory_size) + object_bytes(dev);

	if (runs_init(&dev->runs, bytes))
		return true;
	snprintf(error, size, "memory_size %llu takes %llu MiB of addresses; see ulimit -v",
		 (unsigned long long)dev->props.memory_size,
		 (unsigned long long)(dev->runs.bytes >> 20));
	return false;
}

void mem_fini(struct nnpu_device *dev)
{
	runs_fini(&dev->runs);
}

void *mem_alloc(struct nnpu_device *dev, size_t bytes)
{
	size_t size = mem_size(bytes), used = tensor_round_up(bytes ? bytes : 1);
	uint8_t *p = runs_take(&dev->runs, size >> NNPU_PAGE_SHIFT);

	if (p) {
		ASAN_UNPOISON_MEMORY_REGION(p, used);
		ASAN_POISON_MEMORY_REGION(p + used, size - used + RUNS_GUARD * NNPU_PAGE_SIZE);
		return p;
	}
	/* Runs that were cut have the slots. There are few of them, so there are few mappings. */
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

void *mem_alloc_growing(struct nnpu_device *dev, size_t bytes, size_t *room)
{
	uint64_t pages;
	uint8_t *p = runs_take_growing(&dev->runs, &pages);

	*room = pages << NNPU_PAGE_SHIFT;
	if (p && mem_size(bytes) <= *room) {
		ASAN_UNPOISON_MEMORY_REGION(p, bytes);
		ASAN_POISON_MEMORY_REGION(p + bytes,
					  *room - bytes + RUNS_GUARD * NNPU_PAGE_SIZE);
		return p;
	}
	if (p)
		runs_put(&dev->runs, p);
	*room = mem_size(bytes);
	return mem_alloc(dev, bytes);
}

void mem_touch(void *p, size_t bytes)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t first = (uintptr_t)p & ~((uintptr_t)getpagesize() - 1);

	if (bytes >= TOUCH_MIN)
		madvise((void *)first, (uintptr_t)p + bytes - first, MADV_POPULATE_WRITE);
#else
	(void)p;
	(void)bytes;
#endif
}

void *mem_copy(struct nnpu_device *dev, void *p, size_t size, size_t bytes,
	       struct job_progress *progress)
{
	uint8_t *new = mem_alloc(dev, bytes);
	size_t at, n;

	if (!new || !p)
		return new;
	/* Not beyond what @p had to begin with, and what is behind is not used. */
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	for (at = 0; at < size && at < bytes; at += n) {
		n = size - at < bytes - at ? size - at : bytes - at;
		if (n > COPY_PIECE)
			n = COPY_PIECE;
		memcpy(new + at, (uint8_t *)p + at, n);
		if (job_tick(progress)) {
			mem_free(dev, new, mem_size(bytes));
			return NULL;
		}
	}
	return new;
}

size_t mem_least(const struct nnpu_device *dev, const void *p, size_t size)
{
	size_t least;

	if (!runs_have(&dev->runs, p))
		return NNPU_PAGE_SIZE;
	least = runs_least(&dev->runs, p) << NNPU_PAGE_SHIFT;
	return least < size ? least : size;
}

void mem_cut(void *end, size_t bytes)
{
	ASAN_UNPOISON_MEMORY_REGION(end, TENSOR_ALIGN);
	ASAN_POISON_MEMORY_REGION((uint8_t *)end + TENSOR_ALIGN, bytes - TENSOR_ALIGN);
}

/* A page of the host that is cut stays with what is before it. */
static void unmap_end(void *end, size_t bytes)
{
	uintptr_t page = (uintptr_t)getpagesize(), first = ((uintptr_t)end + page - 1) / page * page;

	ASAN_UNPOISON_MEMORY_REGION(end, bytes);
	if (first < (uintptr_t)end + bytes)
		munmap((void *)first, (uintptr_t)end + bytes - first);
}

void mem_free_end(struct nnpu_device *dev, void *end, size_t bytes)
{
	if (!runs_have(&dev->runs, end)) {
		unmap_end(end, bytes);
		return;
	}
	ASAN_UNPOISON_MEMORY_REGION(end, bytes);
	runs_clear(&dev->runs, end, bytes);
	ASAN_POISON_MEMORY_REGION(end, bytes);
}

void mem_free(struct nnpu_device *dev, void *p, size_t size)
{
	if (!p)
		return;
	if (!runs_have(&dev->runs, p)) {
		ASAN_UNPOISON_MEMORY_REGION(p, size);
		munmap(p, size);
		return;
	}
	/* Before somebody else may have them. */
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	runs_clear(&dev->runs, p, size);
	ASAN_POISON_MEMORY_REGION(p, size);
	runs_put(&dev->runs, p);
}
