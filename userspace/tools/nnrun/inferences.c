// SPDX-License-Identifier: MIT
/*
 * Running inferences, one at a time or several in flight.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../common/plural.h"
#include "inferences.h"
#include "open_device.h"

/* Inferences in flight with --async: enough for the engines of the device and its queue. */
#define ASYNC_DEPTH	4

/* One inference, with memory of its own. */
struct job {
	struct nntflite_session *session;
	const void **outputs;
	struct nnhal_output_shape *shapes;
	uint32_t num_shapes;
	struct nnhal_execute_options options;
	struct nnhal_ext_profile times;
	struct nnhal_ext_work work;
	struct nnhal_diag diag;
	struct nnhal_timing timing;
	enum nnhal_status status;
	uint64_t start_ns;
	uint64_t end_ns;
	const char *source;
	uint64_t index;			/* of the sample in its source */
	bool keep;			/* store the result, not only the time */
	bool done;
	pthread_mutex_t lock;		/* guards done */
	pthread_cond_t cond;
};

static int job_init(struct run *run, struct job *job, struct error *err)
{
	struct nntflite_session_options options = NNTFLITE_SESSION_OPTIONS_INIT;
	uint32_t num_outputs = nntflite_model_get_hal(run->model)->main.num_outputs;
	struct nntflite_diag diag;

	job->times = (struct nnhal_ext_profile)NNHAL_EXT_PROFILE_INIT;
	job->work = (struct nnhal_ext_work)NNHAL_EXT_WORK_INIT;
	job->outputs = calloc((size_t)run->tensors->num_outputs + 1, sizeof(*job->outputs));
	job->shapes = calloc((size_t)num_outputs + 1, sizeof(*job->shapes));
	if (!job->outputs || !job->shapes)
		return fail(err, "out of memory");
	if (run->options->profile) {
		job->times.entries = calloc(run->num_operations,
					    sizeof(*job->times.entries));
		if (!job->times.entries)
			return fail(err, "out of memory");
	}
	options.prepared = run->prepared;
	if (nntflite_session_create(run->model, run->device, &options, &job->session, &diag))
		return fail(err, "%s", diag.message);
	job->options = (struct nnhal_execute_options)NNHAL_EXECUTE_OPTIONS_INIT;
	job->options.diag = &job->diag;
	if (run->options->profile) {
		job->options.measure = NNHAL_MEASURE_YES;
		job->options.profile = &job->times;
		job->options.work = &job->work;
	}
	return 0;
}

static int start_burst(struct run *run, struct error *err)
{
	struct nnhal_burst_options options = NNHAL_BURST_OPTIONS_INIT;
	struct nnhal_diag diag = { "" };
	enum nnhal_status status;

	options.diag = &diag;
	status = nnhal_burst_create(run->prepared, &options, &run->burst);
	if (status != NNHAL_STATUS_NONE)
		return fail_status(err, "cannot start a burst", status, &diag);
	return 0;
}

int run_init(struct run *run, struct error *err)
{
	uint32_t i;

	run->num_variables = nntflite_model_num_variables(run->model);
	/* Each inference begins with the variables that the one before left. */
	run->depth = run->options->async && !run->num_variables ? ASYNC_DEPTH : 1;
	run->progress = !run->options->quiet && isatty(STDERR_FILENO);
	run->jobs = calloc(run->depth, sizeof(*run->jobs));
	if (!run->jobs)
		return fail(err, "out of memory");
	for (i = 0; i < run->depth; i++) {
		pthread_mutex_init(&run->jobs[i].lock, NULL);
		pthread_cond_init(&run->jobs[i].cond, NULL);
	}
	for (i = 0; i < run->depth; i++)
		if (job_init(run, &run->jobs[i], err))
			return -1;
	return run->options->burst ? start_burst(run, err) : 0;
}

void run_free(struct run *run)
{
	uint32_t i;

	nnhal_burst_unref(run->burst);
	run->burst = NULL;
	for (i = 0; run->jobs && i < run->depth; i++) {
		struct job *job = &run->jobs[i];

		nntflite_session_destroy(job->session);
		free(job->outputs);
		free(job->shapes);
		free(job->times.entries);
		pthread_mutex_destroy(&job->lock);
		pthread_cond_destroy(&job->cond);
	}
	free(run->jobs);
	run->jobs = NULL;
}

static void job_done(void *context, enum nnhal_status status,
		     const struct nnhal_output_shape *shapes, uint32_t num_shapes,
		     const struct nnhal_timing *timing)
{
	struct job *job = context;

	pthread_mutex_lock(&job->lock);
	if (num_shapes)
		memcpy(job->shapes, shapes, num_shapes * sizeof(*shapes));
	job->num_shapes = num_shapes;
	job->end_ns = now_ns();
	job->status = status;
	job->timing = *timing;
	job->done = true;
	/* Signal with the lock held: the waiter may free the job as soon as it has the lock. */
	pthread_cond_signal(&job->cond);
	pthread_mutex_unlock(&job->lock);
}

/* The request of a job, in the way that the command line asks for; the result is in the job. */
static void execute(struct run *run, struct job *job)
{
	const struct nnhal_request *request = nntflite_session_begin(job->session);

	if (run->burst)
		job->status = nnhal_burst_execute(run->burst, request, &job->options, job->shapes,
						  &job->num_shapes, &job->timing);
	else
		job->status =
			nnhal_prepared_model_execute_synchronously(run->prepared, request,
								   &job->options, job->shapes,
								   &job->num_shapes, &job->timing);
	job->end_ns = now_ns();
}

/* Start an inference; with @wait it is over on return. */
static void job_start(struct run *run, struct job *job, bool wait)
{
	job->diag.message[0] = '\0';
	job->times.max_entries = job->times.entries ? run->num_operations : 0;
	job->done = false;
	if (!run->options->stateful || run->collected == 0)
		nntflite_session_reset(job->session);
	job->start_ns = now_ns();
	if (!wait) {
		nnhal_prepared_model_execute(run->prepared, nntflite_session_begin(job->session),
					     &job->options, job_done, job);
		return;
	}
	execute(run, job);
	job->done = true;
}

static void job_wait(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	while (!job->done)
		pthread_cond_wait(&job->cond, &job->lock);
	pthread_mutex_unlock(&job->lock);
}

static int job_failure(const struct run *run, struct job *job, struct error *err)
{
	char what[160];

	if (job->index == UINT64_MAX)
		snprintf(what, sizeof(what), "%.100s: inference failed", job->source);
	else
		snprintf(what, sizeof(what), "%.80s: inference of sample %" PRIu64 " failed",
			 job->source, job->index);
	return fail_model(err, what, job->status, run->model, &job->diag);
}

/* What a run has left; larger memory for outputs that did not fit, and the run again. */
static int job_end(struct run *run, struct job *job, struct error *err)
{
	struct nntflite_diag diag;
	enum nnhal_status status;

	for (;;) {
		status = nntflite_session_end(job->session, job->status, job->shapes,
					      job->num_shapes, &diag);
		if (status != NNHAL_STATUS_OUTPUT_INSUFFICIENT_SIZE)
			break;
		execute(run, job);
	}
	if (status == NNHAL_STATUS_NONE)
		return 0;
	return job->status != NNHAL_STATUS_NONE && status == job->status ?
	       job_failure(run, job, err) : fail(err, "%s", diag.message);
}

/* Where the outputs are, and which shapes they have now. */
static int fetch(struct run *run, struct job *job, struct error *err)
{
	uint32_t i;

	for (i = 0; i < run->tensors->num_outputs; i++) {
		struct nntflite_value value = NNTFLITE_VALUE_INIT;
		struct tensor *t = &run->tensors->outputs[i];

		if (nntflite_session_output(job->session, i, &value))
			return fail(err, "output %" PRIu32 " cannot be read", i);
		job->outputs[i] = value.data;
		if (results_reshape(run->results, i, t, value.rank, value.dims, value.bytes, err))
			return -1;
	}
	return 0;
}

static void show_progress(struct run *run, uint64_t now)
{
	if (!run->progress || now - run->first_start_ns < NS_PER_S ||
	    now - run->progress_ns < NS_PER_S / 5)
		return;
	run->progress_ns = now;
	fprintf(stderr, "\r%" PRIu64, run->collected);
	if (run->expected)
		fprintf(stderr, " of %" PRIu64, run->expected * run->options->repeat);
	fprintf(stderr, " inferences\033[K");
}

static void clear_progress(struct run *run)
{
	if (run->progress_ns)
		fprintf(stderr, "\r\033[K");
	run->progress_ns = 0;
}

/* Wait for the oldest inference in flight and take its result. */
static int collect(struct run *run, struct error *err)
{
	struct job *job = &run->jobs[run->collected % run->depth];
	uint64_t latency;

	job_wait(job);
	run->collected++;
	if (job_end(run, job, err))
		return -1;
	latency = job->end_ns - job->start_ns;
	run->elapsed_ns = job->end_ns - run->first_start_ns;
	if (results_add_latency(run->results, latency, err))
		return -1;
	if (run->options->profile_trace &&
	    profile_add_events(run->profile, (uint32_t)((run->collected - 1) % run->depth),
			       job->start_ns - run->first_start_ns, latency, &job->times, err))
		return -1;
	if (run->options->profile &&
	    profile_add(run->profile, latency, &job->timing, &job->times, &job->work, err))
		return -1;
	show_progress(run, job->end_ns);
	if (!job->keep)
		return 0;
	if (run->progress_ns && run->results->print_lists)
		clear_progress(run);
	if (fetch(run, job, err))
		return -1;
	return results_add(run->results, job->source, job->index, job->outputs, err);
}

/* The next job of the ring, free to be filled; NULL with error. */
static struct job *next_job(struct run *run, struct error *err)
{
	if (run->launched - run->collected == run->depth && collect(run, err))
		return NULL;
	return &run->jobs[run->launched % run->depth];
}

/* Read one sample for each input. 1, 0 at the end, or -1. */
static int read_sample(struct run *run, struct input *inputs, struct job *job,
		       struct error *err)
{
	const struct input *shortest = &inputs[0];
	const struct input *longest = &inputs[0];
	uint32_t ended = 0;
	uint32_t i;

	for (i = 0; i < run->tensors->num_inputs; i++) {
		int ret = input_read(&inputs[i], nntflite_session_input(job->session, i),
				     run->stop, err);

		if (ret < 0)
			return -1;
		ended += ret == 0;
	}
	if (ended == 0)
		return 1;
	if (ended == run->tensors->num_inputs)
		return 0;
	for (i = 0; i < run->tensors->num_inputs; i++) {
		if (inputs[i].next < shortest->next)
			shortest = &inputs[i];
		if (inputs[i].next > longest->next)
			longest = &inputs[i];
	}
	return fail(err, "%s has %" PRIu64 " sample%s, %s has more: all inputs need the same number",
		    shortest->name, shortest->next, plural(shortest->next), longest->name);
}

static int warm_up(struct run *run, struct job *job, struct error *err)
{
	uint64_t i;

	run->warm = true;
	for (i = 0; i < run->options->warmup && !*run->stop; i++) {
		job_start(run, job, true);
		if (job_end(run, job, err))
			return -1;
	}
	return 0;
}

/* Run the sample in @job as often as asked for. */
static int run_sample(struct run *run, struct job *job, struct error *err)
{
	uint64_t i;

	if (!run->warm && warm_up(run, job, err))
		return -1;
	for (i = 0; i < run->options->repeat && !*run->stop; i++) {
		if (i > 0) {
			struct job *last = job;
			uint32_t k;

			job = next_job(run, err);
			if (!job)
				return -1;
			for (k = 0; k < run->tensors->num_inputs && job != last; k++)
				memcpy(nntflite_session_input(job->session, k),
				       nntflite_session_input(last->session, k),
				       run->tensors->inputs[k].bytes);
			job->source = last->source;
			job->index = last->index;
		}
		job->keep = i + 1 == run->options->repeat;
		job_start(run, job, run->depth == 1);
		if (run->launched == 0)
			run->first_start_ns = job->start_ns;
		run->launched++;
		if (run->depth == 1 && collect(run, err))
			return -1;
	}
	return *run->stop ? -1 : 0;
}

static bool inputs_ready(const struct run *run, const struct input *inputs)
{
	uint32_t i;

	for (i = 0; i < run->tensors->num_inputs; i++)
		if (!input_ready(&inputs[i]))
			return false;
	return true;
}

static int run_samples(struct run *run, struct input *inputs, struct error *err)
{
	uint64_t index;

	for (index = 0; !*run->stop; index++) {
		struct job *job;
		int ret;

		/*
		 * The writer of a pipe may wait for a result: collect results before waiting
		 * for it.
		 */
		while (run->collected < run->launched && !inputs_ready(run, inputs))
			if (collect(run, err))
				return -1;
		job = next_job(run, err);
		if (!job)
			return -1;
		ret = read_sample(run, inputs, job, err);
		if (ret <= 0)
			return ret;
		job->source = inputs[0].name;
		job->index = inputs[0].count_known && inputs[0].count == 1 ? UINT64_MAX : index;
		if (run_sample(run, job, err))
			return -1;
	}
	return -1;
}

int run_inputs(struct run *run, struct input *inputs, struct error *err)
{
	int ret = run_samples(run, inputs, err);

	while (ret == 0 && run->collected < run->launched)
		ret = collect(run, err);
	/* Also after an error, nothing may be in flight when the caller cleans up. */
	while (run->collected < run->launched)
		job_wait(&run->jobs[run->collected++ % run->depth]);
	clear_progress(run);
	return ret;
}
