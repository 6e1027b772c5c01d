/* SPDX-License-Identifier: MIT */
/*
 * Memory objects of the NNAPI.
 */
#ifndef NDK_MEMORY_H
#define NDK_MEMORY_H

#include "compile/ndk_compilation.h"

/**
 * struct ndk_role - a use of described memory
 * @compilation: a reference
 * @index: input or output
 * @output: it is an output
 */
struct ndk_role {
	ANeuralNetworksCompilation *compilation;
	uint32_t index;
	bool output;
};

ANeuralNetworksMemory *ndk_memory_ref(const ANeuralNetworksMemory *memory);

/* A memory object with one reference and nothing else; NULL: no memory. */
ANeuralNetworksMemory *ndk_memory_new(void);

void ndk_roles_free(struct ndk_role *roles, uint32_t count);

/* Is this memory for this argument? Memory that has no roles is for all. */
bool ndk_memory_has_role(const ANeuralNetworksMemory *memory,
			 const ANeuralNetworksCompilation *compilation, bool output,
			 uint32_t index);

/* Something begins to write to shared memory of a descriptor. */
static inline void ndk_memory_begin_write(ANeuralNetworksMemory *memory, const void *writer)
{
	atomic_store_explicit(&memory->writer, (uintptr_t)writer, memory_order_relaxed);
	atomic_store_explicit(&memory->content, CONTENT_COMES, memory_order_release);
}

/* It has ended: only a success leaves a content. If another one has begun since, it has no say any more. */
static inline void ndk_memory_end_write(ANeuralNetworksMemory *memory, const void *writer, int result)
{
	if (atomic_load_explicit(&memory->writer, memory_order_relaxed) == (uintptr_t)writer)
		atomic_store_explicit(&memory->content, result ? CONTENT_NONE : CONTENT_THERE,
				      memory_order_release);
}

static inline bool ndk_memory_has_content(const ANeuralNetworksMemory *memory)
{
	return atomic_load_explicit(&memory->content, memory_order_acquire) != CONTENT_NONE;
}

#endif /* NDK_MEMORY_H */
