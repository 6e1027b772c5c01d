// SPDX-License-Identifier: GPL-2.0-only
/* Buckets of histograms. */
#include <kunit/test.h>

#include "../nnpu_latency.h"

/* As the specification says: 2^(9+i) ns and more, less than 2^(10+i) ns. */
static void latency_test_bounds(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(0), 0);
	KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(1), 0);
	KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(1023), 0);
	for (i = 1; i < NNPU_LATENCY_BUCKETS; i++) {
		KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(BIT_ULL(9 + i)), i);
		KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(BIT_ULL(10 + i) - 1), i);
	}
}

static void latency_test_longest(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(BIT_ULL(10 + NNPU_LATENCY_BUCKETS)),
			NNPU_LATENCY_BUCKETS - 1);
	KUNIT_EXPECT_EQ(test, nnpu_latency_bucket(U64_MAX), NNPU_LATENCY_BUCKETS - 1);
}

static struct kunit_case latency_test_cases[] = {
	KUNIT_CASE(latency_test_bounds),
	KUNIT_CASE(latency_test_longest),
	{ }
};

static struct kunit_suite latency_test_suite = {
	.name = "nnpu_latency",
	.test_cases = latency_test_cases,
};

kunit_test_suite(latency_test_suite);
