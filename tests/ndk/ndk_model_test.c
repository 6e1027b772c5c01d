// SPDX-License-Identifier: MIT
/*
 * Models of libneuralnetworks: operands and operations that are refused, order, models in models,
 * what devices say about them.
 */
#include <math.h>

#include "ndk_parts.h"

#define OPERAND(code, rank, dims, scale, zero) \
	(&(ANeuralNetworksOperandType) { ANEURALNETWORKS_##code, rank, dims, scale, zero })

static void test_operands(void)
{
	static const uint32_t huge[2] = { 65536, 65536 }, open[2] = { 0, 3 };
	const struct {
		const char *what;
		const ANeuralNetworksOperandType *type;
		int result;
	} cases[] = {
		{ "scalar with dimensions", OPERAND(FLOAT32, 1, four, 0, 0), 4 },
		{ "count without dimensions", OPERAND(TENSOR_FLOAT32, 1, NULL, 0, 0), 4 },
		{ "dimensions without count", OPERAND(TENSOR_FLOAT32, 0, four, 0, 0), 4 },
		{ "negative scale", OPERAND(TENSOR_QUANT8_ASYMM, 1, four, -1, 0), 4 },
		{ "quantized without scale", OPERAND(TENSOR_QUANT8_ASYMM, 1, four, 0, 0), 4 },
		{ "scale NaN", OPERAND(TENSOR_QUANT8_ASYMM, 1, four, NAN, 0), 4 },
		{ "scale of a float", OPERAND(TENSOR_FLOAT32, 1, four, 1, 0), 4 },
		{ "zero point of a float", OPERAND(TENSOR_FLOAT32, 1, four, 0, 1), 4 },
		{ "zero point 256", OPERAND(TENSOR_QUANT8_ASYMM, 1, four, 1, 256), 4 },
		{ "zero point -1", OPERAND(TENSOR_QUANT8_ASYMM, 1, four, 1, -1), 4 },
		{ "signed zero point -129", OPERAND(TENSOR_QUANT8_ASYMM_SIGNED, 1, four, 1, -129), 4 },
		{ "channels with a scale", OPERAND(TENSOR_QUANT8_SYMM_PER_CHANNEL, 1, four, 1, 0), 4 },
		{ "model with dimensions", OPERAND(MODEL, 1, four, 0, 0), 4 },
		{ "more than 32 bits", OPERAND(TENSOR_FLOAT32, 2, huge, 0, 0), 4 },
		{ "type 16", &(ANeuralNetworksOperandType){ 16, 0, NULL, 0, 0 }, 4 },
		{ "type -1", &(ANeuralNetworksOperandType){ -1, 0, NULL, 0, 0 }, 4 },
		{ "extension that nobody asked for",
		  &(ANeuralNetworksOperandType){ 1 << 16, 0, NULL, 0, 0 }, 4 },
		{ "unknown rank", OPERAND(TENSOR_FLOAT32, 0, NULL, 0, 0), 0 },
		{ "unknown dimension", OPERAND(TENSOR_FLOAT32, 2, open, 0, 0), 0 },
		{ "signed zero point -128", OPERAND(TENSOR_QUANT8_ASYMM_SIGNED, 1, four, 1, -128), 0 },
		{ "channels", OPERAND(TENSOR_QUANT8_SYMM_PER_CHANNEL, 1, four, 0, 0), 0 },
		{ "model", OPERAND(MODEL, 0, NULL, 0, 0), 0 },
		{ "OEM scalar", OPERAND(OEM_SCALAR, 0, NULL, 0, 0), 0 },
		{ "OEM tensor", OPERAND(TENSOR_OEM_BYTE, 1, four, 0, 0), 0 },
	};
	ANeuralNetworksModel *m = NULL;
	size_t i;

	ANeuralNetworksModel_create(&m);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(ANeuralNetworksModel_addOperand(m, cases[i].type), cases[i].result,
		   cases[i].what);
	/* Numbers of those that were added: 0 to 6. */
	is(ANeuralNetworksModel_setOperandValue(m, 0, &i, 4), 4, "constant of unknown rank");
	is(ANeuralNetworksModel_setOperandValue(m, 1, &i, 0), 4, "constant of unknown shape");
	is(ANeuralNetworksModel_setOperandValue(m, 2, &i, 3), 4, "constant with a wrong length");
	is(ANeuralNetworksModel_setOperandValue(m, 2, &i, 4), 0, "constant after errors");
	is(ANeuralNetworksModel_setOperandValue(m, 4, &i, 4), 4, "bytes for a model");
	is(ANeuralNetworksModel_setOperandValue(m, 4, NULL, 0), 4, "nothing for a model");
	is(ANeuralNetworksModel_setOperandValue(m, 5, cases, 77), 0, "OEM scalar of 77 bytes");
	is(ANeuralNetworksModel_setOperandValue(m, 7, &i, 4), 4, "index beyond the last one");
	is(ANeuralNetworksModel_setOperandValue(m, -1, &i, 4), 4, "index -1");
	ANeuralNetworksModel_free(m);
}

static void test_channels(void)
{
	static const float good[4] = { 1, 2, 3, 4 }, bad[4] = { 1, 2, 0, 4 };
	const ANeuralNetworksSymmPerChannelQuantParams fit = { 0, 4, good };
	const ANeuralNetworksSymmPerChannelQuantParams no_scales = { 0, 4, NULL };
	const ANeuralNetworksSymmPerChannelQuantParams three = { 0, 3, good };
	const ANeuralNetworksSymmPerChannelQuantParams dimension = { 1, 4, good };
	const ANeuralNetworksSymmPerChannelQuantParams zero = { 0, 4, bad };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_QUANT8_SYMM_PER_CHANNEL, 1, four, 0, 0));
	ANeuralNetworksModel_addOperand(m, &floats);
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &no_scales), 4,
	   "scales NULL");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &three), 4,
	   "three scales for four channels");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &dimension), 4,
	   "channelDim beyond the rank");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &zero), 4, "scale 0");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 1, &fit), 4,
	   "scales of a float");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 2, &fit), 4, "index 2");
	is(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(m, 0, &fit), 0, "scales");
	ANeuralNetworksModel_free(m);
}

static void test_operations(void)
{
	static const uint32_t beyond[3] = { 0, 1, 4 }, swapped[3] = { 2, 1, 0 };
	static const uint32_t twice[2] = { 0, 0 }, constant[1] = { 2 }, both[2] = { 0, 3 };
	ANeuralNetworksModel *m = add_operands();

	is(ANeuralNetworksModel_addOperation(m, 102, 3, add_inputs, 1, add_output), 4, "type 102");
	is(ANeuralNetworksModel_addOperation(m, -1, 3, add_inputs, 1, add_output), 4, "type -1");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, beyond, 1, add_output), 4, "operand 4");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, add_inputs, 1, &beyond[2]), 4, "output 4");
	is(ANeuralNetworksModel_addOperation(m, 0, 2, add_inputs, 1, add_output), 4, "two inputs");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, swapped, 1, add_output), 4, "wrong types");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, add_inputs, 0, add_output), 4, "no output");
	is(ANeuralNetworksModel_addOperation(m, 0, UINT32_MAX, add_inputs, 1, add_output), 4,
	   "a count beyond 31 bits");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, add_inputs, 1, add_output), 0, "ADD");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, twice, 1, add_output), 4,
	   "an input twice");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, both, 1, add_output), 4,
	   "an operand in both lists");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, constant, 1, add_output), 4,
	   "a constant as input");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &beyond[2], 1, add_output), 4,
	   "input 4");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, add_inputs, 1, add_output), 0,
	   "inputs and outputs after errors");
	is(ANeuralNetworksModel_finish(m), 0, "finish");
	ANeuralNetworksModel_free(m);
}

/* Values are not looked at before an execution. */
static void test_bad_activation(void)
{
	const struct ANeuralNetworksDevice *list[1] = { reference_device() };
	static const int32_t activation = 999;
	static const uint32_t inputs[3] = { 0, 0, 1 }, output[1] = { 2 };
	bool supported[1] = { true };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	ANeuralNetworksModel_addOperand(m, &floats);
	is(ANeuralNetworksModel_setOperandValue(m, 1, &activation, 4), 0, "activation 999");
	is(ANeuralNetworksModel_addOperation(m, 0, 3, inputs, 1, output), 0, "ADD with it");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, inputs, 1, output), 0, "inputs");
	is(ANeuralNetworksModel_finish(m), 0, "finish with it");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 1, supported), 0,
	   "support");
	ok(!supported[0], "the device does not support it");
	ANeuralNetworksModel_free(m);
}

/*
 * A chain x -> RELU -> RELU6 -> ... in which the operations are added from the last one, and the
 * first that is added is one that no device has: the answer is in the order of the program.
 */
static void test_order(void)
{
	const struct ANeuralNetworksDevice *list[1] = { reference_device() };
	bool supported[4] = { false };
	ANeuralNetworksModel *m = NULL;
	uint32_t i;

	ANeuralNetworksModel_create(&m);
	for (i = 0; i < 5; i++)
		ANeuralNetworksModel_addOperand(m, &floats);
	for (i = 4; i > 0; i--)
		ANeuralNetworksModel_addOperation(m, i == 4 ? ANEURALNETWORKS_OEM_OPERATION :
						     ANEURALNETWORKS_RELU,
						  1, &(uint32_t){ i - 1 }, 1, &(uint32_t){ i });
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &(uint32_t){ 0 }, 1,
							 &(uint32_t){ 4 }), 0, "chain");
	is(ANeuralNetworksModel_finish(m), 0, "finish of a chain in reverse");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 1, supported), 0,
	   "support of a chain in reverse");
	ok(!supported[0] && supported[1] && supported[2] && supported[3],
	   "all but the first one that was added: %d %d %d %d", supported[0], supported[1],
	   supported[2], supported[3]);
	ANeuralNetworksModel_free(m);
}

/* RELU @from[i] -> @to[i] for each of @count; input 0, output 3. */
static int finish_of(const uint32_t *from, const uint32_t *to, uint32_t count)
{
	ANeuralNetworksModel *m = NULL;
	uint32_t i;
	int result;

	ANeuralNetworksModel_create(&m);
	for (i = 0; i < 4; i++)
		ANeuralNetworksModel_addOperand(m, &floats);
	for (i = 0; i < count; i++)
		if (ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_RELU, 1, &from[i], 1,
						      &to[i]))
			ok(false, "RELU %u -> %u", from[i], to[i]);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &(uint32_t){ 0 }, 1,
						      &(uint32_t){ 3 });
	result = ANeuralNetworksModel_finish(m);
	ANeuralNetworksModel_free(m);
	return result;
}

static void test_graphs(void)
{
	ANeuralNetworksModel *m = NULL;

	is(finish_of((uint32_t[]){ 0, 1, 2 }, (uint32_t[]){ 1, 2, 3 }, 3), 0, "a chain");
	is(finish_of((uint32_t[]){ 0, 1 }, (uint32_t[]){ 1, 3 }, 2), 4, "an unused operand");
	is(finish_of((uint32_t[]){ 0, 2, 1 }, (uint32_t[]){ 3, 1, 2 }, 3), 4, "a cycle");
	is(finish_of((uint32_t[]){ 0, 1, 1, 2 }, (uint32_t[]){ 1, 2, 2, 3 }, 4), 4,
	   "an operand that is written twice");
	is(finish_of((uint32_t[]){ 0, 1, 2, 1 }, (uint32_t[]){ 1, 2, 3, 0 }, 4), 4,
	   "an input that is written");
	is(finish_of((uint32_t[]){ 0, 1 }, (uint32_t[]){ 1, 2 }, 2), 4,
	   "an output that nobody writes");
	ANeuralNetworksModel_create(&m);
	is(ANeuralNetworksModel_finish(m), 4, "an empty model");
	ANeuralNetworksModel_free(m);
}

/* y = x + c, not finished; the constant may be large enough to stay where it is. */
static ANeuralNetworksModel *branch(const float *constant, const uint32_t *dims)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	ANeuralNetworksOperandType type = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, 0, 0 };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_setOperandValue(m, 1, constant, dims[0] * sizeof(*constant));
	ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof(none));
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3, add_inputs, 1, add_output);
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, add_inputs, 1, add_output);
	return m;
}

static void test_if(void)
{
	static const float constant[64] = { 1 };
	static const uint32_t one[1] = { 1 }, dims[1] = { 64 }, inputs[4] = { 0, 1, 2, 3 };
	static const uint32_t outer[2] = { 0, 3 };
	const struct ANeuralNetworksDevice *list[1] = { reference_device() };
	ANeuralNetworksOperandType type = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, 0, 0 };
	ANeuralNetworksModel *sub = branch(constant, dims), *m = NULL, *broken = add_operands();
	bool supported[1] = { false };

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_BOOL8, 1, one, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(MODEL, 0, NULL, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(MODEL, 0, NULL, 0, 0));
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_addOperand(m, &type);
	is(ANeuralNetworksModel_finish(sub), 0, "finish of a branch");
	ANeuralNetworksModel_finish(broken);
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 1, broken), 4,
	   "a model whose finish has failed");
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 3, sub), 4, "a model for a tensor");
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_IF, 4, inputs, 1,
					     &(uint32_t){ 4 }), 4, "IF without models");
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 1, sub), 0, "then");
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 2, sub), 0, "else: the same model");
	is(ANeuralNetworksModel_setOperandValueFromModel(m, 2, sub), 6, "a model twice");
	/* In this order: the outer model keeps the inner one. */
	ANeuralNetworksModel_free(sub);
	ANeuralNetworksModel_free(broken);
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_IF, 4, inputs, 1,
					     &(uint32_t){ 4 }), 0, "IF");
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, outer, 1, &(uint32_t){ 4 }), 0,
	   "inputs and outputs");
	is(ANeuralNetworksModel_finish(m), 0, "finish of IF");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 1, supported), 0,
	   "support of IF");
	ok(supported[0], "the device supports IF");
	ANeuralNetworksModel_free(m);
}

/* y = x + c[0:40] for a c of 80: more bytes than the constant of the other branch has. */
static ANeuralNetworksModel *slicing_branch(const float *constant, const uint32_t *dims)
{
	static const uint32_t eighty[1] = { 80 }, one[1] = { 1 };
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE, begin = 0, size = 40;
	ANeuralNetworksOperandType type = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, 0, 0 };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_FLOAT32, 1, eighty, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_INT32, 1, one, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_INT32, 1, one, 0, 0));
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_setOperandValue(m, 1, constant, 80 * sizeof(*constant));
	ANeuralNetworksModel_setOperandValue(m, 2, &begin, sizeof(begin));
	ANeuralNetworksModel_setOperandValue(m, 3, &size, sizeof(size));
	ANeuralNetworksModel_setOperandValue(m, 5, &none, sizeof(none));
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_SLICE, 3,
					  (uint32_t[]){ 1, 2, 3 }, 1, (uint32_t[]){ 4 });
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, 3,
					  (uint32_t[]){ 0, 4, 5 }, 1, (uint32_t[]){ 6 });
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, (uint32_t[]){ 0 }, 1,
						      (uint32_t[]){ 6 });
	return m;
}

/*
 * Models of IF: inputs condition and tensor. With @nested the branches are made by this function,
 * too, and get the condition; the references to the branches go to it.
 */
static ANeuralNetworksModel *choose(ANeuralNetworksModel *then, ANeuralNetworksModel *other,
				    const uint32_t *dims, bool nested)
{
	static const uint32_t one[1] = { 1 }, plain[4] = { 0, 1, 2, 3 };
	static const uint32_t with_condition[5] = { 0, 1, 2, 0, 3 };
	ANeuralNetworksOperandType type = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, dims, 0, 0 };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_BOOL8, 1, one, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(MODEL, 0, NULL, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(MODEL, 0, NULL, 0, 0));
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_addOperand(m, &type);
	ANeuralNetworksModel_setOperandValueFromModel(m, 1, then);
	ANeuralNetworksModel_setOperandValueFromModel(m, 2, other);
	ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_IF, nested ? 5 : 4,
					  nested ? with_condition : plain, 1, (uint32_t[]){ 4 });
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 2, (uint32_t[]){ 0, 3 }, 1,
						      (uint32_t[]){ 4 });
	if (other != then)
		ANeuralNetworksModel_free(other);
	ANeuralNetworksModel_free(then);
	return m;
}

static void test_nesting(void)
{
	static const float constant[80] = { 1 };
	static const uint32_t dims[1] = { 40 };
	const struct ANeuralNetworksDevice *list[1] = { reference_device() };
	struct ANeuralNetworksModel *then = branch(constant, dims), *m;
	struct ANeuralNetworksModel *other = slicing_branch(constant, dims);
	bool supported[1] = { false };
	int depth, result = 0;

	is(ANeuralNetworksModel_finish(then), 0, "finish of a branch with 160 bytes");
	is(ANeuralNetworksModel_finish(other), 0, "finish of a branch with 320 bytes");
	m = choose(then, other, dims, false);
	is(ANeuralNetworksModel_finish(m), 0, "finish of IF of two models");
	is(ANeuralNetworksModel_getSupportedOperationsForDevices(m, list, 1, supported), 0,
	   "support of IF of two models");
	ok(supported[0], "the device supports IF of two models");
	/* Each refers to the one before twice: 2^24 models if that were two. */
	for (depth = 0; depth < 24 && !result; depth++) {
		m = choose(m, m, dims, true);
		result = ANeuralNetworksModel_finish(m);
	}
	is(result, 0, "24 models that each name the next one twice");
	ANeuralNetworksModel_free(m);
}

/* What the HAL limits: ranks of operations on each element, the scale of a product. */
static void test_limits(void)
{
	static const uint32_t rank5[5] = { 1, 2, 2, 2, 2 };
	static const struct { int type; int result; const char *what; } ranks[] = {
		{ ANEURALNETWORKS_FLOOR, 4, "FLOOR of rank 5" }, { ANEURALNETWORKS_RELU, 4, "RELU of rank 5" },
		{ ANEURALNETWORKS_TANH, 4, "TANH of rank 5" }, { ANEURALNETWORKS_LOGISTIC, 4, "LOGISTIC of rank 5" },
		{ ANEURALNETWORKS_EXP, 0, "EXP of rank 5" }, { ANEURALNETWORKS_ABS, 0, "ABS of rank 5" },
	};
	static const struct { float a, b, out; int result; const char *what; } products[] = {
		{ 1, 1, 1, 4, "a product whose scale is that of the factors" },
		{ 0.5f, 0.5f, 0.25f, 4, "a product of halves in quarters" },
		{ 0.5f, 0.5f, 0.125f, 4, "a product of halves in eighths" },
		{ 0.5f, 0.5f, 0.26f, 0, "a product of a coarser scale" },
	};
	ANeuralNetworksModel *m = NULL;
	uint32_t n = 1;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &int_scalar);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++, n += 2) {
		ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_FLOAT32, 5, rank5, 0, 0));
		ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_FLOAT32, 5, rank5, 0, 0));
		is(ANeuralNetworksModel_addOperation(m, ranks[i].type, 1, &(uint32_t){ n }, 1, &(uint32_t){ n + 1 }),
		   ranks[i].result, ranks[i].what);
	}
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++, n += 3) {
		uint32_t inputs[3] = { n, n + 1, 0 };

		ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_QUANT8_ASYMM, 1, four, products[i].a, 0));
		ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_QUANT8_ASYMM, 1, four, products[i].b, 0));
		ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_QUANT8_ASYMM, 1, four, products[i].out, 0));
		is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, 3, inputs, 1, &(uint32_t){ n + 2 }),
		   products[i].result, products[i].what);
	}
	ANeuralNetworksModel_free(m);
}

/* One operation is added, and its model is refused. */
static void refused_later(ANeuralNetworksModel *m, int type, uint32_t num_inputs, const char *what)
{
	static const uint32_t inputs[3] = { 0, 1, 2 };

	is(ANeuralNetworksModel_addOperation(m, type, num_inputs, inputs, 1, &num_inputs), 0, what);
	is(ANeuralNetworksModel_identifyInputsAndOutputs(m, num_inputs, inputs, 1, &num_inputs), 0, what);
	is(ANeuralNetworksModel_finish(m), 4, what);
	ANeuralNetworksModel_free(m);
}

static ANeuralNetworksModel *model_of(const ANeuralNetworksOperandType *const *types, unsigned int count)
{
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	for (unsigned int i = 0; i < count; i++)
		ANeuralNetworksModel_addOperand(m, types[i]);
	return m;
}

/* What addOperation() takes, as the NNAPI does, and finish() does not. */
static void test_lax(void)
{
	static const uint32_t cube[4] = { 2, 2, 2, 2 }, eight[1] = { 8 };
	const ANeuralNetworksOperandType *const floats4 = OPERAND(TENSOR_FLOAT32, 4, cube, 0, 0);
	const ANeuralNetworksOperandType *const list = OPERAND(TENSOR_INT32, 1, eight, 0, 0);
	const ANeuralNetworksOperandType *const scalar = OPERAND(FLOAT32, 0, NULL, 0, 0);
	const ANeuralNetworksOperandType *const channels =
		OPERAND(TENSOR_QUANT8_SYMM_PER_CHANNEL, 4, cube, 0, 0);

	refused_later(model_of((const ANeuralNetworksOperandType *[]){ floats4, list, floats4 }, 3),
		      ANEURALNETWORKS_PAD, 2, "PAD with paddings of rank 1");
	refused_later(model_of((const ANeuralNetworksOperandType *[]){ floats4, list, scalar, floats4 }, 4),
		      ANEURALNETWORKS_PAD_V2, 3, "PAD_V2 with paddings of rank 1");
	refused_later(model_of((const ANeuralNetworksOperandType *[]){ floats4, list, list, floats4 }, 4),
		      ANEURALNETWORKS_SPACE_TO_BATCH_ND, 3, "SPACE_TO_BATCH_ND with paddings of rank 1");
	refused_later(model_of((const ANeuralNetworksOperandType *[]){ channels, floats4 }, 2),
		      ANEURALNETWORKS_DEQUANTIZE, 1, "DEQUANTIZE of channels without parameters");
}

static void test_extension(void)
{
	ANeuralNetworksModel *m = add_operands();
	int32_t type = -5, other = -5;

	is(ANeuralNetworksModel_getExtensionOperandType(m, "com.nobody", 1, &type), 4,
	   "an extension that no device has");
	ok(type == -5, "the out-parameter was left alone");
	is(ANeuralNetworksModel_getExtensionOperationType(m, "org.nnpu.tflite", 7, &type), 0,
	   "operation 7");
	is(ANeuralNetworksModel_getExtensionOperandType(m, "org.nnpu.tflite", 9, &other), 0,
	   "operand type 9");
	ok(type >> 16 == other >> 16 && type >> 16 && (type & 0xffff) == 7 &&
	   (other & 0xffff) == 9, "one prefix: 0x%x and 0x%x", (unsigned int)type,
	   (unsigned int)other);
	is(ANeuralNetworksModel_setOperandExtensionData(m, 0, &type, 4), 4, "data of a float");
	is(ANeuralNetworksModel_setOperandExtensionData(m, 9, &type, 4), 4, "data of operand 9");
	ANeuralNetworksModel_free(m);
}

/*
 * IF whose branches have an operation of an extension that the model itself never asked for: the branches number it
 * for themselves.
 */
static void test_extension_in_branches(void)
{
	static const uint32_t one[1] = { 1 }, inputs[2] = { 0, 1 }, outer[3] = { 0, 3, 4 };
	static const float a[4] = { 1, 2, 3, 4 }, b[4] = { 3, 5, 7, 9 };
	static const uint8_t yes = 1;
	ANeuralNetworksModel *sub = NULL, *m = NULL;
	ANeuralNetworksCompilation *c;
	ANeuralNetworksExecution *e = NULL;
	float out[4] = { 0 };
	int32_t type = 0;

	ANeuralNetworksModel_create(&sub);
	ANeuralNetworksModel_getExtensionOperationType(sub, "org.nnpu.tflite", 99, &type);
	for (int i = 0; i < 3; i++)
		ANeuralNetworksModel_addOperand(sub, &floats);
	is(ANeuralNetworksModel_addOperation(sub, type, 2, inputs, 1, &(uint32_t){ 2 }), 0, "SQUARED_DIFFERENCE");
	ANeuralNetworksModel_identifyInputsAndOutputs(sub, 2, inputs, 1, &(uint32_t){ 2 });
	is(ANeuralNetworksModel_finish(sub), 0, "finish of a branch with an extension");
	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, OPERAND(TENSOR_BOOL8, 1, one, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(MODEL, 0, NULL, 0, 0));
	ANeuralNetworksModel_addOperand(m, OPERAND(MODEL, 0, NULL, 0, 0));
	for (int i = 0; i < 3; i++)
		ANeuralNetworksModel_addOperand(m, &floats);
	ANeuralNetworksModel_setOperandValueFromModel(m, 1, sub);
	ANeuralNetworksModel_setOperandValueFromModel(m, 2, sub);
	ANeuralNetworksModel_free(sub);
	is(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_IF, 5, (uint32_t[]){ 0, 1, 2, 3, 4 }, 1,
					     &(uint32_t){ 5 }), 0, "IF with it");
	ANeuralNetworksModel_identifyInputsAndOutputs(m, 3, outer, 1, &(uint32_t){ 5 });
	is(ANeuralNetworksModel_finish(m), 0, "finish of IF with it");
	c = compiled(m, true);
	ANeuralNetworksExecution_create(c, &e);
	ANeuralNetworksExecution_setInput(e, 0, NULL, &yes, 1);
	ANeuralNetworksExecution_setInput(e, 1, NULL, a, sizeof(a));
	ANeuralNetworksExecution_setInput(e, 2, NULL, b, sizeof(b));
	ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof(out));
	is(ANeuralNetworksExecution_compute(e), 0, "compute IF with it");
	ok(out[0] == 4 && out[3] == 25, "squares: %g to %g", out[0], out[3]);
	ANeuralNetworksExecution_free(e);
	ANeuralNetworksCompilation_free(c);
	ANeuralNetworksModel_free(m);
}

/* What a value of an OEM type is only its maker knows: it may have no bytes, also as the first one. */
static void test_empty_value(void)
{
	const ANeuralNetworksOperandType oem = { ANEURALNETWORKS_OEM_SCALAR, 0, NULL, 0.0f, 0 };
	const uint8_t nothing[1] = { 0 };
	ANeuralNetworksModel *m = NULL;

	ANeuralNetworksModel_create(&m);
	ANeuralNetworksModel_addOperand(m, &oem);
	is(ANeuralNetworksModel_setOperandValue(m, 0, nothing, 0), ANEURALNETWORKS_NO_ERROR,
	   "an OEM value without bytes");
	is(ANeuralNetworksModel_setOperandValue(m, 0, nothing, 1), ANEURALNETWORKS_BAD_STATE,
	   "which is a value");
	ANeuralNetworksModel_free(m);
}

int main(void)
{
	test_operands();
	test_channels();
	test_operations();
	test_bad_activation();
	test_order();
	test_graphs();
	test_if();
	test_nesting();
	test_limits();
	test_lax();
	test_extension();
	test_extension_in_branches();
	test_empty_value();
	return tap_done();
}
