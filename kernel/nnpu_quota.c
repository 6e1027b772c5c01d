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
	spin_lock_init(&quota->lock);
	INIT_LIST_HEAD(&quota->users);
	quota->total = total;
	quota->used = 0;
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
 * @exempt: he may take the last one
 *
 * Return: what nnpu_quota_uncharge() needs; ERR_PTR(-EUSERS) if no object is free,
 * -EDQUOT if the user holds as many as are free, -ENOMEM.
 */
struct nnpu_quota_user *nnpu_quota_charge(struct nnpu_quota *quota, kuid_t uid, bool exempt)
{
	struct nnpu_quota_user *user, *fresh = kzalloc(sizeof(*fresh), GFP_KERNEL);
	u32 held, left;

	if (!fresh)
		return ERR_PTR(-ENOMEM);
	spin_lock(&quota->lock);
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
	spin_unlock(&quota->lock);
	kfree(fresh);
	return user;
}

/**
 * nnpu_quota_uncharge - a user gives one object back
 * @quota: objects
 * @user: as nnpu_quota_charge() returned it
 */
void nnpu_quota_uncharge(struct nnpu_quota *quota, struct nnpu_quota_user *user)
{
	bool last;

	spin_lock(&quota->lock);
	quota->used--;
	last = !--user->held;
	if (last)
		list_del(&user->node);
	spin_unlock(&quota->lock);
	if (last)
		kfree(user);
}
