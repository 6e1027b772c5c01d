/* SPDX-License-Identifier: MIT */
/*
 * Transports: the kernel driver, or the device model in the process.
 *
 * The operations are those of the driver's ioctl interface, so the rest of the library does
 * not depend on the transport. Errors are negative errno values as defined in
 * uapi/drm/nnpu_accel.h. All operations except close() may be called from any thread at any
 * time.
 */
#ifndef NNHAL_TRANSPORT_H
#define NNHAL_TRANSPORT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/nnpu_program.h>
#include <nnhal/types.h>

#include "base/fence_fd.h"

struct transport;
struct transport_fence;
struct nnpu_sqe;
struct nnpu_cqe;

/*
 * Zeroed memory, mapped in the process and visible to the device. NULL in @map: no buffer;
 * slot 0 is a slot like any other.
 */
struct transport_bo {
	uint32_t slot;
	uint32_t handle;		/* of the transport */
	void *map;
	uint64_t size;
};

#define TRANSPORT_BO_NONE	{ .slot = NNPU_SLOT_NONE }

enum transport_memory_type {
	TRANSPORT_MEMFD,		/* sealed against shrinking */
	TRANSPORT_DMABUF,
};

#define TRANSPORT_READ		(1u << 0)
#define TRANSPORT_WRITE		(1u << 1)

/* The result of PROGRAM_LOAD. */
struct transport_load {
	uint32_t program;
	uint32_t status;
	uint32_t reason;
	uint32_t index;
	uint32_t operand;
	uint64_t memory;
	bool is_full;		/* the context has as many programs as it can have */
};

/* One job: an execution, or a copy of each input to the output of its number. */
struct transport_job {
	bool is_copy;			/* no program, no result, no profile */
	uint32_t program;
	uint32_t priority;
	const struct nnpu_arg *args;	/* inputs, then outputs */
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t result_slot;		/* NNPU_SLOT_NONE: none */
	uint64_t result_offset;
	bool profile;
	uint32_t profile_slot;
	uint64_t profile_offset;
	uint32_t profile_size;
	uint64_t loop_timeout_ns;	/* 0: the device's default */
	uint64_t deadline_ns;		/* CLOCK_MONOTONIC; 0: none; ends a running job, too */
	/* Descriptors of fences, not read after submit(). The job ends with the error of one of them. */
	const int *in_fences;
	uint32_t num_in_fences;
	uint64_t duration_ns;		/* a deadline from the end of these on; 0: none */
	bool no_wait;			/* without room for the job: -EBUSY */
	struct transport_fence *fence;	/* signalled when the job ends */
};

/* State of a queue, DRM_NNPU_QUEUE_STATE_*: READY, or why it has ended. */
enum transport_queue_state {
	TRANSPORT_QUEUE_READY = 0,
	TRANSPORT_QUEUE_STOPPED = 1,
	TRANSPORT_QUEUE_HUNG = 2,
	TRANSPORT_QUEUE_LOST = 3,
	TRANSPORT_QUEUE_GONE = 4,
	TRANSPORT_QUEUE_DESTROYED = 5,
};

/*
 * A queue whose rings and doorbell the process uses itself. The hardware specification
 * defines rings, entries and doorbells, for a queue that belongs to a context and has
 * NNPU_QUEUE_ARMED_IRQ. Indices start at 0, the phase bit starts with 1. All queues have the
 * same numbers of entries: they are constants on the hot path of bursts.
 */
#define TRANSPORT_SQ_ENTRIES	64u
#define TRANSPORT_CQ_ENTRIES	128u

struct transport_queue {
	struct nnpu_sqe *sq;
	struct nnpu_cqe *cq;
	/* The doorbell page; NULL: call ring() instead. */
	volatile uint32_t *doorbell;
	void (*ring)(struct transport_queue *queue, uint32_t offset, uint32_t value);
};

struct transport_limits {
	uint32_t max_args;
	uint32_t max_program_size;
	bool can_profile;
	bool can_copy;
	bool has_control_flow;
	bool can_save;
	bool has_deadlines;
	bool pins_memory;
	/*
	 * The process and the device see different bytes of a buffer until transport_give() and
	 * transport_take(). Then there are no queues, and no memory is bound but buffers of the
	 * transport and what storage_create() made.
	 */
	bool needs_sync;
	unsigned int fence_kinds;	/* FENCE_* that in_fences may be */
	uint32_t max_in_fences;
};

struct transport_ops {
	void (*close)(struct transport *t);
	/*
	 * In a child of fork(), which shares the context with its parent: release the
	 * child's descriptors and memory, without a word to the driver. No other function
	 * may be called in a child but queue_free_copy(), before it.
	 */
	void (*close_copy)(struct transport *t);
	void (*queue_free_copy)(struct transport_queue *queue);
	/*
	 * Open another context of the same device: with slots, programs and queues of its
	 * own. NULL: it cannot be had.
	 */
	struct transport *(*open_another)(struct transport *t);
	/* 0; -ENODEV: device gone; -ESTALE: context lost in a reset. */
	int (*health)(struct transport *t);
	/*
	 * Read the device's descriptions of its extensions. The caller frees the array; it is
	 * NULL and @count is 0 if there are none. 0 or -errno.
	 */
	int (*read_extensions)(struct transport *t, struct nnpu_extension **extensions,
			       uint32_t *count);
	/*
	 * Create, map and bind a buffer; read and write. After an error @bo is unchanged.
	 * -ENOSPC: no slot is free, and for nothing else.
	 */
	int (*bo_create)(struct transport *t, uint64_t size, struct transport_bo *bo);
	/* Release a buffer, if it is one; then @bo is none. */
	void (*bo_destroy)(struct transport *t, struct transport_bo *bo);
	/*
	 * For limits.needs_sync: see transport_give() and transport_take(). No job may write to the range.
	 * 0 or -errno: the device is gone.
	 */
	int (*bo_give)(struct transport *t, const struct transport_bo *bo, uint64_t offset,
		       uint64_t size);
	int (*bo_take)(struct transport *t, const struct transport_bo *bo, uint64_t offset,
		       uint64_t size);
	/* Bind the first @size bytes (whole pages) of a memfd or dma-buf. -ENOSPC: as above. */
	int (*bind_fd)(struct transport *t, enum transport_memory_type type, int fd,
		       uint64_t size, uint32_t access, uint32_t *slot);
	/*
	 * Bind @size bytes of a file that may shrink, for a program that is loaded: what the file does not
	 * have by then is a fault of the load. -ENOSPC: as above. NULL: the transport pins
	 * memory, and bind_pointer() is good for such a file, too.
	 */
	int (*bind_file)(struct transport *t, int fd, uint64_t offset, uint64_t size, uint32_t *slot);
	/*
	 * Bind whole pages of the process. With limits.pins_memory the slot keeps the pages, and the
	 * mapping may end; else it stays as long as the slot. -ENOSPC: as above; -EDQUOT: the limit of
	 * locked memory; -EFAULT: not mapped, or cannot be pinned; -EOPNOTSUPP.
	 */
	int (*bind_pointer)(struct transport *t, void *map, uint64_t size, uint32_t access,
			    uint32_t *slot);
	void (*unbind)(struct transport *t, uint32_t slot);
	/*
	 * Create zeroed memory that is good for the device, as a descriptor that bind_fd() takes. The
	 * caller closes it. After an error @type and @fd are unchanged.
	 */
	int (*storage_create)(struct transport *t, uint64_t size,
			      enum transport_memory_type *type, int *fd);
	/*
	 * @reports not NULL: only check, one report per command. -ENOSPC: no number is left
	 * for a program.
	 */
	int (*program_load)(struct transport *t, const void *image, uint32_t size,
			    struct nnpu_command_report *reports, uint32_t num_reports,
			    struct transport_load *result);
	void (*program_unload)(struct transport *t, uint32_t program);
	/*
	 * Write a loaded program as an image to *@size bytes of room; *@size becomes the bytes of
	 * the image. With too little room, or @image NULL, only that. After an error it is as it was.
	 */
	int (*program_save)(struct transport *t, uint32_t program, void *image, uint64_t *size);
	int (*fence_create)(struct transport *t, struct transport_fence **fence);
	void (*fence_destroy)(struct transport *t, struct transport_fence *fence);
	/* A copy without NNPU_FEATURE_COPY, a deadline without NNPU_FEATURE_DEADLINE: -EOPNOTSUPP. */
	int (*submit)(struct transport *t, const struct transport_job *job);
	/*
	 * Wait until at least one of the fences has signalled; @first is its
	 * position. 0; -ETIME after @timeout_ns (<0: no limit); -ENODEV: the device is
	 * gone and no fence will signal any more. A shortage of memory is no error. After
	 * another error nobody knows when the jobs end: they may still write to the
	 * memory that they were given.
	 */
	int (*wait)(struct transport *t, struct transport_fence *const *fences,
		    uint32_t count, int64_t timeout_ns, uint32_t *first);
	/* Error a signalled fence carries, negative, or 0. */
	int (*fence_error)(struct transport *t, struct transport_fence *fence);
	/*
	 * A descriptor of a fence of a job that was submitted and that nobody waits for with
	 * another one. 0 or -errno.
	 */
	int (*fence_export)(struct transport *t, struct transport_fence *fence, int *fd);
	/* Signal a fence from the process; reset it. */
	int (*fence_signal)(struct transport *t, struct transport_fence *fence);
	int (*fence_reset)(struct transport *t, struct transport_fence *fence);
	/*
	 * For entries with NNPU_ARGS_DEADLINE_ABSOLUTE: what the device clock reads at a time of
	 * CLOCK_MONOTONIC, give or take the drift of a second; at least 1. 0 or -errno.
	 */
	int (*device_time)(struct transport *t, uint64_t monotonic_ns, uint64_t *device_ns);
	/*
	 * Create a queue. -EOPNOTSUPP: the device, its driver or its administrator
	 * does not offer such queues, or only others in size; -ENOSPC: too many queues.
	 */
	int (*queue_create)(struct transport *t, uint32_t priority,
			    struct transport_queue **queue);
	/*
	 * A descriptor, the queue's, that becomes readable when the queue ends because the device
	 * or the context is lost. NULL: there is none.
	 */
	int (*queue_fd)(struct transport_queue *queue);
	/*
	 * Abort the job that runs, drop the others; afterwards the device writes nothing for them any
	 * more. Only queue_destroy may follow.
	 */
	void (*queue_stop)(struct transport *t, struct transport_queue *queue);
	/* The same, and free @queue. */
	void (*queue_destroy)(struct transport *t, struct transport_queue *queue);
	/*
	 * Arm the interrupt for completions beyond @cq_head and sleep, in one system
	 * call. 0: there may be a completion, or @state says that the queue has ended.
	 * -ETIME: @until_ns (CLOCK_MONOTONIC) has passed. Other errors: use it no more; a
	 * shortage of memory is none.
	 */
	int (*queue_wait)(struct transport *t, struct transport_queue *queue, uint32_t cq_head,
			  uint64_t until_ns, enum transport_queue_state *state);
};

/* Filled in by the open functions. */
struct transport {
	const struct transport_ops *ops;
	struct transport_limits limits;
	struct nnpu_identify identify;
	char name[64];			/* "nnpu-drm0" */
	char driver[64];		/* version of driver or device model */
	uint8_t build_id[64];		/* of the driver's binary; zero: not known */
};

/* What the process has written to a range of a buffer is for the device, which may write to it. */
static inline int transport_give(struct transport *t, const struct transport_bo *bo, uint64_t offset,
				 uint64_t size)
{
	if (__builtin_expect(!t->limits.needs_sync, 1))
		return 0;
	return t->ops->bo_give(t, bo, offset, size);
}

/* What the device has written to a range of a buffer is for the process: the jobs have ended. */
static inline int transport_take(struct transport *t, const struct transport_bo *bo, uint64_t offset,
				 uint64_t size)
{
	if (__builtin_expect(!t->limits.needs_sync, 1))
		return 0;
	return t->ops->bo_take(t, bo, offset, size);
}

/* Does the device take programs of the version that the library writes? */
static inline bool transport_takes_programs(const struct nnpu_identify *id)
{
	return le16toh(id->program_min) <= NNPU_PROGRAM_VERSION &&
	       le16toh(id->program_max) >= NNPU_PROGRAM_VERSION;
}

/*
 * Open hardware device @index under @root, which is "" except in tests. Statuses of
 * nnhal_device_open().
 */
enum nnhal_status transport_drm_open(const char *root, unsigned int index,
				     struct transport **transport, struct nnhal_diag *diag);

/* Was the in-process device built in? */
bool transport_sim_available(void);

/* Open a new in-process device; @options is what follows "sim:", or "". */
enum nnhal_status transport_sim_open(const char *options, struct transport **transport,
				     struct nnhal_diag *diag);

/*
 * For tests: misbehave as NNPU_INJECT_* say (a device opened with "faults"). False if
 * this is no in-process device.
 */
bool transport_sim_inject(struct transport *t, uint32_t kind, uint32_t count);
/*
 * For tests: is the device at a job of this queue? And abort that job, as a driver's
 * watchdog does. False if there is none: the device may not have fetched it yet.
 */
bool transport_sim_is_running(struct transport *t, struct transport_queue *queue);
bool transport_sim_abort(struct transport *t, struct transport_queue *queue);

/*
 * For tests and benchmarks: a counter of the in-process device, a pair of registers with
 * the lower half at @offset. 0 if this is no in-process device.
 */
uint64_t transport_sim_counter(struct transport *t, uint32_t offset);

#endif /* NNHAL_TRANSPORT_H */
