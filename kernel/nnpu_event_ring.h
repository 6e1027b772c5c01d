/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_EVENT_RING_H_
#define _NNPU_EVENT_RING_H_

#include <linux/bits.h>
#include <linux/sched.h>
#include <linux/types.h>

#include <linux/nnpu_netlink.h>

struct cred;
struct pid;

/* Longest name on a bus that an event tells, with the zero at the end. */
#define NNPU_EVENT_NAME_SIZE	40

/**
 * struct nnpu_event - what netlink is to tell
 * @time: when it happened, CLOCK_MONOTONIC
 * @type: enum nnpu_event_type
 * @dev_id: device
 * @bus_name: its name on the bus
 * @has: bit for each NNPU_A_EVENT_* below that is valid
 * @reason: text, constant
 * @scope: enum nnpu_reset_scope
 * @result: 0 or a negative errno
 * @limit: enum nnpu_limit_kind
 * @repeated: how often the limit was met
 * @state: enum nnpu_queue_status
 * @status: NNPU_STATUS_*
 * @hw_queue: hardware queue
 * @ctx_id: context
 * @cid: command id
 * @queue_id: user queue
 * @client_id: client
 * @cred: credentials that opened the file of the client, a reference; NULL: no client caused it
 * @pid: the process of the client, a reference
 * @comm: its name
 */
struct nnpu_event {
	u64 time;
	u32 type;
	u32 dev_id;
	char bus_name[NNPU_EVENT_NAME_SIZE];
	u32 has;
	const char *reason;
	u32 scope;
	s32 result;
	u32 limit;
	u32 repeated;
	u32 state;
	u32 status;
	u32 hw_queue;
	u32 ctx_id;
	u32 cid;
	u64 queue_id;
	u64 client_id;
	const struct cred *cred;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct nnpu_event_ring - events that are to be sent
 * @slots: memory
 * @size: slots
 * @first: slot of the oldest event
 * @count: events
 * @all: events there were, those that were lost included
 * @lost: events for which there was no room
 *
 * The caller keeps others away.
 */
struct nnpu_event_ring {
	struct nnpu_event *slots;
	u32 size;
	u32 first;
	u32 count;
	u64 all;
	u64 lost;
};

bool nnpu_event_ring_add(struct nnpu_event_ring *ring, const struct nnpu_event *event,
			 bool modest);
bool nnpu_event_ring_take(struct nnpu_event_ring *ring, struct nnpu_event *event);

#endif /* _NNPU_EVENT_RING_H_ */
