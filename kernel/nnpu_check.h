/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_CHECK_H_
#define _NNPU_CHECK_H_

#include <linux/types.h>

#include <drm/nnpu_accel.h>

/* Entries of in_syncs or out_syncs of one job. */
#define NNPU_MAX_SYNCS		64
/* Inputs plus outputs of one job, unless the device allows fewer. */
#define NNPU_MAX_ARGS		256
/* Largest slot and buffer, bytes. */
#define NNPU_MAX_SLOT_SIZE	(4ull << 30)
/* Largest stride of the arrays of SUBMIT. Larger than today's records, for later versions. */
#define NNPU_MAX_STRIDE		4096
/* Entries of the rings of a user queue: each ring is in one page of the device. */
#define NNPU_MAX_SQ_ENTRIES	64
#define NNPU_MAX_CQ_ENTRIES	128

/**
 * struct nnpu_range - bytes of a slot
 * @slot: slot number
 * @offset: first byte
 * @length: bytes
 */
struct nnpu_range {
	u32 slot;
	u64 offset;
	u64 length;
};

/**
 * struct nnpu_header_verdict - why a program header was refused
 * @status: NNPU_STATUS_*
 * @reason: NNPU_REASON_*
 */
struct nnpu_header_verdict {
	u16 status;
	u16 reason;
};

/**
 * struct nnpu_ctx_attrs - what a context was created with
 * @mem_limit: device memory it may take, bytes; 0: no limit
 * @time_limit_ns: engine time of a job
 * @num_priorities: priorities that its jobs and queues may have, from the lowest up
 * @weight: share of the engines
 * @sched_class: NNPU_CTX_CLASS_*
 */
struct nnpu_ctx_attrs {
	u64 mem_limit;
	u64 time_limit_ns;
	u32 num_priorities;
	u16 weight;
	u16 sched_class;
};

/**
 * struct nnpu_time_limits - bounds of the engine time of a job
 * @usual: for a context that asks for none, ns
 * @max: the largest that a context may ask for, ns; not below @usual
 */
struct nnpu_time_limits {
	u64 usual;
	u64 max;
};

bool nnpu_check_range(u64 offset, u64 length, u64 size);
int nnpu_check_bo_size(u64 size, u64 *aligned);
int nnpu_check_prep(const struct drm_nnpu_bo_prep *args);
int nnpu_check_fini(const struct drm_nnpu_bo_fini *args);
int nnpu_check_userptr(const struct drm_nnpu_bo_userptr *args);
int nnpu_check_bind(const struct drm_nnpu_slot_bind *args);
int nnpu_check_queue(const struct drm_nnpu_queue_create *args, u32 max_entries);
int nnpu_check_submit(const struct drm_nnpu_submit *args, u32 max_args, u64 features);
int nnpu_check_copy(const struct nnpu_arg *arg, u32 num);
int nnpu_check_arg(const struct nnpu_arg *arg);
int nnpu_check_sync(const struct drm_nnpu_sync *sync);
int nnpu_check_load(const struct drm_nnpu_program_load *args, u32 max_size);
int nnpu_check_save(const struct drm_nnpu_program_save *args);
int nnpu_check_program_header(const struct nnpu_program_header *h, u32 image_size,
			      struct nnpu_header_verdict *verdict);
u32 nnpu_check_args_size(u32 num_args);
int nnpu_check_context(const struct drm_nnpu_context_create *args,
		       const struct nnpu_time_limits *limits, struct nnpu_ctx_attrs *attrs);
bool nnpu_check_context_is_nice(const struct nnpu_ctx_attrs *attrs);

#endif /* _NNPU_CHECK_H_ */
