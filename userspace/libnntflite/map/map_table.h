/* SPDX-License-Identifier: MIT */
/*
 * The table of builtin operators.
 */
#ifndef NNTFLITE_MAP_MAP_TABLE_H
#define NNTFLITE_MAP_MAP_TABLE_H

#include "mapper.h"

/**
 * struct op_row - how an operator is mapped
 * @map: maps it to the HAL; NULL if the HAL does not have it
 * @hal: enum nnhal_operation_type, passed to @map
 * @types: for which types of input @type_input @map serves, a bit each; 0 for all
 * @type_input: the deciding input
 * @min_inputs: least number of inputs
 * @max_inputs: largest number of inputs
 * @min_outputs: least number of outputs
 * @max_outputs: largest number of outputs
 * @options: BuiltinOptions of the schema; 0 if the operator needs none
 * @options_2: BuiltinOptions2, where the operator has its options there
 * @any_rank: the operation of the HAL takes more than four dimensions, or @map makes fewer of them
 * @needs_options: the file must have them
 * @fields: what the operation of the extension takes after the inputs: a letter per field of
 *	the options in schema order, i for int, e for an enumeration of one byte, b for bool, f
 *	for float, followed by the default as a digit if it is not 0, and . for a field that
 *	is not passed. x and y stand for the types of the first input and output, which files
 *	leave out of the options. NULL if the extension does not have the operation
 * @how: what the row's function makes of it, in words; NULL if that is the operation @hal
 *
 * A row of zeros is an operator that is left out, or that is the same as another one.
 */
struct op_row {
	int (*map)(struct mapper *m, uint32_t type);
	uint32_t hal;
	uint32_t types;
	uint8_t type_input;
	uint16_t min_inputs;
	uint16_t max_inputs;
	uint16_t min_outputs;
	uint16_t max_outputs;
	uint8_t options;
	uint8_t options_2;
	bool any_rank;
	bool needs_options;
	const char *fields;
	const char *how;
};

/* As many as there are. */
#define OP_ROW_MANY	65535

extern const struct op_row op_table[TFLITE_NUM_BUILTINS];

/* Why the operator @code has no row; also of a number that the schema does not have. */
const char *op_left_out(int32_t code);

/*
 * The operator whose row serves @code: @code itself, or, of an operator of StableHLO without
 * parameters, the one of TensorFlow Lite that computes the same.
 */
int32_t op_same_as(int32_t code);

#endif /* NNTFLITE_MAP_MAP_TABLE_H */
