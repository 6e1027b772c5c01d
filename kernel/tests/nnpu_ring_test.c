// SPDX-License-Identifier: GPL-2.0-only
/* Rings, phase bits and command ids. The test plays the device. */
#include <kunit/test.h>

#include "../nnpu_ring.h"

#define RING_SIZE	8

struct ring_ctx {
	struct nnpu_sqe sqes[RING_SIZE];
	struct nnpu_cqe cqes[RING_SIZE];
	struct nnpu_sq sq;
	struct nnpu_cq cq;
	struct nnpu_cids cids;
	/* The device's place in the completion ring. */
	u32 tail;
	u16 phase;
};

static int ring_init(struct kunit *test)
{
	struct ring_ctx *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	/* Old contents must not matter. */
	memset(r->cqes, 0xff, sizeof(r->cqes));
	nnpu_sq_init(&r->sq, r->sqes, RING_SIZE);
	nnpu_cq_init(&r->cq, r->cqes, RING_SIZE);
	nnpu_cids_init(&r->cids, RING_SIZE);
	r->phase = NNPU_CQE_PHASE;
	test->priv = r;
	return 0;
}

static void device_completes(struct ring_ctx *r, u16 cid)
{
	struct nnpu_cqe *cqe = &r->cqes[r->tail];

	cqe->cid = cpu_to_le16(cid);
	cqe->status = cpu_to_le16(NNPU_STATUS_SUCCESS << NNPU_CQE_STATUS_SHIFT | r->phase);
	r->tail = (r->tail + 1) % RING_SIZE;
	if (!r->tail)
		r->phase ^= NNPU_CQE_PHASE;
}

/* Success: an empty ring has room for all entries but one. */
static void sq_empty(struct kunit *test)
{
	struct ring_ctx *r = test->priv;

	KUNIT_EXPECT_EQ(test, nnpu_sq_room(&r->sq), RING_SIZE - 1);
}

/* Success: the push behind the last room fails and changes nothing. */
static void sq_full(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	struct nnpu_sqe sqe = { .opcode = NNPU_IO_EXECUTE };
	u32 i;

	for (i = 0; i < RING_SIZE - 1; i++)
		KUNIT_ASSERT_EQ(test, nnpu_sq_push(&r->sq, &sqe), 0);
	KUNIT_EXPECT_EQ(test, nnpu_sq_room(&r->sq), 0);
	KUNIT_EXPECT_EQ(test, nnpu_sq_push(&r->sq, &sqe), -ENOSPC);
	KUNIT_EXPECT_EQ(test, r->sq.tail, RING_SIZE - 1);
	KUNIT_EXPECT_EQ(test, r->sqes[RING_SIZE - 1].opcode, 0);
}

/* Success: entries land in order over many wraps, none is overwritten early. */
static void sq_wrap(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	u32 i;

	for (i = 0; i < 5 * RING_SIZE; i++) {
		struct nnpu_sqe sqe = { .cid = cpu_to_le16(i) };

		KUNIT_ASSERT_EQ(test, nnpu_sq_push(&r->sq, &sqe), 0);
		KUNIT_EXPECT_EQ(test, le16_to_cpu(r->sqes[i % RING_SIZE].cid), i);
		KUNIT_EXPECT_EQ(test, r->sq.tail, (i + 1) % RING_SIZE);
		KUNIT_ASSERT_EQ(test, nnpu_sq_fetched(&r->sq, (i + 1) % RING_SIZE), 0);
		KUNIT_EXPECT_EQ(test, nnpu_sq_room(&r->sq), RING_SIZE - 1);
	}
}

/* Success: a head the device cannot have reached is refused, room stays as it was. */
static void sq_bad_head(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	struct nnpu_sqe sqe = { };
	u32 i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, nnpu_sq_push(&r->sq, &sqe), 0);
	KUNIT_EXPECT_EQ(test, nnpu_sq_fetched(&r->sq, 4), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_sq_fetched(&r->sq, RING_SIZE), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_sq_fetched(&r->sq, 0xffff), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_sq_room(&r->sq), RING_SIZE - 4);
	KUNIT_EXPECT_EQ(test, nnpu_sq_fetched(&r->sq, 2), 0);
	/* Not back again either. */
	KUNIT_EXPECT_EQ(test, nnpu_sq_fetched(&r->sq, 1), -EPROTO);
	KUNIT_EXPECT_EQ(test, nnpu_sq_fetched(&r->sq, 3), 0);
	KUNIT_EXPECT_EQ(test, nnpu_sq_room(&r->sq), RING_SIZE - 1);
}

/* Success: nothing is found in a ring the device has not written. */
static void cq_empty(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	struct nnpu_cqe cqe;

	KUNIT_EXPECT_FALSE(test, nnpu_cq_pop(&r->cq, &cqe));
	KUNIT_EXPECT_EQ(test, r->cq.head, 0);
}

/*
 * Success: every completion is found once and in order over odd batches and
 * many passes, which changes the phase each time.
 */
static void cq_phase_wrap(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	u32 written = 0, read = 0;
	struct nnpu_cqe cqe;
	u32 batch, i;

	for (batch = 1; batch < 40; batch++) {
		for (i = 0; i < batch % RING_SIZE; i++)
			device_completes(r, written++);
		while (nnpu_cq_pop(&r->cq, &cqe)) {
			KUNIT_EXPECT_EQ(test, le16_to_cpu(cqe.cid), read);
			read++;
		}
		KUNIT_ASSERT_EQ(test, read, written);
	}
	KUNIT_EXPECT_GT(test, written, 4 * RING_SIZE);
}

/* Success: a full ring gives all its entries and not one of the last pass. */
static void cq_full_pass(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	struct nnpu_cqe cqe;
	u32 pass, i;

	for (pass = 0; pass < 3; pass++) {
		for (i = 0; i < RING_SIZE; i++)
			device_completes(r, i);
		for (i = 0; i < RING_SIZE; i++)
			KUNIT_ASSERT_TRUE(test, nnpu_cq_pop(&r->cq, &cqe));
		KUNIT_EXPECT_FALSE(test, nnpu_cq_pop(&r->cq, &cqe));
	}
}

/* Success: an entry that has the old phase is not new, whatever else it says. */
static void cq_stale_phase(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	struct nnpu_cqe cqe;

	r->cqes[0].cid = cpu_to_le16(7);
	r->cqes[0].status = cpu_to_le16(0xfffe);
	KUNIT_EXPECT_FALSE(test, nnpu_cq_pop(&r->cq, &cqe));
	r->cqes[0].status = cpu_to_le16(0xffff);
	KUNIT_EXPECT_TRUE(test, nnpu_cq_pop(&r->cq, &cqe));
	KUNIT_EXPECT_EQ(test, le16_to_cpu(cqe.status), 0xffff);
}

/* Success: what pop returned is a copy. */
static void cq_copy(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	struct nnpu_cqe cqe;

	device_completes(r, 5);
	KUNIT_ASSERT_TRUE(test, nnpu_cq_pop(&r->cq, &cqe));
	memset(r->cqes, 0, sizeof(r->cqes));
	KUNIT_EXPECT_EQ(test, le16_to_cpu(cqe.cid), 5);
}

/* Success: as many ids as the table has, all different, then -EBUSY. */
static void cids_exhaust(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	int owner[RING_SIZE], cid[RING_SIZE];
	u32 i;

	for (i = 0; i < RING_SIZE; i++) {
		cid[i] = nnpu_cids_get(&r->cids, &owner[i]);
		KUNIT_ASSERT_GE(test, cid[i], 0);
		KUNIT_EXPECT_LT(test, nnpu_cid_index(cid[i]), RING_SIZE);
	}
	KUNIT_EXPECT_EQ(test, nnpu_cids_get(&r->cids, test), -EBUSY);
	for (i = 0; i < RING_SIZE; i++)
		KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(&r->cids, cid[i]), (void *)&owner[i]);
	nnpu_cids_put(&r->cids, cid[3]);
	KUNIT_EXPECT_EQ(test, r->cids.used, RING_SIZE - 1);
	KUNIT_EXPECT_GE(test, nnpu_cids_get(&r->cids, test), 0);
}

/* Success: an id that has ended finds nobody, also after its index is used again. */
static void cids_stale(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	int old, new, i;

	old = nnpu_cids_get(&r->cids, &old);
	nnpu_cids_put(&r->cids, old);
	KUNIT_EXPECT_NULL(test, nnpu_cids_find(&r->cids, old));
	for (i = 0; i < 255; i++) {
		new = nnpu_cids_get(&r->cids, &new);
		KUNIT_ASSERT_GE(test, new, 0);
		KUNIT_EXPECT_EQ(test, nnpu_cid_index(new), nnpu_cid_index(old));
		KUNIT_EXPECT_NULL(test, nnpu_cids_find(&r->cids, old));
		/* Ending a stale id does not end the live one. */
		nnpu_cids_put(&r->cids, old);
		KUNIT_EXPECT_PTR_EQ(test, nnpu_cids_find(&r->cids, new), (void *)&new);
		nnpu_cids_put(&r->cids, new);
	}
}

/* Success: no invented id finds an owner or reads outside the table. */
static void cids_invented(struct kunit *test)
{
	struct ring_ctx *r = test->priv;
	int cid = nnpu_cids_get(&r->cids, r);
	u32 i, found = 0;

	KUNIT_ASSERT_GE(test, cid, 0);
	for (i = 0; i <= 0xffff; i++)
		found += nnpu_cids_find(&r->cids, i) != NULL;
	KUNIT_EXPECT_EQ(test, found, 1);
}

static struct kunit_case nnpu_ring_cases[] = {
	KUNIT_CASE(sq_empty),
	KUNIT_CASE(sq_full),
	KUNIT_CASE(sq_wrap),
	KUNIT_CASE(sq_bad_head),
	KUNIT_CASE(cq_empty),
	KUNIT_CASE(cq_phase_wrap),
	KUNIT_CASE(cq_full_pass),
	KUNIT_CASE(cq_stale_phase),
	KUNIT_CASE(cq_copy),
	KUNIT_CASE(cids_exhaust),
	KUNIT_CASE(cids_stale),
	KUNIT_CASE(cids_invented),
	{ }
};

static struct kunit_suite nnpu_ring_suite = {
	.name = "nnpu_ring",
	.init = ring_init,
	.test_cases = nnpu_ring_cases,
};

kunit_test_suite(nnpu_ring_suite);

MODULE_DESCRIPTION("KUnit tests of the NNPU driver's logic");
MODULE_LICENSE("GPL");
