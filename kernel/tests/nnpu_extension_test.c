// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of vendor extensions: each rule is broken once. */
#include <kunit/test.h>

#include <linux/slab.h>

#include "../nnpu_extension.h"

#define NUM_TYPES	3

/* A valid description, in memory of the test. */
static struct nnpu_extension *extension_good(struct kunit *test)
{
	struct nnpu_extension *e = kunit_kzalloc(test, sizeof(*e), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, e);
	e->magic = cpu_to_le32(NNPU_EXTENSION_MAGIC);
	e->num_types = cpu_to_le32(NUM_TYPES);
	e->first_operation = cpu_to_le32(NNPU_CMD_EXTENSION);
	e->num_operations = cpu_to_le32(2);
	strscpy(e->name, "com.example.test_1", sizeof(e->name));
	for (i = 0; i < NUM_TYPES; i++) {
		e->types[i].number = cpu_to_le16(i * 2);
		e->types[i].code = cpu_to_le16(NNPU_TYPE_EXTENSION + i);
		e->types[i].byte_size = cpu_to_le32(8);
		e->types[i].flags = cpu_to_le32(i ? NNPU_EXTENSION_TENSOR : 0);
	}
	return e;
}

#define EXPECT_REFUSED(change) do { \
	struct nnpu_extension *e = extension_good(test); \
	change; \
	KUNIT_EXPECT_FALSE_MSG(test, nnpu_extension_ok(e, NULL, 0), "%s", #change); \
} while (0)

#define EXPECT_GOOD(change) do { \
	struct nnpu_extension *e = extension_good(test); \
	change; \
	KUNIT_EXPECT_TRUE_MSG(test, nnpu_extension_ok(e, NULL, 0), "%s", #change); \
} while (0)

static void extension_test_header(struct kunit *test)
{
	KUNIT_EXPECT_TRUE(test, nnpu_extension_ok(extension_good(test), NULL, 0));
	EXPECT_REFUSED(e->magic = 0);
	EXPECT_REFUSED(e->reserved[0] = 1);
	EXPECT_REFUSED(e->reserved[sizeof(e->reserved) - 1] = 1);
	EXPECT_REFUSED(e->first_operation = cpu_to_le32(NNPU_CMD_EXTENSION - 1));
	EXPECT_REFUSED(e->first_operation = cpu_to_le32(U32_MAX));
	EXPECT_REFUSED(e->num_operations = cpu_to_le32(U32_MAX));
	EXPECT_GOOD(e->num_operations = 0);
}

static void extension_test_name(struct kunit *test)
{
	EXPECT_REFUSED(memset(e->name, 0, sizeof(e->name)));
	EXPECT_REFUSED(memset(e->name, 'a', sizeof(e->name)));
	EXPECT_REFUSED(memset(e->name, '.', sizeof(e->name)));
	EXPECT_REFUSED(e->name[sizeof(e->name) - 1] = 'a');
	EXPECT_REFUSED(e->name[0] = 'C');
	EXPECT_REFUSED(e->name[0] = ' ');
	EXPECT_REFUSED(e->name[0] = '\n');
	EXPECT_REFUSED(e->name[0] = (char)0xe4);
	EXPECT_REFUSED(strreplace(e->name, '.', '_'));
	EXPECT_GOOD(memset(e->name, '.', sizeof(e->name) - 1));
}

static void extension_test_types(struct kunit *test)
{
	EXPECT_REFUSED(e->num_types = cpu_to_le32(NNPU_EXTENSION_MAX_TYPES + 1));
	EXPECT_REFUSED(e->num_types = cpu_to_le32(U32_MAX));
	EXPECT_REFUSED(e->num_types = cpu_to_le32(NUM_TYPES + 1));
	/* Entries behind the last one are zero. */
	EXPECT_REFUSED(e->num_types = cpu_to_le32(NUM_TYPES - 1));
	EXPECT_REFUSED(e->types[NNPU_EXTENSION_MAX_TYPES - 1].reserved = cpu_to_le32(1));
	EXPECT_REFUSED(e->types[1].code = cpu_to_le16(NNPU_TYPE_EXTENSION - 1));
	EXPECT_REFUSED(e->types[1].byte_size = 0);
	EXPECT_REFUSED(e->types[1].flags = cpu_to_le32(NNPU_EXTENSION_TENSOR << 1));
	EXPECT_REFUSED(e->types[1].reserved = cpu_to_le32(1));
	EXPECT_REFUSED(e->types[1].number = e->types[0].number);
	EXPECT_REFUSED(e->types[1].number = cpu_to_le16(U16_MAX));
	EXPECT_GOOD(e->types[NUM_TYPES - 1].number = cpu_to_le16(U16_MAX));
	EXPECT_GOOD(memset(e->types, 0, sizeof(e->types)); e->num_types = 0);
}

static void extension_test_names_differ(struct kunit *test)
{
	struct nnpu_extension *others = extension_good(test), *e = extension_good(test);

	KUNIT_EXPECT_FALSE(test, nnpu_extension_ok(e, others, 1));
	e->name[0] = 'd';
	KUNIT_EXPECT_TRUE(test, nnpu_extension_ok(e, others, 1));
}

static struct kunit_case extension_test_cases[] = {
	KUNIT_CASE(extension_test_header),
	KUNIT_CASE(extension_test_name),
	KUNIT_CASE(extension_test_types),
	KUNIT_CASE(extension_test_names_differ),
	{ }
};

static struct kunit_suite extension_test_suite = {
	.name = "nnpu_extension",
	.test_cases = extension_test_cases,
};

kunit_test_suite(extension_test_suite);
