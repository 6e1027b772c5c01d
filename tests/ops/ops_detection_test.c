// SPDX-License-Identifier: MIT
/*
 * Operations of object detection: what they refuse, and results small enough to compute
 * by hand.
 */
#include <math.h>

#include "refusals.h"

#define U16	NNPU_TYPE_TENSOR_QUANT16_ASYMM

static const float zeros[256];

static void transform(struct fixture *f)
{
	fixture_init(f, NNPU_OP_AXIS_ALIGNED_BBOX_TRANSFORM);
	fixture_const(f, F32, 0, 0, DIMS(1, 4), (float[]){ 2, 2, 6, 6 });
	fixture_input(f, F32, 0, 0, DIMS(1, 8), zeros);
	fixture_const(f, I32, 0, 0, DIMS(1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1, 2), (float[]){ 7, 5 });
	fixture_output(f, F32, 0, 0);
}

static void box_nms(struct fixture *f)
{
	fixture_init(f, NNPU_OP_BOX_WITH_NMS_LIMIT);
	fixture_input(f, U8, 0.01f, 0, DIMS(3, 2), (uint8_t[]){ 0, 50, 0, 90, 0, 80 });
	fixture_input(f, U16, 0.125f, 0, DIMS(3, 8), (uint16_t[]){
		0, 0, 0, 0, 0, 0, 80, 80, 0, 0, 0, 0, 0, 0, 80, 88, 0, 0, 0, 0, 400, 0, 480, 80 });
	fixture_input(f, I32, 0, 0, DIMS(3), zeros);
	fixture_f32(f, 0.1f);
	fixture_i32(f, -1);
	fixture_i32(f, 0);
	fixture_f32(f, 0.5f);
	fixture_f32(f, 1);
	fixture_f32(f, 0.1f);
	fixture_output(f, U8, 0.01f, 0);
	fixture_output(f, U16, 0.125f, 0);
	fixture_output(f, I32, 0, 0);
	fixture_output(f, I32, 0, 0);
}

static void proposals(struct fixture *f)
{
	fixture_init(f, NNPU_OP_GENERATE_PROPOSALS);
	fixture_input(f, F32, 0, 0, DIMS(1, 1, 2, 1), (float[]){ 0.5f, 0.75f });
	fixture_input(f, F32, 0, 0, DIMS(1, 1, 2, 4), zeros);
	fixture_input(f, F32, 0, 0, DIMS(1, 4), (float[]){ 0, 0, 4, 4 });
	fixture_input(f, F32, 0, 0, DIMS(1, 2), (float[]){ 100, 100 });
	fixture_f32(f, 8);
	fixture_f32(f, 8);
	fixture_i32(f, -1);
	fixture_i32(f, -1);
	fixture_f32(f, 0.5f);
	fixture_f32(f, 1);
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, I32, 0, 0);
}

static void heatmap(struct fixture *f)
{
	fixture_init(f, NNPU_OP_HEATMAP_MAX_KEYPOINT);
	fixture_input(f, F32, 0, 0, DIMS(1, 3, 3, 1), zeros);
	fixture_const(f, F32, 0, 0, DIMS(1, 4), (float[]){ 10, 20, 40, 80 });
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
}

static void detection(struct fixture *f)
{
	fixture_init(f, NNPU_OP_DETECTION_POSTPROCESSING);
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 3), (float[]){ 0, 0.5f, 0.25f, 0, 0.5f, 0.75f });
	fixture_input(f, F32, 0, 0, DIMS(1, 2, 4), zeros);
	fixture_input(f, F32, 0, 0, DIMS(2, 4), (float[]){ 1, 2, 2, 2, 9, 9, 2, 4 });
	for (int i = 0; i < 4; i++)
		fixture_f32(f, 10);
	fixture_bool(f, true);
	fixture_i32(f, 3);
	fixture_i32(f, 1);
	fixture_i32(f, 1);
	fixture_f32(f, 0.1f);
	fixture_f32(f, 0.5f);
	fixture_bool(f, false);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, F32, 0, 0);
	fixture_output(f, I32, 0, 0);
	fixture_output(f, I32, 0, 0);
}

static void (*const legal[])(struct fixture *f) = {
	transform, box_nms, proposals, heatmap, detection,
};

static const struct change changes[] = {
	I(transform, TYPE, 0, U16, 0, R(TYPE), 0),
	I(transform, TYPE, 1, U8, 0, R(TYPE), 0),
	I(transform, TYPE, 1, I32, 0, R(TYPE), 1),
	I(transform, DIM, 0, 3, 1, R(DIMENSION), 0),
	I(transform, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 1),
	I(transform, DIM, 1, 7, 1, R(DIMENSION), 1),
	I(transform, DIM, 2, 2, 0, R(SHAPE_MISMATCH), 2),
	I(transform, DIM, 3, 3, 1, R(DIMENSION), 3),
	F(box_nms, SCALE, 1, 0.25f, R(SCALE), 1),
	F(box_nms, SCALE, 10, 0.25f, R(SCALE), 10),
	F(box_nms, SCALE, 9, 0.25f, R(QUANT_MISMATCH), 9),
	I(box_nms, VALUE, 5, 3, 0, R(VALUE), 5),
	I(box_nms, VALUE, 5, -1, 0, R(VALUE), 5),
	I(box_nms, TYPE, 3, NNPU_TYPE_FLOAT16, 0, R(TYPE), 3),
	I(box_nms, DIM, 1, 7, 1, R(SHAPE_MISMATCH), 1),
	I(box_nms, DIM, 2, 2, 0, R(SHAPE_MISMATCH), 2),
	F(proposals, FLOAT_VALUE, 4, 0, R(VALUE), 4),
	F(proposals, FLOAT_VALUE, 5, NAN, R(VALUE), 5),
	I(proposals, DIM, 1, 5, 3, R(SHAPE_MISMATCH), 1),
	I(proposals, DIM, 2, 2, 0, R(SHAPE_MISMATCH), 2),
	I(proposals, DIM, 3, 2, 0, R(SHAPE_MISMATCH), 3),
	I(proposals, TYPE, 10, NNPU_TYPE_INT32, 0, R(TYPE), 10),
	I(heatmap, DIM, 0, 4, 1, R(DIMENSION), 0),
	I(heatmap, DIM, 1, 2, 0, R(SHAPE_MISMATCH), 1),
	I(heatmap, TYPE, 4, U16, 0, R(TYPE), 4),
	F(detection, FLOAT_VALUE, 3, 0, R(VALUE), 3),
	I(detection, VALUE, 8, 0, 0, R(VALUE), 8),
	I(detection, VALUE, 10, 0, 0, R(VALUE), 10),
	I(detection, VALUE, 9, 0, 0, R(NONE), 0),
	I(detection, DIM, 1, 3, 2, R(DIMENSION), 1),
	I(detection, DIM, 2, 3, 0, R(SHAPE_MISMATCH), 2),
	I(detection, TYPE, 0, U8, 0, R(TYPE), 0),
};

static bool output_is(const struct fixture *f, unsigned int i, const void *data, size_t bytes)
{
	const struct tensor *t = &f->graph.tensors[f->num_inputs + i];

	return t->bytes == bytes && !memcmp(t->data, data, bytes);
}

static void test_values(void)
{
	struct fixture f;

	for (int32_t batch = -1; batch < 2; batch += 2) {
		transform(&f);
		memcpy(f.data[2], &batch, sizeof(batch));
		ok(fixture_run(&f) == -1 && fixture_reason(&f) == NNPU_REASON_VALUE &&
		   fixture_bad_operand(&f) == 2, "AXIS_ALIGNED_BBOX_TRANSFORM: batch %d", batch);
		fixture_end(&f);
	}
	transform(&f);
	((float *)f.data[0])[0] = 7;
	ok(fixture_run(&f) == -1 && fixture_bad_operand(&f) == 0,
	   "AXIS_ALIGNED_BBOX_TRANSFORM: a box inside out");
	fixture_end(&f);
	heatmap(&f);
	((float *)f.data[1])[1] = NAN;
	ok(fixture_run(&f) == -1 && fixture_bad_operand(&f) == 1,
	   "HEATMAP_MAX_KEYPOINT: a box that is none");
	fixture_end(&f);
}

static void test_results(void)
{
	struct fixture f;

	transform(&f);
	memcpy(f.data[1], (float[]){ 0, 0, 0, 0, 0.5f, -0.25f, 0, 0 }, 32);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 8), (float[]){
		2, 2, 5, 6, 4, 1, 5, 5 }), "AXIS_ALIGNED_BBOX_TRANSFORM: moved and cut off");
	fixture_end(&f);

	box_nms(&f);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (uint8_t[]){ 90, 80 }) &&
	   output_is(&f, 1, (uint16_t[]){ 0, 0, 80, 88, 400, 0, 480, 80 }, 16) &&
	   output_is(&f, 2, (int32_t[]){ 1, 1 }, 8) && output_is(&f, 3, (int32_t[]){ 0, 0 }, 8),
	   "BOX_WITH_NMS_LIMIT: one of two that overlap");
	fixture_end(&f);

	box_nms(&f);
	memcpy(f.data[4], &(int32_t){ 0 }, 4);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(0), NULL), "BOX_WITH_NMS_LIMIT: none wanted");
	fixture_end(&f);

	box_nms(&f);
	for (int i = 0; i < 3; i++)
		graph_set_shape(&f.tensors[i], i == 2 ? 1 : 2,
				i == 2 ? (uint32_t[]){ 0 } : (uint32_t[]){ 0, i ? 8 : 2 });
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(0), NULL), "BOX_WITH_NMS_LIMIT: no boxes");
	fixture_end(&f);

	proposals(&f);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(2), (float[]){ 0.75f, 0.5f }) &&
	   output_is(&f, 1, (float[]){ 8, 0, 12, 4, 0, 0, 4, 4 }, 32) &&
	   output_is(&f, 2, (int32_t[]){ 0, 0 }, 8), "GENERATE_PROPOSALS: the best first");
	fixture_end(&f);

	heatmap(&f);
	memcpy(f.data[0], (float[]){ 0, 1, 0, 1, 2, 1, 0, 1, 0 }, 36);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 1), (float[]){ 2 }) &&
	   output_is(&f, 1, (float[]){ 25, 50 }, 8), "HEATMAP_MAX_KEYPOINT: the middle");
	fixture_end(&f);

	detection(&f);
	ok(!fixture_run(&f) && fixture_is(&f, DIMS(1, 3), (float[]){ 0.75f, 0.5f, 0 }) &&
	   output_is(&f, 1, (float[]){ 8, 7, 10, 11, 0, 1, 2, 3, 0, 0, 0, 0 }, 48) &&
	   output_is(&f, 2, (int32_t[]){ 1, 0, 0 }, 12) && output_is(&f, 3, (int32_t[]){ 2 }, 4),
	   "DETECTION_POSTPROCESSING: by class");
	fixture_end(&f);
}

/* Operands that are all constant: what would have to be computed is left to the job. */
static void test_load(void)
{
	static void (*const by_value[])(struct fixture *f) = { box_nms, proposals };
	struct fixture f;

	for (unsigned int i = 0; i < 2; i++) {
		by_value[i](&f);
		for (unsigned int k = 0; k < f.num_inputs; k++) {
			f.tensors[k].kind = NNPU_TENSOR_INLINE;
			f.tensors[k].data = f.data[k];
		}
		ok(!fixture_load(&f) && !f.graph.calls[0].inferred && !fixture_run(&f) &&
		   fixture_result(&f)->dims[0] == 2, "%s: nothing is computed while it is loaded",
		   op_name(f.op));
		fixture_end(&f);
	}
}

int main(void)
{
	test_legal(legal, sizeof(legal) / sizeof(legal[0]));
	test_refusals(changes, sizeof(changes) / sizeof(changes[0]));
	test_values();
	test_results();
	test_load();
	return tap_done();
}
