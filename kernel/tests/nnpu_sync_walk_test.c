// SPDX-License-Identifier: GPL-2.0-only
/* Which memory is synchronised, in which pieces, and how soon that ends if nobody needs it. */
#include <kunit/test.h>
#include <linux/scatterlist.h>

#include "../nnpu_sync_walk.h"

#define ENTRIES		3
#define PAGE		4096u

/* What a walk did. */
struct sync_walk_rig {
	struct nnpu_sync_walk walk;
	struct scatterlist sg[ENTRIES];
	struct sg_table sgt;
	dma_addr_t next;	/* where the next piece has to begin; it may be in another entry */
	u64 done;
	u64 largest;
	u64 stop_at;		/* bytes */
	u64 after_stop;
	unsigned int wrong;
};

static const dma_addr_t sync_walk_starts[ENTRIES] = { 0x10000000, 0x70001000, 0x40000000 };
static const unsigned int sync_walk_sizes[ENTRIES] = { 8 * PAGE, SZ_32M, 5 * PAGE };

static struct sync_walk_rig *sync_walk_rig_of(const struct nnpu_sync_walk *walk)
{
	return container_of_const(walk, struct sync_walk_rig, walk);
}

static void sync_walk_note(const struct nnpu_sync_walk *walk, dma_addr_t dma, size_t length)
{
	struct sync_walk_rig *rig = (void *)sync_walk_rig_of(walk);
	unsigned int i;

	for (i = 0; i < ENTRIES; i++)
		if (dma >= sync_walk_starts[i] &&
		    dma + length <= sync_walk_starts[i] + sync_walk_sizes[i])
			break;
	/* All of it in one entry, behind what was before or at the start of an entry. */
	if (i == ENTRIES || !length ||
	    (rig->next && dma != rig->next && dma != sync_walk_starts[i]))
		rig->wrong++;
	/* No piece goes over a boundary. */
	if (dma / walk->piece != (dma + length - 1) / walk->piece)
		rig->wrong++;
	if (rig->done >= rig->stop_at)
		rig->after_stop += length;
	else if (rig->done + length > rig->stop_at)
		rig->after_stop += rig->done + length - rig->stop_at;
	rig->next = dma + length;
	rig->done += length;
	rig->largest = max_t(u64, rig->largest, length);
}

static bool sync_walk_stop(const struct nnpu_sync_walk *walk)
{
	struct sync_walk_rig *rig = (void *)sync_walk_rig_of(walk);

	return rig->done >= rig->stop_at;
}

static struct sync_walk_rig *sync_walk_rig_new(struct kunit *test, u64 piece, u64 stop_at)
{
	struct sync_walk_rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig->walk = (struct nnpu_sync_walk) {
		.piece = piece, .sync = sync_walk_note, .stop = sync_walk_stop,
	};
	rig->stop_at = stop_at;
	sg_init_table(rig->sg, ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		sg_dma_address(&rig->sg[i]) = sync_walk_starts[i];
		sg_dma_len(&rig->sg[i]) = sync_walk_sizes[i];
	}
	rig->sgt = (struct sg_table) { .sgl = rig->sg, .nents = ENTRIES, .orig_nents = ENTRIES };
	return rig;
}

/* Each byte once, whatever the part. */
static void sync_walk_test_parts(struct kunit *test)
{
	static const struct {
		u64 offset, length;
	} parts[] = {
		{ 0, 1 }, { 5, 0 }, { PAGE - 1, 2 }, { 8 * PAGE - 1, 2 }, { 8 * PAGE, PAGE },
		{ 100, SZ_32M }, { 0, SZ_32M + 13 * PAGE }, { SZ_32M + 8 * PAGE, 5 * PAGE },
	};
	static const u64 pieces[] = { PAGE, NNPU_SYNC_STEP };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		for (n = 0; n < ARRAY_SIZE(pieces); n++) {
			struct sync_walk_rig *rig = sync_walk_rig_new(test, pieces[n], U64_MAX);

			KUNIT_EXPECT_EQ(test, nnpu_sync_walk(&rig->walk, &rig->sgt,
							     parts[i].offset, parts[i].length), 0);
			KUNIT_EXPECT_EQ(test, rig->done, parts[i].length);
			KUNIT_EXPECT_LE(test, rig->largest, pieces[n]);
			KUNIT_EXPECT_EQ(test, rig->wrong, 0);
			/* Nobody can stop it. */
			rig = sync_walk_rig_new(test, pieces[n], 0);
			rig->walk.stop = NULL;
			KUNIT_EXPECT_EQ(test, nnpu_sync_walk(&rig->walk, &rig->sgt,
							     parts[i].offset, parts[i].length), 0);
			KUNIT_EXPECT_EQ(test, rig->done, parts[i].length);
		}
}

/* Who waits for the end waits for one step at most. */
static void sync_walk_test_stop(struct kunit *test)
{
	static const u64 at[] = { 0, 1, NNPU_SYNC_STEP - 1, NNPU_SYNC_STEP, 3 * PAGE, SZ_16M };
	static const u64 pieces[] = { PAGE, NNPU_SYNC_STEP };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		for (n = 0; n < ARRAY_SIZE(pieces); n++) {
			struct sync_walk_rig *rig = sync_walk_rig_new(test, pieces[n], at[i]);

			KUNIT_EXPECT_EQ(test, nnpu_sync_walk(&rig->walk, &rig->sgt, 77, SZ_32M),
					-ECANCELED);
			KUNIT_EXPECT_GE(test, rig->done, at[i]);
			KUNIT_EXPECT_LE(test, rig->after_stop, NNPU_SYNC_STEP);
		}
}

/* bounces, needs_sync, by_iommu, snoops. */
static void sync_walk_test_coherent(struct kunit *test)
{
	unsigned int i;

	/* What dma_need_sync() rules out is never needed. */
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, nnpu_sync_is_coherent(false, false, i & 1, i & 2));
		KUNIT_EXPECT_FALSE(test, nnpu_sync_is_coherent(true, false, i & 1, i & 2));
		KUNIT_EXPECT_FALSE(test, nnpu_sync_is_coherent(true, true, i & 1, i & 2));
	}
	/* CONFIG_DMA_API_DEBUG, with an IOMMU. */
	KUNIT_EXPECT_TRUE(test, nnpu_sync_is_coherent(false, true, true, true));
	KUNIT_EXPECT_FALSE(test, nnpu_sync_is_coherent(false, true, true, false));
	/* The page was bounced, or somebody else's operations map it: they know. */
	KUNIT_EXPECT_FALSE(test, nnpu_sync_is_coherent(false, true, false, true));
	KUNIT_EXPECT_FALSE(test, nnpu_sync_is_coherent(false, true, false, false));
}

static struct kunit_case sync_walk_test_cases[] = {
	KUNIT_CASE(sync_walk_test_parts),
	KUNIT_CASE(sync_walk_test_stop),
	KUNIT_CASE(sync_walk_test_coherent),
	{ }
};

static struct kunit_suite sync_walk_test_suite = {
	.name = "nnpu_sync_walk",
	.test_cases = sync_walk_test_cases,
};

kunit_test_suite(sync_walk_test_suite);
