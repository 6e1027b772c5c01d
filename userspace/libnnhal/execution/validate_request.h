/* SPDX-License-Identifier: MIT */
/*
 * Validation of requests.
 */
#ifndef NNHAL_VALIDATE_REQUEST_H
#define NNHAL_VALIDATE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <nnhal/nnhal.h>

#include "buffer/buffer_private.h"
#include "device/extensions.h"

/* An input or output of a model, as far as request validation needs it. */
struct arg_info {
	uint32_t element_size;		/* 0: not known, of OEM types and unknown extensions */
	uint32_t rank;
	bool rank_known;		/* false: tensor of unknown rank */
	const uint32_t *dims;
};

/* What else two operands that share a buffer must have in common. */
struct arg_kind {
	uint32_t type;			/* of an extension that the device has: BASE_MAX + its code */
	float scale;
	int32_t zero_point;
	struct nnhal_extra_params extra;
};

/* Bytes of a file that hold constants: outputs must not overlap them. */
struct const_region {
	dev_t dev;
	ino_t ino;
	uint64_t begin;
	uint64_t end;
};

/* A checked argument with its shape. */
struct resolved_arg {
	bool omitted;
	bool has_shape;			/* the request gave dimensions */
	uint32_t pool;
	uint32_t offset;
	uint32_t length;
	uint32_t rank;
	uint32_t dims[NNHAL_MAX_RANK];
};

/* A pool of a request: a memory object, or a buffer. */
struct resolved_pool {
	/* Of a buffer: its memory, referenced; NULL: no argument is there. */
	struct nnhal_memory *memory;
	struct nnhal_buffer *buffer;	/* held; NULL: a memory object */
	struct shape shape;		/* of the content of a buffer that is an input */
	struct buffer_writer *writer;	/* a fenced run that writes the buffer; NULL: none */
};

struct request_rules {
	const struct arg_info *inputs;
	const struct arg_info *outputs;
	const struct arg_kind *kinds;	/* inputs, then outputs */
	/* The device whose buffers requests may name, and the number of the model; NULL: none. */
	struct nnhal_device *device;
	uint64_t model;
	uint32_t num_inputs;
	uint32_t num_outputs;
	const struct const_region *constants;
	uint32_t num_constants;
	/* Of each pool, for a bound request; NULL: look tokens up. */
	struct nnhal_buffer *const *buffers;
	bool allow_unspecified_output;
	bool allow_early_input;		/* of a buffer that a fenced run is about to write */
};

/* Has a request as many arguments as the model, and are they there? */
bool request_counts_match(const struct nnhal_request *request, const struct request_rules *rules,
			  struct nnhal_diag *diag);
/*
 * Check a request and resolve its arguments, inputs first. @num_pools is the request's number
 * of pools, which the caller has read once. @pools has room for as many entries, @args for
 * all arguments. Each field of the request is read once. With NONE the pools hold their buffers,
 * but no reference of memory objects of the caller. With any status but NONE and INVALID_ARGUMENT
 * outputs in buffers are uninitialised.
 */
enum nnhal_status resolve_request(const struct nnhal_request *request, uint32_t num_pools,
				  const struct request_rules *rules,
				  struct resolved_pool *pools,
				  struct resolved_arg *args, struct nnhal_diag *diag);
/*
 * The same, but nothing is run: the state of buffers stays as it is, and the pools hold nothing
 * afterwards.
 */
enum nnhal_status examine_request(const struct nnhal_request *request, uint32_t num_pools,
				const struct request_rules *rules,
				struct resolved_pool *pools,
				struct resolved_arg *args, struct nnhal_diag *diag);
/* Release a pool that is a buffer; it is none any more. */
void resolved_pool_put(struct resolved_pool *pool);
/* Bytes of an argument. False: more than 32 bits, or element_size is 0. */
bool arg_size(const struct arg_info *info, const uint32_t *dims, uint32_t rank, uint32_t *size);
/*
 * Rules for requests to a valid model. @block holds them; the caller frees it. @extensions of
 * the device, or NULL.
 */
enum nnhal_status request_rules_init(struct request_rules *rules,
				     const struct nnhal_model *model,
				     const struct extensions *extensions, void **block);

#endif /* NNHAL_VALIDATE_REQUEST_H */
