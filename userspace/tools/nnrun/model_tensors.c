// SPDX-License-Identifier: MIT
/*
 * The inputs and outputs of a mapped model, as the rest of nnrun sees them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_tensors.h"

_Static_assert(TENSOR_MAX_RANK >= NNTFLITE_MAX_RANK, "a tensor of the file fits");

static struct tensor *copy(const struct nntflite_model *model, uint32_t count,
			   const struct nntflite_io *(*get)(const struct nntflite_model *model,
							    uint32_t index))
{
	struct tensor *tensors = calloc(count ? count : 1, sizeof(*tensors));
	uint32_t i;

	for (i = 0; tensors && i < count; i++) {
		const struct nntflite_io *io = get(model, i);
		struct tensor *t = &tensors[i];

		snprintf(t->name, sizeof(t->name), "%s", io->name);
		t->type = io->type;
		t->rank = io->rank;
		memcpy(t->dims, io->dims, io->rank * sizeof(*t->dims));
		t->elements = io->elements;
		t->bytes = io->bytes;
		t->scale = io->scale;
		t->zero_point = io->zero_point;
	}
	return tensors;
}

int tensors_of_model(struct tensors *tensors, const struct nntflite_model *model,
		     struct error *err)
{
	tensors->num_inputs = nntflite_model_num_inputs(model);
	tensors->num_outputs = nntflite_model_num_outputs(model);
	tensors->inputs = copy(model, tensors->num_inputs, nntflite_model_input);
	tensors->outputs = copy(model, tensors->num_outputs, nntflite_model_output);
	return tensors->inputs && tensors->outputs ? 0 : fail(err, "out of memory");
}

void tensors_free(struct tensors *tensors)
{
	free(tensors->inputs);
	free(tensors->outputs);
	*tensors = (struct tensors){ .inputs = NULL };
}
