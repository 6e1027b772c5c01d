// SPDX-License-Identifier: MIT
/*
 * Processes at the same time: four of them with two models each, every result
 * bit for bit what the model gives when it runs alone.
 *
 * NNHAL_TEST_DEVICE      device (default: sim)
 * NNPU_CONCURRENT_COUNT  inferences per model and process (default 1000)
 * NNPU_SHARED            folder with models/ (default ../shared)
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "tap.h"
#include "userspace/tools/nnrun/file.h"
#include "userspace/tools/nnrun/tflite_to_hal.h"

#define PROCESSES	4
#define MODELS		2
#define DATA_LIMIT	((size_t)64 << 20)

/* A model file, samples for it, and the outputs it gives alone. */
struct subject {
	const char *name;
	uint8_t *file;
	size_t file_size;
	uint8_t *inputs;
	size_t inputs_size;
	uint8_t *outputs;
	struct tflite_model tflite;
	struct hal_model hal;
	size_t input_bytes;
	size_t output_bytes;
	size_t samples;
};

static const char *device_spec(void)
{
	const char *spec = getenv("NNHAL_TEST_DEVICE");

	return spec ? spec : "sim";
}

static int load_file(const char *path, uint8_t **data, size_t *size, struct error *err)
{
	int fd = open_input(path, err);
	int ret;

	if (fd < 0)
		return -1;
	ret = read_rest(fd, path, NULL, 0, DATA_LIMIT, data, size, err);
	close(fd);
	return ret;
}

static int subject_load(struct subject *s, const char *dir, const char *model,
			const char *inputs, struct error *err)
{
	char path[512];

	s->name = model;
	snprintf(path, sizeof(path), "%s/%s", dir, model);
	if (load_file(path, &s->file, &s->file_size, err))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, inputs);
	if (load_file(path, &s->inputs, &s->inputs_size, err) ||
	    tflite_parse(&s->tflite, s->file, s->file_size, err) ||
	    tflite_to_hal(&s->tflite, &s->hal, err))
		return -1;
	s->input_bytes = s->hal.inputs[0].bytes;
	s->output_bytes = s->hal.outputs[0].bytes;
	s->samples = s->inputs_size / s->input_bytes;
	s->outputs = calloc(s->samples, s->output_bytes);
	return s->outputs && s->samples ? 0 : fail(err, "%s: no samples or no memory", model);
}

/* A prepared model with memory for one request. */
struct runner {
	struct subject *subject;
	struct nnhal_prepared_model *model;
	struct nnhal_memory *memory;
	uint8_t *map;
	size_t output_offset;
	struct nnhal_request request;
	struct nnhal_request_argument input;
	struct nnhal_request_argument output;
	struct nnhal_request_pool pool;
	unsigned int count;
	unsigned int first;
	unsigned int wrong;
	enum nnhal_status status;
	struct nnhal_diag diag;
};

static enum nnhal_status runner_init(struct runner *r, struct nnhal_device *device,
				     struct subject *s)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;

	memset(r, 0, sizeof(*r));
	r->subject = s;
	options.diag = &r->diag;
	r->status = nnhal_device_prepare_model_sync(device, &s->hal.builder.model, &options,
						    &r->model);
	if (r->status)
		return r->status;
	r->output_offset = (s->input_bytes + 63) & ~(size_t)63;
	r->status = nnhal_memory_create(r->output_offset + s->output_bytes, &r->memory, &r->diag);
	if (r->status)
		return r->status;
	r->map = nnhal_memory_map(r->memory, &r->diag);
	if (!r->map)
		return r->status = NNHAL_STATUS_GENERAL_FAILURE;
	r->pool.memory = r->memory;
	r->input.location.length = (uint32_t)s->input_bytes;
	r->output.location.offset = (uint32_t)r->output_offset;
	r->output.location.length = (uint32_t)s->output_bytes;
	r->request.num_inputs = 1;
	r->request.inputs = &r->input;
	r->request.num_outputs = 1;
	r->request.outputs = &r->output;
	r->request.num_pools = 1;
	r->request.pools = &r->pool;
	return NNHAL_STATUS_NONE;
}

static void runner_fini(struct runner *r)
{
	nnhal_memory_unref(r->memory);
	nnhal_prepared_model_unref(r->model);
}

/* Run sample @i; the output is at the returned place, NULL after an error. */
static const uint8_t *runner_run(struct runner *r, size_t i)
{
	const struct subject *s = r->subject;

	memcpy(r->map, s->inputs + i * s->input_bytes, s->input_bytes);
	memset(r->map + r->output_offset, 0xa5, s->output_bytes);
	r->status = nnhal_prepared_model_execute_synchronously(r->model, &r->request, NULL,
							       NULL, NULL, NULL);
	return r->status ? NULL : r->map + r->output_offset;
}

static void *runner_thread(void *data)
{
	struct runner *r = data;
	const struct subject *s = r->subject;
	unsigned int i;

	for (i = 0; i < r->count; i++) {
		size_t sample = (r->first + i) % s->samples;
		const uint8_t *out = runner_run(r, sample);

		if (!out)
			break;
		if (memcmp(out, s->outputs + sample * s->output_bytes, s->output_bytes))
			r->wrong++;
	}
	return NULL;
}

/* What one process does; its exit status. */
static int process_main(struct subject subjects[MODELS], unsigned int number, unsigned int count)
{
	struct runner runners[MODELS];
	pthread_t threads[MODELS];
	struct nnhal_device *device;
	struct nnhal_diag diag = { .message = "" };
	unsigned int i;
	int bad = 0;

	if (nnhal_device_open(device_spec(), &device, &diag)) {
		fprintf(stderr, "process %u: %s\n", number, diag.message);
		return 1;
	}
	for (i = 0; i < MODELS; i++) {
		if (runner_init(&runners[i], device, &subjects[i])) {
			fprintf(stderr, "process %u, %s: %s\n", number, subjects[i].name,
				runners[i].diag.message);
			return 1;
		}
		runners[i].count = count;
		runners[i].first = number * 37;
	}
	for (i = 0; i < MODELS; i++)
		if (pthread_create(&threads[i], NULL, runner_thread, &runners[i]))
			return 1;
	for (i = 0; i < MODELS; i++) {
		struct runner *r = &runners[i];

		pthread_join(threads[i], NULL);
		if (r->status || r->wrong) {
			fprintf(stderr, "process %u, %s: status %s, %u wrong outputs\n", number,
				subjects[i].name, nnhal_status_name(r->status), r->wrong);
			bad = 1;
		}
		runner_fini(r);
	}
	nnhal_device_unref(device);
	return bad;
}

/* The outputs each model gives when nothing else runs. */
static bool run_alone(struct subject *s)
{
	struct nnhal_diag diag = { .message = "" };
	struct nnhal_device *device;
	struct runner r;
	size_t i;

	if (nnhal_device_open(device_spec(), &device, &diag)) {
		tap_note("%s", diag.message);
		return false;
	}
	if (runner_init(&r, device, s)) {
		tap_note("%s: %s", s->name, r.diag.message);
		return false;
	}
	for (i = 0; i < s->samples; i++) {
		const uint8_t *out = runner_run(&r, i);

		if (!out)
			break;
		memcpy(s->outputs + i * s->output_bytes, out, s->output_bytes);
	}
	runner_fini(&r);
	nnhal_device_unref(device);
	return i == s->samples;
}

static void run_together(struct subject subjects[MODELS], unsigned int count)
{
	pid_t pids[PROCESSES];
	unsigned int i;

	fflush(stdout);
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(process_main(subjects, i, count));
	}
	for (i = 0; i < PROCESSES; i++) {
		int status = -1;

		if (pids[i] > 0)
			waitpid(pids[i], &status, 0);
		ok(status == 0, "process %u of %u: %u inferences each of %s and %s, as alone",
		   i + 1, PROCESSES, count, subjects[0].name, subjects[1].name);
	}
}

int main(void)
{
	const char *shared = getenv("NNPU_SHARED");
	const char *number = getenv("NNPU_CONCURRENT_COUNT");
	unsigned int count = number ? (unsigned int)strtoul(number, NULL, 10) : 1000;
	struct subject subjects[MODELS] = { 0 };
	struct error err = { .text = "" };
	char models[512];
	unsigned int i;

	snprintf(models, sizeof(models), "%s/models", shared ? shared : "../shared");
	if (subject_load(&subjects[0], "examples/digits", "digits_int8.tflite",
			 "test_images_int8.bin", &err)) {
		tap_note("%s", err.text);
		ok(false, "digits model");
		return tap_done();
	}
	/* The second model is a larger one where there is one. */
	if (subject_load(&subjects[1], models, "kws_ref_model.tflite",
			 "kws01/inputs_1000x490_int8.bin", &err)) {
		tap_note("%s: the float digits model serves instead", err.text);
		hal_model_free(&subjects[1].hal);
		tflite_free(&subjects[1].tflite);
		subjects[1] = (struct subject) { 0 };
		err.text[0] = '\0';
		if (subject_load(&subjects[1], "examples/digits", "digits_float.tflite",
				 "test_images_float.bin", &err)) {
			tap_note("%s", err.text);
			ok(false, "digits model");
			return tap_done();
		}
	}
	for (i = 0; i < MODELS; i++)
		if (!ok(run_alone(&subjects[i]), "%s alone, %zu samples", subjects[i].name,
			subjects[i].samples))
			return tap_done();
	run_together(subjects, count);
	for (i = 0; i < MODELS; i++) {
		hal_model_free(&subjects[i].hal);
		tflite_free(&subjects[i].tflite);
		free(subjects[i].file);
		free(subjects[i].inputs);
		free(subjects[i].outputs);
	}
	return tap_done();
}
