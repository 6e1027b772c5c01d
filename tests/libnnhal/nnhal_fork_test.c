// SPDX-License-Identifier: MIT
/*
 * Children of fork() share the descriptors of the parent, and so its context on the device. What
 * they release must stay the parent's.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nnhal_fixture.h"

enum { CHILDREN = 4, MEMORIES = 8 };

static struct fixture f;
static struct nnhal_device *device;
static struct nnhal_prepared_model *model;
static struct nnhal_burst *burst;
/* With content; for input 0. */
static struct nnhal_buffer *buffer;
static uint32_t token;
/* Used by executions, and by the burst; the last one is copied. */
static struct run runs[MEMORIES], own;

static enum nnhal_status execute_with(struct nnhal_prepared_model *m, struct run *r)
{
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	return nnhal_prepared_model_execute_synchronously(m, &r->request, NULL, NULL, NULL, NULL);
}

static enum nnhal_status execute_in_burst(struct run *r)
{
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	return nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL);
}

static bool use_copied_memory(struct run *r)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
	};
	struct nnhal_memory *memory;

	desc.fd = nnhal_memory_fd(r->memory);
	if (nnhal_memory_import(&desc, &memory, NULL))
		return false;
	nnhal_memory_unref(r->memory);
	r->memory = memory;
	r->pools[0].memory = memory;
	r->map = nnhal_memory_map(memory, NULL);
	return r->map;
}

static void on_prepared(void *context, enum nnhal_status status,
			struct nnhal_prepared_model *prepared)
{
	*(enum nnhal_status *)context = prepared ? NNHAL_STATUS_NONE : status;
}

static void on_executed(void *context, enum nnhal_status status,
			const struct nnhal_output_shape *shapes, uint32_t num_shapes,
			const struct nnhal_timing *timing)
{
	(void)shapes;
	(void)num_shapes;
	(void)timing;
	*(enum nnhal_status *)context = status;
}

static enum nnhal_status allocate(struct nnhal_buffer **result, uint32_t *result_token)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = { .size = sizeof(desc) };

	return nnhal_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0, result,
				     result_token, NULL);
}

/* Input 0 of the parent's run is in the buffer. */
static bool buffer_works(void)
{
	struct nnhal_request_argument input = own.inputs[0];
	enum nnhal_status status;

	own.pools[1].token = token;
	own.request.num_pools = 2;
	own.inputs[0].location = (struct nnhal_data_location){ .pool_index = 1 };
	status = execute_with(model, &own);
	own.request.num_pools = 1;
	own.inputs[0] = input;
	return !status && run_output_is_right(&own, 4);
}

static bool buffer_init(void)
{
	struct nnhal_memory *memory;
	bool good;

	if (nnhal_memory_create(16, &memory, NULL) || allocate(&buffer, &token))
		return false;
	memcpy(nnhal_memory_map(memory, NULL), own.map + RUN_INPUT(0), 16);
	good = !nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL);
	nnhal_memory_unref(memory);
	return good;
}

/* Use what is the parent's; 0 or the number of the step that went wrong. */
static int use_all(void)
{
	enum nnhal_status called = NNHAL_STATUS_NONE;
	struct nnhal_prepared_model *m;
	struct nnhal_buffer *b2;
	struct nnhal_burst *b;
	bool supported[2];
	uint32_t t;

	if (execute_with(model, &runs[0]) != NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 1;
	if (nnhal_prepared_model_execute(model, &runs[0].request, NULL, on_executed, &called) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || called != NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 2;
	if (nnhal_device_prepare_model_sync(device, &f.model, NULL, &m) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || m)
		return 3;
	called = NNHAL_STATUS_NONE;
	if (nnhal_device_prepare_model(device, &f.model, NULL, on_prepared, &called) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE || called != NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 4;
	if (nnhal_device_get_supported_operations(device, &f.model, supported, 2, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 5;
	if (nnhal_burst_create(model, NULL, &b) != NNHAL_STATUS_DEVICE_UNAVAILABLE || b)
		return 6;
	if (nnhal_device_get_status(device) != NNHAL_DEVICE_OFFLINE)
		return 7;
	if (execute_in_burst(&own) != NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 8;
	if (nnhal_buffer_copy_to(buffer, own.memory, NULL) != NNHAL_STATUS_DEVICE_UNAVAILABLE ||
	    nnhal_buffer_copy_from(buffer, own.memory, NULL, 0, NULL) !=
	    NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 9;
	if (nnhal_buffer_reset(buffer) != NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return 11;
	if (allocate(&b2, &t) != NNHAL_STATUS_DEVICE_UNAVAILABLE || b2 || t)
		return 10;
	return 0;
}

/* The child opens the device itself, and uses memory that it has from the parent. */
static int use_own_device(void)
{
	struct nnhal_prepared_model *m = NULL;
	struct nnhal_device *d = NULL;
	unsigned int i;

	if (nnhal_device_open(test_device_spec(), &d, NULL) ||
	    nnhal_device_prepare_model_sync(d, &f.model, NULL, &m))
		return 20;
	for (i = 0; i < MEMORIES; i++)
		if (execute_with(m, &runs[i]) || !run_output_is_right(&runs[i], 4))
			return 21;
	nnhal_prepared_model_unref(m);
	nnhal_device_unref(d);
	return 0;
}

/* Descriptors that lead to the device. */
static unsigned int count_device_fds(void)
{
	char path[64], target[64];
	unsigned int n = 0;
	ssize_t len;
	int fd;

	for (fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		len = readlink(path, target, sizeof(target) - 1);
		target[len > 0 ? len : 0] = '\0';
		n += !strncmp(target, "/dev/accel/", 11) || !strncmp(target, "/dev/dri/", 9) ||
		     !strncmp(target, "anon_inode:[nnpu", 16) ||
		     !strcmp(target, "/dev/udmabuf");
	}
	return n;
}

static int child(unsigned int number)
{
	unsigned int i;
	int step;

	alarm(60);
	step = use_all();
	if (!step && number % 2)
		step = use_own_device();
	if (step)
		return step;
	/* In either order. */
	if (number < 2)
		nnhal_burst_unref(burst);
	for (i = 0; i < MEMORIES; i++)
		run_fini(&runs[i]);
	run_fini(&own);
	if (number >= 2)
		nnhal_burst_unref(burst);
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	/* A descriptor that stays open would keep the context when the parent is gone. */
	return count_device_fds() ? 30 : 0;
}

static int run_child(unsigned int number)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(child(number));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static unsigned int count_right(void)
{
	unsigned int i, right = 0;

	for (i = 0; i < MEMORIES; i++)
		right += !execute_with(model, &runs[i]) && run_output_is_right(&runs[i], 4);
	return right;
}

int main(void)
{
	unsigned int i;
	int step;

	device = test_device_open();
	make_add_relu(&f);
	for (i = 0; i < MEMORIES; i++)
		run_init(&runs[i], 4);
	run_init(&own, 4);
	if (!ok(use_copied_memory(&runs[MEMORIES - 1]) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_burst_create(model, NULL, &burst), "device, model and burst"))
		return tap_done();
	ok(count_right() == MEMORIES && !execute_in_burst(&own), "they are in use");
	if (!ok(buffer_init() && buffer_works(), "a buffer is in use"))
		return tap_done();
	for (i = 0; i < CHILDREN; i++) {
		step = run_child(i);
		ok(!step, "child %u: nothing of the parent's works, all can be released (%d)", i,
		   step);
		ok(count_right() == MEMORIES && !execute_in_burst(&own) &&
		   run_output_is_right(&own, 4) && buffer_works(), "then the parent's all works");
	}
	nnhal_burst_unref(burst);
	for (i = 0; i < MEMORIES; i++)
		run_fini(&runs[i]);
	run_fini(&own);
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return tap_done();
}
