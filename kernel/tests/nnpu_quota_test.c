// SPDX-License-Identifier: GPL-2.0-only
/* Shares of users: no user takes the last object from one that has none. */
#include <kunit/test.h>

#include <linux/err.h>

#include "../nnpu_quota.h"

#define TOTAL	64

static kuid_t quota_test_uid(u32 number)
{
	return KUIDT_INIT(1000 + number);
}

/* Take objects until it fails; how many, and the error. */
static u32 quota_test_take_all(struct nnpu_quota *quota, kuid_t uid, bool exempt,
			       struct nnpu_quota_user **user, int *error)
{
	struct nnpu_quota_user *got;
	u32 n = 0;

	for (;;) {
		got = nnpu_quota_charge(quota, uid, exempt);
		if (IS_ERR(got)) {
			*error = PTR_ERR(got);
			return n;
		}
		*user = got;
		n++;
	}
}

static void quota_test_give_back(struct nnpu_quota *quota, struct nnpu_quota_user *user, u32 n)
{
	while (n--)
		nnpu_quota_uncharge(quota, user);
}

/* Each user gets half of what is left; the seventh gets the last object. */
static void quota_test_shares(struct kunit *test)
{
	static const u32 expected[] = { 32, 16, 8, 4, 2, 1, 1 };
	struct nnpu_quota_user *users[ARRAY_SIZE(expected)] = { };
	struct nnpu_quota quota;
	int error = 0;
	u32 i;

	nnpu_quota_init(&quota, TOTAL);
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ(test, expected[i],
				quota_test_take_all(&quota, quota_test_uid(i), false, &users[i],
						    &error));
		KUNIT_EXPECT_EQ(test, error, i + 1 < ARRAY_SIZE(expected) ? -EDQUOT : -EUSERS);
	}
	KUNIT_EXPECT_EQ(test, quota.used, TOTAL);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		quota_test_give_back(&quota, users[i], expected[i]);
	KUNIT_EXPECT_EQ(test, quota.used, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&quota.users));
}

static void quota_test_exempt(struct kunit *test)
{
	struct nnpu_quota_user *user = NULL, *other = NULL;
	struct nnpu_quota quota;
	int error = 0;
	u32 n;

	nnpu_quota_init(&quota, TOTAL);
	n = quota_test_take_all(&quota, quota_test_uid(0), false, &user, &error);
	KUNIT_EXPECT_EQ(test, n, TOTAL / 2);
	KUNIT_EXPECT_EQ(test, TOTAL - n,
			quota_test_take_all(&quota, GLOBAL_ROOT_UID, true, &other, &error));
	KUNIT_EXPECT_EQ(test, error, -EUSERS);
	quota_test_give_back(&quota, user, n);
	quota_test_give_back(&quota, other, TOTAL - n);
	KUNIT_EXPECT_TRUE(test, list_empty(&quota.users));
}

/* What one user gives back counts for him and for the others. */
static void quota_test_give_and_take(struct kunit *test)
{
	struct nnpu_quota_user *user = NULL, *again;
	struct nnpu_quota quota;
	int error = 0;
	u32 n;

	nnpu_quota_init(&quota, 1);
	n = quota_test_take_all(&quota, quota_test_uid(0), false, &user, &error);
	KUNIT_ASSERT_EQ(test, n, 1);
	KUNIT_EXPECT_EQ(test, error, -EUSERS);
	nnpu_quota_uncharge(&quota, user);
	again = nnpu_quota_charge(&quota, quota_test_uid(1), false);
	KUNIT_ASSERT_FALSE(test, IS_ERR(again));
	KUNIT_EXPECT_TRUE(test, uid_eq(again->uid, quota_test_uid(1)));
	nnpu_quota_uncharge(&quota, again);
}

/* The object is given back with the last reference, even if the device is gone. */
static void quota_test_hold(struct kunit *test)
{
	struct nnpu_quota *quota = nnpu_quota_create(1);
	struct nnpu_quota_hold *hold, *other;

	KUNIT_ASSERT_NOT_NULL(test, quota);
	hold = nnpu_quota_hold(quota, quota_test_uid(0), false);
	KUNIT_ASSERT_FALSE(test, IS_ERR(hold));
	nnpu_quota_hold_get(hold);
	nnpu_quota_hold_put(hold);
	other = nnpu_quota_hold(quota, quota_test_uid(1), false);
	KUNIT_EXPECT_EQ(test, PTR_ERR(other), -EUSERS);
	nnpu_quota_hold_put(hold);
	KUNIT_EXPECT_EQ(test, quota->used, 0);
	hold = nnpu_quota_hold(quota, quota_test_uid(1), false);
	KUNIT_ASSERT_FALSE(test, IS_ERR(hold));
	nnpu_quota_put(quota);
	nnpu_quota_hold_put(hold);
}

static struct kunit_case quota_test_cases[] = {
	KUNIT_CASE(quota_test_shares),
	KUNIT_CASE(quota_test_exempt),
	KUNIT_CASE(quota_test_give_and_take),
	KUNIT_CASE(quota_test_hold),
	{ }
};

static struct kunit_suite quota_test_suite = {
	.name = "nnpu_quota",
	.test_cases = quota_test_cases,
};

kunit_test_suite(quota_test_suite);

MODULE_DESCRIPTION("KUnit tests of the NNPU driver's shares of users");
MODULE_LICENSE("GPL");
