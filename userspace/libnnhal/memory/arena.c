// SPDX-License-Identifier: MIT
/*
 * Small pieces of device-visible memory, for results and profiles.
 *
 * Pieces are cut from larger buffers. Their sizes are powers of two. Free pieces are kept in
 * a list per size and used again. The buffers are freed when the device is closed.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "memory/arena.h"
#include "transport/transport.h"

#define MIN_SHIFT	9		/* 512 bytes: a result with seven arguments */
#define BLOCK_SIZE	(64u << 10)

/* One buffer that pieces are cut from. */
struct arena_block {
	struct arena_block *next;
	struct transport_bo bo;
	uint64_t used;
};

void arena_init(struct arena *arena, struct bind_table *table)
{
	memset(arena, 0, sizeof(*arena));
	pthread_mutex_init(&arena->lock, NULL);
	arena->table = table;
}

static void free_chunks(struct arena *arena)
{
	struct arena_chunk *chunk;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(arena->free); i++)
		while ((chunk = arena->free[i])) {
			arena->free[i] = chunk->next;
			free(chunk);
		}
}

void arena_free_copy(struct arena *arena)
{
	struct arena_block *block;

	free_chunks(arena);
	while ((block = arena->blocks)) {
		arena->blocks = block->next;
		munmap(block->bo.map, block->bo.size);
		free(block);
	}
}

void arena_fini(struct arena *arena)
{
	struct arena_block *block;
	struct transport *t;

	free_chunks(arena);
	while ((block = arena->blocks)) {
		arena->blocks = block->next;
		t = arena->table->transport;
		t->ops->bo_destroy(t, &block->bo);
		free(block);
	}
	pthread_mutex_destroy(&arena->lock);
}

static int block_create(struct arena *arena, uint64_t size, struct arena_block **result)
{
	struct arena_block *block = calloc(1, sizeof(*block));
	int err;

	if (!block)
		return -ENOMEM;
	block->bo = (struct transport_bo)TRANSPORT_BO_NONE;
	err = bind_table_bo_create(arena->table, size > BLOCK_SIZE ? size : BLOCK_SIZE,
				   &block->bo);
	if (err) {
		free(block);
		return err;
	}
	block->next = arena->blocks;
	arena->blocks = block;
	*result = block;
	return 0;
}

static int cut(struct arena *arena, uint64_t size, struct arena_chunk **result)
{
	struct arena_block *block = arena->blocks;
	struct arena_chunk *chunk = calloc(1, sizeof(*chunk));
	int err = 0;

	if (!chunk)
		return -ENOMEM;
	if (!block || block->bo.size - block->used < size)
		err = block_create(arena, size, &block);
	if (err) {
		free(chunk);
		return err;
	}
	chunk->slot = block->bo.slot;
	chunk->offset = block->used;
	chunk->map = (uint8_t *)block->bo.map + block->used;
	chunk->size = (uint32_t)size;
	chunk->bo = &block->bo;
	block->used += size;
	*result = chunk;
	return 0;
}

int arena_get(struct arena *arena, uint64_t size, struct arena_chunk **result)
{
	struct arena_chunk *chunk;
	unsigned int class = 0;
	int err = 0;

	while (class < ARRAY_SIZE(arena->free) && (1ull << (class + MIN_SHIFT)) < size)
		class++;
	if (class == ARRAY_SIZE(arena->free))
		return -ENOMEM;
	pthread_mutex_lock(&arena->lock);
	chunk = arena->free[class];
	if (chunk)
		arena->free[class] = chunk->next;
	else
		err = cut(arena, 1ull << (class + MIN_SHIFT), &chunk);
	pthread_mutex_unlock(&arena->lock);
	if (!err)
		*result = chunk;
	return err;
}

void arena_put(struct arena *arena, struct arena_chunk *chunk)
{
	unsigned int class = 0;

	if (!chunk)
		return;
	while ((1u << (class + MIN_SHIFT)) < chunk->size)
		class++;
	pthread_mutex_lock(&arena->lock);
	chunk->next = arena->free[class];
	arena->free[class] = chunk;
	pthread_mutex_unlock(&arena->lock);
}
