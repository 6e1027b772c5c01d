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

static bool refers_to(const struct hal_graph *g, uint32_t operation, uint32_t graph)
{
	const struct nnhal_operation *o = &g->operations[operation];
	uint32_t i;

	for (i = 0; i < o->num_inputs; i++)
		if (g->operands[o->inputs[i]].lifetime == NNHAL_LIFETIME_SUBGRAPH &&
		    g->operands[o->inputs[i]].location.offset + 1 == graph)
			return true;
	return false;
}

/* "operator 0 (IF): ", behind its subgraph if that is not the first one. */
static void print_operator(const struct map_model *model, const struct hal_graph *g, uint32_t op,
			   char *text, size_t size)
{
	const struct tflite_subgraph *sub = &model->tflite->subgraphs[g->subgraph];
	char name[80];
	int length = 0;

	if (g->subgraph)
		length = snprintf(text, size, "subgraph %" PRIu32 ", ", g->subgraph);
	snprintf(text + length, size - (size_t)length, "operator %" PRIu32 " (%s): ", op,
		 tflite_operator_name(&sub->operators[op], name, sizeof(name)));
}

/* The operator that runs a graph. Nothing if there is none, as for the first one. */
static void print_runner(const struct map_model *model, uint32_t graph, char *text, size_t size)
{
	const struct hal_graph *g;
	uint32_t i, k;

	for (i = 0; i < model->builder.num_graphs; i++) {
		g = model->builder.graphs[i];
		for (k = 0; k < g->num_operations; k++) {
			if (g->operation_origins[k] == HAL_NO_ORIGIN || !refers_to(g, k, graph))
				continue;
			print_operator(model, g, g->operation_origins[k], text, size);
			return;
		}
	}
}

/*
 * libnnhal knows the operations of the extension by their numbers, which are those of the operators:
 * "org.nnpu.tflite operation 25" becomes "org.nnpu.tflite SOFTMAX".
 */
static void name_extension(char *message, size_t size)
{
	static const char words[] = HAL_EXTENSION_NAME " operation ";
	char *at = strstr(message, words), rest[NNTFLITE_DIAG_SIZE];
	const char *name;
	int code, length;

	if (!at || sscanf(at + sizeof(words) - 1, "%5d%n", &code, &length) != 1)
		return;
	name = nntflite_operator_name(code);
	if (!name)
		return;
	snprintf(rest, sizeof(rest), "%s", at + sizeof(words) - 1 + length);
	snprintf(at, size - (size_t)(at - message), "%s %s%s", HAL_EXTENSION_NAME, name, rest);
}

void explain_place(const struct map_model *model, const struct nnhal_diag *why,
		   struct nntflite_diag *diag)
{
	struct nnhal_ext_place place = NNHAL_EXT_PLACE_INIT;
	char op[160] = "", subgraph[32] = "", tensor[128] = "";
	const struct tflite_subgraph *sub;
	const struct hal_graph *g;
	uint32_t graph;

	diag_fail(diag, "%s", why->message);
	name_extension(diag->message, sizeof(diag->message));
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
	if (diag->op != NNTFLITE_NONE) {
		print_operator(model, g, diag->op, op, sizeof(op));
	} else {
		/* What only moves a tensor into or out of a subgraph is no operator in it. */
		print_runner(model, graph, op, sizeof(op));
		if (diag->subgraph != 0)
			snprintf(subgraph, sizeof(subgraph), "subgraph %" PRIu32 ", ",
				 diag->subgraph);
	}
	if (diag->tensor != NNTFLITE_NONE)
		snprintf(tensor, sizeof(tensor), "tensor %" PRIu32 " '%s': ", diag->tensor,
			 TEXT(sub->tensors[diag->tensor].name));
	diag_prefix(diag, "%s%s%s", op, subgraph, tensor);
}
