// SPDX-License-Identifier: MIT
/*
 * Run the operator test cases beside the repository through the operations.
 *
 * A case must give the expected results each time: as it is, with its constants fed as
 * inputs, which leaves nothing to prepare, and with shapes that are not known before the
 * job runs. A case of one operation on unsigned quantized tensors must do the same on
 * signed ones (J11 of the conformance checklist). An operation or a variant of one that the
 * device refuses is a failure. Cases with control flow are left to
 * emu_control_vectors_test: the program loader resolves it, not the operations.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../userspace/tools/common/compare_outputs.h"
#include "graph.h"
#include "shared_vectors.h"

/* What became of the cases with an operation; how many have it in a subgraph. */
static struct {
	unsigned int passed, failed, inside;
} counts[NNPU_NUM_OPERATIONS], total;

static unsigned int control_flow;

enum variation { AS_GIVEN, CONSTANTS_AS_INPUTS, SHAPES_UNKNOWN, SIGNED_TWIN, VARIATIONS };

static const char *const variation_names[VARIATIONS] = {
	"", " (constants as inputs)", " (shapes unknown)", " (signed)",
};

/* Compare an output, by the rules that nnvec has. */
static bool output_matches(const char *what, const struct nntc_case *nc, uint32_t index,
			   const struct tensor *t)
{
	const struct nntc_operand *o = &nc->main.operands[nc->main.outputs[index]];
	struct nnhal_output_shape shape = { .num_dimensions = t->rank };
	struct tolerance tolerance = tolerance_of(nc);
	char text[COMPARE_TEXT];
	bool same;

	for (unsigned int i = 0; i < t->rank; i++)
		shape.dimensions[i] = t->dims[i];
	if (t->bytes != o->num_bytes) {
		tap_note("%s: output of %zu bytes, expected %u", what, t->bytes, o->num_bytes);
		return false;
	}
	if (nc->multinomial_tolerance > 0)
		same = compare_frequencies(index, nc, &shape, t->data, text);
	else
		same = compare_shape(index, o, &shape, text) &&
		       compare_output(index, o, t->data, &tolerance, text);
	if (!same)
		tap_note("%s: %s", what, text);
	return same;
}

/* Copies of the data, aligned as the contract says. */
static void *aligned_copy(const void *data, size_t bytes)
{
	void *copy = graph_alloc(bytes);

	if (copy && bytes)
		memcpy(copy, data, bytes);
	return copy;
}

static bool build(struct graph *g, const struct nntc_case *nc, enum variation variation,
		  void **data)
{
	if (!graph_init(g, nc->main.num_operands, nc->main.num_operations))
		return false;
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		static const uint8_t kinds[] = {
			NNPU_TENSOR_TEMPORARY, NNPU_TENSOR_INPUT, NNPU_TENSOR_OUTPUT,
			NNPU_TENSOR_INLINE, NNPU_TENSOR_SLOT, NNPU_TENSOR_NO_VALUE,
		};
		const struct nntc_operand *o = &nc->main.operands[i];
		struct tensor *t = &g->tensors[i];

		t->type = o->type;
		t->kind = kinds[o->lifetime];
		graph_set_quant(t, o->scale, o->zero_point, o->channel_dim, o->channel_scales);
		graph_set_shape(t, o->rank, o->dims);
		data[i] = NULL;
		if (t->kind == NNPU_TENSOR_INPUT || tensor_is_const(t)) {
			data[i] = aligned_copy(o->data, o->num_bytes);
			if (tensor_is_const(t) && variation == CONSTANTS_AS_INPUTS)
				t->kind = NNPU_TENSOR_INPUT;
			else if (tensor_is_const(t))
				t->data = data[i];
		}
		if (variation == SHAPES_UNKNOWN && !tensor_is_const(t))
			graph_set_shape(t, 0, NULL);
	}
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		const struct nntc_operation *o = &nc->main.operations[i];

		if (!graph_set_call(g, i, op_find(o->type), o->num_inputs, o->num_outputs,
				    o->operands, nc->relaxed))
			return false;
	}
	return true;
}

/* Shapes and data of inputs, as a job's arguments would give them; what is empty is omitted. */
static void feed(struct graph *g, const struct nntc_case *nc, void **data)
{
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		struct tensor *t = &g->tensors[i];

		if (t->kind != NNPU_TENSOR_INPUT)
			continue;
		if (nc->main.operands[i].num_bytes == 0) {
			t->kind = NNPU_TENSOR_NO_VALUE;
			continue;
		}
		graph_set_shape(t, nc->main.operands[i].rank, nc->main.operands[i].dims);
		t->data = data[i];
		t->shape_known = true;
		t->bytes = nc->main.operands[i].num_bytes;
	}
}

static bool run(const char *file, const struct nntc_case *nc, enum variation variation)
{
	bool passed = true;
	char what[512];
	struct graph g;
	void **data;
	int ret;

	snprintf(what, sizeof(what), "%s: %s%s", file, nc->name, variation_names[variation]);
	data = calloc(nc->main.num_operands + 1, sizeof(*data));
	if (!data || !build(&g, nc, variation, data)) {
		tap_note("%s: no memory", what);
		exit(1);
	}
	ret = graph_load(&g);
	if (!ret) {
		feed(&g, nc, data);
		ret = graph_run(&g);
	}
	if (!ret != !nc->expect_failure) {
		passed = false;
		tap_note("%s: operation %u: %s, operand %u", what, g.failed_call,
			 reason_text(g.error.reason), g.error.operand);
	}
	for (uint32_t i = 0; !ret && passed && i < nc->main.num_outputs; i++)
		passed = output_matches(what, nc, i, &g.tensors[nc->main.outputs[i]]);
	graph_destroy(&g);
	for (uint32_t i = 0; i < nc->main.num_operands; i++)
		free(data[i]);
	free(data);
	return passed;
}

static bool has_control_flow(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		if (nc->main.operations[i].type == NNPU_OP_IF ||
		    nc->main.operations[i].type == NNPU_OP_WHILE)
			return true;
	}
	return false;
}

/* Operations whose unsigned quantized operands have no signed counterpart. */
static bool is_unsigned_only(uint32_t op)
{
	return op == NNPU_OP_HASHTABLE_LOOKUP || op == NNPU_OP_LSH_PROJECTION ||
	       op == NNPU_OP_PAD_V2 || op == NNPU_OP_CAST || op == NNPU_OP_QUANTIZED_16BIT_LSTM;
}

/*
 * J11: the same case with signed tensors, values and zero points less 128. Passes if there
 * are no unsigned ones.
 */
static bool run_signed(const char *file, const struct nntc_case *nc)
{
	struct nntc_case twin = *nc;
	bool passed = true;
	size_t bytes = 0, at = 0;
	uint8_t *data;

	if (nc->main.num_operations != 1 || is_unsigned_only(nc->main.operations[0].type))
		return true;
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		if (nc->main.operands[i].type == NNPU_TYPE_TENSOR_QUANT8_ASYMM)
			bytes += nc->main.operands[i].num_bytes;
	}
	data = malloc(bytes + 1);
	twin.main.operands = calloc(nc->main.num_operands, sizeof(*twin.main.operands));
	if (!data || !twin.main.operands)
		exit(1);
	memcpy(twin.main.operands, nc->main.operands, nc->main.num_operands * sizeof(*twin.main.operands));
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		struct nntc_operand *o = &twin.main.operands[i];

		if (o->type != NNPU_TYPE_TENSOR_QUANT8_ASYMM)
			continue;
		o->type = NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
		o->zero_point -= 128;
		for (uint32_t k = 0; k < o->num_bytes; k++)
			data[at + k] = o->data[k] ^ 0x80;
		o->data = data + at;
		at += o->num_bytes;
	}
	if (bytes)
		passed = run(file, &twin, SIGNED_TWIN);
	free(twin.main.operands);
	free(data);
	return passed;
}

static void note_subgraphs(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->num_referenced; i++) {
		const struct nntc_subgraph *sg = &nc->referenced[i];

		for (uint32_t k = 0; k < sg->num_operations; k++) {
			if (sg->operations[k].type < NNPU_NUM_OPERATIONS)
				counts[sg->operations[k].type].inside++;
		}
	}
}

static void run_case(const char *file, const struct nntc_case *nc)
{
	bool seen[NNPU_NUM_OPERATIONS] = { false };
	bool passed;

	if (has_control_flow(nc)) {
		note_subgraphs(nc);
		control_flow++;
		return;
	}
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		if (!op_find(nc->main.operations[i].type)) {
			tap_note("%s: %s: the device has no operation %u", file, nc->name,
				 nc->main.operations[i].type);
			total.failed++;
			return;
		}
	}
	passed = run(file, nc, AS_GIVEN) && run(file, nc, CONSTANTS_AS_INPUTS) &&
		 /* What must fail may do so because of a declared shape. */
		 (nc->expect_failure || run(file, nc, SHAPES_UNKNOWN)) && run_signed(file, nc);
	total.passed += passed;
	total.failed += !passed;
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		uint32_t op = nc->main.operations[i].type;

		if (seen[op])
			continue;
		seen[op] = true;
		counts[op].passed += passed;
		counts[op].failed += !passed;
	}
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			ok(vectors_run_file(argv[i], run_case), "%s is well-formed", argv[i]);
	} else {
		vectors_run_shared(run_case);
	}
	for (uint32_t op = 0; op < NNPU_NUM_OPERATIONS; op++) {
		unsigned int cases = counts[op].passed + counts[op].failed;

		if (!op_find(op) || (argc > 1 && !cases))
			continue;
		if (cases)
			ok(!counts[op].failed, "%s: %u cases passed, %u failed", op_name(op),
			   counts[op].passed, counts[op].failed);
		else
			ok(counts[op].inside, "%s: in subgraphs of %u cases, in no other case",
			   op_name(op), counts[op].inside);
	}
	ok(total.passed > (argc > 1 ? 0 : 5000) && !total.failed, "%u cases passed, %u failed; %u have control flow",
	   total.passed, total.failed, control_flow);
	return tap_done();
}
