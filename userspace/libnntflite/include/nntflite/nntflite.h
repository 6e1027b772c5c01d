/* SPDX-License-Identifier: MIT */
/*
 * TensorFlow Lite model files on devices of the neural-network HAL.
 *
 * A file (struct nntflite_file) is what a .tflite file says: subgraphs, operators, tensors,
 * signatures. A model (struct nntflite_model) is a HAL model made from one of its subgraphs,
 * to be given to nnhal_device_prepare_model().
 *
 * Operators become operations of the HAL 1.3 where the HAL has them, and operations of the
 * extension org.nnpu.tflite where it does not. The library computes none of them.
 *
 * Files and models do not change once they are made: any number of threads may use them at
 * the same time. Nothing here prints, aborts or keeps global state. Files may come from anywhere: a malformed one is refused.
 *
 * Functions that can fail return enum nnhal_status and leave their out-parameters as they
 * were. Where a struct nntflite_diag is taken, NULL is accepted.
 */
#ifndef NNTFLITE_H
#define NNTFLITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nnhal/nnhal.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Version of the library. */
#define NNTFLITE_VERSION_MAJOR	1
#define NNTFLITE_VERSION_MINOR	0
#define NNTFLITE_VERSION_PATCH	0

/* Largest file that is read, bytes. */
#define NNTFLITE_MAX_FILE	((size_t)1 << 30)

/* Largest rank of a tensor. */
#define NNTFLITE_MAX_RANK	8

/* No subgraph, operator or tensor: zero is a valid number of each. */
#define NNTFLITE_NONE		UINT32_MAX

/* Room for a message in struct nntflite_diag, the terminating NUL included. */
#define NNTFLITE_DIAG_SIZE	640

/**
 * struct nntflite_diag - why a call did not succeed
 * @message: one line for people, without newline; which operator and tensor, what was found
 *	and what was expected. The wording is not part of the interface
 * @errnum: errno value behind it, or 0
 * @subgraph: subgraph at fault, or NNTFLITE_NONE
 * @op: operator at fault in @subgraph, or NNTFLITE_NONE if the fault is not in one
 * @tensor: tensor at fault in @subgraph; if an operator is, the first that it computes, or
 *	reads if it computes none; or NNTFLITE_NONE
 *
 * Filled in by each call that takes one; after success @message is empty.
 */
struct nntflite_diag {
	char message[NNTFLITE_DIAG_SIZE];
	int errnum;
	uint32_t subgraph;
	uint32_t op;
	uint32_t tensor;
};

struct nntflite_file;
struct nntflite_model;

/**
 * nntflite_file_open() - read a .tflite file
 * @path: file, which has to be a regular one: a FIFO, a socket, a device or a directory is refused
 * @file: out: to be released with nntflite_file_close()
 * @diag: why not
 *
 * Return: NONE; INVALID_ARGUMENT if the file cannot be read or is no .tflite file of
 * schema version 3; RESOURCE_EXHAUSTED_TRANSIENT without memory, _PERSISTENT without a file
 * descriptor.
 */
enum nnhal_status nntflite_file_open(const char *path, struct nntflite_file **file,
				     struct nntflite_diag *diag);

/**
 * nntflite_file_open_memory() - read a .tflite file that is in memory
 * @data: bytes of the file. They must stay as they are until the file is closed and all
 *	models made from it are destroyed
 * @size: number of bytes
 * @file: out
 * @diag: why not
 *
 * Takes time and memory in proportion to @size, whatever the bytes are; copies no tensor.
 *
 * Return: as nntflite_file_open().
 */
enum nnhal_status nntflite_file_open_memory(const void *data, size_t size,
					    struct nntflite_file **file,
					    struct nntflite_diag *diag);

/**
 * nntflite_file_close() - release a file
 * @file: file, may be NULL. Models made from it must have been destroyed
 */
void nntflite_file_close(struct nntflite_file *file);

/**
 * struct nntflite_file_info - what a file is
 * @size: in: sizeof(struct nntflite_file_info)
 * @description: description, may be empty; lasts as long as the file
 * @bytes: size of the file
 * @num_subgraphs: number of subgraphs, at least 1
 * @num_operators: number of operators of subgraph 0
 * @num_tensors: number of tensors of subgraph 0
 * @num_signatures: number of signatures
 */
struct nntflite_file_info {
	size_t size;
	const char *description;
	uint64_t bytes;
	uint32_t num_subgraphs;
	uint32_t num_operators;
	uint32_t num_tensors;
	uint32_t num_signatures;
};

#define NNTFLITE_FILE_INFO_INIT	{ sizeof(struct nntflite_file_info), NULL, 0, 0, 0, 0, 0 }

/**
 * nntflite_file_get_info() - say what a file is
 * @file: file
 * @info: in: size; out: all else
 *
 * Any number of threads may call it for one file.
 *
 * Return: NONE, or INVALID_ARGUMENT for a NULL pointer or a structure of another version. @info
 * stays as it was then.
 */
enum nnhal_status nntflite_file_get_info(const struct nntflite_file *file,
					 struct nntflite_file_info *info);

/**
 * nntflite_file_signature() - name of a signature
 * @file: file
 * @index: below num_signatures
 *
 * Return: the signature's key, for example "serving_default"; NULL if there is none. The
 * text lasts as long as the file.
 */
const char *nntflite_file_signature(const struct nntflite_file *file, uint32_t index);

/**
 * nntflite_operator_name() - name of a builtin operator of the schema
 * @code: BuiltinOperator
 *
 * Return: for example "CONV_2D"; NULL for numbers that the schema does not have.
 */
const char *nntflite_operator_name(int32_t code);

/**
 * nntflite_type_name() - name of a type of tensors
 * @type: TensorType of the schema
 *
 * Return: for example "float32"; NULL for numbers that the schema does not have.
 */
const char *nntflite_type_name(int type);

/**
 * struct nntflite_shape - the shape that an input shall have
 * @input: name of the input, as in the signature or of the tensor, or its number in decimal
 * @rank: number of dimensions
 * @dims: sizes, each above 0
 */
struct nntflite_shape {
	const char *input;
	uint32_t rank;
	uint32_t dims[NNTFLITE_MAX_RANK];
};

/**
 * struct nntflite_model_options - how to make a model of a file
 * @size: in: sizeof(struct nntflite_model_options)
 * @signature: key of the signature to make the model of; NULL for the main subgraph
 * @num_shapes: entries of @shapes
 * @shapes: shapes of inputs that differ from those in the file
 */
struct nntflite_model_options {
	size_t size;
	const char *signature;
	uint32_t num_shapes;
	const struct nntflite_shape *shapes;
};

#define NNTFLITE_MODEL_OPTIONS_INIT { sizeof(struct nntflite_model_options), NULL, 0, NULL }

/**
 * nntflite_model_create() - make a HAL model of a file
 * @file: file, which must outlive the model
 * @options: options, or NULL for the main subgraph with the shapes of the file
 * @model: out: to be released with nntflite_model_destroy()
 * @diag: names the operator and the tensor that cannot be mapped
 *
 * Whether a device takes the operations is the device's to say; what is refused here is
 * what neither the HAL nor the extension has words for.
 *
 * Return: NONE; INVALID_ARGUMENT; RESOURCE_EXHAUSTED_TRANSIENT without memory, _PERSISTENT
 * without a file descriptor for that of the constants.
 */
enum nnhal_status nntflite_model_create(const struct nntflite_file *file,
					const struct nntflite_model_options *options,
					struct nntflite_model **model,
					struct nntflite_diag *diag);

/**
 * nntflite_model_destroy() - release a model
 * @model: model, may be NULL. No other thread may use it, and sessions of it must have been destroyed
 *
 * The HAL model goes with it, and so does what nntflite_model_input() and the like returned. Models
 * that devices prepared from it stay.
 */
void nntflite_model_destroy(struct nntflite_model *model);

/**
 * nntflite_model_get_hal() - the HAL model
 * @model: model
 *
 * Its main subgraph has first the inputs of the file, then the variables; first the outputs
 * of the file, then the new values of the variables (struct nntflite_variable).
 *
 * Return: a model that lasts as long as @model.
 */
const struct nnhal_model *nntflite_model_get_hal(const struct nntflite_model *model);

/**
 * struct nntflite_io - an input or output of a model
 * @name: name in the signature, else that of the tensor; may be empty
 * @tensor: tensor of the file
 * @tflite_type: TensorType of the schema
 * @type: enum nnhal_operand_type
 * @rank: number of dimensions, at least 1: a scalar has one dimension of size 1. 0 if
 *	the rank of an output depends on values
 * @dims: sizes; 0 for one that depends on values
 * @elements: product of @dims
 * @bytes: bytes of the tensor; 0 if a size depends on values
 * @scale: quantization scale, 0 if the type has none or the tensor one per channel
 * @zero_point: quantization zero point
 */
struct nntflite_io {
	const char *name;
	uint32_t tensor;
	int tflite_type;
	uint32_t type;
	uint32_t rank;
	uint32_t dims[NNTFLITE_MAX_RANK];
	size_t elements;
	size_t bytes;
	float scale;
	int32_t zero_point;
};

/**
 * nntflite_model_num_inputs() - number of inputs of the file
 * @model: model
 *
 * Variables are not among them, though they are inputs of the HAL model.
 *
 * Return: number of inputs, may be 0.
 */
uint32_t nntflite_model_num_inputs(const struct nntflite_model *model);

/**
 * nntflite_model_num_outputs() - number of outputs of the file
 * @model: model
 *
 * Return: number of outputs without the new values of variables.
 */
uint32_t nntflite_model_num_outputs(const struct nntflite_model *model);

/**
 * nntflite_model_input() - an input
 * @model: model
 * @index: input, in the order of the subgraph that the model is made of
 *
 * Return: the input, which is the model's and lasts as long as @model; NULL if there is no such
 * input.
 */
const struct nntflite_io *nntflite_model_input(const struct nntflite_model *model,
					       uint32_t index);

/**
 * nntflite_model_output() - an output
 * @model: model
 * @index: output, in the order of the subgraph that the model is made of
 *
 * Return: the output, which is the model's and lasts as long as @model; NULL if there is no such
 * output.
 */
const struct nntflite_io *nntflite_model_output(const struct nntflite_model *model,
						uint32_t index);

/**
 * nntflite_model_find_input() - the input of a name
 * @model: model
 * @name: name in the signature that the model is made of or in another one of its subgraph, name of the
 *	tensor, or number of the input in decimal
 *
 * Return: index of the input; NNTFLITE_NONE if there is none.
 */
uint32_t nntflite_model_find_input(const struct nntflite_model *model, const char *name);

/**
 * nntflite_model_input_open() - the dimensions of an input whose sizes the file leaves open
 * @model: model
 * @index: input
 *
 * Their sizes in the file may be placeholders, which hold unless the caller gives the input a shape.
 *
 * Return: a bit for each such dimension; 0 also if there is no such input.
 */
uint32_t nntflite_model_input_open(const struct nntflite_model *model, uint32_t index);

/**
 * nntflite_model_find_output() - the output of a name
 * @model: model
 * @name: as for nntflite_model_find_input()
 *
 * Return: index of the output; NNTFLITE_NONE if there is none.
 */
uint32_t nntflite_model_find_output(const struct nntflite_model *model, const char *name);

/**
 * struct nntflite_variable - a value that is kept from one inference to the next
 * @name: name of the tensor or of the resource
 * @type: enum nnhal_operand_type
 * @rank: number of dimensions
 * @dims: sizes
 * @bytes: bytes
 * @initial: the value before the first inference, @bytes long; NULL for bytes of zero
 * @initializer: output of the initializer that is the value before the first inference;
 *	NNTFLITE_NONE if @initial is
 * @input: index among the inputs of the HAL model
 * @output: index among the outputs of the HAL model; NNTFLITE_NONE if it is never written
 */
struct nntflite_variable {
	const char *name;
	uint32_t type;
	uint32_t rank;
	uint32_t dims[NNTFLITE_MAX_RANK];
	size_t bytes;
	const void *initial;
	uint32_t initializer;
	uint32_t input;
	uint32_t output;
};

/**
 * nntflite_model_num_variables() - number of variables
 * @model: model
 *
 * Return: number of variables, 0 for a model without state.
 */
uint32_t nntflite_model_num_variables(const struct nntflite_model *model);

/**
 * nntflite_model_variable() - a variable
 * @model: model
 * @index: variable, in the order of the inputs of the HAL model
 *
 * Return: the variable, which is the model's and lasts as long as @model, with the bytes of
 * its initial value; NULL if there is no such variable.
 */
const struct nntflite_variable *nntflite_model_variable(const struct nntflite_model *model,
							uint32_t index);

/**
 * nntflite_model_get_initializer() - the model that computes initial values of variables
 * @model: model
 *
 * It is to be run once before @model is; sessions do that. Its one input, a byte, is there since the
 * HAL wants one: nothing reads it.
 *
 * Return: a HAL model that lasts as long as @model; NULL if nothing is to be computed.
 */
const struct nnhal_model *nntflite_model_get_initializer(const struct nntflite_model *model);

/* Room for a name in struct nntflite_origin, the terminating NUL included. */
#define NNTFLITE_NAME_SIZE	80

/**
 * struct nntflite_origin - where an operation of the HAL model comes from
 * @op: operator of the subgraph that the model is made of, NNTFLITE_NONE if none
 * @name: name of the operator; "" if none
 * @tensor: name of the tensor that the operation computes; "" if it is not in the file.
 *	Long names end in "..."
 */
struct nntflite_origin {
	uint32_t op;
	char name[NNTFLITE_NAME_SIZE];
	char tensor[NNTFLITE_NAME_SIZE];
};

/**
 * nntflite_model_origin() - where an operation of the main subgraph comes from
 * @model: model
 * @operation: index of the operation
 * @origin: out
 *
 * Return: NONE, or INVALID_ARGUMENT if there is no such operation.
 */
enum nnhal_status nntflite_model_origin(const struct nntflite_model *model, uint32_t operation,
					struct nntflite_origin *origin);

/**
 * nntflite_model_explain() - what HAL or device find fault with, in terms of the file
 * @model: model
 * @why: message of a call that validated, prepared or executed nntflite_model_get_hal()
 * @diag: out: the same message, behind the operator and the tensor of the file that it is about
 *
 * Return: NONE, or INVALID_ARGUMENT for a NULL pointer. @diag is filled in with either.
 */
enum nnhal_status nntflite_model_explain(const struct nntflite_model *model,
					 const struct nnhal_diag *why,
					 struct nntflite_diag *diag);

/**
 * struct nntflite_verdict - whether an operator can run
 * @subgraph: subgraph
 * @op: operator
 * @name: name of the operator; that of a custom operator is the author's
 * @supported: whether it can run
 * @reason: why not; else empty
 */
struct nntflite_verdict {
	uint32_t subgraph;
	uint32_t op;
	const char *name;
	bool supported;
	const char *reason;
};

/**
 * nntflite_file_judge() - say of each operator whether it can run
 * @file: file
 * @options: as for nntflite_model_create()
 * @device: device that shall run it; NULL for any
 * @verdict: called for each operator in the order of the file; the texts last until it
 *	returns
 * @context: passed to @verdict
 * @diag: why the file cannot be judged
 *
 * Unlike nntflite_model_create() this does not end at the first operator that cannot run.
 *
 * Return: NONE if all operators were judged, whatever the verdicts; as
 * nntflite_model_create(). Where the device cannot judge, the verdicts come without its own, and
 * what nnhal_ext_get_operation_support() returned follows with the reason: INVALID_ARGUMENT if the
 * operators can be mapped but do not fit together.
 */
enum nnhal_status nntflite_file_judge(const struct nntflite_file *file,
				      const struct nntflite_model_options *options,
				      struct nnhal_device *device,
				      void (*verdict)(void *context,
						      const struct nntflite_verdict *verdict),
				      void *context, struct nntflite_diag *diag);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNTFLITE_H */
