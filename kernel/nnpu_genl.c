// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generic netlink family "nnpu": Documentation/netlink/specs/nnpu.yaml describes it, and
 * nnpu_netlink_gen.c is made of that. nnpu_netlink_fill.c says what a reader is told of an object,
 * nnpu_event.c sends the events.
 *
 * A dump does not hold locks between two messages. It goes on with the number that comes next, so
 * that it shows no object twice, and each object that was there all the time. Whatever comes or
 * goes meanwhile changes a generation, and NLM_F_DUMP_INTR tells the reader.
 */
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include <drm/drm_drv.h>

#include <net/genetlink.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_genl.h"
#include "nnpu_netlink_fill.h"
#include "nnpu_netlink_gen.h"
#include "nnpu_reset.h"
#include "nnpu_tally.h"
#include "nnpu_userq.h"

/* A message of a dump ends after so many objects, unless it is empty. */
#define NNPU_NETLINK_MAX_LOOKS	256

/* Protects the list of devices. Its holder takes no other lock. */
static DEFINE_MUTEX(nnpu_netlink_lock);
static LIST_HEAD(nnpu_netlink_devices);
static u32 nnpu_netlink_next_id;
static atomic_t nnpu_netlink_generations[NNPU_NETLINK_KINDS];

/* The generator knows no flags of groups. */
static const struct genl_multicast_group nnpu_netlink_groups[] = {
	[NNPU_NLGRP_EVENTS] = { .name = NNPU_MCGRP_EVENTS },
	[NNPU_NLGRP_EVENTS_ADMIN] = {
		.name = NNPU_MCGRP_EVENTS_ADMIN,
		.flags = GENL_MCAST_CAP_SYS_ADMIN,
	},
};

/**
 * struct nnpu_netlink_pos - where a dump goes on
 * @dev: lowest number of a device
 * @item: lowest number of an object of this device
 * @asker: credentials of the process that began it; a reference
 * @process: that process; a reference
 * @last_queue: the queue that was looked at last; a reference, or NULL
 */
struct nnpu_netlink_pos {
	u32 dev;
	unsigned long item;
	const struct cred *asker;
	struct pid *process;
	struct nnpu_userq *last_queue;
};

/**
 * struct nnpu_netlink_dump - a part of a dump
 * @to: reader
 * @cb: its state
 * @cmd: command of the messages
 * @kind: what changes them
 * @looked: objects that were looked at for this message
 */
struct nnpu_netlink_dump {
	struct nnpu_netlink_reader to;
	struct netlink_callback *cb;
	u8 cmd;
	enum nnpu_netlink_kind kind;
	unsigned int *looked;
};

/**
 * nnpu_netlink_changed - something has come or gone
 * @kind: what
 *
 * After the change. A dump that has shown the change already may get NLM_F_DUMP_INTR for it, which
 * does no harm. Any context.
 */
void nnpu_netlink_changed(enum nnpu_netlink_kind kind)
{
	atomic_inc(&nnpu_netlink_generations[kind]);
}

/* A reference of the first device from a number on; NULL: there is none. */
static struct nnpu_device *nnpu_netlink_find(u32 from)
{
	struct nnpu_device *ndev, *found = NULL;

	mutex_lock(&nnpu_netlink_lock);
	list_for_each_entry(ndev, &nnpu_netlink_devices, netlink_node)
		if (ndev->netlink_id >= from) {
			drm_dev_get(&ndev->drm);
			found = ndev;
			break;
		}
	mutex_unlock(&nnpu_netlink_lock);
	return found;
}

/* A reference of the device that an attribute names, or an ERR_PTR. */
static struct nnpu_device *nnpu_netlink_named(const struct genl_info *info, int attr)
{
	struct nnpu_device *ndev;
	u32 id;

	if (GENL_REQ_ATTR_CHECK(info, attr))
		return ERR_PTR(-EINVAL);
	id = nla_get_u32(info->attrs[attr]);
	ndev = nnpu_netlink_find(id);
	if (ndev && ndev->netlink_id == id)
		return ndev;
	if (ndev)
		drm_dev_put(&ndev->drm);
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[attr], "no such device");
	return ERR_PTR(-ENODEV);
}

/* Dumps. */

/*
 * The process that asks makes the first part of a dump only, and not even that if its socket is
 * full. The rest is made in recvmsg(), by any process that has the socket.
 */
int nnpu_nl_dump_start(struct netlink_callback *cb)
{
	struct nnpu_netlink_pos *pos = (void *)cb->ctx;

	pos->asker = get_current_cred();
	pos->process = get_pid(task_tgid(current));
	return 0;
}

int nnpu_nl_dump_done(struct netlink_callback *cb)
{
	struct nnpu_netlink_pos *pos = (void *)cb->ctx;

	if (pos->last_queue)
		nnpu_userq_put(pos->last_queue);
	put_pid(pos->process);
	put_cred(pos->asker);
	return 0;
}

static void *nnpu_netlink_begin(const struct nnpu_netlink_dump *dump)
{
	struct netlink_callback *cb = dump->cb;
	void *head = genlmsg_put(dump->to.answer, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				 &nnpu_nl_family, NLM_F_MULTI, dump->cmd);

	if (head)
		genl_dump_check_consistent(cb, head);
	return head;
}

/* @ret: of what filled the message in. */
static int nnpu_netlink_end(const struct nnpu_netlink_dump *dump, void *head, int ret)
{
	if (ret)
		genlmsg_cancel(dump->to.answer, head);
	else
		genlmsg_end(dump->to.answer, head);
	return ret;
}

/* 0 would be no generation. */
static void nnpu_netlink_look(const struct nnpu_netlink_dump *dump)
{
	dump->cb->seq = atomic_read(&nnpu_netlink_generations[dump->kind]) ?: 1;
}

/*
 * Before each object. The reader may see few of very many: it can be killed, and what was found is
 * not kept back for the rest. A message without an object would end the dump for its reader.
 */
static int nnpu_netlink_step(const struct nnpu_netlink_dump *dump)
{
	cond_resched();
	if (fatal_signal_pending(current))
		return -EINTR;
	if (++*dump->looked > NNPU_NETLINK_MAX_LOOKS && dump->to.answer->len)
		return -EMSGSIZE;
	return 0;
}

static int nnpu_netlink_dump_dev(const struct nnpu_netlink_dump *dump, struct nnpu_device *ndev,
				 unsigned long *item)
{
	void *head = nnpu_netlink_begin(dump);
	int ret;

	if (!head)
		return -EMSGSIZE;
	ret = nnpu_netlink_end(dump, head, dump->cmd == NNPU_CMD_DEV_GET ?
			       nnpu_netlink_fill_dev(&dump->to, ndev) :
			       nnpu_netlink_fill_stats(&dump->to, ndev));
	return ret == -EPERM ? 0 : ret;
}

static int nnpu_netlink_dump_clients(const struct nnpu_netlink_dump *dump,
				     struct nnpu_device *ndev, unsigned long *item)
{
	struct nnpu_tally *tally;
	int ret;

	while (!(ret = nnpu_netlink_step(dump)) && (tally = nnpu_tally_next(ndev, item))) {
		nnpu_netlink_look(dump);
		if (nnpu_netlink_may_see(&dump->to, tally)) {
			void *head = nnpu_netlink_begin(dump);

			ret = head ? nnpu_netlink_end(dump, head, nnpu_netlink_fill_client
						      (&dump->to, ndev, tally)) : -EMSGSIZE;
		}
		nnpu_tally_put(tally);
		if (ret)
			break;
		++*item;
	}
	return ret;
}

static int nnpu_netlink_dump_ctx(const struct nnpu_netlink_dump *dump, struct nnpu_device *ndev,
				 u32 id)
{
	struct nnpu_netlink_ctx_look look = { .to = &dump->to };
	int ret = 0;

	if (nnpu_table_visit(&ndev->contexts, id, nnpu_netlink_get_owner, &look))
		return 0;
	if (nnpu_netlink_may_see(&dump->to, look.owner)) {
		void *head = nnpu_netlink_begin(dump);

		ret = head ? nnpu_netlink_end(dump, head, nnpu_table_visit
					      (&ndev->contexts, id, nnpu_netlink_copy_ctx,
					       &look)) : -EMSGSIZE;
		/* It has gone meanwhile. */
		if (ret == -ENOENT)
			ret = 0;
	}
	nnpu_tally_put(look.owner);
	return ret;
}

static int nnpu_netlink_dump_ctxs(const struct nnpu_netlink_dump *dump, struct nnpu_device *ndev,
				  unsigned long *item)
{
	int ret = 0;

	for (*item = max_t(unsigned long, *item, ndev->contexts.limit.min);
	     *item <= ndev->contexts.limit.max; ++*item) {
		ret = nnpu_netlink_step(dump);
		if (ret)
			break;
		nnpu_netlink_look(dump);
		ret = nnpu_netlink_dump_ctx(dump, ndev, *item);
		if (ret)
			break;
	}
	return ret;
}

/* A part of the queues, from *@item on. @more: there may be others. */
static int nnpu_netlink_dump_some_queues(const struct nnpu_netlink_dump *dump,
					 struct nnpu_device *ndev, unsigned long *item, bool *more)
{
	struct nnpu_netlink_pos *pos = (void *)dump->cb->ctx;
	struct nnpu_userq *uq, *last = pos->last_queue;
	struct nnpu_userqs *uqs = &ndev->userqs;
	unsigned int looks = 0;
	int ret = 0;

	/* Of another device. */
	if (last && last->ndev != ndev)
		last = NULL;
	*more = false;
	mutex_lock(&uqs->lock);
	while ((uq = nnpu_userq_next(uqs, last, *item))) {
		void *head;

		*more = ++looks > NNPU_NETLINK_MAX_LOOKS;
		ret = *more ? 0 : nnpu_netlink_step(dump);
		if (*more || ret)
			break;
		if (nnpu_netlink_may_see(&dump->to, uq->ctx->tally)) {
			nnpu_netlink_look(dump);
			head = nnpu_netlink_begin(dump);
			ret = head ? nnpu_netlink_end(dump, head,
						      nnpu_netlink_fill_queue(&dump->to, uq)) :
				     -EMSGSIZE;
			if (ret)
				break;
		}
		*item = uq->number + 1;
		last = uq;
	}
	if (last)
		kref_get(&last->ref);
	mutex_unlock(&uqs->lock);
	if (pos->last_queue)
		nnpu_userq_put(pos->last_queue);
	pos->last_queue = last;
	return ret;
}

/* A device reset waits for the lock: a dump that may show few of many drops it now and then. */
static int nnpu_netlink_dump_queues(const struct nnpu_netlink_dump *dump,
				    struct nnpu_device *ndev, unsigned long *item)
{
	bool more;
	int ret;

	do {
		ret = nnpu_netlink_dump_some_queues(dump, ndev, item, &more);
	} while (more && !ret);
	return ret;
}

/* One answer to recvmsg() of a dump. @attr: names the device, 0: there is no such attribute. */
static int nnpu_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			     enum nnpu_netlink_kind kind, int attr,
			     int (*items)(const struct nnpu_netlink_dump *dump,
					  struct nnpu_device *ndev, unsigned long *item))
{
	const struct genl_info *info = genl_info_dump(cb);
	struct nnpu_netlink_pos *pos = (void *)cb->ctx;
	unsigned int looked = 0;
	const struct nnpu_netlink_dump dump = {
		.to = { .request = cb->skb, .answer = skb,
			.asker = pos->asker, .process = pos->process },
		.cb = cb,
		.cmd = cmd,
		.kind = kind,
		.looked = &looked,
	};
	bool one = attr && info->attrs[attr];
	struct nnpu_device *ndev;
	int ret = 0;

	BUILD_BUG_ON(sizeof(*pos) > sizeof(cb->ctx));
	nnpu_netlink_look(&dump);
	if (one && pos->dev <= nla_get_u32(info->attrs[attr])) {
		ndev = nnpu_netlink_named(info, attr);
		if (IS_ERR(ndev))
			return PTR_ERR(ndev);
		pos->dev = ndev->netlink_id;
		drm_dev_put(&ndev->drm);
	} else if (one) {
		return 0;
	}
	while ((ndev = nnpu_netlink_find(pos->dev))) {
		/* Others may have gone, and so may the one that is asked for. */
		if (one && ndev->netlink_id != nla_get_u32(info->attrs[attr])) {
			drm_dev_put(&ndev->drm);
			break;
		}
		if (pos->dev != ndev->netlink_id) {
			pos->dev = ndev->netlink_id;
			pos->item = 0;
		}
		ret = items(&dump, ndev, &pos->item);
		drm_dev_put(&ndev->drm);
		if (ret)
			break;
		pos->dev++;
		pos->item = 0;
		if (one)
			break;
	}
	nnpu_netlink_look(&dump);
	return ret == -EMSGSIZE && skb->len ? skb->len : ret;
}

int nnpu_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nnpu_netlink_dump(skb, cb, NNPU_CMD_DEV_GET, NNPU_NETLINK_DEVICES, 0,
				 nnpu_netlink_dump_dev);
}

int nnpu_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nnpu_netlink_dump(skb, cb, NNPU_CMD_STATS_GET, NNPU_NETLINK_DEVICES, 0,
				 nnpu_netlink_dump_dev);
}

int nnpu_nl_client_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nnpu_netlink_dump(skb, cb, NNPU_CMD_CLIENT_GET, NNPU_NETLINK_CLIENTS,
				 NNPU_A_CLIENT_DEV_ID, nnpu_netlink_dump_clients);
}

int nnpu_nl_ctx_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nnpu_netlink_dump(skb, cb, NNPU_CMD_CTX_GET, NNPU_NETLINK_CONTEXTS,
				 NNPU_A_CTX_DEV_ID, nnpu_netlink_dump_ctxs);
}

int nnpu_nl_queue_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return nnpu_netlink_dump(skb, cb, NNPU_CMD_QUEUE_GET, NNPU_NETLINK_QUEUES,
				 NNPU_A_QUEUE_DEV_ID, nnpu_netlink_dump_queues);
}

/* Requests for one object. */

/**
 * struct nnpu_netlink_reply - answer to a request
 * @to: reader
 * @head: its message
 */
struct nnpu_netlink_reply {
	struct nnpu_netlink_reader to;
	void *head;
};

static int nnpu_netlink_reply_begin(struct nnpu_netlink_reply *reply, struct sk_buff *request,
				    struct genl_info *info)
{
	reply->to.request = request;
	reply->to.process = task_tgid(current);
	reply->to.answer = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!reply->to.answer)
		return -ENOMEM;
	reply->head = genlmsg_iput(reply->to.answer, info);
	if (reply->head)
		return 0;
	nlmsg_free(reply->to.answer);
	return -EMSGSIZE;
}

/* @ret: of what filled the message in. */
static int nnpu_netlink_reply_end(struct nnpu_netlink_reply *reply, struct genl_info *info, int ret)
{
	if (ret) {
		nlmsg_free(reply->to.answer);
		return ret;
	}
	genlmsg_end(reply->to.answer, reply->head);
	return genlmsg_reply(reply->to.answer, info);
}

static int nnpu_netlink_get_dev(struct sk_buff *skb, struct genl_info *info, int attr,
				int (*fill)(const struct nnpu_netlink_reader *to,
					    struct nnpu_device *ndev))
{
	struct nnpu_device *ndev = nnpu_netlink_named(info, attr);
	struct nnpu_netlink_reply reply;
	int ret;

	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	ret = nnpu_netlink_reply_begin(&reply, skb, info);
	if (!ret)
		ret = nnpu_netlink_reply_end(&reply, info, fill(&reply.to, ndev));
	drm_dev_put(&ndev->drm);
	return ret;
}

int nnpu_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nnpu_netlink_get_dev(skb, info, NNPU_A_DEV_ID, nnpu_netlink_fill_dev);
}

int nnpu_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nnpu_netlink_get_dev(skb, info, NNPU_A_STATS_DEV_ID, nnpu_netlink_fill_stats);
}

static int nnpu_netlink_get_client(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev,
				   struct nlattr *attr)
{
	unsigned long wanted = nla_get_uint(attr), id = wanted;
	struct nnpu_tally *tally = nnpu_tally_next(ndev, &id);
	int ret = -ENOENT;

	if (!tally)
		return ret;
	if (id == wanted)
		ret = nnpu_netlink_may_see(to, tally) ?
		      nnpu_netlink_fill_client(to, ndev, tally) : -EPERM;
	nnpu_tally_put(tally);
	return ret;
}

static int nnpu_netlink_get_ctx(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev,
				struct nlattr *attr)
{
	struct nnpu_netlink_ctx_look look = { .to = to };
	u32 id = nla_get_u32(attr);
	int ret;

	ret = nnpu_table_visit(&ndev->contexts, id, nnpu_netlink_get_owner, &look);
	if (ret)
		return ret;
	ret = nnpu_netlink_may_see(to, look.owner) ?
	      nnpu_table_visit(&ndev->contexts, id, nnpu_netlink_copy_ctx, &look) : -EPERM;
	nnpu_tally_put(look.owner);
	return ret;
}

static int nnpu_netlink_get_queue(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev,
				  struct nlattr *attr)
{
	u64 number = nla_get_uint(attr);
	struct nnpu_userq *uq;
	int ret = -ENOENT;

	mutex_lock(&ndev->userqs.lock);
	list_for_each_entry(uq, &ndev->userqs.all, node)
		if (uq->number == number) {
			ret = nnpu_netlink_may_see(to, uq->ctx->tally) ?
			      nnpu_netlink_fill_queue(to, uq) : -EPERM;
			break;
		}
	mutex_unlock(&ndev->userqs.lock);
	return ret;
}

static int nnpu_netlink_get_object(struct sk_buff *skb, struct genl_info *info, int dev_attr,
				   int attr, int (*get)(const struct nnpu_netlink_reader *to,
							struct nnpu_device *ndev,
							struct nlattr *attr))
{
	struct nnpu_device *ndev = nnpu_netlink_named(info, dev_attr);
	struct nnpu_netlink_reply reply;
	int ret;

	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	ret = -EINVAL;
	if (!GENL_REQ_ATTR_CHECK(info, attr))
		ret = nnpu_netlink_reply_begin(&reply, skb, info);
	if (!ret)
		ret = nnpu_netlink_reply_end(&reply, info, get(&reply.to, ndev, info->attrs[attr]));
	drm_dev_put(&ndev->drm);
	return ret;
}

int nnpu_nl_client_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nnpu_netlink_get_object(skb, info, NNPU_A_CLIENT_DEV_ID, NNPU_A_CLIENT_ID,
				       nnpu_netlink_get_client);
}

int nnpu_nl_ctx_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nnpu_netlink_get_object(skb, info, NNPU_A_CTX_DEV_ID, NNPU_A_CTX_ID,
				       nnpu_netlink_get_ctx);
}

int nnpu_nl_queue_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return nnpu_netlink_get_object(skb, info, NNPU_A_QUEUE_DEV_ID, NNPU_A_QUEUE_ID,
				       nnpu_netlink_get_queue);
}

/* All clients lose their contexts: this needs CAP_SYS_ADMIN in the first user namespace. */
int nnpu_nl_reset_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nnpu_netlink_reply reply;
	struct nnpu_device *ndev;
	u64 resets = 0;
	int ret, idx;

	if (!netlink_capable(skb, CAP_SYS_ADMIN))
		return -EPERM;
	ndev = nnpu_netlink_named(info, NNPU_A_DEV_ID);
	if (IS_ERR(ndev))
		return PTR_ERR(ndev);
	ret = nnpu_netlink_reply_begin(&reply, skb, info);
	if (ret)
		goto out;
	if (nnpu_device_enter(ndev, &idx)) {
		resets = nnpu_reset_request(ndev);
		nnpu_device_exit(ndev, idx);
	} else {
		ret = -ENODEV;
	}
	if (!ret && (nla_put_u32(reply.to.answer, NNPU_A_DEV_ID, ndev->netlink_id) ||
		     nla_put_uint(reply.to.answer, NNPU_A_DEV_RESETS, resets)))
		ret = -EMSGSIZE;
	ret = nnpu_netlink_reply_end(&reply, info, ret);
out:
	drm_dev_put(&ndev->drm);
	return ret;
}

/* Life. */

/**
 * nnpu_netlink_add - a device can be used
 * @ndev: device, registered
 */
void nnpu_netlink_add(struct nnpu_device *ndev)
{
	struct nnpu_device *after;

	mutex_lock(&nnpu_netlink_lock);
	/* In the order of the numbers; devices may be probed at the same time. */
	list_for_each_entry(after, &nnpu_netlink_devices, netlink_node)
		if (after->netlink_id > ndev->netlink_id)
			break;
	list_add_tail(&ndev->netlink_node, &after->netlink_node);
	mutex_unlock(&nnpu_netlink_lock);
	nnpu_netlink_changed(NNPU_NETLINK_DEVICES);
	nnpu_event_device(ndev, NNPU_EVENT_TYPE_ARRIVAL);
}

/**
 * nnpu_netlink_remove - the driver is about to leave a device
 * @ndev: device
 *
 * Nothing happens if it was not added, or was removed already.
 */
void nnpu_netlink_remove(struct nnpu_device *ndev)
{
	enum nnpu_netlink_kind kind;
	bool listed;

	mutex_lock(&nnpu_netlink_lock);
	listed = !list_empty(&ndev->netlink_node);
	list_del_init(&ndev->netlink_node);
	mutex_unlock(&nnpu_netlink_lock);
	if (!listed)
		return;
	/* Dumps do not find its clients any more, with all that they have. */
	for (kind = 0; kind < NNPU_NETLINK_KINDS; kind++)
		nnpu_netlink_changed(kind);
	nnpu_event_device(ndev, NNPU_EVENT_TYPE_REMOVAL);
}

/**
 * nnpu_netlink_init_device - number a device
 * @ndev: device, which nobody can use yet
 */
void nnpu_netlink_init_device(struct nnpu_device *ndev)
{
	INIT_LIST_HEAD(&ndev->netlink_node);
	mutex_lock(&nnpu_netlink_lock);
	ndev->netlink_id = nnpu_netlink_next_id++;
	mutex_unlock(&nnpu_netlink_lock);
}

/**
 * nnpu_netlink_setup - register the family
 *
 * Before devices come, so that no event is lost.
 *
 * Return: 0 or a negative errno.
 */
int __init nnpu_netlink_setup(void)
{
	int ret = nnpu_event_setup();

	if (ret)
		return ret;
	nnpu_nl_family.mcgrps = nnpu_netlink_groups;
	nnpu_nl_family.n_mcgrps = ARRAY_SIZE(nnpu_netlink_groups);
	ret = genl_register_family(&nnpu_nl_family);
	if (ret)
		nnpu_event_teardown();
	return ret;
}

/**
 * nnpu_netlink_teardown - undo nnpu_netlink_setup()
 *
 * All devices are gone. Sends the last events first.
 */
void nnpu_netlink_teardown(void)
{
	nnpu_event_teardown();
	genl_unregister_family(&nnpu_nl_family);
}
