// SPDX-License-Identifier: MIT
/*
 * The device memory that a model needs at least.
 */
#include <stdlib.h>

#include "needed_memory.h"
#include "operand_bytes.h"

static bool is_constant(const struct nnhal_operand *o)
{
	return o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

/*
 * What says what the numbers of a quantized operand mean. It is as much a part of the model as its
 * weights are: no implementation can do without the scales and zero points that the file gives.
 */
static uint64_t quantization_bytes(const struct nnhal_operand *o)
{
	if (o->lifetime == NNHAL_LIFETIME_NO_VALUE)
		return 0;
	switch (o->type) {
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL:
		return o->extra_params.channel_quant.num_scales * sizeof(float);
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		return sizeof(o->scale) + sizeof(o->zero_point);
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		return sizeof(o->scale);
	default:
		/* A bias has the product of two scales that are counted. */
		return 0;
	}
}

int needed_memory_of(const struct nnhal_model *model, struct needed_memory *m, struct error *err)
{
	const struct nnhal_subgraph *b = &model->main;
	uint32_t *first = calloc(b->num_operands, sizeof(*first));
	uint32_t *last = calloc(b->num_operands, sizeof(*last));

	if (!first || !last) {
		free(first);
		free(last);
		return fail(err, "out of memory");
	}
	*m = (struct needed_memory) { 0 };
	for (uint32_t i = 0; i < b->num_operations; i++) {
		const struct nnhal_operation *op = &b->operations[i];

		for (uint32_t k = 0; k < op->num_inputs; k++)
			last[op->inputs[k]] = i;
		for (uint32_t k = 0; k < op->num_outputs; k++) {
			first[op->outputs[k]] = i;
			last[op->outputs[k]] = i;
		}
	}
	for (uint32_t i = 0; i < b->num_operands; i++) {
		if (b->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT)
			last[i] = b->num_operations - 1;
		if (is_constant(&b->operands[i]))
			m->constants += operand_bytes(&b->operands[i]);
		m->constants += quantization_bytes(&b->operands[i]);
	}
	for (uint32_t at = 0; at < b->num_operations; at++) {
		uint64_t live = 0;

		for (uint32_t i = 0; i < b->num_operands; i++) {
			if (!is_constant(&b->operands[i]) && first[i] <= at && at <= last[i])
				live += operand_bytes(&b->operands[i]);
		}
		m->activations = live > m->activations ? live : m->activations;
	}
	free(first);
	free(last);
	return 0;
}
