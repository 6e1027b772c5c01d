/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_WATCHDOG_H_
#define _NNPU_WATCHDOG_H_

#include <linux/types.h>

/**
 * enum nnpu_verdict - result of nnpu_watchdog_look() and nnpu_watchdog_queue()
 * @NNPU_VERDICT_IDLE: no job runs
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

/* Jobs that one look asks the device about. */
#define NNPU_WATCHDOG_ASK	8

/**
 * struct nnpu_watchdog_sample - an engine at one look
 * @current_job: EREG_CURRENT
 * @progress: EREG_PROGRESS
 */
struct nnpu_watchdog_sample {
	u32 current_job;
	u32 progress;
};

/**
 * struct nnpu_watchdog - state between two looks at an engine, or at the engine of a queue
 * @armed: a job was seen running
 * @since_ms: time of the last change
 * @last: sample at that time
 */
struct nnpu_watchdog {
	bool armed;
	u64 since_ms;
	struct nnpu_watchdog_sample last;
};

void nnpu_watchdog_rearm(struct nnpu_watchdog *wd);
enum nnpu_verdict nnpu_watchdog_queue(u32 status, u32 state);
enum nnpu_verdict nnpu_watchdog_look(struct nnpu_watchdog *wd,
				     const struct nnpu_watchdog_sample *s, u32 qid, u64 now_ms,
				     u32 timeout_ms);
u32 nnpu_watchdog_period_ms(u32 timeout_ms);

/**
 * struct nnpu_watchdog_ask - jobs that the device is to be asked about
 * @count: number of them
 * @since_ms: since when nobody has asked, oldest first
 * @cids: their command ids
 */
struct nnpu_watchdog_ask {
	unsigned int count;
	u64 since_ms[NNPU_WATCHDOG_ASK];
	u16 cids[NNPU_WATCHDOG_ASK];
};

void nnpu_watchdog_ask_add(struct nnpu_watchdog_ask *ask, u16 cid, u64 since_ms);

/* What happens to a job that the device owned when its queue was reset. */
int nnpu_watchdog_job_fate(bool guilty, bool over, u32 resubmits, int guilty_error);

/* nnpu_watchdog_job_fate(): give it to the device again. */
#define NNPU_FATE_RESUBMIT	0

/* A job that was given to the device again so often is not tried again. */
#define NNPU_MAX_RESUBMITS	3

#endif /* _NNPU_WATCHDOG_H_ */
