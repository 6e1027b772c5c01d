// SPDX-License-Identifier: MIT
/*
 * Models in the forms of the HAL's versions.
 *
 * A conversion works on a private copy, like validation. The copy is the result; only the operands
 * of 1.0 and 1.1 are another structure and get an array of their own.
 */
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/hal_version.h"
#include "convert/converted.h"
#include "memory/memory_private.h"
#include "model/model_copy.h"
#include "model/validate.h"

/* The copy owns its arrays, so they may be written. */
static void count_consumers(const struct nnhal_subgraph *sg)
{
	struct nnhal_operand *operands = (struct nnhal_operand *)sg->operands;
	uint32_t i, k;

	for (i = 0; i < sg->num_operands; i++)
		operands[i].number_of_consumers = 0;
	for (i = 0; i < sg->num_operations; i++)
		for (k = 0; k < sg->operations[i].num_inputs; k++)
			if (sg->operations[i].inputs[k] < sg->num_operands)
				operands[sg->operations[i].inputs[k]].number_of_consumers++;
}

/* The bytes of constants too; model_copy_init() leaves them with the caller. */
static bool copy_values(struct converted *c)
{
	size_t size = c->model.model.operand_values_size;

	if (!size)
		return true;
	c->arrays[0] = malloc(size);
	if (!c->arrays[0])
		return false;
	memcpy(c->arrays[0], c->model.model.operand_values, size);
	c->model.model.operand_values = c->arrays[0];
	return true;
}

static enum nnhal_status no_memory(struct nnhal_diag *diag)
{
	diag_set(diag, "no memory for a converted model");
	return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* A copy that nothing was checked of. */
static enum nnhal_status copy_model(const struct nnhal_model *model, struct converted **converted,
				    struct nnhal_diag *diag)
{
	struct converted *c = calloc(1, sizeof(*c));
	enum nnhal_status status;

	if (!c)
		return no_memory(diag);
	status = model_copy_init(&c->model, model, diag);
	if (status) {
		free(c);
		return status;
	}
	if (!copy_values(c)) {
		converted_destroy(c);
		return no_memory(diag);
	}
	*converted = c;
	return NNHAL_STATUS_NONE;
}

/* The copy is valid by its own version, and by @version. */
static enum nnhal_status check_for_version(struct converted *c, uint32_t version,
					   struct nnhal_diag *diag)
{
	enum nnhal_status status = validate_model(&c->model.model, diag);
	struct nnhal_model target = c->model.model;
	struct nnhal_diag why = { "" };
	uint32_t i;

	for (i = 0; !status && i < target.num_pools; i++)
		if (target.pools[i]->kind > NNHAL_MEMORY_HARDWARE_BUFFER) {
			diag_set(diag, "pool %u: no version of the HAL has memory of kind %u", i,
				 target.pools[i]->kind);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	if (status || hal_version_of(target.hal_version) == version)
		return status;
	target.hal_version = version;
	status = validate_model(&target, &why);
	if (status)
		diag_set(diag, "HAL %s cannot express the model: %.200s", hal_version_text(version),
			 why.message);
	return status;
}

static enum nnhal_status model_down(const struct nnhal_model *model, uint32_t version,
				    uint32_t flags, void *to, struct converted **converted,
				    struct nnhal_diag *diag)
{
	enum nnhal_status status;
	uint32_t i;

	if (!conversion_begin(model, to, flags, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	status = copy_model(model, converted, diag);
	if (status)
		return status;
	count_consumers(&(*converted)->model.model.main);
	for (i = 0; i < (*converted)->model.model.num_referenced; i++)
		count_consumers(&(*converted)->model.model.referenced[i]);
	if (!(flags & NNHAL_CONVERT_UNVALIDATED))
		status = check_for_version(*converted, version, diag);
	if (status)
		converted_destroy(*converted);
	return status;
}

static enum nnhal_status fill_1_0(struct converted *c, struct nnhal_model_1_0 *form,
				  struct nnhal_diag *diag)
{
	const struct nnhal_model *model = &c->model.model;
	const struct nnhal_subgraph *sg = &model->main;
	struct nnhal_operand_1_0 *operands = NULL;
	uint32_t i;

	if (sg->num_operands) {
		operands = calloc(sg->num_operands, sizeof(*operands));
		if (!operands) {
			converted_destroy(c);
			return no_memory(diag);
		}
		c->arrays[1] = operands;
	}
	for (i = 0; i < sg->num_operands; i++) {
		const struct nnhal_operand *op = &sg->operands[i];

		operands[i] = (struct nnhal_operand_1_0){
			.type = op->type, .num_dimensions = op->num_dimensions,
			.dimensions = op->dimensions,
			.number_of_consumers = op->number_of_consumers, .scale = op->scale,
			.zero_point = op->zero_point, .lifetime = op->lifetime,
			.location = op->location,
		};
	}
	*form = (struct nnhal_model_1_0){
		.num_operands = sg->num_operands, .operands = operands,
		.num_operations = sg->num_operations, .operations = sg->operations,
		.num_inputs = sg->num_inputs, .input_indexes = sg->input_indexes,
		.num_outputs = sg->num_outputs, .output_indexes = sg->output_indexes,
		.operand_values = model->operand_values,
		.operand_values_size = model->operand_values_size,
		.num_pools = model->num_pools, .pools = model->pools,
	};
	return NNHAL_STATUS_NONE;
}

static void fill_1_2(const struct converted *c, struct nnhal_model_1_2 *form)
{
	const struct nnhal_model *model = &c->model.model;

	*form = (struct nnhal_model_1_2){
		.main = model->main, .operand_values = model->operand_values,
		.operand_values_size = model->operand_values_size,
		.num_pools = model->num_pools, .pools = model->pools,
		.relax_computation_float32_to_float16 =
			model->relax_computation_float32_to_float16,
		.num_extensions = model->num_extensions, .extensions = model->extensions,
	};
}

enum nnhal_status nnhal_model_to_1_0(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_0 **converted, struct nnhal_diag *diag)
{
	struct converted *c;
	enum nnhal_status status = model_down(model, NNHAL_HAL_1_0, flags, converted, &c, diag);

	if (!status)
		status = fill_1_0(c, &c->form.model_1_0, diag);
	if (!status)
		*converted = &c->form.model_1_0;
	return status;
}

enum nnhal_status nnhal_model_to_1_1(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_1 **converted, struct nnhal_diag *diag)
{
	struct converted *c;
	enum nnhal_status status = model_down(model, NNHAL_HAL_1_1, flags, converted, &c, diag);

	if (!status)
		status = fill_1_0(c, &c->form.model_1_1.base, diag);
	if (status)
		return status;
	c->form.model_1_1.relax_computation_float32_to_float16 =
		c->model.model.relax_computation_float32_to_float16;
	*converted = &c->form.model_1_1;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_model_to_1_2(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_2 **converted, struct nnhal_diag *diag)
{
	struct converted *c;
	enum nnhal_status status = model_down(model, NNHAL_HAL_1_2, flags, converted, &c, diag);

	if (status)
		return status;
	fill_1_2(c, &c->form.model_1_2);
	*converted = &c->form.model_1_2;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_model_to_1_3(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_3 **converted, struct nnhal_diag *diag)
{
	struct converted *c;
	enum nnhal_status status = model_down(model, NNHAL_HAL_1_3, flags, converted, &c, diag);

	if (status)
		return status;
	fill_1_2(c, &c->form.model_1_3.base);
	c->form.model_1_3.num_referenced = c->model.model.num_referenced;
	c->form.model_1_3.referenced = c->model.model.referenced;
	*converted = &c->form.model_1_3;
	return NNHAL_STATUS_NONE;
}

/* @model is of a version of the HAL, by whose rules it has to be valid. */
static enum nnhal_status model_up(const struct nnhal_model *model, uint32_t flags,
				  struct nnhal_model **result, struct nnhal_diag *diag)
{
	struct converted *c;
	enum nnhal_status status = copy_model(model, &c, diag);

	if (status)
		return status;
	if (!(flags & NNHAL_CONVERT_UNVALIDATED))
		status = validate_model(&c->model.model, diag);
	if (status) {
		converted_destroy(c);
		return status;
	}
	c->form.canonical = c->model.model;
	*result = &c->form.canonical;
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status from_1_0(const struct nnhal_model_1_0 *from, uint32_t version,
				  bool relax, uint32_t flags, struct nnhal_model **model,
				  struct nnhal_diag *diag)
{
	/* Each count is read once. */
	struct nnhal_model_1_0 old = *from;
	struct nnhal_operand *operands = NULL;
	struct nnhal_model canonical;
	enum nnhal_status status;
	uint32_t i;

	if (old.num_operands && !old.operands) {
		diag_set(diag, "operands: NULL pointer for %u entries", old.num_operands);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (old.num_operands) {
		operands = calloc(old.num_operands, sizeof(*operands));
		if (!operands)
			return no_memory(diag);
	}
	for (i = 0; i < old.num_operands; i++) {
		const struct nnhal_operand_1_0 op = old.operands[i];

		operands[i] = (struct nnhal_operand){
			.type = op.type, .num_dimensions = op.num_dimensions,
			.dimensions = op.dimensions, .number_of_consumers = op.number_of_consumers,
			.scale = op.scale, .zero_point = op.zero_point, .lifetime = op.lifetime,
			.location = op.location,
		};
	}
	canonical = (struct nnhal_model){
		.hal_version = version,
		.main = {
			.num_operands = old.num_operands, .operands = operands,
			.num_operations = old.num_operations, .operations = old.operations,
			.num_inputs = old.num_inputs, .input_indexes = old.input_indexes,
			.num_outputs = old.num_outputs, .output_indexes = old.output_indexes,
		},
		.operand_values = old.operand_values,
		.operand_values_size = old.operand_values_size,
		.num_pools = old.num_pools, .pools = old.pools,
		.relax_computation_float32_to_float16 = relax,
	};
	status = model_up(&canonical, flags, model, diag);
	free(operands);
	return status;
}

static struct nnhal_model from_1_2(const struct nnhal_model_1_2 *from, uint32_t version)
{
	return (struct nnhal_model){
		.hal_version = version, .main = from->main,
		.operand_values = from->operand_values,
		.operand_values_size = from->operand_values_size,
		.num_pools = from->num_pools, .pools = from->pools,
		.relax_computation_float32_to_float16 =
			from->relax_computation_float32_to_float16,
		.num_extensions = from->num_extensions, .extensions = from->extensions,
	};
}

enum nnhal_status nnhal_model_from_1_0(const struct nnhal_model_1_0 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag)
{
	if (!conversion_begin(from, model, flags, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return from_1_0(from, NNHAL_HAL_1_0, false, flags, model, diag);
}

enum nnhal_status nnhal_model_from_1_1(const struct nnhal_model_1_1 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag)
{
	if (!conversion_begin(from, model, flags, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return from_1_0(&from->base, NNHAL_HAL_1_1, from->relax_computation_float32_to_float16,
			flags, model, diag);
}

enum nnhal_status nnhal_model_from_1_2(const struct nnhal_model_1_2 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag)
{
	struct nnhal_model canonical;

	if (!conversion_begin(from, model, flags, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	canonical = from_1_2(from, NNHAL_HAL_1_2);
	return model_up(&canonical, flags, model, diag);
}

enum nnhal_status nnhal_model_from_1_3(const struct nnhal_model_1_3 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag)
{
	struct nnhal_model canonical;

	if (!conversion_begin(from, model, flags, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	canonical = from_1_2(&from->base, NNHAL_HAL_1_3);
	canonical.num_referenced = from->num_referenced;
	canonical.referenced = from->referenced;
	return model_up(&canonical, flags, model, diag);
}

bool nnhal_model_complies_with(const struct nnhal_model *model, uint32_t hal_version,
			       struct nnhal_diag *diag)
{
	struct nnhal_model of_version;

	diag_clear(diag);
	if (!model) {
		diag_set(diag, "no model");
		return false;
	}
	if (!layout_is_known(model->hal_version, "model", diag))
		return false;
	of_version = *model;
	of_version.hal_version = hal_version;
	return nnhal_validate_model(&of_version, diag);
}
