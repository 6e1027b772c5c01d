/* SPDX-License-Identifier: MIT */
/*
 * What an operation of the device model is.
 *
 * An operation of the HAL has one row in the table of op_table.c, with its number and its
 * functions. Operations of vendor extensions are described in extension.h. The table of
 * signatures says how many operands an operation takes, and which may be omitted. The
 * program loader and the executor know operations through this header only. A new
 * operation needs one file with its functions and one row in each table.
 *
 * At load time the loader checks each tensor by itself (type, rank, scale, zero point,
 * data length) and then calls check(). If every input shape is known it calls infer() as
 * well, so that a program with static shapes infers nothing when it runs. prepare()
 * converts constants into the form that execute() needs (requantization tables, packed
 * weights). At run time the executor calls infer() if a shape was not known before,
 * allocates the outputs and calls execute().
 *
 * All functions run on several threads at once, for different jobs of one program. They
 * may only write what their struct op_call points to. The caller provides op_progress().
 */
#ifndef NNPU_EMU_OP_H
#define NNPU_EMU_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/nnpu_program.h>
#include <signature.h>

/* Where the values of a constant are, and how. */
enum tensor_form {
	FORM_PLAIN,			/* in data, one behind the other */
	FORM_NATIVE,			/* in data, NNPU_ENCODING_NATIVE: panels of conv_pack.c */
	FORM_CONVERTED,			/* prepare() has changed data: see op_desc.unprepare */
};

/*
 * Shape and meaning of a tensor. Little-endian wire values are converted already. A program has one for
 * each of its tensors: it is as large as a cache line, and no larger.
 */
struct tensor {
	enum nnpu_type type : 16;
	uint8_t kind;			/* NNPU_TENSOR_* */
	uint8_t form;			/* enum tensor_form */
	uint32_t rank : 4;
	bool rank_known : 1;
	bool shape_known : 1;		/* rank and all dims are known (run time: always) */
	/* TENSOR_QUANT8_SYMM_PER_CHANNEL: the dimension that has a scale per index. */
	uint32_t channel_dim : 3;
	/* Of no use to operations: see program_load.h. */
	uint32_t role : 3;
	uint32_t place : 20;
	/* What a type needs one of: see tensor_scale(), tensor_num_scales(). */
	union {
		struct {
			float scale;
			int32_t zero_point;
		};
		const float *channel_scales;
		/* Types of extensions: parameters, as many bytes as the type has. */
		const void *params;
	};
	uint32_t dims[NNPU_MAX_RANK];	/* 0: not known (load time), empty (run time) */
	/*
	 * Constants: at load and run time. Others: at run time, inputs before infer(),
	 * outputs before execute(). 64-byte aligned, small constants 16, those of up to 8 bytes 8. NULL
	 * otherwise.
	 */
	void *data;
	size_t bytes;			/* element size times elements, when shape_known */
};

_Static_assert(sizeof(struct tensor) <= 64, "a cache line");
_Static_assert(NNPU_MAX_RANK <= 8, "rank and channel_dim have room");

static inline bool kind_is_const(unsigned int kind)
{
	return kind == NNPU_TENSOR_INLINE || kind == NNPU_TENSOR_SLOT;
}

static inline bool tensor_is_const(const struct tensor *t)
{
	return kind_is_const(t->kind);
}

/* Has it a scale for each index of a dimension, in place of scale and zero point? */
static inline bool tensor_is_per_channel(const struct tensor *t)
{
	return t->type == NNPU_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL;
}

static inline uint32_t tensor_num_scales(const struct tensor *t)
{
	return tensor_is_per_channel(t) ? t->dims[t->channel_dim] : 0;
}

/* Scale and zero point of any tensor of the HAL: 0 where the type has none. */
static inline float tensor_scale(const struct tensor *t)
{
	return tensor_is_per_channel(t) ? 0.0f : t->scale;
}

static inline int32_t tensor_zero_point(const struct tensor *t)
{
	return tensor_is_per_channel(t) ? 0 : t->zero_point;
}

/* Why a call failed; the first to fill it in wins. */
struct op_error {
	enum nnpu_reason reason;
	uint16_t operand;		/* position, inputs first, or NNPU_OPERAND_NONE */
};

struct op_desc;
struct op_pace;
struct op_team;
struct job_progress;

/* Elements [at, at + n) of the output of an operation, of TENSOR_FLOAT32, whose input is @from. */
typedef void op_decode_fn(const struct tensor *from, size_t at, size_t n, float *to);

/* One command of a program, at load time or in one execution. */
struct op_call {
	const struct op_desc *desc;
	unsigned int num_inputs;
	unsigned int num_outputs;
	/* Omitted operands (NNPU_TENSOR_NO_VALUE) are present with that kind. */
	struct tensor *const *in;
	struct tensor *const *out;
	bool relaxed;			/* NNPU_PROGRAM_RELAXED */
	bool widened;			/* scratch() and execute(): what op_wants_widening() says */
	bool loading;			/* the program is being loaded: infer() computes nothing */
	/*
	 * Set by prepare(), read-only afterwards.
	 * NULL if an operand prepare() needs is not constant or its shape is not
	 * known: execute() then works from the tensors alone.
	 */
	void *prepared;
	/*
	 * Bit i: nobody else needs the bytes of input i. In prepare() it is a constant that is no other
	 * operand: prepare() may convert it in place, and finds it by the tensor later, for it may
	 * have moved. In scratch() and execute() it is a value that was computed for this call alone:
	 * so may execute(). If the operation has native_weights, input 1 has a buffer of op_room()
	 * bytes, which stays where it is.
	 */
	uint64_t own;
	/*
	 * Not NULL in scratch() and execute(): input 1 has no data. Its elements are those that
	 * @decode gives for this constant. That is so only if op_decodes_weights() allows it.
	 */
	const struct tensor *coded;
	op_decode_fn *decode;
	/*
	 * Set by prepare(). Bit i: execute() does not need the data of input i, a constant, any
	 * more, because the prepared object holds it in another form. The caller may free it.
	 */
	uint64_t released;
	/* Execution only: what desc->scratch asked for, 64-byte aligned. */
	void *scratch;
	/* Of the job or the load: see op_progress(). */
	struct job_progress *progress;
	/* Execution only: threads that may compute parts, see parallel.h. NULL: none. */
	struct op_team *team;
	struct op_error *error;
};

struct op_desc {
	enum nnpu_operation op;
	const char *name;
	/*
	 * execute() and scratch() are called with TENSOR_FLOAT16 operands turned into
	 * TENSOR_FLOAT32; scalars stay as they are. The other functions see FLOAT16.
	 */
	bool widen;
	/*
	 * The output has the bytes of input 0. Both may be at the same place; execute() has nothing to
	 * do then.
	 */
	bool keeps_bytes;
	/*
	 * Check types, ranks, constants and quantization of the operands. 0, or -1 with
	 * error (NNPU_REASON_UNSUPPORTED_VARIANT: the HAL allows it, but this device does
	 * not support it).
	 */
	int (*check)(const struct op_call *c);
	/*
	 * Set rank and dims of the outputs from shapes and values of the inputs. 0; 1 if it
	 * needs a value that is not known yet; -1 with error if the shapes do not fit;
	 * OP_NO_MEMORY. At
	 * load time it is called only if all input shapes are known, and it returns 1 if it
	 * would have to compute on values: a load is not charged for time.
	 */
	int (*infer)(const struct op_call *c);
	/*
	 * Optional. It depends on constants only, and not on whether another operand is there: a job
	 * may omit an input of the program, and the operation cannot do without the weights that were
	 * released.
	 * What it keeps is one piece from op_take(), and *bytes is what was taken for
	 * it; the caller frees it. When op_progress() says that the load is to end, the
	 * prepared object may be half done.
	 */
	int (*prepare)(struct op_call *c, size_t *bytes);
	/*
	 * Optional. Write the values of input @i to @to as they were before prepare() released
	 * or converted them. They are not complete if @pace says that the command is to end.
	 */
	void (*unprepare)(struct op_pace *pace, const struct op_call *c, unsigned int i, void *to);
	/*
	 * Input 1 may be FORM_NATIVE, if op_takes_native() says so, and is so after it was
	 * released: c->prepared begins with struct conv_packed.
	 */
	bool native_weights;
	/*
	 * Optional, for operations with one input and one output, each element of which depends on the
	 * same element of the input: what execute() computes if the output is TENSOR_FLOAT32.
	 */
	op_decode_fn *decode;
	/*
	 * Optional. Bytes of scratch memory that execute() needs. All shapes are known, but
	 * no values. At least one output has elements. SIZE_MAX: the size overflows.
	 */
	size_t (*scratch)(const struct op_call *c);
	/*
	 * Compute the outputs, at least one of which has elements: see op_execute(). Returns 0, or -1 with
	 * error for values the operation refuses, or OP_ABORTED as soon as op_progress() says so.
	 */
	int (*execute)(const struct op_call *c);
};

#define OP_ABORTED	1
/* infer(): too little memory, see op_take(). */
#define OP_NO_MEMORY	2

/*
 * Kernels call this at least once per millisecond of work, at any operand size (shape.h has
 * what counts the work). It increments the progress counter that the driver's watchdog
 * reads. True: the job is to end, return OP_ABORTED. Whoever calls the functions of operations defines it.
 */
bool op_progress(struct job_progress *p);

/*
 * Memory of the device other than what scratch() asks for: charged to the context of the job or
 * load before it is allocated. 64-byte aligned. *@taken, if not NULL, grows by what is charged.
 * NULL: there is too little, or the job is to end. Whoever calls the functions of operations
 * defines both.
 */
void *op_take(struct job_progress *p, size_t bytes, size_t *taken);
/* Give it back; @bytes as with op_take(). NULL is nothing. */
void op_give(struct job_progress *p, void *memory, size_t bytes);

/* Fill in the error and return -1. */
static inline int op_fail(const struct op_call *c, enum nnpu_reason reason, unsigned int operand)
{
	if (c->error && c->error->reason == NNPU_REASON_NONE) {
		c->error->reason = reason;
		c->error->operand = (uint16_t)operand;
	}
	return -1;
}

/*
 * Has the call TENSOR_FLOAT16 operands, and its operation op_desc.widen? Operands that are omitted do not
 * count. A job may omit more than the program: the answer for the program is good for all jobs.
 */
bool op_wants_widening(const struct op_call *c);

/*
 * Bytes of scratch memory that op_execute() needs at c->scratch. SIZE_MAX: the size
 * overflows. All shapes are known. 0 if no output has elements.
 */
size_t op_scratch(const struct op_call *c);

/*
 * Check the operands of a command: their number, types of extensions, and desc->check().
 * 0, or -1 with error.
 */
int op_check(uint32_t opcode, const struct op_call *c);

/*
 * desc->execute(), with copies of operands if the call is widened. If no output has elements, there is
 * nothing to compute, and desc->check() looks at the scalars of the job.
 */
int op_execute(const struct op_call *c);

/* May a command of an operation of the HAL have these numbers of operands? */
static inline bool op_counts_ok(const struct op_desc *d, unsigned int inputs,
				unsigned int outputs)
{
	return signature_counts_ok(d->op, inputs, outputs);
}

/* Bytes to allocate for a tensor, so that it can be converted in place. */
size_t op_room(const struct tensor *t);

/* Bytes of a constant in FORM_NATIVE. 0: constants like this one have no such form. */
size_t op_native_size(const struct tensor *t);
/* May input @i of a command of this operation be FORM_NATIVE? */
bool op_takes_native(const struct op_call *c, unsigned int i);
/* Can the call do without data of input 1, see op_call.coded? */
bool op_decodes_weights(const struct op_call *c);
/* The weights of a prepared command whose operation has native_weights. */
const void *op_native_weights(const void *prepared);

/* NULL if the device has no kernel for this operation. */
const struct op_desc *op_find(uint32_t opcode);

/* Bytes per element of a type. 0: a type without data (SUBGRAPH), or no type. */
size_t type_size(uint32_t type);
bool type_is_scalar(uint32_t type);
const char *type_name(uint32_t type);
const char *op_name(uint32_t opcode);
const char *status_name(uint32_t status);
const char *reason_text(uint32_t reason);

#endif /* NNPU_EMU_OP_H */
