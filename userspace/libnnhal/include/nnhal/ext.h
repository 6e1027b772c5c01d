/* SPDX-License-Identifier: MIT */
/*
 * Functions beyond the HAL, for tools: reasons and profiles.
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
 * @size: in: sizeof(struct nnhal_ext_operation_support); that of the first entry counts
 * @supported: as nnhal_device_get_supported_operations() reports it
 * @operand: the operand at fault: its position among the operands of the operation,
 *	inputs first, or NNHAL_EXT_OPERAND_NONE
 * @reason: why the operation is not supported, one line for people; empty if
 *	@supported. For IF and WHILE it may name an operation of a subgraph.
 */
struct nnhal_ext_operation_support {
	size_t size;
	bool supported;
	uint32_t operand;
	char reason[NNHAL_EXT_TEXT_SIZE];
};

#define NNHAL_EXT_OPERAND_NONE	UINT32_MAX

#define NNHAL_EXT_OPERATION_SUPPORT_INIT \
	{ sizeof(struct nnhal_ext_operation_support), false, NNHAL_EXT_OPERAND_NONE, "" }

/**
 * nnhal_ext_get_operation_support() - getSupportedOperations with reasons
 * @device: device
 * @model: model
 * @support: out: one entry per operation of the main subgraph; none is supported unless the
 *	status is NONE
 * @num_support: entries of @support: the number of operations
 * @diag: filled in after an error; may be NULL
 *
 * Return: as nnhal_device_get_supported_operations(); INVALID_ARGUMENT for a wrong size.
 */
enum nnhal_status
nnhal_ext_get_operation_support(struct nnhal_device *device,
				const struct nnhal_model *model,
				struct nnhal_ext_operation_support *support,
				uint32_t num_support, struct nnhal_diag *diag);

/**
 * struct nnhal_ext_profile_entry - one operation of one execution
 * @operation: index in the main subgraph, of the operation or, if it is one of a
 *	referenced subgraph, of the IF or WHILE that reaches it first; UINT32_MAX if the
 *	device names one that the library does not know
 * @operation_type: enum nnhal_operation_type
 * @start_ns: first start, ns of the device's clock after the start of the execution
 * @exec_ns: duration, ns of the device's clock; for IF and WHILE with everything they ran
 * @output_bytes: bytes of output written
 *
 * An operation that ran several times has one entry with the sums of all runs.
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
 * @size: in: sizeof(struct nnhal_ext_profile)
 * @entry_size: in: sizeof(struct nnhal_ext_profile_entry); not read if @max_entries is 0
 * @entries: in: room for the entries. One per operation of the model and its referenced
 *	subgraphs is enough; if there are fewer, they hold the operations that ran first
 * @max_entries: in: entries of @entries
 * @num_entries: out: entries filled in, at most @max_entries
 * @queue_ns: out: time in the device's queue before the start, ns
 * @exec_ns: out: time of execution on the device, ns
 *
 * struct nnhal_execute_options.profile points here. The structure is filled in only if
 * the execution ends with NONE; otherwise all outputs are zero. Measuring takes a little
 * time of its own, also if @max_entries is 0.
 */
struct nnhal_ext_profile {
	size_t size;
	size_t entry_size;
	struct nnhal_ext_profile_entry *entries;
	uint32_t max_entries;
	uint32_t num_entries;
	uint64_t queue_ns;
	uint64_t exec_ns;
};

/* Without entries: the two times only. */
#define NNHAL_EXT_PROFILE_INIT \
	{ sizeof(struct nnhal_ext_profile), sizeof(struct nnhal_ext_profile_entry), NULL, 0, 0, \
	  0, 0 }

/**
 * struct nnhal_ext_work - what the device did in one execution besides the operations
 * @size: in: sizeof(struct nnhal_ext_work)
 * @inferences: out: operations whose output shapes were found while it ran
 * @allocations: out: allocations of device memory for it
 * @copies: out: tensors copied in device memory other than by operations; inputs
 *	and outputs that are transferred from and to memory of the host are not counted
 * @reserved: out: zero
 *
 * struct nnhal_execute_options.work points here. The structure is filled in only if the
 * execution ends with NONE; otherwise it is zero. A model without unknown dimensions and
 * without WHILE needs none of this once each engine of the device has run it, because the
 * device does this work when it prepares the model. The value 65535 means 65535 or more.
 */
struct nnhal_ext_work {
	size_t size;
	uint32_t inferences;
	uint32_t allocations;
	uint32_t copies;
	uint32_t reserved;
};

#define NNHAL_EXT_WORK_INIT	{ sizeof(struct nnhal_ext_work), 0, 0, 0, 0 }

/**
 * struct nnhal_ext_prepared_model_info - facts about a prepared model
 * @size: in: sizeof(struct nnhal_ext_prepared_model_info)
 * @device_memory: bytes of device memory the loaded program takes
 * @image_size: bytes of the program image that was loaded
 * @num_operations: operations of the main subgraph
 * @num_inputs: inputs of the main subgraph
 * @num_outputs: outputs of the main subgraph
 * @reserved: zero
 */
struct nnhal_ext_prepared_model_info {
	size_t size;
	uint64_t device_memory;
	uint64_t image_size;
	uint32_t num_operations;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t reserved;
};

#define NNHAL_EXT_PREPARED_MODEL_INFO_INIT \
	{ sizeof(struct nnhal_ext_prepared_model_info), 0, 0, 0, 0, 0, 0 }

/**
 * nnhal_ext_get_prepared_model_info() - facts about a prepared model
 * @model: prepared model
 * @info: out
 *
 * Return: NONE or INVALID_ARGUMENT (a NULL pointer, a wrong size).
 */
enum nnhal_status
nnhal_ext_get_prepared_model_info(const struct nnhal_prepared_model *model,
				  struct nnhal_ext_prepared_model_info *info);

/* No subgraph, operation or operand; of a subgraph, the main one. */
#define NNHAL_EXT_PLACE_NONE	UINT32_MAX

/**
 * struct nnhal_ext_place - what part of a model a message is about
 * @size: in: sizeof(struct nnhal_ext_place)
 * @subgraph: referenced subgraph, or NNHAL_EXT_PLACE_NONE for the main one
 * @operation: operation of the subgraph, or NNHAL_EXT_PLACE_NONE
 * @operand: operand of the subgraph, or NNHAL_EXT_PLACE_NONE
 * @reserved: out: zero
 */
struct nnhal_ext_place {
	size_t size;
	uint32_t subgraph;
	uint32_t operation;
	uint32_t operand;
	uint32_t reserved;
};

#define NNHAL_EXT_PLACE_INIT \
	{ sizeof(struct nnhal_ext_place), NNHAL_EXT_PLACE_NONE, NNHAL_EXT_PLACE_NONE, \
	  NNHAL_EXT_PLACE_NONE, 0 }

/**
 * nnhal_ext_get_place() - what part of a model a message is about
 * @diag: message of a call that validated, prepared or executed a model
 * @place: out
 *
 * For who has made the model of something else, and knows its parts by other names.
 *
 * Return: NONE, also if the message names no part; INVALID_ARGUMENT (a NULL pointer, a wrong size).
 */
enum nnhal_status nnhal_ext_get_place(const struct nnhal_diag *diag,
				      struct nnhal_ext_place *place);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_EXT_H */
