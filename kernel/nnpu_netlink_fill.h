/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_NETLINK_FILL_H_
#define _NNPU_NETLINK_FILL_H_

struct cred;
struct nnpu_ctx;
struct nnpu_device;
struct nnpu_tally;
struct nnpu_userq;
struct pid;
struct sk_buff;

/**
 * struct nnpu_netlink_reader - a process that asks
 * @request: its message
 * @answer: gets the attributes
 * @asker: credentials of the sender of @request, if another process may be running, else NULL
 * @process: the process that sent @request
 */
struct nnpu_netlink_reader {
	struct sk_buff *request;
	struct sk_buff *answer;
	const struct cred *asker;
	const struct pid *process;
};

bool nnpu_netlink_may_see_use(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev);
bool nnpu_netlink_may_see(const struct nnpu_netlink_reader *to, const struct nnpu_tally *tally);

/* Attributes of an object; 0, or -EMSGSIZE if there is no room. */
int nnpu_netlink_fill_dev(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev);
int nnpu_netlink_fill_stats(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev);
int nnpu_netlink_fill_client(const struct nnpu_netlink_reader *to, struct nnpu_device *ndev,
			     struct nnpu_tally *tally);
int nnpu_netlink_fill_ctx(const struct nnpu_netlink_reader *to, struct nnpu_ctx *ctx);
int nnpu_netlink_fill_queue(const struct nnpu_netlink_reader *to, struct nnpu_userq *uq);

/**
 * struct nnpu_netlink_ctx_look - a reader looks at a context
 * @to: reader
 * @owner: its client; a reference
 */
struct nnpu_netlink_ctx_look {
	const struct nnpu_netlink_reader *to;
	struct nnpu_tally *owner;
};

int nnpu_netlink_get_owner(void *object, void *data);
int nnpu_netlink_copy_ctx(void *object, void *data);

#endif /* _NNPU_NETLINK_FILL_H_ */
