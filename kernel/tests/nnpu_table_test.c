// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of contexts, slots and programs. */
#include <kunit/test.h>

#include "../nnpu_table.h"

#define FIRST	1
#define COUNT	6

static int table_init(struct kunit *test)
{
	struct nnpu_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	nnpu_table_init(table, FIRST, COUNT);
	test->priv = table;
	return 0;
}

static void table_exit(struct kunit *test)
{
	nnpu_table_fini(test->priv);
}

/* Success: lowest number first, none twice, -ENOSPC when all are taken. */
static void reserve_all(struct kunit *test)
{
	struct nnpu_table *table = test->priv;
	u32 id, i;

	for (i = 0; i < COUNT; i++) {
		KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
		KUNIT_EXPECT_EQ(test, id, FIRST + i);
	}
	KUNIT_EXPECT_EQ(test, nnpu_table_reserve(table, &id), -ENOSPC);
	nnpu_table_free(table, FIRST + 3);
	nnpu_table_free(table, FIRST + 1);
	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_EQ(test, id, FIRST + 1);
}

/* Success: a reserved number cannot be found before it is set. */
static void reserved_is_invisible(struct kunit *test)
{
	struct nnpu_table *table = test->priv;
	u32 id;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, NULL));
	nnpu_table_set(table, id, test);
	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_get(table, id, NULL), (void *)test);
}

/* Success: a hidden number is not found, not given out, and hidden only once. */
static void hidden_stays_taken(struct kunit *test)
{
	struct nnpu_table *table = test->priv;
	u32 id, other;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	nnpu_table_set(table, id, test);
	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_hide(table, id), (void *)test);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, NULL));
	KUNIT_EXPECT_NULL(test, nnpu_table_hide(table, id));
	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &other), 0);
	KUNIT_EXPECT_NE(test, id, other);
	nnpu_table_free(table, id);
	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &other), 0);
	KUNIT_EXPECT_EQ(test, id, other);
}

/* Success: numbers that were never given out are not found. */
static void invented_numbers(struct kunit *test)
{
	static const u32 ids[] = { 0, FIRST, COUNT, FIRST + COUNT, 0x7fffffff, 0xffffffff };
	struct nnpu_table *table = test->priv;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(ids); i++) {
		KUNIT_EXPECT_NULL(test, nnpu_table_get(table, ids[i], NULL));
		KUNIT_EXPECT_NULL(test, nnpu_table_hide(table, ids[i]));
	}
}

static bool refuse(void *object)
{
	return false;
}

/* Success: an object that gives no reference any more is as good as gone. */
static void object_on_its_way_out(struct kunit *test)
{
	struct nnpu_table *table = test->priv;
	u32 id;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	nnpu_table_set(table, id, test);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, refuse));
	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_get(table, id, NULL), (void *)test);
}

static struct kunit_case nnpu_table_cases[] = {
	KUNIT_CASE(reserve_all),
	KUNIT_CASE(reserved_is_invisible),
	KUNIT_CASE(hidden_stays_taken),
	KUNIT_CASE(invented_numbers),
	KUNIT_CASE(object_on_its_way_out),
	{ }
};

static struct kunit_suite nnpu_table_suite = {
	.name = "nnpu_table",
	.init = table_init,
	.exit = table_exit,
	.test_cases = nnpu_table_cases,
};

kunit_test_suite(nnpu_table_suite);
