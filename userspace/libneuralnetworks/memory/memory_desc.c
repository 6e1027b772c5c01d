// SPDX-License-Identifier: MIT
/*
 * Descriptors of memory, and the memory that is made of them: a buffer of the device, or memory that several
 * devices share.
 */
#include <nnhal/buffer.h>
#include <nnhal/util.h>
#include <stdlib.h>
#include <string.h>

#include "base/ndk_why.h"
#include "memory/ndk_memory.h"

/**
 * struct ANeuralNetworksMemoryDesc - a descriptor
 * @finished: it is complete
 * @roles: uses
 * @frequencies: of each role
 * @num_roles: entries of both
 * @rank: what is known of the shape; 0: nothing
 * @dimensions: 0: not known
 */
struct ANeuralNetworksMemoryDesc {
	bool finished;
	struct ndk_role *roles;
	float *frequencies;
	uint32_t num_roles;
	uint32_t rank;
	uint32_t dimensions[NNHAL_MAX_RANK];
};

void ndk_roles_free(struct ndk_role *roles, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		ANeuralNetworksCompilation_free(roles[i].compilation);
	free(roles);
}

bool ndk_memory_has_role(const ANeuralNetworksMemory *memory,
			 const ANeuralNetworksCompilation *compilation, bool output,
			 uint32_t index)
{
	for (uint32_t i = 0; i < memory->num_roles; i++)
		if (memory->roles[i].compilation == compilation &&
		    memory->roles[i].output == output && memory->roles[i].index == index)
			return true;
	return !memory->num_roles;
}

int ANeuralNetworksMemoryDesc_create(ANeuralNetworksMemoryDesc **desc)
{
	ANeuralNetworksMemoryDesc *d;

	if (!desc)
		return REFUSE_NULL(desc);
	*desc = NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return REFUSE(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	*desc = d;
	return ANEURALNETWORKS_NO_ERROR;
}

void ANeuralNetworksMemoryDesc_free(ANeuralNetworksMemoryDesc *desc)
{
	if (!desc)
		return;
	ndk_roles_free(desc->roles, desc->num_roles);
	free(desc->frequencies);
	free(desc);
}

/* Does a shape agree with what is known? Then the rest of it becomes known, too. */
static bool merge_shape(ANeuralNetworksMemoryDesc *desc, const uint32_t *dimensions,
			uint32_t rank)
{
	uint32_t i;

	if (!rank)
		return true;
	if (rank > NNHAL_MAX_RANK || (desc->rank && desc->rank != rank))
		return false;
	for (i = 0; i < rank; i++)
		if (desc->rank && dimensions[i] && desc->dimensions[i] &&
		    desc->dimensions[i] != dimensions[i])
			return false;
	for (i = 0; i < rank; i++)
		if (!desc->rank || dimensions[i])
			desc->dimensions[i] = dimensions[i];
	desc->rank = rank;
	return true;
}

static bool same_channels(const struct nnhal_operand *a, const struct nnhal_operand *b)
{
	const struct nnhal_extra_params *x = &a->extra_params, *y = &b->extra_params;

	if (x->kind != y->kind)
		return false;
	if (x->kind == NNHAL_EXTRA_PARAMS_EXTENSION)
		return x->extension_size == y->extension_size &&
		       !memcmp(x->extension, y->extension, x->extension_size);
	if (x->kind != NNHAL_EXTRA_PARAMS_CHANNEL_QUANT)
		return true;
	return x->channel_quant.channel_dim == y->channel_quant.channel_dim &&
	       x->channel_quant.num_scales == y->channel_quant.num_scales &&
	       !memcmp(x->channel_quant.scales, y->channel_quant.scales,
		       x->channel_quant.num_scales * sizeof(float));
}

/* Are the other roles of the same kind, and is this one new? */
static bool role_agrees(const ANeuralNetworksMemoryDesc *desc, const struct ndk_role *role,
			const struct nnhal_operand *operand)
{
	const struct nnhal_operand *first;
	uint32_t i;

	if (!desc->num_roles)
		return true;
	first = ndk_argument_operand(desc->roles[0].compilation, desc->roles[0].output,
				     desc->roles[0].index);
	if (first->type != operand->type || first->scale != operand->scale ||
	    first->zero_point != operand->zero_point || !same_channels(first, operand))
		return false;
	for (i = 0; i < desc->num_roles; i++)
		if (desc->roles[i].compilation == role->compilation &&
		    desc->roles[i].output == role->output && desc->roles[i].index == role->index)
			return false;
	return true;
}

static int append_role(ANeuralNetworksMemoryDesc *desc, const struct ndk_role *role,
		       float frequency)
{
	struct ndk_role *roles = ndk_grow(desc->roles, desc->num_roles, sizeof(*roles));
	float *frequencies;

	if (!roles)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	desc->roles = roles;
	frequencies = ndk_grow(desc->frequencies, desc->num_roles, sizeof(*frequencies));
	if (!frequencies)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	desc->frequencies = frequencies;
	roles[desc->num_roles] = *role;
	ndk_compilation_ref(role->compilation);
	frequencies[desc->num_roles++] = frequency;
	return ANEURALNETWORKS_NO_ERROR;
}

static int add_role(ANeuralNetworksMemoryDesc *desc, const ANeuralNetworksCompilation *compilation,
		    uint32_t index, bool output, float frequency)
{
	struct ndk_role role = { (ANeuralNetworksCompilation *)compilation, index, output };
	const struct nnhal_operand *operand;
	bool scalar;

	if (!desc || !compilation)
		return WHY_NULL(desc, compilation);
	if (desc->finished)
		return ndk_why(ANEURALNETWORKS_BAD_STATE, "the descriptor is finished");
	/* Not a number is neither. */
	if (!compilation->valid || !(frequency > 0.0f && frequency <= 1.0f))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "a compilation that is not finished, or frequency %g",
			       frequency);
	operand = ndk_argument_operand(compilation, output, index);
	if (!operand || !role_agrees(desc, &role, operand))
		return ndk_why(ANEURALNETWORKS_BAD_DATA, "%s %u %s", output ? "output" : "input", index,
			       operand ? "is a role already, or of another type than the other roles" :
					 "does not exist");
	scalar = nnhal_operand_type_is_scalar(operand->type);
	if ((scalar && desc->rank) ||
	    !merge_shape(desc, operand->dimensions, scalar ? 0 : operand->num_dimensions))
		return ndk_why(ANEURALNETWORKS_BAD_DATA,
			       "%s %u has another shape than the other roles or dimensions",
			       output ? "output" : "input", index);
	return append_role(desc, &role, frequency);
}

int ANeuralNetworksMemoryDesc_addInputRole(ANeuralNetworksMemoryDesc *desc,
					   const ANeuralNetworksCompilation *compilation,
					   uint32_t index, float frequency)
{
	return TELL(add_role(desc, compilation, index, false, frequency));
}

int ANeuralNetworksMemoryDesc_addOutputRole(ANeuralNetworksMemoryDesc *desc,
					    const ANeuralNetworksCompilation *compilation,
					    uint32_t index, float frequency)
{
	return TELL(add_role(desc, compilation, index, true, frequency));
}

static bool is_scalar(const ANeuralNetworksMemoryDesc *desc)
{
	const struct ndk_role *first = desc->roles;

	return desc->num_roles && nnhal_operand_type_is_scalar(ndk_argument_operand(first->compilation,
								       first->output,
								       first->index)->type);
}

int ANeuralNetworksMemoryDesc_setDimensions(ANeuralNetworksMemoryDesc *desc, uint32_t rank,
					    const uint32_t *dimensions)
{
	if (!desc || (!dimensions && rank))
		return REFUSE_NULL(desc, dimensions);
	if (desc->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the descriptor is finished");
	if ((rank && is_scalar(desc)) || !merge_shape(desc, dimensions, rank))
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "rank %u: the roles say something else of the shape", rank);
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemoryDesc_finish(ANeuralNetworksMemoryDesc *desc)
{
	if (!desc)
		return REFUSE_NULL(desc);
	if (desc->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the descriptor is finished");
	if (!desc->num_roles)
		return REFUSE(ANEURALNETWORKS_BAD_DATA, "the descriptor has no role");
	desc->finished = true;
	return ANEURALNETWORKS_NO_ERROR;
}

/* The roles as libnnhal has them: inputs, then outputs, and a model for each. */
struct hal_roles {
	struct nnhal_prepared_model **models;
	struct nnhal_buffer_role *inputs, *outputs;
	uint32_t num_inputs, num_outputs;
};

/* False: the roles are of several devices. */
static bool set_roles(struct hal_roles *to, const ANeuralNetworksMemoryDesc *desc)
{
	for (uint32_t i = 0; i < desc->num_roles; i++) {
		const struct ndk_role *role = &desc->roles[i];
		struct nnhal_buffer_role hal = { i, role->index, desc->frequencies[i] };

		if (!role->compilation->prepared ||
		    role->compilation->device != desc->roles[0].compilation->device)
			return false;
		to->models[i] = role->compilation->prepared;
		if (role->output)
			to->outputs[to->num_outputs++] = hal;
		else
			to->inputs[to->num_inputs++] = hal;
	}
	return true;
}

static int allocate(const ANeuralNetworksMemoryDesc *desc, const struct hal_roles *roles,
		    ANeuralNetworksMemory *memory)
{
	struct nnhal_buffer_desc shape = NNHAL_BUFFER_DESC_INIT;
	enum nnhal_status status;
	struct nnhal_diag diag;

	shape.num_dimensions = desc->rank;
	shape.dimensions = desc->dimensions;
	status = nnhal_device_allocate(desc->roles[0].compilation->device, &shape, roles->models, desc->num_roles,
				       roles->inputs, roles->num_inputs, roles->outputs, roles->num_outputs,
				       &memory->buffer, &memory->token, &diag);
	return ndk_why_status(status, &diag, "memory of the device");
}

/*
 * Memory that all devices reach, for roles of several devices or of a model in steps, and if a device has none
 * left. OP_FAILED: the size is not known.
 */
static int allocate_shared(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory *memory)
{
	const struct nnhal_operand *operand =
		ndk_argument_operand(desc->roles[0].compilation, desc->roles[0].output,
				     desc->roles[0].index);
	struct nnhal_diag diag;
	uint32_t size;

	if (nnhal_is_extension_operand_type(operand->type) ||
	    (!nnhal_operand_type_is_scalar(operand->type) &&
	     nnhal_tensor_has_unspecified_dimensions(operand->type, desc->dimensions, desc->rank)) ||
	    nnhal_size_of_data(operand->type, desc->dimensions, desc->rank, &size) || !size)
		return ndk_why(ANEURALNETWORKS_OP_FAILED,
			       "memory that all devices reach takes a known size, of a type of the HAL");
	return ndk_why_status(nnhal_memory_create(size, &memory->memory, &diag), &diag, "memory for all devices");
}

static int allocate_anywhere(const ANeuralNetworksMemoryDesc *desc, struct hal_roles *roles,
			     ANeuralNetworksMemory *memory)
{
	bool one_device = set_roles(roles, desc);
	int result = one_device ? allocate(desc, roles, memory) : ANEURALNETWORKS_NO_ERROR;

	return !one_device || result == ANEURALNETWORKS_OP_FAILED ? allocate_shared(desc, memory) : result;
}

static int copy_roles(const ANeuralNetworksMemoryDesc *desc, ANeuralNetworksMemory *memory)
{
	memory->roles = calloc(desc->num_roles, sizeof(*memory->roles));
	if (!memory->roles)
		return ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	for (; memory->num_roles < desc->num_roles; memory->num_roles++) {
		memory->roles[memory->num_roles] = desc->roles[memory->num_roles];
		ndk_compilation_ref(memory->roles[memory->num_roles].compilation);
	}
	return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksMemory_createFromDesc(const ANeuralNetworksMemoryDesc *desc,
					 ANeuralNetworksMemory **memory)
{
	struct hal_roles roles = { 0 };
	ANeuralNetworksMemory *m;
	int result;

	if (!memory)
		return REFUSE_NULL(memory);
	*memory = NULL;
	if (!desc)
		return REFUSE_NULL(desc);
	if (!desc->finished)
		return REFUSE(ANEURALNETWORKS_BAD_STATE, "the descriptor is not finished");
	m = ndk_memory_new();
	roles.models = calloc(desc->num_roles, sizeof(struct nnhal_prepared_model *));
	roles.inputs = calloc(desc->num_roles, sizeof(*roles.inputs));
	roles.outputs = calloc(desc->num_roles, sizeof(*roles.outputs));
	if (!m || !roles.models || !roles.inputs || !roles.outputs)
		result = ndk_why(ANEURALNETWORKS_OUT_OF_MEMORY, "no memory");
	else
		result = allocate_anywhere(desc, &roles, m);
	free(roles.models);
	free(roles.inputs);
	free(roles.outputs);
	if (!result)
		result = copy_roles(desc, m);
	if (result) {
		ANeuralNetworksMemory_free(m);
		return TELL(result);
	}
	m->rank = desc->rank;
	memcpy(m->dimensions, desc->dimensions, desc->rank * sizeof(*m->dimensions));
	m->whole = true;
	*memory = m;
	return ANEURALNETWORKS_NO_ERROR;
}
