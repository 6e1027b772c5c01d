// SPDX-License-Identifier: MIT
/*
 * Parts of tensors: SLICE, STRIDED_SLICE, SPLIT, SPLIT_V, UNPACK, GATHER, GATHER_ND, SCATTER_ND,
 * PAD, PADV2, MIRROR_PAD, DYNAMIC_UPDATE_SLICE.
 */
#include "tflite_case.h"

#define MATRIX	"i64[3,4]{0,1,2,3,10,11,12,13,20,21,22,23} "

const struct tflite_case tflite_part_cases[] = {
	/* SLICE */
	TFLITE_GIVES(65, MATRIX "i32[2]{1,2} i32[2]{2,-1} > i64[2,2]{12,13,22,23}"),
	TFLITE_GIVES(65, "bool[4]{0,1,1,0} i64[1]{1} i64[1]{3} > bool[3]{1,1,0}"),
	TFLITE_GIVES(65, "u8[4]{0} i64[1]{4} i64[1]{-1} > u8[0]"),
	TFLITE_REFUSED(65, MATRIX "=i32[2]{1,5} =i32[2]{1,-1} > i64", VALUE, 1),
	TFLITE_REFUSED(65, MATRIX "=i32[2]{1,2} =i32[2]{1,3} > i64", VALUE, 2),
	TFLITE_REFUSED(65, MATRIX "i32[1]{1} i32[2]{1} > i64", DIMENSION, 1),
	/* STRIDED_SLICE: begin end strides, begin_mask end_mask ellipsis new_axis shrink, offset */
	TFLITE_GIVES(45, MATRIX "i32[2]{0,1} i32[2]{3,4} i32[2]{2,2} #0 #0 #0 #0 #0 %0"
			 " > i64[2,2]{1,3,21,23}"),
	TFLITE_GIVES(45, MATRIX "i32[2]{-1,-1} i32[2]{0,0} i32[2]{-1,-2} #0 #2 #0 #0 #0 %0"
			 " > i64[2,2]{23,21,13,11}"),
	TFLITE_GIVES(45, MATRIX "i32[2]{5,5} i32[2]{9,9} i32[2]{1,1} #3 #3 #0 #0 #0 %0 > " MATRIX),
	TFLITE_GIVES(45, MATRIX "i32[2]{1,0} i32[2]{0,4} i32[2]{1,1} #0 #0 #0 #0 #1 %0"
			 " > i64[4]{10,11,12,13}"),
	TFLITE_GIVES(45, MATRIX "i32[2]{1,-1} i32[2]{0,0} i32[2]{1,1} #0 #0 #0 #0 #3 %0"
			 " > i64[1]{13}"),
	TFLITE_GIVES(45, "u8[3]{1,2,3} i32[1]{9} i32[1]{-9} i32[1]{-1} #0 #0 #0 #0 #0 %0"
			 " > u8[3]{3,2,1}"),
	TFLITE_GIVES(45, "u8[3]{1} i32[1]{-9} i32[1]{-9} i32[1]{-1} #0 #0 #0 #0 #0 %0 > u8[0]"),
	/* Fewer entries than dimensions: the others are whole. */
	TFLITE_GIVES(45, MATRIX "i32[1]{2} i32[1]{3} i32[1]{1} #0 #0 #0 #0 #0 %0"
			 " > i64[1,4]{20,21,22,23}"),
	/* [..., 1] */
	TFLITE_GIVES(45, MATRIX "i32[2]{0,1} i32[2]{0,2} i32[2]{1,1} #0 #0 #1 #0 #2 %0"
			 " > i64[3]{1,11,21}"),
	/* [:, newaxis, 1:3] */
	TFLITE_GIVES(45, MATRIX "i32[3]{0,0,1} i32[3]{0,0,3} i32[3]{1,1,1} #1 #1 #0 #2 #0 %0"
			 " > i64[3,1,2]{1,2,11,12,21,22}"),
	/* [newaxis, ..., newaxis] */
	TFLITE_GIVES(45, "f32[2]{1,2} i32[3]{0} i32[3]{0} i32[3]{1} #0 #0 #2 #5 #0 %0"
			 " > f32[1,2,1]{1,2}"),
	/* [1:1+2] */
	TFLITE_GIVES(45, "f64[5]{0,1,2,3,4} i32[1]{1} i32[1]{2} i32[1]{1} #0 #0 #0 #0 #0 %1"
			 " > f64[2]{1,2}"),
	TFLITE_GIVES(45, "u8[5]{0} i64[1]{3} i64[1]{2} i64[1]{1} #0 #0 #0 #0 #0 %0 > u8[0]"),
	/* Positions and strides of any size. */
	TFLITE_GIVES(45, MATRIX "i64[2]{1,0} i64[2]{0x7fffffffffffffff,0x7fffffffffffffff}"
		     " i64[2]{0x7fffffffffffffff,2} #0 #0 #0 #0 #0 %1 > i64[1,2]{10,12}"),
	TFLITE_GIVES(45, "u8[5]{0,1,2,3,4} i64[1]{3} i64[1]{-9223372036854775808}"
		     " i64[1]{-9223372036854775808} #0 #0 #0 #0 #0 %0 > u8[1]{3}"),
	TFLITE_REFUSED(45, "u8[5]{0} =i32[1]{3} =i32[1]{2} =i32[1]{0} #0 #0 #0 #0 #0 %0 > u8", VALUE, 3),
	TFLITE_REFUSED(45, "u8[5]{0} =i32[1]{5} =i32[1]{2} =i32[1]{1} #0 #0 #0 #0 #1 %0 > u8", VALUE, 1),
	TFLITE_REFUSED(45, "u8[5]{0} =i32[2]{0} =i32[2]{2} =i32[2]{1} #0 #0 #0 #0 #0 %0 > u8",
		       DIMENSION, 1),
	TFLITE_REFUSED(45, "u8[5]{0} =i32[2]{0} =i32[2]{2} =i32[2]{1} #0 #0 #3 #0 #0 %0 > u8", VALUE, 6),
	TFLITE_REFUSED(45, "u8[5]{0} =i32[9]{0} =i32[9]{2} =i32[9]{1} #0 #0 #0 #0x1ff #0 %0 > u8",
		       RANK, 0),
	TFLITE_REFUSED(45, "u8[5]{0} i32[1]{0} i32[2]{2} i32[1]{1} #0 #0 #0 #0 #0 %0 > u8",
		       DIMENSION, 2),
	/* SPLIT, SPLIT_V, UNPACK */
	TFLITE_GIVES(49, "i32[1]{1} " MATRIX "#2 > i64[3,2]{0,1,10,11,20,21} i64[3,2]{2,3,12,13,22,23}"),
	TFLITE_GIVES(49, "i32[1]{-2} i16[2,1]{5,6} #2 > i16[1,1]{5} i16[1,1]{6}"),
	TFLITE_REFUSED(49, "=i32[1]{1} " MATRIX "#3 > 3*i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(49, "=i32[1]{2} " MATRIX "#2 > 2*i64", VALUE, 0),
	TFLITE_REFUSED(49, "=i32[1]{1} " MATRIX "#2 > 4*i64", VALUE, 2),
	TFLITE_REFUSED(49, "=i32[1]{1} " MATRIX "#2 > i64 i32", TYPE, 4),
	TFLITE_GIVES(102, MATRIX "i32[3]{1,-1,0} i32[1]{1} #3"
			  " > i64[3,1]{0,10,20} i64[3,3]{1,2,3,11,12,13,21,22,23} i64[3,0]"),
	TFLITE_GIVES(102, "bool[3]{0,1,1} i64[2]{2,1} i32[1]{-1} #2 > bool[2]{0,1} bool[1]{1}"),
	TFLITE_REFUSED(102, MATRIX "=i32[2]{1,2} =i32[1]{1} #2 > 2*i64", VALUE, 1),
	TFLITE_REFUSED(102, MATRIX "=i32[2]{-1,-1} =i32[1]{1} #2 > 2*i64", VALUE, 1),
	TFLITE_REFUSED(102, MATRIX "=i32[2]{2,5} =i32[1]{1} #2 > 2*i64", VALUE, 1),
	TFLITE_REFUSED(102, MATRIX "=i32[2]{2,2} =i32[1]{1} #2 > 3*i64", VALUE, 3),
	TFLITE_REFUSED(102, MATRIX "=i32[3]{2,2,0} =i32[1]{1} #2 > 2*i64", DIMENSION, 1),
	TFLITE_GIVES(88, "i64[2,2]{1,2,3,4} #2 #0 > i64[2]{1,2} i64[2]{3,4}"),
	TFLITE_GIVES(88, "u16[2,2]{1,2,3,4} #2 #-1 > u16[2]{1,3} u16[2]{2,4}"),
	TFLITE_GIVES(88, "f32[2]{1,2} #2 #0 > f32[1]{1} f32[1]{2}"),
	TFLITE_REFUSED(88, "i64[2,2]{1} #3 #0 > 3*i64", SHAPE_MISMATCH, 0),
	TFLITE_REFUSED(88, "i64[2,2]{1} #2 #2 > 2*i64", VALUE, 2),
	TFLITE_REFUSED(88, "i64[2,2]{1} #2 #0 > i64", VALUE, 1),
	/* GATHER */
	TFLITE_GIVES(36, MATRIX "i32[2]{2,0} #0 #0 > i64[2,4]{20,21,22,23,0,1,2,3}"),
	TFLITE_GIVES(36, MATRIX "i64[2,1]{3,0} #1 #0 > i64[3,2,1]{3,0,13,10,23,20}"),
	TFLITE_GIVES(36, MATRIX "i16[3,2]{0,1,2,3,0,3} #-1 #1 > i64[3,2]{0,1,12,13,20,23}"),
	TFLITE_GIVES(36, "bool[2,2,2]{0,1,0,0,1,1,0,1} i32[2,2]{1,0,1,1} #1 #-1"
			 " > bool[2,2,2]{0,0,0,1,0,1,0,1}"),
	TFLITE_REFUSED(36, MATRIX "i32[2]{2,3} #0 #0 > i64", VALUE, 1),
	TFLITE_REFUSED(36, MATRIX "i32[2]{2,-1} #0 #0 > i64", VALUE, 1),
	TFLITE_REFUSED(36, MATRIX "i32[2]{0} #2 #0 > i64", VALUE, 2),
	TFLITE_REFUSED(36, MATRIX "i32[3]{0} #0 #1 > i64", VALUE, 3),
	TFLITE_REFUSED(36, MATRIX "i32[2,2]{0} #1 #1 > i64", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(36, MATRIX "i32[1,1,1,1,1,1,1,1]{0} #1 #0 > i64", RANK, 1),
	/* GATHER_ND */
	TFLITE_GIVES(107, MATRIX "i32[2,2]{0,1,2,3} > i64[2]{1,23}"),
	TFLITE_GIVES(107, MATRIX "i64[2,1]{2,0} > i64[2,4]{20,21,22,23,0,1,2,3}"),
	TFLITE_GIVES(107, MATRIX "i16[2]{1,2} > i64[1]{12}"),
	TFLITE_GIVES(107, "u8[2]{5,6} i32[3,0] > u8[3,2]{5,6,5,6,5,6}"),
	TFLITE_GIVES(107, "u8[0] i32[2147483647,2147483647,0] > u8[2147483647,2147483647,0]"),
	TFLITE_GIVES(122, "i32[2147483647,2147483647,0] u8[2147483647,2147483647,0] i32[1]{0}"
			  " > u8[0]"),
	TFLITE_REFUSED(107, MATRIX "i32[1,2]{0,4} > i64", VALUE, 1),
	TFLITE_REFUSED(107, MATRIX "i32[1,2]{-1,0} > i64", VALUE, 1),
	TFLITE_REFUSED(107, MATRIX "i32[1,3]{0} > i64", DIMENSION, 1),
	TFLITE_REFUSED(107, "u8[1,1,1]{0} i32[1,1,1,1,1,1,1,1]{0} > u8", RANK, 1),
	/* SCATTER_ND */
	TFLITE_GIVES(122, "i32[3,1]{4,0,4} f32[3]{1,2,3} i32[1]{5} > f32[5]{2,0,0,0,4}"),
	TFLITE_GIVES(122, "i32[2,1]{1,1} i64[2,2]{1,2,3,4} i32[2]{2,2} > i64[2,2]{0,0,4,6}"),
	TFLITE_GIVES(122, "i32[2,2]{0,1,1,0} u8[2]{200,100} i32[2]{2,2} > u8[2,2]{0,200,100,0}"),
	TFLITE_GIVES(122, "i32[2,1]{0,0} i8[2]{100,100} i32[1]{2} > i8[2]{-56,0}"),
	TFLITE_GIVES(122, "i32[2,1]{0,0} bool[2]{1,1} i32[1]{2} > bool[2]{1,0}"),
	TFLITE_REFUSED(122, "i32[1,1]{5} f32[1]{1} i32[1]{5} > f32", VALUE, 0),
	TFLITE_REFUSED(122, "i32[1,2]{0} f32[1]{1} i32[1]{5} > f32", DIMENSION, 0),
	TFLITE_REFUSED(122, "i32[1,1]{0} f32[2]{1} i32[1]{5} > f32", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(122, "i32[1,1]{0} f32[1]{1} =i32[1]{-5} > f32", VALUE, 2),
	/* PAD, PADV2 */
	TFLITE_GIVES(34, "i64[1,2]{1,2} i32[2,2]{1,0,0,1} > i64[2,3]{0,0,0,1,2,0}"),
	TFLITE_GIVES(34, "i8@0.5-3[1]{1} i64[1,2]{1,1} > i8@0.5-3[3]{-3,1,-3}"),
	TFLITE_GIVES(34, "i16@0.5[1]{1} i32[1,2]{1,1} > i16@0.5[3]{0,1,0}"),
	TFLITE_GIVES(34, "f32[1,1,1,1,1]{7} i16[5,2]{0,0,0,0,0,0,0,0,0,1} > f32[1,1,1,1,2]{7,0}"),
	TFLITE_GIVES(60, "i64[2]{1,2} i32[1,2]{1,1} i64[1]{-9} > i64[4]{-9,1,2,-9}"),
	TFLITE_GIVES(60, "u8@0.5+3[1]{1} i32[1,2]{1,1} u8@0.5+3[1]{250} > u8@0.5+3[3]{250,1,250}"),
	TFLITE_REFUSED(34, "i64[2]{1} =i32[1,2]{-1,1} > i64", VALUE, 1),
	TFLITE_REFUSED(34, "i64[2]{1} i32[2,2]{1} > i64", DIMENSION, 1),
	TFLITE_REFUSED(34, "i64[2]{1} i32[2]{1} > i64", RANK, 1),
	TFLITE_REFUSED(34, "i64[2]{1} =i64[1,2]{0x100000000,1} > i64", OVERFLOW, 1),
	TFLITE_REFUSED(60, "i64[2]{1} i32[1,2]{1} i32[1]{1} > i64", TYPE, 2),
	TFLITE_REFUSED(60, "i64[2]{1} i32[1,2]{1} i64[2]{1} > i64", DIMENSION, 2),
	/* MIRROR_PAD */
	TFLITE_GIVES(100, "i32[3]{1,2,3} i32[1,2]{2,2} #0 > i32[7]{3,2,1,2,3,2,1}"),
	TFLITE_GIVES(100, "i64[3]{1,2,3} i64[1,2]{3,1} #1 > i64[7]{3,2,1,1,2,3,3}"),
	TFLITE_GIVES(100, "u8[2,2]{1,2,3,4} i32[2,2]{1,0,0,1} #0 > u8[3,3]{3,4,3,1,2,1,3,4,3}"),
	TFLITE_GIVES(100, "f32[2,2]{1,2,3,4} i32[2,2]{0,1,2,0} #1"
			  " > f32[3,4]{2,1,1,2,4,3,3,4,4,3,3,4}"),
	TFLITE_REFUSED(100, "i32[3]{1} =i32[1,2]{3,0} =#0 > i32", VALUE, 1),
	TFLITE_REFUSED(100, "i32[3]{1} =i32[1,2]{0,4} =#1 > i32", VALUE, 1),
	TFLITE_REFUSED(100, "i32[3]{1} i32[1,2]{0,1} =#2 > i32", VALUE, 2),
	/* DYNAMIC_UPDATE_SLICE */
	TFLITE_GIVES(151, "i64[2,3]{1,2,3,4,5,6} i64[1,2]{8,9} i32[2]{1,1}"
			  " > i64[2,3]{1,2,3,4,8,9}"),
	TFLITE_GIVES(151, "i8[4]{1,2,3,4} i8[2]{8,9} i64[1]{3} > i8[4]{1,2,8,9}"),
	TFLITE_GIVES(151, "bool[4]{0} bool[2]{1} i64[1]{-7} > bool[4]{1,1,0,0}"),
	TFLITE_GIVES(151, "f32[2]{1,2} f32[0] i32[1]{1} > f32[2]{1,2}"),
	TFLITE_REFUSED(151, "i8[4]{1} i8[5]{8} i64[1]{0} > i8", SHAPE_MISMATCH, 1),
	TFLITE_REFUSED(151, "i8[4]{1} i8[1,1]{8} i64[1]{0} > i8", RANK, 1),
	TFLITE_REFUSED(151, "i8[4]{1} i8[1]{8} i64[2]{0} > i8", DIMENSION, 2),
	TFLITE_REFUSED(151, "i8[4]{1} i16[1]{8} i64[1]{0} > i8", TYPE, 1),
	TFLITE_END
};
