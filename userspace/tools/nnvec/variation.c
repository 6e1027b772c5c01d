// SPDX-License-Identifier: MIT
/*
 * The ways in which a case is run. Variations of the same form are neighbours, because they
 * share a prepared model.
 */
#include <stdio.h>
#include <string.h>

#include "case_pools.h"
#include "variation.h"

#define ONE_POOL(kind)	{ .constants_in_pools = true, .pool_kind = (kind) }
#define POOL_EACH(kind)	{ .constants_in_pools = true, .pool_kind = (kind), .pool_each = true }

const struct variation variations[NUM_VARIATIONS] = {
	{ .name = "given", .what = "as the case says, executed synchronously" },
	{ .name = "async", .what = "executed asynchronously", .path = PATH_ASYNC },
	{ .name = "burst", .what = "executed twice in a burst", .path = PATH_BURST },
	{ .name = "burst-fmq", .what = "executed twice in a burst over message queues",
	  .path = PATH_FMQ },
	{ .name = "fenced", .what = "a chain of two fenced executions", .path = PATH_FENCED },
	{ .name = "bound", .what = "a bound request, executed three times", .path = PATH_BOUND },
	{ .name = "bound-burst", .what = "a bound request, executed three times in a burst",
	  .path = PATH_BOUND_BURST },
	{ .name = "output-too-small", .what = "each output in turn one byte too small",
	  .too_small = true },
	{ .name = "tokens", .what = "arguments in buffers of the device", .tokens = TOKENS_ALL },
	{ .name = "tokens-burst",
	  .what = "every second argument in a buffer, executed twice in a burst",
	  .path = PATH_BURST, .tokens = TOKENS_MIXED },
	{ .name = "own-version", .what = "by the rules of the oldest HAL version for the case",
	  .form = { .own_version = true } },
	{ .name = "from-cache", .what = "prepared from a cache that a first preparation has written",
	  .form = { .from_cache = true } },
	{ .name = "constants-as-inputs", .what = "constants are arguments of the execution",
	  .form = { .constants_as_inputs = true } },
	{ .name = "inputs-unspecified", .what = "inputs of unspecified dimensions",
	  .form = { .inputs = SHAPES_UNSPECIFIED } },
	{ .name = "inputs-unranked", .what = "inputs of unknown rank",
	  .form = { .inputs = SHAPES_UNRANKED } },
	{ .name = "outputs-unspecified", .what = "outputs of unspecified dimensions",
	  .form = { .outputs = SHAPES_UNSPECIFIED } },
	{ .name = "output-too-small-unspecified",
	  .what = "the same, each in turn one byte too small",
	  .form = { .outputs = SHAPES_UNSPECIFIED }, .too_small = true },
	{ .name = "tokens-unspecified",
	  .what = "the same in buffers of the device, executed asynchronously",
	  .form = { .outputs = SHAPES_UNSPECIFIED }, .path = PATH_ASYNC, .tokens = TOKENS_ALL },
	{ .name = "outputs-unranked", .what = "outputs of unknown rank",
	  .form = { .outputs = SHAPES_UNRANKED } },
	{ .name = "temporaries-unspecified", .what = "temporaries of unspecified dimensions",
	  .form = { .temporaries = SHAPES_UNSPECIFIED } },
	{ .name = "temporaries-unranked", .what = "temporaries of unknown rank",
	  .form = { .temporaries = SHAPES_UNRANKED } },
	{ .name = "all-unranked", .what = "no rank is known, constants are arguments",
	  .form = { .inputs = SHAPES_UNRANKED, .outputs = SHAPES_UNRANKED,
		    .temporaries = SHAPES_UNRANKED, .constants_as_inputs = true } },
	{ .name = "signed", .what = "unsigned quantized tensors are signed ones",
	  .form = { .signed_twin = true } },
	{ .name = "memfd-one-pool", .what = "constants and arguments in one memfd",
	  .form = ONE_POOL(POOL_MEMFD) },
	{ .name = "memfd-pools", .what = "each of them in a memfd of its own",
	  .form = POOL_EACH(POOL_MEMFD) },
	{ .name = "mmap-fd-one-pool", .what = "constants and arguments in one file",
	  .form = ONE_POOL(POOL_MMAP_FD) },
	{ .name = "mmap-fd-pools", .what = "each of them in a file of its own",
	  .form = POOL_EACH(POOL_MMAP_FD) },
	{ .name = "dma-buf-one-pool", .what = "constants and arguments in one dma-buf",
	  .form = ONE_POOL(POOL_DMA_BUF) },
	{ .name = "dma-buf-pools", .what = "each of them in a dma-buf of its own",
	  .form = POOL_EACH(POOL_DMA_BUF) },
	{ .name = "host-pointers-one-pool",
	  .what = "constants and arguments in one piece of memory of the process",
	  .form = ONE_POOL(POOL_POINTER) },
	{ .name = "host-pointers", .what = "each of them in a piece of its own",
	  .form = POOL_EACH(POOL_POINTER) },
};

static bool select_one(bool selected[NUM_VARIATIONS], const char *name, size_t length)
{
	bool all = length == strlen("all") && !strncmp(name, "all", length);
	bool found = false;

	for (unsigned int i = 0; i < NUM_VARIATIONS; i++) {
		if (!all && (strlen(variations[i].name) != length ||
			     strncmp(variations[i].name, name, length)))
			continue;
		selected[i] = true;
		found = true;
	}
	return found;
}

const char *variations_select(bool selected[NUM_VARIATIONS], const char *list)
{
	for (;;) {
		size_t length = strcspn(list, ",");

		if (!select_one(selected, list, length))
			return list;
		if (!list[length])
			return NULL;
		list += length + 1;
	}
}
