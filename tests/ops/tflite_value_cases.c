// SPDX-License-Identifier: MIT
/*
 * Tensors made of values, and what depends on values: FILL, ZEROS_LIKE, RANGE, ONE_HOT,
 * SPARSE_TO_DENSE, SELECT, SELECT_V2, WHERE, UNIQUE, MATRIX_DIAG, MATRIX_SET_DIAG, SEGMENT_SUM,
 * UNSORTED_SEGMENT_*.
 */
#include "tflite_case.h"

const struct tflite_case tflite_value_cases[] = {
	/* FILL, ZEROS_LIKE */
	TFLITE_GIVES(94, "i32[2]{2,2} i64[1]{-5} > i64[2,2]{-5}"),
	TFLITE_GIVES(94, "i64[1]{3} f16[1]{0x3c00} > f16[3]{0x3c00}"),
	TFLITE_GIVES(94, "i32[2]{2,0} bool[1]{1} > bool[2,0]"),
	TFLITE_GIVES(94, "i32[0] i8[1]{7} > i8[1]{7}"),
	TFLITE_REFUSED(94, "=i32[1]{-1} i8[1]{7} > i8", VALUE, 0),
	TFLITE_REFUSED(94, "i32[1]{1} i8[2]{7} > i8", DIMENSION, 1),
	TFLITE_REFUSED(94, "i32[1,1]{1} i8[1]{7} > i8", RANK, 0),
	TFLITE_GIVES(93, "i64[2]{1,2} > i64[2]{0}"),
	TFLITE_GIVES(93, "f32[1,2]{nan,1} > f32[1,2]{0}"),
	TFLITE_REFUSED(93, "i64[2]{1,2} > i32", TYPE, 1),
	/* RANGE */
	TFLITE_GIVES(96, "i32[1]{3} i32[1]{10} i32[1]{3} > i32[3]{3,6,9}"),
	TFLITE_GIVES(96, "i64[1]{5} i64[1]{0} i64[1]{-2} > i64[3]{5,3,1}"),
	TFLITE_GIVES(96, "f32[1]{0} f32[1]{1} f32[1]{0.375} > f32[3]{0,0.375,0.75}"),
	TFLITE_GIVES(96, "i32[1]{3} i32[1]{3} i32[1]{1} > i32[0]"),
	TFLITE_GIVES(96, "i64[1]{-9223372036854775808} i64[1]{9223372036854775807}"
			 " i64[1]{0x7000000000000000}"
			 " > i64[3]{-9223372036854775808,-1152921504606846976,6917529027641081856}"),
	TFLITE_REFUSED(96, "=i32[1]{3} =i32[1]{10} =i32[1]{0} > i32", VALUE, 2),
	TFLITE_REFUSED(96, "=i32[1]{3} =i32[1]{10} =i32[1]{-1} > i32", VALUE, 2),
	TFLITE_REFUSED(96, "=f32[1]{3} =f32[1]{10} =f32[1]{nan} > f32", VALUE, 2),
	TFLITE_REFUSED(96, "=f32[1]{0} =f32[1]{1e30} =f32[1]{1} > f32", OVERFLOW, 2),
	TFLITE_REFUSED(96, "=f32[1]{0} =f32[1]{inf} =f32[1]{inf} > f32", OVERFLOW, 2),
	TFLITE_REFUSED(96, "=i64[1]{0} =i64[1]{0x7000000000} =i64[1]{1} > i64", OVERFLOW, 2),
	TFLITE_REFUSED(96, "i32[2]{3} i32[1]{10} i32[1]{1} > i32", DIMENSION, 0),
	TFLITE_REFUSED(96, "i32[1]{3} i64[1]{10} i32[1]{1} > i32", TYPE, 1),
	/* ONE_HOT */
	TFLITE_GIVES(85, "i32[3]{1,0,5} i32[1]{2} f32[1]{1} f32[1]{-1} #-1"
			 " > f32[3,2]{-1,1,1,-1,-1,-1}"),
	TFLITE_GIVES(85, "i64[2]{1,-1} i32[1]{3} i64[1]{5} i64[1]{0} #0 > i64[3,2]{0,0,5,0,0,0}"),
	TFLITE_GIVES(85, "i32[1,2]{0,1} i32[1]{2} bool[1]{1} bool[1]{0} #1 > bool[1,2,2]{1,0,0,1}"),
	TFLITE_REFUSED(85, "i32[3]{1} =i32[1]{-2} f32[1]{1} f32[1]{0} #-1 > f32", VALUE, 1),
	TFLITE_REFUSED(85, "i32[3]{1} i32[1]{2} f32[1]{1} f32[1]{0} #2 > f32", VALUE, 4),
	TFLITE_REFUSED(85, "i32[3]{1} i32[1]{2} f32[2]{1} f32[1]{0} #-1 > f32", DIMENSION, 2),
	TFLITE_REFUSED(85, "i32[3]{1} i32[1]{2} f32[1]{1} i32[1]{0} #-1 > f32", TYPE, 3),
	/* SPARSE_TO_DENSE */
	TFLITE_GIVES(68, "i32[2,2]{0,1,1,0} i32[2]{2,2} f32[2]{5,6} f32[1]{-1} %1"
			 " > f32[2,2]{-1,5,6,-1}"),
	TFLITE_GIVES(68, "i64[2]{3,1} i64[1]{4} i64[1]{9} i64[1]{0} %0 > i64[4]{0,9,0,9}"),
	TFLITE_REFUSED(68, "i32[2]{4,1} i32[1]{4} i8[1]{9} i8[1]{0} %0 > i8", VALUE, 0),
	TFLITE_REFUSED(68, "i32[2]{0} =i32[2]{4,1} i8[1]{9} i8[1]{0} %0 > i8", SHAPE_MISMATCH, 0),
	TFLITE_REFUSED(68, "i32[3]{0} i32[1]{4} i8[2]{9} i8[1]{0} %0 > i8", SHAPE_MISMATCH, 2),
	TFLITE_REFUSED(68, "i32[2]{0} i32[1]{4} i8[1]{9} i8[2]{0} %0 > i8", DIMENSION, 3),
	/* SELECT */
	TFLITE_GIVES(64, "bool[2,2]{1,0,0,1} i64[2,2]{1,2,3,4} i64[2,2]{5,6,7,8}"
			 " > i64[2,2]{1,6,7,4}"),
	TFLITE_GIVES(64, "bool[2]{0,1} u8[2,2]{1,2,3,4} u8[2,2]{5,6,7,8} > u8[2,2]{5,6,3,4}"),
	TFLITE_GIVES(64, "bool[1]{1} i16[2,2]{1,2,3,4} i16[2,2]{5,6,7,8} > i16[2,2]{1,2,3,4}"),
	TFLITE_REFUSED(64, "bool[3]{0} u8[2,2]{1} u8[2,2]{5} > u8", SHAPE_MISMATCH, 0),
	TFLITE_REFUSED(64, "bool[2,2]{0} u8[2,2]{1} u8[2]{5} > u8", SHAPE_MISMATCH, 2),
	TFLITE_REFUSED(64, "u8[2,2]{0} u8[2,2]{1} u8[2,2]{5} > u8", TYPE, 0),
	/* SELECT_V2 */
	TFLITE_GIVES(123, "bool[2,1]{0,1} i64[1,2]{1,2} i64[1]{9} > i64[2,2]{9,9,1,2}"),
	TFLITE_GIVES(123, "bool[2]{0,1} f32[2,1,1]{1,2} f32[1,2,1]{5,6}"
			  " > f32[2,2,2]{5,1,6,1,5,2,6,2}"),
	TFLITE_GIVES(123, "bool[1]{0} i32[3]{1,2,3} i32[2,3]{4,5,6,7,8,9} > i32[2,3]{4,5,6,7,8,9}"),
	TFLITE_GIVES(123, "bool[0,2] u16[1]{1} u16[2]{2} > u16[0,2]"),
	TFLITE_REFUSED(123, "bool[3]{0} u8[2,2]{1} u8[1]{5} > u8", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(123, "bool[1]{0} u8[2,2]{1} u8[3]{5} > u8", SHAPE_MISMATCH, 2),
	TFLITE_REFUSED(123, "bool[1]{0} u8@0.5[2]{1} u8@0.25[2]{5} > u8@0.5", QUANT_MISMATCH, 2),
	/* WHERE */
	TFLITE_GIVES(109, "bool[2,3]{0,1,0,1,0,1} > i64[3,2]{0,1,1,0,1,2}"),
	TFLITE_GIVES(109, "f32[4]{0,-0.0,nan,1} > i64[2,1]{2,3}"),
	TFLITE_GIVES(109, "i64[2]{0,0x100000000} > i64[1,1]{1}"),
	TFLITE_GIVES(109, "u8[3]{0} > i64[0,1]"),
	TFLITE_REFUSED(109, "u8[3]{0} > i32", TYPE, 1),
	TFLITE_REFUSED(109, "f64[3]{0} > i64", TYPE, 0),
	/* UNIQUE */
	TFLITE_GIVES(103, "i32[6]{5,3,5,-1,3,5} #2 > i32[3]{5,3,-1} i32[6]{0,1,0,2,1,0}"),
	TFLITE_GIVES(103, "f32[4]{0,-0.0,2,2} #4 > f32[2]{0,2} i64[4]{0,0,1,1}"),
	TFLITE_GIVES(103, "i64[3]{1,0x100000001,1} #2 > i64[2]{1,0x100000001} i32[3]{0,1,0}"),
	TFLITE_GIVES(103, "u8[0] #2 > u8[0] i32[0]"),
	TFLITE_REFUSED(103, "i32[2]{1} =#2 > i32 i64", VALUE, 1),
	TFLITE_REFUSED(103, "i32[2,1]{1} #2 > i32 i32", RANK, 0),
	TFLITE_REFUSED(103, "f64[2]{1} #2 > f64 i32", TYPE, 0),
	/* MATRIX_DIAG, MATRIX_SET_DIAG */
	TFLITE_GIVES(113, "i64[2]{1,2} > i64[2,2]{1,0,0,2}"),
	TFLITE_GIVES(113, "u8[2,2]{1,2,3,4} > u8[2,2,2]{1,0,0,2,3,0,0,4}"),
	TFLITE_REFUSED(113, "i64[1,1,1,1,1,1,1,1]{5} > i64", RANK, 0),
	TFLITE_GIVES(115, "i64[2,3]{1,2,3,4,5,6} i64[2]{8,9} > i64[2,3]{8,2,3,4,9,6}"),
	TFLITE_GIVES(115, "f32[2,2,1]{1,2,3,4} f32[2,1]{8,9} > f32[2,2,1]{8,2,9,4}"),
	TFLITE_REFUSED(115, "i64[2,3]{1} i64[3]{8} > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(115, "i64[3]{1} i64[3]{8} > i64", RANK, 0),
	TFLITE_REFUSED(115, "i64[2,3]{1} i64[2,1]{8} > i64", RANK, 1),
	/* SEGMENT_SUM */
	TFLITE_GIVES(125, "f32[3,2]{1,2,3,4,5,6} i32[3]{0,0,1} > f32[2,2]{4,6,5,6}"),
	TFLITE_GIVES(125, "i32[3]{0x7fffffff,1,5} i32[3]{0,0,1} > i32[2]{-2147483648,5}"),
	TFLITE_GIVES(125, "i32[0,2] i32[0] > i32[0,2]"),
	TFLITE_REFUSED(125, "i32[3]{1} i32[3]{0,2,2} > i32", VALUE, 1),
	TFLITE_REFUSED(125, "i32[3]{1} i32[3]{1,1,2} > i32", VALUE, 1),
	TFLITE_REFUSED(125, "i32[3]{1} i32[3]{0,1,0} > i32", VALUE, 1),
	TFLITE_REFUSED(125, "i32[3]{1} =i32[3]{0,1,-1} > i32", VALUE, 1),
	TFLITE_REFUSED(125, "i32[3]{1} i32[2]{0} > i32", SHAPE_MISMATCH, 1),
	/* UNSORTED_SEGMENT_PROD, _MAX, _SUM, _MIN */
	TFLITE_GIVES(153, "i32[4]{2,3,4,5} i32[4]{2,0,2,-1} i32[1]{3} > i32[3]{3,1,8}"),
	TFLITE_GIVES(153, "f32[2,2]{1,2,3,4} i32[2]{0,0} i32[1]{1} > f32[1,2]{3,8}"),
	TFLITE_GIVES(154, "i32[3]{2,-3,4} i32[3]{1,1,1} i32[1]{2} > i32[2]{-2147483648,4}"),
	TFLITE_GIVES(154, "f32[3]{2,-3,4} i32[3]{1,0,1} i32[1]{3}"
			  " > f32[3]{-3,4,-0x1.fffffep127}"),
	TFLITE_GIVES(155, "i32[2,2]{1,2,3,4} i32[2,2]{1,1,0,1} i32[1]{2} > i32[2]{3,7}"),
	TFLITE_GIVES(155, "f32[3]{2,-3,4} i32[3]{1,1,0} i32[1]{3} > f32[3]{4,-1,0}"),
	TFLITE_GIVES(157, "i32[3]{2,-3,4} i32[3]{1,1,1} i32[1]{2} > i32[2]{0x7fffffff,-3}"),
	TFLITE_GIVES(157, "f32[3]{2,-3,4} i32[3]{0,0,0} i32[1]{1} > f32[1]{-3}"),
	TFLITE_REFUSED(155, "i32[3]{1} i32[3]{0,1,2} i32[1]{2} > i32", VALUE, 1),
	TFLITE_REFUSED(155, "i32[3]{1} i32[3]{0,1,2} =i32[1]{-2} > i32", VALUE, 2),
	TFLITE_REFUSED(155, "i32[3]{1} i32[2]{0} i32[1]{2} > i32", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(155, "i32[3]{1} i32[3,1]{0} i32[1]{2} > i32", RANK, 1),
	TFLITE_REFUSED(155, "i64[3]{1} i32[3]{0} i32[1]{2} > i64", TYPE, 0),
	TFLITE_END
};
