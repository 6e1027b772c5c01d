// SPDX-License-Identifier: MIT
/*
 * Do the operands of an operation fit its signature?
 *
 * The table of signatures lists the valid combinations of types and ranks for each version
 * of the HAL. The device checks what depends on values and shapes.
 */
#include <signature.h>
#include <stdio.h>

#include <nnhal/nnhal.h>
#include <nnhal/util.h>

#include "base/base.h"
#include "base/diag.h"
#include "model/validate.h"

_Static_assert((int)SIG_1_0 == NNHAL_HAL_1_0 && (int)SIG_1_3 == NNHAL_HAL_1_3, "versions");

uint32_t signature_known(const struct nnhal_operand *op)
{
	return signature_operand(op->type, op->num_dimensions, op->num_dimensions,
				 op->lifetime == NNHAL_LIFETIME_NO_VALUE);
}

static const char *version_text(uint32_t version)
{
	static const char *const texts[] = { "?", "1.0", "1.1", "1.2", "1.3" };

	return version < ARRAY_SIZE(texts) ? texts[version] : texts[0];
}

/* "TENSOR_FLOAT32 or TENSOR_FLOAT16"; cut off if it does not fit. */
static void types_text(uint32_t types, char *text, size_t size)
{
	size_t at = 0;
	uint32_t type;

	text[0] = '\0';
	for (type = 0; type < 16 && at < size; type++)
		if (types >> type & 1)
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? " or " : "",
					       nnhal_operand_type_name(type));
	if (!at)
		snprintf(text, size, "no type of this HAL version");
}

static void explain(const struct nnhal_subgraph *sg, uint32_t i,
		    const struct signature_operands *o, uint32_t version, const char *where,
		    struct nnhal_diag *diag)
{
	const struct nnhal_operation *operation = &sg->operations[i];
	struct signature_error e;
	uint32_t index, position;
	const char *name, *kind;
	char types[160];

	signature_explain(operation->type, version, o, &e);
	name = nnhal_operation_type_name(operation->type);
	kind = e.operand < o->num_inputs ? "input" : "output";
	position = e.operand < o->num_inputs ? e.operand : e.operand - o->num_inputs;
	switch (e.misfit) {
	case SIG_COUNT:
		diag_set(diag, "%soperation %u (%s): no form of it has %u inputs and %u outputs in HAL %s",
			 where, i, name, o->num_inputs, o->num_outputs, version_text(version));
		return;
	case SIG_LATER:
		diag_set(diag, "%soperation %u (%s): exists with these operands since HAL %s, the model is one of %s",
			 where, i, name, version_text(e.since), version_text(version));
		return;
	default:
		break;
	}
	index = e.operand < o->num_inputs ? o->inputs[position] : o->outputs[position];
	switch (e.misfit) {
	case SIG_WRONG_TYPE:
		types_text(e.types, types, sizeof(types));
		diag_set(diag, "%soperation %u (%s) %s %u: operand %u is %s, expected %s", where, i,
			 name, kind, position, index,
			 nnhal_operand_type_name(sg->operands[index].type), types);
		return;
	case SIG_WRONG_RANK:
		diag_set(diag, "%soperation %u (%s) %s %u: operand %u has rank %u, expected %u to %u",
			 where, i, name, kind, position, index,
			 sg->operands[index].num_dimensions, e.min_rank, e.max_rank);
		return;
	case SIG_NOT_OMITTABLE:
		diag_set(diag, "%soperation %u (%s) %s %u: operand %u is omitted, which it must not be",
			 where, i, name, kind, position, index);
		return;
	default:
		diag_set(diag, "%soperation %u (%s): has no signature", where, i, name);
	}
}

/* Rules for TENSOR_QUANT8_ASYMM operands before 1.2: the one that is broken, or NULL. */
static const char *broken_rule(const struct nnhal_subgraph *sg, const struct nnhal_operation *o,
			       uint32_t rule)
{
	const struct nnhal_operand *in0 = &sg->operands[o->inputs[0]];
	const struct nnhal_operand *out = &sg->operands[o->outputs[0]];
	uint32_t k;

	if (in0->type != NNHAL_OPERAND_TENSOR_QUANT8_ASYMM)
		return NULL;
	switch (rule) {
	case SIG_RULE_SCALE:
		return out->scale > in0->scale * sg->operands[o->inputs[1]].scale ? NULL :
		       "a scale of the output that is not above the product of those of inputs 0 and 1";
	case SIG_RULE_SAME_QUANT:
		/* The last input is the axis. */
		for (k = 0; k + 1 < o->num_inputs; k++)
			if (sg->operands[o->inputs[k]].scale != out->scale ||
			    sg->operands[o->inputs[k]].zero_point != out->zero_point)
				return "inputs of another scale or zeroPoint than the output";
		return NULL;
	case SIG_RULE_ZERO_POINT:
		return in0->zero_point ? "a zeroPoint other than 0" : NULL;
	default:
		return NULL;
	}
}

/* The product of two quantized tensors has a coarser scale than they give: in each version of the HAL. */
static bool check_product(const struct nnhal_subgraph *sg, uint32_t i, const char *where, struct nnhal_diag *diag)
{
	const struct nnhal_operation *o = &sg->operations[i];
	const struct nnhal_operand *a, *b;
	float scale;

	if (o->type != NNHAL_OPERATION_MUL)
		return true;
	a = &sg->operands[o->inputs[0]];
	b = &sg->operands[o->inputs[1]];
	scale = sg->operands[o->outputs[0]].scale;
	if (!nnhal_operand_type_is_quantized(a->type) || scale > a->scale * b->scale)
		return true;
	diag_set(diag, "%soperation %u (MUL): scale %g of output 0, expected more than %g * %g, those of the inputs",
		 where, i, scale, a->scale, b->scale);
	return false;
}

static bool has_signature(uint32_t operation)
{
	return operation != NNHAL_OPERATION_OEM_OPERATION &&
	       !nnhal_is_extension_operation_type(operation);
}

static void operands_init(struct signature_operands *o, const struct nnhal_operation *operation,
			  const uint32_t *known)
{
	*o = (struct signature_operands){
		.known = known,
		.inputs = operation->inputs, .num_inputs = operation->num_inputs,
		.outputs = operation->outputs, .num_outputs = operation->num_outputs,
	};
}

bool validate_signature(const struct nnhal_subgraph *sg, uint32_t i, const uint32_t *known,
			uint32_t version, const char *where, struct nnhal_diag *diag)
{
	const struct nnhal_operation *operation = &sg->operations[i];
	struct signature_operands o;
	const char *broken;

	if (!has_signature(operation->type))
		return true;
	operands_init(&o, operation, known);
	if (!signature_fits(operation->type, version, &o)) {
		explain(sg, i, &o, version, where, diag);
		return false;
	}
	if (!check_product(sg, i, where, diag))
		return false;
	if (version >= NNHAL_HAL_1_2)
		return true;
	broken = broken_rule(sg, operation, signature_find(operation->type)->rule);
	if (broken)
		diag_set(diag, "%soperation %u (%s): %s exists since HAL 1.2, the model is one of %s",
			 where, i, nnhal_operation_type_name(operation->type), broken,
			 version_text(version));
	return !broken;
}

uint32_t signature_operation_since(const struct nnhal_subgraph *sg, uint32_t i,
				   const uint32_t *known)
{
	const struct nnhal_operation *operation = &sg->operations[i];
	struct signature_operands o;
	uint32_t since = NNHAL_HAL_1_0, k;

	if (nnhal_is_extension_operation_type(operation->type))
		return NNHAL_HAL_1_2;
	operands_init(&o, operation, known);
	if (has_signature(operation->type))
		since = signature_since(operation->type, &o);
	if (since >= NNHAL_HAL_1_2)
		return since;
	/* Tensors of unknown rank came with 1.2. */
	for (k = 0; k < operation->num_inputs + operation->num_outputs; k++) {
		uint32_t index = k < operation->num_inputs
			? operation->inputs[k] : operation->outputs[k - operation->num_inputs];
		const struct nnhal_operand *op = &sg->operands[index];

		if (!op->num_dimensions && !nnhal_operand_type_is_scalar(op->type))
			return NNHAL_HAL_1_2;
	}
	if (has_signature(operation->type) &&
	    broken_rule(sg, operation, signature_find(operation->type)->rule))
		return NNHAL_HAL_1_2;
	return since;
}
