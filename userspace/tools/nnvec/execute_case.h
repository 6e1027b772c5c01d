/* SPDX-License-Identifier: MIT */
/*
 * Executes a prepared case and judges the results.
 */
#ifndef NNVEC_EXECUTE_CASE_H
#define NNVEC_EXECUTE_CASE_H

#include "../common/compare_outputs.h"
#include "case_buffers.h"
#include "case_model.h"

/**
 * struct execution - executions of a prepared model
 * @model: prepared model
 * @m: model and memory
 * @nc: case
 * @tolerance: for its outputs
 * @path: enum path
 * @endless: the case may be one that loops without end: it must fail and has a WHILE
 * @burst: PATH_BURST, PATH_BOUND_BURST: the burst
 * @bound: PATH_BOUND, PATH_BOUND_BURST: bound by the first execution
 * @num_bound: its executions
 * @server: PATH_FMQ: the server's end of a burst
 * @client: PATH_FMQ: the client's end
 * @request: request, with everything it points to
 * @arguments: inputs, then outputs
 * @buffers: buffers of arguments, in the same order; NULL: none is in a buffer
 * @pools: pools of arguments
 * @shapes: one entry per output
 * @num_shapes: valid entries of @shapes after an execution
 * @timing: of an execution
 * @is_refused: PATH_FENCED: refused, as it has to be
 * @status: of an execution, or of what stood in its way
 * @diag: why
 */
struct execution {
	struct nnhal_prepared_model *model;
	const struct vec_model *m;
	const struct nntc_case *nc;
	const struct tolerance *tolerance;
	enum path path;
	bool endless;
	struct nnhal_burst *burst;
	struct nnhal_bound_request *bound;
	unsigned int num_bound;
	struct nnhal_burst_server *server;
	struct nnhal_burst_controller *client;
	struct nnhal_request request;
	struct nnhal_request_argument *arguments;
	struct case_buffer *buffers;
	struct nnhal_request_pool *pools;
	struct nnhal_output_shape *shapes;
	uint32_t num_shapes;
	struct nnhal_timing timing;
	bool is_refused;
	enum nnhal_status status;
	struct nnhal_diag diag;
};

/*
 * Each function returns false, with a text of REASON_TEXT bytes, if a result is wrong.
 * execution_free() has to be called in any case.
 */
bool execution_init(struct execution *e, struct nnhal_device *device,
		    struct nnhal_prepared_model *model, const struct vec_model *m,
		    const struct nntc_case *nc, const struct tolerance *tolerance,
		    const struct variation *v, char *text);
void execution_free(struct execution *e);

/* Execute and check status, shapes, timing, outputs and all memory. */
bool execution_check(struct execution *e, char *text);

/* Execute and check that the execution is refused. */
bool execution_must_fail(struct execution *e, char *text);

/*
 * Execute with each output in turn one byte too small: OUTPUT_INSUFFICIENT_SIZE, with
 * the shape.
 */
bool execution_too_small(struct execution *e, char *text);

#endif /* NNVEC_EXECUTE_CASE_H */
