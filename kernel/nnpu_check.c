// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of ioctl arguments: on copies, without lookups.
 *
 * The functions check what the kernel depends on. The device checks programs and arguments
 * in full. The driver repeats a check of the device only if an early and precise errno helps
 * the caller (documented in nnpu_accel.h).
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "nnpu_check.h"
#include "nnpu_hw.h"

/**
 * nnpu_check_range - does a range lie inside an object?
 * @offset: first byte
 * @length: bytes, may be 0
 * @size: bytes of the object
 *
 * Return: true if it does.
 */
bool nnpu_check_range(u64 offset, u64 length, u64 size)
{
	return offset <= size && length <= size - offset;
}

/**
 * nnpu_check_bo_size - size of a new buffer
 * @size: bytes asked for
 * @aligned: gets whole pages
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_bo_size(u64 size, u64 *aligned)
{
	if (!size || size > NNPU_MAX_SLOT_SIZE)
		return -EINVAL;
	*aligned = PAGE_ALIGN(size);
	return 0;
}

static int nnpu_check_access(u32 flags, u32 known, u64 size)
{
	if (flags & ~known || !(flags & (DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE)))
		return -EINVAL;
	return size ? 0 : -EINVAL;
}

/**
 * nnpu_check_prep - fields of BO_PREP; the caller checks the range against the buffer
 * @args: copy of the caller's structure
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_prep(const struct drm_nnpu_bo_prep *args)
{
	return nnpu_check_access(args->flags, DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE |
				 DRM_NNPU_BO_NO_WAIT, args->size);
}

/**
 * nnpu_check_fini - fields of BO_FINI; the caller checks the range against the buffer
 * @args: copy of the caller's structure
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_fini(const struct drm_nnpu_bo_fini *args)
{
	return nnpu_check_access(args->flags, DRM_NNPU_BO_READ | DRM_NNPU_BO_WRITE, args->size);
}

/**
 * nnpu_check_userptr - fields of BO_USERPTR
 * @args: copy of the caller's structure
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_userptr(const struct drm_nnpu_bo_userptr *args)
{
	u64 end;

	if (args->flags & ~DRM_NNPU_USERPTR_WRITE)
		return -EINVAL;
	if (!args->size || args->size > NNPU_MAX_SLOT_SIZE ||
	    !IS_ALIGNED(args->size, PAGE_SIZE) || !IS_ALIGNED(args->addr, PAGE_SIZE))
		return -EINVAL;
	return check_add_overflow(args->addr, args->size, &end) ? -EINVAL : 0;
}

/**
 * nnpu_check_bind - fields of SLOT_BIND; the caller checks the range against the buffer
 * @args: copy of the caller's structure
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP for a kind that is reserved.
 */
int nnpu_check_bind(const struct drm_nnpu_slot_bind *args)
{
	if (!args->flags || args->flags & ~(DRM_NNPU_SLOT_READ | DRM_NNPU_SLOT_WRITE))
		return -EINVAL;
	if (args->pad)
		return -EINVAL;
	if (args->kind != DRM_NNPU_SLOT_KIND_HOST)
		return args->kind == DRM_NNPU_SLOT_KIND_DEVICE ? -EOPNOTSUPP : -EINVAL;
	if (!args->size || args->size > NNPU_MAX_SLOT_SIZE ||
	    !IS_ALIGNED(args->size, NNPU_PAGE_SIZE) ||
	    !IS_ALIGNED(args->offset, NNPU_PAGE_SIZE))
		return -EINVAL;
	return 0;
}

static bool nnpu_check_entries(u32 entries, u32 max)
{
	return entries >= NNPU_MIN_ENTRIES && entries <= max && is_power_of_2(entries);
}

/**
 * nnpu_check_queue - fields of QUEUE_CREATE; the caller checks the ranges against the buffer
 * @args: copy of the caller's structure
 * @max_entries: entries of a ring that the device can have
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_queue(const struct drm_nnpu_queue_create *args, u32 max_entries)
{
	BUILD_BUG_ON(NNPU_MAX_SQ_ENTRIES * NNPU_SQE_SIZE > NNPU_PAGE_SIZE);
	BUILD_BUG_ON(NNPU_MAX_CQ_ENTRIES * NNPU_CQE_SIZE > NNPU_PAGE_SIZE);

	if (args->flags || args->priority > DRM_NNPU_PRIORITY_HIGH)
		return -EINVAL;
	if (!nnpu_check_entries(args->sq_entries, min(max_entries, NNPU_MAX_SQ_ENTRIES)) ||
	    !nnpu_check_entries(args->cq_entries, min(max_entries, NNPU_MAX_CQ_ENTRIES)))
		return -EINVAL;
	if (!IS_ALIGNED(args->sq_offset, NNPU_PAGE_SIZE) ||
	    !IS_ALIGNED(args->cq_offset, NNPU_PAGE_SIZE) || args->sq_offset == args->cq_offset)
		return -EINVAL;
	return 0;
}

/**
 * nnpu_check_context - fields of CONTEXT_CREATE
 * @args: copy of the caller's structure
 * @limits: bounds of the engine time of a job
 * @attrs: gets the attributes, defaults filled in
 *
 * Return: 0, or -EINVAL. Always 0 if all fields are 0.
 */
int nnpu_check_context(const struct drm_nnpu_context_create *args,
		       const struct nnpu_time_limits *limits, struct nnpu_ctx_attrs *attrs)
{
	BUILD_BUG_ON(DRM_NNPU_WEIGHT_DEFAULT != NNPU_CTX_WEIGHT_DEFAULT);
	BUILD_BUG_ON(DRM_NNPU_WEIGHT_MAX != NNPU_CTX_WEIGHT_MAX);

	if (args->flags & ~DRM_NNPU_CONTEXT_URGENT || args->weight > DRM_NNPU_WEIGHT_MAX ||
	    args->time_limit_ns > limits->max ||
	    args->num_priorities > DRM_NNPU_PRIORITY_HIGH + 1)
		return -EINVAL;
	*attrs = (struct nnpu_ctx_attrs) {
		.mem_limit = args->mem_limit,
		.time_limit_ns = args->time_limit_ns ?: limits->usual,
		.num_priorities = args->num_priorities ?: DRM_NNPU_PRIORITY_HIGH + 1,
		.weight = args->weight ?: DRM_NNPU_WEIGHT_DEFAULT,
		.sched_class = args->flags & DRM_NNPU_CONTEXT_URGENT ? NNPU_CTX_CLASS_URGENT :
								       NNPU_CTX_CLASS_NORMAL,
	};
	return 0;
}

/**
 * nnpu_check_context_is_nice - does a context get more than others by its attributes?
 * @attrs: attributes
 *
 * Return: true if so: the caller needs CAP_SYS_NICE.
 */
bool nnpu_check_context_is_nice(const struct nnpu_ctx_attrs *attrs)
{
	return attrs->weight > DRM_NNPU_WEIGHT_DEFAULT ||
	       attrs->sched_class != NNPU_CTX_CLASS_NORMAL;
}

/**
 * nnpu_check_args_size - bytes of a result block or argument block
 * @num_args: inputs plus outputs, at most NNPU_MAX_ARGS
 *
 * Return: bytes.
 */
u32 nnpu_check_args_size(u32 num_args)
{
	return sizeof(struct nnpu_args_header) + num_args * sizeof(struct nnpu_arg);
}

static int nnpu_check_submit_syncs(const struct drm_nnpu_submit *args)
{
	if (args->num_in_syncs > NNPU_MAX_SYNCS || args->num_out_syncs > NNPU_MAX_SYNCS)
		return -EINVAL;
	if (!args->num_in_syncs && !args->num_out_syncs && !args->sync_stride)
		return 0;
	if (args->sync_stride < sizeof(struct drm_nnpu_sync) ||
	    args->sync_stride > NNPU_MAX_STRIDE || !IS_ALIGNED(args->sync_stride, 8))
		return -EINVAL;
	return 0;
}

static int nnpu_check_submit_profile(const struct drm_nnpu_submit *args)
{
	if (args->flags & DRM_NNPU_SUBMIT_PROFILE)
		return IS_ALIGNED(args->profile_offset, 8) ? 0 : -EINVAL;
	return args->profile_slot || args->profile_offset || args->profile_size ? -EINVAL : 0;
}

/* What the device has to have for the kind of job, and what the kind has no use for. */
static int nnpu_check_submit_kind(const struct drm_nnpu_submit *args, u64 features)
{
	switch (args->kind) {
	case DRM_NNPU_JOB_EXECUTE:
		return args->loop_timeout_ns > NNPU_LOOP_TIMEOUT_MAX_NS ? -EINVAL : 0;
	case DRM_NNPU_JOB_COPY:
		if (!(features & NNPU_FEATURE_COPY))
			return -EOPNOTSUPP;
		return args->program || args->loop_timeout_ns ||
		       args->num_inputs != args->num_outputs ||
		       args->flags & DRM_NNPU_SUBMIT_PROFILE ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

#define NNPU_SUBMIT_FLAGS	(DRM_NNPU_SUBMIT_PROFILE | DRM_NNPU_SUBMIT_PROPAGATE | \
				 DRM_NNPU_SUBMIT_DEADLINE_ABORT | DRM_NNPU_SUBMIT_NONBLOCK)

/* The flag that says something about a deadline needs one, and it needs a device that has them. */
static int nnpu_check_submit_deadline(const struct drm_nnpu_submit *args, u64 features)
{
	bool any = args->deadline_ns || args->duration_ns;
	bool ends = args->flags & DRM_NNPU_SUBMIT_DEADLINE_ABORT;

	if ((any || ends) && !(features & NNPU_FEATURE_DEADLINE))
		return -EOPNOTSUPP;
	return ends && !any ? -EINVAL : 0;
}

/**
 * nnpu_check_submit - fields of SUBMIT that need no lookup
 * @args: copy of the caller's structure
 * @max_args: inputs plus outputs of one job
 * @features: NNPU_FEATURE_* of the device
 *
 * Return: 0, -EINVAL, or -EOPNOTSUPP for what the device does not have.
 */
int nnpu_check_submit(const struct drm_nnpu_submit *args, u32 max_args, u64 features)
{
	u32 num_args;
	int ret;

	if (args->flags & ~NNPU_SUBMIT_FLAGS || args->priority > DRM_NNPU_PRIORITY_HIGH)
		return -EINVAL;
	ret = nnpu_check_submit_deadline(args, features);
	if (ret)
		return ret;
	ret = nnpu_check_submit_kind(args, features);
	if (ret)
		return ret;
	if (check_add_overflow(args->num_inputs, args->num_outputs, &num_args) ||
	    !args->num_outputs || num_args > max_args)
		return -EINVAL;
	if (args->arg_stride < sizeof(struct nnpu_arg) || args->arg_stride > NNPU_MAX_STRIDE ||
	    !IS_ALIGNED(args->arg_stride, 8))
		return -EINVAL;
	if (args->result_slot == NNPU_SLOT_NONE ? args->result_offset != 0 :
						  !IS_ALIGNED(args->result_offset, 8))
		return -EINVAL;
	ret = nnpu_check_submit_profile(args);
	return ret ?: nnpu_check_submit_syncs(args);
}

/**
 * nnpu_check_copy - argument records of a copy, apart from their slots
 * @arg: copies of the caller's records, each checked
 * @num: number of inputs, and of the outputs that follow
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_copy(const struct nnpu_arg *arg, u32 num)
{
	u32 i;

	for (i = 0; i < num; i++)
		if (arg[i].flags || arg[num + i].flags || arg[i].length != arg[num + i].length)
			return -EINVAL;
	return 0;
}

/**
 * nnpu_check_arg - an argument record, apart from its slot
 * @arg: copy of the caller's record
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_arg(const struct nnpu_arg *arg)
{
	u16 flags = le16_to_cpu(arg->flags);
	unsigned int i;

	if (arg->pad || arg->reserved || flags & ~(NNPU_ARG_NO_VALUE | NNPU_ARG_SHAPE))
		return -EINVAL;
	if (flags & NNPU_ARG_NO_VALUE) {
		if (flags != NNPU_ARG_NO_VALUE || arg->slot || arg->offset || arg->length)
			return -EINVAL;
	}
	if (arg->rank > NNPU_MAX_RANK || (arg->rank && !(flags & NNPU_ARG_SHAPE)))
		return -EINVAL;
	for (i = arg->rank; i < NNPU_MAX_RANK; i++)
		if (arg->dims[i])
			return -EINVAL;
	return 0;
}

/**
 * nnpu_check_sync - an entry of in_syncs or out_syncs
 * @sync: copy of the caller's entry
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_sync(const struct drm_nnpu_sync *sync)
{
	return sync->flags ? -EINVAL : 0;
}

/**
 * nnpu_check_load - fields of PROGRAM_LOAD
 * @args: copy of the caller's structure
 * @max_size: largest image, bytes
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_load(const struct drm_nnpu_program_load *args, u32 max_size)
{
	if (args->flags & ~DRM_NNPU_PROGRAM_CHECK || args->pad)
		return -EINVAL;
	if (args->image_size < sizeof(struct nnpu_program_header) ||
	    args->image_size > max_size || !IS_ALIGNED(args->image_size, 8))
		return -EINVAL;
	if (args->flags & DRM_NNPU_PROGRAM_CHECK)
		return args->num_reports && args->report ? 0 : -EINVAL;
	return args->num_reports || args->report ? -EINVAL : 0;
}

/**
 * nnpu_check_save - fields of PROGRAM_SAVE
 * @args: copy of the caller's structure
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_save(const struct drm_nnpu_program_save *args)
{
	if (args->flags || args->pad)
		return -EINVAL;
	return args->size && !args->image ? -EINVAL : 0;
}

/* One region of the image: inside it, behind the header, aligned. */
static u16 nnpu_check_region(const struct nnpu_program_header *h, __le32 off, __le32 count,
			     u32 entry)
{
	u64 bytes = (u64)le32_to_cpu(count) * entry;
	u32 offset = le32_to_cpu(off);

	if (!IS_ALIGNED(offset, 8))
		return NNPU_REASON_ALIGNMENT;
	if (bytes && offset < le16_to_cpu(h->header_size))
		return NNPU_REASON_RANGE;
	if (!nnpu_check_range(offset, bytes, le32_to_cpu(h->size)))
		return NNPU_REASON_SIZE;
	return NNPU_REASON_NONE;
}

static u16 nnpu_check_regions(const struct nnpu_program_header *h)
{
	const struct {
		__le32 off, count;
		u32 entry;
	} regions[] = {
		{ h->tensors_off, h->num_tensors, le16_to_cpu(h->tensor_stride) },
		{ h->commands_off, h->num_commands, le16_to_cpu(h->command_stride) },
		{ h->indexes_off, h->num_indexes, sizeof(__le32) },
		{ h->data_off, h->data_size, 1 },
		{ h->hints_off, h->hints_size, 1 },
		{ h->native_off, h->native_size, 1 },
		{ h->seal_off, h->seal_off ? cpu_to_le32(1) : 0, sizeof(struct nnpu_seal) },
	};
	u16 reason = NNPU_REASON_NONE;
	unsigned int i;

	for (i = 0; !reason && i < ARRAY_SIZE(regions); i++)
		reason = nnpu_check_region(h, regions[i].off, regions[i].count, regions[i].entry);
	return reason;
}

static bool nnpu_check_stride(__le16 stride, u32 known)
{
	return le16_to_cpu(stride) >= known && IS_ALIGNED(le16_to_cpu(stride), 8);
}

static u16 nnpu_check_header_reason(const struct nnpu_program_header *h, u32 image_size)
{
	u32 indexes = le32_to_cpu(h->num_indexes);
	u16 reason;

	if (le32_to_cpu(h->magic) != NNPU_PROGRAM_MAGIC)
		return NNPU_REASON_MAGIC;
	if (le16_to_cpu(h->version) != NNPU_PROGRAM_VERSION)
		return NNPU_REASON_VERSION;
	if (!nnpu_check_stride(h->header_size, sizeof(*h)) ||
	    le16_to_cpu(h->header_size) > image_size ||
	    !nnpu_check_stride(h->tensor_stride, sizeof(struct nnpu_tensor_desc)) ||
	    !nnpu_check_stride(h->command_stride, sizeof(struct nnpu_command)) ||
	    le32_to_cpu(h->size) != image_size)
		return NNPU_REASON_SIZE;
	if (le32_to_cpu(h->flags) & ~NNPU_PROGRAM_RELAXED)
		return NNPU_REASON_FLAGS;
	if (h->reserved)
		return NNPU_REASON_RESERVED;
	reason = nnpu_check_regions(h);
	if (reason)
		return reason;

	if (!h->num_commands || !h->num_outputs)
		return NNPU_REASON_SIZE;
	if (!nnpu_check_range(le32_to_cpu(h->inputs_first), le16_to_cpu(h->num_inputs), indexes) ||
	    !nnpu_check_range(le32_to_cpu(h->outputs_first), le16_to_cpu(h->num_outputs), indexes))
		return NNPU_REASON_RANGE;
	return NNPU_REASON_NONE;
}

/**
 * nnpu_check_program_header - check the header of a program image
 * @h: header in the kernel's copy of the image
 * @image_size: bytes of the image
 * @verdict: gets status and reason
 *
 * The kernel uses the numbers of inputs, outputs and commands. The device validates the rest
 * of the image.
 *
 * Return: 0, or -EINVAL.
 */
int nnpu_check_program_header(const struct nnpu_program_header *h, u32 image_size,
			      struct nnpu_header_verdict *verdict)
{
	verdict->reason = nnpu_check_header_reason(h, image_size);
	verdict->status = verdict->reason ? NNPU_STATUS_PROGRAM_HEADER : NNPU_STATUS_SUCCESS;
	return verdict->reason ? -EINVAL : 0;
}
