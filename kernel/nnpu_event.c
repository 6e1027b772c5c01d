// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of netlink. They happen in interrupts, under spinlocks and on the way to fence signals,
 * where nothing may wait or allocate. So they are copied into a ring, and a work item sends them
 * from there. When the ring is full an event is lost, and the others tell how many were. A listener
 * that is slow loses what its own socket has no room for.
 *
 * An event that a client has caused is for the user of the client and for privileged listeners. The
 * others are not told that there was one, so events have no numbers that could tell it. How many
 * were lost is told to all: that is how busy the ring is.
 */
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/pid.h>
#include <linux/rwsem.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <net/genetlink.h>
#include <net/net_namespace.h>
#include <net/sock.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_event_ring.h"
#include "nnpu_hw.h"
#include "nnpu_netlink_gen.h"
#include "nnpu_tally.h"
#include "nnpu_userq.h"

/* Events that wait for the work item. */
#define NNPU_EVENT_RING_SIZE	2048
/* A client is told of this often, at most, for each limit. */
#define NNPU_EVENT_LIMIT_PERIOD	HZ

#define NNPU_EVENT_HAS(name)	BIT(NNPU_A_EVENT_##name)

/* Protects the ring; taken in interrupts, with any lock held. */
static DEFINE_SPINLOCK(nnpu_event_lock);
static struct nnpu_event_ring nnpu_event_ring;
static struct workqueue_struct *nnpu_event_wq;

/* Not 0: the socket does not get the message, which is for the user of a client. */
static int nnpu_event_filter(struct sock *sk, struct sk_buff *skb, void *data)
{
	const struct nnpu_event *event = data;

	return !uid_eq(READ_ONCE(sk->sk_uid), event->cred->euid);
}

static int nnpu_event_put_u32s(struct sk_buff *skb, const struct nnpu_event *event)
{
	const struct {
		u32 attr;
		u32 value;
	} fields[] = {
		{ NNPU_A_EVENT_SCOPE, event->scope },
		{ NNPU_A_EVENT_LIMIT, event->limit },
		{ NNPU_A_EVENT_REPEATED, event->repeated },
		{ NNPU_A_EVENT_STATE, event->state },
		{ NNPU_A_EVENT_STATUS, event->status },
		{ NNPU_A_EVENT_HW_QUEUE, event->hw_queue },
		{ NNPU_A_EVENT_CTX_ID, event->ctx_id },
		{ NNPU_A_EVENT_CID, event->cid },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (event->has & BIT(fields[i].attr) &&
		    nla_put_u32(skb, fields[i].attr, fields[i].value))
			return -EMSGSIZE;
	return 0;
}

static int nnpu_event_put_client(struct sk_buff *skb, const struct nnpu_event *event,
				 struct net *net)
{
	struct pid_namespace *pid_ns = net_eq(net, &init_net) ? &init_pid_ns :
				       ns_of_pid(event->pid);

	if ((event->has & NNPU_EVENT_HAS(QUEUE_ID) &&
	     nla_put_uint(skb, NNPU_A_EVENT_QUEUE_ID, event->queue_id)) ||
	    nla_put_uint(skb, NNPU_A_EVENT_CLIENT_ID, event->client_id) ||
	    nla_put_u32(skb, NNPU_A_EVENT_PID, pid_nr_ns(event->pid, pid_ns)) ||
	    nla_put_u32(skb, NNPU_A_EVENT_UID,
			from_kuid_munged(net->user_ns, event->cred->euid)) ||
	    nla_put_string(skb, NNPU_A_EVENT_COMM, event->comm))
		return -EMSGSIZE;
	return 0;
}

/* NULL: there is no memory. */
static struct sk_buff *nnpu_event_message(const struct nnpu_event *event, u64 lost,
					  struct net *net)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	void *head;

	if (!skb)
		return NULL;
	head = genlmsg_put(skb, 0, 0, &nnpu_nl_family, 0, NNPU_CMD_EVENT);
	if (!head || nla_put_uint(skb, NNPU_A_EVENT_TIME, event->time) ||
	    nla_put_u32(skb, NNPU_A_EVENT_TYPE, event->type) ||
	    nla_put_u32(skb, NNPU_A_EVENT_DEV_ID, event->dev_id) ||
	    nla_put_string(skb, NNPU_A_EVENT_BUS_NAME, event->bus_name) ||
	    nla_put_uint(skb, NNPU_A_EVENT_LOST, lost) ||
	    (event->has & NNPU_EVENT_HAS(REASON) &&
	     nla_put_string(skb, NNPU_A_EVENT_REASON, event->reason)) ||
	    (event->has & NNPU_EVENT_HAS(RESULT) &&
	     nla_put_s32(skb, NNPU_A_EVENT_RESULT, event->result)) ||
	    nnpu_event_put_u32s(skb, event) ||
	    (event->cred && nnpu_event_put_client(skb, event, net))) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, head);
	return skb;
}

/* False: there was no memory. */
static bool nnpu_event_multicast(const struct nnpu_event *event, u64 lost, struct net *net,
				 unsigned int group, bool filtered)
{
	struct sk_buff *skb = nnpu_event_message(event, lost, net);

	if (!skb)
		return false;
	/* An error is about a listener that does not keep up, and its socket tells it. */
	genlmsg_multicast_netns_filtered(&nnpu_nl_family, net, skb, 0, group, GFP_KERNEL,
					 filtered ? nnpu_event_filter : NULL, (void *)event);
	return true;
}

/* Is @ns the user namespace @child, or above it? Then a privileged process of @ns may know. */
static bool nnpu_event_is_above(const struct user_namespace *ns,
				const struct user_namespace *child)
{
	for (; child; child = child->parent)
		if (child == ns)
			return true;
	return false;
}

static bool nnpu_event_send_net(const struct nnpu_event *event, u64 lost, struct net *net)
{
	bool sent = true;

	if (genl_has_listeners(&nnpu_nl_family, net, NNPU_NLGRP_EVENTS))
		sent &= nnpu_event_multicast(event, lost, net, NNPU_NLGRP_EVENTS, event->cred);
	/*
	 * A member of this group has CAP_SYS_ADMIN in the user namespace of the network namespace.
	 */
	if (genl_has_listeners(&nnpu_nl_family, net, NNPU_NLGRP_EVENTS_ADMIN) &&
	    (!event->cred || nnpu_event_is_above(net->user_ns, event->cred->user_ns)))
		sent &= nnpu_event_multicast(event, lost, net, NNPU_NLGRP_EVENTS_ADMIN, false);
	return sent;
}

static void nnpu_event_send(const struct nnpu_event *event, u64 lost)
{
	bool sent = true;
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		sent &= nnpu_event_send_net(event, lost, net);
	up_read(&net_rwsem);
	if (sent)
		return;
	spin_lock_irq(&nnpu_event_lock);
	nnpu_event_ring.lost++;
	spin_unlock_irq(&nnpu_event_lock);
}

static void nnpu_event_drop(struct nnpu_event *event)
{
	if (!event->cred)
		return;
	put_cred(event->cred);
	put_pid(event->pid);
}

static void nnpu_event_work_fn(struct work_struct *work)
{
	struct nnpu_event event;
	bool any;
	u64 lost;

	for (;;) {
		spin_lock_irq(&nnpu_event_lock);
		any = nnpu_event_ring_take(&nnpu_event_ring, &event);
		lost = nnpu_event_ring.lost;
		spin_unlock_irq(&nnpu_event_lock);
		if (!any)
			return;
		nnpu_event_send(&event, lost);
		nnpu_event_drop(&event);
		cond_resched();
	}
}

static DECLARE_WORK(nnpu_event_work, nnpu_event_work_fn);

/* Any context, no wait, no allocation. */
static void nnpu_event_raise(struct nnpu_device *ndev, struct nnpu_tally *tally,
			     struct nnpu_event *event, bool modest)
{
	unsigned long flags;
	bool kept;

	event->time = ktime_get_ns();
	event->dev_id = ndev->netlink_id;
	strscpy(event->bus_name, dev_name(ndev->drm.dev), sizeof(event->bus_name));
	if (tally) {
		event->client_id = tally->id;
		event->cred = get_cred(tally->cred);
		event->pid = get_pid(tally->pid);
		memcpy(event->comm, tally->comm, sizeof(event->comm));
	}
	spin_lock_irqsave(&nnpu_event_lock, flags);
	kept = nnpu_event_ring_add(&nnpu_event_ring, event, modest);
	spin_unlock_irqrestore(&nnpu_event_lock, flags);
	if (kept)
		queue_work(nnpu_event_wq, &nnpu_event_work);
	else
		nnpu_event_drop(event);
}

/**
 * nnpu_event_setup - prepare for devices
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_event_setup(void)
{
	nnpu_event_ring.slots = vcalloc(NNPU_EVENT_RING_SIZE, sizeof(struct nnpu_event));
	if (!nnpu_event_ring.slots)
		return -ENOMEM;
	nnpu_event_ring.size = NNPU_EVENT_RING_SIZE;
	/* Nobody waits for it: it may allocate. */
	nnpu_event_wq = alloc_ordered_workqueue("nnpu-event", 0);
	if (nnpu_event_wq)
		return 0;
	vfree(nnpu_event_ring.slots);
	return -ENOMEM;
}

/**
 * nnpu_event_teardown - send the last events and undo nnpu_event_setup()
 *
 * There is no device any more.
 */
void nnpu_event_teardown(void)
{
	destroy_workqueue(nnpu_event_wq);
	vfree(nnpu_event_ring.slots);
}

/**
 * nnpu_event_counts - how many events there were
 * @all: gets the number
 * @lost: gets the number of those that were lost
 */
void nnpu_event_counts(u64 *all, u64 *lost)
{
	spin_lock_irq(&nnpu_event_lock);
	*all = nnpu_event_ring.all;
	*lost = nnpu_event_ring.lost;
	spin_unlock_irq(&nnpu_event_lock);
}

/**
 * nnpu_event_device - an event of the whole device
 * @ndev: device
 * @type: arrival, removal or test
 */
void nnpu_event_device(struct nnpu_device *ndev, enum nnpu_event_type type)
{
	struct nnpu_event event = { .type = type };

	nnpu_event_raise(ndev, NULL, &event, type == NNPU_EVENT_TYPE_TEST);
}

/**
 * nnpu_event_hang - a job or a load makes no progress
 * @ndev: device
 * @ctx: its context; NULL: unknown
 * @qid: its queue
 * @cid: its command id
 * @why: text
 */
void nnpu_event_hang(struct nnpu_device *ndev, struct nnpu_ctx *ctx, u16 qid, u16 cid,
		     const char *why)
{
	struct nnpu_event event = {
		.type = NNPU_EVENT_TYPE_HANG,
		.has = NNPU_EVENT_HAS(REASON) | NNPU_EVENT_HAS(HW_QUEUE) | NNPU_EVENT_HAS(CID),
		.reason = why,
		.hw_queue = qid,
		.cid = cid,
	};

	if (ctx) {
		event.has |= NNPU_EVENT_HAS(CTX_ID);
		event.ctx_id = ctx->id;
	}
	nnpu_event_raise(ndev, ctx ? ctx->tally : NULL, &event, false);
}

/**
 * nnpu_event_reset - a queue or the device was reset
 * @ndev: device
 * @scope: what was reset
 * @ctx: whose entries were reset; NULL: those of all
 * @cid: job at fault, or NNPU_CID_NONE
 * @why: text
 * @result: 0 or a negative errno
 */
void nnpu_event_reset(struct nnpu_device *ndev, enum nnpu_reset_scope scope, struct nnpu_ctx *ctx,
		      u16 cid, const char *why, int result)
{
	struct nnpu_event event = {
		.type = NNPU_EVENT_TYPE_RESET,
		.has = NNPU_EVENT_HAS(REASON) | NNPU_EVENT_HAS(SCOPE) | NNPU_EVENT_HAS(RESULT),
		.reason = why,
		.scope = scope,
		.result = result,
	};

	if (ctx) {
		event.has |= NNPU_EVENT_HAS(CTX_ID);
		event.ctx_id = ctx->id;
		if (cid != NNPU_CID_NONE) {
			event.has |= NNPU_EVENT_HAS(CID);
			event.cid = cid;
		}
	}
	nnpu_event_raise(ndev, ctx ? ctx->tally : NULL, &event, false);
}

/**
 * nnpu_event_queue - a user queue has ended by a fault
 * @uq: queue; it has its context
 *
 * Not for those that end with their context or device, which have events of their own.
 */
void nnpu_event_queue(struct nnpu_userq *uq)
{
	struct nnpu_event event = {
		.type = NNPU_EVENT_TYPE_QUEUE_STOPPED,
		.has = NNPU_EVENT_HAS(STATE) | NNPU_EVENT_HAS(CTX_ID) | NNPU_EVENT_HAS(QUEUE_ID),
		.state = uq->state == NNPU_USERQ_HUNG ? NNPU_QUEUE_STATUS_HUNG :
							NNPU_QUEUE_STATUS_STOPPED,
		.ctx_id = uq->ctx->id,
		.queue_id = uq->number,
	};

	if (uq->state == NNPU_USERQ_STOPPED) {
		event.has |= NNPU_EVENT_HAS(STATUS);
		event.status = uq->reason;
	}
	nnpu_event_raise(uq->ndev, uq->ctx->tally, &event, true);
}

/**
 * nnpu_event_lost - a context was destroyed, and its client did not ask for that
 * @ctx: context
 * @why: text
 */
void nnpu_event_lost(struct nnpu_ctx *ctx, const char *why)
{
	struct nnpu_event event = {
		.type = NNPU_EVENT_TYPE_CONTEXT_LOST,
		.has = NNPU_EVENT_HAS(REASON) | NNPU_EVENT_HAS(CTX_ID),
		.reason = why,
		.ctx_id = ctx->id,
	};

	nnpu_event_raise(ctx->ndev, ctx->tally, &event, false);
}

/**
 * nnpu_event_limit - a client met a limit
 * @ndev: device
 * @tally: client
 * @kind: which limit
 * @ctx_id: the client's context, 0: none
 *
 * A client may do that as often as it likes, so there is one event in a period.
 */
void nnpu_event_limit(struct nnpu_device *ndev, struct nnpu_tally *tally,
		      enum nnpu_limit_kind kind, u32 ctx_id)
{
	struct nnpu_tally_limit *limit = &tally->limits[kind];
	struct nnpu_event event = {
		.type = NNPU_EVENT_TYPE_LIMIT,
		.has = NNPU_EVENT_HAS(LIMIT) | NNPU_EVENT_HAS(REPEATED),
		.limit = kind,
	};

	atomic_inc(&limit->met);
	if (READ_ONCE(limit->told) && time_before(jiffies, READ_ONCE(limit->next)))
		return;
	event.repeated = atomic_xchg(&limit->met, 0);
	/* Somebody else has told of it just now. */
	if (!event.repeated)
		return;
	WRITE_ONCE(limit->next, jiffies + NNPU_EVENT_LIMIT_PERIOD);
	WRITE_ONCE(limit->told, true);
	if (ctx_id) {
		event.has |= NNPU_EVENT_HAS(CTX_ID);
		event.ctx_id = ctx_id;
	}
	nnpu_event_raise(ndev, tally, &event, true);
}

/**
 * nnpu_event_status - a job or a load ended with a status
 * @ctx: context
 * @status: NNPU_STATUS_*; most of them are no event
 */
void nnpu_event_status(struct nnpu_ctx *ctx, u16 status)
{
	if (status == NNPU_STATUS_TIME_LIMIT)
		nnpu_event_limit(ctx->ndev, ctx->tally, NNPU_LIMIT_KIND_TIME, ctx->id);
	else if (status == NNPU_STATUS_NO_MEMORY)
		nnpu_event_limit(ctx->ndev, ctx->tally, NNPU_LIMIT_KIND_MEMORY, ctx->id);
}
