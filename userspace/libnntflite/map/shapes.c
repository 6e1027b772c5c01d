// SPDX-License-Identifier: MIT
/*
 * Shapes of tensors before the model runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map_model.h"
#include "mapper.h"

static void shape_in_file(const struct tflite_tensor *tensor, struct shape *shape)
{
	uint32_t i;

	shape->rank = tensor->rank;
	for (i = 0; i < tensor->rank; i++)
		shape->dims[i] = tensor->dims[i] > 0 ? (uint32_t)tensor->dims[i] : 0;
	if (tensor->rank == 0) {
		shape->rank = 1;
		shape->dims[0] = 1;
	}
}

static bool text_is(struct text text, const char *name)
{
	return text.length == strlen(name) && !memcmp(text.data, name, text.length);
}

/* The input that a name or a decimal number stands for; -1 if there is none. */
static int64_t find_input(const struct map_model *model, const struct tflite_subgraph *sub,
			  const char *name)
{
	const struct tflite_signature *s = model->signature;
	unsigned long number;
	uint32_t i;
	char *end;

	for (i = 0; s && i < s->num_inputs; i++)
		if (text_is(s->inputs[i].name, name))
			return s->inputs[i].tensor;
	for (i = 0; i < sub->inputs.count; i++)
		if (text_is(sub->tensors[fb_vector_i32(&sub->inputs, i)].name, name))
			return fb_vector_i32(&sub->inputs, i);
	number = strtoul(name, &end, 10);
	if (*name >= '0' && *name <= '9' && *end == '\0' && number < sub->inputs.count)
		return fb_vector_i32(&sub->inputs, (uint32_t)number);
	return -1;
}

/* The shapes that the caller wishes. Does one differ from that in the file? */
static int apply_wishes(const struct map_model *model, const struct tflite_subgraph *sub,
			struct shape *shapes, bool *differ)
{
	uint32_t i, j;

	for (i = 0; i < model->num_shapes; i++) {
		const struct nntflite_shape *wish = &model->shapes[i];
		int64_t tensor = wish->input ? find_input(model, sub, wish->input) : -1;
		struct shape shape = { .rank = wish->rank };

		if (tensor < 0)
			return diag_fail(model->diag, "the model has no input '%s'",
					 wish->input ? wish->input : "");
		if (wish->rank == 0 || wish->rank > TFLITE_MAX_RANK)
			return diag_fail(model->diag, "input '%s': a shape of rank %" PRIu32
					 ", expected 1 to %d", wish->input, wish->rank,
					 TFLITE_MAX_RANK);
		for (j = 0; j < wish->rank; j++) {
			shape.dims[j] = wish->dims[j];
			if (wish->dims[j] == 0 || wish->dims[j] > INT32_MAX)
				return diag_fail(model->diag, "input '%s': dimension %" PRIu32
						 " of size %" PRIu32, wish->input, j,
						 wish->dims[j]);
		}
		if (memcmp(&shape, &shapes[tensor], sizeof(shape)))
			*differ = true;
		shapes[tensor] = shape;
	}
	return 0;
}

int resolve_shapes(const struct map_model *model, uint32_t subgraph, bool is_main,
		   struct shape *shapes)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[subgraph];
	bool differ = false;
	uint32_t i, j;

	for (i = 0; i < sub->num_tensors; i++)
		shape_in_file(&sub->tensors[i], &shapes[i]);
	if (is_main && apply_wishes(model, sub, shapes, &differ))
		return -1;
	if (!differ && !(model->num_shapes && !is_main))
		return 0;
	/* What the operators compute may have any shape now: the device finds it. */
	for (i = 0; i < sub->num_operators; i++) {
		const struct fb_vector *outputs = &sub->operators[i].outputs;

		for (j = 0; j < outputs->count; j++)
			memset(shapes[fb_vector_i32(outputs, j)].dims, 0, sizeof(shapes->dims));
	}
	return 0;
}
