/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail. A program has them if it is linked with failing_allocations.o and
 * $(FAILING_ALLOCATIONS). They fail only in the thread that asks for it.
 */
#ifndef TESTS_FAILING_ALLOCATIONS_H
#define TESTS_FAILING_ALLOCATIONS_H

#include <stdbool.h>

/* Allocations, copies of texts among them, until one fails; 0: none does. */
extern __thread unsigned int alloc_countdown;
/* The same of copies of texts alone. */
extern __thread unsigned int text_countdown;
/* One has failed. */
extern __thread bool alloc_failed;

#endif /* TESTS_FAILING_ALLOCATIONS_H */
