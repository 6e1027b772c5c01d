// SPDX-License-Identifier: MIT
/*
 * The device memory that models take, and what they need.
 *
 *   bench_memory [--json FILE] MODEL.tflite...
 *
 * A line for each model: the peak of a device that does nothing else, what the model needs at least
 * (constants, scales and zero points of quantized operands included, and the largest set of activations
 * that live at once, inputs and outputs with them), and their ratio.
 */
#include <stdio.h>
#include <string.h>

#include "model_memory.h"
#include "userspace/tools/common/json.h"

static void print(const char *name, const struct model_memory *m, struct json *json)
{
	printf("%-32s %10.1f KiB %10.1f needed %8.3f\n", name, (double)m->peak / 1024,
	       (double)model_needs(m) / 1024, model_memory_ratio(m));
	json_object(json, name);
	json_u64(json, "peak_memory", m->peak);
	json_u64(json, "constants", m->needed.constants);
	json_u64(json, "activations", m->needed.activations);
	json_real(json, "memory_ratio", model_memory_ratio(m), 4);
	json_end(json);
}

/* 0, or 1 after an error: the other models are measured all the same. */
static int measure(const char *path, struct json *json)
{
	const char *slash = strrchr(path, '/');
	struct error err = { "", 0 };
	struct model_memory m;
	char name[128];

	snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
	if (strrchr(name, '.'))
		*strrchr(name, '.') = '\0';
	if (model_memory_of(path, &m, &err)) {
		fprintf(stderr, "bench_memory: %s: %s\n", path, err.text);
		return 1;
	}
	print(name, &m, json);
	return 0;
}

int main(int argc, char **argv)
{
	const char *json_path = "/dev/null";
	int first = 1, ret = 0;
	struct json json;
	FILE *json_file;

	if (argc > 2 && !strcmp(argv[1], "--json")) {
		json_path = argv[2];
		first = 3;
	}
	if (first >= argc || argv[first][0] == '-') {
		fprintf(stderr, "usage: bench_memory [--json FILE] MODEL.tflite...\n");
		return 2;
	}
	json_file = fopen(json_path, "w");
	if (!json_file) {
		perror(json_path);
		return 1;
	}
	json_begin(&json, json_file);
	for (int i = first; i < argc; i++)
		ret |= measure(argv[i], &json);
	json_end(&json);
	if (ferror(json_file) | fclose(json_file)) {
		perror(json_path);
		return 1;
	}
	return ret;
}
