// SPDX-License-Identifier: MIT
/*
 * Elements of the types of TensorFlow Lite.
 */
#include <math.h>

#include "tflite_elem.h"

/* Elements between two looks at op_pace(). */
#define RUN	4096

int64_t elem_min(enum tflite_type e)
{
	switch (e) {
	case TFLITE_INT8:
		return INT8_MIN;
	case TFLITE_INT16:
		return INT16_MIN;
	case TFLITE_INT32:
		return INT32_MIN;
	case TFLITE_INT64:
		return INT64_MIN;
	default:
		return 0;
	}
}

int64_t elem_max(enum tflite_type e)
{
	switch (e) {
	case TFLITE_BOOL:
		return 1;
	case TFLITE_INT8:
		return INT8_MAX;
	case TFLITE_UINT8:
		return UINT8_MAX;
	case TFLITE_INT16:
		return INT16_MAX;
	case TFLITE_UINT16:
		return UINT16_MAX;
	case TFLITE_INT32:
		return INT32_MAX;
	case TFLITE_UINT32:
		return UINT32_MAX;
	default:
		return INT64_MAX;
	}
}

/* Where @real lies in steps of @t, limited far outside of the range of 16 bits. */
static int32_t bound(float real, const struct tensor *t)
{
	float steps = roundf(real / t->scale);

	steps = steps > 0x1p24f ? 0x1p24f : steps;
	return t->zero_point + (int32_t)(steps < -0x1p24f ? -0x1p24f : steps);
}

struct qrange elem_qrange(enum activation a, const struct tensor *out)
{
	enum tflite_type e = tflite_type_of(out);
	struct qrange r = { (int32_t)elem_min(e), (int32_t)elem_max(e) };
	struct frange f = frange_of(a);
	int32_t v;

	if (a != ACTIVATION_NONE) {
		v = bound(f.min, out);
		r.min = v > r.min ? v : r.min;
	}
	if (a == ACTIVATION_RELU1 || a == ACTIVATION_RELU6) {
		v = bound(f.max, out);
		r.max = v < r.max ? v : r.max;
	}
	return r;
}

void elem_range(enum activation a, enum tflite_type e, int64_t *min, int64_t *max)
{
	*min = a == ACTIVATION_NONE ? elem_min(e) : a == ACTIVATION_RELU1 ? -1 : 0;
	/* An unsigned type has no -1. */
	*min = *min < elem_min(e) ? elem_min(e) : *min;
	*max = a == ACTIVATION_RELU1 ? 1 : a == ACTIVATION_RELU6 ? 6 : elem_max(e);
}

int elem_map(const struct op_call *c, elem_fn fn, const void *state)
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->out[0]);
	size_t in = type_size(c->in[0]->type), out = type_size(c->out[0]->type);

	for (size_t at = 0, n; at < total; at += n) {
		n = total - at < RUN ? total - at : RUN;
		fn(state, (const char *)c->in[0]->data + at * in, (char *)c->out[0]->data + at * out,
		   n);
		if (op_pace(&pace, n * 16))
			return OP_ABORTED;
	}
	return 0;
}

int elem_check_same(const struct op_call *c)
{
	return op_check_same_type(c, op_output(c, 0), 0) ||
	       op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int elem_check_pair(const struct op_call *c)
{
	return op_check_same_type(c, 1, 0) || op_check_rank(c, 1, 1, NNPU_MAX_RANK) ||
	       elem_check_same(c) ? -1 : 0;
}
