/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User queues for the kselftests: the process side of the rings, without any checks, so that a
 * test can do what a library never would.
 */
#ifndef NNPU_TEST_QUEUE_H
#define NNPU_TEST_QUEUE_H

#include "../kernel/nnpu_hw.h"
#include "nnpu_test.h"

/* Entries of both rings, unless a test wants others. */
#define NNPU_UQ_ENTRIES	16

/* A user queue and where the process stands in its rings. */
struct nnpu_uq {
	uint32_t id;
	int fd;
	uint32_t ring_handle;
	void *ring;
	struct nnpu_sqe *sq;
	struct nnpu_cqe *cq;
	volatile uint32_t *db;
	size_t db_size;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t tail;
	uint32_t head;
	uint16_t phase;
};

/* CLOCK_MONOTONIC. */
uint64_t nnpu_now_ns(void);

/*
 * What most tests begin with: open the first device, create a queue of NNPU_UQ_ENTRIES and a
 * small job. Returns 0, or -errno with *@fd = -1 and nothing left behind.
 * nnpu_uq_may_skip(@ret): there is no device, or one without user queues, and none is required.
 */
int nnpu_uq_setup(int *fd, struct nnpu_uq *uq, struct nnpu_job *job);
bool nnpu_uq_may_skip(int ret);
/* Create the queue and map rings and doorbell; 0 or -errno. */
int nnpu_uq_create(int fd, struct nnpu_uq *uq, uint32_t priority, uint32_t sq_entries,
		   uint32_t cq_entries);
/* End it and unmap everything. */
void nnpu_uq_destroy(int fd, struct nnpu_uq *uq);
/* Write an entry behind the last one; nnpu_uq_ring() announces it. */
void nnpu_uq_push(struct nnpu_uq *uq, const void *sqe);
void nnpu_uq_ring(struct nnpu_uq *uq);
/* Take the next completion, if there is one. */
bool nnpu_uq_pop(struct nnpu_uq *uq, struct nnpu_cqe *cqe);
/* QUEUE_WAIT for the next completion; 0 or -errno, @state may be NULL. */
int nnpu_uq_sleep(int fd, struct nnpu_uq *uq, unsigned int timeout_ms, uint32_t *state,
		  uint32_t *reason);
/*
 * Spin, then sleep, until a completion can be taken: 0; -ETIME; -ECANCELED if
 * the queue has ended, with *@state saying how.
 */
int nnpu_uq_take(int fd, struct nnpu_uq *uq, struct nnpu_cqe *cqe, unsigned int timeout_ms,
		 uint32_t *state);
/*
 * Nothing is written to the completion ring for a while: the device has let go of
 * a queue that has ended, whose memory its owner may free.
 */
bool nnpu_uq_is_silent(const struct nnpu_uq *uq);

/* Write the argument block of @job into its buffer and fill in an EXECUTE entry. */
void nnpu_uq_job_sqe(struct nnpu_job *job, uint16_t cid, struct nnpu_sqe_execute *sqe);
/* Fill, push, ring, take, check: 0, -errno, -EBADMSG for wrong results. */
int nnpu_uq_run(int fd, struct nnpu_uq *uq, struct nnpu_job *job, uint32_t seed);

static inline uint16_t nnpu_cqe_status(const struct nnpu_cqe *cqe)
{
	return cqe->status >> NNPU_CQE_STATUS_SHIFT;
}

#endif /* NNPU_TEST_QUEUE_H */
