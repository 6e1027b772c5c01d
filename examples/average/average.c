// SPDX-License-Identifier: MIT
/*
 * average: a running average whose state stays on the device.
 *
 * Usage: average [DEVICE]
 *
 * DEVICE is "drm" (the first NNPU of the machine, the default) or "sim" (the device model
 * in this process, for machines without one).
 *
 * The model computes new state = (old state + sample) / 2. Old and new state are two buffers of
 * the device, which change places with each step. The program writes samples, and reads the state
 * once, at the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#define STEPS	20
/* Averages that run side by side. */
#define COUNT	4

static struct nnhal_diag diag;

static void check(enum nnhal_status status, const char *what)
{
	if (status == NNHAL_STATUS_NONE)
		return;
	fprintf(stderr, "average: %s: %s %s\n", what, nnhal_status_name(status), diag.message);
	exit(1);
}

/* Operand 4 = ADD(0, 1, 2), operand 5 = MUL(4, 3, 2): 0 sample, 1 old state, 5 new state. */
static struct nnhal_prepared_model *prepare(struct nnhal_device *device)
{
	const uint32_t shape[] = { COUNT }, one[] = { 1 };
	const uint32_t add_inputs[] = { 0, 1, 2 }, mul_inputs[] = { 4, 3, 2 };
	const uint32_t sum[] = { 4 }, outputs[] = { 5 };
	const struct {
		int32_t activation;
		float half;
	} values = { NNHAL_FUSED_NONE, 0.5f };
	const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 2,
		  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY, .location = { .length = 4 } },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = one,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,
		  .location = { .offset = 4, .length = 4 } },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_TEMPORARY_VARIABLE },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT },
	};
	const struct nnhal_operation operations[] = {
		{ .type = NNHAL_OPERATION_ADD, .num_inputs = 3, .inputs = add_inputs,
		  .num_outputs = 1, .outputs = sum },
		{ .type = NNHAL_OPERATION_MUL, .num_inputs = 3, .inputs = mul_inputs,
		  .num_outputs = 1, .outputs = outputs },
	};
	const struct nnhal_model model = {
		.hal_version = NNHAL_HAL_1_3,
		.main = { .num_operands = 6, .operands = operands, .num_operations = 2,
			  .operations = operations, .num_inputs = 2, .input_indexes = add_inputs,
			  .num_outputs = 1, .output_indexes = outputs },
		.operand_values = (const uint8_t *)&values,
		.operand_values_size = sizeof(values),
	};
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared;

	options.diag = &diag;
	check(nnhal_device_prepare_model_sync(device, &model, &options, &prepared), "prepare");
	return prepared;
}

int main(int argc, char **argv)
{
	/* Each buffer is old state, input 1, in one step and new state, output 0, in the next. */
	const struct nnhal_buffer_role old_state = { .io_index = 1, .frequency = 1.0f };
	const struct nnhal_buffer_role new_state = { .io_index = 0, .frequency = 1.0f };
	const struct nnhal_buffer_desc desc = { .size = sizeof(desc) };
	/* Pool 0 has the sample, pools 1 and 2 are the buffers: arguments in them are the whole. */
	const struct nnhal_request_argument in[] = { { .location = { 0, 0, 4 * COUNT } },
						     { .location = { 1, 0, 0 } } };
	const struct nnhal_request_argument out = { .location = { 2, 0, 0 } };
	struct nnhal_request_pool pools[3] = { { .memory = NULL } };
	const struct nnhal_request request = { .hal_version = NNHAL_HAL_1_3, .num_inputs = 2,
					       .inputs = in, .num_outputs = 1, .outputs = &out,
					       .num_pools = 3, .pools = pools };
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	float expected[COUNT] = { 0 };
	struct nnhal_buffer *states[2];
	struct nnhal_prepared_model *prepared;
	struct nnhal_memory *memory;
	struct nnhal_device *device;
	uint32_t tokens[2];
	int step, i, wrong = 0;
	float *data;

	options.diag = &diag;
	check(nnhal_device_open(argc > 1 ? argv[1] : "drm", &device, &diag), "open the device");
	prepared = prepare(device);
	/* Exactly as large as the operand, because copies take no other memory. */
	check(nnhal_memory_create(4 * COUNT, &memory, &diag), "create memory");
	data = nnhal_memory_map(memory, &diag);
	check(data ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory");
	for (i = 0; i < 2; i++)
		check(nnhal_device_allocate(device, &desc, &prepared, 1, &old_state, 1, &new_state,
					    1, &states[i], &tokens[i], &diag), "allocate");
	/* A new buffer is uninitialised, and no input: the first state is zero. */
	check(nnhal_buffer_copy_from(states[0], memory, NULL, 0, &diag), "set the state");

	pools[0].memory = memory;
	for (step = 0; step < STEPS; step++) {
		for (i = 0; i < COUNT; i++) {
			data[i] = (float)(step * (i + 1) % 7);
			expected[i] = (expected[i] + data[i]) * 0.5f;
		}
		pools[1].token = tokens[step % 2];
		pools[2].token = tokens[(step + 1) % 2];
		check(nnhal_prepared_model_execute_synchronously(prepared, &request, &options, NULL,
								 NULL, NULL), "execute");
	}
	check(nnhal_buffer_copy_to(states[STEPS % 2], memory, &diag), "get the state");
	for (i = 0; i < COUNT; i++) {
		printf("average %d: %.4f\n", i, data[i]);
		wrong += data[i] != expected[i];
	}
	nnhal_buffer_unref(states[0]);
	nnhal_buffer_unref(states[1]);
	nnhal_memory_unref(memory);
	nnhal_prepared_model_unref(prepared);
	nnhal_device_unref(device);
	return wrong ? 1 : 0;
}
