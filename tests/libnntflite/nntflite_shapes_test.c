// SPDX-License-Identifier: MIT
/*
 * Shapes that libnntflite finds before a model runs: one operator each, a chain that makes a
 * shape of values, and what the caller wishes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/base/nntflite_diag.h"
#include "userspace/libnntflite/file/tflite.h"
#include "userspace/libnntflite/map/map_model.h"
#include "userspace/libnntflite/map/mapper.h"

static uint8_t file[MW_MAX_SIZE];

/* The shape of tensor @index of the first subgraph. */
static bool resolve(const struct mw_model *model, const struct nntflite_shape *wishes,
		    uint32_t num_wishes, uint32_t index, struct shape *shape)
{
	size_t size = mw_write(model, file);
	struct nntflite_diag diag;
	struct tflite_model tflite;
	struct shape shapes[MW_MAX];
	struct map_model map = {
		.tflite = &tflite, .shapes = wishes, .num_shapes = num_wishes, .diag = &diag,
	};
	bool found = false;

	diag_init(&diag);
	memset(shapes, 0x55, sizeof(shapes));
	if (tflite_parse(&tflite, file, size, &diag) == 0 &&
	    resolve_shapes(&map, 0, NULL, shapes) == 0) {
		*shape = shapes[index];
		found = true;
	} else {
		tap_note("%s", diag.message);
	}
	tflite_free(&tflite);
	return found;
}

static void text_of(const struct shape *shape, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	if (shape->rank == 0)
		snprintf(text, size, "?");
	for (i = 0; i < shape->rank; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%u", i ? "x" : "",
					 shape->dims[i]);
}

/* An input: sizes in decimal with x between, "" for a scalar; then int32 values, if any. */
struct in {
	const char *dims;
	const int32_t *values;
};

#define V(...)	((const int32_t[]){ __VA_ARGS__ })

static struct mw_tensor tensor_of(const struct in *in, const char *name)
{
	struct mw_tensor t = { .name = name, .type = in->values ? TFLITE_INT32 : TFLITE_FLOAT32 };
	uint32_t count = 1;
	const char *at = in->dims;

	while (*at) {
		t.dims[t.rank] = (int32_t)strtol(at, (char **)&at, 10);
		count *= (uint32_t)t.dims[t.rank++];
		at += *at == 'x';
	}
	if (in->values) {
		t.data = in->values;
		t.data_size = count * (uint32_t)sizeof(int32_t);
	}
	return t;
}

#define O_I32(s, v)	{ MW_I32, s, v, 0, NULL }
#define O_I8(s, v)	{ MW_I8, s, v, 0, NULL }

static const struct row {
	int32_t code;
	uint8_t options_type;
	struct mw_option options[7];
	struct in in[4];
	uint32_t num_outputs;		/* 0 = 1 */
	const char *expected;		/* of the last output; "?" if it is not known */
} rows[] = {
	{ TFLITE_RELU, 0, { { 0 } }, { { "2x3", NULL } }, 0, "2x3" },
	{ TFLITE_ADD, TFLITE_ADD_OPTIONS, { { 0 } }, { { "2x1x3", NULL }, { "4x1", NULL } }, 0, "2x4x3" },
	{ TFLITE_ADD, TFLITE_ADD_OPTIONS, { { 0 } }, { { "2x3", NULL }, { "", NULL } }, 0, "2x3" },
	{ TFLITE_ADD, TFLITE_ADD_OPTIONS, { { 0 } }, { { "2x3", NULL }, { "2x4", NULL } }, 0, "?" },
	{ TFLITE_SELECT_V2, 0, { { 0 } }, { { "3x1", NULL }, { "1x4", NULL }, { "", NULL } }, 0, "3x4" },
	{ TFLITE_CONV_2D, TFLITE_CONV_2D_OPTIONS, { O_I32(1, 2), O_I32(2, 2) },
	  { { "1x7x9x3", NULL }, { "8x3x3x3", NULL } }, 0, "1x4x5x8" },
	{ TFLITE_CONV_2D, TFLITE_CONV_2D_OPTIONS,
	  { O_I8(0, 1), O_I32(1, 1), O_I32(2, 2), O_I32(4, 2), O_I32(5, 3) },
	  { { "1x9x9x3", NULL }, { "8x3x3x3", NULL } }, 0, "1x2x5x8" },
	{ TFLITE_DEPTHWISE_CONV_2D, TFLITE_DEPTHWISE_CONV_2D_OPTIONS,
	  { O_I8(0, 1), O_I32(1, 1), O_I32(2, 1), O_I32(3, 2) },
	  { { "1x5x5x3", NULL }, { "1x3x3x6", NULL } }, 0, "1x3x3x6" },
	{ TFLITE_MAX_POOL_2D, TFLITE_POOL_2D_OPTIONS,
	  { O_I8(0, 1), O_I32(1, 2), O_I32(2, 1), O_I32(3, 3), O_I32(4, 2) },
	  { { "1x5x9x3", NULL } }, 0, "1x4x4x3" },
	{ TFLITE_TRANSPOSE_CONV, TFLITE_TRANSPOSE_CONV_OPTIONS, { { 0 } },
	  { { "4", V(1, 8, 8, 2) }, { "2x3x3x4", NULL }, { "1x4x4x4", NULL } }, 0, "1x8x8x2" },
	{ TFLITE_RESIZE_BILINEAR, TFLITE_RESIZE_BILINEAR_OPTIONS, { { 0 } },
	  { { "1x4x4x3", NULL }, { "2", V(5, 6) } }, 0, "1x5x6x3" },
	{ TFLITE_FULLY_CONNECTED, TFLITE_FULLY_CONNECTED_OPTIONS, { { 0 } },
	  { { "2x3x4", NULL }, { "5x6", NULL } }, 0, "4x5" },
	{ TFLITE_FULLY_CONNECTED, TFLITE_FULLY_CONNECTED_OPTIONS, { O_I8(2, 1) },
	  { { "2x3x4", NULL }, { "5x4", NULL } }, 0, "2x3x5" },
	{ TFLITE_BATCH_MATMUL, TFLITE_BATCH_MATMUL_OPTIONS, { O_I8(1, 1) },
	  { { "2x1x3x4", NULL }, { "5x6x4", NULL } }, 0, "2x5x3x6" },
	{ TFLITE_MEAN, TFLITE_REDUCER_OPTIONS, { { 0 } },
	  { { "2x3x4", NULL }, { "2", V(-1, 1) } }, 0, "2" },
	{ TFLITE_MEAN, TFLITE_REDUCER_OPTIONS, { O_I8(0, 1) },
	  { { "2x3x4", NULL }, { "1", V(1) } }, 0, "2x1x4" },
	{ TFLITE_SUM, TFLITE_REDUCER_OPTIONS, { { 0 } },
	  { { "2x3", NULL }, { "2", V(0, 1) } }, 0, "1" },
	{ TFLITE_MEAN, TFLITE_REDUCER_OPTIONS, { { 0 } },
	  { { "2x3", NULL }, { "1", V(2) } }, 0, "?" },
	{ TFLITE_ARG_MAX, TFLITE_ARG_MAX_OPTIONS, { { 0 } },
	  { { "2x3x4", NULL }, { "", V(-2) } }, 0, "2x4" },
	{ TFLITE_TOPK_V2, TFLITE_TOPK_V2_OPTIONS, { { 0 } },
	  { { "2x9", NULL }, { "", V(3) } }, 2, "2x3" },
	{ TFLITE_UNIDIRECTIONAL_SEQUENCE_LSTM, 0, { { 0 } },
	  { { "2x5x3", NULL }, { "7x3", NULL }, { "7x3", NULL } }, 0, "2x5x7" },
	{ TFLITE_CAST, TFLITE_CAST_OPTIONS, { { 0 } }, { { "2x3", NULL } }, 0, "2x3" },
	{ TFLITE_RESHAPE, TFLITE_RESHAPE_OPTIONS, { { 0 } },
	  { { "2x3x4", NULL }, { "2", V(6, -1) } }, 0, "6x4" },
	{ TFLITE_RESHAPE, TFLITE_RESHAPE_OPTIONS, { { 0 } },
	  { { "2x3x4", NULL }, { "2", NULL } }, 0, "?" },
	{ TFLITE_SQUEEZE, TFLITE_SQUEEZE_OPTIONS, { { 0 } }, { { "1x3x1x4", NULL } }, 0, "3x4" },
	{ TFLITE_SQUEEZE, TFLITE_SQUEEZE_OPTIONS, { { MW_LIST, 0, 9, 0, V(0, 0, 0, 0, 0, 0, 0, 0, 0) } },
	  { { "1x3", NULL } }, 0, "?" },
	{ TFLITE_SQUEEZE, TFLITE_SQUEEZE_OPTIONS, { { MW_LIST, 0, 1, 0, V(-2) } },
	  { { "1x3x1x4", NULL } }, 0, "1x3x4" },
	{ TFLITE_EXPAND_DIMS, TFLITE_EXPAND_DIMS_OPTIONS, { { 0 } },
	  { { "2x3", NULL }, { "", V(-1) } }, 0, "2x3x1" },
	{ TFLITE_TRANSPOSE, TFLITE_TRANSPOSE_OPTIONS, { { 0 } },
	  { { "2x3x4", NULL }, { "3", V(2, 0, 1) } }, 0, "4x2x3" },
	{ TFLITE_CONCATENATION, TFLITE_CONCATENATION_OPTIONS, { O_I32(0, -1) },
	  { { "2x3", NULL }, { "2x5", NULL } }, 0, "2x8" },
	{ TFLITE_PACK, TFLITE_PACK_OPTIONS, { O_I32(0, 2), O_I32(1, 1) },
	  { { "2x3", NULL }, { "2x3", NULL } }, 0, "2x2x3" },
	{ TFLITE_UNPACK, TFLITE_UNPACK_OPTIONS, { O_I32(0, 2), O_I32(1, 0) },
	  { { "2x3", NULL } }, 2, "3" },
	{ TFLITE_SPLIT, TFLITE_SPLIT_OPTIONS, { O_I32(0, 3) },
	  { { "", V(1) }, { "2x9", NULL } }, 3, "2x3" },
	{ TFLITE_SPLIT_V, TFLITE_SPLIT_V_OPTIONS, { O_I32(0, 2) },
	  { { "2x9", NULL }, { "2", V(4, -1) }, { "", V(1) } }, 2, "2x5" },
	{ TFLITE_SLICE, TFLITE_SLICE_OPTIONS, { { 0 } },
	  { { "4x9", NULL }, { "2", V(1, 2) }, { "2", V(2, -1) } }, 0, "2x7" },
	{ TFLITE_STRIDED_SLICE, TFLITE_STRIDED_SLICE_OPTIONS, { O_I32(1, 2) },
	  { { "4x9", NULL }, { "2", V(1, 2) }, { "2", V(3, 0) }, { "2", V(1, 3) } }, 0, "2x3" },
	{ TFLITE_STRIDED_SLICE, TFLITE_STRIDED_SLICE_OPTIONS, { O_I32(4, 1) },
	  { { "4x9", NULL }, { "2", V(-1, 8) }, { "2", V(0, 0) }, { "2", V(1, -2) } }, 0, "4" },
	{ TFLITE_STRIDED_SLICE, TFLITE_STRIDED_SLICE_OPTIONS, { O_I32(2, 1) },
	  { { "4x9", NULL }, { "2", V(0, 0) }, { "2", V(4, 9) }, { "2", V(1, 1) } }, 0, "?" },
	{ TFLITE_PAD, TFLITE_PAD_OPTIONS, { { 0 } },
	  { { "2x3", NULL }, { "2x2", V(1, 0, 2, 3) } }, 0, "3x8" },
	{ TFLITE_PAD, TFLITE_PAD_OPTIONS, { { 0 } },
	  { { "1x2x3x1x1", NULL }, { "5x2", V(0, 0, 1, 1, 2, 0, 0, 0, 0, 0) } }, 0, "1x4x5x1x1" },
	{ TFLITE_TILE, TFLITE_TILE_OPTIONS, { { 0 } },
	  { { "2x3", NULL }, { "2", V(2, 1) } }, 0, "4x3" },
	{ TFLITE_GATHER, TFLITE_GATHER_OPTIONS, { O_I32(0, 1) },
	  { { "2x3x4", NULL }, { "5x6", NULL } }, 0, "2x5x6x4" },
	{ TFLITE_FILL, TFLITE_FILL_OPTIONS, { { 0 } },
	  { { "2", V(3, 4) }, { "", NULL } }, 0, "3x4" },
	{ TFLITE_RANGE, TFLITE_RANGE_OPTIONS, { { 0 } },
	  { { "", V(1) }, { "", V(8) }, { "", V(3) } }, 0, "3" },
	{ TFLITE_SPACE_TO_DEPTH, TFLITE_SPACE_TO_DEPTH_OPTIONS, { O_I32(0, 2) },
	  { { "1x4x6x3", NULL } }, 0, "1x2x3x12" },
	{ TFLITE_ONE_HOT, TFLITE_ONE_HOT_OPTIONS, { O_I32(0, -1) },
	  { { "3", NULL }, { "", V(10) }, { "", NULL }, { "", NULL } }, 0, "3x10" },
	{ TFLITE_WHERE, TFLITE_WHERE_OPTIONS, { { 0 } }, { { "3x4", NULL } }, 0, "?" },
};

static void test_row(const struct row *row)
{
	struct mw_model model = { .num_operators = 1 };
	struct mw_operator *op = &model.operators[0];
	uint32_t i, num_outputs = row->num_outputs ? row->num_outputs : 1;
	struct shape shape;
	char got[80] = "no shape";

	op->code = row->code;
	op->options_type = row->options_type;
	op->no_options = row->options_type == 0;
	memcpy(op->options, row->options, sizeof(row->options));
	for (i = 0; i < 4 && row->in[i].dims; i++) {
		model.tensors[i] = tensor_of(&row->in[i], "in");
		op->inputs[op->num_inputs++] = (int32_t)i;
		if (!row->in[i].values)
			model.inputs[model.num_inputs++] = (int32_t)i;
	}
	model.num_tensors = i;
	for (i = 0; i < num_outputs; i++) {
		model.tensors[model.num_tensors] = (struct mw_tensor){
			.name = "out", .type = TFLITE_INT32, .rank = 1, .dims = { -1 },
		};
		op->outputs[op->num_outputs++] = (int32_t)model.num_tensors;
		model.outputs[model.num_outputs++] = (int32_t)model.num_tensors++;
	}
	if (resolve(&model, NULL, 0, model.num_tensors - 1, &shape))
		text_of(&shape, got, sizeof(got));
	if (!ok(strcmp(got, row->expected) == 0, "%s: %s", nntflite_operator_name(row->code),
		row->expected))
		tap_note("got %s", got);
}

/* Keras: RESHAPE to [SHAPE(x)[0], 12], for an input of another batch than in the file. */
static void test_chain(void)
{
	static const int32_t zero[] = { 0 }, one[] = { 1 }, twelve[] = { 12 };
	static const struct nntflite_shape wish = { "x", 3, { 5, 3, 4 } };
	struct mw_model m = { .num_tensors = 9, .num_operators = 4, .num_inputs = 1,
			      .num_outputs = 1, .outputs = { 8 } };
	struct shape shape;
	char got[80] = "no shape";

	m.tensors[0] = (struct mw_tensor){ .name = "x", .rank = 3, .dims = { 1, 3, 4 } };
	m.tensors[1] = (struct mw_tensor){ .name = "shape", .type = TFLITE_INT32, .rank = 1,
					   .dims = { 3 } };
	m.tensors[2] = (struct mw_tensor){ .name = "zero", .type = TFLITE_INT32, .rank = 1,
					   .dims = { 1 }, .data = zero, .data_size = 4 };
	m.tensors[3] = (struct mw_tensor){ .name = "one", .type = TFLITE_INT32, .rank = 1,
					   .dims = { 1 }, .data = one, .data_size = 4 };
	m.tensors[4] = (struct mw_tensor){ .name = "batch", .type = TFLITE_INT32 };
	m.tensors[5] = (struct mw_tensor){ .name = "twelve", .type = TFLITE_INT32,
					   .data = twelve, .data_size = 4 };
	m.tensors[6] = (struct mw_tensor){ .name = "target", .type = TFLITE_INT32, .rank = 1,
					   .dims = { 2 } };
	m.tensors[8] = (struct mw_tensor){ .name = "y", .rank = 2, .dims = { 1, 12 } };
	m.operators[0] = (struct mw_operator){ .code = TFLITE_SHAPE, .num_inputs = 1,
		.num_outputs = 1, .outputs = { 1 }, .options_type = TFLITE_SHAPE_OPTIONS };
	m.operators[1] = (struct mw_operator){ .code = TFLITE_STRIDED_SLICE, .num_inputs = 4,
		.inputs = { 1, 2, 3, 3 }, .num_outputs = 1, .outputs = { 4 },
		.options_type = TFLITE_STRIDED_SLICE_OPTIONS, .options = { O_I32(4, 1) } };
	m.operators[2] = (struct mw_operator){ .code = TFLITE_PACK, .num_inputs = 2,
		.inputs = { 4, 5 }, .num_outputs = 1, .outputs = { 6 },
		.options_type = TFLITE_PACK_OPTIONS, .options = { O_I32(0, 2) } };
	m.operators[3] = (struct mw_operator){ .code = TFLITE_RESHAPE, .num_inputs = 2,
		.inputs = { 0, 6 }, .num_outputs = 1, .outputs = { 8 },
		.options_type = TFLITE_RESHAPE_OPTIONS };
	if (resolve(&m, &wish, 1, 8, &shape))
		text_of(&shape, got, sizeof(got));
	if (!ok(strcmp(got, "5x12") == 0, "a shape made of SHAPE, STRIDED_SLICE and PACK"))
		tap_note("got %s", got);
	if (resolve(&m, NULL, 0, 8, &shape))
		text_of(&shape, got, sizeof(got));
	ok(strcmp(got, "1x12") == 0, "the same with the shape of the file");
}

/* CONCATENATION behind a RESHAPE whose new shape is beyond the end of the file. */
static void test_fault_before(void)
{
	struct mw_model m = { .num_tensors = 3, .num_operators = 2, .num_inputs = 1,
			      .num_outputs = 2, .outputs = { 1, 2 } };
	struct shape shape;
	char got[80] = "no shape";

	m.tensors[0] = (struct mw_tensor){ .name = "x", .rank = 2, .dims = { 2, 3 } };
	m.tensors[1] = (struct mw_tensor){ .name = "y", .rank = 1, .dims = { -1 } };
	m.tensors[2] = (struct mw_tensor){ .name = "z", .rank = 1, .dims = { -1 } };
	m.operators[0] = (struct mw_operator){ .code = TFLITE_RESHAPE, .num_inputs = 1,
		.num_outputs = 1, .outputs = { 1 }, .options_type = TFLITE_RESHAPE_OPTIONS,
		.options = { O_I32(0, 0x7fffff) } };
	m.operators[1] = (struct mw_operator){ .code = TFLITE_CONCATENATION, .num_inputs = 2,
		.num_outputs = 1, .outputs = { 2 }, .options_type = TFLITE_CONCATENATION_OPTIONS,
		.options = { O_I32(0, 1) } };
	if (resolve(&m, NULL, 0, 2, &shape))
		text_of(&shape, got, sizeof(got));
	if (!ok(strcmp(got, "2x6") == 0, "a shape behind an operator whose options are at fault"))
		tap_note("got %s", got);
	if (resolve(&m, NULL, 0, 1, &shape))
		text_of(&shape, got, sizeof(got));
	ok(strcmp(got, "?") == 0, "the result of that operator has none");
}

static void test_wishes(void)
{
	static const struct { struct nntflite_shape wish; const char *words; } cases[] = {
		{ { "nobody", 2, { 1, 8 } }, "no input 'nobody'" },
		{ { "1", 2, { 1, 8 } }, "no input '1'" },
		{ { "in", 0, { 0 } }, "rank 0" },
		{ { "in", 9, { 1, 1, 1, 1, 1, 1, 1, 1 } }, "rank 9" },
		{ { "in", 2, { 1, 0 } }, "dimension 1 of size 0" },
		{ { NULL, 2, { 1, 8 } }, "no input" },
	};
	struct mw_model m = { .num_tensors = 2, .num_operators = 1, .num_inputs = 1,
			      .num_outputs = 1, .outputs = { 1 } };
	struct nntflite_shape wish = { "0", 2, { 3, 8 } };
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	struct nntflite_model *model = NULL;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	size_t i, size;

	m.tensors[0] = (struct mw_tensor){ .name = "in", .rank = 2, .dims = { 1, 8 } };
	m.tensors[1] = (struct mw_tensor){ .name = "out", .rank = 2, .dims = { 1, 8 } };
	m.operators[0] = (struct mw_operator){ .code = TFLITE_RELU, .num_inputs = 1,
		.num_outputs = 1, .outputs = { 1 }, .no_options = true };
	size = mw_write(&m, file);
	if (!ok(nntflite_file_open_memory(file, size, &opened, &diag) == NNHAL_STATUS_NONE,
		"a file with one RELU"))
		return;
	options.shapes = &wish;
	options.num_shapes = 1;
	if (ok(nntflite_model_create(opened, &options, &model, &diag) == NNHAL_STATUS_NONE,
	       "an input of another batch, by number"))
		ok(nntflite_model_input(model, 0)->bytes == 96 &&
		   nntflite_model_output(model, 0)->dims[0] == 3 &&
		   nntflite_model_output(model, 0)->bytes == 96, "the output follows");
	nntflite_model_destroy(model);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		model = (struct nntflite_model *)&m;
		options.shapes = &cases[i].wish;
		if (!ok(nntflite_model_create(opened, &options, &model, &diag) ==
			NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, cases[i].words) &&
			model == (struct nntflite_model *)&m, "refused: %s", cases[i].words))
			tap_note("%s", diag.message);
	}
	nntflite_file_close(opened);
}

/* FULLY_CONNECTED with another batch than in the file: all operands follow. */
static void test_wished_product(void)
{
	static const float weights[32];
	struct mw_model m = { .num_tensors = 3, .num_operators = 1, .num_inputs = 1,
			      .num_outputs = 1, .outputs = { 2 } };
	struct nntflite_shape wish = { "in", 2, { 3, 8 } };
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	const struct nnhal_subgraph *hal;
	struct nntflite_model *model = NULL;
	struct nntflite_file *opened = NULL;
	struct nntflite_diag diag;
	size_t size;

	m.tensors[0] = (struct mw_tensor){ .name = "in", .rank = 2, .dims = { 1, 8 } };
	m.tensors[1] = (struct mw_tensor){ .name = "w", .rank = 2, .dims = { 4, 8 },
					   .data = weights, .data_size = sizeof(weights) };
	m.tensors[2] = (struct mw_tensor){ .name = "out", .rank = 2, .dims = { 1, 4 } };
	m.operators[0] = (struct mw_operator){ .code = TFLITE_FULLY_CONNECTED, .num_inputs = 2,
		.inputs = { 0, 1 }, .num_outputs = 1, .outputs = { 2 },
		.options_type = TFLITE_FULLY_CONNECTED_OPTIONS };
	size = mw_write(&m, file);
	options.shapes = &wish;
	options.num_shapes = 1;
	if (nntflite_file_open_memory(file, size, &opened, &diag) == NNHAL_STATUS_NONE &&
	    nntflite_model_create(opened, &options, &model, &diag) == NNHAL_STATUS_NONE) {
		hal = &nntflite_model_get_hal(model)->main;
		ok(hal->num_operations == 1 && hal->operands[hal->output_indexes[0]].dimensions[0] == 3,
		   "FULLY_CONNECTED with the wished batch");
	} else {
		ok(false, "FULLY_CONNECTED with the wished batch: %s", diag.message);
	}
	nntflite_model_destroy(model);
	nntflite_file_close(opened);
}

/* x -> CALL -> y: what the callee reads and writes counts for what may be followed. */
static void test_limit(void)
{
	struct mw_model callee = { .num_tensors = 2, .num_operators = 1, .num_inputs = 1, .num_outputs = 1,
				   .outputs = { 1 } };
	struct mw_model m = callee;
	struct nntflite_diag diag;
	struct tflite_model tflite;
	struct shape shapes[2][2];
	uint32_t i;

	for (i = 0; i < 2; i++)
		callee.tensors[i] = (struct mw_tensor){ .name = "inner", .rank = 1, .dims = { i ? -1 : 3 } };
	callee.operators[0] = (struct mw_operator){ .code = TFLITE_CONCATENATION, .num_inputs = 10,
		.num_outputs = 1, .outputs = { 1 }, .options_type = TFLITE_CONCATENATION_OPTIONS };
	memcpy(m.tensors, callee.tensors, sizeof(m.tensors));
	m.operators[0] = (struct mw_operator){ .code = TFLITE_CALL, .num_inputs = 1, .num_outputs = 1,
		.outputs = { 1 }, .options_type = TFLITE_CALL_OPTIONS,
		.options = { { MW_I32, 0, 1, 0, NULL } } };
	m.num_subgraphs = 2;
	m.subgraphs[0] = &callee;
	diag_init(&diag);
	if (!ok(tflite_parse(&tflite, file, mw_write(&m, file), &diag) == 0, "a call"))
		return tflite_free(&tflite);
	/* An operator, two tensors, ten inputs and an output. */
	for (i = 0; i < 2; i++) {
		struct map_model map = { .tflite = &tflite, .diag = &diag, .infer_left = 13 + i };

		memset(shapes[i], 0x55, sizeof(shapes[i]));
		resolve_shapes(&map, 0, NULL, shapes[i]);
	}
	ok(shapes[0][1].rank == 0 && shapes[1][1].rank == 1 && shapes[1][1].dims[0] == 30,
	   "a call is followed as far as its limit allows: rank %u, then %u of size %u",
	   shapes[0][1].rank, shapes[1][1].rank, shapes[1][1].dims[0]);
	tflite_free(&tflite);
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		test_row(&rows[i]);
	test_chain();
	test_fault_before();
	test_wishes();
	test_wished_product();
	test_limit();
	return tap_done();
}
