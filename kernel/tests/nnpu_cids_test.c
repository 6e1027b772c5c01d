// SPDX-License-Identifier: GPL-2.0-only
/* Command ids. */
#include <kunit/test.h>

#include "../nnpu_cids.h"

#define SIZE	8

static void cids_test_fini(void *cids)
{
	nnpu_cids_fini(cids);
}

static struct nnpu_cids *cids_test_new(struct kunit *test, u32 size)
{
	struct nnpu_cids *cids = kunit_kzalloc(test, sizeof(*cids), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cids);
	KUNIT_ASSERT_EQ(test, nnpu_cids_init(cids, size), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, cids_test_fini, cids), 0);
	return cids;
}

/* All ids are different, and each finds its own owner, whatever the size. */
static void cids_test_all(struct kunit *test)
{
	static const u32 sizes[] = { 1, 7, SIZE, 255, 256, 960, NNPU_CIDS_MAX };
	struct nnpu_cids *cids;
	u32 i, n, good;
	u16 *cid;
	int ret;

	cid = kunit_kcalloc(test, NNPU_CIDS_MAX, sizeof(*cid), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, cid);
	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		cids = cids_test_new(test, sizes[n]);
		for (i = 0, good = 0; i < sizes[n]; i++) {
			ret = nnpu_cids_get(cids, i, 1, &cid[i]);
			KUNIT_ASSERT_GE(test, ret, 0);
			cid[i] = ret;
			good += nnpu_cids_index(cids, cid[i]) == i;
		}
		KUNIT_EXPECT_EQ(test, good, sizes[n]);
		KUNIT_EXPECT_EQ(test, nnpu_cids_get(cids, 0, sizes[n], cid), -EBUSY);
		KUNIT_EXPECT_EQ(test, cids->used, sizes[n]);
		for (i = 0, good = 0; i < sizes[n]; i++)
			good += nnpu_cids_find(cids, cid[i]) == &cid[i];
		KUNIT_EXPECT_EQ(test, good, sizes[n]);
		KUNIT_EXPECT_NULL(test, nnpu_cids_find(cids, 0xffff));
		for (i = 0; i < sizes[n]; i++)
			nnpu_cids_put(cids, cid[i]);
		KUNIT_EXPECT_EQ(test, cids->used, 0);
	}
}

/* No table without ids, and none whose ids would have no generation. */
static void cids_test_size(struct kunit *test)
{
	struct nnpu_cids cids;

	KUNIT_EXPECT_EQ(test, nnpu_cids_init(&cids, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, nnpu_cids_init(&cids, NNPU_CIDS_MAX + 1), -EINVAL);
}

/* A context that has used up its range takes no id of another one's. */
static void cids_test_range(struct kunit *test)
{
	struct nnpu_cids *cids = cids_test_new(test, SIZE);
	int owner, cid, i;

	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_GE(test, nnpu_cids_get(cids, 2, 3, &owner), 0);
	KUNIT_EXPECT_EQ(test, nnpu_cids_get(cids, 2, 3, &owner), -EBUSY);
	cid = nnpu_cids_get(cids, 5, 3, &owner);
	KUNIT_EXPECT_EQ(test, nnpu_cids_index(cids, cid), 5);
	cid = nnpu_cids_get(cids, 0, 2, &owner);
	KUNIT_EXPECT_EQ(test, nnpu_cids_index(cids, cid), 0);
	/* A range that leaves the table ends with it. */
	KUNIT_EXPECT_EQ(test, nnpu_cids_get(cids, SIZE, 3, &owner), -EBUSY);
}

/* Ids that are not in flight find no owner. */
static void cids_test_bad(struct kunit *test)
{
	struct nnpu_cids *cids = cids_test_new(test, SIZE);
	int owner, cid;
	u32 wrong, found = 0;

	cid = nnpu_cids_get(cids, 0, SIZE, &owner);
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
	struct nnpu_cids *cids = cids_test_new(test, 1);
	int first, second, a, b;

	first = nnpu_cids_get(cids, 0, 1, &a);
	nnpu_cids_put(cids, first);
	second = nnpu_cids_get(cids, 0, 1, &b);
	KUNIT_EXPECT_NE(test, first, second);
	KUNIT_EXPECT_NULL(test, nnpu_cids_find(cids, first));
	KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(cids, second), (void *)&b);
}

/* While an ABORT names an id, no other command gets it, however many come and go. */
static void cids_test_pin(struct kunit *test)
{
	struct nnpu_cids *cids = cids_test_new(test, 2);
	int owner, cid, next;
	u32 i, again = 0;

	cid = nnpu_cids_get(cids, 0, 2, &owner);
	nnpu_cids_pin(cids, cid);
	KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(cids, cid), (void *)&owner);
	nnpu_cids_put(cids, cid);
	KUNIT_EXPECT_NULL(test, nnpu_cids_find(cids, cid));
	for (i = 0; i < 65536; i++) {
		next = nnpu_cids_get(cids, 0, 2, &owner);
		KUNIT_ASSERT_GE(test, next, 0);
		again += next == cid || nnpu_cids_get(cids, 0, 2, &owner) != -EBUSY;
		nnpu_cids_put(cids, next);
	}
	KUNIT_EXPECT_EQ(test, again, 0);
	nnpu_cids_unpin(cids, cid);
	next = nnpu_cids_get(cids, 0, 2, &owner);
	KUNIT_EXPECT_EQ(test, nnpu_cids_index(cids, next), nnpu_cids_index(cids, cid));
}

/* Two aborts pin the same id, or two: each id is free when nobody pins it any more. */
static void cids_test_pins(struct kunit *test)
{
	struct nnpu_cids *cids = cids_test_new(test, 3);
	int owner, a, b, next;

	a = nnpu_cids_get(cids, 0, 3, &owner);
	b = nnpu_cids_get(cids, 0, 3, &owner);
	nnpu_cids_pin(cids, a);
	nnpu_cids_pin(cids, a);
	nnpu_cids_pin(cids, b);
	nnpu_cids_put(cids, a);
	nnpu_cids_put(cids, b);
	next = nnpu_cids_get(cids, 0, 3, &owner);
	KUNIT_EXPECT_EQ(test, nnpu_cids_index(cids, next), 2);
	nnpu_cids_unpin(cids, a);
	KUNIT_EXPECT_EQ(test, nnpu_cids_get(cids, 0, 3, &owner), -EBUSY);
	nnpu_cids_unpin(cids, b);
	next = nnpu_cids_get(cids, 0, 3, &owner);
	KUNIT_EXPECT_EQ(test, nnpu_cids_index(cids, next), nnpu_cids_index(cids, b));
	nnpu_cids_unpin(cids, a);
	next = nnpu_cids_get(cids, 0, 3, &owner);
	KUNIT_EXPECT_EQ(test, nnpu_cids_index(cids, next), nnpu_cids_index(cids, a));
}

static struct kunit_case cids_test_cases[] = {
	KUNIT_CASE(cids_test_all),
	KUNIT_CASE(cids_test_size),
	KUNIT_CASE(cids_test_range),
	KUNIT_CASE(cids_test_bad),
	KUNIT_CASE(cids_test_late),
	KUNIT_CASE(cids_test_pin),
	KUNIT_CASE(cids_test_pins),
	{ }
};

static struct kunit_suite cids_test_suite = {
	.name = "nnpu_cids",
	.test_cases = cids_test_cases,
};

kunit_test_suite(cids_test_suite);
