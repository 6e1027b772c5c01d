// SPDX-License-Identifier: GPL-2.0-only
/* Decisions of the watchdogs, as functions of numbers. */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "nnpu_hw.h"
#include "nnpu_watchdog.h"

/**
 * nnpu_watchdog_rearm - forget the last sample
 * @wd: watchdog
 *
 * Called after a reset: the next look starts the timeout again.
 */
void nnpu_watchdog_rearm(struct nnpu_watchdog *wd)
{
	wd->armed = false;
}

/**
 * nnpu_watchdog_queue - judge device and queue
 * @status: register STATUS
 * @state: QREG_STATE
 *
 * A device that is not ready was disabled or reset by somebody else, and has no queues.
 *
 * Return: GONE, FATAL or STOPPED; PROGRESS if it is none of these.
 */
enum nnpu_verdict nnpu_watchdog_queue(u32 status, u32 state)
{
	if (status == U32_MAX)
		return NNPU_VERDICT_GONE;
	if (status & NNPU_STATUS_REG_FATAL || !(status & NNPU_STATUS_REG_READY))
		return NNPU_VERDICT_FATAL;
	if (state == NNPU_QSTATE_STOPPED || state == NNPU_QSTATE_ABSENT)
		return NNPU_VERDICT_STOPPED;
	return NNPU_VERDICT_PROGRESS;
}

/**
 * nnpu_watchdog_look - judge the job that an engine runs
 * @wd: watchdog
 * @s: sample of the engine
 * @qid: queue the watchdog is for; jobs of other queues are not its business
 * @now_ms: monotonic time
 * @timeout_ms: a job may stand still for this long
 *
 * Only a job that runs is judged, by what its own engine counts. Jobs that wait or have given
 * way are on no engine. Any change counts as progress, not only an increase: the device defines
 * what it counts, and the counter wraps.
 *
 * Return: IDLE, PROGRESS, WAIT or HANG.
 */
enum nnpu_verdict nnpu_watchdog_look(struct nnpu_watchdog *wd,
				     const struct nnpu_watchdog_sample *s, u32 qid, u64 now_ms,
				     u32 timeout_ms)
{
	if (!(s->current_job & NNPU_EREG_CURRENT_RUNNING) ||
	    FIELD_GET(NNPU_EREG_CURRENT_QID, s->current_job) != qid) {
		wd->armed = false;
		return NNPU_VERDICT_IDLE;
	}
	if (!wd->armed || s->progress != wd->last.progress ||
	    s->current_job != wd->last.current_job) {
		wd->armed = true;
		wd->since_ms = now_ms;
		wd->last = *s;
		return NNPU_VERDICT_PROGRESS;
	}
	return now_ms - wd->since_ms >= timeout_ms ? NNPU_VERDICT_HANG : NNPU_VERDICT_WAIT;
}

/**
 * nnpu_watchdog_period_ms - time between two looks
 * @timeout_ms: a queue may stand still for this long
 *
 * Short enough to find lost interrupts and hangs soon, and long enough to cost little.
 *
 * Return: milliseconds.
 */
u32 nnpu_watchdog_period_ms(u32 timeout_ms)
{
	return clamp(timeout_ms / 8, 10u, 250u);
}

/**
 * nnpu_watchdog_ask_add - a job that the device could be asked about
 * @ask: those that were waiting longest so far; all zero at first
 * @cid: command id of the job
 * @since_ms: since when nobody has asked about it; 0: before all others
 *
 * A job takes the place of the one that has waited least. So a look that sees all jobs takes
 * those that have waited longest, and each has its turn, however many there are and in whatever
 * order they stand.
 */
void nnpu_watchdog_ask_add(struct nnpu_watchdog_ask *ask, u16 cid, u64 since_ms)
{
	unsigned int i;

	if (ask->count < NNPU_WATCHDOG_ASK)
		ask->count++;
	else if (ask->since_ms[NNPU_WATCHDOG_ASK - 1] <= since_ms)
		return;
	for (i = ask->count - 1; i && ask->since_ms[i - 1] > since_ms; i--) {
		ask->since_ms[i] = ask->since_ms[i - 1];
		ask->cids[i] = ask->cids[i - 1];
	}
	ask->since_ms[i] = since_ms;
	ask->cids[i] = cid;
}

/**
 * nnpu_watchdog_job_fate - how a job goes on after a reset of its queue
 * @guilty: this job was the reason of the reset
 * @over: it may have begun, so its outputs may be incomplete; or its file is closed
 * @resubmits: how often it was given to the device again before
 * @guilty_error: error of the guilty job
 *
 * A job that had not begun is given to the device again. A job that had begun is not: it
 * may have overwritten its own inputs. Nobody waits for the jobs of a file that is closed.
 *
 * Return: NNPU_FATE_RESUBMIT or the error of its fence.
 */
int nnpu_watchdog_job_fate(bool guilty, bool over, u32 resubmits, int guilty_error)
{
	if (guilty)
		return guilty_error;
	if (over || resubmits >= NNPU_MAX_RESUBMITS)
		return -ECANCELED;
	return NNPU_FATE_RESUBMIT;
}
