// SPDX-License-Identifier: GPL-2.0-only
/*
 * How users share the hardware queues, as a function of numbers.
 *
 * A hardware queue whose job runs for a long time cannot be taken back before the job ends. So
 * users are protected from each other by how many each may have at work, not by how soon one is
 * given back.
 */
#include "nnpu_userq_share.h"

/**
 * nnpu_userq_share_count - set nnpu_userq_share.at_work
 * @shares: queues that have a hardware queue
 * @num: number of them
 */
void nnpu_userq_share_count(struct nnpu_userq_share *shares, unsigned int num)
{
	unsigned int i, k;

	for (i = 0; i < num; i++) {
		shares[i].at_work = 0;
		for (k = 0; k < num; k++)
			shares[i].at_work += shares[k].busy && shares[k].user == shares[i].user;
	}
}

static unsigned int nnpu_userq_share_held(const struct nnpu_userq_share *shares,
					  unsigned int num, const void *user)
{
	unsigned int i;

	for (i = 0; i < num; i++)
		if (shares[i].user == user)
			return shares[i].at_work;
	return 0;
}

/* Whose queue has to go: the user with most of them at work; @user himself if nobody has more. */
static const void *nnpu_userq_share_largest(const struct nnpu_userq_share *shares,
					    unsigned int num, const void *user)
{
	unsigned int most = nnpu_userq_share_held(shares, num, user), i;

	for (i = 0; i < num; i++)
		if (shares[i].at_work > most) {
			most = shares[i].at_work;
			user = shares[i].user;
		}
	return user;
}

/* A queue of @user that is to give its hardware queue back. */
static int nnpu_userq_share_busy(const struct nnpu_userq_share *shares, unsigned int num,
				 const void *user)
{
	int leaving = NNPU_USERQ_SHARE_WAIT, ripe = NNPU_USERQ_SHARE_WAIT;
	bool stuck = true;
	unsigned int i;

	for (i = 0; i < num; i++) {
		const struct nnpu_userq_share *s = &shares[i];

		if (!s->busy || s->user != user)
			continue;
		if (s->leaving) {
			stuck = stuck && s->ripe;
			if (leaving < 0)
				leaving = i;
		} else if (s->ripe && ripe < 0) {
			ripe = i;
		}
	}
	/* Do not wait for the long job of one that leaves if another can leave. */
	return leaving < 0 || (stuck && ripe >= 0) ? ripe : leaving;
}

/**
 * nnpu_userq_share_choose - where does a user queue get its hardware queue from?
 * @shares: queues that have one, counted, the one that has had it longest first
 * @num: number of them
 * @total: number of hardware queues
 * @user: whose queue wants one
 *
 * A user gets another hardware queue only while fewer of this user's are at work than there are
 * idle or free ones. So each user takes at most half of what is left, and at least log2(@total)
 * users get one. The queues of a user with a full share take turns in it. If another user has more
 * at work, a queue of that user leaves.
 *
 * Return: index of the queue to suspend, NNPU_USERQ_SHARE_FREE, or NNPU_USERQ_SHARE_WAIT.
 */
int nnpu_userq_share_choose(const struct nnpu_userq_share *shares, unsigned int num,
			    unsigned int total, const void *user)
{
	unsigned int left = total, i;

	for (i = 0; i < num; i++)
		left -= shares[i].busy;
	if (nnpu_userq_share_held(shares, num, user) < left) {
		if (num < total)
			return NNPU_USERQ_SHARE_FREE;
		for (i = 0; i < num; i++)
			if (!shares[i].busy)
				return i;
	}
	return nnpu_userq_share_busy(shares, num, nnpu_userq_share_largest(shares, num, user));
}
