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

#include <nnhal/nnhal.h>

#include "userspace/tools/nnrun/tflite.h"
#include "userspace/tools/nnrun/tflite_to_hal.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nnhal_diag diag = { "" };
	struct error err = { "", 0 };
	struct tflite_model tflite;
	struct hal_model model;

	if (tflite_parse(&tflite, data, size, &err)) {
		check(err.text[0], "refused without a reason", "parser");
	} else {
		if (tflite_to_hal(&tflite, &model, &err)) {
			check(err.text[0], "refused without a reason", "mapping");
		} else {
			check(nnhal_validate_model(&model.builder.model, &diag) ||
			      is_about_operands(diag.message),
			      "the mapping made an invalid model", diag.message);
			draw(&model.builder.model);
		}
		hal_model_free(&model);
	}
	tflite_free(&tflite);
	return 0;
}
