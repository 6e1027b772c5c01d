// SPDX-License-Identifier: MIT
/*
 * Compare outputs with what a case expects, element by element.
 *
 * The rules are those of the harness of the vendor test suite for generated tests
 * (neuralnetworks/test_harness in the suite); J01 to J09 are their lines in the conformance
 * checklist. This file differs from the suite in three points:
 *
 *  - The suite takes 3 steps in quantized tests that have "mobilenet" in their names. Here
 *    the name of a case or a file decides nothing: every case gets 1 step.
 *  - The suite fails each NaN and infinity. Here one passes where the case expects exactly
 *    that, so that a case can demand it, and nothing else passes there.
 *  - Outputs of types that the suite does not compare are compared.
 */
#include <float16.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nnhal/util.h>

#include "compare_outputs.h"

__attribute__((format(printf, 2, 3)))
static bool differs(char *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, COMPARE_TEXT, fmt, args);
	va_end(args);
	return false;
}

static bool has_float16_tensor(const struct nntc_subgraph *sg)
{
	for (uint32_t i = 0; i < sg->num_operands; i++) {
		if (sg->operands[i].type == NNHAL_OPERAND_TENSOR_FLOAT16)
			return true;
	}
	return false;
}

struct tolerance tolerance_of(const struct nntc_case *nc)
{
	/* J02: 1e-5 and 5 units in the last place of a float32; J06: 1 step. */
	struct tolerance t = { .absolute = 1e-5, .relative = ldexp(5, -23), .steps = 1 };
	bool half = nc->relaxed || has_float16_tensor(&nc->main);

	for (uint32_t i = 0; i < nc->num_referenced && !half; i++)
		half = has_float16_tensor(&nc->referenced[i]);
	/* J03, J04: 5 units in the last place of a float16, for all outputs of such a model. */
	if (half)
		t.absolute = t.relative = ldexp(5, -10);
	return t;
}

/* How elements of a type are compared. */
enum kind { KIND_NONE, KIND_FLOAT, KIND_INTEGER, KIND_QUANTIZED, KIND_BOOL };

static enum kind kind_of(uint32_t type)
{
	switch (type) {
	case NNHAL_OPERAND_FLOAT32:
	case NNHAL_OPERAND_FLOAT16:
	case NNHAL_OPERAND_TENSOR_FLOAT32:
	case NNHAL_OPERAND_TENSOR_FLOAT16:
		return KIND_FLOAT;
	case NNHAL_OPERAND_INT32:
	case NNHAL_OPERAND_UINT32:
	case NNHAL_OPERAND_TENSOR_INT32:
		return KIND_INTEGER;
	case NNHAL_OPERAND_BOOL:
	case NNHAL_OPERAND_TENSOR_BOOL8:
		return KIND_BOOL;
	default:
		return nnhal_operand_type_is_quantized(type) ? KIND_QUANTIZED : KIND_NONE;
	}
}

/* A double holds every value of every type exactly. */
static double value_at(uint32_t type, const uint8_t *at)
{
	uint32_t u32;
	uint16_t u16;
	int16_t s16;
	int32_t s32;
	float f;

	switch (type) {
	case NNHAL_OPERAND_FLOAT32:
	case NNHAL_OPERAND_TENSOR_FLOAT32:
		memcpy(&f, at, sizeof(f));
		return f;
	case NNHAL_OPERAND_FLOAT16:
	case NNHAL_OPERAND_TENSOR_FLOAT16:
		memcpy(&u16, at, sizeof(u16));
		return half_to_float(u16);
	case NNHAL_OPERAND_INT32:
	case NNHAL_OPERAND_TENSOR_INT32:
		memcpy(&s32, at, sizeof(s32));
		return s32;
	case NNHAL_OPERAND_UINT32:
		memcpy(&u32, at, sizeof(u32));
		return u32;
	case NNHAL_OPERAND_TENSOR_QUANT16_ASYMM:
		memcpy(&u16, at, sizeof(u16));
		return u16;
	case NNHAL_OPERAND_TENSOR_QUANT16_SYMM:
		memcpy(&s16, at, sizeof(s16));
		return s16;
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM:
	case NNHAL_OPERAND_TENSOR_QUANT8_SYMM_PER_CHANNEL:
	case NNHAL_OPERAND_TENSOR_QUANT8_ASYMM_SIGNED:
		return (int8_t)*at;
	case NNHAL_OPERAND_BOOL:
	case NNHAL_OPERAND_TENSOR_BOOL8:
		/* J07: any byte but 0 is true. */
		return *at != 0;
	default:
		return *at;
	}
}

static bool is_close(enum kind kind, double expected, double actual, const struct tolerance *t)
{
	double difference = fabs(expected - actual);

	switch (kind) {
	case KIND_FLOAT:
		/* J01: a NaN or an infinity passes only where the case expects it. */
		if (isnan(expected) || isnan(actual))
			return isnan(expected) && isnan(actual);
		if (isinf(expected) || isinf(actual))
			return expected == actual;
		return difference <= t->absolute + t->relative * fabs(expected);
	/* J05: integers within 1. */
	case KIND_INTEGER:
		return difference <= 1;
	case KIND_QUANTIZED:
		return difference <= (double)t->steps;
	/* J07: booleans agree exactly. */
	default:
		return difference == 0;
	}
}

static int print_shape(char *to, size_t size, uint32_t rank, const uint32_t *dims)
{
	int n = snprintf(to, size, "[");

	for (uint32_t i = 0; i < rank && n >= 0 && (size_t)n < size; i++)
		n += snprintf(to + n, size - (size_t)n, "%s%" PRIu32, i ? ", " : "", dims[i]);
	if (n >= 0 && (size_t)n < size)
		n += snprintf(to + n, size - (size_t)n, "]");
	return n;
}

bool compare_shape(uint32_t index, const struct nntc_operand *o,
		   const struct nnhal_output_shape *shape, char *text)
{
	/*
	 * Rank 0 means unknown rank. Size 0 means an unknown size, unless the tensor has no
	 * data.
	 */
	bool any_rank = !o->rank && !nntc_is_scalar(o->type);
	bool same = any_rank || shape->num_dimensions == o->rank;
	char expected[NNTC_MAX_RANK * 12 + 4], actual[NNHAL_MAX_RANK * 12 + 4];

	for (unsigned int i = 0; same && !any_rank && i < o->rank; i++) {
		if (o->dims[i] || !o->num_bytes)
			same = shape->dimensions[i] == o->dims[i];
	}
	if (same)
		return true;
	print_shape(expected, sizeof(expected), o->rank, o->dims);
	print_shape(actual, sizeof(actual), shape->num_dimensions, shape->dimensions);
	return differs(text, "output %u: shape %s, expected %s", index, actual, expected);
}

bool compare_output(uint32_t index, const struct nntc_operand *o, const void *actual,
		    const struct tolerance *tolerance, char *text)
{
	enum kind kind = kind_of(o->type);
	uint32_t size = nntc_element_size(o->type);
	uint32_t wrong = 0, first = 0, count;
	const uint8_t *bytes = actual;

	if (o->ignore_output)
		return true;
	if (kind == KIND_NONE)
		return differs(text, "output %u: values of type %s cannot be compared", index,
			       nnhal_operand_type_name(o->type));
	count = o->num_bytes / size;
	for (uint32_t i = 0; i < count; i++) {
		if (is_close(kind, value_at(o->type, o->data + i * size),
			     value_at(o->type, bytes + i * size), tolerance))
			continue;
		if (!wrong++)
			first = i;
	}
	if (!wrong)
		return true;
	return differs(text, "output %u: %u of %u elements differ, the first is %u: %.9g, expected %.9g",
		       index, wrong, count, first, value_at(o->type, bytes + first * size),
		       value_at(o->type, o->data + first * size));
}

/* The logits of the operation that writes an output; NULL if they are not in the case. */
static const struct nntc_operand *find_logits(const struct nntc_subgraph *sg, uint32_t output)
{
	for (uint32_t i = 0; i < sg->num_operations; i++) {
		const struct nntc_operation *o = &sg->operations[i];

		if (o->type == NNHAL_OPERATION_RANDOM_MULTINOMIAL && o->num_inputs &&
		    o->num_outputs && o->operands[o->num_inputs] == output) {
			const struct nntc_operand *logits = &sg->operands[o->operands[0]];

			if (logits->num_bytes && logits->rank == 2 &&
			    kind_of(logits->type) == KIND_FLOAT)
				return logits;
		}
	}
	return NULL;
}

static bool compare_batch(uint32_t index, const struct nntc_operand *logits, uint32_t batch,
			  const uint8_t *ids, uint32_t samples, double tolerance, char *text)
{
	uint32_t classes = logits->dims[1], size = nntc_element_size(logits->type);
	const uint8_t *row = logits->data + (size_t)batch * classes * size;
	uint32_t *counts = calloc(classes, sizeof(*counts));
	double sum = 0, largest = -INFINITY;
	bool same = true;

	if (!counts)
		return differs(text, "output %u: no memory to count %u classes", index, classes);
	for (uint32_t k = 0; k < classes; k++)
		largest = fmax(largest, value_at(logits->type, row + k * size));
	for (uint32_t k = 0; k < classes; k++)
		sum += exp(value_at(logits->type, row + k * size) - largest);
	for (uint32_t i = 0; i < samples && same; i++) {
		double id = value_at(NNHAL_OPERAND_TENSOR_INT32, ids + (size_t)i * 4);

		if (id >= 0 && id < classes)
			counts[(uint32_t)id]++;
		else
			same = differs(text, "output %u: batch %u, sample %u: class %.0f, there are %u",
				       index, batch, i, id, classes);
	}
	for (uint32_t k = 0; k < classes && same; k++) {
		double expected = exp(value_at(logits->type, row + k * size) - largest) / sum;
		double actual = (double)counts[k] / samples;

		/* Logits that are no numbers give no probability: a difference, too. */
		if (!(fabs(actual - expected) <= tolerance))
			same = differs(text, "output %u: batch %u, class %u: frequency %.4f, expected %.4f",
				       index, batch, k, actual, expected);
	}
	free(counts);
	return same;
}

bool compare_frequencies(uint32_t index, const struct nntc_case *nc,
			 const struct nnhal_output_shape *shape, const void *actual, char *text)
{
	uint32_t operand = nc->main.outputs[index];
	const struct nntc_operand *o = &nc->main.operands[operand];
	const struct nntc_operand *logits = find_logits(&nc->main, operand);
	const uint8_t *ids = actual;
	uint32_t samples;

	if (!logits)
		return differs(text, "output %u: the logits are not in the case", index);
	if (o->type != NNHAL_OPERAND_TENSOR_INT32 || shape->num_dimensions != 2 ||
	    shape->dimensions[0] != logits->dims[0] || !shape->dimensions[1])
		return differs(text, "output %u: not a list of classes for each of %u batches",
			       index, logits->dims[0]);
	samples = shape->dimensions[1];
	if ((uint64_t)logits->dims[0] * samples * 4 != o->num_bytes)
		return differs(text, "output %u: %u samples are not what the case expects", index,
			       samples);
	for (uint32_t b = 0; b < logits->dims[0]; b++) {
		if (!compare_batch(index, logits, b, ids + (size_t)b * samples * 4, samples,
				   (double)nc->multinomial_tolerance, text))
			return false;
	}
	return true;
}

uint8_t wrong_byte(const struct nntc_operand *o, size_t i)
{
	uint8_t expected = i < o->num_bytes ? o->data[i] : 0;

	/* As a byte it differs by at least 43, as a wider type by more. */
	return kind_of(o->type) == KIND_BOOL ? !expected : expected ^ 0x55;
}
