/* SPDX-License-Identifier: MIT */
/*
 * The request that an execution object ran last.
 *
 * Applications run one request again and again. What was found out about it is still true: its
 * arguments are compared with those of the last one, and not checked once more.
 */
#ifndef NNHAL_LAST_REQUEST_H
#define NNHAL_LAST_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <nnhal/nnhal.h>

#include "execution/validate_request.h"

/* What checks look at of a memory object. Another one may be at its address by now. */
struct seen_memory {
	const struct nnhal_memory *memory;
	uint64_t size;
	uint64_t offset;
	dev_t dev;
	ino_t ino;
	uint32_t kind;
	uint32_t access;
};

struct last_request {
	bool is_known;			/* false: there is none, or it has to be checked each time */
	bool allowed_unspecified;	/* it passed rules that let the device find output shapes */
	uint32_t hal_version;
	uint32_t num_pools;
	uint32_t max_pools;
	struct nnhal_request_argument *args;	/* inputs, then outputs */
	struct seen_memory *pools;
};

struct execution;
struct nnhal_bound_request;

/* @num_args of the model. False: no memory. */
bool last_request_init(struct last_request *last, uint32_t num_args);
void last_request_fini(struct last_request *last);
/*
 * Is @request, of version @hal_version, the last one, and were the rules as strict? Then @pools get
 * its memory objects; the arguments that were resolved still hold. Reads each field once.
 */
bool last_request_is(const struct last_request *last, const struct nnhal_request *request,
		     uint32_t hal_version, uint32_t num_pools, const struct request_rules *rules,
		     struct resolved_pool *pools);
/*
 * A request has been resolved to @args and @pools. With buffers or dimensions it is not
 * remembered: those may change between runs.
 */
void last_request_set(struct last_request *last, uint32_t hal_version, uint32_t num_pools,
		      const struct request_rules *rules, const struct resolved_pool *pools,
		      const struct resolved_arg *args);

/*
 * Check the request of a run, unless it is the last one, or bound: resolve_request(). The object has
 * the version of the request and its options.
 */
enum nnhal_status execution_resolve(struct execution *e, const struct nnhal_request *request,
				    struct nnhal_bound_request *bound, uint32_t num_pools,
				    const struct request_rules *rules);

#endif /* NNHAL_LAST_REQUEST_H */
