// SPDX-License-Identifier: MIT
/*
 * Types of vendor extensions in a model. The prefix of an extension is its number in the model.
 */
#include <string.h>

#include "model/ndk_model.h"

static int find_prefix(ANeuralNetworksModel *model, const char *name, uint32_t *prefix)
{
	struct nnhal_extension_prefix *grown;
	char *copy;
	uint32_t i;

	for (i = 0; i < model->num_extensions; i++)
		if (!strcmp(model->extensions[i].name, name)) {
			*prefix = model->extensions[i].prefix;
			return ANEURALNETWORKS_NO_ERROR;
		}
	if (!ndk_extension_exists(name))
		return ANEURALNETWORKS_BAD_DATA;
	/* Types are positive numbers of 32 bits. */
	if (model->num_extensions == INT16_MAX)
		return ANEURALNETWORKS_BAD_DATA;
	grown = ndk_grow(model->extensions, model->num_extensions, sizeof(*grown));
	copy = ndk_model_alloc(model, strlen(name) + 1, 1);
	if (grown)
		model->extensions = grown;
	if (!grown || !copy)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	strcpy(copy, name);
	*prefix = ++model->num_extensions;
	grown[*prefix - 1] = (struct nnhal_extension_prefix){
		.name = copy, .prefix = (uint16_t)*prefix,
	};
	return ANEURALNETWORKS_NO_ERROR;
}

static int get_type(ANeuralNetworksModel *model, const char *name, uint16_t code, int32_t *type)
{
	uint32_t prefix;
	int result;

	if (!model || !name || !type)
		return ANEURALNETWORKS_UNEXPECTED_NULL;
	if (model->finished)
		return ANEURALNETWORKS_BAD_STATE;
	result = find_prefix(model, name, &prefix);
	if (!result)
		*type = (int32_t)(prefix << 16 | code);
	return result;
}

int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model,
						 const char *extensionName,
						 uint16_t operandCodeWithinExtension,
						 int32_t *type)
{
	return get_type(model, extensionName, operandCodeWithinExtension, type);
}

int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model,
						   const char *extensionName,
						   uint16_t operationCodeWithinExtension,
						   ANeuralNetworksOperationType *type)
{
	return get_type(model, extensionName, operationCodeWithinExtension, type);
}
