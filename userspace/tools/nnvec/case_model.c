// SPDX-License-Identifier: MIT
/*
 * Makes a model of the HAL from a case.
 *
 * The HAL says what a model may leave unspecified. It has to give the sizes of the operands of
 * a WHILE, the shape of the condition of an IF, and rank and channels of a tensor with a scale
 * per channel. Every other shape may come from the request or the execution.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case_model.h"

/* Memory that goes with the model. */
struct block {
	struct block *next;
	max_align_t bytes[];
};

/* A model being made. */
struct builder {
	struct vec_model *m;
	const struct nntc_case *nc;
	const struct form *form;
	uint32_t changed;		/* ranks, sizes and operands the form makes different */
	uint8_t *values;		/* of CONSTANT_COPY operands */
	size_t values_size;
	uint64_t pool_end;		/* with one pool: where its next value goes */
};

static void *keep(struct vec_model *m, size_t count, size_t size)
{
	struct block *b;

	if (count > (SIZE_MAX / 2 - sizeof(*b)) / (size ? size : 1))
		return NULL;
	b = calloc(1, sizeof(*b) + count * size + 1);
	if (!b)
		return NULL;
	b->next = m->blocks;
	m->blocks = b;
	return b->bytes;
}

void vec_model_free(struct vec_model *m)
{
	struct block *b, *next;

	for (b = m->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	memset(m, 0, sizeof(*m));
}

static bool is_constant(const struct nntc_operand *o)
{
	return o->lifetime == NNTC_CONSTANT_COPY || o->lifetime == NNTC_CONSTANT_REFERENCE;
}

static bool is_per_channel(const struct nntc_operand *o)
{
	return o->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL;
}

/* Does the HAL require the shape of this operand in the model? */
static bool shape_is_needed(const struct nntc_subgraph *sg, uint32_t operand)
{
	for (uint32_t i = 0; i < sg->num_operations; i++) {
		const struct nntc_operation *o = &sg->operations[i];
		uint32_t count = o->num_inputs + o->num_outputs;

		if (o->type == NNHAL_OPERATION_IF)
			count = o->num_inputs ? 1 : 0;
		else if (o->type != NNHAL_OPERATION_WHILE)
			continue;
		for (uint32_t k = 0; k < count; k++) {
			if (o->operands[k] == operand)
				return true;
		}
	}
	return false;
}

static enum shape_form shape_form_of(const struct builder *b, const struct nntc_subgraph *sg,
				     uint32_t index, uint32_t lifetime)
{
	const struct nntc_operand *o = &sg->operands[index];
	bool is_main = sg == &b->nc->main;
	enum shape_form form = SHAPES_GIVEN;

	if (lifetime == NNTC_INPUT && is_main && o->num_bytes)
		form = b->form->inputs;
	else if (lifetime == NNTC_OUTPUT && is_main)
		form = b->form->outputs;
	else if (lifetime == NNTC_TEMPORARY)
		form = b->form->temporaries;
	if (form == SHAPES_GIVEN || !o->rank || nntc_is_scalar(o->type) ||
	    shape_is_needed(sg, index))
		return SHAPES_GIVEN;
	return is_per_channel(o) ? SHAPES_UNSPECIFIED : form;
}

static bool set_shape(struct builder *b, struct nnhal_operand *to, const struct nntc_operand *o,
		      enum shape_form form)
{
	uint32_t *dims;

	if (form == SHAPES_UNRANKED) {
		b->changed++;
		return true;
	}
	to->num_dimensions = o->rank;
	dims = keep(b->m, o->rank, sizeof(*dims));
	if (!dims)
		return false;
	to->dimensions = dims;
	if (form == SHAPES_GIVEN) {
		memcpy(dims, o->dims, o->rank * sizeof(*dims));
		return true;
	}
	for (unsigned int i = 0; i < o->rank; i++) {
		if (is_per_channel(o) && i == o->channel_dim)
			dims[i] = o->dims[i];
		else
			b->changed += o->dims[i] != 0;
	}
	return true;
}

/* Reserve @length bytes in a pool, and the guard bytes behind them. */
static void place(struct builder *b, struct value *v, const struct nntc_operand *o,
		  uint32_t length)
{
	v->operand = o;
	v->length = length;
	if (b->form->pool_each) {
		v->pool = b->m->num_pools++;
		b->m->pool_sizes[v->pool] = (uint64_t)length + GUARD_SIZE;
		return;
	}
	b->m->num_pools = 1;
	/* Use the least alignment that the HAL requires. */
	b->pool_end += nnhal_align_bytes_needed((uint32_t)b->pool_end, length);
	v->offset = (uint32_t)b->pool_end;
	b->pool_end += (uint64_t)length + GUARD_SIZE;
	b->m->pool_sizes[0] = b->pool_end;
}

static void set_constant(struct builder *b, struct nnhal_operand *to,
			 const struct nntc_operand *o)
{
	struct value *v;

	to->location.length = o->num_bytes;
	if (to->lifetime == NNHAL_LIFETIME_CONSTANT_COPY) {
		b->values_size += nnhal_align_bytes_needed((uint32_t)b->values_size, o->num_bytes);
		to->location.offset = (uint32_t)b->values_size;
		memcpy(b->values + b->values_size, o->data, o->num_bytes);
		b->values_size += o->num_bytes;
		return;
	}
	v = &b->m->constants[b->m->num_constants++];
	place(b, v, o, o->num_bytes);
	to->location.pool_index = v->pool;
	to->location.offset = v->offset;
}

static bool set_operand(struct builder *b, const struct nntc_subgraph *sg, uint32_t index,
			struct nnhal_operand *to)
{
	const struct nntc_operand *o = &sg->operands[index];

	to->type = o->type;
	to->scale = o->scale;
	to->zero_point = o->zero_point;
	/* NNTC uses the numbers of the HAL. */
	to->lifetime = o->lifetime;
	if (is_per_channel(o)) {
		to->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
		to->extra_params.channel_quant.scales = o->channel_scales;
		to->extra_params.channel_quant.num_scales = o->num_channel_scales;
		to->extra_params.channel_quant.channel_dim = o->channel_dim;
	}
	if (is_constant(o)) {
		if (b->form->constants_in_pools)
			to->lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
		if (b->form->constants_as_inputs && sg == &b->nc->main && o->num_bytes) {
			to->lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
			b->changed++;
		} else {
			set_constant(b, to, o);
		}
	} else if (o->lifetime == NNTC_SUBGRAPH) {
		to->location.offset = o->subgraph;
	}
	return set_shape(b, to, o, shape_form_of(b, sg, index, to->lifetime));
}

static bool set_operations(struct builder *b, const struct nntc_subgraph *sg,
			   struct nnhal_subgraph *to, struct nnhal_operand *operands)
{
	struct nnhal_operation *operations = keep(b->m, sg->num_operations, sizeof(*operations));

	if (!operations)
		return false;
	for (uint32_t i = 0; i < sg->num_operations; i++) {
		const struct nntc_operation *o = &sg->operations[i];

		operations[i] = (struct nnhal_operation){
			.type = o->type,
			.num_inputs = o->num_inputs,
			.inputs = o->operands,
			.num_outputs = o->num_outputs,
			.outputs = o->operands + o->num_inputs,
		};
		for (uint32_t k = 0; k < o->num_inputs; k++)
			operands[o->operands[k]].number_of_consumers++;
	}
	to->num_operations = sg->num_operations;
	to->operations = operations;
	return true;
}

/* Constants that have become inputs follow the others. */
static bool set_indexes(struct builder *b, const struct nntc_subgraph *sg,
			struct nnhal_subgraph *to)
{
	uint32_t *inputs = keep(b->m, (size_t)sg->num_inputs + sg->num_operands,
				sizeof(*inputs));

	if (!inputs)
		return false;
	memcpy(inputs, sg->inputs, sg->num_inputs * sizeof(*inputs));
	to->num_inputs = sg->num_inputs;
	for (uint32_t i = 0; i < sg->num_operands; i++) {
		if (is_constant(&sg->operands[i]) &&
		    to->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_INPUT)
			inputs[to->num_inputs++] = i;
	}
	to->input_indexes = inputs;
	to->num_outputs = sg->num_outputs;
	to->output_indexes = sg->outputs;
	return true;
}

static bool set_subgraph(struct builder *b, const struct nntc_subgraph *sg,
			 struct nnhal_subgraph *to)
{
	struct nnhal_operand *operands = keep(b->m, sg->num_operands, sizeof(*operands));

	if (!operands)
		return false;
	for (uint32_t i = 0; i < sg->num_operands; i++) {
		if (!set_operand(b, sg, i, &operands[i]))
			return false;
	}
	to->num_operands = sg->num_operands;
	to->operands = operands;
	return set_operations(b, sg, to, operands) && set_indexes(b, sg, to);
}

static bool set_arguments(struct builder *b)
{
	const struct nnhal_subgraph *sg = &b->m->model.main;
	struct vec_model *m = b->m;
	uint32_t i;

	m->inputs = keep(m, sg->num_inputs, sizeof(*m->inputs));
	m->outputs = keep(m, sg->num_outputs, sizeof(*m->outputs));
	m->dims_in_request = keep(m, sg->num_inputs, sizeof(*m->dims_in_request));
	if (!m->inputs || !m->outputs || !m->dims_in_request)
		return false;
	m->num_inputs = sg->num_inputs;
	m->num_outputs = sg->num_outputs;
	m->first_argument_pool = b->form->pool_each ? m->num_pools : 0;
	for (i = 0; i < m->num_inputs; i++) {
		const struct nntc_operand *o = &b->nc->main.operands[sg->input_indexes[i]];
		const struct nnhal_operand *to = &sg->operands[sg->input_indexes[i]];

		m->inputs[i].operand = o;
		m->inputs[i].omitted = !o->num_bytes;
		if (!o->num_bytes)
			continue;
		m->dims_in_request[i] =
			!nntc_is_scalar(o->type) &&
			nnhal_tensor_has_unspecified_dimensions(o->type, to->dimensions,
								to->num_dimensions);
		place(b, &m->inputs[i], o, o->num_bytes);
	}
	/* An output without elements gets one byte. */
	for (i = 0; i < m->num_outputs; i++) {
		const struct nntc_operand *o = &b->nc->main.operands[sg->output_indexes[i]];

		place(b, &m->outputs[i], o, o->num_bytes ? o->num_bytes : 1);
	}
	return true;
}

/* Room for constants and for the pools of all values. */
static bool reserve(struct builder *b)
{
	const struct nntc_case *nc = b->nc;
	size_t constants = 0, bytes = 0;

	for (uint32_t s = 0; s <= nc->num_referenced; s++) {
		const struct nntc_subgraph *sg = s ? &nc->referenced[s - 1] : &nc->main;

		for (uint32_t i = 0; i < sg->num_operands; i++) {
			constants += is_constant(&sg->operands[i]);
			/* With padding for the next one. */
			bytes += is_constant(&sg->operands[i]) ? sg->operands[i].num_bytes + 4u : 0;
		}
	}
	b->values = keep(b->m, bytes, 1);
	b->m->constants = keep(b->m, constants, sizeof(*b->m->constants));
	b->m->pool_sizes = keep(b->m, constants + nc->main.num_operands + nc->main.num_inputs +
				nc->main.num_outputs + 1, sizeof(*b->m->pool_sizes));
	return b->values && b->m->constants && b->m->pool_sizes;
}

static bool has_open_output(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_outputs; i++) {
		const struct nntc_operand *o = &nc->main.operands[nc->main.outputs[i]];

		if (!nntc_is_scalar(o->type) &&
		    nnhal_tensor_has_unspecified_dimensions(o->type, o->dims, o->rank))
			return true;
	}
	return false;
}

/* The oldest version whose rules fit the case, judging by the case alone. */
static uint32_t oldest_version(const struct nntc_case *nc)
{
	uint32_t version = nc->min_hal_version ? nc->min_hal_version : NNHAL_HAL_1_0;

	/* HAL 1.0 and 1.1 cannot say what shape an output has. */
	if (version < NNHAL_HAL_1_2 && has_open_output(nc))
		version = NNHAL_HAL_1_2;
	return version;
}

static bool build(struct builder *b)
{
	struct nnhal_model *model = &b->m->model;
	struct nnhal_subgraph *referenced;

	referenced = keep(b->m, b->nc->num_referenced, sizeof(*referenced));
	if (!referenced || !reserve(b) || !set_subgraph(b, &b->nc->main, &model->main))
		return false;
	for (uint32_t i = 0; i < b->nc->num_referenced; i++) {
		if (!set_subgraph(b, &b->nc->referenced[i], &referenced[i]))
			return false;
	}
	model->hal_version = NNHAL_HAL_1_3;
	b->m->oldest_version = b->form->own_version ? oldest_version(b->nc) : 0;
	model->num_referenced = b->nc->num_referenced;
	model->referenced = referenced;
	model->operand_values = b->values;
	model->operand_values_size = b->values_size;
	model->num_pools = b->m->num_pools;
	model->relax_computation_float32_to_float16 = b->nc->relaxed;
	return set_arguments(b);
}

/*
 * Why this form does not apply to the case, as far as is known before the model is built; NULL
 * if it does.
 */
static const char *obstacle(const struct nntc_case *nc, const struct form *form)
{
	if (nc->expect_failure && (form->inputs || form->outputs || form->temporaries))
		return "must be refused, perhaps because of the shapes it declares";
	return NULL;
}

/* Why a form changes nothing. */
static const char *what_is_missing(const struct form *form)
{
	if (form->inputs && form->outputs)
		return "no constant, and no operand whose shape the model may leave open";
	if (form->inputs)
		return "no input whose shape the model may leave open";
	if (form->outputs)
		return "no output whose shape the model may leave open";
	if (form->temporaries)
		return "no temporary whose shape the model may leave open";
	return form->constants_as_inputs ? "no constants in the main subgraph" : NULL;
}

enum build_result vec_model_build(struct vec_model *m, const struct nntc_case *nc,
				  const struct form *form, char *reason)
{
	struct builder b = { .m = m, .nc = nc, .form = form };
	enum build_result result = BUILD_SKIP;
	const char *why = obstacle(nc, form);

	memset(m, 0, sizeof(*m));
	if (!why && !build(&b)) {
		why = "no memory for the model";
		result = BUILD_FAIL;
	}
	if (!why && (b.pool_end > UINT32_MAX || b.values_size > UINT32_MAX)) {
		why = "values of more than 4 GiB";
		result = BUILD_FAIL;
	}
	if (!why && !b.changed)
		why = what_is_missing(form);
	if (!why)
		return BUILD_DONE;
	snprintf(reason, REASON_TEXT, "%s", why);
	vec_model_free(m);
	return result;
}

/* The oldest version of the HAL that the model complies with, or the case wants. */
static void set_own_version(struct vec_model *m)
{
	uint32_t version = nnhal_model_get_min_version(&m->model, NULL);

	/* A model that complies with no version is refused by the last one, too. */
	if (version)
		m->model.hal_version = version > m->oldest_version ? version : m->oldest_version;
}

bool vec_model_place(struct vec_model *m, struct pools *pools, struct nnhal_diag *diag)
{
	struct nnhal_memory **memories = keep(m, m->num_pools, sizeof(struct nnhal_memory *));

	if (!memories) {
		snprintf(diag->message, sizeof(diag->message), "no memory for a list of pools");
		return false;
	}
	for (uint32_t i = 0; i < m->num_pools; i++) {
		if (!pools_reserve(pools, i, m->pool_sizes[i], diag))
			return false;
		memories[i] = pools->entries[i].memory;
	}
	m->pools = pools;
	m->model.pools = memories;
	for (uint32_t i = 0; i < m->num_constants; i++) {
		const struct value *v = &m->constants[i];
		const struct pool *pool = &pools->entries[v->pool];

		if (nnhal_memory_begin_cpu_access(pool->memory, NNHAL_MEMORY_WRITE)) {
			snprintf(diag->message, sizeof(diag->message),
				 "no access to the memory of constants");
			return false;
		}
		memcpy(pool->bytes + v->offset, v->operand->data, v->length);
		memset(pool->bytes + v->offset + v->length, GUARD_BYTE, GUARD_SIZE);
		nnhal_memory_end_cpu_access(pool->memory, NNHAL_MEMORY_WRITE);
	}
	if (m->oldest_version)
		set_own_version(m);
	return true;
}

static bool has_open_operand(const struct nntc_subgraph *sg, const uint32_t *list,
			     uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct nntc_operand *o = &sg->operands[list[i]];

		if (o->lifetime != NNTC_SUBGRAPH && !nntc_is_scalar(o->type) &&
		    nnhal_tensor_has_unspecified_dimensions(o->type, o->dims, o->rank))
			return true;
	}
	return false;
}

bool case_has_open_while(const struct nntc_case *nc)
{
	for (uint32_t s = 0; s <= nc->num_referenced; s++) {
		const struct nntc_subgraph *sg = s ? &nc->referenced[s - 1] : &nc->main;

		for (uint32_t i = 0; i < sg->num_operations; i++) {
			const struct nntc_operation *o = &sg->operations[i];

			if (o->type != NNHAL_OPERATION_WHILE)
				continue;
			if (has_open_operand(sg, o->operands, o->num_inputs + o->num_outputs))
				return true;
			for (uint32_t k = 0; k < 2 && k < o->num_inputs; k++) {
				const struct nntc_operand *of = &sg->operands[o->operands[k]];
				const struct nntc_subgraph *inner = &nc->referenced[of->subgraph];

				if (of->lifetime == NNTC_SUBGRAPH &&
				    (has_open_operand(inner, inner->inputs, inner->num_inputs) ||
				     has_open_operand(inner, inner->outputs, inner->num_outputs)))
					return true;
			}
		}
	}
	return false;
}
