/* SPDX-License-Identifier: MIT */
/*
 * Finding and opening devices, and saying what to do when there is none.
 */
#ifndef NNRUN_OPEN_DEVICE_H
#define NNRUN_OPEN_DEVICE_H

#include <stdbool.h>
#include <stdio.h>

#include <nnhal/nnhal.h>
#include <nntflite/nntflite.h>

#include "../common/error.h"

/* Fill in the error: what failed, the name of the status and the library's message. */
int fail_status(struct error *err, const char *what, enum nnhal_status status,
		const struct nnhal_diag *diag);

/* The same for a call with the model: where in the file the fault is, too. */
int fail_model(struct error *err, const char *what, enum nnhal_status status,
	       const struct nntflite_model *model, const struct nnhal_diag *diag);

/*
 * Open a device; @spec as for nnhal_device_open(). NULL with the error filled in;
 * *@advice is what the user can do about it, or NULL.
 */
struct nnhal_device *open_device(const char *spec, struct error *err, const char **advice);

/* Print a table of devices. 0, or -1 with the error filled in. */
int list_devices(FILE *stream, struct error *err, const char **advice);

/*
 * Print which operations of the model the device takes. *@all says whether it takes
 * each of them. 0, or -1 with the error filled in.
 */
int print_support(FILE *stream, struct nnhal_device *device, const struct nntflite_model *model,
		  bool *all, struct error *err);

/* Prepare the model. NULL with the error filled in: the first operation not taken. */
struct nnhal_prepared_model *prepare_model(struct nnhal_device *device,
					   const struct nntflite_model *model,
					   struct error *err);

#endif /* NNRUN_OPEN_DEVICE_H */
