/* SPDX-License-Identifier: MIT */
/*
 * Inputs and outputs by their names.
 */
#ifndef NNTFLITE_MAP_FIND_NAME_H
#define NNTFLITE_MAP_FIND_NAME_H

#include "map_model.h"

bool text_is(struct text text, const char *name);

/*
 * The input or output of the main subgraph that a name stands for: one of the signature that the model
 * is made of, of a tensor, of another signature of the subgraph, or its number in decimal.
 * NNTFLITE_NONE if there is none.
 */
uint32_t find_name(const struct map_model *model, bool input, const char *name);

/* The names of all inputs or outputs, and of all signatures: "'a', 'b'", as far as there is room. */
const char *list_names(const struct map_model *model, bool input, char *text, size_t size);
const char *list_signatures(const struct tflite_model *tflite, char *text, size_t size);

#endif /* NNTFLITE_MAP_FIND_NAME_H */
