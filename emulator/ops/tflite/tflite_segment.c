// SPDX-License-Identifier: MIT
/*
 * SEGMENT_SUM and UNSORTED_SEGMENT_SUM, _PROD, _MIN and _MAX: rows of a tensor are combined.
 *
 * SEGMENT_SUM: 0 tensor, 1 segment of each row, from 0 on, each the last one or the next.
 * UNSORTED_SEGMENT_*: 0 tensor, 1 segment of each part, of a shape that the tensor's begins with,
 * negative: none, 2 number of segments.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <float.h>
#include <string.h>

enum combination { SUM, PROD, MIN, MAX };

/* Elements of a row between two looks at op_pace(). */
#define RUN		4096u

#define COMBINE(op) do { \
	for (size_t i = 0; i < n; i++) \
		to[i] = (op); \
} while (0)

static void combine_reals(enum combination how, const float *from, float *to, size_t n)
{
	switch (how) {
	case SUM:
		COMBINE(to[i] + from[i]);
		break;
	case PROD:
		COMBINE(to[i] * from[i]);
		break;
	case MIN:
		COMBINE(from[i] < to[i] ? from[i] : to[i]);
		break;
	case MAX:
		COMBINE(to[i] < from[i] ? from[i] : to[i]);
		break;
	}
}

/* Sums and products wrap. */
static void combine_integers(enum combination how, const int32_t *from, int32_t *to, size_t n)
{
	switch (how) {
	case SUM:
		COMBINE((int32_t)((uint32_t)to[i] + (uint32_t)from[i]));
		break;
	case PROD:
		COMBINE((int32_t)((uint32_t)to[i] * (uint32_t)from[i]));
		break;
	case MIN:
		COMBINE(from[i] < to[i] ? from[i] : to[i]);
		break;
	case MAX:
		COMBINE(to[i] < from[i] ? from[i] : to[i]);
		break;
	}
}

/* What a segment without rows has. */
static uint32_t initial_value(enum combination how, bool is_real)
{
	static const float reals[] = { 0, 1, FLT_MAX, -FLT_MAX };
	static const int32_t integers[] = { 0, 1, INT32_MAX, INT32_MIN };
	uint32_t bits;

	memcpy(&bits, is_real ? (const void *)&reals[how] : (const void *)&integers[how],
	       sizeof(bits));
	return bits;
}

/*
 * Combine @count parts into the segments that their ids name. @sorted: ids are as SEGMENT_SUM has
 * them.
 */
static int combine(const struct op_call *c, enum combination how, bool sorted)
{
	struct op_pace pace = { .progress = c->progress };
	const struct tensor *t = c->in[0], *out = c->out[0];
	bool is_real = t->type == NNPU_TYPE_TENSOR_FLOAT32;
	uint32_t value = initial_value(how, is_real);
	size_t count = tensor_elements(c->in[1]);
	size_t part = tensor_elements_of(t, c->in[1]->rank, t->rank), run;
	int64_t last = -1;

	if (nd_fill(&pace, out->data, sizeof(value), tensor_elements(out), &value))
		return OP_ABORTED;
	for (size_t k = 0; k < count; k++) {
		int64_t id = tflite_int_at(c, 1, k);
		const char *from = (const char *)t->data + k * part * sizeof(value);

		if (id >= out->dims[0] || (sorted && (id < last || id > last + 1 || (!k && id))))
			return op_fail(c, NNPU_REASON_VALUE, 1);
		last = id;
		for (size_t at = 0; id >= 0 && at < part; at += run) {
			char *to = (char *)out->data + ((size_t)id * part + at) * sizeof(value);

			run = part - at < RUN ? part - at : RUN;
			if (is_real)
				combine_reals(how, (const float *)from + at, (float *)to, run);
			else
				combine_integers(how, (const int32_t *)from + at, (int32_t *)to, run);
			if (op_pace(&pace, run))
				return OP_ABORTED;
		}
		if (op_pace(&pace, 16))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_segment_sum_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

/* The ids rise by one at most, so the last one says how many there are. */
int tflite_segment_sum_infer(const struct op_call *c)
{
	const struct tensor *ids = c->in[1];
	uint32_t dims[NNPU_MAX_RANK];
	int64_t last = -1;

	if (op_check_rank(c, 1, 1, 1))
		return -1;
	if (ids->dims[0] != c->in[0]->dims[0])
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (!tensor_data_known(ids))
		return 1;
	if (ids->dims[0]) {
		last = tflite_int_at(c, 1, ids->dims[0] - 1u);
		if (last < 0 || last >= ids->dims[0])
			return op_fail(c, NNPU_REASON_VALUE, 1);
	}
	memcpy(dims, c->in[0]->dims, sizeof(dims));
	dims[0] = (uint32_t)(last + 1);
	tensor_set_shape(c->out[0], c->in[0]->rank, dims);
	return 0;
}

int tflite_segment_sum_execute(const struct op_call *c)
{
	return combine(c, SUM, true);
}

int tflite_unsorted_segment_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_unsorted_segment_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0], *ids = c->in[1];
	uint32_t dims[NNPU_MAX_RANK];
	int64_t count;

	if (ids->rank > t->rank)
		return op_fail(c, NNPU_REASON_RANK, 1);
	if (memcmp(ids->dims, t->dims, ids->rank * sizeof(ids->dims[0])))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	if (tensor_elements(c->in[2]) != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	if (!tensor_data_known(c->in[2]))
		return 1;
	count = tflite_int_at(c, 2, 0);
	if (count < 0)
		return op_fail(c, NNPU_REASON_VALUE, 2);
	dims[0] = (uint32_t)count;
	memcpy(dims + 1, t->dims + ids->rank, ((size_t)t->rank - ids->rank) * sizeof(dims[0]));
	tensor_set_shape(c->out[0], t->rank - ids->rank + 1u, dims);
	return 0;
}

int tflite_unsorted_segment_sum_execute(const struct op_call *c)
{
	return combine(c, SUM, false);
}

int tflite_unsorted_segment_prod_execute(const struct op_call *c)
{
	return combine(c, PROD, false);
}

int tflite_unsorted_segment_min_execute(const struct op_call *c)
{
	return combine(c, MIN, false);
}

int tflite_unsorted_segment_max_execute(const struct op_call *c)
{
	return combine(c, MAX, false);
}
