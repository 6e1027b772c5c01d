// SPDX-License-Identifier: MIT
/*
 * SOFTMAX of INT16 and LOG_SOFTMAX of INT8 and UINT8, along the last dimension.
 *
 * Inputs: 0 tensor; SOFTMAX: 1 beta.
 */
#include <math.h>

#include "ops/fixedpoint.h"
#include "tflite_fixed.h"
#include "tflite_lut.h"

struct softmax {
	struct qfactor factor;		/* of differences, times beta */
	int32_t diff_min;
	/* LOG_SOFTMAX: from Q5 back to differences. */
	struct qfactor reverse;
	/* INT16: e^x for -10 to 0, 1 / (1 + x) for 0 to 1. */
	int16_t exp_words[LUT_STEPS + 1];
	int16_t reciprocal_words[LUT_STEPS + 1];
};

/* Scale of a tensor up to a thousandth. */
static bool is_near(float scale, float wanted)
{
	return fabsf(scale - wanted) <= 0.001f * wanted;
}

static int check_out(const struct op_call *c, bool scale_ok, int32_t zero_point)
{
	if (!scale_ok)
		return op_fail(c, NNPU_REASON_SCALE, op_output(c, 0));
	if (c->out[0]->zero_point != zero_point)
		return op_fail(c, NNPU_REASON_ZERO_POINT, op_output(c, 0));
	return 0;
}

static int check_shape(const struct op_call *c)
{
	return op_check_rank(c, 0, 1, NNPU_MAX_RANK) ||
	       op_check_rank(c, op_output(c, 0), 1, NNPU_MAX_RANK) ? -1 : 0;
}

int tflite_softmax_check(const struct op_call *c)
{
	float beta;

	if (op_check_same_type(c, op_output(c, 0), 0) || check_shape(c) ||
	    check_out(c, is_near(c->out[0]->scale, 1.0f / 32768), 0))
		return -1;
	if (!op_get_f32(c, 1, &beta) && !(beta > 0 && isfinite(beta)))
		return op_fail(c, NNPU_REASON_VALUE, 1);
	return 0;
}

int tflite_log_softmax_check(const struct op_call *c)
{
	bool is_signed = tflite_type_of(c->in[0]) == TFLITE_INT8;

	return op_check_same_type(c, op_output(c, 0), 0) || check_shape(c) ||
	       check_out(c, c->out[0]->scale == 16.0f / 256, is_signed ? 127 : 255) ? -1 : 0;
}

int tflite_softmax_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

int tflite_log_softmax_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

/* Factor from differences of 8 bits to Q5, limited so that it fits. */
static void set_diff_factor(struct softmax *s, double scale, double beta)
{
	double real = fmin(scale * beta * (1 << 26), 2147483647.0);

	s->factor = qfactor_from(real);
	s->diff_min = -fp_input_radius(5, s->factor.shift);
}

static double exp_function(double x)
{
	return exp(x);
}

static double reciprocal_function(double x)
{
	return 1.0 / (1.0 + x);
}

static void fill_words(struct softmax *s)
{
	const double range = 65535.0, out = 2.0 / range;

	lut_fill_double(s->exp_words, 10.0 / range * -65535.0, 0.0, out * INT16_MIN,
			out * INT16_MAX, exp_function);
	lut_fill_double(s->reciprocal_words, 0.0, 1.0 / range * 65535.0, out * INT16_MIN,
			out * INT16_MAX, reciprocal_function);
}

/* e^x of a difference, in Q0. */
static int32_t diff_exp(const struct softmax *s, int32_t diff)
{
	return fp_exp_q5(q_scale(diff, s->factor));
}

static int row_words(const struct op_call *c, const struct softmax *s, size_t at, size_t n,
		     struct op_pace *pace)
{
	const int16_t *in = (const int16_t *)c->in[0]->data + at;
	int16_t *out = (int16_t *)c->out[0]->data + at;
	int32_t max = INT16_MIN, shifted, headroom;
	uint32_t sum = 0;
	int16_t reciprocal;

	for (size_t i = 0; i < n; i++) {
		max = in[i] > max ? in[i] : max;
		if (op_pace_row(pace, i, 2))
			return OP_ABORTED;
	}
	for (size_t i = 0; i < n; i++) {
		/* From -65535 to 0 stands for -10 to 0; the table has its middle in the middle. */
		int32_t v = q_clamp(q_add(q_scale(in[i] - max, s->factor), INT16_MAX), INT16_MIN,
				    INT16_MAX);

		out[i] = lut_word(s->exp_words, (int16_t)v);
		sum += (uint32_t)out[i];
		if (op_pace_row(pace, i, 8))
			return OP_ABORTED;
	}
	/* The sum as 1 + x in 16 bits after the point; it is at least 1 for the largest element. */
	headroom = __builtin_clz(sum | 1);
	shifted = headroom ? (int32_t)((((uint64_t)sum << (headroom - 1)) + (1 << 13)) >> 14) :
			     (int32_t)(((uint64_t)sum + (1 << 14)) >> 15);
	reciprocal = lut_word(s->reciprocal_words,
			      (int16_t)q_clamp(shifted - (1 << 15) - (1 << 16), INT16_MIN,
					       INT16_MAX));
	for (size_t i = 0; i < n; i++) {
		int32_t right = 31 - headroom;
		int64_t v = ((int64_t)out[i] * reciprocal + (right ? 1ll << (right - 1) : 0)) >> right;

		out[i] = (int16_t)(v < 0 ? 0 : v > INT16_MAX ? INT16_MAX : v);
		if (op_pace_row(pace, i, 4))
			return OP_ABORTED;
	}
	return 0;
}

/* Multiplication by a power of two, as Q numbers saturate. */
static int32_t rescale(int32_t x, int32_t exponent)
{
	return exponent < 0 ? q_shift_right(x, -exponent) : q_shift_left(x, exponent);
}

/*
 * Natural logarithm of @x >= 1 in Q12, in Q5. x is 2^p r with r around the fourth root of 1/2; the
 * logarithm of r is a quotient of polynomials. All but p and the sum are in Q0; those are in Q6.
 */
static int32_t log_q12(int32_t x)
{
	const int32_t log_2 = 1488522236, root_half = 1518500250, root_root_half = 1805811301;
	const int32_t alpha_n = 117049297, alpha_d = 127690142, alpha_i = 1057819769;
	const int32_t alpha_f = 638450708, quarter = 1 << 23;
	int32_t head_a = __builtin_clz((unsigned int)x), b = fixed_mul(x, root_half);
	int32_t head_b = __builtin_clz((unsigned int)b) - 1;
	int32_t r_a = rescale(fixed_mul(rescale(x, head_a - 1), root_half), 1);
	int32_t r_b = rescale(x, head_b);
	int32_t power_a = (12 - head_a) * (1 << 25) + quarter;
	int32_t power_b = (12 - head_b) * (1 << 25) - quarter;
	int32_t r = r_a < r_b ? r_a : r_b, power = power_a > power_b ? power_a : power_b;
	int32_t p = (int32_t)(((int64_t)r + root_root_half + 1) / 2);
	int32_t q = 2 * (r - root_root_half), square = fixed_mul(q, q);
	int32_t num = fixed_mul(q, r) + fixed_mul(fixed_mul(q, square), alpha_n);
	int32_t denominator = fixed_mul(p, alpha_i + q + fixed_mul(alpha_d, square)) +
			      fixed_mul(alpha_f, q);
	int32_t sum = fixed_mul(power, log_2) +
		      fixed_mul(rescale(num, -6), fp_reciprocal_of_one_plus(denominator));

	return rescale(sum, 1);
}

static int log_row(const struct op_call *c, const struct softmax *s, size_t at, size_t n,
		   struct op_pace *pace)
{
	enum tflite_type type = tflite_type_of(c->in[0]);
	const char *in = (const char *)c->in[0]->data + at;
	char *out = (char *)c->out[0]->data + at;
	int32_t max = INT32_MIN, sum = 0, log_sum, least;

	for (size_t i = 0; i < n; i++) {
		max = elem_int(type, in, i) > max ? elem_int(type, in, i) : max;
		if (op_pace_row(pace, i, 4))
			return OP_ABORTED;
	}
	for (size_t i = 0; i < n; i++) {
		int32_t diff = elem_int(type, in, i) - max;

		if (diff >= s->diff_min)
			sum = q_add(sum, q_shift_right(diff_exp(s, diff), 12));
		if (op_pace_row(pace, i, 32))
			return OP_ABORTED;
	}
	/* A sum that wrapped around has no logarithm. */
	log_sum = log_q12(sum > 1 << 19 ? sum : 1 << 19);
	least = fixed_scale((int32_t)((uint32_t)log_sum + (1u << 31)), s->reverse.mult,
			    s->reverse.shift);
	least = least > s->diff_min - 1 ? least : s->diff_min - 1;
	for (size_t i = 0; i < n; i++) {
		int32_t diff = elem_int(type, in, i) - max, v = (int32_t)elem_min(type);

		if (diff > least)
			v = q_shift_right((int32_t)((uint32_t)q_scale(diff, s->factor) -
						    (uint32_t)log_sum), 31 - 5 - 4) +
			    c->out[0]->zero_point;
		elem_put(type, out, i, elem_clamp(type, v));
		if (op_pace_row(pace, i, 8))
			return OP_ABORTED;
	}
	return 0;
}

static int for_rows(const struct op_call *c, const struct softmax *s,
		    int (*row)(const struct op_call *c, const struct softmax *s, size_t at,
			       size_t n, struct op_pace *pace))
{
	struct op_pace pace = { .progress = c->progress };
	size_t total = tensor_elements(c->in[0]), n = c->in[0]->dims[c->in[0]->rank - 1u];

	for (size_t at = 0; at < total; at += n) {
		if (row(c, s, at, n, &pace) || op_pace(&pace, n % OP_PACE_RUN * 64 + 64))
			return OP_ABORTED;
	}
	return 0;
}

int tflite_softmax_execute(const struct op_call *c)
{
	struct softmax s;
	float beta;

	if (op_get_f32(c, 1, &beta))
		return -1;
	if (!(beta > 0 && isfinite(beta)))
		return op_fail(c, NNPU_REASON_VALUE, 1);
	fill_words(&s);
	s.factor = qfactor_from(c->in[0]->scale * beta / (10.0 / 65535.0));
	return for_rows(c, &s, row_words);
}

int tflite_log_softmax_execute(const struct op_call *c)
{
	struct softmax s;

	set_diff_factor(&s, c->in[0]->scale, 1.0);
	s.reverse = qfactor_from(1.0 / ldexp(s.factor.mult, s.factor.shift - 31));
	return for_rows(c, &s, log_row);
}
