// SPDX-License-Identifier: MIT
/*
 * Rules for models, without a device. Names carry the numbers of the conformance
 * checklist. Each case starts from a valid model, changes one thing, and expects a
 * refusal with a message.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nnhal_fixture.h"

static struct fixture f;

/* The version of the model of f, for cases that apply to one version only. */
static void use_version(uint32_t version)
{
	f.model.hal_version = version;
}

static void expect_invalid(const char *what)
{
	bool valid;

	memset(&f.diag, 0, sizeof(f.diag));
	valid = nnhal_validate_model(&f.model, &f.diag);
	ok(!valid && nnhal_check_model(&f.model, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   f.diag.message[0], "%s: refused: %s", what, f.diag.message);
}

static void expect_valid(const char *what)
{
	bool valid = nnhal_validate_model(&f.model, &f.diag) && !nnhal_check_model(&f.model, NULL);

	ok(valid && !f.diag.message[0], "%s: accepted%s%s", what, valid ? "" : ": ",
	   f.diag.message);
}

/* Add an operand to the graph of f, with a scale if its type needs one; returns its index. */
static uint32_t extra_operand(uint32_t type, uint32_t lifetime, uint32_t rank,
			      const uint32_t *dims)
{
	uint32_t i = add_operand(&f.graph, type, lifetime, rank, dims);

	if (type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ||
	    type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED ||
	    type == NNHAL_OPERAND_TENSOR_QUANT8_SYMM ||
	    type == NNHAL_OPERAND_TENSOR_QUANT16_ASYMM ||
	    type == NNHAL_OPERAND_TENSOR_QUANT16_SYMM)
		f.graph.operands[i].scale = 0.5f;
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
	return i;
}

/* A model whose operand 5 is an unused input of @type. */
static struct nnhal_operand *with_input(uint32_t type, uint32_t rank, const uint32_t *dims)
{
	make_add_relu(&f);
	return &f.graph.operands[extra_operand(type, NNHAL_LIFETIME_SUBGRAPH_INPUT, rank, dims)];
}

/* The same with a constant of @size bytes. */
static struct nnhal_operand *with_constant(uint32_t type, uint32_t rank, const uint32_t *dims,
					   uint32_t size)
{
	static const uint8_t zeros[256];
	uint32_t i;

	make_add_relu(&f);
	i = add_constant(&f, &f.graph, type, rank, dims, zeros, size);
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
	return &f.graph.operands[i];
}

static void test_counts(void)
{
	make_add_relu(&f);
	expect_valid("model of two operations");
	ok(!nnhal_validate_model(NULL, NULL), "no model: refused, without diag");
	f.model.main.num_operands = 0;
	expect_invalid("B01 no operands");
	make_add_relu(&f);
	f.model.main.num_operations = 0;
	expect_invalid("B01 no operations");
	make_add_relu(&f);
	f.model.main.num_inputs = 0;
	expect_invalid("B01 no inputs");
	make_add_relu(&f);
	f.model.main.num_outputs = 0;
	expect_invalid("B01 no outputs");
	make_add_relu(&f);
	f.model.main.operands = NULL;
	expect_invalid("B01 NULL pointer for operands");
	make_add_relu(&f);
	f.model.main.operations = NULL;
	expect_invalid("B01 NULL pointer for operations");
	make_add_relu(&f);
	f.model.main.input_indexes = NULL;
	expect_invalid("B01 NULL pointer for inputIndexes");
	make_add_relu(&f);
	f.graph.operations[0].inputs = NULL;
	expect_invalid("B01 NULL pointer for operation inputs");
	make_add_relu(&f);
	f.graph.operands[0].dimensions = NULL;
	expect_invalid("B01 NULL pointer for dimensions");
	make_add_relu(&f);
	f.model.operand_values = NULL;
	expect_invalid("B01 NULL pointer for operandValues");
	make_add_relu(&f);
	use_version(5);
	expect_invalid("B01 unknown version");
}

static void test_types(void)
{
	static const struct { uint32_t version, type; bool valid; } cases[] = {
		{ NNHAL_HAL_1_0, 5, true }, { NNHAL_HAL_1_0, 6, false },
		{ NNHAL_HAL_1_1, 5, true }, { NNHAL_HAL_1_1, 6, false },
		{ NNHAL_HAL_1_2, 13, true }, { NNHAL_HAL_1_2, 14, false },
		{ NNHAL_HAL_1_3, 14, true }, { NNHAL_HAL_1_3, 15, true },
		{ NNHAL_HAL_1_3, 16, false }, { NNHAL_HAL_LATEST, 15, true },
		{ NNHAL_HAL_1_0, 9999, false }, { NNHAL_HAL_1_0, 10000, true },
		{ NNHAL_HAL_1_0, 10001, true }, { NNHAL_HAL_1_0, 10002, false },
		{ NNHAL_HAL_1_3, 9999, false }, { NNHAL_HAL_1_3, 10002, false },
		{ NNHAL_HAL_1_1, 0x10000, false }, { NNHAL_HAL_1_2, 0x10000, true },
		{ NNHAL_HAL_1_1, 0xffffffff, false },
	};
	static const struct { uint32_t version, type; bool valid; } operations[] = {
		{ NNHAL_HAL_1_0, 28, true }, { NNHAL_HAL_1_0, 29, false },
		{ NNHAL_HAL_1_1, 37, true }, { NNHAL_HAL_1_1, 38, false },
		{ NNHAL_HAL_1_2, 94, true }, { NNHAL_HAL_1_2, 95, false },
		{ NNHAL_HAL_1_3, 101, true }, { NNHAL_HAL_1_3, 102, false },
		{ NNHAL_HAL_1_0, 10000, true }, { NNHAL_HAL_1_3, 10001, false },
		{ NNHAL_HAL_1_3, 9999, false }, { NNHAL_HAL_1_1, 0x10000, false },
		{ NNHAL_HAL_1_2, 0x10000, true }, { NNHAL_HAL_1_0, 0xffffffff, false },
	};
	static const uint32_t bad[] = { 16, 9999, 10002, 0xffffffff };
	static const uint32_t bad_operations[] = { 102, 9999, 10001, 0xffffffff };
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(nnhal_validate_operand_type(cases[i].type, cases[i].version) == cases[i].valid,
		   "B03 operand type %u of version %u", cases[i].type, cases[i].version);
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		ok(nnhal_validate_operation_type(operations[i].type, operations[i].version) ==
		   operations[i].valid, "B17 operation type %u of version %u",
		   operations[i].type, operations[i].version);
	for (i = 0; i < 4; i++) {
		make_add_relu(&f);
		f.graph.operands[1].type = bad[i];
		expect_invalid("B36 operand type");
		make_add_relu(&f);
		f.graph.operations[1].type = bad_operations[i];
		expect_invalid("B58 operation type");
	}
	with_input(NNHAL_OPERAND_BOOL, SCALAR);
	use_version(NNHAL_HAL_1_1);
	expect_invalid("B26 BOOL at 1.1");
	with_input(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED, DIMS(2));
	use_version(NNHAL_HAL_1_2);
	expect_invalid("B26 TENSOR_QUANT8_ASYMM_SIGNED at 1.2");
	make_add_relu(&f);
	f.graph.operations[1].type = NNHAL_OPERATION_ABS;
	expect_valid("B26 ABS at 1.3");
	use_version(NNHAL_HAL_1_1);
	expect_invalid("B26 ABS at 1.1");
	f.graph.operations[1].type = NNHAL_OPERATION_HARD_SWISH;
	use_version(NNHAL_HAL_1_2);
	expect_invalid("B26 HARD_SWISH at 1.2");
	f.graph.operations[1].type = NNHAL_OPERATION_DIV;
	use_version(NNHAL_HAL_1_0);
	expect_invalid("B26 DIV at 1.0");
	make_if(&f);
	use_version(NNHAL_HAL_1_2);
	expect_invalid("B26 referenced subgraphs at 1.2");
}

static void test_extensions(void)
{
	static const struct nnhal_extension_prefix one[] = { { "com.example.ext", 7 } };
	static const struct nnhal_extension_prefix same_name[] = {
		{ "com.example.ext", 7 }, { "com.example.ext", 8 },
	};
	static const struct nnhal_extension_prefix same_prefix[] = {
		{ "com.example.ext", 7 }, { "com.example.other", 7 },
	};
	static const struct nnhal_extension_prefix zero[] = { { "com.example.ext", 0 } };
	static const struct nnhal_extension_prefix unnamed[] = { { NULL, 7 } };
	struct nnhal_operand *op;

	with_input(7 << 16 | 1, SCALAR);
	f.model.extensions = one;
	f.model.num_extensions = 1;
	expect_valid("B04 type of a known extension");
	f.graph.operands[5].type = 8u << 16 | 1;
	expect_invalid("B04 type with an unknown prefix");
	f.graph.operands[5].type = 0xffffffff;
	expect_invalid("B04 type 0xffffffff");
	f.graph.operands[5].type = 7u << 16 | 1;
	f.graph.operations[1].type = 8u << 16;
	expect_invalid("B04 operation with an unknown prefix");
	make_add_relu(&f);
	f.model.num_extensions = 2;
	f.model.extensions = same_name;
	expect_invalid("B04 two extensions of one name");
	f.model.extensions = same_prefix;
	expect_invalid("B04 two extensions of one prefix");
	f.model.num_extensions = 1;
	f.model.extensions = zero;
	expect_invalid("B04 prefix 0");
	f.model.extensions = unnamed;
	expect_invalid("B04 extension without name");
	f.model.extensions = one;
	use_version(NNHAL_HAL_1_1);
	expect_invalid("B04 extension at 1.1");

	op = with_input(7 << 16 | 1, DIMS(2));
	f.model.extensions = one;
	f.model.num_extensions = 1;
	op->extra_params.kind = NNHAL_EXTRA_PARAMS_EXTENSION;
	expect_valid("B09 extension data of an extension type");
	op->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
	expect_invalid("B09 channelQuant of an extension type");
	op->extra_params.kind = NNHAL_EXTRA_PARAMS_NONE;
	op->scale = 1.0f;
	expect_invalid("B07 scale of an extension type");
	op->scale = 0.0f;
	op->zero_point = 1;
	expect_invalid("B08 zeroPoint of an extension type");
}

static void test_shapes(void)
{
	static const uint32_t scalars[] = {
		NNHAL_OPERAND_FLOAT32, NNHAL_OPERAND_INT32, NNHAL_OPERAND_UINT32,
		NNHAL_OPERAND_FLOAT16, NNHAL_OPERAND_BOOL, NNHAL_OPERAND_OEM,
	};
	char name[80];
	size_t i;

	for (i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
		with_input(scalars[i], SCALAR);
		snprintf(name, sizeof(name), "B05 %s of rank 0",
			 nnhal_operand_type_name(scalars[i]));
		expect_valid(name);
		with_input(scalars[i], DIMS(0));
		snprintf(name, sizeof(name), "B37 %s with dimensions {0}",
			 nnhal_operand_type_name(scalars[i]));
		expect_invalid(name);
	}
	with_input(NNHAL_OPERAND_TENSOR_FLOAT32, SCALAR);
	expect_valid("B06 unknown rank at 1.3");
	use_version(NNHAL_HAL_1_2);
	expect_valid("B06 unknown rank at 1.2");
	use_version(NNHAL_HAL_1_1);
	expect_invalid("B06 unknown rank at 1.1");
	use_version(NNHAL_HAL_1_0);
	expect_invalid("B06 unknown rank at 1.0");
	with_input(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(0, 3));
	use_version(NNHAL_HAL_1_0);
	expect_valid("B06 unknown dimension at 1.0");
	with_constant(NNHAL_OPERAND_TENSOR_FLOAT32, SCALAR, 0);
	expect_invalid("B06 constant of rank 0");
	with_constant(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(2, 0), 0);
	expect_invalid("B06 constant with a dimension of 0");
	with_input(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(256, 256, 256, 256));
	expect_invalid("B16 operand of 16 GiB");
	with_input(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, DIMS(65536, 65535));
	expect_valid("B16 operand just below 4 GiB");
	with_input(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, DIMS(65536, 65536));
	expect_invalid("B16 operand of 4 GiB");
	with_input(NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, DIMS(0xffffffff, 0xffffffff, 0xffffffff));
	expect_invalid("B16 product beyond 64 bits");
}

static void test_scale(void)
{
	static const uint32_t none[] = {
		NNHAL_OPERAND_FLOAT32, NNHAL_OPERAND_INT32, NNHAL_OPERAND_UINT32,
		NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_OPERAND_FLOAT16, NNHAL_OPERAND_BOOL,
		NNHAL_OPERAND_TENSOR_BOOL8, NNHAL_OPERAND_TENSOR_FLOAT16,
	};
	static const uint32_t quantized[] = {
		NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, NNHAL_OPERAND_TENSOR_QUANT8_SYMM,
		NNHAL_OPERAND_TENSOR_QUANT16_ASYMM, NNHAL_OPERAND_TENSOR_QUANT16_SYMM,
		NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED,
	};
	struct nnhal_operand *op;
	char name[80];
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		bool scalar = nnhal_operand_type_is_scalar(none[i]);

		op = with_input(none[i], scalar ? 0 : 1, (uint32_t[]){ 2 });
		op->scale = 1.0f;
		snprintf(name, sizeof(name), "B38 scale 1 of %s", nnhal_operand_type_name(none[i]));
		expect_invalid(name);
		op->scale = 0.0f;
		op->zero_point = 1;
		snprintf(name, sizeof(name), "B41 zeroPoint 1 of %s",
			 nnhal_operand_type_name(none[i]));
		expect_invalid(name);
	}
	op = with_input(NNHAL_OPERAND_TENSOR_INT32, DIMS(2));
	expect_valid("B07 scale 0 of TENSOR_INT32");
	op->scale = 1.0f;
	expect_valid("B07 scale 1 of TENSOR_INT32");
	op->scale = -1.0f;
	expect_invalid("B39 scale -1 of TENSOR_INT32");
	op->scale = NAN;
	expect_invalid("B07 scale NaN of TENSOR_INT32");
	op->scale = 0.0f;
	op->zero_point = 1;
	expect_invalid("B41 zeroPoint 1 of TENSOR_INT32");
	for (i = 0; i < sizeof(quantized) / sizeof(quantized[0]); i++) {
		const char *type = nnhal_operand_type_name(quantized[i]);

		op = with_input(quantized[i], DIMS(2));
		snprintf(name, sizeof(name), "B07 %s", type);
		expect_valid(name);
		op->scale = 0.0f;
		snprintf(name, sizeof(name), "B40 scale 0 of %s", type);
		expect_invalid(name);
		op->scale = -0.5f;
		snprintf(name, sizeof(name), "B07 scale -0.5 of %s", type);
		expect_invalid(name);
		op->scale = INFINITY;
		snprintf(name, sizeof(name), "B07 infinite scale of %s", type);
		expect_invalid(name);
	}
}

static void test_zero_point(void)
{
	static const struct { uint32_t type; int32_t good[2], bad[2]; } cases[] = {
		{ NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, { 0, 255 }, { -1, 256 } },
		{ NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED, { -128, 127 }, { -129, 128 } },
		{ NNHAL_OPERAND_TENSOR_QUANT8_SYMM, { 0, 0 }, { -129, 1 } },
		{ NNHAL_OPERAND_TENSOR_QUANT8_SYMM, { 0, 0 }, { -1, 128 } },
		{ NNHAL_OPERAND_TENSOR_QUANT16_ASYMM, { 0, 65535 }, { -1, 65536 } },
		{ NNHAL_OPERAND_TENSOR_QUANT16_SYMM, { 0, 0 }, { -32769, 32768 } },
		{ NNHAL_OPERAND_TENSOR_QUANT16_SYMM, { 0, 0 }, { -1, 1 } },
	};
	struct nnhal_operand *op;
	char name[80];
	size_t i, k;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		op = with_input(cases[i].type, DIMS(2));
		for (k = 0; k < 2; k++) {
			op->zero_point = cases[i].good[k];
			snprintf(name, sizeof(name), "B08 zeroPoint %d of %s", op->zero_point,
				 nnhal_operand_type_name(cases[i].type));
			expect_valid(name);
			op->zero_point = cases[i].bad[k];
			snprintf(name, sizeof(name), "B42-B45 zeroPoint %d of %s",
				 op->zero_point, nnhal_operand_type_name(cases[i].type));
			expect_invalid(name);
		}
	}
}

static void test_extra_params(void)
{
	static const float scales[3] = { 0.5f, 1.0f, 2.0f };
	static const float bad_scales[3] = { 0.5f, 0.0f, 2.0f };
	struct nnhal_operand *op;

	op = with_input(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(2));
	op->extra_params.kind = NNHAL_EXTRA_PARAMS_EXTENSION;
	expect_invalid("B09 extension data of TENSOR_FLOAT32");
	op->extra_params.kind = 3;
	expect_invalid("B09 unknown extraParams");
	op = with_input(NNHAL_OPERAND_FLOAT16, SCALAR);
	op->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
	expect_invalid("B09 channelQuant of FLOAT16");

	op = with_input(NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL, DIMS(3, 2));
	expect_invalid("B10 per-channel type without channelQuant");
	op->extra_params.kind = NNHAL_EXTRA_PARAMS_CHANNEL_QUANT;
	op->extra_params.channel_quant = (struct nnhal_channel_quant){ scales, 3, 0 };
	expect_valid("B10 per-channel type");
	op->scale = 1.0f;
	expect_invalid("B38 scale 1 of a per-channel type");
	op->scale = 0.0f;
	op->extra_params.channel_quant.channel_dim = 2;
	expect_invalid("B10 channelDim equal to the rank");
	op->extra_params.channel_quant.channel_dim = 1;
	expect_invalid("B10 more scales than channels");
	op->extra_params.channel_quant.num_scales = 1;
	expect_invalid("B10 fewer scales than channels");
	op->extra_params.channel_quant = (struct nnhal_channel_quant){ bad_scales, 3, 0 };
	expect_invalid("B10 a channel scale of 0");
	op->extra_params.channel_quant = (struct nnhal_channel_quant){ NULL, 3, 0 };
	expect_invalid("B10 NULL pointer for channel scales");
	f.graph.dims[5][0] = 0;
	op->extra_params.channel_quant = (struct nnhal_channel_quant){ scales, 0, 0 };
	expect_invalid("B10 channelDim of unknown size");
}

static void test_locations(void)
{
	struct nnhal_operand *op;

	make_add_relu(&f);
	f.graph.operands[1].lifetime = 7;
	expect_invalid("B11 lifetime 7");
	make_if(&f);
	make_add_relu(&f);
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_SUBGRAPH;
	use_version(NNHAL_HAL_1_2);
	expect_invalid("B11 lifetime SUBGRAPH at 1.2");

	op = with_constant(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(4), 16);
	expect_valid("B12 constant");
	op->location.pool_index = 1;
	expect_invalid("B12 poolIndex of CONSTANT_COPY");
	op->location.pool_index = 0;
	op->location.offset = (uint32_t)f.model.operand_values_size - 15;
	expect_invalid("B12 constant one byte beyond the values");
	op->location.offset = 0xfffffff8;
	expect_invalid("B12 offset + length above 32 bits");

	op = with_constant(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(4), 16);
	op->lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	op->location.offset = 0;
	expect_invalid("B12 CONSTANT_REFERENCE without pools");
	ok(!nnhal_memory_create(20, &f.pools[0], &f.diag), "memory of 20 bytes");
	f.model.num_pools = 1;
	expect_valid("B12 CONSTANT_REFERENCE");
	op->location.offset = 4;
	expect_valid("B12 CONSTANT_REFERENCE up to the end of the pool");
	op->location.offset = 5;
	expect_invalid("B12 CONSTANT_REFERENCE one byte beyond the pool");
	op->location.offset = 0;
	op->location.pool_index = 1;
	expect_invalid("B12 poolIndex out of range");
	op->location.pool_index = 0;
	f.model.num_pools = 2;
	expect_invalid("B31 pool without memory");
	f.model.pools = NULL;
	expect_invalid("B31 NULL pointer for pools");
	nnhal_memory_unref(f.pools[0]);

	make_add_relu(&f);
	f.graph.operands[3].location.length = 4;
	expect_invalid("B13 length of a temporary");
	make_add_relu(&f);
	f.graph.operands[0].location.offset = 4;
	expect_invalid("B13 offset of an input");
	make_add_relu(&f);
	f.graph.operands[4].location.pool_index = 1;
	expect_invalid("B13 poolIndex of an output");
	make_add_relu(&f);
	extra_operand(NNHAL_OPERAND_INT32, NNHAL_LIFETIME_NO_VALUE, SCALAR);
	expect_valid("B13 NO_VALUE");
	f.graph.operands[5].location.length = 4;
	expect_invalid("B13 length of NO_VALUE");

	op = with_constant(NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(4), 16);
	op->location.length = 15;
	expect_invalid("B15 constant one byte short");
	op->location.length = 17;
	expect_invalid("B15 constant one byte long");
	with_constant(NNHAL_OPERAND_BOOL, SCALAR, 1);
	expect_valid("B15 BOOL of one byte");
	with_constant(NNHAL_OPERAND_OEM, SCALAR, 3);
	expect_valid("B15 OEM of any length");
}

static void test_indexes(void)
{
	make_add_relu(&f);
	f.graph.op_inputs[0][1] = 5;
	expect_invalid("B59 operation input out of range");
	make_add_relu(&f);
	f.graph.op_inputs[0][1] = 0xffffffff;
	expect_invalid("B18 operation input 0xffffffff");
	make_add_relu(&f);
	f.graph.op_outputs[0][0] = 5;
	expect_invalid("B60 operation output out of range");
	make_add_relu(&f);
	f.graph.op_outputs[0][0] = 0;
	expect_invalid("B19 operation writes an input");
	make_add_relu(&f);
	f.graph.op_outputs[0][0] = 2;
	expect_invalid("B19 operation writes a constant");
	make_add_relu(&f);
	f.graph.op_outputs[1][0] = 3;
	expect_invalid("B19 operand written twice");
	make_add_relu(&f);
	extra_operand(NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE, DIMS(2));
	expect_invalid("B19 temporary that is never written");
	make_add_relu(&f);
	f.graph.operations[2] = f.graph.operations[0];
	f.model.main.num_operations = 3;
	f.graph.operands[0].number_of_consumers++;
	f.graph.operands[1].number_of_consumers++;
	f.graph.operands[2].number_of_consumers++;
	expect_invalid("B55 copy of an operation");

	make_add_relu(&f);
	f.graph.inputs[1] = 5;
	expect_invalid("B20 inputIndexes out of range");
	make_add_relu(&f);
	f.graph.inputs[1] = 0;
	expect_invalid("B20 inputIndexes repeats an operand");
	make_add_relu(&f);
	f.graph.inputs[1] = 3;
	expect_invalid("B20 inputIndexes lists a temporary");
	make_add_relu(&f);
	f.model.main.num_inputs = 1;
	expect_invalid("B20 input that is not listed");
	make_add_relu(&f);
	f.graph.outputs[0] = 5;
	expect_invalid("B20 outputIndexes out of range");
	make_add_relu(&f);
	f.graph.outputs[0] = 0;
	expect_invalid("B20 outputIndexes lists an input");
	make_add_relu(&f);
	f.graph.outputs[1] = 4;
	f.model.main.num_outputs = 2;
	expect_invalid("B20 outputIndexes repeats an operand");
	make_add_relu(&f);
	f.graph.operands[4].lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	expect_invalid("B52 listed output becomes a temporary");
	make_add_relu(&f);
	f.graph.operands[3].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	expect_invalid("B53 temporary becomes an output that is not listed");
	make_add_relu(&f);
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	f.graph.operands[2].location = (struct nnhal_data_location){ 0 };
	expect_invalid("B50 constant becomes an input that is not listed");
	make_add_relu(&f);
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE;
	f.graph.operands[2].location = (struct nnhal_data_location){ 0 };
	expect_invalid("B48 constant becomes a temporary");
	make_add_relu(&f);
	f.graph.operands[3].lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT;
	f.graph.inputs[2] = 3;
	f.model.main.num_inputs = 3;
	expect_invalid("B46 written operand becomes an input");
	make_add_relu(&f);
	f.graph.operands[3].lifetime = NNHAL_LIFETIME_CONSTANT_COPY;
	f.graph.operands[3].location.length = 16;
	f.model.operand_values_size = 64;
	expect_invalid("B47 written operand becomes a constant");
	make_add_relu(&f);
	f.graph.operands[1].lifetime = NNHAL_LIFETIME_CONSTANT_COPY;
	f.graph.operands[1].location.length = 16;
	f.model.operand_values_size = 64;
	expect_invalid("B51 listed input becomes a constant");
}

static void test_order(void)
{
	struct nnhal_operation first;

	make_add_relu(&f);
	first = f.graph.operations[0];
	f.graph.operations[0] = f.graph.operations[1];
	f.graph.operations[1] = first;
	expect_invalid("B21 B34 B35 reader before writer");
	make_chain(&f, 2);
	f.graph.op_inputs[0][1] = 4;
	f.graph.operands[1].number_of_consumers--;
	f.graph.operands[4].number_of_consumers++;
	expect_invalid("B22 cycle of two operations");
	make_add_relu(&f);
	f.graph.operands[0].number_of_consumers++;
	expect_invalid("B54 numberOfConsumers too high");
	make_add_relu(&f);
	f.graph.operands[3].number_of_consumers--;
	expect_invalid("B54 numberOfConsumers too low");
	make_add_relu(&f);
	f.graph.op_inputs[0][1] = 0;
	f.graph.operands[1].number_of_consumers = 0;
	f.graph.operands[0].number_of_consumers = 2;
	expect_valid("B23 one operand read twice by one operation");
	make_add_relu(&f);
	f.model.main.num_operations = 1;
	f.graph.operands[3].number_of_consumers = 0;
	expect_invalid("B63 operation deleted");
	make_add_relu(&f);
	extra_operand(NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE, DIMS(2, 2));
	f.graph.op_outputs[0][0] = 5;
	expect_invalid("B61 write redirected to a fresh operand");
}

static void test_if(void)
{
	make_if(&f);
	expect_valid("B27 IF");
	f.graph.operands[0].type = NNHAL_OPERAND_TENSOR_INT32;
	expect_invalid("B27 condition of another type");
	make_if(&f);
	f.graph.dims[0][0] = 2;
	expect_invalid("B27 condition of shape [2]");
	make_if(&f);
	f.graph.operations[0].num_inputs = 2;
	f.graph.operands[2].number_of_consumers = 0;
	f.graph.operands[3].number_of_consumers = 0;
	f.graph.operands[4].number_of_consumers = 0;
	expect_invalid("B27 IF with two inputs");
	make_if(&f);
	f.graph.op_inputs[0][1] = 3;
	f.graph.operands[1].number_of_consumers = 0;
	f.graph.operands[3].number_of_consumers = 2;
	expect_invalid("B27 a tensor as branch");
	make_if(&f);
	f.graph.operations[0].num_inputs = 4;
	f.graph.operands[4].number_of_consumers = 0;
	expect_invalid("B27 fewer inputs than the branches have");
	make_if(&f);
	f.sub[1].operands[1].scale = 0.0f;
	f.sub[1].dims[1][0] = 2;
	expect_invalid("B29 IF: inner dimension differs");
	make_if(&f);
	f.graph.operands[5].type = NNHAL_OPERAND_TENSOR_FLOAT16;
	expect_invalid("B29 IF: output type differs");
	make_if(&f);
	f.graph.operands[3].num_dimensions = 0;
	expect_valid("B30 IF with an operand of unknown rank");
	make_if(&f);
	f.graph.operands[1].location.offset = 2;
	expect_invalid("B14 subgraph number out of range");
	make_if(&f);
	f.graph.operands[1].location.length = 1;
	expect_invalid("B14 length of a subgraph");
	make_if(&f);
	f.graph.operands[1].location.pool_index = 1;
	expect_invalid("B14 poolIndex of a subgraph");
	make_if(&f);
	f.graph.operands[1].scale = 1.0f;
	expect_invalid("B38 scale 1 of SUBGRAPH");
	make_if(&f);
	f.graph.operands[1].type = NNHAL_OPERAND_INT32;
	expect_invalid("B14 lifetime SUBGRAPH of another type");
	make_if(&f);
	f.graph.operands[1].lifetime = NNHAL_LIFETIME_NO_VALUE;
	expect_invalid("B14 type SUBGRAPH of another lifetime");
	make_if(&f);
	f.model.referenced = NULL;
	expect_invalid("B24 NULL pointer for referenced subgraphs");
}

static void test_subgraphs(void)
{
	uint32_t i;

	make_if(&f);
	f.sub[1].operands[0].number_of_consumers = 0;
	expect_invalid("B24 consumer count in a subgraph");
	make_if(&f);
	f.sub[1].op_inputs[0][0] = 99;
	expect_invalid("B24 index in a subgraph");
	make_if(&f);
	f.sub[1].inputs[0] = 99;
	expect_invalid("B24 inputIndexes of a subgraph");
	make_if(&f);
	f.sub[0].outputs[0] = 0xffffffff;
	expect_invalid("B24 outputIndexes of a subgraph");
	make_if(&f);
	f.referenced[1].num_inputs = 0;
	expect_invalid("B24 subgraph without inputs");
	make_if(&f);
	f.graph.operands[2].location.offset = 0;
	expect_invalid("B24 subgraph that nothing refers to");
	make_if(&f);
	f.graph.operands[2].location.offset = 0;
	f.model.num_referenced = 1;
	expect_valid("B24 both branches are one subgraph");

	make_if(&f);
	i = add_operand(&f.sub[0], NNHAL_OPERAND_SUBGRAPH, NNHAL_LIFETIME_SUBGRAPH, SCALAR);
	graph_finish(&f.sub[0]);
	f.referenced[0] = f.sub[0].sg;
	expect_invalid("B25 subgraph refers to itself");
	f.sub[0].operands[i].location.offset = 1;
	expect_valid("B25 subgraph refers to the next one");
	i = add_operand(&f.sub[1], NNHAL_OPERAND_SUBGRAPH, NNHAL_LIFETIME_SUBGRAPH, SCALAR);
	graph_finish(&f.sub[1]);
	f.referenced[1] = f.sub[1].sg;
	expect_invalid("B25 cycle of two subgraphs");
}

/* Graphs that share the next one many times over: 2^40 paths, 40 graphs. */
static void test_shared_subgraphs(void)
{
	enum { DEPTH = 40 };
	static struct graph graphs[DEPTH];
	static struct nnhal_subgraph referenced[DEPTH];
	uint32_t i, k;

	make_if(&f);
	for (i = 0; i < DEPTH; i++) {
		graphs[i] = f.sub[0];
		graphs[i].sg.num_operands = f.sub[0].sg.num_operands;
		for (k = 0; k < f.sub[0].sg.num_operands; k++)
			graphs[i].operands[k].dimensions = graphs[i].dims[k];
		graphs[i].operations[0].inputs = graphs[i].op_inputs[0];
		graphs[i].operations[0].outputs = graphs[i].op_outputs[0];
		for (k = 0; i + 1 < DEPTH && k < 2; k++) {
			uint32_t n = add_operand(&graphs[i], NNHAL_OPERAND_SUBGRAPH,
						 NNHAL_LIFETIME_SUBGRAPH, SCALAR);

			graphs[i].operands[n].location.offset = i + 1;
		}
		graph_finish(&graphs[i]);
		referenced[i] = graphs[i].sg;
	}
	f.graph.operands[2].location.offset = 0;
	f.model.referenced = referenced;
	f.model.num_referenced = DEPTH;
	expect_valid("B25 subgraphs shared 2^40 times");
}

static void test_while(void)
{
	make_while(&f);
	expect_valid("B28 WHILE");
	f.graph.operations[0].num_inputs = 2;
	f.graph.operands[2].number_of_consumers = 0;
	f.graph.operands[3].number_of_consumers = 0;
	expect_invalid("B28 WHILE with two inputs");
	make_while(&f);
	f.graph.operations[0].num_inputs = 3;
	f.graph.operands[3].number_of_consumers = 0;
	expect_invalid("B28 fewer inputs than the condition has");
	make_while(&f);
	f.sub[0].operands[2].type = NNHAL_OPERAND_TENSOR_FLOAT32;
	expect_invalid("B28 condition output of another type");
	make_while(&f);
	f.sub[0].dims[2][0] = 2;
	expect_invalid("B28 condition output of shape [2]");
	make_while(&f);
	f.sub[1].dims[0][0] = 2;
	expect_invalid("B29 WHILE: body input differs");
	make_while(&f);
	f.graph.dims[4][0] = 2;
	expect_invalid("B29 WHILE: output differs");
	make_while(&f);
	f.graph.dims[2][0] = 0;
	expect_invalid("B30 WHILE input of unknown size");
	make_while(&f);
	f.sub[1].dims[3][0] = 0;
	expect_invalid("B30 WHILE body output of unknown size");
	make_while(&f);
	f.graph.dims[4][0] = 0;
	expect_invalid("B30 WHILE output of unknown size");
}

static void test_scalar_arguments(void)
{
	ok(nnhal_validate_preference(0) && nnhal_validate_preference(1) &&
	   nnhal_validate_preference(2), "B68 preferences 0 to 2");
	ok(!nnhal_validate_preference(-1) && !nnhal_validate_preference(3),
	   "B68 preferences -1 and 3");
	ok(nnhal_validate_priority(0) && nnhal_validate_priority(1) &&
	   nnhal_validate_priority(2), "B69 priorities 0 to 2");
	ok(!nnhal_validate_priority(-1) && !nnhal_validate_priority(3),
	   "B69 priorities -1 and 3");
}

/* Random changes of bytes: nothing may be read out of range. */
static void test_random_changes(void)
{
	unsigned int i, k, valid = 0;
	uint32_t *words, index;

	srand(1);
	for (i = 0; i < 20000; i++) {
		if (i % 2)
			make_if(&f);
		else
			make_add_relu(&f);
		for (k = 0; k < 3; k++) {
			index = (uint32_t)rand() % MAX_OPERANDS;
			switch (rand() % 6) {
			case 0:
				f.graph.operands[index % 6].type = (uint32_t)rand() % 18;
				break;
			case 1:
				f.graph.operands[index % 6].lifetime = (uint32_t)rand() % 8;
				break;
			case 2:
				f.graph.op_inputs[index % 2][index % 5] = (uint32_t)rand() % 9;
				break;
			case 3:
				words = (uint32_t *)&f.graph.operands[index % 6].location;
				words[rand() % 3] = (uint32_t)rand() >> (rand() % 31);
				break;
			case 4:
				f.graph.operands[index % 6].num_dimensions = (uint32_t)rand() % 9;
				break;
			default:
				f.graph.inputs[index % 3] = (uint32_t)rand() % 9;
			}
		}
		valid += nnhal_validate_model(&f.model, NULL);
	}
	ok(valid < 20000, "B33 20000 models with random changes, %u of them valid", valid);
}

int main(void)
{
	test_counts();
	test_types();
	test_extensions();
	test_shapes();
	test_scale();
	test_zero_point();
	test_extra_params();
	test_locations();
	test_indexes();
	test_order();
	test_if();
	test_subgraphs();
	test_shared_subgraphs();
	test_while();
	test_scalar_arguments();
	test_random_changes();
	return tap_done();
}
