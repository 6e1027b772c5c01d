/* SPDX-License-Identifier: MIT */
/*
 * Executions, and what becomes of them.
 */
#ifndef NDK_EXECUTION_H
#define NDK_EXECUTION_H

#include <nnhal/fenced.h>
#include <pthread.h>
#include <stdatomic.h>

#include "memory/ndk_memory.h"

/**
 * struct ndk_argument - what an argument of the request refers to
 * @is_set: by the program, perhaps as omitted; only once
 * @hal: set by pointer: the process's memory as libnnhal has it; else NULL
 * @memory: set from memory: a reference; else NULL
 * @dimensions: of the type that was given, if it has any
 */
struct ndk_argument {
	bool is_set;
	struct nnhal_memory *hal;
	ANeuralNetworksMemory *memory;
	uint32_t dimensions[NNHAL_MAX_RANK];
};

/**
 * struct ndk_run - an execution that has started, and how it ended
 * @refs: the execution's, the event's, and libnnhal's while it runs
 * @lock: for the fields below
 * @ended: signals @done
 * @done: the fields below have their values
 * @open_shapes: the model leaves shapes of inputs or outputs open, so that only computing tells what is wrong with them
 * @result: result code
 * @fence: of a fenced execution: signals the end; else -1
 * @refused: result code of a fenced execution that fails since a step could not be launched; @fence is that of the
 *	last step that was. NO_ERROR: all were launched
 * @why: what libnnhal or this library says about a failure; written before @done
 * @infos: of a fenced execution: of each of its steps, or NULL; they have the result
 * @num_infos: entries of @infos
 * @launched: times, microseconds
 * @fenced: times from the last fence on
 * @num_outputs: entries of @shapes
 * @num_shapes: those that have values: all after a success, and where an output was too small
 * @num_written: entries of @written
 * @written: memory of descriptors that it writes and that no single device has, references; or NULL
 * @shapes: of the outputs
 */
struct ndk_run {
	atomic_uint refs;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done;
	bool open_shapes;
	int result;
	int fence;
	int refused;
	struct nnhal_diag why;
	struct nnhal_fenced_callback **infos;
	uint32_t num_infos;
	struct nnhal_timing launched, fenced;
	uint32_t num_outputs, num_shapes;
	uint32_t num_written;
	ANeuralNetworksMemory **written;
	struct nnhal_output_shape shapes[];
};

enum ndk_state {
	STATE_PREPARED,
	STATE_RUNNING,		/* by a call that has not returned */
	STATE_LAUNCHED,		/* the run tells when it has ended */
	STATE_ENDED,
};

/**
 * struct ndk_said - what a program says before the start, besides arguments
 * @reusable: may start again when it has ended
 * @padded: arguments may be followed by bytes that they do not have
 * @measure: times are wanted
 * @has_loop_timeout: it was set
 * @timeout_ns: 0: none
 * @loop_timeout_ns: valid if @has_loop_timeout
 */
struct ndk_said {
	bool reusable;
	bool padded;
	bool measure;
	bool has_loop_timeout;
	uint64_t timeout_ns;
	uint64_t loop_timeout_ns;
};

/**
 * struct ANeuralNetworksExecution - an execution
 * @spare: for the compilation, after the end; the first member
 * @refs: the program's, and that of steps that run
 * @compilation: a reference
 * @state: enum ndk_state
 * @said: all zero at first
 * @num_inputs: inputs, which are first in @arguments
 * @num_arguments: entries of @arguments and @hal_arguments, room in @pools
 * @num_set: arguments that are set; the request is complete with the last one
 * @num_shared: those in memory of descriptors that no single device has
 * @arguments: inputs and outputs
 * @request: grows with each argument that is set, so that a start has nothing left to do
 * @hal_arguments: of the request
 * @pools: of the request
 * @run: the last start; there always is one
 * @parts: of a plan; made at the first start
 * @burst: the last burst that has seen it, a reference, or NULL
 */
struct ANeuralNetworksExecution {
	struct ndk_spare spare;
	atomic_uint refs;
	ANeuralNetworksCompilation *compilation;
	atomic_int state;
	struct ndk_said said;
	uint32_t num_inputs, num_arguments, num_set, num_shared;
	struct ndk_argument *arguments;
	struct nnhal_request request;
	struct nnhal_request_argument *hal_arguments;
	struct nnhal_request_pool *pools;
	struct ndk_run *run;
	struct ndk_parts *parts;
	struct ANeuralNetworksBurst *burst;
};

enum ndk_burst_use {
	BURST_FREE,
	BURST_COMPUTES,
	BURST_FORGETS,		/* the memory of an execution that is freed */
};

/**
 * struct ANeuralNetworksBurst - a burst
 * @refs: the program's, and one for each execution that it has seen last
 * @compilation: a reference
 * @use: enum ndk_burst_use
 * @forgetting: held while @use is BURST_FORGETS
 * @burst: of the whole model
 * @steps: of each step of a plan; both NULL: no device takes the model
 */
struct ANeuralNetworksBurst {
	atomic_uint refs;
	ANeuralNetworksCompilation *compilation;
	atomic_int use;
	pthread_mutex_t forgetting;
	struct nnhal_burst *burst;
	struct nnhal_burst **steps;
};

struct ndk_run *ndk_run_new(uint32_t num_outputs, bool open_shapes);
struct ndk_run *ndk_run_ref(struct ndk_run *run);
/* Another run instead of this one, unless nobody else looks at it. false: no memory, and nothing changed. */
bool ndk_run_renew(struct ndk_run **run);
void ndk_run_unref(struct ndk_run *run);
/* What libnnhal calls back with. */
static inline void ndk_run_set_shapes(struct ndk_run *run, const struct nnhal_output_shape *shapes,
				      uint32_t num_shapes)
{
	run->num_shapes = num_shapes < run->num_outputs ? num_shapes : run->num_outputs;
	for (uint32_t i = 0; i < run->num_shapes; i++)
		run->shapes[i] = shapes[i];
}
/* The end of a run that has no fence. Shapes were written before. */
void ndk_run_end(struct ndk_run *run, int result);
/* The result code of an execution that libnnhal has ended with a status. */
int ndk_run_result(struct ndk_run *run, enum nnhal_status status);
/* The run keeps the reason for @result that this thread has noted, unless it has one. Returns @result. */
int ndk_run_note(struct ndk_run *run, int result);
/* The result of a run that has ended, for a function that asks for it: with the reason. */
int ndk_run_why(const struct ndk_run *run);
/* Is what has been launched still waiting, or at work? Only of fenced runs. */
static inline bool ndk_run_is_under_way(const struct ndk_run *run)
{
	return run->fence >= 0 && nnhal_fence_wait(run->fence, 0) == NNHAL_FENCE_ACTIVE;
}
/* Another fence and other infos, which the run owns then, instead of those that it has. -1 and NULL: none. */
void ndk_run_set_fence(struct ndk_run *run, int fence, struct nnhal_fenced_callback **infos,
		       uint32_t num_infos);
/* The status that the infos of a fenced run have after its end: that of the step that failed. Times are written. */
enum nnhal_status ndk_run_status(struct ndk_run *run);
/* After the result is there: what was written has a content, or none. */
static inline void ndk_run_settle(const struct ndk_run *run)
{
	for (uint32_t i = 0; i < run->num_written; i++)
		ndk_memory_end_write(run->written[i], run, run->result);
}
/* Has it ended? With @wait: wait for that. */
bool ndk_run_ended(struct ndk_run *run, bool wait);

/* The state, after a look at whether the run has ended. */
enum ndk_state ndk_execution_state(ANeuralNetworksExecution *execution);

/* Memory of descriptors gets a content with the end of the run. OP_FAILED: an input has none. */
int ndk_begin_shared(ANeuralNetworksExecution *execution);

static inline int ndk_begin_contents(ANeuralNetworksExecution *execution)
{
	return execution->num_shared ? ndk_begin_shared(execution) : ANEURALNETWORKS_NO_ERROR;
}

ANeuralNetworksExecution *ndk_execution_ref(ANeuralNetworksExecution *execution);

void ndk_burst_forget(ANeuralNetworksBurst *burst, const ANeuralNetworksExecution *execution);

#endif /* NDK_EXECUTION_H */
