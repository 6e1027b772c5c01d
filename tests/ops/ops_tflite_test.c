// SPDX-License-Identifier: MIT
/*
 * The extension org.nnpu.tflite: its tables, and the cases of tflite_case.h, each in several
 * variants of what is known when a program is loaded; then mutants of them, which may be refused
 * but not crash.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "mutants.h"
#include "ops_fixture.h"
#include "tflite/tflite_ops.h"
#include "tflite_case.h"

#define MUTANTS_PER_CASE	60
/* Calls of op_progress() after which a mutant that works too hard is ended. */
#define MAX_PROGRESS		50

static uint32_t code_of(int op)
{
	return EXTENSION_CODE(tflite_extension_index, (uint32_t)op);
}

/*
 * What is known at load time: values and shapes, shapes and scalars, only the shapes, only the
 * types.
 */
enum variant { VALUES, SCALARS, SHAPES, TYPES, NUM_VARIANTS };

static const char *const variant_names[] = { "values", "scalars", "shapes", "types" };

/* False: the case does not exist in this variant. */
static bool build(struct fixture *f, const struct tflite_case *tc, const struct tflite_call *call,
		  enum variant v)
{
	fixture_init(f, (enum nnpu_operation)code_of(tc->op));
	for (unsigned int i = 0; i < call->num_inputs; i++) {
		const struct tflite_operand *o = &call->operands[i];
		bool fixed = !o->omitted && (o->fixed || v == VALUES || (v == SCALARS && o->scalar));
		struct tensor *t;

		if (fixed && !o->bytes)
			return false;
		t = (fixed ? fixture_const : fixture_input)(f, o->type, o->scale, o->zero_point,
			o->rank, o->dims, o->omitted ? NULL : o->data);
		if (o->scales)
			fixture_channel_scales(f, o->channel_dim, o->scales);
		if (o->omitted)
			t->kind = NNPU_TENSOR_NO_VALUE;
		if (v == TYPES && !fixed && !o->omitted && !o->scalar)
			graph_set_shape(t, UNKNOWN_RANK);
	}
	for (unsigned int i = 0; i < call->num_outputs; i++) {
		const struct tflite_operand *o = &call->operands[call->num_inputs + i];
		struct tensor *t = fixture_output(f, o->type, o->scale, o->zero_point);

		if (o->omitted)
			t->kind = NNPU_TENSOR_NO_VALUE;
	}
	return true;
}

static int run(struct fixture *f, const struct tflite_call *call)
{
	if (!f->loaded && fixture_load(f))
		return -1;
	for (unsigned int i = 0; i < call->num_inputs; i++)
		if (f->graph.tensors[i].kind == NNPU_TENSOR_INPUT)
			graph_set_shape(&f->graph.tensors[i], call->operands[i].rank,
					call->operands[i].dims);
	return fixture_run(f);
}

static bool same_values(const struct tflite_operand *o, const struct tensor *t)
{
	bool wide = o->type == TFLITE_TENSOR_FLOAT64;
	size_t size = wide ? 8 : 4;

	if (o->bytes != t->bytes || !memcmp(o->data, t->data, o->bytes))
		return o->bytes == t->bytes;
	if (o->type != NNPU_TYPE_TENSOR_FLOAT32 && o->type != TFLITE_TENSOR_COMPLEX64 && !wide)
		return false;
	/* One NaN is as good as another. */
	for (size_t i = 0; i < o->bytes; i += size) {
		const char *a = (const char *)o->data + i, *b = (const char *)t->data + i;

		if (memcmp(a, b, size) &&
		    !(wide ? isnan(*(const double *)a) && isnan(*(const double *)b) :
			     isnan(*(const float *)a) && isnan(*(const float *)b)))
			return false;
	}
	return true;
}

static void print_tensor(const struct tensor *t)
{
	printf("# is");
	for (unsigned int d = 0; d < t->rank; d++)
		printf("%c%u", d ? 'x' : ' ', t->dims[d]);
	printf(":");
	for (size_t i = 0; i < t->bytes && i < 128; i++)
		printf(" %02x", ((const uint8_t *)t->data)[i]);
	putchar('\n');
}

static bool check_results(const struct fixture *f, const struct tflite_call *call)
{
	for (unsigned int i = 0; i < call->num_outputs; i++) {
		const struct tflite_operand *o = &call->operands[call->num_inputs + i];
		const struct tensor *t = &f->graph.tensors[call->num_inputs + i];

		if (o->omitted || (o->rank == t->rank &&
				   !memcmp(o->dims, t->dims, o->rank * sizeof(o->dims[0])) &&
				   same_values(o, t)))
			continue;
		printf("# output %u\n", i);
		print_tensor(t);
		return false;
	}
	return true;
}

static bool run_variant(const struct tflite_case *tc, const struct tflite_call *call,
			enum variant v)
{
	struct fixture f;
	bool good = true;
	int ret;

	if (build(&f, tc, call, v)) {
		ret = run(&f, call);
		if (!tc->reason)
			good = ret == 0 && check_results(&f, call);
		else
			good = ret == -1 && fixture_reason(&f) == tc->reason &&
			       fixture_bad_operand(&f) == tc->blamed;
		if (!good)
			printf("# %s known: returns %d, reason %s, operand %u\n", variant_names[v], ret,
			       reason_text(fixture_reason(&f)), fixture_bad_operand(&f));
	}
	fixture_end(&f);
	return good;
}

/* ---- mutants ---- */

static struct {
	unsigned int run, refused, ended;
} counts;

static bool take_operands(const struct tflite_call *call, struct mutant_operand *operands)
{
	for (unsigned int i = 0; i < call->num_inputs + call->num_outputs; i++) {
		const struct tflite_operand *o = &call->operands[i];
		struct mutant_operand *m = &operands[i];

		m->t = (struct tensor){ .type = o->type, .kind = NNPU_TENSOR_OUTPUT,
					.channel_dim = (uint8_t)o->channel_dim };
		m->scale = o->scale;
		m->zero_point = o->zero_point;
		if (o->omitted)
			m->t.kind = NNPU_TENSOR_NO_VALUE;
		if (o->omitted || i >= call->num_inputs)
			continue;
		m->t.kind = mutant_pick(2) ? NNPU_TENSOR_INPUT : NNPU_TENSOR_INLINE;
		m->t.rank = (uint8_t)o->rank;
		memcpy(m->t.dims, o->dims, sizeof(o->dims));
		m->bytes = o->bytes;
		m->data = malloc(o->bytes + 1);
		if (!m->data)
			exit(1);
		memcpy(m->data, o->data, o->bytes);
	}
	return true;
}

static void run_mutant(const struct tflite_case *tc, unsigned int inputs, unsigned int outputs,
		       const struct mutant_operand *operands)
{
	uint32_t numbers[TFLITE_MAX_OPERANDS];
	uint32_t code = code_of(tc->op);
	struct graph g;
	int ret;

	if (!graph_init(&g, inputs + outputs, 1))
		exit(1);
	g.max_bytes = MUTANT_MAX_BYTES;
	for (unsigned int i = 0; i < inputs + outputs; i++) {
		numbers[i] = i;
		g.tensors[i] = operands[i].t;
		/* Where an input is left out, the next one stands in the place of an output. */
		if (i >= inputs)
			g.tensors[i].kind = NNPU_TENSOR_OUTPUT;
		graph_set_shape(&g.tensors[i], operands[i].t.rank, operands[i].t.dims);
		if (tensor_is_const(&g.tensors[i]))
			g.tensors[i].data = operands[i].data;
	}
	if (!graph_set_call(&g, 0, op_find(code), inputs, outputs, numbers, false))
		exit(1);
	g.calls[0].extension = code;
	graph_progress.count = 0;
	graph_progress.abort_after = MAX_PROGRESS;
	ret = graph_load(&g);
	for (unsigned int i = 0; !ret && i < inputs; i++) {
		struct tensor *t = &g.tensors[i];

		if (t->kind != NNPU_TENSOR_INPUT)
			continue;
		graph_set_shape(t, operands[i].t.rank, operands[i].t.dims);
		t->data = operands[i].data;
		t->shape_known = true;
		t->bytes = operands[i].bytes;
	}
	if (!ret)
		ret = graph_run(&g);
	graph_progress.abort_after = 0;
	counts.run += ret == 0;
	counts.refused += ret < 0;
	counts.ended += ret > 0;
	if (ret < 0 && g.error.reason == NNPU_REASON_NONE) {
		printf("Bail out! %s '%s' fails without a reason\n", op_name(code), tc->operands);
		exit(1);
	}
	graph_destroy(&g);
}

static void mutate_case(const struct tflite_case *tc, const struct tflite_call *call)
{
	unsigned int n = call->num_inputs + call->num_outputs;

	for (unsigned int k = 0; k < MUTANTS_PER_CASE; k++) {
		struct mutant_operand operands[TFLITE_MAX_OPERANDS] = { 0 };
		bool good = take_operands(call, operands);

		for (uint32_t i = 0; i <= mutant_pick(3); i++)
			mutant_change(&operands[mutant_pick(n)]);
		for (unsigned int i = 0; good && i < n; i++)
			good = mutant_fit(&operands[i]);
		if (good)
			run_mutant(tc, call->num_inputs - (mutant_pick(32) == 0), call->num_outputs,
				   operands);
		for (unsigned int i = 0; i < n; i++)
			mutant_free(&operands[i]);
	}
}

/* ---- all ---- */

static bool tested[EXTENSION_MAX];

static void run_cases(const char *family, const struct tflite_case *tc)
{
	unsigned int good = 0, n = 0;

	for (; tc->op >= 0; tc++, n++) {
		struct tflite_call call;
		bool passed = true;

		if (!op_find(code_of(tc->op))) {
			printf("# no operation %d\n", tc->op);
			continue;
		}
		tflite_call_read(&call, tc->operands);
		for (enum variant v = 0; v < NUM_VARIANTS; v++)
			passed &= run_variant(tc, &call, v);
		if (!passed)
			printf("# %s: %s\n", op_name(code_of(tc->op)), tc->operands);
		good += passed;
		tested[tc->op] |= !tc->reason;
		mutate_case(tc, &call);
		tflite_call_free(&call);
	}
	ok(good == n, "%s: %u of %u cases", family, good, n);
}

/* Types and operations have the numbers of the schema, and no others exist. */
static void test_tables(void)
{
	const struct extension *e = extension_get(tflite_extension_index);
	unsigned int holes = 0, untested = 0;

	ok(!strcmp(e->name, "org.nnpu.tflite") && !e->is_example, "%s is always offered", e->name);
	ok(type_size(TFLITE_TENSOR_INT64) == 8 && !type_is_scalar(TFLITE_TENSOR_INT64) &&
	   !strcmp(type_name(TFLITE_TENSOR_UINT16), "TENSOR_UINT16"), "types have their numbers");
	ok(!type_size(TFLITE_CODE(0)) && !type_size(TFLITE_CODE(5)) && !type_size(TFLITE_CODE(17)) &&
	   !type_size(TFLITE_CODE(255)), "types of the HAL and strings are no types");
	ok(!op_find(code_of(119)) && !strcmp(op_name(code_of(119)), "unknown operation") &&
	   !op_find(code_of(255)), "numbers without an operation");
	for (uint32_t i = 0; i < e->num_operations; i++) {
		holes += !e->operations[i].desc.name;
		if (!e->operations[i].desc.name || tested[i])
			continue;
		printf("# %s has no case\n", e->operations[i].desc.name);
		untested++;
	}
	ok(!untested, "each of the %u operations has a case", e->num_operations - holes);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		mutant_seed(strtoull(argv[1], NULL, 0));
#define RUN(name)	run_cases(#name, tflite_##name##_cases);
	TFLITE_CASE_LIST(RUN)
	test_tables();
	ok(counts.run > 100 && counts.refused > 100, "%u mutants ran, %u were refused, %u were ended",
	   counts.run, counts.refused, counts.ended);
	return tap_done();
}
