// SPDX-License-Identifier: MIT
/*
 * Compilations: their end, and what is known of a finished one.
 */
#include <stdlib.h>

#include "base/ndk_log.h"
#include "base/ndk_why.h"
#include "compile/ndk_compilation.h"

/* What a device of the compilation says about a type of an extension; NULL: it is another type, or none knows. */
static const struct nnhal_operand_type_info *type_info(const ANeuralNetworksCompilation *c, uint32_t type,
						       struct nnhal_operand_type_info *info)
{
	const struct nnhal_model *model = &c->model->flat.hal;

	*info = (struct nnhal_operand_type_info)NNHAL_OPERAND_TYPE_INFO_INIT;
	if (!nnhal_is_extension_operand_type(type))
		return NULL;
	if (c->device && !nnhal_device_get_operand_type_info(c->device, model, type, info))
		return info;
	for (uint32_t i = 0; c->plan && i < c->plan->num_steps; i++)
		if (!nnhal_device_get_operand_type_info(c->plan->steps[i].open, model, type, info))
			return info;
	return NULL;
}

static void make_shape(const ANeuralNetworksCompilation *c, uint32_t index, struct ndk_shape *shape)
{
	const struct nnhal_operand *operand = &c->model->flat.hal.main.operands[index];
	struct nnhal_operand_type_info info;

	ndk_shape_of_operand(operand, type_info(c, operand->type, &info), shape);
}

/* Once for all executions. */
static int make_shapes(ANeuralNetworksCompilation *c)
{
	const struct nnhal_subgraph *main = &c->model->flat.hal.main;
	struct ndk_shape *to;
	uint32_t i;

	to = calloc((size_t)main->num_inputs + main->num_outputs, sizeof(*to));
	if (!to)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	c->shapes = to;
	for (i = 0; i < main->num_inputs; i++)
		make_shape(c, main->input_indexes[i], to++);
	for (i = 0; i < main->num_outputs; i++)
		make_shape(c, main->output_indexes[i], to++);
	while (to-- > c->shapes)
		c->open_shapes |= to->is_open;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation)
{
	int result;

	if (!compilation)
		return REFUSE_NULL(compilation);
	if (compilation->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is finished");
	compilation->finished = true;
	compilation->explains = ndk_log_is_on();
	result = ndk_find_devices(compilation);
	/*
	 * A model that no device takes, perhaps for a value of an operand, is refused when it is executed: the
	 * NNAPI looks at values no earlier. Who chose the devices learns it at once.
	 */
	if (result == ANEURALNETWORKS_BAD_DATA && !compilation->chosen)
		result = ANEURALNETWORKS_NO_ERROR;
	if (!result)
		result = make_shapes(compilation);
	compilation->valid = !result;
	return TELL(result);
}

const struct nnhal_operand *ndk_argument_operand(const ANeuralNetworksCompilation *compilation,
						 bool output, uint32_t index)
{
	const struct nnhal_subgraph *main = &compilation->model->flat.hal.main;

	if (index >= (output ? main->num_outputs : main->num_inputs))
		return NULL;
	return &main->operands[output ? main->output_indexes[index] : main->input_indexes[index]];
}

const struct ndk_shape *ndk_argument_shape(const ANeuralNetworksCompilation *compilation,
					   bool output, uint32_t index)
{
	const struct nnhal_subgraph *main = &compilation->model->flat.hal.main;

	if (index >= (output ? main->num_outputs : main->num_inputs))
		return NULL;
	return &compilation->shapes[output ? main->num_inputs + index : index];
}

/* Devices reach an argument at any address and write no byte behind it: 1 for both. */
static int get_preferred(const ANeuralNetworksCompilation *compilation, bool output,
			 uint32_t index, uint32_t *number)
{
	if (!compilation || !number)
		return WHY_NULL(compilation, number);
	if (!compilation->valid)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the compilation is not finished, or its finish failed");
	if (!ndk_argument_operand(compilation, output, index))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u: the model has none of this number",
			       output ? "output" : "input", index);
	*number = 1;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForInput(
	const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment)
{
	return TELL(get_preferred(compilation, false, index, alignment));
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForInput(
	const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding)
{
	return TELL(get_preferred(compilation, false, index, padding));
}

int ANeuralNetworksCompilation_getPreferredMemoryAlignmentForOutput(
	const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *alignment)
{
	return TELL(get_preferred(compilation, true, index, alignment));
}

int ANeuralNetworksCompilation_getPreferredMemoryPaddingForOutput(
	const ANeuralNetworksCompilation *compilation, uint32_t index, uint32_t *padding)
{
	return TELL(get_preferred(compilation, true, index, padding));
}
