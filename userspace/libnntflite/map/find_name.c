// SPDX-License-Identifier: MIT
/*
 * Inputs and outputs by their names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find_name.h"

bool text_is(struct text text, const char *name)
{
	return text.length == strlen(name) && !memcmp(text.data, name, text.length);
}

/* The place of a tensor in the list, or NNTFLITE_NONE. */
static uint32_t place_of(const struct fb_vector *list, uint32_t tensor)
{
	uint32_t i;

	for (i = 0; i < list->count; i++)
		if ((uint32_t)fb_vector_i32(list, i) == tensor)
			return i;
	return NNTFLITE_NONE;
}

static uint32_t in_signature(const struct tflite_signature *s, const struct fb_vector *list,
			     bool input, const char *name)
{
	const struct tflite_named *named = input ? s->inputs : s->outputs;
	uint32_t i, count = input ? s->num_inputs : s->num_outputs;

	for (i = 0; i < count; i++)
		if (text_is(named[i].name, name))
			return place_of(list, named[i].tensor);
	return NNTFLITE_NONE;
}

uint32_t find_name(const struct map_model *model, bool input, const char *name)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[model->main];
	const struct fb_vector *list = input ? &sub->inputs : &sub->outputs;
	uint32_t i, found = NNTFLITE_NONE;
	unsigned long number;
	char *end;

	/* The signature that the model is made of, then the others of the subgraph. */
	if (model->signature)
		found = in_signature(model->signature, list, input, name);
	for (i = 0; i < list->count && found == NNTFLITE_NONE; i++)
		if (text_is(sub->tensors[fb_vector_i32(list, i)].name, name))
			found = i;
	for (i = 0; i < model->tflite->num_signatures && found == NNTFLITE_NONE; i++)
		if (model->tflite->signatures[i].subgraph == model->main)
			found = in_signature(&model->tflite->signatures[i], list, input, name);
	if (found != NNTFLITE_NONE)
		return found;
	number = strtoul(name, &end, 10);
	return *name >= '0' && *name <= '9' && *end == '\0' && number < list->count ?
	       (uint32_t)number : NNTFLITE_NONE;
}

/* The name of a tensor in the signature that the model is made of, else its own. */
static struct text name_of(const struct map_model *model, bool input, uint32_t tensor)
{
	const struct tflite_signature *s = model->signature;
	const struct tflite_named *named = s ? (input ? s->inputs : s->outputs) : NULL;
	uint32_t i, count = s ? (input ? s->num_inputs : s->num_outputs) : 0;

	for (i = 0; i < count; i++)
		if (named[i].tensor == tensor)
			return named[i].name;
	return model->tflite->subgraphs[model->main].tensors[tensor].name;
}

const char *list_names(const struct map_model *model, bool input, char *text, size_t size)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[model->main];
	const struct fb_vector *list = input ? &sub->inputs : &sub->outputs;
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < list->count && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s'%s'", i ? ", " : "",
					 TEXT(name_of(model, input,
						      (uint32_t)fb_vector_i32(list, i))));
	return text;
}

const char *list_signatures(const struct tflite_model *tflite, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	snprintf(text, size, "none");
	for (i = 0; i < tflite->num_signatures && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s'%s'", i ? ", " : "",
					 TEXT(tflite->signatures[i].key));
	return text;
}
