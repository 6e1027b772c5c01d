// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of times: which bucket a time belongs to. */
#include <linux/log2.h>
#include <linux/minmax.h>

#include "nnpu_latency.h"

/**
 * nnpu_latency_bucket - the bucket of a time
 * @ns: time
 *
 * A bucket spans times up to twice the smallest: that takes no division, and one table of a few
 * lines covers a microsecond and a quarter of an hour.
 *
 * Return: number of the bucket, as NNPU_LATENCY_BUCKETS of the specification says.
 */
unsigned int nnpu_latency_bucket(u64 ns)
{
	if (ns < BIT_ULL(NNPU_LATENCY_SHIFT))
		return 0;
	return min_t(unsigned int, ilog2(ns) - NNPU_LATENCY_SHIFT + 1, NNPU_LATENCY_BUCKETS - 1);
}
