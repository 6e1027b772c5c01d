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
int map_elements(struct mapper *m, uint32_t type);
int map_binary(struct mapper *m, uint32_t type);
int map_mul(struct mapper *m, uint32_t type);
int map_relu(struct mapper *m, uint32_t type);
int map_unary(struct mapper *m, uint32_t type);
int map_local_response_normalization(struct mapper *m, uint32_t type);
int map_quantize(struct mapper *m, uint32_t type);
int map_dequantize(struct mapper *m, uint32_t type);

/* ops_layout.c */
int map_reshape(struct mapper *m, uint32_t type);
int map_concatenation(struct mapper *m, uint32_t type);

/* ops_shape.c */
int map_as_it_is(struct mapper *m, uint32_t type);
int map_reduce(struct mapper *m, uint32_t type);
int map_resize(struct mapper *m, uint32_t type);
int map_blocks(struct mapper *m, uint32_t type);
int map_log_softmax(struct mapper *m, uint32_t type);
int map_with_scalar(struct mapper *m, uint32_t type);
int map_arg(struct mapper *m, uint32_t type);
int map_topk(struct mapper *m, uint32_t type);
int map_split(struct mapper *m, uint32_t type);
int map_gather(struct mapper *m, uint32_t type);
int map_strided_slice(struct mapper *m, uint32_t type);
int map_pack(struct mapper *m, uint32_t type);
int map_squeeze(struct mapper *m, uint32_t type);
int map_space_to_batch(struct mapper *m, uint32_t type);
int map_batch_to_space(struct mapper *m, uint32_t type);
int map_square(struct mapper *m, uint32_t type);
int map_transpose_conv(struct mapper *m, uint32_t type);

/* ops_lookup.c */
int map_hashtable_lookup(struct mapper *m, uint32_t type);
int map_lsh_projection(struct mapper *m, uint32_t type);
int map_bucketize(struct mapper *m, uint32_t type);

/* ops_sequence.c */
int map_sequence_lstm(struct mapper *m, uint32_t type);
int map_lstm(struct mapper *m, uint32_t type);
int map_sequence_rnn(struct mapper *m, uint32_t type);
int map_rnn(struct mapper *m, uint32_t type);
int map_svdf(struct mapper *m, uint32_t type);

/* ops_lstm_basic.c: another kernel of LSTM. */
int map_lstm_basic(struct mapper *m);

/* ops_bidirectional.c */
int map_bidirectional_lstm(struct mapper *m, uint32_t type);
int map_bidirectional_rnn(struct mapper *m, uint32_t type);

/* ops_control.c */
int map_if(struct mapper *m, uint32_t type);
int map_while(struct mapper *m, uint32_t type);
int map_call(struct mapper *m, uint32_t type);
int map_case(struct mapper *m, uint32_t type);

/* resources.c, initializer.c */
int map_var_handle(struct mapper *m, uint32_t type);
int map_read_variable(struct mapper *m, uint32_t type);
int map_assign_variable(struct mapper *m, uint32_t type);
int map_call_once(struct mapper *m, uint32_t type);

/* dense.c */
int map_densify(struct mapper *m, uint32_t type);

/* ops_hlo.c, ops_hlo_layout.c */
int map_hlo_concatenate(struct mapper *m, uint32_t type);
int map_hlo_broadcast(struct mapper *m, uint32_t type);
int map_hlo_slice(struct mapper *m, uint32_t type);
int map_hlo_reduce(struct mapper *m, uint32_t type);
int map_hlo_compare(struct mapper *m, uint32_t type);
int map_hlo_dynamic_slice(struct mapper *m, uint32_t type);
int map_hlo_pad(struct mapper *m, uint32_t type);
int map_hlo_iota(struct mapper *m, uint32_t type);
int map_hlo_dot_general(struct mapper *m, uint32_t type);
int map_hlo_transpose(struct mapper *m, uint32_t type);
int map_hlo_clamp(struct mapper *m, uint32_t type);
int map_hlo_dynamic_update_slice(struct mapper *m, uint32_t type);

/* ops_custom.c: a custom operator, by its name. */
int map_custom(struct mapper *m, uint32_t type);

#endif /* NNTFLITE_MAP_MAP_OPS_H */
