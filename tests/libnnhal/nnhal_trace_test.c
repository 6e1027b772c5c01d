// SPDX-License-Identifier: MIT
/*
 * Tracing: each phase that begins ends, also if a call of the transport fails, whichever.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device/device_private.h"
#include "nnhal_fixture.h"
#include "trace_hooks.h"
#include "transport/transport.h"

/* Nothing takes that long, on any machine. */
#define LONG_MS	30000

/* Phases by name: how many have begun, and how many of these go on. */
static struct phase {
	const char *name;
	unsigned int begun;
	int open;
} phases[16];
static pthread_mutex_t phases_lock = PTHREAD_MUTEX_INITIALIZER;

void trace_hook(const char *name, const void *object, int change)
{
	unsigned int i;

	(void)object;
	pthread_mutex_lock(&phases_lock);
	for (i = 0; phases[i].name && strcmp(phases[i].name, name); i++)
		;
	phases[i].name = name;
	phases[i].begun += change > 0;
	phases[i].open += change;
	pthread_mutex_unlock(&phases_lock);
}

/* The name of a phase that has not ended; NULL: there is none. */
static const char *open_phase(bool forget)
{
	const char *name = NULL;
	unsigned int i;

	pthread_mutex_lock(&phases_lock);
	for (i = 0; phases[i].name && !name; i++)
		if (phases[i].open) {
			name = phases[i].name;
			phases[i].open = forget ? 0 : phases[i].open;
		}
	pthread_mutex_unlock(&phases_lock);
	return name;
}

/*
 * The name of a phase that does not end, which is then forgotten; NULL: there is none. A thread of
 * the library may have closed the device, and be on its way out of that.
 */
static const char *take_open_phase(void)
{
	unsigned int ms;

	for (ms = 0; ms < LONG_MS && open_phase(false); ms++)
		usleep(1000);
	return open_phase(true);
}

static bool has_begun(const char *name)
{
	bool begun = false;
	unsigned int i;

	pthread_mutex_lock(&phases_lock);
	for (i = 0; phases[i].name && !begun; i++)
		begun = strstr(phases[i].name, name) && phases[i].begun;
	pthread_mutex_unlock(&phases_lock);
	return begun;
}

/* ---- calls of the transport that fail: the first @skip ones go well ---- */

static const struct transport_ops *real;
static atomic_int skip;

static bool fails(void)
{
	return atomic_fetch_sub(&skip, 1) <= 0;
}

static int failing_bo_create(struct transport *t, uint64_t size, struct transport_bo *bo)
{
	return fails() ? -ENOSPC : real->bo_create(t, size, bo);
}

static int failing_bind_fd(struct transport *t, enum transport_memory_type type, int fd,
			   uint64_t size, uint32_t access, uint32_t *slot)
{
	return fails() ? -EINVAL : real->bind_fd(t, type, fd, size, access, slot);
}

static int failing_fence_create(struct transport *t, struct transport_fence **fence)
{
	return fails() ? -EMFILE : real->fence_create(t, fence);
}

static int failing_fence_export(struct transport *t, struct transport_fence *fence, int *fd)
{
	return fails() ? -EMFILE : real->fence_export(t, fence, fd);
}

static int failing_submit(struct transport *t, const struct transport_job *job)
{
	return fails() ? -EBUSY : real->submit(t, job);
}

static int failing_wait(struct transport *t, struct transport_fence *const *fences, uint32_t count,
			int64_t timeout_ns, uint32_t *first)
{
	int err = real->wait(t, fences, count, timeout_ns, first);

	return !err && fails() ? -EPERM : err;
}

static const struct failure {
	const char *name;
	struct transport_ops ops;	/* what is not NULL takes the place of the real one */
} failures[] = {
	{ "nothing", { .close = NULL } },
	{ "bo_create", { .bo_create = failing_bo_create } },
	{ "bind_fd", { .bind_fd = failing_bind_fd } },
	{ "fence_create", { .fence_create = failing_fence_create } },
	{ "fence_export", { .fence_export = failing_fence_export } },
	{ "submit", { .submit = failing_submit } },
	{ "wait", { .wait = failing_wait } },
};

/* ---- runs ---- */

enum way { SYNC, ASYNC, FENCED, FENCED_BEHIND, NUM_HOWS };

static const char *const how_names[] = {
	"synchronous", "asynchronous", "fenced", "fenced, behind a fence",
};

static enum nnhal_status run_fenced(struct nnhal_prepared_model *model, struct run *r, bool behind,
				    bool is_late)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_fenced_callback *callback;
	int gate = -1, signal = -1, fence;
	enum nnhal_status status;

	o.has_deadline = is_late;
	if (behind && nnhal_fence_create(&gate, &signal))
		return NNHAL_STATUS_GENERAL_FAILURE;
	if (behind)
		nnhal_fence_signal(signal, -EIO);
	status = nnhal_prepared_model_execute_fenced(model, &r->request, &gate, behind, &o, &fence,
						     &callback);
	if (fence >= 0) {
		nnhal_fence_wait(fence, -1);
		close(fence);
	}
	nnhal_fenced_callback_unref(callback);
	if (behind) {
		close(gate);
		close(signal);
	}
	return status;
}

static enum nnhal_status run(struct nnhal_prepared_model *model, struct run *r, enum way how,
			     bool is_late)
{
	struct callback_result result = CALLBACK_RESULT_INIT;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.has_deadline = is_late;
	switch (how) {
	case SYNC:
		return nnhal_prepared_model_execute_synchronously(model, &r->request, &o, NULL,
								  NULL, NULL);
	case ASYNC:
		return callback_wait(&result, nnhal_prepared_model_execute(
			model, &r->request, &o, callback_executed, &result));
	default:
		return run_fenced(model, r, how == FENCED_BEHIND, is_late);
	}
}

/* All that a device does, with the failure; closing it waits for what goes on. */
static void use_device(const struct failure *failure, enum way how, int good, bool copied,
		       bool is_late)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
	};
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct nnhal_memory *memory = NULL;
	static struct fixture f;
	struct transport_ops ops;
	uintptr_t op;
	struct run r;
	size_t i;

	make_add_relu(&f);
	run_init(&r, 4);
	desc.fd = memfd_create("copied", MFD_CLOEXEC);
	if (!nnhal_device_open("sim:noqueues", &device, NULL) &&
	    !nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
	    pwrite(desc.fd, r.map, 4096, 0) == 4096 && !nnhal_memory_import(&desc, &memory, NULL)) {
		if (copied)
			r.pools[0].memory = memory;
		real = device->transport->ops;
		ops = *real;
		for (i = 0; i < sizeof(ops); i += sizeof(op)) {
			memcpy(&op, (const char *)&failure->ops + i, sizeof(op));
			if (op)
				memcpy((char *)&ops + i, &op, sizeof(op));
		}
		atomic_store(&skip, good);
		device->transport->ops = &ops;
		run(model, &r, how, is_late);
		run(model, &r, how, is_late);
		atomic_store(&skip, INT32_MAX);
	} else {
		ok(false, "a device");
	}
	close(desc.fd);
	nnhal_memory_unref(memory);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

int main(void)
{
	const char *left;
	unsigned int how;
	size_t i;
	int good;

	if (!transport_sim_available())
		tap_skip_all("no device in the process");
	for (i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
		for (how = 0; how < NUM_HOWS; how++) {
			for (good = 0, left = NULL; good < 4 && !left; good++) {
				use_device(&failures[i], how, good, false, false);
				use_device(&failures[i], how, good, true, false);
				use_device(&failures[i], how, good, true, true);
				left = take_open_phase();
			}
			if (!ok(!left, "%s, %s fails: each phase ends", how_names[how],
				failures[i].name))
				tap_note("%s does not, after %d good ones", left, good - 1);
		}
	ok(has_begun("execute") && has_begun("copyInputs") && has_begun("copyOutputs") &&
	   has_begun("openDevice") && has_begun("closeDevice") && has_begun("prepareModel"),
	   "and each has begun");
	return tap_done();
}
