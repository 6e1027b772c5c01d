// SPDX-License-Identifier: MIT
/*
 * LOGISTIC and TANH of INT16, by a table of the logistic function: tanh(x) = 2 logistic(2x) - 1.
 *
 * Input: 0 tensor.
 */
#include <math.h>

#include "tflite_elem.h"

#define TABLE_SIZE	256

/* Fractions of 1 / 4096 times 3, and a factor to the power of two that leads there. */
struct logistic {
	uint16_t table[TABLE_SIZE];	/* logistic(i / 24) * 2^16 */
	int32_t mult, shift;
	bool is_tanh;
};

/* The table is the rounded function, and one more at these places. */
static void fill_table(uint16_t *table)
{
	static const uint32_t more[TABLE_SIZE / 32] = {
		0xfa7bd110, 0xc0467bae, 0x20440005, 0x00110090, 0x00000080, 0, 0, 0x80000000,
	};

	for (unsigned int i = 0; i < TABLE_SIZE; i++)
		table[i] = (uint16_t)(round(65536.0 / (1.0 + exp(i / -24.0))) +
				      (more[i / 32] >> (i % 32) & 1));
}

int tflite_logistic_check(const struct op_call *c)
{
	if (elem_check_same(c))
		return -1;
	return c->out[0]->scale == 1.0f / 32768 ? 0 : op_fail(c, NNPU_REASON_SCALE, op_output(c, 0));
}

int tflite_logistic_infer(const struct op_call *c)
{
	return op_infer_same_shape(c);
}

static void set_factor(const struct op_call *c, struct logistic *l)
{
	int exponent;
	bool power = frexpf(c->in[0]->scale, &exponent) == 0.5f;
	double mult = c->in[0]->scale * 4096.0 * 3.0;

	l->shift = 0;
	exponent += 12 - 1;
	if (power && (exponent == 0 || (l->is_tanh && exponent == 1))) {
		l->mult = 3 << exponent;
		return;
	}
	while (mult <= 32767.0 / 2.0 && l->shift <= 30) {
		l->shift++;
		mult *= 2.0;
	}
	l->mult = mult < INT32_MAX ? (int32_t)mult : INT32_MAX;
}

static void fill(const struct op_call *c, struct logistic *l)
{
	fill_table(l->table);
	l->is_tanh = tflite_op_of(c) == TFLITE_OP_TANH;
	set_factor(c, l);
}

int tflite_logistic_prepare(struct op_call *c, size_t *bytes)
{
	struct logistic *l = op_take(c->progress, sizeof(*l), bytes);

	if (!l)
		return 0;	/* execute() makes the table itself */
	fill(c, l);
	c->prepared = l;
	return 0;
}

/* The table at @x, a fraction of 2^@bits between its entries; @most beyond it. */
static uint32_t look_up(const struct logistic *l, uint64_t x, unsigned int bits, uint32_t most)
{
	uint64_t at = x >> bits;
	uint32_t here, next;

	if (at >= TABLE_SIZE - 1)
		return most;
	here = l->table[at];
	next = l->table[at + 1];
	return (here << bits) + ((uint32_t)x & ((1u << bits) - 1)) * (next - here);
}

static int16_t compute(const struct logistic *l, int16_t value)
{
	int64_t round = l->shift ? 1ll << (l->shift - 1) : 0;
	int64_t x = ((int64_t)value * l->mult + round) >> l->shift;
	uint64_t magnitude = (uint64_t)(x < 0 ? -x : x);
	int32_t v;

	if (l->is_tanh) {
		v = (int32_t)look_up(l, magnitude, 8, 0xffff << 8) - (1 << 23);
		return (int16_t)(x >= 0 ? (v + 128) >> 8 : (-v + 127) >> 8);
	}
	v = (int32_t)look_up(l, magnitude, 9, 0x7fff << 10);
	return (int16_t)(x >= 0 ? (v + 512) >> 10 : ((1 << 25) - v + 511) >> 10);
}

static void run(const void *state, const void *in, void *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((int16_t *)out)[i] = compute(state, ((const int16_t *)in)[i]);
}

int tflite_logistic_execute(const struct op_call *c)
{
	const struct logistic *l = c->prepared;
	struct logistic own;

	if (!l) {
		fill(c, &own);
		l = &own;
	}
	return elem_map(c, run, l);
}
