// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>

#include "nnpu_test_nl.h"

/* Room for what one recvmsg() returns. */
#define BUF_SIZE	(64 << 10)

static const char *attr_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static size_t attr_len(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

/* The attribute after @attr, or the first; NULL at the end. */
static const struct nlattr *attr_next(const char *data, size_t len, const struct nlattr *attr)
{
	size_t at = attr ? (size_t)((const char *)attr - data) + NLA_ALIGN(attr->nla_len) : 0;
	const struct nlattr *next = (const void *)(data + at);

	if (at + NLA_HDRLEN > len || next->nla_len < NLA_HDRLEN || at + next->nla_len > len)
		return NULL;
	return next;
}

static void put(struct nnpu_nl_attrs *attrs, uint16_t type, const void *value, size_t len)
{
	struct nlattr head = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	if (attrs->len + NLA_ALIGN(head.nla_len) > sizeof(attrs->data))
		abort();
	memcpy(attrs->data + attrs->len, &head, sizeof(head));
	memcpy(attrs->data + attrs->len + NLA_HDRLEN, value, len);
	attrs->len += NLA_ALIGN(head.nla_len);
}

void nnpu_nl_put_u32(struct nnpu_nl_attrs *attrs, uint16_t type, uint32_t value)
{
	put(attrs, type, &value, sizeof(value));
}

void nnpu_nl_put_u64(struct nnpu_nl_attrs *attrs, uint16_t type, uint64_t value)
{
	put(attrs, type, &value, sizeof(value));
}

static int send_to(struct nnpu_nl *nl, uint16_t family, uint8_t cmd, uint16_t flags,
		   const void *data, size_t len)
{
	char buf[NLMSG_HDRLEN + GENL_HDRLEN + sizeof(((struct nnpu_nl_attrs *)0)->data)];
	struct nlmsghdr head = {
		.nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + len,
		.nlmsg_type = family,
		.nlmsg_flags = NLM_F_REQUEST | flags,
		.nlmsg_seq = ++nl->seq,
	};
	struct genlmsghdr genl = { .cmd = cmd, .version = 1 };

	memcpy(buf, &head, sizeof(head));
	memcpy(buf + NLMSG_HDRLEN, &genl, sizeof(genl));
	if (len)
		memcpy(buf + NLMSG_HDRLEN + GENL_HDRLEN, data, len);
	return send(nl->fd, buf, head.nlmsg_len, 0) < 0 ? -errno : 0;
}

int nnpu_nl_send(struct nnpu_nl *nl, uint8_t cmd, uint16_t flags,
		 const struct nnpu_nl_attrs *attrs)
{
	return send_to(nl, nl->family, cmd, flags, attrs ? attrs->data : NULL,
		       attrs ? attrs->len : 0);
}

static int fill(struct nnpu_nl *nl, unsigned int timeout_ms)
{
	struct pollfd pfd = { .fd = nl->fd, .events = POLLIN };
	ssize_t got;
	int ret;

	do {
		ret = poll(&pfd, 1, timeout_ms);
	} while (ret < 0 && errno == EINTR);
	if (ret <= 0)
		return ret ? -errno : -ETIME;
	got = recv(nl->fd, nl->buf, BUF_SIZE, 0);
	if (got < 0)
		return -errno;
	nl->next = nl->buf;
	nl->left = got;
	return 0;
}

int nnpu_nl_receive(struct nnpu_nl *nl, struct nnpu_nl_msg *msg, unsigned int timeout_ms)
{
	const struct nlattr *attr = NULL;
	const struct nlmsghdr *head;
	const char *data;
	size_t size;
	int ret;

	memset(msg, 0, sizeof(*msg));
	if (nl->left < NLMSG_HDRLEN) {
		ret = fill(nl, timeout_ms);
		if (ret)
			return ret;
	}
	head = (const void *)nl->next;
	if (nl->left < NLMSG_HDRLEN || head->nlmsg_len > nl->left || head->nlmsg_len < NLMSG_HDRLEN)
		return -EBADMSG;
	size = NLMSG_ALIGN(head->nlmsg_len);
	nl->left = nl->left > size ? nl->left - size : 0;
	nl->next += size;
	msg->flags = head->nlmsg_flags;
	msg->type = head->nlmsg_type;
	data = (const char *)head + NLMSG_HDRLEN;
	if (head->nlmsg_type == NLMSG_ERROR || head->nlmsg_type == NLMSG_DONE) {
		memcpy(&ret, data, sizeof(ret));
		return head->nlmsg_type == NLMSG_DONE && !ret ? -ENODATA : ret;
	}
	msg->cmd = ((const struct genlmsghdr *)data)->cmd;
	data += GENL_HDRLEN;
	size = head->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN;
	while ((attr = attr_next(data, size, attr)))
		if ((attr->nla_type & NLA_TYPE_MASK) < NNPU_NL_MAX_ATTRS)
			msg->attrs[attr->nla_type & NLA_TYPE_MASK] = attr;
	return 0;
}

int nnpu_nl_get(struct nnpu_nl *nl, uint8_t cmd, const struct nnpu_nl_attrs *attrs,
		struct nnpu_nl_msg *msg)
{
	int ret = nnpu_nl_send(nl, cmd, 0, attrs);

	return ret ? ret : nnpu_nl_receive(nl, msg, 60000);
}

uint64_t nnpu_nl_number(const struct nnpu_nl_msg *msg, unsigned int attr, uint64_t absent)
{
	const struct nlattr *a = msg->attrs[attr];
	uint32_t small;

	if (!a)
		return absent;
	if (attr_len(a) >= sizeof(absent)) {
		memcpy(&absent, attr_data(a), sizeof(absent));
		return absent;
	}
	memcpy(&small, attr_data(a), sizeof(small));
	return small;
}

const char *nnpu_nl_text(const struct nnpu_nl_msg *msg, unsigned int attr)
{
	return msg->attrs[attr] ? attr_data(msg->attrs[attr]) : "";
}

int64_t nnpu_nl_sum(const struct nnpu_nl_msg *msg, unsigned int attr)
{
	const struct nlattr *a = msg->attrs[attr];
	int64_t sum = 0;
	uint64_t value;
	size_t i;

	if (!a || attr_len(a) != NNPU_LATENCY_BUCKETS * sizeof(value))
		return -1;
	for (i = 0; i < NNPU_LATENCY_BUCKETS; i++) {
		memcpy(&value, attr_data(a) + i * sizeof(value), sizeof(value));
		sum += value;
	}
	return sum;
}

/* The groups of the answer to GETFAMILY. */
static void take_groups(struct nnpu_nl *nl, const struct nlattr *groups)
{
	const struct nlattr *group = NULL;

	while ((group = attr_next(attr_data(groups), attr_len(groups), group))) {
		const struct nlattr *attr = NULL;
		const char *name = "";
		uint32_t id = 0;

		while ((attr = attr_next(attr_data(group), attr_len(group), attr))) {
			if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GRP_NAME)
				name = attr_data(attr);
			else if ((attr->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GRP_ID)
				memcpy(&id, attr_data(attr), sizeof(id));
		}
		if (!strcmp(name, NNPU_MCGRP_EVENTS))
			nl->groups[0] = id;
		else if (!strcmp(name, NNPU_MCGRP_EVENTS_ADMIN))
			nl->groups[1] = id;
	}
}

int nnpu_nl_open(struct nnpu_nl *nl)
{
	struct nnpu_nl_attrs attrs = { 0 };
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	struct nnpu_nl_msg msg;
	int ret;

	memset(nl, 0, sizeof(*nl));
	nl->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (nl->fd < 0)
		return -errno;
	nl->buf = malloc(BUF_SIZE);
	ret = nl->buf ? 0 : -ENOMEM;
	if (!ret && bind(nl->fd, (const struct sockaddr *)&addr, sizeof(addr)))
		ret = -errno;
	put(&attrs, CTRL_ATTR_FAMILY_NAME, NNPU_FAMILY_NAME, sizeof(NNPU_FAMILY_NAME));
	if (!ret)
		ret = send_to(nl, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, attrs.data, attrs.len);
	if (!ret)
		ret = nnpu_nl_receive(nl, &msg, 60000);
	if (ret) {
		nnpu_nl_close(nl);
		return ret;
	}
	nl->family = *(const uint16_t *)attr_data(msg.attrs[CTRL_ATTR_FAMILY_ID]);
	if (msg.attrs[CTRL_ATTR_MCAST_GROUPS])
		take_groups(nl, msg.attrs[CTRL_ATTR_MCAST_GROUPS]);
	return 0;
}

void nnpu_nl_close(struct nnpu_nl *nl)
{
	if (nl->fd >= 0)
		close(nl->fd);
	free(nl->buf);
	nl->fd = -1;
	nl->buf = NULL;
}

int nnpu_nl_join(struct nnpu_nl *nl, unsigned int group)
{
	return setsockopt(nl->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &nl->groups[group],
			  sizeof(nl->groups[group])) ? -errno : 0;
}
