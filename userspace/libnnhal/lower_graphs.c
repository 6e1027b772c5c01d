// SPDX-License-Identifier: MIT
/*
 * Which subgraphs become blocks, and which operations commands.
 *
 * Subgraphs are brought into an order in which each comes behind all that refer to it.
 * What stands in the way of one is then known before it is asked for, going backwards,
 * and what is reached going forwards: linear time, however often subgraphs are shared.
 */
#include <stdlib.h>

#include "lower.h"

static struct image_skip no_obstacle(void)
{
	return (struct image_skip){ NULL, UINT32_MAX, MAIN_SUBGRAPH, UINT32_MAX };
}

static struct image_skip obstacle(const char *reason, uint32_t operand)
{
	struct image_skip skip = no_obstacle();

	skip.reason = reason;
	skip.operand = operand;
	return skip;
}

/* Order. */

/* One reference less to what @g refers to; without any left it is next in the order. */
static void release(struct lowering *l, const struct lower_graph *g, uint32_t *references)
{
	uint32_t i, number;

	for (i = 0; i < g->sg->num_operands; i++) {
		if (g->sg->operands[i].lifetime != NNHAL_LIFETIME_SUBGRAPH)
			continue;
		number = g->sg->operands[i].location.offset;
		if (--references[number])
			continue;
		l->graph_of[number] = l->num_graphs;
		l->graphs[l->num_graphs++] = (struct lower_graph){
			.sg = &l->model->referenced[number], .number = number,
			.obstacle = no_obstacle(),
		};
	}
}

static void count_references(const struct nnhal_subgraph *sg, uint32_t *references)
{
	uint32_t i;

	for (i = 0; i < sg->num_operands; i++)
		if (sg->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH)
			references[sg->operands[i].location.offset]++;
}

static void sort_graphs(struct lowering *l, uint32_t *references)
{
	uint32_t i;

	count_references(&l->model->main, references);
	for (i = 0; i < l->model->num_referenced; i++)
		count_references(&l->model->referenced[i], references);
	l->graphs[l->num_graphs++] = (struct lower_graph){
		.sg = &l->model->main, .number = MAIN_SUBGRAPH, .reached = true,
		.obstacle = no_obstacle(),
	};
	/* The model has no cycle: all come to have no reference left. */
	for (i = 0; i < l->num_graphs; i++)
		release(l, &l->graphs[i], references);
}

static enum nnhal_status alloc_places(struct lowering *l)
{
	uint64_t count = 0;
	uint32_t i, k;

	for (i = 0; i < l->num_graphs; i++)
		count += l->graphs[i].sg->num_operands;
	if (count > UINT32_MAX)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	l->places = calloc(count, sizeof(*l->places));
	if (!l->places)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (count = 0, i = 0; i < l->num_graphs; i++) {
		struct lower_graph *g = &l->graphs[i];

		g->places = l->places + count;
		count += g->sg->num_operands;
		for (k = 0; k < g->sg->num_operands; k++)
			g->places[k].tensor = NO_INDEX;
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status lower_graphs_init(struct lowering *l)
{
	size_t count = (size_t)l->model->num_referenced + 1;
	uint32_t *references = calloc(count, sizeof(*references));
	enum nnhal_status status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;

	l->graphs = calloc(count, sizeof(*l->graphs));
	l->graph_of = calloc(count, sizeof(*l->graph_of));
	if (references && l->graphs && l->graph_of) {
		sort_graphs(l, references);
		status = alloc_places(l);
	}
	free(references);
	return status;
}

void lower_graphs_fini(struct lowering *l)
{
	free(l->places);
	free(l->graph_of);
	free(l->graphs);
}

struct lower_graph *lower_graph_input(const struct lowering *l, const struct lower_graph *g,
				      const struct nnhal_operation *o, uint32_t i)
{
	return &l->graphs[l->graph_of[g->sg->operands[o->inputs[i]].location.offset]];
}

void lower_graph_targets(const struct lowering *l, const struct lower_graph *g,
			 const struct nnhal_operation *o, struct lower_graph *targets[2])
{
	uint32_t first = o->type == NNHAL_OPERATION_IF ? 1 : 0;

	targets[0] = lower_graph_input(l, g, o, first);
	targets[1] = lower_graph_input(l, g, o, first + 1);
}

/* Obstacles. */

/* Why an operand cannot be a tensor record; NULL if it can. */
static const char *operand_obstacle(const struct lower_graph *g, uint32_t index)
{
	const struct nnhal_operand *op = &g->sg->operands[index];

	if (op->type == NNHAL_OPERAND_SUBGRAPH)
		return "a subgraph is no operand of this operation";
	if (op->type >= NNPU_NUM_TYPES)
		return "operand types of extensions are not supported by this device";
	if (op->num_dimensions > NNPU_MAX_RANK)
		return "rank is above what the device supports";
	if (g->places[index].unreadable)
		return "memory of the constant cannot be read";
	return NULL;
}

/* Is input @k the subgraph of an IF or WHILE? */
static bool is_target(const struct nnhal_operation *o, uint32_t k)
{
	if (o->type == NNHAL_OPERATION_IF)
		return k == 1 || k == 2;
	return o->type == NNHAL_OPERATION_WHILE && k < 2;
}

static struct image_skip operation_obstacle(const struct lowering *l,
					    const struct lower_graph *g, uint32_t index)
{
	const struct nnhal_operation *o = &g->sg->operations[index];
	struct lower_graph *targets[2];
	const char *reason;
	uint32_t k;

	if (is_control(o) && !l->limits->has_control_flow)
		return obstacle("control flow is not supported by this device", UINT32_MAX);
	if (o->type >= NNPU_NUM_OPERATIONS)
		return obstacle("operations of extensions are not supported by this device",
				UINT32_MAX);
	if (o->num_inputs > UINT16_MAX || o->num_outputs > UINT16_MAX)
		return obstacle("too many operands", UINT32_MAX);
	for (k = 0; k < o->num_inputs; k++) {
		reason = is_target(o, k) ? NULL : operand_obstacle(g, o->inputs[k]);
		if (reason)
			return obstacle(reason, k);
	}
	for (k = 0; k < o->num_outputs; k++) {
		reason = operand_obstacle(g, o->outputs[k]);
		if (reason)
			return obstacle(reason, o->num_inputs + k);
	}
	if (!is_control(o))
		return no_obstacle();
	lower_graph_targets(l, g, o, targets);
	return targets[0]->obstacle.reason ? targets[0]->obstacle : targets[1]->obstacle;
}

/* What stands in the way of a referenced subgraph. */
static struct image_skip graph_obstacle(const struct lowering *l, const struct lower_graph *g)
{
	struct image_skip skip;
	const char *reason;
	uint32_t i;

	for (i = 0; i < g->sg->num_inputs; i++) {
		reason = operand_obstacle(g, g->sg->input_indexes[i]);
		if (reason) {
			skip = obstacle(reason, UINT32_MAX);
			skip.subgraph = g->number;
			return skip;
		}
	}
	for (i = 0; i < g->sg->num_operations; i++) {
		skip = operation_obstacle(l, g, i);
		if (skip.reason && skip.subgraph == MAIN_SUBGRAPH) {
			skip.subgraph = g->number;
			skip.operation = i;
		}
		if (skip.reason)
			return skip;
	}
	return no_obstacle();
}

/* What stands in the way of the model as a whole. */
static const char *model_obstacle(const struct lowering *l)
{
	const struct lower_graph *g = &l->graphs[0];
	const char *reason;
	uint32_t i;

	if (g->sg->num_inputs > UINT16_MAX || g->sg->num_outputs > UINT16_MAX ||
	    g->sg->num_inputs + g->sg->num_outputs > l->limits->max_args)
		return "model has more inputs and outputs than the device supports";
	for (i = 0; i < g->sg->num_inputs; i++) {
		reason = operand_obstacle(g, g->sg->input_indexes[i]);
		if (reason)
			return reason;
	}
	for (i = 0; i < g->sg->num_outputs; i++) {
		reason = operand_obstacle(g, g->sg->output_indexes[i]);
		if (reason)
			return reason;
	}
	return NULL;
}

/* Commands. */

static void skip_explain(const struct lowering *l, uint32_t i)
{
	const struct image_skip *skip = &l->image->skips[i];
	const char *type = nnhal_operation_type_name(l->model->main.operations[i].type);
	const char *inner;

	if (skip->subgraph == MAIN_SUBGRAPH) {
		diag_set(l->diag, "operation %u (%s): %s", i, type, skip->reason);
	} else if (skip->operation == UINT32_MAX) {
		diag_set(l->diag, "operation %u (%s): subgraph %u: %s", i, type, skip->subgraph,
			 skip->reason);
	} else {
		inner = nnhal_operation_type_name(l->model->referenced[skip->subgraph]
						  .operations[skip->operation].type);
		diag_set(l->diag, "operation %u (%s): subgraph %u operation %u (%s): %s", i, type,
			 skip->subgraph, skip->operation, inner, skip->reason);
	}
}

static void add_command(struct lowering *l, uint32_t operation, uint32_t subgraph,
			uint32_t inner)
{
	l->image->command_origins[l->image->num_commands++] = (struct command_origin){
		.operation = operation, .subgraph = subgraph, .inner = inner,
	};
}

/* An operation becomes a command: if it is IF or WHILE its graphs become blocks. */
static void reach(struct lowering *l, const struct lower_graph *g,
		  const struct nnhal_operation *o, uint32_t entered_by)
{
	struct lower_graph *targets[2];
	unsigned int k;

	if (!is_control(o))
		return;
	l->image->has_loops |= o->type == NNHAL_OPERATION_WHILE;
	lower_graph_targets(l, g, o, targets);
	for (k = 0; k < 2; k++) {
		if (!targets[k]->reached)
			targets[k]->entered_by = entered_by;
		targets[k]->reached = true;
	}
}

static void add_blocks(struct lowering *l)
{
	uint32_t i, k;

	for (i = 1; i < l->num_graphs; i++) {
		struct lower_graph *g = &l->graphs[i];

		if (!g->reached)
			continue;
		g->block = l->image->num_commands;
		add_command(l, g->entered_by, g->number, UINT32_MAX);
		for (k = 0; k < g->sg->num_operations; k++) {
			add_command(l, g->entered_by, g->number, k);
			reach(l, g, &g->sg->operations[k], g->entered_by);
		}
	}
}

enum nnhal_status lower_find_skips(struct lowering *l)
{
	const char *reason = model_obstacle(l);
	struct lower_graph *main_graph = &l->graphs[0];
	struct image *image = l->image;
	uint32_t i;

	if (reason && !l->check) {
		diag_set(l->diag, "%s", reason);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	for (i = l->num_graphs; --i;)
		l->graphs[i].obstacle = graph_obstacle(l, &l->graphs[i]);
	for (i = 0; i < main_graph->sg->num_operations; i++) {
		image->skips[i] = reason ? obstacle(reason, UINT32_MAX) :
					   operation_obstacle(l, main_graph, i);
		if (!image->skips[i].reason) {
			add_command(l, i, MAIN_SUBGRAPH, i);
			reach(l, main_graph, &main_graph->sg->operations[i], i);
		} else if (!l->check) {
			skip_explain(l, i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	l->num_main_commands = image->num_commands;
	add_blocks(l);
	return NNHAL_STATUS_NONE;
}
