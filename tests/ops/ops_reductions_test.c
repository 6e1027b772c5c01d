// SPDX-License-Identifier: MIT
/*
 * Operations along dimensions: what they refuse, and results small enough to compute
 * by hand.
 */
#include <float.h>
#include <math.h>

#include "refusals.h"

static const float zeros[64];

static void mean(struct fixture *f)
{
	fixture_init(f, NNPU_OP_MEAN);
	fixture_input(f, S8, 1, 3, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0, 0, DIMS(1), (int32_t[]){ -1 });
	fixture_i32(f, 0);
	fixture_output(f, S8, 1, 3);
}

static void reduce_max(struct fixture *f)
{
	fixture_init(f, NNPU_OP_REDUCE_MAX);
	fixture_input(f, U8, 1, 3, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 0, -2 });
	fixture_bool(f, true);
	fixture_output(f, U8, 1, 3);
}

static void reduce_sum(struct fixture *f)
{
	fixture_init(f, NNPU_OP_REDUCE_SUM);
	fixture_input(f, F32, 0, 0, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0, 0, DIMS(2), (int32_t[]){ 1, 0 });
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
}

static void reduce_all(struct fixture *f)
{
	fixture_init(f, NNPU_OP_REDUCE_ALL);
	fixture_input(f, B8, 0, 0, DIMS(2, 3), zeros);
	fixture_const(f, I32, 0, 0, DIMS(1), (int32_t[]){ 1 });
	fixture_bool(f, false);
	fixture_output(f, B8, 0, 0);
}

static void argmin(struct fixture *f)
{
	fixture_init(f, NNPU_OP_ARGMIN);
	fixture_input(f, I32, 0, 0, DIMS(2, 3), zeros);
	fixture_i32(f, -2);
	fixture_output(f, I32, 0, 0);
}

static void topk(struct fixture *f)
{
	fixture_init(f, NNPU_OP_TOPK_V2);
	fixture_input(f, S8, 1, 3, DIMS(2, 5), zeros);
	fixture_i32(f, 3);
	fixture_output(f, S8, 1, 3);
	fixture_output(f, I32, 0, 0);
}

static void l2_norm(struct fixture *f)
{
	fixture_init(f, NNPU_OP_L2_NORMALIZATION);
	fixture_input(f, U8, 0.5f, 100, DIMS(2, 2), zeros);
	fixture_i32(f, -1);
	fixture_output(f, U8, 1.0f / 128, 128);
}

static void lrn(struct fixture *f)
{
	fixture_init(f, NNPU_OP_LOCAL_RESPONSE_NORMALIZATION);
	fixture_input(f, F32, 0, 0, DIMS(1, 4), zeros);
	fixture_i32(f, 1);
	fixture_f32(f, 1);
	fixture_f32(f, 1);
	fixture_f32(f, 1);
	fixture_i32(f, -1);
	fixture_output(f, F32, 0, 0);
}

static void log_softmax(struct fixture *f)
{
	fixture_init(f, NNPU_OP_LOG_SOFTMAX);
	fixture_input(f, F32, 0, 0, DIMS(1, 4), zeros);
	fixture_f32(f, 1);
	fixture_i32(f, -1);
	fixture_output(f, F32, 0, 0);
}

static void instance_norm(struct fixture *f)
{
	fixture_init(f, NNPU_OP_INSTANCE_NORMALIZATION);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 2, 1), zeros);
	fixture_f32(f, 2);
	fixture_f32(f, 10);
	fixture_f32(f, 0.75f);
	fixture_bool(f, true);
	fixture_output(f, F32, 0, 0);
}

static void l2_pool(struct fixture *f)
{
	fixture_init(f, NNPU_OP_L2_POOL_2D);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 2, 1), zeros);
	fixture_i32(f, 2);
	for (int i = 0; i < 2; i++)
		fixture_i32(f, 1);
	for (int i = 0; i < 2; i++)
		fixture_i32(f, 2);
	fixture_i32(f, 0);
	fixture_output(f, F32, 0, 0);
}

static void (*const legal[])(struct fixture *f) = {
	mean, reduce_max, reduce_sum, reduce_all, argmin, topk, l2_norm, lrn, log_softmax,
	instance_norm, l2_pool,
};

static const struct change changes[] = {
	I(mean, VALUE, 1, 2, 0, R(VALUE), 1),
	I(mean, VALUE, 1, -3, 0, R(VALUE), 1),
	I(mean, TYPE, 0, I32, 0, R(TYPE), 0),
	I(mean, TYPE, 2, NNPU_TYPE_BOOL, 0, R(TYPE), 2),
	I(mean, RANK, 0, 5, 0, R(RANK), 0),
	I(mean, RANK, 1, 2, 0, R(RANK), 1),
	I(mean, ZERO_POINT, 3, 4, 0, R(QUANT_MISMATCH), 3),
	I(reduce_max, LIST_VALUE, 1, 2, 1, R(VALUE), 1),
	I(reduce_max, TYPE, 2, NNPU_TYPE_INT32, 0, R(TYPE), 2),
	I(reduce_sum, TYPE, 0, U8, 0, R(TYPE), 0),
	I(reduce_all, TYPE, 0, F32, 0, R(TYPE), 0),
	I(argmin, VALUE, 1, 2, 0, R(VALUE), 1),
	I(argmin, TYPE, 2, F32, 0, R(TYPE), 2),
	I(argmin, TYPE, 0, B8, 0, R(TYPE), 0),
	I(topk, VALUE, 1, 0, 0, R(VALUE), 1),
	I(topk, VALUE, 1, 6, 0, R(VALUE), 1),
	I(topk, VALUE, 1, -1, 0, R(VALUE), 1),
	I(topk, TYPE, 3, F32, 0, R(TYPE), 3),
	I(l2_norm, VALUE, 1, 2, 0, R(VALUE), 1),
	F(l2_norm, SCALE, 2, 1.0f / 256, R(SCALE), 2),
	I(l2_norm, ZERO_POINT, 2, 0, 0, R(ZERO_POINT), 2),
	I(lrn, VALUE, 1, -1, 0, R(VALUE), 1),
	I(lrn, VALUE, 5, 2, 0, R(VALUE), 5),
	I(lrn, VALUE, 1, INT32_MAX, 0, R(NONE), 0),
	I(lrn, TYPE, 2, NNPU_TYPE_FLOAT16, 0, R(TYPE), 2),
	F(log_softmax, FLOAT_VALUE, 1, 0, R(VALUE), 1),
	I(log_softmax, VALUE, 2, 2, 0, R(VALUE), 2),
	I(instance_norm, RANK, 0, 3, 0, R(RANK), 0),
	I(instance_norm, TYPE, 4, NNPU_TYPE_INT32, 0, R(TYPE), 4),
	I(l2_pool, TYPE, 0, U8, 0, R(TYPE), 0),
	I(l2_pool, VALUE, 4, 0, 0, R(VALUE), 4),
};

static void test_results(void)
{
	struct fixture f;

	mean(&f);
	memcpy(f.data[0], (int8_t[]){ -128, -128, -128, 1, 2, -5 }, 6);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (int8_t[]){ -128, 0 }),
	   "MEAN: rounded towards zero");
	fixture_end(&f);

	reduce_max(&f);
	memcpy(f.data[0], (uint8_t[]){ 1, 200, 3, 4, 5, 6 }, 6);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 3), (uint8_t[]){ 4, 200, 6 }),
	   "REDUCE_MAX: a dimension named twice");
	fixture_end(&f);

	reduce_sum(&f);
	memcpy(f.data[0], (float[]){ 1, 2, 3, 4, 5, 6 }, 24);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1), (float[]){ 21 }),
	   "REDUCE_SUM: nothing left");
	fixture_end(&f);

	reduce_all(&f);
	memcpy(f.data[0], (uint8_t[]){ 1, 2, 3, 4, 0, 6 }, 6);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (uint8_t[]){ 1, 0 }),
	   "REDUCE_ALL: any byte but 0 is true");
	fixture_end(&f);

	argmin(&f);
	memcpy(f.data[0], (int32_t[]){ 5, INT32_MIN, 3, 5, 4, INT32_MIN }, 24);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(3), (int32_t[]){ 0, 0, 1 }),
	   "ARGMIN: the first of equal ones");
	fixture_end(&f);

	topk(&f);
	memcpy(f.data[0], (int8_t[]){ 1, 7, -3, 7, 2, -1, -2, -3, -4, -128 }, 10);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 3), (int8_t[]){ 7, 7, 2, -1, -2, -3 }) &&
	   !memcmp(f.graph.tensors[3].data, (int32_t[]){ 1, 3, 4, 0, 1, 2 }, 24),
	   "TOPK_V2: values and positions");
	fixture_end(&f);

	l2_norm(&f);
	memcpy(f.data[0], (uint8_t[]){ 103, 96, 100, 100 }, 4);
	/* 3/5 and -4/5 of 128, and a row of zeros. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2, 2), (uint8_t[]){ 205, 26, 128, 128 }),
	   "L2_NORMALIZATION: quantized");
	fixture_end(&f);

	lrn(&f);
	memcpy(f.data[0], (float[]){ 1, 2, 0, 3 }, 16);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 4), (float[]){
		1 * (1.0f / 6), 2 * (1.0f / 6), 0, 3 * (1.0f / 10) }),
	   "LOCAL_RESPONSE_NORMALIZATION: neighbours");
	fixture_end(&f);

	instance_norm(&f);
	memcpy(f.data[0], (float[]){ 1, 2, 0, 0 }, 16);
	/* Channels first: two channels of two pixels, variances 1/4 and 0. */
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 2, 2, 1), (float[]){
		9, 11, 10, 10 }), "INSTANCE_NORMALIZATION: channels first");
	fixture_end(&f);

	l2_pool(&f);
	memcpy(f.data[0], (float[]){ 1, 1, 5, 3 }, 16);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 1, 1, 1), (float[]){ 3 }), "L2_POOL_2D");
	fixture_end(&f);
}

/* Dimensions that are empty when the job runs. */
static void test_empty(void)
{
	struct fixture f;

	reduce_sum(&f);
	graph_set_shape(&f.tensors[0], DIMS(2, 0));
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1), (float[]){ 0 }), "REDUCE_SUM: of nothing");
	fixture_end(&f);

	mean(&f);
	graph_set_shape(&f.tensors[0], DIMS(2, 0));
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (int8_t[]){ 3, 3 }), "MEAN: of nothing");
	fixture_end(&f);

	fixture_init(&f, NNPU_OP_REDUCE_MIN);
	fixture_input(&f, F32, 0, 0, DIMS(0, 2), zeros);
	fixture_const(&f, I32, 0, 0, DIMS(1), (int32_t[]){ 0 });
	fixture_bool(&f, false);
	fixture_output(&f, F32, 0, 0);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (float[]){ FLT_MAX, FLT_MAX }),
	   "REDUCE_MIN: of nothing");
	fixture_end(&f);

	argmin(&f);
	graph_set_shape(&f.tensors[0], DIMS(0, 3));
	ok(fixture_run(&f) == -1 && fixture_reason(&f) == NNPU_REASON_DIMENSION,
	   "ARGMIN: of nothing");
	fixture_end(&f);
}

/* One row is enough work to be asked whether to go on. */
static void test_abort(void)
{
	static const enum nnpu_operation ops[] = {
		NNPU_OP_ARGMAX, NNPU_OP_L2_NORMALIZATION, NNPU_OP_LOG_SOFTMAX, NNPU_OP_MEAN,
	};
	const uint32_t n = 1u << 20;
	float *data = calloc(n, sizeof(*data));
	struct fixture f;

	if (!ok(data, "a long row"))
		return;
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		fixture_init(&f, ops[i]);
		fixture_input(&f, F32, 0, 0, DIMS(1, n), data);
		if (ops[i] == NNPU_OP_LOG_SOFTMAX)
			fixture_f32(&f, 1);
		if (ops[i] == NNPU_OP_MEAN)
			fixture_const(&f, I32, 0, 0, DIMS(1), (int32_t[]){ 1 });
		fixture_i32(&f, 1);
		fixture_output(&f, ops[i] == NNPU_OP_ARGMAX ? I32 : F32, 0, 0);
		graph_progress.count = 0;
		graph_progress.abort_after = 2;
		ok(fixture_run(&f) == OP_ABORTED && graph_progress.count == 2,
		   "%s: a long row can be ended", op_name(f.op));
		graph_progress.abort_after = 0;
		fixture_end(&f);
	}
	free(data);
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_results();
	test_empty();
	test_abort();
	return tap_done();
}
