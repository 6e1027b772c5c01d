// SPDX-License-Identifier: MIT
/*
 * The ways in which a case goes through the NNAPI.
 */
#include "ndk_ways.h"

#define ONE_POOL	{ .constants_in_pools = true }
#define POOL_EACH	{ .constants_in_pools = true, .pool_each = true }
#define OWN_PLACE	{ .pool_each = true }

#define WAY(title, how, where, ...) \
	{ .name = title, .run = RUN_##how, .kind = KIND_##where, __VA_ARGS__ }

const struct ndk_way ndk_ways[] = {
	WAY("compute, pointers", COMPUTE, POINTER),
	WAY("async, pointers", ASYNC, POINTER),
	WAY("burst, pointers", BURST, POINTER),
	WAY("fenced, pointers", FENCED, POINTER),
	WAY("reused, pointers", REUSED, POINTER),
	WAY("compute, memory", COMPUTE, MEMORY, .form = ONE_POOL),
	WAY("async, memory", ASYNC, MEMORY, .form = ONE_POOL),
	WAY("burst, memory", BURST, MEMORY, .form = ONE_POOL),
	WAY("fenced, memory", FENCED, MEMORY, .form = POOL_EACH),
	WAY("reused, memory", REUSED, MEMORY, .form = POOL_EACH),
	WAY("compute, buffers", COMPUTE, BUFFER, .form = POOL_EACH),
	WAY("async, buffers", ASYNC, BUFFER, .form = POOL_EACH),
	WAY("burst, buffers", BURST, BUFFER, .form = ONE_POOL),
	WAY("fenced, buffers", FENCED, BUFFER, .form = POOL_EACH),
	WAY("compute, described", COMPUTE, DESCRIBED, .form = OWN_PLACE),
	WAY("async, described", ASYNC, DESCRIBED, .form = OWN_PLACE),
	WAY("burst, described", BURST, DESCRIBED, .form = OWN_PLACE),
	WAY("fenced, described", FENCED, DESCRIBED, .form = OWN_PLACE),
	WAY("compute, constants as inputs", COMPUTE, POINTER, .form = { .constants_as_inputs = true }),
	WAY("compute, open inputs", COMPUTE, POINTER, .form = { .inputs = SHAPES_UNSPECIFIED }),
	WAY("async, open outputs", ASYNC, MEMORY, .form = { .outputs = SHAPES_UNSPECIFIED }),
	WAY("burst, outputs without rank", BURST, POINTER, .form = { .outputs = SHAPES_UNRANKED }),
	WAY("fenced, open outputs", FENCED, POINTER, .form = { .outputs = SHAPES_UNSPECIFIED }),
	WAY("compute, open temporaries", COMPUTE, POINTER,
	    .form = { .temporaries = SHAPES_UNRANKED }),
	WAY("compute, all open", COMPUTE, MEMORY,
	    .form = { .inputs = SHAPES_UNRANKED, .outputs = SHAPES_UNRANKED,
		      .temporaries = SHAPES_UNRANKED, .constants_as_inputs = true }),
	WAY("compute, outputs too small", COMPUTE, POINTER,
	    .form = { .outputs = SHAPES_UNSPECIFIED }, .too_small = true),
	WAY("compute, padded pointers", COMPUTE, POINTER, .padded = true),
	WAY("async, padded buffers", ASYNC, BUFFER, .form = POOL_EACH, .padded = true),
	WAY("burst, padded memory", BURST, MEMORY, .form = ONE_POOL, .padded = true),
	WAY("fenced, padded memory", FENCED, MEMORY, .form = POOL_EACH, .padded = true),
	WAY("reused, padded memory, open inputs", REUSED, MEMORY, .form = { .inputs = SHAPES_UNSPECIFIED },
	    .padded = true),
	WAY("burst, padded pointers, all open", BURST, POINTER,
	    .form = { .inputs = SHAPES_UNRANKED, .outputs = SHAPES_UNRANKED }, .padded = true),
	WAY("compute, from cache", COMPUTE, POINTER, .from_cache = true),
	WAY("burst, from cache, memory", BURST, MEMORY, .form = POOL_EACH, .from_cache = true),
	WAY("compute, ten threads", COMPUTE, POINTER, .form = OWN_PLACE,
	    .threads = MAX_THREADS),
	WAY("burst, ten threads, memory", BURST, MEMORY, .form = POOL_EACH,
	    .threads = MAX_THREADS),
};

const unsigned int num_ndk_ways = sizeof(ndk_ways) / sizeof(ndk_ways[0]);
