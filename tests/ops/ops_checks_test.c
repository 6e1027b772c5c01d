// SPDX-License-Identifier: MIT
/*
 * What operations refuse: each case starts from a legal call and makes one thing
 * wrong; the refusal must name the reason and the operand.
 */
#include <math.h>
#include <string.h>

#include "refusals.h"


static const float zeros[64];
static const float one_scale[4] = { 1, 1, 1, 1 };

/* Legal calls. */
static void conv_float(struct fixture *f)
{
	fixture_init(f, NNPU_OP_CONV_2D);
	fixture_input(f, F32, 0, 0, DIMS(1, 4, 4, 2), zeros);
	fixture_const(f, F32, 0, 0, DIMS(3, 2, 2, 2), zeros);
	fixture_const(f, F32, 0, 0, DIMS(3), zeros);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
}

static void conv_quant(struct fixture *f)
{
	fixture_init(f, NNPU_OP_CONV_2D);
	fixture_input(f, U8, 0.5f, 3, DIMS(1, 4, 4, 2), zeros);
	fixture_const(f, U8, 0.5f, 4, DIMS(3, 2, 2, 2), zeros);
	fixture_const(f, I32, 0.25f, 0, DIMS(3), zeros);
	for (int i = 0; i < 4; i++)
		fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 0);
	fixture_bool(f, false);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_output(f, U8, 1, 0);
}

static void conv_channels(struct fixture *f)
{
	conv_quant(f);
	f->tensors[1].type = PCH;
	f->tensors[1].channel_scales = one_scale;
	f->tensors[2].scale = 0;
}

static void depthwise(struct fixture *f)
{
	fixture_init(f, NNPU_OP_DEPTHWISE_CONV_2D);
	fixture_input(f, F32, 0, 0, DIMS(1, 4, 4, 2), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1, 2, 2, 4), zeros);
	fixture_const(f, F32, 0, 0, DIMS(4), zeros);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
}

static void pool(struct fixture *f)
{
	fixture_init(f, NNPU_OP_MAX_POOL_2D);
	fixture_input(f, S8, 1, 2, DIMS(1, 4, 4, 2), zeros);
	for (int i = 0; i < 4; i++)
		fixture_i32(f, 1);
	fixture_i32(f, 2);
	fixture_i32(f, 2);
	fixture_i32(f, 2);
	fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_output(f, S8, 1, 2);
}

static void dense(struct fixture *f)
{
	fixture_init(f, NNPU_OP_FULLY_CONNECTED);
	fixture_input(f, S8, 0.5f, 0, DIMS(2, 6), zeros);
	fixture_const(f, S8, 0.5f, 0, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0.25f, 0, DIMS(2), zeros);
	fixture_i32(f, 0);
	fixture_output(f, S8, 1, 0);
}

static void add(struct fixture *f)
{
	fixture_init(f, NNPU_OP_ADD);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_input(f, F32, 0, 0, DIMS(3), zeros);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
}

static void mul_quant(struct fixture *f)
{
	fixture_init(f, NNPU_OP_MUL);
	fixture_input(f, U8, 0.5f, 0, DIMS(2, 3), zeros);
	fixture_input(f, U8, 0.5f, 0, DIMS(3), zeros);
	fixture_i32(f, 0);
	fixture_output(f, U8, 1, 0);
}

static void reshape(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RESHAPE);
	fixture_input(f, U8, 1, 3, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 3, 2 });
	fixture_output(f, U8, 1, 3);
}

static void softmax(struct fixture *f)
{
	fixture_init(f, NNPU_OP_SOFTMAX);
	fixture_input(f, U8, 1, 3, DIMS(2, 3), zeros);
	fixture_f32(f, 1);
	fixture_i32(f, 1);
	fixture_output(f, U8, 1.0f / 256, 0);
}

static void relu(struct fixture *f)
{
	fixture_init(f, NNPU_OP_RELU);
	fixture_input(f, U8, 1, 3, DIMS(2, 3), zeros);
	fixture_output(f, U8, 1, 3);
}

static void logistic(struct fixture *f)
{
	fixture_init(f, NNPU_OP_LOGISTIC);
	fixture_input(f, S8, 1, 3, DIMS(2, 3), zeros);
	fixture_output(f, S8, 1.0f / 256, -128);
}

static void dequantize(struct fixture *f)
{
	fixture_init(f, NNPU_OP_DEQUANTIZE);
	fixture_input(f, U8, 1, 3, DIMS(2, 3), zeros);
	fixture_output(f, F32, 0, 0);
}

static void quantize(struct fixture *f)
{
	fixture_init(f, NNPU_OP_QUANTIZE);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_output(f, U8, 1, 3);
}

static void concatenation(struct fixture *f)
{
	fixture_init(f, NNPU_OP_CONCATENATION);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_input(f, F32, 0, 0, DIMS(2, 1), zeros);
	fixture_i32(f, 1);
	fixture_output(f, F32, 0, 0);
}

static const struct change changes[] = {
	I(conv_float, TYPE, 0, F16, 0, R(TYPE), 7),
	I(conv_float, TYPE, 0, I32, 0, R(TYPE), 0),
	I(conv_float, TYPE, 1, U8, 0, R(TYPE), 1),
	I(conv_float, TYPE, 2, I32, 0, R(TYPE), 2),
	I(conv_float, TYPE, 3, NNPU_TYPE_FLOAT32, 0, R(TYPE), 3),
	I(conv_float, TYPE, 7, U8, 0, R(TYPE), 7),
	I(conv_float, RANK, 0, 3, 0, R(RANK), 0),
	I(conv_float, RANK, 1, 5, 0, R(RANK), 1),
	I(conv_float, RANK, 2, 2, 0, R(RANK), 2),
	I(conv_float, DIM, 0, 3, 3, R(SHAPE_MISMATCH), 1),
	I(conv_float, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 2),
	I(conv_float, VALUE, 3, 0, 0, R(VALUE), 3),
	I(conv_float, VALUE, 3, 3, 0, R(VALUE), 3),
	I(conv_float, VALUE, 4, 0, 0, R(VALUE), 4),
	I(conv_float, VALUE, 5, -1, 0, R(VALUE), 5),
	I(conv_float, VALUE, 6, 4, 0, R(VALUE), 6),
	I(conv_float, VALUE, 6, -1, 0, R(VALUE), 6),
	I(conv_float, OMIT, 1, 0, 0, R(OMITTED), 1),
	I(conv_float, DROP_INPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(conv_float, NO_OUTPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(conv_quant, TYPE, 1, S8, 0, R(TYPE), 1),
	I(conv_quant, TYPE, 2, F32, 0, R(TYPE), 2),
	I(conv_quant, TYPE, 10, NNPU_TYPE_INT32, 0, R(TYPE), 10),
	I(conv_quant, TYPE, 13, S8, 0, R(TYPE), 13),
	F(conv_quant, SCALE, 2, 0.26f, R(SCALE), 2),
	I(conv_quant, ZERO_POINT, 2, 1, 0, R(ZERO_POINT), 2),
	I(conv_quant, VALUE, 3, 2, 0, R(VALUE), 3),
	I(conv_quant, VALUE, 4, 2, 0, R(VALUE), 4),
	I(conv_quant, VALUE, 5, 2, 0, R(VALUE), 5),
	I(conv_quant, VALUE, 6, -1, 0, R(VALUE), 6),
	I(conv_quant, VALUE, 11, 0, 0, R(VALUE), 11),
	I(conv_quant, VALUE, 12, 40, 0, R(SHAPE_MISMATCH), 0),
	I(conv_quant, DROP_INPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(conv_channels, CHANNEL_DIM, 1, 3, 0, R(CHANNEL_QUANT), 1),
	F(conv_channels, SCALE, 2, 0.25f, R(SCALE), 2),
	I(depthwise, DIM, 1, 2, 0, R(DIMENSION), 1),
	I(depthwise, DIM, 1, 5, 3, R(SHAPE_MISMATCH), 6),
	I(depthwise, DIM, 2, 5, 0, R(SHAPE_MISMATCH), 2),
	I(depthwise, VALUE, 6, 0, 0, R(VALUE), 6),
	I(depthwise, VALUE, 6, 1, 0, R(SHAPE_MISMATCH), 6),
	I(depthwise, DIM, 1, 0, 1, R(NONE), 0),	/* not known yet */
	I(pool, TYPE, 0, I32, 0, R(TYPE), 0),
	I(pool, TYPE, 0, F16, 0, R(TYPE), 10),
	F(pool, SCALE, 10, 2, R(QUANT_MISMATCH), 10),
	I(pool, ZERO_POINT, 10, 3, 0, R(QUANT_MISMATCH), 10),
	I(pool, VALUE, 7, 0, 0, R(VALUE), 7),
	I(pool, VALUE, 2, 2, 0, R(VALUE), 2),
	I(pool, VALUE, 8, 7, 0, R(SHAPE_MISMATCH), 0),
	I(pool, DROP_INPUT, 0, 0, 0, R(OPERAND_COUNT), NONE),
	I(dense, RANK, 0, 1, 0, R(RANK), 0),
	I(dense, DIM, 0, 5, 1, R(SHAPE_MISMATCH), 0),
	I(dense, DIM, 2, 3, 0, R(SHAPE_MISMATCH), 2),
	I(dense, TYPE, 1, PCH, 0, R(TYPE), 1),
	F(dense, SCALE, 2, NAN, R(SCALE), 2),
	I(dense, VALUE, 3, 9, 0, R(VALUE), 3),
	I(add, TYPE, 1, U8, 0, R(TYPE), 1),
	I(add, TYPE, 3, I32, 0, R(TYPE), 3),
	I(add, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 1),
	I(add, RANK, 0, 5, 0, R(RANK), 0),
	I(add, VALUE, 2, 5, 0, R(VALUE), 2),
	F(mul_quant, SCALE, 3, 0.25f, R(SCALE), 3),
	I(reshape, VALUE, 1, 4, 0, R(SHAPE_MISMATCH), 1),
	I(reshape, VALUE, 1, -2, 0, R(VALUE), 1),
	I(reshape, TYPE, 1, F32, 0, R(TYPE), 1),
	I(reshape, RANK, 1, 2, 0, R(RANK), 1),
	F(reshape, SCALE, 2, 2, R(QUANT_MISMATCH), 2),
	F(softmax, FLOAT_VALUE, 1, 0, R(VALUE), 1),
	F(softmax, FLOAT_VALUE, 1, -1, R(VALUE), 1),
	F(softmax, FLOAT_VALUE, 1, NAN, R(VALUE), 1),
	I(softmax, VALUE, 2, 2, 0, R(VALUE), 2),
	I(softmax, VALUE, 2, -3, 0, R(VALUE), 2),
	F(softmax, SCALE, 3, 1.0f / 128, R(SCALE), 3),
	I(softmax, ZERO_POINT, 3, 1, 0, R(ZERO_POINT), 3),
	I(softmax, TYPE, 1, NNPU_TYPE_INT32, 0, R(TYPE), 1),
	I(softmax, TYPE, 1, NNPU_TYPE_FLOAT16, 0, R(TYPE), 1),
	I(softmax, RANK, 0, 5, 0, R(RANK), 0),
	I(relu, TYPE, 0, I32, 0, R(TYPE), 0),
	I(relu, ZERO_POINT, 1, 4, 0, R(QUANT_MISMATCH), 1),
	I(relu, RANK, 0, 5, 0, R(RANK), 0),
	I(logistic, ZERO_POINT, 1, 0, 0, R(ZERO_POINT), 1),
	F(logistic, SCALE, 1, 1.0f / 128, R(SCALE), 1),
	I(dequantize, TYPE, 0, F32, 0, R(TYPE), 0),
	I(dequantize, TYPE, 1, I32, 0, R(TYPE), 1),
	I(quantize, TYPE, 0, I32, 0, R(TYPE), 0),
	I(quantize, TYPE, 1, F32, 0, R(TYPE), 1),
	I(concatenation, TYPE, 1, U8, 0, R(TYPE), 1),
	I(concatenation, DIM, 1, 3, 0, R(SHAPE_MISMATCH), 1),
	I(concatenation, RANK, 1, 1, 0, R(RANK), 1),
	I(concatenation, VALUE, 2, 2, 0, R(VALUE), 2),
	I(concatenation, VALUE, 2, -1, 0, R(VALUE), 2),
};

static void (*const legal[])(struct fixture *f) = {
	conv_float, conv_quant, conv_channels, depthwise, pool, dense, add, mul_quant,
	reshape, softmax, relu, logistic, dequantize, quantize, concatenation,
};

static void test_others(void)
{
	struct fixture f;

	fixture_init(&f, NNPU_OP_ADD);
	fixture_input(&f, I32, 0, 0, DIMS(1), zeros);
	fixture_input(&f, I32, 0, 0, DIMS(1), zeros);
	fixture_i32(&f, 1);
	fixture_output(&f, I32, 0, 0);
	ok(fixture_load(&f) == NNPU_REASON_VALUE && fixture_bad_operand(&f) == 2,
	   "ADD: integers have no fused activation");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RESHAPE);
	fixture_input(&f, F32, 0, 0, DIMS(4), zeros);
	fixture_const(&f, I32, 0, 0, DIMS(2), (int32_t[]){ -1, -1 });
	fixture_output(&f, F32, 0, 0);
	ok(fixture_load(&f) == NNPU_REASON_VALUE, "RESHAPE: one -1 only");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RESHAPE);
	fixture_input(&f, F32, 0, 0, DIMS(4), zeros);
	fixture_const(&f, I32, 0, 0, DIMS(9), (int32_t[]){ 1, 1, 1, 1, 1, 1, 1, 1, 4 });
	fixture_output(&f, F32, 0, 0);
	ok(fixture_load(&f) == NNPU_REASON_RANK, "RESHAPE: rank 9");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RESHAPE);
	fixture_input(&f, F32, 0, 0, DIMS(4), zeros);
	fixture_const(&f, I32, 0, 0, DIMS(4),
		      (int32_t[]){ INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX });
	fixture_output(&f, F32, 0, 0);
	ok(fixture_load(&f) == NNPU_REASON_OVERFLOW, "RESHAPE: a size that overflows");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_RESHAPE);
	fixture_input(&f, F32, 0, 0, DIMS(4), zeros);
	fixture_const(&f, I32, 0, 0, DIMS(2), (int32_t[]){ -1, 0 });
	fixture_output(&f, F32, 0, 0);
	ok(fixture_load(&f) == NNPU_REASON_SHAPE_MISMATCH, "RESHAPE: -1 beside 0");
	fixture_end(&f);

	conv_float(&f);
	graph_set_shape(&f.tensors[0], UNKNOWN_RANK);
	ok(fixture_load(&f) == NNPU_REASON_NONE && !f.graph.calls[0].inferred &&
	   f.graph.calls[0].call.prepared, "CONV_2D: unknown image, known filter");
	fixture_end(&f);

	ok(!op_find(NNPU_OP_IF) && !op_find(NNPU_NUM_OPERATIONS) && !op_find(UINT32_MAX) &&
	   op_find(NNPU_OP_ADD), "operations that the device does not have");
}

static void test_names(void)
{
	ok(!strcmp(op_name(NNPU_OP_CONV_2D), "CONV_2D") && op_name(UINT32_MAX) &&
	   !strcmp(type_name(NNPU_TYPE_BOOL), "BOOL") && type_name(99) &&
	   !strcmp(status_name(NNPU_STATUS_OP_FAILED), "OP_FAILED") && status_name(999) &&
	   !strcmp(reason_text(NNPU_REASON_RANK), "rank not allowed here") && reason_text(999),
	   "names of numbers");
	ok(type_size(F32) == 4 && type_size(PCH) == 1 && type_size(NNPU_TYPE_SUBGRAPH) == 0 &&
	   type_size(99) == 0 && type_is_scalar(NNPU_TYPE_BOOL) && !type_is_scalar(F32) &&
	   !type_is_scalar(99), "sizes of types");
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_others();
	test_names();
	return tap_done();
}
