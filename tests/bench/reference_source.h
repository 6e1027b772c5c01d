/* SPDX-License-Identifier: MIT */
/*
 * An operation of a HAL model while it is turned into operators of XNNPACK.
 */
#ifndef NNPU_BENCH_REFERENCE_SOURCE_H
#define NNPU_BENCH_REFERENCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <xnnpack.h>

#include "operand_bytes.h"
#include "reference_layers.h"

/* Padding scheme SAME of the HAL. */
#define PADDING_SAME	1

/* Operators of one operation, at most: copies of the tensors that are put together. */
#define MAX_OPERATORS	16

struct layer {
	enum { LAYER_OPERATOR, LAYER_COPY, LAYER_FLIPPED, LAYER_NONE, LAYER_ABSENT } kind;
	xnn_operator_t op;
	xnn_operator_t more[MAX_OPERATORS - 1];	/* run after the first; NULL behind the last */
	/*
	 * LAYER_COPY; LAYER_FLIPPED: signed bytes through an operator for unsigned ones.
	 * LAYER_NONE: there is nothing to do, all was known before.
	 * LAYER_ABSENT: XNNPACK has no operator, and the caller wants to have the others.
	 */
	const uint8_t *from;
	uint8_t *to;
	uint8_t *flipped;
	size_t bytes;
};

struct layers {
	const struct nnhal_model *hal;
	const uint8_t *pool;
	void **values;			/* by operand: constants in place, others owned */
	bool *fixed;			/* by operand: it depends on no input */
	bool borrowed;			/* the values are the caller's */
	struct layer *layers;
	uint32_t count;
};

/* An operation being turned into a layer. */
struct source {
	struct layers *l;
	const struct nnhal_operation *op;
	uint32_t index;
	struct layer *layer;
	struct error *err;
};

static inline const struct nnhal_operand *operand(const struct source *s, uint32_t input)
{
	return &s->l->hal->main.operands[s->op->inputs[input]];
}

static inline const struct nnhal_operand *result(const struct source *s)
{
	return &s->l->hal->main.operands[s->op->outputs[0]];
}

static inline void *value(const struct source *s, uint32_t input)
{
	return s->l->values[s->op->inputs[input]];
}

static inline void *result_value(const struct source *s)
{
	return s->l->values[s->op->outputs[0]];
}

static inline int32_t scalar(const struct source *s, uint32_t input)
{
	int32_t v;

	memcpy(&v, value(s, input), sizeof(v));
	return v;
}

static inline bool flag(const struct source *s, uint32_t input)
{
	return *(const uint8_t *)value(s, input);
}

static inline bool is_const(const struct nnhal_operand *o)
{
	return o->lifetime == NNHAL_LIFETIME_CONSTANT_COPY ||
	       o->lifetime == NNHAL_LIFETIME_CONSTANT_REFERENCE;
}

/* Are the weights and the bias known before the model runs? Operators are made with them. */
static inline bool are_fixed(const struct source *s, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i <= last; i++) {
		if (!s->l->fixed[s->op->inputs[i]])
			return false;
	}
	return true;
}

static inline bool is_byte(uint32_t type)
{
	return type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM ||
	       type == NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED;
}

/* Operations of the extension that TensorFlow Lite's operators are, and its prefix here. */
#define EXTENSION(n)			(1u << 16 | (n))
#define EXTENSION_LEAKY_RELU		EXTENSION(98)
#define EXTENSION_SQUARED_DIFFERENCE	EXTENSION(99)

/* reference_layers.c: what a fused activation leaves of an output, and how XNNPACK answers. */
void float_range(int32_t activation, float *min, float *max);
void quant_range(const struct nnhal_operand *o, int32_t activation, int *min, int *max);
int unsupported(const struct source *s);
int check(const struct source *s, enum xnn_status status);

/* reference_dense.c */
int add_convolution(const struct source *s, bool depthwise);
int add_fully_connected(const struct source *s);

/* reference_elementwise.c */
int add_binary(const struct source *s, uint32_t kind);
int add_unary(const struct source *s, uint32_t kind);
int add_leaky_relu(const struct source *s);
int add_softmax(const struct source *s);
int add_mean(const struct source *s);
int add_conversion(const struct source *s);

#endif /* NNPU_BENCH_REFERENCE_SOURCE_H */
