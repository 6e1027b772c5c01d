/* SPDX-License-Identifier: MIT */
/*
 * Rings of the in-process device: admin commands and jobs.
 *
 * This is the part of the kernel driver for the in-process device, with one context and one
 * queue for jobs. Documentation/hardware/ is the contract. sim_queues.c adds queues for
 * user-mode submission.
 */
#ifndef NNHAL_SIM_RINGS_H
#define NNHAL_SIM_RINGS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <inproc/inproc.h>
#include <nnpu_hw.h>

#include "transport/transport.h"

/* The context, and the queue for jobs. */
#define SIM_CTX			1
#define SIM_QUEUE		1
/* Queues for user-mode submission follow. Each queue has the vector of its number. */
#define SIM_USER_QUEUES		16
#define SIM_FIRST_USER_QUEUE	(SIM_QUEUE + 1)
#define SIM_NUM_VECTORS		(SIM_FIRST_USER_QUEUE + SIM_USER_QUEUES)
#define SIM_ADMIN_ENTRIES	16
#define SIM_IO_ENTRIES		256

/* Anonymous memory the device may reach. */
struct sim_memory {
	void *map;
	size_t size;
};

/* A job: its argument block, and the function that is called when it ends. */
struct sim_job {
	struct sim_job *next;
	struct sim_memory args;
	struct nnpu_sqe_execute sqe;
	/* Called once, with no lock held; status is NNPU_STATUS_*. */
	void (*done)(struct sim_job *job, uint32_t status);
	void *owner;
	void *fence;
};

/* An admin command in flight. */
struct sim_admin {
	struct nnpu_cqe *cqe;
	bool done;
};

/* A submission and a completion ring. */
struct sim_ring {
	unsigned int qid;
	uint32_t entries;
	uint8_t *sq;
	struct nnpu_cqe *cq;
	uint32_t tail;
	uint32_t head;
	uint16_t phase;
};

struct sim_rings {
	struct nnpu_inproc *ip;
	struct sim_memory memory;	/* rings, slot table, identify data */
	struct nnpu_slot_entry *slot_table;
	uint32_t num_slots;
	struct nnpu_identify *identify;

	pthread_mutex_t admin_lock;
	pthread_cond_t admin_cond;	/* an id of an admin command is free */
	struct sim_ring admin;
	struct sim_admin *admin_waits[SIM_ADMIN_ENTRIES - 1];	/* by command id */
	unsigned int num_loads;		/* of them */

	pthread_mutex_t io_lock;
	struct sim_ring io;
	struct sim_job *running[SIM_IO_ENTRIES];	/* by command id */
	uint16_t free_cids[SIM_IO_ENTRIES];
	uint32_t num_free;
	struct sim_job *waiting;	/* for a free command id, oldest first */
	struct sim_job **waiting_tail;
	struct sim_job *spare;		/* ended jobs, for reuse */
	bool dead;

	/* Interrupts of the queue for jobs wake the completion thread. */
	pthread_mutex_t irq_lock;
	pthread_cond_t irq_cond;
	bool irq_pending;
	/* How often each vector was raised, for waiters of user queues. */
	pthread_cond_t user_cond;
	uint64_t irq_counts[SIM_NUM_VECTORS];
	bool user_queues[SIM_USER_QUEUES];	/* in use; under admin_lock */
	bool stop;
	bool thread_started;
	pthread_t thread;
};

/* Options in the spec of the device. */
struct sim_options {
	bool null_mode;			/* complete jobs without computing */
	bool no_queues;			/* no user-mode submission */
	bool no_cache;			/* the device saves no programs */
	bool bounces;			/* limits.needs_sync */
	bool faults;			/* fault injection */
	bool examples;			/* the example extension */
	uint64_t refused[2];		/* operations that the device does not have, by number */
	unsigned int threads;		/* that compute a job; 0: one */
};

/* Memory the device may reach; zeroed. 0 or -errno. */
int sim_memory_init(struct sim_rings *r, struct sim_memory *memory, size_t size);
void sim_memory_fini(struct sim_rings *r, struct sim_memory *memory);

/* Create the device and bring it up: rings, context, queue. 0 or -errno. */
int sim_rings_init(struct sim_rings *r, const struct sim_options *options, char *error,
		   size_t error_size);
/* No job may be running. */
void sim_rings_fini(struct sim_rings *r);

/*
 * Run one admin command, whose command id is filled in, and wait for its completion, which
 * goes to @cqe. 0: there was a completion, with any status; -ENODEV: the device is dead.
 * Commands of several threads run at the same time. Loads leave half of the ring to others.
 */
int sim_admin(struct sim_rings *r, void *sqe, struct nnpu_cqe *cqe);
static inline uint32_t sim_cqe_status(const struct nnpu_cqe *cqe)
{
	return cqe->status >> NNPU_CQE_STATUS_SHIFT;
}

/* A job with room for an argument block of @args_size bytes; NULL: no memory. */
struct sim_job *sim_job_get(struct sim_rings *r, size_t args_size);
void sim_job_put(struct sim_rings *r, struct sim_job *job);
/* Queue a job; never waits. 0 or -ENODEV. */
int sim_submit(struct sim_rings *r, struct sim_job *job);
bool sim_is_dead(struct sim_rings *r);
/* The device is FATAL. Only a reset would help, and nobody makes one. */
bool sim_is_fatal(struct sim_rings *r);

/* ---- sim_queues.c: user-mode submission; see struct transport_ops ---- */

int sim_queue_create(struct sim_rings *r, uint32_t priority, struct transport_queue **queue);
void sim_queue_stop(struct transport_queue *queue);
void sim_queue_destroy(struct transport_queue *queue);
int sim_queue_wait(struct transport_queue *queue, uint32_t cq_head, uint64_t until_ns,
		   enum transport_queue_state *state);
bool sim_queue_is_running(struct transport_queue *queue);
/* Abort the job that runs on the queue. False if none runs. */
bool sim_queue_abort(struct transport_queue *queue);

#endif /* NNHAL_SIM_RINGS_H */
