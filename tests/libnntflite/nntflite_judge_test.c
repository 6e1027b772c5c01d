// SPDX-License-Identifier: MIT
/*
 * nntflite_file_judge(): verdicts on all operators, also behind one that cannot run.
 */
#include <stdio.h>
#include <string.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

static uint8_t file[MW_MAX_SIZE];

/* Verdicts as text: "yes", or the first words of the reason, separated by |. */
struct heard {
	char text[512];
	uint32_t count;
	bool wrong_order;
};

static void hear(void *context, const struct nntflite_verdict *v)
{
	struct heard *h = context;
	size_t used = strlen(h->text);

	h->wrong_order |= v->op != h->count || v->subgraph != 0 || v->name[0] == '\0';
	h->count++;
	snprintf(h->text + used, sizeof(h->text) - used, "%s%.40s", used ? "|" : "",
		 v->supported ? "yes" : v->reason);
}

static struct mw_tensor float8(const char *name)
{
	return (struct mw_tensor){ .name = name, .rank = 2, .dims = { 1, 8 } };
}

static struct mw_operator unary(int32_t code, int32_t in, int32_t out)
{
	return (struct mw_operator){ .code = code, .num_inputs = 1, .inputs = { in },
				     .num_outputs = 1, .outputs = { out }, .no_options = true };
}

/* in - RELU - a - @code - b - TANH - out */
static struct mw_model chain(int32_t code)
{
	struct mw_model m = { .num_tensors = 4, .num_operators = 3, .num_inputs = 1,
			      .num_outputs = 1, .outputs = { 3 } };

	m.tensors[0] = float8("in");
	m.tensors[1] = float8("a");
	m.tensors[2] = float8("b");
	m.tensors[3] = float8("out");
	m.operators[0] = unary(TFLITE_RELU, 0, 1);
	m.operators[1] = unary(code, 1, 2);
	m.operators[2] = unary(TFLITE_TANH, 2, 3);
	return m;
}

static void judge(const struct mw_model *m, struct nnhal_device *device, const char *expected,
		  const char *what)
{
	struct heard h = { .text = "" };
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	size_t size = mw_write(m, file);

	if (!ok(nntflite_file_open_memory(file, size, &opened, &diag) == NNHAL_STATUS_NONE,
		"%s: a file", what))
		return;
	if (!ok(nntflite_file_judge(opened, NULL, device, hear, &h, &diag) == NNHAL_STATUS_NONE &&
		!h.wrong_order && strcmp(h.text, expected) == 0 && diag.message[0] == '\0',
		"%s: %s", what, expected))
		tap_note("got '%s' %s", h.text, diag.message);
	nntflite_file_close(opened);
}

static void fails(const struct mw_model *m, struct nnhal_device *device, const char *words)
{
	struct heard h = { .text = "" };
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	size_t size = mw_write(m, file);

	if (nntflite_file_open_memory(file, size, &opened, &diag) != NNHAL_STATUS_NONE ||
	    !ok(nntflite_file_judge(opened, NULL, device, hear, &h, &diag) ==
		NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, words) && h.count == 3,
		"\"%s\"", words))
		tap_note("got '%s'", diag.message);
	nntflite_file_close(opened);
}

struct second {
	char reason[NNTFLITE_DIAG_SIZE];
	uint32_t others;
	bool supported;
};

static void hear_second(void *context, const struct nntflite_verdict *v)
{
	struct second *s = context;

	if (v->op != 1) {
		s->others += v->supported;
		return;
	}
	s->supported = v->supported;
	snprintf(s->reason, sizeof(s->reason), "%s", v->reason);
}

/*
 * Each operator in a file that does not suit it: a verdict and the refusal of the model say the
 * same. One that is left out comes with a reason.
 */
static void test_reasons(void)
{
	int32_t code, left_out = 0;

	/* The number behind the last one of the schema, too. */
	for (code = 0; code <= TFLITE_NUM_BUILTINS; code++) {
		static const char words[] = "this operator is not supported: ";
		const char *name = nntflite_operator_name(code);
		struct mw_model m = chain(code);
		struct nntflite_model *model = NULL;
		struct nntflite_file *opened = NULL;
		struct second heard = { .others = 0 };
		struct nntflite_diag diag;
		char expected[NNTFLITE_DIAG_SIZE + 80];

		m.operators[1].custom_name = code == TFLITE_CUSTOM ? "unheard" : NULL;
		if (nntflite_file_open_memory(file, mw_write(&m, file), &opened, &diag) ||
		    nntflite_file_judge(opened, NULL, NULL, hear_second, &heard, &diag)) {
			ok(false, "%s: %s", name, diag.message);
			nntflite_file_close(opened);
			continue;
		}
		nntflite_model_create(opened, NULL, &model, &diag);
		nntflite_model_destroy(model);
		nntflite_file_close(opened);
		if (heard.supported)
			continue;
		if (code == TFLITE_CUSTOM)
			name = "unheard";
		snprintf(expected, sizeof(expected), "operator 1 (%s): %s",
			 name ? name : "operator number 210", heard.reason);
		left_out += !strncmp(heard.reason, words, strlen(words));
		if (!ok(strcmp(heard.reason, words) && heard.others == 2 &&
			!strcmp(diag.message, expected), "%s", expected))
			tap_note("nntflite_model_create() says: %s", diag.message);
	}
	/* Hash tables, random numbers, some of StableHLO and a few more. */
	ok(left_out >= 20, "%d operators are left out", left_out);
}

/* A model of one operator that the device has to take: constants but for the first @fed. */
struct single {
	const char *what;
	int32_t code;
	uint8_t options_type;
	uint32_t num_inputs;		/* the output follows */
	uint32_t fed;
	struct mw_tensor tensors[6];
	struct mw_option options[6];
};

static const int32_t numbers[32] = { 0, 0, 0, 0 };
static const int32_t ones[4] = { 1, 1, 1, 1 };
static const int64_t wide_numbers[2] = { 0, 0 };
static const int64_t wide_sizes[2] = { 2, 4 };
static const int32_t sizes[2] = { 2, 4 };

#define F32(...)	{ .name = "t", .type = TFLITE_FLOAT32, __VA_ARGS__ }
#define I32(...)	{ .name = "t", .type = TFLITE_INT32, __VA_ARGS__ }
#define I64(...)	{ .name = "t", .type = TFLITE_INT64, __VA_ARGS__ }
#define I16(...)	{ .name = "t", .type = TFLITE_INT16, .num_scales = 1, .scales = { 0.5f }, \
			  __VA_ARGS__ }
#define I8(...)		{ .name = "t", .type = TFLITE_INT8, .num_scales = 1, .scales = { 0.5f }, \
			  __VA_ARGS__ }
#define RANK1(a)	.rank = 1, .dims = { a }
#define RANK2(a, b)	.rank = 2, .dims = { a, b }
#define RANK5(a, b, c, d, e) .rank = 5, .dims = { a, b, c, d, e }
#define DATA(a, n)	.data = (a), .data_size = (n)

static const struct single singles[] = {
	{ "FULLY_CONNECTED of int16 without a bias", TFLITE_FULLY_CONNECTED,
	  TFLITE_FULLY_CONNECTED_OPTIONS, 2, 1,
	  { I16(RANK2(1, 4)), I8(RANK2(2, 4), DATA(numbers, 8)), I16(RANK2(1, 2)) }, { { 0 } } },
	{ "CONV_3D without a bias", TFLITE_CONV_3D, TFLITE_CONV_3D_OPTIONS, 2, 1,
	  { F32(RANK5(1, 2, 2, 2, 1)), F32(RANK5(1, 1, 1, 1, 1), DATA(numbers, 4)),
	    F32(RANK5(1, 2, 2, 2, 1)) },
	  { { MW_I32, 1, 1, 0, NULL }, { MW_I32, 2, 1, 0, NULL }, { MW_I32, 3, 1, 0, NULL } } },
	{ "STRIDED_SLICE of int32", TFLITE_STRIDED_SLICE, TFLITE_STRIDED_SLICE_OPTIONS, 4, 1,
	  { I32(RANK1(4)), I32(RANK1(1), DATA(numbers, 4)), I32(RANK1(1), DATA(ones, 4)),
	    I32(RANK1(1), DATA(ones, 4)), I32(RANK1(1)) }, { { 0 } } },
	{ "CONCATENATION of int32", TFLITE_CONCATENATION, TFLITE_CONCATENATION_OPTIONS, 2, 2,
	  { I32(RANK1(2)), I32(RANK1(3)), I32(RANK1(5)) }, { { 0 } } },
	{ "SLICE at an int64 place", TFLITE_SLICE, TFLITE_SLICE_OPTIONS, 3, 1,
	  { F32(RANK2(4, 4)), I64(RANK1(2), DATA(wide_numbers, 16)),
	    I64(RANK1(2), DATA(wide_sizes, 16)), F32(RANK2(2, 4)) }, { { 0 } } },
	{ "RESHAPE to an int64 shape", TFLITE_RESHAPE, TFLITE_RESHAPE_OPTIONS, 2, 1,
	  { F32(RANK1(8)), I64(RANK1(2), DATA(wide_sizes, 16)), F32(RANK2(2, 4)) }, { { 0 } } },
	{ "RESHAPE of int64 to the shape of the options", TFLITE_RESHAPE, TFLITE_RESHAPE_OPTIONS,
	  1, 1, { I64(RANK1(8)), I64(RANK2(2, 4)) }, { { MW_LIST, 0, 2, 0, sizes } } },
	{ "GATHER of one row", TFLITE_GATHER, TFLITE_GATHER_OPTIONS, 2, 2,
	  { F32(RANK2(3, 4)), I32(.rank = 0), F32(RANK1(4)) }, { { 0 } } },
	{ "GATHER of one number", TFLITE_GATHER, TFLITE_GATHER_OPTIONS, 2, 2,
	  { F32(RANK1(3)), I32(.rank = 0), F32(.rank = 0) }, { { 0 } } },
};

static void test_single(const struct single *s, struct nnhal_device *device)
{
	struct mw_model m = { .num_tensors = s->num_inputs + 1, .num_operators = 1,
			      .num_inputs = s->fed, .num_outputs = 1 };
	struct mw_operator *op = &m.operators[0];
	uint32_t i;

	memcpy(m.tensors, s->tensors, sizeof(s->tensors));
	*op = (struct mw_operator){ .code = s->code, .options_type = s->options_type,
				    .num_inputs = s->num_inputs, .num_outputs = 1 };
	memcpy(op->options, s->options, sizeof(s->options));
	for (i = 0; i < s->num_inputs; i++)
		op->inputs[i] = m.inputs[i] = (int32_t)i;
	op->outputs[0] = m.outputs[0] = (int32_t)s->num_inputs;
	judge(&m, device, "yes", s->what);
}

int main(void)
{
	struct nnhal_device *device = NULL;
	struct nntflite_diag diag;
	struct mw_model m = chain(TFLITE_RELU6);
	size_t i;

	judge(&m, NULL, "yes|yes|yes", "nothing to object to");
	m = chain(TFLITE_SKIP_GRAM);
	judge(&m, NULL, "yes|this operator is not supported: it works|yes", "one in the middle");
	m.operators[2].num_inputs = 0;
	judge(&m, NULL, "yes|this operator is not supported: it works|0 inputs, expected 1 to 1 (it computes t",
	      "two");
	test_reasons();
	m = chain(TFLITE_RELU6);
	m.operators[2].code = TFLITE_SKIP_GRAM;
	judge(&m, NULL, "yes|yes|this operator is not supported: it works", "the one that ends");
	m = chain(TFLITE_RELU6);
	m.operators[0] = unary(TFLITE_RELU, 0, 1);
	m.operators[1].num_outputs = 0;
	m.operators[2].num_inputs = 0;
	judge(&m, NULL, "yes|0 outputs, expected 1 to 1 (it reads ten|0 inputs, expected 1 to 1 (it computes t",
	      "one without results, and one behind it");
	m = chain(TFLITE_RELU6);
	m.operators[2].num_outputs = 0;
	judge(&m, NULL, "yes|yes|0 outputs, expected 1 to 1 (it reads ten", "one without results at the end");
	m = chain(TFLITE_RELU6);
	m.tensors[0].type = TFLITE_STRING;
	m.operators[0].code = TFLITE_SKIP_GRAM;
	judge(&m, NULL, "this operator is not supported: it works|yes|yes", "a model fed with strings");
	if (ok(nnhal_device_open("sim", &device, NULL) == NNHAL_STATUS_NONE, "the device")) {
		m = chain(TFLITE_SKIP_GRAM);
		judge(&m, device, "yes|this operator is not supported: it works|yes",
		      "a device, one in the middle");
		m = chain(TFLITE_RELU6);
		m.tensors[3].type = TFLITE_INT32;
		fails(&m, device, "the device cannot judge the model: operator 2 (TANH): tensor 3 'out': ");
		for (i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
			test_single(&singles[i], device);
		nnhal_device_unref(device);
	}
	ok(nntflite_file_judge(NULL, NULL, NULL, hear, NULL, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && diag.message[0], "no file");
	return tap_done();
}
