/* SPDX-License-Identifier: MIT */
/*
 * Where the results of inferences go: output files, the latency file, and the
 * lists of best classes.
 */
#ifndef NNRUN_OUTPUT_FILES_H
#define NNRUN_OUTPUT_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../common/error.h"
#include "../common/file.h"
#include "best_classes.h"
#include "compare.h"
#include "nnrun_options.h"
#include "picture_output.h"
#include "tensor.h"

enum output_format {
	OUTPUT_RAW,
	OUTPUT_NPY,
	OUTPUT_WAV,
};

struct results {
	const struct options *options;
	const struct tensors *tensors;
	const volatile sig_atomic_t *stop;
	struct labels labels;
	struct out_file *files;		/* one per output of the model, or NULL */
	enum output_format *formats;	/* of each */
	struct compare *compares;	/* one per output of the model, or NULL */
	uint32_t num_compares;		/* that are open */
	void *expected;			/* room for the largest output, for them */
	size_t largest;			/* bytes of it */
	struct picture_outputs picture;
	const struct image *drawn;	/* the picture that outputs are drawn into */
	struct out_file drawing;
	struct out_file latency;
	FILE *text;			/* where lists and tables are printed */
	bool print_lists;
	bool live;			/* flush after each sample */
	bool many;			/* say which sample a list belongs to */
	uint64_t samples;
};

/**
 * results_open() - open all files for writing, read the labels
 * @results: filled in; to be released with results_free(), also after an error
 * @options: command line
 * @tensors: inputs and outputs of the model
 * @inputs: what they are read from; a picture among them is drawn into, and stays open until then
 * @samples: number of samples to come, 0 if not known
 * @stop: ends waiting for a pipe, of labels or of what outputs are compared with
 * @err: filled in on failure
 *
 * Return: 0 or -1.
 */
int results_open(struct results *results, const struct options *options,
		 const struct tensors *tensors, const struct input *inputs, uint64_t samples,
		 const volatile sig_atomic_t *stop, struct error *err);

/*
 * Output @i, which is @t, has this shape in the sample that comes; before the first sample it
 * may be unknown. 0, or -1 if a file or a comparison does not take a shape that changes.
 */
int results_reshape(struct results *results, uint32_t i, struct tensor *t, uint32_t rank,
		    const uint32_t *dims, size_t bytes, struct error *err);

/*
 * Take the outputs of a sample: @outputs has a pointer per output of the model.
 * @source and @index say which sample it is. 0 or -1.
 */
int results_add(struct results *results, const char *source, uint64_t index,
		const void *const *outputs, struct error *err);

/* Print the comparisons: *@same if nothing differs too much. 0 or -1. */
int results_compare(struct results *results, bool *same, struct error *err);

/* Take the time of an inference. 0 or -1. */
int results_add_latency(struct results *results, uint64_t ns, struct error *err);

/* Complete all files. 0 or -1. */
int results_commit(struct results *results, struct error *err);

/* Flush the lists and report write errors. 0 or -1. */
int check_stream(FILE *stream, struct error *err);

/* Files that are not complete disappear. */
void results_free(struct results *results);

#endif /* NNRUN_OUTPUT_FILES_H */
