/* SPDX-License-Identifier: MIT */
/*
 * The largest of many differences.
 */
#ifndef TESTS_DIFFERENCE_H
#define TESTS_DIFFERENCE_H

#include <math.h>

/*
 * The larger of the largest difference so far and another one. NaN, the difference to what
 * is no number, is larger than all others and stays.
 */
static inline double larger_difference(double largest, double difference)
{
	return isnan(largest) || largest > difference ? largest : difference;
}

/* Is the largest difference within a limit? NaN is within none. */
static inline int is_within(double largest, double limit)
{
	return largest <= limit;
}

#endif /* TESTS_DIFFERENCE_H */
