// SPDX-License-Identifier: MIT
/*
 * Compilations: creation, what is said before finish(), end.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "compile/ndk_compilation.h"

static int make(ANeuralNetworksModel *model, const struct ANeuralNetworksDevice *const *devices,
		uint32_t count, ANeuralNetworksCompilation **compilation)
{
	ANeuralNetworksCompilation *c = calloc(1, sizeof(*c));

	if (!c)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	if (count) {
		c->devices = malloc(count * sizeof(*c->devices));
		if (!c->devices) {
			free(c);
			return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
		}
		memcpy(c->devices, devices, count * sizeof(*c->devices));
	}
	atomic_init(&c->refs, 1);
	pthread_mutex_init(&c->again_lock, NULL);
	c->model = ndk_model_ref(model);
	c->num_devices = count;
	c->chosen = count;
	c->preference = NNHAL_PREFER_FAST_SINGLE_ANSWER;
	c->priority = NNHAL_PRIORITY_MEDIUM;
	*compilation = c;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_create(ANeuralNetworksModel *model,
				      ANeuralNetworksCompilation **compilation)
{
	if (!compilation)
		return REFUSE_NULL(compilation);
	*compilation = NULL;
	if (!model)
		return REFUSE_NULL(model);
	if (!model->valid)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is not finished, or its finish failed");
	return TELL(make(model, NULL, 0, compilation));
}

int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
						const struct ANeuralNetworksDevice *const *devices,
						uint32_t numDevices,
						ANeuralNetworksCompilation **compilation)
{
	int result;

	if (!compilation)
		return REFUSE_NULL(compilation);
	*compilation = NULL;
	if (!model || !devices)
		return REFUSE_NULL(model, devices);
	result = ndk_check_devices(devices, numDevices);
	if (result == ANEURALNETWORKS_UNEXPECTED_NULL)
		return TELL(result);
	if (!model->valid)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the model is not finished, or its finish failed");
	return TELL(result ? result : make(model, devices, numDevices, compilation));
}

ANeuralNetworksCompilation *ndk_compilation_ref(ANeuralNetworksCompilation *compilation)
{
	atomic_fetch_add_explicit(&compilation->refs, 1, memory_order_relaxed);
	return compilation;
}

void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation)
{
	struct ndk_spare *spare;

	if (!compilation ||
	    atomic_fetch_sub_explicit(&compilation->refs, 1, memory_order_acq_rel) != 1)
		return;
	spare = atomic_load_explicit(&compilation->spare, memory_order_relaxed);
	if (spare)
		spare->destroy(spare);
	ndk_plan_free(compilation->plan);
	nnhal_prepared_model_unref(compilation->again);
	pthread_mutex_destroy(&compilation->again_lock);
	nnhal_prepared_model_unref(compilation->prepared);
	nnhal_device_unref(compilation->device);
	ANeuralNetworksModel_free(compilation->model);
	free(compilation->devices);
	free(compilation->shapes);
	free(compilation->cache_dir);
	free(compilation);
}

int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation,
					     int32_t preference)
{
	if (!compilation)
		return REFUSE_NULL(compilation);
	if (compilation->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is finished");
	if (preference < ANEURALNETWORKS_PREFER_LOW_POWER ||
	    preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "preference %d, expected %d to %d", preference,
			      ANEURALNETWORKS_PREFER_LOW_POWER, ANEURALNETWORKS_PREFER_SUSTAINED_SPEED);
	compilation->preference = preference;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setPriority(ANeuralNetworksCompilation *compilation, int priority)
{
	if (!compilation)
		return REFUSE_NULL(compilation);
	if (compilation->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is finished");
	switch (priority) {
	case ANEURALNETWORKS_PRIORITY_LOW:
		compilation->priority = NNHAL_PRIORITY_LOW;
		break;
	case ANEURALNETWORKS_PRIORITY_MEDIUM:
		compilation->priority = NNHAL_PRIORITY_MEDIUM;
		break;
	case ANEURALNETWORKS_PRIORITY_HIGH:
		compilation->priority = NNHAL_PRIORITY_HIGH;
		break;
	default:
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "priority %d, expected %d, %d or %d", priority,
			      ANEURALNETWORKS_PRIORITY_LOW,
			      ANEURALNETWORKS_PRIORITY_MEDIUM, ANEURALNETWORKS_PRIORITY_HIGH);
	}
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setTimeout(ANeuralNetworksCompilation *compilation,
					  uint64_t duration)
{
	if (!compilation)
		return REFUSE_NULL(compilation);
	if (compilation->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is finished");
	if (!ndk_has_one_device(compilation))
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "a timeout takes exactly one device in createForDevices()");
	compilation->timeout_ns = duration;
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksCompilation_setCaching(ANeuralNetworksCompilation *compilation,
					  const char *cacheDir, const uint8_t *token)
{
	char *copy;

	if (!compilation || !cacheDir || !token)
		return REFUSE_NULL(compilation, cacheDir, token);
	if (compilation->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is finished");
	copy = strdup(cacheDir);
	if (!copy)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	free(compilation->cache_dir);
	compilation->cache_dir = copy;
	memcpy(compilation->token, token, sizeof(compilation->token));
	return ANEURALNETWORKS_NO_ERROR;
}
