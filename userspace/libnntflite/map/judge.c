// SPDX-License-Identifier: MIT
/*
 * Verdicts on all operators of a file.
 */
#include <stdlib.h>
#include <string.h>

#include "../file/tflite_file.h"
#include "judge.h"
#include "resources.h"

/* No file has so many operators that a person would read on. */
#define MAX_REFUSALS	65536

void judge_mark(const struct mapper *m, struct mark *mark)
{
	*mark = (struct mark){
		.num_operands = m->g->num_operands,
		.num_operations = m->g->num_operations,
	};
	if (m->resource_of)
		memcpy(mark->now, m->now, sizeof(mark->now));
}

/* The reason without the operator in front, which the verdict names. */
static const char *reason_of(const struct nntflite_diag *diag)
{
	const char *text = strstr(diag->message, "): ");

	return diag->op != NNTFLITE_NONE && text ? text + 3 : diag->message;
}

static int note(struct mapper *m)
{
	struct map_model *model = m->model;
	struct refusal *list;

	if (m->diag->errnum || model->num_refusals == MAX_REFUSALS)
		return -1;
	/* Room doubles: it is full at each power of two. */
	list = model->refusals;
	if ((model->num_refusals & (model->num_refusals - 1)) == 0)
		list = reallocarray(list, model->num_refusals ? 2 * (size_t)model->num_refusals : 1,
				    sizeof(*list));
	if (!list)
		return diag_fail_memory(m->diag);
	model->refusals = list;
	list += model->num_refusals++;
	list->subgraph = m->sub_index;
	list->op = m->op_index;
	memcpy(list->reason, reason_of(m->diag), strlen(reason_of(m->diag)) + 1);
	return 0;
}

static void go_back(struct mapper *m, const struct mark *mark)
{
	uint32_t i;

	m->g->num_operands = mark->num_operands;
	m->g->num_operations = mark->num_operations;
	m->g->num_recent = 0;
	/* Its results and variables got operands from the operator, and nothing else. */
	for (i = 0; i < m->op->outputs.count; i++) {
		int *operand = &m->operand_of[fb_vector_i32(&m->op->outputs, i)];

		if (*operand >= (int)mark->num_operands)
			*operand = -1;
	}
	variables_go_back(m, mark->num_operands);
	if (m->resource_of)
		resources_go_back(m, mark->now);
}

int judge_input(struct mapper *m, uint32_t index)
{
	struct nnhal_operand operand;
	struct shape shape;

	diag_init(m->diag);
	if (describe_tensor(m, &m->sub->tensors[index], &operand, &shape))
		operand = (struct nnhal_operand){ .type = NNHAL_OPERAND_TENSOR_FLOAT32 };
	diag_init(m->diag);
	operand.lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	m->operand_of[index] = hal_add_operand(m->g, &operand, index, m->diag);
	return m->operand_of[index] < 0 ? -1 : 0;
}

int judge_refuse(struct mapper *m, const struct mark *mark)
{
	const struct fb_vector *outputs = &m->op->outputs;
	uint32_t i;

	if (note(m))
		return -1;
	go_back(m, mark);
	m->reader.failed = false;
	diag_init(m->diag);
	for (i = 0; i < outputs->count; i++) {
		uint32_t index = (uint32_t)fb_vector_i32(outputs, i);

		if (m->operand_of[index] < 0 && judge_input(m, index))
			return -1;
	}
	return 0;
}

/* What nobody reads any more, for its reader could not be mapped, is an output. */
static void show_results(struct hal_graph *g)
{
	uint32_t i, k;

	/* Consumers are counted again when the model is finished. */
	for (i = 0; i < g->num_operations; i++)
		for (k = 0; k < g->operations[i].num_inputs; k++)
			g->operands[g->operations[i].inputs[k]].number_of_consumers = 1;
	for (i = 0; i < g->num_operations; i++) {
		for (k = 0; k < g->operations[i].num_outputs; k++) {
			struct nnhal_operand *o = &g->operands[g->operations[i].outputs[k]];

			if (o->lifetime == NNHAL_LIFETIME_TEMPORARY_VARIABLE &&
			    !o->number_of_consumers)
				o->lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
		}
	}
	for (i = 0; i < g->num_operands; i++)
		g->operands[i].number_of_consumers = 0;
}

int judge_finish(struct mapper *m)
{
	uint32_t *inputs = hal_alloc(m->b, m->g->num_operands + 1, sizeof(*inputs), m->diag);
	uint32_t *outputs = hal_alloc(m->b, m->g->num_operands + 1, sizeof(*outputs), m->diag);
	uint32_t i, num_inputs = 0, num_outputs = 0;

	if (!inputs || !outputs)
		return -1;
	show_results(m->g);
	for (i = 0; i < m->g->num_operands; i++) {
		if (m->g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_INPUT)
			inputs[num_inputs++] = i;
		if (m->g->operands[i].lifetime == NNHAL_LIFETIME_SUBGRAPH_OUTPUT)
			outputs[num_outputs++] = i;
	}
	return hal_graph_finish(m->g, inputs, num_inputs, outputs, num_outputs, m->diag);
}

/* What a caller of nntflite_file_judge() is told, and what it is made of. */
struct judgement {
	struct map_model map;
	struct nnhal_ext_operation_support *support;	/* of the operations, NULL if not asked */
};

/* Not NONE if the operations do not make a valid model, or the device is gone. */
static enum nnhal_status ask_device(struct judgement *j, struct nnhal_device *device,
				    struct nntflite_diag *diag)
{
	const struct nnhal_model *hal = &j->map.builder.model;
	uint32_t count = hal->main.num_operations;
	struct nnhal_diag why = { "" };
	enum nnhal_status status;

	if (!device || count == 0)
		return NNHAL_STATUS_NONE;
	j->support = calloc(count, sizeof(*j->support));
	if (!j->support) {
		diag_fail_memory(diag);
		return diag_status(diag);
	}
	j->support->size = sizeof(*j->support);
	status = nnhal_ext_get_operation_support(device, hal, j->support, count, &why);
	if (status == NNHAL_STATUS_NONE)
		return status;
	free(j->support);
	j->support = NULL;
	explain_place(&j->map, &why, diag);
	diag_prefix(diag, "the device cannot judge the model: ");
	return status;
}

/*
 * The refusal of an operator, or NULL. Those of a subgraph are in the order of its operators:
 * *@next is where to go on.
 */
static const struct refusal *refusal_of(const struct map_model *map, uint32_t subgraph,
					uint32_t op, uint32_t *next)
{
	while (*next < map->num_refusals && map->refusals[*next].subgraph != subgraph)
		(*next)++;
	if (*next == map->num_refusals || map->refusals[*next].op != op)
		return NULL;
	return &map->refusals[(*next)++];
}

static int by_place(const void *a, const void *b)
{
	const struct refusal *x = a, *y = b;

	if (x->subgraph != y->subgraph)
		return x->subgraph < y->subgraph ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

/* In the order of the file; of a subgraph that was mapped for several interfaces one of each. */
static void sort_refusals(struct map_model *map)
{
	uint32_t i, count = 0;

	if (map->num_refusals)
		qsort(map->refusals, map->num_refusals, sizeof(*map->refusals), by_place);
	for (i = 0; i < map->num_refusals; i++)
		if (!count || by_place(&map->refusals[count - 1], &map->refusals[i]))
			map->refusals[count++] = map->refusals[i];
	map->num_refusals = count;
}

/* Was the subgraph reached? Then its operators have verdicts. */
static bool was_reached(const struct map_model *map, uint32_t subgraph)
{
	return subgraph == map->main || map->states[subgraph] == SUBGRAPH_DONE;
}

/* How far the verdicts have come. */
struct place {
	uint32_t operation;
	uint32_t refusal;
};

static void judge_operator(const struct judgement *j, uint32_t subgraph, uint32_t op,
			   struct place *at, struct nntflite_verdict *v)
{
	const struct refusal *refusal = refusal_of(&j->map, subgraph, op, &at->refusal);
	const struct hal_graph *g = j->map.builder.graphs[0];

	v->supported = !refusal;
	v->reason = refusal ? refusal->reason : "";
	if (refusal || subgraph != j->map.main)
		return;
	/* Operations are in the order of their operators. */
	for (; at->operation < g->num_operations && g->operation_origins[at->operation] == op;
	     at->operation++) {
		if (v->supported && j->support && !j->support[at->operation].supported) {
			v->supported = false;
			v->reason = j->support[at->operation].reason;
		}
	}
}

enum nnhal_status nntflite_file_judge(const struct nntflite_file *file,
				      const struct nntflite_model_options *options,
				      struct nnhal_device *device,
				      void (*verdict)(void *context,
						      const struct nntflite_verdict *verdict),
				      void *context, struct nntflite_diag *diag)
{
	struct judgement j = { .map.judge = true };
	struct nntflite_diag ignored;
	struct place at = { 0, 0 };
	enum nnhal_status status;
	uint32_t i, k;
	char name[NNTFLITE_NAME_SIZE];

	diag = diag ? diag : &ignored;
	diag_init(diag);
	if (!file || !verdict) {
		diag_fail(diag, "no file, or no function for verdicts");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	j.map.tflite = &file->tflite;
	if (map_model_choose(&j.map, options, diag) || map_model(&j.map, diag)) {
		map_model_free(&j.map);
		return diag_status(diag);
	}
	sort_refusals(&j.map);
	status = ask_device(&j, device, diag);
	for (i = 0; i < file->tflite.num_subgraphs; i++) {
		const struct tflite_subgraph *sub = &file->tflite.subgraphs[i];

		if (!was_reached(&j.map, i))
			continue;
		at.refusal = 0;
		for (k = 0; k < sub->num_operators; k++) {
			struct nntflite_verdict v = { .subgraph = i, .op = k, .name = name };

			tflite_operator_name(&sub->operators[k], name, sizeof(name));
			judge_operator(&j, i, k, &at, &v);
			verdict(context, &v);
		}
	}
	free(j.support);
	map_model_free(&j.map);
	return status;
}
