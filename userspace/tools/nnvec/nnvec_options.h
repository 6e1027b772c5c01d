/* SPDX-License-Identifier: MIT */
/*
 * The command line.
 */
#ifndef NNVEC_OPTIONS_H
#define NNVEC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "variation.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/**
 * struct options - what the command line says
 * @device: specification of the device
 * @selected: variations to run
 * @every: run one case of so many
 * @strict: what the device does not support has failed
 * @report: file for the report, or NULL
 * @quiet: no tables and no progress
 * @num_paths: entries of @paths
 * @paths: files and folders
 */
struct options {
	const char *device;
	bool selected[NUM_VARIATIONS];
	uint64_t every;
	bool strict;
	const char *report;
	bool quiet;
	int num_paths;
	char **paths;
};

/* Returns false if the program is to end with *@status. */
bool options_parse(struct options *o, int argc, char **argv, int *status);

#endif /* NNVEC_OPTIONS_H */
