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

/* Change one bit, or set a word to a limit value. */
void disturb_bytes(struct mutation_rng *r, uint8_t *bytes, uint32_t size);

/* How a model is prepared, which can be wrong, too. */
struct prepare_choice {
	int32_t preference;
	int32_t priority;
};

/*
 * Break one rule of the HAL for models, somewhere in one of its subgraphs: what comes out
 * must be refused with INVALID_ARGUMENT. Returns false if the rule does not apply to the
 * model, which is unchanged then, or not at the place that was picked.
 */
bool break_model(struct mutation_rng *r, struct hal_case *h, struct prepare_choice *p,
		 uint32_t rule);
uint32_t num_model_rules(void);
const char *model_rule_name(uint32_t rule);

/* Is it one for IF and WHILE (mutate_control.c), which are the last ones? */
bool is_control_rule(uint32_t rule);
bool break_control(struct mutation_rng *r, struct hal_case *h, uint32_t rule);
uint32_t num_control_rules(void);
const char *control_rule_name(uint32_t rule);

/*
 * Change a model or its request so that it is valid, and fails when it runs, with a status
 * of its own; as break_model().
 */
bool make_fail(struct mutation_rng *r, struct hal_case *h, uint32_t failure);
uint32_t num_failures(void);
const char *failure_name(uint32_t failure);
enum nnhal_status failure_status(uint32_t failure);

/* Change anything of a model; it may be valid afterwards. */
void disturb_model(struct mutation_rng *r, struct hal_case *h);

/*
 * Break one rule for requests to the model, which is valid; as break_model(). The
 * request must be good before.
 */
bool break_request(struct mutation_rng *r, struct hal_case *h, uint32_t rule);
uint32_t num_request_rules(void);
const char *request_rule_name(uint32_t rule);

/* Change anything of a request. */
void disturb_request(struct mutation_rng *r, struct hal_case *h);

#endif /* NNPU_TESTS_MUTATE_MODEL_H */
