/* SPDX-License-Identifier: MIT */
/*
 * What an operation of a model takes, as far as its shapes tell.
 */
#ifndef NNRUN_OPERATION_WORK_H
#define NNRUN_OPERATION_WORK_H

#include <stdint.h>

#include <nnhal/nnhal.h>

/*
 * struct operation_work - of one operation
 * @macs: multiply-accumulates of a convolution or a product of matrices, else 0
 * @live: bytes of the intermediate tensors that exist while it runs
 */
struct operation_work {
	uint64_t macs;
	uint64_t live;
};

/*
 * Fill in @work for each operation of the main subgraph. A tensor whose shape is not known counts
 * as empty. 0, or -1 without memory.
 */
int operation_work_of(const struct nnhal_model *model, struct operation_work *work);

#endif /* NNRUN_OPERATION_WORK_H */
