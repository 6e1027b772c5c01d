// SPDX-License-Identifier: MIT
/*
 * Operators of StableHLO that compute what an operator of TensorFlow Lite computes. Those with
 * parameters have rows of their own.
 *
 * They have no parameters: the options of the other operator are absent, and its defaults
 * hold (no activation, a shape or type that is that of the result).
 */
#include "map_table.h"

int32_t op_same_as(int32_t code)
{
	switch (code) {
	case TFLITE_STABLEHLO_LOGISTIC:
		return TFLITE_LOGISTIC;
	case TFLITE_STABLEHLO_ADD:
		return TFLITE_ADD;
	case TFLITE_STABLEHLO_DIVIDE:
		return TFLITE_DIV;
	case TFLITE_STABLEHLO_MULTIPLY:
		return TFLITE_MUL;
	case TFLITE_STABLEHLO_MAXIMUM:
		return TFLITE_MAXIMUM;
	case TFLITE_STABLEHLO_RESHAPE:
		return TFLITE_RESHAPE;
	case TFLITE_STABLEHLO_ABS:
		return TFLITE_ABS;
	case TFLITE_STABLEHLO_AND:
		return TFLITE_LOGICAL_AND;
	case TFLITE_STABLEHLO_COSINE:
		return TFLITE_COS;
	case TFLITE_STABLEHLO_EXPONENTIAL:
		return TFLITE_EXP;
	case TFLITE_STABLEHLO_FLOOR:
		return TFLITE_FLOOR;
	case TFLITE_STABLEHLO_LOG:
		return TFLITE_LOG;
	case TFLITE_STABLEHLO_MINIMUM:
		return TFLITE_MINIMUM;
	case TFLITE_STABLEHLO_NEGATE:
		return TFLITE_NEG;
	case TFLITE_STABLEHLO_OR:
		return TFLITE_LOGICAL_OR;
	case TFLITE_STABLEHLO_POWER:
		return TFLITE_POW;
	case TFLITE_STABLEHLO_RSQRT:
		return TFLITE_RSQRT;
	case TFLITE_STABLEHLO_SELECT:
		return TFLITE_SELECT_V2;
	case TFLITE_STABLEHLO_SUBTRACT:
		return TFLITE_SUB;
	case TFLITE_STABLEHLO_TANH:
		return TFLITE_TANH;
	case TFLITE_STABLEHLO_CONVERT:
		return TFLITE_CAST;
	default:
		return code;
	}
}
