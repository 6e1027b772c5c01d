// SPDX-License-Identifier: GPL-2.0-only
/* Rings and phase bits. */
#include <kunit/test.h>

#include "../nnpu_ring.h"

#define SIZE	8

struct ring_test {
	struct nnpu_sqe sq_mem[SIZE];
	struct nnpu_cqe cq_mem[SIZE];
	struct nnpu_sq sq;
	struct nnpu_cq cq;
	/* The device's side of the completion ring. */
	u32 dev_tail;
	u16 dev_phase;
};

static struct ring_test *ring_test_new(struct kunit *test)
{
	struct ring_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	nnpu_ring_sq_init(&t->sq, t->sq_mem, SIZE);
	memset(t->cq_mem, 0xff, sizeof(t->cq_mem));
	nnpu_ring_cq_init(&t->cq, t->cq_mem, SIZE);
	t->dev_phase = 1;
	return t;
}

/* Write a completion as the device does. */
static void ring_test_complete(struct ring_test *t, u16 cid, u16 status)
{
	struct nnpu_cqe *cqe = &t->cq_mem[t->dev_tail];

	cqe->cid = cpu_to_le16(cid);
	cqe->status = cpu_to_le16(status << NNPU_CQE_STATUS_SHIFT | t->dev_phase);
	t->dev_tail = (t->dev_tail + 1) % SIZE;
	if (!t->dev_tail)
		t->dev_phase ^= 1;
}

/* A ring holds one entry less than its size, and refuses the next. */
static void ring_test_sq_full(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_sqe sqe = { };
	u32 i;

	for (i = 0; i < SIZE - 1; i++) {
		KUNIT_EXPECT_EQ(test, nnpu_ring_sq_room(&t->sq), SIZE - 1 - i);
		sqe.cid = cpu_to_le16(i);
		KUNIT_EXPECT_EQ(test, nnpu_ring_sq_push(&t->sq, &sqe), 0);
	}
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_room(&t->sq), 0);
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_push(&t->sq, &sqe), -ENOSPC);
	for (i = 0; i < SIZE - 1; i++)
		KUNIT_EXPECT_EQ(test, le16_to_cpu(t->sq_mem[i].cid), i);
}

/* Entries that the device has fetched make room, also across the end of the ring. */
static void ring_test_sq_wrap(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_sqe sqe = { };
	u32 i;

	for (i = 0; i < 5 * SIZE; i++) {
		sqe.cid = cpu_to_le16(i);
		KUNIT_ASSERT_EQ(test, nnpu_ring_sq_push(&t->sq, &sqe), 0);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(t->sq_mem[i % SIZE].cid), i);
		KUNIT_EXPECT_EQ(test, t->sq.tail, (i + 1) % SIZE);
		KUNIT_ASSERT_EQ(test, nnpu_ring_sq_fetched(&t->sq, (i + 1) % SIZE), 0);
		KUNIT_EXPECT_EQ(test, nnpu_ring_sq_room(&t->sq), SIZE - 1);
	}
}

/* An index that goes back or beyond the tail is refused. */
static void ring_test_sq_bad_head(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_sqe sqe = { };

	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_fetched(&t->sq, 1), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_fetched(&t->sq, SIZE), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_fetched(&t->sq, 0xffff), -EPROTO);
	nnpu_ring_sq_push(&t->sq, &sqe);
	nnpu_ring_sq_push(&t->sq, &sqe);
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_fetched(&t->sq, 2), 0);
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_fetched(&t->sq, 1), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_ring_sq_fetched(&t->sq, 3), -EPROTO);
	KUNIT_EXPECT_EQ(test, t->sq.head, 2);
}

/* A new ring is empty, whatever was in its memory. */
static void ring_test_cq_empty(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_cqe cqe;

	KUNIT_EXPECT_FALSE(test, nnpu_ring_cq_pop(&t->cq, &cqe));
	KUNIT_EXPECT_EQ(test, t->cq.head, 0);
}

/* Each completion is seen once, in order, over many passes. */
static void ring_test_cq_wrap(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_cqe cqe;
	u32 i, n, cid = 0, seen = 0;

	for (i = 0; i < 40; i++) {
		for (n = 0; n < 1 + i % (SIZE - 1); n++)
			ring_test_complete(t, cid++, i % 7);
		while (nnpu_ring_cq_pop(&t->cq, &cqe)) {
			KUNIT_EXPECT_EQ(test, le16_to_cpu(cqe.cid), seen);
			KUNIT_EXPECT_EQ(test, le16_to_cpu(cqe.status) >> NNPU_CQE_STATUS_SHIFT,
					i % 7);
			seen++;
		}
		KUNIT_ASSERT_EQ(test, seen, cid);
		KUNIT_EXPECT_EQ(test, t->cq.head, t->dev_tail);
	}
}

/* A full pass of entries, then none: those of the last pass are stale. */
static void ring_test_cq_stale(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_cqe cqe;
	u32 pass, i;

	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < SIZE; i++)
			ring_test_complete(t, i, 0);
		for (i = 0; i < SIZE; i++)
			KUNIT_EXPECT_TRUE(test, nnpu_ring_cq_pop(&t->cq, &cqe));
		KUNIT_EXPECT_FALSE(test, nnpu_ring_cq_pop(&t->cq, &cqe));
	}
}

/* An entry with the wrong phase is not taken, whatever else it contains. */
static void ring_test_cq_wrong_phase(struct kunit *test)
{
	struct ring_test *t = ring_test_new(test);
	struct nnpu_cqe cqe;

	t->dev_phase = 0;
	ring_test_complete(t, 1, NNPU_STATUS_INTERNAL);
	KUNIT_EXPECT_FALSE(test, nnpu_ring_cq_pop(&t->cq, &cqe));
}

/* All users together fill no ring, and a ring that is too small for one each says so. */
static void ring_test_credits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_ring_credits(4096, 192, 4), 4);
	KUNIT_EXPECT_EQ(test, nnpu_ring_credits(1024, 192, 16), 5);
	KUNIT_EXPECT_EQ(test, nnpu_ring_credits(769, 192, 4), 4);
	KUNIT_EXPECT_EQ(test, nnpu_ring_credits(768, 192, 4), 3);
	KUNIT_EXPECT_EQ(test, nnpu_ring_credits(193, 192, 4), 1);
	KUNIT_EXPECT_EQ(test, nnpu_ring_credits(192, 192, 4), 0);
}

static struct kunit_case ring_test_cases[] = {
	KUNIT_CASE(ring_test_credits),
	KUNIT_CASE(ring_test_sq_full),
	KUNIT_CASE(ring_test_sq_wrap),
	KUNIT_CASE(ring_test_sq_bad_head),
	KUNIT_CASE(ring_test_cq_empty),
	KUNIT_CASE(ring_test_cq_wrap),
	KUNIT_CASE(ring_test_cq_stale),
	KUNIT_CASE(ring_test_cq_wrong_phase),
	{ }
};

static struct kunit_suite ring_test_suite = {
	.name = "nnpu_ring",
	.test_cases = ring_test_cases,
};

kunit_test_suite(ring_test_suite);

MODULE_DESCRIPTION("KUnit tests of the NNPU driver");
MODULE_LICENSE("GPL");
