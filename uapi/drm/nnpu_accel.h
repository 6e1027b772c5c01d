/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * NNPU DRM accel driver: ioctl interface.
 *
 * Rules of change: a structure only grows at its end and zero in a new field
 * keeps the old behaviour; a flag is added and never reused; padding, reserved
 * fields and unknown flags must be zero and give -EINVAL otherwise; arrays carry
 * a stride; each addition raises the driver's minor version. What the device can
 * do is queried (DRM_NNPU_QUERY), never guessed from a version.
 *
 * Objects belong to the open file and die with it: buffers (GEM), slots,
 * programs and queues. All of them belong to one hardware context, which is
 * created on open; a slot or program number of one file means nothing in another.
 *
 * Errors common to all ioctls: -EINVAL (a reserved field, flag or value out of
 * range), -EFAULT (bad user pointer), -ENODEV (device gone, or the context was
 * lost in a device reset), -ENOMEM, -EINTR (a signal came while
 * waiting; nothing has happened, call again).
 */
#ifndef _UAPI_NNPU_ACCEL_H_
#define _UAPI_NNPU_ACCEL_H_

#include "drm.h"
#include "nnpu_program.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Name and version returned by DRM_IOCTL_VERSION. */
#define NNPU_DRIVER_NAME		"nnpu"
#define NNPU_DRIVER_MAJOR		1
#define NNPU_DRIVER_MINOR		2

#define DRM_NNPU_QUERY			0x00
#define DRM_NNPU_BO_CREATE		0x01
#define DRM_NNPU_BO_MMAP		0x02
#define DRM_NNPU_SLOT_BIND		0x03
#define DRM_NNPU_SLOT_UNBIND		0x04
#define DRM_NNPU_PROGRAM_LOAD		0x05
#define DRM_NNPU_PROGRAM_UNLOAD		0x06
#define DRM_NNPU_SUBMIT			0x07
#define DRM_NNPU_QUEUE_CREATE		0x08
#define DRM_NNPU_QUEUE_DESTROY		0x09
#define DRM_NNPU_QUEUE_WAIT		0x0a

/* struct drm_nnpu_device_info */
#define DRM_NNPU_QUERY_DEVICE_INFO	0
/* struct nnpu_identify, as the device gave it at probe */
#define DRM_NNPU_QUERY_IDENTIFY		1
/* struct drm_nnpu_context_info */
#define DRM_NNPU_QUERY_CONTEXT_INFO	2
/*
 * Array of struct nnpu_extension, 4096 bytes each, in the device's order: its vendor
 * extensions but for those whose description breaks the hardware specification. 0
 * bytes if there is none. The same on every call. Since driver version 1.2
 */
#define DRM_NNPU_QUERY_EXTENSIONS	3

/**
 * struct drm_nnpu_query - ask for a block of information
 * @topic: DRM_NNPU_QUERY_*; unknown topics give -EINVAL
 * @size: in: bytes of room at @data, 0 to ask for the size; out: bytes the
 *	driver has. min(in, out) bytes are written
 * @data: user pointer; may be 0 if @size is 0
 */
struct drm_nnpu_query {
	__u32 topic;
	__u32 size;
	__u64 data;
};

/**
 * struct drm_nnpu_device_info - limits of driver and device
 * @features: NNPU_FEATURE_* bits of the hardware specification
 * @hw_version: version of the hardware specification, major << 16 | minor
 * @max_slots: slots of one context
 * @max_programs: programs of one context
 * @max_args: inputs plus outputs of one job
 * @max_syncs: entries of in_syncs or out_syncs of one job
 * @page_size: granule of slot offsets and sizes, bytes
 * @max_slot_size: largest slot, bytes
 * @max_program_size: largest program image, bytes
 * @num_queues: hardware queues besides the admin queue
 * @num_engines: jobs the device runs at the same time
 * @hang_timeout_ms: a job without progress for this long is aborted
 * @reset_count: device resets since the driver was bound
 */
struct drm_nnpu_device_info {
	__u64 features;
	__u32 hw_version;
	__u32 max_slots;
	__u32 max_programs;
	__u32 max_args;
	__u32 max_syncs;
	__u32 page_size;
	__u64 max_slot_size;
	__u32 max_program_size;
	__u32 num_queues;
	__u32 num_engines;
	__u32 hang_timeout_ms;
	__u64 reset_count;
};

/* The context was lost in a device reset: its programs are gone, open again. */
#define DRM_NNPU_CONTEXT_LOST		(1u << 0)

/**
 * struct drm_nnpu_context_info - state of the caller's context
 * @flags: DRM_NNPU_CONTEXT_*
 * @slots: slots bound
 * @programs: programs loaded
 * @pad: zero
 * @jobs_submitted: jobs accepted by SUBMIT
 * @jobs_completed: jobs whose fences have signalled, failed ones included
 * @jobs_failed: jobs that ended with a status other than success
 * @jobs_timedout: jobs aborted because they made no progress
 */
struct drm_nnpu_context_info {
	__u32 flags;
	__u32 slots;
	__u32 programs;
	__u32 pad;
	__u64 jobs_submitted;
	__u64 jobs_completed;
	__u64 jobs_failed;
	__u64 jobs_timedout;
};

/**
 * struct drm_nnpu_bo_create - create a buffer of zeroed, shareable memory
 * @size: in: bytes, at least 1; out: rounded up to whole pages
 * @flags: zero
 * @handle: out: GEM handle
 *
 * -EINVAL: @size is 0 or above the largest slot; -ENOMEM.
 */
struct drm_nnpu_bo_create {
	__u64 size;
	__u32 flags;
	__u32 handle;
};

/**
 * struct drm_nnpu_bo_mmap - get the offset to map a buffer with mmap()
 * @handle: GEM handle; not of an imported dma-buf (-EINVAL; map that itself)
 * @flags: zero
 * @offset: out: offset for mmap() on the device file
 *
 * -ENOENT: no such handle.
 */
struct drm_nnpu_bo_mmap {
	__u32 handle;
	__u32 flags;
	__u64 offset;
};

/* The device may read. */
#define DRM_NNPU_SLOT_READ		(1u << 0)
/* The device may write. */
#define DRM_NNPU_SLOT_WRITE		(1u << 1)

/**
 * struct drm_nnpu_slot_bind - let the device reach (part of) a buffer
 * @handle: GEM handle, own or imported
 * @flags: DRM_NNPU_SLOT_READ, DRM_NNPU_SLOT_WRITE, at least one
 * @offset: first byte, multiple of the device page size
 * @size: bytes, multiple of the device page size, not 0, inside the buffer
 * @slot: out: slot number, the lowest free one
 * @pad: zero
 *
 * The binding holds a reference of the buffer. -ENOENT: no such handle; -ENOSPC:
 * all slots in use; -EINVAL: range.
 */
struct drm_nnpu_slot_bind {
	__u32 handle;
	__u32 flags;
	__u64 offset;
	__u64 size;
	__u32 slot;
	__u32 pad;
};

/**
 * struct drm_nnpu_slot_unbind - end a binding
 * @slot: slot number
 * @flags: zero
 *
 * Jobs already submitted keep the memory until they end; new jobs cannot name
 * the slot any more, and its number is free for reuse when the last job ended.
 * -ENOENT: slot not bound.
 */
struct drm_nnpu_slot_unbind {
	__u32 slot;
	__u32 flags;
};

/* Only check: nothing is loaded, @program stays 0, every command is reported. */
#define DRM_NNPU_PROGRAM_CHECK		(1u << 0)

/**
 * struct drm_nnpu_program_load - load or check a program
 * @image: user pointer to the image, struct nnpu_program_header first; copied
 *	once, the caller's memory is not used afterwards
 * @image_size: bytes of the image, equal to the header's size field
 * @flags: DRM_NNPU_PROGRAM_CHECK
 * @report: user pointer to @num_reports entries of struct nnpu_command_report
 *	for DRM_NNPU_PROGRAM_CHECK, else 0
 * @num_reports: in: room at @report; with DRM_NNPU_PROGRAM_CHECK it must be the
 *	number of commands of the image, else 0
 * @program: out: program number, not 0
 * @status: out: NNPU_STATUS_* of the device, or of the driver's own check of the
 *	header
 * @reason: out: NNPU_REASON_*
 * @index: out: index of the tensor (NNPU_STATUS_PROGRAM_TENSOR) or command at
 *	fault
 * @operand: out: position of the operand at fault, or NNPU_OPERAND_NONE
 * @memory: out: bytes of device memory the program takes
 *
 * A program the device refuses gives -EINVAL (malformed), -EOPNOTSUPP (a command
 * is not supported), -ENOSPC (too many programs) or -ENOMEM (device memory)
 * with @status, @reason, @index and @operand filled in. With
 * DRM_NNPU_PROGRAM_CHECK an unsupported command is not an error. Constants named
 * by slot are copied while loading; the slots may be unbound afterwards.
 */
struct drm_nnpu_program_load {
	__u64 image;
	__u32 image_size;
	__u32 flags;
	__u64 report;
	__u32 num_reports;
	__u32 program;
	__u32 status;
	__u32 reason;
	__u32 index;
	__u32 operand;
	__u64 memory;
};

/**
 * struct drm_nnpu_program_unload - unload a program
 * @program: program number
 * @flags: zero
 *
 * Jobs already submitted still run; the device's copy goes with the last of them.
 * -ENOENT: no such program.
 */
struct drm_nnpu_program_unload {
	__u32 program;
	__u32 flags;
};

/**
 * struct drm_nnpu_sync - one fence to wait for or to signal
 * @handle: syncobj
 * @flags: zero
 * @point: timeline point, 0 for a binary syncobj
 */
struct drm_nnpu_sync {
	__u32 handle;
	__u32 flags;
	__u64 point;
};

/* Write struct nnpu_profile records to @profile_slot. */
#define DRM_NNPU_SUBMIT_PROFILE		(1u << 0)

#define DRM_NNPU_PRIORITY_LOW		0
#define DRM_NNPU_PRIORITY_MEDIUM	1
#define DRM_NNPU_PRIORITY_HIGH		2

/**
 * struct drm_nnpu_submit - run a program once
 * @program: program number
 * @flags: DRM_NNPU_SUBMIT_*
 * @args: user pointer to @num_inputs, then @num_outputs records; copied once
 * @num_inputs: number of inputs of the program
 * @num_outputs: number of outputs of the program
 * @arg_stride: sizeof(struct nnpu_arg) as known to the caller
 * @priority: DRM_NNPU_PRIORITY_*, a hint that ranks the jobs of this file, never
 *	against those of other files
 * @result_slot: slot for the result block (struct nnpu_args_header and the
 *	records) or NNPU_SLOT_NONE
 * @profile_slot: slot for profile records; 0 unless DRM_NNPU_SUBMIT_PROFILE
 * @result_offset: byte offset in @result_slot, multiple of 8
 * @profile_offset: byte offset in @profile_slot, multiple of 8
 * @profile_size: bytes of room for profile records
 * @num_in_syncs: entries at @in_syncs
 * @num_out_syncs: entries at @out_syncs
 * @sync_stride: sizeof(struct drm_nnpu_sync) as known to the caller; may be 0 if
 *	there are no syncs
 * @in_syncs: user pointer; the job starts after all of them have signalled
 * @out_syncs: user pointer; signalled when the job ends, with an error if it
 *	failed
 * @deadline_ns: reserved for deadlines: zero
 * @loop_timeout_ns: longest time for each loop of the program, at most
 *	NNPU_LOOP_TIMEOUT_MAX_NS; 0: NNPU_LOOP_TIMEOUT_DEFAULT_NS
 *
 * The slots named by records and results are held until the job ends. The
 * status is in the result block: software writes NNPU_STATUS_PENDING there
 * first; if that still stands when the fence has signalled, the job never
 * reached the device's end (timeout, reset, removal) and the fence carries the
 * error: -ETIME (aborted without progress), -ECANCELED (file closed or innocent
 * in a reset), -ENODEV (device gone), -EIO (anything else). A job the device
 * ended with a status signals -EIO, -EINVAL or -ENOMEM and writes the result.
 *
 * -ENOENT: program, slot or syncobj does not exist; -EINVAL: number of arguments,
 * range outside a slot, result slot not writable.
 */
struct drm_nnpu_submit {
	__u32 program;
	__u32 flags;
	__u64 args;
	__u32 num_inputs;
	__u32 num_outputs;
	__u32 arg_stride;
	__u32 priority;
	__u32 result_slot;
	__u32 profile_slot;
	__u64 result_offset;
	__u64 profile_offset;
	__u32 profile_size;
	__u32 num_in_syncs;
	__u32 num_out_syncs;
	__u32 sync_stride;
	__u64 in_syncs;
	__u64 out_syncs;
	__u64 deadline_ns;
	__u64 loop_timeout_ns;
};

/* Entries of a ring: both rings of a user queue are one device page each. */
#define DRM_NNPU_QUEUE_MIN_ENTRIES	2
#define DRM_NNPU_QUEUE_MAX_SQ_ENTRIES	64
#define DRM_NNPU_QUEUE_MAX_CQ_ENTRIES	128

/* Bytes to mmap() from the descriptor of a queue, at offset 0. */
#define DRM_NNPU_QUEUE_DOORBELL_SIZE	4096

/**
 * struct drm_nnpu_queue_create - create a queue that the process itself rings
 * @flags: zero
 * @priority: DRM_NNPU_PRIORITY_*; ranks the queue among all queues of the device,
 *	which sees to it that none starves
 * @ring_handle: GEM handle of a buffer made by BO_CREATE, not an imported one
 * @sq_entries: entries of the submission ring, power of two,
 *	DRM_NNPU_QUEUE_MIN_ENTRIES to DRM_NNPU_QUEUE_MAX_SQ_ENTRIES
 * @cq_entries: entries of the completion ring, power of two,
 *	DRM_NNPU_QUEUE_MIN_ENTRIES to DRM_NNPU_QUEUE_MAX_CQ_ENTRIES
 * @sq_offset: bytes from the start of the buffer to the submission ring, multiple
 *	of the device page size
 * @cq_offset: bytes to the completion ring, multiple of the device page size,
 *	another page
 * @queue: out: queue number, not 0
 * @fd: out: descriptor of the queue (close-on-exec): mmap() gives its doorbell
 *	page, poll() waits for an armed completion
 * @pad: zero
 *
 * Rings and doorbells are those of the hardware specification: entries of struct
 * nnpu_sqe with ctx 0 and of struct nnpu_cqe; index 0 and phase 1 first. The
 * queue needs no hardware queue until its doorbell is rung, gives it back when it
 * is idle, and keeps its indices through that.
 *
 * The doorbell page is mapped shared and writable, once, by the process that
 * created the queue (-EPERM for another, -EBUSY for a second mapping); the mapping
 * is not inherited by a child and can neither be moved nor split. Writes to the
 * page of a queue that has ended go nowhere. A completion raises an interrupt
 * only when NNPU_DB_CQ_ARM was rung; poll() then says EPOLLIN until read() has
 * taken the count of interrupts (eight bytes, as of an eventfd; it includes false
 * alarms), and EPOLLERR with EPOLLHUP for ever when the queue has ended.
 *
 * The queue ends with QUEUE_DESTROY, with its descriptor and mapping, or with the
 * file. It also ends when the device is reset, when what is in its rings makes
 * the device stop it, and when a job of it hangs and cannot be aborted: see
 * QUEUE_WAIT.
 *
 * -EOPNOTSUPP: the device cannot do it or the module parameter user_queues is off;
 * -ENOENT: no such handle; -EINVAL: range, imported buffer; -ENOSPC: too many
 * queues; -EMFILE, -ENFILE: descriptors.
 */
struct drm_nnpu_queue_create {
	__u32 flags;
	__u32 priority;
	__u32 ring_handle;
	__u32 sq_entries;
	__u64 sq_offset;
	__u64 cq_offset;
	__u32 cq_entries;
	__u32 queue;
	__s32 fd;
	__u32 pad;
};

/**
 * struct drm_nnpu_queue_destroy - end a queue
 * @queue: queue number
 * @flags: zero
 *
 * A job that runs is aborted; when the call returns the device has no access to
 * the rings and the doorbell mapping goes nowhere. -ENOENT: no such queue.
 */
struct drm_nnpu_queue_destroy {
	__u32 queue;
	__u32 flags;
};

/* The queue works. */
#define DRM_NNPU_QUEUE_STATE_READY	0
/* The device stopped the queue for what it found in its rings or doorbells. */
#define DRM_NNPU_QUEUE_STATE_STOPPED	1
/* A job made no progress and could not be aborted alone. */
#define DRM_NNPU_QUEUE_STATE_HUNG	2
/* The context was lost in a device reset. */
#define DRM_NNPU_QUEUE_STATE_LOST	3
/* The device is gone. */
#define DRM_NNPU_QUEUE_STATE_GONE	4
/* QUEUE_DESTROY, or the file was closed. */
#define DRM_NNPU_QUEUE_STATE_DESTROYED	5

/**
 * struct drm_nnpu_queue_wait - wait for completions
 * @queue: queue number
 * @flags: zero
 * @cq_head: index of the first completion entry the caller has not seen
 * @state: out: DRM_NNPU_QUEUE_STATE_*
 * @reason: out: NNPU_STATUS_* for DRM_NNPU_QUEUE_STATE_STOPPED, else 0
 * @pad: zero
 * @timeout_ns: CLOCK_MONOTONIC, absolute; at or before now: only look
 *
 * Arms the interrupt for completions beyond @cq_head and sleeps. Returns 0 when
 * there may be one, which includes false alarms, and when the queue has ended,
 * with @state saying so; -ETIME; -ENOENT: no such queue.
 */
struct drm_nnpu_queue_wait {
	__u32 queue;
	__u32 flags;
	__u32 cq_head;
	__u32 state;
	__u32 reason;
	__u32 pad;
	__s64 timeout_ns;
};

#define DRM_IOCTL_NNPU_QUERY \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_QUERY, struct drm_nnpu_query)
#define DRM_IOCTL_NNPU_BO_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_BO_CREATE, struct drm_nnpu_bo_create)
#define DRM_IOCTL_NNPU_BO_MMAP \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_BO_MMAP, struct drm_nnpu_bo_mmap)
#define DRM_IOCTL_NNPU_SLOT_BIND \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_SLOT_BIND, struct drm_nnpu_slot_bind)
#define DRM_IOCTL_NNPU_SLOT_UNBIND \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_SLOT_UNBIND, struct drm_nnpu_slot_unbind)
#define DRM_IOCTL_NNPU_PROGRAM_LOAD \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_PROGRAM_LOAD, struct drm_nnpu_program_load)
#define DRM_IOCTL_NNPU_PROGRAM_UNLOAD \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_PROGRAM_UNLOAD, struct drm_nnpu_program_unload)
#define DRM_IOCTL_NNPU_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_SUBMIT, struct drm_nnpu_submit)
#define DRM_IOCTL_NNPU_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_QUEUE_CREATE, struct drm_nnpu_queue_create)
#define DRM_IOCTL_NNPU_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_QUEUE_DESTROY, struct drm_nnpu_queue_destroy)
#define DRM_IOCTL_NNPU_QUEUE_WAIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_QUEUE_WAIT, struct drm_nnpu_queue_wait)

NNPU_ASSERT_SIZE(struct drm_nnpu_query, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_device_info, 64);
NNPU_ASSERT_SIZE(struct drm_nnpu_context_info, 48);
NNPU_ASSERT_SIZE(struct drm_nnpu_bo_create, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_bo_mmap, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_slot_bind, 32);
NNPU_ASSERT_SIZE(struct drm_nnpu_slot_unbind, 8);
NNPU_ASSERT_SIZE(struct drm_nnpu_program_load, 56);
NNPU_ASSERT_SIZE(struct drm_nnpu_program_unload, 8);
NNPU_ASSERT_SIZE(struct drm_nnpu_sync, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_submit, 104);
NNPU_ASSERT_SIZE(struct drm_nnpu_queue_create, 48);
NNPU_ASSERT_SIZE(struct drm_nnpu_queue_destroy, 8);
NNPU_ASSERT_SIZE(struct drm_nnpu_queue_wait, 32);

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_NNPU_ACCEL_H_ */
