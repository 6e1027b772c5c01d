// SPDX-License-Identifier: MIT
/*
 * SHAPE and RANK.
 */
#include "tflite_case.h"

const struct tflite_case tflite_shape_cases[] = {
	TFLITE_GIVES(77, "f32[2,3] #2 > i32[2]{2,3}"),
	TFLITE_GIVES(77, "c64[4,1,0,7] #4 > i64[4]{4,1,0,7}"),
	TFLITE_GIVES(77, "u16[1,2,3,4,5,6,7,1] #2 > i32[8]{1,2,3,4,5,6,7,1}"),
	TFLITE_REFUSED(77, "f32[2,3] =#4 > i32", VALUE, 1),
	TFLITE_REFUSED(77, "f32[2,3] #2 > i64", VALUE, 1),
	TFLITE_REFUSED(77, "f32[2,3] #2 > f32", TYPE, 2),
	TFLITE_REFUSED(77, "-f32[2,3] #2 > i32", OMITTED, 0),
	TFLITE_REFUSED(77, "f32[2,3] $2 > i32", TYPE, 1),
	TFLITE_REFUSED(77, "f32[2,3] > i32", OPERAND_COUNT, NNPU_OPERAND_NONE),
	TFLITE_REFUSED(77, "f32[2,3] #2 #2 > i32", OPERAND_COUNT, NNPU_OPERAND_NONE),
	TFLITE_REFUSED(77, "f32[2,3] #2 > i32 i32", OPERAND_COUNT, NNPU_OPERAND_NONE),
	TFLITE_REFUSED(77, "pc8[2,3] #2 > i32", TYPE, 0),
	TFLITE_GIVES(110, "i64[2,3,1] > i32[1]{3}"),
	TFLITE_GIVES(110, "bool[0] > i32[1]{1}"),
	TFLITE_REFUSED(110, "#3 > i32", TYPE, 0),
	TFLITE_REFUSED(110, "i64[2,3,1] > i64", TYPE, 1),
	TFLITE_END
};
