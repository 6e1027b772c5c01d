// SPDX-License-Identifier: MIT
/*
 * Models in one piece.
 *
 * The NNAPI's models refer to each other; a model of the HAL contains the subgraphs it refers to, their
 * constants and their memory. Each model is taken once, however many refer to it: otherwise
 * a chain of models that each name the next one twice would double with every link.
 *
 * Models number their extensions each for itself. In one piece they have the numbers of the main
 * model, then those that only others have.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "model/ndk_model.h"

/* The slot that has a model, or the free one where it belongs. Addresses have their low bits in common. */
static uint32_t *slot_of(const struct ndk_flat *flat, const ANeuralNetworksModel *sub)
{
	uint64_t hash = (uintptr_t)sub * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(hash >> 32) & (flat->num_slots - 1);

	while (flat->slots[i] && flat->models[flat->slots[i] - 1] != sub)
		i = (i + 1) & (flat->num_slots - 1);
	return &flat->slots[i];
}

/* Half of the slots stay free. */
static bool make_slots(struct ndk_flat *flat)
{
	uint32_t count = flat->num_slots ? 2 * flat->num_slots : 8;
	uint32_t *slots;

	if (flat->num_models < flat->num_slots / 2)
		return true;
	slots = count ? calloc(count, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	free(flat->slots);
	flat->slots = slots;
	flat->num_slots = count;
	for (uint32_t i = 0; i < flat->num_models; i++)
		*slot_of(flat, flat->models[i]) = i + 1;
	return true;
}

/* The number of @sub among the subgraphs, or -1 without memory. */
static int64_t number_of(struct ndk_flat *flat, const ANeuralNetworksModel *sub)
{
	uint32_t *slot;
	void *models;

	if (!make_slots(flat))
		return -1;
	slot = slot_of(flat, sub);
	if (*slot)
		return *slot - 1;
	models = ndk_grow(flat->models, flat->num_models, sizeof(*flat->models));
	if (!models)
		return -1;
	flat->models = models;
	flat->models[flat->num_models] = sub;
	*slot = ++flat->num_models;
	return *slot - 1;
}

/* The number of an extension in the whole; 0 without memory. */
static uint32_t number_extension(struct ndk_flat *flat, const char *name)
{
	struct nnhal_extension_prefix *grown;
	uint32_t i;

	for (i = 0; i < flat->hal.num_extensions; i++)
		if (!strcmp(flat->extensions[i].name, name))
			return i + 1;
	grown = realloc(flat->extensions, ((size_t)i + 1) * sizeof(*grown));
	if (!grown)
		return 0;
	flat->extensions = grown;
	flat->extensions[i] = (struct nnhal_extension_prefix){
		.name = name, .prefix = (uint16_t)(i + 1),
	};
	return ++flat->hal.num_extensions;
}

/* Number all extensions of a model: those of the main model, which is the first, keep their numbers. */
static bool add_extensions(struct ndk_flat *flat, const ANeuralNetworksModel *from)
{
	for (uint32_t i = 0; i < from->num_extensions; i++)
		if (!number_extension(flat, from->extensions[i].name))
			return false;
	return true;
}

/* A type of @from in the whole. An unknown prefix stays as it is, and is refused. */
static uint32_t relocate_type(struct ndk_flat *flat, const ANeuralNetworksModel *from, uint32_t type)
{
	uint32_t prefix = type >> 16;

	if (!prefix || prefix > from->num_extensions)
		return type;
	return number_extension(flat, from->extensions[prefix - 1].name) << 16 | (type & 0xffff);
}

/*
 * A copy of operands whose types and locations count in the whole; models they refer to are appended. The
 * constants and pools of @from come after those that are there.
 */
static struct nnhal_operand *relocate(struct ndk_flat *flat, const ANeuralNetworksModel *from,
				      const struct nnhal_operand *operands, uint32_t count)
{
	struct nnhal_operand *copy = calloc(count ? count : 1, sizeof(*copy));
	int64_t number;
	uint32_t i;

	if (!copy)
		return NULL;
	for (i = 0; i < count; i++) {
		copy[i] = operands[i];
		copy[i].type = relocate_type(flat, from, copy[i].type);
		switch (copy[i].lifetime) {
		case NNHAL_LIFETIME_CONSTANT_COPY:
			copy[i].location.offset += (uint32_t)flat->hal.operand_values_size;
			break;
		case NNHAL_LIFETIME_CONSTANT_REFERENCE:
			copy[i].location.pool_index += flat->hal.num_pools;
			break;
		case NNHAL_LIFETIME_SUBGRAPH:
			number = number_of(flat, from->models[copy[i].location.offset]);
			if (number < 0) {
				free(copy);
				return NULL;
			}
			copy[i].location.offset = (uint32_t)number;
			break;
		default:
			break;
		}
	}
	return copy;
}

/* Append constants and pools. A sum above 32 bits cannot be addressed. */
static int append_data(struct ndk_flat *flat, const ANeuralNetworksModel *from)
{
	size_t size = flat->hal.operand_values_size + from->values_size;
	uint64_t pools = (uint64_t)flat->hal.num_pools + from->num_pools;
	void *grown;

	if (size > UINT32_MAX || pools > UINT32_MAX)
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "values or memory of more than 32 bits");
	if (from->values_size) {
		grown = realloc(flat->values, size);
		if (!grown)
			return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
		flat->values = grown;
		memcpy(flat->values + flat->hal.operand_values_size, from->values,
		       from->values_size);
		flat->hal.operand_values_size = size;
	}
	if (from->num_pools) {
		grown = realloc(flat->pools, pools * sizeof(*flat->pools));
		if (!grown)
			return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
		flat->pools = grown;
		memcpy(flat->pools + flat->hal.num_pools, from->pools,
		       from->num_pools * sizeof(*flat->pools));
		flat->hal.num_pools = (uint32_t)pools;
	}
	return ANEURALNETWORKS_NO_ERROR;
}

/* Operations with types of the whole. */
static struct nnhal_operation *relocate_operations(struct ndk_flat *flat, const ANeuralNetworksModel *from)
{
	struct nnhal_operation *copy = calloc(from->num_operations, sizeof(*copy));

	for (uint32_t i = 0; copy && i < from->num_operations; i++) {
		copy[i] = from->operations[i];
		copy[i].type = relocate_type(flat, from, copy[i].type);
	}
	return copy;
}

static int append_subgraph(struct ndk_flat *flat, const ANeuralNetworksModel *from, uint32_t i)
{
	struct nnhal_subgraph *grown = ndk_grow(flat->subgraphs, i, sizeof(*grown));
	struct nnhal_operation *operations;
	struct nnhal_operand *operands;

	if (!grown)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	flat->subgraphs = grown;
	operations = add_extensions(flat, from) ? relocate_operations(flat, from) : NULL;
	operands = operations ? relocate(flat, from, from->operands, from->num_operands) : NULL;
	if (!operands) {
		free(operations);
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	}
	flat->subgraphs[i] = (struct nnhal_subgraph){
		.num_operands = from->num_operands, .operands = operands,
		.num_operations = from->num_operations, .operations = operations,
		.num_inputs = from->num_inputs, .input_indexes = from->inputs,
		.num_outputs = from->num_outputs, .output_indexes = from->outputs,
	};
	flat->hal.num_referenced = i + 1;
	return append_data(flat, from);
}

int ndk_flatten(struct ndk_flat *flat, const ANeuralNetworksModel *model,
		const struct nnhal_subgraph *main)
{
	uint32_t i;
	int result;

	*flat = (struct ndk_flat){
		.hal.hal_version = NNHAL_HAL_1_3,
		.hal.main = *main,
		.hal.relax_computation_float32_to_float16 = model->relaxed,
	};
	if (add_extensions(flat, model))
		flat->main_operands = relocate(flat, model, main->operands, main->num_operands);
	if (!flat->main_operands) {
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
		goto err_fini;
	}
	flat->hal.main.operands = flat->main_operands;
	/* Operands that were made to check an operation have no constants. */
	result = main->operands == model->operands ? append_data(flat, model) :
						     ANEURALNETWORKS_NO_ERROR;
	/* The list grows while it is walked: models refer to further ones. */
	for (i = 0; !result && i < flat->num_models; i++)
		result = append_subgraph(flat, flat->models[i], i);
	if (result)
		goto err_fini;
	free(flat->slots);
	flat->slots = NULL;
	flat->hal.extensions = flat->extensions;
	flat->hal.referenced = flat->subgraphs;
	flat->hal.operand_values = flat->values;
	flat->hal.pools = flat->pools;
	return ANEURALNETWORKS_NO_ERROR;

err_fini:
	ndk_flat_fini(flat);
	return result;
}

void ndk_flat_fini(struct ndk_flat *flat)
{
	uint32_t i;

	for (i = 0; i < flat->hal.num_referenced; i++) {
		free((void *)flat->subgraphs[i].operands);
		free((void *)flat->subgraphs[i].operations);
	}
	free(flat->extensions);
	free(flat->subgraphs);
	free(flat->models);
	free(flat->slots);
	free(flat->values);
	free(flat->pools);
	free(flat->main_operands);
	*flat = (struct ndk_flat){ 0 };
}
