/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_USERQ_H_
#define _NNPU_USERQ_H_

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "nnpu_hw.h"
#include "nnpu_userq_share.h"
#include "nnpu_watchdog.h"

struct drm_device;
struct drm_file;
struct drm_gem_object;
struct drm_nnpu_queue_create;
struct mm_struct;
struct nnpu_ctx;
struct nnpu_device;
struct nnpu_table;
struct nnpu_tally;
struct page;

/* User queues of one file, of all its contexts. */
#define NNPU_USERQ_PER_FILE	512

/* At most so many hardware queues are for processes. */
#define NNPU_USERQ_HW_MAX	64

/**
 * enum nnpu_userq_state - state of a user queue
 * @NNPU_USERQ_PARKED: no hardware queue; nnpu_userq.saved has its position
 * @NNPU_USERQ_WANTED: parked, and waits for a hardware queue
 * @NNPU_USERQ_ACTIVE: has a hardware queue; the doorbell page may be mapped
 * @NNPU_USERQ_LEAVING: its hardware queue is being suspended or destroyed
 * @NNPU_USERQ_STOPPED: ended: the device stopped it; nnpu_userq.reason says why
 * @NNPU_USERQ_HUNG: ended: a job made no progress and could not be aborted alone
 * @NNPU_USERQ_LOST: ended: the context was lost in a device reset
 * @NNPU_USERQ_GONE: ended: the device was removed
 * @NNPU_USERQ_DESTROYED: ended: QUEUE_DESTROY, or its descriptor or file was closed
 *
 * ::
 *
 *            doorbell fault            CREATE_QUEUE
 *   PARKED -----------------> WANTED ---------------> ACTIVE <--------+
 *     ^                         ^                       | idle, or    | still
 *     | nothing left to do      | work left             | room needed | busy
 *     +-------------------------+---------- LEAVING <---+-------------+
 *
 * Each of these states can change to one of the five that end the queue, ACTIVE by way of
 * LEAVING, or directly if the device was reset or has destroyed the context. Those do not change.
 */
enum nnpu_userq_state {
	NNPU_USERQ_PARKED,
	NNPU_USERQ_WANTED,
	NNPU_USERQ_ACTIVE,
	NNPU_USERQ_LEAVING,
	NNPU_USERQ_STOPPED,
	NNPU_USERQ_HUNG,
	NNPU_USERQ_LOST,
	NNPU_USERQ_GONE,
	NNPU_USERQ_DESTROYED,
};

/**
 * struct nnpu_userq - a user queue
 * @ref: keeps the structure: held by @users (as one), by the descriptor and by each user of the
 *	pointer
 * @users: keep @ctx and @ring: the number of the queue in nnpu_file.userqs, and each change of its
 *	hardware queue; see nnpu_userq_use()
 * @ctx: its context, for users; @users have a reference
 * @ndev: device; a reference of its drm_device is held
 * @id: number in nnpu_file.userqs
 * @number: among all queues of the device, from nnpu_userq_publish() on
 * @priority: NNPU_QUEUE_PRIORITY_*
 * @sq_entries: entries of the submission ring
 * @cq_entries: entries of the completion ring
 * @sq_dma: DMA address of the submission ring
 * @cq_dma: DMA address of the completion ring
 * @ring: buffer of the rings, of which @users have a reference
 * @release_work: release, when the last reference is dropped under a lock
 * @free_work: last step of the release, which drops the reference of the drm_device
 * @mm: address space that may map the doorbell; only compared
 * @dummy: page that replaces the doorbell page when the queue has ended
 * @wait: waiters of QUEUE_WAIT, poll() and the fault handler
 * @events: counts interrupts and changes of state; waiters wait for a change
 * @events_read: value of @events that read() of the descriptor has returned
 * @node: entry of nnpu_userqs.all
 * @sched_node: entry of nnpu_quota_user.wanted or nnpu_userqs.active
 * @state: state; only nnpu_userq_state_set() changes it
 * @end: LEAVING because the queue ends: the state that follows; else 0
 * @reason: NNPU_STATUS_* with NNPU_USERQ_STOPPED, else 0; valid when @state is one of the end
 * @qid: hardware queue while ACTIVE or LEAVING, else 0. The code that sets it to 0 calls
 *	nnpu_power_put_queue()
 * @zap_node: entry of nnpu_userqs.zaps, with a reference
 * @map_lock: keeps inserting and zapping of the doorbell page apart
 * @mapping: address space of the descriptor, NULL when it is closed
 * @mappings: mappings of the doorbell: one, two while mremap() is being refused
 * @resume: SUSPEND_QUEUE has written @saved; CREATE_QUEUE restores it
 * @saved: position of a parked queue
 * @since: when it got its hardware queue or began to leave, jiffies
 * @idle_since: when the watchdog first saw it idle, jiffies
 * @idle_busy: register BUSY when the watchdog read it last
 * @busy: register BUSY when it was accounted last
 * @watchdog: hang detection
 * @aborting: the device was asked to abort the job @abort_job, which has not left yet
 * @abort_job: its engine before the ABORT
 * @abort_since: when the device answered the ABORT, jiffies
 *
 * nnpu_userqs.lock protects @node to @zap_node, and @busy. @map_lock
 * protects @mapping and @mappings. nnpu_userqs.hw_lock protects @resume to @abort_since;
 * while the queue is parked, both protect @saved.
 */
struct nnpu_userq {
	struct kref ref;
	refcount_t users;
	struct nnpu_ctx *ctx;
	struct nnpu_device *ndev;
	u32 id;
	u64 number;
	u32 priority;
	u32 sq_entries;
	u32 cq_entries;
	dma_addr_t sq_dma;
	dma_addr_t cq_dma;
	struct drm_gem_object *ring;
	struct work_struct release_work;
	struct work_struct free_work;
	struct mm_struct *mm;
	struct page *dummy;
	wait_queue_head_t wait;
	atomic_t events;
	atomic_t events_read;

	struct list_head node;
	struct list_head sched_node;
	enum nnpu_userq_state state;
	enum nnpu_userq_state end;
	u32 reason;
	u16 qid;
	struct list_head zap_node;

	struct mutex map_lock;	/* see above */
	struct address_space *mapping;
	unsigned int mappings;

	bool resume;
	struct nnpu_queue_state saved;
	unsigned long since;
	unsigned long idle_since;
	u32 idle_busy;
	u32 busy;
	struct nnpu_watchdog watchdog;
	bool aborting;
	struct nnpu_watchdog_sample abort_job;
	unsigned long abort_since;
};

/**
 * struct nnpu_userqs - the user queues of a device
 * @hw_lock: one change of hardware queues at a time; held across admin commands
 * @lock: protects the states and lists below. Taken on the way to fence signals: nothing is
 *	allocated under it. Of the driver's locks only spinlocks are taken under it
 * @irq_lock: protects @by_qid; taken in interrupts
 * @by_qid: user queue on hardware queue NNPU_QID_USER + index
 * @num_hw: hardware queues for processes; 0 if user queues are off
 * @all: all queues that have not ended, in the order of their numbers
 * @last_number: number of the last queue
 * @wanting: users with queues that wait for a hardware queue; struct nnpu_quota_user
 * @active: queues that have a hardware queue, the longest active first
 * @shares: what nnpu_userq_lend_work() knows of them
 * @zaps: queues that the device has lost and whose doorbell page must be zapped
 * @state_mem: SUSPEND_QUEUE writes here
 * @state_dma: its DMA address
 * @wq: ordered: @work and @watch
 * @work: gives hardware queues to those that wait
 * @watch: looks for hangs and idleness while a queue is active
 */
struct nnpu_userqs {
	struct mutex hw_lock;	/* see above */
	struct mutex lock;	/* see above */
	spinlock_t irq_lock;	/* see above */
	struct nnpu_userq *by_qid[NNPU_USERQ_HW_MAX];
	unsigned int num_hw;
	struct list_head all;
	u64 last_number;
	struct list_head wanting;
	struct list_head active;
	struct nnpu_userq_share shares[NNPU_USERQ_HW_MAX];
	struct list_head zaps;
	struct nnpu_queue_state *state_mem;
	dma_addr_t state_dma;
	struct workqueue_struct *wq;
	struct delayed_work work;
	struct delayed_work watch;
};

/* nnpu_userq_state.c: state */
void nnpu_userq_state_set(struct nnpu_userq *uq, enum nnpu_userq_state state);
void nnpu_userq_state_zap(struct nnpu_userq *uq);
void nnpu_userq_state_kick_lend(struct nnpu_userqs *uqs);
u32 nnpu_userq_state_uapi(enum nnpu_userq_state state);
const char *nnpu_userq_state_name(enum nnpu_userq_state state);

static inline bool nnpu_userq_state_ended(enum nnpu_userq_state state)
{
	return state >= NNPU_USERQ_STOPPED;
}

/* nnpu_userq.c: life */
int nnpu_userq_init(struct nnpu_device *ndev);
void nnpu_userq_unplug(struct nnpu_device *ndev);
void nnpu_userq_fini(struct nnpu_device *ndev);
struct nnpu_userq *nnpu_userq_alloc(struct nnpu_ctx *ctx,
				    const struct drm_nnpu_queue_create *args);
bool nnpu_userq_tryget(void *object);
void nnpu_userq_put(struct nnpu_userq *uq);
struct nnpu_userq *nnpu_userq_next(struct nnpu_userqs *uqs, struct nnpu_userq *last,
				   unsigned long from);
bool nnpu_userq_use(struct nnpu_userq *uq);
void nnpu_userq_unuse(struct nnpu_userq *uq);
int nnpu_userq_publish(struct nnpu_userq *uq);
void nnpu_userq_end(struct nnpu_userq *uq, enum nnpu_userq_state end, u32 reason);
void nnpu_userq_end_locked(struct nnpu_userq *uq, enum nnpu_userq_state end, u32 reason);
void nnpu_userq_lose_all(struct nnpu_device *ndev, enum nnpu_userq_state end, bool spare_kept);
void nnpu_userq_lose_ctx(struct nnpu_ctx *ctx, enum nnpu_userq_state end);
void nnpu_userq_zap_lost(struct nnpu_device *ndev);
bool nnpu_userq_close(struct nnpu_table *userqs, u32 id);
void nnpu_userq_close_all(struct nnpu_table *userqs, const struct nnpu_ctx *ctx);

/* nnpu_userq_hw.c: hardware queues */
void nnpu_userq_hw_irq(struct nnpu_device *ndev, unsigned int vector);
void nnpu_userq_hw_set(struct nnpu_device *ndev, u16 qid, struct nnpu_userq *uq);
int nnpu_userq_hw_start(struct nnpu_userq *uq, u16 qid);
int nnpu_userq_hw_suspend(struct nnpu_userq *uq, bool idle);
void nnpu_userq_hw_leave(struct nnpu_userq *uq);
void nnpu_userq_hw_arm(struct nnpu_userq *uq, u32 head);
void nnpu_userq_hw_account(struct nnpu_userq *uq, u16 qid);
void nnpu_userq_hw_account_lost(struct nnpu_userq *uq, u16 qid);
void nnpu_userq_hw_account_all(struct nnpu_device *ndev, const struct nnpu_tally *tally);

/* nnpu_userq_lend.c: which queue gets a hardware queue */
unsigned int nnpu_userq_lend_take_back(struct nnpu_device *ndev);
void nnpu_userq_lend_go_on(struct nnpu_device *ndev);
void nnpu_userq_lend_init(struct nnpu_device *ndev);

/* nnpu_userq_watch.c: watchdog */
bool nnpu_userq_watch_stopped(struct nnpu_userq *uq);
void nnpu_userq_watch_kick(struct nnpu_device *ndev, bool now);
void nnpu_userq_watch_init(struct nnpu_device *ndev);

/* nnpu_userq_file.c: the descriptor */
struct file *nnpu_userq_file_create(struct nnpu_userq *uq);

/* nnpu_userq_ioctl.c */
int nnpu_userq_ioctl_create(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_userq_ioctl_destroy(struct drm_device *drm, void *data, struct drm_file *file);
int nnpu_userq_ioctl_wait(struct drm_device *drm, void *data, struct drm_file *file);

/* Wake all waiters; each looks at the queue again. */
static inline void nnpu_userq_wake(struct nnpu_userq *uq)
{
	atomic_inc(&uq->events);
	wake_up_all(&uq->wait);
}

#endif /* _NNPU_USERQ_H_ */
