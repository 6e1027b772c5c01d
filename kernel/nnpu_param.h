/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_PARAM_H_
#define _NNPU_PARAM_H_

#include <linux/types.h>

struct nnpu_time_limits;

u32 nnpu_param_hang_timeout_ms(void);
u32 nnpu_param_admin_timeout_ms(void);
u32 nnpu_param_abort_timeout_ms(void);
u32 nnpu_param_max_inflight(void);
u32 nnpu_param_queue_idle_ms(void);
void nnpu_param_time_limits(struct nnpu_time_limits *limits);
u32 nnpu_param_sleep_drain_ms(void);
bool nnpu_param_user_queues(void);

#endif /* _NNPU_PARAM_H_ */
