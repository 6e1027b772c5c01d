// SPDX-License-Identifier: MIT
/*
 * MATRIX_DIAG and MATRIX_SET_DIAG: matrices in the last two dimensions.
 *
 * MATRIX_DIAG: 0 diagonals [..., n]; the output is [..., n, n], zero elsewhere.
 * MATRIX_SET_DIAG: 0 matrices [..., m, n], 1 diagonals [..., min(m, n)] to write into them.
 */
#include "ops/nd_copy.h"
#include "tflite_ops.h"

#include <string.h>

/* Write @diagonals into the matrices of the output. */
static int set_diagonals(const struct op_call *c, struct op_pace *pace,
			 const struct tensor *diagonals)
{
	const struct tensor *out = c->out[0];
	size_t rows = out->dims[out->rank - 2], columns = out->dims[out->rank - 1];
	size_t n = rows < columns ? rows : columns;

	return nd_copy(pace, diagonals->data, out->data, type_size(out->type), (struct nd_dim[]){
			{ tensor_elements_of(out, 0, out->rank - 2u), (ptrdiff_t)n,
			  (ptrdiff_t)(rows * columns) },
			{ n, 1, (ptrdiff_t)(columns + 1) },
		}, 2);
}

int tflite_matrix_diag_check(const struct op_call *c)
{
	return tflite_check_moved(c, 0);
}

int tflite_matrix_diag_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0];
	uint32_t dims[NNPU_MAX_RANK];

	if (op_check_rank(c, 0, 1, NNPU_MAX_RANK - 1))
		return -1;
	memcpy(dims, t->dims, sizeof(dims));
	dims[t->rank] = dims[t->rank - 1];
	tensor_set_shape(c->out[0], t->rank + 1u, dims);
	return 0;
}

int tflite_matrix_diag_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	static const uint8_t zero;

	return nd_fill(&pace, c->out[0]->data, 1, c->out[0]->bytes, &zero) ||
	       set_diagonals(c, &pace, c->in[0]) ? OP_ABORTED : 0;
}

int tflite_matrix_set_diag_check(const struct op_call *c)
{
	return tflite_check_alike(c, 1, 0) || tflite_check_moved(c, 0) ? -1 : 0;
}

int tflite_matrix_set_diag_infer(const struct op_call *c)
{
	const struct tensor *t = c->in[0], *diagonals = c->in[1];
	uint32_t rows, columns;

	if (op_check_rank(c, 0, 2, NNPU_MAX_RANK))
		return -1;
	if (diagonals->rank != t->rank - 1)
		return op_fail(c, NNPU_REASON_RANK, 1);
	rows = t->dims[t->rank - 2];
	columns = t->dims[t->rank - 1];
	if (memcmp(diagonals->dims, t->dims, (t->rank - 2u) * sizeof(t->dims[0])) ||
	    diagonals->dims[t->rank - 2] != (rows < columns ? rows : columns))
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	return op_infer_same_shape(c);
}

int tflite_matrix_set_diag_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };

	return nd_move(&pace, c->in[0]->data, c->out[0]->data, c->out[0]->bytes) ||
	       set_diagonals(c, &pace, c->in[1]) ? OP_ABORTED : 0;
}
