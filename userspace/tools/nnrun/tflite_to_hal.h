/* SPDX-License-Identifier: MIT */
/*
 * Mapping a TensorFlow Lite model to a HAL model.
 */
#ifndef NNRUN_TFLITE_TO_HAL_H
#define NNRUN_TFLITE_TO_HAL_H

#include <nnhal/nnhal.h>

#include "../common/error.h"
#include "hal_builder.h"
#include "tflite.h"

/**
 * struct hal_io - an input or output of the model
 * @tensor: tensor of the file
 * @operand: operand of the HAL model
 * @type: enum nnhal_operand_type
 * @rank: number of dimensions, at least 1
 * @dims: sizes
 * @elements: product of @dims
 * @bytes: bytes of one sample
 * @scale: quantization scale, 0 if the type has none
 * @zero_point: quantization zero point
 */
struct hal_io {
	uint32_t tensor;
	uint32_t operand;
	uint32_t type;
	uint32_t rank;
	uint32_t dims[TFLITE_MAX_RANK];
	size_t elements;
	size_t bytes;
	float scale;
	int32_t zero_point;
};

/**
 * struct hal_model - a HAL model with the facts needed to feed it
 * @builder: the model (builder.model) and what it was made of
 * @inputs: inputs in the order of the file
 * @outputs: outputs in the order of the file
 */
struct hal_model {
	struct hal_builder builder;
	struct hal_io *inputs;
	struct hal_io *outputs;
	uint32_t num_inputs;
	uint32_t num_outputs;
};

/**
 * tflite_to_hal() - map a model
 * @tflite: model; must stay until the HAL model has been released
 * @model: filled in; to be released with hal_model_free(), also after an error
 * @err: names the operator and tensor that cannot be mapped
 *
 * Only the main subgraph is mapped. Whether the device takes the operations is
 * the device's to say; what is refused here is what the HAL has no words for.
 *
 * Return: 0 or -1.
 */
int tflite_to_hal(struct tflite_model *tflite, struct hal_model *model, struct error *err);
void hal_model_free(struct hal_model *model);

#endif /* NNRUN_TFLITE_TO_HAL_H */
