// SPDX-License-Identifier: MIT
/*
 * The order of operations: programs add them as they like, the HAL wants the order of execution.
 *
 * An operation waits for the inputs that others write. One whose last input is written is ready.
 * Time and memory are in proportion to the model.
 */
#include <stdlib.h>

#include "base/ndk_why.h"
#include "model/ndk_model.h"

#define NO_WRITER	UINT32_MAX

struct sorting {
	uint32_t *writer;	/* of each operand */
	uint32_t *missing;	/* of each operation: inputs that are not written yet */
	uint32_t *first;	/* of each operand: its readers in @readers */
	uint32_t *readers;
};

/* Who writes and who reads each operand; BAD_DATA: one is written twice. */
static int connect(struct sorting *s, const ANeuralNetworksModel *model)
{
	uint32_t i, k, operand, at = 0;

	for (i = 0; i < model->num_operands; i++)
		s->writer[i] = NO_WRITER;
	for (i = 0; i < model->num_operations; i++)
		for (k = 0; k < model->operations[i].num_outputs; k++) {
			operand = model->operations[i].outputs[k];
			if (s->writer[operand] != NO_WRITER)
				return ndk_why(ANEURALNETWORKS_BAD_DATA,
					       "operand %u is written by operations %u and %u", operand,
					       s->writer[operand], i);
			s->writer[operand] = i;
		}
	for (i = 0; i < model->num_operations; i++)
		for (k = 0; k < model->operations[i].num_inputs; k++)
			s->first[model->operations[i].inputs[k] + 1]++;
	for (i = 0; i < model->num_operands; i++)
		s->first[i + 1] += s->first[i];
	for (i = 0; i < model->num_operations; i++)
		for (k = 0; k < model->operations[i].num_inputs; k++) {
			operand = model->operations[i].inputs[k];
			at = s->first[operand]++;
			s->readers[at] = i;
			if (s->writer[operand] != NO_WRITER)
				s->missing[i]++;
		}
	for (i = model->num_operands; i > 0; i--)
		s->first[i] = s->first[i - 1];
	s->first[0] = 0;
	return ANEURALNETWORKS_NO_ERROR;
}

static uint32_t sort(struct sorting *s, const ANeuralNetworksModel *model, uint32_t *order)
{
	uint32_t count = 0, next, i, k, operand;

	for (i = 0; i < model->num_operations; i++)
		if (!s->missing[i])
			order[count++] = i;
	for (next = 0; next < count; next++) {
		const struct nnhal_operation *op = &model->operations[order[next]];

		for (k = 0; k < op->num_outputs; k++) {
			operand = op->outputs[k];
			for (i = s->first[operand]; i < s->first[operand + 1]; i++)
				if (!--s->missing[s->readers[i]])
					order[count++] = s->readers[i];
		}
	}
	return count;
}

int ndk_sort_operations(ANeuralNetworksModel *model)
{
	uint64_t links = 0, words;
	struct sorting s;
	struct nnhal_operation *sorted;
	uint32_t *order, i;
	int result;

	for (i = 0; i < model->num_operations; i++)
		links += model->operations[i].num_inputs;
	if (links > INT32_MAX)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "more than 2^31 inputs of operations");
	words = 2 * (uint64_t)model->num_operands + 2 + model->num_operations + links;
	s.writer = calloc(words, sizeof(uint32_t));
	order = ndk_model_alloc(model, model->num_operations, sizeof(*order));
	sorted = malloc(model->num_operations * sizeof(*sorted));
	if (!s.writer || !order || !sorted) {
		free(s.writer);
		free(sorted);
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	}
	s.first = s.writer + model->num_operands;
	s.missing = s.first + model->num_operands + 1;
	s.readers = s.missing + model->num_operations;
	result = connect(&s, model);
	if (!result && sort(&s, model, order) != model->num_operations)
		result = ndk_why(ANEURALNETWORKS_BAD_DATA, "operations that wait for each other");
	if (!result) {
		for (i = 0; i < model->num_operations; i++)
			sorted[i] = model->operations[order[i]];
		free(model->operations);
		model->operations = sorted;
		model->order = order;
		sorted = NULL;
	}
	free(sorted);
	free(s.writer);
	return result;
}
