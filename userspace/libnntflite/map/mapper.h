/* SPDX-License-Identifier: MIT */
/*
 * What the files share that map operators of a .tflite file to operations of the HAL:
 * where the mapping stands, and turning tensors into operands.
 */
#ifndef NNTFLITE_MAP_MAPPER_H
#define NNTFLITE_MAP_MAPPER_H

#include "../file/tflite.h"
#include "hal_builder.h"

/*
 * Shape of a tensor. A size of 0 is unknown, a rank of 0 too: the device finds them while
 * it runs. A scalar has the shape [1], for the HAL has no tensors of rank 0.
 */
struct shape {
	uint32_t rank;
	uint32_t dims[TFLITE_MAX_RANK];
	bool scalar;			/* it has the rank 0 in the file */
};

struct map_model;
struct interface;

/* Resource variables of a model. */
#define MAX_RESOURCES	256

/* State of the mapping of one subgraph. */
struct mapper {
	struct map_model *model;
	const struct tflite_model *tflite;
	const struct tflite_subgraph *sub;
	uint32_t sub_index;
	const struct interface *interface;	/* NULL for the main subgraph */
	struct hal_builder *b;
	struct hal_graph *g;
	const struct shape *shapes;	/* of the tensors */
	int *operand_of;		/* operand of a computed or fed tensor, or -1 */
	uint8_t *role;			/* ROLE_* of a tensor */
	int *resource_of;		/* resource that a tensor refers to, or -1; NULL without any */
	int now[MAX_RESOURCES];		/* operands with the values of the resources, or -1 */
	uint8_t **dense;		/* data of tensors that are sparse or packed in the file, or NULL */
	uint32_t *same_as;		/* tensor that the result of DENSIFY is, plus 1; or NULL */
	uint32_t weight;		/* operators that one run of the subgraph runs at most */
	const struct tflite_operator *op;	/* being mapped, or NULL */
	uint32_t op_index;
	struct fb_reader reader;	/* of this mapping: faults of options end up here */
	struct fb_table options;	/* those of the operator */
	struct nntflite_diag *diag;
};

#define ROLE_INPUT	1u	/* input of the subgraph */
#define ROLE_OUTPUT	2u	/* output of the subgraph */
#define ROLE_LISTED	4u	/* its operand is among the outputs already */

/*
 * Fill in the message with the operator in front; returns -1. It names a tensor too:
 * tensor_fail() the one given, map_fail() the one that the operator computes.
 */
int map_fail(struct mapper *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int tensor_fail(struct mapper *m, const struct tflite_tensor *tensor, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Add the operator and a tensor to a message that has none; returns -1. */
int map_name_place(struct mapper *m);

/* Number of a tensor in its subgraph. */
static inline uint32_t tensor_index(const struct mapper *m, const struct tflite_tensor *tensor)
{
	return (uint32_t)(tensor - m->sub->tensors);
}

/* Tensor at input or output @pos of the operator; NULL if it is omitted. */
const struct tflite_tensor *input_tensor(const struct mapper *m, uint32_t pos);
const struct tflite_tensor *output_tensor(const struct mapper *m, uint32_t pos);
/* Tensor at intermediate @pos; NULL if it is omitted. */
const struct tflite_tensor *intermediate_tensor(const struct mapper *m, uint32_t pos);

/* Shape of a tensor, as far as it is known before the model runs. */
const struct shape *tensor_shape(const struct mapper *m, const struct tflite_tensor *tensor);
/* Are the rank and all sizes known? */
bool shape_is_known(const struct shape *shape);
/* Number of elements of a known shape; 0 if it is not known or above 2^31. */
uint64_t shape_elements(const struct shape *shape);

/* Is the value of the tensor known before the model runs? */
bool is_constant(const struct mapper *m, const struct tflite_tensor *tensor);
/* Is it a constant without elements? is_constant() is false of it, for it has no data. */
bool is_empty_constant(const struct mapper *m, const struct tflite_tensor *tensor);
/*
 * The value of a constant of type int32 or int64 with at most @max elements. Returns the
 * number of elements; -1, without a message, if it is no such constant or a value does not
 * fit 32 bits.
 */
int constant_int32(const struct mapper *m, const struct tflite_tensor *tensor, int32_t *values,
		   uint32_t max);
/*
 * The elements of a constant, one behind the other, and their number of bytes; NULL with a
 * message. They live as long as the model. dense.c.
 */
const uint8_t *dense_data(struct mapper *m, const struct tflite_tensor *tensor, size_t *bytes);
bool is_float(const struct tflite_tensor *tensor);
/* uint8, int8 or int16 */
bool is_quantized(const struct tflite_tensor *tensor);

/*
 * Type, dimensions, scale and zero point of a tensor as the HAL has them, or the extension
 * for types that the HAL lacks; the dimensions go to @shape. 0 or -1.
 */
int describe_tensor(struct mapper *m, const struct tflite_tensor *tensor,
		    struct nnhal_operand *operand, struct shape *shape);
/* The same with the shape that the caller knows. */
int describe_with_shape(struct mapper *m, const struct tflite_tensor *tensor,
			struct nnhal_operand *operand, const struct shape *shape);

/* The same for an input of the model, which may have a scale per channel: channel_operand.c. */
int describe_input(struct mapper *m, const struct tflite_tensor *tensor,
		   struct nnhal_operand *operand, struct shape *shape);
/* May an input of the operator have a scale per channel? */
bool takes_channels(const struct mapper *m);
/* Is a quantization scale a positive number? 0 or -1. */
int check_scale(struct mapper *m, const struct tflite_tensor *tensor, float scale);
/* The HAL counts bytes in 32 bits: are they enough? 0 or -1. */
int check_size(struct mapper *m, const struct tflite_tensor *tensor, const struct shape *shape);
/* Constant data, exactly as much as the shape asks for; NULL with a message. */
const uint8_t *checked_data(struct mapper *m, const struct tflite_tensor *tensor, size_t *bytes);

/* Operands; each function returns an index, or -1 with the message filled in. */

/* Input @pos of the operator. A quantized constant of a float operator is dequantized. */
int input_operand(struct mapper *m, uint32_t pos);
/*
 * input_operand() of all inputs, with room for @more operands behind them; NULL with a message. It
 * lives as long as the model.
 */
int *input_operands(struct mapper *m, uint32_t more);
/* The value of a tensor as it is, whatever the operator computes. */
int value_operand(struct mapper *m, const struct tflite_tensor *tensor);
/* The same, or an omitted operand of type @type if the file omits it. */
int optional_operand(struct mapper *m, uint32_t pos, uint32_t type);
/* Constant int8 filter at input @pos with one scale per index of @channel_dim. */
int filter_operand(struct mapper *m, uint32_t pos, uint32_t channel_dim);
/* Bias of @count elements at input @pos, zeros if it is omitted. */
int bias_operand(struct mapper *m, uint32_t pos, uint32_t count, int input, int filter);
/* The variable at input @pos: its present value, and where its new value goes. */
int variable_operand(struct mapper *m, uint32_t pos);
int variable_update(struct mapper *m, uint32_t pos);
/* Output @pos of the operator, which is computed from here on. */
int output_operand(struct mapper *m, uint32_t pos);
/* The same with the shape that the caller knows. */
int output_operand_of_shape(struct mapper *m, uint32_t pos, const struct shape *shape);
/* May output @pos be written? 0 or -1. */
int check_output(struct mapper *m, uint32_t pos);
/* A new operand like *@to, or like @from if that is NULL, to which an operation copies @from. */
int copy_operand(struct mapper *m, int from, const struct nnhal_operand *to, uint32_t lifetime);
/* The bool at @tensor as a TENSOR_BOOL8 of shape [1], which IF and WHILE take: ops_control.c. */
int condition_operand(struct mapper *m, const struct tflite_tensor *tensor);
/* An intermediate result that is not in the file: like @operand, with another shape. */
int temporary_operand(struct mapper *m, uint32_t like, const struct shape *shape);
/* An intermediate result of type TENSOR_FLOAT32. */
int float_operand(struct mapper *m, const struct shape *shape);
/* A one-dimensional TENSOR_INT32. */
int int32_vector_operand(struct mapper *m, const int32_t *values, uint32_t count);

/* Add an operation that comes from the operator being mapped. 0 or -1. */
int add_operation(struct mapper *m, uint32_t type, const int *inputs, uint32_t num_inputs,
		  int output);
int add_operation_outputs(struct mapper *m, uint32_t type, const int *inputs,
			  uint32_t num_inputs, const int *outputs, uint32_t num_outputs);
/* Add a RESHAPE of @input to @output, which has the shape @shape. 0 or -1. */
int add_reshape(struct mapper *m, int input, int output, const struct shape *shape);

/* Inputs of an operation being collected; an operand that failed (-1) makes it fail. */
struct inputs {
	int list[64];
	uint32_t count;
	bool failed;
};

void put(struct inputs *in, int operand);
void put_int32(struct mapper *m, struct inputs *in, int32_t value);
void put_float32(struct mapper *m, struct inputs *in, float value);
/* The type of float tensors beside input 0: float16 beside a float16. */
uint32_t real_type(struct mapper *m);
/* A FLOAT16 beside a float16 as input 0, as the HAL wants it, and a FLOAT32 otherwise. */
void put_real(struct mapper *m, struct inputs *in, float value);
void put_bool(struct mapper *m, struct inputs *in, bool value);
/* Input @pos of the operator. */
void put_input(struct mapper *m, struct inputs *in, uint32_t pos);
/* Add the operation with output 0 of the operator as its output. 0 or -1. */
int finish_operation(struct mapper *m, uint32_t type, const struct inputs *in);

/* TensorFlow Lite's fused activation in a slot of the options as the HAL's. 0 or -1. */
int fused_activation(struct mapper *m, unsigned int slot, int32_t *value);

/*
 * An operation of the extension org.nnpu.tflite: the inputs of the operator, the fields of
 * its options as the row of the table lists them, all outputs. map_extension.c. 0 or -1.
 */
int map_extension(struct mapper *m, const char *fields);

/* Map the operator m->op: map_operator.c. 0 or -1. */
int map_operator(struct mapper *m);

#endif /* NNTFLITE_MAP_MAPPER_H */
