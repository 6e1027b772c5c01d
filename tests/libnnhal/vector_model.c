// SPDX-License-Identifier: MIT
/*
 * Operator test cases as models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vector_model.h"

/* Hands out bytes from the start of a block; without a block it only counts them. */
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

/* Copy a subgraph into @p, with room to grow; if @p has no block, only count. */
static void copy_subgraph(struct pieces *p, const struct nnhal_subgraph *from,
			  struct nnhal_subgraph *sg, struct vector_model *m)
{
	uint32_t operands = from->num_operands + VECTOR_MORE_OPERANDS;
	uint32_t operations = from->num_operations + VECTOR_MORE_OPERATIONS;
	struct nnhal_operand *o = take(p, operands, sizeof(*o));
	struct nnhal_operation *ops = take(p, operations, sizeof(*ops));
	uint32_t (*dims)[NNHAL_MAX_RANK] = take(p, operands, sizeof(*dims));
	uint32_t *inputs = take(p, operands, sizeof(*inputs));
	uint32_t *outputs = take(p, operands, sizeof(*outputs));
	uint32_t i;

	for (i = 0; i < from->num_operations; i++) {
		const struct nnhal_operation *op = &from->operations[i];
		uint32_t *in = take(p, op->num_inputs + VECTOR_MORE_OF_EACH, sizeof(*in));
		uint32_t *out = take(p, op->num_outputs + VECTOR_MORE_OF_EACH, sizeof(*out));

		if (!p->block)
			continue;
		memcpy(in, op->inputs, op->num_inputs * sizeof(*in));
		memcpy(out, op->outputs, op->num_outputs * sizeof(*out));
		ops[i] = *op;
		ops[i].inputs = in;
		ops[i].outputs = out;
	}
	if (!p->block)
		return;
	for (i = 0; i < from->num_operands; i++) {
		o[i] = from->operands[i];
		if (o[i].num_dimensions)
			memcpy(dims[i], o[i].dimensions, o[i].num_dimensions * sizeof(**dims));
		o[i].dimensions = dims[i];
	}
	memcpy(inputs, from->input_indexes, from->num_inputs * sizeof(*inputs));
	memcpy(outputs, from->output_indexes, from->num_outputs * sizeof(*outputs));
	*sg = *from;
	sg->operands = o;
	sg->operations = ops;
	sg->input_indexes = inputs;
	sg->output_indexes = outputs;
	if (m) {
		m->operands = o;
		m->operations = ops;
		m->dims = dims;
		m->inputs = inputs;
		m->outputs = outputs;
	}
}

static void copy_subgraphs(struct pieces *p, struct vector_model *m)
{
	const struct nnhal_model *from = &m->made.model;
	struct nnhal_subgraph *others = take(p, from->num_referenced, sizeof(*others));
	uint32_t i;

	copy_subgraph(p, &from->main, &m->model.main, m);
	for (i = 0; i < from->num_referenced; i++)
		copy_subgraph(p, &from->referenced[i], p->block ? &others[i] : NULL, NULL);
	m->model.referenced = others;
}

/* The model as nnvec makes it of the case. */
static void make(struct vector_model *m, const struct nntc_case *c)
{
	static const struct form given;
	struct nnhal_diag diag = { "" };
	char reason[REASON_TEXT] = "";

	if (vec_model_build(&m->made, c, &given, reason) == BUILD_DONE &&
	    vec_model_place(&m->made, &m->pools, &diag))
		return;
	fprintf(stderr, "%s: %s%s\n", c->name, reason, diag.message);
	exit(1);
}

void vector_model_init(struct vector_model *m, const struct nntc_case *c, uint32_t hal_version)
{
	struct pieces p = { 0 };

	memset(m, 0, sizeof(*m));
	make(m, c);
	m->model = m->made.model;
	m->model.hal_version = hal_version;
	m->values = must(calloc(1, m->model.operand_values_size + VECTOR_ZEROS));
	memcpy(m->values, m->model.operand_values, m->model.operand_values_size);
	m->model.operand_values = m->values;
	m->model.operand_values_size += VECTOR_ZEROS;
	copy_subgraphs(&p, m);
	m->size = p.at;
	m->block = must(calloc(2, p.at));
	m->saved = (char *)m->block + p.at;
	p = (struct pieces){ .block = m->block };
	copy_subgraphs(&p, m);
	memcpy(m->saved, m->block, m->size);
	m->saved_model = m->model;
}

void vector_model_fini(struct vector_model *m)
{
	free(m->values);
	free(m->block);
	vec_model_free(&m->made);
	pools_free(&m->pools);
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
