// SPDX-License-Identifier: MIT
/*
 * The inputs and outputs of a mapped model, as the rest of nnrun sees them.
 */
#include <stdlib.h>
#include <string.h>

#include "model_tensors.h"

_Static_assert(TENSOR_MAX_RANK >= TFLITE_MAX_RANK, "a tensor of the file fits");

static struct tensor *copy(const struct hal_io *io, uint32_t count,
			   const struct tflite_model *tflite)
{
	struct tensor *tensors = calloc(count ? count : 1, sizeof(*tensors));
	uint32_t i;

	for (i = 0; tensors && i < count; i++) {
		struct tensor *t = &tensors[i];

		text_print(tflite->tensors[io[i].tensor].name, t->name, sizeof(t->name));
		t->type = io[i].type;
		t->rank = io[i].rank;
		memcpy(t->dims, io[i].dims, io[i].rank * sizeof(*t->dims));
		t->elements = io[i].elements;
		t->bytes = io[i].bytes;
		t->scale = io[i].scale;
		t->zero_point = io[i].zero_point;
	}
	return tensors;
}

int tensors_of_model(struct tensors *tensors, const struct hal_model *model,
		     const struct tflite_model *tflite, struct error *err)
{
	tensors->num_inputs = model->num_inputs;
	tensors->num_outputs = model->num_outputs;
	tensors->inputs = copy(model->inputs, model->num_inputs, tflite);
	tensors->outputs = copy(model->outputs, model->num_outputs, tflite);
	return tensors->inputs && tensors->outputs ? 0 : fail(err, "out of memory");
}

void tensors_free(struct tensors *tensors)
{
	free(tensors->inputs);
	free(tensors->outputs);
	*tensors = (struct tensors){ .inputs = NULL };
}
