// SPDX-License-Identifier: MIT
/* The calls: each makes what it needs, runs, and compares the result byte for byte. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mixed.h"

#define MS		UINT64_C(1000000)
#define FAR		(UINT64_C(600) * 1000 * MS)
#define LINKS		6
#define MANY		8
#define FENCE_MS	120000
#define MOST_TRIES	3000

uint64_t mixed_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* xorshift64: the same calls in each run with the same numbers of processes. */
uint32_t mixed_random(struct worker *w, uint32_t limit)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(w->random >> 32) % limit;
}

bool mixed_wrong(struct worker *w, const char *what, enum nnhal_status status)
{
	w->what = what;
	w->status = status;
	return false;
}

void mixed_model(struct fixture *f, float factor)
{
	struct graph *g = &f->graph;

	fixture_init(f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(FLOATS));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT, DIMS(FLOATS));
	add_int32(f, g, NNHAL_FUSED_RELU);
	add_int32(f, g, NNHAL_FUSED_NONE);
	add_constant(f, g, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(1), &factor, sizeof(factor));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_TEMPORARY_VARIABLE,
		    DIMS(FLOATS));
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT, DIMS(FLOATS));
	add_operation(g, NNHAL_OPERATION_ADD, OPERANDS(0, 1, 2), OPERANDS(5));
	add_operation(g, NNHAL_OPERATION_MUL, OPERANDS(5, 4, 3), OPERANDS(6));
	fixture_finish(f, 0);
}

void mixed_fill(struct worker *w)
{
	uint32_t i, a = mixed_random(w, 1000), b = mixed_random(w, 1000);

	for (i = 0; i < FLOATS; i++) {
		w->map[AT_A / 4 + i] = (float)((int32_t)((a + i * 7) % 1000) - 500);
		w->map[AT_B / 4 + i] = (float)((int32_t)((b + i * 13) % 1000) - 500);
	}
	memset(&w->map[AT_OUT / 4], 0xee, 2 * (size_t)BYTES);
	w->in[0] = (struct nnhal_request_argument){ .location = { 0, AT_A, BYTES } };
	w->in[1] = (struct nnhal_request_argument){ .location = { 0, AT_B, BYTES } };
	w->out = (struct nnhal_request_argument){ .location = { 0, AT_OUT, BYTES } };
	memset(w->pools, 0, sizeof(w->pools));
	w->pools[0].memory = w->memory;
	w->request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3, .num_inputs = 2, .num_outputs = 1, .num_pools = 1,
		.inputs = w->in, .outputs = &w->out, .pools = w->pools,
	};
	w->diag.message[0] = '\0';
}

bool mixed_is_right(const struct worker *w, const float *a, const float *out, float factor)
{
	uint32_t i;

	for (i = 0; i < FLOATS; i++) {
		float sum = a[i] + w->map[AT_B / 4 + i], want = (sum > 0 ? sum : 0) * factor;

		if (memcmp(&out[i], &want, sizeof(want)))
			return false;
	}
	return true;
}

/* The status of an execution, and what it left. */
static bool judge(struct worker *w, const char *what, enum nnhal_status status, float factor)
{
	if (status)
		return mixed_wrong(w, what, status);
	if (!mixed_is_right(w, &w->map[AT_A / 4], &w->map[AT_OUT / 4], factor)) {
		snprintf(w->diag.message, sizeof(w->diag.message), "wrong result");
		return mixed_wrong(w, what, status);
	}
	return true;
}

static enum nnhal_status execute(struct worker *w, struct nnhal_prepared_model *model)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;

	o.diag = &w->diag;
	return nnhal_prepared_model_execute_synchronously(model, &w->request, &o, NULL, NULL, NULL);
}

/* ---- executions ---- */

static bool run_sync(struct worker *w)
{
	mixed_fill(w);
	return judge(w, "execute_synchronously", execute(w, w->party->model), w->party->own->factor);
}

static bool run_async(struct worker *w)
{
	struct callback_result c = CALLBACK_RESULT_INIT;
	enum nnhal_status status;

	mixed_fill(w);
	status = callback_wait(&c, nnhal_prepared_model_execute(w->party->model, &w->request, NULL,
								callback_executed, &c));
	return judge(w, "execute", status, w->party->own->factor);
}

/* Each link takes the output of the one before it; nobody waits between them. */
static bool run_fenced(struct worker *w)
{
	struct nnhal_fenced_options o = NNHAL_FENCED_OPTIONS_INIT;
	struct nnhal_fenced_callback *callbacks[LINKS] = { NULL };
	float value[FLOATS], factor = w->party->own->factor;
	enum nnhal_status status = NNHAL_STATUS_NONE;
	struct nnhal_timing launched, fenced;
	int fence = -1, next;
	uint32_t i, n;

	mixed_fill(w);
	memcpy(value, &w->map[AT_A / 4], sizeof(value));
	o.diag = &w->diag;
	for (n = 0; n < LINKS && !status; n++) {
		status = nnhal_prepared_model_execute_fenced(w->party->model, &w->request, &fence,
							     fence >= 0, &o, &next, &callbacks[n]);
		if (fence >= 0)
			close(fence);
		fence = status ? -1 : next;
		w->in[0].location.offset = w->out.location.offset;
		w->out.location.offset = AT_OUT + AT_MIDDLE - w->out.location.offset;
		for (i = 0; i < FLOATS; i++) {
			float sum = value[i] + w->map[AT_B / 4 + i];

			value[i] = (sum > 0 ? sum : 0) * factor;
		}
	}
	if (fence >= 0) {
		if (nnhal_fence_wait(fence, FENCE_MS) != NNHAL_FENCE_SIGNALED)
			status = NNHAL_STATUS_GENERAL_FAILURE;
		close(fence);
	}
	for (n = 0; n < LINKS; n++) {
		if (callbacks[n] && !status)
			status = nnhal_fenced_callback_get_execution_info(callbacks[n], &launched,
									  &fenced);
		nnhal_fenced_callback_unref(callbacks[n]);
	}
	if (status)
		return mixed_wrong(w, "executeFenced", status);
	if (memcmp(&w->map[w->in[0].location.offset / 4], value, sizeof(value)))
		return mixed_wrong(w, "executeFenced: wrong result of a chain", status);
	return true;
}

/* The burst of all threads, and one of its own. */
static bool run_burst(struct worker *w)
{
	mixed_fill(w);
	return judge(w, "burst of the process",
		     nnhal_burst_execute(w->party->burst, &w->request, NULL, NULL, NULL, NULL),
		     w->party->own->factor);
}

static bool run_own_burst(struct worker *w)
{
	const struct nnhal_request *requests[MANY];
	struct nnhal_burst_result results[MANY];
	enum nnhal_status status;
	struct nnhal_burst *burst;
	uint64_t tags[MANY];
	uint32_t i, count, got;

	mixed_fill(w);
	status = nnhal_burst_create(w->party->model, NULL, &burst);
	if (status)
		return mixed_wrong(w, "burst_create", status);
	for (i = 0; i < MANY; i++) {
		requests[i] = &w->request;
		tags[i] = i;
		results[i] = (struct nnhal_burst_result)NNHAL_BURST_RESULT_INIT;
	}
	status = nnhal_burst_submit_many(burst, requests, tags, MANY, NULL, 0, &count);
	for (i = 0; i < count && !status; i += got) {
		status = nnhal_burst_wait_many(burst, &results[i], 1, count - i, FAR, &got);
		for (uint32_t n = i; !status && n < i + got; n++)
			status = results[n].tag == n ? results[n].status
						     : NNHAL_STATUS_GENERAL_FAILURE;
	}
	if (!status)
		status = nnhal_burst_free_memory(burst, w->memory);
	if (!status)
		status = nnhal_burst_execute(burst, &w->request, NULL, NULL, NULL, NULL);
	nnhal_burst_unref(burst);
	return judge(w, "burst of a thread", status, w->party->own->factor);
}

/* ---- bound requests ---- */

/* One run of @bound; the output is that of inputs that this call has made. */
static enum nnhal_status run_bound_once(struct worker *w, struct nnhal_bound_request *bound,
					unsigned int way)
{
	struct callback_result c = CALLBACK_RESULT_INIT;
	struct nnhal_fenced_callback *callback;
	struct nnhal_timing launched, fenced;
	enum nnhal_status status;
	int fence;

	switch (way) {
	case 0:
		return nnhal_bound_request_execute_synchronously(bound, NULL, NULL, NULL, NULL);
	case 1:
		return callback_wait(&c, nnhal_bound_request_execute(bound, NULL, callback_executed,
								     &c));
	case 2:
		return nnhal_burst_execute_bound(w->party->burst, bound, NULL, NULL, NULL, NULL);
	default:
		status = nnhal_bound_request_execute_fenced(bound, NULL, 0, NULL, &fence, &callback);
		if (status)
			return status;
		if (fence >= 0) {
			nnhal_fence_wait(fence, FENCE_MS);
			close(fence);
		}
		status = nnhal_fenced_callback_get_execution_info(callback, &launched, &fenced);
		nnhal_fenced_callback_unref(callback);
		return status;
	}
}

/* Each way to run it, with the output in one place and then in another. */
static bool run_bound(struct worker *w)
{
	struct nnhal_bound_options o = NNHAL_BOUND_OPTIONS_INIT;
	struct nnhal_bound_request *bound;
	enum nnhal_status status;
	unsigned int way;

	mixed_fill(w);
	o.diag = &w->diag;
	status = nnhal_bound_request_create(w->party->model, &w->request, &o, &bound);
	for (way = 0; !status && way < 8; way++) {
		w->out.location.offset = way < 4 ? AT_OUT : AT_MIDDLE;
		memset(&w->map[AT_OUT / 4], 0xee, 2 * (size_t)BYTES);
		status = nnhal_bound_request_set_output(bound, 0, &w->out);
		if (!status)
			status = run_bound_once(w, bound, way % 4);
		if (!status && !mixed_is_right(w, &w->map[AT_A / 4],
					       &w->map[w->out.location.offset / 4],
					       w->party->own->factor))
			status = NNHAL_STATUS_GENERAL_FAILURE;
	}
	nnhal_bound_request_unref(bound);
	return status ? mixed_wrong(w, "bound request", status) : true;
}

/* ---- message queues ---- */

static bool run_controller(struct worker *w)
{
	struct party *p = w->party;
	enum nnhal_status status;

	mixed_fill(w);
	w->request.hal_version = NNHAL_HAL_1_2;
	/* One request at a time. */
	pthread_mutex_lock(&p->controller_lock);
	status = nnhal_burst_controller_execute(p->controller, &w->request, NULL, NULL, NULL, NULL,
						NULL);
	if (!status)
		status = nnhal_burst_controller_free_memory(p->controller, w->memory);
	pthread_mutex_unlock(&p->controller_lock);
	return judge(w, "burst served by another process", status, p->controller_factor);
}

static bool run_served(struct worker *w)
{
	struct nnhal_burst_controller *controller = NULL;
	struct nnhal_burst_server *server = NULL;
	enum nnhal_status status;
	int sv[2];

	mixed_fill(w);
	w->request.hal_version = NNHAL_HAL_1_2;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv))
		return mixed_wrong(w, "socketpair", NNHAL_STATUS_GENERAL_FAILURE);
	status = nnhal_burst_serve(sv[0], w->party->model, NULL, &server);
	if (!status)
		status = nnhal_burst_connect(sv[1], NULL, &controller);
	if (!status)
		status = nnhal_burst_controller_execute(controller, &w->request, NULL, NULL, NULL,
							NULL, NULL);
	nnhal_burst_controller_destroy(controller);
	nnhal_burst_server_destroy(server);
	close(sv[0]);
	close(sv[1]);
	return judge(w, "burst served by this process", status, w->party->own->factor);
}

/* ---- preparation ---- */

static enum nnhal_status prepare(struct worker *w, struct nnhal_device *device, float factor,
				 const struct nnhal_cache *cache,
				 struct nnhal_prepared_model **model)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct fixture *f = malloc(sizeof(*f));
	enum nnhal_status status;

	*model = NULL;
	if (!f)
		return NNHAL_STATUS_GENERAL_FAILURE;
	mixed_model(f, factor);
	o.diag = &w->diag;
	o.cache = cache;
	o.has_deadline = true;
	o.deadline_ns = mixed_now_ns() + FAR;
	o.priority = NNHAL_PRIORITY_LOW + (int32_t)mixed_random(w, 3);
	o.preference = (int32_t)mixed_random(w, 3);
	status = nnhal_device_prepare_model_sync(device, &f->model, &o, model);
	free(f);
	return status;
}

static float random_factor(struct worker *w)
{
	return (float)(1 + mixed_random(w, 64));
}

static bool run_prepare(struct worker *w)
{
	float factor = random_factor(w);
	struct nnhal_prepared_model *model;
	enum nnhal_status status;

	mixed_fill(w);
	status = prepare(w, w->party->device, factor, NULL, &model);
	if (status)
		return mixed_wrong(w, "prepareModel", status);
	status = execute(w, model);
	nnhal_prepared_model_unref(model);
	return judge(w, "execution after prepareModel", status, factor);
}

static bool run_prepare_async(struct worker *w)
{
	struct callback_result c = CALLBACK_RESULT_INIT;
	enum nnhal_status status;
	bool supported[2] = { false, false };

	mixed_fill(w);
	status = nnhal_device_get_supported_operations(w->party->device,
						       &w->party->model_fixture.model, supported, 2,
						       &w->diag);
	if (status || !supported[0] || !supported[1])
		return mixed_wrong(w, "getSupportedOperations", status);
	status = callback_wait(&c, nnhal_device_prepare_model(w->party->device,
							      &w->party->model_fixture.model, NULL,
							      callback_prepared, &c));
	if (status)
		return mixed_wrong(w, "prepareModel, asynchronously", status);
	status = execute(w, c.model);
	nnhal_prepared_model_unref(c.model);
	return judge(w, "execution after prepareModel, asynchronously", status,
		     w->party->own->factor);
}

static bool prepare_from(struct worker *w, const struct nnhal_cache *cache, float factor)
{
	struct nnhal_prepare_options o = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *model;
	enum nnhal_status status;

	o.diag = &w->diag;
	status = nnhal_device_prepare_model_from_cache_sync(w->party->device, cache, &o, &model);
	if (status)
		return mixed_wrong(w, "prepareModelFromCache", status);
	status = execute(w, model);
	nnhal_prepared_model_unref(model);
	return judge(w, "execution after prepareModelFromCache", status, factor);
}

/* Save, load twice, and load what has one wrong byte. */
static bool run_cache(struct worker *w)
{
	int model_fd = memfd_create("model", MFD_CLOEXEC), data_fd = memfd_create("data", MFD_CLOEXEC);
	struct nnhal_cache_handle handles[2] = { { &model_fd, 1 }, { &data_fd, 1 } };
	struct nnhal_cache cache = NNHAL_CACHE_INIT;
	uint8_t token[NNHAL_CACHE_TOKEN_SIZE], byte;
	float factor = random_factor(w);
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	bool good = false;
	off_t size, at;

	memset(token, (int)mixed_random(w, 256), sizeof(token));
	cache.model_cache = &handles[0];
	cache.num_model_cache = 1;
	cache.data_cache = &handles[1];
	cache.num_data_cache = 1;
	cache.token = token;
	mixed_fill(w);
	status = prepare(w, w->party->device, factor, &cache, &model);
	if (status) {
		mixed_wrong(w, "prepareModel with a cache", status);
		goto out;
	}
	nnhal_prepared_model_unref(model);
	if (!prepare_from(w, &cache, factor) || !prepare_from(w, &cache, factor))
		goto out;
	size = lseek(model_fd, 0, SEEK_END);
	at = (off_t)mixed_random(w, (uint32_t)size);
	if (size <= 0 || pread(model_fd, &byte, 1, at) != 1) {
		mixed_wrong(w, "the cache is empty", NNHAL_STATUS_NONE);
		goto out;
	}
	byte ^= (uint8_t)(1u << mixed_random(w, 8));
	if (pwrite(model_fd, &byte, 1, at) != 1) {
		mixed_wrong(w, "pwrite", NNHAL_STATUS_NONE);
		goto out;
	}
	status = nnhal_device_prepare_model_from_cache_sync(w->party->device, &cache, NULL, &model);
	good = status == NNHAL_STATUS_GENERAL_FAILURE && !model;
	if (!good)
		mixed_wrong(w, "prepareModelFromCache of a changed file", status);
	nnhal_prepared_model_unref(model);
out:
	close(model_fd);
	close(data_fd);
	return good;
}

/* ---- buffers ---- */

static enum nnhal_status allocate(struct worker *w, struct nnhal_prepared_model *model, bool output,
				  struct nnhal_buffer **buffer, uint32_t *token)
{
	struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;

	return nnhal_device_allocate(w->party->device, &desc, &model, 1, &role, 1, &role, output,
				     buffer, token, &w->diag);
}

static void use_token(struct worker *w, struct nnhal_request_argument *argument, uint32_t token)
{
	w->pools[w->request.num_pools].memory = NULL;
	w->pools[w->request.num_pools].token = token;
	argument->location = (struct nnhal_data_location){ w->request.num_pools, 0, 0 };
	w->request.num_pools++;
}

/* Memory of one operand, for copies. */
static struct nnhal_memory *operand_memory(const float *values)
{
	struct nnhal_memory *memory;
	void *map;

	if (nnhal_memory_create(BYTES, &memory, NULL))
		return NULL;
	map = nnhal_memory_map(memory, NULL);
	if (!map) {
		nnhal_memory_unref(memory);
		return NULL;
	}
	if (values)
		memcpy(map, values, BYTES);
	else
		memset(map, 0xee, BYTES);
	return memory;
}

/* copyFrom, an execution that reads and one that writes the buffer, copyTo. */
static bool run_buffer(struct worker *w)
{
	struct nnhal_memory *in = NULL, *out = NULL;
	struct nnhal_buffer *a = NULL, *b = NULL;
	enum nnhal_status status;
	uint32_t token_a, token_b;
	const char *what = "allocate";

	mixed_fill(w);
	status = allocate(w, w->party->model, true, &a, &token_a);
	if (!status)
		status = allocate(w, w->party->model, true, &b, &token_b);
	if (status)
		goto out;
	what = "memory";
	in = operand_memory(&w->map[AT_A / 4]);
	out = operand_memory(NULL);
	status = NNHAL_STATUS_GENERAL_FAILURE;
	if (!in || !out)
		goto out;
	what = "copyTo of an uninitialised buffer";
	if (nnhal_buffer_copy_to(b, out, NULL) != NNHAL_STATUS_GENERAL_FAILURE)
		goto out;
	what = "copyFrom";
	status = nnhal_buffer_copy_from(a, in, NULL, 0, &w->diag);
	if (status)
		goto out;
	what = "execution with tokens";
	use_token(w, &w->in[0], token_a);
	use_token(w, &w->out, token_b);
	status = mixed_random(w, 2) ? execute(w, w->party->model)
				    : nnhal_burst_execute(w->party->burst, &w->request, NULL, NULL,
							  NULL, NULL);
	if (status)
		goto out;
	what = "copyTo";
	status = nnhal_buffer_copy_to(b, out, &w->diag);
	if (!status)
		memcpy(&w->map[AT_OUT / 4], nnhal_memory_map(out, NULL), BYTES);
out:
	nnhal_buffer_unref(a);
	nnhal_buffer_unref(b);
	nnhal_memory_unref(in);
	nnhal_memory_unref(out);
	return judge(w, what, status, w->party->own->factor);
}

/* All threads read the buffer of the process. */
static bool run_common_buffer(struct worker *w)
{
	float *content = nnhal_memory_map(w->party->content, NULL);
	enum nnhal_status status;

	mixed_fill(w);
	use_token(w, &w->in[0], w->party->token);
	status = execute(w, w->party->model);
	if (!status && !mixed_is_right(w, content, &w->map[AT_OUT / 4], w->party->own->factor))
		return mixed_wrong(w, "execution with the buffer of the process: wrong result",
				   status);
	return status ? mixed_wrong(w, "execution with the buffer of the process", status) : true;
}

/* Tokens of others, and one's own with a device that has not given it. */
static bool run_tokens(struct worker *w)
{
	struct party *p = w->party;
	unsigned int i;

	for (i = 0; i < shared->num_processes; i++) {
		uint32_t token = shared->parts[i].token;
		enum nnhal_status status;

		mixed_fill(w);
		use_token(w, &w->in[0], token);
		if (i != p->number) {
			status = execute(w, p->model);
			if (status != NNHAL_STATUS_INVALID_ARGUMENT)
				return mixed_wrong(w, "token of another process", status);
			atomic_fetch_add(&p->own->refused[LOOT_TOKEN], 1);
			status = nnhal_burst_execute(p->burst, &w->request, NULL, NULL, NULL, NULL);
			if (status != NNHAL_STATUS_INVALID_ARGUMENT)
				return mixed_wrong(w, "token of another process, burst", status);
			atomic_fetch_add(&p->own->refused[LOOT_TOKEN], 1);
		}
		status = execute(w, p->bare_model);
		if (status != NNHAL_STATUS_INVALID_ARGUMENT)
			return mixed_wrong(w, "token of another device", status);
		atomic_fetch_add(&p->own->refused[LOOT_TOKEN], 1);
	}
	return true;
}

/* ---- time ---- */

static bool is_missed(enum nnhal_status status)
{
	return status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT ||
	       status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT;
}

static bool run_deadlines(struct worker *w)
{
	struct nnhal_execute_options o = NNHAL_EXECUTE_OPTIONS_INIT;
	enum nnhal_status status;

	mixed_fill(w);
	o.diag = &w->diag;
	o.has_deadline = true;
	o.deadline_ns = mixed_now_ns() + FAR;
	status = nnhal_prepared_model_execute_synchronously(w->party->model, &w->request, &o, NULL,
							    NULL, NULL);
	if (!judge(w, "a far deadline", status, w->party->own->factor))
		return false;
	o.deadline_ns = 1;
	status = nnhal_prepared_model_execute_synchronously(w->party->model, &w->request, &o, NULL,
							    NULL, NULL);
	if (status != NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT)
		return mixed_wrong(w, "a deadline that has passed", status);
	/* While -1 < 0: add nothing. */
	w->map[AT_A / 4] = -1;
	w->map[AT_B / 4] = 0;
	w->in[0].location.length = 4;
	w->in[1].location.length = 4;
	w->out.location.length = 4;
	o.deadline_ns = mixed_now_ns() + 5 * MS;
	status = nnhal_prepared_model_execute_synchronously(w->party->loop, &w->request, &o, NULL,
							    NULL, NULL);
	if (!is_missed(status))
		return mixed_wrong(w, "an endless loop with a deadline", status);
	o.has_deadline = false;
	o.has_loop_timeout = true;
	o.loop_timeout_ns = 3 * MS;
	status = nnhal_prepared_model_execute_synchronously(w->party->loop, &w->request, &o, NULL,
							    NULL, NULL);
	if (!is_missed(status))
		return mixed_wrong(w, "an endless loop with a limit", status);
	return true;
}

/* ---- more of the device ---- */

/*
 * Contexts of handles that were closed leave a little later. A user who has as many as are free gets
 * RESOURCE_EXHAUSTED_TRANSIENT until then.
 */
static bool may_retry(enum nnhal_status status, unsigned int *tries)
{
	if (status != NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT || ++*tries > MOST_TRIES)
		return false;
	usleep(10000);
	return true;
}

static enum nnhal_status try_open(struct worker *w, float factor)
{
	struct nnhal_capabilities caps = NNHAL_CAPABILITIES_INIT;
	struct nnhal_prepared_model *model = NULL;
	enum nnhal_status status;
	struct nnhal_device *device;
	const char *version;

	mixed_fill(w);
	status = nnhal_device_open(test_device_spec(), &device, &w->diag);
	if (!status)
		status = nnhal_device_get_capabilities(device, &caps);
	if (!status)
		status = nnhal_device_get_version_string(device, &version);
	if (!status)
		status = prepare(w, device, factor, NULL, &model);
	if (!status)
		status = execute(w, model);
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	return status;
}

static bool run_open(struct worker *w)
{
	float factor = random_factor(w);
	enum nnhal_status status;
	unsigned int tries = 0;

	sem_wait(&w->party->handles);
	do {
		status = try_open(w, factor);
	} while (may_retry(status, &tries));
	sem_post(&w->party->handles);
	return judge(w, "open, prepare, execute, close", status, factor);
}

static enum nnhal_status try_resilient(struct worker *w)
{
	struct nnhal_buffer_role role = { 0, 0, 1.0f };
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_resilient_device *device = NULL;
	struct nnhal_resilient_buffer *buffer = NULL;
	struct nnhal_resilient_model *model = NULL;
	struct nnhal_resilient_burst *burst = NULL;
	struct nnhal_memory *memory;
	enum nnhal_status status;
	uint32_t token = 0;

	mixed_fill(w);
	memory = operand_memory(&w->map[AT_A / 4]);
	if (!memory)
		return NNHAL_STATUS_GENERAL_FAILURE;
	status = nnhal_resilient_device_create(test_device_spec(), NULL, NULL, &device, &w->diag);
	if (!status)
		status = nnhal_resilient_device_prepare_model(device, &w->party->model_fixture.model,
							      NULL, &model);
	if (!status)
		status = nnhal_resilient_device_allocate(device, &desc, &model, 1, &role, 1, NULL, 0,
							 &buffer, &token, &w->diag);
	if (!status)
		status = nnhal_resilient_buffer_copy_from(buffer, memory, NULL, 0, &w->diag);
	if (!status)
		status = nnhal_resilient_burst_create(model, NULL, &burst);
	use_token(w, &w->in[0], token);
	if (!status)
		status = nnhal_resilient_model_execute(model, &w->request, NULL, NULL, NULL, NULL);
	if (!status && !mixed_is_right(w, &w->map[AT_A / 4], &w->map[AT_OUT / 4],
				       w->party->own->factor))
		status = NNHAL_STATUS_GENERAL_FAILURE;
	memset(&w->map[AT_OUT / 4], 0xee, BYTES);
	if (!status)
		status = nnhal_resilient_burst_execute(burst, &w->request, NULL, NULL, NULL, NULL);
	nnhal_resilient_burst_unref(burst);
	nnhal_resilient_buffer_unref(buffer);
	nnhal_resilient_model_unref(model);
	nnhal_resilient_device_unref(device);
	nnhal_memory_unref(memory);
	return status;
}

static bool run_resilient(struct worker *w)
{
	enum nnhal_status status;
	unsigned int tries = 0;

	sem_wait(&w->party->handles);
	do {
		status = try_resilient(w);
	} while (may_retry(status, &tries));
	sem_post(&w->party->handles);
	return judge(w, "resilient objects", status, w->party->own->factor);
}

/* Memory of other kinds: a file, and a memfd that anybody may shrink. */
static bool run_pools(struct worker *w)
{
	char name[] = "/tmp/mixed.XXXXXX";
	bool file = mixed_random(w, 2);
	int fd = file ? mkstemp(name) : memfd_create("unsealed", MFD_CLOEXEC);
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .kind = file ? NNHAL_MEMORY_MMAP_FD : NNHAL_MEMORY_ASHMEM,
		.fd = fd, .size = 2 * BYTES,
	};
	struct nnhal_memory *memory = NULL;
	enum nnhal_status status = NNHAL_STATUS_GENERAL_FAILURE;

	if (file && fd >= 0)
		unlink(name);
	mixed_fill(w);
	if (fd < 0 || ftruncate(fd, 2 * BYTES) ||
	    pwrite(fd, &w->map[AT_A / 4], BYTES, 0) != (ssize_t)BYTES)
		goto out;
	status = nnhal_memory_import(&desc, &memory, &w->diag);
	if (status)
		goto out;
	w->pools[1].memory = memory;
	w->request.num_pools = 2;
	w->in[0].location = (struct nnhal_data_location){ 1, 0, BYTES };
	w->out.location = (struct nnhal_data_location){ 1, BYTES, BYTES };
	status = execute(w, w->party->model);
	if (!status && pread(fd, &w->map[AT_OUT / 4], BYTES, BYTES) != (ssize_t)BYTES)
		status = NNHAL_STATUS_GENERAL_FAILURE;
out:
	nnhal_memory_unref(memory);
	if (fd >= 0)
		close(fd);
	return judge(w, file ? "a file" : "a memfd without seals", status, w->party->own->factor);
}

/* ---- gifts: descriptors for the next process ---- */

enum gift { GIFT_BUFFER, GIFT_QUEUE };

struct gift_message {
	uint32_t kind;
	float first;
};

static bool send_gift(int socket, uint32_t kind, float first, int fd)
{
	struct gift_message message = { kind, first };
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	struct iovec iov = { &message, sizeof(message) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(message);
}

static int receive_gift(int socket, struct gift_message *message)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { message, sizeof(*message) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof(*message))
		return -1;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

static float gift_value(float first, uint32_t i)
{
	return first + (float)(i % 97);
}

/* A buffer of the device, exported; the receiver has it longer than this process. */
static bool give_buffer(struct worker *w)
{
	float first = (float)mixed_random(w, 1000), values[FLOATS];
	struct nnhal_memory *memory;
	enum nnhal_status status;
	struct nnhal_buffer *buffer;
	uint32_t i, token;
	int fd = -1;

	for (i = 0; i < FLOATS; i++)
		values[i] = gift_value(first, i);
	memory = operand_memory(values);
	if (!memory)
		return mixed_wrong(w, "memory", NNHAL_STATUS_GENERAL_FAILURE);
	status = allocate(w, w->party->model, false, &buffer, &token);
	if (!status)
		status = nnhal_buffer_copy_from(buffer, memory, NULL, 0, &w->diag);
	if (!status)
		status = nnhal_buffer_export(buffer, &fd, &w->diag);
	nnhal_memory_unref(memory);
	nnhal_buffer_unref(buffer);
	if (status)
		return mixed_wrong(w, "export of a buffer", status);
	/* If the receiver has enough, it gets no more. */
	send_gift(shared->send[w->party->number], GIFT_BUFFER, first, fd);
	close(fd);
	return true;
}

static bool use_gift(struct worker *w, int fd, float first)
{
	struct nnhal_memory_desc desc = {
		.struct_size = sizeof(desc), .fd = fd, .size = BYTES,
		.kind = shared->is_sim ? NNHAL_MEMORY_ASHMEM : NNHAL_MEMORY_HARDWARE_BUFFER_BLOB,
	};
	struct nnhal_memory *memory;
	enum nnhal_status status;
	float values[FLOATS];
	uint32_t i;

	mixed_fill(w);
	for (i = 0; i < FLOATS; i++)
		values[i] = gift_value(first, i);
	status = nnhal_memory_import(&desc, &memory, &w->diag);
	if (status)
		return mixed_wrong(w, "import of a buffer", status);
	w->pools[1].memory = memory;
	w->request.num_pools = 2;
	w->in[0].location = (struct nnhal_data_location){ 1, 0, BYTES };
	status = execute(w, w->party->model);
	nnhal_memory_unref(memory);
	if (!status && !mixed_is_right(w, values, &w->map[AT_OUT / 4], w->party->own->factor))
		return mixed_wrong(w, "a buffer of another process: wrong result", status);
	return status ? mixed_wrong(w, "a buffer of another process", status) : true;
}

static bool run_gifts(struct worker *w)
{
	struct party *p = w->party;
	struct gift_message message;
	int fd = intruder_queue_fd(p->intruder);
	bool good = true;

	if (fd >= 0) {
		send_gift(shared->send[p->number], GIFT_QUEUE, 0, fd);
		close(fd);
	}
	if (!give_buffer(w))
		return false;
	while (good && (fd = receive_gift(shared->receive[p->number], &message)) >= 0) {
		if (message.kind == GIFT_BUFFER)
			good = use_gift(w, fd, message.first);
		else if (!intruder_try_page(p->own, fd))
			good = mixed_wrong(w, "queue page of another process", NNHAL_STATUS_NONE);
		close(fd);
	}
	return good;
}

/* ---- attempts ---- */

static bool run_intruder(struct worker *w)
{
	const char *what = NULL;
	bool good = true;
	unsigned int i;

	/* The file of an attempt gets a context. */
	sem_wait(&w->party->handles);
	for (i = 0; good && i < shared->num_processes; i++)
		good = i == w->party->number ||
		       intruder_try(w->party->intruder, w->party->own, &shared->parts[i], &what);
	sem_post(&w->party->handles);
	if (!good)
		return mixed_wrong(w, what, NNHAL_STATUS_NONE);
	if (!intruder_check(w->party->intruder))
		return mixed_wrong(w, "own objects of the driver", NNHAL_STATUS_NONE);
	return true;
}

/* A child has copies of all handles, and nothing that it may use. */
static bool run_fork(struct worker *w)
{
	int status = -1;
	pid_t pid;

	mixed_fill(w);
	pid = fork();
	if (!pid) {
		status = execute(w, w->party->model) != NNHAL_STATUS_DEVICE_UNAVAILABLE ||
			 nnhal_burst_execute(w->party->burst, &w->request, NULL, NULL, NULL, NULL) !=
				 NNHAL_STATUS_DEVICE_UNAVAILABLE;
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return mixed_wrong(w, "a child of fork()", NNHAL_STATUS_NONE);
	return true;
}

const struct mixed_op mixed_ops[] = {
	{ "execute_synchronously", run_sync },
	{ "prepare", run_prepare },
	{ "prepare, asynchronously", run_prepare_async },
	{ "prepare with cache, from cache", run_cache },
	{ "execute", run_async },
	{ "execute_fenced, chain", run_fenced },
	{ "burst of the process", run_burst },
	{ "burst of a thread", run_own_burst },
	{ "bound request, each way", run_bound },
	{ "burst served by another process", run_controller },
	{ "burst served by this process", run_served },
	{ "allocate, copyFrom, copyTo", run_buffer },
	{ "tokens", run_common_buffer },
	{ "tokens of others", run_tokens },
	{ "deadlines", run_deadlines },
	{ "open and close", run_open },
	{ "resilient objects", run_resilient },
	{ "kinds of memory", run_pools },
	{ "export and import", run_gifts },
	{ "numbers of others", run_intruder },
	{ "fork", run_fork },
	{ "completion queue", mixed_run_completions },
	{ "memory of the process", mixed_run_pointers },
};

const unsigned int num_mixed_ops = sizeof(mixed_ops) / sizeof(mixed_ops[0]);

_Static_assert(sizeof(mixed_ops) / sizeof(mixed_ops[0]) <= MAX_OPS, "room for the counts");
