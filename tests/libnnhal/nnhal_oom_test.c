// SPDX-License-Identifier: MIT
/*
 * Fail allocation 1, 2, 3, ... of a call. The call then returns a RESOURCE_EXHAUSTED status and
 * undoes what it has begun; the sanitizers find what it leaves behind. The device is always the
 * in-process one.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nnhal_fixture.h"
#include "sweep_allocations.h"

static struct fixture f;

/* Of an asynchronous call. */
static struct callback_result result = CALLBACK_RESULT_INIT;

/* ---- the calls under test; each undoes all it did ---- */

static enum nnhal_status try_open(void)
{
	struct nnhal_device *device;
	struct nnhal_diag diag;
	enum nnhal_status status = nnhal_device_open("sim", &device, &diag);

	nnhal_device_unref(device);
	return status;
}

static enum nnhal_status try_memory(void)
{
	struct nnhal_memory *memory;
	enum nnhal_status status = nnhal_memory_create(100, &memory, NULL);

	nnhal_memory_unref(memory);
	return status;
}

static struct nnhal_device *device;

static enum nnhal_status try_supported(void)
{
	enum nnhal_status status;
	bool supported[MAX_OPERATIONS];
	uint32_t i;

	memset(supported, true, sizeof(supported));
	status = nnhal_device_get_supported_operations(device, &f.model, supported,
						       f.model.main.num_operations, NULL);
	/* Without a verdict nothing is supported. */
	for (i = 0; status && i < f.model.main.num_operations; i++)
		if (supported[i])
			return NNHAL_STATUS_INVALID_ARGUMENT;
	return status;
}

static enum nnhal_status try_validate(void)
{
	enum nnhal_status status = nnhal_check_model(&f.model, NULL);

	/* The calls below may say no more than this. */
	return status == NNHAL_STATUS_GENERAL_FAILURE ? NNHAL_STATUS_INVALID_ARGUMENT : status;
}

static enum nnhal_status try_prepare(void)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status =
		nnhal_device_prepare_model_sync(device, &f.model, NULL, &model);

	nnhal_prepared_model_unref(model);
	return status;
}

static enum nnhal_status try_prepare_async(void)
{
	enum nnhal_status status =
		nnhal_device_prepare_model(device, &f.model, NULL, callback_prepared, &result);

	status = callback_wait(&result, status);
	nnhal_prepared_model_unref(result.model);
	return status;
}

static struct nnhal_prepared_model *model;

/* A fresh model and fresh memory, so that nothing is cached. */
static void new_model(void)
{
	nnhal_prepared_model_unref(model);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
		printf("Bail out! model cannot be prepared\n");
		exit(1);
	}
}

static enum nnhal_status try_execute(void)
{
	unsigned int left = alloc_countdown;
	enum nnhal_status status;
	struct run r;

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	alloc_countdown = left;
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL,
							    NULL);
	alloc_countdown = 0;
	if (!status && !run_output_is_right(&r, 4))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	run_fini(&r);
	return status;
}

static enum nnhal_status try_execute_async(void)
{
	unsigned int left = alloc_countdown;
	enum nnhal_status status;
	struct run r;

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	alloc_countdown = left;
	status = nnhal_prepared_model_execute(model, &r.request, NULL, callback_executed, &result);
	status = callback_wait(&result, status);
	alloc_countdown = 0;
	run_fini(&r);
	return status;
}

/* The result comes from a completion queue. */
static enum nnhal_status try_execute_queued(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	unsigned int left = alloc_countdown;
	enum nnhal_status status;
	struct pollfd pollfd = { .events = POLLIN };
	struct run r;

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	result.calls = 0;
	alloc_countdown = left;
	status = nnhal_completion_queue_create(device, &o.completions, NULL);
	if (!status) {
		status = nnhal_prepared_model_execute(model, &r.request, &o, callback_executed,
						      &result);
		pollfd.fd = nnhal_completion_queue_fd(o.completions);
		while (!result.calls && poll(&pollfd, 1, -1) == 1)
			nnhal_completion_queue_dispatch(o.completions, 1, NULL);
		if (!status)
			status = result.status;
	}
	alloc_countdown = 0;
	nnhal_completion_queue_destroy(o.completions);
	if (!status && !run_output_is_right(&r, 4))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	run_fini(&r);
	return status;
}

/* The second one waits for a fence, which takes memory. */
static enum nnhal_status try_execute_fenced(void)
{
	struct nnhal_fenced_callback *callbacks[2] = { NULL, NULL };
	unsigned int left = alloc_countdown, i;
	int fences[2] = { -1, -1 }, gate, signal;
	enum nnhal_status status;
	struct run r;

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	if (nnhal_fence_create(&gate, &signal))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	alloc_countdown = left;
	status = nnhal_prepared_model_execute_fenced(model, &r.request, &gate, 1, NULL, &fences[0],
						     &callbacks[0]);
	if (!status)
		status = nnhal_prepared_model_execute_fenced(model, &r.request, fences, 1, NULL,
							     &fences[1], &callbacks[1]);
	alloc_countdown = 0;
	nnhal_fence_signal(signal, 0);
	for (i = 0; i < 2 && callbacks[i]; i++) {
		if (nnhal_fence_wait(fences[i], -1) != NNHAL_FENCE_SIGNALED ||
		    nnhal_fenced_callback_get_execution_info(callbacks[i], NULL, NULL))
			status = NNHAL_STATUS_INVALID_ARGUMENT;
		nnhal_fenced_callback_unref(callbacks[i]);
		close(fences[i]);
	}
	if (!status && !run_output_is_right(&r, 4))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	close(gate);
	close(signal);
	run_fini(&r);
	return status;
}

/* A burst and its first requests; the second one needs the room of the first. */
static enum nnhal_status try_burst(void)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst_result outcome = NNHAL_BURST_RESULT_INIT;
	unsigned int left = alloc_countdown;
	struct nnhal_burst *burst;
	enum nnhal_status status;
	struct run r, other;

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	run_init(&other, 4);
	o.depth = 2;
	o.max_memories = 1;
	alloc_countdown = left;
	status = nnhal_burst_create(model, &o, &burst);
	if (!status)
		status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	if (!status)
		status = nnhal_burst_submit(burst, &other.request, NULL, 1, 0);
	if (!status)
		status = nnhal_burst_wait(burst, &outcome, UINT64_MAX);
	if (!status)
		status = outcome.status;
	alloc_countdown = 0;
	if (!status && !(run_output_is_right(&r, 4) && run_output_is_right(&other, 4)))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	/* Whatever failed, the burst works. */
	if (burst && nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	nnhal_burst_unref(burst);
	run_fini(&other);
	run_fini(&r);
	return status;
}

/* A bound request, by itself and in a burst, and once more with another output. */
static enum nnhal_status try_bound(void)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_bound_request *bound = NULL;
	struct nnhal_burst *burst = NULL;
	unsigned int left = alloc_countdown;
	enum nnhal_status status;
	struct run r;

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	o.flags = NNHAL_BURST_SINGLE_THREAD;
	alloc_countdown = left;
	status = nnhal_bound_request_create(model, &r.request, NULL, &bound);
	if (!status)
		status = nnhal_bound_request_execute_synchronously(bound, NULL, NULL, NULL, NULL);
	if (!status)
		status = nnhal_burst_create(model, &o, &burst);
	if (!status)
		status = nnhal_bound_request_set_output(bound, 0, &r.outputs[0]);
	if (!status)
		status = nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL);
	alloc_countdown = 0;
	if (!status && !run_output_is_right(&r, 4))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	/* Whatever failed, both work. */
	if (burst && nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	nnhal_burst_unref(burst);
	nnhal_bound_request_unref(bound);
	run_fini(&r);
	return status;
}

/* RELU of an input of any size, from a buffer to another one, which has to grow. */
static enum nnhal_status try_buffers(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	static const uint32_t dims[] = { 2048, 1 };
	struct nnhal_buffer_desc desc = { .size = sizeof(desc) };
	struct nnhal_request_argument in = { .location = { .pool_index = 0 } };
	struct nnhal_request_argument out = { .location = { .pool_index = 1 } };
	struct nnhal_request_pool pools[2] = { { .token = 0 }, { .token = 0 } };
	struct nnhal_request request = {
		.num_inputs = 1, .num_outputs = 1, .num_pools = 2, .inputs = &in, .outputs = &out,
		.pools = pools,
	};
	struct nnhal_buffer *buffers[2] = { NULL, NULL };
	unsigned int left = alloc_countdown, i;
	struct nnhal_memory *memory;
	enum nnhal_status status = NNHAL_STATUS_NONE;

	alloc_countdown = 0;
	new_model();
	if (nnhal_memory_create(8192, &memory, NULL))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	alloc_countdown = left;
	for (i = 0; i < 2 && !status; i++)
		status = nnhal_device_allocate(device, &desc, &model, 1, &role, !i, &role, i,
					       &buffers[i], &pools[i].token, NULL);
	if (!status)
		status = nnhal_buffer_copy_from(buffers[0], memory, dims, 2, NULL);
	if (!status)
		status = nnhal_prepared_model_execute_synchronously(model, &request, NULL, NULL,
								    NULL, NULL);
	if (!status)
		status = nnhal_buffer_copy_to(buffers[1], memory, NULL);
	alloc_countdown = 0;
	nnhal_buffer_unref(buffers[0]);
	nnhal_buffer_unref(buffers[1]);
	nnhal_memory_unref(memory);
	return status;
}

/* Queues and a server for them. */
static enum nnhal_status try_burst_server(void)
{
	struct nnhal_burst_server *server = NULL;
	struct nnhal_fmq *requests = NULL, *results = NULL;
	enum nnhal_status status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	struct nnhal_burst_channel channel;
	unsigned int left = alloc_countdown;
	int sv[2];

	alloc_countdown = 0;
	new_model();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	alloc_countdown = left;
	if (!nnhal_fmq_create(24, 16, NNHAL_FMQ_WRITER, &requests) &&
	    !nnhal_fmq_create(24, 16, NNHAL_FMQ_READER, &results)) {
		channel = (struct nnhal_burst_channel){ sizeof(channel), nnhal_fmq_fd(requests),
							nnhal_fmq_fd(results), sv[1], 0 };
		status = nnhal_burst_server_create(&channel, model, NULL, &server);
	}
	alloc_countdown = 0;
	nnhal_burst_server_destroy(server);
	nnhal_fmq_destroy(requests);
	nnhal_fmq_destroy(results);
	close(sv[0]);
	close(sv[1]);
	return status;
}

/* A client of a server. Allocations of the server's thread do not fail. */
static enum nnhal_status try_burst_connect(void)
{
	struct nnhal_burst_controller *controller = NULL;
	struct nnhal_burst_server *server;
	unsigned int left = alloc_countdown;
	enum nnhal_status status;
	struct run r;
	int sv[2];

	alloc_countdown = 0;
	new_model();
	run_init(&r, 4);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sv))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	alloc_countdown = left;
	status = nnhal_burst_serve(sv[1], model, NULL, &server);
	if (!status)
		status = nnhal_burst_connect(sv[0], NULL, &controller);
	if (!status)
		status = nnhal_burst_controller_execute(controller, &r.request, NULL, NULL, NULL,
							NULL, NULL);
	alloc_countdown = 0;
	if (!status && !run_output_is_right(&r, 4))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	nnhal_burst_controller_destroy(controller);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	run_fini(&r);
	return status;
}

static bool is_shortage(enum nnhal_status status)
{
	return (status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT && !f.model.hal_version) ||
	       status == NNHAL_STATUS_GENERAL_FAILURE;
}

static void sweep(const char *name, enum nnhal_status (*attempt)(void))
{
	sweep_allocations(name, attempt, is_shortage);
}

int main(void)
{
	struct nnhal_diag diag;
	enum nnhal_status status = nnhal_device_open("sim", &device, &diag);

	if (status == NNHAL_STATUS_NO_DRIVER)
		tap_skip_all("%s", diag.message);
	if (!ok(!status, "device: %s", diag.message))
		return tap_done();
	make_if(&f);
	sweep("validate", try_validate);
	sweep("supported operations of subgraphs", try_supported);
	sweep("prepare subgraphs", try_prepare);
	make_add_relu(&f);
	/* Before HAL 1.3 there is no status for a shortage. */
	f.model.hal_version = NNHAL_HAL_1_2;
	sweep("prepare a model of HAL 1.2", try_prepare);
	sweep("prepare a model of HAL 1.2 asynchronously", try_prepare_async);
	f.model.hal_version = NNHAL_HAL_LATEST;
	sweep("memory", try_memory);
	sweep("supported operations", try_supported);
	sweep("prepare", try_prepare);
	sweep("prepare asynchronously", try_prepare_async);
	sweep("execute", try_execute);
	sweep("execute asynchronously", try_execute_async);
	sweep("execute with a completion queue", try_execute_queued);
	sweep("execute fenced", try_execute_fenced);
	sweep("burst", try_burst);
	sweep("bound request", try_bound);
	sweep("burst server", try_burst_server);
	sweep("burst through a server", try_burst_connect);
	fixture_init(&f);
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(0, 1));
	add_operand(&f.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(0, 1));
	add_operation(&f.graph, NNHAL_OPERATION_RELU, OPERANDS(0), OPERANDS(1));
	fixture_finish(&f, 0);
	sweep("buffers", try_buffers);
	/* A constant that does not fit into the image. */
	make_add_large(&f);
	sweep("prepare with a large constant", try_prepare);
	sweep("open", try_open);
	nnhal_prepared_model_unref(model);
	model = NULL;
	nnhal_device_unref(device);
	if (nnhal_device_open("sim:noqueues", &device, &diag))
		device = NULL;
	make_add_relu(&f);
	if (ok(device, "device without queues: %s", diag.message))
		sweep("burst without a queue", try_burst);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
