/* SPDX-License-Identifier: MIT */
/*
 * Memory for constants and arguments, of each kind the HAL knows and of the process, kept for all
 * cases.
 */
#ifndef NNVEC_CASE_POOLS_H
#define NNVEC_CASE_POOLS_H

#include <nnhal/nnhal.h>

enum pool_kind { POOL_MEMFD, POOL_MMAP_FD, POOL_DMA_BUF, POOL_POINTER, NUM_POOL_KINDS };

struct pool {
	struct nnhal_memory *memory;
	void *block;			/* POOL_POINTER: what malloc() gave; else NULL */
	uint8_t *bytes;
	uint64_t size;
};

/**
 * struct pools - pools of one kind
 * @kind: enum pool_kind
 * @count: entries of @entries
 * @entries: pools, made as needed
 */
struct pools {
	enum pool_kind kind;
	uint32_t count;
	struct pool *entries;
};

/*
 * Is this kind of memory available? If not, the text says why.
 */
bool pools_available(enum pool_kind kind, char *text, size_t size);

/*
 * Have pool @index hold @size bytes; what was in it is lost if it has to grow. Returns
 * false with a text.
 */
bool pools_reserve(struct pools *pools, uint32_t index, uint64_t size, struct nnhal_diag *diag);

void pools_free(struct pools *pools);

#endif /* NNVEC_CASE_POOLS_H */
