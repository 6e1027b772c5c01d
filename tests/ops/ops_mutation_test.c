// SPDX-License-Identifier: MIT
/*
 * Mutants of the operator test cases beside the repository: operands with other types, shapes,
 * quantization and values, omitted or exchanged. An operation refuses a mutant or runs;
 * sanitizers find anything else. Mutants keep what the program loader guarantees: data has the
 * length of its shape, scales and zero points fit the type.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "mutants.h"
#include "shared_vectors.h"

#define MUTANTS_PER_CASE	4
/* Calls of op_progress() after which a mutant that works too hard is ended. */
#define MAX_PROGRESS		50

/* The operands of a case; false if the harness cannot take the case. */
static bool take_operands(const struct nntc_case *nc, struct mutant_operand *operands)
{
	static const uint8_t kinds[] = {
		NNPU_TENSOR_TEMPORARY, NNPU_TENSOR_INPUT, NNPU_TENSOR_OUTPUT,
		NNPU_TENSOR_INLINE, NNPU_TENSOR_SLOT, NNPU_TENSOR_NO_VALUE,
	};

	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		const struct nntc_operand *n = &nc->main.operands[i];
		struct mutant_operand *o = &operands[i];

		if (n->lifetime >= NNTC_SUBGRAPH)
			return false;
		o->t = (struct tensor){
			.type = n->type, .kind = kinds[n->lifetime], .rank = n->rank,
			.channel_dim = (uint8_t)n->channel_dim,
		};
		o->scale = n->scale;
		o->zero_point = n->zero_point;
		memcpy(o->t.dims, n->dims, n->rank * sizeof(*n->dims));
		if (o->t.kind == NNPU_TENSOR_INPUT && n->num_bytes == 0)
			o->t.kind = NNPU_TENSOR_NO_VALUE;
		o->bytes = n->num_bytes;
		o->data = malloc(n->num_bytes + 1);
		if (!o->data)
			exit(1);
		memcpy(o->data, n->data, n->num_bytes);
	}
	return true;
}

/* Tensors of the graph as a program's records would have them. */
static void set_tensors(struct graph *g, const struct mutant_operand *operands)
{
	for (unsigned int i = 0; i < g->num_tensors; i++) {
		struct tensor *t = &g->tensors[i];

		*t = operands[i].t;
		graph_set_shape(t, t->rank, t->dims);
		if (tensor_is_const(t))
			t->data = operands[i].data;
	}
}

static bool set_calls(struct graph *g, const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		const struct nntc_operation *o = &nc->main.operations[i];
		unsigned int inputs = o->num_inputs;
		uint32_t *list = malloc((inputs + o->num_outputs + 1u) * sizeof(*list));
		bool good;

		if (!list)
			exit(1);
		memcpy(list, o->operands, (inputs + o->num_outputs) * sizeof(*list));
		if (inputs > 1 && mutant_pick(16) == 0) {
			/* Two inputs change places. */
			uint32_t a = mutant_pick(inputs), b = mutant_pick(inputs), swap = list[a];

			list[a] = list[b];
			list[b] = swap;
		} else if (inputs > 1 && mutant_pick(16) == 0) {
			inputs--;
			memmove(list + inputs, list + inputs + 1,
				o->num_outputs * sizeof(*list));
		}
		good = graph_set_call(g, i, op_find(o->type), inputs, o->num_outputs, list,
				      false);
		free(list);
		if (!good)
			return false;
	}
	return true;
}

static struct {
	unsigned int run, refused, ended;
} counts;

static void run_mutant(const struct nntc_case *nc, const struct mutant_operand *operands)
{
	struct graph g;
	int ret;

	if (!graph_init(&g, nc->main.num_operands, nc->main.num_operations))
		exit(1);
	g.max_bytes = MUTANT_MAX_BYTES;
	set_tensors(&g, operands);
	if (!set_calls(&g, nc))
		exit(1);
	graph_progress.count = 0;
	graph_progress.abort_after = MAX_PROGRESS;
	ret = graph_load(&g);
	if (!ret) {
		for (uint32_t i = 0; i < nc->main.num_operands; i++) {
			struct tensor *t = &g.tensors[i];

			if (t->kind != NNPU_TENSOR_INPUT)
				continue;
			graph_set_shape(t, operands[i].t.rank, operands[i].t.dims);
			t->data = operands[i].data;
			t->shape_known = true;
			t->bytes = operands[i].bytes;
		}
		ret = graph_run(&g);
	}
	counts.run += ret == 0;
	counts.refused += ret < 0;
	counts.ended += ret > 0;
	if (ret < 0 && g.error.reason == NNPU_REASON_NONE) {
		tap_note("%s: operation %u fails without a reason", nc->name, g.failed_call);
		counts.refused = 0;
		exit(1);
	}
	graph_destroy(&g);
}

static void mutate_case(const struct nntc_case *nc)
{
	for (unsigned int n = 0; n < MUTANTS_PER_CASE; n++) {
		struct mutant_operand *operands = calloc(nc->main.num_operands + 1, sizeof(*operands));
		bool good;

		if (!operands)
			exit(1);
		good = take_operands(nc, operands);
		for (uint32_t i = 0; good && i <= mutant_pick(3); i++)
			mutant_change(&operands[mutant_pick(nc->main.num_operands)]);
		for (uint32_t i = 0; good && i < nc->main.num_operands; i++)
			good = mutant_fit(&operands[i]);
		if (good)
			run_mutant(nc, operands);
		for (uint32_t i = 0; i < nc->main.num_operands; i++)
			mutant_free(&operands[i]);
		free(operands);
	}
}

static bool has_operations(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		if (!op_find(nc->main.operations[i].type))
			return false;
	}
	return !nc->num_referenced && nc->main.num_operands;
}

static void mutate_known(const char *path, const struct nntc_case *nc)
{
	(void)path;
	if (has_operations(nc))
		mutate_case(nc);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		mutant_seed(strtoull(argv[1], NULL, 0));
	vectors_run_shared(mutate_known);
	ok(counts.run > 100 && counts.refused > 100,
	   "%u mutants ran, %u were refused, %u were ended", counts.run, counts.refused,
	   counts.ended);
	return tap_done();
}
