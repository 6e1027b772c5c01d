/* SPDX-License-Identifier: MIT */
/*
 * Exponentials of a row, their sum, and SOFTMAX: row_kernels_loops.h includes this, and has what it uses.
 */
#ifndef NNPU_EMU_ROW_SOFTMAX_H
#define NNPU_EMU_ROW_SOFTMAX_H

/* Sums of every ROW_SUMS-th element. */
struct row_lanes {
	row_vector v[ROW_SUMS / ROW_WIDTH];
};

/* y[i] = e^((x[i] - max) * beta), and their sums; elements count from @lanes->v[0] on. */
ROW_INLINE void row_exp_sums(const float *x, size_t n, float max, float beta, float *y,
			     struct row_lanes *lanes, row_vector *last)
{
	row_vector v;
	size_t i = 0;

	/* What is missing counts for nothing. */
	ROW_REST(x, n, -INFINITY, last);
	*last = (*last - max) * beta;
	row_exp_of_negative(last);
	for (; i + ROW_SUMS <= n; i += ROW_SUMS) {
		for (unsigned int j = 0; j < ROW_SUMS / ROW_WIDTH; j++) {
			v = (*(const row_vector *)(x + i + j * ROW_WIDTH) - max) * beta;
			row_exp_of_negative(&v);
			*(row_vector *)(y + i + j * ROW_WIDTH) = v;
			lanes->v[j] += v;
		}
	}
	for (unsigned int j = 0; j < ROW_SUMS / ROW_WIDTH; j++, i += ROW_WIDTH) {
		if (i + ROW_WIDTH > n) {
			lanes->v[j] += *last;
			break;
		}
		v = (*(const row_vector *)(x + i) - max) * beta;
		row_exp_of_negative(&v);
		*(row_vector *)(y + i) = v;
		lanes->v[j] += v;
	}
}

ROW_INLINE void row_exps(const float *x, size_t n, float max, float beta, float *y, float *sums)
{
	struct row_lanes lanes;
	row_vector last;

	memcpy(&lanes, sums, sizeof(lanes));
	row_exp_sums(x, n, max, beta, y, &lanes, &last);
	ROW_STORE_REST(&last, n, y);
	memcpy(sums, &lanes, sizeof(lanes));
}

ROW_INLINE void row_softmax_of(const float *x, size_t n, float beta, float *y)
{
	struct row_lanes lanes = { 0 };
	float_quad quads[ROW_QUADS];
	row_vector last;
	float sum;

	row_exp_sums(x, n, row_largest(x, n, -FLT_MAX), beta, y, &lanes, &last);
	memcpy(quads, &lanes, sizeof(quads));
	/* In the order of row_total(). */
	quads[0] = (quads[0] + quads[2]) + (quads[1] + quads[3]);
	sum = (quads[0][0] + quads[0][2]) + (quads[0][1] + quads[0][3]);
	for (size_t i = 0; i + ROW_WIDTH <= n; i += ROW_WIDTH)
		*(row_vector *)(y + i) /= sum;
	last /= sum;
	ROW_STORE_REST(&last, n, y);
}

/* The same for a row that fits a vector: most of its time is waiting for one step after the other. */
ROW_INLINE void row_softmax_vector(const float *x, size_t n, float beta, float *y)
{
	float_quad quads[ROW_WIDTH / 4], sum;
	float_quad most = { -FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX };
	row_vector v;

	if (n == ROW_WIDTH)
		v = *(const row_vector *)x;
	else
		ROW_REST(x, n, -INFINITY, &v);
	memcpy(quads, &v, sizeof(quads));
	/* Of a number and a NaN it is the number, which comes second. */
	for (unsigned int j = 0; j < ROW_WIDTH / 4; j++)
		most = row_larger(quads[j], most);
	most = row_larger(most, __builtin_shufflevector(most, most, 2, 3, 0, 1));
	most = row_larger(most, __builtin_shufflevector(most, most, 1, 0, 3, 2));
	v = (v - most[0]) * beta;
	row_exp_of_negative(&v);
	memcpy(quads, &v, sizeof(quads));
	/* In the order of row_total(); the sums that are missing are 0. */
	for (unsigned int half = ROW_WIDTH / 8; half; half /= 2) {
		for (unsigned int j = 0; j < half; j++)
			quads[j] += quads[j + half];
	}
	sum = quads[0];
	v /= (sum[0] + sum[2]) + (sum[1] + sum[3]);
	if (n == ROW_WIDTH)
		*(row_vector *)y = v;
	else
		ROW_STORE_REST(&v, n, y);
}

ROW_INLINE void row_softmax(const float *x, size_t rows, size_t n, float beta, float *y)
{
	if (n <= ROW_WIDTH) {
		for (size_t row = 0; row < rows; row++, x += n, y += n)
			row_softmax_vector(x, n, beta, y);
		return;
	}
	for (size_t row = 0; row < rows; row++, x += n, y += n)
		row_softmax_of(x, n, beta, y);
}

#endif /* NNPU_EMU_ROW_SOFTMAX_H */
