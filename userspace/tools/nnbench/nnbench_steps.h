/* SPDX-License-Identifier: MIT */
/*
 * The instructions of calls of a function in another process.
 */
#ifndef NNBENCH_STEPS_H
#define NNBENCH_STEPS_H

#include <stdint.h>

#include "nnbench_symbols.h"

/* More than a ring has entries, so that its wrap-around is among them. */
#define STEPS_CALLS	70
#define STEPS_FUNCTIONS	256

struct function {
	struct symbol_name name;
	uint64_t count;
};

/**
 * struct steps - instructions of a call
 * @smallest: of the call that took least
 * @largest: of the one that took most
 * @system_calls: of the smallest
 * @functions: the functions of the smallest, those with most instructions first
 * @num_functions: entries of @functions
 */
struct steps {
	uint64_t smallest, largest;
	uint64_t system_calls;
	struct function functions[STEPS_FUNCTIONS];
	unsigned int num_functions;
};

/*
 * Count the instructions of STEPS_CALLS calls of the function at @entry, which @execute makes in a child
 * process, steps_next() before each. Returns 0, or -1 after a message.
 */
int steps_count(void (*execute)(void *context), void *context, uintptr_t entry,
		struct steps *steps);

/* In the child: the next call is to be counted. */
void steps_next(void);

#endif /* NNBENCH_STEPS_H */
