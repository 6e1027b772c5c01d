// SPDX-License-Identifier: MIT
/*
 * Changes of models with IF and WHILE. Some certainly break a rule for these operations and
 * their subgraphs; others leave a model valid and make it fail when it runs. As in
 * mutate_model.c, each rule picks a place; if the rule does not apply there, it changes nothing
 * and returns false.
 */
#include "mutate_model.h"

#include <string.h>

/* An IF or WHILE of a model. */
struct site {
	struct hal_case *h;
	struct hal_graph *g;		/* where it is */
	struct nnhal_operation *op;
	uint32_t *inputs, *outputs;
	bool is_if;
	uint32_t first_graph;		/* input that is the first of two subgraphs */
	uint32_t first_value;		/* input that becomes the first one of those */
	struct hal_graph *inner[2];	/* branches; or condition and body */
};

/* ---- places ---- */

static bool is_control(const struct nnhal_operation *o)
{
	return o->type == NNHAL_OPERATION_IF || o->type == NNHAL_OPERATION_WHILE;
}

static void set_site(struct site *s, struct hal_case *h, struct hal_graph *g, uint32_t i)
{
	s->h = h;
	s->g = g;
	s->op = &g->operations[i];
	s->inputs = g->op_inputs[i];
	s->outputs = g->op_outputs[i];
	s->is_if = s->op->type == NNHAL_OPERATION_IF;
	s->first_graph = s->is_if ? 1 : 0;
	s->first_value = s->first_graph + 2;
	for (uint32_t k = 0; k < 2; k++)
		s->inner[k] = &h->graphs[g->operands[s->inputs[s->first_graph + k]]
					 .location.offset + 1];
}

/* Any of them; false if the model has none. */
static bool find_site(struct mutation_rng *r, struct hal_case *h, struct site *s)
{
	uint32_t count = 0, wanted;

	for (uint32_t i = 0; i < h->num_graphs; i++) {
		for (uint32_t k = 0; k < h->graphs[i].sg->num_operations; k++)
			count += is_control(&h->graphs[i].operations[k]);
	}
	if (!count)
		return false;
	wanted = pick(r, count);
	for (uint32_t i = 0; i < h->num_graphs; i++) {
		struct hal_graph *g = &h->graphs[i];

		for (uint32_t k = 0; k < g->sg->num_operations; k++) {
			if (is_control(&g->operations[k]) && !wanted--) {
				set_site(s, h, g, k);
				return true;
			}
		}
	}
	return false;
}

static struct nnhal_operand *outer(const struct site *s, uint32_t input)
{
	return &s->g->operands[s->inputs[input]];
}

static struct nnhal_operand *outer_output(const struct site *s, uint32_t output)
{
	return &s->g->operands[s->outputs[output]];
}

static struct nnhal_operand *inner_input(struct hal_graph *g, uint32_t i)
{
	return &g->operands[g->inputs[i]];
}

static struct nnhal_operand *inner_output(struct hal_graph *g, uint32_t i)
{
	return &g->operands[g->outputs[i]];
}

/* Dimensions of an operand that may be written to. */
static uint32_t *dims_of(struct hal_graph *g, const struct nnhal_operand *o)
{
	return g->dims[o - g->operands];
}

static struct nnhal_operand *graph_operand(struct mutation_rng *r, const struct site *s)
{
	return outer(s, s->first_graph + pick(r, 2));
}

/* A number below that of values that are passed; UINT32_MAX if there are none. */
static uint32_t pick_value(struct mutation_rng *r, const struct site *s)
{
	uint32_t count = s->op->num_inputs - s->first_value;

	return count ? pick(r, count) : UINT32_MAX;
}

static bool is_constant(const struct nnhal_operand *o)
{
	return o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

/* ---- references ---- */

static bool missing_graph(struct mutation_rng *r, struct site *s)
{
	uint32_t count = s->h->model.num_referenced;

	graph_operand(r, s)->location.offset = pick(r, 2) ? count + pick(r, 2) : 0xffffffff;
	return true;
}

/* Any operand of @g that refers to referenced subgraph @number. */
static bool refers_to(const struct hal_graph *g, uint32_t number)
{
	for (uint32_t i = 0; i < g->sg->num_operands; i++) {
		if (g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH &&
		    g->operands[i].location.offset == number)
			return true;
	}
	return false;
}

/* To the subgraph that the operation is in, or one that refers to that. */
static bool recursion(struct mutation_rng *r, struct site *s)
{
	uint32_t count = s->h->model.num_referenced;
	uint32_t own = (uint32_t)(s->g - s->h->graphs) - 1, target = own, first;

	if (s->g == s->h->graphs)
		return false;
	first = pick(r, count);
	for (uint32_t i = 0; i < count && pick(r, 4); i++) {
		if (refers_to(&s->h->graphs[(first + i) % count + 1], own))
			target = (first + i) % count;
	}
	graph_operand(r, s)->location.offset = target;
	return true;
}

static bool unused_graph(struct mutation_rng *r, struct site *s)
{
	uint32_t k = pick(r, 2), references = 0;
	uint32_t number = outer(s, s->first_graph + k)->location.offset;
	struct nnhal_operand *o = outer(s, s->first_graph + k);

	for (uint32_t i = 0; i < s->h->num_graphs; i++) {
		for (uint32_t n = 0; n < s->h->graphs[i].sg->num_operands; n++)
			references += s->h->graphs[i].operands[n].lifetime ==
				      NNHAL_LIFETIME_SUBGRAPH &&
				      s->h->graphs[i].operands[n].location.offset == number;
	}
	if (references != 1)
		return false;
	o->location.offset = outer(s, s->first_graph + 1 - k)->location.offset;
	return true;
}

static bool graph_with_place(struct mutation_rng *r, struct site *s)
{
	struct nnhal_operand *o = graph_operand(r, s);

	switch (pick(r, 5)) {
	case 0:
		o->location.length = 4;
		break;
	case 1:
		o->location.pool_index = 1;
		break;
	case 2:
		o->type = NNHAL_OPERAND_TENSOR_INT32;
		break;
	case 3:
		o->type = NNHAL_OPERAND_INT32;
		break;
	default:
		o->lifetime = NNHAL_LIFETIME_NO_VALUE;
		break;
	}
	return true;
}

static bool value_for_graph(struct mutation_rng *r, struct site *s)
{
	uint32_t i = pick_value(r, s);

	if (i == UINT32_MAX)
		return false;
	s->inputs[s->first_graph + pick(r, 2)] = s->inputs[s->first_value + i];
	hal_graph_count_consumers(s->g);
	return true;
}

static bool graph_for_value(struct mutation_rng *r, struct site *s)
{
	uint32_t i = pick_value(r, s);

	if (i == UINT32_MAX)
		return false;
	s->inputs[s->first_value + i] = s->inputs[s->first_graph + pick(r, 2)];
	hal_graph_count_consumers(s->g);
	return true;
}

/* ---- numbers of operands ---- */

static bool number_of_inputs(struct mutation_rng *r, struct site *s)
{
	uint32_t *count = &s->op->num_inputs;

	if (pick(r, 2)) {
		--*count;
	} else {
		s->inputs[*count] = s->inputs[*count - 1];
		++*count;
	}
	hal_graph_count_consumers(s->g);
	return true;
}

/* A constant or omitted operand of a subgraph becomes its input: that is valid by itself. */
static bool inner_number_of_inputs(struct mutation_rng *r, struct site *s)
{
	struct hal_graph *g = s->inner[pick(r, 2)];
	uint32_t n = g->sg->num_operands, first = pick(r, n);

	for (uint32_t k = 0; k < n; k++) {
		struct nnhal_operand *o = &g->operands[(first + k) % n];

		if (!is_constant(o) && o->lifetime != NNHAL_LIFETIME_NO_VALUE)
			continue;
		o->lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
		o->location = (struct nnhal_data_location){ 0 };
		g->inputs[g->sg->num_inputs++] = (first + k) % n;
		return true;
	}
	return false;
}

/* Another result of a subgraph becomes an output, or an output a result like others. */
static bool inner_number_of_outputs(struct mutation_rng *r, struct site *s)
{
	uint32_t k = pick(r, 2), n;
	struct hal_graph *g = s->inner[k];
	bool is_body = !s->is_if && k == 1;

	if (pick(r, 2)) {
		/* A body may have more outputs than the loop. */
		if (is_body && g->sg->num_outputs > s->op->num_outputs)
			return false;
		inner_output(g, --g->sg->num_outputs)->lifetime =
			NNHAL_LIFETIME_TEMPORARY_VARIABLE;
		return true;
	}
	n = g->sg->num_operands;
	for (uint32_t i = 0; i < n && !is_body; i++) {
		if (g->operands[i].lifetime != NNHAL_LIFETIME_TEMPORARY_VARIABLE)
			continue;
		g->operands[i].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
		g->outputs[g->sg->num_outputs++] = i;
		return true;
	}
	return false;
}

/* ---- conditions ---- */

static bool condition_of_if(struct mutation_rng *r, struct site *s)
{
	struct nnhal_operand *o = outer(s, 0);
	uint32_t i;

	if (!s->is_if)
		return false;
	switch (pick(r, 4)) {
	case 0:
		o->num_dimensions = pick(r, 2) * 2;
		dims_of(s->g, o)[1] = 1;
		return true;
	case 1:
		dims_of(s->g, o)[0] = pick(r, 2) * 2;
		return true;
	default:
		i = pick_value(r, s);
		if (i == UINT32_MAX)
			return false;
		o = outer(s, s->first_value + i);
		if (o->type == NNHAL_OPERAND_TENSOR_BOOL8 && o->num_dimensions == 1 &&
		    o->dimensions[0] == 1)
			return false;
		s->inputs[0] = s->inputs[s->first_value + i];
		hal_graph_count_consumers(s->g);
		return true;
	}
}

static bool condition_of_while(struct mutation_rng *r, struct site *s)
{
	struct nnhal_operand *o;

	if (s->is_if)
		return false;
	o = inner_output(s->inner[0], 0);
	switch (pick(r, 3)) {
	case 0:
		o->num_dimensions = pick(r, 2) * 2;
		dims_of(s->inner[0], o)[1] = 1;
		break;
	case 1:
		dims_of(s->inner[0], o)[0] = pick(r, 2) * 2;
		break;
	default:
		o->type = NNHAL_OPERAND_TENSOR_INT32;
		break;
	}
	return true;
}

/* ---- operands that values pass between ---- */

/*
 * An operand of one of the subgraphs, and the one outside that it has to be like: an input,
 * or an output of a branch, or an output of a body and the input that it feeds.
 */
static bool find_pair(struct mutation_rng *r, struct site *s, struct hal_graph **g,
		      struct nnhal_operand **inner, struct nnhal_operand **like)
{
	uint32_t k = pick(r, 2), i;

	*g = s->inner[k];
	if (pick(r, 2) || (!s->is_if && !k)) {
		i = pick_value(r, s);
		if (i == UINT32_MAX)
			return false;
		*inner = inner_input(*g, i);
		*like = outer(s, s->first_value + i);
		return true;
	}
	i = pick(r, (*g)->sg->num_outputs);
	*inner = inner_output(*g, i);
	*like = s->is_if ? outer_output(s, i) : inner_input(*g, i);
	return true;
}

static bool inner_type(struct mutation_rng *r, struct site *s)
{
	struct nnhal_operand *o, *like;
	struct hal_graph *g;

	if (!find_pair(r, s, &g, &o, &like))
		return false;
	switch (o->type) {
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		o->type = NNHAL_OPERAND_TENSOR_FLOAT16;
		return true;
	case NNHAL_OPERAND_TENSOR_FLOAT16:
	case NNHAL_OPERAND_TENSOR_BOOL8:
		o->type = NNHAL_OPERAND_TENSOR_FLOAT32;
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		o->type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
		o->zero_point = o->zero_point < 128 ? o->zero_point : 0;
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		o->type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM;
		o->zero_point = o->zero_point < 0 ? 0 : o->zero_point;
		return true;
	case NNHAL_OPERAND_INT32:
		o->type = NNHAL_OPERAND_FLOAT32;
		return true;
	default:
		return false;
	}
}

static bool inner_shape(struct mutation_rng *r, struct site *s)
{
	struct nnhal_operand *o, *like;
	struct hal_graph *g;
	uint32_t d;

	if (!find_pair(r, s, &g, &o, &like) || !o->num_dimensions || !like->num_dimensions ||
	    o->num_dimensions > 7)
		return false;
	if (!pick(r, 4)) {
		dims_of(g, o)[o->num_dimensions++] = 1;
		return true;
	}
	d = pick(r, o->num_dimensions);
	if (!like->dimensions[d])
		return false;
	dims_of(g, o)[d] = like->dimensions[d] + 1;
	return true;
}

static bool inner_quantization(struct mutation_rng *r, struct site *s)
{
	struct nnhal_operand *o, *like;
	struct hal_graph *g;

	if (!find_pair(r, s, &g, &o, &like))
		return false;
	switch (o->type) {
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		if (pick(r, 2)) {
			/* The lowest bit stays in the range of every type. */
			o->zero_point ^= 1;
			return true;
		}
		o->scale *= 2;
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		o->scale *= 2;
		return true;
	case NNHAL_OPERAND_TENSOR_INT32:
		o->scale += 0.5f;
		return true;
	default:
		return false;
	}
}

/* Of what may be unknown elsewhere. */
static bool size_of_while(struct mutation_rng *r, struct site *s)
{
	struct hal_graph *g = s->g;
	struct nnhal_operand *o, *like;
	uint32_t i;

	if (s->is_if)
		return false;
	if (pick(r, 2)) {
		if (!find_pair(r, s, &g, &o, &like))
			return false;
	} else if (pick(r, 2)) {
		o = outer_output(s, pick(r, s->op->num_outputs));
	} else {
		i = pick_value(r, s);
		if (i == UINT32_MAX)
			return false;
		o = outer(s, s->first_value + i);
	}
	if (!o->num_dimensions || is_constant(o))
		return false;
	if (pick(r, 4))
		dims_of(g, o)[pick(r, o->num_dimensions)] = 0;
	else
		o->num_dimensions = 0;
	return true;
}

static bool order_of_outputs(struct mutation_rng *r, struct site *s)
{
	struct hal_graph *g = s->inner[s->is_if ? pick(r, 2) : 1];
	const struct nnhal_operand *a, *b;
	uint32_t i, k, swap;

	i = pick(r, g->sg->num_outputs);
	k = pick(r, g->sg->num_outputs);
	a = inner_output(g, i);
	b = inner_output(g, k);
	if (a->type == b->type && a->scale == b->scale && a->zero_point == b->zero_point)
		return false;
	swap = g->outputs[i];
	g->outputs[i] = g->outputs[k];
	g->outputs[k] = swap;
	return true;
}

static bool older_version(struct mutation_rng *r, struct site *s)
{
	s->h->model.hal_version = NNHAL_HAL_1_0 + pick(r, 3);
	return true;
}

static const struct {
	const char *name;
	bool (*apply)(struct mutation_rng *r, struct site *s);
} rules[] = {
	{ "B14 subgraph that does not exist", missing_graph },
	{ "B25 subgraph that refers to itself", recursion },
	{ "B24 subgraph that nothing refers to", unused_graph },
	{ "B14 place or type of a subgraph", graph_with_place },
	{ "B27, B28 operand in place of a subgraph", value_for_graph },
	{ "B29 subgraph in place of an operand", graph_for_value },
	{ "B27, B28 number of inputs of IF or WHILE", number_of_inputs },
	{ "B27, B28 number of inputs of a subgraph", inner_number_of_inputs },
	{ "B27, B28 number of outputs of a subgraph", inner_number_of_outputs },
	{ "B27 condition of IF", condition_of_if },
	{ "B28 condition of WHILE", condition_of_while },
	{ "B29 type of an operand that is passed", inner_type },
	{ "B29 shape of an operand that is passed", inner_shape },
	{ "B29 quantization of an operand that is passed", inner_quantization },
	{ "B30 size of an operand of WHILE", size_of_while },
	{ "B29 order of the outputs of a subgraph", order_of_outputs },
	{ "B17 version of the HAL without IF and WHILE", older_version },
};

#define NUM_RULES	(sizeof(rules) / sizeof(rules[0]))

uint32_t num_control_rules(void)
{
	return NUM_RULES;
}

const char *control_rule_name(uint32_t rule)
{
	return rules[rule].name;
}

bool break_control(struct mutation_rng *r, struct hal_case *h, uint32_t rule)
{
	struct site s;

	return find_site(r, h, &s) && rules[rule].apply(r, &s);
}

/* ---- valid models that fail ---- */

/* An IF or WHILE of the main subgraph, which is reached in any case. */
static bool find_main_site(struct mutation_rng *r, struct hal_case *h, uint32_t type,
			   struct site *s)
{
	struct hal_graph *g = &h->graphs[0];
	uint32_t n = g->sg->num_operations, first = pick(r, n);

	for (uint32_t i = 0; i < n; i++) {
		if (g->operations[(first + i) % n].type == type) {
			set_site(s, h, g, (first + i) % n);
			return true;
		}
	}
	return false;
}

/* Does an operation accept all values of its operands? */
static bool never_fails(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERATION_ADD:
	case NNHAL_OPERATION_SUB:
	case NNHAL_OPERATION_MAXIMUM:
	case NNHAL_OPERATION_MINIMUM:
	case NNHAL_OPERATION_LOGICAL_AND:
	case NNHAL_OPERATION_LOGICAL_NOT:
	case NNHAL_OPERATION_LOGICAL_OR:
		return true;
	default:
		return false;
	}
}

static bool is_integer_comparison(const struct hal_graph *g, const struct nnhal_operation *o)
{
	switch (o->type) {
	case NNHAL_OPERATION_GREATER:
	case NNHAL_OPERATION_GREATER_EQUAL:
	case NNHAL_OPERATION_LESS:
	case NNHAL_OPERATION_LESS_EQUAL:
	case NNHAL_OPERATION_NOT_EQUAL:
		return g->operands[o->inputs[0]].type == NNHAL_OPERAND_TENSOR_INT32 &&
		       g->operands[o->inputs[0]].num_dimensions == 1 &&
		       g->operands[o->inputs[0]].dimensions[0] == 1;
	default:
		return false;
	}
}

/* From now on the loop compares a value with itself. */
static bool endless_loop(struct mutation_rng *r, struct hal_case *h)
{
	struct hal_graph *condition;
	struct site s;

	if (!find_main_site(r, h, NNHAL_OPERATION_WHILE, &s))
		return false;
	for (uint32_t i = 0; i < s.inner[1]->sg->num_operations; i++) {
		if (!never_fails(s.inner[1]->operations[i].type))
			return false;
	}
	condition = s.inner[0];
	if (condition->sg->num_operations != 1 ||
	    !is_integer_comparison(condition, &condition->operations[0]))
		return false;
	condition->operations[0].type = NNHAL_OPERATION_EQUAL;
	condition->op_inputs[0][1] = condition->op_inputs[0][0];
	hal_graph_count_consumers(condition);
	return true;
}

static bool omitted_condition(struct mutation_rng *r, struct hal_case *h)
{
	struct site s;

	if (!find_main_site(r, h, NNHAL_OPERATION_IF, &s))
		return false;
	for (uint32_t i = 0; i < s.g->sg->num_inputs; i++) {
		if (s.g->inputs[i] == s.inputs[0]) {
			h->in_args[i] = (struct nnhal_request_argument){ .has_no_value = true };
			return true;
		}
	}
	return false;
}

static const struct {
	const char *name;
	bool (*apply)(struct mutation_rng *r, struct hal_case *h);
	enum nnhal_status status;
} failures[] = {
	{ "D31 loop that does not end", endless_loop, NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT },
	{ "D11 condition that is omitted", omitted_condition, NNHAL_STATUS_GENERAL_FAILURE },
};

uint32_t num_failures(void)
{
	return sizeof(failures) / sizeof(failures[0]);
}

const char *failure_name(uint32_t failure)
{
	return failures[failure].name;
}

enum nnhal_status failure_status(uint32_t failure)
{
	return failures[failure].status;
}

bool make_fail(struct mutation_rng *r, struct hal_case *h, uint32_t failure)
{
	return failures[failure].apply(r, h);
}
