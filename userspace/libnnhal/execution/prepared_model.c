// SPDX-License-Identifier: MIT
/*
 * Prepared models: references, release, information.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <nnhal/nnhal.h>

#include "base/base.h"
#include "device/device_private.h"
#include "execution/execution_pool.h"
#include "execution/prepared_model_private.h"
#include "transport/transport.h"

struct nnhal_prepared_model *nnhal_prepared_model_ref(struct nnhal_prepared_model *model)
{
	atomic_fetch_add_explicit(&model->refs, 1, memory_order_relaxed);
	return model;
}

void nnhal_prepared_model_unref(struct nnhal_prepared_model *model)
{
	struct transport *t;

	if (!model || atomic_fetch_sub_explicit(&model->refs, 1, memory_order_acq_rel) != 1)
		return;
	t = model->device->transport;
	if (device_is_own(model->device)) {
		executions_free(model);
		t->ops->program_unload(t, model->program);
	} else {
		executions_free_copy(model);
	}
	nnhal_device_unref(model->device);
	pthread_mutex_destroy(&model->lock);
	free(model->command_origins);
	free(model->block);
	free(model);
}

enum nnhal_status
nnhal_ext_get_prepared_model_info(const struct nnhal_prepared_model *model,
				  struct nnhal_ext_prepared_model_info *info)
{
	struct nnhal_ext_prepared_model_info facts;

	if (!model || !info ||
	    !result_size_is_valid(info, SIZE_UP_TO(struct nnhal_ext_prepared_model_info,
						   reserved)))
		return NNHAL_STATUS_INVALID_ARGUMENT;
	facts = (struct nnhal_ext_prepared_model_info){
		.device_memory = model->device_memory,
		.image_size = model->image_size,
		.num_operations = model->num_operations,
		.num_inputs = model->rules.num_inputs,
		.num_outputs = model->rules.num_outputs,
	};
	result_give(info, info->size, &facts, sizeof(facts));
	return NNHAL_STATUS_NONE;
}
