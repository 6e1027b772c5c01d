// SPDX-License-Identifier: MIT
/*
 * Processes at the same time: four of them with two models each, every result
 * bit for bit what the model gives when it runs alone.
 *
 * NNHAL_TEST_DEVICE      device (default: sim)
 * NNPU_CONCURRENT_COUNT  inferences per model and process (default 200)
 * NNPU_SHARED            folder with models/ (default ../shared)
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "models.h"
#include "tap.h"

#define PROCESSES	4
#define MODELS		2

static void *runner_thread(void *data)
{
	runner_loop(data);
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
	unsigned int count = number ? (unsigned int)strtoul(number, NULL, 10) : 200;
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
		if (!access(models, F_OK)) {
			ok(false, "%s", err.text);
			return tap_done();
		}
		tap_note("%s: the float digits model serves instead", err.text);
		subject_free(&subjects[1]);
		err.text[0] = '\0';
		if (subject_load(&subjects[1], "examples/digits", "digits_float.tflite",
				 "test_images_float.bin", &err)) {
			tap_note("%s", err.text);
			ok(false, "digits model");
			return tap_done();
		}
	}
	for (i = 0; i < MODELS; i++)
		if (!ok(subject_run_alone(&subjects[i]), "%s alone, %zu samples", subjects[i].name,
			subjects[i].samples))
			return tap_done();
	run_together(subjects, count);
	for (i = 0; i < MODELS; i++)
		subject_free(&subjects[i]);
	return tap_done();
}
