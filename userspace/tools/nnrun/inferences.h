/* SPDX-License-Identifier: MIT */
/*
 * Running inferences.
 */
#ifndef NNRUN_INFERENCES_H
#define NNRUN_INFERENCES_H

#include <signal.h>
#include <stdint.h>

#include <nnhal/nnhal.h>
#include <nntflite/session.h>

#include "../common/error.h"
#include "input.h"
#include "nnrun_options.h"
#include "output_files.h"
#include "profile.h"

struct job;

/**
 * struct run - what inferences need
 * @options: command line
 * @tensors: inputs and outputs of the model; outputs of unknown size get one with each result
 * @num_operations: operations of the model
 * @model: the model
 * @device: the device
 * @prepared: the model on it
 * @results: where outputs go
 * @profile: where times go
 * @stop: becomes true when the user interrupts
 * @elapsed_ns: out: from the first start to the last end
 */
struct run {
	const struct options *options;
	struct tensors *tensors;
	uint32_t num_operations;
	const struct nntflite_model *model;
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
	struct results *results;
	struct profile *profile;
	const volatile sig_atomic_t *stop;
	uint64_t expected;		/* samples, 0 if not known */
	uint64_t elapsed_ns;

	uint32_t num_variables;
	struct nnhal_burst *burst;	/* with --burst */
	struct job *jobs;		/* a ring */
	uint32_t depth;
	uint64_t launched;
	uint64_t collected;
	uint64_t first_start_ns;
	bool warm;
	bool progress;
	uint64_t progress_ns;
};

/* 0, or -1 with the error filled in. run_free() also after an error. */
int run_init(struct run *run, struct error *err);

/**
 * run_inputs() - run the samples that one set of inputs gives
 * @run: initialised
 * @inputs: one source per input of the model
 * @err: filled in on failure
 *
 * All inferences are over when the function returns.
 *
 * Return: 0, or -1; interrupted by the user is -1 without an error text.
 */
int run_inputs(struct run *run, struct input *inputs, struct error *err);
void run_free(struct run *run);

#endif /* NNRUN_INFERENCES_H */
