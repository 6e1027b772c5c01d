// SPDX-License-Identifier: MIT
/*
 * The signed twin of a case on unsigned quantized tensors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/types.h>

#include "twin.h"

/*
 * Operations that the HAL defines for unsigned tensors only, or that use quantized values as
 * numbers.
 */
static bool has_no_twin(uint32_t operation)
{
	return operation == NNHAL_OPERATION_HASHTABLE_LOOKUP ||
	       operation == NNHAL_OPERATION_LSH_PROJECTION ||
	       operation == NNHAL_OPERATION_PAD_V2 || operation == NNHAL_OPERATION_CAST ||
	       operation == NNHAL_OPERATION_QUANTIZED_16BIT_LSTM;
}

static bool is_unsigned(const struct nntc_operand *o)
{
	return o->type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM;
}

static enum build_result none(enum build_result result, const char *why, char *reason)
{
	snprintf(reason, REASON_TEXT, "%s", why);
	return result;
}

enum build_result twin_init(struct twin *t, const struct nntc_case *nc, char *reason)
{
	size_t bytes = 0, at = 0;
	bool any = false;

	memset(t, 0, sizeof(*t));
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		any |= is_unsigned(&nc->main.operands[i]);
		bytes += is_unsigned(&nc->main.operands[i]) ? nc->main.operands[i].num_bytes : 0;
	}
	if (!any || nc->main.num_operations != 1 || nc->num_referenced)
		return none(BUILD_SKIP, "not one operation on TENSOR_QUANT8_ASYMM", reason);
	if (has_no_twin(nc->main.operations[0].type))
		return none(BUILD_SKIP, "the HAL has no signed form of the operation", reason);
	t->operands = calloc(nc->main.num_operands, sizeof(*t->operands));
	t->data = malloc(bytes + 1);
	if (!t->operands || !t->data) {
		twin_free(t);
		return none(BUILD_FAIL, "no memory for the case", reason);
	}
	memcpy(t->operands, nc->main.operands, nc->main.num_operands * sizeof(*t->operands));
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		struct nntc_operand *o = &t->operands[i];

		if (!is_unsigned(o))
			continue;
		o->type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
		/* A zero point out of range stays out of range. */
		o->zero_point = (int32_t)((uint32_t)o->zero_point - 128u);
		for (uint32_t k = 0; k < o->num_bytes; k++)
			t->data[at + k] = o->data[k] ^ 0x80;
		o->data = t->data + at;
		at += o->num_bytes;
	}
	t->nc = *nc;
	t->nc.main.operands = t->operands;
	return BUILD_DONE;
}

void twin_free(struct twin *t)
{
	free(t->operands);
	free(t->data);
	memset(t, 0, sizeof(*t));
}
