/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NNPU_LATENCY_H_
#define _NNPU_LATENCY_H_

#include <linux/types.h>

#include <linux/nnpu_netlink.h>

/* Bucket 0 has times below 2 to the power of this, ns. */
#define NNPU_LATENCY_SHIFT	10

/**
 * enum nnpu_latency - times of a job of SUBMIT
 * @NNPU_LATENCY_WAIT: from SUBMIT until it was given to the device
 * @NNPU_LATENCY_RUN: engine time, as the device says
 * @NNPU_LATENCY_TOTAL: from SUBMIT to its end
 * @NNPU_NUM_LATENCIES: number of times
 */
enum nnpu_latency {
	NNPU_LATENCY_WAIT,
	NNPU_LATENCY_RUN,
	NNPU_LATENCY_TOTAL,
	NNPU_NUM_LATENCIES,
};

unsigned int nnpu_latency_bucket(u64 ns);

#endif /* _NNPU_LATENCY_H_ */
