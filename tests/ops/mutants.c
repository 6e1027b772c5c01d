// SPDX-License-Identifier: MIT
/*
 * Random changes of operands.
 */
#include "graph.h"
#include "mutants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tflite/tflite_ops.h"

static uint64_t random_state = 1;

void mutant_seed(uint64_t seed)
{
	random_state = seed;
}

uint32_t mutant_pick(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random_state >> 33) % n;
}

static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 5, 7, 16, 1u << 16, 1u << 31, UINT32_MAX };
static const int32_t numbers[] = { 0, 1, -1, 2, 3, -2, 4, 255, 65536, INT32_MIN, INT32_MAX };

static const enum nnpu_type extension_types[] = {
	TFLITE_TENSOR_INT64, TFLITE_TENSOR_COMPLEX64, TFLITE_TENSOR_FLOAT64,
	TFLITE_TENSOR_UINT64, TFLITE_TENSOR_UINT32, TFLITE_TENSOR_UINT16,
};

static bool is_quantized(uint32_t type)
{
	return type == NNPU_TYPE_TENSOR_QUANT8_ASYMM || type == NNPU_TYPE_TENSOR_QUANT16_SYMM ||
	       type == NNPU_TYPE_TENSOR_QUANT16_ASYMM || type == NNPU_TYPE_TENSOR_QUANT8_SYMM ||
	       type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED;
}

/* Make scale and zero point fit the type. */
static void fit_quantization(struct mutant_operand *o)
{
	struct tensor *t = &o->t;
	int32_t min = 0, max = 0;

	if (!is_quantized(t->type)) {
		if (t->type != NNPU_TYPE_TENSOR_INT32)
			o->scale = 0;
	} else if (!(o->scale > 0)) {
		o->scale = mutant_pick(2) ? 0.125f : 1.0f / 128;
	}
	if (t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM)
		max = 255;
	if (t->type == NNPU_TYPE_TENSOR_QUANT16_ASYMM)
		max = 65535;
	if (t->type == NNPU_TYPE_TENSOR_QUANT8_ASYMM_SIGNED) {
		min = -128;
		max = 127;
	}
	if (o->zero_point < min || o->zero_point > max)
		o->zero_point = min;
	t->channel_scales = NULL;
	if (tensor_is_per_channel(t))
		return;
	t->scale = o->scale;
	t->zero_point = o->zero_point;
}

/* Data of the new size, made of the old; false if a tensor of this kind cannot be. */
static bool fit_data(struct mutant_operand *o)
{
	struct tensor *t = &o->t;
	size_t bytes = type_size(t->type);
	uint8_t *data;

	if (type_is_scalar(t->type))
		t->rank = 0;
	for (unsigned int i = 0; i < t->rank; i++) {
		if (__builtin_mul_overflow(bytes, (size_t)t->dims[i], &bytes))
			return false;
	}
	if (t->kind != NNPU_TENSOR_INPUT && !tensor_is_const(t))
		bytes = 0;
	else if (!type_is_scalar(t->type) && t->rank == 0)
		return false;
	else if (bytes == 0)
		t->kind = NNPU_TENSOR_INPUT;
	if (bytes > MUTANT_MAX_BYTES)
		return false;
	data = graph_alloc(bytes);
	if (!data)
		exit(1);
	for (size_t i = 0; i < bytes; i++)
		data[i] = o->bytes ? o->data[i % o->bytes] : 0;
	free(o->data);
	o->data = data;
	o->bytes = bytes;
	if (!tensor_is_per_channel(t))
		return true;
	if (t->channel_dim >= t->rank)
		t->channel_dim = 0;
	if (!t->rank || !t->dims[t->channel_dim] || t->dims[t->channel_dim] > MUTANT_MAX_BYTES)
		return false;
	free(o->scales);
	o->scales = malloc(tensor_num_scales(t) * sizeof(*o->scales));
	if (!o->scales)
		exit(1);
	for (uint32_t i = 0; i < tensor_num_scales(t); i++)
		o->scales[i] = 0.5f;
	t->channel_scales = o->scales;
	return true;
}

static void mutate_value(struct mutant_operand *o)
{
	static const float reals[] = { 0, -1, 1, 1e-40f, 1e30f, -1e30f, NAN, INFINITY };
	size_t at;

	if (o->bytes < 4) {
		if (o->bytes)
			o->data[mutant_pick((uint32_t)o->bytes)] ^= (uint8_t)(1u << mutant_pick(8));
		return;
	}
	at = mutant_pick((uint32_t)(o->bytes / 4)) * 4u;
	if (mutant_pick(2))
		memcpy(o->data + at, &numbers[mutant_pick(11)], 4);
	else
		memcpy(o->data + at, &reals[mutant_pick(8)], 4);
}

void mutant_change(struct mutant_operand *o)
{
	struct tensor *t = &o->t;

	switch (mutant_pick(8)) {
	case 0:
		t->type = mutant_pick(3) ? (enum nnpu_type)mutant_pick(NNPU_TYPE_SUBGRAPH) :
			  extension_types[mutant_pick(6)];
		break;
	case 1:
		t->rank = (uint8_t)mutant_pick(6);
		for (unsigned int i = 0; i < t->rank; i++)
			t->dims[i] = t->dims[i] ? t->dims[i] : 1;
		break;
	case 2:
	case 3:
		if (t->rank)
			t->dims[mutant_pick(t->rank)] = sizes[mutant_pick(11)];
		break;
	case 4:
		o->scale = ldexpf(1, -(int)mutant_pick(40));
		o->zero_point = (int32_t)mutant_pick(256) - 128;
		break;
	case 5:
		if (t->kind == NNPU_TENSOR_INPUT || tensor_is_const(t))
			t->kind = NNPU_TENSOR_NO_VALUE;
		break;
	default:
		mutate_value(o);
		break;
	}
}

bool mutant_fit(struct mutant_operand *o)
{
	fit_quantization(o);
	return o->t.kind == NNPU_TENSOR_NO_VALUE || fit_data(o);
}

void mutant_free(struct mutant_operand *o)
{
	free(o->data);
	free(o->scales);
}
