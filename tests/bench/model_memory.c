// SPDX-License-Identifier: MIT
/*
 * The device memory that a model takes.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>
#include <nntflite/nntflite.h>
#include <nntflite/session.h>

#include "device/device_private.h"
#include "kernel/nnpu_hw.h"
#include "model_memory.h"
#include "transport/transport.h"
#include "userspace/tools/common/file.h"
#include "userspace/tools/nnrun/open_device.h"

/* A whole file, to be freed. NULL with the error. */
static uint8_t *read_file(const char *path, size_t *size, struct error *err)
{
	int fd = open_input(path, err);
	uint8_t *bytes = NULL;

	if (fd < 0)
		return NULL;
	if (read_rest(fd, path, NULL, 0, NNTFLITE_MAX_FILE, &bytes, size, NULL, err))
		bytes = NULL;
	close(fd);
	return bytes;
}

/* The first sample of input @index into @data, if there is a file with it. */
static int read_sample(const char *path, uint32_t index, uint32_t inputs, void *data,
		       size_t bytes, struct error *err)
{
	int stem = (int)(strlen(path) - strlen(".tflite"));
	char pattern[4096], number[16] = "";
	uint8_t *sample;
	size_t size = 0;
	glob_t found;
	int ret = 0;

	if (inputs > 1)
		snprintf(number, sizeof(number), "%u", index);
	snprintf(pattern, sizeof(pattern), "%.*s.*.input%s.bin", stem, path, number);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	sample = read_file(found.gl_pathv[0], &size, err);
	if (!sample)
		ret = -1;
	else if (size < bytes)
		ret = fail(err, "%s: %zu bytes, a sample has %zu", found.gl_pathv[0], size, bytes);
	else
		memcpy(data, sample, bytes);
	free(sample);
	globfree(&found);
	return ret;
}

/* Prepare the model and run it once. */
static int run(const char *path, const struct nntflite_model *model, struct nnhal_device *device,
	       struct error *err)
{
	uint32_t inputs = nntflite_model_num_inputs(model);
	struct nntflite_session *session = NULL;
	struct nntflite_diag diag;
	int ret = 0;

	if (nntflite_session_create(model, device, NULL, &session, &diag))
		return fail(err, "%s", diag.message);
	for (uint32_t i = 0; !ret && i < inputs; i++)
		ret = read_sample(path, i, inputs, nntflite_session_input(session, i),
				  nntflite_model_input(model, i)->bytes, err);
	if (!ret && nntflite_session_run(session, NULL, NULL, &diag))
		ret = fail(err, "%s", diag.message);
	nntflite_session_destroy(session);
	return ret;
}

int model_memory_of(const char *path, struct model_memory *m, struct error *err)
{
	struct nntflite_model *model = NULL;
	struct nntflite_file *file = NULL;
	struct nnhal_device *device = NULL;
	struct nntflite_diag diag;
	const char *advice;
	size_t size = 0;
	uint8_t *bytes;
	int ret = -1;

	bytes = read_file(path, &size, err);
	if (!bytes)
		return -1;
	if (nntflite_file_open_memory(bytes, size, &file, &diag) ||
	    nntflite_model_create(file, NULL, &model, &diag))
		fail(err, "%s", diag.message);
	else
		device = open_device("sim", err, &advice);
	if (device && !run(path, model, device, err) &&
	    !needed_memory_of(nntflite_model_get_hal(model), &m->needed, err)) {
		m->peak = transport_sim_counter(device->transport, NNPU_REG_MEM_PEAK_LO);
		ret = 0;
	}
	nnhal_device_unref(device);
	nntflite_model_destroy(model);
	nntflite_file_close(file);
	free(bytes);
	return ret;
}
