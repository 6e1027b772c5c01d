/* SPDX-License-Identifier: MIT */
/*
 * Every operation of the device as text in which dimensions have names, and what they may be: empty,
 * or as large as they can be where another one is empty.
 */
#ifndef NNPU_TESTS_EMPTY_CALLS_H
#define NNPU_TESTS_EMPTY_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "large_calls.h"

/*
 * As struct large_call, with a capital letter for a dimension, a scalar or the entry of a list. A*4 and
 * A*B are products. Behind a digit K and M are what they are there.
 */
struct empty_call {
	uint32_t op;
	const char *operands;
	bool refuses;			/* no operand of the call may be empty */
};

extern const struct empty_call empty_calls[];
extern const unsigned int num_empty_calls;

#define EMPTY_TEXT_MAX		1024u

/* Bytes of a tensor that is not empty. */
#define EMPTY_CALL_BYTES	(8u << 20)

/*
 * Call @visit with each text that has numbers for the letters. One or two dimensions are 0, or none, and
 * the others are as large as tensors allow which are not empty, in turn. @thin: a few of those with one 0.
 */
void empty_call_each(const struct empty_call *call, bool thin,
		     void (*visit)(const struct large_call *call, void *data), void *data);

/*
 * The first operation without a call, of the HAL and of all extensions, in the order of the tables. 0 if each
 * has one.
 */
const char *empty_call_missing(void);

#endif /* NNPU_TESTS_EMPTY_CALLS_H */
