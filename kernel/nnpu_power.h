/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_POWER_H_
#define _NNPU_POWER_H_

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/pm.h>
#include <linux/types.h>

struct attribute_group;
struct nnpu_device;

/**
 * struct nnpu_power - power state of a device
 * @lock: one change of the performance level at a time; held across an admin command
 * @queues: user queues that have a hardware queue
 * @suspended: runtime-suspended; under @lock
 */
struct nnpu_power {
	struct mutex lock;	/* see above */
	atomic_t queues;
	bool suspended;
};

void nnpu_power_init(struct nnpu_device *ndev);
void nnpu_power_enable(struct nnpu_device *ndev);
void nnpu_power_disable(struct nnpu_device *ndev);
void nnpu_power_get(struct nnpu_device *ndev);
void nnpu_power_put(struct nnpu_device *ndev);
void nnpu_power_get_queue(struct nnpu_device *ndev);
void nnpu_power_put_queue(struct nnpu_device *ndev);
void nnpu_power_update(struct nnpu_device *ndev);
const char *nnpu_power_level_name(u32 level);

extern const struct attribute_group *nnpu_power_groups[];
extern const struct dev_pm_ops nnpu_power_pm_ops;

#endif /* _NNPU_POWER_H_ */
