/* SPDX-License-Identifier: MIT */
/*
 * The inputs and outputs of a mapped model, as the rest of nnrun sees them.
 */
#ifndef NNRUN_MODEL_TENSORS_H
#define NNRUN_MODEL_TENSORS_H

#include "../common/error.h"
#include "tensor.h"
#include "tflite_to_hal.h"

/* 0, or -1 without memory. tensors_free() also after an error. */
int tensors_of_model(struct tensors *tensors, const struct hal_model *model,
		     const struct tflite_model *tflite, struct error *err);
void tensors_free(struct tensors *tensors);

#endif /* NNRUN_MODEL_TENSORS_H */
