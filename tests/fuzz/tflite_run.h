/* SPDX-License-Identifier: MIT */
/*
 * Running a model on the in-process device, for the fuzzer of .tflite files.
 */
#ifndef TESTS_FUZZ_TFLITE_RUN_H
#define TESTS_FUZZ_TFLITE_RUN_H

#include <nntflite/nntflite.h>

/* How far the inputs have come, for the line at the end of a run. */
struct tflite_counts {
	unsigned long refused;		/* by the library */
	unsigned long invalid;		/* by the rules of the HAL */
	unsigned long unsupported;	/* by the device */
	unsigned long large;		/* not tried: too much memory for a fuzzer */
	unsigned long failed;		/* executions that the device ended */
	unsigned long executed;
};

extern struct tflite_counts counts;

/* The device; opened once. */
struct nnhal_device *fuzz_device(void);

/* Prepare a valid model, execute it, with a bound on memory and time. */
void run_model(const struct nntflite_model *model);

/* What HAL or device say of a model names the operator and the tensor. */
void check_explained(const struct nntflite_model *model, const struct nnhal_diag *why);

/* End the process if not @good: libFuzzer takes that as a fault. */
void check(bool good, const char *what, const char *text);

#endif /* TESTS_FUZZ_TFLITE_RUN_H */
