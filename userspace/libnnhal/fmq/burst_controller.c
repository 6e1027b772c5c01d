// SPDX-License-Identifier: MIT
/*
 * Client of a burst server: sends requests, waits for results, lends memory.
 *
 * One thread at a time executes; it is the one that reads the socket, so the
 * server's questions for memory are answered by whoever waits for the result. Slot
 * numbers are the client's: a memory object gets one when it is met first. When it is
 * freed its number rests until the server has said that it forgot it, so that the
 * number cannot mean two things.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/burst_fmq.h>

#include "base/base.h"
#include "base/diag.h"
#include "base/monotonic.h"
#include "fmq/burst_link.h"
#include "fmq/burst_server.h"
#include "fmq/fmq_layout.h"
#include "memory/memory_private.h"

#define DEFAULT_DATUMS		1024
#define DEFAULT_TIMEOUT_MS	10000

/* Memory objects kept; numbers beyond that let freed ones rest. */
#define MAX_MEMORIES		256
#define NUM_SLOTS		(2 * MAX_MEMORIES)

_Static_assert(NUM_SLOTS <= NNHAL_BURST_MAX_SLOTS, "the server caches as many");

enum slot_state {
	SLOT_FREE = 0,
	SLOT_USED,		/* stands for a memory object */
	SLOT_LEAVING,		/* the server has to be told */
	SLOT_RESTING,		/* told; waits for FREED */
};

struct slot {
	enum slot_state state;
	bool in_request;
	bool doomed;		/* freed while in a request */
	struct nnhal_memory *memory;
	uint64_t last_used;
};

struct nnhal_burst_controller {
	struct burst_link link;
	struct fork_guard guard;
	struct nnhal_fmq *requests;
	struct nnhal_fmq *results;
	struct spin_window spin;
	atomic_bool busy;
	atomic_bool dead;
	/* Belong to whoever set busy. */
	struct nnhal_burst_request_datum *request;
	struct nnhal_burst_result_datum *result;
	struct nnhal_output_shape *shapes;
	int32_t *pool_slots;

	pthread_mutex_t lock;	/* the slots */
	struct slot slots[NUM_SLOTS];
	uint32_t num_used;
	atomic_uint num_waiting;	/* LEAVING and RESTING; also looked at without the lock */
	uint64_t clock;
};

/* ---- slots; all under the lock ---- */

static struct slot *find_memory(struct nnhal_burst_controller *c,
				const struct nnhal_memory *memory)
{
	uint32_t i;

	for (i = 0; i < NUM_SLOTS; i++)
		if (c->slots[i].state == SLOT_USED && c->slots[i].memory == memory)
			return &c->slots[i];
	return NULL;
}

/* The slot's object, whose reference is the caller's now. */
static struct nnhal_memory *leave(struct nnhal_burst_controller *c, struct slot *slot)
{
	struct nnhal_memory *memory = slot->memory;

	slot->memory = NULL;
	slot->doomed = false;
	slot->state = SLOT_LEAVING;
	c->num_used--;
	c->num_waiting++;
	return memory;
}

static struct slot *least_recent(struct nnhal_burst_controller *c)
{
	struct slot *oldest = NULL;
	uint32_t i;

	for (i = 0; i < NUM_SLOTS; i++) {
		struct slot *slot = &c->slots[i];

		if (slot->state == SLOT_USED && !slot->in_request &&
		    (!oldest || slot->last_used < oldest->last_used))
			oldest = slot;
	}
	return oldest;
}

/* A slot for a new object; NULL: none is free for now. */
static struct slot *take_slot(struct nnhal_burst_controller *c, struct nnhal_memory *memory)
{
	struct slot *oldest;
	uint32_t i;

	if (c->num_used == MAX_MEMORIES) {
		oldest = least_recent(c);
		if (!oldest)
			return NULL;
		/* A client's own reference usually remains. */
		nnhal_memory_unref(leave(c, oldest));
	}
	for (i = 0; i < NUM_SLOTS && c->slots[i].state != SLOT_FREE; i++)
		;
	if (i == NUM_SLOTS)
		return NULL;
	c->slots[i].state = SLOT_USED;
	c->slots[i].memory = nnhal_memory_ref(memory);
	c->num_used++;
	return &c->slots[i];
}

static enum nnhal_status assign_slots(struct nnhal_burst_controller *c,
				      const struct nnhal_request_pool *pools, uint32_t num_pools)
{
	struct slot *slot;
	uint32_t i;

	c->clock++;
	for (i = 0; i < num_pools; i++) {
		slot = find_memory(c, pools[i].memory);
		if (!slot)
			slot = take_slot(c, pools[i].memory);
		if (!slot)
			return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		slot->in_request = true;
		slot->last_used = c->clock;
		c->pool_slots[i] = (int32_t)(slot - c->slots);
	}
	return NNHAL_STATUS_NONE;
}

/* The request is over: carry out what was freed meanwhile. */
static void release_slots(struct nnhal_burst_controller *c)
{
	struct nnhal_memory *gone[NUM_SLOTS];
	uint32_t i, num_gone = 0;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < NUM_SLOTS; i++) {
		if (!c->slots[i].in_request)
			continue;
		c->slots[i].in_request = false;
		if (c->slots[i].doomed)
			gone[num_gone++] = leave(c, &c->slots[i]);
	}
	pthread_mutex_unlock(&c->lock);
	while (num_gone)
		nnhal_memory_unref(gone[--num_gone]);
}

/* Tell the server what to forget, as far as the socket takes it. 0, -EAGAIN, -EPIPE. */
static int send_frees(struct nnhal_burst_controller *c)
{
	struct link_message message;
	uint32_t i = 0;
	int err = 0;

	pthread_mutex_lock(&c->lock);
	while (c->num_waiting && i < NUM_SLOTS && !err) {
		memset(&message, 0, sizeof(message));
		message.type = LINK_FREE;
		for (; i < NUM_SLOTS && message.count < LINK_MAX_SLOTS; i++)
			if (c->slots[i].state == SLOT_LEAVING)
				message.slots[message.count++] = (int32_t)i;
		if (message.count)
			err = link_send(&c->link, &message, NULL, 0, false);
		while (!err && message.count)
			c->slots[message.slots[--message.count]].state = SLOT_RESTING;
	}
	pthread_mutex_unlock(&c->lock);
	return err;
}

/* ---- messages of the server ---- */

static void freed(struct nnhal_burst_controller *c, const struct link_message *message)
{
	uint32_t i, slot;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < message->count; i++) {
		slot = (uint32_t)message->slots[i];
		if (slot < NUM_SLOTS && c->slots[slot].state == SLOT_RESTING) {
			c->slots[slot].state = SLOT_FREE;
			c->num_waiting--;
		}
	}
	pthread_mutex_unlock(&c->lock);
}

/* References of the objects behind slots; false if one stands for none. */
static bool ref_memories(struct nnhal_burst_controller *c, const struct link_message *message,
			 struct nnhal_memory **memories, uint32_t *count)
{
	bool found = true;
	uint32_t slot;

	pthread_mutex_lock(&c->lock);
	for (*count = 0; *count < message->count && found; ) {
		slot = (uint32_t)message->slots[*count];
		found = slot < NUM_SLOTS && c->slots[slot].state == SLOT_USED;
		if (found)
			memories[(*count)++] = nnhal_memory_ref(c->slots[slot].memory);
	}
	pthread_mutex_unlock(&c->lock);
	return found;
}

/* getMemories. */
static int lend_memories(struct nnhal_burst_controller *c, const struct link_message *message)
{
	struct nnhal_memory *memories[LINK_MAX_SLOTS];
	struct link_message answer;
	int fds[LINK_MAX_SLOTS];
	uint32_t i, count;
	int err;

	memset(&answer, 0, sizeof(answer));
	answer.type = LINK_MEMORIES;
	if (!ref_memories(c, message, memories, &count))
		answer.status = NNHAL_STATUS_INVALID_ARGUMENT;
	else
		answer.count = count;
	for (i = 0; i < answer.count; i++) {
		answer.memories[i].kind = memories[i]->kind;
		answer.memories[i].access = memories[i]->access;
		answer.memories[i].size = memories[i]->size;
		answer.memories[i].offset = memories[i]->offset;
		fds[i] = memories[i]->fd;
	}
	err = link_send(&c->link, &answer, fds, answer.count, true);
	if (err && err != -EPIPE && answer.count) {
		/* The descriptors could not travel (too many in flight): say so. */
		answer.status = NNHAL_STATUS_GENERAL_FAILURE;
		answer.count = 0;
		err = link_send(&c->link, &answer, NULL, 0, true);
	}
	while (count)
		nnhal_memory_unref(memories[--count]);
	return err;
}

static int drain_link(struct nnhal_burst_controller *c)
{
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = link_receive(&c->link, &message, &extra);
		if (err)
			return err == -EAGAIN ? 0 : err;
		link_close_fds(&extra);
		if (message.type == LINK_FREED)
			freed(c, &message);
		else if (message.type == LINK_GET)
			err = lend_memories(c, &message);
		else if (message.type != LINK_DOORBELL)
			err = -EPROTO;
		if (err)
			return err;
	}
}

/* ---- requests ---- */

static int take_result(struct nnhal_burst_controller *c)
{
	return nnhal_fmq_read_packet(c->results, c->result, nnhal_fmq_capacity(c->results));
}

/* Datums of the result, or -errno: end of the burst. */
static int wait_result(struct nnhal_burst_controller *c)
{
	int count, err;

	for (;;) {
		spin_for_data(&c->spin, c->results, NULL);
		count = take_result(c);
		if (count != -EAGAIN)
			return count;
		err = nnhal_fmq_prepare_poll(c->results, 1);
		if (err < 0)
			return err;
		if (err)
			continue;
		err = link_sleep(&c->link, POLLIN, UINT64_MAX);
		nnhal_fmq_cancel_poll(c->results);
		if (!err)
			err = drain_link(c);
		if (err) {
			/* A server that answered before it went has answered. */
			count = take_result(c);
			return count == -EAGAIN ? err : count;
		}
	}
}

/* The burst is over; the server learns it as well. */
static enum nnhal_status die(struct nnhal_burst_controller *c, int error)
{
	link_shutdown(&c->link);
	atomic_store_explicit(&c->dead, true, memory_order_relaxed);
	return error == -EPIPE ? NNHAL_STATUS_DEAD_OBJECT : NNHAL_STATUS_GENERAL_FAILURE;
}

/* Not for a packet: another path has to be taken. */
static enum nnhal_status check_request(const struct nnhal_burst_controller *c,
				       const struct nnhal_request *request,
				       const struct nnhal_execute_options *options)
{
	struct nnhal_diag *diag = options->diag;
	uint32_t i;

	if (request->num_pools && !request->pools) {
		diag_set(diag, "NULL pointer for pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (options->has_deadline || options->has_loop_timeout || options->profile ||
	    options->work) {
		diag_set(diag, "deadline, loop timeout and profile cannot travel in a packet");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (request->num_pools > nnhal_fmq_capacity(c->requests)) {
		diag_set(diag, "%u pools, more than the queue holds datums", request->num_pools);
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	}
	for (i = 0; i < request->num_pools; i++) {
		if (!request->pools[i].memory || request->pools[i].token) {
			diag_set(diag, "pool %u: expected memory, tokens cannot travel in a packet",
				 i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNHAL_STATUS_NONE;
}

/* Slots, packet, queue. Nothing was sent unless NONE. */
static enum nnhal_status send_request(struct nnhal_burst_controller *c,
				      const struct nnhal_request *request, int32_t measure)
{
	enum nnhal_status status;
	int count, err;

	pthread_mutex_lock(&c->lock);
	status = assign_slots(c, request->pools, request->num_pools);
	pthread_mutex_unlock(&c->lock);
	if (status)
		return status;
	count = nnhal_burst_serialize_request(request, c->pool_slots, measure, c->request,
					      nnhal_fmq_capacity(c->requests));
	if (count == -EMSGSIZE)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	if (count < 0)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	/* A result nobody asked for: the server does not keep to the protocol. */
	if (nnhal_fmq_available(c->results))
		return die(c, -EBADMSG);
	err = nnhal_fmq_write(c->requests, c->request, (uint32_t)count);
	if (err == -EAGAIN)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	return err ? die(c, err) : NNHAL_STATUS_NONE;
}

static enum nnhal_status receive_result(struct nnhal_burst_controller *c,
					const struct nnhal_request *request,
					struct nnhal_output_shape *output_shapes,
					uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	uint32_t room = nnhal_fmq_capacity(c->results);
	enum nnhal_status status;
	int count = wait_result(c);

	if (count < 0)
		return die(c, count);
	if (request->num_outputs < room)
		room = request->num_outputs;
	if (nnhal_burst_parse_result(c->result, (uint32_t)count, &status, c->shapes, room,
				     num_output_shapes, timing)) {
		*num_output_shapes = 0;
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (output_shapes && *num_output_shapes)
		memcpy(output_shapes, c->shapes, *num_output_shapes * sizeof(*output_shapes));
	return status;
}

/* With busy set. */
static enum nnhal_status execute(struct nnhal_burst_controller *c,
				 const struct nnhal_request *request,
				 const struct nnhal_execute_options *options,
				 struct nnhal_output_shape *output_shapes,
				 uint32_t *num_output_shapes, struct nnhal_timing *timing,
				 bool *sent)
{
	static const struct nnhal_execute_options defaults = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;
	int err = 0;

	if (!options)
		options = &defaults;
	if (options->size < sizeof(*options))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(options->diag);
	if (atomic_load_explicit(&c->dead, memory_order_relaxed)) {
		diag_set(options->diag, "the burst has ended");
		return NNHAL_STATUS_DEAD_OBJECT;
	}
	status = check_request(c, request, options);
	if (status)
		return status;
	/* Rare, and the only system calls before a request. */
	if (c->num_waiting)
		err = send_frees(c);
	if (c->num_waiting && (!err || err == -EAGAIN))
		err = drain_link(c);
	if (err)
		return die(c, err);
	status = send_request(c, request, options->measure);
	if (!status) {
		*sent = true;
		status = receive_result(c, request, output_shapes, num_output_shapes, timing);
	}
	release_slots(c);
	return status;
}

enum nnhal_status
nnhal_burst_controller_execute(struct nnhal_burst_controller *c,
			       const struct nnhal_request *request,
			       const struct nnhal_execute_options *options,
			       struct nnhal_output_shape *output_shapes,
			       uint32_t *num_output_shapes, struct nnhal_timing *timing,
			       bool *sent)
{
	struct nnhal_timing own_timing = { NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	enum nnhal_status status;
	uint32_t num_shapes = 0;
	bool own_sent = false;

	if (!c || !request)
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	else if (fork_guard_in_child(&c->guard))
		status = NNHAL_STATUS_DEVICE_UNAVAILABLE;
	else if (atomic_exchange_explicit(&c->busy, true, memory_order_acquire))
		status = NNHAL_STATUS_GENERAL_FAILURE;
	else {
		status = execute(c, request, options, output_shapes, &num_shapes, &own_timing,
				 &own_sent);
		atomic_store_explicit(&c->busy, false, memory_order_release);
	}
	if (num_output_shapes)
		*num_output_shapes = num_shapes;
	if (timing)
		*timing = own_timing;
	if (sent)
		*sent = own_sent;
	return status;
}

enum nnhal_status
nnhal_burst_controller_free_memory(struct nnhal_burst_controller *c,
				   struct nnhal_memory *memory)
{
	struct nnhal_memory *gone = NULL;
	struct slot *slot;

	if (!c || !memory)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (fork_guard_in_child(&c->guard))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	pthread_mutex_lock(&c->lock);
	slot = find_memory(c, memory);
	if (slot && slot->in_request)
		slot->doomed = true;
	else if (slot)
		gone = leave(c, slot);
	pthread_mutex_unlock(&c->lock);
	nnhal_memory_unref(gone);
	/* What the socket does not take now goes with the next request. */
	if (gone)
		send_frees(c);
	return NNHAL_STATUS_NONE;
}

/* ---- setting up ---- */

static void free_controller(struct nnhal_burst_controller *c)
{
	bool child = c->guard.page && fork_guard_in_child(&c->guard);
	uint32_t i;

	link_fini(&c->link);
	nnhal_fmq_destroy(c->requests);
	nnhal_fmq_destroy(c->results);
	/* In a child their bindings are the parent's. */
	for (i = 0; i < NUM_SLOTS && !child; i++)
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

static int say_hello(struct nnhal_burst_controller *c)
{
	const int fds[] = { nnhal_fmq_fd(c->requests), nnhal_fmq_fd(c->results) };
	struct link_message message;

	memset(&message, 0, sizeof(message));
	message.type = LINK_HELLO;
	message.version = LINK_VERSION;
	return link_send(&c->link, &message, fds, ARRAY_SIZE(fds), true);
}

/* 0 and the server's status, or -errno. */
static int wait_welcome(struct nnhal_burst_controller *c, uint32_t timeout_ms, int32_t *status)
{
	uint64_t deadline = monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
	struct link_message message;
	struct link_extra extra;
	int err;

	for (;;) {
		err = link_receive(&c->link, &message, &extra);
		if (err == -EAGAIN) {
			err = link_sleep(&c->link, POLLIN, deadline);
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
	}
	link_watch(&c->link, extra.pid);
	*status = message.status;
	return 0;
}

static enum nnhal_status connect_server(struct nnhal_burst_controller *c,
					const struct nnhal_burst_controller_options *options)
{
	int32_t status = NNHAL_STATUS_GENERAL_FAILURE;
	int err = say_hello(c);

	if (!err)
		err = wait_welcome(c, options->timeout_ms ? options->timeout_ms
							  : DEFAULT_TIMEOUT_MS, &status);
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

static enum nnhal_status check_options(const struct nnhal_burst_controller_options *options)
{
	/* The first version of the structure is this one. */
	if (options->size < sizeof(*options))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	diag_clear(options->diag);
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
	static const struct nnhal_burst_controller_options defaults =
		NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	struct nnhal_burst_controller *c;
	enum nnhal_status status;
	int err;

	if (!controller)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	*controller = NULL;
	if (!options)
		options = &defaults;
	status = check_options(options);
	if (status)
		return status;
	c = calloc(1, sizeof(*c));
	if (!c)
		return burst_setup_status(-ENOMEM, "controller", options->diag);
	spin_window_init(&c->spin, options->spin_us == UINT32_MAX ? NNHAL_BURST_SPIN_US
								  : options->spin_us);
	pthread_mutex_init(&c->lock, NULL);
	err = link_init(&c->link, socket, false);
	if (err == -EINVAL || err == -EBADF) {
		diag_set(options->diag, "not a Unix socket of type SOCK_SEQPACKET");
		status = NNHAL_STATUS_INVALID_ARGUMENT;
	} else {
		if (!err)
			err = fork_guard_init(&c->guard);
		if (!err)
			err = make_queues(c, options);
		status = err ? burst_setup_status(err, "queues of the burst", options->diag)
			     : connect_server(c, options);
	}
	if (status) {
		free_controller(c);
		return status;
	}
	*controller = c;
	return NNHAL_STATUS_NONE;
}
