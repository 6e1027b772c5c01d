// SPDX-License-Identifier: MIT
/*
 * Devices: opening, queries, supported operations.
 */
#include <ctype.h>
#include <float.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/build_id.h"
#include "nnhal_fixture.h"

static struct nnhal_device *device;
static struct fixture f;

static void test_open(void)
{
	static const char *const bad[] = {
		"", "gpu", "drm:", "drm:x", "drm:-1", "drm:0x", "drm:99999999999999999999",
		"sim:bogus", "simulator", "sim:threads", "sim:threads=", "sim:threads=0",
		"sim:threads=17", "sim:threads=2x", "sim:threads=-1", "sim:threads=100",
		"sim:refuse=", "sim:refuse=add", "sim:refuse=ADDS", "sim:refuse=unknown operation",
	};
	struct nnhal_device *d;
	struct nnhal_diag diag;
	enum nnhal_status status;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		d = (struct nnhal_device *)&diag;
		status = nnhal_device_open(bad[i], &d, &diag);
		ok(status == NNHAL_STATUS_INVALID_ARGUMENT && !d && diag.message[0],
		   "device \"%s\" gives INVALID_ARGUMENT: %s", bad[i], diag.message);
	}
	ok(nnhal_device_open("sim", NULL, &diag) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "no room for the device");
	status = nnhal_device_open("drm:63", &d, &diag);
	ok((status == NNHAL_STATUS_NO_DRIVER || status == NNHAL_STATUS_NO_DEVICE) && !d,
	   "device drm:63 gives %s: %s", nnhal_status_name((int)status), diag.message);
	nnhal_device_unref(NULL);
	ok(!nnhal_device_open("sim:nocache,threads=16", &d, &diag) && d,
	   "an in-process device with threads and without caching");
	nnhal_device_unref(d);
}

static void test_enumerate(void)
{
	struct nnhal_device_info infos[8] = { NNHAL_DEVICE_INFO_INIT };
	struct nnhal_diag diag;
	enum nnhal_status status;
	uint32_t count = 99, again = 99, i;
	bool names = true;

	status = nnhal_enumerate_devices(infos, 8, &count, &diag);
	ok((status == NNHAL_STATUS_NONE || status == NNHAL_STATUS_NO_DRIVER ||
	    status == NNHAL_STATUS_NO_DEVICE) && !status == !diag.message[0],
	   "enumeration: %s %s", nnhal_status_name((int)status), diag.message);
	ok(count >= 1 && count <= 8, "%u devices", count);
	for (i = 0; i < count && i < 8; i++) {
		const char *dash = strchr(infos[i].name, '-');

		names &= dash && dash != infos[i].name && dash[1] && !strchr(dash + 1, '-');
		tap_note("%s: \"%s\" %s", infos[i].name, infos[i].spec, infos[i].path);
	}
	ok(names, "A11 each name has one '-' inside");
	ok(nnhal_enumerate_devices(NULL, 0, &again, NULL) == status && again == count,
	   "the number alone");
	ok(nnhal_enumerate_devices(NULL, 1, &again, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_enumerate_devices(infos, 8, NULL, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "NULL pointers");
}

static bool positive(struct nnhal_performance_info info)
{
	return info.exec_time > 0.0f && info.exec_time < FLT_MAX && info.power_usage > 0.0f &&
	       info.power_usage < FLT_MAX;
}

static void test_capabilities(void)
{
	struct nnhal_capabilities caps = NNHAL_CAPABILITIES_INIT;
	struct nnhal_capabilities again = NNHAL_CAPABILITIES_INIT;
	struct nnhal_capabilities_1_1 old = NNHAL_CAPABILITIES_1_1_INIT;
	bool all = true, sorted = true, base = true;
	uint32_t i;

	ok(!nnhal_device_get_capabilities(device, &caps), "A03 getCapabilities");
	ok(positive(caps.relaxed_float32_to_float16_scalar) &&
	   positive(caps.relaxed_float32_to_float16_tensor) && positive(caps.if_performance) &&
	   positive(caps.while_performance), "A03 relaxed, IF and WHILE figures are positive");
	for (i = 0; i < caps.num_operand_performance; i++) {
		all &= positive(caps.operand_performance[i].info);
		base &= caps.operand_performance[i].type < NNHAL_OPERAND_SUBGRAPH;
		if (i && caps.operand_performance[i].type <= caps.operand_performance[i - 1].type)
			sorted = false;
	}
	ok(caps.num_operand_performance && all, "A03 %u operand figures are positive",
	   caps.num_operand_performance);
	ok(sorted, "A04 strictly ascending");
	ok(base, "A05 base types only, no SUBGRAPH");
	ok(!nnhal_device_get_capabilities_1_1(device, &old) && positive(old.float32_performance) &&
	   positive(old.quantized8_performance) &&
	   positive(old.relaxed_float32_to_float16_performance), "A08 figures of 1.0 and 1.1");
	ok(!nnhal_device_get_capabilities(device, &again) && !memcmp(&caps, &again, sizeof(caps)),
	   "A15 the same again");
	ok(nnhal_device_get_capabilities(device, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_capabilities(NULL, &caps) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_capabilities_1_1(device, NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "NULL pointers");
}

static void test_queries(void)
{
	const struct nnhal_extension *extensions = NULL;
	enum nnhal_device_type type = 0;
	uint8_t id[BUILD_ID_MAX];
	char build[BUILD_ID_TEXT];
	enum nnhal_status status;
	size_t size;
	const char *version = NULL, *again = NULL, *dash, *p;
	uint32_t model_cache = 99, data_cache = 99, count = 99;

	dash = strchr(nnhal_device_name(device), '-');
	ok(dash && !strchr(dash + 1, '-'), "A11 name %s", nnhal_device_name(device));
	status = nnhal_device_get_version_string(device, &version);
	if (!ok(!status && version && *version, "A09 version: %s", version ? version : "none"))
		return;
	size = build_id_own(id);
	build_id_text(id, size, build);
	ok(size >= 4 && strstr(version, build), "A09 with the build%s", build);
	ok(!nnhal_device_get_version_string(device, &again) && again && !strcmp(version, again),
	   "A15 the same again");
	for (p = version; *p && isprint((unsigned char)*p); p++)
		;
	ok(!*p, "A09 printable");
	status = nnhal_device_get_type(device, &type);
	ok(!status && type >= NNHAL_DEVICE_TYPE_OTHER &&
	   type <= NNHAL_DEVICE_TYPE_ACCELERATOR, "A10 type %u", type);
	ok(!nnhal_device_get_supported_extensions(device, &extensions, &count) &&
	   !count == !extensions, "A12 %u extensions", count);
	ok(!nnhal_device_get_number_of_cache_files_needed(device, &model_cache, &data_cache) &&
	   model_cache == data_cache && model_cache <= 1, "A14 %u cache files of each kind",
	   model_cache);
	ok(nnhal_device_get_status(device) == NNHAL_DEVICE_AVAILABLE, "A02 available");
	ok(nnhal_device_get_status(NULL) == NNHAL_DEVICE_UNKNOWN, "status of no device");
	ok(nnhal_device_get_version_string(device, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_type(device, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_supported_extensions(device, NULL, &count) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_number_of_cache_files_needed(device, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointers");
}

static bool supported[MAX_OPERATIONS];
static struct nnhal_ext_operation_support support[MAX_OPERATIONS];
static struct nnhal_diag diag;

static enum nnhal_status ask(void)
{
	memset(supported, 0xff, sizeof(supported));
	memset(support, 0xff, sizeof(support));
	support[0].size = sizeof(support[0]);
	return nnhal_device_get_supported_operations(device, &f.model, supported,
						     f.model.main.num_operations, &diag);
}

static enum nnhal_status ask_why(void)
{
	return nnhal_ext_get_operation_support(device, &f.model, support,
					       f.model.main.num_operations, &diag);
}

/* A device of a simulator that was told to do without an operation. */
static void test_refused(void)
{
	struct nnhal_prepared_model *prepared = NULL;
	struct nnhal_device *less = NULL;

	make_add_relu(&f);
	ok(!nnhal_device_open("sim:refuse=RELU,refuse=MUL", &less, &diag) && less,
	   "a device without RELU and MUL: %s", diag.message);
	memset(supported, 0xff, sizeof(supported));
	ok(!nnhal_device_get_supported_operations(less, &f.model, supported, 2, &diag) &&
	   supported[0] && !supported[1], "it supports ADD, but not RELU");
	ok(nnhal_device_prepare_model_sync(less, &f.model, NULL, &prepared) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !prepared, "it does not prepare the model");
	nnhal_device_unref(less);
}

static void test_supported(void)
{
	static const struct nnhal_extension_prefix ext[] = { { "com.example.ext", 1 } };

	make_add_relu(&f);
	ok(!ask() && supported[0] && supported[1], "A16 both operations are supported");
	ok(!ask_why() && support[0].supported && !support[0].reason[0] && support[1].supported,
	   "and without a reason");
	ok(nnhal_device_get_supported_operations(device, &f.model, supported, 1, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && diag.message[0], "room for one of two: %s",
	   diag.message);
	ok(nnhal_device_get_supported_operations(device, NULL, supported, 2, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_supported_operations(NULL, &f.model, supported, 2, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_device_get_supported_operations(device, &f.model, NULL, 2, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointers");
	memset(support, 0xff, sizeof(support));
	support[0].size = sizeof(support[0]);
	ok(nnhal_ext_get_operation_support(NULL, &f.model, support, 2, &diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !support[0].supported && !support[1].supported &&
	   support[1].reason[0], "without a device nothing is supported: %s", support[1].reason);
	f.graph.operands[3].number_of_consumers++;
	ok(ask() == NNHAL_STATUS_INVALID_ARGUMENT && !supported[0] && !supported[1] &&
	   diag.message[0], "A17 invalid model: %s", diag.message);

	make_dynamic_add(&f, 2);
	ok(!ask() && supported[0] && supported[1], "A16 unknown dimensions");
	make_dynamic_add(&f, 0);
	ok(!ask(), "A16 unknown rank: %u %u", supported[0], supported[1]);

	/* Errors that the device finds, not the library. */
	make_add_relu(&f);
	f.graph.operands[1].type = NNHAL_OPERAND_TENSOR_INT32;
	ok(ask() == NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "operation 0 (ADD)"),
	   "B56 operand types of ADD differ: %s", diag.message);
	make_add_relu(&f);
	f.graph.operations[0].num_inputs = 2;
	f.graph.operands[2].number_of_consumers = 0;
	ok(ask() == NNHAL_STATUS_INVALID_ARGUMENT && strstr(diag.message, "operation 0 (ADD)"),
	   "B64 operand of ADD removed: %s", diag.message);

	/* Operations of unknown extensions are valid and not supported; the others are judged. */
	make_add_relu(&f);
	f.model.extensions = ext;
	f.model.num_extensions = 1;
	f.graph.operations[1].type = 0x10001;
	ok(!ask() && supported[0] && !supported[1], "A20 operation of an extension: not supported");
	ok(!ask_why() && !support[1].supported && support[1].reason[0], "because %s",
	   support[1].reason);
	f.graph.operations[1].type = NNHAL_OPERATION_RELU;
	f.graph.operations[0].type = 0x10001;
	ok(!ask() && !supported[0] && supported[1],
	   "A20 the first operation of an extension, the other is judged");
	make_if(&f);
	ok(!ask() && supported[0], "A19 IF is supported");
	make_while(&f);
	ok(!ask() && supported[0], "A19 WHILE is supported");
	make_add_relu(&f);
	f.graph.operations[1].type = NNHAL_OPERATION_OEM_OPERATION;
	ok(!ask() && supported[0] && !supported[1], "OEM_OPERATION is not supported");
}

/* Rank 9 is legal, but no record of a program has room for it. */
static void test_high_rank(void)
{
	uint32_t i;

	make_add_relu(&f);
	f.graph.operations[0].type = NNHAL_OPERATION_MAXIMUM;
	f.graph.operations[0].num_inputs = 2;
	f.graph.operands[2].number_of_consumers = 0;
	f.graph.operations[1].type = NNHAL_OPERATION_ABS;
	for (i = 0; i < 5; i++) {
		if (i == 2)
			continue;
		f.graph.operands[i].num_dimensions = 9;
		for (uint32_t d = 0; d < 9; d++)
			f.graph.dims[i][d] = 1;
	}
	ok(nnhal_validate_model(&f.model, &diag), "rank 9 is valid");
	ok(!ask() && !supported[0] && !supported[1], "A18 rank 9 is not supported");
	ok(!ask_why() && support[0].reason[0], "because %s", support[0].reason);
}

/* A constant in a file that has become too short: A21. */
static void test_unreadable_pool(void)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 64,
	};
	FILE *file = tmpfile();
	uint32_t k;

	make_add_relu(&f);
	desc.fd = fileno(file);
	ok(!ftruncate(desc.fd, 64) && !nnhal_memory_import(&desc, &f.pools[0], &diag), "file");
	k = 2;
	f.graph.operands[k].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	f.graph.operands[k].location = (struct nnhal_data_location){ 0, 32, 4 };
	f.model.num_pools = 1;
	ok(!ask() && supported[0] && supported[1], "A16 constant in a file");
	ok(!ftruncate(desc.fd, 8), "file truncated");
	ok(!ask() && !supported[0] && supported[1],
	   "A21 the operation that reads it is not supported, the other is");
	nnhal_memory_unref(f.pools[0]);
	fclose(file);
}

static void test_several_devices(void)
{
	struct nnhal_device *other = test_device_open();

	ok(other != device, "the device can be opened twice");
	ok(nnhal_device_get_status(other) == NNHAL_DEVICE_AVAILABLE, "both are available");
	ok(nnhal_device_ref(other) == other, "reference");
	nnhal_device_unref(other);
	ok(nnhal_device_get_status(other) == NNHAL_DEVICE_AVAILABLE, "still open");
	nnhal_device_unref(other);
	ok(nnhal_device_get_status(device) == NNHAL_DEVICE_AVAILABLE,
	   "closing one leaves the other");
}

/* What a device answers; a process writes it to another one. */
struct answers {
	struct nnhal_capabilities capabilities;
	char version[256];
	char name[NNHAL_NAME_SIZE];
	enum nnhal_device_type type;
	uint32_t num_extensions, num_model_cache, num_data_cache;
};

static bool ask_all(struct nnhal_device *d, struct answers *a)
{
	const struct nnhal_extension *extensions;
	const char *version;

	memset(a, 0, sizeof(*a));
	a->capabilities.size = sizeof(a->capabilities);
	if (nnhal_device_get_capabilities(d, &a->capabilities) ||
	    nnhal_device_get_version_string(d, &version) || nnhal_device_get_type(d, &a->type) ||
	    nnhal_device_get_supported_extensions(d, &extensions, &a->num_extensions) ||
	    nnhal_device_get_number_of_cache_files_needed(d, &a->num_model_cache,
							  &a->num_data_cache))
		return false;
	snprintf(a->version, sizeof(a->version), "%s", version);
	snprintf(a->name, sizeof(a->name), "%s", nnhal_device_name(d));
	return true;
}

static struct answers theirs;
static bool have_theirs;

/*
 * Before this process has threads, which the device brings: ThreadSanitizer lets a child of
 * threads start none.
 */
static void ask_in_process(void)
{
	int fds[2], status = 1;
	ssize_t n;
	pid_t pid;

	if (pipe(fds))
		return;
	pid = fork();
	if (!pid) {
		struct nnhal_device *own;

		if (nnhal_device_open(test_device_spec(), &own, NULL) || !ask_all(own, &theirs))
			_exit(1);
		_exit(write(fds[1], &theirs, sizeof(theirs)) != sizeof(theirs));
	}
	close(fds[1]);
	n = read(fds[0], &theirs, sizeof(theirs));
	close(fds[0]);
	have_theirs = pid > 0 && waitpid(pid, &status, 0) == pid && !status &&
		      n == sizeof(theirs);
}

static void test_processes(void)
{
	struct answers mine;

	ok(ask_all(device, &mine) && have_theirs && !memcmp(&mine, &theirs, sizeof(mine)),
	   "A15 another process gets the same answers");
}

/* Was the status asked for before a loop of so many ms had ended? */
static bool asked_meanwhile(struct nnhal_prepared_model *loop, const struct run *r, unsigned int ms,
			    enum nnhal_device_status *status, enum nnhal_status *end)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct callback_result result = CALLBACK_RESULT_INIT;
	unsigned int calls;

	o.has_loop_timeout = true;
	o.loop_timeout_ns = ms * UINT64_C(1000000);
	*end = nnhal_prepared_model_execute(loop, &r->request, &o, callback_executed, &result);
	*status = nnhal_device_get_status(device);
	pthread_mutex_lock(&result.lock);
	calls = result.calls;
	pthread_mutex_unlock(&result.lock);
	*end = callback_wait(&result, *end);
	return !calls;
}

/* A loop without end keeps the device at work until its time is over. */
static void test_busy(void)
{
	struct nnhal_prepared_model *loop = NULL;
	enum nnhal_device_status status;
	enum nnhal_status end;
	unsigned int ms = 500;
	struct run r;

	run_init(&r, 1);
	make_while(&f);
	/* while (-1 < 0) a = a + 0 */
	((float *)(r.map + RUN_INPUT(0)))[0] = -1.0f;
	((float *)(r.map + RUN_INPUT(1)))[0] = 0.0f;
	if (!ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &loop), "a loop"))
		return;
	while (!asked_meanwhile(loop, &r, ms, &status, &end) && ms < 8000)
		ms *= 2;
	ok(ms < 8000 && (status == NNHAL_DEVICE_AVAILABLE || status == NNHAL_DEVICE_BUSY),
	   "A02 answered while a job runs: %u", (unsigned int)status);
	ok(end == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT,
	   "the loop ran until its time was over");
	nnhal_prepared_model_unref(loop);
	run_fini(&r);
}

int main(void)
{
	ask_in_process();
	test_open();
	test_enumerate();
	device = test_device_open();
	test_capabilities();
	test_queries();
	test_refused();
	test_supported();
	test_high_rank();
	test_unreadable_pool();
	test_several_devices();
	test_processes();
	test_busy();
	nnhal_device_unref(device);
	return tap_done();
}
