/* SPDX-License-Identifier: MIT */
/*
 * Checking operands: types, ranks, shapes, values of scalars.
 *
 * The op_check_* functions return 0, or -1 with the error of the call set. They check
 * what is known: an unknown rank or dimension passes at load time and is checked again
 * when infer() runs with full shapes.
 */
#ifndef NNPU_EMU_SHAPE_H
#define NNPU_EMU_SHAPE_H

#include <string.h>

#include "op.h"
#include "pace.h"

/* Set of element types, for op_check_type(). */
#define TYPE_BIT(name)		(1u << NNPU_TYPE_##name)
#define TYPES_FLOAT		(TYPE_BIT(TENSOR_FLOAT32) | TYPE_BIT(TENSOR_FLOAT16))
#define TYPES_QUANT8		(TYPE_BIT(TENSOR_QUANT8_ASYMM) | \
				 TYPE_BIT(TENSOR_QUANT8_ASYMM_SIGNED))

/* Largest rank that the HAL gives most operations. */
#define OP_MAX_RANK		4

static inline bool type_is_quant8(enum nnpu_type t)
{
	return t == NNPU_TYPE_TENSOR_QUANT8_ASYMM || t == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
}

/* Operand by the position that errors use: inputs first. */
static inline struct tensor *op_operand(const struct op_call *c, unsigned int i)
{
	return i < c->num_inputs ? c->in[i] : c->out[i - c->num_inputs];
}

/* Position of output @i in errors. */
static inline unsigned int op_output(const struct op_call *c, unsigned int i)
{
	return c->num_inputs + i;
}

static inline bool tensor_has_value(const struct tensor *t)
{
	return t->kind != NNPU_TENSOR_NO_VALUE;
}

/* Is optional input @i there? */
static inline bool op_has_input(const struct op_call *c, unsigned int i)
{
	return tensor_has_value(c->in[i]);
}

/* Can the elements be read now? Always true while a job runs. */
static inline bool tensor_data_known(const struct tensor *t)
{
	return t->shape_known && (t->data || t->bytes == 0);
}

/* Product of dims[first] .. dims[last - 1]. */
static inline size_t tensor_elements_of(const struct tensor *t, unsigned int first,
					unsigned int last)
{
	size_t n = 1;

	for (unsigned int i = first; i < last; i++)
		n *= t->dims[i];
	return n;
}

/* Number of elements of a tensor of known shape. */
static inline size_t tensor_elements(const struct tensor *t)
{
	return tensor_elements_of(t, 0, t->rank);
}

/* Give @t this shape. */
void tensor_set_shape(struct tensor *t, unsigned int rank, const uint32_t *dims);

/* The numbers of inputs and outputs are right, and no required one is omitted. */
int op_check_operands(const struct op_call *c);

/* The bit of a type that has not been looked at: those of extensions have none. */
static inline uint32_t type_bit(unsigned int type)
{
	return type < NNPU_NUM_TYPES ? 1u << type : 0;
}

/* Operand @i has a type of the set @types. */
int op_check_type(const struct op_call *c, unsigned int i, uint32_t types);

/* Operands @i and @as have the same type. */
int op_check_same_type(const struct op_call *c, unsigned int i, unsigned int as);

/* Rank of operand @i is in [@min, @max]. */
int op_check_rank(const struct op_call *c, unsigned int i, unsigned int min, unsigned int max);

/* Operands @i and @as have the same scale and zero point. */
int op_check_same_quant(const struct op_call *c, unsigned int i, unsigned int as);

/* Operand @i has exactly this scale and zero point. */
int op_check_quant(const struct op_call *c, unsigned int i, float scale, int32_t zero_point);

/*
 * The checks of operations that only move data: op_check_operands(), input 0 has a type of
 * the set, output 0 has the same type and quantization, both have a rank in
 * [1, @max_rank].
 */
int op_check_moved(const struct op_call *c, uint32_t types, unsigned int max_rank);

/* Input @i is a TENSOR_INT32, of rank 1 unless it is omitted. */
int op_check_list(const struct op_call *c, unsigned int i);

/*
 * Can the list that input @i is be walked through now? While the program is loaded only if it
 * is short.
 */
bool op_list_known(const struct op_call *c, unsigned int i);

/* Entry @k of the TENSOR_INT32 input @i, whose data is there. */
int32_t op_list_at(const struct op_call *c, unsigned int i, size_t k);

/* Input @i is a FLOAT16 if input 0 is a TENSOR_FLOAT16, else a FLOAT32. */
int op_check_float_scalar(const struct op_call *c, unsigned int i);

/*
 * Read a scalar input: an INT32, a FLOAT16 or FLOAT32, a BOOL. 0; 1 if its value is not known before the
 * job runs. The type of the operand has been checked.
 */
static inline int op_get_i32(const struct op_call *c, unsigned int i, int32_t *value)
{
	if (!c->in[i]->data)
		return 1;
	memcpy(value, c->in[i]->data, sizeof(*value));
	return 0;
}

int op_get_f32(const struct op_call *c, unsigned int i, float *value);
int op_get_bool(const struct op_call *c, unsigned int i, bool *value);

/* Fused activation codes of the HAL. */
enum activation {
	ACTIVATION_NONE = 0,
	ACTIVATION_RELU = 1,
	ACTIVATION_RELU1 = 2,
	ACTIVATION_RELU6 = 3,
	ACTIVATION_UNLIMITED = 4,	/* no code: floats may become infinite */
};

/* Read a fused activation code: 0, 1 as above, -1 if it is none of the four. */
static inline int op_get_activation(const struct op_call *c, unsigned int i, enum activation *a)
{
	int32_t v;

	if (op_get_i32(c, i, &v))
		return 1;
	if (v < ACTIVATION_NONE || v > ACTIVATION_RELU6)
		return op_fail(c, NNPU_REASON_VALUE, i);
	*a = (enum activation)v;
	return 0;
}

/*
 * Read an axis and make it non-negative: 0, 1 as above, -1 if it is not in
 * [-rank, rank), or not in [0, rank) with @negative false.
 */
int op_get_axis(const struct op_call *c, unsigned int i, unsigned int rank, bool negative,
		unsigned int *axis);

/*
 * The same for element @position of the list that input @i is, a tensor whose data is
 * known. The axis is in [-rank, rank).
 */
int op_list_axis(const struct op_call *c, unsigned int i, size_t position, unsigned int rank,
		 unsigned int *axis);

/* A tensor as rows along one axis. The elements of a row are @inner apart. */
struct rows {
	size_t outer, size, inner;
};

/*
 * Rows of input 0 along the axis that scalar input @i gives, or along the last one if
 * the call has no input @i. Returns as op_get_axis().
 */
int op_get_rows(const struct op_call *c, unsigned int i, struct rows *rows);

/* Offset of row @i, elements. */
static inline size_t row_start(const struct rows *r, size_t i)
{
	return i / r->inner * r->size * r->inner + i % r->inner;
}

/* The common infer() of operations whose output has the shape of input 0. */
int op_infer_same_shape(const struct op_call *c);

/*
 * Broadcast the shapes of inputs 0 and 1 into output 0, dimensions aligned at
 * the last one.
 */
int op_infer_broadcast(const struct op_call *c);

/*
 * Scratch memory is taken piece by piece from the start of what op_desc.scratch
 * asked for; each piece starts at a multiple of SCRATCH_ALIGN bytes.
 */
#define SCRATCH_ALIGN		64

/* @total plus a piece of @n elements of @size bytes. SIZE_MAX: the sum overflows. */
static inline size_t scratch_add(size_t total, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    __builtin_add_overflow(bytes, SCRATCH_ALIGN - 1, &bytes) ||
	    __builtin_add_overflow(total, bytes / SCRATCH_ALIGN * SCRATCH_ALIGN, &total))
		return SIZE_MAX;
	return total;
}

/* Take the next @bytes bytes: advances the scratch pointer of the caller's copy of the call. */
static inline void *scratch_take(struct op_call *c, size_t bytes)
{
	void *piece = c->scratch;

	c->scratch = (char *)piece + (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
	return piece;
}

#endif /* NNPU_EMU_SHAPE_H */
