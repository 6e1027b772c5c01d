// SPDX-License-Identifier: GPL-2.0-only
/* Decisions of the watchdogs, as functions of numbers. */
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
 * nnpu_watchdog_look - judge a sample
 * @wd: watchdog
 * @s: sample, taken after the completion ring was emptied
 * @timeout_ms: a queue may stand still for this long
 *
 * Any change counts as progress, not only an increase: the device defines what it counts,
 * and the counter wraps.
 *
 * Return: the verdict.
 */
enum nnpu_verdict nnpu_watchdog_look(struct nnpu_watchdog *wd,
				     const struct nnpu_watchdog_sample *s, u32 timeout_ms)
{
	bool moved = !wd->armed || s->completed != wd->completed ||
		     s->progress != wd->progress || s->current_job != wd->current_job;

	if (s->status == U32_MAX)
		return NNPU_VERDICT_GONE;
	if (s->status & NNPU_STATUS_REG_FATAL)
		return NNPU_VERDICT_FATAL;
	if (s->state == NNPU_QSTATE_STOPPED || s->state == NNPU_QSTATE_ABSENT)
		return NNPU_VERDICT_STOPPED;
	if (!s->inflight) {
		wd->armed = false;
		return NNPU_VERDICT_IDLE;
	}
	if (moved) {
		wd->armed = true;
		wd->since_ms = s->now_ms;
		wd->completed = s->completed;
		wd->progress = s->progress;
		wd->current_job = s->current_job;
		return NNPU_VERDICT_PROGRESS;
	}
	return s->now_ms - wd->since_ms >= timeout_ms ? NNPU_VERDICT_HANG : NNPU_VERDICT_WAIT;
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
 * nnpu_watchdog_job_fate - how a job goes on after a reset of its queue
 * @guilty: this job was the reason of the reset
 * @running: it had begun: its outputs may be incomplete
 * @resubmits: how often it was given to the device again before
 * @guilty_error: error of the guilty job
 *
 * A job that had not begun is given to the device again. A job that had begun is not: it
 * may have overwritten its own inputs.
 *
 * Return: NNPU_FATE_RESUBMIT or the error of its fence.
 */
int nnpu_watchdog_job_fate(bool guilty, bool running, u32 resubmits, int guilty_error)
{
	if (guilty)
		return guilty_error;
	if (running || resubmits >= NNPU_MAX_RESUBMITS)
		return -ECANCELED;
	return NNPU_FATE_RESUBMIT;
}
