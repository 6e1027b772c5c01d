// SPDX-License-Identifier: MIT
/*
 * classify: recognise handwritten digits in images.
 *
 * Usage: classify [--device DEVICE] [--weights FILE] IMAGE...
 *
 * An IMAGE is a text PGM file ("P2") of 8 x 8 pixels, white on black. The network is the
 * one of examples/digits, built here operand by operand, the way a converter from another
 * model format would do it. The weights come from a file and stay in a memory object that
 * the model refers to (CONSTANT_REFERENCE), so that they are not copied into the model.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, NUM_WEIGHTS = 2154 };

static struct nnhal_diag diag;

static void check(enum nnhal_status status, const char *what)
{
	if (status == NNHAL_STATUS_NONE)
		return;
	fprintf(stderr, "classify: %s: %s %s\n", what, nnhal_status_name(status), diag.message);
	exit(1);
}

/* ---- building a model ---- */

#define MAX_OPERANDS	64
#define MAX_OPERATIONS	8
#define MAX_INDEXES	96
#define MAX_VALUES	64

struct graph {
	struct nnhal_operand operands[MAX_OPERANDS];
	uint32_t dims[MAX_OPERANDS][4];
	uint32_t num_operands;
	struct nnhal_operation operations[MAX_OPERATIONS];
	uint32_t num_operations;
	uint32_t indexes[MAX_INDEXES];	/* inputs and outputs of all operations */
	uint32_t num_indexes;
	uint8_t values[MAX_VALUES];	/* CONSTANT_COPY operands */
	uint32_t num_values;
	uint32_t used_weights;		/* bytes */
};

static uint32_t add_operand(struct graph *g, uint32_t type, uint32_t lifetime, uint32_t rank,
			    const uint32_t *dims)
{
	uint32_t index = g->num_operands++;

	if (rank)
		memcpy(g->dims[index], dims, rank * sizeof(*dims));
	g->operands[index] = (struct nnhal_operand){
		.type = type, .num_dimensions = rank, .dimensions = g->dims[index],
		.lifetime = lifetime,
	};
	return index;
}

#define DIMS(...)	(sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)),	\
			(uint32_t[]){ __VA_ARGS__ }

static uint32_t tensor(struct graph *g, uint32_t lifetime, uint32_t rank, const uint32_t *dims)
{
	return add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, lifetime, rank, dims);
}

/* The next weights of the file, as a tensor. */
static uint32_t weights(struct graph *g, uint32_t rank, const uint32_t *dims)
{
	uint32_t index = tensor(g, NNHAL_LIFETIME_CONSTANT_REFERENCE, rank, dims);
	uint32_t bytes = sizeof(float);

	for (uint32_t i = 0; i < rank; i++)
		bytes *= dims[i];
	g->operands[index].location = (struct nnhal_data_location){
		.pool_index = 0, .offset = g->used_weights, .length = bytes,
	};
	g->used_weights += bytes;
	return index;
}

/* A constant of four bytes or, for RESHAPE, a list of them. */
static uint32_t constant(struct graph *g, uint32_t type, uint32_t rank, const void *value,
			 uint32_t bytes)
{
	uint32_t count = bytes / 4;
	uint32_t index = add_operand(g, type, NNHAL_LIFETIME_CONSTANT_COPY, rank, &count);

	memcpy(g->values + g->num_values, value, bytes);
	g->operands[index].location = (struct nnhal_data_location){
		.offset = g->num_values, .length = bytes,
	};
	g->num_values += bytes;
	return index;
}

static uint32_t number(struct graph *g, int32_t value)
{
	return constant(g, NNHAL_OPERAND_INT32, 0, &value, sizeof(value));
}

static void add_operation(struct graph *g, uint32_t type, uint32_t output, uint32_t num_inputs,
			  const uint32_t *inputs)
{
	uint32_t *to = &g->indexes[g->num_indexes];

	for (uint32_t i = 0; i < num_inputs; i++) {
		to[i] = inputs[i];
		g->operands[inputs[i]].number_of_consumers++;
	}
	to[num_inputs] = output;
	g->num_indexes += num_inputs + 1;
	g->operations[g->num_operations++] = (struct nnhal_operation){
		.type = type, .num_inputs = num_inputs, .inputs = to,
		.num_outputs = 1, .outputs = to + num_inputs,
	};
}

/* ---- the network ---- */

static uint32_t temporary(struct graph *g, uint32_t rank, const uint32_t *dims)
{
	return tensor(g, NNHAL_LIFETIME_TEMPORARY_VARIABLE, rank, dims);
}

/* Build the network. @input and @output become the operands of image and probabilities. */
static void build(struct graph *g, uint32_t *input, uint32_t *output)
{
	const int32_t flat[] = { 1, 128 };
	const float beta = 1;
	uint32_t same, one, two, relu, none, image, conv, half, depth, point, mean, row, sums;

	memset(g, 0, sizeof(*g));
	same = number(g, 1);	/* padding scheme SAME */
	one = number(g, 1);
	two = number(g, 2);
	relu = number(g, NNHAL_FUSED_RELU);
	none = number(g, NNHAL_FUSED_NONE);

	image = tensor(g, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1, SIDE, SIDE, 1));
	conv = temporary(g, DIMS(1, 8, 8, 16));
	add_operation(g, NNHAL_OPERATION_CONV_2D, conv,
		      DIMS(image, weights(g, DIMS(16, 3, 3, 1)), weights(g, DIMS(16)), same, one,
			   one, relu));
	half = temporary(g, DIMS(1, 4, 4, 16));
	add_operation(g, NNHAL_OPERATION_MAX_POOL_2D, half,
		      DIMS(conv, same, two, two, two, two, none));
	depth = temporary(g, DIMS(1, 4, 4, 16));
	add_operation(g, NNHAL_OPERATION_DEPTHWISE_CONV_2D, depth,
		      DIMS(half, weights(g, DIMS(1, 3, 3, 16)), weights(g, DIMS(16)), same, one,
			   one, one, relu));
	point = temporary(g, DIMS(1, 4, 4, 32));
	add_operation(g, NNHAL_OPERATION_CONV_2D, point,
		      DIMS(depth, weights(g, DIMS(32, 1, 1, 16)), weights(g, DIMS(32)), same, one,
			   one, relu));
	mean = temporary(g, DIMS(1, 2, 2, 32));
	add_operation(g, NNHAL_OPERATION_AVERAGE_POOL_2D, mean,
		      DIMS(point, same, two, two, two, two, none));
	row = temporary(g, DIMS(1, 128));
	add_operation(g, NNHAL_OPERATION_RESHAPE, row,
		      DIMS(mean, constant(g, NNHAL_OPERAND_TENSOR_INT32, 1, flat, sizeof(flat))));
	sums = temporary(g, DIMS(1, CLASSES));
	add_operation(g, NNHAL_OPERATION_FULLY_CONNECTED, sums,
		      DIMS(row, weights(g, DIMS(CLASSES, 128)), weights(g, DIMS(CLASSES)), none));
	*input = image;
	*output = tensor(g, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(1, CLASSES));
	add_operation(g, NNHAL_OPERATION_SOFTMAX, *output,
		      DIMS(sums, constant(g, NNHAL_OPERAND_FLOAT32, 0, &beta, sizeof(beta))));
}

static struct nnhal_memory *read_weights(const char *path)
{
	size_t bytes = NUM_WEIGHTS * sizeof(float);
	struct nnhal_memory *memory;
	FILE *f = fopen(path, "rb");
	void *data;

	if (!f) {
		fprintf(stderr, "classify: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	check(nnhal_memory_create(bytes, &memory, &diag), "create memory");
	data = nnhal_memory_map(memory, &diag);
	check(data ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory");
	if (fread(data, 1, bytes, f) != bytes || getc(f) != EOF) {
		fprintf(stderr, "classify: %s: expected %zu bytes\n", path, bytes);
		exit(1);
	}
	fclose(f);
	return memory;
}

/* After preparing, the device has a copy of the weights: graph and memory can go. */
static struct nnhal_prepared_model *prepare(struct nnhal_device *device, const char *path)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_memory *memory = read_weights(path);
	struct nnhal_prepared_model *prepared;
	uint32_t input, output;
	struct graph g;

	build(&g, &input, &output);
	const struct nnhal_model model = {
		.hal_version = NNHAL_HAL_1_3,
		.main = {
			.num_operands = g.num_operands, .operands = g.operands,
			.num_operations = g.num_operations, .operations = g.operations,
			.num_inputs = 1, .input_indexes = &input,
			.num_outputs = 1, .output_indexes = &output,
		},
		.operand_values = g.values, .operand_values_size = g.num_values,
		.num_pools = 1, .pools = &memory,
	};

	options.diag = &diag;
	check(nnhal_device_prepare_model_sync(device, &model, &options, &prepared), "prepare");
	nnhal_memory_unref(memory);
	return prepared;
}

/* ---- images ---- */

static void read_image(const char *path, float *pixels)
{
	unsigned int width, height, largest, value;
	FILE *f = fopen(path, "r");

	if (!f) {
		fprintf(stderr, "classify: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	if (fscanf(f, "P2 %u %u %u", &width, &height, &largest) != 3 || width != SIDE ||
	    height != SIDE || !largest) {
		fprintf(stderr, "classify: %s: not a P2 file of %d x %d pixels\n", path, SIDE,
			SIDE);
		exit(1);
	}
	for (int i = 0; i < PIXELS; i++) {
		if (fscanf(f, "%u", &value) != 1 || value > largest) {
			fprintf(stderr, "classify: %s: pixel %d: expected 0 to %u\n", path, i,
				largest);
			exit(1);
		}
		pixels[i] = (float)value / (float)largest;
	}
	fclose(f);
}

int main(int argc, char **argv)
{
	/* The image, then the probabilities, in one memory object. */
	const struct nnhal_request_argument input = {
		.location = { 0, 0, PIXELS * sizeof(float) },
	};
	const struct nnhal_request_argument output = {
		.location = { 0, 256, CLASSES * sizeof(float) },
	};
	const char *spec = "drm", *weights_path = "digits_weights.bin";
	struct nnhal_request_pool pool = { .memory = NULL };
	struct nnhal_prepared_model *prepared;
	struct nnhal_device *device;
	struct nnhal_request request;
	float *data;
	int first = 1;

	for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
		if (!strcmp(argv[first], "--device"))
			spec = argv[first + 1];
		else if (!strcmp(argv[first], "--weights"))
			weights_path = argv[first + 1];
		else
			break;
	}
	if (first >= argc || argv[first][0] == '-') {
		fprintf(stderr, "usage: classify [--device DEVICE] [--weights FILE] IMAGE...\n");
		return 2;
	}
	check(nnhal_device_open(spec, &device, &diag), "open the device");
	prepared = prepare(device, weights_path);
	check(nnhal_memory_create(4096, &pool.memory, &diag), "create memory");
	data = nnhal_memory_map(pool.memory, &diag);
	check(data ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory");
	request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3, .num_inputs = 1, .inputs = &input,
		.num_outputs = 1, .outputs = &output, .num_pools = 1, .pools = &pool,
	};
	for (int i = first; i < argc; i++) {
		const float *probabilities = data + 64;
		int best = 0;

		read_image(argv[i], data);
		check(nnhal_prepared_model_execute_synchronously(prepared, &request, NULL, NULL,
								 NULL, NULL), "execute");
		for (int k = 1; k < CLASSES; k++) {
			if (probabilities[k] > probabilities[best])
				best = k;
		}
		printf("%s: %d (%.2f %%)\n", argv[i], best, 100 * (double)probabilities[best]);
	}
	nnhal_memory_unref(pool.memory);
	nnhal_prepared_model_unref(prepared);
	nnhal_device_unref(device);
	return 0;
}
