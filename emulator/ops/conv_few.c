// SPDX-License-Identifier: MIT
/*
 * FULLY_CONNECTED of a few rows of inputs with so few units that their weights are not packed: see
 * conv_is_few(). Products are summed along the rows of weights.
 */
#include <string.h>

#include "conv.h"

/* Inputs of a row between two looks at op_pace(): up to KERNEL_COLS rows of weights are read meanwhile. */
#define RUN		4096u
_Static_assert(RUN <= ROW_BYTES, "dot_values() takes fewer");

/* Inputs by which weights are packed at a time, where no kernel takes them as they are. */
#define PIECE		CONV_FEW_DEPTH

struct few {
	const struct op_call *c;
	const struct kernels *k;
	unsigned int rows, units;	/* at most KERNEL_ROWS and KERNEL_COLS */
	size_t size;
};

/* Quantized. */

/* What the zero point of the weights adds to the sums of a row. */
static int32_t zero_point_sum(const struct few *f, const uint8_t *x, size_t n)
{
	struct qbyte b = qbyte_of(f->c->in[0]);
	uint32_t zero_point = (uint32_t)conv_weights_zero_point(f->c), sum;

	if (!zero_point)
		return 0;
	sum = (uint32_t)kernels_rows()->sum_bytes(x, n, b.flip);
	sum += (uint32_t)n * (uint32_t)(b.flip - b.bias);
	return (int32_t)-(sum * zero_point);
}

/* Add the products of inputs [@at, @at + @n) of a row. */
static void add_products(const struct few *f, const uint8_t *x, size_t at, size_t n, int32_t *acc)
{
	const uint8_t *weights = (const uint8_t *)f->c->in[1]->data + at;
	uint8_t flip = f->c->in[1]->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM ? 0x80 : 0;
	struct qbyte b = qbyte_of(f->c->in[0]);
	int32_t zero = zero_point_sum(f, x + at, n);

	for (unsigned int col = 0, some; col < f->units; col += some) {
		const uint8_t *w[ROW_UNITS];
		int32_t sums[ROW_UNITS];

		some = f->units - col < ROW_UNITS ? f->units - col : ROW_UNITS;
		for (unsigned int i = 0; i < some; i++)
			w[i] = weights + (col + i) * f->size;
		kernels_rows()->dot_values(some, x + at, b.flip, (int16_t)b.bias, w, flip, n, sums);
		for (unsigned int i = 0; i < some; i++)
			acc[col + i] = q_add(acc[col + i], q_add(sums[i], zero));
	}
}

static void few_quant(const struct few *f, enum activation a, struct op_pace *pace)
{
	int32_t mult[KERNEL_COLS], shift[KERNEL_COLS], acc[KERNEL_COLS] = { 0 };
	const uint8_t *x = f->c->in[0]->data;
	uint8_t *y = f->c->out[0]->data;
	struct requant_room room;
	struct requant kept, q;

	requant_fill(pace, f->c, f->units, mult, shift, &kept);
	q = requant_of_job(f->c, f->units, a, &kept, &room);
	for (unsigned int r = 0; r < f->rows && !pace->ended; r++, x += f->size, y += f->units) {
		memcpy(acc, f->c->in[2]->data, f->units * sizeof(*acc));
		for (size_t at = 0, n; at < f->size && !pace->ended; at += n) {
			n = f->size - at < RUN ? f->size - at : RUN;
			add_products(f, x, at, n, acc);
			op_pace(pace, n * (f->units + 1) / 4 + 8);
		}
		f->k->requantize(acc, 1, &q, 0, f->units, y, 0);
	}
}

/* Floats. */

/* fgemm() of inputs [@at, @at + @n), of which a piece of the weights is packed at a time. */
static void multiply_packed(const struct few *f, size_t at, size_t n, float *acc)
{
	float panel[PIECE * KERNEL_PANEL] __attribute__((aligned(64)));
	const float *x = (const float *)f->c->in[0]->data + at;
	const float *weights = (const float *)f->c->in[1]->data + at;

	for (size_t from = 0, len; from < n; from += len) {
		len = n - from < PIECE ? n - from : PIECE;
		for (unsigned int i = 0; i < f->units; i += KERNEL_PANEL) {
			unsigned int cols = f->units - i < KERNEL_PANEL ? f->units - i : KERNEL_PANEL;

			conv_float_packing.pack_panel(f->c->in[1], weights + i * f->size + from, cols,
						      f->size, len, panel);
			f->k->fgemm(x + from, f->size, f->rows, panel, len, len * KERNEL_PANEL, 1,
				    acc + i);
		}
	}
}

static void few_float(const struct few *f, enum activation a, struct op_pace *pace)
{
	const float *x = f->c->in[0]->data, *w = f->c->in[1]->data;
	float acc[KERNEL_ROWS * KERNEL_COLS] = { 0 };

	for (size_t at = 0, n; at < f->size && !pace->ended; at += n) {
		n = f->size - at < RUN ? f->size - at : RUN;
		if (f->k->fgemm_rows)
			f->k->fgemm_rows(x + at, f->size, f->rows, w + at, f->size, n, f->units, acc);
		else
			multiply_packed(f, at, n, acc);
		op_pace(pace, (2 * f->rows + 2 * f->units) * n);
	}
	f->k->finish(acc, f->rows, f->c->in[2]->data, frange_of(a), f->units, f->c->out[0]->data,
		     f->units);
}

void conv_few(const struct op_call *c, enum activation a, struct op_pace *pace)
{
	struct few f = {
		.c = c,
		.k = kernels_get(),
		.rows = c->out[0]->dims[0],
		.units = c->in[1]->dims[0],
		.size = c->in[1]->dims[1],
	};

	if (type_is_quant8(c->in[0]->type))
		few_quant(&f, a, pace);
	else
		few_float(&f, a, pace);
}
