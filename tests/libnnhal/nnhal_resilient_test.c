// SPDX-License-Identifier: MIT
/*
 * Losses of a device: watches, and objects that connect anew. The in-process device goes FATAL; a
 * hardware device is unbound from its driver and bound again (nnhal_faults_test).
 */
#include <poll.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include <nnpu_hw.h>

#include "device/device_private.h"
#include "nnhal_fixture.h"
#include "transport/transport.h"

static struct fixture f;

/* ---- calls that say NONE and give nothing ---- */

static bool lie_prepare, lie_burst;
static int lie_allocate;	/* 1: no buffer, 2: no token */

enum nnhal_status __real_nnhal_device_prepare_model_sync(struct nnhal_device *device,
							 const struct nnhal_model *model,
							 const struct nnhal_prepare_options *options,
							 struct nnhal_prepared_model **prepared);
enum nnhal_status __wrap_nnhal_device_prepare_model_sync(struct nnhal_device *device,
							 const struct nnhal_model *model,
							 const struct nnhal_prepare_options *options,
							 struct nnhal_prepared_model **prepared);
enum nnhal_status __real_nnhal_burst_create(struct nnhal_prepared_model *model,
					    const struct nnhal_burst_options *options,
					    struct nnhal_burst **burst);
enum nnhal_status __wrap_nnhal_burst_create(struct nnhal_prepared_model *model,
					    const struct nnhal_burst_options *options,
					    struct nnhal_burst **burst);
enum nnhal_status __real_nnhal_device_allocate(struct nnhal_device *device,
					       const struct nnhal_buffer_desc *desc,
					       struct nnhal_prepared_model *const *models,
					       uint32_t num_models,
					       const struct nnhal_buffer_role *inputs,
					       uint32_t num_inputs,
					       const struct nnhal_buffer_role *outputs,
					       uint32_t num_outputs, struct nnhal_buffer **buffer,
					       uint32_t *token, struct nnhal_diag *diag);
enum nnhal_status __wrap_nnhal_device_allocate(struct nnhal_device *device,
					       const struct nnhal_buffer_desc *desc,
					       struct nnhal_prepared_model *const *models,
					       uint32_t num_models,
					       const struct nnhal_buffer_role *inputs,
					       uint32_t num_inputs,
					       const struct nnhal_buffer_role *outputs,
					       uint32_t num_outputs, struct nnhal_buffer **buffer,
					       uint32_t *token, struct nnhal_diag *diag);

enum nnhal_status __wrap_nnhal_device_prepare_model_sync(struct nnhal_device *device,
							 const struct nnhal_model *model,
							 const struct nnhal_prepare_options *options,
							 struct nnhal_prepared_model **prepared)
{
	*prepared = NULL;
	return lie_prepare ? NNHAL_STATUS_NONE
			   : __real_nnhal_device_prepare_model_sync(device, model, options,
								    prepared);
}

enum nnhal_status __wrap_nnhal_burst_create(struct nnhal_prepared_model *model,
					    const struct nnhal_burst_options *options,
					    struct nnhal_burst **burst)
{
	*burst = NULL;
	return lie_burst ? NNHAL_STATUS_NONE : __real_nnhal_burst_create(model, options, burst);
}

enum nnhal_status __wrap_nnhal_device_allocate(struct nnhal_device *device,
					       const struct nnhal_buffer_desc *desc,
					       struct nnhal_prepared_model *const *models,
					       uint32_t num_models,
					       const struct nnhal_buffer_role *inputs,
					       uint32_t num_inputs,
					       const struct nnhal_buffer_role *outputs,
					       uint32_t num_outputs, struct nnhal_buffer **buffer,
					       uint32_t *token, struct nnhal_diag *diag)
{
	enum nnhal_status status;

	*buffer = NULL;
	*token = 5;
	if (lie_allocate == 1)
		return NNHAL_STATUS_NONE;
	status = __real_nnhal_device_allocate(device, desc, models, num_models, inputs, num_inputs,
					      outputs, num_outputs, buffer, token, diag);
	if (lie_allocate == 2)
		*token = 0;
	return status;
}

/* ---- a peer that dies ---- */

/* What the factory does the next time. */
static const char *spec;
static enum nnhal_status fail_with;
static unsigned int connections;
static bool give_nothing;

static enum nnhal_status connect_sim(void *context, struct nnhal_device **device,
				     struct nnhal_diag *diag)
{
	ok(context == &f, "the factory gets its context");
	connections++;
	if (fail_with || give_nothing)
		return fail_with;
	return nnhal_device_open(spec, device, diag);
}

/* The device goes FATAL, which an execution finds out. */
static bool kill_device(struct nnhal_device *device)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	struct run r;

	run_init(&r, 4);
	make_add_relu(&f);
	if (__real_nnhal_device_prepare_model_sync(device, &f.model, NULL, &model))
		return false;
	transport_sim_inject(device->transport, NNPU_INJECT_FATAL, 1);
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL,
							    NULL);
	nnhal_prepared_model_unref(model);
	run_fini(&r);
	return status && nnhal_device_get_status(device) == NNHAL_DEVICE_OFFLINE;
}

static bool kill_current(struct nnhal_resilient_device *device)
{
	struct nnhal_device *current = nnhal_resilient_device_get(device);
	bool killed = kill_device(current);

	nnhal_device_unref(current);
	return killed;
}

static void count_death(void *context)
{
	++*(unsigned int *)context;
}

static bool is_readable(const struct nnhal_death_watch *watch)
{
	struct pollfd p = { .fd = nnhal_death_watch_fd(watch), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_watches(void)
{
	struct nnhal_death_watch *watch = NULL, *other = NULL, *gone = NULL;
	unsigned int deaths = 0, others = 0, unlinked = 0, late = 0;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_capabilities caps = NNHAL_CAPABILITIES_INIT;
	enum nnhal_device_type type = NNHAL_DEVICE_TYPE_OTHER;
	struct nnhal_burst *burst = NULL;
	struct nnhal_device *device;
	const char *version = "";
	bool supported[2];
	struct run r;

	run_init(&r, 4);
	ok(nnhal_death_watch_create(NULL, count_death, &deaths, &watch, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !watch &&
	   nnhal_death_watch_dispatch(NULL) == NNHAL_STATUS_INVALID_ARGUMENT,
	   "H04 no device: INVALID_ARGUMENT");
	if (!ok(!nnhal_device_open("sim:faults", &device, &f.diag), "a device"))
		return;
	make_add_relu(&f);
	ok(!__real_nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
	   !__real_nnhal_burst_create(model, NULL, &burst) &&
	   !nnhal_death_watch_create(device, count_death, &deaths, &watch, &f.diag) &&
	   !nnhal_death_watch_create(device, count_death, &others, &other, &f.diag) &&
	   !nnhal_death_watch_create(device, count_death, &unlinked, &gone, &f.diag),
	   "H04 three watches");
	ok(!is_readable(watch) && !nnhal_death_watch_dispatch(watch) && !deaths,
	   "H04 nothing while the device lives");
	nnhal_death_watch_destroy(gone);
	ok(kill_device(device), "the device dies");
	/* Whoever finds the loss tells the watches. */
	ok(nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL, NULL) ==
	   NNHAL_STATUS_DEVICE_UNAVAILABLE &&
	   nnhal_device_get_supported_operations(device, &f.model, supported, 2, NULL) ==
	   NNHAL_STATUS_DEVICE_UNAVAILABLE &&
	   nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL) != NNHAL_STATUS_NONE,
	   "H04 A01 every handle of the lost device says so");
	ok(is_readable(watch) && is_readable(other) && !deaths && !others,
	   "H04 the descriptors become readable");
	ok(nnhal_death_watch_dispatch(watch) == NNHAL_STATUS_DEAD_OBJECT && deaths == 1 &&
	   nnhal_death_watch_dispatch(watch) == NNHAL_STATUS_DEAD_OBJECT && deaths == 1 &&
	   !others, "H04 each callback exactly once");
	nnhal_death_watch_destroy(watch);
	nnhal_death_watch_destroy(other);
	ok(deaths == 1 && !others && !unlinked, "H04 none after it is unlinked");
	ok(nnhal_death_watch_create(device, count_death, &late, &watch, &f.diag) ==
	   NNHAL_STATUS_DEAD_OBJECT && !watch && late == 1,
	   "H04 dead already: DEAD_OBJECT, and the callback at once");
	ok(!nnhal_device_get_capabilities(device, &caps) && caps.num_operand_performance &&
	   !nnhal_device_get_version_string(device, &version) && *version &&
	   !nnhal_device_get_type(device, &type),
	   "A01 queries of a device that is gone: what it answered before");
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

static void test_create(void)
{
	struct nnhal_resilient_device *device = NULL;

	spec = "sim:faults";
	ok(nnhal_resilient_device_create("", connect_sim, &f, &device, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !device &&
	   nnhal_resilient_device_create(NULL, NULL, NULL, &device, &f.diag) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !device && !connections,
	   "H05 no name: INVALID_ARGUMENT, nothing is connected");
	fail_with = NNHAL_STATUS_NO_PERMISSION;
	ok(nnhal_resilient_device_create("x", connect_sim, &f, &device, &f.diag) ==
	   NNHAL_STATUS_NO_PERMISSION && !device, "H05 what fails first is the status");
	fail_with = NNHAL_STATUS_NONE;
	give_nothing = true;
	ok(nnhal_resilient_device_create("x", connect_sim, &f, &device, &f.diag) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !device && strstr(f.diag.message, "no device"),
	   "H06 NONE without a device: GENERAL_FAILURE");
	give_nothing = false;
	ok(!nnhal_resilient_device_create("sim", NULL, NULL, &device, &f.diag),
	   "H05 without a factory the name is opened");
	nnhal_resilient_device_unref(device);
}

/* A device that is dead when it is handed over. */
static enum nnhal_status connect_dead(void *context, struct nnhal_device **device,
				      struct nnhal_diag *diag)
{
	enum nnhal_status status = nnhal_device_open("sim:faults", device, diag);

	(void)context;
	if (!status)
		kill_device(*device);
	return status;
}

static void test_nothing(struct nnhal_resilient_device *device,
			 struct nnhal_resilient_model *model)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_resilient_device *dead = NULL;
	struct nnhal_resilient_buffer *buffer;
	struct nnhal_resilient_model *none;
	struct nnhal_resilient_burst *burst;
	uint32_t token;

	ok(nnhal_resilient_device_create("x", connect_dead, NULL, &dead, &f.diag) ==
	   NNHAL_STATUS_DEAD_OBJECT && !dead, "H04 a wrapper of a dead object: DEAD_OBJECT");
	make_add_relu(&f);
	lie_prepare = true;
	ok(nnhal_resilient_device_prepare_model(device, &f.model, NULL, &none) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !none, "H06 NONE without a model");
	lie_prepare = false;
	lie_burst = true;
	ok(nnhal_resilient_burst_create(model, NULL, &burst) == NNHAL_STATUS_GENERAL_FAILURE &&
	   !burst, "H06 NONE without a burst");
	lie_burst = false;
	for (lie_allocate = 1; lie_allocate <= 2; lie_allocate++)
		ok(nnhal_resilient_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0,
						   &buffer, &token, &f.diag) ==
		   NNHAL_STATUS_GENERAL_FAILURE && !buffer && !token,
		   "H06 NONE without a %s", lie_allocate == 1 ? "buffer" : "token");
	lie_allocate = 0;
}

/* Model, burst and buffer of a device that dies; each comes back by itself. */
static void test_recovery(void)
{
	static const struct nnhal_buffer_role input = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_resilient_buffer *buffer = NULL;
	struct nnhal_resilient_device *device = NULL;
	struct nnhal_resilient_model *model = NULL;
	struct nnhal_resilient_burst *burst = NULL;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_memory *content;
	enum nnhal_status status;
	uint32_t token = 0;
	struct run r;

	run_init(&r, 4);
	o.diag = &f.diag;
	make_add_relu(&f);
	if (!ok(!nnhal_resilient_device_create("x", connect_sim, &f, &device, &f.diag) &&
		!nnhal_resilient_device_prepare_model(device, &f.model, NULL, &model) &&
		!nnhal_resilient_burst_create(model, NULL, &burst) &&
		!nnhal_resilient_device_allocate(device, &desc, &model, 1, &input, 1, NULL, 0,
						 &buffer, &token, &f.diag) && token,
		"a device with model, burst and buffer: %s", f.diag.message))
		return;
	test_nothing(device, model);
	/* The caller's model is gone; the objects have copies. */
	memset(&f.model, 0xee, sizeof(f.model));
	connections = 0;
	ok(!nnhal_resilient_model_execute(model, &r.request, &o, r.shapes, &r.num_shapes, NULL) &&
	   run_output_is_right(&r, 4) && !connections, "H07 an execution before");

	ok(kill_current(device), "the device dies");
	memset(r.map + RUN_OUTPUT(0), 0xee, 16);
	status = nnhal_resilient_model_execute(model, &r.request, &o, r.shapes, &r.num_shapes,
					       NULL);
	ok(!status && r.num_shapes == 1 && run_output_is_right(&r, 4) && connections == 1,
	   "H07 the next execution connects once and succeeds: %s", nnhal_status_name((int)status));
	memset(r.map + RUN_OUTPUT(0), 0xee, 16);
	status = nnhal_resilient_burst_execute(burst, &r.request, &o, r.shapes, &r.num_shapes,
					       NULL);
	ok(!status && run_output_is_right(&r, 4) && connections == 1,
	   "H07 so does the burst, on the same device: %s", nnhal_status_name((int)status));

	/* The buffer: its token stays, its content does not. */
	nnhal_memory_create(16, &content, &f.diag);
	memcpy(nnhal_memory_map(content, &f.diag), r.map + RUN_INPUT(0), 16);
	status = nnhal_resilient_buffer_copy_from(buffer, content, NULL, 0, &f.diag);
	ok(!status && connections == 1, "H07 a copy to the buffer: %s: %s",
	   nnhal_status_name((int)status), f.diag.message);
	r.pools[1].token = token;
	r.request.num_pools = 2;
	r.inputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	memset(r.map + RUN_OUTPUT(0), 0xee, 16);
	status = nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL);
	ok(!status && run_output_is_right(&r, 4), "H07 its first token is good for the new device: %s: %s",
	   nnhal_status_name((int)status), f.diag.message);
	memset(r.map + RUN_OUTPUT(0), 0xee, 16);
	status = nnhal_resilient_burst_execute(burst, &r.request, &o, NULL, NULL, NULL);
	ok(!status && run_output_is_right(&r, 4), "H07 and for the burst: %s: %s",
	   nnhal_status_name((int)status), f.diag.message);
	ok(kill_current(device), "the device dies again");
	status = nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && connections == 2,
	   "H07 content does not survive: %s: %s", nnhal_status_name((int)status), f.diag.message);
	tap_note("%u connections", connections);
	ok(nnhal_resilient_buffer_copy_to(buffer, content, &f.diag) == NNHAL_STATUS_GENERAL_FAILURE &&
	   !nnhal_resilient_buffer_copy_from(buffer, content, NULL, 0, &f.diag) &&
	   !nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL) &&
	   connections == 2, "H07 written again it is there");
	nnhal_memory_unref(content);

	/* No device comes back for a while; then one with another extension. */
	ok(kill_current(device), "the device dies a third time");
	fail_with = NNHAL_STATUS_NO_DEVICE;
	status = nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL);
	ok((status == NNHAL_STATUS_DEAD_OBJECT || status == NNHAL_STATUS_DEVICE_UNAVAILABLE) &&
	   connections == 3, "H07 nothing to connect to: %s", nnhal_status_name((int)status));
	fail_with = NNHAL_STATUS_NONE;
	spec = "sim:faults,examples";
	status = nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL);
	ok((status == NNHAL_STATUS_DEAD_OBJECT || status == NNHAL_STATUS_DEVICE_UNAVAILABLE) &&
	   connections == 4, "H07 another device came back: %s", nnhal_status_name((int)status));
	spec = "sim:faults";
	status = nnhal_resilient_model_execute(model, &r.request, &o, NULL, NULL, NULL);
	ok((status == NNHAL_STATUS_DEAD_OBJECT || status == NNHAL_STATUS_DEVICE_UNAVAILABLE) &&
	   connections == 4, "H07 then the object stays dead");

	nnhal_resilient_burst_unref(burst);
	nnhal_resilient_buffer_unref(buffer);
	nnhal_resilient_model_unref(model);
	nnhal_resilient_device_unref(device);
	run_fini(&r);
}

/* Several threads find the loss; one of them connects. */
static struct nnhal_resilient_model *shared;

static void *execute_shared(void *arg)
{
	struct run r;

	(void)arg;
	run_init(&r, 4);
	if (nnhal_resilient_model_execute(shared, &r.request, NULL, NULL, NULL, NULL) ||
	    !run_output_is_right(&r, 4))
		arg = &f;
	run_fini(&r);
	return arg;
}

static void test_threads(void)
{
	struct nnhal_resilient_device *device = NULL;
	unsigned int i, failed = 0;
	pthread_t threads[4];
	void *result;

	make_add_relu(&f);
	if (!ok(!nnhal_resilient_device_create("sim:faults", NULL, NULL, &device, &f.diag) &&
		!nnhal_resilient_device_prepare_model(device, &f.model, NULL, &shared) &&
		kill_current(device), "a device that died"))
		return;
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, execute_shared, NULL);
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		failed += !!result;
	}
	ok(!failed, "H07 four threads find the loss at once: %u fail", failed);
	nnhal_resilient_model_unref(shared);
	nnhal_resilient_device_unref(device);
}

/*
 * A callback of the lost device wants the resilient one while that connects anew. Closing the lost
 * device waits for the callback, so nobody may close it with the lock.
 */
static sem_t in_callback, connecting;
static struct nnhal_resilient_device *wanted;

static enum nnhal_status connect_and_tell(void *context, struct nnhal_device **device,
					  struct nnhal_diag *diag)
{
	enum nnhal_status status = nnhal_device_open("sim", device, diag);

	(void)context;
	sem_post(&connecting);
	return status;
}

static void want_device(void *context, enum nnhal_status status,
			struct nnhal_prepared_model *model)
{
	struct nnhal_device *current;

	(void)status;
	nnhal_prepared_model_unref(model);
	sem_post(&in_callback);
	sem_wait(&connecting);
	current = nnhal_resilient_device_get(wanted);
	*(bool *)context = current;
	nnhal_device_unref(current);
}

static void test_callback(void)
{
	struct nnhal_device *old, *current = NULL;
	bool got = false;

	sem_init(&in_callback, 0, 0);
	sem_init(&connecting, 0, 0);
	make_add_relu(&f);
	if (!ok(!nnhal_resilient_device_create("x", connect_and_tell, NULL, &wanted, &f.diag),
		"a device to close while its callback runs"))
		return;
	sem_wait(&connecting);
	old = nnhal_resilient_device_get(wanted);
	ok(!nnhal_device_prepare_model(old, &f.model, NULL, want_device, &got), "a callback runs");
	nnhal_device_unref(old);
	sem_wait(&in_callback);
	ok(!nnhal_resilient_device_recover(wanted, old, &current, &f.diag) && current != old && got,
	   "a callback of the lost device gets the new one");
	nnhal_device_unref(current);
	nnhal_resilient_device_unref(wanted);
	sem_destroy(&in_callback);
	sem_destroy(&connecting);
}

int main(void)
{
	test_watches();
	test_create();
	test_recovery();
	test_threads();
	test_callback();
	return tap_done();
}
