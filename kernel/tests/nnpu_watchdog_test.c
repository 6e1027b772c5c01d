// SPDX-License-Identifier: GPL-2.0-only
/* Decisions of the watchdog. Time is an argument here. */
#include <kunit/test.h>

#include "../nnpu_hw.h"
#include "../nnpu_watchdog.h"

#define TIMEOUT	1000

/* A queue that runs one job without progress. */
static struct nnpu_watchdog_sample busy(u64 now_ms)
{
	return (struct nnpu_watchdog_sample) {
		.now_ms = now_ms,
		.inflight = 1,
		.completed = 7,
		.status = NNPU_STATUS_REG_READY,
		.state = NNPU_QSTATE_RUNNING,
		.progress = 42,
		.current_job = NNPU_QREG_CURRENT_RUNNING | 3,
	};
}

static enum nnpu_verdict look(struct nnpu_watchdog *wd, const struct nnpu_watchdog_sample *s)
{
	return nnpu_watchdog_look(wd, s, TIMEOUT);
}

/* Nothing in flight: nothing to watch, however long it lasts. */
static void watchdog_test_idle(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy(0);
	struct nnpu_watchdog wd = { };

	s.inflight = 0;
	s.state = NNPU_QSTATE_IDLE;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_IDLE);
	s.now_ms = 100 * TIMEOUT;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_IDLE);
	/* The first busy look after that starts the clock. */
	s = busy(200 * TIMEOUT);
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
}

/* A job that stands still hangs after the timeout, not before. */
static void watchdog_test_hang(struct kunit *test)
{
	struct nnpu_watchdog wd = { };
	struct nnpu_watchdog_sample s = busy(500);

	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
	s.now_ms = 500 + TIMEOUT - 1;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_WAIT);
	s.now_ms = 500 + TIMEOUT;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_HANG);
	/* After recovery it has the whole timeout again. */
	nnpu_watchdog_rearm(&wd);
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
	s.now_ms += TIMEOUT - 1;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_WAIT);
}

/* Any change counts as progress, for as long as there are changes. */
static void watchdog_test_progress(struct kunit *test)
{
	struct nnpu_watchdog wd = { };
	struct nnpu_watchdog_sample s = busy(0);
	u32 i;

	s.progress = U32_MAX - 5;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
	for (i = 1; i < 10; i++) {
		s.now_ms += 10 * TIMEOUT;
		s.progress++;	/* wraps on the way */
		KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
	}
	s.now_ms += 10 * TIMEOUT;
	s.completed++;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
	s.now_ms += 10 * TIMEOUT;
	s.current_job++;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_PROGRESS);
	s.now_ms += TIMEOUT;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_HANG);
}

/* More jobs behind the one that hangs are no progress. */
static void watchdog_test_more_jobs(struct kunit *test)
{
	struct nnpu_watchdog wd = { };
	struct nnpu_watchdog_sample s = busy(0);

	look(&wd, &s);
	s.now_ms = TIMEOUT;
	s.inflight = 8;
	KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_HANG);
}

/* Verdicts that do not depend on jobs. */
static void watchdog_test_faults(struct kunit *test)
{
	struct nnpu_watchdog wd = { };
	struct nnpu_watchdog_sample s = busy(0);
	u32 inflight;

	for (inflight = 0; inflight < 2; inflight++) {
		s = busy(0);
		s.inflight = inflight;
		s.state = NNPU_QSTATE_STOPPED;
		KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_STOPPED);
		s.state = NNPU_QSTATE_ABSENT;
		KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_STOPPED);
		s.status = NNPU_STATUS_REG_FATAL;
		KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_FATAL);
		s.status = U32_MAX;
		KUNIT_EXPECT_EQ(test, look(&wd, &s), NNPU_VERDICT_GONE);
	}
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
	/* Another job that had begun ends. */
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, true, 0, -ETIME), -ECANCELED);
	/* A job that had not begun runs again, but not for ever. */
	for (i = 0; i < NNPU_MAX_RESUBMITS; i++)
		KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, false, i, -ETIME),
				NNPU_FATE_RESUBMIT);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, false, NNPU_MAX_RESUBMITS, -ETIME),
			-ECANCELED);
}

static struct kunit_case watchdog_test_cases[] = {
	KUNIT_CASE(watchdog_test_idle),
	KUNIT_CASE(watchdog_test_hang),
	KUNIT_CASE(watchdog_test_progress),
	KUNIT_CASE(watchdog_test_more_jobs),
	KUNIT_CASE(watchdog_test_faults),
	KUNIT_CASE(watchdog_test_period),
	KUNIT_CASE(watchdog_test_fate),
	{ }
};

static struct kunit_suite watchdog_test_suite = {
	.name = "nnpu_watchdog",
	.test_cases = watchdog_test_cases,
};

kunit_test_suite(watchdog_test_suite);
