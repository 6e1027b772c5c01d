// SPDX-License-Identifier: MIT
/*
 * Structures that grow: options of an older program are never read beyond their end, and options of a
 * newer one may only add zeros. Nothing is written beyond the end of a result.
 * Options and results are in memory of exactly their size, so that the sanitizers see a byte too
 * many. The list of structures that begin with their size is that of the headers of libnnhal and
 * libnntflite: one that no call here takes is a failure.
 */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nntflite/session.h>

#include "api_lists.h"
#include "base/base.h"
#include "nnhal_fixture.h"

#define CHECK_PADDING(type, last)	HAS_NO_PADDING(type, last);
API_SIZE_FIRST(CHECK_PADDING)

/* Bytes that a newer program has behind the options of this library. */
#define SURPLUS		40

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *burst, *plain;
static struct nnhal_device *noqueues;
static struct nnhal_prepared_model *other;
static struct nnhal_burst_controller *controller;
static struct nnhal_timing timing;
static struct run r;
static int sockets[2];
static struct nnhal_resilient_device *lasting;
static struct nnhal_resilient_model *lasting_model;
static struct nnhal_resilient_burst *lasting_burst;
static struct nntflite_file *file;
static struct nntflite_model *tflite;
static struct nntflite_session *session;

/* ---- calls with options ---- */

static enum nnhal_status with_execute(const void *o)
{
	return nnhal_prepared_model_execute_synchronously(model, &r.request, o, NULL, NULL,
							  &timing);
}

static enum nnhal_status with_burst(const void *o)
{
	return nnhal_burst_execute(burst, &r.request, o, NULL, NULL, &timing);
}

static enum nnhal_status submit_and_wait(struct nnhal_burst *b, const void *o)
{
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	enum nnhal_status status = nnhal_burst_submit(b, &r.request, o, 1, 0);

	if (!status)
		status = nnhal_burst_wait(b, &result, UINT64_MAX);
	timing = result.timing;
	return status ? status : result.status;
}

static enum nnhal_status with_burst_submit(const void *o)
{
	return submit_and_wait(burst, o);
}

static enum nnhal_status with_plain_burst(const void *o)
{
	return nnhal_burst_execute(plain, &r.request, o, NULL, NULL, &timing);
}

static enum nnhal_status with_plain_burst_submit(const void *o)
{
	return submit_and_wait(plain, o);
}

static enum nnhal_status with_controller(const void *o)
{
	return nnhal_burst_controller_execute(controller, &r.request, o, NULL, NULL, &timing,
					      NULL);
}

static enum nnhal_status with_prepare(const void *o)
{
	struct nnhal_prepared_model *m;
	enum nnhal_status status = nnhal_device_prepare_model_sync(device, &f.model, o, &m);

	nnhal_prepared_model_unref(m);
	return status;
}

static enum nnhal_status with_burst_create(const void *o)
{
	struct nnhal_burst *b;
	enum nnhal_status status = nnhal_burst_create(model, o, &b);

	nnhal_burst_unref(b);
	return status;
}

static enum nnhal_status with_serve(const void *o)
{
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return NNHAL_STATUS_GENERAL_FAILURE;
	status = nnhal_burst_serve(sv[0], model, o, &server);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	return status;
}

static enum nnhal_status with_connect(const void *o)
{
	struct nnhal_burst_controller *c = NULL;
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) ||
	    nnhal_burst_serve(sv[0], model, NULL, &server))
		return NNHAL_STATUS_GENERAL_FAILURE;
	status = nnhal_burst_connect(sv[1], o, &c);
	nnhal_burst_controller_destroy(c);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	return status;
}

static enum nnhal_status with_open(const void *o)
{
	struct nnhal_device *d;
	enum nnhal_status status = nnhal_device_open_with("sim", o, &d, NULL);

	nnhal_device_unref(d);
	return status;
}

static enum nnhal_status with_bound(const void *o)
{
	struct nnhal_bound_request *bound;
	enum nnhal_status status = nnhal_bound_request_create(model, &r.request, o, &bound);

	nnhal_bound_request_unref(bound);
	return status;
}

static enum nnhal_status with_fenced(const void *o)
{
	struct nnhal_fenced_callback *callback;
	enum nnhal_status status;
	int fence;

	status = nnhal_prepared_model_execute_fenced(model, &r.request, NULL, 0, o, &fence,
						     &callback);
	if (status)
		return status;
	nnhal_fence_wait(fence, -1);
	close(fence);
	status = nnhal_fenced_callback_get_execution_info(callback, NULL, &timing);
	nnhal_fenced_callback_unref(callback);
	return status;
}

/* A cache that cannot be used is no error: nothing is written to its files. */
static int cache_files[2] = { -1, -1 };

static enum nnhal_status with_cache(const void *o)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	enum nnhal_status status;
	struct stat st = { .st_size = 0 };

	if (ftruncate(cache_files[0], 0) || ftruncate(cache_files[1], 0))
		return NNHAL_STATUS_GENERAL_FAILURE;
	options.cache = o;
	status = with_prepare(&options);
	if (status || fstat(cache_files[0], &st))
		return NNHAL_STATUS_GENERAL_FAILURE;
	return st.st_size ? NNHAL_STATUS_NONE : NNHAL_STATUS_INVALID_ARGUMENT;
}

/* ---- the same calls of resilient objects ---- */

static enum nnhal_status with_lasting_execute(const void *o)
{
	return nnhal_resilient_model_execute(lasting_model, &r.request, o, NULL, NULL, &timing);
}

static enum nnhal_status with_lasting_burst(const void *o)
{
	return nnhal_resilient_burst_execute(lasting_burst, &r.request, o, NULL, NULL, &timing);
}

static enum nnhal_status with_lasting_prepare(const void *o)
{
	struct nnhal_resilient_model *m;
	enum nnhal_status status = nnhal_resilient_device_prepare_model(lasting, &f.model, o, &m);

	nnhal_resilient_model_unref(m);
	return status;
}

static enum nnhal_status with_lasting_burst_create(const void *o)
{
	struct nnhal_resilient_burst *b;
	enum nnhal_status status = nnhal_resilient_burst_create(lasting_model, o, &b);

	nnhal_resilient_burst_unref(b);
	return status;
}

static enum nnhal_status with_lasting_buffer(const void *o)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_resilient_buffer *b;
	enum nnhal_status status;
	uint32_t token;

	status = nnhal_resilient_device_allocate(lasting, o, &lasting_model, 1, &role, 1, NULL, 0,
						 &b, &token, NULL);
	nnhal_resilient_buffer_unref(b);
	return status;
}

/* ---- calls of libnntflite ---- */

static enum nnhal_status with_model(const void *o)
{
	struct nntflite_model *m = NULL;
	enum nnhal_status status = nntflite_model_create(file, o, &m, NULL);

	nntflite_model_destroy(m);
	return status;
}

static enum nnhal_status with_session(const void *o)
{
	struct nntflite_session *s = NULL;
	enum nnhal_status status = nntflite_session_create(tflite, device, o, &s, NULL);

	nntflite_session_destroy(s);
	return status;
}

/* Options of libnnhal that libnntflite hands on. */
static enum nnhal_status with_session_prepare(const void *o)
{
	struct nntflite_session_options options = NNTFLITE_SESSION_OPTIONS_INIT;

	options.prepare = o;
	return with_session(&options);
}

static enum nnhal_status with_session_run(const void *o)
{
	return nntflite_session_run(session, o, &timing, NULL);
}

/* Descriptions of memory, executors and channels grow like options. */
static enum nnhal_status with_memory(const void *o)
{
	struct nnhal_memory_desc *desc = (struct nnhal_memory_desc *)(uintptr_t)o;
	struct nnhal_memory *memory;
	enum nnhal_status status;

	desc->fd = nnhal_memfd_create("growth", 4096);
	status = nnhal_memory_import(desc, &memory, NULL);
	close(desc->fd);
	nnhal_memory_unref(memory);
	return status;
}

static enum nnhal_status with_executor(const void *o)
{
	struct nnhal_burst_server_options options = NNHAL_BURST_SERVER_OPTIONS_INIT;
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return NNHAL_STATUS_GENERAL_FAILURE;
	options.executor = o;
	status = nnhal_burst_serve(sv[0], NULL, &options, &server);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	return status;
}

static enum nnhal_status with_channel(const void *o)
{
	struct nnhal_burst_channel *channel = (struct nnhal_burst_channel *)(uintptr_t)o;
	struct nnhal_fmq *requests, *results;
	struct nnhal_burst_server *server;
	enum nnhal_status status;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) ||
	    nnhal_fmq_create(24, 16, NNHAL_FMQ_WRITER, &requests) ||
	    nnhal_fmq_create(24, 16, NNHAL_FMQ_READER, &results))
		return NNHAL_STATUS_GENERAL_FAILURE;
	channel->request_fd = nnhal_fmq_fd(requests);
	channel->result_fd = nnhal_fmq_fd(results);
	channel->socket = sv[0];
	status = nnhal_burst_server_create(channel, model, NULL, &server);
	nnhal_burst_server_destroy(server);
	nnhal_fmq_destroy(requests);
	nnhal_fmq_destroy(results);
	close(sv[0]);
	close(sv[1]);
	return status;
}

static const struct nnhal_buffer_role buffer_role = { 0, 0, 1.0f };
static struct nnhal_buffer *buffer;

static enum nnhal_status with_buffer(const void *o)
{
	struct nnhal_buffer *b;
	enum nnhal_status status;
	uint32_t token;

	status = nnhal_device_allocate(device, o, &model, 1, &buffer_role, 1, NULL, 0, &b, &token,
				       NULL);
	nnhal_buffer_unref(b);
	return status;
}

static const struct nnhal_memory_desc memory_desc = {
	.struct_size = sizeof(memory_desc), .kind = NNHAL_MEMORY_ASHMEM, .size = 4096,
};

static enum nnhal_status no_entry(void *context, int32_t slot, struct nnhal_memory *memory)
{
	(void)context;
	(void)slot;
	(void)memory;
	return NNHAL_STATUS_GENERAL_FAILURE;
}

static void no_removal(void *context, int32_t slot)
{
	(void)context;
	(void)slot;
}

static bool not_present(void *context, int32_t slot)
{
	(void)context;
	(void)slot;
	return false;
}

static enum nnhal_status no_execution(void *context, const struct nnhal_request *request,
				      const int32_t *slots, int32_t measure,
				      struct nnhal_output_shape *shapes, uint32_t *num_shapes,
				      struct nnhal_timing *times)
{
	(void)context;
	(void)request;
	(void)slots;
	(void)measure;
	(void)shapes;
	(void)num_shapes;
	(void)times;
	return NNHAL_STATUS_GENERAL_FAILURE;
}

static const struct nnhal_burst_executor executor = {
	sizeof(executor), no_entry, no_removal, not_present, no_execution,
};

static const struct nnhal_burst_channel channel_options = { .size = sizeof(channel_options) };

static const struct nnhal_execute_options execute_options = {
	.size = sizeof(struct nnhal_execute_options), .measure = NNHAL_MEASURE_YES,
};

static const struct nnhal_fenced_options fenced_options = {
	.size = sizeof(struct nnhal_fenced_options), .measure = NNHAL_MEASURE_YES,
};

static const struct nnhal_open_options open_options = NNHAL_OPEN_OPTIONS_INIT;
static const struct nnhal_bound_options bound_options = NNHAL_BOUND_OPTIONS_INIT;
static const struct nnhal_cache_handle cache_handles[2] = {
	{ &cache_files[0], 1 }, { &cache_files[1], 1 },
};
static const uint8_t cache_token[NNHAL_CACHE_TOKEN_SIZE];
static const struct nnhal_cache cache = {
	.size = sizeof(cache), .model_cache = &cache_handles[0], .num_model_cache = 1,
	.num_data_cache = 1, .data_cache = &cache_handles[1], .token = cache_token,
};
static const struct nntflite_model_options model_options = NNTFLITE_MODEL_OPTIONS_INIT;
static const struct nntflite_session_options session_options = NNTFLITE_SESSION_OPTIONS_INIT;

static const struct nnhal_buffer_desc buffer_desc = NNHAL_BUFFER_DESC_INIT;
static const struct nnhal_prepare_options prepare_options = NNHAL_PREPARE_OPTIONS_INIT;
static const struct nnhal_burst_options burst_options = NNHAL_BURST_OPTIONS_INIT;
static const struct nnhal_burst_server_options server_options = NNHAL_BURST_SERVER_OPTIONS_INIT;
static const struct nnhal_burst_controller_options controller_options =
	NNHAL_BURST_CONTROLLER_OPTIONS_INIT;

static const struct call {
	const char *name;
	const char *type;
	enum nnhal_status (*call)(const void *options);
	const void *options;
	size_t size;
	size_t first;			/* of the first version of the structure */
	bool measures;
} calls[] = {
/* @last: of the first version of the structure. */
#define CALL(name, call, options, type, last, measures) \
	{ name, #type, call, &options, sizeof(options), SIZE_UP_TO(struct type, last), measures }
#define EXECUTE(name, call) \
	CALL(name, call, execute_options, nnhal_execute_options, profile, true)
	EXECUTE("execute", with_execute),
	EXECUTE("burst", with_burst),
	EXECUTE("burst, submitted", with_burst_submit),
	EXECUTE("burst without a queue", with_plain_burst),
	EXECUTE("burst without a queue, submitted", with_plain_burst_submit),
	EXECUTE("burst over message queues", with_controller),
	EXECUTE("execute of a resilient model", with_lasting_execute),
	EXECUTE("execute of a resilient burst", with_lasting_burst),
	CALL("execute_fenced", with_fenced, fenced_options, nnhal_fenced_options, diag, true),
#define OTHER(name, call, options, type, last)	CALL(name, call, options, type, last, false)
	OTHER("open", with_open, open_options, nnhal_open_options, reserved),
	OTHER("prepare", with_prepare, prepare_options, nnhal_prepare_options, cache),
	OTHER("cache", with_cache, cache, nnhal_cache, key_size),
	OTHER("bound_request_create", with_bound, bound_options, nnhal_bound_options, diag),
	OTHER("burst_create", with_burst_create, burst_options, nnhal_burst_options, diag),
	OTHER("burst_serve", with_serve, server_options, nnhal_burst_server_options, diag),
	OTHER("burst_connect", with_connect, controller_options, nnhal_burst_controller_options,
	      reserved),
	OTHER("executor of a burst", with_executor, executor, nnhal_burst_executor, execute),
	OTHER("memory_import", with_memory, memory_desc, nnhal_memory_desc, reserved),
	OTHER("burst_server_create", with_channel, channel_options, nnhal_burst_channel, reserved),
	OTHER("allocate", with_buffer, buffer_desc, nnhal_buffer_desc, dimensions),
	OTHER("prepare of a resilient device", with_lasting_prepare, prepare_options,
	      nnhal_prepare_options, cache),
	OTHER("create of a resilient burst", with_lasting_burst_create, burst_options,
	      nnhal_burst_options, diag),
	OTHER("allocate of a resilient device", with_lasting_buffer, buffer_desc, nnhal_buffer_desc,
	      dimensions),
	OTHER("nntflite_model_create", with_model, model_options, nntflite_model_options, shapes),
	OTHER("nntflite_session_create", with_session, session_options, nntflite_session_options,
	      prepared),
	OTHER("nntflite_session_create, prepare", with_session_prepare, prepare_options,
	      nnhal_prepare_options, cache),
	OTHER("nntflite_session_run", with_session_run, execute_options, nnhal_execute_options,
	      profile),
};

/* Call with the first @size bytes of the options, @size given, and @last as the last byte. */
static enum nnhal_status call_with(const struct call *c, size_t size, size_t given, uint8_t last)
{
	uint8_t *options = calloc(1, size);
	enum nnhal_status status;

	memcpy(options, c->options, size < c->size ? size : c->size);
	memcpy(options, &given, sizeof(given));
	if (size > c->size)
		options[size - 1] = last;
	timing = (struct nnhal_timing){ 1, 1 };
	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	status = c->call(options);
	free(options);
	if (!status && c->measures && !run_output_is_right(&r, 4))
		return NNHAL_STATUS_GENERAL_FAILURE;
	return status;
}

/* A time of the call, not one since the machine was started. */
static bool time_is_right(const struct call *c)
{
	return !c->measures ||
	       (timing.time_on_device <= timing.time_in_driver && timing.time_in_driver > 0 &&
		timing.time_in_driver < 60 * 1000000u);
}

static void test_options(const struct call *c)
{
	ok(!call_with(c, c->size, c->size, 0) && time_is_right(c), "%s: options of this version",
	   c->name);
	ok(!call_with(c, c->first, c->first, 0) && time_is_right(c),
	   "%s: options of the first version, %llu us", c->name,
	   (unsigned long long)timing.time_in_driver);
	ok(call_with(c, c->first, c->first - 1, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "%s: options that are too short", c->name);
	ok(!call_with(c, c->size + SURPLUS, c->size + SURPLUS, 0) && time_is_right(c),
	   "%s: options of a newer program that uses nothing new", c->name);
	ok(call_with(c, c->size + SURPLUS, c->size + SURPLUS, 1) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "%s: options of a newer program that does", c->name);
	ok(call_with(c, c->size, SIZE_MAX, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "%s: a size that no structure has", c->name);
}

/* A field that takes the place of padding must reach the library: padding has no value. */
static void test_reserved(void)
{
	struct nnhal_memory_desc desc = memory_desc;
	struct nnhal_burst_channel channel = channel_options;
	struct nnhal_burst_options burst_of = burst_options;

	/* The four bytes behind the flags, whatever they are called. */
	memset((uint8_t *)&burst_of + offsetof(struct nnhal_burst_options, flags) + 4, 1, 4);
	ok(with_burst_create(&burst_of) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "burst_create: reserved is not 0");
	desc.reserved = 1;
	ok(with_memory(&desc) == NNHAL_STATUS_INVALID_ARGUMENT, "memory_import: reserved is 1");
	channel.reserved = 1;
	ok(with_channel(&channel) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "burst_server_create: reserved is 1");
}

/* ---- structures that a call fills in ---- */

static enum nnhal_status into_capabilities(void *o)
{
	return nnhal_device_get_capabilities(device, o);
}

static enum nnhal_status into_capabilities_1_1(void *o)
{
	return nnhal_device_get_capabilities_1_1(device, o);
}

static enum nnhal_status into_info(void *o)
{
	return nnhal_ext_get_prepared_model_info(model, o);
}

static enum nnhal_status into_devices(void *o)
{
	uint32_t count = 77;
	enum nnhal_status status = nnhal_enumerate_devices(o, 1, &count, NULL);

	if (status == NNHAL_STATUS_INVALID_ARGUMENT)
		return count == 77 ? status : NNHAL_STATUS_GENERAL_FAILURE;
	return count ? NNHAL_STATUS_NONE : status;
}

static enum nnhal_status into_support(void *o)
{
	return nnhal_ext_get_operation_support(device, &f.model, o, 2, NULL);
}

/* A size that is refused costs no result. */
static enum nnhal_status wait_for_two(struct nnhal_burst *b, void *o)
{
	struct nnhal_burst_result own[2] = { NNHAL_BURST_RESULT_INIT };
	enum nnhal_status status;
	uint32_t count;

	if (nnhal_burst_submit(b, &r.request, NULL, 5, 0) ||
	    nnhal_burst_submit(b, &r.request, NULL, 5, 0))
		return NNHAL_STATUS_GENERAL_FAILURE;
	status = nnhal_burst_wait_many(b, o, 2, 2, UINT64_MAX, &count);
	if (!status)
		return count == 2 ? status : NNHAL_STATUS_GENERAL_FAILURE;
	if (nnhal_burst_wait(b, o, UINT64_MAX) != status || count ||
	    nnhal_burst_wait_many(b, own, 2, 2, UINT64_MAX, &count) || count != 2)
		return NNHAL_STATUS_GENERAL_FAILURE;
	return status;
}

static enum nnhal_status into_results(void *o)
{
	return wait_for_two(burst, o);
}

static enum nnhal_status into_plain_results(void *o)
{
	return wait_for_two(plain, o);
}

static enum nnhal_status into_profile(void *o)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;

	options.profile = o;
	return nnhal_prepared_model_execute_synchronously(model, &r.request, &options, NULL, NULL,
							  NULL);
}

static enum nnhal_status into_work(void *o)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;

	options.work = o;
	return nnhal_prepared_model_execute_synchronously(model, &r.request, &options, NULL, NULL,
							  NULL);
}

static enum nnhal_status into_state(void *o)
{
	return nnhal_buffer_get_state(buffer, o);
}

static enum nnhal_status into_capabilities_1_2(void *o)
{
	struct nnhal_capabilities capabilities = { .size = sizeof(capabilities) };
	enum nnhal_status status = nnhal_device_get_capabilities(device, &capabilities);

	return status ? status : nnhal_capabilities_to_1_2(&capabilities, o, NULL);
}

static enum nnhal_status into_type_info(void *o)
{
	return nnhal_device_get_operand_type_info(device, NULL, NNHAL_OPERAND_TENSOR_FLOAT32, o);
}

static enum nnhal_status into_place(void *o)
{
	static const struct nnhal_diag about = { "operation 3 (ADD) input 1: operand 7: no" };

	return nnhal_ext_get_place(&about, o);
}

static enum nnhal_status into_file_info(void *o)
{
	return nntflite_file_get_info(file, o);
}

static enum nnhal_status into_value(void *o)
{
	return nntflite_session_output(session, 0, o);
}

/* What a call reads of the structure, and 0xa5 where it writes. */
static const struct nnhal_ext_profile profile_in = NNHAL_EXT_PROFILE_INIT;
static const struct nnhal_burst_result result_in = { .output_shapes = NULL };

static const struct result_call {
	const char *name;
	const char *type;
	enum nnhal_status (*call)(void *results);
	size_t size;
	unsigned int num;
	bool is_same;			/* the next time */
	const void *in;			/* NULL: it reads nothing but the size */
} result_calls[] = {
#define RESULT(name, call, type, num, is_same, in) \
	{ name, #type, call, sizeof(struct type), num, is_same, in }
	RESULT("get_capabilities", into_capabilities, nnhal_capabilities, 1, true, NULL),
	RESULT("get_capabilities_1_1", into_capabilities_1_1, nnhal_capabilities_1_1, 1, true,
	       NULL),
	RESULT("get_prepared_model_info", into_info, nnhal_ext_prepared_model_info, 1, true,
	       NULL),
	RESULT("buffer_get_state", into_state, nnhal_buffer_state, 1, true, NULL),
	RESULT("enumerate_devices", into_devices, nnhal_device_info, 1, true, NULL),
	RESULT("get_operation_support", into_support, nnhal_ext_operation_support, 2, true, NULL),
	RESULT("burst_wait_many", into_results, nnhal_burst_result, 2, true, &result_in),
	RESULT("burst_wait_many without a queue", into_plain_results, nnhal_burst_result, 2, true,
	       &result_in),
	RESULT("profile", into_profile, nnhal_ext_profile, 1, false, &profile_in),
	RESULT("work", into_work, nnhal_ext_work, 1, false, NULL),
	RESULT("capabilities_to_1_2", into_capabilities_1_2, nnhal_capabilities_1_2, 1, true, NULL),
	RESULT("get_operand_type_info", into_type_info, nnhal_operand_type_info, 1, true, NULL),
	RESULT("get_place", into_place, nnhal_ext_place, 1, true, NULL),
	RESULT("nntflite_file_get_info", into_file_info, nntflite_file_info, 1, true, NULL),
	RESULT("nntflite_session_output", into_value, nntflite_value, 1, true, NULL),
};

/* Memory of exactly as many bytes as the results take, each of which has @size. */
static uint8_t *make_results(const struct result_call *c, size_t size, size_t given)
{
	uint8_t *results = malloc(c->num * size);
	unsigned int i;

	memset(results, 0xa5, c->num * size);
	for (i = 0; i < c->num && c->in; i++)
		memcpy(results + i * size, c->in, size < c->size ? size : c->size);
	/* Only the first size is read. */
	memset(results + (c->num - 1) * size, 0xff, sizeof(given));
	memcpy(results, &given, sizeof(given));
	return results;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Call with a size that no caller has, in a structure of @size bytes; nothing may change. */
static bool is_refused(const struct result_call *c, size_t size, size_t given)
{
	uint8_t *results = make_results(c, size, given), *before = malloc(c->num * size);
	bool refused;

	memcpy(before, results, c->num * size);
	refused = c->call(results) == NNHAL_STATUS_INVALID_ARGUMENT &&
		  !memcmp(results, before, c->num * size);
	free(results);
	free(before);
	return refused;
}

static void test_results(const struct result_call *c)
{
	uint8_t *own = make_results(c, c->size, c->size);
	uint8_t *newer = make_results(c, c->size + SURPLUS, c->size + SURPLUS);
	bool same = true, none = true;
	enum nnhal_status status;
	unsigned int i;

	status = c->call(own);
	ok(!status, "%s: results of this version: %s", c->name, nnhal_status_name(status));
	status = c->call(newer);
	for (i = 0; i < c->num; i++) {
		uint8_t *entry = newer + i * (c->size + SURPLUS);

		same &= !c->is_same || !memcmp(entry + sizeof(size_t),
					       own + i * c->size + sizeof(size_t),
					       c->size - sizeof(size_t));
		none &= is_zero(entry + c->size, SURPLUS);
	}
	ok(!status && same && none, "%s: a newer program: what is not known is zero: %s", c->name,
	   nnhal_status_name(status));
	free(own);
	free(newer);
	ok(is_refused(c, c->size, 0) && is_refused(c, c->size, c->size - sizeof(size_t)),
	   "%s: no size, or one that is too small", c->name);
	ok(is_refused(c, c->size + SURPLUS, c->size + 4) && is_refused(c, c->size, 4104) &&
	   is_refused(c, c->size, SIZE_MAX), "%s: sizes that no structure has", c->name);
}

/* The entries of a profile have their size in the profile. */
static void test_profile_entries(void)
{
	const size_t size = sizeof(struct nnhal_ext_profile_entry) + SURPLUS;
	struct nnhal_ext_profile profile = NNHAL_EXT_PROFILE_INIT, before;
	uint8_t *entries = malloc(2 * size);
	const struct nnhal_ext_profile_entry *second = (const void *)(entries + size);

	memset(entries, 0xa5, 2 * size);
	profile.entries = (struct nnhal_ext_profile_entry *)(void *)entries;
	profile.entry_size = size;
	profile.max_entries = 2;
	ok(!into_profile(&profile) && profile.num_entries == 2 && second->operation == 1 &&
	   second->operation_type == NNHAL_OPERATION_RELU &&
	   is_zero(entries + size - SURPLUS, SURPLUS) &&
	   is_zero(entries + 2 * size - SURPLUS, SURPLUS), "profile: entries of a newer program");
	profile.entry_size = sizeof(struct nnhal_ext_profile_entry) - sizeof(size_t);
	before = profile;
	ok(into_profile(&profile) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !memcmp(&profile, &before, sizeof(before)), "profile: entries that are too small");
	profile.max_entries = 0;
	ok(!into_profile(&profile) && profile.exec_ns, "profile: without entries");
	free(entries);
}

/* A library that is newer than the program: no structure has grown yet. */
static void test_older_results(void)
{
	static const size_t grown[5] = { 40, 1, 2, 3, 4 };
	size_t *old = malloc(3 * sizeof(*old)), *newer = malloc(7 * sizeof(*newer));

	memset(old, 0xa5, 3 * sizeof(*old));
	old[0] = 3 * sizeof(*old);
	result_give(old, old[0], grown, sizeof(grown));
	ok(old[0] == 3 * sizeof(*old) && old[1] == 1 && old[2] == 2,
	   "a result of an older program: what it has room for, and its size stays");
	memset(newer, 0xa5, 7 * sizeof(*newer));
	newer[0] = 7 * sizeof(*newer);
	result_give(newer, newer[0], grown, sizeof(grown));
	ok(newer[0] == 7 * sizeof(*newer) && newer[4] == 4 && !newer[5] && !newer[6],
	   "a result of a newer program");
	result_copy(old, 2 * sizeof(*old), grown, sizeof(grown));
	ok(old[0] == 40 && old[1] == 1 && old[2] == 2, "an entry without a size of its own");
	free(old);
	free(newer);
}

/* ---- is it all? ---- */

static void test_complete(void)
{
#define NAME(type, last)	#type,
	static const char *const types[] = { API_SIZE_FIRST(NAME) };
	size_t i, k, missing = 0;
	bool found;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (k = 0, found = false; k < sizeof(calls) / sizeof(calls[0]); k++)
			found |= !strcmp(calls[k].type, types[i]);
		for (k = 0; k < sizeof(result_calls) / sizeof(result_calls[0]); k++)
			found |= !strcmp(result_calls[k].type, types[i]);
		if (found)
			continue;
		tap_note("no call with struct %s", types[i]);
		missing++;
	}
	ok(!missing, "calls with all %zu structures that begin with their size",
	   sizeof(types) / sizeof(types[0]));
}

int main(void)
{
	struct nnhal_burst_server *server = NULL;
	uint32_t token, num_files[2] = { 0 };
	size_t i;

	device = test_device_open();
	make_add_relu(&f);
	run_init(&r, 4);
	if (!ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_burst_create(model, NULL, &burst) &&
		!nnhal_device_open("sim:noqueues", &noqueues, NULL) &&
		!nnhal_device_prepare_model_sync(noqueues, &f.model, NULL, &other) &&
		!nnhal_burst_create(other, NULL, &plain) &&
		!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) &&
		!nnhal_burst_serve(sockets[0], model, NULL, &server) &&
		!nnhal_burst_connect(sockets[1], NULL, &controller) &&
		!nnhal_device_allocate(device, &buffer_desc, &model, 1, &buffer_role, 1, NULL, 0,
				       &buffer, &token, NULL) &&
		!nnhal_resilient_device_create(test_device_spec(), NULL, NULL, &lasting, NULL) &&
		!nnhal_resilient_device_prepare_model(lasting, &f.model, NULL, &lasting_model) &&
		!nnhal_resilient_burst_create(lasting_model, NULL, &lasting_burst) &&
		!nntflite_file_open("examples/digits/digits_int8.tflite", &file, NULL) &&
		!nntflite_model_create(file, NULL, &tflite, NULL) &&
		!nntflite_session_create(tflite, device, NULL, &session, NULL) &&
		!nntflite_session_run(session, NULL, NULL, NULL), "objects"))
		return tap_done();
	test_complete();
	for (i = 0; i < 2; i++)
		cache_files[i] = memfd_create("cache", MFD_CLOEXEC);
	nnhal_device_get_number_of_cache_files_needed(device, &num_files[0], &num_files[1]);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].type, "nnhal_cache") || num_files[0])
			test_options(&calls[i]);
		else
			tap_skip("cache: the device or the machine cannot have one");
	close(cache_files[0]);
	close(cache_files[1]);
	test_reserved();
	for (i = 0; i < sizeof(result_calls) / sizeof(result_calls[0]); i++)
		test_results(&result_calls[i]);
	test_profile_entries();
	test_older_results();
	nntflite_session_destroy(session);
	nntflite_model_destroy(tflite);
	nntflite_file_close(file);
	nnhal_resilient_burst_unref(lasting_burst);
	nnhal_resilient_model_unref(lasting_model);
	nnhal_resilient_device_unref(lasting);
	nnhal_buffer_unref(buffer);
	nnhal_burst_controller_destroy(controller);
	nnhal_burst_server_destroy(server);
	close(sockets[0]);
	close(sockets[1]);
	nnhal_burst_unref(plain);
	nnhal_prepared_model_unref(other);
	nnhal_device_unref(noqueues);
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
	nnhal_device_unref(device);
	return tap_done();
}
