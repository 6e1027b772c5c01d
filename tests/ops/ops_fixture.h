/* SPDX-License-Identifier: MIT */
/*
 * One operation in a test: operands in order, then check, load or run.
 *
 *	struct fixture f;
 *
 *	fixture_init(&f, NNPU_OP_RELU);
 *	fixture_input(&f, NNPU_TYPE_TENSOR_FLOAT32, 0, 0, DIMS(2), (float[]){ -1, 1 });
 *	fixture_output(&f, NNPU_TYPE_TENSOR_FLOAT32, 0, 0);
 *	ok(fixture_run(&f) == 0, ...);
 *	... fixture_result(&f) ...
 *	fixture_end(&f);
 */
#ifndef NNPU_TESTS_OPS_FIXTURE_H
#define NNPU_TESTS_OPS_FIXTURE_H

#include "graph.h"

#define FIXTURE_MAX_OPERANDS	72

/* Rank and sizes of a tensor. */
#define DIMS(...) \
	(sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)), (uint32_t[]){ __VA_ARGS__ }

/* A shape that is not known before the job runs. */
#define UNKNOWN_RANK	0, NULL

struct fixture {
	enum nnpu_operation op;
	bool relaxed;
	bool shared_constants;		/* as if other operations read them too */
	unsigned int num_inputs, num_outputs;
	struct tensor tensors[FIXTURE_MAX_OPERANDS];
	void *data[FIXTURE_MAX_OPERANDS];
	size_t sizes[FIXTURE_MAX_OPERANDS];		/* of data */
	void *constants[FIXTURE_MAX_OPERANDS];	/* copies that operations may rewrite */
	struct graph graph;
	bool loaded;
};

void fixture_init(struct fixture *f, enum nnpu_operation op);

/*
 * Append an operand; its data is copied. The tensor is returned for changes before
 * the fixture is loaded.
 */
struct tensor *fixture_input(struct fixture *f, enum nnpu_type type, float scale,
			     int32_t zero_point, unsigned int rank, const uint32_t *dims,
			     const void *data);
struct tensor *fixture_const(struct fixture *f, enum nnpu_type type, float scale,
			     int32_t zero_point, unsigned int rank, const uint32_t *dims,
			     const void *data);
struct tensor *fixture_output(struct fixture *f, enum nnpu_type type, float scale,
			      int32_t zero_point);
struct tensor *fixture_i32(struct fixture *f, int32_t v);
struct tensor *fixture_f32(struct fixture *f, float v);
struct tensor *fixture_bool(struct fixture *f, bool v);

/* Per-channel scales of the operand added last; they must outlive the fixture. */
void fixture_channel_scales(struct fixture *f, uint32_t dim, const float *scales);

/* Turn constants into inputs of the job. Before loading. */
void fixture_unfix(struct fixture *f);

/* check(), infer(), prepare(): the reason of a refusal, or NNPU_REASON_NONE. */
enum nnpu_reason fixture_load(struct fixture *f);

/* Load if not done, then run once: 0, -1 (see fixture_reason()), OP_ABORTED. */
int fixture_run(struct fixture *f);
enum nnpu_reason fixture_reason(const struct fixture *f);
unsigned int fixture_bad_operand(const struct fixture *f);

/* Forget what was loaded, so that the next run loads again. */
void fixture_unload(struct fixture *f);

/* Output 0 after a run. */
const struct tensor *fixture_result(const struct fixture *f);

/* Is output 0 exactly this? Says what differs. */
bool fixture_is(const struct fixture *f, unsigned int rank, const uint32_t *dims,
		const void *data);

/* With plain loops, then without, loaded anew for each: are the bytes of output 0 the same? */
bool fixture_agrees(struct fixture *f);

/* @sum + @x * @w as the inner loops of the CPU round it: once if they are fused. */
float fixture_add_term(float sum, float x, float w);

void fixture_end(struct fixture *f);

#endif /* NNPU_TESTS_OPS_FIXTURE_H */
