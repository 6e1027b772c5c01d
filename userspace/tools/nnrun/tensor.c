// SPDX-License-Identifier: MIT
/*
 * Elements of the inputs and outputs of a model.
 */
#include <float16.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/nnhal.h>

#include "tensor.h"

const char *tensor_shape(const struct tensor *t, char *text, size_t size)
{
	size_t used = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < t->rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%" PRIu32, i ? "x" : "",
					 t->dims[i]);
	return text;
}

double tensor_element(const struct tensor *t, const void *data, size_t i)
{
	const uint8_t *p = (const uint8_t *)data + i * nnhal_element_size(t->type);
	uint16_t half;
	int16_t word;
	int32_t integer;
	float real;

	switch (t->type) {
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		memcpy(&real, p, sizeof(real));
		return (double)real;
	case NNHAL_OPERAND_TENSOR_FLOAT16:
		memcpy(&half, p, sizeof(half));
		return half_to_float(half);
	case NNHAL_OPERAND_TENSOR_INT32:
		memcpy(&integer, p, sizeof(integer));
		return integer;
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		memcpy(&word, p, sizeof(word));
		return word * (double)t->scale;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		return (*p - t->zero_point) * (double)t->scale;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		return ((int8_t)*p - t->zero_point) * (double)t->scale;
	default:
		return *p;
	}
}

double *tensor_reals(const struct tensor *t, const void *data)
{
	double *reals = calloc(t->elements ? t->elements : 1, sizeof(*reals));
	size_t i;

	for (i = 0; reals && i < t->elements; i++)
		reals[i] = tensor_element(t, data, i);
	return reals;
}

/* The nearest whole number from @low to @high; 0 for not-a-number. */
static int32_t nearest(double value, int32_t low, int32_t high)
{
	if (isnan(value))
		return 0;
	return (int32_t)fmin(fmax(nearbyint(value), low), high);
}

void tensor_set(const struct tensor *t, void *data, size_t i, double value)
{
	uint8_t *p = (uint8_t *)data + i * nnhal_element_size(t->type);
	double steps = t->scale > 0 ? value / (double)t->scale : value;
	float real = (float)value;
	int32_t integer;
	uint16_t half;
	int16_t word;

	switch (t->type) {
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		memcpy(p, &real, sizeof(real));
		break;
	case NNHAL_OPERAND_TENSOR_FLOAT16:
		half = float_to_half(real);
		memcpy(p, &half, sizeof(half));
		break;
	case NNHAL_OPERAND_TENSOR_INT32:
		integer = nearest(value, INT32_MIN, INT32_MAX);
		memcpy(p, &integer, sizeof(integer));
		break;
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		word = (int16_t)nearest(steps, INT16_MIN, INT16_MAX);
		memcpy(p, &word, sizeof(word));
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM:
		*p = (uint8_t)nearest(nearbyint(steps) + t->zero_point, 0, UINT8_MAX);
		break;
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		*p = (uint8_t)nearest(nearbyint(steps) + t->zero_point, INT8_MIN, INT8_MAX);
		break;
	default:
		*p = (uint8_t)nearest(value, 0, UINT8_MAX);
		break;
	}
}
