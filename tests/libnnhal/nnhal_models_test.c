// SPDX-License-Identifier: MIT
/*
 * More prepared models than a context of the device has programs.
 */
#include <string.h>

#include "nnhal_fixture.h"

/* A context has 256 programs. */
#define MANY	600

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *models[MANY];
static struct run r;

static bool execute(struct nnhal_prepared_model *model, bool in_burst)
{
	struct nnhal_burst *burst = NULL;
	enum nnhal_status status;

	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	if (in_burst) {
		status = nnhal_burst_create(model, NULL, &burst);
		if (!status)
			status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
		nnhal_burst_unref(burst);
	} else {
		status = nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL,
								    NULL, NULL);
	}
	if (status)
		tap_note("%s", nnhal_status_name((int)status));
	return !status && run_output_is_right(&r, 4);
}

static unsigned int count_right(bool in_burst, unsigned int step)
{
	unsigned int i, right = 0;

	for (i = 0; i < MANY; i += step)
		right += models[i] && execute(models[i], in_burst);
	return right;
}

static unsigned int prepare_missing(void)
{
	unsigned int i, made = 0;

	for (i = 0; i < MANY; i++)
		made += !models[i] && !nnhal_device_prepare_model_sync(device, &f.model, NULL,
								       &models[i]);
	return made;
}

/* A constant that does not fit into the image: it has to be there for each attempt. */
static void test_staged(void)
{
	static struct fixture large;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_memory *memory = NULL;
	struct nnhal_request_argument in = { .location = { 0, 0, 4 } };
	struct nnhal_request_argument out = { .location = { 0, 4096, 8000 } };
	struct nnhal_request_pool pool = { 0 };
	struct nnhal_request request = {
		.num_inputs = 1, .inputs = &in, .num_outputs = 1, .outputs = &out,
		.num_pools = 1, .pools = &pool,
	};
	const float one = 1.0f;
	unsigned int i, right = 0;
	float value;
	uint8_t *map;

	make_add_large(&large);
	if (!ok(!nnhal_memory_create(4096 + 8192, &memory, NULL), "memory for a request"))
		return;
	pool.memory = memory;
	map = nnhal_memory_map(memory, NULL);
	memcpy(map, &one, sizeof(one));
	if (ok(!nnhal_device_prepare_model_sync(device, &large.model, NULL, &model) &&
	       !nnhal_prepared_model_execute_synchronously(model, &request, NULL, NULL, NULL,
							   NULL), "a model with a large constant"))
		for (i = 0; i < 2000; i++) {
			memcpy(&value, map + 4096 + i * sizeof(value), sizeof(value));
			right += value == one;
		}
	ok(right == 2000, "%u of 2000 results are right", right);
	nnhal_prepared_model_unref(model);
	nnhal_memory_unref(memory);
}

int main(void)
{
	unsigned int i, made;

	device = test_device_open();
	make_add_relu(&f);
	run_init(&r, 4);
	made = prepare_missing();
	ok(made == MANY, "%u of %u models are prepared", made, MANY);
	made = count_right(false, 1);
	ok(made == MANY, "%u of them execute right", made);
	made = count_right(true, 10);
	ok(made == MANY / 10, "%u of %u do in a burst", made, MANY / 10);
	test_staged();
	for (i = 0; i < MANY; i += 3) {
		nnhal_prepared_model_unref(models[i]);
		models[i] = NULL;
	}
	made = prepare_missing();
	ok(made == MANY / 3, "%u of %u are prepared again", made, MANY / 3);
	/* Models keep the device open. */
	nnhal_device_unref(device);
	made = count_right(false, 1);
	ok(made == MANY, "after the release of the device %u execute right", made);
	for (i = 0; i < MANY; i++)
		nnhal_prepared_model_unref(models[i]);
	run_fini(&r);
	return tap_done();
}
