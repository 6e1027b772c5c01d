// SPDX-License-Identifier: MIT
/*
 * What the transport through the kernel driver makes of errors of system calls. There is no
 * driver here: the program is linked with --wrap for the calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <drm/nnpu_accel.h>
#include <nnhal/nnhal.h>

#include "buffer/buffer_private.h"
#include "burst/burst_private.h"
#include "device/device_private.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"
#include "memory/arena.h"
#include "memory/binding.h"
#include "nnhal_fixture.h"
#include "system_calls.h"
#include "transport/drm_private.h"

#define FAKE_FD	1000000

/* The call that fails, how often, and how; how often it was made. */
static unsigned long failing;
static unsigned int num_failures;
static int error;
static unsigned int num_calls;
/* The file of the queue, in place of its doorbell. */
static int queue_fd = FAKE_FD;

static void fail(unsigned long request, unsigned int times, int err)
{
	failing = request;
	num_failures = times;
	error = err;
	num_calls = 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd != FAKE_FD)
		return __real_ioctl(fd, request, arg);
	if (request == failing) {
		num_calls++;
		if (num_failures) {
			num_failures--;
			errno = error;
			return -1;
		}
	}
	if (request == UDMABUF_CREATE)
		return eventfd(0, 0);
	if (request == DRM_IOCTL_NNPU_BO_CREATE)
		((struct drm_nnpu_bo_create *)arg)->handle = 1;
	if (request == DRM_IOCTL_NNPU_QUEUE_CREATE) {
		((struct drm_nnpu_queue_create *)arg)->fd = queue_fd = eventfd(0, 0);
		((struct drm_nnpu_queue_create *)arg)->queue = 1;
	}
	return 0;
}

void *__real_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fd == FAKE_FD || fd == queue_fd)
		return __real_mmap(addr, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return __real_mmap(addr, size, prot, flags, fd, offset);
}

/* These tests are about memory that is copied. */
static int no_pointer(struct transport *t, void *map, uint64_t size, uint32_t access, uint32_t *slot)
{
	(void)t;
	(void)map;
	(void)size;
	(void)access;
	(void)slot;
	return -EDQUOT;
}

static const struct transport_ops memory_ops = {
	.bo_create = drm_bo_create,
	.bo_destroy = drm_bo_destroy,
	.bind_fd = drm_bind_fd,
	.bind_pointer = no_pointer,
	.unbind = drm_unbind,
};

static struct drm_transport d = {
	.info = { .page_size = 4096, .doorbell_size = 4096, .max_sq_entries = 64,
		  .max_cq_entries = 128 },
	.base = { .ops = &memory_ops }, .fd = FAKE_FD, .udmabuf_fd = -1,
	.import_lock = PTHREAD_MUTEX_INITIALIZER,
};

/* The other memory that is bound; who asks for a slot ends this binding. */
static bool others_stay(struct nnhal_memory *other, struct bind_table *table)
{
	const struct binding *binding;
	bool stays;

	fail(DRM_IOCTL_NNPU_SLOT_BIND, 0, 0);
	if (memory_bind(other, table, true, &binding))
		return false;
	stays = !num_calls;
	binding_unpin(binding);
	return stays;
}

/* ENOSPC is a reason to take slots away if there is none, not for want of memory. */
static void test_evict(void)
{
	static const struct {
		const char *name;
		unsigned long request;
		int expected;
		bool stay;
	} entries[] = {
		{ "BO_CREATE", DRM_IOCTL_NNPU_BO_CREATE, -ENOMEM, true },
		{ "BO_MMAP", DRM_IOCTL_NNPU_BO_MMAP, -ENOMEM, true },
		{ "SLOT_BIND", DRM_IOCTL_NNPU_SLOT_BIND, 0, false },
	};
	struct bind_table *table = bind_table_create(&d.base);
	struct nnhal_device device = { .table = table, .transport = &d.base };
	struct nnhal_memory *memory = NULL, *other = NULL, *third = NULL;
	const struct binding *binding, *pinned;
	struct transport_bo bo;
	unsigned int i;
	int err;

	if (!ok(table && !nnhal_memory_create(4096, &memory, NULL) &&
		!nnhal_memory_create(4096, &other, NULL) &&
		!nnhal_memory_create(4096, &third, NULL), "three memory objects"))
		return;
	for (i = 0; i < 3; i++) {
		ok(others_stay(other, table) || others_stay(other, table), "one is bound");
		bo = (struct transport_bo)TRANSPORT_BO_NONE;
		fail(entries[i].request, 1, ENOSPC);
		err = bind_table_bo_create(table, 4096, &bo);
		ok(err == entries[i].expected && others_stay(other, table) == entries[i].stay,
		   "a buffer, ENOSPC of %s: %s; the other %s bound", entries[i].name, strerror(-err),
		   entries[i].stay ? "stays" : "was");
		d.base.ops->bo_destroy(&d.base, &bo);
		fail(entries[i].request, 1, ENOSPC);
		err = memory_bind(memory, table, true, &binding);
		ok(err == entries[i].expected && others_stay(other, table) == entries[i].stay,
		   "memory, ENOSPC of %s: %s; the other %s bound", entries[i].name, strerror(-err),
		   entries[i].stay ? "stays" : "was");
		if (!err)
			binding_unpin(binding);
	}
	/* The other one is of a job in flight: its slot becomes free by itself. */
	fail(0, 0, 0);
	ok(!memory_bind(other, table, true, &binding), "one is in use");
	fail(DRM_IOCTL_NNPU_SLOT_BIND, 1000, ENOSPC);
	err = memory_bind(third, table, true, &pinned);
	ok(err == -ENOSPC && args_bind_status(&device, 0, 0, err, NULL) ==
			      NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	   "no slot left while somebody else has one: later there may be one");
	ok(args_bind_status(&device, 0, 1, err, NULL) ==
	   NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT, "if it is one's own, there will be none");
	binding_unpin(binding);
	fail(DRM_IOCTL_NNPU_BO_USERPTR, 1, EDQUOT);
	err = drm_bind_pointer(&d.base, &bo, 4096, TRANSPORT_READ, &bo.slot);
	ok(err == -EDQUOT && bo.slot == NNPU_SLOT_NONE, "the limit of locked memory: %d", err);
	fail(DRM_IOCTL_NNPU_BO_USERPTR, 1, ENOSPC);
	err = drm_bind_pointer(&d.base, &bo, 4096, TRANSPORT_READ, &bo.slot);
	ok(err == -ENOMEM && bo.slot == NNPU_SLOT_NONE, "no slot is missing: %d", err);
	fail(DRM_IOCTL_NNPU_SLOT_BIND, 1, ENOSPC);
	err = drm_bind_pointer(&d.base, &bo, 4096, TRANSPORT_READ, &bo.slot);
	ok(err == -ENOSPC && bo.slot == NNPU_SLOT_NONE, "now one is: %d", err);
	fail(DRM_IOCTL_PRIME_FD_TO_HANDLE, 1, ENOSPC);
	err = drm_bind_fd(&d.base, TRANSPORT_DMABUF, 0, 4096, TRANSPORT_READ, &bo.slot);
	ok(err == -ENOMEM, "an import, ENOSPC: %s", strerror(-err));
	nnhal_memory_unref(memory);
	nnhal_memory_unref(other);
	nnhal_memory_unref(third);
	bind_table_close(table);
}

/* A memfd that becomes a dma-buf: only an error that is about the memory means that it is copied. */
static void test_udmabuf(void)
{
	static const struct {
		int error;
		int expected;
	} entries[] = {
		{ EINVAL, -ENOTSUP }, { EPERM, -ENOTSUP }, { ENOTTY, -ENOTSUP },
		{ ENOMEM, -ENOMEM }, { EMFILE, -EMFILE }, { ENFILE, -ENFILE },
	};
	uint32_t slot;
	size_t i;
	int err;

	d.udmabuf_fd = FAKE_FD;
	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		fail(UDMABUF_CREATE, 1, entries[i].error);
		err = drm_bind_fd(&d.base, TRANSPORT_MEMFD, 0, 4096, TRANSPORT_READ, &slot);
		ok(err == entries[i].expected && num_calls == 1, "a dma-buf of a memfd, %s: %s",
		   strerror(entries[i].error), strerror(-err));
	}
	fail(UDMABUF_CREATE, 2, EINTR);
	err = drm_bind_fd(&d.base, TRANSPORT_MEMFD, 0, 4096, TRANSPORT_READ, &slot);
	ok(!err && num_calls == 3, "a signal: it is repeated, %u calls", num_calls);
	d.udmabuf_fd = -1;
}

/* A shortage passes; what a filter of system calls refuses stays refused. */
static void test_wait(void)
{
	static const int lasting[] = { EPERM, EACCES, ENOSYS, EIO, ENODEV, EINVAL };
	struct transport_queue *queue = NULL;
	enum transport_queue_state state;
	unsigned int i;
	int err;

	fail(0, 0, 0);
	d.info.max_cq_entries = 64;
	ok(drm_queue_create(&d.base, 0, &queue) == -EOPNOTSUPP && !queue,
	   "the rings of this device are too small for the library");
	d.info.max_cq_entries = 128;
	d.info.min_ring_entries = 128;
	ok(drm_queue_create(&d.base, 0, &queue) == -EOPNOTSUPP && !queue,
	   "those of this one are too large");
	d.info.min_ring_entries = 2;
	if (!ok(!drm_queue_create(&d.base, 0, &queue), "a queue"))
		return;
	for (i = 0; i < sizeof(lasting) / sizeof(lasting[0]); i++) {
		fail(DRM_IOCTL_NNPU_QUEUE_WAIT, 1, lasting[i]);
		err = drm_queue_wait(&d.base, queue, 0, 0, &state);
		ok(err == -lasting[i] && num_calls == 1, "waiting for a queue ends: %s",
		   strerror(-err));
	}
	fail(DRM_IOCTL_NNPU_QUEUE_WAIT, 1, ENOMEM);
	err = drm_queue_wait(&d.base, queue, 0, 0, &state);
	ok(!err, "without memory it is a false alarm");
	fail(DRM_IOCTL_NNPU_QUEUE_WAIT, 2, EINTR);
	err = drm_queue_wait(&d.base, queue, 0, 0, &state);
	ok(!err && num_calls == 3, "a signal: it is repeated, %u calls", num_calls);
	fail(DRM_IOCTL_NNPU_QUEUE_DESTROY, 0, 0);
	drm_queue_stop(&d.base, queue);
	ok(num_calls == 1, "a queue is stopped");
	drm_queue_destroy(&d.base, queue);
	ok(num_calls == 1, "and then not destroyed again: another one may have its number");
	if (!ok(!drm_queue_create(&d.base, 0, &queue), "another queue"))
		return;
	fail(DRM_IOCTL_NNPU_QUEUE_DESTROY, 1, EPERM);
	drm_queue_stop(&d.base, queue);
	queue->doorbell[0] = 1;
	ok(num_calls == 1 && fcntl(queue_fd, F_GETFD) < 0 && drm_queue_fd(queue) < 0,
	   "stopping it is refused: it is closed, and ringing it does no harm");
	drm_queue_destroy(&d.base, queue);
}

static const struct transport_ops *real;

static int refused_wait(struct transport *t, struct transport_fence *const *fences,
			uint32_t count, int64_t timeout_ns, uint32_t *first)
{
	int err = real->wait(t, fences, count, timeout_ns, first);

	return err ? err : -error;
}

/* An execution whose end nobody knows: what its job may write to is not used again. */
static void test_abandoned(void)
{
	static struct fixture f;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
	};
	const struct binding *binding;
	struct nnhal_memory *file = NULL;
	struct transport_ops ops;
	enum nnhal_status status;
	const void *place, *bounce;
	struct run r;

	make_add_relu(&f);
	run_init(&r, 4);
	o.diag = &r.diag;
	if (!ok(!nnhal_device_open("sim:noqueues", &device, NULL) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL,
							    NULL) && model->num_idle == 1,
		"an execution, which is kept"))
		return;
	place = model->idle->result->map;
	real = device->transport->ops;
	ops = *real;
	ops.wait = refused_wait;
	device->transport->ops = &ops;
	error = EPERM;
	/* It can shrink, so the device in the process does not get it. */
	desc.fd = memfd_create("copied", MFD_CLOEXEC);
	if (!ok(pwrite(desc.fd, r.map, 4096, 0) == 4096 &&
		!nnhal_memory_import(&desc, &file, NULL) &&
		!memory_bind(file, device->table, true, &binding), "memory that is copied"))
		return;
	close(desc.fd);
	bounce = binding->bounce.map;
	binding_unpin(binding);
	r.pools[0].memory = file;
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL,
							    NULL);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !model->num_idle,
	   "the wait is refused: %s, %s; it is not kept", nnhal_status_name((int)status),
	   r.diag.message);
	device->transport->ops = real;
	ok(!memory_bind(file, device->table, true, &binding) && binding->has_bounce &&
	   binding->bounce.map != bounce, "the copy of its memory is not used again");
	binding_unpin(binding);
	r.pools[0].memory = r.memory;
	memset(r.map + RUN_OUTPUT(0), 0xee, 64);
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL,
							    NULL);
	ok(!status && run_output_is_right(&r, 4) && model->num_idle == 1 &&
	   model->idle->result->map != place, "the next one has another place for its result");
	nnhal_memory_unref(file);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

/* Writes to a buffer whose ends nobody knows: the next one has other memory. */
static void test_abandoned_buffer(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	static struct fixture f;
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_memory *memory = NULL, *first;
	struct nnhal_device *device = NULL;
	struct nnhal_buffer *buffer = NULL;
	struct transport_ops ops;
	enum nnhal_status status;
	struct run r;

	make_add_relu(&f);
	run_init(&r, 4);
	if (!ok(!nnhal_device_open("sim:noqueues", &device, NULL) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_device_allocate(device, &desc, &model, 1, NULL, 0, &role, 1, &buffer,
				       &r.pools[1].token, NULL) &&
		!nnhal_memory_create(16, &memory, NULL), "a buffer"))
		return;
	r.request.num_pools = 2;
	r.outputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	real = device->transport->ops;
	ops = *real;
	ops.wait = refused_wait;
	error = EPERM;
	first = nnhal_memory_ref(buffer->storage);
	device->transport->ops = &ops;
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL,
							    NULL);
	device->transport->ops = real;
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !buffer->is_initialized &&
	   !nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL) && buffer->storage != first,
	   "F42 an execution that may still run: a copy does not get its memory");
	nnhal_memory_unref(first);
	first = nnhal_memory_ref(buffer->storage);
	device->transport->ops = &ops;
	status = nnhal_buffer_copy_from(buffer, memory, NULL, 0, NULL);
	device->transport->ops = real;
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && !buffer->is_initialized &&
	   !nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL,
						       NULL) && buffer->storage != first,
	   "F42 a copy that may still run: an execution does not get its memory");
	ok(!nnhal_buffer_copy_to(buffer, memory, NULL) &&
	   ((float *)nnhal_memory_map(memory, NULL))[3] == 2.0f, "and has the right content");
	nnhal_memory_unref(first);
	nnhal_memory_unref(memory);
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

/* As a filter of system calls refuses it, whether there is something to wait for or not. */
static int refused_at_once(struct transport *t, struct transport_fence *const *fences,
			   uint32_t count, int64_t timeout_ns, uint32_t *first)
{
	(void)t;
	(void)fences;
	(void)count;
	(void)timeout_ns;
	(void)first;
	return -error;
}

/* Until so many hold the buffer; the thread of the device gives a run up. */
static bool holds_become(struct nnhal_buffer *buffer, unsigned int holds)
{
	unsigned int i;

	for (i = 0; i < 60000 && atomic_load(&buffer->entry.holds) != holds; i++)
		usleep(1000);
	return i < 60000;
}

static enum nnhal_status run_fenced(struct nnhal_prepared_model *model, struct run *r, int gate,
				    struct nnhal_fenced_callback **callback)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	enum nnhal_status status;
	int fence;

	o.diag = &r->diag;
	status = nnhal_prepared_model_execute_fenced(model, &r->request, &gate, 1, &o, &fence,
						     callback);
	if (!status)
		close(fence);
	return status;
}

/* Fenced runs that write a buffer, and whose ends nobody knows; then one that reads it. */
static void test_abandoned_fenced(void)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	static struct fixture f;
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_fenced_callback *writers[2], *reader = NULL;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct nnhal_buffer *buffer = NULL;
	struct transport_ops ops;
	struct nnhal_memory *first;
	enum nnhal_status status;
	struct run w, r;
	int gate, signal;

	make_add_relu(&f);
	run_init(&w, 4);
	run_init(&r, 4);
	if (!ok(!nnhal_device_open("sim", &device, NULL) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_device_allocate(device, &desc, &model, 1, &role, 1, &role, 1, &buffer,
				       &w.pools[1].token, NULL) &&
		!nnhal_fence_create(&gate, &signal), "a buffer"))
		return;
	r.pools[1].token = w.pools[1].token;
	w.request.num_pools = r.request.num_pools = 2;
	w.outputs[0].location = r.inputs[0].location = (struct nnhal_data_location){ 1, 0, 0 };
	real = device->transport->ops;
	ops = *real;
	ops.wait = refused_at_once;
	error = EPERM;
	first = nnhal_memory_ref(buffer->storage);

	status = run_fenced(model, &w, gate, &writers[0]);
	if (!ok(!status, "a run that writes it: %s", w.diag.message))
		return;
	device->transport->ops = &ops;
	nnhal_fenced_callback_unref(writers[0]);
	ok(holds_become(buffer, 1) && !buffer->writer && buffer->storage != first,
	   "waiting for it is refused: the buffer has no writer and other memory");
	device->transport->ops = real;
	status = run_fenced(model, &r, gate, &reader);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE && strstr(r.diag.message, "uninitialised"),
	   "a run that reads the buffer: %s, %s", nnhal_status_name((int)status), r.diag.message);
	nnhal_memory_unref(first);

	if (!ok(!run_fenced(model, &w, gate, &writers[0]), "a run that writes it again"))
		return;
	first = nnhal_memory_ref(buffer->storage);
	if (!ok(!run_fenced(model, &w, gate, &writers[1]) && buffer->storage == first,
		"and another one in the same memory"))
		return;
	device->transport->ops = &ops;
	nnhal_fenced_callback_unref(writers[0]);
	ok(holds_become(buffer, 2) && buffer->writer && buffer->storage == first,
	   "waiting for the first is refused: the second goes on to write");
	device->transport->ops = real;
	status = run_fenced(model, &r, gate, &reader);
	ok(!status, "a run that reads what the second writes: %s, %s",
	   nnhal_status_name((int)status), r.diag.message);
	nnhal_fence_signal(signal, 0);
	nnhal_memory_unref(first);
	nnhal_fenced_callback_unref(writers[1]);
	nnhal_fenced_callback_unref(reader);
	ok(holds_become(buffer, 1), "both have ended");
	ok(!nnhal_prepared_model_execute_synchronously(model, &r.request, NULL, NULL, NULL, NULL),
	   "the buffer has content");
	close(gate);
	close(signal);

	/* The device is closed before the run may begin. */
	if (!ok(!nnhal_fence_create(&gate, &signal) && !run_fenced(model, &w, gate, &writers[0]),
		"a run that writes it once more"))
		return;
	device->transport->ops = &ops;
	nnhal_fenced_callback_unref(writers[0]);
	ok(holds_become(buffer, 1), "waiting for it is refused");
	device->transport->ops = real;
	nnhal_buffer_unref(buffer);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	close(gate);
	close(signal);
	run_fini(&w);
	run_fini(&r);
}

static int no_fence(struct transport *t, struct transport_fence **fence)
{
	(void)t;
	(void)fence;
	return -error;
}

static int no_bo(struct transport *t, uint64_t size, struct transport_bo *bo)
{
	(void)t;
	(void)size;
	(void)bo;
	return -error;
}

/* The status of a run that needs a new execution object is that of the error, not a shortage. */
static void test_new_execution(void)
{
	static const struct {
		int error;
		enum nnhal_status expected;
	} entries[] = {
		{ ENODEV, NNHAL_STATUS_DEVICE_UNAVAILABLE },
		{ EMFILE, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
		{ ENOSPC, NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT },
		{ ENOMEM, NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT },
		{ EINVAL, NNHAL_STATUS_GENERAL_FAILURE },
	};
	static struct fixture f;
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct transport_ops ops;
	enum nnhal_status status;
	struct run r;
	size_t i;

	make_add_relu(&f);
	run_init(&r, 4);
	o.diag = &r.diag;
	if (!ok(!nnhal_device_open("sim", &device, NULL) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "a model"))
		return;
	real = device->transport->ops;
	device->transport->ops = &ops;
	for (i = 0; i < 2 * sizeof(entries) / sizeof(entries[0]); i++) {
		ops = *real;
		/* The buffers first: one stays. */
		if (i < sizeof(entries) / sizeof(entries[0]))
			ops.bo_create = no_bo;
		else
			ops.fence_create = no_fence;
		error = entries[i % (sizeof(entries) / sizeof(entries[0]))].error;
		status = nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL,
								    NULL, NULL);
		ok(status == entries[i % (sizeof(entries) / sizeof(entries[0]))].expected &&
		   strstr(r.diag.message, "execution"), "no %s: %s, %s",
		   ops.bo_create == no_bo ? "buffer" : "fence", nnhal_status_name((int)status),
		   r.diag.message);
	}
	device->transport->ops = real;
	ok(!nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL, NULL),
	   "a run afterwards");
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

/* An error of the wait for several jobs is not one of the first. */
static int refused_together(struct transport *t, struct transport_fence *const *fences,
			    uint32_t count, int64_t timeout_ns, uint32_t *first)
{
	return count > 1 ? -error : real->wait(t, fences, count, timeout_ns, first);
}

static void test_async(void)
{
	struct callback_result result = CALLBACK_RESULT_INIT;
	static struct fixture f;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct transport_ops ops;
	enum nnhal_status status;
	struct run r;

	make_add_relu(&f);
	run_init(&r, 4);
	if (!ok(!nnhal_device_open("sim", &device, NULL) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model), "a model"))
		return;
	real = device->transport->ops;
	ops = *real;
	ops.wait = refused_together;
	error = EINVAL;
	device->transport->ops = &ops;
	status = nnhal_prepared_model_execute(model, &r.request, NULL, callback_executed, &result);
	status = callback_wait(&result, status);
	ok(!status && run_output_is_right(&r, 4),
	   "waiting for job and wake-up together is refused, the job ends well: %s",
	   nnhal_status_name((int)status));
	/* While the thread of the device still looks at them. */
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

static int no_queue_wait(struct transport *t, struct transport_queue *queue, uint32_t cq_head,
			 uint64_t until_ns, enum transport_queue_state *state)
{
	(void)t;
	(void)queue;
	(void)cq_head;
	(void)until_ns;
	(void)state;
	return -error;
}

/* A burst whose thread cannot wait: the device must not write behind its back. */
static void test_burst(void)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	enum transport_queue_state state = TRANSPORT_QUEUE_READY;
	static struct fixture f;
	struct nnhal_prepared_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct nnhal_burst *burst = NULL;
	struct transport_ops ops;
	enum nnhal_status status;
	struct run r;

	make_add_relu(&f);
	run_init(&r, 4);
	o.spin_us = 0;
	if (!ok(!nnhal_device_open("sim", &device, NULL) &&
		!nnhal_device_prepare_model_sync(device, &f.model, NULL, &model) &&
		!nnhal_burst_create(model, &o, &burst) && burst->queue, "a burst"))
		return;
	real = device->transport->ops;
	ops = *real;
	ops.queue_wait = no_queue_wait;
	error = EPERM;
	device->transport->ops = &ops;
	nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	while (burst->state == TRANSPORT_QUEUE_READY)
		nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	status = nnhal_burst_execute(burst, &r.request, NULL, NULL, NULL, NULL);
	ok(status == NNHAL_STATUS_DEAD_OBJECT, "waiting is refused: later requests end with %s",
	   nnhal_status_name((int)status));
	device->transport->ops = real;
	ok(!real->queue_wait(device->transport, burst->queue, 0, 0, &state) &&
	   state == TRANSPORT_QUEUE_DESTROYED, "the queue is no more");
	nnhal_burst_unref(burst);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	run_fini(&r);
}

int main(void)
{
	test_evict();
	test_udmabuf();
	test_wait();
	if (transport_sim_available()) {
		test_abandoned();
		test_abandoned_buffer();
		test_abandoned_fenced();
		test_new_execution();
		test_async();
		test_burst();
	}
	return tap_done();
}
