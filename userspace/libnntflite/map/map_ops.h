/* SPDX-License-Identifier: MIT */
/*
 * The functions that map operators, one or a few per row of the table in map_table.c.
 *
 * Each adds the operations that the operator m->op stands for. @type is the operation of
 * the HAL that the row names. The numbers of inputs and outputs and the kind of options
 * have been checked. They return 0, or -1 with the message filled in.
 */
#ifndef NNTFLITE_MAP_MAP_OPS_H
#define NNTFLITE_MAP_MAP_OPS_H

#include "mapper.h"

/* ops_conv.c */
int map_conv_2d(struct mapper *m, uint32_t type);
int map_depthwise_conv_2d(struct mapper *m, uint32_t type);
int map_pool_2d(struct mapper *m, uint32_t type);

/* ops_matrix.c */
int map_fully_connected(struct mapper *m, uint32_t type);

/* ops_elementwise.c */
int map_softmax(struct mapper *m, uint32_t type);
int map_binary(struct mapper *m, uint32_t type);
int map_unary(struct mapper *m, uint32_t type);
int map_quantize(struct mapper *m, uint32_t type);
int map_dequantize(struct mapper *m, uint32_t type);

/* ops_layout.c */
int map_reshape(struct mapper *m, uint32_t type);
int map_concatenation(struct mapper *m, uint32_t type);

#endif /* NNTFLITE_MAP_MAP_OPS_H */
