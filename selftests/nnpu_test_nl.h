/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink for the kselftests: messages by hand, so that a test can send what a library
 * never would.
 */
#ifndef NNPU_TEST_NL_H
#define NNPU_TEST_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/netlink.h>
#include <linux/nnpu_netlink.h>

/* More than any attribute of the family. */
#define NNPU_NL_MAX_ATTRS	64

/* A socket and what it knows of the family. */
struct nnpu_nl {
	int fd;
	uint16_t family;
	uint32_t groups[2];		/* events, events-admin */
	uint32_t seq;
	char *buf;
	size_t left;			/* of what was received, from @next on */
	char *next;
};

/* A message; @attrs point into the buffer of the socket. */
struct nnpu_nl_msg {
	uint8_t cmd;
	uint16_t flags;
	uint16_t type;
	const struct nlattr *attrs[NNPU_NL_MAX_ATTRS];
};

/* Attributes of a request. */
struct nnpu_nl_attrs {
	size_t len;
	char data[256];
};

/* 0 or -errno; -ENOENT: there is no such family. */
int nnpu_nl_open(struct nnpu_nl *nl);
void nnpu_nl_close(struct nnpu_nl *nl);
/* @group: 0 events, 1 events-admin; 0 or -errno. */
int nnpu_nl_join(struct nnpu_nl *nl, unsigned int group);

void nnpu_nl_put_u32(struct nnpu_nl_attrs *attrs, uint16_t type, uint32_t value);
void nnpu_nl_put_u64(struct nnpu_nl_attrs *attrs, uint16_t type, uint64_t value);

/* Send a request; 0 or -errno. @attrs may be NULL. */
int nnpu_nl_send(struct nnpu_nl *nl, uint8_t cmd, uint16_t flags,
		 const struct nnpu_nl_attrs *attrs);
/*
 * The next message, after @timeout_ms at most: 0; -ETIME; -ENOBUFS: some were lost; -ENODATA: the
 * end of a dump, 0 attributes and its flags; another -errno: the answer is an error.
 */
int nnpu_nl_receive(struct nnpu_nl *nl, struct nnpu_nl_msg *msg, unsigned int timeout_ms);
/* Request one object: 0 or -errno. */
int nnpu_nl_get(struct nnpu_nl *nl, uint8_t cmd, const struct nnpu_nl_attrs *attrs,
		struct nnpu_nl_msg *msg);

/* Is it there, and what is it? Numbers of any length; @absent if it is not there. */
uint64_t nnpu_nl_number(const struct nnpu_nl_msg *msg, unsigned int attr, uint64_t absent);
const char *nnpu_nl_text(const struct nnpu_nl_msg *msg, unsigned int attr);
/* Sum of a histogram; -1: it is not there or has another size. */
int64_t nnpu_nl_sum(const struct nnpu_nl_msg *msg, unsigned int attr);

#endif /* NNPU_TEST_NL_H */
