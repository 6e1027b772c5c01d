// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "large_calls.h"
#include "tflite/tflite_ops.h"

#define CALL(op, operands)	{ NNPU_OP_##op, operands }
#define UNARY(op)		CALL(op, "f:64M > f")
#define BINARY(op, out)		CALL(op, "f:64M f:64M > " out), CALL(op, "f:64Mx1 f:1 > " out)
#define FUSED(op)		CALL(op, "f:64M f:64M i0 > f"), CALL(op, "f:32Mx2 f:2 i0 > f")
#define ACTIVATION(op, at)	CALL(op, "f:64M > f"), CALL(op, "u:256M > u" at)
#define REDUCE(op, t, k)		CALL(op, t ":64M {0} " k "0 > " t), \
				CALL(op, t ":4Mx8 {1} " k "0 > " t), \
				CALL(op, t ":8x8M {0} " k "1 > " t)
#define WINDOW(op) \
	CALL(op, "f:1x8192x8192x1 i0 i0 i0 i0 i1 i1 i8192 i8192 i0 > f"), \
	CALL(op, "f:1x2x2x16M i0 i0 i0 i0 i1 i1 i2 i2 i0 > f"), \
	CALL(op, "f:1x1x64Mx1 i0 i0 i0 i0 i1 i1 i64M i1 i0 > f")
#define LSTM_LAYER(x, c, o) \
	"4*f:" c "x" x " 4*f:" c "x" o " 3*-f 4*f:" c " -f -f "

const struct large_call large_calls[] = {
	UNARY(ABS), UNARY(EXP), UNARY(FLOOR), UNARY(LOG), UNARY(NEG), UNARY(RSQRT), UNARY(SIN),
	UNARY(SQRT), CALL(LOGICAL_NOT, "o:256M > o"), CALL(ABS, "h:128M > h"),
	FUSED(ADD), FUSED(DIV), FUSED(MUL), FUSED(SUB),
	CALL(ADD, "u:256M u:256M i0 > u"), CALL(MUL, "u:256M u:256M i0 > u@2"),
	CALL(SUB, "t:64M t:64M i0 > t"), CALL(DIV, "t:64M t:64M=3 i0 > t"),
	BINARY(EQUAL, "o"), BINARY(GREATER, "o"), BINARY(GREATER_EQUAL, "o"), BINARY(LESS, "o"),
	BINARY(LESS_EQUAL, "o"), BINARY(NOT_EQUAL, "o"), BINARY(MAXIMUM, "f"),
	BINARY(MINIMUM, "f"), BINARY(POW, "f"), BINARY(PRELU, "f"),
	CALL(LESS, "u:256M u:256M > o"), CALL(PRELU, "u:256M u:1 > u"),
	CALL(LOGICAL_AND, "o:256M o:256M > o"), CALL(LOGICAL_OR, "o:256M o:256M > o"),
	CALL(ELU, "f:64M r1 > f"),
	ACTIVATION(HARD_SWISH, ""), ACTIVATION(LOGISTIC, "@0.00390625"),
	ACTIVATION(RELU, ""), ACTIVATION(RELU1, ""), ACTIVATION(RELU6, ""),
	ACTIVATION(TANH, "@0.0078125+128"),
	CALL(ARGMAX, "f:64M i0 > t"), CALL(ARGMIN, "u:256M i0 > t"),
	CALL(ARGMAX, "f:8Mx8 i1 > t"), CALL(ARGMIN, "f:8x8M i0 > t"),
	WINDOW(AVERAGE_POOL_2D), WINDOW(L2_POOL_2D), WINDOW(MAX_POOL_2D),
	CALL(AVERAGE_POOL_2D, "u:1x1x1x256M i0 i0 i0 i0 i1 i1 i1 i1 i0 > u"),
	CALL(MAX_POOL_2D, "u:1x1x256Mx1 i0 i0 i0 i0 i1 i1 i256M i1 i0 > u"),
	CALL(MAX_POOL_2D, "u:1x256Mx1x1 i0 i0 i0 i0 i1 i1 i1 i256M i0 > u"),
	CALL(AXIS_ALIGNED_BBOX_TRANSFORM, "f:1x4 f:1x64M t:1 f:1x2 > f"),
	CALL(AXIS_ALIGNED_BBOX_TRANSFORM, "f:16Mx4 f:16Mx4 t:16M f:1x2 > f"),
	CALL(AXIS_ALIGNED_BBOX_TRANSFORM, "f:16Mx4 f:16Mx0 t:16M f:1x2 > f"),
	CALL(BATCH_TO_SPACE_ND, "f:4x4Kx4Kx1 {2,2} b0 > f"),
	CALL(BATCH_TO_SPACE_ND, "f:64Mx1x1x1 {8192,8192} b0 > f"),
	CALL(BIDIRECTIONAL_SEQUENCE_LSTM, "f:1x1x32M "
	     LSTM_LAYER("32M", "2", "2") LSTM_LAYER("32M", "2", "2")
	     "4*f:1x2 9*-f i4 r0 r0 b0 b1 8*-f > f f"),
	CALL(BIDIRECTIONAL_SEQUENCE_LSTM, "f:1x1x16M "
	     LSTM_LAYER("16M", "2", "2") LSTM_LAYER("16M", "2", "2")
	     "4*f:1x2 9*-f i4 r0 r0 b0 b1 8*-f > f f"),
	CALL(BIDIRECTIONAL_SEQUENCE_RNN, "f:1x1x64M f:1x64M f:1x1 f:1 f:1x1 "
	     "f:1x64M f:1x1 f:1 f:1x1 3*-f i1 b1 b0 > f f"),
	CALL(BOX_WITH_NMS_LIMIT, "f:8Mx2=1 f:8Mx8 t:8M r0 i-1 i0 r0.5 r0 r0 > f f t t"),
	CALL(BOX_WITH_NMS_LIMIT, "f:60Kx2=1 f:60Kx8 t:60K r0 i10 i0 r0.5 r0 r-1 > f f t t"),
	CALL(BOX_WITH_NMS_LIMIT, "f:1x16M=1 f:1x64M t:1 r0 i10 i2 r0.5 r1 r0 > f f t t"),
	CALL(BOX_WITH_NMS_LIMIT, "f:64Mx1=1 f:64Mx4 t:64M r2 i-1 i0 r0.5 r0 r0 > f f t t"),
	CALL(CAST, "f:64M > t"), CALL(CAST, "u:256M > f"), CALL(CAST, "u:256M > u"),
	CALL(CAST, "t:64M > t"), CALL(CAST, "f:64M > h"),
	CALL(CHANNEL_SHUFFLE, "f:64M i8192 i0 > f"), CALL(CHANNEL_SHUFFLE, "u:256M i2 i0 > u"),
	CALL(CONCATENATION, "f:32M f:32M i0 > f"), CALL(CONCATENATION, "u:128M u:128M@2 i0 > u"),
	CALL(CONCATENATION, "u:64Mx1 u:64Mx1@2 i1 > u"),
	CALL(CONV_2D, "f:1x8192x8192x1 f:1x4Kx4Kx1 f:1 i1 i1 i1 i0 > f"),
	CALL(CONV_2D, "f:1x1x1x64M f:1x1x1x64M f:1 i1 i1 i1 i0 > f"),
	CALL(CONV_2D, "f:1x1x1x1 f:64Mx1x1x1 f:64M i1 i1 i1 i0 > f"),
	CALL(CONV_2D, "f:64Mx1x1x1 f:1x1x1x1 f:1 i1 i1 i1 i0 > f"),
	CALL(CONV_2D, "u:1x16Kx16Kx1 u:1x8192x8192x1 t:1@1 i1 i1 i1 i0 > u@2"),
	CALL(CONV_2D, "u:1x1x1x256M u:1x1x1x256M t:1@1 i1 i1 i1 i0 > u@2"),
	CALL(CONV_2D, "u:1x1x1x1 u:64Mx1x1x1 t:64M@1 i1 i1 i1 i0 > u@2"),
	CALL(CONV_2D, "h:1x1x1x64M h:1x1x1x64M h:1 i1 i1 i1 i0 > h"),
	CALL(DEPTHWISE_CONV_2D, "f:1x8192x8192x1 f:1x4Kx4Kx1 f:1 i1 i1 i1 i1 i0 > f"),
	CALL(DEPTHWISE_CONV_2D, "f:1x1x1x64M f:1x1x1x64M f:64M i1 i1 i1 i1 i0 > f"),
	CALL(DEPTHWISE_CONV_2D, "u:1x1x256Mx1 u:1x1x256Mx1 t:1@1 i2 i1 i1 i1 i0 > u@2"),
	CALL(DEPTHWISE_CONV_2D, "u:1x1x1x64M u:1x1x1x64M t:64M@1 i1 i1 i1 i1 i0 > u@2"),
	CALL(DEPTH_TO_SPACE, "f:1x1x1x64M i8192 b0 > f"),
	CALL(DEPTH_TO_SPACE, "f:1x4Kx4Kx4 i2 b0 > f"),
	CALL(DEQUANTIZE, "u:64M > f"), CALL(DEQUANTIZE, "c:64M > f"),
	CALL(DETECTION_POSTPROCESSING, "f:1x16Mx2=1 f:1x16Mx4 f:16Mx4 r1 r1 r1 r1 b0 i1000 i1 "
	     "i1000 r0 r0.5 b0 > f f t t"),
	CALL(DETECTION_POSTPROCESSING, "f:1x1x64M=1 f:1x1x4 f:1x4 r1 r1 r1 r1 b0 i1 i1 "
	     "i1 r0 r0.5 b0 > f f t t"),
	CALL(DETECTION_POSTPROCESSING, "f:1x60Kx2=1 f:1x60Kx4 f:60Kx4 r1 r1 r1 r1 b1 i60K i1 "
	     "i60K r0 r0.5 b0 > f f t t"),
	CALL(DETECTION_POSTPROCESSING, "f:1x1x2=1 f:1x1x4 f:1x4 r1 r1 r1 r1 b1 i16M i1 "
	     "i1 r0 r0.5 b0 > f f t t"),
	CALL(EMBEDDING_LOOKUP, "t:1 f:1x64M > f"), CALL(EMBEDDING_LOOKUP, "t:64M f:1x1 > f"),
	CALL(EXPAND_DIMS, "f:64M i0 > f"), CALL(FILL, "{67108864} r1 > f"),
	CALL(FULLY_CONNECTED, "f:1x64M f:1x64M f:1 i0 > f"),
	CALL(FULLY_CONNECTED, "f:1x1 f:64Mx1 f:64M i0 > f"),
	CALL(FULLY_CONNECTED, "u:1x256M u:1x256M t:1@1 i0 > u@2"),
	CALL(FULLY_CONNECTED, "u:1x8192 u:32Kx8192 t:32K@1 i0 > u@2"),
	CALL(FULLY_CONNECTED, "u:1x1 u:64Mx1 t:64M@1 i0 > u@2"),
	CALL(GATHER, "f:64M i0 t:64M > f"), CALL(GATHER, "f:1x64M i0 t:1 > f"),
	CALL(GENERATE_PROPOSALS, "f:1x1x12Mx1 f:1x1x12Mx4 f:1x4 f:1x2=1 r1 r1 i-1 i-1 r0.5 r-1 "
	     "b0 > f f t"),
	CALL(GENERATE_PROPOSALS, "f:1x1x60Kx1 f:1x1x60Kx4 f:1x4 f:1x2=1 r1 r1 i-1 i-1 r0.5 r-1 "
	     "b0 > f f t"),
	CALL(GROUPED_CONV_2D, "f:1x8192x8192x1 f:1x4Kx4Kx1 f:1 i1 i1 i1 i1 i0 b0 > f"),
	CALL(GROUPED_CONV_2D, "f:1x1x1x64M f:1x1x1x64M f:1 i1 i1 i1 i1 i0 b0 > f"),
	CALL(GROUPED_CONV_2D, "u:1x1x1x256M u:1x1x1x256M t:1@1 i1 i1 i1 i1 i0 b0 > u@2"),
	CALL(HASHTABLE_LOOKUP, "t:1 t:1 f:1x64M > f u"), CALL(HASHTABLE_LOOKUP, "t:64M t:64M f:64M > f u"),
	CALL(HEATMAP_MAX_KEYPOINT, "f:1x8192x8192x1 f:1x4 b0 > f f"),
	CALL(HEATMAP_MAX_KEYPOINT, "f:1x2x2x16M f:1x4 b0 > f f"),
	CALL(INSTANCE_NORMALIZATION, "f:1x1x64Mx1 r1 r0 r1 b0 > f"),
	CALL(INSTANCE_NORMALIZATION, "f:1x8192x8192x1 r1 r0 r1 b0 > f"),
	CALL(INSTANCE_NORMALIZATION, "f:64Mx1x1x1 r1 r0 r1 b0 > f"),
	CALL(L2_NORMALIZATION, "f:64M > f"), CALL(L2_NORMALIZATION, "u:256M > u@0.0078125+128"),
	CALL(L2_NORMALIZATION, "f:2x32M i0 > f"),
	CALL(LOCAL_RESPONSE_NORMALIZATION, "f:64M i64M r1 r1 r1 > f"),
	CALL(LOCAL_RESPONSE_NORMALIZATION, "f:64M i1 r1 r1 r1 > f"),
	CALL(LOG_SOFTMAX, "f:64M r1 i0 > f"), CALL(LOG_SOFTMAX, "f:2x32M r1 i0 > f"),
	CALL(LSH_PROJECTION, "f:1x1 u:1x256M -f i2 > t"),
	CALL(LSH_PROJECTION, "f:4Kx32 f:1Mx2 f:1M i2 > t"),
	CALL(LSTM, "f:1x32M " LSTM_LAYER("32M", "2", "2") "f:1x2 f:1x2 i4 r0 r0 > f f f f"),
	CALL(LSTM, "f:1x1 " LSTM_LAYER("1", "8K", "8K") "f:1x8K f:1x8K i4 r0 r0 > f f f f"),
	CALL(LSTM, "f:16Mx1 " LSTM_LAYER("1", "1", "1") "f:16Mx1 f:16Mx1 i4 r0 r0 > f f f f"),
	CALL(PAD, "f:64M {0,0} > f"), CALL(PAD, "f:1 {0,67108863} > f"),
	CALL(PAD_V2, "u:256M {0,0} i0 > u"), CALL(PAD_V2, "u:1 {0,268435455} i0 > u"),
	CALL(QUANTIZE, "f:64M > u"), CALL(QUANTIZE, "f:64M > s"),
	CALL(QUANTIZED_16BIT_LSTM, "u:1x64M@0.0078125+128 4*u:2x64M 4*u:2x2 4*t:2@0.0078125 "
	     "y:1x2@0.00048828125 u:1x2@0.0078125+128 > y@0.00048828125 u@0.0078125+128"),
	CALL(QUANTIZED_LSTM, "s:1x64M 4*c:2x64M 4*c:2x2 3*-y 4*t:2 -c -t s:1x2 "
	     "y:1x2@0.00048828125 4*-y r0 r0 r1 r1 r1 r1 i0 r1 > s y@0.00048828125 s"),
	CALL(QUANTIZED_LSTM, "s:1x1 4*c:32Mx1 4*c:32Mx1 3*y:32M 4*t:32M c:1x32M t:1 s:1x1 "
	     "y:1x32M@0.00048828125 4*y:32M r0 r0 r1 r1 r1 r1 i0 r1 > s y@0.00048828125 s"),
	CALL(RANDOM_MULTINOMIAL, "f:1x64M i1 {1,2} > t"), CALL(RANDOM_MULTINOMIAL, "f:1x1 i64M {1,2} > t"),
	CALL(RANK, "f:64M > i"),
	REDUCE(MEAN, "f", "i"), REDUCE(MEAN, "u", "i"), REDUCE(REDUCE_ALL, "o", "b"), REDUCE(REDUCE_ANY, "o", "b"),
	REDUCE(REDUCE_MAX, "f", "b"), REDUCE(REDUCE_MIN, "u", "b"), REDUCE(REDUCE_PROD, "f", "b"),
	REDUCE(REDUCE_SUM, "f", "b"),
	CALL(RESHAPE, "f:64M {1,-1} > f"),
	CALL(RESIZE_BILINEAR, "f:1x1x1x1 i8192 i8192 > f"), CALL(RESIZE_BILINEAR, "f:1x1x1x64M i1 i1 > f"),
	CALL(RESIZE_BILINEAR, "u:1x1x1x256M i1 i1 > u"),
	CALL(RESIZE_NEAREST_NEIGHBOR, "f:1x1x1x1 i8192 i8192 b0 > f"),
	CALL(RESIZE_NEAREST_NEIGHBOR, "u:1x1x1x256M i1 i1 b0 > u"),
	CALL(RNN, "f:1x64M f:1x64M f:1x1 f:1 f:1x1 i1 > f f"),
	CALL(RNN, "f:1x1 f:8192x1 f:8192x8192 f:8192 f:1x8192 i6 > f f"),
	CALL(RNN, "f:64Mx1 f:1x1 f:1x1 f:1 f:64Mx1 i6 > f f"),
	CALL(ROI_ALIGN, "f:1x2x2x1 f:1x4 t:1 i1 i1 r1 r1 i1M i1M b0 > f"),
	CALL(ROI_ALIGN, "f:1x2x2x16M f:1x4 t:1 i1 i1 r1 r1 i0 i0 b0 > f"),
	CALL(ROI_ALIGN, "u:1x2x2x1 w:16Mx4@0.125 t:16M i1 i1 r1 r1 i1 i1 b0 > u"),
	CALL(ROI_POOLING, "f:1x8192x8192x1 f:1x4 t:1 i8192 i8192 r1 r1 b0 > f"),
	CALL(ROI_POOLING, "f:1x1x64Mx1 f:1x4=67108864 t:1 i1 i1 r67108864 r1 b0 > f"),
	CALL(ROI_POOLING, "u:1x1x256Mx1 w:1x4@0.125 t:1 i1 i1 r1 r1 b0 > u"),
	CALL(SELECT, "o:64M f:64M f:64M > f"), CALL(SELECT, "o:256M u:256M u:256M > u"),
	CALL(SLICE, "f:64M {0} {-1} > f"), CALL(SLICE, "u:16Kx16K {0,0} {-1,1} > u"),
	CALL(SOFTMAX, "f:64M r1 > f"), CALL(SOFTMAX, "u:256M r1 > u@0.00390625"),
	CALL(SOFTMAX, "f:2x32M r1 i0 > f"),
	CALL(SPACE_TO_BATCH_ND, "f:1x8192x8192x1 {2,2} {0,0,0,0} > f"),
	CALL(SPACE_TO_BATCH_ND, "f:1x1x1x1 {1,1} {0,0,0,67108863} > f"),
	CALL(SPACE_TO_BATCH_ND, "f:1x8192x8192x1 {8192,8192} {0,0,0,0} > f"),
	CALL(SPACE_TO_DEPTH, "f:1x8192x8192x1 i8192 b0 > f"),
	CALL(SPLIT, "f:64M i0 i2 > f f"), CALL(SPLIT, "f:32Mx2 i1 i2 > f f"),
	CALL(SQUEEZE, "f:1x64M {0} > f"),
	CALL(STRIDED_SLICE, "f:64M {0} {67108864} {2} i0 i0 i0 > f"),
	CALL(STRIDED_SLICE, "u:256M {268435455} {-1} {-1} i0 i1 i0 > u"),
	CALL(SVDF, "f:1x64M f:1x64M f:1x1 f:1 f:1x1 i1 i0 > f f"),
	CALL(SVDF, "f:1x1 f:1x1 f:1x64M f:1 f:1x64M i1 i0 > f f"),
	CALL(SVDF, "f:1x1 f:32Mx1 f:32Mx2 f:32M f:1x64M i1 i1 > f f"),
	CALL(TILE, "f:1 {67108864} > f"), CALL(TILE, "f:8192 {8192} > f"),
	CALL(TOPK_V2, "f:64M i1 > f t"), CALL(TOPK_V2, "f:64M i64M > f t"),
	CALL(TOPK_V2, "u:64M i32M > u t"), CALL(TOPK_V2, "f:64Mx1 i1 > f t"),
	CALL(TRANSPOSE, "f:8192x8192 {1,0} > f"), CALL(TRANSPOSE, "u:16Kx16K {1,0} > u"),
	CALL(TRANSPOSE_CONV_2D, "f:1x8192x8192x1 f:1x4Kx4Kx1 f:1 {1,8192,8192,1} i1 i1 i1 i0 b0 > f"),
	CALL(TRANSPOSE_CONV_2D, "f:1x1x1x64M f:1x1x1x64M f:1 {1,1,1,1} i1 i1 i1 i0 b0 > f"),
	CALL(TRANSPOSE_CONV_2D, "u:1x1x1x256M u:1x1x1x256M t:1@1 {1,1,1,1} i1 i1 i1 i0 b0 > u@2"),
	CALL(UNIDIRECTIONAL_SEQUENCE_LSTM, "f:1x1x32M " LSTM_LAYER("32M", "2", "2")
	     "f:1x2 f:1x2 i4 r0 r0 b0 4*-f > f"),
	CALL(UNIDIRECTIONAL_SEQUENCE_LSTM, "f:1x1x1 4*f:32Mx1 4*f:32Mx1 3*f:32M 4*f:32M f:1x32M f:1 "
	     "f:1x1 f:1x32M i4 r0 r0 b0 4*f:32M > f"),
	CALL(UNIDIRECTIONAL_SEQUENCE_LSTM, "f:1x1x1 4*f:1x1 4*f:1x32M 3*f:1 4*f:1 f:32Mx1 f:32M "
	     "f:1x32M f:1x1 i4 r0 r1 b0 4*f:1 > f"),
	CALL(UNIDIRECTIONAL_SEQUENCE_RNN, "f:1x1x64M f:1x64M f:1x1 f:1 f:1x1 i1 i0 > f"),
	CALL(UNIDIRECTIONAL_SEQUENCE_RNN, "f:1x32Mx1 f:1x1 f:1x1 f:1 f:1x1 i1 i0 > f"),
	/* Windows without a tap inside of the image, taps along y with none along x. */
	CALL(DEPTHWISE_CONV_2D, "u:1x1x1x1 u:1x2x1x1 t:1@1 i0 i0 i134217727 i134217727 i1 i1 i1 i0 b0 "
				"i1 i128M > u@2"),
	CALL(DEPTHWISE_CONV_2D, "f:1x1x1x1 f:1x2x1x2 f:2 i0 i0 i16777215 i16777215 i1 i1 i2 i0 b0 "
				"i1 i16M > f"),
	CALL(TRANSPOSE_CONV_2D, "u:1x128Mx2x1 u:1x128Mx1x1 t:1@1 i1 i0 i134217727 i134217727 i2 i1 "
				"i0 b0 > u@2"),
	/* Batches without cells, without filters. */
	CALL(QUANTIZED_16BIT_LSTM, "u:4294967295x0@0.0078125+128 4*u:0x0 4*u:0x0 4*t:0@0.0078125 "
	     "y:4294967295x0@0.00048828125 u:4294967295x0@0.0078125+128 > y@0.00048828125 "
	     "u@0.0078125+128"),
	CALL(SVDF, "f:4294967295x0 f:0x0 f:0x1 -f f:4294967295x0 i1 i0 > f f"),
	/* Elements that are pages apart. */
	CALL(ARGMAX, "f:64Kx1K=1 i0 > t"), CALL(LOG_SOFTMAX, "f:64Kx1K=1 r1 i0 > f"),
	CALL(L2_NORMALIZATION, "f:64Kx1K=1 i0 > f"), CALL(REDUCE_MAX, "f:64Kx1K=1 {0} b0 > f"),
	CALL(SOFTMAX, "f:64Kx1K=1 r1 i0 > f"), CALL(SOFTMAX, "f:256x256K=1 r1 i0 > f"),
	CALL(SOFTMAX, "u:64Kx4K r1 i0 > u@0.00390625"),
	CALL(LOCAL_RESPONSE_NORMALIZATION, "f:64Kx1K=1 i5 r1 r1 r0.5 i0 > f"),
	CALL(INSTANCE_NORMALIZATION, "f:1x256x256x1K=1 r1 r1 r1 b0 > f"),
	CALL(AVERAGE_POOL_2D, "f:1x16Kx64x64=1 i0 i0 i0 i0 i1 i1 i2 i2 i0 b1 > f"),
	CALL(MAX_POOL_2D, "u:1x64Kx64x64 i0 i0 i0 i0 i1 i1 i2 i2 i0 b1 > u"),
	CALL(CONV_2D, "f:1x16Kx64x64=1 f:1x2x2x16K f:1 i1 i1 i1 i0 b1 i1 i1 > f"),
	CALL(CONV_2D, "u:1x64Kx64x64 u:1x2x2x64K t:1@1 i1 i1 i1 i0 b1 i1 i1 > u@2"),
	CALL(GROUPED_CONV_2D, "f:1x16Kx64x64=1 f:1x2x2x16K f:1 i1 i1 i1 i1 i0 b1 > f"),
	CALL(TRANSPOSE_CONV_2D, "f:1x16Kx64x64=1 f:1x2x2x16K f:1 {1,1,65,65} i2 i1 i1 i0 b1 > f"),
	CALL(RESIZE_BILINEAR, "f:1x4Kx128x128=1 i128 i128 b1 > f"),
	CALL(RESIZE_NEAREST_NEIGHBOR, "f:1x4Kx128x128=1 i128 i128 b1 > f"),
};

const unsigned int num_large_calls = sizeof(large_calls) / sizeof(large_calls[0]);

/* A number with K or M behind it. */
static uint32_t number(const char **s)
{
	char *end;
	unsigned long v = strtoul(*s, &end, 10);

	if (*end == 'K' || *end == 'M')
		v <<= *end++ == 'K' ? 10 : 20;
	*s = end;
	return (uint32_t)v;
}

static float real(const char **s)
{
	char *end;
	float v = strtof(*s, &end);

	*s = end;
	return v;
}

static enum nnpu_type type_of(char c)
{
	static const char letters[] = "fhusctowyilzdqvp";
	static const enum nnpu_type types[] = {
		NNPU_TYPE_TENSOR_FLOAT32, NNPU_TYPE_TENSOR_FLOAT16,
		NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
		NNPU_TYPE_TENSOR_QUANT8_SYMM, NNPU_TYPE_TENSOR_INT32, NNPU_TYPE_TENSOR_BOOL8,
		NNPU_TYPE_TENSOR_QUANT16_ASYMM, NNPU_TYPE_TENSOR_QUANT16_SYMM, NNPU_TYPE_INT32,
		TFLITE_TENSOR_INT64, TFLITE_TENSOR_COMPLEX64, TFLITE_TENSOR_FLOAT64, TFLITE_TENSOR_UINT64,
		TFLITE_TENSOR_UINT32, TFLITE_TENSOR_UINT16,
	};
	const char *at = strchr(letters, c);

	if (!c || !at)
		abort();
	return types[at - letters];
}

static float scale_of(enum nnpu_type type)
{
	switch (type) {
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM:
	case NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNPU_TYPE_TENSOR_QUANT8_SYMM:
	case NNPU_TYPE_TENSOR_QUANT16_ASYMM:
	case NNPU_TYPE_TENSOR_QUANT16_SYMM:
		return 1.0f;
	default:
		return 0.0f;
	}
}

static void read_tensor(const char **s, struct large_operand *o)
{
	o->kind = LARGE_TENSOR;
	o->type = type_of(*(*s)++);
	o->scale = scale_of(o->type);
	if (**s == ':') {
		do {
			++*s;
			o->dims[o->rank++] = number(s);
		} while (**s == 'x');
	}
	if (**s == '=') {
		++*s;
		o->value = real(s);
	}
	if (**s == '@') {
		++*s;
		o->scale = real(s);
		if (**s == '+') {
			++*s;
			o->zero_point = (int32_t)number(s);
		}
	}
}

/* @second: the operand is the second one. */
static void read_list(enum nnpu_operation op, bool second, const char **s,
		      struct large_operand *o)
{
	uint32_t n = 0, columns = 0;
	char *end;

	o->kind = LARGE_LIST;
	o->type = NNPU_TYPE_TENSOR_INT32;
	do {
		if (n == LARGE_MAX_LIST)
			abort();
		o->list[n++] = (int32_t)strtol(*s + 1, &end, 10);
		*s = end;
	} while (**s == ',');
	++*s;
	if (**s == 'x') {
		++*s;
		columns = number(s);
	}
	/* Pairs where a list has a row for each dimension. */
	if (op == NNPU_OP_PAD || op == NNPU_OP_PAD_V2 ||
	    (op == NNPU_OP_SPACE_TO_BATCH_ND && !second))
		columns = 2;
	if (columns) {
		o->rank = 2;
		o->dims[0] = n / columns;
		o->dims[1] = columns;
	} else {
		o->rank = 1;
		o->dims[0] = n;
	}
}

static void read_scalar(const char **s, struct large_operand *o)
{
	char c = *(*s)++;
	bool minus;
	float v;

	o->kind = LARGE_SCALAR;
	switch (c) {
	case 'i':
		o->type = NNPU_TYPE_INT32;
		minus = **s == '-';
		*s += minus;
		o->list[0] = minus ? -(int32_t)number(s) : (int32_t)number(s);
		break;
	case 'r':
		o->type = NNPU_TYPE_FLOAT32;
		v = real(s);
		memcpy(o->list, &v, sizeof(v));
		break;
	default:
		o->type = NNPU_TYPE_BOOL;
		*(uint8_t *)o->list = *(*s)++ == '1';
		break;
	}
}

static void read_operand(const struct large_call *call, unsigned int i, const char **s,
			 struct large_operand *o)
{
	if (**s == '{') {
		read_list(call->op, i == 1, s, o);
	} else if (**s == '-') {
		o->kind = LARGE_OMITTED;
		o->type = type_of((*s)[1]);
		o->scale = scale_of(o->type);
		*s += 2;
	} else if ((!o->output && **s == 'i') || **s == 'r' || **s == 'b') {
		read_scalar(s, o);
	} else {
		read_tensor(s, o);
	}
}

unsigned int large_call_read(const struct large_call *call, struct large_operand *operands)
{
	const char *s = call->operands;
	bool output = false;
	unsigned int n = 0;

	while (*s) {
		unsigned int times = 1;
		const char *from;

		if (*s == ' ' || *s == '>') {
			output |= *s++ == '>';
			continue;
		}
		if (isdigit(*s)) {
			times = number(&s);
			s++;
		}
		from = s;
		while (times--) {
			if (n == LARGE_MAX_OPERANDS)
				abort();
			operands[n] = (struct large_operand) { .output = output };
			s = from;
			read_operand(call, n, &s, &operands[n]);
			n++;
		}
	}
	return n;
}
