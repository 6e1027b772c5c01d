/* SPDX-License-Identifier: MIT */
/*
 * Comparing the outputs of a model with files.
 */
#ifndef NNRUN_COMPARE_H
#define NNRUN_COMPARE_H

#include <stdio.h>

#include "input.h"
#include "tensor.h"

/* The largest difference that passes: @absolute + @relative * |expected|, of dequantized values. */
struct compare_tolerance {
	double absolute;
	double relative;
};

/* The comparison of one output. */
struct compare {
	struct input expected;
	const volatile sig_atomic_t *stop;
	uint64_t values;
	uint64_t beyond;		/* of them, how many differ too much */
	double largest;			/* difference, infinite for not-a-number */
	uint64_t sample;		/* where it is */
	size_t element;
	char got[48];
	char wanted[48];
};

/* For compare_close() before the file is open. */
void compare_init(struct compare *c);

/*
 * Open the file with what is expected of output @index; @stop ends waiting for a pipe, here and
 * in compare_add(). 0, or -1 with the error filled in.
 */
int compare_open(struct compare *c, const char *path, const struct tensor *t, uint32_t index,
		 const volatile sig_atomic_t *stop, struct error *err);

/* Compare the next sample; @buffer has room for one. 0, or -1 if the file has no more. */
int compare_add(struct compare *c, const void *output, void *buffer,
		const struct compare_tolerance *tolerance, struct error *err);

/*
 * Print what was found. *@same becomes false if something differs too much, or the file has more. 0, or
 * -1 if the end of the file cannot be read.
 */
int compare_report(FILE *stream, const struct compare *c, bool *same, struct error *err);

void compare_close(struct compare *c);

#endif /* NNRUN_COMPARE_H */
