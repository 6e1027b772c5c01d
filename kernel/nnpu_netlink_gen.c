// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nnpu.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "nnpu_netlink_gen.h"

#include <uapi/linux/nnpu_netlink.h>

/* NNPU_CMD_DEV_GET - do */
static const struct nla_policy nnpu_dev_get_nl_policy[NNPU_A_DEV_ID + 1] = {
	[NNPU_A_DEV_ID] = { .type = NLA_U32, },
};

/* NNPU_CMD_STATS_GET - do */
static const struct nla_policy nnpu_stats_get_nl_policy[NNPU_A_STATS_DEV_ID + 1] = {
	[NNPU_A_STATS_DEV_ID] = { .type = NLA_U32, },
};

/* NNPU_CMD_CLIENT_GET - do */
static const struct nla_policy nnpu_client_get_do_nl_policy[NNPU_A_CLIENT_ID + 1] = {
	[NNPU_A_CLIENT_DEV_ID] = { .type = NLA_U32, },
	[NNPU_A_CLIENT_ID] = { .type = NLA_UINT, },
};

/* NNPU_CMD_CLIENT_GET - dump */
static const struct nla_policy nnpu_client_get_dump_nl_policy[NNPU_A_CLIENT_DEV_ID + 1] = {
	[NNPU_A_CLIENT_DEV_ID] = { .type = NLA_U32, },
};

/* NNPU_CMD_CTX_GET - do */
static const struct nla_policy nnpu_ctx_get_do_nl_policy[NNPU_A_CTX_ID + 1] = {
	[NNPU_A_CTX_DEV_ID] = { .type = NLA_U32, },
	[NNPU_A_CTX_ID] = { .type = NLA_U32, },
};

/* NNPU_CMD_CTX_GET - dump */
static const struct nla_policy nnpu_ctx_get_dump_nl_policy[NNPU_A_CTX_DEV_ID + 1] = {
	[NNPU_A_CTX_DEV_ID] = { .type = NLA_U32, },
};

/* NNPU_CMD_QUEUE_GET - do */
static const struct nla_policy nnpu_queue_get_do_nl_policy[NNPU_A_QUEUE_ID + 1] = {
	[NNPU_A_QUEUE_DEV_ID] = { .type = NLA_U32, },
	[NNPU_A_QUEUE_ID] = { .type = NLA_UINT, },
};

/* NNPU_CMD_QUEUE_GET - dump */
static const struct nla_policy nnpu_queue_get_dump_nl_policy[NNPU_A_QUEUE_DEV_ID + 1] = {
	[NNPU_A_QUEUE_DEV_ID] = { .type = NLA_U32, },
};

/* NNPU_CMD_RESET - do */
static const struct nla_policy nnpu_reset_nl_policy[NNPU_A_DEV_ID + 1] = {
	[NNPU_A_DEV_ID] = { .type = NLA_U32, },
};

/* Ops table for nnpu */
static const struct genl_split_ops nnpu_nl_ops[] = {
	{
		.cmd		= NNPU_CMD_DEV_GET,
		.doit		= nnpu_nl_dev_get_doit,
		.policy		= nnpu_dev_get_nl_policy,
		.maxattr	= NNPU_A_DEV_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= NNPU_CMD_DEV_GET,
		.start	= nnpu_nl_dump_start,
		.dumpit	= nnpu_nl_dev_get_dumpit,
		.done	= nnpu_nl_dump_done,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NNPU_CMD_STATS_GET,
		.doit		= nnpu_nl_stats_get_doit,
		.policy		= nnpu_stats_get_nl_policy,
		.maxattr	= NNPU_A_STATS_DEV_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= NNPU_CMD_STATS_GET,
		.start	= nnpu_nl_dump_start,
		.dumpit	= nnpu_nl_stats_get_dumpit,
		.done	= nnpu_nl_dump_done,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NNPU_CMD_CLIENT_GET,
		.doit		= nnpu_nl_client_get_doit,
		.policy		= nnpu_client_get_do_nl_policy,
		.maxattr	= NNPU_A_CLIENT_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= NNPU_CMD_CLIENT_GET,
		.start		= nnpu_nl_dump_start,
		.dumpit		= nnpu_nl_client_get_dumpit,
		.done		= nnpu_nl_dump_done,
		.policy		= nnpu_client_get_dump_nl_policy,
		.maxattr	= NNPU_A_CLIENT_DEV_ID,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NNPU_CMD_CTX_GET,
		.doit		= nnpu_nl_ctx_get_doit,
		.policy		= nnpu_ctx_get_do_nl_policy,
		.maxattr	= NNPU_A_CTX_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= NNPU_CMD_CTX_GET,
		.start		= nnpu_nl_dump_start,
		.dumpit		= nnpu_nl_ctx_get_dumpit,
		.done		= nnpu_nl_dump_done,
		.policy		= nnpu_ctx_get_dump_nl_policy,
		.maxattr	= NNPU_A_CTX_DEV_ID,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NNPU_CMD_QUEUE_GET,
		.doit		= nnpu_nl_queue_get_doit,
		.policy		= nnpu_queue_get_do_nl_policy,
		.maxattr	= NNPU_A_QUEUE_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= NNPU_CMD_QUEUE_GET,
		.start		= nnpu_nl_dump_start,
		.dumpit		= nnpu_nl_queue_get_dumpit,
		.done		= nnpu_nl_dump_done,
		.policy		= nnpu_queue_get_dump_nl_policy,
		.maxattr	= NNPU_A_QUEUE_DEV_ID,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= NNPU_CMD_RESET,
		.doit		= nnpu_nl_reset_doit,
		.policy		= nnpu_reset_nl_policy,
		.maxattr	= NNPU_A_DEV_ID,
		.flags		= GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group nnpu_nl_mcgrps[] = {
	[NNPU_NLGRP_EVENTS] = { "events", },
	[NNPU_NLGRP_EVENTS_ADMIN] = { "events-admin", },
};

struct genl_family nnpu_nl_family __ro_after_init = {
	.name		= NNPU_FAMILY_NAME,
	.version	= NNPU_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= nnpu_nl_ops,
	.n_split_ops	= ARRAY_SIZE(nnpu_nl_ops),
	.mcgrps		= nnpu_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(nnpu_nl_mcgrps),
};
