// SPDX-License-Identifier: MIT
/*
 * Signatures. An operator test case beside the repository with one operand too many, one too
 * few or one of another type must be refused, unless the HAL allows it. The operations and the
 * table of signatures must agree about each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "shape.h"
#include "shared_vectors.h"

/* Scales of an operand that has one per channel; no case has more channels. */
#define MAX_CHANNELS	65536

static float ones[MAX_CHANNELS];

/* The one operation of a case and its operands. */
struct call {
	const char *name;
	uint32_t op;
	unsigned int num_tensors, inputs, outputs;
	struct tensor *tensors;		/* one more than the case has */
	uint32_t *operands;		/* room for one more */
};

static struct {
	unsigned int cases, refused, tried, accepted, compared, disagree;
} counts;

/* What the table says of a call. */
static bool fits(const struct call *c, unsigned int inputs, unsigned int outputs,
		 const uint32_t *operands)
{
	struct signature_operands o = {
		.inputs = operands, .num_inputs = inputs,
		.outputs = operands + inputs, .num_outputs = outputs,
	};
	uint32_t *known = calloc(c->num_tensors + 1, sizeof(*known));
	bool good;

	if (!known)
		exit(1);
	for (unsigned int i = 0; i <= c->num_tensors; i++) {
		const struct tensor *t = &c->tensors[i];

		known[i] = signature_operand(t->type, t->rank_known && !type_is_scalar(t->type),
					     t->rank, !tensor_has_value(t));
	}
	o.known = known;
	good = signature_fits(c->op, SIG_LATEST, &o);
	free(known);
	return good;
}

/* An operation refuses what the table refuses, and nothing else for such a reason. */
static void compare(const struct call *c, bool table, bool good, enum nnpu_reason reason)
{
	counts.compared++;
	/* The number of outputs of these is the value of an operand, which no table can know. */
	if (table && reason == NNPU_REASON_OPERAND_COUNT &&
	    (c->op == NNPU_OP_BIDIRECTIONAL_SEQUENCE_LSTM ||
	     c->op == NNPU_OP_BIDIRECTIONAL_SEQUENCE_RNN))
		return;
	if (table ? reason != NNPU_REASON_TYPE && reason != NNPU_REASON_OPERAND_COUNT &&
		    reason != NNPU_REASON_RANK : !good)
		return;
	if (counts.disagree++ < 20)
		tap_note("%s: %s: the table %s it, the operation says: %s", c->name,
			 op_name(c->op), table ? "accepts" : "refuses",
			 good ? "good" : reason_text(reason));
}

static bool accepts(const struct call *c, unsigned int inputs, unsigned int outputs,
		    const uint32_t *operands)
{
	bool table = fits(c, inputs, outputs, operands), good;
	struct graph g;

	if (!op_counts_ok(op_find(c->op), inputs, outputs)) {
		compare(c, table, false, NNPU_REASON_OPERAND_COUNT);
		return false;
	}
	if (!graph_init(&g, c->num_tensors + 1, 1))
		exit(1);
	memcpy(g.tensors, c->tensors, (c->num_tensors + 1) * sizeof(*g.tensors));
	if (!graph_set_call(&g, 0, op_find(c->op), inputs, outputs, operands, false))
		exit(1);
	good = graph_load(&g) == 0;
	compare(c, table, good, g.error.reason);
	graph_destroy(&g);
	return good;
}

static void expect_refusal(const struct call *c, const char *what, unsigned int operand,
			   bool accepted)
{
	counts.tried++;
	if (!accepted)
		return;
	tap_note("%s: %s accepts %s, operand %u", c->name, op_name(c->op), what, operand);
	counts.accepted++;
}

/* Operands that the HAL gives a choice of types. */
static bool has_choice(const struct call *c, unsigned int i)
{
	switch (c->op) {
	case NNPU_OP_CAST:
	case NNPU_OP_QUANTIZE:
	case NNPU_OP_DEQUANTIZE:
		return true;
	case NNPU_OP_ARGMAX:
	case NNPU_OP_ARGMIN:
	case NNPU_OP_RANDOM_MULTINOMIAL:
	case NNPU_OP_RANK:
		return i == 0;
	case NNPU_OP_LSH_PROJECTION:
	case NNPU_OP_CONV_2D:
	case NNPU_OP_DEPTHWISE_CONV_2D:
	case NNPU_OP_GROUPED_CONV_2D:
	case NNPU_OP_TRANSPOSE_CONV_2D:
	case NNPU_OP_AXIS_ALIGNED_BBOX_TRANSFORM:
		return i == 1;
	default:
		return false;
	}
}

/* Another type, with shape and quantization that go with it; false if it cannot be. */
static bool change_type(struct tensor *t, enum nnpu_type type)
{
	bool was_scalar = type_is_scalar(t->type);

	t->type = type;
	if (type_is_scalar(type))
		graph_set_shape(t, 0, NULL);
	else if (was_scalar)
		graph_set_shape(t, 1, (uint32_t[]){ 1 });
	else
		graph_set_shape(t, t->rank, t->dims);
	t->scale = type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ||
		   type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED ||
		   type == NNPU_TYPE_TENSOR_QUANT8_SYMM ||
		   type == NNPU_TYPE_TENSOR_QUANT16_ASYMM ||
		   type == NNPU_TYPE_TENSOR_QUANT16_SYMM;
	t->zero_point = 0;
	if (!tensor_is_per_channel(t))
		return true;
	t->channel_dim = 0;
	t->channel_scales = ones;
	return t->rank && t->dims[0] && t->dims[0] <= MAX_CHANNELS;
}

static void test_types(struct call *c)
{
	for (unsigned int i = 0; i < c->inputs + c->outputs; i++) {
		struct tensor *t = &c->tensors[c->operands[i]], saved = *t;

		if (has_choice(c, i))
			continue;
		for (unsigned int type = 0; type < NNPU_TYPE_SUBGRAPH; type++) {
			*t = saved;
			if (type != saved.type && change_type(t, (enum nnpu_type)type))
				expect_refusal(c, type_name(type), i,
					       accepts(c, c->inputs, c->outputs, c->operands));
		}
		*t = saved;
	}
}

/* Is the last input one that may be missing, or input @i one of several alike? */
static bool may_be_missing(const struct call *c, unsigned int i)
{
	enum nnpu_type last = c->tensors[c->operands[c->inputs - 1]].type;

	if (c->op == NNPU_OP_CONCATENATION)
		return i < c->inputs - 1 && c->inputs > 2;
	if (i != c->inputs - 1)
		return false;
	switch (c->op) {
	case NNPU_OP_AVERAGE_POOL_2D:
	case NNPU_OP_MAX_POOL_2D:
	case NNPU_OP_L2_POOL_2D:
	case NNPU_OP_CONV_2D:
	case NNPU_OP_DEPTHWISE_CONV_2D:
	case NNPU_OP_SPACE_TO_DEPTH:
	case NNPU_OP_DEPTH_TO_SPACE:
	case NNPU_OP_SPACE_TO_BATCH_ND:
	case NNPU_OP_BATCH_TO_SPACE_ND:
	case NNPU_OP_RESIZE_BILINEAR:
	case NNPU_OP_RESIZE_NEAREST_NEIGHBOR:
		return last == NNPU_TYPE_BOOL;
	case NNPU_OP_L2_NORMALIZATION:
	case NNPU_OP_LOCAL_RESPONSE_NORMALIZATION:
	case NNPU_OP_SOFTMAX:
		return true;
	default:
		return false;
	}
}

static bool may_have_axis(const struct call *c)
{
	return (c->op == NNPU_OP_L2_NORMALIZATION && c->inputs == 1) ||
	       (c->op == NNPU_OP_LOCAL_RESPONSE_NORMALIZATION && c->inputs == 5) ||
	       (c->op == NNPU_OP_SOFTMAX && c->inputs == 2);
}

static void test_counts(struct call *c)
{
	unsigned int total = c->inputs + c->outputs;
	uint32_t *list = malloc((total + 1) * sizeof(*list));
	uint32_t extra = c->num_tensors;

	if (!list)
		exit(1);
	for (unsigned int i = 0; i < c->inputs; i++) {
		memcpy(list, c->operands, total * sizeof(*list));
		memmove(list + i, list + i + 1, (total - i - 1) * sizeof(*list));
		if (!may_be_missing(c, i))
			expect_refusal(c, "an input less", i,
				       accepts(c, c->inputs - 1, c->outputs, list));
	}
	/* A recurrent layer may have the sequence as its only output. */
	for (unsigned int i = 0; i < c->outputs; i++) {
		memcpy(list, c->operands, total * sizeof(*list));
		memmove(list + c->inputs + i, list + c->inputs + i + 1,
			(c->outputs - i - 1) * sizeof(*list));
		if (c->op != NNPU_OP_UNIDIRECTIONAL_SEQUENCE_RNN)
			expect_refusal(c, "an output less", c->inputs + i,
				       accepts(c, c->inputs, c->outputs - 1, list));
	}
	c->tensors[extra] = (struct tensor){ .type = NNPU_TYPE_INT32, .kind = NNPU_TENSOR_INPUT };
	graph_set_shape(&c->tensors[extra], 0, NULL);
	memcpy(list, c->operands, c->inputs * sizeof(*list));
	list[c->inputs] = extra;
	memcpy(list + c->inputs + 1, c->operands + c->inputs, c->outputs * sizeof(*list));
	if (!may_have_axis(c))
		expect_refusal(c, "an input more", c->inputs,
			       accepts(c, c->inputs + 1, c->outputs, list));
	c->tensors[extra].kind = NNPU_TENSOR_OUTPUT;
	memcpy(list, c->operands, total * sizeof(*list));
	list[total] = extra;
	expect_refusal(c, "an output more", total, accepts(c, c->inputs, c->outputs + 1, list));
	free(list);
}

static void set_tensor(struct tensor *t, const struct nntc_operand *o)
{
	static const uint8_t kinds[] = {
		NNPU_TENSOR_TEMPORARY, NNPU_TENSOR_INPUT, NNPU_TENSOR_OUTPUT,
		NNPU_TENSOR_INLINE, NNPU_TENSOR_SLOT, NNPU_TENSOR_NO_VALUE,
	};

	*t = (struct tensor){
		.type = o->type, .kind = kinds[o->lifetime],
	};
	graph_set_quant(t, o->scale, o->zero_point, o->channel_dim, o->channel_scales);
	graph_set_shape(t, o->rank, o->dims);
	if (t->kind == NNPU_TENSOR_INPUT && !o->num_bytes)
		t->kind = NNPU_TENSOR_NO_VALUE;
	if (!tensor_is_const(t))
		return;
	/* Elements of another type are at most four times as long. */
	t->data = aligned_alloc(64, (o->num_bytes * 4ul + 128) / 64 * 64);
	if (!t->data)
		exit(1);
	memset(t->data, 0, o->num_bytes * 4ul + 64);
	memcpy(t->data, o->data, o->num_bytes);
}

static void test_case(const char *path, const struct nntc_case *nc)
{
	const struct nntc_operation *o = &nc->main.operations[0];
	struct call c = {
		.name = nc->name, .op = o->type, .num_tensors = nc->main.num_operands,
		.inputs = o->num_inputs, .outputs = o->num_outputs, .operands = o->operands,
	};

	(void)path;
	if (nc->main.num_operations != 1 || nc->num_referenced || nc->expect_failure ||
	    !op_find(o->type))
		return;
	c.tensors = calloc(nc->main.num_operands + 1, sizeof(*c.tensors));
	if (!c.tensors)
		exit(1);
	for (uint32_t i = 0; i < nc->main.num_operands; i++)
		set_tensor(&c.tensors[i], &nc->main.operands[i]);
	counts.cases++;
	if (accepts(&c, c.inputs, c.outputs, c.operands)) {
		test_types(&c);
		test_counts(&c);
	} else {
		tap_note("%s: %s refuses the case as it is", c.name, op_name(c.op));
		counts.refused++;
	}
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		if (tensor_is_const(&c.tensors[i]))
			free(c.tensors[i].data);
	}
	free(c.tensors);
}

int main(void)
{
	for (unsigned int i = 0; i < MAX_CHANNELS; i++)
		ones[i] = 1;
	vectors_run_shared(test_case);
	ok(counts.cases > 1000 && !counts.refused, "of %u cases as they are %u are refused",
	   counts.cases, counts.refused);
	ok(counts.tried > 10000 && !counts.accepted,
	   "of %u wrong signatures %u are accepted", counts.tried, counts.accepted);
	ok(counts.compared > 10000 && !counts.disagree,
	   "of %u calls the table and the operation disagree about %u", counts.compared,
	   counts.disagree);
	return tap_done();
}
