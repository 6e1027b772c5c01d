/* SPDX-License-Identifier: MIT */
/*
 * Percentiles of measured values.
 */
#ifndef TOOLS_SAMPLES_H
#define TOOLS_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* Sort @count values, smallest first. */
void samples_sort(uint64_t *samples, size_t count);

/*
 * The value that @percent of the @count sorted values do not exceed (nearest rank). There
 * is at least one value.
 */
static inline uint64_t samples_percentile(const uint64_t *sorted, size_t count,
					  unsigned int percent)
{
	size_t rank = (count * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

#endif /* TOOLS_SAMPLES_H */
