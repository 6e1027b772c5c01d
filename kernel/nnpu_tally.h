/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_TALLY_H_
#define _NNPU_TALLY_H_

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>

#include "nnpu_latency.h"

struct cred;
struct drm_file;
struct nnpu_device;
struct pid;

/* Values of enum nnpu_limit_kind. */
#define NNPU_NUM_LIMITS		(NNPU_LIMIT_KIND_MEMORY + 1)

/**
 * enum nnpu_count - what is counted
 * @NNPU_COUNT_SUBMITTED: jobs accepted
 * @NNPU_COUNT_COMPLETED: jobs that have ended; the fence of a cancelled one may signal later
 * @NNPU_COUNT_FAILED: of these, not successful
 * @NNPU_COUNT_TIMEDOUT: jobs without progress or beyond their limit of time
 * @NNPU_COUNT_ENGINE_NS: time of the device
 * @NNPU_NUM_COUNTS: number of counters
 */
enum nnpu_count {
	NNPU_COUNT_SUBMITTED,
	NNPU_COUNT_COMPLETED,
	NNPU_COUNT_FAILED,
	NNPU_COUNT_TIMEDOUT,
	NNPU_COUNT_ENGINE_NS,
	NNPU_NUM_COUNTS,
};

/**
 * struct nnpu_totals - counters of all clients of a device, for each CPU
 * @counts: by enum nnpu_count
 * @latency: histograms, by enum nnpu_latency
 *
 * Reading them costs the same however many clients there are.
 */
struct nnpu_totals {
	u64 counts[NNPU_NUM_COUNTS];
	u64 latency[NNPU_NUM_LATENCIES][NNPU_LATENCY_BUCKETS];
};

/**
 * struct nnpu_tally_limit - how often a client met a limit
 * @met: since the last event
 * @next: no event before that, jiffies; valid if @told
 * @told: there was an event
 */
struct nnpu_tally_limit {
	atomic_t met;
	unsigned long next;
	bool told;
};

/**
 * struct nnpu_tally - a client: the opener of a file, and counters of all its contexts, also
 *	of those that are gone
 * @ref: the file and each of its contexts hold a reference
 * @totals: those of the device, which lives longer
 * @id: drm_file.client_id
 * @cred: credentials that opened the file; a reference
 * @pid: the process that opened it; a reference
 * @comm: its name at that time
 * @counts: by enum nnpu_count
 * @latency: histograms, by enum nnpu_latency
 * @contexts: contexts that the device has
 * @queues: user queues that have not ended
 * @buffers: handles of buffers
 * @memory: bytes of these buffers
 * @pinned: of these, memory of a process
 * @device_memory: bytes of device memory of its programs
 * @limits: by enum nnpu_limit_kind
 * @rcu: for lookups in nnpu_device.clients
 */
struct nnpu_tally {
	refcount_t ref;
	struct nnpu_totals __percpu *totals;
	u64 id;
	const struct cred *cred;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
	atomic64_t counts[NNPU_NUM_COUNTS];
	atomic64_t latency[NNPU_NUM_LATENCIES][NNPU_LATENCY_BUCKETS];
	atomic_t contexts;
	atomic_t queues;
	atomic_t buffers;
	atomic64_t memory;
	atomic64_t pinned;
	atomic64_t device_memory;
	struct nnpu_tally_limit limits[NNPU_NUM_LIMITS];
	struct rcu_head rcu;
};

int nnpu_tally_init_device(struct nnpu_device *ndev);
void nnpu_tally_read_totals(struct nnpu_device *ndev, struct nnpu_totals *sum);
struct nnpu_tally *nnpu_tally_create(struct nnpu_device *ndev, struct drm_file *file);
void nnpu_tally_hide(struct nnpu_device *ndev, struct nnpu_tally *tally);
struct nnpu_tally *nnpu_tally_next(struct nnpu_device *ndev, unsigned long *id);
bool nnpu_tally_is_client(struct nnpu_device *ndev, const struct pid *process, kuid_t uid);
void nnpu_tally_put(struct nnpu_tally *tally);

/* Any context. The caller, or an object that it has, holds a reference. */
static inline struct nnpu_tally *nnpu_tally_get(struct nnpu_tally *tally)
{
	refcount_inc(&tally->ref);
	return tally;
}

/* Any context. */
static inline void nnpu_tally_count(struct nnpu_tally *tally, enum nnpu_count what, u64 more)
{
	atomic64_add(more, &tally->counts[what]);
	this_cpu_add(tally->totals->counts[what], more);
}

/* Any context. */
static inline void nnpu_tally_time(struct nnpu_tally *tally, enum nnpu_latency what, u64 ns)
{
	unsigned int bucket = nnpu_latency_bucket(ns);

	atomic64_inc(&tally->latency[what][bucket]);
	this_cpu_inc(tally->totals->latency[what][bucket]);
}

static inline u64 nnpu_tally_counted(const struct nnpu_tally *tally, enum nnpu_count what)
{
	return atomic64_read(&tally->counts[what]);
}

#endif /* _NNPU_TALLY_H_ */
