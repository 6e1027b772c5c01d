/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_USERQ_SHARE_H_
#define _NNPU_USERQ_SHARE_H_

#include <linux/types.h>

/**
 * struct nnpu_userq_share - a user queue that has a hardware queue
 * @user: whose it is; only compared
 * @busy: it has work in its ring or in the device
 * @leaving: it fetches no further entry, and gives its hardware queue back after the
 *	job that has begun
 * @ripe: a quantum has passed since it got the hardware queue, or began to leave
 * @at_work: how many queues of its user are busy; nnpu_userq_share_count() sets it
 */
struct nnpu_userq_share {
	const void *user;
	bool busy;
	bool leaving;
	bool ripe;
	unsigned int at_work;
};

/* What nnpu_userq_share_choose() returns besides an index: */
/* take a hardware queue that nobody has */
#define NNPU_USERQ_SHARE_FREE	(-1)
/* wait */
#define NNPU_USERQ_SHARE_WAIT	(-2)

void nnpu_userq_share_count(struct nnpu_userq_share *shares, unsigned int num);
int nnpu_userq_share_choose(const struct nnpu_userq_share *shares, unsigned int num,
			    unsigned int total, const void *user);

#endif /* _NNPU_USERQ_SHARE_H_ */
