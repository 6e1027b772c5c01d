/* SPDX-License-Identifier: MIT */
/*
 * What the library offers beyond the HAL, for tools: reasons and profiles.
 */
#ifndef NNHAL_EXT_H
#define NNHAL_EXT_H

#include <nnhal/device.h>
#include <nnhal/prepared_model.h>
#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Room for a text, the terminating NUL included. */
#define NNHAL_EXT_TEXT_SIZE	128

/**
 * struct nnhal_ext_operation_support - the device's verdict on one operation
 * @supported: as nnhal_device_get_supported_operations() reports it
 * @operand: position among the operation's operands, inputs first, that is the
 *	reason, or NNHAL_EXT_OPERAND_NONE
 * @reason: why not, one line for people; empty if @supported. For IF and WHILE it
 *	may be about an operation of a subgraph, which it names.
 */
struct nnhal_ext_operation_support {
	bool supported;
	uint32_t operand;
	char reason[NNHAL_EXT_TEXT_SIZE];
};

#define NNHAL_EXT_OPERAND_NONE	UINT32_MAX

/**
 * nnhal_ext_get_operation_support() - getSupportedOperations with reasons
 * @device: device
 * @model: model
 * @support: out: one entry per operation of the main subgraph
 * @num_support: entries of @support: the number of operations
 * @diag: filled in after an error; may be NULL
 *
 * Return: as nnhal_device_get_supported_operations().
 */
enum nnhal_status
nnhal_ext_get_operation_support(struct nnhal_device *device,
				const struct nnhal_model *model,
				struct nnhal_ext_operation_support *support,
				uint32_t num_support, struct nnhal_diag *diag);

/**
 * struct nnhal_ext_profile_entry - one operation of one execution
 * @operation: index in the main subgraph, of the operation or, if it is one of a
 *	referenced subgraph, of the IF or WHILE that reaches it first
 * @operation_type: enum nnhal_operation_type
 * @start_ns: first start, ns of the device's clock after the start of the execution
 * @exec_ns: duration, ns of the device's clock; of IF and WHILE with all they ran
 * @output_bytes: bytes of output written
 *
 * An operation that ran several times has one entry with sums.
 */
struct nnhal_ext_profile_entry {
	uint32_t operation;
	uint32_t operation_type;
	uint64_t start_ns;
	uint64_t exec_ns;
	uint64_t output_bytes;
};

/**
 * struct nnhal_ext_profile - where the time of one execution went
 * @max_entries: in: entries of @entries
 * @num_entries: out: entries filled in, at most @max_entries
 * @entries: in: room for the entries; as many as the model has operations, those of
 *	referenced subgraphs included, are enough. If there are fewer the operations
 *	that ran first are in
 * @queue_ns: out: time in the device's queue before the start, ns
 * @exec_ns: out: time of execution on the device, ns
 *
 * Named by struct nnhal_execute_options.profile. Filled in only if the
 * execution ends with NONE; all outputs are zero otherwise. Measuring costs a
 * little time of its own, also if @max_entries is 0.
 */
struct nnhal_ext_profile {
	uint32_t max_entries;
	uint32_t num_entries;
	struct nnhal_ext_profile_entry *entries;
	uint64_t queue_ns;
	uint64_t exec_ns;
};

/**
 * struct nnhal_ext_work - what the device did in one execution beside the operations
 * @inferences: out: operations whose output shapes were found while it ran
 * @allocations: out: allocations of device memory for it
 * @copies: out: tensors copied in device memory other than by operations; inputs
 *	and outputs that are transferred from and to memory of the host are not counted
 *
 * Named by struct nnhal_execute_options.work. Filled in only if the execution ends
 * with NONE; zero otherwise. All are zero for a model without unknown dimensions and
 * WHILE, once an engine of the device has run it: what there is to do is done when it
 * is prepared. 65535 stands for that or more.
 */
struct nnhal_ext_work {
	uint32_t inferences;
	uint32_t allocations;
	uint32_t copies;
};

/**
 * struct nnhal_ext_prepared_model_info - facts about a prepared model
 * @device_memory: bytes of device memory the loaded program takes
 * @image_size: bytes of the program image that was loaded
 * @num_operations: operations of the main subgraph
 * @num_inputs: inputs of the main subgraph
 * @num_outputs: outputs of the main subgraph
 */
struct nnhal_ext_prepared_model_info {
	uint64_t device_memory;
	uint64_t image_size;
	uint32_t num_operations;
	uint32_t num_inputs;
	uint32_t num_outputs;
};

/**
 * nnhal_ext_get_prepared_model_info() - facts about a prepared model
 * @model: prepared model
 * @info: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer).
 */
enum nnhal_status
nnhal_ext_get_prepared_model_info(const struct nnhal_prepared_model *model,
				  struct nnhal_ext_prepared_model_info *info);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_EXT_H */
