// SPDX-License-Identifier: MIT
/*
 * Compiles the model of a case, executes it in a way, and judges the results.
 */
#include <nnhal/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ndk_case.h"

/* Timeout for loops that must not end; others have the default of the NNAPI. */
#define LOOP_TIMEOUT_NS		UINT64_C(1000000)
#define NO_OUTPUT		UINT32_MAX

/* An argument in memory of a descriptor. */
struct described {
	ANeuralNetworksMemory *memory;
	struct ndk_place staging;	/* of the size of the operand, which is what copies take */
};

struct run {
	const struct ndk_case *c;
	const struct vec_model *m;
	ANeuralNetworksCompilation *compilation;
	ANeuralNetworksBurst *burst;
	struct ndk_place *places;	/* by pool */
	struct ndk_place *own_places;
	struct described *described;	/* by argument, inputs before outputs */
	uint32_t small;			/* output with a byte less, or NO_OUTPUT */
	bool open_zero;			/* an output of size 0: fenced executions refuse it */
	const char *stage;		/* the call that gave the last result */
};

static const struct value *value_of(const struct vec_model *m, uint32_t i)
{
	return i < m->num_inputs ? &m->inputs[i] : &m->outputs[i - m->num_inputs];
}

static uint32_t num_arguments(const struct vec_model *m)
{
	return m->num_inputs + m->num_outputs;
}

static bool is_open(const struct vec_model *m, uint32_t output)
{
	const struct nnhal_operand *o = &m->model.main.operands[m->model.main.output_indexes[output]];

	return !nntc_is_scalar(o->type) &&
	       nnhal_tensor_has_unspecified_dimensions(o->type, o->dimensions, o->num_dimensions);
}

static int at_stage(struct run *r, const char *stage, int result)
{
	r->stage = stage;
	return result;
}

/* ---- compilations ---- */

static int compile_once(struct run *r)
{
	const struct ndk_case *c = r->c;
	int result;

	r->compilation = NULL;
	result = at_stage(r, "createForDevices",
			  ANeuralNetworksCompilation_createForDevices(c->graph.model, &c->device,
								      1, &r->compilation));
	if (!result && c->way->from_cache)
		result = at_stage(r, "setCaching",
				  ANeuralNetworksCompilation_setCaching(r->compilation, c->folder,
									c->token));
	return result ? result : at_stage(r, "finish",
					  ANeuralNetworksCompilation_finish(r->compilation));
}

static int compile(struct run *r)
{
	int result = compile_once(r);

	if (result || !r->c->way->from_cache)
		return result;
	ANeuralNetworksCompilation_free(r->compilation);
	return compile_once(r);
}

/* ---- memory ---- */

/* false: no memory. Pools of constants are the model's, in which nothing of this run is. */
static bool make_places(struct run *r)
{
	uint32_t i;

	if (r->c->shares_pool) {
		r->places = r->c->places;
		return true;
	}
	r->own_places = calloc((size_t)r->m->num_pools + 1, sizeof(*r->own_places));
	r->places = r->own_places;
	for (i = r->m->first_argument_pool; r->places && i < r->m->num_pools; i++)
		if (!place_init(&r->places[i], r->c->way->kind, r->m->pool_sizes[i]))
			return false;
	return r->places;
}

static int describe(struct run *r, uint32_t i, ANeuralNetworksMemoryDesc *desc)
{
	const struct nntc_operand *o = value_of(r->m, i)->operand;
	bool output = i >= r->m->num_inputs;
	int result;

	if (output)
		result = at_stage(r, "addOutputRole",
				  ANeuralNetworksMemoryDesc_addOutputRole(desc, r->compilation,
									  i - r->m->num_inputs,
									  1.0f));
	else
		result = at_stage(r, "addInputRole",
				  ANeuralNetworksMemoryDesc_addInputRole(desc, r->compilation, i,
									 1.0f));
	if (!result && o->rank)
		result = at_stage(r, "setDimensions",
				  ANeuralNetworksMemoryDesc_setDimensions(desc, o->rank, o->dims));
	if (!result)
		result = at_stage(r, "MemoryDesc_finish", ANeuralNetworksMemoryDesc_finish(desc));
	if (!result)
		result = at_stage(r, "createFromDesc",
				  ANeuralNetworksMemory_createFromDesc(desc,
								       &r->described[i].memory));
	return result;
}

static int make_described(struct run *r)
{
	uint32_t i, count = num_arguments(r->m);
	ANeuralNetworksMemoryDesc *desc;
	int result = 0;

	r->described = calloc((size_t)count + 1, sizeof(*r->described));
	if (!r->described)
		return ANEURALNETWORKS_OUT_OF_MEMORY;
	for (i = 0; i < count && !result; i++) {
		const struct value *v = value_of(r->m, i);

		/* Copies need memory of the size of the operand, and there is none without bytes. */
		if (v->omitted || !v->operand->num_bytes)
			continue;
		result = ANeuralNetworksMemoryDesc_create(&desc);
		if (result)
			break;
		result = describe(r, i, desc);
		ANeuralNetworksMemoryDesc_free(desc);
		if (!result && !place_init(&r->described[i].staging, KIND_MEMORY,
					   v->operand->num_bytes))
			result = ANEURALNETWORKS_OUT_OF_MEMORY;
	}
	return result;
}

static uint8_t *bytes_of(const struct run *r, const struct value *v)
{
	return r->places[v->pool].bytes + v->offset;
}

static bool access_places(const struct run *r, bool (*call)(struct ndk_place *place))
{
	for (uint32_t i = 0; i < r->m->num_pools; i++)
		if (!call(&r->places[i]))
			return false;
	return true;
}

static uint32_t length_of(const struct run *r, uint32_t output)
{
	return r->m->outputs[output].length - (output == r->small);
}

/* Of different residues, so that it is more than an alignment. What follows the value is its guard. */
static size_t padded(const struct run *r, uint32_t length)
{
	return r->c->way->padded ? (size_t)length + 1 + length % GUARD_SIZE : length;
}

static void write_value(const struct run *r, uint32_t i)
{
	const struct value *v = value_of(r->m, i);
	uint8_t *bytes = bytes_of(r, v);

	if (i < r->m->num_inputs)
		memcpy(bytes, v->operand->data, v->length);
	for (uint32_t k = 0; i >= r->m->num_inputs && k < v->length; k++)
		bytes[k] = wrong_byte(v->operand, k);
	memset(bytes + v->length, GUARD_BYTE, GUARD_SIZE);
}

/* Write inputs, and outputs that differ from the expected ones. */
static int fill(struct run *r)
{
	uint32_t i;
	int result = 0;

	if (!access_places(r, place_begin))
		return at_stage(r, "lock", ANEURALNETWORKS_UNMAPPABLE);
	for (i = 0; i < num_arguments(r->m); i++)
		if (!value_of(r->m, i)->omitted)
			write_value(r, i);
	for (i = 0; r->described && i < r->m->num_inputs && !result; i++) {
		struct described *d = &r->described[i];

		if (!d->memory)
			continue;
		memcpy(d->staging.bytes, bytes_of(r, &r->m->inputs[i]), d->staging.size);
		result = at_stage(r, "copy to an input",
				  ANeuralNetworksMemory_copy(d->staging.memory, d->memory));
	}
	if (!access_places(r, place_end))
		return at_stage(r, "unlock", ANEURALNETWORKS_UNMAPPABLE);
	return result;
}

/* ---- executions ---- */

static int set_argument(struct run *r, ANeuralNetworksExecution *e, uint32_t i)
{
	const struct value *v = value_of(r->m, i);
	bool output = i >= r->m->num_inputs;
	int32_t index = (int32_t)(output ? i - r->m->num_inputs : i);
	size_t length = padded(r, output ? length_of(r, (uint32_t)index) : v->length);
	const struct nntc_operand *o = v->operand;
	const struct ndk_place *place = &r->places[v->pool];
	bool given = output ? r->c->way->run == RUN_FENCED && is_open(r->m, (uint32_t)index) :
			      r->m->dims_in_request[index];
	ANeuralNetworksOperandType type = {
		.type = (int32_t)o->type, .dimensionCount = o->rank,
		.dimensions = o->rank ? o->dims : NULL, .scale = o->scale,
		.zeroPoint = o->zero_point,
	};
	const ANeuralNetworksOperandType *t = given && o->rank ? &type : NULL;
	const ANeuralNetworksMemory *memory = place->memory;
	size_t offset = v->offset;

	if (r->described && r->described[i].memory) {
		memory = r->described[i].memory;
		offset = 0;
		length = 0;
	}
	if (v->omitted)
		return output ? ANeuralNetworksExecution_setOutput(e, index, t, NULL, 0) :
				ANeuralNetworksExecution_setInput(e, index, t, NULL, 0);
	if (output && memory)
		return ANeuralNetworksExecution_setOutputFromMemory(e, index, t, memory, offset,
								    length);
	if (output)
		return ANeuralNetworksExecution_setOutput(e, index, t, bytes_of(r, v), length);
	if (memory)
		return ANeuralNetworksExecution_setInputFromMemory(e, index, t, memory, offset,
								   length);
	return ANeuralNetworksExecution_setInput(e, index, t, bytes_of(r, v), length);
}

/* An execution with everything set. */
static int prepare(struct run *r, ANeuralNetworksExecution **execution)
{
	ANeuralNetworksExecution *e = NULL;
	uint32_t i;
	int result;

	result = at_stage(r, "Execution_create",
			  ANeuralNetworksExecution_create(r->compilation, &e));
	*execution = e;
	if (!result && r->c->way->run == RUN_REUSED)
		result = at_stage(r, "setReusable", ANeuralNetworksExecution_setReusable(e, true));
	if (!result && r->c->way->run == RUN_COMPUTE)
		result = at_stage(r, "setMeasureTiming",
				  ANeuralNetworksExecution_setMeasureTiming(e, true));
	if (!result && r->c->way->padded)
		result = at_stage(r, "enableInputAndOutputPadding",
				  ANeuralNetworksExecution_enableInputAndOutputPadding(e, true));
	if (!result && r->c->endless)
		result = at_stage(r, "setLoopTimeout",
				  ANeuralNetworksExecution_setLoopTimeout(e, LOOP_TIMEOUT_NS));
	for (i = 0; i < num_arguments(r->m) && !result; i++)
		result = at_stage(r, i < r->m->num_inputs ? "setInput" : "setOutput",
				  set_argument(r, e, i));
	return result;
}

static int run_async(struct run *r, ANeuralNetworksExecution *e)
{
	ANeuralNetworksEvent *event = NULL;
	int result = at_stage(r, "startCompute",
			      ANeuralNetworksExecution_startCompute(e, &event));

	if (!result)
		result = at_stage(r, "wait", ANeuralNetworksEvent_wait(event));
	ANeuralNetworksEvent_free(event);
	return result;
}

/* @e, and then another one that depends on it. If the first fails, so does the second. */
static int run_fenced(struct run *r, ANeuralNetworksExecution *e)
{
	ANeuralNetworksExecution *after = NULL;
	ANeuralNetworksEvent *first = NULL, *second = NULL;
	int result, then;

	result = at_stage(r, "startComputeWithDependencies",
			  ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0,
										&first));
	if (result)
		return result;
	then = prepare(r, &after);
	if (!then)
		then = ANeuralNetworksExecution_startComputeWithDependencies(
			after, (const ANeuralNetworksEvent *const *)&first, 1, 0, &second);
	result = at_stage(r, "wait", ANeuralNetworksEvent_wait(first));
	if (!then)
		then = ANeuralNetworksEvent_wait(second);
	ANeuralNetworksEvent_free(second);
	ANeuralNetworksEvent_free(first);
	ANeuralNetworksExecution_free(after);
	if (!result)
		return at_stage(r, "the second of the chain", then);
	return then ? result : at_stage(r, "the second of a chain that has failed",
					ANEURALNETWORKS_INCOMPLETE);
}

static int start(struct run *r, ANeuralNetworksExecution *e)
{
	switch (r->c->way->run) {
	case RUN_ASYNC:
		return run_async(r, e);
	case RUN_FENCED:
		return run_fenced(r, e);
	case RUN_BURST:
		return at_stage(r, "burstCompute",
				ANeuralNetworksExecution_burstCompute(e, r->burst));
	case RUN_COMPUTE:
	case RUN_REUSED:
		break;
	}
	return at_stage(r, "compute", ANeuralNetworksExecution_compute(e));
}

/* ---- verdicts ---- */

/* The shape of an output, asked with the result of the execution. */
static bool get_shape(const struct run *r, ANeuralNetworksExecution *e, uint32_t i,
		      int expected, struct nnhal_output_shape *shape, char *text)
{
	uint32_t dims[NNTC_MAX_RANK + 1] = { 0 }, rank = UINT32_MAX;
	int result = ANeuralNetworksExecution_getOutputOperandRank(e, (int32_t)i, &rank);

	if (result != expected || rank > NNTC_MAX_RANK)
		return ndk_failed(text, "rank of output %u: result %d, rank %u", i, result,
				  rank) != NDK_FAILED;
	*shape = (struct nnhal_output_shape){ .num_dimensions = rank, .is_sufficient = !expected };
	/* A scalar has no dimensions that could be asked for. */
	if (!rank && nntc_is_scalar(r->m->outputs[i].operand->type))
		return true;
	result = ANeuralNetworksExecution_getOutputOperandDimensions(e, (int32_t)i, dims);
	memcpy(shape->dimensions, dims, rank * sizeof(*dims));
	if (result != expected)
		return ndk_failed(text, "dimensions of output %u: result %d", i, result) !=
		       NDK_FAILED;
	return true;
}

static bool guard_is_whole(const struct run *r, const struct value *v)
{
	const uint8_t *guard = bytes_of(r, v) + v->length;

	for (unsigned int i = 0; i < GUARD_SIZE; i++)
		if (guard[i] != GUARD_BYTE)
			return false;
	return true;
}

/* Copy described outputs to where the others are. */
static bool read_described(const struct run *r, char *text)
{
	for (uint32_t i = 0; r->described && i < r->m->num_outputs; i++) {
		struct described *d = &r->described[r->m->num_inputs + i];
		int result;

		if (!d->memory)
			continue;
		result = ANeuralNetworksMemory_copy(d->memory, d->staging.memory);
		if (result)
			return ndk_failed(text, "copy of output %u: result %d", i, result) !=
			       NDK_FAILED;
		memcpy(bytes_of(r, &r->m->outputs[i]), d->staging.bytes, d->staging.size);
	}
	return true;
}

static bool check_output(const struct run *r, ANeuralNetworksExecution *e, uint32_t i, char *text)
{
	const struct value *v = &r->m->outputs[i];
	struct nnhal_output_shape shape;

	if (!get_shape(r, e, i, ANEURALNETWORKS_NO_ERROR, &shape, text) ||
	    !compare_shape(i, v->operand, &shape, text))
		return false;
	if (r->c->nc->multinomial_tolerance > 0)
		return compare_frequencies(i, r->c->nc, &shape, bytes_of(r, v), text);
	return compare_output(i, v->operand, bytes_of(r, v), &r->c->tolerance, text);
}

/* Nothing but outputs was written. */
static bool check_memory(const struct run *r, char *text)
{
	for (uint32_t i = 0; i < num_arguments(r->m); i++) {
		const struct value *v = value_of(r->m, i);

		if (v->omitted)
			continue;
		if ((i < r->m->num_inputs && memcmp(bytes_of(r, v), v->operand->data, v->length)) ||
		    !guard_is_whole(r, v))
			return ndk_failed(text, "something was written to argument %u or behind it",
					  i) != NDK_FAILED;
	}
	return true;
}

static bool check_times(const struct run *r, ANeuralNetworksExecution *e, char *text)
{
	uint64_t hardware = 0, driver = 0;
	int result;

	if (r->c->way->run != RUN_COMPUTE)
		return true;
	result = ANeuralNetworksExecution_getDuration(e, ANEURALNETWORKS_DURATION_ON_HARDWARE,
						      &hardware);
	if (!result)
		result = ANeuralNetworksExecution_getDuration(
			e, ANEURALNETWORKS_DURATION_IN_DRIVER, &driver);
	if (!result && hardware != UINT64_MAX && driver != UINT64_MAX && hardware <= driver)
		return true;
	return ndk_failed(text, "durations: result %d, %llu ns of %llu ns", result,
			  (unsigned long long)hardware, (unsigned long long)driver) != NDK_FAILED;
}

static bool check_results(const struct run *r, ANeuralNetworksExecution *e, char *text)
{
	bool good = true;
	uint32_t i;

	if (!access_places(r, place_begin))
		return ndk_failed(text, "lock") != NDK_FAILED;
	good = read_described(r, text);
	for (i = 0; i < r->m->num_outputs && good; i++)
		good = check_output(r, e, i, text);
	good = good && check_memory(r, text) && check_times(r, e, text);
	return access_places(r, place_end) && good;
}

/* An execution, or several of the same one. */
static bool execute(struct run *r, char *text)
{
	unsigned int i, times = r->c->way->run == RUN_REUSED ? 3 : 1;
	ANeuralNetworksExecution *e = NULL;
	bool good = true;
	int result;

	result = prepare(r, &e);
	for (i = 0; i < times && good && !result; i++) {
		result = fill(r);
		if (!result)
			result = start(r, e);
		if (!result)
			good = check_results(r, e, text);
	}
	ANeuralNetworksExecution_free(e);
	if (r->open_zero && r->c->way->run == RUN_FENCED)
		return result == ANEURALNETWORKS_BAD_DATA || result == ANEURALNETWORKS_OP_FAILED ||
		       ndk_failed(text, "%s: result %d with an output of unknown size", r->stage,
				  result) != NDK_FAILED;
	if (result)
		return ndk_failed(text, "%s: result %d", r->stage, result) != NDK_FAILED;
	return good;
}

/* Does this result refuse what the case says must be refused? */
static bool is_refusal(const struct run *r, int result)
{
	return result == ANEURALNETWORKS_BAD_DATA || result == ANEURALNETWORKS_OP_FAILED ||
	       (r->c->endless && (result == ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT ||
				  result == ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT));
}

static bool execute_to_fail(struct run *r, char *text)
{
	ANeuralNetworksExecution *e = NULL;
	int result = prepare(r, &e);

	if (!result)
		result = fill(r);
	if (!result)
		result = start(r, e);
	ANeuralNetworksExecution_free(e);
	return is_refusal(r, result) ||
	       ndk_failed(text, "%s: result %d, but it must be refused", r->stage, result) !=
	       NDK_FAILED;
}

/* With output @r->small one byte too small. */
static bool execute_small(struct run *r, char *text)
{
	const struct value *v = &r->m->outputs[r->small];
	int expected = is_open(r->m, r->small) ? ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE :
						 ANEURALNETWORKS_BAD_DATA;
	ANeuralNetworksExecution *e = NULL;
	struct nnhal_output_shape shape;
	int result = fill(r);
	bool good = true;

	if (!result)
		result = prepare(r, &e);
	if (!result)
		result = start(r, e);
	if (result != expected)
		good = ndk_failed(text, "%s: result %d, expected %d", r->stage, result,
				  expected) != NDK_FAILED;
	else if (result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE)
		good = get_shape(r, e, r->small, result, &shape, text) &&
		       compare_shape(r->small, v->operand, &shape, text);
	ANeuralNetworksExecution_free(e);
	if (good && (bytes_of(r, v)[v->length - 1] != wrong_byte(v->operand, v->length - 1) ||
		     !guard_is_whole(r, v)))
		return ndk_failed(text, "output %u: something was written behind it",
				  r->small) != NDK_FAILED;
	return good;
}

static bool execute_way(struct run *r, char *text)
{
	if (r->c->nc->expect_failure)
		return execute_to_fail(r, text);
	if (!r->c->way->too_small)
		return execute(r, text) && (r->c->way->run != RUN_BURST || execute(r, text));
	for (uint32_t i = 0; i < r->m->num_outputs; i++) {
		r->small = i;
		if (r->m->outputs[i].operand->num_bytes && !execute_small(r, text))
			return false;
	}
	return true;
}

static enum ndk_verdict run_compiled(struct run *r, char *text)
{
	int result = 0;

	if (!make_places(r))
		return ndk_failed(text, "no memory for arguments");
	if (r->c->way->kind == KIND_DESCRIBED)
		result = make_described(r);
	if (!result && r->c->way->run == RUN_BURST)
		result = at_stage(r, "Burst_create",
				  ANeuralNetworksBurst_create(r->compilation, &r->burst));
	if (result)
		return ndk_failed(text, "%s: result %d", r->stage, result);
	return execute_way(r, text) ? NDK_PASSED : NDK_FAILED;
}

static void run_free(struct run *r)
{
	uint32_t i;

	ANeuralNetworksBurst_free(r->burst);
	for (i = 0; r->described && i < num_arguments(r->m); i++) {
		ANeuralNetworksMemory_free(r->described[i].memory);
		place_free(&r->described[i].staging);
	}
	free(r->described);
	for (i = 0; r->own_places && i < r->m->num_pools; i++)
		place_free(&r->own_places[i]);
	free(r->own_places);
	ANeuralNetworksCompilation_free(r->compilation);
}

enum ndk_verdict ndk_case_execute(const struct ndk_case *c, char *text)
{
	struct run r = { .c = c, .m = &c->m, .small = NO_OUTPUT };
	enum ndk_verdict verdict;
	int result = compile(&r);

	for (uint32_t i = 0; i < c->m.num_outputs; i++)
		r.open_zero |= is_open(&c->m, i) && !c->m.outputs[i].operand->num_bytes;
	if (!result)
		verdict = run_compiled(&r, text);
	else if (c->nc->expect_failure && is_refusal(&r, result))
		verdict = NDK_PASSED;
	else
		verdict = ndk_failed(text, "%s: result %d", r.stage, result);
	run_free(&r);
	return verdict;
}
