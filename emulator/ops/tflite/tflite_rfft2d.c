// SPDX-License-Identifier: MIT
/*
 * RFFT2D of org.nnpu.tflite: the discrete Fourier transform of matrices of reals.
 *
 * Inputs: 0 matrices [..., height, width], 1 the sizes of the transform, powers of two; the
 * matrices are cut off or padded with zeros to them. The output is a TENSOR_COMPLEX64, [...,
 * sizes[0], sizes[1] / 2 + 1]. Computed in double precision.
 */
#include <math.h>

#include "tflite_ops.h"

/* Largest size of a transform. */
#define MAX_SIZE	(1u << 20)

struct complex {
	double re, im;
};

struct transform {
	uint32_t height, width;		/* of the transform */
	struct complex *line;		/* scratch memory: a row or a column */
	struct complex *roots;		/* of one, for the longer of both */
	struct complex *rows;		/* [height, width / 2 + 1] */
	uint32_t root_count;
	struct op_pace pace;
};

int tflite_rfft2d_check(const struct op_call *c)
{
	(void)c;
	return 0;
}

/* 0; 1 if a value is not known before the job runs; -1 with error. */
static int geometry(const struct op_call *c, struct transform *t)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank;
	int ret;

	*t = (struct transform){ 0 };
	if (op_check_rank(c, 0, 2, NNPU_MAX_RANK))
		return -1;
	ret = tflite_get_shape(c, 1, &rank, dims);
	if (ret)
		return ret;
	if (rank != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 1);
	for (unsigned int i = 0; i < 2; i++) {
		if (!dims[i] || dims[i] & (dims[i] - 1) || dims[i] > MAX_SIZE)
			return op_fail(c, NNPU_REASON_VALUE, 1);
	}
	t->height = dims[0];
	t->width = dims[1];
	return 0;
}

int tflite_rfft2d_infer(const struct op_call *c)
{
	uint32_t dims[NNPU_MAX_RANK];
	unsigned int rank = c->in[0]->rank;
	struct transform t;
	int ret = geometry(c, &t);

	if (ret)
		return ret;
	for (unsigned int i = 0; i + 2 < rank; i++)
		dims[i] = c->in[0]->dims[i];
	dims[rank - 2] = t.height;
	dims[rank - 1] = t.width / 2 + 1;
	tensor_set_shape(c->out[0], rank, dims);
	return 0;
}

/* The sizes follow from the shape of the output: no values are known here. */
static size_t longest(const struct op_call *c)
{
	const struct tensor *out = c->out[0];
	size_t height = out->dims[out->rank - 2u], width = 2 * (size_t)out->dims[out->rank - 1u];

	return height > width ? height : width;
}

size_t tflite_rfft2d_scratch(const struct op_call *c)
{
	const struct tensor *out = c->out[0];
	size_t n = longest(c), total = scratch_add(0, n, 2 * sizeof(struct complex));
	size_t bins = tensor_elements_of(out, out->rank - 2u, out->rank);

	return scratch_add(total, bins, sizeof(struct complex));
}

static void fill_roots(struct transform *t, uint32_t n)
{
	t->root_count = n;
	for (uint32_t i = 0; i < n && !op_pace_row(&t->pace, i, 64); i++) {
		double angle = -2 * M_PI * i / n;

		t->roots[i] = (struct complex){ cos(angle), sin(angle) };
	}
}

/* Bring the elements of a line into the order of reversed bits. */
static void reverse_bits(struct transform *t, uint32_t n)
{
	for (uint32_t i = 1, j = 0; i < n && !op_pace_row(&t->pace, i, 4); i++) {
		struct complex v = t->line[i];
		uint32_t bit = n / 2;

		for (; j & bit; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			t->line[i] = t->line[j];
			t->line[j] = v;
		}
	}
}

/* Transform a line of @n elements in place. 0 or OP_ABORTED. */
static int transform_line(struct transform *t, uint32_t n)
{
	reverse_bits(t, n);
	for (uint32_t half = 1; half < n; half *= 2) {
		uint32_t step = t->root_count / (2 * half);

		for (uint32_t i = 0; i < n / 2; i++) {
			uint32_t k = i % half, at = i / half * 2 * half + k;
			struct complex w = t->roots[(size_t)k * step];
			struct complex *a = &t->line[at], *b = &t->line[at + half];
			struct complex p = {
				b->re * w.re - b->im * w.im, b->re * w.im + b->im * w.re,
			};

			*b = (struct complex){ a->re - p.re, a->im - p.im };
			*a = (struct complex){ a->re + p.re, a->im + p.im };
			if (op_pace_row(&t->pace, i, 4))
				return OP_ABORTED;
		}
		if (op_pace(&t->pace, n % OP_PACE_RUN * 2 + 8))
			return OP_ABORTED;
	}
	return 0;
}

/* One matrix. @rows and @cols are its sizes, of which the transform uses the first ones. */
static int transform_matrix(struct transform *t, const float *in, uint32_t rows, uint32_t cols,
			    float *out)
{
	uint32_t bins = t->width / 2 + 1;

	for (uint32_t y = 0; y < t->height; y++) {
		for (uint32_t x = 0; x < t->width && !op_pace_row(&t->pace, x, 2); x++) {
			bool there = y < rows && x < cols;

			t->line[x].re = there ? in[(size_t)y * cols + x] : 0;
			t->line[x].im = 0;
		}
		if (transform_line(t, t->width))
			return OP_ABORTED;
		for (uint32_t x = 0; x < bins && !op_pace_row(&t->pace, x, 2); x++)
			t->rows[(size_t)y * bins + x] = t->line[x];
		if (op_pace(&t->pace, t->width % OP_PACE_RUN * 4))
			return OP_ABORTED;
	}
	for (uint32_t x = 0; x < bins; x++) {
		for (uint32_t y = 0; y < t->height && !op_pace_row(&t->pace, y, 4); y++)
			t->line[y] = t->rows[(size_t)y * bins + x];
		if (transform_line(t, t->height))
			return OP_ABORTED;
		for (uint32_t y = 0; y < t->height && !op_pace_row(&t->pace, y, 4); y++) {
			float *to = out + 2 * ((size_t)y * bins + x);

			to[0] = (float)t->line[y].re;
			to[1] = (float)t->line[y].im;
		}
		if (op_pace(&t->pace, t->height % OP_PACE_RUN * 8))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_rfft2d_execute(const struct op_call *c)
{
	const struct tensor *in = c->in[0];
	uint32_t rows = in->dims[in->rank - 2u], cols = in->dims[in->rank - 1u];
	size_t n = longest(c), matrices = tensor_elements_of(in, 0, in->rank - 2u);
	struct op_call pieces = *c;
	struct transform t;
	size_t size;

	if (geometry(c, &t))
		return -1;
	size = (size_t)t.height * (t.width / 2 + 1);
	t.pace.progress = c->progress;
	t.line = scratch_take(&pieces, 2 * n * sizeof(*t.line));
	t.roots = t.line + n;
	t.rows = pieces.scratch;
	fill_roots(&t, t.height > t.width ? t.height : t.width);
	for (size_t i = 0; i < matrices; i++) {
		if (transform_matrix(&t, (const float *)in->data + i * rows * cols, rows, cols,
				     (float *)c->out[0]->data + 2 * i * size))
			return OP_ABORTED;
	}
	return 0;
}
