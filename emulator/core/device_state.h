/* SPDX-License-Identifier: MIT */
/*
 * The state of a device, and what all of its parts use: clock, log, faults.
 *
 * Locks. dev->lock guards what registers, doorbells and several threads share. It is held for a
 * few instructions only. No operation, no interrupt and no DMA happens under it, other than the
 * 32 bytes of a completion, and it is dropped after 64 of them. Nothing is allocated or freed under it and no thread is made:
 * what leaves goes to the cleaner.
 *
 * Engines and loaders hold the slots of a context during accesses to them, and the control
 * thread closes the slots while it drops cached ones (slots.c). The control thread holds no
 * lock while it closes them. Who holds slots may take dev->lock.
 *
 * Only the control thread creates and destroys contexts and queues. It therefore reads them
 * without dev->lock. An engine keeps what it uses alive with nnpu_ctx.running and a reference
 * to the program, a loader with nnpu_ctx.loader. Loaders fill the tables of programs, the
 * control thread clears them.
 */
#ifndef NNPU_EMU_DEVICE_STATE_H
#define NNPU_EMU_DEVICE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "cache_line.h"
#include "cleaner.h"
#include "device_model.h"
#include "nnpu_hw.h"
#include "page_runs.h"
#include "program_seal.h"
#include "scheduler.h"

struct irqs;
struct irq_asks;
struct ctx_group;
struct helper;
struct load_worker;
struct nnpu_ctx;
struct nnpu_engine;
struct nnpu_queue;
struct nnpu_seat;

struct nnpu_device {
	struct nnpu_device_props props;
	const struct nnpu_bus_ops *ops;
	void *bus;
	struct nnpu_queue *queues;	/* num_queues + 1, admin queue first */

	_Alignas(CACHE_LINE) pthread_mutex_t lock;
	pthread_cond_t work;		/* engines: something to run, stop, exit */
	pthread_cond_t event;		/* control thread and stalled jobs */
	pthread_cond_t resumed;		/* threads that a pause has: it ends, or the device stops */
	/* To wake a thread costs more than a job: only those that sleep are woken. */
	unsigned int sleeping;		/* engines that wait for @work */
	unsigned int polling;		/* engines that watch @work_seq */
	bool awaiting_jobs;		/* the control thread waits for a job to end */

	/* The device stops (disable, reset, FATAL, exit): no DMA any more. */
	atomic_bool stop;
	/* The machine stands still: no DMA, no completion and no work until it goes on. */
	atomic_bool paused;
	atomic_uint pauses;		/* how many there were */
	atomic_uint work_seq;		/* changes with new work, for engines that poll */
	bool exiting;
	bool stopping;			/* the control thread has to end everything */
	bool resetting;			/* ... and to bring back reset values */
	bool power_on;			/* ... of counters, too */
	bool ready;
	bool fatal;
	uint16_t fatal_code;

	uint32_t ctrl;
	uint32_t admin_size;
	atomic_uint db_stride;		/* doorbells read it without the lock */
	uint64_t admin_sq;
	uint64_t admin_cq;
	uint32_t latch_mem;		/* high halves of 64-bit registers */
	uint32_t latch_peak;
	uint32_t latch_clock;
	uint32_t latch_jobs;
	uint32_t latch_busy;
	uint32_t fault_status;
	uint32_t fault_info;
	uint32_t inject[NNPU_INJECT_NUM];
	uint64_t power_on_ns;
	uint64_t jobs;
	uint64_t busy_ns;
	struct page_runs runs;		/* device memory */
	struct sealer sealer;
	uint64_t mem_used;
	uint64_t mem_charged;		/* of it, charged to contexts; the rest engines keep */
	struct ctx_group *groups;	/* max_contexts */
	uint64_t mem_peak;		/* since power-on */
	uint64_t mem_leaving;		/* not used any more, but not free yet */
	uint64_t mem_tickets;		/* of those who asked for what busy workers do not use */
	unsigned int mem_asked;		/* workers that have not answered */
	unsigned int num_contexts;
	unsigned int num_programs;
	uint64_t next_serial;
	unsigned int perf_level;	/* NNPU_PERF_* */

	struct irq_asks *irq_asks;	/* num_vectors */
	bool alarm_set;

	pthread_mutex_t irq_lock;	/* platform devices: status and line */
	uint32_t irq_status;
	uint32_t irq_mask;

	/* scheduler.c */
	struct sched_class classes[NNPU_CTX_CLASS_NUM];
	unsigned int num_ready;		/* ready lanes, and kernel queues with entries to fetch */
	unsigned int num_fetch;		/* of them, kernel queues */
	atomic_uint contended;		/* the same, for jobs at their points, | CONTENDED_MEMORY */
	struct nnpu_ctx **contexts;	/* max_contexts + 1 */

	pthread_t control;
	bool control_started;

	/* loads.c */
	struct load_worker *loaders;	/* max_contexts; never removed */
	atomic_uint num_loaders;	/* started */
	struct load_worker *idle_loaders;
	struct load_worker *loading;	/* has the turn */
	struct load_worker *first_turn;	/* wait for it */
	struct load_worker *last_turn;
	atomic_uint turns_wanted;	/* how many of them */
	unsigned int num_loads;		/* fetched and not ended */

	/* cleaner.c */
	pthread_t cleaner;
	bool cleaner_started;
	bool all_left;			/* the thread is to end */
	struct leaving_list memory_leaving;
	struct leaving_list objects_leaving;
	uint64_t object_bytes_leaving;	/* handed over and not free yet */
	pthread_cond_t leaves;		/* something to free */
	pthread_cond_t left;		/* something has been freed */

	/*
	 * Workers: as many as there are engines run, the others have jobs that gave way, or
	 * are spare. A worker is never removed.
	 */
	struct nnpu_engine *engines;
	atomic_uint num_workers;	/* started */
	unsigned int max_workers;
	bool making_worker;		/* the last of them may have no thread yet */
	struct nnpu_engine *spares;
	struct nnpu_seat *seats;	/* num_engines */

	/* helpers.c */
	struct helper *helpers;		/* num_threads - 1, or NULL */
	pthread_t helper_threads[NNPU_DEVICE_MAX_THREADS - 1];
	unsigned int num_helpers;	/* started */
	pthread_cond_t help;		/* helpers: something to share, exit */
	atomic_uint asleep;		/* helpers that wait for it */
	/* Many look at them. */
	_Alignas(CACHE_LINE) _Atomic(struct nnpu_engine *) teams[NNPU_DEVICE_MAX_ENGINES];
	atomic_uint max_threads;	/* that may compute; LOW: none but engines */
	atomic_uint running;		/* engines with an entry */
	atomic_uint helping;		/* helpers that are with a worker */
};

static inline uint64_t dev_now(const struct nnpu_device *dev)
{
	return dev->ops->now_ns(dev->bus);
}

bool dev_log_wanted(struct nnpu_device *dev, enum nnpu_log_level level);
void dev_log(struct nnpu_device *dev, enum nnpu_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The features of IDENTIFY and of the FEATURES registers. */
uint64_t dev_features(const struct nnpu_device *dev);

/* Note a fault in the fault registers, unless they hold one. dev->lock held. */
void dev_fault(struct nnpu_device *dev, unsigned int fault, unsigned int qid, unsigned int cid);

/* Enter the FATAL state. dev->lock held. */
void dev_fatal(struct nnpu_device *dev, unsigned int code, struct irqs *irqs);

/* What ends at once in one hold of dev->lock: each may take a write to memory. */
#define HOLD_MAX	64u

/* Raise @irqs, which may be NULL, and let others have dev->lock, which is held. */
void dev_yield(struct nnpu_device *dev, struct irqs *irqs);

/* Take one injection of this kind, if there is one. dev->lock held. */
bool dev_inject(struct nnpu_device *dev, unsigned int kind);

/* Control thread: sleep until a job ends. dev->lock held. */
void dev_await_jobs(struct nnpu_device *dev);

static inline bool dev_is_paused(const struct nnpu_device *dev)
{
	return atomic_load_explicit(&dev->paused, memory_order_relaxed);
}

/* It neither stops nor is paused. */
static inline bool dev_runs(const struct nnpu_device *dev)
{
	return !atomic_load_explicit(&dev->stop, memory_order_relaxed) && !dev_is_paused(dev);
}

/*
 * Wait while the device is paused, unless it stops. Threads of the device do this at their
 * points and before they access memory, without dev->lock, and before they complete an entry.
 */
void dev_await_resume(struct nnpu_device *dev);
/* The same with dev->lock held, which is dropped meanwhile. */
void dev_await_resume_locked(struct nnpu_device *dev);

/* Wake all workers and loaders, for the device stops. dev->lock held. */
void dev_kick_workers(struct nnpu_device *dev);

/* A job has ended, or a loader has no more loads. dev->lock held. */
void dev_job_ended(struct nnpu_device *dev);

#endif /* NNPU_EMU_DEVICE_STATE_H */
