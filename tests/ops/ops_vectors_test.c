// SPDX-License-Identifier: MIT
/*
 * Runs the operator test cases beside the repository through the operations.
 *
 * A case is run if the device has all its operations in the variants it uses; then it
 * must give the expected results each time: as it is, with its constants fed as
 * inputs, which leaves nothing to prepare, and with shapes that are not known before
 * the job runs. A case of one operation on unsigned quantized tensors must do the same
 * on signed ones. J01 and so on are lines of the conformance checklist: precision.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "shared_vectors.h"


/* What became of the cases with an operation. */
static struct {
	unsigned int passed, failed, unsupported;
} counts[NNPU_NUM_OPERATIONS], total;

enum verdict { PASSED, FAILED, UNSUPPORTED };

enum variation { AS_GIVEN, CONSTANTS_AS_INPUTS, SHAPES_UNKNOWN, SIGNED_TWIN, VARIATIONS };

static const char *const variation_names[VARIATIONS] = {
	"", " (constants as inputs)", " (shapes unknown)", " (signed)",
};

struct tolerance {
	double absolute, relative;
	int quantized;
};

static bool uses_float16(const struct nntc_case *nc)
{
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		if (nc->main.operands[i].type == NNPU_TYPE_TENSOR_FLOAT16)
			return true;
	}
	return false;
}

static float half_to_float(uint16_t h)
{
	int exponent = h >> 10 & 31, mantissa = h & 1023;
	float v;

	if (exponent == 31)
		v = mantissa ? NAN : INFINITY;
	else if (exponent)
		v = ldexpf((float)(mantissa + 1024), exponent - 25);
	else
		v = ldexpf((float)mantissa, -24);
	return h & 0x8000 ? -v : v;
}

static double logit_at(const struct tensor *t, size_t i)
{
	uint16_t half;
	float v;

	if (t->type == NNPU_TYPE_TENSOR_FLOAT16) {
		memcpy(&half, (const char *)t->data + i * 2, 2);
		return half_to_float(half);
	}
	memcpy(&v, (const char *)t->data + i * 4, 4);
	return v;
}

/* J01: NaN is never right, on either side. */
static bool close_enough(double expected, double actual, const struct tolerance *t)
{
	if (isinf(expected) || isinf(actual))
		return expected == actual;
	return fabs(expected - actual) <= t->absolute + t->relative * fabs(expected);
}

static bool element_matches(uint32_t type, const uint8_t *e, const uint8_t *a,
			    const struct tolerance *t)
{
	int32_t ei, ai;
	int16_t es, as;
	uint16_t eh, ah;
	float ef, af;

	switch (type) {
	case NNPU_TYPE_TENSOR_FLOAT32:
		memcpy(&ef, e, 4);
		memcpy(&af, a, 4);
		return close_enough(ef, af, t);
	case NNPU_TYPE_TENSOR_FLOAT16:
		memcpy(&eh, e, 2);
		memcpy(&ah, a, 2);
		return close_enough(half_to_float(eh), half_to_float(ah), t);
	/* J05: integers and 16 bits within 1. */
	case NNPU_TYPE_INT32:
	case NNPU_TYPE_TENSOR_INT32:
		memcpy(&ei, e, 4);
		memcpy(&ai, a, 4);
		return llabs((long long)ei - ai) <= t->quantized;
	case NNPU_TYPE_TENSOR_QUANT16_ASYMM:
		memcpy(&eh, e, 2);
		memcpy(&ah, a, 2);
		return abs(eh - ah) <= 1;
	case NNPU_TYPE_TENSOR_QUANT16_SYMM:
		memcpy(&es, e, 2);
		memcpy(&as, a, 2);
		return abs(es - as) <= 1;
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
		return abs(*e - *a) <= t->quantized;
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNPU_TYPE_TENSOR_QUANT8_SYMM:
		return abs((int8_t)*e - (int8_t)*a) <= t->quantized;
	/* J07: any byte but 0 is true. */
	case NNPU_TYPE_TENSOR_BOOL8:
		return !*e == !*a;
	/* J08: no case has an output of another type. */
	default:
		return false;
	}
}

/* J09: frequencies of classes against the probabilities that the logits of input 0 give. */
static bool samples_match(const char *what, const struct tensor *logits, const struct tensor *t,
			  float tolerance)
{
	uint32_t classes = logits->dims[1], samples = t->dims[1];
	const int32_t *ids = t->data;

	for (uint32_t b = 0; b < logits->dims[0]; b++) {
		double sum = 0;

		for (uint32_t i = 0; i < classes; i++)
			sum += exp(logit_at(logits, b * classes + i));
		for (uint32_t i = 0; i < samples; i++) {
			if (ids[b * samples + i] < 0 || (uint32_t)ids[b * samples + i] >= classes) {
				tap_note("%s: a class that does not exist", what);
				return false;
			}
		}
		for (uint32_t k = 0; k < classes; k++) {
			double expected = exp(logit_at(logits, b * classes + k)) / sum;
			uint32_t count = 0;

			for (uint32_t i = 0; i < samples; i++)
				count += ids[b * samples + i] == (int32_t)k;
			if (fabs((double)count / samples - expected) > tolerance) {
				tap_note("%s: wrong frequency of class %u", what, k);
				return false;
			}
		}
	}
	return true;
}

static bool output_matches(const char *what, const struct nntc_operand *o,
			   const struct tensor *t, const struct tolerance *tol)
{
	size_t size = type_size(o->type);

	if (t->bytes != o->num_bytes) {
		tap_note("%s: output of %zu bytes, expected %u", what, t->bytes, o->num_bytes);
		return false;
	}
	for (unsigned int i = 0; i < o->rank; i++) {
		if (o->dims[i] && (t->rank != o->rank || t->dims[i] != o->dims[i])) {
			tap_note("%s: wrong output shape", what);
			return false;
		}
	}
	for (size_t i = 0; !o->ignore_output && i + size <= t->bytes; i += size) {
		if (!element_matches(o->type, o->data + i, (const uint8_t *)t->data + i, tol)) {
			tap_note("%s: element %zu differs", what, i / size);
			return false;
		}
	}
	return true;
}

/* Copies of the data, aligned as the contract says. */
static void *aligned_copy(const void *data, size_t bytes)
{
	void *copy = aligned_alloc(64, (bytes + 64) / 64 * 64);

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
		t->scale = o->scale;
		t->zero_point = o->zero_point;
		t->channel_dim = o->channel_dim;
		t->num_channel_scales = o->num_channel_scales;
		t->channel_scales = o->channel_scales;
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

static enum verdict run(const char *file, const struct nntc_case *nc, enum variation variation)
{
	/* J02: TENSOR_FLOAT32. */
	struct tolerance tol = { 1e-5, 5 * ldexp(1, -23), 1 };
	enum verdict verdict = PASSED;
	char what[512];
	struct graph g;
	void **data;
	int ret;

	snprintf(what, sizeof(what), "%s: %s%s", file, nc->name, variation_names[variation]);
	/* J03, J04: TENSOR_FLOAT16, and what may be computed as such. */
	if (nc->relaxed || uses_float16(nc))
		tol.absolute = tol.relative = 5 * ldexp(1, -10);
	/* J06: bytes within 1, of whole networks within 3. */
	if (strstr(file, "/mobilenet_"))
		tol.quantized = 3;

	data = calloc(nc->main.num_operands + 1, sizeof(*data));
	if (!data || !build(&g, nc, variation, data)) {
		tap_note("%s: no memory", what);
		exit(1);
	}
	ret = graph_load(&g);
	if (ret && g.error.reason == NNPU_REASON_UNSUPPORTED_VARIANT) {
		verdict = UNSUPPORTED;
	} else {
		if (!ret) {
			feed(&g, nc, data);
			ret = graph_run(&g);
		}
		if (!ret != !nc->expect_failure) {
			verdict = FAILED;
			tap_note("%s: operation %u: %s, operand %u", what, g.failed_call,
				 reason_text(g.error.reason), g.error.operand);
		}
		for (uint32_t i = 0; !ret && verdict == PASSED && i < nc->main.num_outputs; i++) {
			uint32_t o = nc->main.outputs[i];

			if (nc->multinomial_tolerance > 0 ?
			    !samples_match(what, g.calls[0].operands[0], &g.tensors[o],
					   nc->multinomial_tolerance) :
			    !output_matches(what, &nc->main.operands[o], &g.tensors[o], &tol))
				verdict = FAILED;
		}
	}
	graph_destroy(&g);
	for (uint32_t i = 0; i < nc->main.num_operands; i++)
		free(data[i]);
	free(data);
	return verdict;
}

static bool has_operations(const struct nntc_case *nc)
{
	if (nc->num_referenced)
		return false;
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		if (!op_find(nc->main.operations[i].type))
			return false;
	}
	for (uint32_t i = 0; i < nc->main.num_operands; i++) {
		if (nc->main.operands[i].lifetime >= NNTC_SUBGRAPH)
			return false;
	}
	return true;
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
static enum verdict run_signed(const char *file, const struct nntc_case *nc)
{
	struct nntc_case twin = *nc;
	enum verdict verdict = PASSED;
	size_t bytes = 0, at = 0;
	uint8_t *data;

	if (nc->main.num_operations != 1 || is_unsigned_only(nc->main.operations[0].type))
		return PASSED;
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
		verdict = run(file, &twin, SIGNED_TWIN);
	free(twin.main.operands);
	free(data);
	return verdict;
}

static void run_case(const char *file, const struct nntc_case *nc)
{
	bool seen[NNPU_NUM_OPERATIONS] = { false };
	enum verdict verdict = UNSUPPORTED;

	if (has_operations(nc)) {
		verdict = run(file, nc, AS_GIVEN);
		if (verdict == PASSED)
			verdict = run(file, nc, CONSTANTS_AS_INPUTS);
		/* What must fail may do so because of a declared shape. */
		if (verdict == PASSED && !nc->expect_failure)
			verdict = run(file, nc, SHAPES_UNKNOWN);
		if (verdict == PASSED)
			verdict = run_signed(file, nc);
	}
	total.passed += verdict == PASSED;
	total.failed += verdict == FAILED;
	total.unsupported += verdict == UNSUPPORTED;
	for (uint32_t i = 0; i < nc->main.num_operations; i++) {
		uint32_t op = nc->main.operations[i].type;

		if (op >= NNPU_NUM_OPERATIONS || seen[op])
			continue;
		seen[op] = true;
		counts[op].passed += verdict == PASSED;
		counts[op].failed += verdict == FAILED;
		counts[op].unsupported += verdict == UNSUPPORTED;
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
		if (op_find(op) && argc == 1 &&
		    !(counts[op].passed + counts[op].failed + counts[op].unsupported))
			tap_skip("%s: no case outside of subgraphs", op_name(op));
		else if (op_find(op) && (argc == 1 || counts[op].passed + counts[op].failed))
			ok(counts[op].passed && !counts[op].failed,
				   "%s: %u cases passed, %u failed, %u not supported", op_name(op),
				   counts[op].passed, counts[op].failed, counts[op].unsupported);
	}
	tap_note("%u cases passed, %u failed, %u not supported", total.passed, total.failed,
		 total.unsupported);
	return tap_done();
}
