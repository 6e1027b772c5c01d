/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SLEEP_H_
#define _NNPU_SLEEP_H_

#include <linux/list.h>
#include <linux/types.h>

struct nnpu_device;

/**
 * struct nnpu_sleep - contexts that survive system sleep
 * @active: between nnpu_sleep_begin() and nnpu_sleep_end()
 * @contexts: struct nnpu_ctx; the callbacks of system sleep alone use the list
 */
struct nnpu_sleep {
	bool active;
	struct list_head contexts;
};

void nnpu_sleep_init(struct nnpu_device *ndev);

bool nnpu_sleep_is_active(struct nnpu_device *ndev);
void nnpu_sleep_begin(struct nnpu_device *ndev);
void nnpu_sleep_check(struct nnpu_device *ndev);
int nnpu_sleep_restore(struct nnpu_device *ndev);
void nnpu_sleep_end(struct nnpu_device *ndev);

#endif /* _NNPU_SLEEP_H_ */
