/* SPDX-License-Identifier: MIT */
/*
 * A list of operations that runs directly through op.h. It does what the program loader and the
 * executor do for operations, without a device.
 */
#ifndef NNPU_TESTS_GRAPH_H
#define NNPU_TESTS_GRAPH_H

#include "op.h"

struct graph_call {
	struct op_call call;
	struct tensor **operands;	/* inputs, then outputs */
	bool inferred;			/* shapes were known when the graph was loaded */
	uint32_t extension;		/* code of an operation of an extension, for its signature */
};

struct graph {
	struct tensor *tensors;
	struct tensor *declared;	/* as they were when the graph was loaded */
	unsigned int num_tensors;
	struct graph_call *calls;
	unsigned int num_calls;
	struct op_error error;		/* of the call that failed */
	unsigned int failed_call;
	size_t prepared_bytes;
	size_t max_bytes;		/* largest operand and scratch; 0: any */
};

/*
 * An empty graph; false if memory is short. The caller fills in the tensors: what
 * it gives as constant data must live as long as the graph.
 */
bool graph_init(struct graph *g, unsigned int num_tensors, unsigned int num_calls);

/* Set a call: tensor numbers of inputs, then outputs. false if memory is short. */
bool graph_set_call(struct graph *g, unsigned int i, const struct op_desc *desc,
		    unsigned int num_inputs, unsigned int num_outputs,
		    const uint32_t *tensors, bool relaxed);

/* Fill in rank, shape_known and bytes of a tensor. Rank 0 means unknown, except for scalars. */
void graph_set_shape(struct tensor *t, unsigned int rank, const uint32_t *dims);

/*
 * Fill in scale and zero point, or the scales of a tensor that has one per index of @channel_dim. The
 * type is set.
 */
void graph_set_quant(struct tensor *t, float scale, int32_t zero_point, uint32_t channel_dim,
		     const float *scales);

/* check(), infer() where shapes are known, prepare(). 0 or -1 with g->error. */
int graph_load(struct graph *g);

/*
 * Run. Inputs have their shape, bytes and data; room for the others is
 * allocated. Returns 0, -1 with g->error, or OP_ABORTED.
 */
int graph_run(struct graph *g);

/* Forget what graph_run() allocated and shapes it found. */
void graph_reset(struct graph *g);
void graph_destroy(struct graph *g);

/* Calls of op_progress() since the last reset, and after how many to abort. */
struct job_progress {
	unsigned long count;
	unsigned long abort_after;	/* 0: never */
};

extern struct job_progress graph_progress;

/* If set, called by op_progress() and decides what it returns. */
extern bool (*graph_look)(void);

/*
 * Memory of a tensor, to be freed: 64-byte aligned as the device's, and not a byte more, so that AddressSanitizer
 * sees what is read or written behind it. NULL: no memory.
 */
void *graph_alloc(size_t bytes);

#endif /* NNPU_TESTS_GRAPH_H */
