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

int main(void)
{
	struct nnhal_device *device = NULL;
	struct nntflite_diag diag;
	struct mw_model m = chain(TFLITE_RELU6);

	judge(&m, NULL, "yes|yes|yes", "nothing to object to");
	m = chain(TFLITE_SKIP_GRAM);
	judge(&m, NULL, "yes|this operator (output tensor 'b') is not|yes", "one in the middle");
	m.operators[2].num_inputs = 0;
	judge(&m, NULL, "yes|this operator (output tensor 'b') is not|0 inputs, expected 1 to 1",
	      "two");
	m = chain(TFLITE_RELU6);
	m.operators[2].code = TFLITE_SKIP_GRAM;
	judge(&m, NULL, "yes|yes|this operator (output tensor 'out') is n", "the one that ends");
	m = chain(TFLITE_RELU6);
	m.operators[0] = unary(TFLITE_RELU, 0, 1);
	m.operators[1].num_outputs = 0;
	m.operators[2].num_inputs = 0;
	judge(&m, NULL, "yes|0 outputs, expected 1 to 1|0 inputs, expected 1 to 1",
	      "one without results, and one behind it");
	m = chain(TFLITE_RELU6);
	m.operators[2].num_outputs = 0;
	judge(&m, NULL, "yes|yes|0 outputs, expected 1 to 1", "one without results at the end");
	m = chain(TFLITE_RELU6);
	m.tensors[0].type = TFLITE_STRING;
	m.operators[0].code = TFLITE_SKIP_GRAM;
	judge(&m, NULL, "this operator (output tensor 'a') is not|yes|yes", "a model fed with strings");
	if (ok(nnhal_device_open("sim", &device, NULL) == NNHAL_STATUS_NONE, "the device")) {
		m = chain(TFLITE_SKIP_GRAM);
		judge(&m, device, "yes|this operator (output tensor 'b') is not|yes",
		      "a device, one in the middle");
		m = chain(TFLITE_RELU6);
		m.tensors[3].type = TFLITE_INT32;
		fails(&m, device, "the device cannot judge the model: operation 2");
		nnhal_device_unref(device);
	}
	ok(nntflite_file_judge(NULL, NULL, NULL, hear, NULL, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && diag.message[0], "no file");
	return tap_done();
}
