/* SPDX-License-Identifier: MIT */
/*
 * The NNPU device model inside this process: registers, doorbells, interrupts and
 * DMA without a virtual machine and without a kernel.
 *
 * The caller acts as the driver, exactly as Documentation/hardware/ describes
 * it: reset, set up the admin rings, ENABLE, IDENTIFY, CREATE_QUEUE (with
 * NNPU_QUEUE_KERNEL or for a context), CREATE_CTX, slots, LOAD_PROGRAM, EXECUTE.
 *
 * DMA addresses are virtual addresses of this process. The device reaches only
 * memory that was registered as a region; an access outside fails as a bus error
 * (NNPU_STATUS_DMA_ERROR). So rings, slot tables, page tables, argument blocks,
 * images and operands all have to be registered. The simplest way is to register one
 * allocation for everything shared with the device, and each user buffer when it is
 * bound. Alignment is as the specification demands (pages have 4096 bytes).
 * A slot may use levels = 0 (contiguous memory at a page-aligned address; its size
 * may be any number of bytes).
 *
 * All functions may be called from any thread at any time, except destroy.
 */
#ifndef NNPU_EMU_INPROC_H
#define NNPU_EMU_INPROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device_model.h"

struct nnpu_inproc;

/* The device may read a region, or write it. */
#define NNPU_INPROC_READ	(1u << 0)
#define NNPU_INPROC_WRITE	(1u << 1)

/**
 * struct nnpu_inproc_config - a new device
 * @props: properties; start from nnpu_device_default_props(). num_vectors should
 *	be num_queues + 1 for a vector of its own per queue (vector 0: admin queue).
 *	With poll_ns > 0 submission is faster and an engine thread stays awake for
 *	that long after each job
 * @irq: called when a vector is raised, on a thread of the device or within a
 *	register or doorbell write; must not wait for the device. May be NULL: the
 *	counters below work in any case
 * @log: called for software errors and, with @trace, for every command and job.
 *	May be NULL
 * @opaque: passed to @irq and @log
 * @trace: log NNPU_LOG_TRACE lines as well
 */
struct nnpu_inproc_config {
	struct nnpu_device_props props;
	void (*irq)(void *opaque, unsigned int vector);
	void (*log)(void *opaque, enum nnpu_log_level level, const char *text);
	void *opaque;
	bool trace;
};

/* Defaults: nnpu_device_default_props(), one vector per queue, no callbacks. */
void nnpu_inproc_default_config(struct nnpu_inproc_config *config);

/*
 * Create a device, just powered on. NULL with a text in @error (@size bytes, may be
 * NULL and 0) when a property is out of range or memory or threads run out.
 */
struct nnpu_inproc *nnpu_inproc_create(const struct nnpu_inproc_config *config,
				       char *error, size_t size);

/*
 * Power off: end running jobs, without completions, and all threads of the device, and
 * free everything. No other call may be in progress, not even nnpu_inproc_wait_irq().
 * Regions need not be unregistered before.
 */
void nnpu_inproc_destroy(struct nnpu_inproc *ip);

/*
 * Let the device access [addr, addr + len) as @access says (NNPU_INPROC_READ | _WRITE).
 * Regions may be adjacent and may overlap: the device may do what one of them allows. 0; -EINVAL:
 * empty, wraps, no or unknown access bit; -ENOMEM. An access may span adjacent regions.
 */
int nnpu_inproc_register(struct nnpu_inproc *ip, const void *addr, size_t len,
			 unsigned int access);

/*
 * Take back a registration. When it returns the device does not access what no other registration
 * has, and will not again; the memory may be freed. 0; -EINVAL as above; -ENOENT: not registered.
 */
int nnpu_inproc_unregister(struct nnpu_inproc *ip, const void *addr, size_t len,
			   unsigned int access);

/*
 * Let the device read a file that may shrink, at addresses of the process that lead nowhere:
 * [addr, addr + len) is a mapping without access, for example, so that nothing else is registered
 * there. Bytes that the file does not have are a bus error. @fd stays open until
 * nnpu_inproc_unregister_file() has returned. 0; -EINVAL as above; -ENOMEM.
 */
int nnpu_inproc_register_file(struct nnpu_inproc *ip, const void *addr, size_t len, int fd,
			      uint64_t offset);
/* When it returns the device does not read the file, and will not again. */
void nnpu_inproc_unregister_file(struct nnpu_inproc *ip, const void *addr);

/* Registers: offsets are NNPU_REG_* and the queue windows at NNPU_QREG_BASE. */
uint32_t nnpu_inproc_read32(struct nnpu_inproc *ip, uint32_t offset);
void nnpu_inproc_write32(struct nnpu_inproc *ip, uint32_t offset, uint32_t value);

/*
 * Doorbell of queue @qid; @offset is NNPU_DB_*. What the caller wrote to memory
 * before is visible to the device afterwards.
 */
void nnpu_inproc_doorbell(struct nnpu_inproc *ip, unsigned int qid, uint32_t offset,
			  uint32_t value);

/*
 * How often vector @vector has been raised. To lose no interrupt, read it before looking at
 * a ring, then wait for it to change.
 */
uint64_t nnpu_inproc_irq_count(struct nnpu_inproc *ip, unsigned int vector);

/*
 * Sleep until the counter of @vector differs from @seen. Returns 0, -ETIMEDOUT after
 * @timeout_ns (< 0: no limit), -EINVAL for a vector that does not exist.
 */
int nnpu_inproc_wait_irq(struct nnpu_inproc *ip, unsigned int vector, uint64_t seen,
			 int64_t timeout_ns);

/*
 * A pollable file descriptor (eventfd, non-blocking, close-on-exec) that counts the
 * interrupts of @vector from the first call on. Owned by the device, closed by
 * nnpu_inproc_destroy(). Negative errno if it cannot be made.
 */
int nnpu_inproc_irq_eventfd(struct nnpu_inproc *ip, unsigned int vector);

/* The device, for nnpu_device_power_on_reset(). */
struct nnpu_device *nnpu_inproc_device(struct nnpu_inproc *ip);

#endif /* NNPU_EMU_INPROC_H */
