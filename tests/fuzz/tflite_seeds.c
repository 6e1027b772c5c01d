// SPDX-License-Identifier: MIT
/*
 * Usage: tflite_seeds DIRECTORY
 *
 * Write .tflite files to start fuzzing from: for each operator of the library's table, models of one
 * operator that the device takes, a few for each type of its first input. Types and shapes are
 * tried until the device agrees, so a new row of the table needs nothing here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nntflite/nntflite.h>

#include "tests/libnntflite/model_writer.h"
#include "userspace/libnntflite/map/map_table.h"

/* Models of one operator and one type of input. */
#define ENOUGH	2
#define TRIES	400

static const int types[] = { TFLITE_FLOAT32, TFLITE_INT8, TFLITE_INT32, TFLITE_INT16, TFLITE_BOOL,
			     TFLITE_INT64, TFLITE_UINT8, TFLITE_FLOAT16 };

struct extent {
	uint32_t rank;
	int32_t dims[5];
};

static const struct extent extents[] = {
	{ 4, { 1, 4, 4, 2 } }, { 2, { 2, 4 } }, { 1, { 4 } }, { 1, { 1 } }, { 3, { 1, 2, 4 } },
	{ 1, { 2 } }, { 2, { 4, 2 } }, { 4, { 2, 1, 1, 2 } }, { 4, { 1, 1, 1, 2 } }, { 2, { 2, 2 } },
	{ 5, { 1, 2, 2, 2, 1 } }, { 4, { 1, 2, 2, 2 } }, { 4, { 1, 2, 2, 8 } }, { 2, { 1, 4 } },
};

#define NUM(a)	(sizeof(a) / sizeof((a)[0]))

/* What the inputs behind the first are. */
enum rest { SAME_TYPE, NUMBERS, WEIGHTS, NUM_RESTS };

static const uint8_t zeros[1024];
static uint8_t file[MW_MAX_SIZE];

static struct mw_tensor tensor(int type, const struct extent *extent)
{
	struct mw_tensor t = { .name = "t", .type = type, .rank = extent->rank };

	memcpy(t.dims, extent->dims, sizeof(extent->dims));
	if (type == TFLITE_INT8 || type == TFLITE_UINT8 || type == TFLITE_INT16) {
		t.num_scales = 1;
		t.scales[0] = 1.0f / 64;
	}
	return t;
}

static uint32_t bytes_of(const struct mw_tensor *t)
{
	uint32_t i, bytes = t->type == TFLITE_INT64 ? 8 : t->num_scales ? 1 : 4;

	for (i = 0; i < t->rank; i++)
		bytes *= (uint32_t)t->dims[i];
	return t->type == TFLITE_BOOL ? bytes / 4 : t->type == TFLITE_FLOAT16 ? bytes / 2 : bytes;
}

/* The fields that the row names, or ones in the first slots. */
static void set_options(struct mw_operator *op, const struct op_row *row)
{
	const char *field = row->fields ? row->fields : "eiiiiiii";
	uint8_t slot, used = 0;

	op->options_type = row->options;
	op->no_options = !row->options;
	for (slot = 0; *field && used < 8; slot++) {
		char kind = *field++;
		int32_t value = kind == 'i';

		if (*field >= '0' && *field <= '9')
			value = *field++ - '0';
		if (kind == '.')
			continue;
		op->options[used++] = (struct mw_option){
			.kind = kind == 'i' ? MW_I32 : kind == 'f' ? MW_F32 : MW_I8, .slot = slot,
			.value = value, .real = 1,
		};
	}
}

static void count_refusals(void *context, const struct nntflite_verdict *verdict)
{
	*(uint32_t *)context += !verdict->supported;
}

/* Does the device take the file as it is? */
static bool is_taken(size_t size, struct nnhal_device *device)
{
	struct nntflite_file *opened = NULL;
	struct nntflite_model *model = NULL;
	uint32_t refused = 0;
	bool taken;

	taken = !nntflite_file_open_memory(file, size, &opened, NULL) &&
		!nntflite_model_create(opened, NULL, &model, NULL) &&
		nnhal_validate_model(nntflite_model_get_hal(model), NULL) &&
		!nntflite_file_judge(opened, NULL, device, count_refusals, &refused, NULL) &&
		!refused;
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
	return taken;
}

static void save(const char *directory, int32_t code, unsigned int number, size_t size)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s-%u", directory, nntflite_operator_name(code), number);
	f = fopen(path, "wb");
	if (!f || fwrite(file, 1, size, f) != size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* A model of one operator: the first input is fed, the others are as @rest says. */
static size_t write_model(int32_t code, int type, enum rest rest, const struct extent *first,
			  const struct extent *others, int result, const struct extent *shape)
{
	const struct op_row *row = &op_table[code];
	struct mw_model m = { .num_operators = 1, .num_inputs = 1, .num_outputs = 1 };
	struct mw_operator *op = &m.operators[0];
	uint32_t i, count = row->max_inputs > MW_MAX ? 2 : row->max_inputs;

	count = count < row->min_inputs ? row->min_inputs : count;
	op->code = code;
	op->num_inputs = count;
	op->num_outputs = row->min_outputs;
	for (i = 0; i < count; i++) {
		struct mw_tensor *t = &m.tensors[i];

		op->inputs[i] = (int32_t)i;
		*t = tensor(i == 0 || rest != NUMBERS ? type : TFLITE_INT32, i ? others : first);
		if (i > 0 && rest != SAME_TYPE) {
			t->data = zeros;
			t->data_size = bytes_of(t);
		}
		/* A bias has an element for each channel. */
		if (i == 2 && rest == WEIGHTS) {
			*t = tensor(TFLITE_INT32, &(struct extent){ 1, { others->dims[0] } });
			t->type = type == TFLITE_FLOAT32 ? type : TFLITE_INT32;
			t->data = zeros;
			t->data_size = 4 * (uint32_t)others->dims[0];
		}
		if (i > 0 && rest == SAME_TYPE)
			m.inputs[m.num_inputs++] = (int32_t)i;
	}
	for (i = 0; i < op->num_outputs; i++) {
		op->outputs[i] = (int32_t)(count + i);
		m.tensors[count + i] = tensor(result, shape);
		m.outputs[i] = (int32_t)(count + i);
	}
	m.num_outputs = op->num_outputs;
	m.num_tensors = count + op->num_outputs;
	set_options(op, row);
	return mw_write(&m, file);
}

/* A number below @count; the same ones each time. */
static size_t pick(uint32_t *state, size_t count)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 16) % count;
}

/* Returns how many were found. */
static unsigned int try_type(const char *directory, struct nnhal_device *device, int32_t code,
			     int type, unsigned int number)
{
	static const int results[] = { TFLITE_FLOAT32, TFLITE_BOOL, TFLITE_INT32, TFLITE_INT64,
				       TFLITE_INT8 };
	uint32_t state = 1, try;
	unsigned int found = 0;

	for (try = 0; try < TRIES && found < ENOUGH; try++) {
		/* As a rule all tensors are alike. */
		size_t a = pick(&state, NUM(extents)), b = pick(&state, 2) ? a : pick(&state, NUM(extents));
		size_t c = pick(&state, 2) ? a : pick(&state, NUM(extents));
		int result = pick(&state, 2) ? type : results[pick(&state, NUM(results))];
		enum rest rest = (enum rest)pick(&state, NUM_RESTS);
		size_t size = write_model(code, type, rest, &extents[a], &extents[b], result,
					  &extents[c]);

		if (is_taken(size, device))
			save(directory, code, number + found++, size);
	}
	return found;
}

int main(int argc, char **argv)
{
	struct nnhal_device *device = NULL;
	unsigned int total = 0, operators = 0;
	int32_t code;
	size_t i;

	if (argc != 2 || nnhal_device_open("sim", &device, NULL)) {
		fprintf(stderr, "usage: tflite_seeds DIRECTORY\n");
		return 2;
	}
	for (code = 0; code < TFLITE_NUM_BUILTINS; code++) {
		const struct op_row *row = &op_table[code];
		unsigned int found = 0;

		if ((!row->map && !row->fields) || row->min_inputs > MW_MAX - 4 || !row->max_inputs)
			continue;
		for (i = 0; i < NUM(types); i++)
			found += try_type(argv[1], device, code, types[i], found);
		if (!found)
			printf("none: %s\n", nntflite_operator_name(code));
		operators += found > 0;
		total += found;
	}
	printf("%u files of %u operators\n", total, operators);
	nnhal_device_unref(device);
	return 0;
}
