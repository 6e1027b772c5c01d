// SPDX-License-Identifier: MIT
/*
 * Elements that move: RESHAPE, SQUEEZE, EXPAND_DIMS, BITCAST, TRANSPOSE, REVERSE_V2,
 * REVERSE_SEQUENCE, TILE, BROADCAST_TO, BROADCAST_ARGS, CONCATENATION, PACK.
 */
#include "tflite_case.h"

const struct tflite_case tflite_move_cases[] = {
	/* RESHAPE */
	TFLITE_GIVES(22, "i64[2,3]{1,2,3,4,5,6} i32[2]{3,2} > i64[3,2]{1,2,3,4,5,6}"),
	TFLITE_GIVES(22, "c64[2]{1,2,3,4} i64[3]{1,-1,1} > c64[1,2,1]{1,2,3,4}"),
	TFLITE_GIVES(22, "i16@0.5[1]{-7} i32[0] > i16@0.5[1]{-7}"),
	TFLITE_GIVES(22, "u32[0,4] i32[2]{0,7} > u32[0,7]"),
	TFLITE_REFUSED(22, "i64[2,3]{1} =i32[2]{4,2} > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(22, "i64[2,3]{1} =i32[2]{-1,-1} > i64", VALUE, 1),
	TFLITE_REFUSED(22, "i64[2,3]{1} =i32[2]{-1,4} > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(22, "i64[2,3]{1} i32[9]{1} > i64", RANK, 1),
	TFLITE_REFUSED(22, "i64[2,3]{1} i32[2]{3,2} > u64", TYPE, 2),
	TFLITE_REFUSED(22, "i8@0.5+1[2]{1} i32[1]{2} > i8@0.5+2", QUANT_MISMATCH, 2),
	/* SQUEEZE, EXPAND_DIMS */
	TFLITE_GIVES(43, "i64[1,2,1]{5,6} i32[1]{-1} > i64[1,2]{5,6}"),
	TFLITE_GIVES(43, "bool[1,2,1]{0,1} -i32 > bool[2]{0,1}"),
	TFLITE_GIVES(43, "f64[1,1]{0.5} -i32 > f64[1]{0.5}"),
	TFLITE_REFUSED(43, "i64[1,2,1]{5} =i32[1]{1} > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(43, "i64[1,2,1]{5} =i32[1]{3} > i64", VALUE, 1),
	TFLITE_GIVES(70, "i64[2]{5,6} i32[1]{-1} > i64[2,1]{5,6}"),
	TFLITE_GIVES(70, "u16[2]{5,6} i64[1]{0} > u16[1,2]{5,6}"),
	TFLITE_REFUSED(70, "i64[2]{5} =i32[1]{2} > i64", VALUE, 1),
	TFLITE_REFUSED(70, "i64[1,1,1,1,1,1,1,1]{5} i32[1]{0} > i64", RANK, 0),
	TFLITE_REFUSED(70, "i64[2]{5} i32[2]{0} > i64", DIMENSION, 1),
	/* BITCAST: 1.0f is 0x3f800000. */
	TFLITE_GIVES(159, "f32[2]{1,-1} > u32[2]{0x3f800000,0xbf800000}"),
	TFLITE_GIVES(159, "f32[1]{1} > u8[1,4]{0,0,0x80,0x3f}"),
	TFLITE_GIVES(159, "i16[2,2]{1,2,3,-1} > i32[2]{0x20001,-65533}"),
	TFLITE_GIVES(159, "i32[2]{1,2} > i64[1]{0x200000001}"),
	TFLITE_REFUSED(159, "i16[2,3]{1} > i32", DIMENSION, 0),
	TFLITE_REFUSED(159, "i64[1,1,1,1,1,1,1,1]{5} > i32", RANK, 0),
	/* TRANSPOSE */
	TFLITE_GIVES(39, "i64[2,3]{1,2,3,4,5,6} i32[2]{1,0} > i64[3,2]{1,4,2,5,3,6}"),
	TFLITE_GIVES(39, "i16[2,1,3]{1,2,3,4,5,6} i32[3]{-1,0,1} > i16[3,2,1]{1,4,2,5,3,6}"),
	TFLITE_GIVES(39, "u8[1,2,1,1,2,1]{1,2,3,4} i32[6]{5,4,3,2,1,0} > u8[1,2,1,1,2,1]{1,3,2,4}"),
	TFLITE_REFUSED(39, "i64[2,3]{1} =i32[2]{1,1} > i64", VALUE, 1),
	TFLITE_REFUSED(39, "i64[2,3]{1} =i32[2]{1,2} > i64", VALUE, 1),
	TFLITE_REFUSED(39, "i64[2,3]{1} i32[3]{0} > i64", DIMENSION, 1),
	/* REVERSE_V2 */
	TFLITE_GIVES(105, "f32[2,3]{1,2,3,4,5,6} i32[1]{1} > f32[2,3]{3,2,1,6,5,4}"),
	TFLITE_GIVES(105, "i64[2,3]{1,2,3,4,5,6} i32[2]{0,-1} > i64[2,3]{6,5,4,3,2,1}"),
	TFLITE_GIVES(105, "u8[2,2]{1,2,3,4} i32[1]{0} > u8[2,2]{3,4,1,2}"),
	TFLITE_GIVES(105, "u8[0,2] i32[1]{0} > u8[0,2]"),
	TFLITE_REFUSED(105, "u8[2,2]{1} =i32[1]{2} > u8", VALUE, 1),
	TFLITE_REFUSED(105, "u8[2,2]{1} =i32[2]{0,-2} > u8", VALUE, 1),
	/* REVERSE_SEQUENCE */
	TFLITE_GIVES(112, "i32[2,4]{1,2,3,4,5,6,7,8} i32[2]{3,0} #1 #0"
			  " > i32[2,4]{3,2,1,4,5,6,7,8}"),
	TFLITE_GIVES(112, "i64[3,2]{1,2,3,4,5,6} i64[2]{2,3} #0 #1 > i64[3,2]{3,6,1,4,5,2}"),
	TFLITE_GIVES(112, "u8[2,2,2]{1,2,3,4,5,6,7,8} i32[2]{1,2} #1 #0"
			  " > u8[2,2,2]{1,2,3,4,7,8,5,6}"),
	TFLITE_REFUSED(112, "i32[2,4]{1} i32[2]{3,5} #1 #0 > i32", VALUE, 1),
	TFLITE_REFUSED(112, "i32[2,4]{1} i32[3]{3} #1 #0 > i32", DIMENSION, 1),
	TFLITE_REFUSED(112, "i32[2,4]{1} i32[2]{3} #1 #1 > i32", VALUE, 3),
	TFLITE_REFUSED(112, "i32[2,4]{1} i32[2]{3} #2 #0 > i32", VALUE, 2),
	/* TILE */
	TFLITE_GIVES(69, "i64[2]{1,2} i32[1]{3} > i64[6]{1,2,1,2,1,2}"),
	TFLITE_GIVES(69, "bool[1,2]{0,1} i64[2]{2,1} > bool[2,2]{0,1,0,1}"),
	TFLITE_GIVES(69, "f64[2]{1,2} i32[1]{0} > f64[0]"),
	TFLITE_REFUSED(69, "i64[2]{1} =i32[1]{-1} > i64", VALUE, 1),
	TFLITE_REFUSED(69, "i64[2]{1} =i32[1]{0x7fffffff} =i32[1]{1} > i64", OPERAND_COUNT,
		       NNPU_OPERAND_NONE),
	TFLITE_REFUSED(69, "i64[4]{1} =i32[1]{0x7fffffff} > i64", OVERFLOW, 1),
	/* BROADCAST_TO, BROADCAST_ARGS */
	TFLITE_GIVES(130, "i64[2,1]{1,2} i32[3]{2,2,3} > i64[2,2,3]{1,1,1,2,2,2,1,1,1,2,2,2}"),
	TFLITE_GIVES(130, "f32[1]{0.5} i64[2]{2,2} > f32[2,2]{0.5}"),
	TFLITE_GIVES(130, "i8[3]{1,2,3} i32[2]{2,3} > i8[2,3]{1,2,3,1,2,3}"),
	TFLITE_GIVES(130, "i8[1,3]{1} i32[2]{0,3} > i8[0,3]"),
	TFLITE_REFUSED(130, "i8[3]{1} =i32[2]{3,2} > i8", SHAPE_MISMATCH, 0),
	TFLITE_REFUSED(130, "i8[1,3]{1} =i32[1]{3} > i8", RANK, 0),
	TFLITE_REFUSED(130, "i8[1,3]{1} =i32[2]{-1,3} > i8", VALUE, 1),
	TFLITE_GIVES(145, "i32[3]{2,1,3} i32[2]{4,1} > i32[3]{2,4,3}"),
	TFLITE_GIVES(145, "i64[1]{1} i64[2]{0,5} > i64[2]{0,5}"),
	TFLITE_REFUSED(145, "i32[2]{2,3} i32[2]{2,4} > i32", VALUE, 1),
	TFLITE_REFUSED(145, "i32[2]{2,3} i64[2]{2,3} > i32", TYPE, 1),
	/* CONCATENATION */
	TFLITE_GIVES(2, "i64[1,2]{1,2} i64[2,2]{3,4,5,6} #0 #0 > i64[3,2]{1,2,3,4,5,6}"),
	TFLITE_GIVES(2, "i16[2,1]{1,2} i16[2,2]{3,4,5,6} i16[2,1]{7,8} #-1 #0"
			" > i16[2,4]{1,3,4,7,2,5,6,8}"),
	TFLITE_GIVES(2, "bool[2]{1} #0 #0 > bool[2]{1}"),
	TFLITE_GIVES(2, "u32[0] u32[2]{1,2} u32[0] #0 #0 > u32[2]{1,2}"),
	TFLITE_GIVES(2, "20*i32[1]{7} #0 #0 > i32[20]{7}"),
	TFLITE_REFUSED(2, "i64[1,2]{1} i64[2,3]{3} #0 #0 > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(2, "i64[1,2]{1} i64[2]{3} #0 #0 > i64", RANK, 1),
	TFLITE_REFUSED(2, "i64[1,2]{1} i32[2,2]{3} #0 #0 > i64", TYPE, 1),
	TFLITE_REFUSED(2, "i64[1,2]{1} i64[1,2]{3} #2 #0 > i64", VALUE, 2),
	TFLITE_REFUSED(2, "i64[1,2]{1} i64[1,2]{3} #0 #1 > i64", VALUE, 3),
	TFLITE_REFUSED(2, "#0 #0 > i64", OPERAND_COUNT, NNPU_OPERAND_NONE),
	TFLITE_REFUSED(2, "i64[1,2]{1} -i64 #0 #0 > i64", OMITTED, 1),
	TFLITE_REFUSED(2, "i8@0.5+1[1]{1} i8@0.5[1]{3} #0 #0 > i8@0.5+1", QUANT_MISMATCH, 1),
	/* PACK */
	TFLITE_GIVES(83, "i64[2]{1,2} i64[2]{3,4} #2 #0 > i64[2,2]{1,2,3,4}"),
	TFLITE_GIVES(83, "i64[2]{1,2} i64[2]{3,4} #2 #1 > i64[2,2]{1,3,2,4}"),
	TFLITE_GIVES(83, "u8[1,2]{1,2} u8[1,2]{3,4} u8[1,2]{5,6} #3 #-1"
			 " > u8[1,2,3]{1,3,5,2,4,6}"),
	TFLITE_REFUSED(83, "i64[2]{1} i64[3]{3} #2 #0 > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(83, "i64[2]{1} i64[2]{3} #3 #0 > i64", VALUE, 2),
	TFLITE_REFUSED(83, "i64[2]{1} i64[2]{3} #2 #2 > i64", VALUE, 3),
	TFLITE_REFUSED(83, "i64[1,1,1,1,1,1,1,1]{5} #1 #0 > i64", RANK, 0),
	TFLITE_END
};
