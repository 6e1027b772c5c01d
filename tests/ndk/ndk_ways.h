/* SPDX-License-Identifier: MIT */
/*
 * The ways in which a case goes through the NNAPI.
 */
#ifndef TESTS_NDK_WAYS_H
#define TESTS_NDK_WAYS_H

#include "userspace/tools/nnvec/variation.h"

/* Which calls execute. */
enum ndk_run {
	RUN_COMPUTE,
	RUN_ASYNC,
	RUN_BURST,		/* twice on one burst */
	RUN_FENCED,		/* a chain of two */
	RUN_REUSED,		/* a reusable execution, three times */
};

/* Where arguments are, and constants, if the form has them in pools. */
enum ndk_kind {
	KIND_POINTER,
	KIND_MEMORY,		/* of a file, at an odd offset */
	KIND_BUFFER,		/* an AHardwareBuffer each */
	KIND_DESCRIBED,		/* memory of a descriptor for each argument */
};

#define MAX_THREADS	10

/**
 * struct ndk_way - a way
 * @name: for people
 * @run: which calls
 * @kind: where values are
 * @form: shapes that the model leaves open; constants
 * @from_cache: compiled twice with the same token
 * @too_small: each output in turn one byte too small
 * @padded: lengths are greater than the arguments, by up to GUARD_SIZE bytes, which are not theirs
 * @threads: each compiles the model that they share, and runs it; 0 is one
 */
struct ndk_way {
	const char *name;
	enum ndk_run run;
	enum ndk_kind kind;
	struct form form;
	bool from_cache;
	bool too_small;
	bool padded;
	unsigned int threads;
};

extern const struct ndk_way ndk_ways[];
extern const unsigned int num_ndk_ways;

#endif /* TESTS_NDK_WAYS_H */
