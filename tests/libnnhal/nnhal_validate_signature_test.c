// SPDX-License-Identifier: MIT
/*
 * Operations whose operands do not fit, and what is said about it; versions of models and of
 * operations. Names carry the numbers of the conformance checklist.
 */
#include <string.h>

#include "nnhal_fixture.h"

static struct fixture f;

/* Refused, with a message that has all of @words (separated by '|'). */
static void expect_refusal(const char *what, const char *words)
{
	bool valid, named = true;
	char copy[256], *word, *rest = copy;

	memset(&f.diag, 0, sizeof(f.diag));
	valid = nnhal_validate_model(&f.model, &f.diag);
	snprintf(copy, sizeof(copy), "%s", words);
	while ((word = strsep(&rest, "|")))
		named &= strstr(f.diag.message, word) != NULL;
	ok(!valid && named, "%s: refused: %s", what, f.diag.message);
}

static void expect_version(const char *what, uint32_t version)
{
	uint32_t have = nnhal_model_get_min_version(&f.model, &f.diag);

	ok(have == version, "%s: HAL version %u, expected %u%s%s", what, have, version,
	   f.diag.message[0] ? ": " : "", f.diag.message);
}

static void test_messages(void)
{
	static const uint32_t dims[] = { 1, 1, 1, 2, 2 };

	make_add_relu(&f);
	f.graph.operands[2].type = NNHAL_OPERAND_FLOAT32;
	expect_refusal("B18 activation of another type",
		       "operation 0 (ADD)|input 2|operand 2 is FLOAT32|expected INT32");
	make_add_relu(&f);
	f.graph.operands[1].type = NNHAL_OPERAND_TENSOR_FLOAT16;
	expect_refusal("B18 inputs of two types",
		       "operation 0 (ADD)|input 1|TENSOR_FLOAT16|expected TENSOR_FLOAT32");
	make_add_relu(&f);
	f.graph.operands[0].type = NNHAL_OPERAND_TENSOR_BOOL8;
	expect_refusal("B18 type that the operation does not take",
		       "operation 0 (ADD)|input 0|TENSOR_BOOL8|TENSOR_FLOAT32 or TENSOR_INT32");
	make_add_relu(&f);
	f.graph.operands[4].type = NNHAL_OPERAND_TENSOR_FLOAT16;
	expect_refusal("B18 output of another type",
		       "operation 1 (RELU)|output 0|operand 4 is TENSOR_FLOAT16|TENSOR_FLOAT32");
	make_add_relu(&f);
	f.graph.operations[0].num_inputs = 2;
	f.graph.operands[2].number_of_consumers = 0;
	expect_refusal("B64 input missing", "operation 0 (ADD)|2 inputs and 1 outputs");
	make_add_relu(&f);
	memcpy(f.graph.dims[0], dims, sizeof(dims));
	f.graph.operands[0].num_dimensions = 5;
	expect_refusal("B18 rank", "operation 0 (ADD)|input 0|rank 5|expected 1 to 4");
	make_add_relu(&f);
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_NO_VALUE;
	memset(&f.graph.operands[2].location, 0, sizeof(f.graph.operands[2].location));
	expect_refusal("B18 operand omitted", "operation 0 (ADD)|input 2|omitted");
	make_add_relu(&f);
	f.graph.operations[0].type = NNHAL_OPERATION_DIV;
	f.model.hal_version = NNHAL_HAL_1_0;
	expect_refusal("B26 DIV at 1.0", "operation 0|type 30");
	make_if(&f);
	f.sub[1].operands[2].type = NNHAL_OPERAND_FLOAT32;
	expect_refusal("B24 signature in a subgraph", "subgraph 1|input 2|FLOAT32");
}

/* Everything with data is of this type. */
static void set_types(uint32_t type)
{
	uint32_t i;

	make_add_relu(&f);
	for (i = 0; i < 5; i++)
		if (i != 2)
			f.graph.operands[i].type = type;
	f.graph.operations[1].type = NNHAL_OPERATION_RESHAPE;
	f.graph.operations[1].num_inputs = 1;
}

static void test_model_versions(void)
{
	uint32_t versions[2] = { 0, 0 };

	make_add_relu(&f);
	expect_version("ADD and RELU of TENSOR_FLOAT32", NNHAL_HAL_1_0);
	f.graph.operations[0].type = NNHAL_OPERATION_DIV;
	expect_version("G03 DIV", NNHAL_HAL_1_1);
	f.graph.operations[1].type = NNHAL_OPERATION_ABS;
	expect_version("G03 ABS", NNHAL_HAL_1_2);
	f.graph.operations[1].type = NNHAL_OPERATION_HARD_SWISH;
	expect_version("G03 HARD_SWISH", NNHAL_HAL_1_3);
	ok(!nnhal_model_get_operation_versions(&f.model, versions, 2, &f.diag) &&
	   versions[0] == NNHAL_HAL_1_1 && versions[1] == NNHAL_HAL_1_3,
	   "G17 versions of DIV and HARD_SWISH");

	make_if(&f);
	expect_version("G04 referenced subgraphs", NNHAL_HAL_1_3);
	make_dynamic_add(&f, 0);
	expect_version("G05 tensors of unknown rank", NNHAL_HAL_1_2);
	ok(!nnhal_model_get_operation_versions(&f.model, versions,
					       f.model.main.num_operations, &f.diag) &&
	   versions[0] == NNHAL_HAL_1_2, "G05 operation on tensors of unknown rank");
	make_dynamic_add(&f, 2);
	expect_version("G05 tensors of known rank", NNHAL_HAL_1_0);

	set_types(NNHAL_OPERAND_TENSOR_INT32);
	f.graph.operations[1].type = NNHAL_OPERATION_ABS;
	expect_version("G06 ADD of TENSOR_INT32", NNHAL_HAL_1_3);
	f.model.hal_version = NNHAL_HAL_1_2;
	expect_refusal("B18 G06 ADD of TENSOR_INT32 at 1.2",
		       "operation 0 (ADD)|since HAL 1.3|one of 1.2");
	set_types(NNHAL_OPERAND_TENSOR_FLOAT16);
	f.graph.operations[1].type = NNHAL_OPERATION_RELU;
	expect_version("G04 operand types of 1.2", NNHAL_HAL_1_2);

	make_add_relu(&f);
	f.model.relax_computation_float32_to_float16 = true;
	expect_version("G08 relaxed computation", NNHAL_HAL_1_0);
	f.graph.operands[2].type = NNHAL_OPERAND_FLOAT32;
	expect_version("no version at all", 0);
	ok(f.diag.message[0], "with a message");
	ok(nnhal_model_get_operation_versions(&f.model, versions, 2, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "versions of operations of an invalid model");
	make_add_relu(&f);
	ok(nnhal_model_get_operation_versions(&f.model, versions, 1, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "versions of one operation of two");
	ok(nnhal_model_get_operation_versions(&f.model, NULL, 2, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_model_get_operation_versions(NULL, versions, 2, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !nnhal_model_get_min_version(NULL, NULL),
	   "NULL pointers");
}

/* CONV_2D of TENSOR_QUANT8_ASYMM; operand 7 is the output. */
static void make_conv(float output_scale)
{
	static const uint32_t image[] = { 1, 2, 2, 1 }, one[] = { 1 };
	static const int32_t zero;
	static const uint8_t byte;
	uint32_t i;

	fixture_init(&f);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, NNHAL_LIFETIME_SUBGRAPH_INPUT, 4,
		    image);
	add_constant(&f, &f.graph, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, DIMS(1, 1, 1, 1), &byte, 1);
	add_constant(&f, &f.graph, NNHAL_OPERAND_TENSOR_INT32, 1, one, &zero, sizeof(zero));
	for (i = 3; i < 6; i++)
		add_int32(&f, &f.graph, 1);
	add_int32(&f, &f.graph, 0);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_QUANT8_ASYMM, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    4, image);
	f.graph.operands[0].scale = 0.5f;
	f.graph.operands[1].scale = 0.5f;
	f.graph.operands[2].scale = 0.25f;
	f.graph.operands[7].scale = output_scale;
	add_operation(&f.graph, NNHAL_OPERATION_CONV_2D, OPERANDS(0, 1, 2, 3, 4, 5, 6),
		      OPERANDS(7));
	graph_finish(&f.graph);
	f.model.main = f.graph.sg;
}

static void test_rules(void)
{
	make_conv(0.5f);
	expect_version("CONV_2D with a scale above the product", NNHAL_HAL_1_0);
	make_conv(0.25f);
	expect_version("CONV_2D with the product as scale", NNHAL_HAL_1_2);
	f.model.hal_version = NNHAL_HAL_1_1;
	expect_refusal("B26 CONV_2D with the product as scale at 1.1",
		       "operation 0 (CONV_2D)|scale|since HAL 1.2");
}

int main(void)
{
	test_messages();
	test_model_versions();
	test_rules();
	return tap_done();
}
