// SPDX-License-Identifier: MIT
/*
 * What devices say about a model: the program asks, and a model is cut by the same answers.
 */
#include "ndk.h"

/* A device that fails supports nothing: the answer is about what can run now. */
bool ndk_device_supports(const ANeuralNetworksDevice *device, const struct nnhal_model *model,
			 bool *supported, int *result)
{
	struct nnhal_device *open = ndk_device_open(device, result);
	enum nnhal_status status;

	if (!open) {
		if (*result != ANEURALNETWORKS_OUT_OF_MEMORY)
			*result = ANEURALNETWORKS_NO_ERROR;
		return false;
	}
	status = nnhal_device_get_supported_operations(open, model, supported,
						       model->main.num_operations, NULL);
	nnhal_device_unref(open);
	return !status;
}
