/* SPDX-License-Identifier: MIT */
/*
 * Compares outputs with those that a test case expects.
 */
#ifndef TOOLS_COMPARE_OUTPUTS_H
#define TOOLS_COMPARE_OUTPUTS_H

#include <nnhal/types.h>

#include "nntc.h"

/* Room for a text that says what differs. */
#define COMPARE_TEXT	256

/**
 * struct tolerance - the largest difference of an element that passes
 * @absolute: floating point: absolute difference
 * @relative: floating point: difference as a part of the expected value, added to @absolute
 * @steps: quantized types: difference of the stored values
 *
 * Other integers pass within 1, booleans if they agree.
 */
struct tolerance {
	double absolute;
	double relative;
	long steps;
};

/* The tolerance for the outputs of a case; its types and @nc->relaxed decide. */
struct tolerance tolerance_of(const struct nntc_case *nc);

/*
 * Compare the shape of output @index with that of @o: equal where @o knows it. Each
 * function below fills in @text and returns false if something differs.
 */
bool compare_shape(uint32_t index, const struct nntc_operand *o,
		   const struct nnhal_output_shape *shape, char *text);

/*
 * Compare output @index. @actual has the @o->num_bytes bytes of the expected data.
 */
bool compare_output(uint32_t index, const struct nntc_operand *o, const void *actual,
		    const struct tolerance *tolerance, char *text);

/*
 * Compare what RANDOM_MULTINOMIAL gave for output @index with the softmax of its
 * logits, by the case's tolerance.
 */
bool compare_frequencies(uint32_t index, const struct nntc_case *nc,
			 const struct nnhal_output_shape *shape, const void *actual, char *text);

/*
 * Return a value for byte @i of an output buffer that differs from the expected value by more
 * than any tolerance.
 */
uint8_t wrong_byte(const struct nntc_operand *o, size_t i);

#endif /* TOOLS_COMPARE_OUTPUTS_H */
