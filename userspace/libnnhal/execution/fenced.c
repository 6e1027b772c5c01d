// SPDX-License-Identifier: MIT
/*
 * Fenced executions.
 *
 * No thread waits for one. It is settled by whoever first wants to know about it after its fence has
 * signalled: its callback object, or somebody who uses a buffer that it writes. If all have lost
 * interest before its end, the device's thread for asynchronous executions takes it over.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/fence_fd.h"
#include "base/hal_version.h"
#include "base/monotonic.h"
#include "base/status.h"
#include "buffer/buffer_private.h"
#include "device/async.h"
#include "device/device_private.h"
#include "execution/arguments.h"
#include "execution/execution.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "memory/binding.h"
#include "transport/transport.h"

#define KINDS	(FENCE_SYNC_FILE | FENCE_SOCKET)

struct nnhal_fenced_callback {
	/* First member. Its holds: one for all of refs together, one for each buffer, one of the thread. */
	struct buffer_writer writer;
	atomic_uint refs;
	struct bind_table *table;	/* tells a child of fork(), where the lock may be taken for ever */
	pthread_mutex_t lock;
	struct execution *e;		/* until it is over */
	bool has_ended;			/* what follows is known */
	bool is_handed;			/* the thread has @e */
	enum nnhal_status status;
	struct nnhal_timing launched;
	struct nnhal_timing fenced;
	bool measure;
	bool is_timed;			/* has a deadline or a duration */
	uint64_t launch_ns;
	int fence;			/* to measure; -1: none */
	uint32_t num_wait_for;
	int wait_for[];			/* own duplicates */
};

static enum nnhal_status options_of(struct nnhal_fenced_options *to,
				    const struct nnhal_fenced_options *from,
				    struct nnhal_execute_options *execute)
{
	static const struct nnhal_fenced_options defaults = NNHAL_FENCED_OPTIONS_INIT;

	if (!options_read(to, from, &defaults, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*execute = (struct nnhal_execute_options){
		.size = sizeof(*execute), .measure = to->measure,
		.has_deadline = to->has_deadline, .deadline_ns = to->deadline_ns,
		.has_loop_timeout = to->has_loop_timeout,
		.loop_timeout_ns = to->loop_timeout_ns, .diag = to->diag,
	};
	return NNHAL_STATUS_NONE;
}

static enum nnhal_status check_fences(const struct transport *t, const int *fds, uint32_t count,
				      struct nnhal_diag *diag)
{
	struct fence_info info;
	uint32_t i;
	int err;

	if (count > t->limits.max_in_fences) {
		diag_set(diag, "%u fences to wait for, the device takes at most %u", count,
			 t->limits.max_in_fences);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	}
	if (count && !fds) {
		diag_set(diag, "NULL pointer for the fences to wait for");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	for (i = 0; i < count; i++) {
		err = fds[i] < 0 ? -EINVAL : fence_info_read(fds[i], t->limits.fence_kinds, &info);
		if (!err && info.status >= 0)
			continue;
		diag_set(diag, "fence %u to wait for: %s", i, !err ? "it has an error" :
			 err == -EINVAL ? "not a fence for this device" : errno_text(-err));
		return status_from_errno(err ? -err : EINVAL);
	}
	return NNHAL_STATUS_NONE;
}

/* The caller could not be told of an output that does not fit. */
static enum nnhal_status check_room(const struct execution *e)
{
	const struct request_rules *rules = &e->model->rules;
	const struct resolved_arg *a;
	uint32_t i, size;

	for (i = 0; i < rules->num_outputs; i++) {
		a = &e->resolved[rules->num_inputs + i];
		if (a->omitted || e->pools[a->pool].buffer || !rules->outputs[i].element_size)
			continue;
		if (arg_size(&rules->outputs[i], a->dims, a->rank, &size) && size <= a->length)
			continue;
		diag_set(e->options.diag, "output %u: length %u is too small", i, a->length);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

/* ---- the end ---- */

/* Statuses of getExecutionInfo. */
static enum nnhal_status info_status(enum nnhal_status status)
{
	return status == NNHAL_STATUS_INVALID_ARGUMENT ||
	       status == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE ? NNHAL_STATUS_GENERAL_FAILURE :
								 status;
}

static bool is_timeout(int error)
{
	return error == -ETIME || error == -ETIMEDOUT;
}

/* When the last fence that was waited for signalled, and the first error of them. */
static uint64_t look_at_fences(const struct nnhal_fenced_callback *cb, int *error)
{
	uint64_t time_ns = cb->launch_ns;
	struct fence_info info;
	uint32_t i;

	*error = 0;
	for (i = 0; i < cb->num_wait_for; i++) {
		if (fence_info_read(cb->wait_for[i], KINDS, &info))
			continue;
		if (info.time_ns > time_ns)
			time_ns = info.time_ns;
		if (info.status < 0 && !*error)
			*error = info.status;
	}
	return time_ns;
}

/* The device did not end the job: a fence before it or a time was the reason. */
static enum nnhal_status unfinished_status(const struct nnhal_fenced_callback *cb,
					   enum nnhal_status status, int inherited)
{
	struct transport *t = cb->e->model->device->transport;
	const struct nnpu_args_header *header = cb->e->result->map;

	if (le16toh(header->status) != NNPU_STATUS_PENDING)
		return status;
	if (is_timeout(inherited) ||
	    (!inherited && cb->is_timed && is_timeout(t->ops->fence_error(t, cb->e->fence))))
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	return status;
}

/* Its fence has signalled, or waiting for it failed with @error. Caller holds the lock. */
static void end(struct nnhal_fenced_callback *cb, int error)
{
	struct execution *e = cb->e;
	struct outcome out = execution_end(e, execution_take_result(e, error));
	uint64_t exec_ns = le64toh(((const struct nnpu_args_header *)e->result->map)->exec_ns);
	struct fence_info info = { .time_ns = 0 };
	uint64_t ready_ns;
	int inherited;

	ready_ns = look_at_fences(cb, &inherited);
	cb->status = out.status;
	if (out.status)
		cb->status = info_status(unfinished_status(cb, out.status, inherited));
	if (!cb->status && cb->measure) {
		if (cb->fence >= 0)
			fence_info_read(cb->fence, KINDS, &info);
		if (!info.time_ns)
			info.time_ns = monotonic_ns();
		if (ready_ns > info.time_ns)
			ready_ns = info.time_ns;
		timing_of(&cb->launched, cb->launch_ns, info.time_ns, exec_ns);
		timing_of(&cb->fenced, ready_ns, info.time_ns, exec_ns);
	}
	cb->has_ended = true;
	if (cb->is_handed)
		return;
	cb->e = NULL;
	execution_done(e);
}

static bool has_signalled(const struct nnhal_fenced_callback *cb)
{
	struct transport *t = cb->e->model->device->transport;
	uint32_t first;
	int err = t->ops->wait(t, &cb->e->fence, 1, 0, &first);

	return !err || err == -ENODEV;
}

/* In a child of fork() nothing is settled: the parent's device is at work. */
static void settle(struct buffer_writer *writer)
{
	struct nnhal_fenced_callback *cb = (struct nnhal_fenced_callback *)writer;

	if (!bind_table_is_own(cb->table))
		return;
	pthread_mutex_lock(&cb->lock);
	if (!cb->has_ended && has_signalled(cb))
		end(cb, 0);
	pthread_mutex_unlock(&cb->lock);
}

static void callback_free(struct buffer_writer *writer)
{
	struct nnhal_fenced_callback *cb = (struct nnhal_fenced_callback *)writer;
	uint32_t i;

	for (i = 0; i < cb->num_wait_for; i++)
		close(cb->wait_for[i]);
	if (cb->fence >= 0)
		close(cb->fence);
	if (bind_table_is_own(cb->table))
		pthread_mutex_destroy(&cb->lock);
	bind_table_unref(cb->table);
	free(cb);
}

/* On the waiter thread. */
static bool complete(struct async_job *job, int error)
{
	struct execution *e = (struct execution *)job;
	struct nnhal_fenced_callback *cb = e->context;

	pthread_mutex_lock(&cb->lock);
	if (!cb->has_ended)
		end(cb, error);
	cb->e = NULL;
	pthread_mutex_unlock(&cb->lock);
	execution_done(e);
	buffer_writer_put(&cb->writer);
	return true;
}

/* Nobody is going to ask, but buffers and memory have to be released when it has ended. */
static void hand_over(struct nnhal_fenced_callback *cb)
{
	struct nnhal_device *device;
	struct transport *t;
	uint32_t first;

	if (!bind_table_is_own(cb->table))
		return;
	pthread_mutex_lock(&cb->lock);
	if (!cb->has_ended) {
		device = cb->e->model->device;
		t = device->transport;
		if (!async_start(device->async)) {
			cb->is_handed = true;
			atomic_fetch_add_explicit(&cb->writer.holds, 1, memory_order_relaxed);
			cb->e->context = cb;
			cb->e->job.fence = cb->e->fence;
			cb->e->job.complete = complete;
			async_add(device->async, &cb->e->job);
		} else {
			/* Without a thread there is nobody else. */
			end(cb, t->ops->wait(t, &cb->e->fence, 1, -1, &first));
		}
	}
	pthread_mutex_unlock(&cb->lock);
}

/* ---- the beginning ---- */

static int callback_create(const struct nnhal_fenced_options *o, struct bind_table *table,
			   const int *wait_for, uint32_t count, uint64_t launch_ns,
			   struct nnhal_fenced_callback **result)
{
	struct nnhal_fenced_callback *cb = calloc(1, sizeof(*cb) + count * sizeof(*wait_for));

	if (!cb)
		return -ENOMEM;
	atomic_init(&cb->writer.holds, 1);
	cb->writer.settle = settle;
	cb->writer.free = callback_free;
	atomic_init(&cb->refs, 1);
	cb->table = bind_table_ref(table);
	pthread_mutex_init(&cb->lock, NULL);
	cb->status = NNHAL_STATUS_GENERAL_FAILURE;
	cb->launched = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	cb->fenced = cb->launched;
	cb->measure = o->measure == NNHAL_MEASURE_YES;
	cb->is_timed = o->has_deadline || o->has_duration;
	cb->launch_ns = launch_ns;
	cb->fence = -1;
	for (; cb->num_wait_for < count; cb->num_wait_for++) {
		int fd = fcntl(wait_for[cb->num_wait_for], F_DUPFD_CLOEXEC, 0);

		if (fd < 0) {
			callback_free(&cb->writer);
			return -EMFILE;
		}
		cb->wait_for[cb->num_wait_for] = fd;
	}
	*result = cb;
	return 0;
}

static bool has_bounce(const struct execution *e)
{
	uint32_t i;

	for (i = 0; i < e->num_pools; i++)
		if (e->bindings[i] && e->bindings[i]->has_bounce)
			return true;
	return false;
}

/* Wait for the fences in the process. */
static enum nnhal_status wait_for_fences(const struct nnhal_fenced_callback *cb,
					 const struct execution *e)
{
	uint64_t until = deadline_for_device(e->options.has_deadline, e->options.deadline_ns);
	uint64_t now, left;
	uint32_t i;
	int error;

	for (i = 0; i < cb->num_wait_for; i++) {
		now = monotonic_ns();
		left = !until ? 0 : until > now ? (until - now) / 1000000 + 1 : 0;
		switch (nnhal_fence_wait(cb->wait_for[i], !until ? -1 :
					 left < INT_MAX ? (int)left : INT_MAX)) {
		case NNHAL_FENCE_SIGNALED:
			break;
		case NNHAL_FENCE_ACTIVE:
			return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
		default:
			look_at_fences(cb, &error);
			return is_timeout(error) ? NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT :
						   NNHAL_STATUS_GENERAL_FAILURE;
		}
	}
	return NNHAL_STATUS_NONE;
}

/*
 * Memory that the device cannot reach is copied before and after the run. The caller reads its outputs
 * after the fence without a call into the library, which could copy them then. So the run ends before
 * the launch returns, without a fence. A device that needs synchronisation reaches no memory of callers,
 * so all its runs but those whose arguments are buffers are of this kind.
 */
static enum nnhal_status run_now(struct nnhal_fenced_callback *cb, uint64_t duration_ns)
{
	struct execution *e = cb->e;
	struct transport *t = e->model->device->transport;
	enum nnhal_status status = wait_for_fences(cb, e);
	uint32_t first;

	if (!status)
		status = execution_fill(e);
	if (!status) {
		e->duration_ns = duration_ns;
		status = execution_submit(e);
	}
	if (status) {
		execution_fail(e, status);
		return status;
	}
	end(cb, t->ops->wait(t, &e->fence, 1, -1, &first));
	return cb->status;
}

/* Outputs in buffers are what this run writes from now on. */
static void begin_buffers(struct nnhal_fenced_callback *cb, struct execution *e)
{
	const struct request_rules *rules = &e->model->rules;
	struct resolved_pool *pool;
	struct resolved_arg *a;
	struct shape shape;
	uint32_t i;

	for (i = 0; i < rules->num_outputs; i++) {
		a = &e->resolved[rules->num_inputs + i];
		if (a->omitted || !e->pools[a->pool].buffer)
			continue;
		pool = &e->pools[a->pool];
		shape.rank = a->rank;
		memcpy(shape.dims, a->dims, sizeof(shape.dims));
		pool->writer = &cb->writer;
		buffer_begin(pool->buffer, pool->memory, &shape, &cb->writer);
	}
}

/* The fence for the caller. 0 is no good number: the HAL reads it as none. */
static int give_fence(struct nnhal_fenced_callback *cb, int *result)
{
	struct transport *t = cb->e->model->device->transport;
	int fd, err = t->ops->fence_export(t, cb->e->fence, &fd);

	if (err)
		return err;
	if (fd && !cb->measure) {
		*result = fd;
		return 0;
	}
	*result = fcntl(fd, F_DUPFD_CLOEXEC, 1);
	err = *result < 0 ? -errno : 0;
	/* It knows when it signalled. */
	if (cb->measure)
		cb->fence = fd;
	else
		close(fd);
	return err;
}

static enum nnhal_status run_behind(struct nnhal_fenced_callback *cb, uint64_t duration_ns,
				    int *sync_fence)
{
	struct execution *e = cb->e;
	struct nnhal_diag *diag = e->options.diag;
	enum nnhal_status status;
	int err;

	/* Nothing is copied; files that have shrunk are found here. */
	status = execution_fill(e);
	if (status) {
		execution_fail(e, status);
		return status;
	}
	e->wait_for = cb->wait_for;
	e->num_wait_for = cb->num_wait_for;
	e->duration_ns = duration_ns;
	status = execution_submit(e);
	if (status) {
		execution_fail(e, status);
		return status;
	}
	e->options.diag = NULL;
	begin_buffers(cb, e);
	err = give_fence(cb, sync_fence);
	if (!err)
		return NNHAL_STATUS_NONE;
	/* It runs all the same. */
	diag_set(diag, "descriptor of a fence: %s", errno_text(-err));
	*sync_fence = -1;
	hand_over(cb);
	return status_from_errno(-err);
}

static enum nnhal_status launch(struct execution *e, const struct nnhal_fenced_options *o,
				const int *wait_for, uint32_t count, uint64_t launch_ns,
				int *sync_fence, struct nnhal_fenced_callback **callback)
{
	uint64_t duration_ns = deadline_for_device(o->has_duration, o->duration_ns);
	struct nnhal_fenced_callback *cb;
	enum nnhal_status status = check_room(e);
	int err = 0;

	/* No time at all is less than none of the device. */
	if (o->has_duration && !duration_ns && o->duration_ns < INT64_MAX)
		duration_ns = 1;
	if (!e->model->device->transport->limits.has_deadlines)
		duration_ns = 0;
	if (!status && !e->preset) {
		err = callback_create(o, e->model->device->table, wait_for, count, launch_ns,
				      &cb);
		if (err)
			diag_set(o->diag, "resources of an execution: %s", errno_text(-err));
	}
	if (status || e->preset || err) {
		if (!status)
			status = err ? status_from_errno(-err) : e->preset;
		execution_fail(e, status);
		return status;
	}
	cb->e = e;
	status = has_bounce(e) ? run_now(cb, duration_ns) :
				 run_behind(cb, duration_ns, sync_fence);
	if (status)
		buffer_writer_put(&cb->writer);
	else
		*callback = cb;
	return status;
}

static enum nnhal_status
execute_fenced(struct nnhal_prepared_model *model, const struct nnhal_request *request,
	       struct nnhal_bound_request *bound, const int *wait_for, uint32_t num_wait_for,
	       const struct nnhal_fenced_options *options, int *sync_fence,
	       struct nnhal_fenced_callback **callback)
{
	struct nnhal_execute_options execute;
	struct nnhal_fenced_options o;
	uint64_t launch_ns = monotonic_ns();
	struct request_rules rules;
	enum nnhal_status status;
	struct execution *e;

	if (sync_fence)
		*sync_fence = -1;
	if (callback)
		*callback = NULL;
	if (!sync_fence || !callback || options_of(&o, options, &execute))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(o.diag);
	if (!model || !request) {
		diag_set(o.diag, "NULL pointer for model or request");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (hal_version_of(request->hal_version) != NNHAL_HAL_1_3) {
		diag_set(o.diag, "fenced executions do not exist before HAL 1.3");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	status = check_fences(model->device->transport, wait_for, num_wait_for, o.diag);
	if (status)
		return status;
	rules = model->rules;
	rules.allow_unspecified_output = false;
	rules.allow_early_input = true;
	status = execution_begin(model, request, bound, &execute, &rules, &e);
	if (status)
		return status;
	return launch(e, &o, wait_for, num_wait_for, launch_ns, sync_fence, callback);
}

enum nnhal_status
nnhal_prepared_model_execute_fenced(struct nnhal_prepared_model *model,
				    const struct nnhal_request *request, const int *wait_for,
				    uint32_t num_wait_for,
				    const struct nnhal_fenced_options *options, int *sync_fence,
				    struct nnhal_fenced_callback **callback)
{
	return execute_fenced(model, request, NULL, wait_for, num_wait_for, options, sync_fence,
			      callback);
}

enum nnhal_status
nnhal_bound_request_execute_fenced(struct nnhal_bound_request *bound, const int *wait_for,
				   uint32_t num_wait_for,
				   const struct nnhal_fenced_options *options, int *sync_fence,
				   struct nnhal_fenced_callback **callback)
{
	return execute_fenced(bound ? bound->model : NULL, bound ? &bound->request : NULL, bound,
			      wait_for, num_wait_for, options, sync_fence, callback);
}

/* ---- the callback object ---- */

enum nnhal_status
nnhal_fenced_callback_get_execution_info(struct nnhal_fenced_callback *cb,
					 struct nnhal_timing *launched,
					 struct nnhal_timing *fenced)
{
	enum nnhal_status status;

	if (!cb)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (!bind_table_is_own(cb->table)) {
		if (launched)
			*launched = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
		if (fenced)
			*fenced = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	}
	settle(&cb->writer);
	pthread_mutex_lock(&cb->lock);
	status = cb->status;
	if (launched)
		*launched = cb->launched;
	if (fenced)
		*fenced = cb->fenced;
	pthread_mutex_unlock(&cb->lock);
	return status;
}

struct nnhal_fenced_callback *nnhal_fenced_callback_ref(struct nnhal_fenced_callback *cb)
{
	atomic_fetch_add_explicit(&cb->refs, 1, memory_order_relaxed);
	return cb;
}

void nnhal_fenced_callback_unref(struct nnhal_fenced_callback *cb)
{
	if (!cb || atomic_fetch_sub_explicit(&cb->refs, 1, memory_order_acq_rel) != 1)
		return;
	settle(&cb->writer);
	hand_over(cb);
	buffer_writer_put(&cb->writer);
}
