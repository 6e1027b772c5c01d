/* SPDX-License-Identifier: MIT */
/*
 * Functions of the operations, for the table in op_table.c. struct op_desc describes what
 * they do.
 */
#ifndef NNPU_EMU_OPS_H
#define NNPU_EMU_OPS_H

#include "op.h"

#define OP_FUNCTIONS(name) \
	int name##_check(const struct op_call *c); \
	int name##_infer(const struct op_call *c); \
	int name##_execute(const struct op_call *c)

#define OP_FUNCTIONS_PREPARED(name) \
	OP_FUNCTIONS(name); \
	int name##_prepare(struct op_call *c, size_t *bytes)

#define OP_FUNCTIONS_SCRATCH(name) \
	OP_FUNCTIONS(name); \
	size_t name##_scratch(const struct op_call *c)

#define OP_FUNCTIONS_PACKED(name) \
	OP_FUNCTIONS_PREPARED(name); \
	size_t name##_scratch(const struct op_call *c)

OP_FUNCTIONS_PREPARED(activation);
OP_FUNCTIONS(argmax);
OP_FUNCTIONS(bbox_transform);
OP_FUNCTIONS_SCRATCH(box_nms);
OP_FUNCTIONS(cast);
op_decode_fn cast_decode;
OP_FUNCTIONS(channel_shuffle);
OP_FUNCTIONS(compare);
OP_FUNCTIONS(concatenation);
OP_FUNCTIONS_PACKED(conv2d);
OP_FUNCTIONS_PREPARED(depthwise_conv2d);
/* Of operations that call conv_prepare(). */
void conv_unprepare(struct op_pace *pace, const struct op_call *c, unsigned int i, void *to);
void depthwise_conv2d_unprepare(struct op_pace *pace, const struct op_call *c, unsigned int i,
				void *to);
OP_FUNCTIONS(dequantize);
op_decode_fn dequantize_decode;
OP_FUNCTIONS_SCRATCH(detection);
OP_FUNCTIONS(elementwise);
OP_FUNCTIONS(embedding_lookup);
OP_FUNCTIONS(expand_dims);
OP_FUNCTIONS(extreme);
OP_FUNCTIONS(fill);
OP_FUNCTIONS_PACKED(fully_connected);
OP_FUNCTIONS(gather);
OP_FUNCTIONS(grouped_conv2d);
OP_FUNCTIONS(hashtable_lookup);
OP_FUNCTIONS(heatmap);
OP_FUNCTIONS(instance_normalization);
OP_FUNCTIONS(l2_normalization);
OP_FUNCTIONS(log_softmax);
OP_FUNCTIONS(logical);
OP_FUNCTIONS(lrn);
OP_FUNCTIONS_SCRATCH(lsh_projection);
OP_FUNCTIONS_SCRATCH(lstm);
OP_FUNCTIONS(pad);
OP_FUNCTIONS(pool2d);
OP_FUNCTIONS(power);
OP_FUNCTIONS(prelu);
OP_FUNCTIONS_SCRATCH(proposals);
OP_FUNCTIONS_SCRATCH(quantized_lstm);
OP_FUNCTIONS(quantize);
OP_FUNCTIONS(quantized_16bit_lstm);
OP_FUNCTIONS_SCRATCH(random_multinomial);
OP_FUNCTIONS(rank);
OP_FUNCTIONS(reduce);
OP_FUNCTIONS(reshape);
OP_FUNCTIONS(resize);
/* execute() of RESIZE_BILINEAR of input 0, channels last, to the size that output 0 has. */
int resize_bilinear(const struct op_call *c, bool align, bool half);
OP_FUNCTIONS_SCRATCH(rnn);
OP_FUNCTIONS(roi);
OP_FUNCTIONS(select);
OP_FUNCTIONS(slice);
OP_FUNCTIONS_PREPARED(softmax);
OP_FUNCTIONS(space);
OP_FUNCTIONS(split);
OP_FUNCTIONS(squeeze);
OP_FUNCTIONS(strided_slice);
OP_FUNCTIONS(svdf);
OP_FUNCTIONS(tile);
OP_FUNCTIONS_SCRATCH(topk);
OP_FUNCTIONS(transpose);
OP_FUNCTIONS(transpose_conv2d);
OP_FUNCTIONS(unary);

#endif /* NNPU_EMU_OPS_H */
