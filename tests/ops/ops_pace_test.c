// SPDX-License-Identifier: MIT
/*
 * Every operation reaches a preemption point often enough at the largest operands that the
 * device takes, and ends soon when a point tells it to.
 *
 * Time is that of the thread, so that the load of the machine does not count.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "../tap.h"
#include "ops_fixture.h"

/* Longest time without a point, and from an abort to the end. Sanitizers are slow. */
#if defined(__SANITIZE_ADDRESS__)
#define SLOWER		10
#else
#define SLOWER		1
#endif
#define MAX_GAP_NS	(SLOWER * 10000000ull)
#define MAX_END_NS	(SLOWER * 20000000ull)

/* How long an operation runs before it is told to end. */
#define RUN_NS		60000000ull

/*
 * A call: operands, with > before the outputs.
 *
 *	f h u s t o w y		tensor: FLOAT32, FLOAT16, QUANT8_ASYMM, signed, INT32, BOOL8,
 *				QUANT16_ASYMM, QUANT16_SYMM; c: QUANT8_SYMM
 *	:64Mx2			its shape (inputs)
 *	=1.5			its elements; else 0 (inputs)
 *	@0.5+128		its scale and zero point
 *	-f			an omitted tensor
 *	i1 r0.5 b1		scalar: INT32, FLOAT32, BOOL
 *	{1,2}			constant list: TENSOR_INT32
 *	3*f:1			three of them
 */
struct call {
	enum nnpu_operation op;
	const char *operands;
};

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

static const struct call calls[] = {
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
};

/* Reading calls. */

#define MAX_DIMS	4

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

static enum nnpu_type type_of(char c)
{
	static const char letters[] = "fhusctowyi";
	static const enum nnpu_type types[] = {
		NNPU_TYPE_TENSOR_FLOAT32, NNPU_TYPE_TENSOR_FLOAT16,
		NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED,
		NNPU_TYPE_TENSOR_QUANT8_SYMM, NNPU_TYPE_TENSOR_INT32, NNPU_TYPE_TENSOR_BOOL8,
		NNPU_TYPE_TENSOR_QUANT16_ASYMM, NNPU_TYPE_TENSOR_QUANT16_SYMM, NNPU_TYPE_INT32,
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

/* Pages that take no memory until they are written. */
static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes + 64, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void fill(struct tensor *t, void *data, float v)
{
	size_t n = t->bytes / type_size(t->type);

	for (size_t i = 0; v != 0 && i < n; i++) {
		if (t->type == NNPU_TYPE_TENSOR_FLOAT32)
			((float *)data)[i] = v;
		else
			((int32_t *)data)[i] = (int32_t)v;
	}
}

static void add_tensor(struct fixture *f, const char **s, bool output)
{
	unsigned int rank = 0, at = f->num_inputs + f->num_outputs;
	enum nnpu_type type = type_of(*(*s)++);
	float scale = scale_of(type), value = 0;
	uint32_t dims[MAX_DIMS];
	struct tensor *t;
	char *end;
	int zero = 0;

	if (**s == ':') {
		do {
			++*s;
			dims[rank++] = number(s);
		} while (**s == 'x');
	}
	if (**s == '=') {
		value = strtof(*s + 1, &end);
		*s = end;
	}
	if (**s == '@') {
		scale = strtof(*s + 1, &end);
		*s = end;
		if (**s == '+') {
			zero = (int)strtol(*s + 1, &end, 10);
			*s = end;
		}
	}
	if (output) {
		fixture_output(f, type, scale, zero);
		return;
	}
	t = fixture_input(f, type, scale, zero, rank, dims, NULL);
	f->sizes[at] = t->bytes;
	f->data[at] = map(t->bytes);
	fill(t, f->data[at], value);
}

static void add_list(struct fixture *f, const char **s)
{
	int32_t values[8];
	uint32_t n = 0;
	char *end;

	do {
		values[n++] = (int32_t)strtol(*s + 1, &end, 10);
		*s = end;
	} while (**s == ',');
	++*s;
	/* Pairs where a list has a row for each dimension. */
	if (f->op == NNPU_OP_PAD || f->op == NNPU_OP_PAD_V2 ||
	    (f->op == NNPU_OP_SPACE_TO_BATCH_ND && f->num_inputs == 2))
		fixture_const(f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(n / 2, 2), values);
	else
		fixture_const(f, NNPU_TYPE_TENSOR_INT32, 0, 0, DIMS(n), values);
}

static void add_operand(struct fixture *f, const char **s, bool output)
{
	char *end;

	if (**s == '{') {
		add_list(f, s);
	} else if (**s == '-') {
		fixture_const(f, type_of((*s)[1]), scale_of(type_of((*s)[1])), 0, DIMS(1),
			      (float[]){ 0 })->kind = NNPU_TENSOR_NO_VALUE;
		*s += 2;
	} else if (!output && **s == 'i') {
		bool minus = (*s)[1] == '-';

		*s += minus ? 2 : 1;
		fixture_i32(f, minus ? -(int32_t)number(s) : (int32_t)number(s));
	} else if (**s == 'r') {
		fixture_f32(f, strtof(*s + 1, &end));
		*s = end;
	} else if (**s == 'b') {
		fixture_bool(f, (*s)[1] == '1');
		*s += 2;
	} else {
		add_tensor(f, s, output);
	}
}

static void read_call(struct fixture *f, const struct call *call)
{
	const char *s = call->operands;
	bool output = false;

	fixture_init(f, call->op);
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
			s = from;
			add_operand(f, &s, output);
		}
	}
}

/* Running. */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct {
	uint64_t start, last, gap;
	uint64_t told;			/* when it was told to end, or 0 */
	uint64_t end;
} watch;

static bool look(void)
{
	uint64_t t = now();

	if (t - watch.last > watch.gap && !watch.told)
		watch.gap = t - watch.last;
	watch.last = t;
	if (!watch.told && t - watch.start > RUN_NS)
		watch.told = t;
	return watch.told;
}

/* The functions that a job calls. False: the operation refuses the call. */
static bool run(struct fixture *f)
{
	struct op_call *c = &f->graph.calls[0].call;
	size_t scratch;
	int ret;

	for (unsigned int i = 0; i < f->num_inputs; i++)
		if (f->data[i])
			f->graph.tensors[i].data = f->data[i];
	graph_look = look;
	watch.start = now();
	watch.last = watch.start;
	watch.gap = 0;
	watch.told = 0;
	watch.end = watch.start;
	ret = c->desc->infer(c);
	look();
	watch.end = watch.last;
	if (!ret && !watch.told) {
		for (unsigned int i = 0; i < c->num_outputs; i++) {
			struct tensor *t = c->out[i];

			graph_set_shape(t, t->rank, t->dims);
			t->data = map(t->bytes);
		}
		scratch = op_scratch(c);
		c->scratch = map(scratch);
		ret = op_execute(c);
		look();
		watch.end = watch.last;
		munmap(c->scratch, scratch + 64);
		for (unsigned int i = 0; i < c->num_outputs; i++) {
			munmap(c->out[i]->data, c->out[i]->bytes + 64);
			c->out[i]->data = NULL;
		}
	}
	graph_look = NULL;
	return ret == 0 || ret == OP_ABORTED;
}

static void unmap(struct fixture *f)
{
	for (unsigned int i = 0; i < f->num_inputs; i++) {
		if (!tensor_is_const(&f->tensors[i]) &&
		    f->tensors[i].kind != NNPU_TENSOR_NO_VALUE && f->data[i]) {
			munmap(f->data[i], f->sizes[i] + 64);
			f->data[i] = NULL;
		}
	}
}

/* One call. False: it is too long without a point, or does not end. */
static bool try_call(const struct call *call, bool *ran)
{
	struct fixture f;
	bool good;

	read_call(&f, call);
	*ran = fixture_load(&f) == NNPU_REASON_NONE && run(&f);
	if (!*ran)
		tap_note("%s, operand %u", reason_text(fixture_reason(&f)),
			 fixture_bad_operand(&f));
	good = *ran && watch.gap <= MAX_GAP_NS &&
	       (!watch.told || watch.end - watch.told <= MAX_END_NS);
	unmap(&f);
	fixture_end(&f);
	return good;
}

static void test_call(const struct call *call, bool verbose)
{
	unsigned int tries = 0;
	bool good, ran;

	/* What the host takes from its guest is in no clock; a missing point is so each time. */
	do {
		good = try_call(call, &ran);
		if (ran && (!good || verbose))
			tap_note("longest time without a point: %.2f ms; to the end: %.2f ms",
				 (double)watch.gap / 1e6,
				 watch.told ? (double)(watch.end - watch.told) / 1e6 : 0.0);
	} while (ran && !good && ++tries < 5);
	ok(good, "%s, %s", op_name(call->op), call->operands);
}

int main(int argc, char **argv)
{
	bool done[NNPU_NUM_OPERATIONS] = { false };
	unsigned int missing = 0;

	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		done[calls[i].op] = true;
		if (argc == 1 || !strcmp(argv[1], op_name(calls[i].op)))
			test_call(&calls[i], argc > 1);
	}
	for (unsigned int i = 0; i < NNPU_NUM_OPERATIONS; i++) {
		if (op_find(i) && !done[i]) {
			tap_note("%s has no call", op_name(i));
			missing++;
		}
	}
	ok(!missing, "every operation has a call");
	return tap_done();
}
