// SPDX-License-Identifier: MIT
/*
 * Client of a burst server: connecting to it, and the end.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/burst_fmq.h>
#include <nnhal/memory.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "fmq/burst_controller_private.h"
#include "fmq/burst_link.h"
#include "fmq/fmq_layout.h"

#define DEFAULT_DATUMS		1024
#define DEFAULT_TIMEOUT_MS	10000

static void free_controller(struct nnhal_burst_controller *c)
{
	uint32_t i;

	link_fini(&c->link);
	nnhal_fmq_destroy(c->requests);
	nnhal_fmq_destroy(c->results);
	for (i = 0; i < NUM_SLOTS; i++)
		nnhal_memory_unref(c->slots[i].memory);
	fork_guard_fini(&c->guard);
	pthread_mutex_destroy(&c->lock);
	free(c->request);
	free(c->result);
	free(c->shapes);
	free(c->pool_slots);
	free(c);
}

void nnhal_burst_controller_destroy(struct nnhal_burst_controller *c)
{
	if (!c)
		return;
	if (!fork_guard_in_child(&c->guard))
		link_hang_up(&c->link);
	free_controller(c);
}

static int make_queues(struct nnhal_burst_controller *c,
		       const struct nnhal_burst_controller_options *options)
{
	uint32_t requests = options->request_datums ? options->request_datums : DEFAULT_DATUMS;
	uint32_t results = options->result_datums ? options->result_datums : DEFAULT_DATUMS;
	int err;

	err = nnhal_fmq_create(sizeof(*c->request), requests, NNHAL_FMQ_WRITER, &c->requests);
	if (!err)
		err = nnhal_fmq_create(sizeof(*c->result), results, NNHAL_FMQ_READER,
				       &c->results);
	if (err)
		return err;
	nnhal_fmq_set_doorbell(c->requests, c->link.socket);
	nnhal_fmq_set_doorbell(c->results, c->link.socket);
	c->request = calloc(requests, sizeof(*c->request));
	c->pool_slots = calloc(requests, sizeof(*c->pool_slots));
	c->result = calloc(results, sizeof(*c->result));
	c->shapes = calloc(results, sizeof(*c->shapes));
	return c->request && c->pool_slots && c->result && c->shapes ? 0 : -ENOMEM;
}

static int say_hello(struct nnhal_burst_controller *c, uint64_t deadline_ns)
{
	const int fds[] = { nnhal_fmq_fd(c->requests), nnhal_fmq_fd(c->results) };
	struct link_message message;

	memset(&message, 0, sizeof(message));
	message.type = LINK_HELLO;
	message.version = LINK_VERSION;
	return link_send(&c->link, &message, fds, ARRAY_SIZE(fds), deadline_ns);
}

/* 0 and the server's status, or -errno. */
static int wait_welcome(struct nnhal_burst_controller *c, uint64_t deadline_ns, int32_t *status)
{
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = link_receive(&c->link, LINK_WELCOME, &message, &extra);
		if (err == -EAGAIN) {
			err = link_sleep(&c->link, POLLIN, deadline_ns);
			if (err)
				return err;
			continue;
		}
		if (err)
			return err;
		link_close_fds(&extra);
		if (message.type == LINK_WELCOME)
			break;
		if (message.type != LINK_DOORBELL)
			return -EPROTO;
		/* A server may send doorbells faster than they are read. */
		if (monotonic_ns() >= deadline_ns)
			return -ETIME;
	}
	link_watch(&c->link, extra.pid);
	*status = message.status;
	return 0;
}

static enum nnhal_status connect_server(struct nnhal_burst_controller *c,
					const struct nnhal_burst_controller_options *options)
{
	uint32_t timeout_ms = options->timeout_ms ? options->timeout_ms : DEFAULT_TIMEOUT_MS;
	uint64_t deadline_ns = monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	int32_t status = NNHAL_STATUS_GENERAL_FAILURE;
	int err = say_hello(c, deadline_ns);

	if (!err)
		err = wait_welcome(c, deadline_ns, &status);
	if (err == -EPIPE) {
		diag_set(options->diag, "nobody at the other end of the socket");
		return NNHAL_STATUS_DEAD_OBJECT;
	}
	if (err == -ETIME) {
		diag_set(options->diag, "no answer from the server");
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	}
	if (err)
		return burst_setup_status(err, "server of the burst", options->diag);
	if (!status)
		return NNHAL_STATUS_NONE;
	diag_set(options->diag, "the server could not make the burst: %s",
		 nnhal_status_name(status));
	if (status < 0 || (status > NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT &&
			   status != NNHAL_STATUS_DEAD_OBJECT))
		return NNHAL_STATUS_GENERAL_FAILURE;
	return (enum nnhal_status)status;
}

static enum nnhal_status read_options(struct nnhal_burst_controller_options *options,
				      const struct nnhal_burst_controller_options *from)
{
	static const struct nnhal_burst_controller_options defaults =
		NNHAL_BURST_CONTROLLER_OPTIONS_INIT;

	if (!options_read(options, from, &defaults, reserved))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(options->diag);
	if (options->reserved || (options->log_tags & ~NNHAL_LOG_ALL)) {
		diag_set(options->diag, "options: unknown fields or tags of the log");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (options->request_datums == 1 || options->result_datums == 1 ||
	    options->request_datums > NNHAL_BURST_MAX_DATUMS ||
	    options->result_datums > NNHAL_BURST_MAX_DATUMS) {
		diag_set(options->diag, "queues of %u and %u datums, expected %u to %u",
			 options->request_datums, options->result_datums,
			 NNHAL_BURST_MIN_DATUMS, NNHAL_BURST_MAX_DATUMS);
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	return NNHAL_STATUS_NONE;
}

enum nnhal_status nnhal_burst_connect(int socket,
				      const struct nnhal_burst_controller_options *options,
				      struct nnhal_burst_controller **controller)
{
	struct nnhal_burst_controller_options read;
	struct nnhal_burst_controller *c;
	enum nnhal_status status;
	int err;

	if (!controller)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*controller = NULL;
	status = read_options(&read, options);
	if (status)
		return status;
	c = calloc(1, sizeof(*c));
	if (!c)
		return burst_setup_status(-ENOMEM, "controller", read.diag);
	spin_window_init(&c->spin, read.spin_us == UINT32_MAX ? NNHAL_BURST_SPIN_US
								  : read.spin_us);
	c->execute_timeout_ns = read.execute_timeout_ns;
	vlog_init(&c->log, read.log_tags, read.log, read.log_context);
	pthread_mutex_init(&c->lock, NULL);
	err = link_init(&c->link, socket, false);
	if (err == -EINVAL || err == -EBADF) {
		diag_set(read.diag, "not a Unix socket of type SOCK_SEQPACKET");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	} else {
		if (!err)
			err = fork_guard_init(&c->guard);
		if (!err)
			err = make_queues(c, &read);
		status = err ? burst_setup_status(err, "queues of the burst", read.diag)
			     : connect_server(c, &read);
	}
	if (status) {
		free_controller(c);
		return status;
	}
	*controller = c;
	return NNHAL_STATUS_NONE;
}
