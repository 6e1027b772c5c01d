/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_EVENT_H_
#define _NNPU_EVENT_H_

#include <linux/types.h>

#include <linux/nnpu_netlink.h>

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_tally;
struct nnpu_userq;

int nnpu_event_setup(void);
void nnpu_event_teardown(void);
void nnpu_event_counts(u64 *all, u64 *lost);

/* All of these: any context, no wait, no allocation. Texts are constants. */
void nnpu_event_device(struct nnpu_device *ndev, enum nnpu_event_type type);
void nnpu_event_hang(struct nnpu_device *ndev, struct nnpu_ctx *ctx, u16 qid, u16 cid,
		     const char *why);
void nnpu_event_reset(struct nnpu_device *ndev, enum nnpu_reset_scope scope, struct nnpu_ctx *ctx,
		      u16 cid, const char *why, int result);
void nnpu_event_queue(struct nnpu_userq *uq);
void nnpu_event_lost(struct nnpu_ctx *ctx, const char *why);
void nnpu_event_limit(struct nnpu_device *ndev, struct nnpu_tally *tally,
		      enum nnpu_limit_kind kind, u32 ctx_id);
void nnpu_event_status(struct nnpu_ctx *ctx, u16 status);

#endif /* _NNPU_EVENT_H_ */
