/* SPDX-License-Identifier: MIT */
/*
 * The client of a burst server: its structure, and the slots of its memory objects.
 *
 * Slot numbers are the client's. A memory object gets one with the first request that
 * names it. When the object is freed, its number is not used again until the server has
 * confirmed with FREED that it forgot the slot: a number never means two objects.
 */
#ifndef NNHAL_BURST_CONTROLLER_PRIVATE_H
#define NNHAL_BURST_CONTROLLER_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <nnhal/burst_fmq.h>

#include "base/fork_guard.h"
#include "base/vlog.h"
#include "fmq/burst_link.h"
#include "fmq/fmq_layout.h"

/* Memory objects kept. There are more numbers, because freed ones wait for FREED. */
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
	uint64_t execute_timeout_ns;	/* 0: none */
	struct vlog log;
	/* Used by the thread that has set busy. */
	bool is_owed;			/* the result of a request that nobody waits for any more */
	struct nnhal_burst_request_datum *request;
	struct nnhal_burst_result_datum *result;
	struct nnhal_output_shape *shapes;
	int32_t *pool_slots;

	pthread_mutex_t lock;	/* of the slots */
	struct slot slots[NUM_SLOTS];
	uint32_t num_used;
	atomic_uint num_waiting;	/* LEAVING and RESTING; also read without the lock */
	uint64_t clock;
};

/* Give each pool of a request a slot. Caller holds the lock. */
enum nnhal_status slots_assign(struct nnhal_burst_controller *c,
			       const struct nnhal_request_pool *pools, uint32_t num_pools);
/* The request is over: free the slots that were freed meanwhile. */
void slots_release(struct nnhal_burst_controller *c);
/* Free a memory object's slot, now or when the request in flight is over. */
void slots_free_memory(struct nnhal_burst_controller *c, const struct nnhal_memory *memory);
/* Send FREE messages, as many as the socket takes. 0, -EAGAIN, -EPIPE. */
int slots_send_frees(struct nnhal_burst_controller *c);
/* The server has forgotten the slots of a FREED message. */
void slots_freed(struct nnhal_burst_controller *c, const struct link_message *message);
/*
 * Take references of the objects behind the slots of a GET message. @count: out: how many
 * references were taken. False: a slot has no object; the references before it are taken.
 */
bool slots_ref_memories(struct nnhal_burst_controller *c, const struct link_message *message,
			struct nnhal_memory **memories, uint32_t *count);

#endif /* NNHAL_BURST_CONTROLLER_PRIVATE_H */
