/* SPDX-License-Identifier: MIT */
/*
 * Prints the best classes of an output.
 */
#ifndef NNRUN_BEST_CLASSES_H
#define NNRUN_BEST_CLASSES_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>

#include "../common/error.h"
#include "tensor.h"

/* Names of classes, one per line of a file. */
struct labels {
	char *text;
	const char **names;
	size_t count;
};

/* @stop ends waiting for a pipe. 0, or -1 with the error filled in. labels_free() also after an error. */
int labels_read(struct labels *labels, const char *path, const volatile sig_atomic_t *stop,
		struct error *err);
void labels_free(struct labels *labels);

/*
 * Print the @count largest elements, the largest first, equal ones in order of
 * their index: score, index, label. 0, or -1 if there is no memory.
 */
int print_top(FILE *stream, const struct tensor *io, const void *data, size_t count,
	      const struct labels *labels, struct error *err);

#endif /* NNRUN_BEST_CLASSES_H */
