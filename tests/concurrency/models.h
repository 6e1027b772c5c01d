/* SPDX-License-Identifier: MIT */
/*
 * Real models for tests that run them many times: a model file with samples, and a
 * prepared model with memory for one request.
 */
#ifndef NNPU_TEST_MODELS_H
#define NNPU_TEST_MODELS_H

#include <nnhal/nnhal.h>

#include "userspace/tools/common/file.h"
#include <nntflite/nntflite.h>

/* A model file, samples for it, and the outputs it gives alone. */
struct subject {
	const char *name;
	uint8_t *file;
	size_t file_size;
	uint8_t *inputs;
	size_t inputs_size;
	uint8_t *outputs;
	struct nntflite_file *tflite;
	struct nntflite_model *model;
	size_t input_bytes;
	size_t output_bytes;
	size_t samples;
};

/* NNHAL_TEST_DEVICE, or the device in the process. */
const char *device_spec(void);

/* Load @model and @inputs from the folder @dir; -1 with *@err. */
int subject_load(struct subject *s, const char *dir, const char *model, const char *inputs,
		 struct error *err);
/* The inputs were int8, the model wants float: (value - @zero) * @scale. */
int subject_dequantize(struct subject *s, float scale, int zero, struct error *err);
/* Also after subject_load() has failed. */
void subject_free(struct subject *s);
/* Fill in the outputs, with nothing else running; false, and a note, after an error. */
bool subject_run_alone(struct subject *s);

/* A prepared model with memory for one request. */
struct runner {
	struct subject *subject;
	struct nnhal_prepared_model *model;
	struct nnhal_burst *burst;	/* NULL: execute synchronously */
	struct nnhal_memory *memory;
	uint8_t *map;
	size_t output_offset;
	struct nnhal_request request;
	struct nnhal_request_argument input;
	struct nnhal_request_argument output;
	struct nnhal_request_pool pool;
	unsigned int count;
	unsigned int first;
	unsigned int wrong;
	enum nnhal_status status;
	struct nnhal_diag diag;
};

enum nnhal_status runner_init(struct runner *r, struct nnhal_device *device, struct subject *s);
void runner_fini(struct runner *r);
/* Run sample @i; the output is at the returned place, NULL after an error. */
const uint8_t *runner_run(struct runner *r, size_t i);
/* Run @r->count samples from @r->first on; counts in @r->wrong those that differ. */
void runner_loop(struct runner *r);

#endif /* NNPU_TEST_MODELS_H */
