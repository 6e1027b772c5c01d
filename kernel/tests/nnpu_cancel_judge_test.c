// SPDX-License-Identifier: GPL-2.0-only
/* CANCEL: what happens to a job. */
#include <kunit/test.h>

#include "../nnpu_cancel.h"
#include "../nnpu_check.h"

/* A job that has ended, or that somebody else is ending, is never changed. */
static void cancel_test_late(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(true, i & 1, i & 2, i & 4, i & 8),
				NNPU_CANCEL_LATE);
}

/* One that waits for fences or for its turn ends, cancelled before or not. */
static void cancel_test_waits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, false, false, false, true),
			NNPU_CANCEL_END);
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, false, false, true, true),
			NNPU_CANCEL_END);
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, false, false, false, false),
			NNPU_CANCEL_TURN);
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, false, false, true, false),
			NNPU_CANCEL_TURN);
}

/* The device is asked once. What it does not have is taken back. */
static void cancel_test_in_flight(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, true, true, false, false),
			NNPU_CANCEL_HELD);
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, true, true, true, false),
			NNPU_CANCEL_HELD);
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, true, false, false, true),
			NNPU_CANCEL_ABORT);
	KUNIT_EXPECT_EQ(test, nnpu_cancel_judge(false, true, false, true, true),
			NNPU_CANCEL_ASKED);
}

static void cancel_test_check(struct kunit *test)
{
	struct drm_nnpu_cancel args = { .syncobj = 1, .point = U64_MAX };

	KUNIT_EXPECT_EQ(test, nnpu_check_cancel(&args), 0);
	args.flags = 1;
	KUNIT_EXPECT_EQ(test, nnpu_check_cancel(&args), -EINVAL);
	args.flags = 1u << 31;
	KUNIT_EXPECT_EQ(test, nnpu_check_cancel(&args), -EINVAL);
}

static struct kunit_case cancel_test_cases[] = {
	KUNIT_CASE(cancel_test_late),
	KUNIT_CASE(cancel_test_waits),
	KUNIT_CASE(cancel_test_in_flight),
	KUNIT_CASE(cancel_test_check),
	{ }
};

static struct kunit_suite cancel_test_suite = {
	.name = "nnpu_cancel",
	.test_cases = cancel_test_cases,
};

kunit_test_suite(cancel_test_suite);
