/* SPDX-License-Identifier: MIT */
/*
 * The command line.
 */
#ifndef NNRUN_OPTIONS_H
#define NNRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "compare.h"
#include "input.h"
#include "tensor.h"

/* Exit statuses. */
#define EXIT_OK		0
#define EXIT_FAILED	1	/* model, device, file or inference */
#define EXIT_USAGE	2	/* wrong command line */

/* Classes that are printed if nothing is said. */
#define DEFAULT_TOP	5

/* Score of boxes and points from which on they are shown. */
#define DEFAULT_MIN_SCORE	0.3

/* The shape that an input shall have. */
struct shape_option {
	char *name;
	uint32_t rank;
	uint32_t dims[TENSOR_MAX_RANK];
};

/**
 * struct options - what the user wants
 * @model: model file, NULL with --list-devices
 * @files: input files that follow the model
 * @inputs: arguments of --input, FILE or NAME=FILE
 * @shapes: arguments of --shape
 * @signature: key of the signature to run, or NULL
 * @outputs: arguments of --output, FILE or NAME=FILE; assign_outputs() makes them files by output, NULL
 *	for one that has none
 * @compares: likewise of --compare
 * @tolerance: what may differ
 * @draw: file for the picture with boxes, points or segments, or NULL
 * @min_score: of boxes and points that are shown
 * @labels: file with class names, or NULL
 * @top: classes to print
 * @top_given: --top is on the command line
 * @device: device, NULL for the first one
 * @repeat: inferences per sample
 * @warmup: inferences before the first that counts
 * @latency: file for the time of each inference, or NULL
 * @dump_graph: file for the graph, or NULL
 * @profile: times of operations are measured, for one of these:
 * @profile_table: print them
 * @profile_trace: file for the events, or NULL
 * @profile_html: file for the page, or NULL
 * @reading: how input files are read
 */
struct options {
	const char *model;
	const char **files;
	uint32_t num_files;
	const char **inputs;
	uint32_t num_inputs;
	struct shape_option *shapes;
	uint32_t num_shapes;
	const char *signature;
	const char **outputs;
	uint32_t num_outputs;
	const char **compares;
	uint32_t num_compares;
	struct compare_tolerance tolerance;
	const char *draw;
	double min_score;
	const char *labels;
	uint64_t top;
	bool top_given;
	const char *device;
	uint64_t repeat;
	uint64_t warmup;
	const char *latency;
	const char *dump_graph;
	struct input_options reading;
	bool profile;
	bool profile_table;
	const char *profile_trace;
	const char *profile_html;
	bool supported;
	bool list_devices;
	bool stateful;
	bool async;
	bool burst;
	bool quiet;
	bool verbose;
};

/*
 * Understand the command line. Returns true; false if the program is to end with
 * *@status, after a message, --help or --version.
 */
bool options_parse(struct options *options, int argc, char **argv, int *status);
void options_free(struct options *options);

/* Report a wrong command line and return EXIT_USAGE. */
int usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* NNRUN_OPTIONS_H */
