/* SPDX-License-Identifier: MIT */
/*
 * Every operation at the largest operands that the device takes, as text.
 */
#ifndef NNPU_TESTS_LARGE_CALLS_H
#define NNPU_TESTS_LARGE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include <drm/nnpu_program.h>

/*
 * A call: operands, with > before the outputs.
 *
 *	f h u s t o w y		tensor: FLOAT32, FLOAT16, QUANT8_ASYMM, signed, INT32, BOOL8,
 *				QUANT16_ASYMM, QUANT16_SYMM; c: QUANT8_SYMM
 *	l z d q v p		of org.nnpu.tflite: INT64, COMPLEX64, FLOAT64, UINT64, UINT32, UINT16
 *	:64Mx2			its shape (inputs)
 *	=1.5			its elements; else 0 (inputs)
 *	@0.5+128		its scale and zero point
 *	-f			an omitted tensor
 *	i1 r0.5 b1		scalar: INT32, FLOAT32, BOOL
 *	{1,2}			constant list: TENSOR_INT32; {1,2,3,4}x2: rows of two
 *	3*f:1			three of them
 */
struct large_call {
	enum nnpu_operation op;
	const char *operands;
};

extern const struct large_call large_calls[];
extern const unsigned int num_large_calls;

#define LARGE_MAX_OPERANDS	80u
#define LARGE_MAX_DIMS		8u
#define LARGE_MAX_LIST		8u

enum large_kind { LARGE_TENSOR, LARGE_OMITTED, LARGE_SCALAR, LARGE_LIST };

/* An operand of such a call. */
struct large_operand {
	enum large_kind kind;
	bool output;
	enum nnpu_type type;
	float scale;
	int32_t zero_point;
	unsigned int rank;		/* tensors and lists; 0: an output */
	uint32_t dims[LARGE_MAX_DIMS];
	float value;			/* of all elements of a tensor */
	int32_t list[LARGE_MAX_LIST];	/* or the scalar's four bytes */
};

/* Returns the number of operands. */
unsigned int large_call_read(const struct large_call *call, struct large_operand *operands);

#endif /* NNPU_TESTS_LARGE_CALLS_H */
