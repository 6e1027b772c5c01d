// SPDX-License-Identifier: MIT
/*
 * Models: creation, memory, end.
 */
#include <stdlib.h>

#include "base/ndk_why.h"
#include "model/ndk_model.h"

void *ndk_model_alloc(ANeuralNetworksModel *model, size_t count, size_t size)
{
	struct ndk_block *block;

	if (count > (SIZE_MAX / 2 - sizeof(*block)) / size)
		return NULL;
	block = calloc(1, sizeof(*block) + count * size);
	if (!block)
		return NULL;
	block->next = model->blocks;
	model->blocks = block;
	return block->bytes;
}

/* The room is the next power of two, so it need not be remembered. */
void *ndk_grow(void *array, uint32_t count, size_t entry)
{
	uint64_t room = count ? 2 * (uint64_t)count : 1;

	if (count == UINT32_MAX || room > SIZE_MAX / entry)
		return NULL;
	if (count & (count - 1))
		return array;
	return realloc(array, room * entry);
}

int ANeuralNetworksModel_create(ANeuralNetworksModel **model)
{
	ANeuralNetworksModel *m;

	if (!model)
		return REFUSE_NULL(model);
	*model = NULL;
	m = calloc(1, sizeof(*m));
	if (!m)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	atomic_init(&m->refs, 1);
	*model = m;
	return ANEURALNETWORKS_NO_ERROR;
}

ANeuralNetworksModel *ndk_model_ref(ANeuralNetworksModel *model)
{
	atomic_fetch_add_explicit(&model->refs, 1, memory_order_relaxed);
	return model;
}

static bool last_reference(ANeuralNetworksModel *model)
{
	return atomic_fetch_sub_explicit(&model->refs, 1, memory_order_acq_rel) == 1;
}

/* Put the models that only @model has referred to on the list of those to free. */
static ANeuralNetworksModel *release_models(ANeuralNetworksModel *model,
					    ANeuralNetworksModel *dying)
{
	uint32_t i;

	for (i = 0; i < model->num_models; i++)
		if (last_reference(model->models[i])) {
			model->models[i]->next_dying = dying;
			dying = model->models[i];
		}
	return dying;
}

/* A list instead of a recursion: models may refer to each other in a long chain. */
void ANeuralNetworksModel_free(ANeuralNetworksModel *model)
{
	ANeuralNetworksModel *dying;
	struct ndk_block *block, *next;
	uint32_t i;

	if (!model || !last_reference(model))
		return;
	for (dying = model; dying; ) {
		model = dying;
		dying = release_models(model, model->next_dying);
		ndk_flat_fini(&model->flat);
		for (i = 0; i < model->num_pools; i++)
			nnhal_memory_unref(model->pools[i]);
		for (block = model->blocks; block; block = next) {
			next = block->next;
			free(block);
		}
		free(model->operands);
		free(model->operations);
		free(model->values);
		free(model->pools);
		free(model->models);
		free(model->extensions);
		free(model);
	}
}
