// SPDX-License-Identifier: MIT
/*
 * The thread of a burst server: takes requests from one queue, puts results into the other.
 *
 * The thread spins on the request queue for a bounded time. Then it announces in the queue
 * that it sleeps and calls poll() on the socket, the client's pidfd and an eventfd of its
 * own: a doorbell, the end of the client and nnhal_burst_server_destroy() all wake it. Every
 * packet is copied out of the queue before it is parsed.
 *
 * A client can also stop the thread in the kernel: where the last reference to a file ends that the
 * client serves (FUSE), or where a file's lock is taken that it holds. There the thread is away:
 * nnhal_burst_server_destroy() does not wait for it, but leaves the server to it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "base/diag.h"
#include "base/monotonic.h"
#include "fmq/burst_executor.h"
#include "fmq/burst_link.h"
#include "fmq/burst_server.h"
#include "fmq/fmq_layout.h"

/* ---- queues and buffers ---- */

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

void burst_server_release(struct nnhal_burst_server *s)
{
	struct nnhal_fmq *requests = s->requests, *results = s->results;
	struct model_executor *executor = s->own_executor;
	struct nnhal_prepared_model *model = s->model;
	struct burst_buffers buffers = s->buffers;

	/* First of all: after a fork() on another thread the child releases what is still here. */
	s->requests = NULL;
	s->results = NULL;
	s->own_executor = NULL;
	s->model = NULL;
	memset(&s->buffers, 0, sizeof(s->buffers));
	atomic_signal_fence(memory_order_seq_cst);
	nnhal_fmq_destroy(requests);
	nnhal_fmq_destroy(results);
	free_buffers(&buffers);
	model_executor_destroy(executor);
	nnhal_prepared_model_unref(model);
}

/* ---- one request ---- */

static uint64_t micros_since(uint64_t start_ns)
{
	return (monotonic_ns() - start_ns + 999) / 1000;
}

/* Times of a successful execution: time_in_driver is from dequeue to enqueue. */
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
	/*
	 * The lock of a file that the client holds may be wanted here, too: by udmabuf, when memory
	 * is bound, or by a file system (XFS), when it is read.
	 */
	burst_server_begin_execution(s);
	if (s->own_executor)
		burst_server_leave(s);
	status = s->executor->execute(s->executor_context, &request, parsed->slots,
				      parsed->measure, s->buffers.shapes, num_shapes, timing);
	if (s->own_executor)
		burst_server_return(s);
	burst_server_end_execution(s);
	if (*num_shapes > parsed->num_outputs)
		*num_shapes = parsed->num_outputs;
	return status;
}

/* Execute a request packet. Return: number of datums of the result packet. */
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
	/* The result does not fit into the queue; this one always does. */
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

void burst_server_leave(struct nnhal_burst_server *s)
{
	pthread_mutex_lock(&s->end_lock);
	s->is_away = true;
	/* nnhal_burst_server_destroy() does not wait for ever from now on. */
	pthread_cond_broadcast(&s->end_cond);
	pthread_mutex_unlock(&s->end_lock);
}

int burst_server_return(struct nnhal_burst_server *s)
{
	bool is_abandoned;

	pthread_mutex_lock(&s->end_lock);
	s->is_away = false;
	is_abandoned = s->is_abandoned;
	pthread_cond_broadcast(&s->end_cond);
	pthread_mutex_unlock(&s->end_lock);
	return is_abandoned ? -ECANCELED : 0;
}

int burst_server_receive(struct nnhal_burst_server *s, uint32_t wanted,
			 struct link_message *message, struct link_extra *extra)
{
	int err;

	/* A client may send faster than the messages are read. */
	if (stopping(s))
		return -ECANCELED;
	burst_server_leave(s);
	err = link_receive(&s->link, wanted, message, extra);
	if (!burst_server_return(s))
		return err;
	if (!err)
		link_close_fds(extra);
	return -ECANCELED;
}

int burst_server_close_fds(struct nnhal_burst_server *s, struct link_extra *extra)
{
	burst_server_leave(s);
	link_close_fds(extra);
	return burst_server_return(s);
}

/* Messages of the client. 0 or -errno: end of the burst. */
static int drain_link(struct nnhal_burst_server *s)
{
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = burst_server_receive(s, 0, &message, &extra);
		if (err)
			return err == -EAGAIN ? 0 : err;
		err = burst_server_message(s, &message);
		if (err)
			return err;
	}
}

/* Sleep until @count datums of a queue may be moved, or until there is a message. */
static int sleep_for(struct nnhal_burst_server *s, struct nnhal_fmq *q, uint32_t count)
{
	int err;

	atomic_fetch_add_explicit(&s->sleeps, 1, memory_order_relaxed);
	/* Who sees in the queue that this thread sleeps sees that it is counted. */
	atomic_thread_fence(memory_order_release);
	err = nnhal_fmq_prepare_poll(q, count);
	if (err)
		return err < 0 ? err : 0;
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

/* What nnhal_burst_server_wait() says of a burst that has ended with an error. */
static enum nnhal_status end_status(const struct nnhal_burst_server *s, int error)
{
	switch (s->refusal) {
	case NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT:
	case NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT:
		return s->refusal;
	/* DEAD_OBJECT stands for the client here. */
	case NNHAL_STATUS_DEVICE_UNAVAILABLE:
	case NNHAL_STATUS_DEAD_OBJECT:
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	default:
		return error == -EPIPE ? NNHAL_STATUS_DEAD_OBJECT : NNHAL_STATUS_GENERAL_FAILURE;
	}
}

static void end_burst(struct nnhal_burst_server *s, int error)
{
	/* First, so that a client that waits for a result learns that none will come. */
	link_shutdown(&s->link);
	burst_server_forget_all(s);
	burst_server_release(s);
	pthread_mutex_lock(&s->end_lock);
	s->ended = true;
	s->end_status = end_status(s, error);
	pthread_cond_broadcast(&s->end_cond);
	pthread_mutex_unlock(&s->end_lock);
	burst_server_leave(s);
	link_discard(&s->link);
	link_hang_up(&s->link);
	burst_server_return(s);
}

/* Nobody uses the server after that but who frees it. */
static void finish(struct nnhal_burst_server *s)
{
	bool is_abandoned;

	pthread_mutex_lock(&s->end_lock);
	s->is_finished = true;
	is_abandoned = s->is_abandoned;
	pthread_cond_broadcast(&s->end_cond);
	pthread_mutex_unlock(&s->end_lock);
	if (is_abandoned)
		burst_server_free(s);
}

/* Wait for HELLO, attach to the queues, answer WELCOME. 0, or -errno: no burst. */
static int handshake(struct nnhal_burst_server *s)
{
	enum nnhal_status status = NNHAL_STATUS_GENERAL_FAILURE;
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = burst_server_receive(s, LINK_HELLO, &message, &extra);
		if (err == -EAGAIN)
			err = link_sleep(&s->link, POLLIN, UINT64_MAX);
		else if (err || message.type != LINK_DOORBELL)
			break;
		if (err)
			return err;
	}
	if (err)
		return err;
	if (message.type == LINK_HELLO && message.version == LINK_VERSION && extra.num_fds == 2 &&
	    !extra.is_short) {
		link_watch(&s->link, extra.pid);
		status = burst_server_attach(s, extra.fds[0], extra.fds[1], NULL);
	} else if (message.type == LINK_HELLO && extra.is_short) {
		status = NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	s->refusal = status;
	err = burst_server_close_fds(s, &extra);
	if (err)
		return err;
	memset(&message, 0, sizeof(message));
	message.type = LINK_WELCOME;
	/* configureExecutionBurst is of the HAL 1.2; the server's owner learns the status as it is. */
	message.status = nnhal_status_for_version(status, NNHAL_HAL_1_2);
	err = link_send(&s->link, &message, NULL, 0, UINT64_MAX);
	return !err && status ? -EPROTO : err;
}

void *burst_server_thread(void *data)
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
	finish(s);
	return NULL;
}
