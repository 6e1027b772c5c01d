// SPDX-License-Identifier: MIT
/*
 * Burst server: a thread that executes what comes through a queue.
 *
 * The thread looks at the request queue for a bounded time, then announces its sleep
 * in the queue and sleeps in poll() on the socket, the client's pidfd and an eventfd
 * of its own, so a doorbell, the client's end and nnhal_burst_server_destroy() all
 * wake it. It waits nowhere else for the client. Every packet is copied out of the
 * queue before it is looked at.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "execution/prepared_model_private.h"
#include "fmq/burst_executor.h"
#include "fmq/burst_link.h"
#include "fmq/burst_server.h"
#include "fmq/fmq_layout.h"

enum nnhal_status burst_setup_status(int error, const char *what, struct nnhal_diag *diag)
{
	diag_set(diag, "%s: %s", what, errno_text(-error));
	switch (error) {
	case -ENOMEM:
	case -EAGAIN:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	case -EMFILE:
	case -ENFILE:
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	default:
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
}

/* ---- one request ---- */

static uint64_t micros_since(uint64_t start_ns)
{
	return (monotonic_ns() - start_ns + 999) / 1000;
}

/* Times of an execution that ended well: in the driver is from dequeue to enqueue. */
static void complete_timing(struct nnhal_timing *timing, int32_t measure, uint64_t start_ns)
{
	uint64_t elapsed;

	if (measure != NNHAL_MEASURE_YES) {
		timing->time_on_device = NNHAL_NO_TIMING;
		timing->time_in_driver = NNHAL_NO_TIMING;
	} else if (timing->time_in_driver != NNHAL_NO_TIMING) {
		elapsed = micros_since(start_ns);
		if (elapsed > timing->time_in_driver)
			timing->time_in_driver = elapsed;
	}
}

static enum nnhal_status execute_parsed(struct nnhal_burst_server *s, uint32_t *num_shapes,
					struct nnhal_timing *timing)
{
	const struct nnhal_burst_parsed_request *parsed = &s->buffers.parsed;
	const struct nnhal_request request = {
		.hal_version = NNHAL_HAL_1_2,
		.num_inputs = parsed->num_inputs,
		.num_outputs = parsed->num_outputs,
		.num_pools = parsed->num_pools,
		.inputs = parsed->arguments,
		.outputs = parsed->arguments + parsed->num_inputs,
	};
	enum nnhal_status status;

	status = burst_server_fetch(s);
	if (status)
		return status;
	pthread_mutex_lock(&s->lock);
	status = s->executor->execute(s->executor_context, &request, parsed->slots,
				      parsed->measure, s->buffers.shapes, num_shapes, timing);
	pthread_mutex_unlock(&s->lock);
	if (*num_shapes > parsed->num_outputs)
		*num_shapes = parsed->num_outputs;
	return status;
}

/* Turn a request packet into a result packet; its datums. */
static uint32_t process(struct nnhal_burst_server *s, uint32_t count)
{
	struct nnhal_timing timing = { NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	uint32_t room = nnhal_fmq_capacity(s->results), num_shapes = 0;
	uint64_t start = monotonic_ns();
	struct burst_buffers *b = &s->buffers;
	enum nnhal_status status;
	int size;

	if (nnhal_burst_parse_request(b->request, count, &b->parsed)) {
		status = NNHAL_STATUS_GENERAL_FAILURE;
	} else if (b->parsed.measure != NNHAL_MEASURE_NO &&
		   b->parsed.measure != NNHAL_MEASURE_YES) {
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	} else {
		status = execute_parsed(s, &num_shapes, &timing);
		complete_timing(&timing, b->parsed.measure, start);
	}
	size = nnhal_burst_serialize_result(status, b->shapes, num_shapes, &timing, b->result,
					    room);
	/* More than the queue can ever hold: this always fits. */
	if (size < 0)
		size = nnhal_burst_serialize_result(NNHAL_STATUS_GENERAL_FAILURE, NULL, 0, NULL,
						    b->result, room);
	return (uint32_t)size;
}

/* ---- the thread ---- */

static bool stopping(struct nnhal_burst_server *s)
{
	return atomic_load_explicit(&s->stop, memory_order_relaxed);
}

/* Messages of the client. 0 or -errno: end of the burst. */
static int drain_link(struct nnhal_burst_server *s)
{
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = link_receive(&s->link, &message, &extra);
		if (err)
			return err == -EAGAIN ? 0 : err;
		err = burst_server_message(s, &message, &extra);
		if (err)
			return err;
	}
}

/* Sleep until @count datums of a queue may be moved, or until there is a message. */
static int sleep_for(struct nnhal_burst_server *s, struct nnhal_fmq *q, uint32_t count)
{
	int err = nnhal_fmq_prepare_poll(q, count);

	if (err)
		return err < 0 ? err : 0;
	atomic_fetch_add_explicit(&s->sleeps, 1, memory_order_relaxed);
	err = link_sleep(&s->link, POLLIN, UINT64_MAX);
	nnhal_fmq_cancel_poll(q);
	return err ? err : drain_link(s);
}

/* Datums of the next request, or -errno: end of the burst. */
static int next_request(struct nnhal_burst_server *s)
{
	int count, err;

	for (;;) {
		if (stopping(s))
			return -ECANCELED;
		spin_for_data(&s->spin, s->requests, &s->stop);
		count = nnhal_fmq_read_packet(s->requests, s->buffers.request,
					      nnhal_fmq_capacity(s->requests));
		if (count != -EAGAIN)
			return count;
		err = sleep_for(s, s->requests, 1);
		if (err)
			return err;
	}
}

/* The queue may be full if the client does not take its results. 0 or -errno. */
static int send_result(struct nnhal_burst_server *s, uint32_t count)
{
	int err;

	for (;;) {
		err = nnhal_fmq_write(s->results, s->buffers.result, count);
		if (err != -EAGAIN)
			return err;
		if (stopping(s))
			return -ECANCELED;
		err = sleep_for(s, s->results, count);
		if (err)
			return err;
	}
}

static void free_buffers(struct burst_buffers *b)
{
	free(b->request);
	free(b->result);
	free(b->parsed.arguments);
	free(b->parsed.dimensions);
	free(b->parsed.slots);
	free(b->shapes);
	free(b->missing);
	free(b->memories);
	memset(b, 0, sizeof(*b));
}

static void release(struct nnhal_burst_server *s)
{
	struct nnhal_fmq *requests = s->requests, *results = s->results;

	s->requests = NULL;
	s->results = NULL;
	nnhal_fmq_destroy(requests);
	nnhal_fmq_destroy(results);
	free_buffers(&s->buffers);
	model_executor_destroy(s->own_executor);
	s->own_executor = NULL;
	nnhal_prepared_model_unref(s->model);
	s->model = NULL;
}

static void end_burst(struct nnhal_burst_server *s, int error)
{
	/* First of all: whoever waits for a result learns that none will come. */
	link_hang_up(&s->link);
	burst_server_forget_all(s);
	release(s);
	pthread_mutex_lock(&s->end_lock);
	s->ended = true;
	s->end_status = error == -EPIPE ? NNHAL_STATUS_DEAD_OBJECT
					: NNHAL_STATUS_GENERAL_FAILURE;
	pthread_cond_broadcast(&s->end_cond);
	pthread_mutex_unlock(&s->end_lock);
}

static int handshake(struct nnhal_burst_server *s);

static void *server_thread(void *data)
{
	struct nnhal_burst_server *s = data;
	int n = s->handshake ? handshake(s) : 0;

	while (!n) {
		n = next_request(s);
		if (n < 0)
			break;
		n = send_result(s, process(s, (uint32_t)n));
		if (!n)
			n = s->link_error;
	}
	end_burst(s, n);
	return NULL;
}

/* ---- setting up ---- */

static bool alloc_buffers(struct burst_buffers *b, uint32_t requests, uint32_t results)
{
	b->request = calloc(requests, sizeof(*b->request));
	b->result = calloc(results, sizeof(*b->result));
	b->parsed.arguments = calloc(requests, sizeof(*b->parsed.arguments));
	b->parsed.dimensions = calloc(requests, sizeof(*b->parsed.dimensions));
	b->parsed.slots = calloc(requests, sizeof(*b->parsed.slots));
	b->shapes = calloc(requests, sizeof(*b->shapes));
	b->missing = calloc(NNHAL_BURST_MAX_SLOTS, sizeof(*b->missing));
	b->memories = calloc(NNHAL_BURST_MAX_SLOTS, sizeof(*b->memories));
	return b->request && b->result && b->parsed.arguments && b->parsed.dimensions &&
	       b->parsed.slots && b->shapes && b->missing && b->memories;
}

static enum nnhal_status attach_queue(struct nnhal_burst_server *s, int fd, uint32_t datum_size,
				      uint32_t role, const char *what, struct nnhal_fmq **q,
				      struct nnhal_diag *diag)
{
	int err = nnhal_fmq_attach(fd, datum_size, role, q);

	if (err)
		return burst_setup_status(err, what, diag);
	if (nnhal_fmq_capacity(*q) < NNHAL_BURST_MIN_DATUMS ||
	    nnhal_fmq_capacity(*q) > NNHAL_BURST_MAX_DATUMS) {
		diag_set(diag, "%s: %u datums, expected %u to %u", what, nnhal_fmq_capacity(*q),
			 NNHAL_BURST_MIN_DATUMS, NNHAL_BURST_MAX_DATUMS);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	nnhal_fmq_set_doorbell(*q, s->link.socket);
	return NNHAL_STATUS_NONE;
}

enum nnhal_status burst_server_attach(struct nnhal_burst_server *s, int request_fd,
				      int result_fd, struct nnhal_diag *diag)
{
	enum nnhal_status status;

	status = attach_queue(s, request_fd, sizeof(struct nnhal_burst_request_datum),
			      NNHAL_FMQ_READER, "request queue", &s->requests, diag);
	if (status)
		return status;
	status = attach_queue(s, result_fd, sizeof(struct nnhal_burst_result_datum),
			      NNHAL_FMQ_WRITER, "result queue", &s->results, diag);
	if (status)
		return status;
	if (!alloc_buffers(&s->buffers, nnhal_fmq_capacity(s->requests),
			   nnhal_fmq_capacity(s->results)))
		return burst_setup_status(-ENOMEM, "buffers", diag);
	if (!s->model)
		return NNHAL_STATUS_NONE;
	status = model_executor_create(s->model, nnhal_fmq_capacity(s->requests), diag,
				       &s->own_executor);
	s->executor = &model_executor_ops;
	s->executor_context = s->own_executor;
	return status;
}

/* HELLO of the client and what becomes of it. 0 or -errno: no burst. */
static int handshake(struct nnhal_burst_server *s)
{
	enum nnhal_status status = NNHAL_STATUS_GENERAL_FAILURE;
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = link_receive(&s->link, &message, &extra);
		if (err == -EAGAIN)
			err = link_sleep(&s->link, POLLIN, UINT64_MAX);
		else if (err || message.type != LINK_DOORBELL)
			break;
		if (err)
			return err;
	}
	if (err)
		return err;
	if (message.type == LINK_HELLO && message.version == LINK_VERSION && extra.num_fds == 2) {
		link_watch(&s->link, extra.pid);
		status = burst_server_attach(s, extra.fds[0], extra.fds[1], NULL);
	}
	link_close_fds(&extra);
	memset(&message, 0, sizeof(message));
	message.type = LINK_WELCOME;
	message.status = status;
	err = link_send(&s->link, &message, NULL, 0, true);
	return !err && status ? -EPROTO : err;
}

static int start_thread(struct nnhal_burst_server *s)
{
	sigset_t all, old;
	int err;

	/* Signals are for the program's own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&s->thread, NULL, server_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static void init_sync(struct nnhal_burst_server *s)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->end_lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->end_cond, &attr);
	pthread_condattr_destroy(&attr);
}

static void free_server(struct nnhal_burst_server *s)
{
	release(s);
	link_fini(&s->link);
	fork_guard_fini(&s->guard);
	pthread_cond_destroy(&s->end_cond);
	pthread_mutex_destroy(&s->end_lock);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static enum nnhal_status check_options(const struct nnhal_burst_server_options *options,
				       struct nnhal_prepared_model *model)
{
	const struct nnhal_burst_executor *e = options->executor;

	/* The first version of the structure is this one. */
	if (options->size < sizeof(*options))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(options->diag);
	if (!model == !e) {
		diag_set(options->diag, "expected either a model or an executor");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (e && (!e->add_cache_entry || !e->remove_cache_entry || !e->is_cache_entry_present ||
		  !e->execute)) {
		diag_set(options->diag, "executor lacks a function");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

static uint32_t spin_time(uint32_t spin_us, const struct nnhal_prepared_model *model)
{
	if (spin_us != UINT32_MAX)
		return spin_us;
	return model && model->preference == NNHAL_PREFER_LOW_POWER ? 0 : NNHAL_BURST_SPIN_US;
}

static enum nnhal_status make_server(struct nnhal_prepared_model *model, int socket,
				     const struct nnhal_burst_server_options *options,
				     struct nnhal_burst_server **server)
{
	struct nnhal_burst_server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return burst_setup_status(-ENOMEM, "server", options->diag);
	init_sync(s);
	err = link_init(&s->link, socket, true);
	if (!err)
		err = fork_guard_init(&s->guard);
	if (err) {
		free_server(s);
		return burst_setup_status(err, "socket of the burst", options->diag);
	}
	spin_window_init(&s->spin, spin_time(options->spin_us, model));
	s->model = model ? nnhal_prepared_model_ref(model) : NULL;
	s->executor = options->executor;
	s->executor_context = options->executor_context;
	s->get_memories = options->get_memories;
	s->get_memories_context = options->get_memories_context;
	*server = s;
	return NNHAL_STATUS_NONE;
}

/* @channel NULL: the client brings its queues itself. */
static enum nnhal_status start_server(const struct nnhal_burst_channel *channel, int socket,
				      struct nnhal_prepared_model *model,
				      const struct nnhal_burst_server_options *options,
				      struct nnhal_burst_server **server)
{
	static const struct nnhal_burst_server_options defaults =
		NNHAL_BURST_SERVER_OPTIONS_INIT;
	struct nnhal_burst_server *s = NULL;
	enum nnhal_status status;
	int err;

	*server = NULL;
	if (!options)
		options = &defaults;
	status = check_options(options, model);
	if (!status)
		status = make_server(model, socket, options, &s);
	if (status)
		return status;
	s->handshake = !channel;
	if (channel)
		status = burst_server_attach(s, channel->request_fd, channel->result_fd,
					     options->diag);
	if (!status) {
		err = start_thread(s);
		if (err)
			status = burst_setup_status(err, "thread of the server", options->diag);
	}
	if (status) {
		free_server(s);
		return status;
	}
	*server = s;
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_burst_server_create(const struct nnhal_burst_channel *channel,
					    struct nnhal_prepared_model *model,
					    const struct nnhal_burst_server_options *options,
					    struct nnhal_burst_server **server)
{
	if (!channel || !server)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return start_server(channel, channel->socket, model, options, server);
}

enum nnhal_status nnhal_burst_serve(int socket, struct nnhal_prepared_model *model,
				    const struct nnhal_burst_server_options *options,
				    struct nnhal_burst_server **server)
{
	if (!server)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return start_server(NULL, socket, model, options, server);
}

enum nnhal_status nnhal_burst_server_wait(struct nnhal_burst_server *s, uint64_t timeout_ns)
{
	uint64_t now = monotonic_ns();
	uint64_t end = timeout_ns < INT64_MAX - now ? now + timeout_ns : INT64_MAX;
	struct timespec ts = {
		.tv_sec = (time_t)(end / 1000000000u),
		.tv_nsec = (long)(end % 1000000000u),
	};
	enum nnhal_status status;
	int err = 0;

	if (!s)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (fork_guard_in_child(&s->guard))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&s->end_lock);
	while (!s->ended && !err)
		err = pthread_cond_timedwait(&s->end_cond, &s->end_lock, &ts);
	status = s->ended ? s->end_status : NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	pthread_mutex_unlock(&s->end_lock);
	return status;
}

void nnhal_burst_server_destroy(struct nnhal_burst_server *s)
{
	if (!s)
		return;
	if (fork_guard_in_child(&s->guard)) {
		/*
		 * The thread and the device are the parent's. Only what would keep the
		 * client from noticing the parent's end goes; the rest ends with the child.
		 */
		link_fini(&s->link);
		return;
	}
	atomic_store_explicit(&s->stop, true, memory_order_relaxed);
	link_stop(&s->link);
	pthread_join(s->thread, NULL);
	free_server(s);
}
