/* SPDX-License-Identifier: MIT */
/*
 * A job: one EXECUTE or COPY entry of a queue.
 */
#ifndef NNPU_EMU_JOB_H
#define NNPU_EMU_JOB_H

#include "verdict.h"

struct nnpu_ctx;
struct nnpu_engine;
struct nnpu_queue;
struct program;

struct job {
	struct nnpu_engine *engine;
	struct nnpu_ctx *ctx;
	struct program *program;	/* COPY: NULL */
	const struct nnpu_sqe_execute *sqe;
	uint64_t fetched_ns;
	uint64_t start_ns;		/* 0: the time when job_run() is called */
	bool fail_dma;			/* injected */
	/* Results. */
	struct verdict verdict;
	uint64_t exec_ns;
	uint64_t end_ns;		/* 0: it did not run */
};

/* Check what can be told from the entry alone. 0, or -1 with the verdict. */
int job_check_entry(const struct nnpu_queue *q, const struct nnpu_sqe_execute *sqe,
		    struct verdict *v);
void job_run(struct job *job);

/* What can be told from an entry of any opcode alone. */
static inline bool entry_is_job(const struct nnpu_sqe *sqe)
{
	return sqe->opcode == NNPU_IO_EXECUTE || sqe->opcode == NNPU_IO_COPY;
}

void entry_verdict(const struct nnpu_queue *q, const struct nnpu_sqe *sqe, struct verdict *v);

#endif /* NNPU_EMU_JOB_H */
