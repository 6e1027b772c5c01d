// SPDX-License-Identifier: MIT
/*
 * BATCH_MATMUL of org.nnpu.tflite: products of matrices.
 *
 * Inputs: 0 matrices [..., rows, depth], 1 matrices [..., depth, columns]; 2 and 3 whether
 * the last two dimensions of these are exchanged; 4 is for other types and not used. The
 * dimensions in front of the last two are broadcast.
 *
 * Matrices of floats and of bytes are convolutions of one pixel per row: each matrix of
 * input 1 is brought into the order of weights, [columns, depth], and conv.h does the rest.
 */
#include "ops/conv.h"
#include "ops/nd_copy.h"
#include "ops/quant.h"
#include "tflite_ops.h"

enum { AT_ADJ_X = 2, AT_ADJ_Y = 3 };

struct matmul {
	bool adj[2];
	uint32_t rows, cols, depth;
	/* Dimensions in front, of the output, and the matrices that a step of each passes. */
	unsigned int rank;
	uint32_t dims[NNPU_MAX_RANK];
	size_t step[2][NNPU_MAX_RANK];
	size_t batches;
};

int tflite_batch_matmul_check(const struct op_call *c)
{
	unsigned int out = op_output(c, 0);

	if (op_check_same_type(c, 1, 0) || op_check_rank(c, 0, 2, NNPU_MAX_RANK) ||
	    op_check_rank(c, 1, 2, NNPU_MAX_RANK) || op_check_rank(c, out, 2, NNPU_MAX_RANK))
		return -1;
	if (c->in[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED &&
	    c->out[0]->type == NNPU_TYPE_TENSOR_INT32)
		return 0;
	return op_check_same_type(c, out, 0);
}

/* Are the last two dimensions of input @i to be exchanged? Yes, if that is not known yet. */
static bool exchanged(const struct op_call *c, unsigned int i)
{
	bool v;

	return op_get_bool(c, i ? AT_ADJ_Y : AT_ADJ_X, &v) || v;
}

/* Dimension @d of input @i, counted from the last one after the exchange. 1 in front of it. */
static uint32_t dim_of(const struct op_call *c, const struct matmul *m, unsigned int i,
		       unsigned int d)
{
	const struct tensor *t = c->in[i];

	if (d < 2 && m->adj[i])
		d = 1 - d;
	return d < t->rank ? t->dims[t->rank - 1u - d] : 1;
}

/* 0; 1 if a scalar is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct matmul *m)
{
	size_t matrices[2] = { 1, 1 };
	unsigned int rank;

	*m = (struct matmul){ .batches = 1 };
	if (op_check_rank(c, 0, 2, NNPU_MAX_RANK) || op_check_rank(c, 1, 2, NNPU_MAX_RANK))
		return -1;
	if (op_get_bool(c, AT_ADJ_X, &m->adj[0]) || op_get_bool(c, AT_ADJ_Y, &m->adj[1]))
		return 1;
	m->rows = dim_of(c, m, 0, 1);
	m->depth = dim_of(c, m, 0, 0);
	m->cols = dim_of(c, m, 1, 0);
	if (dim_of(c, m, 1, 1) != m->depth)
		return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
	rank = c->in[0]->rank > c->in[1]->rank ? c->in[0]->rank : c->in[1]->rank;
	m->rank = rank - 2;
	for (unsigned int d = 2; d < rank; d++) {
		uint32_t x = dim_of(c, m, 0, d), y = dim_of(c, m, 1, d);
		unsigned int at = rank - 1 - d;

		if (x != y && x != 1 && y != 1)
			return op_fail(c, NNPU_REASON_SHAPE_MISMATCH, 1);
		m->dims[at] = x == 1 ? y : x;
		m->batches *= m->dims[at];
		m->step[0][at] = x == 1 ? 0 : matrices[0];
		m->step[1][at] = y == 1 ? 0 : matrices[1];
		matrices[0] *= x;
		matrices[1] *= y;
	}
	return 0;
}

int tflite_batch_matmul_infer(const struct op_call *c)
{
	struct matmul m;
	uint32_t dims[NNPU_MAX_RANK];
	int ret = geometry(c, &m);

	if (ret)
		return ret;
	for (unsigned int d = 0; d < m.rank; d++)
		dims[d] = m.dims[d];
	dims[m.rank] = m.rows;
	dims[m.rank + 1] = m.cols;
	tensor_set_shape(c->out[0], m.rank + 2, dims);
	return 0;
}

/* Is it a product that conv.h computes? */
static bool is_conv(const struct op_call *c)
{
	return c->in[0]->type == NNPU_TYPE_TENSOR_FLOAT32 ||
	       c->out[0]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
}

/* Rows and columns of a matrix of input @i, whatever is exchanged. */
static void matrix_size(const struct op_call *c, unsigned int i, uint32_t *rows, uint32_t *cols)
{
	const struct tensor *t = c->in[i];

	*rows = t->dims[t->rank - 2u];
	*cols = t->dims[t->rank - 1u];
}

size_t tflite_batch_matmul_scratch(const struct op_call *call)
{
	/* Its matrices are read several times, or from another place. */
	struct op_call shared = *call;
	const struct op_call *c = &shared;
	size_t size = type_size(c->in[0]->type), total = 0, most;
	uint32_t rows[2], cols[2];

	shared.own = 0;
	for (unsigned int i = 0; i < 2; i++)
		matrix_size(c, i, &rows[i], &cols[i]);
	/* Input 0 as [rows, depth], input 1 as [columns, depth]. */
	if (exchanged(c, 0))
		total = scratch_add(total, (size_t)rows[0] * cols[0], size);
	total = scratch_add(total, (size_t)rows[1] * cols[1], size);
	if (!is_conv(c))
		return total;
	/* The bias; and the weights, whichever of the dimensions is the depth. */
	most = rows[1] > cols[1] ? rows[1] : cols[1];
	total = scratch_add(total, most, sizeof(int32_t));
	if (exchanged(c, 1)) {
		size_t a = conv_scratch(c, rows[1], cols[1]), b = conv_scratch(c, cols[1], rows[1]);

		return scratch_add(total, a > b ? a : b, 1);
	}
	return scratch_add(total, conv_scratch(c, cols[1], rows[1]), 1);
}

/* What the matrices of a call are brought into. */
struct places {
	void *x, *y;			/* exchanged, or NULL */
	void *bias;
	void *rest;
};

/* Exchange the dimensions of a matrix [rows, cols]. */
static int exchange(struct op_pace *pace, const void *from, uint32_t rows, uint32_t cols,
		    size_t size, void *to)
{
	const struct nd_dim dims[] = {
		{ cols, 1, rows },
		{ rows, cols, 1 },
	};

	return nd_copy(pace, from, to, size, dims, 2);
}

/* Make a copy of a tensor one matrix of it. */
static void take_matrix(struct tensor *t, uint32_t rows, uint32_t cols, void *data)
{
	tensor_set_shape(t, 2, (uint32_t[]){ rows, cols });
	t->bytes = (size_t)rows * cols * type_size(t->type);
	t->data = data;
}

/* One product of [rows, depth] and [cols, depth] by conv.h. */
static int product_conv(const struct op_call *c, const struct matmul *m, const struct places *p,
			void *x, void *y, void *to)
{
	struct tensor in = *c->in[0], weights = *c->in[1], out = *c->out[0];
	struct tensor bias = { .type = NNPU_TYPE_TENSOR_INT32, .data = p->bias };
	struct conv cv;
	struct op_call one = *c;

	take_matrix(&in, m->rows, m->depth, x);
	take_matrix(&weights, m->cols, m->depth, y);
	take_matrix(&out, m->rows, m->cols, to);
	one.in = (struct tensor *[]){ &in, &weights, &bias };
	one.out = (struct tensor *[]){ &out };
	one.num_inputs = 3;
	one.own = 0;
	one.prepared = NULL;
	one.scratch = p->rest;
	conv_of_rows(&cv, m->rows, m->depth, m->cols);
	cv.activation = in.type == NNPU_TYPE_TENSOR_FLOAT32 ? ACTIVATION_UNLIMITED :
							      ACTIVATION_NONE;
	return conv_execute(&one, &cv);
}

/* Sum of the products of @n bytes, modulo 2^32. */
static uint32_t dot_bytes(const int8_t *x, const int8_t *y, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (uint32_t)(x[i] * y[i]);
	return sum;
}

static int64_t dot_words(const int16_t *x, const int16_t *y, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] * y[i];
	return sum;
}

/* The same for types that conv.h does not know. 0 or OP_ABORTED. */
static int product_plain(const struct op_call *c, const struct matmul *m, struct op_pace *pace,
			 const void *x, const void *y, void *to)
{
	bool words = c->in[0]->type == NNPU_TYPE_TENSOR_QUANT16_SYMM;
	struct qfactor f = { 0, 0 };

	if (words)
		f = qfactor_from((double)(c->in[0]->scale * c->in[1]->scale) / c->out[0]->scale);
	for (size_t i = 0; i < (size_t)m->rows * m->cols; i++) {
		size_t row = i / m->cols * m->depth, col = i % m->cols * m->depth, n;
		int64_t wide = 0;
		uint32_t sum = 0;

		for (size_t at = 0; at < m->depth; at += n) {
			n = m->depth - at < OP_PACE_RUN ? m->depth - at : OP_PACE_RUN;
			if (words)
				wide += dot_words((const int16_t *)x + row + at,
						  (const int16_t *)y + col + at, n);
			else
				sum += dot_bytes((const int8_t *)x + row + at,
						 (const int8_t *)y + col + at, n);
			if (op_pace(pace, n / 4 + 8))
				return OP_ABORTED;
		}
		if (words)
			((int16_t *)to)[i] = (int16_t)q_clamp(q_scale_wide(wide, f), INT16_MIN,
							      INT16_MAX);
		else
			((int32_t *)to)[i] = (int32_t)sum;
		if (op_pace(pace, 8))
			return OP_ABORTED;
	}
	return 0;
}

/* All elements of a product over no elements. */
static int fill_empty(const struct op_call *c, struct op_pace *pace)
{
	const struct tensor *out = c->out[0];
	int8_t zero = type_is_quant8(out->type) ? (int8_t)out->zero_point : 0;

	return nd_fill(pace, out->data, 1, out->bytes, &zero);
}

/* The matrices of the inputs that output matrix @i is the product of. */
static void locate(const struct matmul *m, size_t i, size_t *x, size_t *y)
{
	*x = 0;
	*y = 0;
	for (unsigned int d = m->rank; d-- > 0; i /= m->dims[d]) {
		*x += i % m->dims[d] * m->step[0][d];
		*y += i % m->dims[d] * m->step[1][d];
	}
}

/*
 * Where all products have the same second matrix, and the rows of all first ones lie one
 * behind the other, they are one product.
 */
static void join(const struct op_call *c, struct matmul *m)
{
	size_t rows = m->batches * m->rows;
	uint32_t n;

	if (m->adj[0] || rows > UINT32_MAX ||
	    tensor_elements_of(c->in[1], 0, c->in[1]->rank - 2u) != 1)
		return;
	n = (uint32_t)rows;
	m->batches = 1;
	m->rank = 0;
	m->rows = n;
}

int tflite_batch_matmul_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	size_t size = type_size(c->in[0]->type), out_size = type_size(c->out[0]->type);
	struct op_call pieces = *c;
	struct places p = { 0 };
	size_t x_size, y_size, packed = SIZE_MAX;
	struct matmul m;

	if (geometry(c, &m))
		return -1;
	if (m.depth == 0)
		return fill_empty(c, &pace);
	x_size = (size_t)m.rows * m.depth;
	y_size = (size_t)m.cols * m.depth;
	join(c, &m);
	if (m.adj[0])
		p.x = scratch_take(&pieces, x_size * size);
	p.y = scratch_take(&pieces, y_size * size);
	if (is_conv(c)) {
		p.bias = scratch_take(&pieces, m.cols * sizeof(int32_t));
		nd_fill(&pace, p.bias, sizeof(int32_t), m.cols, &(int32_t){ 0 });
	}
	p.rest = pieces.scratch;
	for (size_t i = 0; i < m.batches; i++) {
		char *to = (char *)c->out[0]->data + i * m.rows * m.cols * out_size;
		size_t at_x, at_y;
		char *x, *y;

		locate(&m, i, &at_x, &at_y);
		x = (char *)c->in[0]->data + at_x * x_size * size;
		y = (char *)c->in[1]->data + at_y * y_size * size;
		if (m.adj[0]) {
			exchange(&pace, x, m.depth, m.rows, size, p.x);
			x = p.x;
		}
		if (!m.adj[1]) {
			if (packed != at_y)
				exchange(&pace, y, m.depth, m.cols, size, p.y);
			packed = at_y;
			y = p.y;
		}
		if (op_pace(&pace, 64))
			return OP_ABORTED;
		if (is_conv(c) ? product_conv(c, &m, &p, x, y, to) :
				 product_plain(c, &m, &pace, x, y, to))
			return OP_ABORTED;
	}
	return 0;
}
