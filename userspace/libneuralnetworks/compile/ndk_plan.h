/* SPDX-License-Identifier: MIT */
/*
 * Plans: a model that is cut into steps, each for one device, which run one after the other.
 */
#ifndef NDK_PLAN_H
#define NDK_PLAN_H

#include "model/ndk_model.h"

struct ANeuralNetworksCompilation;

/* A model in more steps than this is not worth their cost; it is not cut. */
#define NDK_MAX_STEPS	512u

/**
 * struct ndk_step_role - where a step has a value
 * @step: step
 * @index: input or output of it
 * @output: it writes the value
 */
struct ndk_step_role {
	uint32_t step;
	uint32_t index;
	bool output;
};

/**
 * struct ndk_value - an input or output of the model, or what one step leaves for another
 * @operand: of the model
 * @roles: uses, those that write first
 * @num_roles: entries of @roles
 * @on_device: it is in memory of the one device that all its steps run on
 * @offset: in the pool, if it is there
 * @length: bytes there; 0: it has no place there
 */
struct ndk_value {
	uint32_t operand;
	struct ndk_step_role *roles;
	uint32_t num_roles;
	bool on_device;
	uint32_t offset, length;
};

/**
 * struct ndk_step - operations for one device
 * @open: device, a reference
 * @device: entry of the list of devices
 * @prepared: they are prepared
 * @num_inputs: inputs
 * @num_outputs: outputs
 * @values: numbers of the values that these are: of inputs, then of outputs
 */
struct ndk_step {
	struct nnhal_device *open;
	const struct ANeuralNetworksDevice *device;
	struct nnhal_prepared_model *prepared;
	uint32_t num_inputs, num_outputs;
	uint32_t *values;
};

/**
 * struct ndk_plan - a model in steps
 * @num_steps: entries of @steps
 * @steps: in the order in which they run
 * @num_arguments: inputs and outputs of the model, which are the first values
 * @num_values: entries of @values
 * @values: inputs, outputs, and what is between steps
 * @pool_size: bytes of the memory that values between steps have in common
 */
struct ndk_plan {
	uint32_t num_steps;
	struct ndk_step *steps;
	uint32_t num_arguments, num_values;
	struct ndk_value *values;
	uint32_t pool_size;
};

/**
 * struct ndk_step_model - the model of a step
 * @hal: for libnnhal; it refers to the whole model, which has to stay
 * @values: of its inputs, then of its outputs, as in struct ndk_step
 * @operands: of @hal, like all below
 * @operations: operations
 * @indexes: lists of operands
 * @pools: memory of constants; NULL: that of the whole model
 * @constants: constants by value; NULL: those of the whole model
 */
struct ndk_step_model {
	struct nnhal_model hal;
	uint32_t *values;
	struct nnhal_operand *operands;
	struct nnhal_operation *operations;
	uint32_t *indexes;
	struct nnhal_memory **pools;
	uint8_t *constants;
};

#define NDK_NONE	UINT32_MAX

/**
 * struct ndk_layout - where operations and operands of a model are in a plan
 * @model: whole model
 * @step_of: of each operation: step
 * @num_steps: steps
 * @first: of each step, and of one beyond the last: its operations in @operations
 * @operations: sorted by step, and in their order in each
 * @writer: of each operand: step that writes it, or NDK_NONE
 * @value_of: of each operand: value, or NDK_NONE
 * @num_values: values
 * @local: of each operand: scratch for the step that is made; zero between steps
 * @local_pool: of each pool: likewise
 */
struct ndk_layout {
	const struct nnhal_model *model;
	uint32_t *step_of;
	uint32_t num_steps;
	uint32_t *first;
	uint32_t *operations;
	uint32_t *writer;
	uint32_t *value_of;
	uint32_t num_values;
	uint32_t *local;
	uint32_t *local_pool;
};

/*
 * Cut a model: @step_of gets the step of each operation. @owners: of each operation, one of @num_owners
 * devices, each of which has operations. Steps of a device take all operations that are ready. The number of
 * steps; 0: no memory.
 */
uint32_t ndk_cut(const struct nnhal_subgraph *main, const uint32_t *owners, uint32_t num_owners,
		 uint32_t *step_of);

/*
 * The model of a step. BAD_DATA: there is none, as it would have no input or no output; that is not said
 * to the program.
 */
int ndk_step_model_init(struct ndk_step_model *model, const struct ndk_layout *layout,
			uint32_t step);
void ndk_step_model_fini(struct ndk_step_model *model);

/*
 * Plan and prepare a model whose operations are @owners' of the compilation's devices. OP_FAILED: it
 * cannot be cut.
 */
int ndk_plan_make(const struct ANeuralNetworksCompilation *compilation, const uint32_t *owners,
		  uint64_t deadline_ns, struct ndk_plan **plan);
void ndk_plan_free(struct ndk_plan *plan);

/* A buffer of the device for a value; the caller releases it. */
enum nnhal_status ndk_plan_allocate(const struct ndk_plan *plan, const struct ndk_value *value,
				    const struct nnhal_operand *operand,
				    struct nnhal_buffer **buffer, uint32_t *token);

#endif /* NDK_PLAN_H */
