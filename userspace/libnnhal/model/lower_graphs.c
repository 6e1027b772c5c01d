// SPDX-License-Identifier: MIT
/*
 * Which subgraphs become blocks, and which operations become commands.
 *
 * Subgraphs are sorted so that each comes after all that refer to it. One pass backwards
 * finds the obstacle of each subgraph before its users need it; one pass forwards finds which
 * subgraphs are reached. Both take linear time, however often subgraphs are shared.
 */
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "device/extensions.h"
#include "model/explain.h"
#include "model/lowering.h"
#include "model/model_image.h"

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

/* @g is placed: drop its references. A graph without references left is placed next. */
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
	/* The model has no cycle, so every graph gets placed. */
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

const char *lower_operand_obstacle(const struct lowering *l, const struct lower_graph *g,
				   uint32_t index)
{
	const struct nnhal_operand *op = &g->sg->operands[index];
	struct extension_type type;
	const char *missing;

	if (op->type == NNHAL_OPERAND_SUBGRAPH)
		return "a subgraph is no operand of this operation";
	if (op->type >= NNPU_NUM_TYPES && !nnhal_is_extension_operand_type(op->type))
		return "operand types of OEMs are not supported by this device";
	if (op->type >= NNPU_NUM_TYPES) {
		missing = extensions_find_type(l->extensions, l->model, op->type, &type);
		if (missing)
			return missing;
	}
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
	uint32_t k, opcode;

	if (is_control(o) && !l->limits->has_control_flow)
		return obstacle("control flow is not supported by this device", UINT32_MAX);
	if (nnhal_is_extension_operation_type(o->type)) {
		reason = extensions_find_operation(l->extensions, l->model, o->type, &opcode);
		if (reason)
			return obstacle(reason, UINT32_MAX);
	} else if (o->type >= NNPU_NUM_OPERATIONS) {
		return obstacle("operations of OEMs are not supported by this device",
				UINT32_MAX);
	}
	if (o->num_inputs > UINT16_MAX || o->num_outputs > UINT16_MAX)
		return obstacle("too many operands", UINT32_MAX);
	for (k = 0; k < o->num_inputs; k++) {
		reason = is_target(o, k) ? NULL : lower_operand_obstacle(l, g, o->inputs[k]);
		if (reason)
			return obstacle(reason, k);
	}
	for (k = 0; k < o->num_outputs; k++) {
		reason = lower_operand_obstacle(l, g, o->outputs[k]);
		if (reason)
			return obstacle(reason, o->num_inputs + k);
	}
	if (!is_control(o))
		return no_obstacle();
	lower_graph_targets(l, g, o, targets);
	return targets[0]->obstacle.reason ? targets[0]->obstacle : targets[1]->obstacle;
}

/* The obstacle of a referenced subgraph: why it cannot become a block. */
static struct image_skip graph_obstacle(const struct lowering *l, const struct lower_graph *g)
{
	struct image_skip skip;
	const char *reason;
	uint32_t i;

	for (i = 0; i < g->sg->num_inputs; i++) {
		reason = lower_operand_obstacle(l, g, g->sg->input_indexes[i]);
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

/* The obstacle of the model as a whole. */
static const char *model_obstacle(const struct lowering *l)
{
	const struct nnhal_subgraph *sg = &l->model->main;

	if (sg->num_inputs > UINT16_MAX || sg->num_outputs > UINT16_MAX ||
	    sg->num_inputs + sg->num_outputs > l->limits->max_args)
		return "model has more inputs and outputs than the device supports";
	return NULL;
}

/* The obstacle of an input or output of the model; @operand: out: which one. */
static const char *interface_obstacle(const struct lowering *l, uint32_t *operand)
{
	const struct nnhal_subgraph *sg = &l->model->main;
	const char *reason = NULL;
	uint32_t i;

	for (i = 0; !reason && i < sg->num_inputs; i++) {
		*operand = sg->input_indexes[i];
		reason = lower_operand_obstacle(l, &l->graphs[0], *operand);
	}
	for (i = 0; !reason && i < sg->num_outputs; i++) {
		*operand = sg->output_indexes[i];
		reason = lower_operand_obstacle(l, &l->graphs[0], *operand);
	}
	return reason;
}

/* Commands. */

static void skip_explain(const struct lowering *l, uint32_t i)
{
	const struct image_skip *skip = &l->image->skips[i];
	const struct nnhal_operation *o = &l->model->main.operations[i];
	struct command_origin origin = { .subgraph = MAIN_SUBGRAPH, .inner = i };
	uint32_t operand = NNPU_OPERAND_NONE;
	char outer[160], inner[160];

	/* Positions of the two differ for IF and WHILE. */
	if (skip->operand != UINT32_MAX && !is_control(o))
		operand = skip->operand;
	command_text(l->model, &origin, skip->subgraph == MAIN_SUBGRAPH ? operand :
		     NNPU_OPERAND_NONE, outer, sizeof(outer));
	if (skip->subgraph == MAIN_SUBGRAPH) {
		diag_set(l->diag, "%s: %s", outer, skip->reason);
	} else if (skip->operation == UINT32_MAX) {
		diag_set(l->diag, "%s: subgraph %u: %s", outer, skip->subgraph, skip->reason);
	} else {
		origin = (struct command_origin){ .subgraph = skip->subgraph,
						  .inner = skip->operation };
		command_text(l->model, &origin, NNPU_OPERAND_NONE, inner, sizeof(inner));
		diag_set(l->diag, "%s: %s: %s", outer, inner, skip->reason);
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

/* Fill in the skips. False if there are none. */
static bool find_skips(struct lowering *l, const char *model_reason)
{
	const struct lower_graph *g = &l->graphs[0];
	bool found = false;
	uint32_t i;

	for (i = l->num_graphs; --i;)
		l->graphs[i].obstacle = graph_obstacle(l, &l->graphs[i]);
	for (i = 0; i < g->sg->num_operations; i++) {
		l->image->skips[i] = model_reason ? obstacle(model_reason, UINT32_MAX) :
						    operation_obstacle(l, g, i);
		found |= l->image->skips[i].reason != NULL;
	}
	return found;
}

enum nnhal_status lower_find_skips(struct lowering *l)
{
	const char *reason = model_obstacle(l), *interface_reason = NULL;
	const struct nnhal_subgraph *sg = &l->model->main;
	uint32_t i, operand = 0;

	if (!reason)
		interface_reason = interface_obstacle(l, &operand);
	if (!l->check && reason) {
		diag_set(l->diag, "%s", reason);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!l->check && interface_reason) {
		diag_set(l->diag, "operand %u: %s", operand, interface_reason);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	/* An input that no operation reads: if all is supported, preparing must succeed. */
	if (!find_skips(l, reason) && interface_reason)
		find_skips(l, interface_reason);
	for (i = 0; i < sg->num_operations; i++) {
		if (!l->image->skips[i].reason) {
			add_command(l, i, MAIN_SUBGRAPH, i);
			reach(l, &l->graphs[0], &sg->operations[i], i);
		} else if (!l->check) {
			skip_explain(l, i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	l->num_main_commands = l->image->num_commands;
	add_blocks(l);
	return NNHAL_STATUS_NONE;
}
