// SPDX-License-Identifier: MIT
/*
 * Requests and events of the netlink family, by libnl.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "../common/clean.h"
#include "nnctl_netlink.h"

/* A dump that changes meanwhile is read this often. What comes then is as good as it gets. */
#define DUMP_TRIES	5
/* Room for events of a listener that has something else to do for a moment. */
#define EVENT_ROOM	(4 << 20)

/* A node that is held open: the driver shows the use of a device to processes that have it open. */
struct node {
	uint64_t dev;
	int fd;
};

struct netlink {
	struct nl_sock *sock;
	struct node *nodes;
	size_t num_nodes;
	int family;
	const struct fields *fields;	/* of the answer */
	struct records *records;	/* get the answer */
	struct record *event;		/* gets the event */
	bool interrupted;
	bool no_memory;
	int error;			/* of the answer, errno value */
};

static void take_text(struct value *value, const struct nlattr *attr)
{
	size_t i;

	nla_strlcpy(value->text, attr, sizeof(value->text));
	for (i = 0; value->text[i]; i++)
		value->text[i] = clean_char(value->text[i]);
}

static void take_value(struct record *record, unsigned int i, const struct nlattr *attr)
{
	const struct field *field = &record->fields->fields[i];
	struct value *value = &record->values[i];

	switch (field->kind) {
	case KIND_NONE:
		return;
	case KIND_TEXT:
		take_text(value, attr);
		break;
	case KIND_FLAG:
		break;
	case KIND_SIGNED:
		if (nla_len(attr) != sizeof(int32_t))
			return;
		value->number = (uint64_t)(int64_t)(int32_t)nla_get_u32((struct nlattr *)attr);
		break;
	case KIND_NUMBER:
	case KIND_NAME:
		if (nla_len(attr) == sizeof(uint64_t))
			memcpy(&value->number, nla_data(attr), sizeof(value->number));
		else if (nla_len(attr) == sizeof(uint32_t))
			value->number = nla_get_u32((struct nlattr *)attr);
		else
			return;
		snprintf(value->text, sizeof(value->text), "%" PRIu64, value->number);
		break;
	case KIND_HISTOGRAM:
		if (nla_len(attr) != sizeof(record->histograms[0]))
			return;
		memcpy(record->histograms[i - (record->fields->num - 3)], nla_data(attr),
		       sizeof(record->histograms[0]));
		break;
	}
	value->there = true;
}

static void take_record(struct record *record, const struct fields *fields, struct nlmsghdr *head)
{
	struct nlattr *attr;
	int left;

	*record = (struct record){ .fields = fields };
	nla_for_each_attr(attr, genlmsg_attrdata(nlmsg_data(head), 0),
			  genlmsg_attrlen(nlmsg_data(head), 0), left)
		if ((unsigned int)nla_type(attr) < fields->num)
			take_value(record, (unsigned int)nla_type(attr), attr);
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct netlink *nl = arg;
	struct record *items;

	if (head->nlmsg_type != nl->family || !genlmsg_valid_hdr(head, 0))
		return NL_SKIP;
	if (nl->event) {
		take_record(nl->event, &event_fields, head);
		return NL_STOP;
	}
	if (head->nlmsg_flags & NLM_F_DUMP_INTR)
		nl->interrupted = true;
	items = realloc(nl->records->items, (nl->records->count + 1) * sizeof(*items));
	if (!items) {
		nl->no_memory = true;
		return NL_SKIP;
	}
	nl->records->items = items;
	take_record(&items[nl->records->count++], nl->fields, head);
	return NL_OK;
}

static int on_error(struct sockaddr_nl *addr, struct nlmsgerr *nlerr, void *arg)
{
	struct netlink *nl = arg;

	(void)addr;
	nl->error = -nlerr->error;
	return NL_STOP;
}

struct netlink *netlink_open(struct error *err)
{
	struct netlink *nl = calloc(1, sizeof(*nl));
	int ret;

	if (!nl || !(nl->sock = nl_socket_alloc())) {
		free(nl);
		fail(err, "out of memory");
		return NULL;
	}
	ret = genl_connect(nl->sock);
	if (!ret) {
		nl->family = genl_ctrl_resolve(nl->sock, NNPU_FAMILY_NAME);
		ret = nl->family < 0 ? nl->family : 0;
	}
	if (ret) {
		err->errnum = ENOENT;
		fail(err, ret == -NLE_OBJ_NOTFOUND ?
		     "the kernel has no netlink family nnpu: is the module loaded? Try `nnctl doctor'" :
		     "netlink: %s", nl_geterror(ret));
		netlink_close(nl);
		return NULL;
	}
	nl_socket_modify_cb(nl->sock, NL_CB_VALID, NL_CB_CUSTOM, on_valid, nl);
	nl_socket_modify_err_cb(nl->sock, NL_CB_CUSTOM, on_error, nl);
	nl_socket_set_msg_buf_size(nl->sock, 64 << 10);
	return nl;
}

void netlink_close(struct netlink *nl)
{
	while (nl->num_nodes)
		close(nl->nodes[--nl->num_nodes].fd);
	free(nl->nodes);
	nl_socket_free(nl->sock);
	free(nl);
}

/* One request and its answers; @errnum gets the errno value of a refusal. */
static int request(struct netlink *nl, uint8_t cmd, int flags, int64_t dev, int *errnum,
		   struct error *err)
{
	struct nl_msg *msg = nlmsg_alloc();
	int ret;

	nl->error = 0;
	nl->interrupted = false;
	nl->no_memory = false;
	*errnum = 0;
	/* The device is the first attribute of each set. */
	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, nl->family, 0, flags, cmd, 1) ||
	    (dev >= 0 && nla_put_u32(msg, 1, (uint32_t)dev))) {
		nlmsg_free(msg);
		return fail(err, "out of memory");
	}
	ret = nl_send_auto(nl->sock, msg);
	nlmsg_free(msg);
	if (ret >= 0)
		ret = nl_recvmsgs_default(nl->sock);
	if (ret == -NLE_DUMP_INTR) {
		nl->interrupted = true;
		ret = 0;
	}
	/* libnl has its own numbers; those of the kernel say more. */
	if (nl->error) {
		*errnum = nl->error;
		return fail_errno(err, nl->error, "netlink");
	}
	if (ret < 0)
		return fail(err, "netlink: %s", nl_geterror(ret));
	return nl->no_memory ? fail(err, "out of memory") : 0;
}

/* Close those of devices that are gone, so that nothing keeps them. */
static void close_nodes(struct netlink *nl, const struct records *devices)
{
	size_t i, j, kept = 0;

	for (i = 0; i < nl->num_nodes; i++) {
		for (j = 0; j < devices->count; j++)
			if (record_number(&devices->items[j], NNPU_A_DEV_ID) == nl->nodes[i].dev)
				break;
		if (j < devices->count)
			nl->nodes[kept++] = nl->nodes[i];
		else
			close(nl->nodes[i].fd);
	}
	nl->num_nodes = kept;
}

static bool open_node(struct netlink *nl, const struct record *device)
{
	uint64_t dev = record_number(device, NNPU_A_DEV_ID);
	char path[RECORD_TEXT + 8];
	struct node *nodes;
	size_t i;
	int fd;

	for (i = 0; i < nl->num_nodes; i++)
		if (nl->nodes[i].dev == dev)
			return false;
	nodes = realloc(nl->nodes, (nl->num_nodes + 1) * sizeof(*nodes));
	if (!nodes)
		return false;
	nl->nodes = nodes;
	snprintf(path, sizeof(path), "/dev/%s", record_text(device, NNPU_A_DEV_NODE));
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	nodes[nl->num_nodes++] = (struct node){ .dev = dev, .fd = fd };
	return true;
}

/* True: there is one more, so that the driver shows more. */
static bool open_nodes(struct netlink *nl, const struct records *devices)
{
	bool more = false;
	size_t i;

	close_nodes(nl, devices);
	for (i = 0; i < devices->count; i++)
		more |= open_node(nl, &devices->items[i]);
	return more;
}

/* The open nodes are nobody's work. */
static void drop_own(struct records *clients)
{
	size_t i, kept = 0;

	for (i = 0; i < clients->count; i++)
		if (record_number(&clients->items[i], NNPU_A_CLIENT_PID) != (uint64_t)getpid())
			clients->items[kept++] = clients->items[i];
	clients->count = kept;
}

static int dump(struct netlink *nl, uint8_t cmd, const struct fields *fields, int64_t dev,
		struct records *records, struct error *err)
{
	int tries = DUMP_TRIES, errnum, ret;

	nl->fields = fields;
	nl->records = records;
	do {
		*records = (struct records){ 0 };
		ret = request(nl, cmd, NLM_F_DUMP, dev, &errnum, err);
		if (!ret && (!nl->interrupted || tries == 1))
			return 0;
		records_free(records);
	} while (!ret && --tries);
	return -1;
}

int netlink_dump(struct netlink *nl, uint8_t cmd, const struct fields *fields, int64_t dev,
		 struct records *records, struct error *err)
{
	int ret = dump(nl, cmd, fields, dev, records, err);

	if (!ret && cmd == NNPU_CMD_DEV_GET && open_nodes(nl, records)) {
		records_free(records);
		ret = dump(nl, cmd, fields, dev, records, err);
	}
	if (!ret && cmd == NNPU_CMD_CLIENT_GET)
		drop_own(records);
	return ret;
}

int netlink_get(struct netlink *nl, uint8_t cmd, const struct fields *fields, uint32_t dev,
		struct record *record, struct error *err)
{
	struct records records = { 0 };
	int errnum, ret;

	nl->fields = fields;
	nl->records = &records;
	ret = request(nl, cmd, 0, dev, &errnum, err);
	/* It comes behind the answer. libnl does not take the next answer before. */
	if (!ret && nl_wait_for_ack(nl->sock) < 0)
		ret = fail(err, "netlink: no acknowledgement");
	if (!ret && !records.count)
		ret = fail(err, "netlink: no answer");
	if (!ret)
		*record = records.items[0];
	records_free(&records);
	if (ret && errnum == EPERM && cmd == NNPU_CMD_STATS_GET)
		snprintf(err->text, sizeof(err->text),
			 "the counters of a device are shown to users who may open its node");
	return ret;
}

int netlink_listen(struct netlink *nl, bool *all, struct error *err)
{
	int group = genl_ctrl_resolve_grp(nl->sock, NNPU_FAMILY_NAME, NNPU_MCGRP_EVENTS_ADMIN);

	*all = group >= 0 && !nl_socket_add_membership(nl->sock, group);
	if (!*all) {
		group = genl_ctrl_resolve_grp(nl->sock, NNPU_FAMILY_NAME, NNPU_MCGRP_EVENTS);
		if (group < 0 || nl_socket_add_membership(nl->sock, group))
			return fail(err, "netlink: no events");
	}
	/* Events have numbers of their own. */
	nl_socket_disable_seq_check(nl->sock);
	/* As much as is allowed; who may, gets more. */
	nl_socket_set_buffer_size(nl->sock, EVENT_ROOM, 0);
	return 0;
}

int netlink_fd(const struct netlink *nl)
{
	return nl_socket_get_fd(nl->sock);
}

int netlink_event(struct netlink *nl, struct record *event, struct error *err)
{
	int ret;

	event->fields = NULL;
	nl->event = event;
	ret = nl_recvmsgs_default(nl->sock);
	nl->event = NULL;
	if (ret == -NLE_NOMEM)
		return NETLINK_OVERFLOW;
	if (ret < 0)
		return fail(err, "netlink: %s", nl_geterror(ret));
	return event->fields ? 1 : 0;
}
