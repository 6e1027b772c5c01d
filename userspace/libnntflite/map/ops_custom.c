// SPDX-License-Identifier: MIT
/*
 * Custom operators that have become a habit: TFLite_Detection_PostProcess.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "../file/flexbuf.h"
#include "map_ops.h"

/* Inputs and outputs of the operator. */
enum { DETECTION_DELTAS, DETECTION_SCORES, DETECTION_ANCHORS, DETECTION_INPUTS };
enum {
	DETECTION_BOXES, DETECTION_CLASSES, DETECTION_CONFIDENCES, DETECTION_COUNT,
	DETECTION_OUTPUTS,
};

/* Its options as the HAL has them. */
struct detection {
	float scales[4];
	bool regular;
	int32_t most;
	int32_t classes_per_detection;
	int32_t detections_per_class;
	int32_t classes;
	float score;
	float overlap;
};

static int number(struct mapper *m, const struct flex_map *map, const char *key, bool needed,
		  double low, double high, double *value)
{
	if (!flex_number(map, key, value)) {
		if (needed)
			return map_fail(m, "its options have no number '%s'", key);
		return 0;
	}
	if (!(*value >= low && *value <= high))
		return map_fail(m, "its option '%s' is %g, expected %g to %g", key, *value, low,
				high);
	return 0;
}

static int read_options(struct mapper *m, struct detection *d)
{
	static const char *const scales[] = { "y_scale", "x_scale", "h_scale", "w_scale" };
	double v[4], most = 0, per_box = 0, per_class = 100, regular = 0, score = 0, overlap = 0;
	double classes = 0;
	struct flex_map map;
	uint32_t i;

	if (!flex_map(&m->op->custom_options, &map))
		return map_fail(m, "its options are no FlexBuffer with a map");
	for (i = 0; i < 4; i++)
		if (number(m, &map, scales[i], true, 1e-6, 1e6, &v[i]))
			return -1;
	if (number(m, &map, "max_detections", true, 1, 1 << 20, &most) ||
	    number(m, &map, "max_classes_per_detection", true, 1, 1 << 20, &per_box) ||
	    number(m, &map, "num_classes", true, 1, 1 << 20, &classes) ||
	    number(m, &map, "detections_per_class", false, 1, 1 << 20, &per_class) ||
	    number(m, &map, "use_regular_nms", false, 0, 1, &regular) ||
	    number(m, &map, "nms_score_threshold", true, -1e30, 1e30, &score) ||
	    number(m, &map, "nms_iou_threshold", true, 0, 1, &overlap))
		return -1;
	for (i = 0; i < 4; i++)
		d->scales[i] = (float)v[i];
	d->regular = regular != 0;
	d->most = (int32_t)most;
	d->classes_per_detection = (int32_t)per_box;
	d->classes = (int32_t)classes;
	d->detections_per_class = (int32_t)per_class;
	d->score = (float)score;
	d->overlap = (float)overlap;
	return 0;
}

/* Are the three inputs float16, as the HAL wants all of them or none? */
static bool all_half(const struct mapper *m)
{
	uint32_t i;

	for (i = 0; i < DETECTION_INPUTS; i++)
		if (!input_tensor(m, i) || input_tensor(m, i)->type != TFLITE_FLOAT16)
			return false;
	return true;
}

/* Input @pos as floats: the HAL's operation takes no others. */
static int float_input(struct mapper *m, uint32_t pos, bool half)
{
	const struct tflite_tensor *tensor = input_tensor(m, pos);
	int input = input_operand(m, pos), output;
	uint32_t type = NNHAL_OPERATION_DEQUANTIZE;

	if (input < 0 || half || m->g->operands[input].type == NNHAL_OPERAND_TENSOR_FLOAT32)
		return input;
	if (tensor->type == TFLITE_FLOAT16)
		type = NNHAL_OPERATION_CAST;
	output = float_operand(m, tensor_shape(m, tensor));
	if (output < 0 || add_operation(m, type, &input, 1, output))
		return -1;
	return output;
}

/*
 * Scores with a background as class 0, which the HAL's operation expects and never looks at. Files
 * without it say so by as many classes as there are scores.
 */
static int scores_input(struct mapper *m, const struct detection *d, bool half)
{
	const struct tflite_tensor *tensor = input_tensor(m, DETECTION_SCORES);
	static const uint32_t sizes[] = { 3, 2 };
	static const int32_t in_front[] = { 0, 0, 0, 0, 1, 0 };
	struct nnhal_operand pads = {
		.type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 2, .dimensions = sizes,
	};
	int input = float_input(m, DETECTION_SCORES, half), inputs[2], output;
	struct shape shape;

	if (input < 0)
		return -1;
	shape = *tensor_shape(m, tensor);
	if (shape.rank != 3 || !shape.dims[2])
		return tensor_fail(m, tensor, "its shape is not known, expected [1, boxes, classes]");
	if (shape.dims[2] == (uint32_t)d->classes + 1)
		return input;
	if (shape.dims[2] != (uint32_t)d->classes)
		return tensor_fail(m, tensor, "%" PRIu32 " scores per box for %" PRId32 " classes,"
				   " expected as many or one more", shape.dims[2], d->classes);
	shape.dims[2]++;
	inputs[0] = input;
	inputs[1] = hal_add_copied(m->g, &pads, in_front, sizeof(in_front), HAL_NO_ORIGIN, m->diag);
	output = inputs[1] < 0 ? -1 : temporary_operand(m, (uint32_t)input, &shape);
	if (output < 0 || add_operation(m, NNHAL_OPERATION_PAD, inputs, 2, output))
		return -1;
	return output;
}

/* A result of type TENSOR_INT32, and behind the operation a CAST to the tensor of the file. */
static int int32_result(struct mapper *m)
{
	struct nnhal_operand operand = { .type = NNHAL_OPERAND_TENSOR_INT32 };

	return hal_add_operand(m->g, &operand, HAL_NO_ORIGIN, m->diag);
}

static int cast_result(struct mapper *m, int from, uint32_t pos)
{
	int output = output_operand(m, pos);

	return output < 0 ? -1 : add_operation(m, NNHAL_OPERATION_CAST, &from, 1, output);
}

static void put_number(struct mapper *m, struct inputs *in, float value, bool half)
{
	if (!in->failed)
		put(in, half ? hal_add_float16(m->g, value, m->diag) :
			       hal_add_float32(m->g, value, m->diag));
}

static int map_detection(struct mapper *m)
{
	struct inputs in = { .count = 0 };
	struct detection d = { .regular = false };
	bool half = all_half(m);
	int outputs[4];
	uint32_t i;

	if (m->op->inputs.count != DETECTION_INPUTS || m->op->outputs.count != DETECTION_OUTPUTS)
		return map_fail(m, "%" PRIu32 " inputs and %" PRIu32 " outputs, expected %d and %d",
				m->op->inputs.count, m->op->outputs.count, DETECTION_INPUTS,
				DETECTION_OUTPUTS);
	if (read_options(m, &d))
		return -1;
	put(&in, scores_input(m, &d, half));
	if (!in.failed)
		put(&in, float_input(m, DETECTION_DELTAS, half));
	if (!in.failed)
		put(&in, float_input(m, DETECTION_ANCHORS, half));
	for (i = 0; i < 4; i++)
		put_number(m, &in, d.scales[i], half);
	put_bool(m, &in, d.regular);
	put_int32(m, &in, d.most);
	put_int32(m, &in, d.classes_per_detection);
	put_int32(m, &in, d.detections_per_class);
	put_number(m, &in, d.score, half);
	put_number(m, &in, d.overlap, half);
	/* Class 0 is the background, and no result counts it. */
	put_bool(m, &in, false);
	if (in.failed)
		return -1;
	outputs[0] = output_operand(m, DETECTION_CONFIDENCES);
	outputs[1] = outputs[0] < 0 ? -1 : output_operand(m, DETECTION_BOXES);
	outputs[2] = outputs[1] < 0 ? -1 : int32_result(m);
	outputs[3] = outputs[2] < 0 ? -1 : int32_result(m);
	if (outputs[3] < 0 ||
	    add_operation_outputs(m, NNHAL_OPERATION_DETECTION_POSTPROCESSING, in.list, in.count,
				  outputs, 4) ||
	    cast_result(m, outputs[2], DETECTION_CLASSES))
		return -1;
	return cast_result(m, outputs[3], DETECTION_COUNT);
}

int map_custom(struct mapper *m, uint32_t type)
{
	static const char detection[] = "TFLite_Detection_PostProcess";
	struct text name = m->op->custom_name;

	(void)type;
	if (name.length == strlen(detection) && !memcmp(name.data, detection, name.length))
		return map_detection(m);
	return map_fail(m, "custom operator '%s' is not supported", TEXT(name));
}
