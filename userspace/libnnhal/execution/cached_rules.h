/* SPDX-License-Identifier: MIT */
/*
 * What the library keeps of a prepared model beside its program, as bytes for a cache.
 */
#ifndef NNHAL_CACHED_RULES_H
#define NNHAL_CACHED_RULES_H

#include <stdint.h>

#include <nnhal/nnhal.h>

#include "execution/prepared_model_private.h"

/* The bytes, malloc()ed; NULL: no memory. */
uint8_t *cached_rules_pack(const struct nnhal_prepared_model *model, uint64_t *size);
/*
 * Set rules, operations, commands and their origins of @model, and model->block. They are for a
 * program with @num_commands commands, @num_inputs inputs and @num_outputs outputs. NONE,
 * GENERAL_FAILURE: these are no such bytes, or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status cached_rules_unpack(struct nnhal_prepared_model *model, const uint8_t *bytes,
				      uint64_t size, uint32_t num_commands, uint32_t num_inputs,
				      uint32_t num_outputs);

#endif /* NNHAL_CACHED_RULES_H */
