// SPDX-License-Identifier: MIT
/*
 * Sparse constants and those of four bits: what is not whole is refused, with the tensor, and takes
 * no memory out of proportion to the file. tests/tflite has the values of whole ones.
 */
#include <string.h>

#include <nntflite/nntflite.h>
#include <tap.h>

#include "model_writer.h"
#include "userspace/libnntflite/file/schema.h"

static uint8_t bytes_of_file[MW_MAX_SIZE];

/* A matrix of 2 x 4 with two elements that are not zero, on a fed one of the same shape. */
static const float values[] = { 5, 6, 7, 8 };
static const uint8_t segments8[] = { 0, 1, 2 }, indices8[] = { 3, 1 };
static const uint16_t segments16[] = { 0, 1, 2 }, indices16[] = { 3, 1 };
static const int32_t segments32[] = { 0, 1, 2 }, indices32[] = { 3, 1 };

static const struct mw_sparsity rows = {
	.num_order = 2, .num_levels = 2, .order = { 0, 1 },
	.levels = {
		{ .format = 0, .size = 2 },
		{ .format = 1, .type = 3, .num_segments = 3, .num_indices = 2,
		  .segments = segments8, .indices = indices8 },
	},
};

static struct mw_model model_of(const struct mw_sparsity *sparsity)
{
	return (struct mw_model){
		.num_tensors = 4,
		.tensors = {
			{ .name = "x", .rank = 2, .dims = { 2, 4 } },
			{ .name = "thin", .rank = 2, .dims = { 2, 4 }, .data = values,
			  .data_size = 8, .sparsity = sparsity },
			{ .name = "thick", .rank = 2, .dims = { 2, 4 } },
			{ .name = "y", .rank = 2, .dims = { 2, 4 } },
		},
		.num_operators = 2,
		.operators = {
			{ .code = TFLITE_DENSIFY, .no_options = true, .num_inputs = 1,
			  .inputs = { 1 }, .num_outputs = 1, .outputs = { 2 } },
			{ .code = TFLITE_ADD, .no_options = true, .num_inputs = 2,
			  .inputs = { 0, 2 }, .num_outputs = 1, .outputs = { 3 } },
		},
		.num_inputs = 1, .inputs = { 0 }, .num_outputs = 1, .outputs = { 3 },
	};
}

/* NONE, or why not. */
static enum nnhal_status make(const struct mw_model *model, struct nntflite_diag *diag)
{
	struct nntflite_file *file = NULL;
	struct nntflite_model *made = NULL;
	size_t size = mw_write(model, bytes_of_file);
	enum nnhal_status status = nntflite_file_open_memory(bytes_of_file, size, &file, diag);

	if (status == NNHAL_STATUS_NONE)
		status = nntflite_model_create(file, NULL, &made, diag);
	nntflite_model_destroy(made);
	nntflite_file_close(file);
	return status;
}

static void taken(const struct mw_model *model, const char *what)
{
	struct nntflite_diag diag;

	if (!ok(make(model, &diag) == NNHAL_STATUS_NONE, "%s", what))
		tap_note("%s", diag.message);
}

static void refused(const struct mw_model *model, const char *words, const char *what)
{
	struct nntflite_diag diag;

	if (!ok(make(model, &diag) == NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, words) &&
		diag.tensor != NNTFLITE_NONE && diag.op != NNTFLITE_NONE, "%s: %s", what, words))
		tap_note("got '%s'", diag.message);
}

static void wrong(const struct mw_sparsity *sparsity, const char *words, const char *what)
{
	struct mw_model m = model_of(sparsity);

	refused(&m, words, what);
}

static void test_lists(void)
{
	struct mw_sparsity s = rows;
	struct mw_model m = model_of(&s);

	taken(&m, "lists of bytes");
	s.levels[1].type = 2;
	s.levels[1].segments = segments16;
	s.levels[1].indices = indices16;
	taken(&m, "lists of 16 bits");
	s.levels[1].type = 1;
	s.levels[1].segments = segments32;
	s.levels[1].indices = indices32;
	taken(&m, "lists of 32 bits");
	s.levels[1].segments = (int32_t[]){ 0, -1, 2 };
	wrong(&s, "segment 1 of level 1 ends before it begins", "a segment below zero");
	s.levels[1].segments = (int32_t[]){ 1, 1, 2 };
	wrong(&s, "do not cover its 2 indices", "indices before the first segment");
	s.levels[1].segments = (int32_t[]){ 0, 1, 1 };
	wrong(&s, "do not cover its 2 indices", "indices behind the last segment");
	s.levels[1].segments = segments32;
	s.levels[1].indices = (int32_t[]){ 3, 4 };
	wrong(&s, "index 4 of level 1 is outside of 4", "an index beyond the row");
	s.levels[1].indices = (int32_t[]){ 3, -1 };
	wrong(&s, "index 4294967295 of level 1 is outside of 4", "an index below zero");
	s = rows;
	s.levels[1].num_segments = 2;
	wrong(&s, "has 2 segments, expected 3", "a segment less");
	s.levels[1].num_segments = 0;
	wrong(&s, "has 0 segments, expected 3", "no segments");
	s = rows;
	s.levels[1].type = 4;
	wrong(&s, "a list of indices of type 4", "a type of lists that there is not");
	s.levels[1].type = 0;
	wrong(&s, "a list of indices of type 0", "no lists");
}

static void test_levels(void)
{
	struct mw_sparsity s = rows;

	s.num_order = 1;
	wrong(&s, "2 levels in an order of 1", "an order that is too short");
	s = rows;
	s.num_levels = 1;
	wrong(&s, "1 levels in an order of 2", "a level less");
	s = rows;
	s.num_blocks = 3;
	wrong(&s, "for rank 2 and 3 blocks", "more blocks than dimensions");
	s = rows;
	s.order[1] = 0;
	wrong(&s, "level 1 is of dimension 0", "a dimension twice");
	s.order[1] = -1;
	wrong(&s, "level 1 is of dimension -1", "a dimension below zero");
	s.order[1] = 2;
	wrong(&s, "level 1 is of dimension 2", "a dimension that the tensor lacks");
	s = rows;
	s.levels[0].size = 3;
	wrong(&s, "level 0 of size 3, expected 2", "a level of another size");
	s = rows;
	s.levels[1].format = 2;
	wrong(&s, "level 1 of format 2", "a format that there is not");
	/* Levels without lists whose elements are nowhere: no memory may be asked for. */
	s.levels[1] = (struct mw_level){ .format = 0, .size = 4 };
	wrong(&s, "2 elements, its levels have 8", "dense levels, elements are missing");
	s.levels[1].size = UINT32_MAX;
	wrong(&s, "level 1 of size 4294967295, expected 4", "a level as large as numbers are");
}

static void test_blocks(void)
{
	struct mw_sparsity s = {
		.num_order = 3, .num_blocks = 1, .num_levels = 3, .order = { 0, 1, 2 }, .blocks = { 1 },
		.levels = {
			{ .format = 0, .size = 2 },
			{ .format = 1, .type = 3, .num_segments = 3, .num_indices = 1,
			  .segments = (uint8_t[]){ 0, 0, 1 }, .indices = (uint8_t[]){ 1 } },
			{ .format = 0, .size = 2 },
		},
	};
	struct mw_model m = model_of(&s);

	taken(&m, "a block of two elements");
	s.levels[1].indices = (uint8_t[]){ 2 };
	wrong(&s, "index 2 of level 1 is outside of 2", "a block beyond the row");
	s.levels[1].indices = (uint8_t[]){ 1 };
	s.levels[2].size = 3;
	wrong(&s, "blocks of 3 in dimension 1", "blocks that do not fill the row");
	s.levels[2].size = 0;
	wrong(&s, "blocks of 0 in dimension 1", "blocks of nothing");
	s.levels[2].size = 2;
	s.blocks[0] = 2;
	wrong(&s, "blocks of 2 in dimension 2", "blocks of a dimension that the tensor lacks");
	s.blocks[0] = 1;
	s.order[1] = 2;
	s.order[2] = 1;
	wrong(&s, "level 1 is of dimension 2", "blocks before all dimensions");
}

/* 16 MiB of zeros out of a few bytes: more than the constants of so small a file may take. */
static void test_size(void)
{
	const struct mw_sparsity s = {
		.num_order = 2, .num_levels = 2, .order = { 0, 1 },
		.levels = {
			{ .format = 1, .type = 1, .num_segments = 2, .num_indices = 1,
			  .segments = (int32_t[]){ 0, 1 }, .indices = (int32_t[]){ 7 } },
			{ .format = 1, .type = 1, .num_segments = 2, .num_indices = 1,
			  .segments = (int32_t[]){ 0, 1 }, .indices = (int32_t[]){ 9 } },
		},
	};
	struct mw_model m = model_of(&s);
	uint32_t i;

	m.tensors[1].data_size = 4;
	for (i = 0; i < 4; i++)
		memcpy(m.tensors[i].dims, (int32_t[]){ 2048, 2048 }, 8);
	refused(&m, "the constants take more than", "a few bytes for a large matrix");
	m.tensors[1].data_size = 6;
	refused(&m, "6 bytes of data, not a whole number of elements", "half an element");
}

/* Lists that are longer than the tensor: many tensors may share them. */
static void test_long_lists(void)
{
	static const uint8_t all[] = { 0, 5, 9 }, again[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1 };
	static const uint8_t short_segments[] = { 0, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	static const float nine[9];
	struct mw_sparsity s = rows;
	struct mw_model m = model_of(&s);

	s.levels[1].segments = all;
	s.levels[1].num_indices = 9;
	s.levels[1].indices = again;
	m.tensors[1].data = nine;
	m.tensors[1].data_size = sizeof(nine);
	refused(&m, "9 elements, its shape has 8", "more elements than the shape has");
	s.levels[0] = (struct mw_level){ .format = 1, .type = 3, .num_segments = 2, .num_indices = 9,
					 .segments = (uint8_t[]){ 0, 9 }, .indices = again };
	s.levels[1].num_segments = 10;
	s.levels[1].segments = short_segments;
	s.levels[1].num_indices = 1;
	m.tensors[1].data_size = 4;
	refused(&m, "level 0 has 9 indices, its shape 8 elements", "more rows than elements");
}

static void test_densify(void)
{
	struct mw_model m = model_of(&rows);

	m.operators[0].inputs[0] = 0;
	refused(&m, "its input is no constant", "DENSIFY of what is fed");
	m = model_of(&rows);
	m.tensors[2].dims[1] = 3;
	refused(&m, "dimension 1 of size 3, the input has 4", "a result of another shape");
	m = model_of(&rows);
	m.tensors[2].type = TFLITE_INT32;
	refused(&m, "its type or rank is not that of the input", "a result of another type");
	m = model_of(&rows);
	m.operators[0].times = 2;
	refused(&m, "written a second time", "the same result twice");
	m = model_of(&rows);
	m.operators[1].inputs[1] = 1;
	m.outputs[1] = 2;
	m.num_outputs = 2;
	taken(&m, "a result that is an output, too, and a sparse constant without DENSIFY");
}

static void test_four_bits(void)
{
	struct mw_model m = model_of(NULL);
	uint32_t i;

	m.operators[0] = m.operators[1];
	m.operators[0].inputs[1] = 1;
	m.num_operators = 1;
	for (i = 0; i < 4; i++) {
		m.tensors[i].type = TFLITE_INT8;
		m.tensors[i].num_scales = 1;
		m.tensors[i].scales[0] = 1;
	}
	m.tensors[1].type = TFLITE_INT4;
	m.tensors[1].data_size = 4;
	taken(&m, "a constant of four bits");
	m.tensors[1].data_size = 5;
	refused(&m, "5 bytes of data, its shape takes 4", "a byte too much");
	m.tensors[1].data_size = 3;
	refused(&m, "3 bytes of data, its shape takes 4", "a byte too little");
	m.tensors[1].data_size = 4;
	m.tensors[1].sparsity = &rows;
	refused(&m, "sparse data of type int4", "both at once");
	m.tensors[1].sparsity = NULL;
	m.tensors[0].type = TFLITE_INT4;
	ok(make(&m, &(struct nntflite_diag){ .message = "" }) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "an input of four bits");
}

int main(void)
{
	test_lists();
	test_levels();
	test_blocks();
	test_size();
	test_long_lists();
	test_densify();
	test_four_bits();
	return tap_done();
}
