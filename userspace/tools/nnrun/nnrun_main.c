// SPDX-License-Identifier: MIT
/*
 * nnrun - run a TensorFlow Lite model on an NNPU device.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nnhal/nnhal.h>
#include <nntflite/nntflite.h>

#include "../common/file.h"
#include "../common/plural.h"
#include "../common/standard_files.h"
#include "../common/stop.h"
#include "assign_inputs.h"
#include "inferences.h"
#include "input.h"
#include "model_tensors.h"
#include "nnrun_options.h"
#include "open_device.h"
#include "output_files.h"
#include "profile_report.h"
#include "verdicts.h"

/* Returns whether SIGPIPE was ignored when the program started. */
static bool set_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_IGN };
	struct sigaction old;

	stop_on_signals();
	/* If the reader of a pipe ends, write() fails and files are cleaned up. */
	sigemptyset(&action.sa_mask);
	sigaction(SIGPIPE, &action, &old);
	return old.sa_handler == SIG_IGN;
}

/* Everything that has to be released at the end. */
struct app {
	struct options options;
	uint8_t *file;
	size_t file_size;
	struct nntflite_file *tflite;
	struct nntflite_model *model;
	struct tensors tensors;
	const char **paths;		/* of --input, one per input of the model */
	struct input *inputs;		/* one set */
	uint32_t num_open;
	struct results results;
	struct nnhal_device *device;
	struct nnhal_prepared_model *prepared;
	struct profile profile;
	struct out_file trace, page;	/* of the profile */
	struct run run;
	const char *advice;
	char shape_advice[256];
};

static void say(const struct app *app, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(const struct app *app, const char *fmt, ...)
{
	va_list args;

	if (!app->options.verbose)
		return;
	fputs("nnrun: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

/* What nnrun cannot feed. */
static int check_tensors(const struct app *app, struct error *err)
{
	if (app->tensors.num_inputs == 0)
		return fail(err, "%s: the model has no inputs", app->options.model);
	return 0;
}

/* --supported of a model that cannot be made: of each operator, whether it is to blame. */
static void say_why(struct app *app, const struct nntflite_model_options *options,
		    struct nntflite_diag *why)
{
	struct error err = { "", 0 };

	app->device = open_device(app->options.device, &err, &app->advice);
	if (print_verdicts(stdout, app->device, app->tflite, options, &err) ||
	    check_stream(stdout, &err))
		snprintf(why->message, sizeof(why->message), "%s", err.text);
}

static enum nnhal_status create_model(struct app *app, struct nntflite_diag *why)
{
	struct nntflite_model_options options = NNTFLITE_MODEL_OPTIONS_INIT;
	const struct options *o = &app->options;
	struct nntflite_shape *shapes = calloc(o->num_shapes + 1, sizeof(*shapes));
	enum nnhal_status status;
	uint32_t i;

	if (!shapes) {
		snprintf(why->message, sizeof(why->message), "out of memory");
		return NNHAL_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (i = 0; i < o->num_shapes; i++) {
		shapes[i].input = o->shapes[i].name;
		shapes[i].rank = o->shapes[i].rank;
		memcpy(shapes[i].dims, o->shapes[i].dims, sizeof(shapes[i].dims));
	}
	options.signature = o->signature;
	options.num_shapes = o->num_shapes;
	options.shapes = shapes;
	status = nntflite_model_create(app->tflite, &options, &app->model, why);
	if (status && o->supported)
		say_why(app, &options, why);
	free(shapes);
	return status;
}

static int load_model(struct app *app, struct error *err)
{
	const char *path = app->options.model;
	struct nntflite_file_info info = NNTFLITE_FILE_INFO_INIT;
	const struct nnhal_model *hal;
	struct nntflite_diag why;
	int fd = open_input(path, err);
	int ret;

	if (fd < 0)
		return -1;
	ret = read_rest(fd, path, NULL, 0, NNTFLITE_MAX_FILE, &app->file, &app->file_size, &stop,
			err);
	close(fd);
	if (ret)
		return -1;
	if (nntflite_file_open_memory(app->file, app->file_size, &app->tflite, &why) ||
	    create_model(app, &why))
		return fail(err, "%s: %s", path, why.message);
	if (tensors_of_model(&app->tensors, app->model, err) || check_tensors(app, err))
		return -1;

	hal = nntflite_model_get_hal(app->model);
	nntflite_file_get_info(app->tflite, &info);
	say(app, "%s: %" PRIu32 " operator%s, %" PRIu32 " HAL operation%s, %" PRIu32
	    " operand%s, %" PRIu64 " bytes of constants", path, info.num_operators,
	    plural(info.num_operators), hal->main.num_operations,
	    plural(hal->main.num_operations), hal->main.num_operands,
	    plural(hal->main.num_operands),
	    hal->num_pools ? nnhal_memory_size(hal->pools[0]) : 0);
	return 0;
}

static void write_text(void *context, const char *text, size_t length)
{
	/* fclose() tells if it failed. */
	(void)fwrite(text, 1, length, context);
}

static int dump_graph(struct app *app, struct error *err)
{
	struct out_file out;
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	int ret;

	stream = open_memstream(&text, &size);
	if (!stream)
		return fail_errno(err, errno, "graph");
	nnhal_graph_dump(app->options.model, nntflite_model_get_hal(app->model), write_text, stream);
	if (fclose(stream) != 0) {
		free(text);
		return fail_errno(err, errno, "graph");
	}
	ret = out_open(&out, app->options.dump_graph, err);
	if (!ret)
		ret = out_write(&out, text, size, err);
	if (!ret)
		ret = out_commit(&out, err);
	out_abort(&out);
	free(text);
	return ret;
}

/* Is there one file for each input? Files after a model of one input are sets, each by itself. */
static bool has_one_set(const struct app *app)
{
	const struct options *o = &app->options;

	return o->num_inputs || (o->num_files && app->tensors.num_inputs > 1);
}

/* With one input, each file is a set of its own. */
static uint32_t num_sets(const struct app *app)
{
	if (app->options.num_files && app->tensors.num_inputs == 1)
		return app->options.num_files;
	return 1;
}

/* Which file goes where, if their number fits the model? Returns an exit status. */
static int assign_files(struct app *app)
{
	struct options *o = &app->options;
	int status;

	status = assign_outputs(o, &app->tensors, app->model, "output", &o->outputs, &o->num_outputs);
	if (!status)
		status = assign_outputs(o, &app->tensors, app->model, "compare", &o->compares,
					&o->num_compares);
	if (status)
		return status;
	if (o->draw && num_sets(app) > 1)
		return usage_error("--draw takes one picture, %" PRIu32 " files given", num_sets(app));
	return has_one_set(app) ? assign_inputs(o, &app->tensors, app->model, app->paths) :
				  strip_names(o, &app->tensors, app->model);
}

static void close_inputs(struct app *app)
{
	while (app->num_open)
		input_close(&app->inputs[--app->num_open]);
}

static int open_inputs(struct app *app, uint32_t set, struct error *err)
{
	const struct options *o = &app->options;
	const char *const *paths = has_one_set(app) ? app->paths : o->files + set;
	uint32_t i;

	for (i = 0; i < app->tensors.num_inputs; i++) {
		app->num_open = i + 1;
		if (input_open(&app->inputs[i], paths[i], &app->tensors.inputs[i], i,
			       &o->reading, &stop, err))
			return -1;
	}
	for (i = 1; i < app->tensors.num_inputs; i++) {
		const struct input *a = &app->inputs[0];
		const struct input *b = &app->inputs[i];

		if (a->count_known && b->count_known && a->count != b->count)
			return fail(err, "%s has %" PRIu64 " sample%s, %s has %" PRIu64
				    ": all inputs need the same number", a->name, a->count,
				    plural(a->count), b->name,
				    b->count);
	}
	return 0;
}

/* Samples to come, 0 if that is not known. */
static uint64_t expected_samples(const struct app *app)
{
	uint32_t i;

	if (num_sets(app) > 1)
		return 0;
	for (i = 0; i < app->tensors.num_inputs; i++)
		if (app->inputs[i].count_known)
			return app->inputs[i].count;
	return 0;
}

/* What labels name, as many of them. */
static const char *classes_name(const struct app *app, size_t count)
{
	if (app->results.picture.kind == PICTURE_POINTS)
		return count == 1 ? "point" : "points";
	return count == 1 ? "class" : "classes";
}

static void warn_labels(const struct app *app)
{
	size_t classes = picture_labels(app->results.picture, &app->tensors);

	/* Of an output whose size is not known yet nothing can be said. */
	if (app->options.labels && !app->options.quiet && classes && app->results.labels.count != classes)
		fprintf(stderr, "nnrun: warning: %s has %zu label%s, the model has %zu %s\n",
			app->options.labels, app->results.labels.count,
			plural(app->results.labels.count), classes, classes_name(app, classes));
}

static int prepare(struct app *app, struct error *err)
{
	struct nnhal_ext_prepared_model_info info = NNHAL_EXT_PREPARED_MODEL_INFO_INIT;
	const char *version = "";

	app->prepared = prepare_model(app->device, app->model, err);
	if (!app->prepared)
		return -1;
	if (!app->options.verbose)
		return 0;
	nnhal_device_get_version_string(app->device, &version);
	say(app, "device %s: %s", nnhal_device_name(app->device), version);
	if (nnhal_ext_get_prepared_model_info(app->prepared, &info) == NNHAL_STATUS_NONE)
		say(app, "program: %" PRIu64 " bytes, %" PRIu64 " bytes of device memory",
		    info.image_size, info.device_memory);
	return 0;
}

static int report(struct app *app, struct error *err)
{
	const struct options *o = &app->options;
	struct profile_report r;
	int ret;

	ret = report_init(&r, &app->profile, app->model, o->model, app->run.elapsed_ns, err);
	/* The table sorts the times; the trace has events of its own. */
	if (!ret && o->profile_table)
		report_table(app->results.text, &r);
	if (!ret && o->profile_trace)
		ret = report_write(&app->trace, report_trace, &r, err);
	if (!ret && o->profile_html)
		ret = report_write(&app->page, report_html, &r, err);
	report_free(&r);
	return ret;
}

/* Before anything runs: a name that does not do is not to be noticed at the end. */
static int open_reports(struct app *app, struct error *err)
{
	const struct options *o = &app->options;

	if (o->profile_trace && out_open(&app->trace, o->profile_trace, err))
		return -1;
	return o->profile_html ? out_open(&app->page, o->profile_html, err) : 0;
}

static int run_all(struct app *app, struct error *err)
{
	bool same;
	uint32_t set;

	if (profile_init(&app->profile, nntflite_model_get_hal(app->model)->main.num_operations, err))
		return -1;
	app->run = (struct run){
		.options = &app->options,
		.tensors = &app->tensors,
		.num_operations = nntflite_model_get_hal(app->model)->main.num_operations,
		.model = app->model,
		.device = app->device,
		.prepared = app->prepared,
		.results = &app->results,
		.profile = &app->profile,
		.stop = &stop,
		.expected = expected_samples(app),
	};
	if (run_init(&app->run, err))
		return -1;
	for (set = 0; set < num_sets(app); set++) {
		if (set > 0 && open_inputs(app, set, err))
			return -1;
		if (run_inputs(&app->run, app->inputs, err))
			return -1;
		close_inputs(app);
	}
	if (check_stream(app->results.text, err))
		return -1;
	if (stop || results_commit(&app->results, err))
		return -1;
	if (results_compare(&app->results, &same, err))
		return -1;
	say(app, "%" PRIu64 " sample%s, %" PRIu64 " inference%s", app->results.samples,
	    plural(app->results.samples), app->run.collected, plural(app->run.collected));
	if (app->options.profile && report(app, err))
		return -1;
	if (check_stream(app->results.text, err))
		return -1;
	return same ? EXIT_OK : EXIT_FAILED;
}

/*
 * A model that is refused may be so for the sizes that stand in the file where they are open. Say
 * which input they are of, if the user has given it no shape.
 */
static void advise_shape(struct app *app)
{
	const struct options *o = &app->options;
	uint32_t i, k, given;

	for (i = 0; i < app->tensors.num_inputs && !app->advice; i++) {
		const struct nntflite_io *io = nntflite_model_input(app->model, i);
		uint32_t open = nntflite_model_input_open(app->model, i);
		char shape[100];
		size_t used = 0;

		for (given = 0; given < o->num_shapes; given++)
			if (nntflite_model_find_input(app->model, o->shapes[given].name) == i)
				break;
		if (!open || given < o->num_shapes)
			continue;
		for (k = 0; k < io->rank && used < sizeof(shape); k++)
			used += (size_t)snprintf(shape + used, sizeof(shape) - used,
						 open >> k & 1 ? "%s?" : "%s%" PRIu32,
						 k ? "x" : "", io->dims[k]);
		snprintf(app->shape_advice, sizeof(app->shape_advice),
			 "The file leaves sizes of input '%.60s' open: %s. Give them with --shape.",
			 io->name, shape);
		app->advice = app->shape_advice;
	}
}

/* Run the model on its inputs. Returns an exit status; -1 stands for an error. */
static int run_model(struct app *app, struct error *err)
{
	const struct options *o = &app->options;
	bool has_input = o->num_inputs || o->num_files;
	bool all = true;
	int status;

	if (load_model(app, err))
		return -1;
	app->paths = calloc(app->tensors.num_inputs + 1, sizeof(*app->paths));
	if (!app->paths)
		return fail(err, "out of memory");
	status = assign_files(app);
	if (status != EXIT_OK)
		return status;
	if (o->dump_graph && dump_graph(app, err))
		return -1;
	if (has_input) {
		app->inputs = calloc(app->tensors.num_inputs, sizeof(*app->inputs));
		if (!app->inputs)
			return fail(err, "out of memory");
		if (open_inputs(app, 0, err) ||
		    results_open(&app->results, o, &app->tensors, app->inputs, expected_samples(app),
				 &stop, err) ||
		    open_reports(app, err))
			return -1;
		warn_labels(app);
	}
	if (!has_input && !o->supported)
		return EXIT_OK;

	app->device = open_device(o->device, err, &app->advice);
	if (!app->device)
		return -1;
	if (o->supported) {
		if (print_support(stdout, app->device, app->model, &all, err)) {
			advise_shape(app);
			return -1;
		}
		if (check_stream(stdout, err))
			return -1;
		if (!has_input || !all)
			return all ? EXIT_OK : EXIT_FAILED;
	}
	if (prepare(app, err)) {
		advise_shape(app);
		return -1;
	}
	return run_all(app, err);
}

static void release(struct app *app)
{
	run_free(&app->run);
	profile_free(&app->profile);
	nnhal_prepared_model_unref(app->prepared);
	nnhal_device_unref(app->device);
	if (app->results.options)
		results_free(&app->results);
	out_abort(&app->trace);
	out_abort(&app->page);
	close_inputs(app);
	free(app->inputs);
	free(app->paths);
	tensors_free(&app->tensors);
	nntflite_model_destroy(app->model);
	nntflite_file_close(app->tflite);
	free(app->file);
	options_free(&app->options);
}

int main(int argc, char **argv)
{
	bool pipe_ignored = set_signals();
	struct error err = { "", 0 };
	struct app app = { .advice = NULL };
	int status;

	if (hold_standard_files())
		return EXIT_FAILED;
	if (!options_parse(&app.options, argc, argv, &status)) {
		options_free(&app.options);
		return status;
	}
	if (app.options.list_devices) {
		status = list_devices(stdout, &err, &app.advice);
		if (status == 0)
			status = check_stream(stdout, &err);
	} else {
		status = run_model(&app, &err);
	}
	release(&app);

	/* No message if the reader of a pipe has ended, as head does. */
	if (err.errnum == EPIPE && !pipe_ignored) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	if (stop && status < 0)
		return 128 + stop;
	if (status < 0)
		fprintf(stderr, "nnrun: %s\n", err.text[0] ? err.text : "unknown error");
	if (app.advice)
		fprintf(stderr, "nnrun: %s\n", app.advice);
	return status < 0 ? EXIT_FAILED : status;
}
