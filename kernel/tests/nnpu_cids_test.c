// SPDX-License-Identifier: GPL-2.0-only
/* Command ids. */
#include <kunit/test.h>

#include "../nnpu_cids.h"

#define SIZE	8

/* All ids are different, and each finds its own owner. */
static void cids_test_all(struct kunit *test)
{
	struct nnpu_cids *cids = kunit_kzalloc(test, sizeof(*cids), GFP_KERNEL);
	int owner[SIZE], cid[SIZE];
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, cids);
	nnpu_cids_init(cids, SIZE);
	for (i = 0; i < SIZE; i++) {
		cid[i] = nnpu_cids_get(cids, &owner[i]);
		KUNIT_ASSERT_GE(test, cid[i], 0);
		KUNIT_EXPECT_LT(test, nnpu_cid_index(cid[i]), SIZE);
	}
	KUNIT_EXPECT_EQ(test, nnpu_cids_get(cids, &owner[0]), -EBUSY);
	KUNIT_EXPECT_EQ(test, cids->used, SIZE);
	for (i = 0; i < SIZE; i++)
		KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(cids, cid[i]), (void *)&owner[i]);
	for (i = 0; i < SIZE; i++)
		nnpu_cids_put(cids, cid[i]);
	KUNIT_EXPECT_EQ(test, cids->used, 0);
}

/* Ids that are not in flight find no owner. */
static void cids_test_bad(struct kunit *test)
{
	struct nnpu_cids *cids = kunit_kzalloc(test, sizeof(*cids), GFP_KERNEL);
	int owner, cid;
	u32 wrong, found = 0;

	KUNIT_ASSERT_NOT_NULL(test, cids);
	nnpu_cids_init(cids, SIZE);
	cid = nnpu_cids_get(cids, &owner);
	for (wrong = 0; wrong <= 0xffff; wrong++)
		found += !!nnpu_cids_find(cids, wrong);
	KUNIT_EXPECT_EQ(test, found, 1);
	/* Freeing an id that is not in use changes nothing. */
	nnpu_cids_put(cids, cid ^ 0x100);
	nnpu_cids_put(cids, 0xffff);
	KUNIT_EXPECT_EQ(test, cids->used, 1);
}

/* A repeated completion does not find the next command with the same index. */
static void cids_test_late(struct kunit *test)
{
	struct nnpu_cids *cids = kunit_kzalloc(test, sizeof(*cids), GFP_KERNEL);
	int first, second, a, b;

	KUNIT_ASSERT_NOT_NULL(test, cids);
	nnpu_cids_init(cids, 1);
	first = nnpu_cids_get(cids, &a);
	nnpu_cids_put(cids, first);
	second = nnpu_cids_get(cids, &b);
	KUNIT_EXPECT_NE(test, first, second);
	KUNIT_EXPECT_NULL(test, nnpu_cids_find(cids, first));
	KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(cids, second), (void *)&b);
}

/* While an ABORT names an id, no other command gets it, however many come and go. */
static void cids_test_pin(struct kunit *test)
{
	struct nnpu_cids *cids = kunit_kzalloc(test, sizeof(*cids), GFP_KERNEL);
	int owner, cid, next;
	u32 i, again = 0;

	KUNIT_ASSERT_NOT_NULL(test, cids);
	nnpu_cids_init(cids, 2);
	cid = nnpu_cids_get(cids, &owner);
	nnpu_cids_pin(cids, cid);
	KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(cids, cid), (void *)&owner);
	nnpu_cids_put(cids, cid);
	KUNIT_EXPECT_NULL(test, nnpu_cids_find(cids, cid));
	for (i = 0; i < 1024; i++) {
		next = nnpu_cids_get(cids, &owner);
		KUNIT_ASSERT_GE(test, next, 0);
		again += next == cid;
		KUNIT_EXPECT_EQ(test, nnpu_cids_get(cids, &owner), -EBUSY);
		nnpu_cids_put(cids, next);
	}
	KUNIT_EXPECT_EQ(test, again, 0);
	nnpu_cids_unpin(cids);
	KUNIT_EXPECT_EQ(test, nnpu_cid_index(nnpu_cids_get(cids, &owner)), nnpu_cid_index(cid));
}

static struct kunit_case cids_test_cases[] = {
	KUNIT_CASE(cids_test_all),
	KUNIT_CASE(cids_test_bad),
	KUNIT_CASE(cids_test_late),
	KUNIT_CASE(cids_test_pin),
	{ }
};

static struct kunit_suite cids_test_suite = {
	.name = "nnpu_cids",
	.test_cases = cids_test_cases,
};

kunit_test_suite(cids_test_suite);
