// SPDX-License-Identifier: MIT
/*
 * Test cases as HAL models.
 */
#include "hal_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN(n)	(((n) + 63) / 64 * 64)

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return p;
}

static uint32_t *copy_list(const uint32_t *list, size_t n)
{
	uint32_t *copy = need(calloc(n + 1, sizeof(*copy)));

	memcpy(copy, list, n * sizeof(*list));
	return copy;
}

static struct nnhal_memory *make_memory(uint64_t size, uint8_t **map)
{
	struct nnhal_memory *memory;

	if (nnhal_memory_create(size, &memory, NULL)) {
		fprintf(stderr, "no memory of %llu bytes\n", (unsigned long long)size);
		exit(1);
	}
	*map = need(nnhal_memory_map(memory, NULL));
	return memory;
}

void hal_graph_count_consumers(struct hal_graph *g)
{
	const struct nnhal_subgraph *sg = g->sg;

	for (uint32_t i = 0; i < sg->num_operands; i++)
		g->operands[i].number_of_consumers = 0;
	for (uint32_t i = 0; i < sg->num_operations; i++) {
		for (uint32_t k = 0; k < sg->operations[i].num_inputs; k++) {
			if (sg->operations[i].inputs[k] < sg->num_operands)
				g->operands[sg->operations[i].inputs[k]].number_of_consumers++;
		}
	}
}

/* Give each constant a place: copies in the values, references in the pool. */
static void place_constants(struct hal_graph *g, size_t at[2])
{
	for (uint32_t i = 0; i < g->from->num_operands; i++) {
		const struct nntc_operand *o = &g->from->operands[i];
		bool ref = o->lifetime == NNTC_CONSTANT_REFERENCE;

		if (!ref && o->lifetime != NNTC_CONSTANT_COPY)
			continue;
		g->operands[i].location.offset = (uint32_t)at[ref];
		g->operands[i].location.length = o->num_bytes;
		at[ref] = ALIGN(at[ref] + o->num_bytes);
	}
}

static void copy_constants(const struct hal_graph *g, uint8_t *const data[2])
{
	for (uint32_t i = 0; i < g->from->num_operands; i++) {
		const struct nntc_operand *o = &g->from->operands[i];
		bool ref = o->lifetime == NNTC_CONSTANT_REFERENCE;

		if (ref || o->lifetime == NNTC_CONSTANT_COPY)
			memcpy(data[ref] + g->operands[i].location.offset, o->data, o->num_bytes);
	}
}

static void set_constants(struct hal_case *h)
{
	uint8_t *data[2] = { NULL, NULL };
	size_t at[2] = { 0, 0 };

	for (uint32_t i = 0; i < h->num_graphs; i++)
		place_constants(&h->graphs[i], at);
	h->values = need(calloc(at[0] + 1, 1));
	data[0] = h->values;
	h->model.operand_values = h->values;
	h->model.operand_values_size = at[0];
	if (at[1]) {
		h->pool = make_memory(at[1], &data[1]);
		h->pools[0] = h->pool;
		h->model.pools = h->pools;
		h->model.num_pools = 1;
	}
	for (uint32_t i = 0; i < h->num_graphs; i++)
		copy_constants(&h->graphs[i], data);
}

static void set_operands(struct hal_graph *g)
{
	const struct nntc_subgraph *from = g->from;

	g->operands = need(calloc(from->num_operands + 1, sizeof(*g->operands)));
	g->dims = need(calloc(from->num_operands + 1, sizeof(*g->dims)));
	for (uint32_t i = 0; i < from->num_operands; i++) {
		const struct nntc_operand *o = &from->operands[i];
		struct nnhal_operand *to = &g->operands[i];

		memcpy(g->dims[i], o->dims, sizeof(g->dims[i]));
		*to = (struct nnhal_operand){
			.type = o->type, .num_dimensions = o->rank, .dimensions = g->dims[i],
			.scale = o->scale, .zero_point = o->zero_point, .lifetime = o->lifetime,
		};
		if (o->lifetime == NNTC_SUBGRAPH)
			to->location.offset = o->subgraph;
		if (!o->num_channel_scales)
			continue;
		to->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
		to->extra_params.channel_quant = (struct nnhal_channel_quant){
			.scales = o->channel_scales, .num_scales = o->num_channel_scales,
			.channel_dim = o->channel_dim,
		};
	}
}

static void set_operations(struct hal_graph *g)
{
	const struct nntc_subgraph *from = g->from;

	g->operations = need(calloc(from->num_operations + 1, sizeof(*g->operations)));
	g->op_inputs = need(calloc(from->num_operations + 1, sizeof(*g->op_inputs)));
	g->op_outputs = need(calloc(from->num_operations + 1, sizeof(*g->op_outputs)));
	for (uint32_t i = 0; i < from->num_operations; i++) {
		const struct nntc_operation *o = &from->operations[i];

		g->op_inputs[i] = copy_list(o->operands, o->num_inputs);
		g->op_outputs[i] = copy_list(o->operands + o->num_inputs, o->num_outputs);
		g->operations[i] = (struct nnhal_operation){
			.type = o->type, .num_inputs = o->num_inputs,
			.num_outputs = o->num_outputs, .inputs = g->op_inputs[i],
			.outputs = g->op_outputs[i],
		};
	}
}

static void graph_init(struct hal_graph *g, struct nnhal_subgraph *sg,
		       const struct nntc_subgraph *from)
{
	g->sg = sg;
	g->from = from;
	set_operands(g);
	set_operations(g);
	g->inputs = copy_list(from->inputs, from->num_inputs);
	g->outputs = copy_list(from->outputs, from->num_outputs);
	*sg = (struct nnhal_subgraph){
		.num_operands = from->num_operands, .num_operations = from->num_operations,
		.num_inputs = from->num_inputs, .num_outputs = from->num_outputs,
		.operands = g->operands, .operations = g->operations,
		.input_indexes = g->inputs, .output_indexes = g->outputs,
	};
	hal_graph_count_consumers(g);
}

static void graph_fini(struct hal_graph *g)
{
	for (uint32_t i = 0; i < g->from->num_operations; i++) {
		free(g->op_inputs[i]);
		free(g->op_outputs[i]);
	}
	free(g->op_inputs);
	free(g->op_outputs);
	free(g->operations);
	free(g->operands);
	free(g->dims);
	free(g->inputs);
	free(g->outputs);
}

/* One argument; @at moves behind it. */
static void place(struct nnhal_request_argument *a, const struct nntc_operand *o, uint64_t *at)
{
	*a = (struct nnhal_request_argument){
		.location = { .offset = (uint32_t)*at, .length = o->num_bytes },
	};
	*at = ALIGN(*at + o->num_bytes + 1);
}

static void set_request(struct hal_case *h, const struct nntc_case *c)
{
	uint64_t at = 64;

	h->in_args = need(calloc(c->main.num_inputs + 1, sizeof(*h->in_args)));
	h->out_args = need(calloc(c->main.num_outputs + 1, sizeof(*h->out_args)));
	for (uint32_t i = 0; i < c->main.num_inputs; i++) {
		const struct nntc_operand *o = &c->main.operands[c->main.inputs[i]];

		place(&h->in_args[i], o, &at);
		if (!o->num_bytes)
			h->in_args[i] = (struct nnhal_request_argument){ .has_no_value = true };
	}
	for (uint32_t i = 0; i < c->main.num_outputs; i++)
		place(&h->out_args[i], &c->main.operands[c->main.outputs[i]], &at);
	h->size = at;
	h->memory = make_memory(at, &h->map);
	h->request_pools[0].memory = h->memory;
	h->request = (struct nnhal_request){
		.num_inputs = c->main.num_inputs, .num_outputs = c->main.num_outputs, .num_pools = 1,
		.inputs = h->in_args, .outputs = h->out_args, .pools = h->request_pools,
	};
}

void hal_case_init(struct hal_case *h, const struct nntc_case *c)
{
	memset(h, 0, sizeof(*h));
	h->num_graphs = c->num_referenced + 1;
	h->graphs = need(calloc(h->num_graphs, sizeof(*h->graphs)));
	h->referenced = need(calloc(h->num_graphs, sizeof(*h->referenced)));
	graph_init(&h->graphs[0], &h->model.main, &c->main);
	for (uint32_t i = 0; i < c->num_referenced; i++)
		graph_init(&h->graphs[i + 1], &h->referenced[i], &c->referenced[i]);
	h->model.referenced = h->referenced;
	h->model.num_referenced = c->num_referenced;
	h->model.relax_computation_float32_to_float16 = c->relaxed;
	set_constants(h);
	set_request(h, c);
}

void hal_case_fini(struct hal_case *h)
{
	for (uint32_t i = 0; i < h->num_graphs; i++)
		graph_fini(&h->graphs[i]);
	free(h->graphs);
	free(h->referenced);
	free(h->values);
	free(h->in_args);
	free(h->out_args);
	nnhal_memory_unref(h->pool);
	nnhal_memory_unref(h->memory);
	memset(h, 0, sizeof(*h));
}

void hal_case_load(struct hal_case *h, const struct nntc_case *c, uint8_t fill)
{
	memset(h->map, fill, h->size);
	for (uint32_t i = 0; i < c->main.num_inputs; i++) {
		const struct nntc_operand *o = &c->main.operands[c->main.inputs[i]];

		memcpy(h->map + h->in_args[i].location.offset, o->data, o->num_bytes);
	}
}

bool hal_case_untouched(const struct hal_case *h, const struct nntc_case *c, uint8_t fill)
{
	uint8_t *expected = need(malloc(h->size));
	bool same;

	memset(expected, fill, h->size);
	for (uint32_t i = 0; i < c->main.num_inputs; i++) {
		const struct nntc_operand *o = &c->main.operands[c->main.inputs[i]];

		memcpy(expected + h->in_args[i].location.offset, o->data, o->num_bytes);
	}
	for (uint32_t i = 0; i < c->main.num_outputs; i++) {
		const struct nnhal_data_location *l = &h->out_args[i].location;

		memcpy(expected + l->offset, h->map + l->offset, l->length);
	}
	same = !memcmp(expected, h->map, h->size);
	free(expected);
	return same;
}
