// SPDX-License-Identifier: GPL-2.0-only
/* The ring of events. */
#include <kunit/test.h>

#include "../nnpu_event_ring.h"

#define SIZE	8

static void event_test_new(struct kunit *test, struct nnpu_event_ring *ring)
{
	*ring = (struct nnpu_event_ring) { .size = SIZE };
	ring->slots = kunit_kcalloc(test, SIZE, sizeof(*ring->slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ring->slots);
}

/* In order, however often the ring goes round. */
static void event_test_order(struct kunit *test)
{
	struct nnpu_event_ring ring;
	struct nnpu_event event = { };
	u32 in = 0, out = 0, i, n;

	event_test_new(test, &ring);
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_take(&ring, &event));
	for (n = 1; n <= SIZE; n++) {
		for (i = 0; i < n; i++) {
			event.type = in++;
			KUNIT_ASSERT_TRUE(test, nnpu_event_ring_add(&ring, &event, false));
		}
		for (i = 0; i < n; i++) {
			KUNIT_ASSERT_TRUE(test, nnpu_event_ring_take(&ring, &event));
			KUNIT_EXPECT_EQ(test, event.type, out++);
		}
	}
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_take(&ring, &event));
	KUNIT_EXPECT_EQ(test, ring.lost, 0);
}

/* What there is no room for is counted. */
static void event_test_lost(struct kunit *test)
{
	struct nnpu_event_ring ring;
	struct nnpu_event event = { };
	u32 i;

	event_test_new(test, &ring);
	for (i = 0; i < SIZE; i++)
		KUNIT_ASSERT_TRUE(test, nnpu_event_ring_add(&ring, &event, false));
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_add(&ring, &event, false));
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_add(&ring, &event, false));
	KUNIT_EXPECT_EQ(test, ring.lost, 2);
	KUNIT_EXPECT_EQ(test, ring.all, SIZE + 2);
	for (i = 0; i < SIZE; i++)
		KUNIT_ASSERT_TRUE(test, nnpu_event_ring_take(&ring, &event));
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_take(&ring, &event));
	KUNIT_ASSERT_TRUE(test, nnpu_event_ring_add(&ring, &event, false));
	KUNIT_EXPECT_EQ(test, ring.all, SIZE + 3);
}

/* Those that a client can cause leave room for the others. */
static void event_test_modest(struct kunit *test)
{
	struct nnpu_event_ring ring;
	struct nnpu_event event = { };
	u32 i;

	event_test_new(test, &ring);
	for (i = 0; i < SIZE / 2; i++)
		KUNIT_ASSERT_TRUE(test, nnpu_event_ring_add(&ring, &event, true));
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_add(&ring, &event, true));
	for (i = 0; i < SIZE / 2; i++)
		KUNIT_EXPECT_TRUE(test, nnpu_event_ring_add(&ring, &event, false));
	KUNIT_EXPECT_FALSE(test, nnpu_event_ring_add(&ring, &event, false));
}

static struct kunit_case event_test_cases[] = {
	KUNIT_CASE(event_test_order),
	KUNIT_CASE(event_test_lost),
	KUNIT_CASE(event_test_modest),
	{ }
};

static struct kunit_suite event_test_suite = {
	.name = "nnpu_event",
	.test_cases = event_test_cases,
};

kunit_test_suite(event_test_suite);
