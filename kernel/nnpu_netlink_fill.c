// SPDX-License-Identifier: GPL-2.0-only
/*
 * What netlink says of an object, and to whom. Every process may see what a device is. What a
 * device does for all clients together is for processes that have opened its node, and for those
 * with CAP_SYS_ADMIN. What a client does may be seen by the user who opened the file, and by
 * processes with CAP_SYS_ADMIN in the user namespace in which it was opened, or above.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/netlink.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <drm/drm_file.h>
#include <drm/nnpu_accel.h>

#include <net/netlink.h>
#include <net/sock.h>

#include <linux/nnpu_netlink.h>

#include "nnpu_ctx.h"
#include "nnpu_device.h"
#include "nnpu_event.h"
#include "nnpu_netlink_fill.h"
#include "nnpu_tally.h"
#include "nnpu_userq.h"

/**
 * struct nnpu_netlink_u32 - an attribute
 * @attr: its number
 * @value: its value
 */
struct nnpu_netlink_u32 {
	int attr;
	u32 value;
};

/**
 * struct nnpu_netlink_uint - an attribute
 * @attr: its number
 * @value: its value
 */
struct nnpu_netlink_uint {
	int attr;
	u64 value;
};

static int nnpu_netlink_put_u32s(struct sk_buff *skb, const struct nnpu_netlink_u32 *fields,
				 unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (nla_put_u32(skb, fields[i].attr, fields[i].value))
			return -EMSGSIZE;
	return 0;
}

static int nnpu_netlink_put_uints(struct sk_buff *skb, const struct nnpu_netlink_uint *fields,
				  unsigned int num)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (nla_put_uint(skb, fields[i].attr, fields[i].value))
			return -EMSGSIZE;
	return 0;
}

/* Did the process that asked have the right, too? */
static bool nnpu_netlink_asker_may(const struct nnpu_netlink_reader *to,
				   struct user_namespace *user_ns)
{
	const struct cred *reader;
	bool may;

	if (!to->asker || to->asker == current_cred())
		return true;
	reader = override_creds(to->asker);
	may = ns_capable(user_ns, CAP_SYS_ADMIN);
	revert_creds(reader);
	return may;
}

/**
 * nnpu_netlink_may_see_use - may the reader see what a device does for all clients together?
 * @to: reader
 * @ndev: device
 *
 * Its load tells much about the work of others. A process that may open the node can measure it
 * anyway. An open file is looked at, not the right to open one: only the VFS can judge that right.
 *
 * Return: true if so.
 */
bool nnpu_netlink_may_see_use(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev)
{
	kuid_t uid = READ_ONCE(NETLINK_CB(to->request).sk->sk_uid);

	return nnpu_tally_is_client(ndev, to->process, uid) ||
	       (netlink_capable(to->request, CAP_SYS_ADMIN) &&
		nnpu_netlink_asker_may(to, &init_user_ns));
}

/**
 * nnpu_netlink_may_see - may the reader see what a client does?
 * @to: reader
 * @tally: client
 *
 * The socket has to be the owner's as well, so that a process cannot have the owner ask on a socket
 * of its own. A capability counts only if the opener of the socket, the sender of the request and
 * the reader have it: a privileged program that is given a socket reads what another one has asked
 * for.
 *
 * Return: true if so.
 */
bool nnpu_netlink_may_see(const struct nnpu_netlink_reader *to, const struct nnpu_tally *tally)
{
	const struct cred *cred = tally->cred;
	struct sock *sk = NETLINK_CB(to->request).sk;

	if (uid_eq(NETLINK_CREDS(to->request)->uid, cred->euid) &&
	    uid_eq(READ_ONCE(sk->sk_uid), cred->euid))
		return true;
	return netlink_ns_capable(to->request, cred->user_ns, CAP_SYS_ADMIN) &&
	       nnpu_netlink_asker_may(to, cred->user_ns);
}

static int nnpu_netlink_put_owner(const struct nnpu_netlink_reader *to,
				  const struct nnpu_tally *tally, int pid_attr, int uid_attr)
{
	struct user_namespace *user_ns = sk_user_ns(NETLINK_CB(to->request).sk);
	pid_t pid = pid_nr_ns(tally->pid, task_active_pid_ns(current));

	/* 0: the reader's pid namespace does not have it. */
	if ((pid && nla_put_u32(to->answer, pid_attr, pid)) ||
	    nla_put_u32(to->answer, uid_attr, from_kuid_munged(user_ns, tally->cred->euid)))
		return -EMSGSIZE;
	return 0;
}

static enum nnpu_dev_state nnpu_netlink_state(const struct nnpu_device *ndev)
{
	if (READ_ONCE(ndev->dead))
		return NNPU_DEV_STATE_DEAD;
	return READ_ONCE(ndev->paused) ? NNPU_DEV_STATE_PAUSED : NNPU_DEV_STATE_RUNNING;
}

static int nnpu_netlink_put_node(struct sk_buff *skb, struct nnpu_device *ndev)
{
	struct drm_device *drm = &ndev->drm;
	char node[32];

	if (drm->accel)
		snprintf(node, sizeof(node), "accel/accel%d", drm->accel->index);
	else if (drm->render)
		snprintf(node, sizeof(node), "dri/renderD%d", drm->render->index);
	else
		return 0;
	return nla_put_string(skb, NNPU_A_DEV_NODE, node);
}

/*
 * What only the device knows. Nothing, if it does not answer. Reads registers: not for everybody.
 */
static int nnpu_netlink_put_dev_regs(struct sk_buff *skb, struct nnpu_device *ndev)
{
	struct nnpu_netlink_uint mem[] = {
		{ NNPU_A_DEV_MEM_TOTAL }, { NNPU_A_DEV_MEM_USED }, { NNPU_A_DEV_MEM_PEAK },
	};
	bool answers;
	u32 level;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return 0;
	mem[0].value = nnpu_device_read_counter(ndev, NNPU_REG_MEM_TOTAL_LO);
	mem[1].value = nnpu_device_read_counter(ndev, NNPU_REG_MEM_USED_LO);
	mem[2].value = nnpu_device_read_counter(ndev, NNPU_REG_MEM_PEAK_LO);
	level = nnpu_read(ndev, NNPU_REG_PERF_LEVEL);
	answers = nnpu_read(ndev, NNPU_REG_ID) == NNPU_ID_MAGIC;
	nnpu_device_exit(ndev, idx);
	if (!answers)
		return 0;
	BUILD_BUG_ON(NNPU_PERF_LEVEL_LOW != NNPU_PERF_LOW);
	BUILD_BUG_ON(NNPU_PERF_LEVEL_MEDIUM != NNPU_PERF_MEDIUM);
	BUILD_BUG_ON(NNPU_PERF_LEVEL_HIGH != NNPU_PERF_HIGH);
	if (ndev->features & NNPU_FEATURE_PERF_LEVELS && level < NNPU_PERF_NUM &&
	    nla_put_u32(skb, NNPU_A_DEV_PERF_LEVEL, level))
		return -EMSGSIZE;
	return nnpu_netlink_put_uints(skb, mem, ARRAY_SIZE(mem));
}

static int nnpu_netlink_put_dev_use(struct sk_buff *skb, struct nnpu_device *ndev)
{
	const struct nnpu_netlink_u32 numbers[] = {
		{ NNPU_A_DEV_CLIENTS, atomic_read(&ndev->stats.clients) },
		{ NNPU_A_DEV_CONTEXTS, atomic_read(&ndev->stats.contexts) },
		{ NNPU_A_DEV_QUEUES, atomic_read(&ndev->stats.queues) },
		{ NNPU_A_DEV_QUEUES_ACTIVE, atomic_read(&ndev->power.queues) },
		{ NNPU_A_DEV_JOBS, atomic_read(&ndev->stats.jobs) },
		{ NNPU_A_DEV_PROGRAMS, atomic_read(&ndev->stats.programs) },
		{ NNPU_A_DEV_BUFFERS, atomic_read(&ndev->stats.buffers) },
	};
	const struct nnpu_netlink_uint large[] = {
		{ NNPU_A_DEV_PINNED, atomic64_read(&ndev->stats.pinned_bytes) },
		{ NNPU_A_DEV_RESETS, atomic64_read(&ndev->reset_count) },
	};

	if (nnpu_netlink_put_u32s(skb, numbers, ARRAY_SIZE(numbers)) ||
	    nnpu_netlink_put_uints(skb, large, ARRAY_SIZE(large)))
		return -EMSGSIZE;
	return nnpu_netlink_put_dev_regs(skb, ndev);
}

/**
 * nnpu_netlink_fill_dev - attributes of a device
 * @to: reader
 * @ndev: device
 *
 * Return: 0 or -EMSGSIZE.
 */
int nnpu_netlink_fill_dev(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev)
{
	const struct nnpu_netlink_u32 numbers[] = {
		{ NNPU_A_DEV_ID, ndev->netlink_id },
		{ NNPU_A_DEV_HW_VERSION, ndev->hw_version },
		{ NNPU_A_DEV_ABI_MAJOR, NNPU_DRIVER_MAJOR },
		{ NNPU_A_DEV_ABI_MINOR, NNPU_DRIVER_MINOR },
		{ NNPU_A_DEV_STATE, nnpu_netlink_state(ndev) },
		{ NNPU_A_DEV_ENGINES, ndev->limits.num_engines },
		{ NNPU_A_DEV_MAX_CONTEXTS, ndev->limits.max_contexts },
		{ NNPU_A_DEV_HW_QUEUES, ndev->userqs.num_hw },
	};
	struct sk_buff *skb = to->answer;

	if (nnpu_netlink_put_u32s(skb, numbers, ARRAY_SIZE(numbers)) ||
	    nla_put_uint(skb, NNPU_A_DEV_FEATURES, ndev->features) ||
	    nla_put_string(skb, NNPU_A_DEV_BUS_NAME, dev_name(ndev->drm.dev)) ||
	    nnpu_netlink_put_node(skb, ndev) ||
	    nla_put_string(skb, NNPU_A_DEV_NAME, ndev->identify->name) ||
	    nla_put_string(skb, NNPU_A_DEV_FIRMWARE, ndev->identify->firmware))
		return -EMSGSIZE;
	return nnpu_netlink_may_see_use(to, ndev) ? nnpu_netlink_put_dev_use(skb, ndev) : 0;
}

static int nnpu_netlink_put_dev_counts(struct sk_buff *skb, struct nnpu_device *ndev)
{
	struct nnpu_netlink_uint counts[] = {
		{ NNPU_A_STATS_BUSY }, { NNPU_A_STATS_DEV_JOBS },
	};
	bool answers;
	int idx;

	if (!nnpu_device_enter(ndev, &idx))
		return 0;
	counts[0].value = nnpu_device_read_counter(ndev, NNPU_REG_BUSY_LO);
	counts[1].value = nnpu_device_read_counter(ndev, NNPU_REG_JOBS_LO);
	answers = nnpu_read(ndev, NNPU_REG_ID) == NNPU_ID_MAGIC;
	nnpu_device_exit(ndev, idx);
	return answers ? nnpu_netlink_put_uints(skb, counts, ARRAY_SIZE(counts)) : 0;
}

static int nnpu_netlink_put_stats(struct sk_buff *skb, struct nnpu_device *ndev,
				  const struct nnpu_totals *sum)
{
	const struct nnpu_stats *stats = &ndev->stats;
	const struct nnpu_netlink_uint counts[] = {
		{ NNPU_A_STATS_TIME, ktime_get_ns() },
		{ NNPU_A_STATS_SUBMITTED, sum->counts[NNPU_COUNT_SUBMITTED] },
		{ NNPU_A_STATS_COMPLETED, sum->counts[NNPU_COUNT_COMPLETED] },
		{ NNPU_A_STATS_FAILED, sum->counts[NNPU_COUNT_FAILED] },
		{ NNPU_A_STATS_TIMEDOUT, sum->counts[NNPU_COUNT_TIMEDOUT] },
		{ NNPU_A_STATS_ENGINE, sum->counts[NNPU_COUNT_ENGINE_NS] },
		{ NNPU_A_STATS_HANGS, atomic64_read(&stats->hangs) },
		{ NNPU_A_STATS_QUEUE_RESETS, atomic64_read(&stats->queue_resets) },
		{ NNPU_A_STATS_DEV_RESETS, atomic64_read(&stats->device_resets) },
		{ NNPU_A_STATS_LOST_IRQS, atomic64_read(&stats->lost_irqs) },
		{ NNPU_A_STATS_UNKNOWN_CIDS, atomic64_read(&stats->unknown_cids) },
		{ NNPU_A_STATS_BAD_COMPLETIONS, atomic64_read(&stats->bad_completions) },
		{ NNPU_A_STATS_LOST_JOBS, atomic64_read(&stats->lost_jobs) },
		{ NNPU_A_STATS_ADMIN_TIMEOUTS, atomic64_read(&stats->admin_timeouts) },
	};

	if (nnpu_netlink_put_uints(skb, counts, ARRAY_SIZE(counts)) ||
	    nla_put(skb, NNPU_A_STATS_LATENCY_WAIT, sizeof(sum->latency[NNPU_LATENCY_WAIT]),
		    sum->latency[NNPU_LATENCY_WAIT]) ||
	    nla_put(skb, NNPU_A_STATS_LATENCY_RUN, sizeof(sum->latency[NNPU_LATENCY_RUN]),
		    sum->latency[NNPU_LATENCY_RUN]) ||
	    nla_put(skb, NNPU_A_STATS_LATENCY_TOTAL, sizeof(sum->latency[NNPU_LATENCY_TOTAL]),
		    sum->latency[NNPU_LATENCY_TOTAL]))
		return -EMSGSIZE;
	return 0;
}

/**
 * nnpu_netlink_fill_stats - counters of a device
 * @to: reader
 * @ndev: device
 *
 * Return: 0, -EPERM if the reader may not see them, -EMSGSIZE, or -ENOMEM.
 */
int nnpu_netlink_fill_stats(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev)
{
	struct nnpu_totals *sum;
	struct nnpu_netlink_uint events[] = {
		{ NNPU_A_STATS_EVENTS }, { NNPU_A_STATS_EVENTS_LOST },
	};
	struct sk_buff *skb = to->answer;
	int ret;

	if (!nnpu_netlink_may_see_use(to, ndev))
		return -EPERM;
	sum = kmalloc(sizeof(*sum), GFP_KERNEL);
	if (!sum)
		return -ENOMEM;
	/* User queues that are at work. */
	nnpu_userq_hw_account_all(ndev, NULL);
	nnpu_tally_read_totals(ndev, sum);
	nnpu_event_counts(&events[0].value, &events[1].value);
	ret = nla_put_u32(skb, NNPU_A_STATS_DEV_ID, ndev->netlink_id);
	if (!ret)
		ret = nnpu_netlink_put_stats(skb, ndev, sum);
	if (!ret)
		ret = nnpu_netlink_put_dev_counts(skb, ndev);
	if (!ret)
		ret = nnpu_netlink_put_uints(skb, events, ARRAY_SIZE(events));
	kfree(sum);
	return ret;
}

static int nnpu_netlink_put_latency(struct sk_buff *skb, int attr, const atomic64_t *buckets)
{
	struct nlattr *nla = nla_reserve(skb, attr, NNPU_LATENCY_BUCKETS * sizeof(u64));
	unsigned int i;

	if (!nla)
		return -EMSGSIZE;
	for (i = 0; i < NNPU_LATENCY_BUCKETS; i++) {
		u64 count = atomic64_read(&buckets[i]);

		/* Attributes are aligned to 4 bytes. */
		memcpy(nla_data(nla) + i * sizeof(count), &count, sizeof(count));
	}
	return 0;
}

/**
 * nnpu_netlink_fill_client - attributes of a client
 * @to: reader, which may see it
 * @ndev: device
 * @tally: client
 *
 * Return: 0 or -EMSGSIZE.
 */
int nnpu_netlink_fill_client(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev,
			     struct nnpu_tally *tally)
{
	const struct nnpu_netlink_u32 numbers[] = {
		{ NNPU_A_CLIENT_DEV_ID, ndev->netlink_id },
		{ NNPU_A_CLIENT_CONTEXTS, atomic_read(&tally->contexts) },
		{ NNPU_A_CLIENT_QUEUES, atomic_read(&tally->queues) },
		{ NNPU_A_CLIENT_BUFFERS, atomic_read(&tally->buffers) },
	};
	struct nnpu_netlink_uint large[] = {
		{ NNPU_A_CLIENT_ID, tally->id },
		{ NNPU_A_CLIENT_MEMORY, atomic64_read(&tally->memory) },
		{ NNPU_A_CLIENT_PINNED, atomic64_read(&tally->pinned) },
		{ NNPU_A_CLIENT_DEVICE_MEMORY, atomic64_read(&tally->device_memory) },
		{ NNPU_A_CLIENT_SUBMITTED, nnpu_tally_counted(tally, NNPU_COUNT_SUBMITTED) },
		{ NNPU_A_CLIENT_COMPLETED, nnpu_tally_counted(tally, NNPU_COUNT_COMPLETED) },
		{ NNPU_A_CLIENT_FAILED, nnpu_tally_counted(tally, NNPU_COUNT_FAILED) },
		{ NNPU_A_CLIENT_TIMEDOUT, nnpu_tally_counted(tally, NNPU_COUNT_TIMEDOUT) },
		{ NNPU_A_CLIENT_ENGINE, nnpu_tally_counted(tally, NNPU_COUNT_ENGINE_NS) },
	};
	struct sk_buff *skb = to->answer;

	if (nnpu_netlink_put_u32s(skb, numbers, ARRAY_SIZE(numbers)) ||
	    nnpu_netlink_put_uints(skb, large, ARRAY_SIZE(large)) ||
	    nnpu_netlink_put_owner(to, tally, NNPU_A_CLIENT_PID, NNPU_A_CLIENT_UID) ||
	    nla_put_string(skb, NNPU_A_CLIENT_COMM, tally->comm) ||
	    nnpu_netlink_put_latency(skb, NNPU_A_CLIENT_LATENCY_WAIT,
				     tally->latency[NNPU_LATENCY_WAIT]) ||
	    nnpu_netlink_put_latency(skb, NNPU_A_CLIENT_LATENCY_RUN,
				     tally->latency[NNPU_LATENCY_RUN]) ||
	    nnpu_netlink_put_latency(skb, NNPU_A_CLIENT_LATENCY_TOTAL,
				     tally->latency[NNPU_LATENCY_TOTAL]))
		return -EMSGSIZE;
	return 0;
}

/**
 * nnpu_netlink_fill_ctx - attributes of a context
 * @to: reader, which may see it
 * @ctx: context
 *
 * Return: 0 or -EMSGSIZE.
 */
int nnpu_netlink_fill_ctx(const struct nnpu_netlink_reader *to, struct nnpu_ctx *ctx)
{
	const struct nnpu_netlink_u32 numbers[] = {
		{ NNPU_A_CTX_DEV_ID, ctx->ndev->netlink_id },
		{ NNPU_A_CTX_ID, ctx->id },
		{ NNPU_A_CTX_WEIGHT, ctx->attrs.weight },
		{ NNPU_A_CTX_PRIORITIES, ctx->attrs.num_priorities },
		{ NNPU_A_CTX_SLOTS, atomic_read(&ctx->num_slots) },
		{ NNPU_A_CTX_PROGRAMS, atomic_read(&ctx->num_programs) },
		{ NNPU_A_CTX_JOBS, atomic_read(&ctx->num_jobs) },
	};
	const struct nnpu_netlink_uint large[] = {
		{ NNPU_A_CTX_CLIENT_ID, ctx->tally->id },
		{ NNPU_A_CTX_MEM_LIMIT, ctx->attrs.mem_limit },
		{ NNPU_A_CTX_TIME_LIMIT, ctx->attrs.time_limit_ns },
		{ NNPU_A_CTX_SUBMITTED, nnpu_ctx_counted(ctx, NNPU_COUNT_SUBMITTED) },
		{ NNPU_A_CTX_COMPLETED, nnpu_ctx_counted(ctx, NNPU_COUNT_COMPLETED) },
		{ NNPU_A_CTX_FAILED, nnpu_ctx_counted(ctx, NNPU_COUNT_FAILED) },
		{ NNPU_A_CTX_TIMEDOUT, nnpu_ctx_counted(ctx, NNPU_COUNT_TIMEDOUT) },
		{ NNPU_A_CTX_ENGINE, nnpu_ctx_counted(ctx, NNPU_COUNT_ENGINE_NS) },
	};
	struct sk_buff *skb = to->answer;

	if (nnpu_netlink_put_u32s(skb, numbers, ARRAY_SIZE(numbers)) ||
	    nnpu_netlink_put_uints(skb, large, ARRAY_SIZE(large)) ||
	    nnpu_netlink_put_owner(to, ctx->tally, NNPU_A_CTX_PID, NNPU_A_CTX_UID) ||
	    (nnpu_ctx_is_lost(ctx) && nla_put_flag(skb, NNPU_A_CTX_LOST)) ||
	    (ctx->attrs.sched_class == NNPU_CTX_CLASS_URGENT &&
	     nla_put_flag(skb, NNPU_A_CTX_URGENT)))
		return -EMSGSIZE;
	return 0;
}

/**
 * nnpu_netlink_fill_queue - attributes of a user queue
 * @to: reader, which may see it
 * @uq: queue that has not ended; nnpu_userqs.lock is held
 *
 * Return: 0 or -EMSGSIZE.
 */
int nnpu_netlink_fill_queue(const struct nnpu_netlink_reader *to, struct nnpu_userq *uq)
{
	const struct nnpu_netlink_u32 numbers[] = {
		{ NNPU_A_QUEUE_DEV_ID, uq->ndev->netlink_id },
		{ NNPU_A_QUEUE_CTX_ID, uq->ctx->id },
		{ NNPU_A_QUEUE_HANDLE, uq->id },
		{ NNPU_A_QUEUE_STATE, uq->state },
		{ NNPU_A_QUEUE_PRIORITY, uq->priority },
		{ NNPU_A_QUEUE_SQ_ENTRIES, uq->sq_entries },
		{ NNPU_A_QUEUE_CQ_ENTRIES, uq->cq_entries },
		{ NNPU_A_QUEUE_EVENTS, atomic_read(&uq->events) },
	};
	const struct nnpu_netlink_uint large[] = {
		{ NNPU_A_QUEUE_ID, uq->number },
		{ NNPU_A_QUEUE_CLIENT_ID, uq->ctx->tally->id },
	};
	struct sk_buff *skb = to->answer;

	BUILD_BUG_ON(NNPU_QUEUE_STATUS_PARKED != (int)NNPU_USERQ_PARKED);
	BUILD_BUG_ON(NNPU_QUEUE_STATUS_LEAVING != (int)NNPU_USERQ_LEAVING);
	BUILD_BUG_ON(NNPU_QUEUE_STATUS_DESTROYED != (int)NNPU_USERQ_DESTROYED);
	if (nnpu_netlink_put_u32s(skb, numbers, ARRAY_SIZE(numbers)) ||
	    nnpu_netlink_put_uints(skb, large, ARRAY_SIZE(large)) ||
	    (uq->qid && nla_put_u32(skb, NNPU_A_QUEUE_HW_QUEUE, uq->qid)) ||
	    nnpu_netlink_put_owner(to, uq->ctx->tally, NNPU_A_QUEUE_PID, NNPU_A_QUEUE_UID))
		return -EMSGSIZE;
	return 0;
}

/**
 * nnpu_netlink_get_owner - of a context, the client, whose life nobody waits for
 * @object: context, for nnpu_table_visit()
 * @data: struct nnpu_netlink_ctx_look; its owner is filled in
 *
 * Return: 0 or -ENOENT.
 */
int nnpu_netlink_get_owner(void *object, void *data)
{
	struct nnpu_netlink_ctx_look *look = data;
	struct nnpu_ctx *ctx = object;

	if (!refcount_read(&ctx->ref))
		return -ENOENT;
	look->owner = nnpu_tally_get(ctx->tally);
	return 0;
}

/**
 * nnpu_netlink_copy_ctx - attributes of a context, whose number may have another one by now
 * @object: context, for nnpu_table_visit()
 * @data: struct nnpu_netlink_ctx_look
 *
 * Return: 0, -ENOENT or -EMSGSIZE.
 */
int nnpu_netlink_copy_ctx(void *object, void *data)
{
	struct nnpu_netlink_ctx_look *look = data;
	struct nnpu_ctx *ctx = object;

	if (!refcount_read(&ctx->ref) || ctx->tally != look->owner)
		return -ENOENT;
	return nnpu_netlink_fill_ctx(look->to, ctx);
}
