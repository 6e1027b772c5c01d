// SPDX-License-Identifier: MIT
/*
 * Preparing models: launch, callback, options, unsupported and malformed models.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <nnpu_hw.h>

#include "device/device_private.h"
#include "nnhal_fixture.h"
#include "transport/transport.h"

static struct nnhal_device *device;
static struct fixture f;
static struct nnhal_diag diag;

/* The arguments of a callback, and how often it was called. */
struct result {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	unsigned int calls;
	enum nnhal_status status;
	struct nnhal_prepared_model *model;
	pthread_t thread;
};

static void result_init(struct result *r)
{
	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->cond, NULL);
}

static void on_prepared(void *context, enum nnhal_status status,
			struct nnhal_prepared_model *model)
{
	struct result *r = context;

	pthread_mutex_lock(&r->lock);
	r->calls++;
	r->status = status;
	r->model = model;
	r->thread = pthread_self();
	pthread_cond_broadcast(&r->cond);
	pthread_mutex_unlock(&r->lock);
}

static void result_wait(struct result *r)
{
	pthread_mutex_lock(&r->lock);
	while (!r->calls)
		pthread_cond_wait(&r->cond, &r->lock);
	pthread_mutex_unlock(&r->lock);
}

static struct nnhal_prepare_options options(void)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;

	memset(&diag, 0, sizeof(diag));
	o.diag = &diag;
	return o;
}

/* Launch and result are INVALID_ARGUMENT, the model is NULL, one callback. */
static void expect_reject(const char *what, const struct nnhal_prepare_options *o)
{
	struct nnhal_prepared_model *model = (struct nnhal_prepared_model *)&diag;
	enum nnhal_status launch, sync;
	struct result r;

	result_init(&r);
	launch = nnhal_device_prepare_model(device, &f.model, o, on_prepared, &r);
	ok(launch == NNHAL_STATUS_INVALID_ARGUMENT && r.calls == 1 && r.status == launch &&
	   !r.model && pthread_equal(r.thread, pthread_self()),
	   "%s: launch %s, result %s, %u callbacks: %s", what, nnhal_status_name((int)launch),
	   nnhal_status_name((int)r.status), r.calls, diag.message);
	sync = nnhal_device_prepare_model_sync(device, &f.model, o, &model);
	ok(sync == NNHAL_STATUS_INVALID_ARGUMENT && !model, "%s: sync %s", what,
	   nnhal_status_name((int)sync));
}

/* Launch NONE, then the result through one callback. */
static void expect_result(const char *what, const struct nnhal_prepare_options *o,
			  enum nnhal_status expected)
{
	struct nnhal_prepared_model *model = (struct nnhal_prepared_model *)&diag;
	enum nnhal_status launch, sync;
	struct result r;

	result_init(&r);
	launch = nnhal_device_prepare_model(device, &f.model, o, on_prepared, &r);
	result_wait(&r);
	ok(launch == NNHAL_STATUS_NONE && r.status == expected && !r.model == !!expected &&
	   r.calls == 1 && !pthread_equal(r.thread, pthread_self()),
	   "%s: launch %s, result %s, %u callbacks%s%s", what, nnhal_status_name((int)launch),
	   nnhal_status_name((int)r.status), r.calls, diag.message[0] ? ": " : "", diag.message);
	nnhal_prepared_model_unref(r.model);
	sync = nnhal_device_prepare_model_sync(device, &f.model, o, &model);
	ok(sync == expected && !model == !!expected, "%s: sync %s", what,
	   nnhal_status_name((int)sync));
	nnhal_prepared_model_unref(model);
}

static void test_valid(void)
{
	struct nnhal_prepare_options o = options();
	struct nnhal_ext_prepared_model_info info = NNHAL_EXT_PREPARED_MODEL_INFO_INIT;
	struct nnhal_prepared_model *model = NULL;

	make_add_relu(&f);
	expect_result("C01 model", &o, NNHAL_STATUS_NONE);
	ok(!diag.message[0], "no message after success");
	expect_result("C07 default options", NULL, NNHAL_STATUS_NONE);
	make_dynamic_add(&f, 2);
	expect_result("C09 unknown dimensions", &o, NNHAL_STATUS_NONE);
	make_add_relu(&f);
	f.model.relax_computation_float32_to_float16 = true;
	expect_result("C10 relaxed", &o, NNHAL_STATUS_NONE);
	f.model.hal_version = NNHAL_HAL_1_0;
	f.model.relax_computation_float32_to_float16 = false;
	expect_result("C07 as a 1.0 model", &o, NNHAL_STATUS_NONE);

	make_chain(&f, 10);
	ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "chain of 10");
	ok(!nnhal_ext_get_prepared_model_info(model, &info) && info.num_operations == 10 &&
	   info.num_inputs == 2 && info.num_outputs == 1 && info.image_size > 0,
	   "facts: image of %llu bytes, %llu bytes of device memory",
	   (unsigned long long)info.image_size, (unsigned long long)info.device_memory);
	ok(nnhal_ext_get_prepared_model_info(model, NULL) == NNHAL_STATUS_INVALID_ARGUMENT &&
	   nnhal_ext_get_prepared_model_info(NULL, &info) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "facts: NULL pointers");
	ok(nnhal_prepared_model_ref(model) == model, "reference");
	nnhal_prepared_model_unref(model);
	nnhal_prepared_model_unref(model);
	nnhal_prepared_model_unref(NULL);
}

/*
 * The launch waits for the check of the operations, which this device makes slow as well, and not
 * for the load. A launch that waited for the load would come back behind the callback.
 */
static void test_launch(void)
{
	struct nnhal_device *slow = NULL;
	unsigned int attempts;
	bool before = false;
	struct result r;

	if (!ok(!nnhal_device_open("sim:faults", &slow, NULL), "a device that can be slow"))
		return;
	make_add_relu(&f);
	/* This thread may not run for a second; not three times. */
	for (attempts = 0; attempts < 3 && !before; attempts++) {
		result_init(&r);
		/* One for the check, one for the load. */
		transport_sim_inject(slow->transport, NNPU_INJECT_LOAD_SLOW, 2);
		if (nnhal_device_prepare_model(slow, &f.model, NULL, on_prepared, &r))
			break;
		pthread_mutex_lock(&r.lock);
		before = !r.calls;
		pthread_mutex_unlock(&r.lock);
		result_wait(&r);
		nnhal_prepared_model_unref(r.model);
	}
	ok(before && r.calls == 1 && !r.status, "C01 the launch does not wait for the load");
	nnhal_device_unref(slow);
}

static void test_arguments(void)
{
	struct nnhal_prepare_options o = options();
	struct nnhal_prepared_model *model = NULL;
	struct result r;
	int32_t bad[] = { -1, 3 };
	size_t i;

	make_add_relu(&f);
	ok(nnhal_device_prepare_model(device, &f.model, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "B02 no callback");
	ok(nnhal_device_prepare_model_sync(device, &f.model, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "no room for the model");
	result_init(&r);
	ok(nnhal_device_prepare_model(NULL, &f.model, NULL, on_prepared, &r) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && r.calls == 1 && !r.model, "no device");
	ok(nnhal_device_prepare_model(device, NULL, NULL, on_prepared, &r) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && r.calls == 2 && !r.model, "no model");
	ok(nnhal_device_prepare_model_sync(NULL, NULL, NULL, &model) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !model, "neither");
	for (i = 0; i < 2; i++) {
		o = options();
		o.preference = bad[i];
		expect_reject(i ? "B68 preference 3" : "B68 preference -1", &o);
		o = options();
		o.priority = bad[i];
		expect_reject(i ? "B69 priority 3" : "B69 priority -1", &o);
	}
	o = options();
	o.size = 8;
	expect_reject("options of a size that never was", &o);
	for (i = 0; i < 3; i++) {
		o = options();
		o.preference = (int32_t)i;
		o.priority = (int32_t)i;
		expect_result(i == 0 ? "K01 LOW" : i == 1 ? "K01 MEDIUM" : "K01 HIGH", &o,
			      NNHAL_STATUS_NONE);
	}
}

static void test_rejected(void)
{
	struct nnhal_prepare_options o = options();

	make_add_relu(&f);
	f.graph.operands[0].number_of_consumers = 2;
	expect_reject("C02 B54 consumer count", &o);
	make_add_relu(&f);
	f.graph.op_inputs[0][0] = 77;
	expect_reject("C02 B59 index", &o);
	/* A model that only the device can find wrong is refused at launch as well. */
	o = options();
	make_add_relu(&f);
	f.graph.operands[1].type = NNHAL_OPERAND_TENSOR_INT32;
	expect_reject("C02 B56 operand types of ADD differ", &o);
	ok(strstr(diag.message, "operation 0 (ADD)") != NULL, "the message names it: %s",
	   diag.message);
	o = options();
	make_add_relu(&f);
	f.graph.operations[0].num_inputs = 2;
	f.graph.operands[2].number_of_consumers = 0;
	expect_reject("C02 B64 input of ADD removed", &o);
	o = options();
	make_add_relu(&f);
	f.graph.operations[1].num_outputs = 0;
	f.graph.operands[4].lifetime = NNHAL_LIFETIME_NO_VALUE;
	f.graph.operands[3].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	f.graph.outputs[0] = 3;
	expect_reject("C02 B65 output of RELU removed", &o);
}

static void test_unsupported(void)
{
	static const struct nnhal_extension_prefix ext[] = { { "com.example.ext", 1 } };
	struct nnhal_prepare_options o = options();

	make_if(&f);
	f.model.extensions = ext;
	f.model.num_extensions = 1;
	f.sub[1].operations[0].type = 0x10001;
	expect_result("C05 IF with an extension", &o, NNHAL_STATUS_INVALID_ARGUMENT);
	ok(strstr(diag.message, "subgraph 1 operation 0") != NULL, "with a message: %s",
	   diag.message);
	make_add_relu(&f);
	f.model.extensions = ext;
	f.model.num_extensions = 1;
	f.graph.operations[1].type = 0x10001;
	o = options();
	expect_result("C05 operation of an extension", &o, NNHAL_STATUS_INVALID_ARGUMENT);
	/* Unsupported in one place, malformed in another: refused. */
	f.graph.operands[1].type = NNHAL_OPERAND_TENSOR_INT32;
	expect_reject("C02 unsupported and malformed", &o);
}

static void test_deadline(void)
{
	struct nnhal_prepare_options o = options();

	make_add_relu(&f);
	o.has_deadline = true;
	o.deadline_ns = 1;
	expect_result("C06 deadline passed", &o, NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT);
	f.model.hal_version = NNHAL_HAL_1_2;
	expect_result("C07 G11 the same for a 1.2 model", &o, NNHAL_STATUS_GENERAL_FAILURE);
	f.model.hal_version = NNHAL_HAL_1_3;
	o = options();
	o.has_deadline = true;
	o.deadline_ns = UINT64_MAX;
	expect_result("K03 the largest time point", &o, NNHAL_STATUS_NONE);
	o.deadline_ns = INT64_MAX;
	expect_result("D25 INT64_MAX is no limit", &o, NNHAL_STATUS_NONE);
}

/* Constants in memory: bound, copied from a file, too short by now. */
static void test_pools(void)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 64,
	};
	struct nnhal_prepare_options o = options();
	FILE *file = tmpfile();
	uint8_t *map;

	make_add_relu(&f);
	f.graph.operands[2].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	f.graph.operands[2].location = (struct nnhal_data_location){ 0, 32, 4 };
	f.model.num_pools = 1;
	ok(!nnhal_memory_create(64, &f.pools[0], &diag), "memory");
	expect_result("CONSTANT_REFERENCE in a memfd", &o, NNHAL_STATUS_NONE);
	map = nnhal_memory_map(f.pools[0], &diag);
	map[32] = 9;
	expect_reject("B56 activation 9 in a memfd", &o);
	nnhal_memory_unref(f.pools[0]);

	desc.fd = fileno(file);
	o = options();
	ok(!ftruncate(desc.fd, 64) && !nnhal_memory_import(&desc, &f.pools[0], &diag), "file");
	expect_result("CONSTANT_REFERENCE in a file", &o, NNHAL_STATUS_NONE);
	ok(!ftruncate(desc.fd, 8), "file truncated");
	{
		struct nnhal_prepared_model *model = NULL;

		ok(nnhal_device_prepare_model_sync(device, &f.model, &o, &model) ==
		   NNHAL_STATUS_GENERAL_FAILURE && !model && diag.message[0],
		   "F06 F08 file too short: GENERAL_FAILURE: %s", diag.message);
	}
	nnhal_memory_unref(f.pools[0]);
	fclose(file);
}

/* C12: after the callback the caller may free everything. */
static void test_ownership(void)
{
	static struct fixture copy;
	struct result r;

	make_add_relu(&copy);
	copy.graph.operands[2].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	copy.graph.operands[2].location = (struct nnhal_data_location){ 0, 32, 4 };
	copy.model.num_pools = 1;
	ok(!nnhal_memory_create(64, &copy.pools[0], &diag), "memory");
	result_init(&r);
	ok(!nnhal_device_prepare_model(device, &copy.model, NULL, on_prepared, &r), "launch");
	nnhal_memory_unref(copy.pools[0]);
	memset(&copy, 0xa5, sizeof(copy));
	result_wait(&r);
	ok(!r.status && r.model, "C12 model and pools gone right after the launch");
	nnhal_prepared_model_unref(r.model);
}

/* H03, C11: the last reference to the device is released in a callback, or before one. */
static void test_closing(void)
{
	struct nnhal_device *own = test_device_open();
	struct result r[8];
	unsigned int i, good = 0;

	make_chain(&f, 20);
	for (i = 0; i < 8; i++) {
		result_init(&r[i]);
		if (nnhal_device_prepare_model(own, &f.model, NULL, on_prepared, &r[i]))
			break;
	}
	nnhal_device_unref(own);
	ok(i == 8, "8 launches, then the device closed");
	for (i = 0; i < 8; i++) {
		result_wait(&r[i]);
		good += r[i].calls == 1 && !r[i].status && r[i].model;
	}
	ok(good == 8, "C03 C09 each callback came once, with a model (%u)", good);
	/* The models keep the device open; the last one closes it. */
	for (i = 0; i < 8; i++)
		nnhal_prepared_model_unref(r[i].model);
}

static void test_many(void)
{
	enum { COUNT = 40 };
	struct nnhal_prepared_model *models[COUNT];
	unsigned int i, good = 0;

	make_add_relu(&f);
	for (i = 0; i < COUNT; i++)
		good += !nnhal_device_prepare_model_sync(device, &f.model, NULL, &models[i]);
	ok(good == COUNT, "C11 %u models at once", COUNT);
	for (i = 0; i < COUNT; i += 2)
		nnhal_prepared_model_unref(models[i]);
	for (i = 0; i < COUNT; i += 2)
		good += !nnhal_device_prepare_model_sync(device, &f.model, NULL, &models[i]);
	ok(good == COUNT + COUNT / 2, "C11 half of them replaced");
	for (i = 0; i < COUNT; i++)
		nnhal_prepared_model_unref(models[i]);
}

/* ---- the threads that prepare ---- */

enum { CROWD = 40 };

static unsigned int count_threads(void)
{
	return count_entries("/proc/self/task");
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool open;
	unsigned int calls;
	unsigned int good;
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };

/* Hold the thread until the gate is opened. */
static void on_gate(void *context, enum nnhal_status status, struct nnhal_prepared_model *model)
{
	(void)context;
	pthread_mutex_lock(&gate.lock);
	while (!gate.open)
		pthread_cond_wait(&gate.cond, &gate.lock);
	gate.good += !status && model;
	/* Before the last callback is counted: the release of the device is then the last one. */
	nnhal_prepared_model_unref(model);
	gate.calls++;
	pthread_cond_broadcast(&gate.cond);
	pthread_mutex_unlock(&gate.lock);
}

static void test_threads(void)
{
	unsigned int before = count_threads(), with_device, crowd, left, i, launched = 0;
	struct nnhal_device *d = NULL;

	make_add_relu(&f);
	ok(!nnhal_device_open(test_device_spec(), &d, &diag), "a device of its own");
	with_device = count_threads();
	for (i = 0; i < CROWD; i++)
		launched += !nnhal_device_prepare_model(d, &f.model, NULL, on_gate, NULL);
	crowd = count_threads();
	/* Four of the library, and that of the device that loads. */
	ok(launched == CROWD && crowd > with_device && crowd <= with_device + 4 + 1,
	   "%u preparations at once take %u threads", launched, crowd - with_device);
	pthread_mutex_lock(&gate.lock);
	gate.open = true;
	pthread_cond_broadcast(&gate.cond);
	while (gate.calls < launched)
		pthread_cond_wait(&gate.cond, &gate.lock);
	pthread_mutex_unlock(&gate.lock);
	ok(gate.good == CROWD, "and all succeed: %u", gate.good);
	nnhal_device_unref(d);
	left = wait_for_entries("/proc/self/task", before);
	ok(left == before, "no thread of a closed device is left: %u, before it %u", left, before);
}

int main(void)
{
	device = test_device_open();
	test_valid();
	test_launch();
	test_arguments();
	test_rejected();
	test_unsupported();
	test_deadline();
	test_pools();
	test_ownership();
	test_closing();
	test_many();
	test_threads();
	nnhal_device_unref(device);
	return tap_done();
}
