/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_DEVICE_H_
#define _NNPU_DEVICE_H_

#include <linux/atomic.h>
#include <linux/io.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/srcu.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/nnpu_accel.h>

#include "nnpu_admin.h"
#include "nnpu_dump.h"
#include "nnpu_hw.h"
#include "nnpu_irq.h"
#include "nnpu_param.h"
#include "nnpu_power.h"
#include "nnpu_queue.h"
#include "nnpu_quota.h"
#include "nnpu_release.h"
#include "nnpu_sleep.h"
#include "nnpu_table.h"
#include "nnpu_userq.h"

/**
 * DOC: Lock order
 *
 * Outermost first. A lock may be taken while locks above it in this list are held, never
 * while a lock below it is held.
 *
 * Documentation/driver.rst, section "Locks", has the same list with more words.
 *
 * 1. nnpu_file.lock: creation of context 0 of a file, and of what the first job of a context
 *    needs; or nnpu_ctx.command_lock: an ioctl that sends a command
 * 2. nnpu_device_enter() section: protects every use of registers and DMA memory. To enter one
 *    never waits; only nnpu_device_wait_users() waits for the sections, with no lock of this list
 *    held. So SUBMIT may enter one with 4 held, and nnpu_userq_hw_account() with 9
 * 3. nnpu_ctx.lock: DMA memory of slots and of the slot table
 * 4. reservations of buffers (dma_resv), then nnpu_device.bo_lock: list of buffers. No
 *    reference of a buffer is dropped with one of them held: nnpu_gem_free() takes
 *    drm_device.object_name_lock, which PRIME import holds around 2 and 4
 * 5. nnpu_ctx.load_lock, then nnpu_device.load_room: a load, which lasts
 * 6. nnpu_userqs.hw_lock: changes of hardware queues of user queues. Then
 *    nnpu_userq.map_lock: the doorbell page. The fault handler takes it with the mmap_lock
 *    held. Its holder inserts and zaps pages, so it takes locks of the memory management
 * 7. nnpu_power.lock: changes of the performance level. Waiting for runtime PM
 *    (nnpu_power_get()) counts as taking this lock: its callbacks take it
 * 8. nnpu_device.reset_sem: read for an admin command, write for a device reset
 * 9. nnpu_userqs.lock: states of user queues. Its holder does not allocate, and takes no
 *    lock of the memory management
 * 10. nnpu_device.contexts and the tables of a context (spinlock of the XArray),
 *    nnpu_qpair.lock and nnpu_userqs.irq_lock (spinlocks, taken in interrupts), nnpu_quota.lock
 *    and nnpu_release.lock (spinlocks). Then nnpu_event_lock, the spinlock of the events of
 *    netlink
 *
 * nnpu_netlink_lock (devices of netlink) is beside this list: its holder takes no lock, and it is
 * taken with none of these held. The work item of the events holds net_rwsem; of this list it takes
 * nnpu_event_lock only. nnpu_device.counter_lock is innermost, too: its holder reads two registers,
 * and it is taken in a section, with no spinlock held.
 *
 * The work items of nnpu_device.reset_wq (watchdog, device reset, pause) never run at the
 * same time. Fences are signalled, and callbacks are added to them, with no spinlock of the driver
 * held. The callback of an in-fence takes no lock of the driver. nnpu_deps.lock is taken with none
 * of these held, and its holder takes none. Code on the way to a fence signal (the commit of
 * SUBMIT, interrupt handlers, the work items of nnpu_sched_wq and reset_wq) takes only 2, 8 to 10
 * and counter_lock, and does not allocate memory. dma_fence_begin_signalling() tells lockdep where
 * this code begins.
 */

/**
 * DOC: Out of scope
 *
 * Implicit synchronisation: a job waits for its in-fences only. The driver adds the job's fence to
 * the reservations of all its buffers, so that others can wait for it. Of private buffers, too: one
 * may be exported while the job runs.
 */

struct nnpu_device;
struct nnpu_totals;

/**
 * struct nnpu_bus_ops - what the core asks of the bus glue
 * @power_on: after this registers answer, and the device accesses no memory before it is enabled.
 *	NULL: the bus does that
 * @power_off: the device, stopped, loses its state. Nobody uses it until @power_on. NULL as above
 * @reset: reset the device from outside; registers answer afterwards. May sleep, not for long.
 *	NULL: there is no such reset
 * @start_dma: let the device access memory. NULL: it may as soon as it is enabled
 * @stop_dma: keep the device from accessing memory, whatever state it is in. It may lose its state,
 *	and its registers need not answer. Only a pause, with its power off and on, ends this
 * @keep_state: the device may be runtime-suspended from now on, and must not lose its state then
 * @suspend: it is being runtime-suspended. NULL: there is nothing to do
 * @resume: it has been runtime-resumed. NULL as above
 *
 * Contexts, programs and queues exist only in the device. So the core has the bus keep it powered
 * while the driver is bound, but in system sleep, where it is paused.
 */
struct nnpu_bus_ops {
	int (*power_on)(struct nnpu_device *ndev);
	void (*power_off)(struct nnpu_device *ndev);
	void (*reset)(struct nnpu_device *ndev);
	void (*start_dma)(struct nnpu_device *ndev);
	void (*stop_dma)(struct nnpu_device *ndev);
	void (*keep_state)(struct nnpu_device *ndev);
	void (*suspend)(struct nnpu_device *ndev);
	void (*resume)(struct nnpu_device *ndev);
};

/**
 * struct nnpu_limits - register LIMITS*, bounded by what the driver supports
 * @max_queues: I/O queues
 * @max_entries: entries of a ring
 * @db_shift: log2 of bytes per doorbell page, register DB_STRIDE: that of a CPU page if the
 *	device can, else less
 * @max_contexts: contexts
 * @max_slots: slots of a context
 * @num_engines: jobs at the same time
 * @max_programs: programs of a context
 * @max_args: inputs plus outputs of a job
 * @max_program_size: largest image, bytes
 */
struct nnpu_limits {
	u32 max_queues;
	u32 max_entries;
	u32 db_shift;
	u32 max_contexts;
	u32 max_slots;
	u32 num_engines;
	u32 max_programs;
	u32 max_args;
	u32 max_program_size;
};

/**
 * struct nnpu_stats - live objects and events, for debugfs and tests
 * @clients: open files
 * @contexts: contexts
 * @slots: slots, including those that are unbound but still in use by jobs
 * @programs: programs, likewise
 * @jobs: jobs not yet freed
 * @buffers: GEM objects
 * @queues: user queues
 * @pinned_bytes: pinned user memory
 * @lost_irqs: completions that the watchdog found before an interrupt came
 * @unknown_cids: completions dropped because no command has that id
 * @bad_completions: completions with an unknown status or an impossible field
 * @lost_jobs: jobs that the device had ended without a valid completion
 * @hangs: jobs aborted because they made no progress
 * @queue_resets: queue resets
 * @device_resets: device resets
 * @admin_timeouts: admin commands without answer
 */
struct nnpu_stats {
	atomic_t clients;
	atomic_t contexts;
	atomic_t slots;
	atomic_t programs;
	atomic_t jobs;
	atomic_t buffers;
	atomic_t queues;
	atomic64_t pinned_bytes;
	atomic64_t lost_irqs;
	atomic64_t unknown_cids;
	atomic64_t bad_completions;
	atomic64_t lost_jobs;
	atomic64_t hangs;
	atomic64_t queue_resets;
	atomic64_t device_resets;
	atomic64_t admin_timeouts;
};

/**
 * struct nnpu_device - an NNPU
 * @drm: DRM device
 * @bus: bus glue
 * @bus_data: its own
 * @users: sections of nnpu_device_enter()
 * @regs: registers, valid until unplug
 * @counter_lock: held to read the LO register of a counter, and the HI that it latches
 * @dma_stopped: @bus keeps the device from accessing memory
 * @doorbells: doorbell pages, valid until unplug
 * @doorbells_size: bytes at @doorbells
 * @doorbells_phys: physical address of @doorbells
 * @irqs: interrupts by vector
 * @irq_line: interrupt number of the line for all vectors, 0: each has a number of its own
 * @num_irqs: vectors, at least 1; see NNPU_IRQ_*. If there are too few, queues share
 *	the last one
 * @irqs_requested: handlers that are installed
 * @irqs_ignored: they use no registers; see nnpu_irq_ignore()
 * @coherent: the device sees what CPU caches hold, and memory itself
 * @features: register FEATURES
 * @hw_version: register VERSION
 * @timeout_ms: register TIMEOUT_MS: worst time of a CTRL transition, bounded
 * @limits: limits
 * @identify: answer to IDENTIFY at probe, constant afterwards
 * @extensions: vendor extensions with a valid description, constant after probe
 * @num_extensions: entries of @extensions
 * @identify_dma: DMA address of @identify_mem
 * @identify_mem: where IDENTIFY writes
 * @load_room: loads that the device has room for beside those that it has
 * @admin: admin queue
 * @queue: kernel queue
 * @userqs: user queues
 * @power: runtime power management
 * @release: deferred releases of contexts, slots and programs
 * @contexts: contexts by hardware number
 * @quota: how users share @contexts
 * @clients: struct nnpu_tally of open files, by drm_file.client_id
 * @totals: counters of all clients
 * @netlink_id: number in netlink, constant
 * @netlink_node: entry of the devices of netlink
 * @reset_sem: read: an admin command is under way; write: device reset
 * @reset_wq: ordered: watchdog and device reset
 * @reset_work: device reset on request
 * @reset_asked: the next one was asked for by netlink
 * @reset_count: device resets since probe, failed ones included, and pauses
 * @reset_wanted: value that @reset_count must reach; see nnpu_reset_sync()
 * @stopping: set before unplug or a pause waits for @reset_sem: no load begins any more
 * @paused: see nnpu_pause.c: the device has no contexts and accesses no memory, and
 *	nnpu_device_enter() refuses. Written under @reset_sem, read anywhere
 * @pause_work: begins a pause
 * @sleep: contexts that survive a pause for system sleep
 * @pause_wait: woken when @paused becomes false, and by unplug
 * @dead: a reset failed, the device vanished, or the driver is being removed:
 *	everything gives -ENODEV. Written under @reset_sem, read anywhere
 * @dump: dump of the first hang
 * @bo_lock: protects @bo_list
 * @bo_list: buffers that may have a DMA mapping; unplug takes the mappings away
 * @unplug_wait: unplug waits until what is being freed has no DMA memory any more
 * @stats: counters
 */
struct nnpu_device {
	struct drm_device drm;
	const struct nnpu_bus_ops *bus;
	void *bus_data;
	struct srcu_struct users;
	void __iomem *regs;
	struct mutex counter_lock;	/* see above */
	bool dma_stopped;
	void __iomem *doorbells;
	resource_size_t doorbells_size;
	resource_size_t doorbells_phys;
	struct nnpu_irq irqs[NNPU_IRQ_MAX];
	unsigned int irq_line;
	unsigned int num_irqs;
	unsigned int irqs_requested;
	bool irqs_ignored;
	bool coherent;

	u64 features;
	u32 hw_version;
	u32 timeout_ms;
	struct nnpu_limits limits;
	struct nnpu_identify *identify;
	struct nnpu_extension *extensions;
	u32 num_extensions;
	dma_addr_t identify_dma;
	void *identify_mem;

	struct semaphore load_room;
	struct nnpu_admin admin;
	struct nnpu_queue queue;
	struct nnpu_userqs userqs;
	struct nnpu_power power;
	struct nnpu_release release;
	struct nnpu_table contexts;
	struct nnpu_quota *quota;
	struct xarray clients;
	struct nnpu_totals __percpu *totals;
	u32 netlink_id;
	struct list_head netlink_node;

	struct rw_semaphore reset_sem;
	struct workqueue_struct *reset_wq;
	struct work_struct reset_work;
	bool reset_asked;
	atomic64_t reset_count;
	atomic64_t reset_wanted;
	bool stopping;
	bool paused;
	struct work_struct pause_work;
	struct nnpu_sleep sleep;
	wait_queue_head_t pause_wait;
	bool dead;
	struct nnpu_dump dump;

	/* bo_list */
	struct mutex bo_lock;
	struct list_head bo_list;
	wait_queue_head_t unplug_wait;

	struct nnpu_stats stats;
};

#define to_nnpu_device(d)	container_of(d, struct nnpu_device, drm)

static inline u32 nnpu_read(struct nnpu_device *ndev, u32 reg)
{
	return readl(ndev->regs + reg);
}

static inline void nnpu_write(struct nnpu_device *ndev, u32 reg, u32 value)
{
	writel(value, ndev->regs + reg);
}

/* LO first: it latches HI. */
static inline u64 nnpu_read64(struct nnpu_device *ndev, u32 lo)
{
	u32 low = nnpu_read(ndev, lo);

	return (u64)nnpu_read(ndev, lo + 4) << 32 | low;
}

static inline u32 nnpu_read_queue(struct nnpu_device *ndev, u16 qid, u32 qreg)
{
	return nnpu_read(ndev, NNPU_QREG_BASE + qid * NNPU_QREG_STRIDE + qreg);
}

static inline void nnpu_read_engine(struct nnpu_device *ndev, u32 engine,
				    struct nnpu_watchdog_sample *s)
{
	u32 base = NNPU_EREG_BASE + engine * NNPU_EREG_STRIDE;

	s->current_job = nnpu_read(ndev, base + NNPU_EREG_CURRENT);
	s->progress = nnpu_read(ndev, base + NNPU_EREG_PROGRESS);
}

bool nnpu_device_enter(struct nnpu_device *ndev, int *idx);
void nnpu_device_exit(struct nnpu_device *ndev, int idx);
int nnpu_device_init_users(struct nnpu_device *ndev);
void nnpu_device_wait_users(struct nnpu_device *ndev);
u64 nnpu_device_read_counter(struct nnpu_device *ndev, u32 lo);
u64 nnpu_device_read_clock(struct nnpu_device *ndev, u64 *monotonic_ns);
u32 nnpu_device_show_register(struct nnpu_device *ndev, u32 reg);
int nnpu_device_poll(struct nnpu_device *ndev, u32 reg, u32 mask, u32 value, u32 timeout_ms);
void nnpu_device_start_dma(struct nnpu_device *ndev);
int nnpu_device_disable(struct nnpu_device *ndev);
int nnpu_device_hw_reset(struct nnpu_device *ndev);

#endif /* _NNPU_DEVICE_H_ */
