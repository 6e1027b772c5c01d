/* SPDX-License-Identifier: MIT */
/*
 * Subgraphs that an operator runs.
 */
#ifndef NNTFLITE_MAP_REFERENCES_H
#define NNTFLITE_MAP_REFERENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "../file/tflite.h"

/**
 * struct references - the subgraphs that an operator runs
 * @like: TFLITE_CALL, TFLITE_IF or TFLITE_WHILE, one of which it is or does the same as
 * @first: the inputs of the subgraphs begin at this one of the operator
 * @subgraphs: their numbers, which may be none: the callee; the branch for a true condition and
 *	the other; the condition and the body
 * @count: number of @subgraphs
 */
struct references {
	int32_t like;
	uint32_t first;
	uint32_t subgraphs[2];
	uint32_t count;
};

/*
 * What @op refers to; @reader notes faults of its options. False if it refers to nothing, or if
 * the HAL cannot express it: STABLEHLO_CASE may have one or two branches.
 */
bool op_references(const struct tflite_operator *op, struct fb_reader *reader,
		   struct references *refs);

#endif /* NNTFLITE_MAP_REFERENCES_H */
