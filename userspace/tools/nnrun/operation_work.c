// SPDX-License-Identifier: MIT
/*
 * What an operation of a model takes, as far as its shapes tell.
 */
#include <stdlib.h>
#include <string.h>

#include "operation_work.h"

/* Product of the sizes; 0 if one is not known or the product is absurd. */
static uint64_t elements_of(const struct nnhal_operand *operand)
{
	uint64_t elements = 1;
	uint32_t i;

	for (i = 0; i < operand->num_dimensions; i++) {
		if (__builtin_mul_overflow(elements, operand->dimensions[i], &elements))
			return 0;
	}
	return operand->num_dimensions ? elements : 0;
}

static uint32_t dim(const struct nnhal_operand *operand, uint32_t i)
{
	return i < operand->num_dimensions ? operand->dimensions[i] : 0;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/* Input 0 is the data, input 1 the filter: outputs x height x width x inputs (of a group). */
static uint64_t macs_of(const struct nnhal_subgraph *graph, const struct nnhal_operation *op)
{
	const struct nnhal_operand *in, *filter, *out;
	uint64_t window;

	if (op->num_inputs < 2 || op->num_outputs < 1)
		return 0;
	in = &graph->operands[op->inputs[0]];
	filter = &graph->operands[op->inputs[1]];
	out = &graph->operands[op->outputs[0]];
	window = times(dim(filter, 1), dim(filter, 2));
	switch (op->type) {
	case NNHAL_OPERATION_CONV_2D:
	case NNHAL_OPERATION_GROUPED_CONV_2D:
		return times(elements_of(out), times(window, dim(filter, 3)));
	case NNHAL_OPERATION_DEPTHWISE_CONV_2D:
		return times(elements_of(out), window);
	case NNHAL_OPERATION_TRANSPOSE_CONV_2D:
		/* Each element of the input goes to a window of each output channel. */
		return times(elements_of(in), times(window, dim(filter, 0)));
	case NNHAL_OPERATION_FULLY_CONNECTED:
		return times(elements_of(out), dim(filter, 1));
	default:
		return 0;
	}
}

/* The last operation that reads each operand; its own maker if none does. */
static void find_last_uses(const struct nnhal_subgraph *graph, uint32_t *last)
{
	uint32_t i, k;

	for (i = 0; i < graph->num_operations; i++) {
		const struct nnhal_operation *op = &graph->operations[i];

		for (k = 0; k < op->num_inputs; k++)
			last[op->inputs[k]] = i;
		for (k = 0; k < op->num_outputs; k++)
			last[op->outputs[k]] = i;
	}
}

static uint64_t bytes_of(const struct nnhal_operand *operand)
{
	if (operand->lifetime != NNHAL_LIFETIME_TEMPORARY_VARIABLE)
		return 0;
	return times(elements_of(operand), nnhal_element_size(operand->type));
}

int operation_work_of(const struct nnhal_model *model, struct operation_work *work)
{
	const struct nnhal_subgraph *graph = &model->main;
	uint32_t *last = calloc(graph->num_operands + 1, sizeof(*last));
	uint64_t *ending = calloc(graph->num_operations + 1, sizeof(*ending));
	uint64_t live = 0;
	uint32_t i, k;

	if (!last || !ending) {
		free(last);
		free(ending);
		return -1;
	}
	find_last_uses(graph, last);
	for (i = 0; i < graph->num_operations; i++) {
		const struct nnhal_operation *op = &graph->operations[i];

		for (k = 0; k < op->num_outputs; k++) {
			uint64_t bytes = bytes_of(&graph->operands[op->outputs[k]]);

			live += bytes;
			ending[last[op->outputs[k]]] += bytes;
		}
		work[i].macs = macs_of(graph, op);
		work[i].live = live;
		live -= ending[i];
	}
	free(last);
	free(ending);
	return 0;
}
