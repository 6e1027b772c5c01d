/* SPDX-License-Identifier: MIT */
/*
 * Memory for the values of a case, of each kind that the NNAPI knows.
 */
#ifndef TESTS_NDK_PLACES_H
#define TESTS_NDK_PLACES_H

#include <android/NeuralNetworks.h>

#include "ndk_ways.h"

/**
 * struct ndk_place - memory of one pool
 * @size: bytes
 * @bytes: where the process has it. A buffer's only from place_begin() to place_end()
 * @memory: the same for the NNAPI; NULL: it is taken by pointer
 * @buffer: the same as a buffer, or NULL
 * @map: what to unmap, or NULL
 * @map_size: bytes of @map
 */
struct ndk_place {
	size_t size;
	uint8_t *bytes;
	ANeuralNetworksMemory *memory;
	AHardwareBuffer *buffer;
	void *map;
	size_t map_size;
};

/* Zeroed memory. false: there is none; place_free() is to be called in any case. */
bool place_init(struct ndk_place *place, enum ndk_kind kind, size_t size);
void place_free(struct ndk_place *place);

/* The process reads and writes @bytes from one to the other. */
bool place_begin(struct ndk_place *place);
bool place_end(struct ndk_place *place);

#endif /* TESTS_NDK_PLACES_H */
