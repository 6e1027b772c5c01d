/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * NNPU DRM accel driver: ioctl interface.
 *
 * Rules of change: a structure only grows at its end, and zero in a new field
 * keeps the old behaviour. Flags are added and never reused. Padding, reserved
 * fields and unknown flags must be zero; otherwise the call gives -EINVAL. Arrays
 * carry a stride. Each addition raises the driver's minor version. User space
 * queries what the device can do (DRM_NNPU_QUERY) and does not guess it from a
 * version.
 *
 * Buffers (GEM handles), syncobjs, contexts and queues belong to the open file, slots and
 * programs to a context of the file. All are freed with the file. Context 0 is made by the
 * first SLOT_BIND, PROGRAM_LOAD or QUEUE_CREATE that names it, the others by
 * CONTEXT_CREATE. The number of a context or queue is valid in its own file only, that of a
 * slot or program in its own context only.
 *
 * Errors common to all ioctls: -EINVAL (a reserved field, a flag or a value is out
 * of range), -EFAULT (bad user pointer), -ENODEV (the device is gone, or the context
 * was lost in a device reset), -ENOMEM, -EINTR (a signal arrived while the call
 * waited; the call had no effect and can be repeated; with SA_RESTART the kernel does that). Of all
 * that name a context:
 * -ENOENT (the file has no such context). Of CONTEXT_CREATE and of a call that makes
 * context 0: -EUSERS (none is free), -EDQUOT (the user who opened the file has as many as
 * are free, and not CAP_SYS_RESOURCE).
 */
#ifndef _UAPI_NNPU_ACCEL_H_
#define _UAPI_NNPU_ACCEL_H_

#include "drm.h"
#include "nnpu_program.h"
#include "nnpu_rings.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Name and version returned by DRM_IOCTL_VERSION. */
#define NNPU_DRIVER_NAME		"nnpu"
#define NNPU_DRIVER_MAJOR		2
#define NNPU_DRIVER_MINOR		0

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
#define DRM_NNPU_CONTEXT_CREATE		0x0b
#define DRM_NNPU_CONTEXT_DESTROY	0x0c
#define DRM_NNPU_PROGRAM_SAVE		0x0d
#define DRM_NNPU_BO_USERPTR		0x0e
#define DRM_NNPU_BO_PREP		0x0f
#define DRM_NNPU_BO_FINI		0x10

/* struct drm_nnpu_device_info */
#define DRM_NNPU_QUERY_DEVICE_INFO	0
/* struct nnpu_identify, as the device gave it at probe */
#define DRM_NNPU_QUERY_IDENTIFY		1
/* struct drm_nnpu_context_info */
#define DRM_NNPU_QUERY_CONTEXT_INFO	2
/*
 * Array of struct nnpu_extension, 4096 bytes each: the device's vendor extensions
 * in the device's order. The driver leaves out those whose description breaks the
 * hardware specification. 0 bytes if there is none. Every call gives the same.
 */
#define DRM_NNPU_QUERY_EXTENSIONS	3
/* struct drm_nnpu_clock; -ENODEV: the device is being reset or is gone */
#define DRM_NNPU_QUERY_CLOCK		4

/**
 * struct drm_nnpu_clock - the device clock and CLOCK_MONOTONIC at the same time
 * @device_ns: what the device clock read, for NNPU_ARGS_DEADLINE_ABSOLUTE
 * @monotonic_ns: CLOCK_MONOTONIC just before that
 *
 * The clocks may go at slightly different paces. The device clock begins again at 0 when the device
 * loses power. A process asks again from time to time.
 */
struct drm_nnpu_clock {
	__u64 device_ns;
	__u64 monotonic_ns;
};

/**
 * struct drm_nnpu_query - ask for a block of information
 * @topic: DRM_NNPU_QUERY_*; unknown topics give -EINVAL
 * @size: in: bytes of room at @data, 0 to ask for the size; out: bytes the
 *	driver has. The driver writes the smaller of the two
 * @data: user pointer; may be 0 if @size is 0
 * @ctx: DRM_NNPU_QUERY_CONTEXT_INFO: context, else zero
 * @pad: zero
 */
struct drm_nnpu_query {
	__u32 topic;
	__u32 size;
	__u64 data;
	__u32 ctx;
	__u32 pad;
};

/*
 * The CPU and the device do not see what the other one writes before BO_FINI and BO_PREP: DMA is
 * not coherent, or the device has copies of memory. Without the flag the two do nothing but wait.
 */
#define DRM_NNPU_DEVICE_SYNC		(1u << 0)

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
 * @reset_count: how often all contexts were lost since the driver was bound: device resets, failed
 *	ones included, and pauses: system sleep, resets of the PCI function
 * @doorbell_size: bytes to mmap() from the descriptor of a queue, at offset 0. This and
 *	the next three are 0 if a process cannot have a queue
 * @min_ring_entries: smallest sq_entries and cq_entries of QUEUE_CREATE
 * @max_sq_entries: largest sq_entries
 * @max_cq_entries: largest cq_entries
 * @time_limit_ns: engine time of a job in a context that asks for no other limit
 * @max_time_limit_ns: the largest limit that a context may ask for
 * @flags: DRM_NNPU_DEVICE_SYNC
 * @pad: zero
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
	__u32 doorbell_size;
	__u32 min_ring_entries;
	__u32 max_sq_entries;
	__u32 max_cq_entries;
	__u64 time_limit_ns;
	__u64 max_time_limit_ns;
	__u32 flags;
	__u32 pad;
};

/* The context is served before those without the flag. Needs CAP_SYS_NICE. */
#define DRM_NNPU_CONTEXT_URGENT		(1u << 0)
/*
 * QUERY only: the context was lost in a device reset: its slots and programs are gone.
 * CONTEXT_DESTROY gives its number back; the file keeps its buffers and syncobjs.
 */
#define DRM_NNPU_CONTEXT_LOST		(1u << 31)

/**
 * struct drm_nnpu_context_info - state of a context; of context 0 all zero before it is made
 * @flags: DRM_NNPU_CONTEXT_URGENT, DRM_NNPU_CONTEXT_LOST
 * @slots: slots bound
 * @programs: programs loaded
 * @weight: share of the engines, see struct drm_nnpu_context_create
 * @jobs_submitted: jobs that SUBMIT has accepted
 * @jobs_completed: jobs that have ended, failed ones included; the fence of one that never ran
 *	may signal later
 * @jobs_failed: of these, jobs whose fence has an error
 * @jobs_timedout: jobs that made no progress and were aborted, those of user queues
 *	included, and jobs of SUBMIT that used up the limit of engine time
 * @mem_limit: limit of device memory, bytes; 0: none
 * @time_limit_ns: limit of engine time of a job
 * @num_priorities: how many priorities its jobs and queues may have
 * @pad: zero
 */
struct drm_nnpu_context_info {
	__u32 flags;
	__u32 slots;
	__u32 programs;
	__u32 weight;
	__u64 jobs_submitted;
	__u64 jobs_completed;
	__u64 jobs_failed;
	__u64 jobs_timedout;
	__u64 mem_limit;
	__u64 time_limit_ns;
	__u32 num_priorities;
	__u32 pad;
};

/* Weights: of one user, a context with twice the weight gets twice the engine time. */
#define DRM_NNPU_WEIGHT_DEFAULT		16
#define DRM_NNPU_WEIGHT_MAX		256

/**
 * struct drm_nnpu_context_create - make a context with attributes
 * @flags: DRM_NNPU_CONTEXT_URGENT
 * @weight: 1 to DRM_NNPU_WEIGHT_MAX; 0: DRM_NNPU_WEIGHT_DEFAULT. Above the default it
 *	needs CAP_SYS_NICE
 * @mem_limit: device memory that its programs and jobs may take together, bytes; beyond,
 *	they fail for want of memory. 0: no limit of its own
 * @time_limit_ns: engine time of a job, ns, at most max_time_limit_ns of the device
 *	information; a job that takes longer ends with NNPU_STATUS_TIME_LIMIT. 0:
 *	time_limit_ns of the device information
 * @num_priorities: how many priorities its jobs and queues may have, from
 *	DRM_NNPU_PRIORITY_LOW up; 0: all
 * @ctx: out: context number, not 0
 *
 * Context 0 is made without this call, as if all fields were zero. Contexts of a file do
 * not share slots or programs, but buffers, syncobjs and the numbers of queues.
 *
 * -EPERM: CAP_SYS_NICE is missing; -ENOSPC: too many contexts of this file.
 */
struct drm_nnpu_context_create {
	__u32 flags;
	__u32 weight;
	__u64 mem_limit;
	__u64 time_limit_ns;
	__u32 num_priorities;
	__u32 ctx;
};

/**
 * struct drm_nnpu_context_destroy - end a context, lost or not
 * @ctx: context number. 0: the next call that needs context 0 makes a new one
 * @flags: zero
 *
 * Its queues end, its jobs that wait are cancelled, those that run are aborted, as if the
 * file were closed. Buffers stay, and their mappings. Calls of other threads that
 * use the context end first or give -ENOENT.
 */
struct drm_nnpu_context_destroy {
	__u32 ctx;
	__u32 flags;
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
 * @handle: GEM handle; -EINVAL for an imported dma-buf, which is mapped through its
 *	own descriptor, and for memory of a process
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

/* The CPU is going to read, or has read. */
#define DRM_NNPU_BO_READ		(1u << 0)
/* The CPU is going to write, or has written. */
#define DRM_NNPU_BO_WRITE		(1u << 1)
/* BO_PREP: the caller has waited for the jobs that use the range, and does not wait for others. */
#define DRM_NNPU_BO_NO_WAIT		(1u << 2)

/**
 * struct drm_nnpu_bo_prep - the CPU is going to access a part of a buffer
 * @handle: GEM handle, of whatever kind
 * @flags: DRM_NNPU_BO_READ, DRM_NNPU_BO_WRITE, at least one; DRM_NNPU_BO_NO_WAIT
 * @offset: first byte
 * @size: bytes, not 0, inside the buffer
 * @timeout_ns: CLOCK_MONOTONIC, absolute, ns; a time in the past: do not sleep
 *
 * Waits for fences in the reservation of the buffer, which are those of all jobs that name any
 * part of it: for those of writers if the CPU is going to read, for all if it is going to write.
 * Then the range belongs to the CPU, until BO_FINI: with DRM_NNPU_BO_READ it sees what the device
 * wrote before. A CPU that writes only a part of a line of its caches (of 128 bytes at most) reads
 * the line, too.
 *
 * What the device writes to the range until BO_FINI, and what the CPU writes to it outside of the
 * two calls, may be lost. Other ranges are not affected. A range may be given away again without
 * having been touched. Memory that is coherent needs neither call: that of a device without
 * DRM_NNPU_DEVICE_SYNC, imported dma-bufs, memory of a process.
 *
 * The time depends on @size, and passes in the call, with no lock that others need. -ENOENT: no
 * such handle; -EINVAL: a flag, the range; -ETIME: fences have not signalled until @timeout_ns;
 * -EINTR: a signal arrived while it waited, or the process is killed; -ENODEV: the device is gone,
 * and what it wrote and the CPU has not seen yet is lost.
 */
struct drm_nnpu_bo_prep {
	__u32 handle;
	__u32 flags;
	__u64 offset;
	__u64 size;
	__s64 timeout_ns;
};

/**
 * struct drm_nnpu_bo_fini - the device may access a part of a buffer again
 * @handle: GEM handle, of whatever kind
 * @flags: DRM_NNPU_BO_READ, DRM_NNPU_BO_WRITE, at least one: what the CPU did since BO_PREP
 * @offset: first byte
 * @size: bytes, not 0, inside the buffer
 *
 * With DRM_NNPU_BO_WRITE the jobs that are submitted, the entries that are rung for and the
 * programs that are loaded after the call see what the CPU wrote. A new buffer belongs to the
 * CPU until the first SLOT_BIND, and to the device then, with what it contains.
 *
 * Does not wait for fences. The time depends on @size, as that of BO_PREP. -ENOENT: no such
 * handle; -EINVAL: a flag, the range; -EINTR: the process is killed; -ENODEV: the device is gone.
 */
struct drm_nnpu_bo_fini {
	__u32 handle;
	__u32 flags;
	__u64 offset;
	__u64 size;
};

/* The device may write: the memory is pinned for writing. */
#define DRM_NNPU_USERPTR_WRITE		(1u << 0)

/**
 * struct drm_nnpu_bo_userptr - make a buffer of memory of the calling process
 * @addr: address, a multiple of the page size of the host
 * @size: bytes, a multiple of the page size of the host, not 0, at most the largest slot
 * @flags: DRM_NNPU_USERPTR_WRITE; without it the device may only read
 * @handle: out: GEM handle
 *
 * The call pins the pages that are at @addr now. They stay the same pages until the buffer is
 * freed: not swapped, not moved, not copied by fork(). The buffer keeps them when the process
 * unmaps them, truncates their file or exits; what is mapped at @addr after that is not
 * the buffer's. Each byte that a job writes is what the process reads there, without a copy.
 *
 * The buffer is bound to slots as any other. It has no mmap offset and is not exported.
 * The pages are charged to the calling user until the buffer is freed, or the driver unbound.
 *
 * -EINVAL: a size, an address or a flag; -EDQUOT: the user would have more than RLIMIT_MEMLOCK
 * of the process, and CAP_IPC_LOCK is missing; -EFAULT: part of the memory is not
 * mapped, not readable, not writable (with the flag), or of a kind that cannot be pinned:
 * memory of a device, buffers of a driver, with the flag a shared mapping of a file that is
 * neither shmem nor hugetlbfs; -EOPNOTSUPP: the memory is a file on DAX, or the device does not
 * see what is in CPU caches; -EINTR: the process was killed; -ENODEV; -ENOMEM.
 */
struct drm_nnpu_bo_userptr {
	__u64 addr;
	__u64 size;
	__u32 flags;
	__u32 handle;
};

/* Memory of the host: the buffer's own pages, or those of an imported dma-buf. */
#define DRM_NNPU_SLOT_KIND_HOST		0
/* Reserved: memory of the device, which the CPU does not map. */
#define DRM_NNPU_SLOT_KIND_DEVICE	1

/* The device may read. */
#define DRM_NNPU_SLOT_READ		(1u << 0)
/* The device may write. */
#define DRM_NNPU_SLOT_WRITE		(1u << 1)

/**
 * struct drm_nnpu_slot_bind - let the device access a buffer or a part of it
 * @handle: GEM handle, of whatever kind
 * @flags: DRM_NNPU_SLOT_READ, DRM_NNPU_SLOT_WRITE, at least one
 * @offset: first byte, multiple of the device page size
 * @size: bytes, multiple of the device page size, not 0, inside the buffer
 * @ctx: context
 * @slot: out: slot number, the lowest free one
 * @kind: DRM_NNPU_SLOT_KIND_*
 * @pad: zero
 *
 * The binding holds a reference of the buffer. -ENOENT: no such handle; -ENOSPC:
 * all slots are bound or still in use by jobs; -EOPNOTSUPP: a kind that is reserved;
 * -EACCES: memory of a process that was pinned for reading, with DRM_NNPU_SLOT_WRITE;
 * -EINVAL: range.
 */
struct drm_nnpu_slot_bind {
	__u32 handle;
	__u32 flags;
	__u64 offset;
	__u64 size;
	__u32 ctx;
	__u32 slot;
	__u32 kind;
	__u32 pad;
};

/**
 * struct drm_nnpu_slot_unbind - end a binding
 * @ctx: context
 * @slot: slot number
 * @flags: zero
 * @pad: zero
 *
 * Jobs that were submitted before keep the memory until they end. New jobs cannot
 * name the slot. Its number is free again when the last of those jobs has ended.
 * -ENOENT: the slot is not bound.
 */
struct drm_nnpu_slot_unbind {
	__u32 ctx;
	__u32 slot;
	__u32 flags;
	__u32 pad;
};

/* Only check: load nothing, return 0 as program number, report every command. */
#define DRM_NNPU_PROGRAM_CHECK		(1u << 0)

/**
 * struct drm_nnpu_program_load - load or check a program
 * @image: user pointer to the image, which begins with struct nnpu_program_header.
 *	The driver copies it once and does not use the caller's memory afterwards
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
 * @ctx: context
 * @pad: zero
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
	__u32 ctx;
	__u32 pad;
};

/**
 * struct drm_nnpu_program_unload - unload a program
 * @ctx: context
 * @program: program number
 * @flags: zero
 * @pad: zero
 *
 * Jobs that were submitted before still run. The device frees the program after the
 * last of them. -ENOENT: no such program.
 */
struct drm_nnpu_program_unload {
	__u32 ctx;
	__u32 program;
	__u32 flags;
	__u32 pad;
};

/**
 * struct drm_nnpu_program_save - get a loaded program as an image
 * @ctx: context
 * @program: program number
 * @flags: zero
 * @pad: zero
 * @image: user pointer to @size bytes; may be 0 if @size is 0
 * @size: in: bytes of room at @image; out: bytes of the image, the same in each call. The
 *	driver writes nothing if the room is too small
 *
 * PROGRAM_LOAD of the image gives the same program again, with less work, on a device with the
 * same nnpu_identify.name and firmware. It has the constants, as the device keeps them
 * (NNPU_ENCODING_NATIVE), and no slots. It may be larger than max_program_size: then constants
 * have to be moved to slots before it is loaded. The device checks it as it does any other image.
 *
 * It waits like PROGRAM_LOAD, and for the loads of its context. -ENOENT: no such program;
 * -EOPNOTSUPP: the device does not have NNPU_FEATURE_SAVE; -ENOSPC: the image would have more
 * than 4 GiB; -EIO: the device is at fault. After an error @size is as it was.
 */
struct drm_nnpu_program_save {
	__u32 ctx;
	__u32 program;
	__u32 flags;
	__u32 pad;
	__u64 image;
	__u64 size;
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

/* Run a program. */
#define DRM_NNPU_JOB_EXECUTE		0
/* Copy each input to the output of the same number; needs NNPU_FEATURE_COPY. */
#define DRM_NNPU_JOB_COPY		1

/* Write struct nnpu_profile records to @profile_slot. */
#define DRM_NNPU_SUBMIT_PROFILE		(1u << 0)
/*
 * If a fence of @in_syncs ends with an error, the job ends with it and does not run. A point of
 * a timeline that signalled before SUBMIT and has a point after it has no fence any more, and so
 * no error.
 */
#define DRM_NNPU_SUBMIT_PROPAGATE	(1u << 1)
/* The deadline also ends a job that has begun, at its next point. */
#define DRM_NNPU_SUBMIT_DEADLINE_ABORT	(1u << 2)
/* If the context has as many jobs as it can have, fail with -EBUSY instead of waiting for room. */
#define DRM_NNPU_SUBMIT_NONBLOCK	(1u << 3)

#define DRM_NNPU_PRIORITY_LOW		0
#define DRM_NNPU_PRIORITY_MEDIUM	1
#define DRM_NNPU_PRIORITY_HIGH		2

/**
 * struct drm_nnpu_submit - queue a job
 * @kind: DRM_NNPU_JOB_*
 * @program: DRM_NNPU_JOB_EXECUTE: program number; else 0
 * @flags: DRM_NNPU_SUBMIT_*
 * @priority: DRM_NNPU_PRIORITY_*, a hint that ranks the jobs of this context among
 *	each other
 * @args: user pointer to struct nnpu_arg records: @num_inputs of them, then
 *	@num_outputs; copied once
 * @num_inputs: number of inputs of the program; DRM_NNPU_JOB_COPY: at least 1
 * @num_outputs: number of outputs of the program; DRM_NNPU_JOB_COPY: @num_inputs
 * @arg_stride: sizeof(struct nnpu_arg) as known to the caller
 * @result_slot: slot for the result block (struct nnpu_args_header and the
 *	records) or NNPU_SLOT_NONE
 * @result_offset: byte offset in @result_slot, multiple of 8
 * @profile_slot: slot for profile records; 0 unless DRM_NNPU_SUBMIT_PROFILE
 * @profile_size: bytes of room for profile records
 * @profile_offset: byte offset in @profile_slot, multiple of 8
 * @in_syncs: user pointer; the job starts after all of them have signalled
 * @out_syncs: user pointer; signalled when the job ends, with an error if it
 *	failed
 * @num_in_syncs: entries at @in_syncs
 * @num_out_syncs: entries at @out_syncs
 * @sync_stride: sizeof(struct drm_nnpu_sync) as known to the caller; may be 0 if
 *	there are no syncs
 * @ctx: context
 * @deadline_ns: time of CLOCK_MONOTONIC; a job that has not begun by then ends with -ETIME; 0: none
 * @loop_timeout_ns: longest time for each loop of the program, at most
 *	NNPU_LOOP_TIMEOUT_MAX_NS; 0: NNPU_LOOP_TIMEOUT_DEFAULT_NS. DRM_NNPU_JOB_COPY: 0
 * @duration_ns: a deadline that counts from the time when the fences of @in_syncs had signalled,
 *	but not from before SUBMIT; 0: none. The earlier of the two counts
 *
 * The driver holds the slots that the records name until the job ends. The reservations
 * of their buffers get the fence of the job.
 *
 * The device writes the status of the job to the result block. Software writes
 * NNPU_STATUS_PENDING there first. If the status is still NNPU_STATUS_PENDING when the
 * fence has signalled, the device did not end the job, and the error of the fence says
 * why: -ETIME (the job made no progress, or its deadline passed before the device had it),
 * -ECANCELED (its file or context was closed, or the job was lost in a reset that another
 * job caused), -ENODEV (the device is gone),
 * -EIO (any other reason), with DRM_NNPU_SUBMIT_PROPAGATE the error of an in_sync. If the
 * device ended the job with an error, the fence has -EIO, -EINVAL, -ENOMEM or, with
 * NNPU_STATUS_TIME_LIMIT, NNPU_STATUS_DEADLINE and NNPU_STATUS_LOOP_TIMEOUT, -ETIME.
 *
 * -ENOENT: program, slot or syncobj does not exist; -EINVAL: number of arguments,
 * range outside a slot, missing right of a slot, unknown kind; -EACCES: the context may
 * not have this priority; -EOPNOTSUPP: the device has no DRM_NNPU_JOB_COPY or no deadlines;
 * -EBUSY: DRM_NNPU_SUBMIT_NONBLOCK, and there is no room.
 */
struct drm_nnpu_submit {
	__u32 kind;
	__u32 program;
	__u32 flags;
	__u32 priority;
	__u64 args;
	__u32 num_inputs;
	__u32 num_outputs;
	__u32 arg_stride;
	__u32 result_slot;
	__u64 result_offset;
	__u32 profile_slot;
	__u32 profile_size;
	__u64 profile_offset;
	__u64 in_syncs;
	__u64 out_syncs;
	__u32 num_in_syncs;
	__u32 num_out_syncs;
	__u32 sync_stride;
	__u32 ctx;
	__u64 deadline_ns;
	__u64 loop_timeout_ns;
	__u64 duration_ns;
};

/**
 * struct drm_nnpu_queue_create - create a queue that the process itself rings
 * @flags: zero
 * @priority: DRM_NNPU_PRIORITY_*; ranks the queue in its context. No queue starves
 * @ring_handle: GEM handle of a buffer made by BO_CREATE, not an imported one
 * @sq_entries: entries of the submission ring, power of two, from
 *	drm_nnpu_device_info.min_ring_entries to drm_nnpu_device_info.max_sq_entries
 * @cq_entries: entries of the completion ring, power of two, to
 *	drm_nnpu_device_info.max_cq_entries
 * @sq_offset: bytes from the start of the buffer to the submission ring, multiple
 *	of the device page size
 * @cq_offset: bytes to the completion ring, multiple of the device page size,
 *	another page
 * @queue: out: queue number, not 0
 * @fd: out: descriptor of the queue (close-on-exec): mmap() of
 *	drm_nnpu_device_info.doorbell_size bytes gives its doorbell page, poll() waits
 *	for an armed completion
 * @ctx: context
 *
 * nnpu_rings.h has the entries and the doorbells; ctx of an entry is 0. A ring is in one
 * page of the device. A new queue starts at index 0 and
 * phase 1. The queue gets a hardware queue when its doorbell is rung, gives it
 * back when it is idle, and keeps its indices meanwhile.
 *
 * The process that created the queue can map the doorbell page, shared and
 * writable (-EPERM for another process, -EBUSY for a second mapping). A child does
 * not inherit the mapping. The mapping can neither be moved nor split. Writes to
 * the page of a queue that has ended have no effect.
 *
 * A completion raises an interrupt only after NNPU_DB_CQ_ARM was rung. poll() then
 * gives EPOLLIN until read() has taken the count of interrupts: eight bytes, as of
 * an eventfd; false alarms count as well. When the queue has ended, poll() gives
 * EPOLLERR and EPOLLHUP.
 *
 * The queue ends with QUEUE_DESTROY, when its descriptor and mapping are closed, when
 * its context is destroyed, or when the file is closed. It also ends when the device is
 * reset, when the device stops it because of its rings or doorbells, and when one of its
 * jobs hangs and cannot be aborted: see QUEUE_WAIT.
 *
 * -EOPNOTSUPP: the device cannot do it or the module parameter user_queues is off;
 * -ENOENT: no such handle; -EINVAL: range, imported buffer; -ENOSPC: too many
 * queues; -EACCES: the context may not have this priority; -EMFILE, -ENFILE:
 * descriptors.
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
	__u32 ctx;
};

/**
 * struct drm_nnpu_queue_destroy - end a queue
 * @queue: queue number
 * @flags: zero
 *
 * The device aborts the job that runs. When the call returns, the device does not
 * access the rings any more and the doorbell mapping has no effect. -ENOENT: no
 * such queue.
 */
struct drm_nnpu_queue_destroy {
	__u32 queue;
	__u32 flags;
};

/* The queue works. */
#define DRM_NNPU_QUEUE_STATE_READY	0
/* The device stopped the queue because of an entry in its rings or a doorbell value. */
#define DRM_NNPU_QUEUE_STATE_STOPPED	1
/* A job made no progress and could not be aborted alone. */
#define DRM_NNPU_QUEUE_STATE_HUNG	2
/* The context was lost in a device reset. */
#define DRM_NNPU_QUEUE_STATE_LOST	3
/* The device is gone. */
#define DRM_NNPU_QUEUE_STATE_GONE	4
/* QUEUE_DESTROY, CONTEXT_DESTROY, or the descriptor or the device file was closed. */
#define DRM_NNPU_QUEUE_STATE_DESTROYED	5

/**
 * struct drm_nnpu_queue_wait - wait for completions
 * @queue: queue number
 * @flags: zero
 * @cq_head: index of the first completion entry the caller has not seen
 * @state: out: DRM_NNPU_QUEUE_STATE_*
 * @reason: out: NNPU_STATUS_* for DRM_NNPU_QUEUE_STATE_STOPPED, else 0
 * @pad: zero
 * @timeout_ns: CLOCK_MONOTONIC, absolute, ns; a time in the past: do not sleep
 *
 * Arms the interrupt for completions beyond @cq_head and sleeps. Returns 0 when
 * there may be one (false alarms happen) and when the queue has ended; @state says
 * which. -ETIME: neither happened until @timeout_ns; -ENOENT: no such queue;
 * -EINVAL: @cq_head is no index of the ring.
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
#define DRM_IOCTL_NNPU_PROGRAM_SAVE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_PROGRAM_SAVE, struct drm_nnpu_program_save)
#define DRM_IOCTL_NNPU_BO_PREP \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_BO_PREP, struct drm_nnpu_bo_prep)
#define DRM_IOCTL_NNPU_BO_FINI \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_BO_FINI, struct drm_nnpu_bo_fini)
#define DRM_IOCTL_NNPU_BO_USERPTR \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_BO_USERPTR, struct drm_nnpu_bo_userptr)
#define DRM_IOCTL_NNPU_SUBMIT \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_SUBMIT, struct drm_nnpu_submit)
#define DRM_IOCTL_NNPU_QUEUE_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_QUEUE_CREATE, struct drm_nnpu_queue_create)
#define DRM_IOCTL_NNPU_QUEUE_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_QUEUE_DESTROY, struct drm_nnpu_queue_destroy)
#define DRM_IOCTL_NNPU_QUEUE_WAIT \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_QUEUE_WAIT, struct drm_nnpu_queue_wait)
#define DRM_IOCTL_NNPU_CONTEXT_CREATE \
	DRM_IOWR(DRM_COMMAND_BASE + DRM_NNPU_CONTEXT_CREATE, struct drm_nnpu_context_create)
#define DRM_IOCTL_NNPU_CONTEXT_DESTROY \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NNPU_CONTEXT_DESTROY, struct drm_nnpu_context_destroy)

NNPU_ASSERT_SIZE(struct drm_nnpu_query, 24);
NNPU_ASSERT_SIZE(struct drm_nnpu_clock, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_device_info, 104);
NNPU_ASSERT_SIZE(struct drm_nnpu_context_info, 72);
NNPU_ASSERT_SIZE(struct drm_nnpu_context_create, 32);
NNPU_ASSERT_SIZE(struct drm_nnpu_context_destroy, 8);
NNPU_ASSERT_SIZE(struct drm_nnpu_bo_create, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_bo_mmap, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_bo_prep, 32);
NNPU_ASSERT_SIZE(struct drm_nnpu_bo_fini, 24);
NNPU_ASSERT_SIZE(struct drm_nnpu_slot_bind, 40);
NNPU_ASSERT_SIZE(struct drm_nnpu_slot_unbind, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_program_load, 64);
NNPU_ASSERT_SIZE(struct drm_nnpu_program_unload, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_program_save, 32);
NNPU_ASSERT_SIZE(struct drm_nnpu_sync, 16);
NNPU_ASSERT_SIZE(struct drm_nnpu_submit, 120);
NNPU_ASSERT_SIZE(struct drm_nnpu_queue_create, 48);
NNPU_ASSERT_SIZE(struct drm_nnpu_queue_destroy, 8);
NNPU_ASSERT_SIZE(struct drm_nnpu_queue_wait, 32);

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_NNPU_ACCEL_H_ */
