// SPDX-License-Identifier: MIT
/*
 * Why operators of the schema are left out.
 */
#include "map_table.h"

static const char no_kernel[] = "no runtime of TensorFlow Lite computes it";
static const char runtime_only[] = "it belongs to a runtime, not to a model";
static const char strings[] = "it works on strings, and the HAL has no tensors of them";
static const char hash_table[] = "a hash table is no tensor, and the HAL has nothing else";
static const char random[] = "it gives other numbers each time, and a device the same ones";
static const char parameters[] = "its parameters say more than those of any operation of the HAL"
				 " and of org.nnpu.tflite";
static const char subgraphs[] = "neither the HAL nor org.nnpu.tflite has an operation that runs a"
				" subgraph for each element";
static const char no_operation[] = "neither the HAL nor org.nnpu.tflite has such an operation";

static const char *const reasons[TFLITE_NUM_BUILTINS] = {
	[TFLITE_CONCAT_EMBEDDINGS] = no_kernel,
	[TFLITE_SKIP_GRAM] = strings,
	[TFLITE_DELEGATE] = runtime_only,
	[TFLITE_PLACEHOLDER_FOR_GREATER_OP_CODES] = "it is no operator: larger numbers are in"
						    " another field of the file",
	[TFLITE_HASHTABLE] = hash_table,
	[TFLITE_HASHTABLE_FIND] = hash_table,
	[TFLITE_HASHTABLE_IMPORT] = hash_table,
	[TFLITE_HASHTABLE_SIZE] = hash_table,
	[TFLITE_RANDOM_STANDARD_NORMAL] = random,
	[TFLITE_RANDOM_UNIFORM] = random,
	[TFLITE_MULTINOMIAL] = random,
	[TFLITE_REDUCE_WINDOW] = no_operation,

	/* The sign is that of the dividend; FLOOR_MOD has that of the divisor. */
	[TFLITE_STABLEHLO_REMAINDER] = no_operation,
	[TFLITE_STABLEHLO_SHIFT_LEFT] = no_operation,
	[TFLITE_STABLEHLO_CBRT] = no_operation,
	[TFLITE_STABLEHLO_CONVOLUTION] = parameters,
	[TFLITE_STABLEHLO_CUSTOM_CALL] = "what it calls is known to its compiler only",
	[TFLITE_STABLEHLO_SCATTER] = subgraphs,
	[TFLITE_STABLEHLO_REDUCE_WINDOW] = subgraphs,
	[TFLITE_STABLEHLO_SORT] = subgraphs,
	[TFLITE_STABLEHLO_GATHER] = parameters,
	[TFLITE_STABLEHLO_RNG_BIT_GENERATOR] = random,
};

const char *op_left_out(int32_t code)
{
	if (code < 0 || code >= TFLITE_NUM_BUILTINS)
		return "the schema, as it is known here, has no such number";
	return reasons[code] ? reasons[code] : "nobody has mapped it yet";
}
