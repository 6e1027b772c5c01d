/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_WATCHDOG_H_
#define _NNPU_WATCHDOG_H_

#include <linux/types.h>

/**
 * enum nnpu_verdict - result of nnpu_watchdog_look()
 * @NNPU_VERDICT_IDLE: no job in flight, no need to look again
 * @NNPU_VERDICT_PROGRESS: something changed since the last look
 * @NNPU_VERDICT_WAIT: nothing changed, but the timeout has not passed
 * @NNPU_VERDICT_HANG: nothing changed for the whole timeout
 * @NNPU_VERDICT_STOPPED: the device stopped the queue: reset the queue
 * @NNPU_VERDICT_FATAL: only a device reset helps
 * @NNPU_VERDICT_GONE: registers read as all ones: the device was removed
 */
enum nnpu_verdict {
	NNPU_VERDICT_IDLE,
	NNPU_VERDICT_PROGRESS,
	NNPU_VERDICT_WAIT,
	NNPU_VERDICT_HANG,
	NNPU_VERDICT_STOPPED,
	NNPU_VERDICT_FATAL,
	NNPU_VERDICT_GONE,
};

/**
 * struct nnpu_watchdog_sample - registers and counters at one look
 * @now_ms: monotonic time
 * @inflight: jobs the device owns
 * @completed: jobs it has ended so far
 * @status: register STATUS
 * @state: QREG_STATE
 * @progress: QREG_PROGRESS
 * @current_job: QREG_CURRENT
 */
struct nnpu_watchdog_sample {
	u64 now_ms;
	u32 inflight;
	u64 completed;
	u32 status;
	u32 state;
	u32 progress;
	u32 current_job;
};

/**
 * struct nnpu_watchdog - state between two looks
 * @armed: a sample of a busy queue was seen
 * @since_ms: time of the last change
 * @completed: jobs ended at that time
 * @progress: QREG_PROGRESS at that time
 * @current_job: QREG_CURRENT at that time
 */
struct nnpu_watchdog {
	bool armed;
	u64 since_ms;
	u64 completed;
	u32 progress;
	u32 current_job;
};

void nnpu_watchdog_rearm(struct nnpu_watchdog *wd);
enum nnpu_verdict nnpu_watchdog_look(struct nnpu_watchdog *wd,
				     const struct nnpu_watchdog_sample *s, u32 timeout_ms);
u32 nnpu_watchdog_period_ms(u32 timeout_ms);

/* What happens to a job that the device owned when its queue was reset. */
int nnpu_watchdog_job_fate(bool guilty, bool running, u32 resubmits, int guilty_error);

/* nnpu_watchdog_job_fate(): give it to the device again. */
#define NNPU_FATE_RESUBMIT	0

/* A job that was given to the device again so often is not tried again. */
#define NNPU_MAX_RESUBMITS	3

#endif /* _NNPU_WATCHDOG_H_ */
