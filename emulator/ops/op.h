/* SPDX-License-Identifier: MIT */
/*
 * What an operation of the device model is.
 *
 * An operation of the HAL is one row of the table in op_table.c: its number and its
 * functions; extension.h is about those of vendor extensions.
 * How many operands it takes, and which may be omitted, is in the table of signatures.
 * The program loader and the executor know operations through this header only; adding
 * one means one file with its functions and one row in each table.
 *
 * At load time the loader has checked what holds for every tensor (type, rank,
 * scale, zero point and data length are plausible by themselves) and calls
 * check(). When every input shape is known it calls infer() as well, so that a
 * program with static shapes does no shape work when it runs. prepare() turns
 * constants into what execute() wants (requantization tables, packed weights).
 * At run time the executor calls infer() if a shape was not known before, makes
 * room for the outputs and calls execute().
 *
 * All functions run on several threads at once for different jobs of one
 * program; they may only write what their struct op_call points to.
 */
#ifndef NNPU_EMU_OP_H
#define NNPU_EMU_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/nnpu_program.h>
#include <signature.h>

/* Shape and meaning of a tensor. Little-endian wire values are converted already. */
struct tensor {
	enum nnpu_type type;
	uint8_t kind;			/* NNPU_TENSOR_* */
	bool rank_known;
	uint8_t rank;
	bool shape_known;		/* rank and all dims are known (run time: always) */
	uint32_t dims[NNPU_MAX_RANK];	/* load time: 0 = not known; run time: all known, 0 = empty */
	float scale;
	int32_t zero_point;
	uint32_t channel_dim;
	uint32_t num_channel_scales;
	const float *channel_scales;
	/* Types of extensions: parameters, as many bytes as the type has. */
	const void *params;
	/*
	 * Constants: at load and run time. Others: at run time, inputs before infer(),
	 * outputs before execute(). 64-byte aligned, small constants 16. NULL otherwise.
	 */
	void *data;
	size_t bytes;			/* element size times elements, when shape_known */
};

static inline bool kind_is_const(unsigned int kind)
{
	return kind == NNPU_TENSOR_INLINE || kind == NNPU_TENSOR_SLOT;
}

static inline bool tensor_is_const(const struct tensor *t)
{
	return kind_is_const(t->kind);
}

/* Why a call failed; the first to fill it in wins. */
struct op_error {
	enum nnpu_reason reason;
	uint16_t operand;		/* position, inputs first, or NNPU_OPERAND_NONE */
};

struct op_desc;
struct job_progress;

/* One command of a program, at load time or in one execution. */
struct op_call {
	const struct op_desc *desc;
	unsigned int num_inputs;
	unsigned int num_outputs;
	/* Omitted operands (NNPU_TENSOR_NO_VALUE) are present with that kind. */
	struct tensor *const *in;
	struct tensor *const *out;
	bool relaxed;			/* NNPU_PROGRAM_RELAXED */
	/*
	 * Set by prepare(), read-only afterwards; released by free_prepared().
	 * NULL if an operand prepare() needs is not constant or its shape is not
	 * known: execute() then works from the tensors alone.
	 */
	void *prepared;
	/*
	 * prepare() only: bit i if input i is a constant that no other operand is, with
	 * op_room() bytes, so that prepare() may keep it in another form where it is.
	 */
	uint64_t own;
	/*
	 * Set by prepare(): bit i if execute() does not need the data of input i any more,
	 * a constant that is in the prepared object in another form. It may be gone then.
	 */
	uint64_t released;
	/* Execution only: what desc->scratch asked for, 64-byte aligned. */
	void *scratch;
	/* Execution only: see op_progress(). */
	struct job_progress *progress;
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
	 * Are these operands a legal and supported use, as far as types, ranks,
	 * constants and quantization tell? 0 or -1 with error filled in
	 * (NNPU_REASON_UNSUPPORTED_VARIANT for what the HAL allows and this
	 * device does not do).
	 */
	int (*check)(const struct op_call *c);
	/*
	 * Fill in rank and dims of the outputs from shapes and values of the
	 * inputs. 0; -1 with error for shapes that do not fit. Called at load time
	 * only if all input shapes are known and returns 1 there if a value it
	 * needs is not constant.
	 */
	int (*infer)(const struct op_call *c);
	/* Optional. Bytes allocated go to *bytes (device memory accounting). */
	int (*prepare)(struct op_call *c, size_t *bytes);
	/*
	 * Optional. Bytes of memory execute() needs for itself, from types and shapes
	 * alone, all of which are known. SIZE_MAX if that is no size.
	 */
	size_t (*scratch)(const struct op_call *c);
	/*
	 * Compute the outputs. Returns 0, or -1 with error for values the operation
	 * refuses, or OP_ABORTED as soon as op_progress() says so.
	 */
	int (*execute)(const struct op_call *c);
	/* Releases what prepare() allocated; with prepare() only. */
	void (*free_prepared)(void *prepared);
};

#define OP_ABORTED	1

/*
 * Kernels call this about once per millisecond of work (an output row of a
 * convolution). It counts the progress the driver's watchdog looks at, and
 * returns true when the job is to end: return OP_ABORTED then.
 */
bool op_progress(struct job_progress *p);

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
 * Bytes that c->scratch must point to when op_execute() is called; SIZE_MAX if
 * they cannot be counted. All shapes are known.
 */
size_t op_scratch(const struct op_call *c);

/*
 * Are the operands of a command a legal use of its operation? desc->check(), with what
 * it relies on: their number, and no type of an extension where it does not belong.
 */
int op_check(uint32_t opcode, const struct op_call *c);

/* Run an operation: desc->execute(), its operands widened if it wants that. */
int op_execute(const struct op_call *c);

/* May a command of an operation of the HAL have so many operands? */
static inline bool op_counts_ok(const struct op_desc *d, unsigned int inputs,
				unsigned int outputs)
{
	return signature_counts_ok(d->op, inputs, outputs);
}

/* Bytes for a constant, so that its operation may rewrite it in place: its own or some more. */
size_t op_room(const struct tensor *t);

/* NULL if the device has no kernel for this operation. */
const struct op_desc *op_find(uint32_t opcode);

/* Bytes per element of a type; 0 for types without data (SUBGRAPH), and for no type. */
size_t type_size(uint32_t type);
bool type_is_scalar(uint32_t type);
const char *type_name(uint32_t type);
const char *op_name(uint32_t opcode);
const char *status_name(uint32_t status);
const char *reason_text(uint32_t reason);

#endif /* NNPU_EMU_OP_H */
