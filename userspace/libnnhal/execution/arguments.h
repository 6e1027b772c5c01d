/* SPDX-License-Identifier: MIT */
/*
 * Arguments and results of all kinds of execution.
 */
#ifndef NNHAL_ARGUMENTS_H
#define NNHAL_ARGUMENTS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <drm/nnpu_program.h>
#include <nnhal/nnhal.h>

#include "execution/prepared_model_private.h"
#include "execution/validate_request.h"
#include "memory/binding.h"

/* The outcome of a run. */
struct outcome {
	enum nnhal_status status;
	uint32_t num_shapes;
	struct nnhal_timing timing;
};

#define OUTCOME_FAILED \
	{ NNHAL_STATUS_GENERAL_FAILURE, 0, { NNHAL_NO_TIMING, NNHAL_NO_TIMING } }

/* Read and check the options of a call, which may be NULL; clear what they point to. */
enum nnhal_status execute_options_read(struct nnhal_execute_options *to,
				       const struct nnhal_execute_options *from);
/* The loop timeout of valid options, in the encoding of the device. */
uint64_t args_loop_timeout(const struct nnhal_execute_options *options);
/* Grow the arrays to @num_pools entries. False: no memory. */
bool args_make_room(struct resolved_pool **pools, const struct binding ***bindings,
		    uint32_t *max_pools, uint32_t num_pools);
/* Status of an execution that gets no memory or fence of the device; it holds @own slots. */
enum nnhal_status args_memory_status(struct nnhal_device *device, uint32_t own, int error);
/* Different bindings of the first @count arguments; pools may share one. */
uint32_t args_count_bindings(const struct resolved_arg *args, uint32_t count,
			     const struct binding *const *bindings);
/* Status of an execution whose pool cannot be bound; it holds @own slots. */
enum nnhal_status args_bind_status(struct nnhal_device *device, uint32_t pool, uint32_t own,
				   int error, struct nnhal_diag *diag);
/* Copy arguments from and to bounce buffers, for memory that the device cannot reach. */
enum nnhal_status args_copy_inputs(struct transport *t, const struct request_rules *rules,
				   const struct resolved_arg *args,
				   const struct resolved_pool *pools,
				   const struct binding *const *bindings, struct nnhal_diag *diag);
enum nnhal_status args_copy_outputs(struct transport *t, const struct request_rules *rules,
				    const struct resolved_arg *args,
				    const struct resolved_pool *pools,
				    const struct binding *const *bindings,
				    const struct nnhal_output_shape *shapes,
				    struct nnhal_diag *diag);
/* Write the argument records of the device. */
void args_build(struct nnpu_arg *records, const struct resolved_arg *args, uint32_t count,
		const struct binding *const *bindings);
/* Read the output shapes that the device wrote. False: they are impossible. */
static inline bool args_read_shapes(const struct nnpu_arg *records, uint32_t count,
				    struct nnhal_output_shape *shapes)
{
	uint32_t d;

	_Static_assert(sizeof(shapes->dimensions) == sizeof(records->dims), "same rank");
	/* A model has at least one output. */
	do {
		uint32_t rank = records->rank;

		if (rank > NNHAL_MAX_RANK)
			return false;
		shapes->num_dimensions = rank;
		shapes->is_sufficient = !(le16toh(records->flags) & NNPU_ARG_INSUFFICIENT);
		/* The device writes 0 behind the last dimension. */
		memcpy(shapes->dimensions, records->dims, sizeof(shapes->dimensions));
		for (d = 0; d < NNHAL_MAX_RANK && BYTE_ORDER != LITTLE_ENDIAN; d++)
			shapes->dimensions[d] = le32toh(shapes->dimensions[d]);
		records++;
		shapes++;
	} while (--count);
	return true;
}

/* Put the argument or operation that the device blames into the message. */
void args_explain(const struct nnhal_prepared_model *model, uint32_t device_status,
		  uint32_t device_reason, uint32_t index, struct nnhal_diag *diag);
void timing_of(struct nnhal_timing *timing, uint64_t start_ns, uint64_t end_ns, uint64_t exec_ns);
/* Reduce the outcome to what @hal_version, normalised, can report. */
void outcome_for_version(struct outcome *out, uint32_t hal_version);
/* Status, for the version of the request, of a call that started no execution. */
enum nnhal_status request_status(enum nnhal_status status, const struct nnhal_request *request);

#endif /* NNHAL_ARGUMENTS_H */
