// SPDX-License-Identifier: MIT
/*
 * nnvec - run operator test cases on an NNPU device.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>

#include "../common/clock.h"
#include "../common/nntc.h"
#include "../common/plural.h"
#include "../common/standard_files.h"
#include "../common/stop.h"
#include "case_files.h"
#include "nnvec_options.h"
#include "run_case.h"
#include "vector_report.h"

struct app {
	struct options options;
	struct file_list files;
	uint32_t file;			/* the one being run */
	struct nnhal_device *device;
	struct runner runner;
	struct report report;
	FILE *report_file;
	bool progress;
	uint64_t progress_ns;		/* when it was shown, 0 = not at all */
	uint64_t number;		/* of the case, over all files */
	bool broken;			/* the device was removed or is dead */
};

static void clear_progress(struct app *app)
{
	if (app->progress_ns)
		fputs("\r\033[K", stderr);
	app->progress_ns = 0;
}

static void show_progress(struct app *app, uint64_t now)
{
	if (!app->progress || now - app->progress_ns < NS_PER_S / 5)
		return;
	app->progress_ns = now;
	fprintf(stderr, "\rfile %u of %u, %llu case%s, %llu failed\033[K", app->file + 1,
		app->files.count, (unsigned long long)app->report.cases, plural(app->report.cases),
		(unsigned long long)app->report.total.of[VERDICT_FAILED]);
}

/* Record a failure of a file, or of the whole run if @path is empty. */
static void fail(struct app *app, const char *path, const char *text)
{
	clear_progress(app);
	fflush(stdout);
	fputs("nnvec: ", stderr);
	print_clean(stderr, path);
	fputs(path[0] ? ": " : "", stderr);
	print_clean(stderr, text);
	fputc('\n', stderr);
	report_add_failure(&app->report, path, text);
}

static bool open_device(struct app *app)
{
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;
	char text[sizeof(diag.message) + 128];

	status = nnhal_device_open(app->options.device, &app->device, &diag);
	if (!status) {
		runner_init(&app->runner, app->device);
		return true;
	}
	snprintf(text, sizeof(text), "cannot open device '%.64s': %s%s%s%s", app->options.device,
		 nnhal_status_name((int)status), diag.message[0] ? " (" : "", diag.message,
		 diag.message[0] ? ")" : "");
	fail(app, "", text);
	if (status == NNHAL_STATUS_NO_DRIVER && strncmp(app->options.device, "sim", 3))
		fputs("nnvec: load the module with 'modprobe nnpu' or 'insmod nnpu.ko', or run "
		      "without a device with '--device sim'\n", stderr);
	return false;
}

static void close_device(struct app *app)
{
	if (app->device)
		runner_free(&app->runner);
	nnhal_device_unref(app->device);
	app->device = NULL;
}

static void run_variation(struct app *app, const char *path, const struct nntc_case *nc,
			  const struct variation *v)
{
	uint64_t start = now_ns();
	char text[REASON_TEXT];
	enum verdict verdict;

	verdict = runner_run(&app->runner, nc, v, text);
	if (verdict == VERDICT_SKIPPED && app->options.strict && app->runner.unsupported)
		verdict = VERDICT_FAILED;
	report_add(&app->report, path, nc, v, verdict, text, now_ns() - start);
	if (verdict == VERDICT_FAILED) {
		clear_progress(app);
		print_clean(stdout, path);
		printf(": %s: %s: ", nc->name, v->name);
		print_clean(stdout, text);
		putchar('\n');
	}
	if (!app->runner.lost)
		return;
	/* The failure is recorded. The next case gets a new context. */
	close_device(app);
	app->broken = !open_device(app);
}

static void run_case(struct app *app, const char *path, const struct nntc_case *nc)
{
	if (app->number++ % app->options.every) {
		app->report.skipped_cases++;
		return;
	}
	for (unsigned int v = 0; v < NUM_VARIATIONS && !app->broken; v++) {
		if (app->options.selected[v])
			run_variation(app, path, nc, &variations[v]);
	}
	if (!app->broken)
		runner_end_case(&app->runner);
	app->report.cases++;
	show_progress(app, now_ns());
}

static void run_file(struct app *app, const char *path)
{
	struct nntc_case nc;
	struct nntc_file f;

	app->report.files++;
	if (!nntc_open(&f, path)) {
		fail(app, path, f.error);
		return;
	}
	while (f.next < f.num_cases && !stop && !app->broken) {
		if (!nntc_next(&f, &nc)) {
			fail(app, path, f.error);
			break;
		}
		run_case(app, path, &nc);
		nntc_free(&nc);
	}
	nntc_close(&f);
}

static void run_all(struct app *app)
{
	const struct options *o = &app->options;
	char text[4096 + 256];

	for (int i = 0; i < o->num_paths && !stop; i++) {
		if (file_list_add(&app->files, o->paths[i], text, sizeof(text)))
			fail(app, "", text);
	}
	if (!app->files.count || stop || !open_device(app))
		return;
	for (app->file = 0; app->file < app->files.count && !stop && !app->broken; app->file++)
		run_file(app, app->files.paths[app->file]);
	clear_progress(app);
}

static bool write_report(struct app *app)
{
	struct report_context context = {
		.device = app->device, .spec = app->options.device, .interrupted = stop,
	};
	bool good;

	if (!app->report_file)
		return true;
	report_write(&app->report, &context, app->report_file);
	good = !ferror(app->report_file);
	good = !fclose(app->report_file) && good;
	if (!good)
		fprintf(stderr, "nnvec: %s: %s\n", app->options.report, strerror(errno));
	return good;
}

int main(int argc, char **argv)
{
	struct app app = { .report_file = NULL };
	int status = EXIT_OK;

	if (hold_standard_files())
		return EXIT_FAILED;
	if (!options_parse(&app.options, argc, argv, &status))
		return status;
	stop_on_signals();
	report_init(&app.report, app.options.selected);
	if (app.options.report) {
		/* Find out before hours of work, not after. */
		app.report_file = fopen(app.options.report, "we");
		if (!app.report_file) {
			fprintf(stderr, "nnvec: %s: %s\n", app.options.report, strerror(errno));
			return EXIT_FAILED;
		}
	}
	app.progress = !app.options.quiet && isatty(STDERR_FILENO);
	run_all(&app);

	if (!write_report(&app))
		status = EXIT_FAILED;
	if (!app.options.quiet)
		report_print(&app.report, stdout);
	if (stop)
		fprintf(stderr, "nnvec: interrupted, these are the results so far\n");
	if (app.report.no_memory) {
		fprintf(stderr, "nnvec: no memory to record all results\n");
		status = EXIT_FAILED;
	}
	report_print_total(&app.report, stdout);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "nnvec: standard output: %s\n", strerror(errno));
		status = EXIT_FAILED;
	}
	if (app.report.total.of[VERDICT_FAILED])
		status = EXIT_FAILED;
	close_device(&app);
	file_list_free(&app.files);
	report_free(&app.report);
	return stop ? 128 + stop : status;
}
