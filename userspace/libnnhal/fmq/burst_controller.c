// SPDX-License-Identifier: MIT
/*
 * Client of a burst server: sends requests, waits for results, lends memory.
 *
 * One thread at a time executes. The thread that waits for the result is also the one that
 * reads the socket, so it answers the server's GET messages.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <nnhal/burst_fmq.h>

#include "base/diag.h"
#include "base/hal_version.h"
#include "base/monotonic.h"
#include "execution/arguments.h"
#include "fmq/burst_controller_private.h"
#include "fmq/burst_link.h"
#include "fmq/fmq_layout.h"
#include "memory/memory_private.h"

/* Messages of the server that are read before its results are looked at again. */
#define MESSAGES_AT_ONCE	64

/* Answer GET: IBurstCallback.getMemories. */
static int lend_memories(struct nnhal_burst_controller *c, const struct link_message *message,
			 uint64_t until_ns)
{
	struct nnhal_memory *memories[LINK_MAX_SLOTS];
	struct link_message answer;
	int fds[LINK_MAX_SLOTS];
	uint32_t i, count;
	int err;

	memset(&answer, 0, sizeof(answer));
	answer.type = LINK_MEMORIES;
	if (!slots_ref_memories(c, message, memories, &count))
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
	err = link_send(&c->link, &answer, fds, answer.count, until_ns);
	if (err && err != -EPIPE && err != -ETIME && answer.count) {
		/* The descriptors could not be sent (too many in flight): answer with an error. */
		answer.status = NNHAL_STATUS_GENERAL_FAILURE;
		answer.count = 0;
		err = link_send(&c->link, &answer, NULL, 0, until_ns);
	}
	while (count)
		nnhal_memory_unref(memories[--count]);
	/* A question without an answer: no request can end any more. */
	return err == -ETIME ? -ETIMEDOUT : err;
}

/* Read messages; the server may send more all the time. 0 or -errno: end of the burst. */
static int drain_link(struct nnhal_burst_controller *c, uint64_t until_ns)
{
	struct link_message message;
	struct link_extra extra;
	unsigned int i;
	int err;

	for (i = 0; i < MESSAGES_AT_ONCE; i++) {
		err = link_receive(&c->link, 0, &message, &extra);
		if (err)
			return err == -EAGAIN ? 0 : err;
		if (message.type == LINK_FREED)
			slots_freed(c, &message);
		else if (message.type == LINK_GET)
			err = lend_memories(c, &message, until_ns);
		else if (message.type != LINK_DOORBELL)
			err = -EPROTO;
		if (err)
			return err;
	}
	return 0;
}

/* ---- requests ---- */

static int take_result(struct nnhal_burst_controller *c)
{
	return nnhal_fmq_read_packet(c->results, c->result, nnhal_fmq_capacity(c->results));
}

/* Datums of the result; -ETIME after @until_ns; or another -errno: end of the burst. */
static int wait_result(struct nnhal_burst_controller *c, uint64_t until_ns)
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
		err = link_sleep(&c->link, POLLIN, until_ns);
		nnhal_fmq_cancel_poll(c->results);
		if (!err)
			err = drain_link(c, until_ns);
		if (!err && deadline_passed(true, until_ns))
			err = -ETIME;
		if (err) {
			/* The server may have answered before it died. */
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
	if (error == -ETIMEDOUT)
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	return error == -EPIPE ? NNHAL_STATUS_DEAD_OBJECT : NNHAL_STATUS_GENERAL_FAILURE;
}

/* Refuse requests that do not fit into a packet. */
static enum nnhal_status check_request(const struct nnhal_burst_controller *c,
				       const struct nnhal_request *request,
				       const struct nnhal_execute_options *options)
{
	struct nnhal_diag *diag = options->diag;
	uint32_t i;

	if (!layout_is_known(request->hal_version, "request", diag))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (request->num_pools && !request->pools) {
		diag_set(diag, "NULL pointer for pools");
		return NNHAL_STATUS_INVALID_ARGUMENT;
	}
	if (options->has_deadline || options->has_loop_timeout || options->profile ||
	    options->work || options->completions) {
		diag_set(diag, "deadline, loop timeout, profile and completion queue "
			 "cannot travel in a packet");
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
		if (memory_is_pointer(request->pools[i].memory)) {
			diag_set(diag, "pool %u: memory of the process has no descriptor for a server",
				 i);
			return NNHAL_STATUS_INVALID_ARGUMENT;
		}
	}
	return NNHAL_STATUS_NONE;
}

/* Assign slots and send the packet. Unless the status is NONE, nothing was sent. */
static enum nnhal_status send_request(struct nnhal_burst_controller *c,
				      const struct nnhal_request *request, int32_t measure)
{
	enum nnhal_status status;
	int count, err;

	pthread_mutex_lock(&c->lock);
	status = slots_assign(c, request->pools, request->num_pools);
	pthread_mutex_unlock(&c->lock);
	if (status)
		return status;
	count = nnhal_burst_serialize_request(request, c->pool_slots, measure, c->request,
					      nnhal_fmq_capacity(c->requests));
	if (count == -EMSGSIZE)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	if (count < 0)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	/* A result without a request: the server violates the protocol. */
	if (nnhal_fmq_available(c->results))
		return die(c, -EBADMSG);
	err = nnhal_fmq_write(c->requests, c->request, (uint32_t)count);
	if (err == -EAGAIN)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	return err ? die(c, err) : NNHAL_STATUS_NONE;
}

/*
 * Wait for the result of an earlier request, which came too late for its caller. Then the server
 * has left the memory of that request.
 */
static enum nnhal_status take_owed_result(struct nnhal_burst_controller *c, uint64_t until_ns,
					  struct nnhal_diag *diag)
{
	int count = wait_result(c, until_ns);

	if (count == -ETIME) {
		diag_set(diag, "the server has not ended an earlier request");
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	}
	c->is_owed = false;
	slots_release(c);
	return count < 0 ? die(c, count) : NNHAL_STATUS_NONE;
}

/* A server that says more than its status allows. The packet was parsed: head and tail are there. */
static void log_dropped(const struct nnhal_burst_controller *c, int count,
			enum nnhal_status status)
{
	const struct nnhal_burst_result_datum *head = &c->result[0], *tail = &c->result[count - 1];

	if (status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE && head->information.number_of_operands)
		VLOG(&c->log, NNHAL_LOG_EXECUTION, "burst: result with %s: %u shapes dropped",
		     nnhal_status_name((int)status), head->information.number_of_operands);
	if (tail->timing.time_on_device != NNHAL_NO_TIMING ||
	    tail->timing.time_in_driver != NNHAL_NO_TIMING)
		VLOG(&c->log, NNHAL_LOG_EXECUTION, "burst: result with %s: timing dropped",
		     nnhal_status_name((int)status));
}

static enum nnhal_status receive_result(struct nnhal_burst_controller *c,
					const struct nnhal_request *request, uint64_t until_ns,
					struct nnhal_diag *diag,
					struct nnhal_output_shape *output_shapes,
					uint32_t *num_output_shapes, struct nnhal_timing *timing)
{
	uint32_t room = nnhal_fmq_capacity(c->results);
	enum nnhal_status status;
	int count = wait_result(c, until_ns);

	if (count == -ETIME) {
		c->is_owed = true;
		diag_set(diag, "no result from the server");
		return NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT;
	}
	if (count < 0)
		return die(c, count);
	if (request->num_outputs < room)
		room = request->num_outputs;
	if (nnhal_burst_parse_result(c->result, (uint32_t)count, &status, c->shapes, room,
				     num_output_shapes, timing)) {
		*num_output_shapes = 0;
		VLOG(&c->log, NNHAL_LOG_EXECUTION, "burst: result of %d datums: not a result", count);
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (status)
		log_dropped(c, count, status);
	if (output_shapes && *num_output_shapes)
		memcpy(output_shapes, c->shapes, *num_output_shapes * sizeof(*output_shapes));
	return status;
}

/* When the caller waits no longer, UINT64_MAX: never. */
static uint64_t limit_of(const struct nnhal_burst_controller *c)
{
	uint64_t now;

	if (!c->execute_timeout_ns)
		return UINT64_MAX;
	now = monotonic_ns();
	return c->execute_timeout_ns < INT64_MAX - now ? now + c->execute_timeout_ns : UINT64_MAX;
}

/* The caller has set busy. */
static enum nnhal_status execute(struct nnhal_burst_controller *c,
				 const struct nnhal_request *request,
				 const struct nnhal_execute_options *options,
				 struct nnhal_output_shape *output_shapes,
				 uint32_t *num_output_shapes, struct nnhal_timing *timing,
				 bool *sent)
{
	struct nnhal_execute_options read;
	enum nnhal_status status;
	uint64_t until_ns;
	int err = 0;

	status = execute_options_read(&read, options);
	if (status)
		return status;
	if (atomic_load_explicit(&c->dead, memory_order_relaxed)) {
		diag_set(read.diag, "the burst has ended");
		return NNHAL_STATUS_DEAD_OBJECT;
	}
	status = check_request(c, request, &read);
	if (status)
		return status;
	until_ns = limit_of(c);
	if (c->is_owed)
		status = take_owed_result(c, until_ns, read.diag);
	if (status)
		return status;
	/* Rare; these are the only system calls before a request. */
	if (c->num_waiting)
		err = slots_send_frees(c);
	if (c->num_waiting && (!err || err == -EAGAIN))
		err = drain_link(c, until_ns);
	if (err)
		return die(c, err);
	status = send_request(c, request, read.measure);
	if (!status) {
		*sent = true;
		status = receive_result(c, request, until_ns, read.diag, output_shapes,
					num_output_shapes, timing);
	}
	if (!c->is_owed)
		slots_release(c);
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
	if (!c || !memory)
		return NNHAL_STATUS_INVALID_ARGUMENT;
	if (fork_guard_in_child(&c->guard))
		return NNHAL_STATUS_DEVICE_UNAVAILABLE;
	slots_free_memory(c, memory);
	return NNHAL_STATUS_NONE;
}
