// SPDX-License-Identifier: MIT
/*
 * hello: add two vectors on the device.
 *
 * Usage: hello [DEVICE]
 *
 * DEVICE is "drm" (the first NNPU of the machine, the default) or "sim" (the device model
 * in this process, for machines without one).
 */
#include <stdio.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

static struct nnhal_diag diag;

static void check(enum nnhal_status status, const char *what)
{
	if (status == NNHAL_STATUS_NONE)
		return;
	fprintf(stderr, "hello: %s: %s %s\n", what, nnhal_status_name(status), diag.message);
	exit(1);
}

int main(int argc, char **argv)
{
	/* The model: operand 3 = ADD(operand 0, operand 1, activation in operand 2). */
	const uint32_t shape[] = { 4 }, inputs[] = { 0, 1, 2 }, outputs[] = { 3 };
	const int32_t activation = NNHAL_FUSED_NONE;
	const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 1,
		  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY, .location = { .length = 4 } },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = shape,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT },
	};
	const struct nnhal_operation add = { .type = NNHAL_OPERATION_ADD, .num_inputs = 3,
					     .inputs = inputs, .num_outputs = 1,
					     .outputs = outputs };
	const struct nnhal_model model = {
		.hal_version = NNHAL_HAL_1_3,
		.main = { .num_operands = 4, .operands = operands, .num_operations = 1,
			  .operations = &add, .num_inputs = 2, .input_indexes = inputs,
			  .num_outputs = 1, .output_indexes = outputs },
		.operand_values = &activation, .operand_values_size = sizeof(activation),
	};
	/* The arguments: 16 bytes each, in one memory object. */
	const struct nnhal_request_argument in[] = { { .location = { 0, 0, 16 } },
						     { .location = { 0, 64, 16 } } };
	const struct nnhal_request_argument out = { .location = { 0, 128, 16 } };
	struct nnhal_request_pool pool = { .memory = NULL };
	const struct nnhal_request request = { .hal_version = NNHAL_HAL_1_3, .num_inputs = 2,
					       .inputs = in, .num_outputs = 1, .outputs = &out,
					       .num_pools = 1, .pools = &pool };
	struct nnhal_prepare_options how = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared;
	struct nnhal_device *device;
	int wrong = 0;
	float *data;

	/* Where these two calls say why they failed; all others have a parameter for it. */
	how.diag = &diag;
	options.diag = &diag;
	check(nnhal_device_open(argc > 1 ? argv[1] : "drm", &device, &diag), "open the device");
	check(nnhal_device_prepare_model_sync(device, &model, &how, &prepared), "prepare");
	check(nnhal_memory_create(4096, &pool.memory, &diag), "create memory");
	data = nnhal_memory_map(pool.memory, &diag);
	check(data ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory");
	for (int i = 0; i < 4; i++) {
		data[i] = i + 1;
		data[16 + i] = 10 * (i + 1);
	}
	check(nnhal_prepared_model_execute_synchronously(prepared, &request, &options, NULL, NULL,
							 NULL), "execute");
	for (int i = 0; i < 4; i++) {
		printf("%g + %g = %g\n", data[i], data[16 + i], data[32 + i]);
		wrong += data[32 + i] != data[i] + data[16 + i];
	}
	nnhal_memory_unref(pool.memory);
	nnhal_prepared_model_unref(prepared);
	nnhal_device_unref(device);
	return wrong ? 1 : 0;
}
