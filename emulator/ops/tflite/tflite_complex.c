// SPDX-License-Identifier: MIT
/*
 * IMAG, REAL and COMPLEX_ABS of org.nnpu.tflite: 0 TENSOR_COMPLEX64; the output is a
 * TENSOR_FLOAT32 of the same shape.
 */
#include <math.h>

#include "tflite_ops.h"

static float real_of(const float *v)
{
	return v[0];
}

static float imag_of(const float *v)
{
	return v[1];
}

static float abs_of(const float *v)
{
	return hypotf(v[0], v[1]);
}

static int execute(const struct op_call *c, float (*of)(const float *v))
{
	struct op_pace pace = { .progress = c->progress };
	const float *in = c->in[0]->data;
	float *out = c->out[0]->data;
	size_t n = tensor_elements(c->in[0]);

	for (size_t i = 0; i < n; i++) {
		out[i] = of(in + 2 * i);
		if (op_pace_row(&pace, i, 8))
			return OP_ABORTED;
	}
	return 0;
}

static int check(const struct op_call *c)
{
	(void)c;
	return 0;
}

int tflite_real_check(const struct op_call *c)
{
	return check(c);
}

int tflite_real_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

int tflite_real_execute(const struct op_call *c)
{
	return execute(c, real_of);
}

int tflite_imag_check(const struct op_call *c)
{
	return check(c);
}

int tflite_imag_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

int tflite_imag_execute(const struct op_call *c)
{
	return execute(c, imag_of);
}

int tflite_complex_abs_check(const struct op_call *c)
{
	return check(c);
}

int tflite_complex_abs_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

int tflite_complex_abs_execute(const struct op_call *c)
{
	return execute(c, abs_of);
}
