// SPDX-License-Identifier: MIT
/*
 * FULLY_CONNECTED of one short row of inputs by packed weights. It takes less time than to divide it into
 * tiles as conv_quant.c and conv_float.c do, whose results it has.
 */
#include "conv.h"

/* Values of the row, and weights: few enough for one look at op_pace(), and for one thread. */
#define MOST_VALUES	2048u
#define MOST_WEIGHTS	(1u << 17)

static bool quant_row(const struct op_call *c, uint32_t units, uint32_t size, enum activation a)
{
	int16_t values[MOST_VALUES] __attribute__((aligned(64)));
	const struct conv_quant *packed = c->prepared;
	struct qbyte byte = qbyte_of(c->in[0]);
	const struct kernels *k = kernels_get();
	struct requant_room room;
	struct requant requant;
	uint32_t add = 0;

	if (!k->qrow && (!k->qrow_bytes || packed->zero_point))
		return false;
	requant = requant_of_job(c, units, a, &packed->requant, &room);
	if (!requant.shifts_right)
		return false;
	if (k->qrow_bytes && !packed->zero_point) {
		k->qrow_bytes(c->in[0]->data, byte, size, packed->packed.weights, c->in[2]->data,
			      &requant, 0, units, c->out[0]->data);
		return true;
	}
	k->widen(c->in[0]->data, byte, size, values);
	if (size % 2)
		values[size] = 0;
	if (packed->zero_point)
		add = -(uint32_t)k->sum(values, size) * (uint32_t)packed->zero_point;
	k->qrow(values, packed->packed.weights, packed->pairs, c->in[2]->data, (int32_t)add,
		&requant, 0, units, c->out[0]->data);
	return true;
}

static void float_row(const struct op_call *c, uint32_t units, uint32_t size, enum activation a)
{
	const struct conv_packed *packed = c->prepared;
	const float *x = c->in[0]->data, *w = packed->weights, *bias = c->in[2]->data;
	const struct kernels *k = kernels_get();
	struct frange range = frange_of(a);
	float *y = c->out[0]->data;

	if (k->frow) {
		k->frow(x, size, w, bias, range, units, y);
		return;
	}
	for (uint32_t col = 0, n; col < units; col += n) {
		float acc[KERNEL_COLS] = { 0 };

		n = units - col < KERNEL_COLS ? units - col : KERNEL_COLS;
		k->fgemm(x, size, 1, w + (size_t)col * size, size, (size_t)size * KERNEL_PANEL,
			 n > KERNEL_PANEL ? 2 : 1, acc);
		k->finish(acc, 1, bias + col, range, n, y + col, 0);
	}
}

bool conv_row(const struct op_call *c, enum activation a, struct op_pace *pace)
{
	const struct conv_packed *packed = c->prepared;
	uint32_t units = c->in[1]->dims[0], size = c->in[1]->dims[1];

	if (!packed || c->out[0]->dims[0] != 1 || size >= MOST_VALUES ||
	    units > MOST_WEIGHTS / size || kernels_plain())
		return false;
	if (!type_is_quant8(c->in[0]->type))
		float_row(c, units, size, a);
	else if (!quant_row(c, units, size, a))
		return false;
	op_pace(pace, (size_t)units * size);
	return true;
}
