/* SPDX-License-Identifier: MIT */
/*
 * One operation of the extension org.nnpu.tflite with its operands and results, as text.
 *
 * A family of operations has a file of cases, tflite_NAME_cases.c, with an array
 * tflite_NAME_cases that TFLITE_END ends, and a row in the list below.
 */
#ifndef NNPU_TESTS_TFLITE_CASE_H
#define NNPU_TESTS_TFLITE_CASE_H

#include <stdbool.h>
#include <stdint.h>

#include "op.h"

/*
 * Operands, separated by blanks, with > before the outputs:
 *
 *	f32 f16 f64 c64			tensors; c64 has two values for each element
 *	i8 i16 i32 i64 u8 u16 u32 u64 bool
 *	i8@0.5-3			its scale and zero point (@1+0 if left out)
 *	=pc8@0.5/0.25:3			a scale for each index of dimension 3
 *	i32[2,3]{1,2,3,4,5,6}		its shape and elements; one element: all are like it.
 *					Reals may be nan, inf, -inf; f16 has bits as integers
 *	-i32				an omitted tensor
 *	#3 %1 $0.5			scalars: INT32, BOOL, FLOAT32
 *	4*f32[2]{1}			four of them
 *	= in front of an input		it is known when the program is loaded in every variant
 *
 * An output without shape belongs to a case that is refused.
 */
struct tflite_case {
	int op;				/* BuiltinOperator */
	const char *operands;
	enum nnpu_reason reason;	/* of the refusal, or NNPU_REASON_NONE */
	unsigned int blamed;		/* operand that the refusal names */
};

#define TFLITE_END	{ -1, NULL, NNPU_REASON_NONE, 0 }

/* A case that is refused. */
#define TFLITE_REFUSED(op, operands, reason, blamed) \
	{ op, operands, NNPU_REASON_##reason, blamed }
#define TFLITE_GIVES(op, operands)	{ op, operands, NNPU_REASON_NONE, 0 }

#define TFLITE_CASE_LIST(X) \
	X(activation) \
	X(binary) \
	X(compare) \
	X(conv) \
	X(convert) \
	X(lstm) \
	X(matmul) \
	X(move) \
	X(part) \
	X(reduce) \
	X(scan) \
	X(shape) \
	X(signal) \
	X(spatial) \
	X(unary) \
	X(value)

#define TFLITE_DECLARE(name)	extern const struct tflite_case tflite_##name##_cases[];
TFLITE_CASE_LIST(TFLITE_DECLARE)
#undef TFLITE_DECLARE

#define TFLITE_MAX_OPERANDS	48u

struct tflite_operand {
	enum nnpu_type type;
	bool omitted, scalar, fixed;
	bool has_shape;
	float scale;
	int32_t zero_point;
	uint32_t channel_dim, num_scales;
	float *scales;			/* malloc(), or NULL */
	unsigned int rank;
	uint32_t dims[NNPU_MAX_RANK];
	void *data;			/* malloc(); at least one byte */
	size_t bytes;
};

struct tflite_call {
	unsigned int num_inputs, num_outputs;
	struct tflite_operand operands[TFLITE_MAX_OPERANDS];
};

/* Read the operands of a case; abort() if they are not as described above. */
void tflite_call_read(struct tflite_call *call, const char *text);
void tflite_call_free(struct tflite_call *call);

#endif /* NNPU_TESTS_TFLITE_CASE_H */
