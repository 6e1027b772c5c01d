// SPDX-License-Identifier: MIT
/*
 * Writes the first inputs of the device fuzzers: usage: fuzz_seeds program|rings DIR.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../emulator/rig.h"

static const char *directory;
static unsigned int number;

static void write_seed(const uint8_t *head, size_t head_size, const void *body, size_t body_size)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/seed-%03u", directory, number++);
	f = fopen(path, "wb");
	if (!f || fwrite(head, 1, head_size, f) != head_size ||
	    fwrite(body, 1, body_size, f) != body_size || fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void program_seed(struct image *im, uint8_t options)
{
	static const uint8_t large[] = { 8, 0 };
	const uint8_t head[] = { options, 4, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3 };

	image_finish(im);
	write_seed(head, sizeof(head), im->bytes, im->size);
	/* The same with an operand of 64 MiB. */
	write_seed(large, sizeof(large), im->bytes, im->size);
	image_free(im);
}

static void unary(uint32_t op, unsigned int type, float scale, int zero_point, float out_scale,
		  int out_zero_point)
{
	struct image im;
	uint32_t in, out;

	image_init(&im);
	in = image_quant(&im, type, NNPU_TENSOR_INPUT, scale, zero_point, 6);
	out = image_quant(&im, type, NNPU_TENSOR_OUTPUT, out_scale, out_zero_point, 6);
	image_command(&im, op, 1, 1, in, out);
	program_seed(&im, 2);
}

static void binary(uint32_t op, unsigned int type, unsigned int kind, float scale, int n)
{
	static const uint8_t zeros[64];
	struct image im;
	uint32_t a, b, act, out;

	image_init(&im);
	a = image_quant(&im, type, NNPU_TENSOR_INPUT, scale, 0, (uint32_t)n);
	b = kind == NNPU_TENSOR_INPUT ? image_quant(&im, type, kind, scale, 0, (uint32_t)n) :
		image_const(&im, type, 1, zeros, scale != 0 ? 1 : 4);
	memcpy(&im.tensors[b].scale, &scale, sizeof(scale));
	act = image_scalar(&im, 1);
	out = image_quant(&im, type, NNPU_TENSOR_OUTPUT, scale, 0, (uint32_t)n);
	image_command(&im, op, 3, 1, a, b, act, out);
	program_seed(&im, 4);
}

/* Convolution or pooling of a [1, 5, 5, 2] picture. */
static void spatial(uint32_t op, bool known)
{
	static const float weights[3 * 3 * 2 * 2];
	uint32_t in, out, filter = 0, bias = 0, one, three, act, pad;
	struct image im;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, known ? 5 : 0,
			  known ? 5 : 0, 2, -1);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 1, 0, 0, 2, -1);
	one = image_scalar(&im, 1);
	three = image_scalar(&im, 3);
	pad = image_scalar(&im, 1);
	act = image_scalar(&im, 0);
	if (op == NNPU_OP_CONV_2D || op == NNPU_OP_DEPTHWISE_CONV_2D) {
		bool depthwise = op == NNPU_OP_DEPTHWISE_CONV_2D;
		size_t bytes = sizeof(weights) / (depthwise ? 2 : 1);

		filter = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 1, weights, bytes);
		im.tensors[filter].rank = 4;
		im.tensors[filter].dims[0] = htole32(depthwise ? 1 : 2);
		im.tensors[filter].dims[1] = htole32(3);
		im.tensors[filter].dims[2] = htole32(3);
		im.tensors[filter].dims[3] = htole32(2);
		bias = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 2, weights, 8);
	}
	if (op == NNPU_OP_CONV_2D)
		image_command(&im, op, 7, 1, in, filter, bias, pad, one, one, act, out);
	else if (op == NNPU_OP_DEPTHWISE_CONV_2D)
		image_command(&im, op, 8, 1, in, filter, bias, pad, one, one, one, act, out);
	else
		image_command(&im, op, 7, 1, in, pad, one, one, three, three, act, out);
	program_seed(&im, 0);
}

static void fully_connected(void)
{
	static const float weights[12];
	uint32_t in, out, filter, bias, act;
	struct image im;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, 4, -1);
	filter = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 3, weights, sizeof(weights));
	im.tensors[filter].rank = 2;
	im.tensors[filter].dims[1] = htole32(4);
	bias = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 3, weights, 12);
	act = image_scalar(&im, 0);
	out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 3, -1);
	image_command(&im, NNPU_OP_FULLY_CONNECTED, 4, 1, in, filter, bias, act, out);
	program_seed(&im, 0);
}

/* Operation 0 of the first extension: types and parameters of its own. */
static void extension(bool constant)
{
	static const uint8_t half_and_ten[16] = { [6] = 0xe0, 0x3f, 10 };
	static const uint8_t five[8] = { 5 };
	uint32_t in, out;
	struct image im;

	image_init(&im);
	if (constant)
		in = image_const(&im, NNPU_TYPE_EXTENSION, 0, five, sizeof(five));
	else
		in = image_tensor(&im, NNPU_TYPE_EXTENSION, NNPU_TENSOR_INPUT, -1);
	im.tensors[in].rank = 0;
	out = image_tensor(&im, NNPU_TYPE_EXTENSION + 1, NNPU_TENSOR_OUTPUT, 0, -1);
	im.data_size = (im.data_size + 7) & ~7u;
	memcpy(im.data + im.data_size, half_and_ten, sizeof(half_and_ten));
	im.tensors[out].params_off = htole32(im.data_size);
	im.tensors[out].params_len = htole32(sizeof(half_and_ten));
	im.data_size += sizeof(half_and_ten);
	image_command(&im, NNPU_CMD_EXTENSION, 1, 1, in, out);
	program_seed(&im, 0);
}

static void shapes(void)
{
	const int32_t target[2] = { 2, -1 };
	const float beta = 1;
	struct image im;
	uint32_t a, b, c, d, act;

	/* The shape of b is the value of an input, computed: batches. */
	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 4, -1);
	c = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_INPUT, 2, -1);
	d = image_tensor(&im, NNPU_TYPE_TENSOR_INT32, NNPU_TENSOR_TEMPORARY, 2, -1);
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	act = image_scalar(&im, 0);
	image_command(&im, NNPU_OP_ADD, 3, 1, c, c, act, d);
	image_command(&im, NNPU_OP_RESHAPE, 2, 1, a, d, b);
	program_seed(&im, 0);

	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, -1);
	c = image_const(&im, NNPU_TYPE_TENSOR_INT32, 2, target, sizeof(target));
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_TEMPORARY, 0, 0, -1);
	image_command(&im, NNPU_OP_RESHAPE, 2, 1, a, c, b);
	d = image_const(&im, NNPU_TYPE_FLOAT32, 0, &beta, 4);
	im.tensors[d].rank = 0;
	act = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	image_command(&im, NNPU_OP_SOFTMAX, 2, 1, b, d, act);
	program_seed(&im, 0);

	image_init(&im);
	a = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 2, 0, -1);
	b = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 2, 3, -1);
	act = image_scalar(&im, 1);
	c = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	image_command(&im, NNPU_OP_CONCATENATION, 3, 1, a, b, act, c);
	program_seed(&im, 0);
}

/* A constant list of two numbers. */
static uint32_t list(struct image *im, int32_t a, int32_t b)
{
	const int32_t values[2] = { a, b };

	return image_const(im, NNPU_TYPE_TENSOR_INT32, 2, values, sizeof(values));
}

/* Operations on a [4, 6] matrix with lists of positions, sizes and axes. */
static void movements(void)
{
	static const uint32_t ops[] = {
		NNPU_OP_TRANSPOSE, NNPU_OP_TILE, NNPU_OP_SLICE, NNPU_OP_PAD,
		NNPU_OP_STRIDED_SLICE, NNPU_OP_MEAN, NNPU_OP_GATHER, NNPU_OP_EXPAND_DIMS,
		NNPU_OP_ARGMAX, NNPU_OP_TOPK_V2, NNPU_OP_SPLIT, NNPU_OP_CHANNEL_SHUFFLE,
		NNPU_OP_L2_NORMALIZATION, NNPU_OP_CAST, NNPU_OP_RANK,
	};
	unsigned int i;

	for (i = 0; i < 2 * sizeof(ops) / sizeof(ops[0]); i++) {
		int rows = i % 2 ? 0 : 4;
		uint32_t in, out, other, a, b, c, n;
		struct image im;

		image_init(&im);
		in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT16, NNPU_TENSOR_INPUT, rows, 6, -1);
		out = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT16, NNPU_TENSOR_OUTPUT, -1);
		im.tensors[out].flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
		n = image_scalar(&im, 1);
		switch (ops[i / 2]) {
		case NNPU_OP_TRANSPOSE:
			image_command(&im, ops[i / 2], 2, 1, in, list(&im, 1, 0), out);
			break;
		case NNPU_OP_TILE:
			image_command(&im, ops[i / 2], 2, 1, in, list(&im, 2, 1), out);
			break;
		case NNPU_OP_SLICE:
			image_command(&im, ops[i / 2], 3, 1, in, list(&im, 1, 0),
				      list(&im, -1, 3), out);
			break;
		case NNPU_OP_PAD:
			a = image_const(&im, NNPU_TYPE_TENSOR_INT32, 2,
					(int32_t[]){ 1, 0, 2, 1 }, 16);
			im.tensors[a].rank = 2;
			im.tensors[a].dims[1] = htole32(2);
			image_command(&im, ops[i / 2], 2, 1, in, a, out);
			break;
		case NNPU_OP_STRIDED_SLICE:
			a = image_scalar(&im, 0);
			b = image_scalar(&im, 2);
			c = list(&im, 2, -1);
			image_command(&im, ops[i / 2], 7, 1, in, list(&im, 0, -1),
				      list(&im, 4, 0), c, a, b, a, out);
			break;
		case NNPU_OP_MEAN:
			image_command(&im, ops[i / 2], 3, 1, in, list(&im, 0, -1), n, out);
			break;
		case NNPU_OP_GATHER:
			image_command(&im, ops[i / 2], 3, 1, in, n, list(&im, 5, 0), out);
			break;
		case NNPU_OP_ARGMAX:
			im.tensors[out].type = htole16(NNPU_TYPE_TENSOR_INT32);
			image_command(&im, ops[i / 2], 2, 1, in, n, out);
			break;
		case NNPU_OP_TOPK_V2:
		case NNPU_OP_SPLIT:
			other = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT16, NNPU_TENSOR_OUTPUT, -1);
			im.tensors[other].flags = htole32(NNPU_TENSOR_UNKNOWN_RANK);
			if (ops[i / 2] == NNPU_OP_SPLIT) {
				image_command(&im, ops[i / 2], 3, 2, in, n, image_scalar(&im, 2),
					      out, other);
				break;
			}
			im.tensors[other].type = htole16(NNPU_TYPE_TENSOR_INT32);
			image_command(&im, ops[i / 2], 2, 2, in, n, out, other);
			break;
		case NNPU_OP_CHANNEL_SHUFFLE:
			image_command(&im, ops[i / 2], 3, 1, in, image_scalar(&im, 2), n, out);
			break;
		case NNPU_OP_RANK:
			im.tensors[out].type = htole16(NNPU_TYPE_INT32);
			im.tensors[out].flags = 0;
			image_command(&im, ops[i / 2], 1, 1, in, out);
			break;
		case NNPU_OP_CAST:
			image_command(&im, ops[i / 2], 1, 1, in, out);
			break;
		default:
			image_command(&im, ops[i / 2], 2, 1, in, n, out);
			break;
		}
		program_seed(&im, 0);
	}
}

/* A layer with a state, two outputs and operands that may be omitted. */
static void recurrent(void)
{
	static const float zeros[8];
	uint32_t in, t[4], out[2];
	struct image im;

	image_init(&im);
	in = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, 2, -1);
	for (unsigned int i = 0; i < 2; i++) {
		t[i] = image_const(&im, NNPU_TYPE_TENSOR_FLOAT32, 2, zeros, 16);
		im.tensors[t[i]].rank = 2;
		im.tensors[t[i]].dims[1] = htole32(2);
	}
	t[2] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, -1);
	t[3] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 1, 4, -1);
	out[0] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	out[1] = image_tensor(&im, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_OUTPUT, 0, 0, -1);
	image_command(&im, NNPU_OP_SVDF, 7, 2, in, t[0], t[1], t[2], t[3], image_scalar(&im, 1),
		      image_scalar(&im, 4), out[0], out[1]);
	program_seed(&im, 0);
}

/* A tensor of one element, or of an unknown number. */
static uint32_t one(struct image *im, unsigned int type, unsigned int kind, bool known)
{
	return image_tensor(im, type, kind, known ? 1 : 0, -1);
}

/* A branch whose blocks are those of two. */
static void branches(bool known)
{
	const unsigned int type = NNPU_TYPE_TENSOR_FLOAT32;
	uint32_t cond, x, out[2], act, t[3], i;
	struct image im;

	image_init(&im);
	cond = one(&im, NNPU_TYPE_TENSOR_BOOL8, NNPU_TENSOR_INPUT, true);
	x = one(&im, type, NNPU_TENSOR_INPUT, known);
	for (i = 0; i < 2; i++)
		out[i] = one(&im, type, NNPU_TENSOR_OUTPUT, known);
	act = image_scalar(&im, 0);
	for (i = 0; i < 2; i++) {
		image_command(&im, NNPU_CMD_BRANCH, 3, 1, cond, x, x, out[i]);
		image_targets(&im, i ? 2 : 4, i ? 4 : 2);
	}
	for (i = 0; i < 4; i += 2) {
		for (unsigned int k = 0; k < 3; k++)
			t[k] = one(&im, type, NNPU_TENSOR_TEMPORARY, known);
		image_command(&im, NNPU_CMD_BLOCK, 2, 1, t[0], t[1], t[2]);
		image_command(&im, i ? NNPU_OP_MUL : NNPU_OP_ADD, 3, 1, t[0], t[1], act, t[2]);
	}
	program_seed(&im, 0);
}

/* A loop whose body has a loop or a branch, which shares the outer one's condition. */
static void loops(bool known, bool inner_loop, bool grows)
{
	const unsigned int type = NNPU_TYPE_TENSOR_INT32, temp = NNPU_TENSOR_TEMPORARY;
	const int32_t values[3] = { 0, 1, 2 };
	uint32_t in[3], out, c[3], act, t[6], i;
	struct image im;

	image_init(&im);
	for (i = 0; i < 3; i++)
		in[i] = one(&im, type, NNPU_TENSOR_INPUT, known);
	out = one(&im, type, NNPU_TENSOR_OUTPUT, known);
	act = image_scalar(&im, 0);
	for (i = 0; i < 3; i++)
		c[i] = image_const(&im, type, 1, &values[i], 4);
	image_command(&im, NNPU_CMD_LOOP, 3, 1, in[0], in[1], in[2], out);
	image_targets(&im, 4, 1);
	for (i = 0; i < 5; i++)
		t[i] = one(&im, type, temp, known);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], c[1], act, t[4]);
	if (inner_loop) {
		image_command(&im, NNPU_CMD_LOOP, 3, 1, t[0], c[0], t[4], t[3]);
		image_targets(&im, 4, 6);
	} else {
		uint32_t cond = one(&im, NNPU_TYPE_TENSOR_BOOL8, temp, true);

		im.num_commands--;
		image_command(&im, NNPU_OP_LESS, 2, 1, t[1], c[2], cond);
		image_command(&im, NNPU_CMD_BRANCH, 4, 2, cond, t[0], t[1], t[2], t[3], t[4]);
		image_targets(&im, 6, 6);
	}
	for (i = 0; i < 3; i++)
		t[i] = one(&im, type, temp, known);
	t[3] = one(&im, NNPU_TYPE_TENSOR_BOOL8, temp, true);
	image_command(&im, NNPU_CMD_BLOCK, 3, 1, t[0], t[1], t[2], t[3]);
	image_command(&im, NNPU_OP_LESS, 2, 1, t[1], t[2], t[3]);
	for (i = 0; i < 5; i++)
		t[i] = one(&im, type, temp, known);
	image_command(&im, NNPU_CMD_BLOCK, 3, 2, t[0], t[1], t[2], t[3], t[4]);
	if (grows)
		image_command(&im, NNPU_OP_TILE, 2, 1, t[0], c[2], t[3]);
	else
		image_command(&im, NNPU_OP_ADD, 3, 1, t[0], c[1], act, t[3]);
	image_command(&im, NNPU_OP_ADD, 3, 1, t[1], c[1], act, t[4]);
	program_seed(&im, 0);
}

static void program_seeds(void)
{
	static const uint32_t unaries[] = {
		NNPU_OP_RELU, NNPU_OP_RELU1, NNPU_OP_RELU6, NNPU_OP_LOGISTIC, NNPU_OP_TANH,
		NNPU_OP_HARD_SWISH,
	};
	static const uint32_t windows[] = {
		NNPU_OP_CONV_2D, NNPU_OP_DEPTHWISE_CONV_2D, NNPU_OP_AVERAGE_POOL_2D,
		NNPU_OP_MAX_POOL_2D,
	};
	unsigned int i;

	for (i = 0; i < sizeof(unaries) / sizeof(unaries[0]); i++) {
		bool tanh = unaries[i] == NNPU_OP_TANH, logistic = unaries[i] == NNPU_OP_LOGISTIC;

		unary(unaries[i], NNPU_TYPE_TENSOR_FLOAT32, 0, 0, 0, 0);
		unary(unaries[i], NNPU_TYPE_TENSOR_QUANT8_ASYMM, 0.5f, 3,
		      tanh ? 1.0f / 128 : logistic ? 1.0f / 256 : 0.5f, tanh ? 128 : logistic ? 0 : 3);
	}
	unary(NNPU_OP_ABS, NNPU_TYPE_TENSOR_INT32, 0, 0, 0, 0);
	binary(NNPU_OP_ADD, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INPUT, 0, 6);
	binary(NNPU_OP_ADD, NNPU_TYPE_TENSOR_FLOAT32, NNPU_TENSOR_INLINE, 0, 0);
	binary(NNPU_OP_MUL, NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, NNPU_TENSOR_INPUT, 0.5f, 6);
	binary(NNPU_OP_ADD, NNPU_TYPE_TENSOR_QUANT8_ASYMM, NNPU_TENSOR_INLINE, 0.5f, 0);
	for (i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		spatial(windows[i], true);
		spatial(windows[i], false);
	}
	fully_connected();
	shapes();
	extension(false);
	extension(true);
	movements();
	recurrent();
	for (i = 0; i < 2; i++) {
		branches(i);
		loops(i, true, false);
		loops(i, false, false);
	}
	loops(false, true, true);
}

static void rings_seeds(void)
{
	/* Steps of fuzz_rings.c: slots, context, queue, program, jobs, abort, unload. */
	static const uint8_t life[] = {
		11, 0x39, 11, 0x3d, 2, 1, 0, 3, 0x05, 0, 4, 0x05, 0,
		5, 0x0a, 12, 0, 5, 0x0b, 12, 0, 5, 0x2a, 12, 0, 12, 6, 0x09, 0, 6, 0x05, 0,
		7, 0x19, 0, 7, 0x01, 0, 7, 0x05, 0,
	};
	static const uint8_t user[] = {
		11, 0x39, 11, 0x7d, 2, 1, 0, 3, 0x11, 0, 3, 0x1a, 0, 4, 0x45, 0, 4, 0x05, 0,
		5, 0x08, 8, 0, 8, 1, 8, 0, 0, 0, 0, 6, 0x02, 0, 6, 0x05, 0,
	};
	/* A queue of a context, suspended and resumed as another one, its ring written over. */
	static const uint8_t suspend[] = {
		11, 0x39, 11, 0x3d, 2, 1, 0, 3, 0x19, 0, 4, 0x05, 0, 5, 0x08, 8, 0, 15, 2, 0,
		13, 0x01, 0, 14, 0x16, 0, 12, 16, 0x21, 8, 1, 16, 0x09, 0, 13, 0x06, 0,
		14, 0x99, 1, 4, 0, 15, 0, 0, 13, 0x01, 0,
	};
	static const uint8_t inject[] = {
		11, 0x39, 11, 0x3d, 2, 1, 0, 3, 0x05, 0, 4, 0x05, 0, 9, 32, 1, 0, 1, 0,
		5, 0x0a, 12, 0, 6, 0x05, 0, 9, 32, 1, 0, 4, 0, 5, 0x0a, 4, 0, 9, 8, 2, 0, 0, 0,
	};
	/* Operands of 64 MiB; then again, with an abort of the job. */
	static const uint8_t large[] = {
		11, 0x39, 11, 0x3d, 2, 1, 0, 3, 0x05, 0, 4, 0x05, 0, 17, 0x05, 0, 12,
		17, 0x85, 0, 6, 0x09, 0, 6, 0x05, 0,
	};

	write_seed(life, sizeof(life), "", 0);
	write_seed(user, sizeof(user), "", 0);
	write_seed(suspend, sizeof(suspend), "", 0);
	write_seed(inject, sizeof(inject), "", 0);
	write_seed(large, sizeof(large), "", 0);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: fuzz_seeds program|rings DIRECTORY\n");
		return 2;
	}
	directory = argv[2];
	if (!strcmp(argv[1], "program"))
		program_seeds();
	else
		rings_seeds();
	return 0;
}
