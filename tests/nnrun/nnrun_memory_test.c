// SPDX-License-Identifier: MIT
/*
 * The device memory of real models: constants are there once, packed or not, and activations share
 * memory. What comes on top is bounded.
 *
 * NNPU_SHARED	folder with models/ and models2/ (default ../shared)
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>
#include <nntflite/nntflite.h>

#include "device/device_private.h"
#include "emulator/core/page_runs.h"
#include "kernel/nnpu_hw.h"
#include "tap.h"
#include "tests/bench/needed_memory.h"
#include "transport/transport.h"
#include "userspace/tools/common/file.h"
#include "userspace/tools/nnrun/open_device.h"

/*
 * Beside a part of what is needed: tables of the program by tensor and command, and the rest of pages.
 * What is large enough has room for all that in the part.
 */
#define SLACK		1.15
#define LARGE		(48u << 10)
#define TABLES		(8u << 10)
/* With AddressSanitizer small pieces have gaps between them. */
#define GAPS		(8u << 10)

#define MAX_OPERANDS	16u

static size_t round_up(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

/* Run the model once, with zeros. 0; 1: its shapes are not known; -1 with the error. */
static int run(struct nnhal_device *device, const struct nntflite_model *model, struct error *err)
{
	struct nnhal_request_argument args[2 * MAX_OPERANDS] = { 0 };
	uint32_t inputs = nntflite_model_num_inputs(model), i;
	uint32_t count = inputs + nntflite_model_num_outputs(model);
	struct nnhal_execute_options options = NNHAL_EXECUTE_OPTIONS_INIT;
	struct nnhal_prepared_model *prepared;
	struct nnhal_request_pool pool = { 0 };
	struct nnhal_request request = {
		.hal_version = NNHAL_HAL_1_3, .num_inputs = inputs, .num_outputs = count - inputs,
		.num_pools = 1, .inputs = args, .outputs = args + inputs, .pools = &pool,
	};
	struct nnhal_timing timing;
	enum nnhal_status status;
	struct nnhal_diag diag;
	size_t bytes = 0;

	if (inputs > MAX_OPERANDS || count - inputs > MAX_OPERANDS)
		return fail(err, "more operands than this test has room for");
	for (i = 0; i < count; i++) {
		const struct nntflite_io *io = i < inputs ? nntflite_model_input(model, i) :
						nntflite_model_output(model, i - inputs);

		if (!io->bytes)
			return 1;
		args[i].location.offset = (uint32_t)bytes;
		args[i].location.length = (uint32_t)io->bytes;
		bytes += round_up(io->bytes);
	}
	prepared = prepare_model(device, model, err);
	if (!prepared)
		return -1;
	options.diag = &diag;
	if (nnhal_memory_create(bytes, &pool.memory, &diag)) {
		nnhal_prepared_model_unref(prepared);
		return fail(err, "no memory for operands: %s", diag.message);
	}
	status = nnhal_prepared_model_execute_synchronously(prepared, &request, &options, NULL, NULL,
							    &timing);
	nnhal_memory_unref(pool.memory);
	nnhal_prepared_model_unref(prepared);
	return status ? fail_status(err, "execution failed", status, &diag) : 0;
}

static void judge(const char *name, uint64_t peak, const struct needed_memory *m)
{
	uint64_t needed = m->constants + m->activations;
	double most = SLACK * (double)needed;

	if (needed < LARGE)
		most += TABLES;
	most += GAPS * MEM_WATCHED;
	ok((double)peak <= most, "%s: %.1f KiB at most, %.1f needed: %.2f", name,
	   (double)peak / 1024, (double)needed / 1024, (double)peak / (double)needed);
}

/* Is it a model that this test can run? Judge its memory. */
static bool measure(const char *path)
{
	const char *name = strrchr(path, '/') + 1, *advice;
	struct nntflite_file *file = NULL;
	struct nntflite_model *model = NULL;
	struct nnhal_device *device = NULL;
	struct needed_memory needed;
	struct nntflite_diag diag;
	struct error err = { "", 0 };
	uint8_t *bytes = NULL;
	size_t size;
	int fd = open_input(path, &err), ret = -1;

	if (fd < 0 || read_rest(fd, path, NULL, 0, NNTFLITE_MAX_FILE, &bytes, &size, NULL, &err)) {
		ok(false, "%s: %s", name, err.text);
		return false;
	}
	close(fd);
	if (nntflite_file_open_memory(bytes, size, &file, &diag) ||
	    nntflite_model_create(file, NULL, &model, &diag)) {
		tap_note("%s: %s", name, diag.message);
	} else {
		device = open_device("sim", &err, &advice);
		if (device)
			ret = run(device, model, &err);
		if (ret)
			tap_note("%s: %s", name, ret > 0 ? "shapes are not known" : err.text);
		else if (!needed_memory_of(nntflite_model_get_hal(model), &needed, &err))
			judge(name, transport_sim_counter(device->transport, NNPU_REG_MEM_PEAK_LO),
			      &needed);
	}
	nnhal_device_unref(device);
	nntflite_model_destroy(model);
	nntflite_file_close(file);
	free(bytes);
	return !ret;
}

/* All models of a folder; at least so many of them are judged. */
static void measure_all(const char *shared, const char *folder, unsigned int least)
{
	unsigned int judged = 0;
	char pattern[512];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%s/*.tflite", shared, folder);
	if (glob(pattern, 0, NULL, &found)) {
		tap_skip("no models in %s/%s (NNPU_SHARED)", shared, folder);
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		judged += measure(found.gl_pathv[i]);
	globfree(&found);
	ok(judged >= least, "%u models of %s", judged, folder);
}

int main(void)
{
	const char *shared = getenv("NNPU_SHARED");

	if (!shared)
		shared = "../shared";
	measure_all(shared, "models", 7);
	measure_all(shared, "models2", 8);
	return tap_done();
}
