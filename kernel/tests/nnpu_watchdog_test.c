// SPDX-License-Identifier: GPL-2.0-only
/* Decisions of the watchdog. Time is an argument here. */
#include <kunit/test.h>

#include <linux/bitfield.h>

#include "../nnpu_hw.h"
#include "../nnpu_watchdog.h"

#define TIMEOUT	1000
#define QID	1

/* An engine that runs a job of queue @qid. */
static struct nnpu_watchdog_sample runs(u32 qid, u32 cid)
{
	return (struct nnpu_watchdog_sample) {
		.current_job = NNPU_EREG_CURRENT_RUNNING |
			       FIELD_PREP(NNPU_EREG_CURRENT_QID, qid) | cid,
		.progress = 42,
	};
}

static enum nnpu_verdict look(struct nnpu_watchdog *wd, const struct nnpu_watchdog_sample *s,
			      u64 now_ms)
{
	return nnpu_watchdog_look(wd, s, QID, now_ms, TIMEOUT);
}

/* No job runs: nothing to judge, however long that lasts and however many jobs wait. */
static void watchdog_test_idle(struct kunit *test)
{
	struct nnpu_watchdog_sample s = { .progress = 42 };
	struct nnpu_watchdog wd = { };

	KUNIT_EXPECT_EQ(test, look(&wd, &s, 0), NNPU_VERDICT_IDLE);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 100 * TIMEOUT), NNPU_VERDICT_IDLE);
	/* The first look at a job that runs starts the clock. */
	s = runs(QID, 3);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 200 * TIMEOUT), NNPU_VERDICT_PROGRESS);
}

/* A job that stands still hangs after the timeout, not before. */
static void watchdog_test_hang(struct kunit *test)
{
	struct nnpu_watchdog_sample s = runs(QID, 3);
	struct nnpu_watchdog wd = { };

	KUNIT_EXPECT_EQ(test, look(&wd, &s, 500), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 500 + TIMEOUT - 1), NNPU_VERDICT_WAIT);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 500 + TIMEOUT), NNPU_VERDICT_HANG);
	/* After recovery it has the whole timeout again. */
	nnpu_watchdog_rearm(&wd);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 500 + TIMEOUT), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 500 + 2 * TIMEOUT - 1), NNPU_VERDICT_WAIT);
}

/* Any change counts as progress, for as long as there are changes. */
static void watchdog_test_progress(struct kunit *test)
{
	struct nnpu_watchdog_sample s = runs(QID, 3);
	struct nnpu_watchdog wd = { };
	u64 now = 0;
	u32 i;

	s.progress = U32_MAX - 5;
	KUNIT_EXPECT_EQ(test, look(&wd, &s, now), NNPU_VERDICT_PROGRESS);
	for (i = 1; i < 10; i++) {
		now += 10 * TIMEOUT;
		s.progress++;	/* wraps on the way */
		KUNIT_EXPECT_EQ(test, look(&wd, &s, now), NNPU_VERDICT_PROGRESS);
	}
	now += 10 * TIMEOUT;
	s.current_job++;
	KUNIT_EXPECT_EQ(test, look(&wd, &s, now), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, now + TIMEOUT), NNPU_VERDICT_HANG);
}

/* A job that has given way is not judged, and has the whole timeout when it goes on. */
static void watchdog_test_given_way(struct kunit *test)
{
	struct nnpu_watchdog_sample s = runs(QID, 3), other = runs(QID + 1, 3);
	struct nnpu_watchdog wd = { };

	look(&wd, &s, 0);
	KUNIT_EXPECT_EQ(test, look(&wd, &other, TIMEOUT - 1), NNPU_VERDICT_IDLE);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, TIMEOUT), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 2 * TIMEOUT - 1), NNPU_VERDICT_WAIT);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 2 * TIMEOUT), NNPU_VERDICT_HANG);
}

/* A job of another queue is for another watchdog, even if it hangs. */
static void watchdog_test_other_queue(struct kunit *test)
{
	struct nnpu_watchdog_sample s = runs(QID + 1, 3);
	struct nnpu_watchdog wd = { };

	KUNIT_EXPECT_EQ(test, look(&wd, &s, 0), NNPU_VERDICT_IDLE);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 100 * TIMEOUT), NNPU_VERDICT_IDLE);
	/* The highest queue there is does not look like another one. */
	s = runs(FIELD_MAX(NNPU_EREG_CURRENT_QID), 0xffff);
	KUNIT_EXPECT_EQ(test, look(&wd, &s, 0), NNPU_VERDICT_IDLE);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_look(&wd, &s, 2047, 0, TIMEOUT),
			NNPU_VERDICT_PROGRESS);
}

/* Two engines: the job of one that hangs does not hide behind the progress of the other. */
static void watchdog_test_engines(struct kunit *test)
{
	struct nnpu_watchdog_sample stuck = runs(QID, 3), busy = runs(QID, 4);
	struct nnpu_watchdog wd[2] = { };
	u64 now;

	for (now = 0; now < TIMEOUT; now += 100) {
		KUNIT_EXPECT_EQ(test, look(&wd[0], &stuck, now),
				now ? NNPU_VERDICT_WAIT : NNPU_VERDICT_PROGRESS);
		busy.progress++;
		KUNIT_EXPECT_EQ(test, look(&wd[1], &busy, now), NNPU_VERDICT_PROGRESS);
	}
	KUNIT_EXPECT_EQ(test, look(&wd[0], &stuck, now), NNPU_VERDICT_HANG);
	busy.progress++;
	KUNIT_EXPECT_EQ(test, look(&wd[1], &busy, now), NNPU_VERDICT_PROGRESS);
}

/* Verdicts that do not depend on jobs. */
static void watchdog_test_faults(struct kunit *test)
{
	const u32 ready = NNPU_STATUS_REG_READY;

	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(ready, NNPU_QSTATE_IDLE), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(ready, NNPU_QSTATE_RUNNING),
			NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(ready, NNPU_QSTATE_STOPPED),
			NNPU_VERDICT_STOPPED);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(ready, NNPU_QSTATE_ABSENT),
			NNPU_VERDICT_STOPPED);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(NNPU_STATUS_REG_FATAL, NNPU_QSTATE_STOPPED),
			NNPU_VERDICT_FATAL);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(U32_MAX, U32_MAX), NNPU_VERDICT_GONE);
	/* Reset behind the driver: the queues are not at fault. */
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(0, NNPU_QSTATE_ABSENT), NNPU_VERDICT_FATAL);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_queue(NNPU_STATUS_REG_RESETTING, NNPU_QSTATE_IDLE),
			NNPU_VERDICT_FATAL);
}

static void watchdog_test_period(struct kunit *test)
{
	u32 timeout;

	for (timeout = 100; timeout <= 600000; timeout += 100) {
		u32 period = nnpu_watchdog_period_ms(timeout);

		KUNIT_EXPECT_GE(test, period, 10);
		KUNIT_EXPECT_LE(test, period, 250);
		KUNIT_EXPECT_LE(test, 4 * period, timeout);
	}
}

/* Which jobs end in a queue reset. */
static void watchdog_test_fate(struct kunit *test)
{
	u32 i;

	/* The job at fault ends with its own error, even if it was not running. */
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(true, true, 0, -ETIME), -ETIME);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(true, false, 0, -EIO), -EIO);
	/* Another job that may have begun ends, and one whose file is closed. */
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, true, 0, -ETIME), -ECANCELED);
	/* A job that had not begun runs again, but not for ever. */
	for (i = 0; i < NNPU_MAX_RESUBMITS; i++)
		KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, false, i, -ETIME),
				NNPU_FATE_RESUBMIT);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, false, NNPU_MAX_RESUBMITS, -ETIME),
			-ECANCELED);
}

/* Of many jobs each is asked about in its turn, in whatever order they are seen. */
static void watchdog_test_ask(struct kunit *test)
{
	u64 *asked = kunit_kcalloc(test, 100, sizeof(*asked), GFP_KERNEL);
	struct nnpu_watchdog_ask ask = { };
	unsigned int look, i;
	u64 now = 1000;

	KUNIT_ASSERT_NOT_NULL(test, asked);
	for (i = 0; i < 100; i++)
		asked[i] = now - i % 7;
	for (look = 0; look < DIV_ROUND_UP(100, NNPU_WATCHDOG_ASK); look++) {
		ask.count = 0;
		for (i = 0; i < 100; i++)
			nnpu_watchdog_ask_add(&ask, i, asked[i]);
		KUNIT_ASSERT_EQ(test, ask.count, NNPU_WATCHDOG_ASK);
		now++;
		for (i = 0; i < ask.count; i++) {
			KUNIT_EXPECT_EQ(test, ask.since_ms[i], asked[ask.cids[i]]);
			if (i)
				KUNIT_EXPECT_LE(test, ask.since_ms[i - 1], ask.since_ms[i]);
			asked[ask.cids[i]] = now;
		}
	}
	for (i = 0; i < 100; i++)
		KUNIT_EXPECT_GT(test, asked[i], 1000);

	/* The last of few, and one that is to come first. */
	ask.count = 0;
	nnpu_watchdog_ask_add(&ask, 5, 70);
	nnpu_watchdog_ask_add(&ask, 6, 60);
	nnpu_watchdog_ask_add(&ask, 7, 0);
	KUNIT_EXPECT_EQ(test, ask.count, 3);
	KUNIT_EXPECT_EQ(test, ask.cids[0], 7);
	KUNIT_EXPECT_EQ(test, ask.cids[1], 6);
	KUNIT_EXPECT_EQ(test, ask.cids[2], 5);
}

static struct kunit_case watchdog_test_cases[] = {
	KUNIT_CASE(watchdog_test_idle),
	KUNIT_CASE(watchdog_test_hang),
	KUNIT_CASE(watchdog_test_progress),
	KUNIT_CASE(watchdog_test_given_way),
	KUNIT_CASE(watchdog_test_other_queue),
	KUNIT_CASE(watchdog_test_engines),
	KUNIT_CASE(watchdog_test_faults),
	KUNIT_CASE(watchdog_test_period),
	KUNIT_CASE(watchdog_test_ask),
	KUNIT_CASE(watchdog_test_fate),
	{ }
};

static struct kunit_suite watchdog_test_suite = {
	.name = "nnpu_watchdog",
	.test_cases = watchdog_test_cases,
};

kunit_test_suite(watchdog_test_suite);
