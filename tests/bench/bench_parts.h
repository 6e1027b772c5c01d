/* SPDX-License-Identifier: MIT */
/*
 * Models that XNNPACK has no operators for in part: those operations that it has are compared.
 */
#ifndef NNPU_BENCH_BENCH_PARTS_H
#define NNPU_BENCH_BENCH_PARTS_H

#include <stdbool.h>

#include <nntflite/nntflite.h>

#include "userspace/tools/common/error.h"

#define MAX_LEFT_OUT	400

/*
 * struct parts - sums over the operations that XNNPACK has
 * @device_ms, @xnnpack_ms: of the medians
 * @device_least_ms, @xnnpack_least_ms: of the least times
 * @operations, @compared: how many operations there are, and how many of them are in the sums
 * @time_share: part of the device's time for all operations
 * @macs_share: part of the multiply-accumulates of convolutions and FULLY_CONNECTED of the HAL;
 *	NaN if there are none
 * @identical: the outputs are those of the plain kernels
 * @largest_difference: of float results of an operation, of the largest value
 * @largest_steps: of other results
 * @left_out: types of the other operations and how many
 */
struct parts {
	double device_ms, xnnpack_ms;
	double device_least_ms, xnnpack_least_ms;
	uint32_t operations, compared;
	double time_share, macs_share;
	bool identical;
	double largest_difference, largest_steps;
	char left_out[MAX_LEFT_OUT];
};

/*
 * @inputs: of each input of the model. @by_layer: print the least times of each operation that is
 * compared. 0 or -1; it is an error if an operation's results differ.
 */
int parts_measure(const struct nntflite_model *model, void *const *inputs, double seconds,
		  bool by_layer, struct parts *parts, struct error *err);

#endif /* NNPU_BENCH_BENCH_PARTS_H */
