// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "nnpu_test_queue.h"

#define PAGE		4096u
/* Looks at the ring before the process sleeps. */
#define SPINS		2000
/* The argument block of a job, behind its result block. */
#define ARGS_OFFSET	2048u

uint64_t nnpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int nnpu_uq_setup(int *fd, struct nnpu_uq *uq, struct nnpu_job *job)
{
	int ret;

	*fd = nnpu_open();
	if (*fd < 0) {
		ret = *fd;
		*fd = -1;
		return ret;
	}
	ret = nnpu_uq_create(*fd, uq, DRM_NNPU_PRIORITY_MEDIUM, NNPU_UQ_ENTRIES, NNPU_UQ_ENTRIES);
	if (ret)
		goto err_close;
	ret = nnpu_job_init(*fd, job, 64);
	if (ret)
		goto err_queue;
	return 0;

err_queue:
	nnpu_uq_destroy(*fd, uq);
err_close:
	close(*fd);
	*fd = -1;
	return ret;
}

bool nnpu_uq_may_skip(int ret)
{
	return (ret == -ENOENT || ret == -EOPNOTSUPP) && !nnpu_device_required();
}

int nnpu_uq_create(int fd, struct nnpu_uq *uq, uint32_t priority, uint32_t sq_entries,
		   uint32_t cq_entries)
{
	struct drm_nnpu_queue_create arg = {
		.ctx = nnpu_test_ctx,
		.priority = priority,
		.sq_entries = sq_entries,
		.cq_entries = cq_entries,
		.cq_offset = PAGE,
		.queue = NNPU_POISON,
		.fd = NNPU_POISON,
	};
	struct drm_nnpu_device_info info = { 0 };
	uint32_t size = sizeof(info);
	void *db;
	int ret;

	memset(uq, 0, sizeof(*uq));
	ret = nnpu_query(fd, DRM_NNPU_QUERY_DEVICE_INFO, &info, &size);
	if (ret)
		return ret;
	ret = nnpu_bo_create(fd, 2 * PAGE, &uq->ring_handle);
	if (ret)
		return ret;
	ret = nnpu_bo_mmap(fd, uq->ring_handle, 2 * PAGE, &uq->ring);
	if (ret)
		goto err_handle;
	arg.ring_handle = uq->ring_handle;
	ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_CREATE, &arg);
	if (ret)
		goto err_ring;
	uq->db_size = info.doorbell_size;
	db = mmap(NULL, uq->db_size, PROT_READ | PROT_WRITE, MAP_SHARED, arg.fd, 0);
	if (db == MAP_FAILED) {
		ret = -errno;
		close(arg.fd);
		goto err_ring;
	}
	uq->id = arg.queue;
	uq->fd = arg.fd;
	uq->sq = uq->ring;
	uq->cq = (void *)((char *)uq->ring + PAGE);
	uq->db = db;
	uq->sq_entries = sq_entries;
	uq->cq_entries = cq_entries;
	uq->phase = NNPU_CQE_PHASE;
	return 0;

err_ring:
	munmap(uq->ring, 2 * PAGE);
err_handle:
	nnpu_bo_close(fd, uq->ring_handle);
	return ret;
}

void nnpu_uq_destroy(int fd, struct nnpu_uq *uq)
{
	struct drm_nnpu_queue_destroy arg = { .queue = uq->id };

	nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_DESTROY, &arg);
	munmap((void *)uq->db, uq->db_size);
	close(uq->fd);
	munmap(uq->ring, 2 * PAGE);
	nnpu_bo_close(fd, uq->ring_handle);
}

void nnpu_uq_push(struct nnpu_uq *uq, const void *sqe)
{
	memcpy(&uq->sq[uq->tail], sqe, sizeof(*uq->sq));
	uq->tail = (uq->tail + 1) % uq->sq_entries;
}

void nnpu_uq_ring(struct nnpu_uq *uq)
{
	/* The entries before the doorbell, on any machine. */
	__sync_synchronize();
	uq->db[NNPU_DB_SQ_TAIL / 4] = uq->tail;
}

bool nnpu_uq_pop(struct nnpu_uq *uq, struct nnpu_cqe *cqe)
{
	struct nnpu_cqe *entry = &uq->cq[uq->head];
	uint16_t status = __atomic_load_n(&entry->status, __ATOMIC_ACQUIRE);

	if ((status & NNPU_CQE_PHASE) != uq->phase)
		return false;
	*cqe = *entry;
	cqe->status = status;
	uq->head = (uq->head + 1) % uq->cq_entries;
	if (!uq->head)
		uq->phase ^= NNPU_CQE_PHASE;
	uq->db[NNPU_DB_CQ_HEAD / 4] = uq->head;
	return true;
}

int nnpu_uq_sleep(int fd, struct nnpu_uq *uq, unsigned int timeout_ms, uint32_t *state,
		  uint32_t *reason)
{
	struct drm_nnpu_queue_wait arg = {
		.queue = uq->id,
		.cq_head = uq->head,
		.timeout_ns = (int64_t)(nnpu_now_ns() + timeout_ms * 1000000ull),
	};
	int ret = nnpu_ioctl(fd, DRM_IOCTL_NNPU_QUEUE_WAIT, &arg);

	if (state)
		*state = arg.state;
	if (reason)
		*reason = arg.reason;
	return ret;
}

int nnpu_uq_take(int fd, struct nnpu_uq *uq, struct nnpu_cqe *cqe, unsigned int timeout_ms,
		 uint32_t *state)
{
	uint64_t end = nnpu_now_ns() + timeout_ms * 1000000ull;
	uint32_t how = DRM_NNPU_QUEUE_STATE_READY;
	unsigned int i;
	int ret;

	for (i = 0; i < SPINS; i++)
		if (nnpu_uq_pop(uq, cqe))
			return 0;
	do {
		ret = nnpu_uq_sleep(fd, uq, timeout_ms, &how, NULL);
		if (state)
			*state = how;
		/* What the device wrote before the end counts. */
		if (nnpu_uq_pop(uq, cqe))
			return 0;
		if (ret)
			return ret;
		if (how != DRM_NNPU_QUEUE_STATE_READY)
			return -ECANCELED;
	} while (nnpu_now_ns() < end);
	return -ETIME;
}

bool nnpu_uq_is_silent(const struct nnpu_uq *uq)
{
	size_t bytes = uq->cq_entries * sizeof(*uq->cq);
	void *before = malloc(bytes);
	bool silent = before;
	unsigned int i;

	if (before)
		memcpy(before, uq->cq, bytes);
	for (i = 0; silent && i < 100; i++) {
		usleep(1000);
		silent = !memcmp(before, uq->cq, bytes);
	}
	free(before);
	return silent;
}

void nnpu_uq_job_sqe(struct nnpu_job *job, uint16_t cid, struct nnpu_sqe_execute *sqe)
{
	struct nnpu_args_header header = { .num_inputs = 2, .num_outputs = 1 };
	char *block = (char *)job->buf.map + ARGS_OFFSET;

	memcpy(block, &header, sizeof(header));
	memcpy(block + sizeof(header), job->args, sizeof(job->args));
	*sqe = (struct nnpu_sqe_execute) {
		.opcode = NNPU_IO_EXECUTE,
		.cid = cid,
		.program = job->program,
		.args_slot = job->buf.slot,
		.args = ARGS_OFFSET,
		.args_len = sizeof(header) + sizeof(job->args),
		.result_slot = job->buf.slot,
		.result_off = NNPU_JOB_RESULT_OFFSET,
	};
}

int nnpu_uq_run(int fd, struct nnpu_uq *uq, struct nnpu_job *job, uint32_t seed)
{
	struct nnpu_sqe_execute sqe;
	struct nnpu_cqe cqe;
	int ret;

	nnpu_job_fill(job, seed);
	nnpu_uq_job_sqe(job, (uint16_t)seed, &sqe);
	nnpu_uq_push(uq, &sqe);
	nnpu_uq_ring(uq);
	ret = nnpu_uq_take(fd, uq, &cqe, 60000, NULL);
	if (ret)
		return ret;
	if (cqe.cid != (uint16_t)seed || nnpu_cqe_status(&cqe))
		return -EBADMSG;
	return nnpu_job_correct(job, seed) ? 0 : -EBADMSG;
}
