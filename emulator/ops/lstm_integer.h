/* SPDX-License-Identifier: MIT */
/*
 * A step of an LSTM layer in integer arithmetic. QUANTIZED_LSTM and the operation of
 * TensorFlow Lite for bytes share it; their inputs 0 to 23 are the same:
 *
 * 0 input [..., size], 1 to 4 weights [cells, size] and 5 to 8 recurrent weights [cells,
 * outputs] of the gates input, forget, cell and output, 9 to 11 peephole weights [cells] of
 * input, forget and output, 12 to 15 biases [cells], 16 projection weights [outputs, cells]
 * and 17 bias [outputs], 18 output state [batch, outputs], 19 cell state [batch, cells], 20 to
 * 23 normalization [cells]. Peepholes, projection and normalization may be omitted. Without
 * weights of the input gate that is 1 - forget (CIFG).
 */
#ifndef NNPU_EMU_LSTM_INTEGER_H
#define NNPU_EMU_LSTM_INTEGER_H

#include "shape.h"

enum { GATE_IN, GATE_FORGET, GATE_CELL, GATE_OUT, GATES };

/* Positions of operands. */
enum {
	AT_WEIGHTS = 1, AT_RECURRENT = 5, AT_PEEPHOLE = 9, AT_BIAS = 12, AT_PROJECTION = 16,
	AT_PROJECTION_BIAS = 17, AT_OUTPUTS = 18, AT_CELLS = 19, AT_NORM = 20,
	INTEGER_LSTM_NEXT = 24,
};

struct integer_lstm {
	bool cifg, norm;
	uint32_t batch, size, cells, outputs;
	int cell_exponent;		/* scale of the cells is a power of two */
	float gate_scale[GATES], hidden_scale, cell_limit, projection_limit;
	double hidden_factor;		/* from 30 fraction bits to steps of what is projected */
	int32_t hidden_zero;
	/*
	 * TensorFlow Lite takes the cells of all batches of a step as rows of @outputs elements
	 * where it adds peepholes: so many elements in all. 0: as rows of @cells.
	 */
	size_t flat_peepholes;
	/* Scratch memory for one batch. */
	int16_t *gates;			/* by gate, then by cell */
	int8_t *hidden;
	struct op_pace pace;
};

/* What a step of one batch reads and writes. Old and new states may be the same memory. */
struct integer_lstm_step {
	const int8_t *x;		/* [size] */
	const int8_t *outputs;
	const int16_t *cells;
	int8_t *new_outputs;
	int16_t *new_cells;
	size_t first_cell;		/* place of cell 0 among those of all batches */
};

/* Types and ranks of inputs 1 to 23, for an operation of the HAL. */
int integer_lstm_check_types(const struct op_call *c);

/* Which of inputs 1 to 23 are there, and the scale of the cells. */
int integer_lstm_check(const struct op_call *c);

/*
 * Sizes from the shapes of inputs 1 to 23, with q->batch and q->size set. 0, or -1 with
 * error. All shapes are known.
 */
int integer_lstm_geometry(const struct op_call *c, struct integer_lstm *q);

/* Scratch memory of an operation, and taking it. */
size_t integer_lstm_scratch(const struct op_call *c);
void integer_lstm_take(struct op_call *own, struct integer_lstm *q);

/* 0 or OP_ABORTED. */
int integer_lstm_run(const struct op_call *c, struct integer_lstm *q,
		     const struct integer_lstm_step *s);

#endif /* NNPU_EMU_LSTM_INTEGER_H */
