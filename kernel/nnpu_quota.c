// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that users share: no user can take all of them.
 */
#include <linux/err.h>
#include <linux/slab.h>

#include "nnpu_quota.h"

/**
 * nnpu_quota_init - nobody holds anything
 * @quota: to set up
 * @total: number of objects
 */
void nnpu_quota_init(struct nnpu_quota *quota, u32 total)
{
	refcount_set(&quota->ref, 1);
	spin_lock_init(&quota->lock);
	INIT_LIST_HEAD(&quota->users);
	quota->total = total;
	quota->used = 0;
}

/**
 * nnpu_quota_create - allocate a quota and initialise it
 * @total: number of objects
 *
 * Return: the quota with one reference, or NULL.
 */
struct nnpu_quota *nnpu_quota_create(u32 total)
{
	struct nnpu_quota *quota = kzalloc(sizeof(*quota), GFP_KERNEL);

	if (quota)
		nnpu_quota_init(quota, total);
	return quota;
}

/**
 * nnpu_quota_put - drop a reference
 * @quota: what nnpu_quota_create() returned
 *
 * Any context.
 */
void nnpu_quota_put(struct nnpu_quota *quota)
{
	if (refcount_dec_and_test(&quota->ref))
		kfree(quota);
}

static struct nnpu_quota_user *nnpu_quota_find(struct nnpu_quota *quota, kuid_t uid)
{
	struct nnpu_quota_user *user;

	list_for_each_entry(user, &quota->users, node)
		if (uid_eq(user->uid, uid))
			return user;
	return NULL;
}

/**
 * nnpu_quota_charge - a user takes one object
 * @quota: objects
 * @uid: the user
 * @exempt: this user may take the last one
 *
 * Return: what nnpu_quota_uncharge() needs; ERR_PTR(-EUSERS) if no object is free,
 * -EDQUOT if the user holds as many as are free, -ENOMEM.
 */
struct nnpu_quota_user *nnpu_quota_charge(struct nnpu_quota *quota, kuid_t uid, bool exempt)
{
	struct nnpu_quota_user *user, *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	unsigned long flags;
	u32 held, left;

	if (!fresh)
		return ERR_PTR(-ENOMEM);
	spin_lock_irqsave(&quota->lock, flags);
	user = nnpu_quota_find(quota, uid);
	held = user ? user->held : 0;
	left = quota->total - quota->used;
	if (!left) {
		user = ERR_PTR(-EUSERS);
	} else if (held >= left && !exempt) {
		user = ERR_PTR(-EDQUOT);
	} else {
		if (!user) {
			user = fresh;
			fresh = NULL;
			user->uid = uid;
			INIT_LIST_HEAD(&user->wanted);
			INIT_LIST_HEAD(&user->wanting_node);
			list_add(&user->node, &quota->users);
		}
		user->held++;
		quota->used++;
	}
	spin_unlock_irqrestore(&quota->lock, flags);
	kfree(fresh);
	return user;
}

/**
 * nnpu_quota_uncharge - a user gives one object back
 * @quota: objects
 * @user: as nnpu_quota_charge() returned it
 *
 * Any context.
 */
void nnpu_quota_uncharge(struct nnpu_quota *quota, struct nnpu_quota_user *user)
{
	unsigned long flags;
	bool last;

	spin_lock_irqsave(&quota->lock, flags);
	quota->used--;
	last = !--user->held;
	if (last)
		list_del(&user->node);
	spin_unlock_irqrestore(&quota->lock, flags);
	if (last)
		kfree(user);
}

/**
 * nnpu_quota_hold - a user takes one object, for several holders
 * @quota: objects, of nnpu_quota_create()
 * @uid: the user
 * @exempt: this user may take the last one
 *
 * Return: the hold with one reference; ERR_PTR() as nnpu_quota_charge().
 */
struct nnpu_quota_hold *nnpu_quota_hold(struct nnpu_quota *quota, kuid_t uid, bool exempt)
{
	struct nnpu_quota_hold *hold = kzalloc(sizeof(*hold), GFP_KERNEL_ACCOUNT);
	struct nnpu_quota_user *user;

	if (!hold)
		return ERR_PTR(-ENOMEM);
	user = nnpu_quota_charge(quota, uid, exempt);
	if (IS_ERR(user)) {
		kfree(hold);
		return ERR_CAST(user);
	}
	refcount_set(&hold->ref, 1);
	refcount_inc(&quota->ref);
	hold->quota = quota;
	hold->user = user;
	return hold;
}

/**
 * nnpu_quota_hold_put - drop a reference; the last one gives the object back
 * @hold: hold
 *
 * Any context.
 */
void nnpu_quota_hold_put(struct nnpu_quota_hold *hold)
{
	if (!refcount_dec_and_test(&hold->ref))
		return;
	nnpu_quota_uncharge(hold->quota, hold->user);
	nnpu_quota_put(hold->quota);
	kfree(hold);
}
