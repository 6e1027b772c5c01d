// SPDX-License-Identifier: MIT
/*
 * Models that devices have to share, and what else the fuzzer of the NNAPI makes besides calls.
 */
#include "ndk_graphs.h"

#include <nnhal/fence.h>
#include <unistd.h>

#include "device/device_private.h"
#include "ndk.h"
#include "nnpu_hw.h"
#include "transport/transport.h"

#define MAX_OPERATIONS	8

/* nnapi-reference is the last one. */
static const ANeuralNetworksDevice *devices[NUM_NDK_DEVICES];
static bool faults;

bool ndk_graphs_init(void)
{
	ANeuralNetworksDevice *device;

	devices[0] = ndk_device_add("adds", "sim:faults,refuse=MUL");
	devices[1] = ndk_device_add("multiplies", "sim:faults,refuse=ADD,refuse=RELU,refuse=WHILE");
	for (uint32_t i = 0; !ANeuralNetworks_getDevice(i, &device); i++)
		if (ndk_device_is_reference(device))
			devices[2] = device;
	return devices[0] && devices[1] && devices[2];
}

const ANeuralNetworksDevice *ndk_graphs_device(uint8_t number)
{
	return devices[number % NUM_NDK_DEVICES];
}

/* ---- models ---- */

struct graph {
	ANeuralNetworksModel *model;
	uint32_t num_operands;
	bool good;
};

static const uint32_t four[1] = { 4 }, one[1] = { 1 };
static const ANeuralNetworksOperandType vector = {
	ANEURALNETWORKS_TENSOR_FLOAT32, 1, four, 0.0f, 0
};
static const ANeuralNetworksOperandType count_type = {
	ANEURALNETWORKS_TENSOR_INT32, 1, one, 0.0f, 0
};
static const ANeuralNetworksOperandType truth = { ANEURALNETWORKS_TENSOR_BOOL8, 1, one, 0.0f, 0 };
static const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_INT32, 0, NULL, 0.0f, 0 };
static const ANeuralNetworksOperandType subgraph = { ANEURALNETWORKS_MODEL, 0, NULL, 0.0f, 0 };

static uint32_t operand(struct graph *g, const ANeuralNetworksOperandType *type)
{
	g->good = g->good && !ANeuralNetworksModel_addOperand(g->model, type);
	return g->num_operands++;
}

static uint32_t constant(struct graph *g, const ANeuralNetworksOperandType *type, const void *value,
			 size_t length)
{
	uint32_t index = operand(g, type);

	g->good = g->good && !ANeuralNetworksModel_setOperandValue(g->model, (int32_t)index, value,
								   length);
	return index;
}

static void operation(struct graph *g, int32_t type, const uint32_t *inputs, uint32_t num_inputs,
		      const uint32_t *outputs, uint32_t num_outputs)
{
	g->good = g->good && !ANeuralNetworksModel_addOperation(g->model, type, num_inputs, inputs,
								num_outputs, outputs);
}

static uint32_t binary(struct graph *g, int32_t type, uint32_t a, uint32_t b,
		       const ANeuralNetworksOperandType *result)
{
	static const int32_t none = ANEURALNETWORKS_FUSED_NONE;
	const uint32_t inputs[3] = { a, b, constant(g, &scalar, &none, sizeof(none)) };
	uint32_t output = operand(g, result);

	operation(g, type, inputs, 3, &output, 1);
	return output;
}

static void begin(struct graph *g)
{
	*g = (struct graph){ 0 };
	g->good = !ANeuralNetworksModel_create(&g->model);
}

static void end(struct graph *g, const uint32_t *inputs, uint32_t num_inputs, const uint32_t *outputs,
		uint32_t num_outputs)
{
	g->good = g->good &&
		  !ANeuralNetworksModel_identifyInputsAndOutputs(g->model, num_inputs, inputs,
								 num_outputs, outputs);
}

/* A finished model becomes a value of another one, which holds it from then on. */
static uint32_t as_value(struct graph *g, struct graph *inner)
{
	uint32_t index = operand(g, &subgraph);

	g->good = g->good && inner->good && !ANeuralNetworksModel_finish(inner->model) &&
		  !ANeuralNetworksModel_setOperandValueFromModel(g->model, (int32_t)index,
								 inner->model);
	ANeuralNetworksModel_free(inner->model);
	return index;
}

static uint32_t branch(struct graph *g, int32_t type)
{
	static const uint32_t inputs[2] = { 0, 1 };
	struct graph inner;
	uint32_t output;

	begin(&inner);
	operand(&inner, &vector);
	operand(&inner, &vector);
	output = binary(&inner, type, 0, 1, &vector);
	end(&inner, inputs, 2, &output, 1);
	return as_value(g, &inner);
}

static uint32_t add_if(struct graph *g, bool which, uint32_t a, uint32_t b)
{
	const uint32_t inputs[5] = {
		constant(g, &truth, &which, sizeof(which)), branch(g, ANEURALNETWORKS_ADD),
		branch(g, ANEURALNETWORKS_MUL), a, b
	};
	uint32_t output = operand(g, &vector);

	operation(g, ANEURALNETWORKS_IF, inputs, 5, &output, 1);
	return output;
}

/* Is the count less than @times? The vector is not looked at. */
static uint32_t condition(struct graph *g, int32_t times)
{
	static const uint32_t inputs[2] = { 0, 1 };
	struct graph inner;
	uint32_t pair[2], output;

	begin(&inner);
	pair[0] = operand(&inner, &count_type);
	operand(&inner, &vector);
	pair[1] = constant(&inner, &count_type, &times, sizeof(times));
	output = operand(&inner, &truth);
	operation(&inner, ANEURALNETWORKS_LESS, pair, 2, &output, 1);
	end(&inner, inputs, 2, &output, 1);
	return as_value(g, &inner);
}

static uint32_t body(struct graph *g)
{
	static const uint32_t inputs[2] = { 0, 1 };
	static const int32_t step = 1;
	struct graph inner;
	uint32_t outputs[2];

	begin(&inner);
	operand(&inner, &count_type);
	operand(&inner, &vector);
	outputs[0] = binary(&inner, ANEURALNETWORKS_ADD, 0,
			    constant(&inner, &count_type, &step, sizeof(step)), &count_type);
	outputs[1] = binary(&inner, ANEURALNETWORKS_ADD, 1, 1, &vector);
	end(&inner, inputs, 2, outputs, 2);
	return as_value(g, &inner);
}

static uint32_t add_while(struct graph *g, uint32_t a)
{
	static const int32_t zero;
	const uint32_t inputs[4] = {
		condition(g, 3), body(g), constant(g, &count_type, &zero, sizeof(zero)), a
	};
	const uint32_t outputs[2] = { operand(g, &count_type), operand(g, &vector) };

	operation(g, ANEURALNETWORKS_WHILE, inputs, 4, outputs, 2);
	return outputs[1];
}

static uint32_t add_one(struct graph *g, uint8_t what, uint32_t a, uint32_t b)
{
	uint32_t output;

	switch (what % 8) {
	case 0:
	case 1:
		return binary(g, ANEURALNETWORKS_ADD, a, b, &vector);
	case 2:
	case 3:
		return binary(g, ANEURALNETWORKS_MUL, a, b, &vector);
	case 4:
	case 5:
		return add_if(g, what & 1, a, b);
	case 6:
		return add_while(g, a);
	default:
		output = operand(g, &vector);
		operation(g, ANEURALNETWORKS_RELU, &a, 1, &output, 1);
		return output;
	}
}

ANeuralNetworksModel *ndk_graph(const uint8_t *bytes, size_t count)
{
	/* Vectors; inputs first. */
	uint32_t vectors[MAX_OPERATIONS + 2], outputs[MAX_OPERATIONS], num = 2, num_outputs = 0;
	bool read[MAX_OPERATIONS + 2] = { false };
	struct graph g;

	begin(&g);
	vectors[0] = operand(&g, &vector);
	vectors[1] = operand(&g, &vector);
	for (size_t i = 0; i + 3 <= count && num < MAX_OPERATIONS + 2; i += 3) {
		/* The first one reads both inputs, which have to be read. */
		uint32_t a = i ? bytes[i + 1] % num : 0, b = i ? bytes[i + 2] % num : 1;
		uint8_t what = i ? bytes[i] : bytes[i] % 6;

		vectors[num] = add_one(&g, what, vectors[a], vectors[b]);
		read[a] = true;
		read[b] = read[b] || what % 8 < 6;
		num++;
	}
	/* Every eighth is an output although it is read. */
	for (uint32_t i = 2; i < num; i++)
		if (!read[i] || (3 * (i - 2) < count && !(bytes[3 * (i - 2)] >> 5)))
			outputs[num_outputs++] = vectors[i];
	if (num_outputs)
		end(&g, vectors, 2, outputs, num_outputs);
	if (g.good)
		return g.model;
	ANeuralNetworksModel_free(g.model);
	return NULL;
}

ANeuralNetworksModel *ndk_add_model(uint8_t form, const float *values)
{
	static const uint32_t unknown[1] = { 0 };
	const ANeuralNetworksOperandType open = {
		ANEURALNETWORKS_TENSOR_FLOAT32, 1, form & 1 ? unknown : four, 0.0f, 0
	};
	const int32_t activation = form & 4 ? 999 : ANEURALNETWORKS_FUSED_RELU;
	uint32_t inputs[3], output;
	struct graph g;

	begin(&g);
	inputs[0] = operand(&g, &open);
	inputs[1] = form & 2 ? constant(&g, &vector, values, 16) : operand(&g, &open);
	inputs[2] = constant(&g, &scalar, &activation, sizeof(activation));
	output = operand(&g, &open);
	operation(&g, ANEURALNETWORKS_ADD, inputs, 3, &output, 1);
	end(&g, inputs, form & 2 ? 1 : 2, &output, 1);
	if (g.good)
		return g.model;
	ANeuralNetworksModel_free(g.model);
	return NULL;
}

/* ---- faults ---- */

static void inject(const ANeuralNetworksDevice *device, uint32_t kind, uint32_t count)
{
	int result;
	struct nnhal_device *open = ndk_device_open(device, &result);

	if (open)
		transport_sim_inject(open->transport, kind, count);
	nnhal_device_unref(open);
}

void ndk_graphs_fault(uint8_t device, bool fatal)
{
	inject(devices[device % 2], fatal ? NNPU_INJECT_FATAL : NNPU_INJECT_DMA_ERROR, 1);
	faults = true;
}

void ndk_graphs_mend(void)
{
	for (unsigned int i = 0; faults && i < 2; i++) {
		inject(devices[i], NNPU_INJECT_FATAL, 0);
		inject(devices[i], NNPU_INJECT_DMA_ERROR, 0);
	}
	faults = false;
}

/* ---- fences ---- */

void ndk_fences_init(struct ndk_fences *fences)
{
	for (unsigned int i = 0; i < NUM_NDK_FENCES; i++)
		fences->signals[i] = -1;
}

int ndk_fences_add(struct ndk_fences *fences, uint8_t number)
{
	int *signal = &fences->signals[number % NUM_NDK_FENCES], fence = -1;

	if (*signal < 0 && nnhal_fence_create(&fence, signal)) {
		*signal = -1;
		return -1;
	}
	return fence;
}

void ndk_fences_signal(struct ndk_fences *fences, uint8_t number, int error)
{
	int *signal = &fences->signals[number % NUM_NDK_FENCES];

	if (*signal < 0)
		return;
	/* Closed without a signal it has an error, too. */
	if (error < 1)
		nnhal_fence_signal(*signal, error);
	close(*signal);
	*signal = -1;
}

void ndk_fences_signal_all(struct ndk_fences *fences)
{
	for (uint8_t i = 0; i < NUM_NDK_FENCES; i++)
		ndk_fences_signal(fences, i, 0);
}
