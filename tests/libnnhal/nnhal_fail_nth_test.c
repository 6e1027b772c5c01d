// SPDX-License-Identifier: MIT
/*
 * Fail system call 1, 2, 3, ... of a call of the library: ioctl(), mmap(), memfd_create(),
 * open(), poll(), the duplication of a descriptor, and what else can fail for want of
 * something. The call then succeeds all the same or reports a shortage, it leaves no mapping
 * and no descriptor behind, and all other objects of the process give right results.
 *
 * The program is linked with --wrap for the system calls. They fail only in the thread that asks
 * for it, or, for the server of a burst, only in all others. Calls that release something do not
 * fail: the kernel does not fail them either.
 *
 *   NNPU_SWEEP_ERRORS   with how many of eight errors each call fails on a hardware device
 *                       (default: ENOMEM, and another one with every second call, each with
 *                       some call)
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <drm/nnpu_accel.h>

#include "nnhal_fixture.h"
#include "system_calls.h"

/* System calls until one fails, 0: none does; how; whether one has failed; which. */
static __thread unsigned int countdown;
static __thread int error;
static __thread bool failed;
static __thread const char *failed_call;
static __thread unsigned long failed_request;
/* QUEUE_CREATE says that the device has no queues for this thread. */
static __thread bool no_queues;
/* Waits for fences that fail in any thread. */
static atomic_int waits_to_fail;
/* Mappings made less mappings released, by the library in any thread. */
static atomic_int mappings;

/* System calls until one fails in a thread that is not this one; how; whether one has. */
static atomic_int countdown_others;
static atomic_int error_others;
static atomic_bool failed_other;
static __thread bool is_caller;

static bool fails_here(void)
{
	if (is_caller || atomic_load(&countdown_others) <= 0)
		return false;
	if (atomic_fetch_sub(&countdown_others, 1) != 1)
		return false;
	atomic_store(&failed_other, true);
	return true;
}

static bool fails(const char *call, unsigned long request, int only)
{
	if (fails_here()) {
		errno = only ? only : atomic_load(&error_others);
		return true;
	}
	if (!countdown || --countdown)
		return false;
	failed = true;
	failed_call = call;
	failed_request = request;
	errno = only ? only : error;
	return true;
}

static bool is_release(unsigned long request)
{
	return request == DRM_IOCTL_GEM_CLOSE || request == DRM_IOCTL_SYNCOBJ_DESTROY ||
	       request == DRM_IOCTL_NNPU_SLOT_UNBIND || request == DRM_IOCTL_NNPU_QUEUE_DESTROY ||
	       request == DRM_IOCTL_NNPU_PROGRAM_UNLOAD;
}

static bool waits(unsigned long request)
{
	return request == DRM_IOCTL_SYNCOBJ_WAIT || request == DRM_IOCTL_NNPU_QUEUE_WAIT;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (no_queues && request == DRM_IOCTL_NNPU_QUEUE_CREATE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	/* Of what a wait fails with, only a shortage of memory and a signal pass. */
	if (!is_release(request) &&
	    fails("ioctl", request, waits(request) && error != EINTR ? ENOMEM : 0))
		return -1;
	if (request == DRM_IOCTL_SYNCOBJ_WAIT && atomic_load(&waits_to_fail) > 0) {
		atomic_fetch_sub(&waits_to_fail, 1);
		errno = ENOMEM;
		return -1;
	}
	return __real_ioctl(fd, request, arg);
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	return fails("open", 0, EMFILE) ? -1 : __real_open(path, flags, mode);
}

int __wrap_fcntl(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	/* The others fail only if the descriptor is none. */
	if (cmd == F_DUPFD_CLOEXEC && fails("dup", 0, EMFILE))
		return -1;
	return __real_fcntl(fd, cmd, arg);
}

int __wrap_memfd_create(const char *name, unsigned int flags)
{
	return fails("memfd_create", 0, EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int __wrap_madvise(void *map, size_t size, int advice)
{
	return fails("madvise", 0, 0) ? -1 : __real_madvise(map, size, advice);
}

int __wrap_eventfd(unsigned int count, int flags)
{
	return fails("eventfd", 0, EMFILE) ? -1 : __real_eventfd(count, flags);
}

int __wrap_poll(struct pollfd *fds, nfds_t count, int timeout)
{
	return fails("poll", 0, ENOMEM) ? -1 : __real_poll(fds, count, timeout);
}

int __wrap_ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	return fails("ppoll", 0, ENOMEM) ? -1 : __real_ppoll(fds, count, timeout, mask);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*function)(void *), void *data)
{
	return fails("pthread_create", 0, EAGAIN) ? EAGAIN
						  : __real_pthread_create(thread, attr, function,
									  data);
}

void *__wrap_mmap(void *map, size_t size, int prot, int flags, int fd, off_t offset)
{
	if (fails("mmap", 0, ENOMEM))
		return MAP_FAILED;
	map = __real_mmap(map, size, prot, flags, fd, offset);
	if (map != MAP_FAILED)
		atomic_fetch_add(&mappings, 1);
	return map;
}

int __wrap_munmap(void *map, size_t size)
{
	atomic_fetch_sub(&mappings, 1);
	return __real_munmap(map, size);
}

static bool is_drm(void)
{
	return !strncmp(test_device_spec(), "drm", 3);
}

static unsigned int count_fds(void)
{
	return count_entries("/proc/self/fd");
}

/* ---- objects that no failure of another call may touch ---- */

static struct fixture f, large, pooled;
static struct nnhal_device *device;
/*
 * Made first, so that the lowest slot, buffer and program of the context are theirs. The one with
 * slot 0 is that which goes on working without being bound again: the burst.
 */
struct bystanders {
	struct nnhal_device *device;
	struct nnhal_prepared_model *model;
	struct nnhal_burst *burst;
	struct run run, other, async;
};

/* In the context of the process's first device, and in that of @fresh. */
static struct bystanders by, by_fresh;

/* ---- callbacks ---- */

static struct callback_result result = CALLBACK_RESULT_INIT;

static bool by_init(struct bystanders *b, struct nnhal_device *d)
{
	b->device = d;
	if (nnhal_device_prepare_model_sync(d, &f.model, NULL, &b->model) ||
	    nnhal_burst_create(b->model, NULL, &b->burst))
		return false;
	run_init(&b->run, 4);
	run_init(&b->other, 4);
	run_init(&b->async, 4);
	return !nnhal_burst_execute(b->burst, &b->run.request, NULL, NULL, NULL, NULL);
}

enum way { BY_BURST, BY_CALL, BY_CALLBACK };

static bool runs(const struct bystanders *b, const struct run *r, enum way way)
{
	enum nnhal_status status;

	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	if (way == BY_BURST)
		status = nnhal_burst_execute(b->burst, &r->request, NULL, NULL, NULL, NULL);
	else if (way == BY_CALL)
		status = nnhal_prepared_model_execute_synchronously(b->model, &r->request, NULL,
								    NULL, NULL, NULL);
	else
		status = callback_wait(&result, nnhal_prepared_model_execute(b->model, &r->request,
									     NULL, callback_executed,
									     &result));
	if (status)
		tap_note("bystander: %s", nnhal_status_name((int)status));
	return !status && run_output_is_right(r, 4);
}

static bool bystanders_are_well(const struct bystanders *b)
{
	return runs(b, &b->run, BY_BURST) && runs(b, &b->other, BY_CALL) &&
	       runs(b, &b->async, BY_CALLBACK) &&
	       nnhal_device_get_status(b->device) == NNHAL_DEVICE_AVAILABLE;
}

static void by_fini(struct bystanders *b)
{
	nnhal_burst_unref(b->burst);
	nnhal_prepared_model_unref(b->model);
	run_fini(&b->run);
	run_fini(&b->other);
	run_fini(&b->async);
}

/* ---- the calls under test: arm() before, disarm() after; each undoes all it did ---- */

static unsigned int nth;

static void arm(void)
{
	failed = false;
	failed_call = NULL;
	failed_request = 0;
	countdown = nth;
}

static void disarm(void)
{
	countdown = 0;
}

static enum nnhal_status try_open(void)
{
	struct nnhal_device *d;
	enum nnhal_status status;

	arm();
	status = nnhal_device_open(test_device_spec(), &d, NULL);
	disarm();
	nnhal_device_unref(d);
	return status;
}

static enum nnhal_status try_enumerate(void)
{
	struct nnhal_device_info infos[4] = { NNHAL_DEVICE_INFO_INIT };
	enum nnhal_status status;
	uint32_t count;

	arm();
	status = nnhal_enumerate_devices(infos, 4, &count, NULL);
	disarm();
	/* A node that cannot be asked is left out; so is one that is not there. */
	return status == NNHAL_STATUS_NO_DEVICE || status == NNHAL_STATUS_NO_DRIVER
	       ? NNHAL_STATUS_NONE : status;
}

static enum nnhal_status try_memory(void)
{
	struct nnhal_memory *memory;
	enum nnhal_status status;

	arm();
	status = nnhal_memory_create(100, &memory, NULL);
	if (!status && !nnhal_memory_map(memory, NULL))
		status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	disarm();
	nnhal_memory_unref(memory);
	return status;
}

static enum nnhal_status try_supported(void)
{
	enum nnhal_status status;
	bool supported[MAX_OPERATIONS];

	arm();
	status = nnhal_device_get_supported_operations(device, &large.model, supported,
						       large.model.main.num_operations, NULL);
	disarm();
	return status;
}

static struct nnhal_prepared_model *model;

/* A device, a model and memory of its own, so that nothing is bound or kept. */
static struct nnhal_device *fresh;

/* Have those on @fresh suffered? */
static bool fresh_is_harmed;

static bool fresh_init(const char *spec, struct run *r)
{
	if (nnhal_device_open(spec, &fresh, NULL) || !by_init(&by_fresh, fresh) ||
	    nnhal_device_prepare_model_sync(fresh, &f.model, NULL, &model)) {
		printf("Bail out! device or model cannot be had\n");
		exit(1);
	}
	run_init(r, 4);
	return true;
}

static void fresh_fini(struct run *r)
{
	if (!bystanders_are_well(&by_fresh))
		fresh_is_harmed = true;
	by_fini(&by_fresh);
	run_fini(r);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(fresh);
	model = NULL;
	fresh = NULL;
}

/* On a device of its own: without room for the program it opens another context, and keeps it. */
static enum nnhal_status try_prepare(void)
{
	struct nnhal_prepared_model *prepared;
	enum nnhal_status status;
	struct run r;

	fresh_init(test_device_spec(), &r);
	arm();
	status = nnhal_device_prepare_model_sync(fresh, &large.model, NULL, &prepared);
	disarm();
	nnhal_prepared_model_unref(prepared);
	fresh_fini(&r);
	return status;
}

/* On a device whose threads have not started. */
static enum nnhal_status try_prepare_async(void)
{
	enum nnhal_status status;
	struct run r;

	fresh_init(test_device_spec(), &r);
	arm();
	status = nnhal_device_prepare_model(fresh, &large.model, NULL, callback_prepared, &result);
	disarm();
	status = callback_wait(&result, status);
	nnhal_prepared_model_unref(result.model);
	fresh_fini(&r);
	return status;
}

/* Put the arguments into a file, which is copied to a buffer of the device. */
static bool use_file(struct run *r)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_MMAP_FD, .size = 4096,
	};
	struct nnhal_memory *memory;
	char name[] = "/tmp/nnhal-test-XXXXXX";
	bool good;

	desc.fd = mkstemp(name);
	unlink(name);
	good = write(desc.fd, r->map, 4096) == 4096 &&
	       !nnhal_memory_import(&desc, &memory, NULL);
	close(desc.fd);
	if (!good)
		return false;
	nnhal_memory_unref(r->memory);
	r->memory = memory;
	r->pools[0].memory = memory;
	r->map = nnhal_memory_map(memory, NULL);
	return r->map;
}

static enum nnhal_status judge(const struct run *r, enum nnhal_status status)
{
	return !status && !run_output_is_right(r, 4) ? NNHAL_STATUS_INVALID_ARGUMENT : status;
}

/* Constants in memory: a memfd, which is bound, and a file, which is copied. */
static enum nnhal_status prepare_pooled(bool file)
{
	struct nnhal_prepared_model *prepared;
	enum nnhal_status status;
	struct run r, own;

	fresh_init(test_device_spec(), &r);
	run_init(&own, 4);
	if (file && !use_file(&own))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	/* FUSED_NONE */
	memset(own.map, 0, 4);
	pooled.pools[0] = own.memory;
	arm();
	status = nnhal_device_prepare_model_sync(fresh, &pooled.model, NULL, &prepared);
	disarm();
	if (!status) {
		status = nnhal_prepared_model_execute_synchronously(prepared, &r.request, NULL,
								    NULL, NULL, NULL);
		status = judge(&r, status);
	}
	nnhal_prepared_model_unref(prepared);
	run_fini(&own);
	fresh_fini(&r);
	return status;
}

static enum nnhal_status try_prepare_pool(void)
{
	return prepare_pooled(false);
}

static enum nnhal_status try_prepare_file(void)
{
	return prepare_pooled(true);
}

static enum nnhal_status try_status(void)
{
	enum nnhal_device_status status;

	arm();
	status = nnhal_device_get_status(device);
	disarm();
	if (status != NNHAL_DEVICE_OFFLINE)
		return NNHAL_STATUS_NONE;
	return error == ENODEV ? NNHAL_STATUS_DEVICE_UNAVAILABLE : NNHAL_STATUS_INVALID_ARGUMENT;
}

/* A dma-buf, if there is udmabuf, and else only the attempt. */
static enum nnhal_status try_dmabuf(void)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = NNHAL_MEMORY_HARDWARE_BUFFER_BLOB,
		.size = 4096,
	};
	struct udmabuf_create create = {
		.flags = UDMABUF_FLAGS_CLOEXEC, .size = (uint64_t)sysconf(_SC_PAGESIZE),
	};
	int device_fd = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	int memfd = nnhal_memfd_create("udmabuf", 4096);
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_memory *memory = NULL;
	struct run r;

	create.memfd = (uint32_t)memfd;
	desc.fd = device_fd >= 0 ? ioctl(device_fd, UDMABUF_CREATE, &create) : -1;
	if (desc.fd >= 0) {
		run_init(&r, 4);
		arm();
		status = nnhal_memory_import(&desc, &memory, NULL);
		if (!status)
			status = nnhal_memory_begin_cpu_access(memory, NNHAL_MEMORY_WRITE);
		if (!status)
			status = nnhal_memory_end_cpu_access(memory, NNHAL_MEMORY_WRITE);
		disarm();
		nnhal_memory_unref(memory);
		run_fini(&r);
		close(desc.fd);
	}
	if (device_fd >= 0)
		close(device_fd);
	close(memfd);
	return status;
}

static enum nnhal_status execute_in(bool file)
{
	struct nnhal_ext_profile_entry entries[2];
	struct nnhal_ext_profile profile = {
		.size = sizeof(profile), .entry_size = sizeof(entries[0]), .max_entries = 2,
		.entries = entries,
	};
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;
	struct run r;

	fresh_init(test_device_spec(), &r);
	if (file && !use_file(&r))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	o.profile = &profile;
	arm();
	status = nnhal_prepared_model_execute_synchronously(model, &r.request, &o, NULL, NULL,
							    NULL);
	disarm();
	status = judge(&r, status);
	fresh_fini(&r);
	return status;
}

static enum nnhal_status try_execute(void)
{
	return execute_in(false);
}

static enum nnhal_status try_execute_file(void)
{
	return execute_in(true);
}

static enum nnhal_status try_execute_async(void)
{
	enum nnhal_status status;
	struct run r;

	fresh_init(test_device_spec(), &r);
	arm();
	status = nnhal_prepared_model_execute(model, &r.request, NULL, callback_executed, &result);
	disarm();
	status = judge(&r, callback_wait(&result, status));
	fresh_fini(&r);
	return status;
}

/* The result comes from a completion queue. */
static enum nnhal_status try_execute_queued(void)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;
	struct pollfd pollfd = { .events = POLLIN };
	struct run r;

	fresh_init(test_device_spec(), &r);
	result.calls = 0;
	arm();
	status = nnhal_completion_queue_create(fresh, &o.completions, NULL);
	if (!status)
		status = nnhal_prepared_model_execute(model, &r.request, &o, callback_executed,
						      &result);
	disarm();
	pollfd.fd = nnhal_completion_queue_fd(o.completions);
	while (o.completions && !result.calls && __real_poll(&pollfd, 1, -1) == 1)
		nnhal_completion_queue_dispatch(o.completions, 1, NULL);
	if (!status)
		status = result.status;
	result.calls = 0;
	nnhal_completion_queue_destroy(o.completions);
	status = judge(&r, status);
	fresh_fini(&r);
	return status;
}

/* A chain of two. What was launched runs, whatever fails after that. */
static enum nnhal_status try_execute_fenced(void)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_fenced_callback *callbacks[2] = { NULL, NULL };
	enum nnhal_status status;
	int fences[2] = { -1, -1 };
	unsigned int i;
	struct run r;

	fresh_init(test_device_spec(), &r);
	o.measure = NNHAL_MEASURE_YES;
	arm();
	status = nnhal_prepared_model_execute_fenced(model, &r.request, NULL, 0, &o, &fences[0],
						     &callbacks[0]);
	/* Without a fence it is over: memory that cannot be bound is copied. */
	if (!status)
		status = nnhal_prepared_model_execute_fenced(model, &r.request, fences,
							     fences[0] >= 0, &o, &fences[1],
							     &callbacks[1]);
	disarm();
	for (i = 0; i < 2 && callbacks[i]; i++) {
		if ((fences[i] >= 0 && nnhal_fence_wait(fences[i], -1) != NNHAL_FENCE_SIGNALED) ||
		    nnhal_fenced_callback_get_execution_info(callbacks[i], NULL, NULL))
			status = NNHAL_STATUS_INVALID_ARGUMENT;
		nnhal_fenced_callback_unref(callbacks[i]);
		if (fences[i] >= 0)
			close(fences[i]);
	}
	status = judge(&r, status);
	fresh_fini(&r);
	return status;
}

/* ---- buffers: RELU of [n, 1] from one to another ---- */

static struct fixture open_relu;

static void make_open_relu(void)
{
	fixture_init(&open_relu);
	add_operand(&open_relu.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(0, 1));
	add_operand(&open_relu.graph, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(0, 1));
	add_operation(&open_relu.graph, NNHAL_OPERATION_RELU, OPERANDS(0), OPERANDS(1));
	fixture_finish(&open_relu, 0);
}

struct two_buffers {
	struct nnhal_prepared_model *relu;
	struct nnhal_buffer *buffers[2];
	struct nnhal_request_pool pools[2];
	struct nnhal_request_argument in, out;
	struct nnhal_request request;
	struct run run;			/* its memory: 4096 bytes */
};

static enum nnhal_status allocate_one(struct two_buffers *t, unsigned int i, uint32_t rows)
{
	static const struct nnhal_buffer_role role = { 0, 0, 1.0f };
	const uint32_t dims[] = { rows, 1 };
	struct nnhal_buffer_desc desc = { sizeof(desc), 2, dims };

	return nnhal_device_allocate(fresh, &desc, &t->relu, 1, &role, !i, &role, i, &t->buffers[i],
				     &t->pools[i].token, NULL);
}

/* @rows of the output's buffer: 0, it has to grow. */
static void two_init(struct two_buffers *t, uint32_t rows)
{
	memset(t, 0, sizeof(*t));
	fresh_init(test_device_spec(), &t->run);
	t->out.location.pool_index = 1;
	t->request = (struct nnhal_request){
		.num_inputs = 1, .num_outputs = 1, .num_pools = 2, .inputs = &t->in,
		.outputs = &t->out, .pools = t->pools,
	};
	if (nnhal_device_prepare_model_sync(fresh, &open_relu.model, NULL, &t->relu) ||
	    allocate_one(t, 0, 0) || allocate_one(t, 1, rows)) {
		printf("Bail out! buffers cannot be had\n");
		exit(1);
	}
}

static void two_fini(struct two_buffers *t)
{
	nnhal_buffer_unref(t->buffers[0]);
	nnhal_buffer_unref(t->buffers[1]);
	nnhal_prepared_model_unref(t->relu);
	fresh_fini(&t->run);
}

static enum nnhal_status try_allocate(void)
{
	struct two_buffers t;
	enum nnhal_status status;

	two_init(&t, 0);
	nnhal_buffer_unref(t.buffers[1]);
	arm();
	status = allocate_one(&t, 1, 1024);
	disarm();
	if (!status != !!t.buffers[1] || !status != !!t.pools[1].token)
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	two_fini(&t);
	return status;
}

static enum nnhal_status copy_there_and_back(bool file)
{
	static const uint32_t dims[] = { 1024, 1 };
	struct two_buffers t;
	enum nnhal_status status;
	uint8_t before[4096];

	two_init(&t, 0);
	if (file && !use_file(&t.run))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	memcpy(before, t.run.map, 4096);
	arm();
	status = nnhal_buffer_copy_from(t.buffers[0], t.run.memory, dims, 2, NULL);
	if (!status)
		status = nnhal_buffer_copy_to(t.buffers[0], t.run.memory, NULL);
	disarm();
	if (!status && memcmp(before, t.run.map, 4096))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	two_fini(&t);
	return status;
}

static enum nnhal_status try_copy(void)
{
	return copy_there_and_back(false);
}

static enum nnhal_status try_copy_file(void)
{
	return copy_there_and_back(true);
}

static enum nnhal_status try_export(void)
{
	struct two_buffers t;
	enum nnhal_status status;
	int fd;

	two_init(&t, 4);
	arm();
	status = nnhal_buffer_export(t.buffers[1], &fd, NULL);
	disarm();
	if (!status)
		close(fd);
	two_fini(&t);
	return status;
}

/*
 * The output's buffer grows. After a failure it is uninitialised, and then it works. @again: not
 * the first run, so that nothing fails before the request is looked at, and there is content.
 */
static enum nnhal_status execute_buffers(bool again)
{
	static const uint32_t few[] = { 4, 1 }, dims[] = { 2048, 1 };
	struct nnhal_buffer_state state = { .size = sizeof(state) };
	struct nnhal_memory *memory, *small;
	struct two_buffers t;
	enum nnhal_status status;

	two_init(&t, 0);
	if (nnhal_memory_create(8192, &memory, NULL) || nnhal_memory_create(16, &small, NULL))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (again &&
	    (nnhal_buffer_copy_from(t.buffers[0], small, few, 2, NULL) ||
	     nnhal_prepared_model_execute_synchronously(t.relu, &t.request, NULL, NULL, NULL, NULL)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (nnhal_buffer_copy_from(t.buffers[0], memory, dims, 2, NULL) ||
	    nnhal_buffer_get_state(t.buffers[1], &state) || state.is_initialized != again)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	arm();
	status = nnhal_prepared_model_execute_synchronously(t.relu, &t.request, NULL, NULL, NULL,
							    NULL);
	disarm();
	if (nnhal_buffer_get_state(t.buffers[1], &state) || state.is_initialized != !status)
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	if (nnhal_prepared_model_execute_synchronously(t.relu, &t.request, NULL, NULL, NULL, NULL) ||
	    nnhal_buffer_copy_to(t.buffers[1], memory, NULL))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	nnhal_memory_unref(memory);
	nnhal_memory_unref(small);
	two_fini(&t);
	return status;
}

static enum nnhal_status try_execute_buffers(void)
{
	return execute_buffers(false);
}

static enum nnhal_status try_execute_buffers_again(void)
{
	return execute_buffers(true);
}

static bool is_called_back(void)
{
	unsigned int tries, calls = 0;

	for (tries = 0; !calls && tries < 10000; tries++) {
		usleep(tries ? 1000 : 0);
		pthread_mutex_lock(&result.lock);
		calls = result.calls;
		pthread_mutex_unlock(&result.lock);
	}
	return calls;
}

/* The completion queue is gone before the execution, whose output's buffer grows, calls back. */
static enum nnhal_status try_execute_orphaned(void)
{
	static const uint32_t dims[] = { 2048, 1 };
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_memory *memory;
	struct two_buffers t;
	enum nnhal_status status;

	two_init(&t, 0);
	if (nnhal_memory_create(8192, &memory, NULL) ||
	    nnhal_buffer_copy_from(t.buffers[0], memory, dims, 2, NULL))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	arm();
	status = nnhal_completion_queue_create(fresh, &o.completions, NULL);
	if (!status)
		status = nnhal_prepared_model_execute(t.relu, &t.request, &o, callback_executed,
						      &result);
	nnhal_completion_queue_destroy(o.completions);
	if (o.completions && !is_called_back()) {
		tap_note("no callback");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	} else if (!status) {
		status = result.status;
	}
	disarm();
	result.calls = 0;
	nnhal_memory_unref(memory);
	two_fini(&t);
	return status;
}

/* A burst that sleeps for its result, so that it waits in the kernel. */
static enum nnhal_status burst_on(struct nnhal_prepared_model *m, struct run *r)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst_result taken = NNHAL_BURST_RESULT_INIT;
	struct nnhal_burst *burst;
	enum nnhal_status status;

	o.spin_us = 0;
	arm();
	status = nnhal_burst_create(m, &o, &burst);
	if (!status)
		status = nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL);
	status = judge(r, status);
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	if (!status)
		status = nnhal_burst_submit(burst, &r->request, NULL, 1, 0);
	if (!status)
		status = nnhal_burst_wait(burst, &taken, UINT64_MAX);
	if (!status)
		status = taken.status;
	if (!status)
		status = nnhal_burst_free_memory(burst, r->memory);
	disarm();
	status = judge(r, status);
	/* Whatever failed, the burst works. */
	if (burst && nnhal_burst_execute(burst, &r->request, NULL, NULL, NULL, NULL))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	nnhal_burst_unref(burst);
	return status;
}

/* In the context of the bystanders, whose slots are the lowest ones. */
static enum nnhal_status try_burst(void)
{
	enum nnhal_status status;
	struct run r;

	run_init(&r, 4);
	status = burst_on(by.model, &r);
	run_fini(&r);
	return status;
}

static enum nnhal_status try_burst_file(void)
{
	enum nnhal_status status = NNHAL_STATUS_INVALID_ARGUMENT;
	struct run r;

	run_init(&r, 4);
	if (use_file(&r))
		status = burst_on(by.model, &r);
	run_fini(&r);
	return status;
}

/* Bind a request, run it by itself and in a burst, and move its output. */
static enum nnhal_status bound_on(struct nnhal_prepared_model *m, struct run *r)
{
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_bound_request *bound = NULL;
	struct nnhal_burst *burst = NULL;
	enum nnhal_status status;

	o.spin_us = 0;
	o.flags = NNHAL_BURST_SINGLE_THREAD;
	arm();
	status = nnhal_bound_request_create(m, &r->request, NULL, &bound);
	if (!status)
		status = nnhal_bound_request_execute_synchronously(bound, NULL, NULL, NULL, NULL);
	status = judge(r, status);
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	if (!status)
		status = nnhal_burst_create(m, &o, &burst);
	if (!status)
		status = nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL);
	status = judge(r, status);
	if (!status)
		status = nnhal_bound_request_set_output(bound, 0, &r->outputs[0]);
	memset(r->map + RUN_OUTPUT(0), 0xee, 64);
	if (!status)
		status = nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL);
	disarm();
	status = judge(r, status);
	/* Whatever failed, both work. */
	if (burst && nnhal_burst_execute_bound(burst, bound, NULL, NULL, NULL, NULL))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	nnhal_burst_unref(burst);
	nnhal_bound_request_unref(bound);
	return status;
}

static enum nnhal_status try_bound(void)
{
	enum nnhal_status status;
	struct run r;

	run_init(&r, 4);
	status = bound_on(by.model, &r);
	run_fini(&r);
	return status;
}

static enum nnhal_status try_bound_file(void)
{
	enum nnhal_status status = NNHAL_STATUS_INVALID_ARGUMENT;
	struct run r;

	run_init(&r, 4);
	if (use_file(&r))
		status = bound_on(by.model, &r);
	run_fini(&r);
	return status;
}

static enum nnhal_status try_burst_noqueues(void)
{
	enum nnhal_status status;
	struct run r;

	fresh_init(is_drm() ? test_device_spec() : "sim:noqueues", &r);
	no_queues = true;
	status = burst_on(model, &r);
	no_queues = false;
	fresh_fini(&r);
	return status;
}

/* Several at once. */
static enum nnhal_status try_burst_many(void)
{
	static const uint64_t tags[] = { 1, 2 };
	struct nnhal_burst_options o = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_burst_result taken[2] = { NNHAL_BURST_RESULT_INIT };
	struct nnhal_burst *burst = NULL;
	const struct nnhal_request *requests[2];
	enum nnhal_status status;
	struct run r, second;
	uint32_t count = 0, n;

	fresh_init(test_device_spec(), &r);
	run_init(&second, 4);
	requests[0] = &r.request;
	requests[1] = &second.request;
	o.spin_us = 0;
	arm();
	status = nnhal_burst_create(model, &o, &burst);
	if (!status)
		status = nnhal_burst_submit_many(burst, requests, tags, 2, NULL, 0, &count);
	for (; count; count -= n)
		if (nnhal_burst_wait_many(burst, taken, count, count, UINT64_MAX, &n) ||
		    taken[0].status || (n == 2 && taken[1].status))
			break;
	disarm();
	if (count)
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	if (!status && !run_output_is_right(&second, 4))
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	status = judge(&r, status);
	nnhal_burst_unref(burst);
	run_fini(&second);
	fresh_fini(&r);
	return status;
}

static enum nnhal_status try_support(void)
{
	struct nnhal_ext_operation_support support[MAX_OPERATIONS] = {
		NNHAL_EXT_OPERATION_SUPPORT_INIT,
	};
	enum nnhal_status status;

	arm();
	status = nnhal_ext_get_operation_support(device, &large.model, support,
						 large.model.main.num_operations, NULL);
	disarm();
	return status;
}

static enum nnhal_status try_memfd(void)
{
	int fd;

	arm();
	fd = nnhal_memfd_create("nth", 4096);
	disarm();
	if (fd >= 0)
		close(fd);
	return fd < 0 ? NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNHAL_STATUS_NONE;
}

static enum nnhal_status try_fmq(void)
{
	struct nnhal_fmq *writer = NULL, *reader = NULL;
	char datums[48] = { 0 };
	int err;

	arm();
	err = nnhal_fmq_create(24, 16, NNHAL_FMQ_WRITER, &writer);
	if (!err)
		err = nnhal_fmq_attach(nnhal_fmq_fd(writer), 24, NNHAL_FMQ_READER, &reader);
	if (!err)
		err = nnhal_fmq_write_blocking(writer, datums, 2, 0);
	if (!err)
		err = nnhal_fmq_read_blocking(reader, datums, 2, 0);
	/* Nothing is there: it sleeps. */
	if (!err && nnhal_fmq_read_blocking(reader, datums, 1, 1000000) != -ETIME)
		err = -EINVAL;
	disarm();
	nnhal_fmq_destroy(reader);
	nnhal_fmq_destroy(writer);
	return err ? NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNHAL_STATUS_NONE;
}

/* Server and client; system calls of the server's thread do not fail. */
static enum nnhal_status try_message_queues(void)
{
	struct nnhal_burst_controller_options o = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *controller = NULL;
	struct nnhal_burst_server *server = NULL;
	enum nnhal_status status;
	struct run r;
	int sv[2];

	run_init(&r, 4);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	o.spin_us = 0;
	arm();
	status = nnhal_burst_serve(sv[1], by.model, NULL, &server);
	if (!status)
		status = nnhal_burst_connect(sv[0], &o, &controller);
	if (!status)
		status = nnhal_burst_controller_execute(controller, &r.request, NULL, NULL, NULL,
							NULL, NULL);
	if (!status)
		status = nnhal_burst_controller_free_memory(controller, r.memory);
	disarm();
	status = judge(&r, status);
	nnhal_burst_controller_destroy(controller);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	run_fini(&r);
	return status;
}

/* A server whose queues are made by the caller. */
static enum nnhal_status try_server_create(void)
{
	struct nnhal_burst_server *server = NULL;
	struct nnhal_burst_channel channel;
	struct nnhal_fmq *requests, *results;
	enum nnhal_status status;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) ||
	    nnhal_fmq_create(24, 64, NNHAL_FMQ_WRITER, &requests) ||
	    nnhal_fmq_create(24, 64, NNHAL_FMQ_READER, &results))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	channel = (struct nnhal_burst_channel){ sizeof(channel), nnhal_fmq_fd(requests), nnhal_fmq_fd(results),
						sv[1], 0 };
	arm();
	status = nnhal_burst_server_create(&channel, by.model, NULL, &server);
	if (!status)
		nnhal_burst_server_free_memory(server, 1);
	disarm();
	nnhal_burst_server_destroy(server);
	nnhal_fmq_destroy(requests);
	nnhal_fmq_destroy(results);
	close(sv[0]);
	close(sv[1]);
	return status;
}

/* The same as over message queues, but what fails is the server's. */
static enum nnhal_status try_server(void)
{
	struct nnhal_burst_controller_options o = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *controller = NULL;
	struct nnhal_burst_server *server = NULL;
	enum nnhal_status status;
	struct run r;
	int sv[2];

	run_init(&r, 4);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	o.spin_us = 0;
	atomic_store(&failed_other, false);
	atomic_store(&error_others, error);
	atomic_store(&countdown_others, (int)nth);
	status = nnhal_burst_serve(sv[1], by.model, NULL, &server);
	if (!status)
		status = nnhal_burst_connect(sv[0], &o, &controller);
	if (!status)
		status = nnhal_burst_controller_execute(controller, &r.request, NULL, NULL, NULL,
							NULL, NULL);
	atomic_store(&countdown_others, 0);
	status = judge(&r, status);
	nnhal_burst_controller_destroy(controller);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	run_fini(&r);
	failed = atomic_load(&failed_other);
	failed_call = "a call of the server";
	failed_request = 0;
	/* The server may end the burst. */
	return status == NNHAL_STATUS_DEAD_OBJECT && failed ? NNHAL_STATUS_GENERAL_FAILURE : status;
}

/* ---- the sweep ---- */

struct call {
	const char *name;
	enum nnhal_status (*attempt)(void);
	/* System calls that must have failed at least, on the two kinds of device. */
	unsigned int floor_sim;
	unsigned int floor_drm;
};

static const struct call calls[] = {
	{ "device_open", try_open, 6, 9 },
	{ "enumerate_devices", try_enumerate, 0, 2 },
	{ "memory_create and map", try_memory, 3, 3 },
	{ "get_supported_operations", try_supported, 2, 5 },
	{ "prepare_model_sync", try_prepare, 2, 5 },
	{ "prepare_model_sync with constants in memory", try_prepare_pool, 2, 4 },
	{ "prepare_model_sync with constants in a file", try_prepare_file, 2, 5 },
	{ "device_get_status", try_status, 0, 1 },
	{ "import of a dma-buf", try_dmabuf, 0, 3 },
	{ "prepare_model", try_prepare_async, 3, 6 },
	{ "execute_synchronously", try_execute, 3, 10 },
	{ "execute_synchronously on a file", try_execute_file, 3, 11 },
	{ "execute", try_execute_async, 4, 12 },
	{ "execute with a completion queue", try_execute_queued, 4, 8 },
	{ "execute_fenced, a chain", try_execute_fenced, 6, 16 },
	{ "allocate", try_allocate, 2, 3 },
	{ "copies of a buffer", try_copy, 5, 18 },
	{ "copies of a buffer and a file", try_copy_file, 5, 18 },
	{ "export of a buffer", try_export, 1, 1 },
	{ "execute_synchronously with buffers", try_execute_buffers, 7, 19 },
	{ "execute_synchronously with buffers, again", try_execute_buffers_again, 3, 8 },
	{ "execute with a completion queue that is destroyed", try_execute_orphaned, 6, 10 },
	{ "burst", try_burst, 3, 12 },
	{ "burst on a file", try_burst_file, 3, 13 },
	{ "burst without a queue", try_burst_noqueues, 2, 10 },
	{ "bound request", try_bound, 3, 12 },
	{ "bound request on a file", try_bound_file, 3, 13 },
	{ "burst, several at once", try_burst_many, 3, 12 },
	{ "get_operation_support", try_support, 2, 5 },
	{ "memfd_create", try_memfd, 1, 1 },
	{ "server of a burst on queues of the caller", try_server_create, 6, 8 },
	{ "message queue", try_fmq, 4, 4 },
	{ "burst over message queues", try_message_queues, 12, 12 },
	{ "server of a burst over message queues", try_server, 6, 8 },
};

static bool is_shortage(enum nnhal_status status)
{
	return status == NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT ||
	       status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT ||
	       status == NNHAL_STATUS_GENERAL_FAILURE;
}

/* A wait that fails does not end what it waits for. */
static bool is_wait(void)
{
	return failed_request == DRM_IOCTL_SYNCOBJ_WAIT ||
	       failed_request == DRM_IOCTL_NNPU_QUEUE_WAIT;
}

static bool is_signal(void)
{
	return error == EINTR && failed_call && !strcmp(failed_call, "ioctl");
}

static bool is_acceptable(enum nnhal_status status)
{
	if (!status)
		return true;
	if (error == ENODEV && status == NNHAL_STATUS_DEVICE_UNAVAILABLE)
		return failed;
	/* A signal is no failure at all. */
	return failed && is_shortage(status) && !is_wait() && !is_signal();
}

/*
 * Are there no more mappings and descriptors than before? A device that is released in a callback
 * is closed by a thread of the library, maybe after the call under test, so there may be fewer.
 */
static bool nothing_is_left(int maps, unsigned int fds)
{
	unsigned int tries;

	for (tries = 0; tries < 1000; tries++) {
		if (atomic_load(&mappings) <= maps && count_fds() <= fds)
			return true;
		usleep(1000);
	}
	return false;
}

/* Until the call before has nothing to close any more: who counts now counts what stays. */
static void settle(void)
{
	unsigned int fds = count_fds(), same = 0, tries;
	int maps = atomic_load(&mappings);

	for (tries = 0; same < 20 && tries < 1000; tries++) {
		usleep(1000);
		same = atomic_load(&mappings) == maps && count_fds() == fds ? same + 1 : 0;
		maps = atomic_load(&mappings);
		fds = count_fds();
	}
}

static void sweep(const struct call *c, int err)
{
	unsigned int floor = is_drm() ? c->floor_drm : c->floor_sim;
	unsigned int n, hits = 0, wrong = 0, leaks = 0, harm = 0, fds;
	enum nnhal_status status;
	int maps;

	error = err;
	/* The first attempt may make things that stay; none of its calls fails. */
	nth = 0;
	status = c->attempt();
	ok(!status && !failed, "%s without failures: %s", c->name, nnhal_status_name((int)status));
	settle();
	maps = atomic_load(&mappings);
	fds = count_fds();
	for (n = 1; n < 1000; n++) {
		nth = n;
		status = c->attempt();
		if (!is_acceptable(status)) {
			tap_note("%s: %s (0x%lx) failed, number %u: %s", c->name,
				 failed_call ? failed_call : "nothing", failed_request, n,
				 nnhal_status_name((int)status));
			wrong++;
		}
		if (!nothing_is_left(maps, fds)) {
			tap_note("%s: %s (0x%lx) failed, number %u: %d mappings, %d descriptors more",
				 c->name, failed_call ? failed_call : "nothing", failed_request, n,
				 atomic_load(&mappings) - maps, (int)(count_fds() - fds));
			leaks++;
		}
		maps = atomic_load(&mappings);
		fds = count_fds();
		if (!bystanders_are_well(&by) || fresh_is_harmed) {
			fresh_is_harmed = false;
			tap_note("%s: %s (0x%lx) failed, number %u: other objects suffer", c->name,
				 failed_call ? failed_call : "nothing", failed_request, n);
			harm++;
		}
		if (!failed)
			break;
		hits++;
	}
	ok(!wrong, "%s: success or a shortage, with %s", c->name, strerror(err));
	ok(!leaks, "%s: nothing is left behind", c->name);
	ok(!harm, "%s: all other objects give right results", c->name);
	ok(hits >= floor, "%s: %u system calls failed, at least %u expected", c->name, hits,
	   floor);
}

/* ADD and RELU with the activation, a constant, in memory. */
static void make_pooled(void)
{
	make_add_relu(&pooled);
	pooled.graph.operands[2].lifetime = NNHAL_LIFETIME_CONSTANT_REFERENCE;
	pooled.graph.operands[2].location = (struct nnhal_data_location){ 0, 0, 4 };
	pooled.model.num_pools = 1;
	pooled.model.main = pooled.graph.sg;
}

/*
 * The thread that waits for asynchronous executions goes on waiting, too; so do waits without
 * end.
 */
static void test_waits_of_threads(void)
{
	enum nnhal_status status;
	struct run r;

	fresh_init(test_device_spec(), &r);
	atomic_store(&waits_to_fail, 5);
	status = nnhal_prepared_model_execute(model, &r.request, NULL, callback_executed, &result);
	status = judge(&r, callback_wait(&result, status));
	ok(!status && !atomic_load(&waits_to_fail),
	   "waits of the library's thread failed, the execution did not: %s",
	   nnhal_status_name((int)status));
	fresh_fini(&r);
	ok(bystanders_are_well(&by) && !fresh_is_harmed, "all other objects give right results");
}

int main(void)
{
	static const int errors[] = { ENOMEM, ENOSPC, EIO, EINTR, EBUSY, EDQUOT, EUSERS, ENODEV };
	const size_t num_errors = sizeof(errors) / sizeof(errors[0]);
	const char *text = getenv("NNPU_SWEEP_ERRORS");
	size_t most = text ? strtoul(text, NULL, 10) : 0, i, k;
	bool drm = is_drm();

	is_caller = true;
	device = test_device_open();
	make_add_relu(&f);
	make_add_large(&large);
	make_pooled();
	make_open_relu();
	if (!ok(by_init(&by, device) && bystanders_are_well(&by), "bystanders"))
		return tap_done();
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		sweep(&calls[i], errors[0]);
		/* Only ioctl() fails in several ways. The next call begins with another one. */
		for (k = 1; drm && k < most && k < num_errors; k++)
			sweep(&calls[i], errors[1 + (i + k - 1) % (num_errors - 1)]);
		if (drm && !most && i % 2)
			sweep(&calls[i], errors[1 + i / 2 % (num_errors - 1)]);
	}
	if (drm)
		test_waits_of_threads();
	by_fini(&by);
	nnhal_device_unref(device);
	return tap_done();
}
