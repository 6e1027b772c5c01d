// SPDX-License-Identifier: GPL-2.0-only
/* Deferred releases. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/workqueue.h>

#include "../nnpu_release.h"

/* More than a workqueue runs at a time. */
#define STUCK	(WQ_MAX_ACTIVE + 1)

/**
 * struct release_test_object - something that is released
 * @work: its release
 * @answer: what the release waits for, NULL: nothing
 * @released: it is over
 */
struct release_test_object {
	struct work_struct work;
	struct completion *answer;
	bool released;
};

static void release_test_work(struct work_struct *work)
{
	struct release_test_object *o = container_of(work, struct release_test_object, work);

	if (o->answer)
		wait_for_completion(o->answer);
	WRITE_ONCE(o->released, true);
}

/* Releases of a device that does not answer: those of another are over soon all the same. */
static void release_test_stuck_device(struct kunit *test)
{
	struct release_test_object *stuck, other = { };
	DECLARE_COMPLETION_ONSTACK(answer);
	struct nnpu_release a, b;
	u32 i, released = 0;

	stuck = kunit_kcalloc(test, STUCK, sizeof(*stuck), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stuck);
	KUNIT_ASSERT_EQ(test, nnpu_release_init(&a), 0);
	KUNIT_ASSERT_EQ(test, nnpu_release_init(&b), 0);
	for (i = 0; i < STUCK; i++) {
		stuck[i].answer = &answer;
		INIT_WORK(&stuck[i].work, release_test_work);
		nnpu_release_queue(&a, &stuck[i].work);
	}
	INIT_WORK_ONSTACK(&other.work, release_test_work);
	nnpu_release_queue(&b, &other.work);
	nnpu_release_flush(&b);
	KUNIT_EXPECT_TRUE(test, READ_ONCE(other.released));
	for (i = 0; i < STUCK; i++)
		released += READ_ONCE(stuck[i].released);
	KUNIT_EXPECT_EQ(test, released, 0);
	complete_all(&answer);
	nnpu_release_fini(&a);
	for (i = 0; i < STUCK; i++)
		released += stuck[i].released;
	KUNIT_EXPECT_EQ(test, released, STUCK);
	nnpu_release_fini(&b);
	destroy_work_on_stack(&other.work);
}

/**
 * struct release_test_item - something on the list of a client
 * @item: its release
 * @answer: what the release waits for, NULL: nothing
 * @order: counts the releases of a list
 * @released: its number among them, from 1
 */
struct release_test_item {
	struct nnpu_release_item item;
	struct completion *answer;
	u32 *order;
	u32 released;
};

static void release_test_fn(struct nnpu_release_item *item)
{
	struct release_test_item *o = container_of(item, struct release_test_item, item);

	if (o->answer)
		wait_for_completion(o->answer);
	WRITE_ONCE(o->released, ++*o->order);
}

/* Many releases of a client that wait: those of another client are over all the same. */
static void release_test_fair(struct kunit *test)
{
	struct nnpu_release_list *many, *one;
	struct release_test_item *stuck, other = { .item.fn = release_test_fn };
	DECLARE_COMPLETION_ONSTACK(answer);
	u32 i, order = 0, order_other = 0;
	struct nnpu_release *r;

	stuck = kunit_kcalloc(test, STUCK, sizeof(*stuck), GFP_KERNEL);
	many = kunit_kzalloc(test, sizeof(*many), GFP_KERNEL);
	one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stuck);
	KUNIT_ASSERT_NOT_NULL(test, many);
	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_EQ(test, nnpu_release_init(r), 0);
	nnpu_release_list_init(many, r);
	nnpu_release_list_init(one, r);
	KUNIT_EXPECT_FALSE(test, nnpu_release_is_pending(r, nnpu_release_added(r)));
	for (i = 0; i < STUCK; i++) {
		stuck[i].item.fn = release_test_fn;
		stuck[i].answer = &answer;
		stuck[i].order = &order;
		nnpu_release_add(many, &stuck[i].item);
	}
	other.order = &order_other;
	nnpu_release_add(one, &other.item);
	KUNIT_EXPECT_EQ(test, nnpu_release_wait_item(r, nnpu_release_added(r), 0), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(other.released), 1);
	KUNIT_EXPECT_EQ(test, READ_ONCE(stuck[0].released), 0);
	complete_all(&answer);
	nnpu_release_flush(r);
	/* In the order of their list. */
	for (i = 0; i < STUCK; i++)
		KUNIT_EXPECT_EQ(test, stuck[i].released, i + 1);
	KUNIT_EXPECT_FALSE(test, nnpu_release_is_pending(r, nnpu_release_added(r)));
	KUNIT_EXPECT_EQ(test, nnpu_release_done(r), STUCK + 1);
	nnpu_release_fini(r);
}

/* A wait for what is being released is no wait for what comes later. */
static void release_test_later(struct kunit *test)
{
	struct release_test_item before = { .item.fn = release_test_fn };
	struct release_test_item later = { .item.fn = release_test_fn };
	DECLARE_COMPLETION_ONSTACK(answer);
	DECLARE_COMPLETION_ONSTACK(never);
	u32 order = 0, order_later = 0;
	struct nnpu_release_list *lists;
	struct nnpu_release *r;
	u64 last;

	lists = kunit_kcalloc(test, 2, sizeof(*lists), GFP_KERNEL);
	r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, lists);
	KUNIT_ASSERT_NOT_NULL(test, r);
	KUNIT_ASSERT_EQ(test, nnpu_release_init(r), 0);
	nnpu_release_list_init(&lists[0], r);
	nnpu_release_list_init(&lists[1], r);
	before.answer = &answer;
	before.order = &order;
	nnpu_release_add(&lists[0], &before.item);
	last = nnpu_release_added(r);
	later.answer = &never;
	later.order = &order_later;
	nnpu_release_add(&lists[1], &later.item);
	KUNIT_EXPECT_TRUE(test, nnpu_release_is_pending(r, last));
	complete_all(&answer);
	KUNIT_EXPECT_EQ(test, nnpu_release_wait_item(r, last, 0), 0);
	KUNIT_EXPECT_FALSE(test, nnpu_release_is_pending(r, last));
	KUNIT_EXPECT_TRUE(test, nnpu_release_is_pending(r, last + 1));
	/* No further release is needed for this. */
	KUNIT_EXPECT_EQ(test, nnpu_release_wait_item(r, last, 1), 0);
	complete_all(&never);
	nnpu_release_fini(r);
}

/**
 * struct release_test_device - a device that ends with its last object
 * @release: its releases
 * @object: the last object
 * @last: ends the device
 * @gone: it has ended
 */
struct release_test_device {
	struct nnpu_release release;
	struct work_struct object;
	struct work_struct last;
	struct completion gone;
};

static void release_test_object_work(struct work_struct *work)
{
	struct release_test_device *d = container_of(work, struct release_test_device, object);

	nnpu_release_queue_last(&d->last);
}

static void release_test_last_work(struct work_struct *work)
{
	struct release_test_device *d = container_of(work, struct release_test_device, last);

	nnpu_release_fini(&d->release);
	complete(&d->gone);
}

/* The release of the last object of a device ends the device and its workqueue. */
static void release_test_last(struct kunit *test)
{
	struct release_test_device *d = kunit_kzalloc(test, sizeof(*d), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, d);
	KUNIT_ASSERT_EQ(test, nnpu_release_setup(), 0);
	KUNIT_ASSERT_EQ(test, nnpu_release_init(&d->release), 0);
	init_completion(&d->gone);
	INIT_WORK(&d->object, release_test_object_work);
	INIT_WORK(&d->last, release_test_last_work);
	nnpu_release_expect();
	nnpu_release_queue(&d->release, &d->object);
	/* It waits for what is still to be queued. */
	nnpu_release_teardown();
	KUNIT_EXPECT_TRUE(test, completion_done(&d->gone));
	KUNIT_EXPECT_NULL(test, d->release.wq);
}

static struct kunit_case release_test_cases[] = {
	KUNIT_CASE(release_test_stuck_device),
	KUNIT_CASE(release_test_fair),
	KUNIT_CASE(release_test_later),
	KUNIT_CASE(release_test_last),
	{ }
};

static struct kunit_suite release_test_suite = {
	.name = "nnpu_release",
	.test_cases = release_test_cases,
};

kunit_test_suite(release_test_suite);
