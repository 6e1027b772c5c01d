/* SPDX-License-Identifier: MIT */
/*
 * Small pieces of device-visible memory.
 */
#ifndef NNHAL_ARENA_H
#define NNHAL_ARENA_H

#include <pthread.h>
#include <stdint.h>

#include "memory/binding.h"
#include "transport/transport.h"

/* A piece of mapped device-visible memory for results and profiles. */
struct arena_chunk {
	uint32_t slot;
	uint32_t size;
	uint64_t offset;
	void *map;
	const struct transport_bo *bo;	/* that it is of */
	struct arena_chunk *next;
};

struct arena {
	pthread_mutex_t lock;
	struct bind_table *table;
	struct arena_block *blocks;
	struct arena_chunk *free[22];	/* 512 bytes to 1 GiB */
};

/* @table of the device; it stays valid until arena_fini(). */
void arena_init(struct arena *arena, struct bind_table *table);
void arena_fini(struct arena *arena);
/* In a child of fork(): free the copy. */
void arena_free_copy(struct arena *arena);
int arena_get(struct arena *arena, uint64_t size, struct arena_chunk **chunk);
void arena_put(struct arena *arena, struct arena_chunk *chunk);
/* All of a piece is for the device, or for the process again. 0 or -errno. */
static inline int arena_give(struct transport *t, const struct arena_chunk *chunk)
{
	return transport_give(t, chunk->bo, chunk->offset, chunk->size);
}

static inline int arena_take(struct transport *t, const struct arena_chunk *chunk)
{
	return transport_take(t, chunk->bo, chunk->offset, chunk->size);
}

#endif /* NNHAL_ARENA_H */
