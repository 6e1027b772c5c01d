/* SPDX-License-Identifier: MIT */
/*
 * A model: the structures of libnnhal, as the program fills them in.
 */
#ifndef NDK_MODEL_H
#define NDK_MODEL_H

#include <stdatomic.h>

#include "ndk.h"

/* Lives as long as the model: dimensions, scales, lists of operands, names. */
struct ndk_block {
	struct ndk_block *next;
	uint64_t bytes[];
};

/*
 * A model for libnnhal in one piece: subgraphs of other models are relocated into it. @extensions are those of all;
 * the names are the models'. @slots is a hash table of @models while these are collected: their numbers, plus one.
 */
struct ndk_flat {
	struct nnhal_model hal;
	struct nnhal_subgraph *subgraphs;
	const struct ANeuralNetworksModel **models;
	uint32_t num_models;
	uint32_t *slots;
	uint32_t num_slots;
	uint8_t *values;
	struct nnhal_memory **pools;
	struct nnhal_extension_prefix *extensions;
	struct nnhal_operand *main_operands;
};

struct ANeuralNetworksModel {
	atomic_uint refs;
	bool finished;
	bool valid;
	bool identified;
	bool relaxed;

	/*
	 * Locations count in this model: CONSTANT_COPY in @values, CONSTANT_REFERENCE in @pools,
	 * SUBGRAPH in @models. An operand without a value is a TEMPORARY_VARIABLE until
	 * identifyInputsAndOutputs().
	 */
	struct nnhal_operand *operands;
	uint32_t num_operands;
	struct nnhal_operation *operations;
	uint32_t num_operations;
	uint32_t *inputs, *outputs;
	uint32_t num_inputs, num_outputs;
	uint8_t *values;
	uint32_t values_size, values_room;
	struct nnhal_memory **pools;
	uint32_t num_pools;
	struct ANeuralNetworksModel **models;
	uint32_t num_models;
	struct nnhal_extension_prefix *extensions;
	uint32_t num_extensions;
	struct ndk_block *blocks;
	struct ANeuralNetworksModel *next_dying;

	/* Of a valid model: what devices get, and which operation of the program each of its is. */
	struct ndk_flat flat;
	uint32_t *order;
};

void *ndk_model_alloc(ANeuralNetworksModel *model, size_t count, size_t size);
/* Room for one more entry of an array with @count; NULL if there is no memory. */
void *ndk_grow(void *array, uint32_t count, size_t entry);
ANeuralNetworksModel *ndk_model_ref(ANeuralNetworksModel *model);

int ndk_flatten(struct ndk_flat *flat, const ANeuralNetworksModel *model,
		const struct nnhal_subgraph *main);
void ndk_flat_fini(struct ndk_flat *flat);

/* Does it follow the rules of libnnhal? */
int ndk_check_flat(const ANeuralNetworksModel *model, const struct ndk_flat *flat);

/* A reason of libnnhal that begins with an operation names it as the program does. Returns @diag. */
const struct nnhal_diag *ndk_renumber(const ANeuralNetworksModel *model, struct nnhal_diag *diag);

/* The operations in an order in which they can run; BAD_DATA: there is none. */
int ndk_sort_operations(ANeuralNetworksModel *model);

/* Would this operand of this number, and would this operation with its operands be valid, by the rules of libnnhal? */
int ndk_check_operand(const ANeuralNetworksModel *model, const struct nnhal_operand *operand, uint32_t number);
int ndk_check_operation(const ANeuralNetworksModel *model,
			const struct nnhal_operation *operation);

#endif /* NDK_MODEL_H */
