/* SPDX-License-Identifier: MIT */
/*
 * What a session consists of.
 */
#ifndef NNTFLITE_RUN_SESSION_PRIVATE_H
#define NNTFLITE_RUN_SESSION_PRIVATE_H

#include <nntflite/session.h>

#include "../base/nntflite_diag.h"

/* The places of a variable: its initial value, and the two that take turns. */
enum { PLACE_INITIAL, PLACE_EVEN, PLACE_ODD, NUM_PLACES };

/**
 * struct place - where a value of a variable is
 * @buffer: buffer of the device; NULL if it is in the session's memory for variables
 * @token: its token
 * @offset: where in the session's memory
 */
struct place {
	struct nnhal_buffer *buffer;
	uint32_t token;
	uint64_t offset;
};

struct session_variable {
	const struct nntflite_variable *what;
	struct place places[NUM_PLACES];
	uint32_t now;			/* the place of its value */
};

/**
 * struct session_output - an output of the file
 * @what: what the model says of it
 * @memory: memory of its own if its size is not known before the run, else NULL
 * @base: where it begins
 * @room: bytes that it may take
 * @shape: of the last run
 */
struct session_output {
	const struct nntflite_io *what;
	size_t element_size;
	struct nnhal_memory *memory;
	uint8_t *base;
	uint64_t room;
	size_t bytes;
	uint32_t rank;
	uint32_t dims[NNTFLITE_MAX_RANK];
};

/**
 * struct nntflite_session - a session
 * @initializer: the model that computes initial values of variables, prepared, or NULL
 * @io: memory for the inputs and the outputs of known size
 * @kept: memory for variables that the device has no buffers for
 * @arguments: inputs, then outputs of the HAL model
 * @pools: @io, then outputs of unknown size, then what variables take
 * @shapes: room for the shapes of all outputs
 */
struct nntflite_session {
	const struct nntflite_model *model;
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
	struct nnhal_prepared_model *initializer;
	uint32_t num_inputs;
	uint32_t num_outputs;
	uint32_t num_variables;
	struct session_output *outputs;
	struct session_variable *variables;
	struct nnhal_memory *io;
	uint8_t *io_base;
	struct nnhal_memory *kept;
	uint8_t *kept_base;
	struct nnhal_request_argument *arguments;
	struct nnhal_request_pool *pools;
	struct nnhal_output_shape *shapes;
	struct nnhal_request request;
	bool has_result;
};

/* Values begin at a cache line of their own. */
#define VALUE_ALIGN	64u

/* session_variables.c: places for all variables, with their initial values. */
enum nnhal_status session_variables_init(struct nntflite_session *s, struct nntflite_diag *diag);
void session_variables_fini(struct nntflite_session *s);
/* Arguments and pools from @pool on for the next run. Returns the number of pools. */
uint32_t session_variables_bind(struct nntflite_session *s, uint32_t pool);
/* A run has succeeded: what it wrote is the value. */
void session_variables_advance(struct nntflite_session *s);

/* A call of libnnhal failed: its message behind @what. Returns @status. */
enum nnhal_status session_fail(struct nntflite_diag *diag, const char *what,
			       enum nnhal_status status, const struct nnhal_diag *why);

#endif /* NNTFLITE_RUN_SESSION_PRIVATE_H */
