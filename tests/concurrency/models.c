// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models.h"
#include "tap.h"

#define DATA_LIMIT	((size_t)64 << 20)

const char *device_spec(void)
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
	ret = read_rest(fd, path, NULL, 0, DATA_LIMIT, data, size, NULL, err);
	close(fd);
	return ret;
}

int subject_load(struct subject *s, const char *dir, const char *model, const char *inputs,
		 struct error *err)
{
	struct nntflite_diag diag;
	char path[512];

	s->name = model;
	snprintf(path, sizeof(path), "%s/%s", dir, model);
	if (load_file(path, &s->file, &s->file_size, err))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, inputs);
	if (load_file(path, &s->inputs, &s->inputs_size, err))
		return -1;
	if (nntflite_file_open_memory(s->file, s->file_size, &s->tflite, &diag) ||
	    nntflite_model_create(s->tflite, NULL, &s->model, &diag))
		return fail(err, "%s: %s", model, diag.message);
	s->input_bytes = nntflite_model_input(s->model, 0)->bytes;
	s->output_bytes = nntflite_model_output(s->model, 0)->bytes;
	s->samples = s->inputs_size / s->input_bytes;
	s->outputs = calloc(s->samples, s->output_bytes);
	return s->outputs && s->samples ? 0 : fail(err, "%s: no samples or no memory", model);
}

int subject_dequantize(struct subject *s, float scale, int zero, struct error *err)
{
	const int8_t *from = (const int8_t *)s->inputs;
	float *to = calloc(s->inputs_size, sizeof(*to));
	size_t i;

	if (!to)
		return fail(err, "%s: no memory", s->name);
	for (i = 0; i < s->inputs_size; i++)
		to[i] = (float)(from[i] - zero) * scale;
	free(s->inputs);
	free(s->outputs);
	s->inputs = (uint8_t *)to;
	s->inputs_size *= sizeof(*to);
	s->samples = s->inputs_size / s->input_bytes;
	s->outputs = calloc(s->samples, s->output_bytes);
	return s->outputs ? 0 : fail(err, "%s: no memory", s->name);
}

void subject_free(struct subject *s)
{
	nntflite_model_destroy(s->model);
	nntflite_file_close(s->tflite);
	free(s->file);
	free(s->inputs);
	free(s->outputs);
	*s = (struct subject){ 0 };
}

enum nnhal_status runner_init(struct runner *r, struct nnhal_device *device, struct subject *s)
{
	struct nnhal_prepare_options options = NNHAL_PREPARE_OPTIONS_INIT;

	memset(r, 0, sizeof(*r));
	r->subject = s;
	options.diag = &r->diag;
	r->status = nnhal_device_prepare_model_sync(device, nntflite_model_get_hal(s->model), &options,
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

void runner_fini(struct runner *r)
{
	nnhal_burst_unref(r->burst);
	nnhal_memory_unref(r->memory);
	nnhal_prepared_model_unref(r->model);
}

const uint8_t *runner_run(struct runner *r, size_t i)
{
	const struct subject *s = r->subject;

	memcpy(r->map, s->inputs + i * s->input_bytes, s->input_bytes);
	memset(r->map + r->output_offset, 0xa5, s->output_bytes);
	r->status = r->burst ? nnhal_burst_execute(r->burst, &r->request, NULL, NULL, NULL, NULL)
			     : nnhal_prepared_model_execute_synchronously(r->model, &r->request,
									  NULL, NULL, NULL, NULL);
	return r->status ? NULL : r->map + r->output_offset;
}

void runner_loop(struct runner *r)
{
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
}

bool subject_run_alone(struct subject *s)
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
