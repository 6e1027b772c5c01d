// SPDX-License-Identifier: MIT
/*
 * The model that is measured, its requests and bursts.
 */
#include <stdio.h>
#include <string.h>

#include "nnbench.h"

/* ADD of two single floats: as little work as an operation can be. */
int prepare(struct bench *b)
{
	static const uint32_t dims[] = { 1 }, inputs[] = { 0, 1, 2 }, outputs[] = { 3 };
	static const int32_t activation;
	const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = dims,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = dims,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 1,
		  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY,
		  .location = { .length = sizeof(activation) } },
		{ .type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = dims,
		  .lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT },
	};
	const struct nnhal_operation operation = {
		.type = NNHAL_OPERATION_ADD,
		.num_inputs = 3, .inputs = inputs, .num_outputs = 1, .outputs = outputs,
	};
	const struct nnhal_model model = {
		.main = {
			.num_operands = 4, .operands = operands,
			.num_operations = 1, .operations = &operation,
			.num_inputs = 2, .input_indexes = inputs,
			.num_outputs = 1, .output_indexes = outputs,
		},
		.operand_values = &activation,
		.operand_values_size = sizeof(activation),
	};
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_diag diag = { .message = "" };
	enum nnhal_status status;

	status = nnhal_device_open(b->device_spec, &b->device, &diag);
	if (status)
		return failed(b->device_spec, status, &diag);
	options.diag = &diag;
	status = nnhal_device_prepare_model_sync(b->device, &model, &options, &b->model);
	if (status)
		return failed("prepare", status, &diag);
	status = nnhal_memory_create(4096, &b->memory, &diag);
	if (status)
		return failed("memory", status, &diag);
	b->data = nnhal_memory_map(b->memory, &diag);
	if (!b->data)
		return failed("memory", NNHAL_STATUS_GENERAL_FAILURE, &diag);
	b->data[0] = 1;
	b->data[16] = 2;
	return 0;
}

void unprepare(struct bench *b)
{
	nnhal_memory_unref(b->memory);
	nnhal_prepared_model_unref(b->model);
	nnhal_device_unref(b->device);
}

void request_init(struct bench *b, struct add_request *r, unsigned int i)
{
	memset(r, 0, sizeof(*r));
	r->pool.memory = b->memory;
	r->inputs[0].location.length = sizeof(float);
	r->inputs[1].location.offset = 64;
	r->inputs[1].location.length = sizeof(float);
	r->output.location.offset = 128 + 64 * i;
	r->output.location.length = sizeof(float);
	r->request.num_inputs = 2;
	r->request.inputs = r->inputs;
	r->request.num_outputs = 1;
	r->request.outputs = &r->output;
	r->request.num_pools = 1;
	r->request.pools = &r->pool;
}

int check_sums(struct bench *b, unsigned int num, const char *what)
{
	int ret = 0;

	if (b->null_device)
		return 0;
	for (unsigned int i = 0; i < num; i++) {
		if (b->data[32 + 16 * i] != 3)
			ret = -1;
		b->data[32 + 16 * i] = 0;
	}
	if (ret)
		fprintf(stderr, "nnbench: %s gave a wrong sum\n", what);
	return ret;
}

struct nnhal_burst *open_burst(struct bench *b, unsigned int depth, uint32_t spin_us,
			       uint32_t flags)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_diag diag = { .message = "" };
	struct nnhal_burst *burst;
	enum nnhal_status status;

	options.depth = depth;
	options.spin_us = spin_us;
	options.flags = flags;
	options.diag = &diag;
	status = nnhal_burst_create(b->model, &options, &burst);
	if (status)
		failed("burst", status, &diag);
	return burst;
}
