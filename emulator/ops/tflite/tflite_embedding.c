// SPDX-License-Identifier: MIT
/*
 * EMBEDDING_LOOKUP_SPARSE of org.nnpu.tflite: weighted sums of rows of a table.
 *
 * Inputs: 0 rows to take [n], 1 where they go [n, rank of the lookup], ascending, 2 shape of the
 * lookup [rank], 3 weights [n], 4 table, 5 combiner: 0 sum, 1 mean, 2 sum over the root of the
 * sum of squares. Rows whose places differ in the last index only are combined.
 * The output has the dimensions of the lookup but the last one, then those of a row.
 */
#include <math.h>

#include "tflite_ops.h"

enum { AT_IDS, AT_PLACES, AT_SHAPE, AT_WEIGHTS, AT_TABLE, AT_COMBINER };
enum { SUM, MEAN, SQRTN };

static int get_combiner(const struct op_call *c, int32_t *combiner)
{
	if (op_get_i32(c, AT_COMBINER, combiner))
		return 1;
	if (*combiner < SUM || *combiner > SQRTN)
		return op_fail(c, NNPU_REASON_VALUE, AT_COMBINER);
	return 0;
}

int tflite_embedding_sparse_check(const struct op_call *c)
{
	int32_t combiner;

	return get_combiner(c, &combiner) < 0 ? -1 : 0;
}

int tflite_embedding_sparse_infer(const struct op_call *c)
{
	uint32_t dims[2 * NNPU_MAX_RANK], n = c->in[AT_IDS]->dims[0];
	const struct tensor *table = c->in[AT_TABLE];
	unsigned int rank;
	int32_t combiner;
	int ret;

	if (op_check_rank(c, AT_IDS, 1, 1) || op_check_rank(c, AT_PLACES, 2, 2) ||
	    op_check_rank(c, AT_WEIGHTS, 1, 1) || op_check_rank(c, AT_TABLE, 2, NNPU_MAX_RANK))
		return -1;
	ret = get_combiner(c, &combiner);
	if (!ret)
		ret = tflite_get_shape(c, AT_SHAPE, &rank, dims);
	if (ret)
		return ret;
	if (c->in[AT_PLACES]->dims[0] != n || c->in[AT_PLACES]->dims[1] != rank)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_PLACES);
	if (c->in[AT_WEIGHTS]->dims[0] != n)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, AT_WEIGHTS);
	if (rank - 1 + table->rank - 1u > NNPU_MAX_RANK)
		return op_fail(c, NNPU_REASON_RANK, AT_TABLE);
	for (unsigned int i = 1; i < table->rank; i++)
		dims[rank + i - 2] = table->dims[i];
	tensor_set_shape(c->out[0], rank + table->rank - 2u, dims);
	return 0;
}

/* Number of the output row of entry @i; -1 with error. */
static int64_t place_of(const struct op_call *c, size_t i)
{
	unsigned int rank = c->in[AT_SHAPE]->dims[0];
	int64_t at = 0;

	for (unsigned int d = 0; d + 1 < rank; d++) {
		int64_t index = tflite_int_at(c, AT_PLACES, i * rank + d);
		int64_t size = tflite_int_at(c, AT_SHAPE, d);

		if (index < 0 || index >= size)
			return op_fail(c, NNPU_REASON_VALUE, AT_PLACES);
		at = at * size + index;
	}
	return at;
}

/* Divide a row of the output by what its combiner wants. */
static void finish_row(struct op_pace *pace, float *row, size_t n, int32_t combiner, float weights,
		       float squares)
{
	float by = combiner == MEAN ? weights : sqrtf(squares);

	if (combiner == SUM || by == 0.0f)
		return;
	by = 1.0f / by;
	for (size_t i = 0; i < n && !op_pace_row(pace, i, 1); i++)
		row[i] *= by;
}

static int add_rows(const struct op_call *c, struct op_pace *pace, int32_t combiner, size_t size)
{
	const float *table = c->in[AT_TABLE]->data, *weights = c->in[AT_WEIGHTS]->data;
	float *out = c->out[0]->data, sum = 0.0f, squares = 0.0f;
	int64_t last = -1;

	for (size_t k = 0; k < c->in[AT_IDS]->dims[0]; k++) {
		int64_t id = tflite_int_at(c, AT_IDS, k), place = place_of(c, k);

		if (place < 0)
			return -1;
		if (id < 0 || id >= c->in[AT_TABLE]->dims[0])
			return op_fail(c, NNPU_REASON_VALUE, AT_IDS);
		if (place < last)
			return op_fail(c, NNPU_REASON_VALUE, AT_PLACES);
		if (place != last) {
			if (last >= 0)
				finish_row(pace, out + (size_t)last * size, size, combiner, sum,
					   squares);
			sum = 0.0f;
			squares = 0.0f;
		}
		last = place;
		sum += weights[k];
		squares += weights[k] * weights[k];
		for (size_t i = 0; i < size && !op_pace_row(pace, i, 1); i++)
			out[(size_t)place * size + i] += weights[k] * table[(size_t)id * size + i];
		if (op_pace(pace, size % OP_PACE_RUN + 32))
			return OP_ABORTED;
	}
	if (last >= 0)
		finish_row(pace, out + (size_t)last * size, size, combiner, sum, squares);
	return 0;
}

int tflite_embedding_sparse_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	float *out = c->out[0]->data;
	size_t n = tensor_elements(c->out[0]);
	int32_t combiner;

	if (get_combiner(c, &combiner))
		return -1;
	for (size_t i = 0; i < n; i++) {
		out[i] = 0.0f;
		if (op_pace_row(&pace, i, 1))
			return OP_ABORTED;
	}
	if (n == 0)
		return 0;
	return add_rows(c, &pace, combiner,
			tensor_elements_of(c->in[AT_TABLE], 1, c->in[AT_TABLE]->rank));
}
