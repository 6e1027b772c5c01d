// SPDX-License-Identifier: MIT
/*
 * rapid: the shortest way from inputs to outputs, and results in an event loop.
 *
 * Usage: rapid [DEVICE]
 *
 * DEVICE is as for hello. A running sum of 1, 2, 3 ... is computed on the device, 10000 times ADD in a
 * burst: the request is bound once, and its two sums change places between executions. Then the
 * same bound request runs asynchronously, and poll() says when a result is there.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#define COUNT	10000

static struct nnhal_diag diag;

static void check(enum nnhal_status status, const char *what)
{
	if (status == NNHAL_STATUS_NONE)
		return;
	fprintf(stderr, "rapid: %s: %s %s\n", what, nnhal_status_name(status), diag.message);
	exit(1);
}

/* The model: operand 3 = ADD(operand 0, operand 1, activation in operand 2). */
static struct nnhal_prepared_model *prepare(struct nnhal_device *device)
{
	const uint32_t shape[] = { 1 }, inputs[] = { 0, 1, 2 }, outputs[] = { 3 };
	const int32_t activation = NNHAL_FUSED_NONE;
	const struct nnhal_operand operands[] = {
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 1, .dimensions = shape,
		  .number_of_consumers = 1, .lifetime = NNHAL_LIFETIME_SUBGRAPH_INPUT },
		{ .type = NNHAL_OPERAND_INT32, .number_of_consumers = 1,
		  .lifetime = NNHAL_LIFETIME_CONSTANT_COPY, .location = { .length = 4 } },
		{ .type = NNHAL_OPERAND_TENSOR_INT32, .num_dimensions = 1, .dimensions = shape,
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
	struct nnhal_prepared_model *prepared;

	check(nnhal_device_prepare_model_sync(device, &model, NULL, &prepared), "prepare");
	return prepared;
}

static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	(void)shapes;
	(void)num_shapes;
	(void)timing;
	*(enum nnhal_status *)context = status;
}

/* One more, as a program with an event loop does it. */
static void run_in_loop(struct nnhal_device *device, struct nnhal_bound_request *bound)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status result = NNHAL_STATUS_GENERAL_FAILURE;
	struct pollfd pollfd = { .events = POLLIN };
	uint32_t count = 0;

	check(nnhal_completion_queue_create(device, &options.completions, &diag), "queue");
	check(nnhal_bound_request_execute(bound, &options, on_result, &result), "launch");
	pollfd.fd = nnhal_completion_queue_fd(options.completions);
	while (!count && poll(&pollfd, 1, -1) == 1)
		check(nnhal_completion_queue_dispatch(options.completions, 16, &count), "dispatch");
	check(result, "asynchronous execution");
	nnhal_completion_queue_destroy(options.completions);
}

int main(int argc, char **argv)
{
	/* A number, and two sums: each is the input and the output in turn. */
	const struct nnhal_request_argument number = { .location = { 0, 0, 4 } };
	const struct nnhal_request_argument sums[] = { { .location = { 0, 64, 4 } },
						       { .location = { 0, 128, 4 } } };
	const struct nnhal_request_argument in[] = { number, sums[0] };
	struct nnhal_request_pool pool = { .memory = NULL };
	const struct nnhal_request request = { .hal_version = NNHAL_HAL_1_3, .num_inputs = 2,
					       .inputs = in, .num_outputs = 1, .outputs = &sums[1],
					       .num_pools = 1, .pools = &pool };
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_bound_request *forth, *back;
	struct nnhal_prepared_model *prepared;
	struct nnhal_device *device;
	struct nnhal_burst *burst;
	int32_t *data;
	int wrong;

	check(nnhal_device_open(argc > 1 ? argv[1] : "drm", &device, &diag), "open the device");
	prepared = prepare(device);
	check(nnhal_memory_create(4096, &pool.memory, &diag), "create memory");
	data = nnhal_memory_map(pool.memory, &diag);
	check(data ? NNHAL_STATUS_NONE : NNHAL_STATUS_GENERAL_FAILURE, "map memory");

	/* Bind once. The second one is the same with the sums exchanged. */
	check(nnhal_bound_request_create(prepared, &request, NULL, &forth), "bind");
	check(nnhal_bound_request_create(prepared, &request, NULL, &back), "bind");
	check(nnhal_bound_request_set_input(back, 1, &sums[1]), "set the input");
	check(nnhal_bound_request_set_output(back, 0, &sums[0]), "set the output");
	options.flags = NNHAL_BURST_SINGLE_THREAD;
	check(nnhal_burst_create(prepared, &options, &burst), "burst");

	for (int i = 1; i <= COUNT; i++) {
		data[0] = i;
		check(nnhal_burst_execute_bound(burst, i % 2 ? forth : back, NULL, NULL, NULL,
						NULL), "execute");
	}
	printf("the sum of 1 to %d is %d\n", COUNT, data[16]);
	data[0] = COUNT + 1;
	run_in_loop(device, forth);
	printf("with %d it is %d\n", COUNT + 1, data[32]);

	wrong = data[16] != COUNT / 2 * (COUNT + 1) || data[32] != data[16] + COUNT + 1;
	nnhal_burst_unref(burst);
	nnhal_bound_request_unref(forth);
	nnhal_bound_request_unref(back);
	nnhal_prepared_model_unref(prepared);
	nnhal_memory_unref(pool.memory);
	nnhal_device_unref(device);
	return wrong;
}
