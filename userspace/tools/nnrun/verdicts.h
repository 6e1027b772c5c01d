/* SPDX-License-Identifier: MIT */
/*
 * Which operators of a file cannot run, and why.
 */
#ifndef NNRUN_VERDICTS_H
#define NNRUN_VERDICTS_H

#include <stdio.h>

#include <nntflite/nntflite.h>

#include "../common/error.h"

/*
 * Print a line per operator. @device may be NULL: then only what libnntflite says. 0, or -1
 * with the error filled in.
 */
int print_verdicts(FILE *stream, struct nnhal_device *device, const struct nntflite_file *file,
		   const struct nntflite_model_options *options, struct error *err);

#endif /* NNRUN_VERDICTS_H */
