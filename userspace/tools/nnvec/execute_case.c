// SPDX-License-Identifier: MIT
/*
 * Executes a prepared case and judges the results.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../common/plural.h"
#include "execute_case.h"

/* Timeout for loops that must not end; others have the default of the HAL. */
#define LOOP_TIMEOUT_NS		UINT64_C(1000000)

__attribute__((format(printf, 2, 3)))
static bool wrong(char *text, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, REASON_TEXT, fmt, args);
	va_end(args);
	return false;
}

static bool wrong_status(const struct execution *e, char *text, const char *expected)
{
	return wrong(text, "execute: %s, expected %s%s%s", nnhal_status_name((int)e->status),
		     expected, e->diag.message[0] ? ": " : "", e->diag.message);
}

/* ---- the request ---- */

static void set_argument(const struct vec_model *m, struct nnhal_request_argument *to,
			 const struct value *v)
{
	to->has_no_value = v->omitted;
	if (v->omitted)
		return;
	to->location.pool_index = v->pool - m->first_argument_pool;
	to->location.offset = v->offset;
	to->location.length = v->length;
}

/* Replace the place of each argument that is in a buffer by its token. */
static void set_tokens(struct execution *e)
{
	uint32_t i, count = e->m->num_inputs + e->m->num_outputs;

	for (i = 0; i < count; i++) {
		if (!e->buffers[i].buffer)
			continue;
		e->pools[e->request.num_pools].token = e->buffers[i].token;
		e->arguments[i].location = (struct nnhal_data_location){
			.pool_index = e->request.num_pools++,
		};
	}
}

static bool set_request(struct execution *e)
{
	const struct vec_model *m = e->m;
	uint32_t num_pools = m->num_pools - m->first_argument_pool;
	size_t num_arguments = (size_t)m->num_inputs + m->num_outputs;
	uint32_t i;

	e->arguments = calloc(num_arguments + 1, sizeof(*e->arguments));
	e->pools = calloc(num_pools + num_arguments + 1, sizeof(*e->pools));
	e->shapes = calloc((size_t)m->num_outputs + 1, sizeof(*e->shapes));
	if (!e->arguments || !e->pools || !e->shapes)
		return false;
	for (i = 0; i < m->num_inputs; i++) {
		const struct value *v = &m->inputs[i];

		set_argument(m, &e->arguments[i], v);
		if (m->dims_in_request[i]) {
			e->arguments[i].num_dimensions = v->operand->rank;
			e->arguments[i].dimensions = v->operand->dims;
		}
	}
	for (i = 0; i < m->num_outputs; i++)
		set_argument(m, &e->arguments[m->num_inputs + i], &m->outputs[i]);
	for (i = 0; i < num_pools; i++)
		e->pools[i].memory = m->pools->entries[m->first_argument_pool + i].memory;
	e->request = (struct nnhal_request){
		.hal_version = m->model.hal_version,
		.num_inputs = m->num_inputs,
		.inputs = e->arguments,
		.num_outputs = m->num_outputs,
		.outputs = e->arguments + m->num_inputs,
		.num_pools = num_pools,
		.pools = e->pools,
	};
	return true;
}

static enum nnhal_status open_burst(struct execution *e)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;

	options.diag = &e->diag;
	options.flags = e->path == PATH_BOUND_BURST ? NNHAL_BURST_SINGLE_THREAD : 0;
	return nnhal_burst_create(e->model, &options, &e->burst);
}

/* Server and client, both in this process. */
static enum nnhal_status open_fmq(struct execution *e)
{
	struct nnhal_burst_server_options at_server = NNHAL_BURST_SERVER_OPTIONS_INIT;
	struct nnhal_burst_controller_options at_client = NNHAL_BURST_CONTROLLER_OPTIONS_INIT;
	enum nnhal_status status;
	int ends[2];

	at_server.diag = &e->diag;
	at_client.diag = &e->diag;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return NNHAL_STATUS_GENERAL_FAILURE;
	status = nnhal_burst_serve(ends[0], e->model, &at_server, &e->server);
	if (!status)
		status = nnhal_burst_connect(ends[1], &at_client, &e->client);
	close(ends[0]);
	close(ends[1]);
	return status;
}

static bool has_while(const struct nntc_case *nc)
{
	for (uint32_t s = 0; s <= nc->num_referenced; s++) {
		const struct nntc_subgraph *sg = s ? &nc->referenced[s - 1] : &nc->main;

		for (uint32_t i = 0; i < sg->num_operations; i++) {
			if (sg->operations[i].type == NNHAL_OPERATION_WHILE)
				return true;
		}
	}
	return false;
}

static bool use_buffers(struct execution *e, struct nnhal_device *device, enum tokens tokens,
			char *text)
{
	size_t count = (size_t)e->m->num_inputs + e->m->num_outputs;

	e->buffers = calloc(count + 1, sizeof(*e->buffers));
	if (!e->buffers)
		return wrong(text, "no memory for buffers");
	if (!case_buffers_init(e->buffers, device, e->model, e->m, tokens, text))
		return false;
	set_tokens(e);
	return true;
}

bool execution_init(struct execution *e, struct nnhal_device *device,
		    struct nnhal_prepared_model *model, const struct vec_model *m,
		    const struct nntc_case *nc, const struct tolerance *tolerance,
		    const struct variation *v, char *text)
{
	*e = (struct execution){
		.model = model, .m = m, .nc = nc, .tolerance = tolerance, .path = v->path,
		.endless = nc->expect_failure && has_while(nc),
	};
	if (!set_request(e))
		return wrong(text, "no memory for the request");
	if (v->tokens && !use_buffers(e, device, v->tokens, text))
		return false;
	if (v->path == PATH_BURST || v->path == PATH_BOUND_BURST)
		e->status = open_burst(e);
	else if (v->path == PATH_FMQ)
		e->status = open_fmq(e);
	if (!e->status)
		return true;
	return wrong(text, "burst: %s: %s", nnhal_status_name((int)e->status), e->diag.message);
}

void execution_free(struct execution *e)
{
	nnhal_burst_controller_destroy(e->client);
	nnhal_burst_server_destroy(e->server);
	nnhal_bound_request_unref(e->bound);
	nnhal_burst_unref(e->burst);
	case_buffers_free(e->buffers, e->m->num_inputs + e->m->num_outputs);
	free(e->buffers);
	e->buffers = NULL;
	free(e->arguments);
	free(e->pools);
	free(e->shapes);
	e->arguments = NULL;
	e->pools = NULL;
	e->shapes = NULL;
}

/* ---- memory ---- */

static uint8_t *bytes_of(const struct execution *e, const struct value *v)
{
	return e->m->pools->entries[v->pool].bytes + v->offset;
}

static bool cpu_access(const struct execution *e, bool begin, uint32_t access)
{
	enum nnhal_status (*call)(struct nnhal_memory *memory, uint32_t access) =
		begin ? nnhal_memory_begin_cpu_access : nnhal_memory_end_cpu_access;

	for (uint32_t i = 0; i < e->m->num_pools; i++) {
		if (call(e->m->pools->entries[i].memory, access))
			return false;
	}
	return true;
}

/* Write the inputs, and fill the outputs with values that differ from the expected ones. */
static bool fill_memory(const struct execution *e)
{
	const uint32_t access = NNHAL_MEMORY_WRITE;

	if (!cpu_access(e, true, access))
		return false;
	for (uint32_t i = 0; i < e->m->num_inputs; i++) {
		const struct value *v = &e->m->inputs[i];

		if (v->omitted)
			continue;
		memcpy(bytes_of(e, v), v->operand->data, v->length);
		memset(bytes_of(e, v) + v->length, GUARD_BYTE, GUARD_SIZE);
	}
	for (uint32_t i = 0; i < e->m->num_outputs; i++) {
		const struct value *v = &e->m->outputs[i];

		for (uint32_t k = 0; k < v->length; k++)
			bytes_of(e, v)[k] = wrong_byte(v->operand, k);
		memset(bytes_of(e, v) + v->length, GUARD_BYTE, GUARD_SIZE);
	}
	return cpu_access(e, false, access);
}

static bool guard_is_whole(const struct execution *e, const struct value *v)
{
	const uint8_t *guard = bytes_of(e, v) + v->length;

	for (unsigned int i = 0; i < GUARD_SIZE; i++) {
		if (guard[i] != GUARD_BYTE)
			return false;
	}
	return true;
}

static bool check_values(const struct execution *e, const struct value *values, uint32_t count,
			 const char *what, bool unchanged, char *text)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct value *v = &values[i];

		if (v->omitted)
			continue;
		if (unchanged && memcmp(bytes_of(e, v), v->operand->data, v->length))
			return wrong(text, "%s %u was changed", what, i);
		if (!guard_is_whole(e, v))
			return wrong(text, "something was written behind %s %u", what, i);
	}
	return true;
}

/* Nothing but outputs was written. */
static bool check_memory(const struct execution *e, char *text)
{
	const struct vec_model *m = e->m;

	return check_values(e, m->constants, m->num_constants, "constant", true, text) &&
	       check_values(e, m->inputs, m->num_inputs, "input", true, text) &&
	       check_values(e, m->outputs, m->num_outputs, "output", false, text);
}

/* ---- the execution ---- */

/* The results of a callback, and the lock for them. */
struct answer {
	struct execution *e;
	pthread_mutex_t lock;
	pthread_cond_t come;
	unsigned int calls;
	enum nnhal_status status;
};

static void on_result(void *context, enum nnhal_status status,
		      const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		      const struct nnhal_timing *timing)
{
	struct answer *a = context;

	pthread_mutex_lock(&a->lock);
	a->calls++;
	a->status = status;
	a->e->timing = *timing;
	a->e->num_shapes = num_shapes;
	for (uint32_t i = 0; i < num_shapes && i < a->e->m->num_outputs; i++)
		a->e->shapes[i] = shapes[i];
	/* Signal with the lock held: the waiter may end as soon as it has the lock. */
	pthread_cond_signal(&a->come);
	pthread_mutex_unlock(&a->lock);
}

/* If the launch fails, the callback has already brought the same status. */
static bool execute_async(struct execution *e, const struct nnhal_execute_options *options,
			  char *text)
{
	struct answer a = { .e = e };
	enum nnhal_status launch;

	pthread_mutex_init(&a.lock, NULL);
	pthread_cond_init(&a.come, NULL);
	launch = nnhal_prepared_model_execute(e->model, &e->request, options, on_result, &a);
	pthread_mutex_lock(&a.lock);
	while (!a.calls && !launch)
		pthread_cond_wait(&a.come, &a.lock);
	pthread_mutex_unlock(&a.lock);
	pthread_cond_destroy(&a.come);
	pthread_mutex_destroy(&a.lock);
	e->status = a.status;
	if (a.calls == 1 && (!launch || launch == a.status))
		return true;
	return wrong(text, "launched with %s, %u callbacks, the last with %s",
		     nnhal_status_name((int)launch), a.calls, nnhal_status_name((int)a.status));
}

/* ---- fenced executions ---- */

/* Requests of fenced executions give all dimensions of outputs. False: one of them is 0. */
static bool set_output_dimensions(struct execution *e)
{
	bool known = true;

	e->request.hal_version = NNHAL_HAL_1_3;
	for (uint32_t i = 0; i < e->m->num_outputs; i++) {
		const struct value *v = &e->m->outputs[i];
		struct nnhal_request_argument *a = &e->arguments[e->m->num_inputs + i];

		if (v->omitted)
			continue;
		a->num_dimensions = v->operand->rank;
		a->dimensions = v->operand->dims;
		for (uint32_t d = 0; d < v->operand->rank; d++)
			known &= v->operand->dims[d] != 0;
	}
	return known;
}

/* They bring no shapes: an execution that has succeeded has those of the request. */
static void set_shapes(struct execution *e)
{
	e->num_shapes = e->m->num_outputs;
	for (uint32_t i = 0; i < e->num_shapes; i++) {
		const struct nntc_operand *o = e->m->outputs[i].operand;

		e->shapes[i] = (struct nnhal_output_shape){
			.num_dimensions = o->rank, .is_sufficient = true,
		};
		memcpy(e->shapes[i].dimensions, o->dims, sizeof(o->dims));
	}
}

/* One link of a chain. */
struct fenced {
	enum nnhal_status launch;
	int fence;
	struct nnhal_fenced_callback *callback;
	enum nnhal_status status;
};

static void launch_link(struct execution *e, const struct nnhal_fenced_options *options,
			const struct fenced *before, struct fenced *f)
{
	uint32_t count = before && before->fence >= 0;

	f->launch = nnhal_prepared_model_execute_fenced(e->model, &e->request,
							count ? &before->fence : NULL, count,
							options, &f->fence, &f->callback);
}

static bool end_link(struct fenced *f, char *text)
{
	enum nnhal_fence_state state = NNHAL_FENCE_SIGNALED;

	f->status = f->launch;
	if (f->launch)
		return !f->callback && f->fence < 0;
	if (f->fence >= 0)
		state = nnhal_fence_wait(f->fence, -1);
	f->status = nnhal_fenced_callback_get_execution_info(f->callback, NULL, NULL);
	nnhal_fenced_callback_unref(f->callback);
	if (f->fence >= 0)
		close(f->fence);
	if (state == (f->status ? NNHAL_FENCE_ERROR : NNHAL_FENCE_SIGNALED))
		return true;
	return wrong(text, "fence in state %u, but %s", state, nnhal_status_name((int)f->status));
}

/* Two links of a chain. If the first one fails, so does the second. */
static bool execute_fenced(struct execution *e, char *text)
{
	struct nnhal_fenced_options options = NNHAL_FENCED_OPTIONS_INIT;
	struct fenced first, second = { .launch = NNHAL_STATUS_GENERAL_FAILURE, .fence = -1 };
	bool good, known = set_output_dimensions(e);

	options.diag = &e->diag;
	options.has_loop_timeout = e->endless;
	options.loop_timeout_ns = LOOP_TIMEOUT_NS;
	launch_link(e, &options, NULL, &first);
	if (!first.launch)
		launch_link(e, &options, &first, &second);
	good = end_link(&first, text);
	good = end_link(&second, text) && good;
	e->status = first.status;
	if (!good)
		return false;
	if (!first.status != !second.status)
		return wrong(text, "first link %s, second link %s",
			     nnhal_status_name((int)first.status),
			     nnhal_status_name((int)second.status));
	e->is_refused = !known && first.launch == NNHAL_STATUS_INVALID_ARGUMENT;
	if (!known && !e->is_refused)
		return wrong(text, "%s, expected INVALID_ARGUMENT for an output of size zero",
			     nnhal_status_name((int)first.status));
	if (!e->status)
		set_shapes(e);
	return true;
}

/* ---- bound requests ---- */

/* Bind the request, or set all its arguments once more: then it is checked anew. */
static enum nnhal_status bind_request(struct execution *e)
{
	struct nnhal_bound_options options = NNHAL_BOUND_OPTIONS_INIT;
	enum nnhal_status status = NNHAL_STATUS_NONE;

	options.diag = &e->diag;
	if (!e->bound)
		return nnhal_bound_request_create(e->model, &e->request, &options, &e->bound);
	for (uint32_t i = 0; i < e->m->num_inputs && !status; i++)
		status = nnhal_bound_request_set_input(e->bound, i, &e->arguments[i]);
	for (uint32_t i = 0; i < e->m->num_outputs && !status; i++)
		status = nnhal_bound_request_set_output(e->bound, i,
							&e->arguments[e->m->num_inputs + i]);
	return status;
}

static void execute_bound(struct execution *e, const struct nnhal_execute_options *options)
{
	e->timing = (struct nnhal_timing){ NNHAL_NO_TIMING, NNHAL_NO_TIMING };
	e->status = e->num_bound++ == 1 ? NNHAL_STATUS_NONE : bind_request(e);
	if (e->status)
		return;
	if (e->path == PATH_BOUND)
		e->status = nnhal_bound_request_execute_synchronously(e->bound, options, e->shapes,
								      &e->num_shapes, &e->timing);
	else
		e->status = nnhal_burst_execute_bound(e->burst, e->bound, options, e->shapes,
						      &e->num_shapes, &e->timing);
}

static bool check_timing(const struct execution *e, bool measured, char *text)
{
	const struct nnhal_timing *t = &e->timing;
	bool none = t->time_on_device == NNHAL_NO_TIMING && t->time_in_driver == NNHAL_NO_TIMING;

	if (e->status || !measured)
		return none || wrong(text, "times of %s", e->status ? "a failed execution" :
				     "an execution that was not measured");
	if (t->time_on_device == NNHAL_NO_TIMING || t->time_in_driver == NNHAL_NO_TIMING ||
	    t->time_on_device <= t->time_in_driver)
		return true;
	return wrong(text, "%llu us on the device, but %llu us in the driver",
		     (unsigned long long)t->time_on_device, (unsigned long long)t->time_in_driver);
}

/* Execute. The status may be an error; false means that the results contradict each other. */
static bool execute(struct execution *e, char *text)
{
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	bool measure = e->path == PATH_SYNC;

	e->diag.message[0] = '\0';
	if (!fill_memory(e))
		return wrong(text, "no access to memory");
	if (e->buffers && !case_buffers_fill(e->buffers, e->m, text))
		return false;
	options.diag = &e->diag;
	options.measure = measure ? NNHAL_MEASURE_YES : NNHAL_MEASURE_NO;
	/* Message queues carry no loop timeout; the server uses the default. */
	options.has_loop_timeout = e->endless && e->path != PATH_FMQ;
	options.loop_timeout_ns = LOOP_TIMEOUT_NS;
	e->num_shapes = 0;
	e->timing = (struct nnhal_timing){ 0, 0 };
	/* Fenced executions have times of their own. */
	if (e->path == PATH_FENCED)
		return execute_fenced(e, text);
	if (e->path == PATH_ASYNC) {
		if (!execute_async(e, &options, text))
			return false;
	} else if (e->path == PATH_BURST) {
		e->status = nnhal_burst_execute(e->burst, &e->request, &options, e->shapes,
						&e->num_shapes, &e->timing);
	} else if (e->path == PATH_BOUND || e->path == PATH_BOUND_BURST) {
		/* Without options a burst has a shorter way. */
		execute_bound(e, e->path == PATH_BOUND || e->endless ? &options : NULL);
	} else if (e->path == PATH_FMQ) {
		e->status = nnhal_burst_controller_execute(e->client, &e->request, &options,
							   e->shapes, &e->num_shapes, &e->timing,
							   NULL);
	} else {
		e->status = nnhal_prepared_model_execute_synchronously(e->model, &e->request,
								       &options, e->shapes,
								       &e->num_shapes,
								       &e->timing);
	}
	if (e->num_shapes && e->status && e->status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE)
		return wrong(text, "%s with %u output shape%s", nnhal_status_name((int)e->status),
			     e->num_shapes, plural(e->num_shapes));
	return check_timing(e, measure, text);
}

/* ---- verdicts ---- */

/* HAL 1.0 and 1.1 have no output shapes. */
static bool has_shapes(const struct execution *e)
{
	return e->m->model.hal_version >= NNHAL_HAL_1_2;
}

static bool check_output(const struct execution *e, uint32_t i, char *text)
{
	const struct value *v = &e->m->outputs[i];
	struct nnhal_output_shape shape = { .num_dimensions = v->operand->rank };
	uint32_t size = 0;

	memcpy(shape.dimensions, v->operand->dims, sizeof(v->operand->dims));
	if (has_shapes(e)) {
		shape = e->shapes[i];
		if (!shape.is_sufficient)
			return wrong(text, "output %u: not sufficient", i);
		if (!compare_shape(i, v->operand, &shape, text))
			return false;
	}
	if (nnhal_size_of_data(v->operand->type, shape.dimensions, shape.num_dimensions, &size) ||
	    size != v->operand->num_bytes)
		return wrong(text, "output %u: %u byte%s, expected %u", i, size, plural(size),
			     v->operand->num_bytes);
	if (e->nc->multinomial_tolerance > 0)
		return compare_frequencies(i, e->nc, &shape, bytes_of(e, v), text);
	return compare_output(i, v->operand, bytes_of(e, v), e->tolerance, text);
}

static bool check_outputs(const struct execution *e, char *text)
{
	const uint32_t access = NNHAL_MEMORY_READ;
	bool good = true;

	if (e->num_shapes != e->m->num_outputs && has_shapes(e))
		return wrong(text, "%u output shape%s, expected %u", e->num_shapes,
			     plural(e->num_shapes), e->m->num_outputs);
	if (e->buffers && !case_buffers_read(e->buffers, e->m, text))
		return false;
	if (!cpu_access(e, true, access))
		return wrong(text, "no access to memory");
	for (uint32_t i = 0; i < e->m->num_outputs && good; i++)
		good = check_output(e, i, text);
	good = good && check_memory(e, text);
	return cpu_access(e, false, access) && good;
}

bool execution_check(struct execution *e, char *text)
{
	/* A burst has a shorter way for a request that equals the previous one. */
	unsigned int times = e->path == PATH_BURST || e->path == PATH_FMQ ? 2 :
			     e->path == PATH_BOUND || e->path == PATH_BOUND_BURST ? 3 : 1;

	for (unsigned int i = 0; i < times; i++) {
		if (!execute(e, text))
			return false;
		if (e->is_refused)
			continue;
		if (e->status)
			return wrong_status(e, text, "NONE");
		if (!check_outputs(e, text))
			return false;
	}
	return true;
}

bool execution_must_fail(struct execution *e, char *text)
{
	if (!execute(e, text))
		return false;
	if (e->status == NNHAL_STATUS_INVALID_ARGUMENT || e->status == NNHAL_STATUS_GENERAL_FAILURE)
		return true;
	if (e->endless && (e->status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT ||
			   e->status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT))
		return true;
	return wrong_status(e, text, "INVALID_ARGUMENT or GENERAL_FAILURE");
}

/*
 * Check the shape of an output whose buffer is large enough. A size may be unknown where the
 * model leaves it unspecified.
 */
static bool check_other_shape(const struct execution *e, uint32_t i, char *text)
{
	const struct nnhal_subgraph *sg = &e->m->model.main;
	const struct nnhal_operand *declared = &sg->operands[sg->output_indexes[i]];
	const struct nntc_operand *o = e->m->outputs[i].operand;
	struct nnhal_output_shape shape = e->shapes[i];

	if (!shape.is_sufficient)
		return wrong(text, "output %u: not sufficient, but it is not too small", i);
	if (!shape.num_dimensions && !declared->num_dimensions)
		return true;
	for (uint32_t d = 0; d < shape.num_dimensions && d < o->rank; d++) {
		bool is_open = !declared->num_dimensions || !declared->dimensions[d];

		if (!shape.dimensions[d] && is_open)
			shape.dimensions[d] = o->dims[d];
	}
	return compare_shape(i, o, &shape, text);
}

static bool check_too_small(const struct execution *e, uint32_t small, char *text)
{
	const struct value *v = &e->m->outputs[small];
	const uint32_t access = NNHAL_MEMORY_READ;
	bool good;

	if (e->status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE)
		return wrong_status(e, text, "OUTPUT_INSUFFICIENT_SIZE");
	if (e->num_shapes != e->m->num_outputs)
		return wrong(text, "%u output shape%s, expected %u", e->num_shapes,
			     plural(e->num_shapes), e->m->num_outputs);
	for (uint32_t i = 0; i < e->num_shapes; i++) {
		if (i == small && e->shapes[i].is_sufficient)
			return wrong(text, "output %u: sufficient, but it is too small", i);
		if (!(i == small ? compare_shape(i, e->m->outputs[i].operand, &e->shapes[i], text) :
		      check_other_shape(e, i, text)))
			return false;
	}
	if (!cpu_access(e, true, access))
		return wrong(text, "no access to memory");
	good = check_memory(e, text);
	if (good && bytes_of(e, v)[v->length - 1] != wrong_byte(v->operand, v->length - 1))
		good = wrong(text, "output %u: the byte that was too many was written", small);
	return cpu_access(e, false, access) && good;
}

bool execution_too_small(struct execution *e, char *text)
{
	for (uint32_t i = 0; i < e->m->num_outputs; i++) {
		struct nnhal_request_argument *a = &e->arguments[e->m->num_inputs + i];
		bool good;

		if (!e->m->outputs[i].operand->num_bytes)
			continue;
		a->location.length--;
		good = execute(e, text) && check_too_small(e, i, text);
		a->location.length++;
		if (!good)
			return false;
	}
	return true;
}
