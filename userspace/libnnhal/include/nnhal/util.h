/* SPDX-License-Identifier: MIT */
/*
 * Utilities of the HAL to build and to check models: sizes, shapes, validation. They
 * have no side effects and may be called from any thread.
 */
#ifndef NNHAL_UTIL_H
#define NNHAL_UTIL_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** nnhal_is_extension_operand_type() - @type is above 0xffff */
bool nnhal_is_extension_operand_type(uint32_t type);

/** nnhal_is_extension_operation_type() - @type is above 0xffff */
bool nnhal_is_extension_operation_type(uint32_t type);

/**
 * nnhal_operand_type_is_scalar() - nonExtensionOperandTypeIsScalar
 * @type: operand type that belongs to no extension
 *
 * Return: true for FLOAT32, INT32, UINT32, BOOL, FLOAT16, SUBGRAPH and OEM.
 */
bool nnhal_operand_type_is_scalar(uint32_t type);

/** nnhal_operand_type_is_tensor() - a TENSOR_ type of the HAL; false for types of extensions */
bool nnhal_operand_type_is_tensor(uint32_t type);

/**
 * nnhal_operand_type_is_quantized() - a type with a scale
 * @type: operand type
 *
 * Return: true for all TENSOR_QUANT types. TENSOR_INT32, which may have a scale, is not one of them.
 */
bool nnhal_operand_type_is_quantized(uint32_t type);

/**
 * struct nnhal_operand_type_info - properties of an operand type
 * @size: in: sizeof(struct nnhal_operand_type_info)
 * @element_size: bytes of the scalar or of one element; 0 for SUBGRAPH and OEM
 * @is_tensor: it has dimensions
 * @is_quantized: as nnhal_operand_type_is_quantized(); false for types of extensions
 * @is_extension: it belongs to an extension
 * @reserved: zero
 */
struct nnhal_operand_type_info {
	size_t size;
	uint32_t element_size;
	bool is_tensor;
	bool is_quantized;
	bool is_extension;
	bool reserved;
};

#define NNHAL_OPERAND_TYPE_INFO_INIT \
	{ sizeof(struct nnhal_operand_type_info), 0, false, false, false, false }

struct nnhal_device;

/**
 * nnhal_device_get_operand_type_info() - properties of an operand type, extensions included
 * @device: device, which knows its extensions
 * @model: names the extension of a prefix; NULL if @type belongs to no extension
 * @type: operand type
 * @info: in: size; out: everything else; untouched after an error
 *
 * Return: NONE; INVALID_ARGUMENT: a NULL pointer, a wrong size, no such type, a prefix that the model
 * does not name, or an extension or type that the device does not have.
 */
enum nnhal_status nnhal_device_get_operand_type_info(struct nnhal_device *device,
						     const struct nnhal_model *model,
						     uint32_t type,
						     struct nnhal_operand_type_info *info);

/**
 * nnhal_element_size() - bytes of a scalar or of one element of a tensor
 * @type: type
 *
 * Return: 1, 2 or 4; 0 for SUBGRAPH, OEM, extension and unknown types.
 */
uint32_t nnhal_element_size(uint32_t type);

/**
 * nnhal_size_of_data() - nonExtensionOperandSizeOfData
 * @type: type
 * @dimensions: sizes; not read for scalars
 * @num_dimensions: entries of @dimensions
 * @size: out: bytes; 0 for a tensor of unknown rank or with a dimension of 0; untouched after an
 *	error
 *
 * Return: NONE; INVALID_ARGUMENT if @type belongs to an extension or is unknown, or if
 * the size needs more than 32 bits.
 */
enum nnhal_status nnhal_size_of_data(uint32_t type, const uint32_t *dimensions,
				     uint32_t num_dimensions, uint32_t *size);

/**
 * nnhal_size_of_data_overflows() - nonExtensionOperandSizeOfDataOverflowsUInt32
 * @element_size: bytes of one element, for example of an extension's tensor
 * @dimensions: sizes
 * @num_dimensions: entries of @dimensions
 *
 * Return: true if the product needs more than 32 bits.
 */
bool nnhal_size_of_data_overflows(uint32_t element_size, const uint32_t *dimensions,
				  uint32_t num_dimensions);

/**
 * nnhal_tensor_has_unspecified_dimensions() - tensorHasUnspecifiedDimensions
 * @type: type; extension types count as tensors
 * @dimensions: sizes
 * @num_dimensions: entries of @dimensions
 *
 * Return: true for a tensor of rank 0 or with a dimension of 0.
 */
bool nnhal_tensor_has_unspecified_dimensions(uint32_t type, const uint32_t *dimensions,
					     uint32_t num_dimensions);

/**
 * nnhal_combine_dimensions() - combineDimensions
 * @a: first shape; may be NULL if @num_a is 0
 * @num_a: its rank, 0 = not known
 * @b: second shape; may be NULL if @num_b is 0
 * @num_b: its rank, 0 = not known
 * @out: out: room for max(@num_a, @num_b) entries; may be @a or @b
 * @num_out: out: rank of the result
 *
 * Return: true; false if the ranks or two known dimensions differ.
 */
bool nnhal_combine_dimensions(const uint32_t *a, uint32_t num_a, const uint32_t *b,
			      uint32_t num_b, uint32_t *out, uint32_t *num_out);

/**
 * nnhal_align_bytes_needed() - alignBytesNeeded: padding before data in a pool
 * @index: current offset
 * @length: bytes of the data
 *
 * Return: bytes to skip so that data of 2 or 3 bytes starts at a multiple of 2
 * and longer data at a multiple of 4.
 */
uint32_t nnhal_align_bytes_needed(uint32_t index, size_t length);

/**
 * nnhal_operand_performance_init() - nonExtensionOperandPerformance
 * @capabilities: out: operand_performance gets one entry for each base and OEM type
 *	of the version except SUBGRAPH, ascending. No size need be set
 * @hal_version: NNHAL_HAL_1_2 or later
 * @info: figures of every entry
 */
void nnhal_operand_performance_init(struct nnhal_capabilities *capabilities,
				    uint32_t hal_version,
				    struct nnhal_performance_info info);

/**
 * nnhal_operand_performance_update() - change the figures of one type
 * @capabilities: capabilities
 * @type: type
 * @info: new figures
 *
 * Return: true; false if there is no entry for the type.
 */
bool nnhal_operand_performance_update(struct nnhal_capabilities *capabilities, uint32_t type,
				      struct nnhal_performance_info info);

/**
 * nnhal_operand_performance_lookup() - figures of one type
 * @capabilities: capabilities
 * @type: type
 *
 * Return: the figures; both are FLT_MAX if there is no entry for the type.
 */
struct nnhal_performance_info
nnhal_operand_performance_lookup(const struct nnhal_capabilities *capabilities,
				 uint32_t type);

/**
 * nnhal_validate_model() - validateModel: does a model follow the rules of its version
 * @model: model
 * @diag: filled in if it does not; may be NULL
 *
 * Checks everything that needs no device. The device checks what depends on values of
 * operands and on whether their shapes fit together.
 */
bool nnhal_validate_model(const struct nnhal_model *model, struct nnhal_diag *diag);

/**
 * nnhal_check_model() - nnhal_validate_model(), told apart from a lack of memory
 * @model: model
 * @diag: filled in if the status is not NONE; may be NULL
 *
 * Return: NONE; INVALID_ARGUMENT: it does not follow the rules; RESOURCE_EXHAUSTED_TRANSIENT: no
 * memory to find out.
 */
enum nnhal_status nnhal_check_model(const struct nnhal_model *model, struct nnhal_diag *diag);

/**
 * nnhal_validate_request() - validateRequest: does a request fit a model
 * @request: request
 * @model: valid model
 * @allow_unspecified_output: outputs may have unknown dimensions (since 1.2)
 * @diag: filled in if it does not; may be NULL
 */
bool nnhal_validate_request(const struct nnhal_request *request,
			    const struct nnhal_model *model,
			    bool allow_unspecified_output, struct nnhal_diag *diag);

/**
 * nnhal_model_get_min_version() - the oldest HAL version a model complies with
 * @model: model; its hal_version is ignored
 * @diag: if there is no such version: what is wrong with the model in HAL 1.3; may be
 *	NULL
 *
 * A model complies with a version (compliantWith) if nnhal_validate_model() accepts it
 * with that version; it then complies with all later versions too. The function ignores
 * relaxComputationFloat32toFloat16: a driver of 1.0 just computes more precisely.
 *
 * Return: enum nnhal_hal_version, NNHAL_HAL_1_0 or later; 0 if there is none.
 */
uint32_t nnhal_model_get_min_version(const struct nnhal_model *model, struct nnhal_diag *diag);

/**
 * nnhal_model_get_operation_versions() - the oldest HAL version of each operation
 * @model: model that is valid in HAL 1.3; its hal_version is ignored
 * @versions: out: enum nnhal_hal_version, one entry per operation of the main subgraph
 * @num_versions: entries of @versions: the number of operations
 * @diag: filled in after an error; may be NULL
 *
 * The version depends on the operands too: ADD came with 1.0, but ADD of TENSOR_INT32
 * with 1.3. A model does not comply with a version if an entry is above that version.
 *
 * Return: NONE, INVALID_ARGUMENT or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status nnhal_model_get_operation_versions(const struct nnhal_model *model,
						     uint32_t *versions, uint32_t num_versions,
						     struct nnhal_diag *diag);

/**
 * nnhal_model_get_operation_cost() - what an operation costs by the figures of a device
 * @model: valid model
 * @capabilities: figures
 * @operation: index into the operations of the main subgraph
 * @cost: out: the figures of the type of the operation's first operand: the relaxed ones for
 *	float32 in a relaxed model; FLT_MAX if there are none. IF costs its own figures and the mean
 *	of both branches, WHILE its own, those of the condition and those of the body once. A subgraph
 *	costs the sum of its operations. Untouched after an error
 * @diag: filled in after an error; may be NULL
 *
 * Return: NONE, INVALID_ARGUMENT or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status nnhal_model_get_operation_cost(const struct nnhal_model *model,
						 const struct nnhal_capabilities *capabilities,
						 uint32_t operation,
						 struct nnhal_performance_info *cost,
						 struct nnhal_diag *diag);

/** nnhal_validate_preference() - validateExecutionPreference */
bool nnhal_validate_preference(int32_t preference);

/** nnhal_validate_priority() - validatePriority */
bool nnhal_validate_priority(int32_t priority);

/** nnhal_validate_operand_type() - validOperandType for a version */
bool nnhal_validate_operand_type(uint32_t type, uint32_t hal_version);

/** nnhal_validate_operation_type() - validOperationType for a version */
bool nnhal_validate_operation_type(uint32_t type, uint32_t hal_version);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_UTIL_H */
