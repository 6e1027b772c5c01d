/* SPDX-License-Identifier: MIT */
/*
 * What the files that map TensorFlow Lite operators to HAL operations share:
 * turning tensors into operands.
 */
#ifndef NNRUN_MAPPER_H
#define NNRUN_MAPPER_H

#include "tflite_to_hal.h"

/* State of a mapping. */
struct mapper {
	struct tflite_model *tflite;
	struct hal_builder *b;
	int *operand_of;		/* operand of a computed or fed tensor, or -1 */
	uint8_t *role;			/* ROLE_* of a tensor */
	const struct tflite_operator *op;	/* being mapped, or NULL */
	uint32_t op_index;
	struct error *err;
};

#define ROLE_INPUT	1u	/* input of the model */
#define ROLE_OUTPUT	2u	/* output of the model */

/* Shape and type of a new operand. dims must stay valid as long as the operand is used. */
struct shape {
	uint32_t rank;
	uint32_t dims[TFLITE_MAX_RANK];
};

/* Fill in the error with the operator in front; returns -1. */
int map_fail(struct mapper *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Tensor at input or output @pos of the operator; NULL if it is omitted. */
const struct tflite_tensor *input_tensor(const struct mapper *m, uint32_t pos);
const struct tflite_tensor *output_tensor(const struct mapper *m, uint32_t pos);

/* Is the value of the tensor known before the model runs? */
bool is_constant(const struct mapper *m, const struct tflite_tensor *tensor);
bool is_float(const struct tflite_tensor *tensor);
/* uint8, int8 or int16 */
bool is_quantized(const struct tflite_tensor *tensor);

/*
 * Type, dimensions, scale and zero point of a tensor as the HAL has them; the
 * dimensions go to @shape. A scalar tensor becomes one of shape [1], since rank 0
 * means an unknown rank. 0 or -1.
 */
int describe_tensor(struct mapper *m, const struct tflite_tensor *tensor,
		    struct nnhal_operand *operand, struct shape *shape);

/* Operands; each function returns an index, or -1 with the error filled in. */

/* Input @pos of the operator. A quantized constant of a float operator is dequantized. */
int input_operand(struct mapper *m, uint32_t pos);
/* Constant int8 filter at input @pos with one scale per index of @channel_dim. */
int filter_operand(struct mapper *m, uint32_t pos, uint32_t channel_dim);
/* Bias of @count elements at input @pos, zeros if it is omitted. */
int bias_operand(struct mapper *m, uint32_t pos, uint32_t count, int input, int filter);
/* Output @pos of the operator, which is computed from here on. */
int output_operand(struct mapper *m, uint32_t pos);
/* An intermediate result that is not in the file: like @operand, with another shape. */
int temporary_operand(struct mapper *m, uint32_t like, const struct shape *shape);
/* An intermediate result of type TENSOR_FLOAT32. */
int float_operand(struct mapper *m, const struct shape *shape);
/* A one-dimensional TENSOR_INT32. */
int int32_vector_operand(struct mapper *m, const int32_t *values, uint32_t count);

/* Add an operation that comes from the operator being mapped. 0 or -1. */
int add_operation(struct mapper *m, uint32_t type, const int *inputs, uint32_t num_inputs,
		  int output);
/* Add a RESHAPE of @input to @output, which has the shape @shape. 0 or -1. */
int add_reshape(struct mapper *m, int input, int output, const struct shape *shape);

/* Map the operator m->op: map_operator.c. 0 or -1. */
int map_operator(struct mapper *m);

#endif /* NNRUN_MAPPER_H */
