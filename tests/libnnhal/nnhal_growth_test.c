// SPDX-License-Identifier: MIT
/*
 * Structures that grow: options of an older program are never read beyond their end, options
 * of a newer one may only add zeros, and a layout of models and requests that the library does
 * not know is refused before a pointer is followed. Nothing is written beyond the end of a result.
 * Options and results are in memory of exactly their size, so that the sanitizers see a byte too
 * many.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "nnhal_fixture.h"

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

static const struct nnhal_buffer_desc buffer_desc = NNHAL_BUFFER_DESC_INIT;
static const struct nnhal_prepare_options prepare_options = NNHAL_PREPARE_OPTIONS_INIT;
static const struct nnhal_burst_options burst_options = NNHAL_BURST_OPTIONS_INIT;
static const struct nnhal_burst_server_options server_options = NNHAL_BURST_SERVER_OPTIONS_INIT;
static const struct nnhal_burst_controller_options controller_options =
	NNHAL_BURST_CONTROLLER_OPTIONS_INIT;

static const struct call {
	const char *name;
	enum nnhal_status (*call)(const void *options);
	const void *options;
	size_t size;
	size_t first;			/* of the first version of the structure */
	bool measures;
} calls[] = {
#define EXECUTE(name, call) \
	{ name, call, &execute_options, sizeof(execute_options), \
	  offsetof(struct nnhal_execute_options, work), true }
	EXECUTE("execute", with_execute),
	EXECUTE("burst", with_burst),
	EXECUTE("burst, submitted", with_burst_submit),
	EXECUTE("burst without a queue", with_plain_burst),
	EXECUTE("burst without a queue, submitted", with_plain_burst_submit),
	EXECUTE("burst over message queues", with_controller),
#define OTHER(name, call, options) { name, call, &options, sizeof(options), sizeof(options), false }
	OTHER("prepare", with_prepare, prepare_options),
	{ "burst_create", with_burst_create, &burst_options, sizeof(burst_options),
	  offsetof(struct nnhal_burst_options, flags), false },
	OTHER("burst_serve", with_serve, server_options),
	OTHER("burst_connect", with_connect, controller_options),
	OTHER("executor of a burst", with_executor, executor),
	OTHER("memory_import", with_memory, memory_desc),
	OTHER("burst_server_create", with_channel, channel_options),
	OTHER("allocate", with_buffer, buffer_desc),
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

	_Static_assert(offsetof(struct nnhal_memory_desc, reserved) + sizeof(desc.reserved) ==
		       sizeof(desc), "padding at the end");
	_Static_assert(offsetof(struct nnhal_burst_channel, reserved) + sizeof(channel.reserved) ==
		       sizeof(channel), "padding at the end");
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

/* What a call reads of the structure, and 0xa5 where it writes. */
static const struct nnhal_ext_profile profile_in = NNHAL_EXT_PROFILE_INIT;
static const struct nnhal_burst_result result_in = { .output_shapes = NULL };

static const struct result_call {
	const char *name;
	enum nnhal_status (*call)(void *results);
	size_t size;
	unsigned int num;
	bool is_same;			/* the next time */
	const void *in;			/* NULL: it reads nothing but the size */
} result_calls[] = {
#define RESULT(name, call, type, num, is_same, in) \
	{ name, call, sizeof(struct type), num, is_same, in }
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

/* ---- layouts ---- */

static void test_layout(void)
{
	const uint32_t newer = 1u << 16 | NNHAL_HAL_1_3;
	struct nnhal_model m = f.model;
	struct nnhal_request q = r.request;
	struct nnhal_request *requests[] = { &q };
	struct nnhal_burst_result result = NNHAL_BURST_RESULT_INIT;
	struct nnhal_prepared_model *prepared;
	struct nnhal_diag diag = { "" };
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_burst_request_datum packet[8];
	uint32_t versions[2], count;
	uint64_t tag = 0;
	bool supported[2];

	/* Nothing but the version is where this library would look for it. */
	memset(&m, 0xa5, sizeof(m));
	m.hal_version = newer;
	memset(&q, 0xa5, sizeof(q));
	q.hal_version = newer;
	ok(nnhal_device_prepare_model_sync(device, &m, NULL, &prepared) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "model of a newer layout: prepare");
	ok(nnhal_device_get_supported_operations(device, &m, supported, 2, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "layout 1"),
	   "supported operations: %s", diag.message);
	ok(!nnhal_validate_model(&m, NULL) &&
	   nnhal_check_model(&m, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !nnhal_model_get_min_version(&m, NULL) &&
	   nnhal_model_get_operation_versions(&m, versions, 2, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "validate, versions");
	ok(!nnhal_validate_request(&r.request, &m, true, NULL) &&
	   !nnhal_validate_request(&q, &f.model, true, NULL), "validate a request");
	o.diag = &diag;
	diag.message[0] = '\0';
	ok(nnhal_prepared_model_execute_synchronously(model, &q, &o, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "layout 1"),
	   "request of a newer layout: %s", diag.message);
	ok(nnhal_burst_execute(burst, &q, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(burst, &q, NULL, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit_many(burst, (const struct nnhal_request *const *)requests, &tag, 1,
				   NULL, 0, &count) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_wait(burst, &result, 0) == NNHAL_STATUS_INVALID_ARGUMENT, "burst");
	ok(nnhal_burst_serialize_request(&q, NULL, 0, packet, 8) == -EINVAL,
	   "a packet of it");
	ok(nnhal_burst_execute(plain, &q, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_burst_submit(plain, &q, NULL, 0, 0) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "burst without a queue");
	ok(nnhal_burst_controller_execute(controller, &q, NULL, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "burst over message queues");
	/* A place of a burst that saw a good request compares the layout as well. */
	q = r.request;
	ok(!nnhal_burst_execute(burst, &q, NULL, NULL, NULL, NULL), "a good request");
	q.hal_version = newer;
	ok(nnhal_burst_execute(burst, &q, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "the same with another layout");
}

int main(void)
{
	struct nnhal_burst_server *server = NULL;
	uint32_t token;
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
				       &buffer, &token, NULL), "objects"))
		return tap_done();
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		test_options(&calls[i]);
	test_reserved();
	for (i = 0; i < sizeof(result_calls) / sizeof(result_calls[0]); i++)
		test_results(&result_calls[i]);
	test_profile_entries();
	test_older_results();
	test_layout();
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
