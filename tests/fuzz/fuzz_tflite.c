// SPDX-License-Identifier: MIT
/*
 * Fuzzing the .tflite loader of nnrun, and the mapping to a HAL model behind it.
 *
 * Whatever the bytes are: no fault, no leak, an error text with every refusal, and
 * what is not refused is a valid HAL model that can be drawn.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nntflite/nntflite.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good, const char *what, const char *text)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, text);
	abort();
}

/*
 * Is a model refused for operands that do not fit their operation? That is the file's doing;
 * all else that a model must obey is up to the loader.
 */
static bool is_about_operands(const char *message)
{
	return !strncmp(message, "operation ", 10) &&
	       (strstr(message, ", expected ") || strstr(message, "no form of it"));
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

static void count_verdict(void *context, const struct nntflite_verdict *verdict)
{
	check(verdict->supported || verdict->reason[0], "refused without a reason", "operator");
	++*(uint32_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nntflite_diag diag;
	struct nntflite_model *model;
	struct nntflite_file *file;
	struct nnhal_diag why = { "" };

	if (nntflite_file_open_memory(data, size, &file, &diag)) {
		check(diag.message[0], "refused without a reason", "file");
		return 0;
	}
	if (nntflite_model_create(file, NULL, &model, &diag)) {
		uint32_t verdicts = 0;

		check(diag.message[0], "refused without a reason", "model");
		check(nntflite_file_judge(file, NULL, NULL, count_verdict, &verdicts, &diag) ||
		      verdicts, "no verdict", "file");
	} else {
		const struct nnhal_model *hal = nntflite_model_get_hal(model);

		check(nnhal_validate_model(hal, &why) || is_about_operands(why.message),
		      "the mapping made an invalid model", why.message);
		draw(hal);
		nntflite_model_destroy(model);
	}
	nntflite_file_close(file);
	return 0;
}
