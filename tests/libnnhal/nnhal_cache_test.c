// SPDX-License-Identifier: MIT
/*
 * Compilation caching: lines C13 to C30 of the HAL contract. Files, tokens, keys; files that are
 * changed, cut, exchanged, written by others meanwhile.
 */
#include <endian.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "nnhal_fixture.h"

#define UNITS		48
#define INPUTS		40
#define CHAIN		40
#define MODEL_FILE_MAX	(1u << 20)

static struct nnhal_device *device;
static struct fixture product, sum_chain, mul_chain, adds;
static struct nnhal_memory *memory;
static uint8_t *map;

/* Files of a cache, and the structure that names them. */
struct files {
	int model;
	int data;
	uint8_t token[NNHAL_CACHE_TOKEN_SIZE];
	struct nnhal_cache_handle handles[2][2];
	struct nnhal_cache cache;
};

static void files_init(struct files *s, uint8_t token)
{
	memset(s, 0, sizeof(*s));
	s->model = memfd_create("model", MFD_CLOEXEC);
	s->data = memfd_create("data", MFD_CLOEXEC);
	memset(s->token, token, sizeof(s->token));
	s->handles[0][0] = (struct nnhal_cache_handle){ &s->model, 1 };
	s->handles[0][1] = s->handles[0][0];
	s->handles[1][0] = (struct nnhal_cache_handle){ &s->data, 1 };
	s->handles[1][1] = s->handles[1][0];
	s->cache = (struct nnhal_cache)NNHAL_CACHE_INIT;
	s->cache.model_cache = s->handles[0];
	s->cache.num_model_cache = 1;
	s->cache.data_cache = s->handles[1];
	s->cache.num_data_cache = 1;
	s->cache.token = s->token;
}

static void files_fini(struct files *s)
{
	close(s->model);
	close(s->data);
}

static off_t length(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

/* OUT[48] = weights[48][40] x IN[40] + bias: weights that the device packs, and data of its own. */
static void make_product(struct fixture *f)
{
	static float weights[UNITS * INPUTS], bias[UNITS];
	struct graph *g = &f->graph;
	uint32_t i;

	for (i = 0; i < UNITS * INPUTS; i++)
		weights[i] = (float)(i * 7 % 31) - 15;
	for (i = 0; i < UNITS; i++)
		bias[i] = (float)i;
	fixture_init(f);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_INPUT,
		    DIMS(1, INPUTS));
	add_constant(f, g, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(UNITS, INPUTS), weights,
		     sizeof(weights));
	add_constant(f, g, NNHAL_OPERAND_TENSOR_FLOAT32, DIMS(UNITS), bias, sizeof(bias));
	add_int32(f, g, NNHAL_FUSED_NONE);
	add_operand(g, NNHAL_OPERAND_TENSOR_FLOAT32, NNHAL_LIFETIME_SUBGRAPH_OUTPUT,
		    DIMS(1, UNITS));
	add_operation(g, NNHAL_OPERATION_FULLY_CONNECTED, OPERANDS(0, 1, 2, 3), OPERANDS(4));
	fixture_finish(f, 0);
}

/* A request with @inputs and one output. */
struct job {
	struct nnhal_request_argument in[2], out;
	struct nnhal_request_pool pool;
	struct nnhal_request request;
};

static void job_init(struct job *j, uint32_t inputs, uint32_t in_bytes, uint32_t out_bytes)
{
	float *values = (float *)map;
	uint32_t i;

	memset(j, 0, sizeof(*j));
	for (i = 0; i < 512; i++)
		values[i] = (float)(i % 5) + 1;
	for (i = 0; i < inputs; i++)
		j->in[i].location = (struct nnhal_data_location){ 0, i * 1024, in_bytes };
	j->out.location = (struct nnhal_data_location){ 0, 2048, out_bytes };
	j->pool.memory = memory;
	j->request = (struct nnhal_request){
		.hal_version = NNHAL_HAL_1_3, .num_inputs = inputs, .inputs = j->in,
		.num_outputs = 1, .outputs = &j->out, .num_pools = 1, .pools = &j->pool,
	};
}

static enum nnhal_status run(struct nnhal_prepared_model *model, struct job *j, float *out)
{
	enum nnhal_status status;

	memset(map + 2048, 0xee, 1024);
	status = nnhal_prepared_model_execute_synchronously(model, &j->request, NULL, NULL, NULL,
							    NULL);
	memcpy(out, map + 2048, j->out.location.length);
	return status;
}

static enum nnhal_status run_product(struct nnhal_prepared_model *model, float out[UNITS])
{
	struct job j;

	job_init(&j, 1, INPUTS * sizeof(float), UNITS * sizeof(float));
	return run(model, &j, out);
}

static enum nnhal_status run_chain(struct nnhal_prepared_model *model, float out[4])
{
	struct job j;

	job_init(&j, 2, 16, 16);
	return run(model, &j, out);
}

/* Prepare with a cache, asynchronously; the result. */
static struct nnhal_prepared_model *save(struct fixture *f, const struct nnhal_cache *cache,
					 enum nnhal_status *status)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct callback_result r = CALLBACK_RESULT_INIT;

	options.cache = cache;
	*status = callback_wait(&r, nnhal_device_prepare_model(device, &f->model, &options,
								callback_prepared, &r));
	return r.model;
}

static bool save_only(struct fixture *f, const struct nnhal_cache *cache)
{
	enum nnhal_status status;
	struct nnhal_prepared_model *model = save(f, cache, &status);

	nnhal_prepared_model_unref(model);
	return !status && model;
}

/* Prepare from a cache: the result; launch and callback agree, and so does the other call. */
static struct nnhal_prepared_model *restore(const struct nnhal_cache *cache,
					    enum nnhal_status *status)
{
	struct nnhal_prepared_model *model = (void *)1;
	struct callback_result r = CALLBACK_RESULT_INIT;
	enum nnhal_status launch, sync;
	bool once;

	launch = nnhal_device_prepare_model_from_cache(device, cache, NULL, callback_prepared, &r);
	/* Once, and from within the call if that fails. */
	once = !launch || (r.calls == 1 && r.status == launch && !r.model);
	*status = callback_wait(&r, launch);
	sync = nnhal_device_prepare_model_from_cache_sync(device, cache, NULL, &model);
	if (!once || r.calls || sync != *status || !model != !!sync || !r.model != !!*status)
		*status = (enum nnhal_status)99;
	if (!sync)
		nnhal_prepared_model_unref(model);
	return r.model;
}

static enum nnhal_status restore_only(const struct nnhal_cache *cache)
{
	enum nnhal_status status;
	struct nnhal_prepared_model *model = restore(cache, &status);

	nnhal_prepared_model_unref(model);
	return status;
}

static bool is_refused(enum nnhal_status status)
{
	return status == NNHAL_STATUS_INVALID_ARGUMENT || status == NNHAL_STATUS_GENERAL_FAILURE;
}

/* ---- saving and restoring ---- */

static void test_round_trip(void)
{
	struct nnhal_ext_prepared_model_info info = NNHAL_EXT_PREPARED_MODEL_INFO_INIT, info2;
	struct nnhal_prepared_model *model, *restored;
	float expected[UNITS], out[UNITS];
	enum nnhal_status status;
	struct files s;
	char c;

	files_init(&s, 1);
	/* What was there before is longer, and the positions are not 0. */
	if (ftruncate(s.model, 100000) || ftruncate(s.data, 100000) || write(s.model, "ab", 2) != 2 ||
	    write(s.data, "ab", 2) != 2)
		ok(false, "stale files");
	model = save(&product, &s.cache, &status);
	ok(model && !run_product(model, expected), "C20 prepared with a cache: %s",
	   nnhal_status_name((int)status));
	ok(length(s.model) > 100 && length(s.model) < 4096 &&
	   length(s.data) == UNITS * INPUTS * (off_t)sizeof(float),
	   "C21 stale bytes are gone: %lld and %lld bytes", (long long)length(s.model),
	   (long long)length(s.data));
	lseek(s.model, 0, SEEK_SET);
	lseek(s.data, 0, SEEK_SET);
	if (read(s.model, &c, 1) != 1 || read(s.data, &c, 1) != 1)
		ok(false, "positions");
	restored = restore(&s.cache, &status);
	ok(restored && !run_product(restored, out) && !memcmp(expected, out, sizeof(out)),
	   "C20 C21 prepared from the cache, same outputs: %s", nnhal_status_name((int)status));
	ok(lseek(s.model, 0, SEEK_CUR) == 1 && lseek(s.data, 0, SEEK_CUR) == 1,
	   "C21 positions are as they were");
	info2 = info;
	nnhal_ext_get_prepared_model_info(model, &info);
	nnhal_ext_get_prepared_model_info(restored, &info2);
	ok(info2.num_operations == info.num_operations && info2.num_inputs == info.num_inputs &&
	   info2.num_outputs == info.num_outputs, "C30 the same facts");
	nnhal_prepared_model_unref(model);
	ok(!run_product(restored, out) && !memcmp(expected, out, sizeof(out)),
	   "and without the first one");
	nnhal_prepared_model_unref(restored);
	files_fini(&s);

	/* Without data of its own. */
	files_init(&s, 2);
	ok(save_only(&adds, &s.cache) && length(s.data) == 0, "a model without large constants");
	restored = restore(&s.cache, &status);
	ok(restored, "C20 from the cache: %s", nnhal_status_name((int)status));
	nnhal_prepared_model_unref(restored);
	files_fini(&s);
}

/* C30: request validation, bursts, asynchronous execution, roles of buffers. */
static void test_behaviour(void)
{
	struct nnhal_buffer_role input, output;
	struct nnhal_buffer_desc desc = NNHAL_BUFFER_DESC_INIT;
	struct nnhal_prepared_model *model;
	struct nnhal_buffer *buffer = NULL;
	struct nnhal_burst *burst = NULL;
	float expected[UNITS], out[UNITS];
	enum nnhal_status status, async;
	struct callback_result r = CALLBACK_RESULT_INIT;
	struct files s;
	struct job j;
	uint32_t token;

	files_init(&s, 3);
	model = save(&product, &s.cache, &status);
	if (model)
		run_product(model, expected);
	nnhal_prepared_model_unref(model);
	model = restore(&s.cache, &status);
	if (!ok(model, "C30 restored: %s", nnhal_status_name((int)status)))
		return;
	job_init(&j, 1, INPUTS * sizeof(float), UNITS * sizeof(float));
	j.in[0].location.length -= 4;
	ok(run(model, &j, out) == NNHAL_STATUS_INVALID_ARGUMENT, "C30 an input too short");
	j.in[0].location.length += 4;
	j.in[0].num_dimensions = 2;
	j.in[0].dimensions = (uint32_t[]){ 1, INPUTS + 1 };
	ok(run(model, &j, out) == NNHAL_STATUS_INVALID_ARGUMENT, "C30 other dimensions");
	j.in[0].num_dimensions = 0;
	j.request.num_inputs = 0;
	ok(run(model, &j, out) == NNHAL_STATUS_INVALID_ARGUMENT, "C30 no input");
	j.request.num_inputs = 1;
	j.out.location.length = 8;
	ok(run(model, &j, out) == NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE,
	   "C30 an output with too little room");
	j.out.location.length = UNITS * sizeof(float);
	async = callback_wait(&r, nnhal_prepared_model_execute(model, &j.request, NULL,
								callback_executed, &r));
	ok(!async, "C30 asynchronous execution: %s", nnhal_status_name((int)async));
	status = nnhal_burst_create(model, NULL, &burst);
	memset(map + 2048, 0xee, 1024);
	if (!status)
		status = nnhal_burst_execute(burst, &j.request, NULL, NULL, NULL, NULL);
	ok(!status && !memcmp(map + 2048, expected, sizeof(expected)), "C30 burst: %s",
	   nnhal_status_name((int)status));
	nnhal_burst_unref(burst);

	input = (struct nnhal_buffer_role){ 0, 0, 1.0f };
	output = (struct nnhal_buffer_role){ 0, 0, 1.0f };
	status = nnhal_device_allocate(device, &desc, &model, 1, &input, 1, NULL, 0, &buffer,
				       &token, NULL);
	ok(!status, "C30 a buffer with a role of it: %s", nnhal_status_name((int)status));
	nnhal_buffer_unref(buffer);
	output.io_index = 1;
	status = nnhal_device_allocate(device, &desc, &model, 1, NULL, 0, &output, 1, &buffer,
				       &token, NULL);
	ok(status == NNHAL_STATUS_INVALID_ARGUMENT, "C30 none with a role that it has not");
	nnhal_prepared_model_unref(model);
	files_fini(&s);
}

/* ---- handles that are wrong ---- */

/* Saving changes nothing; restoring is refused, with @exact if that is not 0. */
static void expect_bad(const char *what, struct nnhal_cache *cache, enum nnhal_status exact)
{
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	float out[UNITS];

	model = save(&product, cache, &status);
	ok(model && !run_product(model, out), "C14 C15 C16 %s: saving is optional", what);
	nnhal_prepared_model_unref(model);
	status = restore_only(cache);
	ok(exact ? status == exact : is_refused(status), "C14 C15 C17 C18 C29 %s: %s", what,
	   nnhal_status_name((int)status));
}

static int reopen(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC);
}

static void test_handles(void)
{
	const enum nnhal_status failure = NNHAL_STATUS_GENERAL_FAILURE;
	static const char *const kinds[] = { "model", "data" };
	struct nnhal_cache bad;
	unsigned int kind;
	struct files s;
	char what[64];
	int two[2], fd, pipes[2];

	files_init(&s, 4);
	ok(save_only(&product, &s.cache) && !restore_only(&s.cache), "C13 one file of each kind");
	for (kind = 0; kind < 2; kind++) {
		uint32_t *count = kind ? &bad.num_data_cache : &bad.num_model_cache;
		struct nnhal_cache_handle *handle = s.handles[kind];
		struct nnhal_cache_handle good = *handle;

		bad = s.cache;
		*count = 0;
		snprintf(what, sizeof(what), "no %s file", kinds[kind]);
		expect_bad(what, &bad, 0);
		*count = 2;
		snprintf(what, sizeof(what), "two %s files", kinds[kind]);
		expect_bad(what, &bad, 0);
		handle->num_fds = 0;
		snprintf(what, sizeof(what), "%s handle without descriptor", kinds[kind]);
		expect_bad(what, &s.cache, 0);
		two[0] = good.fds[0];
		two[1] = good.fds[0];
		*handle = (struct nnhal_cache_handle){ two, 2 };
		snprintf(what, sizeof(what), "%s handle with two descriptors", kinds[kind]);
		expect_bad(what, &s.cache, 0);
		fd = reopen(good.fds[0], O_RDONLY);
		*handle = (struct nnhal_cache_handle){ &fd, 1 };
		snprintf(what, sizeof(what), "%s file read-only", kinds[kind]);
		expect_bad(what, &s.cache, 0);
		close(fd);
		snprintf(what, sizeof(what), "%s file closed", kinds[kind]);
		expect_bad(what, &s.cache, failure);
		fd = reopen(good.fds[0], O_WRONLY);
		snprintf(what, sizeof(what), "%s file write-only", kinds[kind]);
		expect_bad(what, &s.cache, failure);
		close(fd);
		if (!pipe2(pipes, O_CLOEXEC)) {
			fd = open("/dev/null", O_RDWR | O_CLOEXEC);
			snprintf(what, sizeof(what), "%s file that is a device", kinds[kind]);
			expect_bad(what, &s.cache, failure);
			close(fd);
			close(pipes[0]);
			close(pipes[1]);
		}
		*handle = good;
	}
	bad = s.cache;
	bad.token = NULL;
	expect_bad("no token", &bad, NNHAL_STATUS_INVALID_ARGUMENT);
	bad = s.cache;
	bad.size = 8;
	expect_bad("structure of a wrong size", &bad, NNHAL_STATUS_INVALID_ARGUMENT);
	bad = s.cache;
	bad.key_size = 32;
	expect_bad("key that is not there", &bad, NNHAL_STATUS_INVALID_ARGUMENT);
	ok(restore_only(NULL) == NNHAL_STATUS_INVALID_ARGUMENT, "no cache at all");
	bad = (struct nnhal_cache)NNHAL_CACHE_INIT;
	ok(save_only(&product, &bad), "C13 no files: the token is ignored");
	ok(is_refused(restore_only(&bad)), "C13 from no files: refused");
	ok(nnhal_device_prepare_model_from_cache(device, &s.cache, NULL, NULL, NULL) ==
	   NNHAL_STATUS_INVALID_ARGUMENT, "no callback");
	files_fini(&s);
}

/* Sealed, so that nothing can be written: as a full disk. */
static void test_full(void)
{
	struct files s;

	files_init(&s, 5);
	close(s.model);
	s.model = memfd_create("model", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fcntl(s.model, F_ADD_SEALS, F_SEAL_GROW);
	ok(save_only(&product, &s.cache), "C16 no room for the model file");
	ok(length(s.model) == 0 && length(s.data) == 0, "C16 nothing is left there");
	ok(restore_only(&s.cache) == NNHAL_STATUS_GENERAL_FAILURE, "C23 empty files");
	files_fini(&s);
	files_init(&s, 5);
	close(s.data);
	s.data = memfd_create("data", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fcntl(s.data, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK);
	ok(save_only(&product, &s.cache), "C16 no room for the data file");
	ok(restore_only(&s.cache) == NNHAL_STATUS_GENERAL_FAILURE, "C23 no model file");
	files_fini(&s);
}

/* To write beyond this limit would be a signal, which ends the process. */
static void test_file_limit(void)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct nnhal_prepared_model *model;
	struct rlimit old, limit;
	enum nnhal_status status;
	struct files s;

	files_init(&s, 33);
	options.cache = &s.cache;
	/* Who runs the test may ignore it. */
	signal(SIGXFSZ, SIG_DFL);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = 64;
	/* By this thread, as those of the library have signals blocked. No line is printed meanwhile. */
	setrlimit(RLIMIT_FSIZE, &limit);
	status = nnhal_device_prepare_model_sync(device, &product.model, &options, &model);
	setrlimit(RLIMIT_FSIZE, &old);
	ok(!status && !length(s.model) && !length(s.data),
	   "files that may not become larger than 64 bytes: status %d, no cache", status);
	nnhal_prepared_model_unref(model);
	files_fini(&s);
}

/* With descriptors for copies of the two files, but none for the memory object of the data. */
static enum nnhal_status prepare_with_two(struct files *s, struct nnhal_prepared_model **model)
{
	enum nnhal_status status;
	struct rlimit old, limit;
	int fds[2];

	fds[0] = fcntl(s->data, F_DUPFD_CLOEXEC, 0);
	fds[1] = fcntl(s->data, F_DUPFD_CLOEXEC, 0);
	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = (rlim_t)fds[1] + 1;
	close(fds[0]);
	close(fds[1]);
	setrlimit(RLIMIT_NOFILE, &limit);
	status = nnhal_device_prepare_model_from_cache_sync(device, &s->cache, NULL, model);
	setrlimit(RLIMIT_NOFILE, &old);
	return status;
}

static void test_descriptor_limit(void)
{
	struct nnhal_prepared_model *model = NULL;
	enum nnhal_status status;
	unsigned int tries = 0;
	struct files s;

	files_init(&s, 14);
	save_only(&product, &s.cache);
	status = prepare_with_two(&s, &model);
	/* A thread of the device may just have closed one of its own, and there were three. */
	while (!status && ++tries < 100) {
		nnhal_prepared_model_unref(model);
		model = NULL;
		usleep(10000);
		status = prepare_with_two(&s, &model);
	}
	ok(length(s.data) && status == NNHAL_STATUS_RESOURCE_EXHAUSTED_PERSISTENT && !model,
	   "no descriptor is left: %s", nnhal_status_name((int)status));
	status = nnhal_device_prepare_model_from_cache_sync(device, &s.cache, NULL, &model);
	ok(!status, "then there are some, and the cache is good");
	nnhal_prepared_model_unref(model);
	files_fini(&s);
}

static void test_closed_after_callback(void)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct callback_result r = CALLBACK_RESULT_INIT;
	struct nnhal_cache copy;
	enum nnhal_status launch, status;
	int model, data;
	struct files s;

	files_init(&s, 6);
	model = dup(s.model);
	data = dup(s.data);
	copy = s.cache;
	options.cache = &copy;
	launch = nnhal_device_prepare_model(device, &product.model, &options, callback_prepared, &r);
	/* Even at once. */
	close(s.model);
	close(s.data);
	memset(&copy, 0xff, sizeof(copy));
	status = callback_wait(&r, launch);
	nnhal_prepared_model_unref(r.model);
	s.model = model;
	s.data = data;
	ok(!status && !restore_only(&s.cache), "C22 the caller may close the files");
	files_fini(&s);
}

/* ---- content that is wrong ---- */

static uint32_t state = 1;

static uint32_t random_number(void)
{
	state = state * 1664525u + 1013904223u;
	return state >> 8;
}

static bool flip(int fd, uint32_t bit)
{
	uint8_t byte;

	if (pread(fd, &byte, 1, bit / 8) != 1)
		return false;
	byte ^= (uint8_t)(1u << bit % 8);
	return pwrite(fd, &byte, 1, bit / 8) == 1;
}

/* NONE, or the number of attempts that were not refused as they have to be. */
static unsigned int flips(const struct files *s, int fd, unsigned int rounds)
{
	uint32_t bits = (uint32_t)length(fd) * 8, bit;
	struct nnhal_prepared_model *model = NULL;
	unsigned int wrong = 0, i;

	for (i = 0; i < rounds; i++) {
		bit = rounds == bits ? i : random_number() % bits;
		flip(fd, bit);
		wrong += nnhal_device_prepare_model_from_cache_sync(device, &s->cache, NULL,
								    &model) !=
			 NNHAL_STATUS_GENERAL_FAILURE || model;
		flip(fd, bit);
	}
	return wrong;
}

static unsigned int cuts(const struct files *s, int fd, bool append)
{
	off_t size = length(fd), to;
	uint8_t *content = malloc((size_t)size + 1);
	struct nnhal_prepared_model *model = NULL;
	unsigned int wrong = 0, i;

	if (!content || pread(fd, content, (size_t)size, 0) != size)
		return 999;
	for (i = 0; i < 256; i++) {
		to = append ? size + 1 + i : (off_t)(random_number() % (uint32_t)size);
		if (!i && !append)
			to = 0;
		if (ftruncate(fd, to))
			return 998;
		wrong += nnhal_device_prepare_model_from_cache_sync(device, &s->cache, NULL,
								    &model) !=
			 NNHAL_STATUS_GENERAL_FAILURE || model;
		if (ftruncate(fd, size) || pwrite(fd, content, (size_t)size, 0) != size)
			return 997;
	}
	free(content);
	return wrong;
}

static void test_content(void)
{
	const unsigned int many = 8000;
	unsigned int i, wrong = 0;
	struct nnhal_prepared_model *model = NULL;
	struct files s, other;
	enum nnhal_status status;
	struct nnhal_cache cache;
	uint8_t key[32];

	files_init(&s, 7);
	files_init(&other, 8);
	ok(save_only(&product, &s.cache) && !restore_only(&s.cache), "C23 a good cache");
	wrong = flips(&s, s.model, many);
	ok(!wrong, "C23 C28 one bit of the model file, %u times: %u not refused", many, wrong);
	wrong = flips(&s, s.data, many / 4);
	ok(!wrong, "C24 C28 one bit of the data file, %u times: %u not refused", many / 4, wrong);
	ok(!cuts(&s, s.model, true), "C23 bytes appended to the model file");
	ok(!cuts(&s, s.model, false), "C23 model file cut or empty");
	ok(!cuts(&s, s.data, true), "C24 bytes appended to the data file");
	ok(!cuts(&s, s.data, false), "C24 data file cut or empty");
	ok(!restore_only(&s.cache), "as it was it is good");

	wrong = 0;
	for (i = 0; i < 8 * NNHAL_CACHE_TOKEN_SIZE; i++) {
		s.token[i / 8] ^= (uint8_t)(1u << i % 8);
		wrong += nnhal_device_prepare_model_from_cache_sync(device, &s.cache, NULL,
								    &model) !=
			 NNHAL_STATUS_GENERAL_FAILURE;
		s.token[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	ok(!wrong, "C25 one bit of the token");
	ok(save_only(&adds, &other.cache), "C25 another model and token");
	cache = s.cache;
	cache.model_cache = other.cache.model_cache;
	ok(restore_only(&cache) == NNHAL_STATUS_GENERAL_FAILURE, "C25 its model file");
	cache.data_cache = other.cache.data_cache;
	ok(restore_only(&cache) == NNHAL_STATUS_GENERAL_FAILURE, "C25 both of its files");
	cache = s.cache;
	cache.data_cache = other.cache.data_cache;
	ok(restore_only(&cache) == NNHAL_STATUS_GENERAL_FAILURE, "C24 its data file");
	cache = s.cache;
	cache.model_cache = s.cache.data_cache;
	cache.data_cache = s.cache.model_cache;
	ok(restore_only(&cache) == NNHAL_STATUS_GENERAL_FAILURE, "C23 files exchanged");

	/* Who knows the token, but not the key. */
	memset(key, 0x5c, sizeof(key));
	cache = other.cache;
	cache.key = key;
	cache.key_size = sizeof(key);
	ok(restore_only(&cache) == NNHAL_STATUS_GENERAL_FAILURE,
	   "C28 files that were written without the key");
	ok(save_only(&adds, &cache) && !restore_only(&cache), "C28 with it");
	key[31] ^= 1;
	ok(restore_only(&cache) == NNHAL_STATUS_GENERAL_FAILURE, "C28 another key");
	status = restore_only(&other.cache);
	ok(status == NNHAL_STATUS_GENERAL_FAILURE, "C28 and without key");
	ok(save_only(&adds, &other.cache) && !restore_only(&other.cache),
	   "prepared anew, and saved over what was there");
	files_fini(&s);
	files_fini(&other);
}

/* ---- others who write meanwhile ---- */

struct writer {
	pthread_t thread;
	atomic_bool stop;
	int fd;
	const uint8_t *content;
	size_t size;
};

static void *overwrite(void *arg)
{
	struct writer *w = arg;

	while (!atomic_load(&w->stop)) {
		if (ftruncate(w->fd, 0) || pwrite(w->fd, w->content, w->size, 0) < 0)
			break;
		sched_yield();
	}
	return NULL;
}

/*
 * Another thread writes the model file of the MUL chain over that of the ADD chain, whole and
 * with a token that is right. What is restored in the end computes one of the two as it is, or
 * it is refused.
 */
static void test_races(bool saving)
{
	static uint8_t content[MODEL_FILE_MAX];
	struct nnhal_prepared_model *model;
	float sum[4], out[4], mul[4];
	unsigned int i, wrong = 0, good = 0;
	enum nnhal_status status;
	struct files s, other;
	struct writer w;
	ssize_t size;

	files_init(&s, 9);
	files_init(&other, 10);
	model = save(&sum_chain, &s.cache, &status);
	if (model)
		run_chain(model, sum);
	nnhal_prepared_model_unref(model);
	model = save(&mul_chain, &other.cache, &status);
	if (model)
		run_chain(model, mul);
	nnhal_prepared_model_unref(model);
	size = pread(other.model, content, sizeof(content), 0);
	if (!ok(size > 0 && memcmp(sum, mul, sizeof(sum)), "C26 two models"))
		return;
	for (i = 0; i < 100; i++) {
		w = (struct writer){ .fd = s.model, .content = content, .size = (size_t)size };
		if (!saving)
			save_only(&sum_chain, &s.cache);
		if (pthread_create(&w.thread, NULL, overwrite, &w))
			break;
		if (saving)
			wrong += !save_only(&sum_chain, &s.cache);
		else
			usleep(random_number() % 200);
		if (saving) {
			atomic_store(&w.stop, true);
			pthread_join(w.thread, NULL);
		}
		model = NULL;
		status = nnhal_device_prepare_model_from_cache_sync(device, &s.cache, NULL, &model);
		if (!saving) {
			atomic_store(&w.stop, true);
			pthread_join(w.thread, NULL);
		}
		if (!status) {
			good++;
			wrong += run_chain(model, out) || memcmp(out, sum, sizeof(sum));
		} else {
			wrong += status != NNHAL_STATUS_GENERAL_FAILURE;
		}
		nnhal_prepared_model_unref(model);
	}
	if (saving)
		ok(i == 100 && !wrong, "C26 overwritten while saving: %u restored, %u wrong", good,
		   wrong);
	else
		ok(i == 100 && !wrong, "C27 overwritten while restoring: %u restored, %u wrong",
		   good, wrong);
	files_fini(&s);
	files_fini(&other);
}

/* ---- devices without caching ---- */

static void test_unsupported(void)
{
	struct nnhal_prepared_model *model = NULL;
	struct callback_result r = CALLBACK_RESULT_INIT;
	struct nnhal_device *all = device;
	uint32_t num_model = 9, num_data = 9;
	enum nnhal_status launch;
	struct files s;

	files_init(&s, 11);
	if (nnhal_device_open("sim:nocache", &device, NULL)) {
		device = all;
		tap_skip("C19 no in-process device");
		return;
	}
	ok(!nnhal_device_get_number_of_cache_files_needed(device, &num_model, &num_data) &&
	   !num_model && !num_data, "C19 a device without caching");
	ok(save_only(&product, &s.cache) && length(s.model) == 0, "C19 handles are ignored");
	launch = nnhal_device_prepare_model_from_cache(device, &s.cache, NULL, callback_prepared,
						       &r);
	ok(launch == NNHAL_STATUS_GENERAL_FAILURE && r.calls == 1 && r.status == launch && !r.model,
	   "C19 C29 from a cache: %s, %u callbacks", nnhal_status_name((int)launch), r.calls);
	s.cache.num_model_cache = 0;
	s.cache.num_data_cache = 0;
	ok(nnhal_device_prepare_model_from_cache_sync(device, &s.cache, NULL, &model) ==
	   NNHAL_STATUS_GENERAL_FAILURE && !model, "C19 without files, too");
	nnhal_device_unref(device);
	device = all;
	files_fini(&s);
}

/* Another device of the same kind takes the cache. */
static void test_other_device(void)
{
	struct nnhal_device *first = device;
	struct nnhal_prepared_model *model;
	enum nnhal_status status;
	float out[UNITS];
	struct files s;

	files_init(&s, 12);
	ok(save_only(&product, &s.cache), "saved");
	device = test_device_open();
	model = restore(&s.cache, &status);
	ok(model && !run_product(model, out), "C20 restored in another open device: %s",
	   nnhal_status_name((int)status));
	nnhal_prepared_model_unref(model);
	nnhal_device_unref(device);
	device = first;
	files_fini(&s);
}

static void test_deadline(void)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct callback_result r = CALLBACK_RESULT_INIT;
	enum nnhal_status launch, status;
	struct files s;

	files_init(&s, 13);
	save_only(&product, &s.cache);
	options.has_deadline = true;
	options.deadline_ns = 1;
	launch = nnhal_device_prepare_model_from_cache(device, &s.cache, &options,
						       callback_prepared, &r);
	status = callback_wait(&r, launch);
	ok(!launch && !r.model && (status == NNHAL_STATUS_MISSED_DEADLINE_PERSISTENT ||
				   status == NNHAL_STATUS_MISSED_DEADLINE_TRANSIENT),
	   "a deadline that has passed: %s", nnhal_status_name((int)status));
	options.has_deadline = false;
	options.priority = 7;
	ok(nnhal_device_prepare_model_from_cache_sync(device, &s.cache, &options, &r.model) ==
	   NNHAL_STATUS_INVALID_ARGUMENT && !r.model, "no such priority");
	files_fini(&s);
}

int main(void)
{
	uint32_t num_model = 0, num_data = 0, i;

	device = test_device_open();
	nnhal_device_get_number_of_cache_files_needed(device, &num_model, &num_data);
	if (!num_model)
		tap_skip_all("no caching: there is no libcrypto, or the device saves no programs");
	ok(num_model == 1 && num_data == 1, "C13 A14 %u model file, %u data file", num_model, num_data);
	if (nnhal_memory_create(4096, &memory, NULL) ||
	    !(map = nnhal_memory_map(memory, NULL))) {
		printf("Bail out! no memory\n");
		return 1;
	}
	make_product(&product);
	make_chain(&sum_chain, CHAIN);
	make_chain(&mul_chain, CHAIN);
	for (i = 0; i < CHAIN; i++)
		mul_chain.graph.operations[i].type = NNHAL_OPERATION_MUL;
	make_add_relu(&adds);
	test_round_trip();
	test_behaviour();
	test_handles();
	test_full();
	test_file_limit();
	test_descriptor_limit();
	test_closed_after_callback();
	test_content();
	test_races(true);
	test_races(false);
	test_other_device();
	test_deadline();
	test_unsupported();
	nnhal_memory_unref(memory);
	nnhal_device_unref(device);
	return tap_done();
}
