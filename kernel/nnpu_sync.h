/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_SYNC_H_
#define _NNPU_SYNC_H_

#include <linux/types.h>

struct nnpu_ctx;
struct nnpu_device;
struct nnpu_job;
struct nnpu_slot;
struct sg_table;

/**
 * struct nnpu_sync_range - memory that a job reads or writes through a slot
 * @offset: first byte in the slot
 * @length: bytes
 */
struct nnpu_sync_range {
	u64 offset;
	u64 length;
};

int nnpu_sync_probe(struct nnpu_device *ndev);
bool nnpu_sync_is_needed(struct nnpu_device *ndev, struct sg_table *sgt);
int nnpu_sync_job_for_device(struct nnpu_job *job);
void nnpu_sync_job_undo(struct nnpu_job *job);
void nnpu_sync_job_for_cpu(struct nnpu_job *job);
int nnpu_sync_slots_for_device(struct nnpu_ctx *ctx);

#endif /* _NNPU_SYNC_H_ */
