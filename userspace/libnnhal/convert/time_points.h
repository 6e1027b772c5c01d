/* SPDX-License-Identifier: MIT */
/*
 * Time points on two clocks.
 */
#ifndef NNHAL_TIME_POINTS_H
#define NNHAL_TIME_POINTS_H

#include <stdint.h>

/*
 * The time on a clock that shows @now_to when another clock, on which @time is, shows @now_from. At
 * least 0, at most UINT64_MAX - 1; NNHAL_NO_TIME if @time is.
 */
uint64_t time_point_move(uint64_t time, uint64_t now_from, uint64_t now_to);

#endif /* NNHAL_TIME_POINTS_H */
