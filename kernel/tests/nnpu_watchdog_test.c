// SPDX-License-Identifier: GPL-2.0-only
/* When the watchdog calls a hang, and what becomes of jobs then. */
#include <kunit/test.h>

#include "../nnpu_hw.h"
#include "../nnpu_watchdog.h"

#define TIMEOUT_MS	1000

/* A device with one job in flight. */
static const struct nnpu_watchdog_sample busy = {
	.inflight = 1,
	.status = NNPU_STATUS_REG_READY,
	.state = NNPU_QSTATE_RUNNING,
	.progress = 10,
	.current_job = NNPU_QREG_CURRENT_RUNNING | 1,
};

static enum nnpu_verdict look_at(struct nnpu_watchdog *wd, struct nnpu_watchdog_sample *s, u64 ms)
{
	s->now_ms = ms;
	return nnpu_watchdog_look(wd, s, TIMEOUT_MS);
}

/* Success: a hang is called when nothing moved for the timeout, not before. */
static void hang_after_timeout(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };

	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 5000), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 5001), NNPU_VERDICT_WAIT);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 5999), NNPU_VERDICT_WAIT);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 6000), NNPU_VERDICT_HANG);
}

/* Success: a job that advances is never called a hang, however long it takes. */
static void progress_restarts_timeout(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };
	u64 ms;

	for (ms = 0; ms < 100 * TIMEOUT_MS; ms += TIMEOUT_MS - 1) {
		s.progress++;
		KUNIT_EXPECT_EQ(test, look_at(&wd, &s, ms), NNPU_VERDICT_PROGRESS);
	}
	/* The counter wraps. */
	s.progress = U32_MAX;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, ms), NNPU_VERDICT_PROGRESS);
	s.progress = 0;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, ms + 999), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, ms + 1998), NNPU_VERDICT_WAIT);
}

/* Success: completed jobs and a new current job are progress as well. */
static void completions_are_progress(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };

	look_at(&wd, &s, 0);
	s.completed++;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 1000), NNPU_VERDICT_PROGRESS);
	s.current_job++;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 2000), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 3000), NNPU_VERDICT_HANG);
}

/* Success: idle time does not count against the next job. */
static void idle_disarms(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };

	look_at(&wd, &s, 0);
	s.inflight = 0;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 500), NNPU_VERDICT_IDLE);
	s.inflight = 1;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 50000), NNPU_VERDICT_PROGRESS);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 50500), NNPU_VERDICT_WAIT);
}

/* Success: so does a reset. */
static void rearm_restarts_timeout(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };

	look_at(&wd, &s, 0);
	nnpu_watchdog_rearm(&wd);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 1000), NNPU_VERDICT_PROGRESS);
}

/* Success: states of the device come before any counting, in order of severity. */
static void device_states(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };

	s.state = NNPU_QSTATE_STOPPED;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 0), NNPU_VERDICT_STOPPED);
	s.state = NNPU_QSTATE_ABSENT;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 0), NNPU_VERDICT_STOPPED);
	s.status |= NNPU_STATUS_REG_FATAL;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 0), NNPU_VERDICT_FATAL);
	s.status = U32_MAX;
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, 0), NNPU_VERDICT_GONE);
}

/* Success: a state the specification does not know is not taken for progress. */
static void unknown_state_still_hangs(struct kunit *test)
{
	struct nnpu_watchdog_sample s = busy;
	struct nnpu_watchdog wd = { };

	s.state = 77;
	look_at(&wd, &s, 0);
	KUNIT_EXPECT_EQ(test, look_at(&wd, &s, TIMEOUT_MS), NNPU_VERDICT_HANG);
}

/* Success: the period is bounded on both sides. */
static void period(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_period_ms(0), 10);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_period_ms(800), 100);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_period_ms(U32_MAX), 250);
}

/* Success: only the guilty job gets the error, only an untouched one runs again. */
static void job_fates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(true, true, 0, -ETIME), -ETIME);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(true, false, 0, -EIO), -EIO);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, true, 0, -ETIME), -ECANCELED);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, false, 0, -ETIME),
			NNPU_FATE_RESUBMIT);
	KUNIT_EXPECT_EQ(test, nnpu_watchdog_job_fate(false, false, NNPU_MAX_RESUBMITS, -ETIME),
			-ECANCELED);
}

static struct kunit_case nnpu_watchdog_cases[] = {
	KUNIT_CASE(hang_after_timeout),
	KUNIT_CASE(progress_restarts_timeout),
	KUNIT_CASE(completions_are_progress),
	KUNIT_CASE(idle_disarms),
	KUNIT_CASE(rearm_restarts_timeout),
	KUNIT_CASE(device_states),
	KUNIT_CASE(unknown_state_still_hangs),
	KUNIT_CASE(period),
	KUNIT_CASE(job_fates),
	{ }
};

static struct kunit_suite nnpu_watchdog_suite = {
	.name = "nnpu_watchdog",
	.test_cases = nnpu_watchdog_cases,
};

kunit_test_suite(nnpu_watchdog_suite);
