// SPDX-License-Identifier: MIT
/*
 * The example extension com.example.fibonacci.
 *
 * Its name, types and operation are those of the extension of the same name that comes
 * with Android's neural networks runtime.
 *
 * INT64 (0): scalar.
 * TENSOR_QUANT64_ASYMM (1): unsigned 64-bit elements that stand for
 * (element - zeroPoint) * scale, with parameters { double scale; int64_t zeroPoint; }.
 *
 * FIBONACCI (0): 0 n, an INT64 or a TENSOR_FLOAT32 of one element; the output is
 * [F(1), ..., F(n)], a TENSOR_FLOAT32 or a TENSOR_QUANT64_ASYMM of shape [n].
 */
#include "extension.h"
#include "shape.h"

#include <math.h>
#include <string.h>

enum {
	INT64,
	TENSOR_QUANT64_ASYMM,
};

struct quant64_params {
	double scale;
	int64_t zero_point;
};

_Static_assert(sizeof(struct quant64_params) == 16, "as programs know it");

static bool quant64_params_ok(const void *data)
{
	struct quant64_params params;

	memcpy(&params, data, sizeof(params));
	return isfinite(params.scale) && params.scale > 0;
}

static const struct extension_type types[] = {
	[INT64] = { .name = "INT64", .byte_size = 8 },
	[TENSOR_QUANT64_ASYMM] = {
		.name = "TENSOR_QUANT64_ASYMM", .byte_size = 8, .is_tensor = true,
		.params_size = sizeof(struct quant64_params), .params_ok = quant64_params_ok,
	},
};

/* F(186) is the last Fibonacci number that single precision and 128 bits can hold. */
#define MAX_N	186

typedef unsigned __int128 uint128_t;

/* Read n, truncated. 0; 1 if it is not known yet; -1 with error. */
static int get_n(const struct op_call *c, uint32_t *n)
{
	const struct tensor *in = c->in[0];
	int64_t integer;
	float real;

	if (!in->data)
		return 1;
	if (in->type == NNPU_TYPE_TENSOR_FLOAT32) {
		memcpy(&real, in->data, sizeof(real));
		integer = real >= 1 && real < MAX_N + 1 ? (int64_t)real : 0;
	} else {
		memcpy(&integer, in->data, sizeof(integer));
	}
	if (integer < 1 || integer > MAX_N)
		return op_fail(c, NNPU_REASON_VALUE, 0);
	*n = (uint32_t)integer;
	return 0;
}

static int check(const struct op_call *c)
{
	const struct tensor *in = c->in[0];

	for (unsigned int d = 0; in->rank_known && d < in->rank; d++)
		if (in->dims[d] > 1 || (!in->dims[d] && in->shape_known))
			return op_fail(c, NNPU_REASON_DIMENSION, 0);
	return 0;
}

static int infer(const struct op_call *c)
{
	uint32_t n;
	int ret;

	if (tensor_elements(c->in[0]) != 1)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	ret = get_n(c, &n);
	if (ret)
		return ret;
	tensor_set_shape(c->out[0], 1, &n);
	return 0;
}

/* Truncate to an integer, limited to the range of 64 bits. */
static uint64_t quantize(double value, const struct quant64_params *params)
{
	double scaled = value / params->scale + (double)params->zero_point;

	if (!(scaled > 0))
		return 0;
	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

static int execute(const struct op_call *c)
{
	const struct tensor *out = c->out[0];
	bool quant = out->type != NNPU_TYPE_TENSOR_FLOAT32;
	struct quant64_params params;
	uint64_t *integers = out->data;
	float *reals = out->data;
	uint128_t now = 1, next = 1, sum;

	if (quant)
		memcpy(&params, out->params, sizeof(params));
	for (uint32_t i = 0; i < out->dims[0]; i++) {
		if (quant)
			integers[i] = quantize((double)now, &params);
		else
			reals[i] = (float)now;
		sum = now + next;
		now = next;
		next = sum;
	}
	return 0;
}

static const struct extension_operand in[] = {
	{ .types = SIG_TYPE(TENSOR_FLOAT32) | EXTENSION_TYPE(INT64) },
};

static const struct extension_operand out[] = {
	{ .types = SIG_TYPE(TENSOR_FLOAT32) | EXTENSION_TYPE(TENSOR_QUANT64_ASYMM),
	  .min_rank = 1, .max_rank = 1 },
};

static const struct extension_operation operations[] = {
	{
		.signature = { .in = in, .num_in = 1, .out = out, .num_out = 1 },
		.desc = {
			.name = "FIBONACCI", .check = check, .infer = infer, .execute = execute,
		},
	},
};

const struct extension fibonacci_extension = {
	.name = "com.example.fibonacci", .is_example = true,
	.types = types, .num_types = sizeof(types) / sizeof(types[0]),
	.operations = operations, .num_operations = sizeof(operations) / sizeof(operations[0]),
};
