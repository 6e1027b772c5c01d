// SPDX-License-Identifier: MIT
/*
 * camera: find a bright spot in each frame of a stream, with a burst.
 *
 * Usage: camera [DEVICE]
 *
 * A camera driver hands out a few buffers in turn. This program does the same: it draws a
 * frame into a free buffer, submits it, and takes the oldest result when no buffer is
 * free. A burst fits such a stream: the memory of the buffers is bound once, and a frame
 * needs no system call.
 *
 * The model divides a frame of 120 x 160 pixels into tiles of 20 x 20, averages each tile
 * (AVERAGE_POOL_2D) and gives the number of the brightest one (RESHAPE, ARGMAX). The
 * program knows where it has drawn the spot, so it can check each result.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nnhal/nnhal.h>

enum {
	WIDTH = 160,
	HEIGHT = 120,
	TILE = 20,
	COLUMNS = WIDTH / TILE,
	ROWS = HEIGHT / TILE,
	TILES = COLUMNS * ROWS,
	FRAME_BYTES = WIDTH * HEIGHT,
	/* The result follows the pixels, on a cache line of its own. */
	RESULT_OFFSET = (FRAME_BYTES + 63) / 64 * 64,
	NUM_BUFFERS = 4,
	NUM_FRAMES = 300,
};

/* A buffer: one frame and the result of it. */
struct buffer {
	struct nnhal_memory *memory;
	uint8_t *pixels;
	const int32_t *result;
	struct nnhal_request_argument input, output;
	struct nnhal_request_pool pool;
	struct nnhal_request request;
};

static struct nnhal_diag diag;

static void check(enum nnhal_status status, const char *what)
{
	if (status == NNHAL_STATUS_NONE)
		return;
	fprintf(stderr, "camera: %s: %s %s\n", what, nnhal_status_name(status), diag.message);
	exit(1);
}

/* An INT32 scalar whose value is @index in the table of values. */
#define SCALAR(index)							\
	{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 1,	\
	  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,			\
	  .location = { .offset = 4 * (index), .length = 4 } }

static struct nnhal_prepared_model *prepare(struct nnhal_device *device)
{
	static const uint32_t frame[] = { 1, HEIGHT, WIDTH, 1 }, tiles[] = { 1, ROWS, COLUMNS, 1 };
	static const uint32_t list[] = { 1, TILES }, two[] = { 2 }, one[] = { 1 };
	/* No padding (four zeroes), stride, size, no activation; the axis; the new shape. */
	static const int32_t values[] = { 0, TILE, NNHAL_FUSED_NONE, 1, 1, TILES };
	static const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, .num_dimensions = 4,
		  .dimensions = frame, .number_of_consumers = 1, .scale = 1.0f / 255,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		SCALAR(0), SCALAR(0), SCALAR(0), SCALAR(0),
		SCALAR(1), SCALAR(1), SCALAR(1), SCALAR(1),
		SCALAR(2),
		{ .type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, .num_dimensions = 4,
		  .dimensions = tiles, .number_of_consumers = 1, .scale = 1.0f / 255,
		  .lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE },
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 1, .dimensions = two,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,
		  .location = { .offset = 16, .length = 8 } },
		{ .type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, .num_dimensions = 2,
		  .dimensions = list, .number_of_consumers = 1, .scale = 1.0f / 255,
		  .lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE },
		SCALAR(3),
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 1, .dimensions = one,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT },
	};
	static const uint32_t pool_inputs[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const uint32_t reshape_inputs[] = { 10, 11 }, argmax_inputs[] = { 12, 13 };
	static const uint32_t pool_output = 10, reshape_output = 12, argmax_output = 14;
	static const struct nnhal_operation operations[] = {
		{ NNHAL_OPERATION_AVERAGE_POOL_2D, 10, 1, pool_inputs, &pool_output },
		{ NNHAL_OPERATION_RESHAPE, 2, 1, reshape_inputs, &reshape_output },
		{ NNHAL_OPERATION_ARGMAX, 2, 1, argmax_inputs, &argmax_output },
	};
	const struct nnhal_model model = {
		.hal_version = NNHAL_HAL_1_3,
		.main = {
			.num_operands = sizeof(operands) / sizeof(operands[0]),
			.operands = operands,
			.num_operations = sizeof(operations) / sizeof(operations[0]),
			.operations = operations,
			.num_inputs = 1, .input_indexes = pool_inputs,
			.num_outputs = 1, .output_indexes = &argmax_output,
		},
		.operand_values = values, .operand_values_size = sizeof(values),
	};
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared;

	options.preference = NNHAL_PREFER_SUSTAINED_SPEED;
	options.diag = &diag;
	check(nnhal_device_prepare_model_sync(device, &model, &options, &prepared), "prepare");
	return prepared;
}

/*
 * The request of a buffer stays the same for the whole stream. Buffers of a real camera
 * are dma-bufs: nnhal_memory_import() makes memory objects of them.
 */
static void buffer_init(struct buffer *b)
{
	check(nnhal_memory_create(RESULT_OFFSET + sizeof(*b->result), &b->memory, &diag),
	      "create memory");
	b->pixels = nnhal_memory_map(b->memory, &diag);
	check(b->pixels ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory");
	b->result = (const int32_t *)(b->pixels + RESULT_OFFSET);
	b->input = (struct nnhal_request_argument){ .location = { 0, 0, FRAME_BYTES } };
	b->output = (struct nnhal_request_argument){
		.location = { 0, RESULT_OFFSET, sizeof(*b->result) },
	};
	b->pool = (struct nnhal_request_pool){ .memory = b->memory };
	b->request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3,
		.num_inputs = 1, .inputs = &b->input,
		.num_outputs = 1, .outputs = &b->output,
		.num_pools = 1, .pools = &b->pool,
	};
}

/* The spot jumps from tile to tile. */
static int32_t spot_of(unsigned int frame)
{
	return (int32_t)(frame * 29 % TILES);
}

/* A dim gradient with noise, and the spot. */
static void draw(uint8_t *pixels, unsigned int frame)
{
	int32_t spot = spot_of(frame);
	unsigned int noise = frame * 2654435761u + 1;

	for (int y = 0; y < HEIGHT; y++) {
		for (int x = 0; x < WIDTH; x++) {
			bool lit = y / TILE * COLUMNS + x / TILE == spot;

			noise = noise * 1664525 + 1013904223;
			pixels[y * WIDTH + x] = (uint8_t)(x / 2 + (noise >> 28) + (lit ? 120 : 0));
		}
	}
}

/* Take the oldest result and check it. Results of a burst come in order of submission. */
static bool take_result(struct nnhal_burst *burst, const struct buffer *buffers,
			unsigned int expected_frame)
{
	struct nnhal_burst_result result = { .size = sizeof(result), .output_shapes = NULL };
	const struct buffer *b = &buffers[expected_frame % NUM_BUFFERS];

	check(nnhal_burst_wait(burst, &result, UINT64_C(10000000000)), "wait for a result");
	check(result.status, "execute");
	if (result.tag == expected_frame && *b->result == spot_of(expected_frame))
		return true;
	fprintf(stderr, "camera: frame %u: tile %d, the spot is at tile %d\n", expected_frame,
		*b->result, spot_of(expected_frame));
	return false;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct buffer buffers[NUM_BUFFERS];
	struct nnhal_prepared_model *prepared;
	struct nnhal_device *device;
	struct nnhal_burst *burst;
	unsigned int frame, taken = 0, found = 0;
	double start;

	check(nnhal_device_open(argc > 1 ? argv[1] : "drm", &device, &diag), "open the device");
	prepared = prepare(device);
	options.depth = NUM_BUFFERS;
	options.diag = &diag;
	check(nnhal_burst_create(prepared, &options, &burst), "create a burst");
	for (unsigned int i = 0; i < NUM_BUFFERS; i++)
		buffer_init(&buffers[i]);

	start = now();
	for (frame = 0; frame < NUM_FRAMES; frame++) {
		struct buffer *b = &buffers[frame % NUM_BUFFERS];

		if (frame - taken == NUM_BUFFERS)
			found += take_result(burst, buffers, taken++);
		draw(b->pixels, frame);
		check(nnhal_burst_submit(burst, &b->request, NULL, frame, 0), "submit a frame");
	}
	while (taken < NUM_FRAMES)
		found += take_result(burst, buffers, taken++);
	fprintf(stderr, "%.0f frames per second, drawing included\n",
		NUM_FRAMES / (now() - start));
	printf("found the spot in %u of %d frames\n", found, NUM_FRAMES);

	nnhal_burst_unref(burst);
	for (unsigned int i = 0; i < NUM_BUFFERS; i++)
		nnhal_memory_unref(buffers[i].memory);
	nnhal_prepared_model_unref(prepared);
	nnhal_device_unref(device);
	return found == NUM_FRAMES ? 0 : 1;
}
