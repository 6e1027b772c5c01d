/* SPDX-License-Identifier: MIT */
/*
 * A burst that is kept busy.
 */
#ifndef NNBENCH_BURST_H
#define NNBENCH_BURST_H

#include "nnbench.h"

#define BURST_PIPELINE_DEPTH	16

/*
 * Pipelines run this many times as many executions as other measurements. They are quick, and
 * the speed of a shared machine changes within seconds.
 */
#define PIPELINE_FACTOR		256

/**
 * struct burst_pipeline - a burst with several executions in flight
 * @burst: NULL if there is none
 * @depth: executions in flight at most
 * @together: how many are submitted in one call, while the device works on the others
 * @r: requests; @requests points to them
 * @requests: for nnhal_burst_submit_many()
 * @tags: for nnhal_burst_submit_many()
 * @results: of nnhal_burst_wait_many()
 * @samples: ns per piece, see burst_pipeline_run()
 * @num_samples: entries of @samples
 */
struct burst_pipeline {
	struct nnhal_burst *burst;
	unsigned int depth;
	unsigned int together;
	struct add_request r[BURST_PIPELINE_DEPTH];
	const struct nnhal_request *requests[BURST_PIPELINE_DEPTH];
	uint64_t tags[BURST_PIPELINE_DEPTH];
	struct nnhal_burst_result results[BURST_PIPELINE_DEPTH];
	uint64_t *samples;
	unsigned int num_samples;
};

/* @p is zero before. 0, or -1 after a message; close it in both cases. */
int burst_pipeline_open(struct bench *b, struct burst_pipeline *p, unsigned int depth,
			uint32_t spin_us);
void burst_pipeline_close(struct burst_pipeline *p);

/* How many executions burst_pipeline_run() makes. */
unsigned int burst_pipeline_executions(void);
/*
 * Run some pieces, and note their times: PIPELINE_FACTOR * @b->count executions have room. 0, or
 * -1 after a message.
 */
int burst_pipeline_run(struct bench *b, struct burst_pipeline *p);

#endif /* NNBENCH_BURST_H */
