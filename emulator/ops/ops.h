/* SPDX-License-Identifier: MIT */
/*
 * Functions of the operations, for the table in op_table.c. What they do is said
 * at struct op_desc.
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

OP_FUNCTIONS_PREPARED(activation);
OP_FUNCTIONS(concatenation);
OP_FUNCTIONS_PREPARED(conv2d);
OP_FUNCTIONS_PREPARED(depthwise_conv2d);
OP_FUNCTIONS(dequantize);
OP_FUNCTIONS_PREPARED(elementwise);
OP_FUNCTIONS_PREPARED(fully_connected);
OP_FUNCTIONS(pool2d);
OP_FUNCTIONS(quantize);
OP_FUNCTIONS(reshape);
OP_FUNCTIONS_PREPARED(softmax);

#endif /* NNPU_EMU_OPS_H */
