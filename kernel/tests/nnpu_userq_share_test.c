// SPDX-License-Identifier: GPL-2.0-only
/* Hardware queues: a user with long jobs leaves some to others. */
#include <kunit/test.h>

#include "../nnpu_userq_share.h"

#define TOTAL	15

/* Users; only their addresses count. */
static const char alice, bob, carol;

struct share_test {
	struct nnpu_userq_share shares[TOTAL];
	unsigned int num;
};

static void share_test_add(struct share_test *t, const void *user, bool busy, bool leaving,
			   bool ripe)
{
	t->shares[t->num++] = (struct nnpu_userq_share) {
		.user = user, .busy = busy, .leaving = leaving, .ripe = ripe,
	};
	nnpu_userq_share_count(t->shares, t->num);
}

static int share_test_choose(const struct share_test *t, const void *user)
{
	return nnpu_userq_share_choose(t->shares, t->num, TOTAL, user);
}

/* @user gets hardware queues for endless jobs until it has to wait; how many. */
static unsigned int share_test_take_all(struct share_test *t, const void *user)
{
	unsigned int n = 0;

	while (t->num < TOTAL && share_test_choose(t, user) == NNPU_USERQ_SHARE_FREE) {
		share_test_add(t, user, true, false, false);
		n++;
	}
	return n;
}

static void share_test_newcomers(struct kunit *test)
{
	struct share_test t = { };

	KUNIT_EXPECT_EQ(test, 8, share_test_take_all(&t, &alice));
	KUNIT_EXPECT_EQ(test, NNPU_USERQ_SHARE_WAIT, share_test_choose(&t, &alice));
	KUNIT_EXPECT_EQ(test, 4, share_test_take_all(&t, &bob));
	KUNIT_EXPECT_EQ(test, 2, share_test_take_all(&t, &carol));
}

/* Idle ones are nobody's share, and the next user gets them. */
static void share_test_idle(struct kunit *test)
{
	struct share_test t = { };
	unsigned int i;

	for (i = 0; i < TOTAL; i++)
		share_test_add(&t, &alice, i < 7, false, true);
	KUNIT_EXPECT_EQ(test, 7, share_test_choose(&t, &bob));
	KUNIT_EXPECT_EQ(test, 7, share_test_choose(&t, &alice));
	t.shares[7].busy = true;
	nnpu_userq_share_count(t.shares, t.num);
	/* Alice has her share: one of hers that is at work leaves for another of hers. */
	KUNIT_EXPECT_EQ(test, 0, share_test_choose(&t, &alice));
	KUNIT_EXPECT_EQ(test, 8, share_test_choose(&t, &bob));
}

/* The user that has most at work gives, and not before the quantum is over. */
static void share_test_largest(struct kunit *test)
{
	struct share_test t = { };
	unsigned int i;

	for (i = 0; i < TOTAL; i++)
		share_test_add(&t, i % 3 ? &alice : &bob, true, false, false);
	KUNIT_EXPECT_EQ(test, NNPU_USERQ_SHARE_WAIT, share_test_choose(&t, &carol));
	t.shares[0].ripe = true;
	KUNIT_EXPECT_EQ(test, NNPU_USERQ_SHARE_WAIT, share_test_choose(&t, &carol));
	t.shares[4].ripe = true;
	KUNIT_EXPECT_EQ(test, 4, share_test_choose(&t, &carol));
	KUNIT_EXPECT_EQ(test, 4, share_test_choose(&t, &bob));
	KUNIT_EXPECT_EQ(test, 4, share_test_choose(&t, &alice));
}

/* One that leaves is asked again; if its job is long another leaves, too. */
static void share_test_leaving(struct kunit *test)
{
	struct share_test t = { };
	unsigned int i;

	for (i = 0; i < TOTAL; i++)
		share_test_add(&t, &alice, true, i == 3, i == 5);
	KUNIT_EXPECT_EQ(test, 3, share_test_choose(&t, &alice));
	t.shares[3].ripe = true;
	KUNIT_EXPECT_EQ(test, 5, share_test_choose(&t, &alice));
	KUNIT_EXPECT_EQ(test, 5, share_test_choose(&t, &bob));
	/* It has just begun to leave. */
	t.shares[5].leaving = true;
	t.shares[5].ripe = false;
	KUNIT_EXPECT_EQ(test, 3, share_test_choose(&t, &bob));
	/* Nobody else can leave. */
	t.shares[5].ripe = true;
	KUNIT_EXPECT_EQ(test, 3, share_test_choose(&t, &bob));
}

static struct kunit_case share_test_cases[] = {
	KUNIT_CASE(share_test_newcomers),
	KUNIT_CASE(share_test_idle),
	KUNIT_CASE(share_test_largest),
	KUNIT_CASE(share_test_leaving),
	{ }
};

static struct kunit_suite share_test_suite = {
	.name = "nnpu_userq_share",
	.test_cases = share_test_cases,
};

kunit_test_suite(share_test_suite);
