// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink messages that nobody would send: random commands, flags, attributes, lengths and
 * truncations, from messages that are right by small changes. Nothing but RESET, which a test
 * cannot afford so often, is left out.
 *
 * NNPU_NETLINK_FUZZ: number of messages (default 20000). NNPU_NETLINK_SEED: seed, which is printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/genetlink.h>

#include "kselftest_harness.h"
#include "nnpu_test.h"
#include "nnpu_test_nl.h"

#define ROOM	4096

static uint64_t state;

static uint32_t rnd(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

/* A number that a check may get wrong. */
static uint32_t edge(void)
{
	static const uint32_t edges[] = { 0, 1, 2, 3, 255, 256, 0x7fffffff, 0x80000000, UINT32_MAX };

	return rnd(3) ? edges[rnd(sizeof(edges) / sizeof(edges[0]))] : (uint32_t)state;
}

static size_t make_attr(char *at, size_t room)
{
	struct nlattr attr = { .nla_type = rnd(4) ? rnd(8) : rnd(0x10000) };
	size_t len = rnd(4) ? (rnd(2) ? 4 : 8) : rnd(64), i;

	if (room < NLA_HDRLEN + NLA_ALIGN(len))
		return 0;
	attr.nla_len = NLA_HDRLEN + len;
	for (i = 0; i + 4 <= len; i += 4) {
		uint32_t value = edge();

		memcpy(at + NLA_HDRLEN + i, &value, sizeof(value));
	}
	/* A length that lies. */
	if (!rnd(16))
		attr.nla_len = rnd(0x10000);
	memcpy(at, &attr, sizeof(attr));
	return NLA_HDRLEN + NLA_ALIGN(len);
}

static size_t make_message(const struct nnpu_nl *nl, char *buf)
{
	static const uint8_t cmds[] = {
		NNPU_CMD_DEV_GET, NNPU_CMD_STATS_GET, NNPU_CMD_CLIENT_GET, NNPU_CMD_CTX_GET,
		NNPU_CMD_QUEUE_GET, NNPU_CMD_EVENT,
	};
	struct nlmsghdr head = { .nlmsg_type = nl->family, .nlmsg_flags = NLM_F_REQUEST };
	struct genlmsghdr genl = { .version = rnd(8) ? 1 : rnd(256) };
	size_t len = NLMSG_HDRLEN + GENL_HDRLEN;
	unsigned int attrs = rnd(8) ? rnd(4) : rnd(40), flips;

	memset(buf, 0, ROOM);
	genl.cmd = rnd(16) ? cmds[rnd(sizeof(cmds))] : NNPU_CMD_EVENT + rnd(200);
	if (rnd(2))
		head.nlmsg_flags |= NLM_F_DUMP;
	if (!rnd(8))
		head.nlmsg_flags = rnd(0x10000) | NLM_F_REQUEST;
	head.nlmsg_seq = rnd(UINT32_MAX);
	while (attrs--)
		len += make_attr(buf + len, ROOM - len);
	for (flips = rnd(4) ? 0 : rnd(8); flips--; )
		buf[NLMSG_HDRLEN + GENL_HDRLEN + rnd(len - NLMSG_HDRLEN)] ^= 1 << rnd(8);
	head.nlmsg_len = rnd(16) ? len : rnd(2 * len);
	memcpy(buf, &head, sizeof(head));
	memcpy(buf + NLMSG_HDRLEN, &genl, sizeof(genl));
	return rnd(32) ? len : rnd(len + 1);
}

/* Take what has come. A dump that is not read keeps the socket busy, so some are not. */
static void drain(const struct nnpu_nl *nl)
{
	static char buf[64 << 10];

	while (recv(nl->fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		;
}

FIXTURE(netlink_fuzz) {
};

FIXTURE_SETUP(netlink_fuzz)
{
}

FIXTURE_TEARDOWN(netlink_fuzz)
{
}

/* A million messages take half an hour on the debug kernel. */
TEST_F_TIMEOUT(netlink_fuzz, random_messages, 7200)
{
	const char *text = getenv("NNPU_NETLINK_FUZZ"), *seed = getenv("NNPU_NETLINK_SEED");
	unsigned long count = text ? strtoul(text, NULL, 0) : 20000, i;
	struct nnpu_nl_msg msg;
	int fd = nnpu_open();
	char buf[2 * ROOM];
	struct nnpu_nl nl;
	struct nnpu_job job;

	if (fd < 0)
		NNPU_SKIP(return, "no NNPU device: %s", strerror(-fd));
	state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) << 20 | getpid();
	state |= 1;
	TH_LOG("%lu messages, NNPU_NETLINK_SEED=%#llx", count, (unsigned long long)state);
	ASSERT_EQ(0, nnpu_job_init(fd, &job, 64));
	ASSERT_EQ(0, nnpu_nl_open(&nl));
	for (i = 0; i < count; i++) {
		size_t len = make_message(&nl, buf);

		/* It may refuse what it likes. */
		if (send(nl.fd, buf, len, MSG_DONTWAIT) < 0 || rnd(4))
			drain(&nl);
		if (i % 1000 == 999) {
			nnpu_nl_close(&nl);
			ASSERT_EQ(0, nnpu_nl_open(&nl));
			ASSERT_EQ(0, nnpu_job_run(fd, &job, i));
		}
	}
	nnpu_nl_close(&nl);
	/* It still answers. */
	ASSERT_EQ(0, nnpu_nl_open(&nl));
	ASSERT_EQ(0, nnpu_nl_send(&nl, NNPU_CMD_DEV_GET, NLM_F_DUMP, NULL));
	EXPECT_EQ(0, nnpu_nl_receive(&nl, &msg, 60000));
	nnpu_nl_close(&nl);
	close(fd);
}

TEST_HARNESS_MAIN
