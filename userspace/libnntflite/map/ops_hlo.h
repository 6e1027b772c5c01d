/* SPDX-License-Identifier: MIT */
/*
 * What the files share that map operators of StableHLO with parameters. Their operations are
 * those of the extension, which take all types; shapes have to be known.
 */
#ifndef NNTFLITE_MAP_OPS_HLO_H
#define NNTFLITE_MAP_OPS_HLO_H

#include "map_ops.h"

/* Shape of input or output @pos; NULL with a message if it is not known or a scalar's. */
const struct shape *hlo_input_shape(struct mapper *m, uint32_t pos);
const struct shape *hlo_output_shape(struct mapper *m, uint32_t pos);

/* The @count numbers of 64 bits in slot @slot of the options, called @name. 0 or -1. */
int hlo_list(struct mapper *m, unsigned int slot, const char *name, uint32_t count,
	     int32_t *values);

/* A dimension below @rank in slot @slot of the options; -1 with a message. */
int32_t hlo_dimension(struct mapper *m, unsigned int slot, const char *name, uint32_t rank);

/* A shape as a TENSOR_INT32. */
int hlo_shape_operand(struct mapper *m, const struct shape *shape);

/* An operation @code of the extension; the result has @shape and is otherwise like @like. */
int hlo_step(struct mapper *m, int32_t code, const struct inputs *in, int like,
	     const struct shape *shape);
/* The same, whose result is output 0 of the operator. 0 or -1. */
int hlo_last(struct mapper *m, int32_t code, const struct inputs *in);
/* @input repeated to output 0 of the operator, its dimensions at places @where. 0 or -1. */
int hlo_repeat(struct mapper *m, int input, const struct shape *shape, const int32_t *where,
	       uint32_t count, int output);

#endif /* NNTFLITE_MAP_OPS_HLO_H */
