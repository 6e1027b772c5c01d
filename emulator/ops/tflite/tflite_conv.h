/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of org.nnpu.tflite: sums of products of inputs and weights, output by output.
 *
 * Inputs are floats, bytes or 16-bit integers, images with the channels last; weights are
 * floats, or bytes with one scale or one for each output channel. Integers are added up in 64
 * bits, of which the operation uses 32 or all.
 */
#ifndef NNPU_EMU_TFLITE_CONV_H
#define NNPU_EMU_TFLITE_CONV_H

#include "ops/quant.h"
#include "ops/window.h"
#include "tflite_ops.h"

/* Padding of the schema. */
#define TFLITE_SAME	0
#define TFLITE_VALID	1

struct tflite_conv {
	const struct tensor *in, *filter, *out;
	const struct tensor *bias;	/* NULL: none */
	enum activation activation;
	uint32_t channels;		/* of the output */
	bool wide;			/* sums of 64 bits */
	/* From here on set by tflite_conv_start(). */
	struct qbyte in_byte, filter_byte;
	struct qrange qrange;
	struct frange frange;
	const struct qfactor *factors;	/* by channel */
	struct op_pace pace;
};

/* A sum that is not complete. */
union tflite_sum {
	float real;
	int64_t whole;
};

/*
 * check(): types and quantization of the input, the filter with channel dimension @channel_dim,
 * the bias, which may be omitted, and output 0, by position.
 */
int tflite_conv_check(const struct op_call *c, unsigned int in, unsigned int filter,
		      unsigned int bias, unsigned int channel_dim);

/* Positions of the scalars of a window; strides and dilations are those of the width first. */
struct tflite_window {
	unsigned int padding, stride;
	unsigned int dilation, activation;	/* 0: none */
};

/* Read and check them: 0, 1 or -1 as window_read(). */
int tflite_window_read(const struct op_call *c, const struct tflite_window *at, struct window *w);

/*
 * Operands of the call by position, and whether sums of 16-bit integers are wide: the type of the
 * bias says it, without one @bias_type, the position of a TensorType; they are wide if neither
 * does. The shape of the bias is checked. 0, 1 or -1.
 */
int tflite_conv_operands(const struct op_call *c, struct tflite_conv *t, unsigned int in,
			 unsigned int filter, unsigned int bias, unsigned int bias_type);

/* Scratch memory for @channels factors. */
size_t tflite_conv_scratch(uint32_t channels);

/*
 * Prepare for sums; @single: the factor of weights with one scale starts from the product of
 * scales in single precision. OP_ABORTED or 0.
 */
int tflite_conv_start(const struct op_call *c, struct tflite_conv *t, bool single);

/* Add the products of @n inputs and weights, each from an offset on, one behind the other. */
int tflite_conv_add(struct tflite_conv *t, union tflite_sum *sum, size_t in, size_t filter,
		    size_t n);

/* Store the sum of channel @channel, with the bias, at offset @at of the output. */
void tflite_conv_store(const struct tflite_conv *t, union tflite_sum sum, uint32_t channel,
		       size_t at);

#endif /* NNPU_EMU_TFLITE_CONV_H */
