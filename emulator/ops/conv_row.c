// SPDX-License-Identifier: MIT
/*
 * FULLY_CONNECTED of one short row of inputs. It takes less time than to divide it into tiles as
 * conv_quant.c and conv_float.c do, whose results it has.
 */
#include "conv.h"

/* Values of the row, and weights: few enough for one look at op_pace(), and for one thread. */
#define MOST_VALUES	4096u
#define MOST_WEIGHTS	(1u << 17)

struct row {
	const struct op_call *c;
	uint32_t units, size;
	enum activation activation;
	const struct kernels *k;
	const void *weights;		/* packed; NULL: they are not */
};

/* The values of the bytes. Returns what the zero point of the weights adds to the sums. */
static int32_t widen(const struct row *r, int32_t zero_point, int16_t *values)
{
	r->k->widen(r->c->in[0]->data, qbyte_of(r->c->in[0]), r->size, values);
	if (r->size % 2)
		values[r->size] = 0;
	return zero_point ? (int32_t)-((uint32_t)r->k->sum(values, r->size) * (uint32_t)zero_point) : 0;
}

static bool packed_quant(const struct row *r)
{
	int16_t values[MOST_VALUES] __attribute__((aligned(64)));
	const struct conv_quant *packed = r->c->prepared;
	const int32_t *bias = r->c->in[2]->data;
	uint8_t *y = r->c->out[0]->data;
	struct requant_room room;
	struct requant q;
	int32_t add;

	if (!r->k->qrow && (!r->k->qrow_bytes || packed->zero_point))
		return false;
	q = requant_of_job(r->c, r->units, r->activation, &packed->requant, &room);
	if (!q.shifts_right)
		return false;
	if (r->k->qrow_bytes && !packed->zero_point) {
		r->k->qrow_bytes(r->c->in[0]->data, qbyte_of(r->c->in[0]), r->size, r->weights, bias,
				 &q, 0, r->units, y);
		return true;
	}
	add = widen(r, packed->zero_point, values);
	r->k->qrow(values, r->weights, packed->pairs, bias, add, &q, 0, r->units, y);
	return true;
}

static void few_quant(const struct row *r, struct op_pace *pace)
{
	int16_t values[MOST_VALUES] __attribute__((aligned(64)));
	int32_t mult[KERNEL_COLS], shift[KERNEL_COLS], acc[KERNEL_COLS], add;
	const int32_t *bias = r->c->in[2]->data;
	struct requant_room room;
	struct requant q;

	requant_fill(pace, r->c, r->units, mult, shift, &q);
	q = requant_of_job(r->c, r->units, r->activation, &q, &room);
	add = widen(r, conv_weights_zero_point(r->c), values);
	for (uint32_t i = 0; i < r->units; i++)
		acc[i] = q_add(bias[i], add);
	conv_multiply_few(r->c, values, r->size, 1, r->c->in[1]->data, r->size, r->size, r->units, acc);
	r->k->requantize(acc, 1, &q, 0, r->units, r->c->out[0]->data, 0);
}

static void packed_float(const struct row *r)
{
	uint32_t most = r->k->fconv ? KERNEL_WIDE : KERNEL_COLS;
	size_t panel = (size_t)r->size * KERNEL_PANEL;
	const float *x = r->c->in[0]->data, *bias = r->c->in[2]->data;
	struct frange range = frange_of(r->activation);
	float *y = r->c->out[0]->data;

	for (uint32_t col = 0, n; col < r->units; col += n) {
		const float *w = (const float *)r->weights + (size_t)col * r->size;
		float acc[KERNEL_COLS] = { 0 };

		n = r->units - col < most ? r->units - col : most;
		if (r->k->fconv) {
			r->k->fconv(x, r->size, 1, w, r->size, panel, bias + col, range, n, y + col, 0);
			continue;
		}
		r->k->fgemm(x, r->size, 1, w, r->size, panel, n > KERNEL_PANEL ? 2 : 1, acc);
		r->k->finish(acc, 1, bias + col, range, n, y + col, 0);
	}
}

static bool few_float(const struct row *r)
{
	const float *x = r->c->in[0]->data, *w = r->c->in[1]->data;
	float acc[KERNEL_COLS] = { 0 };

	if (!r->k->fgemm_rows)
		return false;
	r->k->fgemm_rows(x, r->size, 1, w, r->size, r->size, r->units, acc);
	r->k->finish(acc, 1, r->c->in[2]->data, frange_of(r->activation), r->units,
		     r->c->out[0]->data, 0);
	return true;
}

bool conv_row(const struct op_call *c, enum activation a, struct op_pace *pace)
{
	const struct conv_packed *packed = c->prepared;
	struct row r = {
		.c = c,
		.units = c->in[1]->dims[0],
		.size = c->in[1]->dims[1],
		.activation = a,
		.k = kernels_get(),
		.weights = packed ? packed->weights : NULL,
	};
	bool done = true;

	if (c->out[0]->dims[0] != 1 || r.size >= MOST_VALUES || r.units > MOST_WEIGHTS / r.size ||
	    kernels_plain() || (!r.weights && !conv_is_few(c, r.units, r.size)))
		return false;
	if (!type_is_quant8(c->in[0]->type) && r.weights)
		packed_float(&r);
	else if (!type_is_quant8(c->in[0]->type))
		done = few_float(&r);
	else if (r.weights)
		done = packed_quant(&r);
	else
		few_quant(&r, pace);
	op_pace(pace, done ? (size_t)r.units * r.size : 0);
	return done;
}
