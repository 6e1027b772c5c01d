/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR MIT */
/*
 * NNPU program, argument and result formats.
 *
 * Userspace writes these structures and the device reads them, or the other way round.
 * The kernel checks what it depends on and passes them on. They are ABI between
 * userspace and hardware. Documentation/hardware/ describes the same layout in prose;
 * tests/docs/check-spec compares the two.
 *
 * Rules of change: all fields are little-endian; reserved fields and unknown
 * flags must be zero and are refused otherwise; a new field takes the place of
 * reserved bytes and its zero keeps the old meaning; a new flag or record kind
 * is announced by a feature bit (struct nnpu_identify.features).
 */
#ifndef _UAPI_NNPU_PROGRAM_H_
#define _UAPI_NNPU_PROGRAM_H_

#include <linux/types.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Largest rank of a tensor the formats can express. */
#define NNPU_MAX_RANK			8

/* "No slot": a memory reference that is absent. */
#define NNPU_SLOT_NONE			0xffffffffu

/**
 * DOC: Tensor element types
 *
 * The numbers are those of OperandType in android.hardware.neuralnetworks@1.3.
 */
#define NNPU_TYPE_LIST(X) \
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
	X(SUBGRAPH, 15)

/* Number of element types; types are 0 .. NNPU_NUM_TYPES - 1. */
#define NNPU_NUM_TYPES			16

/* First code of types of vendor extensions: see struct nnpu_extension. */
#define NNPU_TYPE_EXTENSION		0x8000

/**
 * DOC: Operation codes
 *
 * Codes below NNPU_CMD_CONTROL are those of OperationType in
 * android.hardware.neuralnetworks@1.3, operands in the order of types.hal.
 * IF (96) and WHILE (97) never appear in a command stream; they are expressed
 * by the control commands BRANCH and LOOP.
 */
#define NNPU_OPERATION_LIST(X) \
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
	X(RANK, 101)

/* Number of HAL operations; operations are 0 .. NNPU_NUM_OPERATIONS - 1. */
#define NNPU_NUM_OPERATIONS		102

/**
 * DOC: Control commands
 *
 * They need NNPU_FEATURE_CONTROL_FLOW. The command stream begins with the main part.
 * Each BLOCK command begins a block. A block ends before the next BLOCK command or at the
 * end of the stream. The inputs of BLOCK are temporaries that get their values when a
 * command enters the block. Its outputs are temporaries that commands of the block write.
 *
 * BRANCH (IF): input 0 is the condition. If it is true, the device runs block target[0],
 * else block target[1]. The other inputs become the inputs of that block, and the outputs
 * of the block become the outputs of BRANCH.
 *
 * LOOP (WHILE): block target[0] is the condition and has one output. Block target[1] is
 * the body. Both take all inputs of LOOP. While the condition is true, the device runs the
 * body, and the outputs of the body replace the first inputs. When the condition is
 * false, the first inputs become the outputs of LOOP.
 *
 * A target is the index of a BLOCK command behind the command that names it, so blocks
 * cannot enter themselves. Several commands may name one block. Each block must be named
 * by a command. A tensor that is neither constant nor omitted belongs to one block or to
 * the main part.
 */
/* First control command code. */
#define NNPU_CMD_CONTROL		0x1000
#define NNPU_CMD_BRANCH			0x1000	/* IF */
#define NNPU_CMD_LOOP			0x1001	/* WHILE */
#define NNPU_CMD_BLOCK			0x1002	/* beginning of a block */

/* nnpu_args_header.loop_timeout_ns: the default that 0 stands for, and the maximum. */
#define NNPU_LOOP_TIMEOUT_DEFAULT_NS	2000000000ull
#define NNPU_LOOP_TIMEOUT_MAX_NS	15000000000ull

/* First code of operations of vendor extensions: see struct nnpu_extension. */
#define NNPU_CMD_EXTENSION		0x8000

/**
 * DOC: Completion status
 *
 * One list for the status of completion entries, of result blocks and of the
 * command reports of a program check. X(name, number, text).
 */
#define NNPU_STATUS_LIST(X) \
	X(SUCCESS, 0x00, "success") \
	X(INVALID_OPCODE, 0x01, "unknown opcode") \
	X(INVALID_FIELD, 0x02, "reserved field, flag or value out of range") \
	X(INVALID_CTX, 0x03, "no such context") \
	X(INVALID_QUEUE, 0x04, "no such queue") \
	X(INVALID_PROGRAM, 0x05, "no such program in this context") \
	X(INVALID_SLOT, 0x06, "slot not bound") \
	X(SLOT_BOUNDS, 0x07, "access beyond the end of a slot") \
	X(SLOT_RIGHTS, 0x08, "slot does not allow this access") \
	X(DMA_ERROR, 0x09, "memory access failed") \
	X(NO_RESOURCES, 0x0a, "object limit reached") \
	X(NO_MEMORY, 0x0b, "device memory exhausted") \
	X(BUSY, 0x0c, "object in use") \
	X(ABORTED, 0x0d, "aborted on request") \
	X(DEADLINE, 0x0e, "deadline passed") \
	X(LOOP_TIMEOUT, 0x0f, "loop timeout") \
	X(INTERNAL, 0x10, "internal device error") \
	X(RESET, 0x11, "lost in a reset") \
	X(TIME_LIMIT, 0x12, "engine time limit of the context") \
	X(PROGRAM_HEADER, 0x20, "malformed program header") \
	X(PROGRAM_TENSOR, 0x21, "malformed tensor record") \
	X(PROGRAM_COMMAND, 0x22, "command refused") \
	X(PROGRAM_UNSUPPORTED, 0x23, "operation not supported by this device") \
	X(ARG_COUNT, 0x40, "wrong number of arguments") \
	X(ARG_SHAPE, 0x41, "argument shape contradicts the program or is incomplete") \
	X(ARG_SIZE, 0x42, "argument length does not match its shape") \
	X(OUTPUT_INSUFFICIENT, 0x43, "output buffer too small") \
	X(OP_FAILED, 0x44, "operation refused the values of its operands")

/* Software writes it into nnpu_args_header.status of a result block before submission. */
#define NNPU_STATUS_PENDING		0xffffu

/**
 * DOC: Reasons
 *
 * They say in detail why the device refused a tensor or command. X(name, number, text).
 */
#define NNPU_REASON_LIST(X) \
	X(NONE, 0, "no further reason") \
	X(MAGIC, 1, "bad magic number") \
	X(VERSION, 2, "unknown version") \
	X(FLAGS, 3, "unknown flag") \
	X(RESERVED, 4, "reserved field is not zero") \
	X(SIZE, 5, "size or count does not fit the image") \
	X(RANGE, 6, "offset or index out of range") \
	X(ALIGNMENT, 7, "misaligned offset") \
	X(TYPE, 8, "operand type not allowed here") \
	X(RANK, 9, "rank not allowed here") \
	X(DIMENSION, 10, "dimension not allowed here") \
	X(SCALE, 11, "scale not allowed here") \
	X(ZERO_POINT, 12, "zero point not allowed here") \
	X(CHANNEL_QUANT, 13, "bad per-channel quantization") \
	X(LIFETIME, 14, "operand lifetime not allowed here") \
	X(DATA_LENGTH, 15, "data length does not match type and dimensions") \
	X(NOT_CONSTANT, 16, "operand must be constant") \
	X(VALUE, 17, "value out of range") \
	X(OMITTED, 18, "operand must not be omitted") \
	X(OPERAND_COUNT, 19, "wrong number of operands") \
	X(NOT_WRITTEN, 20, "operand read before it is written") \
	X(WRITTEN_TWICE, 21, "operand written twice") \
	X(NOT_WRITABLE, 22, "operand cannot be written") \
	X(UNKNOWN_SHAPE, 23, "shape cannot be determined") \
	X(OVERFLOW, 24, "size overflows") \
	X(OPERATION, 25, "unknown operation") \
	X(SHAPE_MISMATCH, 26, "shapes do not fit together") \
	X(QUANT_MISMATCH, 27, "quantization parameters do not fit together") \
	X(UNSUPPORTED_VARIANT, 28, "valid but not supported by this device") \
	X(TARGET, 29, "target is no block, or block is no target") \
	X(BLOCK, 30, "operand belongs to another block") \
	X(DEPTH, 31, "blocks are nested too deeply") \
	X(PARAMS, 32, "bad parameters of an extension's type") \
	X(ENCODING, 33, "encoding of constants not supported by this device") \
	X(ISA, 34, "native code for another instruction set") \
	X(SEAL, 35, "values of constants are not those that were sealed")

/* Enumerators of the lists above: NNPU_TYPE_*, NNPU_OP_*, NNPU_STATUS_*, NNPU_REASON_*. */
#define NNPU_X_TYPE(name, num)		NNPU_TYPE_##name = (num),
#define NNPU_X_OP(name, num)		NNPU_OP_##name = (num),
#define NNPU_X_STATUS(name, num, text)	NNPU_STATUS_##name = (num),
#define NNPU_X_REASON(name, num, text)	NNPU_REASON_##name = (num),

enum nnpu_type { NNPU_TYPE_LIST(NNPU_X_TYPE) };
enum nnpu_operation { NNPU_OPERATION_LIST(NNPU_X_OP) };
enum nnpu_status { NNPU_STATUS_LIST(NNPU_X_STATUS) };
enum nnpu_reason { NNPU_REASON_LIST(NNPU_X_REASON) };

#undef NNPU_X_TYPE
#undef NNPU_X_OP
#undef NNPU_X_STATUS
#undef NNPU_X_REASON

/* "NNPP", little-endian. */
#define NNPU_PROGRAM_MAGIC		0x50504e4eu
#define NNPU_PROGRAM_VERSION		2

/* Largest image the format allows, bytes. */
#define NNPU_PROGRAM_MAX_SIZE		(64u << 20)
/* Most bytes of hints. */
#define NNPU_PROGRAM_MAX_HINTS		(1u << 20)

/* Float32 operations may be computed with the range and precision of float16. */
#define NNPU_PROGRAM_RELAXED		(1u << 0)

/**
 * struct nnpu_program_header - first bytes of a program image
 * @magic: NNPU_PROGRAM_MAGIC
 * @version: NNPU_PROGRAM_VERSION; from nnpu_identify.program_min to program_max
 * @header_size: bytes of this structure, 96, or more, multiple of 8: a writer that knows
 *	more fields writes them, and they are zero where they change nothing
 * @size: bytes of the whole image, a multiple of 8
 * @flags: NNPU_PROGRAM_*
 * @tensors_off: byte offset of the tensor table, multiple of 8
 * @num_tensors: number of struct nnpu_tensor_desc at @tensors_off
 * @commands_off: byte offset of the command stream, multiple of 8
 * @num_commands: number of struct nnpu_command at @commands_off, at least 1
 * @indexes_off: byte offset of the index pool, multiple of 8
 * @num_indexes: number of __le32 at @indexes_off
 * @data_off: byte offset of the inline data, multiple of 8
 * @data_size: bytes of inline data
 * @inputs_first: position in the index pool of the program's inputs
 * @outputs_first: position in the index pool of the program's outputs
 * @num_inputs: number of inputs; argument i of a job is tensor
 *	indexes[@inputs_first + i]
 * @num_outputs: number of outputs, at least 1
 * @tensor_stride: bytes from one tensor record to the next, multiple of 8, at least
 *	sizeof(struct nnpu_tensor_desc). What the reader does not know of a record is zero
 * @command_stride: bytes from one command to the next, likewise
 * @hints_off: byte offset of the hints, multiple of 8
 * @hints_size: bytes of struct nnpu_hint records, one behind the other, at most
 *	NNPU_PROGRAM_MAX_HINTS
 * @native_off: byte offset of native code, multiple of 8; zero without @native_isa
 * @native_size: bytes of native code; zero without @native_isa
 * @native_isa: instruction set of the native code, one of nnpu_identify.isas; 0: none.
 *	The code does what the commands say, on operands as the tensor table and the
 *	interface say; a device may run it in their place
 * @seal_off: byte offset of a struct nnpu_seal, multiple of 8; 0: there is none
 *
 * The seven regions (tensors, commands, indexes, inline data, hints, native code, seal) lie
 * inside the image behind the header and do not overlap.
 */
struct nnpu_program_header {
	__le32 magic;
	__le16 version;
	__le16 header_size;
	__le32 size;
	__le32 flags;
	__le32 tensors_off;
	__le32 num_tensors;
	__le32 commands_off;
	__le32 num_commands;
	__le32 indexes_off;
	__le32 num_indexes;
	__le32 data_off;
	__le32 data_size;
	__le32 inputs_first;
	__le32 outputs_first;
	__le16 num_inputs;
	__le16 num_outputs;
	__le16 tensor_stride;
	__le16 command_stride;
	__le32 hints_off;
	__le32 hints_size;
	__le32 native_off;
	__le32 native_size;
	__le32 native_isa;
	__le32 seal_off;
	/** @reserved: zero */
	__le64 reserved;
};

/**
 * struct nnpu_hint - head of a hint
 * @kind: what it is about. No kinds are defined; a device ignores those that it does not know
 * @size: bytes of head and content, multiple of 8, at least 16
 * @index: tensor or command that it is about, as the kind says
 * @reserved: zero
 *
 * A hint may change how fast a program is, or how much memory it takes, never its results.
 */
struct nnpu_hint {
	__le32 kind;
	__le32 size;
	__le32 index;
	__le32 reserved;
};

/* What a seal is made with. */
#define NNPU_SEAL_POLY1305		1	/* RFC 8439, 2.5 */

/**
 * struct nnpu_seal - what the values of the constants must be
 * @kind: NNPU_SEAL_*
 * @reserved: zero
 * @key: secret key, used for these values only
 * @tag: the tag of the values of all constants, in the order of their records: of each the
 *	data_len bytes that its record names, as they are encoded
 *
 * The device computes the tag of its own copy of the values and refuses the program if it differs.
 * So the values may come from memory that others can write, if the rest of the image does not.
 * A process that knows the key can forge values: one that can write them must not see it.
 */
struct nnpu_seal {
	__le32 kind;
	__le32 reserved;
	__u8 key[32];
	__u8 tag[16];
};

/* Encodings of constants (bits of nnpu_identify.encodings). */
#define NNPU_ENCODING_PACKED		0	/* elements one behind the other */
#define NNPU_ENCODING_COMPRESSED	1	/* reserved: compressed without loss */
#define NNPU_ENCODING_4BIT		2	/* reserved: two in a byte, low half first */
#define NNPU_ENCODING_NATIVE		3	/* weights as the device keeps them: SAVE_PROGRAM */

/* Where a tensor's bytes are. */
#define NNPU_TENSOR_TEMPORARY		0	/* written by a command, read by later ones */
#define NNPU_TENSOR_INPUT		1	/* argument of the job */
#define NNPU_TENSOR_OUTPUT		2	/* written by a command, argument of the job */
#define NNPU_TENSOR_INLINE		3	/* constant in the image's inline data */
#define NNPU_TENSOR_SLOT		4	/* constant in a slot, copied while loading */
#define NNPU_TENSOR_NO_VALUE		5	/* omitted optional operand */

/* The rank is not known at load time; @rank and @dims are zero. */
#define NNPU_TENSOR_UNKNOWN_RANK	(1u << 0)

/**
 * struct nnpu_tensor_desc - one tensor or scalar of a program, 96 bytes
 * @type: NNPU_TYPE_*, or nnpu_extension_type.code
 * @kind: NNPU_TENSOR_*: where its bytes are
 * @rank: number of dimensions, 0 for scalars and for unknown rank
 * @flags: NNPU_TENSOR_UNKNOWN_RANK
 * @scale: quantization scale as IEEE 754 single precision bits, 0 where the
 *	type has none
 * @zero_point: quantization zero point, 0 where the type has none
 * @dims: sizes, slowest dimension first, 0 = not known at load time; entries
 *	from @rank on are zero
 * @channel_dim: TENSOR_QUANT8_SYMM_PER_CHANNEL: the dimension that has one scale
 *	per index; else zero
 * @num_channel_scales: TENSOR_QUANT8_SYMM_PER_CHANNEL: dims[@channel_dim]; else zero
 * @channel_scales_off: byte offset in the inline data of @num_channel_scales
 *	single precision scales, multiple of 4; else zero
 * @slot: NNPU_TENSOR_SLOT: slot with the data; else zero
 * @data_off: NNPU_TENSOR_INLINE: byte offset in the inline data;
 *	NNPU_TENSOR_SLOT: byte offset in the slot; else zero
 * @data_len: bytes of constant data as they are encoded; NNPU_ENCODING_PACKED:
 *	element size times number of elements; zero if the tensor is not constant
 * @params_off: type of an extension: byte offset in the inline data of @params_len
 *	bytes of parameters, as the extension defines them; zero if there are none
 * @params_len: bytes of parameters; zero for types of the HAL
 * @encoding: NNPU_ENCODING_* of a constant; zero if the tensor is not constant
 */
struct nnpu_tensor_desc {
	__le16 type;
	__u8 kind;
	__u8 rank;
	__le32 flags;
	__le32 scale;
	__le32 zero_point;
	__le32 dims[NNPU_MAX_RANK];
	__le32 channel_dim;
	__le32 num_channel_scales;
	__le32 channel_scales_off;
	__le32 slot;
	__le64 data_off;
	__le64 data_len;
	__le32 params_off;
	__le32 params_len;
	__le16 encoding;
	/** @reserved0: zero */
	__le16 reserved0;
	/** @reserved: zero */
	__le32 reserved;
};

/**
 * struct nnpu_command - one operation of a program, 32 bytes
 * @opcode: NNPU_OP_*, a control command, or an operation of an extension
 * @flags: zero
 * @num_inputs: number of input tensors, at most 65535
 * @num_outputs: number of output tensors, at least 1
 * @operands_first: position in the index pool: @num_inputs tensor indexes, then
 *	@num_outputs tensor indexes
 * @target: NNPU_CMD_BRANCH, NNPU_CMD_LOOP: indexes of two BLOCK commands; else zero
 *
 * Commands execute in order. A tensor is written by at most one command and
 * read only by later ones of the same block.
 */
struct nnpu_command {
	__le32 opcode;
	__le32 flags;
	__le16 num_inputs;
	__le16 num_outputs;
	__le32 operands_first;
	__le32 target[2];
	/** @reserved: zero */
	__le64 reserved;
};

/* In nnpu_command_report.operand and error words: no single operand is at fault. */
#define NNPU_OPERAND_NONE		0xffffu

/**
 * struct nnpu_command_report - verdict on one command of a checked program
 * @status: NNPU_STATUS_SUCCESS if the device executes the command, else why not
 * @reason: NNPU_REASON_*
 * @operand: position among the command's operands, inputs first, or
 *	NNPU_OPERAND_NONE
 * @reserved: zero
 */
struct nnpu_command_report {
	__le16 status;
	__le16 reason;
	__le16 operand;
	__le16 reserved;
};

/* The argument is omitted; all other fields are zero. */
#define NNPU_ARG_NO_VALUE		(1u << 0)
/* @rank and @dims are given; otherwise the argument has the shape of the program. */
#define NNPU_ARG_SHAPE			(1u << 1)
/* Set by the device: the output did not fit, nothing was written to it. */
#define NNPU_ARG_INSUFFICIENT		(1u << 2)

/**
 * struct nnpu_arg - one argument of a job, 64 bytes
 * @slot: slot of the context that holds the operand
 * @flags: NNPU_ARG_*
 * @rank: number of dimensions; the device returns the actual rank of outputs
 * @pad: zero
 * @offset: byte offset in the slot
 * @length: bytes; inputs: exactly the size of the operand; outputs: room, at
 *	least the size of the operand
 * @dims: sizes; the device returns the actual sizes of outputs, 0 if not known
 * @reserved: zero
 */
struct nnpu_arg {
	__le32 slot;
	__le16 flags;
	__u8 rank;
	__u8 pad;
	__le64 offset;
	__le64 length;
	__le32 dims[NNPU_MAX_RANK];
	__le64 reserved;
};

/*
 * nnpu_args_header.flags. The deadline also ends a job that has begun, at its next
 * point. Without the flag it ends only a job that has not begun.
 */
#define NNPU_ARGS_DEADLINE_ABORT	(1u << 0)
/*
 * The deadline is a time of the device clock. Without the flag it counts from the
 * fetching of the entry. DRM_NNPU_QUERY_CLOCK tells a process the device clock.
 */
#define NNPU_ARGS_DEADLINE_ABSOLUTE	(1u << 1)

/**
 * struct nnpu_args_header - first 64 bytes of an argument block
 * @num_inputs: number of input records that follow
 * @num_outputs: number of output records that follow the inputs
 * @flags: NNPU_ARGS_*; zero without @deadline_ns
 * @deadline_ns: time from fetching the entry to the deadline of the job, with
 *	NNPU_ARGS_DEADLINE_ABSOLUTE the time of the deadline, ns of the device clock; 0:
 *	none. A job that misses it ends with NNPU_STATUS_DEADLINE. Zero without
 *	NNPU_FEATURE_DEADLINE
 * @loop_timeout_ns: longest time for each LOOP, including the loops in its blocks, at
 *	most NNPU_LOOP_TIMEOUT_MAX_NS; 0: NNPU_LOOP_TIMEOUT_DEFAULT_NS. COPY: zero
 * @status: result: NNPU_STATUS_*
 * @reason: result: NNPU_REASON_*
 * @command: result: index of the command (NNPU_STATUS_OP_FAILED,
 *	NNPU_STATUS_LOOP_TIMEOUT) or argument (NNPU_STATUS_ARG_*) at fault
 * @queue_ns: result: from fetching the submission entry to the start, ns of the
 *	device clock
 * @exec_ns: result: from the start of execution to its end, ns
 * @num_profile: result: number of struct nnpu_profile written
 * @inferences: result: commands whose output shapes the device determined at run time
 * @allocations: result: allocations of device memory for the job
 * @copies: result: tensors copied inside device memory, except by operations
 * @reserved: zero
 *
 * An argument block is this header, @num_inputs and then @num_outputs records
 * of struct nnpu_arg. The result block that the device writes has the same
 * layout. The device fills in the result fields of the header and the actual shapes of
 * the outputs, and copies the rest from the argument block.
 */
struct nnpu_args_header {
	__le16 num_inputs;
	__le16 num_outputs;
	__le32 flags;
	__le64 deadline_ns;
	__le64 loop_timeout_ns;
	__le16 status;
	__le16 reason;
	__le32 command;
	__le64 queue_ns;
	__le64 exec_ns;
	__le32 num_profile;
	__le16 inferences;
	__le16 allocations;
	__le16 copies;
	__le16 reserved[3];
};

/**
 * struct nnpu_profile - time of one executed command, 32 bytes
 * @command: index in the program's command stream
 * @opcode: its opcode
 * @start_ns: from the start of the job to its first execution, ns of the device clock
 * @exec_ns: duration, ns; for a control command including the blocks that it ran
 * @bytes: bytes of output written
 *
 * A command that is executed several times has one record; @exec_ns and @bytes are
 * sums.
 */
struct nnpu_profile {
	__le32 command;
	__le32 opcode;
	__le64 start_ns;
	__le64 exec_ns;
	__le64 bytes;
};

/**
 * struct nnpu_performance - figures for one operand type
 * @type: NNPU_TYPE_*
 * @exec_time: time relative to the host CPU on the same work, single precision bits
 * @power: energy relative to the host CPU, single precision bits
 * @flags: zero
 */
struct nnpu_performance {
	__le32 type;
	__le32 exec_time;
	__le32 power;
	__le32 flags;
};

/* Indexes of nnpu_identify.relaxed. */
#define NNPU_PERF_RELAXED_SCALAR	0
#define NNPU_PERF_RELAXED_TENSOR	1
#define NNPU_PERF_IF			2
#define NNPU_PERF_WHILE			3

/* Feature bits (nnpu_identify.features, drm_nnpu_device_info.features, register FEATURES). */
#define NNPU_FEATURE_PROFILE		(1u << 0)	/* per-command profile records */
#define NNPU_FEATURE_ABORT		(1u << 1)	/* ABORT command */
#define NNPU_FEATURE_INJECT		(1u << 2)	/* fault injection is enabled */
#define NNPU_FEATURE_NULL		(1u << 3)	/* jobs complete without computing */
#define NNPU_FEATURE_PRIORITY		(1u << 4)	/* queue priorities */
#define NNPU_FEATURE_DEADLINE		(1u << 5)	/* deadlines of jobs */
#define NNPU_FEATURE_CONTROL_FLOW	(1u << 6)	/* BRANCH, LOOP, BLOCK commands */
#define NNPU_FEATURE_USER_QUEUES	(1u << 7)	/* queues bound to one context */
#define NNPU_FEATURE_PERF_LEVELS	(1u << 8)	/* SET_PERF command */
#define NNPU_FEATURE_SUSPEND		(1u << 9)	/* SUSPEND_QUEUE, QUEUE_RESUME */
#define NNPU_FEATURE_EXTENSIONS		(1u << 10)	/* vendor extensions */
#define NNPU_FEATURE_COPY		(1u << 11)	/* COPY command */
#define NNPU_FEATURE_SAVE		(1u << 12)	/* SAVE_PROGRAM command */
#define NNPU_FEATURE_PROPAGATE		(1u << 13)	/* reserved: NNPU_EXEC_PROPAGATE */
#define NNPU_FEATURE_SLICES		(1u << 14)	/* jobs give way, shares of device time */
#define NNPU_FEATURE_LOAD_TURNS		(1u << 15)	/* loads of contexts take turns */

/**
 * struct nnpu_identify - what the device is, 4096 bytes
 * @magic: NNPU_IDENTIFY_MAGIC
 * @version: hardware specification, major << 16 | minor
 * @features: NNPU_FEATURE_*
 * @name: model name, NUL-padded ASCII
 * @firmware: version string of the device's firmware or model, NUL-padded ASCII
 * @device_type: DeviceType of the HAL (4 = ACCELERATOR)
 * @max_rank: largest rank of a tensor, at most NNPU_MAX_RANK
 * @memory_size: device memory for programs and activations, bytes
 * @max_program_size: largest program image, bytes
 * @max_operand_size: largest operand, bytes
 * @num_engines: jobs that run at the same time
 * @num_performance: valid entries of @performance
 * @operations: bit (n % 32) of word n / 32: operation n has a kernel; IF and
 *	WHILE: the device has BRANCH and LOOP
 * @relaxed: figures for relaxed float and for control flow, see NNPU_PERF_*;
 *	their type field is zero
 * @performance: figures per operand type, ascending types
 * @max_depth: largest depth of nested blocks, 0 without NNPU_FEATURE_CONTROL_FLOW
 * @num_extensions: vendor extensions, at most NNPU_MAX_EXTENSIONS; 0 without
 *	NNPU_FEATURE_EXTENSIONS
 * @admin_ms: most ms that an admin command takes, other than LOAD_PROGRAM and SAVE_PROGRAM
 * @load_ms: these two: most ms when no other load runs, plus @load_image_ms and
 *	@load_const_ms
 * @load_image_ms: for each MiB of the image
 * @load_const_ms: for each MiB of constants and of scales
 * @program_min: oldest version of programs that the device takes
 * @program_max: newest version
 * @encodings: bit n: constants may have encoding n
 * @types: bit (n % 32) of word n / 32: operands may be of type n; without the types of
 *	extensions
 * @num_isas: valid entries of @isas
 * @isas: instruction sets of native code that the device takes, none of them 0
 * @build: tells builds of one version of @firmware apart; all zero: not known
 * @slice_us: how long a job has an engine while others wait, us; 0 without
 *	NNPU_FEATURE_SLICES
 * @max_loads: LOAD_PROGRAM and SAVE_PROGRAM commands that the device holds at a time, at least 1
 * @max_operands: operands of all commands of a program, at most
 * @reserved: zero
 */
struct nnpu_identify {
	__le32 magic;
	__le32 version;
	__le64 features;
	char name[64];
	char firmware[64];
	__le32 device_type;
	__le32 max_rank;
	__le64 memory_size;
	__le64 max_program_size;
	__le64 max_operand_size;
	__le32 num_engines;
	__le32 num_performance;
	__le32 operations[32];
	struct nnpu_performance relaxed[4];
	struct nnpu_performance performance[128];
	__le32 max_depth;
	__le32 num_extensions;
	__le32 admin_ms;
	__le32 load_ms;
	__le32 load_image_ms;
	__le32 load_const_ms;
	__le16 program_min;
	__le16 program_max;
	__le32 encodings;
	__le32 types[8];
	__le32 num_isas;
	__le32 isas[8];
	__u8 build[32];
	__le32 slice_us;
	__le32 max_loads;
	__le32 max_operands;
	__u8 reserved[1528];
};

/* "NNPI", little-endian. */
#define NNPU_IDENTIFY_MAGIC		0x49504e4eu

/* Operands of the type are tensors; otherwise they are scalars. */
#define NNPU_EXTENSION_TENSOR		(1u << 0)

/**
 * struct nnpu_extension_type - an operand type of a vendor extension, 16 bytes
 * @number: number of the type in the extension, as programs of the HAL know it
 * @code: value of nnpu_tensor_desc.type for it, from NNPU_TYPE_EXTENSION on
 * @byte_size: bytes of a scalar or of an element, at least 1
 * @flags: NNPU_EXTENSION_*
 * @reserved: zero
 */
struct nnpu_extension_type {
	__le16 number;
	__le16 code;
	__le32 byte_size;
	__le32 flags;
	__le32 reserved;
};

/* Extensions of one device, and operand types of one extension, at most. */
#define NNPU_MAX_EXTENSIONS		16
#define NNPU_EXTENSION_MAX_TYPES	240

/* "NNPE", little-endian. */
#define NNPU_EXTENSION_MAGIC		0x45504e4eu

/**
 * struct nnpu_extension - a vendor extension of the device, 4096 bytes
 * @magic: NNPU_EXTENSION_MAGIC
 * @num_types: valid entries of @types, at most NNPU_EXTENSION_MAX_TYPES
 * @first_operation: nnpu_command.opcode of operation 0 of the extension, from
 *	NNPU_CMD_EXTENSION on
 * @num_operations: above all numbers of operations of the extension; operation n has the code
 *	@first_operation + n. Numbers may be missing: LOAD_PROGRAM refuses them
 * @name: name in reversed domain notation, NUL-padded ASCII
 * @reserved: zero
 * @types: operand types, ascending numbers
 *
 * The device assigns the codes. Another device, or another version of its firmware, may
 * assign other codes to the same extension. Software identifies an extension by its name.
 */
struct nnpu_extension {
	__le32 magic;
	__le32 num_types;
	__le32 first_operation;
	__le32 num_operations;
	char name[192];
	__u8 reserved[48];
	struct nnpu_extension_type types[NNPU_EXTENSION_MAX_TYPES];
};

/*
 * Layout is ABI: sizes and offsets are pinned for C11 and C++11, in the kernel,
 * in the device model and in userspace alike.
 */
#if defined(__cplusplus)
#define NNPU_STATIC_ASSERT(c, m)	static_assert(c, m)
#else
#define NNPU_STATIC_ASSERT(c, m)	_Static_assert(c, m)
#endif
#define NNPU_ASSERT_SIZE(t, n)		NNPU_STATIC_ASSERT(sizeof(t) == (n), #t)
#define NNPU_ASSERT_OFFSET(t, f, n) \
	NNPU_STATIC_ASSERT(__builtin_offsetof(t, f) == (n), #t "." #f)

NNPU_ASSERT_SIZE(struct nnpu_program_header, 96);
NNPU_ASSERT_SIZE(struct nnpu_hint, 16);
NNPU_ASSERT_SIZE(struct nnpu_seal, 56);
NNPU_ASSERT_OFFSET(struct nnpu_seal, tag, 40);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, header_size, 6);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, size, 8);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, flags, 12);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, tensors_off, 16);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, commands_off, 24);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, indexes_off, 32);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, data_off, 40);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, inputs_first, 48);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, num_inputs, 56);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, tensor_stride, 60);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, hints_off, 64);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, native_off, 72);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, native_isa, 80);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, seal_off, 84);
NNPU_ASSERT_OFFSET(struct nnpu_program_header, reserved, 88);
NNPU_ASSERT_SIZE(struct nnpu_tensor_desc, 96);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, flags, 4);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, dims, 16);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, channel_dim, 48);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, slot, 60);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, data_off, 64);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, params_off, 80);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, encoding, 88);
NNPU_ASSERT_OFFSET(struct nnpu_tensor_desc, reserved, 92);
NNPU_ASSERT_SIZE(struct nnpu_command, 32);
NNPU_ASSERT_OFFSET(struct nnpu_command, num_inputs, 8);
NNPU_ASSERT_OFFSET(struct nnpu_command, operands_first, 12);
NNPU_ASSERT_OFFSET(struct nnpu_command, target, 16);
NNPU_ASSERT_SIZE(struct nnpu_command_report, 8);
NNPU_ASSERT_SIZE(struct nnpu_arg, 64);
NNPU_ASSERT_OFFSET(struct nnpu_arg, offset, 8);
NNPU_ASSERT_OFFSET(struct nnpu_arg, length, 16);
NNPU_ASSERT_OFFSET(struct nnpu_arg, dims, 24);
NNPU_ASSERT_OFFSET(struct nnpu_arg, reserved, 56);
NNPU_ASSERT_SIZE(struct nnpu_args_header, 64);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, deadline_ns, 8);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, status, 24);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, command, 28);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, queue_ns, 32);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, exec_ns, 40);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, num_profile, 48);
NNPU_ASSERT_OFFSET(struct nnpu_args_header, inferences, 52);
NNPU_ASSERT_SIZE(struct nnpu_profile, 32);
NNPU_ASSERT_SIZE(struct nnpu_performance, 16);
NNPU_ASSERT_SIZE(struct nnpu_identify, 4096);
NNPU_ASSERT_OFFSET(struct nnpu_identify, device_type, 144);
NNPU_ASSERT_OFFSET(struct nnpu_identify, memory_size, 152);
NNPU_ASSERT_OFFSET(struct nnpu_identify, num_engines, 176);
NNPU_ASSERT_OFFSET(struct nnpu_identify, operations, 184);
NNPU_ASSERT_OFFSET(struct nnpu_identify, relaxed, 312);
NNPU_ASSERT_OFFSET(struct nnpu_identify, performance, 376);
NNPU_ASSERT_OFFSET(struct nnpu_identify, max_depth, 2424);
NNPU_ASSERT_OFFSET(struct nnpu_identify, num_extensions, 2428);
NNPU_ASSERT_OFFSET(struct nnpu_identify, admin_ms, 2432);
NNPU_ASSERT_OFFSET(struct nnpu_identify, program_min, 2448);
NNPU_ASSERT_OFFSET(struct nnpu_identify, types, 2456);
NNPU_ASSERT_OFFSET(struct nnpu_identify, isas, 2492);
NNPU_ASSERT_OFFSET(struct nnpu_identify, build, 2524);
NNPU_ASSERT_SIZE(struct nnpu_extension_type, 16);
NNPU_ASSERT_SIZE(struct nnpu_extension, 4096);
NNPU_ASSERT_OFFSET(struct nnpu_extension, name, 16);
NNPU_ASSERT_OFFSET(struct nnpu_extension, types, 256);

#if defined(__cplusplus)
}
#endif

#endif /* _UAPI_NNPU_PROGRAM_H_ */
