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

/* What a slot points to. */
struct sim_slot {
	void *map;			/* NULL: free */
	size_t size;
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

	bool has_queues;
	uint64_t clock_behind_ns;	/* the device clock, behind CLOCK_MONOTONIC */
};

static inline struct sim_transport *to_sim(struct transport *t)
{
	return (struct sim_transport *)t;
}

/* Operations of struct transport_ops: sim_slots.c */
void sim_unbind(struct transport *t, uint32_t slot);
int sim_bo_create(struct transport *t, uint64_t size, struct transport_bo *bo);
void sim_bo_destroy(struct transport *t, struct transport_bo *bo);
int sim_storage_create(struct transport *t, uint64_t size, enum transport_memory_type *type,
		       int *fd);
int sim_bind_fd(struct transport *t, enum transport_memory_type type, int fd, uint64_t size,
		uint32_t access, uint32_t *slot);

#endif /* NNHAL_SIM_PRIVATE_H */
