// SPDX-License-Identifier: MIT
/*
 * Burst server: creation, waiting for its end, and destruction.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "base/thread.h"
#include "execution/prepared_model_private.h"
#include "fmq/burst_link.h"
#include "fmq/burst_server.h"
#include "fmq/fmq_layout.h"

/* How long nnhal_burst_server_destroy() waits for a thread that is away. */
#define AWAY_SECONDS	1

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

void burst_server_free(struct nnhal_burst_server *s)
{
	bool child = s->guard.page && fork_guard_in_child(&s->guard);

	burst_server_release(s);
	link_fini(&s->link);
	fork_guard_fini(&s->guard);
	if (!child) {
		/* In a child those who wait for the end are missing, and would be waited for. */
		pthread_cond_destroy(&s->end_cond);
		pthread_mutex_destroy(&s->end_lock);
		pthread_mutex_destroy(&s->lock);
	}
	free(s);
}

/* @e: the executor of the caller, if it has one. */
static enum nnhal_status read_options(struct nnhal_burst_server_options *options,
				      const struct nnhal_burst_server_options *from,
				      struct nnhal_burst_executor *e,
				      struct nnhal_prepared_model *model)
{
	static const struct nnhal_burst_server_options defaults =
		NNHAL_BURST_SERVER_OPTIONS_INIT;
	static const struct nnhal_burst_executor none;

	if (!options_read(options, from, &defaults, diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(options->diag);
	if (!model == !options->executor) {
		diag_set(options->diag, "expected either a model or an executor");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!options_read(e, options->executor, &none, execute)) {
		diag_set(options->diag, "executor of another version");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (!model && (!e->add_cache_entry || !e->remove_cache_entry ||
		       !e->is_cache_entry_present || !e->execute)) {
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
				     const struct nnhal_burst_executor *executor,
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
		burst_server_free(s);
		return burst_setup_status(err, "socket of the burst", options->diag);
	}
	spin_window_init(&s->spin, spin_time(options->spin_us, model));
	s->model = model ? nnhal_prepared_model_ref(model) : NULL;
	s->callers = *executor;
	s->executor = &s->callers;
	s->executor_context = options->executor_context;
	s->get_memories = options->get_memories;
	s->get_memories_context = options->get_memories_context;
	*server = s;
	return NNHAL_STATUS_NONE;
}

/* @channel NULL: the client sends its queues over the socket. */
static enum nnhal_status start_server(const struct nnhal_burst_channel *channel, int socket,
				      struct nnhal_prepared_model *model,
				      const struct nnhal_burst_server_options *options,
				      struct nnhal_burst_server **server)
{
	struct nnhal_burst_server_options read;
	struct nnhal_burst_executor executor;
	struct nnhal_burst_server *s = NULL;
	enum nnhal_status status;
	int err;

	*server = NULL;
	status = read_options(&read, options, &executor, model);
	if (!status)
		status = make_server(model, socket, &read, &executor, &s);
	if (status)
		return status;
	s->handshake = !channel;
	if (channel)
		status = burst_server_attach(s, channel->request_fd, channel->result_fd,
					     read.diag);
	if (!status) {
		err = thread_start(&s->thread, burst_server_thread, s);
		if (err)
			status = burst_setup_status(err, "thread of the server", read.diag);
	}
	if (status) {
		burst_server_free(s);
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
	static const struct nnhal_burst_channel none;
	struct nnhal_burst_channel read;

	if (!server)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*server = NULL;
	if (!channel || !options_read(&read, channel, &none, reserved) ||
	    read.reserved)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	return start_server(&read, read.socket, model, options, server);
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

/*
 * Wait for the thread to finish. False: it is away, and a client may keep it there for ever. Then
 * server, device burst and model are the thread's.
 */
static bool await_thread(struct nnhal_burst_server *s)
{
	pthread_t thread = s->thread;
	struct timespec until;
	bool finished;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += AWAY_SECONDS;
	pthread_mutex_lock(&s->end_lock);
	while (!s->is_finished) {
		if (!s->is_away)
			pthread_cond_wait(&s->end_cond, &s->end_lock);
		else if (pthread_cond_timedwait(&s->end_cond, &s->end_lock, &until) && s->is_away)
			break;
	}
	finished = s->is_finished;
	if (!finished) {
		/* Now: later the caller's executor may be gone. The thread holds no lock. */
		if (!s->own_executor)
			burst_server_forget_all(s);
		s->is_abandoned = true;
	}
	pthread_mutex_unlock(&s->end_lock);
	if (!finished)
		pthread_detach(thread);
	return finished;
}

void nnhal_burst_server_destroy(struct nnhal_burst_server *s)
{
	if (!s)
		return;
	if (fork_guard_in_child(&s->guard)) {
		/*
		 * The thread belongs to the parent, and the client is told nothing. A socket that
		 * stays open would hide the end of the parent from the client.
		 */
		burst_server_free(s);
		return;
	}
	atomic_store_explicit(&s->stop, true, memory_order_relaxed);
	link_stop(&s->link);
	if (!await_thread(s))
		return;
	pthread_join(s->thread, NULL);
	burst_server_free(s);
}
