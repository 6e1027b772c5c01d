/* SPDX-License-Identifier: MIT */
/*
 * A compilation: a model, prepared by one device.
 */
#ifndef NDK_COMPILATION_H
#define NDK_COMPILATION_H

#include <stdatomic.h>

#include "compile/argument_shape.h"
#include "model/ndk_model.h"

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
 * @spare: of an execution that was freed; NULL: there is none
 * @device: the device that prepared it, open
 * @prepared: NULL: no device takes the model, which executions tell
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
	struct ndk_spare *_Atomic spare;
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
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

/*
 * Prepare a model by a device, from the files of a cache if they have it, else with the cache being
 * written. @options has what else there is to say.
 */
enum nnhal_status ndk_prepare_cached(const ANeuralNetworksCompilation *compilation,
				     const ANeuralNetworksDevice *device,
				     struct nnhal_device *open,
				     struct nnhal_prepare_options *options,
				     struct nnhal_prepared_model **prepared);

#endif /* NDK_COMPILATION_H */
