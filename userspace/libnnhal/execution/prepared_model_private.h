/* SPDX-License-Identifier: MIT */
/*
 * Prepared models.
 */
#ifndef NNHAL_PREPARED_MODEL_PRIVATE_H
#define NNHAL_PREPARED_MODEL_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "device/device_private.h"
#include "execution/validate_request.h"
#include "model/model_image.h"

struct execution;

struct nnhal_prepared_model {
	atomic_uint refs;
	struct nnhal_device *device;
	uint32_t program;
	int32_t priority;
	struct request_rules rules;
	uint32_t num_operations;
	uint32_t num_commands;
	struct command_origin *command_origins;
	bool has_loops;
	int32_t preference;
	uint64_t device_memory;
	uint64_t image_size;
	void *block;			/* arg_info and dims */
	pthread_mutex_t lock;
	struct execution *idle;		/* executions to use again */
	uint32_t num_idle;
};

#endif /* NNHAL_PREPARED_MODEL_PRIVATE_H */
