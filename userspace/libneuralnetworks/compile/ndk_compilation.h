/* SPDX-License-Identifier: MIT */
/*
 * A compilation: a model, prepared by one device or in steps by several.
 */
#ifndef NDK_COMPILATION_H
#define NDK_COMPILATION_H

#include <pthread.h>
#include <stdatomic.h>

#include "compile/argument_shape.h"
#include "compile/ndk_plan.h"

/**
 * struct ndk_spare - what a compilation keeps for the next execution
 * @destroy: free it, for a compilation that goes away
 */
struct ndk_spare {
	void (*destroy)(struct ndk_spare *spare);
};

/**
 * struct ANeuralNetworksCompilation - a compilation
 * @refs: the program's, and one for each object made of it
 * @model: a reference
 * @devices: those that the caller chose, or all that were there, hardware first
 * @num_devices: entries of @devices
 * @chosen: the caller chose them
 * @finished: finish() was called
 * @valid: and succeeded
 * @preference: enum nnhal_preference, which has the NNAPI's numbers
 * @priority: enum nnhal_priority
 * @timeout_ns: 0: none
 * @cache_dir: folder of cache files, or NULL
 * @token: names the model there
 * @shapes: of inputs, then of outputs, when it is valid
 * @open_shapes: one of them is open
 * @spare: of an execution that was freed; NULL: there is none
 * @device: the device that prepared the whole, open
 * @prepared: the whole; NULL with @plan NULL: no device takes the model, which executions tell
 * @plan: the model in steps, or NULL
 * @why: why no device takes the model, for people
 * @explains: somebody reads why executions fail, so libnnhal is asked
 * @on_reference: nnapi-reference prepared the whole
 * @counter: counts the executions
 * @again_lock: for the fields below
 * @again: of nnapi-reference, for executions that have failed; NULL: none has, or it cannot
 * @again_refused: nnapi-reference does not take the model
 */
struct ANeuralNetworksCompilation {
	atomic_uint refs;
	struct ANeuralNetworksModel *model;
	const struct ANeuralNetworksDevice **devices;
	uint32_t num_devices;
	bool chosen;
	bool finished;
	bool valid;
	int32_t preference;
	int32_t priority;
	uint64_t timeout_ns;
	char *cache_dir;
	uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN];
	struct ndk_shape *shapes;
	bool open_shapes;
	struct ndk_spare *_Atomic spare;
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
	struct ndk_plan *plan;
	struct nnhal_diag why;
	bool explains;
	bool on_reference;
	atomic_uint_fast64_t *counter;
	pthread_mutex_t again_lock;
	struct nnhal_prepared_model *again;
	bool again_refused;
};

ANeuralNetworksCompilation *ndk_compilation_ref(ANeuralNetworksCompilation *compilation);

/* Timeouts and times are there for one device that the caller chose. */
static inline bool ndk_has_one_device(const ANeuralNetworksCompilation *compilation)
{
	return compilation->chosen && compilation->num_devices == 1;
}

/* The shape of an input or output of a valid compilation; NULL: there is none of this number. */
const struct ndk_shape *ndk_argument_shape(const ANeuralNetworksCompilation *compilation,
					   bool output, uint32_t index);

/* The operand of an input or output; NULL: there is none of this number. */
const struct nnhal_operand *ndk_argument_operand(const ANeuralNetworksCompilation *compilation,
						 bool output, uint32_t index);

/* What there is to say to libnnhal when a model or a step is prepared. */
void ndk_prepare_options(const ANeuralNetworksCompilation *compilation, uint64_t deadline_ns,
			 struct nnhal_prepare_options *options);

/**
 * struct ndk_cached - what is prepared with a cache
 * @device: device
 * @open: it, open
 * @model: model
 * @token: names it in the folder
 */
struct ndk_cached {
	const struct ANeuralNetworksDevice *device;
	struct nnhal_device *open;
	const struct nnhal_model *model;
	const uint8_t *token;
};

/*
 * Prepare a model by a device, from the files of a cache if they have it, else with the cache being
 * written. @options has what else there is to say.
 */
enum nnhal_status ndk_prepare_cached(const ANeuralNetworksCompilation *compilation,
				     const struct ndk_cached *what,
				     struct nnhal_prepare_options *options,
				     struct nnhal_prepared_model **prepared);

/*
 * The token of a step: that of the model, and the operations in the step, which may be others when
 * there are other devices.
 */
void ndk_step_token(const uint8_t *token, const uint32_t *operations, uint32_t count,
		    uint8_t *step_token);

/*
 * Find the devices that run the compilation, and prepare it. BAD_DATA: the devices do not take the model.
 */
int ndk_find_devices(ANeuralNetworksCompilation *compilation);

/*
 * The whole model, prepared by nnapi-reference for executions that failed elsewhere; the compilation has the
 * reference. NULL: it cannot be had. The first caller waits for the preparation, and others with it.
 */
struct nnhal_prepared_model *ndk_reference_model(ANeuralNetworksCompilation *compilation);

/* Does nnapi-reference reach memory without a copy? Only of compilations that have a reference model. */
bool ndk_reference_reaches(const ANeuralNetworksCompilation *compilation, struct nnhal_memory *memory);

#endif /* NDK_COMPILATION_H */
