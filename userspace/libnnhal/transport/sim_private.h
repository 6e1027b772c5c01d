/* SPDX-License-Identifier: MIT */
/*
 * What the files of the in-process device share.
 */
#ifndef NNHAL_SIM_PRIVATE_H
#define NNHAL_SIM_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/sim_rings.h"
#include "transport/transport.h"

#define SIM_MAX_IN_FENCES	64u

/* What a slot points to. */
struct sim_slot {
	void *map;			/* NULL: free */
	size_t size;
	unsigned int region;		/* NNPU_INPROC_* */
	bool is_lent;			/* the mapping belongs to somebody else */
	int fd;				/* a file: its descriptor, ours; -1: memory */
};

/* Jobs that wait for fences of others, and the thread that waits for these. */
struct sim_gate {
	pthread_mutex_t lock;
	struct sim_waiter *waiters;	/* oldest first */
	struct sim_waiter **tail;
	int kick;			/* eventfd; -1: none yet */
	bool started;
	bool stop;
	pthread_t thread;
};

struct sim_transport {
	struct transport base;
	struct sim_rings rings;
	struct sim_options options;

	pthread_mutex_t slot_lock;
	struct sim_slot *slots;

	pthread_mutex_t program_lock;
	bool *programs;			/* in use, by number; 0 is no number */
	uint32_t max_programs;

	pthread_mutex_t fence_lock;
	pthread_cond_t fence_cond;
	struct sim_gate gate;

	bool has_queues;
	uint64_t clock_behind_ns;	/* the device clock, behind CLOCK_MONOTONIC */
};

static inline struct sim_transport *to_sim(struct transport *t)
{
	return (struct sim_transport *)t;
}

struct transport_fence {
	bool signalled;
	int error;
	int signal;			/* of its descriptor, -1: none */
	bool is_pending;		/* a job is going to signal it */
	bool is_orphan;			/* destroyed meanwhile */
};

/* sim_fences.c: operations of struct transport_ops, and the life of a fence. */
int sim_fence_create(struct transport *t, struct transport_fence **fence);
void sim_fence_destroy(struct transport *t, struct transport_fence *fence);
int sim_fence_export(struct transport *t, struct transport_fence *fence, int *fd);
int sim_fence_signal(struct transport *t, struct transport_fence *fence);
int sim_fence_reset(struct transport *t, struct transport_fence *fence);
int sim_fence_error(struct transport *t, struct transport_fence *fence);
int sim_wait(struct transport *t, struct transport_fence *const *fences, uint32_t count,
	     int64_t timeout_ns, uint32_t *first);
void sim_fences_init(struct sim_transport *s);
/* End the thread; no job waits any more. Then the rings may end, then the fences. */
void sim_fences_stop(struct sim_transport *s);
void sim_fences_fini(struct sim_transport *s);
void sim_fence_set(struct sim_transport *s, struct transport_fence *fence, bool signalled,
		   int error);
/* The fence of a job that is about to be submitted. */
void sim_fence_begin(struct sim_transport *s, struct transport_fence *fence);
/*
 * Submit a job when the fences that @from names have signalled; its argument block gets the deadline. It
 * ends with the error of the first one that has one. 0 or -errno.
 */
int sim_submit_behind(struct sim_transport *s, struct sim_job *job,
		      const struct transport_job *from);
/* The deadline of a job that is about to be submitted, CLOCK_MONOTONIC; 0: none. transport_sim.c */
void sim_job_set_deadline(struct sim_transport *s, struct sim_job *job, uint64_t deadline_ns);

/* Operations of struct transport_ops: sim_slots.c */
void sim_unbind(struct transport *t, uint32_t slot);
int sim_bo_create(struct transport *t, uint64_t size, struct transport_bo *bo);
void sim_bo_destroy(struct transport *t, struct transport_bo *bo);
int sim_bo_give(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size);
int sim_bo_take(struct transport *t, const struct transport_bo *bo, uint64_t offset, uint64_t size);
int sim_storage_create(struct transport *t, uint64_t size, enum transport_memory_type *type,
		       int *fd);
int sim_bind_file(struct transport *t, int fd, uint64_t offset, uint64_t size, uint32_t *slot);
int sim_bind_pointer(struct transport *t, void *map, uint64_t size, uint32_t access,
		     uint32_t *slot);
int sim_bind_fd(struct transport *t, enum transport_memory_type type, int fd, uint64_t size,
		uint32_t access, uint32_t *slot);

#endif /* NNHAL_SIM_PRIVATE_H */
