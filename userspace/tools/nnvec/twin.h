/* SPDX-License-Identifier: MIT */
/*
 * The signed twin of a case on unsigned quantized tensors.
 */
#ifndef NNVEC_TWIN_H
#define NNVEC_TWIN_H

#include "../common/nntc.h"
#include "case_model.h"

/**
 * struct twin - a case with signed tensors
 * @nc: the case; all but the operands is shared with the original
 * @operands: its operands
 * @data: their values
 */
struct twin {
	struct nntc_case nc;
	struct nntc_operand *operands;
	uint8_t *data;
};

/*
 * Make TENSOR_QUANT8_ASYMM_SIGNED of TENSOR_QUANT8_ASYMM: values and zero points less
 * 128, which stands for the same numbers. BUILD_SKIP: there is no such case; BUILD_FAIL:
 * no memory. Both with a text of REASON_TEXT bytes. The original has to stay.
 */
enum build_result twin_init(struct twin *t, const struct nntc_case *nc, char *reason);

void twin_free(struct twin *t);

#endif /* NNVEC_TWIN_H */
