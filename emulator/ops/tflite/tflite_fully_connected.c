// SPDX-License-Identifier: MIT
/*
 * FULLY_CONNECTED of org.nnpu.tflite.
 *
 * Inputs: 0 tensor, taken as rows of the input size, 1 weights [units, input size], 2 bias
 * [units] (may be omitted), 3 activation, 4 format of the weights, 5 whether the output keeps the
 * dimensions in front, 6 is for other types and not used, 7 type of the bias.
 *
 * Rows of floats and of bytes are convolutions of one pixel each.
 */
#include "ops/conv.h"
#include "ops/nd_copy.h"
#include "tflite_conv.h"

enum { AT_ACTIVATION = 3, AT_FORMAT, AT_KEEP_DIMS, AT_BIAS_TYPE = 7 };

struct dense {
	struct tflite_conv sums;
	uint32_t rows, size;
	bool keep_dims;
};

int tflite_fully_connected_check(const struct op_call *c)
{
	enum activation a;
	int32_t format;

	if (tflite_conv_check(c, 0, 1, 2, 0) || op_get_activation(c, AT_ACTIVATION, &a) < 0)
		return -1;
	if (!op_get_i32(c, AT_FORMAT, &format) && format)
		return op_fail(c, NNPU_REASON_VALUE, AT_FORMAT);
	return 0;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct dense *d)
{
	const struct tensor *in = c->in[0], *weights = c->in[1];
	size_t elements = tensor_elements(in);
	int32_t format, type;
	int ret;

	*d = (struct dense){ 0 };
	if (op_check_rank(c, 1, 2, 2))
		return -1;
	ret = op_get_activation(c, AT_ACTIVATION, &d->sums.activation);
	if (ret)
		return ret;
	if (op_get_i32(c, AT_FORMAT, &format) || op_get_bool(c, AT_KEEP_DIMS, &d->keep_dims))
		return 1;
	if (format)
		return op_fail(c, NNPU_REASON_VALUE, AT_FORMAT);
	d->sums.channels = weights->dims[0];
	d->size = weights->dims[1];
	if (d->sums.channels == 0 || d->size == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	if (elements % d->size || (d->keep_dims && in->dims[in->rank - 1u] != d->size))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 0);
	if (elements / d->size > UINT32_MAX)
		return op_fail(c, NNPU_REASON_OVERFLOW, 0);
	d->rows = (uint32_t)(elements / d->size);
	ret = tflite_conv_operands(c, &d->sums, 0, 1, 2, AT_BIAS_TYPE);
	if (ret || d->sums.bias)
		return ret;
	/* Here sums without a bias are narrow, unless the operator says something else. */
	if (op_get_i32(c, AT_BIAS_TYPE, &type))
		return 1;
	d->sums.wide &= type == TFLITE_INT64;
	return 0;
}

int tflite_fully_connected_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = 2;
	struct dense d;
	int ret = geometry(c, &d);

	if (ret)
		return ret;
	dims[0] = d.rows;
	if (d.keep_dims) {
		rank = c->in[0]->rank;
		for (unsigned int i = 0; i < rank; i++)
			dims[i] = c->in[0]->dims[i];
	}
	dims[rank - 1] = d.sums.channels;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

/* Is it a product that conv.h computes? */
static bool is_conv(const struct op_call *c)
{
	return c->in[0]->type != NNPU_TYPE_TENSOR_QUANT16_SYMM;
}

int tflite_fully_connected_prepare(struct op_call *c, size_t *bytes)
{
	const struct tensor *weights = c->in[1];

	if (!is_conv(c) || !tensor_is_const(weights) || !weights->shape_known)
		return 0;
	return conv_prepare(c, weights->dims[0], weights->dims[1], bytes);
}

size_t tflite_fully_connected_scratch(const struct op_call *c)
{
	uint32_t units = c->in[1]->dims[0];

	if (!is_conv(c))
		return tflite_conv_scratch(units);
	return scratch_add(scratch_add(0, units, sizeof(int32_t)),
			   conv_scratch(c, units, c->in[1]->dims[1]), 1);
}

static int execute_conv(const struct op_call *c, const struct dense *d)
{
	struct op_pace pace = { .progress = c->progress };
	struct tensor bias = { .type = NNPU_TYPE_TENSOR_INT32, .rank = 1 };
	struct op_call own = *c;
	struct tensor *in[] = { c->in[0], c->in[1], c->in[2] };
	size_t bytes = d->sums.channels * sizeof(int32_t);
	struct conv cv;

	bias.data = scratch_take(&own, bytes);
	bias.dims[0] = d->sums.channels;
	bias.bytes = bytes;
	if (!d->sums.bias) {
		if (nd_fill(&pace, bias.data, 1, bytes, &(uint8_t){ 0 }))
			return OP_ABORTED;
		in[2] = &bias;
	}
	own.in = in;
	own.num_inputs = 3;
	conv_of_rows(&cv, d->rows, d->size, d->sums.channels);
	cv.activation = d->sums.activation;
	return conv_execute(&own, &cv);
}

int tflite_fully_connected_execute(const struct op_call *c)
{
	struct dense d;

	if (geometry(c, &d))
		return -1;
	if (is_conv(c))
		return execute_conv(c, &d);
	if (tflite_conv_start(c, &d.sums, true))
		return OP_ABORTED;
	for (size_t row = 0, at = 0; row < d.rows; row++) {
		for (uint32_t i = 0; i < d.sums.channels; i++, at++) {
			union tflite_sum sum = { .whole = 0 };

			if (tflite_conv_add(&d.sums, &sum, row * d.size, (size_t)i * d.size,
					    d.size) || op_pace(&d.sums.pace, 16))
				return OP_ABORTED;
			tflite_conv_store(&d.sums, sum, i, at);
		}
	}
	return 0;
}
