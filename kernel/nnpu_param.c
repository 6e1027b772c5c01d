// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters. The driver reads them through functions that apply the bounds, since
 * root may write any value at any time.
 */
#include <linux/minmax.h>
#include <linux/moduleparam.h>
#include <linux/time64.h>

#include "nnpu_check.h"
#include "nnpu_param.h"

static unsigned int nnpu_hang_timeout_ms = 5000;
module_param_named(hang_timeout_ms, nnpu_hang_timeout_ms, uint, 0644);
MODULE_PARM_DESC(hang_timeout_ms,
		 "A job without progress for this long is aborted (ms, 100 to 600000, default 5000)");

static unsigned int nnpu_admin_timeout_ms = 10000;
module_param_named(admin_timeout_ms, nnpu_admin_timeout_ms, uint, 0644);
MODULE_PARM_DESC(admin_timeout_ms,
		 "An admin command without answer for this long resets the device (ms, 100 to 600000, default 10000)");

static unsigned int nnpu_abort_timeout_ms = 1000;
module_param_named(abort_timeout_ms, nnpu_abort_timeout_ms, uint, 0644);
MODULE_PARM_DESC(abort_timeout_ms,
		 "An aborted job must end in this time or its queue is reset (ms, 10 to 60000, default 1000)");

static unsigned int nnpu_max_inflight = 4;
module_param_named(max_inflight, nnpu_max_inflight, uint, 0444);
MODULE_PARM_DESC(max_inflight,
		 "Jobs of one context and priority that the device has at the same time (1 to 16, default 4)");

static unsigned int nnpu_queue_idle_ms = 1000;
module_param_named(queue_idle_ms, nnpu_queue_idle_ms, uint, 0644);
MODULE_PARM_DESC(queue_idle_ms,
		 "A user queue without work for this long gives its hardware queue back (ms, 10 to 600000, default 1000)");

static unsigned int nnpu_time_limit_ms = 30000;
module_param_named(time_limit_ms, nnpu_time_limit_ms, uint, 0644);
MODULE_PARM_DESC(time_limit_ms,
		 "Engine time of a job in a context that asks for no other limit (ms, 100 to max_time_limit_ms, default 30000)");

static unsigned int nnpu_max_time_limit_ms = 300000;
module_param_named(max_time_limit_ms, nnpu_max_time_limit_ms, uint, 0644);
MODULE_PARM_DESC(max_time_limit_ms,
		 "Most engine time for a job that a context may ask for (ms, 100 to 86400000, default 300000)");

static unsigned int nnpu_sleep_drain_ms = 10000;
module_param_named(sleep_drain_ms, nnpu_sleep_drain_ms, uint, 0644);
MODULE_PARM_DESC(sleep_drain_ms,
		 "System sleep waits this long for jobs that have begun; 0: it loses all contexts, at once (ms, 0 to 60000, default 10000)");

static bool nnpu_user_queues = true;
module_param_named(user_queues, nnpu_user_queues, bool, 0444);
MODULE_PARM_DESC(user_queues, "Let processes ring queues of their own (default yes)");

/**
 * nnpu_param_hang_timeout_ms - module parameter hang_timeout_ms within its bounds
 *
 * Return: milliseconds.
 */
u32 nnpu_param_hang_timeout_ms(void)
{
	return clamp(READ_ONCE(nnpu_hang_timeout_ms), 100u, 600000u);
}

/**
 * nnpu_param_admin_timeout_ms - module parameter admin_timeout_ms within its bounds
 *
 * Return: milliseconds.
 */
u32 nnpu_param_admin_timeout_ms(void)
{
	return clamp(READ_ONCE(nnpu_admin_timeout_ms), 100u, 600000u);
}

/**
 * nnpu_param_abort_timeout_ms - module parameter abort_timeout_ms within its bounds
 *
 * Return: milliseconds.
 */
u32 nnpu_param_abort_timeout_ms(void)
{
	return clamp(READ_ONCE(nnpu_abort_timeout_ms), 10u, 60000u);
}

/**
 * nnpu_param_max_inflight - module parameter max_inflight within its bounds
 *
 * Return: jobs.
 */
u32 nnpu_param_max_inflight(void)
{
	return clamp(READ_ONCE(nnpu_max_inflight), 1u, 16u);
}

/**
 * nnpu_param_queue_idle_ms - module parameter queue_idle_ms within its bounds
 *
 * Return: milliseconds.
 */
u32 nnpu_param_queue_idle_ms(void)
{
	return clamp(READ_ONCE(nnpu_queue_idle_ms), 10u, 600000u);
}

/**
 * nnpu_param_time_limits - time_limit_ms and max_time_limit_ms within their bounds
 * @limits: gets both
 */
void nnpu_param_time_limits(struct nnpu_time_limits *limits)
{
	u32 max = clamp(READ_ONCE(nnpu_max_time_limit_ms), 100u, 86400000u);

	limits->max = (u64)max * NSEC_PER_MSEC;
	limits->usual = (u64)clamp(READ_ONCE(nnpu_time_limit_ms), 100u, max) * NSEC_PER_MSEC;
}

/**
 * nnpu_param_sleep_drain_ms - module parameter sleep_drain_ms within its bounds
 *
 * Return: milliseconds; 0: no context survives system sleep.
 */
u32 nnpu_param_sleep_drain_ms(void)
{
	return min(READ_ONCE(nnpu_sleep_drain_ms), 60000u);
}

/**
 * nnpu_param_user_queues - module parameter user_queues
 *
 * Return: true if processes may have queues.
 */
bool nnpu_param_user_queues(void)
{
	return READ_ONCE(nnpu_user_queues);
}
