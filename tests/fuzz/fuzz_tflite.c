// SPDX-License-Identifier: MIT
/*
 * Fuzzing libnntflite and all that is behind it: reading a file, verdicts, making a HAL model, its
 * validation, preparing it on the in-process device, and one execution.
 *
 * Whatever the bytes are: no fault, no leak, no hang, and each refusal names the operator and the
 * tensor at fault, but for faults of the file as a whole.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nntflite/nntflite.h>

#include "tflite_run.h"
#include "userspace/libnntflite/file/tflite_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/*
 * What is no operator's and no tensor's: everything else names one. A blank at the start stands for
 * a number in front.
 */
static const char *const of_files[] = {
	"malformed file: ", "the file is empty", "not a TensorFlow Lite file: ", "schema version ",
	"the model has no ", "model input ", "model output ", "signature ", "a signature names ",
	" subgraphs, at most ", " tensors, at most ", " operators, at most ", " signatures, at most ",
	" inputs and ", "out of memory", NULL
};

/* Sums over all operators, and lists of a subgraph. */
static const char *const of_models[] = {
	"the model needs more than ", "the model is too large", "the constants take more than ",
	" has no inputs, and the HAL ", "out of memory", NULL
};

static bool is_among(const char *const *known, const char *message)
{
	for (; *known; known++) {
		const char *found = strstr(message, *known);

		if (found && (found == message || **known == ' '))
			return true;
	}
	return false;
}

/* One line, without bytes that a terminal takes for commands. */
static void check_text(const char *text)
{
	const char *c;

	check(text[0], "refused without a reason", "");
	for (c = text; *c; c++)
		check((unsigned char)*c >= 0x20 && *c != 0x7f, "a control character", text);
}

static void check_named(const struct nntflite_diag *diag, const char *kind, uint32_t number)
{
	char words[32];

	snprintf(words, sizeof(words), "%s %u", kind, number);
	check(number == NNTFLITE_NONE || strstr(diag->message, words), words, diag->message);
}

static void check_place(const struct nntflite_diag *diag, const char *const *known)
{
	check_text(diag->message);
	check_named(diag, "operator", diag->op);
	check_named(diag, "tensor", diag->tensor);
	if (diag->op == NNTFLITE_NONE && diag->tensor == NNTFLITE_NONE)
		check(is_among(known, diag->message), "names no operator and no tensor",
		      diag->message);
	else
		check(diag->subgraph != NNTFLITE_NONE, "names no subgraph", diag->message);
}

/* An operator that cannot be mapped names a tensor too, if it has one. */
static void check_operator(const struct nntflite_file *file, const struct nntflite_diag *diag)
{
	const struct tflite_operator *op;
	uint32_t i, tensors;

	check_place(diag, of_models);
	if (diag->op == NNTFLITE_NONE || diag->tensor != NNTFLITE_NONE)
		return;
	op = &file->tflite.subgraphs[diag->subgraph].operators[diag->op];
	tensors = op->outputs.count;
	for (i = 0; i < op->inputs.count; i++)
		tensors += fb_vector_i32(&op->inputs, i) >= 0;
	check(!tensors, "names no tensor", diag->message);
}

/*
 * Is a model refused for operands that do not fit their operation? That is the file's doing;
 * all else that a model must obey is up to the library.
 */
static bool is_about_operands(const char *message)
{
	return strstr(message, "operation ") &&
	       (strstr(message, ", expected ") || strstr(message, "no form of it") ||
		strstr(message, " in one graph, "));
}

static void count_text(void *context, const char *text, size_t length)
{
	(void)text;
	*(size_t *)context += length;
}

static void draw(const struct nnhal_model *model)
{
	size_t size = 0;

	check(!nnhal_graph_dump("fuzz", model, count_text, &size) && size, "graph", "failed");
}

struct verdicts {
	uint32_t count;
	uint32_t refused;
};

static void hear(void *context, const struct nntflite_verdict *verdict)
{
	struct verdicts *heard = context;

	heard->count++;
	heard->refused += !verdict->supported;
	if (!verdict->supported)
		check_text(verdict->reason);
}

static bool has_operators(const struct nntflite_file *file)
{
	uint32_t i;

	for (i = 0; i < file->tflite.num_subgraphs; i++)
		if (file->tflite.subgraphs[i].num_operators == 0)
			return false;
	return true;
}

static void judge(const struct nntflite_file *file, const struct nntflite_model_options *options,
		  bool refused)
{
	struct verdicts heard = { 0, 0 };
	struct nntflite_diag diag;

	if (nntflite_file_judge(file, options, NULL, hear, &heard, &diag))
		check_text(diag.message);
	else
		check(heard.count || !has_operators(file), "no verdict", "file");
	/* A model that can be made has nothing to object to. */
	check(refused || !heard.refused, "a verdict against an operator that was mapped", "file");
}

static void make_model(const struct nntflite_file *file,
		       const struct nntflite_model_options *options)
{
	struct nnhal_diag why = { "" };
	struct nntflite_model *model;
	struct nntflite_diag diag;
	const struct nnhal_model *hal;

	if (nntflite_model_create(file, options, &model, &diag)) {
		counts.refused++;
		if (!options || !options->num_shapes)
			check_operator(file, &diag);
		judge(file, options, true);
		return;
	}
	judge(file, options, false);
	hal = nntflite_model_get_hal(model);
	draw(hal);
	if (nnhal_validate_model(hal, &why)) {
		run_model(model);
	} else {
		counts.invalid++;
		check(is_about_operands(why.message), "the mapping made an invalid model",
		      why.message);
		check_explained(model, &why);
	}
	nntflite_model_destroy(model);
}

/* The last bytes of a file belong to nothing, as a rule: they are a shape of the first input. */
static void make_reshaped(const struct nntflite_file *file, const uint8_t *end)
{
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	struct nntflite_shape shape = { .input = "0", .rank = 1u + (end[-1] & 3u) };
	uint32_t i;

	for (i = 0; i < shape.rank; i++)
		shape.dims[i] = 1u + (end[-2 - (int)i] & 7u);
	options.shapes = &shape;
	options.num_shapes = 1;
	options.signature = nntflite_file_signature(file, 0);
	make_model(file, &options);
}

static void report(void)
{
	fprintf(stderr, "tflite: %lu refused, %lu invalid, %lu not supported, %lu too large, %lu "
		"failed, %lu executed\n", counts.refused, counts.invalid, counts.unsupported,
		counts.large, counts.failed, counts.executed);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_device();
	atexit(report);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nntflite_diag diag;
	struct nntflite_file *file;

	if (nntflite_file_open_memory(data, size, &file, &diag)) {
		check_place(&diag, of_files);
		return 0;
	}
	make_model(file, NULL);
	if (size >= 8 && data[size - 6] & 1)
		make_reshaped(file, data + size);
	nntflite_file_close(file);
	return 0;
}

/*
 * Offsets lead through the whole file: bytes inserted anywhere break all that go past them. Most
 * mutations therefore keep the size, and write what stands for a number, an offset or a type.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const uint32_t words[] = { 0, 1, 2, 3, 4, 8, 16, 255, 256, 65536, 0x7fffffff,
					  0x80000000, 0xffffffff, 0x3f800000, 0x7f800000 };
	uint32_t at, from, word;

	if (size < 8 || seed % 4 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	seed = (seed >> 2) * 2654435761u;
	at = seed % (uint32_t)(size / 4) * 4;
	memcpy(&word, data + at, 4);
	switch (seed >> 28) {
	case 0: case 1: case 2:
		word += (seed >> 20 & 15u) - 8u;
		break;
	case 3: case 4: case 5:
		word = words[(seed >> 16) % (sizeof(words) / sizeof(words[0]))];
		break;
	case 6: case 7: case 8:
		from = (seed >> 8) % (uint32_t)(size / 4) * 4;
		memcpy(&word, data + from, 4);
		break;
	default:
		data[at + (seed >> 24 & 3u)] = (uint8_t)(seed >> 12 & (seed >> 27 & 1u ? 255u : 7u));
		return size;
	}
	memcpy(data + at, &word, 4);
	return size;
}
