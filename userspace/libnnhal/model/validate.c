// SPDX-License-Identifier: MIT
/*
 * Rules that every model has to obey, whatever its operations mean.
 *
 * Types, shapes, quantization, places of constants, indexes, execution order and
 * consumer counts are judged here, for the main subgraph and every referenced one;
 * whether types and ranks of operands fit the operation, in validate_signature.c. What
 * depends on values and shapes is judged by the device.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "device/extensions.h"
#include "memory/memory_private.h"
#include "model/model_copy.h"
#include "model/validate.h"

/* What the checks of one subgraph share. */
struct check {
	const struct nnhal_model *model;
	const struct nnhal_subgraph *sg;
	uint32_t version;
	char where[24];			/* "" or "subgraph 3 " */
	const uint32_t *known;		/* signature_known() of the operands */
	struct nnhal_diag *diag;
};

#define FAIL(c, fmt, ...) \
	(diag_set((c)->diag, "%s" fmt, (c)->where, ##__VA_ARGS__), false)

static bool is_constant(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       op->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

static bool is_written(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_TEMPORARY_VARIABLE ||
	       op->lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
}

/* The high half of an extension type names an extension of the model. */
static bool known_prefix(const struct nnhal_model *model, uint32_t type)
{
	uint32_t i;

	for (i = 0; i < model->num_extensions; i++)
		if (model->extensions[i].prefix == type >> 16)
			return true;
	return false;
}

static bool check_type(const struct check *c, uint32_t i, const struct nnhal_operand *op)
{
	if (!nnhal_validate_operand_type(op->type, c->version))
		return FAIL(c, "operand %u: type %u does not exist in this HAL version", i,
			    op->type);
	if (nnhal_is_extension_operand_type(op->type) && !known_prefix(c->model, op->type))
		return FAIL(c, "operand %u: no extension has the prefix 0x%x of type 0x%x", i,
			    op->type >> 16, op->type);
	return true;
}

static bool check_shape(const struct check *c, uint32_t i, const struct nnhal_operand *op)
{
	uint32_t d;

	if (nnhal_is_extension_operand_type(op->type))
		return true;
	if (nnhal_operand_type_is_scalar(op->type)) {
		if (op->num_dimensions)
			return FAIL(c, "operand %u: scalar %s has rank %u, expected 0", i,
				    nnhal_operand_type_name(op->type), op->num_dimensions);
		return true;
	}
	if (!op->num_dimensions && (c->version < NNHAL_HAL_1_2 || is_constant(op)))
		return FAIL(c, "operand %u: %s %s tensor of rank 0", i,
			    nnhal_lifetime_name(op->lifetime), nnhal_operand_type_name(op->type));
	for (d = 0; is_constant(op) && d < op->num_dimensions; d++)
		if (!op->dimensions[d])
			return FAIL(c, "operand %u: dimension %u of a constant is 0", i, d);
	if (nnhal_size_of_data_overflows(nnhal_element_size(op->type), op->dimensions,
					 op->num_dimensions))
		return FAIL(c, "operand %u: size takes more than 32 bits", i);
	return true;
}

static bool check_scale(const struct check *c, uint32_t i, const struct nnhal_operand *op)
{
	if (!isfinite(op->scale))
		return FAIL(c, "operand %u: scale is not finite", i);
	switch (op->type) {
	case NNHAL_OPERAND_OEM:
	case NNHAL_OPERAND_TENSOR_OEM_BYTE:
		return true;
	case NNHAL_OPERAND_TENSOR_INT32:
		if (op->scale < 0.0f)
			return FAIL(c, "operand %u: scale %g of TENSOR_INT32, expected >= 0", i,
				    op->scale);
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		if (op->scale <= 0.0f)
			return FAIL(c, "operand %u: scale %g of %s, expected > 0", i, op->scale,
				    nnhal_operand_type_name(op->type));
		return true;
	default:
		if (op->scale != 0.0f)
			return FAIL(c, "operand %u: scale %g of %s, expected 0", i, op->scale,
				    nnhal_operand_type_name(op->type));
		return true;
	}
}

static bool check_zero_point(const struct check *c, uint32_t i, const struct nnhal_operand *op)
{
	int32_t min = 0, max = 0;

	switch (op->type) {
	case NNHAL_OPERAND_OEM:
	case NNHAL_OPERAND_TENSOR_OEM_BYTE:
		return true;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		max = UINT8_MAX;
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		min = INT8_MIN;
		max = INT8_MAX;
		break;
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		max = UINT16_MAX;
		break;
	default:
		break;
	}
	if (op->zero_point < min || op->zero_point > max)
		return FAIL(c, "operand %u: zeroPoint %d of %s, expected %d to %d", i,
			    op->zero_point, nnhal_operand_type_name(op->type), min, max);
	return true;
}

static bool check_channel_quant(const struct check *c, uint32_t i,
				const struct nnhal_operand *op)
{
	const struct nnhal_channel_quant *cq = &op->extra_params.channel_quant;
	uint32_t s;

	if (op->extra_params.kind != NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		return FAIL(c, "operand %u: per-channel type without channelQuant", i);
	if (cq->channel_dim >= op->num_dimensions)
		return FAIL(c, "operand %u: channelDim %u, but the rank is %u", i,
			    cq->channel_dim, op->num_dimensions);
	if (!op->dimensions[cq->channel_dim])
		return FAIL(c, "operand %u: dimension %u, the channelDim, is 0", i,
			    cq->channel_dim);
	if (cq->num_scales != op->dimensions[cq->channel_dim])
		return FAIL(c, "operand %u: %u channel scales for %u channels", i,
			    cq->num_scales, op->dimensions[cq->channel_dim]);
	for (s = 0; s < cq->num_scales; s++)
		if (!isfinite(cq->scales[s]) || cq->scales[s] <= 0.0f)
			return FAIL(c, "operand %u: channel scale %u is %g, expected > 0", i, s,
				    cq->scales[s]);
	return true;
}

static bool check_extra_params(const struct check *c, uint32_t i,
			       const struct nnhal_operand *op)
{
	uint32_t kind = op->extra_params.kind;

	if (op->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return check_channel_quant(c, i, op);
	if (nnhal_is_extension_operand_type(op->type)) {
		if (kind != NNHAL_EXTRA_PARAMS_NONE && kind != NNHAL_EXTRA_PARAMS_EXTENSION)
			return FAIL(c, "operand %u: extraParams kind %u of an extension type",
				    i, kind);
	} else if (kind != NNHAL_EXTRA_PARAMS_NONE) {
		return FAIL(c, "operand %u: extraParams kind %u of %s, expected none", i, kind,
			    nnhal_operand_type_name(op->type));
	}
	return true;
}

/* Offset and length of a constant inside @size bytes; length as the shape says. */
static bool check_data(const struct check *c, uint32_t i, const struct nnhal_operand *op,
		       uint64_t size)
{
	const struct nnhal_data_location *loc = &op->location;
	uint32_t expected;

	if ((uint64_t)loc->offset + loc->length > size)
		return FAIL(c, "operand %u: offset %u + length %u is beyond the %llu bytes there",
			    i, loc->offset, loc->length, (unsigned long long)size);
	if (nnhal_is_extension_operand_type(op->type) || op->type == NNHAL_OPERAND_OEM ||
	    op->type == NNHAL_OPERAND_TENSOR_OEM_BYTE)
		return true;
	if (nnhal_size_of_data(op->type, op->dimensions, op->num_dimensions, &expected) ||
	    loc->length != expected)
		return FAIL(c, "operand %u: length %u of a constant, expected %u", i, loc->length,
			    expected);
	return true;
}

static bool check_location(const struct check *c, uint32_t i, const struct nnhal_operand *op)
{
	const struct nnhal_data_location *loc = &op->location;

	if ((op->lifetime == NNHAL_LIFETIME_SUBGRAPH) != (op->type == NNHAL_OPERAND_SUBGRAPH))
		return FAIL(c, "operand %u: type %s with lifetime %s", i,
			    nnhal_operand_type_name(op->type), nnhal_lifetime_name(op->lifetime));
	switch (op->lifetime) {
	case NNHAL_LIFETIME_CONSTANT_COPY:
		if (loc->pool_index)
			return FAIL(c, "operand %u: poolIndex %u of CONSTANT_COPY, expected 0", i,
				    loc->pool_index);
		return check_data(c, i, op, c->model->operand_values_size);
	case NNHAL_LIFETIME_CONSTANT_REFERENCE:
		if (loc->pool_index >= c->model->num_pools)
			return FAIL(c, "operand %u: poolIndex %u, but there are %u pools", i,
				    loc->pool_index, c->model->num_pools);
		return check_data(c, i, op, c->model->pools[loc->pool_index]->size);
	case NNHAL_LIFETIME_SUBGRAPH:
		if (loc->pool_index || loc->length)
			return FAIL(c, "operand %u: poolIndex %u, length %u of a subgraph, expected 0",
				    i, loc->pool_index, loc->length);
		if (loc->offset >= c->model->num_referenced)
			return FAIL(c, "operand %u: subgraph %u, but %u are referenced", i,
				    loc->offset, c->model->num_referenced);
		return true;
	default:
		if (loc->pool_index || loc->offset || loc->length)
			return FAIL(c, "operand %u: location {%u, %u, %u} of %s, expected zeros", i,
				    loc->pool_index, loc->offset, loc->length,
				    nnhal_lifetime_name(op->lifetime));
		return true;
	}
}

static bool check_operand(const struct check *c, uint32_t i)
{
	const struct nnhal_operand *op = &c->sg->operands[i];
	uint32_t last = c->version >= NNHAL_HAL_1_3 ? NNHAL_LIFETIME_SUBGRAPH
						    : NNHAL_LIFETIME_NO_VALUE;

	if (op->lifetime > last)
		return FAIL(c, "operand %u: lifetime %u does not exist in this HAL version", i,
			    op->lifetime);
	return check_type(c, i, op) && check_shape(c, i, op) && check_scale(c, i, op) &&
	       check_zero_point(c, i, op) && check_extra_params(c, i, op) &&
	       check_location(c, i, op);
}

/* inputIndexes or outputIndexes: exactly the operands of @lifetime, each once. */
static bool check_index_list(const struct check *c, const char *name, const uint32_t *indexes,
			     uint32_t count, uint32_t lifetime, uint8_t *seen)
{
	uint32_t i;

	memset(seen, 0, c->sg->num_operands);
	for (i = 0; i < count; i++) {
		uint32_t index = indexes[i];

		if (index >= c->sg->num_operands)
			return FAIL(c, "%s %u: operand %u, but there are %u", name, i, index,
				    c->sg->num_operands);
		if (c->sg->operands[index].lifetime != lifetime)
			return FAIL(c, "%s %u: operand %u has lifetime %s, expected %s", name, i,
				    index, nnhal_lifetime_name(c->sg->operands[index].lifetime),
				    nnhal_lifetime_name(lifetime));
		if (seen[index])
			return FAIL(c, "%s %u: operand %u is listed twice", name, i, index);
		seen[index] = 1;
	}
	for (i = 0; i < c->sg->num_operands; i++)
		if (c->sg->operands[i].lifetime == lifetime && !seen[i])
			return FAIL(c, "operand %u: lifetime %s, but not listed in %s", i,
				    nnhal_lifetime_name(lifetime), name);
	return true;
}

/* Reads come after writes, writes happen once. @written: one flag per operand. */
static bool check_operation(const struct check *c, uint32_t i, uint8_t *written,
			    uint32_t *consumers)
{
	const struct nnhal_operation *o = &c->sg->operations[i];
	uint32_t k, index;

	if (!nnhal_validate_operation_type(o->type, c->version))
		return FAIL(c, "operation %u: type %u does not exist in this HAL version", i,
			    o->type);
	if (nnhal_is_extension_operation_type(o->type) && !known_prefix(c->model, o->type))
		return FAIL(c, "operation %u: no extension has the prefix 0x%x of type 0x%x", i,
			    o->type >> 16, o->type);
	for (k = 0; k < o->num_inputs; k++) {
		index = o->inputs[k];
		if (index >= c->sg->num_operands)
			return FAIL(c, "operation %u (%s) input %u: operand %u, but there are %u",
				    i, nnhal_operation_type_name(o->type), k, index,
				    c->sg->num_operands);
		if (is_written(&c->sg->operands[index]) && !written[index])
			return FAIL(c, "operation %u (%s) input %u: operand %u is not written before",
				    i, nnhal_operation_type_name(o->type), k, index);
		consumers[index]++;
	}
	for (k = 0; k < o->num_outputs; k++) {
		index = o->outputs[k];
		if (index >= c->sg->num_operands)
			return FAIL(c, "operation %u (%s) output %u: operand %u, but there are %u",
				    i, nnhal_operation_type_name(o->type), k, index,
				    c->sg->num_operands);
		if (!is_written(&c->sg->operands[index]))
			return FAIL(c, "operation %u (%s) output %u: operand %u is %s, which cannot be written",
				    i, nnhal_operation_type_name(o->type), k, index,
				    nnhal_lifetime_name(c->sg->operands[index].lifetime));
		if (written[index])
			return FAIL(c, "operation %u (%s) output %u: operand %u is written twice",
				    i, nnhal_operation_type_name(o->type), k, index);
		written[index] = 1;
	}
	if (!validate_signature(c->sg, i, c->known, c->version, c->where, c->diag))
		return false;
	if (o->type == NNHAL_OPERATION_IF || o->type == NNHAL_OPERATION_WHILE)
		return validate_control_flow(c->model, c->sg, c->where, i, c->diag);
	return true;
}

static bool check_flow(const struct check *c, uint8_t *written, uint32_t *consumers)
{
	uint32_t i;

	memset(written, 0, c->sg->num_operands);
	for (i = 0; i < c->sg->num_operations; i++)
		if (!check_operation(c, i, written, consumers))
			return false;
	for (i = 0; i < c->sg->num_operands; i++) {
		const struct nnhal_operand *op = &c->sg->operands[i];

		if (is_written(op) && !written[i])
			return FAIL(c, "operand %u: %s that no operation writes", i,
				    nnhal_lifetime_name(op->lifetime));
		if (op->number_of_consumers != consumers[i])
			return FAIL(c, "operand %u: numberOfConsumers %u, but %u operation inputs read it",
				    i, op->number_of_consumers, consumers[i]);
	}
	return true;
}

static bool check_lists(const struct check *c, uint8_t *seen)
{
	return check_index_list(c, "inputIndexes", c->sg->input_indexes, c->sg->num_inputs,
				NNHAL_LIFETIME_SUBGRAPH_INPUT, seen) &&
	       check_index_list(c, "outputIndexes", c->sg->output_indexes,
				c->sg->num_outputs, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, seen);
}

static bool check_counts(const struct check *c)
{
	if (!c->sg->num_operands)
		return FAIL(c, "no operands");
	if (!c->sg->num_operations)
		return FAIL(c, "no operations");
	if (!c->sg->num_inputs)
		return FAIL(c, "no inputs");
	if (!c->sg->num_outputs)
		return FAIL(c, "no outputs");
	return true;
}

/* @number: of the referenced subgraph, or -1 for the main one. */
static enum nnhal_status check_subgraph(const struct nnhal_model *model,
					const struct nnhal_subgraph *sg, int64_t number,
					struct nnhal_diag *diag)
{
	struct check c = {
		.model = model, .sg = sg, .diag = diag,
		.version = hal_version_of(model->hal_version),
	};
	uint32_t *consumers, *known;
	uint8_t *flags;
	bool valid;
	uint32_t i;

	if (number >= 0)
		snprintf(c.where, sizeof(c.where), "subgraph %u ", (uint32_t)number);
	if (!check_counts(&c))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	for (i = 0; i < sg->num_operands; i++)
		if (!check_operand(&c, i))
			return NNHAL_STATUS_INVALID_ARGUMENT;
	consumers = calloc(sg->num_operands, sizeof(*consumers) + sizeof(*known) + sizeof(*flags));
	if (!consumers) {
		diag_set(diag, "no memory to check %u operands", sg->num_operands);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	known = consumers + sg->num_operands;
	flags = (uint8_t *)(known + sg->num_operands);
	for (i = 0; i < sg->num_operands; i++)
		known[i] = signature_known(&sg->operands[i]);
	c.known = known;
	valid = check_lists(&c, flags) && check_flow(&c, flags, consumers);
	free(consumers);
	return valid ? NNHAL_STATUS_NONE : NNHAL_STATUS_INVALID_ARGUMENT;
}

static bool check_pools(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	uint32_t version = hal_version_of(model->hal_version);
	uint32_t i;

	for (i = 0; i < model->num_pools; i++) {
		if (!model->pools[i]) {
			diag_set(diag, "pool %u: no memory", i);
			return false;
		}
		if (version < NNHAL_HAL_1_2 &&
		    model->pools[i]->kind > NNHAL_MEMORY_MMAP_FD) {
			diag_set(diag, "pool %u: memory of this kind does not exist in HAL 1.0 and 1.1",
				 i);
			return false;
		}
	}
	return true;
}

/* Names and prefixes of extensions are one-to-one. */
static bool check_extensions(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	uint32_t version = hal_version_of(model->hal_version);
	uint32_t i, j;

	if (model->num_extensions && version < NNHAL_HAL_1_2) {
		diag_set(diag, "extensions do not exist in HAL 1.0 and 1.1");
		return false;
	}
	/* Prefixes have 16 bits; more entries than that repeat one. */
	if (model->num_extensions > UINT16_MAX) {
		diag_set(diag, "%u extensions, expected at most %u", model->num_extensions,
			 UINT16_MAX);
		return false;
	}
	for (i = 0; i < model->num_extensions; i++) {
		const struct nnhal_extension_prefix *ext = &model->extensions[i];

		if (!ext->name || !ext->name[0] || !ext->prefix) {
			diag_set(diag, "extension %u: no name or prefix 0", i);
			return false;
		}
		for (j = 0; j < i; j++)
			if (model->extensions[j].prefix == ext->prefix ||
			    !strcmp(model->extensions[j].name, ext->name)) {
				diag_set(diag, "extension %u: name or prefix of extension %u", i,
					 j);
				return false;
			}
	}
	return true;
}

enum nnhal_status validate_model(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	uint32_t version = hal_version_of(model->hal_version);
	enum nnhal_status status;
	uint32_t i;

	if (!version) {
		diag_set(diag, "hal_version %u is not known", model->hal_version);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (model->num_referenced && version < NNHAL_HAL_1_3) {
		diag_set(diag, "referenced subgraphs do not exist before HAL 1.3");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!check_pools(model, diag) || !check_extensions(model, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	/*
	 * Referenced subgraphs first: the rules of IF and WHILE look into them and
	 * may then rely on their indexes.
	 */
	for (i = 0; i < model->num_referenced; i++) {
		const struct nnhal_subgraph *sg = &model->referenced[i];
		uint32_t k;

		for (k = 0; k < sg->num_inputs + (uint64_t)sg->num_outputs; k++) {
			uint32_t index = k < sg->num_inputs
				? sg->input_indexes[k]
				: sg->output_indexes[k - sg->num_inputs];

			if (index >= sg->num_operands) {
				diag_set(diag, "subgraph %u: inputIndexes or outputIndexes name operand %u, but there are %u",
					 i, index, sg->num_operands);
				return NNHAL_STATUS_INVALID_ARGUMENT;
			}
		}
	}
	for (i = 0; i < model->num_referenced; i++) {
		status = check_subgraph(model, &model->referenced[i], i, diag);
		if (status)
			return status;
	}
	status = check_subgraph(model, &model->main, -1, diag);
	if (status)
		return status;
	return validate_references(model, diag);
}

bool nnhal_validate_model(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	struct model_copy copy;
	bool valid;

	diag_clear(diag);
	if (!model) {
		diag_set(diag, "no model");
		return false;
	}
	if (model_copy_init(&copy, model, diag))
		return false;
	valid = !validate_model(&copy.model, diag);
	model_copy_fini(&copy);
	return valid;
}
