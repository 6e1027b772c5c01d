// SPDX-License-Identifier: MIT
/*
 * Operator test cases as models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vector_model.h"

/* Bytes handed out from the start of a block; counted only while there is none. */
struct pieces {
	char *block;
	size_t at;
};

static void *take(struct pieces *p, size_t n, size_t size)
{
	void *piece = p->block ? p->block + p->at : NULL;

	p->at += (n * size + 15) / 16 * 16;
	return piece;
}

static void *must(void *pointer)
{
	if (!pointer) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return pointer;
}

/* Where constants go: behind each other, each at a multiple of 4. */
struct values {
	uint8_t *bytes;
	uint32_t at;
	uint8_t *pool;
	uint32_t pool_at;
};

static void set_operand(struct nnhal_operand *to, uint32_t *dims, const struct nntc_operand *from,
			struct values *v)
{
	uint32_t d;

	for (d = 0; d < from->rank; d++)
		dims[d] = from->dims[d];
	*to = (struct nnhal_operand){
		.type = from->type,
		.num_dimensions = from->rank,
		.dimensions = dims,
		.scale = from->scale,
		.zero_point = from->zero_point,
		.lifetime = from->lifetime,
	};
	if (from->type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
		to->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
		to->extra_params.channel_quant = (struct nnhal_channel_quant){
			from->channel_scales, from->num_channel_scales, from->channel_dim,
		};
	}
	switch (from->lifetime) {
	case NNTC_CONSTANT_COPY:
		to->location.offset = v->at;
		to->location.length = from->num_bytes;
		if (v->bytes && from->num_bytes)
			memcpy(v->bytes + v->at, from->data, from->num_bytes);
		v->at += (from->num_bytes + 3) / 4 * 4;
		break;
	case NNTC_CONSTANT_REFERENCE:
		to->location.offset = v->pool_at;
		to->location.length = from->num_bytes;
		if (v->pool && from->num_bytes)
			memcpy(v->pool + v->pool_at, from->data, from->num_bytes);
		v->pool_at += (from->num_bytes + 3) / 4 * 4;
		break;
	case NNTC_SUBGRAPH:
		to->location.offset = from->subgraph;
		break;
	default:
		break;
	}
}

/* Lay out a subgraph in @p; fills it in if there is a block. */
static void place_subgraph(struct pieces *p, const struct nntc_subgraph *c, struct nnhal_subgraph *sg,
			   struct values *v, struct vector_model *m)
{
	uint32_t operands = c->num_operands + VECTOR_MORE_OPERANDS;
	uint32_t operations = c->num_operations + VECTOR_MORE_OPERATIONS;
	struct nnhal_operand *o = take(p, operands, sizeof(*o));
	struct nnhal_operation *ops = take(p, operations, sizeof(*ops));
	uint32_t (*dims)[NNHAL_MAX_RANK] = take(p, operands, sizeof(*dims));
	uint32_t *inputs = take(p, operands, sizeof(*inputs));
	uint32_t *outputs = take(p, operands, sizeof(*outputs));
	uint32_t i, k;

	for (i = 0; i < c->num_operations; i++) {
		const struct nntc_operation *from = &c->operations[i];
		uint32_t *in = take(p, from->num_inputs + VECTOR_MORE_OF_EACH, sizeof(*in));
		uint32_t *out = take(p, from->num_outputs + VECTOR_MORE_OF_EACH, sizeof(*out));

		if (!p->block)
			continue;
		memcpy(in, from->operands, from->num_inputs * sizeof(*in));
		memcpy(out, from->operands + from->num_inputs, from->num_outputs * sizeof(*out));
		ops[i] = (struct nnhal_operation){
			.type = from->type, .inputs = in, .num_inputs = from->num_inputs,
			.outputs = out, .num_outputs = from->num_outputs,
		};
	}
	if (!p->block)
		return;
	for (i = 0; i < c->num_operands; i++)
		set_operand(&o[i], dims[i], &c->operands[i], v);
	for (i = 0; i < c->num_operations; i++)
		for (k = 0; k < ops[i].num_inputs; k++)
			o[ops[i].inputs[k]].number_of_consumers++;
	memcpy(inputs, c->inputs, c->num_inputs * sizeof(*inputs));
	memcpy(outputs, c->outputs, c->num_outputs * sizeof(*outputs));
	*sg = (struct nnhal_subgraph){
		.operands = o, .num_operands = c->num_operands,
		.operations = ops, .num_operations = c->num_operations,
		.input_indexes = inputs, .num_inputs = c->num_inputs,
		.output_indexes = outputs, .num_outputs = c->num_outputs,
	};
	if (m) {
		m->operands = o;
		m->operations = ops;
		m->dims = dims;
		m->inputs = inputs;
		m->outputs = outputs;
	}
}

static void place(struct pieces *p, const struct nntc_case *c, struct vector_model *m,
		  struct values *v)
{
	struct nnhal_subgraph *others = take(p, c->num_referenced, sizeof(*others));
	uint32_t i;

	place_subgraph(p, &c->main, &m->model.main, v, m);
	for (i = 0; i < c->num_referenced; i++)
		place_subgraph(p, &c->referenced[i], p->block ? &others[i] : NULL, v, NULL);
	m->model.referenced = others;
	m->model.num_referenced = c->num_referenced;
}

/* Bytes of the constants of a subgraph, one behind the other. */
static void count_values(const struct nntc_subgraph *c, struct values *v)
{
	uint32_t i;

	for (i = 0; i < c->num_operands; i++) {
		uint32_t bytes = (c->operands[i].num_bytes + 3) / 4 * 4;

		if (c->operands[i].lifetime == NNTC_CONSTANT_COPY)
			v->at += bytes;
		else if (c->operands[i].lifetime == NNTC_CONSTANT_REFERENCE)
			v->pool_at += bytes;
	}
}

void vector_model_init(struct vector_model *m, const struct nntc_case *c, uint32_t hal_version)
{
	struct values v = { 0 };
	struct pieces p = { 0 };
	uint32_t i;

	memset(m, 0, sizeof(*m));
	count_values(&c->main, &v);
	for (i = 0; i < c->num_referenced; i++)
		count_values(&c->referenced[i], &v);
	m->model.operand_values_size = v.at + VECTOR_ZEROS;
	v.bytes = must(calloc(1, m->model.operand_values_size));
	if (v.pool_at) {
		if (nnhal_memory_create(v.pool_at, &m->pool, NULL))
			must(NULL);
		v.pool = must(nnhal_memory_map(m->pool, NULL));
	}
	v.at = 0;
	v.pool_at = 0;
	m->model.operand_values = v.bytes;
	m->model.hal_version = hal_version;
	m->model.relax_computation_float32_to_float16 = c->relaxed;
	m->model.pools = &m->pool;
	m->model.num_pools = m->pool ? 1 : 0;
	place(&p, c, m, &v);
	m->size = p.at;
	m->block = must(calloc(2, p.at));
	m->saved = (char *)m->block + p.at;
	p = (struct pieces){ .block = m->block };
	place(&p, c, m, &v);
	memcpy(m->saved, m->block, m->size);
	m->saved_model = m->model;
}

void vector_model_fini(struct vector_model *m)
{
	free((void *)m->model.operand_values);
	nnhal_memory_unref(m->pool);
	free(m->block);
}

void vector_model_restore(struct vector_model *m)
{
	memcpy(m->block, m->saved, m->size);
	m->model = m->saved_model;
}

uint32_t *vector_op_inputs(struct vector_model *m, uint32_t operation)
{
	return (uint32_t *)m->operations[operation].inputs;
}

uint32_t *vector_op_outputs(struct vector_model *m, uint32_t operation)
{
	return (uint32_t *)m->operations[operation].outputs;
}
