// SPDX-License-Identifier: MIT
/*
 * Synchronous executions: results, shapes, timing, profiles, memory kinds.
 */
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnhal_fixture.h"
#include "device/device_private.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"
#include "transport/transport.h"

static struct nnhal_device *device;
static struct fixture f;
static struct run r;
static struct nnhal_prepared_model *model;

static void prepare(void)
{
	nnhal_prepared_model_unref(model);
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &model)) {
		printf("Bail out! model cannot be prepared\n");
		exit(1);
	}
}

static void fresh_run(uint32_t count)
{
	run_fini(&r);
	run_init(&r, count);
}

static enum nnhal_status execute(const struct nnhal_execute_options *from)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	if (from)
		o = *from;
	o.diag = &r.diag;
	r.num_shapes = 99;
	r.timing.time_in_driver = 1;
	memset(r.shapes, 0xff, sizeof(r.shapes));
	return nnhal_prepared_model_execute_synchronously(model, &r.request, &o, r.shapes,
							  &r.num_shapes, &r.timing);
}

static bool no_timing(void)
{
	return r.timing.time_on_device == NNHAL_NO_TIMING &&
	       r.timing.time_in_driver == NNHAL_NO_TIMING;
}

static bool shape_is(uint32_t rank, uint32_t d0, uint32_t d1, bool sufficient)
{
	return r.num_shapes == 1 && r.shapes[0].num_dimensions == rank &&
	       r.shapes[0].dimensions[0] == d0 && (rank < 2 || r.shapes[0].dimensions[1] == d1) &&
	       r.shapes[0].is_sufficient == sufficient;
}

static void expect_failure(enum nnhal_status expected, const char *what,
			   const struct nnhal_execute_options *o)
{
	enum nnhal_status status = execute(o);

	ok(status == expected && r.num_shapes == 0 && no_timing() && r.diag.message[0],
	   "%s: %s: %s", what, nnhal_status_name((int)status), r.diag.message);
}

static void test_results(void)
{
	enum nnhal_status status;
	uint32_t i;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	status = execute(NULL);
	ok(!status && run_output_is_right(&r, 4), "D33 ADD and RELU: %s %s",
	   nnhal_status_name((int)status), r.diag.message);
	ok(shape_is(2, 2, 2, true), "D15 shape [2, 2], sufficient");
	ok(no_timing(), "D22 no timing without measuring");
	for (i = 0; i < 256 - 16; i++)
		if (r.map[RUN_OUTPUT(0) + 16 + i] != 0xee)
			break;
	ok(i == 256 - 16, "D10 nothing is written behind the output");
	ok(!nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL, NULL),
	   "results nobody wants");
	fresh_run(4);
	r.outputs[0].location.length = 64;
	ok(!execute(NULL) && run_output_is_right(&r, 4) && shape_is(2, 2, 2, true),
	   "D18 more room than needed");
	ok(r.map[RUN_OUTPUT(0) + 16] == 0xee, "D10 the rest of the room is untouched");
	fresh_run(4);
	r.inputs[1].location.offset = RUN_INPUT(0);
	ok(!execute(NULL), "both inputs are one");
	r.request.hal_version = NNHAL_HAL_1_0;
	ok(!execute(NULL) && r.num_shapes == 0, "a 1.0 request has no shapes");
}

/* The library does not check a request again that it ran last: each difference has to be seen. */
static void test_repeated(void)
{
	struct nnhal_request_argument input, output;
	struct nnhal_memory *other;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	input = r.inputs[0];
	output = r.outputs[0];
	ok(!execute(NULL) && !execute(NULL) && run_output_is_right(&r, 4), "the same again");

	r.inputs[0].location.offset = 4096;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then an offset beyond the memory", NULL);
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "once more", NULL);
	r.inputs[0] = input;
	ok(!execute(NULL), "then the good one");
	r.inputs[0].location.length = 12;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then another length", NULL);
	r.inputs[0] = input;
	ok(!execute(NULL), "then the good one");
	r.inputs[0].location.pool_index = 1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then a pool that does not exist", NULL);
	r.inputs[0] = input;
	ok(!execute(NULL), "then the good one");
	r.inputs[0].num_dimensions = 1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then another rank", NULL);
	r.inputs[0] = input;
	ok(!execute(NULL), "then the good one");
	r.inputs[0].has_no_value = true;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then no value, with a location", NULL);
	r.inputs[0] = input;
	ok(!execute(NULL), "then the good one");
	r.outputs[0].location.offset = RUN_INPUT(0);
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then an output over an input", NULL);
	r.outputs[0] = output;
	r.outputs[0].location.offset = RUN_OUTPUT(1);
	ok(!execute(NULL) && !memcmp(r.map + RUN_OUTPUT(0), r.map + RUN_OUTPUT(1), 16),
	   "then an output elsewhere");
	r.outputs[0] = output;
	ok(!execute(NULL), "then the good one");
	r.request.num_pools = 0;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then no pools", NULL);
	r.request.num_pools = 1;
	ok(!execute(NULL), "then the good one");
	r.pools[0].token = 1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then a token beside the memory", NULL);
	r.pools[0].token = 0;
	r.request.num_inputs = 1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then one input only", NULL);
	r.request.num_inputs = 2;

	/* Most likely at the address of the first. */
	if (nnhal_memory_create(8192, &other, &r.diag))
		return;
	r.pools[0].memory = other;
	r.inputs[0].location.offset = 8192 - 16;
	ok(!execute(NULL), "another memory object");
	nnhal_memory_unref(other);
	if (nnhal_memory_create(4096, &other, &r.diag))
		return;
	r.pools[0].memory = other;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "then a smaller one in its place", NULL);
	nnhal_memory_unref(other);
	r.pools[0].memory = r.memory;
}

/* The rules of fenced executions are stricter: what a plain one may leave open they may not. */
static void test_repeated_fenced(void)
{
	struct nnhal_fenced_callback *callback;
	int fence;

	make_add_relu(&f);
	f.graph.dims[4][0] = 0;
	prepare();
	fresh_run(4);
	ok(!execute(NULL) && shape_is(2, 2, 2, true), "the device finds a dimension of the output");
	ok(nnhal_prepared_model_execute_fenced(model, &r.request, NULL, 0, NULL, &fence,
					       &callback) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   !callback && fence == -1, "the same request cannot run fenced");
	ok(!execute(NULL), "but plain it runs on");
}

static void test_insufficient(void)
{
	make_add_relu(&f);
	prepare();
	fresh_run(4);
	r.outputs[0].location.length = 15;
	ok(execute(NULL) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && shape_is(2, 2, 2, false) &&
	   no_timing() && r.diag.message[0], "D18 one byte short: %s", r.diag.message);
	ok(r.map[RUN_OUTPUT(0)] == 0xee, "nothing is written");
	r.outputs[0].location.length = 0;
	ok(execute(NULL) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && shape_is(2, 2, 2, false),
	   "D18 no room at all");
	r.outputs[0].location.length = 16;
	ok(!execute(NULL) && run_output_is_right(&r, 4), "the next run succeeds");
	r.request.hal_version = NNHAL_HAL_1_0;
	r.outputs[0].location.length = 15;
	ok(execute(NULL) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && r.num_shapes == 0,
	   "D18 1.0: the status alone");

	make_dynamic_add(&f, 2);
	prepare();
	fresh_run(4);
	r.inputs[0].num_dimensions = 2;
	r.inputs[1].num_dimensions = 2;
	r.dims[0][0] = r.dims[0][1] = r.dims[1][0] = r.dims[1][1] = 2;
	r.outputs[0].location.length = 15;
	ok(execute(NULL) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && shape_is(2, 2, 2, false),
	   "D17 one byte short, dimensions unknown to the model");
}

static void test_dynamic(void)
{
	make_dynamic_add(&f, 2);
	prepare();
	fresh_run(6);
	r.inputs[0].num_dimensions = 2;
	r.inputs[1].num_dimensions = 2;
	r.dims[0][0] = r.dims[1][0] = 3;
	r.dims[0][1] = r.dims[1][1] = 2;
	ok(!execute(NULL) && run_output_is_right(&r, 6) && shape_is(2, 3, 2, true),
	   "C09 D15 shape [3, 2] worked out by the device");
	r.dims[0][0] = r.dims[1][0] = 1;
	r.dims[0][1] = r.dims[1][1] = 6;
	ok(!execute(NULL) && run_output_is_right(&r, 6) && shape_is(2, 1, 6, true),
	   "C09 the same model with shape [1, 6]");
	r.outputs[0].num_dimensions = 2;
	r.dims[4][0] = 1;
	r.dims[4][1] = 0;
	ok(!execute(NULL) && shape_is(2, 1, 6, true), "output with one dimension given");
	r.dims[4][0] = 2;
	ok(execute(NULL) != NNHAL_STATUS_NONE && r.num_shapes == 0,
	   "output dimension that does not come out: %s", r.diag.message);
	make_dynamic_add(&f, 2);
	f.graph.dims[4][0] = 0;
	r.outputs[0].num_dimensions = 0;
	r.dims[1][0] = 5;
	r.dims[1][1] = 1;
	r.inputs[1].location.length = 20;
	r.dims[0][0] = 2;
	r.dims[0][1] = 3;
	ok(execute(NULL) != NNHAL_STATUS_NONE && r.num_shapes == 0 && no_timing(),
	   "D11 shapes that cannot be added: %s", r.diag.message);
}

static void test_refused(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	r.request.num_inputs = 1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D01 input removed", NULL);
	fresh_run(4);
	r.request.num_outputs = 0;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D01 output removed", NULL);
	fresh_run(4);
	r.inputs[0].location.length = 12;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D08 input too short", NULL);
	fresh_run(4);
	r.outputs[0].location.offset = RUN_INPUT(1);
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D09 overlap", NULL);
	fresh_run(4);
	r.pools[0].token = 100;
	r.pools[0].memory = NULL;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "F34 token 100", NULL);
	fresh_run(4);
	r.inputs[1] = (struct nnhal_request_argument){ .has_no_value = true };
	ok(execute(NULL) != NNHAL_STATUS_NONE && r.num_shapes == 0 && no_timing(),
	   "D11 operand of ADD omitted: %s", r.diag.message);
	fresh_run(4);
	o.measure = 2;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D13 measure 2", &o);
	o.measure = -1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D13 measure -1", &o);
	o.measure = NNHAL_MEASURE_NO;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS + 1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "D30 loop timeout above the maximum", &o);
	o.loop_timeout_ns = NNHAL_MAX_LOOP_TIMEOUT_NS;
	ok(!execute(&o), "D30 loop timeout at the maximum");
	o.has_loop_timeout = false;
	o.has_deadline = true;
	o.deadline_ns = 1;
	expect_failure(NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT, "D26 deadline passed", &o);
	r.request.hal_version = NNHAL_HAL_1_2;
	expect_failure(NNHAL_STATUS_GENERAL_FAILURE, "G11 deadline passed at 1.2", &o);
	r.request.hal_version = NNHAL_HAL_1_3;
	o.deadline_ns = UINT64_MAX;
	ok(!execute(&o), "K05 the largest time point");
	o = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	o.size = 4;
	ok(execute(&o) == NNHAL_STATUS_INVALID_ARGUMENT, "options of a size that never was");
	ok(nnhal_prepared_model_execute_synchronously(NULL, &r.request, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_prepared_model_execute_synchronously(model, NULL, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointers");
	ok(!execute(NULL) && run_output_is_right(&r, 4), "and after all that a good run");
}

/* Rank 9 where the model leaves the rank open: legal, but more than the device has. */
static void test_high_rank(void)
{
	uint32_t i, d;

	make_dynamic_add(&f, 0);
	prepare();
	fresh_run(4);
	for (i = 0; i < 2; i++) {
		r.inputs[i].num_dimensions = 9;
		for (d = 0; d < 9; d++)
			r.dims[i][d] = d ? 1 : 4;
	}
	expect_failure(NNHAL_STATUS_GENERAL_FAILURE, "D05 rank 9", NULL);
}

static void test_timing(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;

	make_chain(&f, 20);
	prepare();
	fresh_run(4);
	o.measure = NNHAL_MEASURE_YES;
	status = execute(&o);
	ok(!status && r.timing.time_on_device != NNHAL_NO_TIMING &&
	   r.timing.time_in_driver != NNHAL_NO_TIMING && r.timing.time_in_driver > 0 &&
	   r.timing.time_on_device <= r.timing.time_in_driver,
	   "D21 D23 %llu us on the device, %llu us in the driver",
	   (unsigned long long)r.timing.time_on_device,
	   (unsigned long long)r.timing.time_in_driver);
	r.outputs[0].location.length = 15;
	ok(execute(&o) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && no_timing(),
	   "D22 no timing of a failed run");
}

static void test_work(void)
{
	struct nnhal_ext_work work = { sizeof(work), 7, 7, 7, 0 };
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	uint32_t allocations = 0;
	bool good = true;

	make_chain(&f, 20);
	prepare();
	fresh_run(4);
	o.work = &work;
	for (int i = 0; i < 50; i++) {
		good &= !execute(&o) && !work.inferences && !work.copies;
		allocations += work.allocations;
	}
	/* Each engine of the device allocates for its first job, in a few pieces. */
	ok(good && allocations < 50, "static shapes: no inferences and copies, %u allocations",
	   allocations);
	work = (struct nnhal_ext_work) { sizeof(work), 7, 7, 7, 0 };
	o.size = offsetof(struct nnhal_execute_options, work);
	ok(!execute(&o) && work.inferences == 7, "options of an older program");
	o.size--;
	ok(execute(&o) == NNHAL_STATUS_INVALID_ARGUMENT, "options that are too short");
	o.size = sizeof(o);
	r.outputs[0].location.length = 15;
	ok(execute(&o) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && !work.inferences &&
	   !work.allocations && !work.copies, "no counts of a failed run");
}

static void test_profile(void)
{
	struct nnhal_ext_profile_entry entries[20];
	struct nnhal_ext_profile profile = {
		.size = sizeof(profile), .entry_size = sizeof(entries[0]), .max_entries = 20,
		.entries = entries,
	};
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	bool right = true, ordered = true;
	uint32_t i;

	make_chain(&f, 20);
	prepare();
	fresh_run(4);
	o.profile = &profile;
	memset(entries, 0xff, sizeof(entries));
	ok(!execute(&o) && profile.num_entries == 20, "profile of 20 operations");
	for (i = 0; i < profile.num_entries; i++) {
		right &= entries[i].operation == i &&
			 entries[i].operation_type == NNHAL_OPERATION_ADD &&
			 entries[i].output_bytes == 16;
		if (i)
			ordered &= entries[i].start_ns >= entries[i - 1].start_ns;
	}
	ok(right && ordered, "each names its operation, in order");
	ok(profile.exec_ns > 0, "%llu ns in all, %llu ns in the queue",
	   (unsigned long long)profile.exec_ns, (unsigned long long)profile.queue_ns);
	profile.max_entries = 5;
	ok(!execute(&o) && profile.num_entries == 5, "room for 5 of 20");
	profile.max_entries = 0;
	profile.entries = NULL;
	ok(!execute(&o) && profile.num_entries == 0 && profile.exec_ns > 0, "times alone");
	profile.max_entries = 1;
	ok(execute(&o) == NNHAL_STATUS_INVALID_ARGUMENT, "NULL pointer for entries");
	profile.entries = entries;
	r.outputs[0].location.length = 15;
	ok(execute(&o) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && profile.num_entries == 0 &&
	   profile.exec_ns == 0, "no profile of a failed run");
}

/* Replace the run's memory with another object of the same content. */
static void use_memory(uint32_t kind, int fd, uint64_t size, uint64_t offset)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = kind, .fd = fd, .size = size,
		.offset = offset,
	};
	struct nnhal_memory *memory = NULL;

	if (pwrite(fd, r.map, 4096, (off_t)offset) != 4096 ||
	    nnhal_memory_import(&desc, &memory, &r.diag)) {
		printf("Bail out! memory: %s\n", r.diag.message);
		exit(1);
	}
	nnhal_memory_unref(r.memory);
	r.memory = memory;
	r.pools[0].memory = memory;
	r.map = nnhal_memory_map(memory, &r.diag);
}

static void test_memory_kinds(void)
{
	FILE *file = tmpfile();
	int fd;

	make_add_relu(&f);
	prepare();

	fresh_run(4);
	fd = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ok(!ftruncate(fd, 4100), "memfd that is not whole pages");
	use_memory(NNHAL_MEMORY_ASHMEM, fd, 4100, 0);
	ok(!execute(NULL) && run_output_is_right(&r, 4), "F01 executes through a copy: %s",
	   r.diag.message);
	ok(r.map[RUN_OUTPUT(0) + 16] == 0xee, "D10 nothing is written behind the output");
	close(fd);

	fresh_run(4);
	fd = memfd_create("unsealable", MFD_CLOEXEC);
	ok(!ftruncate(fd, 4096), "memfd that cannot be sealed");
	use_memory(NNHAL_MEMORY_ASHMEM, fd, 4096, 0);
	ok(!execute(NULL) && run_output_is_right(&r, 4), "F01 executes through a copy: %s",
	   r.diag.message);
	ok(!ftruncate(fd, RUN_INPUT(1)), "it is truncated");
	expect_failure(NNHAL_STATUS_GENERAL_FAILURE, "F06 the next run", NULL);
	close(fd);

	fresh_run(4);
	ok(!ftruncate(fileno(file), 16384), "file");
	use_memory(NNHAL_MEMORY_MMAP_FD, fileno(file), 4096, 5003);
	ok(!execute(NULL) && run_output_is_right(&r, 4), "F02 file at offset 5003: %s",
	   r.diag.message);
	r.outputs[0].location.length = 64;
	ok(!execute(NULL) && r.map[RUN_OUTPUT(0) + 16] == 0xee,
	   "D10 only what was computed is written");
	fclose(file);
}

/* A dma-buf of the run's memory, or -1 where there is no way to make one. */
static int make_dmabuf(void)
{
	int device_fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	struct udmabuf_create create = {
		.memfd = (uint32_t)nnhal_memory_fd(r.memory), .flags = UDMABUF_FLAGS_CLOEXEC,
		.size = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	int fd;

	if (device_fd < 0)
		return -1;
	fd = ioctl(device_fd, UDMABUF_CREATE, &create);
	close(device_fd);
	return fd;
}

/* Memory the device reaches in place: memfd and dma-buf. */
static void test_in_place(void)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_HARDWARE_BUFFER_BLOB,
		.size = 4096,
	};
	bool sim = !strncmp(test_device_spec(), "sim", 3);
	struct nnhal_memory *blob = NULL;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	ok(!execute(NULL) && r.memory->bindings, "memory is bound by its first execution");
	if (sim || !access("/dev/udmabuf", R_OK | W_OK))
		ok(!r.memory->bindings->has_bounce, "F01 memfd without a copy");
	else
		tap_skip("F01 memfd without a copy: no /dev/udmabuf");
	fresh_run(4);
	desc.fd = make_dmabuf();
	if (desc.fd < 0) {
		tap_skip("F03 dma-buf: no /dev/udmabuf");
		return;
	}
	ok(!nnhal_memory_import(&desc, &blob, &r.diag) &&
	   nnhal_memory_access(blob) == (NNHAL_MEMORY_READ | NNHAL_MEMORY_WRITE),
	   "F03 linear dma-buf: %s", r.diag.message);
	r.pools[0].memory = blob;
	ok(!execute(NULL) && run_output_is_right(&r, 4), "F03 executes in it: %s",
	   r.diag.message);
	ok(!nnhal_memory_begin_cpu_access(blob, NNHAL_MEMORY_READ) &&
	   !nnhal_memory_end_cpu_access(blob, NNHAL_MEMORY_READ), "F03 CPU access");
	r.request.hal_version = NNHAL_HAL_1_1;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "G07 D04 dma-buf in a 1.1 request", NULL);
	nnhal_memory_unref(blob);
	desc.size = 2 * (uint64_t)sysconf(_SC_PAGESIZE);
	ok(nnhal_memory_import(&desc, &blob, &r.diag) == NNHAL_STATUS_INVALID_ARGUMENT && !blob,
	   "F06 dma-buf too small: %s", r.diag.message);
	close(desc.fd);
}

/* Inputs in read-only memory, outputs in other memory; several pools, one of them unused. */
static void test_several_pools(void)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_ASHMEM, .size = 4096,
		.access = NNHAL_MEMORY_READ,
	};
	struct nnhal_memory *readonly = NULL, *unused = NULL;
	uint32_t i;

	make_add_relu(&f);
	prepare();
	fresh_run(4);
	desc.fd = nnhal_memory_fd(r.memory);
	ok(!nnhal_memory_import(&desc, &readonly, &r.diag) &&
	   !nnhal_memory_create(16, &unused, &r.diag), "memory");
	r.request.num_pools = 3;
	r.pools[1].memory = unused;
	r.pools[2].memory = readonly;
	for (i = 0; i < 2; i++)
		r.inputs[i].location.pool_index = 2;
	ok(!execute(NULL) && run_output_is_right(&r, 4), "F07 inputs in read-only memory");
	r.outputs[0].location.pool_index = 2;
	expect_failure(NNHAL_STATUS_INVALID_ARGUMENT, "F07 output in read-only memory", NULL);
	nnhal_memory_unref(readonly);
	nnhal_memory_unref(unused);
}

/* Large constants are not part of the image. */
static void test_large_constant(void)
{
	static float weights[2000];
	struct graph *g = &f.graph;
	uint32_t i;

	fixture_init(&f);
	for (i = 0; i < 2000; i++)
		weights[i] = (float)i;
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(1));
	add_constant(&f, g, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(2000), weights, sizeof(weights));
	add_int32(&f, g, NNHAL_FUSED_NONE);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(2000));
	add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(0, 1, 2), OPERANDS(3));
	graph_finish(g);
	f.model.main = g->sg;
	prepare();
	run_fini(&r);
	memset(&r, 0, sizeof(r));
	if (nnhal_memory_create(16384, &r.memory, &r.diag))
		exit(1);
	r.map = nnhal_memory_map(r.memory, &r.diag);
	((float *)(void *)r.map)[0] = 0.5f;
	r.pools[0].memory = r.memory;
	r.inputs[0].location = (struct nnhal_data_location){ 0, 0, 4 };
	r.outputs[0].location = (struct nnhal_data_location){ 0, 64, 8000 };
	r.request = (struct nnhal_request){
		.num_inputs = 1, .num_outputs = 1, .num_pools = 1,
		.inputs = r.inputs, .outputs = r.outputs, .pools = r.pools,
	};
	ok(!execute(NULL), "constant of 8000 bytes: %s", r.diag.message);
	for (i = 0; i < 2000; i++)
		if (((float *)(void *)(r.map + 64))[i] != (float)i + 0.5f)
			break;
	ok(i == 2000, "each of its values came through (%u)", i);
}

static void test_all(void)
{
	test_results();
	test_repeated();
	test_repeated_fenced();
	test_insufficient();
	test_dynamic();
	test_refused();
	test_high_rank();
	test_timing();
	test_profile();
	test_work();
	test_memory_kinds();
	test_in_place();
	test_several_pools();
	test_large_constant();
	nnhal_prepared_model_unref(model);
	model = NULL;
	nnhal_device_unref(device);
}

/* Run on a model with this preference; its execution object is then idle. */
static bool run_many(int32_t preference)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	unsigned int i, failed = 0;

	o.preference = preference;
	if (nnhal_device_prepare_model_sync(device, &f.model, &o, &model)) {
		printf("Bail out! model cannot be prepared\n");
		exit(1);
	}
	for (i = 0; i < 1000; i++)
		failed += execute(NULL) != NNHAL_STATUS_NONE;
	return !failed && model->idle;
}

/* A job that the driver runs: the library looks at the result before it sleeps. */
static void test_looks(void)
{
	struct nnhal_diag diag = { "" };
	const struct spin *spin;

	if (!ok(!nnhal_device_open("sim:noqueues", &device, &diag), "sim:noqueues: %s",
		diag.message))
		return;
	make_add_relu(&f);
	fresh_run(4);
	if (ok(run_many(NNHAL_PREFER_FAST_SINGLE_ANSWER), "1000 small jobs")) {
		spin = &model->idle->spin;
		ok(spin->max && atomic_load(&spin->average) != spin->max / 4,
		   "it has learned how long they take");
	}
	nnhal_prepared_model_unref(model);
	if (ok(run_many(NNHAL_PREFER_LOW_POWER), "LOW_POWER: 1000 small jobs"))
		ok(!model->idle->spin.max, "it has never looked");
	nnhal_prepared_model_unref(model);
	model = NULL;
	nnhal_device_unref(device);
}

int main(void)
{
	struct nnhal_diag diag = { "" };

	device = test_device_open();
	run_init(&r, 4);
	test_all();
	if (!strcmp(test_device_spec(), "sim")) {
		tap_note("the same through the driver's way");
		if (!ok(!nnhal_device_open("sim:noqueues", &device, &diag), "sim:noqueues: %s",
			diag.message))
			return tap_done();
		test_all();
		test_looks();
	}
	run_fini(&r);
	return tap_done();
}
