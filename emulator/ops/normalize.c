// SPDX-License-Identifier: MIT
/*
 * L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION, LOG_SOFTMAX and
 * INSTANCE_NORMALIZATION.
 *
 * L2_NORMALIZATION: 0 tensor, 1 axis (optional, the last one).
 * LOCAL_RESPONSE_NORMALIZATION: 0 tensor, 1 radius, 2 bias, 3 alpha, 4 beta, 5 axis
 * (optional, the last one).
 * LOG_SOFTMAX: 0 tensor, 1 beta, 2 axis.
 * INSTANCE_NORMALIZATION: 0 image, 1 gamma, 2 beta, 3 epsilon, 4 layout flag.
 */
#include <float.h>
#include <math.h>

#include "ops.h"
#include "quant.h"
#include "window.h"

static unsigned int max_rank(const struct op_call *c)
{
	return c->desc->op == NNPU_OP_LOG_SOFTMAX ? NNPU_MAX_RANK : OP_MAX_RANK;
}

/* Rows along the axis that operand @i says, or the last one if there is none. */
static int rows_of(const struct op_call *c, unsigned int i, struct rows *rows)
{
	return op_check_rank(c, 0, 1, max_rank(c)) ? -1 : op_get_rows(c, i, rows);
}

/* Checks of the three operations with an axis, which is operand @axis. */
static int check_rows(const struct op_call *c, uint32_t types, unsigned int axis)
{
	if (op_check_operands(c) || op_check_type(c, 0, types) ||
	    op_check_same_type(c, op_output(c, 0), 0) || op_check_rank(c, 0, 1, max_rank(c)) ||
	    op_check_rank(c, op_output(c, 0), 1, max_rank(c)))
		return -1;
	return c->num_inputs > axis ? op_check_type(c, axis, TYPE_BIT(INT32)) : 0;
}

static int infer_rows(const struct op_call *c, unsigned int axis)
{
	struct rows rows;
	int ret = rows_of(c, axis, &rows);

	return ret ? ret : op_infer_same_shape(c);
}

/* L2_NORMALIZATION. */

int l2_normalization_check(const struct op_call *c)
{
	if (check_rows(c, TYPES_FLOAT | TYPES_QUANT8, 1))
		return -1;
	if (!type_is_quant8(c->in[0]->type))
		return 0;
	return op_check_quant(c, op_output(c, 0), 1.0f / 128,
			      q_type_min(c->in[0]->type) + 128);
}

int l2_normalization_infer(const struct op_call *c)
{
	return infer_rows(c, 1);
}

static void l2_row_float(struct op_pace *pace, const float *in, float *out, const struct rows *r)
{
	size_t apart = r->inner * sizeof(float);
	float sum = 0.0f, norm;

	for (size_t i = 0; i < r->size && !op_pace_strided(pace, i, apart, 4); i++)
		sum += in[i * r->inner] * in[i * r->inner];
	norm = sqrtf(sum);
	for (size_t i = 0; i < r->size && !op_pace_strided(pace, i, apart, 4); i++)
		out[i * r->inner] = norm > 0.0f ? in[i * r->inner] / norm : 0.0f;
}

static void l2_row_quant(struct op_pace *pace, const struct op_call *c, size_t at,
			 const struct rows *r)
{
	const uint8_t *in = (const uint8_t *)c->in[0]->data + at;
	uint8_t *out = (uint8_t *)c->out[0]->data + at;
	struct qbyte b = qbyte_of(c->in[0]);
	int64_t sum = 0;
	double norm;

	for (size_t i = 0; i < r->size && !op_pace_strided(pace, i, r->inner, 4); i++) {
		int32_t v = qbyte_value(in[i * r->inner], b);

		sum += v * v;
	}
	norm = sqrt((double)sum);
	for (size_t i = 0; i < r->size && !op_pace_strided(pace, i, r->inner, 4); i++) {
		int32_t v = qbyte_value(in[i * r->inner], b);

		out[i * r->inner] = q_from_real(c->out[0], norm > 0 ? v / norm : 0);
	}
}

int l2_normalization_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct rows r;

	if (rows_of(c, 1, &r))
		return -1;
	for (size_t i = 0; i < r.outer * r.inner; i++) {
		size_t at = row_start(&r, i);

		if (type_is_quant8(c->in[0]->type))
			l2_row_quant(&pace, c, at, &r);
		else
			l2_row_float(&pace, (const float *)c->in[0]->data + at,
				     (float *)c->out[0]->data + at, &r);
		if (op_pace(&pace, op_pace_rest(r.size, r.inner * type_size(c->in[0]->type), 8) + 16))
			return OP_ABORTED;
	}
	return 0;
}

/* LOCAL_RESPONSE_NORMALIZATION. */

int lrn_check(const struct op_call *c)
{
	int32_t radius;

	if (check_rows(c, TYPES_FLOAT, 5) || op_check_type(c, 1, TYPE_BIT(INT32)) ||
	    op_check_float_scalar(c, 2) || op_check_float_scalar(c, 3) ||
	    op_check_float_scalar(c, 4))
		return -1;
	if (!op_get_i32(c, 1, &radius) && radius < 0)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return 0;
}

int lrn_infer(const struct op_call *c)
{
	return infer_rows(c, 5);
}

int lrn_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	float bias = 0, alpha = 0, beta = 0;
	int32_t radius = 0;
	struct rows r;
	size_t apart;

	op_get_i32(c, 1, &radius);
	op_get_f32(c, 2, &bias);
	op_get_f32(c, 3, &alpha);
	op_get_f32(c, 4, &beta);
	if (radius < 0)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	if (rows_of(c, 5, &r))
		return -1;
	apart = r.inner * sizeof(float);
	for (size_t i = 0; i < r.outer * r.inner; i++) {
		const float *in = (const float *)c->in[0]->data + row_start(&r, i);
		float *out = (float *)c->out[0]->data + row_start(&r, i);

		for (size_t j = 0; j < r.size; j++) {
			size_t first = j > (size_t)radius ? j - (size_t)radius : 0;
			size_t last = r.size - j > (size_t)radius ? j + (size_t)radius + 1 :
								    r.size;
			float sum = 0.0f;

			for (size_t k = first; k < last && !op_pace_strided(&pace, k, apart, 2); k++)
				sum += in[k * r.inner] * in[k * r.inner];
			out[j * r.inner] = in[j * r.inner] * powf(bias + alpha * sum, -beta);
			if (op_pace(&pace, op_pace_rest(last - first, apart, 2) + 32))
				return OP_ABORTED;
		}
	}
	return 0;
}

/* LOG_SOFTMAX. */

static int read_beta(const struct op_call *c, float *beta)
{
	if (op_get_f32(c, 1, beta))
		return 1;
	if (!(*beta > 0 && isfinite(*beta)))
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return 0;
}

int log_softmax_check(const struct op_call *c)
{
	float beta;

	if (check_rows(c, TYPES_FLOAT, 2) || op_check_float_scalar(c, 1))
		return -1;
	return read_beta(c, &beta) < 0 ? -1 : 0;
}

int log_softmax_infer(const struct op_call *c)
{
	return infer_rows(c, 2);
}

int log_softmax_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	struct rows r;
	size_t apart;
	float beta;

	if (read_beta(c, &beta) || rows_of(c, 2, &r))
		return -1;
	apart = r.inner * sizeof(float);
	for (size_t i = 0; i < r.outer * r.inner; i++) {
		const float *in = (const float *)c->in[0]->data + row_start(&r, i);
		float *out = (float *)c->out[0]->data + row_start(&r, i);
		float max = -FLT_MAX, sum = 0.0f;

		for (size_t j = 0; j < r.size && !op_pace_strided(&pace, j, apart, 2); j++)
			max = in[j * r.inner] > max ? in[j * r.inner] : max;
		for (size_t j = 0; j < r.size && !op_pace_strided(&pace, j, apart, 8); j++)
			sum += expf((in[j * r.inner] - max) * beta);
		sum = logf(sum);
		for (size_t j = 0; j < r.size && !op_pace_strided(&pace, j, apart, 2); j++)
			out[j * r.inner] = (in[j * r.inner] - max) * beta - sum;
		if (op_pace(&pace, op_pace_rest(r.size, apart, 12) + 32))
			return OP_ABORTED;
	}
	return 0;
}

/* INSTANCE_NORMALIZATION. */

int instance_normalization_check(const struct op_call *c)
{
	return op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT) ||
	       op_check_same_type(c, op_output(c, 0), 0) || op_check_rank(c, 0, 4, 4) ||
	       op_check_rank(c, op_output(c, 0), 4, 4) || op_check_float_scalar(c, 1) ||
	       op_check_float_scalar(c, 2) || op_check_float_scalar(c, 3) ||
	       op_check_type(c, 4, TYPE_BIT(BOOL)) ? -1 : 0;
}

int instance_normalization_infer(const struct op_call *c)
{
	return op_check_rank(c, 0, 4, 4) ? -1 : op_infer_same_shape(c);
}

/* One channel of one batch, from @in and @out on. */
static void normalize_channel(struct op_pace *pace, const struct image *m, const float *in,
			      float *out, float gamma, float beta, float epsilon)
{
	float count = (float)((size_t)m->y * m->x), sum = 0.0f, squares = 0.0f, mean, factor;
	size_t apart = m->x_stride * sizeof(float), rest = op_pace_rest(m->x, apart, 4) + 8;

	for (uint32_t y = 0; y < m->y && !op_pace(pace, rest); y++) {
		for (uint32_t x = 0; x < m->x && !op_pace_strided(pace, x, apart, 4); x++)
			sum += in[y * m->y_stride + x * m->x_stride];
	}
	mean = sum / count;
	for (uint32_t y = 0; y < m->y && !op_pace(pace, rest); y++) {
		for (uint32_t x = 0; x < m->x && !op_pace_strided(pace, x, apart, 4); x++) {
			float d = in[y * m->y_stride + x * m->x_stride] - mean;

			squares += d * d;
		}
	}
	factor = gamma / sqrtf(squares / count + epsilon);
	for (uint32_t y = 0; y < m->y && !op_pace(pace, rest); y++) {
		for (uint32_t x = 0; x < m->x && !op_pace_strided(pace, x, apart, 4); x++) {
			size_t at = y * m->y_stride + x * m->x_stride;

			out[at] = (in[at] - mean) * factor + beta;
		}
	}
}

int instance_normalization_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	float gamma = 0, beta = 0, epsilon = 0;
	bool nchw = false;
	struct image m;

	op_get_f32(c, 1, &gamma);
	op_get_f32(c, 2, &beta);
	op_get_f32(c, 3, &epsilon);
	op_get_bool(c, 4, &nchw);
	m = image_of(c->in[0], nchw);
	for (uint32_t n = 0; n < m.n; n++) {
		for (uint32_t i = 0; i < m.c; i++) {
			size_t at = n * m.n_stride + i * m.c_stride;

			normalize_channel(&pace, &m, (const float *)c->in[0]->data + at,
					  (float *)c->out[0]->data + at, gamma, beta, epsilon);
			if (op_pace(&pace, 32))
				return OP_ABORTED;
		}
	}
	return 0;
}
