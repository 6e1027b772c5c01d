/* SPDX-License-Identifier: MIT */
/*
 * Versions: the forms that models, requests, capabilities, statuses, times and memory have in
 * each version of the HAL, and conversions between them and the types of nnhal/types.h.
 *
 * The types of nnhal/types.h are the canonical ones: they can express every version. A driver
 * framework or a service that speaks one version of the HAL fills in a form of that version and
 * converts it up (..._from_...), or converts an answer down (..._to_...).
 *
 * A conversion fails if its source is invalid or if the target cannot express it; then the message
 * names the operand, operation, argument or pool. Nothing is ever dropped, but for this:
 *
 * * relaxComputationFloat32toFloat16 towards 1.0: who computes more precisely satisfies it.
 * * Statuses towards 1.0 to 1.2: what these versions do not have becomes GENERAL_FAILURE.
 * * Figures of capabilities: those that an older version has no field for. The functions say which.
 * * Times: nanoseconds become whole microseconds, rounded up.
 * * numberOfConsumers towards the HAL: it is counted anew. From the HAL a wrong number is an error.
 *
 * Converted models and requests are copies that share nothing with their source but memory
 * objects, of which they have references. nnhal_converted_free() releases them.
 *
 * All functions may be called from any thread. Those that take a struct nnhal_diag accept NULL.
 */
#ifndef NNHAL_CONVERT_H
#define NNHAL_CONVERT_H

#include <nnhal/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Only map the fields: check neither the source nor the target. */
#define NNHAL_CONVERT_UNVALIDATED	(1u << 0)

/* ---- models ---- */

/**
 * struct nnhal_operand_1_0 - Operand of 1.0 and 1.1
 * @type: OperandType of 1.0
 * @num_dimensions: entries of @dimensions
 * @dimensions: dimensions
 * @number_of_consumers: numberOfConsumers
 * @scale: scale
 * @zero_point: zeroPoint
 * @lifetime: OperandLifeTime; 1 and 2 are called MODEL_INPUT and MODEL_OUTPUT here
 * @location: location
 */
struct nnhal_operand_1_0 {
	uint32_t type;
	uint32_t num_dimensions;
	const uint32_t *dimensions;
	uint32_t number_of_consumers;
	float scale;
	int32_t zero_point;
	uint32_t lifetime;
	struct nnhal_data_location location;
};

/**
 * struct nnhal_model_1_0 - Model of 1.0
 * @num_operands: entries of @operands
 * @num_operations: entries of @operations
 * @num_inputs: entries of @input_indexes
 * @num_outputs: entries of @output_indexes
 * @operands: operands
 * @operations: operations
 * @input_indexes: inputIndexes
 * @output_indexes: outputIndexes
 * @operand_values: operandValues
 * @operand_values_size: bytes of @operand_values
 * @num_pools: entries of @pools
 * @pools: pools
 */
struct nnhal_model_1_0 {
	uint32_t num_operands;
	uint32_t num_operations;
	uint32_t num_inputs;
	uint32_t num_outputs;
	const struct nnhal_operand_1_0 *operands;
	const struct nnhal_operation *operations;
	const uint32_t *input_indexes;
	const uint32_t *output_indexes;
	const void *operand_values;
	size_t operand_values_size;
	uint32_t num_pools;
	struct nnhal_memory *const *pools;
};

/**
 * struct nnhal_model_1_1 - Model of 1.1
 * @base: the fields of 1.0
 * @relax_computation_float32_to_float16: relaxComputationFloat32toFloat16
 */
struct nnhal_model_1_1 {
	struct nnhal_model_1_0 base;
	bool relax_computation_float32_to_float16;
};

/**
 * struct nnhal_model_1_2 - Model of 1.2
 * @main: operands, operations and index lists, which stand in the model itself in 1.2
 * @operand_values: operandValues
 * @operand_values_size: bytes of @operand_values
 * @num_pools: entries of @pools
 * @pools: pools
 * @relax_computation_float32_to_float16: relaxComputationFloat32toFloat16
 * @num_extensions: entries of @extensions
 * @extensions: extensionNameToPrefix
 */
struct nnhal_model_1_2 {
	struct nnhal_subgraph main;
	const void *operand_values;
	size_t operand_values_size;
	uint32_t num_pools;
	struct nnhal_memory *const *pools;
	bool relax_computation_float32_to_float16;
	uint32_t num_extensions;
	const struct nnhal_extension_prefix *extensions;
};

/**
 * struct nnhal_model_1_3 - Model of 1.3
 * @base: the fields of 1.2
 * @num_referenced: entries of @referenced
 * @referenced: referenced subgraphs
 */
struct nnhal_model_1_3 {
	struct nnhal_model_1_2 base;
	uint32_t num_referenced;
	const struct nnhal_subgraph *referenced;
};

/**
 * nnhal_model_to_1_0() - convert a model to 1.0
 * @model: model; its hal_version says by which rules it has to be valid
 * @flags: NNHAL_CONVERT_*
 * @converted: out: the form, for nnhal_converted_free(); NULL after an error
 * @diag: filled in after an error
 *
 * nnhal_model_to_1_1(), nnhal_model_to_1_2() and nnhal_model_to_1_3() are the same for the
 * other versions.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, unknown flags, the model is invalid, or the version
 * has no place for something of it); RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status nnhal_model_to_1_0(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_0 **converted, struct nnhal_diag *diag);
/** nnhal_model_to_1_1() - convert a model to 1.1, as nnhal_model_to_1_0() */
enum nnhal_status nnhal_model_to_1_1(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_1 **converted, struct nnhal_diag *diag);
/** nnhal_model_to_1_2() - convert a model to 1.2, as nnhal_model_to_1_0() */
enum nnhal_status nnhal_model_to_1_2(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_2 **converted, struct nnhal_diag *diag);
/** nnhal_model_to_1_3() - convert a model to 1.3, as nnhal_model_to_1_0() */
enum nnhal_status nnhal_model_to_1_3(const struct nnhal_model *model, uint32_t flags,
				     struct nnhal_model_1_3 **converted, struct nnhal_diag *diag);

/**
 * nnhal_model_from_1_0() - convert a model of 1.0
 * @from: model of 1.0
 * @flags: NNHAL_CONVERT_*
 * @model: out: the model, for nnhal_converted_free(); NULL after an error. Its hal_version is
 *	NNHAL_HAL_1_0, so that the rules and statuses of 1.0 apply to it; the caller may change that
 * @diag: filled in after an error
 *
 * nnhal_model_from_1_1(), nnhal_model_from_1_2() and nnhal_model_from_1_3() are the same for the
 * other versions. A model that is converted from a version and back is the same as before.
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, unknown flags, the model breaks a rule of its
 * version); RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status nnhal_model_from_1_0(const struct nnhal_model_1_0 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag);
/** nnhal_model_from_1_1() - convert a model of 1.1, as nnhal_model_from_1_0() */
enum nnhal_status nnhal_model_from_1_1(const struct nnhal_model_1_1 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag);
/** nnhal_model_from_1_2() - convert a model of 1.2, as nnhal_model_from_1_0() */
enum nnhal_status nnhal_model_from_1_2(const struct nnhal_model_1_2 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag);
/** nnhal_model_from_1_3() - convert a model of 1.3, as nnhal_model_from_1_0() */
enum nnhal_status nnhal_model_from_1_3(const struct nnhal_model_1_3 *from, uint32_t flags,
				       struct nnhal_model **model, struct nnhal_diag *diag);

/**
 * nnhal_converted_free() - release what a conversion gave
 * @converted: result of a conversion of a model or request; NULL is allowed
 */
void nnhal_converted_free(void *converted);

/**
 * nnhal_model_complies_with() - compliantWith: can a version express a model
 * @model: model; its hal_version is ignored
 * @hal_version: enum nnhal_hal_version
 * @diag: if it cannot: why; names operand or operation
 *
 * numberOfConsumers counts, as it does in validation. relaxComputationFloat32toFloat16 does not.
 * nnhal_model_get_operation_versions() tells the version of each operation.
 */
bool nnhal_model_complies_with(const struct nnhal_model *model, uint32_t hal_version,
			       struct nnhal_diag *diag);

/* ---- requests ---- */

/**
 * struct nnhal_request_1_0 - Request of 1.0, which 1.1 and 1.2 use as well
 * @num_inputs: entries of @inputs
 * @num_outputs: entries of @outputs
 * @num_pools: entries of @pools
 * @inputs: inputs
 * @outputs: outputs
 * @pools: pools
 */
struct nnhal_request_1_0 {
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t num_pools;
	const struct nnhal_request_argument *inputs;
	const struct nnhal_request_argument *outputs;
	struct nnhal_memory *const *pools;
};

/**
 * struct nnhal_request_1_3 - Request of 1.3
 * @num_inputs: entries of @inputs
 * @num_outputs: entries of @outputs
 * @num_pools: entries of @pools
 * @inputs: inputs
 * @outputs: outputs
 * @pools: pools: memory, or tokens of device buffers
 */
struct nnhal_request_1_3 {
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t num_pools;
	const struct nnhal_request_argument *inputs;
	const struct nnhal_request_argument *outputs;
	const struct nnhal_request_pool *pools;
};

/**
 * nnhal_request_to_1_0() - convert a request to 1.0, 1.1 or 1.2
 * @request: request
 * @hal_version: NNHAL_HAL_1_0, _1_1 or _1_2. They share the form, but hardware_buffer_blob and
 *	hardware_buffer exist since 1.2
 * @flags: NNHAL_CONVERT_*. Tokens have no place in the form even if nothing is checked
 * @converted: out: the form, for nnhal_converted_free(); NULL after an error
 * @diag: filled in after an error
 *
 * What a request has to be for its model is not checked: see nnhal_validate_request().
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, unknown flags or version, an argument outside
 * its pool, a kind of pool or a token that the version does not have); RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnhal_status nnhal_request_to_1_0(const struct nnhal_request *request, uint32_t hal_version,
				       uint32_t flags, struct nnhal_request_1_0 **converted,
				       struct nnhal_diag *diag);
/** nnhal_request_to_1_3() - convert a request to 1.3, as nnhal_request_to_1_0() */
enum nnhal_status nnhal_request_to_1_3(const struct nnhal_request *request, uint32_t flags,
				       struct nnhal_request_1_3 **converted,
				       struct nnhal_diag *diag);

/**
 * nnhal_request_from_1_0() - convert a request of 1.0, 1.1 or 1.2
 * @from: request
 * @hal_version: NNHAL_HAL_1_0, _1_1 or _1_2; becomes that of the request
 * @flags: NNHAL_CONVERT_*
 * @request: out: the request, for nnhal_converted_free(); NULL after an error
 * @diag: filled in after an error
 *
 * Return: as nnhal_request_to_1_0().
 */
enum nnhal_status nnhal_request_from_1_0(const struct nnhal_request_1_0 *from,
					 uint32_t hal_version, uint32_t flags,
					 struct nnhal_request **request, struct nnhal_diag *diag);
/** nnhal_request_from_1_3() - convert a request of 1.3, as nnhal_request_from_1_0() */
enum nnhal_status nnhal_request_from_1_3(const struct nnhal_request_1_3 *from, uint32_t flags,
					 struct nnhal_request **request, struct nnhal_diag *diag);

/**
 * nnhal_request_complies_with() - compliantWith: can a version express a request
 * @request: request; its hal_version is ignored
 * @hal_version: enum nnhal_hal_version
 * @diag: if it cannot: why; names argument or pool
 */
bool nnhal_request_complies_with(const struct nnhal_request *request, uint32_t hal_version,
				 struct nnhal_diag *diag);

/* ---- capabilities ---- */

/**
 * struct nnhal_capabilities_1_2 - Capabilities of 1.2
 * @size: in: sizeof(struct nnhal_capabilities_1_2)
 * @relaxed_float32_to_float16_scalar: relaxedFloat32toFloat16PerformanceScalar
 * @relaxed_float32_to_float16_tensor: relaxedFloat32toFloat16PerformanceTensor
 * @num_operand_performance: valid entries of @operand_performance
 * @operand_performance: strictly ascending types of 1.2
 * @reserved: zero
 */
struct nnhal_capabilities_1_2 {
	size_t size;
	struct nnhal_performance_info relaxed_float32_to_float16_scalar;
	struct nnhal_performance_info relaxed_float32_to_float16_tensor;
	uint32_t num_operand_performance;
	struct nnhal_operand_performance operand_performance[NNHAL_MAX_OPERAND_PERFORMANCE];
	uint32_t reserved;
};

#define NNHAL_CAPABILITIES_1_2_INIT \
	{ sizeof(struct nnhal_capabilities_1_2), { 0, 0 }, { 0, 0 }, 0, { { 0, { 0, 0 } } }, 0 }

/**
 * nnhal_capabilities_to_1_1() - capabilities for 1.0 or 1.1
 * @capabilities: capabilities
 * @hal_version: NNHAL_HAL_1_0 or NNHAL_HAL_1_1
 * @converted: in: size; out: float32 has the figures of TENSOR_FLOAT32, quantized8 those of
 *	TENSOR_QUANT8_ASYMM, relaxed those of relaxed tensors; 1.0 has no relaxed figure, it is 0.
 *	All other figures are dropped
 * @diag: filled in after an error
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, a wrong size or version, figures that are not
 * above 0, types out of order).
 */
enum nnhal_status nnhal_capabilities_to_1_1(const struct nnhal_capabilities *capabilities,
					    uint32_t hal_version,
					    struct nnhal_capabilities_1_1 *converted,
					    struct nnhal_diag *diag);

/**
 * nnhal_capabilities_to_1_2() - capabilities for 1.2
 * @capabilities: capabilities
 * @converted: in: size; out: the figures without IF, WHILE and the types of 1.3
 * @diag: filled in after an error
 *
 * Return: as nnhal_capabilities_to_1_1().
 */
enum nnhal_status nnhal_capabilities_to_1_2(const struct nnhal_capabilities *capabilities,
					    struct nnhal_capabilities_1_2 *converted,
					    struct nnhal_diag *diag);

/**
 * nnhal_capabilities_from_1_1() - capabilities of 1.0 or 1.1
 * @from: capabilities
 * @hal_version: NNHAL_HAL_1_0: the relaxed figure is not read; or NNHAL_HAL_1_1
 * @capabilities: in: size; out: FLOAT32 and TENSOR_FLOAT32 have the float32 figure, INT32, UINT32,
 *	TENSOR_INT32, TENSOR_QUANT8_ASYMM, OEM and TENSOR_OEM_BYTE the quantized8 figure. The relaxed
 *	figures are that of 1.1, or float32. IF and WHILE have FLT_MAX
 * @diag: filled in after an error
 *
 * Return: as nnhal_capabilities_to_1_1().
 */
enum nnhal_status nnhal_capabilities_from_1_1(const struct nnhal_capabilities_1_1 *from,
					      uint32_t hal_version,
					      struct nnhal_capabilities *capabilities,
					      struct nnhal_diag *diag);

/**
 * nnhal_capabilities_from_1_2() - capabilities of 1.2
 * @from: capabilities
 * @capabilities: in: size; out: the same figures; IF and WHILE have FLT_MAX
 * @diag: filled in after an error
 *
 * Return: as nnhal_capabilities_to_1_1().
 */
enum nnhal_status nnhal_capabilities_from_1_2(const struct nnhal_capabilities_1_2 *from,
					      struct nnhal_capabilities *capabilities,
					      struct nnhal_diag *diag);

/**
 * nnhal_capabilities_comply_with() - compliantWith: does a version express all figures
 * @capabilities: capabilities
 * @hal_version: enum nnhal_hal_version
 *
 * Return: true for valid capabilities and 1.2 or later. For 1.1 FLOAT32 and TENSOR_FLOAT32 must
 * have the same figures, and so must relaxed scalars and tensors, and TENSOR_QUANT8_ASYMM, INT32,
 * UINT32, TENSOR_INT32, OEM and TENSOR_OEM_BYTE. For 1.0 the relaxed figures must be those of
 * TENSOR_FLOAT32, too.
 */
bool nnhal_capabilities_comply_with(const struct nnhal_capabilities *capabilities,
				    uint32_t hal_version);

/* ---- numbers ---- */

/** enum nnhal_hal_enum - the enumerations of types.hal */
enum nnhal_hal_enum {
	NNHAL_ENUM_ERROR_STATUS = 0,
	NNHAL_ENUM_DEVICE_STATUS = 1,
	NNHAL_ENUM_DEVICE_TYPE = 2,
	NNHAL_ENUM_OPERAND_TYPE = 3,
	NNHAL_ENUM_OPERATION_TYPE = 4,
	NNHAL_ENUM_OPERAND_LIFETIME = 5,
	NNHAL_ENUM_FUSED_ACTIVATION = 6,
	NNHAL_ENUM_EXECUTION_PREFERENCE = 7,
	NNHAL_ENUM_MEASURE_TIMING = 8,
	NNHAL_ENUM_PRIORITY = 9,
};

/**
 * nnhal_hal_number_is_valid() - does a number exist in an enumeration of a version
 * @which: enum nnhal_hal_enum
 * @number: number
 * @hal_version: enum nnhal_hal_version
 *
 * Each enumeration has the same numbers in all versions that have it, and here; later versions add
 * to it. Return: false also if the version does not have the enumeration: ExecutionPreference came
 * with 1.1, DeviceType and MeasureTiming with 1.2, Priority with 1.3.
 */
bool nnhal_hal_number_is_valid(uint32_t which, int64_t number, uint32_t hal_version);

/**
 * nnhal_status_to_hal() - ErrorStatus of a version
 * @status: status
 * @hal_version: enum nnhal_hal_version
 *
 * Return: the number; that of GENERAL_FAILURE for all that the version does not have.
 */
int32_t nnhal_status_to_hal(enum nnhal_status status, uint32_t hal_version);

/**
 * nnhal_status_from_hal() - the status of an ErrorStatus
 * @number: number in the version
 * @hal_version: enum nnhal_hal_version
 * @status: out: the status; untouched after an error
 *
 * Return: NONE; INVALID_ARGUMENT: the version does not have the number, or @status is NULL.
 */
enum nnhal_status nnhal_status_from_hal(int32_t number, uint32_t hal_version,
					enum nnhal_status *status);

/* ---- times ---- */

/* A duration or time point that is not there. It is not the largest one. */
#define NNHAL_NO_TIME		UINT64_MAX

/**
 * nnhal_duration_to_us() - nanoseconds as the HAL's Timing has them
 * @ns: nanoseconds, or NNHAL_NO_TIME
 *
 * Return: microseconds, rounded up; NNHAL_NO_TIMING for NNHAL_NO_TIME.
 */
uint64_t nnhal_duration_to_us(uint64_t ns);

/**
 * nnhal_duration_from_us() - nanoseconds of a Timing
 * @us: microseconds, or NNHAL_NO_TIMING
 *
 * Return: nanoseconds; NNHAL_NO_TIME for NNHAL_NO_TIMING; UINT64_MAX - 1 for what needs more bits.
 */
uint64_t nnhal_duration_from_us(uint64_t us);

/**
 * nnhal_time_point_to_boot_time() - a time of CLOCK_MONOTONIC on CLOCK_BOOTTIME
 * @monotonic_ns: time on CLOCK_MONOTONIC, ns, or NNHAL_NO_TIME
 *
 * OptionalTimePoint of 1.3 is on CLOCK_MONOTONIC, as deadlines are here. Later interfaces and
 * other processes may use the time since boot. The time that remains is the same on both clocks.
 *
 * Return: the time; at least 0, at most UINT64_MAX - 1; NNHAL_NO_TIME for NNHAL_NO_TIME.
 */
uint64_t nnhal_time_point_to_boot_time(uint64_t monotonic_ns);

/** nnhal_time_point_from_boot_time() - the other way round */
uint64_t nnhal_time_point_from_boot_time(uint64_t boot_ns);

/* ---- handles and memory ---- */

/* Numbers in a struct nnhal_native_handle. */
#define NNHAL_HANDLE_MAX	4

/**
 * struct nnhal_native_handle - native_handle_t: file descriptors and numbers
 * @num_fds: descriptors at the beginning of @data
 * @num_ints: numbers behind them
 * @data: descriptors, then numbers
 *
 * A handle with neither is the null handle.
 */
struct nnhal_native_handle {
	uint32_t num_fds;
	uint32_t num_ints;
	int32_t data[NNHAL_HANDLE_MAX];
};

/**
 * nnhal_handle_to_fd() - the descriptor of a handle: of a fence, of a cache file
 * @handle: handle; NULL is the null handle
 * @fd: out: duplicate (close-on-exec), which the caller closes; -1 for the null handle; untouched
 *	after an error
 * @diag: filled in after an error
 *
 * Return: NONE; INVALID_ARGUMENT (other than one descriptor and no number, or it cannot be
 * duplicated); RESOURCE_EXHAUSTED_PERSISTENT (no descriptor is left).
 */
enum nnhal_status nnhal_handle_to_fd(const struct nnhal_native_handle *handle, int *fd,
				     struct nnhal_diag *diag);

/**
 * nnhal_handle_from_fd() - a handle with one descriptor
 * @fd: descriptor; the handle gets a duplicate. -1 gives the null handle
 * @handle: out: for nnhal_handle_close(); untouched after an error
 * @diag: filled in after an error
 *
 * Return: as nnhal_handle_to_fd().
 */
enum nnhal_status nnhal_handle_from_fd(int fd, struct nnhal_native_handle *handle,
				       struct nnhal_diag *diag);

/** nnhal_handle_close() - close the descriptors of a handle and make it the null handle */
void nnhal_handle_close(struct nnhal_native_handle *handle);

/* Room for the name of a kind of memory, the terminating NUL included. */
#define NNHAL_MEMORY_NAME_SIZE	32

/**
 * struct nnhal_hal_memory - hidl_memory
 * @name: "ashmem", "mmap_fd", "hardware_buffer_blob" or "hardware_buffer"
 * @handle: one descriptor; "mmap_fd" also has three numbers: protection (PROT_READ, PROT_WRITE),
 *	lower and upper half of the offset
 * @size: bytes
 */
struct nnhal_hal_memory {
	char name[NNHAL_MEMORY_NAME_SIZE];
	struct nnhal_native_handle handle;
	uint64_t size;
};

/**
 * nnhal_memory_from_hal() - make a memory object of a hidl_memory
 * @from: memory; its descriptors stay the caller's
 * @memory: out: new object with one reference, NULL after an error
 * @diag: filled in after an error
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, an unknown name, the null handle, a handle of
 * another shape, size 0, or what nnhal_memory_import() refuses); GENERAL_FAILURE
 * ("hardware_buffer"); RESOURCE_EXHAUSTED_*.
 */
enum nnhal_status nnhal_memory_from_hal(const struct nnhal_hal_memory *from,
					struct nnhal_memory **memory, struct nnhal_diag *diag);

/**
 * nnhal_memory_to_hal() - a memory object as hidl_memory
 * @memory: object
 * @hal: out: with a duplicate of the descriptor, for nnhal_handle_close(); untouched after an error
 * @diag: filled in after an error
 *
 * Return: NONE; INVALID_ARGUMENT (a NULL pointer, a kind that the HAL does not have);
 * RESOURCE_EXHAUSTED_PERSISTENT (no descriptor is left).
 */
enum nnhal_status nnhal_memory_to_hal(const struct nnhal_memory *memory,
				      struct nnhal_hal_memory *hal, struct nnhal_diag *diag);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_CONVERT_H */
