// SPDX-License-Identifier: MIT
/*
 * Random changes of HAL models: changes that certainly break a rule, and arbitrary ones. Each
 * rule is a function that picks the place to break it; if the model has no such place, the
 * function changes nothing and returns false. Lists of indexes grow in place: hal_case_init()
 * leaves room for one more entry.
 */
#include "mutate_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t pick(struct mutation_rng *r, uint32_t n)
{
	r->state = r->state * 6364136223846793005ull + 1442695040888963407ull;
	return n ? (uint32_t)(r->state >> 33) % n : 0;
}

/* ---- places ---- */

static bool is_quantized(uint32_t type)
{
	return type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ||
	       type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED ||
	       type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM ||
	       type == NNHAL_OPERAND_TENSOR_QUANT16_SYMM ||
	       type == NNHAL_OPERAND_TENSOR_QUANT16_ASYMM;
}

static bool is_scalar(const struct nnhal_operand *o)
{
	return o->type != NNHAL_OPERAND_SUBGRAPH && nnhal_operand_type_is_scalar(o->type);
}

static bool is_constant(const struct nnhal_operand *o)
{
	return o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static bool is_written(const struct nnhal_operand *o)
{
	return o->lifetime == NNHAL_LIFETIME_TEMPORARY_VARIABLE ||
	       o->lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
}

static bool is_plain(const struct nnhal_operand *o)
{
	return !is_constant(o) && o->lifetime != NNHAL_LIFETIME_SUBGRAPH;
}

static bool has_no_scale(const struct nnhal_operand *o)
{
	return !is_quantized(o->type) && o->type != NNHAL_OPERAND_TENSOR_INT32;
}

static bool any_operand(const struct nnhal_operand *o)
{
	return o;
}

/* An operand of a kind, or NULL if there is none. */
static struct nnhal_operand *operand(struct mutation_rng *r, struct hal_graph *g,
				     bool (*kind)(const struct nnhal_operand *))
{
	uint32_t n = g->sg->num_operands, first = pick(r, n);

	for (uint32_t i = 0; i < n; i++) {
		struct nnhal_operand *o = &g->operands[(first + i) % n];

		if (kind(o))
			return o;
	}
	return NULL;
}

static uint32_t operation(struct mutation_rng *r, const struct hal_graph *g)
{
	return pick(r, g->sg->num_operations);
}

static bool operand_has_lifetime(const struct hal_graph *g, uint32_t index, uint32_t lifetime)
{
	return index < g->sg->num_operands && g->operands[index].lifetime == lifetime;
}

/* ---- rules for one operand ---- */

static bool wrong_type(struct mutation_rng *r, struct hal_graph *g)
{
	static const uint32_t types[] = {
		16, 17, 9999, 10002, 0xffff, 0x10000, 0x7fffffff, 0xffffffff,
	};

	operand(r, g, any_operand)->type = types[pick(r, 8)];
	return true;
}

static bool scalar_with_rank(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, is_scalar);

	if (o)
		o->num_dimensions = 1 + pick(r, 3);
	return o;
}

static bool scale_without_need(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, has_no_scale);

	if (o)
		o->scale = pick(r, 2) ? 1.0f : -0.5f;
	return o;
}

static bool scale_missing(struct mutation_rng *r, struct hal_graph *g)
{
	static const float scales[] = { 0.0f, -1.0f, NAN, INFINITY };
	struct nnhal_operand *o = NULL;

	for (uint32_t i = 0; i < g->sg->num_operands && !o; i++) {
		if (is_quantized(g->operands[i].type) && pick(r, 2))
			o = &g->operands[i];
	}
	if (o)
		o->scale = scales[pick(r, 4)];
	return o;
}

static bool scale_not_finite(struct mutation_rng *r, struct hal_graph *g)
{
	operand(r, g, any_operand)->scale = pick(r, 2) ? NAN : -INFINITY;
	return true;
}

static bool wrong_zero_point(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, any_operand);

	switch (o->type) {
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		o->zero_point = pick(r, 2) ? -1 : 256;
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		o->zero_point = pick(r, 2) ? -129 : 128;
		break;
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		o->zero_point = pick(r, 2) ? -1 : 65536;
		break;
	default:
		o->zero_point = pick(r, 2) ? -1 : 1;
		break;
	}
	return true;
}

static bool wrong_lifetime(struct mutation_rng *r, struct hal_graph *g)
{
	static const uint32_t lifetimes[] = { 6, 7, 8, 0xffffffff };
	struct nnhal_operand *o = operand(r, g, any_operand);

	/* A subgraph has the first one. */
	if (o->type == NNHAL_OPERAND_SUBGRAPH)
		o->lifetime = lifetimes[1 + pick(r, 3)];
	else
		o->lifetime = lifetimes[pick(r, 4)];
	return true;
}

static bool location_without_need(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, is_plain);

	if (!o)
		return false;
	switch (pick(r, 3)) {
	case 0:
		o->location.pool_index = 1;
		break;
	case 1:
		o->location.offset = 4;
		break;
	default:
		o->location.length = 4;
		break;
	}
	return true;
}

static bool constant_misplaced(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, is_constant);

	if (!o)
		return false;
	switch (pick(r, 5)) {
	case 0:
		o->location.length++;
		break;
	case 1:
		o->location.length--;
		break;
	case 2:
		o->location.offset = 0xffffffff - pick(r, 3);
		break;
	case 3:
		o->location.offset = 1u << 30;
		break;
	default:
		o->location.pool_index += 1 + pick(r, 2) * 0xfffe;
		break;
	}
	return true;
}

static bool is_constant_tensor(const struct nnhal_operand *o)
{
	return is_constant(o) && !is_scalar(o);
}

static bool constant_without_shape(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, is_constant_tensor);

	if (!o)
		return false;
	if (pick(r, 2))
		o->num_dimensions = 0;
	else
		g->dims[o - g->operands][pick(r, o->num_dimensions)] = 0;
	return true;
}

static bool is_tensor(const struct nnhal_operand *o)
{
	return !is_scalar(o) && o->type != NNHAL_OPERAND_SUBGRAPH;
}

static bool too_large(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, is_tensor);

	if (!o)
		return false;
	o->num_dimensions = 4;
	for (unsigned int d = 0; d < 4; d++)
		g->dims[o - g->operands][d] = 256u << pick(r, 8);
	g->dims[o - g->operands][0] <<= 1;
	return true;
}

static bool is_channel_type(const struct nnhal_operand *o)
{
	return o->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL;
}

static bool wrong_extra_params(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, is_channel_type);
	static const float bad[3] = { -1.0f, NAN, 0.0f };

	if (!o) {
		operand(r, g, any_operand)->extra_params.kind = 1 + pick(r, 4);
		return true;
	}
	switch (pick(r, 5)) {
	case 0:
		o->extra_params.kind = pick(r, 2) ? NNHAL_EXTRA_PARAMS_NONE : 3;
		break;
	case 1:
		o->extra_params.channel_quant.channel_dim = o->num_dimensions + pick(r, 2);
		break;
	case 2:
		o->extra_params.channel_quant.num_scales--;
		break;
	case 3:
		o->extra_params.channel_quant.num_scales++;
		break;
	default:
		/* One channel with a scale that is none. */
		o->extra_params.channel_quant.scales = &bad[pick(r, 3)];
		g->dims[o - g->operands][o->extra_params.channel_quant.channel_dim] = 1;
		o->extra_params.channel_quant.num_scales = 1;
		break;
	}
	return true;
}

static bool wrong_consumers(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, any_operand);

	if (pick(r, 2) || !o->number_of_consumers)
		o->number_of_consumers++;
	else
		o->number_of_consumers--;
	return true;
}

/* ---- rules for operations ---- */

static bool wrong_operation(struct mutation_rng *r, struct hal_graph *g)
{
	static const uint32_t types[] = { 102, 103, 9999, 10001, 0xffff, 0x10000, 0xffffffff };

	g->operations[operation(r, g)].type = types[pick(r, 7)];
	return true;
}

static bool index_out_of_range(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g), n = g->sg->num_operands;
	uint32_t bad = pick(r, 2) ? n : 0xffffffff - pick(r, 2);

	if (pick(r, 2))
		g->op_inputs[i][pick(r, g->operations[i].num_inputs)] = bad;
	else
		g->op_outputs[i][pick(r, g->operations[i].num_outputs)] = bad;
	hal_graph_count_consumers(g);
	return true;
}

static bool operand_cannot_be_written(const struct nnhal_operand *o)
{
	return !is_written(o);
}

static bool writes_constant(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g);
	struct nnhal_operand *o = operand(r, g, operand_cannot_be_written);

	if (!o)
		return false;
	g->op_outputs[i][pick(r, g->operations[i].num_outputs)] = (uint32_t)(o - g->operands);
	return true;
}

static bool writes_twice(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t n = g->sg->num_operations, i = operation(r, g), j = operation(r, g);

	if (n < 2 || i == j)
		return false;
	g->op_outputs[i][pick(r, g->operations[i].num_outputs)] =
		g->op_outputs[j][pick(r, g->operations[j].num_outputs)];
	return true;
}

static bool reads_unwritten(struct mutation_rng *r, struct hal_graph *g)
{
	/* An operation that reads another's result goes to the front. */
	uint32_t n = g->sg->num_operations, first = pick(r, n);

	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (first + k) % n;
		struct nnhal_operation moved = g->operations[i];

		for (uint32_t m = 0; m < moved.num_inputs; m++) {
			if (!is_written(&g->operands[moved.inputs[m]]))
				continue;
			/* The lists stay with their entries. */
			for (uint32_t x = i; x > 0; x--) {
				uint32_t *in = g->op_inputs[x], *out = g->op_outputs[x];

				g->operations[x] = g->operations[x - 1];
				g->op_inputs[x] = g->op_inputs[x - 1];
				g->op_outputs[x] = g->op_outputs[x - 1];
				g->op_inputs[x - 1] = in;
				g->op_outputs[x - 1] = out;
			}
			g->operations[0] = moved;
			return true;
		}
	}
	return false;
}

static bool reads_itself(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g);

	g->op_inputs[i][pick(r, g->operations[i].num_inputs)] =
		g->op_outputs[i][pick(r, g->operations[i].num_outputs)];
	hal_graph_count_consumers(g);
	return true;
}

static bool operation_missing(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g), n = g->sg->num_operations;
	uint32_t *in = g->op_inputs[i], *out = g->op_outputs[i];

	for (uint32_t k = i; k + 1 < n; k++) {
		g->operations[k] = g->operations[k + 1];
		g->op_inputs[k] = g->op_inputs[k + 1];
		g->op_outputs[k] = g->op_outputs[k + 1];
	}
	g->op_inputs[n - 1] = in;
	g->op_outputs[n - 1] = out;
	g->sg->num_operations--;
	hal_graph_count_consumers(g);
	return true;
}

static bool output_missing(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g);

	g->operations[i].num_outputs--;
	return true;
}

static bool no_inputs(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g);

	g->operations[i].num_inputs = 0;
	hal_graph_count_consumers(g);
	return true;
}

/* ---- rules for the model ---- */

/* One of the two lists of the subgraph. */
static bool wrong_list(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_subgraph *sg = g->sg;
	bool inputs = pick(r, 2);
	uint32_t *list = inputs ? g->inputs : g->outputs;
	uint32_t *count = inputs ? &sg->num_inputs : &sg->num_outputs;
	uint32_t lifetime = inputs ? NNHAL_LIFETIME_SUBGRAPH_INPUT :
			    NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	uint32_t at = pick(r, *count), other;

	switch (pick(r, 4)) {
	case 0:
		list[at] = sg->num_operands + pick(r, 2);
		return true;
	case 1:
		/* The same one twice: in place of another, or beside it. */
		if (*count > 1 && pick(r, 2))
			list[at] = list[(at + 1) % *count];
		else
			list[(*count)++] = list[at];
		return true;
	case 2:
		list[at] = list[--*count];
		return true;
	default:
		other = pick(r, sg->num_operands);
		if (operand_has_lifetime(g, other, lifetime))
			return false;
		list[at] = other;
		return true;
	}
}

/* Lifetimes that contradict the lists or what is written. */
static bool contradicting_lifetime(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_operand *o = operand(r, g, any_operand);
	uint32_t to = pick(r, 3);

	if (o->lifetime == to || o->lifetime == NNHAL_LIFETIME_SUBGRAPH)
		return false;
	/* An operand that nothing reads may be omitted. A constant keeps its place. */
	o->lifetime = to;
	o->location = (struct nnhal_data_location){ 0 };
	return true;
}

static bool empty_model(struct mutation_rng *r, struct hal_graph *g)
{
	struct nnhal_subgraph *sg = g->sg;

	switch (pick(r, 4)) {
	case 0:
		sg->num_operations = 0;
		break;
	case 1:
		sg->num_operands = 0;
		break;
	case 2:
		sg->num_inputs = 0;
		break;
	default:
		sg->num_outputs = 0;
		break;
	}
	return true;
}

static const struct {
	const char *name;
	bool (*apply)(struct mutation_rng *r, struct hal_graph *g);
} rules[] = {
	{ "type of an operand", wrong_type },
	{ "scalar with dimensions", scalar_with_rank },
	{ "scale of a type without one", scale_without_need },
	{ "scale of a quantized type", scale_missing },
	{ "scale that is not finite", scale_not_finite },
	{ "zero point", wrong_zero_point },
	{ "lifetime", wrong_lifetime },
	{ "place of what is no constant", location_without_need },
	{ "place of a constant", constant_misplaced },
	{ "shape of a constant", constant_without_shape },
	{ "operand of more than 4 GiB", too_large },
	{ "extra parameters", wrong_extra_params },
	{ "number of consumers", wrong_consumers },
	{ "type of an operation", wrong_operation },
	{ "index of an operand", index_out_of_range },
	{ "written constant or input", writes_constant },
	{ "operand written twice", writes_twice },
	{ "operand read before it is written", reads_unwritten },
	{ "operation that reads its result", reads_itself },
	{ "missing operation", operation_missing },
	{ "missing output of an operation", output_missing },
	{ "operation without inputs", no_inputs },
	{ "list of inputs or outputs", wrong_list },
	{ "lifetime that contradicts the graph", contradicting_lifetime },
	{ "model without something", empty_model },
};

#define NUM_RULES	(sizeof(rules) / sizeof(rules[0]))

static bool wrong_version(struct mutation_rng *r, struct hal_case *h)
{
	h->model.hal_version = 5 + pick(r, 2) * 0x7fffffff;
	return true;
}

bool is_control_rule(uint32_t rule)
{
	return rule >= NUM_RULES + 2;
}

uint32_t num_model_rules(void)
{
	return NUM_RULES + 2 + num_control_rules();
}

const char *model_rule_name(uint32_t rule)
{
	if (rule < NUM_RULES)
		return rules[rule].name;
	if (rule == NUM_RULES)
		return "version of the HAL";
	if (rule == NUM_RULES + 1)
		return "preference or priority";
	return control_rule_name(rule - NUM_RULES - 2);
}

bool break_model(struct mutation_rng *r, struct hal_case *h, struct prepare_choice *p,
		 uint32_t rule)
{
	int32_t bad;

	if (rule < NUM_RULES)
		return rules[rule].apply(r, &h->graphs[pick(r, h->num_graphs)]);
	if (rule == NUM_RULES)
		return wrong_version(r, h);
	if (is_control_rule(rule))
		return break_control(r, h, rule - NUM_RULES - 2);
	bad = pick(r, 2) ? -1 : 3;
	*(pick(r, 2) ? &p->preference : &p->priority) = bad;
	return true;
}

/* ---- anything ---- */

static uint32_t any_number(struct mutation_rng *r)
{
	static const uint32_t numbers[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 16, 100, 255, 256, 1000, 65535, 65536, 1u << 20,
		1u << 31, 0x7fffffff, 0xffffffff, 0xfffffffe,
	};

	return pick(r, 4) ? numbers[pick(r, 20)] : pick(r, 0xffffffff);
}

static float any_scale(struct mutation_rng *r)
{
	static const float scales[] = { 0.0f, 1.0f, 0.5f, 1.0f / 128, 1.0f / 256, 1e-30f, 1e30f };

	return scales[pick(r, 7)];
}

void disturb_bytes(struct mutation_rng *r, uint8_t *bytes, uint32_t size)
{
	static const float reals[] = { 0, -1, 1, 0.5f, 1e-40f, 1e30f, -1e30f, NAN, INFINITY };
	uint32_t word;
	float real;

	if (size < 4 || pick(r, 2)) {
		if (size)
			bytes[pick(r, size)] ^= (uint8_t)(1u << pick(r, 8));
	} else if (pick(r, 3)) {
		word = any_number(r);
		memcpy(bytes + pick(r, size / 4) * 4u, &word, sizeof(word));
	} else {
		real = reals[pick(r, 9)];
		memcpy(bytes + pick(r, size / 4) * 4u, &real, sizeof(real));
	}
}

static void disturb_operand(struct mutation_rng *r, struct hal_graph *g, uint32_t values_size)
{
	uint32_t i = pick(r, g->sg->num_operands);
	struct nnhal_operand *o = &g->operands[i], *other;

	switch (pick(r, 10)) {
	case 0:
		o->type = pick(r, 16);
		break;
	case 1:
		o->num_dimensions = pick(r, 9);
		break;
	case 2:
	case 3:
		if (o->num_dimensions)
			g->dims[i][pick(r, o->num_dimensions)] = pick(r, 4) ? pick(r, 20) :
								 any_number(r);
		break;
	case 4:
		o->scale = any_scale(r);
		break;
	case 5:
		o->zero_point = (int32_t)(pick(r, 4) ? pick(r, 256) : any_number(r));
		break;
	case 6:
		o->lifetime = pick(r, 7);
		break;
	case 7:
		/* Another operand's look. */
		other = &g->operands[pick(r, g->sg->num_operands)];
		o->type = other->type;
		o->scale = other->scale;
		o->zero_point = other->zero_point;
		o->num_dimensions = other->num_dimensions;
		memcpy(g->dims[i], g->dims[other - g->operands], sizeof(g->dims[i]));
		break;
	case 8:
		o->lifetime = NNHAL_LIFETIME_NO_VALUE;
		o->location = (struct nnhal_data_location){ 0 };
		break;
	default:
		o->location.offset = pick(r, values_size + 8);
		break;
	}
}

static void disturb_operation(struct mutation_rng *r, struct hal_graph *g)
{
	uint32_t i = operation(r, g), n = g->sg->num_operands;
	struct nnhal_operation *o = &g->operations[i];
	uint32_t a, b, swap;

	switch (pick(r, 6)) {
	case 0:
		o->type = pick(r, NNHAL_OPERATION_RANK + 2);
		break;
	case 1:
		g->op_inputs[i][pick(r, o->num_inputs)] = pick(r, n);
		break;
	case 2:
		g->op_outputs[i][pick(r, o->num_outputs)] = pick(r, n);
		break;
	case 3:
		a = pick(r, o->num_inputs);
		b = pick(r, o->num_inputs);
		swap = g->op_inputs[i][a];
		g->op_inputs[i][a] = g->op_inputs[i][b];
		g->op_inputs[i][b] = swap;
		break;
	case 4:
		if (o->num_inputs)
			o->num_inputs--;
		break;
	default:
		/* There is room for one more. */
		g->op_inputs[i][o->num_inputs++] = pick(r, n);
		break;
	}
}

/* Let lengths and counts follow what was changed, so that more than their check is reached. */
static void settle(struct mutation_rng *r, struct hal_graph *g)
{
	if (pick(r, 8))
		hal_graph_count_consumers(g);
	for (uint32_t i = 0; i < g->sg->num_operands && pick(r, 16); i++) {
		struct nnhal_operand *o = &g->operands[i];
		uint32_t size;

		if (is_constant(o) && !nnhal_size_of_data(o->type, o->dimensions,
							   o->num_dimensions, &size))
			o->location.length = size;
	}
}

void disturb_model(struct mutation_rng *r, struct hal_case *h)
{
	uint32_t values_size = (uint32_t)h->model.operand_values_size;
	struct hal_graph *g = &h->graphs[pick(r, h->num_graphs)];
	uint32_t changes = 1 + pick(r, 3);
	bool grown = false;

	while (changes--) {
		switch (pick(r, 4)) {
		case 0:
			if (!grown)
				disturb_operation(r, g);
			grown = true;
			break;
		case 1:
		case 2:
			disturb_bytes(r, h->values, values_size);
			break;
		default:
			disturb_operand(r, g, values_size);
			break;
		}
	}
	settle(r, g);
}
