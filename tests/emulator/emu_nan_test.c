// SPDX-License-Identifier: MIT
/*
 * NaN in operands: Documentation/operations/arithmetic.rst says what each class of operations
 * makes of it. And a program with NNPU_PROGRAM_RELAXED gives the bytes of one without.
 */
#include <endian.h>
#include <math.h>
#include <string.h>

#include "rig.h"
#include "tap.h"

#define CTX	1u
#define PROGRAM	1u
#define N	4u

static struct rig rig;
static struct job_rig j;

static const float first[N] = { 1, NAN, 3, NAN };
static const float second[N] = { NAN, 2, 3, NAN };

/* An operation on inputs of N floats and int32 constants. */
struct operation {
	uint32_t opcode;
	unsigned int inputs;		/* 0: one */
	unsigned int scalars;
	int32_t scalar[7];
	unsigned int type;		/* of the output; 0: TENSOR_FLOAT32 */
	uint32_t bytes;			/* of an element of the output; 0: 4 */
	uint32_t length;		/* elements of the output; 0: N */
	uint32_t flags;			/* of the program */
	bool picture;			/* [1,2,2,1] instead of [4] */
};

static uint32_t data_tensor(struct image *im, const struct operation *o, unsigned int type,
			    unsigned int kind, uint32_t n)
{
	if (o->picture)
		return n == N ? image_tensor(im, type, kind, 1, 2, 2, 1, -1) :
				image_tensor(im, type, kind, 1, 1, 1, 1, -1);
	return image_tensor(im, type, kind, (int)n, -1);
}

static struct operation complete(const struct operation *given)
{
	struct operation o = *given;

	if (!o.inputs)
		o.inputs = 1;
	if (!o.type)
		o.type = NNPU_TYPE_TENSOR_FLOAT32;
	if (!o.bytes)
		o.bytes = 4;
	if (!o.length)
		o.length = N;
	return o;
}

static void run(const char *what, const struct operation *given, void *out)
{
	const struct operation all = complete(given), *o = &all;
	uint32_t list[12], num = 0, i, t;
	struct nnpu_arg *args;
	struct nnpu_cqe cqe;
	struct image im;
	int status;

	image_init(&im);
	for (i = 0; i < o->inputs; i++)
		list[num++] = data_tensor(&im, o, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, N);
	for (i = 0; i < o->scalars; i++)
		list[num++] = image_scalar(&im, o->scalar[i]);
	t = data_tensor(&im, o, o->type, NNPU_TENSOR_OUTPUT, o->length);
	if (o->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM) {
		const float scale = 0.5f;

		memcpy(&im.tensors[t].scale, &scale, sizeof(scale));
		im.tensors[t].zero_point = htole32(7);
	}
	list[num++] = t;
	image_command(&im, o->opcode, num - 1, 1, list[0], list[1], num > 2 ? list[2] : 0u,
		      num > 3 ? list[3] : 0u, num > 4 ? list[4] : 0u, num > 5 ? list[5] : 0u,
		      num > 6 ? list[6] : 0u, num > 7 ? list[7] : 0u, num > 8 ? list[8] : 0u);
	image_finish(&im);
	image_header(&im)->flags = htole32(o->flags);
	status = rig_load(&rig, CTX, PROGRAM, im.bytes, im.size, &cqe);
	image_free(&im);
	args = job_args(&j, o->inputs, 1);
	for (i = 0; i < o->inputs; i++) {
		job_arg(&args[i], 1, i * 64u, sizeof(first));
		memcpy(j.operands + i * 64u, i ? second : first, sizeof(first));
	}
	job_arg(&args[o->inputs], 1, 4096, o->length * o->bytes);
	memset(j.operands + 4096, 0xa5, 64);
	if (!status)
		status = job_execute(&j, PROGRAM, &cqe);
	ok(!status, "%s runs (%#x)", what, (unsigned int)status);
	rig_unload(&rig, CTX, PROGRAM);
	memcpy(out, j.operands + 4096, o->length * o->bytes);
}

/* @nan: bits of the elements that are NaN; the others are those of @want. */
static void floats(const char *what, const struct operation *o, unsigned int nan,
		   const float *want)
{
	const uint32_t length = complete(o).length;
	unsigned int i, right = 0;
	float out[N];

	run(what, o, out);
	for (i = 0; i < length; i++)
		right += nan >> i & 1 ? isnan(out[i]) != 0 : !want || out[i] == want[i];
	ok(right == length, "%s: NaN where it should be", what);
}

#define OP(op, ...)	(&(struct operation){ .opcode = NNPU_OP_##op, ##__VA_ARGS__ })

static void test_arithmetic(void)
{
	floats("ADD", OP(ADD, .inputs = 2, .scalars = 1), 0xb, (float[]){ 0, 0, 6, 0 });
	floats("ADD with RELU6", OP(ADD, .inputs = 2, .scalars = 1, .scalar = { 3 }), 0xb,
	       (float[]){ 0, 0, 6, 0 });
	floats("MUL", OP(MUL, .inputs = 2, .scalars = 1), 0xb, (float[]){ 0, 0, 9, 0 });
	floats("DIV", OP(DIV, .inputs = 2, .scalars = 1), 0xb, (float[]){ 0, 0, 1, 0 });
	floats("ABS", OP(ABS), 0xa, first);
	floats("EXP", OP(EXP), 0xa, NULL);
	floats("LOGISTIC", OP(LOGISTIC), 0xa, NULL);
	floats("TANH", OP(TANH), 0xa, NULL);
	floats("RELU", OP(RELU), 0xa, first);
	floats("RELU1", OP(RELU1), 0xa, (float[]){ 1, 0, 1, 0 });
	floats("RELU6", OP(RELU6), 0xa, first);
	floats("AVERAGE_POOL_2D", OP(AVERAGE_POOL_2D, .scalars = 6, .scalar = { 2, 1, 1, 2, 2, 0 },
				     .length = 1, .picture = true), 1, NULL);
}

/* No value is equal to NaN, or less or greater. */
static void test_comparisons(void)
{
	static const struct {
		uint32_t opcode;
		uint8_t equal;		/* result for equal values */
		uint8_t nan;
	} ops[] = {
		{ NNPU_OP_EQUAL, 1, 0 }, { NNPU_OP_NOT_EQUAL, 0, 1 }, { NNPU_OP_LESS, 0, 0 },
		{ NNPU_OP_LESS_EQUAL, 1, 0 }, { NNPU_OP_GREATER, 0, 0 },
		{ NNPU_OP_GREATER_EQUAL, 1, 0 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct operation o = { .opcode = ops[i].opcode, .inputs = 2,
				       .type = NNPU_TYPE_TENSOR_BOOL8, .bytes = 1, .length = N };
		uint8_t out[N];

		run("comparison", &o, out);
		ok(out[0] == ops[i].nan && out[1] == ops[i].nan && out[2] == ops[i].equal &&
		   out[3] == ops[i].nan, "comparison %u: %u %u %u %u", ops[i].opcode, out[0],
		   out[1], out[2], out[3]);
	}
}

/* One of the values that are compared, or an index of one. */
static void test_choices(void)
{
	int32_t index = -1;
	float largest = 0;

	/* The model: the first, unless the second is greater, or less. */
	floats("MAXIMUM", OP(MAXIMUM, .inputs = 2), 0xa, first);
	floats("MINIMUM", OP(MINIMUM, .inputs = 2), 0xa, first);
	run("MAX_POOL_2D", OP(MAX_POOL_2D, .scalars = 6, .scalar = { 2, 1, 1, 2, 2, 0 },
			      .length = 1, .picture = true), &largest);
	ok(isnan(largest) || largest == 1 || largest == 3, "MAX_POOL_2D: %g", (double)largest);
	run("ARGMAX", OP(ARGMAX, .scalars = 1, .type = NNPU_TYPE_TENSOR_INT32, .length = 1), &index);
	ok(index >= 0 && index < (int32_t)N, "ARGMAX: %d", index);
	run("ARGMIN", OP(ARGMIN, .scalars = 1, .type = NNPU_TYPE_TENSOR_INT32, .length = 1), &index);
	ok(index >= 0 && index < (int32_t)N, "ARGMIN: %d", index);
}

static void test_conversions(void)
{
	uint8_t quantized[N];
	int32_t cast[N];

	run("QUANTIZE", OP(QUANTIZE, .type = NNPU_TYPE_TENSOR_QUANT8_ASYMM, .bytes = 1), quantized);
	ok(quantized[0] == 9 && quantized[1] == 7 && quantized[2] == 13 && quantized[3] == 7,
	   "QUANTIZE: the zero point");
	run("CAST", OP(CAST, .type = NNPU_TYPE_TENSOR_INT32), cast);
	ok(cast[0] == 1 && !cast[1] && cast[2] == 3 && !cast[3], "CAST to an integer: 0");
}

static void test_relaxed(void)
{
	static const uint32_t ops[] = { NNPU_OP_LOGISTIC, NNPU_OP_TANH, NNPU_OP_EXP, NNPU_OP_SQRT };
	unsigned int i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct operation o = *OP(LOGISTIC);
		float strict[N], relaxed[N];

		o.opcode = ops[i];
		run("strict", &o, strict);
		o.flags = NNPU_PROGRAM_RELAXED;
		run("relaxed", &o, relaxed);
		ok(!memcmp(strict, relaxed, sizeof(strict)), "RELAXED changes no byte of %u", ops[i]);
	}
}

int main(void)
{
	rig_open(&rig, NULL);
	if (!rig_enable(&rig) || !job_rig_init(&j, &rig, CTX, 1)) {
		ok(false, "the device comes up");
		return tap_done();
	}
	test_arithmetic();
	test_comparisons();
	test_choices();
	test_conversions();
	test_relaxed();
	rig_close(&rig);
	return tap_done();
}
