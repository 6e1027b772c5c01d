// SPDX-License-Identifier: MIT
/*
 * Elements of the inputs and outputs of a model.
 */
#include <float16.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
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

static size_t element_size(const struct tensor *t)
{
	switch (t->type) {
	case TENSOR_INT64:
	case TENSOR_COMPLEX64:
	case TENSOR_FLOAT64:
	case TENSOR_UINT64:
		return 8;
	case TENSOR_UINT32:
		return 4;
	case TENSOR_UINT16:
		return 2;
	default:
		return nnhal_element_size(t->type);
	}
}

/* Of a type that the HAL lacks. */
static double wide_element(uint32_t type, const uint8_t *p)
{
	uint64_t bits = 0;
	double wide;
	float real;

	switch (type) {
	case TENSOR_INT64:
		memcpy(&bits, p, 8);
		return (double)(int64_t)bits;
	case TENSOR_COMPLEX64:
		memcpy(&real, p, sizeof(real));
		return (double)real;
	case TENSOR_FLOAT64:
		memcpy(&wide, p, sizeof(wide));
		return wide;
	default:
		/* Unsigned; the machine is a little-endian one, as elsewhere. */
		memcpy(&bits, p, type == TENSOR_UINT64 ? 8 : type == TENSOR_UINT32 ? 4 : 2);
		return (double)bits;
	}
}

double tensor_element(const struct tensor *t, const void *data, size_t i)
{
	const uint8_t *p = (const uint8_t *)data + i * element_size(t);
	uint16_t half;
	int16_t word;
	int32_t integer;
	float real;

	if (t->type >> 16)
		return wide_element(t->type, p);
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

/* The imaginary part of element @i, 0 if it is not complex. */
static double imaginary_part(const struct tensor *t, const void *data, size_t i)
{
	float parts[2];

	if (t->type != TENSOR_COMPLEX64)
		return 0;
	memcpy(parts, (const uint8_t *)data + i * sizeof(parts), sizeof(parts));
	return (double)parts[1];
}

static double distance(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b) ? 0 : INFINITY;
	return a == b ? 0 : fabs(a - b);
}

double tensor_distance(const struct tensor *t, const void *a, const void *b, size_t i)
{
	uint64_t x, y;

	if (t->type == TENSOR_INT64 || t->type == TENSOR_UINT64) {
		bool below;

		memcpy(&x, (const uint8_t *)a + i * 8, 8);
		memcpy(&y, (const uint8_t *)b + i * 8, 8);
		below = t->type == TENSOR_INT64 ? (int64_t)x < (int64_t)y : x < y;
		return (double)(below ? y - x : x - y);
	}
	return hypot(distance(tensor_element(t, a, i), tensor_element(t, b, i)),
		     distance(imaginary_part(t, a, i), imaginary_part(t, b, i)));
}

double tensor_magnitude(const struct tensor *t, const void *data, size_t i)
{
	return hypot(tensor_element(t, data, i), imaginary_part(t, data, i));
}

const char *tensor_element_text(const struct tensor *t, const void *data, size_t i, char *text,
				size_t size)
{
	uint64_t bits;

	switch (t->type) {
	case TENSOR_INT64:
	case TENSOR_UINT64:
		memcpy(&bits, (const uint8_t *)data + i * 8, 8);
		if (t->type == TENSOR_INT64)
			snprintf(text, size, "%" PRId64, (int64_t)bits);
		else
			snprintf(text, size, "%" PRIu64, bits);
		break;
	case TENSOR_COMPLEX64:
		snprintf(text, size, "%g%+gi", tensor_element(t, data, i), imaginary_part(t, data, i));
		break;
	default:
		snprintf(text, size, "%g", tensor_element(t, data, i));
		break;
	}
	return text;
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

/* The nearest whole number that 64 bits hold; 0 for not-a-number. */
static uint64_t nearest_wide(double value, bool is_signed)
{
	const double end = is_signed ? 0x1p63 : 0x1p64;

	value = nearbyint(value);
	if (isnan(value))
		return 0;
	if (value >= end)
		return is_signed ? (uint64_t)INT64_MAX : UINT64_MAX;
	if (is_signed)
		return (uint64_t)(value <= -end ? INT64_MIN : (int64_t)value);
	return value <= 0 ? 0 : (uint64_t)value;
}

static void wide_set(uint32_t type, uint8_t *p, double value)
{
	const float complex_value[2] = { (float)value, 0 };
	double most = type == TENSOR_UINT32 ? UINT32_MAX : UINT16_MAX;
	uint64_t bits;

	switch (type) {
	case TENSOR_COMPLEX64:
		memcpy(p, complex_value, sizeof(complex_value));
		break;
	case TENSOR_FLOAT64:
		memcpy(p, &value, sizeof(value));
		break;
	case TENSOR_INT64:
	case TENSOR_UINT64:
		bits = nearest_wide(value, type == TENSOR_INT64);
		memcpy(p, &bits, 8);
		break;
	default:
		bits = nearest_wide(value > most ? most : value, false);
		memcpy(p, &bits, type == TENSOR_UINT32 ? 4 : 2);
		break;
	}
}

void tensor_set(const struct tensor *t, void *data, size_t i, double value)
{
	uint8_t *p = (uint8_t *)data + i * element_size(t);
	double steps = t->scale > 0 ? value / (double)t->scale : value;
	float real = (float)value;
	int32_t integer;
	uint16_t half;
	int16_t word;

	if (t->type >> 16) {
		wide_set(t->type, p, value);
		return;
	}
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
