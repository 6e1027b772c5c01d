// SPDX-License-Identifier: MIT
/*
 * The memory cache of a burst server: slots of the client and their memory.
 *
 * The executor keeps the memory. The server keeps a list of the slots that the executor has,
 * to remove all of them at the end. It asks for the memory of a slot once and keeps it until
 * the client frees the slot.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "fmq/burst_link.h"
#include "fmq/burst_server.h"
#include "fmq/file_origin.h"
#include "memory/memory_private.h"

/* Not while a request runs: the executor is called from one thread at a time. */
static void forget(struct nnhal_burst_server *s, int32_t slot)
{
	uint32_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < s->num_cached && s->cached[i] != slot; i++)
		;
	if (i < s->num_cached) {
		s->cached[i] = s->cached[--s->num_cached];
		if (s->is_executing)
			s->freed[s->num_freed++] = slot;
		else
			s->executor->remove_cache_entry(s->executor_context, slot);
	}
	pthread_mutex_unlock(&s->lock);
}

void burst_server_begin_execution(struct nnhal_burst_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_executing = true;
	pthread_mutex_unlock(&s->lock);
}

void burst_server_end_execution(struct nnhal_burst_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->is_executing = false;
	while (s->num_freed)
		s->executor->remove_cache_entry(s->executor_context, s->freed[--s->num_freed]);
	pthread_mutex_unlock(&s->lock);
}

void nnhal_burst_server_free_memory(struct nnhal_burst_server *s, int32_t slot)
{
	if (s && !fork_guard_in_child(&s->guard))
		forget(s, slot);
}

void burst_server_forget_all(struct nnhal_burst_server *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->num_cached)
		s->executor->remove_cache_entry(s->executor_context, s->cached[--s->num_cached]);
	pthread_mutex_unlock(&s->lock);
}

int burst_server_message(struct nnhal_burst_server *s, const struct link_message *message)
{
	struct link_message answer;
	uint32_t i;

	if (message->type == LINK_DOORBELL)
		return 0;
	if (message->type != LINK_FREE)
		return -EPROTO;
	memset(&answer, 0, sizeof(answer));
	answer.type = LINK_FREED;
	answer.count = message->count;
	for (i = 0; i < message->count; i++) {
		forget(s, message->slots[i]);
		answer.slots[i] = message->slots[i];
	}
	return link_send(&s->link, &answer, NULL, 0, UINT64_MAX);
}

/* The client's answer to GET; other messages may come before it. 0 or -errno. */
static int receive_memories(struct nnhal_burst_server *s, struct link_message *message,
			    struct link_extra *extra)
{
	int err;

	for (;;) {
		err = burst_server_receive(s, LINK_MEMORIES, message, extra);
		if (err == -EAGAIN) {
			err = link_sleep(&s->link, POLLIN, UINT64_MAX);
			if (err)
				return err;
			continue;
		}
		if (err || message->type == LINK_MEMORIES)
			return err;
		err = burst_server_message(s, message);
		if (err)
			return err;
	}
}

/*
 * Import the memory of a MEMORIES message. The import duplicates the descriptors. It may wait for
 * the client, which may hold the locks of its files.
 */
static enum nnhal_status import_memories(const struct link_message *message,
					 const struct link_extra *extra, uint32_t expected,
					 struct nnhal_memory **memories, uint32_t *count)
{
	enum nnhal_status status;

	if (message->status) {
		status = (enum nnhal_status)message->status;
		return status <= NNHAL_STATUS_INVALID_ARGUMENT ? status
							       : NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (extra->is_short)
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	if (message->count != expected || extra->num_fds != expected)
		return NNHAL_STATUS_GENERAL_FAILURE;
	for (*count = 0; *count < expected; (*count)++) {
		const struct link_memory *from = &message->memories[*count];
		struct nnhal_memory_desc desc = {
			.struct_size = sizeof(desc), .kind = from->kind,
			.fd = extra->fds[*count], .size = from->size, .offset = from->offset,
			.access = from->access,
		};

		status = file_origin_check(desc.fd);
		if (!status)
			status = memory_import_foreign(&desc, &memories[*count]);
		if (status)
			return status;
	}
	return NNHAL_STATUS_NONE;
}

/* Fetch as many slots as fit into one message. */
static enum nnhal_status get_some(struct nnhal_burst_server *s, const int32_t *slots,
				  uint32_t num_slots, struct nnhal_memory **memories,
				  uint32_t *count)
{
	struct link_message message;
	struct link_extra extra;
	enum nnhal_status status;
	int err;

	*count = 0;
	memset(&message, 0, sizeof(message));
	message.type = LINK_GET;
	message.count = num_slots;
	memcpy(message.slots, slots, num_slots * sizeof(*slots));
	err = link_send(&s->link, &message, NULL, 0, UINT64_MAX);
	if (!err)
		err = receive_memories(s, &message, &extra);
	if (err) {
		s->link_error = err;
		return NNHAL_STATUS_GENERAL_FAILURE;
	}
	burst_server_leave(s);
	status = import_memories(&message, &extra, num_slots, memories, count);
	link_close_fds(&extra);
	s->link_error = burst_server_return(s);
	return s->link_error ? NNHAL_STATUS_GENERAL_FAILURE : status;
}

static enum nnhal_status get_over_socket(struct nnhal_burst_server *s, const int32_t *slots,
					 uint32_t num_slots, struct nnhal_memory **memories,
					 uint32_t *num_memories)
{
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t some, got;

	*num_memories = 0;
	while (*num_memories < num_slots && !status) {
		some = num_slots - *num_memories;
		if (some > LINK_MAX_SLOTS)
			some = LINK_MAX_SLOTS;
		status = get_some(s, slots + *num_memories, some, memories + *num_memories,
				  &got);
		*num_memories += got;
	}
	return status;
}

static bool is_missing(const struct burst_buffers *b, uint32_t count, int32_t slot)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (b->missing[i] == slot)
			return true;
	return false;
}

/* List the slots of the request that are not cached, each once. */
static enum nnhal_status find_missing(struct nnhal_burst_server *s, uint32_t *count)
{
	const struct nnhal_burst_parsed_request *parsed = &s->buffers.parsed;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	uint32_t i;

	*count = 0;
	pthread_mutex_lock(&s->lock);
	for (i = 0; i < parsed->num_pools && !status; i++) {
		int32_t slot = parsed->slots[i];

		if (slot < 0)
			status = NNHAL_STATUS_INVALID_ARGUMENT;
		else if (s->executor->is_cache_entry_present(s->executor_context, slot) ||
			 is_missing(&s->buffers, *count, slot))
			continue;
		else if (*count == NNHAL_BURST_MAX_SLOTS)
			status = NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
		else
			s->buffers.missing[(*count)++] = slot;
	}
	pthread_mutex_unlock(&s->lock);
	return status;
}

static enum nnhal_status add_memory(struct nnhal_burst_server *s, int32_t slot,
				    struct nnhal_memory *memory)
{
	enum nnhal_status status = NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;

	if (!memory)
		return NNHAL_STATUS_GENERAL_FAILURE;
	pthread_mutex_lock(&s->lock);
	if (s->num_cached < NNHAL_BURST_MAX_SLOTS)
		status = s->executor->add_cache_entry(s->executor_context, slot, memory);
	if (!status)
		s->cached[s->num_cached++] = slot;
	pthread_mutex_unlock(&s->lock);
	return status;
}

enum nnhal_status burst_server_fetch(struct nnhal_burst_server *s)
{
	struct burst_buffers *b = &s->buffers;
	uint32_t i, num_missing, num_memories = 0;
	enum nnhal_status status;

	status = find_missing(s, &num_missing);
	if (status || !num_missing)
		return status;
	memset(b->memories, 0, num_missing * sizeof(b->memories[0]));
	/* Not under the lock: the answer may take long. */
	if (s->get_memories)
		status = s->get_memories(s->get_memories_context, b->missing, num_missing,
					 b->memories, &num_memories);
	else
		status = get_over_socket(s, b->missing, num_missing, b->memories, &num_memories);
	if (!status && num_memories != num_missing)
		status = NNHAL_STATUS_GENERAL_FAILURE;
	for (i = 0; i < num_missing && !status; i++)
		status = add_memory(s, b->missing[i], b->memories[i]);
	for (i = 0; i < num_missing; i++)
		nnhal_memory_unref(b->memories[i]);
	return status;
}
