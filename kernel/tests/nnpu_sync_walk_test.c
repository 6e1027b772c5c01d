// SPDX-License-Identifier: GPL-2.0-only
/* Which memory is synchronised, in which pieces and steps. */
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
	unsigned int wrong;
};

static const dma_addr_t sync_walk_starts[ENTRIES] = { 0x10000000, 0x70001000, 0x40000000 };
static const unsigned int sync_walk_sizes[ENTRIES] = { 8 * PAGE, SZ_32M, 5 * PAGE };

static struct sync_walk_rig *sync_walk_rig_of(const struct nnpu_sync_walk *walk)
{
	return container_of(walk, struct sync_walk_rig, walk);
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
	rig->next = dma + length;
	rig->done += length;
	rig->largest = max_t(u64, rig->largest, length);
}

static struct sync_walk_rig *sync_walk_rig_new(struct kunit *test, u64 piece)
{
	struct sync_walk_rig *rig = kunit_kzalloc(test, sizeof(*rig), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rig);
	rig->walk = (struct nnpu_sync_walk) { .piece = piece, .sync = sync_walk_note };
	sg_init_table(rig->sg, ENTRIES);
	for (i = 0; i < ENTRIES; i++) {
		sg_dma_address(&rig->sg[i]) = sync_walk_starts[i];
		sg_dma_len(&rig->sg[i]) = sync_walk_sizes[i];
	}
	rig->sgt = (struct sg_table) { .sgl = rig->sg, .nents = ENTRIES, .orig_nents = ENTRIES };
	return rig;
}

/* Each byte once, whatever the part, and a step at a time. */
static void sync_walk_test_parts(struct kunit *test)
{
	static const struct {
		u64 offset, length;
	} parts[] = {
		{ 0, 1 }, { 5, 0 }, { PAGE - 1, 2 }, { 8 * PAGE - 1, 2 }, { 8 * PAGE, PAGE },
		{ 100, SZ_32M }, { 0, SZ_32M + 13 * PAGE }, { SZ_32M + 8 * PAGE, 5 * PAGE },
		{ 0, NNPU_SYNC_STEP }, { 0, NNPU_SYNC_STEP + 1 }, { 77, 2 * NNPU_SYNC_STEP },
		{ SZ_32M + 13 * PAGE - 1, 1 },
	};
	static const u64 pieces[] = { PAGE, NNPU_SYNC_STEP };
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		for (n = 0; n < ARRAY_SIZE(pieces); n++) {
			struct sync_walk_rig *rig = sync_walk_rig_new(test, pieces[n]);
			u64 before, steps = 0;
			bool more;

			nnpu_sync_walk_begin(&rig->walk, &rig->sgt, parts[i].offset,
					     parts[i].length);
			do {
				before = rig->done;
				more = nnpu_sync_walk_step(&rig->walk);
				steps++;
				KUNIT_EXPECT_LE(test, rig->done - before, NNPU_SYNC_STEP);
				KUNIT_EXPECT_EQ(test, more, rig->done < parts[i].length);
			} while (more && steps < 100);
			KUNIT_EXPECT_EQ(test, rig->done, parts[i].length);
			KUNIT_EXPECT_EQ(test, steps,
					max(DIV_ROUND_UP_ULL(parts[i].length, NNPU_SYNC_STEP), 1));
			KUNIT_EXPECT_LE(test, rig->largest, pieces[n]);
			KUNIT_EXPECT_EQ(test, rig->wrong, 0);
		}
}

/* The caller has checked the range. Another one ends with the buffer. */
static void sync_walk_test_end(struct kunit *test)
{
	struct sync_walk_rig *rig = sync_walk_rig_new(test, PAGE);

	nnpu_sync_walk_begin(&rig->walk, &rig->sgt, SZ_32M + 12 * PAGE, 2 * PAGE);
	KUNIT_EXPECT_FALSE(test, nnpu_sync_walk_step(&rig->walk));
	KUNIT_EXPECT_EQ(test, rig->done, PAGE);
	KUNIT_EXPECT_FALSE(test, nnpu_sync_walk_step(&rig->walk));
	KUNIT_EXPECT_EQ(test, rig->done, PAGE);
	KUNIT_EXPECT_EQ(test, rig->wrong, 0);
}

static struct kunit_case sync_walk_test_cases[] = {
	KUNIT_CASE(sync_walk_test_parts),
	KUNIT_CASE(sync_walk_test_end),
	{ }
};

static struct kunit_suite sync_walk_test_suite = {
	.name = "nnpu_sync_walk",
	.test_cases = sync_walk_test_cases,
};

kunit_test_suite(sync_walk_test_suite);
