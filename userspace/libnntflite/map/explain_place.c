// SPDX-License-Identifier: MIT
/*
 * Faults that HAL or device find in a model, in terms of the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <nnhal/ext.h>

#include "map_model.h"

/* The tensor at fault: the operand's, else the one that the operation computes. */
static uint32_t tensor_of_place(const struct hal_graph *g, const struct nnhal_ext_place *place)
{
	const struct nnhal_operation *operation = NULL;
	uint32_t tensor = HAL_NO_ORIGIN, i;

	if (place->operation < g->num_operations)
		operation = &g->operations[place->operation];
	if (place->operand < g->num_operands)
		tensor = g->operand_origins[place->operand];
	for (i = 0; operation && i < operation->num_outputs && tensor == HAL_NO_ORIGIN; i++)
		tensor = g->operand_origins[operation->outputs[i]];
	for (i = 0; operation && i < operation->num_inputs && tensor == HAL_NO_ORIGIN; i++)
		tensor = g->operand_origins[operation->inputs[i]];
	return tensor;
}

void explain_place(const struct map_model *model, const struct nnhal_diag *why,
		   struct nntflite_diag *diag)
{
	struct nnhal_ext_place place = NNHAL_EXT_PLACE_INIT;
	char subgraph[32] = "", op[128] = "", tensor[128] = "", name[80];
	const struct tflite_subgraph *sub;
	const struct hal_graph *g;
	uint32_t graph;

	diag_fail(diag, "%s", why->message);
	nnhal_ext_get_place(why, &place);
	graph = place.subgraph == NNHAL_EXT_PLACE_NONE ? 0 : place.subgraph + 1;
	if (graph >= model->builder.num_graphs)
		return;
	g = model->builder.graphs[graph];
	diag->tensor = tensor_of_place(g, &place);
	if (place.operation < g->num_operations)
		diag->op = g->operation_origins[place.operation];
	if (diag->op == NNTFLITE_NONE && diag->tensor == NNTFLITE_NONE)
		return;
	diag->subgraph = g->subgraph;
	sub = &model->tflite->subgraphs[diag->subgraph];
	if (diag->subgraph != 0)
		snprintf(subgraph, sizeof(subgraph), "subgraph %" PRIu32 ", ", diag->subgraph);
	if (diag->op != NNTFLITE_NONE)
		snprintf(op, sizeof(op), "operator %" PRIu32 " (%s): ", diag->op,
			 tflite_operator_name(&sub->operators[diag->op], name, sizeof(name)));
	if (diag->tensor != NNTFLITE_NONE)
		snprintf(tensor, sizeof(tensor), "tensor %" PRIu32 " '%s': ", diag->tensor,
			 TEXT(sub->tensors[diag->tensor].name));
	diag_prefix(diag, "%s%s%s", subgraph, op, tensor);
}
