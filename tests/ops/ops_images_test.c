// SPDX-License-Identifier: MIT
/*
 * Operations on images: what they refuse, and results small enough to compute by hand.
 */
#include <math.h>

#include "refusals.h"

static const float zeros[256];

static void resize(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RESIZE_BILINEAR);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 2, 1), zeros);
	fixture_i32(f, 4);
	fixture_i32(f, 2);
	fixture_bool(f, false);
	fixture_bool(f, false);
	fixture_bool(f, true);
	fixture_output(f, F32, 0, 0);
}

static void nearest(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RESIZE_NEAREST_NEIGHBOR);
	fixture_input(f, U8, 1, 3, DIMS(1, 2, 2, 1), zeros);
	fixture_f32(f, 1.5f);
	fixture_f32(f, 2);
	fixture_bool(f, true);
	fixture_output(f, U8, 1, 3);
}

static void grouped(struct fixture *f)
{
	fixture_init(f, NNPU_OP_GROUPED_CONV_2D);
	fixture_input(f, U8, 0.5f, 0, DIMS(1, 2, 2, 4), zeros);
	fixture_const(f, U8, 0.5f, 0, DIMS(2, 2, 1, 2), zeros);
	fixture_const(f, I32, 0.25f, 0, DIMS(2), zeros);
	fixture_i32(f, 2);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_bool(f, false);
	fixture_output(f, U8, 1, 0);
}

static void transposed(struct fixture *f)
{
	fixture_init(f, NNPU_OP_TRANSPOSE_CONV_2D);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 2, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1, 3, 3, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1), zeros);
	for (int i = 0; i < 4; i++)
		fixture_i32(f, 1);
	fixture_i32(f, 2);
	fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
}

static void transposed_to(struct fixture *f)
{
	fixture_init(f, NNPU_OP_TRANSPOSE_CONV_2D);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 2, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(2, 3, 3, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(2), zeros);
	fixture_const(f, I32, 0, 0, DIMS(4), (int32_t[]){ 1, 5, 5, 2 });
	fixture_i32(f, 2);
	fixture_i32(f, 2);
	fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
}

static void align(struct fixture *f)
{
	fixture_init(f, NNPU_OP_ROI_ALIGN);
	fixture_input(f, F32, 0, 0, DIMS(1, 4, 4, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1, 4), (float[]){ 2, 2, 6, 6 });
	fixture_const(f, I32, 0, 0, DIMS(1), (int32_t[]){ 0 });
	fixture_i32(f, 2);
	fixture_i32(f, 1);
	fixture_f32(f, 2);
	fixture_f32(f, 2);
	fixture_i32(f, 1);
	fixture_i32(f, 0);
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
}

static void pooling(struct fixture *f)
{
	fixture_init(f, NNPU_OP_ROI_POOLING);
	fixture_input(f, U8, 1, 9, DIMS(1, 1, 4, 4), zeros);
	fixture_const(f, NNPU_TYPE_TENSOR_QUANT16_ASYMM, 0.125f, 0, DIMS(1, 4),
		      (uint16_t[]){ 8, 8, 16, 16 });
	fixture_const(f, I32, 0, 0, DIMS(1), (int32_t[]){ 0 });
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_f32(f, 1);
	fixture_f32(f, 1);
	fixture_bool(f, true);
	fixture_output(f, U8, 1, 9);
}

static void (*const legal[])(struct fixture *f) = {
	resize, nearest, grouped, transposed, transposed_to, align, pooling,
};

static const struct change changes[] = {
	I(resize, VALUE, 1, 0, 0, R(VALUE), 1),
	I(resize, VALUE, 2, -1, 0, R(VALUE), 2),
	I(resize, VALUE, 4, 1, 0, R(VALUE), 5),
	I(resize, TYPE, 2, NNPU_TYPE_FLOAT32, 0, R(TYPE), 2),
	I(resize, TYPE, 3, NNPU_TYPE_INT32, 0, R(TYPE), 3),
	I(resize, RANK, 0, 3, 0, R(RANK), 0),
	F(nearest, FLOAT_VALUE, 1, NAN, R(VALUE), 1),
	F(nearest, FLOAT_VALUE, 2, 0.25f, R(VALUE), 2),
	F(nearest, FLOAT_VALUE, 1, 1e10f, R(VALUE), 1),
	F(nearest, FLOAT_VALUE, 1, -1, R(VALUE), 1),
	I(nearest, TYPE, 1, NNPU_TYPE_FLOAT16, 0, R(TYPE), 1),
	I(nearest, ZERO_POINT, 4, 4, 0, R(QUANT_MISMATCH), 4),
	I(grouped, VALUE, 6, 3, 0, R(VALUE), 6),
	I(grouped, VALUE, 6, 0, 0, R(VALUE), 6),
	I(grouped, VALUE, 6, 1, 0, R(SHAPE_MISMATCH), 1),
	I(grouped, VALUE, 4, 0, 0, R(VALUE), 4),
	I(grouped, DIM, 2, 3, 0, R(SHAPE_MISMATCH), 2),
	I(grouped, DROP_INPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	F(grouped, SCALE, 2, 0.26f, R(SCALE), 2),
	I(transposed, VALUE, 7, 0, 0, R(VALUE), 7),
	I(transposed, VALUE, 3, -1, 0, R(VALUE), 3),
	I(transposed, VALUE, 3, 5, 0, R(SHAPE_MISMATCH), 0),
	I(transposed, DIM, 1, 2, 3, R(SHAPE_MISMATCH), 1),
	I(transposed, DIM, 2, 2, 0, R(SHAPE_MISMATCH), 2),
	I(transposed, DROP_INPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(transposed, VALUE, 8, INT32_MAX, 0, R(NONE), 0),
	I(transposed_to, LIST_VALUE, 3, 0, 1, R(VALUE), 3),
	I(transposed_to, LIST_VALUE, 3, 3, 3, R(VALUE), 3),
	I(transposed_to, DIM, 3, 3, 0, R(DIMENSION), 3),
	I(transposed_to, VALUE, 4, 3, 0, R(VALUE), 4),
	I(align, VALUE, 3, 0, 0, R(VALUE), 3),
	F(align, FLOAT_VALUE, 5, 0, R(VALUE), 5),
	F(align, FLOAT_VALUE, 6, NAN, R(VALUE), 6),
	I(align, VALUE, 7, -1, 0, R(VALUE), 7),
	I(align, DIM, 1, 5, 1, R(DIMENSION), 1),
	I(align, DIM, 2, 2, 0, R(SHAPE_MISMATCH), 2),
	I(align, TYPE, 1, F16, 0, R(TYPE), 1),
	I(pooling, TYPE, 1, F32, 0, R(TYPE), 1),
	F(pooling, SCALE, 1, 0.25f, R(SCALE), 1),
	I(pooling, ZERO_POINT, 1, 1, 0, R(ZERO_POINT), 1),
	F(pooling, SCALE, 8, 2, R(QUANT_MISMATCH), 8),
};

/* Regions that only execution sees. */
static void test_regions(void)
{
	static const float bad[][4] = {
		{ -1, 2, 6, 6 }, { 7, 2, 6, 6 }, { 2, 2, 9, 6 }, { 2, NAN, 6, 6 },
		{ 2, 2, INFINITY, 6 },
	};
	struct fixture f;

	for (unsigned int i = 0; i < 5; i++) {
		align(&f);
		memcpy(f.data[1], bad[i], sizeof(bad[i]));
		ok(fixture_run(&f) == -1 && fixture_reason(&f) == NNPU_REASON_VALUE &&
		   fixture_bad_operand(&f) == 1, "ROI_ALIGN: bad region %u", i);
		fixture_end(&f);
	}
	for (int32_t batch = -1; batch < 2; batch += 2) {
		align(&f);
		memcpy(f.data[2], &batch, sizeof(batch));
		ok(fixture_run(&f) == -1 && fixture_reason(&f) == NNPU_REASON_VALUE &&
		   fixture_bad_operand(&f) == 2, "ROI_ALIGN: batch %d", batch);
		fixture_end(&f);
	}
}

static void test_results(void)
{
	struct fixture f;

	resize(&f);
	memcpy(f.data[0], (float[]){ 0, 4, 8, 16 }, 16);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 2, 4, 1), (float[]){
		0, 1, 3, 4, 8, 10, 14, 16 }), "RESIZE_BILINEAR: half pixel centers");
	fixture_end(&f);

	nearest(&f);
	graph_set_shape(&f.tensors[0], DIMS(1, 1, 2, 2));
	memcpy(f.data[0], (uint8_t[]){ 1, 2, 3, 4 }, 4);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 1, 4, 3), (uint8_t[]){
		1, 1, 2, 1, 1, 2, 3, 3, 4, 3, 3, 4 }),
	   "RESIZE_NEAREST_NEIGHBOR: by factors, channels first");
	fixture_end(&f);

	grouped(&f);
	memcpy(f.data[0], (uint8_t[]){ 1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 2 }, 16);
	memcpy(f.data[1], (uint8_t[]){ 1, 2, 3, 4, 4, 0, 0, 4 }, 8);
	memcpy(f.data[2], (int32_t[]){ 4, -4 }, 8);
	/* (4 + 5 + 39) / 4, (-4 + 12 + 32) / 4; 4 / 4, (-4 + 8) / 4. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 1, 2, 2), (uint8_t[]){ 12, 10, 1, 1 }),
	   "GROUPED_CONV_2D: quantized");
	fixture_end(&f);

	transposed(&f);
	memcpy(f.data[0], (float[]){ 1, 10, 100, 1000 }, 16);
	memcpy(f.data[1], (float[]){ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 36);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 3, 3, 1), (float[]){
		5, 46, 50, 208, 1379, 2080, 500, 4600, 5000 }),
	   "TRANSPOSE_CONV_2D: explicit padding");
	fixture_end(&f);

	align(&f);
	for (int i = 0; i < 16; i++)
		((float *)f.data[0])[i] = (float)i;
	/* Rows 1.5 and 2.5, the mean of columns 1.5 and 2.5. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 2, 1, 1), (float[]){ 8, 12 }),
	   "ROI_ALIGN: as many points as elements");
	fixture_end(&f);

	pooling(&f);
	for (int i = 0; i < 16; i++)
		((uint8_t *)f.data[0])[i] = (uint8_t)i;
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 1, 1, 1), (uint8_t[]){ 10 }),
	   "ROI_POOLING: channels first");
	fixture_end(&f);
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_regions();
	test_results();
	return tap_done();
}
