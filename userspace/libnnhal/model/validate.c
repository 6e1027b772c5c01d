// SPDX-License-Identifier: MIT
/*
 * Rules for every model, independent of its operations.
 *
 * This file checks indexes, execution order, consumer counts, pools and extensions of the
 * main subgraph and of every referenced one. validate_operand.c checks operands,
 * validate_control.c IF and WHILE, validate_signature.c whether types and ranks of operands
 * fit the operation. The device checks what depends on values and shapes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "device/extensions.h"
#include "memory/memory_private.h"
#include "model/model_copy.h"
#include "model/subgraph_check.h"
#include "model/validate.h"

static bool is_written(const struct nnhal_operand *op)
{
	return op->lifetime == NNHAL_LIFETIME_TEMPORARY_VARIABLE ||
	       op->lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
}

/* inputIndexes or outputIndexes: exactly the operands of @lifetime, each once. */
static bool check_index_list(const struct subgraph_check *c, const char *name,
			     const uint32_t *indexes, uint32_t count, uint32_t lifetime,
			     uint8_t *seen)
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
static bool check_operation(const struct subgraph_check *c, uint32_t i, uint8_t *written,
			    uint32_t *consumers)
{
	const struct nnhal_operation *o = &c->sg->operations[i];
	uint32_t k, index;

	if (!nnhal_validate_operation_type(o->type, c->version))
		return FAIL(c, "operation %u: type %u does not exist in this HAL version", i,
			    o->type);
	if (nnhal_is_extension_operation_type(o->type) && !validate_known_prefix(c->model, o->type))
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

static bool check_flow(const struct subgraph_check *c, uint8_t *written, uint32_t *consumers)
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

static bool check_lists(const struct subgraph_check *c, uint8_t *seen)
{
	return check_index_list(c, "inputIndexes", c->sg->input_indexes, c->sg->num_inputs,
				NNHAL_LIFETIME_SUBGRAPH_INPUT, seen) &&
	       check_index_list(c, "outputIndexes", c->sg->output_indexes,
				c->sg->num_outputs, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, seen);
}

static bool check_counts(const struct subgraph_check *c)
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
	struct subgraph_check c = {
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
		if (!validate_operand(&c, i))
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
		if (version < NNHAL_HAL_1_2 && memory_is_of_1_2(model->pools[i])) {
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
	 * Referenced subgraphs first: the rules of IF and WHILE use their indexes, which
	 * must be valid.
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

enum nnhal_status nnhal_check_model(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	struct model_copy copy;
	enum nnhal_status status;

	diag_clear(diag);
	if (!model) {
		diag_set(diag, "no model");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = model_copy_init(&copy, model, diag);
	if (status)
		return status;
	status = validate_model(&copy.model, diag);
	model_copy_fini(&copy);
	return status;
}

bool nnhal_validate_model(const struct nnhal_model *model, struct nnhal_diag *diag)
{
	return !nnhal_check_model(model, diag);
}
