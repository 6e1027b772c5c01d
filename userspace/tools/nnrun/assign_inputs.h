/* SPDX-License-Identifier: MIT */
/*
 * Which file goes to which input of the model.
 */
#ifndef NNRUN_ASSIGN_INPUTS_H
#define NNRUN_ASSIGN_INPUTS_H

#include "nnrun_options.h"
#include "tensor.h"

/*
 * The input that @length bytes of text name: by its name, or by its number in decimal.
 * UINT32_MAX if there is none.
 */
uint32_t find_input(const struct tensors *tensors, const char *name, size_t length);

/*
 * Fill in a path for each input of the model from the arguments of --input, or from the files after the
 * model if there are none: those of the form NAME=FILE first, the others to the inputs that remain, in order. One .npz archive is for all
 * inputs. Returns an exit status, after a message if it is not EXIT_OK.
 */
int assign_inputs(const struct options *options, const struct tensors *tensors,
		  const char **paths);

/*
 * Of several files for the only input of a model, each may be of the form NAME=FILE, too: what remains in
 * @options is FILE. Returns as assign_inputs().
 */
int strip_names(struct options *options, const struct tensors *tensors);

#endif /* NNRUN_ASSIGN_INPUTS_H */
