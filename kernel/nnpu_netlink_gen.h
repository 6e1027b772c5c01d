/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nnpu.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_NNPU_GEN_H
#define _LINUX_NNPU_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/nnpu_netlink.h>

int nnpu_nl_dump_start(struct netlink_callback *cb);
int nnpu_nl_dump_done(struct netlink_callback *cb);

int nnpu_nl_dev_get_doit(struct sk_buff *skb, struct genl_info *info);
int nnpu_nl_dev_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nnpu_nl_stats_get_doit(struct sk_buff *skb, struct genl_info *info);
int nnpu_nl_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nnpu_nl_client_get_doit(struct sk_buff *skb, struct genl_info *info);
int nnpu_nl_client_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nnpu_nl_ctx_get_doit(struct sk_buff *skb, struct genl_info *info);
int nnpu_nl_ctx_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nnpu_nl_queue_get_doit(struct sk_buff *skb, struct genl_info *info);
int nnpu_nl_queue_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int nnpu_nl_reset_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	NNPU_NLGRP_EVENTS,
	NNPU_NLGRP_EVENTS_ADMIN,
};

extern struct genl_family nnpu_nl_family;

#endif /* _LINUX_NNPU_GEN_H */
