// SPDX-License-Identifier: MIT
/*
 * Random changes of requests.
 */
#include "mutate_model.h"

#include <string.h>

static uint32_t wrong_dims[8] = { 3, 1000003, 0, 7, 1, 1, 1, 1 };

static const struct hal_graph *main_graph(const struct hal_case *h)
{
	return &h->graphs[0];
}

/* One argument of the request. */
static struct nnhal_request_argument *argument(struct mutation_rng *r, struct hal_case *h)
{
	uint32_t i = pick(r, h->request.num_inputs + h->request.num_outputs);

	return i < h->request.num_inputs ? &h->in_args[i] :
					   &h->out_args[i - h->request.num_inputs];
}

static bool wrong_pool(struct mutation_rng *r, struct hal_case *h)
{
	struct nnhal_request_argument *a = argument(r, h);

	if (a->has_no_value)
		return false;
	a->location.pool_index = 1 + pick(r, 2) * 0xfffffffe;
	return true;
}

static bool beyond_pool(struct mutation_rng *r, struct hal_case *h)
{
	struct nnhal_request_argument *a = argument(r, h);

	if (a->has_no_value)
		return false;
	a->location.offset = pick(r, 2) ? (uint32_t)h->size + 1 : 0xffffffff;
	return true;
}

static bool wrong_input_length(struct mutation_rng *r, struct hal_case *h)
{
	struct nnhal_request_argument *a = &h->in_args[pick(r, h->request.num_inputs)];

	if (a->has_no_value || !a->location.length)
		return false;
	if (pick(r, 2))
		a->location.length--;
	else
		a->location.length++;
	return true;
}

static bool wrong_count(struct mutation_rng *r, struct hal_case *h)
{
	if (pick(r, 2)) {
		/* hal_case_init() leaves room for one more. */
		h->request.num_inputs += pick(r, 2) ? 1 : -1;
	} else {
		h->request.num_outputs += pick(r, 2) ? 1 : -1;
	}
	return true;
}

static bool wrong_rank(struct mutation_rng *r, struct hal_case *h)
{
	uint32_t i = pick(r, h->request.num_inputs);
	const struct nnhal_operand *o = &main_graph(h)->operands[main_graph(h)->inputs[i]];

	/* A tensor without dimensions has any rank. */
	if (h->in_args[i].has_no_value || o->num_dimensions > 6 ||
	    (!o->num_dimensions && !nnhal_operand_type_is_scalar(o->type)))
		return false;
	h->in_args[i].num_dimensions = o->num_dimensions + 1;
	h->in_args[i].dimensions = wrong_dims;
	return true;
}

static bool wrong_dimension(struct mutation_rng *r, struct hal_case *h)
{
	uint32_t i = pick(r, h->request.num_inputs);
	const struct nnhal_operand *o = &main_graph(h)->operands[main_graph(h)->inputs[i]];

	/* The second one is no model's. */
	if (h->in_args[i].has_no_value || o->num_dimensions < 2 || !o->dimensions[1])
		return false;
	h->in_args[i].num_dimensions = o->num_dimensions;
	h->in_args[i].dimensions = wrong_dims;
	return true;
}

static bool omitted_with_place(struct mutation_rng *r, struct hal_case *h)
{
	struct nnhal_request_argument *a = argument(r, h);

	if (!a->location.offset && !a->location.length)
		return false;
	a->has_no_value = true;
	return true;
}

static bool overlap(struct mutation_rng *r, struct hal_case *h)
{
	struct nnhal_request_argument *out = &h->out_args[pick(r, h->request.num_outputs)];
	struct nnhal_request_argument *other = argument(r, h);

	if (out == other || other->has_no_value || !other->location.length ||
	    !out->location.length)
		return false;
	out->location.offset = other->location.offset;
	/* What is longer than the rest of the pool is refused for that. */
	return true;
}

static bool no_pool(struct mutation_rng *r, struct hal_case *h)
{
	switch (pick(r, 3)) {
	case 0:
		h->request.num_pools = 0;
		break;
	case 1:
		h->request_pools[0].memory = NULL;
		break;
	default:
		h->request_pools[0].token = 1 + pick(r, 1000);
		break;
	}
	return true;
}

static const struct {
	const char *name;
	bool (*apply)(struct mutation_rng *r, struct hal_case *h);
} rules[] = {
	{ "pool index of an argument", wrong_pool },
	{ "argument beyond its pool", beyond_pool },
	{ "length of an input", wrong_input_length },
	{ "number of arguments", wrong_count },
	{ "rank of an input", wrong_rank },
	{ "dimension of an input", wrong_dimension },
	{ "omitted argument with a place", omitted_with_place },
	{ "overlapping arguments", overlap },
	{ "pools", no_pool },
};

#define NUM_RULES	(sizeof(rules) / sizeof(rules[0]))

uint32_t num_request_rules(void)
{
	return NUM_RULES;
}

const char *request_rule_name(uint32_t rule)
{
	return rules[rule].name;
}

bool break_request(struct mutation_rng *r, struct hal_case *h, uint32_t rule)
{
	return rules[rule].apply(r, h);
}

void disturb_request(struct mutation_rng *r, struct hal_case *h)
{
	struct nnhal_request_argument *a = argument(r, h);

	switch (pick(r, 8)) {
	case 0:
		a->location.offset = pick(r, (uint32_t)h->size + 2);
		break;
	case 1:
		a->location.length = pick(r, 2) ? pick(r, 64) : pick(r, 0xffffffff);
		break;
	case 2:
		a->num_dimensions = pick(r, 9);
		a->dimensions = wrong_dims;
		break;
	case 3:
		a->has_no_value = true;
		a->location = (struct nnhal_data_location){ 0 };
		break;
	default:
		/* Values that operations take as shapes, axes or sizes. */
		disturb_bytes(r, h->map, (uint32_t)h->size);
		break;
	}
}
