// SPDX-License-Identifier: MIT
/*
 * Rings of the in-process device: bring-up, admin commands, jobs, completions.
 *
 * Memory ordering: an entry is written before the doorbell that announces it; the doorbell
 * call orders that itself. The status word of a completion, which holds the phase bit, is
 * read first and with acquire semantics; the rest of the completion is read afterwards.
 */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/base.h"
#include "base/thread.h"
#include "transport/sim_rings.h"

/* While an admin command is pending, check this often whether the device is FATAL. */
#define ADMIN_SLICE_NS	1000000000

static uint64_t dma_address(const void *p)
{
	return (uintptr_t)p;
}

static size_t page_align(size_t size)
{
	return (size_t)round_up_u64(size, NNPU_PAGE_SIZE);
}

int sim_memory_init(struct sim_rings *r, struct sim_memory *memory, size_t size)
{
	int err;

	memory->size = page_align(size);
	memory->map = mmap(NULL, memory->size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory->map == MAP_FAILED) {
		memory->map = NULL;
		return -ENOMEM;
	}
	err = nnpu_inproc_register(r->ip, memory->map, memory->size,
				   NNPU_INPROC_READ | NNPU_INPROC_WRITE);
	if (err) {
		munmap(memory->map, memory->size);
		memory->map = NULL;
	}
	return err;
}

void sim_memory_fini(struct sim_rings *r, struct sim_memory *memory)
{
	if (!memory->map)
		return;
	nnpu_inproc_unregister(r->ip, memory->map, memory->size,
			       NNPU_INPROC_READ | NNPU_INPROC_WRITE);
	munmap(memory->map, memory->size);
	memory->map = NULL;
}

static uint32_t field_get(uint32_t mask, uint32_t value)
{
	return (value & mask) >> __builtin_ctz(mask);
}

/* ---- rings ---- */

static void ring_push(struct sim_rings *r, struct sim_ring *ring, const void *sqe)
{
	memcpy(ring->sq + ring->tail * NNPU_SQE_SIZE, sqe, NNPU_SQE_SIZE);
	ring->tail = (ring->tail + 1) % ring->entries;
	nnpu_inproc_doorbell(r->ip, ring->qid, NNPU_DB_SQ_TAIL, ring->tail);
}

/* Next completion, converted; false if there is none. */
static bool ring_pop(struct sim_rings *r, struct sim_ring *ring, struct nnpu_cqe *cqe)
{
	struct nnpu_cqe *entry = &ring->cq[ring->head];
	uint16_t status = le16toh(__atomic_load_n(&entry->status, __ATOMIC_ACQUIRE));

	if ((status & NNPU_CQE_PHASE) != ring->phase)
		return false;
	cqe->result = le64toh(entry->result);
	cqe->error = le32toh(entry->error);
	cqe->reason = le16toh(entry->reason);
	cqe->operand = le16toh(entry->operand);
	cqe->cid = le16toh(entry->cid);
	cqe->status = status;
	if (++ring->head == ring->entries) {
		ring->head = 0;
		ring->phase ^= NNPU_CQE_PHASE;
	}
	nnpu_inproc_doorbell(r->ip, ring->qid, NNPU_DB_CQ_HEAD, ring->head);
	return true;
}

static void ring_init(struct sim_ring *ring, unsigned int qid, uint32_t entries, void *sq,
		      void *cq)
{
	ring->qid = qid;
	ring->entries = entries;
	ring->sq = sq;
	ring->cq = cq;
	ring->phase = NNPU_CQE_PHASE;
}

bool sim_is_fatal(struct sim_rings *r)
{
	return nnpu_inproc_read32(r->ip, NNPU_REG_STATUS) & NNPU_STATUS_REG_FATAL;
}

/* ---- admin commands ---- */

/* Of the commands in flight, so many may be loads. They take long. */
#define MAX_LOADS	(SIM_ADMIN_ENTRIES / 2)

/* Enter a command; its id. Caller holds admin_lock, which is dropped inside. */
static uint16_t admin_begin(struct sim_rings *r, struct sim_admin *wait, bool load)
{
	const unsigned int count = sizeof(r->admin_waits) / sizeof(r->admin_waits[0]);
	unsigned int i;

	for (;;) {
		for (i = 0; i < count && r->admin_waits[i]; i++)
			;
		if (i < count && !(load && r->num_loads == MAX_LOADS))
			break;
		pthread_cond_wait(&r->admin_cond, &r->admin_lock);
	}
	r->admin_waits[i] = wait;
	r->num_loads += load;
	return (uint16_t)i;
}

/* Caller holds admin_lock. */
static void admin_end(struct sim_rings *r, uint16_t cid, bool load)
{
	r->admin_waits[cid] = NULL;
	r->num_loads -= load;
	pthread_cond_broadcast(&r->admin_cond);
}

/* Give each completion in the ring to its command. Caller holds admin_lock. */
static void admin_reap(struct sim_rings *r)
{
	const unsigned int count = sizeof(r->admin_waits) / sizeof(r->admin_waits[0]);
	struct nnpu_cqe cqe;

	while (ring_pop(r, &r->admin, &cqe)) {
		struct sim_admin *wait = cqe.cid < count ? r->admin_waits[cqe.cid] : NULL;

		if (!wait)
			continue;
		*wait->cqe = cqe;
		wait->done = true;
	}
}

int sim_admin(struct sim_rings *r, void *sqe, struct nnpu_cqe *cqe)
{
	bool load = ((struct nnpu_sqe *)sqe)->opcode == NNPU_ADMIN_LOAD_PROGRAM;
	struct sim_admin wait = { .cqe = cqe };
	uint16_t cid;

	pthread_mutex_lock(&r->admin_lock);
	cid = admin_begin(r, &wait, load);
	((struct nnpu_sqe *)sqe)->cid = htole16(cid);
	ring_push(r, &r->admin, sqe);
	for (;;) {
		/* Read the counter before the ring, so that no interrupt is lost in between. */
		uint64_t seen = nnpu_inproc_irq_count(r->ip, 0);

		admin_reap(r);
		if (wait.done || sim_is_fatal(r))
			break;
		pthread_mutex_unlock(&r->admin_lock);
		nnpu_inproc_wait_irq(r->ip, 0, seen, ADMIN_SLICE_NS);
		pthread_mutex_lock(&r->admin_lock);
	}
	admin_end(r, cid, load);
	pthread_mutex_unlock(&r->admin_lock);
	return wait.done ? 0 : -ENODEV;
}

/* For commands that fail only if this file has a bug. */
static int admin_or_fail(struct sim_rings *r, void *sqe)
{
	struct nnpu_cqe cqe;
	int err = sim_admin(r, sqe, &cqe);

	if (err)
		return err;
	return sim_cqe_status(&cqe) == NNPU_STATUS_SUCCESS ? 0 : -EIO;
}

/* ---- jobs ---- */

struct sim_job *sim_job_get(struct sim_rings *r, size_t args_size)
{
	struct sim_job *job;

	pthread_mutex_lock(&r->io_lock);
	job = r->spare;
	if (job)
		r->spare = job->next;
	pthread_mutex_unlock(&r->io_lock);
	if (!job)
		job = calloc(1, sizeof(*job));
	if (!job)
		return NULL;
	if (job->args.size < args_size) {
		sim_memory_fini(r, &job->args);
		if (sim_memory_init(r, &job->args, args_size)) {
			free(job);
			return NULL;
		}
	}
	memset(&job->sqe, 0, sizeof(job->sqe));
	return job;
}

void sim_job_put(struct sim_rings *r, struct sim_job *job)
{
	pthread_mutex_lock(&r->io_lock);
	job->next = r->spare;
	r->spare = job;
	pthread_mutex_unlock(&r->io_lock);
}

/* Caller holds io_lock; a command id is free. */
static void start(struct sim_rings *r, struct sim_job *job)
{
	uint16_t cid = r->free_cids[--r->num_free];

	r->running[cid] = job;
	job->sqe.cid = htole16(cid);
	ring_push(r, &r->io, &job->sqe);
}

int sim_submit(struct sim_rings *r, struct sim_job *job)
{
	/* The thread that ends jobs may not know yet; who has found out by a queue must not be told less. */
	bool fatal = sim_is_fatal(r);
	int err = 0;

	pthread_mutex_lock(&r->io_lock);
	job->next = NULL;
	if (r->dead || fatal) {
		err = -ENODEV;
	} else if (r->num_free) {
		start(r, job);
	} else {
		*r->waiting_tail = job;
		r->waiting_tail = &job->next;
	}
	pthread_mutex_unlock(&r->io_lock);
	return err;
}

bool sim_is_dead(struct sim_rings *r)
{
	bool dead;

	pthread_mutex_lock(&r->io_lock);
	dead = r->dead;
	pthread_mutex_unlock(&r->io_lock);
	return dead || sim_is_fatal(r);
}

/* Take one ended job from the ring and start one that waits. */
static struct sim_job *reap(struct sim_rings *r, uint32_t *status)
{
	struct sim_job *job = NULL;
	struct nnpu_cqe cqe;

	pthread_mutex_lock(&r->io_lock);
	while (!job && ring_pop(r, &r->io, &cqe)) {
		/* No job has this id, a fault of the device: drop the completion. */
		if (cqe.cid >= SIM_IO_ENTRIES || !r->running[cqe.cid])
			continue;
		job = r->running[cqe.cid];
		r->running[cqe.cid] = NULL;
		r->free_cids[r->num_free++] = cqe.cid;
		*status = sim_cqe_status(&cqe);
		if (r->waiting) {
			struct sim_job *next = r->waiting;

			r->waiting = next->next;
			if (!r->waiting)
				r->waiting_tail = &r->waiting;
			start(r, next);
		}
	}
	pthread_mutex_unlock(&r->io_lock);
	return job;
}

/* The queue has stopped for good: end all jobs. */
static void kill_jobs(struct sim_rings *r)
{
	struct sim_job *list, *job;
	uint32_t i;

	pthread_mutex_lock(&r->io_lock);
	r->dead = true;
	list = r->waiting;
	r->waiting = NULL;
	r->waiting_tail = &r->waiting;
	for (i = 0; i < SIM_IO_ENTRIES; i++)
		if (r->running[i]) {
			r->running[i]->next = list;
			list = r->running[i];
			r->running[i] = NULL;
		}
	pthread_mutex_unlock(&r->io_lock);
	while ((job = list)) {
		list = job->next;
		job->done(job, NNPU_STATUS_RESET);
	}
}

static bool queue_is_stopped(struct sim_rings *r)
{
	uint32_t offset = NNPU_QREG_BASE + SIM_QUEUE * NNPU_QREG_STRIDE + NNPU_QREG_STATE;

	return sim_is_fatal(r) || nnpu_inproc_read32(r->ip, offset) == NNPU_QSTATE_STOPPED;
}

static void *completion_thread(void *data)
{
	struct sim_rings *r = data;
	struct sim_job *job;
	uint32_t status;
	bool stop;

	do {
		pthread_mutex_lock(&r->irq_lock);
		while (!r->irq_pending && !r->stop)
			pthread_cond_wait(&r->irq_cond, &r->irq_lock);
		r->irq_pending = false;
		stop = r->stop;
		pthread_mutex_unlock(&r->irq_lock);
		while ((job = reap(r, &status)))
			job->done(job, status);
		if (queue_is_stopped(r))
			kill_jobs(r);
	} while (!stop);
	return NULL;
}

/* On a thread of the device, or within a doorbell write of this file. */
static void on_irq(void *opaque, unsigned int vector)
{
	struct sim_rings *r = opaque;

	pthread_mutex_lock(&r->irq_lock);
	if (vector < SIM_FIRST_USER_QUEUE) {
		r->irq_pending = true;
		pthread_cond_signal(&r->irq_cond);
	}
	/* Vector 0 is raised for admin completions and when the device goes FATAL. */
	if (vector != SIM_QUEUE && vector < SIM_NUM_VECTORS) {
		r->irq_counts[vector]++;
		pthread_cond_broadcast(&r->user_cond);
	}
	pthread_mutex_unlock(&r->irq_lock);
}

/* ---- bring-up ---- */

static void write64(struct sim_rings *r, uint32_t offset, uint64_t value)
{
	nnpu_inproc_write32(r->ip, offset, (uint32_t)value);
	nnpu_inproc_write32(r->ip, offset + 4, (uint32_t)(value >> 32));
}

/* One allocation for all that the device shares with this file, each page-aligned. */
static int share_memory(struct sim_rings *r)
{
	size_t admin_sq = page_align(SIM_ADMIN_ENTRIES * NNPU_SQE_SIZE);
	size_t admin_cq = page_align(SIM_ADMIN_ENTRIES * NNPU_CQE_SIZE);
	size_t io_sq = page_align(SIM_IO_ENTRIES * NNPU_SQE_SIZE);
	size_t io_cq = page_align(SIM_IO_ENTRIES * NNPU_CQE_SIZE);
	size_t slots, identify = page_align(sizeof(struct nnpu_identify));
	uint8_t *p;
	int err;

	r->num_slots = 1u << field_get(NNPU_LIMITS1_MAX_SLOTS_LOG2,
				       nnpu_inproc_read32(r->ip, NNPU_REG_LIMITS1));
	slots = page_align(r->num_slots * sizeof(*r->slot_table));
	err = sim_memory_init(r, &r->memory,
			      admin_sq + admin_cq + io_sq + io_cq + slots + identify);
	if (err)
		return err;
	p = r->memory.map;
	ring_init(&r->admin, 0, SIM_ADMIN_ENTRIES, p, p + admin_sq);
	p += admin_sq + admin_cq;
	ring_init(&r->io, SIM_QUEUE, SIM_IO_ENTRIES, p, p + io_sq);
	p += io_sq + io_cq;
	r->slot_table = (struct nnpu_slot_entry *)p;
	r->identify = (struct nnpu_identify *)(p + slots);
	return 0;
}

static int enable(struct sim_rings *r)
{
	nnpu_inproc_write32(r->ip, NNPU_REG_ADMIN_SIZE,
			    (SIM_ADMIN_ENTRIES - 1) | (SIM_ADMIN_ENTRIES - 1) << 16);
	write64(r, NNPU_REG_ADMIN_SQ_LO, dma_address(r->admin.sq));
	write64(r, NNPU_REG_ADMIN_CQ_LO, dma_address(r->admin.cq));
	nnpu_inproc_write32(r->ip, NNPU_REG_CTRL, NNPU_CTRL_ENABLE);
	if (!(nnpu_inproc_read32(r->ip, NNPU_REG_STATUS) & NNPU_STATUS_REG_READY))
		return -ENODEV;
	return 0;
}

static int set_up(struct sim_rings *r)
{
	struct nnpu_sqe_identify identify = {
		.opcode = NNPU_ADMIN_IDENTIFY, .addr = htole64(dma_address(r->identify)),
	};
	struct nnpu_sqe_create_ctx ctx = {
		.opcode = NNPU_ADMIN_CREATE_CTX, .ctx = htole32(SIM_CTX),
		.slot_table = htole64(dma_address(r->slot_table)),
		.num_slots = htole32(r->num_slots),
	};
	struct nnpu_sqe_create_queue queue = {
		.opcode = NNPU_ADMIN_CREATE_QUEUE, .flags = NNPU_QUEUE_KERNEL,
		.qid = htole16(SIM_QUEUE), .vector = htole16(1),
		.sq_entries = htole32(SIM_IO_ENTRIES), .cq_entries = htole32(SIM_IO_ENTRIES),
		.sq_addr = htole64(dma_address(r->io.sq)),
		.cq_addr = htole64(dma_address(r->io.cq)),
	};
	int err = enable(r);

	if (!err)
		err = admin_or_fail(r, &identify);
	if (!err)
		err = admin_or_fail(r, &ctx);
	if (!err)
		err = admin_or_fail(r, &queue);
	return err;
}

static int start_thread(struct sim_rings *r)
{
	int err = thread_start(&r->thread, completion_thread, r);

	r->thread_started = !err;
	return err;
}

int sim_rings_init(struct sim_rings *r, const struct sim_options *options, char *error,
		   size_t error_size)
{
	struct nnpu_inproc_config config;
	pthread_condattr_t attr;
	uint32_t i;
	int err;

	memset(r, 0, sizeof(*r));
	pthread_mutex_init(&r->admin_lock, NULL);
	pthread_cond_init(&r->admin_cond, NULL);
	pthread_mutex_init(&r->io_lock, NULL);
	pthread_mutex_init(&r->irq_lock, NULL);
	pthread_cond_init(&r->irq_cond, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->user_cond, &attr);
	pthread_condattr_destroy(&attr);
	r->waiting_tail = &r->waiting;
	nnpu_inproc_default_config(&config);
	config.props.num_queues = options->no_queues ? 1 : 1 + SIM_USER_QUEUES;
	config.props.num_vectors = SIM_NUM_VECTORS;
	config.props.num_engines = 1;
	if (options->threads)
		config.props.num_threads = options->threads;
	config.props.null_mode = options->null_mode;
	config.props.inject = options->faults;
	config.props.examples = options->examples;
	memcpy(config.props.refused, options->refused, sizeof(options->refused));
	config.irq = on_irq;
	config.opaque = r;
	r->ip = nnpu_inproc_create(&config, error, error_size);
	if (!r->ip)
		return -ENOMEM;
	/* One entry of a ring stays empty. */
	for (i = 0; i < SIM_IO_ENTRIES - 1; i++)
		r->free_cids[r->num_free++] = (uint16_t)i;
	err = share_memory(r);
	if (!err)
		err = set_up(r);
	if (!err)
		err = start_thread(r);
	return err;
}

void sim_rings_fini(struct sim_rings *r)
{
	struct sim_job *job;

	if (r->thread_started) {
		pthread_mutex_lock(&r->irq_lock);
		r->stop = true;
		pthread_cond_signal(&r->irq_cond);
		pthread_mutex_unlock(&r->irq_lock);
		pthread_join(r->thread, NULL);
	}
	if (r->ip) {
		while ((job = r->spare)) {
			r->spare = job->next;
			sim_memory_fini(r, &job->args);
			free(job);
		}
		sim_memory_fini(r, &r->memory);
		nnpu_inproc_destroy(r->ip);
	}
	pthread_cond_destroy(&r->user_cond);
	pthread_cond_destroy(&r->irq_cond);
	pthread_mutex_destroy(&r->irq_lock);
	pthread_mutex_destroy(&r->io_lock);
	pthread_cond_destroy(&r->admin_cond);
	pthread_mutex_destroy(&r->admin_lock);
}
