// SPDX-License-Identifier: GPL-2.0-only
/* Object tables: numbers of contexts, slots and programs. */
#include <kunit/test.h>

#include "../nnpu_table.h"

#define COUNT	16

struct table_object {
	bool dying;
	u32 refs;
};

static bool table_object_get(void *data)
{
	struct table_object *object = data;

	if (object->dying)
		return false;
	object->refs++;
	return true;
}

static int table_object_visit(void *object, void *data)
{
	*(void **)data = object;
	return -EBUSY;
}

static void table_test_fini(void *data)
{
	nnpu_table_fini(data);
}

static struct nnpu_table *table_test_new(struct kunit *test, u32 first)
{
	struct nnpu_table *table = kunit_kzalloc(test, sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	nnpu_table_init(table, first, COUNT);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, table_test_fini, table));
	return table;
}

/* All numbers from the first on, then -ENOSPC. */
static void table_test_full(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 1);
	u32 id, i;

	for (i = 0; i < COUNT; i++) {
		KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
		KUNIT_EXPECT_EQ(test, id, 1 + i);
	}
	KUNIT_EXPECT_EQ(test, nnpu_table_reserve(table, &id), -ENOSPC);
}

/* The lowest free number is next, whatever was freed last. */
static void table_test_lowest(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 0);
	u32 id, i;

	for (i = 0; i < COUNT; i++)
		nnpu_table_reserve(table, &id);
	nnpu_table_free(table, 3);
	nnpu_table_free(table, 11);
	nnpu_table_free(table, 7);
	KUNIT_EXPECT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_EQ(test, id, 3);
	KUNIT_EXPECT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_EQ(test, id, 7);
}

/* An object can be found between set and hide only. */
static void table_test_steps(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 0);
	struct table_object object = { };
	u32 id, other;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, NULL));
	KUNIT_EXPECT_NULL(test, nnpu_table_hide(table, id));

	nnpu_table_set(table, id, &object);
	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_get(table, id, table_object_get), (void *)&object);
	KUNIT_EXPECT_EQ(test, object.refs, 1);

	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_hide(table, id), (void *)&object);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, NULL));
	/* Of two callers that hide it, one gets it. */
	KUNIT_EXPECT_NULL(test, nnpu_table_hide(table, id));

	/* Hidden is not free. */
	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &other), 0);
	KUNIT_EXPECT_NE(test, other, id);
	nnpu_table_free(table, id);
	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &other), 0);
	KUNIT_EXPECT_EQ(test, other, id);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, NULL));
}

/* The number may have another object meanwhile. */
static void table_test_hide_object(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 0);
	struct table_object object = { }, other = { };
	u32 id;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_FALSE(test, nnpu_table_hide_object(table, id, &object));
	nnpu_table_set(table, id, &other);
	KUNIT_EXPECT_FALSE(test, nnpu_table_hide_object(table, id, &object));
	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_get(table, id, NULL), (void *)&other);
	KUNIT_EXPECT_TRUE(test, nnpu_table_hide_object(table, id, &other));
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, NULL));
	KUNIT_EXPECT_FALSE(test, nnpu_table_hide_object(table, id, &other));
	/* It is still reserved. */
	nnpu_table_set(table, id, &object);
	KUNIT_EXPECT_PTR_EQ(test, nnpu_table_get(table, id, NULL), (void *)&object);
}

/* Lookups do not find an object without references. */
static void table_test_dying(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 0);
	struct table_object object = { .dying = true };
	u32 id;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	nnpu_table_set(table, id, &object);
	KUNIT_EXPECT_NULL(test, nnpu_table_get(table, id, table_object_get));
	KUNIT_EXPECT_EQ(test, object.refs, 0);
}

/* Invalid numbers. */
static void table_test_bad_ids(struct kunit *test)
{
	static const u32 bad[] = { 0, COUNT + 1, 0x7fffffff, 0x80000000, 0xffffffff };
	struct nnpu_table *table = table_test_new(test, 1);
	struct table_object object = { };
	u32 id, i;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	nnpu_table_set(table, id, &object);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_NULL(test, nnpu_table_get(table, bad[i], table_object_get));
		KUNIT_EXPECT_NULL(test, nnpu_table_hide(table, bad[i]));
	}
	/* The lookups did not reserve them. */
	for (i = 1; i < COUNT; i++)
		KUNIT_EXPECT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_EQ(test, nnpu_table_reserve(table, &id), -ENOSPC);
}

/* Those that lookups find, in order. */
static void table_test_next(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 0);
	struct table_object object = { };
	u32 id, i;

	id = 0;
	KUNIT_EXPECT_FALSE(test, nnpu_table_next(table, &id));
	for (i = 0; i < COUNT; i++)
		nnpu_table_reserve(table, &id);
	id = 0;
	KUNIT_EXPECT_FALSE(test, nnpu_table_next(table, &id));
	nnpu_table_set(table, 2, &object);
	nnpu_table_set(table, 5, &object);
	nnpu_table_set(table, COUNT - 1, &object);
	nnpu_table_hide(table, 5);
	id = 0;
	KUNIT_EXPECT_TRUE(test, nnpu_table_next(table, &id));
	KUNIT_EXPECT_EQ(test, id, 2);
	id++;
	KUNIT_EXPECT_TRUE(test, nnpu_table_next(table, &id));
	KUNIT_EXPECT_EQ(test, id, COUNT - 1);
	id++;
	KUNIT_EXPECT_FALSE(test, nnpu_table_next(table, &id));
	KUNIT_EXPECT_EQ(test, id, COUNT);
}

/* Somebody looks at an object: it is not kept for that. */
static void table_test_visit(struct kunit *test)
{
	struct nnpu_table *table = table_test_new(test, 1);
	struct table_object object = { 0 };
	void *seen = NULL;
	u32 id;

	KUNIT_ASSERT_EQ(test, nnpu_table_reserve(table, &id), 0);
	KUNIT_EXPECT_EQ(test, nnpu_table_visit(table, id, table_object_visit, &seen), -ENOENT);
	nnpu_table_set(table, id, &object);
	KUNIT_EXPECT_EQ(test, nnpu_table_visit(table, id + 1, table_object_visit, &seen),
			-ENOENT);
	KUNIT_EXPECT_NULL(test, seen);
	KUNIT_EXPECT_EQ(test, nnpu_table_visit(table, id, table_object_visit, &seen), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, seen, (void *)&object);
	KUNIT_EXPECT_EQ(test, object.refs, 0);
	nnpu_table_hide(table, id);
	KUNIT_EXPECT_EQ(test, nnpu_table_visit(table, id, table_object_visit, &seen), -ENOENT);
}

static struct kunit_case table_test_cases[] = {
	KUNIT_CASE(table_test_full),
	KUNIT_CASE(table_test_lowest),
	KUNIT_CASE(table_test_steps),
	KUNIT_CASE(table_test_hide_object),
	KUNIT_CASE(table_test_dying),
	KUNIT_CASE(table_test_bad_ids),
	KUNIT_CASE(table_test_next),
	KUNIT_CASE(table_test_visit),
	{ }
};

static struct kunit_suite table_test_suite = {
	.name = "nnpu_table",
	.test_cases = table_test_cases,
};

kunit_test_suite(table_test_suite);
