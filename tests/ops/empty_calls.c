// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "empty_calls.h"
#include "extension.h"

#define HAL(op, operands)	{ NNPU_OP_##op, operands, false }
#define TFLITE(number, operands) \
	{ EXTENSION_CODE(tflite_extension_index, number), operands, false }
#define REFUSES(code, operands)	{ code, operands, true }

#define UNARY(op)		HAL(op, "f:AxB > f")
#define FUSED(op)		HAL(op, "f:AxBxC f:BxC i0 > f"), HAL(op, "h:AxB h:1xB i0 > h")
#define PAIRS(op, out) \
	HAL(op, "f:AxBxC f:BxC > " out), HAL(op, "u:Ax1 u:1xB > " out)
#define REDUCE(op, t, k) \
	HAL(op, t ":AxBxC {1} " k "0 > " t), HAL(op, t ":AxBxC {0,2} " k "1 > " t)
#define POOL(op) \
	HAL(op, "f:NxYxXxC i1 i1 i1 iF iG i0 > f"), \
	HAL(op, "f:NxCxYxX i0 i0 i0 i0 i1 i1 iF iG i0 b1 > f")
#define LSTM_LAYER		"4*f:CxX 4*f:CxC 3*-f 4*f:C -f -f "
#define LSTM_PROJECTION		"4*f:CxX 4*f:CxP 3*f:C 4*f:C f:PxC f:P "
#define RNN_LAYER		"f:CxX f:CxC f:C f:NxC "

#define TFLITE_PAIRS(number, t, options, out) \
	TFLITE(number, t ":AxBxC " t ":BxC " options "> " out), \
	TFLITE(number, t ":Ax1 " t ":1xB " options "> " out)
#define TFLITE_REDUCE(number, t) \
	TFLITE(number, t ":AxBxC {1} b0 > " t), TFLITE(number, t ":AxBxC {0,2} b1 > " t)
#define TFLITE_UNARY(number, t)	TFLITE(number, t ":AxB > " t)
#define SEGMENTS(number)	TFLITE(number, "f:AxBxC t:A t:1=9 > f"), TFLITE(number, "t:AxB t:AxB t:1=9 > t")
#define TFLITE_LSTM_LAYER	"4*c:CxX@1 4*c:CxC@1 3*-y 4*t:C -c -t "
#define TFLITE_LSTM_GATES	"r1 i0 r1 i0 r1 i0 r1 i0 r1 i0 > s s@1 y@0.001953125"

const struct empty_call empty_calls[] = {
	UNARY(ABS), UNARY(EXP), UNARY(FLOOR), UNARY(LOG), UNARY(NEG), UNARY(RSQRT), UNARY(SIN),
	UNARY(SQRT), HAL(LOGICAL_NOT, "o:AxB > o"), HAL(ABS, "h:AxB > h"),
	FUSED(ADD), FUSED(DIV), FUSED(MUL), FUSED(SUB),
	HAL(ADD, "u:AxB u:AxB i0 > u"), HAL(MUL, "u:AxB u:AxB i0 > u@2"),
	HAL(SUB, "t:AxB t:AxB i0 > t"), HAL(DIV, "t:AxB t:AxB=3 i0 > t"),
	PAIRS(EQUAL, "o"), PAIRS(GREATER, "o"), PAIRS(GREATER_EQUAL, "o"), PAIRS(LESS, "o"),
	PAIRS(LESS_EQUAL, "o"), PAIRS(NOT_EQUAL, "o"),
	HAL(MAXIMUM, "f:AxBxC f:BxC > f"), HAL(MINIMUM, "u:Ax1 u:1xB > u"),
	HAL(POW, "f:AxBxC f:BxC > f"), HAL(PRELU, "f:AxBxC f:BxC > f"), HAL(PRELU, "u:AxB u:B > u"),
	HAL(LOGICAL_AND, "o:AxBxC o:BxC > o"), HAL(LOGICAL_OR, "o:Ax1 o:1xB > o"),
	HAL(ELU, "f:AxB r1 > f"), HAL(HARD_SWISH, "u:AxB > u"), UNARY(RELU), UNARY(RELU1),
	UNARY(RELU6), HAL(LOGISTIC, "u:AxB > u@0.00390625"), UNARY(TANH),
	HAL(ARGMAX, "f:AxBxC i1 > t"), HAL(ARGMIN, "u:AxB i0 > t"),
	POOL(AVERAGE_POOL_2D), POOL(L2_POOL_2D), POOL(MAX_POOL_2D),
	HAL(AVERAGE_POOL_2D, "u:NxYxXxC i2 i1 i1 iF iG i0 > u"),
	HAL(AXIS_ALIGNED_BBOX_TRANSFORM, "f:Ax4 f:AxB*4 t:A f:Nx2=1 > f"),
	HAL(BATCH_TO_SPACE_ND, "f:N*4xYxXxC {2,2} b0 > f"),
	HAL(BATCH_TO_SPACE_ND, "f:N*PxCxYxX {P,1} b1 > f"),
	HAL(BIDIRECTIONAL_SEQUENCE_LSTM, "f:TxNxX " LSTM_LAYER LSTM_LAYER
	    "4*f:NxC 9*-f i4 r0 r0 b0 b1 8*-f > f f"),
	HAL(BIDIRECTIONAL_SEQUENCE_LSTM, "f:NxTxX " LSTM_LAYER LSTM_LAYER
	    "4*f:NxC 9*-f i4 r0 r0 b1 b0 8*-f > f"),
	HAL(BIDIRECTIONAL_SEQUENCE_RNN, "f:TxNxX " RNN_LAYER RNN_LAYER "3*-f i1 b1 b0 > f f"),
	HAL(BIDIRECTIONAL_SEQUENCE_RNN, "f:NxTxX " RNN_LAYER RNN_LAYER "3*-f i1 b0 b1 > f"),
	HAL(BOX_WITH_NMS_LIMIT, "f:AxB=1 f:AxB*4 t:A r0 i-1 i0 r0.5 r0 r0 > f f t t"),
	HAL(BOX_WITH_NMS_LIMIT, "f:AxB f:AxB*4 t:A r0 iP i1 r0.5 r1 r0 > f f t t"),
	HAL(CAST, "f:AxB > t"), HAL(CAST, "u:AxB > f"), HAL(CHANNEL_SHUFFLE, "f:AxB*PxC iP i1 > f"),
	HAL(CONCATENATION, "f:AxBxC f:AxDxC i1 > f"), HAL(CONCATENATION, "u:AxB u:AxC@2 i1 > u"),
	HAL(CONV_2D, "f:NxYxXxC f:OxFxGxC f:O i1 i1 i1 i0 > f"),
	HAL(CONV_2D, "u:NxYxXxC u:OxFxGxC t:O@1 i1 i1 i1 i0 > u@2"),
	HAL(CONV_2D, "f:NxCxYxX f:OxFxGxC f:O i2 i1 i1 i0 b1 i1 i1 > f"),
	HAL(DEPTHWISE_CONV_2D, "f:NxYxXxC f:1xFxGxC*D f:C*D i1 i1 i1 iD i0 > f"),
	HAL(DEPTHWISE_CONV_2D, "u:NxYxXxC u:1xFxGxC*D t:C*D@1 i2 i1 i1 iD i0 > u@2"),
	HAL(DEPTH_TO_SPACE, "f:NxYxXxC*4 i2 b0 > f"), HAL(DEPTH_TO_SPACE, "f:NxCxYxX iP b1 > f"),
	HAL(DEQUANTIZE, "u:AxB > f"), HAL(DEQUANTIZE, "c:AxB > h"),
	HAL(DETECTION_POSTPROCESSING, "f:NxAxB f:NxAx4 f:Ax4 r1 r1 r1 r1 b0 iP i1 i1 r0 r0.5 b0 > "
	    "f f t t"),
	HAL(DETECTION_POSTPROCESSING, "f:NxAxB=1 f:NxAx4 f:Ax4 r1 r1 r1 r1 b1 iP i1 i4 r0 r0.5 b0 > "
	    "f f t t"),
	HAL(EMBEDDING_LOOKUP, "t:A f:BxC > f"), HAL(EXPAND_DIMS, "f:AxB i0 > f"),
	HAL(FILL, "{A,B,C} r1 > f"), HAL(FILL, "{A,B} i1 > t"),
	HAL(FULLY_CONNECTED, "f:NxC f:OxC f:O i0 > f"),
	HAL(FULLY_CONNECTED, "u:NxC u:OxC t:O@1 i0 > u@2"),
	HAL(GATHER, "f:AxBxC i1 t:DxE > f"), HAL(GATHER, "f:AxBxCxD i2 t:E > f"),
	HAL(GENERATE_PROPOSALS, "f:NxYxXxA=1 f:NxYxXxA*4 f:Ax4 f:Nx2=1 r1 r1 i-1 i-1 r0.5 r-1 b0 > "
	    "f f t"),
	HAL(GROUPED_CONV_2D, "f:NxYxXxC f:OxFxGxC f:O i1 i1 i1 i1 i0 b0 > f"),
	HAL(GROUPED_CONV_2D, "u:NxYxXxC*2 u:O*2xFxGxC t:O*2@1 i1 i1 i1 i2 i0 b0 > u@2"),
	HAL(HASHTABLE_LOOKUP, "t:A t:B f:BxC > f u"),
	HAL(HEATMAP_MAX_KEYPOINT, "f:NxSxSxC f:Nx4=1 b0 > f f"),
	HAL(INSTANCE_NORMALIZATION, "f:NxYxXxC r1 r0 r1 b0 > f"),
	HAL(INSTANCE_NORMALIZATION, "f:NxCxYxX r1 r0 r1 b1 > f"),
	HAL(L2_NORMALIZATION, "f:AxBxC i1 > f"), HAL(L2_NORMALIZATION, "u:AxB i0 > u@0.0078125+128"),
	HAL(LOCAL_RESPONSE_NORMALIZATION, "f:AxBxC iR r1 r1 r1 i1 > f"),
	HAL(LOG_SOFTMAX, "f:AxBxC r1 i1 > f"), HAL(LOG_SOFTMAX, "f:AxB r1 i0 > f"),
	HAL(LSH_PROJECTION, "f:AxB f:CxD f:C i2 > t"), HAL(LSH_PROJECTION, "f:Ax32 u:CxD -f i3 > t"),
	HAL(LSH_PROJECTION, "f:Ax0 u:CxD -f i1 > t"),
	HAL(LSTM, "f:NxX " LSTM_LAYER "f:NxC f:NxC i4 r0 r0 > f f f f"),
	HAL(LSTM, "f:NxX " LSTM_PROJECTION "f:NxP f:NxC i4 r0 r0 > f f f f"),
	HAL(PAD, "f:AxB {P,Q,R,S} > f"), HAL(PAD_V2, "u:AxB {P,0,0,Q} i0 > u"),
	HAL(QUANTIZE, "f:AxB > u"), HAL(QUANTIZE, "h:AxB > s"),
	HAL(QUANTIZED_16BIT_LSTM, "u:NxX@0.0078125+128 4*u:CxX 4*u:CxC 4*t:C@0.0078125 "
	    "y:NxC@0.00048828125 u:NxC@0.0078125+128 > y@0.00048828125 u@0.0078125+128"),
	HAL(QUANTIZED_LSTM, "s:NxX 4*c:CxX 4*c:CxC 3*-y 4*t:C -c -t s:NxC y:NxC@0.00048828125 4*-y "
	    "r0 r0 r1 r1 r1 r1 i0 r1 > s y@0.00048828125 s"),
	HAL(QUANTIZED_LSTM, "s:NxX 4*c:CxX 4*c:CxP 3*y:C 4*t:C c:PxC t:P s:NxP y:NxC@0.00048828125 "
	    "4*y:C r0 r0 r1 r1 r1 r1 i0 r1 > s y@0.00048828125 s"),
	HAL(RANDOM_MULTINOMIAL, "f:NxC iP {1,2} > t"), HAL(RANK, "f:AxB > i"),
	REDUCE(MEAN, "f", "i"), REDUCE(MEAN, "u", "i"), REDUCE(REDUCE_ALL, "o", "b"),
	REDUCE(REDUCE_ANY, "o", "b"), REDUCE(REDUCE_MAX, "f", "b"), REDUCE(REDUCE_MIN, "u", "b"),
	REDUCE(REDUCE_PROD, "f", "b"), REDUCE(REDUCE_SUM, "f", "b"),
	HAL(RESHAPE, "f:AxBxC {A*B,C} > f"), HAL(RESHAPE, "f:AxB {B,A,1} > f"),
	HAL(RESIZE_BILINEAR, "f:NxYxXxC iP iQ > f"), HAL(RESIZE_BILINEAR, "u:NxCxYxX iP iQ b1 > u"),
	HAL(RESIZE_NEAREST_NEIGHBOR, "f:NxYxXxC iP iQ b0 > f"),
	HAL(RNN, "f:NxX " RNN_LAYER "i1 > f f"),
	HAL(ROI_ALIGN, "f:NxYxXxC f:Ax4 t:A iP iQ r1 r1 iR i1 b0 > f"),
	HAL(ROI_ALIGN, "f:NxCxYxX f:Ax4 t:A iP iQ r1 r1 i0 i0 b1 > f"),
	HAL(ROI_POOLING, "f:NxYxXxC f:Ax4 t:A iP iQ r1 r1 b0 > f"),
	HAL(SELECT, "o:AxB f:AxB f:AxB > f"), HAL(SLICE, "f:AxB {0,0} {-1,-1} > f"),
	HAL(SLICE, "f:AxBxC {0,0,0} {A,P,-1} > f"),
	HAL(SOFTMAX, "f:AxBxC r1 i1 > f"), HAL(SOFTMAX, "u:AxB r1 i0 > u@0.00390625"),
	HAL(SPACE_TO_BATCH_ND, "f:NxY*PxX*QxC {P,Q} {0,0,0,0} > f"),
	HAL(SPACE_TO_BATCH_ND, "u:NxYxXxC {1,1} {P,Q,R,S} > u"),
	HAL(SPACE_TO_DEPTH, "f:NxY*PxX*PxC iP b0 > f"), HAL(SPLIT, "f:AxB*2xC i1 i2 > f f"),
	HAL(SQUEEZE, "f:Ax1xB {1} > f"), HAL(STRIDED_SLICE, "f:AxB {0,0} {P,Q} {1,2} i0 i0 i0 > f"),
	HAL(STRIDED_SLICE, "u:AxBxC {0,0,0} {0,0,0} {P,1,1} i7 i7 i0 > u"),
	HAL(SVDF, "f:NxX f:FxX f:FxD f:F f:NxD*F i1 i0 > f f"),
	HAL(SVDF, "f:NxX f:F*2xX f:F*2xD -f f:NxF*2*D i2 i0 > f f"),
	HAL(TILE, "f:AxB {P,Q} > f"), HAL(TOPK_V2, "f:AxBxC iP > f t"), HAL(TOPK_V2, "u:AxB i1 > u t"),
	HAL(TRANSPOSE, "f:AxBxCxD {3,2,1,0} > f"), HAL(TRANSPOSE, "u:AxBxC {1,2,0} > u"),
	HAL(TRANSPOSE_CONV_2D, "f:NxYxXxC f:OxFxGxC f:O {N,Y,X,O} i1 i1 i1 i0 b0 > f"),
	HAL(TRANSPOSE_CONV_2D, "u:NxYxXxC u:OxFxGxC t:O@1 i0 i0 i0 i0 i1 i1 i0 b0 > u@2"),
	HAL(UNIDIRECTIONAL_SEQUENCE_LSTM, "f:TxNxX " LSTM_LAYER "f:NxC f:NxC i4 r0 r0 b1 4*-f > f"),
	HAL(UNIDIRECTIONAL_SEQUENCE_LSTM, "f:NxTxX " LSTM_PROJECTION
	    "f:NxP f:NxC i4 r0 r0 b0 4*f:C > f"),
	HAL(UNIDIRECTIONAL_SEQUENCE_RNN, "f:TxNxX " RNN_LAYER "i1 i1 > f"),
	HAL(UNIDIRECTIONAL_SEQUENCE_RNN, "f:NxTxX " RNN_LAYER "i1 i0 > f"),

	REFUSES(EXTENSION_CODE(fibonacci_extension_index, 0), "f:A=9 > f"),

	TFLITE_PAIRS(0, "f", "i0 b0 ", "f"), TFLITE_PAIRS(0, "y", "i0 b0 ", "y"),
	TFLITE(1, "y:NxYxXxC i0 i1 i1 iF iG i0 > y"),
	TFLITE(2, "l:AxBxC l:AxDxC i1 i0 > l"), TFLITE(2, "u:AxB u:AxC u:AxD i1 i0 > u"),
	TFLITE(3, "f:NxYxXxC f:OxFxGxC -f i0 i1 i1 i0 i1 i1 i0 > f"),
	TFLITE(3, "y:NxYxXxC s:OxFxGxC l:O i1 i1 i1 i0 i1 i1 i4 > y@2"),
	TFLITE(4, "f:NxYxXxC f:1xFxGxC*D -f i0 i1 i1 iD i0 i1 i1 > f"),
	TFLITE(4, "s:NxYxXxC s:1xFxGxC*D t:C*D i1 i1 i1 iD i0 i1 i1 > s@2"),
	TFLITE(6, "s:AxB > f"), TFLITE(6, "h:AxB > f"),
	TFLITE(9, "f:NxC f:OxC -f i0 i0 b0 b0 i0 > f"), TFLITE(9, "s:AxNxC s:OxC t:O i0 i0 b1 b0 i0 > s@2"),
	TFLITE(14, "y:AxB@0.000244140625 > y@0.000030517578125"),
	TFLITE(16, "s:NxX@1 " TFLITE_LSTM_LAYER "s:NxC@1 y:NxC@0.001953125 4*-y i4 r0 r0 i0 b0 "
	       TFLITE_LSTM_GATES),
	TFLITE(17, "y:NxYxXxC i1 i1 i1 iF iG i0 > y"),
	TFLITE_PAIRS(18, "f", "i0 ", "f"), TFLITE_PAIRS(18, "z", "i0 ", "z"), TFLITE_PAIRS(18, "s", "i0 ", "s"),
	TFLITE_UNARY(19, "s"), TFLITE_UNARY(20, "u"), TFLITE_UNARY(21, "y"),
	TFLITE(22, "l:AxBxC {A*B,C} > l"), TFLITE(23, "s:NxYxXxC {P,Q} b0 b0 > s"), TFLITE(23, "f:NxYxXxC {P,Q} b0 b0 > f"),
	TFLITE(25, "y:AxB r1 > y@0.000030517578125"),
	TFLITE(27, "s:NxX@1 s:FxX@1 y:FxD@1 -t y:NxF*D@1 i1 i0 b0 > s@1 y@1"),
	TFLITE(28, "y:AxB@0.000244140625 > y@0.000030517578125"),
	TFLITE(33, "t:A t:Ax2 {C,P} f:A f:DxExF i1 > f"),
	TFLITE(34, "l:AxB {P,Q,R,S}x2 > l"), TFLITE(36, "f:AxBxC t:DxE i1 i0 > f"),
	TFLITE(36, "l:AxBxC t:AxD i1 i1 > l"), TFLITE(36, "u:AxBxCxD l:E i3 i0 > u"),
	TFLITE(37, "l:N*4xYxXxC {2,2} {0,0,0,0}x2 > l"), TFLITE(38, "l:NxY*2xX*2xC {2,2} {0,0,0,0}x2 > l"),
	TFLITE(39, "l:AxBxCxDxE {4,3,2,1,0} > l"), TFLITE_REDUCE(40, "f"), TFLITE_REDUCE(40, "s"),
	TFLITE_REDUCE(40, "l"), TFLITE_PAIRS(41, "t", "i0 b0 ", "t"), TFLITE_PAIRS(42, "f", "i0 ", "f"),
	TFLITE(42, "t:AxB t:AxB=3 i0 > t"), TFLITE(42, "u:AxB u:AxB=1 i0 > u"),
	TFLITE(43, "l:Ax1xB {1} > l"),
	TFLITE(44, "s:TxNxX@1 " TFLITE_LSTM_LAYER "s:NxC@1 y:NxC@0.001953125 4*-y i4 r0 r0 b1 b0 b0 "
	       TFLITE_LSTM_GATES),
	TFLITE(44, "s:NxTxX@1 4*c:CxX@1 4*c:CxP@1 3*y:C 4*t:C c:PxC@1 t:P s:NxP@1 y:NxC@0.001953125 4*y:C "
	       "i4 r0 r0 b0 b0 b0 " TFLITE_LSTM_GATES),
	TFLITE(45, "l:AxBxC {0,0} {P,Q} {1,2} i0 i0 i0 i0 i0 b0 > l"),
	TFLITE(45, "u:AxBxC {0} {0} {1} i0 i0 i0 i1 i0 b0 > u"),
	TFLITE_UNARY(47, "f"), TFLITE_UNARY(47, "s"), TFLITE(49, "t:1=1 l:AxB*2xC i2 > l l"),
	TFLITE(48, "l:AxBxC t:1=1 > l t"),
	TFLITE(50, "u:AxB > u@0.0625+255"), TFLITE(53, "l:AxB i4 i0 > f"), TFLITE(53, "f:AxB i0 i8 > z"),
	TFLITE(54, "f:AxBxC f:BxC > f"), TFLITE(54, "u:AxB u:1xB > u"), TFLITE_PAIRS(55, "l", "", "l"),
	TFLITE(56, "f:AxBxC t:1=1 i2 > t"), TFLITE_PAIRS(57, "s", "", "s"), TFLITE_PAIRS(58, "l", "", "o"),
	TFLITE_UNARY(59, "l"), TFLITE(60, "u:AxB {P,Q,R,S}x2 u:1 > u"), TFLITE_PAIRS(61, "f", "", "o"),
	TFLITE_PAIRS(62, "s", "", "o"), TFLITE_PAIRS(63, "y", "", "o"),
	TFLITE(64, "o:AxB l:AxB l:AxB > l"), TFLITE(64, "o:A u:AxBxC u:AxBxC > u"),
	TFLITE(65, "l:AxBxC {0,0,0} {A,P,-1} > l"), TFLITE_UNARY(66, "f"),
	TFLITE(67, "{N,Y,X,O} f:OxFxGxC f:NxYxXxC -f i0 i1 i1 i0 i0 > f"),
	TFLITE(67, "{N,Y,X,O} s:OxFxGxC s:NxYxXxC t:O i0 i1 i1 i0 i0 > s@2"),
	TFLITE(68, "t:A {P} f:A f:1 b0 > f"), TFLITE(68, "t:Ax2 {P,Q} l:A l:1 b1 > l"),
	TFLITE(69, "l:AxB {P,Q} > l"), TFLITE(70, "l:AxB t:1 > l"), TFLITE_PAIRS(71, "o", "", "o"),
	TFLITE_PAIRS(72, "s", "", "o"), TFLITE_UNARY(73, "f"), TFLITE_REDUCE(74, "f"),
	TFLITE_REDUCE(74, "s"), TFLITE_REDUCE(74, "l"), TFLITE_UNARY(75, "s"), TFLITE_UNARY(76, "s"),
	TFLITE(77, "f:AxBxC i2 > t"), TFLITE_PAIRS(78, "t", "", "t"), TFLITE(79, "u:AxBxC t:1 i4 > l"),
	TFLITE(80, "f:AxB r-1 r1 i8 b0 > f"), TFLITE_REDUCE(81, "f"), TFLITE_REDUCE(81, "y"),
	TFLITE_REDUCE(82, "t"), TFLITE(83, "l:AxB l:AxB l:AxB i3 i1 > l"),
	TFLITE(85, "t:AxB t:1=P f:1=1 f:1 i1 > f"), TFLITE(88, "l:Ax3xB i3 i1 > l l l"),
	TFLITE_REDUCE(89, "u"), TFLITE(90, "f:AxBxC f:BxC=2 > f"), TFLITE_REDUCE(91, "o"),
	TFLITE_UNARY(92, "f"), TFLITE_UNARY(93, "l"), TFLITE(94, "{A,B,C} l:1 > l"),
	TFLITE(94, "t:A=2 u:1 > u"), TFLITE(95, "f:AxBxC f:BxC=2 > f"), TFLITE(95, "l:AxB l:B=2 > l"),
	TFLITE(96, "t:1 t:1=P t:1=1 > t"),
	TFLITE(97, "l:NxYxXxC {P,Q} b0 b0 > l"), TFLITE(98, "s:AxB r1 > s"),
	TFLITE_PAIRS(99, "f", "", "f"), REFUSES(EXTENSION_CODE(tflite_extension_index, 100), "l:AxB {P,Q,R,S}x2 i1 > l"), TFLITE(100, "l:AxB {0,0,0,0}x2 i0 > l"), TFLITE_UNARY(101, "s"),
	TFLITE(102, "l:AxBxC {P,-1} t:1=1 i2 > l l"), TFLITE(103, "t:A i2 > t t"), TFLITE(103, "f:A i4 > f l"),
	TFLITE_UNARY(104, "f"), TFLITE(105, "l:AxBxC {0,2} > l"), TFLITE(106, "f:AxB f:AxB f:AxB > f"),
	TFLITE(107, "f:AxBxC t:DxE > f"), TFLITE(107, "l:AxBxCxD t:ExFx2 > l"), TFLITE(107, "u:AxB t:DxEx0 > u"),
	TFLITE_UNARY(108, "f"), TFLITE(109, "o:AxBxC > l"), TFLITE(109, "f:AxB=1 > l"),
	TFLITE(110, "l:AxBxC > t"), TFLITE_UNARY(111, "s"), TFLITE(112, "l:AxBxCxD t:C i0 i2 > l"),
	TFLITE(112, "u:AxBxC l:A i1 i0 > u"), TFLITE(113, "l:AxB > l"), TFLITE(114, "f:AxB > s"),
	TFLITE(114, "s:AxB > u"), TFLITE(115, "l:AxBxC l:AxC > l"), TFLITE(115, "f:AxBxB f:AxB > f"),
	TFLITE_UNARY(116, "f"), TFLITE_UNARY(117, "f"),
	TFLITE(120, "f:Ax4 f:A=1 t:1=P f:1=0.5 f:1 > t t"),
	TFLITE(121, "f:Ax4 f:A=1 t:1=P f:1=0.5 f:1 f:1=1 > t f t"),
	TFLITE(122, "t:AxB f:AxC {P,C} > f"), TFLITE(122, "t:Ax1 l:AxBxC {P,B,C} > l"),
	TFLITE(122, "t:AxBx0 t:AxBxCxD {C,D} > t"),
	TFLITE(123, "o:AxBxC l:BxC l:Ax1x1 > l"), TFLITE(123, "o:1xB u:Ax1 u:AxB > u"),
	TFLITE(125, "f:AxBxC t:A > f"), TFLITE(126, "f:AxBxC f:AxCxD b0 b0 b0 > f"),
	TFLITE(126, "s:AxBxC s:DxC b0 b1 b0 > s@2"), TFLITE(126, "y:AxCxB y:1xCxD b1 b0 b0 > y@2"),
	TFLITE(128, "f:AxBxC t:1=1 b0 b0 > f"), TFLITE(128, "l:AxB t:1 b1 b1 > l"),
	TFLITE(130, "l:Ax1 {P,A,B} > l"), TFLITE(131, "f:AxBxC {P,Q} > z"), TFLITE(131, "f:AxBxC {4,8} > z"),
	TFLITE(132, "f:NxZxYxXxC f:ExFxGxCxO -f i0 i1 i1 i1 i0 i1 i1 i1 > f"),
	TFLITE(132, "f:NxZxYxXxC f:ExFxGxCxO f:O i1 i1 i1 i1 i0 i1 i1 i1 > f"),
	TFLITE(133, "z:AxB > f"), TFLITE(134, "z:AxB > f"), TFLITE(135, "z:AxB > f"), TFLITE_REDUCE(140, "o"),
	TFLITE(141, "{N,Z,Y,X,O} f:ExFxGxOxC f:NxZxYxXxC f:O i0 i1 i1 i1 i0 i1 i1 i1 > f"),
	TFLITE(145, "t:A=2 t:B=2 > t"), TFLITE(147, "f:AxB f:C > t"),
	TFLITE(147, "d:AxB f:C > t"), TFLITE(150, "u:AxB b0 > u"),
	TFLITE(151, "l:AxBxC l:DxExF t:3 > l"), TFLITE_UNARY(152, "s"), SEGMENTS(153), SEGMENTS(154),
	SEGMENTS(155), TFLITE_PAIRS(156, "d", "", "d"), SEGMENTS(157), TFLITE_UNARY(158, "d"),
	TFLITE(159, "l:AxB > t"), TFLITE(159, "u:AxBx8 > l"), TFLITE(159, "u:AxB > s"),
	TFLITE_PAIRS(160, "v", "", "v"), TFLITE_PAIRS(161, "p", "", "p"),
	TFLITE(203, "l:AxBxC {P,Q,R} l:1 > l"),
};

const unsigned int num_empty_calls = sizeof(empty_calls) / sizeof(*empty_calls);

/* Letters. */

#define LETTERS		26
#define MAX_TENSORS	64

struct values {
	uint64_t of[LETTERS];
};

static bool is_letter(const char *text, const char *at)
{
	return isupper(*at) && (at == text || !isdigit(at[-1]));
}

/* The factor at @*s: a letter or a number, with * before it or not. */
static uint64_t factor(const struct values *v, const char **s)
{
	char *end;
	uint64_t n;

	if (isupper(**s))
		return v->of[*(*s)++ - 'A'];
	n = strtoul(*s, &end, 10);
	*s = end;
	return n;
}

/* What begins with a letter: at most what 32 bits have. */
static uint64_t product(const struct values *v, const char **s)
{
	uint64_t n = factor(v, s);

	while (**s == '*') {
		++*s;
		n *= factor(v, s);
		n = n > UINT32_MAX ? UINT32_MAX : n;
	}
	return n;
}

static void substitute(const char *text, const struct values *v, char *to)
{
	const char *s = text, *end = to + EMPTY_TEXT_MAX - 16;

	while (*s) {
		if (to > end)
			abort();
		if (is_letter(text, s))
			to += sprintf(to, "%llu", (unsigned long long)product(v, &s));
		else
			*to++ = *s++;
	}
	*to = 0;
}

/* Bytes of an element, by the letter of its type. */
static uint64_t size_of(char type)
{
	return strchr("lzdq", type) ? 8 : strchr("ftv", type) ? 4 : strchr("hwyp", type) ? 2 : 1;
}

/* The largest tensor of the text that the letter is in and that is not empty: its bytes, or 0. */
static uint64_t largest_with(const char *text, const struct values *v, char letter)
{
	uint64_t largest = 0;

	for (const char *s = text; (s = strchr(s, ':'));) {
		uint64_t bytes = size_of(s[-1]);
		bool has = false;

		do {
			const char *from = ++s;
			uint64_t n = product(v, &s);

			if (bytes && n > UINT64_MAX / bytes)
				bytes = UINT64_MAX / 2;
			else
				bytes *= n;
			has |= memchr(from, letter, (size_t)(s - from)) != NULL;
			s += *s == 'K' || *s == 'M';
		} while (*s == 'x');
		if (has && bytes > largest)
			largest = bytes;
	}
	return largest;
}

/* As much as @most and the tensors allow. */
static void enlarge(const char *text, struct values *v, unsigned int letter, uint64_t most)
{
	uint64_t low = v->of[letter], high = most;

	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		v->of[letter] = middle;
		if (largest_with(text, v, (char)('A' + letter)) <= EMPTY_CALL_BYTES)
			low = middle;
		else
			high = middle - 1;
	}
	v->of[letter] = low;
}

/* Texts that have been visited, by a sum. */
struct seen {
	uint64_t *sums;
	unsigned int n;
};

static bool is_new(struct seen *seen, const char *text)
{
	uint64_t sum = 14695981039346656037u;

	for (; *text; text++)
		sum = (sum ^ (uint8_t)*text) * 1099511628211u;
	for (unsigned int i = 0; i < seen->n; i++) {
		if (seen->sums[i] == sum)
			return false;
	}
	seen->sums = realloc(seen->sums, (seen->n + 1) * sizeof(sum));
	if (!seen->sums)
		abort();
	seen->sums[seen->n++] = sum;
	return true;
}

void empty_call_each(const struct empty_call *call, bool thin,
		     void (*visit)(const struct large_call *call, void *data), void *data)
{
	/* What the first one may be, and what the others. */
	static const struct {
		uint64_t first, others;
	} most[] = {
		{ INT32_MAX, INT32_MAX }, { 1, 1 }, { 1u << 11, 1u << 11 }, { INT32_MAX, 1 }, { 1u << 19, 1 },
	};
	unsigned int letters[LETTERS], n = 0, levels = thin ? 2 : sizeof(most) / sizeof(*most);
	struct seen seen = { 0 };
	char text[EMPTY_TEXT_MAX];

	for (unsigned int l = 0; l < LETTERS; l++) {
		for (const char *s = call->operands; *s; s++) {
			if (is_letter(call->operands, s) && *s == (char)('A' + l)) {
				letters[n++] = l;
				break;
			}
		}
	}
	/* A pair with itself is one letter, one with the number behind the last is none. */
	for (unsigned int i = 0; i < n * n + 1; i++) {
		unsigned int a = i / (n ? n : 1), b = i % (n ? n : 1);

		if (thin ? a == n || b != a : a < n && b < a)
			continue;
		for (unsigned int turn = 0; turn < n * levels; turn++) {
			unsigned int first = turn % n;
			struct values v;

			if (thin && first != (a + 1) % n && first != 0)
				continue;
			for (unsigned int l = 0; l < LETTERS; l++)
				v.of[l] = 1;
			if (a < n) {
				v.of[letters[a]] = 0;
				v.of[letters[b]] = 0;
			}
			for (unsigned int k = 0; k < n; k++) {
				unsigned int l = (first + k) % n;

				if (v.of[letters[l]])
					enlarge(call->operands, &v, letters[l],
						k ? most[turn / n].others : most[turn / n].first);
			}
			substitute(call->operands, &v, text);
			if (is_new(&seen, text))
				visit(&(struct large_call){ (enum nnpu_operation)call->op, text }, data);
		}
	}
	free(seen.sums);
}

/* Operations. */

static bool has_call(uint32_t op)
{
	for (unsigned int i = 0; i < num_empty_calls; i++) {
		if (empty_calls[i].op == op)
			return true;
	}
	return false;
}

const char *empty_call_missing(void)
{
	for (uint32_t op = 0; op < NNPU_NUM_OPERATIONS; op++) {
		if (op_find(op) && !has_call(op))
			return op_name(op);
	}
	for (uint32_t i = 0; i < EXTENSION_COUNT; i++) {
		for (uint32_t k = 0; k < extension_get(i)->num_operations; k++) {
			if (extension_get(i)->operations[k].desc.name && !has_call(EXTENSION_CODE(i, k)))
				return extension_get(i)->operations[k].desc.name;
		}
	}
	return NULL;
}
