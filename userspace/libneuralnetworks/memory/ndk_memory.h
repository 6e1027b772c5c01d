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

#endif /* NDK_MEMORY_H */
