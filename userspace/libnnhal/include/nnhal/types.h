/* SPDX-License-Identifier: MIT */
/*
 * Data types of the neural-network HAL, versions 1.0 to 1.3, in C.
 *
 * Each structure is the counterpart of one in types.hal of
 * android.hardware.neuralnetworks@1.3; each enumerator has the HAL's number. A
 * hidl_vec is a pointer and a count; a vector without elements may have a NULL
 * pointer. Fields that a caller may fill with any number (types, lifetimes) are
 * plain integers: the library refuses a wrong number, and no behaviour is undefined.
 *
 * The library never writes to structures passed as const and keeps no pointer
 * to them after a call has returned, asynchronous launches included.
 *
 * Structures that a call fills in begin with their size, which the caller sets, with the ..._INIT
 * macros for example. The library writes nothing beyond it. Fields that the library does not know
 * become zero. The size of the first entry of an array is that of all entries; the others are not
 * read. A size that is below that of the first version of the structure, above 4096, or no multiple
 * of sizeof(size_t) gives INVALID_ARGUMENT, and nothing is written. Structures without a size do not
 * grow, but for those that have a layout (enum nnhal_hal_version).
 */
#ifndef NNHAL_TYPES_H
#define NNHAL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Highest rank of a tensor that the library passes to a device or reports back. */
#define NNHAL_MAX_RANK		8

/**
 * enum nnhal_hal_version - version of the HAL whose rules apply to a model or request
 *
 * Zero is the latest version, so a zeroed structure means version 1.3.
 *
 * The upper 16 bits of the number are the layout of the structure that has it and of all that
 * this structure points to: subgraphs, operands, operations, arguments, pools. This header has
 * layout 0. If one of these structures grows, later headers put a new layout into the numbers
 * here; libraries go on reading the older ones. A layout that a library does not know gives
 * INVALID_ARGUMENT, and the library follows no pointer of the structure.
 *
 * The layout of a request is also that of what its execution gives: struct nnhal_output_shape,
 * struct nnhal_timing.
 */
enum nnhal_hal_version {
	NNHAL_HAL_LATEST = 0,
	NNHAL_HAL_1_0 = 1,
	NNHAL_HAL_1_1 = 2,
	NNHAL_HAL_1_2 = 3,
	NNHAL_HAL_1_3 = 4,
};

/* Bits of a hal_version that are the layout. */
#define NNHAL_LAYOUT_MASK	0xffff0000u

/**
 * enum nnhal_status - ErrorStatus, and results of the library itself from 100 on
 * @NNHAL_STATUS_NONE: success
 * @NNHAL_STATUS_DEVICE_UNAVAILABLE: device is offline or was removed
 * @NNHAL_STATUS_GENERAL_FAILURE: any failure without a status of its own
 * @NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE: an output buffer is too small; the
 *	output shapes say which one and how large it has to be
 * @NNHAL_STATUS_INVALID_ARGUMENT: model, request or parameter breaks a rule
 * @NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT: (1.3) a retry may meet the deadline
 * @NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT: (1.3) a retry will not meet it
 * @NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT: (1.3) an immediate retry may succeed
 * @NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT: (1.3) a retry fails until the caller
 *	frees resources
 * @NNHAL_STATUS_DEAD_OBJECT: the object's context was lost in a device reset:
 *	release it, open the device again and prepare the model again
 * @NNHAL_STATUS_NO_DEVICE: open: the driver runs but has no such device
 * @NNHAL_STATUS_NO_PERMISSION: open: the device node exists, access is denied
 * @NNHAL_STATUS_NO_DRIVER: open: the kernel module is not loaded (or, for
 *	"sim", this library was built without the in-process device)
 */
enum nnhal_status {
	NNHAL_STATUS_NONE = 0,
	NNHAL_STATUS_DEVICE_UNAVAILABLE = 1,
	NNHAL_STATUS_GENERAL_FAILURE = 2,
	NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE = 3,
	NNHAL_STATUS_INVALID_ARGUMENT = 4,
	NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT = 5,
	NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT = 6,
	NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT = 7,
	NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT = 8,

	NNHAL_STATUS_DEAD_OBJECT = 100,
	NNHAL_STATUS_NO_DEVICE = 101,
	NNHAL_STATUS_NO_PERMISSION = 102,
	NNHAL_STATUS_NO_DRIVER = 103,
};

/** enum nnhal_device_status - DeviceStatus */
enum nnhal_device_status {
	NNHAL_DEVICE_AVAILABLE = 0,
	NNHAL_DEVICE_BUSY = 1,
	NNHAL_DEVICE_OFFLINE = 2,
	NNHAL_DEVICE_UNKNOWN = 3,
};

/** enum nnhal_device_type - DeviceType */
enum nnhal_device_type {
	NNHAL_DEVICE_TYPE_OTHER = 1,
	NNHAL_DEVICE_TYPE_CPU = 2,
	NNHAL_DEVICE_TYPE_GPU = 3,
	NNHAL_DEVICE_TYPE_ACCELERATOR = 4,
};

/** enum nnhal_preference - ExecutionPreference (1.1) */
enum nnhal_preference {
	NNHAL_PREFER_LOW_POWER = 0,
	NNHAL_PREFER_FAST_SINGLE_ANSWER = 1,
	NNHAL_PREFER_SUSTAINED_SPEED = 2,
};

/**
 * enum nnhal_priority - Priority (1.3), among the models of one open device
 *
 * A device with more models than a context has programs has further contexts, and the
 * priority ranks the models of one context only.
 */
enum nnhal_priority {
	NNHAL_PRIORITY_LOW = 0,
	NNHAL_PRIORITY_MEDIUM = 1,
	NNHAL_PRIORITY_HIGH = 2,
};

/** enum nnhal_measure - MeasureTiming (1.2) */
enum nnhal_measure {
	NNHAL_MEASURE_NO = 0,
	NNHAL_MEASURE_YES = 1,
};

/** enum nnhal_lifetime - OperandLifeTime */
enum nnhal_lifetime {
	NNHAL_LIFETIME_TEMPORARY_VARIABLE = 0,
	NNHAL_LIFETIME_SUBGRAPH_INPUT = 1,	/* MODEL_INPUT up to 1.2 */
	NNHAL_LIFETIME_SUBGRAPH_OUTPUT = 2,	/* MODEL_OUTPUT up to 1.2 */
	NNHAL_LIFETIME_CONSTANT_COPY = 3,
	NNHAL_LIFETIME_CONSTANT_REFERENCE = 4,
	NNHAL_LIFETIME_NO_VALUE = 5,
	NNHAL_LIFETIME_SUBGRAPH = 6,		/* 1.3 */
};

/*
 * OperandType. X(name, number): 0-5 since 1.0, 6-13 since 1.2, 14-15 since 1.3.
 */
#define NNHAL_OPERAND_TYPE_LIST(X) \
	X(FLOAT32, 0) \
	X(INT32, 1) \
	X(UINT32, 2) \
	X(TENSOR_FLOAT32, 3) \
	X(TENSOR_INT32, 4) \
	X(TENSOR_QUANT8_ASYMM, 5) \
	X(BOOL, 6) \
	X(TENSOR_QUANT16_SYMM, 7) \
	X(TENSOR_FLOAT16, 8) \
	X(TENSOR_BOOL8, 9) \
	X(FLOAT16, 10) \
	X(TENSOR_QUANT8_SYMM_PER_CHANNEL, 11) \
	X(TENSOR_QUANT16_ASYMM, 12) \
	X(TENSOR_QUANT8_SYMM, 13) \
	X(TENSOR_QUANT8_ASYMM_SIGNED, 14) \
	X(SUBGRAPH, 15) \
	X(OEM, 10000) \
	X(TENSOR_OEM_BYTE, 10001)

/*
 * OperationType. X(name, number): 0-28 since 1.0, 29-37 since 1.1, 38-94 since
 * 1.2, 95-101 since 1.3.
 */
#define NNHAL_OPERATION_TYPE_LIST(X) \
	X(ADD, 0) \
	X(AVERAGE_POOL_2D, 1) \
	X(CONCATENATION, 2) \
	X(CONV_2D, 3) \
	X(DEPTHWISE_CONV_2D, 4) \
	X(DEPTH_TO_SPACE, 5) \
	X(DEQUANTIZE, 6) \
	X(EMBEDDING_LOOKUP, 7) \
	X(FLOOR, 8) \
	X(FULLY_CONNECTED, 9) \
	X(HASHTABLE_LOOKUP, 10) \
	X(L2_NORMALIZATION, 11) \
	X(L2_POOL_2D, 12) \
	X(LOCAL_RESPONSE_NORMALIZATION, 13) \
	X(LOGISTIC, 14) \
	X(LSH_PROJECTION, 15) \
	X(LSTM, 16) \
	X(MAX_POOL_2D, 17) \
	X(MUL, 18) \
	X(RELU, 19) \
	X(RELU1, 20) \
	X(RELU6, 21) \
	X(RESHAPE, 22) \
	X(RESIZE_BILINEAR, 23) \
	X(RNN, 24) \
	X(SOFTMAX, 25) \
	X(SPACE_TO_DEPTH, 26) \
	X(SVDF, 27) \
	X(TANH, 28) \
	X(BATCH_TO_SPACE_ND, 29) \
	X(DIV, 30) \
	X(MEAN, 31) \
	X(PAD, 32) \
	X(SPACE_TO_BATCH_ND, 33) \
	X(SQUEEZE, 34) \
	X(STRIDED_SLICE, 35) \
	X(SUB, 36) \
	X(TRANSPOSE, 37) \
	X(ABS, 38) \
	X(ARGMAX, 39) \
	X(ARGMIN, 40) \
	X(AXIS_ALIGNED_BBOX_TRANSFORM, 41) \
	X(BIDIRECTIONAL_SEQUENCE_LSTM, 42) \
	X(BIDIRECTIONAL_SEQUENCE_RNN, 43) \
	X(BOX_WITH_NMS_LIMIT, 44) \
	X(CAST, 45) \
	X(CHANNEL_SHUFFLE, 46) \
	X(DETECTION_POSTPROCESSING, 47) \
	X(EQUAL, 48) \
	X(EXP, 49) \
	X(EXPAND_DIMS, 50) \
	X(GATHER, 51) \
	X(GENERATE_PROPOSALS, 52) \
	X(GREATER, 53) \
	X(GREATER_EQUAL, 54) \
	X(GROUPED_CONV_2D, 55) \
	X(HEATMAP_MAX_KEYPOINT, 56) \
	X(INSTANCE_NORMALIZATION, 57) \
	X(LESS, 58) \
	X(LESS_EQUAL, 59) \
	X(LOG, 60) \
	X(LOGICAL_AND, 61) \
	X(LOGICAL_NOT, 62) \
	X(LOGICAL_OR, 63) \
	X(LOG_SOFTMAX, 64) \
	X(MAXIMUM, 65) \
	X(MINIMUM, 66) \
	X(NEG, 67) \
	X(NOT_EQUAL, 68) \
	X(PAD_V2, 69) \
	X(POW, 70) \
	X(PRELU, 71) \
	X(QUANTIZE, 72) \
	X(QUANTIZED_16BIT_LSTM, 73) \
	X(RANDOM_MULTINOMIAL, 74) \
	X(REDUCE_ALL, 75) \
	X(REDUCE_ANY, 76) \
	X(REDUCE_MAX, 77) \
	X(REDUCE_MIN, 78) \
	X(REDUCE_PROD, 79) \
	X(REDUCE_SUM, 80) \
	X(ROI_ALIGN, 81) \
	X(ROI_POOLING, 82) \
	X(RSQRT, 83) \
	X(SELECT, 84) \
	X(SIN, 85) \
	X(SLICE, 86) \
	X(SPLIT, 87) \
	X(SQRT, 88) \
	X(TILE, 89) \
	X(TOPK_V2, 90) \
	X(TRANSPOSE_CONV_2D, 91) \
	X(UNIDIRECTIONAL_SEQUENCE_LSTM, 92) \
	X(UNIDIRECTIONAL_SEQUENCE_RNN, 93) \
	X(RESIZE_NEAREST_NEIGHBOR, 94) \
	X(QUANTIZED_LSTM, 95) \
	X(IF, 96) \
	X(WHILE, 97) \
	X(ELU, 98) \
	X(HARD_SWISH, 99) \
	X(FILL, 100) \
	X(RANK, 101) \
	X(OEM_OPERATION, 10000)

#define NNHAL_X_OPERAND(name, num)	NNHAL_OPERAND_##name = (num),
#define NNHAL_X_OPERATION(name, num)	NNHAL_OPERATION_##name = (num),

/** enum nnhal_operand_type - OperandType: NNHAL_OPERAND_FLOAT32 and so on */
enum nnhal_operand_type { NNHAL_OPERAND_TYPE_LIST(NNHAL_X_OPERAND) };

/** enum nnhal_operation_type - OperationType: NNHAL_OPERATION_ADD and so on */
enum nnhal_operation_type { NNHAL_OPERATION_TYPE_LIST(NNHAL_X_OPERATION) };

#undef NNHAL_X_OPERAND
#undef NNHAL_X_OPERATION

/* Values above this are extension types: prefix << 16 | number in the extension. */
#define NNHAL_BASE_TYPE_MAX	0xffffu

/** enum nnhal_fused_activation - FusedActivationFunc, the value of an INT32 operand */
enum nnhal_fused_activation {
	NNHAL_FUSED_NONE = 0,
	NNHAL_FUSED_RELU = 1,
	NNHAL_FUSED_RELU1 = 2,
	NNHAL_FUSED_RELU6 = 3,
};

/**
 * struct nnhal_data_location - DataLocation
 * @pool_index: CONSTANT_REFERENCE and request arguments: index into the pools;
 *	else 0
 * @offset: first byte; a SUBGRAPH operand: index of the referenced subgraph
 * @length: bytes
 */
struct nnhal_data_location {
	uint32_t pool_index;
	uint32_t offset;
	uint32_t length;
};

/** enum nnhal_extra_params_kind - which member of Operand.ExtraParams is valid */
enum nnhal_extra_params_kind {
	NNHAL_EXTRA_PARAMS_NONE = 0,
	NNHAL_EXTRA_PARAMS_CHANNEL_QUANT = 1,
	NNHAL_EXTRA_PARAMS_EXTENSION = 2,
};

/**
 * struct nnhal_channel_quant - SymmPerChannelQuantParams
 * @scales: one scale per index of dimension @channel_dim, each > 0
 * @num_scales: entries of @scales
 * @channel_dim: the dimension
 */
struct nnhal_channel_quant {
	const float *scales;
	uint32_t num_scales;
	uint32_t channel_dim;
};

/**
 * struct nnhal_extra_params - Operand.ExtraParams (1.2)
 * @kind: enum nnhal_extra_params_kind
 * @channel_quant: TENSOR_QUANT8_SYMM_PER_CHANNEL, with
 *	NNHAL_EXTRA_PARAMS_CHANNEL_QUANT
 * @extension: bytes of an extension type, whose meaning the extension defines,
 *	with NNHAL_EXTRA_PARAMS_EXTENSION
 * @extension_size: bytes of @extension
 */
struct nnhal_extra_params {
	uint32_t kind;
	struct nnhal_channel_quant channel_quant;
	const void *extension;
	size_t extension_size;
};

/**
 * struct nnhal_operand - Operand
 * @type: enum nnhal_operand_type
 * @num_dimensions: rank; 0 for scalars and for tensors of unknown rank
 * @dimensions: sizes, slowest dimension first, 0 = not known
 * @number_of_consumers: how often the operand appears in inputs of operations
 * @scale: quantization scale; 0 where the type has none
 * @zero_point: quantization zero point; 0 where the type has none
 * @lifetime: enum nnhal_lifetime
 * @location: where constants and subgraphs are; else zero
 * @extra_params: per-channel quantization or extension data
 */
struct nnhal_operand {
	uint32_t type;
	uint32_t num_dimensions;
	const uint32_t *dimensions;
	uint32_t number_of_consumers;
	float scale;
	int32_t zero_point;
	uint32_t lifetime;
	struct nnhal_data_location location;
	struct nnhal_extra_params extra_params;
};

/**
 * struct nnhal_operation - Operation
 * @type: enum nnhal_operation_type
 * @num_inputs: entries of @inputs
 * @inputs: operand indexes in the order of types.hal
 * @num_outputs: entries of @outputs
 * @outputs: operand indexes
 */
struct nnhal_operation {
	uint32_t type;
	uint32_t num_inputs;
	uint32_t num_outputs;
	const uint32_t *inputs;
	const uint32_t *outputs;
};

/**
 * struct nnhal_subgraph - Subgraph (1.3); the Model of 1.0 to 1.2 without values
 * @num_operands: entries of @operands
 * @operands: all operands
 * @num_operations: entries of @operations
 * @operations: in execution order
 * @num_inputs: entries of @input_indexes
 * @input_indexes: operands of lifetime SUBGRAPH_INPUT, in order of the arguments
 * @num_outputs: entries of @output_indexes
 * @output_indexes: operands of lifetime SUBGRAPH_OUTPUT, in order of the arguments
 */
struct nnhal_subgraph {
	uint32_t num_operands;
	uint32_t num_operations;
	uint32_t num_inputs;
	uint32_t num_outputs;
	const struct nnhal_operand *operands;
	const struct nnhal_operation *operations;
	const uint32_t *input_indexes;
	const uint32_t *output_indexes;
};

/**
 * struct nnhal_extension_prefix - Model.ExtensionNameAndPrefix (1.2)
 * @name: name of the extension, NUL-terminated
 * @prefix: high 16 bits of its operand and operation types, not 0
 */
struct nnhal_extension_prefix {
	const char *name;
	uint16_t prefix;
};

struct nnhal_memory;

/**
 * struct nnhal_model - Model (1.3)
 * @hal_version: enum nnhal_hal_version: the version whose rules apply. For versions
 *	below 1.3 the statuses 5 to 8 become GENERAL_FAILURE
 * @main: the main subgraph
 * @num_referenced: entries of @referenced
 * @referenced: subgraphs that IF and WHILE refer to
 * @operand_values: bytes of CONSTANT_COPY operands
 * @operand_values_size: bytes of @operand_values
 * @num_pools: entries of @pools
 * @pools: memory of CONSTANT_REFERENCE operands. The library takes references of
 *	its own if it needs the memory after the call
 * @relax_computation_float32_to_float16: float32 operations may use the range
 *	and precision of float16
 * @num_extensions: entries of @extensions
 * @extensions: extensionNameToPrefix
 */
struct nnhal_model {
	uint32_t hal_version;
	struct nnhal_subgraph main;
	uint32_t num_referenced;
	const struct nnhal_subgraph *referenced;
	const void *operand_values;
	size_t operand_values_size;
	uint32_t num_pools;
	struct nnhal_memory *const *pools;
	bool relax_computation_float32_to_float16;
	uint32_t num_extensions;
	const struct nnhal_extension_prefix *extensions;
};

/**
 * struct nnhal_request_argument - RequestArgument
 * @has_no_value: the optional operand is omitted; all else is zero
 * @location: where the operand is. Input: @length is exactly its size. Output:
 *	@length is the size of the buffer
 * @num_dimensions: entries of @dimensions, 0 = as the model says
 * @dimensions: sizes for this execution; inputs: all known; outputs: 0 = not known
 */
struct nnhal_request_argument {
	bool has_no_value;
	struct nnhal_data_location location;
	uint32_t num_dimensions;
	const uint32_t *dimensions;
};

/**
 * struct nnhal_request_pool - Request.MemoryPool (1.3): exactly one member is set
 * @memory: the hidlMemory member, or NULL
 * @token: token of a device buffer, or 0
 */
struct nnhal_request_pool {
	struct nnhal_memory *memory;
	uint32_t token;
};

/**
 * struct nnhal_request - Request (1.3)
 * @hal_version: enum nnhal_hal_version: the version whose rules apply
 * @num_inputs: entries of @inputs, as many as the model has
 * @inputs: arguments
 * @num_outputs: entries of @outputs, as many as the model has
 * @outputs: arguments
 * @num_pools: entries of @pools
 * @pools: memory the arguments are in
 */
struct nnhal_request {
	uint32_t hal_version;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t num_pools;
	const struct nnhal_request_argument *inputs;
	const struct nnhal_request_argument *outputs;
	const struct nnhal_request_pool *pools;
};

/**
 * struct nnhal_output_shape - OutputShape (1.2)
 * @num_dimensions: rank
 * @dimensions: sizes, 0 = not known (only with OUTPUT_INSUFFICIENT_SIZE) or empty
 * @is_sufficient: the output buffer is large enough
 */
struct nnhal_output_shape {
	uint32_t num_dimensions;
	uint32_t dimensions[NNHAL_MAX_RANK];
	bool is_sufficient;
};

/* Timing: not measured. */
#define NNHAL_NO_TIMING		UINT64_MAX

/**
 * struct nnhal_timing - Timing (1.2), whole microseconds or NNHAL_NO_TIMING
 * @time_on_device: execution on the device
 * @time_in_driver: from the call to its return (or callback), waiting included
 */
struct nnhal_timing {
	uint64_t time_on_device;
	uint64_t time_in_driver;
};

/**
 * struct nnhal_performance_info - PerformanceInfo: ratios to the CPU, lower is better
 * @exec_time: time
 * @power_usage: energy
 */
struct nnhal_performance_info {
	float exec_time;
	float power_usage;
};

/**
 * struct nnhal_operand_performance - Capabilities.OperandPerformance (1.2)
 * @type: enum nnhal_operand_type
 * @info: the figures
 */
struct nnhal_operand_performance {
	uint32_t type;
	struct nnhal_performance_info info;
};

/* Entries in struct nnhal_capabilities: more than there are operand types. */
#define NNHAL_MAX_OPERAND_PERFORMANCE	32

/**
 * struct nnhal_capabilities - Capabilities (1.3)
 * @size: in: sizeof(struct nnhal_capabilities)
 * @relaxed_float32_to_float16_scalar: relaxedFloat32toFloat16PerformanceScalar
 * @relaxed_float32_to_float16_tensor: relaxedFloat32toFloat16PerformanceTensor
 * @num_operand_performance: valid entries of @operand_performance
 * @operand_performance: strictly ascending types, no SUBGRAPH
 * @if_performance: ifPerformance
 * @while_performance: whilePerformance
 * @reserved: zero
 */
struct nnhal_capabilities {
	size_t size;
	struct nnhal_performance_info relaxed_float32_to_float16_scalar;
	struct nnhal_performance_info relaxed_float32_to_float16_tensor;
	uint32_t num_operand_performance;
	struct nnhal_operand_performance operand_performance[NNHAL_MAX_OPERAND_PERFORMANCE];
	struct nnhal_performance_info if_performance;
	struct nnhal_performance_info while_performance;
	uint32_t reserved;
};

#define NNHAL_CAPABILITIES_INIT \
	{ sizeof(struct nnhal_capabilities), { 0, 0 }, { 0, 0 }, 0, { { 0, { 0, 0 } } }, \
	  { 0, 0 }, { 0, 0 }, 0 }

/**
 * struct nnhal_capabilities_1_1 - Capabilities of 1.0 and 1.1
 * @size: in: sizeof(struct nnhal_capabilities_1_1)
 * @float32_performance: float32Performance
 * @quantized8_performance: quantized8Performance
 * @relaxed_float32_to_float16_performance: relaxedFloat32toFloat16Performance
 *	(1.1 only)
 */
struct nnhal_capabilities_1_1 {
	size_t size;
	struct nnhal_performance_info float32_performance;
	struct nnhal_performance_info quantized8_performance;
	struct nnhal_performance_info relaxed_float32_to_float16_performance;
};

#define NNHAL_CAPABILITIES_1_1_INIT \
	{ sizeof(struct nnhal_capabilities_1_1), { 0, 0 }, { 0, 0 }, { 0, 0 } }

/**
 * struct nnhal_extension_operand_type - Extension.OperandTypeInformation (1.2)
 * @type: number in the extension
 * @is_tensor: tensor or scalar
 * @byte_size: bytes of the scalar or of one element
 */
struct nnhal_extension_operand_type {
	uint16_t type;
	bool is_tensor;
	uint32_t byte_size;
};

/**
 * struct nnhal_extension - Extension (1.2)
 * @name: name, starts with the vendor's reversed domain
 * @num_operand_types: entries of @operand_types
 * @operand_types: its operand types
 */
struct nnhal_extension {
	const char *name;
	uint32_t num_operand_types;
	const struct nnhal_extension_operand_type *operand_types;
};

/* Room for a text in struct nnhal_diag, the terminating NUL included. */
#define NNHAL_DIAG_SIZE		256

/**
 * struct nnhal_diag - why a call did not succeed, for people
 * @message: one line without newline: which operand, operation, argument or
 *	offset, what was found and what was expected. Empty after success. The
 *	wording is not part of the interface
 *
 * Functions that take a struct nnhal_diag accept NULL. An asynchronous call may
 * write to it until its callback has returned.
 */
struct nnhal_diag {
	char message[NNHAL_DIAG_SIZE];
};

/**
 * nnhal_status_name() - name of a status, for example "INVALID_ARGUMENT"
 * @status: any number
 *
 * Return: a constant string, "unknown status" for other numbers.
 */
const char *nnhal_status_name(int status);

/**
 * nnhal_status_for_version() - status as an older version of the HAL reports it
 * @status: a status
 * @hal_version: enum nnhal_hal_version
 *
 * Return: GENERAL_FAILURE instead of MISSED_DEADLINE_* and RESOURCE_EXHAUSTED_*
 * for versions below 1.3, else @status.
 */
enum nnhal_status nnhal_status_for_version(enum nnhal_status status, uint32_t hal_version);

/**
 * nnhal_operand_type_name() - name of an operand type, for example "TENSOR_FLOAT32"
 * @type: any number
 *
 * Return: a constant string; "extension type" above 0xffff, else "unknown type".
 */
const char *nnhal_operand_type_name(uint32_t type);

/**
 * nnhal_operation_type_name() - name of an operation, for example "CONV_2D"
 * @type: any number
 *
 * Return: a constant string; "extension operation" above 0xffff, else
 * "unknown operation".
 */
const char *nnhal_operation_type_name(uint32_t type);

/**
 * nnhal_lifetime_name() - name of a lifetime, for example "CONSTANT_COPY"
 * @lifetime: any number
 *
 * Return: a constant string, "unknown lifetime" for other numbers.
 */
const char *nnhal_lifetime_name(uint32_t lifetime);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNHAL_TYPES_H */
