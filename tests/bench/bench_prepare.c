// SPDX-License-Identifier: MIT
/*
 * How long preparing models takes: from the model, asynchronously as frameworks do it, and from a
 * cache in files.
 *
 *   bench_prepare [--device SPEC] [--count N] [--json FILE] MODEL.tflite...
 *
 * The median and the least of N times (default 15), in turns.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "userspace/tools/nnrun/open_device.h"
#include <nntflite/nntflite.h>

#define MAX_COUNT	1000

struct bench {
	struct nnhal_device *device;
	unsigned int count;
	FILE *json;
	double cold[MAX_COUNT], cached[MAX_COUNT];
	struct nnhal_cache cache;
};

struct waiter {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
	enum nnhal_status status;
	struct nnhal_prepared_model *model;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void prepared(void *context, enum nnhal_status status, struct nnhal_prepared_model *model)
{
	struct waiter *w = context;

	pthread_mutex_lock(&w->lock);
	w->status = status;
	w->model = model;
	w->done = true;
	pthread_cond_signal(&w->cond);
	pthread_mutex_unlock(&w->lock);
}

/* Prepare @model, or from the cache if it is NULL. Milliseconds, negative after an error. */
static double prepare(struct bench *b, const struct nnhal_model *model, bool save)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;
	struct waiter w = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
	struct nnhal_diag diag = { "" };
	double begin, end;

	options.diag = &diag;
	options.cache = save ? &b->cache : NULL;
	begin = now_ms();
	if (model)
		nnhal_device_prepare_model(b->device, model, &options, prepared, &w);
	else
		nnhal_device_prepare_model_from_cache(b->device, &b->cache, &options, prepared, &w);
	pthread_mutex_lock(&w.lock);
	while (!w.done)
		pthread_cond_wait(&w.cond, &w.lock);
	pthread_mutex_unlock(&w.lock);
	end = now_ms();
	nnhal_prepared_model_unref(w.model);
	if (w.status) {
		fprintf(stderr, "bench_prepare: %s: %s\n", nnhal_status_name((int)w.status),
			diag.message);
		return -1;
	}
	return end - begin;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *times, unsigned int count)
{
	qsort(times, count, sizeof(*times), compare);
	return times[count / 2];
}

static int measure(struct bench *b, const char *path, const struct nnhal_model *model, bool first)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	double cold, cached;
	unsigned int i;

	if (prepare(b, model, true) < 0)
		return -1;
	for (i = 0; i < b->count; i++) {
		b->cold[i] = prepare(b, model, false);
		b->cached[i] = prepare(b, NULL, false);
		if (b->cold[i] < 0 || b->cached[i] < 0)
			return -1;
	}
	cold = median(b->cold, b->count);
	cached = median(b->cached, b->count);
	/* median() has sorted them. */
	printf("%-36s %9.3f ms %9.3f ms %6.2f; %9.3f ms %9.3f ms %6.2f\n", name, cold, cached,
	       cached / cold, b->cold[0], b->cached[0], b->cached[0] / b->cold[0]);
	if (b->json)
		fprintf(b->json, "%s\n  {\"model\": \"%s\", \"cold_ms\": %.4f, \"cached_ms\": %.4f,"
			" \"least_cold_ms\": %.4f, \"least_cached_ms\": %.4f}", first ? "" : ",", name,
			cold, cached, b->cold[0], b->cached[0]);
	return 0;
}

static void *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	void *bytes = NULL;
	long end;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (end = ftell(f)) > 0) {
		rewind(f);
		*size = (size_t)end;
		bytes = malloc(*size);
		if (bytes && fread(bytes, 1, *size, f) != *size) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(f);
	return bytes;
}

static int measure_file(struct bench *b, const char *path, bool first)
{
	struct nntflite_file *tflite = NULL;
	struct nntflite_model *model = NULL;
	struct nntflite_diag diag = { .message = "" };
	size_t size = 0;
	void *bytes = read_file(path, &size);
	int ret;

	if (!bytes || nntflite_file_open_memory(bytes, size, &tflite, &diag) ||
	    nntflite_model_create(tflite, NULL, &model, &diag)) {
		fprintf(stderr, "bench_prepare: %s: %s\n", path, diag.message);
		nntflite_file_close(tflite);
		free(bytes);
		return -1;
	}
	ret = measure(b, path, nntflite_model_get_hal(model), first);
	nntflite_model_destroy(model);
	nntflite_file_close(tflite);
	free(bytes);
	return ret;
}

/* A file on a disk if there is one, as a framework has it. */
static int cache_file(void)
{
	FILE *f = tmpfile();
	int fd = f ? dup(fileno(f)) : -1;

	if (f)
		fclose(f);
	return fd;
}

int main(int argc, char **argv)
{
	static const uint8_t token[NNHAL_CACHE_TOKEN_SIZE] = "bench";
	static struct bench b = { .count = 15 };
	const char *spec = NULL, *json = NULL, *advice = NULL;
	int model_fd = cache_file(), data_fd = cache_file();
	struct nnhal_cache_handle model_file = { &model_fd, 1 }, data_file = { &data_fd, 1 };
	struct error err = { "", 0 };
	int i, first, ret = 0;

	for (i = 1; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--device"))
			spec = argv[i + 1];
		else if (!strcmp(argv[i], "--json"))
			json = argv[i + 1];
		else if (!strcmp(argv[i], "--count"))
			b.count = (unsigned int)atoi(argv[i + 1]);
		else
			break;
	}
	if (i >= argc || !strncmp(argv[i], "--", 2) || !b.count || b.count > MAX_COUNT) {
		fprintf(stderr, "usage: bench_prepare [--device SPEC] [--count N] [--json FILE] MODEL...\n");
		return 2;
	}
	b.cache = (struct nnhal_cache)NNHAL_CACHE_INIT;
	b.cache.model_cache = &model_file;
	b.cache.num_model_cache = 1;
	b.cache.data_cache = &data_file;
	b.cache.num_data_cache = 1;
	b.cache.token = token;
	b.device = open_device(spec, &err, &advice);
	if (!b.device) {
		fprintf(stderr, "bench_prepare: %s\n", err.text);
		return 1;
	}
	if (json) {
		b.json = fopen(json, "w");
		if (!b.json) {
			perror(json);
			return 1;
		}
		fputc('[', b.json);
	}
	printf("%-36s %12s %12s %6s; %12s %12s %6s\n", "prepared: median; least", "cold",
	       "from cache", "ratio", "cold", "from cache", "ratio");
	for (first = i; !ret && i < argc; i++)
		ret = measure_file(&b, argv[i], i == first);
	if (b.json && (fputs("\n]\n", b.json) < 0 || fclose(b.json)))
		ret = -1;
	nnhal_device_unref(b.device);
	close(model_fd);
	close(data_fd);
	return ret ? 1 : 0;
}
