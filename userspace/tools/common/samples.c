// SPDX-License-Identifier: MIT
/*
 * Percentiles of measured values.
 */
#include <stdlib.h>

#include "samples.h"

static int compare_values(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void samples_sort(uint64_t *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare_values);
}
