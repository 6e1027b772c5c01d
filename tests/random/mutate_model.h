/* SPDX-License-Identifier: MIT */
/*
 * Random changes of HAL models and requests.
 */
#ifndef NNPU_TESTS_MUTATE_MODEL_H
#define NNPU_TESTS_MUTATE_MODEL_H

#include "hal_case.h"

/* A reproducible stream of random numbers. */
struct mutation_rng {
	uint64_t state;
};

uint32_t pick(struct mutation_rng *r, uint32_t n);	/* in [0, n); 0 if n is 0 */

/* Change one bit, or a word to a number that is at some edge. */
void disturb_bytes(struct mutation_rng *r, uint8_t *bytes, uint32_t size);

/* How a model is prepared, which can be wrong, too. */
struct prepare_choice {
	int32_t preference;
	int32_t priority;
};

/*
 * Break one rule of the HAL for models: what comes out must be refused with
 * INVALID_ARGUMENT. Returns the name of the rule, or NULL if the one picked does not
 * apply to the model, which is unchanged then.
 */
const char *break_model(struct mutation_rng *r, struct hal_case *h, struct prepare_choice *p);

/* Change anything of a model; it may be valid afterwards. */
void disturb_model(struct mutation_rng *r, struct hal_case *h);

/*
 * Break one rule for requests to the model, which is valid; as break_model(). The
 * request must be good before.
 */
const char *break_request(struct mutation_rng *r, struct hal_case *h);

/* Change anything of a request. */
void disturb_request(struct mutation_rng *r, struct hal_case *h);

#endif /* NNPU_TESTS_MUTATE_MODEL_H */
