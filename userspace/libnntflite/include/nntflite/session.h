/* SPDX-License-Identifier: MIT */
/*
 * Sessions: a model on a device, with its inputs, outputs and variables.
 *
 * A session owns memory for one inference. Inputs are written to it, outputs read from it,
 * also outputs whose size only the device knows. The variables of the model stay in buffers of
 * the device: what one run writes, the next one reads, and nothing is copied in between.
 *
 * Each variable has one buffer with its initial value and, if it is written, two that take
 * turns. So a run that fails leaves all variables as they were, and a reset copies nothing.
 *
 * One thread at a time may use a session. Any number of sessions may share a prepared model.
 */
#ifndef NNTFLITE_SESSION_H
#define NNTFLITE_SESSION_H

#include <nntflite/nntflite.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct nntflite_session;

/**
 * struct nntflite_session_options - how to make a session
 * @size: in: sizeof(struct nntflite_session_options)
 * @prepare: how to prepare the model; NULL for the defaults of libnnhal. Its diag is not used
 * @prepared: the HAL model of the same model, prepared by the same device: the session then
 *	prepares nothing. NULL otherwise
 */
struct nntflite_session_options {
	size_t size;
	const struct nnhal_prepare_options *prepare;
	struct nnhal_prepared_model *prepared;
};

#define NNTFLITE_SESSION_OPTIONS_INIT { sizeof(struct nntflite_session_options), NULL, NULL }

/**
 * nntflite_session_create() - get a model ready to run
 * @model: model, which must outlive the session
 * @device: device; the session keeps a reference
 * @options: options, or NULL
 * @session: out: to be released with nntflite_session_destroy(). Its inputs are zero, its
 *	variables have their initial values
 * @diag: why not
 *
 * Return: NONE; as nnhal_device_prepare_model_sync() and nnhal_device_allocate();
 * INVALID_ARGUMENT if inputs and outputs take more than 4 GiB.
 */
enum nnhal_status nntflite_session_create(const struct nntflite_model *model,
					  struct nnhal_device *device,
					  const struct nntflite_session_options *options,
					  struct nntflite_session **session,
					  struct nntflite_diag *diag);

/**
 * nntflite_session_destroy() - release a session
 * @session: session, may be NULL. None of its requests may be under way
 */
void nntflite_session_destroy(struct nntflite_session *session);

/**
 * nntflite_session_prepared() - the prepared model
 * @session: session
 *
 * Return: the model as long as the session lives; for nnhal_burst_create() and the like.
 */
struct nnhal_prepared_model *nntflite_session_prepared(const struct nntflite_session *session);

/**
 * nntflite_session_input() - where an input is written
 * @session: session
 * @index: input, as nntflite_model_input() counts
 *
 * Return: memory of as many bytes as the input has, which keeps its content from run to run.
 * NULL if there is no such input.
 */
void *nntflite_session_input(struct nntflite_session *session, uint32_t index);

/**
 * nntflite_session_set_input() - copy an input
 * @session: session
 * @index: input
 * @data: its value
 * @bytes: bytes of @data: those that the input has
 * @diag: why not
 *
 * Return: NONE or INVALID_ARGUMENT.
 */
enum nnhal_status nntflite_session_set_input(struct nntflite_session *session, uint32_t index,
					     const void *data, size_t bytes,
					     struct nntflite_diag *diag);

/**
 * nntflite_session_run() - run the model once
 * @session: session
 * @options: as for nnhal_prepared_model_execute_synchronously(), or NULL. Its diag is not used
 * @timing: out: may be NULL
 * @diag: why not
 *
 * If an output turns out to be larger than the session has memory for, the session gets
 * more and runs the model again.
 *
 * Return: as nnhal_prepared_model_execute_synchronously(), but never
 * OUTPUT_INSUFFICIENT_SIZE; RESOURCE_EXHAUSTED_PERSISTENT if an output takes more than
 * 2 GiB. The variables have new values after NONE, and their former ones after all else.
 */
enum nnhal_status nntflite_session_run(struct nntflite_session *session,
				       const struct nnhal_execute_options *options,
				       struct nnhal_timing *timing, struct nntflite_diag *diag);

/**
 * struct nntflite_value - an output after a run
 * @size: in: sizeof(struct nntflite_value)
 * @data: its bytes; they stay until the next run begins
 * @bytes: number of bytes, 0 for an empty tensor
 * @rank: number of dimensions
 * @dims: sizes
 * @reserved: zero
 */
struct nntflite_value {
	size_t size;
	const void *data;
	size_t bytes;
	uint32_t rank;
	uint32_t dims[NNTFLITE_MAX_RANK];
	uint32_t reserved;
};

#define NNTFLITE_VALUE_INIT	{ sizeof(struct nntflite_value), NULL, 0, 0, { 0 }, 0 }

/**
 * nntflite_session_output() - an output of the last run
 * @session: session
 * @index: output, as nntflite_model_output() counts
 * @value: in: size; out: all else
 *
 * Return: NONE; INVALID_ARGUMENT (no such output, or a structure of another version);
 * GENERAL_FAILURE if no run has succeeded since the session was made or the last one failed.
 */
enum nnhal_status nntflite_session_output(const struct nntflite_session *session,
					  uint32_t index, struct nntflite_value *value);

/**
 * nntflite_session_reset() - give all variables their initial values
 * @session: session
 */
void nntflite_session_reset(struct nntflite_session *session);

/**
 * nntflite_session_get_variable() - copy the present value of a variable
 * @session: session
 * @index: variable, as nntflite_model_variable() counts
 * @data: room for it
 * @bytes: bytes of @data: those that the variable has
 * @diag: why not
 *
 * Return: NONE; INVALID_ARGUMENT; as nnhal_buffer_copy_to() and nnhal_memory_create().
 */
enum nnhal_status nntflite_session_get_variable(struct nntflite_session *session,
						uint32_t index, void *data, size_t bytes,
						struct nntflite_diag *diag);

/**
 * nntflite_session_begin() - the request of the next run
 * @session: session
 *
 * For callers that do not run the model by nntflite_session_run(): asynchronously, fenced,
 * or in a burst. They execute the request and tell nntflite_session_end() how that ended.
 *
 * Return: request; it stays as it is until then.
 */
const struct nnhal_request *nntflite_session_begin(struct nntflite_session *session);

/**
 * nntflite_session_end() - the run of a request has ended
 * @session: session
 * @status: how
 * @shapes: shapes of the outputs, as the execution has given them
 * @num_shapes: entries of @shapes
 * @diag: why the run has no result. A message about @status is the caller's to get
 *
 * Return: NONE: outputs and variables have new values. OUTPUT_INSUFFICIENT_SIZE: the
 * session has made larger memory, and the run has to be made again, from
 * nntflite_session_begin() on. RESOURCE_EXHAUSTED_* if it cannot. Else @status.
 */
enum nnhal_status nntflite_session_end(struct nntflite_session *session,
				       enum nnhal_status status,
				       const struct nnhal_output_shape *shapes,
				       uint32_t num_shapes, struct nntflite_diag *diag);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* NNTFLITE_SESSION_H */
