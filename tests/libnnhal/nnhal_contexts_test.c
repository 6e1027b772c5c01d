// SPDX-License-Identifier: MIT
/*
 * Further contexts of a device: opened for want of a program number and for nothing else, one
 * per call, closed with their last model.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "device/device_private.h"
#include "nnhal_fixture.h"
#include "transport/transport.h"

/* A context has 1024 slots. */
#define POOLS	1030
/* More programs than any context has. */
#define MOST	5000

static struct fixture f;
static struct run r;

/* The transport's operations, and others around them that count contexts. */
static const struct transport_ops *real;
static struct transport_ops counting;
static atomic_uint opened, closed;
static bool always_full;

static struct transport *count_open(struct transport *t)
{
	struct transport *other = real->open_another(t);

	if (other) {
		other->ops = &counting;
		opened++;
	}
	return other;
}

static void count_close(struct transport *t)
{
	closed++;
	real->close(t);
}

static int load_or_refuse(struct transport *t, const void *image, uint32_t size,
			  struct nnpu_command_report *reports, uint32_t num_reports,
			  struct transport_load *result)
{
	return always_full ? -ENOSPC
			   : real->program_load(t, image, size, reports, num_reports, result);
}

static struct nnhal_device *open_counted(void)
{
	struct nnhal_device *device = test_device_open();

	real = device->transport->ops;
	counting = *real;
	counting.open_another = count_open;
	counting.close = count_close;
	counting.program_load = load_or_refuse;
	device->transport->ops = &counting;
	opened = 0;
	closed = 0;
	return device;
}

static bool execute(struct nnhal_prepared_model *model)
{
	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	return !nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL,
							   NULL) && run_output_is_right(&r, 4);
}

/* A chain of ADD operations; the constant of each one is in a pool of its own. */
struct large_model {
	struct nnhal_model model;
	struct nnhal_memory *pools[POOLS];
	struct nnhal_operand operands[2 + 2 * POOLS];
	struct nnhal_operation operations[POOLS];
	uint32_t inputs[POOLS][3];
	uint32_t outputs[POOLS];
};

static struct nnhal_operand *set_operand(struct large_model *m, uint32_t i, uint32_t lifetime)
{
	static const uint32_t one = 1;

	m->operands[i] = (struct nnhal_operand){
		.type = NNHAL_OPERAND_TENSOR_FLOAT32, .num_dimensions = 1, .dimensions = &one,
		.number_of_consumers = 1, .lifetime = lifetime,
	};
	return &m->operands[i];
}

/* Operands: 0 input, 1 activation, then for each operation its constant and its sum. */
static bool large_model_init(struct large_model *m)
{
	static const int32_t activation = NNHAL_FUSED_NONE;
	static const uint32_t first = 0, last = 1 + 2 * POOLS;
	struct nnhal_operand *o;
	uint32_t i;

	set_operand(m, 0, NNHAL_LIFETIME_SUBGRAPH_INPUT);
	o = set_operand(m, 1, NNHAL_LIFETIME_CONSTANT_COPY);
	o->type = NNHAL_OPERAND_INT32;
	o->num_dimensions = 0;
	o->number_of_consumers = POOLS;
	o->location.length = sizeof(activation);
	for (i = 0; i < POOLS; i++) {
		if (nnhal_memory_create(4096, &m->pools[i], NULL))
			return false;
		o = set_operand(m, 2 + 2 * i, NNHAL_LIFETIME_CONSTANT_REFERENCE);
		o->location = (struct nnhal_data_location){ .pool_index = i, .length = 4 };
		set_operand(m, 3 + 2 * i, NNHAL_LIFETIME_TEMPORARY_VARIABLE);
		m->inputs[i][0] = i ? 1 + 2 * i : 0;
		m->inputs[i][1] = 2 + 2 * i;
		m->inputs[i][2] = 1;
		m->outputs[i] = 3 + 2 * i;
		m->operations[i] = (struct nnhal_operation){
			.type = NNHAL_OPERATION_ADD, .num_inputs = 3, .inputs = m->inputs[i],
			.num_outputs = 1, .outputs = &m->outputs[i],
		};
	}
	m->operands[last].lifetime = NNHAL_LIFETIME_SUBGRAPH_OUTPUT;
	m->operands[last].number_of_consumers = 0;
	m->model.operand_values = &activation;
	m->model.operand_values_size = sizeof(activation);
	m->model.num_pools = POOLS;
	m->model.pools = m->pools;
	m->model.main = (struct nnhal_subgraph){
		.num_operands = 2 + 2 * POOLS, .operands = m->operands,
		.num_operations = POOLS, .operations = m->operations,
		.num_inputs = 1, .input_indexes = &first,
		.num_outputs = 1, .output_indexes = &last,
	};
	return true;
}

/* No context has the slots: another one is of no use. */
static void test_too_many_pools(void)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct large_model *m = calloc(1, sizeof(*m));
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_diag diag = { "" };
	struct nnhal_device *device;
	enum nnhal_status status;
	uint32_t i;

	if (!ok(m && large_model_init(m), "a model with constants in %u memory objects", POOLS))
		return;
	device = open_counted();
	o.diag = &diag;
	status = nnhal_device_prepare_model_sync(device, &m->model, &o, &model);
	ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT && !model,
	   "it has more than slots: %s, %s", nnhal_status_name((int)status), diag.message);
	ok(!opened, "%u further contexts were opened for it", opened);
	status = nnhal_device_prepare_model_sync(device, &f.model, NULL, &model);
	ok(!status && execute(model), "another model is prepared and executes right");
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	ok(closed == 1 + opened, "%u contexts closed", closed);
	for (i = 0; i < POOLS; i++)
		nnhal_memory_unref(m->pools[i]);
	free(m);
}

/* Not even an empty context has a number: one was asked, and is closed. */
static void test_always_full(void)
{
	struct nnhal_device *device = open_counted();
	struct nnhal_prepared_model *model = NULL;
	enum nnhal_status status;
	unsigned int i;

	always_full = true;
	for (i = 1; i <= 3; i++) {
		status = nnhal_device_prepare_model_sync(device, &f.model, NULL, &model);
		ok(status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT && !model && opened == i &&
		   closed == i, "no context takes a program: %s, %u opened, %u closed",
		   nnhal_status_name((int)status), opened, closed);
	}
	always_full = false;
	status = nnhal_device_prepare_model_sync(device, &f.model, NULL, &model);
	ok(!status && execute(model) && opened == 3, "then one does");
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	ok(closed == 4, "%u contexts closed", closed);
}

/* Prepare models until @contexts further contexts are open; how many. */
static unsigned int fill(struct nnhal_device *device, struct nnhal_prepared_model **models,
			 unsigned int contexts)
{
	unsigned int n = 0;

	while (n < MOST && opened < contexts &&
	       !nnhal_device_prepare_model_sync(device, &f.model, NULL, &models[n]))
		n++;
	return n;
}

/* The order in which contexts end: @reverse: the first one last. */
static void test_close(bool reverse)
{
	struct nnhal_prepared_model **models = calloc(MOST, sizeof(*models));
	struct nnhal_device *device = open_counted();
	struct nnhal_prepared_model *again = NULL;
	unsigned int i, n, right = 0;

	if (!models)
		return;
	n = fill(device, models, 2);
	if (!ok(opened == 2 && !closed, "%u models in 3 contexts", n))
		return;
	nnhal_prepared_model_unref(models[--n]);
	ok(closed == 1, "a context is closed with its only model");
	ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &models[n]) && opened == 3,
	   "the next model opens one again");
	nnhal_prepared_model_unref(models[n - 1]);
	ok(!nnhal_device_prepare_model_sync(device, &f.model, NULL, &again) && opened == 3,
	   "a model finds room in an open one");
	models[n - 1] = again;
	n++;
	nnhal_device_unref(device);
	for (i = 0; i < n; i += 16)
		right += execute(models[i]);
	ok(right == (n + 15) / 16 && execute(models[n - 1]) && closed == 1,
	   "models keep contexts open");
	for (i = 0; i < n; i++)
		nnhal_prepared_model_unref(models[reverse ? n - 1 - i : i]);
	ok(closed == 4, "all contexts are closed with them: %u", closed);
	free(models);
}

struct worker {
	pthread_t thread;
	struct nnhal_device *device;
	unsigned int made;
};

#define ROUNDS	30

static void *prepare_and_release(void *data)
{
	struct nnhal_prepared_model *model;
	struct worker *w = data;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++)
		if (!nnhal_device_prepare_model_sync(w->device, &f.model, NULL, &model)) {
			w->made++;
			nnhal_prepared_model_unref(model);
		}
	return NULL;
}

/* Threads open, share and close further contexts. */
static void test_threads(void)
{
	struct nnhal_prepared_model **models = calloc(MOST, sizeof(*models));
	struct nnhal_device *device = open_counted();
	struct worker workers[4] = { 0 };
	unsigned int i, n, made = 0;

	if (!models)
		return;
	n = fill(device, models, 1);
	nnhal_prepared_model_unref(models[--n]);
	if (!ok(opened == 1 && closed == 1, "%u models in a context", n))
		return;
	for (i = 0; i < 4; i++) {
		workers[i].device = device;
		pthread_create(&workers[i].thread, NULL, prepare_and_release, &workers[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		made += workers[i].made;
	}
	ok(made == 4 * ROUNDS && opened <= 1 + made && opened == closed,
	   "four threads: %u of %u models, %u contexts opened, %u closed", made, 4 * ROUNDS, opened,
	   closed);
	for (i = 0; i < n; i++)
		nnhal_prepared_model_unref(models[i]);
	nnhal_device_unref(device);
	free(models);
}

int main(void)
{
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < 2400)
		tap_skip_all("%u memory objects: at most %lu files may be open", POOLS,
			     (unsigned long)files.rlim_cur);
	make_add_relu(&f);
	run_init(&r, 4);
	test_too_many_pools();
	test_always_full();
	test_close(false);
	test_close(true);
	test_threads();
	run_fini(&r);
	return tap_done();
}
