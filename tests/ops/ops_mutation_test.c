// SPDX-License-Identifier: MIT
/*
 * Mutants of the operator test cases beside the repository: operands with other types, shapes,
 * quantization and values, omitted or exchanged. An operation refuses a mutant or runs;
 * sanitizers find anything else. Mutants keep what the program loader guarantees: data has the
 * length of its shape, scales and zero points fit the type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "shape.h"
#include "shared_vectors.h"

#define MUTANTS_PER_CASE	4
#define MAX_BYTES		(1u << 20)

/* Calls of op_progress() after which a mutant that works too hard is ended. */
#define MAX_PROGRESS		50

static uint64_t random_state = 1;

static uint32_t pick(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) % n;
}

/* A tensor of a mutant and its bytes. */
struct mutant_operand {
	struct tensor t;
	uint8_t *data;			/* of inputs and constants */
	size_t bytes;
	float *scales;
};

static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 5, 7, 16, 1u << 16, 1u << 31, UINT32_MAX };
static const int32_t numbers[] = { 0, 1, -1, 2, 3, -2, 4, 255, 65536, INT32_MIN, INT32_MAX };

static bool is_quantized(uint32_t type)
{
	return type == NNPU_TYPE_TENSOR_QUANT8_ASYMM || type == NNPU_TYPE_TENSOR_QUANT16_SYMM ||
	       type == NNPU_TYPE_TENSOR_QUANT16_ASYMM || type == NNPU_TYPE_TENSOR_QUANT8_SYMM ||
	       type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
}

/* Make scale and zero point fit the type. */
static void fit_quantization(struct tensor *t)
{
	int32_t min = 0, max = 0;

	if (!is_quantized(t->type)) {
		if (t->type != NNPU_TYPE_TENSOR_INT32)
			t->scale = 0;
	} else if (!(t->scale > 0)) {
		t->scale = pick(2) ? 0.125f : 1.0f / 128;
	}
	if (t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM)
		max = 255;
	if (t->type == NNPU_TYPE_TENSOR_QUANT16_ASYMM)
		max = 65535;
	if (t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED) {
		min = -128;
		max = 127;
	}
	if (t->zero_point < min || t->zero_point > max)
		t->zero_point = min;
}

/* Data of the new size, made of the old; false if a tensor of this kind cannot be. */
static bool fit_data(struct mutant_operand *o)
{
	struct tensor *t = &o->t;
	size_t bytes = type_size(t->type);
	uint8_t *data;

	if (type_is_scalar(t->type))
		t->rank = 0;
	t->num_channel_scales = 0;
	for (unsigned int i = 0; i < t->rank; i++) {
		if (__builtin_mul_overflow(bytes, (size_t)t->dims[i], &bytes))
			return false;
	}
	if (t->kind != NNPU_TENSOR_INPUT && !tensor_is_const(t))
		bytes = 0;
	else if (!type_is_scalar(t->type) && t->rank == 0)
		return false;
	else if (bytes == 0)
		t->kind = NNPU_TENSOR_INPUT;
	if (bytes > MAX_BYTES)
		return false;
	data = aligned_alloc(64, (bytes + 64) / 64 * 64);
	if (!data)
		exit(1);
	for (size_t i = 0; i < bytes; i++)
		data[i] = o->bytes ? o->data[i % o->bytes] : 0;
	free(o->data);
	o->data = data;
	o->bytes = bytes;
	if (t->type != NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		return true;
	if (t->channel_dim >= t->rank)
		t->channel_dim = 0;
	if (!t->rank || !t->dims[t->channel_dim] || t->dims[t->channel_dim] > MAX_BYTES)
		return false;
	t->num_channel_scales = t->dims[t->channel_dim];
	free(o->scales);
	o->scales = malloc(t->num_channel_scales * sizeof(*o->scales));
	if (!o->scales)
		exit(1);
	for (uint32_t i = 0; i < t->num_channel_scales; i++)
		o->scales[i] = 0.5f;
	t->channel_scales = o->scales;
	return true;
}

static void mutate_value(struct mutant_operand *o)
{
	static const float reals[] = { 0, -1, 1, 1e-40f, 1e30f, -1e30f, NAN, INFINITY };
	size_t at;

	if (o->bytes < 4) {
		if (o->bytes)
			o->data[pick((uint32_t)o->bytes)] ^= (uint8_t)(1u << pick(8));
		return;
	}
	at = pick((uint32_t)(o->bytes / 4)) * 4u;
	if (pick(2))
		memcpy(o->data + at, &numbers[pick(11)], 4);
	else
		memcpy(o->data + at, &reals[pick(8)], 4);
}

static void mutate(struct mutant_operand *o)
{
	struct tensor *t = &o->t;

	switch (pick(8)) {
	case 0:
		t->type = (enum nnpu_type)pick(NNPU_TYPE_SUBGRAPH);
		break;
	case 1:
		t->rank = (uint8_t)pick(6);
		for (unsigned int i = 0; i < t->rank; i++)
			t->dims[i] = t->dims[i] ? t->dims[i] : 1;
		break;
	case 2:
	case 3:
		if (t->rank)
			t->dims[pick(t->rank)] = sizes[pick(11)];
		break;
	case 4:
		t->scale = ldexpf(1, -(int)pick(40));
		t->zero_point = (int32_t)pick(256) - 128;
		break;
	case 5:
		if (t->kind == NNPU_TENSOR_INPUT || tensor_is_const(t))
			t->kind = NNPU_TENSOR_NO_VALUE;
		break;
	default:
		mutate_value(o);
		break;
	}
}

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
			.scale = n->scale, .zero_point = n->zero_point,
			.channel_dim = n->channel_dim,
		};
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
		if (inputs > 1 && pick(16) == 0) {
			/* Two inputs change places. */
			uint32_t a = pick(inputs), b = pick(inputs), swap = list[a];

			list[a] = list[b];
			list[b] = swap;
		} else if (inputs > 1 && pick(16) == 0) {
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
	g.max_bytes = MAX_BYTES;
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
		for (uint32_t i = 0; good && i <= pick(3); i++)
			mutate(&operands[pick(nc->main.num_operands)]);
		for (uint32_t i = 0; good && i < nc->main.num_operands; i++) {
			fit_quantization(&operands[i].t);
			if (operands[i].t.kind != NNPU_TENSOR_NO_VALUE)
				good = fit_data(&operands[i]);
		}
		if (good)
			run_mutant(nc, operands);
		for (uint32_t i = 0; i < nc->main.num_operands; i++) {
			free(operands[i].data);
			free(operands[i].scales);
		}
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
		random_state = strtoull(argv[1], NULL, 0);
	vectors_run_shared(mutate_known);
	ok(counts.run > 100 && counts.refused > 100,
	   "%u mutants ran, %u were refused, %u were ended", counts.run, counts.refused,
	   counts.ended);
	return tap_done();
}
