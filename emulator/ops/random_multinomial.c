// SPDX-License-Identifier: MIT
/*
 * RANDOM_MULTINOMIAL: draws samples of classes.
 *
 * Inputs: 0 unnormalized log probabilities [batches, classes], 1 number of
 * samples, 2 two seeds. Output: 0 classes [batches, samples].
 *
 * The generator is counter-based (Philox 4x32 with ten rounds): a random number is a
 * function of the seeds and its position, so the same call gives the same samples.
 */
#include "ops.h"
#include "real.h"

int random_multinomial_check(const struct op_call *c)
{
	int32_t samples;

	if (op_check_operands(c) || op_check_type(c, 0, TYPES_FLOAT) ||
	    op_check_rank(c, 0, 2, 2) || op_check_type(c, 1, TYPE_BIT(INT32)) ||
	    op_check_list(c, 2) ||
	    op_check_type(c, op_output(c, 0), TYPE_BIT(TENSOR_INT32)) ||
	    op_check_rank(c, op_output(c, 0), 2, 2))
		return -1;
	if (!op_get_i32(c, 1, &samples) && samples < 1)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return 0;
}

int random_multinomial_infer(const struct op_call *c)
{
	int32_t samples;

	if (op_check_rank(c, 0, 2, 2) || op_check_rank(c, 2, 1, 1))
		return -1;
	if (c->in[0]->dims[1] == 0)
		return op_fail(c, NNPU_REASON_DIMENSION, 0);
	if (c->in[2]->dims[0] != 2)
		return op_fail(c, NNPU_REASON_DIMENSION, 2);
	if (op_get_i32(c, 1, &samples))
		return 1;
	if (samples < 1)
		return op_fail(c, NNPU_REASON_VALUE, 1);
	tensor_set_shape(c->out[0], 2, (uint32_t[]){ c->in[0]->dims[0], (uint32_t)samples });
	return 0;
}

/* Sums of probabilities up to each class. */
size_t random_multinomial_scratch(const struct op_call *c)
{
	return scratch_add(0, c->in[0]->dims[1], sizeof(double));
}

/* A number in [0, 1) for a position. */
static double random_at(const uint32_t *seeds, uint64_t batch, uint32_t sample)
{
	uint32_t n[4] = { sample, (uint32_t)batch, (uint32_t)(batch >> 32), 0 };
	uint32_t key[2] = { seeds[0], seeds[1] };

	for (int i = 0; i < 10; i++) {
		uint64_t a = (uint64_t)n[0] * 0xd2511f53u, b = (uint64_t)n[2] * 0xcd9e8d57u;

		n[0] = (uint32_t)(b >> 32) ^ n[1] ^ key[0];
		n[1] = (uint32_t)b;
		n[2] = (uint32_t)(a >> 32) ^ n[3] ^ key[1];
		n[3] = (uint32_t)a;
		key[0] += 0x9e3779b9u;
		key[1] += 0xbb67ae85u;
	}
	return ldexp((double)((uint64_t)n[0] << 21 ^ n[1] >> 11), -53);
}

/* Cumulative sums of exponentials, relative to the largest. A NaN counts as 0. */
static void add_up(struct op_pace *pace, const struct tensor *t, size_t at, uint32_t classes,
		   double *sums)
{
	double max = -INFINITY, sum = 0;

	for (uint32_t i = 0; i < classes && !op_pace_row(pace, i, 4); i++)
		max = fmax(max, real_at(t, at + i));
	for (uint32_t i = 0; i < classes && !op_pace_row(pace, i, 16); i++) {
		double v = real_at(t, at + i);

		if (v == max)
			sum += 1;
		else if (v < max)
			sum += exp(v - max);
		sums[i] = sum;
	}
}

/* The first class whose sum is above @v. */
static uint32_t find_class(const double *sums, uint32_t classes, double v)
{
	uint32_t low = 0, high = classes - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sums[middle] > v)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

int random_multinomial_execute(const struct op_call *c)
{
	struct op_pace pace = { .progress = c->progress };
	uint32_t classes = c->in[0]->dims[1], samples = c->out[0]->dims[1];
	uint32_t seeds[2] = { (uint32_t)op_list_at(c, 2, 0), (uint32_t)op_list_at(c, 2, 1) };
	int32_t *out = c->out[0]->data;
	double *sums = c->scratch;

	for (uint32_t b = 0; b < c->in[0]->dims[0]; b++) {
		add_up(&pace, c->in[0], (size_t)b * classes, classes, sums);
		if (op_pace(&pace, classes % OP_PACE_RUN * 20 + 16))
			return OP_ABORTED;
		for (uint32_t i = 0; i < samples; i++) {
			double v = random_at(seeds, b, i) * sums[classes - 1];

			*out++ = (int32_t)find_class(sums, classes, v);
			if (op_pace(&pace, 128))
				return OP_ABORTED;
		}
	}
	return 0;
}
