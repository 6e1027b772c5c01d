/* SPDX-License-Identifier: MIT */
/*
 * Names of the functions of this process.
 */
#ifndef NNBENCH_SYMBOLS_H
#define NNBENCH_SYMBOLS_H

#include <stdint.h>

/* Room for a name, the NUL included. Longer ones are cut. */
#define SYMBOL_SIZE	64

struct symbol_name {
	char object[SYMBOL_SIZE];	/* file name without folders */
	char function[SYMBOL_SIZE];	/* "?" if the object does not say */
};

/* Name what is at an address; static functions too if the object is not stripped. */
void symbol_at(uintptr_t address, struct symbol_name *name);

#endif /* NNBENCH_SYMBOLS_H */
