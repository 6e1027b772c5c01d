// SPDX-License-Identifier: MIT
/*
 * Shapes of tensors before the model runs.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "find_name.h"
#include "infer.h"
#include "map_model.h"
#include "map_table.h"
#include "mapper.h"
#include "references.h"

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

static int unknown_input(const struct map_model *model, const char *name)
{
	char names[200];

	return diag_fail(model->diag, "the model has no input '%s', it has %s", name ? name : "",
			 list_names(model, true, names, sizeof(names)));
}

/* The shapes that the caller wishes. Does one differ from that in the file? */
static int apply_wishes(const struct map_model *model, const struct tflite_subgraph *sub,
			struct extent *extents, bool *differ)
{
	uint32_t i, j;

	for (i = 0; i < model->num_shapes; i++) {
		const struct nntflite_shape *wish = &model->shapes[i];
		uint32_t input = wish->input ? find_name(model, true, wish->input) : NNTFLITE_NONE;
		struct extent e = extent_unknown;
		uint32_t tensor;

		if (input == NNTFLITE_NONE)
			return unknown_input(model, wish->input);
		tensor = (uint32_t)fb_vector_i32(&sub->inputs, input);
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

/* The tensors that no operator computes. @inputs: what comes in; NULL in the main subgraph. */
static int begin(const struct map_model *model, const struct tflite_subgraph *sub,
		 const struct extent *inputs, struct extent *extents, bool *differ)
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
	if (!inputs)
		return apply_wishes(model, sub, extents, differ);
	for (i = 0; i < sub->inputs.count; i++) {
		struct extent *e = &extents[fb_vector_i32(&sub->inputs, i)];

		if (e->rank != inputs[i].rank ||
		    memcmp(e->dims, inputs[i].dims, sizeof(e->dims[0]) * (size_t)e->rank))
			*differ = true;
		*e = inputs[i];
		e->num_values = 0;
	}
	return 0;
}

static void follow(struct map_model *model, const struct tflite_subgraph *sub,
		   struct extent *extents, bool differ, uint32_t depth);

/* The results of a subgraph for what comes in; unknown if it cannot be followed. */
static void follow_call(struct map_model *model, uint32_t index, const struct inference *inf,
			uint32_t first, struct extent *results, uint32_t depth)
{
	const struct tflite_subgraph *sub;
	struct extent *inputs, *extents = NULL;
	bool differ = false;
	uint64_t cost;
	uint32_t i;

	for (i = 0; i < inf->op->outputs.count; i++)
		results[i] = extent_unknown;
	if (index >= model->tflite->num_subgraphs || depth == 0)
		return;
	sub = &model->tflite->subgraphs[index];
	if (inf->op->inputs.count != sub->inputs.count + first ||
	    inf->op->outputs.count != sub->outputs.count)
		return;
	cost = (uint64_t)sub->num_operators + sub->num_tensors + sub->num_references;
	if (model->infer_left < cost)
		return;
	model->infer_left -= cost;
	inputs = calloc((size_t)sub->inputs.count + 1, sizeof(*inputs));
	extents = calloc((size_t)sub->num_tensors + 1, sizeof(*extents));
	if (inputs && extents) {
		for (i = 0; i < sub->inputs.count; i++)
			inputs[i] = *infer_input(inf, i + first);
		begin(model, sub, inputs, extents, &differ);
		follow(model, sub, extents, differ, depth - 1);
		for (i = 0; i < sub->outputs.count; i++)
			results[i] = extents[fb_vector_i32(&sub->outputs, i)];
	}
	free(inputs);
	free(extents);
}

/* What both of two branches may give. */
static void join(struct extent *a, const struct extent *b)
{
	int32_t i;

	a->num_values = 0;
	if (a->rank != b->rank) {
		*a = extent_unknown;
		return;
	}
	for (i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i])
			a->dims[i] = -1;
}

/* IF, WHILE, CALL, and what does the same. */
static void follow_control(struct map_model *model, struct inference *inf,
			   const struct references *refs, uint32_t depth)
{
	struct extent *a = calloc((size_t)inf->op->outputs.count + 1, sizeof(*a));
	struct extent *b = calloc((size_t)inf->op->outputs.count + 1, sizeof(*b));
	uint32_t i;

	for (i = 0; i < inf->op->outputs.count; i++)
		infer_set(inf, i, &extent_unknown);
	if (a && b && refs->like != TFLITE_WHILE)
		follow_call(model, refs->subgraphs[0], inf, refs->first, a, depth);
	if (a && b && refs->like == TFLITE_IF)
		follow_call(model, refs->subgraphs[1], inf, refs->first, b, depth);
	for (i = 0; a && b && i < inf->op->outputs.count; i++) {
		/* A value of a loop has one shape: the mapping refuses loops that change it. */
		if (refs->like == TFLITE_WHILE)
			a[i] = *infer_input(inf, i);
		a[i].num_values = 0;
		if (refs->like == TFLITE_IF)
			join(&a[i], &b[i]);
		infer_set(inf, i, &a[i]);
	}
	free(a);
	free(b);
}

static void forget_results(struct inference *inf)
{
	uint32_t i;

	for (i = 0; i < inf->op->outputs.count; i++)
		infer_set(inf, i, &extent_unknown);
}

/*
 * Follow the operators. What the file says of a result holds if it says that the shape is
 * fixed, and no input has another shape than in the file. That of a variable always holds.
 */
static void follow(struct map_model *model, const struct tflite_subgraph *sub,
		   struct extent *extents, bool differ, uint32_t depth)
{
	uint32_t i, j;

	for (i = 0; i < sub->num_operators; i++) {
		struct tflite_operator op = sub->operators[i];
		struct inference inf = {
			.sub = sub, .op = &op, .options = op.options, .extents = extents,
		};
		/* A fault of these options is none of the operators behind. */
		struct fb_reader reader = model->tflite->reader;
		int32_t code = op_same_as(op.code);
		struct nntflite_diag ignored;
		struct references refs;

		diag_init(&ignored);
		reader.diag = &ignored;
		inf.options.reader = &reader;
		inf.options.present &= code == op.code;
		op.code = code;
		if (op_references(&op, &reader, &refs))
			follow_control(model, &inf, &refs, depth);
		else
			infer_operator(&inf);
		if (fb_failed(&reader))
			forget_results(&inf);
		for (j = 0; j < inf.op->outputs.count; j++) {
			uint32_t index = (uint32_t)fb_vector_i32(&inf.op->outputs, j);
			const struct tflite_tensor *tensor = &sub->tensors[index];
			struct extent said;

			if ((differ && code != TFLITE_READ_VARIABLE) || !is_fixed(tensor))
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
		shape->scalar = true;
	}
}

static void from_shape(const struct shape *shape, struct extent *e)
{
	uint32_t i;

	*e = extent_unknown;
	if (shape->rank == 0)
		return;
	e->rank = shape->scalar ? 0 : (int32_t)shape->rank;
	for (i = 0; i < shape->rank && !shape->scalar; i++)
		e->dims[i] = shape->dims[i] ? (int64_t)shape->dims[i] : -1;
}

int resolve_shapes(struct map_model *model, uint32_t subgraph, const struct shape *given,
		   struct shape *shapes)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[subgraph];
	struct extent *extents = calloc((size_t)sub->num_tensors + 1, sizeof(*extents));
	struct extent *inputs = calloc((size_t)sub->inputs.count + 1, sizeof(*inputs));
	bool differ = false;
	uint32_t i;
	int ret;

	if (!extents || !inputs) {
		free(extents);
		free(inputs);
		return diag_fail_memory(model->diag);
	}
	for (i = 0; given && i < sub->inputs.count; i++)
		from_shape(&given[i], &inputs[i]);
	ret = begin(model, sub, given ? inputs : NULL, extents, &differ);
	if (!ret) {
		follow(model, sub, extents, differ, MAX_DEPTH);
		for (i = 0; i < sub->num_tensors; i++)
			to_shape(&extents[i], &shapes[i]);
	}
	free(extents);
	free(inputs);
	return ret;
}
