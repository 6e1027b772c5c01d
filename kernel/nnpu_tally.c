// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients: the process that has opened a file, and what it has used. Netlink and fdinfo show it.
 */
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include <drm/drm_file.h>
#include <drm/drm_managed.h>

#include "nnpu_device.h"
#include "nnpu_genl.h"
#include "nnpu_tally.h"

static void nnpu_tally_fini_device(struct drm_device *drm, void *data)
{
	struct nnpu_device *ndev = data;

	xa_destroy(&ndev->clients);
	free_percpu(ndev->totals);
}

/**
 * nnpu_tally_init_device - prepare for clients
 * @ndev: device
 *
 * Return: 0, or -ENOMEM.
 */
int nnpu_tally_init_device(struct nnpu_device *ndev)
{
	ndev->totals = alloc_percpu(struct nnpu_totals);
	if (!ndev->totals)
		return -ENOMEM;
	xa_init(&ndev->clients);
	return drmm_add_action_or_reset(&ndev->drm, nnpu_tally_fini_device, ndev);
}

/**
 * nnpu_tally_read_totals - counters of all clients that a device has had
 * @ndev: device
 * @sum: gets them
 */
void nnpu_tally_read_totals(struct nnpu_device *ndev, struct nnpu_totals *sum)
{
	unsigned int i, what;
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct nnpu_totals *part = per_cpu_ptr(ndev->totals, cpu);

		for (i = 0; i < NNPU_NUM_COUNTS; i++)
			sum->counts[i] += READ_ONCE(part->counts[i]);
		for (what = 0; what < NNPU_NUM_LATENCIES; what++)
			for (i = 0; i < NNPU_LATENCY_BUCKETS; i++)
				sum->latency[what][i] += READ_ONCE(part->latency[what][i]);
	}
}

/**
 * nnpu_tally_create - make a client
 * @ndev: device; it lives longer than the client
 * @file: its file
 *
 * Return: the client with one reference, or NULL.
 */
struct nnpu_tally *nnpu_tally_create(struct nnpu_device *ndev, struct drm_file *file)
{
	struct nnpu_tally *tally = kzalloc(sizeof(*tally), GFP_KERNEL_ACCOUNT);

	if (!tally)
		return NULL;
	refcount_set(&tally->ref, 1);
	tally->totals = ndev->totals;
	tally->id = file->client_id;
	tally->cred = get_current_cred();
	tally->pid = get_pid(task_tgid(current));
	get_task_comm(tally->comm, current);
	if (xa_insert(&ndev->clients, tally->id, tally, GFP_KERNEL_ACCOUNT)) {
		nnpu_tally_put(tally);
		return NULL;
	}
	nnpu_netlink_changed(NNPU_NETLINK_CLIENTS);
	return tally;
}

/**
 * nnpu_tally_hide - the file of a client is closed
 * @ndev: device
 * @tally: client
 */
void nnpu_tally_hide(struct nnpu_device *ndev, struct nnpu_tally *tally)
{
	xa_erase(&ndev->clients, tally->id);
	nnpu_netlink_changed(NNPU_NETLINK_CLIENTS);
}

/**
 * nnpu_tally_next - find a client with an open file
 * @ndev: device
 * @id: lowest number to look at; gets that of the client
 *
 * Return: a reference of the client, or NULL if there is none.
 */
struct nnpu_tally *nnpu_tally_next(struct nnpu_device *ndev, unsigned long *id)
{
	struct nnpu_tally *tally;

	rcu_read_lock();
	do {
		tally = xa_find(&ndev->clients, id, ULONG_MAX, XA_PRESENT);
	} while (tally && !refcount_inc_not_zero(&tally->ref) && ++*id);
	rcu_read_unlock();
	return tally;
}

/**
 * nnpu_tally_is_client - does a process have a file of a device open that it has opened itself?
 * @ndev: device
 * @process: thread group
 * @uid: user who has opened it
 *
 * Takes no lock: any process may have this asked.
 *
 * Return: true if so.
 */
bool nnpu_tally_is_client(struct nnpu_device *ndev, const struct pid *process, kuid_t uid)
{
	const struct nnpu_tally *tally;
	bool is_client = false;
	unsigned long id;

	rcu_read_lock();
	xa_for_each(&ndev->clients, id, tally) {
		is_client = tally->pid == process && uid_eq(tally->cred->euid, uid);
		if (is_client)
			break;
	}
	rcu_read_unlock();
	return is_client;
}

/**
 * nnpu_tally_put - drop a reference
 * @tally: client
 */
void nnpu_tally_put(struct nnpu_tally *tally)
{
	if (!refcount_dec_and_test(&tally->ref))
		return;
	put_cred(tally->cred);
	put_pid(tally->pid);
	kfree_rcu(tally, rcu);
}
