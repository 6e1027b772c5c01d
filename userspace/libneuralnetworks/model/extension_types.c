// SPDX-License-Identifier: MIT
/*
 * Types of vendor extensions in a model. The prefix of an extension is its number in the model.
 */
#include <string.h>

#include "base/ndk_why.h"
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
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "no device has the extension %s", name);
	/* Types are positive numbers of 32 bits. */
	if (model->num_extensions == INT16_MAX)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "more than %d extensions", INT16_MAX);
	grown = ndk_grow(model->extensions, model->num_extensions, sizeof(*grown));
	copy = ndk_model_alloc(model, strlen(name) + 1, 1);
	if (grown)
		model->extensions = grown;
	if (!grown || !copy)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	strcpy(copy, name);
	*prefix = ++model->num_extensions;
	grown[*prefix - 1] = (struct nnhal_extension_prefix){
		.name = copy, .prefix = (uint16_t)*prefix,
	};
	return ANEURALNETWORKS_NO_ERROR;
}

static int get_type(ANeuralNetworksModel *model, const char *extensionName, uint16_t code, int32_t *type)
{
	uint32_t prefix;
	int result;

	if (!model || !extensionName || !type)
		return WHY_NULL(model, extensionName, type);
	if (model->finished)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the model is finished");
	result = find_prefix(model, extensionName, &prefix);
	if (!result)
		*type = (int32_t)(prefix << 16 | code);
	return result;
}

int ANeuralNetworksModel_getExtensionOperandType(ANeuralNetworksModel *model,
						 const char *extensionName,
						 uint16_t operandCodeWithinExtension,
						 int32_t *type)
{
	return TELL(get_type(model, extensionName, operandCodeWithinExtension, type));
}

int ANeuralNetworksModel_getExtensionOperationType(ANeuralNetworksModel *model,
						   const char *extensionName,
						   uint16_t operationCodeWithinExtension,
						   ANeuralNetworksOperationType *type)
{
	return TELL(get_type(model, extensionName, operationCodeWithinExtension, type));
}
