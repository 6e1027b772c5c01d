/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_QUOTA_H_
#define _NNPU_QUOTA_H_

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/uidgid.h>

/**
 * struct nnpu_quota - how the users of a machine share a number of objects
 * @ref: the device and each struct nnpu_quota_hold hold a reference
 * @lock: protects the fields below and struct nnpu_quota_user; taken in interrupts
 * @users: users that hold an object
 * @total: number of objects
 * @used: objects that are held
 *
 * A user gets another object only while holding fewer than are free. So one user gets at
 * most half of them, and the next one half of the rest. The rule is that of buffers in
 * switches (Choudhury and Hahne, "Dynamic Queue Length Thresholds", 1998, with factor 1).
 * It needs no limit that suits all machines.
 */
struct nnpu_quota {
	refcount_t ref;
	spinlock_t lock;	/* see above */
	struct list_head users;
	u32 total;
	u32 used;
};

/**
 * struct nnpu_quota_user - a user that holds objects
 * @node: in nnpu_quota.users
 * @uid: the user
 * @held: number of objects, at least 1
 * @wanted: user queues of the user that wait for a hardware queue, the longest waiting first
 * @wanting_node: in nnpu_userqs.wanting while @wanted is not empty
 *
 * nnpu_userqs.lock protects the last two. A queue holds its context, and that an object.
 */
struct nnpu_quota_user {
	struct list_head node;
	kuid_t uid;
	u32 held;
	struct list_head wanted;
	struct list_head wanting_node;
};

/**
 * struct nnpu_quota_hold - an object that a user holds, for several holders
 * @ref: each of them holds a reference
 * @quota: objects; a reference
 * @user: the user
 */
struct nnpu_quota_hold {
	refcount_t ref;
	struct nnpu_quota *quota;
	struct nnpu_quota_user *user;
};

void nnpu_quota_init(struct nnpu_quota *quota, u32 total);
struct nnpu_quota *nnpu_quota_create(u32 total);
void nnpu_quota_put(struct nnpu_quota *quota);
struct nnpu_quota_user *nnpu_quota_charge(struct nnpu_quota *quota, kuid_t uid, bool exempt);
void nnpu_quota_uncharge(struct nnpu_quota *quota, struct nnpu_quota_user *user);
struct nnpu_quota_hold *nnpu_quota_hold(struct nnpu_quota *quota, kuid_t uid, bool exempt);
void nnpu_quota_hold_put(struct nnpu_quota_hold *hold);

static inline struct nnpu_quota_hold *nnpu_quota_hold_get(struct nnpu_quota_hold *hold)
{
	refcount_inc(&hold->ref);
	return hold;
}

#endif /* _NNPU_QUOTA_H_ */
