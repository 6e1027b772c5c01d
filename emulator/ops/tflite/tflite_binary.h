/* SPDX-License-Identifier: MIT */
/*
 * The quantized forms of the operations of tflite_binary.c.
 */
#ifndef NNPU_EMU_TFLITE_BINARY_H
#define NNPU_EMU_TFLITE_BINARY_H

#include "tflite_elem.h"

/* Has the operation one for these operands? */
bool binary_is_quant(const struct op_call *c);

/* check(): what quantization the operands may have. */
int binary_quant_check(const struct op_call *c);

/* execute() with a fused activation. */
int binary_quant_execute(const struct op_call *c, enum activation a);

#endif /* NNPU_EMU_TFLITE_BINARY_H */
