// SPDX-License-Identifier: MIT
/*
 * Bursts of real models: thousands of executions of each, every output bit for bit
 * what execute gives.
 *
 * NNHAL_TEST_DEVICE  device (default: sim)
 * NNPU_BURSTS        thousands of executions of each model (default: one half)
 * NNPU_SHARED        folder with models/ (default ../shared)
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models.h"
#include "tap.h"

#define DEFAULT_COUNT	500

/* The int8 samples of the keyword models, as the float one takes them. */
#define KWS_SCALE	0.5847029f
#define KWS_ZERO	83

static void test_burst(struct subject *s, unsigned int count)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_diag diag = { .message = "" };
	struct nnhal_device *device;
	struct runner r = { 0 };
	enum nnhal_status status;

	if (!subject_run_alone(s)) {
		ok(false, "%s: execute", s->name);
		return;
	}
	if (nnhal_device_open(device_spec(), &device, &diag)) {
		ok(false, "%s: %s", s->name, diag.message);
		return;
	}
	status = runner_init(&r, device, s);
	options.diag = &r.diag;
	if (!status)
		status = nnhal_burst_create(r.model, &options, &r.burst);
	if (!status) {
		r.count = count;
		runner_loop(&r);
		status = r.status;
	}
	if (status)
		tap_note("%s: %s: %s", s->name, nnhal_status_name(status), r.diag.message);
	ok(!status && !r.wrong, "%s: %u burst executions, %u differ from execute", s->name, count,
	   r.wrong);
	runner_fini(&r);
	nnhal_device_unref(device);
}

static void test_digits(const char *model, const char *inputs, unsigned int count)
{
	struct error err = { .text = "" };
	struct subject s = { 0 };

	if (!subject_load(&s, "examples/digits", model, inputs, &err))
		test_burst(&s, count);
	else
		ok(false, "%s: %s", model, err.text);
	subject_free(&s);
}

static void test_kws(const char *dir, const char *model, bool is_float, unsigned int count)
{
	struct error err = { .text = "" };
	struct subject s = { 0 };
	int ret;

	if (access(dir, F_OK)) {
		tap_skip("%s: no models in %s (NNPU_SHARED)", model, dir);
		return;
	}
	ret = subject_load(&s, dir, model, "kws01/inputs_1000x490_int8.bin", &err);
	if (!ret && is_float)
		ret = subject_dequantize(&s, KWS_SCALE, KWS_ZERO, &err);
	if (ret)
		ok(false, "%s: %s", model, err.text);
	else
		test_burst(&s, count);
	subject_free(&s);
}

int main(void)
{
	const char *shared = getenv("NNPU_SHARED");
	const char *number = getenv("NNPU_BURSTS");
	unsigned int count = DEFAULT_COUNT;
	char dir[512];

	if (number)
		count = (unsigned int)strtoul(number, NULL, 10) * 1000;
	snprintf(dir, sizeof(dir), "%s/models", shared ? shared : "../shared");
	test_digits("digits_int8.tflite", "test_images_int8.bin", count);
	test_digits("digits_float.tflite", "test_images_float.bin", count);
	test_kws(dir, "kws_ref_model.tflite", false, count);
	test_kws(dir, "kws_ref_model_float32.tflite", true, count);
	return tap_done();
}
