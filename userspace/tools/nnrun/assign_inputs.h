/* SPDX-License-Identifier: MIT */
/*
 * Which file goes to which input or output of the model.
 */
#ifndef NNRUN_ASSIGN_INPUTS_H
#define NNRUN_ASSIGN_INPUTS_H

#include <nntflite/nntflite.h>

#include "nnrun_options.h"
#include "tensor.h"

/*
 * Fill in a path for each input of the model from the arguments of --input, or from the files after the
 * model if there are none: those of the form NAME=FILE first, the others to the inputs that remain, in order. One .npz archive is for all
 * inputs. Returns an exit status, after a message if it is not EXIT_OK.
 */
int assign_inputs(const struct options *options, const struct tensors *tensors,
		  const struct nntflite_model *model, const char **paths);

/*
 * Of several files for the only input of a model, each may be of the form NAME=FILE, too: what remains in
 * @options is FILE. Returns as assign_inputs().
 */
int strip_names(struct options *options, const struct tensors *tensors,
		const struct nntflite_model *model);

/*
 * Make the arguments *@list of --@option, *@given of them, the files of the outputs: NULL for one that has
 * none, which only names leave out. None for all outputs if there are no arguments. Returns as
 * assign_inputs().
 */
int assign_outputs(struct options *options, const struct tensors *tensors,
		   const struct nntflite_model *model, const char *option, const char ***list,
		   uint32_t *given);

#endif /* NNRUN_ASSIGN_INPUTS_H */
