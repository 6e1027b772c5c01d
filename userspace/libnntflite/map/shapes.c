// SPDX-License-Identifier: MIT
/*
 * Shapes of tensors before the model runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "infer.h"
#include "map_model.h"
#include "mapper.h"

/* The shape that the file gives a tensor; sizes that it leaves open are those of one case. */
static void extent_in_file(const struct tflite_tensor *tensor, struct extent *e)
{
	uint32_t i;

	*e = extent_unknown;
	e->rank = (int32_t)tensor->rank;
	for (i = 0; i < tensor->rank; i++)
		e->dims[i] = tensor->dims[i] > 0 ? tensor->dims[i] : -1;
}

/* Does the file say that the tensor always has this shape? */
static bool is_fixed(const struct tflite_tensor *tensor)
{
	uint32_t i;

	for (i = 0; i < tensor->rank; i++)
		if (tensor->dims[i] <= 0 || tensor->signature[i] != tensor->dims[i])
			return false;
	return tensor->rank > 0 || tensor->has_rank;
}

static void constant_values(const struct tflite_tensor *tensor, struct extent *e)
{
	size_t size = tflite_type_size(tensor->type);
	int64_t n = extent_elements(e);
	uint32_t i;

	if ((tensor->type != TFLITE_INT32 && tensor->type != TFLITE_INT64) ||
	    tensor->sparsity.present || n < 1 || n > INFER_MAX_VALUES ||
	    tensor->bytes != (size_t)n * size)
		return;
	for (i = 0; i < n; i++) {
		struct fb_vector one = { .data = tensor->data + i * size, .count = 1 };

		e->values[i] = tensor->type == TFLITE_INT32 ? fb_vector_i32(&one, 0) :
							      fb_vector_i64(&one, 0);
		/* No size is beyond; sums and products of two stay in 64 bits. */
		if (e->values[i] < INT32_MIN || e->values[i] > INT32_MAX)
			return;
	}
	e->num_values = (uint32_t)n;
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

static int unknown_input(const struct map_model *model, const struct tflite_subgraph *sub,
			 const char *name)
{
	const struct tflite_signature *s = model->signature;
	struct text first = { "", 0 };

	if (s && s->num_inputs)
		first = s->inputs[0].name;
	else if (sub->inputs.count)
		first = sub->tensors[fb_vector_i32(&sub->inputs, 0)].name;
	return diag_fail(model->diag, "the model has no input '%s', it has '%s'%s", name ? name : "",
			 TEXT(first), sub->inputs.count > 1 ? " and others" : "");
}

/* The shapes that the caller wishes. Does one differ from that in the file? */
static int apply_wishes(const struct map_model *model, const struct tflite_subgraph *sub,
			struct extent *extents, bool *differ)
{
	uint32_t i, j;

	for (i = 0; i < model->num_shapes; i++) {
		const struct nntflite_shape *wish = &model->shapes[i];
		int64_t tensor = wish->input ? find_input(model, sub, wish->input) : -1;
		struct extent e = extent_unknown;

		if (tensor < 0)
			return unknown_input(model, sub, wish->input);
		if (wish->rank == 0 || wish->rank > TFLITE_MAX_RANK)
			return diag_fail(model->diag, "input '%s': a shape of rank %" PRIu32
					 ", expected 1 to %d", wish->input, wish->rank,
					 TFLITE_MAX_RANK);
		for (j = 0; j < wish->rank; j++) {
			e.dims[j] = wish->dims[j];
			if (wish->dims[j] == 0 || wish->dims[j] > INT32_MAX)
				return diag_fail(model->diag, "input '%s': dimension %" PRIu32
						 " of size %" PRIu32, wish->input, j,
						 wish->dims[j]);
		}
		e.rank = (int32_t)wish->rank;
		if (e.rank != extents[tensor].rank ||
		    memcmp(e.dims, extents[tensor].dims, wish->rank * sizeof(*e.dims)))
			*differ = true;
		extents[tensor] = e;
	}
	return 0;
}

/* The tensors that no operator computes. */
static int begin(const struct map_model *model, const struct tflite_subgraph *sub, bool is_main,
		 struct extent *extents, bool *differ)
{
	uint32_t i;

	for (i = 0; i < sub->num_tensors; i++) {
		extent_in_file(&sub->tensors[i], &extents[i]);
		if (sub->tensors[i].data)
			constant_values(&sub->tensors[i], &extents[i]);
	}
	/* A buffer of an input is no constant. */
	for (i = 0; i < sub->inputs.count; i++)
		extents[fb_vector_i32(&sub->inputs, i)].num_values = 0;
	if (is_main)
		return apply_wishes(model, sub, extents, differ);
	/* What comes in may have any shape if the file does not fix it. */
	for (i = 0; i < sub->inputs.count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(&sub->inputs, i);

		if (model->num_shapes || !is_fixed(&sub->tensors[index]))
			extents[index] = extent_unknown;
	}
	*differ = model->num_shapes != 0;
	return 0;
}

/*
 * Follow the operators. What the file says of a result holds if it says that the shape is
 * fixed, and no input has another shape than in the file.
 */
static void follow(const struct map_model *model, const struct tflite_subgraph *sub,
		   struct extent *extents, bool differ)
{
	struct nntflite_diag ignored;
	struct fb_reader reader = model->tflite->reader;
	uint32_t i, j;

	diag_init(&ignored);
	reader.diag = &ignored;
	for (i = 0; i < sub->num_operators; i++) {
		struct inference inf = {
			.sub = sub, .op = &sub->operators[i], .options = sub->operators[i].options,
			.extents = extents,
		};

		inf.options.reader = &reader;
		infer_operator(&inf);
		for (j = 0; j < inf.op->outputs.count; j++) {
			uint32_t index = (uint32_t)fb_vector_i32(&inf.op->outputs, j);
			const struct tflite_tensor *tensor = &sub->tensors[index];
			struct extent said;

			if (differ || !is_fixed(tensor))
				continue;
			extent_in_file(tensor, &said);
			memcpy(said.values, extents[index].values, sizeof(said.values));
			said.num_values = extents[index].num_values;
			extents[index] = said;
		}
	}
}

/* As the HAL has it: a scalar has the shape [1], 0 stands for unknown. */
static void to_shape(const struct extent *e, struct shape *shape)
{
	int32_t i;

	*shape = (struct shape){ .rank = e->rank < 0 ? 0 : (uint32_t)e->rank };
	for (i = 0; i < e->rank; i++)
		shape->dims[i] = e->dims[i] > 0 && e->dims[i] <= INT32_MAX ? (uint32_t)e->dims[i] : 0;
	if (e->rank == 0) {
		shape->rank = 1;
		shape->dims[0] = 1;
	}
}

int resolve_shapes(const struct map_model *model, uint32_t subgraph, bool is_main,
		   struct shape *shapes)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[subgraph];
	struct extent *extents = calloc((size_t)sub->num_tensors + 1, sizeof(*extents));
	bool differ = false;
	uint32_t i;
	int ret;

	if (!extents)
		return diag_fail_memory(model->diag);
	ret = begin(model, sub, is_main, extents, &differ);
	if (!ret) {
		follow(model, sub, extents, differ);
		for (i = 0; i < sub->num_tensors; i++)
			to_shape(&extents[i], &shapes[i]);
	}
	free(extents);
	return ret;
}
