/* SPDX-License-Identifier: MIT */
/*
 * The ways in which a case is run.
 */
#ifndef NNVEC_VARIATION_H
#define NNVEC_VARIATION_H

#include <stdbool.h>
#include <stdint.h>

/* What a model says of the shapes of its operands. */
enum shape_form { SHAPES_GIVEN, SHAPES_UNSPECIFIED, SHAPES_UNRANKED };

/**
 * struct form - how a case becomes a model, and where its memory is
 * @inputs: enum shape_form of inputs that have a value
 * @outputs: enum shape_form of outputs
 * @temporaries: enum shape_form of temporaries, those of referenced subgraphs as well
 * @constants_as_inputs: constants of the main subgraph are arguments
 * @constants_in_pools: constants are CONSTANT_REFERENCE; otherwise as the case says
 * @signed_twin: TENSOR_QUANT8_ASYMM becomes TENSOR_QUANT8_ASYMM_SIGNED
 * @own_version: by the rules of the oldest HAL version that takes the model, but none
 *	before the one the case states; otherwise 1.3
 * @from_cache: prepared, saved to a cache, released, and prepared from the cache
 * @pool_kind: enum pool_kind of constants and arguments
 * @pool_each: each of them has a pool of its own; otherwise all share one
 */
struct form {
	uint8_t inputs;
	uint8_t outputs;
	uint8_t temporaries;
	bool constants_as_inputs;
	bool constants_in_pools;
	bool signed_twin;
	bool own_version;
	bool from_cache;
	uint8_t pool_kind;
	bool pool_each;
};

/* Which call executes. */
enum path {
	PATH_SYNC,
	PATH_ASYNC,
	PATH_BURST,
	PATH_FMQ,
	PATH_FENCED,
	PATH_BOUND,		/* a bound request, synchronously */
	PATH_BOUND_BURST,	/* the same in a burst for one thread */
};

/* Which arguments are in buffers of the device. */
enum tokens { TOKENS_NONE, TOKENS_ALL, TOKENS_MIXED };

/**
 * struct variation - a way to run a case
 * @name: what --variation takes
 * @what: for people
 * @form: model and memory
 * @path: enum path
 * @tokens: enum tokens
 * @too_small: each output in turn has a buffer one byte too small
 */
struct variation {
	const char *name;
	const char *what;
	struct form form;
	enum path path;
	enum tokens tokens;
	bool too_small;
};

#define NUM_VARIATIONS	31

extern const struct variation variations[NUM_VARIATIONS];

/*
 * Select by a comma-separated list of names or "all". Returns NULL, or the name that
 * does not exist.
 */
const char *variations_select(bool selected[NUM_VARIATIONS], const char *list);

#endif /* NNVEC_VARIATION_H */
