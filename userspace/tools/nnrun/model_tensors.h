/* SPDX-License-Identifier: MIT */
/*
 * The inputs and outputs of a mapped model, as the rest of nnrun sees them.
 */
#ifndef NNRUN_MODEL_TENSORS_H
#define NNRUN_MODEL_TENSORS_H

#include <nntflite/nntflite.h>

#include "../common/error.h"
#include "tensor.h"

/* 0, or -1 without memory. tensors_free() also after an error. */
int tensors_of_model(struct tensors *tensors, const struct nntflite_model *model,
		     struct error *err);
void tensors_free(struct tensors *tensors);

#endif /* NNRUN_MODEL_TENSORS_H */
