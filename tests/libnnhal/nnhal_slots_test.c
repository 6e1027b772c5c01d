// SPDX-License-Identifier: MIT
/*
 * More memory objects than a context has slots: those that nobody uses make room. Each
 * result is right, whoever had to give up a slot.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "nnhal_fixture.h"

/* A context has 1024 slots. */
#define MANY	1200
#define BURSTS	20
#define PER_BURST	60

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct run *runs;

static bool execute(struct run *r)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;

	o.diag = &r->diag;
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	status = nnhal_prepared_model_execute_synchronously(model, &r->request, &o, NULL, NULL,
							    NULL);
	if (status)
		tap_note("%s: %s", nnhal_status_name((int)status), r->diag.message);
	return !status && run_output_is_right(r, 4);
}

static bool execute_in(struct nnhal_burst *burst, struct run *r)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;

	o.diag = &r->diag;
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	status = nnhal_burst_execute(burst, &r->request, &o, NULL, NULL, NULL);
	if (status)
		tap_note("burst: %s: %s", nnhal_status_name((int)status), r->diag.message);
	return !status && run_output_is_right(r, 4);
}

/* Put the arguments into a memfd that has to be copied. */
static bool use_copied_memory(struct run *r)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
	};
	struct nnhal_memory *memory;

	desc.fd = nnhal_memory_fd(r->memory);
	if (nnhal_memory_import(&desc, &memory, &r->diag))
		return false;
	nnhal_memory_unref(r->memory);
	r->memory = memory;
	r->pools[0].memory = memory;
	r->map = nnhal_memory_map(memory, &r->diag);
	return r->map;
}

static void test_executions(void)
{
	unsigned int i, right = 0;

	for (i = 0; i < MANY; i++)
		right += execute(&runs[i]);
	ok(right == MANY, "%u of %u executions on as many memory objects are right", right, MANY);
	right = 0;
	for (i = MANY; i--;)
		right += execute(&runs[i]);
	ok(right == MANY, "again, in reverse order: %u of %u", right, MANY);
}

struct worker {
	pthread_t thread;
	unsigned int from;
	unsigned int right;
};

/* Each thread has memory objects of its own, and all need each other's slots. */
static void *work(void *data)
{
	struct worker *w = data;
	unsigned int round, i;

	for (round = 0; round < 2; round++)
		for (i = w->from; i < MANY; i += 4)
			w->right += execute(&runs[i]);
	return NULL;
}

static void test_threads(void)
{
	struct worker workers[4] = { 0 };
	unsigned int i, right = 0;

	for (i = 0; i < 4; i++) {
		workers[i].from = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(workers[i].thread, NULL);
		right += workers[i].right;
	}
	ok(right == 2 * MANY, "four threads: %u of %u", right, 2 * MANY);
}

/* Bursts keep memory bound until others need the slots. */
static void test_bursts(void)
{
	struct nnhal_burst *bursts[BURSTS] = { NULL };
	unsigned int i, k, right = 0, made = 0, again = 0;
	struct nnhal_burst *first = NULL;
	struct run own;

	run_init(&own, 4);
	ok(!nnhal_burst_create(model, NULL, &first) && execute_in(first, &own), "a burst");
	for (i = 0; i < MANY; i++)
		right += execute(&runs[i]);
	for (i = 0; i < BURSTS; i++)
		made += !nnhal_burst_create(model, NULL, &bursts[i]);
	ok(right == MANY && made == BURSTS, "%u executions and %u bursts beside it", right, made);
	right = 0;
	for (i = 0; i < BURSTS; i++)
		for (k = 0; k < PER_BURST; k++)
			right += execute_in(bursts[i], &runs[i * PER_BURST + k]);
	ok(right == BURSTS * PER_BURST, "%u of %u executions in bursts are right", right,
	   BURSTS * PER_BURST);
	for (i = 0; i < 8; i++)
		again += execute_in(first, &own);
	ok(again == 8, "the first burst goes on: %u of 8", again);
	right = 0;
	for (i = 0; i < MANY; i++)
		right += execute(&runs[i]);
	ok(right == MANY, "executions take slots of bursts: %u of %u", right, MANY);
	again = 0;
	for (i = 0; i < BURSTS; i++)
		again += execute_in(bursts[i], &runs[i]);
	ok(again == BURSTS && execute_in(first, &own), "and bursts take them back: %u of %u", again,
	   BURSTS);
	for (i = 0; i < BURSTS; i++)
		nnhal_burst_unref(bursts[i]);
	nnhal_burst_unref(first);
	run_fini(&own);
}

static bool fill(struct nnhal_buffer *buffer)
{
	static const float values[4] = { 4, 3, 2, 1 };
	struct nnhal_memory *memory;
	bool good;

	if (nnhal_memory_create(sizeof(values), &memory, NULL))
		return false;
	memcpy(nnhal_memory_map(memory, NULL), values, sizeof(values));
	good = !nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL);
	nnhal_memory_unref(memory);
	return good;
}

/* A burst has bound memory to all slots, and then a request of its own names buffers. */
static void test_buffers(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	static const float expected[4] = { 2, 1, 0, 0 };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_buffer *in = NULL, *out = NULL;
	struct nnhal_memory *memory;
	struct nnhal_burst *burst;
	unsigned int i, right = 0;
	struct run r;

	run_init(&r, 4);
	o.max_memories = MANY;
	ok(!nnhal_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0, &in,
				  &r.pools[1].token, NULL) &&
	   !nnhal_device_allocate(device, &desc, &model, 1, NULL, 0, &role, 1, &out,
				  &r.pools[2].token, NULL) && fill(in) &&
	   !nnhal_burst_create(model, &o, &burst), "two buffers and a burst");
	for (i = 0; i < MANY; i++)
		right += execute_in(burst, &runs[i]);
	ok(right == MANY, "%u memory objects in one burst: %u", MANY, right);
	r.request.num_pools = 3;
	r.inputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	r.outputs[0].location = (struct nnhal_data_location){ 2, 0, 0 };
	for (i = 0, right = 0; i < 4; i++)
		right += !nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	ok(right == 4, "buffers take slots of their own burst: %u of 4", right);
	ok(!nnhal_memory_create(sizeof(expected), &memory, NULL) &&
	   !nnhal_buffer_copy_to(out, memory, NULL) &&
	   !memcmp(nnhal_memory_map(memory, NULL), expected, sizeof(expected)),
	   "and have the result");
	nnhal_memory_unref(memory);
	nnhal_burst_unref(burst);
	nnhal_buffer_unref(in);
	nnhal_buffer_unref(out);
	run_fini(&r);
}

static void test_copied(void)
{
	unsigned int i, right = 0, changed = 0;

	for (i = 0; i < MANY; i += 3)
		changed += use_copied_memory(&runs[i]);
	for (i = 0; i < MANY; i++)
		right += execute(&runs[i]);
	ok(changed == MANY / 3 && right == MANY, "%u of them copied: %u of %u", changed, right, MANY);
}

int main(void)
{
	struct rlimit files;
	unsigned int i;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < 2 * MANY)
		tap_skip_all("%u memory objects: at most %lu files may be open", MANY,
			     (unsigned long)files.rlim_cur);
	device = test_device_open();
	make_add_relu(&f);
	runs = calloc(MANY, sizeof(*runs));
	if (!ok(runs && !nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "model"))
		return tap_done();
	for (i = 0; i < MANY; i++)
		run_init(&runs[i], 4);
	test_executions();
	test_threads();
	test_bursts();
	test_buffers();
	test_copied();
	for (i = 0; i < MANY; i++)
		run_fini(&runs[i]);
	free(runs);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
