/* SPDX-License-Identifier: MIT */
/*
 * A case as a model of the HAL, and the places of its values in pools.
 */
#ifndef NNVEC_CASE_MODEL_H
#define NNVEC_CASE_MODEL_H

#include <nnhal/nnhal.h>

#include "../common/nntc.h"
#include "case_pools.h"
#include "variation.h"

/* Room for a text that says why a case was skipped or failed. */
#define REASON_TEXT	512

/**
 * struct value - a constant or an argument in a pool
 * @operand: operand of the case
 * @pool: pool, counted over constants and arguments
 * @offset: first byte
 * @length: bytes; of an output at least 1
 * @omitted: an input without a value; has no place
 */
struct value {
	const struct nntc_operand *operand;
	uint32_t pool;
	uint32_t offset;
	uint32_t length;
	bool omitted;
};

/**
 * struct vec_model - a case in a certain form
 * @model: the model; its pools, and its version if that is its own, come with
 *	vec_model_place()
 * @oldest_version: no HAL version before this one is for the case; 0 if it is to be 1.3
 * @num_constants: constants in pools
 * @constants: their places
 * @num_inputs: arguments of an execution
 * @inputs: their places
 * @num_outputs: likewise
 * @outputs: likewise
 * @dims_in_request: inputs whose sizes the request has to give, one entry per input
 * @first_argument_pool: pools in front of it hold constants only
 * @num_pools: pools
 * @pool_sizes: bytes each of them needs
 * @pools: after vec_model_place(): the pools
 * @blocks: what to free
 */
struct vec_model {
	struct nnhal_model model;
	uint32_t oldest_version;
	uint32_t num_constants;
	struct value *constants;
	uint32_t num_inputs;
	struct value *inputs;
	uint32_t num_outputs;
	struct value *outputs;
	bool *dims_in_request;
	uint32_t first_argument_pool;
	uint32_t num_pools;
	uint64_t *pool_sizes;
	const struct pools *pools;
	struct block *blocks;
};

/* Bytes behind each value in a pool, to see that nobody writes there. */
#define GUARD_SIZE	16u
#define GUARD_BYTE	0xa7

enum build_result { BUILD_DONE, BUILD_SKIP, BUILD_FAIL };

/*
 * Make a model of a case. BUILD_SKIP: the form changes nothing about this case, or the
 * HAL does not allow it; BUILD_FAIL: no memory. Both with a text of REASON_TEXT bytes,
 * and nothing to free. The case has to stay.
 */
enum build_result vec_model_build(struct vec_model *m, const struct nntc_case *nc,
				  const struct form *form, char *reason);

/* Give it memory and write the constants there. Returns false with a text. */
bool vec_model_place(struct vec_model *m, struct pools *pools, struct nnhal_diag *diag);

void vec_model_free(struct vec_model *m);

/*
 * Does a case have a WHILE with an operand of unknown size, outside or in its subgraphs? In HAL
 * 1.3 a driver must refuse it; an interpreter may run it.
 */
bool case_has_open_while(const struct nntc_case *nc);

#endif /* NNVEC_CASE_MODEL_H */
