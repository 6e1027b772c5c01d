// SPDX-License-Identifier: MIT
/*
 * How nnvec compares outputs, at the limits of what is allowed, and which models it makes of
 * cases.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "tests/tap.h"
#include "userspace/tools/common/compare_outputs.h"
#include "userspace/tools/nnvec/case_model.h"
#include "userspace/tools/nnvec/twin.h"

static char text[REASON_TEXT];

/* What tolerance_of() gives for a float32 model. */
static const struct tolerance exact = { 1e-5, 5.0 / (1 << 23), 1 };

/* Does @actual pass for @expected? */
static bool passes(uint32_t type, const void *expected, const void *actual,
		   const struct tolerance *t)
{
	struct nntc_operand o = {
		.type = type, .lifetime = NNTC_OUTPUT, .num_bytes = nntc_element_size(type),
		.data = expected,
	};

	return compare_output(0, &o, actual, t, text);
}

static bool floats(float expected, float actual, const struct tolerance *t)
{
	return passes(NNHAL_OPERAND_TENSOR_FLOAT32, &expected, &actual, t);
}

static bool halves(uint16_t expected, uint16_t actual, const struct tolerance *t)
{
	return passes(NNHAL_OPERAND_TENSOR_FLOAT16, &expected, &actual, t);
}

static bool bytes(uint32_t type, uint8_t expected, uint8_t actual, const struct tolerance *t)
{
	return passes(type, &expected, &actual, t);
}

static void test_floats(void)
{
	const struct tolerance relaxed = { 5.0 / 1024, 5.0 / 1024, 1 };

	ok(floats(0, 0.00001f, &exact) && !floats(0, 0.0000101f, &exact), "J02: 1e-5 around 0");
	ok(floats(1000, 1000 + 0x1p-11f, &exact) && !floats(1000, 1000.0008f, &exact),
	   "J02: 5 units of 2^-23 beside that");
	ok(floats(-8, -8.04f, &relaxed) && !floats(-8, -8.05f, &relaxed), "J04: 5 * 2^-10 if relaxed");
	ok(!floats(1, NAN, &exact) && !floats(1, INFINITY, &exact) && !floats(0, -INFINITY, &exact),
	   "J01: NaN and infinities do not pass for a number");
	ok(floats(NAN, NAN, &exact) && !floats(NAN, 0, &exact) && !floats(NAN, INFINITY, &exact),
	   "J01: a number does not pass for NaN");
	ok(floats(INFINITY, INFINITY, &exact) && !floats(INFINITY, -INFINITY, &exact) &&
	   !floats(INFINITY, 3e38f, &exact) && !floats(INFINITY, NAN, &exact),
	   "an infinity is expected");
	ok(halves(0x3c00, 0x3c0a, &relaxed) && !halves(0x3c00, 0x3c0b, &relaxed),
	   "J03: float16, ten units of 2^-10 around 1");
	ok(halves(0x0001, 0x8001, &relaxed) && halves(0x7c00, 0x7c00, &relaxed) &&
	   !halves(0x7c00, 0xfc00, &relaxed) && !halves(0x7bff, 0x7c00, &relaxed) &&
	   halves(0x7e00, 0xfe01, &relaxed), "float16: subnormal, infinite, no number");
}

/* Does a list of three elements pass for another? */
static bool one_of_three(uint32_t type, const void *expected, const void *actual)
{
	struct nntc_operand o = { .type = type, .num_bytes = 3 * nntc_element_size(type),
				  .data = expected };

	return compare_output(0, &o, actual, &exact, text);
}

/* Wherever it is, and whatever is right around it. */
static void test_places(void)
{
	const float numbers[] = { 1, 2, 3 }, none[] = { NAN, NAN, NAN };
	const uint16_t half_numbers[] = { 0x3c00, 0x4000, 0x4200 };
	static const char *const places[] = { "first", "middle", "last" };
	float f[3];
	uint16_t h[3];

	ok(one_of_three(NNHAL_OPERAND_TENSOR_FLOAT32, numbers, numbers) &&
	   one_of_three(NNHAL_OPERAND_TENSOR_FLOAT32, none, none) &&
	   one_of_three(NNHAL_OPERAND_TENSOR_FLOAT16, half_numbers, half_numbers), "equal lists pass");
	for (unsigned int at = 0; at < 3; at++) {
		memcpy(f, numbers, sizeof(f));
		memcpy(h, half_numbers, sizeof(h));
		f[at] = NAN;
		h[at] = 0x7e00;
		ok(!one_of_three(NNHAL_OPERAND_TENSOR_FLOAT32, numbers, f) &&
		   strstr(text, "1 of 3 elements differ") &&
		   !one_of_three(NNHAL_OPERAND_TENSOR_FLOAT32, f, numbers) &&
		   !one_of_three(NNHAL_OPERAND_TENSOR_FLOAT16, half_numbers, h) &&
		   !one_of_three(NNHAL_OPERAND_TENSOR_FLOAT16, h, half_numbers),
		   "NaN as the %s element is a difference, given or expected", places[at]);
		f[at] = -INFINITY;
		ok(!one_of_three(NNHAL_OPERAND_TENSOR_FLOAT32, numbers, f) &&
		   !one_of_three(NNHAL_OPERAND_TENSOR_FLOAT32, f, numbers),
		   "an infinity as the %s element is one", places[at]);
	}
}

static void test_integers(void)
{
	const struct tolerance three = { 1e-5, 0, 3 };
	const int32_t big[] = { INT32_MAX, INT32_MIN, INT32_MIN + 1 };
	const uint16_t words[] = { 0x7fff, 0x8000, 0x8001 };
	const uint32_t s8 = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
	const uint32_t u8 = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM;

	ok(bytes(u8, 127, 128, &exact) && !bytes(u8, 127, 129, &exact), "J06: quantized bytes within 1");
	ok(bytes(u8, 127, 130, &three) && !bytes(u8, 127, 131, &three), "as many steps as the tolerance has");
	ok(!bytes(s8, 127, 128, &exact) && bytes(s8, 255, 0, &exact), "signed bytes");
	ok(!passes(NNHAL_OPERAND_TENSOR_INT32, &big[0], &big[1], &exact) &&
	   passes(NNHAL_OPERAND_TENSOR_INT32, &big[1], &big[2], &exact), "J05: integers within 1");
	ok(!passes(NNHAL_OPERAND_TENSOR_QUANT16_SYMM, &words[0], &words[1], &exact) &&
	   passes(NNHAL_OPERAND_TENSOR_QUANT16_SYMM, &words[1], &words[2], &exact) &&
	   passes(NNHAL_OPERAND_TENSOR_QUANT16_ASYMM, &words[0], &words[1], &exact) &&
	   !passes(NNHAL_OPERAND_TENSOR_QUANT16_ASYMM, &words[0], &words[2], &exact),
	   "J05: 16 bits, signed and not");
	ok(!bytes(NNHAL_OPERAND_TENSOR_BOOL8, 0, 1, &three) &&
	   !bytes(NNHAL_OPERAND_TENSOR_BOOL8, 1, 0, &three) &&
	   bytes(NNHAL_OPERAND_TENSOR_BOOL8, 1, 2, &exact), "J07: booleans agree exactly, any byte but 0 is true");
}

static void test_other(void)
{
	struct nntc_operand o = { .type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, .num_bytes = 3,
				  .data = (const uint8_t []){ 1, 2, 3 } };

	ok(!compare_output(0, &o, (const uint8_t []){ 1, 2, 5 }, &exact, text) &&
	   strstr(text, "1 of 3 elements differ, the first is 2: 5, expected 3"),
	   "the text says what differs");
	o.ignore_output = true;
	ok(compare_output(0, &o, (const uint8_t []){ 9, 9, 9 }, &exact, text),
	   "J08: an ignored output is not compared");
	o.ignore_output = false;
	o.type = NNHAL_OPERAND_TENSOR_OEM_BYTE;
	ok(!compare_output(0, &o, o.data, &exact, text), "J08: a type that cannot be compared fails");
}

static void test_tolerances(void)
{
	struct nntc_operand half = { .type = NNHAL_OPERAND_TENSOR_FLOAT16 };
	struct nntc_subgraph other = { .num_operands = 1, .operands = &half };
	struct nntc_case nc = { .relaxed = false };
	struct tolerance t;

	snprintf(nc.name, sizeof(nc.name), "mobilenet_quantized");
	t = tolerance_of(&nc);
	ok(t.absolute == 1e-5 && t.relative == exact.relative && t.steps == 1,
	   "tolerance of a float32 model, whatever its name");
	nc.referenced = &other;
	nc.num_referenced = 1;
	t = tolerance_of(&nc);
	ok(t.absolute == 5.0 / 1024 && t.relative == 5.0 / 1024, "a float16 tensor anywhere");
	nc.num_referenced = 0;
	nc.relaxed = true;
	t = tolerance_of(&nc);
	ok(t.absolute == 5.0 / 1024 && t.relative == 5.0 / 1024, "a relaxed model");
}

static void test_shapes(void)
{
	struct nntc_operand o = { .type = NNHAL_OPERAND_TENSOR_FLOAT32, .rank = 2,
				  .dims = { 2, 0 }, .num_bytes = 24 };
	struct nnhal_output_shape s = { .num_dimensions = 2, .dimensions = { 2, 3 } };

	ok(compare_shape(0, &o, &s, text), "a size that is not known may be any");
	s.dimensions[0] = 3;
	ok(!compare_shape(0, &o, &s, text) && strstr(text, "output 0: shape [3, 3], expected [2, 0]"),
	   "one that is known may not");
	o.num_bytes = 0;
	s.dimensions[0] = 2;
	ok(!compare_shape(0, &o, &s, text), "without data 0 is a size");
	s.dimensions[1] = 0;
	ok(compare_shape(0, &o, &s, text), "and has to be one");
	s.num_dimensions = 1;
	ok(!compare_shape(0, &o, &s, text), "another rank");
	o.rank = 0;
	ok(compare_shape(0, &o, &s, text), "any rank");
	o.type = NNHAL_OPERAND_INT32;
	ok(!compare_shape(0, &o, &s, text), "but not of a scalar");
}

/* What outputs are filled with passes for nothing. */
static void test_fill(void)
{
	unsigned int passed = 0;

	for (uint32_t type = 0; type < NNHAL_OPERAND_SUBGRAPH; type++) {
		uint32_t size = nntc_element_size(type);
		const struct tolerance three = { 5.0 / 1024, 5.0 / 1024, 3 };

		for (unsigned int i = 0; i < 65536; i++) {
			uint8_t expected[4] = { (uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 4),
						(uint8_t)(i >> 8) };
			struct nntc_operand o = { .type = type, .num_bytes = size, .data = expected };
			uint8_t filled[4];

			for (unsigned int k = 0; k < size; k++)
				filled[k] = wrong_byte(&o, k);
			passed += compare_output(0, &o, filled, &three, text);
		}
	}
	ok(!passed, "an output nobody wrote never passes (%u times)", passed);
}

static void test_frequencies(void)
{
	float logits[] = { 0, 0, 0, -100 };
	int32_t ids[100];
	uint32_t list[] = { 0, 1 };
	struct nntc_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .rank = 2, .dims = { 2, 2 },
		  .num_bytes = sizeof(logits), .data = (const uint8_t *)logits },
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .rank = 2, .dims = { 2, 50 },
		  .num_bytes = sizeof(ids) },
	};
	struct nntc_operation operation = { .type = NNHAL_OPERATION_RANDOM_MULTINOMIAL,
					    .num_inputs = 1, .num_outputs = 1, .operands = list };
	struct nntc_case nc = {
		.multinomial_tolerance = 0.1f,
		.main = { .num_operands = 2, .operands = operands, .num_operations = 1,
			  .operations = &operation, .num_outputs = 1, .outputs = list + 1 },
	};
	struct nnhal_output_shape shape = { .num_dimensions = 2, .dimensions = { 2, 50 } };

	for (int i = 0; i < 100; i++)
		ids[i] = i < 50 ? i % 2 : 0;
	ok(compare_frequencies(0, &nc, &shape, ids, text), "J09: frequencies as expected");
	for (int i = 0; i < 12; i++)
		ids[i] = 1;
	ok(!compare_frequencies(0, &nc, &shape, ids, text) && strstr(text, "batch 0, class 0"),
	   "J09: one class too often");
	for (int i = 0; i < 12; i++)
		ids[i] = i % 2;
	ids[99] = 2;
	ok(!compare_frequencies(0, &nc, &shape, ids, text) && strstr(text, "class 2, there are 2"),
	   "a class that does not exist");
	ids[99] = -1;
	ok(!compare_frequencies(0, &nc, &shape, ids, text), "a class below 0");
	ids[99] = 0;
	shape.dimensions[0] = 1;
	ok(!compare_frequencies(0, &nc, &shape, ids, text), "another number of batches");
	shape.dimensions[0] = 2;
	logits[1] = NAN;
	ok(!compare_frequencies(0, &nc, &shape, ids, text), "logits that are no numbers");
	logits[1] = 0;
	ok(compare_frequencies(0, &nc, &shape, ids, text), "and again as expected");
	operation.type = NNHAL_OPERATION_ADD;
	ok(!compare_frequencies(0, &nc, &shape, ids, text), "no logits");
}

/* Which shapes a model may leave open: a WHILE, an IF, scales per channel. */
static void test_forms(void)
{
	static const struct form open = { .inputs = SHAPES_UNRANKED };
	static const uint8_t data[4] = { 0 };
	uint32_t list[] = { 0, 1, 2 };
	float scales[] = { 1, 1 };
	struct nntc_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_BOOL8, .lifetime = NNTC_INPUT, .rank = 1,
		  .dims = { 1 }, .num_bytes = 1, .data = data },
		{ .type = NNHAL_OPERAND_TENSOR_BOOL8, .lifetime = NNTC_INPUT, .rank = 1,
		  .dims = { 1 }, .num_bytes = 1, .data = data },
		{ .type = NNHAL_OPERAND_TENSOR_BOOL8, .lifetime = NNTC_OUTPUT, .rank = 1,
		  .dims = { 1 }, .num_bytes = 1, .data = data },
	};
	struct nntc_operation operation = { .type = NNHAL_OPERATION_LOGICAL_AND, .num_inputs = 2,
					    .num_outputs = 1, .operands = list };
	struct nntc_case nc = {
		.main = { .num_operands = 3, .operands = operands, .num_operations = 1,
			  .operations = &operation, .num_inputs = 2, .inputs = list,
			  .num_outputs = 1, .outputs = list + 2 },
	};
	const struct nnhal_operand *made;
	struct vec_model m;

	if (ok(vec_model_build(&m, &nc, &open, text) == BUILD_DONE, "an operation")) {
		made = m.model.main.operands;
		ok(!made[0].num_dimensions && !made[1].num_dimensions &&
		   made[2].num_dimensions == 1 && m.dims_in_request[0],
		   "inputs of unknown rank, sizes in the request");
		vec_model_free(&m);
	}
	operation.type = NNHAL_OPERATION_IF;
	if (ok(vec_model_build(&m, &nc, &open, text) == BUILD_DONE, "an IF")) {
		made = m.model.main.operands;
		ok(made[0].num_dimensions == 1 && !made[1].num_dimensions,
		   "the condition keeps its shape");
		vec_model_free(&m);
	}
	operation.type = NNHAL_OPERATION_WHILE;
	ok(vec_model_build(&m, &nc, &open, text) == BUILD_SKIP && text[0],
	   "nothing of a WHILE can be left open");
	operation.type = NNHAL_OPERATION_DEQUANTIZE;
	operands[0] = (struct nntc_operand){
		.type = NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL, .lifetime = NNTC_INPUT,
		.rank = 2, .dims = { 2, 2 }, .channel_dim = 1, .num_channel_scales = 2,
		.channel_scales = scales, .num_bytes = 4, .data = data,
	};
	if (ok(vec_model_build(&m, &nc, &open, text) == BUILD_DONE, "scales per channel")) {
		made = m.model.main.operands;
		ok(made[0].num_dimensions == 2 && !made[0].dimensions[0] &&
		   made[0].dimensions[1] == 2, "rank and channels stay");
		vec_model_free(&m);
	}
	nc.expect_failure = true;
	ok(vec_model_build(&m, &nc, &open, text) == BUILD_SKIP,
	   "shapes of a case that must fail stay");
}

static void test_twin(void)
{
	struct nntc_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, .zero_point = 128, .num_bytes = 3,
		  .data = (const uint8_t []){ 0, 128, 255 } },
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .zero_point = 7 },
	};
	struct nntc_operation operation = { .type = NNHAL_OPERATION_RELU };
	struct nntc_case nc = { .main = { .num_operands = 2, .operands = operands,
					  .num_operations = 1, .operations = &operation } };
	struct twin t;

	if (ok(twin_init(&t, &nc, text) == BUILD_DONE, "a signed twin")) {
		const struct nntc_operand *o = t.nc.main.operands;

		ok(o[0].type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED && !o[0].zero_point &&
		   !memcmp(o[0].data, (const int8_t []){ -128, 0, 127 }, 3) &&
		   o[1].type == NNHAL_OPERAND_TENSOR_INT32 && o[1].zero_point == 7 &&
		   operands[0].zero_point == 128, "stands for the same numbers");
		twin_free(&t);
	}
	operation.type = NNHAL_OPERATION_CAST;
	ok(twin_init(&t, &nc, text) == BUILD_SKIP && text[0], "CAST has none");
	operation.type = NNHAL_OPERATION_RELU;
	operands[0].type = NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
	ok(twin_init(&t, &nc, text) == BUILD_SKIP && text[0], "a signed case has none");
}

int main(void)
{
	test_floats();
	test_places();
	test_integers();
	test_other();
	test_tolerances();
	test_shapes();
	test_fill();
	test_frequencies();
	test_forms();
	test_twin();
	return tap_done();
}
